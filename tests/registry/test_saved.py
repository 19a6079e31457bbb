"""What a call keeps is what its rules declare, and only the rules that are wanted run."""

import numpy as np
import pytest

from autograd_engine.eager.grad_mode import no_grad
from autograd_engine.eager.tape import Slot
from autograd_engine.namespace import raw
from autograd_engine.pullback import Pullback
from autograd_engine.registry import REGISTRY
from autograd_engine.spec import Spec

from .harness import (
    call,
    differentiable,
    directions,
    every_subset,
    has_gradient,
    kernel,
    same_bits,
    tensors,
    with_gradient,
)
from .samples import SAMPLES, cases

GARBAGE = 1e3


def recorded(op, sample, wanted, dtype=np.float32):
    """(tensors, outputs, node, cotangents) of one call on the tape."""
    operands, attrs = sample.cast(dtype), op.complete_attrs(sample.attrs)
    xs = tensors(operands, wanted)
    outputs = call(op, xs, attrs)
    node = with_gradient(op, outputs)[0]._node
    node = node.edges[0] if isinstance(node, Slot) else node
    values = [t._data for t in outputs]
    cotangents = dict(enumerate(directions(values, seed=50)))
    return xs, outputs, node, cotangents if op.multiple else cotangents[0]


def pull(node, g):
    return [np.asarray(v).copy() for v in node.pullback.pull(raw, g, node.saved, node.attrs)]


def arrays_in(saved):
    for value in saved:
        if isinstance(value, tuple):
            yield from arrays_in(value)
        elif not isinstance(value, Spec):
            yield value


def in_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def declared(op, wanted):
    """Names that the rules of these operands declare."""
    return {name for k in wanted for name in op.rule_at(k).saves}


@pytest.mark.parametrize(("op", "sample"), cases(has_gradient))
def test_saved_is_what_is_declared(op, sample):
    for wanted in every_subset(differentiable(op, sample.operands)):
        xs, outputs, node, _ = recorded(op, sample, wanted)
        names = set(node.pullback.saved)
        likes = {n for n in names - declared(op, wanted) if n.endswith("_like")}
        assert names - likes == declared(op, wanted)
        # Shapes besides those declared are for the projection and for filling in zeros.
        assert not likes or op.broadcasts is not None or op.multiple
        made = dict(zip((*op.inputs, *op.outputs), (*op.group(xs), *outputs), strict=False))
        for name, value in zip(node.pullback.saved, node.saved, strict=True):
            kept = in_tuple(value)
            if name in made:
                same = [t._data is v for t, v in zip(in_tuple(made[name]), kept, strict=True)]
                assert all(same)
            else:
                assert all(isinstance(v, Spec) for v in kept)


@pytest.mark.parametrize(("op", "sample"), cases(has_gradient))
def test_what_is_not_declared_is_not_read(op, sample):
    """Every array of the call that is not saved is overwritten, and no gradient notices."""
    for wanted in every_subset(differentiable(op, sample.operands)):
        _, _, node, g = recorded(op, sample, wanted)
        expected = pull(node, g)
        xs, outputs, node, g = recorded(op, sample, wanted)
        saved = list(arrays_in(node.saved))
        for t in (*xs, *outputs):
            free = not any(np.shares_memory(t._data, s) for s in saved)
            if free and t._data.flags.writeable:
                t._data[...] = GARBAGE if t._data.dtype.kind == "f" else 1
        for result, value in zip(pull(node, g), expected, strict=True):
            same_bits(result, value)


def rules():
    return [
        pytest.param(op, k, id=f"{op.name}-{name}")
        for op in REGISTRY.values()
        for k, name in enumerate(op.inputs)
        if op.rule_at(k) is not None
    ]


@pytest.mark.parametrize(("op", "position"), rules())
def test_every_declared_value_is_read(op, position):
    """Without one of its saved arrays a rule gives something else, on some sample at least."""
    unread = {n for n in op.rule_at(position).saves if n in (*op.inputs, *op.outputs)}
    for sample in SAMPLES[op.name]:
        if not has_gradient(op, sample) or position not in differentiable(op, sample.operands):
            continue
        for name in tuple(unread):
            _, _, node, g = recorded(op, sample, (position,))
            expected = pull(node, g)
            saved = [
                changed(value) if held == name else value
                for held, value in zip(node.pullback.saved, node.saved, strict=True)
            ]
            with np.errstate(all="ignore"):
                found = node.pullback.pull(raw, g, tuple(saved), node.attrs)
            if any(not np.array_equal(f, e) for f, e in zip(found, expected, strict=True)):
                unread.discard(name)
    assert not unread


def changed(value):
    """Other values of the same kind; indices move within what is sure to be in range."""
    if isinstance(value, tuple):
        return tuple(map(changed, value))
    if value.dtype.kind == "b":
        return ~value
    if value.dtype.kind in "iu":
        return np.where(value == 0, 1, 0).astype(value.dtype)
    return 1.5 * value + 1  # which changes differences, too


@pytest.mark.parametrize(("op", "sample"), cases(has_gradient))
def test_only_wanted_rules_run(op, sample, monkeypatch):
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    called = []
    for name in op.inputs:
        rule = op.rule_at(op.inputs.index(name))
        if rule is not None:
            monkeypatch.setattr(rule, "fn", spy(rule.fn, name, called))
    outputs = kernel(op, operands, attrs)
    u = dict(enumerate(directions(outputs, seed=51)))
    grouped = (outputs,) if op.variadic_output else outputs
    for wanted in every_subset(differentiable(op, operands)):
        called.clear()
        pullback = Pullback(op, wanted, project=op.broadcasts is not None)
        saved = pullback.save(*op.group(operands), *grouped)
        results = pullback.pull(raw, u if op.multiple else u[0], saved, attrs)
        assert len(results) == len(wanted)
        # A variadic input has one rule for all of its operands.
        assert called == list(dict.fromkeys(op.input_at(k) for k in wanted))


def spy(rule, name, called):
    def noted(*args, **attrs):
        called.append(name)
        return rule(*args, **attrs)

    return noted


@pytest.mark.parametrize(("op", "sample"), cases(has_gradient))
def test_the_tape_asks_for_what_wants_a_gradient(op, sample):
    for wanted in every_subset(differentiable(op, sample.operands)):
        xs, _, node, _ = recorded(op, sample, wanted)
        assert node.pullback.wanted == wanted
        assert [any(e is xs[k] for k in wanted) for e in node.edges] == [True] * len(wanted)


@pytest.mark.parametrize(("op", "sample"), cases())
def test_nothing_is_recorded_where_no_gradient_is_wanted(op, sample):
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    assert all(t._node is None for t in call(op, tensors(operands), attrs))
    with no_grad():
        xs = tensors(operands, differentiable(op, operands))
        assert all(t.stop_gradient and t._node is None for t in call(op, xs, attrs))


def has_no_gradient(op, sample):
    return not has_gradient(op, sample)


@pytest.mark.parametrize(("op", "sample"), cases(has_no_gradient))
def test_no_rule_no_history(op, sample):
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    xs = tensors(operands, [k for k, a in enumerate(operands) if a.dtype.kind == "f"])
    assert all(t.stop_gradient and t._node is None for t in call(op, xs, attrs))
