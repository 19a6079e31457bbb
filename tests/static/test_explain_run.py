"""`Executor.explain`: which backend runs a program, and why."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import FeedError
from autograd_engine.static.executor import backend_choice as backends
from tests.static.node_backend import NodeProgram, Trouble

pytestmark = pytest.mark.usefixtures("static_mode")

static = paddle.static
FEED = {"x": np.ones((2, 3), "float32")}


@pytest.fixture
def trouble(monkeypatch: Any) -> dict[str, Trouble]:
    told = {"native": Trouble(), "numpy": Trouble()}

    def compiler(self: backends.Backend) -> Callable[..., Any]:
        return lambda graph, name: NodeProgram(graph, name, self.name, told[self.name])

    monkeypatch.setattr(backends.Backend, "load", compiler)
    return told


def program() -> tuple[Any, Any]:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [None, 3])
        y = paddle.tanh(x)
        z = paddle.tanh(y) + y
    return main, z


def test_what_runs_and_where(trouble: Any) -> None:
    main, z = program()
    report = static.Executor(backend="native").explain(main, FEED, [z])
    assert (report.backend, report.asked, report.reasons) == ("native", "native", ())
    assert report.feeds == {"x": "float32[2, 3]"}
    assert [p.operation for p in report.placements] == ["tanh", "tanh", "add"]
    assert all(p.line.startswith("test_explain_run.py:") for p in report.placements)
    assert report.facts["nodes"] == 3
    assert "tanh" in report.source
    text = str(report)
    assert "runs by: native code, for x: float32[2, 3]" in text
    assert "test_explain_run.py:" in text
    assert repr(report) == text
    assert "<table" in report._repr_html_()


def test_why_a_backend_does_not_run_it(trouble: Any) -> None:
    class NativeUnavailable(Exception):
        pass

    trouble["native"].refuse = NativeUnavailable("no C compiler on PATH")
    main, z = program()
    report = static.Executor(backend="native").explain(main, FEED, [z])
    assert report.backend == "numpy"
    assert report.reasons == ("native: no C compiler on PATH",)
    assert "because: native: no C compiler on PATH" in str(report)
    trouble["numpy"].refuse = ValueError("a flaw")
    report = static.Executor(backend="native").explain(main, FEED, [z])
    assert report.backend == "python"
    assert report.reasons[1] == "numpy: ValueError: a flaw"
    assert [p.where for p in report.placements] == ["Python"] * 3
    assert "def program(" in report.source


def test_nothing_is_run_and_no_scope_is_read(trouble: Any) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3])
        w = static.create_parameter([3], "float32", name="w")
        loss = paddle.mean(x * w)
        paddle.optimizer.SGD(0.1).minimize(loss)
    report = static.Executor().explain(main, FEED, [loss])
    assert report.facts["updated in place"] == 1
    assert (trouble["numpy"].compiled[0].calls, trouble["numpy"].compiled[0].bound_runs) == (0, 0)
    assert static.global_scope().find_var("w") is None


@pytest.mark.parametrize("kind", ["effect", "loop", "values", "nothing"])
def test_what_no_backend_runs(kind: str, trouble: Any) -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [None, 3])
        if kind == "effect":
            y = static.Print(x)
        elif kind == "loop":
            (y,) = static.nn.while_loop(lambda v: paddle.sum(v) < 10, lambda v: [v + 1.0], [x])
        elif kind == "values":
            y = paddle.nonzero(x)
        else:
            y = x
    exe = static.Executor()
    report = exe.explain(main, FEED, [y])
    assert report.backend == "python"
    said = {
        "effect": "print at test_explain_run.py:",
        "loop": "control flow",
        "values": "depend on values",
        "nothing": "it computes nothing",
    }[kind]
    assert said in " ".join(report.reasons)
    for _ in range(4):  # it runs all the same
        assert len(exe.run(main, FEED, [y])[0])


def test_what_is_fed_is_checked(trouble: Any) -> None:
    main, z = program()
    with pytest.raises(FeedError, match="feed 'x' is missing"):
        static.Executor().explain(main, {}, [z])
    with pytest.raises(TypeError, match="explain: program must be a Program"):
        static.Executor().explain(3)
