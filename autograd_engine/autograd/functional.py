"""Derivatives of functions: values with gradients, Jacobians, Hessians and products with them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autograd_engine.autograd.by_parts import check_jacobian_dtypes
from autograd_engine.autograd.directions import (
    checked_chunk,
    pull_units,
    push_units,
    split_front,
)
from autograd_engine.autograd.forward.jvp import (
    call_recorded,
    checked_directions,
    inputs_of,
    or_zeros,
    outputs_of,
    own_tangent,
    traced_from,
    without_history,
)
from autograd_engine.autograd.forward.push import push_along
from autograd_engine.autograd.gradient import grad
from autograd_engine.autograd.hessians.plan import planned_hessian
from autograd_engine.autograd.sequences import like_given, nested
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import COMPLEX, FLOATS, INEXACT
from autograd_engine.core.lazy import lazily
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.grad_mode import grad_mode, linearizes, no_grad, recorded_with, recording
from autograd_engine.eager.hooks import hooks_left_out
from autograd_engine.eager.tape import Edge, edge_of, newer
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.program import mode

__all__ = ["hessian_of", "hvp", "jacobian_of", "value_and_grad"]

if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})


def value_and_grad(
    func: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    create_graph: bool = False,
) -> Callable[..., Any]:
    """A function that gives the value of `func` and its gradient.

    Parameters
    ----------
    func : callable
        Returns a Tensor with one element; with `has_aux`, that and anything else.
    argnums : int or sequence of int
        Which of its positional arguments to differentiate by.
    has_aux : bool
        `func` returns ``(loss, aux)``; `aux` is handed on as it is.
    create_graph : bool
        Record the computation, so that value and gradient can be differentiated.

    Returns
    -------
    callable
        With the arguments of `func`; gives ``(value, gradient)``, or ``((value, aux), gradient)``.
        The gradient is a Tensor, a tuple of them where `argnums` is a sequence; zeros for an
        argument that the value does not depend on. No ``.grad`` is touched.

    Raises
    ------
    ArgumentError, NotATensorError, DTypeError, ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> loss = paddle.autograd.value_and_grad(lambda w, x: ((w * x) ** 2).sum())
    >>> value, gradient = loss(paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0, 1.0]))
    >>> value.item(), gradient.tolist()
    (13.0, [18.0, 4.0])
    """
    if not callable(func):
        raise NotATensorError(
            f"value_and_grad: func must be a function of tensors, got {type(func).__name__}"
        )
    require_bools("value_and_grad", has_aux=has_aux, create_graph=create_graph)
    several = isinstance(argnums, (list, tuple))
    numbers: list[Any] = list(argnums) if isinstance(argnums, (list, tuple)) else [argnums]
    for k in numbers:
        if isinstance(k, bool) or not isinstance(k, int):
            raise ArgumentError(
                f"value_and_grad: argnums must be an int or a sequence of ints, got {argnums!r}"
            )

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        mode.require_dynamic("value_and_grad")
        positions = [_position(k, len(args)) for k in numbers]
        inputs = inputs_of("value_and_grad", func, [args[k] for k in positions], INEXACT)
        record = create_graph or linearizes()
        with recording():
            traced = traced_from(inputs)
            sources = [Tensor._wrap(x._data, x._node) for x in traced]
            given = list(args)
            for k, x in zip(positions, traced, strict=True):
                given[k] = x
            returned = func(*given, **kwargs)
        value, aux = _with_aux(returned) if has_aux else (returned, None)
        _one_element("value_and_grad", value)
        gradients = or_zeros(inputs, _gradients(value, sources, record))
        if not record:
            value = without_history(value)
        result = (value, aux) if has_aux else value
        return result, tuple(gradients) if several else gradients[0]

    return run


def _position(k: int, count: int) -> int:
    if not -count <= k < count:
        raise ArgumentError(
            f"value_and_grad: argnums names argument {k}, and the function was called with {count} "
            "positional arguments; pass what is differentiated by position"
        )
    return k % count


def _with_aux(returned: Any) -> tuple[Any, Any]:
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise ArgumentError(
            "value_and_grad: with has_aux=True func must return a pair, (loss, aux); got "
            f"{type(returned).__name__}"
        )
    return returned


def _one_element(function: str, value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise NotATensorError(
            f"{function}: func must return a Tensor with one element; got {type(value).__name__}"
            + (": with has_aux=True it may return (loss, aux)" if function[0] == "v" else "")
        )
    if value._data.size != 1:
        raise ShapeError(
            f"{function}: func must return one element, got {format_shape(value._data.shape)}; "
            "take the sum or the mean, or use jacobian"
        )
    _floating(function, value)
    return value


def _floating(function: str, y: Tensor) -> None:
    if y._data.dtype in COMPLEX:
        raise DTypeError(
            f"{function}: func returned {y._data.dtype.name}, and a gradient is that of a real "
            "loss: return loss.abs() or loss.real()"
        )
    if y._data.dtype not in FLOATS:
        raise DTypeError(
            f"{function}: func returned {y._data.dtype.name}, which has no derivative; return "
            "floating values: y.astype('float32')"
        )


def _gradients(value: Tensor, sources: list[Tensor], create_graph: bool) -> list[Tensor | None]:
    """Of the sum of `value`; None for a source that it does not depend on."""
    if value._node is None or value._stop:
        return [None] * len(sources)
    # It may be one of the sources itself.
    root = Tensor._wrap(value._data, value._node)
    return grad([root], sources, create_graph=create_graph, allow_unused=True)


def hvp(
    func: Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
) -> tuple[Any, Any]:
    """The value of `func` at `xs`, and its Hessian there times the vector `v`.

    Parameters
    ----------
    func : callable
        Takes the tensors in `xs` as arguments; returns a Tensor with one element.
    xs : Tensor or sequence of Tensor
    v : Tensor or sequence of Tensor or None, optional
        One for each of `xs`, of its shape and dtype; ones if not given.
    create_graph : bool
        Record the computation, so that value and product can be differentiated.

    Returns
    -------
    value, products
        A product for each of `xs`, in a sequence where `xs` is one.

    Notes
    -----
    The derivative in the direction `v` is pushed along the recording of the gradient: one pass
    forward over one in reverse, whatever the number of elements.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> v = paddle.to_tensor([1.0, 0.0])
    >>> value, product = paddle.autograd.hvp(lambda x: (x**3).sum(), x, v)
    >>> value.item(), product.tolist()
    (9.0, [6.0, 0.0])
    """
    mode.require_dynamic("hvp")
    inputs = inputs_of("hvp", func, xs, INEXACT)
    require_bools("hvp", create_graph=create_graph)
    along = checked_directions("hvp", inputs, v, "v", zeros=True)
    create_graph = create_graph or linearizes()
    value, starts, gradients, since = _recorded_gradient("hvp", func, inputs)
    tangents: dict[Edge, Any] = {
        edge_of(x): t if create_graph else t._data
        for x, t in zip(starts, along, strict=True)
        if t is not None
    }
    with recording() if create_graph else no_grad():
        there = [g for g in gradients if g is not None]
        pushed = iter(push_along(there, tangents, since, ops if create_graph else raw))
        products = [
            own_tangent(x, None if g is None else next(pushed))
            for x, g in zip(inputs, gradients, strict=True)
        ]
    return value if create_graph else without_history(value), like_given(xs, products)


def _recorded_gradient(
    function: str, func: Callable[..., Any], inputs: list[Tensor], batched: bool = False
) -> tuple[Tensor, list[Tensor], list[Tensor | None], int]:
    """The value, where its history starts, its gradient, recorded so as to be pushed along."""
    since = newer()
    with recorded_with(contexts=True), recording():
        sources, value = call_recorded(func, inputs)
        if batched:
            _one_for_each(function, value, inputs)
        else:
            _one_element(function, value)
        gradients = _gradients(value, sources, True)
    return value, sources, gradients, since


# --- Jacobians and Hessians of functions


def jacobian_of(
    func: Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    batch_axis: int | None,
    how: str,
    create_graph: bool,
    chunk_size: int | None,
) -> Any:
    """See `jacobian`."""
    inputs = inputs_of("jacobian", func, xs, INEXACT)
    batched = batch_axis is not None
    chunk_size = checked_chunk("jacobian", chunk_size)
    create_graph = create_graph or linearizes()
    since = newer()
    # Which way is shorter is known when the outputs are there.
    with recorded_with(contexts=True) if how != "reverse" else recording(), recording():
        sources, value = call_recorded(func, inputs)
    ys = outputs_of("jacobian", value)
    for y in ys:
        if y._data.dtype not in COMPLEX:
            _floating("jacobian", y)
    check_jacobian_dtypes("jacobian", [y._data for y in ys], [x._data for x in inputs])
    if batched:
        _one_batch("jacobian", inputs, ys)
    options: dict[str, Any] = {
        "create_graph": create_graph,
        "batched": batched,
        "chunk_size": chunk_size,
    }
    if how == "auto":
        smaller = sum(x._data.size for x in inputs) < sum(y._data.size for y in ys)
        how = "forward" if smaller else "reverse"
    if how == "forward":
        columns = [push_units(ys, x, since, **options) for x in sources]
        blocks = _of_columns(columns, inputs, ys, batched)
    else:
        blocks = _of_rows([pull_units(y, sources, **options) for y in ys], inputs, ys, batched)
    return like_given(value, [nested(xs, row) for row in blocks])


def _of_columns(
    columns: Sequence[Any], inputs: list[Tensor], outputs: list[Tensor], batched: bool = False
) -> list[list[Tensor]]:
    """The blocks of a Jacobian, from what was pushed from each input."""
    return [
        [_block(columns[j][i], x, y, batched, last=True) for j, x in enumerate(inputs)]
        for i, y in enumerate(outputs)
    ]


def _of_rows(
    rows: Sequence[Any], inputs: list[Tensor], outputs: list[Tensor], batched: bool = False
) -> list[list[Tensor]]:
    """The blocks of a Jacobian, from what was pulled from each output."""
    return [
        [_block(rows[i][j], y, x, batched, last=False) for j, x in enumerate(inputs)]
        for i, y in enumerate(outputs)
    ]


def _block(value: Any, moved: Tensor, other: Tensor, batched: bool, *, last: bool) -> Tensor:
    front = moved._data.shape[1:] if batched else moved._data.shape
    return split_front(value, front, other._data.shape, batched, last=last)


def hessian_of(
    func: Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    batch_axis: int | None,
    create_graph: bool,
    chunk_size: int | None,
) -> Any:
    """See `hessian`."""
    inputs = inputs_of("hessian", func, xs)
    batched = batch_axis is not None
    chunk_size = checked_chunk("hessian", chunk_size)
    create_graph = create_graph or linearizes()
    if batched:
        _one_batch("hessian", inputs, [])
    elif chunk_size is None and not create_graph and grad_mode.recorder is True:
        rows = _hessian_at_once(func, inputs)
        return nested(xs, [nested(xs, row) for row in rows])
    _, sources, found, since = _recorded_gradient("hessian", func, inputs, batched)
    gradients = or_zeros(inputs, found)
    columns = [
        push_units(
            gradients,
            x,
            since,
            create_graph=create_graph,
            batched=batched,
            chunk_size=chunk_size,
        )
        for x in sources
    ]
    rows = _of_columns(columns, inputs, gradients, batched)
    return nested(xs, [nested(xs, row) for row in rows])


def _hessian_at_once(func: Callable[..., Any], inputs: list[Tensor]) -> list[list[Tensor]]:
    """By a compiled plan; without one, all rows of the gradient's Jacobian in reverse.

    The recording is a plain one, for a plan needs no more, and `func` is to run once only.
    """
    with recording():
        sources, returned = call_recorded(func, inputs)
        value = _one_element("hessian", returned)
    stacks = None
    if value._node is not None and not value._stop:
        stacks = planned_hessian(value, inputs, [edge_of(x) for x in sources])
    if stacks is not None:
        return _of_columns(stacks, inputs, inputs)
    gradients = or_zeros(inputs, _gradients(value, sources, True))
    with hooks_left_out():  # they have had their part in the gradient, and are recorded in it
        pulled = [pull_units(g, sources, create_graph=False) for g in gradients]
    return _of_rows(pulled, inputs, inputs)


def _one_batch(function: str, xs: Sequence[Tensor], ys: Sequence[Tensor]) -> None:
    """All have a first axis, of one size."""
    sizes = set()
    for name, values in (("xs", xs), ("ys", ys)):
        for k, t in enumerate(values):
            if not t._data.ndim:
                raise ShapeError(
                    f"{function}: {name}[{k}] is 0-d and has no batch axis; leave batch_axis out"
                )
            sizes.add(t._data.shape[0])
    if len(sizes) > 1:
        raise ShapeError(
            f"{function}: with batch_axis=0 all first axes must have one size, got "
            f"{' and '.join(map(str, sorted(sizes)))}"
        )


def _one_for_each(function: str, value: Any, inputs: Sequence[Tensor]) -> None:
    if not isinstance(value, Tensor):
        raise NotATensorError(f"{function}: func must return a Tensor; got {type(value).__name__}")
    _one_batch(function, inputs, [value])
    if value._data.size != value._data.shape[0]:
        raise ShapeError(
            f"{function}: with batch_axis=0 func must return one element for each of the batch, "
            f"[B] or [B, 1]; got {format_shape(value._data.shape)}"
        )
    _floating(function, value)
