"""What a traced function reads of clocks, files and generators that are not the engine's."""

from __future__ import annotations

import datetime
import io
import itertools
import os
import random
import secrets
import subprocess
import sys
import time
import uuid
import warnings
from random import gauss

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.jit import to_static
from autograd_engine.static import InputSpec

own = np.random.default_rng(3)
old = np.random.RandomState(3)
mine = random.Random(3)


class Noise(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.rng = np.random.default_rng(3)

    def forward(self, x):
        return x + self.rng.normal(size=2).astype("float32") if self.training else x


def _helper(x):
    return x * np.random.uniform(0.5, 1.0)


def _in_a_branch(x):
    return x * 2.0 if random.random() < 0.5 else x


def _in_a_loop(x):
    for _ in range(np.random.randint(1, 4)):
        x = x * 2.0
    return x


DRAWS = {
    "randn": lambda x: x * np.random.randn(2).astype("float32"),
    "normal": lambda x: x + np.random.normal(0.0, 1.0, 2).astype("float32"),
    "random": lambda x: x * random.random(),
    "gauss": lambda x: x * gauss(0.0, 1.0),
    "generator": lambda x: x * own.random(),
    "old generator": lambda x: x * old.rand(),
    "Python's generator": lambda x: x * mine.uniform(1.0, 2.0),
    "helper": lambda x: _helper(x) + 1.0,
    "shuffle": lambda x: x * float(np.random.permutation(100)[0]),
    "branch": _in_a_branch,
    "loop": _in_a_loop,
    "choice": lambda x: x * random.choice([1.0, 2.0, 3.0, 4.0]),
}


def _seed() -> None:
    global own, old, mine
    np.random.seed(7)
    random.seed(7)
    own.bit_generator.state = np.random.default_rng(7).bit_generator.state
    old.seed(7)
    mine.seed(7)


def _calls(function) -> list[list[float]]:
    """Values and gradients of some calls, from one state of all generators."""
    _seed()
    found = []
    for _ in range(5):
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        y = function(x)
        (y * y).sum().backward()
        found.append([*y.tolist(), *x.grad.tolist()])
    return found


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_are_drawn_at_each_call(name):
    function = DRAWS[name]
    expected = _calls(function)
    assert len(set(map(tuple, expected))) > 1
    traced = to_static(function)
    with pytest.warns(
        RuntimeWarning, match=r"at test_outside_reads.py:\d+ \(.*paddle.rand"
    ) as said:
        assert _calls(traced) == expected
    assert len(said) == 1
    assert said[0].filename == __file__
    assert "runs eagerly" in str(said[0].message)


UNSEEDED = {
    "default_rng": lambda x: x * np.random.default_rng().random(),
    "RandomState": lambda x: x * np.random.RandomState().rand(),
    "Random": lambda x: x * random.Random().random(),
    "SystemRandom": lambda x: x * random.SystemRandom().random(),
    "urandom": lambda x: x * float(int.from_bytes(os.urandom(4), "big")),
    "secrets": lambda x: x * float(secrets.randbits(30)),
    "uuid": lambda x: x * float(uuid.uuid4().int % 10**6),
}


@pytest.mark.parametrize("name", UNSEEDED)
def test_numbers_from_nowhere_are_others_at_each_call(name):
    traced = to_static(UNSEEDED[name])
    with pytest.warns(RuntimeWarning, match="runs eagerly"):
        assert len({traced(paddle.ones([1])).item() for _ in range(5)}) > 1


def test_a_layer_draws_while_it_trains_and_is_a_program_when_it_does_not():
    layer = to_static(Noise())
    x = paddle.ones([2])
    layer.eval()
    assert layer(x).tolist() == layer(x).tolist() == [1.0, 1.0]  # nothing is said
    layer.train()
    with pytest.warns(RuntimeWarning, match=r"normal\(\) of a numpy Generator"):
        first = layer(x).tolist()
    assert layer(x).tolist() != first


def _drawing() -> dict[str, object]:
    """Functions of NumPy and Python that draw, with arguments that they take."""
    found = {}
    for module, owner in ((np.random, np.random.rand.__self__), (random, random.seed.__self__)):
        for name in dir(module):
            function = getattr(module, name)
            if (
                getattr(function, "__self__", None) is not owner
                or "seed" in name
                or "state" in name
            ):
                continue
            for args in itertools.chain(
                [()],
                itertools.product([1, 2, 0.5, [1, 2], [[1.0]]], repeat=1),
                itertools.product([0.5, 2, [0.5, 0.5]], repeat=2),
                itertools.product([0.5, 2, 3, 4], repeat=3),
            ):
                try:
                    state = owner.getstate() if module is random else owner.get_state()[1:3]
                    function(*args)
                    after = owner.getstate() if module is random else owner.get_state()[1:3]
                except (TypeError, ValueError, IndexError):
                    continue
                if repr(state) != repr(after):
                    found[f"{module.__name__}.{name}"] = (function, args)
                    break
    return found


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_function_that_draws_is_known():
    found = _drawing()
    assert len(found) > 55, sorted(found)
    for name, (function, args) in found.items():
        given = repr(args)  # the call is bytecode
        traced = to_static(
            eval(f"lambda x: (function(*{given}), x * 2.0)[1]", {"function": function})
        )
        plain = to_static(
            eval(f"lambda x: (function({given[1:-1]}), x * 2.0)[1]", {"function": function})
        )
        for made in (traced, plain):
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                made(paddle.ones([1]))
            assert [w for w in said if "runs eagerly" in str(w.message)], name


numbers = iter([1.0, 2.0, 3.0, 4.0])
file = io.StringIO("some text that is read bit by bit")


def _taken(x):
    for value in numbers:
        return x * value
    return x


def _opened(x):
    with open(__file__) as file:
        return x * float(len(file.read()))


KEPT = {
    "time": lambda x: x * time.time(),
    "perf_counter": lambda x: x * time.perf_counter(),
    "now": lambda x: x * datetime.datetime.now().microsecond,
    "next": lambda x: x * next(numbers),
    "for": _taken,
    "read": lambda x: x * float(len(file.read(5))),
    "open": _opened,
    "load": lambda x: x * np.fromfile(__file__, "uint8", 2).astype("float32"),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_read_once_is_said(name):
    traced = to_static(KEPT[name])
    with pytest.warns(RuntimeWarning, match=r"test_outside_reads.py:\d+ .* as an argument") as said:
        first = traced(paddle.ones([2])).tolist()
    assert len(said) == 1
    assert said[0].filename == __file__
    assert traced(paddle.ones([2])).tolist() == first


SILENT = {
    "seeded": lambda x: x * np.random.default_rng(3).random(),
    "seeded state": lambda x: x * np.random.RandomState(seed=3).rand(),
    "unreached": lambda x: (
        x * time.time() if x.ndim > 5 else x * random.random() if x.ndim > 6 else x
    ),
    "fresh iterator": lambda x: x * next(iter([2.0])),
    "pairs": lambda x: sum(x * k * v for k, v in enumerate([1.0, 2.0])),
    "zip": lambda x: sum(x * k * v for k, v in zip([1.0, 2.0], (3.0, 4.0), strict=True)),
    "the engine's": lambda x: x * paddle.rand([2]) + paddle.randn([2]),
    "sleep": lambda x: (time.sleep(0), x)[1],
    "copies": lambda x: x * float(own.bit_generator.state["state"]["inc"] > 0),
}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_the_same_at_each_call_is_not_said(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        traced = to_static(SILENT[name])
        for _ in range(3):
            traced(paddle.ones([2]))


def test_a_saved_function_has_the_numbers_that_it_was_traced_with(tmp_path):
    function = to_static(DRAWS["randn"], input_spec=[InputSpec([2])])
    with pytest.warns(RuntimeWarning, match="drawn once, while the function is traced"):
        paddle.jit.save(function, str(tmp_path / "f"))
    loaded = paddle.jit.load(str(tmp_path / "f"))
    assert loaded(paddle.ones([2])).tolist() == loaded(paddle.ones([2])).tolist()


def test_draws_of_libraries_are_seen():
    script = """
import statistics, warnings
import autograd_engine as paddle
normal = statistics.NormalDist()
f = paddle.jit.to_static(lambda x: x * normal.samples(1)[0])
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    values = {f(paddle.ones([1])).item() for _ in range(4)}
assert len(values) == 4, values
assert ["in code that it calls" in str(w.message) for w in said] == [True], said
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_another_profiler_stays(monkeypatch):
    def hook(*_):
        return None

    sys.setprofile(hook)
    try:
        with pytest.warns(RuntimeWarning, match="time.time"):
            to_static(lambda x: x * time.time())(paddle.ones([1]))
        assert sys.getprofile() is hook
    finally:
        sys.setprofile(None)
    with pytest.warns(RuntimeWarning, match="time.time"):
        to_static(lambda x: x * time.time())(paddle.ones([1]))
    assert sys.getprofile() is None
