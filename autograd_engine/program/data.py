"""What a program is fed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.checks import require_possible, require_type
from autograd_engine.core.dims import Dim, Size, fresh_dim
from autograd_engine.core.dtypes import DTypeLike, get_default_numpy_dtype, to_numpy
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ArgumentError, ArgumentTypeError, NotATensorError
from autograd_engine.program import mode
from autograd_engine.program.ir.program import Variable, default_main_program

__all__ = ["data", "declare", "declared_spec", "require_variable", "same_declaration"]


def require_variable(function: str, argument: str, value: Any) -> None:
    """Raise NotATensorError unless `value` is a Variable."""
    if not isinstance(value, Variable):
        raise NotATensorError(
            f"{function}: {argument} must be a Variable of a program (paddle.static.data makes "
            f"one), got {type(value).__name__}"
        )


def declare(name: str, shape: Sequence[int | None], dtype: np.dtype[Any]) -> Variable:
    """A data variable of the default program; each unknown size is a symbol of its own."""
    if not isinstance(name, str) or not name:
        raise ArgumentTypeError(f"data: name must be a non-empty str, got {name!r}")
    block = default_main_program().global_block()
    spec = declared_spec("data", shape, dtype)
    existing = block.vars.get(name)
    if existing is not None and existing.is_data and same_declaration(existing.spec, spec):
        return existing
    var = Variable(block, name, spec, stop_gradient=True, is_data=True)
    return block.add_var(var)


def declared_spec(function: str, shape: Sequence[int | None], dtype: np.dtype[Any]) -> Spec:
    """Each None or -1 in `shape` is an unknown size of its own."""
    require_type(shape, (list, tuple), f"{function}: shape must be a list or tuple")
    sizes: list[Size] = []
    for d in shape:
        if d is None or d == -1:
            sizes.append(fresh_dim())
        elif isinstance(d, (int, np.integer)) and not isinstance(d, bool) and d >= 0:
            sizes.append(int(d))
        else:
            raise ArgumentError(
                f"{function}: shape {list(shape)} must hold sizes, and None or -1 for unknown ones"
            )
    require_possible(function, sizes)
    return Spec(tuple(sizes), dtype)


def same_declaration(a: Spec, b: Spec) -> bool:
    """Whether two specs were declared alike: unknown sizes in the same places."""
    alike = [
        m == n or (isinstance(m, Dim) and isinstance(n, Dim))
        for m, n in zip(a.shape, b.shape, strict=False)
    ]
    return len(a.shape) == len(b.shape) and all(alike) and a.dtype == b.dtype


def data(
    name: str,
    shape: Sequence[int | None],
    dtype: DTypeLike | None = None,
    lod_level: int = 0,
) -> Variable:
    """Declare a variable that is fed at each run.

    Parameters
    ----------
    name : str
        The key of the feed.
    shape : sequence of int
        None or -1 for a size that differs from run to run.
    dtype : dtype, optional
        By default the default dtype.

    Returns
    -------
    Variable
        With ``stop_gradient=True``; set it to False for gradients with respect to it.

    Raises
    ------
    ModeError
        In eager mode.
    TypeError, ArgumentError, BuildError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program()):
    ...     paddle.static.data("x", [None, 13])
    var x : LOD_TENSOR.shape(-1, 13).dtype(float32).stop_gradient(True)
    """
    mode.require_static("paddle.static.data")
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    return declare(name, shape, chosen)
