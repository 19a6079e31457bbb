"""Tensors as Python numbers and collections, copied and pickled, read by other libraries."""

import collections.abc
import copy
import io
import math
import multiprocessing
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.eager.row_sparse import RowSparse
from autograd_engine.errors import ArgumentError, GradientCutWarning, ModeError

ARRAYS = {
    "0-d": np.array(2.5),
    "empty": np.zeros((0, 3)),
    "float16": np.ones((2, 2), np.float16),
    "bool": np.array([True, False]),
    "complex": np.array([1 + 2j]),
    "int8": np.array([1, 2], np.int8),
    "float32": np.arange(6, dtype=np.float32).reshape(2, 3),
}


# --- values


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_a_view_of_values_cannot_be_made_writeable(array: np.ndarray) -> None:
    t = paddle.to_tensor(array)
    views = [
        t.numpy(),
        np.asarray(t),
        np.array(t, copy=False),
        t.__array__(copy=False),
        t.to_numpy(),
    ]
    views += [t.numpy()[...], t.numpy().reshape(-1)]
    for view in views:
        assert view.dtype == array.dtype
        assert np.shares_memory(view, t._data) or not array.size
        with pytest.raises(ValueError, match=r"WRITEABLE|read-only|writeable"):
            view.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 1
        assert memoryview(view).readonly
    np.testing.assert_array_equal(t.numpy(), array)


def test_views_of_results_that_are_not_contiguous() -> None:
    x = paddle.to_tensor(np.arange(24.0).reshape(2, 3, 4))
    for t in (x.transpose([2, 0, 1]), x[:, ::-2], x.expand([5, 2, 3, 4]), x[..., 1], x.flip([0])):
        view = t.numpy()
        assert view.strides == t._data.strides
        np.testing.assert_array_equal(view, t.tolist())
        with pytest.raises(ValueError, match=r"WRITEABLE|writeable"):
            view.flags.writeable = True


def test_the_graph_survives_an_attack_through_numpy() -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    y = (x * x).sum()
    for view in (x.numpy(), np.asarray(x), np.array(x, copy=False)):
        with pytest.raises(ValueError):  # noqa: PT011 - NumPy's, as above
            view.flags.writeable = True
    np.array(x)[:] = 100.0
    y.backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_array_takes_dtype_and_copy() -> None:
    t = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert np.asarray(t, dtype=np.float64).dtype == np.float64
    assert np.array(t).flags.writeable
    assert not np.shares_memory(np.array(t), t.numpy())
    with pytest.raises(ValueError, match="leave copy=False away"):
        np.array(t, dtype=np.float64, copy=False)
    scalars = [paddle.to_tensor(1.0), paddle.to_tensor(2.0, stop_gradient=False)]
    with pytest.warns(GradientCutWarning, match=r"np\.array takes the values"):
        both, twice = np.array(scalars), np.array([t, t])
    assert both.tolist() == [1.0, 2.0]
    assert twice.shape == (2, 2)
    np.testing.assert_allclose(t, [1.0, 2.0])
    np.testing.assert_array_equal(t * 2.0, np.array([2.0, 4.0]))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        np.testing.assert_allclose(t, [1.0, 2.5])


# --- numbers


def test_numbers() -> None:
    t = paddle.to_tensor(2.6, stop_gradient=False)
    assert (float(t), int(t), complex(t), bool(t)) == (
        float(np.float32(2.6)),
        2,
        complex(np.float32(2.6)),
        True,
    )
    assert (math.floor(t), math.ceil(t), math.trunc(t), math.sqrt(paddle.to_tensor(4.0))) == (
        2,
        3,
        2,
        2.0,
    )
    rounded = round(t)
    assert isinstance(rounded, paddle.Tensor)
    assert rounded.item() == 3.0
    assert round(paddle.to_tensor(2.345, dtype="float64"), 2).item() == 2.35
    three = paddle.to_tensor(3)
    assert (operator.index(three), [4, 5, 6, 7][three], list(range(three))) == (3, 7, [0, 1, 2])
    with pytest.raises(TypeError, match=r"use \.astype\('int64'\)"):
        operator.index(t)
    with pytest.raises(TypeError, match=r"float\(\) of a complex tensor: use complex"):
        float(paddle.to_tensor(1 + 2j))
    with pytest.raises(ValueError, match="reduce it first"):
        float(paddle.to_tensor([1.0, 2.0]))


def test_divmod_is_differentiated() -> None:
    t = paddle.to_tensor([7.5, -7.5], dtype="float64", stop_gradient=False)
    for whole, rest in (divmod(t, 2.0), divmod(t, np.array([2.0, 2.0]))):
        assert whole.tolist() == [3.0, -4.0]
        assert rest.tolist() == [1.5, 0.5]
    whole, rest = divmod(20.0, t)
    assert whole.tolist() == [2.0, -3.0]
    rest.sum().backward()
    assert t.grad.tolist() == [-2.0, 3.0]


def test_format() -> None:
    t = paddle.to_tensor(3.14159, stop_gradient=False)
    assert f"{t:.3f} {t:8.2e}" == "3.142 3.14e+00"
    assert f"{paddle.to_tensor(7):03d}" == "007"
    assert f"{paddle.to_tensor([1.0, 2.5]):.2f}" == "[1.00, 2.50]"
    v = paddle.to_tensor([1.0])
    assert f"{v}" == str(v)


# --- collections


def test_collections() -> None:
    t = paddle.to_tensor([3.0, 1.0, 2.0])
    for kind in ("Iterable", "Sized", "Container", "Collection", "Reversible", "Hashable"):
        assert isinstance(t, getattr(collections.abc, kind))
    assert (len(t), 1.0 in t, 9.0 in t) == (3, True, False)
    assert 4.0 in paddle.to_tensor([[1.0], [4.0]])
    assert [r.item() for r in reversed(t)] == [2.0, 1.0, 3.0]
    assert (max(t).item(), min(t).item(), sum(t).item()) == (3.0, 1.0, 6.0)
    assert [x.item() for x in sorted(t)] == [1.0, 2.0, 3.0]
    assert sum([t, t]).tolist() == [6.0, 2.0, 4.0]
    assert {t: 1}[t] == 1
    first, *_, last = t
    assert (first.item(), last.item()) == (3.0, 2.0)
    for use in (len, iter, reversed):
        with pytest.raises(TypeError, match="0-d tensor"):
            use(paddle.to_tensor(1.0))
    assert list(paddle.zeros([0, 2])) == []


def test_rows_are_differentiated_in_one_operation() -> None:
    x = paddle.to_tensor(np.arange(6.0).reshape(3, 2), stop_gradient=False)
    rows = list(x)
    assert len({id(r._node.edges[0]) for r in rows}) == 1
    total = sum((k + 1.0) * (r * r).sum() for k, r in enumerate(rows))
    (g,) = paddle.grad(total, x, create_graph=True)
    np.testing.assert_allclose(g.numpy(), 2.0 * x.numpy() * [[1.0], [2.0], [3.0]])
    (h,) = paddle.grad(g.sum(), x)
    assert h.tolist() == [[2.0, 2.0], [4.0, 4.0], [6.0, 6.0]]


def test_rows_follow_what_the_loop_writes() -> None:
    x = paddle.to_tensor([[1.0], [0.0], [0.0]])
    w = paddle.to_tensor(3.0, stop_gradient=False)
    x = x * 1.0
    for k, row in enumerate(x):
        if k < 2:
            x[k + 1] = row * w
    assert x.tolist() == [[1.0], [3.0], [9.0]]
    x.sum().backward()
    assert w.grad.item() == 7.0


# --- copies


def leaves() -> dict[str, Any]:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (x * x).sum().backward()
    p = paddle.create_parameter([2, 2], name="weight")
    (p * p).sum().backward()
    frozen = paddle.to_tensor([1, 2])
    frozen.name, frozen.persistable = "ids", True
    return {"grad": x, "parameter": p, "constant": frozen, "view": paddle.to_tensor([[1.0, 2.0]]).T}


@pytest.mark.parametrize("kind", list(leaves()))
@pytest.mark.parametrize("how", ["copy", "deepcopy", *(f"pickle {k}" for k in range(6))])
def test_copies_of_leaves(kind: str, how: str) -> None:
    t = leaves()[kind]
    t.name  # noqa: B018 - gives it one
    t.register_hook(lambda g: g * 0.0) if not t.stop_gradient else None
    if how == "copy":
        new = copy.copy(t)
    elif how == "deepcopy":
        new = copy.deepcopy(t)
    else:
        new = pickle.loads(pickle.dumps(t, protocol=int(how[-1])))
    assert type(new) is type(t)
    assert new is not t
    assert (new.name, new.stop_gradient, new.dtype, new.shape) == (
        t.name,
        t.stop_gradient,
        t.dtype,
        t.shape,
    )
    assert getattr(new, "persistable", None) == getattr(t, "persistable", None)
    np.testing.assert_array_equal(new.numpy(), t.numpy())
    assert (new.grad is None) == (t.grad is None)
    if t.grad is not None:
        assert new.grad is not t.grad
        before = t.grad.tolist()
        (new * 10.0).sum().backward()  # no hook, and a gradient of its own
        assert t.grad.tolist() == before
        np.testing.assert_allclose(new.grad.numpy(), np.array(before) + 10.0)


def test_a_shallow_copy_of_a_result_shares_its_history() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * x
    z = copy.copy(y)
    assert z is not y
    assert z._data is y._data
    (y + 2.0 * z).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_deep_copies_of_a_result_are_refused_with_its_line() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * x  # the line
    for call, name in ((copy.deepcopy, r"copy\.deepcopy"), (pickle.dumps, "pickle")):
        with pytest.raises(
            ArgumentError, match=rf"{name}: .* multiply at test_protocols_python\.py:\d+.*x\.detach"
        ):
            call(y)
    assert pickle.loads(pickle.dumps(y.detach())).tolist() == [1.0, 4.0]
    model = {"w": x, "aux": [x]}
    copied = copy.deepcopy(model)
    assert copied["w"] is copied["aux"][0]
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded["w"] is loaded["aux"][0]


def test_copies_of_row_sparse_gradients() -> None:
    table = paddle.create_parameter([5, 2])
    ids = paddle.to_tensor([1, 3, 1])
    paddle.nn.functional.embedding(ids, table, sparse=True).sum().backward()
    grad = table.grad
    assert isinstance(grad, RowSparse)
    shallow = copy.copy(grad)
    assert isinstance(shallow, RowSparse)
    assert shallow.is_selected_rows()
    for new in (shallow, copy.deepcopy(grad), pickle.loads(pickle.dumps(grad))):
        np.testing.assert_array_equal(new.numpy(), grad.numpy())
    again = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(again.grad.numpy(), grad.numpy())
    np.testing.assert_array_equal(copy.deepcopy(table).grad.numpy(), grad.numpy())


class Tagged(paddle.Tensor):
    """A user's subclass, with attributes of its own."""


def test_a_subclass_keeps_its_attributes() -> None:
    t = Tagged([1.0])
    t.tag = ["mine"]
    for new in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert type(new) is Tagged
        assert new.tag == ["mine"]
    assert copy.deepcopy(t).tag is not t.tag


def test_unpickled_values_are_written_by_nobody_else() -> None:
    """A buffer that pickle hands over out of band belongs to whoever made it."""
    t = paddle.to_tensor(np.arange(100.0), stop_gradient=False)
    buffers: list[Any] = []
    data = pickle.dumps(t, protocol=5, buffer_callback=buffers.append)
    raw = [bytearray(b.raw()) for b in buffers]
    new = pickle.loads(data, buffers=raw)
    y = (new * new).sum()
    for b in raw:
        b[:] = bytes(len(b))
    y.backward()
    np.testing.assert_array_equal(new.grad.numpy(), 2.0 * np.arange(100.0))


def double(t: Any) -> Any:
    return (t * 2.0).detach()


def test_multiprocessing() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        made = pool.map(double, [paddle.to_tensor([1.0, 2.0], stop_gradient=False)])
    assert made[0].tolist() == [2.0, 4.0]


# --- programs


def test_a_variable_is_no_number(static_mode: None) -> None:
    x = paddle.static.data("x", [2], "int64")
    for read in (int, float, complex, lambda v: 1 in v):
        with pytest.raises(ModeError, match="fetch_list"):
            read(x)
    assert [op.type for op in divmod(x, 2)[0].block.ops] == ["floor_divide", "remainder"]


# --- other libraries


@pytest.fixture
def tensors() -> dict[str, Any]:
    x = paddle.to_tensor(np.linspace(0.0, 1.0, 12), stop_gradient=False)
    return {"leaf": x, "result": x * 2.0, "matrix": (x * 1.0).reshape([4, 3]), "plain": x.detach()}


def test_matplotlib(tensors: dict[str, Any]) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, axes = plt.subplots()
    for name in ("leaf", "result", "plain"):
        t = tensors[name]
        (line,) = axes.plot(t)
        np.testing.assert_array_equal(line.get_ydata(), t.numpy())
        (line,) = axes.plot(tensors["leaf"], t, "--")
        np.testing.assert_array_equal(line.get_xdata(), tensors["leaf"].numpy())
        points = axes.scatter(tensors["plain"], t, c=t, s=20 * t)
        np.testing.assert_allclose(points.get_offsets()[:, 1], t.numpy())
        assert [bar.get_height() for bar in axes.bar(tensors["leaf"], t)] == t.tolist()
        counts, _, _ = axes.hist(t, bins=4)
        assert counts.sum() == 12
        axes.fill_between(tensors["plain"], t, t * 2)
        axes.bar(range(12), t)
        axes.errorbar(tensors["plain"], t, yerr=t * 0.1)
        axes.axhline(t[1])
    image = axes.imshow(tensors["matrix"])
    np.testing.assert_allclose(image.get_array(), tensors["matrix"].numpy())
    axes.contourf(tensors["matrix"])
    assert len(axes.plot(tensors["matrix"])) == 3
    axes.boxplot(tensors["leaf"])
    axes.set_xlim(tensors["plain"][0], tensors["plain"][-1])
    figure.savefig(io.BytesIO())
    plt.close(figure)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pandas(tensors: dict[str, Any]) -> None:
    pd = pytest.importorskip("pandas")
    for name in ("leaf", "result", "plain"):
        t = tensors[name]
        assert pd.Series(t).tolist() == t.tolist()
        assert pd.DataFrame({"x": t, "y": t * 2})["y"].tolist() == (t * 2).tolist()
    frame = pd.DataFrame(tensors["matrix"], columns=list("abc"))
    np.testing.assert_array_equal(frame.to_numpy(), tensors["matrix"].numpy())
    frame["d"] = tensors["plain"][:4]
    assert frame["d"].tolist() == tensors["plain"][:4].tolist()
    frame.loc[0, "a"] = 5.0  # its own memory
    assert tensors["matrix"][0, 0].item() == 0.0
    assert paddle.to_tensor(frame.to_numpy()).shape == [4, 4]


def test_scikit_learn(tensors: dict[str, Any]) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(20, 3)), stop_gradient=False)
    y = x @ paddle.to_tensor([1.0, 2.0, 3.0], dtype="float64") + 4.0
    with pytest.warns(GradientCutWarning, match=r"\.fit takes the values"):
        model = linear.LinearRegression().fit(x, y)
    x, y = x.detach(), y.detach()
    np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(model.predict(x), y.numpy())
    assert model.score(x, y) == pytest.approx(1.0)
    np.testing.assert_allclose(preprocessing.StandardScaler().fit_transform(x).std(axis=0), 1.0)
    labels = (y > 4.0).astype("int64")
    linear.LogisticRegression().fit(x, labels)


def test_scipy(tensors: dict[str, Any]) -> None:
    optimize = pytest.importorskip("scipy.optimize")

    def value_and_grad(v: np.ndarray) -> tuple[Any, Any]:
        t = paddle.to_tensor(v, stop_gradient=False)
        loss = ((t - 3.0) ** 2).sum()
        loss.backward()
        return loss, t.grad

    found = optimize.minimize(value_and_grad, np.zeros(2), jac=True, method="BFGS")
    np.testing.assert_allclose(found.x, 3.0, rtol=1e-5)
