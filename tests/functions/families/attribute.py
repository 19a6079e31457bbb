"""Calls of the public functions of `attribute`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from .shape import data

CASES: dict[str, list[Case]] = {
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
