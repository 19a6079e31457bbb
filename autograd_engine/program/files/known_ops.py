"""The operations that files can name."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.above import above
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.files.fields import fail, shown

__all__ = ["known_operation", "named_operation"]


def known_operation(op: Any) -> bool:
    """Whether `op` is what a file would get back for its name."""
    return isinstance(op, OpDef) and _find(op.name) is op


def named_operation(name: Any, where: str) -> OpDef:
    """The operation of that name."""
    op = _find(name) if type(name) is str else None
    if op is None:
        fail(where, f"there is no operation {shown(name)} in this version of autograd_engine")
    return op


def _find(name: str) -> OpDef | None:
    found = REGISTRY.get(name)
    if found is None:
        found = above.EFFECTS.get(name)
    return found
