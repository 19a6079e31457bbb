"""The checks behind `gradcheck`: what is asked of a function at a point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, GradientCheckError, NotDifferentiableError
from autograd_engine.testing.mismatch import Mismatch, Tolerance, causes_of
from autograd_engine.testing.numeric import derivative, first_step, one_sided
from autograd_engine.testing.problem import Problem

__all__ = ["Checker", "default_tolerance"]

Array: TypeAlias = NDArray[Any]
ORDINALS = ("", "first", "second", "third")
SECTIONS = 3


def default_tolerance(problem: Problem, atol: float | None, rtol: float | None) -> Tolerance:
    wide = all(a.dtype == np.float64 for a in problem.arrays)
    wide = wide and all(dtype == np.float64 for _, dtype in problem.specs)
    default = (1e-6, 1e-5) if wide else (1e-3, 1e-2)
    return Tolerance(default[0] if atol is None else atol, default[1] if rtol is None else rtol)


def _require_number(name: str, value: Any, bounds: str, fits: Callable[[float], bool]) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not fits(value):
        got = repr(value) if isinstance(value, (str, int, float)) else type(value).__name__
        raise ArgumentError(f"gradcheck: {name} must be a number, {bounds}; got {got}")


@dataclass
class Checker:
    """What is checked of a problem, and how closely."""

    eps: float | None
    tolerance: Tolerance
    nondet_tol: float
    undefined: bool
    forward: bool

    def __post_init__(self) -> None:
        _require_number("eps", self.eps, "more than 0", lambda n: n > 0)
        _require_number("atol", self.tolerance.absolute, "0 or more", lambda n: n >= 0)
        _require_number("rtol", self.tolerance.relative, "0 or more", lambda n: n >= 0)
        _require_number("nondet_tol", self.nondet_tol, "0 or more", lambda n: n >= 0)

    def check(self, problem: Problem, *, fast: bool) -> None:
        self._is_deterministic(problem)
        self._passes_agree(problem)
        if not fast or not self._projection_agrees(problem):
            self._compare(problem, self._reverse_jacobian(problem), "")
        if self.undefined and len(problem.outputs) > 1:
            self._outputs_alone(problem)
        if self.forward:
            self._forward_agrees(problem)

    # --- the function itself

    def _is_deterministic(self, problem: Problem) -> None:
        xs = problem.leaves(problem.arrays)
        held = [x._data for x in xs]
        first = problem.goals(xs)
        for label, x, data, a in zip(problem.labels, xs, held, problem.arrays, strict=True):
            if x._data is not data or not np.array_equal(x._data, a, equal_nan=True):
                raise _failure(
                    problem,
                    f"func writes to {label}, so it is another function at every call",
                    f"an in-place method or index assignment on {label}: work on "
                    f"{label.split(' ')[0] if label[0] != 'i' else 'x'}.clone()",
                )
        second = problem.goals(problem.leaves(problem.arrays))
        for k, y, z in zip(problem.outputs, first, second, strict=True):
            gap = _gap(y._data, z._data)
            if gap > self.nondet_tol:
                raise _failure(
                    problem,
                    f"two calls of func on the same inputs differ by {gap:.1e} in output {k}",
                    "func is not deterministic: it draws random numbers (call paddle.seed(0) as "
                    "its first line, or draw outside and pass the numbers in), or it depends on "
                    "something that it changes",
                )

    def _passes_agree(self, problem: Problem) -> None:
        """Shape, dtype, the same gradients twice, and the same bits with create_graph."""
        cotangents = problem.cotangents(seed=1)
        plain = problem.pull(cotangents)
        for label, a, g in zip(problem.labels, problem.arrays, plain, strict=True):
            if g is not None and (g._data.shape, g._data.dtype) != (a.shape, a.dtype):
                raise _failure(
                    problem,
                    f"the gradient of {label} is {g._data.dtype.name}{list(g._data.shape)}, the "
                    f"input {a.dtype.name}{list(a.shape)}",
                    _shape_cause(g._data, a),
                )
        again = problem.pull(cotangents)
        recorded = problem.pull(cotangents, create_graph=True)
        for label, g, h, r in zip(problem.labels, plain, again, recorded, strict=True):
            if _gap(_array(g), _array(h)) > self.nondet_tol:
                raise _failure(
                    problem,
                    f"two backward passes give different gradients of {label}",
                    "the backward pass is not deterministic: it draws random numbers, or changes "
                    "what it saved",
                )
            if _gap(_array(g), _array(r)) > self.nondet_tol:
                raise _failure(
                    problem,
                    f"create_graph=True changes the gradient of {label} by "
                    f"{_gap(_array(g), _array(r)):.1e}",
                    "the backward formula asks whether it is being recorded",
                )

    # --- the Jacobian

    def _reverse_jacobian(self, problem: Problem) -> list[Array]:
        """For each input the rows of all outputs, of shape (elements, *shape of the input)."""
        xs = problem.leaves(problem.arrays)
        outputs = problem.goals(xs)
        rows: list[list[Array]] = [[] for _ in xs]
        for k, y in enumerate(outputs):
            for place in range(y._data.size):
                seeds: list[Array | None] = [np.zeros_like(v._data) for v in outputs]
                one = np.zeros(y._data.size, y._data.dtype)
                one[place] = 1.0
                seeds[k] = one.reshape(y._data.shape)
                found = problem.pull_from(outputs, xs, seeds)
                for row, a, g in zip(rows, problem.arrays, found, strict=True):
                    row.append(np.zeros(a.shape) if g is None else g._data.astype(np.float64))
        return [
            np.stack(row) if row else np.zeros((0, *a.shape))
            for row, a in zip(rows, problem.arrays, strict=True)
        ]

    def _forward_jacobian(self, problem: Problem) -> list[Array]:
        columns = []
        for which, a in enumerate(problem.arrays):
            found = []
            for place in range(a.size):
                tangents = [np.zeros_like(b) for b in problem.arrays]
                tangents[which].reshape(-1)[place] = 1.0
                found.append(problem.push(tangents))
            columns.append(_columns(found, a, problem))
        return columns

    def _compare(self, problem: Problem, analytic: list[Array], mode_name: str) -> None:
        """Raise with a report where `analytic` is not what differences give."""
        numeric: list[Array] = []
        doubts: list[Array] = []
        mismatches: list[Mismatch] = []
        for which, (a, j) in enumerate(zip(problem.arrays, analytic, strict=True)):
            value, doubt = self._differences(problem, which)
            numeric.append(value)
            doubts.append(doubt)
            wrong = self.tolerance.wrong(j, value)
            if wrong.any():
                sides = self._sides(problem, which, wrong)
                wrong &= ~self._subgradients(j, sides)
            if not wrong.any():
                continue
            parts = zip(
                problem.outputs,
                problem.specs,
                *(problem.split(v) for v in (j, value, doubt, wrong)),
                _split_sides(problem, sides),
                strict=True,
            )
            label = problem.labels[which]
            mismatches += [
                Mismatch(label, k, shape, a, analytic_k, value_k, doubt_k, wrong_k, sides_k)
                for k, (shape, _), analytic_k, value_k, doubt_k, wrong_k, sides_k in parts
                if wrong_k.any()
            ]
        if mismatches:
            raise self._report(problem, mismatches, numeric, mode_name)
        if not any(j.any() for j in analytic) and not any(n.any() for n in numeric):
            self._depends_on_something(problem)

    def _depends_on_something(self, problem: Problem) -> None:
        """All derivatives are zero: fine for a function that is flat, if it uses its inputs."""
        found = problem.pull(problem.cotangents(seed=1))
        elements = sum(a.size for a in problem.arrays)
        if problem.order == 1 and elements and all(g is None for g in found):
            raise _failure(
                problem,
                "no output depends on any input: nothing was checked",
                "func computes with other tensors than those it is given: use its arguments",
            )

    def _differences(self, problem: Problem, which: int) -> tuple[Array, Array]:
        a = problem.arrays[which]
        found = []
        for place in range(a.size):
            moved = problem.moved(which, _one_hot(a, place))
            step = first_step(float(a.flat[place]), a.dtype, self.eps)
            found.append(derivative(moved, step, lambda v: 0.1 * self.tolerance(v)))
        return (
            _columns([d.value for d in found], a, problem),
            _columns([d.uncertainty for d in found], a, problem),
        )

    def _sides(self, problem: Problem, which: int, wrong: Array) -> dict[int, Any]:
        """One-sided derivatives for those elements of an input that disagree."""
        a = problem.arrays[which]
        places = np.flatnonzero(wrong.any(axis=0))
        return {
            int(p): one_sided(
                problem.moved(which, _one_hot(a, int(p))),
                first_step(float(a.flat[p]), a.dtype, self.eps),
                self.tolerance,
            )
            for p in places
        }

    def _subgradients(self, analytic: Array, sides: dict[int, Any]) -> Array:
        """Where `analytic` lies between derivatives from the left and from the right."""
        between = np.zeros(analytic.shape, bool)
        columns = between.reshape(len(between), -1)
        values = analytic.reshape(len(between), -1)
        for place, (left, right, kink, _) in sides.items():
            low, high = np.minimum(left, right), np.maximum(left, right)
            slack = self.tolerance(high - low)
            v = values[:, place]
            columns[:, place] = kink & (v >= low - slack) & (v <= high + slack)
        return between

    def _report(
        self, problem: Problem, found: list[Mismatch], numeric: list[Array], mode_name: str
    ) -> GradientCheckError:
        found.sort(key=lambda m: -m.worst)
        several = len(problem.outputs) > 1
        lines = [
            f"{_title(problem)}: the {mode_name}gradient is not what differences give",
            *(m.text(several=several) for m in found[:SECTIONS]),
        ]
        if len(found) > SECTIONS:
            lines.append(f"  and {len(found) - SECTIONS} more pairs of an input and an output")
        causes = self._contextual(problem)
        for m in found:
            place = problem.outputs.index(m.output)
            others = [
                (label, problem.split(n)[place])
                for label, n in zip(problem.labels, numeric, strict=True)
                if label != m.label
            ]
            for cause in causes_of(m, others, self.tolerance):
                where = f" (d output {m.output} / d {m.label})" if len(found) > 1 else ""
                causes.append(cause + where)
        causes = causes[: 2 * SECTIONS]
        lines += [f"likely cause: {cause}" for cause in causes]
        return GradientCheckError("\n".join(lines), tuple(causes))

    def _contextual(self, problem: Problem) -> list[str]:
        """Causes that are told by trying something else."""
        wide = problem.in_float64() if problem.order == 1 else None
        if wide is not None:
            strict = Checker(None, default_tolerance(wide, None, None), np.inf, False, False)
            try:
                strict._compare(wide, strict._reverse_jacobian(wide), "")
            except GradientCheckError:
                return []
            return [
                "rounding: in float64 the same gradient is right within "
                f"{strict.tolerance.relative:.0e}; check with x.astype('float64')"
            ]
        if problem.order > 1:
            lower = ORDINALS[problem.order - 1] if problem.order <= 4 else "lower"
            return [
                f"the {lower} order is right, so its backward formula has the right value but not "
                "its history: it uses what the tape does not know as computed from the inputs (an "
                "intermediate kept on ctx, a detach(), an ndarray); save inputs or outputs only, "
                "and compute with operations"
            ]
        return []

    # --- projections, and the other mode

    def _projection_agrees(self, problem: Problem) -> bool:
        """<u, J v> by the tape and by differences, for each input."""
        cotangents, tangents = problem.cotangents(seed=5), problem.tangents(seed=6)
        u = np.concatenate([c.ravel() for c in cotangents])
        pulled = problem.pull(cotangents)
        if all(g is None for g in pulled):
            return False
        for which, (g, v) in enumerate(zip(pulled, tangents, strict=True)):
            analytic = 0.0 if g is None else float(np.sum(g._data * v))
            moved = problem.moved(which, v)
            size = float(np.max(np.abs(problem.arrays[which]), initial=0.0))
            step = first_step(min(size, 1.0), v.dtype, self.eps)

            def projected(h: float, moved: Any = moved) -> Array:
                return np.asarray([np.sum(u * moved(h))])

            found = derivative(projected, step, lambda d: 0.1 * self.tolerance(d))
            if self.tolerance.wrong(np.asarray([analytic]), found.value).any():
                return False
        return True

    def _outputs_alone(self, problem: Problem) -> None:
        """A cotangent that never arrives counts as zeros."""
        cotangents = problem.cotangents(seed=2)
        for k, output in enumerate(problem.outputs):
            alone = [u if i == k else None for i, u in enumerate(cotangents)]
            zeros = [u if i == k else np.zeros_like(u) for i, u in enumerate(cotangents)]
            try:
                found = problem.pull(alone)
            except Exception as error:
                raise _failure(
                    problem,
                    f"differentiating output {output} alone fails: {type(error).__name__}: {error}",
                    "the backward formula does not expect that the cotangents of the other "
                    "outputs are missing (None)",
                ) from error
            for label, g, h, a in zip(
                problem.labels, found, problem.pull(zeros), problem.arrays, strict=True
            ):
                one, other = (np.zeros(a.shape) if v is None else v._data for v in (g, h))
                if not self.tolerance.equal(one, other):
                    raise _failure(
                        problem,
                        f"the gradient of {label} for output {output} alone is not the one with "
                        f"zeros for the other outputs: they differ by {_gap(one, other):.1e}",
                        "the backward formula takes a cotangent that is missing (None) for "
                        "something else than zeros",
                    )

    def _forward_agrees(self, problem: Problem) -> None:
        tangents = problem.tangents(seed=4)
        try:
            pushed = problem.push(tangents)
        except NotDifferentiableError as error:
            raise _failure(
                problem,
                f"func has no forward mode: {error}",
                "something in func is differentiable once only; pass check_forward_ad=False to "
                "check the reverse mode alone",
            ) from error
        left, right = problem.adjoint_gap(pushed, tangents)
        scale = np.sum(np.abs(pushed)) + abs(right)
        tolerance = 1e-8 if self.tolerance.relative < 1e-3 else self.tolerance.relative
        if abs(left - right) <= self.tolerance.absolute + tolerance * scale:
            return
        self._compare(problem, self._forward_jacobian(problem), "forward-mode ")
        raise _failure(
            problem,
            f"forward and reverse mode are not adjoint: <Jv, u> = {left:.9g} and <v, J'u> = "
            f"{right:.9g}",
            "a rule that is not linear in its cotangent, or a tangent= that is declared wrongly",
        )


def _one_hot(a: Array, place: int) -> Array:
    direction = np.zeros(a.shape)
    direction.reshape(-1)[place] = 1.0
    return direction


def _columns(found: list[Array], a: Array, problem: Problem) -> Array:
    """One vector of all outputs for each element of an input, as rows of the Jacobian."""
    total = sum(int(np.prod(shape)) for shape, _ in problem.specs)
    matrix = np.stack(found, axis=-1) if found else np.zeros((total, 0))
    return matrix.reshape(total, *a.shape)


def _split_sides(problem: Problem, sides: dict[int, Any]) -> list[dict[int, Any]]:
    """One-sided derivatives, cut into one part for each output."""
    parts: list[dict[int, Any]] = [{} for _ in problem.specs]
    for place, whole in sides.items():
        for part, *cut in zip(parts, *map(problem.split, whole), strict=True):
            part[place] = type(whole)(*cut)
    return parts


def _array(g: Tensor | None) -> Array:
    return np.zeros(()) if g is None else g._data


def _gap(a: Array, b: Array) -> float:
    """How far apart two arrays are; 0 for the same bits or the same NaNs."""
    if a.shape != b.shape:
        return float("inf")
    with np.errstate(all="ignore"):
        gaps = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    return float(np.max(np.where(np.isnan(gaps), np.inf, gaps), initial=0.0))


def _shape_cause(g: Array, a: Array) -> str:
    if g.shape == a.shape:
        return f"a cast is missing in the backward formula: cast the gradient to {a.dtype.name}"
    if g.shape == a.shape[::-1]:
        return "transposed: the gradient has the axes of the input in reverse order"
    if g.size > a.size:
        return (
            "broadcasting was not undone: sum the gradient over the axes that were stretched "
            "(declare broadcasts= in defop, and the engine does it)"
        )
    return "the gradient was summed over axes of the input: keep them (keepdims) or expand it"


def _title(problem: Problem) -> str:
    if problem.order == 1:
        return "gradcheck"
    order = ORDINALS[problem.order] if problem.order <= 3 else f"{problem.order}th"
    return f"gradcheck, {order} order"


def _failure(problem: Problem, what: str, cause: str) -> GradientCheckError:
    return GradientCheckError(f"{_title(problem)}: {what}\nlikely cause: {cause}", (cause,))
