"""What a run of a program will need in memory, before it runs: `memory_report`.

The function that an executor would run is run dry (see `dry_run`). What is counted is what
NumPy allocates: operands and results from their birth to their ``del``, what is fed, parameters,
and temporaries inside of kernels. The interpreter, its objects and buffers of BLAS are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from autograd_engine.core.above import above
from autograd_engine.core.dims import Dim
from autograd_engine.core.report import Report, Table
from autograd_engine.core.spec import Spec
from autograd_engine.program.ir.program import Operator, Program, Ref
from autograd_engine.static.analysis.dry_run import DryRun, allocations_of
from autograd_engine.static.analysis.fake_array import FakeArray, Layout, Meter, Step
from autograd_engine.static.executor.feeds import symbols_of
from autograd_engine.static.executor.plan import Plan, Plans, Wanted
from autograd_engine.static.symbolic_size import Formula, Symbols, format_bytes

__all__ = ["Alive", "MemoryReport", "Moment", "memory_report"]


@dataclass(eq=False, repr=False)
class Alive:
    """An array that is there at the peak.

    Attributes
    ----------
    name : str
        Of the variable; of temporaries, what has them.
    shape : tuple of (int or str)
    dtype : numpy.dtype or None
    bytes : Formula
    made_by : Operator or str
        The operator that allocated it; or ``"feed"``, ``"scope"``.
    kept_for : Operator or str
        The operator that reads it last; or what else holds it.
    """

    name: str
    _spec: Spec | None
    bytes: Formula
    made_by: Operator | str
    kept_for: Operator | str

    @property
    def shape(self) -> tuple[int | str, ...]:
        sizes = () if self._spec is None else self._spec.shape
        return tuple(self.bytes.symbols.text(d) if isinstance(d, Dim) else d for d in sizes)

    @property
    def dtype(self) -> np.dtype[Any] | None:
        return None if self._spec is None else self._spec.dtype

    def __repr__(self) -> str:
        return f"<{self.name}: {self.bytes!r}, {_why(self.kept_for)}>"


@dataclass(slots=True, eq=False, repr=False)
class Moment:
    """One step of a run.

    Attributes
    ----------
    operator : Operator or None
        None for the copies of what is fetched.
    peak, after : Formula
        Bytes at most while it runs, and when it has returned.
    """

    _step: Step
    _symbols: Symbols

    @property
    def operator(self) -> Operator | None:
        return self._step.operator

    @property
    def peak(self) -> Formula:
        return Formula([self._step.peak], self._symbols)

    @property
    def after(self) -> Formula:
        return Formula([self._step.after], self._symbols)

    def __repr__(self) -> str:
        what = "fetch" if self.operator is None else self.operator.type
        return f"<{what}: {self.peak!r}>"


@dataclass(eq=False, repr=False)
class MemoryReport(Report):
    """The predicted need of memory of one run.

    Attributes
    ----------
    peak : Formula
        Bytes, in the sizes that are unknown; ``int(report.peak)`` where `feed_specs` gave them.
    operator : Operator or None
        Which runs at the peak (for large sizes, where they are unknown); None for the copies of
        what is fetched.
    alive : list of Alive
        What is there then, the largest first.
    timeline : list of Moment
    assumed : list of str
        Operations that could not be probed: their temporaries are not counted.
    """

    program: Program
    peak: Formula
    operator: Operator | None
    alive: list[Alive]
    timeline: list[Moment]
    assumed: list[str]
    feed_specs: Mapping[str, Any] | None = None

    @property
    def peak_bytes(self) -> int | None:
        """The peak as a number; None where it depends on sizes that are not given."""
        return self.peak.value

    @property
    def peak_text(self) -> str:
        """The formula, and what it comes to where that is known."""
        peak = self.peak.value
        return repr(self.peak) + ("" if peak is None else f" = {format_bytes(peak)}")

    def recompute(self, checkpoints: Any) -> Any:
        """What checkpoints would save and cost; see `static.recompute_report`."""
        return above.recompute_report(self.program, checkpoints, self.feed_specs)

    def _parts(self) -> list[str | Table]:
        parts: list[str | Table] = [f"peak: {self.peak_text}", f"at: {_at(self.operator)}"]
        parts += [f"with: {note}" for note in self.peak.symbols.assumptions()]
        parts += ["alive there:", Table(_HEAD, self._rows())]
        if self.assumed:
            parts.append(f"not counted: temporaries of {', '.join(self.assumed)}")
        return parts

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for a in self.alive:
            dtype = "" if a.dtype is None else f"{a.dtype.name}[{', '.join(map(str, a.shape))}]"
            value = a.bytes.value
            count = str(a.bytes) if value is None else format_bytes(value)
            rows.append((a.name, dtype, count, _origin(a.made_by), _why(a.kept_for)))
        return rows


_HEAD: Final = ("name", "array", "bytes", "made by", "alive because")


def _at(operator: Operator | None) -> str:
    if operator is None:
        return "the copies of what is fetched"
    text = operator.location.text
    return f"{operator.type} of {operator.location}" + (f": {text}" if text else "")


def _origin(made_by: Operator | str) -> str:
    return made_by if isinstance(made_by, str) else f"{made_by.type} of {made_by.location}"


def _why(kept_for: Operator | str) -> str:
    if isinstance(kept_for, str):
        return kept_for
    return f"{kept_for.type} of {kept_for.location} reads it"


def memory_report(
    program: Program | None = None,
    feed_specs: Mapping[str, Any] | None = None,
    fetch_list: Any = None,
) -> MemoryReport:
    """Predict the peak memory of ``Executor.run(program, feed, fetch_list)``.

    Nothing of the program is run. Kernels are called on small arrays, once for each kind of call,
    to see what they allocate; what is found is remembered.

    Parameters
    ----------
    program : Program, optional
        By default the default main program.
    feed_specs : dict, optional
        For each name that is fed its shape, ``(shape, dtype)``, or an array. Where it is left out
        sizes stay unknown, and the first size of everything that is fed is taken to be the same,
        the batch.
    fetch_list : Variable, str, or list of them, optional
        As for `Executor.run`.

    Returns
    -------
    MemoryReport

    Raises
    ------
    FeedError
        When `feed_specs` does not fit what the program declares.
    ExecutionError
        When something in `fetch_list` is not of this program.

    Notes
    -----
    The prediction is for arrays that matter (megabytes): of small ones the interpreter's own
    objects are the larger part. While kernels are probed `tracemalloc` is used; where the caller
    is tracing already, its record of the peak begins anew.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [None, 1000], "float32")
    ...     y = paddle.tanh(x) * 2.0
    >>> report = paddle.static.memory_report(main, {"x": (500, 1000)}, [y])
    >>> report.peak, report.peak_bytes, report.operator.type
    (12000*x.shape[0] bytes, 6000000, 'multiply')
    """
    from autograd_engine.static.executor.executor import _program
    from autograd_engine.static.executor.fetches import split_fetches

    program = _program(program)
    refs, operators = split_fetches(program, fetch_list)
    with program.lock:
        plan = Plans().find(program, Wanted(refs, bool(operators), operators))
    symbols = symbols_of(program, plan.feeds, feed_specs)
    number = symbols.magnitude
    meter = _dry_run(plan, symbols)
    steps = meter.steps
    at = max(range(len(steps)), key=lambda k: number(steps[k].peak))
    formula = Formula([s.peak for s in steps], symbols)
    alive = _alive(plan, meter, at, symbols)
    if steps[at].extra != 0:
        extra = Formula([steps[at].extra], symbols)
        operator = steps[at].operator
        where = "" if operator is None else operator.type
        alive.append(
            Alive(f"(inside {where})", None, extra, operator or "fetch", "its temporaries")
        )
    alive.sort(key=lambda a: -number(a.bytes.pieces[0]))
    assumed = [s.operator.type for s in steps if s.assumed and s.operator is not None]
    return MemoryReport(
        program,
        formula,
        steps[at].operator,
        alive,
        [Moment(s, symbols) for s in steps],
        list(dict.fromkeys(assumed)),
        feed_specs,
    )


def _dry_run(plan: Plan, symbols: Symbols) -> Meter:
    """A run of the plan, and what the executor does with its results."""
    run = DryRun(plan.compiled, symbols)
    meter = run.meter
    inputs = []
    for k, ref in enumerate(plan.compiled.inputs):
        spec = Spec(tuple(map(symbols.resolved, ref.var.spec.shape)), ref.var.spec.dtype)
        made = FakeArray(spec.shape, spec.dtype, Layout.plain(spec.ndim))
        made.memory = meter.hold(made.nbytes, "feed" if k < len(plan.feeds) else "scope")
        made.memory.allocation.names[ref.key] = 0
        made.memory.allocation.spec = spec
        inputs.append(made)
    meter.note(None)
    outputs = run.run(inputs)
    fed = {id(a) for p in inputs[: len(plan.feeds)] for a in allocations_of(p)}
    taken = {id(v) for v in (*inputs, *outputs[plan.fetches :])}
    copies = []
    for value in outputs[: plan.fetches]:
        if isinstance(value, FakeArray) and (value.view or id(value) in taken):
            copies.append(meter.hold(value.nbytes, "fetch"))
        taken.add(id(value))
    for value in outputs[plan.fetches :]:
        if isinstance(value, FakeArray) and any(id(a) in fed for a in allocations_of(value)):
            copies.append(meter.hold(value.nbytes, "scope"))
    if copies:
        meter.note(None)
    return meter


def _alive(plan: Plan, meter: Meter, at: int, symbols: Symbols) -> list[Alive]:
    """What is held at a step, with the names of its variables and who needs it."""
    order = list(plan.compiled.lines.values())
    last: dict[tuple[str, int], int] = {}
    for k, operator in enumerate(order):
        for position, operand in enumerate(operator.operands):
            if isinstance(operand, Ref) and operator.op.reads_value(position):
                last[operand.key] = k
    outputs = [r.key for r in plan.compiled.outputs]
    fetched, written = set(outputs[: plan.fetches]), set(outputs[plan.fetches :])
    alive = []
    for held in meter.held(at):
        size, spec, made_by = held.size, held.spec, held.made_by
        if size == 0:
            continue
        names = [name for name, step in held.names.items() if step <= at]
        why: Operator | str
        made = made_by if made_by is not None else "constant"
        if not names and spec is None and made != "fetch":
            why = "of each iteration, for the gradient of the loop"
            alive.append(Alive("(stack)", None, Formula([size], symbols), made, why))
            continue
        latest = max(names, key=lambda n: last.get(n, -1), default=None)
        if made == "feed":
            why = "the caller holds it"
        elif made == "scope":
            why = "the scope holds it"
        elif fetched & set(names):
            why = "it is fetched"
        elif written & set(names):
            why = "the scope will hold it"
        elif latest is not None and latest in last:
            why = order[last[latest]]
        else:
            why = "it has just been made"
        name = names[0][0] if names else "(copy)"
        alive.append(Alive(name, spec, Formula([size], symbols), made, why))
    return alive
