"""What NumPy's functions are called with, and where their results go.

A number is weak: it takes the dtype of the arrays that it stands beside, so numbers and arrays of
one call are made tensors together. A list is the array that NumPy makes of it.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

import numpy as np

from autograd_engine.core.dtypes import INEXACT, can_cast, common_dtype, scalar_dtype, to_numpy
from autograd_engine.core.operand import Operand
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.inplace import rebind
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import DTypeError, ModeError, NotATensorError, NotDifferentiableError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.tensor import public as paddle

__all__ = [
    "UNSET",
    "along",
    "as_tensor",
    "as_tensors",
    "carries_gradient",
    "deliver",
    "floating",
    "floats",
    "given",
    "no_counterpart",
    "of_values",
    "operand",
    "operands_in",
    "pick",
    "plain",
    "refuse_writing",
    "wrapped",
]

UNSET: Final[Any] = np._NoValue  # what NumPy has for an argument that was not given
_NUMBERS: Final = (np.generic, bool, int, float, complex)


def operand(value: Any) -> Any:
    """`value` as our functions take it: lists, which NumPy takes for arrays, as a tensor."""
    if isinstance(value, (list, tuple)):
        if operands_in(value):
            return paddle.stack(as_tensors(*value))
        return Tensor(np.array(value))
    return value


def as_tensor(value: Any) -> Any:
    """`operand(value)`, a number or an ndarray as a Tensor."""
    value = operand(value)
    return Tensor(value) if isinstance(value, (np.ndarray, *_NUMBERS)) else value


def as_tensors(*values: Any) -> list[Any]:
    """Each `as_tensor(value)`, but numbers in the dtype that the others have in common."""
    made = [v if isinstance(v, (Operand, *_NUMBERS)) else as_tensor(v) for v in values]
    if not any(isinstance(x, _NUMBERS) for x in made):
        return made
    dtypes = [x.dtype.dtype for x in made if isinstance(x, (Tensor, Variable))]
    return [_beside(x, dtypes) if isinstance(x, _NUMBERS) else x for x in made]


def _beside(number: Any, dtypes: list[np.dtype[Any]]) -> Tensor:
    """A number as a tensor that stands beside arrays of these dtypes."""
    if isinstance(number, np.generic):
        if not any(d in INEXACT for d in dtypes):
            return Tensor(number)  # it says itself how exact it is
        number = number.item()
    return Tensor(number, scalar_dtype(number, dtypes))


def floating(value: Any) -> Any:
    """`as_tensor(value)`, integers and truths as floats."""
    x = as_tensor(value)
    return x if x.dtype.dtype in INEXACT else x * 1.0


def floats(*values: Any) -> list[Any]:
    """`as_tensors`, integers and truths as floats of the dtype that the others have in common."""
    made = as_tensors(*values)
    inexact = [x.dtype.dtype for x in made if x.dtype.dtype in INEXACT]
    if not inexact:
        return [floating(x) for x in made]
    dtype = common_dtype(inexact)
    return [x if x.dtype.dtype in INEXACT else x.astype(dtype) for x in made]


def along(value: Any, axis: Any) -> tuple[Any, int]:
    """`as_tensor(value)` and the axis, counted from the front; for None the flat array."""
    x = as_tensor(value)
    return (paddle.reshape(x, [-1]), 0) if axis is None else (x, axis % x.ndim)


def given(value: Any) -> bool:
    """Whether an argument was given."""
    return value is not UNSET and value is not None


def operands_in(value: Any) -> list[Any]:
    """Every Tensor and Variable in nested lists, tuples and dicts."""
    if isinstance(value, Operand):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [found for v in value for found in operands_in(v)]
    return []


def carries_gradient(value: Any) -> bool:
    """Whether something in `value` is differentiated, so that its values alone are not enough."""
    if not grad_mode.enabled:
        return any(isinstance(v, Variable) for v in operands_in(value))
    return any(isinstance(v, Variable) or not v._stop for v in operands_in(value))


def plain(function: str, value: Any) -> Any:
    """`value` with an ndarray for each Tensor."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, Variable):
        raise ModeError(
            f"{function} computes on values, and the variable {value.name} has none while the "
            "program is built; fetch it with Executor.run, or use a function of paddle"
        )
    if isinstance(value, (list, tuple)):
        return type(value)([plain(function, v) for v in value])
    if isinstance(value, dict):
        return {key: plain(function, v) for key, v in value.items()}
    return value


def wrapped(value: Any) -> Any:
    """`value` with a Tensor for each ndarray and NumPy scalar of a dtype that tensors have."""
    if isinstance(value, (np.ndarray, np.generic)):
        try:
            dtype = to_numpy(value.dtype)
        except DTypeError:
            return value
        # A copy: the array may be a view of what the caller can write.
        return Tensor._wrap(np.array(value, dtype))
    if type(value) is tuple or type(value) is list:
        return type(value)([wrapped(v) for v in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[wrapped(v) for v in value])
    return value


def of_values(name: str, function: Any, args: Any, kwargs: Any) -> Any:
    """What NumPy's own `function` makes of the values, as Tensors."""
    return wrapped(function(*plain(name, args), **plain(name, kwargs)))


def pick(mask: Any, *values: Any) -> list[Any]:
    """The elements of each array where `mask` is True, all of them broadcast to one shape."""
    arrays = as_tensors(*values)
    mask, *arrays = paddle.broadcast_tensors([as_tensor(mask).astype("bool"), *arrays])
    return [mask, *(paddle.masked_select(a, mask) for a in arrays)]


def deliver(name: str, result: Any, out: Any, casting: str = "same_kind") -> Any:
    """Put `result` where ``out=`` says, and return what NumPy would."""
    if isinstance(out, tuple) and len(out) == 1 and not isinstance(result, tuple):
        out = out[0]
    if out is None:
        return result
    if isinstance(result, tuple):
        outs = out if isinstance(out, tuple) else (out,) * len(result)
        return tuple(deliver(name, r, o, casting) for r, o in zip(result, outs, strict=True))
    if isinstance(out, Variable) or isinstance(result, Variable):
        raise ModeError(f"{name}: a program has no out=; use the result that {name} returns")
    if isinstance(out, Tensor):
        if result.dtype != out.dtype:
            if not can_cast(result._data.dtype, out._data.dtype, casting):
                raise DTypeError(
                    f"{name}: the result is {result.dtype.name} and out= is {out.dtype.name}; "
                    f"use the result's .astype({out.dtype.name!r})"
                )
            result = ops.cast(result, dtype=out.dtype.name)
        return rebind(out, result, f"{name}(..., out=t)", f"t = {name}(...)")
    if not isinstance(out, np.ndarray):
        raise NotATensorError(f"{name}: out= must be a Tensor or an ndarray, got {type(out)}")
    if not result.stop_gradient:
        refuse_writing(name)
    np.copyto(out, result.numpy(), casting=casting)  # type: ignore[arg-type]
    return out


def refuse_writing(name: str, *values: Any) -> NoReturn:
    """An ndarray was to take values that have a history."""
    if any(isinstance(v, Variable) for v in operands_in(values)):
        raise ModeError(f"{name}: a program has no out=; use the result that {name} returns")
    raise NotDifferentiableError(
        f"{name} writes into an ndarray, where the gradient would be lost: a result of tensors "
        "that require a gradient needs a tensor, so leave out= away (write `a = a + t` for "
        "`a += t`), or use t.detach() where no gradient is needed"
    )


def no_counterpart(name: str) -> NoReturn:
    """What carries a gradient has come to a function of NumPy's that we do not have."""
    raise NotDifferentiableError(
        f"{name} has no counterpart that records gradients: use t.detach() or t.numpy() where no "
        "gradient is needed, or compose it of paddle functions"
    )
