"""Derivatives of functions of Variables: operators of their program.

`vjp`, `jvp`, `jacobian` and `hessian` come here when they are given Variables. What they append can
be differentiated again, whatever they are told.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograd_engine.autograd.by_parts import check_jacobian_dtypes, require_real
from autograd_engine.autograd.sequences import like_given, nested
from autograd_engine.core.above import above
from autograd_engine.core.dtypes import COMPLEX, INEXACT
from autograd_engine.core.spec import Shape, format_shape
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.backward.append_backward import gradients, refuse_complex_loss
from autograd_engine.program.builder import restored_on_error
from autograd_engine.program.ir.program import Variable

__all__ = [
    "called",
    "check_one_element",
    "known_sizes",
    "program_hessian",
    "program_jacobian",
    "program_jvp",
    "program_vjp",
    "pulled_row",
    "variables_of",
]


def variables_of(function: str, argument: str, value: Any) -> list[Variable]:
    """Floating Variables of one program, as a list."""
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise ArgumentError(f"{function}: {argument} is empty; give one Variable at least")
    for k, v in enumerate(values):
        if not isinstance(v, Variable):
            raise NotATensorError(
                f"{function}: {argument}[{k}] must be a Variable, as others are, got "
                f"{type(v).__name__}"
            )
        if v.spec.dtype not in INEXACT:
            raise DTypeError(
                f"{function}: {argument}[{k}] ({v.name}) is {v.spec.dtype.name}, which has no "
                "derivative; use .astype('float32')"
            )
    return values


def called(function: str, func: Any, xs: Any) -> tuple[list[Variable], Any]:
    """The inputs as values of their own that want gradients, and what `func` returns of them."""
    if not callable(func):
        raise NotATensorError(
            f"{function}: func must be a function of Variables, got {type(func).__name__}"
        )
    traced: list[Variable] = [ops.assign(x) for x in variables_of(function, "xs", xs)]
    for x in traced:
        x.stop_gradient = False
    return traced, func(*traced)


@contextlib.contextmanager
def _differentiated(
    function: str, func: Any, xs: Any
) -> Iterator[tuple[list[Variable], list[Variable], Any]]:
    """Inputs, outputs as a list and as they were returned; an error leaves nothing behind."""
    with restored_on_error(*_listed(xs)):
        traced, value = called(function, func, xs)
        yield traced, variables_of(function, "what func returns", value), value
        for own, x in zip(traced, _listed(xs), strict=True):  # or they would be leaves later
            own.stop_gradient = x.stop_gradient


def program_vjp(func: Callable[..., Any], xs: Any, v: Any) -> tuple[Any, Any]:
    """`vjp` of Variables."""
    with _differentiated("vjp", func, xs) as (traced, ys, value):
        if v is None:
            for y in ys:
                refuse_complex_loss("vjp", y)
        found = gradients(ys, traced, None if v is None else _directions("vjp", ys, v))
        return value, like_given(xs, _or_zeros(traced, found))


def program_jvp(func: Callable[..., Any], xs: Any, v: Any) -> tuple[Any, Any]:
    """`jvp` of Variables."""
    with _differentiated("jvp", func, xs) as (traced, ys, value):
        given = None if v is None else _directions("jvp", traced, v)
        return value, like_given(value, above.forward_grad(ys, traced, given))


def program_jacobian(func: Callable[..., Any], xs: Any, batched: bool) -> Any:
    """`jacobian` of a function of Variables."""
    with _differentiated("jacobian", func, xs) as (traced, ys, value):
        check_jacobian_dtypes("jacobian", [y.spec for y in ys], [x.spec for x in traced])
        rows = [nested(xs, _matrices("jacobian", y, traced, batched)) for y in ys]
        return like_given(value, rows)


def program_hessian(func: Callable[..., Any], xs: Any, batched: bool) -> Any:
    """`hessian` of a function of Variables."""
    with _differentiated("hessian", func, xs) as (traced, ys, _):
        if len(ys) != 1:
            raise ArgumentError(f"hessian: func must return one Variable, it returned {len(ys)}")
        require_real("hessian", [v.spec for v in (ys[0], *traced)])
        check_one_element("hessian", ys[0], batched)
        first = _or_zeros(traced, gradients(ys[0], traced))
        return nested(xs, [nested(xs, _matrices("hessian", g, traced, batched)) for g in first])


def check_one_element(function: str, y: Variable, batched: bool) -> None:
    size = y.spec.size
    wanted = y.spec.shape[0] if batched and y.ndim else 1
    if isinstance(size, int) and isinstance(wanted, int) and size != wanted:
        raise ShapeError(
            f"{function}: the result must have one element{' for each of the batch' * batched}, "
            f"got {format_shape(y.spec.shape)}; take the sum, or use jacobian of the gradient"
        )


def pulled_row(y: Variable, x: Variable, index: int | None, batched: bool) -> Variable:
    """The derivatives of one element of `y`, with a batch of one element for each of it, by `x`."""
    element = y
    if index is not None:
        element = y[:, index] if batched else y[index]
    if element.spec.dtype in COMPLEX:
        parts = [ops.real_part(element), ops.imag_part(element)]
        both = [_or_zeros([x], gradients(part, x))[0] for part in parts]
        joined: Variable = ops.to_complex(*both)
        return joined
    (row,) = _or_zeros([x], gradients(element, x))
    return row


def known_sizes(function: str, y: Variable, shape: Shape) -> list[int]:
    """Sizes that say how many rows there are."""
    sizes = [d for d in shape if isinstance(d, int)]
    if len(sizes) != len(shape):
        raise ShapeError(
            f"{function}: {y.name} is {format_shape(y.spec.shape)}, and its sizes say how many "
            "rows there are: declare them, or let the unknown one be that of a batch"
        )
    return sizes


def _matrices(function: str, y: Variable, xs: Sequence[Variable], batched: bool) -> list[Variable]:
    """Of shape ``[*y.shape, *x.shape]`` for each of `xs`, the batch of both in front."""
    lead = int(batched)
    for v in (y, *xs):
        if batched and not v.ndim:
            raise ShapeError(f"{function}: {v.name} is 0-d and has no batch axis")
    sizes = known_sizes(function, y, y.spec.shape[lead:])

    def block(x: Variable, element: Variable, sizes: list[int]) -> Variable:
        if not sizes:
            return pulled_row(element, x, None, batched)
        parts = [
            block(x, element[:, k] if batched else element[k], sizes[1:]) for k in range(sizes[0])
        ]
        stacked: Variable = ops.stack(*parts, axis=lead)
        return stacked

    return [block(x, y, sizes) for x in xs]


def _listed(xs: Any) -> list[Any]:
    return list(xs) if isinstance(xs, (list, tuple)) else [xs]


def _directions(function: str, like: Sequence[Variable], v: Any) -> list[Any]:
    given = _listed(v)
    if len(given) != len(like):
        raise ArgumentError(
            f"{function}: v has {len(given)} entries for {len(like)}; give one each"
        )
    return given


def _or_zeros(xs: Sequence[Variable], found: Sequence[Any]) -> list[Variable]:
    return [ops.zeros_like(x) if g is None else g for x, g in zip(xs, found, strict=True)]
