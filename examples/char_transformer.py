"""Train a small transformer to write like the documentation of Python's standard library.

The text is on every machine: the licence of Python and the docstrings of some modules. The model
reads 64 characters and says for each of them which one it takes to be next; attention lets a
position look at those before it, and a mask keeps it from looking ahead (Vaswani et al. 2017).

    python examples/char_transformer.py                  # eager: operation by operation
    python examples/char_transformer.py --mode static    # the step traced once, and compiled

In the end it prints what the model writes, and draws the loss and where one head looks.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import math
import os
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

MODULES = """argparse ast base64 bisect calendar codecs collections configparser contextlib copy csv
dataclasses datetime decimal difflib email.message enum fractions functools glob gzip heapq inspect
io itertools json logging math operator os pathlib pickle queue random re sched shelve shutil
socket statistics string struct subprocess tarfile tempfile textwrap threading timeit tokenize
traceback types unittest urllib.parse uuid warnings weakref zipfile"""
ALPHABET = "\n" + "".join(map(chr, range(32, 127)))
CONTEXT, WIDTH, HEADS, LAYERS, BATCH = 64, 64, 8, 2, 32
STEPS, RATE = 1000, 4e-3


# --- the text


def documented(module: Any) -> Iterator[Any]:
    """A module, its public classes and functions, and their public methods."""
    yield module
    for name, value in sorted(vars(module).items()):
        own = getattr(value, "__module__", None) == module.__name__
        if own and not name.startswith("_") and (inspect.isclass(value) or callable(value)):
            yield value
            if inspect.isclass(value):
                yield from (v for k, v in sorted(vars(value).items()) if not k.startswith("_"))


def collect_text() -> str:
    """The licence and the docstrings, of what `ALPHABET` has."""
    beside = Path(os.__file__).parent
    places = [folder / "LICENSE.txt" for folder in (beside, beside.parent)]
    licence = next((p.read_text("utf-8") for p in places if p.is_file()), sys.copyright)
    things = [
        thing for name in MODULES.split() for thing in documented(importlib.import_module(name))
    ]
    found = {doc: None for thing in things if (doc := inspect.getdoc(thing))}  # each of them once
    return "".join(c for c in "\n\n".join([licence, *found]) if c in ALPHABET)


def encode(text: str) -> Array:
    return np.array([ALPHABET.index(c) for c in text], "int64")


class Windows(paddle.io.Dataset):  # type: ignore[misc]
    """Characters of the text in a row, and the same moved on by one."""

    def __init__(self) -> None:
        self.codes = encode(collect_text())

    def __getitem__(self, start: int) -> tuple[Array, Array]:
        piece = self.codes[start : start + CONTEXT + 1]
        return piece[:-1], piece[1:]

    def __len__(self) -> int:
        return len(self.codes) - CONTEXT


# --- the model


class Writer(nn.Layer):  # type: ignore[misc]
    """Characters [N, steps] to the logits of what follows each of them [N, steps, alphabet]."""

    def __init__(self) -> None:
        super().__init__()
        small = nn.initializer.Normal(std=0.02)
        self.characters = nn.Embedding(len(ALPHABET), WIDTH, weight_attr=small)
        self.positions = self.create_parameter([CONTEXT, WIDTH], default_initializer=small)
        block = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 4 * WIDTH, dropout=0.0, normalize_before=True
        )
        self.blocks = nn.TransformerEncoder(block, LAYERS, nn.LayerNorm(WIDTH))
        self.head = nn.Linear(WIDTH, len(ALPHABET))
        ahead = np.triu(np.full((CONTEXT, CONTEXT), -np.inf, "float32"), 1)
        self.register_buffer("ahead", paddle.to_tensor(ahead), persistable=False)

    def forward(self, codes: Tensor) -> Tensor:
        x = self.characters(codes) + self.positions
        return self.head(self.blocks(x, self.ahead))


def build_model() -> Any:
    return Writer()


def make_step(model: Any, mode: str = "eager", schedule: Any = RATE) -> Callable[..., Tensor]:
    """One training step: a function of codes and what follows them that returns the loss."""
    optimizer = paddle.optimizer.AdamW(
        schedule,
        parameters=model.parameters(),
        weight_decay=0.01,
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )

    def step(codes: Tensor, following: Tensor) -> Tensor:
        loss = F.cross_entropy(model(codes), following)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step if mode == "eager" else paddle.jit.to_static(step, backend="native")


def loader() -> Any:
    return paddle.io.DataLoader(Windows(), batch_size=BATCH, shuffle=True, drop_last=True)


def sample_batches(count: int, seed: int = 0) -> list[tuple[Array, Array]]:
    paddle.seed(seed)
    batches = zip(range(count), loader(), strict=False)
    return [(codes.numpy(), following.numpy()) for _, (codes, following) in batches]


# --- training


def train(args: argparse.Namespace) -> tuple[Any, list[float]]:
    """A trained model, and the loss of each step."""
    paddle.seed(args.seed)
    model = build_model()
    rates = paddle.optimizer.lr
    cosine = rates.CosineAnnealingDecay(args.learning_rate, T_max=args.steps)
    schedule = rates.LinearWarmup(cosine, min(50, args.steps), 0.0, args.learning_rate)
    step = make_step(model, args.mode, schedule)
    batches = loader()
    losses: list[float] = []
    columns = (*Progress.get_default_columns(), TextColumn("loss {task.fields[loss]:.3f}"))
    with Progress(*columns) as progress:
        task = progress.add_task("transformer", total=args.steps, loss=math.nan)
        while len(losses) < args.steps:
            for codes, following in batches:
                loss = float(step(codes, following))
                if math.isnan(loss):
                    raise SystemExit(
                        f"loss is nan at step {len(losses) + 1}: run again with --detect-anomaly, "
                        "which runs the steps under paddle.autograd.detect_anomaly(), to see which "
                        "operation made it"
                    )
                losses.append(loss)
                schedule.step()
                progress.update(task, advance=1, loss=loss)
                if len(losses) == args.steps:
                    break
    return model, losses


# --- what it has learnt


def window(codes: Sequence[int]) -> Tensor:
    """The last characters as a batch of one; what is not there yet, at the end, nobody looks at."""
    last = list(codes)[-CONTEXT:]
    return paddle.to_tensor(np.array([last + [0] * (CONTEXT - len(last))], "int64"))


def write(model: Any, start: str, length: int, seed: int, warmth: float = 0.7) -> str:
    """`start`, and what the model makes of it: each character drawn by its probability."""
    codes, rng = encode(start).tolist(), np.random.default_rng(seed)
    with paddle.no_grad():
        for _ in range(length):
            logits = model(window(codes))[0, min(len(codes), CONTEXT) - 1]
            p = F.softmax(logits / warmth).numpy().astype("float64")
            codes.append(int(rng.choice(len(ALPHABET), p=p / p.sum())))
    return "".join(ALPHABET[c] for c in codes)


def attention_map(model: Any, text: str) -> Array:
    """How much each character of `text` looks at those before it, in the last layer, by head."""
    attention, seen = model.blocks.layers[-1].self_attn, []
    attention.need_weights = True
    hook = attention.register_forward_post_hook(lambda layer, given, made: seen.append(made[1]))
    with paddle.no_grad():
        model(window(encode(text).tolist()))
    hook.remove()
    attention.need_weights = False
    return np.asarray(seen[0].numpy()[0, :, : len(text), : len(text)])


def draw(model: Any, losses: Sequence[float], text: str, path: Path) -> None:
    """The losses, and where the head looks that is the surest."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
    left.plot(losses, lw=0.7)
    left.axhline(math.log(len(ALPHABET)), color="gray", ls=":")
    left.set(title="loss (dotted: all characters alike)", xlabel="step")
    heads = attention_map(model, text)
    right.imshow(heads[heads.max(axis=-1).mean(axis=-1).argmax()], cmap="magma")
    labels = [c if c.strip() else "_" for c in text]
    right.set_xticks(range(len(text)), labels, fontsize=8)
    right.set_yticks(range(len(text)), labels, fontsize=8)
    right.set(title="where each character (down) looks (across)")
    temporary = path.with_name(f".{path.name}")
    figure.savefig(temporary, format="png", dpi=120)
    temporary.replace(path)
    plt.close(figure)


# --- the command line


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a transformer on docstrings.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--mode", choices=("eager", "static"), default="eager")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--learning-rate", type=float, default=RATE)
    parser.add_argument("--write", type=int, default=400, help="characters to write in the end")
    parser.add_argument("--out", type=Path, default=Path("."), help="directory of the picture")
    parser.add_argument("--detect-anomaly", action="store_true", help="name what makes a NaN")
    args = parser.parse_args(argv)
    if args.steps < 1 or args.write < 0 or args.seed < 0 or not args.learning_rate > 0:
        parser.error("--steps must be at least 1, --write and --seed 0, --learning-rate above 0")
    if not args.out.is_dir():
        parser.error(f"--out: there is no directory {str(args.out)!r}")
    return args


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Train, write, draw."""
    args = parse(argv)
    watch = paddle.autograd.detect_anomaly() if args.detect_anomaly else nullcontext()
    # Matrices this small gain nothing from threads of the BLAS. What overflows is told as a NaN.
    with watch, threadpool_limits(1, "blas"), np.errstate(all="ignore"):
        model, losses = train(args)
        text = write(model, "Return ", args.write, args.seed)
        picture = args.out / "char_transformer.png"
        draw(model, losses, "Return the number of items in", picture)
    print(f"{text}\n\nlast loss {losses[-1]:.3f}: {picture}")
    return {"losses": losses, "text": text, "picture": picture}


if __name__ == "__main__":
    main()
