"""`Executor.profile`: times and bytes of operations, as a table and as a trace file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, ExecutionError, FeedError
from autograd_engine.static.executor import backend_choice as backends
from tests.static.node_backend import NodeProgram, Trouble

pytestmark = pytest.mark.usefixtures("static_mode")

static = paddle.static
FEED = {"x": np.ones((64, 100), "float32")}


@pytest.fixture(autouse=True)
def one_backend(monkeypatch: Any) -> Trouble:
    told = Trouble()

    def compiler(self: backends.Backend) -> Callable[..., Any]:
        return lambda graph, name: NodeProgram(graph, name, self.name, told)

    monkeypatch.setattr(backends.Backend, "load", compiler)
    return told


def training() -> tuple[Any, Any, Any]:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 100])
        w = static.create_parameter([100, 50], "float32", name="w")
        loss = paddle.mean(paddle.tanh(x @ w))
        paddle.optimizer.Momentum(0.1).minimize(loss)
    scope = static.Scope()
    static.Executor().run(startup, scope=scope)
    return main, loss, scope


def test_each_operator_has_a_time_and_bytes() -> None:
    main, loss, scope = training()
    found = static.Executor().profile(main, FEED, [loss], scope=scope, repeat=3)
    assert [o.type for o in found.operators] == [o.type for o in main.global_block().ops]
    by_type = {o.type: o for o in found.operators}
    product = by_type["matmul"]
    assert product.read == 4 * (64 * 100 + 100 * 50)
    assert product.written == 4 * 64 * 50
    assert product.shapes == "float32[64, 50]"
    assert by_type["tanh_grad"].read == 2 * 4 * 64 * 50  # its result, and the cotangent
    assert by_type["mean_grad"].read <= 8  # it asks only for the shape of its operand
    assert by_type["momentum"].written == 2 * 4 * 100 * 50
    assert all(o.seconds > 0 for o in found.operators)
    assert found.seconds >= 0.5 * sum(o.seconds for o in found.operators)
    assert all(o.line.startswith("test_profile.py:") for o in found.operators)
    assert found.repeat == 3


def test_the_slowest_is_the_first_of_the_table() -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [None, 100])
        small = x[0] * 2.0
        large = paddle.tanh(paddle.expand(x.unsqueeze(0), [50, 64, 100]))
    found = static.Executor().profile(main, FEED, [small, large])
    assert found.sorted()[0].seconds == max(o.seconds for o in found.operators)
    text = str(found)
    lines = text.splitlines()
    assert "median of 10" in lines[0]
    assert found.sorted()[0].type in lines[2]
    assert "GB/s" in text
    assert "test_profile.py:" in text
    assert repr(found) == text
    assert "<table" in found._repr_html_()


def test_nothing_is_another_one_afterwards() -> None:
    main, loss, scope = training()
    with static.program_guard(main, static.Program()):
        noise = paddle.rand([3])
    before = {n: scope.find_var(n).value for n in scope.local_var_names()}
    copies = {n: v.copy() for n, v in before.items()}
    paddle.seed(5)
    exe = static.Executor()
    exe.profile(main, FEED, [loss, noise], scope=scope)
    for n, value in before.items():
        assert scope.find_var(n).value is value
        assert value.tobytes() == copies[n].tobytes()
    drawn = exe.run(main, FEED, [noise], scope=scope)[0].tolist()
    paddle.seed(5)
    assert paddle.static.Executor().run(main, FEED, [noise], scope=scope)[0].tolist() == drawn


def test_an_effect_is_not_had(capsys: Any) -> None:
    with static.program_guard(static.Program()):
        y = static.Print(static.data("x", [None, 100]), message="printed") * 2.0
        found = static.Executor().profile(y.block.program, FEED, [y])
    assert "printed" not in capsys.readouterr().out
    assert [o.type for o in found.operators][-1] == "multiply"


def test_a_loop_is_one_operator() -> None:
    with static.program_guard(static.Program()):
        x = static.data("x", [None, 100])
        (y,) = static.nn.while_loop(
            lambda v: paddle.sum(v) < 10_000, lambda v: [paddle.tanh(v) + v], [x]
        )
        z = y * 2.0
        found = static.Executor().profile(y.block.program, FEED, [z], repeat=2)
    assert [o.type for o in found.operators] == ["while", "multiply"]
    assert found.operators[0].seconds > found.operators[1].seconds
    assert found.backend == "python"


def test_a_long_program() -> None:
    with static.program_guard(static.Program()):
        x = static.data("x", [None, 100])
        y = x
        for _ in range(2500):
            y = y * 1.0
        found = static.Executor().profile(y.block.program, FEED, [y], repeat=1)
    assert len(found.operators) == 2500


def test_a_trace_file(tmp_path: Path) -> None:
    main, loss, scope = training()
    found = static.Executor(backend="native").profile(main, FEED, [loss], scope=scope)
    path = tmp_path / "trace.json"
    path.write_text("old")
    found.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json"]
    trace = json.loads(path.read_text())
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    mine = [e for e in events if e["tid"] == 0]
    assert [e["name"] for e in mine] == [o.type for o in found.operators]
    ends = 0.0
    for e in mine:
        assert e["ts"] >= ends
        ends = e["ts"] + e["dur"]
        assert e["args"]["line"].startswith("test_profile.py:")
    assert mine[0]["args"]["results"] == "float32[64, 50]"
    assert "tanh(x @ w)" in mine[0]["args"]["text"]
    (segment,) = [e for e in events if e["tid"] == 1]
    assert (segment["name"], segment["dur"]) == ("all of it", 1000.0)
    assert {e["ph"] for e in trace["traceEvents"]} == {"X", "M"}
    assert "all of it" in str(found)
    assert found.backend_seconds is not None


def test_a_failing_program_says_what_a_run_says() -> None:
    with static.program_guard(static.Program()):
        x, y = static.data("x", [None]), static.data("y", [None])
        z = x * y
    feed = {"x": np.ones(2, "float32"), "y": np.ones(3, "float32")}
    said = []
    for call in (static.Executor().run, static.Executor().profile):
        with pytest.raises(ExecutionError) as error:
            call(z.block.program, feed, [z])
        said.append(str(error.value).partition(" on ")[0])
    assert said[0] == said[1]


def test_arguments_are_checked() -> None:
    main, loss, scope = training()
    exe = static.Executor()
    for bad in (0, -1, True, 2.0):
        with pytest.raises(ArgumentError, match="repeat must be a positive int"):
            exe.profile(main, FEED, [loss], scope=scope, repeat=bad)
    with pytest.raises(FeedError, match="feed 'x' is missing"):
        exe.profile(main, {}, [loss], scope=scope)
    with pytest.raises(ExecutionError, match="run the startup program first"):
        exe.profile(main, FEED, [loss], scope=static.Scope())
