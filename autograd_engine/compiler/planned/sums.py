"""Sums of many arrays, added up as soon as they are there, and sums that are written by places.

What `Scattered` does in generated Python is done here: an ``add_n`` of slices adds them to one
array in the order in which they stand. The bits are those of its kernel, zeros and their signs too.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_engine.compiler.concrete_graph import Node, Value
from autograd_engine.compiler.planned.buffers import (
    Local,
    Place,
    ordered,
    view,
    written,
)
from autograd_engine.compiler.planned.lowering import Lowering
from autograd_engine.compiler.planned.products import product
from autograd_engine.compiler.python.function import takes_scattered
from autograd_engine.core.dtypes import BLAS_REALS, INT32, INT64
from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["Sum", "add_products", "planned_sums", "scattered_values"]

_DTYPES: Final = BLAS_REALS | {INT32, INT64}
_MANY: Final = 4


def scattered_values(lowering: Lowering) -> set[int]:
    """Values that are `Scattered` when the graph runs in generated Python, by their ids."""
    stays: set[int] = set()
    for node in lowering.graph.nodes:
        op = node.op
        if not isinstance(op, OpDef):
            continue
        if op.place is None and not (
            op.name == "add_n"
            and any(
                id(v) in stays and takes_scattered(node, k) for k, v in enumerate(node.operands)
            )
        ):
            continue
        result = node.results[0]
        if any(takes_scattered(reader, k) for reader, k in lowering.readers.get(id(result), ())):
            stays.add(id(result))
    return stays


def planned_sums(lowering: Lowering, stays: set[int]) -> dict[int, list[Sum]]:
    """The sums that are written step by step: by the id of each operand."""
    waiting: dict[int, list[Sum]] = {}
    for node in lowering.graph.nodes:
        if node.op.name != "add_n" or node.results[0].dtype not in _DTYPES:
            continue
        kinds = [_is_slice(lowering, node, k, stays) for k in range(len(node.operands))]
        if any(
            id(v) in stays and not is_slice
            for v, is_slice in zip(node.operands, kinds, strict=True)
        ):
            continue
        if lowering.fast and _are_products(lowering, node):
            lowering.together[id(node)] = node
            lowering.absorbed.update(map(id, node.operands))
            continue
        found = Sum(lowering, node, kinds)
        for number in dict.fromkeys(map(id, node.operands)):
            waiting.setdefault(number, []).append(found)
        # It is written here, and stays no longer what readers would have to write out.
        stays.discard(id(node.results[0]))
        for value, is_slice in zip(node.operands, kinds, strict=True):
            if is_slice:
                stays.discard(id(value))
                lowering.absorbed.add(id(value))
    return waiting


def _is_slice(lowering: Lowering, node: Node, k: int, stays: set[int]) -> bool:
    """Whether the operand is zeros but for a slice, and nothing else reads it."""
    value = node.operands[k]
    return (
        isinstance(value, Value)
        and id(value) in stays
        and value.node is not None
        and value.node.op.name == "unslice_like"
        and lowering.only_reader(value) is node
        and takes_scattered(node, k)
    )


def _are_products(lowering: Lowering, node: Node) -> bool:
    """Whether it adds up products X' Y of matrices, many of them, which nothing else reads."""
    return len(node.operands) >= _MANY and all(
        isinstance(v, Value)
        and v.node is not None
        and v.node.op.name == "matmul"
        and v.ndim == 2
        and v.node.attrs["transpose_x"]
        and not v.node.attrs["transpose_y"]
        and lowering.only_reader(v) is node
        for v in node.operands
    )


def add_products(lowering: Lowering, node: Node) -> None:
    """X' Y + Z' W + ... as one product of matrices, one above the other."""
    made = [v.node for v in node.operands]  # type: ignore[union-attr]
    factors = [[lowering.place(n.operands[k]) for n in made] for k in (0, 1)]  # type: ignore[union-attr]
    if any(p is None or not ordered(p) for listed in factors for p in listed):
        for one in made:
            assert one is not None
            lowering.node(one)
        lowering.kernel(node)
        return
    stacked = []
    for listed in factors:
        places = [p for p in listed if p is not None]
        rows = sum(p.shape[0] for p in places)
        out = Place.of((rows, places[0].shape[1]), places[0].dtype)
        stacked.append(lowering.joined(places, 0, out))
    total = product(lowering, view(stacked[0], lambda x: x.T), stacked[1])
    assert total is not None  # they lie in C order
    lowering.define(node.results[0], total)


def _row(key: Any) -> int:
    """The row that a key takes as it is; -1 of another key."""
    row, *rest = key if isinstance(key, tuple) and key else (None,)
    whole = all(entry in (Ellipsis, slice(None)) for entry in rest)
    return row if whole and isinstance(row, int) and row >= 0 else -1


class Sum:
    """An ``add_n`` of which some operands have been added up.

    Attributes
    ----------
    added : int
        How many.
    total : Place or Local
        Their sum.
    """

    def __init__(self, lowering: Lowering, node: Node, is_slice: list[bool]) -> None:
        self.lowering = lowering
        self.node = node
        self.is_slice = is_slice
        self.ready: set[int] = set()
        self.added = 0
        self.total: Any = None
        self.stopped = False
        self.first: dict[int, int] = {}

    def advance(self) -> None:
        """Add up what is there."""
        while not self.stopped and self.added < len(self.is_slice):
            value = self.node.operands[self.added]
            if id(value) not in self.ready and id(value) not in self.lowering.where:
                return
            if self.is_slice[self.added]:
                self._add_slice(value.node)  # type: ignore[union-attr, arg-type]
            else:
                self._add(value)
            if not self.stopped:
                self.added += 1

    def _add(self, value: Any) -> None:
        operand = self.lowering.operand(value)
        if isinstance(operand, Local) and (operand.roots or not operand.in_order):
            self.stopped = True  # it may be hollow
            return
        if self.total is None:
            self.total = operand
            return
        result = self.node.results[0]
        out = written(result.shape, result.dtype, (self.total, operand))
        if out is None:
            self.stopped = True
            return
        self.total = self.lowering.apply(np.add, (self.total, operand), out)

    def _add_slice(self, node: Node) -> None:
        lowering, result, k = self.lowering, self.node.results[0], self.added
        source = lowering.operand(node.operands[0])  # type: ignore[arg-type]
        alone = False
        if k == 0:
            self.first = self._rows_in_turn()
            out = Place.of(result.shape, result.dtype)
            if len(self.first) < result.shape[0]:
                lowering.emit("{}.fill(0)", out, writes=[out])
            self.total = out
            alone = len(self.is_slice) == 1 or not self.is_slice[1]
        elif not self.is_slice[k - 1]:
            out = Place.of(result.shape, result.dtype)
            zero = lowering.number(np.zeros((), result.dtype))
            self.total = lowering.apply(np.add, (self.total, zero), out)
        key = node.attrs["key"]
        if not node.operands[0].shape:  # type: ignore[union-attr]
            key = (*(entry for entry in key if entry is not Ellipsis), Ellipsis)
        part = view(self.total, lambda a: a[key])
        if alone:
            lowering.call(np.copyto, part, source, writes=[part])
        elif self.first.get(_row(key)) == k:  # 0 + x: -0 becomes 0
            zero = lowering.number(np.zeros((), result.dtype))
            lowering.call(np.add, source, zero, part, writes=[part])
        else:
            lowering.call(np.add, part, source, part, writes=[part])

    def _rows_in_turn(self) -> dict[int, int]:
        """Where the sum begins with whole rows, the operand that is the first in each."""
        first: dict[int, int] = {}
        for k, value in enumerate(self.node.operands):
            node = getattr(value, "node", None)
            row = _row(node.attrs["key"]) if self.is_slice[k] and node is not None else -1
            if row < 0:
                break
            first.setdefault(row, k)
        return first

    def finish(self) -> None:
        """The result, at the place of the node."""
        lowering, node = self.lowering, self.node
        self.advance()
        if self.added == len(self.is_slice):
            lowering.define(node.results[0], self.total)
            return
        rest: list[Any] = [] if self.total is None else [self.total]
        for value, is_slice in zip(
            node.operands[self.added :], self.is_slice[self.added :], strict=True
        ):
            if is_slice:
                assert isinstance(value, Value)
                assert value.node is not None
                rest.append(lowering.scatter(value.node))
            else:
                rest.append(lowering.operand(value))  # type: ignore[arg-type]
        made = lowering.local(node.results[0], reads=rest)
        marks = ", ".join(["{}"] * len(rest))
        lowering.emit(
            f"{{}} = {{}}({marks}).__array__()", made, node.op.kernel, *rest, makes=[made]
        )
