"""Arguments that were taken without a word, and of which nothing could come.

Optimizers and schedulers have their own sweep in `tests/optimizer/test_settings.py`.
"""

from __future__ import annotations

from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError

static = paddle.static


@pytest.mark.parametrize("backend", ["nonsense", "C", "", 3, True, ["native"]])
def test_backends_that_there_are_none_of(backend: Any) -> None:
    with pytest.raises(ArgumentError, match="to_static: backend must be one of 'auto', 'native'"):
        paddle.jit.to_static(lambda x: x, backend=backend)
    with pytest.raises(ArgumentError, match="backend"):
        static.Executor(backend=backend)


def test_a_backend_of_the_reference_leaves_the_choice_open() -> None:
    for name in ("CINN", "cinn", None):
        f = paddle.jit.to_static(lambda x: x * 2.0, backend=name)
        assert f(paddle.ones([2])).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("place", ["a", "gpu", 3, object(), True])
def test_places_that_there_are_none_of(place: Any) -> None:
    with pytest.raises(ArgumentError, match=r"Executor: place must be paddle\.CPUPlace\(\)"):
        static.Executor(place)
    for known in (None, "cpu", paddle.CPUPlace()):
        static.Executor(known)
