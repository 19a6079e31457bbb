"""Operations on windows: convolutions and pooling, by C kernels of their own."""

from __future__ import annotations

import re
from math import prod
from typing import Any

from autograd_engine.compiler.native.c_code.c_kernel import HELPERS, CKernel
from autograd_engine.compiler.native.conv import select as convolution
from autograd_engine.compiler.native.lowering.indexing import row_numbers
from autograd_engine.compiler.native.lowering.kernel_trace import Loops, NotLowered, Traced, lowers
from autograd_engine.compiler.native.pool import select as pooling
from autograd_engine.compiler.native.runtime import threads
from autograd_engine.core.spec import Spec

__all__: list[str] = []


def _spec(operand: Any) -> Spec:
    return Spec(operand.shape, operand.dtype)


def _by_kernel(np: Loops, made: CKernel | None, operands: tuple[Any, ...]) -> tuple[Traced, ...]:
    if made is None:
        raise NotLowered("there is no C kernel for these sizes")
    specs = [v.spec for v in np.origin.results]
    text = re.sub(rf"\b{made.name}", "NAME", made.source)
    return np.kernel(
        text,
        [v for v in operands if isinstance(v, Traced)],
        [(s.shape, s.dtype) for s in specs],
        scratch=max(made.scratch, 1) * specs[0].dtype.itemsize,
        helpers=tuple(HELPERS[h] for h in made.helpers),
    )


@lowers(*convolution.OPERATIONS)
def _conv(np: Loops, *operands: Any, **attrs: Any) -> Traced:
    if not np.blas:
        raise NotLowered("NumPy ships no BLAS that C could call")
    specs = [v.spec for v in np.origin.results]
    given = list(map(_spec, operands))
    made = convolution.conv(np.origin.op.name, given, specs, attrs, threads())
    return _by_kernel(np, made, operands)[0]


@lowers("avg_pool", "avg_pool_input", "adaptive_avg_pool", "adaptive_avg_pool_input")
def _mean_pool(np: Loops, *operands: Any, **attrs: Any) -> Traced:
    return _pooled(np, operands, attrs)[0]


@lowers("max_pool", "adaptive_max_pool")
def _max_pool(np: Loops, x: Traced, **attrs: Any) -> tuple[Traced, ...]:
    out, index = _pooled(np, (x,), attrs)
    return out, np.in_range(index, 0, prod(x.shape[2:]))


@lowers("max_pool_scatter", "max_pool_gather")
def _at_maxima(np: Loops, x: Traced, index: Traced, *like: Any) -> Traced:
    """Positions in an image that `max_pool` did not find are checked."""
    image = like[0] if like else x
    index = row_numbers(np, index, prod(image.shape[2:]), wraps=False)
    return _pooled(np, (x, index, *like), {})[0]


def _pooled(np: Loops, operands: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Traced, ...]:
    specs = [v.spec for v in np.origin.results]
    given = list(map(_spec, operands))
    made = pooling.pool(np.origin.op.name, given, specs, attrs, threads())
    return _by_kernel(np, made, operands)
