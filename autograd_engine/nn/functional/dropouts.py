"""Dropout in its forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.core.checks import as_number
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.spec import format_shape, normalize_axes
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import as_floats
from autograd_engine.nn.functional.window_arguments import channels_last
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.spelling.inplace import in_place

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]

# Where selu ends far below 0; see `activation.selu`.
_SELU_FLOOR = -1.7580993408473766


def _probability(op: str, p: Any) -> float:
    p = as_number(p)
    if isinstance(p, SymbolicNumber):
        checked: float = p.within(f"{op}: p", "a number from 0 to 1", 0, 1)
        return checked
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 <= p <= 1:
        raise ArgumentError(f"{op}: p must be a number from 0 to 1, got {p!r}")
    return float(p)


def _only(x: Any, axes: Sequence[int]) -> Any:
    """Of the sizes of `x` on `axes` and 1 on the others; nobody asks for its values."""
    ndim = spec_of(x).ndim
    if len(axes) == ndim:
        return x
    key = tuple(slice(None) if a in axes else slice(0, 1) for a in range(ndim))
    return ops.getitem(x, key=key)


@atomic
def dropout(
    x: Any,
    p: float = 0.5,
    axis: int | Sequence[int] | None = None,
    training: bool = True,
    inplace: bool = False,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Tensor:
    """Each element set to 0 with probability `p` while training.

    Srivastava, Hinton, Krizhevsky, Sutskever and Salakhutdinov 2014.

    Parameters
    ----------
    x : Tensor or Variable
    p : float
        In [0, 1].
    axis : int or sequence of int, optional
        Draw for each position on these axes, and share what was drawn along the others.
    training : bool
    inplace : bool
        Make `x` itself the result.
    mode : {"upscale_in_train", "downscale_in_infer"}
        Divide by 1 - p while training, or multiply by 1 - p when not.

    Raises
    ------
    ArgumentError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> dropout(paddle.ones([3]), training=False).tolist()
    [1.0, 1.0, 1.0]
    """
    if inplace:
        write = in_place("dropout", dropout, instead="y = F.dropout(x)")
        return write(x, p, axis, training, mode=mode)
    x = as_operand("dropout", x)
    factor = dropout_factor(x, p, axis, training, mode)
    return x if factor is None else x * factor


def dropout_factor(
    x: Any, p: float, axis: int | Sequence[int] | None, training: bool, mode: str
) -> Any:
    """What `dropout` multiplies `x` by; None where nothing is drawn."""
    p = _probability("dropout", p)
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ArgumentError(
            f"dropout: mode must be 'upscale_in_train' or 'downscale_in_infer', got {mode!r}"
        )
    axes: Sequence[int] = range(spec_of(x).ndim)
    if axis is not None:
        axes = normalize_axes("dropout", axis, spec_of(x).ndim)
    if not isinstance(p, SymbolicNumber) and p == 0.0:
        return None
    upscale = mode == "upscale_in_train"
    scale = 1.0 if upscale else 1.0 - p
    return ops.dropout_mask(_only(x, axes), p=p, upscale=upscale, training=training, scale=scale)


def _channels(axes: int, x: Any, p: float, training: bool, data_format: str) -> Any:
    """Dropout of whole channels of ``[N, ..., C, ...]``."""
    op = f"dropout{axes}d"
    last = channels_last(op, axes, data_format)
    x = as_operand(op, x)
    shape = spec_of(x).shape
    if len(shape) != axes + 2:
        raise ShapeError(f"{op}: x must be {data_format}, got {format_shape(shape)}")
    return dropout(x, _probability(op, p), (0, axes + 1 if last else 1), training)


def dropout1d(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """Each channel of ``[N, C, L]`` set to 0 as a whole with probability `p` while training."""
    return _channels(1, x, p, training, "NCL")


def dropout2d(
    x: Any,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Each channel of an image set to 0 as a whole with probability `p` while training.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> dropout2d(paddle.ones([1, 1, 1, 2]), training=False).tolist()
    [[[[1.0, 1.0]]]]
    """
    return _channels(2, x, p, training, data_format)


def dropout3d(
    x: Any,
    p: float = 0.5,
    training: bool = True,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """Each channel of a volume set to 0 as a whole with probability `p` while training."""
    return _channels(3, x, p, training, data_format)


def _alpha_dropout(x: Any, like: Any, p: float) -> Any:
    """a * (x where kept, else the floor of selu) + b, which keeps mean 0 and variance 1."""
    factor, term = ops.alpha_dropout_mask(like, p=p, floor=_SELU_FLOOR)
    return x * factor + term


@atomic
def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Tensor:
    """Dropout that leaves mean and variance of selu's outputs as they are.

    Klambauer, Unterthiner, Mayr and Hochreiter 2017.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> alpha_dropout(paddle.ones([2]), training=False).tolist()
    [1.0, 1.0]
    """
    p = _probability("alpha_dropout", p)
    x = as_floats("alpha_dropout", x)
    drops = training and (isinstance(p, SymbolicNumber) or p > 0)
    return _alpha_dropout(x, x, p) if drops else ops.assign(x)


@atomic
def feature_alpha_dropout(
    x: Any, p: float = 0.5, training: bool = True, name: str | None = None
) -> Tensor:
    """`alpha_dropout` of whole channels of ``[N, C, ...]``."""
    op = "feature_alpha_dropout"
    p = _probability(op, p)
    x = as_floats(op, x)
    if spec_of(x).ndim < 2:
        raise ShapeError(f"{op}: x must be [N, C, ...], got {format_shape(spec_of(x).shape)}")
    drops = training and (isinstance(p, SymbolicNumber) or p > 0)
    return _alpha_dropout(x, _only(x, (0, 1)), p) if drops else ops.assign(x)
