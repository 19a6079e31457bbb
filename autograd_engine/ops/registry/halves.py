"""Floats of 16 bits, float16 and bfloat16: computed in float32, and rounded once.

A kernel is given operands in float32, and what it makes is rounded to the dtype that the inference
of its row says. A rule is given its cotangent and what was saved in float32, too, and its results
are rounded: so every mode, whatever the namespace that it computes in, rounds where the others do.
Neither the kernel nor the rule knows of it. A row that takes `halves` "as they are" moves elements
or casts them; nothing is computed there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.core.dtypes import FLOAT32, HALVES, DType, rounded, widened
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.scattered_cotangent import Lazy, Scattered

if TYPE_CHECKING:
    from autograd_engine.ops.registry.opdef import OpDef

__all__ = [
    "computes_in_float32",
    "float32_named",
    "half_names",
    "in_float32",
    "in_half",
    "rounded_once",
    "with_weak_numbers",
]

_BUILTIN = type(len)
_NAMES = ("float16", "bfloat16")  # also where what has the second is not installed


def computes_in_float32(op: OpDef) -> bool:
    """Whether the kernel is to be given float32: ufuncs and operators round once by themselves."""
    return op.halves == "in float32" and not isinstance(op.kernel, (np.ufunc, _BUILTIN))


def rounded_once(op: OpDef, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of a row for operands of any dtype, from one that computes in wider ones."""
    known: dict[Any, list[Any]] = {}  # dtypes of the results
    named = "dtype" in op.attrs

    def in_single(arrays: Sequence[Any], attrs: dict[str, Any]) -> Any:
        key = (
            *[getattr(a, "dtype", None) for a in arrays],
            *[v for v in attrs.values() if isinstance(v, (str, bool))],
        )
        dtypes = known.get(key)
        arrays = weak(arrays)
        wide = [_widened(a) for a in arrays]
        with np.errstate(over="ignore"):
            made = kernel(*wide, **float32_named(op, attrs))
            if dtypes is None:
                specs = [Spec(a.shape, a.dtype) for a in arrays]
                dtypes = known[key] = [s.dtype for s in op.infer_tuple(specs, attrs)]
            if not op.multiple:
                return _rounded(made, dtypes[0])
            if op.variadic_output:
                return tuple([_rounded(m, dtypes[0]) for m in made])
            return tuple([_rounded(m, d) for m, d in zip(made, dtypes, strict=True)])

    @functools.wraps(kernel)
    def run(*arrays: Any, **attrs: Any) -> Any:
        for a in arrays:
            if hasattr(a, "dtype") and a.dtype in HALVES:
                return in_single(arrays, attrs)
        if named and attrs.get("dtype") in _NAMES:
            return in_single(arrays, attrs)
        return kernel(*arrays, **attrs)

    function: Any = run
    function.in_numpy = getattr(kernel, "in_numpy", kernel)
    return function  # type: ignore[no-any-return]


def float32_named(op: OpDef, attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes for a kernel that computes in float32: a dtype of 16 bits is none of its."""
    if "dtype" in op.attrs and attrs.get("dtype") in _NAMES:
        return {**attrs, "dtype": "float32"}
    return attrs


def weak(arrays: Sequence[Any]) -> Sequence[Any]:
    """Arrays, and the numbers beside them in the dtype of 16 bits that one has."""
    half = next((a.dtype for a in arrays if getattr(a, "dtype", None) in HALVES), FLOAT32)
    return [a if hasattr(a, "dtype") else np.asarray(a, half) for a in arrays]


def with_weak_numbers(op: OpDef) -> Callable[..., Any]:
    """The kernel for arrays and numbers: NumPy takes float32 for bfloat16 beside a number."""
    kernel = op.kernel
    if kernel is not op.direct or op.halves != "in float32":
        return kernel

    def run(*arrays: Any, **attrs: Any) -> Any:
        for a in arrays:
            if getattr(a, "dtype", None) in HALVES:
                return kernel(*weak(arrays), **attrs)
        return kernel(*arrays, **attrs)

    return run


def _widened(a: Any) -> Any:
    if not hasattr(a, "dtype") or a.dtype not in HALVES:
        return a
    return Spec(a.shape, FLOAT32) if a.__class__ is Spec else widened(a)


def _rounded(made: Any, dtype: np.dtype[Any]) -> Any:
    if dtype not in HALVES or made.dtype == dtype:
        return made
    return rounded(np.asarray(made), dtype)


# --- rules


def half_names(dtypes: Sequence[np.dtype[Any]]) -> tuple[str | None, ...]:
    """The name of each dtype of 16 bits, None for another."""
    return tuple([d.name if d in HALVES else None for d in dtypes])


def in_float32(xp: Any, value: Any) -> Any:
    """What a rule is given, in float32 where it is of 16 bits."""
    if value.__class__ in (tuple, list):
        return value.__class__([in_float32(xp, v) for v in value])
    dtype = getattr(value, "dtype", None)
    if dtype.__class__ is DType:
        dtype = dtype.dtype
    if dtype not in HALVES:
        return value
    if value.__class__ is Spec:
        return Spec(value.shape, FLOAT32)
    if value.__class__ is Scattered:
        return value.astype("float32")
    return xp.cast(value, dtype="float32")


def in_half(xp: Any, value: Any, name: str | None) -> Any:
    """The result of a rule in the dtype of the operand, as a `Scattered` if it is one."""
    if value is None or name is None or value.dtype == name:
        return value
    if value.__class__ is Scattered:
        return value.rounded(name)
    return xp.cast(value.dense() if isinstance(value, Lazy) else value, dtype=name)
