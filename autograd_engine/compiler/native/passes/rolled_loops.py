"""Repetitions in a long program: a loop that was unrolled does the same again and again.

A group of loops that grew over many of its rounds would be one long C function, which compilers
take more than linear time for. Cut where rounds end, its pieces are alike, and one function serves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from autograd_engine.compiler.native.ir import Map, Reduce, Step

__all__ = ["LIMIT", "segments"]

# About how many maps and reductions one function holds.
LIMIT: Final = 160


def segments(steps: Sequence[Step], place_of: Callable[[Step], int]) -> list[int | None]:
    """For each step the piece that it belongs to, None outside of repetitions.

    Parameters
    ----------
    steps : sequence of Step
    place_of : callable
        The place of a step among them.
    """
    found: list[int | None] = [None] * len(steps)
    loops = [k for k, s in enumerate(steps) if isinstance(s, (Map, Reduce))]
    at = {k: n for n, k in enumerate(loops)}
    signs = [_sign(steps[k], n, at, place_of) for n, k in enumerate(loops)]
    pieces = 0
    for start, stop, period in _runs(signs):
        size = period * max(1, LIMIT // period)
        for n in range(start, stop):
            found[loops[n]] = pieces + (n - start) // size
        pieces += (stop - start) // size + 1
    return found


def _sign(step: Step, n: int, at: dict[int, int], place_of: Callable[[Step], int]) -> Hashable:
    """What a step has in common with that of another round."""
    args: list[Hashable] = []
    for term in step.terms:
        maker = term.buffer.maker if term.buffer is not None else None
        if term.buffer is None:
            args.append(("number", term.number))
        elif maker is None:
            args.append(("given", term.shape))
        else:
            args.append(("made", n - at.get(place_of(maker), n), term.strides))
    kind = step.function if isinstance(step, Map) else getattr(step, "kind", "")
    return (kind, step.outs[0].shape, tuple(args))


def _runs(signs: Sequence[Hashable]) -> list[tuple[int, int, int]]:
    """(start, stop, period) of stretches in which each sign was there a period before."""
    last: dict[Hashable, int] = {}
    back = []
    for n, sign in enumerate(signs):
        back.append(n - last[sign] if sign in last else 0)
        last[sign] = n
    runs = []
    n = 0
    while n < len(signs):
        stop = n
        period = 0
        # The distance to the last step that is alike is at most the period, and often less.
        while stop < len(signs) and back[stop]:
            period = max(period, back[stop])
            if period > LIMIT * 4:
                break
            stop += 1
        if stop - n > max(2 * period, LIMIT) and period:
            runs.append((n, stop, _true_period(signs, n, stop, period)))
            n = stop
        else:
            n = max(stop, n + 1)
    return runs


def _true_period(signs: Sequence[Hashable], start: int, stop: int, guess: int) -> int:
    """The shortest distance, from `guess` on, at which the middle of a stretch repeats itself."""
    middle = (start + stop) // 2
    for period in range(guess, min(2 * guess + 1, (stop - start) // 2)):
        if all(signs[middle + k] == signs[middle - period + k] for k in range(period)):
            return period
    return guess
