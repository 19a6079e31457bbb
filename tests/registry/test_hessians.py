"""Hessians through every operation: by a compiled plan where there is one, and the general way."""

import numpy as np

import autograd_engine as paddle
from autograd_engine.autograd import hessian
from autograd_engine.autograd.hessians import plan as hessian_plan
from tests.over import over

from .harness import call, close, differentiable, directions, is_smooth, tensors, with_gradient
from .samples import cases

# Second derivatives that amplify rounding: of inverses of nearly singular matrices, say.
TOLERANCE = 1e-8


@over(
    ("op", "sample"), cases(lambda op, s: is_smooth(op, s) and sum(a.size for a in s.operands) < 80)
)
def test_both_ways_agree(op, sample, monkeypatch):
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    positions = differentiable(op, operands)
    fixed = tensors(operands)
    weights = None

    def function(*wanted):
        nonlocal weights
        arguments = list(fixed)
        for k, x in zip(positions, wanted, strict=True):
            arguments[k] = x
        outputs = list(with_gradient(op, call(op, arguments, attrs)))
        if weights is None:
            weights = tensors(directions([o.numpy() for o in outputs], seed=31))
        total = sum(
            (o * o * w).sum() + (o * w).sum() for o, w in zip(outputs, weights, strict=True)
        )
        return paddle.cast(total, "float64")

    xs = [fixed[k] for k in positions]
    hessian_plan._PLANS.clear()
    planned = hessian(function, xs)
    general = hessian(function, xs, create_graph=True)
    again = hessian(function, xs)
    for rows in zip(planned, general, again, strict=True):
        for fast, slow, repeated in zip(*rows, strict=True):
            close(
                fast.numpy(),
                slow.numpy(),
                TOLERANCE * max(1.0, np.abs(slow.numpy()).max(initial=0)),
            )
            np.testing.assert_array_equal(fast.numpy(), repeated.numpy())
