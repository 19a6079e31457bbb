"""Functions of the user's as blocks of a program.

What a function reads of the block around becomes an argument of its own; what it writes there (a
running statistic, say) is written by the operator that the block belongs to.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograd_engine.core import pytree as nest
from autograd_engine.core.dtypes import BOOLS, holds_numbers, scalar_dtype
from autograd_engine.core.locations import Location
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    BuildError,
    DTypeError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program import mode
from autograd_engine.program.builder import Constant, Number
from autograd_engine.program.ir.program import (
    Block,
    Program,
    Ref,
    Variable,
    default_startup_program,
)

__all__ = [
    "BlockFunction",
    "as_variable",
    "check_condition",
    "described",
    "own_value",
    "restored",
    "share_arguments",
    "through_iterations",
    "truth",
]


class BlockFunction:
    """A function of the user's as a block.

    Attributes
    ----------
    carried : list of Ref
        Variables of the block around that the block writes, and that therefore are carried.
    """

    def __init__(self, program: Program, parent: Block) -> None:
        self.program = program
        self.parent = parent
        self.block = program.new_block(parent.idx)
        self.carried: list[Ref] = []

    @classmethod
    def of(cls, block: Block) -> BlockFunction:
        """A block that was built already, as the function that it is."""
        found = cls.__new__(cls)
        found.program, found.block, found.carried = block.program, block, []
        found.parent = block.program.blocks[block.parent_idx]
        return found

    def parameters(self, values: Sequence[Variable]) -> list[Variable]:
        """Arguments for values of the block around, which are its first operands."""
        for v in values:
            self.block.argument_for(Ref(v, v.version))
        return [self.block.captured[v.name, v.version] for v in values]

    def call(self, function: Callable[..., Any] | None, values: Sequence[Any] = ()) -> Any:
        """What `function` returns, its variables as seen from the block."""
        if function is None:
            return None
        with self.program.building_block(self.block):
            returned = function(*values)
            return nest.map(self._seen, returned)

    def _seen(self, value: Any) -> Any:
        value = traced_value(value)
        if isinstance(value, Variable):
            return as_variable(value, self.block).seen_from(self.block)
        if isinstance(value, (np.ndarray, np.generic, Tensor)):
            return as_variable(value, self.block)
        return value

    def variable(self, value: Any, known: Sequence[np.dtype[Any]]) -> Variable:
        """`value` as a variable of the block; a number takes a dtype that is known."""
        if isinstance(value, Variable):
            return value
        with self.program.building_block(self.block):
            return as_variable(value, self.block, known)

    def cast(self, value: Variable, dtype: np.dtype[Any]) -> Variable:
        if value.spec.dtype == dtype:
            return value
        with self.program.building_block(self.block):
            cast: Variable = ops.cast(value, dtype=dtype.name)
            return cast

    def operands(self) -> tuple[Ref, ...]:
        """What the arguments that capture something stand for, in order."""
        by_argument = {id(a): key for key, a in self.block.captured.items()}
        found = []
        for argument in self.block.arguments:
            key = by_argument.get(id(argument))
            if key is not None:
                found.append(Ref(self.parent.vars[key[0]], key[1]))
        return tuple(found)


def share_arguments(functions: Sequence[BlockFunction]) -> None:
    """Let all blocks take the same captured arguments, in the same order."""
    keys = dict.fromkeys(key for f in functions for key in f.block.captured)
    for function in functions:
        block = function.block
        ids = {id(v) for v in block.captured.values()}
        own = [a for a in block.arguments if id(a) not in ids]
        found = [block.argument_for(Ref(function.parent.vars[k], n)) for k, n in keys]
        block.arguments[:] = [*own, *found]
        block.captured = dict(zip(keys, found, strict=True))


@contextlib.contextmanager
def restored(program: Program) -> Iterator[None]:
    """Inside the ``with`` block an exception leaves the program as it was."""
    with contextlib.ExitStack() as stack:
        startup = default_startup_program().global_block()
        for block in (startup, program.global_block(), program.current_block()):
            stack.enter_context(block.restored_on_error())
        yield


def traced_value(value: Any) -> Any:
    """What a tensor or a variable is now, in a function that is traced."""
    trace = grad_mode.trace
    if trace is None or not isinstance(value, (Tensor, Variable)) or value.__class__ is Constant:
        return value
    return trace.latest(value)


def own_value(value: Any) -> Any:
    """A tensor as a value of its own."""
    return ops.assign(value) if isinstance(value, (Tensor, Variable)) else value


def as_variable(
    value: Any,
    block: Block,
    known: Sequence[np.dtype[Any]] = (),
    what: str = "a loop or a branch",
) -> Variable:
    if value.__class__ is Constant:
        placed: Variable = value.placed(block)
        return placed
    if isinstance(value, Variable):
        return value
    if value.__class__ is Number:
        value = value._data
    if isinstance(value, Tensor):
        raise ArgumentError(
            "an eager Tensor stands among variables of a program; pass its values with .numpy()"
            + mode.chosen_elsewhere()
        )
    if isinstance(value, (bool, int, float, complex)):
        value = np.asarray(value, scalar_dtype(value, list(known)))
    array = np.array(value)
    if not holds_numbers(array.dtype, wide=True):
        raise ArgumentTypeError(f"{what} takes variables and numbers, got {value!r:.60}")
    return Constant(array).placed(block)


def check_condition(what: str, pred: Variable) -> None:
    if pred.spec.dtype not in BOOLS:
        raise DTypeError(
            f"{what} must be a bool, {pred.name} is {pred.spec.dtype.name}; compare it with "
            "something, such as x > 0"
        )
    size = pred.spec.size
    if isinstance(size, int) and size != 1:
        raise ShapeError(
            f"{what} must have one element, {pred.name} has shape "
            f"{format_shape(pred.spec.shape)}; reduce it with paddle.all or paddle.any"
        )


def truth(what: str, value: Any) -> bool:
    if isinstance(value, Tensor):
        if value._data.dtype not in BOOLS:
            raise DTypeError(f"{what}: the condition must be a bool, got {value.dtype.name}")
        if value._data.size != 1:
            raise ShapeError(
                f"{what}: the condition must have one element, got shape {list(value.shape)}; "
                "reduce it with paddle.all or paddle.any"
            )
        return bool(value._data.item())
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ArgumentTypeError(
        f"{what}: the condition must be a bool Variable or Tensor, got {type(value).__name__}"
    )


def described(value: Any, count: int) -> str:
    if value is None:
        return "None"
    return f"a {type(value).__name__} of {count} value{'s' * (count != 1)}"


def through_iterations(asking: Location, name: str) -> BuildError:
    return BuildError(
        f"inside a loop, the gradient that {asking.with_text} asks for depends on what it is asked "
        f"for through {name}, which the loop carries from one iteration to the next: use "
        f"{name}.detach() where no gradient is to flow, put {name} into no_grad_set, or take the "
        "gradient of what the loop returns"
    )
