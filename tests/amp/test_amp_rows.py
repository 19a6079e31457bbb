"""Every row of the table says what mixed precision computes it in, and is computed in that."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.dtypes import FLOAT16, FLOAT32, INEXACT, bfloat16
from autograd_engine.eager.autocast import Autocast
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.over import over
from tests.registry.harness import call, differentiable, tensors
from tests.registry.samples import cases, family

pytest.importorskip("ml_dtypes")

LEVELS = ["OD", "O1", "O2"]


_BLACK = """tan acos asin sinh cosh atanh erfinv exp expm1 log log10 log2 pow square reduce_sum mean
reduce_mean reduce_prod cumprod cumsum dist pnorm frobenius_norm renorm group_norm layer_norm
softmax softplus log_softmax softmax_with_cross_entropy cross_entropy cross_entropy2 nll_loss
huber_loss sigmoid_cross_entropy_with_logits log_loss"""


def promised(op, operands, level, low):
    """The dtype that floating operands meet in, None where they stay as they are."""
    dtypes = {a.dtype for k, a in enumerate(operands) if counts(op, k, a)}
    if op.amp is None or not dtypes:
        return None
    if not dtypes <= {FLOAT16, bfloat16(), FLOAT32}:
        return None
    if op.amp == "low":
        return np.dtype(low)
    if level == "OD" or op.amp == "always high" or (op.amp == "high" and level == "O1"):
        return FLOAT32
    return FLOAT32 if len(dtypes) > 1 else dtypes.pop()


def counts(op, k, array):
    return array.dtype in INEXACT and op.input_at(k) not in op.untyped and op.reads_value(k)


GIVEN = [
    ("float16", "float32"),
    ("float16", "float16"),
    ("float16", "float16 float32"),
    ("float16", "float64"),
    ("bfloat16", "float32"),
    ("bfloat16", "bfloat16"),
    ("bfloat16", "bfloat16 float32"),
    ("bfloat16", "float16 bfloat16"),
]


@over(("low", "dtypes"), GIVEN)
@over("level", LEVELS)
@over(("op", "sample"), cases(lambda op, s: s.operands and not op.random), by=family)
def test_rows_are_computed_in_the_dtype_that_they_promise(op, sample, level, low, dtypes):
    """And gradients come back as through casts that somebody has written."""
    names = dtypes.split()
    operands = [sample.cast(names[k % len(names)])[k] for k in range(len(sample.operands))]
    wanted = promised(op, operands, level, low)
    attrs = op.complete_attrs(sample.attrs)
    # A parameter of the other 16 bits is refused: see `test_auto_cast`.
    leaves = () if "float16 bfloat16" in dtypes else differentiable(op, operands)
    given, plain = tensors(operands, leaves), tensors(operands, leaves)
    cast = [
        paddle.cast(t, wanted) if wanted is not None and counts(op, k, a) else t
        for k, (t, a) in enumerate(zip(plain, operands, strict=True))
    ]
    with np.errstate(all="ignore"):
        try:
            expected = call(op, cast, attrs)
        except Exception as error:
            with paddle.amp.auto_cast(level=level, dtype=low), pytest.raises(type(error)):
                call(op, given, attrs)
            return
        with paddle.amp.auto_cast(level=level, dtype=low):
            found = call(op, given, attrs)
        for a, b in zip(found, expected, strict=True):
            assert a.numpy().dtype == b.numpy().dtype
            np.testing.assert_array_equal(a.numpy(), b.numpy())
        for ours, theirs in zip(gradients(found, given), gradients(expected, plain), strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None and theirs is not None:
                assert ours.numpy().dtype == theirs.numpy().dtype
                np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def gradients(outputs, inputs):
    outputs = [o for o in outputs if not o.stop_gradient]
    inputs = [t for t in inputs if not t.stop_gradient]
    ones = [paddle.ones_like(o) for o in outputs]
    return paddle.grad(outputs, inputs, ones, allow_unused=True) if outputs and inputs else []


def test_what_moves_elements_is_not_cast_and_products_are():
    assert {"low", "widest", "high", "always high", None} == {op.amp for op in REGISTRY.values()}
    for op in REGISTRY.values():
        if op.elements is not None or op.casts or op.write is not None:
            assert op.amp is None, op.name
    for name in ("matmul", "conv", "attention", "lstm_scan"):
        assert REGISTRY[name].amp == "low"


def test_the_lists_are_those_of_the_reference():
    white = {"conv2d", "einsum", "matmul", "matmul_v2", "linear_v2", "mul", "flash_attn"}
    black = set(_BLACK.split())

    always = {"linear_interp_v2", "bilinear_interp_v2", "bicubic_interp_v2", "scatter"}
    by_name = {}
    for op in REGISTRY.values():
        for name in (op.name, *op.types):
            by_name.setdefault(name, set()).add(op.amp)
    assert {n: by_name[n] for n in white} == {n: {"low"} for n in white}
    assert {n: by_name[n] for n in black} == {n: {"high"} for n in black}
    assert {n: by_name[n] for n in always} == {n: {"always high"} for n in always}


def test_the_decision_without_promotion_takes_the_low_dtype():
    low = Autocast(FLOAT16, "O2", promote=False)
    add, solve, reshape = (REGISTRY[n] for n in ("add", "solve", "reshape"))
    assert low.wanted(add, [FLOAT32, FLOAT32]) == FLOAT16
    assert low.wanted(solve, [FLOAT16, FLOAT16]) == FLOAT32
    assert low.wanted(reshape, [FLOAT32]) is None
    assert low.wanted(add, [FLOAT32, np.dtype("float64")]) is None
