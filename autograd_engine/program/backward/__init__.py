"""backward."""
