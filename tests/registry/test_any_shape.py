"""Elementwise and reducing operations at shapes and axes that Hypothesis chooses.

The numbers come from the samples of each operation, which lie in its domain.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as npst

import autograd_engine as paddle
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY, Rule

from .harness import (
    differentiable,
    directions,
    eager_orders,
    gradient,
    inner,
    kernel,
    pushed,
    same_bits,
    static_orders,
)
from .references import REFERENCES, SEED
from .samples import SAMPLES

few = settings(max_examples=6, derandomize=True, deadline=None, database=None)
shapes = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)


def sample_of(name):
    """The plainest call that has numbers in it."""
    return next(s for s in SAMPLES[name] if all(a.size for a in s.operands))


def is_elementwise(op):
    """Each element depends on one of each operand, and nothing tells a shape."""
    return (
        op.inputs
        and not op.variadic
        and not op.random
        and not op.multiple
        and "axis" not in op.attrs
        and (op.broadcasts == 0 or (len(op.inputs) == 1 and op.tangent == "elementwise"))
    )


ELEMENTWISE = sorted(name for name, op in REGISTRY.items() if is_elementwise(op))
REDUCING = sorted(
    name
    for name, op in REGISTRY.items()
    if op.inputs == ("x",)
    and {"axis", "keepdims"} <= set(op.attrs)
    and isinstance(sample_of(name).attrs.get("axis"), tuple)
)


def resized(operands, shapes):
    return [np.resize(a, s).astype(a.dtype) for a, s in zip(operands, shapes, strict=True)]


def agree(op, operands, attrs):
    """Reference, inference, adjointness of both modes of differentiation, and programs."""
    attrs, given = op.complete_attrs(attrs), attrs
    results = kernel(op, operands, attrs)
    expected = REFERENCES[op.name](*operands, **given)
    (result,) = results
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-11)
    specs = op.infer_tuple([Spec(a.shape, a.dtype) for a in operands], attrs)
    assert [Spec(r.shape, r.dtype) for r in results] == list(specs)
    positions = differentiable(op, operands)
    if not positions or result.dtype.kind != "f":
        return
    cotangents = directions(results, seed=1)
    tangents = directions([operands[k] for k in positions], seed=2)
    pulled = gradient(op, operands, attrs, positions, cotangents)
    jv = [t.numpy() for t in pushed(op, operands, attrs, positions, tangents)]
    assert inner(jv, cotangents) == pytest.approx(inner(tangents, pulled), rel=1e-9, abs=1e-9)
    setting = (op, operands, attrs, positions, cotangents, tangents)
    values = eager_orders(*setting, create_graph=False)
    for group, wanted in zip(static_orders(*setting, unknown=False), values, strict=True):
        for value, other in zip(group, wanted, strict=True):
            same_bits(value, other)


@pytest.fixture(autouse=True)
def seeded():
    paddle.seed(SEED)


@pytest.mark.parametrize("name", ELEMENTWISE)
@few
@given(st.data())
def test_elementwise(name, data):
    op, sample = REGISTRY[name], sample_of(name)
    count = len(sample.operands)
    if count == 1:
        chosen = [data.draw(shapes)]
    else:
        broadcast = npst.mutually_broadcastable_shapes(
            num_shapes=count, max_dims=3, min_side=0, max_side=3
        )
        chosen = data.draw(broadcast).input_shapes
    agree(op, resized(sample.operands, chosen), sample.attrs)


@pytest.mark.parametrize("name", REDUCING)
@few
@given(st.data())
def test_reduction(name, data):
    op, sample = REGISTRY[name], sample_of(name)
    shape = data.draw(npst.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=3))
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    attrs = {**sample.attrs, "axis": tuple(sorted(axes)), "keepdims": data.draw(st.booleans())}
    # All different: ties have their own tests.
    grid = np.linspace(0.4, 2.6, int(np.prod(shape)))
    x = np.random.default_rng(3).permutation(grid).reshape(shape)
    x = x.astype(sample.operands[0].dtype)
    agree(op, [x], attrs)


def test_the_suite_walks_most_of_the_elementwise_table():
    ruled = {
        name
        for name, op in REGISTRY.items()
        if op.tangent == "elementwise" and any(isinstance(r, Rule) for r in op.rules.values())
    }
    assert len(ruled & set(ELEMENTWISE)) >= 50
    assert {"sum", "mean", "max", "min"} <= set(REDUCING)
