"""Calls of the public functions of `recurrent`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import torch
from .loss import sigmoid

F = paddle.nn.functional
Array = np.ndarray


def lstm_step(
    x: Array, h: Array, c: Array, wi: Array, wh: Array, bi: Array, bh: Array
) -> tuple[Array, Array]:
    i, f, g, o = np.split(x @ wi.T + bi + h @ wh.T + bh, 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def recurrence(x: Array, s: Array) -> tuple[Array, Array]:
    out = np.zeros(x.shape)
    for t in reversed(range(x.shape[1])):
        out[:, t] = x[:, t] * s
        s = x[:, t] + s
    return out, s


CASES: dict[str, list[Case]] = {
    "nn.functional.lstm_cell": [
        Case(
            "plain",
            lambda x, h, c, wi, wh, bi, bh: F.lstm_cell(x, (h, c), wi, wh, bi, bh)[1],
            (real(1, 2), real(1, 2), real(1, 2), real(8, 2), real(8, 2), real(8), real(8)),
            numpy=lstm_step,
            torch=lambda x, h, c, wi, wh, bi, bh: torch.lstm_cell(x, (h, c), wi, wh, bi, bh),
        )
    ],
    "nn.functional.rnn": [
        Case(
            "reverse",
            lambda x, s: F.rnn(lambda a, b: (a * b, a + b), x, s, is_reverse=True),
            (real(2, 3), real(2)),
            numpy=recurrence,
        )
    ],
}
