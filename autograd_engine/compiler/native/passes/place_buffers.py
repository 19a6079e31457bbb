"""Where values lie: parts in what they are parts of, new parameters over old ones.

All of it is decided before the order of steps is: what lies in the same memory waits for what reads
it before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograd_engine.compiler.native.ir import (
    Assemble,
    Buffer,
    Callback,
    Check,
    Kernel,
    Map,
    Product,
    Reduce,
    Step,
    Term,
    contiguous_strides,
    readers_of,
    term_of,
)
from autograd_engine.compiler.native.lower import Lowered
from autograd_engine.compiler.native.passes.schedule import canonical, looks_up, strides_over

__all__ = ["arrange"]


def arrange(lowered: Lowered, updates: Mapping[int, int]) -> None:
    """Drop what nothing needs, and give values places.

    Parameters
    ----------
    lowered : Lowered
    updates : dict of int to int
        Position of an output to that of the input that it is the new value of.
    """
    _explicit_updates(lowered, updates)
    _drop_dead(lowered)
    _keep_order(lowered)
    _split_assemblies(lowered)
    _place_updates(lowered, updates)


def _keep_order(lowered: Lowered) -> None:
    """What draws random numbers or has an effect runs in the order of the program."""
    before: Step | None = None
    for step in lowered.steps:
        if isinstance(step, Callback) and step.origin.runs_always:
            if before is not None:
                step.after.append(before)
            before = step


def _explicit_updates(lowered: Lowered, updates: Mapping[int, int]) -> None:
    """Let every update be the whole of a buffer of its own, which may lie over the input."""
    old = {lowered.inputs[position].number for position in updates.values()}
    for output, term in enumerate(lowered.outputs):
        if output not in updates and term.buffer is not None and term.buffer.number in old:
            copy = lowered.copy(term, None)  # what was there before the run
            lowered.steps.append(copy)
            lowered.outputs[output] = term_of(copy.outs[0])
    seen: set[int] = set()
    for output in updates:
        term = lowered.outputs[output]
        own = term.buffer is not None and term.whole and term.buffer.maker is not None
        alone = own and not isinstance(term.buffer.maker, (Assemble, Callback))  # type: ignore[union-attr]
        if not alone or term.buffer.number in seen:  # type: ignore[union-attr]
            copy = lowered.copy(term, None)
            lowered.steps.append(copy)
            term = lowered.outputs[output] = term_of(copy.outs[0])
        seen.add(term.buffer.number)  # type: ignore[union-attr]


def _drop_dead(lowered: Lowered) -> None:
    wanted = lowered.returned
    live = []
    before: set[int] = set()  # steps that fill a part of what is wanted
    for step in reversed(lowered.steps):
        keeps = isinstance(step, Check) or (isinstance(step, Callback) and step.origin.runs_always)
        if keeps or id(step) in before or any(o.number in wanted for o in step.outs):
            live.append(step)
            before.update(map(id, step.after))
            wanted.update(t.buffer.number for t in step.terms if t.buffer is not None)
    lowered.steps[:] = live[::-1]


def _split_assemblies(lowered: Lowered) -> None:
    """Parts are computed in their place where that is possible, and copied there otherwise."""
    readers = readers_of(lowered.steps)
    returned = lowered.returned
    made: list[Step] = []
    for step in lowered.steps:
        if not isinstance(step, Assemble) or step.adds:
            made.append(step)
            continue
        parts = []
        fill: list[Step] = []
        if not step.covered:
            whole = term_of(step.outs[0])
            flat = (0,) * whole.ndim
            number = Term(None, whole.shape, flat, number=step.fill, dtype=whole.dtype)
            fill = [_placed_copy(lowered, number, whole, step)]
            made += fill
        for part, region in step.parts:
            if step.covered and _placeable(part, region, readers, returned):
                assert part.buffer is not None
                _place(lowered, part.buffer, region)
                parts.append((part, region))
                continue
            copy = _placed_copy(lowered, part, region, step)
            copy.after += fill
            made.append(copy)
            parts.append((term_of(copy.outs[0]), region))
        step.parts = parts
        step.after += fill  # there may be no part whose copy waits for it
        made.append(step)
    lowered.steps[:] = made


def _placed_copy(lowered: Lowered, part: Term, region: Term, step: Step) -> Step:
    buffer = lowered.loops.buffer(region.shape, region.dtype)
    _place(lowered, buffer, region)
    return Map("copy", (part,), buffer, step.origin)


def _place(lowered: Lowered, buffer: Buffer, region: Term) -> None:
    assert region.buffer is not None
    buffer.place = (region.buffer, region.offset)
    if not region.contiguous:
        lowered.layouts[buffer.number] = region.strides


def _placeable(
    part: Term,
    region: Term,
    readers: Mapping[int, list[Step]],
    returned: set[int],
) -> bool:
    """Whether what makes a part can write it straight into its region."""
    buffer = part.buffer
    if buffer is None or buffer.maker is None or buffer.place is not None:
        return False
    if not part.whole or part.converted:
        return False
    if buffer.number in returned or canonical(buffer.shape) != canonical(region.shape):
        return False
    if region.contiguous:
        return not isinstance(buffer.maker, Assemble) or not buffer.maker.adds
    if not isinstance(buffer.maker, Map) or len(region.shape) != len(buffer.shape):
        return False
    domain = canonical(buffer.shape)
    return all(
        isinstance(step, (Map, Reduce, Assemble))
        and not _is_table(step, buffer)
        and all(
            canonical(t.shape) == domain
            and t.offset == 0
            and strides_over(t) == contiguous_strides(domain)
            for t in step.terms
            if t.buffer is buffer
        )
        for step in readers[buffer.number]
    )


def _is_table(step: Step, buffer: Buffer) -> bool:
    """Whether elements of it are looked up, at any place."""
    return isinstance(step, Map) and step.function == "gather" and step.args[0].buffer is buffer


def _place_updates(lowered: Lowered, updates: Mapping[int, int]) -> None:
    """New values over old ones: they wait for all that reads the old, checks or may fail."""
    steps = lowered.steps
    at = {id(s): k for k, s in enumerate(steps)}
    readers = readers_of(steps)
    fails = {k for k, s in enumerate(steps) if isinstance(s, (Check, Callback))}
    following = _following(steps, at)
    for output, position in updates.items():
        buffer = lowered.outputs[output].buffer
        assert buffer is not None
        assert buffer.maker is not None
        old = lowered.inputs[position]
        before = {at[id(s)] for s in readers[old.number]} | fails
        own = {at[id(buffer.maker)]}
        if buffer.place is not None or not _movable(buffer, old, before - own, following, at):
            buffer = _moved(lowered, buffer, at)
            lowered.outputs[output] = term_of(buffer)
        else:
            before -= own
            for k in before:
                following[k] += own
        buffer.place = (old, 0)
        lowered.over[buffer.number] = (old.number, before)


def _following(steps: Sequence[Step], at: Mapping[int, int]) -> list[list[int]]:
    """The steps that wait for each."""
    found: list[list[int]] = [[] for _ in steps]
    for k, step in enumerate(steps):
        makers = [t.buffer.maker for t in step.terms if t.buffer is not None]
        for before in (*makers, *step.after):
            if before is not None and id(before) in at:
                found[at[id(before)]].append(k)
    return found


def _movable(
    buffer: Buffer,
    old: Buffer,
    before: set[int],
    following: Sequence[Sequence[int]],
    at: Mapping[int, int],
) -> bool:
    """Whether its maker can wait for these steps: none of them waits for it."""
    maker = buffer.maker
    if maker is None or not (_by_elements(maker, old) or _in_place(buffer, old)):
        return False
    seen = {at[id(maker)]}
    pending = list(seen)
    while pending:
        k = pending.pop()
        if k in before:
            return False
        more = {n for n in following[k] if n not in seen}
        seen |= more
        pending += more
    return True


def _by_elements(maker: Step, old: Buffer) -> bool:
    """Whether it may write over that input, of which it reads no element but the one it makes."""
    reads = [
        (position, term)
        for position, term in enumerate(maker.terms)
        if term.buffer is not None and term.buffer.root[0] is old
    ]
    if not isinstance(maker, Map):
        return isinstance(maker, Product) and not reads
    domain = canonical(maker.outs[0].shape)
    return all(
        term.whole and canonical(term.shape) == domain and not looks_up(maker, position)
        for position, term in reads
    )


def _in_place(buffer: Buffer, old: Buffer) -> bool:
    """Whether it is made by a kernel that writes over that input, and reads it in no other way."""
    maker = buffer.maker
    if not isinstance(maker, Kernel):
        return False
    source = maker.inplace.get(maker.outs.index(buffer))
    reads = [
        k for k, t in enumerate(maker.args) if t.buffer is not None and t.buffer.root[0] is old
    ]
    return source is not None and reads == [source] and maker.args[source].whole


def _moved(lowered: Lowered, buffer: Buffer, at: dict[int, int]) -> Buffer:
    """A copy of it, made at the end."""
    step = lowered.copy(term_of(buffer), None)
    at[id(step)] = len(lowered.steps)
    lowered.steps.append(step)
    return step.outs[0]
