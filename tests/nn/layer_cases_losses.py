"""Layers of the table: losses.

Their reprs have no arguments, as in Paddle 3.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd_engine as paddle
from tests.nn.layer_case import (
    Input,
    bits,
    case,
    classes,
    distributions,
    floats,
    given,
    positive,
    probabilities,
    signs,
)

F = paddle.nn.functional

X, Y = floats(4, 3), floats(4, 3)
LABELS = classes(3, 4)
WEIGHT = "paddle.to_tensor([0.5, 1.0, 2.0])"


def loss(text: str, call: Callable[..., Any], *inputs: Input, **more: Any) -> None:
    shown = text.partition("(")[0].replace("Huber", "SmoothL1")
    case(text, f"{shown}()", call, *inputs, **more)


loss("MSELoss()", lambda _, x, y: F.mse_loss(x, y), X, Y)
loss("MSELoss('none')", lambda _, x, y: F.mse_loss(x, y, "none"), X, Y)
loss("L1Loss('sum', 'l')", lambda _, x, y: F.l1_loss(x, y, "sum"), X, Y)
loss("SmoothL1Loss()", lambda _, x, y: F.smooth_l1_loss(x, y), X, Y)
loss(
    "SmoothL1Loss('sum', 2.0, False)",
    lambda _, x, y: F.smooth_l1_loss(x, y, "sum", 2.0, False),
    X,
    Y,
)
loss("HuberLoss(delta=0.5)", lambda _, x, y: F.smooth_l1_loss(x, y, delta=0.5), X, Y)
loss(
    "BCELoss()",
    lambda _, x, y: F.binary_cross_entropy(x, y),
    probabilities(4, 3),
    bits(4, 3),
)
loss(
    f"BCELoss({WEIGHT}, 'sum')",
    lambda layer, x, y: F.binary_cross_entropy(x, y, layer.weight, "sum"),
    probabilities(4, 3),
    probabilities(4, 3),
)
loss(
    "BCEWithLogitsLoss()",
    lambda _, x, y: F.binary_cross_entropy_with_logits(x, y),
    X,
    bits(4, 3),
)
loss(
    f"BCEWithLogitsLoss(pos_weight={WEIGHT}, reduction='none')",
    lambda layer, x, y: F.binary_cross_entropy_with_logits(x, y, None, "none", layer.pos_weight),
    X,
    probabilities(4, 3),
)
loss(
    f"BCEWithLogitsLoss({WEIGHT})",
    lambda layer, x, y: F.binary_cross_entropy_with_logits(x, y, layer.weight),
    X,
    bits(4, 3),
)
loss("KLDivLoss()", lambda _, x, y: F.kl_div(x, y), X, probabilities(4, 3))
loss(
    "KLDivLoss('batchmean', True)",
    lambda _, x, y: F.kl_div(x, y, "batchmean", True),
    X,
    Y,
)
loss("PoissonNLLLoss()", lambda _, x, y: F.poisson_nll_loss(x, y), X, positive(4, 3))
loss(
    "PoissonNLLLoss(False, True, 1e-6, 'sum')",
    lambda _, x, y: F.poisson_nll_loss(x, y, False, True, 1e-6, "sum"),
    positive(4, 3),
    positive(4, 3),
)
loss(
    "GaussianNLLLoss()",
    lambda _, x, y, v: F.gaussian_nll_loss(x, y, v),
    X,
    Y,
    positive(4, 3),
)
loss(
    "GaussianNLLLoss(True, 0.5, 'none')",
    lambda _, x, y, v: F.gaussian_nll_loss(x, y, v, True, 0.5, "none"),
    X,
    Y,
    positive(4, 3),
)

# --- margins

loss(
    "MarginRankingLoss(0.5)",
    lambda _, x, y, s: F.margin_ranking_loss(x, y, s, 0.5),
    X,
    Y,
    signs(4, 3),
)
loss(
    "HingeEmbeddingLoss(0.5, 'sum')",
    lambda _, x, s: F.hinge_embedding_loss(x, s, 0.5, "sum"),
    X,
    signs(4, 3),
)
loss(
    "CosineEmbeddingLoss(0.1)",
    lambda _, x, y, s: F.cosine_embedding_loss(x, y, s, 0.1),
    X,
    Y,
    given([1, -1, 1, -1]),
)
loss(
    "TripletMarginLoss()",
    lambda _, x, y, z: F.triplet_margin_loss(x, y, z),
    X,
    Y,
    floats(4, 3),
)
loss(
    "TripletMarginLoss(0.5, 3.0, 1e-4, True, 'none')",
    lambda _, x, y, z: F.triplet_margin_loss(x, y, z, 0.5, 3.0, 1e-4, True, "none"),
    X,
    Y,
    floats(4, 3),
)
loss(
    "TripletMarginWithDistanceLoss(swap=True, reduction='sum')",
    lambda _, x, y, z: F.triplet_margin_with_distance_loss(x, y, z, swap=True, reduction="sum"),
    X,
    Y,
    floats(4, 3),
)
loss(
    "TripletMarginWithDistanceLoss(lambda a, b: paddle.sum(paddle.abs(a - b), 1), 0.5)",
    lambda _, x, y, z: F.triplet_margin_loss(x, y, z, 0.5, 1.0, 0.0),
    X,
    Y,
    floats(4, 3),
    paddle="cannot be made",  # a function cannot be written for both
)
loss("MultiMarginLoss()", lambda _, x, y: F.multi_margin_loss(x, y), X, LABELS)
loss(
    f"MultiMarginLoss(2, 0.5, {WEIGHT}, 'none')",
    lambda layer, x, y: F.multi_margin_loss(x, y, 2, 0.5, layer.weight, "none"),
    X,
    LABELS,
)
loss(
    "MultiLabelMarginLoss('none')",
    lambda _, x, y: F.multi_label_margin_loss(x, y, "none"),
    X,
    given([[2, 0, -1], [1, -1, 0], [-1, 2, 1], [0, 2, 1]]),
)
loss("SoftMarginLoss()", lambda _, x, s: F.soft_margin_loss(x, s), X, signs(4, 3))
loss(
    f"MultiLabelSoftMarginLoss({WEIGHT})",
    lambda layer, x, y: F.multi_label_soft_margin_loss(x, y, layer.weight),
    X,
    bits(4, 3),
)

loss(
    "MarginRankingLoss(reduction='none')",
    lambda _, x, y, s: F.margin_ranking_loss(x, y, s, reduction="none"),
    X,
    Y,
    signs(4, 3),
)
loss(
    "CosineEmbeddingLoss(reduction='sum')",
    lambda _, x, y, s: F.cosine_embedding_loss(x, y, s, reduction="sum"),
    X,
    Y,
    given([1, -1, 1, -1]),
)
loss("SoftMarginLoss('sum')", lambda _, x, s: F.soft_margin_loss(x, s, "sum"), X, signs(4, 3))
loss(
    "MultiLabelSoftMarginLoss(reduction='none')",
    lambda _, x, y: F.multi_label_soft_margin_loss(x, y, reduction="none"),
    X,
    bits(4, 3),
)

# --- classes

loss("CrossEntropyLoss()", lambda _, x, y: F.cross_entropy(x, y), X, LABELS)
loss(
    f"CrossEntropyLoss({WEIGHT}, 1, 'sum', label_smoothing=0.1)",
    lambda layer, x, y: F.cross_entropy(x, y, layer.weight, 1, "sum", label_smoothing=0.1),
    X,
    LABELS,
    paddle="nothing",  # it weighs smoothed labels in another way
)
loss(
    "CrossEntropyLoss(reduction='none', axis=1)",
    lambda _, x, y: F.cross_entropy(x, y, reduction="none", axis=1),
    floats(2, 3, 2),
    classes(3, 2, 2),
)
loss(
    "CrossEntropyLoss(soft_label=True)",
    lambda _, x, y: F.cross_entropy(x, y, soft_label=True),
    X,
    distributions(4, 3),
)
loss(
    "CrossEntropyLoss(use_softmax=False)",
    lambda _, x, y: F.cross_entropy(x, y, use_softmax=False),
    probabilities(4, 3),
    LABELS,
)
loss(
    f"NLLLoss({WEIGHT}, 0)",
    lambda layer, x, y: F.nll_loss(x, y, layer.weight, 0),
    X,
    LABELS,
)
loss(
    "NLLLoss(reduction='sum')",
    lambda _, x, y: F.nll_loss(x, y, reduction="sum"),
    X,
    LABELS,
)
loss(
    "RNNTLoss(1, reduction='sum')",
    lambda _, x, y, t, n: F.rnnt_loss(x, y, t, n, 1, reduction="sum"),
    floats(2, 3, 3, 4),
    given([[0, 2], [2, 3]], "int32"),
    given([3, 2], "int32"),
    given([2, 1], "int32"),
    known=True,
)
loss(
    "CTCLoss(1, 'sum', True)",
    lambda _, x, y, t, n: F.ctc_loss(x, y, t, n, 1, "sum", zero_infinity=True),
    floats(5, 2, 3),
    given([[0, 2], [2, 0]], "int32"),
    given([5, 4]),
    given([2, 1]),
    known=True,
)
loss(
    "HSigmoidLoss(3, 5)",
    lambda layer, x, y: F.hsigmoid_loss(x, y, 5, layer.weight, layer.bias),
    X,
    classes(5, 4),
    paddle="nothing",  # it adds log(2) for each node that a path lacks to the longest
)
loss(
    "HSigmoidLoss(3, 5, bias_attr=False, is_custom=True)",
    lambda layer, x, y, t, c: F.hsigmoid_loss(x, y, 5, layer.weight, path_table=t, path_code=c),
    X,
    classes(5, 4),
    given([[0, 1, -1], [0, 2, 4], [0, -1, -1], [0, 1, 3]]),
    given([[1, 0, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1]]),
    paddle="nothing",
)
loss(
    "AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0, head_bias=True)",
    lambda layer, x, y: F.adaptive_log_softmax_with_loss(
        x, y, layer.head_weight, layer.tail_weights, [5, 10, 20], layer.head_bias
    ),
    floats(4, 8),
    given([3, 7, 12, 19]),
    paddle="nothing",  # its parameters are not all registered
)
