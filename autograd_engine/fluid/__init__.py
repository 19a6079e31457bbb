"""The names of the 1.x system that its documentation of ``fluid.backward`` uses, and no more.

Static mode was the only mode then, so nothing here asks for it to be switched on.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from autograd_engine.core.dtypes import DTypeLike, to_numpy
from autograd_engine.nn import functional as F  # noqa: N812 - the field's name for it
from autograd_engine.program.backward.append_backward import append_backward, gradients
from autograd_engine.program.data import declare
from autograd_engine.static import nn
from autograd_engine.tensor.reduction import mean

__all__ = ["backward", "gradients", "layers"]


def _data(name: str, shape: Sequence[int], dtype: DTypeLike = "float32") -> Any:
    """A data variable; unless the shape names an unknown size, a batch axis comes first."""
    sizes = list(shape)
    if not any(d in (None, -1) for d in sizes):
        sizes.insert(0, -1)
    var = declare(name, sizes, to_numpy(dtype))
    return var


def _fc(input: Any, size: int, act: str | None = None, **options: Any) -> Any:
    return nn.fc(input, size, activation=act, **options)


layers = SimpleNamespace(
    data=_data,
    fc=_fc,
    conv2d=nn.conv2d,
    embedding=nn.embedding,
    relu=F.relu,
    square_error_cost=F.square_error_cost,
    mean=mean,
)
backward = SimpleNamespace(append_backward=append_backward, gradients=gradients)
