"""Geometry in plain arrays: forms of Q, convex combinations, hulls, cells, exact numbers."""
