"""Layers of encoders and decoders: attention, then two linear maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import flag, integer, number
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.common import Linear
from autograd_engine.nn.layer.dropout import Dropout
from autograd_engine.nn.layer.norm.layer_norm import LayerNorm
from autograd_engine.nn.layer.transformer.attention import (
    Cache,
    MultiHeadAttention,
    StaticCache,
    unnamed,
)

__all__ = ["Block", "TransformerDecoderLayer", "TransformerEncoderLayer"]


def _attrs(layer: Layer, argument: str, attr: Any, parts: Sequence[str]) -> list[Any]:
    """One attribute for each part of a layer, from a list or from one for all."""
    if not isinstance(attr, (list, tuple)):
        unnamed(layer, **{argument: attr})
        return [attr] * len(parts)
    if len(attr) != len(parts):
        raise ArgumentError(
            f"{type(layer).__name__}: {argument} as a list must have {len(parts)} entries, for "
            f"{', '.join(parts)}; got {len(attr)}"
        )
    for part, one in zip(parts, attr, strict=True):
        unnamed(layer, **{f"{argument} of {part}": one})
    return list(attr)


def _activation(layer: Layer, activation: Any) -> Callable[[Any], Any]:
    function = getattr(F, activation, None) if isinstance(activation, str) else None
    if not callable(function) or activation not in dir(F):
        raise ArgumentError(
            f"{type(layer).__name__}: activation must be the name of a function of nn.functional, "
            f"such as 'relu' or 'gelu'; got {activation!r}"
        )
    return function


class Block(Layer):
    """What layers of encoders and decoders share: attention, then two linear maps, each of which is
    normalised, dropped out, and added to what it was given.
    """

    _attended: ClassVar[tuple[str, ...]]  # the attentions
    self_attn: MultiHeadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        # What a copy is made with; see `_copies`.
        config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        self._config = config
        integer(self, "d_model", d_model)
        integer(self, "nhead", nhead)
        integer(self, "dim_feedforward", dim_feedforward)
        number(self, "dropout", dropout, least=0, most=1)
        number(self, "layer_norm_eps", layer_norm_eps, least=0)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        number(self, "attn_dropout", attn_dropout, least=0, most=1)
        number(self, "act_dropout", act_dropout, least=0, most=1)
        self.normalize_before = flag(self, "normalize_before", normalize_before)
        parts = (*self._attended, "the linear maps")
        weights = _attrs(self, "weight_attr", weight_attr, parts)
        biases = _attrs(self, "bias_attr", bias_attr, parts)
        for name, weight, bias in zip(self._attended, weights, biases, strict=False):
            attention = MultiHeadAttention(
                d_model, nhead, attn_dropout, weight_attr=weight, bias_attr=bias
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, weights[-1], biases[-1])
        self.dropout = Dropout(act_dropout)
        self.linear2 = Linear(dim_feedforward, d_model, weights[-1], biases[-1])
        steps = range(1, len(parts) + 1)
        for k in steps:
            setattr(self, f"norm{k}", LayerNorm(d_model, layer_norm_eps))
        for k in steps:
            setattr(self, f"dropout{k}", Dropout(dropout))
        self.activation = _activation(self, activation)

    def _before(self, norm: Layer, x: Any) -> Any:
        return norm(x) if self.normalize_before else x

    def _after(self, norm: Layer, x: Any) -> Any:
        return x if self.normalize_before else norm(x)

    def _feed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(Block):
    """Self-attention, then two linear maps with an activation between them.

    Parameters
    ----------
    d_model : int
        Width of what it takes and gives.
    nhead : int
        Heads of the attention; divides `d_model`.
    dim_feedforward : int
        Width between the two linear maps.
    dropout : float
        Of what attention and linear maps add.
    activation : str
        A function of `nn.functional`.
    attn_dropout, act_dropout : float, optional
        Of the weights of the attention, and after the activation; by default `dropout`.
    normalize_before : bool
        Normalise what attention and linear maps are given, instead of the sum.
    weight_attr, bias_attr : attribute of parameters, or list of two, optional
        Of the linear maps; in a list the first is for those of the attention.
    layer_norm_eps : float

    Raises
    ------
    ArgumentError

    Notes
    -----
    A call takes ``src [batch, steps, d_model]`` and `src_mask`, as `MultiHeadAttention` takes it.
    With a cache of `gen_cache` it returns the result and the cache for the next call.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.TransformerEncoderLayer(8, 2, 16)
    >>> layer(paddle.ones([1, 3, 8])).shape
    paddle.Size([1, 3, 8])
    """

    _attended = ("self_attn",)

    def forward(self, src: Any, src_mask: Any = None, cache: Cache | None = None) -> Any:
        x = self._before(self.norm1, src)
        added, cache = _attend(self.self_attn, x, x, src_mask, cache)
        src = self._after(self.norm1, src + self.dropout1(added))
        added = self._feed_forward(self._before(self.norm2, src))
        src = self._after(self.norm2, src + self.dropout2(added))
        return src if cache is None else (src, cache)

    def gen_cache(self, src: Any) -> Cache:
        """An empty cache for the batch of `src`."""
        return self.self_attn.gen_cache(src)


class TransformerDecoderLayer(Block):
    """Self-attention, attention to the memory, then two linear maps with an activation.

    Parameters are those of `TransformerEncoderLayer`; lists of attributes have three entries, for
    self-attention, attention to the memory, and the linear maps.

    Raises
    ------
    ArgumentError

    Notes
    -----
    A call takes ``tgt [batch, steps, d_model]`` and ``memory [batch, keys, d_model]``, with masks
    `tgt_mask` and `memory_mask` as `MultiHeadAttention` takes them. With `cache`, the pair that
    `gen_cache` made, it returns the result and the pair for the next call.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.TransformerDecoderLayer(8, 2, 16)
    >>> layer(paddle.ones([1, 3, 8]), paddle.ones([1, 5, 8])).shape
    paddle.Size([1, 3, 8])
    """

    _attended = ("self_attn", "cross_attn")
    cross_attn: MultiHeadAttention
    norm3: LayerNorm
    dropout3: Dropout

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        cache: tuple[Cache, StaticCache] | None = None,
    ) -> Any:
        own, fixed = (None, None) if cache is None else _pair(cache)
        x = self._before(self.norm1, tgt)
        added, own = _attend(self.self_attn, x, x, tgt_mask, own)
        tgt = self._after(self.norm1, tgt + self.dropout1(added))
        x = self._before(self.norm2, tgt)
        added, fixed = _attend(self.cross_attn, x, memory, memory_mask, fixed)
        tgt = self._after(self.norm2, tgt + self.dropout2(added))
        added = self._feed_forward(self._before(self.norm3, tgt))
        tgt = self._after(self.norm3, tgt + self.dropout3(added))
        return tgt if cache is None else (tgt, (own, fixed))

    def gen_cache(self, memory: Any) -> tuple[Cache, StaticCache]:
        """An empty cache of the steps, and the keys and values of `memory`."""
        fixed = self.cross_attn.gen_cache(memory, memory, MultiHeadAttention.StaticCache)
        return self.self_attn.gen_cache(memory), fixed


def _attend(attention: Layer, x: Any, to: Any, mask: Any, cache: Any) -> tuple[Any, Any]:
    """What the attention makes of `x`, and the cache for the next call where there is one."""
    found = attention(x, to, to, mask, cache)
    if not isinstance(found, tuple):
        return found, None
    return found[0], None if cache is None else found[-1]


def _pair(cache: Any) -> Any:
    if not isinstance(cache, (tuple, list)) or isinstance(cache, Cache) or len(cache) != 2:
        raise ArgumentError(
            "TransformerDecoderLayer: cache must be the pair that gen_cache(memory) returns, got "
            f"{type(cache).__name__}"
        )
    return cache
