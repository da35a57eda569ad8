"""Readings of finished traces: nothing here runs a solver or draws a figure."""
