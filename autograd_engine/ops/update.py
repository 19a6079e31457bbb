"""Update rules of the optimizers: one each, run by `step` and by the operators of `minimize`.

Each takes the parameter, its gradient, the learning rate and its own state, and returns their
new values as new arrays: what a graph has saved is never written. A gradient of which only some
rows are there updates these rows: of SGD that is what a dense one would do, Adam does it where it
is told to (`lazy_mode`), for its moments would else decay everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.errors import ShapeError
from autograd_engine.registry import defop
from autograd_engine.scattered import Scattered, dense, is_row_sparse, merged_rows
from autograd_engine.spec import Spec, format_shape

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
) -> tuple[Array, Array]:
    """v' = mu v + g;  p - lr v', or with Nesterov p - lr (g + mu v')."""
    velocity = np.asarray(mu * velocity)
    velocity += grad
    step = grad + mu * velocity if use_nesterov else velocity
    return np.asarray(param - step * learning_rate), velocity


def _adam(
    param: Array,
    grad: Any,
    learning_rate: Array,
    moment1: Array,
    moment2: Array,
    beta1_pow: Array,
    beta2_pow: Array,
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    lazy_mode: bool = False,
) -> tuple[Array, Array, Array, Array, Array]:
    """Kingma and Ba 2015, in the order of its section 2: epsilon outside the corrected root."""
    if grad.__class__ is Scattered and lazy_mode and is_row_sparse(grad):
        rows, values = merged_rows(grad)
        param, moment1, moment2 = param.copy(), moment1.copy(), moment2.copy()
        param[rows], moment1[rows], moment2[rows], *pows = adam_rows(
            param,
            rows,
            values,
            learning_rate,
            moment1,
            moment2,
            beta1_pow,
            beta2_pow,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
        )
        return param, moment1, moment2, pows[0], pows[1]
    grad = dense(grad)
    moment1 = np.asarray(beta1 * moment1 + (1.0 - beta1) * grad)
    moment2 = np.asarray(beta2 * moment2 + (1.0 - beta2) * (grad * grad))
    correction = np.sqrt(1.0 - beta2_pow)
    rate = learning_rate * correction / (1.0 - beta1_pow)
    step = rate * (moment1 / (np.sqrt(moment2) + epsilon * correction))
    return (
        np.asarray(param - step),
        moment1,
        moment2,
        np.asarray(beta1_pow * beta1),
        np.asarray(beta2_pow * beta2),
    )


def adam_rows(
    param: Array,
    rows: Array,
    values: Array,
    learning_rate: Array,
    moment1: Array,
    moment2: Array,
    beta1_pow: Array,
    beta2_pow: Array,
    **attrs: Any,
) -> tuple[Array, Array, Array, Array, Array]:
    """What `_adam` makes of the rows that have a gradient, and the new powers."""
    state = moment1[rows], moment2[rows], beta1_pow, beta2_pow
    return _adam(param[rows], values, learning_rate, *state, **attrs)


def _infer(param: Spec, grad: Spec, learning_rate: Spec, *state: Spec, **_: Any) -> Any:
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
    infer=_infer,
    takes_scattered="grad",
).nondiff()
defop(
    "momentum",
    _momentum,
    inputs="param grad learning_rate velocity",
    outputs="param_out velocity_out",
    infer=_infer,
).nondiff()
defop(
    "adam",
    _adam,
    inputs="param grad learning_rate moment1 moment2 beta1_pow beta2_pow",
    outputs="param_out moment1_out moment2_out beta1_pow_out beta2_pow_out",
    infer=_infer,
    takes_scattered="grad",
).nondiff()
