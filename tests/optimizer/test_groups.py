"""Groups of parameters, each with settings of its own."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from tests.optimizer.training import P, eagerly, parameters

C = paddle.nn

MAKE: dict[str, Any] = {
    "groups": lambda ps: P.Adam(
        0.1, 0.8, 0.9, 1e-3, weight_decay=0.3,
        parameters=[
            {"params": [ps[0]], "learning_rate": 0.5, "weight_decay": 0.1, "beta1": 0.5},
            {"params": [ps[1]], "grad_clip": C.ClipGradByNorm(0.6)},
        ],
    ),
    "groups clip": lambda ps: P.SGD(
        0.1, grad_clip=C.ClipGradByNorm(0.4),
        parameters=[
            {"params": [ps[0]], "grad_clip": C.ClipGradByValue(0.2)},
            {"params": [ps[1]]},
        ],
    ),
    "groups global": lambda ps: P.SGD(
        0.1, grad_clip=C.ClipGradByGlobalNorm(1.0),
        parameters=[{"params": [ps[0]]}, {"params": [ps[1]]}],
    ),
    "AdamW groups": lambda ps: P.AdamW(
        0.1, 0.8, 0.9, 1e-3,
        parameters=[
            {"params": [ps[0]], "learning_rate": 0.5, "weight_decay": 0.2},
            {"params": [ps[1]]},
        ],
    ),
}  # fmt: skip
# w and b after four steps, as PaddlePaddle 3.3.1 computes them in float32.
OBSERVED = {
    "groups": (
        [0.415500283, -1.12892294, 1.89616609, -0.112626284],
        [0.0691693351, -0.450422347],
    ),
    "groups clip": (
        [0.488999993, -1.23199999, 1.98300004, -0.0210000016],
        [0.266312152, -0.703444004],
    ),
    "groups global": (
        [0.445634007, -1.2254262, 1.90578592, -0.0118465237],
        [0.285223126, -0.658888698],
    ),
    "AdamW groups": (
        [0.410006583, -1.11753476, 1.81133187, -0.0987971798],
        [0.176869184, -0.486284137],
    ),
}


@pytest.mark.parametrize("which", OBSERVED)
def test_four_steps_are_those_of_the_reference(which: str) -> None:
    values, _ = eagerly(MAKE[which])
    for have, want in zip(values, OBSERVED[which], strict=True):
        np.testing.assert_allclose(have.ravel(), want, rtol=3e-6, atol=1e-6)


def test_a_factor_of_a_group_and_one_of_the_parameter_are_multiplied() -> None:
    w, b = parameters(attrs=({"learning_rate": 0.5}, {}))
    sgd = P.SGD(1.0, parameters=[{"params": [w], "learning_rate": 0.25}, {"params": b}])
    before = w.numpy(), b.numpy()
    w.grad, b.grad = paddle.ones(w.shape), paddle.ones(b.shape)
    sgd.step()
    np.testing.assert_array_equal(w.numpy(), before[0] - np.float32(0.125))
    np.testing.assert_array_equal(b.numpy(), before[1] - 1)


@pytest.mark.parametrize(
    ("make", "kind", "hint"),
    [
        (lambda w, b: [{"params": [w]}, b], TypeError, r"parameters\[1\] is no dict"),
        (lambda w, b: [{"learning_rate": 1.0}], ValueError, "has no 'params'"),
        (lambda w, b: [{"params": [w]}, {"params": [w]}], ValueError, "w is named twice"),
        (lambda w, b: [{"params": [w, w]}], ValueError, "w is named twice"),
        (lambda w, b: [{"params": [3]}], TypeError, r"parameters\[0\] must be a Tensor"),
        (lambda w, b: [{"params": [w], "momentum": 0.5}], ValueError,
         "'momentum' is no setting of a group; it may have learning_rate, weight_decay, grad_clip"),
        (lambda w, b: [{"params": [w], "beta1": 2.0}], ValueError, "beta1 must be in"),
        (lambda w, b: [{"params": [w], "learning_rate": "x"}], TypeError, "must be a number"),
        (lambda w, b: [{"params": [w], "grad_clip": 1.0}], TypeError, "grad_clip must be"),
        (lambda w, b: {"params": [w]}, TypeError, "must be a list of Tensors, got dict"),
    ],
)  # fmt: skip
def test_wrong_groups(make: Any, kind: Any, hint: str) -> None:
    with pytest.raises(kind, match=hint):
        P.Adam(0.1, parameters=make(*parameters()))
