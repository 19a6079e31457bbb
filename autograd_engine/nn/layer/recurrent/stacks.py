"""Recurrent layers of several levels and directions, each level one operation for all steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.recurrent import scan
from autograd_engine.nn.layer.arguments import MOST_LAYERS, choice, flag, integer, number
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.recurrent.cells import (
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    fused,
)
from autograd_engine.nn.layer.recurrent.wrappers import (
    RNN,
    BiRNN,
    _features,
    _one_by_one,
    _sequences,
    _swapped,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["GRU", "LSTM", "SimpleRNN"]


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
