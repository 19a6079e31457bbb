"""``jacobian`` and ``hessian``: of functions, and of tensors as objects that compute lazily."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from autograd_engine.autograd.by_parts import check_jacobian_dtypes, require_real
from autograd_engine.autograd.directions import checked_chunk, pull_units, split_front
from autograd_engine.autograd.forward.jvp import (
    or_zeros,
)
from autograd_engine.autograd.gradient import grad
from autograd_engine.autograd.programs import (
    check_one_element,
    known_sizes,
    program_hessian,
    program_jacobian,
    pulled_row,
    variables_of,
)
from autograd_engine.autograd.sequences import holds_variables, nested
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.operand import OPERATORS, REFLECTED
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.grad_mode import recording
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.backward.append_backward import gradients as program_gradients
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.mode import require_dynamic

__all__ = ["Hessian", "Jacobian", "hessian", "jacobian"]


@overload
def jacobian(
    ys: Tensor,
    xs: Tensor,
    batch_axis: int | None = None,
    *,
    mode: str = "auto",
    create_graph: bool = False,
    chunk_size: int | None = None,
) -> Jacobian: ...
@overload
def jacobian(
    ys: Sequence[Tensor] | Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    batch_axis: int | None = None,
    *,
    mode: str = "auto",
    create_graph: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
def jacobian(
    ys: Tensor | Sequence[Tensor] | Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    batch_axis: int | None = None,
    *,
    mode: str = "auto",
    create_graph: bool = False,
    chunk_size: int | None = None,
) -> Any:
    """The derivatives of all elements of `ys` by all elements of `xs`.

    Parameters
    ----------
    ys : Tensor, sequence of Tensor, or callable
        Tensors computed from `xs`; or a function that takes `xs` as arguments and returns a Tensor
        or a sequence of them.
    xs : Tensor or sequence of Tensor
        Variables, as `ys`, in a program: then operators are appended to it, some for each row.
    batch_axis : {None, 0}
        0: the first axis of all is a batch whose entries do not depend on one another, and no
        derivatives between them are computed. That takes one direction for each element of an
        entry, however large the batch is.
    mode : {"auto", "reverse", "forward"}
        For a function: one direction for each element of its result, or of `xs`. "auto" takes what
        is less. Tensors are differentiated in reverse.
    create_graph : bool
        For a function: let the result be differentiated. That of tensors always can be.
    chunk_size : int, optional
        How many directions go at once, all of them by default: memory is in proportion to it.

    Returns
    -------
    Tensor, or Jacobian
        Of a function, a Tensor of shape ``[*y.shape, *x.shape]``, with `batch_axis`
        ``[B, *y.shape[1:], *x.shape[1:]]``. Of tensors, a `Jacobian`, whose rows are computed when
        they are asked for; they have one axis at most, beside that of the batch. Where `xs` is a
        sequence, a tuple of these; where `ys` is one, or what the function returns is, a tuple (or
        list) with an entry for each. Zeros where nothing depends on an input. That of a real result
        by a complex input is its gradient, ``dy/dRe + i dy/dIm``; of a complex result by a real
        input it is complex; of a complex one by a complex one an error, for it has four parts.

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError, GraphFreedError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.autograd.jacobian(lambda x: x * x, x).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    >>> J = paddle.autograd.jacobian(x * x, x)
    >>> J.shape, J[1].tolist()
    ([2, 2], [0.0, 4.0])
    """
    in_program = holds_variables(xs) or holds_variables(ys)
    if not in_program:
        require_dynamic("jacobian")
    _check_batch_axis("jacobian", batch_axis)
    require_bools("jacobian", create_graph=create_graph)
    if not isinstance(mode, str) or mode not in ("auto", "forward", "reverse"):
        raise ArgumentError(f"jacobian: mode must be 'auto', 'forward' or 'reverse', got {mode!r}")
    if callable(ys) and not isinstance(ys, (Tensor, Variable)):
        if in_program:
            return program_jacobian(ys, xs, batch_axis is not None)
        from autograd_engine.autograd.functional import jacobian_of

        return jacobian_of(ys, xs, batch_axis, mode, create_graph, chunk_size)
    chunk_size = checked_chunk("jacobian", chunk_size)
    tensors: Any = variables_of if in_program else _tensors
    outputs, inputs = tensors("jacobian", "ys", ys), tensors("jacobian", "xs", xs)
    check_jacobian_dtypes("jacobian", list(map(_spec, outputs)), list(map(_spec, inputs)))
    for i, y in enumerate(outputs):
        for j, x in enumerate(inputs):
            _check_axes("jacobian", y, x, i, j, batch_axis)
    rows = [[Jacobian(y, x, batch_axis, chunk_size=chunk_size) for x in inputs] for y in outputs]
    return nested(ys, [nested(xs, row) for row in rows])


@overload
def hessian(
    ys: Tensor,
    xs: Tensor,
    batch_axis: int | None = None,
    *,
    create_graph: bool = False,
    chunk_size: int | None = None,
) -> Hessian: ...
@overload
def hessian(
    ys: Callable[[Tensor], Tensor],
    xs: Tensor,
    batch_axis: int | None = None,
    *,
    create_graph: bool = False,
    chunk_size: int | None = None,
) -> Tensor: ...
@overload
def hessian(
    ys: Tensor | Callable[..., Tensor],
    xs: Sequence[Tensor],
    batch_axis: int | None = None,
    *,
    create_graph: bool = False,
    chunk_size: int | None = None,
) -> Any: ...
def hessian(
    ys: Tensor | Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    batch_axis: int | None = None,
    *,
    create_graph: bool = False,
    chunk_size: int | None = None,
) -> Any:
    """The second derivatives of `ys`, which has one element, by all elements of `xs`.

    Parameters
    ----------
    ys : Tensor or callable
        A tensor computed from `xs`, or a function that takes `xs` as arguments and returns one. It
        has one element; with `batch_axis`, one for each of the batch.
    xs : Tensor or sequence of Tensor
        Variables, as `ys`, in a program: then operators are appended to it, some for each row.
    batch_axis : {None, 0}
        As in `jacobian`.
    create_graph : bool
        For a function: let the result be differentiated. That of a tensor always can be.
    chunk_size : int, optional
        How many directions go at once, all of them by default.

    Returns
    -------
    Tensor, or Hessian
        Of a function, a Tensor of shape ``[*x.shape, *x.shape]``; of a tensor, a `Hessian`, the
        lazy Jacobian of its gradient. Where `xs` is a sequence, a tuple of tuples with a block for
        each pair of its entries.

    Raises
    ------
    NotATensorError, DTypeError, ShapeError, ArgumentError, GraphFreedError

    Notes
    -----
    That of a function is computed forward over reverse: all unit directions are pushed along the
    recording of the gradient, in one pass.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.autograd.hessian(lambda x: (x**3).sum(), x).tolist()
    [[6.0, 0.0], [0.0, 12.0]]
    >>> paddle.autograd.hessian((x**3).sum(), x)[1].tolist()
    [0.0, 12.0]
    """
    in_program = holds_variables(xs) or holds_variables(ys)
    if not in_program:
        require_dynamic("hessian")
    _check_batch_axis("hessian", batch_axis)
    require_bools("hessian", create_graph=create_graph)
    if callable(ys) and not isinstance(ys, (Tensor, Variable)):
        if in_program:
            return program_hessian(ys, xs, batch_axis is not None)
        from autograd_engine.autograd.functional import hessian_of

        return hessian_of(ys, xs, batch_axis, create_graph, chunk_size)
    chunk_size = checked_chunk("hessian", chunk_size)
    tensors: Any = variables_of if in_program else _tensors
    (y,) = tensors("hessian", "ys", [ys])
    inputs = tensors("hessian", "xs", xs)
    require_real("hessian", [_spec(t) for t in (y, *inputs)])
    if in_program:
        check_one_element("hessian", y, batch_axis is not None)
    entries = 1 if batch_axis is None else (_shape(y) or (1,))[0]
    if not in_program and y._data.size != entries:
        raise ShapeError(
            f"hessian: ys must have one element{' for each of the batch' * (batch_axis == 0)}, got "
            f"{format_shape(y._data.shape)}; take the sum, or use jacobian of the gradient"
        )
    for j, x in enumerate(inputs):
        _check_axes("hessian", y if batch_axis is not None else x, x, 0, j, batch_axis)
    found: list[Any] = [None] * len(inputs)
    if in_program:
        found = program_gradients(y, inputs)
    elif not y._stop:
        # One may be there twice, or be an output.
        sources = [x._alias() for x in inputs]
        distinct = list({id(s): s for s in sources}.values())
        gradients = grad([y], distinct, create_graph=True, allow_unused=True)
        by_source = {id(s): g for s, g in zip(distinct, gradients, strict=True)}
        found = [by_source[id(s)] for s in sources]
    first = or_zeros(inputs, found)
    rows = [[Hessian(g, x, batch_axis, chunk_size=chunk_size) for x in inputs] for g in first]
    return nested(xs, [nested(xs, row) for row in rows])


class Jacobian:
    """Derivatives of one tensor by another, computed row by row as they are asked for.

    A matrix ``[M, N]`` for `ys` of M and `xs` of N elements, and ``[B, M, N]`` with a batch axis;
    an axis that a tensor does not have is not there. Indexing gives Tensors with a history: an int
    or a slice of the row axis computes these rows and no others, in one pass, and keeps them.
    Anything else that a Tensor can do, this does on all of its values.

    Parameters
    ----------
    ys, xs : Tensor
    batch_axis : {None, 0}
    chunk_size : int, optional

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    >>> J = paddle.autograd.jacobian(x * x.sum(), x)
    >>> J[0].tolist(), J.shape, (J @ x).tolist()
    ([7.0, 1.0, 1.0], [3, 3], [12.0, 24.0, 36.0])
    """

    def __init__(
        self,
        ys: Tensor,
        xs: Tensor,
        batch_axis: int | None = None,
        *,
        chunk_size: int | None = None,
    ) -> None:
        self._batched = batch_axis is not None
        # These tensors may be written to later; the matrix is that of now.
        self._y: Any = ys if isinstance(ys, Variable) else ys._alias()
        self._x: Any = xs if isinstance(xs, Variable) else xs._alias()
        self._chunk_size = chunk_size
        self._rows: dict[int, Any] = {}
        self._all: Any = None
        lead = 1 if self._batched else 0
        if isinstance(ys, Variable):
            known_sizes(self._name(), ys, ys.spec.shape[lead:])
        outer, inner = list(_shape(ys)), list(_shape(xs))
        self._lead, self._outer, self._inner = outer[:lead], outer[lead:], inner[lead:]

    @property
    def shape(self) -> list[int]:
        """Of the matrix: the batch if there is one, rows, columns."""
        return [*self._lead, *self._outer, *self._inner]

    def __getitem__(self, key: Any) -> Tensor:
        keys = key if isinstance(key, tuple) else (key,)
        axis = len(self._lead)
        plain = all(isinstance(k, (int, np.integer, slice)) for k in keys[: axis + 1])
        plain = plain and not any(isinstance(k, bool) for k in keys[: axis + 1])
        if not self.shape and all(k == slice(None) for k in keys):
            return self._evaluate_all()
        if not self._outer or not plain or len(keys) <= axis:
            return self._evaluate_all()[key]
        count, row = self._outer[0], keys[axis]
        before, behind = keys[:axis], keys[axis + 1 :]
        if isinstance(row, slice):
            indices = range(count)[row]
            if len(indices) == count or self._all is not None:
                return self._evaluate_all()[key]
            with recording():
                found = self._computed(indices)
                part = ops.stack(*found, axis=axis) if found else self._evaluate_all()[key]
            return part[(*before, slice(None), *behind)] if found else part
        if not -count <= row < count:
            raise IndexError(
                f"{self._name()}: row {row} is out of range; there are {count}, use {-count} to "
                f"{count - 1}"
            )
        if self._all is not None:
            return self._evaluate_all()[key]
        (one,) = self._computed([int(row) % count])
        rest = (*before, *behind)
        return one[rest] if rest and any(k != slice(None) for k in rest) else one

    def _name(self) -> str:
        return type(self).__name__.lower()

    def _computed(self, indices: Sequence[int]) -> list[Tensor]:
        """Rows, those that are not there yet by one pass."""
        missing = [i for i in indices if i not in self._rows]
        if isinstance(self._y, Variable):
            for i in missing:
                self._rows[i] = pulled_row(self._y, self._x, i, self._batched)
        elif missing:
            with recording():
                stack = self._pulled(missing)
                for k, i in enumerate(missing):
                    self._rows[i] = ops.getitem(stack, key=(k,))
        return [self._rows[i] for i in indices]

    def _pulled(self, rows: Sequence[int] | None) -> Tensor:
        """Rows along a first axis, before that of the batch."""
        (stack,) = pull_units(
            self._y,
            [self._x],
            create_graph=True,
            batched=self._batched,
            chunk_size=self._chunk_size,
            rows=rows,
        )
        assert isinstance(stack, Tensor)
        return stack

    def _evaluate_all(self) -> Tensor:
        """All values, as one Tensor."""
        if self._all is None:
            with recording():
                program = isinstance(self._y, Variable)
                if program and not self._outer:
                    self._all = pulled_row(self._y, self._x, None, self._batched)
                elif (program or self._rows) and self._outer:
                    rows = self._computed(range(self._outer[0]))
                    self._all = ops.stack(*rows, axis=len(self._lead))
                else:
                    back = self._x._data.shape
                    self._all = split_front(
                        self._pulled(None), self._outer, back, self._batched, last=False
                    )
            self._rows.clear()
        found: Tensor = self._all
        return found

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentTypeError(f"len() of a 0-d {self._name()}; it has one element: J[:]")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._evaluate_all())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._evaluate_all().numpy(), dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._evaluate_all(), name)

    def __repr__(self) -> str:
        known = "all" if self._all is not None else str(len(self._rows))
        return f"<{type(self).__name__} {format_shape(self.shape)}, {known} of its rows computed>"

    __hash__ = object.__hash__


class Hessian(Jacobian):
    """Second derivatives of a tensor with one element, the `Jacobian` of its gradient."""


def _delegated(dunder: str) -> Callable[..., Any]:
    plain = getattr(operator, dunder.replace("__r", "__", 1) if dunder in _MIRRORED else dunder)

    def apply(self: Jacobian, *others: Any) -> Any:
        values = [o._evaluate_all() if isinstance(o, Jacobian) else o for o in others]
        mine = self._evaluate_all()
        return plain(*values, mine) if dunder in _MIRRORED else plain(mine, *values)

    return apply


_MIRRORED = {*REFLECTED, "__rpow__", "__rmatmul__"}
for _dunder in (*OPERATORS, "__pow__", "__matmul__", *_MIRRORED):
    setattr(Jacobian, _dunder, _delegated(_dunder))


# --- arguments


def _check_batch_axis(function: str, axis: Any) -> None:
    if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int) or axis != 0):
        raise ArgumentError(f"{function}: batch_axis must be None or 0, got {axis!r}")


def _spec(t: Any) -> Any:
    return t.spec if isinstance(t, Variable) else t._data


def _shape(t: Any) -> Sequence[int]:
    """With -1 for a size that is not known."""
    found: Sequence[int] = t.shape if isinstance(t, Variable) else t._data.shape
    return found


def _tensors(function: str, argument: str, value: Any) -> list[Tensor]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise ArgumentError(f"{function}: {argument} is empty; give one Tensor at least")
    for k, v in enumerate(values):
        if not isinstance(v, Tensor):
            raise NotATensorError(
                f"{function}: {argument}[{k}] must be a Tensor, got {type(v).__name__}: use "
                "paddle.to_tensor"
            )
        if v._data.dtype not in INEXACT:
            raise DTypeError(
                f"{function}: {argument}[{k}] is {v._data.dtype.name}, which has no derivative; "
                "use .astype('float32')"
            )
    return values


def _check_axes(
    function: str, y: Tensor, x: Tensor, i: int, j: int, batch_axis: int | None
) -> None:
    low, high = (0, 1) if batch_axis is None else (1, 2)
    for name, k, t in (("xs", j, x), ("ys", i, y)):
        if not low <= t.ndim <= high:
            raise ShapeError(
                f"{function}: {name}[{k}] has shape {format_shape(_shape(t))}; tensors have "
                + (
                    "one axis at most here: reshape them to [-1] before, use batch_axis=0 if the "
                    "first axis is a batch"
                    if batch_axis is None
                    else "a batch axis and at most one more here: reshape them to [B, -1] before"
                )
                + f", or give a function, {function}(func, xs), for any shape"
            )
    if batch_axis is not None and _shape(y)[0] != _shape(x)[0]:
        raise ShapeError(
            f"{function}: with batch_axis=0 the first axes must have one size; ys[{i}] has "
            f"{_shape(y)[0]}, xs[{j}] {_shape(x)[0]}"
        )
