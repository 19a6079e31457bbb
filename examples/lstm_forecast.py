"""Forecast the number of sunspots with a long short-term memory.

The sun has been counted since 1700: statsmodels ships the yearly numbers up to 2008. They rise and
fall about every eleven years, never twice alike. An `nn.LSTM` reads a stretch of years and says
after each one what the next will be; it is trained on the years up to 1949, and tested on those
after them. Sizes, rate and steps were chosen with 1900 to 1949 held back. Two guesses that need no
training are beside it: the number of this year again, and that of eleven years before.

    python examples/lstm_forecast.py                    # 120 steps
    python examples/lstm_forecast.py --mode static      # the same steps compiled
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
    from statsmodels.datasets import sunspots
    from threadpoolctl import threadpool_limits

    import autograd_engine as paddle
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is not installed: pip install "autograd-engine[examples]"')

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from autograd_engine import nn

Array = NDArray[Any]
Tensor = paddle.Tensor

HIDDEN = 16
BATCH = 32
WINDOW = 66  # years that are read at a time
WARM = 11  # of these as many come before what is said counts
SPLIT = 1950  # the first year of the test
RATE = 5e-3
STEPS = 120
AHEAD = 22  # years that are forecast from forecasts, for the picture


# --- the series


class Series:
    """Numbers of sunspots by year.

    Large numbers vary more than small ones, in proportion to their root: the network sees roots,
    with the mean and the deviation of the years before `SPLIT` taken out.

    Attributes
    ----------
    years, counts : ndarray
    values : ndarray of float32
        What the network sees.
    """

    def __init__(self) -> None:
        table = sunspots.load_pandas().data
        self.years = table["YEAR"].to_numpy().astype(int)
        self.counts = table["SUNACTIVITY"].to_numpy()
        roots = np.sqrt(self.counts)
        self.known = int(np.searchsorted(self.years, SPLIT))
        self.mean, self.deviation = roots[: self.known].mean(), roots[: self.known].std()
        self.values = ((roots - self.mean) / self.deviation).astype(np.float32)

    def counted(self, values: Array) -> Array:
        """What the network says as numbers of sunspots."""
        return np.maximum(values * self.deviation + self.mean, 0.0) ** 2

    def batches(self, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """Stretches of years before the test, and the years that follow each: [N, WINDOW, 1]."""
        while True:
            starts = rng.integers(0, self.known - WINDOW, BATCH)
            rows = starts[:, None] + np.arange(WINDOW + 1)
            stretches = self.values[rows][..., None]
            yield stretches[:, :-1], stretches[:, 1:]


# --- the model


class Forecaster(nn.Layer):
    """After each year what the next will be, as a change: [batch, years, 1]."""

    def __init__(self, hidden: int = HIDDEN) -> None:
        super().__init__()
        self.memory = nn.LSTM(1, hidden)
        self.change = nn.Linear(hidden, 1)

    def forward(self, years: Any, states: Any = None) -> tuple[Any, Any]:
        outputs, states = self.memory(years, states)
        return years + self.change(outputs), states


def build_model() -> Forecaster:
    return Forecaster()


def make_step(model: Any, mode: str = "eager", rate: float = RATE) -> Callable[..., Any]:
    """One training step: a function of years and those that follow, which returns the loss."""
    clip = nn.ClipGradByGlobalNorm(1.0)
    adam = paddle.optimizer.AdamW(rate, parameters=model.parameters(), grad_clip=clip)

    def step(years: Tensor, following: Tensor) -> Tensor:
        said, _ = model(years)
        loss = paddle.mean(paddle.square(said[:, WARM:] - following[:, WARM:]))
        loss.backward()
        adam.step()
        adam.clear_grad(set_to_zero=False)
        return loss

    return step if mode == "eager" else paddle.jit.to_static(step, backend="native")


def sample_batches(count: int, seed: int = 0) -> list[tuple[Array, Array]]:
    batches = Series().batches(np.random.default_rng(seed))
    return [next(batches) for _ in range(count)]


def train(model: Any, series: Series, args: argparse.Namespace) -> list[float]:
    """The loss of each step."""
    step = make_step(model, args.mode, args.learning_rate)
    batches = series.batches(np.random.default_rng(args.seed))
    losses: list[float] = []
    columns = (*Progress.get_default_columns(), TextColumn("loss {task.fields[loss]:.3f}"))
    with Progress(*columns) as progress:
        task = progress.add_task("forecast", total=args.steps, loss=math.nan)
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


# --- what was learnt


@paddle.no_grad()  # type: ignore[untyped-decorator]
def forecast(model: Any, series: Series) -> tuple[Array, Array]:
    """Numbers said one year ahead for each year but the first, and `AHEAD` years on from the last.

    The states carry all years so far: the years are read once.
    """
    model.eval()
    years = paddle.to_tensor(series.values[None, :, None])
    said, states = model(years)
    following = [said[:, -1:]]
    for _ in range(AHEAD - 1):
        value, states = model(following[-1], states)
        following.append(value)
    model.train()
    on = paddle.concat(following, axis=1)
    return series.counted(said.numpy()[0, :-1, 0]), series.counted(on.numpy()[0, :, 0])


def errors(said: Array, series: Series) -> dict[str, float]:
    """Root of the mean squared error over the years of the test."""
    counts, test = series.counts, slice(series.known, None)

    def error(guess: Array) -> float:
        return float(np.sqrt(np.mean((guess - counts[test]) ** 2)))

    return {
        "network": error(said[series.known - 1 :]),
        "this year again": error(counts[series.known - 1 : -1]),
        "eleven years before": error(counts[series.known - 11 : -11]),
    }


def draw(said: Array, on: Array, series: Series, losses: Sequence[float], path: Path) -> None:
    """The numbers with those said a year before, the forecast from forecasts, and the losses."""
    figure, (field, curve) = plt.subplots(
        1, 2, figsize=(14, 5), layout="constrained", width_ratios=(3, 1)
    )
    shown = slice(series.known - 60, None)
    field.plot(series.years[shown], series.counts[shown], color="gray", label="counted")
    field.plot(series.years[1:][shown], said[shown], lw=1, label="said one year before")
    last = series.years[-1]
    field.plot(np.arange(last + 1, last + 1 + len(on)), on, "--", label="said at the end")
    field.axvline(SPLIT - 0.5, color="lightgray", zorder=0)
    field.annotate("test", (SPLIT, field.get_ylim()[1] * 0.95), color="gray")
    field.set(title="sunspots", xlabel="year")
    field.legend(loc="upper left")
    curve.semilogy(losses)
    curve.set(title="loss", xlabel="step")
    temporary = path.with_name(f".{path.name}")
    figure.savefig(temporary, format="png", dpi=110)
    temporary.replace(path)
    plt.close(figure)


# --- the command line


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Forecast the number of sunspots.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--mode", choices=("eager", "static"), default="eager")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learning-rate", type=float, default=RATE)
    parser.add_argument("--out", type=Path, default=Path("."), help="directory of the picture")
    parser.add_argument("--detect-anomaly", action="store_true", help="name what makes a NaN")
    args = parser.parse_args(argv)
    if args.steps < 1:
        parser.error("--steps must be at least 1")
    if args.seed < 0 or not args.learning_rate > 0:
        parser.error("--learning-rate must be above 0, and --seed at least 0")
    if not args.out.is_dir():
        parser.error(f"--out: there is no directory {str(args.out)!r}")
    return args


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Train, test, draw."""
    args = parse(argv)
    paddle.seed(args.seed)
    series = Series()
    model = build_model()
    watch = paddle.autograd.detect_anomaly() if args.detect_anomaly else nullcontext()
    # Matrices this small gain nothing from threads of the BLAS. What overflows is told as a NaN.
    with watch, threadpool_limits(1, "blas"), np.errstate(all="ignore"):
        losses = train(model, series, args)
        said, on = forecast(model, series)
    found = errors(said, series)
    for name, error in found.items():
        print(f"{name}: {error:.1f} sunspots apart, one year ahead, {SPLIT} to {series.years[-1]}")
    picture = args.out / "lstm_forecast.png"
    draw(said, on, series, losses, picture)
    print(picture)
    return {"losses": losses, "errors": found, "picture": picture}


if __name__ == "__main__":
    main()
