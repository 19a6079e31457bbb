"""Weights whose largest singular value is 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.checks import plain_number
from autograd_engine.core.spec import Spec
from autograd_engine.eager.grad_mode import no_grad
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.functional import normalize
from autograd_engine.nn.functional.spectral import (
    as_matrix,
    matrix_sizes,
    power_iteration,
    singular_value,
)
from autograd_engine.nn.initializer import Normal
from autograd_engine.nn.parameters import persistable_variable
from autograd_engine.nn.utils.weight_normalization import axis_of, parameter_of, set_once
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.builder import append_write
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import spec_of

__all__ = ["SpectralNorm", "spectral_norm"]


class SpectralNorm:
    """The weight ``w / sigma`` of a layer, with sigma = u' W v; a hook brings u and v nearer."""

    def __init__(self, name: str, kept: int, iterations: int, epsilon: float) -> None:
        self.name, self.kept = name, kept
        self.iterations, self.epsilon = iterations, epsilon

    def __call__(self, layer: Any) -> Any:
        w = getattr(layer, f"{self.name}_orig")
        return w / singular_value(as_matrix(w, self.kept), *self.vectors(layer))

    def vectors(self, layer: Any) -> tuple[Any, Any]:
        return getattr(layer, f"{self.name}_u"), getattr(layer, f"{self.name}_v")

    def iterate(self, layer: Any, inputs: Any = None) -> None:
        """The power method, in every call of the layer that trains."""
        if not layer.training:
            return
        old = self.vectors(layer)
        with no_grad():
            matrix = as_matrix(getattr(layer, f"{self.name}_orig"), self.kept).detach()
            new = power_iteration(matrix, *old, self.iterations, self.unit)
            # As running statistics, which programs for inference do not write.
            for buffer, value in zip(old, new, strict=True):
                _write(buffer, ops.running_statistic(buffer, value, momentum=0.0))

    def unit(self, x: Any) -> Any:
        return normalize(x, axis=0, epsilon=self.epsilon)


def _write(buffer: Any, value: Any) -> None:
    if isinstance(buffer, Variable):
        append_write(buffer, value)
    else:
        buffer.set_value(value)


def spectral_norm(
    layer: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Have a weight be divided by its largest singular value.

    Miyato, Kataoka, Koyama and Yoshida 2018. The parameter goes by the name ``<name>_orig``; the
    singular vectors are buffers, ``<name>_u`` and ``<name>_v``, which each call of the layer in
    training brings nearer by the power method. A gradient flows to the parameter, as if they were
    constant. The attribute `name` is computed when it is asked for.

    Parameters
    ----------
    layer : Layer
    name : str
        Of a parameter of the layer's own, of two dimensions or more, or of one.
    n_power_iterations : int
        Steps of the power method in each call.
    eps : float
        A smallest length, for dividing by it.
    dim : int, optional
        The axis that the rows of the matrix are for, whose columns are all others: by default 0,
        and 1 for `Linear` and transposed convolutions, whose second axis is that of the outputs.

    Returns
    -------
    Layer
        The layer itself.

    Raises
    ------
    TypeError, ArgumentError
        When there is no such parameter or axis, or the weight is composed of others already.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> linear = paddle.nn.utils.spectral_norm(paddle.nn.Linear(4, 3), n_power_iterations=30)
    >>> y = linear(paddle.ones([1, 4]))
    >>> round(paddle.linalg.svd(linear.weight)[1].max().item(), 3)
    1.0
    >>> list(linear.state_dict())
    ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    w = parameter_of("spectral_norm", layer, name)
    composed = SpectralNorm(name, _axis(layer, dim, w), _count(n_power_iterations), _positive(eps))
    rows, columns = matrix_sizes(tuple(w.shape), composed.kept)
    u = _vector(layer, f"{name}_u", rows, w, composed)
    v = _vector(layer, f"{name}_v", columns, w, composed)
    layer._compose(name, composed)
    layer.add_parameter(f"{name}_orig", w)
    layer.register_buffer(f"{name}_u", u)
    layer.register_buffer(f"{name}_v", v)
    layer.register_forward_pre_hook(composed.iterate)
    return layer


def _vector(layer: Any, name: str, size: int, w: Any, composed: SpectralNorm) -> Any:
    """A random vector of length 1, in the mode of the parameter `w`."""
    full = unique_name.generate(f"{layer.full_name()}.{name}")
    spec = Spec((size,), spec_of(w).dtype)
    made: Any
    if isinstance(w, Variable):
        made = persistable_variable(w.block, full, spec, Normal())
    else:
        made = Tensor(np.zeros(spec.shape, spec.dtype))
        made.name = full
        Normal()(made)
    set_once(made, made, composed.unit)
    return made


def _axis(layer: Any, dim: Any, w: Any) -> int:
    if dim is None:
        kind = type(layer)
        transposed = any(c.__name__ == "Linear" or "Transpose" in c.__name__ for c in kind.__mro__)
        dim = 1 if transposed else 0
    return axis_of("spectral_norm", dim, w)


def _count(n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ArgumentError(f"spectral_norm: n_power_iterations must be a positive int, got {n!r}")
    return int(n)


def _positive(eps: Any) -> float:
    value = plain_number("spectral_norm", "eps", eps)
    if value <= 0:
        raise ArgumentError(f"spectral_norm: eps must be above 0, got {eps}")
    return value
