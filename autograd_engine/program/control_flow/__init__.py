"""Branches and loops as operators with blocks, and their gradients."""
