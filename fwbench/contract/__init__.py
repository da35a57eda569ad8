"""The contract that a solver or a problem keeps, as rules that can be tried on any of them."""
