"""Attention: averages of values, weighted by how queries and keys fit (Vaswani and others 2017).

Arrays are ``[batch, sequence, heads, width]``, weights ``[batch, heads, queries, keys]``.
"""

from __future__ import annotations

from typing import Any, Final

from autograd_engine.core.dims import Size
from autograd_engine.core.spec import Shape, Spec, broadcast_shapes, format_shape, may_equal
from autograd_engine.errors import ShapeError
from autograd_engine.ops.kernels import attention
from autograd_engine.ops.registry.opdef import NONDIFF, defop
from autograd_engine.ops.registry.work import Specs, multiply_adds

_HEADS_FIRST: Final = (0, 2, 1, 3)  # and back


def _need(what: str, have: Spec, want: Shape) -> None:
    if not may_equal(have.shape, want):
        raise ShapeError(
            f"attention: {what} must have the shape {format_shape(want)}, got "
            f"{format_shape(have.shape)}"
        )


def _infer_attention(
    query: Spec, key: Spec, value: Spec, *, scale: float, causal: bool = False
) -> tuple[Spec, Spec]:
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.ndim != 4:
            raise ShapeError(
                f"attention: {name} must be [batch, sequence, heads, width], got "
                f"{format_shape(x.shape)}"
            )
    batch, queries, heads, width = query.shape
    keys, values = key.shape[1], value.shape[3]
    _need("key", key, (batch, keys, heads, width))
    _need("value", value, (batch, keys, heads, values))
    return (
        Spec((batch, queries, heads, values), query.dtype),
        Spec((batch, heads, queries, keys), query.dtype),
    )


def _infer_masked(
    query: Spec, key: Spec, value: Spec, mask: Spec, *, scale: float, causal: bool = False
) -> tuple[Spec, Spec]:
    out, weights = _infer_attention(query, key, value, scale=scale)
    _need_mask(mask, weights)
    return out, weights


def _need_mask(mask: Spec, weights: Spec) -> None:
    shape = broadcast_shapes("attention", mask.shape, weights.shape)
    if not may_equal(shape, weights.shape):
        raise ShapeError(
            f"attention: the mask {format_shape(mask.shape)} must broadcast to "
            f"{format_shape(weights.shape)}"
        )


def _infer_adjoint(
    y: Spec, query: Spec, key: Spec, value: Spec, weights: Spec, *, scale: float
) -> tuple[Spec, Spec, Spec]:
    out, expected = _infer_attention(query, key, value, scale=scale)
    _need("y", y, out.shape)
    _need("weights", weights, expected.shape)
    return query, key, value


def _products(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Size:
    """Scores, and averages of values."""
    query, key, value = operands[:3]
    return query.size * key.shape[1] + query.shape[1] * value.size


def _adjoint_products(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Size:
    """Each is transposed in both of its operands, but for the scores, which are not asked for."""
    query, key, value = operands[1:4]
    return 2 * (query.size * key.shape[1] + query.shape[1] * value.size)


def _turned(xp: Any, *xs: Any) -> list[Any]:
    return [xp.transpose(x, perm=_HEADS_FIRST) for x in xs]


def _product(xp: Any, x: Any, y: Any, which: str = "") -> Any:
    """Of matrices; X' Y if `which` is "x", X Y' if it is "y"."""
    return xp.matmul(x, y, transpose_x=which == "x", transpose_y=which == "y")


def _attention_rule(
    xp: Any,
    g_out: Any,
    g_weights: Any,
    query: Any,
    key: Any,
    value: Any,
    weights: Any,
    out_like: Any,
    *,
    scale: float,
) -> tuple[Any, ...]:
    """What arrives at the weights goes through softmax to the scores, as T does in the adjoint."""
    if g_out is None:
        g_out = xp.zeros_like(out_like)
    dq, dk, dv = xp.attention_adjoint(g_out, query, key, value, weights, scale=scale)
    if g_weights is None:
        return dq, dk, dv
    slopes = xp.softmax_adjoint(g_weights, weights, axis=3) * scale
    q, k = _turned(xp, query, key)
    more = _turned(xp, _product(xp, slopes, k), _product(xp, slopes, q, "x"))
    return dq + more[0], dk + more[1], dv


_ATTENTION: Final[dict[str, Any]] = {
    "outputs": "out weights",
    "dtypes": "floating",
    "takes": "bif",
    "lazy_cotangents": True,
    "result": "contiguous",
    "work": multiply_adds(_products),
    "amp": "low",
    "types": "flash_attn",
}
defop(
    "attention",
    attention.attention,
    inputs="query key value",
    infer=_infer_attention,
    stacks="images",
    **_ATTENTION,
).vjp_together("query key value", _attention_rule)
# Weights of what is not seen are 0, which the adjoint needs to know no more about.
defop(
    "masked_attention",
    attention.masked_attention,
    inputs="query key value seen",
    infer=_infer_masked,
    untyped="seen",
    **_ATTENTION,
).vjp(seen=NONDIFF).vjp_together("query key value", _attention_rule)


def _bias_rule(
    xp: Any,
    g_out: Any,
    g_weights: Any,
    value: Any,
    weights: Any,
    bias_like: Any,
) -> Any:
    """What arrives at the scores, which are those of softmax."""
    arriving = g_weights
    if g_out is not None:
        y, v = _turned(xp, g_out, value)
        t = _product(xp, y, v, "y")
        arriving = t if arriving is None else arriving + t
    return xp.sum_like(xp.softmax_adjoint(arriving, weights, axis=3), bias_like)


defop(
    "biased_attention",
    attention.biased_attention,
    inputs="query key value bias",
    infer=_infer_masked,
    **_ATTENTION,
).vjp(bias=_bias_rule).vjp_together("query key value", _attention_rule)


def _adjoint_rule(
    xp: Any,
    g_dquery: Any,
    g_dkey: Any,
    g_dvalue: Any,
    y: Any,
    query: Any,
    key: Any,
    value: Any,
    weights: Any,
    *,
    scale: float,
) -> tuple[Any, ...]:
    """With a, b, c the cotangents, T = Y V', D = softmax_adjoint(T), and the results s D K, s D' Q
    and W' Y: to D comes E = s (a K' + Q b'), and to T softmax_adjoint(E), which is symmetric. The
    weights stand in W' Y and in D = W (T - <W, T>).
    """
    a, b, c = _turned(xp, g_dquery, g_dkey, g_dvalue)
    y, q, k, v = _turned(xp, y, query, key, value)
    t = _product(xp, y, v, "y")
    d = xp.softmax_adjoint(t, weights, axis=3) * scale
    to_d = (_product(xp, a, k, "y") + _product(xp, q, b, "y")) * scale
    to_t = xp.softmax_adjoint(to_d, weights, axis=3)
    along_t = xp.sum(weights * t, axis=(3,), keepdims=True)
    along_d = xp.sum(weights * to_d, axis=(3,), keepdims=True)
    to_weights = _product(xp, y, c, "y") + to_d * (t - along_t) - t * along_d
    return (
        *_turned(
            xp,
            _product(xp, to_t, v) + _product(xp, weights, c),
            _product(xp, d, b),
            _product(xp, d, a, "x"),
            _product(xp, to_t, y, "x"),
        ),
        to_weights,
    )


# Linear in y: what the products of attention hand back.
defop(
    "attention_adjoint",
    attention.attention_adjoint,
    inputs="y query key value weights",
    outputs="dquery dkey dvalue",
    infer=_infer_adjoint,
    dtypes="common",
    takes="f",
    result="contiguous",
    stacks="images",
    work=multiply_adds(_adjoint_products),
).vjp_together("y query key value weights", _adjoint_rule)
