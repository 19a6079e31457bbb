"""Random tensors, from the generator that `seed` sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.checks import require_floats
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.dtypes import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    DTypeLike,
    get_default_numpy_dtype,
    name_of,
    to_numpy,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.number_inputs import holds_symbolic
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.conversion import (
    as_factor,
    carries_gradient,
    count,
    detached,
    deviation,
    held,
    number,
    probability,
    real,
    shape_of,
    span,
)
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of

__all__ = [
    "bernoulli",
    "binomial",
    "log_normal",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "standard_gamma",
    "standard_normal",
    "uniform",
]


def _dtype(function: str, dtype: DTypeLike | None) -> str:
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    if chosen not in FLOATS:
        parts = f"paddle.complex of two {function}, which are its parts"
        others = parts if chosen in COMPLEX else "randint for integers"
        raise DTypeError(
            f"{function}: dtype must be a floating one, got {chosen.name}; use {others}"
        )
    return name_of(chosen)


@atomic
def rand(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Uniform on [0, 1).

    Examples
    --------
    >>> rand([2, 3]).shape
    paddle.Size([2, 3])
    """
    return ops.uniform(
        shape=shape_of(shape, "rand"), low=0.0, high=1.0, dtype=_dtype("rand", dtype)
    )


@atomic
def randn(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Standard normal.

    Examples
    --------
    >>> randn([2, 3]).shape
    paddle.Size([2, 3])
    """
    return standard_normal(shape, dtype, name)


@atomic
def standard_normal(
    shape: int | Sequence[int], dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor:
    """Normal with mean 0 and standard deviation 1; `randn` is the same."""
    return ops.gaussian(
        shape=shape_of(shape, "standard_normal"),
        mean=0.0,
        std=1.0,
        dtype=_dtype("standard_normal", dtype),
    )


@atomic
def uniform(
    shape: int | Sequence[int],
    dtype: DTypeLike | None = None,
    min: float = 0.0,
    max: float = 1.0,
    seed: int = 0,
    name: str | None = None,
) -> Tensor:
    """Uniform on [min, max).

    Parameters
    ----------
    shape : int or sequence of int
    dtype : dtype, optional
        A floating one; the default dtype by default.
    min, max : float
        Numbers, or tensors with one element, to which gradients flow.
    seed : int
        0 for the generator that all share; another one gives the same numbers each time.

    Raises
    ------
    ArgumentError
        When `min` is above `max`.

    Examples
    --------
    >>> x = uniform([100], min=2.0, max=3.0)
    >>> bool((x >= 2.0).all()), bool((x < 3.0).all())
    (True, True)
    """
    low, high = span("uniform", detached(min), detached(max))
    moves = carries_gradient(min, max)
    name_of_dtype = _dtype("uniform", dtype)
    drawn = ops.uniform(
        shape=shape_of(shape, "uniform"),
        low=0.0 if moves else low,
        high=1.0 if moves else high,
        dtype=name_of_dtype,
        seed=count("uniform", "seed", seed),
    )
    if not moves:
        return drawn
    start, end = (as_factor(v, np.dtype(name_of_dtype)) for v in (min, max))
    return start + (end - start) * drawn


def _has_elements(x: Any) -> bool:
    return isinstance(x, (Tensor, Variable))


def _normal(function: str, mean: Any, std: Any, shape: Any) -> Any:
    if not _has_elements(mean) and not _has_elements(std):
        return ops.gaussian(
            shape=shape_of((1,) if shape is None else shape, function),
            mean=real(function, "mean", mean),
            std=deviation(function, std),
            dtype=_dtype(function, None),
        )
    for argument, value in (("mean", mean), ("std", std)):
        if _has_elements(value):
            require_floats(function, argument, spec_of(value).dtype)
    if not _has_elements(std):
        std = deviation(function, std)
    elif isinstance(std, Tensor) and (std._data < 0).any():
        raise ArgumentError(f"{function}: std must not be negative, got {std._data.min()}")
    if not _has_elements(mean):
        mean = real(function, "mean", mean)
    return mean + std * ops.random_like(mean + std, distribution="gaussian", a=0.0, b=1.0)


@atomic
def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    shape: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal with this mean and standard deviation.

    Parameters
    ----------
    mean, std : float, Tensor or Variable
        With a tensor among them, one number is drawn for each element of their broadcast; gradients
        flow to both. `std` is not negative.
    shape : int or sequence of int, optional
        For numbers only; [1] by default, in the default dtype.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> normal(0.0, 1.0, [2, 3]).shape
    paddle.Size([2, 3])
    >>> normal(paddle.to_tensor([1.0, 100.0]), 0.0).tolist()
    [1.0, 100.0]
    """
    return _normal("normal", mean, std, shape)


@atomic
def log_normal(
    mean: Any = 1.0,
    std: Any = 2.0,
    shape: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """e to the power of a normal variable with this mean and standard deviation; see `normal`.

    Examples
    --------
    >>> log_normal(0.0, 0.0, [2]).tolist()
    [1.0, 1.0]
    """
    return ops.exp(_normal("log_normal", mean, std, shape))


def _limits(function: str, low: Any, high: Any, dtype: np.dtype[Any]) -> tuple[int, int]:
    low = number(function, "low", low)
    if high is None:
        low, high = 0, low
    high = number(function, "high", high)
    for argument, value in (("low", low), ("high", high)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ArgumentTypeError(f"{function}: {argument} must be an int, got {value!r}")
    known = not holds_symbolic((low, high))
    if known and high <= low:
        raise ArgumentError(f"{function}: high ({high}) must be above low ({low})")
    if dtype in COMPLEX:
        raise DTypeError(
            f"{function}: dtype must be one of integers or floats, got {dtype.name}; use "
            "dtype='int64'"
        )
    wide = np.dtype(np.int64)
    for argument, value in (("low", low), ("high - 1", high - 1)):
        if known:
            held(function, argument, value, dtype if dtype in INTEGERS else wide)
    return low, high


@atomic
def randint(
    low: int = 0,
    high: int | None = None,
    shape: int | Sequence[int] = (1,),
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Integers on [low, high), or on [0, low) without `high`.

    Raises
    ------
    ArgumentError
        Unless `low` is below `high`, and the dtype (int64 by default) holds both.

    Examples
    --------
    >>> x = randint(5, 8, [100])
    >>> bool((x >= 5).all()), bool((x < 8).all())
    (True, True)
    """
    chosen = to_numpy("int64" if dtype is None else dtype)
    low, high = _limits("randint", low, high, chosen)
    return ops.randint(shape=shape_of(shape, "randint"), low=low, high=high, dtype=name_of(chosen))


def randint_like(
    x: Any,
    low: int = 0,
    high: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Integers on [low, high), or on [0, low) without `high`, in the shape and dtype of `x`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> randint_like(paddle.ones([2, 3]), 5, 6).tolist()
    [[5.0, 5.0, 5.0], [5.0, 5.0, 5.0]]
    """
    x = as_operand("randint_like", x)
    chosen = spec_of(x).dtype if dtype is None else to_numpy(dtype)
    low, high = _limits("randint_like", low, high, chosen)
    return ops.random_like(x, distribution="integers", a=low, b=high, dtype=name_of(chosen))


def _floating_like(function: str, x: Any, dtype: DTypeLike | None) -> str:
    return _dtype(function, spec_of(x).dtype if dtype is None else dtype)


def rand_like(x: Any, name: str | None = None, *, dtype: DTypeLike | None = None) -> Tensor:
    """Uniform on [0, 1), in the shape and dtype of `x`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> rand_like(paddle.ones([2, 3])).shape
    paddle.Size([2, 3])
    """
    x = as_operand("rand_like", x)
    return ops.random_like(
        x, distribution="uniform", a=0.0, b=1.0, dtype=_floating_like("rand_like", x, dtype)
    )


def randn_like(x: Any, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Standard normal, in the shape and dtype of `x`."""
    x = as_operand("randn_like", x)
    return ops.random_like(
        x, distribution="gaussian", a=0.0, b=1.0, dtype=_floating_like("randn_like", x, dtype)
    )


@atomic
def randperm(n: int, dtype: DTypeLike = "int64", name: str | None = None) -> Tensor:
    """The integers 0 to n - 1 in random order.

    Examples
    --------
    >>> sorted(randperm(4).tolist())
    [0, 1, 2, 3]
    """
    n, chosen = count("randperm", "n", n), to_numpy(dtype)
    if not isinstance(n, SymbolicNumber):
        held("randperm", "n - 1", max(n - 1, 0), chosen)
    return ops.randperm(n=n, dtype=name_of(chosen))


def bernoulli(x: Any, p: float | None = None, name: str | None = None) -> Tensor:
    """1 with the probability that the element of `x` is, else 0; in the dtype of `x`.

    Parameters
    ----------
    x : Tensor or Variable
        Probabilities; or, with `p`, what shape and dtype are taken from. No gradient.
    p : float, optional
        The probability of every element.

    Raises
    ------
    ArgumentError
        For a probability outside of [0, 1].

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> bernoulli(paddle.to_tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    if p is None:
        return ops.bernoulli(x)
    x = as_operand("bernoulli", x)
    return ops.random_like(x, distribution="bernoulli", a=probability("bernoulli", "p", p))


def poisson(x: Any, name: str | None = None) -> Tensor:
    """Poisson with the rate that the element of `x` is, in its dtype.

    Raises
    ------
    ArgumentError
        For a negative rate.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> poisson(paddle.to_tensor([0.0, 0.0])).tolist()
    [0.0, 0.0]
    """
    return ops.poisson(x)


def binomial(count: Any, prob: Any, name: str | None = None) -> Tensor:
    """How many of `count` trials succeed, each with probability `prob`; int64.

    Parameters
    ----------
    count, prob : Tensor or Variable
        Shapes broadcast.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> binomial(paddle.to_tensor([5, 7]), paddle.to_tensor([0.0, 1.0])).tolist()
    [0, 7]
    """
    return ops.binomial(count, prob)


def standard_gamma(x: Any, name: str | None = None) -> Tensor:
    """Gamma with the shape parameter that the element of `x` is, and scale 1; no gradient.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> standard_gamma(paddle.to_tensor([0.0, 2.0])).shape
    paddle.Size([2])
    """
    return ops.standard_gamma(x)


@atomic
def multinomial(
    x: Any, num_samples: int = 1, replacement: bool = False, name: str | None = None
) -> Tensor:
    """Positions along the last axis, drawn with probabilities proportional to `x`.

    Parameters
    ----------
    x : Tensor or Variable
        Of one or two dimensions; not negative. A row need not add up to 1.
    num_samples : int
        How many to draw from each row.
    replacement : bool
        Whether a position may be drawn again.

    Returns
    -------
    Tensor or Variable
        int64, the last axis of size `num_samples`, in the order drawn.

    Raises
    ------
    ArgumentError
        When a row has fewer categories above 0 than are needed.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> multinomial(paddle.to_tensor([0.0, 1.0]), 3, replacement=True).tolist()
    [1, 1, 1]
    """
    x = as_operand("multinomial", x)
    spec = spec_of(x)
    if spec.ndim not in (1, 2):
        raise ShapeError(
            f"multinomial: x must have one or two dimensions, got {spec.ndim}; use reshape"
        )
    wanted = count("multinomial", "num_samples", num_samples)
    size = spec.shape[-1]
    known = not isinstance(wanted, SymbolicNumber)
    if known and (wanted < 1 or (not replacement and isinstance(size, int) and wanted > size)):
        raise ArgumentError(
            f"multinomial: num_samples must be 1 to {size} without replacement, got {wanted}; "
            "use replacement=True to draw a category again"
            if wanted
            else "multinomial: num_samples must be 1 or more, got 0"
        )
    return ops.multinomial(x, num_samples=wanted, replacement=bool(replacement))
