"""Public functions: reading and writing at indices and keys."""
