"""Running one operation, or one function, in each of the ways that the engine has.

An operation of the table is run by its name; a function takes its place where it is called with
Tensors or Variables. The project's own suite runs every operation through these.

Besides it is tried with arrays in another layout, and in other shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.autograd import grad, jvp
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.core.random_generator import generator, own_generator, snapshot
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import OpDef

__all__ = [
    "Orders",
    "Runnable",
    "call",
    "close",
    "differentiable",
    "directions",
    "eager_orders",
    "every_subset",
    "gradient",
    "inner",
    "kernel",
    "numpy",
    "pushed",
    "reseeded",
    "same_bits",
    "static_forms",
    "static_orders",
    "subsets",
    "tensors",
    "with_gradient",
    "like_layout",
    "strided",
    "variants",
]

Array: TypeAlias = NDArray[Any]
Runnable: TypeAlias = OpDef | Callable[..., Any]
Orders: TypeAlias = tuple[list[Array | None], list[Array | None], list[Array | None]]
"""Outputs, gradients of the first order, and of the second."""


def differentiable(op: Runnable, operands: Sequence[Array]) -> tuple[int, ...]:
    """Positions of the operands that have a gradient."""
    floating = [k for k, a in enumerate(operands) if a.dtype in FLOATS]
    if isinstance(op, OpDef):
        floating = [k for k in floating if op.rule_at(k) is not None]
    return tuple(floating)


def subsets(positions: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Each alone, and all at once."""
    alone: list[tuple[int, ...]] = [(k,) for k in positions]
    return alone if len(alone) == 1 else [*alone, positions]


def every_subset(positions: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [c for n in range(1, len(positions) + 1) for c in combinations(positions, n)]


def kernel(op: OpDef, operands: Sequence[Array], attrs: dict[str, Any]) -> tuple[Array, ...]:
    """Results of the kernel, always a tuple."""
    out = op.kernel(*operands, **attrs)
    return tuple(map(np.asarray, out)) if op.multiple else (np.asarray(out),)


def with_gradient(op: Runnable, outputs: Sequence[Any]) -> list[Any]:
    """The outputs that a cotangent can arrive at."""
    if not isinstance(op, OpDef):
        return [o for o in outputs if not o.stop_gradient]
    return [o for k, o in enumerate(outputs) if op.output_at(k) not in op.nondiff_outputs]


def directions(like: Sequence[Array], seed: int) -> list[Array]:
    """Random arrays of the shapes and dtypes of `like`: cotangents or tangents."""
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.uniform(-1.0, 1.0, a.shape)).astype(a.dtype) for a in like]


@contextmanager
def reseeded(seed: int = 0) -> Iterator[None]:
    """Random operations draw from a generator of their own, the same each time."""
    with own_generator(np.random.default_rng(seed)):
        yield


def inner(xs: Sequence[Array], ys: Sequence[Array]) -> float:
    return float(sum(np.sum(x * y) for x, y in zip(xs, ys, strict=True)))


# --- eagerly


def tensors(operands: Sequence[Array], positions: Sequence[int] = ()) -> list[Tensor]:
    """Leaves around the arrays themselves, so that their layout in memory is what is tried."""
    return [Tensor._leaf(a) if k in positions else Tensor._wrap(a) for k, a in enumerate(operands)]


def call(op: Runnable, xs: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
    """Results on Tensors or Variables, always a tuple."""
    function = ops[op] if isinstance(op, OpDef) else op
    out = function(*xs, **attrs)
    return tuple(out) if isinstance(out, (list, tuple)) else (out,)


def numpy(values: Sequence[Tensor | None]) -> list[Array | None]:
    return [None if v is None else v.numpy() for v in values]


def gradient(
    op: Runnable,
    operands: Sequence[Array],
    attrs: dict[str, Any],
    positions: Sequence[int],
    cotangents: Sequence[Array],
) -> list[Array]:
    """Gradients of <cotangents, outputs>, by the tape."""
    xs = tensors(operands, positions)
    outputs = with_gradient(op, call(op, xs, attrs))
    found = grad(outputs, [xs[k] for k in positions], tensors(cotangents))
    return [g.numpy() for g in found if g is not None]  # an input without one is an error


def eager_orders(
    op: Runnable,
    operands: Sequence[Array],
    attrs: dict[str, Any],
    positions: Sequence[int],
    cotangents: Sequence[Array],
    tangents: Sequence[Array],
    *,
    create_graph: bool,
) -> Orders:
    """(outputs, first order, second order), the latter of <tangents, first order>.

    The second is taken of the inputs at `positions` and of the cotangents. Its own pass records
    itself too with `create_graph`.
    """
    xs, us = tensors(operands, positions), [Tensor._leaf(u) for u in cotangents]
    wanted = [xs[k] for k in positions]
    outputs = call(op, xs, attrs)
    first: list[Any] = grad(with_gradient(op, outputs), wanted, us, create_graph=True)
    second = grad(
        first, [*wanted, *us], tensors(tangents), create_graph=create_graph, allow_unused=True
    )
    return numpy(outputs), numpy(first), numpy(second)


def pushed(
    op: Runnable,
    operands: Sequence[Array],
    attrs: dict[str, Any],
    positions: Sequence[int],
    tangents: Sequence[Array],
) -> list[Tensor]:
    """Tangents of the outputs that have one, by the forward mode."""
    xs = tensors(operands)

    def function(*wanted: Tensor) -> tuple[Any, ...]:
        arguments = list(xs)
        for k, x in zip(positions, wanted, strict=True):
            arguments[k] = x
        return call(op, arguments, attrs)

    _, found = jvp(function, [xs[k] for k in positions], tensors(tangents))
    if isinstance(op, OpDef):
        return with_gradient(op, found)
    return [t for t in found if t is not None]


# --- in a program


def static_orders(
    op: Runnable,
    operands: Sequence[Array],
    attrs: dict[str, Any],
    positions: Sequence[int],
    cotangents: Sequence[Array],
    tangents: Sequence[Array],
    *,
    unknown: bool,
    written_out: bool = False,
) -> Orders:
    """What `eager_orders` gives, by a program.

    With `unknown` the first size of every operand is not declared; `written_out` replaces the
    gradient operators by those of their rules before the program runs.
    """
    given = (op, operands, attrs, positions, cotangents, tangents)
    (results,) = static_forms(*given, unknown=unknown, forms=(written_out,))
    return results


def static_forms(
    op: Runnable,
    operands: Sequence[Array],
    attrs: dict[str, Any],
    positions: Sequence[int],
    cotangents: Sequence[Array],
    tangents: Sequence[Array],
    *,
    unknown: bool,
    forms: Sequence[bool] = (False, True),
) -> Iterator[Orders]:
    """What `static_orders` gives for each of `forms` of ``written_out``, by one program.

    Each run draws the same random numbers.
    """
    from autograd_engine import static
    from autograd_engine.program.backward.decompose import decompose

    feed: dict[str, Array] = {}

    def declare(name: str, value: Array, shape: Sequence[int | None]) -> Any:
        feed[name] = value
        return static.data(name, list(shape), value.dtype)

    def declared(value: Array) -> Sequence[int | None]:
        return (None, *value.shape[1:]) if unknown and value.ndim else value.shape

    program = static.Program()
    with static.program_guard(program):
        xs = [declare(f"x{k}", a, declared(a)) for k, a in enumerate(operands)]
        wanted = [xs[k] for k in positions]
        for x in wanted:
            x.stop_gradient = False
        outputs = call(op, xs, attrs)
        first: list[Any] = []
        second: list[Any] = []
        if positions:
            goals = with_gradient(op, outputs)
            us = [declare(f"u{k}", u, goals[k].shape) for k, u in enumerate(cotangents)]
            for u in us:
                u.stop_gradient = False
            first[:] = static.gradients(goals, wanted, us)
            if tangents:
                vs = [declare(f"v{k}", v, first[k].shape) for k, v in enumerate(tangents)]
                second[:] = static.gradients(first, [*wanted, *us], vs)
    asked = [v for v in (*outputs, *first, *second) if v is not None]
    names, redrawn = [v.name for v in asked], snapshot(generator())

    def fetched(variables: Sequence[Any], values: Iterator[Array]) -> list[Array | None]:
        return [None if v is None else next(values) for v in variables]

    for number, written_out in enumerate(forms):
        if written_out:
            decompose(program.global_block(), lambda operator: True)
        with own_generator(redrawn() if number else None):
            values = iter(static.Executor().run(program, feed, names))
        yield fetched(outputs, values), fetched(first, values), fetched(second, values)


# --- what is compared


def close(actual: Array, expected: Array, tolerance: float) -> None:
    if actual.shape != expected.shape:
        raise AssertionError(f"shape {actual.shape} in place of {expected.shape}")
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def same_bits(actual: Any, expected: Any) -> None:
    """Equal to the bit, but for the payload of NaN; None stands for no gradient."""
    if expected is None or actual is None:
        if actual is not expected:
            raise AssertionError(f"{actual!r} in place of {expected!r}")
        return
    have, want = (actual.dtype, actual.shape), (expected.dtype, expected.shape)
    if have != want:
        raise AssertionError(f"{have[0]}{list(have[1])} in place of {want[0]}{list(want[1])}")
    np.testing.assert_array_equal(actual, expected)
    if actual.dtype in FLOATS:
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual)[number], np.signbit(expected)[number])


def strided(a: Array) -> Array:
    """`a` in memory that is neither contiguous nor in the order of its axes."""
    wide = np.repeat(np.asfortranarray(a), 2, axis=-1).T.copy().T
    return np.asarray(wide[..., ::2])


def like_layout(original: Array, values: Array) -> Array:
    """A copy of `values`, not contiguous where `original` is not."""
    return values.copy() if original.flags.c_contiguous else strided(values)


def variants(op: Runnable, operands: Sequence[Array]) -> Iterator[tuple[str, list[Array]]]:
    """(label, operands): the call itself, another layout, and for elementwise operations shapes.

    The numbers are those of the call, so they stay in the domain of the operation.
    """
    given = list(operands)
    yield "as given", given
    if any(a.ndim and a.size > 1 for a in given):
        yield "not contiguous", [strided(a) if a.ndim else a for a in given]
    if not _takes_any_shape(op):
        return
    if any(a.ndim for a in given) and all(a.size for a in given):
        points = [np.asarray(a.reshape(-1)[0]) for a in given]
        yield "0-d", points
        yield "empty", [np.empty((0, 3), a.dtype) for a in given]
        if len(given) > 1:
            for k, a in enumerate(given):
                if a.ndim:
                    name = op.input_at(k) if isinstance(op, OpDef) else f"input {k}"
                    yield f"{name} 0-d, broadcast", [*given[:k], points[k], *given[k + 1 :]]
                    yield f"{name} one row, broadcast", [*given[:k], a[:1], *given[k + 1 :]]


def _takes_any_shape(op: Runnable) -> bool:
    """Elementwise, with no attribute that speaks of axes."""
    if not isinstance(op, OpDef) or op.variadic or op.multiple or "axis" in op.attrs:
        return False
    if not all(op.reads_value(k) for k in range(len(op.inputs))):
        return False
    return op.broadcasts == 0 or (len(op.inputs) == 1 and op.tangent == "elementwise")
