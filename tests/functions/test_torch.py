"""Values and gradients of two orders beside PyTorch's, where it is installed."""

import numpy as np
import pytest

from tests.over import over

from .cases import family
from .harness import (
    call,
    cases,
    directions,
    eager_derivatives,
    flat,
    floating,
    operands_in,
    wanted,
)
from .peers import torch

pytestmark = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
TOLERANCE = 1e-8


def peers(case):
    return case.torch is not None


def torch_call(case, operands, *, traced=False):
    xs = [torch.from_numpy(np.array(a)) for a in operands]
    if traced:
        for k in wanted(case):
            xs[k].requires_grad_()
    return xs, flat(case.torch(*xs))


@over("case", cases(peers), by=family)
def test_value(case):
    operands = operands_in(case, np.float64)
    _, ours = call(case, operands)
    _, theirs = torch_call(case, operands)
    assert len(ours) == len(theirs)
    for y, t in zip(ours, theirs, strict=True):
        assert tuple(y.shape) == tuple(t.shape)
        np.testing.assert_allclose(y.numpy(), t.detach().numpy(), rtol=TOLERANCE, atol=TOLERANCE)


@over("case", cases(lambda c: peers(c) and c.differentiable and c.smooth), by=family)
def test_gradients_of_two_orders(case):
    operands = operands_in(case, np.float64)
    _, ours = eager_derivatives(case, operands, 2)
    xs, outputs = torch_call(case, operands, traced=True)
    goals = [t for t in outputs if t.requires_grad]
    sources = [xs[k] for k in wanted(case)]
    ours_open = [y for y in floating(call(case, operands, traced=True)[1]) if not y.stop_gradient]
    assert len(goals) == len(ours_open)
    us = [torch.from_numpy(u) for u in directions([y.detach().numpy() for y in goals], 1)]
    vs = [torch.from_numpy(v) for v in directions([x.detach().numpy() for x in sources], 2)]
    along = sum((y * u).sum() for y, u in zip(goals, us, strict=True))
    for values in ours:
        if not along.requires_grad:
            assert all(v is None or not v.any() for v in values)
            return
        found = torch.autograd.grad(along, sources, create_graph=True, allow_unused=True)
        for value, g, x in zip(values, found, sources, strict=True):
            expected = np.zeros(x.shape) if g is None else g.numpy(force=True)
            value = np.zeros(x.shape) if value is None else value
            scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
            np.testing.assert_allclose(
                value / scale, expected / scale, rtol=TOLERANCE, atol=TOLERANCE
            )
        along = sum((g * v).sum() for g, v in zip(found, vs, strict=True) if g is not None)
