"""An exception of a worker as one of the process that it works for."""

from __future__ import annotations

import pickle
import signal
import traceback
from typing import Any

from autograd_engine.errors import WorkerError

__all__ = ["ended", "packed", "place", "unpacked"]


class _Text(str):
    """Of a KeyError the repr of its argument is shown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def packed(error: BaseException) -> tuple[bytes | None, str, str]:
    """The exception if it can travel, its last line, and its traceback as text."""
    trace = "".join(traceback.format_exception(error))
    line = "".join(traceback.format_exception_only(error)).strip()
    try:
        data = pickle.dumps(error.with_traceback(None), protocol=5)
        pickle.loads(data)  # some can be pickled, and not made again
    except Exception:
        return None, line, trace
    return data, line, trace


def unpacked(message: tuple[bytes | None, str, str], where: str) -> Exception:
    """An exception of the same class, whose text has all of it; else a RuntimeError."""
    data, line, trace = message
    text = f"{line}\n\n{where}. There:\n\n{trace.rstrip()}"
    error: Any = None
    if data is not None:
        try:
            error = pickle.loads(data)
        except Exception:
            error = None
    # A StopIteration would end the loop over the loader as if there were no more.
    if not isinstance(error, Exception) or isinstance(error, (StopIteration, StopAsyncIteration)):
        return RuntimeError(text)
    told = _retold(error, text)
    try:
        has_text = text in str(told)
    except Exception:  # of a class whose __str__ raises
        has_text = False
    if not has_text:
        told.add_note(text)
    return told


def _retold(error: Exception, text: str) -> Exception:
    """`error` with another text; its attributes stay."""
    if isinstance(error, OSError) and error.errno is not None:
        error.strerror = text
    elif isinstance(error, UnicodeError) and hasattr(error, "reason"):
        error.reason = text
    else:
        error.args = (_Text(text),)
    return error


def place(worker: int, pid: Any, task: Any) -> str:
    """Which worker, and which batch of it."""
    told = f"worker {worker} (process {pid}) of the DataLoader"
    if task is None:
        return told
    number, indices = task
    told += f", batch {number}"
    if indices is None:
        return told
    shown = f"{indices!r:.200}"
    return f"{told}, indices {shown}" + ("" if len(repr(indices)) <= 200 else " ...")


def ended(code: int | None, where: str, started: bool, method: str) -> WorkerError:
    """What to raise where a worker is no more."""
    hint = ""
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        told = f"was killed by {name}"
        if name == "SIGKILL":
            hint = (
                ": the system does that when memory is short; try fewer num_workers, a smaller "
                "batch_size or prefetch_factor"
            )
        elif name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"):
            hint = ": native code that the dataset calls has crashed; try num_workers=0"
    else:
        told = f"has ended with exit code {code}"
        if not started and method != "fork":
            hint = (
                ": what it printed says why. Processes that are not forked import the script "
                'again; what starts them belongs under `if __name__ == "__main__":`'
            )
    return WorkerError(f"{where} {told}{hint}")
