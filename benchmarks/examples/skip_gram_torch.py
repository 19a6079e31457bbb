"""The training step of ``examples/skip_gram.py`` in PyTorch: sparse gradients, `SparseAdam`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from . import Array, Batch
from .torch_weights import endless, load

__all__ = ["make"]


class SkipGram(nn.Module):
    def __init__(self, words: int, dimension: int) -> None:
        super().__init__()
        self.inner = nn.Embedding(words, dimension, sparse=True)
        self.outer = nn.Embedding(words, dimension, sparse=True)

    def forward(self, words: Any, others: Any) -> Any:
        scores = (self.outer(others) @ self.inner(words).unsqueeze(2)).squeeze(2)
        near, drawn = F.logsigmoid(scores[:, 0]), F.logsigmoid(-scores[:, 1:])
        return -near.mean() - drawn.sum(dim=1).mean()


def make(weights: Mapping[str, Array], batches: Sequence[Batch]) -> Callable[[], Any]:
    model = load(SkipGram(*weights["inner.weight"].shape), weights)
    adam = torch.optim.SparseAdam(list(model.parameters()), lr=2e-3)
    following = endless(batches)

    def step() -> Any:
        loss = model(*following())
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    return step
