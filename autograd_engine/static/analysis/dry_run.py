"""Running a program without its arrays: what each kernel would allocate, keep and let go.

The function that an executor runs is run as it is, with fake arrays in the place of real ones. A
kernel among them is probed (see `kernel_memory`), so a dry run knows nothing of any operation. When
the function deletes a name, or a list drops an element, Python's reference counts say what memory
is free then, as they do in a real run.

Both sides of a branch are run, and the one that needs more counts. How often a loop runs is not
known: the number is a symbol, ``trips``. Its body is run twice, as the first iteration and as the
last, which starts from what another has carried on. What the iterations between push onto stacks,
or write to arrays of tensors (see `dry_array`), is held in one piece.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.python.function import CompiledFunction
from autograd_engine.core.dims import Size
from autograd_engine.core.spec import Spec
from autograd_engine.ops import control_flow
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.scattered_cotangent import Scattered, dense
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Operator
from autograd_engine.static.analysis.dry_array import (
    ARRAY_FUNCTIONS,
    Elements,
    added,
    after_iterations,
    held_by,
)
from autograd_engine.static.analysis.fake_array import (
    Allocation,
    FakeArray,
    Layout,
    Memory,
    Meter,
    mapped,
    parts,
)
from autograd_engine.static.analysis.kernel_memory import Leaf, profile_of
from autograd_engine.static.symbol_solver import Resolver
from autograd_engine.static.symbolic_size import Symbols

__all__ = ["DryRun", "allocations_of"]


class DryRun:
    """One run of a compiled function, on fake arrays.

    What it takes is noted by `meter`, what is found out about sizes in `symbols`.
    """

    def __init__(self, compiled: CompiledFunction, symbols: Symbols) -> None:
        self.compiled = compiled
        self.symbols = symbols
        self.resolver = Resolver(symbols)
        self.meter = Meter()
        self.loops = 0

    def run(self, inputs: Sequence[FakeArray]) -> tuple[Any, ...]:
        """What the function returns for `inputs`."""
        scope = self._scope()
        found: tuple[Any, ...] = scope[self.compiled.function.__name__](*inputs)
        return found

    def _scope(self) -> dict[str, Any]:
        """What the text refers to; kernels and pullbacks are replaced by what probes them."""
        ops = [operator.op for operator in self.compiled.lines.values()]
        kernels = {id(k) for op in ops if isinstance(op, OpDef) for k in (op.kernel, op.direct)}
        pulls = {id(op.pullback.pull) for op in ops if isinstance(op, GradOp)}
        scope = dict(self.compiled.function.__globals__)
        for name, value in list(scope.items()):
            if id(value) in _CONTROL_FLOW:
                scope[name] = functools.partial(_CONTROL_FLOW[id(value)], self)
            elif id(value) in kernels:
                scope[name] = self._kernel(value)
            elif id(value) in pulls:
                scope[name] = self._pull(value)
            elif isinstance(value, FunctionType) and self._is_text(value.__code__):
                scope[name] = FunctionType(value.__code__, scope)
        for one, other in _BRANCHES.findall(self.compiled.source):
            scope[one] = scope[other] = _larger(self, scope[one], scope[other])
        scope["dense"] = self._dense
        scope["raw"] = SimpleNamespace(scatter=self._kernel(raw.scatter))
        return scope

    def operator(self) -> Operator | None:
        """The operator whose line is being run."""
        frame = sys._getframe(1)
        while frame is not None and not self._is_text(frame.f_code):
            frame = frame.f_back  # type: ignore[assignment]
        return None if frame is None else self.compiled.lines.get(frame.f_lineno)

    def _is_text(self, code: CodeType) -> bool:
        """Whether code is of the generated text."""
        return code.co_filename == self.compiled.filename

    def _kernel(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def probed(*operands: Any, **attrs: Any) -> Any:
            operator = self.operator()
            values = operands[1:] if kernel is raw.scatter else operands
            expected = self._expected(operator, values)
            made = self._call(kernel, (operands, attrs), expected, operator)
            # What no probe could be made of is described as all results together.
            single = operator is not None and not getattr(operator.op, "multiple", True)
            return made[0] if single and made.__class__ is tuple else made

        return probed

    def _pull(self, pull: Callable[..., Any]) -> Callable[..., Any]:
        def on_arrays(g: Any, saved: Any, attrs: Any) -> Any:
            return pull(raw, g, saved, attrs)

        def probed(_: Any, *args: Any) -> Any:
            operator = self.operator()
            return self._call(on_arrays, (args, {}), self._expected(operator), operator, key=pull)

        return probed

    def _dense(self, value: Any) -> Any:
        if value.__class__ is not Scattered:
            return value
        operator = self.operator()
        spec = Spec(tuple(value.shape), value.dtype)
        made = self._call(dense, ((value,), {}), [spec], operator, named=False)
        for ref in () if operator is None else operator.results:
            self.name(made, ref.key)
        return made

    def _expected(
        self, operator: Operator | None, operands: Sequence[Any] | None = None
    ) -> list[Spec]:
        return [] if operator is None else self.resolver.results(operator, operands)

    def _call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        expected: Sequence[Spec],
        operator: Operator | None,
        *,
        key: Any = None,
        named: bool = True,
    ) -> Any:
        """The result of a kernel among fake arrays; what it takes is noted as a step."""
        resolved = self.symbols.resolved
        profile, operands, back = profile_of(function, args, expected, resolved, key)
        fresh = [self.meter.hold(back(size), operator) for size in profile.fresh]
        made: dict[int, Any] = {}

        def make(value: Any) -> Any:
            if not isinstance(value, (Leaf, Spec)):
                return value
            shape = tuple(map(back, value.shape))
            if isinstance(value, Spec) or value.layout is None:
                return Spec(shape, value.dtype)
            if id(value) not in made:
                source = None if value.operand is None else operands[value.operand]
                memory = fresh[value.fresh] if value.fresh is not None else _memory(source)
                array = FakeArray(shape, value.dtype, value.layout, memory, value.view)
                if memory is not None and memory.allocation.spec is None:
                    memory.allocation.spec = Spec(shape, value.dtype)
                made[id(value)] = source if value.same else array
            return made[id(value)]

        result = mapped(profile.result, make)
        # Names that the caller binds are all that keeps what was made alive.
        for held in (fresh, operands, made):
            held.clear()
        if named and operator is not None:
            several = result if isinstance(result, (tuple, list)) else (result,)
            for ref, value in zip(operator.results, several, strict=False):
                self.name(value, ref.key)
        self.meter.note(operator, back(profile.extra), profile.assumed)
        return result

    def name(self, value: Any, key: tuple[str, int]) -> None:
        """Let what `value` holds be known by the key of a variable, too."""
        for allocation in allocations_of(value):
            allocation.names.setdefault(key, len(self.meter.steps))


def allocations_of(value: Any) -> list[Allocation]:
    """What an array, an array of tensors, or a scattered cotangent keeps alive."""
    if isinstance(value, Elements):
        return [memory.allocation for memory in held_by(value)]
    held = [_memory(part) for part in parts(value)]
    return [memory.allocation for memory in held if memory is not None]


def _memory(value: Any) -> Memory | None:
    return value.memory if isinstance(value, FakeArray) else None


# ``(cond_true if truth(p) else cond_false)(x)``
_BRANCHES: Final = re.compile(r"\((\w+) if \w+\(\w+\) else (\w+)\)")


def _larger(run: DryRun, one: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """Of two branches the one that needs more memory."""

    def call(*operands: Any) -> Any:
        meter, number, needs = run.meter, run.symbols.magnitude, []
        for branch in (one, other):
            steps, allocations = len(meter.steps), len(meter.allocations)
            results = branch(*operands)
            peaks = [number(s.peak) for s in meter.steps[steps:]]
            needs.append((max(peaks, default=0.0), number(meter.total)))
            del results
            meter.forget(steps, allocations)
        return (one if needs[0] >= needs[1] else other)(*operands)

    return call


# --- loops


@dataclass(slots=True, eq=False)
class _Stack:
    """A list of arrays, one for each iteration: the last of them, and memory for the others.

    What a loop pushes of an array of tensors grows: `start` is that of the first iteration.
    """

    element: Any  # a FakeArray, Elements or _Stack
    trips: Size
    rest: Memory | None
    start: Elements | None = None


def _bytes(value: Any) -> Size:
    """What one element of a stack holds."""
    if isinstance(value, _Stack):
        return _bytes(value.element) * value.trips
    return sum((allocation.size for allocation in allocations_of(value)), start=0)


def _own_bytes(values: Sequence[Any], others: Sequence[Any]) -> Size:
    """Bytes of the memory that `values` hold and `others` do not."""
    seen = {id(a) for v in others for a in allocations_of(v)}
    total: Size = 0
    for value in values:
        if isinstance(value, _Stack):
            total = total + _bytes(value)
            continue
        for allocation in allocations_of(value):
            if id(allocation) not in seen:
                seen.add(id(allocation))
                total = total + allocation.size
    return total


def _trips(run: DryRun) -> Size:
    """The number of iterations of another loop."""
    run.loops += 1
    return run.symbols.trips(run.loops)


def _rest(run: DryRun, each: Size, trips: Size) -> Memory | None:
    """Memory for all elements of a stack but the last."""
    size = each * (trips - 1)
    return run.meter.hold(size, run.operator()) if size != 0 else None


def _iterations(
    run: DryRun,
    body: Callable[..., Any],
    carried: tuple[Any, ...],
    given: Callable[[], tuple[Any, ...]],
    trips: Size,
    rewind: Callable[[], None] | None = None,
) -> tuple[tuple[Any, ...], list[_Stack]]:
    """What the last iteration carries on, and stacks of what each pushes.

    Each iteration takes what is `given` when it starts, after `rewind` for the last.
    """
    n = len(carried)
    first = body(*carried, *given())
    # What was carried in has been counted with the iteration that made it, elements with the array.
    arrays = [v for v in first[:n] if isinstance(v, Elements)]
    each = _own_bytes(first[n:], (*carried, *arrays, *given()))
    starts = [v if isinstance(v, Elements) else None for v in first[n:]]
    carried = tuple(
        after_iterations(run, before, after, trips)
        if isinstance(before, Elements) and isinstance(after, Elements)
        else after
        for before, after in zip(carried, first[:n], strict=True)
    )
    del first
    if rewind is not None:
        rewind()
    rest = _rest(run, each, trips)
    last = body(*carried, *given())
    stacks = [
        _Stack(e, trips, rest if k == 0 else None, start)
        for k, (e, start) in enumerate(zip(last[n:], starts, strict=True))
    ]
    return last[:n], stacks


def _while_loop(
    run: DryRun,
    condition: Callable[..., Any],
    body: Callable[..., Any],
    carried: tuple[Any, ...],
    captured: tuple[Any, ...],
    pushes: int,
) -> tuple[Any, ...]:
    condition(*carried, *captured)
    results, stacks = _iterations(run, body, carried, lambda: captured, _trips(run))
    condition(*results, *captured)
    return (*results, FakeArray((), np.dtype(np.int64), Layout.plain(0)), *stacks)


def _scan(
    run: DryRun,
    body: Callable[..., Any],
    count: Any,
    carried: tuple[Any, ...],
    captured: tuple[Any, ...],
    stacks: Sequence[Any],
    pushes: int,
    reverse: bool,
    last: Sequence[bool],
) -> tuple[Any, ...]:
    trips = next((s.trips for s in stacks if isinstance(s, _Stack)), None)
    trips = _trips(run) if trips is None else trips

    def given() -> tuple[Any, ...]:
        return (*captured, *(s.element if isinstance(s, _Stack) else s for s in stacks))

    def rewind() -> None:
        """Let go what iterations have taken off stacks, down to what the first had pushed."""
        for stack, free in zip(stacks, last, strict=True):
            if free and isinstance(stack, _Stack):
                stack.rest = None
                if reverse and stack.start is not None:
                    stack.element = stack.start

    results, made = _iterations(run, body, carried, given, trips, rewind)
    return (*results, *made)


def _like(run: DryRun, stack: Any, *_: Any, **__: Any) -> Any:
    """A stack of new arrays like those of another."""
    if not isinstance(stack, _Stack):
        return stack
    element = stack.element
    if isinstance(element, _Stack):
        element = _like(run, element)
        size = _bytes(element)
    else:
        size = element.nbytes
        memory = run.meter.hold(size, run.operator())
        element = FakeArray(element.shape, element.dtype, Layout.plain(len(element.shape)), memory)
    rest = _rest(run, size, stack.trips)
    run.meter.note(run.operator())
    return _Stack(element, stack.trips, rest)


def _add_stacks(run: DryRun, stack: Any, *others: Any) -> Any:
    arrays = any(isinstance(s, Elements) for s in (stack, *others))
    return added(run, stack, *others) if arrays else _like(run, stack)


def _fill_stack(run: DryRun, stack: Any, **attrs: Any) -> Any:
    if not isinstance(stack, Elements):
        return _like(run, stack)
    return Elements(tuple(_hollow(run, e) for e in stack.known), (), stack.count)


def _hollow(_: DryRun, like: Any, **__: Any) -> FakeArray:
    axes = tuple(range(len(like.shape)))
    layout = Layout(axes, repeated=frozenset(axes))
    return FakeArray(tuple(like.shape), like.dtype, layout, view=True)


def _absent(run: DryRun, **attrs: Any) -> Any:
    found = control_flow.absent(**attrs)
    return found if isinstance(found, list) else _hollow(run, found)


_CONTROL_FLOW: Final[dict[int, Callable[..., Any]]] = {
    **ARRAY_FUNCTIONS,
    id(control_flow.truth): lambda *_: True,
    id(control_flow.while_loop): _while_loop,
    id(control_flow.scan): _scan,
    id(control_flow.add_stacks): _add_stacks,
    id(control_flow.fill_stack): _fill_stack,
    id(control_flow.hollow): _hollow,
    id(control_flow.absent): _absent,
}
