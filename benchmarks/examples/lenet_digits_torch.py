"""The training step of ``examples/lenet_digits.py`` in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from . import Array, Batch
from .torch_weights import endless, load

__all__ = ["make"]


class LeNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10)
        )

    def forward(self, images: Any) -> Any:
        return self.classifier(self.features(images))


def make(weights: Mapping[str, Array], batches: Sequence[Batch]) -> Callable[[], Any]:
    model = load(LeNet(), weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, fused=True)
    following = endless(batches)

    def step() -> Any:
        images, labels = following()
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return step
