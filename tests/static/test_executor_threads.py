"""Runs side by side: threads, scopes below scopes, and runs that fail or are interrupted."""

import _thread
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import unique_name
from autograd_engine.errors import ArgumentError, ExecutionError

pytestmark = pytest.mark.usefixtures("static_mode")

static = paddle.static


def together(*tasks: Callable[[], Any]) -> list[Any]:
    """What each returns, run in threads that start at one moment."""
    start, results, errors = threading.Barrier(len(tasks)), [None] * len(tasks), []

    def run(k: int) -> None:
        try:
            start.wait(10)
            results[k] = tasks[k]()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if errors:
        raise errors[0]
    return results


def model(seed: int = 0, prefix: str = "net") -> tuple[Any, Any, Any]:
    """A program that trains, with its startup program and loss."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), unique_name.guard(f"{prefix}/"):
        x = static.data("x", [None, 4])
        rng = np.random.default_rng(seed)
        h = x
        for k, (rows, columns) in enumerate([(4, 16), (16, 16), (16, 1)]):
            value = rng.standard_normal((rows, columns)).astype("float32")
            attr = paddle.ParamAttr(
                name=f"{prefix}_w{k}", initializer=paddle.nn.initializer.Assign(value)
            )
            w = static.create_parameter([rows, columns], "float32", attr=attr)
            h = paddle.tanh(h @ w)
        loss = paddle.mean(h * h)
        paddle.optimizer.Adam(0.01).minimize(loss)
    return main, startup, loss


def batches(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((3 + k % 4, 4)).astype("float32") for k in range(25)]


def train(exe: Any, parts: Any, seed: int) -> bytes:
    main, startup, loss = parts
    scope = static.Scope()
    exe.run(startup, scope=scope)
    losses = [exe.run(main, {"x": b}, [loss], scope=scope)[0] for b in batches(seed)]
    names = sorted(scope.local_var_names())
    return b"".join([*map(bytes, losses), *(bytes(scope.find_var(n).value) for n in names)])


@pytest.mark.parametrize("executors", ["one", "each its own"])
def test_threads_with_their_own_scopes_get_the_bits_of_running_alone(executors: str) -> None:
    parts = model()
    alone = [train(static.Executor(), parts, seed) for seed in range(4)]
    shared = static.Executor()
    exes = [shared if executors == "one" else static.Executor() for _ in range(4)]
    fresh = model()
    found = together(*(lambda k=k: train(exes[k], fresh, k) for k in range(4)))
    assert found == alone


def test_threads_with_programs_of_their_own_share_a_scope() -> None:
    scope = static.global_scope()

    def steps(exe: Any, parts: Any, seed: int, prefix: str) -> bytes:
        main, _, loss = parts
        for batch in batches(seed):
            exe.run(main, {"x": batch}, [loss], scope=scope)
        return b"".join(bytes(scope.find_var(f"{prefix}_w{k}").value) for k in range(3))

    def run(threaded: bool) -> list[bytes]:
        exe, everything = static.Executor(), []
        for k, prefix in enumerate(["one", "two", "three"]):
            parts = model(k, prefix)
            exe.run(parts[1])
            everything.append(lambda p=parts, s=k, n=prefix: steps(exe, p, s, n))
        return together(*everything) if threaded else [task() for task in everything]

    assert run(threaded=True) == run(threaded=False)


def test_no_update_of_a_variable_that_threads_share_is_lost() -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        value = paddle.nn.initializer.Constant(0.0)
        w = static.create_parameter([1000], "float32", name="w", default_initializer=value)
        paddle.optimizer.SGD(1.0).minimize(-paddle.sum(w))
    exe, scope = static.Executor(), static.Scope()
    exe.run(startup, scope=scope)
    together(*[lambda: [exe.run(main, scope=scope) for _ in range(50)]] * 4)
    assert set(scope.find_var("w").value.tolist()) == {200.0}


def test_a_run_sees_what_another_has_left_as_a_whole() -> None:
    """Two variables that every update keeps equal are equal in every run beside it."""
    main, startup, reader = static.Program(), static.Program(), static.Program()
    zeros = paddle.nn.initializer.Constant(0.0)
    with static.program_guard(main, startup):
        a, b = (
            static.create_parameter([64], "float32", name=n, default_initializer=zeros)
            for n in "ab"
        )
        paddle.optimizer.SGD(1.0).minimize(-paddle.sum(a + b))
    with static.program_guard(reader, static.Program()):
        a, b = (
            static.create_parameter([64], "float32", name=n, default_initializer=zeros)
            for n in "ab"
        )
        gap = paddle.max(paddle.abs(a - b))
    exe, other, scope = static.Executor(), static.Executor(), static.Scope()
    exe.run(startup, scope=scope)
    _, gaps = together(
        lambda: [exe.run(main, scope=scope) for _ in range(200)],
        lambda: [float(other.run(reader, None, [gap], scope=scope)[0]) for _ in range(200)],
    )
    assert set(gaps) == {0.0}


def test_runs_of_a_seeded_program_each_draw_a_stretch_of_its_stream() -> None:
    def draws(threads: int) -> list[bytes]:
        main = static.Program()
        with static.program_guard(main):
            main.random_seed = 7
            # Two draws a run: interleaved runs would mix theirs.
            pair = paddle.concat([paddle.rand([500]), paddle.rand([500])])
        exe = static.Executor()
        runs = 40 // threads

        def take() -> list[bytes]:
            return [exe.run(main, fetch_list=[pair])[0].tobytes() for _ in range(runs)]

        return sorted(draw for found in together(*[take] * threads) for draw in found)

    assert draws(4) == draws(1)


def test_a_program_that_another_thread_changes_runs_as_it_was_or_as_it_is() -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [2])
        x.stop_gradient = False
        y = x * 3.0
    exe, done = static.Executor(), threading.Event()

    def build() -> None:
        paddle.enable_static()
        with static.program_guard(main):
            z = y
            for _ in range(10):
                z = paddle.tanh(z)
                static.gradients(static.gradients(z, x), x)
        done.set()

    def run() -> set[Any]:
        seen = set()
        while not done.is_set():
            (value,) = exe.run(main, {"x": np.ones(2, "float32")}, [y])
            seen.add(tuple(value.tolist()))
        return seen

    _, first, second = together(build, run, run)
    assert first | second <= {(3.0, 3.0)}


def test_an_executor_that_is_closed_beside_runs() -> None:
    main, startup, loss = model()
    exe, scope = static.Executor(), static.Scope()
    exe.run(startup, scope=scope)

    ran = threading.Semaphore(0)

    def run() -> None:
        def steps() -> None:
            while True:
                exe.run(main, {"x": np.ones((2, 4), "float32")}, [loss], scope=scope)
                ran.release()

        with pytest.raises(ExecutionError, match="Attempted to use a closed Executor"):
            steps()

    def close() -> None:
        for _ in range(10):
            assert ran.acquire(timeout=30)
        exe.close()

    together(run, run, close)
    assert exe not in main.compiled


def test_an_executor_closes_at_the_end_of_its_block() -> None:
    with static.Executor() as exe:
        assert exe.run(static.Program()) == []
    with pytest.raises(ExecutionError, match="Attempted to use a closed Executor"):
        exe.run(static.Program())


# --- what is kept


def test_few_plans_are_kept_and_those_used_last() -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [2])
        values = [x * float(k) for k in range(100)]
    exe, feed = static.Executor(), {"x": np.ones(2, "float32")}
    exe.run(main, feed, [values[0]])
    (first,) = main.compiled[exe].values()
    for value in values:
        exe.run(main, feed, [value])
        exe.run(main, feed, [values[0]])
    kept = list(main.compiled[exe].values())
    assert len(kept) < 50
    assert first in kept
    dropped = weakref.ref(kept[0].compiled.function)
    del kept, first
    for value in values:
        exe.run(main, feed, [value, x])
    gc.collect()
    assert dropped() is None


def test_one_plan_serves_all_sizes() -> None:
    main, startup, loss = model()
    exe = static.Executor()
    exe.run(startup)
    for rows in range(1, 20):
        exe.run(main, {"x": np.ones((rows, 4), "float32")}, [loss])
    assert len(main.compiled[exe]) == 1


# --- failures


def test_an_interrupted_run_leaves_the_scope_as_it_was() -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        w = static.create_parameter([60, 60], "float32", name="w")
        x = w
        for _ in range(100):
            x = paddle.tanh(x @ w)
        paddle.optimizer.Momentum(0.1).minimize(paddle.mean(x))
    exe, scope = static.Executor(), static.Scope()
    exe.run(startup, scope=scope)
    before = {}

    def values() -> dict[str, Any]:
        return {n: scope.find_var(n).value for n in scope.local_var_names()}

    def runs() -> None:
        for _ in range(10_000):
            exe.run(main, scope=scope)
            before.update(values())

    exe.run(main, scope=scope)
    before.update(values())
    threading.Timer(0.2, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        runs()
    after = values()
    moved = {n for n in before if after[n] is not before[n]}
    assert moved in (set(), {n for n in before if "rate" not in n})  # none of it, or all of it
    exe.run(main, scope=scope)  # and nobody waits for the run that is gone


def test_a_run_that_ends_before_it_starts_keeps_nobody_waiting() -> None:
    main, startup, loss = model()
    exe, scope = static.Executor(), static.Scope()
    exe.run(startup, scope=scope)
    feed = {"x": np.ones((2, 4), "float32")}

    def interrupt() -> Any:
        raise KeyboardInterrupt

    rate = next(v.name for v in main.list_vars() if "learning_rate" in v.name)
    supply, main.supplies[rate] = main.supplies.get(rate), interrupt
    before = {n: scope.find_var(n).value for n in scope.local_var_names()}
    with pytest.raises(KeyboardInterrupt):
        exe.run(main, feed, [loss], scope=scope)
    assert all(scope.find_var(n).value is before[n] for n in before)
    main.supplies[rate] = supply or (lambda: None)
    together(lambda: exe.run(main, feed, [loss], scope=scope))
    assert any(scope.find_var(n).value is not before[n] for n in before)


def test_shapes_of_the_operands_are_in_the_error() -> None:
    x, y = static.data("left", [None, 3]), static.data("right", [None, 3])
    z = paddle.tanh(x) * y
    feed = {"left": np.ones((2, 3), "float32"), "right": np.ones((5, 3), "float32")}
    with pytest.raises(
        ExecutionError,
        match=r"multiply of test_executor_threads\.py:\d+ \(z = .*failed on "
        r"\S+: float32\[2, 3\], right: float32\[5, 3\]: ",
    ):
        static.Executor().run(feed=feed, fetch_list=[z])


def test_an_operation_inside_a_branch_is_named_with_its_line() -> None:
    x, y = static.data("left", [None]), static.data("right", [None])
    z = static.nn.cond(
        paddle.sum(x) > 0,
        lambda: x * y,  # the line
        lambda: x,
    )
    feed = {"left": np.ones(2, "float32"), "right": np.ones(5, "float32")}
    with pytest.raises(
        ExecutionError,
        match=r"multiply of .* \(lambda: x \* y, .*left: float32\[2\], right: float32\[5\]",
    ):
        static.Executor().run(feed=feed, fetch_list=[z])


# --- scopes below scopes


def test_a_scope_below_finds_what_is_above_and_writes_there() -> None:
    main, startup, loss = model()
    exe, top = static.Executor(), static.Scope()
    below = top.new_scope()
    exe.run(startup, scope=below)
    assert below.local_var_names() == []
    before = top.find_var("net_w0").value.tobytes()
    exe.run(main, {"x": np.ones((2, 4), "float32")}, [loss], scope=below)
    assert top.find_var("net_w0").value.tobytes() != before
    assert below.find_var("net_w0").value is top.find_var("net_w0").value


def test_a_variable_of_the_scope_below_hides_that_above() -> None:
    top = static.Scope()
    below = top.new_scope()
    top.var("w").get_tensor().set(np.zeros(2, "float32"))
    below.var("w").get_tensor().set(np.ones(2, "float32"))
    with static.program_guard(static.Program(), static.Program()):
        w = static.create_parameter([2], "float32", name="w")
        paddle.optimizer.SGD(1.0).minimize(paddle.sum(w), static.Program())
        rate = next(v for v in w.block.vars.values() if "rate" in v.name)
        top.var(rate.name).get_tensor().set(np.float32(1.0))
        static.Executor().run(w.block.program, scope=below)
    assert below.find_var("w").value.tolist() == [0.0, 0.0]
    assert top.find_var("w").value.tolist() == [0.0, 0.0]
    below.erase(["w", "nothing"])
    assert below.find_var("w").value is top.find_var("w").value


def test_kids() -> None:
    top = static.Scope()
    kids = [top.new_scope(), top.new_scope()]
    assert top.kids() == kids
    kids[0].var("x")
    assert (kids[0].size(), top.size(), top.find_var("x")) == (1, 0, None)
    known = weakref.ref(kids[0])
    top.drop_kids()
    del kids
    gc.collect()
    assert top.kids() == []
    assert known() is None


def test_scopes_refuse_what_they_do_not_take() -> None:
    scope = static.Scope()
    with pytest.raises(TypeError, match="name must be a str, got int"):
        scope.var(3)
    with pytest.raises(TypeError, match=r"names must be a list of them; write \['w'\]"):
        scope.erase("w")
    with pytest.raises(ArgumentError, match=r"w has no value yet.*\.set\(array\)"):
        np.asarray(scope.var("w").get_tensor())
    with pytest.raises(ArgumentError, match="w takes an array of numbers"):
        scope.var("w").get_tensor().set(["a"])
    assert scope.var("w").get_tensor().shape() == []
