"""Arguments that are one tensor or several, and results in the form of what was given."""

from __future__ import annotations

from typing import Any

from autograd_engine.program.ir.program import Variable

__all__ = ["holds_variables", "like_given", "nested"]


def holds_variables(value: Any) -> bool:
    """Whether it is a Variable of a program, or a sequence with one."""
    if isinstance(value, (list, tuple)):
        return any(isinstance(v, Variable) for v in value)
    return isinstance(value, Variable)


def like_given(value: Any, results: list[Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return results if isinstance(value, list) else tuple(results)
    return results[0]


def nested(value: Any, results: list[Any]) -> Any:
    """A tuple where `value` is a sequence, else the one result."""
    return tuple(results) if isinstance(value, (list, tuple)) else results[0]
