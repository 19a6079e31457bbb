"""Loops and branches whose blocks are written in a ``with``: `While` and `Switch`.

What is built in the block, and writes variables of the code around, is done when the block runs.
They become the operators that `while_loop` and `cond` make of functions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from autograd_engine import unique_name
from autograd_engine.core.locations import Location, caller
from autograd_engine.errors import BuildError, ModeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program import mode
from autograd_engine.program.control_flow.block_function import (
    BlockFunction,
    check_condition,
    restored,
    share_arguments,
)
from autograd_engine.program.control_flow.cond import append_cond
from autograd_engine.program.control_flow.while_loop import append_while
from autograd_engine.program.ir.program import Block, Ref, Variable

__all__ = ["Switch", "While"]


class While:
    """A loop whose body is written in a ``with`` block.

    Parameters
    ----------
    cond : Variable
        A bool of one element. The block has to write it, or the loop would never end.
    is_test : bool
        Accepted for the reference's sake; what gradients need is kept only if there are gradients.
    name : str, optional
        Of the operator's results.

    Raises
    ------
    TypeError, DTypeError, ShapeError
        When `cond` is no bool of one element.
    BuildError
        When the block does not write `cond`, or a second one is asked for.

    Notes
    -----
    What the block makes is known inside it only. A value gets out, and into the next iteration, by
    being written to a variable of the code around: ``paddle.assign(value, output=variable)``,
    ``paddle.increment(variable)``, an optimizer's update, `tensor.array_write`. Gradients of what
    was written go through all iterations, however many there are.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [1], "float32")
    ...     i, y = paddle.zeros([1], "int64"), paddle.assign(x)
    ...     more = i < 3
    ...     with paddle.static.nn.control_flow.While(more).block():
    ...         _ = paddle.assign(y * 2.0, output=y)
    ...         _ = paddle.increment(i)
    ...         _ = paddle.assign(i < 3, output=more)
    >>> paddle.static.Executor().run(main, {"x": np.float32([1.5])}, [y, i])
    [array([12.], dtype=float32), array([3])]
    """

    def __init__(self, cond: Variable, is_test: bool = False, name: str | None = None) -> None:
        _check("While", "cond", cond, "while_loop, or Python's while")
        self.cond_var = cond
        self.is_test = is_test
        self._name = name
        self._written = False

    def block(self) -> contextlib.AbstractContextManager[None]:
        """The body: what is built inside the ``with`` runs in each iteration.

        An error inside it leaves the program as it was.
        """
        return self._block(caller())

    @contextlib.contextmanager
    def _block(self, location: Location) -> Iterator[None]:
        if self._written:
            raise BuildError(
                "While.block: the block of this loop is finished; make another While for another "
                "loop, and put all of the body into one block"
            )
        program = self.cond_var.block.program
        with restored(program):
            parent = program.current_block()
            condition = self.cond_var.seen_from(parent)
            test, body = BlockFunction(program, parent), BlockFunction(program, parent)
            for function in (test, body):
                function.block.repeated = True
            before = Ref(condition, condition.version)
            test.block.results.append(Ref(test.block.argument_for(before), 0))
            with program.building_block(body.block):
                yield
            written = body.block.captured.get(before.key)
            if written is None or not written.version:
                raise BuildError(
                    f"While: the block does not write the condition {condition.name}, so the loop "
                    f"would never end: paddle.assign(..., output={condition.name}) in it"
                )
            with _at(location, parent):
                append_while(parent, self._name or unique_name.generate("while"), [test, body])
        self._written = True


class Switch:
    """The first of several blocks whose condition holds; each is written in a ``with``.

    Parameters
    ----------
    name : str, optional
        Of the operators' results.

    Raises
    ------
    TypeError, DTypeError, ShapeError
        When a condition is no bool of one element.
    BuildError
        For a case outside of the ``with``, or behind the default; for a default alone.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     step, rate = paddle.static.data("step", [1], "int64"), paddle.zeros([1])
    ...     with paddle.static.nn.control_flow.Switch() as switch:
    ...         with switch.case(step < 10):
    ...             _ = paddle.assign(paddle.full([1], 0.1), output=rate)
    ...         with switch.default():
    ...             _ = paddle.assign(paddle.full([1], 0.01), output=rate)
    >>> paddle.static.Executor().run(main, {"step": np.array([12])}, [rate])
    [array([0.01], dtype=float32)]
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name
        self._inside = False
        self._none: Any = None  # of the conditions so far holds

    def __enter__(self) -> Switch:
        self._inside, self._none = True, None
        return self

    def __exit__(self, *_: object) -> None:
        self._inside = False

    def case(self, condition: Variable) -> contextlib.AbstractContextManager[None]:
        """What is built inside the ``with`` runs where this is the first condition that holds."""
        return self._case(condition, caller())

    @contextlib.contextmanager
    def _case(self, condition: Variable, location: Location) -> Iterator[None]:
        self._check_inside("case")
        _check("Switch.case", "condition", condition, "cond, or Python's if")
        with restored(condition.block.program):
            first = self._none is None
            with _at(location, condition.block.program.current_block()):
                chosen = condition if first else ops.logical_and(self._none, condition)
                other = ops.logical_not(condition)
                other = other if first else ops.logical_and(self._none, other)
            with self._branch(chosen, location):
                yield
        self._none = other

    def default(self) -> contextlib.AbstractContextManager[None]:
        """What is built inside the ``with`` runs where no condition holds."""
        return self._default(caller())

    @contextlib.contextmanager
    def _default(self, location: Location) -> Iterator[None]:
        self._check_inside("default")
        if self._none is None:
            raise BuildError("Switch.default: there is no case before it; write one at least")
        with restored(self._none.block.program), self._branch(self._none, location):
            yield
        self._inside = False

    def _check_inside(self, method: str) -> None:
        if not self._inside:
            raise BuildError(
                f"Switch.{method}: write it inside of the with block of the Switch, and the "
                "default last"
            )

    @contextlib.contextmanager
    def _branch(self, chosen: Variable, location: Location) -> Iterator[None]:
        program = chosen.block.program
        parent = program.current_block()
        branches = [BlockFunction(program, parent), BlockFunction(program, parent)]
        with program.building_block(branches[0].block):
            yield
        share_arguments(branches)
        with _at(location, parent):
            append_cond(self._name or unique_name.generate("switch"), chosen, branches, [])


@contextlib.contextmanager
def _at(location: Location, block: Block) -> Iterator[None]:
    """What is appended to `block` inside is at the line of the user's that opened the ``with``."""
    count = len(block.ops)
    yield
    for operator in block.ops[count:]:
        operator.location = location


def _check(where: str, argument: str, condition: Any, instead: str) -> None:
    if not isinstance(condition, Variable):
        raise ModeError(
            f"{where}: {argument} must be a Variable of a program, got {type(condition).__name__}; "
            f"on tensors use {instead}{mode.chosen_elsewhere()}"
        )
    check_condition(f"{where}: {argument}", condition)
