"""Each rule: the numbers of the reference system, and a minimum that it finds."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from tests.optimizer.training import OPTIMIZERS, eagerly

# w and b after four steps, as PaddlePaddle 3.3.1 computes them in float32.
OBSERVED = {
    "SGD": (
        [0.329000056, -1.16199994, 1.88300002, -0.0260000005],
        [0.430000037, -0.554999948],
    ),
    "Momentum": (
        [0.207080007, -1.08616006, 1.60140002, -0.053199999],
        [0.402800024, -0.208600014],
    ),
    "Momentum nesterov": (
        [0.0946639553, -1.03092802, 1.56411994, -0.0685600042],
        [0.512239993, -0.161880001],
    ),
    "Adam": (
        [0.357081741, -1.08065581, 1.77554047, -0.19984135],
        [0.17762436, -0.488636136],
    ),
    "Adam amsgrad": (
        [0.359420151, -1.08286262, 1.78131139, -0.19797726],
        [0.176221699, -0.497036994],
    ),
    "AdamW": (
        [0.339715183, -1.03432429, 1.70147169, -0.19759436],
        [0.170198068, -0.465459436],
    ),
    "AdamW amsgrad": (
        [0.342053592, -1.03653109, 1.7071712, -0.195730269],
        [0.168795407, -0.473781019],
    ),
    "RMSProp": (
        [0.311429143, -1.01922679, 1.8344965, -0.304071486],
        [0.166001409, -0.551823437],
    ),
    "RMSProp momentum": (
        [0.133575529, -0.770979285, 1.51246095, -0.606132865],
        [-0.155808836, -0.255710542],
    ),
    "RMSProp centered": (
        [0.0989073887, -0.693818927, 1.44013262, -0.667026281],
        [-0.258202374, -0.194530681],
    ),
    "Adagrad": (
        [0.449548036, -1.17083001, 1.92188478, -0.0671873912],
        [0.248767152, -0.628156304],
    ),
    "Adadelta": (
        [0.490724772, -1.2401042, 1.99536717, -0.00998435076],
        [0.297251761, -0.696159005],
    ),
    "Adamax": (
        [0.382276058, -1.1135751, 1.8071481, -0.131875604],
        [0.16377525, -0.520049334],
    ),
    "Lamb": (
        [0.256901562, -0.917887092, 1.54402304, -0.343979955],
        [0.275017262, -0.518265128],
    ),
    "NAdam": (
        [0.369644076, -1.10925007, 1.89300287, -0.218685508],
        [0.237723112, -0.601374686],
    ),
    "RAdam": (
        [0.388700783, -1.17799687, 1.73102653, -0.0211670902],
        [0.254447103, -0.365052849],
    ),
    "RAdam default": (
        [0.397480249, -1.18063831, 1.71284509, -0.0200743265],
        [0.230243295, -0.342560083],
    ),
    "ASGD": (
        [0.324499965, -1.15100002, 1.80649996, -0.0280000009],
        [0.389999986, -0.444999993],
    ),
    "Rprop": (
        [0.308000028, -1.11000001, 1.82200003, -0.229999989],
        [0.0180000253, -0.691999972],
    ),
}


@pytest.mark.parametrize("which", OBSERVED)
def test_four_steps_are_those_of_the_reference(which: str) -> None:
    (w, b), _ = eagerly(OPTIMIZERS[which])
    for have, want in ((w, OBSERVED[which][0]), (b, OBSERVED[which][1])):
        np.testing.assert_allclose(have.ravel(), want, rtol=3e-6, atol=1e-6)


def test_every_optimizer_is_among_them() -> None:
    steps = {name for name in paddle.optimizer.__all__ if name not in ("Optimizer", "lr", "LBFGS")}
    assert {which.split()[0] for which in OBSERVED} == steps
    assert OBSERVED.keys() == OPTIMIZERS.keys()


@pytest.mark.parametrize("which", OPTIMIZERS)
def test_a_quadratic_is_minimised(which: str) -> None:
    """An ill-conditioned one, whose minimum is not at 0."""
    scale, target = paddle.to_tensor([1.0, 4.0]), paddle.to_tensor([0.5, -0.25])
    w = paddle.create_parameter([2], attr=paddle.nn.initializer.Constant(1.0))
    optimizer = OPTIMIZERS[which]([w])
    rate = {"Adadelta": 1.0, "Adagrad": 0.3}.get(which, 0.05)

    def loss() -> Any:
        return (scale * (w - target) ** 2).sum()

    before = loss().item()
    for k in range(400):
        if which != "Rprop":
            optimizer.set_lr(rate / (1.0 + 0.02 * k))
        loss().backward()
        optimizer.step()
        optimizer.clear_grad()
    # Decay draws to 0, and means of squares keep some from arriving.
    assert loss().item() < before * (0.05 if "W" in which or which == "Lamb" else 1e-3)


def test_rescaled_gradients() -> None:
    """By half: as momentum of gradients that are half as large."""

    def train(factor: float, **options: Any) -> Any:
        w = paddle.create_parameter([2], attr=paddle.nn.initializer.Constant(1.0))
        momentum = paddle.optimizer.Momentum(0.5, 0.75, parameters=[w], **options)
        for g in ([1.0, -2.0], [3.0, 0.5]):
            w.grad = paddle.to_tensor(np.array(g, "float32") * np.float32(factor))
            momentum.step()
        return w.tolist()

    assert train(1.0, rescale_grad=0.5) == train(0.5) != train(1.0)


@pytest.mark.parametrize(
    ("make", "kind", "hint"),
    [
        (
            lambda: paddle.optimizer.Rprop(0.1, (0.5, 1.0)),
            ValueError,
            "must be in the learning_rate_range",
        ),
        (lambda: paddle.optimizer.Rprop(0.1, 3), ValueError, "must be a pair of numbers"),
        (lambda: paddle.optimizer.Rprop(0.1, etas=(1.5, 2.0)), ValueError, "a factor below 1"),
        (lambda: paddle.optimizer.ASGD(0.1, 0), ValueError, "batch_num must be a positive int"),
        (
            lambda: paddle.optimizer.Adagrad(0.1, initial_accumulator_value=-1.0),
            ValueError,
            "below 0",
        ),
        (lambda: paddle.optimizer.RMSProp(0.1, rho=1.0), ValueError, r"rho must be in \[0, 1\)"),
        (
            lambda: paddle.optimizer.Adadelta(epsilon=0.0),
            ValueError,
            "epsilon must be a number above 0",
        ),
        (lambda: paddle.optimizer.Adamax(beta1=float("nan")), ValueError, "beta1 must be finite"),
        (
            lambda: paddle.optimizer.Lamb(exclude_from_weight_decay_fn=3),
            TypeError,
            "must be a function",
        ),
        (
            lambda: paddle.optimizer.AdamW(apply_decay_param_fun="w"),
            TypeError,
            "must be a function",
        ),
        (lambda: paddle.optimizer.NAdam(momentum_decay="x"), TypeError, "must be a number"),
        (lambda: paddle.optimizer.Momentum(rescale_grad=None), TypeError, "rescale_grad must be"),
    ],
)
def test_wrong_settings(make: Any, kind: Any, hint: str) -> None:
    with pytest.raises(kind, match=hint):
        make()


def test_betas_may_be_tensors() -> None:
    betas = paddle.to_tensor(0.5), paddle.to_tensor([0.75])
    attrs = paddle.optimizer.Adam(0.1, *betas, parameters=[paddle.ones([1])]).attrs
    assert (attrs["beta1"], attrs["beta2"]) == (0.5, 0.75)
