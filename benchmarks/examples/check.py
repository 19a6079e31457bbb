"""Whether a backend trains the examples as NumPy does: ``python -m benchmarks.examples.check``.

Each training step is traced by `to_static` for that backend and for NumPy, from the same weights,
and both take the same batches. Losses and parameters are compared over some steps, beside how far
float32 takes NumPy from float64: Adam turns the sign of a gradient near zero into a whole step.

    python -m benchmarks.examples.check                             all of them, by XLA
    python -m benchmarks.examples.check wgan_gp --backend native
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from typing import Any, NamedTuple

import numpy as np

import autograd_engine as paddle
from autograd_engine.compiler.backend import BACKENDS

from . import Array, Batch, Example
from .measure import NAMES, example

__all__ = ["TOLERANCE", "Distances", "Training", "distances", "main"]

TOLERANCE = 1e-4
STEPS = 20


@contextmanager
def _traced_for(backend: str) -> Iterator[None]:
    """Examples name native code; here they are traced for another backend."""
    given = paddle.jit.to_static

    @functools.wraps(given)
    def to_static(function: Any = None, **options: Any) -> Any:
        return given(function, **{**options, "backend": backend})

    paddle.jit.to_static = to_static
    try:
        yield
    finally:
        paddle.jit.to_static = given


def _flat(model: Any) -> Any:
    arrays = [t.numpy().astype(np.float64).ravel() for t in model.state_dict().values()]
    return np.concatenate(arrays)


def _apart(a: Any, b: Any) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


class Training:
    """Steps of an example on a backend, or with NumPy in float64: what rounding makes of them."""

    def __init__(self, which: Example, backend: str, dtype: str = "float32") -> None:
        self.dtype = dtype
        self.seconds: list[float] = []
        paddle.seed(0)
        weights = {k: v.numpy() for k, v in which.build_model().state_dict().items()}
        paddle.set_default_dtype(dtype)
        try:
            self.model = which.build_model()
            given = {k: paddle.to_tensor(self._as_here(a)) for k, a in weights.items()}
            self.model.set_state_dict(given)
            with _traced_for(backend):
                self._step = which.make_step(self.model, "static")
        finally:
            paddle.set_default_dtype("float32")

    def _as_here(self, array: Array) -> Array:
        return array.astype(self.dtype) if array.dtype == np.float32 else array

    def step(self, batch: Batch) -> float:
        """A step; the loss."""
        begun = time.perf_counter()
        paddle.set_default_dtype(self.dtype)
        try:
            loss = self._step(*[paddle.to_tensor(self._as_here(a)) for a in batch])
        finally:
            paddle.set_default_dtype("float32")
        found = float(loss.item())
        self.seconds.append(time.perf_counter() - begun)
        return found


class Distances(NamedTuple):
    """How far a backend is from NumPy, and NumPy from itself in float64, at most.

    Attributes
    ----------
    losses, parameters, rounding_of_losses, rounding : float
    first : float
        Seconds of the backend's first step.
    """

    losses: float
    parameters: float
    rounding_of_losses: float
    rounding: float
    first: float

    @property
    def equal(self) -> bool:
        """Within the tolerance; or as near to NumPy as two that are rounded so may be."""
        losses = self.losses <= max(TOLERANCE, 2 * self.rounding_of_losses)
        return losses and self.parameters <= max(TOLERANCE, 2 * self.rounding)


def distances(which: Example, backend: str, steps: int = STEPS) -> Distances:
    """Of some steps on the same batches, from the same weights."""
    mine, numpys = Training(which, backend), Training(which, "numpy")
    exact = Training(which, "numpy", "float64")
    worst = [0.0] * 4
    for batch in islice(cycle(list(which.sample_batches(16, 0))), steps):
        losses = [t.step(batch) for t in (mine, numpys, exact)]
        values = [_flat(t.model) for t in (mine, numpys, exact)]
        found = [abs(losses[0] / losses[1] - 1), _apart(values[0], values[1])]
        found += [abs(losses[1] / losses[2] - 1), _apart(values[1], values[2])]
        worst = [max(a, b) for a, b in zip(worst, found, strict=True)]
    return Distances(*worst, mine.seconds[0])


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.examples.check",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help=f"by default all of {', '.join(NAMES)}")
    parser.add_argument("--backend", choices=BACKENDS, default="jax")
    parser.add_argument("--steps", type=int, default=STEPS)
    args = parser.parse_args(argv)
    for name in args.names:
        if name not in NAMES:
            parser.error(f"there is no {name!r}; there are {', '.join(NAMES)}")
    head = [f"{args.steps} steps", "losses", "parameters", "numpy's from float64: losses"]
    head += ["parameters", "first step", f"{args.backend} and numpy are"]
    print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|", flush=True)
    wrong = False
    for name in args.names or NAMES:
        found = distances(example(name), args.backend, args.steps)
        wrong = wrong or not found.equal
        cells = [name, *(f"{value:.1e}" for value in found[:4]), f"{found.first:.1f} s"]
        cells.append("equal" if found.equal else "not equal")
        print(f"| {' | '.join(cells)} |", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
