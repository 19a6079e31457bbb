"""What is checked of every operation of the table besides its derivatives.

Each check takes an operation, its operands as ndarrays and all its attributes, and raises an
AssertionError. The engine's own suite runs them on samples of every operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes import BOOLS, COMPLEX, FLOATS, INTEGERS
from autograd_engine.core.spec import Spec, may_equal
from autograd_engine.eager.grad_mode import no_grad
from autograd_engine.eager.tape import Node, Slot
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import IndexRangeError
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import OpDef, Rule
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.testing.modes import (
    Runnable,
    call,
    close,
    differentiable,
    directions,
    eager_orders,
    every_subset,
    gradient,
    kernel,
    like_layout,
    numpy,
    pushed,
    reseeded,
    same_bits,
    static_forms,
    subsets,
    tensors,
    with_gradient,
)

__all__ = [
    "PROGRAMS",
    "all_same",
    "declared_tangent",
    "declares_rules",
    "eager_is_the_kernel",
    "eager_results",
    "gradients_keep_dtypes",
    "infers",
    "like_inputs_are_not_read",
    "no_history",
    "nothing_recorded",
    "programs_agree",
    "reads_what_it_saves",
    "recording_changes_nothing",
    "saves_what_it_declares",
    "settings",
    "unread",
    "wanted_rules_only",
    "writes_to_no_operand",
]

Array: TypeAlias = NDArray[Any]
Attrs: TypeAlias = dict[str, Any]
PROGRAMS: dict[str, Any] = {
    "known": {"unknown": False, "forms": (False,)},
    "unknown": {"unknown": True, "forms": (False,)},
    "known-written-out": {"unknown": False, "forms": (True,)},
    "unknown-written-out": {"unknown": True, "forms": (True,)},
}
GARBAGE = 1e3


def ensure(holds: Any, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def all_same(actual: Sequence[Any], expected: Sequence[Any]) -> None:
    ensure(len(actual) == len(expected), f"{len(actual)} results in place of {len(expected)}")
    for a, e in zip(actual, expected, strict=True):
        same_bits(a, e)


# --- kernel and inference


def declares_rules(op: OpDef) -> None:
    """Every input has a rule or says NONDIFF."""
    missing = [name for name in op.inputs if name not in op.rules]
    ensure(
        not missing,
        f"{op.name}: no rule for {', '.join(missing)}; declare one with .vjp(...), or NONDIFF",
    )


def infers(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    """What `infer` foretells is what the kernel gives; sizes it does not know fit."""
    results = kernel(op, operands, attrs)
    specs = op.infer_tuple([Spec(a.shape, a.dtype) for a in operands], attrs)
    ensure(
        len(specs) == len(results),
        f"infer foretells {len(specs)} outputs, there are {len(results)}",
    )
    for r, s in zip(results, specs, strict=True):
        have = Spec(r.shape, r.dtype)
        ensure(
            may_equal(r.shape, s.shape) and r.dtype == s.dtype,
            f"infer foretells {s!r}, the kernel gives {have!r}",
        )


def like_inputs_are_not_read(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    """Operands that are asked only for shape and dtype may be Specs."""
    bare = [a if op.reads_value(k) else Spec(a.shape, a.dtype) for k, a in enumerate(operands)]
    with reseeded():
        expected = kernel(op, operands, attrs)
    with reseeded():
        all_same(kernel(op, bare, attrs), expected)  # type: ignore[arg-type]


def writes_to_no_operand(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    copies = [a.copy() for a in operands]
    for a in copies:
        a.flags.writeable = False
    try:
        kernel(op, copies, attrs)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise AssertionError(f"the kernel of {op.name} writes to an operand: {error}") from error
    writable = [a.copy() for a in operands]
    kernel(op, writable, attrs)
    all_same(writable, operands)


# --- the same bits in every mode


def settings(
    op: Runnable, operands: Sequence[Array], attrs: Attrs
) -> Iterator[tuple[Runnable, Sequence[Array], Attrs, tuple[int, ...], list[Array], list[Array]]]:
    """What `eager_orders` and `static_forms` take, for each subset of the differentiable."""
    if isinstance(op, OpDef):
        results = [np.asarray(r) for r in with_gradient(op, kernel(op, operands, attrs))]
    else:
        opened = tensors(operands, differentiable(op, operands))
        results = [y.numpy() for y in with_gradient(op, call(op, opened, attrs))]
    cotangents = directions(results, seed=40)
    for wanted in subsets(differentiable(op, operands)):
        tangents = directions([operands[k] for k in wanted], seed=41)
        yield op, operands, attrs, wanted, cotangents, tangents


def eager_is_the_kernel(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    with reseeded():
        expected = kernel(op, operands, attrs)
    with reseeded():
        results = call(op, tensors(operands, differentiable(op, operands)), attrs)
    all_same(numpy(results), expected)


def recording_changes_nothing(op: Runnable, operands: Sequence[Array], attrs: Attrs) -> None:
    """A plain pass, create_graph, and create_graph of that give the same bits."""
    for setting in settings(op, operands, attrs):
        plain = gradient(*setting[:5])
        _, first, second = eager_orders(*setting, create_graph=False)
        _, _, recorded = eager_orders(*setting, create_graph=True)
        all_same(first, plain)
        all_same(recorded, second)


def eager_results(op: Runnable, operands: Sequence[Array], attrs: Attrs) -> list[tuple[Any, Any]]:
    """What `static_forms` takes in each setting, and the values and gradients of eager mode."""
    return [(s, eager_orders(*s, create_graph=False)) for s in settings(op, operands, attrs)]


def programs_agree(
    results: Sequence[tuple[Any, Any]], *, unknown: bool, forms: Sequence[bool] = (False, True)
) -> None:
    """A program gives the values, gradients and second order of eager mode, bit for bit.

    As its gradient operators were appended, and with these written out: see `static_forms`.
    """
    for setting, expected in results:
        for found in static_forms(*setting, unknown=unknown, forms=forms):
            for result, value in zip(found, expected, strict=True):
                all_same(result, value)


# --- dtypes and tangents


def gradients_keep_dtypes(op: Runnable, operands: Sequence[Array], attrs: Attrs) -> None:
    """A gradient, and one of it, has the shape and dtype of what it belongs to."""
    for setting in settings(op, operands, attrs):
        _, _, _, wanted, cotangents, _ = setting
        _, first, second = eager_orders(*setting, create_graph=False)
        varied = [*(operands[k] for k in wanted), *cotangents]
        for g, x in [*zip(first, varied, strict=False), *zip(second, varied, strict=True)]:
            ensure(
                g is None or (g.dtype, g.shape) == (x.dtype, x.shape),
                f"a gradient is {_said(g)} for {_said(x)}",
            )


def _said(a: Array | None) -> str:
    return "None" if a is None else repr(Spec(a.shape, a.dtype))


def declared_tangent(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    """What `tangent=` says gives what transposing twice gives."""
    for wanted in subsets(differentiable(op, operands)):
        tangents = directions([operands[k] for k in wanted], seed=94)
        declared = pushed(op, operands, attrs, wanted, tangents)
        with _undeclared(op):
            transposed = pushed(op, operands, attrs, wanted, tangents)
        for a, b in zip(declared, transposed, strict=True):
            close(a.numpy(), b.numpy(), 1e-12)


@contextmanager
def _undeclared(op: OpDef) -> Iterator[None]:
    kind, op.tangent = op.tangent, None
    try:
        yield
    finally:
        op.tangent = kind


# --- what is saved


def recorded(
    op: OpDef, operands: Sequence[Array], attrs: Attrs, wanted: Sequence[int]
) -> tuple[list[Tensor], tuple[Tensor, ...], Node, Any]:
    """(tensors, outputs, node, cotangents) of one call on the tape."""
    xs = tensors(operands, wanted)
    outputs = call(op, xs, attrs)
    node = with_gradient(op, outputs)[0]._node
    node = node.edges[0] if isinstance(node, Slot) else node
    if not isinstance(node, Node):
        raise AssertionError(f"{op.name} was not recorded")
    cotangents = dict(enumerate(directions([t._data for t in outputs], seed=50)))
    return xs, outputs, node, cotangents if op.multiple else cotangents[0]


def pull(node: Node, g: Any) -> list[Array]:
    return [np.asarray(v).copy() for v in node.pullback.pull(raw, g, node.saved, node.attrs)]


def _arrays_in(saved: Sequence[Any]) -> Iterator[Array]:
    for value in saved:
        if isinstance(value, tuple):
            yield from _arrays_in(value)
        elif not isinstance(value, Spec):
            yield value


def _in_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _rule(op: OpDef, position: int) -> Rule:
    rule = op.rule_at(position)
    if rule is None:
        raise AssertionError(f"{op.name}: {op.input_at(position)} has no rule")
    return rule


def saves_what_it_declares(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    """The tape keeps the arrays that the wanted rules name, and no others."""
    for wanted in every_subset(differentiable(op, operands)):
        xs, outputs, node, _ = recorded(op, operands, attrs, wanted)
        names = set(node.pullback.saved)
        declared = {name for k in wanted for name in _rule(op, k).saves}
        likes = {n for n in names - declared if n.endswith("_like")}
        ensure(names - likes == declared, f"saved are {names - likes}, declared {declared}")
        # Shapes besides those declared are for the projection, for filling in zeros,
        # and for checking what the rules of a user's operation return.
        ensure(
            not likes or op.broadcasts is not None or op.multiple or op.check_gradient is not None,
            f"saved without need: {likes}",
        )
        made = dict(zip((*op.inputs, *op.outputs), (*op.group(xs), *outputs), strict=False))
        for name, value in zip(node.pullback.saved, node.saved, strict=True):
            kept = _in_tuple(value)
            if name in made:
                own = zip(_in_tuple(made[name]), kept, strict=True)
                ensure(all(t._data is v for t, v in own), f"{name} is saved as a copy")
            else:
                ensure(all(isinstance(v, Spec) for v in kept), f"{name} is saved with its values")
        ensure(node.pullback.wanted == wanted, f"recorded for {node.pullback.wanted}")
        led = [any(e is xs[k] for k in wanted) for e in node.edges]
        ensure(led == [True] * len(wanted), "an edge leads elsewhere than to its input")


def reads_what_it_saves(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    """Every array of the call that is not saved is overwritten, and no gradient notices."""
    for wanted in every_subset(differentiable(op, operands)):
        _, _, node, g = recorded(op, operands, attrs, wanted)
        expected = pull(node, g)
        own = [like_layout(a, a) for a in operands]
        xs, outputs, node, g = recorded(op, own, attrs, wanted)
        saved = list(_arrays_in(node.saved))
        for t in (*xs, *outputs):
            free = not any(np.shares_memory(t._data, s) for s in saved)
            if free and t._data.flags.writeable:
                t._data[...] = GARBAGE if t._data.dtype in FLOATS else 1
        for result, value in zip(pull(node, g), expected, strict=True):
            same_bits(result, value)


def unread(op: OpDef, calls: Sequence[tuple[Sequence[Array], Attrs]], position: int) -> set[str]:
    """Arrays that the rule of an operand declares and that change nothing on any of the calls."""
    rule = _rule(op, position)
    left = {n for n in rule.saves if n in (*op.inputs, *op.outputs)}
    for operands, attrs in calls:
        possible = differentiable(op, operands)
        if position not in possible:
            continue
        # What one rule for several inputs reads is for any of them.
        wanted = tuple(k for k in possible if k == position or op.input_at(k) in rule.group)
        for name in tuple(left):
            _, _, node, g = recorded(op, operands, attrs, wanted)
            expected = pull(node, g)
            for factor in (1.5, -1.5):
                saved = [
                    _changed(value, factor) if held == name else value
                    for held, value in zip(node.pullback.saved, node.saved, strict=True)
                ]
                try:
                    with np.errstate(all="ignore"):
                        found = node.pullback.pull(raw, g, tuple(saved), node.attrs)
                except IndexRangeError:  # it was read, and is checked
                    left.discard(name)
                    continue
                if any(not np.array_equal(f, e) for f, e in zip(found, expected, strict=True)):
                    left.discard(name)
    return left


def _changed(value: Any, factor: float) -> Any:
    """Other values of the same kind; indices move within what is sure to be in range."""
    if isinstance(value, tuple):
        return tuple([_changed(v, factor) for v in value])
    if value.dtype in BOOLS:
        return ~value
    if value.dtype in INTEGERS:
        return np.where(value == 0, 1, 0).astype(value.dtype)
    return factor * (value + 1)  # which changes differences and signs, too


def wanted_rules_only(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    """A pullback for some inputs runs their rules and no others."""
    called: list[str] = []
    outputs = kernel(op, operands, attrs)
    u = dict(enumerate(directions(outputs, seed=51)))
    grouped = (outputs,) if op.variadic_output else outputs
    with _spied(op, called):
        for wanted in every_subset(differentiable(op, operands)):
            project = 0 if op.broadcasts is None else (1 << len(operands)) - 1
            pullback = Pullback(op, wanted, project=project)
            saved = pullback.save(*op.group(operands), *grouped)
            pull = pullback.pull  # compiles, where rules may be run too, to see what they compute
            called.clear()
            results = pull(raw, u if op.multiple else u[0], saved, attrs)
            ensure(len(results) == len(wanted), f"{len(results)} cotangents for {wanted}")
            # A variadic input has one rule for all of its operands, as inputs in a group have.
            groups = {_rule(op, k).group or op.input_at(k): op.input_at(k) for k in wanted[::-1]}
            names = list(groups.values())[::-1]
            ensure(called == names, f"the rules of {called} ran for {names}")


@contextmanager
def _spied(op: OpDef, called: list[str]) -> Iterator[None]:
    """Rules note their names when they run."""
    rules = {name: rule for name, rule in op.rules.items() if isinstance(rule, Rule)}
    functions = {name: rule.fn for name, rule in rules.items()}

    def noting(fn: Callable[..., Any], name: str) -> Callable[..., Any]:
        @wraps(fn)
        def noted(*args: Any, **attrs: Any) -> Any:
            called.append(name)
            return fn(*args, **attrs)

        return noted

    try:
        for name, rule in rules.items():
            rule.fn = noting(rule.fn, name)
        yield
    finally:
        for name, rule in rules.items():
            rule.fn = functions[name]


def nothing_recorded(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    """Where no gradient is wanted, or recording is off, results have no history."""
    results = call(op, tensors(operands), attrs)
    ensure(all(t._node is None for t in results), "recorded although no input wants a gradient")
    with no_grad():
        results = call(op, tensors(operands, differentiable(op, operands)), attrs)
        ensure(
            all(t.stop_gradient and t._node is None for t in results), "recorded under no_grad()"
        )


def no_history(op: OpDef, operands: Sequence[Array], attrs: Attrs) -> None:
    """An operation without a gradient records nothing, whatever wants one."""
    floating = [k for k, a in enumerate(operands) if a.dtype in FLOATS]
    results = call(op, tensors(operands, floating), attrs)
    if any(t._data.dtype in COMPLEX for t in results):  # see tests of complex gradients
        return
    ensure(
        all(t.stop_gradient and t._node is None for t in results),
        "recorded although it has no gradient",
    )
