"""Recurrent networks over whole sequences: any cell, and layers of several levels and directions.

A layer whose cell is one of ours runs as one operation over all steps; any other cell is called
step by step. Either way outputs beyond the length of a sequence are zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.recurrent import check_lengths, mapped, scan
from autograd_engine.nn.layer.arguments import MOST_LAYERS, choice, flag, integer, number
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.recurrent.cells import (
    GRUCell,
    LSTMCell,
    RNNCellBase,
    SimpleRNNCell,
    fused,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "BiRNN",
    "GRU",
    "LSTM",
    "RNN",
    "SimpleRNN",
]


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


_PARAMETERS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Stack(Layer):
    """Layers of cells, one over the other, in one direction or both.

    The cells are in sublayers "0", "1", ...; their parameters are attributes of the stack too,
    ``weight_ih_l0`` and, of the backward direction, ``weight_ih_l0_reverse``.

    Parameters
    ----------
    input_size, hidden_size : int
    num_layers : int
    direction : {"forward", "bidirect", "bidirectional"}
        Both directions: outputs side by side, ``2 * hidden_size``.
    time_major : bool
        Inputs and outputs are ``[time, batch, ...]`` instead of ``[batch, time, ...]``.
    dropout : float
        Of the outputs of each layer but the last, while training.
    weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr : ParamAttr, optional
        By default uniform within 1 / sqrt(hidden_size) of 0; False for no bias.

    Raises
    ------
    ArgumentError
    """

    def __init__(
        self,
        make: Callable[[int], Any],
        input_size: int,
        hidden_size: int,
        num_layers: int,
        direction: str,
        time_major: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.input_size = integer(self, "input_size", input_size)
        self.hidden_size = integer(self, "hidden_size", hidden_size)
        self.num_layers = integer(self, "num_layers", num_layers, most=MOST_LAYERS)
        known = ("forward", "bidirect", "bidirectional")
        self.direction = choice(self, "direction", direction, known)
        self.num_directions = 1 if direction == "forward" else 2
        self.time_major = flag(self, "time_major", time_major)
        self.dropout = number(self, "dropout", dropout, least=0.0, most=1.0)
        size = self.input_size
        for k in range(self.num_layers):
            cells = [make(size) for _ in range(self.num_directions)]
            for cell, suffix in zip(cells, ("", "_reverse"), strict=False):
                for name in _PARAMETERS:
                    parameter = getattr(cell, name)
                    if parameter is not None:
                        setattr(self, f"{name}_l{k}{suffix}", parameter)
            wrapper: type[Any] = RNN if self.num_directions == 1 else BiRNN
            self.add_sublayer(str(k), wrapper(*cells, time_major=True))
            size = sum(cell.proj_size or cell.hidden_size for cell in cells)

    def _cells(self, k: int) -> list[Any]:
        layer = getattr(self, str(k))
        return [layer.cell] if self.num_directions == 1 else [layer.cell_fw, layer.cell_bw]

    @property
    def state_components(self) -> int:
        """How many states there are: 2 of an LSTM, h and c, else 1."""
        return 2 if isinstance(self._cells(0)[0], LSTMCell) else 1

    def forward(
        self, inputs: Any, initial_states: Any = None, sequence_length: Any = None
    ) -> tuple[Any, Any]:
        """Outputs of the last layer, and the final states of all.

        Parameters
        ----------
        inputs : Tensor or Variable
            ``[batch, time, input_size]``, or ``[time, batch, input_size]`` with `time_major`.
        initial_states : Tensor or Variable, or of an LSTM a pair of them, optional
            ``[num_layers * num_directions, batch, hidden_size]``; zeros by default.
        sequence_length : Tensor or Variable, optional
            ``[batch]``: outputs are zeros from there on, and the final states those before.

        Returns
        -------
        (outputs, final states)
        """
        name = type(self).__name__
        x, sequence_length = _sequences(name, inputs, self.time_major, sequence_length)
        _features(name, x, self.input_size)
        given = self._given(initial_states, spec_of(x).shape[1])
        finals = []
        for k in range(self.num_layers):
            if k and self.dropout:
                x = F.dropout(x, self.dropout, training=self.training)
            directions = []
            for d, cell in enumerate(self._cells(k)):
                place = k * self.num_directions + d
                states = given and [ops.getitem(s, key=(place,)) for s in given]
                directions.append(self._direction(cell, k, d, x, states, sequence_length))
            outputs = [out for out, _ in directions]
            x = outputs[0] if len(outputs) == 1 else ops.concat(*outputs, axis=2)
            finals += [final for _, final in directions]
        together = tuple(
            ops.stack(*parts, axis=0) if len(parts) > 1 else ops.unsqueeze(parts[0], axis=(0,))
            for parts in zip(*finals, strict=True)
        )
        outputs = x if self.time_major else _swapped(x)
        return outputs, together if len(together) == 2 else together[0]

    def _direction(
        self, cell: Any, k: int, d: int, x: Any, states: Any, lengths: Any
    ) -> tuple[Any, list[Any]]:
        """Outputs of one direction of one layer, and its final states."""
        count = self.state_components
        if not fused(cell):
            start = None if not states else tuple(states) if count == 2 else states[0]
            outputs, final = _one_by_one(cell, x, start, lengths, bool(d), {})
            return outputs, list(final) if count == 2 else [final]
        suffix = f"_l{k}_reverse" if d else f"_l{k}"
        parameters: Any = tuple(getattr(self, name + suffix, None) for name in _PARAMETERS)
        outputs, final = scan(cell.kind, x, parameters, states or None, lengths, bool(d))
        return outputs, [ops.getitem(final, key=(s,)) for s in range(count)]

    def _given(self, initial_states: Any, batch: Any) -> list[Any]:
        """The initial states in a list, seen to fit; an empty one for zeros."""
        if initial_states is None:
            return []
        name, count = type(self).__name__, self.state_components
        several = isinstance(initial_states, (list, tuple))
        states = list(initial_states) if several else [initial_states]
        if len(states) != count or (count == 2) != several:
            raise ArgumentError(
                f"{name}: initial_states must be "
                f"{'a pair (h, c)' if count == 2 else 'one Tensor'}, got "
                f"{f'{len(states)} of them' if several else type(initial_states).__name__}"
            )
        layers = self.num_layers * self.num_directions
        shapes = self._cells(0)[0].state_shape
        for k, (state, sizes) in enumerate(
            zip(states, shapes if count == 2 else (shapes,), strict=True)
        ):
            states[k] = as_operand(name, state, "initial_states")
            expected = (layers, batch, *sizes)
            found = spec_of(states[k]).shape
            if not may_equal(found, expected):
                raise ShapeError(
                    f"{name}: initial states must have the shape {format_shape(expected)}, "
                    f"[num_layers * num_directions, batch, hidden], got {format_shape(found)}"
                )
        return states

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        if self.num_layers != 1:
            parts.append(f"num_layers={self.num_layers}")
        if self.time_major:
            parts.append(f"time_major={self.time_major}")
        if self.dropout:
            parts.append(f"dropout={self.dropout}")
        return ", ".join(parts)


class SimpleRNN(_Stack):
    """Layers of `SimpleRNNCell` over sequences.

    Parameters
    ----------
    activation : {"tanh", "relu"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> rnn = paddle.nn.SimpleRNN(3, 4, num_layers=2)
    >>> outputs, states = rnn(paddle.ones([2, 5, 3]))
    >>> outputs.shape, states.shape
    (paddle.Size([2, 5, 4]), paddle.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(
            lambda size: SimpleRNNCell(size, hidden_size, activation, *attrs),
            input_size, hidden_size, num_layers, direction, time_major, dropout,
        )  # fmt: skip
        self.activation = activation


class LSTM(_Stack):
    """Layers of `LSTMCell` over sequences.

    Parameters
    ----------
    proj_size : int
        If it is not 0, h is projected to this size. Such a layer runs step by step, so a program
        must know the number of steps.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> lstm = paddle.nn.LSTM(3, 4)
    >>> outputs, (h, c) = lstm(paddle.ones([2, 5, 3]))
    >>> outputs.shape, h.shape, c.shape
    (paddle.Size([2, 5, 4]), paddle.Size([1, 2, 4]), paddle.Size([1, 2, 4]))
    >>> lstm
    LSTM(
      3, 4
      (0): RNN(
        (cell): LSTMCell(3, 4)
      )
    )
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(
            lambda size: LSTMCell(size, hidden_size, *attrs, proj_size),
            input_size, hidden_size, num_layers, direction, time_major, dropout,
        )  # fmt: skip
        self.proj_size = proj_size


class GRU(_Stack):
    """Layers of `GRUCell` over sequences.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> gru = paddle.nn.GRU(3, 4, direction="bidirect")
    >>> outputs, states = gru(paddle.ones([2, 5, 3]))
    >>> outputs.shape, states.shape
    (paddle.Size([2, 5, 8]), paddle.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(
            lambda size: GRUCell(size, hidden_size, *attrs),
            input_size, hidden_size, num_layers, direction, time_major, dropout,
        )  # fmt: skip
