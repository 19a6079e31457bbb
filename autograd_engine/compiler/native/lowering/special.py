"""Special functions that C has."""

from __future__ import annotations

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, Traced, lowers

__all__: list[str] = []


@lowers("erf")
def _erf(np: Loops, x: Traced) -> Traced:
    return np.map("erf", x)
