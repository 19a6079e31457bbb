"""What in the operands of an operation made its gradient zero, infinite or NaN."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_engine.autograd.explain.graph_walk import arrows
from autograd_engine.autograd.explain.report import Reason
from autograd_engine.core.dtypes import BOOLS, FLOATS, INEXACT, REALS, REALS_AND_BOOLS, finfo
from autograd_engine.core.spec import Array
from autograd_engine.eager.grad_node import lines, saved_entries
from autograd_engine.eager.tape import Edge, Node
from autograd_engine.eager.tensor import Tensor

__all__ = ["forward_cause", "nonfinite_cause", "zero_cause"]

# Of each way in which a gradient is lost (`OpDef.zero_gradient`): the kind of reason, and its text.
_ZERO: Final = {
    "inactive": (
        "inactive",
        "is inactive: no element of its operand is where it lets a gradient through (dead relu)",
    ),
    "other_branch": (
        "not_chosen",
        "took the other branch wherever a gradient arrives (clip is made of it, out of range)",
    ),
    "not_chosen": (
        "not_chosen",
        "chose other elements: none of those that a gradient arrives for comes from this operand",
    ),
    "saturated": (
        "saturated",
        "is saturated: at these operands its derivative rounds to zero",
    ),
    "multiplied_by_zero": (
        "multiplied_by_zero",
        "multiplies by zero wherever a gradient arrives",
    ),
    None: ("zero_derivative", "has a derivative of zero at these operands"),
}


def zero_cause(node: Node, edge: Edge, arrived: list[Array], saved: tuple[Any, ...]) -> Reason:
    """Why `node` handed zeros on along `edge` though something else arrived."""
    at = node.location
    largest = max((float(np.abs(a).max()) for a in arrived if a.size), default=0.0)
    limit = max((float(finfo(a.dtype).tiny) for a in arrived if a.dtype in FLOATS), default=0)
    if 0 < largest < limit * 1e10:
        return Reason(
            "underflow",
            f"the gradient had shrunk to {largest:.3g} at {node.name} ({lines(at)}) and rounds to "
            "zero there: it vanishes on a long way of small factors. Scale the loss, normalize, or "
            "compute in float64",
            str(at),
        )
    kind, text = _ZERO[node.pullback.op.zero_gradient]
    return Reason(kind, f"{node.name} at {lines(at)} {text}{_ranges(node, saved)}", str(at))


def _ranges(node: Node, saved: tuple[Any, ...]) -> str:
    """The values that the rules read."""
    texts = []
    for name, value in zip(node.pullback.saved, saved, strict=False):
        if isinstance(value, np.ndarray) and value.size:
            if value.dtype in BOOLS:
                texts.append(f"{name}: {np.count_nonzero(value)} of {value.size} True")
            elif value.dtype in REALS:
                texts.append(f"{name}: {value.min():.4g} to {value.max():.4g}")
    return f" ({'; '.join(texts[:3])})" if texts else ""


def nonfinite_cause(
    node: Node, arrived: list[Array], given: Array, saved: tuple[Any, ...]
) -> Reason:
    """Why `node` handed on infinite or NaN values though what arrived was finite."""
    index = tuple(int(i) for i in np.argwhere(~np.isfinite(given))[0])
    at = node.location
    here = f"{node.name} at {lines(at)}"
    value = given[index]
    g = _at(arrived[0], index, given.shape) if len(arrived) == 1 else None
    seen = {
        name: found
        for name, kept in zip(node.pullback.saved, saved, strict=False)
        if isinstance(kept, np.ndarray) and (found := _at(kept, index, given.shape)) is not None
    }
    place = f"at {list(index)}: " if index else ""
    operands = ", ".join(f"{n} = {v:.6g}" for n, v in seen.items() if np.isreal(v))
    shown = f"{place}gradient {value:.4g}" + (f" with {operands}" if operands else "")
    poisoned = [
        name
        for name, kept in zip(node.pullback.saved, saved, strict=False)
        if isinstance(kept, np.ndarray) and kept.dtype in FLOATS and not np.isfinite(kept).all()
    ]
    if poisoned:
        return Reason(
            "forward_not_finite",
            f"{here} reads {' and '.join(poisoned)}, not finite since the forward pass ({shown})",
            str(at),
        )
    if g is not None and g == 0:
        return Reason(
            "zero_times_infinity",
            f"{here} multiplies a gradient of 0 by an infinite derivative ({shown}): a branch that "
            "where did not take does that. Run the pass inside paddle.strong_zeros(), or guard the "
            "operand as well: where(ok, f(where(ok, x, 1.0)), other)",
            str(at),
        )
    if g is not None and seen and abs(float(g)) < np.sqrt(float(finfo(given.dtype).max)):
        hint = node.pullback.op.hint or "keep its operand away from there"
        return Reason(
            "infinite_derivative",
            f"{here} has an infinite derivative there ({shown}): {hint}",
            str(at),
        )
    return Reason(
        "overflow",
        f"{here} overflows {given.dtype.name} ({shown}): the gradient grows on its way. Clip it, "
        "normalize, or compute in float64",
        str(at),
    )


def _at(array: Array, index: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """The element of `array` that stands at `index` of a result of `shape`."""
    if array.dtype not in REALS_AND_BOOLS:
        return None
    if array.shape == shape:
        return array[index]
    return array.reshape(())[()] if array.size == 1 else None


def forward_cause(edges: list[Edge], loss: Tensor) -> Reason | None:
    """The first operation of the forward pass whose values are not finite, as far as is kept."""
    values: dict[Edge, Array] = {}
    nodes = [e for e in edges if isinstance(e, Node)][::-1]
    for node in nodes:
        op = node.pullback.op
        kept = dict(saved_entries(node))
        for position, source, _ in arrows(node):
            value = kept.get(op.input_at(position))
            if isinstance(value, np.ndarray) and not op.variadic:
                values.setdefault(source, value)
        out = kept.get(op.outputs[0])
        if len(op.outputs) == 1 and op.outputs[0] not in op.inputs and isinstance(out, np.ndarray):
            values[node] = out
    if loss._node in nodes:
        values[loss._node] = loss._data
    for edge in edges:
        if isinstance(edge, Tensor):
            if not _finite(edge._data):
                text = f"the leaf {edge.name} itself holds values that are not finite"
                return Reason("forward_not_finite", text)
            values[edge] = edge._data
    for node in nodes:
        for name, value in saved_entries(node):
            if isinstance(value, np.ndarray) and not _finite(value):
                return _first(node, name, values)
        if node not in values:
            _recompute(node, values)
        if node in values and not _finite(values[node]):
            return _first(node, "", values)
    return None


def _recompute(node: Node, values: dict[Edge, Array]) -> None:
    """The result of `node`, where all operands are known."""
    op = node.pullback.op
    if op.variadic or op.multiple or op.runs_always:
        return
    kept = dict(saved_entries(node))
    by_position = {position: source for position, source, _ in arrows(node)}
    operands = []
    for position, name in enumerate(op.inputs):
        value = kept.get(name)
        if value is None and position in by_position:
            value = values.get(by_position[position])
        if value is None:
            return
        operands.append(value)
    with np.errstate(all="ignore"):
        values[node] = np.asarray(op.kernel(*operands, **(node.attrs or {})))


def _first(node: Node, name: str, values: dict[Edge, Array]) -> Reason:
    """`node` is the oldest that has to do with such values: it made them, or reads them."""
    op = node.pullback.op
    made = node
    for position, source, _ in arrows(node):
        if op.input_at(position) == name and isinstance(source, Node):
            made = source
    if name in op.inputs and made is node:
        return Reason(
            "forward_not_finite",
            f"{node.name} at {lines(node.location)} is given a constant {name!r} that is not "
            "finite",
            str(node.location),
        )
    hint = made.pullback.op.hint
    return Reason(
        "forward_not_finite",
        f"already in the forward pass {made.name} at {lines(made.location)} gave a result that is "
        "not finite" + (f": {hint}" if hint else ""),
        str(made.location),
    )


def _finite(array: Array) -> bool:
    return array.dtype not in INEXACT or bool(np.isfinite(array).all())
