"""Public functions on tensors and variables; each runs in either mode, by its operands."""
