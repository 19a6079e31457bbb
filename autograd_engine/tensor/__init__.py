"""Public functions on tensors; each runs in either mode, by its operands."""
