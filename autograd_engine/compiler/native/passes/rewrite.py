"""The same program with fewer passes over memory.

Zeros are added to nothing, views move through maps to what these read, sums of products are
accumulated by the products or are one product, and updates that add a multiple of a product to a
parameter are done by it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeGuard

from autograd_engine.compiler.native.ir import (
    Assemble,
    Buffer,
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
from autograd_engine.core.dtypes import FLOATS

__all__ = ["rewrite"]

_MANY: Final = 4  # products whose operands are worth a stack
_OFTEN: Final = 8  # products that read one matrix transposed


def rewrite(lowered: Lowered, updates: Mapping[int, int]) -> None:
    """Change the steps of a program; what it computes stays the same, but for rounding."""
    _sums_with_zeros(lowered)
    _views_through_maps(lowered)
    _sums_of_products(lowered)
    _updates_by_products(lowered, updates)
    _transposed_once(lowered)


# --- zeros


def _sums_with_zeros(lowered: Lowered) -> None:
    """``0 + x`` is `x`, where only the program itself reads it: the sign of a zero may differ.

    A gradient that was cleared begins with zeros, so that the step of a training that finds none
    and the step that finds it cleared are one text.
    """
    readers = readers_of(lowered.steps)
    returned = lowered.returned
    gone: set[int] = set()
    for step in lowered.steps:
        other = _beside_zero(step)
        if other is None or other.buffer is None:
            continue
        (out,) = step.outs
        reading = readers[out.number]
        if out.number in returned or not all(isinstance(r, (Map, Reduce)) for r in reading):
            continue
        for reader in reading:
            _replace(reader, out, lambda t, o=other: o.seen(t.shape, t.strides, t.offset))  # type: ignore[misc]
            readers[other.buffer.number].append(reader)
        gone.add(id(step))
    lowered.steps[:] = [s for s in lowered.steps if id(s) not in gone]


def _beside_zero(step: Step) -> Term | None:
    """The other operand of a sum with zero, where it is all that its buffer holds."""
    if not isinstance(step, Map) or step.function != "add":
        return None
    for zero, other in (step.args, step.args[::-1]):
        if zero.buffer is None and zero.number == 0 and other.whole:
            (out,) = step.outs
            return other if other.dtype == out.dtype and other.shape == out.shape else None
    return None


# --- views through maps


def _views_through_maps(lowered: Lowered) -> None:
    """A map that is read slice by slice is computed slice by slice, where the slice is read."""
    steps = lowered.steps
    readers = readers_of(steps)
    returned = lowered.returned
    made: dict[int, list[Step]] = {}
    for step in reversed(steps):
        if not isinstance(step, Map) or step.function in ("gather", "position"):
            continue
        out = step.outs[0]
        if out.number in returned or not readers[out.number]:
            continue
        slices = _slices_of(out, readers[out.number])
        if slices is None:
            continue
        wholes: dict[_Key, Term] = {}
        for key in sorted(slices):
            part = _slice(lowered, step, slices[key])
            made.setdefault(id(step), []).append(part)
            wholes[key] = term_of(part.outs[0])
            for t in part.terms:
                if t.buffer is not None:
                    readers[t.buffer.number].append(part)
        for reader in readers[out.number]:
            _replace(reader, out, lambda t, w=wholes: w[t.offset, t.shape, t.strides])  # type: ignore[misc]
        for t in step.terms:
            if t.buffer is not None and step in readers[t.buffer.number]:
                readers[t.buffer.number].remove(step)
        readers[out.number] = []
    steps[:] = [s for step in steps for s in made.get(id(step), (step,))]


_Key = tuple[int, tuple[int, ...], tuple[int, ...]]


def _slices_of(out: Buffer, readers: Sequence[Step]) -> dict[_Key, Term] | None:
    """The slices that are read of a buffer, where each element is read once at most."""
    found: dict[_Key, Term] = {}
    for reader in readers:
        if not isinstance(reader, (Map, Reduce)):
            return None
        if isinstance(reader, Map) and reader.function == "gather" and reader.args[0].buffer is out:
            return None
        for term in reader.terms:
            if term.buffer is out:
                if term.size >= out.size or 0 in term.strides or _axes_of(term, out) is None:
                    return None
                found[term.offset, term.shape, term.strides] = term
    return found if sum(t.size for t in found.values()) <= out.size else None


def _axes_of(term: Term, out: Buffer) -> list[tuple[int, int]] | None:
    """For each axis of a view, the axis of the buffer that it runs along, and its step there."""
    strides = contiguous_strides(out.shape)
    starts = _starts(term.offset, out)
    axes = []
    for size, stride in zip(term.shape, term.strides, strict=True):
        if size == 1:
            axes.append((-1, 0))
            continue
        for axis, unit in enumerate(strides):
            if out.shape[axis] > 1 and stride > 0 and stride % unit == 0:
                step = stride // unit
                if starts[axis] + step * (size - 1) < out.shape[axis]:
                    axes.append((axis, step))
                    break
        else:
            return None
    used = [a for a, _ in axes if a >= 0]
    return axes if len(set(used)) == len(used) else None


def _starts(offset: int, out: Buffer) -> list[int]:
    starts = []
    for unit in contiguous_strides(out.shape):
        starts.append(offset // unit)
        offset %= unit
    return starts


def _slice(lowered: Lowered, step: Map, term: Term) -> Map:
    """The map of one slice of its operands."""
    out = step.outs[0]
    axes = _axes_of(term, out)
    assert axes is not None
    starts = _starts(term.offset, out)
    args = []
    for arg in step.args:
        offset = sum(start * s for start, s in zip(starts, arg.strides, strict=True))
        strides = tuple(0 if a < 0 else n * arg.strides[a] for a, n in axes)
        args.append(arg.seen(term.shape, strides, offset if arg.buffer is not None else 0))
    buffer = lowered.loops.buffer(term.shape, out.dtype)
    return Map(step.function, tuple(args), buffer, step.origin, step.axis)


def _replace(reader: Step, out: Buffer, instead: Callable[[Term], Term]) -> None:
    """Have a map or a reduction read something else for the views of `out` that it reads."""

    def new(t: Term) -> Term:
        return instead(t) if t.buffer is out else t

    if isinstance(reader, Map):
        reader.args = tuple(map(new, reader.args))
    elif isinstance(reader, Reduce):
        reader.arg = new(reader.arg)


# --- sums of products


def _sums_of_products(lowered: Lowered) -> None:
    """``a b + c d + ...``: one product of stacks, or products that add to one result."""
    steps = lowered.steps
    readers = readers_of(steps)
    returned = lowered.returned
    at = {id(s): k for k, s in enumerate(steps)}
    gone: set[int] = set()
    behind: dict[int, list[Step]] = {}
    for step in reversed(steps):
        if id(step) in gone or not _adds_products(step):
            continue
        chain, products, rest = _terms_of_sum(step, readers, returned)
        if len(products) < 2:
            continue
        gone.update(id(s) for s in (*chain, *products))
        last = max((step, *products), key=lambda s: at[id(s)])
        behind[id(last)] = _accumulated(lowered, step, products, rest)
    out: list[Step] = []
    for step in steps:
        if id(step) not in gone:
            out.append(step)
        out += behind.get(id(step), ())
    steps[:] = out


def _adds_products(step: Step | None) -> TypeGuard[Map]:
    if not isinstance(step, Map) or step.function != "add":
        return False
    if step.outs[0].dtype not in FLOATS or len(step.outs[0].shape) != 2:
        return False
    return all(t.whole and t.shape == step.outs[0].shape for t in step.args)


def _alone(term: Term, readers: Mapping[int, list[Step]], returned: set[int]) -> Step | None:
    """What makes a value that is read here only."""
    buffer = term.buffer
    if buffer is None or buffer.number in returned or len(readers[buffer.number]) != 1:
        return None
    return buffer.maker


def _terms_of_sum(
    step: Map, readers: Mapping[int, list[Step]], returned: set[int]
) -> tuple[list[Step], list[Product], list[Term]]:
    """The additions of a sum, the products in it, and its other terms."""
    chain: list[Step] = [step]
    products: list[Product] = []
    rest: list[Term] = []
    pending = list(step.args)
    while pending:
        term = pending.pop()
        maker = _alone(term, readers, returned)
        if isinstance(maker, Product) and maker.beta == 0.0 and maker.scale is None:
            products.append(maker)
        elif _adds_products(maker):
            if maker.args[0].buffer is maker.args[1].buffer:
                rest.append(term)
                continue
            chain.append(maker)
            pending += maker.args
        else:
            rest.append(term)
    return chain, products, rest


def _accumulated(
    lowered: Lowered, step: Map, products: list[Product], rest: list[Term]
) -> list[Step]:
    """Steps for a sum whose value is the out of `step`."""
    loops, out = lowered.loops, step.outs[0]
    target = out if not rest else loops.buffer(out.shape, out.dtype)
    made: list[Step] = []
    stacked = _stacked(lowered, products, target) if len(products) >= _MANY else None
    if stacked is not None:
        made += stacked
    else:
        made += _one_by_one(lowered, products, target)
    total = term_of(target)
    for k, term in enumerate(rest):
        buffer = out if k == len(rest) - 1 else loops.buffer(out.shape, out.dtype)
        made.append(Map("add", (total, term), buffer, step.origin))
        total = term_of(buffer)
    return made


def _one_by_one(lowered: Lowered, products: list[Product], target: Buffer) -> list[Step]:
    """The first product fills the result, the others add to it."""
    made: list[Step] = []
    for k, product in enumerate(products):
        last = k == len(products) - 1
        buffer = target if last else lowered.loops.buffer(target.shape, target.dtype)
        new = Product(product.a, product.b, buffer, product.origin)
        new.alpha = product.alpha
        if made:
            new.beta = 1.0
            new.after.append(made[-1])
        made.append(new)
    for step in made[:-1]:
        step.outs[0].place = (target, 0)
    return made


def _stacked(lowered: Lowered, products: list[Product], target: Buffer) -> list[Step] | None:
    """One product of all operands, one below the other: a' b is summed over rows of both."""
    rows = products[0].a.shape[-1]
    for p in products:
        tall = p.a.strides[-2] == 1 and p.b.strides[-1] == 1
        if p.alpha != 1.0 or not tall or p.a.shape[-1] != rows or p.b.shape[-2] != rows:
            return None
        if len(p.a.shape) != 2 or not all(_own(t) for t in (_flipped(p.a), p.b)):
            return None
    loops = lowered.loops
    made: list[Step] = []
    there, order = _there(lowered, products)
    stacks = []
    for terms in ([_flipped(p.a) for p in order], [p.b for p in order]):
        if there is not None and terms[0] is order[0].b:
            stacks.append(there)
            continue
        width = terms[0].shape[1]
        stack = loops.buffer((rows * len(terms), width), terms[0].dtype)
        whole = term_of(stack)
        parts = [(t, whole.sliced(0, k * rows, rows)) for k, t in enumerate(terms)]
        made.append(Assemble(parts, stack, order[0].origin))
        stacks.append(whole)
    a, b = stacks
    made.append(Product(a.transposed((1, 0)), b, target, order[0].origin))
    return made


def _there(lowered: Lowered, products: list[Product]) -> tuple[Term | None, list[Product]]:
    """The right operands as one matrix, where they are parts of an array one below the other.

    With the products in that order, which else is the order in which their operands are made.
    """
    wanted = {p.b.buffer.number: p for p in products if p.b.buffer is not None}
    for step in lowered.steps:
        if not isinstance(step, Assemble) or step.adds or not step.covered:
            continue
        found = [
            (region.offset, part)
            for part, region in step.parts
            if part.buffer is not None and part.buffer.number in wanted and region.contiguous
        ]
        if len(found) != len(products):
            continue
        found.sort(key=lambda entry: entry[0])
        size = found[0][1].size
        if all(offset == found[0][0] + k * size for k, (offset, _) in enumerate(found)):
            order = [wanted[part.buffer.number] for _, part in found]  # type: ignore[union-attr]
            width = order[0].b.shape[1]
            shape = (len(found) * size // width, width)
            return Term(step.outs[0], shape, (width, 1), found[0][0]), order
    order = sorted(products, key=lambda p: p.a.buffer.number)  # type: ignore[union-attr]
    return None, order


def _flipped(term: Term) -> Term:
    return term.transposed((1, 0))


def _own(term: Term) -> bool:
    """Whether it is all of what a step computes, so that this can be computed in a stack."""
    return term.whole and term.buffer is not None and term.buffer.maker is not None


# --- updates


def _updates_by_products(lowered: Lowered, updates: Mapping[int, int]) -> None:
    """``p - rate * (a b)`` is a product that adds to p."""
    steps = lowered.steps
    readers = readers_of(steps)
    returned = lowered.returned
    inputs = {b.number: k for k, b in enumerate(lowered.inputs)}
    gone: set[int] = set()
    instead: dict[int, Step] = {}
    for output, position in updates.items():
        term = lowered.outputs[output]
        step = term.buffer.maker if term.buffer is not None else None
        found = _as_product(step, position, inputs, readers, returned)
        if step is None or found is None or len(readers[step.outs[0].number]):
            continue
        product, scaling, scale = found
        new = Product(product.a, product.b, step.outs[0], step.origin)
        new.alpha, new.beta, new.scale = -product.alpha, 1.0, scale
        instead[id(step)] = new
        gone.update((id(product), id(scaling)))
    steps[:] = [instead.get(id(s), s) for s in steps if id(s) not in gone]


def _as_product(
    step: Step | None,
    position: int,
    inputs: Mapping[int, int],
    readers: Mapping[int, list[Step]],
    returned: set[int],
) -> tuple[Product, Step, Term] | None:
    """The parts of ``p - (a b) * rate``."""
    if not isinstance(step, Map) or step.function != "subtract":
        return None
    old, taken = step.args
    if old.buffer is None or inputs.get(old.buffer.number) != position or not old.whole:
        return None
    scaling = _alone(taken, readers, returned)
    if not isinstance(scaling, Map) or scaling.function != "multiply" or not taken.whole:
        return None
    for gradient, rate in (scaling.args, scaling.args[::-1]):
        product = _alone(gradient, readers, returned)
        rate_is_one = rate.buffer is not None and not rate.converted and not any(rate.strides)
        if isinstance(product, Product) and gradient.whole and rate_is_one:
            flat = product.outs[0].shape == step.outs[0].shape and product.a.ndim == 2
            if flat and product.beta == 0.0 and product.scale is None:
                return product, scaling, rate.seen((), ())
    return None


# --- matrices that are read transposed again and again


def _transposed_once(lowered: Lowered) -> None:
    """BLAS reads a matrix faster as it lies; a copy pays where many products read it."""
    steps = lowered.steps
    many: dict[tuple[int, int], list[Product]] = defaultdict(list)
    for step in steps:
        if isinstance(step, Product) and step.b.ndim == 2 and step.b.strides[-1] != 1:
            assert step.b.buffer is not None
            many[step.b.buffer.number, step.b.offset].append(step)
    for products in many.values():
        if len(products) < _OFTEN:
            continue
        first = products[0]
        if any(p.b.shape != first.b.shape or p.b.strides != first.b.strides for p in products):
            continue
        step = lowered.copy(first.b, first.origin)
        steps.insert(steps.index(first), step)
        for product in products:
            product.b = term_of(step.outs[0])
