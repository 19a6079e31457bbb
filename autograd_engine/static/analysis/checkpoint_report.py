"""What checkpoints would save and cost, before anything runs: `recompute_report`.

The forward half of a program is copied twice and differentiated, once with checkpoints and once
without. What `memory_report` and `flops` say of the copies is what they would say of the real
programs, for they are such programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from autograd_engine.core.checks import require_type
from autograd_engine.core.operand import Operand
from autograd_engine.core.report import Report
from autograd_engine.errors import ArgumentTypeError, BuildError
from autograd_engine.program.backward.append_backward import append_backward
from autograd_engine.program.ir.program import (
    Block,
    Program,
    Ref,
    Variable,
)
from autograd_engine.program.passes.clone import without
from autograd_engine.static.analysis.flops import FlopsReport, flops
from autograd_engine.static.analysis.memory_report import MemoryReport, memory_report
from autograd_engine.static.symbolic_size import Formula, format_bytes

__all__ = ["RecomputeReport", "recompute_report"]


@dataclass(eq=False, repr=False)
class RecomputeReport(Report):
    """A program differentiated without and with checkpoints.

    Attributes
    ----------
    checkpoints : list of str
    without, with_checkpoints : MemoryReport
    flops_without, flops_with : FlopsReport
    """

    checkpoints: list[str]
    without: MemoryReport
    with_checkpoints: MemoryReport
    flops_without: FlopsReport
    flops_with: FlopsReport

    @property
    def saved_bytes(self) -> int | None:
        """By how much the peak is lower; None where it depends on sizes that are not given."""
        before, after = self.without.peak_bytes, self.with_checkpoints.peak_bytes
        return None if before is None or after is None else before - after

    @property
    def extra_flops(self) -> Formula:
        """What is computed a second time."""
        (before,), (after,) = self.flops_without.total.pieces, self.flops_with.total.pieces
        return Formula([after - before], self.flops_with.total.symbols, "flops")

    def _parts(self) -> list[str]:
        extra, before = self.extra_flops, self.flops_without.total
        lines = [
            f"checkpoints: {', '.join(self.checkpoints)}",
            f"peak without: {self.without.peak_text}",
            f"peak with:    {self.with_checkpoints.peak_text}",
        ]
        saved, cost, base = self.saved_bytes, extra.value, before.value
        if saved is not None:
            peak = self.without.peak_bytes or 1
            lines.append(f"saves: {format_bytes(saved)} ({100 * saved / peak:.1f} %)")
        share = "" if cost is None or not base else f" = {cost:,} ({100 * cost / base:.1f} %)"
        lines.append(f"costs: {extra!r}{share}")
        return lines


def recompute_report(
    program: Program,
    checkpoints: Operand | str | Iterable[Operand | str],
    feed_specs: Mapping[str, Any] | None = None,
    loss: Operand | str | None = None,
) -> RecomputeReport:
    """Predict what ``append_backward(loss, checkpoints=checkpoints)`` saves and costs.

    Parameters
    ----------
    program : Program
        With or without a backward half and updates; the forward half is what counts.
    checkpoints : Variable or str, or list of them
        What would be kept; what lies between is computed again.
    feed_specs : dict, optional
        As for `memory_report`.
    loss : Variable or str, optional
        Where the gradients start. By default where those of `program` do, or else its only result
        that nothing reads.

    Returns
    -------
    RecomputeReport

    Raises
    ------
    BuildError
        When a checkpoint, or the loss, is none of the forward half's values.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main, paddle.static.Program()):
    ...     h = paddle.static.data("x", [None, 512], "float32")
    ...     hidden = []
    ...     for _ in range(8):
    ...         h = paddle.tanh(paddle.static.nn.fc(h, 512, bias_attr=False))
    ...         hidden.append(h)
    ...     loss = paddle.mean(h)
    >>> report = paddle.static.recompute_report(main, hidden[1::2], {"x": (4096, 512)})
    >>> report.saved_bytes > 0, report.extra_flops
    (True, 2099200*x.shape[0] flops)
    """
    require_type(program, Program, "recompute_report: program must be a Program")
    names = _names(checkpoints)
    source = _forward_half(program)
    goal = _loss_name(program, source, loss)
    reports = []
    for kept in (None, names):
        copy = source.clone()
        block = copy.global_block()
        pairs = append_backward(
            block.var(goal), checkpoints=None if kept is None else [block.var(n) for n in kept]
        )
        fetched = [block.var(goal), *(gradient for _, gradient in pairs)]
        reports.append((memory_report(copy, feed_specs, fetched), flops(copy, feed_specs)))
    (memory, count), (memory_with, count_with) = reports
    return RecomputeReport(names, memory, memory_with, count, count_with)


def _names(checkpoints: Any) -> list[str]:
    given = [checkpoints] if isinstance(checkpoints, (Variable, str)) else checkpoints
    if not isinstance(given, (list, tuple, set, frozenset)):
        raise ArgumentTypeError(
            "recompute_report: checkpoints must be a list of Variables or names, got "
            f"{type(checkpoints).__name__}"
        )
    given = list(given)
    for entry in given:
        require_type(
            entry, (Variable, str), "recompute_report: checkpoints must be Variables or names"
        )
    if not given:
        raise BuildError("recompute_report: checkpoints is empty; give one Variable at least")
    return [entry if isinstance(entry, str) else entry.name for entry in given]


def _forward_half(program: Program) -> Program:
    """A copy without gradients and updates."""
    return without(program, {id(o) for o in program.global_block().ops if o.role != "forward"})


def _loss_name(program: Program, source: Program, loss: Operand | str | None) -> str:
    block = source.global_block()
    if loss is not None:
        if not isinstance(loss, (Variable, str)):
            raise ArgumentTypeError(
                f"recompute_report: loss must be a Variable or its name, got {type(loss).__name__}"
            )
        name = loss if isinstance(loss, str) else loss.name
        if name not in block.vars:
            raise BuildError(f"recompute_report: the forward half has no variable {name!r}")
        return name
    marked = [
        r.var.name
        for o in program.global_block().ops
        if o.role == "forward" and o.of_loss
        for r in o.results
    ]
    ends = marked or _ends(block)
    if len(ends) != 1:
        found = ", ".join(ends) or "none"
        raise BuildError(
            f"recompute_report: the loss is not clear, nothing reads these: {found}; pass loss="
        )
    return ends[0]


def _ends(block: Block) -> list[str]:
    """Results that can be differentiated and that nothing reads."""
    read = {o.key for operator in block.ops for o in operator.operands if isinstance(o, Ref)}
    return [
        r.var.name
        for operator in block.ops
        for r in operator.results
        if r.key not in read and not r.var.stop_gradient and not r.var.persistable
    ]
