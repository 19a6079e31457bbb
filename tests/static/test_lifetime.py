"""What dies when: programs, what was compiled of them, and what a call that failed had begun."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef

static = paddle.static
F = paddle.nn.functional

pytestmark = pytest.mark.usefixtures("static_mode")


def trained() -> tuple[Any, Any]:
    """A program that trains, and the loss to fetch."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 2])
        loss = paddle.mean(static.nn.fc(x, 1))
        paddle.optimizer.Adam(0.1).minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    return main, loss


def run(exe: Any, main: Any, loss: Any) -> Any:
    return exe.run(main, feed={"x": np.ones((3, 2), "float32")}, fetch_list=[loss])


def test_an_executor_keeps_no_program_alive() -> None:
    exe = static.Executor()
    main, loss = trained()
    run(exe, main, loss)
    known = weakref.ref(main)
    del main, loss
    gc.collect()
    assert known() is None


def test_an_optimizer_keeps_no_program_alive() -> None:
    optimizer = paddle.optimizer.Adam(0.1)
    main = static.Program()
    with static.program_guard(main, static.Program()):
        optimizer.minimize(paddle.mean(static.nn.fc(static.data("x", [None, 2]), 1)))
    known = weakref.ref(main)
    del main
    gc.collect()
    assert known() is None


@pytest.mark.parametrize("end", ["close", "death"])
def test_what_an_executor_compiled_goes_with_it(end: str) -> None:
    exe, other = static.Executor(), static.Executor()
    main, loss = trained()
    run(exe, main, loss)
    run(other, main, loss)
    (plan,) = main.compiled[exe].values()
    function = weakref.ref(plan.compiled.function)
    del plan
    if end == "close":
        exe.close()
    else:
        del exe
    gc.collect()
    assert function() is None
    assert list(main.compiled) == [other]


def test_what_is_out_of_date_is_dropped() -> None:
    exe = static.Executor()
    main, loss = trained()
    first = run(exe, main, loss)[0]
    for _ in range(3):
        with static.program_guard(main):
            loss = loss * 1.0
        run(exe, main, loss)
    assert len(main.compiled[exe]) == 1
    exe.run(main, feed={"x": np.ones((3, 2), "float32")})
    assert len(main.compiled[exe]) == 2
    assert np.isfinite(first)


# --- calls that fail


def state(*programs: Any) -> Any:
    return [
        (repr(p), {v.name: v.version for v in p.list_vars()}, list(p.global_block().emitted))
        for p in programs
    ]


def statistics() -> list[Any]:
    return [
        static.create_global_var([3], value, "float32", name=name)
        for name, value in (("mean", 0.0), ("var", 1.0))
    ]


def test_a_batch_norm_that_fails_leaves_its_program_as_it_was() -> None:
    main, other = static.default_main_program(), static.Program()
    x, (mean, var) = static.data("x", [None, 3]), statistics()
    with static.program_guard(other):
        weight = static.create_parameter([3], "float32", name="scale")
    before = state(main, other)
    with pytest.raises(ValueError, match="belong to different programs"):
        F.batch_norm(x, mean, var, weight, training=True)
    assert state(main, other) == before


def test_a_batch_norm_on_the_statistics_of_another_program() -> None:
    main, other = static.default_main_program(), static.Program()
    x = static.data("x", [None, 3])
    with static.program_guard(other):
        mean, var = statistics()
    before = state(main, other)
    with pytest.raises(ValueError, match="belong to different programs"):
        F.batch_norm(x, mean, var, training=True)
    assert state(main, other) == before


def test_a_batch_norm_without_running_statistics() -> None:
    x = static.data("x", [None, 3])
    out = F.batch_norm(x, None, None, training=True)
    assert [v.name for v in static.default_main_program().list_vars() if v.persistable] == []
    assert out.shape == (-1, 3)


def test_an_eager_batch_norm_that_fails_writes_no_statistics() -> None:
    weight = static.create_parameter([3], "float32")
    paddle.disable_static()
    mean, var = paddle.zeros([3]), paddle.ones([3])
    with pytest.raises(TypeError, match="eager Tensor among Variables"):
        F.batch_norm(paddle.to_tensor([[1.0, 2.0, 3.0]]), mean, var, weight, training=True)
    assert (mean.tolist(), var.tolist()) == ([0.0] * 3, [1.0] * 3)


def test_an_update_that_would_change_the_shape_of_its_parameter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Trial(paddle.optimizer.Optimizer):
        operation = "trial"

    def total(param: Any, grad: Any, rate: Any) -> Any:
        return (param - rate * grad).sum()

    row = OpDef("trial", total, inputs="param grad rate", infer=lambda p, g, r: Spec((), p.dtype))
    monkeypatch.setitem(REGISTRY, "trial", row.nondiff())
    w, startup = static.create_parameter([2], "float32", name="w"), static.default_startup_program()
    loss = paddle.sum(w * w)
    before = state(w.block.program, startup)
    with pytest.raises(ValueError, match=r"would write float32\[\] to w, which is float32\[2\]"):
        Trial(0.1).minimize(loss)
    assert state(w.block.program, startup) == before
    with pytest.raises(TypeError, match="startup_program must be a Program, got int"):
        Trial(0.1).minimize(loss, startup_program=3)


def test_a_failing_block_puts_back_versions_and_nothing_else() -> None:
    block = static.default_main_program().global_block()
    mean, var = statistics()
    mean.write()

    def inner() -> None:
        with block.restored_on_error():
            mean.write()
            var.write()
            raise ZeroDivisionError

    def outer() -> None:
        with block.restored_on_error():
            mean.write()
            with pytest.raises(ZeroDivisionError):
                inner()
            assert (mean.version, var.version) == (2, 0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        outer()
    assert (mean.version, var.version) == (1, 0)


def test_statistics_keep_their_dtype() -> None:
    """As in eager mode, what is written takes the dtype of what it is written to."""
    x, (mean, var) = static.data("x", [None, 3], "float64"), statistics()
    F.batch_norm(x, mean, var, training=True)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    values = exe.run(feed={"x": np.arange(6.0).reshape(2, 3)}, fetch_list=[mean, var])
    assert [v.dtype for v in values] == [np.float32, np.float32]
