"""Making parameters, in either mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.checks import in_memory, require_possible
from autograd_engine.core.dtypes import INEXACT, DTypeLike, to_numpy
from autograd_engine.core.spec import Spec
from autograd_engine.eager.tensor import Parameter as EagerParameter
from autograd_engine.errors import ArgumentError, DTypeError, ModeError
from autograd_engine.nn.initializer import Constant, Initializer, XavierUniform
from autograd_engine.nn.initializer.base import initialize, initializer_for
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.program import mode
from autograd_engine.program.ir.program import (
    Block,
    Parameter,
    Variable,
    default_main_program,
)

__all__ = ["create_parameter", "persistable_variable", "sizes_of", "static_parameter"]


def create_parameter(
    shape: Sequence[int],
    dtype: DTypeLike = "float32",
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Any:
    """A trainable parameter: a tensor in eager mode, a variable of the default program else.

    Parameters
    ----------
    shape : sequence of int
        Positive sizes.
    dtype : dtype
        A floating one, or a complex one with an initializer that says its values.
    name : str, optional
    attr : ParamAttr, str or Initializer, optional
    is_bias : bool
        Start at zero unless told otherwise.
    default_initializer : Initializer, optional
        When `attr` names none, nor `nn.initializer.set_global_initializer` has set one; by default
        Xavier uniform, for a bias zeros.

    Raises
    ------
    ArgumentError, DTypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.create_parameter([2, 3]).stop_gradient
    False
    """
    chosen = ParamAttr.of(attr)
    # A call without a name counts as a layer, also where the attribute names the parameter.
    layer = name or unique_name.generate("create_parameter")
    full_name = name or chosen.name or unique_name.generate(f"{layer}.{'b' if is_bias else 'w'}")
    if default_initializer is None:
        default_initializer = Constant(0.0) if is_bias else XavierUniform()
    if not isinstance(default_initializer, Initializer):
        raise ArgumentError(
            "create_parameter: the initializer must be one of paddle.nn.initializer, got "
            f"{type(default_initializer).__name__}"
        )
    initializer = initializer_for(chosen.initializer, default_initializer, is_bias)
    sizes = sizes_of("parameter", shape)
    numpy_dtype = to_numpy(dtype)
    if numpy_dtype not in INEXACT:
        raise DTypeError(
            f"create_parameter: dtype must be floating or complex, got {numpy_dtype.name}"
        )
    if mode.building():
        return static_parameter(full_name, sizes, numpy_dtype, initializer, chosen)
    if hasattr(chosen, "composed"):
        raise ModeError(
            f"{type(chosen).__name__} is for programs; in eager mode make the layer without it, "
            "and call paddle.nn.utils.weight_norm(layer)"
        )
    kernel, attrs = initializer.operation(sizes, numpy_dtype.name)
    value = in_memory("create_parameter", sizes, lambda: np.array(getattr(raw, kernel)(**attrs)))
    options = chosen.training_options()
    return EagerParameter(value, name=full_name, trainable=chosen.trainable, options=options)


def sizes_of(what: str, shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of a parameter or a buffer."""
    if not isinstance(shape, (list, tuple)):
        raise ArgumentError(
            f"the shape of a {what} must be a list of sizes, got {type(shape).__name__}"
        )
    sizes = tuple(shape)
    for k, d in enumerate(sizes):
        if not isinstance(d, (int, np.integer)) or isinstance(d, bool) or d < 1:
            raise ArgumentError(
                f"the sizes of a {what} must be positive ints; size {k} of {list(sizes)} is not"
            )
    require_possible(f"create_{what}", sizes)
    return tuple(int(d) for d in sizes)


def static_parameter(
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    initializer: Initializer,
    attr: ParamAttr,
) -> Variable:
    """A parameter of the default main program, initialised by the default startup program.

    A `WeightNormParamAttr` makes two, and a variable that is computed from them.
    """
    composed = getattr(attr, "composed", None)
    if composed is not None:
        made: Variable = composed(name, shape, dtype, initializer)
        return made
    block = default_main_program().global_block()
    existing = block.vars.get(name)
    if existing is not None:
        if existing.spec != Spec(shape, dtype):
            raise ArgumentError(
                f"Parameter {name!r} has been created before, with shape {list(existing.shape)} "
                f"and dtype {existing.dtype.name}; a layer now asks for {list(shape)} and "
                f"{dtype.name}. Give one of them another name"
            )
        return existing
    initialize(name, Spec(shape, dtype), initializer)
    options = attr.training_options()
    parameter = Parameter(
        block, name, Spec(shape, dtype), trainable=attr.trainable, options=options
    )
    block.add_var(parameter)
    return parameter


def persistable_variable(
    block: Block, name: str, spec: Spec, value: float | Initializer
) -> Variable:
    """A variable that the startup program sets to `value`, and that lives in the scope."""
    var = Variable(block, name, spec, stop_gradient=True, persistable=True)
    block.add_var(var)
    initialize(name, spec, value if isinstance(value, Initializer) else Constant(value))
    return var
