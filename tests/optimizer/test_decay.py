"""Weight decay: in the gradient, beside it, and for some parameters only."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from tests.optimizer.training import GRADIENTS, P, Training, W, eagerly, parameters

R = paddle.regularizer

MAKE: dict[str, Any] = {
    "SGD l2": lambda ps: P.SGD(0.1, parameters=ps, weight_decay=0.1),
    "SGD l1": lambda ps: P.SGD(0.1, parameters=ps, weight_decay=R.L1Decay(0.1)),
    "Momentum l2": lambda ps: P.Momentum(0.1, 0.8, parameters=ps, weight_decay=0.1),
    "Adam l2": lambda ps: P.Adam(0.1, 0.8, 0.9, 1e-3, parameters=ps, weight_decay=R.L2Decay(0.1)),
    "AdamW fun": lambda ps: P.AdamW(
        0.1, 0.8, 0.9, 1e-3, parameters=ps, weight_decay=0.1,
        apply_decay_param_fun=lambda n: n == "w",
    ),
    "Lamb exclude": lambda ps: P.Lamb(
        0.1, 0.1, 0.8, 0.9, 1e-3, parameters=ps,
        exclude_from_weight_decay_fn=lambda p: p.name == "b",
    ),
    "Lamb always": lambda ps: P.Lamb(
        0.1, 0.1, 0.8, 0.9, 1e-3, parameters=ps,
        exclude_from_weight_decay_fn=lambda p: p.name == "b", always_adapt=True,
    ),
}  # fmt: skip
# w and b after four steps, as PaddlePaddle 3.3.1 computes them in float32.
OBSERVED = {
    "SGD l2": (
        [0.310799003, -1.11374211, 1.80854523, -0.0256505013],
        [0.419143945, -0.532759905],
    ),
    "SGD l1": (
        [0.289000005, -1.12199998, 1.84300005, -0.00600000098],
        [0.390000015, -0.514999986],
    ),
    "Momentum l2": (
        [0.168123424, -0.986878157, 1.45240843, -0.0527705029],
        [0.385464817, -0.167276621],
    ),
    "Adam l2": (
        [0.339101046, -1.0084641, 1.7324276, -0.195386812],
        [0.175394848, -0.476131797],
    ),
    "AdamW fun": (
        [0.339715183, -1.03432429, 1.70147169, -0.19759436],
        [0.17762436, -0.488636136],
    ),
    "Lamb exclude": (
        [0.256901562, -0.917887092, 1.54402304, -0.343979955],
        [0.17762436, -0.488636136],
    ),
    "Lamb always": (
        [0.256901562, -0.917887092, 1.54402304, -0.343979955],
        [0.284108996, -0.53273946],
    ),
}


@pytest.mark.parametrize("which", OBSERVED)
def test_four_steps_are_those_of_the_reference(which: str) -> None:
    values, _ = eagerly(MAKE[which])
    for have, want in zip(values, OBSERVED[which], strict=True):
        np.testing.assert_allclose(have.ravel(), want, rtol=3e-6, atol=1e-6)


def test_a_regularizer_of_a_parameter_takes_the_place_of_the_optimizers() -> None:
    attrs = ({"regularizer": R.L1Decay(0.5)}, {})
    both, _ = eagerly(lambda ps: P.SGD(0.1, parameters=ps, weight_decay=0.1), attrs=attrs)
    l1, _ = eagerly(lambda ps: P.SGD(0.1, parameters=ps, weight_decay=R.L1Decay(0.5)))
    l2, _ = eagerly(lambda ps: P.SGD(0.1, parameters=ps, weight_decay=0.1))
    np.testing.assert_array_equal(both[0], l1[0])
    np.testing.assert_array_equal(both[1], l2[1])
    alone, _ = eagerly(lambda ps: P.SGD(0.1, parameters=ps), attrs=attrs)
    np.testing.assert_array_equal(alone[0], l1[0])


def test_a_decay_that_is_set_after_the_optimizer_was_made() -> None:
    w, b = parameters()
    sgd = P.SGD(1.0, parameters=[w, b])
    w.regularizer = R.L2Decay(0.5)
    b.optimize_attr["learning_rate"] = 0.0
    for p in (w, b):
        p.grad = paddle.zeros(p.shape)
    before = b.numpy()
    sgd.step()
    np.testing.assert_array_equal(w.numpy(), W / 2)
    np.testing.assert_array_equal(b.numpy(), before)


def test_operators_of_decay() -> None:
    training = Training(MAKE["SGD l2"])
    types = [op.type for op in training.main.global_block().ops]
    assert types == ["multiply", "add_n", "sgd"] * 2
    training = Training(MAKE["AdamW fun"])
    coeffs = [op.attrs["coeff"] for op in training.operators]
    assert [(op.type, c) for op, c in zip(training.operators, coeffs, strict=True)] == [
        ("adamw", 0.0),
        ("adamw", 0.1),
    ]


def test_decay_beside_the_gradient_is_that_of_the_value_before() -> None:
    w, _ = parameters()
    adamw = P.AdamW(0.5, parameters=[w], weight_decay=0.25)
    w.grad = paddle.zeros(w.shape)
    adamw.step()
    np.testing.assert_array_equal(w.numpy(), W * 0.875)


def test_rates_by_parameter() -> None:
    """``lr_ratio``, and the decay follows the rate."""
    w, b = parameters()
    adamw = P.AdamW(
        0.5, parameters=[w, b], weight_decay=0.25, lr_ratio=lambda p: 0.5 if p is w else 1.0
    )
    w.grad, b.grad = paddle.zeros(w.shape), paddle.zeros(b.shape)
    before = b.numpy()
    adamw.step()
    np.testing.assert_array_equal(w.numpy(), W * (1 - 0.25 * 0.25))
    np.testing.assert_array_equal(b.numpy(), before * np.float32(0.875))


def test_gradients_themselves_are_left_alone() -> None:
    w, b = parameters()
    clip = paddle.nn.ClipGradByNorm(0.1)
    sgd = P.SGD(0.1, parameters=[w, b], weight_decay=0.1, grad_clip=clip)
    w.grad = paddle.to_tensor(GRADIENTS[0][0])
    sgd.step()
    np.testing.assert_array_equal(w.grad.numpy(), GRADIENTS[0][0])


@pytest.mark.parametrize(
    ("make", "kind", "hint"),
    [
        (lambda: P.SGD(0.1, weight_decay="x"), TypeError, "L1Decay or L2Decay; got str"),
        (lambda: P.SGD(0.1, weight_decay=True), TypeError, "L1Decay or L2Decay; got bool"),
        (
            lambda: P.AdamW(0.1, weight_decay=R.L2Decay(0.1)),
            ValueError,
            "pass a regularizer to Adam",
        ),
        (lambda: R.L2Decay("x"), TypeError, "L2Decay: coeff must be a number"),
        (lambda: R.L1Decay(float("inf")), ValueError, "coeff must be finite"),
        (
            lambda: paddle.ParamAttr(regularizer=0.1),
            TypeError,
            "must be paddle.regularizer.L1Decay",
        ),
        (lambda: paddle.ParamAttr(learning_rate="x"), TypeError, "the factor of the optimizer's"),
    ],
)
def test_wrong_arguments(make: Any, kind: Any, hint: str) -> None:
    with pytest.raises(kind, match=hint):
        make()


def test_texts() -> None:
    assert str(R.L2Decay(0.1)) == "L2Decay, coeff=0.100000"
    assert repr(R.L1Decay(0.25)) == "L1Decay(0.25)"
