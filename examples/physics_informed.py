"""Solve Burgers' equation with a network that never sees the solution, only the equation.

The viscous Burgers equation is a model of a shock wave::

    u_t + u u_x = nu u_xx      for -1 < x < 1, 0 < t < 1,  nu = 0.02 / pi
    u(0, x) = -sin(pi x),      u(t, -1) = u(t, 1) = 0

A network N(t, x) is trained so that the left side less the right side, the residual, vanishes at
random points (a physics-informed network: Raissi, Perdikaris, Karniadakis 2019). The loss holds
first and second derivatives of the network with respect to its inputs, taken by `paddle.grad` with
``create_graph=True``; `backward` then differentiates through them with respect to the weights.

    python examples/physics_informed.py                   # 4000 steps
    python examples/physics_informed.py --mode static     # the same steps compiled

The start and the walls are built into u(t, x) = -sin(pi x) + t (1 - x^2) N(t, x), so that the
residual is the whole loss. The exact solution is known as a quotient of two integrals (Cole 1951,
Hopf 1950), and says how far off the network is.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

try:
    import matplotlib
    import numpy as np
    from numpy.typing import NDArray
    from rich.progress import Progress, TextColumn
    from threadpoolctl import threadpool_limits

    import autograd_engine as paddle
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is not installed: pip install "autograd-engine[examples]"')

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from autograd_engine import nn

Array = NDArray[Any]
Tensor = paddle.Tensor

NU = 0.02 / math.pi
POINTS = 512  # at which the residual is taken in one step
RATE = 3e-3


# --- the network


class Solution(nn.Layer):  # type: ignore[misc]
    """u(t, x), with the initial and boundary values built in.

    Parameters
    ----------
    width, depth : int
        Of the hidden layers; tanh, for relu has no second derivative.
    """

    def __init__(self, width: int = 32, depth: int = 4) -> None:
        super().__init__()
        sizes = [2, *[width] * depth]
        layers: list[Any] = []
        for inputs, outputs in pairwise(sizes):
            layers += [nn.Linear(inputs, outputs), nn.Tanh()]
        self.network = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, t: Any, x: Any) -> Any:
        free = self.network(paddle.concat([t, x], axis=1))
        return t * (1.0 - x * x) * free - paddle.sin(math.pi * x)


def residual(model: Any, t: Any, x: Any) -> Any:
    """u_t + u u_x - nu u_xx at points t, x of shape [N, 1].

    Points do not see each other, so the gradient of the sum over all of them holds, at each, the
    derivative at that point.
    """
    t, x = t.detach(), x.detach()  # the caller's points need no gradient
    t.stop_gradient = x.stop_gradient = False
    u = model(t, x)
    u_t, u_x = paddle.grad(u.sum(), [t, x], create_graph=True)
    (u_xx,) = paddle.grad(u_x.sum(), [x], create_graph=True)
    return u_t + u * u_x - NU * u_xx


# --- training


def build_model() -> Any:
    return Solution()


def make_step(model: Any, mode: str = "eager", schedule: Any = RATE) -> Callable[..., Any]:
    """One training step: a function of t and x that returns the loss."""
    optimizer = paddle.optimizer.Adam(schedule, parameters=model.parameters())

    def step(t: Tensor, x: Tensor) -> Tensor:
        loss = paddle.mean(residual(model, t, x) ** 2)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step if mode == "eager" else paddle.jit.to_static(step, backend="native")


def random_points(rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Times and places, new ones in every step."""
    while True:
        t = rng.uniform(0, 1, (POINTS, 1)).astype("float32")
        x = rng.uniform(-1, 1, (POINTS, 1)).astype("float32")
        yield t, x


def sample_batches(count: int, seed: int = 0) -> list[tuple[Array, Array]]:
    points = random_points(np.random.default_rng(seed))
    return [next(points) for _ in range(count)]


def train(model: Any, args: argparse.Namespace) -> list[float]:
    """The loss of each step."""
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(args.learning_rate, T_max=args.steps)
    step = make_step(model, args.mode, schedule)
    points = random_points(np.random.default_rng(args.seed))
    losses: list[float] = []
    columns = (*Progress.get_default_columns(), TextColumn("loss {task.fields[loss]:.2e}"))
    with Progress(*columns) as progress:
        task = progress.add_task("Burgers' equation", total=args.steps, loss=math.nan)
        for number in range(1, args.steps + 1):
            loss = step(*map(paddle.to_tensor, next(points))).item()
            if math.isnan(loss):
                raise SystemExit(
                    f"loss is nan at step {number}: run again with --detect-anomaly, which runs "
                    "the steps under paddle.autograd.detect_anomaly(), to see which operation "
                    "made it"
                )
            losses.append(loss)
            schedule.step()
            progress.update(task, advance=1, loss=loss)
    return losses


# --- what it should be


def exact(t: Array, x: Array) -> Array:
    """The solution of Cole and Hopf for t > 0, by quadrature over the heat kernel.

    u = -int sin(pi y) f(y) G dy / int f(y) G dy, where y = x - s sqrt(4 nu t), G is exp(-s^2), and
    f(y) = exp(-cos(pi y) / (2 pi nu)); its largest exponent is taken out of both integrals.
    """
    nodes, weights = np.polynomial.hermite.hermgauss(100)
    y = x[..., None] - nodes * np.sqrt(4 * NU * t[..., None])
    exponent = -np.cos(np.pi * y) / (2 * np.pi * NU)
    f = weights * np.exp(exponent - exponent.max(axis=-1, keepdims=True))
    return np.asarray(-(np.sin(np.pi * y) * f).sum(axis=-1) / f.sum(axis=-1))


def compare(model: Any) -> tuple[Array, Array, Array, Array]:
    """A grid of times and places, and what the network and the exact solution say there."""
    t, x = np.meshgrid(np.linspace(0.01, 1, 100), np.linspace(-1, 1, 257), indexing="ij")
    with paddle.no_grad():
        columns = (paddle.to_tensor(a.reshape(-1, 1).astype("float32")) for a in (t, x))
        found = model(*columns).numpy().reshape(t.shape)
    return t, x, found, exact(t, x)


def draw(losses: Sequence[float], grid: tuple[Array, Array, Array, Array], path: Path) -> None:
    """The solution over time, some moments of it beside the exact one, and the losses."""
    t, x, found, true = grid
    figure, (field, moments, curve) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    image = field.pcolormesh(t, x, found, cmap="RdBu_r", vmin=-1, vmax=1, rasterized=True)
    field.set(title="u(t, x) of the network", xlabel="t", ylabel="x")
    figure.colorbar(image)
    for row in (24, 49, 74, 99):
        moments.plot(x[row], true[row], color="lightgray", lw=5)
        moments.plot(x[row], found[row], label=f"t = {t[row, 0]:.2f}")
    moments.set(title="the exact solution in gray", xlabel="x", ylabel="u")
    moments.legend()
    curve.semilogy(losses, lw=0.5)
    curve.set(title="mean squared residual", xlabel="step")
    temporary = path.with_name(f".{path.name}")
    figure.savefig(temporary, format="png", dpi=120)
    temporary.replace(path)
    plt.close(figure)


# --- the command line


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Solve Burgers' equation with a network.")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--mode", choices=("eager", "static"), default="eager")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learning-rate", type=float, default=RATE)
    parser.add_argument("--out", type=Path, default=Path("."), help="directory of the picture")
    parser.add_argument("--detect-anomaly", action="store_true", help="name what makes a NaN")
    args = parser.parse_args(argv)
    if args.steps < 1 or args.seed < 0 or not args.learning_rate > 0:
        parser.error("--steps and --learning-rate must be above 0, and --seed at least 0")
    if not args.out.is_dir():
        parser.error(f"--out: there is no directory {str(args.out)!r}")
    return args


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Train, compare with the exact solution, draw."""
    args = parse(argv)
    paddle.seed(args.seed)
    model = build_model()
    watch = paddle.autograd.detect_anomaly() if args.detect_anomaly else nullcontext()
    # Matrices this small gain nothing from threads of the BLAS. What overflows is told as a NaN.
    with watch, threadpool_limits(1, "blas"), np.errstate(all="ignore"):
        losses = train(model, args)
    grid = compare(model)
    error = float(np.linalg.norm(grid[2] - grid[3]) / np.linalg.norm(grid[3]))
    picture = args.out / "physics_informed.png"
    draw(losses, grid, picture)
    print(f"residual {losses[-1]:.1e}; distance to the exact solution {error:.2%}: {picture}")
    return {"losses": losses, "error": error, "picture": picture}


if __name__ == "__main__":
    main()
