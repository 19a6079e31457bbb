"""Programs as code."""
