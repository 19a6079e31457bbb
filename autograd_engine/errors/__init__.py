"""Exceptions and warnings: one per kind of user mistake, each text with what to type instead.

Several inherit from two built-in classes, because callers coming from the reference system
catch one and callers coming from Python expect the other.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

from autograd_engine.errors.frames import engine_frames, hide, shown

__all__ = [
    "AnomalyError",
    "ArgumentError",
    "ArgumentTypeError",
    "AssertFailedError",
    "BuildError",
    "DTypeError",
    "DuplicateError",
    "EagerOnlyError",
    "ExecutionError",
    "ExportError",
    "FeedError",
    "FileFormatError",
    "GradientCheckError",
    "GradientCutWarning",
    "GraphFreedError",
    "IndexRangeError",
    "MissingFileError",
    "MissingLibraryError",
    "ModeError",
    "NoHistoryWarning",
    "NoLengthError",
    "NotATensorError",
    "NotDifferentiableError",
    "RecomputeError",
    "RegistryError",
    "ShapeError",
    "WorkerError",
    "WorkerTimeoutError",
]


class _EngineError(Exception):
    """What the engine raises: tracebacks end at the user's line.

    pytest and IPython leave out frames that say so themselves, and all others are shown.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        hide(self, engine_frames(sys._getframe(1)))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows, which by itself never leaves out the last frame."""
        reporter = sys.modules["IPython"].get_ipython().InteractiveTB
        entries = self.__traceback__
        if reporter.skip_hidden:
            entries = shown(entries)
        text: list[str] = reporter.structured_traceback(
            type(self), self, entries, tb_offset=reporter.tb_offset
        )
        return text


class _CallError(_EngineError):
    """What is wrong with the arguments of a call: it is said of what the user called."""

    def __init__(self, message: str, *args: Any) -> None:
        from autograd_engine.errors.user_call import reworded

        # Objects of the user's may raise where they are looked at; this error is what matters.
        with contextlib.suppress(Exception):
            message = reworded(message, engine_frames(sys._getframe(1)))
        super().__init__(message, *args)


class ArgumentError(_CallError, AssertionError, ValueError):
    """An argument has a value that the function does not take."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a type that the function does not take."""


class DuplicateError(ArgumentError, RuntimeError):
    """A tensor that `paddle.grad` is given is named twice."""


class IndexRangeError(_CallError, IndexError, ValueError):
    """A position, or a label, is none of what it points into."""


class NotATensorError(_CallError, AssertionError, TypeError, ValueError):
    """An argument that must be a Tensor (or a Variable) is something else."""


class DTypeError(_CallError, TypeError):
    """An operation does not take arrays of this dtype."""


class ShapeError(_CallError, AssertionError, ValueError):
    """Shapes that do not fit together."""


class ModeError(_EngineError, AssertionError, RuntimeError):
    """A static function was called in eager mode, or the other way round."""


class EagerOnlyError(ModeError, AttributeError):
    """What only eager tensors have was asked of a Variable of a program."""


class GraphFreedError(_EngineError, RuntimeError):
    """A backward pass reached a part of the graph that an earlier one has freed."""


class NotDifferentiableError(_EngineError, RuntimeError, ValueError):
    """A gradient was asked for where there is none."""


class AnomalyError(_EngineError, FloatingPointError, RuntimeError):
    """Inside `autograd.detect_anomaly`: NaN or infinity was made of finite numbers."""


class RecomputeError(_EngineError, RuntimeError):
    """A function that `autograd.recompute` ran again did not do what it did the first time."""


class BuildError(_CallError, ValueError):
    """A static program cannot be built as asked."""


class FeedError(_EngineError, ValueError, KeyError):
    """What was fed does not match what the program declares."""

    # KeyError prints the repr of its argument; a sentence should read as one.
    __str__ = Exception.__str__


class FileFormatError(_EngineError, ValueError):
    """A file is none of ours, is damaged, or says what no program can be."""


class ExecutionError(_EngineError, RuntimeError):
    """An operation of a running program failed."""


class AssertFailedError(ExecutionError, AssertionError):
    """The condition of an `Assert` was false."""


class ExportError(_EngineError, BufferError):
    """Memory cannot be handed to another library, or taken from it, as asked."""


class RegistryError(_EngineError, TypeError):
    """An operation or a rule is declared wrongly (found when it is declared)."""


class GradientCheckError(_EngineError, AssertionError):
    """A gradient is not what differences say it is, or another check of `testing` failed.

    Attributes
    ----------
    causes : tuple of str
        What the pattern of the errors suggests, likeliest first.
    """

    def __init__(self, message: str, causes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.causes = causes


class GradientCutWarning(UserWarning):
    """Another library took the values of a tensor that requires a gradient, unasked.

    What it computes has no gradient: NumPy of a list of tensors, SciPy of a tensor. It is said once
    for a line.
    """


class MissingLibraryError(_EngineError, ImportError):
    """What was asked for needs a library that is optional, and not installed."""


class NoHistoryWarning(UserWarning):
    """``backward()`` of a value that carries no gradient: nothing happens.

    It says why: never recorded, computed where recording is off, detached. Once for a line.
    """


class MissingFileError(_EngineError, FileNotFoundError, ValueError):
    """There is no file where one is to be read."""


class NoLengthError(_EngineError, TypeError, ValueError, RuntimeError):
    """The length of data was asked for that comes as a stream, or does not tell its length."""

    # A TypeError, so that list(data), which asks only for a hint, goes on without one.


class WorkerError(_EngineError, RuntimeError):
    """A process that loads data has died, or cannot be started."""


class WorkerTimeoutError(WorkerError, TimeoutError):
    """A process that loads data has not answered in the time that it was given."""
