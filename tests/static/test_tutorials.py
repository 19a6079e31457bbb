"""What programs of the reference's tutorials use besides layers and optimizers."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle

static = paddle.static
F = paddle.nn.functional
pytestmark = pytest.mark.usefixtures("static_mode")


def random(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, shape).astype("float32")


def start() -> Any:
    exe = static.Executor()
    exe.run(static.default_startup_program())
    return exe


def value(name: str) -> Any:
    return np.array(static.global_scope().find_var(name).get_tensor())


# --- programs and their copies


def test_a_copy_is_fetched_by_variables_of_the_original() -> None:
    x = static.data("x", [None, 3])
    loss = paddle.mean(F.dropout(static.nn.fc(x, 2), 0.5))
    test = static.default_main_program().clone(for_test=True)
    paddle.optimizer.SGD(0.1).minimize(loss)
    exe, feed = start(), {"x": random(4, 3)}
    assert exe.run(test, feed, [loss])[0] == exe.run(test, feed, [loss.name])[0]
    again = test.clone()
    assert exe.run(again, feed, [loss])[0] == exe.run(test, feed, [loss])[0]
    small = static.normalize_program(test, [x], [loss])
    assert exe.run(small, feed, [loss.name])[0] == exe.run(test, feed, [loss])[0]


def test_a_copy_is_not_fetched_by_what_has_the_name_elsewhere() -> None:
    test = static.default_main_program().clone()
    with static.program_guard(test):
        y = static.data("x", [2]) + 1.0
    static.data("x", [3])
    with pytest.raises(RuntimeError, match="was built in another one"):
        static.Executor().run(feed={"x": np.ones(3, "float32")}, fetch_list=[y])
    x = test.global_block().var("x")  # another shape, so another variable
    with pytest.raises(RuntimeError, match="was built in another one"):
        static.Executor().run(feed={"x": np.ones(3, "float32")}, fetch_list=[x])


def test_state_dict(tmp_path: Any) -> None:
    x = static.data("x", [None, 3])
    paddle.optimizer.Momentum(0.1).minimize(paddle.mean(static.nn.fc(x, 2, name="f")))
    main, exe = static.default_main_program(), start()
    exe.run(feed={"x": random(4, 3)})
    assert sorted(main.state_dict("param")) == ["f.b_0", "f.w_0"]
    assert set(main.state_dict()) == {*main.state_dict("param"), *main.state_dict("opt")}
    saved = {name: np.array(kept) for name, kept in main.state_dict().items()}
    exe.run(feed={"x": random(4, 3)})
    assert value("f.w_0").tolist() != saved["f.w_0"].tolist()
    main.set_state_dict(saved)
    assert all(value(name).tolist() == array.tolist() for name, array in saved.items())
    other = static.Scope()
    main.set_state_dict(saved, other)
    assert np.array(main.state_dict("param", other)["f.w_0"]).tolist() == saved["f.w_0"].tolist()


# --- variables


def test_assign_keeps_what_a_metric_has_been() -> None:
    x = static.data("x", [1])
    moving = static.create_global_var([1], 0.5, "float32", persistable=True)
    assert paddle.assign(moving * 0.9 + x * 0.1, output=moving) is moving
    twice = moving * 2.0
    exe = start()
    kept = np.float32(0.5)
    for k in range(3):
        kept = kept * np.float32(0.9) + np.float32(k) * np.float32(0.1)
        found = exe.run(feed={"x": np.full(1, k, "float32")}, fetch_list=[moving, twice])
        np.testing.assert_allclose(found, [[kept], [2 * kept]], rtol=1e-6)


def test_assign_sums_gradients_of_several_runs() -> None:
    x = static.data("x", [None, 3])
    w = static.create_parameter([3, 1], "float32", name="w")
    ((_, gradient),) = static.append_backward(paddle.mean(paddle.matmul(x, w)))
    total = static.create_global_var([3, 1], 0.0, "float32", persistable=True)
    paddle.assign(total + gradient, total)
    exe, rows = start(), [random(4, 3, seed=k) for k in range(3)]
    for batch in rows:
        (found,) = exe.run(feed={"x": batch}, fetch_list=[total])
    wanted = sum(batch.mean(0) for batch in rows)
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-5)


def test_assign_of_numbers_and_inside_a_branch() -> None:
    x = static.data("x", [])
    kept = static.create_global_var([2], 0.0, "float32", persistable=True)
    paddle.assign([1, 2], kept)
    static.nn.cond(x > 0.0, lambda: paddle.assign(np.array([3.0, 4.0]), kept), lambda: kept)
    exe = start()
    assert exe.run(feed={"x": np.float32(1.0)}, fetch_list=[kept])[0].tolist() == [3.0, 4.0]
    assert exe.run(feed={"x": np.float32(-1.0)}, fetch_list=[kept])[0].tolist() == [1.0, 2.0]


def test_a_detached_variable_has_no_gradient() -> None:
    x = static.data("x", [2])
    x.stop_gradient = False
    [dx] = static.gradients(paddle.sum(x * x.detach()), x)
    fed = np.array([3.0, 5.0], "float32")
    assert static.Executor().run(feed={"x": fed}, fetch_list=[dx])[0].tolist() == [3.0, 5.0]


def test_values_of_variables_are_read_and_set() -> None:
    w = static.create_parameter([2], "float32", name="w")
    start()
    w.set_value([1.0, 2.0])
    assert np.array(w.get_value()).tolist() == value("w").tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"w has shape \[2\]; got \[3\]"):
        w.set_value([1.0, 2.0, 3.0])


# --- metrics


def area(scores: Any, label: Any) -> float:
    """How often a positive has a higher score than a negative; half where they are equal."""
    higher = scores[label == 1][:, None] - scores[label == 0][None, :]
    return float(((higher > 0) + 0.5 * (higher == 0)).mean())


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_auc(steps: int) -> None:
    scores, label = static.data("s", [None, 2]), static.data("l", [None, 1], "int64")
    overall, recent, states = static.auc(scores, label, num_thresholds=20, slide_steps=steps)
    assert len(states) == 4
    exe, seen = start(), []
    for k in range(4):
        bins = np.random.default_rng(k).integers(0, 20, 30)
        positive = (bins + 0.5) / 20  # in the middle of a bin
        answers = (np.random.default_rng(k + 9).uniform(0, 20, 30) < bins).astype("int64")
        seen.append((positive, answers))
        fed = np.stack([1.0 - positive, positive], 1).astype("float32")
        found = exe.run(feed={"s": fed, "l": answers[:, None]}, fetch_list=[overall, recent])
        for got, batches in zip(found, (seen, seen[-steps:]), strict=True):
            assert got.shape == ()
            wanted = area(*(np.concatenate(parts) for parts in zip(*batches, strict=True)))
            np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_auc_where_there_is_one_class_only() -> None:
    scores, label = static.data("s", [None, 1]), static.data("l", [None], "int64")
    found, _, _ = static.auc(scores, label)
    feed = {"s": random(3, 1) ** 2, "l": np.ones(3, "int64")}
    assert start().run(feed=feed, fetch_list=[found])[0] == 0.0


def test_accuracy_counts() -> None:
    scores, label = static.data("s", [None, 3]), static.data("l", [None, 1], "int64")
    correct, total = (static.create_global_var([1], 0, "int32") for _ in range(2))
    share = static.accuracy(scores, label, correct=correct, total=total)
    feed = {"s": np.eye(3, dtype="float32"), "l": np.array([[0], [1], [1]])}
    found = start().run(feed=feed, fetch_list=[share, correct, total])
    np.testing.assert_allclose(found[0], 2 / 3, rtol=1e-6)
    assert [v.tolist() for v in found[1:]] == [[2], [3]]


# --- layers


def test_bilinear_tensor_product() -> None:
    x, y = static.data("x", [None, 4]), static.data("y", [None, 3])
    out = static.nn.bilinear_tensor_product(x, y, 5, name="b")
    exe, feed = start(), {"x": random(2, 4), "y": random(2, 3, seed=1)}
    static.global_scope().find_var("b.b_0").get_tensor().set(random(1, 5))
    wanted = np.einsum("ni,kij,nj->nk", feed["x"], value("b.w_0"), feed["y"]) + random(1, 5)
    np.testing.assert_allclose(exe.run(feed=feed, fetch_list=[out])[0], wanted, rtol=1e-4)


@pytest.mark.parametrize("ahead", [0, 2, 7])
def test_row_conv(ahead: int) -> None:
    out = static.nn.row_conv(static.data("x", [None, 5, 3]), ahead, param_attr="rows")
    exe, x = start(), random(2, 5, 3)
    wide = np.concatenate([x, np.zeros((2, ahead, 3), "float32")], 1)
    wanted = sum(wide[:, k : k + 5] * value("rows")[k] for k in range(ahead + 1))
    np.testing.assert_allclose(exe.run(feed={"x": x}, fetch_list=[out])[0], wanted, rtol=1e-5)


def test_nce() -> None:
    """One class alone is drawn, so that the loss is known; the values are those of Paddle."""
    x, y = static.data("x", [None, 3]), static.data("y", [None, 1], "int64")
    x.stop_gradient = False
    weight = static.data("weight", [None, 1])
    chances = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    plain = static.nn.nce(x, y, 6, num_neg_samples=2, sampler="custom_dist", custom_dist=chances)
    weighted = static.nn.nce(x, y, 6, weight, "w", False, 4, None, "log_uniform")
    (gradient,) = static.gradients(plain, x)
    feed = {"x": random(4, 3), "y": np.array([[0], [2], [3], [5]]), "weight": 0 * random(4, 1)}
    exe = start()
    static.global_scope().find_var("nce_0.b_0").get_tensor().set(random(6, 1))
    got, zero, slope = exe.run(feed=feed, fetch_list=[plain, weighted, gradient])
    w, b = value("nce_0.w_0"), value("nce_0.b_0")[:, 0]

    def loss(row: Any, label: int) -> Any:
        s = 1 / (1 + np.exp(-(w.astype("float64") @ row + b)))
        q = 2.0 * np.array(chances)
        return (np.log(s + q)[label] - np.log(s)[label] + 2 * np.log((s + q) / 2.0)[2]) / 3

    wanted = [loss(row, k) for row, k in zip(feed["x"], feed["y"][:, 0], strict=True)]
    np.testing.assert_allclose(got[:, 0], wanted, rtol=1e-5)
    assert zero.tolist() == [[0.0]] * 4
    for k, step in enumerate(1e-5 * np.eye(3)):
        rows = zip(feed["x"].astype("float64"), feed["y"][:, 0], strict=True)
        rates = [(loss(r + step, c) - loss(r - step, c)) / 2e-5 for r, c in rows]
        np.testing.assert_allclose(slope[:, k], rates, atol=1e-6)


def test_spectral_norm_is_one() -> None:
    w = static.create_parameter([4, 3, 2], "float32", name="w")
    out = static.nn.spectral_norm(w, dim=1, power_iters=50)
    (found,) = start().run(fetch_list=[out])
    largest = np.linalg.svd(np.moveaxis(found, 1, 0).reshape(3, 8), compute_uv=False)[0]
    np.testing.assert_allclose(largest, 1.0, rtol=1e-4)


def test_conv3d_transpose_makes_the_size_that_is_asked_for() -> None:
    x = static.data("x", [1, 2, 4, 4, 4])
    out = static.nn.conv3d_transpose(x, 3, output_size=[9, 9, 9], stride=2, name="up")
    assert out.shape == (1, 3, 9, 9, 9)
    exe, fed = start(), random(1, 2, 4, 4, 4)
    paddle.disable_static()
    args = (paddle.to_tensor(fed), paddle.to_tensor(value("up.w_0")), None, 2)
    wanted = F.conv3d_transpose(*args).numpy()
    np.testing.assert_allclose(exe.run(feed={"x": fed}, fetch_list=[out])[0], wanted, rtol=1e-4)


def test_names_and_statistics_of_batch_norm() -> None:
    x = static.data("x", [None, 3, 2, 2])
    out = static.nn.batch_norm(x, moving_mean_name="mean", moving_variance_name="var")
    fixed = static.nn.batch_norm(x, moving_mean_name="m", use_global_stats=True)
    exe, fed = start(), random(4, 3, 2, 2)
    found = exe.run(feed={"x": fed}, fetch_list=[out, fixed])
    np.testing.assert_allclose(value("mean"), 0.1 * fed.mean((0, 2, 3)), rtol=1e-4, atol=1e-6)
    assert value("m").tolist() == [0.0] * 3
    np.testing.assert_allclose(found[1], fed / np.sqrt(1 + 1e-5), rtol=1e-5)
    np.testing.assert_allclose(found[0].mean((0, 2, 3)), 0.0, atol=1e-6)


def test_places_where_the_reference_has_names() -> None:
    assert paddle.utils.unique_name is paddle.unique_name
    spec = static.InputSpec([None, 4])
    assert (spec.stop_gradient, spec.dtype.name) == (False, "float32")
