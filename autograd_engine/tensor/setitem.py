"""Writing at a key, ``x[key] = value``.

Where one position is written twice the last value stays, and it alone has a gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.inplace import rebind
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ModeError
from autograd_engine.ops.getitem import indexed_shape
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.getitem import array_spec, split_key

__all__ = ["assign_item", "setitem", "written"]


def written(x: Any, key: Any, value: Any) -> Any:
    """A copy of `x` with `value` at `key`."""
    plain, arrays = split_key(key)
    if isinstance(value, (list, tuple)):
        value = np.asarray([v.numpy() if isinstance(v, Tensor) else v for v in value])
    if not isinstance(value, (bool, int, float)):
        value = as_operand("x[...] = value", value, "value")
        there = len(indexed_shape(spec_of(x).shape, [array_spec(a) for a in arrays], plain))
        spec = spec_of(value)
        extra = spec.ndim - there
        if extra > 0 and spec.shape[:extra] == (1,) * extra:  # NumPy drops these
            value = ops.squeeze(value, axis=tuple(range(extra)))
    return ops.setitem(x, value, *arrays, key=plain)


def assign_item(x: Any, key: Any, value: Any) -> None:
    """``x[key] = value``: `x` becomes the result of an operation that was recorded.

    The gradient is 0 where values were replaced, and flows to `value`, summed where that was
    broadcast. Of several values written to one place the last stays, and has the gradient.

    Raises
    ------
    NotDifferentiableError
        For a leaf that requires a gradient: take a clone, or write under `no_grad`.
    ModeError
        For a Variable: use `paddle.static.setitem`.
    """
    trace = grad_mode.trace
    if trace is not None:
        trace.assign_item(x, key, value)
        return
    if isinstance(x, Variable):
        raise ModeError(
            f"{x.name}[...] = value: a Variable of a program cannot be written; use "
            f"{x.name} = paddle.static.setitem({x.name}, key, value)"
        )
    rebind(
        x,
        written(x, key, value),
        "x[...] = value",
        "y = x.clone(); y[...] = value, or paddle.scatter",
    )


def setitem(x: Any, index: Any, value: Any) -> Tensor:
    """A new Variable with the values of `x`, and `value` at ``x[index]``.

    Parameters
    ----------
    x : Variable
    index : int, slice, None, Ellipsis, integer or bool array, or a tuple of these
        As in ``x[index]``.
    value : Variable, ndarray or number
        Broadcasts to the shape of ``x[index]``, and takes the dtype of `x`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.enable_static()
    >>> x = paddle.static.data("x", [3], "float32")
    >>> y = paddle.static.setitem(x, slice(1, None), 0.0)
    >>> feed = {"x": np.ones(3, "float32")}
    >>> paddle.static.Executor().run(feed=feed, fetch_list=[y])[0].tolist()
    [1.0, 0.0, 0.0]
    >>> paddle.disable_static()
    """
    return written(as_operand("setitem", x), index, value)
