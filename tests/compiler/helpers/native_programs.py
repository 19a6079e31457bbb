"""Many small programs in one, run natively and by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_engine import static
from autograd_engine.compiler.concrete_graph import Graph, NotConcrete, concrete_graph
from autograd_engine.compiler.native import NativeFailed, compile_native
from autograd_engine.core.spec import Spec
from autograd_engine.program.ir.program import Ref
from autograd_engine.static.executor.plan import Wanted, steps_of
from tests.compiler.helpers.native_batches import Array, difference

Build = Callable[[Callable[[Array], Any]], Sequence[Any]]
"""Given what declares an input, the variables that are asked for."""


def graph_of(
    program: Any, feed: dict[str, Array], wanted: Sequence[Any]
) -> tuple[Graph, list[Array]]:
    """The graph of a program without parameters, and its inputs."""
    refs = [Ref(v, v.version) for v in wanted]
    steps = steps_of(program, Wanted(refs))
    assert not steps.reads
    arrays = [feed[ref.var.name] for ref in steps.feeds]
    inputs = [(ref, Spec(a.shape, a.dtype)) for ref, a in zip(steps.feeds, arrays, strict=True)]
    return concrete_graph(steps.operators, inputs, refs), arrays


class Merged:
    """Programs side by side; those that draw random numbers are left out."""

    def __init__(self) -> None:
        self.program = static.Program()
        self.feed: dict[str, Array] = {}
        self.parts: list[tuple[str, list[Any]]] = []

    def add(self, label: str, build: Build) -> None:
        def declare(array: Array, shape: Sequence[int | None] | None = None) -> Any:
            name = f"x{len(self.feed)}"
            self.feed[name] = array
            return static.data(name, list(array.shape if shape is None else shape), array.dtype)

        block = self.program.global_block()
        count = len(block.ops)
        with static.program_guard(self.program):
            made = [v for v in build(declare) if v is not None]
        if not any(getattr(o.op, "random", False) for o in block.ops[count:]):
            self.parts.append((label, made))

    @property
    def asked(self) -> list[Any]:
        return [v for _, made in self.parts for v in made]

    def wrong(self) -> list[str]:
        """What the native program returns that NumPy's does not."""
        if not self.parts:
            return []
        with static.program_guard(self.program):
            executor = static.Executor(backend="numpy")
            expected = executor.run(self.program, self.feed, [v.name for v in self.asked])
        graph, arrays = graph_of(self.program, self.feed, self.asked)
        got = iter(compile_native(graph)(*arrays))
        pairs = iter(expected)
        found = []
        for label, made in self.parts:
            for _ in made:
                text = difference(next(got), next(pairs), scale=10.0, beside=1.0)
                if text:
                    found.append(f"{label}: {text}")
        return found


def wrong_in(parts: Sequence[tuple[str, Build]]) -> list[str]:
    """What is wrong in programs; those that cannot be merged are looked at one by one."""
    merged = Merged()
    try:
        for label, build in parts:
            merged.add(label, build)
        return merged.wrong()
    except (NotConcrete, NativeFailed) as error:
        if len(parts) == 1:
            return [] if isinstance(error, NotConcrete) else [f"{parts[0][0]}: given up"]
    half = len(parts) // 2
    return [*wrong_in(parts[:half]), *wrong_in(parts[half:])]
