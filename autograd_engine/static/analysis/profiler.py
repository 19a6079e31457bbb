"""How long each operation of a program takes, and how much memory it moves: `Executor.profile`.

What is timed is the straight-line function, with a stamp before and after each of its statements.
A backend that offers `timed_run` is asked for its own account, part by part. Everything is run on
copies.
"""

from __future__ import annotations

import ast
import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.compiler.python.function import CompiledFunction
from autograd_engine.core.effects_switch import without_effects
from autograd_engine.core.locks import parse_source
from autograd_engine.core.pytree import leaves
from autograd_engine.core.random_generator import generator, own_generator, snapshot
from autograd_engine.core.report import Report, Table
from autograd_engine.core.spec import Array, Spec
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Operator, Program, Ref
from autograd_engine.program.scope import Scope
from autograd_engine.static.executor.bound_program import contiguous
from autograd_engine.static.executor.errors import failed
from autograd_engine.static.executor.persistable_values import given_values, read_values
from autograd_engine.static.executor.plan import Plan
from autograd_engine.static.symbolic_size import format_bytes

__all__ = ["OperatorTime", "Profile", "SegmentTime", "profiled", "timed_function"]

Clock = Callable[[], int]

_HEAD: Final = ("operator", "results", "time", "share", "moved", "rate", "line")


class Stamp(NamedTuple):
    """One statement of one run: nanoseconds, and what it read and wrote."""

    operator: Operator
    start: int
    stop: int
    read: int
    written: int
    shapes: str


@dataclass(frozen=True)
class OperatorTime:
    """One operator of the program.

    Attributes
    ----------
    operator : Operator
    seconds : float
        The median of all repeats.
    read, written : int
        Bytes of its operands and of its results.
    shapes : str
        Its results, ``float32[32, 64]``.
    """

    operator: Operator
    seconds: float
    read: int
    written: int
    shapes: str

    @property
    def type(self) -> str:
        return self.operator.type

    @property
    def bytes(self) -> int:
        return self.read + self.written

    @property
    def line(self) -> str:
        """The user's."""
        return str(self.operator.location)


@dataclass(frozen=True)
class SegmentTime:
    """One part of what a backend made of the program, by its own account."""

    label: str
    seconds: float
    bytes: int
    line: str


class Profile(Report):
    """Times of one program.

    Attributes
    ----------
    operators : list of OperatorTime
        In the order of the program.
    segments : list of SegmentTime
        Parts of what the backend runs; empty where it gives no account.
    backend : str
        What runs the program where it is not profiled; see `Executor.explain`.
    backend_seconds : float or None
        A run by it, without stamps.
    seconds : float
        A run of the straight-line function, with stamps: the median.
    repeat : int
    """

    def __init__(
        self,
        runs: list[list[Stamp]],
        backend: str,
        backend_seconds: float | None,
        segments: Sequence[SegmentTime],
    ) -> None:
        self.repeat = len(runs)
        self.backend = backend
        self.backend_seconds = backend_seconds
        self.segments = list(segments)
        totals = [run[-1].stop - run[0].start if run else 0 for run in runs]
        self.seconds = statistics.median_low(totals) / 1e9
        self._run = runs[totals.index(statistics.median_low(totals))]
        self.operators = list(_by_operator(runs))

    def sorted(self) -> list[OperatorTime]:
        """The slowest first."""
        return sorted(self.operators, key=lambda o: -o.seconds)

    def _parts(self) -> list[str | Table]:
        return [self._head(), Table(_HEAD, self._rows()), *self._segment_lines()]

    def _head(self) -> str:
        text = f"{_time(self.seconds)} for a run of straight-line Python (median of {self.repeat})"
        if self.backend_seconds is not None:
            text += f"; {_time(self.backend_seconds)} by the backend, {self.backend}"
        return text

    def _rows(self) -> list[tuple[str, ...]]:
        whole = sum(o.seconds for o in self.operators) or 1.0
        return [
            (
                o.type,
                o.shapes,
                _time(o.seconds),
                f"{o.seconds / whole:.1%}",
                format_bytes(o.bytes),
                f"{o.bytes / o.seconds / 1e9:.1f} GB/s" if o.seconds else "",
                o.line,
            )
            for o in self.sorted()
        ]

    def _segment_lines(self) -> list[str]:
        if not self.segments:
            return []
        lines = [f"parts of what {self.backend} runs:"]
        for s in sorted(self.segments, key=lambda s: -s.seconds):
            lines.append(
                f"  {_time(s.seconds)}  {format_bytes(s.bytes)}  {s.label}  {s.line}".rstrip()
            )
        return lines

    # --- the trace file

    def trace(self) -> dict[str, Any]:
        """One run as a Chrome trace: events with a beginning and a duration in microseconds."""
        events = [
            _named("process_name", 0, "autograd_engine"),
            _named("thread_name", 0, "operators"),
        ]
        start = self._run[0].start if self._run else 0
        for stamp in self._run:
            o = stamp.operator
            shown = {
                "results": stamp.shapes,
                "bytes read": stamp.read,
                "bytes written": stamp.written,
                "line": str(o.location),
                "text": o.location.text,
            }
            at, lasted = (stamp.start - start) / 1e3, (stamp.stop - stamp.start) / 1e3
            events.append(_event(o.type, o.role, 0, at, lasted, shown))
        if self.segments:
            events.append(_named("thread_name", 1, self.backend))
        at = 0.0
        for s in self.segments:
            shown = {"bytes": s.bytes, "line": s.line}
            events.append(_event(s.label, self.backend, 1, at, s.seconds * 1e6, shown))
            at += s.seconds * 1e6
        return {"traceEvents": events, "displayTimeUnit": "ns"}

    def save(self, path: str | PathLike[str]) -> None:
        """Write `trace` to a file that chrome://tracing and ui.perfetto.dev open.

        Parameters
        ----------
        path : str or path-like
            Replaced as a whole, where there is one.
        """
        from autograd_engine.core.atomic_file import write_atomically

        write_atomically(Path(path), json.dumps(self.trace()))


def _named(kind: str, tid: int, name: str) -> dict[str, Any]:
    return {"name": kind, "ph": "M", "pid": 1, "tid": tid, "args": {"name": name}}


def _event(
    name: str, kind: str, tid: int, at: float, lasted: float, shown: dict[str, Any]
) -> dict[str, Any]:
    """Something that takes time, in microseconds."""
    event = {"name": name, "cat": kind, "ph": "X", "pid": 1, "tid": tid}
    return event | {"ts": at, "dur": lasted, "args": shown}


def _by_operator(runs: list[list[Stamp]]) -> Iterator[OperatorTime]:
    times: dict[int, list[int]] = {}
    for run in runs:
        spent: dict[int, int] = {}
        for stamp in run:
            n = stamp.operator.number
            spent[n] = spent.get(n, 0) + stamp.stop - stamp.start
        for n, t in spent.items():
            times.setdefault(n, []).append(t)
    first: dict[int, Stamp] = {}
    for stamp in runs[-1]:
        first.setdefault(stamp.operator.number, stamp)
    for n, s in first.items():
        seconds = statistics.median(times[n]) / 1e9
        yield OperatorTime(s.operator, seconds, s.read, s.written, s.shapes)


def _time(seconds: float) -> str:
    if seconds >= 1.0:
        return f"{seconds:.3f} s"
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.2f} us"


# --- the function with stamps


def timed_function(
    compiled: CompiledFunction, stamps: list[Stamp], clock: Clock = time.perf_counter_ns
) -> Callable[..., Any]:
    """The function itself, taking note of each of its statements in `stamps`."""
    tree = parse_source(compiled.source)
    operators: list[Operator] = []

    def note(k: int, start: int, stop: int, read: tuple[Any, ...], made: tuple[Any, ...]) -> None:
        shapes = ", ".join(_kind(v) for v in made)
        stamps.append(Stamp(operators[k], start, stop, _size(read), _size(made), shapes))

    for function in tree.body:
        assert isinstance(function, ast.FunctionDef)
        body: list[ast.stmt] = []
        for statement in function.body:
            operator = compiled.lines.get(statement.lineno)
            if operator is None or operator.block.idx != 0:
                body.append(statement)
                continue
            operators.append(operator)
            body += _stamped(statement, operator, len(operators) - 1)
        function.body = body
    scope = dict(compiled.function.__globals__)
    scope |= {"__note": note, "__clock": clock}
    exec(compile(ast.fix_missing_locations(tree), compiled.filename, "exec"), scope)
    made: Callable[..., Any] = scope[compiled.function.__name__]
    return made


def _stamped(statement: ast.stmt, operator: Operator, index: int) -> list[ast.stmt]:
    read = ", ".join(_read(statement, operator))
    made = ", ".join(_names(statement, ast.Store))
    lines = (
        f"__start = __clock()\n__stop = __clock()\n"
        f"__note({index}, __start, __stop, ({read}{',' * bool(read)}), ({made}{',' * bool(made)}))"
    )
    start, stop, note = parse_source(lines).body
    for new in (start, stop, note):
        for node in ast.walk(new):
            ast.copy_location(node, statement)
    return [start, statement, stop, note]


def _names(node: ast.AST, context: type[ast.expr_context]) -> list[str]:
    found = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)]
    return list(dict.fromkeys(found))


def _read(statement: ast.stmt, operator: Operator) -> list[str]:
    """Names of the arrays whose values are read, and not their shapes only."""
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
    if not calls:
        return []
    names = [[n.id] if isinstance(n, ast.Name) else [] for arg in calls[0].args for n in _flat(arg)]
    op = operator.op
    positions = list(range(len(operator.operands)))
    if isinstance(op, GradOp):
        names = names[1 : 1 + len(positions)]  # the first is the namespace
        positions = leaves(op.arrange(positions))
    if len(names) != len(positions):  # a block's, or one of another form
        return [n for mine in names for n in mine]
    return [
        n
        for mine, k in zip(names, positions, strict=True)
        for n in mine
        if isinstance(operator.operands[k], Ref) and op.reads_value(k)
    ]


def _flat(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, (ast.Tuple, ast.List)):
        for part in node.elts:
            yield from _flat(part)
    else:
        yield node


def _size(values: Any) -> int:
    """Bytes of the arrays among these values."""
    return sum(v.nbytes for v in leaves(values) if isinstance(v, (np.ndarray, np.generic)))


def _kind(value: Any) -> str:
    if not hasattr(value, "dtype"):
        return type(value).__name__
    return repr(Spec(value.shape, value.dtype))


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
    specialization = plan.specialization(arrays[: len(plan.feeds)])
    compiled = plan.specializations.ready(specialization)
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
