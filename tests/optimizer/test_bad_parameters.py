"""Parameters that an optimizer is given by mistake."""

from __future__ import annotations

import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError


def test_no_parameters_at_all():
    class Forgetful(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.layers = [paddle.nn.Linear(2, 2)]

    with pytest.raises(ArgumentError, match="LayerList"):
        paddle.optimizer.Adam(parameters=Forgetful().parameters())
    with pytest.raises(ArgumentError, match="LayerList"):
        paddle.optimizer.Adam(parameters=[{"params": []}])


def test_a_layer_in_the_place_of_its_parameters():
    with pytest.raises(TypeError, match=r"write layer\.parameters\(\)"):
        paddle.optimizer.Adam(parameters=paddle.nn.Linear(2, 2))
