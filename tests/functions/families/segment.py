"""Calls of the public functions of `segment`, beside loops over rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import integers, positive, real, spaced

from ..case import Case

G = paddle.geometric
Array = np.ndarray

HOW: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
}
MESSAGES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


def combined(how: str, rows: Array, index: Array, size: int) -> Array:
    out = np.zeros((size, *rows.shape[1:]))
    for k in set(index.tolist()):
        out[k] = HOW[how]([r for r, i in zip(rows, index, strict=True) if i == k], axis=0)
    return out


SRC, DST = integers(0, 1, 2, 0), integers(1, 2, 1, 0)
IDS = integers(2, 0, 0, 2, 3)


def segments(how: str) -> list[Case]:
    function = getattr(G, f"segment_{how}")
    return [
        Case(
            "gap",
            lambda x, i: function(x, i),
            (spaced(5, 2), IDS),
            numpy=lambda x, i: combined(how, x, i, int(i.max()) + 1),
        )
    ]


def received(reduce: str, operands: tuple[Array, ...], size: int | None = None) -> Case:
    return Case(
        reduce,
        lambda x, s, d: G.send_u_recv(x, s, d, reduce, size),
        operands,
        numpy=lambda x, s, d: combined(reduce, x[s], d, size or len(x)),
    )


# Nodes 0 to 3 have the neighbors 5 and 9, 7, none, and 1, 3 and 5.
GRAPH = integers(5, 9, 7, 1, 3, 5), integers(0, 2, 3, 3, 6), integers(0, 3, 2, 0)


def neighbors(row: Array, colptr: Array, nodes: Array) -> tuple[Array, Array]:
    listed = [row[colptr[n] : colptr[n + 1]] for n in nodes]
    return np.concatenate(listed), np.asarray([len(v) for v in listed])


CASES: dict[str, list[Case]] = {
    **{f"geometric.segment_{how}": segments(how) for how in HOW},
    "geometric.send_u_recv": [
        received("max", (spaced(3, 2), SRC, DST)),
        received("mean", (real(3), SRC, DST), 5),
    ],
    "geometric.send_ue_recv": [
        Case(
            "mul-sum",
            lambda x, y, s, d: G.send_ue_recv(x, y, s, d, "mul", "sum"),
            (real(3, 2), real(4), SRC, DST),
            numpy=lambda x, y, s, d: combined("sum", x[s] * y[:, None], d, 3),
        ),
        Case(
            "div-min",
            lambda x, y, s, d: G.send_ue_recv(x, y, s, d, "div", "min"),
            (spaced(3, 2, 1), positive(4, 1, 2), SRC, DST),
            numpy=lambda x, y, s, d: combined("min", x[s] / y, d, 3),
        ),
    ],
    "geometric.sample_neighbors": [
        Case(
            "all",
            lambda r, c, n: G.sample_neighbors(r, c, n, -1, 10 * r, True),
            GRAPH,
            numpy=lambda r, c, n: (*neighbors(r, c, n), 10 * neighbors(r, c, n)[0]),
            differentiable=False,
        )
    ],
    "geometric.weighted_sample_neighbors": [
        Case(
            "certain",  # what has no weight is not drawn where there is another
            lambda r, c, n, w: G.weighted_sample_neighbors(r, c, w, n, 1),
            (*GRAPH, integers(0, 1, 1, 0, 0, 2).astype(np.float32)),
            numpy=lambda *_: (integers(9, 5, 9), integers(1, 1, 0, 1)),
            differentiable=False,
        )
    ],
    "geometric.reindex_graph": [
        Case(
            "plain",
            lambda x, n, c: G.reindex_graph(x, n, c),
            (integers(5, 2, 9), integers(9, 1, 5, 1, 2, 7), integers(1, 3, 2)),
            numpy=lambda x, n, c: (
                np.asarray([2, 3, 0, 3, 1, 4]),
                np.asarray([0, 1, 1, 1, 2, 2]),
                np.asarray([5, 2, 9, 1, 7]),
            ),
            differentiable=False,
            known=True,
        )
    ],
    "geometric.reindex_heter_graph": [
        Case(
            "two",
            lambda x, a, b, c, d: G.reindex_heter_graph(x, [a, b], [c, d]),
            (
                integers(0, 1, 2),
                integers(8, 9, 0, 4, 7, 6, 7),
                integers(0, 2, 3, 5, 1),
                integers(2, 3, 2),
                integers(1, 3, 1),
            ),
            numpy=lambda x, a, b, c, d: (
                np.asarray([3, 4, 0, 5, 6, 7, 6, 0, 2, 8, 9, 1]),
                np.asarray([0, 0, 1, 1, 1, 2, 2, 0, 1, 1, 1, 2]),
                np.asarray([0, 1, 2, 8, 9, 4, 7, 6, 3, 5]),
            ),
            differentiable=False,
            known=True,
        )
    ],
    "geometric.send_uv": [
        Case(
            how,
            lambda x, y, s, d, how=how: G.send_uv(x, y, s, d, how),
            (real(3, 2), positive(3, 1), SRC, DST),
            numpy=lambda x, y, s, d, how=how: MESSAGES[how](x[s], y[d]),
        )
        for how in ("sub", "div")
    ],
}
