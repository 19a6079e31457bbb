"""Running a program without its arrays: what each kernel would allocate, keep and let go.

The function that an executor runs is run as it is, with `Planned` arrays in the place of real
ones. A kernel among them is probed (see `probing`), so a rehearsal knows nothing of any operation.
When the function deletes a name, or a list drops an element, Python's reference counts say what
memory is free then, as they do in a real run. Of a branch both sides are rehearsed, and the one
that needs more counts.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import Any

from autograd_engine.compiler.python.function import CompiledFunction
from autograd_engine.core.dims import Size
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.namespace import Namespace, raw
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Operator
from autograd_engine.static.analysis.fake_array import (
    Memory,
    Meter,
    Planned,
    Tree,
    build,
)
from autograd_engine.static.analysis.kernel_memory import profile_of
from autograd_engine.static.analysis.symbol_solver import Resolver
from autograd_engine.static.analysis.symbolic_size import Symbols

__all__ = ["Rehearsal", "Step"]


class Step:
    """One call.

    Attributes
    ----------
    operator : Operator or None
        None for what an executor does at the end.
    peak : Dim or int
        Bytes held at most while it runs.
    after : Dim or int
        Bytes held when it has returned.
    extra : Dim or int
        Of the peak, temporaries of the kernel.
    assumed : bool
        The kernel could not be probed.
    """

    __slots__ = ("after", "assumed", "extra", "operator", "peak")

    def __init__(
        self, operator: Operator | None, peak: Size, after: Size, extra: Size, assumed: bool
    ) -> None:
        self.operator = operator
        self.peak = peak
        self.after = after
        self.extra = extra
        self.assumed = assumed


class Rehearsal:
    """One run of a compiled function, on planned arrays.

    Parameters
    ----------
    compiled : CompiledFunction
    symbols : Symbols
        What is found out about sizes is noted here.
    grows : callable
        Makes a number of a size, to tell the larger of two.
    watched : int, optional
        Number of the step at whose peak `held` is to be noted.

    Attributes
    ----------
    steps : list of Step
    held : list of Memory
    """

    def __init__(
        self,
        compiled: CompiledFunction,
        symbols: Symbols,
        grows: Callable[[Size], float],
        watched: int | None = None,
    ) -> None:
        self.compiled = compiled
        self.symbols = symbols
        self.resolver = Resolver(symbols, grows)
        self.grows = grows
        self.watched = watched
        self.meter = Meter()
        self.steps: list[Step] = []
        self.held: list[tuple[Size, Spec | None, Any, list[tuple[str, int]]]] = []
        self.loops = 0

    def run(self, inputs: Sequence[Planned]) -> tuple[Any, ...]:
        """What the function returns for `inputs`."""
        scope = self._scope()
        code = compile(_branches_together(self.compiled.source), self.compiled.filename, "exec")
        exec(code, scope)
        function = scope[self.compiled.function.__name__]
        found: tuple[Any, ...] = function(*inputs)
        return found

    def _scope(self) -> dict[str, Any]:
        """What the text refers to; kernels are replaced by what rehearses them."""
        from autograd_engine.static.analysis.dry_run_loops import REHEARSED, rehearsed_block

        scope = dict(self.compiled.function.__globals__)
        kernels = {id(o.op.kernel) for o in self.compiled.lines.values() if isinstance(o.op, OpDef)}
        for name, value in list(scope.items()):
            if id(value) in REHEARSED:
                scope[name] = rehearsed_block(self, value)
            elif id(value) in kernels:
                scope[name] = self._kernel(value)
        for operator in self.compiled.lines.values():
            if isinstance(operator.op, GradOp):
                pull = operator.op.pullback.pull
                for name, value in self.compiled.function.__globals__.items():
                    if value is pull:
                        scope[name] = self._pull(value)
                        break
        scope["dense"] = self._dense
        scope["raw"] = _PlannedRaw(self._kernel(raw.scatter))
        scope["larger"] = lambda *branches: rehearsed_block(self, None)(*branches)
        return scope

    def operator(self) -> Operator | None:
        """The operator whose line is being run."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.compiled.filename:
            frame = frame.f_back  # type: ignore[assignment]
        return None if frame is None else self.compiled.lines.get(frame.f_lineno)

    def _kernel(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def rehearsed(*operands: Any, **attrs: Any) -> Any:
            operator = self.operator()
            values = operands[1:] if kernel is raw.scatter else operands
            expected = self._expected(operator, values)
            made = self.call(kernel, operands, attrs, expected, operator)
            # What no probe could be made of is described as all results together.
            single = operator is not None and not getattr(operator.op, "multiple", True)
            return made[0] if single and made.__class__ is tuple else made

        return rehearsed

    def _pull(self, pull: Callable[..., Any]) -> Callable[..., Any]:
        def on_arrays(g: Any, saved: Any, attrs: Any) -> Any:
            return pull(raw, g, saved, attrs)

        def rehearsed(_: Any, g: Any, saved: Any, attrs: Any) -> Any:
            operator = self.operator()
            expected = self._expected(operator, None)
            return self.call(on_arrays, (g, saved, attrs), {}, expected, operator, key=pull)

        return rehearsed

    def _dense(self, value: Any) -> Any:
        if value.__class__ is not Scattered:
            return value
        operator = self.operator()
        spec = Spec(tuple(value.shape), value.dtype)
        made = self.call(_densified, (value,), {}, [spec], operator, name_results=False)
        for ref in () if operator is None else operator.results:
            self._name(made, ref.key)
        return made

    def _expected(self, operator: Operator | None, operands: Sequence[Any] | None) -> list[Spec]:
        return [] if operator is None else self.resolver.results(operator, operands)

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        expected: Sequence[Spec],
        operator: Operator | None,
        *,
        key: Any = None,
        name_results: bool = True,
    ) -> Any:
        """The result of a kernel among planned arrays; what it takes is noted as a step."""
        tree = Tree()
        structure = tree.take((args, kwargs))
        for array in tree.arrays:
            if isinstance(array, Planned):
                array.shape = tuple(map(self.symbols.resolved, array.shape))
        profile, back = profile_of(function, tree, structure, expected, key)
        fresh = [self.meter.hold(back(size), operator) for size in profile.fresh]
        arrays: list[Any] = []
        for leaf in profile.leaves:
            if leaf.same is not None:
                arrays.append(tree.arrays[leaf.same])
                continue
            kind, number = leaf.memory
            source = tree.arrays[number] if kind == "operand" else None
            memory = fresh[number] if kind == "fresh" else getattr(source, "memory", None)
            shape = tuple(map(back, leaf.shape))
            made = Planned(shape, leaf.dtype, leaf.layout, memory, view=leaf.view)
            if memory is not None and memory.spec is None:
                memory.spec = made.spec
            arrays.append(made)
        # Names that the caller has just bound are all that keeps what follows alive.
        del fresh, tree
        result = build(profile.tree, lambda kind, k: _leaf(kind, k, arrays, profile, back))
        if name_results and operator is not None:
            several = result if isinstance(result, (tuple, list)) else (result,)
            for ref, value in zip(operator.results, several, strict=False):
                self._name(value, ref.key)
        self.note(
            operator, self.meter.total + back(profile.extra), back(profile.extra), profile.assumed
        )
        return result

    def note(
        self, operator: Operator | None, peak: Size, extra: Size = 0, assumed: bool = False
    ) -> None:
        """A step, whose peak this is."""
        if len(self.steps) == self.watched:
            self.held = [
                (m.size, m.spec, m.made_by, list(m.names)) for m in self.meter.live.values()
            ]
        self.steps.append(Step(operator, peak, self.meter.total, extra, assumed))

    def _name(self, value: Any, key: tuple[str, int]) -> None:
        for memory in memories(value):
            if key not in memory.names:
                memory.names.append(key)


def memories(value: Any) -> list[Memory]:
    """What an array, or a scattered cotangent, keeps alive."""
    if isinstance(value, Planned):
        return [] if value.memory is None else [value.memory]
    tree = Tree()
    tree.take(value)
    return [a.memory for a in tree.arrays if isinstance(a, Planned) and a.memory is not None]


def _leaf(kind: str, k: int, arrays: list[Any], profile: Any, back: Callable[[Size], Size]) -> Any:
    if kind == "array":
        return arrays[k]
    if kind == "spec":
        spec = profile.specs[k]
        return Spec(tuple(map(back, spec.shape)), spec.dtype)
    return profile.constants[k]


def _densified(value: Scattered) -> Any:
    return value.dense()


class _PlannedRaw(Namespace):
    """The place of `raw` in the function that is rehearsed."""

    def __init__(self, scatter: Callable[..., Any]) -> None:
        self.scatter = scatter


class _Branches(ast.NodeTransformer):
    """``(a if truth(p) else b)(x)`` as ``larger(a, b)(x)``."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        name = ast.Name("larger", ast.Load())
        call = ast.Call(name, [node.body, node.orelse], [])
        return ast.copy_location(call, node)


def _branches_together(source: str) -> ast.Module:
    tree: ast.Module = _Branches().visit(ast.parse(source))
    return ast.fix_missing_locations(tree)
