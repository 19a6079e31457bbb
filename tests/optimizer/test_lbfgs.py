"""L-BFGS: it finds minima, as SciPy's does, and keeps to what it is told."""

import itertools
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle

P = paddle.optimizer


def rosenbrock(x: Any) -> Any:
    return ((1.0 - x[:-1]) ** 2 + 100.0 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def variable(*start: float) -> Any:
    value = np.array(start)
    return paddle.create_parameter(value.shape, "float64", attr=paddle.nn.initializer.Assign(value))


def closure_of(optimizer: Any, function: Any, x: Any, losses: list[float]) -> Any:
    def closure() -> Any:
        optimizer.clear_grad()
        loss = function(x)
        loss.backward()
        losses.append(loss.item())
        return loss

    return closure


@pytest.mark.parametrize("start", [(-1.2, 1.0), (3.0, -2.0, 1.5, 0.0), (0.0,) * 10])
def test_a_curved_valley(start: tuple[float, ...]) -> None:
    x, losses = variable(*start), []
    lbfgs = P.LBFGS(max_iter=200, parameters=[x], line_search_fn="strong_wolfe", history_size=10)
    lbfgs.step(closure_of(lbfgs, rosenbrock, x, losses))
    np.testing.assert_allclose(x.numpy(), 1.0, atol=1e-5)
    assert len(losses) < 150


def test_a_step_returns_the_loss_before_it() -> None:
    x, losses = variable(-1.2, 1.0), []
    lbfgs = P.LBFGS(max_iter=5, parameters=[x], line_search_fn="strong_wolfe")
    closure = closure_of(lbfgs, rosenbrock, x, losses)
    before = [lbfgs.step(closure).item() for _ in range(6)]
    assert before[0] == pytest.approx(24.2)
    assert all(b < a for a, b in itertools.pairwise(before))
    assert before[-1] < 0.5  # the reference is at 0.078 then


def test_without_a_line_search() -> None:
    """The first steps of PaddlePaddle 3.3.1 from here, at this rate."""
    x, losses = variable(-1.2, 1.0), []
    lbfgs = P.LBFGS(0.001, max_iter=5, parameters=[x])
    closure = closure_of(lbfgs, rosenbrock, x, losses)
    lbfgs.step(closure)
    np.testing.assert_allclose(x.numpy(), [-1.19873677, 1.00057259], rtol=1e-6)
    lbfgs.step(closure)
    np.testing.assert_allclose(x.numpy(), [-1.19808347, 1.00103186], rtol=1e-6)


def test_a_quadratic_in_as_many_steps_as_it_has_axes() -> None:
    scales = np.array([1.0, 10.0, 100.0])
    x, losses = variable(1.0, 1.0, 1.0), []
    weight = paddle.to_tensor(scales)
    lbfgs = P.LBFGS(max_iter=20, parameters=[x], line_search_fn="strong_wolfe")
    lbfgs.step(closure_of(lbfgs, lambda v: (weight * v * v).sum(), x, losses))
    assert losses[-1] < 1e-10


def test_limits_of_one_step() -> None:
    x, losses = variable(-1.2, 1.0), []
    lbfgs = P.LBFGS(max_iter=50, max_eval=7, parameters=[x], line_search_fn="strong_wolfe")
    lbfgs.step(closure_of(lbfgs, rosenbrock, x, losses))
    assert len(losses) <= 7
    x, losses = variable(1.0, 1.0), []
    lbfgs = P.LBFGS(parameters=[x])
    lbfgs.step(closure_of(lbfgs, rosenbrock, x, losses))
    assert losses == [0.0]  # no gradient, no direction


def test_several_parameters_with_decay_and_one_without_a_gradient() -> None:
    w, b, unused = variable(2.0, -3.0), variable(1.0), variable(7.0)
    lbfgs = P.LBFGS(
        parameters=[w, b, unused], weight_decay=0.5, line_search_fn="strong_wolfe", max_iter=50
    )
    target = paddle.to_tensor([1.0, 2.0], dtype="float64")

    def closure() -> Any:
        lbfgs.clear_grad(set_to_zero=False)
        loss = ((w - target) ** 2).sum() + (b**2).sum()
        loss.backward()
        return loss

    for _ in range(5):
        lbfgs.step(closure)
    # Where 2 (w - t) + w / 2 = 0. Decay draws the unused one too, by its gradient.
    np.testing.assert_allclose(w.numpy(), [0.8, 1.6], atol=1e-3)
    np.testing.assert_allclose(b.numpy(), [0.0], atol=1e-3)


def test_saving_goes_on_bit_for_bit() -> None:
    def steps(x: Any, lbfgs: Any, count: int) -> Any:
        for _ in range(count):
            lbfgs.step(closure_of(lbfgs, rosenbrock, x, []))
        return x.numpy()

    def make(x: Any) -> Any:
        return P.LBFGS(max_iter=3, parameters=[x], line_search_fn="strong_wolfe", history_size=4)

    x = variable(-1.2, 1.0)
    lbfgs = make(x)
    middle, state = steps(x, lbfgs, 3), lbfgs.state_dict()
    expected = steps(x, lbfgs, 3)
    y = variable(*middle)
    other = make(y)
    other.set_state_dict(state)
    np.testing.assert_array_equal(steps(y, other, 3), expected)
    with pytest.raises(
        ValueError, match=r"these parameters have 3 elements, so it must be \[n, 3\]"
    ):
        make(variable(1.0, 2.0, 3.0)).set_state_dict(state)
    with pytest.raises(ValueError, match="takes what its state_dict returned"):
        other.set_state_dict({})


def test_the_state_counts_directions_and_calls() -> None:
    """Programs stop where a step began one direction: that of 0 at the minimum."""
    x, losses = variable(-1.2, 1.0), []
    lbfgs = P.LBFGS(max_iter=5, parameters=[x], line_search_fn="strong_wolfe", tolerance_grad=0.0)
    begun = [0]
    while len(begun) < 40 and begun[-2:] != [begun[-1] - 1, begun[-1]]:
        lbfgs.step(closure_of(lbfgs, rosenbrock, x, losses))
        begun.append(lbfgs.state_dict()["state"]["n_iter"])
        assert lbfgs.state_dict()["state"]["func_evals"] == len(losses)
    assert max(np.diff(begun)) == 5
    np.testing.assert_allclose(x.numpy(), 1.0, atol=1e-5)


def test_a_closure_that_fails_leaves_the_values_of_the_step_before() -> None:
    x, calls = variable(-1.2, 1.0), []
    lbfgs = P.LBFGS(parameters=[x], line_search_fn="strong_wolfe")

    def closure() -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        lbfgs.clear_grad()
        loss = rosenbrock(x)
        loss.backward()
        return loss

    with pytest.raises(KeyboardInterrupt):
        lbfgs.step(closure)
    assert x.tolist() == [-1.2, 1.0]


def test_a_loss_that_is_no_number_stops() -> None:
    x, losses = variable(1.0), []
    lbfgs = P.LBFGS(parameters=[x], line_search_fn="strong_wolfe")
    lbfgs.step(closure_of(lbfgs, lambda v: (v * float("nan")).sum(), x, losses))
    assert len(losses) == 1
    assert x.tolist() == [1.0]


@pytest.mark.parametrize(
    ("make", "kind", "hint"),
    [
        (lambda x: P.LBFGS(parameters=[x]).step(), TypeError, "takes a closure"),
        (lambda x: P.LBFGS(parameters=[x]).step(lambda: 3.0), ValueError, "must return the loss"),
        (
            lambda x: P.LBFGS(parameters=[x], line_search_fn="x"),
            ValueError,
            "'strong_wolfe' or None",
        ),
        (
            lambda x: P.LBFGS(parameters=[x], max_iter=0),
            ValueError,
            "max_iter must be a positive int",
        ),
        (lambda x: P.LBFGS(parameters=[x]).minimize(x), RuntimeError, r"use step\(closure\)"),
        (lambda x: P.LBFGS(parameters=[x]).apply_gradients([]), RuntimeError, "no program"),
        (lambda x: P.LBFGS().step(lambda: x), ValueError, "nothing to train"),
        (
            lambda x: P.LBFGS(parameters=[{"params": [x], "learning_rate": 0.5}]).step(lambda: x),
            ValueError,
            "has a learning rate of its own",
        ),
        (
            lambda x: P.LBFGS(parameters=[x, paddle.create_parameter([1])]).step(lambda: x),
            ValueError,
            "float32 and float64.*cast them to one dtype",
        ),
    ],
)
def test_wrong_use(make: Any, kind: Any, hint: str) -> None:
    with pytest.raises(kind, match=hint):
        make(variable(1.0, 2.0))


def test_in_a_program() -> None:
    paddle.enable_static()
    w = paddle.static.create_parameter([1], "float32")
    with pytest.raises(RuntimeError, match=r"use step\(closure\) in eager mode"):
        P.LBFGS(parameters=[w]).minimize(paddle.sum(w))
