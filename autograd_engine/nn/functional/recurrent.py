"""Recurrence: a cell applied to one step after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn.functional.recurrent_scan import check_lengths, inside, mapped
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.joining import split, stack, unbind
from autograd_engine.tensor.linalg.products import matmul

__all__ = ["lstm_cell", "rnn"]


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
            gates = ops.add(gates, bias)
    i, f, g, o = split(gates, 4, axis=1)
    c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
    h = ops.sigmoid(o) * ops.tanh(c)
    return h, (h, c)


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
