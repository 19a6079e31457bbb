"""Persistable variables of a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.dtypes import DTypeLike, get_default_numpy_dtype, to_numpy
from autograd_engine.core.locations import saying_where
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.nn.parameters import create_parameter as create_in_mode, persistable_variable
from autograd_engine.program import mode
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.data import declared_spec, same_declaration
from autograd_engine.program.ir.program import (
    Block,
    Variable,
    default_main_program,
    program_guard,
)

__all__ = [
    "create_block_parameter",
    "create_global_var",
    "create_parameter",
    "create_var",
    "require_known",
]


@checked
def create_parameter(
    shape: Sequence[int],
    dtype: DTypeLike,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
) -> Any:
    """A trainable parameter of the default program, which its startup program initialises.

    Parameters
    ----------
    shape, dtype, name, attr, is_bias, default_initializer
        See `paddle.create_parameter`.

    Returns
    -------
    Parameter

    Raises
    ------
    ModeError
        In eager mode.
    ArgumentError, DTypeError, TypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     paddle.static.create_parameter([2, 3], "float32", name="w").shape
    (2, 3)
    """
    mode.require_static("paddle.static.create_parameter")
    return create_in_mode(shape, dtype, name, attr, is_bias, default_initializer)


@checked
def create_global_var(
    shape: Sequence[int],
    value: float,
    dtype: DTypeLike,
    persistable: bool = False,
    force_cpu: bool = False,
    name: str | None = None,
) -> Variable:
    """A variable that the startup program sets to `value`, and that runs may update.

    Parameters
    ----------
    shape : sequence of int
        Known sizes.
    value : float
    dtype : dtype
    persistable, force_cpu : bool
        Accepted for the reference's sake: the value is kept in the scope in any case.
    name : str, optional

    Returns
    -------
    Variable

    Raises
    ------
    ModeError
        In eager mode.
    ArgumentError, DTypeError, TypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     paddle.static.create_global_var([1], 0.0, "float32", persistable=True, name="steps")
    persist var steps : LOD_TENSOR.shape(1,).dtype(float32).stop_gradient(True)
    """
    mode.require_static("paddle.static.create_global_var")
    full_name = name or unique_name.generate("global_var")
    spec = declared_spec("create_global_var", shape, to_numpy(dtype))
    if not all(isinstance(d, int) for d in spec.shape):
        raise ArgumentError(
            f"create_global_var: all sizes of shape {list(shape)} must be known: it is made once"
        )
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        raise ArgumentError(
            f"create_global_var: value must be one number, got {type(value).__name__}"
        )
    block = default_main_program().global_block()
    # Kept in the scope in any case: a value that only the startup program writes must live there.
    return persistable_variable(block, full_name, spec, value)


@saying_where()
def create_var(
    block: Block,
    name: str | None,
    shape: Sequence[int | None],
    dtype: DTypeLike | None,
    persistable: bool,
    stop_gradient: bool,
    others: Mapping[str, Any],
) -> Variable:
    """A variable of `block`, which nothing computes yet; see `Block.create_var`."""
    require_known("Block.create_var", others, _OTHERS)
    shape = () if shape is None else shape
    if name is not None and (not isinstance(name, str) or not name):
        raise ArgumentTypeError(f"create_var: name must be a non-empty str, got {name!r}")
    chosen = get_default_numpy_dtype() if dtype is None else to_numpy(dtype)
    spec = declared_spec("create_var", shape, chosen)
    name = name or unique_name.generate("_generated_var")
    existing = block.vars.get(name)
    if existing is not None and same_declaration(existing.spec, spec):
        return existing
    is_data = bool(others.get("is_data", False))
    var = Variable(
        block, name, spec, stop_gradient=stop_gradient, persistable=persistable, is_data=is_data
    )
    var.declared = not persistable and not is_data
    return block.add_var(var)


_OTHERS: Final = (
    "is_data",
    "type",
    "lod_level",
    "capacity",
    "error_clip",
    "need_check_feed",
    "belong_to_optimizer",
    "initializer",
    "is_parameter",
)


def require_known(function: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise ArgumentTypeError for arguments that there are not."""
    for name in given:
        if name not in known:
            raise ArgumentTypeError(
                f"{function}: unknown argument {name!r}; it takes {', '.join(known)} besides"
            )


@saying_where()
def create_block_parameter(
    block: Block,
    shape: Sequence[int],
    dtype: DTypeLike,
    name: str | None,
    attr: Any,
    initializer: Any,
    others: Mapping[str, Any],
) -> Variable:
    """`Block.create_parameter`."""
    function = "Block.create_parameter"
    require_known(function, others, (*_PARAM_ATTR, "stop_gradient", "persistable", "is_bias"))
    chosen = ParamAttr.of(attr)
    options = {k: others[k] for k in _PARAM_ATTR if k in others}
    if others.get("stop_gradient"):
        options["trainable"] = False
    if options:
        fields = {k: getattr(chosen, k) for k in ("name", "initializer", *_PARAM_ATTR)}
        chosen = ParamAttr(**{**fields, **options})
    with program_guard(block.program):
        made: Variable = create_in_mode(
            shape, dtype, name, chosen, bool(others.get("is_bias")), initializer
        )
    return made


_PARAM_ATTR: Final = ("learning_rate", "regularizer", "trainable", "need_clip")
