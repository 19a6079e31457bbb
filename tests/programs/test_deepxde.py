"""DeepXDE: what its examples solve, in fewer steps, until the solution is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest


@pytest.fixture(scope="module")
def dde() -> Any:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DDE_BACKEND", "paddle")
        environment.setenv("MPLBACKEND", "agg")
        library: Any = pytest.importorskip("deepxde")
    assert library.backend.backend_name == "paddle"
    library.config.set_random_seed(0)
    return library


def network(dde: Any, *sizes: int) -> Any:
    return dde.nn.FNN(list(sizes), "tanh", "Glorot uniform")


def test_a_function_is_fitted_saved_and_restored(dde: Any, tmp_path: Path) -> None:
    interval = dde.geometry.Interval(-1, 1)
    data = dde.data.Function(interval, lambda x: x * np.sin(5 * x), 16, 100)
    model = dde.Model(data, network(dde, 1, 20, 20, 1))
    model.compile("adam", lr=0.01, metrics=["l2 relative error"])
    _, state = model.train(iterations=400, verbose=0)
    assert state.best_metrics[0] < 0.1
    points = np.linspace(-1, 1, 5)[:, None]
    fitted, file = model.predict(points), model.save(str(tmp_path / "model"))
    model.train(iterations=3, verbose=0)
    assert (model.predict(points) != fitted).any()
    model.restore(file)
    np.testing.assert_array_equal(model.predict(points), fitted)


def poisson(dde: Any) -> Any:
    """-y'' = pi^2 sin(pi x), whose solution is sin(pi x)."""
    import paddle

    def equation(x: Any, y: Any) -> Any:
        return -dde.grad.hessian(y, x) - np.pi**2 * paddle.sin(np.pi * x)

    def solution(x: Any) -> Any:
        return np.sin(np.pi * x)

    interval = dde.geometry.Interval(-1, 1)
    ends = dde.icbc.DirichletBC(interval, solution, lambda x, at_the_end: at_the_end)
    data = dde.data.PDE(interval, equation, ends, 16, 2, solution=solution, num_test=100)
    return dde.Model(data, network(dde, 1, 20, 20, 1))


def test_a_poisson_equation_by_its_hessian(dde: Any) -> None:
    model = poisson(dde)
    model.compile("adam", lr=0.005, metrics=["l2 relative error"])
    _, state = model.train(iterations=600, verbose=0)
    assert state.best_metrics[0] < 0.02


def test_l_bfgs_goes_on_until_it_has_converged(dde: Any) -> None:
    model = poisson(dde)
    model.compile("adam", lr=0.005)
    model.train(iterations=100, verbose=0)
    dde.optimizers.set_LBFGS_options(maxiter=150)
    model.compile("L-BFGS", metrics=["l2 relative error"])
    _, state = model.train(verbose=0)
    assert state.step >= 200  # those of Adam are among them
    assert state.best_metrics[0] < 1e-3


def test_burgers_equation(dde: Any) -> None:
    def equation(x: Any, y: Any) -> Any:
        along, over_time = (dde.grad.jacobian(y, x, i=0, j=j) for j in (0, 1))
        return over_time + y * along - 0.01 / np.pi * dde.grad.hessian(y, x, i=0, j=0)

    where = dde.geometry.GeometryXTime(
        dde.geometry.Interval(-1, 1), dde.geometry.TimeDomain(0, 0.99)
    )
    ends = dde.icbc.DirichletBC(where, lambda x: 0, lambda _, at_the_end: at_the_end)
    start = dde.icbc.IC(where, lambda x: -np.sin(np.pi * x[:, 0:1]), lambda _, first: first)
    data = dde.data.TimePDE(
        where, equation, [ends, start], num_domain=400, num_boundary=40, num_initial=80
    )
    model = dde.Model(data, network(dde, 2, 20, 20, 20, 1))
    model.compile("adam", lr=5e-3)
    history, state = model.train(iterations=400, verbose=0)
    assert state.best_loss_train < 0.2 * sum(history.loss_train[0])


def test_a_coefficient_of_an_equation_is_found(dde: Any) -> None:
    """y' = -c y, from values of exp(-2 t)."""
    c = dde.Variable(1.0)
    span = dde.geometry.TimeDomain(0, 2)
    times = np.linspace(0, 2, 20)[:, None]
    start = dde.icbc.IC(span, lambda t: 1, lambda _, first: first)
    seen = dde.icbc.PointSetBC(times, np.exp(-2.0 * times))
    data = dde.data.PDE(
        span,
        lambda t, y: dde.grad.jacobian(y, t) + c * y,
        [start, seen],
        num_domain=40,
        num_boundary=2,
        anchors=times,
    )
    model = dde.Model(data, network(dde, 1, 20, 20, 1))
    model.compile("adam", lr=0.01, external_trainable_variables=c)
    model.train(iterations=600, verbose=0)
    assert c.item() == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("product", [False, True], ids=["pairs", "cartesian product"])
def test_an_operator_is_learned(dde: Any, product: bool) -> None:
    """The antiderivative of sums of three sines."""
    random = np.random.default_rng(0)
    k = np.arange(1, 4) * np.pi
    sensors = np.linspace(0, 1, 20)

    def functions(count: int, points: Callable[[], Any]) -> Any:
        weights, at = random.normal(size=(count, 3)), points()
        values = (weights @ np.sin(k[:, None] * sensors)).astype(np.float32)
        terms = (1 - np.cos(k * at)) / k
        result = weights @ terms.T if product else (weights * terms).sum(axis=1, keepdims=True)
        return (values, at.astype(np.float32)), result.astype(np.float32)

    def points() -> Any:
        return sensors[:, None] if product else random.random((300, 1))

    of_triples = dde.data.TripleCartesianProd if product else dde.data.Triple
    of_network = dde.nn.DeepONetCartesianProd if product else dde.nn.DeepONet
    x, y = functions(300, points)
    x_test, y_test = functions(300, points)
    data = of_triples(X_train=x, y_train=y, X_test=x_test, y_test=y_test)
    model = dde.Model(data, of_network([20, 40, 40], [1, 40, 40], "relu", "Glorot normal"))
    model.compile("adam", lr=0.005)
    history, state = model.train(iterations=150, verbose=0)
    assert state.best_loss_test < 0.05 * sum(history.loss_test[0])
