"""Update rules of the optimizers: one each, run by `step` and by the operators of `minimize`.

Each takes the parameter, its gradient, the learning rate and its own state, and returns their
new values as new arrays: what a graph has saved is never written. A gradient of which only some
rows are there updates these rows: of SGD that is what a dense one would do, Adam does it where it
is told to (`lazy_mode`), for its moments would else decay everywhere. Rules that keep moments are
in `update_moments`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.spec import Spec, format_shape
from autograd_engine.errors import ShapeError
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.scattered_cotangent import Scattered, is_row_sparse, merged_rows
from autograd_engine.ops.work import each_read

__all__ = ["infer_update", "sgd_rows"]

Array = NDArray[Any]


def _sgd(param: Array, grad: Any, learning_rate: Array) -> Array:
    """p - lr g"""
    if grad.__class__ is Scattered:
        if is_row_sparse(grad):
            written = param.copy()
            sgd_rows(written, *merged_rows(grad), learning_rate)
            return written
        grad = grad.dense()
    out: Array = param - grad * learning_rate
    return out


def sgd_rows(param: Array, rows: Array, values: Array, learning_rate: Array) -> None:
    """`_sgd` in place, of the rows that have a gradient."""
    param[rows] = param[rows] - values * learning_rate


def _momentum(
    param: Array,
    grad: Array,
    learning_rate: Array,
    velocity: Array,
    *,
    mu: float,
    use_nesterov: bool = False,
    rescale_grad: float = 1.0,
) -> tuple[Array, Array]:
    """v' = mu v + g;  p - lr v', or with Nesterov p - lr (g + mu v')."""
    if rescale_grad != 1.0:
        grad = grad * rescale_grad
    velocity = np.asarray(mu * velocity)
    velocity += grad
    step = grad + mu * velocity if use_nesterov else velocity
    return np.asarray(param - step * learning_rate), velocity


def _asgd(
    param: Array,
    grad: Array,
    learning_rate: Array,
    d: Array,
    y: Array,
    m: Array,
    *,
    batch_num: int,
) -> tuple[Array, Array, Array, Array]:
    """Schmidt, Le Roux and Bach 2013: a step along the mean of the last gradient of each batch.

    `y` holds these gradients, `d` their sum, `m` how many steps were taken.
    """
    k = int(m) % batch_num
    d = np.asarray(d - y[k] + grad)
    y = y.copy()
    y[k] = grad
    m = np.asarray(m + 1)
    met = min(int(m), batch_num)
    return np.asarray(param - learning_rate / met * d), d, y, m


def _rprop(
    param: Array,
    grad: Array,
    learning_rate: Array,
    prevs: Array,
    learning_rates: Array,
    *,
    smallest: float,
    largest: float,
    shrink: float,
    grow: float,
) -> tuple[Array, Array, Array]:
    """Riedmiller and Braun 1993: a rate for each element, which only signs of gradients change.

    Where the sign changed the element rests, and its next gradient counts as the first. The common
    rate is where `learning_rates` start.
    """
    same = np.sign(grad * prevs)
    factor = np.where(same > 0, grow, np.where(same < 0, shrink, 1.0)).astype(param.dtype)
    learning_rates = np.asarray(np.clip(learning_rates * factor, smallest, largest))
    grad = np.where(same < 0, np.zeros_like(grad), grad)
    return np.asarray(param - np.sign(grad) * learning_rates), grad, learning_rates


def infer_update(param: Spec, grad: Spec, learning_rate: Spec, *state: Spec, **_: Any) -> Any:
    if param.shape != grad.shape:
        raise ShapeError(
            f"optimizer: the parameter is {format_shape(param.shape)}, its gradient "
            f"{format_shape(grad.shape)}"
        )
    return (param, *state) if state else param


defop(
    "sgd",
    _sgd,
    inputs="param grad learning_rate",
    outputs="param_out",
    infer=infer_update,
    takes_scattered="grad",
    work=each_read(2),
).nondiff()
defop(
    "momentum",
    _momentum,
    inputs="param grad learning_rate velocity",
    outputs="param_out velocity_out",
    infer=infer_update,
    work=each_read(4),
).nondiff()
defop(
    "asgd",
    _asgd,
    inputs="param grad learning_rate d y m",
    outputs="param_out d_out y_out m_out",
    infer=infer_update,
    work=each_read(4),
).nondiff()
defop(
    "rprop",
    _rprop,
    inputs="param grad learning_rate prevs learning_rates",
    outputs="param_out prevs_out learning_rates_out",
    infer=infer_update,
    work=each_read(8),
).nondiff()
