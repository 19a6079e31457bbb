"""Attention of several heads, and what it keeps while a sequence is decoded step by step."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias, overload

from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import BOOLS, EXACT, FLOAT16, FLOATS
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import flag, integer, number
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.common import Linear
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.creation import zeros
from autograd_engine.tensor.joining import concat
from autograd_engine.tensor.linalg.products import matmul
from autograd_engine.tensor.shape import reshape

__all__ = ["MultiHeadAttention"]


class Cache(NamedTuple):
    """Keys and values of all steps so far, ``[batch, heads, steps, width]``; they grow."""

    k: Any
    v: Any


class StaticCache(NamedTuple):
    """Keys and values of a sequence that does not change, ``[batch, heads, steps, width]``."""

    k: Any
    v: Any


_UNSEEN = -1e9


def _turned(x: Any) -> Any:
    """[batch, steps, heads, width] as [batch, heads, steps, width], and back."""
    return ops.transpose(x, perm=(0, 2, 1, 3))


def additive(layer: Layer, mask: Any, like: Any, argument: str = "attn_mask") -> Any:
    """What a mask adds to the scores: floats as they are, -1e9 where bools or ints are 0."""
    if mask is None:
        return None
    mask = as_operand(type(layer).__name__, mask, argument)
    dtype = spec_of(mask).dtype
    if dtype in FLOATS:
        return mask if dtype == spec_of(like).dtype else ops.cast_like(mask, like)
    if dtype not in EXACT:
        raise DTypeError(
            f"{type(layer).__name__}: {argument} must hold bools, ints or floats, got {dtype.name}"
        )
    if dtype not in BOOLS:
        mask = ops.not_equal(mask, 0)
    least = -6e4 if spec_of(like).dtype == FLOAT16 else _UNSEEN  # the range of float16
    return (ops.cast_like(mask, like) - 1.0) * -least


class MultiHeadAttention(Layer):
    """Averages of values by how queries and keys fit, for several heads at once.

    Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser and Polosukhin 2017.

    Parameters
    ----------
    embed_dim : int
        Width of queries and of the result.
    num_heads : int
        Divides `embed_dim`; each head is ``embed_dim // num_heads`` wide.
    dropout : float
        Of the weights of the average, while training.
    kdim, vdim : int, optional
        Widths of keys and values; by default `embed_dim`.
    need_weights : bool
        Also return the weights.
    weight_attr : ParamAttr or Initializer, optional
        Of the four linear maps.
    bias_attr : ParamAttr, Initializer or bool, optional
        False for no biases.

    Attributes
    ----------
    q_proj, k_proj, v_proj, out_proj : Linear

    Raises
    ------
    ArgumentError

    Notes
    -----
    A call takes ``query [batch, queries, embed_dim]``, ``key [batch, keys, kdim]`` and ``value
    [batch, keys, vdim]``; `key` is `query` and `value` is `key` where they are not given.
    `attn_mask` broadcasts to ``[batch, num_heads, queries, keys]``: bools and ints say which keys a
    query sees (not 0), floats are added to the scores. With `cache`, a `Cache` that `gen_cache`
    made, keys and values follow those of earlier calls; a `StaticCache` takes their place.

    The result is ``[batch, queries, embed_dim]``; with `need_weights` or a cache a tuple of it,
    the weights ``[batch, num_heads, queries, keys]``, and the cache for the next call.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.MultiHeadAttention(8, 2)
    >>> layer(paddle.ones([1, 3, 8])).shape
    paddle.Size([1, 3, 8])
    """

    Cache: TypeAlias = Cache
    StaticCache: TypeAlias = StaticCache

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        self.embed_dim = integer(self, "embed_dim", embed_dim)
        self.num_heads = integer(self, "num_heads", num_heads)
        self.kdim = embed_dim if kdim is None else integer(self, "kdim", kdim)
        self.vdim = embed_dim if vdim is None else integer(self, "vdim", vdim)
        self.dropout = number(self, "dropout", dropout, least=0, most=1)
        self.need_weights = flag(self, "need_weights", need_weights)
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            most = min(num_heads, embed_dim)
            below = max(n for n in range(1, most + 1) if embed_dim % n == 0)
            raise ArgumentError(
                f"MultiHeadAttention: embed_dim {embed_dim} must be a multiple of num_heads "
                f"{num_heads}; take {below} heads, or embed_dim {num_heads * (self.head_dim + 1)}"
            )
        unnamed(self, weight_attr=weight_attr, bias_attr=bias_attr)
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def forward(
        self,
        query: Any,
        key: Any = None,
        value: Any = None,
        attn_mask: Any = None,
        cache: Cache | StaticCache | None = None,
    ) -> Any:
        query = self._sequence("query", query, self.embed_dim)
        key = query if key is None else key
        value = key if value is None else value
        q = self._split(self.q_proj(query))
        if cache is None:
            k, v = self._keys_and_values(key, value)
        elif isinstance(cache, StaticCache):
            k, v = map(_turned, cache)
        else:
            cache = Cache(*self._joined(cache, *self.compute_kv(key, value)))
            k, v = map(_turned, cache)
        mask, scale = additive(self, attn_mask, q), self.head_dim**-0.5
        if self.dropout and self.training:
            q, k, v = map(_turned, (q, k, v))
            scores = matmul(q * scale, k, transpose_y=True)
            weights = F.softmax(scores if mask is None else scores + mask)
            weights = F.dropout(weights, self.dropout)
            mixed = _turned(matmul(weights, v))
        elif mask is None:
            mixed, weights = ops.attention(q, k, v, scale=scale)
        else:
            mixed, weights = ops.biased_attention(q, k, v, mask, scale=scale)
        out = self.out_proj(reshape(mixed, [0, 0, self.embed_dim]))
        more = [*([weights] if self.need_weights else []), *([] if cache is None else [cache])]
        return (out, *more) if more else out

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """Keys and values as the heads see them, ``[batch, heads, steps, width]``."""
        k, v = self._keys_and_values(key, value)
        return _turned(k), _turned(v)

    def _keys_and_values(self, key: Any, value: Any) -> tuple[Any, Any]:
        key = self._sequence("key", key, self.kdim)
        value = self._sequence("value", value, self.vdim)
        return self._split(self.k_proj(key)), self._split(self.v_proj(value))

    @overload
    def gen_cache(self, key: Any, value: Any = None, type: type[Cache] = ...) -> Cache: ...

    @overload
    def gen_cache(self, key: Any, value: Any, type: type[StaticCache]) -> StaticCache: ...

    @overload
    def gen_cache(self, key: Any, value: Any = None, *, type: type[StaticCache]) -> StaticCache: ...

    def gen_cache(
        self, key: Any, value: Any = None, type: type[Cache] | type[StaticCache] = Cache
    ) -> Cache | StaticCache:
        """What a call takes as `cache`.

        Parameters
        ----------
        key, value : Tensor or Variable
            For a `StaticCache` the sequence that is attended to. For a `Cache` either keys and
            values of steps so far, ``[batch, heads, steps, width]``, or `key` alone, anything with
            the batch on its first axis: nothing is kept yet.
        type : {MultiHeadAttention.Cache, MultiHeadAttention.StaticCache}

        Raises
        ------
        ArgumentError, ShapeError

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> layer = paddle.nn.MultiHeadAttention(8, 2)
        >>> cache = layer.gen_cache(paddle.zeros([1, 0, 8]))
        >>> for step in range(3):
        ...     out, cache = layer(paddle.ones([1, 1, 8]), cache=cache)
        >>> cache.k.shape
        paddle.Size([1, 2, 3, 4])
        """
        if type is StaticCache:
            return StaticCache(*self.compute_kv(key, key if value is None else value))
        if type is not Cache:
            raise ArgumentError(
                "gen_cache: type must be MultiHeadAttention.Cache or MultiHeadAttention."
                f"StaticCache, got {type!r}"
            )
        if value is not None:
            return Cache(key, value)
        spec = spec_of(as_operand("gen_cache", key, "key"))
        if not spec.shape or isinstance(spec.shape[0], Dim):
            raise ShapeError(
                f"gen_cache: key {format_shape(spec.shape)} must have a batch size on its first "
                "axis, and one that is known"
            )
        shape = [spec.shape[0], self.num_heads, 0, self.head_dim]
        return Cache(zeros(shape, spec.dtype.name), zeros(shape, spec.dtype.name))

    def _sequence(self, argument: str, x: Any, width: int) -> Any:
        """`x`, seen to be [batch, steps, width]."""
        x = as_operand("MultiHeadAttention", x, argument)
        shape = spec_of(x).shape
        if len(shape) != 3 or (shape[2] != width and not isinstance(shape[2], Dim)):
            named = {"query": "embed_dim", "key": "kdim", "value": "vdim"}[argument]
            raise ShapeError(
                f"MultiHeadAttention: {argument} must be [batch, steps, {width}], got "
                f"{format_shape(shape)}; the layer was made with {named}={width}"
            )
        return x

    def _split(self, x: Any) -> Any:
        """[batch, steps, heads * width] as [batch, steps, heads, width]."""
        return reshape(x, [0, 0, self.num_heads, self.head_dim])

    def _joined(self, cache: Any, k: Any, v: Any) -> tuple[Any, Any]:
        """Keys and values of earlier calls, and of this one."""
        if not isinstance(cache, Cache):
            raise ArgumentError(
                f"MultiHeadAttention: cache must come from gen_cache, got {type(cache).__name__}"
            )
        return concat([cache.k, k], 2), concat([cache.v, v], 2)


def unnamed(layer: Layer, **attrs: Any) -> None:
    """See to it that no attribute of several parameters gives all of them one name."""
    for argument, attr in attrs.items():
        name = attr if isinstance(attr, str) else getattr(attr, "name", None)
        if name is not None:
            raise ArgumentError(
                f"{type(layer).__name__}: {argument} names one parameter, {name!r}, but goes to "
                "several; leave the name out, as in ParamAttr(initializer=...)"
            )
