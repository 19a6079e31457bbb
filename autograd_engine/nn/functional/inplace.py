"""Activations that replace the value of their operand; see `autograd_engine.tensor.inplace`."""

from __future__ import annotations

from autograd_engine.nn.functional.activation import (
    elu,
    hardtanh,
    leaky_relu,
    relu,
    thresholded_relu,
)
from autograd_engine.nn.functional.smooth_activation import tanh
from autograd_engine.nn.functional.softmax_and_gates import softmax
from autograd_engine.tensor.inplace import in_place

__all__ = ["elu_", "hardtanh_", "leaky_relu_", "relu_", "softmax_", "tanh_", "thresholded_relu_"]

elu_ = in_place("elu", elu, instead="y = F.elu(x)")
hardtanh_ = in_place("hardtanh", hardtanh, instead="y = F.hardtanh(x)")
leaky_relu_ = in_place("leaky_relu", leaky_relu, instead="y = F.leaky_relu(x)")
relu_ = in_place("relu", relu, instead="y = F.relu(x)")
softmax_ = in_place("softmax", softmax, instead="y = F.softmax(x)")
tanh_ = in_place("tanh", tanh, instead="y = F.tanh(x)")
thresholded_relu_ = in_place(
    "thresholded_relu", thresholded_relu, instead="y = F.thresholded_relu(x)"
)
