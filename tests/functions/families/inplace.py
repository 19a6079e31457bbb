"""Calls of the in-place methods, on results of operations: in a program they run out of place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import away_from_zero, flags, integers, positive, real, spaced

from ..calls import draw
from ..case import Case
from ..peers import torch


def between(low: float, high: float, *shape: int) -> np.ndarray:
    return real(*shape, low=low, high=high)


def each(f: Callable[..., float]) -> Any:
    return np.vectorize(f, otypes=[np.float64])


def written(
    name: str,
    numpy: Callable[..., Any],
    *operands: np.ndarray,
    args: tuple[Any, ...] = (),
    peer: str | None = None,
    label: str = "method",
    **options: Any,
) -> Case:
    """``x.name(...)`` on a copy of `x`; torch's method is `peer`, "" for none."""
    theirs = None
    if peer != "":
        theirs = lambda x, *rest: getattr(x.clone(), peer or name)(*rest, *args)  # noqa: E731
    return Case(
        label,
        lambda x, *rest: getattr(x.clone(), name)(*rest, *args),
        operands,
        numpy=numpy,
        torch=theirs,
        **options,
    )


def data(name: str, numpy: Callable[..., Any], *operands: np.ndarray, **options: Any) -> Case:
    """The same without a gradient."""
    return written(name, numpy, *operands, differentiable=False, **options)


def function(name: str, numpy: Callable[..., Any], *operands: np.ndarray, **options: Any) -> Case:
    """``paddle.name(x, ...)`` on a copy of `x`."""
    return Case(
        "function",
        lambda x, *rest: getattr(paddle, name)(x.clone(), *rest),
        operands,
        numpy=numpy,
        **options,
    )


UNARY = {
    "abs_": (np.abs, away_from_zero(2, 3)),
    "acos_": (np.arccos, between(-0.9, 0.9, 3)),
    "acosh_": (np.arccosh, between(1.2, 3.0, 3)),
    "asin_": (np.arcsin, between(-0.9, 0.9, 3)),
    "asinh_": (np.arcsinh, real(3)),
    "atan_": (np.arctan, real(3)),
    "atanh_": (np.arctanh, between(-0.8, 0.8, 3)),
    "cos_": (np.cos, real(2, 3)),
    "cosh_": (np.cosh, real(3)),
    "exp_": (np.exp, real(2, 3)),
    "frac_": (lambda x: x - np.trunc(x), np.asarray([0.3, -1.4, 2.7])),
    "lgamma_": (each(math.lgamma), positive(3)),
    "log_": (np.log, positive(2, 3)),
    "log10_": (np.log10, positive(3)),
    "log1p_": (np.log1p, positive(3)),
    "log2_": (np.log2, positive(3)),
    "logit_": (lambda x: np.log(x / (1 - x)), between(0.2, 0.8, 3)),
    "neg_": (np.negative, real(3)),
    "reciprocal_": (np.reciprocal, away_from_zero(3)),
    "rsqrt_": (lambda x: 1 / np.sqrt(x), positive(3)),
    "sigmoid_": (lambda x: 1 / (1 + np.exp(-x)), real(3)),
    "sin_": (np.sin, real(2, 3)),
    "sinc_": (np.sinc, away_from_zero(3)),
    "sinh_": (np.sinh, real(3)),
    "sqrt_": (np.sqrt, positive(2, 3)),
    "square_": (np.square, real(2, 3)),
    "tan_": (np.tan, between(-1.0, 1.0, 3)),
    "tanh_": (np.tanh, real(2, 3)),
}
ROUNDING = {"ceil_": np.ceil, "floor_": np.floor, "round_": np.round, "trunc_": np.trunc}
COMPARISONS = {
    "equal_": np.equal,
    "not_equal_": np.not_equal,
    "greater_than_": np.greater,
    "greater_equal_": np.greater_equal,
    "less_than_": np.less,
    "less_equal_": np.less_equal,
    "less_": np.less,
    "logical_and_": np.logical_and,
    "logical_or_": np.logical_or,
    "logical_xor_": np.logical_xor,
}
BITS = {
    "bitwise_and_": lambda x, y: x & y,
    "bitwise_or_": lambda x, y: x | y,
    "bitwise_xor_": lambda x, y: x ^ y,
    "bitwise_left_shift_": lambda x, y: x * 2**y,
    "bitwise_right_shift_": lambda x, y: x // 2**y,
    "gcd_": np.gcd,
    "lcm_": np.lcm,
}
ARITHMETIC = {
    "add_": (np.add, real(2, 3), real(3)),
    "subtract_": (np.subtract, real(2, 3), real(3)),
    "sub_": (np.subtract, real(2, 3), real(3)),
    "multiply_": (np.multiply, real(2, 3), real(3)),
    "mul_": (np.multiply, real(2, 3), real(3)),
    "divide_": (np.divide, real(2, 3), away_from_zero(3)),
    "div_": (np.divide, real(2, 3), away_from_zero(3)),
    "pow_": (np.power, positive(2, 3), real(3)),
    "copysign_": (np.copysign, away_from_zero(3), away_from_zero(3)),
    "hypot_": (np.hypot, positive(3), positive(3)),
}
REMAINDERS = ("remainder_", "mod_", "floor_mod_")


def _diagonal(x: np.ndarray, offset: int, wrap: bool) -> np.ndarray:
    """2.5 on the diagonal, element by element."""
    out = x.copy()
    for index in np.ndindex(x.shape):
        row = index[0] % (x.shape[1] + 1) if wrap else index[0]
        if all(row + offset == i for i in index[1:]):
            out[index] = 2.5
    return out


def _put(x: np.ndarray, index: np.ndarray, value: np.ndarray) -> np.ndarray:
    out = x.copy()
    np.put_along_axis(out, index, value, 1)
    return out


def _added(x: np.ndarray, index: np.ndarray, value: np.ndarray) -> np.ndarray:
    out = x.copy()
    np.add.at(out, index, value)
    return out


def _rows(x: np.ndarray, index: np.ndarray, value: Any) -> np.ndarray:
    out = x.copy()
    out[index] = value
    return out


MASK = np.asarray([[True, False, True], [False, True, False]])

WRITTEN: dict[str, list[Case]] = {
    **{
        name: [written(name, f, x, peer=name[:-1])]  # torch knows no gradient of some in place
        for name, (f, x) in UNARY.items()
    },
    **{name: [data(name, f, spaced(2, 3))] for name, f in ROUNDING.items()},
    **{
        name: [data(name, f, integers(1, 2, 0), integers(1, 0, 2), peer="")]
        for name, f in COMPARISONS.items()
    },
    **{
        name: [data(name, f, integers(12, 5, 7), integers(1, 2, 3), peer="")]
        for name, f in BITS.items()
    },
    **{name: [written(name, f, *xs)] for name, (f, *xs) in ARITHMETIC.items()},
    **{
        name: [
            written(
                name, np.mod, np.asarray([5.3, -4.1]), np.asarray([2.0, 3.0]), peer="remainder_"
            )
        ]
        for name in REMAINDERS
    },
    "logical_not_": [data("logical_not_", np.logical_not, flags(4))],
    "bitwise_not_": [data("bitwise_not_", lambda x: -x - 1, integers(0, 5, -3))],
    "bitwise_invert_": [
        data("bitwise_invert_", lambda x: -x - 1, integers(0, 5, -3), peer="bitwise_not_")
    ],
    "floor_divide_": [data("floor_divide_", lambda x, y: x // y, integers(7, -7), integers(2, 2))],
    "scale_": [written("scale_", lambda x: 2 * x + 1, real(3), args=(2.0, 1.0), peer="")],
    "clip_": [written("clip_", lambda x: np.clip(x, -1, 1), spaced(2, 3), args=(-1.0, 1.0))],
    "clamp_": [written("clamp_", lambda x: np.clip(x, -1, 1), spaced(2, 3), args=(-1.0, 1.0))],
    "lerp_": [written("lerp_", lambda x, y, w: x + w * (y - x), real(3), real(3), real(3))],
    "apply_": [written("apply_", np.square, real(3), args=(lambda v: v * v,), peer="")],
    "cumsum_": [
        written("cumsum_", lambda x: np.cumsum(x, 1), real(2, 3), args=(1,)),
        function("cumsum_", np.cumsum, real(2, 3)),
    ],
    "cumprod_": [
        written("cumprod_", lambda x: np.cumprod(x, 1), positive(2, 3), args=(1,)),
        function("cumprod_", np.cumprod, positive(2, 2)),
    ],
    "fill_diagonal_": [
        Case(
            f"{offset}-{wrap}-{shape}",
            lambda x, offset=offset, wrap=wrap: x.clone().fill_diagonal_(2.5, offset, wrap),
            (real(*shape),),
            numpy=lambda x, offset=offset, wrap=wrap: _diagonal(x, offset, wrap),
            known=wrap or len(shape) > 2,
        )
        for offset, wrap, shape in [
            (0, False, (3, 4)),
            (1, False, (4, 2)),
            (-1, False, (3, 3)),
            (0, True, (7, 3)),
            (1, True, (7, 3)),
            (0, False, (2, 2, 2)),
        ]
    ],
    "fill_diagonal_tensor_": [
        Case(
            "method",
            lambda x, y: x.clone().fill_diagonal_tensor_(y, offset=1),
            (real(2, 3), real(2)),
            numpy=lambda x, y: np.where(np.eye(2, 3, 1) == 1, y[:, None], x),
        )
    ],
    "resize_": [
        Case(
            f"{sizes}",
            lambda x, sizes=sizes: x.clone().resize_(sizes),
            (real(2, 2),),
            # to fewer elements, or to more, with zeros behind them
            numpy=lambda x, sizes=sizes: np.append(x, [0.0] * 2)[: np.prod(sizes)].reshape(sizes),
            known=True,
        )
        for sizes in ([2, 1], [2, 3])
    ],
    "tril_": [written("tril_", np.tril, real(3, 3))],
    "triu_": [written("triu_", lambda x: np.triu(x, 1), real(3, 3), args=(1,))],
    "reshape_": [written("reshape_", np.ravel, real(2, 3), args=([-1],), peer="", known=True)],
    "flatten_": [written("flatten_", np.ravel, real(2, 3), peer="")],
    "squeeze_": [written("squeeze_", lambda x: x[:, 0], real(3, 1), args=(1,))],
    "unsqueeze_": [written("unsqueeze_", lambda x: x[None], real(3), args=(0,))],
    "transpose_": [
        written("transpose_", lambda x: x.T, real(2, 3), args=([1, 0],), peer=""),
    ],
    "t_": [written("t_", lambda x: x.T, real(2, 3))],
    "cast_": [data("cast_", lambda x: np.trunc(x), spaced(2, 3), args=("int64",), peer="")],
    "nan_to_num_": [
        written("nan_to_num_", np.nan_to_num, real(3)),
    ],
    "fill_": [data("fill_", lambda x: np.full_like(x, 2.5), real(3), args=(2.5,))],
    "zero_": [data("zero_", np.zeros_like, real(3))],
    "copy_": [written("copy_", lambda x, y: y, real(3), real(3))],
    "detach_": [data("detach_", np.copy, real(3), peer="")],
    "masked_fill_": [
        Case(
            "method",
            lambda x, m: x.clone().masked_fill_(m, 1.5),
            (real(2, 3), MASK),
            numpy=lambda x, m: np.where(m, 1.5, x),
            torch=lambda x, m: x.clone().masked_fill_(m, 1.5),
        )
    ],
    "where_": [
        Case(
            "function",
            lambda m, x, y: paddle.where_(m, x.clone(), y),
            (MASK, real(2, 3), real(2, 3)),
            numpy=np.where,
            torch=lambda m, x, y: torch.where(m, x, y),
        )
    ],
    "put_along_axis_": [
        Case(
            "method",
            lambda x, i, v: x.clone().put_along_axis_(i, v, 1),
            (real(2, 3), np.asarray([[2], [0]]), real(2, 1)),
            numpy=_put,
            torch=lambda x, i, v: x.clone().scatter_(1, i, v),
        )
    ],
    "index_add_": [
        Case(
            "method",
            lambda x, i, v: x.clone().index_add_(i, 0, v),
            (real(3, 2), integers(2, 0), real(2, 2)),
            numpy=_added,
            torch=lambda x, i, v: x.clone().index_add_(0, i, v),
        )
    ],
    "index_fill_": [
        Case(
            "method",
            lambda x, i: x.clone().index_fill_(i, 0, 1.5),
            (real(3, 2), integers(2, 0)),
            numpy=lambda x, i: _rows(x, i, 1.5),
            torch=lambda x, i: x.clone().index_fill_(0, i, 1.5),
        )
    ],
    "index_put_": [
        Case(
            "method",
            lambda x, i, v: x.clone().index_put_((i,), v),
            (real(3, 2), integers(2, 0), real(2, 2)),
            numpy=_rows,
            torch=lambda x, i, v: x.clone().index_put_((i,), v),
        )
    ],
    "scatter_": [
        Case(
            "method",
            lambda x, i, v: x.clone().scatter_(i, v),
            (real(3, 2), integers(2, 0), real(2, 2)),
            numpy=_rows,
        )
    ],
    "addmm_": [
        written("addmm_", lambda z, x, y: z + x @ y, real(2, 2), real(2, 3), real(3, 2)),
    ],
    "uniform_": [
        data(
            "uniform_",
            lambda x: 3 * draw().random(x.shape) - 1,
            real(4),
            args=(-1.0, 2.0),
            peer="",
        )
    ],
    "normal_": [
        data(
            "normal_",
            lambda x: 1 + 2 * draw().standard_normal(x.shape),
            real(4),
            args=(1.0, 2.0),
            peer="",
        )
    ],
    "log_normal_": [
        data(
            "log_normal_",
            lambda x: np.exp(0.5 + 0.25 * draw().standard_normal(x.shape)),
            real(4),
            args=(0.5, 0.25),
            peer="",
        )
    ],
    "exponential_": [
        data(
            "exponential_",
            lambda x: draw().standard_exponential(x.shape) / 2,
            real(4),
            args=(2.0,),
            peer="",
        )
    ],
    "cauchy_": [
        data(
            "cauchy_",
            lambda x: 1 + 2 * draw().standard_cauchy(x.shape),
            real(4),
            args=(1.0, 2.0),
            peer="",
        )
    ],
    "geometric_": [
        data("geometric_", lambda x: draw().geometric(0.25, 4), real(4), args=(0.25,), peer="")
    ],
    "bernoulli_": [
        data("bernoulli_", lambda x: draw().random(4) < 0.25, real(4), args=(0.25,), peer=""),
        Case(
            "tensor",
            lambda x, p: x.clone().bernoulli_(p),
            (integers(1, 2, 3), between(0.1, 0.9, 3)),
            numpy=lambda x, p: draw().random(3) < p,
            differentiable=False,
        ),
    ],
    "random_": [data("random_", lambda x: draw().integers(2, 9, 4), real(4), args=(2, 9), peer="")],
}

FUNCTIONS: dict[str, list[Case]] = {
    "expm1_": [function("expm1_", np.expm1, real(3))],
    "erf_": [function("erf_", each(math.erf), real(3))],
    "tanh_": [function("tanh_", np.tanh, real(3))],
    "multiply_": [function("multiply_", np.multiply, real(2, 3), real(3))],
    "logical_and_": [
        function("logical_and_", np.logical_and, flags(3), flags(3), differentiable=False)
    ],
}

CASES: dict[str, list[Case]] = {
    **{f"Tensor.{name}": cases for name, cases in WRITTEN.items()},
    **FUNCTIONS,
}


def like_its_function(name: str, *operands: np.ndarray, args: tuple[Any, ...] = ()) -> list[Case]:
    """What the function of that name gives, which has cases of its own."""

    def out_of_place(x: np.ndarray, *rest: np.ndarray) -> np.ndarray:
        tensors = [paddle.to_tensor(a) for a in (x, *rest)]
        return getattr(paddle, name.removesuffix("_"))(*tensors, *args).numpy()

    return [written(name, out_of_place, *operands, args=args, peer="")]


CASES |= {
    f"Tensor.{name}": like_its_function(name, *operands, args=args)
    for name, operands, args in (
        ("baddbmm_", (real(2, 2, 2), real(2, 2, 3), real(2, 3, 2)), ()),
        ("digamma_", (positive(2, 3),), ()),
        ("erfinv_", (between(-0.8, 0.8, 2, 3),), ()),
        ("gammaln_", (positive(2, 3),), ()),
        ("i0_", (real(2, 3),), ()),
        ("ldexp_", (real(2, 3), integers(1, -2, 3)), ()),
        ("masked_scatter_", (real(2, 3), flags(2, 3), real(6)), ()),
        ("multigammaln_", (between(2.0, 4.0, 2, 3),), (2,)),
        ("polygamma_", (positive(2, 3),), (2,)),
        ("renorm_", (real(3, 2),), (2.0, 0, 0.5)),
    )
}


def _half(function: Any) -> Case:
    """The first argument has no gradient: one of the second, written over it in place."""
    return Case(
        "method",
        lambda y: getattr(paddle.full_like(y, 1.5), function.__name__ + "_")(y),
        (positive(2, 3),),
        numpy=lambda y: function(paddle.full_like(paddle.to_tensor(y), 1.5), y).numpy(),
    )


CASES["Tensor.gammainc_"] = [_half(paddle.gammainc)]
CASES["Tensor.gammaincc_"] = [_half(paddle.gammaincc)]
CASES["Tensor.scatter_add_"] = [
    Case(
        "method",
        lambda x, src, index: x.clone().scatter_add_(0, index, src),
        (real(3, 2), real(2, 2), integers([0, 2], [0, 1])),
        numpy=lambda x, src, index: (
            x
            + np.asarray(
                [[src[0, 0] + src[1, 0], 0.0], [0.0, src[1, 1]], [0.0, src[0, 1]]],
            )
        ),
        torch=lambda x, src, index: x.clone().scatter_add_(0, index, src),
        known=True,
    )
]
