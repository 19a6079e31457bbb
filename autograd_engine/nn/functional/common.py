"""Linear maps, embeddings, dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.dtypes import get_default_numpy_dtype
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.namespace import ops
from autograd_engine.spec import format_shape
from autograd_engine.tensor.linalg import matmul
from autograd_engine.tensor.operand import as_operand, spec_of

__all__ = ["dropout", "embedding", "linear", "one_hot"]


def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """x @ weight + bias, with weight of shape [in, out].

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> linear(paddle.ones([1, 2]), paddle.ones([2, 3])).tolist()
    [[2.0, 2.0, 2.0]]
    """
    out = matmul(x, weight)
    return out if bias is None else out + bias


def embedding(
    x: Any,
    weight: Any,
    padding_idx: int | None = None,
    sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The rows of `weight` that the integers in `x` name.

    Parameters
    ----------
    x : Tensor or Variable
        Integers of any shape, 0 to ``weight.shape[0] - 1``.
    weight : Tensor or Variable
        ``[rows, width]``
    padding_idx : int, optional
        This row reads as zeros and gets no gradient; a negative one counts from the end.
    sparse : bool
        Accepted; the gradient is dense either way.

    Returns
    -------
    ``x.shape + [width]``

    Raises
    ------
    DTypeError, ShapeError, IndexError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> table = paddle.to_tensor([[1.0, 1.0], [2.0, 2.0]])
    >>> embedding(paddle.to_tensor([1, 0, 1]), table).tolist()
    [[2.0, 2.0], [1.0, 1.0], [2.0, 2.0]]
    """
    x, weight = as_operand("embedding", x), as_operand("embedding", weight, "weight")
    spec, table = spec_of(x), spec_of(weight)
    if spec.dtype.kind not in "iu":
        raise DTypeError(
            f"embedding: x must hold integers, got {spec.dtype.name}; use x.astype('int64')"
        )
    if table.ndim != 2:
        raise ShapeError(
            f"embedding: weight must be [rows, width], got {format_shape(table.shape)}"
        )
    rows = table.shape[0]
    if padding_idx is None:
        return ops.gather(weight, x, axis=0)
    if not isinstance(padding_idx, (int, np.integer)) or isinstance(padding_idx, bool):
        raise ArgumentError(f"embedding: padding_idx {padding_idx!r} is no row: give an int")
    row = int(padding_idx)
    if isinstance(rows, int):
        if not -rows <= row < rows:
            raise ArgumentError(f"embedding: padding_idx {row} is no row of {rows}")
        row %= rows
    elif row < 0:
        raise ArgumentError(
            f"embedding: padding_idx {row} counts from the end of a weight "
            f"{format_shape(table.shape)} with unknown rows; declare it, or count from the front"
        )
    out = ops.gather(weight, x, axis=0)
    padding = ops.equal(ops.unsqueeze(x, axis=(spec.ndim,)), row)
    return ops.where(padding, 0.0, out)


def one_hot(x: Any, num_classes: int, name: str | None = None) -> Any:
    """1 at the position that each integer names along a new last axis, 0 elsewhere.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> one_hot(paddle.to_tensor([1]), 3).tolist()
    [[0.0, 1.0, 0.0]]
    """
    x = as_operand("one_hot", x)
    if not isinstance(num_classes, int) or num_classes < 1:
        raise ArgumentError(f"one_hot: num_classes must be a positive int, got {num_classes!r}")
    if spec_of(x).dtype.kind not in "iu":
        raise DTypeError(
            f"one_hot: x must hold integers, got {spec_of(x).dtype.name}; use x.astype('int64')"
        )
    return ops.one_hot(x, num_classes=num_classes, dtype=get_default_numpy_dtype().name)


def dropout(
    x: Any,
    p: float = 0.5,
    training: bool = True,
    mode: str = "upscale_in_train",
    name: str | None = None,
) -> Any:
    """Each element set to 0 with probability `p` while training.

    Parameters
    ----------
    x : Tensor or Variable
    p : float
        In [0, 1].
    training : bool
    mode : {"upscale_in_train", "downscale_in_infer"}
        Divide by 1 - p while training, or multiply by 1 - p when not.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> dropout(paddle.ones([3]), training=False).tolist()
    [1.0, 1.0, 1.0]
    """
    if isinstance(p, bool) or not isinstance(p, (int, float)) or not 0 <= p <= 1:
        raise ArgumentError(f"dropout: p must be a number from 0 to 1, got {p!r}")
    if mode not in ("upscale_in_train", "downscale_in_infer"):
        raise ArgumentError(
            f"dropout: mode must be 'upscale_in_train' or 'downscale_in_infer', got {mode!r}"
        )
    x = as_operand("dropout", x)
    upscale = mode == "upscale_in_train"
    scale = 1.0 if upscale else 1.0 - p
    mask = ops.dropout_mask(x, p=float(p), upscale=upscale, training=training, scale=scale)
    return x * mask
