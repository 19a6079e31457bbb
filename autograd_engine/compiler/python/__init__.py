"""Programs as one straight-line Python function."""
