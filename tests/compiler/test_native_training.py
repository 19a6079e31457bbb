"""Training steps as C beside those by NumPy: every optimizer, and runs that are given up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import static
from autograd_engine.compiler.concrete_graph import concrete_graph
from autograd_engine.compiler.native import NativeFailed, NativeFunction, compile_native
from autograd_engine.compiler.native.function import NativeBound
from autograd_engine.core.spec import Spec
from autograd_engine.program.ir.program import Ref
from autograd_engine.static.executor.plan import Wanted, steps_of
from tests.compiler.helpers.native_batches import Array, difference
from tests.compiler.helpers.native_kernels import needs_compiler, with_flags
from tests.tiers import by_default

pytestmark = needs_compiler

STEPS = 20


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", with_flags("-O1"))
        yield


class Training:
    """A program that updates parameters, with their values."""

    def __init__(self, dtype: str = "float32") -> None:
        self.dtype = dtype
        self.rng = np.random.default_rng(5)
        self.main, self.startup = static.Program(), static.Program()
        self.scope, self.executor = static.Scope(), static.Executor(backend="numpy")
        self.feed: dict[str, Array] = {}
        self.starts: dict[str, Array] = {}
        self.losses: list[Any] = []

    def data(self, name: str, array: Array) -> Any:
        self.feed[name] = array
        return static.data(name, list(array.shape), str(array.dtype))

    def parameter(self, *shape: int) -> Any:
        name = f"p{len(self.starts)}"
        self.starts[name] = self.rng.uniform(-0.5, 0.5, shape).astype(self.dtype)
        return static.create_parameter(list(shape), self.dtype, name=name)

    def started(self) -> None:
        self.executor.run(self.startup, scope=self.scope)
        for name, value in self.starts.items():
            self.scope.find_var(name).get_tensor().set(value)

    def by_numpy(self) -> list[Array]:
        names = [v.name for v in self.losses]
        found: list[Array] = self.executor.run(self.main, self.feed, names, scope=self.scope)
        return found

    def compiled(self) -> tuple[NativeFunction, NativeBound, list[str]]:
        """The program as C, bound to copies of the state; and the names of its inputs."""
        refs = [Ref(v, v.version) for v in self.losses]
        steps = steps_of(self.main, Wanted(refs))
        names = [r.var.name for r in (*steps.feeds, *steps.reads)]
        arrays = [
            np.array(self.feed[n] if n in self.feed else self.scope.find_var(n).value)
            for n in names
        ]
        inputs = [
            (r, Spec(a.shape, a.dtype))
            for r, a in zip((*steps.feeds, *steps.reads), arrays, strict=True)
        ]
        updates = {len(refs) + k: names.index(n) for k, n in enumerate(steps.writes)}
        graph = concrete_graph(steps.operators, inputs, [*refs, *steps.writes.values()], updates)
        function = compile_native(graph)
        return function, function.bind(arrays), names


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: paddle.optimizer.SGD(0.1),
    "sgd-decay": lambda: paddle.optimizer.SGD(0.1, weight_decay=0.01),
    "momentum": lambda: paddle.optimizer.Momentum(0.05, 0.9),
    "nesterov": lambda: paddle.optimizer.Momentum(0.05, 0.9, use_nesterov=True),
    "adam": lambda: paddle.optimizer.Adam(0.01),
    "amsgrad": lambda: paddle.optimizer.Adam(0.01, amsgrad=True),
    "adamw": lambda: paddle.optimizer.AdamW(0.01, weight_decay=0.1),
    "adamax": lambda: paddle.optimizer.Adamax(0.01),
    "adagrad": lambda: paddle.optimizer.Adagrad(0.05),
    "adadelta": lambda: paddle.optimizer.Adadelta(0.5),
    "rmsprop": lambda: paddle.optimizer.RMSProp(0.01),
    "rmsprop-centered": lambda: paddle.optimizer.RMSProp(0.01, centered=True, momentum=0.5),
    "lamb": lambda: paddle.optimizer.Lamb(0.01),
    "nadam": lambda: paddle.optimizer.NAdam(0.01),
    "radam": lambda: paddle.optimizer.RAdam(0.01),
    "rprop": lambda: paddle.optimizer.Rprop(0.01),
    "asgd": lambda: paddle.optimizer.ASGD(0.01, batch_num=3),
    "clipped": lambda: paddle.optimizer.SGD(0.5, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.05)),
    "clipped-values": lambda: paddle.optimizer.SGD(0.5, grad_clip=paddle.nn.ClipGradByValue(0.01)),
}


def _agree(training: Training, bound: NativeBound, names: list[str], steps: int) -> None:
    for _ in range(steps):
        expected, got = training.by_numpy(), bound()
        for name, a, b in zip(training.losses, got, expected, strict=True):
            assert not difference(a, b, scale=4.0), name
    for name, array in zip(names, bound.arrays, strict=True):
        if name not in training.feed:
            value = np.asarray(training.scope.find_var(name).value)
            assert not difference(array, value, scale=10.0), name


@pytest.mark.parametrize("dtype", by_default(["float32", "float64"], 1))
def test_optimizers_take_the_same_steps(dtype: str) -> None:
    t = Training(dtype)
    x, y = (t.rng.uniform(-1, 1, s).astype(dtype) for s in [(16, 7), (16, 3)])
    with static.program_guard(t.main, t.startup):
        given, goal = t.data("x", x), t.data("y", y)
        for name, make in OPTIMIZERS.items():
            if name == "rmsprop-centered" and dtype == "float32":
                continue  # it divides by the root of a difference of nearly equal numbers
            h = F.gelu(given @ t.parameter(7, 9) + t.parameter(9))
            loss = paddle.mean(paddle.square(h @ t.parameter(9, 3) - goal))
            parameters = [f"p{len(t.starts) - k}" for k in (3, 2, 1)]
            block = t.main.global_block()
            make().minimize(loss, parameters=[block.var(n) for n in parameters])
            t.losses.append(loss)
    t.started()
    function, bound, names = t.compiled()
    assert not [p for p in function.placements() if p.where == "NumPy"]
    _agree(t, bound, names, STEPS)


TABLES: dict[str, Callable[[], Any]] = {
    "sgd": lambda: paddle.optimizer.SGD(0.1),
    "adam": lambda: paddle.optimizer.Adam(0.01),
    "adam-lazy": lambda: paddle.optimizer.Adam(0.01, lazy_mode=True),
    "amsgrad-lazy": lambda: paddle.optimizer.Adam(0.01, lazy_mode=True, amsgrad=True),
    "adamw-lazy": lambda: paddle.optimizer.AdamW(0.01, lazy_mode=True),
}


def _of_tables(sparse: bool) -> Training:
    """In float64: Adam makes steps of a gradient that is nothing but rounding."""
    t = Training("float64")
    with static.program_guard(t.main, t.startup):
        first = t.data("first", np.array([3, 3, 0, 7, 3, 11]))
        second = t.data("second", np.array([[1, 3], [3, 1], [0, 2], [5, 5], [7, 7], [3, 2]]))
        for make in TABLES.values():
            table = t.parameter(12, 5)
            a = F.embedding(first, table, sparse=sparse)
            b = F.embedding(second, table, sparse=sparse)
            loss = paddle.mean(paddle.tanh(paddle.sum(paddle.unsqueeze(a, 1) * b, -1) + 1.0))
            make().minimize(loss, parameters=[table])
            t.losses.append(loss)
    t.started()
    return t


@pytest.mark.parametrize("sparse", [True, False])
def test_rows_of_tables_are_updated_alone(sparse: bool) -> None:
    t = _of_tables(sparse)
    function, bound, names = t.compiled()
    assert not [p for p in function.placements() if p.where == "NumPy"]
    before = bound.arrays[names.index("p2")].copy()
    _agree(t, bound, names, 5)
    if sparse:  # Adam would move all rows, lazily only those that were read
        after = bound.arrays[names.index("p2")]
        untouched = [4, 6, 8, 9, 10]
        np.testing.assert_array_equal(after[untouched], before[untouched])
        assert not np.any(after[[0, 3, 7, 11]] == before[[0, 3, 7, 11]])


@pytest.mark.parametrize("bad", [12, -1, 2**40])
def test_an_index_out_of_range_gives_the_run_up(bad: int) -> None:
    t = _of_tables(True)
    _, bound, names = t.compiled()
    before = [a.copy() for a in bound.arrays]
    wrong = t.feed["second"].copy()
    wrong[4, 1] = bad
    bound.feed(names.index("second"), wrong)
    with pytest.raises(NativeFailed):
        bound()
    for name, array, old in zip(names, bound.arrays, before, strict=True):
        if name not in t.feed:
            np.testing.assert_array_equal(array, old, err_msg=name)
    bound.feed(names.index("second"), t.feed["second"])
    _agree(t, bound, names, 2)


def test_a_label_out_of_range_gives_the_run_up() -> None:
    t = Training()
    with static.program_guard(t.main, t.startup):
        x = t.data("x", t.rng.uniform(-1, 1, (8, 5)).astype(np.float32))
        label = t.data("label", np.array([0, 3, 1, 1, 2, 0, 3, -100]))
        loss = F.cross_entropy(x @ t.parameter(5, 4) + t.parameter(4), label)
        paddle.optimizer.Momentum(0.1).minimize(loss)
        t.losses.append(loss)
    t.started()
    _, bound, names = t.compiled()
    _agree(t, bound, names, 3)
    before = [a.copy() for a in bound.arrays]
    for bad in (4, -1):
        wrong = t.feed["label"].copy()
        wrong[2] = bad
        bound.feed(names.index("label"), wrong)
        with pytest.raises(NativeFailed):
            bound()
    for name, array, old in zip(names, bound.arrays, before, strict=True):
        if name not in t.feed:
            np.testing.assert_array_equal(array, old, err_msg=name)


def test_a_convolutional_net_takes_the_same_steps() -> None:
    t = Training()
    with static.program_guard(t.main, t.startup):
        h = t.data("x", t.rng.uniform(0, 1, (4, 2, 12, 12)).astype(np.float32))
        label = t.data("label", np.array([0, 3, 1, 2]))
        h = F.max_pool2d(F.relu(F.conv2d(h, t.parameter(5, 2, 3, 3), t.parameter(5))), 2)
        h = F.avg_pool2d(F.relu(F.conv2d(h, t.parameter(6, 5, 3, 3), t.parameter(6), padding=1)), 2)
        loss = F.cross_entropy(paddle.flatten(h, 1) @ t.parameter(24, 4), label)
        paddle.optimizer.Adam(0.01).minimize(loss)
        t.losses.append(loss)
    t.started()
    function, bound, names = t.compiled()
    assert not [p for p in function.placements() if p.where == "NumPy"]
    _agree(t, bound, names, STEPS)
