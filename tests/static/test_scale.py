"""Long programs: time and memory grow with their length, and they run in pieces."""

import sys
import traceback
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.python import split_functions as pieces
from autograd_engine.errors import ExecutionError

pytestmark = pytest.mark.usefixtures("static_mode")

static = paddle.static


def chain(length: int) -> tuple[Any, Any]:
    """A program of about `length` operators; some values are read far from where they are made."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 4])
        x.stop_gradient = False
        y = x
        for _ in range(length // 5):
            a = paddle.tanh(y)
            y = paddle.sin(a * y + a) + 0.5 * x
        return main, paddle.mean(y)


def gradient(loss: Any) -> Any:
    with static.program_guard(loss.block.program, static.Program()):
        static.append_backward(loss)
    return loss.block.vars["x@GRAD"]


def calls(function: Callable[[], Any]) -> int:
    """How many functions are called, those of C among them."""
    count = 0

    def seen(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    old = sys.getprofile()
    sys.setprofile(seen)
    try:
        function()
    finally:
        sys.setprofile(old)
    return count


def run(main: Any, *fetches: Any) -> Any:
    x = np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)
    return static.Executor().run(main, {"x": x}, list(fetches))


@pytest.mark.parametrize("what", ["build", "differentiate", "run"])
def test_work_grows_with_the_length_of_a_program(what: str) -> None:
    def work(length: int) -> int:
        if what == "build":
            return calls(lambda: chain(length))
        main, loss = chain(length)
        if what == "differentiate":
            return calls(lambda: gradient(loss))
        grad = gradient(loss)
        return calls(lambda: run(main, loss, grad))

    work(50)  # what is generated or imported when it is first used
    short, long = work(250), work(2000)
    assert long < 8 * 1.15 * short


def test_memory_of_a_program() -> None:
    gradient(chain(50)[1])
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        main, loss = chain(3000)
        gradient(loss)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(main.global_block().ops) > 6_000
    assert after - before < 3000 * 6000  # 100,000 operators and their gradients: 0.6 GB
    assert peak - before < 3000 * 9000


def test_memory_of_compiling_does_not_follow_the_length_of_a_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What Python takes to compile a piece is freed before the next one."""

    def peak(long: int) -> int:
        monkeypatch.setattr(pieces, "_LONG", long)
        monkeypatch.setattr(pieces, "_PIECE", 200)
        main, loss = chain(1000)
        grad = gradient(loss)
        tracemalloc.start()
        try:
            run(main, loss, grad)
            kept, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        return most - kept

    assert peak(500) < 0.6 * peak(10**9)


# --- pieces


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_LONG", 10)
    monkeypatch.setattr(pieces, "_PIECE", 7)


def bits(arrays: Any) -> list[bytes]:
    return [array.tobytes() for array in arrays]


def sparse_and_shaped() -> tuple[Any, list[Any]]:
    """Rows of an embedding, values that are asked for their shape only, branches and loops."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 4])
        x.stop_gradient = False
        table = static.create_parameter(
            [5, 4], "float32", default_initializer=paddle.nn.initializer.Constant(0.25)
        )
        rows = paddle.nn.functional.embedding(
            paddle.cast(paddle.sum(paddle.abs(x), axis=1), "int64"), table, sparse=True
        )
        y = paddle.tanh(x) * rows
        for _ in range(6):
            y = static.nn.cond(paddle.sum(y) > 0, lambda y=y: y * x, lambda y=y: paddle.sin(y))
            y = y + paddle.broadcast_to(paddle.mean(paddle.cos(y), axis=0), [2, 4])
        (y,) = static.nn.while_loop(
            lambda v: paddle.sum(v) < 30.0, lambda v: [paddle.abs(v) * 1.5 + 1.0], [y]
        )
        loss = paddle.mean(y)
        grads = static.gradients(loss, [x, table])
        paddle.optimizer.Adam(0.1).minimize(loss)
    static.Executor().run(startup)
    return main, [loss, *grads, table]


@pytest.mark.parametrize("make", ["chain", "sparse_and_shaped"])
def test_pieces_have_the_bits_of_the_whole(make: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if make == "chain":
        main, loss = chain(100)
        fetches = [loss, gradient(loss), "x"]
    else:
        main, fetches = sparse_and_shaped()
    scope = static.global_scope()
    before = {n: scope.find_var(n).value for n in scope.local_var_names()}
    whole = bits(run(main, *fetches))
    for size in (1, 2, 3, 7, 20):
        for name, value in before.items():
            scope.find_var(name).value = value
        monkeypatch.setattr(pieces, "_LONG", 10)
        monkeypatch.setattr(pieces, "_PIECE", size)
        exe = static.Executor()
        x = np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)
        assert bits(exe.run(main, {"x": x}, fetches)) == whole
        (plan,) = main.compiled[exe].values()
        assert plan.compiled.source.count("\ndef program__") > 2


@pytest.mark.usefixtures("small_pieces")
def test_an_operation_that_fails_in_a_piece_is_named_with_its_line() -> None:
    x, w = static.data("x", [None]), static.data("w", [None])
    y = x
    for _ in range(20):
        y = paddle.tanh(y)
    z = y * w  # the line
    for _ in range(20):
        z = paddle.tanh(z)
    feed = {"x": np.ones(2, "float32"), "w": np.ones(3, "float32")}
    with pytest.raises(
        ExecutionError,
        match=r"multiply of test_scale\.py:\d+ \(z = y \* w.*: float32\[2\], w: float32\[3\]: ",
    ) as caught:
        static.Executor().run(feed=feed, fetch_list=[z])
    cause = caught.value.__cause__
    assert cause is not None
    shown = "".join(traceback.format_tb(cause.__traceback__))
    assert "multiply_0_tmp_0 = multiply(" in shown


@pytest.mark.parametrize("length", [10, 10**9])
def test_pieces_keep_nothing_longer_than_the_whole(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "_LONG", length)
    monkeypatch.setattr(pieces, "_PIECE", 7)
    x = static.data("x", [None])
    y = x
    for _ in range(60):
        y = paddle.tanh(y) * 1.5
    exe, megabyte = static.Executor(), np.ones(2**18, "float32")
    exe.run(feed={"x": megabyte}, fetch_list=[y])
    tracemalloc.start()
    try:
        exe.run(feed={"x": megabyte}, fetch_list=[y])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3.5 * megabyte.nbytes
