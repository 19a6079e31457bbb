"""Losses that ask for a margin, or push scores apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.core.checks import check_callback
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import Reduced, Weighted, flag, number

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class MarginRankingLoss(Reduced):
    """max(0, margin - label * (input - other)): label 1 wants `input` above `other`, -1 below.

    Parameters
    ----------
    margin : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> one = paddle.ones([1])
    >>> paddle.nn.MarginRankingLoss(0.5)(one, 3 * one, one).item()
    2.5
    """

    def __init__(
        self, margin: float = 0.0, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(reduction, name)
        self.margin = number(self, "margin", margin)

    def forward(self, input: Any, other: Any, label: Any) -> Tensor:
        return F.margin_ranking_loss(input, other, label, self.margin, self.reduction)


class HingeEmbeddingLoss(Reduced):
    """`input` where label is 1, max(0, margin - input) where it is -1.

    Parameters
    ----------
    margin : float

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> loss = paddle.nn.HingeEmbeddingLoss(reduction="none")
    >>> loss(paddle.to_tensor([0.25, 0.25]), paddle.to_tensor([1.0, -1.0])).tolist()
    [0.25, 0.75]
    """

    def __init__(
        self, margin: float = 1.0, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(reduction, name)
        self.margin = number(self, "margin", margin)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.hinge_embedding_loss(input, label, self.margin, self.reduction)


class CosineEmbeddingLoss(Reduced):
    """1 - cos where label is 1, max(0, cos - margin) where it is -1, of pairs of vectors.

    See `nn.functional.cosine_embedding_loss`.

    Parameters
    ----------
    margin : float
        In [-1, 1].

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.to_tensor([[1.0, 0.0]]), paddle.to_tensor([[0.0, 1.0]])
    >>> round(paddle.nn.CosineEmbeddingLoss()(x, y, paddle.to_tensor([1])).item(), 4)
    1.0
    """

    def __init__(self, margin: float = 0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(reduction, name)
        self.margin = number(self, "margin", margin, least=-1, most=1)

    def forward(self, input1: Any, input2: Any, label: Any) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, label, self.margin, self.reduction)


class TripletMarginLoss(Reduced):
    """max(0, d(input, positive) - d(input, negative) + margin), d a distance of order `p`.

    See `nn.functional.triplet_margin_loss`.

    Parameters
    ----------
    margin : float
        At least 0.
    p, epsilon : float
        Of the distance.
    swap : bool
        Use the distance of `positive` and `negative` where it is the smaller one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])
    >>> round(paddle.nn.TripletMarginLoss()(x, y, x).item(), 4)
    6.0
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        epsilon: float = 1e-6,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self.margin = number(self, "margin", margin, least=0)
        self.p = number(self, "p", p)
        self.epsilon = number(self, "epsilon", epsilon)
        self.swap = flag(self, "swap", swap)

    def forward(self, input: Any, positive: Any, negative: Any) -> Tensor:
        return F.triplet_margin_loss(
            input,
            positive,
            negative,
            self.margin,
            self.p,
            self.epsilon,
            self.swap,
            self.reduction,
        )


class TripletMarginWithDistanceLoss(Reduced):
    """`TripletMarginLoss` with a distance of the caller's.

    Parameters
    ----------
    distance_function : callable, optional
        Of two tensors; by default `nn.functional.pairwise_distance`.
    margin : float
        At least 0.
    swap : bool

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x, y = paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])
    >>> largest = lambda a, b: paddle.max(paddle.abs(a - b), axis=1)
    >>> paddle.nn.TripletMarginWithDistanceLoss(largest)(x, y, x).item()
    5.0
    """

    def __init__(
        self,
        distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        if distance_function is not None and not callable(distance_function):
            raise ArgumentError(
                "TripletMarginWithDistanceLoss: distance_function must be a function of two "
                f"tensors, got {distance_function!r}"
            )
        if distance_function is not None:
            owner = "TripletMarginWithDistanceLoss"
            check_callback(owner, "distance_function", distance_function, "x", "y")
        self.distance_function = distance_function
        self.margin = number(self, "margin", margin, least=0)
        self.swap = flag(self, "swap", swap)

    def forward(self, input: Any, positive: Any, negative: Any) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            input,
            positive,
            negative,
            self.distance_function,
            self.margin,
            self.swap,
            self.reduction,
        )


class MultiLabelMarginLoss(Reduced):
    """Sum of max(0, 1 - x[label] + x[c]) over labels and over classes c that are none, by classes.

    See `nn.functional.multi_label_margin_loss`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[0.25, 0.5, 0.0, 1.0]])
    >>> paddle.nn.MultiLabelMarginLoss()(x, paddle.to_tensor([[3, 0, -1, 1]])).item()
    0.625
    """

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.multi_label_margin_loss(input, label, self.reduction)


class MultiMarginLoss(Weighted):
    """Mean over the other classes c of max(0, margin - x[label] + x[c]) ** p, over all classes.

    See `nn.functional.multi_margin_loss`.

    Parameters
    ----------
    p : int
        At least 1.
    margin : float
    weight : Tensor, optional
        One for each class; that of the label multiplies the loss.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[0.5, 0.0]])
    >>> paddle.nn.MultiMarginLoss()(x, paddle.to_tensor([0])).item()
    0.25
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(weight, reduction, name)
        self.p = number(self, "p", p, least=1)
        self.margin = number(self, "margin", margin)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.multi_margin_loss(input, label, self.p, self.margin, self.weight, self.reduction)


class SoftMarginLoss(Reduced):
    """log(1 + exp(-label * input)) for labels 1 and -1; see `nn.functional.soft_margin_loss`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> loss = paddle.nn.SoftMarginLoss()(paddle.zeros([1]), paddle.ones([1]))
    >>> round(loss.item(), 4)
    0.6931
    """

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.soft_margin_loss(input, label, self.reduction)


class MultiLabelSoftMarginLoss(Weighted):
    """Mean over the classes of the cross entropy of each, any number of them being true.

    See `nn.functional.multi_label_soft_margin_loss`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> loss = paddle.nn.MultiLabelSoftMarginLoss()(paddle.zeros([1, 2]), paddle.ones([1, 2]))
    >>> round(loss.item(), 4)
    0.6931
    """

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.multi_label_soft_margin_loss(input, label, self.weight, self.reduction)
