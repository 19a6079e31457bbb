"""What an initializer is: a creation operation and its attributes, for a shape and a dtype.

In a startup program it is an operator, which writes the first value of a parameter or of state.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_engine.core.checks import plain_number
from autograd_engine.core.described import Described
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.core.locations import caller
from autograd_engine.core.names.constructors import Respelled
from autograd_engine.core.spec import Spec
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Ref,
    Variable,
    default_startup_program,
)

__all__ = [
    "Initializer",
    "fans",
    "initializer_for",
    "set_global_initializer",
    "initialize",
    "initialize_again",
]


class Initializer(Respelled, Described):
    """How a parameter starts out.

    Layers take one as ``weight_attr`` or ``bias_attr``, alone or in a `ParamAttr`. Eager mode runs
    the operation that `operation` names when the parameter is made; a program has it in its startup
    program. Both draw from the stream that `seed` sets, so they make the same values.

    A subclass defines `operation`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> linear = paddle.nn.Linear(2, 2, bias_attr=paddle.nn.initializer.Constant(1.0))
    >>> linear.bias.tolist()
    [1.0, 1.0]
    >>> paddle.nn.initializer.Constant(3.0)(linear.bias)
    >>> linear.bias.tolist()
    [3.0, 3.0]
    """

    def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        """The name of a creation operation, and its attributes.

        Raises
        ------
        ShapeError, DTypeError
            For a parameter that this initializer is not for.
        """
        raise NotImplementedError(
            f"{type(self).__name__} says no values: define `def operation(self, shape, dtype)` to "
            "return the name of a creation operation and its attributes, or take one of "
            "paddle.nn.initializer"
        )

    def __call__(self, param: Any, block: Any = None) -> None:
        """Give a parameter other values.

        Parameters
        ----------
        param : Tensor or Variable
            A Tensor is filled at once. For a parameter of a program the startup program writes the
            values, after those that it wrote before.
        block : Block, optional
            Of the program that writes them; by default the default startup program.

        Raises
        ------
        NotATensorError, ShapeError, DTypeError
        """
        if isinstance(param, Variable):
            initialize_again(param, self, block)
        elif isinstance(param, Tensor):
            kernel, attrs = self.operation(tuple(param.shape), param.dtype.name)
            traced = grad_mode.trace is not None
            param.set_value(getattr(ops if traced else raw, kernel)(**attrs))
        else:
            raise NotATensorError(
                f"{type(self).__name__}: the parameter must be a Tensor, or a parameter of a "
                f"program, got {type(param).__name__}"
            )


def fans(name: str, shape: tuple[int, ...]) -> tuple[int, int]:
    """(fan_in, fan_out) of a weight [in, out], or of a filter [out, in / groups, *window]."""
    if not math.prod(shape):
        raise ShapeError(
            f"{name}: a parameter of shape {list(shape)} has no elements, and so no fan; give the "
            "sizes that are 0 another value, or use Constant"
        )
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def deviation(name: str, value: Any) -> float:
    """A standard deviation."""
    number = plain_number(name, "std", value)
    if number < 0:
        raise ArgumentError(f"{name}: std must not be negative, got {value}; give its magnitude")
    return number


def floating(name: str, dtype: str) -> str:
    """A dtype that this initializer draws in."""
    if np.dtype(dtype) not in FLOATS:
        raise DTypeError(
            f"{name}: makes floats, and the parameter is {dtype}; use Constant or Assign"
        )
    return dtype


_global: Final[dict[bool, Initializer | None]] = {False: None, True: None}


def set_global_initializer(
    weight_init: Initializer | None, bias_init: Initializer | None = None
) -> None:
    """Set how parameters start out that are made from here on, in the place of layers' defaults.

    An initializer in ``weight_attr`` or ``bias_attr`` goes before it. Buffers, such as the
    statistics of batch normalisation, are no parameters.

    Parameters
    ----------
    weight_init : Initializer, optional
        Of weights; None for the defaults of layers.
    bias_init : Initializer, optional
        Of biases; None for the defaults of layers.

    Raises
    ------
    TypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> set_global_initializer(paddle.nn.initializer.Constant(0.5))
    >>> paddle.nn.Linear(1, 2).weight.tolist()
    [[0.5, 0.5]]
    >>> set_global_initializer(None)
    """
    for name, value in {"weight_init": weight_init, "bias_init": bias_init}.items():
        if value is not None and not isinstance(value, Initializer):
            raise ArgumentTypeError(
                f"set_global_initializer: {name} must be one of paddle.nn.initializer or None, got "
                f"{type(value).__name__}"
            )
    _global[False], _global[True] = weight_init, bias_init


def initializer_for(own: Initializer | None, default: Initializer, is_bias: bool) -> Initializer:
    """What a parameter starts out with: its own, that of `set_global_initializer`, the default."""
    return own or _global[is_bias] or default


def initialize(name: str, spec: Spec, initializer: Initializer) -> None:
    """Have the default startup program write `name`."""
    startup = default_startup_program().global_block()
    if name not in startup.vars:
        _write(startup, name, spec, initializer)


def initialize_again(var: Variable, initializer: Initializer, block: Any = None) -> None:
    """Have a startup program write `var` another time, where it stands."""
    if not var.persistable:
        raise ArgumentError(
            f"{type(initializer).__name__}: param must be a parameter; the Variable {var.name} is "
            "computed by the program, and has no value to begin with"
        )
    startup = default_startup_program().global_block() if block is None else block
    if not isinstance(startup, Block):
        raise ArgumentTypeError(
            f"{type(initializer).__name__}: block must be the block of a program, got "
            f"{type(block).__name__}"
        )
    _write(startup, var.name, var.spec, initializer)


def _write(startup: Block, name: str, spec: Spec, initializer: Initializer) -> None:
    shape = tuple(int(d) for d in spec.shape)
    kind, attrs = initializer.operation(shape, spec.dtype.name)
    var = startup.vars.get(name)
    if var is None:
        var = Variable(startup, name, spec, stop_gradient=True, persistable=True)
        startup.add_var(var)
        result = Ref(var, 0)
    else:
        result = var.write()
    kernel = REGISTRY[kind]
    full = kernel.complete_attrs(attrs)
    startup.append(Operator(startup, kernel, (), (result,), full, caller(), "forward"))
