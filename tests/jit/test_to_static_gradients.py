"""Gradients through traced functions have the bits of the functions themselves."""

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import static
from autograd_engine.jit import InputSpec, to_static

rng = np.random.default_rng(0)
X, W, B = rng.normal(size=(5, 3)), rng.normal(size=(3, 4)), rng.normal(size=4)


def mlp(w, b):
    def f(x):
        hidden = paddle.tanh(x @ (w * w) + b)
        return {"loss": (F.softmax(hidden @ w.T) * x).sum(), "hidden": hidden}

    return f


def leaves():
    return [paddle.to_tensor(a, stop_gradient=False) for a in (X, W, B)]


def both(use, make=mlp, **spec):
    """What `use` gives with the function and with the traced one, each on leaves of its own."""
    found = []
    for wrap in (lambda f: f, lambda f: to_static(f, **spec)):
        x, w, b = leaves()
        f = wrap(make(w, b))
        paddle.seed(3)
        found.append([None if r is None else np.array(r) for r in use(f, x, w, b)])
    for eager, traced in zip(*found, strict=True):
        np.testing.assert_array_equal(eager, traced)
    assert any(np.any(r) for r in found[0])


def grads(*tensors):
    return [None if t.grad is None else t.grad.numpy() for t in tensors]


@pytest.mark.parametrize("spec", [{}, {"input_spec": [InputSpec([None, 3], "float64")]}])
def test_backward_of_one_and_of_several_outputs(spec):
    def one(f, x, w, b):
        f(x)["loss"].backward()
        return grads(x, w, b)

    def other(f, x, w, b):
        f(x)["hidden"].sum().backward()
        return grads(x, w, b)

    def all_of_them(f, x, w, b):
        out = f(x)
        (out["loss"] * out["hidden"]).sum().backward()
        return grads(x, w, b)

    for use in (one, other, all_of_them):
        both(use, **spec)


def test_cotangents_from_outside_are_added_in_the_order_of_the_tape():
    def use(f, x, w, b):
        before = (x * w.sum()).exp()
        out = f(before * 0.1)
        again = f(x)
        after = F.sigmoid(x @ w + b).sum()
        (out["loss"] + again["loss"] * out["hidden"].sum() + after + before.sum()).backward()
        return grads(x, w, b)

    both(use)


def test_accumulation_over_passes_and_retained_graphs():
    def use(f, x, w, b):
        loss = f(x)["loss"]
        loss.backward(retain_graph=True)
        loss.backward()
        f(x)["hidden"].mean().backward()
        return grads(x, w, b)

    both(use)


def test_a_freed_graph_says_so():
    x, w, b = leaves()
    loss = to_static(mlp(w, b))(x)["loss"]
    loss.backward()
    with pytest.raises(RuntimeError, match="freed by an earlier backward pass"):
        loss.backward()


def test_second_and_third_order():
    def use(f, x, w, b):
        loss = f(x)["loss"] * (x * w.T[:1]).sum()
        first = paddle.grad(loss, [x, w, b], create_graph=True)
        inner = sum((g * g).sum() for g in first) + (w * w).sum()
        second = paddle.grad(inner, [x, w, b], create_graph=True)
        sum((g * g).sum() for g in second).backward()
        return [*(g.numpy() for g in (*first, *second)), *grads(x, w, b)]

    both(use)


def test_second_order_against_differences():
    x, w, b = leaves()
    f = to_static(mlp(w, b))

    def penalty():
        (g,) = paddle.grad(f(x)["loss"], [x], create_graph=True)
        return (g * g).sum()

    penalty().backward()
    step, flat = 1e-6, []
    for k in range(W.size):
        values = []
        for sign in (1.0, -1.0):
            moved = W.copy()
            moved.flat[k] += sign * step
            w.set_value(moved)
            values.append(penalty().item())
        flat.append((values[0] - values[1]) / (2.0 * step))
    np.testing.assert_allclose(w.grad.numpy().ravel(), flat, rtol=1e-6, atol=1e-8)


def test_random_numbers_are_the_same_in_a_recorded_pass():
    def make(w, b):
        return lambda x: {"loss": (F.dropout(x @ w, 0.4) ** 2 * paddle.rand([4])).sum() * b.sum()}

    def use(f, x, w, b):
        first = paddle.grad(f(x)["loss"], [x, w], create_graph=True)
        sum((g * g).sum() for g in first).backward()
        return grads(x, w, b)

    both(use, make)


def test_gradients_inside_of_the_function():
    def make(w, b):
        def f(x):
            y = paddle.tanh(x @ w + b).sum()
            (g,) = paddle.grad(y, [x], create_graph=True)
            (stopped,) = paddle.grad(y, [x])
            assert stopped.stop_gradient
            return {"loss": (paddle.square((g * g).sum(axis=1) - 1.0).mean() * stopped).sum()}

        return f

    def use(f, x, w, b):
        first = paddle.grad(f(x)["loss"], [x, w, b], create_graph=True)
        sum((g * g).sum() for g in first).backward()
        return [*(g.numpy() for g in first), *grads(x, w, b)]

    both(use, make)


def test_control_flow():
    def make(w, b):
        def f(x):
            y = static.nn.cond(x.sum() > 0.0, lambda: x @ w, lambda: x @ w - b)
            i = paddle.zeros([1])
            _, y = static.nn.while_loop(
                lambda i, y: (i < 3.0).all(), lambda i, y: [i + 1.0, paddle.tanh(y * b)], [i, y]
            )
            return {"loss": y.sum()}

        return f

    def use(f, x, w, b):
        first = paddle.grad(f(x)["loss"], [x, w, b], create_graph=True)
        sum((g * g).sum() for g in first).backward()
        return [*(g.numpy() for g in first), *grads(x, w, b)]

    both(use, make)


def test_detach_and_no_grad_cut():
    def make(w, b):
        def f(x):
            with paddle.no_grad():
                scale = (x * w.T[0, :3].sum()).exp()
            return {"loss": (x * scale * w.sum().detach() + b.sum()).sum()}

        return f

    def use(f, x, w, b):
        f(x)["loss"].backward()
        return grads(x, w, b)

    both(use, make)


def test_hooks_on_inputs_parameters_and_results():
    def use(f, x, w, b):
        seen = []
        x.register_hook(lambda g: g * 2.0)
        w.register_hook(lambda g: seen.append(g.numpy().copy()))
        y = x * 1.5
        y.register_hook(lambda g: g + 1.0)
        out = f(y)
        out["loss"].register_hook(lambda g: g * 0.5)
        out["loss"].retain_grads()
        (y * out["loss"]).sum().backward()
        return [*grads(x, w, b, out["loss"]), *seen]

    both(use)


def test_jacobians_and_forward_mode():
    def use(f, x, w, b):
        jacobian = paddle.autograd.jacobian(lambda v: f(v)["hidden"].sum(axis=0), x)
        _, tangent = paddle.autograd.jvp(lambda v: f(v)["loss"], x, paddle.ones_like(x))
        loss = paddle.grad(f(x)["loss"], [x], create_graph=True)[0].reshape([-1])
        rows = paddle.autograd.jacobian(f(x.reshape([-1]).reshape([5, 3]))["hidden"].sum(), b)
        return [jacobian[:].numpy(), tangent.numpy(), loss.numpy(), rows[:].numpy()]

    both(use)


def test_jacobians_that_are_differentiated_again():
    def make(w, b):
        return lambda v: paddle.tanh(v * b) * (v * w.sum())

    def use(f, x, w, b):
        v = paddle.to_tensor(B * 0.3, stop_gradient=False)
        jacobian = paddle.autograd.jacobian(f(v), v)
        (jacobian[:] * jacobian[:]).sum().backward()
        return [jacobian[:].numpy(), *grads(v, w, b)]

    both(use, make)


def test_strong_zeros():
    def make(w, b):
        return lambda x: {"loss": paddle.where(x > 0.0, paddle.sqrt(x), x * 2.0).sum() * w.sum()}

    def use(f, x, w, b):
        loss = f(paddle.where(x > 0.5, x, x * 0.0))["loss"]
        with paddle.strong_zeros():
            loss.backward()
        return grads(x, w)

    both(use, make)


def test_inside_recompute_and_anomaly_detection():
    def recomputed(f, x, w, b):
        paddle.autograd.recompute(lambda v: f(v)["loss"], x).backward()
        return grads(x, w, b)

    def watched(f, x, w, b):
        with paddle.autograd.detect_anomaly():
            f(x)["loss"].backward()
        return grads(x, w, b)

    both(recomputed)
    both(watched)


def test_training_for_fifty_steps_has_the_same_bits():
    results = []
    for wrap in (lambda f: f, to_static):
        w1, w2 = (
            paddle.to_tensor(np.random.default_rng(k).normal(size=s) * 0.3, stop_gradient=False)
            for k, s in enumerate([(3, 8), (8, 2)])
        )
        mean, variance = paddle.zeros([8], "float64"), paddle.ones([8], "float64")

        def loss(x, y, w1=w1, w2=w2, mean=mean, variance=variance):
            h = F.batch_norm(x @ w1, mean, variance, training=True)
            h = F.dropout(F.relu(h), 0.2)
            return F.cross_entropy(h @ w2, y)

        step = wrap(loss)
        optimizer = paddle.optimizer.Adam(0.01, parameters=[w1, w2])
        paddle.seed(0)
        data = np.random.default_rng(9)
        losses = []
        for _ in range(50):
            x = paddle.to_tensor(data.normal(size=(6, 3)))
            y = paddle.to_tensor(data.integers(0, 2, 6))
            value = step(x, y)
            value.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(value.item())
        results.append((losses, w1.numpy(), w2.numpy(), mean.numpy(), variance.numpy()))
    for eager, traced in zip(*results, strict=True):
        np.testing.assert_array_equal(eager, traced)


def test_one_node_is_recorded():
    x, w, b = leaves()
    out = to_static(mlp(w, b))(x)
    names = {n.name() for n in out["loss"].grad_fn.next_functions if n is not None}
    assert names == {"GradNodeAccumulation"}
    assert to_static(mlp(w, b))(x)["loss"].stop_gradient is False
    with paddle.no_grad():
        assert to_static(mlp(w, b))(x)["loss"].stop_gradient is True
