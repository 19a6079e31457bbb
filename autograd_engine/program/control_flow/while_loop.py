"""Loops: `while_loop`.

In a program a loop is an operator with a block for its condition and one for its body. Eagerly the
functions are called as often as they are needed. What goes into a loop, and what comes out of it,
passes through an `assign`, so that it is a value of its own, as it is in a program: then both modes
add up gradients in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core import pytree as nest
from autograd_engine.core.checks import check_callback
from autograd_engine.core.dims import fresh_dim
from autograd_engine.core.dtypes import FLOAT32, HALVES, INEXACT
from autograd_engine.core.spec import Shape, Spec, format_shape
from autograd_engine.eager.grad_mode import current_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    BuildError,
    DTypeError,
    ShapeError,
)
from autograd_engine.program import mode
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.builder import append_operator, new_result
from autograd_engine.program.control_flow.block_function import (
    BlockFunction,
    as_variable,
    check_condition,
    described,
    own_value,
    restored,
    share_arguments,
    through_iterations,
    traced_value,
    truth,
)
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import (
    Block,
    Program,
    Ref,
    Variable,
    default_main_program,
)

__all__ = ["append_while", "while_loop"]


@checked
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Run `body` as long as `cond` holds.

    Parameters
    ----------
    cond : callable
        Called with the loop variables; returns a bool of one element.
    body : callable
        Called with them; returns their next values, as many and of the same structure. Their dtypes
        stay; a size may change from one iteration to the next.
    loop_vars : list or tuple
        Initial values: variables, numbers, or nests of these.
    is_test : bool
        Accepted for the reference's sake; what gradients need is kept only if there are gradients.
    name : str, optional
        Of the operator's results.

    Returns
    -------
    list
        The loop variables at the end.

    Raises
    ------
    TypeError, ArgumentError, DTypeError, ShapeError

    Notes
    -----
    In a program `cond` and `body` are called when it is built: once each, and again where a size
    turns out to change. Gradients, of any order, go through all iterations, however many there are;
    values that they need are kept for each.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [], "float32")
    ...     x.stop_gradient = False
    ...     n = paddle.zeros([], "int64")
    ...     _, y = paddle.static.nn.while_loop(
    ...         lambda n, y: y < 100.0, lambda n, y: (n + 1, y * y), [n, x]
    ...     )
    ...     [dx] = paddle.static.gradients(y, x)
    >>> paddle.static.Executor().run(main, {"x": np.float32(2.0)}, [y, dx])
    [array(256., dtype=float32), array(1024., dtype=float32)]
    """
    for what, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise ArgumentTypeError(
                f"while_loop: {what} must be callable, got {type(function).__name__}"
            )
    if not isinstance(loop_vars, (list, tuple)):
        raise ArgumentTypeError(
            f"while_loop: loop_vars must be a list, got {type(loop_vars).__name__}"
        )
    if not loop_vars:
        raise ArgumentError("while_loop: loop_vars is empty; give one loop variable at least")
    given = [f"loop_vars[{k}]" for k in range(len(loop_vars))]
    check_callback("while_loop", "cond", cond, *given)
    check_callback("while_loop", "body", body, *given)
    structure, leaves = nest.structure(list(loop_vars)), nest.leaves(list(loop_vars))
    leaves = [traced_value(v) for v in leaves]
    variables = [v for v in leaves if isinstance(v, Variable)]
    if not variables and (any(isinstance(v, Tensor) for v in leaves) or not mode.building()):
        return _eager_loop(cond, body, structure, leaves)
    program = variables[0].block.program if variables else default_main_program()
    prefix = name or unique_name.generate("while")
    with restored(program):
        block = program.current_block()
        initial = [as_variable(v, block, what="loop_vars").seen_from(block) for v in leaves]
        return _Loop(program, block, prefix, (cond, body), structure, initial).append()


def _eager_loop(
    cond: Callable[..., Any], body: Callable[..., Any], structure: Any, leaves: list[Any]
) -> list[Any]:
    what = "while_loop: body"
    values: list[Any] = nest.rebuild(structure, [own_value(v) for v in leaves], what)
    while truth("while_loop: cond", cond(*values)):
        new = _returned(body(*values), len(values))
        if not nest.same(nest.structure(new), structure):
            raise _other_structure(structure, new)
        values = nest.rebuild(structure, [own_value(v) for v in nest.leaves(new)], what)
    return values


class _SizesGivenUp(Exception):
    """Both functions are called again, with sizes that are not known; what they made is undone."""


@dataclass(eq=False)
class _Loop:
    """One `while` operator, from the functions of the user's."""

    program: Program
    block: Block
    prefix: str
    functions: tuple[Callable[..., Any], Callable[..., Any]]
    structure: Any
    initial: list[Variable]

    def __post_init__(self) -> None:
        self.specs = [v.spec for v in self.initial]
        self._given_up: set[Any] = set()  # sizes that the body changes

    def append(self) -> list[Any]:
        # An argument whose size the body changes has no size that is known: build it again so.
        # A size that is unknown stays so, and there are as many sizes as there are.
        for _ in range(2 + sum(len(s.shape) for s in self.specs)):
            try:
                with restored(self.program):
                    built = self._build()
            except _SizesGivenUp:
                continue
            return self._operator(*built)
        raise BuildError("while_loop: the sizes of the loop variables do not settle")

    def _build(self) -> tuple[list[BlockFunction], list[Variable]]:
        """Both functions and what the body returns."""
        program, block = self.program, self.block
        cond, body = (BlockFunction(program, block) for _ in range(2))
        flags = [(cond, self.functions[0], "cond"), (body, self.functions[1], "body")]
        returned = []
        for function, call, what in flags:
            function.block.repeated = True
            arguments = [
                function.block.add_argument(v.name, spec, stop_gradient=spec.dtype not in INEXACT)
                for v, spec in zip(self.initial, self.specs, strict=True)
            ]
            for argument, v in zip(arguments, self.initial, strict=True):
                argument.is_stack = v.is_stack
            starts = [Ref(v, v.version) for v in self.initial]
            function.block.entering = {
                a.name: ref for a, ref in zip(arguments, starts, strict=True)
            }
            values = nest.rebuild(self.structure, arguments, f"while_loop: {what}")
            returned.append(function.call(call, values))
        condition = cond.variable(returned[0], [])
        check_condition("while_loop: what cond returns", condition)
        cond.block.results.append(Ref(condition, condition.version))
        new = self._next_values(body, returned[1])
        if not self._settled(new):
            raise _SizesGivenUp
        return [cond, body], new

    def _next_values(self, body: BlockFunction, returned: Any) -> list[Variable]:
        new = _returned(returned, len(self.structure[1]))
        if not nest.same(nest.structure(new), self.structure):
            raise _other_structure(self.structure, new)
        found = []
        for v, spec, value in zip(self.initial, self.specs, nest.leaves(new), strict=True):
            if value is None or isinstance(value, str):
                raise ArgumentError(
                    f"while_loop: body returns {value!r} for the loop variable {v.name}"
                )
            var = body.variable(value, [spec.dtype])
            casts = current_mode().autocast is not None
            if casts and all(d in HALVES or d == FLOAT32 for d in (var.spec.dtype, spec.dtype)):
                var = body.cast(var, spec.dtype)  # what is carried keeps its dtype
            if var.spec.dtype != spec.dtype:
                raise DTypeError(
                    f"while_loop: the loop variable {v.name} is {spec.dtype.name}, and body "
                    f"returns {var.spec.dtype.name} for it; start it as {var.spec.dtype.name}, or "
                    "cast what body returns"
                )
            if var.is_stack != v.is_stack:
                array, other = (v.name, "no array") if v.is_stack else (var.name, "a tensor")
                raise ArgumentError(
                    f"while_loop: {array} is an array of tensors, and the other of the loop "
                    f"variable {v.name} and what body returns for it is {other}"
                )
            if var.ndim != len(spec.shape) and not v.is_stack:
                raise ShapeError(
                    f"while_loop: the loop variable {v.name} has shape "
                    f"{format_shape(spec.shape)}, and body returns "
                    f"{format_shape(var.spec.shape)} for it; it must have as many dimensions"
                )
            found.append(var)
        return found

    def _settled(self, new: list[Variable]) -> bool:
        """Whether every size is the argument's, or one that was given up; gives up the others."""
        settled = True
        for k, var in enumerate(new):
            spec = self.specs[k]
            if var.is_stack:  # the body has written the first element, or one of another size
                settled = settled and var.spec.shape[1:] == spec.shape[1:]
                self.specs[k] = var.spec
                continue
            shape = list(spec.shape)
            for axis, (have, want) in enumerate(zip(var.spec.shape, shape, strict=True)):
                if have != want and want not in self._given_up:
                    shape[axis] = dim = fresh_dim()
                    self._given_up.add(dim)
                    settled = False
            self.specs[k] = Spec(tuple(shape), spec.dtype)
        return settled

    def _operator(self, functions: list[BlockFunction], new: list[Variable]) -> list[Any]:
        specs = [Spec(_outside(s.shape, self._given_up), s.dtype) for s in self.specs]
        functions[1].block.results += [Ref(v, v.version) for v in new]
        made = append_while(self.block, self.prefix, functions, self.initial, specs)
        return nest.rebuild(self.structure, made, "while_loop: body")  # type: ignore[no-any-return]


def append_while(
    block: Block,
    prefix: str,
    functions: list[BlockFunction],
    initial: Sequence[Variable] = (),
    specs: Sequence[Spec] = (),
) -> list[Variable]:
    """The operator of a condition and a body; what `initial` is in the end, of these `specs`."""
    _carry_what_is_written(functions, len(initial))
    carried = [*initial, *(o.var for o in functions[1].carried)]
    share_arguments(functions)
    operands = (*(Ref(v, v.version) for v in carried), *functions[1].operands())
    closed = all(o.var.stop_gradient for o in operands)
    results = []
    for v, spec in zip(initial, specs, strict=True):
        stops = (closed and not v.is_stack) or spec.dtype not in INEXACT
        results.append(new_result(block, f"{prefix}.tmp", spec, stop_gradient=stops))
        results[-1].var.is_stack = v.is_stack
    made = [r.var for r in results]
    results += [o.var.write() for o in functions[1].carried]
    trips = Spec((), np.dtype("int64"))
    results.append(new_result(block, f"{prefix}.trips", trips, stop_gradient=True))
    attrs = {
        "cond_block": functions[0].block,
        "body_block": functions[1].block,
        "carried": len(carried),
    }
    append_operator(block, BlockOp.of("while"), operands, tuple(results), attrs)
    return made


def _outside(shape: Shape, given_up: set[Any]) -> Shape:
    """Sizes after the loop: one that changes is another one then."""
    return tuple(fresh_dim() if d in given_up else d for d in shape)


def _carry_what_is_written(functions: Sequence[BlockFunction], n: int) -> None:
    """A captured variable that the body writes is carried from iteration to iteration."""
    cond, body = functions
    if any(a.version for a in cond.block.captured.values()):
        raise BuildError("while_loop: cond writes a variable; write it in the body")
    for key, argument in list(body.block.captured.items()):
        if not argument.version:
            continue
        asking = body.block.through.get(argument.name)
        if asking is not None:
            raise through_iterations(asking, argument.name)
        outer = Ref(body.parent.vars[key[0]], key[1])
        for function in functions:
            block = function.block
            argument = block.argument_for(outer)
            del block.captured[key]
            # By identity: == on Variables would append an operator.
            others = [a for a in block.arguments if a is not argument]
            others.insert(n + len(body.carried), argument)
            block.arguments[:] = others
        body.block.results.append(Ref(argument, argument.version))
        body.carried.append(outer)


def _returned(value: Any, count: int) -> list[Any]:
    """What a body returns, as a list with an entry for each loop variable."""
    if count == 1 and not (isinstance(value, (list, tuple)) and len(value) == 1):
        return [value]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _other_structure(structure: Any, new: list[Any]) -> ArgumentError:
    return ArgumentError(
        f"while_loop: body returns {described(new, len(nest.leaves(new)))} for "
        f"{len(structure[1])} loop variables; return their next values, in the same structure"
    )
