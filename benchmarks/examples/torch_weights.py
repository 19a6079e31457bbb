"""Weights of a layer in a module of PyTorch that has the same structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any, TypeVar

import torch

from . import Array, Batch

__all__ = ["endless", "load"]

_M = TypeVar("_M", bound=torch.nn.Module)


def load(module: _M, weights: Mapping[str, Array]) -> _M:
    """Copy weights to the parameters of the same names, those of `Linear` transposed."""
    linear = {name for name, part in module.named_modules() if isinstance(part, torch.nn.Linear)}
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            array = weights[name]
            turned = array.ndim == 2 and name.rpartition(".")[0] in linear
            parameter.copy_(torch.tensor(array.T if turned else array))
    return module


def endless(batches: Sequence[Batch]) -> Callable[[], tuple[Any, ...]]:
    """A function that returns the batches as tensors, one at each call, again and again."""
    tensors = [tuple(torch.from_numpy(a) for a in batch) for batch in batches]
    following: Iterator[tuple[Any, ...]] = cycle(tensors)
    return following.__next__
