"""Recurrence: a cell applied to one step after another, or to whole sequences by one operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.arguments import as_integers
from autograd_engine.nn.functional.bias import biased
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.joining import split, stack, unbind
from autograd_engine.tensor.linalg.products import matmul

__all__ = ["lstm_cell", "rnn"]

# weight_ih, weight_hh, bias_ih, bias_hh
Parameters = tuple[Any, Any, Any, Any]

_ALL: Final = slice(None)
GATES: Final = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}

# --- steps


@atomic
def lstm_cell(
    x: Any,
    states: tuple[Any, Any],
    weight_ih: Any,
    weight_hh: Any,
    bias_ih: Any = None,
    bias_hh: Any = None,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """One step of a long short-term memory (Hochreiter and Schmidhuber 1997, with forget gate).

    Parameters
    ----------
    x : Tensor or Variable
        ``[batch, in]``
    states : (h, c)
        Each ``[batch, hidden]``.
    weight_ih, weight_hh : Tensor or Variable
        ``[4 * hidden, in]`` and ``[4 * hidden, hidden]``; gates in the order input, forget, cell,
        output.
    bias_ih, bias_hh : Tensor or Variable, optional
        ``[4 * hidden]``

    Returns
    -------
    (h, (h, c))

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> h = c = paddle.zeros([1, 2])
    >>> out, _ = lstm_cell(paddle.ones([1, 3]), (h, c), paddle.ones([8, 3]), paddle.ones([8, 2]))
    >>> out.shape
    paddle.Size([1, 2])
    """
    if not isinstance(states, (list, tuple)) or len(states) != 2:
        raise ArgumentError(f"lstm_cell: states must be (h, c), got {type(states).__name__}")
    h, c = (as_operand("lstm_cell", v, f"states[{k}]") for k, v in enumerate(states))
    gates = matmul(x, weight_ih, transpose_y=True) + matmul(h, weight_hh, transpose_y=True)
    for bias in (bias_ih, bias_hh):
        if bias is not None:
            gates = biased.add(gates, bias)
    i, f, g, o = split(gates, 4, axis=1)
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    h = ops.sigmoid(o) * ops.tanh(c)
    return h, (h, c)


def _product(x: Any, weight: Any, bias: Any) -> Any:
    out = matmul(x, weight, transpose_y=True)
    return out if bias is None else biased.add(out, bias)


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


@atomic
def rnn(
    cell: Callable[[Any, Any], tuple[Any, Any]],
    inputs: Any,
    initial_states: Any,
    time_major: bool = False,
    is_reverse: bool = False,
    sequence_length: Any = None,
) -> tuple[Tensor, Tensor]:
    """Apply ``cell(x_t, states) -> (output, states)`` along the time axis.

    Parameters
    ----------
    cell : callable
        Output and states are Tensors, or lists, tuples or dicts of them.
    inputs : Tensor or Variable
        ``[batch, time, ...]``, or ``[time, batch, ...]`` with `time_major`. The number of steps
        must be known.
    initial_states : any
        What the first call of `cell` gets.
    is_reverse : bool
        Start at the last step; outputs stay in the order of the inputs.
    sequence_length : Tensor or Variable, optional
        ``[batch]``, integers: how many steps of each sequence count. Beyond them outputs are zeros
        and states stay as they are.

    Returns
    -------
    (outputs, final states)

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> total = lambda x, s: (s + x, s + x)
    >>> outputs, last = rnn(total, paddle.ones([1, 3]), paddle.zeros([1]))
    >>> outputs.tolist(), last.tolist()
    ([[1.0, 2.0, 3.0]], [3.0])
    """
    if not callable(cell):
        raise ArgumentError(f"rnn: cell must be callable, got {type(cell).__name__}")
    inputs = as_operand("rnn", inputs, "inputs")
    axis = 0 if time_major else 1
    shape = spec_of(inputs).shape
    if len(shape) < 2 or isinstance(shape[axis], Dim) or shape[axis] == 0:
        raise ShapeError(
            f"rnn: axis {axis} of inputs {format_shape(shape)} is the time; it must exist and have "
            "a known size above 0"
        )
    steps = unbind(inputs, axis)
    masks: list[Any] = [None] * len(steps)
    if sequence_length is not None:
        by_time = (
            inputs if time_major else ops.transpose(inputs, perm=(1, 0, *range(2, len(shape))))
        )
        lengths = check_lengths("rnn", sequence_length, by_time)
        masks = unbind(inside(by_time, lengths), 0)
    outputs, states = [], initial_states
    pairs = list(zip(steps, masks, strict=True))
    for x, mask in reversed(pairs) if is_reverse else pairs:
        out, new = cell(x, states)
        if mask is not None:
            out = mapped(lambda v, m=mask: ops.where(_beside(m, v), v, ops.zeros_like(v)), out)
            new = mapped(lambda v, old, m=mask: ops.where(_beside(m, v), v, old), new, states)
        outputs.append(out)
        states = new
    in_order = outputs[::-1] if is_reverse else outputs
    return mapped(lambda *parts: stack(list(parts), axis), *in_order), states


def _beside(mask: Any, x: Any) -> Any:
    """``[batch, 1]`` with as many axes as `x` has."""
    ndim = spec_of(x).ndim
    if ndim == 2:
        return mask
    flat = ops.getitem(mask, key=(slice(None), 0))
    return ops.unsqueeze(flat, axis=tuple(range(1, ndim))) if ndim > 1 else flat


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


# --- whole sequences, time-major here: ``[time, batch, ...]``


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
    if bias is not None and kind != "lstm":
        inflow = biased.add(inflow, bias)
    inflow = _by_gate(inflow, x, weight_hh, GATES[kind])
    if start is None:
        zero = ops.zeros_like(ops.getitem(inflow, key=(0, _ALL, 0)))
        start = (zero,) * (2 if kind == "lstm" else 1)
    first = ops.stack(*start, axis=0)
    if kind == "lstm":
        _, states = ops.lstm_scan(inflow, weight_hh, first, *(() if bias is None else (bias,)))
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
    lengths = as_integers(name, lengths, "sequence_length")
    spec, (time, batch, *_) = spec_of(lengths), spec_of(x).shape
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
