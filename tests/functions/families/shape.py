"""Calls of the public functions of `shape`."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, real

from ..case import Case
from ..peers import torch


def data(label: str, call: Any, operands: Any, expected: Any, **options: Any) -> Case:
    """A case whose outputs carry no gradient."""
    return Case(label, call, operands, numpy=expected, differentiable=False, **options)


CASES: dict[str, list[Case]] = {
    "permute": [
        Case(
            "list",
            lambda x: paddle.permute(x, [2, 0, 1]),
            (real(2, 3, 2),),
            numpy=lambda x: x.transpose(2, 0, 1),
            torch=lambda x: torch.permute(x, (2, 0, 1)),
        ),
        Case(
            "method",
            lambda x: x.permute(1, 0),
            (real(2, 3),),
            numpy=lambda x: x.T,
        ),
    ],
    "ravel": [
        Case(
            "plain",
            lambda x: paddle.ravel(x),
            (real(2, 3),),
            numpy=lambda x: x.ravel(),
            torch=lambda x: torch.ravel(x),
        ),
        Case("method", lambda x: x.ravel(), (real(),), numpy=lambda x: x.ravel()),
    ],
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
        Case(
            "in-a-list",
            lambda x, y, at_least=paddle.atleast_1d: at_least([x, y]),
            (real(), real(2)),
            numpy=lambda x, y: np.atleast_1d(x, y),
        ),
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
}
