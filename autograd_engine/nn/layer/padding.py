"""Layers that make arrays larger at the ends of their axes of space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import Plain, choice, listed, number
from autograd_engine.nn.layer.spatial import Spatial

__all__ = [
    "CircularPad1D",
    "CircularPad2D",
    "CircularPad3D",
    "ConstantPad1D",
    "ConstantPad2D",
    "ConstantPad3D",
    "Pad1D",
    "Pad2D",
    "Pad3D",
    "ReflectionPad1D",
    "ReflectionPad2D",
    "ReflectionPad3D",
    "ReplicationPad1D",
    "ReplicationPad2D",
    "ReplicationPad3D",
    "ZeroPad1D",
    "ZeroPad2D",
    "ZeroPad3D",
]

_MODES = ("constant", "reflect", "replicate", "circular")


class _Pad(Spatial, Plain):
    """In any mode."""

    _shown = ("padding=_pad", "_mode", "_value", "_data_format")
    _sections = """
    Parameters
    ----------
    padding : int or sequence of int
        How many: $ends.
    mode : {"constant", "reflect", "replicate", "circular"}
    value : float
        What they are in mode "constant".
    data_format : {$layouts}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Pad${n}D(1)(paddle.ones([1, 1, $twos])).shape
    paddle.Size([1, 1, $fours])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self._mode = choice(self, "mode", mode, _MODES)
        self._pad = self._numbers(padding)
        self._value = number(self, "value", value, fills=True)
        self._data_format = choice(self, "data_format", data_format, self._layouts)

    def _numbers(self, padding: Any) -> Any:
        padding = listed(padding)
        many = padding if isinstance(padding, (list, tuple)) else [padding] * (2 * self._axes)
        full = 2 * self._axes
        fits = len(many) == full or (self._mode == "constant" and len(many) in range(2, full, 2))
        for p in many if fits else [None]:
            if type(p) is int and p >= 0:
                continue
            ends = ["left", "right", "top", "bottom", "front", "back"][:full]
            fewer = ", or the first pairs of these in mode 'constant'" if full > 2 else ""
            raise ArgumentError(
                f"{type(self).__name__}: padding must be an int of at least 0, or "
                f"{full} of them, [{', '.join(ends)}]{fewer}; got {padding!r}"
            )
        return list(many) if isinstance(many, list) else many

    def forward(self, x: Any) -> Tensor:
        return F.pad(x, self._pad, self._mode, self._value, self._data_format)


class _ConstantPad(_Pad):
    _sections = """
    Parameters
    ----------
    padding, value, data_format
        As of `Pad${n}D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ConstantPad${n}D(1, 2.0)(paddle.ones([1, 1, $twos])).shape
    paddle.Size([1, 1, $fours])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        value: float,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class _PadOfMode(_Pad):
    """In the mode of the class."""

    _mode_of_class: ClassVar[str]
    _sections = """
    Parameters
    ----------
    padding, data_format
        As of `Pad${n}D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.$name(1)(paddle.ones([1, 1, $twos])).shape
    paddle.Size([1, 1, $fours])
    """

    def __init_subclass__(cls, mode: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if mode is not None:
            cls._mode_of_class = mode

    def __init__(
        self, padding: int | Sequence[int], data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, self._mode_of_class, 0.0, data_format, name)


# --- sequences


class Pad1D(_Pad, axes=1):
    """Elements put around sequences; see `nn.functional.pad`."""


class ConstantPad1D(_ConstantPad, axes=1):
    """A number around sequences; see `Pad1D`."""


class CircularPad1D(_PadOfMode, axes=1, mode="circular"):
    """Their other ends around sequences, as if these went on periodically."""


class ReflectionPad1D(_PadOfMode, axes=1, mode="reflect"):
    """Sequences mirrored at their first and last elements."""


class ReplicationPad1D(_PadOfMode, axes=1, mode="replicate"):
    """The first and last elements of sequences repeated around them."""


class ZeroPad1D(_PadOfMode, axes=1, mode="constant"):
    """Zeros around sequences."""


# --- images


class Pad2D(_Pad, axes=2):
    """Elements put around images; see `nn.functional.pad`."""


class ConstantPad2D(_ConstantPad, axes=2):
    """A number around images; see `Pad2D`."""


class CircularPad2D(_PadOfMode, axes=2, mode="circular"):
    """Their other ends around images, as if these went on periodically."""


class ReflectionPad2D(_PadOfMode, axes=2, mode="reflect"):
    """Images mirrored at their first and last elements."""


class ReplicationPad2D(_PadOfMode, axes=2, mode="replicate"):
    """The first and last elements of images repeated around them."""


class ZeroPad2D(_PadOfMode, axes=2, mode="constant"):
    """Zeros around images."""


# --- volumes


class Pad3D(_Pad, axes=3):
    """Elements put around volumes; see `nn.functional.pad`."""


class ConstantPad3D(_ConstantPad, axes=3):
    """A number around volumes; see `Pad3D`."""


class CircularPad3D(_PadOfMode, axes=3, mode="circular"):
    """Their other ends around volumes, as if these went on periodically."""


class ReflectionPad3D(_PadOfMode, axes=3, mode="reflect"):
    """Volumes mirrored at their first and last elements."""


class ReplicationPad3D(_PadOfMode, axes=3, mode="replicate"):
    """The first and last elements of volumes repeated around them."""


class ZeroPad3D(_PadOfMode, axes=3, mode="constant"):
    """Zeros around volumes."""
