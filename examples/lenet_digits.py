"""Train a LeNet to read handwritten digits: the same layers on the tape, traced, or as a program.

Convolutions look for strokes, pools make it matter less where exactly they are, and linear layers
decide (LeCun et al. 1998). ``--mode`` says how the training step is run:

    python examples/lenet_digits.py                    # eager: operation by operation
    python examples/lenet_digits.py --mode static      # traced once by jit.to_static, and compiled
    python examples/lenet_digits.py --mode program     # built as a program, run by an Executor

The data are scikit-learn's 1797 real images of 8x8 pixels, in a fixed stratified split with a fifth
for testing; in training some are moved by a pixel. Sizes, rate and moves were chosen with a part of
the training images held back. With ten seeds 98.6 % to 99.7 % of the test images are read.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

try:
    import matplotlib
    import numpy as np
    from numpy.typing import NDArray
    from rich.progress import Progress, TextColumn
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from threadpoolctl import threadpool_limits

    import autograd_engine as paddle
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is not installed: pip install "autograd-engine[examples]"')

import autograd_engine.nn.functional as F  # noqa: N812 - as users of the reference know it

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from autograd_engine import nn

Array = NDArray[Any]
Tensor = paddle.Tensor

BATCH = 32
EPOCHS = 30
RATE = 5e-3
MOVED = 0.3  # of the images in training, by up to one pixel


# --- the data


class Digits(paddle.io.Dataset):  # type: ignore[misc]
    """Images [1, 8, 8] in [0, 1] with their classes.

    Parameters
    ----------
    part : {"train", "test"}
        Of a split that is always the same.
    seed : int
        Of the random moves of training images.
    """

    def __init__(self, part: str, seed: int = 0) -> None:
        bunch = load_digits()
        parts = train_test_split(
            (bunch.images / 16.0).astype("float32")[:, None],
            bunch.target.astype("int64"),
            test_size=0.2,
            random_state=2024,
            stratify=bunch.target,
        )
        self.images, self.labels = parts[part == "test" :: 2]
        self.moved = np.random.default_rng(seed) if part == "train" else None

    def __getitem__(self, index: int) -> tuple[Array, Any]:
        image, label = self.images[index], self.labels[index]
        if self.moved is not None and self.moved.random() < MOVED:
            down, right = self.moved.integers(0, 3, 2)
            image = np.pad(image, ((0, 0), (1, 1), (1, 1)))[:, down : down + 8, right : right + 8]
        return image, label

    def __len__(self) -> int:
        return len(self.labels)


# --- the model


class LeNet(nn.Layer):  # type: ignore[misc]
    """Images [N, 1, 8, 8] to the logits of ten classes."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2),
            nn.Conv2D(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10)
        )

    def forward(self, images: Any) -> Any:
        return self.classifier(self.features(images))


def build_model() -> Any:
    return LeNet()


def make_step(model: Any, mode: str = "eager", schedule: Any = RATE) -> Callable[..., Any]:
    """One training step: a function of images and labels that returns the loss."""
    optimizer = paddle.optimizer.Adam(schedule, parameters=model.parameters())

    def step(images: Tensor, labels: Tensor) -> Tensor:
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step if mode == "eager" else paddle.jit.to_static(step, backend="native")


def make_program(schedule: Any = RATE) -> tuple[Callable[..., Any], Callable[[], dict[str, Any]]]:
    """The same step as a program that is built from the same layers, and its parameters' values."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        images = paddle.static.data("images", [BATCH, 1, 8, 8])
        labels = paddle.static.data("labels", [BATCH], "int64")
        model = build_model()
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        paddle.optimizer.Adam(schedule).minimize(loss)
    scope, executor = paddle.static.Scope(), paddle.static.Executor()
    executor.run(startup, scope=scope)
    run = executor.prepare(main, feed=["images", "labels"], fetch_list=[loss], scope=scope)

    def values() -> dict[str, Any]:
        """As `set_state_dict` of a layer takes them."""
        named = model.named_parameters()
        return {name: np.array(scope.find_var(p.name).get_tensor()) for name, p in named}

    return lambda images, labels: run(images.numpy(), labels.numpy())[0], values


def loader(seed: int) -> Any:
    return paddle.io.DataLoader(
        Digits("train", seed), batch_size=BATCH, shuffle=True, drop_last=True
    )


def sample_batches(count: int, seed: int = 0) -> list[tuple[Array, Array]]:
    paddle.seed(seed)
    batches = zip(range(count), loader(seed), strict=False)
    return [(images.numpy(), labels.numpy()) for _, (images, labels) in batches]


# --- training


def train(args: argparse.Namespace) -> tuple[Any, list[float]]:
    """A trained model, and the loss of each step."""
    batches = loader(args.seed)
    steps = args.epochs * len(batches) if args.steps is None else args.steps
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(args.learning_rate, T_max=steps)
    paddle.seed(args.seed)
    model = build_model()
    if args.mode == "program":
        paddle.seed(args.seed)
        step, values = make_program(schedule)
    else:
        step = make_step(model, args.mode, schedule)
    losses: list[float] = []
    columns = (*Progress.get_default_columns(), TextColumn("loss {task.fields[loss]:.3f}"))
    with Progress(*columns) as progress:
        task = progress.add_task("LeNet", total=steps, loss=math.nan)
        while len(losses) < steps:
            for images, labels in batches:
                loss = float(step(images, labels))
                if math.isnan(loss):
                    raise SystemExit(
                        f"loss is nan at step {len(losses) + 1}: run again with --detect-anomaly, "
                        "which runs the steps under paddle.autograd.detect_anomaly(), to see which "
                        "operation made it"
                    )
                losses.append(loss)
                schedule.step()
                progress.update(task, advance=1, loss=loss)
                if len(losses) == steps:
                    break
    if args.mode == "program":
        model.set_state_dict(values())
    return model, losses


def predict(model: Any, images: Array) -> Array:
    model.eval()
    with paddle.no_grad():
        return np.asarray(model(paddle.to_tensor(images)).numpy().argmax(axis=1))


def draw(model: Any, losses: Sequence[float], test: Digits, found: Array, path: Path) -> None:
    """The losses, the first filters, and test images that were taken for others."""
    figure = plt.figure(figsize=(13, 4), layout="constrained")
    left, middle, right = figure.subfigures(1, 3)
    axes = left.subplots()
    axes.semilogy(losses, lw=0.5)
    axes.set(title="loss (0.50 at best, as labels are smoothed)", xlabel="step")
    middle.suptitle("filters of the first convolution")
    for cell, kernel in zip(
        middle.subplots(4, 8).flat, model.features[0].weight.numpy()[:, 0], strict=True
    ):
        cell.imshow(kernel, cmap="RdBu", vmin=-0.6, vmax=0.6)
        cell.axis("off")
    wrong = np.flatnonzero(found != test.labels)
    right.suptitle(f"{len(wrong)} of {len(test)} test images are taken for others")
    for k, cell in enumerate(right.subplots(2, 4).flat):
        cell.axis("off")
        if k < len(wrong):
            cell.imshow(test.images[wrong[k], 0], cmap="gray_r")
            cell.set_title(f"{test.labels[wrong[k]]} as {found[wrong[k]]}", fontsize=9)
    temporary = path.with_name(f".{path.name}")
    figure.savefig(temporary, format="png", dpi=120)
    temporary.replace(path)
    plt.close(figure)


# --- the command line


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a LeNet on handwritten digits.")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--steps", type=int, help="in place of epochs")
    parser.add_argument("--mode", choices=("eager", "static", "program"), default="eager")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learning-rate", type=float, default=RATE)
    parser.add_argument("--out", type=Path, default=Path("."), help="directory of the picture")
    parser.add_argument("--detect-anomaly", action="store_true", help="name what makes a NaN")
    args = parser.parse_args(argv)
    if args.epochs < 1 or (args.steps is not None and args.steps < 1):
        parser.error("--epochs and --steps must be at least 1")
    if args.seed < 0 or not args.learning_rate > 0:
        parser.error("--learning-rate must be above 0, and --seed at least 0")
    if args.detect_anomaly and args.mode == "program":
        parser.error("--detect-anomaly looks at the operations of --mode eager and --mode static")
    if not args.out.is_dir():
        parser.error(f"--out: there is no directory {str(args.out)!r}")
    return args


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Train, test, draw."""
    args = parse(argv)
    watch = paddle.autograd.detect_anomaly() if args.detect_anomaly else nullcontext()
    # Matrices this small gain nothing from threads of the BLAS. What overflows is told as a NaN.
    with watch, threadpool_limits(1, "blas"), np.errstate(all="ignore"):
        model, losses = train(args)
    test = Digits("test")
    found = predict(model, test.images)
    accuracy = float((found == test.labels).mean())
    picture = args.out / "lenet_digits.png"
    draw(model, losses, test, found, picture)
    print(f"last loss {losses[-1]:.4f}, {accuracy:.2%} of {len(test)} test images: {picture}")
    return {"losses": losses, "accuracy": accuracy, "picture": picture}


if __name__ == "__main__":
    main()
