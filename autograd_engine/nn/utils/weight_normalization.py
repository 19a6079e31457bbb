"""Weights that are normalised: a length times a direction, or a largest singular value of 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.checks import plain_number, positive_int
from autograd_engine.core.spec import Spec
from autograd_engine.eager.grad_mode import no_grad
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ModeError
from autograd_engine.nn.functional import normalize
from autograd_engine.nn.functional.spectral import (
    MOST_STEPS,
    as_matrix,
    matrix_sizes,
    power_iteration,
    singular_value,
)
from autograd_engine.nn.initializer import Constant, Normal
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.base.registered import COMPOSED, PARAMETER
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.nn.parameters import persistable_variable
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.builder import append_write
from autograd_engine.program.ir.program import Variable, default_startup_program, program_guard
from autograd_engine.program.operands import spec_of

__all__ = [
    "norm_without",
    "of_norm",
    "remove_weight_norm",
    "set_once",
    "weight_norm",
    "spectral_norm",
]


class WeightNorm:
    """The weight ``g * v / norm(v)`` of a layer."""

    def __init__(self, name: str, kept: int | None) -> None:
        self.name, self.kept = name, kept

    def __call__(self, layer: Any) -> Any:
        v, g = getattr(layer, f"{self.name}_v"), getattr(layer, f"{self.name}_g")
        spread = tuple(-1 if k == self.kept else 1 for k in range(len(v.shape)))
        return of_norm(v, ops.reshape(g, shape=spread), self.kept)


def weight_norm(layer: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Have a weight be ``g * v / norm(v)``, of a length `g` and a direction `v` that are trained.

    Salimans and Kingma 2016. The parameter becomes `v`, under the name ``<name>_v``, and its norm
    a parameter ``<name>_g``. The attribute `name` is computed when it is asked for, in either mode
    and in traced functions, so it is never out of date.

    Parameters
    ----------
    layer : Layer
    name : str
        Of a parameter of the layer's own. No row of it may be 0: that has no direction.
    dim : int, optional
        An axis: there is a length for each index of it. None or -1 for one length of the whole
        weight.

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
    >>> conv = paddle.nn.utils.weight_norm(paddle.nn.Conv2D(3, 5, 3))
    >>> conv.weight_g.shape, conv.weight_v.shape
    (paddle.Size([5]), paddle.Size([5, 3, 3, 3]))
    >>> list(conv.state_dict())
    ['bias', 'weight_v', 'weight_g']
    """
    v = parameter_of("weight_norm", layer, name)
    hint = "; None is for one length of all of it"
    # -1 is the reference's word for None, whatever the number of axes.
    whole = dim is None or (isinstance(dim, (int, np.integer)) and dim == -1)
    kept = None if whole else axis_of("weight_norm", dim, v, hint)
    attr = ParamAttr(
        initializer=Constant(1.0),
        learning_rate=v.optimize_attr["learning_rate"],
        regularizer=v.regularizer,
        trainable=v.trainable,
        need_clip=v.need_clip,
    )
    lengths = [] if kept is None else [int(v.shape[kept])]
    g = layer.create_parameter(lengths, attr, v.dtype)
    set_once(g, v, lambda given: norm_without(given, kept, keepdims=False))
    layer._compose(name, WeightNorm(name, kept))
    layer.add_parameter(f"{name}_v", v)
    layer.add_parameter(f"{name}_g", g)
    return layer


def remove_weight_norm(layer: Any, name: str = "weight") -> Any:
    """Undo `weight_norm`: the weight is one parameter again, with the values that it has.

    Parameters
    ----------
    layer : Layer
    name : str

    Returns
    -------
    Layer
        The layer itself.

    Raises
    ------
    ArgumentError
        When `weight_norm` was not applied to that parameter.
    ModeError
        For a layer of a program.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> linear = paddle.nn.utils.weight_norm(paddle.nn.Linear(2, 2))
    >>> sorted(paddle.nn.utils.remove_weight_norm(linear).state_dict())
    ['bias', 'weight']
    """
    composed = getattr(layer, "_composed", {}).get(name)
    if not isinstance(composed, WeightNorm):
        raise ArgumentError(
            f"remove_weight_norm: {name!r} of this {type(layer).__name__} is not what weight_norm "
            "makes"
        )
    v = getattr(layer, f"{name}_v")
    if isinstance(v, Variable):
        raise ModeError(
            "remove_weight_norm is for eager layers: the values of this one are in the scope, and "
            "the program computes its weight. Load its state into an eager layer first"
        )
    with no_grad():
        v.set_value(composed(layer))
    delattr(layer, f"{name}_v")
    delattr(layer, f"{name}_g")
    layer._decompose(name, v)
    return layer


def of_norm(v: Any, g: Any, kept: int | None) -> Any:
    """`v` made to have the norm `g` for each index of the axis `kept`."""
    return v * (g / norm_without(v, kept))


def norm_without(v: Any, kept: int | None, *, keepdims: bool = True) -> Any:
    """The norm of `v` for each index of the axis `kept`; of all of it for None."""
    axes = tuple(k for k in range(len(v.shape)) if k != kept)
    return ops.sqrt(ops.sum(v * v, axis=axes, keepdims=keepdims))


def parameter_of(function: str, layer: Any, name: Any) -> Any:
    """The parameter of `layer` that is to be composed of others."""
    if not isinstance(layer, Layer):
        raise ArgumentTypeError(f"{function}: layer must be a Layer, got {type(layer).__name__}")
    kind = layer._kinds.get(name) if isinstance(name, str) else None
    if kind == COMPOSED:
        done = type(layer._composed[name]).__name__
        raise ArgumentError(
            f"{function}: {name} of this {type(layer).__name__} is composed of others already "
            f"({done})"
        )
    if kind != PARAMETER or getattr(layer, name) is None:
        own = ", ".join(n for n, k in layer._kinds.items() if k == PARAMETER) or "none"
        raise ArgumentError(
            f"{function}: {type(layer).__name__} has no parameter {name!r} of its own; it has {own}"
        )
    return getattr(layer, name)


def axis_of(function: str, dim: Any, weight: Any, hint: str = "") -> int:
    """An axis of a weight, from 0."""
    if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)):
        raise ArgumentTypeError(f"{function}: dim must be an int or None, got {type(dim).__name__}")
    ndim = len(weight.shape)
    if not -ndim <= dim < ndim:
        raise ArgumentError(
            f"{function}: dim={dim} is no axis of the weight {weight.name}, which is "
            f"{list(weight.shape)}{hint}"
        )
    return int(dim) % ndim


def set_once(target: Any, source: Any, value: Callable[[Any], Any]) -> None:
    """Give `target` ``value(source)``: now, or of variables in the startup program."""
    if isinstance(target, Variable):
        startup = default_startup_program()
        block = startup.global_block()
        with program_guard(startup):
            append_write(block.var(target.name), value(block.var(source.name)))
    else:
        with no_grad():
            target.set_value(value(source))


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
    steps = positive_int("spectral_norm", "n_power_iterations", n_power_iterations, MOST_STEPS)
    least = plain_number("spectral_norm", "eps", eps)
    if least <= 0:
        raise ArgumentError(f"spectral_norm: eps must be above 0, got {eps}")
    composed = SpectralNorm(name, _axis(layer, dim, w), steps, least)
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
