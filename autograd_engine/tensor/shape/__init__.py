"""Public functions that move elements or give them another shape."""
