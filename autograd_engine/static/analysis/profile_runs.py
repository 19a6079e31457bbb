"""The runs that `Executor.profile` makes: on copies, in a stream of random numbers of their own."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.effects_switch import without_effects
from autograd_engine.core.random_generator import generator, own_generator, snapshot
from autograd_engine.program.ir.program import Program
from autograd_engine.program.scope import Scope
from autograd_engine.static.analysis.profiler import (
    Profile,
    SegmentTime,
    Stamp,
    timed_function,
)
from autograd_engine.static.executor.bound_program import contiguous
from autograd_engine.static.executor.errors import failed
from autograd_engine.static.executor.persistable_values import given_values, read_values
from autograd_engine.static.executor.plan import Plan

__all__ = ["profiled"]

Array = NDArray[Any]


def profiled(
    program: Program,
    plan: Plan,
    fed: list[Array],
    feeds: Mapping[str, Any],
    scope: Scope,
    repeat: int,
) -> Profile:
    """Profile a plan; see `Executor.profile`."""
    new = given_values(program, plan.reads, feeds)
    kept = read_values(program, plan.reads, new, scope)
    arrays = [*fed, *(a.copy() for a in kept)]  # kernels write to nothing; other threads may
    draws = snapshot(program.generator or generator())
    stamps: list[Stamp] = []
    function = timed_function(plan.compiled, stamps)
    runs = []
    with without_effects():
        for _ in range(1 + repeat):
            stamps.clear()
            with own_generator(draws()):
                try:
                    function(*arrays)
                except Exception as error:
                    explained = failed(plan.compiled, error)
                    if explained is None:
                        raise
                    raise explained from error
            runs.append(list(stamps))
        backend, seconds, segments = _by_backend(plan, arrays, repeat, draws)
    return Profile(runs[1:], backend, seconds, segments)


def _by_backend(
    plan: Plan, arrays: Sequence[Array], repeat: int, draws: Any
) -> tuple[str, float | None, list[SegmentTime]]:
    """What runs the program otherwise: its name, the time of a run, and of its parts."""
    if plan.plain:
        return "python", None, []
    variant = plan.variant(arrays[: len(plan.feeds)])
    compiled = plan.variants.ready(variant)
    if compiled is None:
        return "python", None, []
    bound = compiled.bind([np.array(contiguous(a)) for a in arrays])
    times = []
    with own_generator(draws()):
        for _ in range(1 + repeat):
            began = time.perf_counter_ns()
            bound()
            times.append(time.perf_counter_ns() - began)
        timed = getattr(bound, "timed_run", None)
        segments = [] if timed is None else [SegmentTime(*part) for part in timed()]
    return compiled.backend, statistics.median(times[1:]) / 1e9, segments
