"""Functions that PyTorch has too: their operands, and the call by either library.

Operands are matrices n x n of float32, images, sequences; every one is differentiated. `p` is this
package and `t` PyTorch; both have the labels of a size under its name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from benchmarks.micro.sweep_operands import Array, Make, matrices, matrix, normal, positive

__all__ = ["CASES", "SIZES", "Case", "Labels"]

SIZES: Final = {"tiny": 8, "medium": 100, "large": 1000}
# Batch, channels and side of images.
_IMAGES: Final = {8: (2, 3, 8), 100: (16, 16, 16), 1000: (16, 32, 56)}

Labels = Any  # class numbers: a Tensor of either library


class Case(NamedTuple):
    """Operands of a size, and the call: ``ours(p, labels, *x)``, ``theirs(t, labels, *x)``."""

    make: Make
    ours: Callable[..., Any]
    theirs: Callable[..., Any]


CASES: Final[dict[str, Case]] = {}


def _image(rng: np.random.Generator, n: int) -> list[Array]:
    batch, channels, side = _IMAGES[n]
    return [normal(rng, batch, channels, side, side)]


def _top(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return lambda p, _, *x: getattr(p, name)(*x), lambda t, _, *x: getattr(t, name)(*x)


def _layer(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A function of that name among those of layers."""
    return (
        lambda p, _, *x: getattr(p.nn.functional, name)(*x),
        lambda t, _, *x: getattr(t.nn.functional, name)(*x),
    )


def _along(name: str, axis: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def ours(p: Any, _: Labels, x: Any) -> Any:
        return getattr(p, name)(x, axis=axis)

    def theirs(t: Any, _: Labels, x: Any) -> Any:
        found = getattr(t, name)(x, dim=axis)
        return found if isinstance(found, t.Tensor) else found[0]

    return ours, theirs


def _case(
    name: str,
    make: Make,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
) -> None:
    CASES[name] = Case(make, ours, theirs)


_UNARY = "exp log sqrt tanh sin cos abs square reciprocal rsqrt erf log1p expm1 floor sign"
_ACTIVATIONS = "relu gelu sigmoid silu elu softplus leaky_relu hardswish mish selu"
_BINARY = "add subtract multiply divide maximum minimum pow atan2"
_REDUCTIONS = "sum mean max min prod logsumexp cumsum var std"
for _name in _UNARY.split():
    _case(_name, positive, *_top(_name))
for _name in _ACTIVATIONS.split():
    _case(_name, matrix, *_layer(_name))
for _name in _BINARY.split():
    _case(_name, lambda r, n: [*positive(r, n), *positive(r, n)], *_top(_name))
for _name in _REDUCTIONS.split():
    for _axis in (1, 0):
        _case(f"{_name}{_axis}", matrix, *_along(_name, _axis))
_case(
    "add_row",
    lambda r, n: [normal(r, n, n), normal(r, n)],
    lambda p, _, x, y: x + y,
    lambda t, _, x, y: x + y,
)
_case(
    "mul_col",
    lambda r, n: [normal(r, n, n), normal(r, n, 1)],
    lambda p, _, x, y: x * y,
    lambda t, _, x, y: x * y,
)
# Rows of 8, and a function of them that is broadcast or reduced over the axis before.
_case(
    "sub_middle",
    lambda r, n: [normal(r, n, max(2, n // 10), 8), normal(r, n, 1, 8)],
    lambda p, _, x, y: x - y,
    lambda t, _, x, y: x - y,
)
_case(
    "sub_pairs",
    lambda r, n: [normal(r, n, 1, 8), normal(r, max(2, n // 10), 8)],
    lambda p, _, x, y: x - y,
    lambda t, _, x, y: x - y,
)
_case("sum_middle", lambda r, n: [normal(r, n, max(2, n // 10), 8)], *_along("sum", 1))
_case("max_middle", lambda r, n: [normal(r, n, max(2, n // 10), 8)], *_along("max", 1))
_case("sum", matrix, lambda p, _, x: x.sum(), lambda t, _, x: x.sum())
for _name in ("softmax", "log_softmax"):
    _case(
        _name,
        matrix,
        lambda p, _, x, f=_name: getattr(p.nn.functional, f)(x, -1),
        lambda t, _, x, f=_name: getattr(t.nn.functional, f)(x, -1),
    )
_case(
    "layer_norm",
    lambda r, n: [normal(r, n, n), normal(r, n), normal(r, n)],
    lambda p, _, x, w, b: p.nn.functional.layer_norm(x, x.shape[-1:], w, b),
    lambda t, _, x, w, b: t.nn.functional.layer_norm(x, x.shape[-1:], w, b),
)
_case(
    "cross_entropy",
    matrix,
    lambda p, labels, x: p.nn.functional.cross_entropy(x, labels),
    lambda t, labels, x: t.nn.functional.cross_entropy(x, labels),
)
_case(
    "nll_loss",
    matrix,
    lambda p, labels, x: p.nn.functional.nll_loss(x, labels),
    lambda t, labels, x: t.nn.functional.nll_loss(x, labels),
)
_case(
    "mse",
    matrices,
    lambda p, _, x, y: p.nn.functional.mse_loss(x, y),
    lambda t, _, x, y: t.nn.functional.mse_loss(x, y),
)
_case(
    "bce_logits",
    matrix,
    lambda p, _, x: p.nn.functional.binary_cross_entropy_with_logits(x, p.ones_like(x)),
    lambda t, _, x: t.nn.functional.binary_cross_entropy_with_logits(x, t.ones_like(x)),
)
_case("matmul", matrices, lambda p, _, x, y: x @ y, lambda t, _, x, y: x @ y)
_case(
    "linear",
    lambda r, n: [normal(r, n, n), normal(r, n, n), normal(r, n)],
    lambda p, _, x, w, b: p.nn.functional.linear(x, w, b),
    lambda t, _, x, w, b: x @ w + b,
)
_case(
    "bmm",
    lambda r, n: [normal(r, 8, n // 4, n // 4), normal(r, 8, n // 4, n // 4)],
    *_top("bmm"),
)
_case(
    "einsum",
    matrices,
    lambda p, _, x, y: p.einsum("ij,kj->ik", x, y),
    lambda t, _, x, y: t.einsum("ij,kj->ik", x, y),
)
_case(
    "transpose",
    matrix,
    lambda p, _, x: p.transpose(x, [1, 0]) * 1.0,
    lambda t, _, x: x.t() * 1.0,
)
_case("reshape", matrix, lambda p, _, x: p.reshape(x, [-1]), lambda t, _, x: x.reshape(-1))
_case(
    "concat",
    matrices,
    lambda p, _, x, y: p.concat([x, y], 0),
    lambda t, _, x, y: t.cat([x, y], 0),
)
_case(
    "stack",
    matrices,
    lambda p, _, x, y: p.stack([x, y], 0),
    lambda t, _, x, y: t.stack([x, y], 0),
)
_case("slice", matrix, lambda p, _, x: x[1:, ::2], lambda t, _, x: x[1:, ::2])
_case("gather", matrix, lambda p, labels, x: x[labels], lambda t, labels, x: x[labels])
_case(
    "embedding",
    matrix,
    lambda p, labels, x: p.nn.functional.embedding(labels, x),
    lambda t, labels, x: t.nn.functional.embedding(labels, x),
)
_case(
    "where",
    matrices,
    lambda p, _, x, y: p.where(x > 0, x, y),
    lambda t, _, x, y: t.where(x > 0, x, y),
)
_case(
    "clip",
    matrix,
    lambda p, _, x: p.clip(x, -1.0, 1.0),
    lambda t, _, x: t.clip(x, -1.0, 1.0),
)
_case(
    "sort", matrix, lambda p, _, x: p.sort(x, 1), lambda t, _, x: t.sort(x, dim=1, stable=True)[0]
)
_case("topk", matrix, lambda p, _, x: p.topk(x, 4, 1)[0], lambda t, _, x: t.topk(x, 4, 1)[0])
_case("norm", matrix, lambda p, _, x: p.norm(x), lambda t, _, x: t.linalg.vector_norm(x))
_case(
    "conv2d",
    lambda r, n: [*_image(r, n), normal(r, _IMAGES[n][1], _IMAGES[n][1], 3, 3)],
    lambda p, _, x, w: p.nn.functional.conv2d(x, w, padding=1),
    lambda t, _, x, w: t.nn.functional.conv2d(x, w, padding=1),
)
_case(
    "conv1d",
    lambda r, n: [normal(r, 4, _IMAGES[n][1], n), normal(r, _IMAGES[n][1], _IMAGES[n][1], 5)],
    lambda p, _, x, w: p.nn.functional.conv1d(x, w, padding=2),
    lambda t, _, x, w: t.nn.functional.conv1d(x, w, padding=2),
)
for _name, _window in (
    ("max_pool2d", (2, 2)),
    ("avg_pool2d", (2, 2)),
    ("adaptive_avg_pool2d", (2,)),
):
    _case(
        _name,
        _image,
        lambda p, _, x, f=_name, w=_window: getattr(p.nn.functional, f)(x, *w),
        lambda t, _, x, f=_name, w=_window: getattr(t.nn.functional, f)(x, *w),
    )
_case(
    "group_norm",
    lambda r, n: [normal(r, 8, 16, min(n, 784))],
    lambda p, _, x: p.nn.functional.group_norm(x, 4),
    lambda t, _, x: t.nn.functional.group_norm(x, 4),
)


def _attention(p: Any, _: Labels, x: Any) -> Any:
    heads = [p.transpose(x, [0, 2, 1, 3]) for _ in range(3)]  # PyTorch has the heads first
    out = p.nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
    return p.transpose(out, [0, 2, 1, 3])


_case(
    "attention",
    lambda r, n: [normal(r, 2, 2, max(4, n // 8), 16)],
    _attention,
    lambda t, _, x: t.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True),
)
_case(
    "interpolate",
    _image,
    lambda p, _, x: p.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"),
    lambda t, _, x: t.nn.functional.interpolate(x, scale_factor=2, mode="bilinear"),
)


def _system(rng: np.random.Generator, n: int) -> list[Array]:
    size = n // 2 + 2
    return [normal(rng, size, size) + 5 * np.eye(size, dtype=np.float32), normal(rng, size, 2)]


_case(
    "solve",
    _system,
    lambda p, _, x, y: p.linalg.solve(x, y),
    lambda t, _, x, y: t.linalg.solve(x, y),
)
_case(
    "svd",
    lambda r, n: [normal(r, n // 8 + 2, n // 8 + 2)],
    lambda p, _, x: p.linalg.svd(x)[1],
    lambda t, _, x: t.linalg.svd(x)[1],
)
