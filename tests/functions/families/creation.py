"""Calls of the public functions of `creation`."""

from __future__ import annotations

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..calls import made
from ..case import Case

CASES: dict[str, list[Case]] = {
    "to_tensor": [
        made("list", lambda: paddle.to_tensor([[1.5, 2.0]]), lambda: [[1.5, 2.0]]),
        made("ints", lambda: paddle.to_tensor([1, 2]), lambda: [1, 2]),
        made("dtype", lambda: paddle.to_tensor([1.7, -1.7], "int32"), lambda: [1, -1]),
        made("array", lambda: paddle.to_tensor(np.eye(2)), lambda: np.eye(2)),
        made("scalar", lambda: paddle.to_tensor(True), lambda: np.asarray(True)),
    ],
    "zeros": [made("plain", lambda: paddle.zeros([2, 3]), lambda: np.zeros((2, 3)))],
    "ones": [
        made("plain", lambda: paddle.ones([2, 3]), lambda: np.ones((2, 3))),
        made("int", lambda: paddle.ones(3, "int64"), lambda: [1, 1, 1]),
    ],
    "full": [
        made("plain", lambda: paddle.full([2], 1.5), lambda: [1.5, 1.5]),
        made("bool", lambda: paddle.full([2], True), lambda: [True, True]),
        made("0-d", lambda: paddle.full([], 3, "int32"), lambda: np.asarray(3)),
    ],
    "empty": [made("plain", lambda: paddle.empty([2, 0]), lambda: np.zeros((2, 0)))],
    "zeros_like": [
        made("plain", paddle.zeros_like, np.zeros_like, real(2, 3), torch=lambda x: x * 0),
        made("dtype", lambda x: paddle.zeros_like(x, "int64"), np.zeros_like, real(2, 3)),
    ],
    "ones_like": [made("plain", paddle.ones_like, np.ones_like, real(2, 3))],
    "full_like": [
        made("plain", lambda x: paddle.full_like(x, 2.5), lambda x: np.full_like(x, 2.5), real(3)),
        made("dtype", lambda x: paddle.full_like(x, 2.5, "int8"), lambda x: [2, 2], real(2)),
    ],
    "empty_like": [made("plain", paddle.empty_like, np.zeros_like, real(2, 3))],
    "arange": [
        made("end", lambda: paddle.arange(4), lambda: [0, 1, 2, 3]),
        made("floats", lambda: paddle.arange(0.0, 1.0, 0.25), lambda: [0.0, 0.25, 0.5, 0.75]),
        made("down", lambda: paddle.arange(5, 0, -2), lambda: [5, 3, 1]),
    ],
    "range": [
        made("end", lambda: paddle.range(3), lambda: [0.0, 1.0, 2.0, 3.0]),
        made("step", lambda: paddle.range(0, 1, 0.25), lambda: [0.0, 0.25, 0.5, 0.75, 1.0]),
        made("down", lambda: paddle.range(5, 0, -2, "int32"), lambda: [5, 3, 1]),
    ],
    "linspace": [
        made("plain", lambda: paddle.linspace(-1.0, 1.0, 5), lambda: [-1, -0.5, 0, 0.5, 1]),
        made("one", lambda: paddle.linspace(3.0, 1.0, 1), lambda: [3.0]),
        made("ints", lambda: paddle.linspace(0, 10, 5, "int64"), lambda: [0, 2, 5, 7, 10]),
        made("none", lambda: paddle.linspace(0.0, 1.0, 0), lambda: []),
    ],
    "logspace": [
        made("plain", lambda: paddle.logspace(0, 3, 4), lambda: [1, 10, 100, 1000]),
        made("base", lambda: paddle.logspace(0, -2, 3, base=2.0), lambda: [1, 0.5, 0.25]),
        made("ints", lambda: paddle.logspace(0, 3, 4, 2, "int32"), lambda: [1, 2, 4, 8]),
    ],
    "eye": [
        made("square", lambda: paddle.eye(2), lambda: [[1, 0], [0, 1]]),
        made("wide", lambda: paddle.eye(2, 3, "int64"), lambda: [[1, 0, 0], [0, 1, 0]]),
        made("none", lambda: paddle.eye(0, 2), lambda: np.zeros((0, 2))),
    ],
    "tril_indices": [
        made("tall", lambda: paddle.tril_indices(3, 2), lambda: [[0, 1, 1, 2, 2], [0, 0, 1, 0, 1]]),
        made("below", lambda: paddle.tril_indices(3, 3, -1), lambda: [[1, 2, 2], [0, 0, 1]]),
    ],
    "triu_indices": [
        made("square", lambda: paddle.triu_indices(2), lambda: [[0, 0, 1], [0, 1, 1]]),
        made("above", lambda: paddle.triu_indices(2, 3, 1), lambda: [[0, 0, 1], [1, 2, 2]]),
    ],
    "assign": [
        Case("plain", paddle.assign, (real(2, 3),), numpy=np.copy, torch=lambda x: x.clone()),
        made("list", lambda: paddle.assign([1, 2]), lambda: [1, 2]),
    ],
    "clone": [
        Case("plain", paddle.clone, (real(2, 3),), numpy=np.copy, torch=lambda x: x.clone()),
        Case("method", lambda x: x.clone() * x, (real(3),), numpy=lambda x: x * x),
    ],
}
