"""`Executor.prepare`, and what `run` does from its third time on: steps that update in place.

The backend of these tests is `node_backend`: kernels one after the other, with what may go wrong.
"""

import _thread
import gc
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ExecutionError, FeedError
from autograd_engine.static.executor import backend_choice as backends
from tests.static.node_backend import NodeProgram, NodeRun, Trouble

pytestmark = pytest.mark.usefixtures("static_mode", "third_runs")

static = paddle.static
ROWS = np.random.default_rng(0).standard_normal((64, 4)).astype("float32")


@pytest.fixture
def third_runs() -> Iterator[None]:
    """Compile at the third run, what trains as well: an executor runs it by Python until then."""
    paddle.set_flags({"FLAGS_runs_before_compiling": 2})
    yield
    paddle.set_flags({"FLAGS_runs_before_compiling": None})


@pytest.fixture
def trouble(monkeypatch: Any) -> Trouble:
    """The backend of this file in the place of both."""
    told = Trouble()

    def compiler(self: backends.Backend) -> Callable[..., Any]:
        return lambda graph, name: NodeProgram(graph, name, self.name, told)

    monkeypatch.setattr(backends.Backend, "load", compiler)
    return told


class Model:
    """Linear regression with momentum, in a scope of its own."""

    def __init__(self, optimizer: Any = None, backend: str = "numpy") -> None:
        self.main, self.startup = static.Program(), static.Program()
        with static.program_guard(self.main, self.startup), paddle.unique_name.guard():
            x, y = static.data("x", [None, 3]), static.data("y", [None, 1])
            w = static.create_parameter([3, 1], "float32", name="w")
            b = static.create_parameter([1], "float32", name="b", is_bias=True)
            self.loss = paddle.mean(paddle.square(paddle.log1p(paddle.exp(x @ w + b)) - y))
            (optimizer or paddle.optimizer.Momentum(0.1)).minimize(self.loss)
        self.exe, self.scope = static.Executor(backend=backend), static.Scope()
        self.exe.run(self.startup, scope=self.scope)
        value = np.float32([[0.5], [-0.25], [1.0]])
        self.scope.find_var("w").get_tensor().set(value)

    def run(self, x: Any, y: Any) -> float:
        (loss,) = self.exe.run(self.main, {"x": x, "y": y}, [self.loss], scope=self.scope)
        return float(loss)

    def prepare(self, names: Any = ("x", "y"), fetches: Any = None) -> Any:
        return self.exe.prepare(self.main, list(names), fetches or [self.loss], scope=self.scope)

    def values(self) -> dict[str, bytes]:
        names = self.scope.local_var_names()
        return {n: self.scope.find_var(n).value.tobytes() for n in names}


def data(rows: int = 8, start: int = 0) -> tuple[Any, Any]:
    part = ROWS[start : start + rows]
    return np.ascontiguousarray(part[:, :3]), np.ascontiguousarray(part[:, 3:])


def reference(steps: int, feeds: Callable[[int], Any], change: Any = None) -> tuple[Any, Any]:
    """Losses and variables of as many steps of the straight-line function."""
    model = Model()
    model.exe = static.Executor(backend="numpy")
    losses = []
    for k in range(steps):
        if change is not None:
            change(model, k)
        losses.append(Model.run(fresh(model), *feeds(k)))
    return losses, model.values()


def fresh(model: Model) -> Model:
    """An executor that has never run the program: it takes the straight-line function."""
    model.exe = static.Executor(backend="numpy")
    return model


# --- the same as run


def test_a_step_does_what_run_does(trouble: Trouble) -> None:
    x, y = data()
    expected = reference(6, lambda k: (x, y))
    model = Model()
    step = model.prepare()
    assert [float(step(x, y)[0]) for _ in range(6)] == expected[0]
    assert model.values() == expected[1]
    (compiled,) = trouble.compiled
    assert (compiled.bound_runs, compiled.calls) == (6, 0)
    assert len(compiled.updates) == 4  # two parameters and their velocities


def test_run_is_compiled_when_it_comes_for_the_third_time(trouble: Trouble) -> None:
    x, y = data()
    expected = reference(8, lambda k: (x, y))
    model = Model()
    losses = []
    for k in range(8):
        assert len(trouble.compiled) == (k > 2)
        losses.append(model.run(x, y))
    assert (losses, model.values()) == expected
    assert trouble.compiled[0].bound_runs == 6


def test_what_trains_is_compiled_before_its_first_run(trouble: Trouble) -> None:
    expected = reference(4, lambda k: data(8 - k // 3))
    paddle.set_flags({"FLAGS_runs_before_compiling": None})
    model = Model()
    losses = [model.run(*data(8 - k // 3)) for k in range(4)]
    assert (losses, model.values()) == expected
    (compiled,) = trouble.compiled  # the batch of seven waits for its third run
    assert compiled.bound_runs + compiled.calls == 3


@pytest.mark.parametrize("form", ["others", "dict", "lists", "tensors", "not contiguous", "sizes"])
def test_other_feeds(trouble: Trouble, form: str) -> None:
    def feeds(k: int) -> tuple[Any, Any]:
        return data(8 if form != "sizes" else 5 + k % 2, start=k)

    expected = reference(8, feeds)
    model = Model()
    step, losses = model.prepare(), []
    for k in range(8):
        x, y = feeds(k)
        given = {
            "dict": ({"y": y, "x": x},),
            "lists": (x.tolist(), y.tolist()),
            "tensors": (Tensor(x), Tensor(y)),
            "not contiguous": (np.asfortranarray(x), y),
        }.get(form, (x, y))
        losses.append(float(step(*given)[0]))
    np.testing.assert_allclose(losses, expected[0], rtol=1e-6)
    if form != "not contiguous":
        assert (losses, model.values()) == expected
        assert sum(c.bound_runs for c in trouble.compiled) == 8


def test_an_array_that_is_written_over_between_steps_is_read_again(trouble: Trouble) -> None:
    expected = reference(6, lambda k: data(start=k))
    model = Model()
    step, losses = model.prepare(), []
    x, y = map(np.copy, data())
    for k in range(6):
        x[...], y[...] = data(start=k)
        losses.append(float(step(x, y)[0]))
    assert (losses, model.values()) == expected


def test_an_array_of_another_layout_that_is_written_over_is_read_again(trouble: Trouble) -> None:
    model = Model(backend="native")
    step = model.prepare()
    x, y = data()
    x = np.asfortranarray(x)
    first = [float(step(x, y)[0]) for _ in range(2)]
    x[...] = 0.0
    model.scope.find_var("w").get_tensor().set(np.zeros((3, 1)))
    other = Model()
    other.scope.find_var("w").get_tensor().set(np.zeros((3, 1)))
    for name in ("b", *(n for n in model.scope.local_var_names() if "velocity" in n)):
        value = np.asarray(model.scope.find_var(name).value)
        other.scope.find_var(name).get_tensor().set(value)
    assert float(step(x, y)[0]) == pytest.approx(other.run(x, y), rel=1e-6)
    assert first[0] != first[1]


def test_the_shape_of_a_fed_array_may_be_changed(trouble: Trouble) -> None:
    model = Model()
    step = model.prepare()
    x, y = map(np.copy, data(9))
    for _ in range(3):
        step(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        x.shape = (27,)
    with pytest.raises(FeedError, match="must have 2 dimensions"):
        step(x, y)


def test_fetched_arrays_are_the_callers_own(trouble: Trouble) -> None:
    model = Model()
    step = model.prepare(fetches=[model.loss, "w", "x"])
    x, y = data()
    kept = [step(x, y) for _ in range(4)]
    copies = [[a.copy() for a in fetched] for fetched in kept]
    step(x, y)
    for fetched, before in zip(kept, copies, strict=True):
        for a, b in zip(fetched, before, strict=True):
            assert a.tobytes() == b.tobytes()
            a[...] = 7.0
    assert x[0, 0] != 7.0
    assert model.scope.find_var("w").value[0, 0] != 7.0
    assert kept[0][1] is not kept[1][1]


def test_a_program_without_state(trouble: Trouble) -> None:
    with static.program_guard(static.Program()):
        x = static.data("x", [None])
        y = x * x
        step = static.Executor().prepare(x.block.program, [x], y)
    a = np.float32([1.0, 2.0])
    assert [step(a)[0].tolist() for _ in range(3)] == [[1.0, 4.0]] * 3
    a[0] = 3.0
    assert step(a)[0].tolist() == [9.0, 4.0]


def test_a_program_may_grow_between_steps(trouble: Trouble) -> None:
    model = Model()
    step = model.prepare()
    x, y = data()
    for _ in range(3):
        step(x, y)
    before = model.scope.find_var("w").value.copy()
    with static.program_guard(model.main, static.Program()):
        w = model.main.global_block().var("w")
        paddle.assign(w * 0.0, w)
    step(x, y)
    assert model.scope.find_var("w").value.tolist() == [[0.0]] * 3
    assert before.any()


# --- the scope between steps


def test_the_scope_has_what_the_last_step_left(trouble: Trouble) -> None:
    x, y = data()
    model, other = Model(), Model()
    step = model.prepare()
    for _ in range(5):
        step(x, y)
        fresh(other).run(x, y)
        assert model.values() == other.values()


def test_what_was_read_stays_as_it_was(trouble: Trouble) -> None:
    x, y = data()
    model = Model()
    step = model.prepare()
    step(x, y)
    array = model.scope.find_var("w").value
    assert model.scope.find_var("w").value is array  # until the next step
    before = array.copy()
    step(x, y)
    assert array.tobytes() == before.tobytes()
    assert model.scope.find_var("w").value.tobytes() != before.tobytes()


@pytest.mark.parametrize("how", ["set", "value", "in place", "erase", "state dict", "program"])
def test_what_is_written_to_the_scope_is_seen_by_the_next_step(trouble: Trouble, how: str) -> None:
    x, y = data()
    new = np.float32([[1.0], [2.0], [3.0]])

    def change(model: Model, k: int) -> None:
        if k not in (2, 4):
            return
        found = model.scope.find_var("w")
        if how == "set":
            found.get_tensor().set(new * k)
        elif how == "value":
            found.value = new * k
        elif how == "in place":
            found.value[...] = new * k
        elif how == "erase":
            model.scope.erase(["w"])
            model.scope.var("w").get_tensor().set(new * k)
        elif how == "state dict":
            model.main.set_state_dict({"w": new * k}, model.scope)
        else:
            with static.program_guard(static.Program(), static.Program()):
                w = static.create_parameter([3, 1], "float32", name="w")
                paddle.assign(paddle.full([3, 1], float(k)), w)
                static.Executor().run(w.block.program, scope=model.scope)

    expected = reference(6, lambda k: (x, y), change)
    model = Model()
    step, losses = model.prepare(), []
    for k in range(6):
        change(model, k)
        losses.append(float(step(x, y)[0]))
    assert losses == expected[0]
    assert model.values() == expected[1]


def test_a_variable_that_is_gone_is_missed(trouble: Trouble) -> None:
    model = Model()
    step = model.prepare()
    x, y = data()
    for _ in range(3):
        step(x, y)
    model.scope.erase(["w"])
    with pytest.raises(ExecutionError, match="'w' has no value in the scope"):
        step(x, y)


def test_a_variable_of_the_scope_below_hides_that_above_from_the_next_step(
    trouble: Trouble,
) -> None:
    model = Model()
    below = model.scope.new_scope()
    step = model.exe.prepare(model.main, ["x", "y"], [model.loss], scope=below)
    x, y = data()
    losses = [float(step(x, y)[0]) for _ in range(3)]
    above = model.scope.find_var("w").value.copy()
    below.var("w").get_tensor().set(np.zeros((3, 1), "float32"))
    assert float(step(x, y)[0]) not in losses
    assert model.scope.find_var("w").value.tobytes() == above.tobytes()
    assert below.find_var("w").value.any()


def test_two_programs_take_turns_on_one_scope(trouble: Trouble) -> None:
    x, y = data()

    def pair() -> tuple[Model, Any, Any]:
        model = Model()
        with static.program_guard(static.Program(), static.Program()):
            w = static.create_parameter([3, 1], "float32", name="w")
            halved = paddle.assign(w * 0.5, w)
        return model, w.block.program, halved

    model, halve, w = pair()
    expected = []
    for _ in range(6):
        expected.append(fresh(model).run(x, y))
        static.Executor().run(halve, scope=model.scope)
    values = model.values()

    model, halve, w = pair()
    step, other = model.prepare(), model.exe.prepare(halve, [], [w], scope=model.scope)
    losses = []
    for _ in range(6):
        losses.append(float(step(x, y)[0]))
        other()
    assert (losses, model.values()) == (expected, values)


def test_a_program_that_reads_what_a_step_updates(trouble: Trouble) -> None:
    x, y = data()
    model = Model()
    test = model.main.clone(for_test=True)
    step = model.prepare()
    look = model.exe.prepare(test, ["x", "y"], [model.loss.name], scope=model.scope)
    for _ in range(5):
        seen = float(look(x, y)[0])
        assert float(look(x, y)[0]) == seen
        assert float(step(x, y)[0]) == seen


def test_a_learning_rate_is_asked_for_once_at_each_step(trouble: Trouble) -> None:
    x, y = data()
    asked = []

    def train(prepared: bool) -> tuple[Any, Any]:
        schedule = paddle.optimizer.lr.StepDecay(0.1, step_size=2, gamma=0.5)
        model = Model(paddle.optimizer.SGD(schedule))
        (name,) = model.main.supplies
        supply = model.main.supplies[name]

        def counted() -> Any:
            asked.append(1)
            return supply()

        model.main.supplies[name] = counted
        step, losses = model.prepare(), []
        for _ in range(7):
            got = step(x, y)[0] if prepared else fresh(model).run(x, y)
            losses.append(float(got))
            assert float(model.scope.find_var(name).value) == np.float32(schedule())
            schedule.step()
        return losses, model.values()

    assert train(True) == train(False)
    assert len(asked) == 14


def test_a_parameter_that_is_fed_keeps_the_value(trouble: Trouble) -> None:
    model = Model()
    step = model.prepare(["x", "y", "w"])
    x, y = data()
    given = np.zeros((3, 1), "float32")
    losses = {float(step(x, y, given)[0]) for _ in range(2)}
    assert len(losses) == 2  # the bias moves
    given[...] = 1.0
    step(x, y, given)
    w = model.scope.find_var("w").value
    assert given.tolist() == [[1.0]] * 3
    assert w.tobytes() != given.tobytes()


def test_random_numbers_are_drawn_at_each_step(trouble: Trouble) -> None:
    def losses(prepared: bool) -> list[bytes]:
        paddle.seed(3)
        with static.program_guard(static.Program()):
            x = static.data("x", [4])
            y = x + paddle.rand([4])
            program = x.block.program
        if prepared:
            program.random_seed = 0
        step = static.Executor().prepare(program, ["x"], [y])
        a = np.zeros(4, "float32")
        if prepared:
            return [step(a)[0].tobytes() for _ in range(3)]
        run = [static.Executor().run(program, {"x": a}, [y])[0] for _ in range(3)]
        return [r.tobytes() for r in run]

    found = losses(True)
    assert found == losses(False)
    assert len(set(found)) == 3


# --- what goes wrong


def test_what_a_step_is_fed_is_checked_when_it_is_prepared(trouble: Trouble) -> None:
    model = Model()
    with pytest.raises(FeedError, match="feed 'y' is missing"):
        model.prepare(["x"])
    with pytest.raises(FeedError, match=r"no variable 'z'"):
        model.prepare(["x", "y", "z"])
    with pytest.raises(FeedError, match="'x' stands twice"):
        model.prepare(["x", "y", "x"])
    with pytest.raises(TypeError, match="feed must be a list of names"):
        model.exe.prepare(model.main, "x", [model.loss])
    step = model.prepare()
    x, y = data()
    with pytest.raises(FeedError, match="takes 2 arrays, for 'x', 'y'; it was given 1"):
        step(x)
    for _ in range(2):
        step(x, y)
    with pytest.raises(FeedError, match="takes 2 arrays, for 'x', 'y'; it was given 3"):
        step(x, y, y)
    with pytest.raises(FeedError, match=r"is not fed 'xx'.*did you mean 'x'"):
        step({"xx": x, "y": y})
    with pytest.raises(FeedError, match="is fed 'y' too"):
        step({"x": x})
    with pytest.raises(FeedError, match="axis 1 must be 3"):
        step(y, y)


@pytest.mark.parametrize("prepared", [True, False])
def test_a_run_that_fails_says_what_it_says_today(prepared: bool) -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        w = static.create_parameter([4], "float32", name="w")
        x, k = static.data("x", [None, 3]), static.data("k", [None, 1], "int64")
        loss = paddle.mean(paddle.nn.functional.cross_entropy(x, k)) + paddle.sum(w)
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe, scope = static.Executor(), static.Scope()
    scope.var("w").get_tensor().set(np.ones(4, "float32"))
    rate = next(iter(main.supplies))
    scope.var(rate).get_tensor().set(np.float32(0.1))
    a, good, bad = np.ones((2, 3), "float32"), np.zeros((2, 1), int), np.full((2, 1), 7)
    step = exe.prepare(main, ["x", "k"], [loss], scope=scope)

    def run(k: Any) -> Any:
        return step(a, k) if prepared else exe.run(main, {"x": a, "k": k}, [loss], scope=scope)

    for _ in range(5):
        run(good)
    before = scope.find_var("w").value
    with pytest.raises(ExecutionError) as plain:
        static.Executor().run(main, {"x": a, "k": bad}, [loss], scope=scope)
    with pytest.raises(ExecutionError) as error:
        run(bad)
    assert str(error.value) == str(plain.value)
    assert "test_prepare.py" in str(error.value)
    assert scope.find_var("w").value is before
    run(good)
    assert scope.find_var("w").value.tobytes() != before.tobytes()


def test_a_backend_that_fails_without_reason_is_given_up(trouble: Trouble) -> None:
    x, y = data()
    expected = reference(6, lambda k: (x, y))
    model = Model()
    step, losses = model.prepare(), []
    for k in range(6):
        trouble.fail = RuntimeError("no reason") if k >= 3 else None
        losses.append(float(step(x, y)[0]))
    assert (losses, model.values()) == expected
    assert trouble.compiled[0].bound_runs == 5  # it was tried twice, and then no more


def test_a_backend_that_refuses_is_done_without(trouble: Trouble) -> None:
    trouble.refuse = OSError("no space left")
    x, y = data()
    expected = reference(4, lambda k: (x, y))
    model = Model()
    step = model.prepare()
    assert [float(step(x, y)[0]) for _ in range(4)] == expected[0]
    assert model.values() == expected[1]


@pytest.mark.parametrize("when", ["before_write", "in_write"])
@pytest.mark.parametrize("first", [True, False])
def test_an_interrupted_step_is_done_wholly_or_not_at_all(
    trouble: Trouble, when: str, first: bool
) -> None:
    x, y = data()
    model = Model()
    step = model.prepare()
    for _ in range(0 if first else 3):
        step(x, y)
    before = model.values()
    other = Model()
    for name, value in before.items():
        array = np.frombuffer(value, "float32").reshape(other.scope.find_var(name).value.shape)
        other.scope.find_var(name).get_tensor().set(array)
    fresh(other).run(x, y)

    def interrupt() -> None:
        raise KeyboardInterrupt

    setattr(trouble, when, interrupt)
    with pytest.raises(KeyboardInterrupt):
        step(x, y)
    setattr(trouble, when, lambda: None)
    after = model.values()
    assert after in (before, other.values())
    if when == "before_write":
        assert after == before
    step(x, y)
    assert model.values() != after


@pytest.mark.parametrize("first", [True, False])
def test_an_interrupt_waits_for_a_backend_that_cannot_be_finished(
    trouble: Trouble, monkeypatch: Any, first: bool
) -> None:
    monkeypatch.delattr(NodeRun, "finish")
    x, y = data()
    model = Model()
    step = model.prepare()
    for _ in range(0 if first else 3):
        step(x, y)
    before = model.values()
    came: list[int] = []

    def interrupt() -> None:
        _thread.interrupt_main()
        came.extend(k for k in range(1000))  # where it would be raised

    trouble.before_write = interrupt
    with pytest.raises(KeyboardInterrupt):
        step(x, y)
    assert len(came) == 1000
    trouble.before_write = lambda: None
    after = model.values()
    assert (after == before) == first  # it was not in the scope yet, or is all of it
    step(x, y)
    assert model.values() != after


def test_an_interrupt_from_outside(trouble: Trouble) -> None:
    x, y = data()
    model = Model()
    step = model.prepare()
    step(x, y)

    over = threading.Event()

    def interrupt() -> None:
        """Again and again: Python drops an interrupt that comes while it runs a finalizer."""
        while not over.wait(0.3):
            _thread.interrupt_main()

    def steps() -> None:
        try:
            while True:
                step(x, y)
        finally:
            over.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        steps()
    thread.join()
    values = model.values()
    step(x, y)
    assert model.values() != values
    together(lambda: step(x, y))  # nobody holds a lock


def test_a_closed_executor_runs_no_step(trouble: Trouble) -> None:
    model = Model()
    step = model.prepare()
    x, y = data()
    for _ in range(3):
        step(x, y)
    model.exe.close()
    for _ in range(2):
        with pytest.raises(ExecutionError, match="Attempted to use a closed Executor"):
            step(x, y)
    with pytest.raises(ExecutionError, match="Attempted to use a closed Executor"):
        model.prepare()
    assert model.scope.find_var("w").value.any()


def test_a_scope_keeps_no_program_alive(trouble: Trouble) -> None:
    model = Model()
    step = model.prepare()
    x, y = data()
    for _ in range(3):
        step(x, y)
    scope, value = model.scope, model.scope.find_var("w").value.copy()
    known = weakref.ref(model.main)
    trouble.compiled.clear()
    del model, step
    gc.collect()
    assert known() is None
    assert scope.find_var("w").value.tobytes() == value.tobytes()


# --- several threads


def together(*tasks: Callable[[], Any]) -> list[Any]:
    results: list[Any] = [None] * len(tasks)
    errors: list[BaseException] = []

    def run(k: int) -> None:
        try:
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


def counting() -> tuple[Any, Any]:
    """A program that adds one to four variables."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        for k in range(4):
            v = static.create_parameter([50], "float32", name=f"v{k}")
            paddle.assign(v + 1.0, v)
    scope = static.Scope()
    for k in range(4):
        scope.var(f"v{k}").get_tensor().set(np.zeros(50, "float32"))
    return main, scope


@pytest.mark.parametrize("kind", ["one step", "steps", "executors", "steps and runs"])
def test_no_update_is_lost(trouble: Trouble, kind: str) -> None:
    main, scope = counting()
    exe = static.Executor()
    one = exe.prepare(main, scope=scope)

    def task(k: int) -> Callable[[], None]:
        step = one
        if kind == "steps" or (kind == "steps and runs" and k % 2):
            step = exe.prepare(main, scope=scope)
        elif kind == "executors":
            step = static.Executor().prepare(main, scope=scope)

        def steps() -> None:
            for _ in range(60):
                if kind == "steps and runs" and not k % 2:
                    static.Executor().run(main, scope=scope)
                else:
                    step()

        return steps

    together(*map(task, range(4)))
    for k in range(4):
        assert scope.find_var(f"v{k}").value.tolist() == [240.0] * 50


def test_a_run_sees_what_a_step_has_left_as_a_whole(trouble: Trouble) -> None:
    main, scope = counting()
    look = static.Program()
    with static.program_guard(look, static.Program()):
        values = [static.create_parameter([50], "float32", name=f"v{k}") for k in range(4)]
        stacked = paddle.stack(values)
    step = static.Executor().prepare(main, scope=scope)
    reading = static.Executor().prepare(look, [], [stacked], scope=scope)
    done = threading.Event()

    def steps() -> None:
        for _ in range(300):
            step()
        done.set()

    def looks() -> list[float]:
        seen = []
        while not done.is_set():
            for found in (reading()[0], static.Executor().run(look, [], [stacked], scope=scope)[0]):
                assert len(set(found.reshape(-1).tolist())) == 1
                seen.append(float(found[0, 0]))
        return seen

    _, seen = together(steps, looks)
    assert seen == sorted(seen)


def test_a_variable_that_is_written_by_hand_beside_steps(trouble: Trouble) -> None:
    main, scope = counting()
    step = static.Executor().prepare(main, scope=scope)
    done = threading.Event()

    def steps() -> None:
        for _ in range(300):
            step()
        done.set()

    def hand() -> None:
        while not done.is_set():
            scope.find_var("v0").get_tensor().set(np.zeros(50, "float32"))
            value = np.asarray(scope.find_var("v0").get_tensor())
            assert len(set(value.tolist())) == 1  # no step is seen half done

    together(steps, hand)
    assert scope.find_var("v1").value.tolist() == [300.0] * 50
    value = scope.find_var("v0").value[0]
    step()
    assert scope.find_var("v0").value[0] == value + 1


def test_a_program_without_state_is_run_by_several_threads(trouble: Trouble) -> None:
    with static.program_guard(static.Program()):
        x = static.data("x", [None])
        step = static.Executor().prepare(x.block.program, ["x"], [x * 2.0])

    def task(k: int) -> Callable[[], None]:
        def calls() -> None:
            for j in range(100):
                a = np.full(30 + k % 2, k * 1000.0 + j, "float32")
                assert (step(a)[0] == a * 2).all()

        return calls

    together(*map(task, range(4)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_process_goes_on_from_where_its_parent_was(trouble: Trouble) -> None:
    main, scope = counting()
    step = static.Executor().prepare(main, scope=scope)
    stop = threading.Event()

    def steps() -> None:
        while not stop.is_set():
            step()

    thread = threading.Thread(target=steps)
    step()
    thread.start()
    try:
        for _ in range(10):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
            if pid == 0:  # no thread of the parent's is left here, nor waits
                code = 1
                try:
                    first = [scope.find_var(f"v{k}").value[0] for k in range(4)]
                    step()
                    then = [scope.find_var(f"v{k}").value[0] for k in range(4)]
                    code = 0 if len(set(first)) == 1 and then == [f + 1 for f in first] else 2
                finally:
                    os._exit(code)
            assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        stop.set()
        thread.join(30)
