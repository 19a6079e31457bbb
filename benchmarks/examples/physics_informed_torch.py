"""The training step of ``examples/physics_informed.py`` in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from . import Array, Batch
from .torch_weights import endless, load

__all__ = ["make"]

NU = 0.02 / math.pi


class Solution(nn.Module):
    def __init__(self, width: int = 32, depth: int = 4) -> None:
        super().__init__()
        sizes = [2, *[width] * depth]
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise(sizes):
            layers += [nn.Linear(inputs, outputs), nn.Tanh()]
        self.network = nn.Sequential(*layers, nn.Linear(width, 1))

    def forward(self, t: Any, x: Any) -> Any:
        free = self.network(torch.cat([t, x], dim=1))
        return t * (1.0 - x * x) * free - torch.sin(math.pi * x)


def residual(model: Any, t: Any, x: Any) -> Any:
    t, x = t.detach().requires_grad_(), x.detach().requires_grad_()
    u = model(t, x)
    u_t, u_x = torch.autograd.grad(u.sum(), [t, x], create_graph=True)
    (u_xx,) = torch.autograd.grad(u_x.sum(), [x], create_graph=True)
    return u_t + u * u_x - NU * u_xx


def make(weights: Mapping[str, Array], batches: Sequence[Batch]) -> Callable[[], Any]:
    model = load(Solution(), weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, fused=True)
    following = endless(batches)

    def step() -> Any:
        loss = (residual(model, *following()) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return step
