"""Convolutions in C: which way for which sizes, and the text of each."""
