"""Checks of what optimizers are told."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from autograd_engine.core.checks import as_number, check_callback, positive_int, require_bools
from autograd_engine.core.dtypes import HALVES
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    BuildError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.program.builder import around
from autograd_engine.program.ir.program import Variable

__all__ = [
    "check_distinct",
    "check_pair",
    "check_parameters",
    "count",
    "flag",
    "function",
    "not_negative",
    "nothing_to_train",
    "number",
    "pair",
    "positive",
    "unit_interval",
]


def number(owner: str, name: str, value: Any) -> float:
    """A finite number, or a Tensor of one."""
    value = as_number(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{owner}: {name} must be a number, got {value!r}")
    if not math.isfinite(value):
        raise ArgumentError(f"{owner}: {name} must be finite, got {value}")
    return float(value)


def not_negative(owner: str, name: str, value: Any) -> float:
    found = number(owner, name, value)
    if found < 0:
        raise ArgumentError(f"{owner}: {name} must not be negative, got {value!r}")
    return found


def unit_interval(owner: str, name: str, value: Any) -> float:
    """A number in [0, 1), as moving averages decay with."""
    found = number(owner, name, value)
    if not 0 <= found < 1:
        raise ArgumentError(f"{owner}: {name} must be in [0, 1), got {value}")
    return found


def positive(owner: str, name: str, value: Any) -> float:
    found = number(owner, name, value)
    if not found > 0:
        raise ArgumentError(f"{owner}: {name} must be a number above 0, got {value!r}")
    return found


def pair(owner: str, name: str, value: Any) -> tuple[float, float]:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ArgumentError(f"{owner}: {name} must be a pair of numbers, got {value!r}")
    return number(owner, name, value[0]), number(owner, name, value[1])


def count(owner: str, name: str, value: Any) -> int:
    return positive_int(owner, name, value)


def flag(owner: str, name: str, value: Any) -> bool:
    require_bools(owner, **{name: value})
    return bool(value)


def function(owner: str, name: str, value: Any) -> Any:
    """A function of a parameter, or of its name, or None."""
    if value is not None:
        check_callback(owner, name, value, "parameter")
    return value


def check_parameters(parameters: Any) -> list[Any]:
    """A list of Tensors, each once."""
    if isinstance(parameters, (Tensor, Variable, str, dict)) or not hasattr(parameters, "__iter__"):
        raise NotATensorError(
            f"parameters must be a list of Tensors, got {type(parameters).__name__}; write "
            f"{'layer.parameters()' if hasattr(parameters, 'parameters') else '[parameter]'}"
        )
    found = list(parameters)
    if not found:
        raise ArgumentError(
            "parameters is an empty list, so nothing would be trained: give net.parameters() of a "
            "layer that has some (layers in a plain list are not registered: hold them in a "
            "paddle.nn.LayerList), or leave it out for programs"
        )
    for k, p in enumerate(found):
        if not isinstance(p, (Tensor, Variable)):
            raise NotATensorError(f"parameters[{k}] must be a Tensor, got {type(p).__name__}")
    check_distinct("parameters", found)
    return found


def nothing_to_train(owner: str, where: str = "") -> ArgumentError:
    """What to raise in eager mode where no parameters were given."""
    return ArgumentError(
        f"{where}{owner} has nothing to train: pass parameters=net.parameters() in eager mode; an "
        "optimizer of a program is made after paddle.enable_static(), or inside of a program_guard"
    )


def check_distinct(argument: str, parameters: Iterable[Any]) -> None:
    """A parameter that is named twice would be updated twice from one gradient.

    Two that share a name would share one place in a state that is saved.
    """
    seen: set[int] = set()
    names: set[str] = set()
    for p in parameters:
        if id(p) in seen:
            raise ArgumentError(f"{argument}: {p.name} is named twice; name each parameter once")
        if isinstance(p, Tensor) and p.name in names:
            raise ArgumentError(
                f"{argument}: two parameters are called {p.name!r}, and state is saved by name; "
                "give each a name of its own, as with ParamAttr(name=...)"
            )
        seen.add(id(p))
        names.add(p.name)


def check_pair(where: str, pair: Any, masters: bool) -> None:
    """A parameter with a gradient that an update can take, both of one mode.

    Where there are `masters`, the gradient of a parameter of 16 bits may be one of these.
    """
    kinds = (Variable, Tensor)
    if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not isinstance(pair[0], kinds):
        raise NotATensorError(f"{where} must be a pair of Variables, got {pair!r}")
    param, grad = pair
    if grad is None:
        raise NotATensorError(f"{where}: the gradient of {param.name} is None; leave the pair out")
    kind = Variable if isinstance(param, Variable) else Tensor
    if not isinstance(grad, kind):
        raise NotATensorError(f"{where} must be a pair of {kind.__name__}s, got {pair!r}")
    if isinstance(param, Variable) and isinstance(grad, Variable):
        _check_variables(where, param, grad)
    shape, of_grad = _shape(param), _shape(grad)
    if shape != of_grad:
        raise ShapeError(
            f"{where}: {param.name} is {format_shape(shape)}, its gradient {grad.name} "
            f"{format_shape(of_grad)}; they must be equal"
        )
    of_master = masters and grad.dtype == "float32" and param.dtype.dtype in HALVES
    if param.dtype != grad.dtype and not of_master:
        raise DTypeError(
            f"{where}: {param.name} is {param.dtype.name}, its gradient {grad.name} "
            f"{grad.dtype.name}; cast it"
        )


def _shape(value: Any) -> Any:
    return value.spec.shape if isinstance(value, Variable) else value.shape


def _check_variables(where: str, param: Variable, grad: Variable) -> None:
    if grad.block.program is not param.block.program:
        raise BuildError(f"{where}: {grad.name} belongs to another program than {param.name}")
    if not around(grad.block, grad.block.program.current_block()):
        raise BuildError(
            f"{where}: {grad.name} is inside of a branch or a loop, and {param.name} is updated "
            "outside; return the gradient from the branch, or update in it"
        )
    if not param.persistable:
        raise ArgumentError(
            f"{where}: {param.name} is not kept between runs, so nothing can train it; make it "
            "with create_parameter"
        )
