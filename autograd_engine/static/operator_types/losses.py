"""Types of losses."""

from __future__ import annotations

from typing import Any

import autograd_engine.nn.functional as F  # noqa: N812 - the usual name
from autograd_engine.static.operator_types.declaring import declare
from autograd_engine.tensor import public as paddle


def _of_probabilities(
    x: Any, label: Any, soft_label: bool, ignore_index: int, axis: int = -1
) -> Any:
    """The loss of each row, with `axis` kept as 1."""
    if not soft_label and label.ndim < x.ndim:
        label = paddle.unsqueeze(label, axis)
    return F.cross_entropy(
        x,
        label,
        ignore_index=ignore_index,
        reduction="none",
        soft_label=soft_label,
        axis=axis,
        use_softmax=False,
    )


declare(
    "cross_entropy",
    "X Label -> Y",
    lambda x, label, *, soft_label, ignore_index: _of_probabilities(
        x, label, soft_label, ignore_index
    ),
    soft_label=False,
    ignore_index=-100,
)
declare(
    "cross_entropy2",
    "X Label -> Y XShape~ MatchX~",
    lambda x, label, *, ignore_index: _of_probabilities(x, label, False, ignore_index),
    ignore_index=-100,
)


def _softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    *,
    soft_label: bool,
    use_softmax: bool,
    numeric_stable_mode: bool,
    ignore_index: int,
    axis: int,
) -> Any:
    if not use_softmax:
        return logits, _of_probabilities(logits, label, soft_label, ignore_index, axis)
    loss, softmax = F.softmax_with_cross_entropy(
        logits, label, soft_label, ignore_index, return_softmax=True, axis=axis
    )
    return softmax, loss


declare(
    "softmax_with_cross_entropy",
    "Logits Label -> Softmax Loss",
    _softmax_with_cross_entropy,
    soft_label=False,
    use_softmax=True,
    numeric_stable_mode=True,
    ignore_index=-100,
    axis=-1,
)


def _sigmoid_cross_entropy(
    x: Any, label: Any, pos_weight: Any, *, normalize: bool, ignore_index: int
) -> Any:
    loss = F.binary_cross_entropy_with_logits(x, label, reduction="none", pos_weight=pos_weight)
    ignored = label == float(ignore_index)
    loss = paddle.where(ignored, paddle.zeros_like(loss), loss)
    if not normalize:
        return loss
    counted = paddle.sum(paddle.cast(paddle.logical_not(ignored), x.dtype))
    return loss / paddle.maximum(counted, paddle.full_like(counted, 1e-5))


declare(
    "sigmoid_cross_entropy_with_logits",
    "X Label pos_weight? -> Out",
    _sigmoid_cross_entropy,
    normalize=False,
    ignore_index=-100,
)


def _huber(x: Any, y: Any, *, delta: float) -> Any:
    return F.smooth_l1_loss(x, y, "none", delta), y - x


declare("huber_loss", "X Y -> Out Residual", _huber, delta=float)
declare(
    "log_loss",
    "Predicted Labels -> Loss",
    lambda x, label, *, epsilon: F.log_loss(x, label, epsilon),
    epsilon=float,
)
declare(
    "bce_loss",
    "X Label -> Out",
    lambda x, label: F.binary_cross_entropy(x, label, reduction="none"),
)
declare(
    "kldiv_loss",
    "X Target -> Loss",
    lambda x, target, *, reduction: F.kl_div(x, target, reduction),
    reduction="mean",
)
declare(
    "nll_loss",
    "X Label Weight? -> Out Total_weight~",
    lambda x, label, weight, *, ignore_index, reduction: F.nll_loss(
        x, label, weight, ignore_index, reduction
    ),
    ignore_index=-100,
    reduction="mean",
)
declare(
    "hinge_loss",
    "Logits Labels -> Loss",
    lambda x, label: F.relu(1.0 - (2.0 * label - 1.0) * x),
)
declare(
    "rank_loss",
    "Label Left Right -> Out",
    lambda label, left, right: F.softplus(left - right) - label * (left - right),
)


def _label_smooth(label: Any, prior: Any, *, epsilon: float) -> Any:
    return F.label_smooth(label, prior, epsilon)


declare("label_smooth", "X PriorDist? -> Out", _label_smooth, epsilon=0.0)
