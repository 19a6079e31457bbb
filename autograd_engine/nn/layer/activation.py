"""Activations that are made of pieces: rectifiers, shrinkages, clipped lines."""

from __future__ import annotations

__all__ = [
    "CELU",
    "ELU",
    "Elementwise",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "Softshrink",
    "ThresholdedReLU",
]
