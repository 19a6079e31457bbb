"""The backward half of a program: `append_backward` and `gradients`.

The files of this folder in the order of the trip: `arguments` and `open_blocks` say what is asked,
`decompose` writes out operators that have no rule of their own, `dataflow` finds what cotangents
reach, `walk` plans operators for it, `checkpoints` has them read values computed again, `commit`
appends what was planned. An error on the way leaves the program as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.core.gc_pause import collector_paused
from autograd_engine.core.locations import Location, caller
from autograd_engine.core.operand import Operand
from autograd_engine.eager.grad_mode import uncast
from autograd_engine.errors import BuildError, DTypeError
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.backward.arguments import (
    check_callbacks,
    check_distop_context,
    check_variable,
    checkpoint_names,
    cotangents,
    differentiable,
    leaves_of,
    listed_parameters,
    no_grad_names,
    same_program,
    variables,
)
from autograd_engine.program.backward.checkpoints import read_originals, recompute
from autograd_engine.program.backward.commit import Callback, commit
from autograd_engine.program.backward.cotangents import Arrived, gradient_names
from autograd_engine.program.backward.dataflow import needed_keys, reach
from autograd_engine.program.backward.decompose import decompose_on_path
from autograd_engine.program.backward.open_blocks import (
    check_iterations,
    check_open,
    check_targets,
    enclosing,
    restored_outwards,
    seen_inside,
    wanted_keys,
)
from autograd_engine.program.backward.walk import BackwardPlan, plan_backward
from autograd_engine.program.builder import append_operator, emitting
from autograd_engine.program.ir.op_role import mark_gradients, mark_loss, mark_seeds
from autograd_engine.program.ir.program import Block, Key, Ref, Variable

_CONJ = REGISTRY["conj"]

__all__ = ["append_backward", "gradients", "pulled_back"]


def append_backward(
    loss: Operand,
    parameter_list: Iterable[Operand | str] | None = None,
    no_grad_set: Iterable[Operand | str] | None = None,
    callbacks: Sequence[Callback] | None = None,
    checkpoints: Iterable[Operand | str] | None = None,
    distop_context: Any = None,
) -> list[tuple[Variable, Variable]]:
    """Append the backward half of the program that computes `loss`.

    Parameters
    ----------
    loss : Variable
        Where the gradients start, with ones (so for a `loss` that is no scalar, the gradients are
        those of its sum).
    parameter_list : list, tuple or set of Variable or str, optional
        Whose gradients to return; by default all trainable parameters. What has
        ``stop_gradient=True`` is left out, and so is, with a warning, a name that the program does
        not have. Without a list each floating leaf on the way that wants a gradient gets one, too:
        data, and what is created. It is not returned; fetch it by the leaf's ``grad_name``.
    no_grad_set : set, list or tuple of Variable or str, optional
        Variables through which no gradient flows, besides those with ``stop_gradient=True``.
    callbacks : list or tuple of callable, optional
        Each is called as ``callback(block=..., context=...)`` once per appended gradient operator,
        in order, when that is the last operator of the block; not for the operator that makes the
        first cotangent. `context` is one dict for all calls: from the names of the gradients to
        those of their variables, and ``"__current_op_desc__"`` to the operator just appended. An
        exception propagates, and leaves the program as it was.
    checkpoints : list, tuple or set of Variable or str, optional
        Keep only these of the forward half's intermediate values, and compute the others again,
        from one checkpoint to the next, when gradients need them: less memory for one more run of
        the forward half at most, and the same bits. What is behind the last checkpoint, what a
        connection skips checkpoints with, and what was drawn at random (a dropout's mask) is kept.
        The values computed again are named ``<name>.subprog_<segment>``. Gradients that the program
        holds already stay as they are.
    distop_context : None
        Distributing a program over devices is not supported.

    Returns
    -------
    list of (Variable, Variable)
        Each parameter with its gradient, in the order given (by default that of creation).
        Parameters which `loss` does not depend on are left out. Asked for again, a gradient that
        the program holds is returned as it is, and nothing is appended.

    Raises
    ------
    NotATensorError
        When `loss` is no Variable (an AssertionError and a TypeError).
    TypeError
        When another argument is of the wrong kind.
    BuildError
        When a Variable belongs to another program, or the program has no such checkpoint.
    ArgumentError
        When `distop_context` is given.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 3], "float32")
    ...     loss = paddle.mean(paddle.static.nn.fc(x, size=1, name="append_backward_doc"))
    ...     pairs = paddle.static.append_backward(loss)
    >>> [grad.name for _, grad in pairs]
    ['append_backward_doc.w_0@GRAD', 'append_backward_doc.b_0@GRAD']
    """
    loss = check_variable("append_backward", "loss", loss)
    check_open("append_backward", loss)
    check_distop_context(distop_context)
    checked = check_callbacks(callbacks)
    block = loss.block
    no_grad = no_grad_names("append_backward", block, no_grad_set)
    kept = checkpoint_names(block, checkpoints)
    if parameter_list is None:
        wanted: list[Variable] = [p for p in block.program.all_parameters() if differentiable(p)]
        leaves = leaves_of(block)
    else:
        wanted, leaves = listed_parameters(block, parameter_list), []
    target = Ref(loss, loss.version)
    for v in wanted:
        check_open("append_backward", v, block)
    refuse_complex_loss("append_backward", loss)
    with restored_outwards(block):
        found = _differentiate(
            "append_backward",
            block,
            [(target, None)],
            [*wanted, *leaves],
            no_grad,
            caller(),
            seed_by_shape=True,
            callbacks=checked,
            checkpoints=kept,
        )
        found = _as_seen(block, found, [*wanted, *leaves])
        pairs = [(v, found[id(v)]) for v in wanted if id(v) in found]
        mark_loss(loss)
        mark_gradients(pairs)
    return pairs


def gradients(
    targets: Operand | Sequence[Operand],
    inputs: Operand | Sequence[Operand],
    target_gradients: Operand | Sequence[Operand | None] | None = None,
    no_grad_set: Iterable[Operand | str] | None = None,
) -> list[Variable | None]:
    """Append the gradients of the sum of `targets` with respect to `inputs`.

    Parameters
    ----------
    targets, inputs : Variable or list of Variable
    target_gradients : Variable or list, optional
        Cotangents of the targets, of the same shapes; None stands for ones.
    no_grad_set : set, list or tuple of Variable or str, optional
        Variables through which no gradient flows.

    Returns
    -------
    list of Variable or None
        One entry for each input, None where no target depends on it. Gradients can be
        differentiated again, to any order.

    Raises
    ------
    TypeError
        When an argument is of the wrong kind, or a cotangent of another dtype than its target.
    ShapeError
        When a cotangent has another shape than its target.
    BuildError
        When there is no target, or not one cotangent for each, or when a Variable belongs to
        another program.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program()):
    ...     x = paddle.static.data("x", [2], "float32")
    ...     x.stop_gradient = False
    ...     paddle.static.gradients(paddle.tanh(x), x)
    [var x@GRAD : LOD_TENSOR.shape(2,).dtype(float32).stop_gradient(False)]
    """
    return _gradients(targets, inputs, target_gradients, no_grad_set, seen=True)


def pulled_back(
    targets: Operand | Sequence[Operand],
    inputs: Operand | Sequence[Operand],
    cotangents: Operand | Sequence[Operand | None] | None = None,
) -> list[Variable | None]:
    """`gradients` for readers of rules: cotangents of complex values are not conjugated."""
    return _gradients(targets, inputs, cotangents, None, seen=False)


def _gradients(
    targets: Operand | Sequence[Operand],
    inputs: Operand | Sequence[Operand],
    target_gradients: Operand | Sequence[Operand | None] | None,
    no_grad_set: Iterable[Operand | str] | None,
    *,
    seen: bool,
) -> list[Variable | None]:
    goals = variables("targets", targets)
    sources = variables("inputs", inputs)
    if not goals:
        raise BuildError("gradients: targets is empty; give one Variable at least")
    block = goals[0].block
    for v in (*goals[1:], *sources):
        same_program("gradients", block, v)
    for v in goals:
        check_open("gradients", v)
    for v in sources:
        check_open("gradients", v, block)
    given = cotangents(goals, target_gradients)
    no_grad = no_grad_names("gradients", block, no_grad_set)
    ends = [Ref(t, t.version) for t in goals]
    check_targets("gradients", ends)
    asked = [v for v in sources if not v.stop_gradient]
    for v, g in zip(goals, given, strict=True):
        if g is None and seen:
            refuse_complex_loss("gradients", v)
    with restored_outwards(block):
        starts = [None if g is None else g.seen_from(block) for g in given]
        if seen:
            starts = [None if g is None else _conjugate(block, g) for g in starts]
        seeds = list(zip(ends, starts, strict=True))
        found = _differentiate(
            "gradients", block, seeds, asked, no_grad, caller(), seed_by_shape=False
        )
        if seen:
            found = _as_seen(block, found, asked)
    return [found.get(id(v)) for v in sources]


def refuse_complex_loss(function: str, loss: Variable) -> None:
    """A DTypeError where ones would be the cotangent of a complex value."""
    if loss.spec.dtype in COMPLEX:
        raise DTypeError(
            f"{function}: a gradient is that of a real loss, and {loss.name} is complex: take "
            "paddle.abs or paddle.real of it, or call static.gradients with target_gradients"
        )


def _as_seen(
    block: Block, found: dict[int, Variable], wanted: Sequence[Variable]
) -> dict[int, Variable]:
    """Gradients as users see them: of complex values, conjugates of what the rules compute."""
    names = {id(v): v.name for v in wanted}
    return {k: _conjugate(block, g, names.get(k)) for k, g in found.items()}


def _conjugate(block: Block, var: Variable, of: str | None = None) -> Variable:
    """The conjugate of a complex variable, as the gradient of what is called `of`."""
    if var.spec.dtype not in COMPLEX:
        return var
    key = "conj", var.name, var.version, of
    made: Variable | None = block.emitted.get(key)
    if made is None:
        names = gradient_names(var.name if of is None else of, "CONJ" if of is None else "GRAD")
        name = next(n for n in names if n not in block.vars)
        made = Variable(block, name, var.spec)
        with emitting(name, "backward", caller()):
            append_operator(
                block, _CONJ, (Ref(var, var.version),), (Ref(block.add_var(made), 0),), {}
            )
        block.emitted[key] = made
    return made


@uncast
def _differentiate(
    where: str,
    block: Block,
    seeds: Sequence[tuple[Ref, Variable | None]],
    wanted: Sequence[Variable],
    no_grad: set[str],
    location: Location,
    *,
    seed_by_shape: bool,
    callbacks: Sequence[Callback] = (),
    checkpoints: Set[str] = frozenset(),
) -> dict[int, Variable]:
    """Plan the gradients and append them; gradients by the id of what they belong to."""
    seeds = [(r, g) for r, g in seeds if r.var.name not in no_grad and not r.var.stop_gradient]
    targets = [r for r, _ in seeds]
    keys = wanted_keys(block, wanted, no_grad)
    check_iterations(block, targets, wanted, no_grad)
    count = len(block.vars)
    with block.restored_on_error():
        with collector_paused():
            _prepare(block, targets, keys, no_grad)
            plan = plan_backward(
                block,
                seeds,
                keys,
                no_grad,
                location,
                seed_by_shape=seed_by_shape,
                unrounded=_added_to_outside(block, keys, wanted, no_grad),
            )
            if checkpoints:
                recompute(plan, targets, checkpoints)
            if seed_by_shape:
                mark_seeds(plan.draft.seeds)
        commit(plan, callbacks)
        found = _of_each(plan.cotangents.gradient, [v for v in wanted if v.block is block])
        if enclosing(block) is not None:
            found |= _outside(plan, wanted, no_grad, callbacks)
        _sort_from(block.vars, count)
    return found


def _outside(
    plan: BackwardPlan,
    wanted: Sequence[Variable],
    no_grad: set[str],
    callbacks: Sequence[Callback],
) -> dict[int, Variable]:
    """Go on through what is computed around the block; its operators go into the block as well."""
    into, block, sure = plan.into, plan.block, plan.cotangents.surely
    gradient = plan.cotangents.gradient
    found: dict[int, Variable] = {}
    while (parent := enclosing(block)) is not None:
        keys = wanted_keys(parent, wanted, no_grad)
        seeds = []
        for (name, version), argument in block.captured.items():
            cotangent = _latest(gradient, argument)
            if cotangent is not None:
                arrived = Arrived(cotangent, sure([Ref(argument, 0)]))
                seeds.append((Ref(parent.vars[name], version), arrived))
        targets = [ref for ref, _ in seeds]
        gradient = {ref.key: arrived.var for ref, arrived in seeds}
        _prepare(parent, targets, keys, no_grad)
        if _crosses(parent, targets, keys, no_grad):
            location = plan.draft.location
            plan = plan_backward(
                parent,
                seeds,
                keys,
                no_grad,
                location,
                seed_by_shape=False,
                into=into,
                unrounded=_added_to_outside(parent, keys, wanted, no_grad),
            )
            for operator in [*plan.draft.seeds, *plan.draft.operators]:
                operator.operands = tuple(
                    seen_inside(o, into, location) if isinstance(o, Ref) else o
                    for o in operator.operands
                )
            commit(plan, callbacks)
            gradient, sure = plan.cotangents.gradient, plan.cotangents.surely
            if block.repeated:
                for ref in targets:
                    if _crosses(parent, [ref], keys, no_grad):
                        block.through[block.captured[ref.key].name] = plan.draft.location
        found |= _of_each(gradient, [v for v in wanted if v.block is parent])
        block = parent
    return found


def _added_to_outside(
    block: Block, keys: set[Key], wanted: Sequence[Variable], no_grad: set[str]
) -> list[Ref]:
    """Arguments of the block at which sums begin that the walk through the block around goes on."""
    parent = enclosing(block)
    arguments = {k: a for k, a in block.captured.items() if (a.name, 0) in keys}
    if parent is None or not arguments:
        return []
    targets = [Ref(parent.vars[name], version) for name, version in arguments]
    outer = wanted_keys(parent, wanted, no_grad)
    _prepare(parent, targets, outer, no_grad)
    if not _crosses(parent, targets, outer, no_grad):
        return []
    return [Ref(a, 0) for a in arguments.values()]


def _crosses(block: Block, targets: Sequence[Ref], keys: set[Key], no_grad: set[str]) -> bool:
    """Whether an operator of the block, or a hook, is between `targets` and what is wanted."""
    flow = reach(block, {ref.key for ref in targets}, keys, no_grad)
    if any(ref.var.hooks is not None and ref.key in flow.needed for ref in targets):
        return True
    return flow.expected.total() > sum(ref.key in flow.needed for ref in targets)


def _prepare(block: Block, targets: Sequence[Ref], keys: set[Key], no_grad: set[str]) -> None:
    """Let every operator on the way be one that has a rule."""
    read_originals(block, targets)
    if any(not isinstance(operator.op, OpDef) for operator in block.ops):
        decompose_on_path(block, targets, needed_keys(block, keys, no_grad))


def _sort_from(variables: dict[str, Variable], count: int) -> None:
    """Put those behind the first `count` in the order of their names, as listings show them."""
    for name in sorted(list(variables)[count:]):
        variables[name] = variables.pop(name)


def _of_each(gradient: dict[Key, Variable], wanted: Sequence[Variable]) -> dict[int, Variable]:
    """By the id of each wanted variable, its gradient where there is one."""
    found = ((id(v), _latest(gradient, v)) for v in wanted)
    return {k: g for k, g in found if g is not None}


def _latest(gradient: dict[Key, Variable], var: Variable) -> Variable | None:
    """The gradient of the version that was read, the latest of several."""
    versions = (gradient.get((var.name, n)) for n in range(var.version, -1, -1))
    return next((g for g in versions if g is not None), None)
