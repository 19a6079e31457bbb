"""The transformer: encoder, decoder, and both together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import MOST_LAYERS, flag, integer, number
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.common import Linear
from autograd_engine.nn.layer.containers import LayerList
from autograd_engine.nn.layer.dropout import Dropout
from autograd_engine.nn.layer.normalization import LayerNorm
from autograd_engine.nn.layer.transformer.attention import (
    Cache,
    MultiHeadAttention,
    StaticCache,
    additive,
    unnamed,
)
from autograd_engine.tensor.creation import full
from autograd_engine.tensor.diagonal import triu

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


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

    Raises
    ------
    ArgumentError
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


class _Stack(Layer):
    """A layer, and copies of it with parameters of their own, one after another.

    Parameters
    ----------
    num_layers : int
    norm : Layer, optional
        Applied to the result.

    Raises
    ------
    ArgumentError
    """

    _of: type[Block]

    def __init__(self, layer: Any, num_layers: int, norm: Layer | None) -> None:
        super().__init__()
        number = integer(self, "num_layers", num_layers, 0, MOST_LAYERS)
        if not isinstance(layer, Layer) or not hasattr(layer, "_config"):
            given = layer.__name__ if isinstance(layer, type) else type(layer).__name__
            raise ArgumentError(
                f"{type(self).__name__}: the layer must be a {self._of.__name__}, which can be "
                f"copied; got {given}. Others are stacked by paddle.nn.LayerList"
            )
        if norm is not None and not isinstance(norm, Layer):
            raise ArgumentError(
                f"{type(self).__name__}: norm must be a layer or None, got {type(norm).__name__}"
            )
        self.layers = LayerList([layer if k == 0 else _copy(layer) for k in range(number)])
        self.num_layers = number
        self.norm = norm

    def _caches(self, cache: Any) -> Any:
        """A cache for each layer; None for each where there are none."""
        if cache is None:
            return [None] * self.num_layers
        if not isinstance(cache, (list, tuple)) or len(cache) != self.num_layers:
            raise ArgumentError(
                f"{type(self).__name__}: cache must be the list that gen_cache returns, of "
                f"{self.num_layers} entries; got {type(cache).__name__}"
                + (f" of {len(cache)}" if isinstance(cache, (list, tuple)) else "")
            )
        return cache

    def _run(self, x: Any, cache: Any, call: Callable[[Any, Any, Any], Any]) -> Any:
        """`x` through all layers, and the norm; with the new caches where there were caches."""
        new = []
        for layer, own in zip(self.layers, self._caches(cache), strict=True):
            x = call(layer, x, own)
            if cache is not None:
                x, own = x
                new.append(own)
        if self.norm is not None:
            x = self.norm(x)
        return x if cache is None else (x, new)


def _copy(layer: Any) -> Any:
    """A layer made as that one was, with parameters of its own."""
    try:
        return type(layer)(**layer._config)
    except TypeError as error:
        raise ArgumentError(
            f"{type(layer).__name__} cannot be copied: {error}; let its __init__ take what "
            "its _config holds, or stack such layers with paddle.nn.LayerList"
        ) from error


class TransformerEncoder(_Stack):
    """Encoder layers, one after another.

    Parameters
    ----------
    encoder_layer : TransformerEncoderLayer
        The first. The others are made with the same arguments, and have parameters of their own,
        which are newly initialised.

    Notes
    -----
    A call takes ``src [batch, steps, d_model]``, `src_mask`, and as `cache` the list that
    `gen_cache` made; with it the result is a pair, with the list for the next call.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.TransformerEncoderLayer(8, 2, 16)
    >>> encoder = paddle.nn.TransformerEncoder(layer, 2)
    >>> encoder(paddle.ones([1, 3, 8])).shape
    paddle.Size([1, 3, 8])
    """

    _of = TransformerEncoderLayer

    def __init__(
        self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Layer | None = None
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def forward(self, src: Any, src_mask: Any = None, cache: Any = None) -> Any:
        mask = additive(self, src_mask, src, "src_mask")
        return self._run(src, cache, lambda layer, x, own: layer(x, mask, own))

    def gen_cache(self, src: Any) -> list[Cache]:
        """An empty cache for each layer, for the batch of `src`."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoder(_Stack):
    """Decoder layers, one after another.

    Parameters
    ----------
    decoder_layer : TransformerDecoderLayer
        The first. The others are made with the same arguments, and have parameters of their own,
        which are newly initialised.

    Notes
    -----
    A call takes ``tgt [batch, steps, d_model]``, ``memory [batch, keys, d_model]``, `tgt_mask`,
    `memory_mask`, and as `cache` the list that `gen_cache` made; with it the result is a pair, with
    the list for the next call.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.TransformerDecoderLayer(8, 2, 16)
    >>> decoder = paddle.nn.TransformerDecoder(layer, 2)
    >>> decoder(paddle.ones([1, 3, 8]), paddle.ones([1, 5, 8])).shape
    paddle.Size([1, 3, 8])
    """

    _of = TransformerDecoderLayer

    def __init__(
        self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Layer | None = None
    ) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        cache: Any = None,
    ) -> Any:
        own_mask = additive(self, tgt_mask, tgt, "tgt_mask")
        mask = additive(self, memory_mask, tgt, "memory_mask")
        return self._run(tgt, cache, lambda layer, x, own: layer(x, memory, own_mask, mask, own))

    def gen_cache(self, memory: Any, do_zip: bool = False) -> list[Any]:
        """For each layer an empty cache, and the keys and values of `memory`.

        Parameters
        ----------
        memory : Tensor or Variable
        do_zip : bool
            Return all caches of the steps, and all of the memory, instead of pairs.
        """
        pairs = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*pairs, strict=True)) if flag(self, "do_zip", do_zip) else pairs


class Transformer(Layer):
    """Encoder and decoder; Vaswani and others 2017.

    Parameters
    ----------
    d_model, nhead : int
        As `TransformerEncoderLayer` takes them, like those that follow `num_decoder_layers`.
    num_encoder_layers, num_decoder_layers : int
    dim_feedforward : int
    dropout : float
    activation : str
    attn_dropout, act_dropout : float, optional
    normalize_before : bool
    weight_attr, bias_attr : attribute of parameters, or list, optional
        Of the linear maps. A list has one entry for all; two, for those of attentions and the
        others; or three, for self-attention, attention to the memory and the others.
    custom_encoder, custom_decoder : Layer, optional
        In the place of the encoder, called with ``(src, src_mask)``, and of the decoder, with
        ``(tgt, memory, tgt_mask, memory_mask)``.

    Raises
    ------
    ArgumentError, ShapeError

    Notes
    -----
    A call takes ``src [batch, keys, d_model]``, ``tgt [batch, steps, d_model]`` and the masks
    `src_mask`, `tgt_mask` and `memory_mask`, as `MultiHeadAttention` takes them.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> model = paddle.nn.Transformer(8, 2, 1, 1, 16)
    >>> mask = model.generate_square_subsequent_mask(3)
    >>> model(paddle.ones([1, 5, 8]), paddle.ones([1, 3, 8]), tgt_mask=mask).shape
    paddle.Size([1, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Layer | None = None,
        custom_decoder: Layer | None = None,
    ) -> None:
        super().__init__()
        weights = self._spread("weight_attr", weight_attr)
        biases = self._spread("bias_attr", bias_attr)
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout)
        for name, custom in (("encoder", custom_encoder), ("decoder", custom_decoder)):
            if custom is not None and not isinstance(custom, Layer):
                raise ArgumentError(
                    f"Transformer: custom_{name} must be a layer, got {type(custom).__name__}"
                )
        if custom_encoder is None:
            first = TransformerEncoderLayer(*sizes, normalize_before, weights[0], biases[0])
            norm = LayerNorm(d_model)
            self.encoder: Layer = TransformerEncoder(first, num_encoder_layers, norm)
        else:
            self.encoder = custom_encoder
        if custom_decoder is None:
            begun = TransformerDecoderLayer(*sizes, normalize_before, weights[1], biases[1])
            norm = LayerNorm(d_model)
            self.decoder: Layer = TransformerDecoder(begun, num_decoder_layers, norm)
        else:
            self.decoder = custom_decoder
        self.d_model = d_model
        self.nhead = nhead

    def _spread(self, argument: str, attr: Any) -> tuple[Any, Any]:
        """What layers of the encoder are given, and those of the decoder."""
        if not isinstance(attr, (list, tuple)):
            return attr, attr
        if len(attr) not in (1, 2, 3):
            raise ArgumentError(
                f"Transformer: {argument} as a list must have 1, 2 or 3 entries, got {len(attr)}"
            )
        first, last = attr[0], attr[-1]
        return [first, last], [first, attr[1] if len(attr) == 3 else first, last]

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
    ) -> Any:
        memory = self.encoder(src, src_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask)

    def generate_square_subsequent_mask(self, length: int | Tensor) -> Any:
        """What a step adds to the scores of later ones, minus infinity, and 0 for all others.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> paddle.nn.Transformer(8, 2, 1, 1, 16).generate_square_subsequent_mask(2).tolist()
        [[0.0, -inf], [0.0, 0.0]]
        """
        if isinstance(length, Tensor) and length.size == 1:
            steps = integer(self, "length", length.item(), least=0)
        else:
            steps = integer(self, "length", length, least=0)
        return triu(full([steps, steps], -math.inf), 1)
