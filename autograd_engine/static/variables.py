"""Persistable variables of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_engine import unique_name
from autograd_engine.dtypes import DTypeLike, to_numpy
from autograd_engine.parameters import create_parameter as create_in_mode
from autograd_engine.parameters import persistable_variable
from autograd_engine.spec import Spec
from autograd_engine.static import mode
from autograd_engine.static.program import Variable, default_main_program

__all__ = ["create_global_var", "create_parameter"]


def create_parameter(
    shape: Sequence[int],
    dtype: DTypeLike,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Any:
    """A trainable parameter of the default program; see `paddle.create_parameter`."""
    mode.require_static("paddle.static.create_parameter")
    return create_in_mode(shape, dtype, name, attr, is_bias, default_initializer)


def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: DTypeLike,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Variable:
    """A variable that the startup program sets to `value`, and that runs may update.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     paddle.static.create_global_var([1], 0.0, "float32", persistable=True, name="steps")
    persist var steps : LOD_TENSOR.shape(1,).dtype(float32).stop_gradient(True)
    """
    mode.require_static("paddle.static.create_global_var")
    full_name = name or unique_name.generate("global_var")
    spec = Spec(tuple(int(d) for d in shape), to_numpy(dtype))
    block = default_main_program().global_block()
    # Kept in the scope in any case: a value that only the startup program writes must live there.
    return persistable_variable(block, full_name, spec, value)
