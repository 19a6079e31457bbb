"""Second derivatives against differences of first ones, and the adjointness of J and J'."""

import numpy as np
import pytest

import autograd_engine as paddle
from tests.over import over

from .harness import (
    STEP,
    close,
    difference_along,
    differences,
    differentiable,
    directions,
    eager_orders,
    gradient,
    inner,
    is_smooth,
    kernel,
    subsets,
    with_gradient,
)
from .samples import cases

TOLERANCE = 1e-5


def setting(op, sample, seed):
    """Operands, attributes, cotangents and tangents, all float64."""
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    positions = differentiable(op, operands)
    cotangents = directions(with_gradient(op, kernel(op, operands, attrs)), seed)
    tangents = directions(operands, seed + 1)
    return operands, attrs, positions, cotangents, tangents


@over(("op", "sample"), cases(is_smooth))
def test_gradient_of_the_gradient(op, sample):
    """In each element where all operands are wanted, along one direction where one of them is."""
    operands, attrs, positions, cotangents, tangents = setting(op, sample, seed=10)
    for wanted in subsets(positions):
        along = [tangents[k] for k in wanted]

        def projected(wanted=wanted, along=along):
            return inner(gradient(op, operands, attrs, wanted, cotangents), along)

        _, _, second = eager_orders(
            op, operands, attrs, wanted, cotangents, along, create_graph=False
        )
        varied = [*(operands[k] for k in wanted), *cotangents]
        for found, x in zip(second, varied, strict=True):
            found = np.zeros(x.shape) if found is None else found
            if wanted == positions:
                close(found, differences(projected, x), TOLERANCE)
            else:
                (direction,) = directions([x], seed=12)
                expected = difference_along(projected, x, direction)
                close(np.asarray(inner([found], [direction])), expected, TOLERANCE)


@over(("op", "sample"), cases(is_smooth))
def test_jacobian_and_its_adjoint(op, sample):
    """<J v, u> = <v, J'u>, with J v by differences, and as the gradient of <v, J'u> in u."""
    operands, attrs, positions, cotangents, tangents = setting(op, sample, seed=20)
    along = [tangents[k] for k in positions]
    _, pulled, second = eager_orders(
        op, operands, attrs, positions, cotangents, along, create_graph=True
    )
    pushed = second[len(positions) :]

    def moved(step):
        shifted = list(operands)
        for k in positions:
            shifted[k] = operands[k] + step * tangents[k]
        return with_gradient(op, kernel(op, shifted, attrs))

    for jv, above, below in zip(pushed, moved(STEP), moved(-STEP), strict=True):
        close(jv, np.asarray((above - below) / (2.0 * STEP)), TOLERANCE)
    left, right = inner(pushed, cotangents), inner(along, pulled)
    assert left == pytest.approx(right, rel=1e-12, abs=1e-12)


@over(("op", "sample"), cases(is_smooth))
def test_recording_a_pass_changes_no_bit_of_the_next(op, sample):
    """The second pass gives the same with and without being recorded itself."""
    operands, attrs, positions, cotangents, tangents = setting(op, sample, seed=30)
    along = [tangents[k] for k in positions]
    plain, recorded = (
        eager_orders(op, operands, attrs, positions, cotangents, along, create_graph=flag)[2]
        for flag in (False, True)
    )
    for a, b in zip(plain, recorded, strict=True):
        assert (a is None) == (b is None)
        assert a is None or np.array_equal(a, b)


def test_third_order_by_differences_of_the_second():
    """One chain that crosses many rules: what holds of single operations holds of a composition."""
    start = np.random.default_rng(4).uniform(0.5, 1.5, (2, 3))

    def derivative(order, at):
        x = paddle.to_tensor(at, dtype="float64", stop_gradient=False)
        h = paddle.tanh(paddle.matmul(x, paddle.t(x)))
        value = (paddle.exp(h) / (h * h + 1.0)).mean() + paddle.log(x).sum()
        for _ in range(order):
            (g,) = paddle.grad(value, x, create_graph=True)
            value = (g * g).sum()
        return value, x

    for order in (0, 1, 2):
        value, x = derivative(order, start)
        (found,) = paddle.grad(value, x)
        at = start.copy()
        close(
            found.numpy() / abs(value.item()),
            differences(lambda order=order, at=at: derivative(order, at)[0].item(), at)
            / abs(value.item()),
            TOLERANCE,
        )
