"""Gradients of float16 are added up in float32 and rounded once, to the same bits in every mode.

In float16 2048 + 1 is 2048: what thousands of places read would stop there.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.ops.registry.namespace import ops
from tests.compiler.helpers.native_kernels import needs_compiler, with_flags
from tests.over import over

static = paddle.static
F = paddle.nn.functional

MANY = 2560  # of which float16 adds up 2048
ONES = np.ones(2, np.float16)
Function = Callable[..., Any]


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", with_flags("-O1"))
        yield


# --- modes: each gives the gradient of the sum of `function(x)`


def total(y: Any) -> Any:
    """Its cotangent is float32, so that nothing but the gradient of x is float16."""
    return paddle.sum(paddle.cast(y, "float32"))


def by_grad(function: Function, x: np.ndarray, **options: Any) -> np.ndarray:
    leaf = paddle.to_tensor(x, stop_gradient=False)
    (g,) = paddle.grad(total(function(leaf)), leaf, **options)
    return np.asarray(g.numpy())


def by_backward(function: Function, x: np.ndarray, **options: Any) -> np.ndarray:
    leaf = paddle.to_tensor(x, stop_gradient=False)
    total(function(leaf)).backward(**options)
    found = leaf.grad.numpy().copy()
    leaf.clear_gradient(set_to_zero=False)  # with create_graph a leaf and its gradient are a knot
    return found


def in_a_program(backend: str, known: bool = True) -> Callable[..., np.ndarray]:
    def run(function: Function, x: np.ndarray) -> np.ndarray:
        with static.program_guard(static.Program(), static.Program()):
            shape = list(x.shape) if known or not x.ndim else [None, *x.shape[1:]]
            v = static.data("x", shape, x.dtype.name)
            v.stop_gradient = False
            (g,) = static.gradients(total(function(v)), v)
            exe = static.Executor(backend=backend)
            for _ in range(3):  # from the third run on by the backend
                (found,) = exe.run(feed={"x": x}, fetch_list=[g])
        return found

    return run


def interpreted(function: Function, x: np.ndarray) -> np.ndarray:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        v = static.data("x", list(x.shape), x.dtype.name)
        v.stop_gradient = False
        (g,) = static.gradients(total(function(v)), v)
    with paddle.no_grad():
        found = main.run_eagerly({"x": paddle.to_tensor(x)}, [g])
    return np.asarray(found[g.name].numpy())


def traced(function: Function, x: np.ndarray) -> np.ndarray:
    leaf = paddle.to_tensor(x, stop_gradient=False)
    total(paddle.jit.to_static(function)(leaf)).backward()
    return np.asarray(leaf.grad.numpy())


MODES: dict[str, Any] = {
    "grad": by_grad,
    "grad-recorded": lambda f, x: by_grad(f, x, create_graph=True),
    "backward": by_backward,
    "backward-recorded": lambda f, x: by_backward(f, x, create_graph=True),
    "program-numpy": in_a_program("numpy"),
    "program-native": in_a_program("native"),
    "program-sizes": in_a_program("auto", known=False),
    "program-eagerly": interpreted,
    "to_static": traced,
}


def each_mode() -> list[Any]:
    native = {"program-native"}
    return [pytest.param(m, marks=needs_compiler) if m in native else m for m in MODES]


# --- thousands of cotangents of 1


def terms(x: Any, count: int) -> Any:
    y = paddle.cast(x, "float32")
    for _ in range(count - 1):
        y = y + paddle.cast(x, "float32")
    return y


def rows(x: Any) -> Any:
    """The same row, by half as many slices, and whole besides."""
    y = terms(x, MANY - 256)
    for _ in range(256):
        y = y + paddle.cast(paddle.concat([x[:1], x[1:]]), "float32")
    return y


READ = {
    "by the leaf": lambda x: terms(x, MANY),
    "by a value": lambda x: terms(x * 1.0, MANY),
    "by the value before": lambda x: paddle.add_n([x] * MANY),
    "by slices": rows,
    "by an expression": lambda x: ops.expand(paddle.reshape(x, [1, 2]), shape=(MANY, 2)),
    "by a broadcast": lambda x: paddle.zeros([MANY, 2], "float16") + x,
    "by an index": lambda x: paddle.gather(
        paddle.reshape(x, [1, 2]), paddle.zeros([MANY], "int64"), 0
    ),
    "by a product": lambda x: paddle.matmul(
        paddle.ones([MANY, 1], "float16"), paddle.reshape(x, [1, 2])
    ),
}


@pytest.mark.parametrize("mode", each_mode())
@over("read", list(READ))
def test_thousands_of_cotangents_of_1_are_all_added(read, mode):
    many = read in ("by the leaf", "by a value", "by slices")
    compiled = mode in ("to_static", "program-native", "program-sizes")
    if many and (compiled or (mode == "program-numpy" and read != "by the leaf")):
        pytest.skip("thousands of operators take seconds to compile; see the random graphs")
    found = MODES[mode](READ[read], ONES)
    assert (found.dtype, found.tolist()) == (np.float16, [MANY, MANY])


# --- graphs of any form


def graph(seed: int, rows: list[int]) -> Function:
    def function(x: Any) -> Any:
        rng = np.random.default_rng(seed)
        ids = paddle.to_tensor(np.asarray(rows))
        values = [x]
        for _ in range(int(rng.integers(2, 12))):
            kind = rng.integers(0, 8)
            a = values[rng.integers(len(values))] if rng.random() < 0.5 else x
            b = values[rng.integers(len(values))]
            if kind == 0:
                y = a * b
            elif kind == 1:
                y = paddle.tanh(a)
            elif kind == 2:
                y = a + b
            elif kind == 3:
                y = a * float(rng.normal() * 100)
            elif kind == 4:
                y = paddle.concat([a[1:3], a[1:3], a[4:]])
            elif kind == 5:
                y = paddle.gather(a, ids)
            elif kind == 6:
                y = paddle.add_n([a, b, x, a])
            else:
                y = paddle.cast(paddle.cast(a, "float32") * 1.5, "float16")
            values.append(y)
        return paddle.add_n([paddle.cast(v, "float32") for v in values])

    return function


@pytest.mark.parametrize("mode", each_mode())
def test_graphs_of_any_form_have_the_same_bits(mode):
    # A traced function hands out what was gathered from one row as one sum; see docs/design/jit.md.
    ids = [4, 1, 3, 2, 5, 0] if mode == "to_static" else [0, 1, 1, 1, 5, 0]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(10 if "program" in mode or mode == "to_static" else 50):
            x = np.random.default_rng([seed, 7]).normal(size=(6, 2)).astype(np.float16)
            function = graph(seed, ids)
            found = MODES[mode](function, x)
            np.testing.assert_array_equal(found, by_grad(function, x), f"seed {seed}")


def branches_and_loops(seed: int, taken: bool) -> Function:
    """x is read before, inside of and behind branches and loops, which may be nested."""

    def used(x: Any, state: int, times: int) -> Any:
        rng = np.random.default_rng(state)
        return paddle.add_n(
            [paddle.cast(x * float(rng.normal() * 10), "float32") for _ in range(times)]
        )

    def function(x: Any) -> Any:
        rng = np.random.default_rng([seed, 3])
        w = x * 1.5 if rng.random() < 0.5 else x
        choice = paddle.sum(paddle.cast(x, "float32") * 0.0) >= (0.0 if taken else 1.0)
        y = paddle.cast(x, "float32")
        for kind in rng.integers(0, 4, int(rng.integers(1, 5))):
            times, state = int(rng.integers(1, 4)), int(rng.integers(0, 999))

            def branch(w: Any = w, state: int = state, times: int = times) -> Any:
                return static.nn.cond(
                    choice, lambda: used(w, state, times), lambda: used(w * 2.0, state + 1, 2)
                )

            def loop(nested: bool, w: Any = w, state: int = state, times: int = times) -> Any:
                def body(i: Any, total: Any) -> Any:
                    total = total + used(w, state, times)
                    return [i + 1, total + branch() if nested else total]

                start = [paddle.zeros([], "int64"), paddle.zeros([2])]
                return static.nn.while_loop(lambda i, _: i < 5, body, start)[1]

            if kind == 0:
                y = y + used(w, state, times)
            elif kind == 1:
                y = y + branch()
            else:
                y = y + loop(kind == 3)
        return y

    return function


@pytest.mark.parametrize(
    "mode", ["grad-recorded", "program-numpy", "program-eagerly", "program-sizes", "to_static"]
)
def test_branches_and_loops_add_to_one_sum(mode):
    for seed in range(12):
        x = np.random.default_rng([seed, 7]).normal(size=2).astype(np.float16)
        for taken in (True, False):
            function = branches_and_loops(seed, taken)
            found = MODES[mode](function, x)
            np.testing.assert_array_equal(found, by_grad(function, x), f"seed {seed}", strict=True)


@pytest.mark.parametrize("mode", ["program-numpy", "program-native", "to_static"])
def test_what_a_loop_reads_thousands_of_times(mode):
    def function(x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            return [i + 1, y + paddle.cast(x, "float32") + paddle.cast(x, "float32")]

        start = [paddle.zeros([], "int64"), paddle.zeros([2])]
        return static.nn.while_loop(lambda i, _: i < MANY // 2, body, start)[1]

    assert MODES[mode](function, ONES).tolist() == [MANY, MANY]


def test_a_sum_is_as_near_as_its_rounding():
    """Beside float64: off by half a unit in the last place, and by what float32 leaves."""
    rng = np.random.default_rng(5)
    factors = rng.normal(size=500).astype(np.float16)
    x = np.ones(1, np.float16)

    def function(v: Any) -> Any:
        return paddle.add_n([paddle.cast(v * float(f), "float32") for f in factors])

    exact = factors.astype(np.float64).sum()
    for mode in ("grad", "grad-recorded", "program-numpy"):
        assert MODES[mode](function, x)[0] == np.float16(exact)


def test_sums_that_leave_the_range_come_back():
    """60000 + 60000 - 60000: only what is rounded has to fit."""
    factors = [60000.0, 60000.0, -60000.0]
    for mode in MODES:
        if mode == "program-native":
            continue
        found = MODES[mode](
            lambda v: paddle.add_n([paddle.cast(v * f, "float32") for f in factors]),
            np.ones(1, np.float16),
        )
        assert found.tolist() == [60000.0], mode


def test_gradients_of_rows_stay_rows():
    table = paddle.to_tensor(np.ones((50, 2), np.float16), stop_gradient=False)
    ids = paddle.to_tensor(np.zeros(3000, np.int64))
    loss = total(F.embedding(ids, table, sparse=True)) + total(F.embedding(ids, table, sparse=True))
    loss.backward()
    assert table.grad.is_selected_rows() if hasattr(table.grad, "is_selected_rows") else True
    assert table.grad.numpy()[0].tolist() == [6000.0, 6000.0]
    assert not table.grad.numpy()[1:].any()


# --- reductions of the rules, and of the functions themselves


def line(n: int) -> np.ndarray:
    return np.ones(n, np.float16)


LONG = 5000
SHARE = np.float16(1 / LONG)
REDUCED: dict[str, tuple[Function, np.ndarray, float]] = {
    "sum": (paddle.sum, line(LONG), LONG),
    "nansum": (paddle.nansum, line(LONG), LONG),
    "mean": (paddle.mean, line(LONG), 1.0),
    "nanmean": (paddle.nanmean, line(LONG), 1.0),
    "cumsum": (lambda x: paddle.cumsum(x)[-1], line(LONG), LONG),
    "prod": (paddle.prod, line(LONG), 1.0),
    "trace": (lambda x: paddle.trace(paddle.diag(x)), line(3000), 3000.0),
    "norm of order 1": (lambda x: paddle.linalg.norm(x, 1), line(LONG), LONG),
    "norm": (paddle.linalg.norm, line(LONG), np.float16(LONG**0.5)),
    "dot": (lambda x: paddle.dot(x, x), line(LONG), LONG),
    "inner": (lambda x: paddle.inner(x, x), line(LONG), LONG),
    "matmul": (lambda x: x @ x, line(LONG), LONG),
    "bmm": (
        lambda x: paddle.bmm(paddle.reshape(x, [1, 1, -1]), paddle.reshape(x, [1, -1, 1])),
        line(LONG),
        LONG,
    ),
    "einsum": (lambda x: paddle.einsum("i,i->", x, x), line(LONG), LONG),
    "logsumexp": (paddle.logsumexp, line(LONG), np.float16(1 + np.log(LONG))),
    "logcumsumexp": (
        lambda x: paddle.logcumsumexp(x)[-1],
        line(LONG),
        np.float16(1 + np.log(LONG)),
    ),
    "std": (paddle.std, np.tile(half := np.asarray([1, -1], np.float16), LONG // 2), 1.0),
    "var": (paddle.var, np.tile(half, LONG // 2), 1.0),
    "trapezoid": (paddle.trapezoid, line(LONG), LONG - 1.0),
    "conv1d": (
        lambda x: F.conv1d(paddle.reshape(x, [1, 1, -1]), paddle.ones([1, 1, LONG], "float16")),
        line(LONG),
        LONG,
    ),
    "avg_pool1d": (
        lambda x: F.avg_pool1d(paddle.reshape(x, [1, 1, -1]), LONG),
        line(LONG),
        1.0,
    ),
    "adaptive_avg_pool1d": (
        lambda x: F.adaptive_avg_pool1d(paddle.reshape(x, [1, 1, -1]), 1),
        line(LONG),
        1.0,
    ),
    "index_add": (
        lambda x: paddle.index_add(
            paddle.zeros([1], "float16"), paddle.zeros([LONG], "int64"), 0, x
        ),
        line(LONG),
        LONG,
    ),
    "scatter_nd_add": (
        lambda x: paddle.scatter_nd_add(
            paddle.zeros([1], "float16"), paddle.zeros([LONG, 1], "int64"), x
        ),
        line(LONG),
        LONG,
    ),
    "softmax": (lambda x: F.softmax(x)[0], line(LONG), SHARE),
    "mse_loss": (lambda x: F.mse_loss(x, x * 0.0), line(LONG), 1.0),
    "l1_loss": (lambda x: F.l1_loss(x, x * 0.0, reduction="sum"), line(LONG), LONG),
    "cosine_similarity": (lambda x: F.cosine_similarity(x, x, axis=0), line(LONG), 1.0),
}


@pytest.mark.parametrize("name", REDUCED)
def test_reductions_of_float16_accumulate_in_float32(name):
    function, x, expected = REDUCED[name]
    found = function(paddle.to_tensor(x))
    assert found.dtype == "float16"
    np.testing.assert_allclose(found.numpy().astype("d"), float(expected), rtol=2e-3)
