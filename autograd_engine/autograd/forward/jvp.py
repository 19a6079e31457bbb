"""Forward mode on Tensors: a function is recorded, and tangents are pushed along the recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np

from autograd_engine.autograd.backward_pass import real_loss, settled
from autograd_engine.autograd.by_parts import BY_PARTS
from autograd_engine.autograd.gradient import grad
from autograd_engine.autograd.sequences import holds_variables, like_given
from autograd_engine.core.checks import require_bools, require_type
from autograd_engine.core.dtypes import COMPLEX, FLOATS, INEXACT
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.grad_mode import linearizes, no_grad, recorded_with, recording
from autograd_engine.eager.graph_cuts import NO_GRAPH, note_cut
from autograd_engine.eager.tape import Edge, edge_of, newer
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.program import mode

__all__ = [
    "call_recorded",
    "checked_directions",
    "inputs_of",
    "jvp",
    "or_zeros",
    "outputs_of",
    "own_tangent",
    "traced_from",
    "vjp",
    "without_history",
]


def jvp(
    func: Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
) -> tuple[Any, Any]:
    """The value of `func` at `xs`, and its derivative there in the direction `v`.

    Parameters
    ----------
    func : callable
        Takes the tensors in `xs` as arguments; returns a Tensor, or a list or tuple of them.
        Gradients that it takes itself need ``create_graph=True`` to take part.
    xs : Tensor or sequence of Tensor
        Or Variables: then operators are appended to their program.
    v : Tensor or sequence of Tensor or None, optional
        A tangent for each of `xs`, of its shape and dtype; None stands for ones where `v` is None
        as a whole, and for zeros in a sequence.
    create_graph : bool
        Record the computation, so that value and derivative can be differentiated.

    Returns
    -------
    ys, tangents
        As `func` returns them. The tangent of an output that depends on no input is zeros; that of
        an output which is not floating is None.

    Raises
    ------
    NotATensorError, ShapeError, DTypeError, ArgumentError

    Notes
    -----
    The rules of reverse mode serve forward mode, so every differentiable operation has one. The
    recording keeps what a backward pass would, until the tangents have passed.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> ys, tangents = jvp(lambda x: x * x, x, paddle.to_tensor([1.0, 10.0]))
    >>> ys.tolist(), tangents.tolist()
    ([1.0, 4.0], [2.0, 40.0])
    """
    from autograd_engine.autograd.forward.push import push_along

    if holds_variables(xs):
        from autograd_engine.autograd.programs import program_jvp

        return program_jvp(func, xs, v)
    mode.require_dynamic("jvp")
    inputs = inputs_of("jvp", func, xs, INEXACT)
    require_bools("jvp", create_graph=create_graph)
    tangents = checked_directions("jvp", inputs, v, "v", zeros=True)
    create_graph = create_graph or linearizes()
    since = newer()
    with recorded_with(contexts=True), recording():
        sources, value = call_recorded(func, inputs)
    starts: dict[Edge, Any] = {
        edge_of(x): t if create_graph else t._data
        for x, t in zip(sources, tangents, strict=True)
        if t is not None
    }
    ys = outputs_of("jvp", value)
    with recording() if create_graph else no_grad():
        pushed = push_along(ys, starts, since, ops if create_graph else raw)
        results = [own_tangent(y, t) for y, t in zip(ys, pushed, strict=True)]
    if not create_graph:
        ys = [without_history(y) for y in ys]
    return like_given(value, ys), like_given(value, results)


def vjp(
    func: Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
) -> tuple[Any, Any]:
    """The value of `func` at `xs`, and the gradient of ``<v, func(xs)>`` with respect to `xs`.

    Parameters
    ----------
    func : callable
        Takes the tensors in `xs` as arguments; returns a Tensor, or a list or tuple of them.
    xs : Tensor or sequence of Tensor
        Or Variables: then operators are appended to their program.
    v : Tensor or sequence of Tensor, optional
        Cotangents of the outputs; ones if not given, which complex ones have to be.
    create_graph : bool
        Record the computation, so that value and gradient can be differentiated.

    Returns
    -------
    ys, gradients
        `ys` as `func` returns them; a gradient for each of `xs`, zeros where no output depends on
        it, in a sequence where `xs` is one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> ys, gradient = vjp(lambda x: (x * x).sum(), paddle.to_tensor([1.0, 2.0]))
    >>> ys.item(), gradient.tolist()
    (5.0, [2.0, 4.0])
    """
    if holds_variables(xs):
        from autograd_engine.autograd.programs import program_vjp

        return program_vjp(func, xs, v)
    mode.require_dynamic("vjp")
    inputs = inputs_of("vjp", func, xs, INEXACT)
    require_bools("vjp", create_graph=create_graph)
    create_graph = create_graph or linearizes()
    with recording():
        sources, value = call_recorded(func, inputs)
    ys = outputs_of("vjp", value)
    if v is None and any(y._data.dtype in COMPLEX for y in ys):
        raise real_loss("vjp", "v", "vjp(func, xs, v)")
    cotangents = checked_directions("vjp", ys, v, "v", zeros=False)
    # An output may be there twice, or be an input.
    reached = [y._node is not None and not y._stop for y in ys]
    roots = [Tensor._wrap(y._data, y._node) for y, r in zip(ys, reached, strict=True) if r]
    seeds = [u for u, r in zip(cotangents, reached, strict=True) if r]
    found: list[Tensor | None] = [None] * len(inputs)
    if roots:
        found = grad(roots, sources, seeds, create_graph=create_graph, allow_unused=True)
    if not create_graph:
        ys = [without_history(y) for y in ys]
    return like_given(value, ys), like_given(xs, or_zeros(inputs, found))


def without_history(y: Tensor) -> Tensor:
    """The values of a result that is not to be differentiated."""
    if not y._stop:
        note_cut(NO_GRAPH, y, y._data)
    return Tensor._wrap(y._data)


def own_tangent(y: Tensor, t: Any) -> Tensor | None:
    """A Tensor of its own, for `t` may be what was given, or the tangent of two outputs."""
    if y._data.dtype not in INEXACT:
        return None
    if t is None:
        return ops.zeros_like(y)  # type: ignore[no-any-return]
    if isinstance(t, Tensor):
        return ops.assign(t)  # type: ignore[no-any-return]
    return Tensor._wrap(settled(t))


def traced_from(inputs: list[Tensor]) -> list[Tensor]:
    """Tensors to record a function with: no leaves, so that it may write to them."""
    return [ops.assign(Tensor._leaf(x._data) if x._stop else x) for x in inputs]


def call_recorded(func: Callable[..., Any], inputs: list[Tensor]) -> tuple[list[Tensor], Any]:
    """Where the history of each input starts, and what `func` returns of them."""
    traced = traced_from(inputs)
    # `func` may write to what it is given; these stay the inputs.
    sources = [Tensor._wrap(x._data, x._node) for x in traced]
    return sources, func(*traced)


# --- arguments and results


def inputs_of(function: str, func: Any, xs: Any, family: Set[Any] = FLOATS) -> list[Tensor]:
    if not callable(func):
        raise NotATensorError(
            f"{function}: func must be a function of tensors, got {type(func).__name__}"
        )
    inputs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    if not inputs:
        raise ArgumentError(f"{function}: xs is empty; give one Tensor at least")
    for k, x in enumerate(inputs):
        if not isinstance(x, Tensor):
            raise NotATensorError(
                f"{function}: xs[{k}] must be a Tensor, got {type(x).__name__}: use to_tensor"
            )
        dtype = x._data.dtype
        if dtype not in family:
            advice = BY_PARTS[function] if dtype in COMPLEX else "use x.astype('float32')"
            raise DTypeError(
                f"{function}: xs[{k}] must be floating to be differentiated, got {dtype.name}: "
                f"{advice}"
            )
    return inputs


def outputs_of(function: str, value: Any) -> list[Tensor]:
    ys = list(value) if isinstance(value, (list, tuple)) else [value]
    for y in ys:
        if not isinstance(y, Tensor):
            raise NotATensorError(
                f"{function}: func must return a Tensor, or a list or tuple of them; got "
                f"{type(y).__name__}"
            )
    return ys


def checked_directions(
    function: str, primals: list[Tensor], given: Any, argument: str, *, zeros: bool
) -> list[Tensor | None]:
    """One for each of `primals`, checked; ones where nothing was given."""
    if given is None:
        return [
            None if x._data.dtype not in INEXACT else Tensor._wrap(np.ones_like(x._data))
            for x in primals
        ]
    values = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(values) != len(primals):
        raise ArgumentError(
            f"{function}: {argument} has {len(values)} entries for {len(primals)} tensors; give "
            "one each"
        )
    for k, (x, t) in enumerate(zip(primals, values, strict=True)):
        if t is None and zeros:
            continue
        require_type(t, Tensor, f"{function}: {argument}[{k}] must be a Tensor", NotATensorError)
        if t._data.shape != x._data.shape:
            raise ShapeError(
                f"{function}: {argument}[{k}] has shape {format_shape(t._data.shape)}, what it "
                f"belongs to {format_shape(x._data.shape)}; they must be equal"
            )
        if t._data.dtype != x._data.dtype:
            raise DTypeError(
                f"{function}: {argument}[{k}] is {t._data.dtype.name}, what it belongs to "
                f"{x._data.dtype.name}: use {argument}.astype({x._data.dtype.name!r})"
            )
    return values


def or_zeros(inputs: Sequence[Tensor], gradients: Sequence[Tensor | None]) -> list[Tensor]:
    """Zeros for an input that nothing depends on."""
    return [ops.zeros_like(x) if g is None else g for x, g in zip(inputs, gradients, strict=True)]
