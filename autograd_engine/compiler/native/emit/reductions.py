"""How elements are combined in a reduction, in C."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.native.c_code.scalars import literal
from autograd_engine.compiler.native.ir import Reduce
from autograd_engine.core.dtypes import BOOLS, FLOAT32, FLOATS, iinfo

__all__ = ["SIGNS", "combine", "identity", "sums_in"]

SIGNS: Final = {"sum": "+", "prod": "*", "any": "|", "all": "&"}
_IDENTITIES: Final = {"sum": 0, "prod": 1, "any": 0, "all": 1}


def combine(kind: str, a: str, b: str) -> str:
    if kind == "max":
        return f"({b} > {a} || {b} != {b}) ? {b} : {a}"
    if kind == "min":
        return f"({b} < {a} || {b} != {b}) ? {b} : {a}"
    return f"{a} {SIGNS[kind]} {b}"


def identity(kind: str, dtype: np.dtype[Any]) -> str:
    """What changes nothing when it is combined."""
    if kind in _IDENTITIES:
        return literal(_IDENTITIES[kind], dtype)
    if dtype in FLOATS:
        return literal(-math.inf if kind == "max" else math.inf, dtype)
    if dtype in BOOLS:
        return "0" if kind == "max" else "1"
    info = iinfo(dtype)
    return f"({info.min + 1}ll - 1)" if kind == "max" else f"{info.max}ll"


def sums_in(step: Reduce, total: bool) -> np.dtype[Any]:
    """Totals of float32 are added up in float64, stretch by stretch."""
    dtype = step.outs[0].dtype
    wide = total and dtype == FLOAT32 and step.kind == "sum"
    return np.dtype(np.float64) if wide else dtype
