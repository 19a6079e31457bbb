"""Update rules of the optimizers: one each, run by `step` and by the operators of `minimize`.

Each takes the parameter, its gradient, the learning rate and its own state, and returns their
new values as new arrays: what a graph has saved is never written. A gradient of which only some
rows are there updates these rows: of SGD that is what a dense one would do, Adam does it where it
is told to (`lazy_mode`), for its moments would else decay everywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from autograd_engine.core.dtypes import COMPLEX, HALVES, real_dtype
from autograd_engine.core.spec import Array, Spec, format_shape
from autograd_engine.errors import ShapeError
from autograd_engine.ops.kernels.branches import perhaps, surely
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.registry.opdef import defop
from autograd_engine.ops.registry.scattered_cotangent import Scattered, is_row_sparse, merged_rows
from autograd_engine.ops.registry.work import each_read

__all__ = ["WORTH", "in_place", "on_rows", "sgd_rows"]

Arrays = tuple[Array, ...]
Rule = Callable[..., Arrays]

WORTH = 1 << 13  # elements from which on one loop in C outweighs the calls to get there


def _in_c(name: str, param: Array, *others: Array) -> Callable[..., Any] | None:
    """The rule as one loop in C, of arrays of one dtype and shape, with the bits of NumPy's passes.

    So it does not matter that layouts decide, nor that programs trace the rule.
    """
    if param.__class__ is not ndarray or param.size < WORTH or not param.flags.c_contiguous:
        return None
    for x in others:
        if x.dtype != param.dtype or x.shape != param.shape or not x.flags.c_contiguous:
            return None
    return compiled(f"updates.{name}", param)


def _sgd(param: Array, grad: Any, learning_rate: Array) -> Array:
    """p - lr g"""
    if grad.__class__ is Scattered:
        if is_row_sparse(grad):
            written = param.copy()
            sgd_rows(written, *merged_rows(grad), learning_rate)
            return written
        grad = grad.dense()
    # Asked here as well, a call of small parameters is one less.
    large = param.__class__ is ndarray and param.size >= WORTH
    run = _in_c("sgd", param, grad) if large else None
    if run is not None:
        written = np.empty_like(param)
        run(param, grad, written, param.size, float(learning_rate))
        return written
    out: Array = param - grad * learning_rate
    return out


def sgd_rows(param: Array, rows: Array, values: Array, learning_rate: Array) -> None:
    """`_sgd` in place, of the rows that have a gradient: in range, each once."""
    run = _in_c("sgd_rows", param) if values.size >= WORTH else None
    alike = values.dtype == param.dtype == learning_rate.dtype and rows.dtype == np.int64
    if run is not None and alike:
        given = np.ascontiguousarray(rows), np.ascontiguousarray(values)
        run(param, *given, len(rows), values.size // len(rows), float(learning_rate))
        return
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
    run = _in_c("momentum", param, grad, velocity)
    if run is not None:
        out, moved = np.empty_like(param), np.empty_like(param)
        rate = float(learning_rate)
        run(param, grad, velocity, out, moved, param.size, rate, mu, use_nesterov)
        return out, moved
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
    k = m % batch_num
    d = np.asarray(d - y[k] + grad)
    y = y.copy()
    y[k] = grad
    m = np.asarray(m + 1)
    met = np.minimum(m, batch_num).astype(param.dtype)
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


# --- running means of gradients and of their squares


def _wide(rule: Rule, *operands: Array, **attrs: Any) -> Arrays:
    """`rule` in float32 on float16: an epsilon of 1e-8 is 0 there, and 0 / 0 nan."""
    new = rule(*(x.astype(np.float32) for x in operands), **attrs)
    return tuple(x.astype(operands[0].dtype) for x in new)


def _in_float32(rule: Rule) -> Rule:
    @functools.wraps(rule)
    def update(param: Array, *others: Array, **attrs: Any) -> Arrays:
        if param.dtype in HALVES:
            return _wide(rule, param, *others, **attrs)
        return rule(param, *others, **attrs)

    return update


def on_rows(
    rule: Rule, param: Array, rows: Array, values: Array, rate: Array, *state: Array, **attrs: Any
) -> Arrays:
    """What `rule` makes of the rows that have a gradient; 0-d state is of all rows."""
    picked = [s[rows] if s.ndim else s for s in state]
    return rule(param[rows], values, rate, *picked, **attrs)


def _other_gradient(rule: Rule, param: Array, grad: Any, *others: Array, **attrs: Any) -> Arrays:
    """`rule` of a gradient that is float16, or not written out."""
    if grad.__class__ is not Scattered:
        return _wide(rule, param, grad, *others, **attrs)
    if attrs["lazy_mode"] and is_row_sparse(grad):
        return _lazily(rule, param, grad, *others, **{**attrs, "lazy_mode": False})
    return rule(param, grad.dense(), *others, **attrs)


def _lazily(rule: Rule, param: Array, grad: Scattered, *others: Array, **attrs: Any) -> Arrays:
    """`rule` on rows alone, and all other rows as they are."""
    rate, *state = others
    rows, values = merged_rows(grad)
    new = on_rows(rule, param, rows, values, rate, *state, **attrs)
    written = []
    for old, part in zip((param, *state), new, strict=True):
        if old.ndim:
            old = old.copy()
            old[rows] = part
        written.append(old if old.ndim else part)
    return tuple(written)


def _moments(grad: Array, m: Array, v: Array, beta1: float, beta2: float) -> tuple[Array, Array]:
    # What is new is written over: fewer arrays are made, and fewer leave the cache.
    m = beta1 * m
    m += (1.0 - beta1) * grad
    square = grad * grad
    square *= 1.0 - beta2
    v = beta2 * v
    v += square
    return np.asarray(m), np.asarray(v)


# --- Adam


def _adam(
    param: Array,
    grad: Any,
    learning_rate: Array,
    *state: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
    lazy_mode: bool = False,
) -> Arrays:
    """Kingma and Ba 2015, in the order of its section 2: epsilon outside the corrected root.

    With amsgrad a third moment is among the state, the largest second one so far (Reddi, Kale and
    Kumar 2018).
    """
    if param.dtype in HALVES or grad.__class__ is Scattered:
        attrs = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "lazy_mode": lazy_mode}
        return _other_gradient(_adam, param, grad, learning_rate, *state, **attrs)
    return _dense_adam(param, grad, learning_rate, None, state, beta1, beta2, epsilon)


def _dense_adam(
    param: Array,
    grad: Array,
    learning_rate: Array,
    decay: Array | None,
    state: Arrays,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Arrays:
    moment1, moment2, *largest, beta1_pow, beta2_pow = state
    correction = np.sqrt(1.0 - beta2_pow)
    rate = learning_rate * correction / (1.0 - beta1_pow)
    powers = np.asarray(beta1_pow * beta1), np.asarray(beta2_pow * beta2)
    run = _in_c("adam", param, grad, moment1, moment2, *largest)
    if run is not None:
        given = param, grad, moment1, moment2, *largest
        made = [np.empty_like(param) for _ in range(3 + len(largest))]
        unused = () if largest else (param,)
        betas = beta1, 1.0 - beta1, beta2, 1.0 - beta2
        numbers = map(float, (1.0 if decay is None else decay, rate, *betas, epsilon * correction))
        run(*given, *unused, *made, *unused, param.size, *numbers, bool(largest))
        return *made, *powers
    if decay is not None:
        param = np.asarray(param * decay)
    moment1, moment2 = _moments(grad, moment1, moment2, beta1, beta2)
    if largest:
        largest = [np.asarray(np.maximum(largest[0], moment2))]
    step = np.sqrt(largest[0] if largest else moment2)
    step += epsilon * correction
    step = moment1 / step
    step *= rate
    return np.asarray(param - step), moment1, moment2, *largest, *powers


def _adamw(
    param: Array,
    grad: Any,
    learning_rate: Array,
    *state: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
    coeff: float,
    lazy_mode: bool = False,
) -> Arrays:
    """Adam on the decayed parameter (Loshchilov and Hutter 2019); in lazy mode all rows decay."""
    decay = 1.0 - learning_rate * coeff if coeff else None
    if param.dtype not in HALVES and grad.__class__ is not Scattered:
        return _dense_adam(param, grad, learning_rate, decay, state, beta1, beta2, epsilon)
    if decay is not None:
        param = np.asarray(param * decay)
    attrs: Any = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "lazy_mode": lazy_mode}
    return _adam(param, grad, learning_rate, *state, **attrs)


@_in_float32
def _adamax(
    param: Array,
    grad: Array,
    learning_rate: Array,
    moment: Array,
    inf_norm: Array,
    beta1_pow: Array,
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Arrays:
    """Kingma and Ba 2015, section 7.1: the infinity norm in the place of the second moment."""
    moment = np.asarray(beta1 * moment + (1.0 - beta1) * grad)
    inf_norm = np.asarray(np.maximum(np.abs(grad), beta2 * inf_norm + epsilon))
    step = learning_rate / (1.0 - beta1_pow) * (moment / inf_norm)
    return np.asarray(param - step), moment, inf_norm, np.asarray(beta1_pow * beta1)


@_in_float32
def _lamb(
    param: Array,
    grad: Array,
    learning_rate: Array,
    moment1: Array,
    moment2: Array,
    beta1_pow: Array,
    beta2_pow: Array,
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
    always_adapt: bool = False,
) -> Arrays:
    """You et al. 2020: Adam's direction, as long as the parameter is."""
    moment1, moment2 = _moments(grad, moment1, moment2, beta1, beta2)
    corrected = moment1 / (1.0 - beta1_pow), np.sqrt(moment2 / (1.0 - beta2_pow))
    step = corrected[0] / (corrected[1] + epsilon)
    if weight_decay:
        step = step + weight_decay * param
    rate = learning_rate
    if weight_decay or always_adapt:
        length, of_step = _length(param), _length(step)
        there = (length > 0) & (of_step > 0)
        ratio = length / np.where(there, of_step, 1.0)
        rate = rate * np.where(there, ratio, 1.0).astype(param.dtype)
    powers = np.asarray(beta1_pow * beta1), np.asarray(beta2_pow * beta2)
    return np.asarray(param - rate * step), moment1, moment2, *powers


def _length(x: Any) -> Any:
    return np.sqrt(np.sum(x * x))


@_in_float32
def _nadam(
    param: Array,
    grad: Array,
    learning_rate: Array,
    moment1: Array,
    moment2: Array,
    momentum_decay_pow: Array,
    beta2_pow: Array,
    mu_product: Array,
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    momentum_decay: float,
) -> Arrays:
    """Dozat 2016: Adam with Nesterov's look ahead, whose momentum grows with the steps."""
    momentum_decay_pow = np.asarray(momentum_decay_pow * 0.96)
    beta2_pow = np.asarray(beta2_pow * beta2)
    now = beta1 * (1.0 - 0.5 * momentum_decay_pow**momentum_decay)
    ahead = beta1 * (1.0 - 0.5 * (momentum_decay_pow * 0.96) ** momentum_decay)
    mu_product = np.asarray(mu_product * now)
    moment1, moment2 = _moments(grad, moment1, moment2, beta1, beta2)
    direction = (
        ahead / (1.0 - mu_product * ahead) * moment1 + (1.0 - now) / (1.0 - mu_product) * grad
    )
    step = learning_rate * (direction / (np.sqrt(moment2 / (1.0 - beta2_pow)) + epsilon))
    state = moment1, moment2, momentum_decay_pow, beta2_pow, mu_product
    return np.asarray(param - step), *state


@_in_float32
def _radam(
    param: Array,
    grad: Array,
    learning_rate: Array,
    moment1: Array,
    moment2: Array,
    beta1_pow: Array,
    beta2_pow: Array,
    rho: Array,
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Arrays:
    """Liu et al. 2020: the second moment counts once its variance is finite (more than 5 steps).

    Of step t, `rho` is t b^t / (1 - b^t) with b = `beta2`: what the length of its average lacks.
    """
    power = beta2_pow.astype(np.float64) * beta2
    lacks = (rho.astype(np.float64) * (beta2 - power) + power) / (1.0 - power)
    limit = 2.0 / (1.0 - beta2) - 1.0
    length = limit - 2.0 * lacks
    beta1_pow = np.asarray(beta1_pow * beta1)
    moment1, moment2 = _moments(grad, moment1, moment2, beta1, beta2)
    step = learning_rate * (moment1 / (1.0 - beta1_pow))
    counts = length > 5.0
    if perhaps(counts):
        over = (length - 4.0) * (length - 2.0) * limit
        under = (limit - 4.0) * (limit - 2.0) * length
        scale = np.sqrt(np.maximum(over / under * (1.0 - power), 0.0)).astype(step.dtype)
        scaled = step * (scale / (np.sqrt(moment2) + epsilon))
        step = scaled if surely(counts) else np.where(counts, scaled, step)
    powers = beta1_pow, np.asarray(beta2_pow * beta2), np.asarray(lacks, rho.dtype)
    return np.asarray(param - step), moment1, moment2, *powers


# --- means of squares


@_in_float32
def _rmsprop(
    param: Array,
    grad: Array,
    learning_rate: Array,
    momentum: Array,
    mean_square: Array,
    mean_grad: Array,
    *,
    rho: float,
    epsilon: float,
    mu: float = 0.0,
    centered: bool = False,
) -> Arrays:
    """Hinton 2012, lecture 6; centred (Graves 2013), by the variance in place of the square."""
    mean_square = np.asarray(rho * mean_square + (1.0 - rho) * (grad * grad))
    scale = mean_square
    if centered:
        mean_grad = np.asarray(rho * mean_grad + (1.0 - rho) * grad)
        scale = scale - mean_grad * mean_grad
    momentum = np.asarray(mu * momentum + learning_rate * grad / np.sqrt(scale + epsilon))
    return np.asarray(param - momentum), momentum, mean_square, mean_grad


@_in_float32
def _adagrad(
    param: Array, grad: Array, learning_rate: Array, moment: Array, *, epsilon: float
) -> tuple[Array, Array]:
    """Duchi, Hazan and Singer 2011."""
    moment = np.asarray(moment + grad * grad)
    return np.asarray(param - learning_rate * grad / (np.sqrt(moment) + epsilon)), moment


@_in_float32
def _adadelta(
    param: Array,
    grad: Array,
    learning_rate: Array,
    avg_squared_grad: Array,
    avg_squared_update: Array,
    *,
    rho: float,
    epsilon: float,
) -> Arrays:
    """Zeiler 2012: steps as large, on average, as those before."""
    squares = np.asarray(rho * avg_squared_grad + (1.0 - rho) * (grad * grad))
    update = np.sqrt((avg_squared_update + epsilon) / (squares + epsilon)) * grad
    updates = np.asarray(rho * avg_squared_update + (1.0 - rho) * (update * update))
    return np.asarray(param - learning_rate * update), squares, updates


# --- many parameters at once, in place

InPlace = Callable[[Array, int, float], None]


def in_place(operation: str, attrs: dict[str, Any], like: Array, rate: float) -> InPlace | None:
    """The rule of an operation, to write over parameters and their state; None where none is in C.

    ``write(table, count, rate)``; a row of the table has the size of a parameter and the addresses,
    which are their ids, of the arrays: parameter, gradient, state. All are of the dtype of `like`,
    in C order. It has the bits of the rule.
    """
    name, _, amsgrad = operation.partition("_")
    numbers: tuple[Any, ...]
    if name == "sgd":
        numbers = ()
    elif name == "momentum" and attrs["rescale_grad"] == 1.0:
        numbers = attrs["mu"], attrs["use_nesterov"]
    elif name in ("adam", "adamw") and amsgrad in ("", "amsgrad"):
        coeff = attrs.get("coeff")
        decay = 1.0 - like.dtype.type(rate) * coeff if coeff else 1.0
        beta1, beta2 = attrs["beta1"], attrs["beta2"]
        betas = beta1, 1.0 - beta1, beta2, 1.0 - beta2
        numbers = float(decay), *betas, attrs["epsilon"], bool(amsgrad)
        name = "adam"
    else:
        return None
    run = compiled(f"updates.{name}_all", like)
    return None if run is None else lambda table, count, rate: run(table, count, rate, *numbers)


# --- the rows


def _by_parts(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule for complex parameters as well, whose parts it updates, and state is kept of."""

    @functools.wraps(rule)
    def update(param: Array, grad: Any, *others: Array, **attrs: Any) -> Any:
        if param.dtype not in COMPLEX:
            return rule(param, grad, *others, **attrs)
        if grad.__class__ is Scattered:
            if attrs.get("lazy_mode") and is_row_sparse(grad):
                return _lazily(update, param, grad, *others, **{**attrs, "lazy_mode": False})
            grad = grad.dense()
        made = rule(_parts(param), _parts(grad), *others, **attrs)
        if made.__class__ is not tuple:
            return _joined(made, param)
        return _joined(made[0], param), *made[1:]

    return update


def _parts(x: Array) -> Array:
    return np.ascontiguousarray(x).reshape(*x.shape, 1).view(real_dtype(x.dtype))


def _joined(parts: Array, like: Array) -> Array:
    return np.ascontiguousarray(parts).view(like.dtype).reshape(like.shape)


def _infer(param: Spec, grad: Spec, learning_rate: Spec, *state: Spec, **_: Any) -> Any:
    if param.shape != grad.shape:
        raise ShapeError(
            f"optimizer: the parameter is {format_shape(param.shape)}, its gradient "
            f"{format_shape(grad.shape)}"
        )
    return (param, *state) if state else param


def _declare(
    name: str,
    kernel: Callable[..., Any],
    steps: int,
    state: str = "",
    scattered: str = "",
    **options: Any,
) -> None:
    """A row, of `steps` for each element: the state that the rule takes and returns, and what may
    be not written out.
    """
    defop(
        name,
        _by_parts(kernel),
        inputs=f"param grad learning_rate {state}",
        outputs=" ".join(f"{s}_out" for s in ["param", *state.split()]),
        infer=_infer,
        takes_scattered=scattered,
        work=each_read(steps),
        takes="fc",
        untyped=f"learning_rate {state}",
        **options,
    ).nondiff()


_declare("sgd", _sgd, 2, scattered="grad")
_declare("momentum", _momentum, 4, "velocity")
_declare("asgd", _asgd, 4, "d y m")
_declare("rprop", _rprop, 8, "prevs learning_rates")
_ADAM = "moment1 moment2 beta1_pow beta2_pow"
_AMSGRAD = "moment1 moment2 moment2_max beta1_pow beta2_pow"
_declare("adam", _adam, 11, _ADAM, scattered="grad")
_declare("adam_amsgrad", _adam, 12, _AMSGRAD, scattered="grad")
_declare("adamw", _adamw, 12, _ADAM, scattered="grad")
_declare("adamw_amsgrad", _adamw, 13, _AMSGRAD, scattered="grad")
_declare("adamax", _adamax, 9, "moment inf_norm beta1_pow")
_declare("lamb", _lamb, 20, _ADAM)
_declare("nadam", _nadam, 12, "moment1 moment2 momentum_decay_pow beta2_pow mu_product")
_declare("radam", _radam, 11, "moment1 moment2 beta1_pow beta2_pow rho")
_declare("rmsprop", _rmsprop, 9, "momentum mean_square mean_grad", result="view")
_declare("adagrad", _adagrad, 5, "moment")
_declare("adadelta", _adadelta, 14, "avg_squared_grad avg_squared_update")
