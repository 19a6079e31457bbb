"""Layers that resample images, or move elements between channels and places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import (
    Plain,
    choice,
    flag,
    integer,
    number,
    per_axis,
    sequence,
)

__all__ = [
    "ChannelShuffle",
    "Fold",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2D",
    "UpsamplingNearest2D",
]

_MODES = ("nearest", "linear", "bilinear", "trilinear", "bicubic", "area")
_LAYOUTS = ("NCL", "NCW", "NLC", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC")


class _Resized(Plain):
    """Images of another size, which is given, or a factor of theirs."""

    def __init__(self, size: Any, scale_factor: Any, name: str | None) -> None:
        super().__init__(name)
        if (size is None) == (scale_factor is None):
            raise ArgumentError(
                f"{type(self).__name__}: give one of size and scale_factor, got "
                f"{'neither' if size is None else 'both'}"
            )
        if size is not None:
            for n in sequence(size):
                integer(self, "size", n)
        else:
            for s in sequence(scale_factor):
                number(self, "scale_factor", s, above=0.0)
        self.size = size
        self.scale_factor = scale_factor

    def _always_shown(self) -> tuple[str, ...]:
        return ("size" if self.scale_factor is None else "scale_factor", *self._shown)


class Upsample(_Resized):
    """Images, sequences or volumes of another size; see `nn.functional.interpolate`.

    Parameters
    ----------
    size : int or sequence of int, optional
        Of the result, without N and C.
    scale_factor : float or sequence of float, optional
        Instead of `size`.
    mode : {"nearest", "linear", "bilinear", "trilinear", "bicubic", "area"}
    align_corners : bool
    align_mode : {0, 1}
    data_format : str, optional
    recompute_scale_factor : bool, optional

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Upsample(scale_factor=2)(paddle.to_tensor([[[[0.0, 1.0]]]])).tolist()
    [[[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]]]
    """

    _shown = ("mode", "align_corners", "align_mode", "data_format")

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(size, scale_factor, name)
        known = (*_MODES, *(m.upper() for m in _MODES))
        self.mode = choice(self, "mode", mode, known)
        self.align_corners = flag(self, "align_corners", align_corners)
        self.align_mode = choice(self, "align_mode", align_mode, (0, 1))
        self.data_format = choice(self, "data_format", data_format, (None, *_LAYOUTS))
        self.recompute_scale_factor = choice(
            self, "recompute_scale_factor", recompute_scale_factor, (None, True, False)
        )
        if align_corners and mode.lower() in ("nearest", "area"):
            raise ArgumentError(
                f"Upsample: align_corners has no meaning with mode {mode!r}; leave it out"
            )

    def forward(self, x: Any) -> Tensor:
        return F.interpolate(
            x,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.align_mode,
            self.data_format,
            self.recompute_scale_factor,
        )


class _Resized2D(_Resized):
    """Images of another size.

    Parameters
    ----------
    size : int or two ints, optional
    scale_factor : float or two floats, optional
        Instead of `size`.
    data_format : {"NCHW", "NHWC"}
    """

    _shown = ("data_format",)

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(size, scale_factor, name)
        self.data_format = choice(self, "data_format", data_format, ("NCHW", "NHWC"))


class UpsamplingNearest2D(_Resized2D):
    """Images of another size, in which each pixel is the nearest of those there were.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.UpsamplingNearest2D([1, 4])
    >>> layer(paddle.to_tensor([[[[0.0, 1.0]]]])).tolist()
    [[[[0.0, 0.0, 1.0, 1.0]]]]
    """

    def forward(self, x: Any) -> Tensor:
        return F.interpolate(
            x, self.size, self.scale_factor, "nearest", data_format=self.data_format
        )


class UpsamplingBilinear2D(_Resized2D):
    """Images of another size with lines between the pixels; the corners stay where they are.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.UpsamplingBilinear2D([1, 3])
    >>> layer(paddle.to_tensor([[[[0.0, 1.0]]]])).tolist()
    [[[[0.0, 0.5, 1.0]]]]
    """

    def forward(self, x: Any) -> Tensor:
        return F.interpolate(
            x, self.size, self.scale_factor, "bilinear", True, data_format=self.data_format
        )


class PixelShuffle(Plain):
    """Channels as pixels: [N, C r r, H, W] becomes [N, C, H r, W r].

    Parameters
    ----------
    upscale_factor : int
        r
    data_format : {"NCHW", "NHWC"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.PixelShuffle(2)(paddle.arange(4.0).reshape([1, 4, 1, 1])).tolist()
    [[[[0.0, 1.0], [2.0, 3.0]]]]
    """

    _shown = ("_upscale_factor",)
    _shown_unless = (("_data_format", "NCHW"),)

    def __init__(
        self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(name)
        self._upscale_factor = integer(self, "upscale_factor", upscale_factor)
        self._data_format = choice(self, "data_format", data_format, ("NCHW", "NHWC"))

    def forward(self, x: Any) -> Tensor:
        return F.pixel_shuffle(x, self._upscale_factor, self._data_format)


class PixelUnshuffle(Plain):
    """Pixels as channels: [N, C, H r, W r] becomes [N, C r r, H, W].

    Parameters
    ----------
    downscale_factor : int
        r
    data_format : {"NCHW", "NHWC"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.PixelUnshuffle(2)(paddle.arange(4.0).reshape([1, 1, 2, 2])).tolist()
    [[[[0.0]], [[1.0]], [[2.0]], [[3.0]]]]
    """

    _shown = ("_downscale_factor",)
    _shown_unless = (("_data_format", "NCHW"),)

    def __init__(
        self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(name)
        self._downscale_factor = integer(self, "downscale_factor", downscale_factor)
        self._data_format = choice(self, "data_format", data_format, ("NCHW", "NHWC"))

    def forward(self, x: Any) -> Tensor:
        return F.pixel_unshuffle(x, self._downscale_factor, self._data_format)


class ChannelShuffle(Plain):
    """Channels dealt out anew: those at one place of each of `groups` groups become neighbours.

    Parameters
    ----------
    groups : int
    data_format : {"NCHW", "NHWC"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.arange(4.0).reshape([1, 4, 1, 1])
    >>> paddle.nn.ChannelShuffle(2)(x).flatten().tolist()
    [0.0, 2.0, 1.0, 3.0]
    """

    _shown = ("_groups",)
    _shown_unless = (("_data_format", "NCHW"),)

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__(name)
        self._groups = integer(self, "groups", groups)
        self._data_format = choice(self, "data_format", data_format, ("NCHW", "NHWC"))

    def forward(self, x: Any) -> Tensor:
        return F.channel_shuffle(x, self._groups, self._data_format)


class _Columns(Plain):
    _shown = (
        "kernel_size=kernel_sizes",
        "dilation=dilations",
        "padding=paddings",
        "stride=strides",
    )

    def __init__(
        self,
        kernel_sizes: int | Sequence[int],
        dilations: int | Sequence[int] = 1,
        paddings: int | Sequence[int] = 0,
        strides: int | Sequence[int] = 1,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.kernel_sizes = per_axis(self, "kernel_sizes", kernel_sizes, 2)
        self.dilations = per_axis(self, "dilations", dilations, 2)
        four = isinstance(paddings, (list, tuple)) and len(paddings) == 4
        self.paddings = per_axis(self, "paddings", paddings, 4 if four else 2, least=0)
        self.strides = per_axis(self, "strides", strides, 2)


class Unfold(_Columns):
    """Each window of ``[N, C, H, W]`` as a column: ``[N, C kh kw, windows]``.

    See `nn.functional.unfold`.

    Parameters
    ----------
    kernel_sizes, dilations, strides : int or two ints
    paddings : int, two ints, or four ints (top, left, bottom, right)

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Unfold(2)(paddle.arange(6.0).reshape([1, 1, 2, 3])).tolist()
    [[[0.0, 1.0], [1.0, 2.0], [3.0, 4.0], [4.0, 5.0]]]
    """

    def forward(self, input: Any) -> Tensor:
        return F.unfold(input, self.kernel_sizes, self.strides, self.paddings, self.dilations)


class Fold(_Columns):
    """Images from the columns of their windows, added up where these overlap.

    See `nn.functional.fold`.

    Parameters
    ----------
    output_sizes : int or two ints
        Of the images.
    kernel_sizes, dilations, strides, paddings
        As of `Unfold`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Fold([2, 3], 2)(paddle.ones([1, 4, 2])).tolist()
    [[[[1.0, 2.0, 1.0], [1.0, 2.0, 1.0]]]]
    """

    def __init__(
        self,
        output_sizes: int | Sequence[int],
        kernel_sizes: int | Sequence[int],
        dilations: int | Sequence[int] = 1,
        paddings: int | Sequence[int] = 0,
        strides: int | Sequence[int] = 1,
        name: str | None = None,
    ) -> None:
        super().__init__(kernel_sizes, dilations, paddings, strides, name)
        self.output_sizes = per_axis(self, "output_sizes", output_sizes, 2)

    def forward(self, input: Any) -> Tensor:
        return F.fold(
            input,
            self.output_sizes,
            self.kernel_sizes,
            self.strides,
            self.paddings,
            self.dilations,
        )
