"""The text of a planned function, and what the names in it stand for."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.compiler.planned.buffers import Buffer, Local, Place
from autograd_engine.compiler.planned.memory import last_uses
from autograd_engine.compiler.planned.steps import Code, Loop, Step
from autograd_engine.compiler.python.split_functions import defined
from autograd_engine.program.ir.program import Operator

__all__ = ["Text"]


class Text:
    """A function while it is written.

    Attributes
    ----------
    scope : dict
        Functions and constants that the text refers to, then its own functions too.
    places : dict of str to Place
        Arrays that the text refers to.
    loops : dict of str to Loop
        What names of lists of blocks stand for.
    lines : dict of int to Operator
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.scope: dict[str, Any] = {}
        self.places: dict[str, Place] = {}
        self.loops: dict[str, Loop] = {}
        self._names: dict[Any, str] = {}
        self._held: list[Any] = []  # whose ids are taken
        self.source = ""
        self.filename = ""
        self.lines: dict[int, Operator] = {}

    # --- names

    def name_of(self, part: Any) -> str:
        if isinstance(part, Code):
            return str(part)
        if isinstance(part, Local):
            return f"r{part.number}"
        if isinstance(part, Place):
            return self._place(part)
        if part is None or type(part) in (bool, int):
            return repr(part)
        name = self._names.get(id(part))
        if name is None:
            name = self._names[id(part)] = self._unique(_stem(part))
            self._held.append(part)
            self.scope[name] = part
        return name

    def _place(self, place: Place) -> str:
        key = place.key
        name = self._names.get(key)
        if name is None:
            base = place.base
            letter = "x" if isinstance(base, int) else "b" if isinstance(base, Buffer) else "k"
            name = self._names[key] = f"{letter}{len(self.places)}"
            self.places[name] = place
        return name

    def _unique(self, stem: str) -> str:
        name, k = stem, 0
        while name in self.scope or name in self.places:
            k += 1
            name = f"{stem}_{k}"
        return name

    # --- statements

    def write(self, steps: Sequence[Step], results: Sequence[Local]) -> None:
        """Write the function, and define it."""
        last = last_uses(steps)
        for local in results:
            last[local] = len(steps)
        done: dict[int, list[str]] = {}
        for token, k in last.items():
            if isinstance(token, Local) and k < len(steps):
                done.setdefault(k, []).append(self.name_of(token))
        loops: list[tuple[str, Operator | None]] = []
        body: list[tuple[str, Operator | None]] = [(f"def {self.name}():", None)]
        for k, step in enumerate(steps):
            if isinstance(step, Loop):
                body.append((f"    {self._loop(step, loops)}", step.origin))
            else:
                body.append((f"    {self._statement(step)}", step.origin))
            if k in done:
                body.append((f"    del {', '.join(done[k])}", None))
        listed = ", ".join(map(self.name_of, results))
        body.append((f"    return [{listed}]", None))
        text = defined([*loops, *body], self.name, "kept__", self.scope)
        self.source, self.filename, self.lines = text

    def _statement(self, step: Step) -> str:
        return step.template.format(*map(self.name_of, step.parts))

    def _loop(self, loop: Loop, text: list[tuple[str, Operator | None]]) -> str:
        """Write the function of a loop; the statement that calls it."""
        name = f"loop_{len(self.loops)}"
        blocks = f"{name}_blocks"
        self.loops[blocks] = loop
        local = {p.key: f"a{k}" for k, p in enumerate(loop.slots)}
        local |= {p.key: f"t{k}" for k, p in enumerate(loop.scratch)}
        text.append((f"def {name}(blocks):", None))
        text.append((f"    for {', '.join(local.values())}, in blocks:", loop.origin))
        for step in loop.body:
            names = [
                local.get(p.key) or self.name_of(p) if isinstance(p, Place) else self.name_of(p)
                for p in step.parts
            ]
            text.append((f"        {step.template.format(*names)}", step.origin))
        if loop.instead is None:
            return f"{name}({blocks})"
        others = f"{name}_each"
        self.loops[others] = loop.instead
        same = self.name_of(_same)
        vectors = ", ".join(map(self.name_of, loop.guard))
        return f"{name}({blocks} if {same}({vectors}) else {others})"


def _same(*vectors: Any) -> bool:
    """Whether each of them holds one number throughout."""
    return all((v == v[0]).all() for v in vectors)


def _stem(value: Any) -> str:
    """A readable name for an object."""
    owner = getattr(value, "__self__", None)
    name = getattr(value, "__name__", None) or getattr(
        getattr(value, "func", None), "__name__", type(value).__name__
    )
    name = str(name)
    if isinstance(owner, np.ufunc):
        name = f"{owner.__name__}_{name}"
    stem = re.sub(r"\W+", "_", name).strip("_").lower() or "value"
    taken = keyword.iskeyword(stem) or re.fullmatch(r"[xkbrat]\d*|loop|loops|blocks|kept", stem)
    return f"{stem}_" if taken else stem
