"""Whole training steps inside of one traced function: forward, backward, update, clear."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain
from autograd_engine.errors import ArgumentError, BuildError, ModeError
from autograd_engine.jit import to_static

F = paddle.nn.functional
RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 5)).astype("float32")
Y = RNG.standard_normal((24, 1)).astype("float32")
needs_compiler = pytest.mark.skipif(find_toolchain() is None, reason="there is no C compiler")


def parameter(value: Any, **settings: Any) -> Any:
    value = np.asarray(value, "float32")
    attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(value), **settings)
    return paddle.create_parameter(list(value.shape), attr=attr)


class Net:
    """Two layers, and one parameter that the loss does not depend on."""

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self.w1 = parameter(rng.standard_normal((5, 8)) * 0.5)
        self.b1 = parameter(np.zeros(8), learning_rate=0.5)
        self.w2 = parameter(rng.standard_normal((8, 1)) * 0.5)
        self.unused = parameter([1.0])

    @property
    def parameters(self) -> list[Any]:
        return [self.w1, self.b1, self.w2, self.unused]

    def loss(self, x: Any, y: Any) -> Any:
        h = paddle.tanh(x @ self.w1 + self.b1)
        return paddle.mean(paddle.square(h @ self.w2 - y))


def state(net: Net, optimizer: Any) -> list[Any]:
    """Everything that a step changes."""
    found = []
    for p in net.parameters:
        found += [p.numpy().tobytes(), None if p.grad is None else p.grad.numpy().tobytes()]
        found.append([a.tobytes() for a in optimizer._eager_state.get(id(p), [])])
    return found


def trained(
    make: Callable[[list[Any]], Any],
    body: Callable[[Net, Any, Any, Any], Any],
    wrap: Callable[[Any], Any],
    steps: int = 7,
    between: Callable[[Net, Any, int], None] = lambda net, optimizer, k: None,
) -> Any:
    net = Net()
    optimizer = make(net.parameters)

    def step(x: Any, y: Any) -> Any:
        return body(net, optimizer, x, y)

    run, history = wrap(step), []
    for k in range(steps):
        between(net, optimizer, k)
        loss = run(paddle.to_tensor(X * (k + 1)), paddle.to_tensor(Y))
        history.append((loss.numpy().tobytes(), state(net, optimizer)))
    return history


def usual(net: Net, optimizer: Any, x: Any, y: Any) -> Any:
    loss = net.loss(x, y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def to_none(net: Net, optimizer: Any, x: Any, y: Any) -> Any:
    loss = net.loss(x, y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad(set_to_zero=False)
    return loss


def cleared_first(net: Net, optimizer: Any, x: Any, y: Any) -> Any:
    optimizer.clear_grad()
    loss = net.loss(x, y)
    loss.backward()
    optimizer.step()
    return loss


def never_cleared(net: Net, optimizer: Any, x: Any, y: Any) -> Any:
    loss = net.loss(x, y)
    loss.backward()
    optimizer.step()
    return loss


def two_backwards(net: Net, optimizer: Any, x: Any, y: Any) -> Any:
    loss = net.loss(x, y)
    loss.backward(retain_graph=True)
    other = paddle.mean(paddle.abs(net.w1))
    other.backward()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def two_steps(net: Net, optimizer: Any, x: Any, y: Any) -> Any:
    for _ in range(2):
        loss = net.loss(x, y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    return loss


def read_gradient(net: Net, optimizer: Any, x: Any, y: Any) -> Any:
    loss = net.loss(x, y)
    loss.backward()
    norm = paddle.sum(paddle.square(net.w1.grad))
    optimizer.step()
    net.w1.clear_grad()
    net.b1.clear_gradient(False)
    return norm + paddle.sum(net.w1)


def minimized(net: Net, optimizer: Any, x: Any, y: Any) -> Any:
    loss = net.loss(x, y)
    loss.backward()
    optimizer.minimize(loss)
    optimizer.clear_gradients()
    return loss


def seeded(net: Net, optimizer: Any, x: Any, y: Any) -> Any:
    h = paddle.tanh(x @ net.w1)
    h.backward(paddle.ones_like(h) * 0.25)
    optimizer.step()
    optimizer.clear_grad()
    return paddle.sum(h)


BODIES = [
    usual,
    to_none,
    cleared_first,
    never_cleared,
    two_backwards,
    two_steps,
    read_gradient,
    minimized,
    seeded,
]
optim = paddle.optimizer
OPTIMIZERS: dict[str, Callable[[list[Any]], Any]] = {
    "sgd": lambda p: optim.SGD(0.05, parameters=p),
    "momentum": lambda p: optim.Momentum(0.05, parameters=p, use_nesterov=True),
    "adam": lambda p: optim.Adam(0.02, parameters=p),
    "adamw": lambda p: optim.AdamW(0.02, parameters=p, weight_decay=0.1),
    "decay": lambda p: optim.Adam(0.02, parameters=p, weight_decay=0.01),
    "clip": lambda p: optim.SGD(0.5, parameters=p, grad_clip=paddle.nn.ClipGradByGlobalNorm(0.3)),
    "groups": lambda p: optim.Momentum(
        0.05,
        parameters=[
            {"params": p[:1], "learning_rate": 0.1},
            {"params": p[1:], "weight_decay": 0.1},
        ],
    ),
    "lamb": lambda p: optim.Lamb(0.02, parameters=p),
    "rmsprop": lambda p: optim.RMSProp(0.02, parameters=p, centered=True),
}


@pytest.mark.parametrize("body", BODIES, ids=lambda f: f.__name__)
def test_a_step_has_the_bits_of_eager_mode(body: Any) -> None:
    make = OPTIMIZERS["adam"]
    assert trained(make, body, to_static) == trained(make, body, lambda f: f)


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
def test_every_optimizer_has_the_bits_of_eager_mode(name: str) -> None:
    make = OPTIMIZERS[name]
    assert trained(make, usual, to_static) == trained(make, usual, lambda f: f)


def test_few_programs_are_made() -> None:
    made = []

    def wrap(f: Any) -> Any:
        made.append(to_static(f))
        return made[0]

    trained(OPTIMIZERS["adam"], usual, wrap, steps=12)
    assert len(made[0].program_cache) == 2  # before there is a gradient, and when it was cleared
    made.clear()
    trained(OPTIMIZERS["adam"], to_none, wrap, steps=12)
    assert len(made[0].program_cache) == 1


@pytest.mark.parametrize(
    "change", ["rate", "scheduler", "set value", "gradient", "attributes", "frozen", "state"]
)
def test_what_happens_between_steps_is_seen(change: str) -> None:
    def make(p: list[Any]) -> Any:
        rate = optim.lr.StepDecay(0.05, 2) if change == "scheduler" else 0.05
        return optim.Adam(rate, parameters=p)

    def between(net: Net, optimizer: Any, k: int) -> None:
        if change == "scheduler":
            if k:
                optimizer._learning_rate.step()
        elif k not in (3, 5):
            return
        elif change == "rate":
            optimizer.set_lr(0.01 * k)
        elif change == "set value":
            net.w1.set_value(np.full((5, 8), 0.1, "float32"))
        elif change == "gradient":
            net.w1.grad = paddle.full([5, 8], 0.5)
            net.unused.grad = paddle.ones([1])
        elif change == "attributes":
            optimizer._attrs["beta1"] = 0.5
        elif change == "frozen":
            net.b1.stop_gradient = not net.b1.stop_gradient
        else:
            optimizer.set_state_dict(optimizer.state_dict())
            optimizer._eager_state[id(net.w1)][0] = np.ones((5, 8), "float32")

    found = trained(make, usual, to_static, 8, between)
    assert found == trained(make, usual, lambda f: f, 8, between)


@pytest.mark.parametrize("lookups", [1, 2])
@pytest.mark.parametrize("to_zero", [True, False])
def test_a_lazy_step_updates_the_rows_that_were_read(lookups: int, to_zero: bool) -> None:
    def trained_with(wrap: Callable[[Any], Any]) -> list[Any]:
        table = parameter(np.linspace(-1.0, 1.0, 21).reshape(7, 3))
        adam = optim.Adam(0.05, parameters=[table], lazy_mode=True)

        def step(rows: Any) -> Any:
            found = [F.embedding(rows + k, table, sparse=True) for k in range(lookups)]
            loss = paddle.concat(found).square().sum()
            loss.backward()
            adam.step()
            adam.clear_grad(to_zero)
            return loss

        run, history = wrap(step), []
        for k in range(7):
            # Between them an eager step, whose gradient would be spread by zeros of all rows.
            (step if k == 4 else run)(paddle.to_tensor([k % 3, 2]))
            moments = [a.tobytes() for a in adam._eager_state[id(table)]]
            rows = None if table.grad is None else table.grad.is_selected_rows()
            history.append((table.numpy().tobytes(), moments, rows))
        return history

    assert trained_with(to_static) == trained_with(lambda f: f)


@pytest.mark.parametrize("scheduled", [False, True])
def test_another_learning_rate_needs_no_other_program(scheduled: bool) -> None:
    net = Net()
    schedule = optim.lr.ExponentialDecay(0.05, 0.9) if scheduled else 0.05
    optimizer = optim.Adam(schedule, parameters=net.parameters[:3])
    step = to_static(lambda x, y: usual(net, optimizer, x, y))
    for k in range(6):
        step(paddle.to_tensor(X), paddle.to_tensor(Y))
        if scheduled:
            schedule.step()
        else:
            optimizer.set_lr(0.05 * 0.9**k)
    assert len(step.program_cache) == 2  # before there is a gradient, and when it was cleared


def test_eager_steps_and_traced_ones_take_turns() -> None:
    def wrap(f: Any) -> Any:
        traced, calls = to_static(f), []

        def either(*args: Any) -> Any:
            calls.append(1)
            return (traced if len(calls) % 3 else f)(*args)

        return either

    make = OPTIMIZERS["adam"]
    assert trained(make, usual, wrap, 12) == trained(make, usual, lambda f: f, 12)


def test_state_of_the_optimizer_can_be_saved_and_loaded() -> None:
    net = Net()
    optimizer = optim.Adam(0.05, parameters=net.parameters[:3])
    step = to_static(lambda x, y: usual(net, optimizer, x, y))
    x, y = paddle.to_tensor(X), paddle.to_tensor(Y)
    for _ in range(4):
        step(x, y)
    names = [p.name for p in net.parameters[:3]]
    kept = optimizer.state_dict()
    assert any(names[0] in key for key in kept)
    before = {k: v.numpy().tobytes() for k, v in kept.items()}
    step(x, y)
    assert {k: v.numpy().tobytes() for k, v in kept.items()} == before


def test_arrays_that_were_read_stay_as_they_were() -> None:
    net = Net()
    optimizer = optim.Adam(0.05, parameters=net.parameters)
    step = to_static(lambda x, y: usual(net, optimizer, x, y))
    x, y = paddle.to_tensor(X), paddle.to_tensor(Y)
    seen = []
    for _ in range(6):
        step(x, y)
        seen.append((net.w1.numpy(), copy.copy(net.w1), net.w1.numpy().copy()))
    for array, tensor, values in seen:
        assert array.tobytes() == values.tobytes()
        assert tensor.numpy().tobytes() == values.tobytes()


@needs_compiler
@pytest.mark.parametrize("name", ["adam", "sgd"])
def test_native_steps_are_close(name: str) -> None:
    made = []

    def wrap(f: Any) -> Any:
        made.append(to_static(f, backend="native"))
        return made[0]

    found = trained(OPTIMIZERS[name], usual, wrap, 20)
    expected = trained(OPTIMIZERS[name], usual, lambda f: f, 20)
    for (loss, _), (other, _) in zip(found, expected, strict=True):
        np.testing.assert_allclose(
            np.frombuffer(loss, "float32"), np.frombuffer(other, "float32"), rtol=1e-4
        )
    halves = made[0].concrete_program._halves
    (variant,) = halves.forward.specializations._kept.values()
    assert variant.compiled.backend == "native"


# --- what is refused


def test_a_loss_without_a_gradient() -> None:
    with pytest.raises(BuildError, match=r"backward\(\) at .*requires no gradient"):
        to_static(lambda x: (x * 2.0).backward())(paddle.ones([1]))


def test_a_tensor_with_a_history_outside() -> None:
    w = paddle.to_tensor([2.0], stop_gradient=False)
    h = w * 3.0

    def step() -> Any:
        loss = paddle.sum(h * h)
        loss.backward()
        return loss

    with pytest.raises(BuildError, match="has a history outside: compute it inside"):
        to_static(step)()


def test_a_leaf_with_hooks() -> None:
    w = paddle.to_tensor([2.0], stop_gradient=False)
    w.register_hook(lambda g: g * 2)

    def step() -> Any:
        paddle.sum(w * w).backward()

    with pytest.raises(BuildError, match="has hooks, and backward"):
        to_static(step)()


def test_inside_of_a_branch() -> None:
    w = paddle.to_tensor([2.0], stop_gradient=False)

    def inner(x: Any) -> Any:
        loss = paddle.sum(w * x)
        loss.backward()
        return loss

    def step(x: Any) -> Any:
        return paddle.static.nn.cond(paddle.sum(x) > 0, lambda: inner(x), lambda: paddle.sum(x))

    with pytest.raises(BuildError, match="inside a branch or loop"):
        to_static(step)(paddle.ones([1]))


def test_lbfgs() -> None:
    w = paddle.to_tensor([2.0], stop_gradient=False)
    optimizer = optim.LBFGS(parameters=[w])
    with pytest.raises(ModeError, match=r"LBFGS.step\(\) at .* trace the closure"):
        to_static(lambda: optimizer.step(lambda: paddle.sum(w * w)))()


def test_a_training_step_is_not_saved(tmp_path: Any) -> None:
    net = Net()
    optimizer = optim.SGD(0.05, parameters=net.parameters)
    step = to_static(lambda x, y: usual(net, optimizer, x, y))
    step(paddle.to_tensor(X), paddle.to_tensor(Y))
    with pytest.raises(ArgumentError, match="trains: save the layer that it trains"):
        paddle.jit.save(step, str(tmp_path / "step"))


@needs_compiler
@pytest.mark.parametrize("hold", ["numpy", "copy", "data of an optimizer", "nothing"])
def test_values_that_somebody_holds_are_not_written_over(hold):
    """Compiled steps take turns in two sets of arrays; what is still held is none of theirs."""
    w = paddle.create_parameter([3], default_initializer=paddle.nn.initializer.Constant(1.0))
    optimizer = paddle.optimizer.Adam(0.1, parameters=[w])

    def step(x):
        paddle.sum(w * x).backward()
        optimizer.step()
        optimizer.clear_grad()

    traced = paddle.jit.to_static(step, backend="native")
    held, copies = [], []
    for k in range(8):
        traced(paddle.full([3], k - 3.5))
        if hold == "numpy":
            held.append(w.numpy())
        elif hold == "copy":
            held.append(copy.copy(w))
        elif hold == "data of an optimizer":
            held += optimizer._eager_state[id(w)][:2]
        copies += [np.array(v) for v in held[len(copies) :]]
    for value, copied in zip(held, copies, strict=True):
        np.testing.assert_array_equal(np.asarray(value), copied)
    assert len({c.tobytes() for c in copies}) == len(copies)


@needs_compiler
def test_what_is_set_between_compiled_steps_counts():
    w = paddle.create_parameter([2], default_initializer=paddle.nn.initializer.Constant(0.0))
    optimizer = paddle.optimizer.SGD(1.0, parameters=[w])

    def step(x):
        paddle.sum(w * x).backward()
        optimizer.step()
        optimizer.clear_grad()

    traced = paddle.jit.to_static(step, backend="native")
    for k in range(8):
        w.set_value(paddle.full([2], 10.0 * k))
        traced(paddle.to_tensor([1.0, 2.0]))
        assert w.tolist() == [10.0 * k - 1.0, 10.0 * k - 2.0]


# --- arguments that have gradients


def test_gradients_of_arguments_go_to_those_of_each_call() -> None:
    w = paddle.to_tensor([2.0, 3.0], stop_gradient=False)

    @to_static
    def step(x: Any) -> Any:
        loss = paddle.sum(w * x * x)
        loss.backward()
        return loss

    for k in range(4):
        x = paddle.to_tensor([1.0, float(k)], stop_gradient=False)
        step(x)
        assert x.grad.tolist() == [4.0, 6.0 * k]
    assert len(step.program_cache) == 2  # w without a gradient, and w with one
    step(x)  # which has a gradient: it is added to
    assert x.grad.tolist() == [8.0, 36.0]
    x = paddle.to_tensor([1.0, 1.0], stop_gradient=False)
    step(x)
    assert x.grad.tolist() == [4.0, 6.0]
    with pytest.raises(BuildError, match="has a history outside"):
        step(x * 2.0)


def test_arguments_that_are_given_a_gradient_inside() -> None:
    """Second derivatives in the loss, as of a network that solves an equation."""
    w = paddle.create_parameter([1], default_initializer=paddle.nn.initializer.Constant(0.5))
    optimizer = optim.SGD(0.01, parameters=[w])

    def step(x: Any) -> Any:
        x.stop_gradient = False
        (slope,) = paddle.grad(paddle.sum(w * x * x * x), x, create_graph=True)
        (bend,) = paddle.grad(paddle.sum(slope), x, create_graph=True)
        loss = paddle.mean((bend - 3.0) ** 2)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    points = [np.array([k, k + 1.0, k + 2.0], "float32") / 4 for k in range(6)]
    eager = [step(paddle.to_tensor(p)).item() for p in points]
    w.set_value([0.5])
    traced = to_static(step)
    assert [traced(paddle.to_tensor(p)).item() for p in points] == eager
    assert len(traced.program_cache) <= 2
