"""Layers of `static.nn` that are products with a weight of their own."""

from __future__ import annotations

from typing import Any

from autograd_engine import unique_name
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.spectral import matrix_sizes, over_largest_singular_value
from autograd_engine.nn.initializer import Constant, Normal, XavierUniform
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.builder import layer_scope
from autograd_engine.program.data import require_variable
from autograd_engine.static.nn import _activate, _parameter

__all__ = ["bilinear_tensor_product", "row_conv", "spectral_norm"]


def _floating(layer: str, argument: str, x: Any) -> None:
    require_variable(layer, argument, x)
    if x.spec.dtype.kind != "f":
        raise DTypeError(f"{layer}: {argument} must be floating, got {x.dtype.name}: cast it first")


def _positive(layer: str, argument: str, value: Any, least: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ArgumentError(f"{layer}: {argument} must be an int, {least} at least; got {value!r}")


@checked
def bilinear_tensor_product(
    x: Any,
    y: Any,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
) -> Any:
    """For each k: x W_k y + b_k, with weights and a bias of its own; see `F.bilinear`.

    Parameters
    ----------
    x, y : Variable
        Floating, ``[N, M]`` and ``[N, K]``.
    size : int
        Width of the output.
    act : str, optional
        See `fc`.
    param_attr, bias_attr : ParamAttr, str, Initializer, optional
        ``bias_attr=False`` for no bias.

    Returns
    -------
    Variable
        ``[N, size]``

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x, y = paddle.static.data("x", [None, 5]), paddle.static.data("y", [None, 4])
    ...     paddle.static.nn.bilinear_tensor_product(x, y, size=7).shape
    (-1, 7)
    """
    where = "bilinear_tensor_product"
    for argument, v in (("x", x), ("y", y)):
        _floating(where, argument, v)
        if len(v.spec.shape) != 2 or isinstance(v.spec.shape[1], Dim):
            raise ShapeError(
                f"{where}: {argument} must be [N, width] with a known width, got "
                f"{format_shape(v.spec.shape)}"
            )
    _positive(where, "size", size)
    layer, dtype = name or unique_name.generate(where), x.spec.dtype
    shape = (size, int(x.spec.shape[1]), int(y.spec.shape[1]))
    with layer_scope(layer):
        weight = _parameter(layer, "w", shape, dtype, param_attr, XavierUniform())
        bias = None
        if bias_attr is not False:
            bias = _parameter(layer, "b", (1, size), dtype, bias_attr, Constant(0.0))
        return _activate(where, F.bilinear(x, y, weight, bias), act)


@checked
def row_conv(
    input: Any, future_context_size: int, param_attr: Any = None, act: str | None = None
) -> Any:
    """Each step as a weighted sum of itself and the steps that follow (Deep Speech 2, section 3.7).

    Parameters
    ----------
    input : Variable
        Floating, ``[N, T, D]``; T must be known.
    future_context_size : int
        How many following steps count; there are none past the end.
    param_attr : ParamAttr, str, Initializer, optional
        Of the weight, ``[future_context_size + 1, D]``.
    act : str, optional
        See `fc`.

    Returns
    -------
    Variable
        Of the shape of `input`.

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 9, 4])
    ...     paddle.static.nn.row_conv(x, future_context_size=2).shape
    (-1, 9, 4)
    """
    _floating("row_conv", "input", input)
    shape = input.spec.shape
    if len(shape) != 3 or any(isinstance(d, Dim) for d in shape[1:]):
        raise ShapeError(
            f"row_conv: input must be [N, T, D] with known T and D, got {format_shape(shape)}"
        )
    _positive("row_conv", "future_context_size", future_context_size, 0)
    layer, steps = unique_name.generate("row_conv"), int(shape[1])
    with layer_scope(layer):
        wide = (future_context_size + 1, int(shape[2]))
        weight = _parameter(layer, "w", wide, input.spec.dtype, param_attr, XavierUniform())
        terms = [input * weight[0]]
        for k in range(1, min(future_context_size + 1, steps)):
            terms.append(F.pad(input[:, k:] * weight[k], [0, 0, 0, k, 0, 0]))
        return _activate("row_conv", terms[0] if len(terms) == 1 else ops.add_n(*terms), act)


@checked
def spectral_norm(
    weight: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None
) -> Any:
    """`weight` over its largest singular value, as power iteration finds it (Miyato et al. 2018).

    Each run begins the iteration with the same two random vectors. They are no variables of the
    gradient: it is that of ``weight / (u W v)`` with u and v as they are in the end.

    Parameters
    ----------
    weight : Variable
        Floating, of known sizes.
    dim : {0, 1}
        The axis of the rows of the matrix that `weight` is taken for: 0 of the weight of `fc`, 1 of
        a convolution.
    power_iters : int
    eps : float
        Added to norms, so that they are not 0.

    Returns
    -------
    Variable
        Of the shape of `weight`.

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     w = paddle.static.create_parameter([2, 8, 3, 3], "float32")
    ...     paddle.static.nn.spectral_norm(w, dim=1, power_iters=2).shape
    (2, 8, 3, 3)
    """
    _floating("spectral_norm", "weight", weight)
    shape = weight.spec.shape
    if not shape or any(isinstance(d, Dim) or d == 0 for d in shape):
        raise ShapeError(
            f"spectral_norm: the sizes of weight must be known and not 0; got {format_shape(shape)}"
        )
    if isinstance(dim, bool) or not isinstance(dim, int) or dim not in (0, 1) or dim >= len(shape):
        raise ArgumentError(
            f"spectral_norm: dim must be 0 or 1, and an axis of weight {format_shape(shape)}; got "
            f"{dim!r}"
        )
    _positive("spectral_norm", "power_iters", power_iters, 0)
    if isinstance(eps, bool) or not isinstance(eps, (int, float)):
        raise ArgumentError(f"spectral_norm: eps must be a float, got {type(eps).__name__}")
    layer = name or unique_name.generate("spectral_norm")
    with layer_scope(layer):
        u, v = (
            _parameter(
                layer,
                "w",
                (size,),
                weight.spec.dtype,
                ParamAttr(initializer=Normal(0.0, 1.0), trainable=False),
                Normal(0.0, 1.0),
            )
            for size in matrix_sizes(shape, dim)
        )
        return over_largest_singular_value(weight, u, v, dim, power_iters, eps)
