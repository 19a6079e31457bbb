"""Every row of the table says what mixed precision computes it in, and is computed in that."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.dtypes import FLOAT16, FLOAT32, INEXACT
from autograd_engine.eager.autocast import Autocast
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.over import over
from tests.registry.harness import call, tensors
from tests.registry.samples import cases, family

LEVELS = ["OD", "O1", "O2"]


_BLACK = """tan acos asin sinh cosh atanh erfinv exp expm1 log log10 log2 pow square reduce_sum mean
reduce_mean reduce_prod cumprod cumsum dist pnorm frobenius_norm renorm group_norm layer_norm
softmax softplus log_softmax softmax_with_cross_entropy cross_entropy cross_entropy2 nll_loss
huber_loss sigmoid_cross_entropy_with_logits log_loss"""


def promised(op, operands, level):
    """The dtype that floating operands meet in, None where they stay as they are."""
    dtypes = {a.dtype for k, a in enumerate(operands) if counts(op, k, a)}
    if op.amp is None or not dtypes:
        return None
    if not dtypes <= {FLOAT16, FLOAT32}:
        return None
    if op.amp == "low":
        return FLOAT16
    if level == "OD" or op.amp == "always high" or (op.amp == "high" and level == "O1"):
        return FLOAT32
    return max(dtypes, key=lambda d: d.itemsize)


def counts(op, k, array):
    return array.dtype in INEXACT and op.input_at(k) not in op.untyped and op.reads_value(k)


@over("dtypes", ["float32", "float16", "float16 float32", "float64"])
@over("level", LEVELS)
@over(("op", "sample"), cases(lambda op, s: s.operands and not op.random), by=family)
def test_rows_are_computed_in_the_dtype_that_they_promise(op, sample, level, dtypes):
    dtypes = dtypes.split()
    operands = [sample.cast(dtypes[k % len(dtypes)])[k] for k in range(len(sample.operands))]
    wanted = promised(op, operands, level)
    attrs = op.complete_attrs(sample.attrs)
    cast = [
        a.astype(wanted) if wanted is not None and counts(op, k, a) else a
        for k, a in enumerate(operands)
    ]
    with np.errstate(all="ignore"):
        try:
            expected = call(op, tensors(cast), attrs)
        except Exception as error:
            with paddle.amp.auto_cast(level=level), pytest.raises(type(error)):
                call(op, tensors(operands), attrs)
            return
        with paddle.amp.auto_cast(level=level):
            found = call(op, tensors(operands), attrs)
    for a, b in zip(found, expected, strict=True):
        assert a.numpy().dtype == b.numpy().dtype
        np.testing.assert_array_equal(a.numpy(), b.numpy())


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
