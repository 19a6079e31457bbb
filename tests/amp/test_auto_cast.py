"""`amp.auto_cast`: eagerly, in programs, in functions that are traced."""

import threading

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DTypeError

F = paddle.nn.functional
RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 4)).astype("float32")
W = RNG.standard_normal((4, 4)).astype("float32")
LABELS = np.array([0, 1, 2, 3, 0])


def leaf(values):
    return paddle.to_tensor(values, stop_gradient=False)


def net(x, w, b):
    h = F.gelu(F.linear(x, w, b))
    h = F.layer_norm(h + x, [4])
    h = F.scaled_dot_product_attention(*(ops_of(h, k) for k in (1.0, 0.5, 2.0)))
    return F.cross_entropy(paddle.reshape(h, [5, 4]), paddle.to_tensor(LABELS))


def ops_of(h, factor):
    return paddle.reshape(h * factor, [1, 5, 1, 4])


def values_and_gradients(function, **block):
    x, w, b = leaf(X), leaf(W), leaf(W[0])
    with paddle.amp.auto_cast(**block):
        loss = function(x, w, b)
    loss.backward()
    return [loss.numpy(), *(t.grad.numpy() for t in (x, w, b))]


BLOCKS = [
    {},
    {"level": "O2"},
    {"level": "O2", "use_promote": False},
    {"level": "OD"},
    {"level": "O0"},
    {"custom_black_list": {"matmul_v2"}, "custom_white_list": ["softmax", "reduce_sum"]},
]


def test_a_traced_function_has_the_bits_of_eager_calls():
    for block in BLOCKS:
        eager = values_and_gradients(net, **block)
        traced = values_and_gradients(paddle.jit.to_static(net, backend="numpy"), **block)
        for a, b in zip(eager, traced, strict=True):
            assert a.dtype == b.dtype, block
            np.testing.assert_array_equal(a, b, err_msg=str(block))


def test_gradients_come_back_in_the_dtype_of_what_was_cast():
    found = values_and_gradients(net)
    plain = values_and_gradients(net, enable=False)
    for a, b in zip(found, plain, strict=True):
        assert a.dtype == b.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=0.03, atol=0.02)
    assert any((a != b).any() for a, b in zip(found, plain, strict=True))


def test_a_program_has_the_bits_of_eager_calls():
    eager = values_and_gradients(lambda x, w, b: paddle.sum(F.softmax(F.linear(x, w, b)) ** 2.0))
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        given = {"x": X, "w": W, "b": W[0]}
        x, w, b = (paddle.static.data(n, list(a.shape)) for n, a in given.items())
        for v in (x, w, b):
            v.stop_gradient = False
        with paddle.amp.auto_cast():
            loss = paddle.sum(F.softmax(F.linear(x, w, b)) ** 2.0)
            # What is appended for gradients follows from what there is, inside of the block too.
            grads = paddle.static.gradients(loss, [x, w, b])
    assert [g.dtype for g in grads] == ["float32"] * 3
    assert sum(op.type == "cast" for op in main.global_block().ops if op.role == "forward") == 4
    executor = paddle.static.Executor(backend="numpy")
    found = executor.run(main, given, [loss, *grads])
    for a, b in zip(eager, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_traced_function_has_a_program_for_each_block():
    traced = paddle.jit.to_static(lambda x: x @ x)
    x = paddle.ones([2, 2])
    with paddle.amp.auto_cast():
        assert traced(x).dtype == "float16"
        assert traced(x).dtype == "float16"
    assert traced(x).dtype == "float32"
    with paddle.amp.auto_cast(custom_black_list={"matmul"}):
        assert traced(x).dtype == "float32"
    assert len(traced.program_cache) == 3


def test_blocks_nest_and_end():
    x = paddle.ones([2, 2])
    assert not paddle.amp.is_autocast_enabled()
    with paddle.amp.auto_cast() as nothing:
        assert nothing is None
        assert (x @ x).dtype == "float16"
        with paddle.amp.auto_cast(enable=False):
            assert (x @ x).dtype == "float32"
            assert not paddle.amp.is_autocast_enabled()
        with paddle.no_grad(), paddle.amp.auto_cast(custom_black_list=["matmul"]):
            assert (x @ x).dtype == "float32"
        assert (x @ x).dtype == "float16"
        assert paddle.amp.get_autocast_dtype() == "float16"
    assert (x @ x).dtype == "float32"
    with pytest.raises(ZeroDivisionError), paddle.amp.auto_cast():
        raise ZeroDivisionError
    assert (x @ x).dtype == "float32"


def test_other_threads_are_outside():
    x, found = paddle.ones([2, 2]), []
    with paddle.amp.auto_cast():
        thread = threading.Thread(target=lambda: found.append((x @ x).dtype))
        thread.start()
        thread.join()
        assert (x @ x).dtype == "float16"
    assert found == ["float32"]


def test_it_decorates_functions_and_generators():
    x = paddle.ones([2, 2])

    @paddle.amp.auto_cast()
    def product():
        return x @ x

    @paddle.autocast("cpu", dtype=paddle.float16)
    def products():
        yield x @ x

    assert product().dtype == "float16"
    for y in products():
        assert y.dtype == "float16"
        assert (x @ x).dtype == "float32"


def test_lists_of_the_user():
    x = paddle.ones([2, 2])
    with paddle.amp.auto_cast(custom_white_list={"elementwise_add", "softmax"}):
        assert (x + x).dtype == F.softmax(x).dtype == "float16"
        assert x.sum().dtype == "float32"
    with paddle.amp.auto_cast(level="O2", custom_black_list=["conv2d"]):
        image = paddle.ones([1, 1, 3, 3])
        assert F.conv2d(image, image).dtype == "float32"
    for wrong, text in (
        ({"custom_white_list": {"conv2"}}, r"'conv2'.*Did you mean 'conv2d'\? There are abs, "),
        ({"custom_white_list": "conv2d"}, r"custom_white_list={'conv2d'}"),
        ({"custom_white_list": {"mul"}, "custom_black_list": {"mul"}}, "leave it out of one"),
        ({"custom_white_list": {"mul"}, "custom_black_list": {"bmm"}}, "both computed by 'matmul'"),
        ({"level": "O3"}, "O0, OD, O1 or O2"),
        ({"dtype": "float32"}, "'float16' or 'bfloat16'"),
        ({"enable": 1}, "True or False"),
    ):
        with pytest.raises(ArgumentError, match=text):
            paddle.amp.auto_cast(**wrong)
    if not paddle.amp.is_bfloat16_supported():
        with pytest.raises(DTypeError):
            paddle.amp.auto_cast(dtype="bfloat16")


def test_float64_and_numbers_stay():
    x = paddle.ones([2, 2], "float64")
    single = paddle.ones([2, 2])
    with paddle.amp.auto_cast():
        assert (x @ x).dtype == (x @ single).dtype == x.exp().dtype == "float64"
        half = single @ single
        assert (half * 2.0).dtype == (half + 1).dtype == "float16"
        assert (half + single).dtype == paddle.concat([half, single]).dtype == "float32"
        assert (half.numpy() @ single).dtype == "float16"
        assert half.exp().dtype == "float32"


def test_a_bias_does_not_widen_a_product():
    image = paddle.ones([1, 1, 3, 3])
    with paddle.amp.auto_cast():
        assert paddle.nn.Linear(2, 2)(paddle.ones([1, 2])).dtype == "float16"
        assert F.conv2d(image, image, paddle.ones([1])).dtype == "float16"
        assert paddle.nn.LSTM(2, 3)(paddle.ones([1, 4, 2]))[0].dtype == "float16"


def test_views_stay_views_and_writes_keep_dtypes():
    x = paddle.zeros([2, 2], "float16")
    for block in BLOCKS:
        with paddle.amp.auto_cast(**block):
            row = x[0]
            row[...] = paddle.ones([2])
            x[1] = paddle.full([2], 3.0)
        assert x.dtype == "float16"
        assert x.tolist() == [[1.0, 1.0], [3.0, 3.0]]


def test_the_backward_pass_casts_nothing_more():
    seen = []

    class Doubled(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            found = g.astype("float32") @ x.T + x.T @ g.astype("float32")
            seen.append(((x @ x).dtype, found.dtype))
            return found

    x = leaf(W)
    with paddle.amp.auto_cast():
        y = Doubled.apply(x)
        assert y.dtype == "float16"
        y.sum().backward()
    assert seen == [("float32", "float32")]
    assert x.grad.dtype == "float32"


def test_second_order_has_the_values_of_single_precision():
    def second(enable):
        x = leaf(X)
        with paddle.amp.auto_cast(enable):
            (g,) = paddle.grad(F.softmax(x @ leaf(W))[:, 0].sum(), x, create_graph=True)
            total = (g * g).sum()
        total.backward()
        return x.grad

    assert second(True).dtype == "float32"
    np.testing.assert_allclose(second(True).numpy(), second(False).numpy(), rtol=0.05, atol=5e-3)


def test_recompute_casts_as_the_first_run_did():
    def gradients(call):
        x, w = leaf(X), leaf(W)
        with paddle.amp.auto_cast():
            loss = (call(lambda x: F.softmax(F.relu(x @ w) @ w), x) ** 2.0).sum()
        loss.backward()  # outside of the block
        return x.grad.numpy(), w.grad.numpy()

    plain = gradients(lambda f, x: f(x))
    again = gradients(lambda f, x: paddle.autograd.recompute(f, x))
    for a, b in zip(plain, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_control_flow_casts_inside():
    def branches(x, w):
        i = paddle.zeros([], "int64")
        _, h = paddle.static.nn.while_loop(
            lambda i, h: i < 3,
            lambda i, h: [i + 1, paddle.tanh(h @ w).astype("float32")],
            [i, x],
        )
        return paddle.static.nn.cond(h.sum() > 100.0, lambda: h, lambda: (h @ w) * 2.0)

    found = []
    for function in (branches, paddle.jit.to_static(branches, backend="numpy")):
        x, w = leaf(X), leaf(W)
        with paddle.amp.auto_cast():
            out = function(x, w)
        out.astype("float32").sum().backward()
        found.append((out.numpy().astype("float32"), x.grad.numpy(), w.grad.numpy()))
    for a, b in zip(*found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_a_parameter_is_rounded_once_in_a_block_and_anew_when_it_changes(monkeypatch):
    from autograd_engine.eager import autocast

    rounded = []
    kernel = autocast.CAST.kernel

    def counted(x, *, dtype):
        rounded.append(x)
        return kernel(x, dtype=dtype)

    monkeypatch.setattr(autocast.CAST, "kernel", counted)
    x, w = leaf(X), leaf(W)

    def product():
        return (x.detach() @ w).numpy()

    half = W.astype("float16")
    with paddle.amp.auto_cast():
        before = [product() for _ in range(3)]
        assert len(rounded) == 1
        with paddle.amp.auto_cast(), paddle.no_grad():
            product()
            assert len(rounded) == 1
            with paddle.amp.auto_cast(dtype="bfloat16"):
                product()
            w.add_(paddle.ones([4, 4]))
        after = product()
        w.set_value(W)
        again = product()
    assert len(rounded) == 4
    with paddle.amp.auto_cast():
        product()
    assert len(rounded) == 5
    for found in (*before, again):
        np.testing.assert_array_equal(found, (X.astype("float16").astype("f4") @ half).astype("f2"))
    assert (after != again).any()


def test_an_optimizer_that_steps_inside_of_a_block_trains_on():
    """Its update may write over the parameter, if nobody else holds the array."""
    w = paddle.create_parameter([300, 300])
    sgd = paddle.optimizer.SGD(0.5, parameters=[w])
    x, losses = paddle.ones([1, 300]), []
    with paddle.amp.auto_cast():
        for _ in range(3):
            loss = (x @ w).astype("float32").sum()
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            losses.append(loss.item())
    assert losses[0] - losses[1] == pytest.approx(300 * 300 * 0.5, rel=1e-2)
    assert losses[1] - losses[2] == pytest.approx(300 * 300 * 0.5, rel=1e-2)


def test_gradients_of_a_parameter_that_is_read_often_meet_in_single_precision():
    """In float16, 2048 + 1 is 2048: each of these is an ulp of their sum, or less."""
    w = leaf(np.ones((1, 1), "float32"))
    with paddle.amp.auto_cast():
        terms = [(paddle.full([1, 1], c) @ w) for c in [2048.0] + [1.0] * 8]
        total = sum(t.astype("float32") for t in terms).sum()
        (first,) = paddle.grad(total, w, create_graph=True)
        (one,) = paddle.grad(terms[1], w)  # frees no more than its own part
    assert first.item() == 2056.0
    assert one.item() == 1.0
    total.backward()
    assert w.grad.item() == 2056.0
    assert w.grad.dtype == "float32"


def test_rounded_parameters_end_with_the_outermost_block():
    from autograd_engine.eager.grad_mode import current_mode

    w = leaf(W)
    with paddle.amp.auto_cast():
        with paddle.amp.auto_cast(enable=False):
            w @ w
        assert not current_mode().rounded
        with paddle.amp.auto_cast():
            w @ w
        assert len(current_mode().rounded) == 1
    assert current_mode().rounded is None


def test_a_parameter_of_the_other_16_bits_is_refused():
    net = paddle.nn.Linear(2, 2)
    paddle.amp.decorate(net, level="O2", dtype="float16")
    message = (
        r"linear_\d+\.w_0 is float16 and would be rounded to bfloat16.*auto_cast\(dtype='float16'\)"
        r", or decorate\(\.\.\., dtype='bfloat16'\)"
    )
    x = paddle.ones([1, 2])
    with paddle.amp.auto_cast(dtype="bfloat16"), pytest.raises(DTypeError, match=message):
        net(x)
    with paddle.amp.auto_cast(dtype="bfloat16"), paddle.no_grad():
        assert (x.astype("float16") @ x.T).dtype == "bfloat16"  # data may be of either


def test_a_cast_of_a_block_that_overflows_is_named_with_its_line():
    for dtype, value, largest in (("float16", 1e5, "65504"), ("bfloat16", 3.4e38, "3.38953e")):
        w = leaf(np.full((2, 2), value, "float32"))
        with (
            np.errstate(over="ignore"),
            paddle.autograd.detect_anomaly(),
            paddle.amp.auto_cast(dtype=dtype),
            pytest.raises(
                paddle.errors.AnomalyError,
                match=rf"cast at test_auto_cast.*made infinity.*number of {dtype} is {largest}",
            ),
        ):
            paddle.ones([2, 2]) @ w
