"""`no_grad`, `enable_grad`, `set_grad_enabled`: contexts, decorators, generators."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.eager.grad_mode import grad_mode


def recorded() -> bool:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    return not (x * 2.0).stop_gradient


def test_recording_is_on_by_default() -> None:
    assert paddle.is_grad_enabled()
    assert recorded()


def test_contexts_nest() -> None:
    with paddle.no_grad():
        assert not recorded()
        with paddle.enable_grad():
            assert recorded()
            with paddle.no_grad():
                assert not recorded()
        assert not recorded()
    assert recorded()


def test_an_exception_restores() -> None:
    with pytest.raises(ZeroDivisionError), paddle.no_grad():
        raise ZeroDivisionError
    assert recorded()


def test_one_object_may_be_entered_twice() -> None:
    off = paddle.no_grad()
    with off, off:
        assert not recorded()
    assert recorded()
    with off:
        assert not recorded()
    assert recorded()


@pytest.mark.parametrize("decorate", [paddle.no_grad, paddle.no_grad()])
def test_as_a_decorator(decorate: Any) -> None:
    @decorate
    def evaluate(a: int, *, b: int = 2) -> tuple[int, bool]:
        """Doc."""
        return a + b, recorded()

    assert evaluate(1, b=3) == (4, False)
    assert (evaluate.__name__, evaluate.__doc__) == ("evaluate", "Doc.")
    assert recorded()


def test_enable_grad_as_a_decorator() -> None:
    @paddle.enable_grad()
    def train() -> bool:
        return recorded()

    with paddle.no_grad():
        assert train()


def test_a_generator_switches_only_while_it_runs() -> None:
    @paddle.no_grad()
    def steps() -> Iterator[bool]:
        for _ in range(3):
            got = yield recorded()
            assert got is None

    for inside in steps():
        assert not inside
        assert recorded()
    assert recorded()


def test_a_generator_takes_what_is_sent_and_thrown() -> None:
    @paddle.no_grad()
    def echo() -> Iterator[Any]:
        got: Any = None
        while True:
            try:
                got = yield got, recorded()
            except KeyError:
                got = "caught"

    g = echo()
    assert next(g) == (None, False)
    assert g.send(5) == (5, False)  # type: ignore[attr-defined]
    assert g.throw(KeyError()) == ("caught", False)  # type: ignore[attr-defined]
    g.close()  # type: ignore[attr-defined]
    assert recorded()


def test_set_grad_enabled_at_once_and_as_a_context() -> None:
    paddle.set_grad_enabled(False)
    assert not recorded()
    paddle.set_grad_enabled(True)
    assert recorded()
    with paddle.set_grad_enabled(False):
        assert not recorded()
    assert recorded()


def test_leaves_and_parameters_stay_open() -> None:
    with paddle.no_grad():
        assert not paddle.to_tensor([1.0], stop_gradient=False).stop_gradient
        assert not paddle.create_parameter([1]).stop_gradient


def test_results_made_without_recording_are_leaves() -> None:
    x = paddle.to_tensor([2.0], stop_gradient=False)
    with paddle.no_grad():
        y = x * x
    assert y.is_leaf
    (y * x).backward()
    assert x.grad.tolist() == [4.0]


def test_operations_that_switch_off_cannot_be_reached_by_the_flag_of_another_pass() -> None:
    x = paddle.to_tensor([2.0], stop_gradient=False)
    y = x * x
    with paddle.no_grad():
        (g,) = paddle.grad(y, x)
    assert g.stop_gradient
    assert paddle.is_grad_enabled()


def test_building_a_program_is_not_recording() -> None:
    """As in the reference's static mode, no_grad has no say there."""
    with paddle.static.program_guard(paddle.static.Program()), paddle.no_grad():
        x = paddle.static.data("x", [2])
        x.stop_gradient = False
        assert paddle.static.gradients(paddle.tanh(x), x)[0].name == "x@GRAD"


def test_set_grad_enabled_as_a_decorator_switches_inside_only() -> None:
    @paddle.set_grad_enabled(False)
    def inside() -> bool:
        return paddle.is_grad_enabled()

    assert paddle.is_grad_enabled()
    assert not inside()
    assert paddle.is_grad_enabled()


def test_a_coroutine_may_be_decorated() -> None:
    @paddle.no_grad()
    async def waits(a: int) -> tuple[int, bool]:
        await asyncio.sleep(0)
        return a, recorded()

    async def beside() -> list[bool]:
        found = []
        for _ in range(3):
            await asyncio.sleep(0)
            found.append(recorded())
        return found

    async def main() -> Any:
        return await asyncio.gather(waits(3), beside())

    assert inspect.iscoroutinefunction(waits)
    assert asyncio.run(main()) == [(3, False), [True] * 3]
    assert recorded()


def test_an_asynchronous_generator_switches_only_while_it_runs() -> None:
    seen = []

    @paddle.no_grad()
    async def echo() -> AsyncIterator[Any]:
        got: Any = None
        try:
            while True:
                try:
                    await asyncio.sleep(0)
                    got = yield got, recorded()
                except KeyError:
                    got = "caught"
        finally:
            seen.append(recorded())

    async def main() -> None:
        g: Any = echo()
        assert await anext(g) == (None, False)
        assert recorded()
        assert await g.asend(5) == (5, False)
        assert await g.athrow(KeyError()) == ("caught", False)
        await g.aclose()
        assert recorded()

    asyncio.run(main())
    assert seen == [False]


def test_only_functions_are_decorated() -> None:
    with pytest.raises(TypeError, match="decorates functions"):
        paddle.no_grad(3)


def test_a_generator_is_closed_in_its_mode() -> None:
    seen = []

    @paddle.no_grad()
    def rows() -> Iterator[int]:
        try:
            yield 1
        finally:
            seen.append(paddle.is_grad_enabled())

    running = rows()
    next(running)
    running.close()  # type: ignore[attr-defined]
    assert seen == [False]


def test_a_kernel_runs_once_whoever_records() -> None:
    calls = []

    def kernel(x: Any) -> Any:
        calls.append(1)
        return x * 2.0

    double: Any = paddle.autograd.defop("counted_double", kernel)
    double.vjp(x=lambda xp, g: g * 2.0)
    x = paddle.to_tensor([1.0], stop_gradient=False)
    double(x)
    with paddle.autograd.detect_anomaly():
        double(x)
    with paddle.autograd.saved_tensors_hooks(lambda t: t, lambda t: t):
        double(x)
    paddle.autograd.jvp(double, x)
    assert len(calls) == 4


@pytest.mark.parametrize("level", [1, 3])
def test_a_flag_that_is_set_inside_a_block_stays_set(level: int) -> None:
    paddle.set_flags({"FLAGS_call_stack_level": 4 - level})
    with paddle.autograd.detect_anomaly():
        paddle.set_flags({"FLAGS_call_stack_level": level})
    y = paddle.to_tensor([1.0], stop_gradient=False) * 2.0
    assert hasattr(y._node, "stack") == (level == 3)
    assert (grad_mode.enabled is True) == (level == 1)  # nothing more than usual is recorded
    paddle.set_flags({"FLAGS_call_stack_level": 1})
