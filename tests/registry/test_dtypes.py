"""A gradient has the dtype of what it belongs to, and float32 stays float32."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.testing import op_checks as table
from tests.over import over

from .harness import (
    call,
    differentiable,
    directions,
    gradient,
    has_gradient,
    tensors,
)
from .samples import SAMPLES, cases, family

DTYPES = ["float16", "float32", "float64"]


@over("dtype", DTYPES)
@over(("op", "sample"), cases(has_gradient), by=family)
def test_gradients_keep_the_dtype(op, sample, dtype):
    operands, attrs = sample.cast(dtype), op.complete_attrs(sample.attrs)
    table.gradients_keep_dtypes(op, operands, attrs)


# Outputs that are float32 for float16 operands: variances and counts leave the range of float16.
MOMENTS = {
    ("label_entropy", "count"),
    *((f"standardize{form}", m) for form in ("", "_affine") for m in ("mean", "variance")),
}

# Operations that say themselves which floating dtype they give.
CHOSEN = frozenset(n for n, op in REGISTRY.items() if "dtype" in op.attrs)


@over("dtype", DTYPES)
@over(
    ("op", "sample"),
    cases(lambda op, s: op.name not in CHOSEN and s.operands and s.smooth),
    by=family,
)
def test_values_keep_the_dtype(op, sample, dtype):
    operands = sample.cast(dtype)
    # A condition or an index has no say; `like` alone has one in cast_like.
    results = call(op, tensors(operands), op.complete_attrs(sample.attrs))
    for k, result in enumerate(results):
        data = result.numpy()
        if data.dtype.kind == "f":
            wide = (op.name, op.output_at(k)) in MOMENTS and dtype == "float16"
            assert data.dtype == ("float32" if wide else dtype)


# Operations whose results are complex.
COMPLEX = {"eig", "fourier", "to_complex"}
FLOATING = sorted(n for n, op in REGISTRY.items() if op.dtypes == "floating" and n not in COMPLEX)


@over("name", FLOATING, by=family)
def test_integers_become_the_default_float(name):
    op, sample = REGISTRY[name], SAMPLES[name][0]
    operands = [np.ones(a.shape, np.int64) for a in sample.operands]
    for default in ("float32", "float64"):
        paddle.set_default_dtype(default)
        with np.errstate(divide="ignore"):  # 1 is a pole of atanh and logit
            results = call(op, tensors(operands), op.complete_attrs(sample.attrs))
        dtypes = {r.numpy().dtype for r in results}
        assert {d.name for d in dtypes if d.kind not in "iu"} == {default}  # pivots are integers


COMMON = sorted(
    n
    for n, op in REGISTRY.items()
    if op.dtypes == "common" and has_gradient(op, SAMPLES[n][0]) and len(SAMPLES[n][0].operands) > 1
)


@over("name", COMMON, by=family)
def test_mixed_floats_meet_and_gradients_go_back(name):
    """float32 beside float64 computes in float64; each gradient has the dtype of its operand."""
    op = REGISTRY[name]
    sample = next(s for s in SAMPLES[name] if len(s.operands) > 1)
    operands = list(sample.cast(np.float64))
    positions = differentiable(op, operands)
    operands[positions[0]] = operands[positions[0]].astype(np.float32)
    attrs = op.complete_attrs(sample.attrs)
    values = [value.numpy() for value in call(op, tensors(operands), attrs)]
    assert {value.dtype for value in values} == {np.dtype(np.float64)}
    found = gradient(op, operands, attrs, positions, directions(values, seed=62))
    assert [g.dtype for g in found] == [operands[k].dtype for k in positions]


@over("name", COMMON, by=family)
def test_an_integer_beside_a_float_takes_its_dtype(name):
    op = REGISTRY[name]
    sample = next(s for s in SAMPLES[name] if len(s.operands) > 1)
    operands = list(sample.cast(np.float32))
    first = differentiable(op, operands)[0]
    operands[first] = np.ones(operands[first].shape, np.int64)
    values = call(op, tensors(operands), op.complete_attrs(sample.attrs))
    assert {value.numpy().dtype for value in values} == {np.dtype(np.float32)}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "pow", "maximum"])
def test_python_numbers_are_weak(name, dtype):
    x = paddle.to_tensor([1.5, 2.5], dtype=dtype, stop_gradient=False)
    for y in (getattr(ops, name)(x, 2.0), getattr(ops, name)(2, x)):
        (g,) = paddle.grad(y.sum(), x)
        assert (y.numpy().dtype, g.numpy().dtype) == (np.dtype(dtype), np.dtype(dtype))


def test_float16_sums_accumulate_in_float32():
    """2048 + 1 is 2048 in float16: a running sum of ones would stop there."""
    x = paddle.to_tensor(np.ones(5000, np.float16), stop_gradient=False)
    assert ops.sum(x, axis=(0,)).item() == 5000.0
    assert ops.mean(x, axis=(0,)).item() == 1.0
    y = paddle.to_tensor(np.ones((1, 1), np.float16), stop_gradient=False)
    (g,) = paddle.grad(ops.add(ops.reshape(x, shape=(5000, 1)), y), y)
    assert g.item() == 5000.0
    ones = paddle.to_tensor(np.ones((1, 5000), np.float16))
    assert ops.matmul(ones, ones, transpose_y=True).item() == 5000.0
