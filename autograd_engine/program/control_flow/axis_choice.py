"""Axes that only the run knows: a branch for each axis that there is.

Which axis an operation works along decides what is computed, so it stands in the program, and
``cumsum(x, n)`` is a choice among the programs of ``cumsum(x, 0)``, ``cumsum(x, 1)``: any function
that asks for an axis by `core.spec.normalize_axis` takes such a one, and has its gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from autograd_engine import unique_name
from autograd_engine.core import pytree as nest
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.control_flow.block_function import restored
from autograd_engine.program.control_flow.cond import case, cond
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.symbolic_number import NeedsAxis

__all__ = ["at_each_axis"]


_MOST: Final = 256  # calls, for all axes of one list


class _TriedError(Exception):
    """A call was made to see what it gives; nothing of it stays."""


def at_each_axis(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any], needed: NeedsAxis
) -> tuple[Any] | None:
    """The result of a call in which an axis is not known.

    None where it is not among the arguments, or one of so many that there would be too many calls.

    Raises
    ------
    NeedsValue
        Where the number of dimensions of the result depends on the axis.
    """
    number: Any = needed.number
    given = [nest.leaves(value) for value in (*args, *kwargs.values())]
    among = next((leaves for leaves in given if any(_same(v, number) for v in leaves)), None)
    if among is None:
        return None
    if needed.ndim ** sum(isinstance(v, SymbolicNumber) for v in among) > _MOST:
        return None

    def call(axis: int) -> Any:
        own_args, own = nest.map(lambda v: axis if _same(v, number) else v, (args, kwargs))
        return function(*own_args, **own)

    axes = _possible(call, needed)
    position = ops.axis_position(
        number.variable(), function=needed.op, ndim=needed.ndim, axes=tuple(axes)
    )
    name = unique_name.generate(needed.op)
    pairs = [(ops.equal(position, k), partial(call, axis)) for k, axis in enumerate(axes)]
    if len(pairs) == 1:  # the position is asked for, as it may be out of range
        return (cond(pairs[0][0], pairs[0][1], pairs[0][1], name),)
    return (case(pairs[:-1], pairs[-1][1], name),)


def _same(value: Any, number: SymbolicNumber) -> bool:
    return value is number or (
        isinstance(value, SymbolicNumber) and number.dim is not None and value.dim == number.dim
    )


def _possible(call: Callable[[int], Any], needed: NeedsAxis) -> list[int]:
    """The axes for which the call can be made: each is tried."""
    program = needed.number.variable().block.program
    made: dict[int, Any] = {}
    errors = []
    for axis in needed.axes:
        try:
            with restored(program):
                made[axis] = call(axis)
                raise _TriedError
        except _TriedError:
            pass
        except Exception as error:
            errors.append(error)
    if not made:
        raise errors[0] if errors else needed
    first, *others = [_described(v) for v in made.values()]
    if any(other != first for other in others):
        needed.number.refuse(
            f"{needed.op}: an axis on which the number of dimensions of the result depends"
        )
    return list(made)


def _described(returned: Any) -> list[Any]:
    """What results of branches must have in common."""
    return [v.ndim if isinstance(v, Variable) else v for v in nest.leaves(returned)]
