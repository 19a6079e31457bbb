"""Learn what words mean from the words around them, with gradients that have few rows.

The text is the documentation that ships with Python: the help topics, the docstrings of the
standard library, and the licence. Skip-gram with negative sampling (Mikolov et al. 2013) gives each
word two vectors and asks of pairs of words: did the second stand near the first, or was it drawn
at random? ::

    loss = - log sigmoid(inner[word] . outer[near]) - sum log sigmoid(-inner[word] . outer[drawn])

A step sees some hundred of the thousands of words. With ``sparse=True`` the gradient of an
embedding holds the rows of these alone, and Adam with ``lazy_mode=True`` updates only them.

    python examples/skip_gram.py                    # 3 epochs
    python examples/skip_gram.py --mode static      # the same steps compiled
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

try:
    import matplotlib
    import numpy as np
    from numpy.typing import NDArray
    from rich.progress import Progress, TextColumn
    from sklearn.manifold import TSNE
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

DIMENSION = 64
WINDOW = 5  # words to each side, at most
NEGATIVES = 5
BATCH = 512
RATE = 2e-3
RAREST = 8  # words that come less often are left out
ASKED = ("list", "integer", "file", "exception", "thread", "two", "class", "socket")


# --- the text


@cache
def corpus() -> list[str]:
    """The words of the documentation, in their order."""
    library = Path(sysconfig.get_paths()["stdlib"])
    texts = list(topics.values())
    for module in sorted([*library.glob("*.py"), *library.glob("*/*.py")]):
        if module.parent.name not in ("test", "idlelib", "site-packages", "dist-packages"):
            source = module.read_text(encoding="utf-8", errors="ignore")
            texts += re.findall(r'^ *r?"""(.*?)"""', source, re.DOTALL | re.MULTILINE)
    texts += [file.read_text(encoding="utf-8") for file in library.glob("LICENSE*")]
    return re.findall(r"[a-z]{2,}", "\n".join(texts).lower())


class Text:
    """A text as numbers of words.

    Attributes
    ----------
    words : list of str
        The vocabulary, the most frequent first.
    ids : ndarray of int
        The text, without rare words.
    below : ndarray of float
        How likely a word up to that one is to be drawn as a negative one: its share is its count to
        the power 3/4.
    kept : ndarray of float
        How likely an occurrence is to be kept: frequent words are thinned out.
    """

    def __init__(self, text: Sequence[str]) -> None:
        counts = {w: n for w, n in Counter(text).most_common() if n >= RAREST}
        self.words = list(counts)
        number = {word: k for k, word in enumerate(self.words)}
        self.ids = np.array([number[w] for w in text if w in number])
        frequency = np.array(list(counts.values())) / len(self.ids)
        self.below = np.cumsum(frequency**0.75)
        self.kept = np.minimum(1.0, np.sqrt(3e-4 / frequency))

    def pairs(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Words and, for each, one that stands near: all of the text in random order."""
        ids = self.ids[rng.random(len(self.ids)) < self.kept[self.ids]]
        reach = rng.integers(1, WINDOW + 1, len(ids))  # near words count more often
        words, near = [], []
        for distance in range(1, WINDOW + 1):
            left, right = ids[:-distance], ids[distance:]
            after, before = reach[:-distance] >= distance, reach[distance:] >= distance
            words += [left[after], right[before]]
            near += [right[after], left[before]]
        order = rng.permutation(sum(map(len, words)))
        return np.concatenate(words)[order], np.concatenate(near)[order]

    def batches(self, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
        """Words [N] and others [N, 6], of which the first stood near and the rest are drawn."""
        while True:
            words, near = self.pairs(rng)
            for start in range(0, len(words) - BATCH + 1, BATCH):
                chunk = slice(start, start + BATCH)
                chances = rng.random((BATCH, NEGATIVES)) * self.below[-1]
                drawn = np.searchsorted(self.below, chances, side="right")
                yield words[chunk], np.concatenate([near[chunk, None], drawn], axis=1)


# --- the model


class SkipGram(nn.Layer):  # type: ignore[misc]
    """Two vectors for each word; called with words [N] and others [N, 1 + k] it is the loss."""

    def __init__(self, words: int, dimension: int = DIMENSION) -> None:
        super().__init__()
        small = nn.initializer.Uniform(-0.5 / dimension, 0.5 / dimension)
        zero = nn.initializer.Constant(0.0)
        self.inner = nn.Embedding(words, dimension, sparse=True, weight_attr=small)
        self.outer = nn.Embedding(words, dimension, sparse=True, weight_attr=zero)

    def forward(self, words: Any, others: Any) -> Any:
        scores = paddle.squeeze(self.outer(others) @ paddle.unsqueeze(self.inner(words), 2), 2)
        near, drawn = F.log_sigmoid(scores[:, 0]), F.log_sigmoid(-scores[:, 1:])
        return -paddle.mean(near) - paddle.mean(paddle.sum(drawn, axis=1))


def build_model(words: int | None = None) -> Any:
    return SkipGram(len(Text(corpus()).words) if words is None else words)


def make_step(model: Any, mode: str = "eager", rate: float = RATE) -> Callable[..., Any]:
    """One training step: a function of words and others that returns the loss."""
    adam = paddle.optimizer.Adam(rate, parameters=model.parameters(), lazy_mode=True)

    def step(words: Tensor, others: Tensor) -> Tensor:
        loss = model(words, others)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    return step if mode == "eager" else paddle.jit.to_static(step, backend="native")


def sample_batches(count: int, seed: int = 0) -> list[tuple[Array, Array]]:
    batches = Text(corpus()).batches(np.random.default_rng(seed))
    return [next(batches) for _ in range(count)]


def train(model: Any, text: Text, args: argparse.Namespace) -> list[float]:
    """The loss of each step."""
    step = make_step(model, args.mode, args.learning_rate)
    rng = np.random.default_rng(args.seed)
    steps = args.steps or args.epochs * (len(text.pairs(rng)[0]) // BATCH)
    losses: list[float] = []
    columns = (*Progress.get_default_columns(), TextColumn("loss {task.fields[loss]:.3f}"))
    with Progress(*columns) as progress:
        task = progress.add_task("skip-gram", total=steps, loss=math.nan)
        for number, batch in zip(range(1, steps + 1), text.batches(rng), strict=False):
            loss = step(*map(paddle.to_tensor, batch)).item()
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


def neighbours(vectors: Array, words: Sequence[str], count: int = 6) -> dict[str, list[str]]:
    """The words whose vectors point in the most similar directions, for some words."""
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found = {}
    for word in ASKED:
        if word in words:
            nearest = np.argsort(-directions @ directions[words.index(word)])
            found[word] = [words[k] for k in nearest[1 : count + 1]]
    return found


def draw(vectors: Array, words: Sequence[str], losses: Sequence[float], path: Path) -> None:
    """The vectors of frequent words in two dimensions, and the losses."""
    first, shown = 40, 240  # without the most frequent, which stand with everything
    directions = vectors[first:shown] / np.linalg.norm(vectors[first:shown], axis=1, keepdims=True)
    # Of so few points all pairs take less time than a tree of them.
    tsne = TSNE(init="pca", random_state=0, perplexity=15, method="exact")
    places = tsne.fit_transform(directions)
    figure, (field, curve) = plt.subplots(
        1, 2, figsize=(15, 9), layout="constrained", width_ratios=(4, 1)
    )
    field.scatter(*places.T, s=4, color="lightgray")
    for word, place in zip(words[first:shown], places, strict=True):
        field.annotate(word, place, fontsize=8, ha="center")
    field.set(title="words that stand near the same words", xticks=[], yticks=[])
    window = max(1, len(losses) // 100)
    curve.plot(np.convolve(losses, np.ones(window) / window, mode="valid"))
    curve.set(title="loss", xlabel="step")
    temporary = path.with_name(f".{path.name}")
    figure.savefig(temporary, format="png", dpi=110)
    temporary.replace(path)
    plt.close(figure)


# --- the command line


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Learn vectors of words from documentation.")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--steps", type=int, help="stop after so many")
    parser.add_argument("--mode", choices=("eager", "static"), default="eager")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learning-rate", type=float, default=RATE)
    parser.add_argument("--out", type=Path, default=Path("."), help="directory of the picture")
    parser.add_argument("--detect-anomaly", action="store_true", help="name what makes a NaN")
    args = parser.parse_args(argv)
    if args.epochs < 1 or (args.steps is not None and args.steps < 1):
        parser.error("--epochs and --steps must be at least 1")
    if args.seed < 0 or not args.learning_rate > 0:
        parser.error("--learning-rate must be above 0, and --seed at least 0")
    if not args.out.is_dir():
        parser.error(f"--out: there is no directory {str(args.out)!r}")
    return args


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Train, print neighbours, draw."""
    args = parse(argv)
    paddle.seed(args.seed)
    text = Text(corpus())
    model = build_model(len(text.words))
    watch = paddle.autograd.detect_anomaly() if args.detect_anomaly else nullcontext()
    # Matrices this small gain nothing from threads of the BLAS. What overflows is told as a NaN.
    with watch, threadpool_limits(1, "blas"), np.errstate(all="ignore"):
        losses = train(model, text, args)
    vectors = model.inner.weight.numpy()
    found = neighbours(vectors, text.words)
    for word, near in found.items():
        print(f"{word}: {', '.join(near)}")
    picture = args.out / "skip_gram.png"
    draw(vectors, text.words, losses, picture)
    print(f"{len(text.words)} words in a text of {len(text.ids)}: {picture}")
    return {"losses": losses, "neighbours": found, "picture": picture}


if __name__ == "__main__":
    main()
