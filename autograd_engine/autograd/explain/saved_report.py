"""The arrays that a graph keeps for its rules, and what they cost: ``autograd.saved_report``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import getrefcount
from types import CodeType
from typing import Any, Final

import numpy as np

from autograd_engine.autograd.explain.graph_walk import arrows, base_of, walk
from autograd_engine.core.report import Report, Table
from autograd_engine.core.spec import Array
from autograd_engine.eager.grad_node import freed_at, saved_entries, spec_text
from autograd_engine.eager.saved_hooks import Packed
from autograd_engine.eager.tape import Edge, Node, edge_of
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, NotATensorError
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.pullback import Pullback

__all__ = ["SavedReport", "SavedRow", "report_on"]

_TOP: Final = 20
_SHARED: Final = 8
_ELSE: Final = "something else in use"
_HEAD: Final = ("bytes", "array", "kept by", "as", "read by", "line", "also")


@dataclass(frozen=True)
class SavedRow:
    """One array that an operation keeps.

    Attributes
    ----------
    op : str
        The operation.
    name : str
        The input or output of it that the array is.
    rules : tuple of str
        The inputs whose rules read it.
    shape : tuple of int
    dtype : str
    nbytes : int
        Of the memory that it keeps alive: a view keeps the whole array that it is a view of.
    location : str
        The user's line, as ``train.py:12``.
    shared_with : tuple of str
        Other places of the graph that keep the same memory, eight at most; it is counted once.
    held_by : str
        What else keeps that memory, so that freeing the graph does not free it; empty for nothing.
    first : bool
        Whether this is the row that the memory is counted in.
    """

    op: str
    name: str
    rules: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    location: str
    shared_with: tuple[str, ...]
    held_by: str
    first: bool


@dataclass(frozen=True, repr=False)
class SavedReport(Report):
    """What a graph keeps. Its text is a table, largest first.

    Attributes
    ----------
    rows : tuple of SavedRow
        Largest first.
    total_bytes : int
        What goes when the graph goes: memory that only the graph keeps, counted once.
    held_bytes : int
        What the graph refers to, and something else keeps anyway: parameters, inputs, tensors
        that are still in use.
    freed_by : dict of str to int
        By the name of a leaf, the bytes that would not be kept if it had ``stop_gradient=True``.
    notes : tuple of str
        What could not be counted.
    """

    rows: tuple[SavedRow, ...]
    total_bytes: int
    held_bytes: int
    freed_by: dict[str, int]
    notes: tuple[str, ...]

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for row in self.rows[:_TOP]:
            also = list(row.shared_with[:2])
            if len(row.shared_with) > 2:
                also.append(f"{len(row.shared_with) - 2} more")
            remarks = (["shared with " + ", ".join(also)] if also else []) + (
                [f"held by {row.held_by}"] if row.held_by else []
            )
            rows.append(
                (
                    f"{row.nbytes:,}" if row.first else f"({row.nbytes:,})",
                    spec_text(row.shape, row.dtype),
                    row.op,
                    row.name,
                    "rule of " + ", ".join(row.rules) if row.rules else "",
                    row.location,
                    "; ".join(remarks),
                )
            )
        rest = self.rows[_TOP:]
        if rest:
            counted = sum(row.nbytes for row in rest if row.first)
            rows.append((f"{counted:,}", f"{len(rest)} more arrays", "", "", "", "", ""))
        return rows

    def _summary(self) -> list[str]:
        lines = [
            f"{_amount(self.total_bytes)} kept by the graph alone, freed with it; "
            f"{_amount(self.held_bytes)} that it refers to are held elsewhere anyway"
        ]
        freeing = sorted(self.freed_by.items(), key=lambda item: -item[1])
        for name, count in [f for f in freeing if f[1]][:5]:
            lines.append(f"with stop_gradient=True on {name}: {_amount(count)} less")
        return [*lines, *self.notes]

    def _parts(self) -> list[str | Table]:
        return [Table(_HEAD, self._rows(), indent="", numbers=1), "", *self._summary()]


def _amount(count: int) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


class _Entry:
    """An array that a node keeps, without a reference to it: references are counted."""

    __slots__ = ("array", "dtype", "name", "node", "owner", "shape")

    def __init__(self, node: Node, name: str, array: Array) -> None:
        self.node = node
        self.name = name
        self.shape = array.shape
        self.dtype = array.dtype.name
        self.array = id(array)
        self.owner = id(base_of(array))


def report_on(outputs: Tensor | Sequence[Tensor]) -> SavedReport:
    """`diagnosis.saved_report`."""
    results: list[Any] = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    for v in results:
        if not isinstance(v, Tensor):
            raise NotATensorError(
                f"saved_report takes a Tensor or a list of them, got {type(v).__name__}: give it "
                "the loss"
            )
    if not results:
        raise ArgumentError("saved_report: outputs is empty; give it the loss")
    edges = walk(edge_of(t) for t in results if not t.stop_gradient)
    nodes = [e for e in edges if isinstance(e, Node)]
    leaves = [e for e in edges if isinstance(e, Tensor)]
    entries, memory = _collect(nodes)
    held = memory.held([*leaves, *results])
    sizes = memory.sizes
    places: dict[int, list[_Entry]] = defaultdict(list)
    for entry in entries:
        places[entry.owner].append(entry)
    at = _Places()
    rows = [_row(e, places[e.owner], sizes[e.owner], held.get(e.owner, ""), at) for e in entries]
    rows.sort(key=lambda row: -row.nbytes)
    return SavedReport(
        rows=tuple(rows),
        total_bytes=sum(n for owner, n in sizes.items() if owner not in held),
        held_bytes=sum(n for owner, n in sizes.items() if owner in held),
        freed_by=_freed_by(nodes, places, sizes, held),
        notes=_notes(nodes),
    )


class _Places(dict[tuple[CodeType, int], str]):
    """Lines as texts, each worked out once: a loop records many operations at one line."""

    def of(self, node: Node) -> str:
        key = node.code, node.instruction
        found = self.get(key)
        if found is None:
            found = self[key] = str(node.location)
        return found


def _row(entry: _Entry, sharing: list[_Entry], nbytes: int, held_by: str, at: _Places) -> SavedRow:
    others = [e for e in sharing[: _SHARED + 1] if e is not entry][:_SHARED]
    return SavedRow(
        op=entry.node.name,
        name=entry.name,
        rules=_rules_reading(entry.node.pullback, entry.name.partition("[")[0]),
        shape=entry.shape,
        dtype=entry.dtype,
        nbytes=nbytes,
        location=at.of(entry.node),
        shared_with=tuple(f"{e.node.name}.{e.name} at {at.of(e.node)}" for e in others),
        held_by=held_by,
        first=sharing[0] is entry,
    )


def _rules_reading(pullback: Pullback, name: str) -> tuple[str, ...]:
    """The inputs whose rules read `name`."""
    if not isinstance(pullback.op, OpDef):
        return ()
    return tuple(dict.fromkeys(n for _, n, rule in pullback.rules() if name in rule.saves))


class _Memory:
    """The arrays of a graph and the memory behind them, each once."""

    def __init__(self) -> None:
        self.arrays: dict[int, Array] = {}
        self.owners: dict[int, Array] = {}
        self.kept: Counter[int] = Counter()  # by array: how often the graph refers to it

    def add(self, array: Array) -> None:
        owner = base_of(array)
        self.arrays[id(array)] = array
        self.owners[id(owner)] = owner
        self.kept[id(array)] += 1

    @property
    def sizes(self) -> dict[int, int]:
        return {key: owner.nbytes for key, owner in self.owners.items()}

    def held(self, tensors: Iterable[Tensor]) -> dict[int, str]:
        """By owner, what keeps it besides the graph.

        Tensors at hand are told by name, anything else by counting references: more than the graph
        has itself, and the memory stays when the graph goes.
        """
        found: dict[int, str] = {}
        for t in tensors:
            found.setdefault(id(base_of(t._data)), t.name)
        views: Counter[int] = Counter()
        for key in self.arrays:
            owner = id(base_of(self.arrays[key]))  # no name is bound to it: that would count
            if owner != key:
                views[owner] += 1
        for key in self.arrays:
            if key not in self.owners and _references(self.arrays, key) > self.kept[key]:
                found.setdefault(id(base_of(self.arrays[key])), _ELSE)
        for key in self.owners:
            ours = views[key] + (self.kept[key] + 1 if key in self.arrays else 0)
            if _references(self.owners, key) > ours:
                found.setdefault(key, _ELSE)
        return {key: name for key, name in found.items() if key in self.owners}


def _references(table: dict[int, Array], key: int) -> int:
    """How often an array is referred to from outside of `table`."""
    return _count(table, key) - _LISTED


def _count(table: dict[int, Array], key: int) -> int:
    return getrefcount(table[key])


_LISTED: Final = _count({0: np.zeros(1)}, 0)


def _collect(nodes: Iterable[Node]) -> tuple[list[_Entry], _Memory]:
    entries: list[_Entry] = []
    memory = _Memory()
    for node in nodes:
        for name, value in saved_entries(node):
            if isinstance(value, np.ndarray):
                entries.append(_Entry(node, name, value))
                memory.add(value)
    entries.reverse()
    return entries, memory


_MANY: Final = object()


def _freed_by(
    nodes: list[Node],
    places: dict[int, list[_Entry]],
    sizes: dict[int, int],
    held: dict[int, str],
) -> dict[str, int]:
    """By leaf, the bytes that no rule would ask for if that leaf wanted no gradient."""
    only: dict[Edge, Any] = {}  # the one leaf that an operation leads to, or _MANY
    spared: dict[tuple[Node, str], set[Tensor]] = defaultdict(set)
    for node in reversed(nodes):
        leads = {k: only.get(source, source) for k, source, _ in arrows(node)}
        reached = set(leads.values())
        only[node] = reached.pop() if len(reached) == 1 else _MANY
        for leaf in {v for v in leads.values() if v is not _MANY}:
            names = _names_for(node.pullback, [k for k, v in leads.items() if v is not leaf])
            for name in node.pullback.saved:
                if name not in names:
                    spared[node, name].add(leaf)
    freed: Counter[str] = Counter()
    for owner, sharing in places.items():
        if owner not in held:
            sparing = [spared[e.node, e.name.partition("[")[0]] for e in sharing]
            for leaf in set.intersection(*sparing):
                freed[leaf.name] += sizes[owner]
    return dict(freed)


def _names_for(pullback: Pullback, positions: list[int]) -> tuple[str, ...]:
    """What would be saved if only these inputs wanted a gradient."""
    if not positions:
        return ()
    if not isinstance(pullback.op, OpDef):  # a layer of the user's keeps what it keeps
        return pullback.saved
    mask = sum(1 << k for k in positions)
    return pullback.op.pullback(mask, pullback.project).saved


def _notes(nodes: list[Node]) -> tuple[str, ...]:
    notes = []
    freed = [node for node in nodes if freed_at(node) is not None]
    if freed:
        first = freed[0]
        notes.append(
            f"freed already by the backward pass at {freed_at(first)}: {first.name} of "
            f"{first.location} and what it led to; ask before backward, or retain the graph"
        )
    packed = sum(isinstance(node.saved, Packed) for node in nodes)
    if packed:
        notes.append(f"what {packed} operations keep is with saved_tensors_hooks, and not counted")
    return tuple(notes)
