"""Recurrent networks over whole sequences.

A layer whose cell is one of ours runs as one operation over all steps; any other cell is called
step by step. Either way outputs beyond the length of a sequence are zeros.
"""

from __future__ import annotations

from typing import Any

from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.recurrent import check_lengths, mapped, scan
from autograd_engine.nn.layer.arguments import flag
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.recurrent.cells import RNNCellBase, fused
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["RNN", "BiRNN"]


def _sequences(name: str, inputs: Any, time_major: bool, lengths: Any) -> tuple[Any, Any]:
    """The inputs, ``[time, batch, ...]``, and how long each sequence is, or None."""
    inputs = as_operand(name, inputs, "inputs")
    shape = spec_of(inputs).shape
    if len(shape) < 3:
        lead = "time, batch" if time_major else "batch, time"
        raise ShapeError(
            f"{name}: inputs must be [{lead}, features], got {format_shape(shape)}; "
            f"x.unsqueeze({1 if time_major else 0}) makes a batch of one"
        )
    if shape[0 if time_major else 1] == 0:
        raise ShapeError(f"{name}: inputs {format_shape(shape)} have no steps")
    inputs = inputs if time_major else _swapped(inputs)
    return inputs, None if lengths is None else check_lengths(name, lengths, inputs)


def _swapped(x: Any) -> Any:
    """Batch and time exchanged."""
    return ops.transpose(x, perm=(1, 0, *range(2, spec_of(x).ndim)))


def _side_by_side(x: Any, y: Any) -> Any:
    return ops.concat(x, y, axis=spec_of(x).ndim - 1)


def _features(name: str, x: Any, size: int) -> None:
    shape = spec_of(x).shape
    if len(shape) != 3 or not may_equal(shape[2:], (size,)):
        raise ShapeError(
            f"{name}: inputs must have {size} features for each step, got {format_shape(shape[2:])}"
        )


def _one_by_one(
    cell: Any, x: Any, states: Any, lengths: Any, reverse: bool, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """A cell called step by step on ``x = [time, batch, ...]``."""

    def step(inputs: Any, states: Any) -> Any:
        return cell(inputs, states, **kwargs)

    if states is None:
        if not isinstance(cell, RNNCellBase):
            raise ArgumentError(
                f"RNN: {type(cell).__name__} is no RNNCellBase, and cannot make its initial "
                "states: give initial_states"
            )
        states = cell.get_initial_states(x, batch_dim_idx=1)
    return F.rnn(step, x, states, time_major=True, is_reverse=reverse, sequence_length=lengths)


def _over_time(
    cell: Any, x: Any, states: Any, lengths: Any, reverse: bool, kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    """A cell over ``x = [time, batch, ...]``, by one operation if it can be."""
    if kwargs or not fused(cell):
        return _one_by_one(cell, x, states, lengths, reverse, kwargs)
    _features(type(cell).__name__, x, cell.input_size)
    if states is not None:
        # Seen to fit as in a step, of which nothing is computed.
        _, states = cell._operands(ops.getitem(x, key=(0,)), states)
        states = states if isinstance(states, tuple) else (states,)
    outputs, final = scan(cell.kind, x, cell.parameters_of_step, states, lengths, reverse)
    parts = [ops.getitem(final, key=(k,)) for k in range(2 if cell.kind == "lstm" else 1)]
    return outputs, tuple(parts) if cell.kind == "lstm" else parts[0]


def _cell_of(layer: Layer, argument: str, cell: Any) -> Any:
    if not isinstance(cell, Layer):
        raise ArgumentError(
            f"{type(layer).__name__}: {argument} must be a cell, an RNNCellBase such as "
            f"LSTMCell(16, 32), got {cell!r:.60}"
        )
    return cell


class RNN(Layer):
    """A cell over sequences.

    Parameters
    ----------
    cell : RNNCellBase
        `SimpleRNNCell`, `LSTMCell` and `GRUCell` run as one operation, unless they have hooks or a
        projection; others are called step by step.
    is_reverse : bool
        From the last step to the first; outputs stay in the order of the inputs.
    time_major : bool
        Inputs and outputs are ``[time, batch, ...]`` instead of ``[batch, time, ...]``.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> rnn = paddle.nn.RNN(paddle.nn.GRUCell(3, 4))
    >>> outputs, state = rnn(paddle.ones([2, 5, 3]))
    >>> outputs.shape, state.shape
    (paddle.Size([2, 5, 4]), paddle.Size([2, 4]))
    """

    def __init__(self, cell: Any, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell = _cell_of(self, "cell", cell)
        self.is_reverse = flag(self, "is_reverse", is_reverse)
        self.time_major = flag(self, "time_major", time_major)

    def forward(
        self,
        inputs: Any,
        initial_states: Any = None,
        sequence_length: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, Any]:
        """Outputs and final states.

        Parameters
        ----------
        inputs : Tensor or Variable
            ``[batch, time, ...]``
        initial_states : optional
            What the cell takes; by default zeros.
        sequence_length : Tensor, optional
            ``[batch]``: outputs are zeros from there on, and the final states those before.
        **kwargs
            Passed to the cell, which is then called step by step.
        """
        x, sequence_length = _sequences("RNN", inputs, self.time_major, sequence_length)
        outputs, final = _over_time(
            self.cell, x, initial_states, sequence_length, self.is_reverse, kwargs
        )
        return (outputs if self.time_major else mapped(_swapped, outputs)), final


class BiRNN(Layer):
    """Two cells over sequences, one from each end; their outputs side by side.

    Parameters
    ----------
    cell_fw, cell_bw : RNNCellBase
    time_major : bool
        Inputs and outputs are ``[time, batch, ...]`` instead of ``[batch, time, ...]``.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> rnn = paddle.nn.BiRNN(paddle.nn.LSTMCell(3, 4), paddle.nn.LSTMCell(3, 4))
    >>> outputs, (forward, backward) = rnn(paddle.ones([2, 5, 3]))
    >>> outputs.shape
    paddle.Size([2, 5, 8])
    """

    def __init__(self, cell_fw: Any, cell_bw: Any, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw = _cell_of(self, "cell_fw", cell_fw)
        self.cell_bw = _cell_of(self, "cell_bw", cell_bw)
        sizes = [getattr(cell, "input_size", None) for cell in (cell_fw, cell_bw)]
        if None not in sizes and sizes[0] != sizes[1]:
            raise ArgumentError(
                f"BiRNN: the cells take inputs of {sizes[0]} and {sizes[1]} features; make them "
                "with one input_size"
            )
        self.time_major = flag(self, "time_major", time_major)

    def forward(
        self,
        inputs: Any,
        initial_states: Any = None,
        sequence_length: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, tuple[Any, Any]]:
        """Outputs, and the final states of either cell; see `RNN.forward`."""
        x, sequence_length = _sequences("BiRNN", inputs, self.time_major, sequence_length)
        if initial_states is None:
            initial_states = (None, None)
        if not isinstance(initial_states, (list, tuple)) or len(initial_states) != 2:
            raise ArgumentError(
                "BiRNN: initial_states must be a pair, the states of cell_fw and of cell_bw"
            )
        states_fw, states_bw = initial_states
        forward = _over_time(self.cell_fw, x, states_fw, sequence_length, False, kwargs)
        backward = _over_time(self.cell_bw, x, states_bw, sequence_length, True, kwargs)
        outputs = mapped(_side_by_side, forward[0], backward[0])
        outputs = outputs if self.time_major else mapped(_swapped, outputs)
        return outputs, (forward[1], backward[1])
