"""Floats of 16 bits: every row in float16 and bfloat16, against float64 and between the modes."""

from __future__ import annotations

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.dtypes import FLOATS, bfloat16, finfo
from autograd_engine.core.spec import Spec
from autograd_engine.testing import op_checks as table
from tests.over import over

from .harness import gradient, has_gradient, kernel
from .references import REFERENCES, SEED
from .samples import cases, family

pytest.importorskip("ml_dtypes")
bfloat16()  # from here on NumPy knows the name

DTYPES = ["float16", "bfloat16"]
# What is rounded once is wrong by half an epsilon; a difference of near numbers, and what a rule
# makes of a result that is rounded, by more.
ROUNDINGS = 4
ROUNDINGS_OF_GRADIENTS = 16


def wide(arrays):
    return [a.astype(np.float64) if a.dtype in FLOATS else a for a in arrays]


def close(result, expected, dtype, roundings):
    tolerance = roundings * float(finfo(np.dtype(dtype)).eps)
    expected = np.asarray(expected, np.float64)
    np.testing.assert_allclose(result.astype(np.float64), expected, tolerance, tolerance)


@over("dtype", DTYPES)
@over(("op", "sample"), cases(), by=family)
def test_value(op, sample, dtype):
    operands, attrs = sample.cast(dtype), op.complete_attrs(sample.attrs)
    paddle.seed(SEED)
    results = kernel(op, operands, attrs)
    specs = op.infer_tuple([Spec(a.shape, a.dtype) for a in operands], attrs)
    paddle.seed(SEED)
    expected = REFERENCES[op.name](*wide(operands), **sample.attrs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for k, (result, value) in enumerate(zip(results, expected, strict=True)):
        assert result.dtype == specs[0 if op.variadic_output else k].dtype
        if result.dtype in FLOATS:
            close(result, value, dtype, ROUNDINGS)


@over("dtype", DTYPES)
@over(("op", "sample"), cases(has_gradient), by=family)
def test_gradients(op, sample, dtype):
    operands, attrs = sample.cast(dtype), op.complete_attrs(sample.attrs)
    paddle.seed(SEED)
    for setting in table.settings(op, operands, attrs):
        *_, wanted, cotangents, _ = setting
        paddle.seed(SEED)
        results = gradient(*setting[:5])
        paddle.seed(SEED)
        expected = gradient(op, wide(operands), attrs, wanted, wide(cotangents))
        for k, result, value in zip(wanted, results, expected, strict=True):
            assert result.dtype == operands[k].dtype
            close(result, value, dtype, ROUNDINGS_OF_GRADIENTS)
    paddle.seed(SEED)
    table.gradients_keep_dtypes(op, operands, attrs)


@over("dtype", ["bfloat16"])
@over(("op", "sample"), cases(has_gradient), by=family)
def test_every_mode_has_the_same_bits(op, sample, dtype):
    operands, attrs = sample.cast(dtype), op.complete_attrs(sample.attrs)
    paddle.seed(SEED)
    table.eager_is_the_kernel(op, operands, attrs)
    paddle.seed(SEED)
    table.recording_changes_nothing(op, operands, attrs)
    paddle.seed(SEED)
    results = table.eager_results(op, operands, attrs)
    paddle.seed(SEED)
    table.programs_agree(results, unknown=False)
    if sample.unknown:
        paddle.seed(SEED)
        table.programs_agree(results, unknown=True, forms=(False,))
