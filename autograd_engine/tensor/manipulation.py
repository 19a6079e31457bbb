"""What the reference has in a module of this name, and nowhere else."""

from autograd_engine.tensor.array import tensor_array_to_tensor as tensor_array_to_tensor

__all__ = ["tensor_array_to_tensor"]
