"""The table refuses declarations that contradict themselves, when they are made."""

import numpy as np
import pytest

from autograd_engine.errors import RegistryError
from autograd_engine.ops.infer import same
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import (
    NONDIFF,
    REGISTRY,
    OpDef,
    check_registry,
    defop,
)
from autograd_engine.ops.registry.pullback import Pullback


@pytest.fixture
def table(monkeypatch):
    """The table, which is as it was afterwards."""
    before = dict(REGISTRY)
    yield REGISTRY
    REGISTRY.clear()
    REGISTRY.update(before)


def halve(x, *, times=1, base):
    return x / base**times


def trial(**options):
    return OpDef("trial", halve, inputs="x", infer=same, **options)


def test_attributes_come_from_the_kernel():
    op = trial()
    assert op.complete_attrs({"base": 2.0}) == {"times": 1, "base": 2.0}
    with pytest.raises(TypeError, match="trial needs the attribute 'base'"):
        op.complete_attrs({})
    with pytest.raises(TypeError, match=r"no attribute 'bass'; it has \['times', 'base'\]"):
        op.complete_attrs({"bass": 2.0})


def test_a_name_is_taken_once(table):
    with pytest.raises(RegistryError, match="'tanh' exists already"):
        defop("tanh", np.tanh, inputs="x", infer=same)
    assert table["tanh"].rules


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        (lambda g, xp: g, "the first parameters must be xp, g"),
        (lambda xp, out: out, "the first parameters must be xp, g"),
        (lambda xp: xp, "the first parameters must be xp, g"),
        (lambda xp, g, y: g * y, "'y' is no input or output of trial"),
        (lambda xp, g, y_like: g, "'y_like' is no input or output of trial"),
        (lambda xp, g, x_likely: g, "'x_likely' is no input or output"),
        (lambda xp, g, *, axis: g, "'axis' is no attribute of trial"),
    ],
)
def test_rules_name_what_there_is(rule, hint):
    with pytest.raises(RegistryError, match=f"rule of trial for x: {hint}"):
        trial().vjp(x=rule)


def test_a_rule_declares_what_it_reads():
    op = trial().vjp(x=lambda xp, g, x, out_like, *, base: g / base)
    rule = op.rules["x"]
    assert (rule.saves, rule.attrs) == (("x", "out_like"), ("base",))
    op = trial().vjp(x=lambda xp, g, **attrs: g)
    assert op.rules["x"].attrs == ("times", "base")


def test_a_rule_is_for_an_input():
    with pytest.raises(RegistryError, match=r"trial has no input 'y'; it has \('x',\)"):
        trial().vjp(y=lambda xp, g: g)
    with pytest.raises(RegistryError, match="has no input 'out'"):
        trial().vjp(out=NONDIFF)


def test_one_rule_may_serve_several_inputs():
    """It runs once for those that are wanted, and each takes its part of the result."""
    runs = []

    def rule(xp, g, x, y):
        runs.append((x, y))
        return g * y, g * x

    op = OpDef("trial", lambda x, y: x * y, inputs="x y", infer=same)
    op.vjp_together("x y", rule)
    x, y, g = np.array([2.0]), np.array([3.0]), np.array([1.0])
    for wanted, expected in (((0, 1), [3.0, 2.0]), ((1,), [2.0]), ((0,), [3.0])):
        pullback = Pullback(op, wanted, project=0)
        found = pullback.pull(raw, g, pullback.save(x, y, x * y), {})
        assert [v.item() for v in found] == expected
    assert len(runs) == 3
    with pytest.raises(RegistryError, match="has a rule for 'y' already"):
        op.vjp(y=NONDIFF)


def test_an_input_has_one_rule():
    op = trial().vjp(x=lambda xp, g: g)
    with pytest.raises(RegistryError, match="trial has a rule for 'x' already"):
        op.vjp(x=NONDIFF)


def test_an_input_without_a_rule_is_noticed(table):
    op = defop("trial", halve, inputs="x y", infer=same)
    op.vjp(x=lambda xp, g: g)
    with pytest.raises(RegistryError, match=r"trial: input 'y' has no rule.*\.vjp\(y=NONDIFF\)"):
        check_registry()
    op.vjp(y=NONDIFF)
    check_registry()


def test_several_outputs_have_a_cotangent_each():
    op = trial(outputs="out index", nondiff_outputs="index")
    assert op.cotangent_names() == ("g_out",)
    with pytest.raises(RegistryError, match="the first parameters must be xp, g_out"):
        op.vjp(x=lambda xp, g: g)
    op.vjp(x=lambda xp, g_out, index: g_out)
    both = trial(outputs="low high")
    with pytest.raises(RegistryError, match="must be xp, g_low, g_high"):
        both.vjp(x=lambda xp, g_high, g_low: g_low)


def test_shapes_of_declarations():
    with pytest.raises(RegistryError, match="only the last input can be variadic"):
        OpDef("trial", halve, inputs="*xs y", infer=same)
    with pytest.raises(RegistryError, match="a variadic output must be the only one"):
        trial(outputs="out *rest")
    with pytest.raises(RegistryError, match=r"nondiff_outputs names no output: \['indices'\]"):
        trial(nondiff_outputs="indices")


def test_nondiff_covers_every_input():
    op = OpDef("trial", halve, inputs="x y", infer=same).nondiff()
    assert [op.rule_at(0), op.rule_at(1)] == [None, None]
    assert repr(op.rules["y"]) == "NONDIFF"


def test_an_operation_exists_in_every_mode(table):
    """The namespaces find an operation as soon as it is declared, and nothing that is not."""
    from autograd_engine.ops.registry.namespace import Namespace, ops, raw

    for known in (ops, raw):
        fresh = Namespace()
        fresh.bind = known.bind
        assert all(callable(getattr(fresh, name)) for name in table)
        with pytest.raises(AttributeError, match="no operation named 'trial'"):
            _ = fresh.trial
        defop("trial", halve, inputs="x", infer=same).nondiff()
        assert callable(fresh.trial)
        del table["trial"]
