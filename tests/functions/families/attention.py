"""Calls of the public functions of `attention`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import autograd_engine as paddle
from tests.registry.sampling import real

from ..case import Case
from ..peers import TF, torch
from .dropout import kept
from .loss import softmax

F = paddle.nn.functional
Array = np.ndarray


def attention(
    q: Array, k: Array, v: Array, mask: Array | None = None, *, causal: bool = False
) -> Array:
    out = np.zeros((*q.shape[:3], v.shape[3]))
    groups = q.shape[2] // k.shape[2]
    for b, i, h in np.ndindex(*q.shape[:3]):
        scores = [float(q[b, i, h] @ row) / math.sqrt(q.shape[3]) for row in k[b, :, h // groups]]
        if mask is not None:
            row = np.broadcast_to(mask, (q.shape[0], q.shape[2], q.shape[1], k.shape[1]))[b, h, i]
            more = [0.0 if s else -math.inf for s in row] if row.dtype == bool else row.tolist()
            scores = [s + m for s, m in zip(scores, more, strict=True)]
        if causal:
            scores = [s if j <= i else -math.inf for j, s in enumerate(scores)]
        if max(scores) > -math.inf:
            out[b, i, h] = softmax(np.asarray(scores)) @ v[b, :, h // groups]
    return out


def torch_attention(q: Any, k: Any, v: Any, *mask: Any, **options: Any) -> Any:
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    kernels = torch.nn.attention
    with kernels.sdpa_kernel(kernels.SDPBackend.MATH):  # the one that has a second order
        return TF.scaled_dot_product_attention(q, k, v, *mask, **options).transpose(1, 2)


SEES = np.asarray([[True, False, True], [False, False, False]])


CASES: dict[str, list[Case]] = {
    "nn.functional.flash_attn_qkvpacked": [
        Case(
            "packed",
            lambda x: F.flash_attn_qkvpacked(x, causal=True)[0],
            (real(1, 2, 4, 2, 2),),
            numpy=lambda x: attention(
                x[:, :, :2].reshape(1, 2, 4, 2), x[:, :, 2], x[:, :, 3], causal=True
            ),
        )
    ],
    "nn.functional.scaled_dot_product_attention": [
        Case(
            "plain",
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
            (real(1, 2, 2, 2), real(1, 3, 2, 2), real(1, 3, 2, 1)),
            numpy=attention,
            torch=torch_attention,
        ),
        Case(
            "causal",
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            (real(2, 3, 1, 2), real(2, 3, 1, 2), real(2, 3, 1, 2)),
            numpy=lambda q, k, v: attention(q, k, v, causal=True),
            torch=lambda *xs: torch_attention(*xs, is_causal=True),
        ),
        Case(
            "bools",
            lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m),
            (real(1, 2, 1, 2), real(1, 3, 1, 2), real(1, 3, 1, 2), SEES),
            numpy=attention,
            known=True,
        ),
        Case(
            "numbers",
            lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, scale=0.5),
            (real(1, 2, 1, 4), real(1, 3, 1, 4), real(1, 3, 1, 1), real(1, 1, 2, 3)),
            numpy=attention,
            torch=lambda *xs: torch_attention(*xs, scale=0.5),
        ),
        Case(
            "shared",
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
            (real(1, 2, 4, 1), real(1, 2, 2, 1), real(1, 2, 2, 1)),
            numpy=attention,
            torch=lambda *xs: torch_attention(*xs, enable_gqa=True),
        ),
        Case(
            "dropout",
            lambda q, k, v: F.scaled_dot_product_attention(q, k, v, dropout_p=0.5),
            (np.zeros((1, 2, 1, 1)), np.zeros((1, 2, 1, 1)), real(1, 2, 1, 1)),
            numpy=lambda q, k, v: (kept((1, 1, 2, 2), 0.5)[:, 0] @ v[:, :, 0])[:, :, None],
        ),
    ],
}
