"""Linear maps, embeddings, encodings of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.core.checks import as_number, is_int, positive_int, require_floats
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.dtypes import get_default_numpy_dtype, name_of
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ModeError, ShapeError
from autograd_engine.nn.functional.arguments import as_floats, as_integers, check_number
from autograd_engine.nn.functional.bias import biased
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, shape_of, spec_of
from autograd_engine.tensor.linalg.products import matmul

__all__ = [
    "bilinear",
    "embedding",
    "embedding_renorm_",
    "label_smooth",
    "linear",
    "one_hot",
]


def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Tensor:
    """x @ weight + bias, with weight of shape [in, out].

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> linear(paddle.ones([1, 2]), paddle.ones([2, 3])).tolist()
    [[2.0, 2.0, 2.0]]
    """
    try:
        if bias is None:
            return matmul(x, weight)
        if isinstance(x, Variable):
            return _linear(x, weight, bias)
        return biased.add(matmul(x, weight), bias)
    except ShapeError:
        shape, wanted = (
            v.spec.shape if isinstance(v, Variable) else tuple(getattr(v, "shape", ()))
            for v in (x, weight)
        )
        if not shape or len(wanted) != 2 or shape[-1] == wanted[0]:
            raise
        raise ShapeError(
            f"linear: x {format_shape(shape)} has {shape[-1]} features, but weight "
            f"{format_shape(wanted)} is [in, out] and takes {wanted[0]}"
        ) from None


@atomic
def _linear(x: Any, weight: Any, bias: Any) -> Any:
    return biased.add(matmul(x, weight), bias)


def embedding(
    x: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: str | None = None,
) -> Tensor:
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
        Let the gradient of a `weight` that is a leaf keep the rows that were read and no others
        (its ``is_selected_rows()`` is True). SGD, and Adam with ``lazy_mode=True``, update only
        these; anything else sees the gradient as if it were dense.

    Returns
    -------
    ``x.shape + [width]``

    Raises
    ------
    DTypeError, ShapeError, IndexError, ArgumentError, ModeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> table = paddle.to_tensor([[1.0, 1.0], [2.0, 2.0]])
    >>> embedding(paddle.to_tensor([1, 0, 1]), table).tolist()
    [[2.0, 2.0], [1.0, 1.0], [2.0, 2.0]]
    """
    x, weight = as_integers("embedding", x, "x"), as_operand("embedding", weight, "weight")
    table = shape_of(weight)
    if len(table) != 2:
        raise ShapeError(f"embedding: weight must be [rows, width], got {format_shape(table)}")
    if scale_grad_by_freq:
        raise ArgumentError(
            "embedding: scale_grad_by_freq=True is not supported; divide the gradient of weight by "
            "how often each row was used"
        )
    if norm_type.__class__ is not float or norm_type != norm_type:
        norm_type = check_number("embedding", "norm_type", norm_type)
    if max_norm is not None:
        _shorten("embedding", weight, x, max_norm, norm_type)
    rows = table[0]
    if padding_idx is None:
        return ops.gather(weight, x, axis=0, sparse=bool(sparse))
    row = as_number(padding_idx)
    if not is_int(row):
        raise ArgumentError(f"embedding: padding_idx {padding_idx!r} is no row: give an int")
    if isinstance(rows, int):
        if not -rows <= row < rows:
            raise ArgumentError(f"embedding: padding_idx {row} is no row of {rows}")
        row %= rows
    elif row < 0:
        raise ArgumentError(
            f"embedding: padding_idx {row} counts from the end of a weight "
            f"{format_shape(table)} with unknown rows; declare it, or count from the front"
        )
    out = ops.gather(weight, x, axis=0, sparse=bool(sparse))
    padding = ops.equal(ops.unsqueeze(x, axis=(len(shape_of(x)),)), row)
    return ops.where(padding, 0.0, out)


def _shorten(op: str, weight: Any, x: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows of `weight` that `x` names to a norm of `max_norm` at most."""
    most, order = check_number(op, "max_norm", max_norm), check_number(op, "norm_type", norm_type)
    if not isinstance(weight, Tensor) or not isinstance(x, Tensor):
        raise ModeError(f"{op}: max_norm writes weight, which a program cannot; scale it ahead")
    table = weight.numpy()
    rows = np.unique(x.numpy())
    if rows.size and (rows[0] < 0 or rows[-1] >= table.shape[0]):
        wrong = rows[0] if rows[0] < 0 else rows[-1]
        raise IndexError(f"{op}: x has {wrong}, and weight rows 0 to {table.shape[0] - 1}")
    norms = np.linalg.norm(table[rows].astype(np.float64), ord=order, axis=1)
    long = norms > most
    if long.any():
        table = table.copy()
        table[rows[long]] *= (most / (norms[long] + 1e-7))[:, None].astype(table.dtype)
        weight.set_value(table)


def embedding_renorm_(x: Any, weight: Any, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scale rows of `weight`, in place, to a norm of `max_norm` at most; no gradient notices.

    Parameters
    ----------
    x : Tensor
        Integers of any shape: the rows.
    weight : Tensor
        ``[rows, width]``
    max_norm : float
    norm_type : float
        The p of the norm.

    Returns
    -------
    `weight`

    Raises
    ------
    DTypeError, ShapeError, IndexError, ArgumentError, ModeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> table = paddle.to_tensor([[3.0, 4.0], [30.0, 40.0]])
    >>> paddle.nn.functional.embedding_renorm_(paddle.to_tensor([0]), table, 1.0)
    Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=True,
           [[0.60000002, 0.80000001],
            [30.       , 40.       ]])
    """
    op = "embedding_renorm_"
    x, table = as_integers(op, x, "x"), as_operand(op, weight, "weight")
    require_floats(op, "weight", spec_of(table).dtype)
    if spec_of(table).ndim != 2:
        raise ShapeError(
            f"{op}: weight must be [rows, width], got {format_shape(spec_of(table).shape)}"
        )
    _shorten(op, table, x, max_norm, norm_type)
    return weight


@atomic
def one_hot(x: Any, num_classes: int = -1, name: str | None = None) -> Tensor:
    """1 at the position that each integer names along a new last axis, 0 elsewhere.

    Parameters
    ----------
    x : Tensor or Variable
        Integers, 0 to ``num_classes - 1``.
    num_classes : int
        -1 for one more than the largest in `x`, in eager mode only.

    Raises
    ------
    ArgumentError, DTypeError, IndexError, ModeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> one_hot(paddle.to_tensor([1]), 3).tolist()
    [[0.0, 1.0, 0.0]]
    """
    x = as_integers("one_hot", x, "x")
    classes = as_number(num_classes)
    if not isinstance(classes, SymbolicNumber) and classes == -1:
        if not isinstance(x, Tensor):
            raise ModeError(
                "one_hot: a program does not know the largest integer; give num_classes"
            )
        classes = int(x.numpy().max()) + 1 if x.size else 1
    classes = positive_int("one_hot", "num_classes", classes)
    return ops.one_hot(x, num_classes=classes, dtype=name_of(get_default_numpy_dtype()))


@atomic
def label_smooth(
    label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None
) -> Tensor:
    """(1 - epsilon) * label + epsilon * prior_dist: labels that are not quite sure.

    Parameters
    ----------
    label : Tensor or Variable
        Distributions along the last axis.
    prior_dist : Tensor or Variable, optional
        ``[1, classes]``, or of the shape of `label`; uniform when not given.
    epsilon : float
        In [0, 1].

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> label_smooth(paddle.to_tensor([[0.0, 1.0]]), epsilon=0.5).tolist()
    [[0.25, 0.75]]
    """
    epsilon = check_number("label_smooth", "epsilon", epsilon)
    if isinstance(epsilon, SymbolicNumber):
        epsilon = epsilon.within("label_smooth: epsilon", "in [0, 1]", 0, 1)
    elif not 0.0 <= epsilon <= 1.0:
        raise ArgumentError(f"label_smooth: epsilon must be in [0, 1], got {epsilon}")
    label = as_floats("label_smooth", label, "label")
    if prior_dist is None:
        prior_dist = uniform_like(label, spec_of(label).ndim - 1)
    return label * (1.0 - epsilon) + epsilon * prior_dist


def uniform_like(x: Any, axis: int) -> Any:
    """1 / n everywhere, n the size of `axis`, which need not be known."""
    one = ops.mean(ops.full_like(x, value=1.0), axis=(axis,), keepdims=True)
    return ops.spread_like(one, x, axis=(axis,), keepdims=True)


@atomic
def bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None, name: str | None = None) -> Tensor:
    """sum_ij x1[n, i] weight[k, i, j] x2[n, j] + bias[k] for each sample n and output k.

    Parameters
    ----------
    x1, x2 : Tensor or Variable
        ``[N, in1]`` and ``[N, in2]``
    weight : Tensor or Variable
        ``[out, in1, in2]``
    bias : Tensor or Variable, optional
        ``[1, out]``

    Returns
    -------
    ``[N, out]``

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> bilinear(paddle.ones([1, 2]), paddle.ones([1, 3]), paddle.ones([4, 2, 3])).tolist()
    [[6.0, 6.0, 6.0, 6.0]]
    """
    op = "bilinear"
    x1, x2 = as_floats(op, x1, "x1"), as_floats(op, x2, "x2")
    weight = as_floats(op, weight, "weight")
    first, second, kernel = spec_of(x1).shape, spec_of(x2).shape, spec_of(weight).shape
    fits = len(first) == len(second) == 2 and len(kernel) == 3
    if not fits or not may_equal((*first, second[1]), (second[0], *kernel[1:])):
        raise ShapeError(
            f"{op}: x1 must be [N, in1], x2 [N, in2] and weight [out, in1, in2]; got "
            f"{format_shape(first)}, {format_shape(second)} and {format_shape(kernel)}"
        )
    left = matmul(ops.unsqueeze(x1, axis=(0,)), weight)  # [out, N, in2]
    out = ops.transpose(ops.sum(left * x2, axis=(2,), keepdims=False), perm=(1, 0))
    return out if bias is None else out + as_floats(op, bias, "bias")
