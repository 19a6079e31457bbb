"""Train two small networks on handwritten digits, eagerly and as static programs.

The model is one function of its parameters and images. Run eagerly it computes and is taped; run
while a program is built it appends operators. Both modes start from the same seed and see the
same batches, and the parameters that come out are compared bit for bit.

    python examples/digits.py                     # both models
    python examples/digits.py --model mlp --epochs 2

The data are scikit-learn's 1797 real 8x8 images, in a fixed stratified split with a fifth for
testing. Hyper-parameters were chosen by cross-validation on the training images alone. Exits with
1 when the two modes differ or the loss is no longer a number, with 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

try:
    import matplotlib
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Table
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split
    from threadpoolctl import threadpool_limits

    import autograd_engine as paddle
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is not installed: pip install "autograd-engine[examples]"')

import autograd_engine.nn.functional as F  # noqa: N812 - as users of the reference know it

matplotlib.use("Agg")
import matplotlib.pyplot as plt

Array: TypeAlias = NDArray[Any]
# What a model computes with: Tensors, or Variables of a program.
Operand: TypeAlias = Any
Params: TypeAlias = dict[str, Operand]
Tick: TypeAlias = Callable[[float], None]

SEED = 2024
CLASSES = 10


# --- the models


@dataclass(frozen=True)
class Model:
    """A network, and how it is trained."""

    name: str
    shapes: dict[str, tuple[int, ...]]
    logits: Callable[[Params, Operand], Operand]
    optimizer: Callable[..., Any]
    learning_rate: float
    epochs: int
    batch: int

    def parameters(self) -> Params:
        """New parameters of the current mode, in the order of `shapes`."""
        return {
            name: paddle.create_parameter(shape, name=f"{self.name}.{name}", is_bias=_is_bias(name))
            for name, shape in self.shapes.items()
        }


def _is_bias(name: str) -> bool:
    return name.endswith("bias")


def mlp(params: Params, images: Operand) -> Operand:
    """Logits of a perceptron with one hidden layer."""
    pixels = paddle.flatten(images, start_axis=1)
    hidden = F.relu(F.linear(pixels, params["hidden.weight"], params["hidden.bias"]))
    return F.linear(hidden, params["out.weight"], params["out.bias"])


def cnn(params: Params, images: Operand) -> Operand:
    """Logits of a network in the manner of LeNet (LeCun et al. 1998)."""
    x = F.relu(F.conv2d(images, params["conv1.weight"], params["conv1.bias"], padding=1))
    x = F.max_pool2d(x, 2)
    x = F.relu(F.conv2d(x, params["conv2.weight"], params["conv2.bias"], padding=1))
    x = paddle.flatten(F.max_pool2d(x, 2), start_axis=1)
    x = F.relu(F.linear(x, params["hidden.weight"], params["hidden.bias"]))
    return F.linear(x, params["out.weight"], params["out.bias"])


def loss_of(logits: Operand, labels: Operand) -> Operand:
    """Cross entropy with smoothed labels, which helps on so few images; 0.5003 at best."""
    return F.cross_entropy(logits, labels, label_smoothing=0.1)


MODELS = {
    "mlp": Model(
        name="mlp",
        shapes={
            "hidden.weight": (64, 128),
            "hidden.bias": (128,),
            "out.weight": (128, CLASSES),
            "out.bias": (CLASSES,),
        },
        logits=mlp,
        optimizer=paddle.optimizer.Momentum,
        learning_rate=0.05,
        epochs=40,
        batch=16,
    ),
    "cnn": Model(
        name="cnn",
        shapes={
            "conv1.weight": (16, 1, 3, 3),
            "conv1.bias": (16,),
            "conv2.weight": (32, 16, 3, 3),
            "conv2.bias": (32,),
            "hidden.weight": (128, 64),
            "hidden.bias": (64,),
            "out.weight": (64, CLASSES),
            "out.bias": (CLASSES,),
        },
        logits=cnn,
        optimizer=paddle.optimizer.Adam,
        learning_rate=0.002,
        epochs=25,
        batch=32,
    ),
}


# --- the data


@dataclass(frozen=True)
class Digits:
    """Images [N, 1, 8, 8] in [0, 1], and their classes."""

    images: Array
    labels: Array

    def __len__(self) -> int:
        return len(self.labels)

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """All of it once, in random order; the last batch may be smaller."""
        order = rng.permutation(len(self))
        for start in range(0, len(self), size):
            rows = order[start : start + size]
            yield self.images[rows], self.labels[rows]


def load_data() -> tuple[Digits, Digits]:
    """Training and test images, always the same split."""
    bunch = load_digits()
    images = (bunch.images / 16.0).astype("float32")[:, None]
    labels = bunch.target.astype("int64")
    split = train_test_split(images, labels, test_size=0.2, random_state=SEED, stratify=labels)
    train_images, test_images, train_labels, test_labels = split
    return Digits(train_images, train_labels), Digits(test_images, test_labels)


# --- training


class Diverged(Exception):
    """The loss is no longer a number."""


@dataclass(frozen=True)
class Trained:
    """What came out of one training in one mode."""

    model: str
    mode: str
    losses: list[float]  # the mean of each epoch
    seconds: list[float]  # of each epoch
    parameters: dict[str, Array]
    predicted: Array  # classes of the test images

    def accuracy(self, test: Digits) -> float:
        return float((self.predicted == test.labels).mean())


Step: TypeAlias = Callable[[Array, Array], float]


def run_epochs(
    step: Step, model: Model, mode: str, train: Digits, epochs: int, tick: Tick
) -> tuple[list[float], list[float]]:
    """Losses and seconds of each epoch; batches are the same for every mode."""
    rng = np.random.default_rng(SEED)
    losses: list[float] = []
    seconds: list[float] = []
    for epoch in range(epochs):
        total = 0.0
        start = time.perf_counter()
        for number, (images, labels) in enumerate(train.batches(model.batch, rng)):
            loss = step(images, labels)
            if not math.isfinite(loss):
                raise Diverged(
                    f"{model.name}, {mode}: the loss is {loss} at step {number + 1} of epoch "
                    f"{epoch + 1}; try a smaller --learning-rate"
                )
            total += loss * len(labels)
        seconds.append(time.perf_counter() - start)
        losses.append(total / len(train))
        tick(losses[-1])
    return losses, seconds


def train_eagerly(
    model: Model, train: Digits, test: Digits, epochs: int, rate: float, tick: Tick
) -> Trained:
    """Train operation by operation, on the tape."""
    paddle.seed(SEED)
    params = model.parameters()
    optimizer = model.optimizer(learning_rate=rate, parameters=list(params.values()))

    def step(images: Array, labels: Array) -> float:
        logits = model.logits(params, paddle.to_tensor(images))
        loss = loss_of(logits, paddle.to_tensor(labels))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    losses, seconds = run_epochs(step, model, "eager", train, epochs, tick)
    with paddle.no_grad():
        logits = model.logits(params, paddle.to_tensor(test.images)).numpy()
    values = {name: p.numpy() for name, p in params.items()}
    return Trained(model.name, "eager", losses, seconds, values, logits.argmax(axis=1))


@contextmanager
def static_mode() -> Iterator[None]:
    """Static mode inside a ``with`` block, with parameters in a scope of its own."""
    paddle.enable_static()
    try:
        with paddle.static.scope_guard(paddle.static.Scope()):
            yield
    finally:
        paddle.disable_static()


def train_statically(
    model: Model, train: Digits, test: Digits, epochs: int, rate: float, tick: Tick
) -> Trained:
    """Train by running a program that holds the model, its gradients and the updates."""
    paddle.seed(SEED)
    main, startup, testing = (paddle.static.Program() for _ in range(3))
    with static_mode():
        with paddle.static.program_guard(main, startup):
            images = paddle.static.data("images", [None, 1, 8, 8], "float32")
            labels = paddle.static.data("labels", [None], "int64")
            loss = loss_of(model.logits(model.parameters(), images), labels)
            model.optimizer(learning_rate=rate).minimize(loss)
        with paddle.static.program_guard(testing, startup):
            images = paddle.static.data("images", [None, 1, 8, 8], "float32")
            params = model.parameters()
            logits = model.logits(params, images)
        exe = paddle.static.Executor(backend="numpy")  # the one that has the bits of eager mode
        exe.run(startup)

        def step(images: Array, labels: Array) -> float:
            feed = {"images": images, "labels": labels}
            return float(exe.run(main, feed=feed, fetch_list=[loss])[0])

        losses, seconds = run_epochs(step, model, "static", train, epochs, tick)
        fetch = [logits, *params.values()]
        out, *arrays = exe.run(testing, feed={"images": test.images}, fetch_list=fetch)
    values = dict(zip(params, arrays, strict=True))
    return Trained(model.name, "static", losses, seconds, values, out.argmax(axis=1))


def one_thread() -> Any:
    """Matrices this small gain nothing from threads of the BLAS.

    Where another process wants the cores, they wait for each other and take ten times as long.
    """
    return threadpool_limits(limits=1, user_api="blas")


def quiet() -> Any:
    """A loss that overflows is reported by `run_epochs`, not by warnings of NumPy."""
    return np.errstate(all="ignore")


# --- the report


def same_bits(a: Trained, b: Trained) -> bool:
    """Whether the two runs ended with the very same parameters."""
    return a.parameters.keys() == b.parameters.keys() and all(
        p.dtype == q.dtype and p.shape == q.shape and p.tobytes() == q.tobytes()
        for p, q in zip(a.parameters.values(), b.parameters.values(), strict=True)
    )


def report(console: Console, runs: Sequence[tuple[Trained, Trained]], test: Digits) -> None:
    """Print one row for each model and mode."""
    table = Table(title=f"Handwritten digits, {len(test)} test images")
    for heading in ("model", "mode", "last loss", "test accuracy", "ms per epoch", "parameters"):
        table.add_column(heading, justify="left" if heading in ("model", "mode") else "right")
    for eager, static in runs:
        verdict = "same bits" if same_bits(eager, static) else "[red]different[/red]"
        for run in (eager, static):
            table.add_row(
                run.model,
                run.mode,
                f"{run.losses[-1]:.6f}",
                f"{run.accuracy(test):.2%}",
                f"{1e3 * median(run.seconds):.1f}",
                verdict,
            )
    console.print(table)


def draw(runs: Sequence[tuple[Trained, Trained]], test: Digits, path: Path) -> None:
    """Loss curves beside the first test images, with what the last model took them for."""
    shown, columns = 20, 5
    figure = plt.figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(3, 2))
    axes = left.subplots()
    for number, (eager, static) in enumerate(runs):
        epochs = range(1, len(eager.losses) + 1)
        for run, style in ((eager, {"lw": 4, "alpha": 0.4}), (static, {"ls": "--"})):
            label = f"{run.model} {run.mode}"
            axes.plot(epochs, run.losses, color=f"C{number}", label=label, **style)
    axes.set(xlabel="epoch", ylabel="training loss (0.50 at best, as labels are smoothed)")
    axes.legend()
    last = runs[-1][1]
    right.suptitle(f"{last.model} on test images")
    for k, cell in enumerate(right.subplots(shown // columns, columns).flat):
        cell.imshow(test.images[k, 0], cmap="gray_r")
        colour = "black" if last.predicted[k] == test.labels[k] else "red"
        cell.set_title(str(last.predicted[k]), color=colour, fontsize=9)
        cell.axis("off")
    try:
        save_atomically(figure, path)
    finally:
        plt.close(figure)


def save_atomically(figure: Any, path: Path) -> None:
    """Write the picture beside `path` and move it there: a crash leaves no half of a file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".digits-", suffix=".png")
    try:
        with os.fdopen(handle, "wb") as file:
            figure.savefig(file, format="png", dpi=120)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


# --- the command line


def positive_int(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return value


def positive_float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number above 0")
    return value


def writable_file(text: str) -> Path:
    """A path that can be written; found out before the training, not after."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is a directory; name a file in it")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise argparse.ArgumentTypeError(
            f"{text!r} cannot be written ({error.strerror}); name a file in a directory that can"
        ) from None
    return path


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Train on handwritten digits, eagerly and statically, and compare."
    )
    parser.add_argument("--model", choices=[*MODELS, "both"], default="both")
    parser.add_argument("--epochs", type=positive_int, help="default: each model's own")
    parser.add_argument("--learning-rate", type=positive_float, help="default: each model's own")
    parser.add_argument(
        "--output", type=writable_file, default="digits.png", help="picture (default: digits.png)"
    )
    return parser.parse_args(arguments)


def train_both(
    model: Model, data: tuple[Digits, Digits], options: argparse.Namespace, progress: Progress
) -> tuple[Trained, Trained]:
    """Train `model` in each mode."""
    epochs = options.epochs or model.epochs
    rate = options.learning_rate or model.learning_rate

    def train(mode: str, trainer: Callable[..., Trained]) -> Trained:
        task = progress.add_task(f"{model.name} {mode}", total=epochs, loss="")

        def tick(loss: float) -> None:
            progress.update(task, advance=1, loss=f"loss {loss:.4f}")

        return trainer(model, *data, epochs, rate, tick)

    return train("eager", train_eagerly), train("static", train_statically)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    options = parse(arguments)
    console = Console()
    data = load_data()
    names = list(MODELS) if options.model == "both" else [options.model]
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
    )
    try:
        with Progress(*columns, console=console) as progress, one_thread(), quiet():
            runs = [train_both(MODELS[name], data, options, progress) for name in names]
        report(console, runs, data[1])
        draw(runs, data[1], options.output)
    except Diverged as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"cannot write {options.output}: {error.strerror}", file=sys.stderr)
        return 1
    console.print(f"Picture: {options.output}")
    if not all(same_bits(eager, static) for eager, static in runs):
        print("the two modes ended with different parameters: please report it", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped")
