"""Every operation of the table, native beside its kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograd_engine.codegen.native import NativeFailed
from autograd_engine.registry import REGISTRY
from tests.codegen.native_batches import ALL, Batch, Call
from tests.codegen.native_kernels import needs_compiler
from tests.registry.samples import SAMPLES

pytestmark = needs_compiler

SIZE = 48


@pytest.fixture(autouse=True, scope="module")
def quick_compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", "-O1")
        patch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path_factory.mktemp("libraries")))
        yield


def _labels() -> list[tuple[str, int]]:
    return [
        (name, k)
        for name, op in REGISTRY.items()
        if not (op.random or op.effect)
        for k in range(len(SAMPLES.get(name, ())))
    ]


def _call(name: str, k: int, dtype: Any) -> Call:
    op, sample = REGISTRY[name], SAMPLES[name][k]
    attrs = op.complete_attrs(sample.attrs)
    return Call(op, sample.cast(dtype), attrs, f"{name}-{sample.label}")


EVERY = _labels()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("start", range(0, len(EVERY), SIZE))
def test_operations_agree_with_their_kernels(start: int, dtype: Any) -> None:
    chosen = EVERY[start : start + SIZE]
    if dtype == np.float64 and not ALL:
        chosen = chosen[::3]
    batch = Batch()
    for name, k in chosen:
        batch.add(_call(name, k, dtype))
    assert batch.wrong(batch.compiled()) == []
