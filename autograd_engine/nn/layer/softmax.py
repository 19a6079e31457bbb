"""Activations in which elements compete along an axis: softmax, gates, maxima of groups."""

from __future__ import annotations

from typing import Any

from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ShapeError
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.nn.layer.arguments import Elementwise, Plain, along, integer
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["GLU", "LogSoftmax", "Maxout", "Softmax", "Softmax2D"]


class _Along(Plain):
    """A function along one axis."""

    _shown = ("_axis",)

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self._axis = along(self, "axis", axis)

    def forward(self, x: Any) -> Tensor:
        return self._function(x, self._axis)


class Softmax(_Along, function=F.softmax):
    """exp(x) / sum(exp(x)) along `axis`; see `nn.functional.softmax`.

    Parameters
    ----------
    axis : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Softmax()(paddle.to_tensor([1000.0, 1000.0])).tolist()
    [0.5, 0.5]
    """


class LogSoftmax(_Along, function=F.log_softmax):
    """log(softmax(x)) along `axis`; see `nn.functional.log_softmax`.

    Parameters
    ----------
    axis : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.LogSoftmax()(paddle.to_tensor([0.0, -1000.0])).tolist()
    [0.0, -1000.0]
    """


class GLU(_Along, function=F.glu):
    """a * sigmoid(b) with a and b the halves of x along `axis`; see `nn.functional.glu`.

    Parameters
    ----------
    axis : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.GLU()(paddle.to_tensor([4.0, 0.0])).tolist()
    [2.0]
    """


class Softmax2D(Elementwise):
    """Softmax over the channels of ``[N, C, H, W]`` or ``[C, H, W]``, pixel by pixel.

    Raises
    ------
    ShapeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Softmax2D()(paddle.zeros([2, 1, 1])).tolist()
    [[[0.5]], [[0.5]]]
    """

    def forward(self, x: Any) -> Tensor:
        x = as_operand("Softmax2D", x)
        if spec_of(x).ndim not in (3, 4):
            raise ShapeError(
                "Softmax2D: x must be [N, C, H, W] or [C, H, W], got "
                f"{format_shape(spec_of(x).shape)}; use Softmax(axis) for others"
            )
        return F.softmax(x, -3)


class Maxout(Plain):
    """The maximum of every `groups` neighbours along `axis`; see `nn.functional.maxout`.

    Parameters
    ----------
    groups : int
        Divides the size of the axis, which is divided by it.
    axis : int

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.nn.Maxout(2)(paddle.to_tensor([[1.0, 2.0, 4.0, 3.0]])).tolist()
    [[2.0, 4.0]]
    """

    _shown = ("_groups", "_axis")

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        super().__init__(name)
        self._groups = integer(self, "groups", groups)
        self._axis = along(self, "axis", axis)

    def forward(self, x: Any) -> Tensor:
        return F.maxout(x, self._groups, self._axis)
