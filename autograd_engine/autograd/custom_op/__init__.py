"""custom_op."""
