"""Layers of distances and similarities."""

from __future__ import annotations

from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import Plain, along, flag, number

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Plain):
    """The cosine of the angle between vectors along `axis`; see `nn.functional.cosine_similarity`.

    Parameters
    ----------
    axis : int
    eps : float
        The least product of norms that is divided by.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0, 0.0], [1.0, 1.0]])
    >>> paddle.nn.CosineSimilarity()(x, paddle.to_tensor([[2.0, 0.0], [1.0, -1.0]])).tolist()
    [1.0, 0.0]
    """

    _shown = ("_axis", "_eps")

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis = along(self, "axis", axis)
        self._eps = number(self, "eps", eps, least=0.0)

    def forward(self, x1: Any, x2: Any) -> Tensor:
        return F.cosine_similarity(x1, x2, self._axis, self._eps)


class PairwiseDistance(Plain):
    """The norm of order `p` of x - y + epsilon; see `nn.functional.pairwise_distance`.

    Parameters
    ----------
    p : float
    epsilon : float
        Keeps the distance of equal points away from 0, where it has no derivative.
    keepdim : bool

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.PairwiseDistance(epsilon=0.0)
    >>> layer(paddle.to_tensor([[3.0, 4.0]]), paddle.zeros([1, 2])).tolist()
    [5.0]
    """

    _shown = ("p",)
    _shown_unless = (("epsilon", 1e-6), ("keepdim", False))

    def __init__(
        self,
        p: float = 2.0,
        epsilon: float = 1e-6,
        keepdim: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.p = number(self, "p", p)
        self.epsilon = number(self, "epsilon", epsilon)
        self.keepdim = flag(self, "keepdim", keepdim)

    def forward(self, x: Any, y: Any) -> Tensor:
        return F.pairwise_distance(x, y, self.p, self.epsilon, self.keepdim)
