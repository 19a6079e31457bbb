"""conv."""
