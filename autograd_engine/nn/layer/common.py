"""Layers that most networks have: linear maps, embeddings, changes of shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import REALS, DTypeLike
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.initializer import Assign
from autograd_engine.nn.layer.arguments import Plain, along, flag, integer, number, required
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.tensor.arguments import ints
from autograd_engine.tensor.shape import flatten, unflatten

__all__ = ["Bilinear", "Embedding", "Flatten", "Identity", "Linear", "Unflatten"]


class Identity(Layer):
    """What it is given, whatever the arguments; it stands where a layer is taken out.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Identity()(paddle.to_tensor([1.0])).tolist()
    [1.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Tensor:
        return input


class Flatten(Layer):
    """The axes from `start_axis` to `stop_axis` as one.

    Parameters
    ----------
    start_axis, stop_axis : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Flatten()(paddle.zeros([2, 3, 4])).shape
    paddle.Size([2, 12])
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis = along(self, "start_axis", start_axis)
        self.stop_axis = along(self, "stop_axis", stop_axis)

    def forward(self, input: Any) -> Tensor:
        return flatten(input, self.start_axis, self.stop_axis)


class Unflatten(Plain):
    """One axis as several of the sizes `shape`, of which one may be -1.

    Parameters
    ----------
    axis : int
    shape : sequence of int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Unflatten(1, [3, -1])(paddle.zeros([2, 12])).shape
    paddle.Size([2, 3, 4])
    """

    _shown = ("axis", "shape")

    def __init__(self, axis: int, shape: Sequence[int], name: str | None = None) -> None:
        super().__init__(name)
        self.axis = along(self, "axis", axis)
        self.shape = list(ints("Unflatten", "shape", shape))

    def forward(self, input: Any) -> Tensor:
        return unflatten(input, self.axis, self.shape)


class Linear(Plain):
    """x @ weight + bias.

    Parameters
    ----------
    in_features, out_features : int
        Last sizes of what it takes and gives.
    weight_attr : ParamAttr, str or Initializer, optional
        Xavier uniform by default.
    bias_attr : ParamAttr, str, Initializer or bool, optional
        Zeros by default; False for no bias.

    Attributes
    ----------
    weight : Parameter
        ``[in_features, out_features]``
    bias : Parameter or None
        ``[out_features]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.Linear(2, 3)
    >>> layer(paddle.ones([5, 2])).shape
    paddle.Size([5, 3])
    >>> layer
    Linear(in_features=2, out_features=3, dtype=float32)
    """

    _shown = ("in_features", "out_features", "_dtype")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.in_features = integer(self, "in_features", in_features)
        self.out_features = integer(self, "out_features", out_features)
        self.weight = self.create_parameter(
            [self.in_features, self.out_features], required(self, "weight_attr", weight_attr)
        )
        self.bias = self.create_parameter([self.out_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Tensor:
        return F.linear(input, self.weight, self.bias)


class Bilinear(Plain):
    """sum_ij x1[n, i] weight[k, i, j] x2[n, j] + bias[k]; see `nn.functional.bilinear`.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
    weight_attr, bias_attr : ParamAttr, str or Initializer, optional
        As of `Linear`.

    Attributes
    ----------
    weight : Parameter
        ``[out_features, in1_features, in2_features]``
    bias : Parameter or None
        ``[1, out_features]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Bilinear(2, 3, 4)(paddle.ones([5, 2]), paddle.ones([5, 3])).shape
    paddle.Size([5, 4])
    """

    _shown = ("_in1_features", "_in2_features", "_out_features", "_dtype")

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        first = self._in1_features = integer(self, "in1_features", in1_features)
        second = self._in2_features = integer(self, "in2_features", in2_features)
        out = self._out_features = integer(self, "out_features", out_features)
        attr = required(self, "weight_attr", weight_attr)
        self.weight = self.create_parameter([out, first, second], attr)
        self.bias = self.create_parameter([1, out], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Tensor:
        return F.bilinear(x1, x2, self.weight, self.bias)


class Embedding(Plain):
    """The rows of a table that integers name; see `nn.functional.embedding`.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Rows of the table, and their width.
    padding_idx : int, optional
        This row is zeros, and stays so; a negative one counts from the end.
    max_norm, norm_type : float, optional
        Rows that are read are shortened to that norm first, in eager mode only.
    sparse : bool
        Let the gradient hold only the rows that were read.
    scale_grad_by_freq : bool
        Not supported.
    weight_attr : ParamAttr, str or Initializer, optional
        Xavier uniform by default.
    dtype : dtype, optional
        Of the table.
    device : "cpu", optional
    _weight : Tensor or array, optional
        ``[num_embeddings, embedding_dim]``: what the table starts with.
    _freeze : bool
        Do not train the table.

    Attributes
    ----------
    weight : Parameter
        ``[num_embeddings, embedding_dim]``

    Raises
    ------
    ArgumentError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> table = paddle.nn.Embedding(10, 3, padding_idx=0)
    >>> table(paddle.to_tensor([[1, 0]])).shape
    paddle.Size([1, 2, 3])
    >>> table(paddle.to_tensor([0])).tolist()
    [[0.0, 0.0, 0.0]]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        *,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: DTypeLike | None = None,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name, dtype)
        rows = self._num_embeddings = integer(self, "num_embeddings", num_embeddings)
        width = self._embedding_dim = integer(self, "embedding_dim", embedding_dim)
        self._padding_idx = None if padding_idx is None else self._row(padding_idx)
        self._max_norm = None if max_norm is None else number(self, "max_norm", max_norm, above=0.0)
        self._norm_type = number(self, "norm_type", norm_type, above=0.0)
        self._sparse = flag(self, "sparse", sparse)
        if flag(self, "scale_grad_by_freq", scale_grad_by_freq):
            raise ArgumentError(
                "Embedding: scale_grad_by_freq=True is not supported; divide the gradient of "
                "weight by how often each row was used"
            )
        attr = ParamAttr.of(required(self, "weight_attr", weight_attr))
        if _weight is not None:
            attr = replace(attr, initializer=Assign(self._table(_weight, (rows, width))))
        if flag(self, "_freeze", _freeze):
            attr = replace(attr, trainable=False)
        self.weight = self.create_parameter([rows, width], attr)
        if self._padding_idx is not None and isinstance(self.weight, Tensor):
            table = self.weight.numpy().copy()
            table[self._padding_idx] = 0.0
            self.weight.set_value(table)
        self.to(device=device)

    def _row(self, padding_idx: Any) -> int:
        row = integer(self, "padding_idx", padding_idx, least=-self._num_embeddings)
        if row >= self._num_embeddings:
            raise ArgumentError(
                f"Embedding: padding_idx {row} is no row of {self._num_embeddings}; the last is "
                f"{self._num_embeddings - 1}"
            )
        return row

    @staticmethod
    def _table(values: Any, shape: tuple[int, int]) -> Any:
        array = values.numpy() if isinstance(values, Tensor) else np.asarray(values)
        if array.dtype not in REALS:
            raise ArgumentError(
                f"Embedding: _weight must be a Tensor of numbers, got {type(values).__name__}"
            )
        if array.shape != shape:
            raise ShapeError(
                f"Embedding: _weight must have the shape {list(shape)}, got {list(array.shape)}"
            )
        return array

    def forward(self, x: Any) -> Tensor:
        return F.embedding(
            x,
            self.weight,
            self._padding_idx,
            self._max_norm,
            self._norm_type,
            self._sparse,
        )

    def extra_repr(self) -> str:
        padding = [] if self._padding_idx is None else [f"padding_idx={self._padding_idx}"]
        return self._listed(
            [
                str(self._num_embeddings),
                str(self._embedding_dim),
                *padding,
                f"sparse={self._sparse}",
                "scale_grad_by_freq=False",
            ]
        )
