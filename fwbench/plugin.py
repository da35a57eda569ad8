"""A pytest plugin: the fixture ``hull_benchmark``, which checks gap and fixed point besides the time."""
