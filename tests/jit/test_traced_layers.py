"""Layers under `to_static`: what makes another program necessary, and what does not."""

from __future__ import annotations

import numpy as np
import pytest

import autograd_engine as paddle

nn = paddle.nn
F = paddle.nn.functional


class Noise(nn.Layer):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        return F.dropout(x, self.p, training=self.training)


class Scale(nn.Layer):
    def __init__(self, factor=2.0):
        super().__init__()
        self.weight = self.create_parameter(
            [1], default_initializer=nn.initializer.Constant(factor)
        )

    def forward(self, x):
        return x * self.weight


class Block(nn.Layer):
    def __init__(self, *layers):
        super().__init__()
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return self.body(x)


X = paddle.to_tensor(np.arange(6.0, dtype="float32").reshape(2, 3))


def programs(layer):
    return len(layer.forward.program_cache)


def test_to_static_of_a_layer_is_the_layer():
    net = Block(Scale())
    assert paddle.jit.to_static(net) is net
    assert paddle.jit.to_static(net) is net  # again: not a program of a program
    assert isinstance(net.forward, paddle.jit.StaticFunction)
    np.testing.assert_array_equal(net(X).numpy(), 2 * X.numpy())
    assert programs(net) == 1
    assert len(net.parameters()) == 1
    assert net.forward.main_program.global_block().ops[0].type == "multiply"


def test_train_and_eval_each_have_a_program():
    net = paddle.jit.to_static(Block(Noise(0.5), Scale()))
    for _ in range(3):
        net.train()
        assert not np.array_equal(net(paddle.ones([100])).numpy(), 2 * np.ones(100))
        net.eval()
        np.testing.assert_array_equal(net(paddle.ones([100])).numpy(), 2 * np.ones(100))
    assert programs(net) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda net: setattr(net.body[0], "p", 0.75),
        lambda net: setattr(net.body[0], "training", False),
        lambda net: net.body.append(Scale(3.0)),
        lambda net: net.body.__setitem__(1, Scale(5.0)),
        lambda net: net.body.__delitem__(1),
        lambda net: setattr(net, "body", nn.Sequential(Scale(7.0))),
        lambda net: setattr(net.body[1], "weight", net.body[1].create_parameter([3])),
        lambda net: net.body[1].register_forward_post_hook(lambda own, x, y: y + 1.0),
        lambda net: net.body[1].register_forward_pre_hook(lambda own, x: x[0] + 1.0),
        lambda net: setattr(net.body[1].weight, "stop_gradient", True),
        lambda net: net.to(dtype="float64"),
    ],
)
def test_what_changes_the_result_changes_the_program(change):
    net = Block(Noise(0.0), Scale())
    paddle.jit.to_static(net)
    net(X)
    change(net)
    paddle.seed(1)
    got = net(X).numpy()
    assert programs(net) == 2
    paddle.seed(1)
    np.testing.assert_array_equal(got, net.forward.rollback()(X).numpy())


def test_values_of_parameters_are_no_reason():
    net = paddle.jit.to_static(Block(Scale()))
    for factor in (2.0, 3.0):
        net.body[0].weight.set_value([factor])
        np.testing.assert_array_equal(net(X).numpy(), factor * X.numpy())
    net.note = "about something else"
    net(X)
    assert programs(net) == 1


@pytest.mark.filterwarnings("ignore:.* is traced again:RuntimeWarning")
def test_a_layer_that_counts_its_calls():
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * float(self.calls)

    net = paddle.jit.to_static(Counting())
    got = [net(paddle.ones([1])).item() for _ in range(4)]
    assert got == [1.0, 2.0, 3.0, 4.0]


def test_a_subclass_of_a_layer_of_the_engine():
    class Twice(Block, nn.Sequential):
        def __init__(self):
            nn.Sequential.__init__(self, Scale())
            self.body = nn.Sequential(Noise(0.5))

    net = paddle.jit.to_static(Twice())
    net.eval()
    np.testing.assert_array_equal(net(X).numpy(), X.numpy())
    net.train()
    net(X)
    assert programs(net) == 2


def test_forward_that_the_class_declares_static():
    class Declared(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner = Scale()

        @paddle.jit.to_static
        def forward(self, x):
            return self.inner(x)

    one, two = Declared(), Declared()
    two.inner.weight.set_value([5.0])
    np.testing.assert_array_equal(one(X).numpy(), 2 * X.numpy())
    np.testing.assert_array_equal(two(X).numpy(), 5 * X.numpy())
    assert (programs(one), programs(two)) == (1, 1)
    one.register_forward_post_hook(lambda own, x, y: y + 1.0)
    np.testing.assert_array_equal(one(X).numpy(), 2 * X.numpy() + 1)


def test_gradients_and_a_whole_training_step():
    def trained(static):
        paddle.seed(5)
        net = Block(Scale(0.5), Noise(0.3), Scale(2.0))
        optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())

        def step(x):
            loss = paddle.mean((net(x) - 1.0) ** 2)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        step = paddle.jit.to_static(step) if static else step
        losses = [step(X).item() for _ in range(5)]
        return losses, [p.numpy() for p in net.parameters()]

    eager, static = trained(False), trained(True)
    assert eager[0] == static[0]
    for a, b in zip(eager[1], static[1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_save_and_load_of_a_layer(tmp_path):
    net = Block(Noise(0.5), Scale(3.0)).eval()
    net.register_forward_post_hook(lambda own, x, y: y + 1.0)
    spec = [paddle.static.InputSpec([None, 3], "float32", "x")]
    paddle.jit.save(net, str(tmp_path / "plain"), spec)
    assert not isinstance(net.forward, paddle.jit.StaticFunction)
    paddle.jit.to_static(net)
    net(X)
    paddle.jit.save(net, str(tmp_path / "called"))
    for name in ("plain", "called"):
        loaded = paddle.jit.load(str(tmp_path / name))
        np.testing.assert_array_equal(loaded(X).numpy(), 3 * X.numpy() + 1)
