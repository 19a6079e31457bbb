"""Forward mode in programs: operators that compute tangents, appended beside the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from autograd_engine.autograd.forward.pushforward import push
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.locations import Location, caller
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.eager.grad_mode import uncast
from autograd_engine.errors import (
    BuildError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.backward.append_backward import pulled_back
from autograd_engine.program.backward.dataflow import needed_keys, stopped_before
from autograd_engine.program.backward.decompose import as_variable, decompose_on_path
from autograd_engine.program.backward.operation_gradient import (
    counts,
    operand_dtypes,
    projected,
    saved_operands,
)
from autograd_engine.program.builder import append_operator, emitting, new_result
from autograd_engine.program.ir.block import inner_blocks, leading_to
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Operator,
    Program,
    Ref,
    Variable,
)

__all__ = ["forward_grad"]


def forward_grad(
    outputs: Variable | Sequence[Variable],
    inputs: Variable | Sequence[Variable],
    grad_inputs: Variable | Sequence[Variable | None] | None = None,
) -> Any:
    """Append the derivatives of `outputs` in a direction of `inputs`.

    Parameters
    ----------
    outputs, inputs : Variable or sequence of Variable
    grad_inputs : Variable or sequence of Variable or None, optional
        A tangent for each input, of its shape and dtype; None stands for ones where `grad_inputs`
        is None as a whole, and for zeros in a sequence.

    Returns
    -------
    Variable, or list of Variable where `outputs` is a sequence
        A tangent for each output, which can be differentiated again. That of an output which
        depends on no input is zeros; that of one which is not floating is None.

    Raises
    ------
    NotATensorError, BuildError, ShapeError, DTypeError

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> program = paddle.static.Program()
    >>> with paddle.static.program_guard(program):
    ...     x = paddle.static.data("x", [2], "float32")
    ...     tangent = forward_grad(x * x, x)
    >>> paddle.static.Executor().run(
    ...     program, {"x": np.float32([1.0, 2.0])}, [tangent]
    ... )
    [array([2., 4.], dtype=float32)]
    """
    goals = _variables("outputs", outputs)
    sources = _variables("inputs", inputs)
    if not goals or not sources:
        raise BuildError("forward_grad: outputs and inputs must have one Variable at least")
    block = goals[0].block
    for v in (*goals, *sources):
        if v.block is not block:
            raise BuildError(
                f"forward_grad: {v.name} belongs to another program than {goals[0].name}"
            )
    with block.restored_on_error(), _opened(block.program, sources):
        tangents = _starts(sources, grad_inputs)
        _append_tangents(block, goals, tangents, caller())
        found = [
            None
            if v.spec.dtype not in INEXACT
            else ops.zeros_like(v)
            if (t := tangents.get((v.name, v.version))) is None
            else t
            for v in goals
        ]
    return found if isinstance(outputs, (list, tuple)) else found[0]


@contextmanager
def _opened(program: Program, sources: Sequence[Variable]) -> Iterator[None]:
    """A direction is asked for, so what is made of what stops gradients carries it, too.

    What stops it by itself, on the way from what does not, goes on to.
    """
    stopped = [v for v in sources if v.stop_gradient]
    for block in program.blocks:
        stopped += [v for v in block.arguments if v.stop_gradient and v.spec.dtype in INEXACT]
        for operator in block.ops:
            op = operator.op
            if stopped_before(operator):
                stopped += [
                    r.var
                    for k, r in enumerate(operator.results)
                    if r.var.stop_gradient
                    and r.var.spec.dtype in INEXACT
                    and not (isinstance(op, OpDef) and op.output_at(k) in op.nondiff_outputs)
                ]
    for v in stopped:
        v.stop_gradient = False
    try:
        yield
    finally:
        for v in stopped:
            v.stop_gradient = True


@uncast
def _append_tangents(
    block: Block, goals: list[Variable], tangents: dict[Key, Any], location: Location
) -> None:
    """Tangents of everything between `tangents` and `goals`, added to `tangents`."""
    moved = {key for key, t in tangents.items() if t is not None}
    influenced = needed_keys(block, moved, set())
    decompose_on_path(block, [Ref(v, v.version) for v in goals], influenced)
    influenced = needed_keys(block, moved, set())
    leading = list(leading_to(block.ops, {(v.name, v.version) for v in goals}))
    path = [o for o in leading if any(r.key in influenced for r in o.results)]
    starts = set(tangents)
    for operator in reversed(path):
        name = operator.results[0].var.name
        with emitting(f"{name}@TANGENT", operator.role, operator.location or location):
            if isinstance(operator.op, BlockOp):
                push_on = _push_blocks if inner_blocks(operator) else _push_linear
                results = push_on(operator, tangents, influenced)
            else:
                results = _push_operator(operator, tangents)
        # A branch or a loop may return more by now, for the gradient that was taken of it.
        for ref, t in zip(operator.results, results, strict=False):
            if t is not None and ref.key not in starts:
                tangents[ref.key] = t


def _push_operator(operator: Operator, tangents: dict[Key, Any]) -> Sequence[Any]:
    op = operator.op
    assert isinstance(op, OpDef)
    along = {
        k: tangents[ref.key]
        for k, ref in enumerate(operator.operands)
        if isinstance(ref, Ref) and tangents.get(ref.key) is not None and op.rule_at(k) is not None
    }
    if not along:
        return [None] * len(operator.results)
    pullback = op.pullback(
        sum(1 << k for k in along), projected(operator), operand_dtypes(operator)
    )
    gradop = GradOp.of(pullback, counts(operator))
    read = saved_operands(operator, pullback.saved)
    none = [None] * len(operator.results)
    _, saved = gradop.arrange([*map(as_variable, read), *none])
    outputs = [as_variable(ref) for ref in operator.results]

    def transpose(given: Sequence[Any]) -> Sequence[Any]:
        open_outputs = [k for k in range(len(outputs)) if op.output_at(k) not in op.nondiff_outputs]
        with _apart(operator.block):
            us = {k: _any_cotangent(as_variable(operator.results[k])) for k in open_outputs}
            bundle: Any = [us.get(k) for k in range(len(outputs))] if op.multiple else us[0]
            pulled = pullback.pull(ops, bundle, saved, operator.attrs)
            found = pulled_back(list(pulled), [us[k] for k in open_outputs], list(given))
        by_output = dict(zip(open_outputs, found, strict=True))
        return [by_output.get(k) for k in range(len(outputs))]

    operands = [as_variable(r) for r in operator.operands]
    given = [along[k] for k in pullback.wanted]
    return push(pullback, saved, operator.attrs, operands, outputs, given, transpose)


def _push_linear(
    operator: Operator, tangents: dict[Key, Any], influenced: set[Key]
) -> Sequence[Any]:
    """Through an operator without blocks, on arrays of tensors or stacks: the same of tangents."""
    (result,), op = operator.results, operator.op
    assert isinstance(op, BlockOp)
    operands: list[Any] = list(operator.operands)
    linear = [k for k, ref in enumerate(operands) if op.passes_on(k)]
    along = {k: t for k in linear if (t := tangents.get(operands[k].key)) is not None}
    if not along:
        return [None]
    for k in linear:
        t = along[k] if k in along else _zeros(as_variable(operands[k]))
        operands[k] = Ref(t, t.version)
    return [_like(result.var, op, tuple(operands), operator.attrs)]


def _zeros(like: Variable) -> Variable:
    if not like.is_stack:
        found: Variable = ops.zeros_like(like)
        return found
    operands = (Ref(like, like.version),)
    return _like(like, BlockOp.of("fill_stack"), operands, {"value": 0.0})


def _any_cotangent(like: Variable) -> Variable:
    """A variable to differentiate a pullback by, which is linear in it: its value is the same."""
    if like.is_stack:  # not zeros that stand for no gradient, with which nothing is computed
        return _like(like, BlockOp.of("add_stacks"), (Ref(like, like.version),), {})
    found: Variable = ops.zeros_like(like)
    found.stop_gradient = False
    return found


def _like(
    like: Variable, op: BlockOp, operands: tuple[Any, ...], attrs: dict[str, Any]
) -> Variable:
    """The result of another operator, which is what `like` is."""
    made = new_result(like.block, f"{like.name}@TANGENT", like.spec, stop_gradient=False)
    made.var.is_stack = like.is_stack
    append_operator(like.block, op, operands, (made,), attrs)
    return made.var


def _push_blocks(
    operator: Operator, tangents: dict[Key, Any], influenced: set[Key]
) -> Sequence[Any]:
    """Through a branch or a loop: the gradient of its gradient, as for any other operation."""
    along: dict[Key, tuple[Variable, Any]] = {}
    for ref in operator.operands:
        if isinstance(ref, Ref) and tangents.get(ref.key) is not None:
            along[ref.key] = as_variable(ref), tangents[ref.key]
    open_results = [
        (k, as_variable(ref))
        for k, ref in enumerate(operator.results)
        if ref.key in influenced and ref.var.spec.dtype in INEXACT
    ]
    found: list[Any] = [None] * len(operator.results)
    if not along or not open_results:
        return found
    goals = [v for _, v in open_results]
    sources = [v for v, _ in along.values()]
    with _apart(operator.block, operator):
        us = [_any_cotangent(v) for v in goals]
        pulled = pulled_back(goals, sources, us)
        pairs = [(p, t) for p, (_, t) in zip(pulled, along.values(), strict=True) if p is not None]
        if pairs:
            made = pulled_back([p for p, _ in pairs], us, [t for _, t in pairs])
            for (k, _), t in zip(open_results, made, strict=True):
                found[k] = t
    return found


@contextmanager
def _apart(block: Block, *operators: Operator) -> Iterator[None]:
    """What is emitted inside is differentiated with a look at these operators only."""
    before, block.ops = block.ops, list(operators)
    try:
        yield
    finally:
        before += [operator for operator in block.ops if operator not in operators]
        block.ops = before


def _starts(sources: list[Variable], given: Any) -> dict[Key, Any]:
    """Tangents of the inputs, by what they belong to; None for one that does not move.

    Not even where it is computed from another input: they are taken as independent.
    """
    values: list[Any]
    if given is None:
        values = [ops.full_like(v, value=1.0) for v in sources]
    else:
        values = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(values) != len(sources):
        raise BuildError(
            f"forward_grad: grad_inputs has {len(values)} entries for {len(sources)} inputs; give "
            "one each, None for zeros"
        )
    starts: dict[Key, Any] = {}
    for v, t in zip(sources, values, strict=True):
        if v.spec.dtype not in INEXACT:
            raise DTypeError(
                f"forward_grad: {v.name} must be floating to be differentiated, got "
                f"{v.spec.dtype.name}"
            )
        starts[v.name, v.version] = t
        if t is None:
            continue
        if not isinstance(t, Variable):
            raise NotATensorError(
                f"forward_grad: grad_inputs must hold Variables and Nones, got {type(t).__name__}"
            )
        if not may_equal(v.spec.shape, t.spec.shape):
            raise ShapeError(
                f"forward_grad: {v.name} has shape {format_shape(v.spec.shape)}, its tangent "
                f"{t.name} {format_shape(t.spec.shape)}; they must be equal"
            )
        if v.spec.dtype != t.spec.dtype:
            raise DTypeError(
                f"forward_grad: {v.name} is {v.spec.dtype.name}, its tangent {t.name} "
                f"{t.spec.dtype.name}; cast it"
            )
    return starts


def _variables(argument: str, value: Any) -> list[Variable]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    for v in values:
        if not isinstance(v, Variable):
            raise NotATensorError(
                f"forward_grad: {argument} must be Variables of a static program, got "
                f"{type(v).__name__}; for eager tensors use paddle.autograd.jvp"
            )
    return values
