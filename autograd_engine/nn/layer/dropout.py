"""Dropout in its forms: all do nothing once `eval` was called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import Plain, along, choice, number
from autograd_engine.nn.layer.spatial import Spatial

__all__ = ["AlphaDropout", "Dropout", "Dropout2D", "Dropout3D", "FeatureAlphaDropout"]


class _Dropout(Plain):
    """What is set to 0 with probability `p` while training.

    Parameters
    ----------
    p : float
        In [0, 1].
    """

    _shown: ClassVar[tuple[str, ...]] = ("p",)

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__(name)
        self.p = number(self, "p", p, least=0, most=1)

    def forward(self, input: Any) -> Tensor:
        return self._function(input, self.p, self.training)


class Dropout(_Dropout):
    """Each element set to 0 with probability `p` while training; see `nn.functional.dropout`.

    Parameters
    ----------
    inplace : bool
        Make the input itself the result.
    axis : int or sequence of int, optional
        Draw for each position on these axes, and share what was drawn along the others.
    mode : {"upscale_in_train", "downscale_in_infer"}
        Divide by 1 - p while training, or multiply by 1 - p when not.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.Dropout(0.5)
    >>> sorted(set(layer(paddle.ones([100])).tolist()))
    [0.0, 2.0]
    >>> layer.eval()(paddle.ones([3])).tolist()
    [1.0, 1.0, 1.0]
    """

    _shown = ("p", "axis", "mode")

    def __init__(
        self,
        p: float = 0.5,
        inplace: bool = False,
        axis: int | Sequence[int] | None = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        super().__init__(p, name)
        if not isinstance(inplace, bool):
            raise ArgumentError(
                f"Dropout: inplace must be True or False, got {inplace!r}; an axis is given as "
                "axis=..."
            )
        self.inplace = inplace
        several = isinstance(axis, (list, tuple))
        for a in axis if several else () if axis is None else (axis,):  # type: ignore[union-attr]
            along(self, "axis", a)
        self.axis = axis
        self.mode = choice(self, "mode", mode, ("upscale_in_train", "downscale_in_infer"))

    def forward(self, input: Any) -> Tensor:
        return F.dropout(input, self.p, self.axis, self.training, self.inplace, self.mode)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, inplace={self.inplace}"


class _ChannelDropout(Spatial, _Dropout):
    _shown = ("p", "data_format")
    _sections = """
    Parameters
    ----------
    p : float
        In [0, 1].
    data_format : {$layouts}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> out = paddle.nn.$name()(paddle.ones([1, 8, $fours]))
    >>> set(out.flatten(2).mean(-1).flatten().tolist()) <= {0.0, 2.0}
    True
    """

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(p, name)
        self.data_format = choice(self, "data_format", data_format, self._layouts)

    def forward(self, input: Any) -> Tensor:
        return self._function(input, self.p, self.training, self.data_format)


class Dropout2D(_ChannelDropout, axes=2, function=F.dropout2d):
    """Each channel of an image set to 0 as a whole with probability `p` while training."""


class Dropout3D(_ChannelDropout, axes=3, function=F.dropout3d):
    """Each channel of a volume set to 0 as a whole with probability `p` while training."""


class AlphaDropout(_Dropout, function=F.alpha_dropout):
    """Dropout that leaves mean and variance of selu's outputs as they are.

    See `nn.functional.alpha_dropout`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.AlphaDropout().eval()(paddle.ones([2])).tolist()
    [1.0, 1.0]
    """


class FeatureAlphaDropout(_Dropout, function=F.feature_alpha_dropout):
    """`AlphaDropout` of whole channels of ``[N, C, ...]``.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.FeatureAlphaDropout().eval()(paddle.ones([1, 2])).tolist()
    [[1.0, 1.0]]
    """
