"""arithmetic."""
