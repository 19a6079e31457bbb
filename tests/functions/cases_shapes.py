"""Calls of the functions that give an array another shape, or repeat it."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real

from .case import Case
from .peers import torch


def data(label: str, call: Any, operands: Any, expected: Any, **options: Any) -> Case:
    """A case whose outputs carry no gradient."""
    return Case(label, call, operands, numpy=expected, differentiable=False, **options)


CASES: dict[str, list[Case]] = {
    # --- shapes
    "reshape": [
        Case(
            "plain",
            lambda x: paddle.reshape(x, [3, 2]),
            (real(2, 3),),
            numpy=lambda x: x.reshape(3, 2),
            torch=lambda x: torch.reshape(x, (3, 2)),
            known=True,
        ),
        Case(
            "work-out",
            lambda x: paddle.reshape(x, [0, -1]),
            (real(2, 3, 2),),
            numpy=lambda x: x.reshape(2, 6),
        ),
    ],
    "flatten": [
        Case(
            "all",
            lambda x: paddle.flatten(x),
            (real(2, 3),),
            numpy=lambda x: x.reshape(-1),
            torch=lambda x: torch.flatten(x),
        ),
        Case(
            "some",
            lambda x: x.flatten(0, 1),
            (real(2, 3, 2),),
            numpy=lambda x: x.reshape(6, 2),
            torch=lambda x: torch.flatten(x, 0, 1),
        ),
        Case("0-d", lambda x: paddle.flatten(x), (real(),), numpy=lambda x: x.reshape(1)),
    ],
    "unflatten": [
        Case(
            "plain",
            lambda x: paddle.unflatten(x, 0, [-1, 3]),
            (real(6, 2),),
            numpy=lambda x: x.reshape(2, 3, 2),
            torch=lambda x: torch.unflatten(x, 0, (-1, 3)),
        ),
        Case(
            "last",
            lambda x: paddle.unflatten(x, -1, [2, 2]),
            (real(2, 4),),
            numpy=lambda x: x.reshape(2, 2, 2),
        ),
    ],
    "view": [
        Case(
            "shape",
            lambda x: paddle.view(x, [-1, 2]),
            (real(2, 3),),
            numpy=lambda x: x.reshape(3, 2),
            torch=lambda x: x.view(-1, 2),
        ),
        data(
            "dtype",
            lambda x: paddle.view(x, "int32"),
            (np.asarray([1.0, -2.0], np.float32),),
            lambda x: np.asarray([0x3F800000, -0x40000000]),
        ),
    ],
    "view_as": [
        Case(
            "plain",
            lambda x, y: paddle.view_as(x, y),
            (real(2, 3), integers(1, 2, 3, 4, 5, 6)),
            numpy=lambda x, y: x.reshape(6),
            torch=lambda x, y: x.view_as(y),
        )
    ],
    "transpose": [
        Case(
            "cycle",
            lambda x: paddle.transpose(x, [1, 2, 0]),
            (real(2, 3, 2),),
            numpy=lambda x: np.transpose(x, (1, 2, 0)),
            torch=lambda x: torch.permute(x, (1, 2, 0)),
        ),
        Case(
            "negative",
            lambda x: x.transpose([-1, 0]),
            (real(2, 3),),
            numpy=lambda x: x.swapaxes(0, 1),
        ),
    ],
    "t": [
        Case("matrix", paddle.t, (real(2, 3),), numpy=np.transpose, torch=lambda x: torch.t(x)),
        Case("vector", paddle.t, (real(3),), numpy=np.copy, torch=lambda x: torch.t(x)),
    ],
    "moveaxis": [
        Case(
            "several",
            lambda x: paddle.moveaxis(x, [0, 1], [2, 0]),
            (real(2, 3, 2),),
            numpy=lambda x: np.moveaxis(x, [0, 1], [2, 0]),
            torch=lambda x: torch.movedim(x, (0, 1), (2, 0)),
        ),
        Case(
            "one",
            lambda x: paddle.moveaxis(x, -1, 0),
            (real(2, 1, 3),),
            numpy=lambda x: np.moveaxis(x, -1, 0),
        ),
    ],
    "swapaxes": [
        Case(
            "plain",
            lambda x: paddle.swapaxes(x, 0, -1),
            (real(2, 3, 2),),
            numpy=lambda x: np.swapaxes(x, 0, -1),
            torch=lambda x: torch.swapaxes(x, 0, -1),
        )
    ],
    "swapdims": [
        Case(
            "plain",
            lambda x: paddle.swapdims(x, 1, 2),
            (real(2, 3, 2),),
            numpy=lambda x: np.swapaxes(x, 1, 2),
            torch=lambda x: torch.swapdims(x, 1, 2),
        )
    ],
    "squeeze": [
        Case(
            "axis",
            lambda x: paddle.squeeze(x, 1),
            (real(2, 1, 3, 1),),
            numpy=lambda x: np.squeeze(x, 1),
            torch=lambda x: torch.squeeze(x, 1),
        ),
        Case("all", lambda x: x.squeeze(), (real(2, 1, 3, 1),), numpy=np.squeeze),
        Case("not 1", lambda x: x.squeeze([1, 2]), (real(2, 1, 3),), numpy=np.squeeze),
    ],
    "unsqueeze": [
        Case(
            "one",
            lambda x: paddle.unsqueeze(x, -1),
            (real(2, 3),),
            numpy=lambda x: x[..., None],
            torch=lambda x: torch.unsqueeze(x, -1),
        ),
        Case(
            "several", lambda x: x.unsqueeze([0, 2]), (real(3),), numpy=lambda x: x[None, :, None]
        ),
    ],
    "atleast_1d": [
        Case(
            "0-d",
            paddle.atleast_1d,
            (real(),),
            numpy=np.atleast_1d,
            torch=lambda x: torch.atleast_1d(x),
        ),
        Case("several", paddle.atleast_1d, (real(), real(2)), numpy=np.atleast_1d),
    ],
    "atleast_2d": [
        Case(
            "vector",
            paddle.atleast_2d,
            (real(3),),
            numpy=np.atleast_2d,
            torch=lambda x: torch.atleast_2d(x),
        ),
        Case("several", paddle.atleast_2d, (real(), real(2, 2)), numpy=np.atleast_2d),
    ],
    "atleast_3d": [
        Case(
            "vector",
            paddle.atleast_3d,
            (real(3),),
            numpy=np.atleast_3d,
            torch=lambda x: torch.atleast_3d(x),
        ),
        Case("several", paddle.atleast_3d, (real(), real(2, 2)), numpy=np.atleast_3d),
    ],
    # --- repeating
    "expand": [
        Case(
            "plain",
            lambda x: paddle.expand(x, [2, -1, 3]),
            (real(2, 1),),
            numpy=lambda x: np.broadcast_to(x, (2, 2, 3)),
            torch=lambda x: x.expand(2, -1, 3),
        )
    ],
    "broadcast_to": [
        Case(
            "plain",
            lambda x: paddle.broadcast_to(x, [2, 3]),
            (real(3),),
            numpy=lambda x: np.broadcast_to(x, (2, 3)),
            torch=lambda x: torch.broadcast_to(x, (2, 3)),
        )
    ],
    "expand_as": [
        Case(
            "plain",
            lambda x, y: paddle.expand_as(x, y),
            (real(2, 1), integers([1, 2, 3], [4, 5, 6])),
            numpy=lambda x, y: np.broadcast_to(x, (2, 3)),
            torch=lambda x, y: x.expand_as(y),
        )
    ],
    "broadcast_tensors": [
        Case(
            "plain",
            lambda x, y, z: paddle.broadcast_tensors([x, y, z]),
            (real(2, 1), real(1, 3), real()),
            numpy=lambda x, y, z: np.broadcast_arrays(x, y, z),
            torch=lambda x, y, z: torch.broadcast_tensors(x, y, z),
        )
    ],
    "tile": [
        Case(
            "both",
            lambda x: paddle.tile(x, [2, 3]),
            (real(2, 2),),
            numpy=lambda x: np.tile(x, (2, 3)),
            torch=lambda x: torch.tile(x, (2, 3)),
        ),
        Case(
            "new axes",
            lambda x: paddle.tile(x, [2, 1, 2]),
            (real(2, 2),),
            numpy=lambda x: np.tile(x, (2, 1, 2)),
            torch=lambda x: torch.tile(x, (2, 1, 2)),
        ),
        Case("last", lambda x: x.tile(2), (real(2, 2),), numpy=lambda x: np.tile(x, 2)),
        Case("once", lambda x: x.tile([1]), (real(2),), numpy=np.copy),
        Case("0-d", lambda x: x.tile([2]), (real(),), numpy=lambda x: np.tile(x, 2)),
        Case("never", lambda x: x.tile([0, 2]), (real(2, 2),), numpy=lambda x: np.tile(x, (0, 2))),
    ],
    "repeat_interleave": [
        Case(
            "flat",
            lambda x: paddle.repeat_interleave(x, 2),
            (real(2, 3),),
            numpy=lambda x: np.repeat(x, 2),
            torch=lambda x: torch.repeat_interleave(x, 2),
        ),
        Case(
            "axis",
            lambda x: x.repeat_interleave(3, axis=-2),
            (real(2, 2),),
            numpy=lambda x: np.repeat(x, 3, -2),
            torch=lambda x: torch.repeat_interleave(x, 3, -2),
        ),
        Case(
            "counts",
            lambda x, n: paddle.repeat_interleave(x, n, axis=1),
            (real(2, 3), integers(1, 0, 2)),
            numpy=lambda x, n: np.repeat(x, n, 1),
            torch=lambda x, n: torch.repeat_interleave(x, n, 1),
        ),
        Case(
            "known total",
            lambda x, n: paddle.repeat_interleave(x, n, axis=0, output_size=3),
            (real(2, 2), integers(2, 1)),
            numpy=lambda x, n: np.repeat(x, n, 0),
        ),
    ],
    # --- sizes
    "numel": [
        data("plain", lambda x: paddle.numel(x), (real(2, 3),), lambda x: np.asarray(6)),
        data("0-d", lambda x: x.numel(), (real(),), lambda x: np.asarray(1)),
    ],
    "shape": [
        data("plain", lambda x: paddle.shape(x), (real(2, 3),), lambda x: np.asarray([2, 3]))
    ],
    "rank": [data("plain", lambda x: paddle.rank(x), (real(2, 3),), lambda x: np.asarray(2))],
    "is_empty": [
        data("full", lambda x: paddle.is_empty(x), (real(2),), lambda x: np.asarray(False)),
        data("empty", lambda x: x.is_empty(), (real(0, 2),), lambda x: np.asarray(True)),
    ],
}
