"""Updates written in NumPy, for the libraries that leave them to the user."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .workloads import BETA1, BETA2, EPSILON, Arrays, Workload

__all__ = ["optimizer"]


def optimizer(w: Workload, params: Arrays) -> Callable[[Mapping[str, Any]], None]:
    """A function of the gradients that changes `params` in place."""
    number = np.dtype(w.dtype).type
    if w.optimizer == "sgd":
        rate = number(w.rate)

        def sgd(grads: Mapping[str, Any]) -> None:
            for name, p in params.items():
                p -= rate * grads[name]

        return sgd
    first = {name: np.zeros_like(p) for name, p in params.items()}
    second = {name: np.zeros_like(p) for name, p in params.items()}
    old1, new1, old2, new2 = (number(b) for b in (BETA1, 1 - BETA1, BETA2, 1 - BETA2))
    count = [0]

    def adam(grads: Mapping[str, Any]) -> None:
        count[0] += 1
        size = number(w.rate / (1 - BETA1 ** count[0]))
        root = number(1 / math.sqrt(1 - BETA2 ** count[0]))
        for name, p in params.items():
            g, m, v = grads[name], first[name], second[name]
            m *= old1
            m += new1 * g
            v *= old2
            v += new2 * (g * g)
            p -= size * m / (np.sqrt(v) * root + number(EPSILON))

    return adam
