"""Rules on arrays have the same bits; on large ones they write over nothing but temporaries."""

import numpy as np
import pytest

from autograd_engine.ops.infer import same
from autograd_engine.ops.registry.inplace_rules import rule_on_arrays
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import REGISTRY, Rule, defop
from autograd_engine.ops.registry.pullback import LARGE

from .samples import SAMPLES

RULES = [
    (op, name, rule, large)
    for op in REGISTRY.values()
    for name, rule in op.rules.items()
    if isinstance(rule, Rule) and (large := rule_on_arrays(op, name, rule)[0]) is not None
]
IDS = [f"{op.name}-{name}" for op, name, _, _ in RULES]


def arrays(op, dtype, shape=LARGE + 7):
    """Operands of one large shape, with the values of a sample, a result, and the attributes."""
    sample = next(
        s for s in SAMPLES[op.name] if all(o.size and o.dtype.kind == "f" for o in s.operands)
    )
    operands = [np.resize(o.reshape(-1), shape).astype(dtype) for o in sample.operands]
    attrs = op.complete_attrs(sample.attrs)
    return operands, op.kernel(*operands, **attrs), attrs


def test_there_are_such_rules():
    assert {"tanh-x", "sigmoid-x", "divide-y", "sqrt-x"} <= set(IDS)


@pytest.mark.parametrize("dtype", ["float32", "float64"])  # in which rules are run
@pytest.mark.parametrize(("op", "name", "rule", "large"), RULES, ids=IDS)
def test_the_bits_are_those_of_the_rule(op, name, rule, large, dtype):
    operands, out, attrs = arrays(op, dtype)
    needed = {k: attrs[k] for k in rule.attrs}
    values = dict(zip((*op.inputs, *op.outputs), (*operands, out), strict=True))
    g = np.random.default_rng(0).standard_normal(LARGE + 7).astype(dtype)
    saved = [values[s] for s in rule.saves]
    before = [a.tobytes() for a in (g, *saved)]
    expected = rule.fn(raw, g, *saved, **needed)
    found = large(g, *saved, **needed)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
    assert [a.tobytes() for a in (g, *saved)] == before
    assert not any(np.shares_memory(found, a) for a in (g, *saved))
    # And the tape runs it.
    position = op.inputs.index(name)
    pullback = op.pullback(1 << position)
    (pulled,) = pullback.pull(raw, g, pullback.save(*operands, out), attrs)
    assert pulled.tobytes() == expected.tobytes()


def test_inputs_may_be_called_what_temporaries_are():
    op = defop(
        "probe", np.tanh, inputs="t0", infer=same, dtypes="floating", tangent="elementwise"
    ).vjp(t0=lambda xp, g, t0: g * (1.0 - t0 * 2.0))
    try:
        large, _ = rule_on_arrays(op, "t0", op.rules["t0"])
    finally:
        del REGISTRY["probe"]
    x = np.random.default_rng(0).standard_normal(LARGE)
    g, before = x + 1, x.copy()
    assert large(g, x).tobytes() == (g * (1.0 - before * 2.0)).tobytes()
    assert x.tobytes() == before.tobytes()


VIEWS = [
    "spread",
    "spread along rows",
    "strided",
    "transposed",
    "all but the cotangent transposed",
    "all transposed",
    "another dtype",
    "another shape",
]


def seen_as(view, g, saved):
    """The cotangent and what was saved, as they may come."""
    saved = list(saved)
    if view == "spread":
        g = np.broadcast_to(np.float32(3.0), g.shape)
    elif view == "spread along rows":
        g = np.broadcast_to(g[:, :1], g.shape)
    elif view == "strided":
        saved[0] = np.repeat(saved[0], 2, axis=1)[:, ::2]
    elif view == "transposed":
        g = g.T
    elif view == "all but the cotangent transposed":
        saved = [np.asfortranarray(a) for a in saved]
    elif view == "all transposed":
        g, *saved = (np.asfortranarray(a) for a in (g, *saved))
    elif view == "another dtype":
        g = g.astype("complex128" if g.dtype.kind == "c" else "float64")
    else:
        saved[0] = saved[0][:1]
    return g, saved


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("op", "name", "rule", "large"), RULES, ids=IDS)
def test_arrays_that_are_not_alike(op, name, rule, large, view):
    """A spread cotangent, as that of a sum is; and what broadcasting or casts leave unequal."""
    operands, out, attrs = arrays(op, "float32", (160, 160))
    needed = {k: attrs[k] for k in rule.attrs}
    values = dict(zip((*op.inputs, *op.outputs), (*operands, out), strict=True))
    g = np.random.default_rng(0).standard_normal((160, 160)).astype("float32")
    g, saved = seen_as(view, g, [values[s] for s in rule.saves])
    found, expected = large(g, *saved, **needed), rule.fn(raw, g, *saved, **needed)
    assert found.tobytes() == expected.tobytes()
    # The order in memory decides the bits of a sum that follows.
    assert found.strides == expected.strides


def test_small_arrays():
    """Numbers of a rule as arrays, whatever dtypes, layouts and values it is given."""
    rules = [
        (op, rule, small)
        for op in REGISTRY.values()
        for name, rule in op.rules.items()
        if isinstance(rule, Rule) and (small := rule_on_arrays(op, name, rule)[1]) is not None
    ]
    assert {"tanh", "sigmoid", "relu", "maximum"} <= {op.name for op, _, _ in rules}
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5]
    for op, rule, small in rules:
        for dtype in ("float16", "float32", "float64", "complex64"):
            for shape in ((), (8,), (5, 5)):
                kinds = special if dtype != "complex64" else [1.0, 2.0 + 1.0j]
                values = [
                    np.resize(rng.permutation([*kinds, *rng.standard_normal(8)]), shape)
                    for _ in range(1 + len(rule.saves))
                ]
                first, *others = (np.asarray(v).astype(dtype) for v in values)
                for view in ("", *(VIEWS if shape == (5, 5) else ())):
                    g, saved = seen_as(view, first, others) if view else (first, others)
                    with np.errstate(all="ignore"):
                        try:
                            expected = rule.fn(raw, g, *saved)
                        except TypeError:  # no complex operands
                            continue
                        found = small(raw, g, *saved)
                    assert found.dtype == expected.dtype, (op.name, dtype, view)
                    assert found.tobytes() == expected.tobytes(), (op.name, dtype, view)
