"""What a traced function reads of the world outside: clocks, files, random numbers of others.

A program keeps what a call of these gave while the function was traced. Calls are found in the
bytecode, as places are, and those that the trace did not come by are left out: generators of random
numbers tell by their state, other functions by a profiling hook that is set where there is one.
"""

from __future__ import annotations

import builtins
import contextlib
import datetime
import dis
import io
import os
import pickle
import random
import sys
import threading
import types
import uuid
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from autograd_engine.core.locations import Location

__all__ = [
    "OutsideRead",
    "OutsideReads",
    "iterated",
    "outside_attribute",
    "outside_call",
    "warn_of",
]

_GENERATORS: Final = (
    np.random.Generator,
    np.random.RandomState,
    np.random.BitGenerator,
    random.Random,
)
_MAKERS: Final = (
    np.random.default_rng,
    *(np.random.RandomState, np.random.PCG64, np.random.MT19937, np.random.SeedSequence),
    random.Random,
)
_FUNCTIONS: Final = (types.BuiltinFunctionType, types.FunctionType, types.MethodType, type)
_ENTROPY: Final = (os.urandom, uuid.uuid1, uuid.uuid4, random.SystemRandom)
_FILES: Final = (open, input, np.load, np.fromfile, np.loadtxt, np.genfromtxt)
_GLOBAL: Final[dict[str, Any]] = {
    "NumPy's global generator": np.random.mtrand._rand,
    "the generator of Python's module random": random.seed.__self__,  # type: ignore[attr-defined]
}


@dataclass(eq=False)
class OutsideRead:
    """One call of such a function.

    Attributes
    ----------
    what : str
        The function, as messages name it.
    at : Location or None
        Where it is called; None where code that is not followed does.
    draws : bool
        Whether it gives random numbers, others at each call.
    generator : object
        Whose state tells whether it was called; None where there is none.
    told : bool
        Whether the interpreter tells a profiling hook of its calls.
    method : str
        Where `at` is not the call but where the method of this name is asked for.
    """

    what: str
    at: Location | None
    draws: bool = False
    generator: Any = None
    told: bool = False
    method: str = ""


def outside_attribute(owner: Any, name: str, at: Location | None) -> OutsideRead | None:
    """What the method of that name reads, of an object that is no module."""
    if isinstance(owner, io.IOBase) and name.startswith("read"):
        return OutsideRead(f"{name}() of a file", at, told=True, method=name)
    if (owner is datetime.datetime or owner is datetime.date) and name in (
        "now",
        "today",
        "utcnow",
    ):
        return OutsideRead(f"{owner.__name__}.{name}()", at, told=True, method=name)
    return None


def outside_call(
    callee: Any, args: Any, keywords: Mapping[str, Any], at: Any
) -> OutsideRead | None:
    """What a call reads, None where it reads nothing outside.

    `args` are values of `code_reads`.
    """
    if any(callee is maker for maker in _MAKERS):  # with a seed it gives the same each time
        seeded = [*args, *keywords.values()]
        if seeded and seeded[0].constant is not None:
            return None
        return OutsideRead(f"{callee.__name__}() without a seed", at, draws=True)
    told = isinstance(callee, (types.BuiltinFunctionType, types.FunctionType))
    if any(callee is one for one in _FILES):
        return OutsideRead(f"{callee.__name__}()", at, told=told)
    if not isinstance(callee, _FUNCTIONS):  # whose attributes may be found by code of the user's
        return None
    name: str = callee.__name__
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, _GENERATORS):
        if name in ("seed", "getstate", "get_state", "setstate", "set_state", "spawn"):
            return None
        if isinstance(owner, random.SystemRandom):
            return OutsideRead(f"{name}() of SystemRandom", at, draws=True)
        return OutsideRead(f"{name}() of {_shown(owner)}", at, draws=True, generator=owner)
    module = getattr(callee, "__module__", None)
    if any(callee is one for one in _ENTROPY) or (module == "secrets" and told):
        return OutsideRead(f"{name}()", at, draws=True, told=told)
    if module == "time" and told and name != "sleep":
        return OutsideRead(f"time.{name}()", at, told=True)
    if callee is builtins.next and args:
        found = iterated(args[0], at)
        return None if found is None else OutsideRead(found.what, at, told=True)
    return None


def iterated(value: Any, at: Location | None) -> OutsideRead | None:
    """An iterator that there was before the function was called, and that it takes elements of."""
    for one in value.objects.values():
        if isinstance(one, Iterator):
            return OutsideRead(f"next() of {type(one).__name__}", at)
    return None


class OutsideReads:
    """Calls that a function may come by, and those that its trace came by.

    Parameters
    ----------
    candidates : iterable of OutsideRead
    """

    def __init__(self, candidates: list[OutsideRead]) -> None:
        self._candidates = candidates
        self.found: list[OutsideRead] = []

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """The trace, inside of the ``with`` block."""
        generators = [*_GLOBAL.values(), *(c.generator for c in self._candidates if c.generator)]
        generators = list({id(g): g for g in generators}.values())
        before = [_state(g) for g in generators]
        told = {_place(c): c for c in self._candidates if c.told}
        codes = {code for code, *_ in told}
        made: set[OutsideRead] = set()

        def hook(frame: Any, event: str, called: Any) -> None:
            caller = frame.f_back if event == "call" else frame if event == "c_call" else None
            if caller is not None and caller.f_code in codes:
                for (code, span, line), candidate in told.items():
                    here = caller.f_lasti in span
                    if candidate.method:
                        name = getattr(called, "__name__", "")
                        here = caller.f_lineno == line and name == candidate.method
                    if here and code is caller.f_code:
                        made.add(candidate)

        hooked = bool(told) and sys.getprofile() is None
        if hooked:
            sys.setprofile(hook)
        try:
            yield
        finally:
            if hooked:
                sys.setprofile(None)
        moved = [g for g, state in zip(generators, before, strict=True) if _state(g) != state]
        for read in self._candidates:
            if read.generator is not None:
                happened = any(read.generator is g for g in moved)
            else:
                happened = read in made or not (hooked and read.told)
            if happened:
                self.found.append(read)
        self._candidates = []
        known = [read.generator for read in self.found]
        if threading.active_count() == 1:  # else another thread may have drawn
            for name, generator in _GLOBAL.items():
                if any(g is generator for g in moved) and not any(g is generator for g in known):
                    self.found.append(OutsideRead(name, None, draws=True))

    @property
    def draws(self) -> bool:
        """Whether it drew random numbers."""
        return any(read.draws for read in self.found)


def _place(read: OutsideRead) -> tuple[Any, range, int]:
    """The code of the call, its bytes there, which caches follow, and its line."""
    assert read.at is not None
    code, start = read.at.code, read.at.instruction
    later = [i.offset for i in dis.get_instructions(code) if i.offset > start]
    return code, range(start, later[0] if later else len(code.co_code)), read.at.lineno


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        generator = generator.bit_generator
    if isinstance(generator, random.Random):
        return generator.getstate()
    if isinstance(generator, np.random.RandomState):
        return pickle.dumps(generator.get_state(legacy=False))
    return pickle.dumps(generator.state)


def _shown(generator: Any) -> str:
    for name, known in _GLOBAL.items():
        if known is generator:
            return name
    return f"a {type(generator).__module__.partition('.')[0]} {type(generator).__name__}"


def warn_of(name: str, reads: OutsideReads, said: set[str], *, saved: bool) -> None:
    """Warn of what the function `name` read while it was traced, once for each line.

    Parameters
    ----------
    said : set of str
        What was said before.
    saved : bool
        Whether the program is kept where the function could not be run instead of it.
    """
    for read in reads.found:
        where = "in code that it calls" if read.at is None else f"at {read.at.with_text}"
        if (key := f"{read.what} {where}") in said:
            continue
        said.add(key)
        if not read.draws:
            text = (
                f"{name}: {read.what} {where} is called once, while the function is traced, and "
                "every call of the program has the value that it gave. Read it outside of the "
                "function, and pass it as an argument"
            )
        elif saved:
            text = (
                f"{name}: {read.what} {where} is drawn once, while the function is traced, and "
                "every call of the program has these numbers. Draw them with paddle.rand, "
                "paddle.randn or another function of the engine, or pass them as an argument"
            )
        else:
            text = (
                f"{name}: {read.what} {where} draws other numbers at each call, which a program "
                "cannot, so the function runs eagerly. Draw them with paddle.rand, paddle.randn or "
                "another function of the engine, or pass them as an argument, and it runs as a "
                "program"
            )
        at = read.at
        if at is None:
            warnings.warn(text, RuntimeWarning, stacklevel=4)
        else:
            warnings.warn_explicit(text, RuntimeWarning, at.filename, at.lineno)
