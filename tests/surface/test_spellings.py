"""Every spelling of a call that Paddle 3.3.1 takes gives what the declared one gives.

spellings.json says which there are: tools/spellings.py has asked Paddle.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine.eager.tensor import Tensor
from tests.functions.cases import CASES
from tests.functions.harness import flat
from tests.functions.test_bad_operands import bound, resolve, tensors
from tests.over import over

SPELLINGS = json.loads(Path(__file__).with_name("spellings.json").read_text(encoding="utf-8"))
# What Paddle takes and this engine does not.
DIFFERENT = {
    ("randperm", "requires_grad"): "integers have no gradient",
}
CREATION = {"requires_grad": True, "device": "cpu", "pin_memory": False}


def arguments(name: str, case: Any) -> dict[str, Any] | None:
    """The arguments, by name, that the function has in this case."""
    given = bound(name, case, tensors(case))
    names = inspect.signature(resolve(name)).parameters
    return given and {k: _anew(given[k]) for k in names if k in given}


def _anew(value: Any) -> Any:
    """What an in-place call may write to."""
    if isinstance(value, Tensor):
        return paddle.to_tensor(value.numpy())
    return [_anew(v) for v in value] if isinstance(value, list) else value


def call(name: str, given: dict[str, Any], method: bool, positional: int = 0) -> Any:
    paddle.seed(7)
    values = [v if k == "out" else _anew(v) for k, v in given.items()]
    named = dict(zip(list(given)[positional:], values[positional:], strict=True))
    if method:
        return getattr(values[0], name)(*values[1:positional], **named)
    return resolve(name)(*values[:positional], **named)


def respelled(name: str, given: dict[str, Any], spelling: str, method: bool) -> Any:
    """The same call in another spelling."""
    first = int(method)
    if spelling in CREATION:
        return call(name, given | {spelling: CREATION[spelling]}, method)
    if spelling == "out":
        expected = call(name, given, method, first)
        out = [paddle.empty([0], dtype=x.dtype) for x in flat(expected)]
        taken = out[0] if isinstance(expected, Tensor) else tuple(out)
        result = call(name, given | {"out": taken}, method, first)
        assert all(a is b for a, b in zip(flat(result), out, strict=True))
        return taken
    if spelling == "axis second":
        (first_name, x), *later = given.items()
        others = {k: v for k, v in later if k not in ("axis", "name")}
        moved = {first_name: x, "axis": given["axis"], **others}
        return call(name, moved, method, len(moved))
    if spelling.startswith("*"):
        sizes = spelling[1:]
        k = list(given).index(sizes)
        values = [*list(given.values())[:k], *given[sizes]]
        more = {n: v for n, v in list(given.items())[k + 1 :] if v is not None}
        paddle.seed(7)
        if method:
            return getattr(values[0], name)(*values[1:], **more)
        return resolve(name)(*values, **more)
    other, declared = spelling.split("=")
    return call(name, {other if k == declared else k: v for k, v in given.items()}, method, first)


def same(one: Any, other: Any) -> bool:
    pairs = list(zip(flat(one), flat(other), strict=True))
    return all(
        np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind in "fc")
        for a, b in pairs
    )


def problem(name: str, spelling: str, method: bool) -> str:
    """Empty if a case of the function gives the same in this spelling."""
    found = "no case has this argument"
    for case in CASES[name]:
        given = arguments(name, case)
        declared = spelling.lstrip("*").rpartition("=")[2]
        optional = spelling in (*CREATION, "out", "axis second")
        if given is None or not (optional or declared in given):
            continue
        if spelling[0] == "*" and not isinstance(given[declared], (list, tuple)):
            continue
        if spelling == "axis second" and not isinstance(given["axis"], int):
            continue
        short = name.removeprefix("Tensor.") if method else name
        try:
            if same(
                call(short, given, method, int(method)), respelled(short, given, spelling, method)
            ):
                return ""
            found = "gives another result"
        except Exception as error:
            found = f"{type(error).__name__}: {error}"[:150]
    return found


@over("shown", sorted(SPELLINGS), by=lambda name: name[:1])
def test_what_paddle_takes(shown):
    method = shown.startswith("Tensor.")
    name = shown if shown in CASES else shown.removeprefix("Tensor.")
    problems = {s: problem(name, s, method) for s in SPELLINGS[shown] if (name, s) not in DIFFERENT}
    assert {s: p for s, p in problems.items() if p} == {}
