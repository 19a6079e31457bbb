"""Layers where their use is unusual: copied, edited on the way, mixed with another mode, loaded."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DTypeError, ModeError, NotATensorError

nn, static, jit = paddle.nn, paddle.static, paddle.jit


def plain(net, x):
    """What a Sequential of Linear layers computes."""
    for layer in net:
        x = x @ layer.weight.numpy() + layer.bias.numpy()
    return x


# --- walks and copies


def test_apply_goes_from_the_inside_out_and_from_left_to_right():
    net = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU(), nn.Tanh()), nn.GELU())
    order = []
    net.apply(lambda layer: order.append(type(layer).__name__))
    assert order == ["Linear", "ReLU", "Tanh", "Sequential", "GELU", "Sequential"]


def test_apply_visits_what_is_shared_once_before_all_that_hold_it():
    shared = nn.ReLU()
    a, b = nn.Sequential(shared), nn.Sequential(shared)
    order = []
    net = nn.Sequential(a, b).apply(order.append)
    assert order == [shared, a, b, net]


@pytest.mark.parametrize("walk", ["named_children", "named_sublayers", "named_parameters"])
def test_a_layer_may_be_edited_during_a_walk(walk):
    net = nn.LayerList([nn.Linear(1, 1), nn.Linear(1, 1)])
    names = []
    for name, _ in getattr(net, walk)():
        names.append(name)
        net.append(nn.ReLU())
        net[0].extra = net[0].create_parameter([1])
    assert names[0].startswith("0")
    assert len(names) == len(set(names)) == {"named_parameters": 4}.get(walk, 2)
    assert len(net) == 2 + len(names)


def test_a_shallow_copy_leaves_the_layer_as_it_is():
    net = nn.Sequential(nn.Linear(3, 3))
    other = copy.copy(net)
    assert other[0] is net[0]
    other.append(nn.ReLU())
    other.register_forward_post_hook(lambda layer, x, y: y * 0.0)
    assert [len(net), len(other)] == [1, 2]
    assert net(paddle.ones([1, 3])).numpy().any()
    assert not other(paddle.ones([1, 3])).numpy().any()
    assert list(net.state_dict()) == ["0.weight", "0.bias"]


def test_a_shallow_copy_of_a_traced_layer_runs_its_own_layers():
    net = jit.to_static(nn.Sequential(nn.Linear(3, 3)))
    x = paddle.ones([1, 3])
    want = net(x).numpy()
    other = copy.copy(net)
    other[0] = nn.Linear(3, 2)
    assert other(x).shape == [1, 2]
    np.testing.assert_array_equal(net(x).numpy(), want)


def test_buffers_of_a_deep_copy_have_names_of_their_own():
    layer = nn.BatchNorm1D(3)
    names = [b.name for b in (*layer.buffers(), *copy.deepcopy(layer).buffers())]
    assert len(set(names)) == 4


def test_the_repr_of_a_layer_inside_of_itself_ends():
    layer = nn.Sequential(nn.ReLU())
    layer.add_sublayer("again", layer)
    assert repr(layer) == "Sequential(\n  (0): ReLU()\n  (again): ...\n)"


# --- attributes


def test_an_error_inside_of_a_property_is_told():
    class Scaled(nn.Layer):
        @property
        def scale(self):
            return self.factor

    with pytest.raises(AttributeError, match="no attribute 'factor'"):
        Scaled().scale  # noqa: B018


@pytest.mark.parametrize(
    ("make", "error", "hint"),
    [
        (lambda n: n.create_buffer("seen", 3), ArgumentError, r"shape .* list of sizes, got int"),
        (lambda n: n.create_buffer("seen", [-3]), ArgumentError, r"size 0 of \[-3\]"),
        (lambda n: n.create_buffer("seen", [True]), ArgumentError, r"size 0 of \[True\]"),
        (lambda n: n.create_buffer("seen", [3], "k"), TypeError, "fill must be a number, got str"),
        (
            lambda n: nn.Linear(1, 1).set_state_dict({"weight": [[1.0], [1, 2]], "bias": None}),
            ArgumentError,
            r"weight is a list, not an array\n  bias is a NoneType, not an array",
        ),
    ],
)
def test_errors(make, error, hint):
    with pytest.raises(error, match=hint):
        make(nn.Layer())


def test_state_is_kept_row_by_row_however_it_was_given():
    layer = nn.Linear(2, 3)
    values = np.arange(6.0).reshape(3, 2).T
    layer.set_state_dict({"weight": values, "bias": np.arange(6.0)[::2]})
    assert layer.weight.numpy().flags.c_contiguous
    np.testing.assert_array_equal(layer.weight.numpy(), values)


# --- containers


def test_sequential_takes_more_layers_anywhere():
    a, b, c, d = nn.ReLU(), nn.Tanh(), nn.GELU(), nn.Sigmoid()
    net = nn.Sequential(a, b)
    assert net.extend([c]) is net
    net.insert(0, d)
    net.insert(-1, a)
    net.insert(5, b)
    assert list(net) == [d, a, b, a, c, b]
    assert [n for n, _ in nn.Sequential(a, b).insert(0, c).named_children()] == ["0", "1", "2"]
    del net[1:4]
    assert list(net) == [d, c, b]
    with pytest.raises(IndexError, match="3 elements"):
        net.insert(9, a)
    with pytest.raises(TypeError, match="takes layers"):
        net.insert(0, 3)
    with pytest.raises(TypeError, match=r"write \[layer\]"):
        net.extend(a)
    with pytest.raises(ArgumentError, match="names"):
        nn.Sequential(("first", a)).insert(0, b)


def test_layer_lists_are_added_and_popped():
    a, b, c = nn.ReLU(), nn.Tanh(), nn.GELU()
    layers = nn.LayerList([a])
    kept = layers
    layers += [b, c]
    assert layers is kept
    assert list(layers) == [a, b, c]
    both = layers + [a]  # noqa: RUF005
    assert isinstance(both, nn.LayerList)
    assert list(both) == [a, b, c, a]
    assert len(layers) == 3
    assert layers.pop(0) is a
    assert layers.pop() is c
    assert [n for n, _ in layers.named_children()] == ["0"]
    with pytest.raises(IndexError, match="1 elements"):
        layers.pop(1)
    with pytest.raises(TypeError, match="list of layers"):
        layers + 3


# --- modes


def test_an_eager_layer_called_in_a_program_says_where_to_make_it():
    layer = nn.Linear(3, 4)
    with static.program_guard(static.Program(), static.Program()):
        x = static.data("x", [None, 3])
        with pytest.raises(
            NotATensorError, match=r"linear_\d+.w_0, a parameter .* make the layer inside"
        ):
            layer(x)


def test_a_layer_of_a_program_called_on_tensors_says_where_to_make_it():
    with static.program_guard(static.Program(), static.Program()):
        layer = nn.Linear(3, 4)
    with pytest.raises(NotATensorError, match="make one that takes Tensors outside"):
        layer(paddle.ones([2, 3]))


# --- loaded layers


@pytest.fixture
def loaded(tmp_path):
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    jit.save(net, str(tmp_path / "net"), [static.InputSpec([None, 3], "float32", "x")])
    return net, jit.load(str(tmp_path / "net"))


def test_a_loaded_layer_is_a_layer(loaded):
    net, layer = loaded
    assert isinstance(layer, nn.Layer)
    assert not layer.training
    whole = nn.Sequential(layer, nn.Linear(2, 1))
    assert len(whole.parameters()) == 6
    x = paddle.rand([5, 3])
    np.testing.assert_array_equal(whole[0](x).numpy(), net(x).numpy())
    want = {f"0.{name}" for name in layer.state_dict()}
    assert want | {"1.weight", "1.bias"} == set(whole.state_dict())
    whole(x).sum().backward()
    assert all(p.grad is not None for p in whole.parameters())
    layer.register_forward_post_hook(lambda layer, x, y: y * 0.0)
    assert not layer(x).numpy().any()


def test_a_loaded_layer_runs_inside_of_a_traced_one(loaded):
    net, layer = loaded
    whole = jit.to_static(nn.Sequential(layer, nn.Linear(2, 1)))
    for _ in range(4):
        x = paddle.rand([5, 3])
        want = plain([*net, whole[1]], x.numpy())
        np.testing.assert_allclose(whole(x).numpy(), want, rtol=1e-5, atol=1e-6)
    whole(x).sum().backward()
    rows = np.ones((5, 1), "float32") @ whole[1].weight.numpy().T @ net[1].weight.numpy().T
    found = {tuple(p.shape): p.grad.numpy() for p in layer.parameters()}
    np.testing.assert_allclose(found[3, 3], x.numpy().T @ rows, rtol=1e-5)


def test_statistics_of_a_loaded_layer_move_inside_of_a_traced_one(tmp_path):
    net = nn.Sequential(nn.BatchNorm1D(3))
    jit.save(net, str(tmp_path / "net"), [static.InputSpec([None, 3], "float32", "x")])
    layer = jit.load(str(tmp_path / "net"))
    whole = jit.to_static(nn.Sequential(layer)).train()
    for _ in range(3):
        x = paddle.randn([8, 3])
        np.testing.assert_allclose(whole(x).numpy(), net(x).numpy(), rtol=1e-5, atol=1e-6)
    for mine, theirs in zip(layer.buffers(), net.buffers(), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)
    whole.eval()
    net.eval()
    np.testing.assert_allclose(whole(x).numpy(), net(x).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda n: pickle.loads(pickle.dumps(n))])
def test_a_loaded_layer_is_copied(loaded, how):
    _, layer = loaded
    x = paddle.rand([5, 3])
    want = layer(x).numpy()
    other = how(layer)
    for p in other.parameters():
        p.set_value(p.numpy() * 0)
    assert not other(x).numpy().any()
    np.testing.assert_array_equal(layer(x).numpy(), want)


def test_a_loaded_layer_is_seen_operation_by_operation(loaded):
    """By forward mode, which pushes through each of them."""
    net, layer = loaded
    x, v = paddle.rand([5, 3]), paddle.rand([5, 3])
    out, tangent = paddle.autograd.jvp(layer, x, v)
    np.testing.assert_allclose(out.numpy(), net(x).numpy(), rtol=1e-6)
    want = v.numpy() @ net[0].weight.numpy() @ net[1].weight.numpy()
    np.testing.assert_allclose(tangent.numpy(), want, rtol=1e-5, atol=1e-6)


def test_a_loaded_layer_that_holds_a_loaded_one_is_saved(loaded, tmp_path):
    _, layer = loaded
    whole = nn.Sequential(layer, nn.Linear(2, 1))
    jit.save(whole, str(tmp_path / "whole"), [static.InputSpec([None, 3], "float32", "x")])
    again = jit.load(str(tmp_path / "whole"))
    x = paddle.rand([5, 3])
    np.testing.assert_allclose(again(x).numpy(), whole(x).numpy(), rtol=1e-6)
    assert len(again.parameters()) == 6


def test_what_a_loaded_layer_cannot_do(loaded, tmp_path):
    _, layer = loaded
    head = nn.Linear(2, 1)
    with pytest.raises(DTypeError, match="dtypes are fixed"):
        nn.Sequential(head, layer).to(dtype="float64")
    assert head.weight.dtype == paddle.float32
    with (
        static.program_guard(static.Program(), static.Program()),
        pytest.raises(ModeError, match="load_inference_model"),
    ):
        layer(static.data("x", [None, 3]))

    def branches(x):
        return static.nn.cond(x.sum() > 0, lambda: x * 2.0, lambda: x * 3.0)

    jit.save(branches, str(tmp_path / "branches"), [static.InputSpec([None, 3])])
    branching = jit.load(str(tmp_path / "branches"))
    with pytest.raises(ModeError, match=r"a branch or a loop \(cond\)"):
        jit.to_static(nn.Sequential(branching))(paddle.ones([1, 3]))


def test_names_in_a_file_do_not_hide_what_a_layer_has(tmp_path):
    net = nn.Linear(3, 3, weight_attr="forward", bias_attr="_kinds")
    jit.save(net, str(tmp_path / "net"), [static.InputSpec([None, 3], "float32", "x")])
    layer = jit.load(str(tmp_path / "net"))
    x = paddle.rand([5, 3])
    np.testing.assert_array_equal(layer(x).numpy(), net(x).numpy())
    assert list(layer.state_dict()) == ["forward_", "_kinds_"]


def test_an_optimizer_refuses_two_parameters_of_one_name():
    """Of their state, which goes by name, one would be lost when it is saved."""
    net = nn.Sequential(nn.Linear(3, 3, weight_attr="w"), nn.Linear(3, 2, weight_attr="w"))
    with pytest.raises(ArgumentError, match="two parameters are called 'w'"):
        paddle.optimizer.Adam(0.1, parameters=net.parameters())
