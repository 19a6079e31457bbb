"""Modes, guards and random streams belong to the thread that set them."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine import static


def in_another_thread(function: Callable[[], Any]) -> Any:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def test_a_program_guard_of_one_thread_is_not_anothers() -> None:
    def train() -> list[float]:
        x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        (x * paddle.full([2], 3.0)).sum().backward()
        assert x.grad is not None
        values: list[float] = x.grad.tolist()
        return values

    program = static.Program()
    with static.program_guard(program):
        assert in_another_thread(train) == [3.0, 3.0]
        assert not program.global_block().ops
        assert in_another_thread(static.default_main_program) is not program


def test_a_layer_built_in_one_thread_does_not_name_anothers_variables() -> None:
    def build() -> str:
        with static.program_guard(static.Program(), static.Program()):
            x = static.data("x", [None, 2])
            name: str = paddle.tanh(x).name
            return name

    with static.program_guard(static.Program(), static.Program()):
        x = static.data("x", [None, 2])
        names = []
        real = paddle.nn.functional.relu

        def interrupted(v: Any) -> Any:
            names.append(in_another_thread(build))
            return real(v)

        static.nn._ACTIVATIONS["interrupted"] = interrupted
        try:
            static.nn.fc(x, size=3, activation="interrupted", name="mine")
        finally:
            del static.nn._ACTIVATIONS["interrupted"]
    assert not names[0].startswith("mine")


def test_a_programs_own_stream_is_drawn_from_by_its_run_only() -> None:
    program = static.Program()
    program.random_seed = 7
    with static.program_guard(program):
        drawn = paddle.rand([2])
    (first,) = static.Executor().run(program, fetch_list=[drawn])
    paddle.seed(3)
    expected = paddle.rand([2]).numpy()
    paddle.seed(3)
    (second,) = static.Executor().run(program, fetch_list=[drawn])
    assert paddle.rand([2]).numpy().tobytes() == expected.tobytes()
    assert not np.array_equal(first, second)


def test_compiled_sources_go_with_their_program() -> None:
    import gc
    import linecache

    def run_once() -> None:
        with static.program_guard(static.Program()):
            x = static.data("x", [2])
            y = x * 2.0
            static.Executor().run(
                x.block.program, feed={"x": np.ones(2, "float32")}, fetch_list=[y]
            )

    run_once()
    gc.collect()
    before = len(linecache.cache)
    for _ in range(20):
        run_once()
    gc.collect()
    assert len(linecache.cache) == before
