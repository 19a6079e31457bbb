"""Calls that tell by position, or by a name, what is meant: ``reshape(x, 4, 3)``.

Each of `FORMS` is given the arguments by name, positional ones beyond those of the signature, and
keywords that are none of it. It puts the arguments where the signature has them, and returns the
function that is meant where it is another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.core.operand import Operand
from autograd_engine.core.spec import normalize_axis
from autograd_engine.eager.tensor import Tensor
from autograd_engine.program.operands import spec_of
from autograd_engine.tensor import elementwise, indexing, reduction, scatter, sorting

__all__ = ["FORMS", "Extremes"]

Values = dict[str, Any]
Form = Callable[[Values, list[Any], Values], Callable[..., Any] | None]


class Extremes(NamedTuple):
    """Values along an axis, and where they are."""

    values: Tensor
    indices: Tensor


# --- sizes


def _is_size(value: Any) -> bool:
    if isinstance(value, Operand):
        return spec_of(value).ndim == 0
    whole = isinstance(value, (int, np.integer, SymbolicNumber))
    return whole and not isinstance(value, bool)


def _sizes(name: str) -> Form:
    """``reshape(x, 4, 3)``: from `name` on, what is a size is one of them."""

    def collect(values: Values, rest: list[Any], other: Values) -> None:
        """Sizes may be an argument each."""
        if not _is_size(values.get(name)):
            return
        found = [values[name]]
        for argument in list(values)[list(values).index(name) + 1 :]:
            if not _is_size(values[argument]):
                break
            found.append(values.pop(argument))
        while rest and _is_size(rest[0]):
            found.append(rest.pop(0))
        values[name] = found

    return collect


def _perm(values: Values, rest: list[Any], other: Values) -> None:
    """``transpose(x, 0, 1)`` exchanges two axes, ``transpose(x, 0, 2, 1)`` orders all of them."""
    axes, named = [], [name for name in ("dim0", "dim1") if name in other]
    if _is_size(values.get("perm")):
        _sizes("perm")(values, rest, other)
        axes = values.pop("perm")
    if "perm" not in values and len(axes) + len(named) == 2:
        order = list(range(spec_of(values["x"]).ndim))
        pair = [*axes, *map(other.pop, named)]
        first, second = (normalize_axis("transpose", axis, len(order)) for axis in pair)
        order[first], order[second] = second, first
        axes = order
    if axes:
        values["perm"] = axes


# --- along an axis


def _gather(values: Values, rest: list[Any], other: Values) -> Callable[..., Any] | None:
    """``gather(x, 0, index)`` and ``gather(x, dim=0, index=index)`` pick along an axis."""
    along = "dim" in values
    if "dim" in other and values.get("axis") is None:
        values["dim"] = other.pop("dim")
        index = values.get("index")
        along = isinstance(index, Operand) and spec_of(index).ndim == spec_of(values["x"]).ndim
    if "dim" in values:
        values["axis"] = values.pop("dim")
    return _picked if along else None


def _picked(x: Any, index: Any, axis: Any, name: str | None = None) -> Tensor:
    return indexing.take_along_axis(x, index, axis, broadcast=False)


def _scatter(values: Values, rest: list[Any], other: Values) -> Callable[..., Any] | None:
    """``scatter(x, 0, index, src)`` writes along an axis; so does ``dim=0``."""
    for name in ("dim", "src", "value", "reduce"):
        if name in other:
            values[name] = other.pop(name)
    return _put if "dim" in values else None


def _put(
    x: Any, dim: int, index: Any, src: Any = ..., reduce: str = "assign", **more: Any
) -> Tensor:
    source = more["value"] if src is ... else src
    if isinstance(source, Operand) and spec_of(source).ndim:  # the part that is written
        source = source[tuple(slice(n) for n in spec_of(index).shape)]
    return scatter.put_along_axis(x, index, source, dim, reduce, broadcast=False)


# --- a name that only torch has, for what only torch means


def _extreme(smallest: bool) -> Form:
    """``max(x, dim=1)`` gives values and positions; ``max(x, y)`` is `maximum`."""

    def find(values: Values, rest: list[Any], other: Values) -> Callable[..., Any] | None:
        """``dim=1`` gives values and positions; a second array is compared with."""
        if isinstance(values.get("axis"), Operand) and spec_of(values["axis"]).dtype in FLOATS:
            values["y"] = values.pop("axis")
            values.pop("keepdim", None)
            return elementwise.minimum if smallest else elementwise.maximum
        if "dim" not in other or isinstance(other["dim"], (list, tuple)):
            return None
        values["axis"] = other.pop("dim")
        position = reduction.argmin if smallest else reduction.argmax
        return lambda x, axis, keepdim=False, name=None: _at(x, axis, keepdim, position)

    return find


def _at(x: Any, axis: int, keepdim: bool, position: Callable[..., Any]) -> Extremes:
    if not spec_of(x).ndim:
        return Extremes(x, position(x))
    indices = position(x, axis, keepdim=True)
    values = indexing.take_along_axis(x, indices, axis)
    found = (values, indices) if keepdim else (v.squeeze(axis) for v in (values, indices))
    return Extremes(*found)


def _sort(values: Values, rest: list[Any], other: Values) -> Callable[..., Any] | None:
    """``sort(x, dim=1)`` gives values and positions."""
    if "dim" not in other:
        return None
    values["axis"] = other.pop("dim")

    def both(x: Any, axis: int = -1, **more: Any) -> Extremes:
        indices = sorting.argsort(x, axis, **more)
        return Extremes(indexing.take_along_axis(x, indices, axis), indices)

    return both


def _split(values: Values, rest: list[Any], other: Values) -> None:
    """``split(x, 2, dim=0)``: parts of two rows each, and not two parts."""
    given = [n for n in ("split_size_or_sections", "split_size") if n in other]
    if given:
        values["num_or_sections"] = other.pop(given[0])
    if "dim" in other:
        values["axis"] = other.pop("dim")
    elif not given:
        return
    size = values.get("num_or_sections")
    if _is_size(size):
        length: Any = spec_of(values["x"]).shape[values["axis"]]
        whole, left = divmod(length, size)
        values["num_or_sections"] = [size] * whole + [left] * (left > 0)


def _sum(values: Values, rest: list[Any], other: Values) -> None:
    """``sum(x, 1, True)`` keeps the axis: of a dtype True is none."""
    if isinstance(values.get("dtype"), bool):
        kept = values.pop("dtype")
        if "keepdim" in values and not isinstance(values["keepdim"], bool):
            values["dtype"] = values["keepdim"]
        values["keepdim"] = kept


def _dropout(values: Values, rest: list[Any], other: Values) -> None:
    """``dropout(x, 0.5, True)``: of an axis True is none, it is `training`."""
    if isinstance(values.get("axis"), bool):
        training = values.pop("axis")
        if isinstance(values.get("training"), bool) and values["training"] is not True:
            values["inplace"] = values["training"]
        values["training"] = training


FORMS: Final[dict[str, Form]] = {
    "dims": _sizes("dims"),
    "dropout": _dropout,
    "gather": _gather,
    "max": _extreme(smallest=False),
    "min": _extreme(smallest=True),
    "perm": _perm,
    "repeat_times": _sizes("repeat_times"),
    "scatter": _scatter,
    "shape": _sizes("shape"),
    "shape_or_dtype": _sizes("shape_or_dtype"),
    "size": _sizes("size"),
    "sort": _sort,
    "split": _split,
    "sum": _sum,
}
