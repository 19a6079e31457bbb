"""Types of one element: arithmetic, comparisons, logic, functions of numbers, activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd_engine.nn.functional as F  # noqa: N812 - the usual name
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.functional.dropouts import dropout_factor
from autograd_engine.static.operator_types.declaring import OneOf, declare
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


# --- two operands: those of `y` lie along axes of `x` from `axis` on


def _aligned(x: Any, y: Any, axis: int) -> tuple[Any, Any]:
    """`x` and `y` with axes of one element where the reference broadcasts, and NumPy would not."""
    if not -1 <= axis < max(x.ndim, y.ndim, 1):
        raise ArgumentError(
            f"axis must be -1, or one of the {max(x.ndim, y.ndim)} axes of the larger operand; got "
            f"{axis}"
        )
    if axis == -1 or x.ndim == y.ndim:
        return x, y
    if x.ndim < y.ndim:
        y, x = _aligned(y, x, axis)
        return x, y
    after = x.ndim - axis - y.ndim
    while after < 0 and y.shape[-1] == 1:  # axes of one element at the end do not count
        y, after = paddle.squeeze(y, -1), after + 1
    if after < 0:
        raise ArgumentError(
            f"axis: the {y.ndim} axes of the smaller operand do not lie in those of the other from "
            f"axis {axis} on; use -1 for its last ones"
        )
    return x, paddle.unsqueeze(y, list(range(y.ndim, y.ndim + after))) if after > 0 else y


def _binary(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, y: Any, *, axis: int, **_: Any) -> Any:
        return function(*_aligned(x, y, axis))

    return call


for _name, _function in {
    "elementwise_add": paddle.add,
    "elementwise_sub": paddle.subtract,
    "elementwise_mul": paddle.multiply,
    "elementwise_div": paddle.divide,
    "elementwise_max": paddle.maximum,
    "elementwise_min": paddle.minimum,
    "elementwise_fmax": paddle.fmax,
    "elementwise_fmin": paddle.fmin,
    "elementwise_pow": paddle.pow,
    "elementwise_mod": paddle.mod,
    "elementwise_floordiv": paddle.floor_divide,
}.items():
    declare(_name, "X Y -> Out", _binary(_function), axis=-1)

for _name in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"):
    declare(_name, "X Y -> Out", _binary(getattr(paddle, _name)), axis=-1, force_cpu=False)

for _name in ("logical_and", "logical_or", "logical_xor"):
    declare(_name, "X Y -> Out", getattr(paddle, _name))
for _name in ("bitwise_and", "bitwise_or", "bitwise_xor", "equal_all"):
    declare(_name, "X Y -> Out", getattr(paddle, _name))
declare("minus", "X Y -> Out", paddle.subtract)
declare("atan2", "X1 X2 -> Out", paddle.atan2)


def _allclose(
    x: Any, y: Any, rtol_given: Any, atol_given: Any, *, rtol: str, atol: str, equal_nan: bool
) -> Any:
    return paddle.allclose(x, y, rtol=float(rtol), atol=float(atol), equal_nan=equal_nan)


declare(
    "allclose",
    "Input Other Rtol? Atol? -> Out",
    _allclose,
    rtol="1e-5",
    atol="1e-8",
    equal_nan=False,
)


# --- one operand, no attribute

for _name in [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_not",
    "ceil",
    "cos",
    "cosh",
    "digamma",
    "erf",
    "erfinv",
    "exp",
    "expm1",
    "floor",
    "imag",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "real",
    "reciprocal",
    "round",
    "rsqrt",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]:
    declare(_name, "X -> Out", getattr(paddle, _name))
for _name in ("relu", "relu6", "sigmoid", "silu", "softsign"):
    declare(_name, "X -> Out", getattr(F, _name))
declare("logsigmoid", "X -> Out", F.log_sigmoid)
declare("tanh_shrink", "X -> Out", F.tanhshrink)
for _name in ("isfinite", "isnan", "isinf"):
    declare(f"{_name}_v2", "X -> Out", getattr(paddle, _name))


# --- activations with attributes


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of the operand and the attributes, in the order in which they are declared."""
    return lambda x, **attrs: function(x, *attrs.values())


declare("leaky_relu", "X -> Out", _unary(F.leaky_relu), alpha=0.02)
declare("elu", "X -> Out", _unary(F.elu), alpha=1.0)
declare("celu", "X -> Out", _unary(F.celu), alpha=1.0)
declare("selu", "X -> Out", _unary(F.selu), scale=1.0507009873554805, alpha=1.6732632423543772)
declare("gelu", "X -> Out", _unary(F.gelu), approximate=False)
declare("hard_shrink", "X -> Out", _unary(F.hardshrink), threshold=0.5)
_LAMBDA: dict[str, Any] = {"lambda": 0.5}
declare("softshrink", "X -> Out", _unary(F.softshrink), **_LAMBDA)
declare("thresholded_relu", "X -> Out", _unary(F.thresholded_relu), threshold=1.0)
declare("softplus", "X -> Out", _unary(F.softplus), beta=1.0, threshold=20.0)
declare("stanh", "X -> Out", _unary(paddle.stanh), scale_a=0.67, scale_b=1.7159)
declare("brelu", "X -> Out", _unary(paddle.clip), t_min=0.0, t_max=24.0)
declare("hard_sigmoid", "X -> Out", _unary(F.hardsigmoid), slope=0.2, offset=0.5)
declare("maxout", "X -> Out", _unary(F.maxout), groups=int, axis=1)
declare("softmax", "X -> Out", _unary(F.softmax), axis=-1)
declare("log_softmax", "X -> Out", _unary(F.log_softmax), axis=-1)
declare("mish", "X -> Out", lambda x, **_: F.mish(x), threshold=20.0)


def _hard_swish(x: Any, *, threshold: float, scale: float, offset: float) -> Any:
    if (threshold, scale, offset) == (6.0, 6.0, 3.0):
        return F.hardswish(x)
    return x * paddle.clip(x + offset, 0.0, threshold) / scale


declare("hard_swish", "X -> Out", _hard_swish, threshold=6.0, scale=6.0, offset=3.0)


def _swish(x: Any, *, beta: float) -> Any:
    return F.swish(x) if beta == 1.0 else x * F.sigmoid(beta * x)


declare("swish", "X -> Out", _swish, beta=1.0)


def _prelu(x: Any, alpha: Any, *, data_format: str, mode: str) -> Any:
    if mode == "element":  # a slope for each element of an image
        return paddle.where(x > 0, x, alpha * x)
    return F.prelu(x, paddle.flatten(alpha), data_format)


declare(
    "prelu",
    "X Alpha -> Out",
    _prelu,
    data_format=OneOf("NCHW", "NHWC"),
    mode=OneOf("all", "channel", "element"),
)


# --- with numbers


def _scale(x: Any, given: Any, *, scale: float, bias: float, bias_after_scale: bool) -> Any:
    return paddle.scale(x, scale if given is None else given, bias, bias_after_scale)


declare("scale", "X ScaleTensor? -> Out", _scale, scale=1.0, bias=0.0, bias_after_scale=True)
declare(
    "pow",
    "X FactorTensor? -> Out",
    lambda x, given, *, factor: paddle.pow(x, factor if given is None else given),
    factor=1.0,
)


def _clip(x: Any, least: Any, most: Any, **attrs: float) -> Any:
    least = attrs["min"] if least is None else least
    return paddle.clip(x, least, attrs["max"] if most is None else most)


declare("clip", "X Min? Max? -> Out", _clip, min=float, max=float)


def _clip_by_norm(x: Any, *, max_norm: float) -> Any:
    norm = paddle.sqrt(paddle.sum(paddle.square(x)))
    return x * (max_norm / paddle.maximum(norm, paddle.full_like(norm, max_norm)))


declare("clip_by_norm", "X -> Out", _clip_by_norm, max_norm=float)
declare("logit", "X -> Out", _unary(paddle.logit), eps=1e-6)
declare("increment", "X -> Out", lambda x, *, step: paddle.add(x, _number(x, step)), step=1.0)


def _number(x: Any, value: float) -> Any:
    """A number that keeps the dtype of `x`."""
    return int(value) if x.dtype.name.startswith(("int", "uint")) else value


# --- dropout


def _dropout(
    x: Any, _seed: Any, *, dropout_prob: float, is_test: bool, dropout_implementation: str, **_: Any
) -> Any:
    upscale = dropout_implementation == "upscale_in_train"
    mode = "upscale_in_train" if upscale else "downscale_in_infer"
    factor = dropout_factor(x, dropout_prob, None, not is_test, mode)
    out = x if factor is None else x * factor
    kept = paddle.ones_like(x, dtype="uint8") if factor is None else factor != 0.0
    return out, paddle.cast(kept, "uint8")


declare(
    "dropout",
    "X Seed? -> Out Mask",
    _dropout,
    dropout_prob=0.5,
    is_test=False,
    dropout_implementation=OneOf("downgrade_in_infer", "upscale_in_train"),
    fix_seed=False,
    seed=0,
)
