"""Making parameters, in either mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.dtypes import DTypeLike, to_numpy
from autograd_engine.eager.tensor import Parameter as EagerParameter
from autograd_engine.errors import ArgumentError, DTypeError, ModeError
from autograd_engine.namespace import raw
from autograd_engine.nn.initializer import Constant, Initializer, XavierUniform
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.registry import REGISTRY
from autograd_engine.source import caller
from autograd_engine.spec import Spec
from autograd_engine.static import mode
from autograd_engine.static.program import (
    Block,
    Operator,
    Parameter,
    Ref,
    Variable,
    default_main_program,
    default_startup_program,
)

__all__ = ["create_parameter", "persistable_variable", "static_parameter"]


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
        A floating one.
    name : str, optional
    attr : ParamAttr, str or Initializer, optional
    is_bias : bool
        Start at zero unless told otherwise.
    default_initializer : Initializer, optional
        When `attr` names none; by default Xavier uniform, for a bias zeros.

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
    initializer = chosen.initializer or default_initializer
    if initializer is None:
        initializer = Constant(0.0) if is_bias else XavierUniform()
    if not isinstance(initializer, Initializer):
        raise ArgumentError(
            "create_parameter: the initializer must be one of paddle.nn.initializer, got "
            f"{type(initializer).__name__}"
        )
    sizes = _sizes(shape)
    numpy_dtype = to_numpy(dtype)
    if numpy_dtype.kind != "f":
        raise DTypeError(f"create_parameter: dtype must be a float, got {numpy_dtype.name}")
    if mode.building():
        return static_parameter(full_name, sizes, numpy_dtype, initializer, chosen)
    if hasattr(chosen, "composed"):
        raise ModeError(
            f"{type(chosen).__name__} is for programs; in eager mode compute g * v / norm(v) of "
            "two parameters"
        )
    kernel, attrs = initializer.operation(sizes, numpy_dtype.name)
    value = np.array(getattr(raw, kernel)(**attrs))
    options = chosen.training_options()
    return EagerParameter(value, name=full_name, trainable=chosen.trainable, options=options)


def _sizes(shape: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(shape, (list, tuple)):
        raise ArgumentError(
            f"the shape of a parameter must be a list of sizes, got {type(shape).__name__}"
        )
    sizes = tuple(shape)
    for k, d in enumerate(sizes):
        if not isinstance(d, (int, np.integer)) or isinstance(d, bool) or d < 1:
            raise ArgumentError(
                f"the sizes of a parameter must be positive ints; size {k} of {list(sizes)} is not"
            )
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


def persistable_variable(block: Block, name: str, spec: Spec, value: float) -> Variable:
    """A variable that the startup program sets to `value`, and that lives in the scope."""
    var = Variable(block, name, spec, stop_gradient=True, persistable=True)
    block.add_var(var)
    initialize(name, spec, Constant(value))
    return var


def initialize(name: str, spec: Spec, initializer: Initializer) -> None:
    """Have the default startup program write `name`."""
    startup = default_startup_program().global_block()
    if name in startup.vars:
        return
    shape = tuple(int(d) for d in spec.shape)
    kernel, attrs = initializer.operation(shape, spec.dtype.name)
    full = REGISTRY[kernel].complete_attrs(attrs)
    var = Variable(startup, name, spec, stop_gradient=True, persistable=True)
    startup.add_var(var)
    startup.append(
        Operator(startup, REGISTRY[kernel], (), (Ref(var, 0),), full, caller(), "forward")
    )
