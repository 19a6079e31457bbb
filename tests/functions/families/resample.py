"""Calls of the public functions of `resample`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.families import (
    pool as pool_loops,
    resample as resample_loops,
)
from tests.registry.sampling import real

from ..case import Case
from ..peers import TF
from .conv import first, last

F = paddle.nn.functional


def resampled(x: Any, sizes: Any, mode: str, **how: Any) -> Any:
    plain = {"scale": None, "align_corners": False, "align_mode": 0, "antialias": False}
    for a, size in enumerate(sizes):
        scales = how.get("scale")
        given = {**how, "scale": scales[a]} if scales else how
        x = resample_loops.along(x, axis=2 + a, mode=mode, size=size, **(plain | given))
    return x


def sampled(x: Any, grid: Any, pad: str, align: bool, nearest: bool = False) -> Any:
    """One position after the other, with the pixels around it looked up in a padded image."""
    size = x.shape[2:]
    out = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for n, *at in np.ndindex(grid.shape[:-1]):
        place = []
        for c, s in zip(grid[(n, *at)][::-1], size, strict=True):
            p = (c + 1) / 2 * (s - 1) if align else ((c + 1) * s - 1) / 2
            if pad == "reflection":
                low, high = (0, s - 1) if align else (-0.5, s - 0.5)
                while not low <= p <= high:
                    p = 2 * low - p if p < low else 2 * high - p
            place.append(p if pad == "zeros" else min(max(p, 0.0), s - 1.0))
        for corner in itertools.product(*([int(np.floor(p)), int(np.floor(p)) + 1] for p in place)):
            weight = np.prod([1.0 - abs(p - i) for p, i in zip(place, corner, strict=True)])
            if nearest:
                weight = float(corner == tuple(round(p) for p in place))
            if all(0 <= i < s for i, s in zip(corner, size, strict=True)):
                out[(n, slice(None), *at)] += weight * x[(n, slice(None), *corner)]
    return out


def grid_positions(*shape: int) -> Any:
    """Positions inside and outside, none near a pixel or the edge of an image of 2 to 4 pixels."""
    choices = np.array([-1.55, -0.83, -0.59, -0.17, 0.21, 0.43, 0.77, 1.43])
    return np.random.default_rng(3).choice(choices, shape)


def _sampling(
    label: str, mode: str, pad: str, align: bool, image: Any, grid: Any, **how: Any
) -> Case:
    return Case(
        label,
        lambda x, g: F.grid_sample(x, g, mode, pad, align),
        (image, grid),
        numpy=lambda x, g: sampled(x, g, pad, align, mode == "nearest"),
        torch=lambda x, g: TF.grid_sample(x, g, mode, pad, align),
        **how,
    )


def affine(theta: Any, size: Any, align: bool) -> Any:
    out = np.zeros((len(theta), *size, len(size)))
    for n, *at in np.ndindex(out.shape[:-1]):
        place = [
            (2 * i / (s - 1) - 1 if s > 1 else 0.0) if align else (2 * i + 1) / s - 1
            for i, s in zip(at, size, strict=True)
        ]
        out[(n, *at)] = theta[n] @ np.array([*place[::-1], 1.0])
    return out


def _interpolation(label: str, shape: Any, sizes: Any, mode: str, kind: str, **how: Any) -> Case:
    peer = {k: v for k, v in how.items() if k in ("align_corners", "antialias")}
    compare: Callable[..., Any] | None = None
    if how.get("align_mode", 0) == 0:

        def compare(x: Any) -> Any:
            if kind != "nearest":
                peer.setdefault("align_corners", False)
            return TF.interpolate(x, size=tuple(sizes), mode=mode, **peer)

    return Case(
        label,
        lambda x: F.interpolate(x, size=list(sizes), mode=mode, **how),
        (real(*shape),),
        numpy=lambda x: resampled(x, sizes, kind, **how),
        torch=compare,
    )


CASES: dict[str, list[Case]] = {
    "nn.functional.interpolate": [
        _interpolation("nearest", (1, 2, 2, 3), (3, 2), "nearest", "nearest"),
        _interpolation("linear", (1, 2, 3), (5,), "linear", "linear"),
        _interpolation("beginnings", (1, 2, 4), (3,), "linear", "linear", align_mode=1),
        _interpolation("bilinear", (1, 1, 2, 3), (3, 5), "bilinear", "linear"),
        _interpolation("corners", (1, 1, 3, 3), (2, 4), "bilinear", "linear", align_corners=True),
        _interpolation("bicubic", (1, 1, 2, 3), (3, 4), "bicubic", "cubic"),
        _interpolation("antialias", (1, 1, 4, 3), (2, 2), "bilinear", "linear", antialias=True),
        _interpolation("trilinear", (1, 1, 2, 2, 2), (3, 1, 3), "trilinear", "linear"),
        Case(
            "scale",
            lambda x: F.interpolate(x, scale_factor=[1.5, 2], mode="bilinear"),
            (real(1, 1, 3, 2),),
            numpy=lambda x: resampled(x, (None, None), "linear", scale=(1.5, 2.0)),
            torch=lambda x: TF.interpolate(x, scale_factor=(1.5, 2.0), mode="bilinear"),
        ),
        Case(
            "recomputed",
            lambda x: F.interpolate(
                x, scale_factor=1.5, mode="linear", recompute_scale_factor=True
            ),
            (real(1, 1, 3),),
            numpy=lambda x: resampled(x, (4,), "linear"),
            torch=lambda x: TF.interpolate(
                x, scale_factor=1.5, mode="linear", recompute_scale_factor=True
            ),
            known=True,
        ),
        Case(
            "area-last",
            lambda x: F.interpolate(x, size=[2, 3], mode="area", data_format="NHWC"),
            (real(1, 3, 4, 2),),
            numpy=lambda x: last(pool_loops.adaptive_avg_pool(first(x), (2, 3))),
        ),
    ],
    "nn.functional.upsample": [
        Case(
            "twice",
            lambda x: F.upsample(x, scale_factor=2),
            (real(1, 1, 2, 2),),
            numpy=lambda x: x.repeat(2, axis=2).repeat(2, axis=3),
            torch=lambda x: TF.interpolate(x, scale_factor=2),
        ),
    ],
    "nn.functional.affine_grid": [
        Case(
            "corners",
            lambda t: F.affine_grid(t, [1, 3, 2, 3]),
            (real(1, 2, 3),),
            numpy=lambda t: affine(t, (2, 3), True),
            torch=lambda t: TF.affine_grid(t, (1, 3, 2, 3), align_corners=True),
            known=True,
        ),
        Case(
            "volume",
            lambda t: F.affine_grid(t, [1, 1, 2, 1, 2], align_corners=False),
            (real(1, 3, 4),),
            numpy=lambda t: affine(t, (2, 1, 2), False),
            torch=lambda t: TF.affine_grid(t, (1, 1, 2, 1, 2), align_corners=False),
            known=True,
        ),
    ],
    "nn.functional.grid_sample": [
        _sampling("zeros", "bilinear", "zeros", True, real(1, 2, 2, 3), grid_positions(1, 2, 3, 2)),
        _sampling(
            "border", "bilinear", "border", False, real(1, 1, 3, 4), grid_positions(1, 2, 3, 2)
        ),
        _sampling(
            "reflection",
            "bilinear",
            "reflection",
            True,
            real(1, 1, 3, 2),
            grid_positions(1, 2, 3, 2),
        ),
        _sampling(
            "reflection-edges",
            "bilinear",
            "reflection",
            False,
            real(1, 1, 3, 3),
            grid_positions(1, 2, 3, 2),
        ),
        _sampling(
            "nearest", "nearest", "zeros", False, real(1, 2, 2, 3), grid_positions(1, 2, 3, 2)
        ),
        _sampling(
            "volume", "bilinear", "zeros", True, real(1, 1, 2, 2, 3), grid_positions(1, 1, 2, 2, 3)
        ),
    ],
}
