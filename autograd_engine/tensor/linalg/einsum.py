"""Einstein summation, as transpositions and matrix products."""

from __future__ import annotations

import functools
from typing import Any

from autograd_engine.core.checks import require_type
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import storage_of
from autograd_engine.errors import ArgumentError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["einsum"]

Labels = tuple[str, ...]


@atomic
def einsum(equation: str, *operands: Any) -> Tensor:
    """Sums of products of elements whose axes are named by letters.

    Parameters
    ----------
    equation : str
        ``"ij,jk->ik"``: a letter for each axis of each operand, then those of the result. Axes of
        one letter run together, within an operand along its diagonal; letters that the result does
        not have are summed over. ``...`` stands for any further axes, which broadcast. Without
        ``->`` the result has these, then the letters that occur once, in the order of the alphabet.
    *operands : Tensor or Variable
        Contracted from left to right, each pair by one product of matrices.

    Raises
    ------
    ArgumentError
        When the equation does not follow these rules.
    ShapeError
        When the operands do not have the axes or sizes that it says.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> paddle.einsum("ij,kj->ik", x, x).tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    >>> paddle.einsum("ii", x).item()
    5.0
    """
    require_type(equation, str, "einsum: the equation must be a str")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    xs = [as_operand("einsum", x, f"operands[{k}]") for k, x in enumerate(operands)]
    inputs, output = _parse(equation, tuple(spec_of(x).ndim for x in xs))
    _check_sizes(equation, xs, inputs)
    terms = [_with_single_axes(x, labels) for x, labels in zip(xs, inputs, strict=True)]
    terms = _without_ones(terms)
    total, labels = terms[0]
    for k, (x, names) in enumerate(terms[1:], 1):
        later = {*output, *(c for _, rest in terms[k + 1 :] for c in rest)}
        total, labels = _contract(total, labels, x, names, later)
    total, labels = _summed(total, labels, set(output))
    made = _arranged(total, labels, output)
    storage = storage_of(made) if isinstance(made, Tensor) else None
    if storage is not None and any(storage_of(x) is storage for x in operands):
        return ops.assign(made)  # a movement of one operand, which the reference copies
    return made


# --- the equation


@functools.lru_cache(maxsize=256)
def _parse(equation: str, ndims: tuple[int, ...]) -> tuple[list[Labels], Labels]:
    """A label for each axis of each operand and of the result; those of ``...`` are digits."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(ndims):
        raise ArgumentError(
            f"einsum: {equation!r} names {len(parts)} operands, {len(ndims)} were given"
        )
    inputs = [_labels(equation, p, n) for p, n in zip(parts, ndims, strict=True)]
    counts = [c for labels in inputs for c in labels]
    further = sorted({c for c in counts if not c.isalpha()}, key=int, reverse=True)
    if not arrow:
        letters = sorted({c for c in counts if c.isalpha() and counts.count(c) == 1})
        return inputs, (*further, *letters)
    output: list[str] = []
    if right.count("...") > 1:
        raise ArgumentError(f"einsum: the result of {equation!r} has more than one '...'")
    for k, piece in enumerate(right.split("...")):
        output += [*(further if k else ()), *piece]
    for c in output:
        if c not in counts:
            raise ArgumentError(f"einsum: {c!r} of the result of {equation!r} is no operand's")
        if output.count(c) > 1:
            raise ArgumentError(f"einsum: {c!r} occurs twice in the result of {equation!r}")
    return inputs, tuple(output)


def _labels(equation: str, part: str, ndim: int) -> Labels:
    head, dots, tail = part.partition("...")
    letters = head + tail
    if not all(c.isascii() and c.isalpha() for c in letters):
        raise ArgumentError(
            f"einsum: axes are named by letters, and by one '...'; got {part!r} in {equation!r}"
        )
    further = ndim - len(letters)
    if further < 0 or (further and not dots):
        raise ShapeError(
            f"einsum: {part!r} of {equation!r} names {len(letters)} axes, its operand has {ndim}"
        )
    # Counted from the back, as broadcasting does.
    return (*head, *(str(k) for k in reversed(range(further))), *tail)


def _check_sizes(equation: str, xs: list[Any], inputs: list[Labels]) -> None:
    seen: dict[str, Any] = {}
    for x, labels in zip(xs, inputs, strict=True):
        shape = spec_of(x).shape
        for c, size in zip(labels, shape, strict=True):
            other = seen.get(c, 1)
            if size != 1 and other != 1 and not may_equal((size,), (other,)):
                raise ShapeError(
                    f"einsum: axis {c!r} of {equation!r} has size {size} in {format_shape(shape)} "
                    f"and {other} elsewhere"
                )
            seen[c] = size if other == 1 else other


# --- the steps. A term is an array with a label for each axis, no label twice.


def _with_single_axes(x: Any, labels: Labels) -> tuple[Any, Labels]:
    """The diagonal along axes of one label."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            n = len(labels)
            rest = [k for k in range(n) if k not in (i, j)]
            shape = spec_of(x).shape
            if not may_equal((shape[i],), (shape[j],)):
                raise ShapeError(
                    f"einsum: axes of one letter, {c!r}, have sizes {shape[i]} and {shape[j]}"
                )
            x = ops.diagonal(x, offset=0, axis1=i, axis2=j)
            labels = (*(labels[k] for k in rest), c)
    return x, labels


def _without_ones(terms: list[tuple[Any, Labels]]) -> list[tuple[Any, Labels]]:
    """Without the axes of size 1 that broadcast against others of the same label."""
    stretched = {
        c for x, labels in terms for c, d in zip(labels, spec_of(x).shape, strict=True) if d != 1
    }
    out = []
    for x, labels in terms:
        gone = tuple(k for k, d in enumerate(spec_of(x).shape) if d == 1 and labels[k] in stretched)
        kept = tuple(c for k, c in enumerate(labels) if k not in gone)
        out.append((ops.squeeze(x, axis=gone) if gone else x, kept))
    return out


def _summed(x: Any, labels: Labels, wanted: set[str]) -> tuple[Any, Labels]:
    """Summed over the axes that nothing asks for."""
    axes = tuple(k for k, c in enumerate(labels) if c not in wanted)
    if not axes:
        return x, labels
    return ops.sum(x, axis=axes), tuple(c for c in labels if c in wanted)


def _arranged(x: Any, labels: Labels, order: Labels) -> Any:
    """The axes in the order of `order`, which has the same labels."""
    perm = tuple(labels.index(c) for c in order)
    return x if perm == tuple(range(len(perm))) else ops.transpose(x, perm=perm)


def _spread(x: Any, labels: Labels, order: Labels) -> Any:
    """The axes in the order of `order`, of size 1 where `x` has none."""
    x = _arranged(x, labels, tuple(c for c in order if c in labels))
    missing = tuple(k for k, c in enumerate(order) if c not in labels)
    return ops.unsqueeze(x, axis=missing) if missing else x


def _contract(x: Any, a: Labels, y: Any, b: Labels, wanted: set[str]) -> tuple[Any, Labels]:
    """The product of two terms, summed over what they share and nothing else asks for."""
    x, a = _summed(x, a, {*wanted, *b})
    y, b = _summed(y, b, {*wanted, *a})
    both = tuple(c for c in a if c in b)
    batch = tuple(c for c in both if c in wanted)
    gone = tuple(c for c in both if c not in wanted)
    rows = tuple(c for c in a if c not in b)
    columns = tuple(c for c in b if c not in a)
    if not gone or not (rows or columns):
        # No sum over many products of elements: a matrix product would gain nothing.
        order = (*batch, *rows, *columns, *gone)
        product = _spread(x, a, order) * _spread(y, b, order)
        return _summed(product, order, wanted)
    left = _arranged(x, a, (*batch, *rows, *gone))
    right = _arranged(y, b, (*batch, *gone, *columns))
    labels = (*batch, *rows, *columns)
    if len(rows) == len(columns) == len(gone) == 1:
        return ops.matmul(left, right, transpose_x=False, transpose_y=False), labels
    # One matrix each, or as many as there are elements along the batch axes.
    stack = (len(batch),) if batch else ()
    out = ops.matmul(
        _merged(left, (*stack, len(rows), len(gone))),
        _merged(right, (*stack, len(gone), len(columns))),
        transpose_x=False,
        transpose_y=False,
    )
    sources = (
        *((0, k) for k in range(len(batch) + len(rows))),
        *((1, len(batch) + len(gone) + k) for k in range(len(columns))),
    )
    return ops.unmerge_axes(out, left, right, sources=sources), labels


def _merged(x: Any, counts: tuple[int, ...]) -> Any:
    return x if set(counts) == {1} else ops.merge_axes(x, counts=counts)
