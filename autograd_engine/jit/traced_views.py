"""Views while a function is traced: what is written through one is written to what it shows.

Variables have no memory. So a view is noted when its operation is appended; a change of it becomes
one of what it is a view of, made of operations, and a view of what has been changed is taken from
it again when it is read next. In this a function traced is the function run eagerly; see
`eager.views`. What a program cannot say is refused: other values with the old history.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.eager.grad_mode import grad_mode, no_grad, recording
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import Path, put, take
from autograd_engine.errors import BuildError
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.ops.registry.number_inputs import holds_symbolic
from autograd_engine.program.ir.program import Variable

if TYPE_CHECKING:
    from autograd_engine.jit.tracing import Trace

__all__ = ["TracedViews", "Way"]


class _Taken(NamedTuple):
    """A variable that shows part of another; without an operation it is that, detached."""

    view: Variable
    source: Variable
    op: Any
    attrs: dict[str, Any]
    cut: bool
    unsure: bool


class Way(NamedTuple):
    """How a view is taken from the whole; `cut` where a history ends on the way."""

    whole: Variable
    path: Path | None
    cut: bool
    unsure: bool


class TracedViews:
    """The views of a trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._taken: dict[int, _Taken] = {}
        self._again: dict[int, tuple[Variable, Variable]] = {}
        self._aside = False

    def __contains__(self, var: Variable) -> bool:
        return id(var) in self._taken

    @contextlib.contextmanager
    def _unnoted(self) -> Iterator[None]:
        before, self._aside = self._aside, True
        try:
            yield
        finally:
            self._aside = before

    def note(self, view: Any, x: Any, op: Any, attrs: dict[str, Any]) -> None:
        """`view` is what `op` takes from `x`; without an operation, `x` detached."""
        if self._aside or not isinstance(view, Variable):
            return
        source = self._trace.variable(x) if isinstance(x, Tensor) else x
        if not isinstance(source, Variable) or source is view:
            return
        cut = op is None or not (grad_mode.enabled or source.stop_gradient)
        moved = op is not None and op.elements == "ordered" and self._moved(source, op, attrs)
        if moved is True:
            return
        self._taken[id(view)] = _Taken(view, source, op, attrs, cut, moved is None)

    def _moved(self, source: Variable, op: Any, attrs: dict[str, Any]) -> bool | None:
        """Whether reshaping copies elements; None where sizes that are not known decide."""
        whole, path, _, _ = self.way(source)
        before: Any = path
        while before is not None and before[1].elements == "ordered":
            before = before[0]
        if before is None:
            return False
        numbers = list(attrs.values())
        before = path
        while before is not None:
            numbers += before[2].values()
            before = before[0]
        if holds_symbolic(numbers) or any(isinstance(d, Dim) for d in whole.spec.shape):
            return None
        given = take(raw, path, np.empty(whole.spec.shape, whole.spec.dtype))
        made = getattr(raw, op.name)(given, **attrs)
        return bool(made.size) and not np.may_share_memory(given, made)

    def way(self, var: Variable) -> Way:
        steps: list[_Taken] = []
        while id(var) in self._taken:
            steps.append(self._taken[id(var)])
            var = steps[-1].source
        path: Path | None = None
        for step in reversed(steps):
            if step.op is not None:
                path = path, step.op, step.attrs
        return Way(var, path, any(s.cut for s in steps), any(s.unsure for s in steps))

    def now(self, view: Variable) -> Variable:
        """What a view shows now."""
        way = self.way(view)
        whole = self._trace.now(way.whole)
        if whole is way.whole:
            return view
        block = self._trace.program.current_block()
        known = self._again.get(id(view))
        if known is not None and known[0] is whole:
            return known[1]
        with self._unnoted(), no_grad() if way.cut else recording():
            again: Variable = take(ops, way.path, whole)
            if way.cut:
                again = ops.assign(again)
                again.stop_gradient = True
        if block is self._trace.block:  # what a branch makes is not seen outside of it
            self._again[id(view)] = whole, again
        return again

    def write(
        self, view: Variable, result: Variable, call: str, instead: str, rebinds: bool
    ) -> None:
        """Let `view` be `result`, and what it is a view of with it."""
        trace = self._trace
        whole, path, cut, unsure = self.way(view)
        if unsure:
            raise BuildError(
                f"{trace.name}: {call} writes to {view.name}, which shares its values with "
                f"{whole.name} or is a copy: that depends on sizes which are not known while the "
                f"function is traced; use {instead}"
            )
        target, leaf = trace.origin(whole)
        current = trace.latest(whole)
        values = cut or not (grad_mode.enabled if rebinds else not leaf)
        plain = result.stop_gradient and (current.stop_gradient or leaf)
        if values and not plain:
            raise BuildError(
                f"{trace.name}: {call} writes to {view.name}, which was detached, or made or "
                f"written under no_grad, and changes the values of {whole.name} without their "
                f"history; a program has no gradient for that: use {instead}"
            )
        with self._unnoted(), no_grad() if values else recording():
            made = put(ops, path, current, result)
            if values and not made.stop_gradient:
                made = ops.assign(made)
        if values and leaf:
            trace.write(target, made, call, instead, rebinds=False)
        else:
            trace.write(target, made, call, instead, rebinds=rebinds)
