"""Shapes and axes that nobody thought of: Hypothesis chooses them.

The operations here are linear in the operands under test, so J is the operation itself and
<op(x), u> = <x, J'u> holds exactly, with no differences taken.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as npst

from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY

from .harness import (
    close,
    directions,
    eager_orders,
    gradient,
    inner,
    kernel,
    same_bits,
    static_orders,
)

quick = settings(max_examples=25, derandomize=True, deadline=None, database=None)
shapes = npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
proper_shapes = npst.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)
full_shapes = npst.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3)


def values(*shape, seed=0):
    return np.asarray(np.random.default_rng(seed).uniform(-2.0, 2.0, shape))


def check(name, operands, attrs, expected, *, linear_in=None, unknown=True):
    """Value, inference, adjoint in each operand alone, and the bits of programs."""
    op = REGISTRY[name]
    attrs = op.complete_attrs(attrs)
    linear_in = range(len(operands)) if linear_in is None else linear_in
    results = kernel(op, operands, attrs)
    assert len(results) == len(expected)
    for result, value in zip(results, expected, strict=True):
        close(result, np.asarray(value), 1e-14)
    specs = op.infer_tuple([Spec(a.shape, a.dtype) for a in operands], attrs)
    assert [s.shape for s in specs] == [r.shape for r in results]
    cotangents = directions(results, seed=80)
    for k in linear_in:
        (g,) = gradient(op, operands, attrs, [k], cotangents)
        assert g.shape == operands[k].shape
        # Linear in operand k with the others fixed: what remains at 0 is no part of J.
        others = [np.zeros_like(a) if i == k else a for i, a in enumerate(operands)]
        constant = kernel(op, others, attrs)
        jx = [r - c for r, c in zip(results, constant, strict=True)]
        assert inner(jx, cotangents) == pytest.approx(inner([operands[k]], [g]), rel=1e-9, abs=1e-9)
    same_in_programs(op, operands, attrs, tuple(linear_in), cotangents, unknown)


def same_in_programs(op, operands, attrs, positions, cotangents, unknown):
    tangents = directions([operands[k] for k in positions], seed=81)
    setting = (op, operands, attrs, positions, cotangents, tangents)
    expected = eager_orders(*setting, create_graph=False)
    for flag in (False, True) if unknown else (False,):
        for group, wanted in zip(static_orders(*setting, unknown=flag), expected, strict=True):
            for result, value in zip(group, wanted, strict=True):
                same_bits(result, value)


@pytest.mark.parametrize(
    ("name", "numpy_name"), [("add", "add"), ("subtract", "subtract"), ("multiply", "multiply")]
)
@quick
@given(npst.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3))
def test_broadcasting(name, numpy_name, pair):
    x, y = (values(*s, seed=k) for k, s in enumerate(pair.input_shapes))
    check(name, [x, y], {}, [getattr(np, numpy_name)(x, y)])


@quick
@given(npst.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3), st.randoms())
def test_where(triple, random):
    a, b, c = triple.input_shapes
    condition = np.asarray(values(*a, seed=random.randrange(9)) > 0)
    x, y = values(*b, seed=1), values(*c, seed=2)
    check("where", [condition, x, y], {}, [np.where(condition, x, y)], linear_in=(1, 2))


@st.composite
def reduced(draw, source=shapes):
    shape = draw(source)
    ndim = len(shape)
    axes = draw(st.sets(st.integers(0, ndim - 1)) if ndim else st.just(set()))
    return shape, tuple(sorted(axes)), draw(st.booleans())


@quick
@given(reduced())
def test_sum(call):
    shape, axis, keepdims = call
    x = values(*shape)
    attrs = {"axis": axis, "keepdims": keepdims}
    check("sum", [x], attrs, [np.sum(x, **attrs)])


@quick
@given(reduced(full_shapes))
def test_mean(call):
    shape, axis, keepdims = call
    x = values(*shape)
    attrs = {"axis": axis, "keepdims": keepdims}
    check("mean", [x], attrs, [np.mean(x, **attrs)])


@pytest.mark.parametrize("name", ["max", "min"])
@quick
@given(reduced(full_shapes))
def test_extrema(name, call):
    """With no ties the cotangent arrives at the extremum, and nothing anywhere else."""
    shape, axis, keepdims = call
    x = np.random.default_rng(1).permutation(float(np.prod(shape)) - np.arange(np.prod(shape)))
    x = x.reshape(shape)
    op, attrs = REGISTRY[name], {"axis": axis, "keepdims": keepdims}
    expected = getattr(np, name)(x, **attrs)
    close(kernel(op, [x], attrs)[0], np.asarray(expected), 0.0)
    cotangents = directions([np.asarray(expected)], seed=82)
    (g,) = gradient(op, [x], attrs, [0], cotangents)
    spread = expected if keepdims else np.expand_dims(expected, axis)
    u = cotangents[0] if keepdims else np.expand_dims(cotangents[0], axis)
    np.testing.assert_array_equal(g, np.where(x == spread, u, 0.0))
    same_in_programs(op, [x], attrs, (0,), cotangents, unknown=True)


@st.composite
def reshapes(draw):
    """A shape, and another of as many elements: with a -1, or a 0 that keeps a size."""
    shape = draw(full_shapes)
    rest, new = int(np.prod(shape)), []
    while rest > 1 and len(new) < 3:
        size = draw(st.sampled_from([d for d in range(1, rest + 1) if rest % d == 0]))
        new.append(size)
        rest //= size
    new.append(rest)
    target = tuple(new)
    if draw(st.booleans()):
        hole = draw(st.integers(0, len(new) - 1))
        new[hole] = -1
    elif new[0] == shape[0] and draw(st.booleans()):
        new[0] = 0
    return shape, tuple(new), target


@quick
@given(reshapes())
def test_reshape(call):
    shape, new, target = call
    x = values(*shape)
    check("reshape", [x], {"shape": new}, [x.reshape(target)])
    check("reshape_like", [x, np.zeros(target)], {}, [x.reshape(target)], linear_in=(0,))


@quick
@given(shapes.flatmap(lambda s: st.tuples(st.just(s), st.permutations(range(len(s))))))
def test_transpose(call):
    shape, perm = call
    x = values(*shape)
    check("transpose", [x], {"perm": tuple(perm)}, [np.transpose(x, perm)])


@quick
@given(npst.mutually_broadcastable_shapes(num_shapes=1, base_shape=(2, 3, 2), max_dims=3))
def test_expand(call):
    shape, target = call.input_shapes[0], call.result_shape
    x = values(*shape)
    check("expand", [x], {"shape": target}, [np.broadcast_to(x, target)])
    check("expand_like", [x, np.zeros(target)], {}, [np.broadcast_to(x, target)], linear_in=(0,))
    u = values(*target, seed=3)
    lead = len(target) - len(shape)
    total = u.sum(axis=tuple(range(lead)))
    ones = tuple(i for i, d in enumerate(shape) if d == 1)
    total = total.sum(axis=ones, keepdims=True)
    check("sum_like", [u, np.zeros(shape)], {}, [total], linear_in=(0,))


@st.composite
def joined(draw):
    """Arrays that differ along one axis at most, and that axis."""
    shape = list(draw(proper_shapes))
    axis = draw(st.integers(0, len(shape) - 1))
    sizes = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    return [values(*shape[:axis], n, *shape[axis + 1 :], seed=n) for n in sizes], axis


@quick
@given(joined())
def test_concat_and_split(call):
    xs, axis = call
    whole = np.concatenate(xs, axis=axis)
    check("concat", xs, {"axis": axis}, [whole])
    sizes = tuple(x.shape[axis] for x in xs)
    check("split", [whole], {"sizes": sizes, "axis": axis}, xs)
    likes = [np.zeros(x.shape) for x in xs]
    check("split_like", [whole, *likes], {"axis": axis}, xs, linear_in=(0,))


@quick
@given(shapes, st.integers(1, 3), st.data())
def test_stack_and_unstack(shape, count, data):
    axis = data.draw(st.integers(0, len(shape)))
    xs = [values(*shape, seed=k) for k in range(count)]
    whole = np.stack(xs, axis=axis)
    check("stack", xs, {"axis": axis}, [whole])
    check("unstack", [whole], {"axis": axis}, xs, unknown=axis > 0)


@st.composite
def indexed(draw):
    shape = draw(full_shapes)
    key = draw(npst.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True, max_dims=5))
    return shape, key if isinstance(key, tuple) else (key,)


@settings(quick, max_examples=60)
@given(indexed())
def test_getitem(call):
    shape, key = call
    x = values(*shape)
    piece = np.asarray(x[key])
    check("getitem", [x], {"key": key}, [piece])
    expected = np.zeros(shape)
    expected[key] = piece
    like = np.zeros(shape)
    check("unslice_like", [piece, like], {"key": key}, [expected], linear_in=(0,))


@st.composite
def gathered(draw):
    shape = draw(full_shapes)
    axis = draw(st.integers(0, len(shape) - 1))
    size = draw(npst.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    index = draw(npst.arrays(np.int64, size, elements=st.integers(0, shape[axis] - 1)))
    return values(*shape), np.asarray(index), axis


@quick
@given(gathered())
def test_gather(call):
    x, index, axis = call
    out = np.take(x, index, axis=axis)
    check("gather", [x, index], {"axis": axis}, [out], linear_in=(0,))


@quick
@given(full_shapes, st.data())
def test_take_along_axis(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    count = data.draw(st.integers(0, 4))
    size = (*shape[:axis], count, *shape[axis + 1 :])
    index = data.draw(npst.arrays(np.int64, size, elements=st.integers(0, shape[axis] - 1)))
    x = values(*shape)
    out = np.take_along_axis(x, index, axis)
    check("take_along_axis", [x, index], {"axis": axis}, [out], linear_in=(0,))


@st.composite
def products(draw):
    """Shapes of a matrix product: batches that broadcast, transposed or not."""
    batches = draw(npst.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=2))
    n, k, m = (draw(st.integers(0, 3)) for _ in range(3))
    tx, ty = draw(st.booleans()), draw(st.booleans())
    x, y = batches.input_shapes
    return (*x, k, n) if tx else (*x, n, k), (*y, m, k) if ty else (*y, k, m), tx, ty


@settings(quick, max_examples=40)
@given(products())
def test_matmul(call):
    x_shape, y_shape, tx, ty = call
    x, y = values(*x_shape), values(*y_shape, seed=1)
    expected = np.matmul(np.swapaxes(x, -1, -2) if tx else x, np.swapaxes(y, -1, -2) if ty else y)
    check("matmul", [x, y], {"transpose_x": tx, "transpose_y": ty}, [expected])


@quick
@given(proper_shapes.filter(lambda s: len(s) > 1), st.integers(-4, 4))
def test_triangles(shape, diagonal):
    x = values(*shape)
    for name, function in (("tril", np.tril), ("triu", np.triu)):
        check(name, [x], {"diagonal": diagonal}, [function(x, diagonal)])
