"""Floats of 16 bits as C beside NumPy: every row, chains, trainings, the ends of the range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import static
from autograd_engine.compiler.native import compile_native
from autograd_engine.compiler.native.function import NativeFunction
from autograd_engine.core.dtypes import FLOATS, HALVES, bfloat16, finfo
from autograd_engine.ops.registry.namespace import ops
from tests.compiler.helpers.native_batches import ALL, Array, Batch, Call
from tests.compiler.helpers.native_kernels import needs_compiler, with_flags
from tests.compiler.helpers.native_programs import graph_of
from tests.compiler.test_native_ops import EVERY, LEFT_TO_NUMPY, _call, _runs_as_c
from tests.compiler.test_native_training import Training

pytest.importorskip("ml_dtypes")
pytestmark = needs_compiler

HALF = {"float16": np.dtype(np.float16), "bfloat16": bfloat16()}


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", with_flags("-O1"))
        yield


def apart(actual: Array, expected: Array, roundings: float, beside: float = 0.0) -> str:
    """How arrays differ by more than so many roundings of the dtype; empty where they do not.

    Beside the largest element, for elements may be sums of terms as large.
    """
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        return f"{actual.dtype}{actual.shape} for {expected.dtype}{expected.shape}"
    if expected.dtype not in FLOATS:
        return "" if np.array_equal(actual, expected) else f"{actual} for {expected}"
    eps = float(finfo(expected.dtype).eps)
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return f"{a[~finite]} for {b[~finite]}"
    largest = np.max(np.abs(b[finite]), initial=beside)
    error = np.max(np.abs(a[finite] - b[finite]), initial=0.0)
    return "" if error <= roundings * eps * largest else f"{error / eps} roundings of {largest}"


def not_equal(actual: Array, expected: Array, signs: bool = True) -> str:
    """Where values differ at all, or zeros have other signs; NaN are equal to another."""
    with np.errstate(all="ignore"):
        a, b = actual.astype(np.float64), expected.astype(np.float64)
    other = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    if signs:
        other |= (np.signbit(a) != np.signbit(b)) & (b == 0)
    return f"{a[other][:4]} for {b[other][:4]}" if np.any(other) else ""


# --- rows


def _chosen() -> list[Call]:
    """The first sample of each row in one of the dtypes; all samples in both, where asked for."""
    calls = []
    for at, (name, k) in enumerate(EVERY):
        for n, dtype in enumerate(HALF.values()):
            if ALL or (k == 0 and at % 2 == n):
                call = _call(name, k, dtype)
                if any(a.dtype in HALVES for a in call.operands):
                    calls.append(call)
    return calls


# What neighbours a number has is another question in another dtype; no C kernel takes 16 bits.
OF_16_BITS = {"nextafter", "max_pool_gather"}


def test_rows_agree_with_their_kernels_and_run_as_c() -> None:
    batch, left = Batch(), set()
    for call in _chosen():
        if batch.add(call) and all(np.size(a) for a in call.operands) and not _runs_as_c(call):
            left.add(call.op.name)
    got = batch.compiled()(*batch.arrays)
    wrong = [
        f"{call.label}: {text}"
        for call in batch.calls
        for k, expected in zip(call.outputs, call.expected, strict=True)
        if (text := apart(got[k], expected, 2.0 if expected.dtype in HALVES else 200.0))
    ]
    assert wrong == []
    looked_at_by_shape = {"index", "index_last", "index_add_like", "setitem"}
    assert left <= LEFT_TO_NUMPY | OF_16_BITS | looked_at_by_shape


# --- conversions


def every(dtype: np.dtype[Any]) -> Array:
    return np.arange(1 << 16).astype(np.uint16).view(dtype)


def between(dtype: np.dtype[Any]) -> Array:
    """Numbers of float32: those of the dtype, what lies halfway, and the neighbours of both."""
    with np.errstate(all="ignore"):
        own = every(dtype).astype(np.float32)
        own = np.sort(own[np.isfinite(own)])
        halfway = own[:-1] + (own[1:] - own[:-1]) * np.float32(0.5)
        some = np.concatenate([own, halfway])
        near = [np.nextafter(some, np.float32(sign * np.inf)) for sign in (1, -1)]
    nan = np.array([0x7F800001, 0x7FFFFFFF, 0xFF80FFFF, 0xFFFFFFFF, 0x7FC00000], np.uint32)
    ends = np.array([np.inf, -np.inf, 3.4e38, -3.4e38, 65519.9, 65520.0, 1e-45], np.float32)
    return np.concatenate([some, *near, ends, nan.view(np.float32)])


def run(build: Callable[..., list[Any]], *arrays: Array) -> tuple[NativeFunction, list[Array]]:
    """What a program of these arrays returns as C."""
    main = static.Program()
    feed = {f"x{k}": a for k, a in enumerate(arrays)}
    with static.program_guard(main):
        given = [static.data(n, list(a.shape), a.dtype) for n, a in feed.items()]
        made = build(*given)
    graph, inputs = graph_of(main, feed, made)
    function = compile_native(graph)
    assert all(p.where != "NumPy" for p in function.placements())
    return function, function(*inputs)


def test_conversions_round_as_numpy_does() -> None:
    for half in HALF.values():
        with np.errstate(all="ignore"):
            conversions_round_as_numpy_does(half)


def conversions_round_as_numpy_does(half: np.dtype[Any]) -> None:
    own, single = every(half), between(half)
    double = np.concatenate([single.astype(np.float64) * (1 + e) for e in (0, 1e-12, -1e-12)])
    whole = np.concatenate([np.arange(-70000, 70000, 7), 2 ** np.arange(40) + 1])
    small = own[np.abs(own.astype(np.float32)) < 100.0]

    def build(a: Any, b: Any, c: Any, own: Any, small: Any) -> list[Any]:
        return [
            *(x.astype(own.dtype) for x in (a, b, c)),
            *(own.astype(t) for t in ("float32", "float64", "bool")),
            small.astype("int64"),
            own.reshape([256, 256]).transpose([1, 0]),
        ]

    _, got = run(build, single, double, whole, own, small)
    expected = [x.astype(half) for x in (single, double, whole)]
    expected += [own.astype(t) for t in ("float32", "float64", "bool")]
    expected += [small.astype("int64"), own.reshape(256, 256).T]
    for k, (a, b) in enumerate(zip(got, expected, strict=True)):
        assert a.dtype == b.dtype
        assert not not_equal(a, b), (half, k)


# --- chains


def _drawn(rng: Any, xs: list[Any], smooth: bool) -> Any:
    """An operation on some of these."""
    x, y = (xs[k] for k in rng.integers(0, len(xs), 2))
    exact = [
        lambda: x + y,
        lambda: x - y,
        lambda: x * y,
        lambda: x / (paddle.abs(y) + 1.0),
        lambda: paddle.maximum(x, y),
        lambda: paddle.minimum(-x, y * 0.3),
        lambda: paddle.where(x > y, x * 1.7, y),
        lambda: F.relu(x) - 0.1,
        lambda: paddle.transpose(paddle.transpose(x, [1, 0]) * 0.5, [1, 0]),
        lambda: paddle.concat([x[:, 3:], y[:, :3]], 1),
        lambda: paddle.max(x, 1, keepdim=True) * 0.5 + y,
        lambda: x.astype("float32") * 0.7 + y,
        lambda: (x.astype("float32") * y.astype("float32")).astype(x.dtype),
    ]
    rounded = [
        lambda: paddle.tanh(x) + y,
        lambda: F.softmax(x * 0.5) * y,
        lambda: F.gelu(x) - y,
        lambda: paddle.mean(x, 0, keepdim=True) + y,
        lambda: (paddle.matmul(F.sigmoid(x), y, transpose_y=True) * 0.1)[:, :7] + x[:, :7],
        lambda: F.layer_norm(x, [x.shape[-1]]) * 0.5,
    ]
    choice = [*exact, *rounded] if smooth else exact
    made = choice[int(rng.integers(len(choice)))]()
    made = made.astype(xs[0].dtype)
    return made if made.shape == xs[0].shape else F.pad(made, [0, 0, 0, 29])


@pytest.mark.parametrize("name", HALF)
def test_chains_of_arithmetic_have_the_values_of_numpy(name: str) -> None:
    """Each intermediate is rounded in its register; what is not finite comes of the ends.

    Which zero is the larger one is left open.
    """
    rng = np.random.default_rng(7)
    ends = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 6e4, -3e-5, 6e-8])
    start = rng.standard_normal((3, 20, 36)).astype(np.float32)
    start[0, 0, :8], start[1, 1, :8], start[2, :8, 2] = ends, ends, ends
    arrays = [a.astype(HALF[name]) for a in start]

    def build(*xs: Any) -> list[Any]:
        made = list(xs)
        for _ in range(60):
            made.append(_drawn(rng, made[-8:], smooth=False))
        return made[3:]

    with np.errstate(all="ignore"):
        main, feed = static.Program(), {f"x{k}": a for k, a in enumerate(arrays)}
        with static.program_guard(main):
            made = build(*[static.data(n, list(a.shape), a.dtype) for n, a in feed.items()])
            names = [v.name for v in made]
            expected = static.Executor(backend="numpy").run(main, feed, names)
        graph, inputs = graph_of(main, feed, made)
        got = compile_native(graph)(*inputs)
        few, few_inputs = graph_of(main, feed, made[-1:])  # where nothing else is stored
        (last,) = compile_native(few)(*few_inputs)
    for k, (a, b) in enumerate(zip(got, expected, strict=True)):
        assert not not_equal(a, b, signs=False), k
    assert not not_equal(last, expected[-1], signs=False)


@pytest.mark.parametrize("name", HALF)
def test_chains_and_their_gradients(name: str) -> None:
    rng = np.random.default_rng(3)
    arrays = [a.astype(HALF[name]) for a in rng.uniform(-1, 1, (3, 20, 36))]
    feed = {f"x{k}": a for k, a in enumerate(arrays)}
    main = static.Program()
    with static.program_guard(main):
        given = [static.data(n, list(a.shape), a.dtype) for n, a in feed.items()]
        made = list(given)
        for x in given:
            x.stop_gradient = False
        for _ in range(12):
            made.append(paddle.tanh(_drawn(rng, made[-4:], smooth=True)))
        found = static.gradients([paddle.mean(paddle.stack(made[-4:]))], given)
        wanted = [*made[3:], *[g for g in found if g is not None]]
        expected = static.Executor(backend="numpy").run(main, feed, [v.name for v in wanted])
    graph, inputs = graph_of(main, feed, wanted)
    got = compile_native(graph)(*inputs)
    for k, (a, b) in enumerate(zip(got, expected, strict=True)):
        assert not apart(a, b, 8.0), k


# --- trainings


class Mixed(Training):
    """Parameters come from the startup program, so that masters start from them."""

    def parameter(self, *shape: int) -> Any:
        fill = paddle.nn.initializer.Normal(0.0, 0.3)
        return static.create_parameter(list(shape), self.dtype, default_initializer=fill)


def _perceptron(t: Mixed, x: Any) -> Any:
    h = F.gelu(x.reshape([-1, 8]) @ t.parameter(8, 16) + t.parameter(16))
    return h @ t.parameter(16, 4)


def _attention(t: Mixed, x: Any) -> Any:
    h = F.layer_norm(x, [8], t.parameter(8), t.parameter(8))
    q, k, v = (paddle.reshape(h @ t.parameter(8, 8), [2, 6, 2, 4]) for _ in range(3))
    h = x + paddle.reshape(F.scaled_dot_product_attention(q, k, v), [2, 6, 8])
    h = h + F.relu(h @ t.parameter(8, 16) + t.parameter(16)) @ t.parameter(16, 8)
    return (h @ t.parameter(8, 4)).reshape([-1, 4])


@pytest.mark.parametrize("name", HALF)
def test_parts_of_16_bits_that_are_added_up(name: str) -> None:
    """They lie in two bytes where what they are added to has four: the second order of a GRU."""
    rng = np.random.default_rng(4)
    sizes = {"inputs": [3, 2, 3, 3], "weight": [9, 3], "initial": [1, 2, 3], "bias": [3]}
    feed = {n: rng.uniform(-1, 1, size).astype(HALF[name]) for n, size in sizes.items()}
    main = static.Program()
    with static.program_guard(main):
        given = [static.data(n, size, name) for n, size in sizes.items()]
        for x in given:
            x.stop_gradient = False
        made = ops.gru_scan(*given)
        for _ in range(2):
            squares = [paddle.sum(paddle.cast(v, "float32") ** 2) for v in made]
            made = static.gradients(sum(squares[1:], squares[0]) * 0.05, given)
        (expected,) = static.Executor(backend="numpy").run(main, feed, made[:1])
    graph, inputs = graph_of(main, feed, made[:1])
    assert not apart(compile_native(graph)(*inputs)[0], expected, 16.0)


@pytest.mark.parametrize("level", ["O1", "O2", "pure"])
def test_trainings_go_where_those_of_numpy_go(level: str) -> None:
    t = Mixed("float32" if level == "O1" else "bfloat16")
    x = t.rng.standard_normal((2, 6, 8)).astype(np.float32)
    labels = t.rng.integers(0, 4, 12)
    paddle.seed(0)
    with static.program_guard(t.main, t.startup):
        given, goal = t.data("x", x), t.data("labels", labels)
        for net, make in ((_perceptron, paddle.optimizer.Adam), (_attention, paddle.optimizer.SGD)):
            with paddle.amp.auto_cast(enable=level == "O1", dtype="bfloat16"):
                loss = F.cross_entropy(net(t, given.astype(t.dtype)), goal)
            known = {p.name for p in t.main.all_parameters()} - set(t.starts)
            t.starts.update(dict.fromkeys(known))
            block = t.main.global_block()
            optimizer = make(0.02, multi_precision=level == "O2")
            optimizer.minimize(loss, parameters=[block.var(n) for n in sorted(known)])
            t.losses.append(loss)
    t.executor.run(t.startup, scope=t.scope)
    function, bound, names = t.compiled()
    assert all(p.where != "NumPy" for p in function.placements())
    first = [float(v) for v in t.by_numpy()]
    assert [float(v) for v in bound()] == pytest.approx(first, rel=0.02)
    for _ in range(20):
        expected, got = t.by_numpy(), bound()
    assert [float(v) for v in got] == pytest.approx([float(v) for v in expected], rel=0.05)
    assert all(float(b) < 0.95 * a for a, b in zip(first, got, strict=True))
    for name, array in zip(names, bound.arrays, strict=True):
        value = np.asarray(t.scope.find_var(name).value) if name not in t.feed else array
        error = np.abs(array.astype(np.float64) - value.astype(np.float64))
        assert np.max(error) <= 0.05 * max(1.0, float(np.max(np.abs(value.astype(np.float64)))))


# --- memory


def test_what_is_kept_takes_two_bytes() -> None:
    """Of a long chain the inputs of each operation are kept for the backward half."""
    arenas = []
    for dtype in ("float32", *HALF):
        main = static.Program()
        x = np.ones((64, 1024), np.float32).astype(HALF.get(dtype, np.dtype(np.float32)))
        with static.program_guard(main):
            given = static.data("x", list(x.shape), dtype)
            given.stop_gradient = False
            y = given
            for _ in range(12):
                y = paddle.sin(y) * y
            made = static.gradients([paddle.sum(y)], [given])
        graph, _ = graph_of(main, {"x": x}, made)
        arenas.append(compile_native(graph).arena)
    single, *halves = arenas
    assert all(arena < 0.6 * single for arena in halves)


def test_what_was_positive_is_kept_as_a_byte() -> None:
    """Products keep their operands in 16 bits, and of the sums before they need the signs alone."""

    def arena(enabled: bool) -> int:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            x = y = static.data("x", [256, 64])
            x.stop_gradient = False
            with paddle.amp.auto_cast(enable=enabled, dtype="bfloat16"):
                for _ in range(12):  # a sum with a bias of float32 is one of float32
                    y = F.relu(y @ paddle.ones([64, 64]) + paddle.ones([64]))
            made = static.gradients([paddle.sum(y)], [x])
        return compile_native(graph_of(main, {"x": np.ones((256, 64), np.float32)}, made)[0]).arena

    assert arena(True) < arena(False)
