"""Exceptions: one per kind of user mistake, each text with what to type instead.

Several inherit from two built-in classes, because callers coming from the reference system
catch one and callers coming from Python expect the other.
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "BuildError",
    "DTypeError",
    "ExecutionError",
    "FeedError",
    "GraphFreedError",
    "ModeError",
    "NotATensorError",
    "NotDifferentiableError",
    "RegistryError",
    "ShapeError",
]


class ArgumentError(AssertionError, ValueError):
    """An argument has a value that the function does not take."""


class NotATensorError(AssertionError, TypeError):
    """An argument that must be a Tensor (or a Variable) is something else."""


class DTypeError(TypeError):
    """An operation does not take arrays of this dtype."""


class ShapeError(ValueError):
    """Shapes that do not fit together."""


class ModeError(AssertionError, RuntimeError):
    """A static function was called in eager mode, or the other way round."""


class GraphFreedError(RuntimeError):
    """A backward pass reached a part of the graph that an earlier one has freed."""


class NotDifferentiableError(RuntimeError):
    """A gradient was asked for where there is none."""


class BuildError(ValueError):
    """A static program cannot be built as asked."""


class FeedError(ValueError, KeyError):
    """What was fed does not match what the program declares."""

    # KeyError prints the repr of its argument; a sentence should read as one.
    __str__ = Exception.__str__


class ExecutionError(RuntimeError):
    """An operation of a running program failed."""


class RegistryError(TypeError):
    """An operation or a rule is declared wrongly (found when it is declared)."""
