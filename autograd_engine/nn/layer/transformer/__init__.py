"""Attention and the layers of Transformers."""
