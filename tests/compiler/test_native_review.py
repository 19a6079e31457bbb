"""Native steps beside NumPy's where memory is written over, runs fail, and programs are random."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import static
from tests.compiler.helpers.native_batches import Array, difference
from tests.compiler.helpers.native_kernels import needs_compiler, with_flags
from tests.compiler.helpers.native_random import RandomTraining, steps_of_training
from tests.tiers import by_default

pytestmark = needs_compiler


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", with_flags("-O1"))
        yield


def _parameters(*shapes: tuple[int, ...]) -> list[Any]:
    return [
        static.create_parameter(list(shape), "float64", name=f"p{k}")
        for k, shape in enumerate(shapes)
    ]


def _transposed() -> list[Any]:
    (a,) = _parameters((5, 5))
    turned = paddle.transpose(a, [1, 0])
    paddle.assign(turned + 1.0, a)
    return [turned, a]


def _looked_up() -> list[Any]:
    a, b = _parameters((5,), (5,))
    at = paddle.to_tensor(np.array([4, 0, 0, 1, 2]))
    double = paddle.gather(a * 2.0, at)
    paddle.assign(paddle.gather(a, at), a)
    found = paddle.gather(b, at)
    paddle.assign(b * 2.0, b)
    return [double, found]


def _stretched() -> list[Any]:
    (a,) = _parameters((4, 3))
    paddle.assign(paddle.broadcast_to(a[0], [4, 3]) + a, a)
    return [a]


def _product() -> list[Any]:
    (a,) = _parameters((9, 9))
    paddle.assign(paddle.matmul(a, a) * 0.3 + a, a)
    return [a]


def _rotated() -> list[Any]:
    a, b, c = _parameters((3,), (3,), (3,))
    first, second = paddle.reshape(a, [3]), paddle.flip(b, [0])
    paddle.assign(c, a)
    paddle.assign(first, b)
    paddle.assign(second, c)
    return [first, second]


def _each_of_the_other() -> list[Any]:
    a, b = _parameters((4,), (4,))
    new_a, new_b = a + paddle.flip(b, [0]), b * a
    both = paddle.flip(a, [0]) + new_b
    paddle.assign(new_a, a)
    paddle.assign(new_b, b)
    return [both]


def _rows() -> list[Any]:
    """The rows of what is overwritten are passed over twice."""
    a, b = _parameters((8, 16), (8, 16))
    soft = F.softmax(a)
    paddle.assign(a * 2.0, a)
    paddle.assign(F.softmax(b + 1.0), b)
    return [soft, F.layer_norm(b, [16]), paddle.sum(a, 1)]


def _before() -> list[Any]:
    """What is asked for is a parameter as it was, seen otherwise."""
    (a,) = _parameters((4, 6))
    views = [paddle.flip(a, [1]), a[1:, ::2], paddle.transpose(a, [1, 0])]
    paddle.optimizer.SGD(0.1).minimize(paddle.mean(paddle.tanh(a)))
    return views


OVERWRITING: list[Callable[[], list[Any]]] = [
    _transposed,
    _looked_up,
    _stretched,
    _product,
    _rotated,
    _each_of_the_other,
    _rows,
    _before,
]


def _ran(
    build: Callable[[], list[Any]], backend: str, feeds: list[dict[str, Array]]
) -> tuple[list[list[Array] | str], dict[str, Array], str]:
    """What steps return (of those that raise, what they say), the scope, and who ran them."""
    main, startup = static.Program(), static.Program()
    with paddle.unique_name.guard(), static.program_guard(main, startup):
        wanted = build()
    scope: Any = static.Scope()
    executor = static.Executor(backend=backend)
    executor.run(startup, scope=scope)
    rng = np.random.default_rng(2)
    for name in sorted(scope.local_var_names()):
        value = np.asarray(scope.find_var(name).value)
        if name.startswith("p"):
            scope.find_var(name).get_tensor().set(
                rng.uniform(-1, 1, value.shape).astype(value.dtype)
            )
    step = executor.prepare(main, sorted(feeds[0]), wanted, scope=scope)
    paddle.seed(5)
    found: list[list[Array] | str] = []
    for feed in feeds:
        try:
            found.append(step(feed))
        except paddle.errors.ExecutionError as error:
            found.append(str(error))
    state = {n: np.array(scope.find_var(n).value) for n in scope.local_var_names()}
    return found, state, repr(step).split()[-1]


def _compare(build: Callable[[], list[Any]], feeds: list[dict[str, Array]]) -> str:
    expected, old, _ = _ran(build, "numpy", feeds)
    got, new, by = _ran(build, "native", feeds)
    for mine, theirs in zip(got, expected, strict=True):
        if isinstance(mine, str) or isinstance(theirs, str):
            assert mine == theirs
            continue
        for a, b in zip(mine, theirs, strict=True):
            assert not difference(a, b, scale=10.0)
    for name, value in old.items():
        assert not difference(new[name], value, scale=10.0), name
    return by


@pytest.mark.parametrize("build", OVERWRITING, ids=lambda f: f.__name__[1:])
def test_what_is_written_over_was_read_before(build: Callable[[], list[Any]]) -> None:
    assert _compare(build, [{}] * 3) == "native>"


def test_the_other_branch_leaves_no_mask() -> None:
    """Dropout in a branch that does not run: its mask has no size, and nothing reads it."""

    def build() -> list[Any]:
        x = static.data("x", [None, 4], "float64")
        (w,) = _parameters((4,))
        h = static.nn.cond(paddle.sum(x) > 0.0, lambda: F.dropout(x * w, 0.5), lambda: x * w)
        loss = paddle.mean(h * h)
        paddle.optimizer.SGD(0.3).minimize(loss)
        return [loss, h]

    ones = np.ones((3, 4))
    assert _compare(build, [{"x": ones}, {"x": -ones}, {"x": ones}, {"x": -ones}]) == "native>"


@pytest.mark.parametrize("seed", [0, 7])
def test_a_run_that_fails_draws_its_numbers_once(seed: int) -> None:
    """The run that says what is wrong follows one that has drawn already."""

    def build() -> list[Any]:
        static.default_main_program().random_seed = seed
        x, label = static.data("x", [4, 6], "float64"), static.data("label", [4], "int64")
        (w,) = _parameters((6, 3))
        loss = F.cross_entropy(F.dropout(x, 0.5) @ w, label)
        paddle.optimizer.SGD(0.3).minimize(loss)
        return [loss]

    x = np.linspace(-1.0, 1.0, 24).reshape(4, 6)
    labels = [[0, 1, 2, 0], [0, 1, 3, 0], [2, 2, 0, 1], [0, -7, 1, 1], [0, 0, 1, 1]]
    assert _compare(build, [{"x": x, "label": np.array(y)} for y in labels]) == "native>"


def test_a_stream_given_after_the_first_run_is_drawn_from() -> None:
    main = static.Program()
    with static.program_guard(main):
        y = F.dropout(static.data("x", [50]), 0.5) * 2.0
    step = static.Executor(backend="native").prepare(main, ["x"], [y])
    x = np.ones(50, "float32")
    step(x)
    main.random_seed = 3
    first = step(x)[0]
    paddle.seed(1)
    step(x)
    main.random_seed = 3
    np.testing.assert_array_equal(step(x)[0], first)


def test_roots_written_as_powers_have_their_specials() -> None:
    def build() -> list[Any]:
        x = static.data("x", [7])
        return [x**0.5, x**2.0, x**-1.0, x**0.0, x**1.0]

    x = np.array([-np.inf, -0.0, 0.0, np.inf, np.nan, -1.0, 2.0], "float32")
    with np.errstate(all="ignore"):
        assert _compare(build, [{"x": x}]) == "native>"
        main = static.Program()
        with static.program_guard(main):
            wanted = build()
        for backend in ("numpy", "native"):
            root = static.Executor(backend=backend).prepare(main, ["x"], wanted)(x)[0]
            np.testing.assert_array_equal(np.signbit(root[1:4]), np.signbit(np.sqrt(x[1:4])))


SEEDS = range(1000, 1024)


@pytest.mark.parametrize("seed", by_default(SEEDS, 6))
def test_random_programs_take_the_same_steps(seed: int) -> None:
    training = RandomTraining(seed, ["float32", "float64"][seed % 2])
    expected, old, _ = steps_of_training(training, "numpy")
    got, new, executor = steps_of_training(training, "native")
    report = executor.explain(training.main, training.feeds[0], training.fetches)
    assert report.backend == "native", report
    for mine, theirs in zip(got, expected, strict=True):
        for name, a, b in zip(training.fetches, mine, theirs, strict=True):
            text = difference(np.asarray(a), np.asarray(b), scale=3.0, beside=1.0)
            assert not text, (name, training.text)
    for name, value in old.items():
        assert not difference(new[name], value, scale=3.0, beside=1.0), (name, training.text)
