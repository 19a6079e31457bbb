"""Parameters as a vector, limits on gradients, and weights that are composed of others."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    AnomalyError,
    ArgumentError,
    ModeError,
    NotATensorError,
    ShapeError,
)

nn = paddle.nn
U = nn.utils


def loss_of(layer: Any, x: Any) -> Any:
    y = layer(x)
    return (y * y).sum()


# --- vectors


def test_parameters_to_vector_and_back() -> None:
    layer = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    expected = np.concatenate([p.numpy().ravel() for p in layer.parameters()])
    vector = U.parameters_to_vector(layer.parameters())
    np.testing.assert_array_equal(vector.numpy(), expected)
    before = list(layer.parameters())
    U.vector_to_parameters(paddle.to_tensor(2.0 * expected), layer.parameters())
    assert all(a is b for a, b in zip(before, layer.parameters(), strict=True))
    assert all(p.is_leaf and not p.stop_gradient for p in before)
    found = U.parameters_to_vector(iter(before))
    np.testing.assert_array_equal(found.numpy(), 2.0 * expected)


def test_a_gradient_flows_through_the_vector() -> None:
    layer = nn.Linear(2, 2)
    (
        U.parameters_to_vector(layer.parameters()) * paddle.arange(6, dtype="float32")
    ).sum().backward()
    assert layer.weight.grad.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert layer.bias.grad.tolist() == [4.0, 5.0]


def test_the_vector_of_a_program() -> None:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        layer = nn.Linear(2, 3)
        vector = U.parameters_to_vector(layer.parameters())
    exe = paddle.static.Executor()
    exe.run(startup)
    found, weight, bias = exe.run(main, fetch_list=[vector, layer.weight, layer.bias])
    np.testing.assert_array_equal(found, np.concatenate([weight.ravel(), bias]))


def test_parameters_and_the_vector_that_they_came_from_are_apart() -> None:
    vector = paddle.ones([3])
    w = paddle.create_parameter([3])
    U.vector_to_parameters(vector, [w])
    sgd = paddle.optimizer.SGD(1.0, parameters=[w])
    w.sum().backward()
    sgd.step()
    assert vector.tolist() == [1.0, 1.0, 1.0]
    assert w.tolist() == [0.0, 0.0, 0.0]


def test_what_is_behind_the_parameters_is_left_in_the_vector() -> None:
    w = paddle.zeros([2])
    U.vector_to_parameters(paddle.to_tensor([1.0, 2.0, 3.0]), w)
    assert w.tolist() == [1.0, 2.0]


# --- limits on gradients


def with_gradients(*gradients: Any) -> list[Any]:
    made = []
    for g in gradients:
        p = paddle.to_tensor(np.zeros_like(g), stop_gradient=False)
        if g is not None:
            p.grad = paddle.to_tensor(g)
        made.append(p)
    return made


GRADIENTS = [
    np.asarray([[3.0, -4.0], [0.0, 1.0]]),
    np.asarray([-12.0, 0.5, 2.0]),
    np.asarray(0.25),
]


@pytest.mark.parametrize("limit", [0.0, 0.5, 100.0])
@pytest.mark.parametrize("order", [2.0, 1, 3.5, math.inf, 0])
def test_clip_grad_norm(order: float, limit: float) -> None:
    parameters = with_gradients(*GRADIENTS)
    same = [p.grad for p in parameters]
    flat = np.concatenate([g.ravel() for g in GRADIENTS])
    norm = np.linalg.norm(flat, order)
    total = U.clip_grad_norm_(parameters, limit, order)
    assert total.shape == []
    assert total.item() == pytest.approx(norm, rel=1e-14)
    factor = min(limit / (norm + 1e-6), 1.0)
    for p, g, was in zip(parameters, GRADIENTS, same, strict=True):
        assert p.grad is was
        np.testing.assert_allclose(p.grad.numpy(), factor * g, rtol=1e-14)


def test_a_gradient_within_the_limit_keeps_its_bits() -> None:
    (p,) = with_gradients(np.float32([0.1, 0.7, 1e-30]))
    U.clip_grad_norm_(p, 1.0)
    assert p.grad.numpy().tobytes() == np.float32([0.1, 0.7, 1e-30]).tobytes()


def test_clip_grad_norm_of_parameters_without_gradients() -> None:
    p, without = with_gradients(np.ones(4))[0], paddle.create_parameter([2])
    assert U.clip_grad_norm_(iter([without, p]), 1.0).item() == 2.0
    assert without.grad is None
    assert U.clip_grad_norm_([without], 1.0).item() == 0.0
    assert U.clip_grad_norm_([], 1.0).item() == 0.0


def test_half_precision_is_added_up_in_single() -> None:
    (p,) = with_gradients(np.full(4, 300.0, "float16"))
    total = U.clip_grad_norm_([p], 300.0)
    assert (total.dtype.name, total.item()) == ("float32", 600.0)
    assert (p.grad.dtype.name, p.grad.tolist()) == ("float16", [150.0] * 4)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_norm_that_is_not_finite_is_refused_and_changes_nothing(bad: float) -> None:
    parameters = with_gradients(np.ones(2), np.asarray([1.0, bad]))
    parameters[1].name = "w"
    with pytest.raises(AnomalyError, match=r"gradients of w \[2\] are not finite.*detect_anomaly"):
        U.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)
    assert parameters[0].grad.tolist() == [1.0, 1.0]
    with np.errstate(invalid="ignore"):
        total = U.clip_grad_norm_(parameters, 1.0)
    assert not math.isfinite(total.item())


def test_clip_grad_value() -> None:
    parameters = with_gradients(np.asarray([3.0, -0.5, -7.0]), np.asarray([0.25]))
    same = parameters[0].grad
    assert U.clip_grad_value_([*parameters, paddle.create_parameter([1])], 1.0) is None
    assert parameters[0].grad is same
    assert same.tolist() == [1.0, -0.5, -1.0]
    assert parameters[1].grad.tolist() == [0.25]
    U.clip_grad_value_(parameters[1], 0)
    assert parameters[1].grad.tolist() == [0.0]


CLIPS = [
    lambda ps: U.clip_grad_norm_(ps, 0.1),
    lambda ps: U.clip_grad_norm_(ps, 0.1, math.inf),
    lambda ps: U.clip_grad_value_(ps, 0.01),
]


@pytest.mark.parametrize("clip", CLIPS)
def test_limits_inside_a_traced_step_are_those_of_eager_mode(clip: Callable[[Any], Any]) -> None:
    paddle.seed(1)
    eager = nn.Linear(3, 4)
    other = copy.deepcopy(eager)
    sgds = [paddle.optimizer.Momentum(0.1, parameters=m.parameters()) for m in (eager, other)]
    x = paddle.randn([2, 3])

    def step(layer: Any, sgd: Any, x: Any) -> Any:
        loss = loss_of(layer, x)
        loss.backward()
        total = clip(layer.parameters())
        sgd.step()
        return loss, total

    traced = paddle.jit.to_static(lambda x: step(other, sgds[1], x))
    for k in range(4):
        (a, m), (b, n) = step(eager, sgds[0], x), traced(x)
        assert a.item() == b.item()
        assert m is n is None or m.item() == n.item()
        for p, q in zip(eager.parameters(), other.parameters(), strict=True):
            assert p.numpy().tobytes() == q.numpy().tobytes()
            assert p.grad.numpy().tobytes() == q.grad.numpy().tobytes()
        if k % 2:  # gradients of two steps add up
            for sgd in sgds:
                sgd.clear_grad()


def test_a_limit_on_gradients_of_earlier_calls_in_a_traced_function() -> None:
    (p,) = with_gradients(np.float32([3.0, 4.0]))
    sgd = paddle.optimizer.SGD(1.0, parameters=[p])

    @paddle.jit.to_static
    def step(x: Any) -> Any:
        (p * 0.0 * x).sum().backward()
        U.clip_grad_value_([p], 1.0)
        sgd.step()
        return x

    step(paddle.ones([2]))
    assert p.grad.tolist() == [1.0, 1.0]
    assert p.tolist() == [-1.0, -1.0]


# --- weight norm


def norms(v: Any, kept: int | None) -> Any:
    axes = tuple(k for k in range(v.ndim) if k != kept)
    return np.sqrt((v.astype("float64") ** 2).sum(axis=axes))


@pytest.mark.parametrize(
    ("dim", "kept"), [(0, 0), (1, 1), (3, 3), (-2, 2), (None, None), (-1, None)]
)
def test_weight_norm(dim: int | None, kept: int | None) -> None:
    conv = nn.Conv2D(3, 5, 2)
    before = conv.weight.numpy().copy()
    assert U.weight_norm(conv, dim=dim) is conv
    assert list(conv.state_dict()) == ["bias", "weight_v", "weight_g"]
    assert [n for n, _ in conv.named_parameters()] == ["bias", "weight_v", "weight_g"]
    assert conv.weight_g.shape == ([] if kept is None else [before.shape[kept]])
    np.testing.assert_allclose(conv.weight_g.numpy(), norms(before, kept), rtol=1e-6)
    np.testing.assert_allclose(conv.weight.numpy(), before, atol=1e-7)
    rng = np.random.default_rng(0)
    v = rng.standard_normal(before.shape).astype("float32")
    g = np.asarray(rng.standard_normal(conv.weight_g.shape), "float32")
    conv.weight_v.set_value(v)
    conv.weight_g.set_value(g)
    spread = [-1 if k == kept else 1 for k in range(4)]
    expected = v * (g / norms(v, kept)).reshape(spread)
    np.testing.assert_allclose(conv.weight.numpy(), expected, rtol=1e-5, atol=1e-6)
    x = paddle.randn([1, 3, 4, 4])
    y = nn.functional.conv2d(x, paddle.to_tensor(expected.astype("float32")), conv.bias)
    np.testing.assert_allclose(conv(x).numpy(), y.numpy(), rtol=1e-4, atol=1e-5)


def test_gradients_of_a_normed_weight_are_those_of_differences() -> None:
    layer = nn.Linear(3, 2)
    layer.to(dtype="float64")
    U.weight_norm(layer)
    x = paddle.to_tensor(np.random.default_rng(1).standard_normal((4, 3)))
    loss_of(layer, x).backward()
    for p in (layer.weight_v, layer.weight_g):
        start, found = p.numpy().copy(), p.grad.numpy()
        for where in np.ndindex(*start.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = start.copy()
                moved[where] += step
                p.set_value(moved)
                ends.append(loss_of(layer, x).item())
            p.set_value(start)
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(found[where], rel=1e-6, abs=1e-8)


def test_remove_weight_norm() -> None:
    layer = U.weight_norm(nn.Linear(3, 2))
    v = layer.weight_v
    layer.weight_g.set_value([1.0, 2.0, 3.0])
    before = layer.weight.numpy().copy()
    assert U.remove_weight_norm(layer) is layer
    assert layer.weight is v
    np.testing.assert_array_equal(layer.weight.numpy(), before)
    assert list(layer.state_dict()) == ["weight", "bias"]
    layer.weight.set_value(np.ones((3, 2)))
    assert layer(paddle.ones([1, 3])).tolist() == [[3.0, 3.0]]
    U.weight_norm(layer)
    np.testing.assert_allclose(layer.weight_g.numpy(), 2**0.5, rtol=1e-6)


def test_what_was_said_of_the_weight_is_said_of_both_parts() -> None:
    decay = paddle.regularizer.L2Decay(0.1)
    attr = paddle.ParamAttr(learning_rate=0.5, regularizer=decay, trainable=False, need_clip=False)
    layer = U.weight_norm(nn.Linear(3, 2, weight_attr=attr))
    for part in (layer.weight_v, layer.weight_g):
        assert part.optimize_attr["learning_rate"] == 0.5
        assert part.regularizer is decay
        assert not part.trainable
        assert not part.need_clip


def test_a_composed_weight_is_not_set() -> None:
    layer = U.weight_norm(nn.Linear(3, 2))
    with pytest.raises(TypeError, match="cannot be set: set its parts, weight_v, weight_g"):
        layer.weight = paddle.ones([3, 2])
    with pytest.raises(TypeError, match="set its parts"):
        layer.weight = paddle.create_parameter([3, 2])
    with pytest.raises(ArgumentError, match="already"):
        layer.add_parameter("weight", paddle.create_parameter([3, 2]))
    assert "weight" in dir(layer)
    assert "weight" not in layer.state_dict()


def test_state_goes_from_one_normed_layer_to_another() -> None:
    a, b = U.weight_norm(nn.Linear(3, 2)), U.weight_norm(nn.Linear(3, 2))
    assert not np.array_equal(a.weight.numpy(), b.weight.numpy())
    assert b.set_state_dict(a.state_dict()) == ([], [])
    np.testing.assert_array_equal(a.weight.numpy(), b.weight.numpy())


# --- spectral norm


@pytest.mark.parametrize(
    ("make", "dim", "matrix"),
    [
        (lambda: nn.Linear(4, 6), None, lambda w: w.T),
        (lambda: nn.Linear(4, 6), 0, lambda w: w),
        (lambda: nn.Conv2D(2, 5, 3), None, lambda w: w.reshape(5, -1)),
        (lambda: nn.Conv2D(2, 5, 3), -1, lambda w: w.transpose(3, 0, 1, 2).reshape(3, -1)),
        (
            lambda: nn.Conv2DTranspose(2, 5, 3),
            None,
            lambda w: w.transpose(1, 0, 2, 3).reshape(5, -1),
        ),
    ],
)
def test_the_largest_singular_value_becomes_1(
    make: Callable[[], Any], dim: int | None, matrix: Callable[[Any], Any]
) -> None:
    layer = make()
    before = layer.weight.numpy().copy()
    assert U.spectral_norm(layer, n_power_iterations=200, dim=dim) is layer
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    rows, columns = matrix(before).shape
    assert (layer.weight_u.shape, layer.weight_v.shape) == ([rows], [columns])
    x = paddle.ones([1, 4] if before.ndim == 2 else [1, 2, 5, 5])
    layer(x)
    u, sizes, v = np.linalg.svd(matrix(before).astype("float64"))
    np.testing.assert_allclose(layer.weight.numpy(), before / sizes[0], rtol=2e-4, atol=1e-5)
    assert abs(layer.weight_u.numpy() @ u[:, 0]) == pytest.approx(1.0, abs=1e-3)
    assert abs(layer.weight_v.numpy() @ v[0]) == pytest.approx(1.0, abs=1e-3)
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight_orig"]


def test_each_call_in_training_is_a_step_of_the_power_method() -> None:
    layer = U.spectral_norm(nn.Linear(3, 4), n_power_iterations=2)
    w, u = layer.weight_orig.numpy().T.astype("float64"), layer.weight_u.numpy().astype("float64")
    assert np.linalg.norm(u) == pytest.approx(1.0, rel=1e-6)
    for _ in range(2):
        for _ in range(2):
            v = w.T @ u / np.linalg.norm(w.T @ u)
            u = w @ v / np.linalg.norm(w @ v)
        layer(paddle.ones([1, 3]))
        np.testing.assert_allclose(layer.weight_u.numpy(), u, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(layer.weight_v.numpy(), v, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(layer.weight.numpy(), (w / (u @ w @ v)).T, rtol=1e-5, atol=1e-6)
    kept = layer.weight_u.numpy().copy()
    layer.eval()
    layer(paddle.ones([1, 3]))
    _ = layer.weight
    np.testing.assert_array_equal(layer.weight_u.numpy(), kept)


def test_gradients_of_a_spectral_weight_take_its_vectors_for_constants() -> None:
    layer = nn.Linear(3, 2)
    layer.to(dtype="float64")
    U.spectral_norm(layer)
    layer.eval()
    x = paddle.to_tensor(np.random.default_rng(1).standard_normal((4, 3)))
    loss_of(layer, x).backward()
    p = layer.weight_orig
    start, found = p.numpy().copy(), p.grad.numpy()
    for where in np.ndindex(*start.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = start.copy()
            moved[where] += step
            p.set_value(moved)
            ends.append(loss_of(layer, x).item())
        p.set_value(start)
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(found[where], rel=1e-6, abs=1e-8)


# --- both, in all modes

NORMS = {
    "weight": lambda layer: U.weight_norm(layer),
    "whole weight": lambda layer: U.weight_norm(layer, dim=None),
    "spectral": lambda layer: U.spectral_norm(layer, n_power_iterations=2),
}


def trained(norm: Callable[[Any], Any], steps: int = 3) -> tuple[Any, list[bytes]]:
    paddle.seed(8)
    layer = norm(nn.Linear(3, 4))
    sgd = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    outputs = []
    for k in range(steps):
        y = layer(inputs(k))
        outputs.append(y.numpy().tobytes())
        (y * y).sum().backward()
        sgd.step()
        sgd.clear_grad()
    return layer, outputs


def inputs(k: int) -> Any:
    return paddle.to_tensor(np.random.default_rng(k).standard_normal((2, 3)).astype("float32"))


@pytest.mark.parametrize("name", NORMS)
def test_programs_train_as_eager_mode_does(name: str) -> None:
    layer, outputs = trained(NORMS[name])
    paddle.seed(8)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.unique_name.guard(), paddle.static.program_guard(main, startup):
        made = NORMS[name](nn.Linear(3, 4))
        x = paddle.static.data("x", [2, 3], "float32")
        y = made(x)
        test = main.clone(for_test=True)
        paddle.optimizer.SGD(0.1).minimize((y * y).sum())
    exe = paddle.static.Executor()
    exe.run(startup)
    for k, expected in enumerate(outputs):
        (found,) = exe.run(main, {"x": inputs(k).numpy()}, [y])
        assert found.tobytes() == expected
    state = made.state_dict()
    for key, value in layer.state_dict().items():
        assert np.asarray(state[key]).tobytes() == value.numpy().tobytes()
    layer.eval()
    (found,) = exe.run(test, {"x": inputs(9).numpy()}, [y])
    assert found.tobytes() == layer(inputs(9)).numpy().tobytes()
    after = made.state_dict()
    assert all(np.array_equal(after[key], state[key]) for key in state)


@pytest.mark.parametrize("name", NORMS)
def test_traced_layers_train_as_eager_ones_do(name: str) -> None:
    expected, outputs = trained(NORMS[name])
    paddle.seed(8)
    layer = NORMS[name](nn.Linear(3, 4))
    sgd = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    traces: list[int] = []

    @paddle.jit.to_static
    def run(x: Any) -> Any:
        traces.append(1)
        return layer(x)

    for k, want in enumerate(outputs):
        y = run(inputs(k))
        assert y.numpy().tobytes() == want
        (y * y).sum().backward()
        sgd.step()
        sgd.clear_grad()
    assert len(traces) == 1
    for a, b in zip(layer.state_dict().values(), expected.state_dict().values(), strict=True):
        assert a.numpy().tobytes() == b.numpy().tobytes()
    assert layer.weight.numpy().tobytes() == expected.weight.numpy().tobytes()


@pytest.mark.parametrize("name", NORMS)
def test_a_copy_is_composed_of_parts_of_its_own(name: str) -> None:
    layer, _ = trained(NORMS[name])
    other = copy.deepcopy(layer)
    np.testing.assert_array_equal(other.weight.numpy(), layer.weight.numpy())
    other.bias.set_value(np.ones(4))
    part = "weight_orig" if name == "spectral" else "weight_v"
    getattr(other, part).set_value(np.arange(12.0).reshape(3, 4) + 1.0)
    assert not np.array_equal(other.weight.numpy(), layer.weight.numpy())
    for _ in range(50):
        other(inputs(0))
    if name == "spectral":
        assert np.linalg.norm(other.weight.numpy(), 2) == pytest.approx(1.0, rel=1e-5)


# --- what is refused

LINEAR = "of its own; it has weight, bias"
BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: U.parameters_to_vector([]), ArgumentError, "parameters is empty"),
    (lambda: U.parameters_to_vector(3), NotATensorError, r"layer.parameters\(\) gives; got int"),
    (lambda: U.parameters_to_vector({"w": 1}), NotATensorError, "got dict"),
    (lambda: U.parameters_to_vector([None]), NotATensorError, r"parameters\[0\].* got NoneType"),
    (
        lambda: U.vector_to_parameters(paddle.ones([3]), nn.Linear(1, 2).parameters()),
        ShapeError,
        "vec has 3 elements, and the parameters 4",
    ),
    (lambda: U.vector_to_parameters(paddle.ones([1, 1]), []), ShapeError, r"vec.flatten\(\)"),
    (lambda: U.vector_to_parameters([1.0], []), NotATensorError, "vec must be a Tensor, got list"),
    (lambda: U.clip_grad_norm_("w", 1.0), NotATensorError, "got str"),
    (lambda: U.clip_grad_norm_([1.0], 1.0), NotATensorError, r"parameters\[0\].* got float"),
    (lambda: U.clip_grad_norm_([], -1.0), ArgumentError, "max_norm must not be negative"),
    (lambda: U.clip_grad_norm_([], "a"), TypeError, "max_norm must be a number, got str"),
    (lambda: U.clip_grad_norm_([], math.nan), ArgumentError, "max_norm must be finite"),
    (lambda: U.clip_grad_norm_([], 1.0, -1), ArgumentError, "norm_type must be 0 or more"),
    (lambda: U.clip_grad_norm_([], 1.0, "inf"), TypeError, "norm_type must be a number"),
    (lambda: U.clip_grad_norm_([], 1.0, True), TypeError, "norm_type must be a number, got bool"),
    (lambda: U.clip_grad_norm_([], 1.0, 2, 1), ArgumentError, "must be True or False, got 1"),
    (lambda: U.clip_grad_value_([], -1.0), ArgumentError, "clip_value must not be negative"),
    (lambda: U.clip_grad_value_([], None), TypeError, "clip_value must be a number, got NoneType"),
    (lambda: U.weight_norm(3), TypeError, "layer must be a Layer, got int"),
    (lambda: U.weight_norm(nn.Linear(2, 2), "w"), ArgumentError, LINEAR),
    (lambda: U.weight_norm(nn.Linear(2, 2), None), ArgumentError, "no parameter None"),
    (lambda: U.weight_norm(nn.Sequential(nn.Linear(2, 2))), ArgumentError, "it has none"),
    (
        lambda: U.weight_norm(nn.Linear(2, 2, bias_attr=False), "bias"),
        ArgumentError,
        "it has weight",
    ),
    (lambda: U.weight_norm(nn.Linear(2, 2), dim=2), ArgumentError, r"dim=2 is no axis .*\[2, 2\]"),
    (lambda: U.weight_norm(nn.Linear(2, 2), dim="0"), TypeError, "dim must be an int or None"),
    (lambda: U.weight_norm(nn.Linear(2, 2), dim=True), TypeError, "got bool"),
    (
        lambda: U.weight_norm(U.weight_norm(nn.Linear(2, 2))),
        ArgumentError,
        r"already \(WeightNorm\)",
    ),
    (lambda: U.spectral_norm(U.weight_norm(nn.Linear(2, 2))), ArgumentError, "composed of others"),
    (lambda: U.remove_weight_norm(nn.Linear(2, 2)), ArgumentError, "not what weight_norm makes"),
    (lambda: U.remove_weight_norm(3), ArgumentError, "'weight' of this int"),
    (
        lambda: U.remove_weight_norm(U.spectral_norm(nn.Linear(2, 2))),
        ArgumentError,
        "not what weight_norm makes",
    ),
    (lambda: U.spectral_norm(None), TypeError, "layer must be a Layer, got NoneType"),
    (lambda: U.spectral_norm(nn.Linear(2, 2), "w"), ArgumentError, LINEAR),
    (
        lambda: U.spectral_norm(nn.Linear(2, 2), n_power_iterations=0),
        ArgumentError,
        "positive int, got 0",
    ),
    (lambda: U.spectral_norm(nn.Linear(2, 2), eps=0), ArgumentError, "eps must be above 0"),
    (lambda: U.spectral_norm(nn.Linear(2, 2), eps="a"), TypeError, "eps must be a number"),
    (lambda: U.spectral_norm(nn.Linear(2, 2), dim=2), ArgumentError, "dim=2 is no axis"),
    (lambda: U.spectral_norm(nn.Linear(2, 2), dim=0.0), TypeError, "dim must be an int or None"),
]


@pytest.mark.parametrize(("call", "error", "hint"), BAD)
def test_bad_input(call: Callable[[], Any], error: type[Exception], hint: str) -> None:
    with pytest.raises(error, match=hint):
        call()


def test_a_call_that_is_refused_leaves_the_layer_as_it_was() -> None:
    layer = nn.Linear(2, 2)
    with pytest.raises(ArgumentError):
        U.weight_norm(layer, dim=5)
    with pytest.raises(ArgumentError):
        U.spectral_norm(layer, eps=-1.0)
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert not layer._forward_pre_hooks


def test_what_is_for_eager_mode_says_so() -> None:
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        layer = U.weight_norm(nn.Linear(2, 2))
        calls: list[Callable[[], Any]] = [
            lambda: U.clip_grad_norm_(layer.parameters(), 1.0),
            lambda: U.clip_grad_value_(layer.parameters(), 1.0),
            lambda: U.vector_to_parameters(paddle.ones([4]), layer.parameters()),
            lambda: U.remove_weight_norm(layer),
        ]
        for call in calls:
            with pytest.raises(ModeError, match="for eager"):
                call()
