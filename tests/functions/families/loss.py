"""Calls of the public functions of `loss`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import away_from_zero, integers, positive, real, spaced

from ..case import Case
from ..peers import TF, torch

F = paddle.nn.functional
Array = np.ndarray


def at(*values: Any) -> Array:
    return np.asarray(values, np.float64)


def probabilities(*shape: int) -> Array:
    return real(*shape, low=0.15, high=0.85)


def distributions(*shape: int) -> Array:
    x = positive(*shape)
    return np.asarray(x / x.sum(-1, keepdims=True))


def signs(*values: int) -> Array:
    return integers(*values)


def log_softmax(x: Array, axis: int = -1) -> Array:
    return np.asarray(x - np.log(np.exp(x).sum(axis=axis, keepdims=True)))


def softmax(x: Array, axis: int = -1) -> Array:
    return np.exp(log_softmax(x, axis))


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


REDUCE: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


# PyTorch's own "mean" of kl_div warns that it is not the mathematical one.
REDUCE_TORCH: dict[str, Callable[[Any], Any]] = {
    "mean": lambda x: x.mean(),
    "sum": lambda x: x.sum(),
    "none": lambda x: x,
}


def reductions(
    call: Callable[..., Any],
    numpy: Callable[..., Any],
    peer: Callable[..., Any] | None,
    operands: tuple[Array, ...],
    **options: Any,
) -> list[Case]:
    """A case for each reduction of a loss that is reduced in the plain way."""

    def case(reduction: str) -> Case:
        theirs = None
        if peer is not None:
            theirs = lambda *xs: peer(*xs, reduction=reduction)  # noqa: E731
        return Case(
            reduction,
            lambda *xs: call(*xs, reduction=reduction),
            operands,
            numpy=lambda *xs: REDUCE[reduction](numpy(*xs)),
            torch=theirs,
            **options,
        )

    return [case(reduction) for reduction in REDUCE]


# --- class labels
def hard_loss(
    logits: Array,
    label: Array,
    weight: Array | None = None,
    *,
    ignore: int = -100,
    smoothing: float = 0.0,
    reduction: str = "mean",
    logs: bool = False,
) -> Array:
    """Sample by sample; classes on the last axis."""
    classes = logits.shape[-1]
    weights = [1.0] * classes if weight is None else weight.tolist()
    losses, counts = [], []
    for row, c in zip(logits.reshape(-1, classes), label.ravel().tolist(), strict=True):
        log_p = row if logs else log_softmax(row)
        target = [(1.0 - smoothing) * (k == c) + smoothing / classes for k in range(classes)]
        loss = -math.fsum(w * q * v for w, q, v in zip(weights, target, log_p, strict=True))
        losses.append(0.0 if c == ignore else loss)
        counts.append(0.0 if c == ignore else weights[c])
    if reduction == "mean":
        return np.asarray(sum(losses) / sum(counts))
    return np.asarray(losses).reshape(label.shape) if reduction == "none" else np.sum(losses)


LABELS = integers(2, 0, -100, 1)
WEIGHT = at(0.5, 2.0, 1.0)


def cross_entropy_cases() -> list[Case]:
    return [
        Case(
            "mean",
            lambda x, y: F.cross_entropy(x, y),
            (real(4, 3), LABELS),
            numpy=hard_loss,
            torch=lambda x, y: TF.cross_entropy(x, y),
        ),
        Case(
            "none-kept",
            lambda x, y: F.cross_entropy(x, y, reduction="none"),
            (real(4, 3), LABELS[:, None]),
            numpy=lambda x, y: hard_loss(x, y, reduction="none"),
        ),
        Case(
            "none",
            lambda x, y: F.cross_entropy(x, y, reduction="none"),
            (real(4, 3), LABELS),
            numpy=lambda x, y: hard_loss(x, y, reduction="none"),
            torch=lambda x, y: TF.cross_entropy(x, y, reduction="none"),
        ),
        Case(
            "weighted",
            lambda x, y, w: F.cross_entropy(x, y, w, ignore_index=1),
            (real(4, 3), integers(2, 0, 1, 1), positive(3)),
            numpy=lambda x, y, w: hard_loss(x, y, w, ignore=1),
        ),
        Case(
            "smoothed",
            lambda x, y: F.cross_entropy(
                x, y, paddle.to_tensor(WEIGHT, x.dtype), label_smoothing=0.2
            ),
            (real(4, 3), LABELS),
            numpy=lambda x, y: hard_loss(x, y, WEIGHT, smoothing=0.2),
            torch=lambda x, y: TF.cross_entropy(x, y, torch.tensor(WEIGHT), label_smoothing=0.2),
            static=False,
        ),
        Case(
            "sum-of-axis-1",
            lambda x, y: F.cross_entropy(x, y, axis=1, reduction="sum"),
            (real(2, 3, 2), integers([0, 2], [1, 1])),
            numpy=lambda x, y: hard_loss(np.moveaxis(x, 1, -1), y, reduction="sum"),
            torch=lambda x, y: TF.cross_entropy(x, y, reduction="sum"),
        ),
        Case(
            "probabilities",
            lambda x, y: F.cross_entropy(x, y, use_softmax=False),
            (probabilities(4, 3), LABELS),
            numpy=lambda x, y: hard_loss(np.log(x), y, logs=True),
        ),
        Case(
            "soft",
            lambda x, q: F.cross_entropy(x, q, soft_label=True),
            (real(4, 3), distributions(4, 3)),
            numpy=lambda x, q: -np.sum(q * log_softmax(x)) / 4,
            torch=lambda x, q: TF.cross_entropy(x, q),
        ),
        Case(
            "soft-none",
            lambda x, q: F.cross_entropy(x, q, soft_label=True, axis=0, reduction="none"),
            (real(3, 2), distributions(3, 2)),
            numpy=lambda x, q: -np.sum(q * log_softmax(x, 0), axis=0, keepdims=True),
        ),
        Case(
            "soft-weighted",
            lambda x, q, w: F.cross_entropy(x, q, w, soft_label=True, label_smoothing=0.3),
            (real(2, 3), distributions(2, 3), positive(3)),
            numpy=lambda x, q, w: (
                -np.sum(w * (0.7 * q + 0.1) * log_softmax(x)) / np.sum(w * (0.7 * q + 0.1))
            ),
        ),
    ]


def margin_cross_entropy(
    x: Array, y: Array, m1: float = 1.0, m2: float = 0.5, m3: float = 0.0, scale: float = 64.0
) -> Array:
    changed = x.copy()
    for row, c in zip(changed, y.ravel().tolist(), strict=True):
        row[c] = math.cos(m1 * math.acos(row[c]) + m2) - m3
    return hard_loss(scale * changed, y.ravel(), reduction="none")[:, None]


def multi_margin(x: Array, y: Array, p: int = 1, margin: float = 1.0) -> Array:
    rows = [
        math.fsum(max(0.0, margin - row[c] + v) ** p for k, v in enumerate(row) if k != c)
        for row, c in zip(x.tolist(), y.ravel().tolist(), strict=True)
    ]
    return np.asarray(rows) / x.shape[1]


def multi_label_margin(x: Array, y: Array) -> Array:
    out = []
    for row, given in zip(x.tolist(), y.tolist(), strict=True):
        labels = list(itertools.takewhile(lambda c: c >= 0, given))
        others = [v for c, v in enumerate(row) if c not in labels]
        out.append(math.fsum(max(0.0, 1.0 - row[c] + v) for c in labels for v in others))
    return np.asarray(out) / x.shape[1]


def npair(a: Array, p: Array, labels: Array) -> Array:
    same = (labels[:, None] == labels[None, :]).astype(np.float64)
    target = same / same.sum(1, keepdims=True)
    size = (np.sum(a * a) + np.sum(p * p)) / len(a)
    return 0.25 * 0.002 * size - np.mean(np.sum(target * log_softmax(a @ p.T), axis=1))


def tree_loss(x: Array, y: Array, w: Array, b: Array | None, classes: int) -> Array:
    out = []
    for row, c in zip(x, y.ravel().tolist(), strict=True):
        node, total = c + classes, 0.0
        while node > 1:
            score = float(row @ w[node // 2 - 1]) + (0.0 if b is None else b[node // 2 - 1])
            total += math.log(1.0 + math.exp(-score if node % 2 else score))
            node //= 2
        out.append([total])
    return np.asarray(out)


def path_loss(x: Array, w: Array, nodes: Array, code: Array) -> Array:
    out = np.zeros((len(x), 1))
    for n, k in np.ndindex(nodes.shape):
        if nodes[n, k] >= 0:
            score = float(x[n] @ w[nodes[n, k]])
            out[n] += math.log(1.0 + math.exp(-score if code[n, k] else score))
    return out


def adaptive(x: Array, y: Array, head: Array, *tails: Array) -> tuple[Array, Array]:
    """Two clusters, cutoffs 2, 4 and 7."""
    logs = log_softmax(x @ head)
    first, second = (log_softmax(x @ a @ b) for a, b in (tails[:2], tails[2:]))
    out = np.asarray(
        [
            logs[n, c] if c < 2 else logs[n, 2] + first[n, c - 2] if c < 4
            else logs[n, 3] + second[n, c - 4]
            for n, c in enumerate(y.tolist())
        ]
    )  # fmt: skip
    return out, -np.mean(out)


PATHS = integers([0, 1, -1], [0, 2, 3])
CODES = integers([1, 0, 0], [0, 1, 1])


# --- alignments
def collapsed(way: tuple[int, ...], blank: int) -> list[int]:
    return [c for c, _ in itertools.groupby(way) if c != blank]


def ctc(logits: Array, labels: Array, times: Array, lengths: Array, blank: int = 0) -> Array:
    """Over all ways to write a class at each time."""
    logs, out = log_softmax(logits), []
    for b in range(logits.shape[1]):
        n, target = int(times[b]), labels[b, : lengths[b]].tolist()
        ways = itertools.product(range(logits.shape[2]), repeat=n)
        weights = [
            math.exp(math.fsum(logs[t, b, c] for t, c in enumerate(way)))
            for way in ways
            if collapsed(way, blank) == target
        ]
        out.append(-math.log(math.fsum(weights)) if weights else math.inf)
    return np.asarray(out)


def rnnt(scores: Array, labels: Array, times: Array, lengths: Array, blank: int = 0) -> Array:
    """Over all orders of frames and labels, of which the last is the end of a frame."""
    out = []
    for b, (frames, length) in enumerate(zip(times.tolist(), lengths.tolist(), strict=True)):
        weights = []
        for emitted in itertools.combinations(range(frames + length - 1), length):
            t, total = 0, 0.0
            for k in range(frames + length):
                u = sum(e < k for e in emitted)
                total += scores[b, t, u, labels[b, u] if k in emitted else blank]
                t += k not in emitted
            weights.append(math.exp(total))
        out.append(-math.log(math.fsum(weights)))
    return np.asarray(out)


CTC = (real(4, 3, 3), integers([1, 2], [2, 2], [1, 0]), integers(4, 3, 2), integers(2, 2, 1))


def ctc_cases() -> list[Case]:
    def mean(*xs: Array) -> Array:
        return np.mean(ctc(*xs) / np.maximum(xs[3], 1))

    return [
        Case("mean", lambda *xs: F.ctc_loss(*xs), CTC, numpy=mean),
        Case(
            "none",
            lambda *xs: F.ctc_loss(*xs, reduction="none"),
            CTC,
            numpy=ctc,
        ),
        Case(
            "blank",
            lambda *xs: F.ctc_loss(*xs, blank=2, reduction="sum"),
            (real(3, 2, 3), integers([1, 0], [1, 1]), integers(3, 3), integers(2, 2)),
            numpy=lambda *xs: np.sum(ctc(*xs, blank=2)),
        ),
        Case(
            "no-label",
            lambda *xs: F.ctc_loss(*xs, reduction="sum"),
            (real(2, 1, 3), integers([1]), integers(2), integers(0)),
            numpy=lambda *xs: np.sum(ctc(*xs)),
        ),
    ]


def cosine(x: Array, y: Array, axis: int = -1) -> Array:
    norms = np.sqrt(np.sum(x * x, axis)) * np.sqrt(np.sum(y * y, axis))
    return np.asarray(np.sum(x * y, axis) / norms)


def distance(x: Array, y: Array, p: float = 2.0, epsilon: float = 1e-6) -> Array:
    return np.linalg.norm(x - y + epsilon, ord=p, axis=-1)


def huber(x: Array, y: Array, delta: float = 1.0) -> Array:
    d = np.abs(x - y)
    return np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta))


def bce(p: Array, y: Array) -> Array:
    return np.asarray(-(y * np.log(p) + (1.0 - y) * np.log(1.0 - p)))


def focal(x: Array, y: Array, alpha: float, gamma: float) -> Array:
    p = sigmoid(x)
    right = p * y + (1.0 - p) * (1.0 - y)
    return (alpha * y + (1.0 - alpha) * (1.0 - y)) * (1.0 - right) ** gamma * bce(p, y)


def dice(p: Array, y: Array) -> Array:
    q = np.eye(p.shape[-1])[y[..., 0]]
    axes = tuple(range(1, p.ndim))
    both, each = np.sum(p * q, axes), np.sum(p, axes) + np.sum(q, axes)
    return np.mean(1.0 - 2.0 * both / (each + 1e-5))


def triplet(a: Array, p: Array, n: Array, margin: float = 1.0, swap: bool = False) -> Array:
    far = distance(a, n)
    if swap:
        far = np.minimum(far, distance(p, n))
    return np.maximum(distance(a, p) - far + margin, 0.0)


def full_poisson(x: Array, y: Array) -> Array:
    big = np.maximum(y, 1.5)
    stirling = big * np.log(big) - big + 0.5 * np.log(2.0 * math.pi * big)
    return np.exp(x) - y * x + np.where(y > 1.0, stirling, 0.0)


COUNTS = at([0.2, 1.7, 3.4], [2.5, 0.6, 4.1])
pair = (spaced(2, 3), np.asarray(0.3 * real(2, 3)))


CASES: dict[str, list[Case]] = {
    "nn.functional.square_error_cost": [
        Case(
            "plain",
            lambda x, y: F.square_error_cost(x, y),
            (real(2, 3), real(3)),
            numpy=lambda x, y: (x - y) ** 2,
        )
    ],
    "nn.functional.mse_loss": reductions(
        lambda x, y, **o: F.mse_loss(x, y, **o),
        lambda x, y: (x - y) ** 2,
        lambda x, y, **o: TF.mse_loss(x, y, **o),
        (real(2, 3), real(2, 3)),
    ),
    "nn.functional.l1_loss": reductions(
        lambda x, y, **o: F.l1_loss(x, y, **o),
        lambda x, y: np.abs(x - y),
        lambda x, y, **o: TF.l1_loss(x, y, **o),
        (away_from_zero(2, 3), np.asarray(0.1 * real(2, 3))),
    ),
    "nn.functional.smooth_l1_loss": [
        *reductions(
            lambda x, y, **o: F.smooth_l1_loss(x, y, **o),
            huber,
            lambda x, y, **o: TF.huber_loss(x, y, **o),
            (at(0.2, -0.4, 2.0, -3.0), at(0.1, 0.0, 0.3, 0.2)),
        ),
        Case(
            "smooth",
            lambda x, y: F.smooth_l1_loss(x, y, delta=0.5, is_huber=False),
            (at(0.2, -0.3, 2.0, -3.0), at(0.1, 0.0, 0.3, 0.2)),
            numpy=lambda x, y: np.mean(huber(x, y, 0.5) / 0.5),
            torch=lambda x, y: TF.smooth_l1_loss(x, y, beta=0.5),
        ),
    ],
    "nn.functional.kl_div": [
        *reductions(
            lambda x, y, **o: F.kl_div(x, y, **o),
            lambda x, y: y * (np.log(y) - x),
            lambda x, y, reduction: REDUCE_TORCH[reduction](TF.kl_div(x, y, reduction="none")),
            (real(2, 3), distributions(2, 3)),
        ),
        Case(
            "batchmean",
            lambda x, y: F.kl_div(x, y, "batchmean", log_target=True),
            (real(2, 3), real(2, 3)),
            numpy=lambda x, y: np.sum(np.exp(y) * (y - x)) / 2,
            torch=lambda x, y: TF.kl_div(x, y, reduction="batchmean", log_target=True),
        ),
    ],
    "nn.functional.binary_cross_entropy": [
        *reductions(
            lambda x, y, **o: F.binary_cross_entropy(x, y, **o),
            bce,
            None,
            (probabilities(2, 3), probabilities(2, 3)),
        ),
        Case(
            "weighted",
            lambda x, y, w: F.binary_cross_entropy(x, y, w),
            (probabilities(2, 3), probabilities(2, 3), positive(3)),
            numpy=lambda x, y, w: np.mean(w * bce(x, y)),
            torch=lambda x, y, w: (w * -(y * x.log() + (1 - y) * (1 - x).log())).mean(),
        ),
    ],
    "nn.functional.binary_cross_entropy_with_logits": [
        *reductions(
            lambda x, y, **o: F.binary_cross_entropy_with_logits(x, y, **o),
            lambda x, y: bce(sigmoid(x), y),
            lambda x, y, **o: TF.binary_cross_entropy_with_logits(x, y, **o),
            (real(2, 3), probabilities(2, 3)),
        ),
        Case(
            "weighted",
            lambda x, y, w, p: F.binary_cross_entropy_with_logits(x, y, w, "sum", p),
            (real(2, 3), probabilities(2, 3), positive(3), positive(2, 1)),
            numpy=lambda x, y, w, p: np.sum(
                -w * (p * y * np.log(sigmoid(x)) + (1.0 - y) * np.log(sigmoid(-x)))
            ),
            torch=lambda x, y, w, p: (
                -torch.sum(w * (p * y * TF.logsigmoid(x) + (1 - y) * TF.logsigmoid(-x)))
            ),
        ),
    ],
    "nn.functional.sigmoid_focal_loss": [
        *reductions(
            lambda x, y, **o: F.sigmoid_focal_loss(x, y, **o),
            lambda x, y: focal(x, y, 0.25, 2.0),
            None,
            (real(2, 3), probabilities(2, 3)),
        ),
        Case(
            "options",
            lambda x, y, n: F.sigmoid_focal_loss(x, y, n, alpha=0.6, gamma=1.5),
            (real(2, 3), probabilities(2, 3), positive(1)),
            numpy=lambda x, y, n: np.sum(focal(x, y, 0.6, 1.5) / n),
        ),
    ],
    "nn.functional.soft_margin_loss": reductions(
        lambda x, y, **o: F.soft_margin_loss(x, y, **o),
        lambda x, y: np.log(1.0 + np.exp(-y * x)),
        lambda x, y, **o: TF.soft_margin_loss(x, y.double(), **o),
        (real(3), signs(1, -1, 1)),
    ),
    "nn.functional.multi_label_soft_margin_loss": [
        *reductions(
            lambda x, y, **o: F.multi_label_soft_margin_loss(x, y, **o),
            lambda x, y: np.mean(bce(sigmoid(x), y), axis=-1),
            lambda x, y, **o: TF.multilabel_soft_margin_loss(x, y, **o),
            (real(2, 3), probabilities(2, 3)),
        ),
        Case(
            "weighted",
            lambda x, y, w: F.multi_label_soft_margin_loss(x, y, w, "none"),
            (real(2, 3), probabilities(2, 3), positive(3)),
            numpy=lambda x, y, w: np.mean(w * bce(sigmoid(x), y), axis=-1),
        ),
    ],
    "nn.functional.log_loss": [
        Case(
            "plain",
            lambda x, y: F.log_loss(x, y, epsilon=0.01),
            (probabilities(3, 1), probabilities(3, 1)),
            numpy=lambda x, y: -y * np.log(x + 0.01) - (1.0 - y) * np.log(1.01 - x),
        )
    ],
    "nn.functional.dice_loss": [
        Case(
            "plain",
            lambda x, y: F.dice_loss(x, y),
            (probabilities(2, 3), integers([2], [0])),
            numpy=dice,
        ),
        Case(
            "places",
            lambda x, y: F.dice_loss(x, y),
            (probabilities(2, 2, 3), integers([[2], [1]], [[0], [0]])),
            numpy=dice,
        ),
    ],
    "nn.functional.poisson_nll_loss": [
        *reductions(
            lambda x, y, **o: F.poisson_nll_loss(x, y, **o),
            lambda x, y: np.exp(x) - y * x,
            lambda x, y, **o: TF.poisson_nll_loss(x, y, **o),
            (real(2, 3), COUNTS),
        ),
        Case(
            "full",
            lambda x, y: F.poisson_nll_loss(x, y, full=True),
            (real(2, 3), COUNTS),
            numpy=lambda x, y: np.mean(full_poisson(x, y)),
            torch=lambda x, y: TF.poisson_nll_loss(x, y, full=True),
        ),
        Case(
            "rate",
            lambda x, y: F.poisson_nll_loss(x, y, log_input=False, epsilon=0.1),
            (positive(2, 3), COUNTS),
            numpy=lambda x, y: np.mean(x - y * np.log(x + 0.1)),
            torch=lambda x, y: TF.poisson_nll_loss(x, y, log_input=False, eps=0.1),
        ),
    ],
    "nn.functional.gaussian_nll_loss": [
        *reductions(
            lambda x, y, v, **o: F.gaussian_nll_loss(x, y, v, **o),
            lambda x, y, v: 0.5 * (np.log(v) + (x - y) ** 2 / v),
            lambda x, y, v, **o: TF.gaussian_nll_loss(x, y, v, **o),
            (real(2, 3), real(2, 3), positive(2, 3)),
        ),
        Case(
            "one-variance",
            lambda x, y, v: F.gaussian_nll_loss(x, y, v, full=True),
            (real(2, 3), real(2, 3), positive(2)),
            numpy=lambda x, y, v: np.mean(
                0.5 * np.log(2.0 * math.pi * v[:, None]) + (x - y) ** 2 / (2.0 * v[:, None])
            ),
            torch=lambda x, y, v: TF.gaussian_nll_loss(x, y, v, full=True),
        ),
    ],
    "nn.functional.margin_ranking_loss": reductions(
        lambda x, y, z, **o: F.margin_ranking_loss(x, y, z, 0.3, **o),
        lambda x, y, z: np.maximum(0.0, 0.3 - z * (x - y)),
        lambda x, y, z, **o: TF.margin_ranking_loss(x, y, z, 0.3, **o),
        (at(1.0, 2.0, -0.5), at(0.9, 0.2, 1.0), signs(1, 1, -1)),
    ),
    "nn.functional.hinge_embedding_loss": reductions(
        lambda x, y, **o: F.hinge_embedding_loss(x, y, margin=0.8, **o),
        lambda x, y: np.where(y == 1, x, np.maximum(0.0, 0.8 - x)),
        lambda x, y, **o: TF.hinge_embedding_loss(x, y, 0.8, **o),
        (at(1.0, 0.2, -0.5), signs(1, -1, -1)),
    ),
    "nn.functional.cosine_embedding_loss": [
        *reductions(
            lambda x, y, z, **o: F.cosine_embedding_loss(x, y, z, margin=0.1, **o),
            lambda x, y, z: np.where(
                z == 1, 1.0 - cosine(x, y), np.maximum(0.0, cosine(x, y) - 0.1)
            ),
            lambda x, y, z, **o: TF.cosine_embedding_loss(x, y, z, 0.1, **o),
            (
                at([1.0, 2.0], [2.0, -1.0], [0.5, 1.0]),
                at([2.0, 1.0], [1.0, 0.3], [-1.0, 0.2]),
                signs(1, -1, -1),
            ),
        ),
        Case(
            "vector",
            lambda x, y, z: F.cosine_embedding_loss(x, y, z),
            (real(3), real(3), signs(1)),
            numpy=lambda x, y, z: 1.0 - cosine(x, y),
            known=True,
        ),
    ],
    "nn.functional.triplet_margin_loss": [
        *reductions(
            lambda *xs, **o: F.triplet_margin_loss(*xs, margin=2.0, **o),
            lambda *xs: triplet(*xs, margin=2.0),
            lambda *xs, **o: TF.triplet_margin_loss(*xs, margin=2.0, **o),
            (real(2, 3), real(2, 3), real(2, 3)),
        ),
        Case(
            "swap",
            lambda *xs: F.triplet_margin_loss(*xs, margin=3.0, swap=True),
            (real(2, 3), real(2, 3), real(2, 3)),
            numpy=lambda *xs: np.mean(triplet(*xs, margin=3.0, swap=True)),
            torch=lambda *xs: TF.triplet_margin_loss(*xs, margin=3.0, swap=True),
        ),
    ],
    "nn.functional.triplet_margin_with_distance_loss": [
        Case(
            "given",
            lambda *xs: F.triplet_margin_with_distance_loss(
                *xs, lambda x, y: paddle.sum((x - y) ** 2, axis=1), margin=30.0
            ),
            (real(2, 3), real(2, 3), real(2, 3)),
            numpy=lambda a, p, n: np.mean(np.sum((a - p) ** 2, 1) - np.sum((a - n) ** 2, 1) + 30.0),
        ),
        Case(
            "plain",
            lambda *xs: F.triplet_margin_with_distance_loss(*xs, margin=2.0, swap=True),
            (real(2, 3), real(2, 3), real(2, 3)),
            numpy=lambda *xs: np.mean(triplet(*xs, margin=2.0, swap=True)),
            torch=lambda *xs: TF.triplet_margin_with_distance_loss(*xs, margin=2.0, swap=True),
        ),
    ],
    "nn.functional.multi_margin_loss": [
        *reductions(
            lambda x, y, **o: F.multi_margin_loss(x, y, **o),
            multi_margin,
            None,  # PyTorch has no second order of it
            (pair[0], integers(2, 0)),
        ),
        Case(
            "weighted",
            lambda x, y, w: F.multi_margin_loss(x, y, p=2, margin=0.7, weight=w),
            (pair[0], integers(2, 0), positive(3)),
            numpy=lambda x, y, w: np.mean(w[y] * multi_margin(x, y, 2, 0.7)),
        ),
    ],
    "nn.functional.multi_label_margin_loss": reductions(
        lambda x, y, **o: F.multi_label_margin_loss(x, y, **o),
        multi_label_margin,
        lambda x, y, **o: TF.multilabel_margin_loss(x, y, **o),
        (real(3, 4), integers([3, 0, -1, 1], [0, 2, 1, -1], [-1, 2, 1, 0])),
    ),
    "nn.functional.class_center_sample": [
        Case(
            "plain",
            lambda y: F.class_center_sample(y, 8, 3),
            (integers(7, 2, 7, 0),),
            numpy=lambda y: (np.asarray([2, 1, 2, 0]), np.asarray([0, 2, 7])),
            differentiable=False,
        ),
    ],
    "nn.functional.npair_loss": [
        Case(
            "plain",
            lambda a, p, y: F.npair_loss(a, p, y),
            (real(3, 2), real(3, 2), integers(0, 1, 0)),
            numpy=npair,
        )
    ],
    "nn.functional.margin_cross_entropy": [
        Case(
            "plain",
            lambda x, y: F.margin_cross_entropy(x, y, scale=4.0),
            (probabilities(3, 3), integers(1, 0, 2)),
            numpy=lambda x, y: np.mean(margin_cross_entropy(x, y, scale=4.0)),
        ),
        Case(
            "options",
            lambda x, y: F.margin_cross_entropy(
                x, y, 1.1, 0.2, 0.1, 8.0, return_softmax=True, reduction="none"
            )[0],
            (probabilities(3, 3), integers([1], [0], [2])),
            numpy=lambda x, y: margin_cross_entropy(x, y, 1.1, 0.2, 0.1, 8.0),
        ),
    ],
    "nn.functional.cross_entropy": cross_entropy_cases(),
    "nn.functional.softmax_with_cross_entropy": [
        Case(
            "plain",
            lambda x, y: F.softmax_with_cross_entropy(x, y),
            (real(3, 3), integers([1], [-100], [2])),
            numpy=lambda x, y: hard_loss(x, y, reduction="none"),
        ),
        Case(
            "softmax",
            lambda x, y: F.softmax_with_cross_entropy(x, y, return_softmax=True),
            (real(2, 3), integers(1, 2)),
            numpy=lambda x, y: (hard_loss(x, y, reduction="none")[:, None], softmax(x)),
        ),
        Case(
            "soft",
            lambda x, q: F.softmax_with_cross_entropy(x, q, soft_label=True, axis=0),
            (real(3, 2), distributions(3, 2)),
            numpy=lambda x, q: -np.sum(q * log_softmax(x, 0), axis=0, keepdims=True),
        ),
    ],
    "nn.functional.nll_loss": [
        Case(
            "plain",
            lambda x, y, w: F.nll_loss(x, y, w),
            (real(4, 3), LABELS, positive(3)),
            numpy=lambda x, y, w: hard_loss(x, y, w, logs=True),
        ),
        Case(
            "images",
            lambda x, y: F.nll_loss(x, y, ignore_index=1, reduction="none"),
            (real(1, 3, 2, 2), integers([[[0, 2], [1, 0]]])),
            numpy=lambda x, y: hard_loss(
                np.moveaxis(x, 1, -1), y[:, 0], ignore=1, reduction="none", logs=True
            ),
            torch=lambda x, y: TF.nll_loss(x, y[:, 0], ignore_index=1, reduction="none"),
        ),
    ],
    "nn.functional.hsigmoid_loss": [
        Case(
            "plain",
            lambda x, y, w, b: F.hsigmoid_loss(x, y, 5, w, b),
            (real(3, 2), integers([0], [4], [2]), real(4, 2), real(4)),
            numpy=lambda x, y, w, b: tree_loss(x, y, w, b, 5),
        ),
        Case(
            "paths",
            lambda x, y, w, n, c: F.hsigmoid_loss(x, y, 5, w, path_table=n, path_code=c),
            (real(2, 2), integers(0, 1), real(4, 2), PATHS, CODES),
            numpy=lambda x, y, w, n, c: path_loss(x, w, n, c),
        ),
    ],
    "nn.functional.adaptive_log_softmax_with_loss": [
        Case(
            "plain",
            lambda x, y, h, a, b, c, d: F.adaptive_log_softmax_with_loss(
                x, y, h, [[a, b], [c, d]], [2, 4, 7]
            ),
            (
                real(3, 2),
                integers(1, 3, 6),
                real(2, 4),
                real(2, 2),
                real(2, 2),
                real(2, 1),
                real(1, 3),
            ),
            numpy=adaptive,
        ),
        Case(
            "one",
            lambda x, y, h, a, b, g: F.adaptive_log_softmax_with_loss(x, y, h, [[a, b]], [2, 4], g)[
                0
            ],
            (real(2), np.asarray(3), real(2, 3), real(2, 2), real(2, 2), real(3)),
            numpy=lambda x, y, h, a, b, g: log_softmax(x @ h + g)[2] + log_softmax(x @ a @ b)[1],
            known=True,
        ),
    ],
    "nn.functional.ctc_loss": ctc_cases(),
    "nn.functional.rnnt_loss": [
        Case(
            "none",
            lambda *xs: F.rnnt_loss(*xs, fastemit_lambda=0.0, reduction="none"),
            (real(2, 3, 3, 4), integers([1, 2], [3, 0]), integers(3, 2), integers(2, 1)),
            numpy=rnnt,
        ),
        Case(
            "blank",
            lambda *xs: F.rnnt_loss(*xs, blank=2, fastemit_lambda=0.0),
            (real(2, 2, 3, 3), integers([1, 0], [1, 1]), integers(2, 1), integers(2, 0)),
            numpy=lambda *xs: np.mean(rnnt(*xs, blank=2)),
        ),
    ],
}
