"""Calls of the functions that put elements in another order, or take parts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from . import cases_joining, cases_padding, cases_shapes
from .case import Case
from .peers import torch

EVERY = slice(None)


def windows(x: Any, axis: int, size: int, step: int) -> Any:
    starts = range(0, x.shape[axis] - size + 1, step)
    return np.stack(
        [np.moveaxis(np.take(x, range(s, s + size), axis), axis, -1) for s in starts], axis
    )


def replaced(x: Any, key: Any, value: Any) -> Any:
    out = np.array(x)
    out[key] = value
    return out


def on_diagonal(x: Any, y: Any, offset: int = 0) -> Any:
    out = np.array(x)
    for k in range(y.shape[-1]):
        out[k + max(-offset, 0), k + max(offset, 0)] = y[..., k]
    return out


CASES: dict[str, list[Case]] = {
    **cases_joining.CASES,
    **cases_padding.CASES,
    **cases_shapes.CASES,
    # --- order
    "flip": [
        Case(
            "both",
            lambda x: paddle.flip(x, [0, 1]),
            (real(2, 3),),
            numpy=np.flip,
            torch=lambda x: torch.flip(x, (0, 1)),
        ),
        Case("one", lambda x: x.flip(-1), (real(2, 3),), numpy=lambda x: x[:, ::-1]),
    ],
    "reverse": [
        Case("plain", lambda x: paddle.reverse(x, 0), (real(2, 3),), numpy=lambda x: x[::-1])
    ],
    "roll": [
        Case(
            "flat",
            lambda x: paddle.roll(x, 2),
            (real(2, 3),),
            numpy=lambda x: np.roll(x, 2),
            torch=lambda x: torch.roll(x, 2),
        ),
        Case(
            "axes",
            lambda x: x.roll([1, -5], axis=[0, 1]),
            (real(2, 3),),
            numpy=lambda x: np.roll(x, (1, -5), (0, 1)),
            torch=lambda x: torch.roll(x, (1, -5), (0, 1)),
        ),
    ],
    "rot90": [
        Case(
            str(k),
            lambda x, k=k: paddle.rot90(x, k, [1, 0]),
            (real(2, 3),),
            numpy=lambda x, k=k: np.rot90(x, k, (1, 0)),
            torch=lambda x, k=k: torch.rot90(x, k, (1, 0)),
        )
        for k in (-1, 0, 1, 2)
    ],
    "meshgrid": [
        Case(
            "ij",
            lambda x, y: paddle.meshgrid(x, y),
            (real(2), real(3)),
            numpy=lambda x, y: np.meshgrid(x, y, indexing="ij"),
            torch=lambda x, y: torch.meshgrid(x, y, indexing="ij"),
        ),
        Case(
            "xy",
            lambda x, y, z: paddle.meshgrid([x, y, z], indexing="xy"),
            (real(2), real(3), real()),
            numpy=lambda x, y, z: np.meshgrid(x, y, z, indexing="xy"),
            torch=lambda x, y, z: torch.meshgrid(x, y, z, indexing="xy"),
        ),
    ],
    "cartesian_prod": [
        Case(
            "plain",
            lambda x, y: paddle.cartesian_prod([x, y]),
            (real(2), real(3)),
            numpy=lambda x, y: np.asarray(list(itertools.product(x, y))),
            torch=lambda x, y: torch.cartesian_prod(x, y),
        ),
        Case("one", lambda x: paddle.cartesian_prod([x]), (real(2),), numpy=np.copy),
    ],
    "combinations": [
        Case(
            "plain",
            lambda x: paddle.combinations(x),
            (real(4),),
            numpy=lambda x: np.asarray(list(itertools.combinations(x, 2))),
            torch=lambda x: torch.combinations(x),
            known=True,
        ),
        Case(
            "with replacement",
            lambda x: paddle.combinations(x, 3, with_replacement=True),
            (real(2),),
            numpy=lambda x: np.asarray(list(itertools.combinations_with_replacement(x, 3))),
            torch=lambda x: torch.combinations(x, 3, with_replacement=True),
            known=True,
        ),
    ],
    "vander": [
        Case(
            "square",
            lambda x: paddle.vander(x),
            (real(3),),
            numpy=np.vander,
            torch=lambda x: torch.stack([x**2, x, x**0], 1),
            known=True,
        ),
        Case(
            "increasing",
            lambda x: paddle.vander(x, 4, increasing=True),
            (np.asarray([0.0, -1.5]),),
            numpy=lambda x: np.vander(x, 4, increasing=True),
            torch=lambda x: torch.stack([x**0, x, x**2, x**3], 1),
        ),
    ],
    # --- parts
    "slice": [
        Case(
            "plain",
            lambda x: paddle.slice(x, [1, 0], [-2, 0], [100, 1]),
            (real(2, 3),),
            numpy=lambda x: x[0:1, -2:100],
        )
    ],
    "strided_slice": [
        Case(
            "plain",
            lambda x: paddle.strided_slice(x, [0, 1], [0, 4], [3, 0], [2, -2]),
            (real(3, 5),),
            numpy=lambda x: x[0:3:2, 4:0:-2],
        )
    ],
    "crop": [
        Case(
            "plain",
            lambda x: paddle.crop(x, [2, -1], [1, 1]),
            (real(4, 3),),
            numpy=lambda x: x[1:3, 1:],
        ),
        Case("all", lambda x: paddle.crop(x), (real(2, 3),), numpy=np.copy),
    ],
    "unfold": [
        Case(
            "plain",
            lambda x: paddle.unfold(x, 0, 3, 2),
            (real(7),),
            numpy=lambda x: windows(x, 0, 3, 2),
            torch=lambda x: x.unfold(0, 3, 2),
        ),
        Case(
            "inner",
            lambda x: x.unfold(1, 2, 1),
            (real(2, 4, 2),),
            numpy=lambda x: windows(x, 1, 2, 1),
            torch=lambda x: x.unfold(1, 2, 1),
        ),
    ],
    "as_strided": [
        Case(
            "plain",
            lambda x: paddle.as_strided(x, [2, 3], [2, 1], 1),
            (real(6),),
            numpy=lambda x: x[[[1, 2, 3], [3, 4, 5]]],
            torch=lambda x: torch.as_strided(x, (2, 3), (2, 1), 1),
        )
    ],
    "select_scatter": [
        Case(
            "plain",
            lambda x, v: paddle.select_scatter(x, v, 1, -1),
            (real(2, 3), real(2)),
            numpy=lambda x, v: replaced(x, (EVERY, -1), v),
            torch=lambda x, v: torch.select_scatter(x, v, 1, -1),
        )
    ],
    "slice_scatter": [
        Case(
            "plain",
            lambda x, v: paddle.slice_scatter(x, v, [1], [0], [3], [2]),
            (real(2, 3), real(2, 2)),
            numpy=lambda x, v: replaced(x, (EVERY, slice(0, 3, 2)), v),
            torch=lambda x, v: torch.slice_scatter(x, v, 1, 0, 3, 2),
        ),
        Case(
            "broadcast",
            lambda x, v: x.slice_scatter(v, [0, 1], [1, 0], [3, 2], [1, 1]),
            (real(3, 3), real(1, 2)),
            numpy=lambda x, v: replaced(x, (slice(1, 3), slice(0, 2)), v),
        ),
    ],
    # --- diagonals
    "tril": [
        Case(
            "plain",
            lambda x: paddle.tril(x, 1),
            (real(2, 3, 3),),
            numpy=lambda x: np.tril(x, 1),
            torch=lambda x: torch.tril(x, 1),
        )
    ],
    "triu": [
        Case(
            "plain",
            lambda x: paddle.triu(x, -1),
            (real(3, 4),),
            numpy=lambda x: np.triu(x, -1),
            torch=lambda x: torch.triu(x, -1),
        )
    ],
    "diag": [
        Case(
            "vector",
            lambda x: paddle.diag(x, 1),
            (real(3),),
            numpy=lambda x: np.diag(x, 1),
            torch=lambda x: torch.diag(x, 1),
        ),
        Case(
            "matrix",
            lambda x: paddle.diag(x, -1),
            (real(3, 2),),
            numpy=lambda x: np.diag(x, -1),
            torch=lambda x: torch.diag(x, -1),
        ),
        Case(
            "padding",
            lambda x: x.diag(padding_value=2.5),
            (real(3),),
            numpy=lambda x: np.where(np.eye(3) == 1, np.diag(x), 2.5),
        ),
    ],
    "diagonal": [
        Case(
            "plain",
            lambda x: paddle.diagonal(x, 1, 2, 0),
            (real(2, 2, 3),),
            numpy=lambda x: np.diagonal(x, 1, 2, 0),
            torch=lambda x: torch.diagonal(x, 1, 2, 0),
        ),
        Case("default", lambda x: x.diagonal(), (real(2, 3, 2),), numpy=np.diagonal),
    ],
    "diag_embed": [
        Case(
            "plain",
            lambda x: paddle.diag_embed(x, -1),
            (real(2, 2),),
            numpy=lambda x: np.stack([np.diag(row, -1) for row in x]),
            torch=lambda x: torch.diag_embed(x, -1),
        ),
        Case(
            "first axes",
            lambda x: x.diag_embed(0, 0, 1),
            (real(2, 2),),
            numpy=lambda x: np.stack([np.diag(row) for row in x], -1),
            torch=lambda x: torch.diag_embed(x, 0, 0, 1),
        ),
    ],
    "diagflat": [
        Case(
            "plain",
            lambda x: paddle.diagflat(x, 1),
            (real(2, 2),),
            numpy=lambda x: np.diagflat(x, 1),
            torch=lambda x: torch.diagflat(x, 1),
        )
    ],
    "trace": [
        Case(
            "plain",
            lambda x: paddle.trace(x),
            (real(3, 3),),
            numpy=np.trace,
            torch=lambda x: torch.trace(x),
        ),
        Case(
            "axes",
            lambda x: x.trace(1, 2, 0),
            (real(2, 2, 3),),
            numpy=lambda x: np.trace(x, 1, 2, 0),
        ),
    ],
    "diagonal_scatter": [
        Case(
            "plain",
            lambda x, y: paddle.diagonal_scatter(x, y, 1),
            (real(3, 3), real(2)),
            numpy=lambda x, y: on_diagonal(x, y, 1),
            torch=lambda x, y: torch.diagonal_scatter(x, y, 1),
        )
    ],
    "Tensor.fill_diagonal_tensor": [
        Case(
            "plain",
            lambda x, y: x.fill_diagonal_tensor(y),
            (real(2, 3), real(2)),
            numpy=on_diagonal,
        ),
        Case(
            "batch",
            lambda x, y: x.fill_diagonal_tensor(y, -1, 0, 1),
            (real(3, 2, 2), real(2, 2)),
            numpy=lambda x, y: on_diagonal(x, y, -1),
        ),
    ],
}
