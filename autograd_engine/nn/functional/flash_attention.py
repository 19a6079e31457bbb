"""Attention under the names of its kernels for graphics cards; here there is one kernel."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ShapeError
from autograd_engine.nn.functional.arguments import as_floats, check_number
from autograd_engine.nn.functional.attention import (
    attention,
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import atomic
from autograd_engine.program.operands import spec_of

__all__ = ["flash_attention", "flash_attn_qkvpacked"]


def _attended(
    op: str,
    query: Any,
    key: Any,
    value: Any,
    dropout: float,
    causal: bool,
    return_softmax: bool,
    stream: tuple[Any, str],
    training: bool,
    scale: float | None,
) -> Any:
    fixed_seed_offset, rng_name = stream
    if not isinstance(rng_name, str):
        raise ArgumentTypeError(f"{op}: rng_name must be a str, got {rng_name!r:.60}")
    if fixed_seed_offset is not None:
        raise ArgumentError(f"{op}: fixed_seed_offset must be None; call paddle.seed(n) before it")
    p = check_number(op, "dropout", dropout)
    if not 0.0 <= p <= 1.0:
        raise ArgumentError(f"{op}: dropout must be from 0 to 1, got {dropout!r}")
    p = p if training else 0.0
    out, weights = attention(op, query, key, value, None, p, causal, scale, True)
    return out, weights if return_softmax else None


@atomic
def flash_attention(
    query: Any,
    key: Any,
    value: Any,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: None = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`scaled_dot_product_attention`, and the weights of the values.

    Parameters
    ----------
    query, key, value : Tensor or Variable
        ``[batch, sequence, heads, width]``
    dropout : float
        Of the weights, while `training`.
    causal : bool
        Query i sees keys 0 to i only.
    return_softmax : bool
        Return the weights ``[batch, heads, queries, keys]`` as well, and not None.
    fixed_seed_offset : None
        `paddle.seed` says what is drawn.
    rng_name : str
        Accepted; there is one generator.
    softmax_scale : float, optional
        ``width ** -0.5`` when not given.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> q, k = paddle.zeros([1, 1, 1, 2]), paddle.zeros([1, 2, 1, 2])
    >>> v = paddle.to_tensor([[[[1.0]], [[3.0]]]])
    >>> out, weights = flash_attention(q, k, v, return_softmax=True)
    >>> out.item(), weights.tolist()
    (2.0, [[[[0.5, 0.5]]]])
    """
    op = "flash_attention"
    named = (("query", query), ("key", key), ("value", value))
    query, key, value = (as_floats(op, x, argument) for argument, x in named)
    shapes = [spec_of(x).shape for x in (query, key, value)]
    if any(len(s) != 4 for s in shapes):
        raise ShapeError(
            f"{op}: query, key and value must all be [batch, sequence, heads, width], got "
            f"{', '.join(map(format_shape, shapes))}"
        )
    return _attended(
        op, query, key, value, dropout, causal, return_softmax, (fixed_seed_offset, rng_name),
        training, softmax_scale,
    )  # fmt: skip


@atomic
def flash_attn_qkvpacked(
    qkv: Any,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: None = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`flash_attention` of queries, keys and values in one array.

    Parameters
    ----------
    qkv : Tensor or Variable
        ``[batch, sequence, n + 2, heads, width]``: the queries, of n times as many heads, the keys,
        the values.
    dropout, causal, return_softmax, fixed_seed_offset, rng_name, training
        As of `flash_attention`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> out, _ = flash_attn_qkvpacked(paddle.ones([1, 2, 3, 4, 8]))
    >>> out.shape
    paddle.Size([1, 2, 4, 8])
    """
    op = "flash_attn_qkvpacked"
    qkv = as_floats(op, qkv, "qkv")
    shape = spec_of(qkv).shape
    if len(shape) != 5 or isinstance(shape[2], Dim) or shape[2] < 3:
        raise ShapeError(
            f"{op}: qkv must be [batch, sequence, n + 2, heads, width], n at least 1, got "
            f"{format_shape(shape)}"
        )
    every = slice(None)
    query = ops.flatten_axes(ops.getitem(qkv, key=(every, every, slice(None, -2))), start=2, stop=3)
    key, value = (ops.getitem(qkv, key=(every, every, k)) for k in (-2, -1))
    return _attended(
        op,
        query,
        key,
        value,
        dropout,
        causal,
        return_softmax,
        (fixed_seed_offset, rng_name),
        training,
        None,
    )
