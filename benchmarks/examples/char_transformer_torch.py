"""The training step of ``examples/char_transformer.py`` in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from . import Array, Batch
from .torch_weights import endless, load

__all__ = ["make"]

ALPHABET, CONTEXT, WIDTH, HEADS, LAYERS = 96, 64, 64, 8, 2


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(WIDTH, WIDTH) for _ in range(4)
        )

    def forward(self, x: Any) -> Any:
        def heads(x: Any) -> Any:
            return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)

        q, k, v = heads(self.q_proj(x)), heads(self.k_proj(x)), heads(self.v_proj(x))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(mixed.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.self_attn = Attention()
        self.linear1 = nn.Linear(WIDTH, 4 * WIDTH)
        self.linear2 = nn.Linear(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x: Any) -> Any:
        x = x + self.self_attn(self.norm1(x))
        return x + self.linear2(F.relu(self.linear1(self.norm2(x))))


class Blocks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class Writer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.characters = nn.Embedding(ALPHABET, WIDTH)
        self.positions = nn.Parameter(torch.zeros(CONTEXT, WIDTH))
        self.blocks = Blocks()
        self.head = nn.Linear(WIDTH, ALPHABET)

    def forward(self, codes: Any) -> Any:
        return self.head(self.blocks(self.characters(codes) + self.positions))


def make(weights: Mapping[str, Array], batches: Sequence[Batch]) -> Callable[[], Any]:
    model = load(Writer(), weights)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01, fused=True)
    next_batch = endless(batches)

    def step() -> Any:
        codes, following = next_batch()
        loss = F.cross_entropy(model(codes).flatten(0, 1), following.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return step
