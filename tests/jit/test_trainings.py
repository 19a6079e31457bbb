"""Whole trainings of traced functions have the bits of eager mode."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.jit import to_static
from tests.modes.test_modes_agree import MODELS, attr, batches, start

STEPS = 50


def train(m: Any, wrap: Any, feeds: list[Any]) -> tuple[list[bytes], dict[str, Any]]:
    p = {n: paddle.create_parameter(v.shape, attr=attr(n, v)) for n, v in start(m.shapes).items()}
    optimizer = paddle.optimizer.Adam(0.02, parameters=list(p.values()))
    paddle.seed(3)
    loss_of = wrap(lambda **feed: m.loss(p, **feed))
    losses = []
    for feed in feeds:
        loss = loss_of(**{n: paddle.to_tensor(v) for n, v in feed.items()})
        loss.backward()
        losses.append(loss.numpy().tobytes())
        losses += [t.grad.numpy().tobytes() for t in p.values() if t.grad is not None]
        optimizer.step()
        optimizer.clear_grad()
    return losses, {n: t.numpy() for n, t in p.items()}


@pytest.mark.parametrize("which", sorted(MODELS))
def test_fifty_steps_have_the_same_bits(which: str) -> None:
    """Losses and gradients of each step, parameters and statistics at the end."""
    m = MODELS[which]
    feeds = batches(m.data, [8, 8, 5] * (STEPS // 3 + 1))[:STEPS]
    made: list[Any] = []

    def wrap(function: Any) -> Any:
        made.append(to_static(function))
        return made[0]

    losses, parameters = train(m, lambda f: f, feeds)
    traced_losses, traced_parameters = train(m, wrap, feeds)
    assert traced_losses == losses
    for n, value in parameters.items():
        np.testing.assert_array_equal(traced_parameters[n], value, err_msg=n)
    assert len(made[0].program_cache) == 2  # of two shapes
