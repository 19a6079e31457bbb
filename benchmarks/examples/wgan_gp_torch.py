"""The training step of ``examples/wgan_gp.py`` in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn

from . import Array, Batch
from .torch_weights import endless, load

__all__ = ["make"]

PIXELS, NOISE, WIDTH = 64, 16, 128
CRITIC_STEPS = 3
PENALTY = 10.0
RATE = 5e-4


def generator() -> Any:
    return nn.Sequential(
        nn.Linear(NOISE, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, PIXELS),
        nn.Sigmoid(),
    )


def critic() -> Any:
    return nn.Sequential(
        nn.Linear(PIXELS, WIDTH),
        nn.LeakyReLU(0.2),
        nn.Linear(WIDTH, WIDTH),
        nn.LeakyReLU(0.2),
        nn.Linear(WIDTH, 1),
    )


def gradient_penalty(score: Any, real: Any, made: Any, weight: Any) -> Any:
    between = (weight * real + (1.0 - weight) * made).detach().requires_grad_()
    (slope,) = torch.autograd.grad(score(between).sum(), [between], create_graph=True)
    length = torch.sqrt((slope * slope).sum(dim=1) + 1e-12)
    return ((length - 1.0) ** 2).mean()


def make(weights: Mapping[str, Array], batches: Sequence[Batch]) -> Callable[[], Any]:
    model = load(nn.ModuleDict({"generator": generator(), "critic": critic()}), weights)
    make_images, score = model["generator"], model["critic"]
    makers, critics = (
        torch.optim.Adam(part.parameters(), lr=RATE, betas=(0.5, 0.9), fused=True)
        for part in (make_images, score)
    )
    following = endless(batches)

    def step() -> Any:
        real, noise, weight = following()
        for k in range(CRITIC_STEPS):
            with torch.no_grad():
                made = make_images(noise[k])
            loss = score(made).mean() - score(real[k]).mean()
            loss = loss + PENALTY * gradient_penalty(score, real[k], made, weight[k])
            loss.backward()
            critics.step()
            critics.zero_grad()
        (-score(make_images(noise[CRITIC_STEPS])).mean()).backward()
        makers.step()
        makers.zero_grad()
        critics.zero_grad()
        return loss

    return step
