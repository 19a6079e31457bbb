"""Layers of `static.nn` that fewer programs ask for, held to PaddlePaddle 2.6.2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    ModeError,
    NotATensorError,
    ShapeError,
)

nn = static.nn

pytestmark = pytest.mark.usefixtures("static_mode")


def waves(function: Any, shape: Any) -> Any:
    return function(np.arange(int(np.prod(shape)))).reshape(shape).astype("float32")


def run(y: Any, x: Any, shape: Any) -> Any:
    """The value of `y` where parameters are cosines and `x` is sines."""
    scope, exe = static.Scope(), static.Executor()
    exe.run(static.default_startup_program(), scope=scope)
    for p in static.default_main_program().all_parameters():
        scope.find_var(p.name).get_tensor().set(waves(np.cos, p.shape))
    fed = waves(np.sin, [2 if d is None else d for d in shape])
    return exe.run(feed={"x": fed}, fetch_list=[y], scope=scope)[0]


IMAGE, LAST = [None, 4, 5, 6], [None, 3, 3, 4]
SMALL = [None, 4, 3, 3]

# Shapes of the parameters and of the result; sum, sum of squares, and the first three elements.
OBSERVED: list[tuple[Callable[[Any], Any], list[Any], Any, Any, list[float]]] = [
    (
        lambda x: nn.group_norm(x, 2, param_attr=False, bias_attr=False),
        SMALL,
        [],
        (2, 4, 3, 3),
        [-6.183981895446777e-07, 71.9985513487192, -0.054378967, 1.1456005573, 1.2423243522],
    ),
    (
        lambda x: nn.instance_norm(x, param_attr=False, bias_attr=False),
        SMALL,
        [],
        (2, 4, 3, 3),
        [3.073364496231079e-08, 71.99848198688562, -0.2488844841, 0.9725999236, 1.07105720043],
    ),
    (
        lambda x: nn.prelu(x, "all"),
        SMALL,
        [("prelu_0.w_0", (1,))],
        (2, 4, 3, 3),
        [1.6736023211851716, 36.04660724582354, 0.0, 0.8414709568, 0.9092974066],
    ),
    (
        lambda x: nn.prelu(x, "channel"),
        SMALL,
        [("prelu_0.w_0", (1, 4, 1, 1))],
        (2, 4, 3, 3),
        [22.366685008862987, 28.674378667034834, 0.0, 0.8414709568, 0.9092974066],
    ),
    (
        lambda x: nn.prelu(x, "channel", data_format="NHWC"),
        LAST,
        [("prelu_0.w_0", (1, 1, 1, 4))],
        (2, 3, 3, 4),
        [22.09018176724203, 29.657315072368757, 0.0, 0.8414709568, 0.9092974066],
    ),
    (
        lambda x: nn.prelu(x, "element"),
        SMALL,
        [("prelu_0.w_0", (1, 4, 3, 3))],
        (2, 4, 3, 3),
        [14.8311051747296, 27.831718066034522, 0.0, 0.8414709568, 0.9092974066],
    ),
    (
        lambda x: nn.conv3d(x, 6, 3, padding=1, groups=2, act="relu"),
        [None, 4, 4, 5, 6],
        [("conv3d_0.w_0", (6, 2, 3, 3, 3)), ("conv3d_0.b_0", (6,))],
        (2, 6, 4, 5, 6),
        [601.273588731885, 797.2435058851468, 0.9849838614, 1.1552114486, 0.85931009],
    ),
    (
        lambda x: nn.conv3d(x, 6, (1, 2, 3), 2, data_format="NDHWC", bias_attr=False),
        [None, 4, 5, 6, 2],
        [("conv3d_0.w_0", (6, 2, 1, 2, 3))],
        (2, 2, 2, 2, 6),
        [-11.953898321837187, 41.05264270452538, 0.7294178009, 0.1955474615, -0.3993911147],
    ),
    (
        lambda x: nn.conv2d_transpose(x, 6, filter_size=3, stride=2, padding=1),
        IMAGE,
        [("conv2d_transpose_0.w_0", (4, 6, 3, 3)), ("conv2d_transpose_0.b_0", (6,))],
        (2, 6, 9, 11),
        [-51.22791196897004, 1749.6148015487536, -0.0393958091, -0.0460988283, -0.131483078],
    ),
    (
        lambda x: nn.conv2d_transpose(x, 6, [11, 12], stride=2, padding=1),
        IMAGE,
        [("conv2d_transpose_0.w_0", (4, 6, 5, 4)), ("conv2d_transpose_0.b_0", (6,))],
        (2, 6, 11, 12),
        [-55.53637498617172, 3902.2349017380893, 0.667313039, -1.014048099, -0.8253438472],
    ),
    (
        lambda x: nn.conv2d_transpose(x, 6, [11, 12], stride=2, padding=[1, 1, 1, 1]),
        IMAGE,
        [("conv2d_transpose_0.w_0", (4, 6, 5, 4)), ("conv2d_transpose_0.b_0", (6,))],
        (2, 6, 11, 12),
        [-55.53637498617172, 3902.2349017380893, 0.667313039, -1.014048099, -0.8253438472],
    ),
    (
        lambda x: nn.conv2d_transpose(x, 6, [10, 12], 3, 1, 2, groups=2, bias_attr=False),
        IMAGE,
        [("conv2d_transpose_0.w_0", (4, 3, 3, 3))],
        (2, 6, 10, 12),
        [2.252865180373192, 3005.6161506895533, -0.9037943482, -1.71961236, -0.9196124672],
    ),
]


@pytest.mark.parametrize(("layer", "shape", "parameters", "out", "numbers"), OBSERVED)
def test_layers_are_those_of_the_reference(
    layer: Any, shape: Any, parameters: Any, out: Any, numbers: Any
) -> None:
    with paddle.unique_name.guard():
        x = static.data("x", shape)
        y = layer(x)
    found = static.default_main_program().all_parameters()
    assert [(p.name, p.shape) for p in found] == parameters
    value = run(y, x, shape).astype("float64")
    assert value.shape == out
    assert y.shape == (-1, *out[1:])
    seen = [value.sum(), (value**2).sum(), *value.ravel()[:3]]
    np.testing.assert_allclose(seen, numbers, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("layer", ["group_norm", "instance_norm"])
def test_scale_and_shift(layer: str) -> None:
    def normalised(x: Any, **options: Any) -> Any:
        return nn.group_norm(x, 2, **options) if layer[0] == "g" else nn.instance_norm(x, **options)

    with paddle.unique_name.guard():
        x = static.data("x", SMALL)
        y, plain = normalised(x), normalised(x, param_attr=False, bias_attr=False)
    names = [p.name for p in static.default_main_program().all_parameters()]
    assert names == [f"{layer}_0.w_0", f"{layer}_0.b_0"]
    scale = waves(np.cos, [1, 4, 1, 1])
    found, before = run(y, x, SMALL), run(plain, x, SMALL)
    np.testing.assert_allclose(found, before * scale + scale, rtol=1e-5, atol=1e-6)


def test_starts() -> None:
    x = static.data("x", SMALL)
    y = nn.prelu(x, "channel")
    nn.group_norm(x, 2, name="norm")
    scope, exe = static.Scope(), static.Executor()
    exe.run(static.default_startup_program(), scope=scope)
    (weight, *_) = static.default_main_program().all_parameters()
    assert np.array(scope.find_var(weight.name).get_tensor()).ravel().tolist() == [0.25] * 4
    assert np.array(scope.find_var("norm.w_0").get_tensor()).tolist() == [1.0] * 4
    assert np.array(scope.find_var("norm.b_0").get_tensor()).tolist() == [0.0] * 4
    pairs = static.append_backward(paddle.mean(y))
    assert [p.name for p, _ in pairs] == [weight.name]


def test_bad_arguments() -> None:
    x = static.data("x", SMALL)
    whole = static.data("n", SMALL, "int64")
    unknown = static.data("u", [None, None, 3, 3])
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: nn.prelu(x, "row"), ArgumentError, "mode must be one of 'all', 'channel', 'el"),
        (lambda: nn.prelu(x, "all", data_format="CN"), ArgumentError, "data_format must be one"),
        (lambda: nn.prelu(unknown, "element"), ShapeError, "the sizes of x .* must be known"),
        (lambda: nn.prelu(3.0, "all"), NotATensorError, "x must be a Variable"),
        (lambda: nn.conv3d(x, 4, 3), ShapeError, r"must be \[N, C, D, H, W\] with a known C"),
        (lambda: nn.conv2d_transpose(x, 4), ArgumentError, "without filter_size, output_size"),
        (lambda: nn.conv2d_transpose(x, 4, 2, stride=9), ArgumentError, "no filter makes"),
        (lambda: nn.conv2d_transpose(x, 0, filter_size=3), ArgumentError, "num_filters must be a"),
        (lambda: nn.conv2d_transpose(x, 6, filter_size=3, groups=3), ArgumentError, "must divide"),
        (lambda: nn.conv2d_transpose(unknown, 6, filter_size=3), ShapeError, "with a known C"),
        (lambda: nn.group_norm(whole, 2), DTypeError, "input must be floating, got int64"),
        (lambda: nn.group_norm(x, 3), ArgumentError, "group"),
        (lambda: nn.group_norm(x, 2, act="what"), ArgumentError, "act must be one of"),
        (lambda: nn.instance_norm(x, param_attr=False), ArgumentError, "come together"),
    ]
    for call, error, hint in cases:
        with pytest.raises(error, match=hint):
            call()
    assert not static.default_main_program().global_block().ops
    assert not static.default_main_program().all_parameters()


# --- weights that are a length times a direction


def trained(dim: int | None, shape: Any = (4, 3)) -> tuple[Any, Any, list[Any]]:
    """Loss and parameters after three steps."""
    start = paddle.nn.initializer.Assign(waves(np.cos, shape))
    x = static.data("x", [None, 4])
    attr = static.WeightNormParamAttr(dim=dim, name="w", initializer=start)
    y = nn.fc(x, 3, weight_attr=attr, bias_attr=False)
    loss = paddle.mean(y * y)
    paddle.optimizer.SGD(0.1).minimize(loss)
    scope, exe = static.Scope(), static.Executor()
    exe.run(static.default_startup_program(), scope=scope)
    first = [np.array(scope.find_var(name).get_tensor()) for name in ("w_g", "w_v")]
    feed = {"x": waves(np.sin, [2, 4])}
    for _ in range(3):
        (value,) = exe.run(feed=feed, fetch_list=[loss], scope=scope)
    last = [np.array(scope.find_var(name).get_tensor()) for name in ("w_g", "w_v")]
    return value, first, last


def test_weight_norm_is_that_of_the_reference() -> None:
    loss, first, (g, v) = trained(None)
    assert [p.name for p in static.default_main_program().all_parameters()] == ["w_g", "w_v"]
    np.testing.assert_allclose(first[0], [[2.4492015838623047]], rtol=1e-6)
    np.testing.assert_allclose(loss, 0.1015077605843544, rtol=1e-5)
    np.testing.assert_allclose(g, [[2.4208786487579346]], rtol=1e-5)
    expected = [0.9636356234550476, 0.5080915093421936, -0.4145895838737488, -1.0533543825149536]
    np.testing.assert_allclose(v.ravel()[:4], expected, rtol=1e-5)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_weight_norm_along_an_axis(dim: int) -> None:
    _, (g, v), _ = trained(dim)
    norms = np.sqrt((v.astype("float64") ** 2).sum(axis=1 - dim % 2, keepdims=True))
    assert g.shape == norms.shape
    np.testing.assert_allclose(g, norms, rtol=1e-6)


def test_a_weight_of_that_kind_begins_as_its_initializer_says() -> None:
    x = static.data("x", [None, 4])
    start = paddle.nn.initializer.Assign(waves(np.cos, [4, 3]))
    attr = static.WeightNormParamAttr(dim=1, name="w", initializer=start)
    y = nn.fc(x, 3, weight_attr=attr, bias_attr=False)
    again = nn.fc(x, 3, weight_attr=attr, bias_attr=False)  # the same weight
    exe = static.Executor()
    scope = static.Scope()
    exe.run(static.default_startup_program(), scope=scope)
    feed = {"x": np.eye(4, dtype="float32")}
    found = exe.run(feed=feed, fetch_list=[y, again], scope=scope)
    np.testing.assert_allclose(found[0], waves(np.cos, [4, 3]), rtol=1e-6)
    np.testing.assert_array_equal(found[0], found[1])
    assert len(static.default_main_program().all_parameters()) == 2


def test_bad_weight_norms() -> None:
    with pytest.raises(TypeError, match="dim must be an int or None, got '1'"):
        static.WeightNormParamAttr(dim="1")
    with pytest.raises(ArgumentError, match="dim=2 is no axis of the weight w, which is"):
        nn.fc(static.data("x", [None, 4]), 3, weight_attr=static.WeightNormParamAttr(2, "w"))
    assert not static.default_main_program().all_parameters()


def test_weight_norm_is_for_programs() -> None:
    attr = static.WeightNormParamAttr(0)
    paddle.disable_static()
    with pytest.raises(ModeError, match="is for programs; in eager mode make the layer"):
        paddle.create_parameter([2, 3], attr=attr)


def test_places(monkeypatch: pytest.MonkeyPatch) -> None:
    assert static.cpu_places(2) == [paddle.CPUPlace()] * 2
    monkeypatch.delenv("CPU_NUM", raising=False)
    assert static.cpu_places() == [paddle.CPUPlace()]
    monkeypatch.setenv("CPU_NUM", "3")
    assert len(static.cpu_places()) == 3
    with pytest.raises(ArgumentError, match="must be a positive int, 65536 at most, got 0"):
        static.cpu_places(0)
