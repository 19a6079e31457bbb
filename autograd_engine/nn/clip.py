"""Limits on gradients, as ``grad_clip=`` of an optimizer or called on (parameter, gradient) pairs.

Each is written once, with the operations of a namespace: on arrays it computes, on Variables it
appends operators.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from autograd_engine.core.described import Described
from autograd_engine.core.locations import caller
from autograd_engine.core.names.constructors import Respelled, respelled
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, NotATensorError
from autograd_engine.ops.conjugates import from_parts, is_complex, to_parts
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.program.builder import emitting, restored_on_error
from autograd_engine.program.ir.program import Variable

__all__ = ["ClipGradBase", "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"]

Pairs = list[tuple[Any, Any]]


@respelled
class ClipGradBase(Respelled, Described):
    """Base of the limits. Parameters whose ``need_clip`` is False keep their gradients.

    A complex gradient is limited as its two parts are.
    """

    def __call__(self, params_grads: Sequence[tuple[Any, Any]]) -> Pairs:
        """The pairs with gradients within the limit; in a program, operators are appended.

        Parameters
        ----------
        params_grads : list of (parameter, gradient)
            Tensors or Variables. A gradient that is None stays so.

        Returns
        -------
        list of (parameter, gradient)

        Raises
        ------
        NotATensorError
        """
        name = type(self).__name__
        if not isinstance(params_grads, (list, tuple)):
            raise NotATensorError(
                f"{name} takes a list of (parameter, gradient) pairs, got "
                f"{type(params_grads).__name__}"
            )
        for k, pair in enumerate(params_grads):
            if not isinstance(pair, (list, tuple)) or len(pair) != 2:
                raise NotATensorError(f"{name}: entry {k} must be a (parameter, gradient) pair")
            if pair[1] is not None and not isinstance(pair[1], (Tensor, Variable)):
                raise NotATensorError(
                    f"{name}: the gradient of entry {k} must be a Tensor or a Variable, got "
                    f"{type(pair[1]).__name__}"
                )
        clipped = [
            k for k, (p, g) in enumerate(params_grads)
            if g is not None and getattr(p, "need_clip", True)
        ]  # fmt: skip
        grads = [params_grads[k][1] for k in clipped]
        if not grads:
            return list(params_grads)
        if isinstance(grads[0], Variable):
            with restored_on_error(*grads), emitting("gradient_clip", "optimize", caller()):
                new = self._limited_parts(ops, grads)
        else:
            new = [Tensor._wrap(a) for a in self._limited_parts(raw, [g._data for g in grads])]
        pairs = list(params_grads)
        for k, g in zip(clipped, new, strict=True):
            pairs[k] = (pairs[k][0], g)
        return pairs

    def _limited_parts(self, xp: Any, grads: list[Any]) -> list[Any]:
        """Of complex gradients the parts are limited, as two real ones."""
        new = self.limited(xp, [to_parts(xp, g) if is_complex(g) else g for g in grads])
        return [
            from_parts(xp, n) if is_complex(g) else n for g, n in zip(grads, new, strict=True)
        ]

    def limited(self, xp: Any, grads: list[Any]) -> list[Any]:
        """The gradients within the limit, with the operations of `xp`."""
        raise NotImplementedError

    def _limit(self, what: str, value: Any) -> float:
        name = type(self).__name__
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ArgumentTypeError(f"{name}: {what} must be a number, got {type(value).__name__}")
        if math.isnan(value):
            raise ArgumentError(f"{name}: {what} is nan; give a number")
        return float(value)

    def _norm_limit(self, value: Any) -> float:
        limit = self._limit("clip_norm", value)
        if limit <= 0:
            raise ArgumentError(
                f"{type(self).__name__}: clip_norm must be above 0, got {value}: gradients of "
                "length 0 train nothing"
            )
        return limit


class ClipGradByValue(ClipGradBase):
    """Each element of a gradient between `min` and `max`.

    Parameters
    ----------
    max : float
    min : float, optional
        By default ``-max``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> clip = paddle.nn.ClipGradByValue(1.0)
    >>> w, g = paddle.ones([2]), paddle.to_tensor([3.0, -0.5])
    >>> clip([(w, g)])[0][1].tolist()
    [1.0, -0.5]
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        self.max = self._limit("max", max)
        if min is None and self.max <= 0:
            raise ArgumentError(f"ClipGradByValue: max must be above 0 without a min, got {max}")
        self.min = -self.max if min is None else self._limit("min", min)
        if self.min > self.max:
            raise ArgumentError(f"ClipGradByValue: min {min} is above max {max}; exchange them")

    def limited(self, xp: Any, grads: list[Any]) -> list[Any]:
        return [xp.minimum(xp.maximum(g, self.min), self.max) for g in grads]

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"


class ClipGradByNorm(ClipGradBase):
    """Each gradient that is longer than `clip_norm` shortened to it, by a factor.

    Parameters
    ----------
    clip_norm : float
        Above 0.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> clip = paddle.nn.ClipGradByNorm(1.0)
    >>> w, g = paddle.ones([2]), paddle.to_tensor([3.0, 4.0])
    >>> [round(v, 6) for v in clip([(w, g)])[0][1].tolist()]
    [0.6, 0.8]
    """

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = self._norm_limit(clip_norm)

    def limited(self, xp: Any, grads: list[Any]) -> list[Any]:
        return [_scaled(xp, [g], self.clip_norm)[0] for g in grads]

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"


class ClipGradByGlobalNorm(ClipGradBase):
    """All gradients scaled by one factor where together they are longer than `clip_norm`.

    Parameters
    ----------
    clip_norm : float
        Above 0.
    group_name : str
    auto_skip_clip : bool
        Accepted for the reference's sake: a factor of 1 changes nothing.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([2], attr=paddle.nn.initializer.Constant(0.0))
    >>> clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    >>> sgd = paddle.optimizer.SGD(1.0, parameters=[w], grad_clip=clip)
    >>> (w * paddle.to_tensor([3.0, 4.0])).sum().backward()
    >>> sgd.step()
    >>> [round(v, 6) for v in w.tolist()]
    [-0.6, -0.8]
    """

    def __init__(
        self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False
    ) -> None:
        self.clip_norm = self._norm_limit(clip_norm)
        self.group_name = group_name
        self.auto_skip_clip = bool(auto_skip_clip)

    def limited(self, xp: Any, grads: list[Any]) -> list[Any]:
        return _scaled(xp, grads, self.clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"


@functools.cache
def _name(dtype: Any) -> str:
    """The name of a dtype, which NumPy puts together each time."""
    return str(dtype.name)


def _factor(xp: Any, grads: Sequence[Any], names: Sequence[str], limit: float, wide: str) -> Any:
    """limit / max(norm, limit): exactly 1 within the limit."""
    squares = []
    for g, name in zip(grads, names, strict=True):
        g = g if name == wide else xp.cast(g, dtype=wide)
        squares.append(xp.sum(xp.square(g), axis=tuple(range(len(g.shape))), keepdims=False))
    norm = xp.sqrt(squares[0] if len(squares) == 1 else xp.add_n(*squares))
    return xp.divide(limit, xp.maximum(norm, limit))


def _scaled(xp: Any, grads: Sequence[Any], limit: float) -> list[Any]:
    names = [_name(g.dtype) for g in grads]
    wide = "float64" if "float64" in names else "float32"  # squares leave float16 soon
    by_dtype = {wide: _factor(xp, grads, names, limit, wide)}
    for name in dict.fromkeys(names):
        if name != wide:
            by_dtype[name] = xp.cast(by_dtype[wide], dtype=name)
    return [xp.multiply(g, by_dtype[name]) for g, name in zip(grads, names, strict=True)]
