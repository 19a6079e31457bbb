"""Branches and loops as operators with blocks."""
