"""The standard's Fourier transforms."""

from __future__ import annotations

from typing import Any

from autograd_engine import fft as paddle_fft
from autograd_engine.interop.array_api.dtypes import at_cpu
from autograd_engine.interop.numpy_protocol.operands import as_tensor, floating

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]
_ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
_MANY = ("fftn", "ifftn", "rfftn", "irfftn")


def _one(name: str) -> Any:
    ours = getattr(paddle_fft, name)

    def function(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
        return ours(floating(x), n, axis, norm)

    return function


def _many(name: str) -> Any:
    ours = getattr(paddle_fft, name)

    def function(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        return ours(floating(x), s, axes, norm)

    return function


def _fill() -> None:
    for make, names in ((_one, _ONE), (_many, _MANY)):
        for name in names:
            function = globals()[name] = make(name)
            function.__name__ = function.__qualname__ = name
            function.__doc__ = f"``fft.{name}`` of the array API standard."
            __all__.append(name)


_fill()


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of `fft`."""
    at_cpu("fftfreq", device)
    return paddle_fft.fftfreq(n, d, dtype)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of `rfft`."""
    at_cpu("rfftfreq", device)
    return paddle_fft.rfftfreq(n, d, dtype)


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """The frequency zero in the middle."""
    return paddle_fft.fftshift(as_tensor(x), axes)


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """The inverse of `fftshift`."""
    return paddle_fft.ifftshift(as_tensor(x), axes)
