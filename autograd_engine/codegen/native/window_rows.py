"""Operations on windows: convolutions and pooling, by C kernels of their own."""

from __future__ import annotations

__all__: list[str] = []
