"""The short way: a step that is like the last one.

It is taken when the arrays are the very objects that were fed before, nothing was done to the
program or the scope, and the same values are supplied. What is compared is written out for each
kind of step. For one that is fed two arrays, with one supplied value::

    def __call__(self, a0=MISSING, a1=MISSING, *rest):
        b = self.binding
        program = self.program
        supplies = program.supplies
        if b is None or ...: return self.long_way(...)
        v0 = supplies['rate']()
        ...
        with b.lock:
            if b.state.ready and a0 is b.f0 and a0.shape == b.s0 and ...:
                b.state.steps += 1
                try:
                    return b.call()
                except BaseException as error:
                    b.stopped(error)
                    if not isinstance(error, Exception):
                        raise
        return self.long_way((a0, a1, *rest), {'rate': v0})

The long way follows an operation that failed, for that says what went wrong.
"""

from __future__ import annotations

import functools
from typing import Any

from autograd_engine.core.locations import run_generated
from autograd_engine.static.executor.bound_program import MISSING

__all__ = ["class_for"]


@functools.lru_cache(maxsize=256)
def class_for(
    base: type, places: tuple[int | None, ...], supplied: tuple[str, ...], writes: bool
) -> type:
    """A class of steps.

    Parameters
    ----------
    base : type
    places : tuple of (int or None)
        For each argument its place among the feeds that the plan reads.
    supplied : tuple of str
        Variables whose value is asked for.
    writes : bool
        Whether the scope is written. One that is not may be run by several threads at a time.
    """
    text = _text(places, supplied, writes)
    scope: dict[str, Any] = {"MISSING": MISSING}
    run_generated(text, "step", scope)
    return type(base.__name__, (base,), {"__call__": scope["__call__"], "__doc__": base.__doc__})


def _text(places: tuple[int | None, ...], supplied: tuple[str, ...], writes: bool) -> str:
    arguments = [f"a{j}" for j in range(len(places))]
    given = "".join(f"{a}, " for a in arguments)
    head = "".join(f"{a}=MISSING, " for a in arguments)
    long_way = f"return self.long_way(({given}*rest,))"
    lines = [
        f"def __call__(self, {head}*rest):",
        "    b = self.binding",
        "    program = self.program",
        f"    if rest or b is None or b.version != program.version: {long_way}",
    ]
    asked = "".join(f"{name!r}: v{k}, " for k, name in enumerate(supplied))
    if supplied:
        lines += ["    supplies = program.supplies", "    known = b.supplied"]
        missing = " or ".join(f"{name!r} not in supplies" for name in supplied)
        lines.append(f"    if len(supplies) != {len(supplied)} or {missing}: {long_way}")
    else:
        lines.append(f"    if program.supplies: {long_way}")
    lines += [f"    v{k} = supplies[{name!r}]()" for k, name in enumerate(supplied)]
    tests = ["b.state.ready"]
    # None leaves what the scope has; of others only plain numbers are compared.
    tests += [
        f"(v{k} is None or (v{k}.__class__ is float and v{k} == known[{name!r}]))"
        for k, name in enumerate(supplied)
    ]
    for a, k in zip(arguments, places, strict=True):
        if k is not None:
            tests += [f"{a} is b.f{k}", f"{a}.shape == b.s{k}", f"{a}.dtype is b.d{k}"]
    run = [
        f"if {' and '.join(tests)}:",
        "    b.state.steps += 1",
        "    try:",
        "        return b.call()",
        "    except BaseException as error:",
        "        b.stopped(error)",
        "        if not isinstance(error, Exception): raise",
    ]
    if writes:
        lines += ["    with b.lock:", *(f"        {line}" for line in run)]
    else:
        lines += [
            "    if b.lock.acquire(False):",
            "        try:",
            *(f"            {line}" for line in run),
            "        finally:",
            "            b.lock.release()",
        ]
    lines.append(f"    return self.long_way(({given}*rest,), {{{asked}}})")
    return "\n".join(lines) + "\n"
