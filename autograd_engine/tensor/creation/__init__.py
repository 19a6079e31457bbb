"""Public functions that make tensors."""
