"""One file a problem family; each is found by its name, nothing to register."""
