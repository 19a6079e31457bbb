"""The order of steps, and which loops become one.

A `Group` is a nest of loops over one domain: rows, and the elements of a row. Its maps run over
elements, or once for each row; its reductions take the elements of a row together (what follows may
use the result in the same group), or add up over rows (what follows has to wait).
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Iterable, Sequence
from typing import Final

from autograd_engine.compiler.native.ir import (
    Map,
    Reduce,
    Step,
    Term,
    contiguous_strides,
)
from autograd_engine.compiler.native.passes.rolled_loops import LIMIT, segments

__all__ = [
    "FULL",
    "LATER",
    "ROW",
    "Group",
    "canonical",
    "looks_up",
    "scheduled",
    "steps_of",
    "strides_over",
]

Shape = tuple[int, ...]

FULL: Final = "full"
ROW: Final = "row"
LATER: Final = "later"


@functools.lru_cache(maxsize=4096)
def canonical(shape: Shape) -> Shape:
    """Without axes of size 1."""
    return tuple(d for d in shape if d != 1)


def strides_over(term: Term) -> Shape:
    """Strides for the axes that `canonical` keeps."""
    return _without_ones(term.strides, term.shape)


@functools.lru_cache(maxsize=4096)
def _without_ones(strides: Shape, shape: Shape) -> Shape:
    return tuple(s for s, d in zip(strides, shape, strict=True) if d != 1)


class Group:
    """Loops over one domain.

    Attributes
    ----------
    domain : tuple of int
        Without axes of size 1.
    steps : list of Step
        Maps and reductions, each after what it reads.
    levels : dict of int to str
        Of each buffer that the group makes (by number): whether it has an element for each of the
        domain (`FULL`), for each row (`ROW`), or is there when the group has ended (`LATER`).
    splits : set of int
        How many leading axes may be rows.
    one_pass : bool
        Whether it must not pass over a row twice: it writes over what it reads.
    """

    def __init__(self, domain: Shape) -> None:
        self.domain = domain
        self.steps: list[Step] = []
        self.levels: dict[int, str] = {}
        self.splits = set(range(len(domain) + 1))
        self.one_pass = False

    def __repr__(self) -> str:
        return f"<Group {self.domain} {self.steps}>"

    @property
    def has_rows(self) -> bool:
        return ROW in self.levels.values()

    def takes(self, step: Step) -> bool:
        """Add a step if it fits; what it reads is there, or made in the group."""
        placed = self._placed(step)
        if placed is None:
            return False
        level, splits = placed
        self.splits = splits
        self.steps.append(step)
        self.levels[step.outs[0].number] = level
        return True

    def _placed(self, step: Step) -> tuple[str, set[int]] | None:
        if isinstance(step, Map):
            return self._map(step)
        assert isinstance(step, Reduce)
        return self._reduce(step)

    def _map(self, step: Map) -> tuple[str, set[int]] | None:
        shape = canonical(step.outs[0].shape)
        if shape == self.domain:
            splits = self.splits
            for position, term in enumerate(step.args):
                level = self._level(term)
                if level is None:
                    continue
                if level == LATER or looks_up(step, position):
                    return None
                if level == FULL and not _is_identity(term, self.domain):
                    return None
                if level == ROW:
                    k = _rows_of(term, self.domain)
                    splits = splits & {k} if k is not None else set()
                if not splits:
                    return None
            return FULL, splits
        k = len(shape)
        if k == 0 or k not in self.splits or shape != self.domain[:k] or k == len(self.domain):
            return None
        if not any(self._level(t) == ROW for t in step.args) and not self.has_rows:
            return None
        for term in step.args:
            level = self._level(term)
            if level in (LATER, FULL) or (level == ROW and not _is_identity(term, shape)):
                return None
        if step.function == "gather":
            return None
        return ROW, self.splits & {k}

    def _reduce(self, step: Reduce) -> tuple[str, set[int]] | None:
        term = step.arg
        if canonical(term.shape) != self.domain or not self.domain:
            return None
        level = self._level(term)
        if level in (LATER, ROW) or (level == FULL and not _is_identity(term, self.domain)):
            return None
        axes = reduced_axes(step)
        n = len(self.domain)
        kept = [a for a in range(n) if a not in axes]
        # The elements of a row are all taken together, or none are.
        splits = {
            k
            for k in self.splits
            if all(a in axes for a in range(k, n)) or not any(a in axes for a in range(k, n))
        }
        first = len(kept)
        if kept == list(range(first)) and first in splits and first > 0:
            return None if self.one_pass else (ROW, {first})
        splits.discard(n)
        return (LATER, splits) if splits else None

    def _level(self, term: Term) -> str | None:
        """Of what the group makes; None of what is there before."""
        return None if term.buffer is None else self.levels.get(term.buffer.number)

    def split(self) -> int:
        """How many leading axes are rows."""
        if self.has_rows or len(self.splits) == 1:
            return max(self.splits)
        reduced = any(isinstance(s, Reduce) for s in self.steps)
        candidates = self.splits - {len(self.domain)} or self.splits
        return max(candidates) if reduced else max(len(self.domain) - 1, 0)


def steps_of(item: Step | Group) -> list[Step]:
    return item.steps if isinstance(item, Group) else [item]


def reduced_axes(step: Reduce) -> set[int]:
    """The axes of the domain of a reduction that its result does not have."""
    position, axes = 0, set()
    for k, d in enumerate(step.arg.shape):
        if d != 1:
            if k in step.axes:
                axes.add(position)
            position += 1
    return axes


def looks_up(step: Step, position: int) -> bool:
    """Whether it reads this operand at places that another one says."""
    return isinstance(step, Map) and step.function == "gather" and position == 0


def _is_identity(term: Term, domain: Shape) -> bool:
    """Whether it reads, at each element of the domain, the element that was made there."""
    return (
        term.offset == 0
        and canonical(term.shape) == domain
        and strides_over(term) == contiguous_strides(domain)
    )


def _rows_of(term: Term, domain: Shape) -> int | None:
    """How many leading axes it runs along, where it stands still along all others."""
    assert term.buffer is not None
    rows = canonical(term.buffer.shape)
    k = len(rows)
    strides = strides_over(term)
    expected = (*contiguous_strides(rows), *(0 for _ in domain[k:]))
    if term.offset == 0 and rows == domain[:k] and strides == expected:
        return k
    return None


def scheduled(
    steps: Iterable[Step], shared: dict[int, tuple[int, set[int]]], returned: set[int]
) -> list[Step | Group]:
    """Steps in an order that fuses much, loops gathered in groups.

    Parameters
    ----------
    steps : iterable of Step
        In some order that respects what they read and `Step.after`.
    shared : dict of int to (int, set of int)
        By the number of a buffer whose memory is an input's: the number of that input, and the
        steps (their places in `steps`) that read it as it was. They run before, or element by
        element in the same group.
    returned : set of int
        Numbers of buffers that the program returns.
    """
    return _Scheduler(list(steps), shared, returned).run()


def _converts(step: Map) -> bool:
    """Whether it is what a step reads that takes memory in another dtype only."""
    return step.function == "copy" and step.args[0].converted


def _domain(step: Step) -> Shape | None:
    """What a loop runs over, None of what is no loop."""
    if isinstance(step, Reduce):
        return canonical(step.arg.shape)
    return canonical(step.outs[0].shape) if isinstance(step, Map) else None


class _Scheduler:
    """Lists of what can run next: loops by their domains, and all else.

    A loop that had better run later sleeps until something else is there that its readers need.
    """

    def __init__(
        self,
        steps: list[Step],
        shared: dict[int, tuple[int, set[int]]],
        returned: set[int],
    ) -> None:
        self.steps = steps
        self.shared = shared
        self.returned = returned
        self.place = {id(s): k for k, s in enumerate(steps)}
        self.domains = [_domain(s) for s in steps]
        self.reads: list[set[int]] = []
        self.pieces = segments(steps, lambda s: self.place[id(s)])
        self.waits: list[int] = []
        self.next: list[list[int]] = [[] for _ in steps]
        self.read_by: list[list[int]] = [[] for _ in steps]
        self.hazards: list[set[int]] = [set() for _ in steps]
        for k, step in enumerate(steps):
            before = {self.place[id(m)] for m in self._makers(step)}
            self.reads.append(before)
            for b in before:
                self.read_by[b].append(k)
            before = before | {self.place[id(s)] for s in step.after}
            for out in step.outs:
                self.hazards[k] |= shared.get(out.number, (0, set()))[1] - {k}
            before |= self.hazards[k]
            self.waits.append(len(before))
            for b in before:
                self.next[b].append(k)
        self.loops: dict[Shape, set[int]] = {}
        # A heap of loops that are ready, some of them taken since: what is read first comes first.
        # Numbers come last, for what combines sums is worth a function only where there are many.
        self.first: list[tuple[bool, int, int]] = []
        self.ready: set[int] = set()
        self.asleep: set[int] = set()
        self.deferred: set[int] = set()  # all that were put off, also those that others hold up
        self.others: list[int] = []

    def _makers(self, step: Step) -> Iterable[Step]:
        for term in step.terms:
            buffer = term.buffer
            if buffer is not None and buffer.maker is not None:
                yield buffer.maker

    def run(self) -> list[Step | Group]:
        for k in range(len(self.steps)):
            if self.waits[k]:
                continue
            readers = self.read_by[k]
            if self.domains[k] and readers and all(self.waits[n] > 1 for n in readers):
                # Of what is given alone, for something that has to wait for more.
                self.asleep.add(k)
                self.deferred.add(k)
            else:
                self._make_ready(k)
        order: list[Step | Group] = []
        while True:
            if self.others:
                k = heapq.heappop(self.others)
                order.append(self.steps[k])
                self._done([k])
            elif self.ready:
                order.append(self._group())
            elif self.asleep:
                self._wake(min(self.asleep))
            else:
                break
        if any(self.waits):
            raise ValueError("steps wait for one another")
        return order

    def _make_ready(self, k: int) -> None:
        domain = self.domains[k]
        if domain is None:
            heapq.heappush(self.others, k)
            return
        self.loops.setdefault(domain, set()).add(k)
        self.ready.add(k)
        read = min(self.read_by[k], default=k)
        heapq.heappush(self.first, (not domain, read, k))

    def _wake(self, k: int) -> None:
        self.asleep.remove(k)
        self.deferred.remove(k)
        self._make_ready(k)

    def _remove(self, k: int) -> None:
        self.ready.remove(k)
        self.loops[self.domains[k]].remove(k)  # type: ignore[index]

    def _done(self, ks: Sequence[int]) -> None:
        for k in ks:
            for n in self.next[k]:
                self.waits[n] -= 1
        self._released(ks)

    def _released(self, ks: Iterable[int]) -> None:
        """Make ready what waited for these only, and wake what is needed beside them."""
        inside = set(ks)
        for n in sorted({n for k in inside for n in self.next[k]} - inside):
            if not self.waits[n]:
                if n in self.deferred:
                    self.asleep.add(n)
                elif n not in self.ready:
                    self._make_ready(n)
            elif not inside.isdisjoint(self.reads[n]):
                for d in self._sleepers(n):
                    self._wake(d)

    def _sleepers(self, n: int) -> list[int]:
        """Loops that sleep and that a step waits for, through others that were put off."""
        found: list[int] = []
        pending, seen = [n], {n}
        while pending:
            for d in self.reads[pending.pop()] & self.deferred:
                if d not in seen:
                    seen.add(d)
                    if d in self.asleep:
                        found.append(d)
                    else:
                        pending.append(d)
        return found

    def _group(self) -> Group:
        """All loops that are ready, or become so, and run over one domain."""
        while self.first[0][2] not in self.ready:
            heapq.heappop(self.first)
        seed = self.first[0][2]
        put_off: set[int] = set()
        piece: int | None = None
        whole = self.pieces[seed] is None
        while True:
            group, taken = self._gathered(seed, put_off, piece)
            if len(taken) >= LIMIT and piece is None and not whole:
                piece = self.pieces[seed]
                self._give_back(taken)
                continue
            if piece is not None and len(taken) < LIMIT // 4:  # little of it is left
                piece, whole = None, True
                self._give_back(taken)
                continue
            later = self._better_later(seed, taken) if group.domain else set()
            if not later:
                break
            put_off |= later
            self._give_back(taken)
        for k in taken:
            self.asleep.discard(k)
            self.deferred.discard(k)
            if k in self.ready:
                self._remove(k)
        self.deferred |= put_off
        for k in put_off & self.ready:
            self._remove(k)
            self.asleep.add(k)
        self._released(taken)
        return group

    def _give_back(self, taken: Iterable[int]) -> None:
        """Let it be as if these had not been taken."""
        for k in taken:
            for n in self.next[k]:
                self.waits[n] += 1

    def _gathered(self, seed: int, put_off: set[int], piece: int | None) -> tuple[Group, list[int]]:
        """A group around one loop, and the places of its steps.

        Of one piece, if one is given; see `periods`.
        """
        domain = self.domains[seed]
        assert domain is not None
        group = Group(domain)
        taken: list[int] = []
        inside: set[int] = set()
        offered: set[int] = set()
        prefixes = [domain[:n] for n in range(1, len(domain))]  # once a row
        heap = [k for d in (domain, *prefixes) for k in self.loops.get(d, ()) if k not in put_off]
        heapq.heapify(heap)
        while heap and len(taken) < (LIMIT if piece is None else 8 * LIMIT):
            k = heapq.heappop(heap)
            if piece is not None and self.pieces[k] != piece:
                continue
            if not self._safe(k, inside, group) or not group.takes(self.steps[k]):
                continue
            group.one_pass |= bool(self.hazards[k] & inside)
            taken.append(k)
            inside.add(k)
            sleepers: list[int] = []
            for n in self.next[k]:
                self.waits[n] -= 1
                if not self.waits[n]:
                    if self.domains[n] is not None and n not in put_off:
                        heapq.heappush(heap, n)
                elif k in self.reads[n]:
                    sleepers.append(n)
            for n in sleepers:
                for d in self._sleepers(n):
                    if d not in offered and d not in put_off:
                        offered.add(d)
                        heapq.heappush(heap, d)
        if not taken:
            raise AssertionError(f"no loops for {self.steps[seed]!r}")
        return group, taken

    def _better_later(self, seed: int, taken: list[int]) -> set[int]:
        """Maps that only later loops read, and which cost less memory when computed there.

        What a backward pass makes of saved values alone is such a one: else it would be saved too.
        A comparison for which alone a float would be kept is none: a byte is kept instead.
        """
        inside = set(taken)
        later: set[int] = set()
        for k in reversed(taken):
            step = self.steps[k]
            if k == seed or not isinstance(step, Map) or step.outs[0].number in self.returned:
                continue
            if step.outs[0].number in self.shared or step.outs[0].place is not None:
                continue
            readers = self.read_by[k]
            outside = [n for n in readers if n not in inside or n in later]
            if not readers or len(outside) != len(readers):
                continue
            if _converts(step):
                if not all(n in later or self._held_up(n) for n in outside):
                    continue
            elif any(self.domains[n] != self.domains[k] for n in outside):
                continue
            if not all(self.waits[n] or n in later for n in outside):
                continue  # it is not in this group only because that is long enough
            kept = 0  # bytes for each element
            for buffer in {t.buffer for t in step.args if t.buffer is not None}:
                maker = buffer.maker
                m = self.place[id(maker)] if maker is not None else -1
                if m in inside and m not in later and buffer.size == step.outs[0].size:
                    others = (n for n in self.read_by[m] if n != k)
                    if all(n in inside and n not in later for n in others):
                        kept += buffer.dtype.itemsize
            if kept <= step.outs[0].dtype.itemsize:
                later.add(k)
        return later

    def _held_up(self, n: int) -> bool:
        """Whether a step reads what cannot be computed yet."""
        return any(self.waits[m] for m in self.reads[n])

    def _safe(self, k: int, inside: set[int], group: Group) -> bool:
        """Whether what it writes over is read in this group element by element only."""
        if any(self.place[id(s)] in inside for s in self.steps[k].after):
            return False  # it writes what that step has filled
        readers = self.hazards[k] & inside
        if not readers:
            return True
        out = self.steps[k].outs[0]
        over = self.shared[out.number][0]
        return (
            not group.has_rows
            and canonical(out.shape) == group.domain
            and all(
                _is_identity(term, group.domain) and not looks_up(self.steps[h], position)
                for h in readers
                for position, term in enumerate(self.steps[h].terms)
                if term.buffer is not None and term.buffer.number == over
            )
        )
