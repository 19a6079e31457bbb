"""What `explain` returns: reasons that a program can read, as a report that a person can."""

from __future__ import annotations

from dataclasses import dataclass

from autograd_engine.core.report import Report

__all__ = ["Explanation", "Reason"]


@dataclass(frozen=True)
class Reason:
    """One cause.

    Attributes
    ----------
    kind : str
        One word for it, such as ``not_retained``; the page of `Explanation` lists them.
    text : str
        What happened and what to type instead.
    location : str or None
        The user's line it happened at, as ``train.py:12``.
    certain : bool
        False for what may be the cause, where the graph that would prove it is gone.
    """

    kind: str
    text: str
    location: str | None = None
    certain: bool = True


@dataclass(frozen=True, repr=False)
class Explanation(Report):
    """Why a gradient is what it is.

    Attributes
    ----------
    subject : str
        What was asked about.
    state : {"none", "zero", "partly zero", "not finite", "fine"}
        What its gradient is.
    reasons : tuple of Reason
        The likeliest first.
    path : tuple of str
        The operations from the loss back to it, or to where it was lost.
    notes : tuple of str

    Notes
    -----
    Kinds where there is no gradient: ``stop_gradient``, ``not_floating``, ``not_retained``,
    ``no_backward``, ``cleared``, ``graph_freed``, ``not_reached``, ``not_recorded``, ``detached``,
    ``set_value``, ``left_graph`` (through NumPy or Python numbers), ``integer_cast``,
    ``not_differentiable``, ``no_create_graph``, ``no_grad``, ``not_connected``, ``unused``; in
    programs also ``no_gradient_asked``.

    Where it is zero: ``cleared``, ``inactive`` (relu), ``not_chosen`` (where, clip, maximum, max),
    ``multiplied_by_zero``, ``saturated``, ``cancelled``, ``underflow``, ``zero_derivative``,
    ``hook``, ``other_pass``.

    Where it is not finite: ``forward_not_finite``, ``zero_times_infinity``,
    ``infinite_derivative``, ``overflow``, ``hook``, ``other_pass``.
    """

    subject: str
    state: str
    reasons: tuple[Reason, ...] = ()
    path: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def reason(self) -> str | None:
        """The kind of the first reason, None where nothing is wrong."""
        return self.reasons[0].kind if self.reasons else None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of all reasons."""
        return tuple(dict.fromkeys(r.kind for r in self.reasons))

    def _parts(self) -> list[str]:
        lines = [f"{self.subject}: {_STATES[self.state]}"]
        for reason in self.reasons:
            lines.append(f"  - {'' if reason.certain else 'perhaps: '}{reason.text}")
        if self.path:
            lines.append("  path, from the loss back:")
            lines += [f"      {step}" for step in self.path]
        lines += [f"  note: {note}" for note in self.notes]
        return lines


_STATES = {
    "none": "the gradient is None",
    "zero": "the gradient is zero everywhere",
    "partly zero": "the gradient is zero in places",
    "not finite": "the gradient is not finite",
    "fine": "the gradient is there, finite and not zero",
}
