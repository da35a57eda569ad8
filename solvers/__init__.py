"""One file a solver; each is found by its name, nothing to register."""
