"""What a call keeps is what its rules declare, and only the rules that are wanted run."""

import numpy as np
import pytest

from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.testing import op_checks as table
from autograd_engine.testing.modes import kernel
from tests.over import over

from .harness import differentiable, has_gradient
from .samples import SAMPLES, cases, family


def call_of(op, sample):
    return op, sample.cast(np.float32), op.complete_attrs(sample.attrs)


@over(("op", "sample"), cases(has_gradient), by=family)
def test_saved_is_what_is_declared(op, sample):
    """The tape asks for that and for no more, and its edges lead to the inputs that want it."""
    table.saves_what_it_declares(*call_of(op, sample))


@over(("op", "sample"), cases(has_gradient), by=family)
def test_what_is_not_declared_is_not_read(op, sample):
    table.reads_what_it_saves(*call_of(op, sample))


def rules():
    return [
        pytest.param(op, k, id=f"{op.name}-{name}")
        for op in REGISTRY.values()
        for k, name in enumerate(op.inputs)
        if op.rule_at(k) is not None
    ]


@over(("op", "position"), rules(), by=family)
def test_every_declared_value_is_read(op, position):
    """Without one of its saved arrays a rule gives something else, on some sample at least."""
    if op.name == "unless_hollow":
        pytest.skip("asks which arrays are hollow, and copies are not: see test_hollow")
    calls = [call_of(op, s)[1:] for s in SAMPLES[op.name] if has_gradient(op, s)]
    every = [call_of(op, s)[1:] for s in SAMPLES[op.name]]
    arrays = [a for xs, attrs in every for a in (*xs, *kernel(op, xs, attrs))]
    if "c" in {np.asarray(a).dtype.kind for a in arrays}:
        return  # rules of complex values may read what those of real ones need not
    assert any(position in differentiable(op, operands) for operands, _ in calls)
    assert not table.unread(op, calls, position)


@over(("op", "sample"), cases(has_gradient), by=family)
def test_only_wanted_rules_run(op, sample):
    table.wanted_rules_only(*call_of(op, sample))


@over(("op", "sample"), cases(), by=family)
def test_nothing_is_recorded_where_no_gradient_is_wanted(op, sample):
    table.nothing_recorded(*call_of(op, sample))


def has_no_gradient(op, sample):
    return not has_gradient(op, sample)


@over(("op", "sample"), cases(has_no_gradient), by=family)
def test_no_rule_no_history(op, sample):
    table.no_history(*call_of(op, sample))
