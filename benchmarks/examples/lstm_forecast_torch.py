"""The training step of ``examples/lstm_forecast.py`` in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from . import Array, Batch
from .torch_weights import endless, load

__all__ = ["make"]

WARM = 11


class Forecaster(nn.Module):
    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.memory = nn.LSTM(1, hidden, batch_first=True)
        self.change = nn.Linear(hidden, 1)

    def forward(self, years: Any) -> Any:
        return years + self.change(self.memory(years)[0])


def make(weights: Mapping[str, Array], batches: Sequence[Batch]) -> Callable[[], Any]:
    model = load(Forecaster(weights["memory.weight_hh_l0"].shape[1]), weights)
    adam = torch.optim.AdamW(model.parameters(), lr=5e-3)
    following = endless(batches)

    def step() -> Any:
        years, target = following()
        loss = (model(years)[:, WARM:] - target[:, WARM:]).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad()
        return loss

    return step
