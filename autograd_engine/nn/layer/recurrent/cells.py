"""Cells of recurrent networks: one step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograd_engine.core.dtypes import DTypeLike, to_numpy
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.functional.recurrent import (
    GATES,
    Parameters,
    gru_cell,
    simple_rnn_cell,
    zeros_for,
)
from autograd_engine.nn.initializer import Uniform
from autograd_engine.nn.layer.arguments import choice, integer, required
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["GRUCell", "LSTMCell", "RNNCellBase", "SimpleRNNCell"]


class RNNCellBase(Layer):
    """The base of cells: layers that `RNN` runs over a sequence.

    A cell is called with the input of one step, ``[batch, ...]``, and the states; it returns an
    output and the new states. It says the shape of its states, without the batch, in the property
    `state_shape`: a tuple of sizes, or a tuple of those where there are several states.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> class Total(paddle.nn.RNNCellBase):
    ...     state_shape = (2,)
    ...
    ...     def forward(self, inputs, states):
    ...         total = states + inputs
    ...         return total, total
    >>> outputs, last = paddle.nn.RNN(Total())(paddle.ones([1, 3, 2]))
    >>> last.tolist()
    [[3.0, 3.0]]
    """

    def get_initial_states(
        self,
        batch_ref: Any,
        shape: Any = None,
        dtype: DTypeLike | None = None,
        init_value: float = 0.0,
        batch_dim_idx: int = 0,
    ) -> Any:
        """States of one value for as many sequences as `batch_ref` has.

        Parameters
        ----------
        batch_ref : Tensor or Variable, or a list or tuple of them
            Of several the first tells the batch.
        shape : sequence of int, or a tuple of those, optional
            Without the batch; by default `state_shape`.
        dtype : dtype, optional
            By default that of the parameters.
        init_value : float
        batch_dim_idx : int
            The axis of `batch_ref` that is the batch.

        Returns
        -------
        Tensor or Variable, or a tuple of them
        """
        while isinstance(batch_ref, (list, tuple)):
            if not batch_ref:
                raise ArgumentError("get_initial_states: batch_ref is empty; give a Tensor")
            batch_ref = batch_ref[0]
        batch_ref = as_operand("get_initial_states", batch_ref, "batch_ref")
        if not -batch_ref.ndim <= batch_dim_idx < batch_ref.ndim:
            raise ShapeError(
                f"get_initial_states: batch_dim_idx {batch_dim_idx} is no axis of "
                f"{format_shape(spec_of(batch_ref).shape)}"
            )
        axis = batch_dim_idx % batch_ref.ndim
        key = (*(slice(0, 1),) * axis, slice(None))
        row = ops.getitem(batch_ref, key=key)
        if axis:
            row = ops.transpose(row, perm=(axis, *(k for k in range(row.ndim) if k != axis)))
        chosen = self._dtype if dtype is None else to_numpy(dtype)
        shape = self._state_shape() if shape is None else shape
        return _nested_zeros(row, shape, chosen, init_value)

    def _state_shape(self) -> Any:
        shape = getattr(self, "state_shape", None)
        if shape is None:
            raise NotImplementedError(
                f"{type(self).__name__} does not say the shape of its states: set state_shape, "
                "(hidden,) say, or give initial states"
            )
        return shape


def _nested_zeros(x: Any, shape: Any, dtype: Any, value: float) -> Any:
    if isinstance(shape, (list, tuple)) and any(isinstance(n, (list, tuple)) for n in shape):
        return tuple(_nested_zeros(x, part, dtype, value) for part in shape)
    sizes = [shape] if isinstance(shape, int) else list(shape)
    return zeros_for(x, [n for n in sizes if n != -1], dtype, value)


class _GateCell(RNNCellBase):
    """A cell with the weights of an input and of a state, for each of some gates.

    Parameters
    ----------
    input_size, hidden_size : int
    weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr : ParamAttr, optional
        By default uniform within 1 / sqrt(hidden_size) of 0; False for no bias.

    Raises
    ------
    ArgumentError
    """

    kind: str
    weight_ih: Any
    weight_hh: Any
    bias_ih: Any
    bias_hh: Any

    def __init__(
        self,
        kind: str,
        input_size: int,
        hidden_size: int,
        attrs: Sequence[Any],
        proj_size: int = 0,
    ) -> None:
        super().__init__()
        self.kind = kind
        self.input_size = integer(self, "input_size", input_size)
        self.hidden_size = integer(self, "hidden_size", hidden_size)
        self.proj_size = integer(self, "proj_size", proj_size, least=0)
        if self.proj_size >= self.hidden_size:
            raise ArgumentError(
                f"{type(self).__name__}: proj_size must be smaller than hidden_size "
                f"({self.hidden_size}), got {self.proj_size}; use 0 for no projection"
            )
        bound = 1.0 / math.sqrt(self.hidden_size)
        rows, seen = GATES[kind] * self.hidden_size, self.proj_size or self.hidden_size
        ih, hh, bias_ih, bias_hh = attrs
        uniform = Uniform(-bound, bound)
        for name, shape, attr in (
            ("weight_ih", [rows, self.input_size], required(self, "weight_ih_attr", ih)),
            ("weight_hh", [rows, seen], required(self, "weight_hh_attr", hh)),
            ("bias_ih", [rows], bias_ih),
            ("bias_hh", [rows], bias_hh),
        ):
            parameter = self.create_parameter(
                shape, attr, is_bias=len(shape) == 1, default_initializer=uniform
            )
            setattr(self, name, parameter)
        if self.proj_size:
            self.weight_ho = self.create_parameter(
                [self.hidden_size, self.proj_size], ih, default_initializer=uniform
            )

    @property
    def parameters_of_step(self) -> Parameters:
        """weight_ih, weight_hh, bias_ih, bias_hh"""
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    @property
    def state_shape(self) -> Any:
        return (self.hidden_size,)

    def _operands(self, inputs: Any, states: Any) -> tuple[Any, Any]:
        """The input and the states of a step, seen to fit."""
        name = type(self).__name__
        inputs = as_operand(name, inputs, "inputs")
        shape = spec_of(inputs).shape
        if len(shape) != 2 or not may_equal(shape[1:], (self.input_size,)):
            raise ShapeError(
                f"{name}: inputs must have the shape [batch, {self.input_size}], got "
                f"{format_shape(shape)}"
            )
        if states is None:
            return inputs, self.get_initial_states(inputs)
        several = isinstance(self.state_shape[0], tuple)
        if several != isinstance(states, (list, tuple)) or (several and len(states) != 2):
            count = f" of {len(states)}" if isinstance(states, (list, tuple)) else ""
            raise ArgumentError(
                f"{name}: states must be {'(h, c)' if several else 'one Tensor'}, got "
                f"{type(states).__name__}{count}"
            )

        def checked(state: Any, sizes: Any) -> Any:
            state = as_operand(name, state, "states")
            if not may_equal(spec_of(state).shape, (shape[0], *sizes)):
                raise ShapeError(
                    f"{name}: a state must have the shape {format_shape((shape[0], *sizes))}, got "
                    f"{format_shape(spec_of(state).shape)}"
                )
            return state

        if not several:
            return inputs, checked(states, self.state_shape)
        return inputs, tuple(map(checked, states, self.state_shape))

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}"


class SimpleRNNCell(_GateCell):
    """``h' = activation(W_ih x + b_ih + W_hh h + b_hh)``

    Parameters
    ----------
    activation : {"tanh", "relu"}

    Attributes
    ----------
    weight_ih, weight_hh, bias_ih, bias_hh : Parameter
        ``[hidden, input]``, ``[hidden, hidden]``, ``[hidden]`` and ``[hidden]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> cell = paddle.nn.SimpleRNNCell(3, 4)
    >>> output, state = cell(paddle.ones([2, 3]))
    >>> output.shape
    paddle.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        activation = choice(self, "activation", activation, ("tanh", "relu"))
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__(activation, input_size, hidden_size, attrs)
        self.activation = activation

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        inputs, h = self._operands(inputs, states)
        h = simple_rnn_cell(self.kind, inputs, h, self.parameters_of_step)
        return h, h

    def extra_repr(self) -> str:
        more = "" if self.activation == "tanh" else f", activation={self.activation}"
        return super().extra_repr() + more


class LSTMCell(_GateCell):
    """One step of a long short-term memory; see `nn.functional.lstm_cell`.

    Parameters
    ----------
    proj_size : int
        If it is not 0, h is projected to this size, by `weight_ho`.

    Attributes
    ----------
    weight_ih, weight_hh, bias_ih, bias_hh : Parameter
        ``[4 * hidden, input]``, ``[4 * hidden, hidden]`` (or proj_size), ``[4 * hidden]`` twice;
        gates in the order input, forget, cell, output.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> cell = paddle.nn.LSTMCell(3, 4)
    >>> output, (h, c) = cell(paddle.ones([2, 3]))
    >>> h.shape, c.shape
    (paddle.Size([2, 4]), paddle.Size([2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__("lstm", input_size, hidden_size, attrs, proj_size)

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, tuple[Any, Any]]:
        inputs, states = self._operands(inputs, states)
        h, (h, c) = F.lstm_cell(inputs, states, *self.parameters_of_step)
        if self.proj_size:
            h = ops.matmul(h, self.weight_ho)
        return h, (h, c)

    @property
    def state_shape(self) -> Any:
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))

    def extra_repr(self) -> str:
        return super().extra_repr() + (f", proj_size={self.proj_size}" if self.proj_size else "")


class GRUCell(_GateCell):
    """One step of a gated recurrent unit, with the reset gate behind the product with the state::

        r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
        z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
        c = tanh(W_ic x + b_ic + r * (W_hc h + b_hc))
        h' = z * h + (1 - z) * c

    Attributes
    ----------
    weight_ih, weight_hh, bias_ih, bias_hh : Parameter
        ``[3 * hidden, input]``, ``[3 * hidden, hidden]``, ``[3 * hidden]`` twice; gates in the
        order r, z, c.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> cell = paddle.nn.GRUCell(3, 4)
    >>> output, state = cell(paddle.ones([2, 3]))
    >>> output.shape
    paddle.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__("gru", input_size, hidden_size, attrs)

    def forward(self, inputs: Any, states: Any = None) -> tuple[Any, Any]:
        inputs, h = self._operands(inputs, states)
        h = gru_cell(inputs, h, self.parameters_of_step)
        return h, h


def fused(cell: Any) -> bool:
    """Whether `scan` does what this cell does step by step."""
    return (
        type(cell) in (SimpleRNNCell, LSTMCell, GRUCell)
        and not cell.proj_size
        and not cell._forward_pre_hooks
        and not cell._forward_post_hooks
    )
