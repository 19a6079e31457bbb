"""Powers, and what leaves its operand as it is."""

from __future__ import annotations

from autograd_engine.compiler.native.tracing.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.core.dtypes import FLOATS

__all__: list[str] = []


@lowers("pow")
def _pow(np: Loops, x: Traced, y: Traced) -> Traced:
    if np.meeting((x, y)) not in FLOATS:
        raise NotLowered("powers of integers are NumPy's")
    number = y.term.number
    if number == 2:
        return np.map("square", x)
    if number == 0.5:  # of -0 and of -inf NumPy's power is another one, and its root this
        return np.map("sqrt", x)
    return np.map("power", x, y)


@lowers("assign")
def _assign(np: Loops, x: Traced) -> Traced:
    return x
