"""Functions of neural networks; each runs in either mode, by its operands."""

from autograd_engine.nn.functional.activation import (
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    sigmoid,
    softmax,
    tanh,
)
from autograd_engine.nn.functional.common import dropout, embedding, linear, one_hot
from autograd_engine.nn.functional.conv import (
    adaptive_avg_pool2d,
    avg_pool2d,
    conv2d,
    max_pool2d,
)
from autograd_engine.nn.functional.loss import (
    cross_entropy,
    mse_loss,
    nll_loss,
    softmax_with_cross_entropy,
    square_error_cost,
)
from autograd_engine.nn.functional.norm import batch_norm, layer_norm
from autograd_engine.nn.functional.recurrent import lstm_cell, rnn

__all__ = [
    "adaptive_avg_pool2d",
    "avg_pool2d",
    "batch_norm",
    "conv2d",
    "cross_entropy",
    "dropout",
    "embedding",
    "gelu",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "lstm_cell",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "relu",
    "rnn",
    "sigmoid",
    "softmax",
    "softmax_with_cross_entropy",
    "square_error_cost",
    "tanh",
]
