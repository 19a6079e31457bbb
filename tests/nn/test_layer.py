"""The layer itself: what it holds, how it is called, copied, saved, in both modes."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import unique_name
from autograd_engine.errors import ArgumentError, DTypeError, ModeError

nn, static = paddle.nn, paddle.static
F = paddle.nn.functional


class Affine(nn.Layer):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = self.create_parameter([n_in, n_out])
        self.bias = self.create_parameter([n_out], is_bias=True)

    def forward(self, x):
        return paddle.matmul(x, self.weight) + self.bias


class Noise(nn.Layer):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        return F.dropout(x, self.p, training=self.training)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = self.create_parameter([1])
        self.body = nn.Sequential(Affine(3, 4), Noise(0.5), Affine(4, 2))
        self.heads = nn.LayerList([Affine(2, 1)])
        self.extra = nn.ParameterList([self.create_parameter([2])])
        self.create_buffer("seen", [2])
        self.create_buffer("scratch", [1], persistable=False)

    def forward(self, x):
        return self.heads[0](self.body(x) * self.extra[0]) * self.scale


NAMES = ["scale", "body.0.weight", "body.0.bias", "body.2.weight", "body.2.bias"]
NAMES += ["heads.0.weight", "heads.0.bias", "extra.0"]


@pytest.fixture
def net():
    with unique_name.guard():
        paddle.seed(3)
        return Net()


# --- what it holds


def test_names_of_parameters_buffers_and_layers(net):
    assert [n for n, _ in net.named_parameters()] == NAMES
    assert [n for n, _ in net.named_buffers()] == ["seen", "scratch"]
    assert list(net.state_dict()) == ["scale", "seen", *NAMES[1:]]
    assert [n for n, _ in net.named_children()] == ["body", "heads", "extra"]
    inner = ["body", "body.0", "body.1", "body.2", "heads", "heads.0", "extra"]
    assert [n for n, _ in net.named_sublayers()] == inner
    assert [n for n, _ in net.named_sublayers("net", include_self=True)][:2] == ["net", "net.body"]
    assert len(net.sublayers()) == 7
    assert len(net.sublayers(include_self=True)) == 8
    assert net.parameters(include_sublayers=False) == [net.scale]


def test_parameters_are_named_after_the_class(net):
    names = [p.name for p in net.parameters()]
    assert names[:3] == ["net_0.w_0", "affine_0.w_0", "affine_0.b_0"]
    assert net.full_name() == "net_0"
    assert nn.Layer("block").create_parameter([1]).name.startswith("block_")


def test_a_shared_parameter_counts_once_and_is_saved_under_each_name():
    a = Affine(2, 2)
    both = nn.Sequential(a, a)
    assert len(both.parameters()) == 2
    assert len(list(both.named_parameters(remove_duplicate=False))) == 2  # the layer comes once
    b = Affine(2, 2)
    b.weight = a.weight
    assert len(nn.Sequential(a, b).parameters()) == 3
    assert list(both.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


def test_none_and_deletion():
    layer = Affine(2, 2)
    layer.bias = None
    assert list(layer.state_dict()) == ["weight"]
    layer.bias = layer.create_parameter([2], is_bias=True)
    assert list(layer.state_dict()) == ["weight", "bias"]
    del layer.weight
    assert [n for n, _ in layer.named_parameters()] == ["bias"]
    layer.weight = 3
    assert layer.weight == 3


def test_attr_false_makes_no_parameter():
    assert nn.Layer().create_parameter([2], attr=False) is None
    assert nn.Layer().create_parameter([2], attr=paddle.ParamAttr(name="mine")).name == "mine"


def test_train_eval_and_apply(net):
    assert net.eval() is net
    assert not any(layer.training for layer in net.sublayers(include_self=True))
    net.train()
    assert all(layer.training for layer in net.sublayers(include_self=True))
    order = []
    assert net.apply(lambda layer: order.append(type(layer).__name__)) is net
    assert order[-1] == "Net"
    assert sorted(order) == sorted(type(v).__name__ for v in net.sublayers(include_self=True))


def test_repr():
    net = nn.Sequential(("first", Noise(0.1)), ("rest", nn.Sequential(Noise(0.2))))
    assert repr(net) == (
        "Sequential(\n  (first): Noise()\n  (rest): Sequential(\n    (0): Noise()\n  )\n)"
    )
    assert repr(nn.LayerList()) == "LayerList()"


@pytest.mark.parametrize(
    ("call", "error", "hint"),
    [
        (lambda n: setattr(n, "scale", 3), TypeError, "set_value"),
        (lambda n: setattr(n, "body", paddle.ones([1])), TypeError, "del layer.body"),
        (lambda n: setattr(n, "seen", "x"), TypeError, "a Tensor or None"),
        (lambda n: n.add_sublayer("a.b", Noise(0.1)), ArgumentError, "dots"),
        (lambda n: n.add_sublayer("", Noise(0.1)), ArgumentError, "empty"),
        (lambda n: n.add_sublayer("forward", Noise(0.1)), ArgumentError, "another name"),
        (lambda n: n.add_sublayer("scale", Noise(0.1)), ArgumentError, "a parameter"),
        (lambda n: n.add_sublayer("x", 3), TypeError, "must be a Layer"),
        (lambda n: n.add_sublayer(3, Noise(0.1)), TypeError, "must be a str"),
        (lambda n: n.add_parameter("x", paddle.ones([1])), TypeError, "create_parameter"),
        (lambda n: n.register_buffer("x", [1.0]), TypeError, "to_tensor"),
        (lambda n: n.register_buffer("x", paddle.ones([1]), 2), ArgumentError, "persistable"),
        (lambda n: n.register_forward_pre_hook(3), TypeError, "function"),
        (lambda n: n.apply(3), TypeError, "function"),
        (lambda n: n.to("gpu"), ArgumentError, "cpu"),
        (lambda n: n.to(dtype="int32"), DTypeError, "float32"),
        (lambda n: n.to(dtype="floaty"), TypeError, "floaty"),
        (lambda n: n.bodi, AttributeError, "scale, body"),
        (lambda n: nn.Layer(3), TypeError, "name_scope"),
        (lambda n: nn.Layer(dtype="int64"), DTypeError, "float32"),
        (lambda n: nn.Layer()(3), NotImplementedError, "def forward"),
        (lambda n: n.clear_gradients(1), ArgumentError, "set_to_zero"),
        (lambda n: n.set_state_dict("model.pdparams"), TypeError, "paddle.load"),
    ],
)
def test_bad_input(net, call, error, hint):
    with pytest.raises(error, match=hint):
        call(net)


def test_init_without_super():
    class Bad(nn.Layer):
        def __init__(self):
            self.inner = Noise(0.1)

    class Worse(nn.Layer):
        def __init__(self):
            self.size = 3

    with pytest.raises(ModeError, match=r"super\(\).__init__\(\)"):
        Bad()
    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Worse().training  # noqa: B018


def test_a_layer_inside_of_itself_is_refused_where_it_has_no_end():
    layer = Noise(0.1)
    layer.inner = nn.Sequential(Noise(0.2))
    layer.inner.add_sublayer("outer", layer)
    assert len(layer.sublayers()) == 2
    with pytest.raises(ArgumentError, match="contains itself"):
        layer.state_dict()


# --- hooks


def test_hooks_change_inputs_and_outputs(net):
    layer = Affine(2, 2)
    x = paddle.ones([1, 2])
    plain = layer(x).numpy()
    seen = []
    pre = layer.register_forward_pre_hook(lambda own, inputs: (inputs[0] * 2.0,))
    post = layer.register_forward_post_hook(lambda own, inputs, out: seen.append((own, inputs)))
    double = layer.register_forward_post_hook(lambda own, inputs, out: out + 1.0)
    got = layer(x).numpy()
    np.testing.assert_allclose(got, 2 * plain + 1, rtol=1e-6)
    assert seen[0][0] is layer
    np.testing.assert_array_equal(seen[0][1][0].numpy(), 2 * np.ones([1, 2], "float32"))
    for handle in (pre, post, double):
        handle.remove()
    np.testing.assert_array_equal(layer(x).numpy(), plain)


class Shifted(nn.Layer):
    def forward(self, x, *, by=0.0):
        return x + by


def test_hooks_that_want_keywords_and_come_first():
    layer, order = Shifted(), []
    layer.register_forward_pre_hook(lambda own, inputs: order.append("plain"))
    layer.register_forward_pre_hook(
        lambda own, inputs, kwargs: (inputs, {"by": kwargs["by"] * 2}),
        prepend=True,
        with_kwargs=True,
    )
    layer.register_forward_pre_hook(lambda own, inputs: order.append("first"), prepend=True)
    layer.register_forward_post_hook(
        lambda own, inputs, kwargs, out: out * kwargs["by"], with_kwargs=True
    )
    assert layer(paddle.ones([1]), by=3.0).tolist() == [42.0]
    assert order == ["first", "plain"]
    traced = paddle.jit.to_static(layer)
    assert traced(paddle.ones([1]), by=3.0).tolist() == [42.0]
    layer.register_forward_pre_hook(lambda own, inputs, kwargs: inputs, with_kwargs=True)
    with pytest.raises(TypeError, match=r"must return \(inputs, kwargs\) or None, got tuple"):
        Shifted.__call__(layer, paddle.ones([1]), by=3.0)


def test_hooks_that_are_called_where_a_call_raises():
    layer, seen = Shifted(), []
    layer.register_forward_post_hook(lambda *given: seen.append(given[1:]), always_call=True)
    layer.register_forward_post_hook(lambda *given: 1 / 0, always_call=True)
    with pytest.raises(TypeError, match="of") as caught:
        layer(paddle.ones([1]), of=3.0)
    assert [out for _, out in seen] == [None]
    assert any("always_call=True raised too" in note for note in caught.value.__notes__)


def test_a_layer_is_put_in_the_place_of_another():
    inner = nn.Sequential(nn.ReLU())
    net = nn.Sequential(inner, nn.Linear(2, 2))
    tanh = nn.Tanh()
    net.set_sublayer("0.0", tanh, strict=True)
    net.set_sublayer("0.1", tanh)
    assert list(inner) == [tanh, tanh]
    for path, strict in (("0.7", True), ("5.0", False)):
        with pytest.raises(ArgumentError, match=r"no layer on the path .* there are 0, 0\.0, 1"):
            net.set_sublayer(path, tanh, strict)
    with pytest.raises(TypeError, match="must be a Layer"):
        net.set_sublayer("0.0", paddle.tanh)


def test_hooks_in_programs_and_in_traced_layers():
    layer = Affine(2, 2)
    layer.register_forward_post_hook(lambda own, inputs, out: out * 3.0)
    x = np.ones([4, 2], "float32")
    want = layer(paddle.to_tensor(x)).numpy()
    traced = paddle.jit.to_static(layer)
    np.testing.assert_array_equal(traced(paddle.to_tensor(x)).numpy(), want)
    extra = layer.register_forward_pre_hook(lambda own, inputs: inputs[0] * 0.0)
    np.testing.assert_array_equal(layer(paddle.to_tensor(x)).numpy(), 0 * want)
    extra.remove()
    np.testing.assert_array_equal(layer(paddle.to_tensor(x)).numpy(), want)


# --- state


def test_state_goes_from_one_to_the_other(net):
    other = Net()
    x = paddle.rand([5, 3])
    assert other.eval().set_state_dict(net.eval().state_dict()) == ([], [])
    np.testing.assert_array_equal(other(x).numpy(), net(x).numpy())
    arrays = {name: value.numpy() for name, value in net.state_dict().items()}
    assert Net().set_dict(arrays) == ([], [])
    assert Net().load_dict(arrays) == ([], [])


def test_hooks_of_the_state():
    inner, net, seen = nn.Linear(1, 1), nn.Sequential(), []
    net.add_sublayer("inner", inner)
    inner.register_state_dict_hook(lambda state: seen.append(sorted(state)))
    handle = net.register_state_dict_hook(lambda state: {f"net.{k}": v for k, v in state.items()})
    assert list(net.state_dict()) == ["net.inner.weight", "net.inner.bias"]
    assert seen == [["inner.bias", "inner.weight"]]
    assert list(copy.copy(net).state_dict(use_hook=False)) == ["inner.weight", "inner.bias"]
    handle.remove()
    assert net.set_state_dict(net.state_dict()) == ([], [])
    with pytest.raises(TypeError, match="register_state_dict_hook takes a function, got int"):
        net.register_state_dict_hook(3)


def test_all_mismatches_are_listed_and_nothing_changes(net):
    state = {name: value.numpy() * 0 for name, value in net.state_dict().items()}
    state["body.0.wieght"] = state.pop("body.0.weight")
    state["scale"] = np.zeros([2], "float32")
    state["seen"] = np.zeros([2], "int64")
    state["extra.0"] = "text"
    state["more"] = np.zeros(1)
    before = {name: value.numpy().copy() for name, value in net.state_dict().items()}
    with pytest.raises(ArgumentError) as caught:
        net.set_state_dict(state)
    text = str(caught.value)
    for part in (
        "body.0.weight float32 [3, 4] is missing",
        "body.0.wieght is nothing that the layer has; is it body.0.weight?",
        "scale has shape [2], the layer's has [1]",
        "seen holds int64, not float32",
        "extra.0",
        "more is nothing that the layer has",
        "strict=False",
    ):
        assert part in text
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])
    missing, unknown = net.set_state_dict(state, strict=False)
    assert sorted(missing) == ["body.0.weight", "extra.0", "scale", "seen"]
    assert sorted(unknown) == ["body.0.wieght", "more"]
    np.testing.assert_array_equal(net.body[2].weight.numpy(), 0 * before["body.2.weight"])
    np.testing.assert_array_equal(net.scale.numpy(), before["scale"])


def test_state_by_names_of_parameters(net):
    by_name = {p.name: p.numpy() + 1 for _, p in net.named_parameters()}
    by_name[net.seen.name] = np.ones(2, "float32")
    want = net.scale.numpy() + 1
    net.set_state_dict(by_name, use_structured_name=False)
    np.testing.assert_array_equal(net.scale.numpy(), want)
    assert net.seen.tolist() == [1.0, 1.0]


def test_state_of_another_float_is_cast(net):
    state = {name: value.numpy().astype("float64") for name, value in net.state_dict().items()}
    net.set_state_dict(state)
    assert net.scale.dtype == paddle.float32


def test_dtype(net):
    assert net.to(dtype="float64") is net
    assert {p.dtype for p in net.parameters()} == {paddle.float64}
    assert net.seen.dtype == paddle.float64
    assert net.create_parameter([1]).dtype == paddle.float64
    out = net(paddle.ones([1, 3], dtype="float64"))
    assert out.dtype == paddle.float64
    out.sum().backward()
    assert net.scale.grad.dtype == paddle.float64
    assert net.float().scale.dtype == paddle.float32
    assert net.scale.grad is None
    assert net.astype("float64").double().to("cpu").scale.dtype == paddle.float64


def test_gradients_reach_all_parameters_and_are_cleared(net):
    net.eval()
    net(paddle.rand([4, 3])).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.clear_gradients()
    assert net.scale.grad.tolist() == [0.0]
    net.clear_gradients(set_to_zero=False)
    assert net.scale.grad is None


# --- copies


@pytest.mark.parametrize("how", [copy.deepcopy, lambda n: pickle.loads(pickle.dumps(n))])
def test_copies_are_layers_of_their_own(net, how):
    x = paddle.rand([2, 3])
    want = net.eval()(x).numpy()
    other = how(net)
    np.testing.assert_array_equal(other(x).numpy(), want)
    for p in other.parameters():
        p.set_value(np.zeros(p.shape, "float32"))
    np.testing.assert_array_equal(net(x).numpy(), want)
    assert not other(x).numpy().any()


def test_deep_copies_have_names_of_their_own():
    net = Net()
    names = [p.name for p in net.parameters()]
    copies = [copy.deepcopy(net) for _ in range(2)]
    every = names + [p.name for c in copies for p in c.parameters()]
    assert len(set(every)) == len(every)
    assert [p.name for p in net.parameters()] == names
    tied = Affine(2, 2)
    pair = nn.Sequential(tied, tied)
    assert len(copy.deepcopy(pair).parameters()) == 2


def test_a_traced_layer_is_copied_with_its_forward(net):
    net.eval()
    paddle.jit.to_static(net)
    x = paddle.rand([2, 3])
    want = net(x).numpy()
    other = copy.deepcopy(net)
    other.scale.set_value(np.zeros(1, "float32"))
    assert not other(x).numpy().any()
    np.testing.assert_array_equal(net(x).numpy(), want)


def test_nothing_keeps_a_layer_alive():
    layer = nn.Sequential(Affine(2, 2))
    layer(paddle.ones([1, 2])).sum().backward()
    gone = weakref.ref(layer)
    del layer
    gc.collect()
    assert gone() is None


# --- containers


def test_sequential():
    a, b = Noise(0.1), Noise(0.2)
    net = nn.Sequential(a, b)
    assert (net[0], net[-1], net["1"], len(net), list(net)) == (a, b, b, 2, [a, b])
    assert isinstance(net[:1], nn.Sequential)
    assert net[1:]["1"] is b
    net[0] = b
    assert net[0] is b
    net.append(a)
    assert net["2"] is a
    del net[1]
    assert [n for n, _ in net.named_children()] == ["0", "2"]
    assert nn.Sequential({"x": a})["x"] is a
    assert nn.Sequential([a, b])[1] is b
    with pytest.raises(TypeError, match="call it, for it is the class"):
        nn.Sequential(Noise)
    with pytest.raises(TypeError, match="takes layers"):
        nn.Sequential(a, 3)
    with pytest.raises(ArgumentError, match="its own name"):
        nn.Sequential(("x", a), ("x", b))
    with pytest.raises(IndexError, match="2 elements"):
        net[5]
    with pytest.raises(KeyError, match="no layer"):
        net["y"]
    with pytest.raises(TypeError, match="must be an int"):
        net[1.0]


def test_layer_list():
    a, b, c = Noise(0.1), Noise(0.2), Noise(0.3)
    layers = nn.LayerList([a, b])
    layers.insert(0, c)
    assert list(layers) == [c, a, b]
    assert [n for n, _ in layers.named_children()] == ["0", "1", "2"]
    layers.insert(3, c)
    layers.extend([a])
    del layers[0]
    assert list(layers) == [a, b, c, a]
    assert isinstance(layers[1:3], nn.LayerList)
    layers[-1] = b
    assert layers[3] is b
    with pytest.raises(TypeError, match=r"write \[layer\]"):
        nn.LayerList(a)
    with pytest.raises(TypeError, match="takes layers"):
        layers.append(3)
    with pytest.raises(IndexError):
        layers[9]


def test_layer_dict():
    a, b = Noise(0.1), Noise(0.2)
    layers = nn.LayerDict({"x": a})
    layers["y"] = b
    layers.update([("z", a)])
    assert (list(layers), layers.keys(), layers.values()) == (["x", "y", "z"],) * 2 + ([a, b, a],)
    assert layers.pop("x") is a
    assert "x" not in layers
    assert layers.items() == [("y", b), ("z", a)]
    layers.clear()
    assert len(layers) == 0
    with pytest.raises(KeyError, match="no sublayer 'q'"):
        layers["q"]
    with pytest.raises(ArgumentError, match="another name"):
        layers["train"] = a
    with pytest.raises(TypeError, match="pairs"):
        nn.LayerDict([a])


def test_parameter_dict():
    a, b = (paddle.create_parameter([2, 3]) for _ in range(2))
    held = nn.ParameterDict({"x": a})
    held.update([("y", b)])
    assert [name for name, _ in held.named_parameters()] == list(held) == ["x", "y"]
    held["x"] = b
    assert held.pop("x") is held["y"] is b
    assert list(held.state_dict()) == ["y"]
    with pytest.raises(KeyError, match="no parameter 'q'; it has y"):
        held["q"]
    with pytest.raises(TypeError, match="ParameterDict takes parameters, got Tensor"):
        held["z"] = paddle.ones([2])


def test_batch_norms_of_all_processes_keep_what_they_had():
    net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.BatchNorm1D(4, 0.8, name="bn")))
    x = paddle.randn([5, 3])
    net(x)
    net.eval()
    before, state = net(x), net.state_dict()
    converted = nn.SyncBatchNorm.convert_sync_batchnorm(net)
    assert converted is net
    assert repr(net[1][0]).startswith("SyncBatchNorm(num_features=4, momentum=0.8")
    assert {k: id(v) for k, v in net.state_dict().items()} == {k: id(v) for k, v in state.items()}
    np.testing.assert_array_equal(net(x).numpy(), before.numpy())
    fixed = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm2D(2, bias_attr=False))
    assert (fixed.weight.stop_gradient, fixed.bias.stop_gradient) == (False, True)


def test_parameter_list():
    held = nn.ParameterList([paddle.create_parameter([2]) for _ in range(2)])
    extra = paddle.create_parameter([3])
    held.append(extra)
    assert held[2] is extra
    held[0] = extra
    assert [len(p) for p in held] == [3, 2, 3]
    assert len(held.parameters()) == 2
    with pytest.raises(TypeError, match="create_parameter"):
        held.append(paddle.ones([2]))


# --- programs


def test_the_same_class_in_a_program(net):
    paddle.seed(3)
    main, startup = static.Program(), static.Program()
    with unique_name.guard(), static.program_guard(main, startup):
        twin = Net().eval()
        y = twin(static.data("x", [None, 3]))
        loss = paddle.mean(y * y)
        pairs = static.append_backward(loss)
    assert [p.name for p in twin.parameters()] == [p.name for p in net.parameters()]
    assert len(pairs) == 8
    with static.scope_guard(static.Scope()):
        exe = static.Executor()
        with pytest.raises(ModeError, match="startup program"):
            twin.state_dict()
        exe.run(startup)
        state = twin.state_dict()
        # The stream gives the same numbers to both modes.
        for name, value in net.state_dict().items():
            np.testing.assert_array_equal(state[name], value.numpy())
        x = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
        got = exe.run(main, {"x": x}, [loss, *(g for _, g in pairs)])
        out = net.eval()(paddle.to_tensor(x))
        want = paddle.mean(out * out)
        want.backward()
        np.testing.assert_array_equal(got[0], want.numpy())
        by_name = {p.name: p for p in net.parameters()}
        for (p, _), g in zip(pairs, got[1:], strict=True):
            np.testing.assert_array_equal(g, by_name[p.name].grad.numpy())
        zeros = {name: value * 0 for name, value in state.items()}
        twin.set_state_dict(zeros)
        assert exe.run(main, {"x": x}, [loss])[0] == 0
        with pytest.raises(ModeError, match="set_default_dtype"):
            twin.to(dtype="float64")


def test_temporaries_are_named_after_the_layer():
    main = static.Program()
    with unique_name.guard(), static.program_guard(main, static.Program()):
        out = Affine(2, 3)(static.data("x", [None, 2]))
    assert out.name == "affine_0.tmp_1"


def test_a_call_that_fails_leaves_the_program_as_it_was():
    main = static.Program()
    with static.program_guard(main, static.Program()):
        layer = Affine(2, 3)
        before = str(main)
        with pytest.raises(ValueError, match="matmul"):
            layer(static.data("x", [None, 5])[:, :4])
        assert str(main).count("matmul") == before.count("matmul")
