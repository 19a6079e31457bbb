"""NumPy's Fourier transforms."""

from __future__ import annotations

from typing import Any

from autograd_engine import fft
from autograd_engine.interop.numpy_protocol.array_function import covers
from autograd_engine.interop.numpy_protocol.operands import as_tensor, floating

__all__: list[str] = []


def _one_axis(name: str) -> None:
    ours = getattr(fft, name)

    @covers(f"fft.{name}")
    def transform(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        return ours(floating(a), n, axis, norm or "backward")


def _several_axes(name: str, usual: Any) -> None:
    ours = getattr(fft, name)

    @covers(f"fft.{name}")
    def transform(
        a: Any, s: Any = None, axes: Any = usual, norm: Any = None, out: Any = None
    ) -> Any:
        return ours(floating(a), s, axes, norm or "backward")


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _one_axis(_name)
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    _several_axes(_name, (-2, -1))
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    _several_axes(_name, None)


covers("fft.fftshift")(lambda x, axes=None: fft.fftshift(as_tensor(x), axes))
covers("fft.ifftshift")(lambda x, axes=None: fft.ifftshift(as_tensor(x), axes))
