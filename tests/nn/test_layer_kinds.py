"""What single layers do beyond their function: statistics, tables, filters, weights of losses."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import unique_name
from autograd_engine.errors import ArgumentError, ModeError

nn, static = paddle.nn, paddle.static
F = paddle.nn.functional


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


# --- batch normalisation


def moments(batches: list[Any], momentum: float) -> tuple[Any, Any]:
    """Running moments over [N, C, H, W], in NumPy."""
    mean, variance = np.zeros(batches[0].shape[1]), np.ones(batches[0].shape[1])
    for x in batches:
        mean = momentum * mean + (1 - momentum) * x.mean((0, 2, 3))
        variance = momentum * variance + (1 - momentum) * x.var((0, 2, 3))
    return mean, variance


BATCHES = [np.asarray(rng().normal(k, 1 + k, (4, 3, 2, 5)), "float32") for k in range(3)]


def test_running_moments_eagerly_and_what_eval_does_with_them() -> None:
    layer = nn.BatchNorm2D(3, momentum=0.7)
    for x in BATCHES:
        layer(paddle.to_tensor(x))
    mean, variance = moments(BATCHES, 0.7)
    np.testing.assert_allclose(layer._mean.numpy(), mean, rtol=1e-5)
    np.testing.assert_allclose(layer._variance.numpy(), variance, rtol=1e-5)
    out = layer.eval()(paddle.to_tensor(BATCHES[0])).numpy()
    spread = (slice(None), None, None)
    wanted = (BATCHES[0] - mean[spread]) / np.sqrt(variance[spread] + 1e-5)
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer._mean.numpy(), mean, rtol=1e-5)  # eval leaves them
    assert layer._mean.stop_gradient
    assert [p.name for p in layer.parameters()] == ["batch_norm2d_0.w_0", "batch_norm2d_0.b_0"]


def network() -> Any:
    return nn.Sequential(
        nn.Conv2D(3, 4, 3, padding=1),
        nn.BatchNorm2D(4, momentum=0.7),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Flatten(),
        nn.Linear(40, 2),
    )


def step(net: Any, optimizer: Any, x: Any) -> Any:
    loss = paddle.mean(paddle.square(net(x)))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def test_training_in_all_three_ways_ends_with_the_same_bits() -> None:
    """Parameters, moments, draws of dropout; and the frozen networks afterwards agree, too."""
    states, losses, frozen = [], [], []
    for compiled in (False, True):
        paddle.seed(3)
        with unique_name.guard():
            net = network()
        start = {n: np.array(v.numpy()) for n, v in net.state_dict().items()}
        sgd = paddle.optimizer.Adam(0.01, parameters=net.parameters())
        run = paddle.jit.to_static(step) if compiled else step
        paddle.seed(5)
        losses.append([float(run(net, sgd, paddle.to_tensor(x))) for x in BATCHES])
        states.append({n: v.numpy() for n, v in net.state_dict().items()})
        frozen.append(net.eval()(paddle.to_tensor(BATCHES[0])).numpy())

    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), unique_name.guard():
        net = network()
        x = static.data("x", [None, 3, 2, 5])
        out = net(x)
        loss = paddle.mean(paddle.square(out))
        test = main.clone(for_test=True)
        paddle.optimizer.Adam(0.01).minimize(loss)
    exe = static.Executor()
    exe.run(startup)
    net.set_state_dict(start)
    paddle.seed(5)
    losses.append([float(exe.run(main, feed={"x": b}, fetch_list=[loss])[0]) for b in BATCHES])
    states.append(net.state_dict())
    frozen.append(exe.run(test, feed={"x": BATCHES[0]}, fetch_list=[out])[0])
    np.testing.assert_array_equal(states[-1]["1._mean"], net.state_dict()["1._mean"])

    assert losses[0] == losses[1] == losses[2]
    for other in states[1:]:
        assert other.keys() == states[0].keys()
        for name, value in states[0].items():
            np.testing.assert_array_equal(value, other[name], err_msg=name)
    np.testing.assert_array_equal(frozen[0], frozen[1])
    np.testing.assert_array_equal(frozen[0], frozen[2])
    assert not np.array_equal(states[0]["1._mean"], start["1._mean"])


def test_names_of_moments() -> None:
    with unique_name.guard():
        assert nn.BatchNorm2D(3)._variance.name == "batch_norm2d_0.w_2"
        assert nn.BatchNorm1D(3, weight_attr=False)._mean.name == "batch_norm1d_0.w_0"
        assert nn.BatchNorm3D(3, name="bn")._mean.name == "bn_mean"
        layer = nn.BatchNorm(3, moving_mean_name="m", moving_variance_name="v", is_test=True)
    assert (layer._mean.name, layer._variance.name) == ("m", "v")
    assert not layer.training
    assert list(layer.state_dict()) == ["weight", "bias", "_mean", "_variance"]


def test_a_copy_has_moments_of_its_own() -> None:
    layer = nn.BatchNorm2D(3)
    other = copy.deepcopy(layer)
    layer(paddle.to_tensor(BATCHES[2]))
    np.testing.assert_array_equal(other._mean.numpy(), np.zeros(3))
    assert not np.array_equal(layer._mean.numpy(), np.zeros(3))


# --- embeddings


def test_the_row_of_padding_is_zeros_and_stays_so() -> None:
    layer = nn.Embedding(4, 2, padding_idx=-1)
    np.testing.assert_array_equal(layer.weight.numpy()[3], [0.0, 0.0])
    assert np.all(layer.weight.numpy()[:3] != 0)
    sgd = paddle.optimizer.SGD(0.5, parameters=layer.parameters())
    before = layer.weight.numpy().copy()
    paddle.sum(layer(paddle.to_tensor([0, 3, 3]))).backward()
    sgd.step()
    np.testing.assert_allclose(layer.weight.numpy()[0], before[0] - 0.5, rtol=1e-6)
    np.testing.assert_array_equal(layer.weight.numpy()[1:], before[1:])


def test_a_table_that_is_given_and_one_that_is_frozen() -> None:
    values = rng().normal(size=(4, 2)).astype("float32")
    layer = nn.Embedding(4, 2, _weight=paddle.to_tensor(values), _freeze=True)
    np.testing.assert_array_equal(layer.weight.numpy(), values)
    assert layer.weight.stop_gradient
    assert layer.weight.name == "embedding_0.w_0"
    with pytest.raises(ValueError, match=r"_weight must have the shape \[4, 3\], got \[4, 2\]"):
        nn.Embedding(4, 3, _weight=values)
    double = nn.Embedding(4, 2, dtype="float64", _weight=values)
    assert double.weight.dtype == paddle.float64


def test_sparse_gradients_and_the_longest_row() -> None:
    layer = nn.Embedding(5, 2, sparse=True)
    paddle.sum(layer(paddle.to_tensor([1, 1, 4]))).backward()
    assert layer.weight.grad.is_selected_rows()
    short = nn.Embedding(3, 2, max_norm=1.0, _weight=np.full((3, 2), 10.0))
    out = short(paddle.to_tensor([1])).numpy()
    np.testing.assert_allclose(np.linalg.norm(out), 1.0, rtol=1e-5)
    np.testing.assert_array_equal(short.weight.numpy()[0], [10.0, 10.0])
    with static.program_guard(static.Program(), static.Program()):
        layer = nn.Embedding(3, 2, max_norm=1.0)
        with pytest.raises(ModeError, match="max_norm writes weight"):
            layer(static.data("x", [None], "int64"))


# --- filters


def test_filters_begin_with_the_spread_of_he() -> None:
    for layer, inputs in ((nn.Conv2D(16, 32, 3), 144), (nn.Conv1D(64, 64, 5, groups=4), 320)):
        spread = layer.weight.numpy().std()
        assert abs(spread / np.sqrt(2.0 / inputs) - 1.0) < 0.1
        np.testing.assert_array_equal(layer.bias.numpy(), 0.0)


def test_attributes_of_parameters() -> None:
    attr = paddle.ParamAttr(name="filters", initializer=paddle.nn.initializer.Constant(0.5))
    layer = nn.Conv2D(1, 1, 2, weight_attr=attr, bias_attr=nn.initializer.Constant(2.0))
    assert layer.weight.name == "filters"
    assert layer(paddle.ones([1, 1, 2, 2])).item() == 4.0
    frozen = nn.Linear(2, 2, weight_attr=paddle.ParamAttr(trainable=False))
    assert frozen.weight.stop_gradient
    assert not frozen.bias.stop_gradient


def test_padding_modes_of_a_convolution() -> None:
    x = paddle.to_tensor(rng().normal(size=(1, 2, 4, 5)).astype("float32"))
    for mode, pad in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")):
        layer = nn.Conv2D(2, 3, 3, padding=[1, 2], padding_mode=mode)
        around = np.pad(x.numpy(), ((0, 0), (0, 0), (1, 1), (2, 2)), pad)
        wanted = F.conv2d(paddle.to_tensor(around), layer.weight, layer.bias)
        np.testing.assert_allclose(layer(x).numpy(), wanted.numpy(), rtol=1e-6)


def test_sizes_that_a_call_asks_for() -> None:
    layer = nn.Conv2DTranspose(2, 3, 3, stride=2, output_padding=1)
    x = paddle.ones([1, 2, 4, 4])
    assert layer(x).shape == [1, 3, 10, 10]
    assert layer(x, output_size=[9, 10]).shape == [1, 3, 9, 10]
    pool, back = nn.MaxPool2D(2, return_mask=True), nn.MaxUnPool2D(2)
    out, where = pool(paddle.ones([1, 1, 5, 4]))
    assert back(out, where).shape == [1, 1, 4, 4]
    assert back(out, where, output_size=[5, 4]).shape == [1, 1, 5, 4]


# --- losses


def test_weights_of_a_loss_are_kept_beside_its_state() -> None:
    loss = nn.CrossEntropyLoss(weight=[0.5, 1.0])
    assert isinstance(loss.weight, paddle.Tensor)
    assert not loss.state_dict()
    assert not loss.parameters()
    logits, label = paddle.zeros([2, 2]), paddle.to_tensor([0, 1])
    assert loss(logits, label).dtype == paddle.float32
    loss.to(dtype="float64")
    assert loss.weight.dtype == paddle.float64
    assert loss(logits.astype("float64"), label).dtype == paddle.float64


def test_weights_of_a_loss_that_are_learned_are_parameters() -> None:
    loss = nn.BCEWithLogitsLoss(pos_weight=paddle.create_parameter([3], name="importance"))
    assert [p.name for p in loss.parameters()] == ["importance"]
    assert list(loss.state_dict()) == ["pos_weight"]
    assert loss.weight is None


def test_adaptive_softmax() -> None:
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], div_value=2.0)
    assert [list(w.shape) for pair in layer.tail_weights for w in pair] == [
        [8, 4],
        [4, 5],
        [8, 2],
        [2, 10],
    ]
    x = paddle.to_tensor(rng().normal(size=(6, 8)).astype("float32"))
    label = paddle.to_tensor([0, 4, 5, 9, 10, 19])
    everything = layer.log_prob(x).numpy()
    np.testing.assert_allclose(np.exp(everything).sum(1), 1.0, rtol=1e-5)
    out, loss = layer(x, label)
    wanted = everything[np.arange(6), label.numpy()]
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(loss.item(), -wanted.mean(), rtol=1e-5)
    np.testing.assert_array_equal(layer.predict(x).numpy(), everything.argmax(1))
    loss.backward()
    assert len(layer.parameters()) == 5
    assert all(p.grad is not None for p in layer.parameters())


def test_a_tree_of_ones_own_goes_with_each_call() -> None:
    layer = nn.HSigmoidLoss(3, 4, is_custom=True)
    with pytest.raises(ArgumentError, match="given with each call if is_custom"):
        layer(paddle.zeros([1, 3]), paddle.to_tensor([1]))
    path = paddle.to_tensor([[0]])
    with pytest.raises(ArgumentError, match="and never else"):
        nn.HSigmoidLoss(3, 4)(paddle.zeros([1, 3]), paddle.to_tensor([1]), path, path)


# --- noise


def test_dropout_can_be_changed_after_it_was_made() -> None:
    layer = nn.Dropout(0.5)
    layer.p = 0.0
    assert layer(paddle.ones([50])).tolist() == [1.0] * 50
    assert layer.extra_repr().startswith("p=0.0")
    x = paddle.ones([50])
    assert nn.Dropout(1.0, inplace=True)(x) is x
    assert x.tolist() == [0.0] * 50


def test_silu_in_place() -> None:
    x = paddle.to_tensor([1.0, -2.0])
    wanted = nn.Silu()(x).tolist()
    assert nn.Silu(inplace=True)(x) is x
    assert x.tolist() == wanted


def test_leaky_slopes_are_drawn_between_the_bounds() -> None:
    layer = nn.RReLU(0.25, 0.5)
    x = paddle.full([1000], -1.0)
    slopes = -layer(x).numpy()
    assert 0.25 <= slopes.min() < 0.26
    assert 0.49 < slopes.max() <= 0.5
    assert "training=False" in repr(layer.eval())
    np.testing.assert_allclose(layer(x).numpy(), -0.375)


def test_spectral_norm_finds_the_largest_singular_value() -> None:
    w = rng().normal(size=(4, 3, 2)).astype("float32")
    layer = nn.SpectralNorm([4, 3, 2], dim=1, power_iters=200)
    matrix = w.transpose(1, 0, 2).reshape(3, 8)
    wanted = w / np.linalg.svd(matrix, compute_uv=False)[0]
    np.testing.assert_allclose(layer(paddle.to_tensor(w)).numpy(), wanted, rtol=1e-4, atol=1e-6)
    before = layer.weight_u.numpy().copy()
    assert layer.weight_u.stop_gradient
    layer(paddle.to_tensor(w))
    np.testing.assert_array_equal(layer.weight_u.numpy(), before)
