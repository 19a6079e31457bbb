"""Graphs as straight-line NumPy: planned buffers, `out=` everywhere, the bits of eager execution."""
