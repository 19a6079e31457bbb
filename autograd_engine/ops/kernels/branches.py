"""Whether something holds of values, asked by kernels to save work.

Either answer leads to right results, but one way is shorter where it may be gone. Whoever runs a
kernel without knowing values (`compiler.xla`) goes the long way.
"""

from __future__ import annotations

from typing import Any

__all__ = ["perhaps", "surely"]


def perhaps(holds: Any) -> bool:
    """Whether it holds: yes where that is not known."""
    return bool(holds)


def surely(holds: Any) -> bool:
    """Whether it holds: no where that is not known."""
    return bool(holds)
