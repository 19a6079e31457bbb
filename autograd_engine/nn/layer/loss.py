"""Losses of numbers and of probabilities, element by element."""

from __future__ import annotations

from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import Reduced, Weighted, flag, number, weights

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "GaussianNLLLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
]


class MSELoss(Reduced):
    """(input - label) ** 2; see `nn.functional.mse_loss`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.MSELoss()(paddle.to_tensor([1.0]), paddle.to_tensor([3.0])).item()
    4.0
    """

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__(reduction)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.mse_loss(input, label, self.reduction)


class L1Loss(Reduced):
    """abs(input - label); see `nn.functional.l1_loss`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.L1Loss()(paddle.to_tensor([1.0]), paddle.to_tensor([3.0])).item()
    2.0
    """

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.l1_loss(input, label, self.reduction)


class SmoothL1Loss(Reduced):
    """The square of small differences, and the size of large ones.

    See `nn.functional.smooth_l1_loss`.

    Parameters
    ----------
    delta : float
        Above 0: where the one becomes the other.
    is_huber : bool
        False divides the loss by `delta`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.SmoothL1Loss()(paddle.to_tensor([1.0]), paddle.to_tensor([3.0])).item()
    1.5
    """

    def __init__(
        self,
        reduction: str = "mean",
        delta: float = 1.0,
        is_huber: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self.delta = number(self, "delta", delta, above=0)
        self.is_huber = flag(self, "is_huber", is_huber)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.smooth_l1_loss(input, label, self.reduction, self.delta, self.is_huber)


HuberLoss = SmoothL1Loss


class BCELoss(Weighted):
    """-label * log(input) - (1 - label) * log(1 - input), of probabilities.

    See `nn.functional.binary_cross_entropy`; `BCEWithLogitsLoss` is exact where these are near 0
    or 1.

    Parameters
    ----------
    weight : Tensor, optional
        Multiplies the loss; broadcasts.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> loss = paddle.nn.BCELoss()(paddle.to_tensor([0.5]), paddle.to_tensor([1.0]))
    >>> round(loss.item(), 4)
    0.6931
    """

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.binary_cross_entropy(input, label, self.weight, self.reduction)


class BCEWithLogitsLoss(Weighted):
    """`BCELoss` of sigmoid(logit), exact for logits of any size.

    See `nn.functional.binary_cross_entropy_with_logits`.

    Parameters
    ----------
    weight : Tensor, optional
        Multiplies the loss; broadcasts.
    pos_weight : Tensor, optional
        Multiplies the part of label 1; broadcasts.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> loss = paddle.nn.BCEWithLogitsLoss()
    >>> loss(paddle.to_tensor([1000.0]), paddle.to_tensor([0.0])).item()
    1000.0
    """

    pos_weight: Any

    def __init__(
        self,
        weight: Any = None,
        reduction: str = "mean",
        pos_weight: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight, reduction, name)
        weights(self, "pos_weight", pos_weight)

    def forward(self, logit: Any, label: Any) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            logit, label, self.weight, self.reduction, self.pos_weight
        )


class KLDivLoss(Reduced):
    """label * (log(label) - input), of log-probabilities and probabilities.

    See `nn.functional.kl_div`.

    Parameters
    ----------
    reduction : {"mean", "batchmean", "sum", "none"}
    log_target : bool
        Labels are log-probabilities, too.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> loss = paddle.nn.KLDivLoss("sum")
    >>> round(loss(paddle.to_tensor([-1.0]), paddle.to_tensor([1.0])).item(), 4)
    1.0
    """

    _more = ("batchmean",)

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(reduction)
        self.log_target = flag(self, "log_target", log_target)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.kl_div(input, label, self.reduction, self.log_target)


class PoissonNLLLoss(Reduced):
    """Minus the log-likelihood of counts under Poisson distributions.

    See `nn.functional.poisson_nll_loss`.

    Parameters
    ----------
    log_input : bool
        The input is the logarithm of the rate.
    full : bool
        Add what Stirling's formula gives for log(label!).
    epsilon : float
        Above 0; added to rates, so that they have a logarithm.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.PoissonNLLLoss()(paddle.to_tensor([0.0]), paddle.to_tensor([2.0])).item()
    1.0
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        epsilon: float = 1e-8,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self._log_input = flag(self, "log_input", log_input)
        self._full = flag(self, "full", full)
        self._epsilon = number(self, "epsilon", epsilon, above=0)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.poisson_nll_loss(
            input, label, self._log_input, self._full, self._epsilon, self.reduction
        )


class GaussianNLLLoss(Reduced):
    """Minus the log-likelihood of numbers under normal distributions.

    See `nn.functional.gaussian_nll_loss`.

    Parameters
    ----------
    full : bool
        Add the constant part.
    epsilon : float
        Above 0: the least variance.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> one = paddle.ones([1])
    >>> paddle.nn.GaussianNLLLoss()(one, 3 * one, one).item()
    2.0
    """

    def __init__(
        self,
        full: bool = False,
        epsilon: float = 1e-6,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self._full = flag(self, "full", full)
        self._epsilon = number(self, "epsilon", epsilon, above=0)

    def forward(self, input: Any, label: Any, variance: Any) -> Tensor:
        return F.gaussian_nll_loss(
            input, label, variance, self._full, self._epsilon, self.reduction
        )
