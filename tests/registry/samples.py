"""The samples of every operation of the table, and the pytest parameters made from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from autograd_engine.ops.registry.opdef import REGISTRY, OpDef

from .families import FAMILIES
from .sampling import Sample

SAMPLES: dict[str, list[Sample]] = {
    name: listed for family in FAMILIES.values() for name, listed in family.SAMPLES.items()
}


# Names of operations that `cases` passes over; `conftest.py` fills it.
LEFT_OUT: set[str] = set()


@cache
def cases(which: Callable[[OpDef, Sample], bool] = lambda op, sample: True) -> list[Any]:
    """(operation, sample) pairs of the table, named after both."""
    return [
        pytest.param(REGISTRY[name], sample, id=f"{name}-{sample.label}")
        for name, samples in SAMPLES.items()
        if name not in LEFT_OUT
        for sample in samples
        if which(REGISTRY[name], sample)
    ]


def family(label: str) -> str:
    """The module of the row of the operation that an id, `name` or `name-sample`, begins with."""
    return REGISTRY[label.partition("-")[0]].module
