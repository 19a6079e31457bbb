"""The samples of every operation of the table, and the pytest parameters made from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autograd_engine.ops.registry.opdef import REGISTRY, OpDef

from . import (
    samples_activations,
    samples_arrays,
    samples_elementwise,
    samples_indexing,
    samples_linalg,
    samples_losses,
    samples_math,
    samples_movement,
    samples_recurrent,
    samples_statistics,
    samples_vision,
)
from .sampling import Sample

SAMPLES: dict[str, list[Sample]] = {
    **samples_activations.SAMPLES,
    **samples_arrays.SAMPLES,
    **samples_elementwise.SAMPLES,
    **samples_indexing.SAMPLES,
    **samples_linalg.SAMPLES,
    **samples_losses.SAMPLES,
    **samples_math.SAMPLES,
    **samples_movement.SAMPLES,
    **samples_recurrent.SAMPLES,
    **samples_statistics.SAMPLES,
    **samples_vision.SAMPLES,
}


# Names of operations that `cases` passes over; `conftest.py` fills it.
LEFT_OUT: set[str] = set()


def cases(which: Callable[[OpDef, Sample], bool] = lambda op, sample: True) -> list[Any]:
    """(operation, sample) pairs of the table, named after both."""
    return [
        pytest.param(REGISTRY[name], sample, id=f"{name}-{sample.label}")
        for name, samples in SAMPLES.items()
        if name not in LEFT_OUT
        for sample in samples
        if which(REGISTRY[name], sample)
    ]
