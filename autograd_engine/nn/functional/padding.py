"""Arrays with more at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.core.checks import require_possible
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.functional.arguments import check_number
from autograd_engine.nn.functional.window_arguments import IMAGE_LAYOUTS
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.arguments import ints, is_open, known

__all__ = ["pad", "zeropad2d"]

_MODES = ("constant", "reflect", "replicate", "circular")

Pads = tuple[tuple[int, int], ...]


@atomic
def pad(
    x: Any,
    pad: Sequence[int],
    mode: str = "constant",
    value: float = 0.0,
    data_format: str | None = None,
    pad_from_left_axis: bool = True,
    name: str | None = None,
) -> Tensor:
    """`x` made larger at the ends of its axes.

    Parameters
    ----------
    x : Tensor or Variable
    pad : sequence of int
        Pairs (before, after). For arrays of 3, 4 or 5 dimensions ``2 * (ndim - 2)`` numbers are for
        the axes of space, from the last one: left, right, top, bottom, front, back. In mode
        "constant" ``2 * ndim`` numbers are for all axes, from the first (or last, see below), and
        fewer are for the last axes, from the last.
    mode : {"constant", "reflect", "replicate", "circular"}
        `value`; the array mirrored at its first and last elements; these elements; the array from
        its other end. All but the first are for the axes of space.
    value : number
    data_format : str or None
        "NCL" or "NLC", "NCHW" or "NHWC", "NCDHW" or "NDHWC": which axes are those of space. The
        first of each for None.
    pad_from_left_axis : bool
        Whether ``2 * ndim`` numbers begin with the first axis.

    Raises
    ------
    ArgumentError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[[1.0, 2.0, 3.0]]])
    >>> pad(x, [1, 2]).tolist()
    [[[0.0, 1.0, 2.0, 3.0, 0.0, 0.0]]]
    >>> pad(x, [1, 2], mode="reflect").tolist()
    [[[2.0, 1.0, 2.0, 3.0, 2.0, 1.0]]]
    >>> pad(paddle.to_tensor([[1, 2]]), [1, 0, 0, 1]).tolist()
    [[0, 0, 0], [1, 2, 0]]
    """
    x = as_operand("pad", x)
    if mode not in _MODES:
        raise ArgumentError(f"pad: mode must be one of {', '.join(_MODES)}, got {mode!r}")
    value = check_number("pad", "value", value, fills=True)
    pads = _pads(spec_of(x).shape, _pairs("pad", pad), mode, data_format, pad_from_left_axis)
    if not any(is_open(n) or n for pair in pads for n in pair):
        return ops.assign(x)
    require_possible("pad", [sum(pair) for pair in pads if not any(map(is_open, pair))], " of pad")
    if mode == "constant":
        return ops.pad(x, pads=pads, value=value)
    return ops.extend(x, pads=pads, mode=mode)


def _pairs(op: str, numbers: Any) -> list[tuple[int, int]]:
    flat = ints(op, "pad", numbers)
    if len(flat) % 2:
        raise ArgumentError(f"{op}: pad must hold pairs (before, after), got {list(flat)}")
    if min(known(flat), default=0) < 0:
        raise ArgumentError(
            f"{op}: pad must not be negative, got {list(flat)}; use paddle.slice to cut"
        )
    return list(zip(flat[::2], flat[1::2], strict=True))


def _pads(
    shape: Any, pairs: list[tuple[int, int]], mode: str, data_format: str | None, from_left: bool
) -> Pads:
    """A pair for each axis."""
    ndim = len(shape)
    if len(pairs) == ndim - 2 and len(pairs) in IMAGE_LAYOUTS:
        second, last = IMAGE_LAYOUTS[len(pairs)]
        if data_format not in (None, second, last):
            raise ArgumentError(
                f"pad: data_format of {ndim} dimensions must be {second} or {last}, got "
                f"{data_format!r}"
            )
        space = tuple(reversed(pairs))
        return ((0, 0), *space, (0, 0)) if data_format == last else ((0, 0), (0, 0), *space)
    if mode != "constant":
        raise ArgumentError(
            f"pad: mode {mode!r} takes 3, 4 or 5 dimensions and {2 * max(ndim - 2, 1)} numbers "
            f"for the axes of space, got {2 * len(pairs)} for {format_shape(shape)}"
        )
    if len(pairs) > ndim:
        raise ArgumentError(
            f"pad: {2 * len(pairs)} numbers are too many for the {ndim} axes of "
            f"{format_shape(shape)}"
        )
    if len(pairs) == ndim and from_left:
        return tuple(pairs)
    return ((0, 0),) * (ndim - len(pairs)) + tuple(reversed(pairs))


@atomic
def zeropad2d(
    x: Any, padding: Sequence[int], data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Zeros around images: `padding` is left, right, top, bottom.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> zeropad2d(paddle.ones([1, 1, 1, 1]), [1, 0, 0, 1]).tolist()
    [[[[0.0, 1.0], [0.0, 0.0]]]]
    """
    x = as_operand("zeropad2d", x)
    pairs = _pairs("zeropad2d", padding)
    if spec_of(x).ndim != 4 or len(pairs) != 2:
        raise ArgumentError(
            f"zeropad2d: takes images of 4 dimensions and 4 numbers, got {spec_of(x).ndim} and "
            f"{2 * len(pairs)}"
        )
    return pad(x, padding, data_format=data_format)
