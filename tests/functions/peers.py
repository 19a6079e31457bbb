"""Peers that values and gradients are compared with where they are installed; None where not."""

from __future__ import annotations

from typing import Any

torch: Any
try:
    import torch
except ImportError:
    torch = None

__all__ = ["TF", "torch"]

TF: Any = torch.nn.functional if torch is not None else None
