"""Every public function: value, derivatives of three orders, forward mode, in every mode."""

import numpy as np
import pytest

import autograd_engine as paddle
from tests.over import over

from .cases import CASES, family
from .harness import (
    call,
    cases,
    close,
    directions,
    eager_derivatives,
    flat,
    floating,
    operands_in,
    same_bits,
    static_results,
    tangents,
    wanted,
)

TOLERANCE = {"float64": 1e-10, "float32": 2e-5, "float16": 2e-2}
STEP = 1e-5


def smooth(case):
    return case.differentiable and case.smooth


@over("dtype", ["float64", "float32"])
@over("case", cases(lambda c: c.numpy is not None), by=family)
def test_value(case, dtype):
    operands = operands_in(case, dtype)
    _, outputs = call(case, operands)
    wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in operands]
    expected = flat(case.numpy(*wide))
    assert len(outputs) == len(expected)
    for y, value in zip(outputs, expected, strict=True):
        result = y.numpy() if isinstance(y, paddle.Tensor) else np.asarray(y)
        assert result.shape == np.shape(value)
        tolerance = TOLERANCE[dtype] if result.dtype.kind in "fc" else 0.0
        np.testing.assert_allclose(result, value, rtol=tolerance, atol=tolerance)


@over("case", cases(smooth), by=family)
def test_three_orders_against_differences(case):
    """Each order is the derivative along v of the one below, and central differences give that."""
    operands = operands_in(case, np.float64)
    values, _ = eager_derivatives(case, operands, case.orders)
    vs = directions([operands[k] for k in wanted(case)], 2)

    def moved(step):
        shifted = list(operands)
        for k, v in zip(wanted(case), vs, strict=True):
            shifted[k] = np.asarray(operands[k] + step * v)
        return eager_derivatives(case, shifted, case.orders - 1)[0]

    above, below = moved(STEP), moved(-STEP)
    for order in range(case.orders):
        expected = (above[order] - below[order]) / (2.0 * STEP)
        scale = max(1.0, abs(values[order]), abs(expected))
        assert values[order + 1] / scale == pytest.approx(expected / scale, abs=1e-5), order + 1


@over("case", cases(smooth), by=family)
def test_each_element_of_the_gradient(case):
    """Along a direction errors might cancel; one element at a time they cannot."""
    operands = operands_in(case, np.float64)
    _, (found,) = eager_derivatives(case, operands, 1)
    for k, g in zip(wanted(case), found, strict=True):
        expected = np.zeros(operands[k].shape)
        for index in np.ndindex(operands[k].shape):
            sides = []
            for step in (STEP, -STEP):
                shifted = [a.copy() for a in operands]
                shifted[k][index] += step
                sides.append(eager_derivatives(case, shifted, 0)[0][0])
            expected[index] = (sides[0] - sides[1]) / (2.0 * STEP)
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        close((np.zeros_like(expected) if g is None else g) / scale, expected / scale, 1e-5)


@over("case", cases(smooth), by=family)
def test_forward_mode(case):
    operands = operands_in(case, np.float64)
    found = tangents(case, operands)
    vs = directions([operands[k] for k in wanted(case)], 2)

    def moved(step):
        shifted = list(operands)
        for k, v in zip(wanted(case), vs, strict=True):
            shifted[k] = np.asarray(operands[k] + step * v)
        return [y.numpy() for y in floating(call(case, shifted)[1])]

    above, below = moved(STEP), moved(-STEP)
    assert len(found) == len(above)
    for t, a, b in zip(found, above, below, strict=True):
        expected = (a - b) / (2.0 * STEP)
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        close(t / scale, expected / scale, 1e-5)


@over("case", cases(lambda c: c.differentiable), by=family)
def test_recording_a_pass_changes_no_bit_of_it(case):
    operands = operands_in(case, np.float32)
    _, (plain,) = eager_derivatives(case, operands, 1)
    _, (recorded, _) = eager_derivatives(case, operands, 2)
    for a, b in zip(plain, recorded, strict=True):
        same_bits(a, b)


@over("written_out", [False, True], ids=["generated", "written-out"])
@over("case", cases(lambda c: c.static), by=family)
def test_a_program_has_the_bits_of_eager_mode(case, written_out):
    operands = operands_in(case, np.float32)
    results, orders, pushed = static_results(case, operands, written_out=written_out)
    _, outputs = call(case, operands)
    for result, y in zip(results, outputs, strict=True):
        same_bits(result, y.numpy())
    if not case.differentiable:
        return
    _, expected = eager_derivatives(case, operands, 2)
    for found, values in zip(orders, expected, strict=True):
        for g, value in zip(found, values, strict=True):
            same_bits(g, value)
    if case.smooth:
        for t, value in zip(pushed, tangents(case, operands), strict=True):
            same_bits(t, value)


@over("case", cases(lambda c: c.static and not c.known), by=family)
def test_a_program_that_does_not_know_the_first_sizes(case):
    operands = operands_in(case, np.float32)
    results, orders, _ = static_results(case, operands, unknown=True)
    _, outputs = call(case, operands)
    for result, y in zip(results, outputs, strict=True):
        same_bits(result, y.numpy())
    if case.differentiable:
        _, expected = eager_derivatives(case, operands, 2)
        for found, values in zip(orders, expected, strict=True):
            for g, value in zip(found, values, strict=True):
                same_bits(g, value)


@over("dtype", ["float16", "float32", "float64"])
@over("case", cases(lambda c: c.differentiable), by=family)
def test_gradients_have_the_dtype_of_their_operands(case, dtype):
    operands = operands_in(case, dtype)
    xs, outputs = call(case, operands, traced=True)
    goals = [y for y in floating(outputs) if not y.stop_gradient]
    assert {y.dtype.name for y in goals} <= {dtype, "float32"} if dtype == "float16" else {dtype}
    sources = [xs[k] for k in wanted(case)]
    found = paddle.grad(goals, sources, allow_unused=True)
    for g, x in zip(found, sources, strict=True):
        assert g is None or (g.dtype, g.shape) == (x.dtype, x.shape)


def test_labels_tell_cases_apart():
    for name, listed in CASES.items():
        labels = [c.label for c in listed]
        assert len(set(labels)) == len(labels), name
        assert labels, name
