"""Draw handwritten digits with a Wasserstein GAN whose critic is held to slopes of length one.

Two networks play against each other: the generator makes images of random numbers, the critic
scores images, real ones high and made ones low. A critic whose slope has length one measures how
far the two distributions are apart. It is held to that by a penalty (Gulrajani et al. 2017)::

    loss = mean critic(made) - mean critic(real) + 10 mean (|d critic / d image| - 1)^2

at images between made and real ones. The gradient in the penalty is taken by `paddle.grad` with
``create_graph=True``, and `backward` of the loss differentiates it once more.

    python examples/wgan_gp.py                    # 3000 steps
    python examples/wgan_gp.py --mode static      # the same steps compiled

The data are scikit-learn's 1797 real images of 8x8 pixels. What is made is judged by the nearest
real image: which digits there are, and how near it is in comparison to other real images.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

try:
    import matplotlib
    import numpy as np
    from numpy.typing import NDArray
    from rich.progress import Progress, TextColumn
    from sklearn.datasets import load_digits
    from threadpoolctl import threadpool_limits

    import autograd_engine as paddle
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is not installed: pip install "autograd-engine[examples]"')

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from autograd_engine import nn

Array = NDArray[Any]
Tensor = paddle.Tensor

PIXELS, NOISE, WIDTH = 64, 16, 128
BATCH = 64
CRITIC_STEPS = 3  # of the critic to one of the generator
PENALTY = 10.0
RATE = 5e-4


# --- the networks


def generator() -> Any:
    """Noise [N, 16] to images [N, 64] in [0, 1]."""
    return nn.Sequential(
        nn.Linear(NOISE, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, PIXELS),
        nn.Sigmoid(),
    )


def critic() -> Any:
    """Images [N, 64] to scores [N, 1]; no normalisation, for the penalty is of each image."""
    return nn.Sequential(
        nn.Linear(PIXELS, WIDTH),
        nn.LeakyReLU(0.2),
        nn.Linear(WIDTH, WIDTH),
        nn.LeakyReLU(0.2),
        nn.Linear(WIDTH, 1),
    )


def build_model() -> Any:
    return nn.LayerDict({"generator": generator(), "critic": critic()})


def gradient_penalty(score: Any, real: Any, made: Any, weight: Any) -> Any:
    """How far the slope of `score` is from length one, between real and made images."""
    between = (weight * real + (1.0 - weight) * made).detach()
    between.stop_gradient = False
    (slope,) = paddle.grad(score(between).sum(), [between], create_graph=True)
    length = paddle.sqrt(paddle.sum(slope * slope, axis=1) + 1e-12)
    return paddle.mean((length - 1.0) ** 2)


# --- training


def make_step(model: Any, mode: str = "eager", rate: float = RATE) -> Callable[..., Any]:
    """One training step: some steps of the critic, and one of the generator.

    It takes real images [steps, N, 64], noise [steps + 1, N, 16] and weights [steps, N, 1], and
    returns the loss of the last step of the critic: without the penalty its negative is an estimate
    of the distance between the two distributions.
    """
    make, score = model["generator"], model["critic"]
    makers, critics = (
        paddle.optimizer.Adam(rate, beta1=0.5, beta2=0.9, parameters=layer.parameters())
        for layer in (make, score)
    )

    def step(real: Tensor, noise: Tensor, weight: Tensor) -> Tensor:
        for k in range(CRITIC_STEPS):
            with paddle.no_grad():
                made = make(noise[k])
            loss = paddle.mean(score(made)) - paddle.mean(score(real[k]))
            loss = loss + PENALTY * gradient_penalty(score, real[k], made, weight[k])
            loss.backward()
            critics.step()
            critics.clear_grad()
        (-paddle.mean(score(make(noise[CRITIC_STEPS])))).backward()
        makers.step()
        makers.clear_grad()
        critics.clear_grad()  # the generator's loss reaches the critic too
        return loss

    return step if mode == "eager" else paddle.jit.to_static(step, backend="native")


def real_images() -> Array:
    return (load_digits().data / 16.0).astype("float32")


def random_batches(images: Array, rng: np.random.Generator) -> Iterator[tuple[Array, ...]]:
    """Real images, noise and weights for one step each."""
    while True:
        rows = rng.integers(len(images), size=(CRITIC_STEPS, BATCH))
        noise = rng.standard_normal((CRITIC_STEPS + 1, BATCH, NOISE), dtype="float32")
        yield images[rows], noise, rng.random((CRITIC_STEPS, BATCH, 1), dtype="float32")


def sample_batches(count: int, seed: int = 0) -> list[tuple[Array, ...]]:
    batches = random_batches(real_images(), np.random.default_rng(seed))
    return [next(batches) for _ in range(count)]


def train(model: Any, images: Array, args: argparse.Namespace) -> list[float]:
    """The critic's loss of each step."""
    step = make_step(model, args.mode, args.learning_rate)
    batches = random_batches(images, np.random.default_rng(args.seed))
    losses: list[float] = []
    columns = (*Progress.get_default_columns(), TextColumn("loss {task.fields[loss]:.3f}"))
    with Progress(*columns) as progress:
        task = progress.add_task("WGAN-GP", total=args.steps, loss=math.nan)
        for number in range(1, args.steps + 1):
            loss = step(*map(paddle.to_tensor, next(batches))).item()
            if math.isnan(loss):
                raise SystemExit(
                    f"loss is nan at step {number}: run again with --detect-anomaly, which runs "
                    "the steps under paddle.autograd.detect_anomaly(), to see which operation "
                    "made it"
                )
            losses.append(loss)
            progress.update(task, advance=1, loss=loss)
    return losses


# --- how good they are


def sample(model: Any, count: int, seed: int) -> Array:
    noise = np.random.default_rng(seed).standard_normal((count, NOISE), dtype="float32")
    with paddle.no_grad():
        images: Array = model["generator"](paddle.to_tensor(noise)).numpy()
    return images


def nearest(points: Array, others: Array) -> tuple[Array, Array]:
    """For each point the nearest of the others, and its distance."""
    squares = (points**2).sum(1)[:, None] - 2 * points @ others.T + (others**2).sum(1)
    rows = squares.argmin(axis=1)
    return rows, np.sqrt(np.maximum(squares[np.arange(len(points)), rows], 0.0))


def judge(made: Array, images: Array) -> dict[str, Any]:
    """Which digits were made, and their distance to real ones over that of real ones."""
    rows, distances = nearest(made, images)
    classes = np.bincount(load_digits().target[rows], minlength=10)
    half = len(images) // 2
    _, between_real = nearest(images[half:], images[:half])
    return {"classes": classes, "distance": float(distances.mean() / between_real.mean())}


def draw(losses: Sequence[float], made: Array, images: Array, path: Path) -> None:
    """Made images, the nearest real ones, and the losses."""
    shown = 48
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    near = images[nearest(made[:shown], images)[0]]
    for cell, grid, title in ((axes[0], made[:shown], "made"), (axes[1], near, "nearest real")):
        tiles = np.pad(grid.reshape(6, 8, 8, 8), ((0, 0), (0, 0), (1, 1), (1, 1)))
        cell.imshow(tiles.transpose(0, 2, 1, 3).reshape(60, 80), cmap="gray_r")
        cell.set_title(title)
        cell.axis("off")
    axes[2].plot(-np.asarray(losses), lw=0.5)
    axes[2].set(title="distance that the critic sees, less its penalty", xlabel="step")
    temporary = path.with_name(f".{path.name}")
    figure.savefig(temporary, format="png", dpi=120)
    temporary.replace(path)
    plt.close(figure)


# --- the command line


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Draw digits with a Wasserstein GAN.")
    parser.add_argument("--steps", type=int, default=3000)
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
    """Train, judge what is made, draw."""
    args = parse(argv)
    paddle.seed(args.seed)
    images = real_images()
    model = build_model()
    watch = paddle.autograd.detect_anomaly() if args.detect_anomaly else nullcontext()
    # Matrices this small gain nothing from threads of the BLAS. What overflows is told as a NaN.
    with watch, threadpool_limits(1, "blas"), np.errstate(all="ignore"):
        losses = train(model, images, args)
    made = sample(model, 1000, args.seed)
    found = judge(made, images)
    picture = args.out / "wgan_gp.png"
    draw(losses, made, images, picture)
    print(f"of 1000 images, so many look like 0 to 9: {found['classes'].tolist()}")
    print(f"distance to real images, over that between real ones: {found['distance']:.2f}")
    print(f"picture: {picture}")
    return {"losses": losses, "picture": picture, **found}


if __name__ == "__main__":
    main()
