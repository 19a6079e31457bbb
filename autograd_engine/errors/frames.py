"""Frames of the engine's own: where they end, and what keeps pytest and IPython from showing them.

Both leave a frame out that has a local variable ``__tracebackhide__``. It is put into the frames
where an error is made, those of generated functions too, so that none of them need say so itself.
"""

from __future__ import annotations

import inspect
import os
import sys
from types import FrameType, TracebackType
from typing import Final

__all__ = ["FULL_TRACEBACK", "PACKAGE_DIR", "engine_frames", "hide", "let_go", "shown"]

PACKAGE_DIR: Final = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
FULL_TRACEBACK: Final = "AUTOGRAD_ENGINE_FULL_TRACEBACK"

_HIDDEN: Final = "__tracebackhide__"


def engine_frames(frame: FrameType | None) -> list[FrameType]:
    """The engine's frames from `frame` out to the user's nearest one, which is not among them."""
    found = []
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_DIR):
        found.append(frame)
        frame = frame.f_back
    return found


def let_go(frames: list[FrameType]) -> None:
    """Empty the copies of local variables that `frames` keep once they were looked at.

    Before Python 3.13 ``f_locals`` is such a copy: what it holds would live as long as the frame,
    and an exception among it lives in a circle with its traceback.
    """
    for frame in frames:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED and type(frame.f_locals) is dict:
            frame.f_locals.clear()


def hide(error: BaseException, frames: list[FrameType]) -> None:
    """Have what is shown of `error` end at the user's line.

    What was tried inside of `frames` before is not shown either. Nothing is hidden where the
    environment variable ``AUTOGRAD_ENGINE_FULL_TRACEBACK`` is set and not empty.
    """
    if os.environ.get(FULL_TRACEBACK):
        let_go(frames)
        return
    for frame in frames:
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # of a module these are its globals
            names = frame.f_locals
            if type(names) is dict:  # a copy: see `let_go`
                names.clear()
            names[_HIDDEN] = True
    handled = sys.exception()
    if handled is not None and handled.__traceback__ is not None:
        error.__suppress_context__ = handled.__traceback__.tb_frame in frames


def shown(entries: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames that are hidden."""
    listed = []
    while entries is not None:
        if entries.tb_frame.f_locals.get(_HIDDEN) is not True:
            listed.append(entries)
        entries = entries.tb_next
    found = None
    for entry in reversed(listed):
        found = TracebackType(found, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return found
