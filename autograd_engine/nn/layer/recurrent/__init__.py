"""Recurrent layers: cells, stacks of them, and what wraps a cell."""
