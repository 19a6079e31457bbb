"""Arithmetic that one primitive operation takes, as a formula in the sizes of its operands.

Products (of matrices, convolutions) count a multiplication and an addition each. What goes element
by element counts one for each element of the result, whatever the function; a reduction one for
each element that it reads; a kernel of several such steps as many as its steps. What only moves
elements, or converts them, counts nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from autograd_engine.core.dims import Dim, Size, product
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef

__all__ = ["Work", "work_of"]


class Work(NamedTuple):
    """Operations of products, and those that go element by element."""

    products: Size = 0
    elementwise: Size = 0

    def plus(self, other: Work) -> Work:
        return Work(self.products + other.products, self.elementwise + other.elementwise)

    def times(self, count: Size) -> Work:
        return Work(self.products * count, self.elementwise * count)

    @property
    def total(self) -> Size:
        return self.products + self.elementwise


Specs = Sequence[Spec]

# Modules of the table whose operations move elements, make them of nothing, or only compare.
_MOVING: Final = frozenset(
    {
        *("shape", "movement", "joining", "indexing", "getitem", "setitem", "padding"),
        *("diagonal", "creation"),
    }
)
_FREE: Final = frozenset(
    {
        *("assign", "cast", "cast_like", "full_like", "zeros_like", "unless_zero"),
        *("expand_like", "spread_like", "reshape_like", "checked_label", "real_part"),
        *("imag_part", "to_complex", "split", "split_like", "unfold", "merge_axes"),
        *("unmerge_axes", "straight_through", "mirror_triangle", "eye_like"),
        *("exchange_rows", "permutation_like"),
    }
)
_ADDING: Final = frozenset(
    {
        *("scatter_add", "scatter_add_like", "index_add_like", "unwindows_like"),
        *("fold_like", "put_along_axis_like", "max_pool_scatter"),
    }
)
_REDUCING: Final = frozenset(
    {
        *("sum_like", "sum", "mean", "max", "min", "argmax", "argmin", "any", "all"),
        *("prod", "bincount", "histogram", "equal_all"),
    }
)
# Steps of kernels that are several, for each element of the largest operand.
_STEPS: Final = {
    "softmax": 5,
    "softmax_adjoint": 4,
    "log_softmax": 5,
    "logsumexp": 4,
    "standardize": 7,
    "standardize_adjoint": 8,
    "p_norm": 3,
    "gelu": 4,
    "bell": 3,
    "silu": 3,
    "logaddexp": 4,
    "linear_recurrence": 2,
    "sgd": 2,
    "momentum": 4,
    "adam": 13,
}


def _matmul(operands: Specs, results: Specs, attrs: dict[str, Any]) -> Size:
    inner = operands[0].shape[-2 if attrs["transpose_x"] else -1]
    return 2 * results[0].size * inner


def _taps(w: Spec) -> Size:
    return product(w.shape[1:])


def _cubes(operands: Specs, numerator: int, denominator: int = 1) -> Size:
    """A multiple of m n k, n the smaller and m the larger size of a matrix, k the smaller again."""
    *batch, m, n = operands[0].shape
    small = n if isinstance(m, Dim) or (not isinstance(n, Dim) and n <= m) else m
    return (product(batch) * m * n * small * numerator) // denominator


def _each_step(weight: Spec, sequences: Spec, batch_axis: int = 1) -> Size:
    """A product with the weight at each time; what goes element by element is little beside it."""
    return 2 * weight.size * sequences.shape[0] * sequences.shape[batch_axis]


_PRODUCTS: Final[dict[str, Callable[[Specs, Specs, dict[str, Any]], Size]]] = {
    "matmul": _matmul,
    "conv": lambda o, r, _: 2 * r[0].size * _taps(o[1]),
    "conv_input": lambda o, r, _: 2 * o[0].size * _taps(o[1]),
    "conv_filter": lambda o, r, _: 2 * o[0].size * _taps(o[2]),
    **dict.fromkeys(("lstm_scan", "gru_scan", "rnn_scan"), lambda o, r, _: _each_step(o[1], o[0])),
    **dict.fromkeys(
        ("gate_scan", "gate_scan_adjoint"), lambda o, r, _: _each_step(o[0], o[1], batch_axis=2)
    ),
    # Leading terms of Golub and Van Loan, Matrix Computations, for n by n (m by n) matrices.
    "cholesky": lambda o, r, _: _cubes(o, 1, 3),
    "lu": lambda o, r, _: _cubes(o, 2, 3),
    "lu_rectangular": lambda o, r, _: _cubes(o, 2, 3),
    "det": lambda o, r, _: _cubes(o, 2, 3),
    "slogdet": lambda o, r, _: _cubes(o, 2, 3),
    "inv": lambda o, r, _: _cubes(o, 2),
    "solve": lambda o, r, _: _cubes(o, 2, 3) + 2 * o[0].shape[-1] * r[0].size,
    "triangular_solve": lambda o, r, _: o[0].shape[-1] * r[0].size,
    "qr": lambda o, r, _: _cubes(o, 4),
    "qr_complete": lambda o, r, _: _cubes(o, 4),
    "svd": lambda o, r, _: _cubes(o, 14),
    "svd_full": lambda o, r, _: _cubes(o, 22),
    "pinv": lambda o, r, _: _cubes(o, 16),
    "eigh": lambda o, r, _: _cubes(o, 9),
    "eig": lambda o, r, _: _cubes(o, 25),
    "matrix_exp": lambda o, r, _: _cubes(o, 16),
}


def work_of(op: OpDef, operands: Specs, results: Specs, attrs: dict[str, Any]) -> Work:
    """The work of one call.

    Parameters
    ----------
    op : OpDef
    operands, results : sequence of Spec
    attrs : dict
    """
    name = op.name if REGISTRY.get(op.name) is op else ""
    if name in _PRODUCTS:
        return Work(_PRODUCTS[name](operands, results, attrs), 0)
    out = results[0].size if results else 0
    read = operands[0].size if operands else 0
    if name in _ADDING:
        return Work(0, read)
    if name == "add_n":
        return Work(0, out * (len(operands) - 1))
    if name in _FREE or op.module in _MOVING:
        return Work()
    if name in _REDUCING:
        return Work(0, 0 if name == "sum_like" and read == out else read)
    if op.module == "pool" and "kernel" in attrs:
        # Each window is read once, in either direction.
        windows = read if name.endswith("_input") else out
        return Work(0, windows * product(attrs["kernel"]))
    if name in _STEPS:
        return Work(0, read * _STEPS[name])
    if op.module in ("sorting", "random") or "like" in op.inputs:
        return Work(0, out)
    return Work(0, read if _reduces(read, out) else out)


def _reduces(read: Size, out: Size) -> bool:
    """Whether fewer elements come out than go in."""
    if isinstance(read, Dim) or isinstance(out, Dim):
        difference = read - out
        terms = difference.terms.values() if isinstance(difference, Dim) else [difference]
        return all(c > 0 for c in terms)
    return out < read
