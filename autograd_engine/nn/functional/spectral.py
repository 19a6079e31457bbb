"""The largest singular value of a weight that is taken for a matrix, by power iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autograd_engine.core.spec import Shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.operands import spec_of
from autograd_engine.tensor.linalg.products import matmul, mv

__all__ = [
    "as_matrix",
    "MOST_STEPS",
    "matrix_sizes",
    "over_largest_singular_value",
    "power_iteration",
    "singular_value",
]


def matrix_sizes(shape: Shape, dim: int) -> tuple[int, int]:
    """Rows and columns of the matrix that a weight of known sizes is taken for."""
    rows, columns = int(shape[dim]), 1
    for k, size in enumerate(shape):
        columns *= 1 if k == dim else int(size)
    return rows, columns


def as_matrix(weight: Any, dim: int) -> Any:
    """A row for each index of the axis `dim`."""
    shape = spec_of(weight).shape
    front = (dim, *(k for k in range(len(shape)) if k != dim))
    turned = ops.transpose(weight, perm=front) if dim else weight
    return ops.reshape(turned, shape=matrix_sizes(shape, dim))


# Steps of power iteration. It converges geometrically; a program holds each step.
MOST_STEPS: Final = 10_000


def power_iteration(
    matrix: Any, u: Any, v: Any, steps: int, unit: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """u and v nearer to the singular vectors of the largest singular value.

    `unit` gives a vector the length 1, and says what to do where it has none.
    """
    for _ in range(steps):
        v = unit(mv(ops.transpose(matrix, perm=(1, 0)), u))
        u = unit(mv(matrix, v))
    return u, v


def singular_value(matrix: Any, u: Any, v: Any) -> Any:
    """``u W v``. Where the iteration has converged, its derivatives by u and v are 0."""
    return matmul(u, mv(matrix, v))


def over_largest_singular_value(
    weight: Any, u: Any, v: Any, dim: int, power_iters: int, eps: float
) -> Tensor:
    """`weight` over ``u W v``, u and v being what power iteration makes of those given.

    They are constants to the gradient. Miyato, Kataoka, Koyama and Yoshida 2018.
    """

    def unit(x: Any) -> Any:
        return x / (ops.sqrt(ops.sum(x * x, axis=(0,), keepdims=False)) + eps)

    matrix = as_matrix(weight, dim)
    u, v = power_iteration(matrix.detach(), u, v, power_iters, unit)
    return weight / singular_value(matrix, u, v)
