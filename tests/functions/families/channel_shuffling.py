"""Calls of the public functions of `channel_shuffling`."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import torch

F = paddle.nn.functional


def pixel_shuffle(x: Any, r: int) -> Any:
    n, c, h, w = x.shape
    out = np.zeros((n, c // r**2, h * r, w * r))
    for k, i, j in itertools.product(range(c), range(h), range(w)):
        place = k % r**2
        out[:, k // r**2, i * r + place // r, j * r + place % r] = x[:, k, i, j]
    return out


def pixel_unshuffle(x: Any, r: int) -> Any:
    n, c, h, w = x.shape
    out = np.zeros((n, c * r**2, h // r, w // r))
    for k, i, j in itertools.product(range(c), range(h), range(w)):
        out[:, k * r**2 + i % r * r + j % r, i // r, j // r] = x[:, k, i, j]
    return out


def channel_shuffle(x: Any, groups: int) -> Any:
    each = x.shape[1] // groups
    return x[:, [g * each + k for k in range(each) for g in range(groups)]]


def temporal_shift(x: Any, steps: int, ratio: float) -> Any:
    out = np.array(x)
    before, both = int(x.shape[1] * ratio), int(x.shape[1] * 2 * ratio)
    for k in range(len(x)):
        out[k, :before] = x[k - 1, :before] if k % steps else 0.0
        out[k, before:both] = x[k + 1, before:both] if (k + 1) % steps else 0.0
    return out


def channels_last(f: Any) -> Any:
    """A reference for NCHW, on NHWC."""
    return lambda x: np.moveaxis(f(np.moveaxis(x, -1, 1)), 1, -1)


CASES: dict[str, list[Case]] = {
    "nn.functional.pixel_shuffle": [
        Case(
            "plain",
            lambda x: F.pixel_shuffle(x, 2),
            (real(1, 8, 1, 2),),
            numpy=lambda x: pixel_shuffle(x, 2),
            torch=lambda x: torch.nn.functional.pixel_shuffle(x, 2),
        ),
        Case(
            "channels last",
            lambda x: F.pixel_shuffle(x, 2, "NHWC"),
            (real(1, 2, 1, 8),),
            numpy=channels_last(lambda x: pixel_shuffle(x, 2)),
        ),
    ],
    "nn.functional.pixel_unshuffle": [
        Case(
            "plain",
            lambda x: F.pixel_unshuffle(x, 2),
            (real(1, 2, 2, 4),),
            numpy=lambda x: pixel_unshuffle(x, 2),
            torch=lambda x: torch.nn.functional.pixel_unshuffle(x, 2),
        ),
        Case(
            "channels last",
            lambda x: F.pixel_unshuffle(x, 2, "NHWC"),
            (real(1, 4, 2, 2),),
            numpy=channels_last(lambda x: pixel_unshuffle(x, 2)),
        ),
    ],
    "nn.functional.channel_shuffle": [
        Case(
            "plain",
            lambda x: F.channel_shuffle(x, 3),
            (real(1, 6, 1, 2),),
            numpy=lambda x: channel_shuffle(x, 3),
            torch=lambda x: torch.nn.functional.channel_shuffle(x, 3),
        ),
        Case(
            "channels last",
            lambda x: F.channel_shuffle(x, 2, "NHWC"),
            (real(1, 2, 1, 6),),
            numpy=channels_last(lambda x: channel_shuffle(x, 2)),
        ),
    ],
    "nn.functional.temporal_shift": [
        Case(
            "plain",
            lambda x: F.temporal_shift(x, 3, 0.25),
            (real(6, 4, 1, 1),),
            numpy=lambda x: temporal_shift(x, 3, 0.25),
        ),
        Case(
            "channels last",
            lambda x: F.temporal_shift(x, 2, 0.34, data_format="NHWC"),
            (real(4, 1, 1, 3),),
            numpy=channels_last(lambda x: temporal_shift(x, 2, 0.34)),
        ),
    ],
}
