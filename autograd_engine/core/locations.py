"""Where in the user's code something happened, and code of our own that is generated."""

from __future__ import annotations

import functools
import itertools
import linecache
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any, Final, ParamSpec, TypeVar

from autograd_engine.errors.frames import PACKAGE_DIR

__all__ = [
    "PACKAGE_DIR",
    "Location",
    "StoredLocation",
    "caller",
    "define_generated",
    "forget_generated",
    "register_generated",
    "run_generated",
    "say_where",
    "saying_where",
    "user_frame_from",
    "user_stack",
    "users",
    "warn_at",
]

P = ParamSpec("P")
T = TypeVar("T")

_generated = itertools.count()


def run_generated(text: str, label: str, scope: dict[str, Any]) -> str:
    """Run generated source in `scope`, its text kept so that tracebacks show it.

    Returns
    -------
    str
        Its file name, which is inside the package: a generated frame is none of the user's.
    """
    filename = register_generated(text, label)
    exec(compile(text, filename, "exec"), scope)
    return filename


def define_generated(functions: Sequence[str], label: str, scope: dict[str, Any]) -> str:
    """As `run_generated`, of one text made of functions, which are compiled one by one.

    That takes the memory of the longest of them. A text that has been compiled before is not again:
    a program that is run with other sizes, or written once more, mostly reads the same.
    """
    filename, line = register_generated("".join(functions), label), 0
    for text in functions:
        compiled = _kept_codes if len(text) <= _KEPT_TEXT else _codes
        for code in compiled(text):
            scope[code.co_name] = FunctionType(_placed(code, filename, line), scope)
        line += text.count("\n")
    return filename


_KEPT_TEXT: Final = 16_384  # characters


def _codes(text: str) -> tuple[CodeType, ...]:
    """The functions that a text defines, as of no file."""
    made = compile(text, "<generated>", "exec").co_consts
    return tuple(code for code in made if isinstance(code, CodeType))


_kept_codes: Final = functools.lru_cache(maxsize=256)(_codes)


def _placed(code: CodeType, filename: str, line: int) -> CodeType:
    """The code as that of a file, in which `line` lines stand before its text."""
    inner = (_placed(c, filename, line) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(
        co_filename=filename, co_firstlineno=code.co_firstlineno + line, co_consts=tuple(inner)
    )


def register_generated(text: str, label: str) -> str:
    """A file name under which `linecache` finds the text."""
    filename = os.path.join(PACKAGE_DIR, f"<{label} {next(_generated)}>")
    # An entry of one element is a function that is asked for the text when a line is wanted.
    linecache.cache[filename] = (lambda: text,)
    return filename


def forget_generated(filename: str) -> None:
    """Drop the text of generated source whose function is gone."""
    linecache.cache.pop(filename, None)
    _own_files.discard(filename)


# The globals of the user's frame seen last: most calls come from the same module again.
users: Final[list[Any]] = [None]
# Files of the engine that a frame has been seen in: finding one takes less time than comparing.
_own_files: Final[set[str]] = set()


def user_frame_from(frame: FrameType) -> FrameType:
    """`frame`, or the nearest one outside of it that is not the engine's own."""
    known = users[0]
    while frame.f_globals is not known:
        name = frame.f_code.co_filename
        if name not in _own_files:
            if not name.startswith(PACKAGE_DIR):
                users[0] = frame.f_globals
                break
            _own_files.add(name)
        outer = frame.f_back
        if outer is None:  # a thread, or the interpreter, has called us itself
            break
        frame = outer
    return frame


def warn_at(frame: FrameType, message: str, category: type[Warning]) -> None:
    """Warn at the line that `frame` is in; what the line has been told is kept in its module."""
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__") or "<unknown>",  # of None Python says nothing
        frame.f_globals.setdefault("__warningregistry__", {}),
    )


class Location:
    """A line of the user's. Line number and text are worked out only when asked for.

    Parameters
    ----------
    code : CodeType
    instruction : int
        Offset of the instruction in `code`, ``frame.f_lasti``.
    """

    __slots__ = ("code", "instruction", "unfinished")

    unfinished: bool  # set where an exception ended what happened there

    def __init__(self, code: CodeType, instruction: int) -> None:
        self.code = code
        self.instruction = instruction

    @property
    def filename(self) -> str:
        return self.code.co_filename

    @property
    def lineno(self) -> int:
        for start, stop, line in self.code.co_lines():
            if start <= self.instruction < stop and line is not None:
                return line
        return self.code.co_firstlineno

    @property
    def text(self) -> str:
        """The source line, empty where it cannot be read."""
        return linecache.getline(self.filename, self.lineno).strip()

    @property
    def with_text(self) -> str:
        """``train.py:12 (loss = f(x))``; the text is left out where it cannot be read."""
        text = self.text
        return f"{self} ({text})" if text else str(self)

    @property
    def shown(self) -> str:
        """The file as messages name it."""
        return _shown(self.filename)

    def __str__(self) -> str:
        return f"{self.shown}:{self.lineno}"


class StoredLocation(Location):
    """A line that was read from a file, with its text: no file of that name is looked at."""

    __slots__ = ("filename", "lineno", "shown", "text")

    filename: str
    lineno: int
    shown: str
    text: str

    def __init__(self, shown: str, lineno: int, text: str) -> None:
        super().__init__(StoredLocation.__init__.__code__, 0)
        self.filename = self.shown = shown
        self.lineno, self.text = lineno, text


def _shown(filename: str) -> str:
    """The name of a file; of a cell of a notebook, its number there: ``In[3]``."""
    module = sys.modules.get("IPython.core.interactiveshell")
    if module is not None and module.InteractiveShell.initialized():
        shell = module.InteractiveShell.instance()
        cell = getattr(shell.compile, "format_code_name", lambda name: None)(filename)
        if cell is not None:
            return str(cell[1])
    return os.path.basename(filename)


def user_stack() -> tuple[Location, ...]:
    """All frames of the user's, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    found = []
    while frame is not None:
        if not frame.f_code.co_filename.startswith(PACKAGE_DIR):
            found.append(Location(frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return tuple(found)


def caller() -> Location:
    """The line of the user's that is being executed."""
    frame = user_frame_from(sys._getframe(1))
    return Location(frame.f_code, frame.f_lasti)


def say_where(error: BaseException, place: str) -> None:
    """Have an error of the engine's end with the place of what it is about."""
    ours = type(error).__module__.startswith("autograd_engine.")
    if ours and error.args and place not in str(error.args[0]):
        error.args = (f"{error.args[0]} (in {place})", *error.args[1:])


def saying_where(
    what: Callable[..., str] | None = None,
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A decorator: errors of the function say at which line of the user's it was called.

    In front of the line they have what `what` makes of the arguments.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                line = caller().with_text
                say_where(error, line if what is None else f"{what(*args, **kwargs)} of {line}")
                raise

        return call

    return decorate
