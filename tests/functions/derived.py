"""Cases of the public functions that are one elementwise operation, from what that is tried with.

A function of the name of an elementwise operation without attributes is called as a function and as
a method, on samples of the operation, and compared with its reference. A function that takes more,
or has cases of its own to show, has them in `families`, and none from here.
"""

from __future__ import annotations

from typing import Any

import autograd_engine as paddle
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.tensor import public
from tests.registry.harness import has_gradient
from tests.registry.references import REFERENCES
from tests.registry.samples import SAMPLES
from tests.registry.sampling import Sample

from .case import Case
from .peers import torch

__all__ = ["derived"]


def derived(written: set[str]) -> dict[str, dict[str, list[Case]]]:
    """By the module of the operation, the cases of all such functions that are not `written`."""
    families: dict[str, dict[str, list[Case]]] = {}
    for op in REGISTRY.values():
        space, public_name = _home(op)
        if op.elementwise and not op.attrs and public_name and public_name not in written:
            families.setdefault(op.module, {})[public_name] = _cases(op, space)
    return families


def _home(op: OpDef) -> tuple[Any, Any]:
    """Where the public function of that name is, and what it is called below the package."""
    if op.name in public.__all__:
        return paddle, op.name
    if op.name in paddle.nn.functional.__all__:
        return paddle.nn.functional, f"nn.functional.{op.name}"
    return None, None


def _cases(op: OpDef, space: Any) -> list[Case]:
    """Of samples with elements, the first two; those whose operands are broadcast before others."""
    samples = [s for s in SAMPLES[op.name] if all(a.size for a in s.operands)]
    samples.sort(key=lambda s: len({a.shape for a in s.operands}) == 1)
    theirs = torch is None or hasattr(torch, op.name)
    cases = [
        _case(
            "plain",
            lambda *xs: getattr(space, op.name)(*xs),
            op,
            samples[0],
            torch=(lambda *xs: getattr(torch, op.name)(*xs)) if theirs else None,
        )
    ]
    if hasattr(Tensor, op.name):
        call = lambda x, *others: getattr(x, op.name)(*others)  # noqa: E731
        cases.append(_case("method", call, op, samples[1]))
    return cases


def _case(label: str, call: Any, op: OpDef, sample: Sample, **options: Any) -> Case:
    has = has_gradient(op, sample)
    return Case(
        label,
        call,
        sample.operands,
        REFERENCES[op.name],
        differentiable=has,
        smooth=sample.smooth and (has or all(a.dtype.kind != "f" for a in sample.operands)),
        known=not sample.unknown,
        **options,
    )
