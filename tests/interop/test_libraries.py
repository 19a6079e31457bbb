"""Tensors in the hands of other people's libraries: what is recorded, stored, refused, or said."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import GradientCutWarning

X = np.array([0.5, -1.0, 2.0])


def leaf() -> paddle.Tensor:
    return paddle.to_tensor(X, stop_gradient=False)


def made_by(module: str, source: str, **environment: str) -> str:
    """What a script prints, in a process of its own."""
    pytest.importorskip(module, reason=f"{module} is not installed")
    done = subprocess.run(
        [sys.executable, "-c", "import autograd_engine as paddle\n" + textwrap.dedent(source)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, **environment},
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_scipy_by_the_array_api_keeps_gradients() -> None:
    printed = made_by(
        "scipy",
        """
        import scipy.special
        x = paddle.to_tensor([0.5, -1.0], dtype="float64", stop_gradient=False)
        for f in (scipy.special.erf, scipy.special.logsumexp, scipy.special.expit):
            (g,) = paddle.grad(f(x).sum(), x)
            h = 1e-6
            low, high = f(x.numpy() - h), f(x.numpy() + h)
            assert abs(((high - low) / (2 * h)).sum() - g.sum()) < 1e-6, f
        print("recorded")
        """,
        SCIPY_ARRAY_API="1",
    )
    assert printed == "recorded\n"


def test_scipy_minimizes_a_loss_of_tensors() -> None:
    optimize = pytest.importorskip("scipy.optimize")

    def loss(x: Any) -> Any:
        x = paddle.to_tensor(x, stop_gradient=False)
        value = ((x - 1.0) ** 2).sum()
        return value, paddle.grad(value, x)[0]

    found = optimize.minimize(loss, paddle.zeros([3], "float64"), jac=True)
    np.testing.assert_allclose(np.asarray(found.x), 1.0, atol=1e-6)


def test_sparse_matrices_take_values_and_say_so() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    a = sparse.csr_array(np.diag(X))
    np.testing.assert_array_equal(a @ paddle.to_tensor(X), X * X)
    with pytest.warns(GradientCutWarning, match=r"paddle\.to_tensor\(matrix\.toarray\(\)\)"):
        np.testing.assert_array_equal(a @ leaf(), X * X)


def test_pandas_stores_tensors_and_says_where_its_arithmetic_cuts() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(X)
    frame = pandas.DataFrame({"a": X, "b": X})
    cut = r"paddle\.to_tensor\(data\.to_numpy\(\)\)"
    for operation in (
        lambda t: t * series,
        lambda t: series - t,
        lambda t: t @ series,
        lambda t: series.add(t),
        lambda t: frame.mul(t, axis=0),
        lambda t: np.multiply(t, series),
    ):
        with pytest.warns(GradientCutWarning, match=cut):
            operation(leaf())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            operation(paddle.to_tensor(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(pandas.Series(leaf()), X)
        np.testing.assert_array_equal(pandas.DataFrame({"x": leaf()})["x"], X)
    assert paddle.to_tensor(series).dtype == "float64"
    np.testing.assert_array_equal(paddle.to_tensor(frame).numpy(), frame.to_numpy())


def test_xarray_holds_tensors_and_their_gradients() -> None:
    xarray = pytest.importorskip("xarray")
    t = leaf()
    named = xarray.DataArray(t, dims=["time"])
    for result in (named * 2.0, named * xarray.DataArray(X, dims=["time"]), t * named):
        (g,) = paddle.grad(paddle.sum(result.data), t, retain_graph=True)
        assert not result.data.stop_gradient
        assert g.shape == [3]


def test_scikit_learn_takes_tensors_for_data() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    x = paddle.to_tensor(np.random.default_rng(0).standard_normal((9, 3)))
    y = x.matmul(paddle.to_tensor(X))
    fitted = linear_model.LinearRegression().fit(x, y)
    np.testing.assert_allclose(fitted.coef_, X, atol=1e-6)
    with pytest.warns(GradientCutWarning):
        linear_model.LinearRegression().fit(x, y * leaf().sum())


def test_joblib_and_cloudpickle_carry_tensors_layers_and_optimizers(tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    cloudpickle = pytest.importorskip("cloudpickle")

    class Net(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.inner = paddle.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return paddle.tanh(self.inner(x))

    net = Net()
    x = paddle.to_tensor(X, dtype="float32")
    joblib.dump(net.state_dict(), tmp_path / "state")
    for name, value in joblib.load(tmp_path / "state").items():
        np.testing.assert_array_equal(value.numpy(), net.state_dict()[name].numpy())
    assert joblib.hash(paddle.to_tensor(X)) == joblib.hash(paddle.to_tensor(X))
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    step = paddle.jit.to_static(lambda x: net(x).sum())
    again, _, other = pickle.loads(cloudpickle.dumps((net, optimizer, step)))
    np.testing.assert_array_equal(again(x).numpy(), net(x).numpy())
    assert other(x).item() == net(x).sum().item()
    with joblib.parallel_backend("threading", n_jobs=2):
        sums = joblib.Parallel()(joblib.delayed(lambda v: (v * 2).sum().item())(x) for _ in "ab")
    assert sums == [3.0, 3.0]


def test_tensorboard_writes_numbers_and_arrays(tmp_path: Path) -> None:
    tensorboard = pytest.importorskip("tensorboardX")
    with tensorboard.SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", leaf().sum().item(), 1)
        writer.add_histogram("weights", leaf().numpy(), 1)
    (written,) = tmp_path.iterdir()
    assert written.stat().st_size > 100


def test_array_api_compat_knows_the_namespace() -> None:
    compat = pytest.importorskip("array_api_compat")
    t = leaf()
    xp = compat.array_namespace(t)
    assert compat.is_array_api_obj(t)
    assert xp.__name__ == "autograd_engine.interop.array_api"
    (g,) = paddle.grad(xp.sum(xp.sin(t)), t)
    np.testing.assert_allclose(g.numpy(), np.cos(X), rtol=1e-12)
    assert (compat.size(t), str(compat.device(t))) == (3, "cpu")
