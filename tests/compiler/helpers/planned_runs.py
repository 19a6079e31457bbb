"""Programs run through `compile_planned` beside the generated Python that they run as."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import autograd_engine as paddle
from autograd_engine.compiler.concrete_graph import Graph, concrete_graph
from autograd_engine.compiler.planned import Planned, compile_planned
from autograd_engine.compiler.python.function import CompiledFunction, compile_operators
from autograd_engine.core.spec import Spec
from autograd_engine.program.ir.program import Ref
from autograd_engine.static.executor.plan import Wanted, steps_of

static = paddle.static
Array = np.ndarray


class Step(NamedTuple):
    """A program: as generated Python, planned, and with arrays to start from."""

    python: CompiledFunction
    planned: Planned
    graph: Graph
    arrays: list[Array]
    names: list[str]

    def position(self, name: str) -> int:
        return self.names.index(name)


def same_bits(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    numbers = a.dtype.kind in "fc"
    equal = np.array_equal(a, b, equal_nan=numbers)
    if not numbers:
        return equal
    known = ~np.isnan(a)
    return equal and bool((np.signbit(a.real) == np.signbit(b.real))[known].all())


def program_step(
    build: Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[Any]],
    feeds: Mapping[str, Array],
    parameters: Mapping[str, Array],
    optimizer: Any = None,
    *,
    fast: bool = False,
) -> Step:
    """The step of a program: `build(feeds, parameters)` gives what is fetched, a loss first."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        fed = {k: static.data(k, list(a.shape), a.dtype.name) for k, a in feeds.items()}
        held = {
            k: static.create_parameter(list(a.shape), a.dtype.name, name=k)
            for k, a in parameters.items()
        }
        fetches = list(build(fed, held))
        if optimizer is not None:
            optimizer().minimize(fetches[0])
    scope = static.Scope()
    static.Executor().run(startup, scope=scope)
    for name, value in parameters.items():
        scope.find_var(name).get_tensor().set(value)
    steps = steps_of(main, Wanted([Ref(v, v.version) for v in fetches]))
    inputs, arrays = [], []
    for ref in (*steps.feeds, *steps.reads):
        name = ref.var.name
        array = feeds[name] if name in feeds else np.array(scope.find_var(name).value)
        inputs.append((ref, Spec(array.shape, array.dtype)))
        arrays.append(array)
    outputs = [*(Ref(v, v.version) for v in fetches), *steps.writes.values()]
    names = [ref.var.name for ref, _ in inputs]
    updates = {
        len(fetches) + k: names.index(name) for k, name in enumerate(steps.writes) if name in names
    }
    graph = concrete_graph(steps.operators, inputs, outputs, updates)
    python = compile_operators(steps.operators, [r for r, _ in inputs], outputs, "program")
    return Step(python, compile_planned(graph, "program", fast=fast), graph, arrays, names)


def check_bits(step: Step, rounds: int = 3) -> None:
    """Calls and bound runs give the bits of generated Python, for several steps of training."""
    state = [np.array(a) if a.flags.c_contiguous else a for a in step.arrays]
    bound = step.planned.bind([np.array(a) if a.flags.c_contiguous else a for a in state])
    updates = step.planned.updates
    for _ in range(rounds):
        before = [np.array(a) for a in state]
        wanted = step.python.function(*state)
        called = step.planned(*state)
        fetched = iter(bound())
        for a, b in zip(state, before, strict=True):
            assert same_bits(a, b), "an input was written"
        for k, value in enumerate(wanted):
            assert same_bits(called[k], value), (k, step.graph.outputs[k].node)
            got = bound.arrays[updates[k]] if k in updates else next(fetched)
            assert same_bits(got, value), (k, step.graph.outputs[k].node)
            if k in updates:
                state[updates[k]] = np.asarray(value)


def normal(seed: int, *shape: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)
