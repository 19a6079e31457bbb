"""Layers that make arrays larger at the ends of their axes of space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import Plain, choice, number

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


class _Pad(Plain):
    _shown = ("_pad", "_mode", "_value", "_data_format")
    _axes: ClassVar[int]
    _layouts: ClassVar[tuple[str, str]]

    def __init__(
        self, padding: Any, mode: str, value: float, data_format: str, name: str | None
    ) -> None:
        super().__init__(name)
        self._pad = self._numbers(padding)
        self._mode = choice(self, "mode", mode, _MODES)
        self._value = number(self, "value", value)
        self._data_format = choice(self, "data_format", data_format, self._layouts)

    def _numbers(self, padding: Any) -> Any:
        if isinstance(padding, (Tensor, np.ndarray)):
            padding = padding.tolist()
        many = padding if isinstance(padding, (list, tuple)) else [padding] * (2 * self._axes)
        for p in many:
            if len(many) == 2 * self._axes and type(p) is int and p >= 0:
                continue
            ends = ["left", "right", "top", "bottom", "front", "back"][: 2 * self._axes]
            raise ArgumentError(
                f"{type(self).__name__}: padding must be an int of at least 0, or "
                f"{2 * self._axes} of them, [{', '.join(ends)}]; got {padding!r}"
            )
        return list(many) if isinstance(many, list) else many

    def forward(self, x: Any) -> Tensor:
        return F.pad(x, self._pad, self._mode, self._value, self._data_format)

    def extra_repr(self) -> str:
        return super().extra_repr().replace("pad=", "padding=", 1)


class _Pad1D(_Pad):
    _axes = 1
    _layouts = ("NCL", "NLC")


class _Around1D(_Pad1D):
    """In the mode of the class."""

    _of_class: ClassVar[str]

    def __init__(
        self, padding: int | Sequence[int], data_format: str = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, self._of_class, 0.0, data_format, name)


class Pad1D(_Pad1D):
    """Elements put around sequences; see `nn.functional.pad`.

    Parameters
    ----------
    padding : int or sequence of int
        How many: left, right.
    mode : {"constant", "reflect", "replicate", "circular"}
    value : float
        What they are in mode "constant".
    data_format : {"NCL", "NLC"}

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Pad1D(1)(paddle.ones([1, 1, 2])).shape
    paddle.Size([1, 1, 4])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class ConstantPad1D(_Pad1D):
    """A number around sequences; see `Pad1D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ConstantPad1D(1, 2.0)(paddle.ones([1, 1, 2])).shape
    paddle.Size([1, 1, 4])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        value: float,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class CircularPad1D(_Around1D):
    """Their other ends around sequences, as if these went on periodically.

    The arguments are those of `Pad1D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.CircularPad1D(1)(paddle.ones([1, 1, 2])).shape
    paddle.Size([1, 1, 4])
    """

    _of_class = "circular"


class ReflectionPad1D(_Around1D):
    """Sequences mirrored at their first and last elements.

    The arguments are those of `Pad1D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ReflectionPad1D(1)(paddle.ones([1, 1, 2])).shape
    paddle.Size([1, 1, 4])
    """

    _of_class = "reflect"


class ReplicationPad1D(_Around1D):
    """The first and last elements of sequences repeated around them.

    The arguments are those of `Pad1D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ReplicationPad1D(1)(paddle.ones([1, 1, 2])).shape
    paddle.Size([1, 1, 4])
    """

    _of_class = "replicate"


class ZeroPad1D(_Around1D):
    """Zeros around sequences.

    The arguments are those of `Pad1D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ZeroPad1D(1)(paddle.ones([1, 1, 2])).shape
    paddle.Size([1, 1, 4])
    """

    _of_class = "constant"


class _Pad2D(_Pad):
    _axes = 2
    _layouts = ("NCHW", "NHWC")


class _Around2D(_Pad2D):
    """In the mode of the class."""

    _of_class: ClassVar[str]

    def __init__(
        self, padding: int | Sequence[int], data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, self._of_class, 0.0, data_format, name)


class Pad2D(_Pad2D):
    """Elements put around images; see `nn.functional.pad`.

    Parameters
    ----------
    padding : int or sequence of int
        How many: left, right, top, bottom.
    mode : {"constant", "reflect", "replicate", "circular"}
    value : float
        What they are in mode "constant".
    data_format : {"NCHW", "NHWC"}

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Pad2D(1)(paddle.ones([1, 1, 2, 2])).shape
    paddle.Size([1, 1, 4, 4])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class ConstantPad2D(_Pad2D):
    """A number around images; see `Pad2D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ConstantPad2D(1, 2.0)(paddle.ones([1, 1, 2, 2])).shape
    paddle.Size([1, 1, 4, 4])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        value: float,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class CircularPad2D(_Around2D):
    """Their other ends around images, as if these went on periodically.

    The arguments are those of `Pad2D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.CircularPad2D(1)(paddle.ones([1, 1, 2, 2])).shape
    paddle.Size([1, 1, 4, 4])
    """

    _of_class = "circular"


class ReflectionPad2D(_Around2D):
    """Images mirrored at their first and last elements.

    The arguments are those of `Pad2D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ReflectionPad2D(1)(paddle.ones([1, 1, 2, 2])).shape
    paddle.Size([1, 1, 4, 4])
    """

    _of_class = "reflect"


class ReplicationPad2D(_Around2D):
    """The first and last elements of images repeated around them.

    The arguments are those of `Pad2D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ReplicationPad2D(1)(paddle.ones([1, 1, 2, 2])).shape
    paddle.Size([1, 1, 4, 4])
    """

    _of_class = "replicate"


class ZeroPad2D(_Around2D):
    """Zeros around images.

    The arguments are those of `Pad2D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ZeroPad2D(1)(paddle.ones([1, 1, 2, 2])).shape
    paddle.Size([1, 1, 4, 4])
    """

    _of_class = "constant"


class _Pad3D(_Pad):
    _axes = 3
    _layouts = ("NCDHW", "NDHWC")


class _Around3D(_Pad3D):
    """In the mode of the class."""

    _of_class: ClassVar[str]

    def __init__(
        self, padding: int | Sequence[int], data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, self._of_class, 0.0, data_format, name)


class Pad3D(_Pad3D):
    """Elements put around volumes; see `nn.functional.pad`.

    Parameters
    ----------
    padding : int or sequence of int
        How many: left, right, top, bottom, front, back.
    mode : {"constant", "reflect", "replicate", "circular"}
    value : float
        What they are in mode "constant".
    data_format : {"NCDHW", "NDHWC"}

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Pad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
    paddle.Size([1, 1, 4, 4, 4])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class ConstantPad3D(_Pad3D):
    """A number around volumes; see `Pad3D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ConstantPad3D(1, 2.0)(paddle.ones([1, 1, 2, 2, 2])).shape
    paddle.Size([1, 1, 4, 4, 4])
    """

    def __init__(
        self,
        padding: int | Sequence[int],
        value: float,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class CircularPad3D(_Around3D):
    """Their other ends around volumes, as if these went on periodically.

    The arguments are those of `Pad3D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.CircularPad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
    paddle.Size([1, 1, 4, 4, 4])
    """

    _of_class = "circular"


class ReflectionPad3D(_Around3D):
    """Volumes mirrored at their first and last elements.

    The arguments are those of `Pad3D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ReflectionPad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
    paddle.Size([1, 1, 4, 4, 4])
    """

    _of_class = "reflect"


class ReplicationPad3D(_Around3D):
    """The first and last elements of volumes repeated around them.

    The arguments are those of `Pad3D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ReplicationPad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
    paddle.Size([1, 1, 4, 4, 4])
    """

    _of_class = "replicate"


class ZeroPad3D(_Around3D):
    """Zeros around volumes.

    The arguments are those of `Pad3D`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.ZeroPad3D(1)(paddle.ones([1, 1, 2, 2, 2])).shape
    paddle.Size([1, 1, 4, 4, 4])
    """

    _of_class = "constant"
