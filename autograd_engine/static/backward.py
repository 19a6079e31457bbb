"""The backward half of a program: `append_backward` and `gradients`."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from autograd_engine.errors import BuildError, NotATensorError, ShapeError
from autograd_engine.source import Location, caller
from autograd_engine.spec import format_shape, may_equal
from autograd_engine.static.backward_plan import BackwardPlan, Callback, keys_of, needed_keys
from autograd_engine.static.decompose import decompose_on_path
from autograd_engine.static.program import Block, Parameter, Ref, Variable

__all__ = ["append_backward", "gradients"]


def append_backward(
    loss: Variable,
    parameter_list: Sequence[Variable | str] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
    callbacks: Sequence[Callback] | None = None,
) -> list[tuple[Variable, Variable]]:
    """Append the backward half of the program that computes `loss`.

    Parameters
    ----------
    loss : Variable
        Where the gradients start, with ones (so for a `loss` that is no scalar, the gradients are
        those of its sum).
    parameter_list : list, tuple or set of Variable or str, optional
        Whose gradients to return; by default all trainable parameters.
    no_grad_set : set, list or tuple of Variable or str, optional
        Variables through which no gradient flows, besides those with ``stop_gradient=True``.
    callbacks : list or tuple of callable, optional
        Each is called as ``callback(block=..., context=...)`` once per appended gradient operator,
        in order. `context` maps the names of gradients to those of their variables, and
        ``"__current_op_desc__"`` to the operator just appended.

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
    _check_variable("append_backward", "loss", loss)
    checked = _check_callbacks(callbacks)
    block = loss.block
    no_grad = _no_grad_names("append_backward", no_grad_set)
    if parameter_list is None:
        wanted: list[Variable] = [p for p in block.program.all_parameters() if p.trainable]
        leaves = [v for v in block.vars.values() if v.is_data and not v.stop_gradient]
    else:
        wanted, leaves = _parameters(block, parameter_list), []
    found = _run(
        block,
        [(Ref(loss, loss.version), None)],
        [*wanted, *leaves],
        no_grad,
        caller(),
        seed_by_shape=True,
        callbacks=checked,
    )
    pairs = [(v, found.get(v.name)) for v in wanted]
    return [(v, g) for v, g in pairs if g is not None]


def gradients(
    targets: Variable | Sequence[Variable],
    inputs: Variable | Sequence[Variable],
    target_gradients: Variable | Sequence[Variable | None] | None = None,
    no_grad_set: Iterable[Variable | str] | None = None,
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
    TypeError, ShapeError, BuildError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.static.program_guard(paddle.static.Program()):
    ...     x = paddle.static.data("x", [2], "float32")
    ...     x.stop_gradient = False
    ...     paddle.static.gradients(paddle.tanh(x), x)
    [var x@GRAD : LOD_TENSOR.shape(2,).dtype(float32).stop_gradient(False)]
    """
    goals = _variables("targets", targets)
    sources = _variables("inputs", inputs)
    if not goals:
        raise BuildError("gradients: targets is empty; give one Variable at least")
    given = _target_gradients(goals, target_gradients)
    no_grad = _no_grad_names("gradients", no_grad_set)
    block = goals[0].block
    for v in (*goals, *sources):
        if v.block is not block:
            raise BuildError(f"gradients: {v.name} belongs to another program than {goals[0].name}")
    open_sources = [v for v in sources if not v.stop_gradient]
    seeds = [(Ref(t, t.version), g) for t, g in zip(goals, given, strict=True)]
    found = _run(block, seeds, open_sources, no_grad, caller(), seed_by_shape=False)
    return [found.get(v.name) for v in sources]


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Planning makes many objects, all of which stay: the collector would walk them in vain,
    again and again, which makes the time grow faster than the program.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _run(
    block: Block,
    seeds: Sequence[tuple[Ref, Variable | None]],
    wanted: Sequence[Variable],
    no_grad: set[str],
    location: Location,
    *,
    seed_by_shape: bool,
    callbacks: Sequence[Callback] = (),
) -> dict[str, Variable]:
    """Plan and append; gradients by the name of what they belong to."""
    open_seeds = [(r, g) for r, g in seeds if r.var.name not in no_grad and not r.var.stop_gradient]
    keys = keys_of(wanted, no_grad)
    with block.restored_on_error():
        with _collector_paused():
            decompose_on_path(block, [r for r, _ in open_seeds], needed_keys(block, keys, no_grad))
            plan = BackwardPlan(
                block, open_seeds, wanted, no_grad, location, seed_by_shape=seed_by_shape
            )
        plan.commit(callbacks)
    found: dict[str, Variable] = {}
    for v in wanted:
        # The gradient belongs to the version that was read, the latest where several were.
        versions = [plan.gradient.get((v.name, n)) for n in range(v.version, -1, -1)]
        found.update((v.name, g) for g in versions[::-1] if g is not None)
    return found


# --- arguments


def _check_variable(function: str, argument: str, value: Any) -> None:
    if not isinstance(value, Variable):
        raise NotATensorError(
            f"{function}: {argument} must be a Variable of a static program, got "
            f"{type(value).__name__}; for eager tensors call .backward() on the result"
        )


def _check_callbacks(callbacks: Sequence[Callback] | None) -> Sequence[Callback]:
    if callbacks is None:
        return ()
    if not isinstance(callbacks, (list, tuple)):
        raise TypeError(
            f"append_backward: callbacks must be a list or tuple of callables, got "
            f"{type(callbacks).__name__}; write [callback]"
        )
    for callback in callbacks:
        if not callable(callback):
            raise BuildError(f"append_backward: {callback!r} in callbacks is not callable")
    return callbacks


def _variables(argument: str, value: Any) -> list[Variable]:
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    for v in values:
        _check_variable("gradients", argument, v)
    return values


def _target_gradients(targets: list[Variable], value: Any) -> list[Variable | None]:
    values = list(value) if isinstance(value, (list, tuple)) else [value] * len(targets)
    if value is not None and not isinstance(value, (list, tuple)):
        values = [value]
    if len(values) != len(targets):
        raise BuildError(
            f"gradients: target_gradients has {len(values)} entries for {len(targets)} targets; "
            "give one each, None for ones"
        )
    for target, grad in zip(targets, values, strict=True):
        if grad is None:
            continue
        _check_variable("gradients", "target_gradients", grad)
        a, b = target.spec.shape, grad.spec.shape
        if not may_equal(a, b):
            raise ShapeError(
                f"gradients: {target.name} has shape {format_shape(a)}, its gradient {grad.name} "
                f"{format_shape(b)}; they must be equal"
            )
        if target.spec.dtype != grad.spec.dtype:
            raise TypeError(
                f"gradients: {target.name} is {target.spec.dtype.name}, its gradient {grad.name} "
                f"{grad.spec.dtype.name}; cast it"
            )
    return values


def _no_grad_names(function: str, value: Iterable[Variable | str] | None) -> set[str]:
    if value is None:
        return set()
    if not isinstance(value, (set, frozenset, list, tuple)):
        raise TypeError(
            f"{function}: no_grad_set must be a set, list or tuple of Variables or names, got "
            f"{type(value).__name__}; write {{{value!r}}}"
        )
    names = set()
    for member in value:
        if not isinstance(member, (Variable, str)):
            raise TypeError(
                f"{function}: a member of no_grad_set must be a Variable or a name, got "
                f"{type(member).__name__}"
            )
        names.add(member if isinstance(member, str) else member.name)
    return names


def _parameters(block: Block, value: Sequence[Variable | str]) -> list[Variable]:
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise TypeError(
            "append_backward: parameter_list must be a list, tuple or set of Variables or names, "
            f"got {type(value).__name__}; write [{value!r}]"
        )
    found: list[Variable] = []
    for k, entry in enumerate(value):
        if not isinstance(entry, (Variable, str)):
            raise TypeError(
                f"append_backward: parameter_list[{k}] must be a Variable or a name, got "
                f"{type(entry).__name__}"
            )
        var = block.vars.get(entry) if isinstance(entry, str) else entry
        if var is None or var.stop_gradient:
            continue
        if isinstance(var, Parameter) and not var.trainable:
            continue
        found.append(var)
    return found
