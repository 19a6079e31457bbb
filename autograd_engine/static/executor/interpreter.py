"""A program run on Tensors, operation by operation, on the tape.

What an `Executor` compiles is interpreted here, with the operations of eager mode: hooks, anomaly
detection, ``.grad`` and debuggers see each of them. Operators of gradients run too: the pullback
that they hold, on Tensors.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.compiler.python.function import (
    scattered_values,
    takes_scattered,
)
from autograd_engine.core import pytree as nest
from autograd_engine.core.checks import require_type
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.random_generator import own_generator
from autograd_engine.eager.grad_mode import grad_mode, no_grad
from autograd_engine.eager.record import apply, unwritten
from autograd_engine.eager.tape import MultiNode, Unwritten
from autograd_engine.eager.tensor import Parameter as EagerParameter, Tensor
from autograd_engine.errors import ArgumentTypeError
from autograd_engine.ops import control_flow
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.ops.registry.symbolic_zero import without_sign
from autograd_engine.program import mode
from autograd_engine.program.backward.dataflow import stopped_before
from autograd_engine.program.backward.gradient_hooks import Recorded
from autograd_engine.program.ir.control_flow_op import BlockOp, branches_of
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Literal,
    Operator,
    Parameter,
    Program,
    Ref,
    Variable,
)
from autograd_engine.program.scope import Scope, global_scope
from autograd_engine.static.executor.feeds import checked_feeds, feed_dict
from autograd_engine.static.executor.fetches import independent, split_fetches
from autograd_engine.static.executor.persistable_values import given_values, read_values
from autograd_engine.static.executor.plan import Wanted, steps_of

__all__ = ["run_eagerly", "run_operators"]

RUNS_RECORDED: Final = True  # what fails here was given nothing by the call; see `user_call`

Values: TypeAlias = dict[Key, Any]


def run_eagerly(
    program: Program,
    feed: Mapping[str, Any] | None = None,
    fetch_list: Any = None,
    scope: Scope | None = None,
) -> dict[str, Tensor]:
    """`Program.run_eagerly`."""
    require_type(program, Program, "run_eagerly: program must be a Program")
    mode.require_dynamic("Program.run_eagerly")
    chosen = global_scope() if scope is None else scope
    if not isinstance(chosen, Scope):
        raise ArgumentTypeError(f"run_eagerly: scope must be a Scope, got {type(scope).__name__}")
    feeds = feed_dict(feed)
    with program.lock:
        fetches = _fetches(program, program.global_block(), fetch_list)
        steps = steps_of(program, Wanted(fetches))
    values = _fed(program, steps.feeds, feeds)
    with chosen.claimed(set(steps.writes)):
        new = given_values(program, [r.var for r in steps.reads], feeds)
        values |= _kept(program, steps.reads, new, chosen)
        given = list(values)
        with _stream(program):
            run_operators(steps.operators, values, [*fetches, *steps.writes.values()])
        fed = [values[r.key]._data for r in steps.feeds]
        for name, ref in steps.writes.items():
            new[name] = independent(values[ref.key]._data, fed)
        chosen.commit(new)
    found = {name: values[name, version] for name, version in given}
    found.update((r.var.name, values[r.key]) for r in fetches if r.key in values)
    return found


@contextlib.contextmanager
def _stream(program: Program) -> Iterator[None]:
    """Random numbers are drawn from the program's own stream, if it has one: one run at a time."""
    if program.generator is None:
        yield
        return
    with program.drawing, own_generator(program.generator):
        yield


def _fetches(program: Program, block: Block, fetch_list: Any) -> list[Ref]:
    if fetch_list is not None:
        return split_fetches(program, fetch_list)[0]
    return [Ref(r.var, r.var.version) for o in block.ops for r in o.results]


def _fed(program: Program, refs: Sequence[Ref], feeds: Mapping[str, Any]) -> Values:
    arrays = checked_feeds(program, [r.var for r in refs], feeds)
    values: Values = {}
    for ref, array in zip(refs, arrays, strict=True):
        given = feeds[ref.var.name]
        if isinstance(given, Tensor):
            values[ref.key] = given
        else:
            values[ref.key] = _leaf(ref.var, array.copy())
    return values


def _leaf(var: Variable, array: Any) -> Tensor:
    tensor = Tensor._wrap(array)
    tensor._stop = var.stop_gradient or array.dtype not in INEXACT
    tensor.name = var.name
    return tensor


def _kept(program: Program, refs: Sequence[Ref], given: Mapping[str, Any], scope: Scope) -> Values:
    values: Values = {}
    arrays = read_values(program, [r.var for r in refs], given, scope)
    for ref, array in zip(refs, arrays, strict=True):
        if isinstance(ref.var, Parameter):
            tensor: Tensor = EagerParameter(
                array, name=ref.var.name, trainable=not ref.var.stop_gradient
            )
        else:
            tensor = _leaf(ref.var, array)
            tensor.persistable = True
        values[ref.key] = tensor
    return values


def run_operators(
    operators: Sequence[Operator], values: Values, outputs: Iterable[Ref] = ()
) -> None:
    """Run them in order; `values` has what they read, and takes what they make.

    A cotangent that an executor would keep scattered stays so for those that take it, as a lazy
    update by rows does; `outputs` are read written out.
    """
    scattered = scattered_values(operators, outputs)
    kept: Values = {}
    given = {
        r.key: (r, values[r.key])
        for operator in operators
        for r in operator.operands
        if isinstance(r, Ref) and r.var.hooks is not None and r.key in values
    }
    for key, (ref, value) in given.items():  # whose own gradient is that of other uses as well
        values[key] = _with_hooks(ref, _own(value), values)
    _run_each(operators, values, kept, scattered)
    values.update((key, value) for key, (_, value) in given.items())


def _run_each(operators: Sequence[Operator], values: Values, kept: Values, scattered: Any) -> None:
    for operator in operators:
        try:
            made = _run(operator, values, kept, scattered.stays)
        except Exception as error:
            error.add_note(f"in {operator.type} of {operator.location} ({operator.location.text})")
            raise
        for ref, value in zip(operator.results, made, strict=True):
            if value.__class__ is Unwritten:
                if ref.key in scattered.stays:
                    kept[ref.key] = value
                    if ref.key not in scattered.written_out:
                        continue
                value = value.dense()
            _locate(value, operator)
            if ref.var.hooks is not None:
                value = _with_hooks(ref, value, values)
            values[ref.key] = value


def _with_hooks(ref: Ref, value: Any, values: Values) -> Any:
    """A value whose gradient goes through the hooks of its variable."""
    if isinstance(value, Tensor) and not value._stop:
        for recorded in (ref.var.hooks or {}).get(ref.version, {}).values():
            value.register_hook(functools.partial(_hooked, recorded, values))
    return value


def _hooked(recorded: Recorded, values: Values, gradient: Tensor) -> Any:
    made = {key: values[ref.key] for key, ref in recorded.around.items()}
    made[recorded.gradient.key] = gradient
    run_operators(recorded.operators, made, [recorded.result])
    return made[recorded.result.key]


def _run(operator: Operator, values: Values, kept: Values, stays: Container[Key]) -> Sequence[Any]:
    op: Any = operator.op
    operands = [_operand(operator, k, values, kept) for k in range(len(operator.operands))]
    if isinstance(op, BlockOp):
        return _FLOW[op.kind](operator, operands)
    stops = all(r.var.stop_gradient for r in operator.results)
    # What spread from data stops nothing here: the Tensors that are given say what they want.
    stops = stops and not (isinstance(op, OpDef) and stopped_before(operator))
    with no_grad() if stops and grad_mode.enabled else _nothing:
        if isinstance(op, GradOp):
            g, saved = op.arrange(operands)
            return op.pullback.pull(ops, g, saved, operator.attrs)
        if not isinstance(op, OpDef):  # what has a kernel, and no derivative
            return _called(op, operands, operator.attrs)
        if any(o.__class__ is Unwritten for o in operands):
            return _of_scattered(op, operands, operator.attrs)
        if op.place is not None and operator.results[0].key in stays:
            return (ops.scatter(op.name, *operands, **operator.attrs),)
        made = apply(op, operands, operator.attrs)
        return made if op.multiple else (made,)


def _called(op: Any, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Sequence[Any]:
    out = op.kernel(*(getattr(t, "_data", t) for t in operands), **attrs)
    return [Tensor._wrap(np.asarray(m)) for m in (out if op.multiple else (out,))]


def _of_scattered(op: OpDef, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Sequence[Any]:
    """A sum of cotangents, or an update by rows."""
    if op.name == "add_n":
        total = op.kernel(*[t._data for t in operands])
        if total.__class__ is Scattered:
            return (unwritten(op, operands, total, attrs),)
    return _called(op, operands, attrs)


_nothing = contextlib.nullcontext()


def _operand(operator: Operator, position: int, values: Values, kept: Values) -> Any:
    operand = operator.operands[position]
    if isinstance(operand, Ref):
        if operand.key in kept and takes_scattered(operator, position):
            return kept[operand.key]
        return values[operand.key]
    if isinstance(operand, Literal):
        return Tensor._wrap(np.asarray(operand.value, operand.dtype))
    return None


def _locate(tensor: Any, operator: Operator) -> None:
    """Its node is of the line that built the operator."""
    node = tensor._node if isinstance(tensor, Tensor) else None
    if node is None or node.pullback.op is not operator.op:
        return
    at = operator.location
    node.code, node.instruction = at.code, at.instruction
    for edge in node.edges:
        if isinstance(edge, MultiNode):
            edge.code, edge.instruction = at.code, at.instruction


# --- blocks inside of operators


def _call(block: Block, operands: Sequence[Any]) -> list[Any]:
    """A block as the function that it is."""
    values: Values = {
        (a.name, 0): v for a, v in zip(block.arguments, operands, strict=True) if v is not None
    }
    run_operators(live_operators(block.ops, block.results), values, block.results)
    return [values[r.key] for r in block.results]


def _own(value: Any) -> Any:
    """A value of its own, as what goes into a loop and comes out of a branch is in eager mode."""
    return ops.assign(value) if isinstance(value, Tensor) and not value._stop else value


def _branch(operator: Operator, operands: list[Any]) -> list[Any]:
    """The block that a condition chooses, or the only one."""
    blocks, first = branches_of(operator)
    chosen = 0 if not first or control_flow.truth(operands[0]._data) else 1
    return [_own(v) for v in _call(blocks[chosen], operands[first:])]


def _while(operator: Operator, operands: list[Any]) -> list[Any]:
    n = operator.attrs["carried"]
    test, body = operator.attrs["cond_block"], operator.attrs["body_block"]

    def condition(*values: Any) -> tuple[Any, ...]:
        return tuple([made._data for made in _call(test, values)])

    def iteration(*values: Any) -> tuple[Any, ...]:
        made = _call(body, values)
        return (*map(_own, made[:n]), *made[n:])

    carried, captured = tuple(map(_own, operands[:n])), tuple(operands[n:])
    pushes = len(operator.results) - n - 1
    made = list(control_flow.while_loop(condition, iteration, carried, captured, pushes))
    made[n] = Tensor._wrap(made[n])
    return made


def _scan(operator: Operator, operands: list[Any]) -> list[Any]:
    attrs, pushes = operator.attrs, len(operator.results) - operator.attrs["carried"]
    body = attrs["body_block"]
    trips, *given = operands
    first = attrs["carried"]
    last = first + attrs["captured"]
    carried, captured, stacks = given[:first], given[first:last], given[last:]
    if not trips._data:  # as the kernel does
        carried = [
            Tensor._wrap(without_sign(c._data)) if isinstance(c, Tensor) and c._stop else c
            for c in carried
        ]
        return [*carried, *([] for _ in range(pushes))]

    def iteration(*values: Any) -> tuple[Any, ...]:
        return tuple(_call(body, values))

    kept = [False] * len(stacks)
    made = control_flow.scan(
        iteration,
        trips._data,
        tuple(carried),
        tuple(captured),
        stacks,
        pushes,
        attrs["reverse"],
        kept,
    )
    return list(made)


def _add_stacks(operator: Operator, operands: list[Any]) -> list[Any]:
    return [_added(operands)]


def _added(stacks: Sequence[Any]) -> Any:
    if isinstance(stacks[0], list):
        return [_added(elements) for elements in zip(*stacks, strict=True)]
    total = stacks[0]
    if total is None:  # of an array that has nothing there
        return None
    for other in stacks[1:]:
        total = total + other
    return total


def _constant(kernel: Callable[..., Any]) -> Callable[..., list[Any]]:
    """A kernel on Tensors, or stacks of them, through which no gradient flows."""

    def call(operator: Operator, operands: list[Any]) -> list[Any]:
        made = kernel(*nest.map(lambda t: t._data, operands), **operator.attrs)
        return [nest.map(Tensor._wrap, made)]

    return call


def _array(operator: Operator, operands: list[Any]) -> list[Any]:
    """An operator on arrays of tensors, whose elements are Tensors here."""
    op: Any = operator.op
    attrs = operator.attrs
    if op.kind == "array_join":
        joined = ops.stack if attrs["stack"] else ops.concat
        return [joined(*operands[0], axis=attrs["axis"])]
    if op.kind == "array_split":
        return [_split(*operands, **attrs)]
    if op.kind in ("array_read", "array_write"):
        operands[-1] = operands[-1]._data
    made = getattr(control_flow, op.kind)(*operands, **attrs)
    if op.kind == "array_like":
        made = [e if e is None or isinstance(e, Tensor) else Tensor._wrap(e) for e in made]
    return [Tensor._wrap(made) if isinstance(made, np.ndarray) else made]


def _split(x: Tensor, like: list[Any], *, axis: int, stack: bool) -> list[Tensor]:
    if stack:
        return list(ops.unstack(x, axis=axis))
    return list(ops.split(x, sizes=tuple(e.shape[axis] for e in like), axis=axis))


_FLOW = {
    **dict.fromkeys(control_flow.ARRAYS, _array),
    "absent": _constant(control_flow.absent),
    "add_stacks": _add_stacks,
    "call": _branch,
    "cond": _branch,
    "fill_stack": _constant(control_flow.fill_stack),
    "hollow": _constant(control_flow.hollow),
    "scan": _scan,
    "while": _while,
}
