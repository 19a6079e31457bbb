"""What belongs to factorisations."""

from __future__ import annotations

from typing import Any

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers

__all__: list[str] = []


@lowers("mirror_triangle")
def _mirror_triangle(np: Loops, x: Traced, **attrs: Any) -> Traced:
    raise NotLowered("it belongs to a factorisation, which is LAPACK's")
