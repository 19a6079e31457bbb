"""Eager mode: tensors, the tape that records operations on them, and the backward pass."""
