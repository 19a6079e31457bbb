"""What recurrent layers share: whole sequences by one operation, lengths, and steps of a cell.

Sequences are time-major here, ``[time, batch, ...]``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.joining import split
from autograd_engine.tensor.linalg.products import matmul

__all__ = [
    "GATES",
    "Parameters",
    "check_lengths",
    "gru_cell",
    "inside",
    "mapped",
    "scan",
    "simple_rnn_cell",
    "zeros_for",
]

# weight_ih, weight_hh, bias_ih, bias_hh
Parameters = tuple[Any, Any, Any, Any]

_ALL: Final = slice(None)
GATES: Final = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def scan(
    kind: str,
    x: Any,
    parameters: Parameters,
    start: Sequence[Any] | None,
    lengths: Any = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """A layer over all steps of ``x = [time, batch, in]``.

    Parameters
    ----------
    kind : {"lstm", "gru", "tanh", "relu"}
    start : sequence, optional
        The states, ``[batch, hidden]`` each; zeros by default.
    lengths : Tensor, optional
        ``[batch]``; what lies beyond is not read.
    reverse : bool
        From the last step of each sequence to the first; outputs stay in the order of `x`.

    Returns
    -------
    (outputs, final states)
        ``[time, batch, hidden]``, zeros beyond the lengths, and ``[state, batch, hidden]``.
    """
    weight_ih, weight_hh, bias_ih, bias_hh = parameters
    if lengths is not None:
        here = inside(x, lengths)
        x = ops.where(here, x, ops.zeros_like(x))
    if reverse:
        x = _reversed(x, lengths)
    bias, inner = _biases(kind, bias_ih, bias_hh, weight_hh)
    inflow = matmul(ops.merge_axes(x, counts=(2, 1)), weight_ih, transpose_y=True)
    if bias is not None:
        inflow = inflow + bias
    inflow = _by_gate(inflow, x, weight_hh, GATES[kind])
    if start is None:
        zero = ops.zeros_like(ops.getitem(inflow, key=(0, _ALL, 0)))
        start = (zero,) * (2 if kind == "lstm" else 1)
    first = ops.stack(*start, axis=0)
    if kind == "lstm":
        _, states = ops.lstm_scan(inflow, weight_hh, first)
    elif kind == "gru":
        _, states = ops.gru_scan(inflow, weight_hh, first, inner)
    else:
        states = ops.rnn_scan(inflow, weight_hh, first, activation=kind)
    outputs = ops.getitem(states, key=(0, slice(1, None)))
    if lengths is None:
        final = ops.getitem(states, key=(_ALL, -1))
        return (ops.flip(outputs, axis=(0,)) if reverse else outputs), final
    final = _at_lengths(states, lengths)
    if reverse:
        outputs = _reversed(outputs, lengths)
    return ops.where(here, outputs, ops.zeros_like(outputs)), final


def _biases(kind: str, bias_ih: Any, bias_hh: Any, weight_hh: Any) -> tuple[Any, Any]:
    """What is added to the inflow, and to the product that the reset gate of a GRU scales."""
    inner = None
    if kind == "gru":
        size = int(spec_of(weight_hh).shape[1])
        if bias_hh is None:
            inner = ops.zeros_like(ops.getitem(weight_hh, key=(0,)))
        else:
            inner = ops.getitem(bias_hh, key=(slice(2 * size, None),))
            outer = (slice(None, 2 * size),)
            bias_hh = ops.unslice_like(ops.getitem(bias_hh, key=outer), bias_hh, key=outer)
    if bias_ih is None or bias_hh is None:
        return (bias_hh if bias_ih is None else bias_ih), inner
    return bias_ih + bias_hh, inner


def _by_gate(inflow: Any, x: Any, weight_hh: Any, gates: int) -> Any:
    """[time * batch, gates * hidden] as [time, batch, gate, hidden]."""
    time, batch, _ = spec_of(x).shape
    size = int(spec_of(weight_hh).shape[1])
    # In the shape of a reshape 0 is no size, but stands for the one that is there.
    if not isinstance(time, Dim) and not isinstance(batch, Dim) and batch != 0:
        return ops.reshape(inflow, shape=(time, batch, gates, size))
    by_gate = ops.reshape(weight_hh, shape=(gates, size, -1))
    return ops.unmerge_axes(inflow, x, by_gate, sources=((0, 0), (0, 1), (1, 0), (1, 1)))


# --- lengths


def check_lengths(name: str, lengths: Any, x: Any) -> Any:
    """`lengths` as integers in a Tensor or Variable, one for each sequence of ``[time, batch]``."""
    if isinstance(lengths, (list, tuple)):
        lengths = np.asarray(lengths)
    lengths = as_operand(name, lengths, "sequence_length")
    spec, (time, batch, *_) = spec_of(lengths), spec_of(x).shape
    if spec.dtype.kind not in "iu":
        raise DTypeError(
            f"{name}: sequence_length must hold integers, got {spec.dtype.name}; use "
            "sequence_length.astype('int64')"
        )
    known = not any(isinstance(n, Dim) for n in (*spec.shape, batch))
    if spec.ndim != 1 or (known and spec.shape != (batch,)):
        raise ShapeError(
            f"{name}: sequence_length must have one number for each sequence, the shape "
            f"{format_shape((batch,))}, got {format_shape(spec.shape)}"
        )
    if isinstance(lengths, Tensor) and not isinstance(time, Dim):
        values = lengths.numpy()
        if values.size and (values.min() < 0 or values.max() > time):
            bad = values[(values < 0) | (values > time)][0]
            raise ArgumentError(
                f"{name}: sequence_length has {bad}; the sequences have {time} steps, so lengths "
                f"must be in 0 to {time}"
            )
    return lengths


def _times(x: Any) -> Any:
    """The number of each step, [time, batch]."""
    column = ops.getitem(x, key=(_ALL, _ALL, *(0,) * (spec_of(x).ndim - 2)))
    return ops.cumsum(ops.full_like(column, value=1, dtype="int64"), axis=0) - 1


def inside(x: Any, lengths: Any) -> Any:
    """[time, batch, 1]: whether a step is within its sequence."""
    return ops.unsqueeze(ops.less_than(_times(x), ops.cast(lengths, dtype="int64")), axis=(2,))


def _reversed(x: Any, lengths: Any) -> Any:
    """Each sequence backwards; what is beyond its length stays where it is."""
    if lengths is None:
        return ops.flip(x, axis=(0,))
    times = _times(x)
    mirrored = ops.cast(lengths, dtype="int64") - 1 - times
    index = ops.where(ops.less_than(mirrored, 0), times, mirrored)
    index = ops.expand_like(ops.unsqueeze(index, axis=(2,)), x)
    return ops.take_along_axis(x, index, axis=0)


def _at_lengths(states: Any, lengths: Any) -> Any:
    """[state, batch, hidden]: the states after the last step of each sequence."""
    like = ops.getitem(states, key=(_ALL, slice(0, 1)))
    index = ops.unsqueeze(ops.cast(lengths, dtype="int64"), axis=(0, 1, 3))
    index = ops.expand_like(index, like)
    return ops.getitem(ops.take_along_axis(states, index, axis=1), key=(_ALL, 0))


# --- steps


def zeros_for(x: Any, shape: Sequence[int], dtype: Any = None, value: float = 0.0) -> Any:
    """``[batch, *shape]`` for ``x = [batch, ...]``, whose batch a program need not know."""
    dtype = np.dtype(spec_of(x).dtype if dtype is None else dtype).name
    key = (_ALL, *(0,) * (spec_of(x).ndim - 1))
    batch = ops.full_like(ops.getitem(x, key=key), value=value, dtype=dtype)
    if not shape:
        return batch
    column = ops.unsqueeze(batch, axis=tuple(range(1, len(shape) + 1)))
    return ops.expand(column, shape=(-1, *shape))


def mapped(function: Callable[..., Any], first: Any, *others: Any) -> Any:
    """`function` of each Tensor in lists, tuples and dicts that are alike."""
    if isinstance(first, dict):
        return {k: mapped(function, v, *(other[k] for other in others)) for k, v in first.items()}
    if isinstance(first, (list, tuple)):
        parts = [mapped(function, *part) for part in zip(first, *others, strict=True)]
        return first._make(parts) if hasattr(first, "_make") else type(first)(parts)
    return function(first, *others)


def _product(x: Any, weight: Any, bias: Any) -> Any:
    out = matmul(x, weight, transpose_y=True)
    return out if bias is None else ops.add(out, bias)


def simple_rnn_cell(kind: str, x: Any, h: Any, parameters: Parameters) -> Any:
    """One step of a network whose state is the activation of a sum."""
    weight_ih, weight_hh, bias_ih, bias_hh = parameters
    total = _product(x, weight_ih, bias_ih) + _product(h, weight_hh, bias_hh)
    return ops.tanh(total) if kind == "tanh" else ops.relu(total)


def gru_cell(x: Any, h: Any, parameters: Parameters) -> Any:
    """One step of a gated recurrent unit (Cho et al. 2014), the reset gate behind the product."""
    weight_ih, weight_hh, bias_ih, bias_hh = parameters
    x_r, x_z, x_c = split(_product(x, weight_ih, bias_ih), 3, axis=1)
    h_r, h_z, h_c = split(_product(h, weight_hh, bias_hh), 3, axis=1)
    r, z = ops.sigmoid(x_r + h_r), ops.sigmoid(x_z + h_z)
    c = ops.tanh(x_c + r * h_c)
    return (h - c) * z + c
