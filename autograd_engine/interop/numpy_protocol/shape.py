"""NumPy's functions that move elements: shapes, axes, parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograd_engine.core.operand import Operand
from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.operands import as_tensor, as_tensors, plain
from autograd_engine.program.ir.program import Variable
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


covers("shape")(lambda a: tuple(as_tensor(a).shape))
covers("ndim")(lambda a: int(as_tensor(a).ndim))


@covers("size")
def _size(a: Any, axis: Any = None) -> int:
    shape = as_tensor(a).shape
    if isinstance(a, Variable) and -1 in shape:
        raise ArgumentError(f"np.size: {a.name} has sizes that are not known; use paddle.numel")
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(shape[k] for k in axes)


@covers("reshape")
def _reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    x = as_tensor(a)
    shape = [int(d) for d in (shape if isinstance(shape, (tuple, list, np.ndarray)) else (shape,))]
    if order == "F":
        return _reversed(paddle.reshape(_reversed(x), shape[::-1]))
    if order not in ("C", "A", "K"):
        raise ArgumentError(f"np.reshape: order must be C, F, A or K, got {order!r}")
    return paddle.reshape(x, shape)


def _reversed(x: Any) -> Any:
    return paddle.transpose(x, list(range(x.ndim))[::-1])


covers("ravel")(lambda a, order="C": _reshape(a, (-1,), order))


@covers("transpose", "permute_dims")
def _transpose(a: Any, axes: Any = None) -> Any:
    x = as_tensor(a)
    if axes is None:
        return _reversed(x)
    return paddle.transpose(x, [int(k) for k in axes])


_matrix_transpose: Any = covers("matrix_transpose", "linalg.matrix_transpose")(
    lambda x, /: paddle.matrix_transpose(as_tensor(x))
)
covers("moveaxis")(
    lambda a, source, destination: paddle.moveaxis(as_tensor(a), source, destination)
)


@covers("rollaxis")
def _rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    x = as_tensor(a)
    axis = axis % x.ndim
    start = start + x.ndim if start < 0 else start
    return paddle.moveaxis(x, axis, start - (axis < start))


covers("swapaxes")(lambda a, axis1, axis2: paddle.swapaxes(as_tensor(a), axis1, axis2))


@covers("squeeze")
def _squeeze(a: Any, axis: Any = None) -> Any:
    x = as_tensor(a)
    axes = () if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for k in axes:
        if x.shape[k] not in (1, -1):
            raise ArgumentError(f"np.squeeze: axis {k} has size {x.shape[k]}, which is not 1")
    return paddle.squeeze(x, axis if axis is None else list(axes))


_expand_dims: Any = covers("expand_dims")(lambda a, axis: paddle.unsqueeze(as_tensor(a), axis))


def _atleast(name: str) -> None:
    ours = getattr(paddle, name)

    @covers(name)
    def atleast(*arys: Any) -> Any:
        made = [ours(x) for x in as_tensors(*arys)]
        return made[0] if len(made) == 1 else tuple(made)


for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    _atleast(_name)


covers("broadcast_to")(
    lambda array, shape, subok=False: paddle.broadcast_to(as_tensor(array), shape)
)


@covers("broadcast_arrays")
def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    arrays = as_tensors(*args)
    ours = paddle.broadcast_tensors([a for a in arrays if isinstance(a, Operand)])
    rest = iter(ours)
    return tuple(
        # None and str, which NumPy takes for arrays of no dimension: plots pass options so.
        next(rest) if isinstance(a, Operand) else np.broadcast_to(np.asarray(a), ours[0].shape)
        for a in arrays
    )


@covers("meshgrid")
def _meshgrid(
    *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[Any, ...]:
    arrays = [paddle.reshape(x, [-1]) for x in as_tensors(*xi)]
    if sparse:
        order = [1, 0, *range(2, len(xi))] if indexing == "xy" and len(xi) > 1 else range(len(xi))
        return tuple(
            paddle.reshape(a, [-1 if order[j] == k else 1 for j in range(len(xi))])
            for k, a in enumerate(arrays)
        )
    return tuple(paddle.meshgrid(*arrays, indexing=indexing))


@covers("flip")
def _flip(m: Any, axis: Any = None) -> Any:
    x = as_tensor(m)
    return paddle.flip(x, list(range(x.ndim)) if axis is None else axis)


covers("fliplr")(lambda m: paddle.flip(as_tensor(m), [1]))
covers("flipud")(lambda m: paddle.flip(as_tensor(m), [0]))


@covers("roll")
def _roll(a: Any, shift: Any, axis: Any = None) -> Any:
    axes = list(axis) if isinstance(axis, tuple) else axis
    shifts = list(shift) if isinstance(shift, tuple) else shift
    if isinstance(axes, list) and not isinstance(shifts, list):
        shifts = [shifts] * len(axes)
    return paddle.roll(as_tensor(a), shifts, axes)


covers("rot90")(lambda m, k=1, axes=(0, 1): paddle.rot90(as_tensor(m), k, axes))


@covers("tile")
def _tile(A: Any, reps: Any) -> Any:  # noqa: N803 - NumPy's name
    return paddle.tile(as_tensor(A), reps)


@covers("repeat")
def _repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    x = as_tensor(a)
    if not isinstance(repeats, (int, np.integer)):
        counts = np.asarray(plain("np.repeat", repeats)).reshape(-1)
        repeats = int(counts[0]) if counts.size == 1 else paddle.to_tensor(counts)
    return paddle.repeat_interleave(x, repeats, axis)


@covers("resize")
def _resize(a: Any, new_shape: Any) -> Any:
    shape = list(new_shape) if isinstance(new_shape, (tuple, list)) else [new_shape]
    flat, count = paddle.reshape(as_tensor(a), [-1]), math.prod(shape)
    if not flat.shape[0]:
        return paddle.zeros(shape, flat.dtype)
    times = -(-count // flat.shape[0])
    return paddle.reshape(paddle.tile(flat, [max(times, 1)])[:count], shape)


# --- parts


@covers("split")
def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    x = as_tensor(ary)
    if isinstance(indices_or_sections, (int, np.integer)):
        return list(paddle.split(x, int(indices_or_sections), axis))
    return _array_split(x, indices_or_sections, axis)


@covers("array_split")
def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    x = as_tensor(ary)
    if not isinstance(indices_or_sections, (int, np.integer)):
        indices_or_sections = [int(k) for k in plain("np.split", indices_or_sections)]
    return list(paddle.tensor_split(x, indices_or_sections, axis))


@covers("hsplit")
def _hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    x = as_tensor(ary)
    return _split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


covers("vsplit")(lambda ary, indices_or_sections: _split(ary, indices_or_sections, 0))
covers("dsplit")(lambda ary, indices_or_sections: _split(ary, indices_or_sections, 2))


@covers("unstack")
def _unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    return tuple(paddle.unbind(as_tensor(x), axis))


covers("diag")(lambda v, k=0: paddle.diag(as_tensor(v), k))
covers("diagflat")(lambda v, k=0: paddle.diagflat(as_tensor(v), k))
covers("diagonal")(
    lambda a, offset=0, axis1=0, axis2=1: paddle.diagonal(as_tensor(a), offset, axis1, axis2)
)
_linalg_diagonal: Any = covers("linalg.diagonal")(
    lambda x, /, *, offset=0: paddle.diagonal(as_tensor(x), offset, -2, -1)
)
covers("tril")(lambda m, k=0: paddle.tril(as_tensor(m), k))
covers("triu")(lambda m, k=0: paddle.triu(as_tensor(m), k))


@covers("apply_along_axis")
def _apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    x = paddle.moveaxis(as_tensor(arr), axis, -1)
    lead = list(x.shape[:-1])
    rows = paddle.unbind(paddle.reshape(x, [-1, x.shape[-1]]))
    made = paddle.stack(as_tensors(*(func1d(row, *args, **kwargs) for row in rows)))
    inner = list(made.shape[1:])
    made = paddle.reshape(made, lead + inner)
    axis = axis % x.ndim
    for k in range(len(inner)):  # the axes of the result stand where the axis was
        made = paddle.moveaxis(made, len(lead) + k, axis + k)
    return made


@covers("apply_over_axes")
def _apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    x = as_tensor(a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        made = func(x, axis)
        x = made if made.ndim == x.ndim else paddle.unsqueeze(made, axis % x.ndim)
    return x
