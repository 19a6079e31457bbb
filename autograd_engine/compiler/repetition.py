"""Repetitions in a listing: a loop that was unrolled does the same again and again.

A recurrent network of 50 steps is 50 times the same operators, forwards and backwards; who compiles
one round of them compiles a fiftieth. Rounds are found by what operators are, and hold together by
what they read: a value that the same round has made, or an earlier one (it is carried), one that is
the same for all rounds, or for each round another that was there before (it is stacked).

Numbers may differ between rounds as well: literals, and the places of `x[t]`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Literal, OperandRef, Operator, Ref, Variable

__all__ = ["Carried", "EachRound", "Kept", "Stacked", "Stretch", "repetitions"]

Key: TypeAlias = tuple[str, int]

LEAST_ROUNDS: Final = 8
LEAST_SAVED: Final = 96  # operators that need no compiling, or it is not worth a loop
_LONGEST: Final = 4096  # operators in a round
_TRIED: Final = 64  # runs that are no stretch, one after the other, before no more are tried


class EachRound(int):
    """An integer among attributes that each round has another of.

    Its value as a number is that of the first round.

    Attributes
    ----------
    each : tuple of int
    """

    each: tuple[int, ...]

    def __new__(cls, each: Sequence[int]) -> EachRound:
        self = super().__new__(cls, each[0])
        self.each = tuple(each)
        return self


class Carried(NamedTuple):
    """What a round hands to the next.

    Attributes
    ----------
    argument : Ref
        What a round reads.
    first : Ref or Literal
        What the first reads there.
    result : Ref
        What the next will: a result of the round, or the argument of another that is carried.
    """

    argument: Ref
    first: Ref | Literal
    result: Ref


class Stacked(NamedTuple):
    """What each round reads another value of.

    Attributes
    ----------
    argument : Ref
    each : tuple of Ref, or of Literal
    """

    argument: Ref
    each: tuple[Ref, ...] | tuple[Literal, ...]


class Kept(NamedTuple):
    """A result that is read after the rounds.

    Attributes
    ----------
    result : Ref
        Of a round.
    each : tuple of Ref
        What it is called in each.
    last : bool
        Whether only that of the last is read.
    """

    result: Ref
    each: tuple[Ref, ...]
    last: bool


@dataclass(frozen=True, eq=False, repr=False)
class Stretch:
    """The same operators several times.

    Attributes
    ----------
    operators : sequence of Operator
        All of them.
    rounds : int
    body : sequence of Operator
        One round: it reads arguments, its own results, and what is the same for all. Among its
        attributes are `EachRound`.
    carried, stacked, kept : sequence
    """

    operators: Sequence[Operator]
    rounds: int
    body: Sequence[Operator]
    carried: Sequence[Carried]
    stacked: Sequence[Stacked]
    kept: Sequence[Kept]

    def __repr__(self) -> str:
        return f"<{self.rounds} rounds of {len(self.body)} operators>"

    def shared(self) -> list[Ref]:
        """What is the same for all rounds."""
        own = {r.key for operator in self.body for r in operator.results}
        own.update(a.argument.key for a in self.carried)
        own.update(a.argument.key for a in self.stacked)
        read = {o.key: o for b in self.body for o in b.operands if isinstance(o, Ref)}
        return [ref for key, ref in read.items() if key not in own]


def repetitions(
    operators: Sequence[Operator],
    outputs: Sequence[Ref],
    takes_places: Callable[[Operator], bool],
    apart: Callable[[Operator], bool],
) -> list[Operator | Stretch]:
    """The operators, in order, those that repeat themselves together.

    Parameters
    ----------
    operators : sequence of Operator
    outputs : sequence of Ref
        What is read besides.
    takes_places : callable
        Whether integers among the attributes of an operator may be `EachRound`.
    apart : callable
        Whether an operator cannot be part of a stretch. Those with blocks, those that draw, and
        those that are done for an effect, never are.
    """
    if len(operators) < LEAST_SAVED:
        return list(operators)
    listing = _Listing(operators, outputs, takes_places, apart)
    found: list[Operator | Stretch] = []
    at = 0
    for stretch in listing.stretches():
        found += [*operators[at : stretch.start], listing.written(stretch)]
        at = stretch.stop
    return [*found, *operators[at:]]


class _Place(NamedTuple):
    """Where a stretch lies."""

    start: int
    period: int
    rounds: int

    @property
    def stop(self) -> int:
        return self.start + self.period * self.rounds

    @property
    def saved(self) -> int:
        return self.period * (self.rounds - 1)

    def without(self, first: int, last: int) -> _Place:
        """Without some rounds at either end."""
        return _Place(self.start + first * self.period, self.period, self.rounds - first - last)


_WIDTH: Final = 1 << 12  # results that an operator may have


class _Listing:
    """Operators as numbers: what they are, and what they read.

    Attributes
    ----------
    signs : array of int
        Operators that may be the same in two rounds have the same.
    sources : array of int
        What the operands are, one operator after the other: of a result the number of its operator
        times `_WIDTH` and its position; negative of what is no result.
    first : array of int
        Where those of each operator begin.
    """

    def __init__(
        self,
        operators: Sequence[Operator],
        outputs: Sequence[Ref],
        takes_places: Callable[[Operator], bool],
        apart: Callable[[Operator], bool],
    ) -> None:
        self.operators = operators
        numbers: dict[Hashable, int] = {}
        self.signs = np.array(
            [
                numbers.setdefault(
                    id(o) if _alone(o) or apart(o) else _sign(o, takes_places(o)), len(numbers)
                )
                for o in operators
            ],
            np.int32,
        )
        made: dict[Key, int] = {}
        given: dict[Hashable, int] = {}
        sources: list[int] = []
        first = [0]
        self.literal = {-1}
        for n, operator in enumerate(operators):
            for operand in operator.operands:
                if isinstance(operand, Ref):
                    key = operand.key
                    source = made[key] if key in made else -2 - given.setdefault(key, len(given))
                elif operand is None:
                    source = -1
                else:
                    same = type(operand.value), repr(operand.value), operand.dtype
                    source = -2 - given.setdefault(same, len(given))
                    self.literal.add(source)
                sources.append(source)
            first.append(len(sources))
            made.update((ref.key, n * _WIDTH + k) for k, ref in enumerate(operator.results))
        self.sources = np.array(sources, np.int64)
        self.first = np.array(first, np.int64)
        # Of each result the last operator that reads it; outputs are read at the end.
        self.last_read: dict[int, int] = {}
        for n in range(len(operators)):
            for source in sources[first[n] : first[n + 1]]:
                self.last_read[source] = n
        for ref in outputs:
            if ref.key in made:
                self.last_read[made[ref.key]] = len(operators)

    # --- where

    def stretches(self) -> list[_Place]:
        """In order; where several are possible, those that save the most."""
        # (saved, not yet looked at, period, ends of a run of alike operators, or a stretch)
        waiting: list[tuple[int, bool, int, int, int]] = []
        found: list[_Place] = []

        def wait(start: int, stop: int, period: int, fits: bool = False) -> None:
            place = _Place(start, period, (stop - start) // period)
            if place.rounds >= LEAST_ROUNDS and place.saved >= LEAST_SAVED:
                heapq.heappush(waiting, (-place.saved, not fits, period, start, stop))

        for start, stop, period in self._alike():
            wait(start, stop, period)
        failed = 0
        while waiting and failed < _TRIED:
            _, open_, period, start, stop = heapq.heappop(waiting)
            taken = next((p for p in found if p.start < stop and p.stop > start), None)
            if taken is not None:
                wait(start, min(stop, taken.start), period)
                wait(max(start, taken.stop), stop, period)
            elif not open_:
                found.append(_Place(start, period, (stop - start) // period))
                failed = 0
            else:
                place = self._fitting(start, stop, period)
                failed += place is None
                if place is not None:
                    wait(place.start, place.stop, period, fits=True)
                    wait(start, place.start, period)
                    wait(place.stop, stop, period)
        return sorted(found)

    def _alike(self) -> Iterator[tuple[int, int, int]]:
        """(start, stop, period) of runs in which the same operators come again after a period."""
        signs = self.signs
        for period in range(1, min(len(signs) // LEAST_ROUNDS, _LONGEST) + 1):
            least = max(LEAST_SAVED, (LEAST_ROUNDS - 1) * period)
            other = np.flatnonzero(signs[:-period] != signs[period:])
            ends = np.concatenate([[-1], other, [len(signs) - period]])
            for k in np.flatnonzero(np.diff(ends) > least):
                yield int(ends[k]) + 1, int(ends[k + 1]) + period, period

    def _reads(self, place: _Place) -> Any:
        """[round, operand]: what is read, as `sources`."""
        begin, end = self.first[place.start], self.first[place.stop]
        return self.sources[begin:end].reshape(place.rounds, -1)

    def _fitting(self, start: int, stop: int, period: int) -> _Place | None:
        """The rounds of a run that hold together; None where these are too few."""
        place = _Place(start, period, (stop - start) // period)
        while place.rounds >= LEAST_ROUNDS and place.saved >= LEAST_SAVED:
            dropped = self._misfits(place)
            if dropped is None:
                return None
            if not any(dropped):
                return self._cut_where_little_is_carried(place, stop)
            place = place.without(*dropped)
        return None

    def _cut_where_little_is_carried(self, place: _Place, stop: int) -> _Place:
        """Rounds may begin at any of their operators; it is a round less, or none, for that."""
        reads, period = self._reads(place), place.period
        begin = place.start * _WIDTH
        columns = np.diff(self.first[place.start : place.start + period + 1])
        reader = np.repeat(np.arange(period), columns)
        last: dict[int, int] = {}  # of a result of a round how far on it is read, at most
        for at, source in zip(reader, reads[-1] - begin, strict=True):
            if source >= 0:
                number, k = divmod(int(source), _WIDTH)
                passed = (place.rounds - 1) * period + int(at) - number
                result = number % period * _WIDTH + k
                last[result] = max(last.get(result, 0), passed)
        crossing = np.zeros(period, np.int64)
        for result, passed in last.items():
            first = result // _WIDTH + 1
            for cut in range(first, first + passed):
                crossing[cut % period] += 1
        shift = int(np.argmin(crossing))
        if crossing[shift] < crossing[0]:
            for rounds in (place.rounds, place.rounds - 1):
                moved = _Place(place.start + shift, period, rounds)
                if moved.stop <= stop and self._misfits(moved) == (0, 0):
                    return moved
        return place

    def _misfits(self, place: _Place) -> tuple[int, int] | None:
        """Rounds to leave out at the start, or else at the end; None where that does not help."""
        reads, rounds = self._reads(place), place.rounds
        begin, size = place.start * _WIDTH, place.period * _WIDTH
        relative = reads - np.arange(rounds)[:, None] * size - begin
        for column in range(reads.shape[1]):
            read, moved = reads[:, column], relative[:, column]
            if read[-1] < begin:
                inside = np.flatnonzero(read >= begin)
                if len(inside):
                    return _shorter(int(inside[-1]) + 1, rounds - int(inside[0]), rounds)
                # Arrays that the program is given lie somewhere each: to stack them is to copy.
                if read.min() != read.max() and not all(
                    s >= 0 or int(s) in self.literal for s in np.unique(read)
                ):
                    return None
                continue
            if read[-1] == read[-2]:  # made in a round, and read by all that come after
                return int(read[-1] - begin) // size + 1, 0
            distance = max(0, -(int(moved[-1]) // size))
            other = np.flatnonzero(moved[distance:] != moved[-1])
            if len(other):
                kept_end = rounds - distance - int(other[0])
                return _shorter(int(other[-1]) + 1, kept_end, rounds)
            inside = np.flatnonzero(read[:distance] >= begin)
            if len(inside):
                return None
        return 0, 0

    def _of_each(self, place: _Place, position: int) -> Sequence[Operator]:
        return self.operators[place.start + position : place.stop : place.period]

    # --- what

    def written(self, place: _Place) -> Stretch:
        """A stretch as one round, and what it reads and makes."""
        writer = _Writer(self, place)
        body = [writer.operator(q) for q in range(place.period)]
        operators = self.operators[place.start : place.stop]
        return Stretch(
            operators, place.rounds, body, writer.carried, writer.stacked, self._kept(place)
        )

    def _kept(self, place: _Place) -> list[Kept]:
        found = []
        for q in range(place.period):
            row = self._of_each(place, q)
            for k, result in enumerate(row[0].results):
                numbers = [
                    (place.start + r * place.period + q) * _WIDTH + k for r in range(place.rounds)
                ]
                later = [self.last_read.get(n, -1) >= place.stop for n in numbers]
                if any(later):
                    each = tuple([o.results[k] for o in row])
                    found.append(Kept(result, each, not any(later[:-1])))
        return found


def _shorter(first: int, last: int, rounds: int) -> tuple[int, int]:
    """Which of two to leave out."""
    return (first, 0) if first <= last or last >= rounds else (0, last)


class _Writer:
    """One round of a stretch."""

    def __init__(self, listing: _Listing, place: _Place) -> None:
        self.listing, self.place = listing, place
        self.reads = listing._reads(place)
        self.carried: list[Carried] = []
        self.stacked: list[Stacked] = []
        self._arguments: dict[Hashable, Ref] = {}
        self._column = 0

    def operator(self, position: int) -> Operator:
        first, *rest = row = self.listing._of_each(self.place, position)
        operands = []
        for k in range(len(first.operands)):
            operands.append(self._operand(row, k, self.reads[:, self._column]))
            self._column += 1
        attrs = first.attrs
        if any(o.attrs != attrs for o in rest):
            attrs = {n: _of_rounds([o.attrs[n] for o in row]) for n in attrs}
        made = Operator(
            first.block, first.op, tuple(operands), first.results, attrs, first.location, first.role
        )
        made.op_namescope, made.op_device = first.op_namescope, first.op_device
        made.appended = first.appended
        return made

    def _operand(self, row: Sequence[Operator], k: int, read: Any) -> OperandRef:
        first, begin = row[0].operands[k], self.place.start * _WIDTH
        if first is None or read.min() == read.max():
            return first
        if read[-1] < begin:
            same: Hashable = ("stacked", tuple(read.tolist()))
            if same not in self._arguments:
                argument = self._argument(same, first)
                each: Any = tuple([o.operands[k] for o in row])
                self.stacked.append(Stacked(argument, each))
            return self._arguments[same]
        size = self.place.period * _WIDTH
        offset = int(read[-1]) - begin - (self.place.rounds - 1) * size
        distance = -(offset // size)
        if not distance:
            return first
        source = offset % size
        position, result = divmod(source, _WIDTH)
        before = [o.operands[k] for o in row[:distance]]  # what the first rounds read
        numbers = read[:distance].tolist()
        made: Ref = self.listing.operators[self.place.start + position].results[result]
        for back in range(1, distance + 1):
            # Made so many rounds before: what that is for the first rounds, `before` ends with.
            same = ("carried", source, *numbers[distance - back :])
            known = self._arguments.get(same)
            if known is None:
                start = before[distance - back]
                assert start is not None
                known = self._argument(same, start)
                self.carried.append(Carried(known, start, made))
            made = known
        return made

    def _argument(self, same: Hashable, like: Ref | Literal) -> Ref:
        name = f"@ROUND@{self.place.start}@{len(self._arguments)}"
        block = self.listing.operators[self.place.start].block
        spec = like.spec
        found = self._arguments[same] = Ref(Variable(block, name, spec, stop_gradient=True), 0)
        return found


def _alone(operator: Operator) -> bool:
    op = operator.op
    return isinstance(op, BlockOp) or op.runs_always or bool(getattr(op, "random", False))


def _sign(operator: Operator, erased: bool) -> Hashable:
    return (
        operator.op,
        _frozen(operator.attrs, erased),
        *[None if o is None else (type(o), *_outline(o)) for o in operator.operands],
        *map(_outline, operator.results),
    )


def _outline(operand: Ref | Literal) -> tuple[Any, Any]:
    spec = operand.spec
    return spec.shape, spec.dtype


def _frozen(value: Any, erased: bool) -> Hashable:
    """Something to compare it by; integers, but for steps, are all alike where they are erased."""
    if isinstance(value, dict):
        return tuple([(k, _frozen(v, erased)) for k, v in value.items()])
    if isinstance(value, (tuple, list)):
        return (type(value), *[_frozen(v, erased) for v in value])
    if isinstance(value, slice):
        start, stop = _frozen(value.start, erased), _frozen(value.stop, erased)
        return slice, start, stop, value.step
    if isinstance(value, int) and not isinstance(value, bool):
        return int if erased else (int, value)
    if isinstance(value, (str, float, bool, complex, type(None), np.dtype)):
        return type(value), repr(value)
    return id(value)


def _of_rounds(values: Sequence[Any]) -> Any:
    """One attribute, of what it is in each round."""
    first = values[0]
    if isinstance(first, (tuple, list)):
        return type(first)([_of_rounds(each) for each in zip(*values, strict=True)])
    if isinstance(first, slice):
        parts = [_of_rounds([getattr(v, n) for v in values]) for n in ("start", "stop", "step")]
        return slice(*parts)
    return first if all(v == first for v in values) else EachRound(values)
