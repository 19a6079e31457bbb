"""Losses of class labels, and of sequences of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import (
    Reduced,
    Unnamed,
    Weighted,
    along,
    flag,
    integer,
    number,
    required,
    sequence,
)
from autograd_engine.tensor.joining import concat
from autograd_engine.tensor.reduction import argmax

__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "CTCLoss",
    "CrossEntropyLoss",
    "HSigmoidLoss",
    "NLLLoss",
    "RNNTLoss",
]


class CrossEntropyLoss(Weighted):
    """Cross entropy between labels and softmax(input); see `nn.functional.cross_entropy`.

    Parameters
    ----------
    ignore_index : int
        Labels that do not count.
    soft_label : bool
        Labels are probabilities, not class numbers.
    axis : int
        The classes.
    use_softmax : bool
        False: the input is probabilities already.
    label_smoothing : float
        In [0, 1]: this share of each label is spread over all classes.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> loss = paddle.nn.CrossEntropyLoss()
    >>> round(loss(paddle.zeros([1, 2]), paddle.to_tensor([1])).item(), 4)
    0.6931
    """

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__(weight, reduction, name)
        self.ignore_index = integer(self, "ignore_index", ignore_index, least=None)
        self.soft_label = flag(self, "soft_label", soft_label)
        self.axis = along(self, "axis", axis)
        self.use_softmax = flag(self, "use_softmax", use_softmax)
        self.label_smoothing = number(self, "label_smoothing", label_smoothing, least=0, most=1)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.cross_entropy(
            input,
            label,
            self.weight,
            self.ignore_index,
            self.reduction,
            self.soft_label,
            self.axis,
            self.use_softmax,
            self.label_smoothing,
        )


class NLLLoss(Weighted):
    """Minus the log-probability of each label, classes on axis 1; see `nn.functional.nll_loss`.

    Parameters
    ----------
    ignore_index : int
        Labels that do not count.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.NLLLoss()(paddle.to_tensor([[-1.0, -2.0]]), paddle.to_tensor([1])).item()
    2.0
    """

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(weight, reduction, name)
        self.ignore_index = integer(self, "ignore_index", ignore_index, least=None)

    def forward(self, input: Any, label: Any) -> Tensor:
        return F.nll_loss(input, label, self.weight, self.ignore_index, self.reduction)


class CTCLoss(Reduced):
    """Minus the log-probability that frames spell a label sequence, over all alignments.

    See `nn.functional.ctc_loss`.

    Parameters
    ----------
    blank : int
        The class that stands for no label.
    zero_infinity : bool
        Where there is no alignment, the loss is 0 and not infinite.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> loss = paddle.nn.CTCLoss()
    >>> two, one = paddle.to_tensor([2]), paddle.to_tensor([1])
    >>> round(loss(paddle.zeros([2, 1, 2]), paddle.to_tensor([[1]]), two, one).item(), 4)
    0.2877
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction)
        self.blank = integer(self, "blank", blank, least=0)
        self.zero_infinity = flag(self, "zero_infinity", zero_infinity)

    def forward(
        self,
        log_probs: Any,
        labels: Any,
        input_lengths: Any,
        label_lengths: Any,
        norm_by_times: bool = False,
    ) -> Tensor:
        return F.ctc_loss(
            log_probs,
            labels,
            input_lengths,
            label_lengths,
            self.blank,
            self.reduction,
            norm_by_times,
            self.zero_infinity,
        )


class RNNTLoss(Reduced):
    """Minus the log-probability that a transducer emits a label sequence, over all alignments.

    See `nn.functional.rnnt_loss`.

    Parameters
    ----------
    blank : int
        The class with which the next frame is gone on to.
    fastemit_lambda : float
        The gradient of what emits a label is larger by this share.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> log_probs = paddle.log(paddle.full([1, 2, 2, 3], 1 / 3))
    >>> two, one = paddle.to_tensor([2]), paddle.to_tensor([1])
    >>> round(paddle.nn.RNNTLoss()(log_probs, paddle.to_tensor([[1]]), two, one).item(), 4)
    2.6027
    """

    def __init__(
        self,
        blank: int = 0,
        fastemit_lambda: float = 0.001,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self.blank = integer(self, "blank", blank, least=0)
        self.fastemit_lambda = number(self, "fastemit_lambda", fastemit_lambda, least=0)

    def forward(self, input: Any, label: Any, input_lengths: Any, label_lengths: Any) -> Tensor:
        return F.rnnt_loss(
            input,
            label,
            input_lengths,
            label_lengths,
            self.blank,
            self.fastemit_lambda,
            self.reduction,
        )


class HSigmoidLoss(Unnamed):
    """Hierarchical softmax with weights of its own; see `nn.functional.hsigmoid_loss`.

    Parameters
    ----------
    feature_size : int
        D
    num_classes : int
        At least 2; the number of inner nodes, if `is_custom`.
    weight_attr, bias_attr : ParamAttr, str, Initializer or bool, optional
        Xavier uniform and zeros by default; ``bias_attr=False`` for no bias.
    is_custom : bool
        The tree is given with each call, by `path_table` and `path_code`.
    is_sparse : bool
        Accepted; gradients are dense.

    Attributes
    ----------
    weight : Parameter
        A row of D for each inner node, of which a complete tree has ``num_classes - 1``.
    bias : Parameter or None
        ``[nodes, 1]``

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.HSigmoidLoss(3, 4)(paddle.zeros([2, 3]), paddle.to_tensor([1, 2])).shape
    paddle.Size([2, 1])
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        width = self._feature_size = integer(self, "feature_size", feature_size)
        self._num_classes = integer(self, "num_classes", num_classes, least=2)
        self._is_custom = flag(self, "is_custom", is_custom)
        self._is_sparse = flag(self, "is_sparse", is_sparse)
        nodes = self._num_classes if is_custom else self._num_classes - 1
        attr = required(self, "weight_attr", weight_attr)
        self.weight = self.create_parameter([nodes, width], attr)
        self.bias = self.create_parameter([nodes, 1], bias_attr, is_bias=True)

    def forward(
        self, input: Any, label: Any, path_table: Any = None, path_code: Any = None
    ) -> Tensor:
        if self._is_custom != (path_table is not None and path_code is not None):
            raise ArgumentError(
                "HSigmoidLoss: path_table and path_code are given with each call if is_custom is "
                "True, and never else"
            )
        return F.hsigmoid_loss(
            input,
            label,
            self._num_classes,
            self.weight,
            self.bias,
            path_table,
            path_code,
            self._is_sparse,
        )


class AdaptiveLogSoftmaxWithLoss(Unnamed):
    """Log-probabilities of labels, rare classes being looked up in clusters of their own.

    Grave, Joulin, Cisse, Grangier and Jegou 2017; see
    `nn.functional.adaptive_log_softmax_with_loss`.

    Parameters
    ----------
    in_features : int
        D
    n_classes : int
        The classes, the frequent ones first.
    cutoffs : sequence of int
        Where the clusters begin, in rising order, below `n_classes`.
    weight_attr, bias_attr : ParamAttr, str or Initializer, optional
        Xavier uniform and zeros by default.
    div_value : float
        Cluster i is looked up in ``D / div_value ** (i + 1)`` features.
    head_bias : bool
        Whether the head has a bias.

    Attributes
    ----------
    head_weight : Parameter
        ``[D, cutoffs[0] + clusters]``
    head_bias : Parameter or None
    tail_weights : list of pairs of Parameters
        ``[D, d]`` and ``[d, classes of the cluster]`` of each cluster.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> layer = paddle.nn.AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10])
    >>> x = paddle.zeros([2, 16])
    >>> out, loss = layer(x, paddle.to_tensor([3, 12]))
    >>> out.shape, loss.shape
    (paddle.Size([2]), paddle.Size([]))
    >>> layer.log_prob(x).exp().sum(1).numpy().round(4).tolist()
    [1.0, 1.0]
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        weight_attr: Any = None,
        bias_attr: Any = None,
        div_value: float = 4.0,
        head_bias: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        width = self.in_features = integer(self, "in_features", in_features)
        self.n_classes = integer(self, "n_classes", n_classes)
        self.cutoffs = self._limits(cutoffs)
        self.div_value = number(self, "div_value", div_value, above=0)
        attr = required(self, "weight_attr", weight_attr)
        self.n_clusters = len(self.cutoffs) - 1
        head = self.cutoffs[0] + self.n_clusters
        self.head_weight = self.create_parameter([width, head], attr)
        with_bias = flag(self, "head_bias", head_bias)
        self.head_bias = self.create_parameter(
            [head], bias_attr if with_bias else False, is_bias=True
        )
        for i in range(self.n_clusters):
            inner = int(width // self.div_value ** (i + 1))
            if inner < 1:
                raise ArgumentError(
                    f"AdaptiveLogSoftmaxWithLoss: nothing is left of {width} features for cluster "
                    f"{i}: take a smaller div_value than {div_value}, or fewer cutoffs"
                )
            classes = self.cutoffs[i + 1] - self.cutoffs[i]
            self.add_parameter(f"_tail_{i}_in", self.create_parameter([width, inner], attr))
            self.add_parameter(f"_tail_{i}_out", self.create_parameter([inner, classes], attr))

    def _limits(self, cutoffs: Any) -> list[int]:
        limits = [integer(self, "cutoffs", c) for c in sequence(cutoffs)]
        limits.append(self.n_classes)
        if len(limits) < 2 or any(a >= b for a, b in itertools.pairwise(limits)):
            raise ArgumentError(
                "AdaptiveLogSoftmaxWithLoss: cutoffs must be ints in rising order below n_classes, "
                f"{self.n_classes}; got {cutoffs!r}"
            )
        return limits

    @property
    def tail_weights(self) -> list[list[Any]]:
        return [
            [getattr(self, f"_tail_{i}_in"), getattr(self, f"_tail_{i}_out")]
            for i in range(self.n_clusters)
        ]

    def forward(self, input: Any, label: Any) -> tuple[Tensor, Tensor]:
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input: Any) -> Any:
        """Log-probabilities ``[N, n_classes]`` of all classes."""
        frequent = self.cutoffs[0]
        head = F.log_softmax(F.linear(input, self.head_weight, self.head_bias), -1)
        parts = [head[:, :frequent]]
        for i, (first, second) in enumerate(self.tail_weights):
            within = F.log_softmax(F.linear(F.linear(input, first), second), -1)
            parts.append(within + head[:, frequent + i : frequent + i + 1])
        return concat(parts, axis=1)

    def predict(self, input: Any) -> Any:
        """The likeliest class ``[N]``."""
        return argmax(self.log_prob(input), axis=1)
