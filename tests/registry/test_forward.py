"""Forward mode of every operation, derived from its rules: against differences, in every mode."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import jvp
from autograd_engine.testing import op_checks as table
from tests.over import over

from .harness import (
    STEP,
    call,
    close,
    differentiable,
    directions,
    gradient,
    has_gradient,
    inner,
    is_smooth,
    kernel,
    pushed,
    same_bits,
    subsets,
    tensors,
    with_gradient,
)
from .samples import cases

TOLERANCE = 1e-5


@over(("op", "sample"), cases(is_smooth))
def test_tangent_is_that_of_differences(op, sample):
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    for wanted in subsets(differentiable(op, operands)):
        tangents = directions([operands[k] for k in wanted], seed=90)
        results = pushed(op, operands, attrs, wanted, tangents)

        def moved(step, wanted=wanted, tangents=tangents):
            shifted = list(operands)
            for k, t in zip(wanted, tangents, strict=True):
                shifted[k] = np.asarray(operands[k] + step * t)
            return with_gradient(op, kernel(op, shifted, attrs))

        for jv, above, below in zip(results, moved(STEP), moved(-STEP), strict=True):
            close(jv.numpy(), np.asarray((above - below) / (2.0 * STEP)), TOLERANCE)


@over(("op", "sample"), cases(has_gradient))
def test_tangent_is_adjoint_to_the_gradient(op, sample):
    """<Jv, u> = <v, J'u>, also where differences say nothing."""
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    positions = differentiable(op, operands)
    tangents = directions([operands[k] for k in positions], seed=91)
    paddle.seed(1)
    results = pushed(op, operands, attrs, positions, tangents)
    cotangents = directions([r.numpy() for r in results], seed=92)
    paddle.seed(1)
    pulled = gradient(op, operands, attrs, positions, cotangents)
    left = inner([r.numpy() for r in results], cotangents)
    # A cast rounds: what it gives is as exact as the dtype that it casts to.
    coarsest = max([float(np.finfo(r.numpy().dtype).eps) for r in results], default=0.0)
    tolerance = max(1e-9, 8 * coarsest)
    assert left == pytest.approx(inner(tangents, pulled), rel=tolerance, abs=tolerance)


@over(("op", "sample"), cases(has_gradient))
def test_tangents_in_a_program(op, sample):
    for unknown in (False, True) if sample.unknown else (False,):
        same_in_a_program(op, sample, unknown)


def same_in_a_program(op, sample, unknown):
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    positions = differentiable(op, operands)
    tangents = directions([operands[k] for k in positions], seed=93)
    paddle.seed(1)
    expected = pushed(op, operands, attrs, positions, tangents)
    static = paddle.static
    program = static.Program()
    feed = {f"x{k}": a for k, a in enumerate(operands)}
    feed.update({f"t{k}": t for k, t in zip(positions, tangents, strict=True)})
    with static.program_guard(program):
        declared = {
            name: static.data(
                name, [None, *a.shape[1:]] if unknown and a.ndim else a.shape, a.dtype
            )
            for name, a in feed.items()
        }
        xs = [declared[f"x{k}"] for k in range(len(operands))]
        outputs = with_gradient(op, call(op, xs, attrs))
        found = static.forward_grad(
            outputs, [xs[k] for k in positions], [declared[f"t{k}"] for k in positions]
        )
    paddle.seed(1)
    for result, value in zip(static.Executor().run(program, feed, found), expected, strict=True):
        same_bits(result, value.numpy())


@over(
    ("op", "sample"), cases(lambda op, sample: has_gradient(op, sample) and op.tangent is not None)
)
def test_the_declared_kind_gives_what_transposing_twice_gives(op, sample):
    table.declared_tangent(op, sample.cast(np.float64), op.complete_attrs(sample.attrs))


@over(("op", "sample"), cases(is_smooth))
def test_tangents_can_be_differentiated(op, sample):
    """The gradient of <u, Jv> in v is J'u."""
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    positions = differentiable(op, operands)
    directions_of = directions([operands[k] for k in positions], seed=95)
    leaves = [paddle.to_tensor(t, stop_gradient=False) for t in directions_of]
    xs = tensors(operands)

    def function(*wanted):
        arguments = list(xs)
        for k, x in zip(positions, wanted, strict=True):
            arguments[k] = x
        return call(op, arguments, attrs)

    _, found = jvp(function, [xs[k] for k in positions], leaves, create_graph=True)
    results = with_gradient(op, found)
    cotangents = directions([r.numpy() for r in results], seed=96)
    pulled = gradient(op, operands, attrs, positions, cotangents)
    again = paddle.grad(results, leaves, tensors(cotangents), allow_unused=True)
    for a, b in zip(again, pulled, strict=True):
        close(np.zeros(b.shape) if a is None else a.numpy(), b, 1e-9)
