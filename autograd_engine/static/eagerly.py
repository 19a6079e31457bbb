"""A program run on Tensors, operation by operation, on the tape.

What an `Executor` compiles is interpreted here, with the operations of eager mode: hooks, anomaly
detection, ``.grad`` and debuggers see each of them. Operators of gradients run too: the pullback
that they hold, on Tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from autograd_engine.codegen.python import live_operators
from autograd_engine.eager.grad_mode import grad_mode, no_grad
from autograd_engine.eager.record import apply
from autograd_engine.eager.tape import MultiNode
from autograd_engine.eager.tensor import Parameter as EagerParameter
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ExecutionError
from autograd_engine.generator import own_generator
from autograd_engine.hollow import hollow
from autograd_engine.namespace import ops
from autograd_engine.registry import OpDef
from autograd_engine.scattered import Scattered
from autograd_engine.static import mode
from autograd_engine.static.block_op import BlockOp, split_operands
from autograd_engine.static.feeds import checked_feeds, feed_dict
from autograd_engine.static.fetches import split_fetches
from autograd_engine.static.gradop import GradOp
from autograd_engine.static.program import (
    Block,
    Literal,
    Operator,
    Parameter,
    Program,
    Ref,
    Variable,
)
from autograd_engine.static.run_errors import uninitialised
from autograd_engine.static.scope import Scope, global_scope

__all__ = ["run_eagerly", "run_operators"]

Key: TypeAlias = tuple[str, int]
Values: TypeAlias = dict[Key, Any]


def run_eagerly(
    program: Program,
    feed: Mapping[str, Any] | None = None,
    fetch_list: Any = None,
    scope: Scope | None = None,
) -> dict[str, Tensor]:
    """Run `program` on Tensors, and return them by name.

    Parameters
    ----------
    program : Program
    feed : dict of str to array_like, optional
        As `Executor.run` takes it. A Tensor is used as it is, so that it gets its ``.grad``.
    fetch_list : Variable, str, or list of them, optional
        What is needed: only what these and the updates of the program depend on is run. By default
        all of it.
    scope : Scope, optional
        Where parameters are read and updates are written, as in `Executor.run`.

    Returns
    -------
    dict of str to Tensor
        What was fetched (by default everything), what was fed, and parameters, which are leaves.

    Raises
    ------
    FeedError, ExecutionError, ModeError

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [2], "float32")
    ...     x.stop_gradient = False
    ...     loss = paddle.sum(x * x)
    >>> found = run_eagerly(main, {"x": np.float32([1.0, 2.0])})
    >>> found[loss.name].backward()
    >>> found["x"].grad.tolist()
    [2.0, 4.0]
    """
    if not isinstance(program, Program):
        raise TypeError(f"run_eagerly: program must be a Program, got {type(program).__name__}")
    mode.require_dynamic("Program.run_eagerly")
    chosen = global_scope() if scope is None else scope
    if not isinstance(chosen, Scope):
        raise TypeError(f"run_eagerly: scope must be a Scope, got {type(scope).__name__}")
    block = program.global_block()
    fetches = _fetches(program, block, fetch_list)
    latest = {r.var.name: r for o in block.ops for r in o.results if r.var.persistable}
    operators = live_operators(block.ops, [*fetches, *latest.values()])
    inputs = _inputs(operators, fetches)
    values = _fed(program, inputs, feed_dict(feed)) | _parameters(program, inputs, chosen)
    given = list(values)
    with own_generator(program.generator):
        run_operators(operators, values)
    new = {name: np.asarray(values[r.key]._data) for name, r in latest.items()}
    if new:
        with chosen.claimed(set(new)):
            chosen.commit(new)
    found = {name: values[name, version] for name, version in given}
    found.update((r.var.name, values[r.key]) for r in fetches if r.key in values)
    return found


def _fetches(program: Program, block: Block, fetch_list: Any) -> list[Ref]:
    if fetch_list is not None:
        return split_fetches(program, fetch_list)[0]
    return [Ref(v, v.version) for o in block.ops for r in o.results for v in (r.var,)]


def _inputs(operators: Sequence[Operator], fetches: Sequence[Ref]) -> list[Ref]:
    """What the operators read and none of them makes."""
    made = {r.key for o in operators for r in o.results}
    asked = [o for operator in operators for o in operator.operands if isinstance(o, Ref)]
    found = {r.key: r for r in [*asked, *fetches] if r.key not in made}
    for ref in found.values():
        if not (ref.var.persistable or ref.var.is_data):
            raise ExecutionError(
                f"nothing in this program computes {ref.var.name!r}; was it made in another one?"
            )
    return list(found.values())


def _fed(program: Program, inputs: Sequence[Ref], feeds: Mapping[str, Any]) -> Values:
    refs = [r for r in inputs if not r.var.persistable]
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
    tensor._stop = var.stop_gradient or array.dtype.kind != "f"
    tensor.name = var.name
    return tensor


def _parameters(program: Program, inputs: Sequence[Ref], scope: Scope) -> Values:
    refs = [r for r in inputs if r.var.persistable]
    known = scope.snapshot([r.var.name for r in refs])
    if missing := [name for name, value in known.items() if value is None]:
        raise uninitialised(program, scope, missing)
    values: Values = {}
    for ref in refs:
        array = np.asarray(known[ref.var.name])
        if isinstance(ref.var, Parameter):
            tensor: Tensor = EagerParameter(
                array, name=ref.var.name, trainable=not ref.var.stop_gradient
            )
        else:
            tensor = _leaf(ref.var, array)
            tensor.persistable = True
        values[ref.key] = tensor
    return values


def run_operators(operators: Sequence[Operator], values: Values) -> None:
    """Run them in order; `values` has what they read, and takes what they make."""
    for operator in operators:
        try:
            made = _run(operator, values)
        except Exception as error:
            error.add_note(f"in {operator.type} of {operator.location} ({operator.location.text})")
            raise
        for ref, value in zip(operator.results, made, strict=True):
            values[ref.key] = value


def _run(operator: Operator, values: Values) -> Sequence[Any]:
    op: Any = operator.op
    operands = [_operand(o, values) for o in operator.operands]
    if isinstance(op, BlockOp):
        return _FLOW[op.kind](operator, operands)
    stops = all(r.var.stop_gradient for r in operator.results)
    with no_grad() if stops and grad_mode.enabled else _nothing:
        if isinstance(op, GradOp):
            g, saved = op.arrange(operands)
            made = op.pullback.pull(ops, g, saved, operator.attrs)
        elif isinstance(op, OpDef):
            made = apply(op, operands, operator.attrs)
            made = made if op.multiple else (made,)
        else:  # what has a kernel, and no derivative
            out = op.kernel(*(t._data for t in operands), **operator.attrs)
            made = tuple([Tensor._wrap(np.asarray(m)) for m in (out if op.multiple else (out,))])
    found = [_finished(m) for m in made]
    for tensor in found:
        _locate(tensor, operator)
    return found


class _Nothing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


_nothing = _Nothing()


def _operand(operand: Any, values: Values) -> Any:
    if isinstance(operand, Ref):
        return values[operand.key]
    if isinstance(operand, Literal):
        return Tensor._wrap(np.asarray(operand.value, operand.dtype))
    return None


def _finished(value: Any) -> Any:
    return value.dense() if value.__class__ is Scattered else value


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


def _call(block: Block, operands: Sequence[Any], outputs: Sequence[Ref]) -> list[Any]:
    """A block as the function that it is."""
    values: Values = {
        (a.name, 0): v for a, v in zip(block.arguments, operands, strict=True) if v is not None
    }
    run_operators(live_operators(block.ops, outputs), values)
    return [values[r.key] for r in outputs]


def _own(value: Any) -> Any:
    """A value of its own, as what goes into a loop and comes out of a branch is in eager mode."""
    return ops.assign(value) if isinstance(value, Tensor) and not value._stop else value


def _truth(value: Tensor) -> bool:
    from autograd_engine.kernels.control_flow import truth

    return truth(value._data)


def _cond(operator: Operator, operands: list[Any]) -> list[Any]:
    block = operator.attrs["true_block" if _truth(operands[0]) else "false_block"]
    return [_own(v) for v in _call(block, operands[1:], block.results)]


def _inlined(operator: Operator, operands: list[Any]) -> list[Any]:
    block = operator.attrs["body_block"]
    return [_own(v) for v in _call(block, operands, block.results)]


def _while(operator: Operator, operands: list[Any]) -> list[Any]:
    n = operator.attrs["carried"]
    condition, body = operator.attrs["cond_block"], operator.attrs["body_block"]
    carried, captured = [_own(v) for v in operands[:n]], operands[n:]
    stacks: list[list[Any]] = [[] for _ in operator.results[n + 1 :]]
    trips = 0
    while _truth(_call(condition, [*carried, *captured], condition.results)[0]):
        results = _call(body, [*carried, *captured], body.results)
        carried = [_own(v) for v in results[:n]]
        for stack, value in zip(stacks, results[n:], strict=True):
            stack.append(value)
        trips += 1
    return [*carried, Tensor._wrap(np.asarray(trips)), *stacks]


def _scan(operator: Operator, operands: list[Any]) -> list[Any]:
    n = operator.attrs["carried"]
    body = operator.attrs["body_block"]
    given = split_operands(operator)
    ends = 1 + len(given[0]), 1 + len(given[0]) + len(given[1])
    carried, captured, stacks = (
        operands[1 : ends[0]],
        operands[ends[0] : ends[1]],
        operands[ends[1] :],
    )
    count = int(operands[0].item())
    made: list[list[Any]] = [[None] * count for _ in operator.results[n:]]
    for t in reversed(range(count)) if operator.attrs["reverse"] else range(count):
        elements = [stack[t] for stack in stacks]
        results = _call(body, [*carried, *captured, *elements], body.results)
        carried = results[:n]
        for stack, value in zip(made, results[n:], strict=True):
            stack[t] = value
    return [*carried, *made]


def _add_stacks(operator: Operator, operands: list[Any]) -> list[Any]:
    return [_added(operands)]


def _added(stacks: Sequence[Any]) -> Any:
    if isinstance(stacks[0], list):
        return [_added(elements) for elements in zip(*stacks, strict=True)]
    total = stacks[0]
    for other in stacks[1:]:
        total = total + other
    return total


def _fill_stack(operator: Operator, operands: list[Any]) -> list[Any]:
    return [_filled(operands[0], operator.attrs["value"])]


def _filled(like: Any, value: float) -> Any:
    if isinstance(like, list):
        return [_filled(v, value) for v in like]
    return Tensor._wrap(hollow(like._data, value))


def _hollow(operator: Operator, operands: list[Any]) -> list[Any]:
    return [Tensor._wrap(hollow(operands[0]._data, **operator.attrs))]


def _absent(operator: Operator, operands: list[Any]) -> list[Any]:
    from autograd_engine.kernels.control_flow import absent

    made = absent(**operator.attrs)
    return [made if isinstance(made, list) else Tensor._wrap(made)]


_FLOW = {
    "absent": _absent,
    "add_stacks": _add_stacks,
    "call": _inlined,
    "cond": _cond,
    "fill_stack": _fill_stack,
    "hollow": _hollow,
    "scan": _scan,
    "while": _while,
}
