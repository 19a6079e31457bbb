"""More functions that PyTorch has too, beside those of `sweep_cases`: elements moved and picked,
lines reduced by other functions, losses, distances, norms, decompositions of matrices.

The same operands and the same calls; where results are drawn at random, only the time is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from benchmarks.micro.sweep_cases import Case, Labels
from benchmarks.micro.sweep_operands import Array, Make, matrices, matrix, normal, positive

__all__ = ["DRAWN", "MORE"]

_IMAGES: Final = {8: (2, 4, 8), 100: (16, 16, 16), 1000: (16, 32, 56)}
DRAWN: Final = ("dropout",)  # results that differ from call to call
MORE: Final[dict[str, Case]] = {}

Call = Callable[..., Any]


def _within(rng: np.random.Generator, n: int) -> list[Array]:
    """Between -1 and 1."""
    return [np.tanh(normal(rng, n, n)) * np.float32(0.9)]


def _near_one(rng: np.random.Generator, n: int) -> list[Array]:
    return [1 + normal(rng, n, n) / np.float32(100)]


def _image(rng: np.random.Generator, n: int) -> list[Array]:
    batch, channels, side = _IMAGES[n]
    return [normal(rng, batch, channels, side, side)]


def _filtered(rng: np.random.Generator, n: int) -> list[Array]:
    channels = _IMAGES[n][1]
    return [*_image(rng, n), normal(rng, channels, channels, 3, 3)]


def _definite(rng: np.random.Generator, n: int) -> list[Array]:
    a = normal(rng, n // 8 + 2, n // 8 + 2)
    return [(a @ a.T / len(a) + np.eye(len(a), dtype=np.float32)).astype(np.float32)]


def _regular(rng: np.random.Generator, n: int) -> list[Array]:
    size = n // 8 + 2
    return [normal(rng, size, size) / np.float32(4 * size**0.5) + np.eye(size, dtype=np.float32)]


def _case(name: str, make: Make, ours: Call, theirs: Call) -> None:
    MORE[name] = Case(make, ours, theirs)


def _top(name: str, make: Make, theirs: str | None = None) -> None:
    _case(
        name,
        make,
        lambda p, _, *x: getattr(p, name)(*x),
        lambda t, _, *x: getattr(t, theirs or name)(*x),
    )


def _layer(name: str, make: Make, *given: Any, theirs: str | None = None, **named: Any) -> None:
    def ours(p: Any, _: Labels, *x: Any) -> Any:
        return getattr(p.nn.functional, name)(*x, *given, **named)

    def other(t: Any, _: Labels, *x: Any) -> Any:
        return getattr(t.nn.functional, theirs or name)(*x, *given, **named)

    _case(name, make, ours, other)


def _first(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found


def _last(found: Any) -> Any:
    return found[-1] if isinstance(found, tuple) else found


# --- one element at a time
for _name in ["log2", "log10", "atan", "sinh", "cosh", "asinh", "digamma", "lgamma"]:
    _top(_name, positive)
for _name in ["asin", "acos", "atanh", "erfinv"]:
    _top(_name, _within)
for _name in ["round", "trunc", "frac"]:
    _top(_name, matrix)
for _name in ["hypot", "logaddexp", "fmax", "remainder"]:
    _top(_name, lambda r, n: [*positive(r, n), *positive(r, n)])
_PIECES = "relu6 hardtanh hardsigmoid softsign tanhshrink softshrink hardshrink celu logsigmoid glu"
for _name in _PIECES.split():
    _layer(_name, matrix)
_layer("prelu", lambda r, n: [normal(r, n, n), np.full(1, 0.25, np.float32)])
_case(
    "lerp",
    matrices,
    lambda p, _, x, y: p.lerp(x, y, 0.3),
    lambda t, _, x, y: t.lerp(x, y, 0.3),
)
_case(
    "pow_number",
    positive,
    lambda p, _, x: x**2.5,
    lambda t, _, x: x**2.5,
)
_case(
    "max_row",
    lambda r, n: [normal(r, n, n), normal(r, n)],
    lambda p, _, x, y: p.maximum(x, y),
    lambda t, _, x, y: t.maximum(x, y),
)
_case(
    "div_col",
    lambda r, n: [normal(r, n, n), np.abs(normal(r, n, 1)) + np.float32(0.5)],
    lambda p, _, x, y: x / y,
    lambda t, _, x, y: x / y,
)
_case(
    "masked_fill",
    matrix,
    lambda p, _, x: p.masked_fill(x, x > 0, 0.5),
    lambda t, _, x: t.masked_fill(x, x > 0, 0.5),
)
_layer("dropout", matrix, 0.5)

# --- lines
for _name in ["cumprod", "logcumsumexp", "cummax"]:
    _case(
        f"{_name}1",
        _near_one if _name == "cumprod" else matrix,
        lambda p, _, x, f=_name: _first(
            p.cumprod(x, dim=1) if f == "cumprod" else getattr(p, f)(x, axis=1)
        ),
        lambda t, _, x, f=_name: _first(getattr(t, f)(x, dim=1)),
    )
for _name in ["amax", "amin", "nansum", "argmax", "argmin", "count_nonzero"]:
    _case(
        f"{_name}1",
        matrix,
        lambda p, _, x, f=_name: getattr(p, f)(x, axis=1),
        lambda t, _, x, f=_name: getattr(t, f)(x, dim=1),
    )
for _p in (1.0, 2.0, 3.0):
    _case(
        f"norm{_p:.0f}_rows",
        matrix,
        lambda p, _, x, k=_p: p.norm(x, p=k, axis=1),
        lambda t, _, x, k=_p: t.linalg.vector_norm(x, ord=k, dim=1),
    )
_case(
    "normalize",
    matrix,
    lambda p, _, x: p.nn.functional.normalize(x, axis=1),
    lambda t, _, x: t.nn.functional.normalize(x, dim=1),
)
_case(
    "cosine_similarity",
    matrices,
    lambda p, _, x, y: p.nn.functional.cosine_similarity(x, y, axis=1),
    lambda t, _, x, y: t.nn.functional.cosine_similarity(x, y, dim=1),
)
_case(
    "pairwise_distance",
    matrices,
    lambda p, _, x, y: p.nn.functional.pairwise_distance(x, y),
    lambda t, _, x, y: t.nn.functional.pairwise_distance(x, y),
)
_case(
    "cdist",
    lambda r, n: [normal(r, n, 16), normal(r, n, 16)],
    lambda p, _, x, y: p.cdist(x, y),
    lambda t, _, x, y: t.cdist(x, y),
)
_case(
    "rms_norm",
    lambda r, n: [normal(r, n, n), normal(r, n)],
    lambda p, _, x, w: _first(p.nn.functional.rms_norm(x, x.shape[-1:], w, 1e-5)),
    lambda t, _, x, w: t.nn.functional.rms_norm(x, x.shape[-1:], w, 1e-5),
)


def _batch_norm(library: Any, _: Labels, x: Any, w: Any, b: Any) -> Any:
    moments = library.zeros(w.shape), library.ones(w.shape)
    return library.nn.functional.batch_norm(x, *moments, w, b, training=True)


_case(
    "batch_norm",
    lambda r, n: [*_image(r, n), normal(r, _IMAGES[n][1]), normal(r, _IMAGES[n][1])],
    _batch_norm,
    _batch_norm,
)
_layer("instance_norm", _image)
_layer("local_response_norm", _image, 5)

# --- elements that move
_case(
    "index_select",
    matrix,
    lambda p, labels, x: p.index_select(x, labels, axis=1),
    lambda t, labels, x: t.index_select(x, 1, labels),
)
_case(
    "take_along_axis",
    matrix,
    lambda p, labels, x: p.take_along_axis(x, labels.reshape([-1, 1]), 1),
    lambda t, labels, x: t.gather(x, 1, labels.reshape(-1, 1)),
)
_case(
    "put_along_axis",
    lambda r, n: [normal(r, n, n), normal(r, n, 1)],
    lambda p, labels, x, y: p.put_along_axis(x, labels.reshape([-1, 1]), y, 1, "add"),
    lambda t, labels, x, y: t.scatter_add(x, 1, labels.reshape(-1, 1), y),
)
_case(
    "index_add",
    matrices,
    lambda p, labels, x, y: p.index_add(x, labels, 0, y),
    lambda t, labels, x, y: t.index_add(x, 0, labels, y),
)
_case(
    "masked_select",
    matrix,
    lambda p, _, x: p.masked_select(x, x > 0),
    lambda t, _, x: t.masked_select(x, x > 0),
)
_case(
    "one_hot",
    matrix,
    lambda p, labels, x: p.nn.functional.one_hot(labels, x.shape[0]),
    lambda t, labels, x: t.nn.functional.one_hot(labels, x.shape[0]),
)
_case(
    "pad",
    _image,
    lambda p, _, x: p.nn.functional.pad(x, [1, 1, 1, 1]),
    lambda t, _, x: t.nn.functional.pad(x, [1, 1, 1, 1]),
)
_case(
    "pad_reflect",
    _image,
    lambda p, _, x: p.nn.functional.pad(x, [1, 1, 1, 1], mode="reflect"),
    lambda t, _, x: t.nn.functional.pad(x, [1, 1, 1, 1], mode="reflect"),
)
_case("roll", matrix, lambda p, _, x: p.roll(x, 3, 1), lambda t, _, x: t.roll(x, 3, 1))
_case("flip", matrix, lambda p, _, x: p.flip(x, [1]), lambda t, _, x: t.flip(x, [1]))
_case("tile", matrix, lambda p, _, x: p.tile(x, [2, 2]), lambda t, _, x: t.tile(x, [2, 2]))
_case(
    "repeat_interleave",
    matrix,
    lambda p, _, x: p.repeat_interleave(x, 2, 1),
    lambda t, _, x: t.repeat_interleave(x, 2, 1),
)
_case(
    "expand",
    lambda r, n: [normal(r, n, 1)],
    lambda p, _, x: p.expand(x, [x.shape[0], x.shape[0]]) * 1.0,
    lambda t, _, x: x.expand(x.shape[0], x.shape[0]) * 1.0,
)
_case(
    "split",
    lambda r, n: [normal(r, n, n // 2 * 2)],
    lambda p, _, x: p.add(*p.split(x, 2, 1)),
    lambda t, _, x: t.add(*t.chunk(x, 2, 1)),
)
_case(
    "unbind",
    lambda r, n: [normal(r, 4, n, n // 4)],
    lambda p, _, x: p.concat(p.unbind(x, 0), 1),
    lambda t, _, x: t.cat(t.unbind(x, 0), 1),
)
_case("tril", matrix, lambda p, _, x: p.tril(x), lambda t, _, x: t.tril(x))
_case("diagonal", matrix, lambda p, _, x: p.diagonal(x), lambda t, _, x: t.diagonal(x))
_case("trace", matrix, lambda p, _, x: p.trace(x), lambda t, _, x: t.trace(x))
_case(
    "unfold",
    _image,
    lambda p, _, x: p.nn.functional.unfold(x, 3, 1, 1),
    lambda t, _, x: t.nn.functional.unfold(x, 3, 1, 1),
)
_layer("pixel_shuffle", _image, 2)

# --- products and matrices
_case(
    "kron",
    lambda r, n: [normal(r, n // 4, n // 4), normal(r, 4, 4)],
    lambda p, _, x, y: p.kron(x, y),
    lambda t, _, x, y: t.kron(x, y),
)
_top("outer", lambda r, n: [normal(r, n), normal(r, n)])
_top("dot", lambda r, n: [normal(r, n * n), normal(r, n * n)])
_top("mv", lambda r, n: [normal(r, n, n), normal(r, n)])
_top("addmm", lambda r, n: [normal(r, n, n), normal(r, n, n), normal(r, n, n)])
_case(
    "cross",
    lambda r, n: [normal(r, n * n // 3, 3), normal(r, n * n // 3, 3)],
    lambda p, _, x, y: p.cross(x, y, axis=1),
    lambda t, _, x, y: t.cross(x, y, dim=1),
)
for _name, _make in (
    ("inv", _regular),
    ("det", _regular),
    ("cholesky", _definite),
    ("eigvalsh", _definite),
    ("qr", _regular),
    ("pinv", _regular),
    ("matrix_exp", _regular),
):
    _case(
        _name,
        _make,
        lambda p, _, x, f=_name: _last(getattr(p.linalg, f)(x)),
        lambda t, _, x, f=_name: _last(getattr(t.linalg, f)(x)),
    )

# --- losses
for _name in ["l1_loss", "smooth_l1_loss"]:
    _layer(_name, matrices)
_case(
    "soft_margin_loss",
    matrix,
    lambda p, _, x: p.nn.functional.soft_margin_loss(x, p.ones_like(x)),
    lambda t, _, x: t.nn.functional.soft_margin_loss(x, t.ones_like(x)),
)
_case(
    "bce",
    lambda r, n: [np.float32(1) / (np.float32(1) + np.exp(-normal(r, n, n)))],
    lambda p, _, x: p.nn.functional.binary_cross_entropy(x, p.ones_like(x)),
    lambda t, _, x: t.nn.functional.binary_cross_entropy(x, t.ones_like(x)),
)
_case(
    "kl_div",
    lambda r, n: [normal(r, n, n)],
    lambda p, _, x: p.nn.functional.kl_div(x, p.ones_like(x), reduction="sum"),
    lambda t, _, x: t.nn.functional.kl_div(x, t.ones_like(x), reduction="sum"),
)
_case(
    "hinge_embedding",
    matrix,
    lambda p, _, x: p.nn.functional.hinge_embedding_loss(x, p.ones_like(x)),
    lambda t, _, x: t.nn.functional.hinge_embedding_loss(x, t.ones_like(x)),
)
_case(
    "margin_ranking",
    matrices,
    lambda p, _, x, y: p.nn.functional.margin_ranking_loss(x, y, p.ones_like(x)),
    lambda t, _, x, y: t.nn.functional.margin_ranking_loss(x, y, t.ones_like(x)),
)
_case(
    "triplet_margin",
    lambda r, n: [normal(r, n, n), normal(r, n, n), normal(r, n, n)],
    lambda p, _, x, y, z: p.nn.functional.triplet_margin_loss(x, y, z),
    lambda t, _, x, y, z: t.nn.functional.triplet_margin_loss(x, y, z),
)
_case(
    "poisson_nll",
    matrix,
    lambda p, _, x: p.nn.functional.poisson_nll_loss(x, p.ones_like(x)),
    lambda t, _, x: t.nn.functional.poisson_nll_loss(x, t.ones_like(x)),
)

# --- windows
_case(
    "conv_transpose",
    _filtered,
    lambda p, _, x, w: p.nn.functional.conv2d_transpose(x, w, padding=1),
    lambda t, _, x, w: t.nn.functional.conv_transpose2d(x, w, padding=1),
)
_case(
    "conv_depthwise",
    lambda r, n: [*_image(r, n), normal(r, _IMAGES[n][1], 1, 3, 3)],
    lambda p, _, x, w: p.nn.functional.conv2d(x, w, padding=1, groups=w.shape[0]),
    lambda t, _, x, w: t.nn.functional.conv2d(x, w, padding=1, groups=w.shape[0]),
)
_layer("adaptive_max_pool2d", _image, 2)
_case(
    "max_pool1d",
    lambda r, n: [normal(r, 4, 16, n)],
    lambda p, _, x: p.nn.functional.max_pool1d(x, 2),
    lambda t, _, x: t.nn.functional.max_pool1d(x, 2),
)
_case(
    "nearest",
    _image,
    lambda p, _, x: p.nn.functional.interpolate(x, scale_factor=2, mode="nearest"),
    lambda t, _, x: t.nn.functional.interpolate(x, scale_factor=2, mode="nearest"),
)


def _grid(rng: np.random.Generator, n: int) -> list[Array]:
    batch, _, side = _IMAGES[n]
    return [*_image(rng, n), np.tanh(normal(rng, batch, side, side, 2))]


_layer("grid_sample", _grid, align_corners=False)
