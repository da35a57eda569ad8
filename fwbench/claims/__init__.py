"""The theory of attention as Frank-Wolfe, as statements that are checked: one file a claim."""
