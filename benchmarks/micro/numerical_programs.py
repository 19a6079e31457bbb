"""Programs of the literature on automatic differentiation, written once for several libraries.

Each takes a namespace with the names that PyTorch and ours have in common, and tensors of it. What
they compute is known from GradBench, ADBench and the papers that they collect: programs of many
small operations, of a few large ones, and with gradients inside gradients.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

__all__ = ["PROGRAMS", "Library"]

T = Any  # a tensor of the library


class Library(Protocol):
    """What the libraries spell differently."""

    xp: Any

    def leaf(self, value: Any) -> T:
        """A float64 tensor that gradients are asked of."""
        ...

    def constant(self, value: Any) -> T:
        """A float64 tensor that they are not asked of."""
        ...

    def grad(self, output: T, inputs: Sequence[T], *, create_graph: bool = False) -> Sequence[T]:
        """The gradients of a scalar."""
        ...


Step = Callable[[], Sequence[T]]


def logsumexp(lib: Library) -> Step:
    """The gradient of log(sum(exp(x))), 10,000 numbers, by its definition."""
    x = lib.leaf(np.random.default_rng(0).standard_normal(10_000))

    def step() -> Sequence[T]:
        top = x.detach().max()
        return lib.grad((x - top).exp().sum().log() + top, [x])

    return step


def least_squares(lib: Library) -> Step:
    """A polynomial of 15 coefficients fitted to the sign of 5,000 points between -1 and 1."""
    t = np.linspace(-1.0, 1.0, 5_000)
    powers = [lib.constant(t**k) for k in range(15)]
    sign = lib.constant(np.sign(t))
    x = lib.leaf(np.random.default_rng(1).standard_normal(15))

    def step() -> Sequence[T]:
        fitted = powers[0] * x[0]
        for k in range(1, 15):
            fitted = fitted + powers[k] * x[k]
        error = sign - fitted
        return lib.grad((error * error).sum() * 0.5, [x])

    return step


def determinant(lib: Library) -> Step:
    """A determinant of 5 x 5, by minors: scalars alone."""
    entries = np.random.default_rng(2).standard_normal((5, 5))

    def minors(rows: Sequence[Sequence[T]]) -> T:
        if len(rows) == 1:
            return rows[0][0]
        total = None
        for k, entry in enumerate(rows[0]):
            part = entry * minors([[*row[:k], *row[k + 1 :]] for row in rows[1:]])
            total = part if total is None else (total - part if k % 2 else total + part)
        return total

    a = lib.leaf(entries)

    def step() -> Sequence[T]:
        return lib.grad(minors([[a[i, j] for j in range(5)] for i in range(5)]), [a])

    return step


def k_means(lib: Library) -> Step:
    """The gradient, and the diagonal of the Hessian, of the cost of 10 centres for 2,000 points."""
    rng = np.random.default_rng(3)
    points = lib.constant(rng.standard_normal((2_000, 8)))
    centres = lib.leaf(rng.standard_normal((10, 8)))
    ones = lib.constant(np.ones((10, 8)))

    def step() -> Sequence[T]:
        difference = points[:, None, :] - centres[None, :, :]
        cost = lib.xp.amin((difference * difference).sum(-1), 1).sum()
        (g,) = lib.grad(cost, [centres], create_graph=True)
        return [g, *lib.grad((g * ones).sum(), [centres])]

    return step


def runge_kutta(lib: Library) -> Step:
    """100 steps of y' = (x0, x1 y0, x2 y1, ...) from 0, and the gradient of the last component."""
    x = lib.leaf(np.linspace(0.5, 1.5, 20))
    zero, one = lib.constant(np.zeros(20)), lib.constant(np.ones(1))

    def slope(y: T) -> T:
        return x * lib.xp.concat([one, y[:-1]])

    def step() -> Sequence[T]:
        y, h = zero, 0.01
        for _ in range(100):
            k1 = slope(y)
            k2 = slope(y + k1 * (h / 2))
            k3 = slope(y + k2 * (h / 2))
            k4 = slope(y + k3 * h)
            y = y + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6)
        return lib.grad(y[3], [x])

    return step


def particle(lib: Library) -> Step:
    """How far 40 steps of Euler's miss a height, and two derivatives of it by a charge's place."""

    def potential(x: T, w: T) -> T:
        first = ((x[0] - 10.0) ** 2 + (x[1] - (10.0 - w)) ** 2) ** 0.5
        second = ((x[0] - 10.0) ** 2 + x[1] ** 2) ** 0.5
        return 1.0 / first + 1.0 / second

    def missed(w: T) -> T:
        x, speed, h = lib.leaf([0.0, 8.0]), lib.constant([0.75, 0.0]), 0.1
        for _ in range(40):
            (force,) = lib.grad(potential(x, w), [x], create_graph=True)
            x, speed = x + speed * h, speed - force * h
        return (x[1] - 5.0) ** 2

    def step() -> Sequence[T]:
        w = lib.leaf(0.0)
        (slope,) = lib.grad(missed(w), [w], create_graph=True)
        return [slope, *lib.grad(slope, [w])]

    return step


def saddle(lib: Library) -> Step:
    """The least of the greatest of a difference of squares, by descents inside a descent."""

    def minimum(f: Callable[[T], T], start: T, *, inner: bool) -> T:
        x, rate = start, 0.25
        for _ in range(12 if inner else 8):
            (g,) = lib.grad(f(x), [x], create_graph=inner)
            x = x - g * rate
            x = x if inner else lib.leaf(x.detach().numpy())
        return x

    def outer(x: T) -> T:
        def gain(y: T) -> T:
            return (y * y).sum() - (x * x).sum()

        y = minimum(gain, lib.leaf([1.0, 1.0]), inner=True)
        return -gain(y)

    def step() -> Sequence[T]:
        return [minimum(outer, lib.leaf([1.0, 1.0]), inner=False)]

    return step


def mixture(lib: Library) -> Step:
    """The likelihood of 1,000 points in 8 dimensions under 10 Gaussians with a Wishart prior."""
    rng = np.random.default_rng(4)
    n, d, k = 1_000, 8, 10
    points = lib.constant(rng.standard_normal((n, d)))
    weights, means = lib.leaf(rng.standard_normal(k)), lib.leaf(rng.standard_normal((k, d)))
    logs, lower = (
        lib.leaf(rng.standard_normal((k, d)) * 0.1),
        lib.leaf(rng.standard_normal((k, d, d))),
    )
    below = lib.constant(np.tril(np.ones((d, d)), -1))
    diagonal = lib.constant(np.eye(d))

    def step() -> Sequence[T]:
        q = lib.xp.exp(logs)[:, :, None] * diagonal + lower * below
        away = points[:, None, :] - means
        scaled = lib.xp.einsum("kij,nkj->nki", q, away)
        terms = weights + logs.sum(-1) - (scaled * scaled).sum(-1) * 0.5
        likelihood = lib.xp.logsumexp(terms, -1).sum() - lib.xp.logsumexp(weights, -1) * n
        prior = (lib.xp.exp(logs) ** 2).sum() * 0.5 + ((lower * below) ** 2).sum() * 0.5
        return lib.grad(likelihood - prior + logs.sum(), [weights, means, logs, lower])

    return step


def bundle_adjustment(lib: Library) -> Step:
    """Reprojection errors of 5,000 observations, 20 cameras with radial distortion."""
    rng = np.random.default_rng(5)
    seen, from_camera = rng.integers(0, 1_000, 5_000), rng.integers(0, 20, 5_000)
    cameras = np.concatenate(
        [rng.standard_normal((20, 6)) * 0.1, rng.standard_normal((20, 5)) * 0.01 + 1.0], axis=1
    )
    cameras, points = (
        lib.leaf(cameras),
        lib.leaf(rng.standard_normal((1_000, 3)) + np.array([0.0, 0.0, 5.0])),
    )
    measured = lib.constant(rng.standard_normal((5_000, 2)))
    point_of, camera_of = lib.xp.as_tensor(seen), lib.xp.as_tensor(from_camera)

    def step() -> Sequence[T]:
        x = points[point_of] - cameras[camera_of][:, 3:6]
        camera = cameras[camera_of]
        turn = camera[:, :3]
        angle = ((turn * turn).sum(-1) + 1e-12) ** 0.5
        axis = turn / angle[:, None]
        cos, sin = lib.xp.cos(angle)[:, None], lib.xp.sin(angle)[:, None]
        crossed = lib.xp.stack(
            [
                axis[:, 1] * x[:, 2] - axis[:, 2] * x[:, 1],
                axis[:, 2] * x[:, 0] - axis[:, 0] * x[:, 2],
                axis[:, 0] * x[:, 1] - axis[:, 1] * x[:, 0],
            ],
            -1,
        )
        along = (axis * x).sum(-1)[:, None]
        turned = x * cos + crossed * sin + axis * along * (1.0 - cos)
        flat = turned[:, :2] / turned[:, 2:]
        square = (flat * flat).sum(-1)
        bent = flat * (1.0 + square * camera[:, 9] + square * square * camera[:, 10])[:, None]
        projected = bent * camera[:, 6:7] + camera[:, 7:9]
        error = projected - measured
        return lib.grad((error * error).sum(), [cameras, points])

    return step


def recurrent(lib: Library) -> Step:
    """Two layers whose gates have a weight for each unit, over 60 characters of 14 kinds."""
    rng = np.random.default_rng(6)
    size, length, layers = 14, 60, 2
    text = [lib.constant(row) for row in np.eye(size)[rng.integers(0, size, length + 1)]]
    main = lib.leaf(rng.standard_normal((2 * layers, 4 * size)) * 0.5)
    extra = lib.leaf(rng.standard_normal((3, size)) * 0.5)
    start = lib.leaf(rng.standard_normal((2 * layers, size)) * 0.5)

    def step() -> Sequence[T]:
        state = [start[k] for k in range(2 * layers)]
        total = None
        for now, following in itertools.pairwise(text):
            x = now * extra[0]
            for layer in range(layers):
                w, b = main[2 * layer], main[2 * layer + 1]
                hidden, cell = state[2 * layer], state[2 * layer + 1]
                forget = lib.xp.sigmoid(x * w[:size] + b[:size])
                keep = lib.xp.sigmoid(hidden * w[size : 2 * size] + b[size : 2 * size])
                out = lib.xp.sigmoid(x * w[2 * size : 3 * size] + b[2 * size : 3 * size])
                change = lib.xp.tanh(hidden * w[3 * size :] + b[3 * size :])
                cell = cell * forget + keep * change
                x = out * lib.xp.tanh(cell)
                state[2 * layer], state[2 * layer + 1] = x, cell
            guess = x * extra[1] + extra[2]
            part = (following * (guess - lib.xp.logsumexp(guess, -1))).sum()
            total = part if total is None else total + part
        return lib.grad(-total / length, [main, extra, start])

    return step


PROGRAMS: dict[str, Callable[[Library], Step]] = {
    program.__name__: program
    for program in (
        logsumexp,
        least_squares,
        determinant,
        k_means,
        runge_kutta,
        particle,
        saddle,
        mixture,
        bundle_adjustment,
        recurrent,
    )
}
