"""Calls of the public functions of `padding`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import torch

F = paddle.nn.functional


CASES: dict[str, list[Case]] = {
    "nn.functional.pad": [
        Case(
            "all axes",
            lambda x: F.pad(x, [1, 2, 0, 1], value=1.5),
            (real(2, 3),),
            numpy=lambda x: np.pad(x, ((1, 2), (0, 1)), constant_values=1.5),
        ),
        Case(
            "all axes from the last",
            lambda x: F.pad(x, [1, 2, 0, 1], pad_from_left_axis=False),
            (real(2, 3),),
            numpy=lambda x: np.pad(x, ((0, 1), (1, 2))),
            torch=lambda x: torch.nn.functional.pad(x, [1, 2, 0, 1]),
        ),
        Case(
            "images",
            lambda x: F.pad(x, [1, 0, 2, 1]),
            (real(1, 2, 2, 2),),
            numpy=lambda x: np.pad(x, ((0, 0), (0, 0), (2, 1), (1, 0))),
            torch=lambda x: torch.nn.functional.pad(x, [1, 0, 2, 1]),
        ),
        Case(
            "channels last",
            lambda x: F.pad(x, [1, 0, 2, 1], data_format="NHWC"),
            (real(1, 2, 2, 2),),
            numpy=lambda x: np.pad(x, ((0, 0), (2, 1), (1, 0), (0, 0))),
        ),
        Case(
            "reflect",
            lambda x: F.pad(x, [2, 1], mode="reflect"),
            (real(2, 2, 3),),
            numpy=lambda x: np.pad(x, ((0, 0), (0, 0), (2, 1)), "reflect"),
            torch=lambda x: torch.nn.functional.pad(x, [2, 1], mode="reflect"),
        ),
        Case(
            "replicate",
            lambda x: F.pad(x, [1, 2, 1, 0], mode="replicate"),
            (real(1, 2, 2, 2),),
            numpy=lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (1, 2)), "edge"),
            torch=lambda x: torch.nn.functional.pad(x, [1, 2, 1, 0], mode="replicate"),
        ),
        Case(
            "circular",
            lambda x: F.pad(x, [1, 2, 1, 0, 0, 1], mode="circular"),
            (real(1, 1, 2, 2, 2),),
            numpy=lambda x: np.pad(x, ((0, 0), (0, 0), (0, 1), (1, 0), (1, 2)), "wrap"),
            torch=lambda x: torch.nn.functional.pad(x, [1, 2, 1, 0, 0, 1], mode="circular"),
        ),
        Case("none", lambda x: F.pad(x, [0, 0]), (real(2, 3),), numpy=np.copy),
    ],
    "nn.functional.zeropad2d": [
        Case(
            "plain",
            lambda x: F.zeropad2d(x, [1, 0, 0, 2]),
            (real(1, 2, 2, 2),),
            numpy=lambda x: np.pad(x, ((0, 0), (0, 0), (0, 2), (1, 0))),
            torch=lambda x: torch.nn.functional.pad(x, [1, 0, 0, 2]),
        )
    ],
}
