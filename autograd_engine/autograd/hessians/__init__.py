"""Hessians compiled for the shape of a recording."""
