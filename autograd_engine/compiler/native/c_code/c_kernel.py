"""What a C kernel of the native backend is, and the vectors that kernels are written in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.compiler.native.toolchain.compiler import cpu_features
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import Spec

__all__ = ["HELPERS", "CKernel", "Lanes", "element_type", "known", "lanes", "simd_bytes", "widest"]


class CKernel(NamedTuple):
    """Text of one C function, and what it needs.

    Attributes
    ----------
    name : str
        Of the function. Everything else that `source` defines begins with it.
    source : str
        ``static void NAME(operands..., results..., scratch)`` and its static parts. Sizes are
        constants, so equal shapes and attributes give equal text. Operands that only tell a
        shape have no pointer.
    scratch : int
        Elements, of the dtype of the first result, that `scratch` must hold.
    helpers : tuple of str
        Keys of `HELPERS`: texts that must stand before `source`, once.
    """

    name: str
    source: str
    scratch: int
    helpers: tuple[str, ...] = ()


class Lanes(NamedTuple):
    """A vector type: its name in C, the helper that declares it, and how many elements it has."""

    type: str
    helper: str
    width: int


_DTYPES: Final[dict[np.dtype[Any], str]] = {
    np.dtype(np.float32): "float",
    np.dtype(np.float64): "double",
}


def _declaration(element: str, count: int, size: int) -> str:
    return (
        f"typedef {element} ae_{element}x{count} "
        f"__attribute__((vector_size({count * size}), aligned({size}), may_alias));\n"
        f"typedef int{size * 8}_t ae_{element}x{count}_mask "
        f"__attribute__((vector_size({count * size}), aligned({size}), may_alias));\n"
    )


HELPERS: Final = {
    f"ae_{element}x{count}": _declaration(element, count, dtype.itemsize)
    for dtype, element in _DTYPES.items()
    for count in (2, 4, 8, 16)
}


def element_type(dtype: np.dtype[Any]) -> str | None:
    """Name in C of the floats that the kernels compute with; None for others."""
    return _DTYPES.get(dtype)


@cache
def simd_bytes() -> int:
    """Bytes of the widest vectors that this processor computes with at full speed: 32 or 64."""
    return 64 if "avx512f" in cpu_features().split() else 32


def known(specs: Sequence[Spec]) -> list[tuple[int, ...]] | None:
    """The shapes; None where a size is not known, or offsets in an array take over 32 bits."""
    shapes = [tuple(int(n) for n in s.shape if not isinstance(n, Dim)) for s in specs]
    whole = all(len(a) == s.ndim for a, s in zip(shapes, specs, strict=True))
    return shapes if whole and all(prod(a) < 2**31 for a in shapes) else None


def lanes(dtype: np.dtype[Any], count: int) -> Lanes:
    """The vector of `count` elements; one element is no vector."""
    element = _DTYPES[dtype]
    if count == 1:
        return Lanes(element, "", 1)
    name = f"ae_{element}x{count}"
    return Lanes(name, name, count)


def widest(dtype: np.dtype[Any], size: int) -> int:
    """The largest number of lanes that `size` elements fill."""
    count = simd_bytes() // dtype.itemsize
    while count > size:
        count //= 2
    return max(1, count)
