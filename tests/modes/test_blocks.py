"""A block holds for the thread and the task that is inside, and is over when it is left.

Whatever order blocks are left in, nothing of them stays: tasks and generators overlap.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import pkgutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.autograd import detect_anomaly, is_anomaly_enabled, saved_tensors_hooks
from autograd_engine.eager.grad_mode import is_inference_mode_enabled

Block = Callable[[], AbstractContextManager[Any]]


def packs() -> bool:
    """Whether what is recorded here is handed to hooks."""
    x = paddle.to_tensor([2.0], stop_gradient=False)
    node: Any = (x * x)._node
    return type(node.saved).__name__ == "Packed"


def device() -> str:
    x = static.data(paddle.unique_name.generate("x"), [1])
    found: str = paddle.tanh(x).block.ops[-1].op_device
    return found


def part() -> str:
    x = static.data(paddle.unique_name.generate("x"), [1])
    found: str = paddle.tanh(x).block.ops[-1].op_namescope
    return found


def strong() -> bool:
    x = paddle.to_tensor([0.0], stop_gradient=False)
    with paddle.enable_grad(), np.errstate(invalid="ignore"):
        (g,) = paddle.grad((paddle.sqrt(x) * 0.0).sum(), x)
    return not np.isnan(g.item())


# For each block: a call that begins it, and what tells whether one is inside.
BLOCKS: dict[str, tuple[Block, Callable[[], Any]]] = {
    "no_grad": (paddle.no_grad, paddle.is_grad_enabled),
    "enable_grad": (paddle.enable_grad, paddle.is_grad_enabled),
    "inference_mode": (paddle.inference_mode, is_inference_mode_enabled),
    "set_grad_enabled": (lambda: paddle.set_grad_enabled(False), paddle.is_grad_enabled),
    "detect_anomaly": (detect_anomaly, lambda: (is_anomaly_enabled(), np.geterr()["invalid"])),
    "saved_tensors_hooks": (lambda: saved_tensors_hooks(lambda t: t, lambda t: t), packs),
    "save_on_disk": (paddle.autograd.save_on_disk, packs),
    "strong_zeros": (paddle.strong_zeros, strong),
    "auto_cast": (paddle.amp.auto_cast, paddle.amp.is_autocast_enabled),
    "program_guard": (
        lambda: static.program_guard(static.Program(), static.Program()),
        lambda: (
            paddle.in_dynamic_mode(),
            static.default_main_program(),
            static.default_startup_program(),
        ),
    ),
    "scope_guard": (lambda: static.scope_guard(static.Scope()), static.global_scope),
    "name_scope": (lambda: static.name_scope("part"), part),
    "device_guard": (lambda: static.device_guard("cpu"), device),
    "unique_name.guard": (
        lambda: paddle.unique_name.guard("inside_"),
        lambda: paddle.unique_name.generate("x").startswith("inside_"),
    ),
}

every_block = pytest.mark.parametrize(("block", "tells"), BLOCKS.values(), ids=BLOCKS)


@pytest.fixture(autouse=True)
def in_a_program(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where enabling tells the difference, and marks of operators can be read."""
    name = request.node.callspec.id if hasattr(request.node, "callspec") else ""
    # A block that another thread has left cannot put back what NumPy warns of in this one.
    with paddle.set_grad_enabled("enable_grad" not in name), np.errstate():
        if "name_scope" in name or "device_guard" in name:
            with static.program_guard(static.Program()):
                yield
        else:
            yield


def test_every_block_of_the_surface_is_tried() -> None:
    """Context managers that set something aside from the object they are given."""
    others = {
        "Executor", "RemovableHandle", "Switch", "While", "IfElse",  # an object of the user's
        "ExponentialMovingAverage",
        "amp_guard",  # auto_cast by its other name
        "device",  # device_guard by its other name
        "InstalledAsPaddle",  # what `import paddle` gives; see tests/surface/test_as_paddle.py
        "own_generator",  # for the text of generated programs, which run from end to end
    }  # fmt: skip
    found = set()
    modules = [
        import_module(i.name) for i in pkgutil.iter_modules(paddle.__path__, "autograd_engine.")
    ]
    for module in (paddle, *modules):
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name, None)
            manager = isinstance(value, type) and hasattr(value, "__enter__")
            wraps = getattr(value, "__wrapped__", None)
            generates = wraps is not None and inspect.isgeneratorfunction(wraps)
            if manager or generates:
                found.add(name)
    assert found - others <= {name.rpartition(".")[2] for name in BLOCKS}
    assert found & BLOCKS.keys()


@every_block
def test_tasks_that_overlap(block: Block, tells: Callable[[], Any]) -> None:
    before = tells()
    first_inside, second_inside, first_left = (asyncio.Event() for _ in range(3))
    seen: dict[str, Any] = {}

    async def first() -> None:
        with block():
            first_inside.set()
            await second_inside.wait()
            seen["inside"] = tells()
        seen["first"] = tells()
        first_left.set()

    async def second() -> None:
        await first_inside.wait()
        seen["second, outside"] = tells()
        with block():
            second_inside.set()
            await first_left.wait()
            seen["still inside"] = tells()
        seen["second"] = tells()

    async def main() -> None:
        await asyncio.gather(first(), second())
        seen["main"] = tells()

    asyncio.run(main())
    for inside in ("inside", "still inside"):
        assert seen.pop(inside) != before
    assert seen == dict.fromkeys(seen, before)
    assert tells() == before


@every_block
def test_generators_that_overlap(block: Block, tells: Callable[[], Any]) -> None:
    before = tells()

    def steps() -> Iterator[Any]:
        with block():
            yield tells()
        yield tells()

    first, second = steps(), steps()
    assert next(first) != before
    assert next(second) != before
    next(first)
    assert tells() != before  # the second is still inside
    assert next(second) == before
    assert tells() == before


@every_block
def test_a_block_around_one_that_is_left_later(block: Block, tells: Callable[[], Any]) -> None:
    """What was entered in the meantime holds when that around it is left."""
    before = tells()

    def steps() -> Iterator[None]:
        with block():
            yield

    for _ in range(3):
        suspended = steps()
        next(suspended)
        with block():
            suspended.close()
            assert tells() != before
        assert tells() == before


@every_block
def test_generators_that_overlap_for_ever_keep_nothing(
    block: Block, tells: Callable[[], Any]
) -> None:
    before = tells()

    def steps() -> Iterator[None]:
        with block():
            yield

    last = steps()
    next(last)
    for _ in range(50):
        following = steps()
        next(following)
        last.close()
        last = following
    last.close()
    assert tells() == before


@every_block
def test_a_generator_that_another_thread_ends(block: Block, tells: Callable[[], Any]) -> None:
    before = tells()

    def steps() -> Iterator[None]:
        with block():
            yield

    suspended = steps()
    next(suspended)
    ended = threading.Thread(target=suspended.close)  # type: ignore[attr-defined]
    ended.start()
    ended.join()
    after = tells()
    if isinstance(after, tuple) and before[-1] == "warn":  # np.geterr() is NumPy's
        assert after[0] == before[0]
    else:
        assert after == before
    with block():
        assert tells() != before


@every_block
def test_an_asynchronous_generator_that_is_left_in_the_middle(
    block: Block, tells: Callable[[], Any]
) -> None:
    """The event loop closes it, in a task of its own."""
    before = tells()

    async def rows() -> AsyncIterator[int]:
        with block():
            yield 1
            yield 2

    async def main() -> Any:
        async for _ in rows():
            break
        gc.collect()
        await asyncio.sleep(0.01)
        return tells()

    after = asyncio.run(main())
    assert after == before or (isinstance(after, tuple) and after[0] == before[0])


@every_block
def test_a_task_begins_as_what_started_it(block: Block, tells: Callable[[], Any]) -> None:
    before = tells()

    async def child() -> Any:
        await asyncio.sleep(0)
        return tells()

    async def main() -> Any:
        with block():
            task = asyncio.create_task(child())
        return await task

    assert asyncio.run(main()) != before
    assert tells() == before


@pytest.mark.parametrize(
    "name", ["no_grad", "saved_tensors_hooks", "detect_anomaly", "strong_zeros"]
)
def test_one_object_in_two_tasks(name: str) -> None:
    block, tells = BLOCKS[name]
    manager, before = block(), tells()

    async def job(waits: int) -> Any:
        with manager:
            await asyncio.sleep(waits / 100)
            inside = tells()
        return inside != before and tells() == before

    async def main() -> Any:
        return await asyncio.gather(job(2), job(1), job(3))

    assert asyncio.run(main()) == [True] * 3
    assert tells() == before


def test_a_switch_that_is_set_inside_a_block_ends_with_it() -> None:
    with paddle.no_grad():
        paddle.set_grad_enabled(True)
        assert paddle.is_grad_enabled()
    paddle.set_grad_enabled(False)
    with paddle.enable_grad():
        paddle.set_grad_enabled(False)
    assert not paddle.is_grad_enabled()
    paddle.set_grad_enabled(True)


def test_switches_that_are_set_are_independent() -> None:
    paddle.set_grad_enabled(False)
    paddle.autograd.set_detect_anomaly(True)
    assert not paddle.is_grad_enabled()
    paddle.set_grad_enabled(True)
    assert is_anomaly_enabled()
    paddle.autograd.set_detect_anomaly(False)
    assert paddle.is_grad_enabled()


def test_blocks_of_two_kinds_that_overlap() -> None:
    def unrecorded() -> Iterator[None]:
        with paddle.no_grad():
            yield

    def packed() -> Iterator[None]:
        with saved_tensors_hooks(lambda t: t, lambda t: t):
            yield

    first, second = unrecorded(), packed()
    next(first)
    next(second)
    first.close()  # type: ignore[attr-defined]
    assert paddle.is_grad_enabled()
    assert packs()
    second.close()  # type: ignore[attr-defined]
    assert not packs()


def test_two_requests_of_a_server() -> None:
    """Evaluations that overlap leave training as it was."""

    async def evaluate(seconds: float) -> None:
        with paddle.no_grad():
            await asyncio.sleep(seconds)

    async def main() -> Any:
        await asyncio.gather(evaluate(0.01), evaluate(0.02))
        x = paddle.to_tensor([3.0], stop_gradient=False)
        (x * x).backward()
        return x.grad

    assert asyncio.run(main()).tolist() == [6.0]
