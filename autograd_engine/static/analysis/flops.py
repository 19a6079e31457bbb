"""Arithmetic that a program takes, counted before it runs: `flops`.

A gradient operator is counted by its rule: the pullback is run in a namespace that notes which
primitive operations it would do, so there is no second table for gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from autograd_engine.core.dims import Size
from autograd_engine.core.dtypes import scalar_dtype
from autograd_engine.core.report import Report, preformatted, table
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.namespace import Namespace
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.ops.registry.stand_ins import bind_operators
from autograd_engine.ops.registry.work import Work
from autograd_engine.program.ir.control_flow_op import BlockOp, branches_of, kind_of
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import (
    Block,
    OperandRef,
    Operator,
    Program,
    Ref,
)
from autograd_engine.static.symbol_solver import Resolver
from autograd_engine.static.symbolic_size import Formula, Symbols

__all__ = ["FlopsReport", "OperatorWork", "flops"]


class _Value:
    """What a rule computes with while its operations are counted: a shape and a dtype."""

    __slots__ = ("dtype", "shape", "xp")
    __hash__ = object.__hash__
    __array_ufunc__ = None

    def __init__(self, xp: _Counting, spec: Spec) -> None:
        self.xp = xp
        self.shape = spec.shape
        self.dtype = spec.dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Size:
        return self.spec.size

    @property
    def spec(self) -> Spec:
        return Spec(self.shape, self.dtype)


def _apply(self: _Value, name: str, operands: tuple[Any, ...]) -> Any:
    if any(isinstance(o, Scattered) for o in operands):
        return NotImplemented
    return getattr(self.xp, name)(*operands)


bind_operators(_Value, _apply)


class _Counting(Namespace):
    """The operations of the table, each of which adds its work to a total."""

    def __init__(self) -> None:
        self.work = Work()

    def __getitem__(self, op: OpDef) -> Callable[..., Any]:
        return self.bind(op)

    def bind(self, op: OpDef) -> Callable[..., Any]:
        def call(*operands: Any, **attrs: Any) -> Any:
            full = op.complete_attrs(attrs)
            known = [o.dtype for o in operands if isinstance(o, _Value)]
            specs = [
                Spec(tuple(o.shape), o.dtype)
                if hasattr(o, "dtype")
                else Spec((), scalar_dtype(o, known))
                for o in operands
            ]
            results = list(op.infer_tuple(specs, full))
            self.work = self.work.plus(op.work(specs, results, full))
            made = tuple(_Value(self, s) for s in results)
            return made if op.multiple else made[0]

        return call

    def project(self, g: Any, like: Any) -> Any:
        if g is None or tuple(g.shape) == tuple(like.shape):
            return g
        return self.sum_like(g, like)

    def scatter(self, name: str, *operands: Any, **attrs: Any) -> Any:
        return getattr(self, name)(*operands, **attrs)


@dataclass(slots=True, eq=False, repr=False)
class OperatorWork:
    """What one operator does.

    Attributes
    ----------
    operator : Operator
    products, elementwise, total : Formula
    """

    operator: Operator
    work: Work
    _symbols: Symbols

    @property
    def products(self) -> Formula:
        return Formula([self.work.products], self._symbols, "flops")

    @property
    def elementwise(self) -> Formula:
        return Formula([self.work.elementwise], self._symbols, "flops")

    @property
    def total(self) -> Formula:
        return Formula([self.work.total], self._symbols, "flops")

    def __repr__(self) -> str:
        return f"<{self.operator.type}: {self.total!r}>"


@dataclass(eq=False, repr=False)
class FlopsReport(Report):
    """Arithmetic operations of one run, as formulas in the sizes that are unknown.

    Attributes
    ----------
    operators : list of OperatorWork
        Those outside of any block, in order; one with blocks stands for what is inside of them.
    """

    operators: list[OperatorWork]
    _symbols: Symbols

    def _sum(self, which: Callable[[Operator], bool], part: str = "total") -> Formula:
        total: Size = 0
        for row in self.operators:
            if which(row.operator):
                total = total + getattr(row.work, part)
        return Formula([total], self._symbols, "flops")

    @property
    def total(self) -> Formula:
        return self._sum(lambda o: True)

    @property
    def products(self) -> Formula:
        """Of products of matrices, convolutions and linear algebra: two for each multiply-add."""
        return self._sum(lambda o: True, "products")

    @property
    def elementwise(self) -> Formula:
        return self._sum(lambda o: True, "elementwise")

    @property
    def forward(self) -> Formula:
        return self._sum(lambda o: o.role == "forward")

    @property
    def backward(self) -> Formula:
        return self._sum(lambda o: o.role == "backward")

    @property
    def updates(self) -> Formula:
        """Of optimizers and what else is neither forward nor backward."""
        return self._sum(lambda o: o.role not in ("forward", "backward"))

    @property
    def by_type(self) -> dict[str, Formula]:
        """Totals by type of operator, the largest first."""
        return self._grouped(lambda o: o.type)

    @property
    def by_line(self) -> dict[str, Formula]:
        """Totals by the user's line, the largest first."""
        return self._grouped(lambda o: str(o.location))

    def _grouped(self, key: Callable[[Operator], str]) -> dict[str, Formula]:
        totals: dict[str, Size] = {}
        for row in self.operators:
            name = key(row.operator)
            totals[name] = totals.get(name, 0) + row.work.total
        order = sorted(totals, key=lambda n: -self._symbols.magnitude(totals[n]))
        return {n: Formula([totals[n]], self._symbols, "flops") for n in order}

    def __int__(self) -> int:
        return int(self.total)

    def _totals(self) -> list[str]:
        return [f"{name}: {_shown(getattr(self, name))}" for name in _PARTS]

    def _parts(self) -> list[str]:
        lines = [*self._totals(), "by type:"]
        lines += [f"  {name}: {_shown(f)}" for name, f in self.by_type.items() if f != 0]
        lines.append("by line:")
        lines += [f"  {name}: {_shown(f)}" for name, f in self.by_line.items() if f != 0]
        return lines

    def _repr_html_(self) -> str:
        rows = [(name, _shown(f)) for name, f in self.by_line.items() if f != 0]
        return preformatted("\n".join(self._totals())) + table(rows, ("line", "flops"))


_PARTS: Final = ("total", "products", "elementwise", "forward", "backward", "updates")


def _shown(formula: Formula) -> str:
    value = formula.value
    text = str(formula)
    return text if value is None or str(value) == text else f"{text} = {value:,}"


def flops(
    program: Program | None = None, feed_specs: Mapping[str, Any] | None = None
) -> FlopsReport:
    """Count the arithmetic operations of `program`.

    Parameters
    ----------
    program : Program, optional
        By default the default main program.
    feed_specs : dict, optional
        As for `memory_report`.

    Returns
    -------
    FlopsReport

    Raises
    ------
    FeedError
        When `feed_specs` does not fit what the program declares.

    Notes
    -----
    A multiply-add counts two. A function of an element counts one whichever it is, a reduction
    one for each element that it reads, and what moves elements nothing. Of a branch the larger
    side counts; a loop counts its body as often as it runs, which is a symbol, ``trips``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [None, 100], "float32")
    ...     w = paddle.static.create_parameter([100, 10], "float32")
    ...     y = paddle.tanh(paddle.matmul(x, w))
    >>> report = paddle.static.flops(main, {"x": (32, 100)})
    >>> report.products, report.elementwise, int(report)
    (2000*x.shape[0] flops, 10*x.shape[0] flops, 64320)
    """
    from autograd_engine.static.executor.executor import _program
    from autograd_engine.static.executor.feeds import symbols_of

    program = _program(program)
    block = program.global_block()
    feeds = [v for v in block.vars.values() if v.is_data]
    symbols = symbols_of(program, feeds, feed_specs)
    rows = _Counter(symbols).rows(block)
    return FlopsReport([OperatorWork(o, work, symbols) for o, work in rows], symbols)


class _Counter:
    """Walks blocks; shapes of what it has seen, and how often loops run."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.resolver = Resolver(symbols)
        self.trips: dict[tuple[Block, tuple[str, int]], Size] = {}

    def rows(self, block: Block, known: Mapping[Any, Spec] | None = None) -> Iterator[Any]:
        """(operator, Work) of each operator of a block."""
        specs: dict[tuple[str, int], Spec] = dict(known or {})
        for operator in block.ops:
            operands = [self._spec(o, specs) for o in operator.operands]
            if isinstance(operator.op, BlockOp):
                results = self.resolver.results(operator, None)
                work = self._inside(operator, operands)
            elif isinstance(operator.op, GradOp):
                results = self.resolver.results(operator, None)
                work = self._pulled(operator, operands)
            else:
                given = [o for o in operands if o is not None]
                results = self.resolver.results(operator, given)
                work = operator.op.work(given, results, operator.attrs)
            specs.update(zip([r.key for r in operator.results], results, strict=False))
            yield operator, work

    def _spec(self, operand: OperandRef, specs: Mapping[Any, Spec]) -> Spec | None:
        if not isinstance(operand, Ref):
            return None if operand is None else operand.spec
        found = specs.get(operand.key)
        if found is None:
            shape = map(self.symbols.resolved, operand.spec.shape)
            found = Spec(tuple(shape), operand.spec.dtype)
        return found

    def _pulled(self, operator: Operator, operands: Sequence[Spec | None]) -> Work:
        """The work of a rule."""
        op = operator.op
        assert isinstance(op, GradOp)
        xp = _Counting()
        g, saved = op.arrange([None if s is None else _Value(xp, s) for s in operands])
        op.pullback.pull(xp, g, saved, operator.attrs)
        return xp.work

    def _inside(self, operator: Operator, operands: Sequence[Spec | None]) -> Work:
        """The work of blocks: the larger branch, or the iterations of a loop."""
        attrs = operator.attrs
        if kind_of(operator) in ("cond", "call"):
            blocks, first = branches_of(operator)
            branches = [self._block(block, operands[first:]) for block in blocks]
            return max(branches, key=lambda w: self.symbols.magnitude(w.total))
        body = attrs.get("body_block")
        if body is None:
            return Work()
        is_while = kind_of(operator) == "while"
        given = operands if is_while else operands[1:]
        if is_while:
            trips = self._new_trips()
            number = operator.results[attrs["carried"]]
            self.trips[operator.block, number.key] = trips
            test = self._block(attrs["cond_block"], given)
            return self._block(body, given).plus(test).times(trips).plus(test)
        count = operator.operands[0]
        key = count.key if isinstance(count, Ref) else ("", 0)
        found = self.trips.get((operator.block, key))
        return self._block(body, given).times(self._new_trips() if found is None else found)

    def _new_trips(self) -> Size:
        return self.symbols.trips(1 + len(self.trips))

    def _block(self, block: Block, given: Sequence[Spec | None]) -> Work:
        known = {
            (v.name, 0): s
            for v, s in zip(block.arguments, given, strict=False)
            if s is not None and not v.is_stack and len(s.shape) == v.ndim
        }
        total = Work()
        for _, work in self.rows(block, known):
            total = total.plus(work)
        return total
