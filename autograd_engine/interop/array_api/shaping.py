"""The standard's functions that move elements and put arrays together."""

from __future__ import annotations

from typing import Any

from autograd_engine.errors import ArgumentError
from autograd_engine.interop.numpy_protocol import shape as numpys
from autograd_engine.interop.numpy_protocol.joining import _concatenate
from autograd_engine.interop.numpy_protocol.operands import as_tensor
from autograd_engine.interop.numpy_protocol.select import _take, _take_along_axis
from autograd_engine.tensor import public as paddle

__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "take",
    "take_along_axis",
    "tile",
    "unstack",
]


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """All arrays in the shape that they broadcast to."""
    return list(paddle.broadcast_tensors([as_tensor(a) for a in arrays]))


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that shapes broadcast to."""
    return tuple(paddle.broadcast_shapes(*shapes))


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """`x` repeated along axes of size 1."""
    return paddle.broadcast_to(as_tensor(x), list(shape))


def concat(arrays: Any, /, *, axis: Any = 0) -> Any:
    """Arrays one after the other along an axis; flattened with None."""
    return _concatenate(arrays, axis)


def expand_dims(x: Any, /, axis: Any = 0) -> Any:
    """`x` with axes of size 1."""
    return numpys._expand_dims(x, axis)


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """Elements in reverse order along axes."""
    return numpys._flip(x, axis)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """Axes at other places, the others in order."""
    return paddle.moveaxis(as_tensor(x), source, destination)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """The axes in another order."""
    return numpys._transpose(x, axes)


def repeat(x: Any, repeats: Any, /, *, axis: Any = None) -> Any:
    """Each element several times."""
    return numpys._repeat(x, repeats, axis)


def reshape(x: Any, /, shape: Any, *, copy: Any = None) -> Any:
    """The elements in another shape."""
    return numpys._reshape(x, shape)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Elements moved along axes, those that fall off put in front."""
    return numpys._roll(x, shift, axis)


def squeeze(x: Any, /, axis: Any) -> Any:
    """`x` without axes of size 1."""
    return numpys._squeeze(x, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Arrays along a new axis."""
    return paddle.stack([as_tensor(a) for a in arrays], axis)


def take(x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    """Elements at positions along an axis."""
    if axis is None and as_tensor(x).ndim != 1:
        raise ArgumentError(f"take: an array with {as_tensor(x).ndim} dimensions needs axis")
    return _take(x, indices, axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Elements at positions of their own in each vector along an axis."""
    return _take_along_axis(x, indices, axis)


def tile(x: Any, repetitions: Any, /) -> Any:
    """The array repeated as a whole."""
    return numpys._tile(x, repetitions)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices along an axis."""
    return numpys._unstack(x, axis=axis)
