"""``paddle.incubate.autograd``: derivatives of functions as Paddle has them, and of programs.

Jacobians and Hessians are matrices of flattened tensors, and all results can be differentiated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autograd_engine.autograd import jacobians as matrices
from autograd_engine.autograd.by_parts import require_real
from autograd_engine.autograd.forward import jvp as products
from autograd_engine.autograd.forward.jvp import (
    inputs_of,
    or_zeros,
    outputs_of,
)
from autograd_engine.autograd.gradient import grad as eager_grad
from autograd_engine.autograd.programs import check_one_element, known_sizes, variables_of
from autograd_engine.autograd.sequences import holds_variables
from autograd_engine.core.lazy import listed
from autograd_engine.core.spec import Spec, format_shape
from autograd_engine.eager.grad_mode import is_grad_enabled, recording
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.backward.append_backward import gradients
from autograd_engine.program.builder import restored_on_error
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.mode import require_dynamic
from autograd_engine.static.forward_mode import forward_grad as forward_grad

__all__ = [
    "Hessian",
    "Jacobian",
    "disable_prim",
    "enable_prim",
    "forward_grad",
    "grad",
    "jvp",
    "prim_enabled",
    "vjp",
]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


class Jacobian(matrices.Jacobian):
    """The Jacobian of a function, as one matrix, whose rows are computed when they are asked for.

    All inputs are flattened and joined, and so are all outputs: M elements of outputs and N of
    inputs make a matrix ``[M, N]``, with a batch axis, which comes first in all of them,
    ``[B, M, N]``. See `autograd.Jacobian` for what can be done with it.

    Parameters
    ----------
    func : callable
        Takes the tensors in `xs` as arguments; returns a Tensor or a sequence of them.
    xs : Tensor or sequence of Tensor
    is_batched : bool

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> from autograd_engine.incubate.autograd import Jacobian
    >>> x, y = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([3.0])
    >>> J = Jacobian(lambda x, y: x * y, [x, y])
    >>> J.shape, J[:].tolist()
    ([2, 3], [[3.0, 0.0, 1.0], [0.0, 3.0, 2.0]])
    """

    def __init__(
        self, func: Callable[..., Any], xs: Tensor | Sequence[Tensor], is_batched: bool = False
    ) -> None:
        y, x = _recorded("Jacobian", func, xs, is_batched)
        super().__init__(y, x, 0 if is_batched else None)


class Hessian(Jacobian):
    """The Hessian of a function with one output, as one matrix of all inputs flattened and joined.

    Parameters
    ----------
    func : callable
        Takes the tensors in `xs` as arguments; returns a Tensor with one element, with a batch axis
        one for each of the batch.
    xs : Tensor or sequence of Tensor
    is_batched : bool

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> from autograd_engine.incubate.autograd import Hessian
    >>> Hessian(lambda x: (x**3).sum(), paddle.to_tensor([1.0, 2.0]))[:].tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    """

    def __init__(
        self, func: Callable[..., Any], xs: Tensor | Sequence[Tensor], is_batched: bool = False
    ) -> None:
        y, x = _recorded("Hessian", func, xs, is_batched)
        if isinstance(y, Variable):
            check_one_element("Hessian", y, is_batched)
        elif y._data.size != (y._data.shape[0] if is_batched else 1):
            raise ShapeError(
                f"Hessian: func must return one element{' for each of the batch' * is_batched}; "
                f"got {format_shape(y._data.shape)}: take the sum, or use Jacobian"
            )
        found: list[Any] = [None]
        if isinstance(y, Variable):
            found[:] = gradients(y, x)
        elif not y._stop:
            found[:] = eager_grad([y], [x], create_graph=True, allow_unused=True)
        (first,) = or_zeros([x], found)
        matrices.Jacobian.__init__(self, first, x, 0 if is_batched else None)


def jvp(
    func: Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor | None] | None = None,
    create_graph: bool | None = None,
) -> tuple[Any, Any]:
    """`autograd.jvp`, whose results can be differentiated wherever gradients are recorded.

    Parameters
    ----------
    func, xs, v
        As in `autograd.jvp`.
    create_graph : bool, optional
        Record the computation, so that value and derivative can be differentiated: by `xs`, by `v`
        and by what `func` uses besides. By default unless it is called under `no_grad`.

    Returns
    -------
    ys, tangents

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> from autograd_engine.incubate import autograd
    >>> w = paddle.to_tensor(3.0, stop_gradient=False)
    >>> y, tangent = autograd.jvp(lambda x: w * x * x, paddle.to_tensor(2.0))
    >>> (y + tangent).backward()
    >>> tangent.item(), w.grad.item()
    (12.0, 8.0)
    """
    return products.jvp(func, xs, v, is_grad_enabled() if create_graph is None else create_graph)


def vjp(
    func: Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool | None = None,
) -> tuple[Any, Any]:
    """`autograd.vjp`, whose results can be differentiated wherever gradients are recorded.

    Parameters
    ----------
    func, xs, v
        As in `autograd.vjp`.
    create_graph : bool, optional
        Record the computation, so that value and gradient can be differentiated: by `xs`, by `v`
        and by what `func` uses besides. By default unless it is called under `no_grad`.

    Returns
    -------
    ys, gradients

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> from autograd_engine.incubate import autograd
    >>> w = paddle.to_tensor(3.0, stop_gradient=False)
    >>> y, gradient = autograd.vjp(lambda x: w * x * x, paddle.to_tensor(2.0))
    >>> (y + gradient).backward()
    >>> gradient.item(), w.grad.item()
    (12.0, 8.0)
    """
    return products.vjp(func, xs, v, is_grad_enabled() if create_graph is None else create_graph)


def _recorded(function: str, func: Any, xs: Any, is_batched: bool) -> tuple[Any, Any]:
    """Outputs and inputs, each flattened and joined."""
    if holds_variables(xs):
        return _in_program(function, func, xs, is_batched)
    require_dynamic(function)
    inputs = inputs_of(function, func, xs)
    with recording():
        x = _joined(function, inputs, is_batched)
        if x._stop:
            x = Tensor._leaf(x._data)
        axis = int(is_batched)
        likes = [_flat_spec(t, is_batched) for t in inputs]
        pieces = ops.split_like(x, *likes, axis=axis)
        given = [
            ops.reshape_like(piece, Spec(t._data.shape, t._data.dtype))
            for piece, t in zip(pieces, inputs, strict=True)
        ]
        ys = outputs_of(function, func(*given))
        require_real(function, [y._data for y in ys])
        return _joined(function, ys, is_batched), x


def _in_program(function: str, func: Any, xs: Any, is_batched: bool) -> tuple[Variable, Variable]:
    inputs = variables_of(function, "xs", xs)
    with restored_on_error(*inputs):
        x = _flat_variable(function, inputs, is_batched)
        x.stop_gradient = False
        given, start = [], 0
        for t in inputs:
            end = start + math.prod(t.shape[int(is_batched) :])
            piece = x[:, start:end] if is_batched else x[start:end]
            given.append(ops.reshape_like(piece, t))
            start = end
        returned = variables_of(function, "what func returns", func(*given))
        require_real(function, [v.spec for v in (*inputs, *returned)])
        return _flat_variable(function, returned, is_batched), x


def _flat_variable(function: str, variables: list[Variable], is_batched: bool) -> Variable:
    axis = int(is_batched)
    flat = []
    for v in variables:
        if v.ndim < axis:
            raise ShapeError(f"{function}: {v.name} is 0-d and has no batch axis")
        sizes = known_sizes(function, v, v.spec.shape[axis:])
        flat.append(v.reshape([-1, math.prod(sizes)] if is_batched else [math.prod(sizes)]))
    joined: Variable = ops.concat(*flat, axis=axis) if len(flat) > 1 else ops.assign(flat[0])
    return joined


def _flat_spec(t: Tensor, is_batched: bool) -> Spec:
    shape, size = t._data.shape, t._data.size
    lead = shape[:1] if is_batched else ()
    return Spec((*lead, size // max(shape[0], 1) if is_batched else size), t._data.dtype)


def _joined(function: str, tensors: list[Tensor], is_batched: bool) -> Tensor:
    if is_batched and any(t._data.ndim == 0 for t in tensors):
        raise ShapeError(f"{function}: a 0-d tensor has no batch axis; leave is_batched out")
    flat = [ops.reshape_like(t, _flat_spec(t, is_batched)) for t in tensors]
    joined: Tensor = ops.concat(*flat, axis=int(is_batched)) if len(flat) > 1 else flat[0]
    return joined


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None) -> Any:
    """`paddle.grad`, and of variables `static.gradients`: a list of them, or one of one input.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor(3.0, stop_gradient=False)
    >>> paddle.incubate.autograd.grad(x * x, x).item()
    6.0
    """
    several = isinstance(inputs, (list, tuple))
    first = inputs[0] if several and inputs else inputs
    derive: Any = gradients if isinstance(first, Variable) else eager_grad
    found = derive(outputs, inputs, grad_outputs)
    return found if several else found[0]


def enable_prim() -> None:
    """Accepted: derivatives are those of primitive operations in any case."""


def disable_prim() -> None:
    """Accepted, see `enable_prim`."""


def prim_enabled() -> bool:
    """True, see `enable_prim`."""
    return True
