"""Optimizers in programs: what they return, their variables, and the bits of eager steps."""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.optimizer import SGD, Adam, Momentum, Optimizer

static = paddle.static
F = paddle.nn.functional

OPTIMIZERS: dict[str, Callable[..., Optimizer]] = {
    "sgd": SGD,
    "momentum": lambda rate, **o: Momentum(rate, momentum=0.8, **o),
    "nesterov": lambda rate, **o: Momentum(rate, momentum=0.8, use_nesterov=True, **o),
    "adam": lambda rate, **o: Adam(rate, beta1=0.8, beta2=0.95, epsilon=1e-6, **o),
}


def two_parameters() -> tuple[Any, Any, Any]:
    """(b, a, loss): made in this order, so that creation and name order differ."""
    b, a = (
        static.create_parameter([2], "float32", attr=paddle.ParamAttr(
            name=name, initializer=paddle.nn.initializer.Assign(value)))
        for name, value in (("b", [1.0, 2.0]), ("a", [3.0, 4.0]))
    )  # fmt: skip
    return b, a, paddle.sum(a * a * b)


def ops() -> list[Any]:
    return static.default_main_program().global_block().ops


@pytest.fixture
def building() -> None:
    paddle.enable_static()


@pytest.mark.usefixtures("building")
class TestMinimize:
    def test_returns_operators_and_pairs(self) -> None:
        _, _, loss = two_parameters()
        operators, pairs = SGD(0.1).minimize(loss)
        assert [(p.name, g.name) for p, g in pairs] == [("b", "b@GRAD"), ("a", "a@GRAD")]
        assert [op.type for op in operators] == ["sgd", "sgd"]
        assert [op.output_arg_names for op in operators] == [["a"], ["b"]]
        assert operators == ops()[-2:]
        assert all(op.role == "optimize" for op in operators)

    def test_backward_then_apply_gradients_is_the_same(self) -> None:
        _, _, loss = two_parameters()
        sgd = SGD(0.1)
        pairs = sgd.backward(loss)
        assert [p.name for p, _ in pairs] == ["b", "a"]
        operators = sgd.apply_gradients(pairs)
        assert [op.output_arg_names for op in operators] == [["a"], ["b"]]

    def test_after_append_backward_the_gradients_are_used_again(self) -> None:
        _, _, loss = two_parameters()
        first = static.append_backward(loss)
        count = len(ops())
        _, pairs = SGD(0.1).minimize(loss)
        assert all(g is h for (_, g), (_, h) in zip(pairs, first, strict=True))
        assert len(ops()) == count + 2

    @pytest.mark.parametrize(
        ("which", "expected"),
        [
            ("sgd", []),
            ("momentum", ["a_velocity_0", "b_velocity_0"]),
            (
                "adam",
                [
                    f"{p}_{n}_0"
                    for p in "ab"
                    for n in ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")
                ],
            ),
        ],
    )
    def test_names_of_what_it_keeps(self, which: str, expected: list[str]) -> None:
        _, _, loss = two_parameters()
        OPTIMIZERS[which](0.1).minimize(loss)
        block = static.default_main_program().global_block()
        kept = {v.name: v for v in block.vars.values() if v.persistable}
        assert sorted(kept) == sorted(["a", "b", "learning_rate_0", *expected])
        assert kept["learning_rate_0"].shape == ()
        startup = static.default_startup_program().global_block()
        assert set(kept) == set(startup.vars)
        static.Executor().run(static.default_startup_program())
        rate = static.global_scope().find_var("learning_rate_0")
        assert np.asarray(rate.get_tensor()) == np.float32(0.1)

    def test_a_second_optimizer_has_its_own_state(self) -> None:
        _, _, loss = two_parameters()
        for _ in range(2):
            Momentum(0.1).minimize(loss)
        block = static.default_main_program().global_block()
        for name in ("learning_rate_1", "a_velocity_1", "b_velocity_1"):
            assert block.has_var(name)

    def test_parameters_and_no_grad_set_choose(self) -> None:
        b, a, loss = two_parameters()
        _, pairs = SGD(0.1).minimize(loss, parameters=[a])
        assert [p.name for p, _ in pairs] == ["a"]
        _, pairs = SGD(0.1, parameters=[b]).minimize(loss)
        assert [p.name for p, _ in pairs] == ["b"]
        _, pairs = SGD(0.1).minimize(loss, no_grad_set={"a"})
        assert [p.name for p, _ in pairs] == ["b"]

    def test_a_startup_program_of_its_own(self) -> None:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            _, _, loss = two_parameters()
        Adam(0.1).minimize(loss, startup_program=startup)
        assert "a_moment1_0" in startup.global_block().vars
        assert not static.default_startup_program().global_block().vars
        assert not ops()

    @pytest.mark.parametrize("shape", [[None, 1], [2], [1, 2], [0]])
    def test_the_loss_must_have_one_element(self, shape: Any) -> None:
        x = static.data("x", shape)
        w = static.create_parameter([1], "float32")
        loss = x * w
        count = len(ops())
        with pytest.raises(ValueError, match=r"must have one element.*paddle\.mean"):
            SGD(0.1).minimize(loss)
        assert len(ops()) == count

    @pytest.mark.parametrize("shape", [[1], [1, 1]])
    def test_one_element_in_any_shape_will_do(self, shape: Any) -> None:
        w = static.create_parameter(shape, "float32")
        assert len(SGD(0.1).minimize(w * w)[1]) == 1

    @pytest.mark.parametrize("bad", [None, "loss", 3.0, np.ones(1)])
    def test_a_loss_of_another_kind(self, bad: Any) -> None:
        for method in ("minimize", "backward"):
            with pytest.raises(TypeError, match="loss must be a Variable"):
                getattr(SGD(0.1), method)(bad)

    def test_a_run_trains(self) -> None:
        b, a, loss = two_parameters()
        SGD(0.125).minimize(loss)
        exe = static.Executor()
        exe.run(static.default_startup_program())
        before, value_a, value_b = exe.run(fetch_list=[loss, a, b])
        assert before == 41.0
        assert value_a.tolist() == [3.0 - 0.75, 4.0 - 2.0]
        assert value_b.tolist() == [1.0 - 1.125, 2.0 - 2.0]

    def test_minimizing_twice_updates_twice_from_the_first_gradient(self) -> None:
        """The second update starts from what the first wrote; both use the forward's values."""
        w = static.create_parameter(
            [1], "float32", default_initializer=paddle.nn.initializer.Constant(4.0)
        )
        loss = paddle.sum(w * w)
        for _ in range(2):
            SGD(0.125).minimize(loss)
        exe = static.Executor()
        exe.run(static.default_startup_program())
        assert exe.run(fetch_list=[w])[0].tolist() == [2.0]


def pair(name: str = "w", shape: Any = (2,), dtype: str = "float32") -> tuple[Any, Any]:
    """A parameter, and something fed that can pass for its gradient."""
    parameter = static.create_parameter(
        list(shape), dtype, name=name, default_initializer=paddle.nn.initializer.Constant(1.0)
    )
    return parameter, static.data(f"g_{name}", list(shape), dtype)


def programs() -> Any:
    """Everything that a failing call could have changed in the default programs."""
    found = []
    for program in (static.default_main_program(), static.default_startup_program()):
        versions = {v.name: v.version for v in program.list_vars()}
        found.append((repr(program), versions, list(program.global_block().emitted)))
    return found


@pytest.mark.usefixtures("building")
class TestLearningRates:
    def test_each_dtype_has_a_rate_of_its_own(self) -> None:
        """One float64 parameter must not turn the others into float64."""
        optimizer = SGD(0.5)
        optimizer.apply_gradients([pair("a", dtype="float64"), pair("b"), pair("c")])
        rates = [op.inputs["learning_rate"][0] for op in ops()]
        assert [r.name for r in rates] == ["learning_rate_0", "learning_rate_1", "learning_rate_1"]
        assert [r.dtype.name for r in rates] == ["float64", "float32", "float32"]
        exe = static.Executor()
        exe.run(static.default_startup_program())
        feed = {f"g_{n}": np.ones(2, "float64" if n == "a" else "float32") for n in "abc"}
        a, b, _ = exe.run(feed=feed, fetch_list=["a", "b", "c"])
        assert (a.dtype, b.dtype) == (np.float64, np.float32)
        assert np.asarray(static.global_scope().find_var("b").get_tensor()).dtype == np.float32

    def test_a_rate_that_is_set_reaches_programs_that_were_built(self) -> None:
        w, _ = pair()
        optimizer = SGD(1.0)
        optimizer.minimize(paddle.sum(w))
        exe, scopes = static.Executor(), [static.Scope(), static.Scope()]
        for scope in scopes:
            exe.run(static.default_startup_program(), scope=scope)
        assert exe.run(fetch_list=[w], scope=scopes[0])[0].tolist() == [0.0, 0.0]
        optimizer.set_lr(10.0)
        values = [exe.run(fetch_list=[w], scope=scope)[0].tolist() for scope in scopes]
        assert values == [[-10.0, -10.0], [-9.0, -9.0]]
        rates = [op.inputs["learning_rate"][0].name for op in ops() if op.type == "sgd"]
        assert rates == ["learning_rate_0"]

    def test_a_rate_that_was_written_to_the_scope_stands(self) -> None:
        w, _ = pair()
        SGD(1.0).minimize(paddle.sum(w))
        exe = static.Executor()
        exe.run(static.default_startup_program())
        static.global_scope().find_var("learning_rate_0").get_tensor().set(4.0)
        assert exe.run(fetch_list=[w])[0].tolist() == [-3.0, -3.0]

    def test_each_program_has_its_own(self) -> None:
        """Also where a program took the place in memory of one that died."""
        optimizer = SGD(0.5)
        for _ in range(20):
            with static.program_guard(static.Program(), static.Program()):
                optimizer.apply_gradients([pair()])
                names = [v.name for v in static.default_main_program().list_vars()]
                (rate,) = (n for n in names if n.startswith("learning_rate"))
                assert static.default_startup_program().global_block().has_var(rate)
            gc.collect()


@pytest.mark.usefixtures("building")
class TestRefusals:
    """What cannot be applied is refused when the program is built, and leaves nothing behind."""

    @pytest.mark.parametrize(
        ("make", "kind", "hint"),
        [
            (lambda w, g: [(w, None)], TypeError, r"params_grads\[1\]: the gradient of w is None"),
            (lambda w, g: [(w, static.data("h", [3, 2]))], ValueError,
             r"w is \[2\], its gradient h \[3, 2\]; they must be equal"),
            (lambda w, g: [(w, static.data("h", [None]))], ValueError, r"gradient h \[\?\]"),
            (lambda w, g: [(w, static.data("h", [2], "float64"))], TypeError,
             "w is float32, its gradient h float64; cast it"),
            (lambda w, g: [("w", g)], TypeError, "must be a pair of Variables"),
            (lambda w, g: [w], TypeError, "must be a pair of Variables"),
            (lambda w, g: [(g, g)], ValueError, "g_w is not kept between runs"),
            (lambda w, g: [(w, g), (w, g)], ValueError, "w is named twice"),
        ],
    )  # fmt: skip
    def test_pairs_that_do_not_fit(self, make: Any, kind: Any, hint: str) -> None:
        good, (w, g) = pair("a"), pair()
        pairs = make(w, g)
        before = programs()
        with pytest.raises(kind, match=hint):
            Adam(0.1).apply_gradients([good, *pairs])
        assert programs() == before

    @pytest.mark.parametrize("bad", [None, "x", 3])
    def test_pairs_must_be_a_list(self, bad: Any) -> None:
        with pytest.raises(TypeError, match=r"must be a list of \(parameter, gradient\) pairs"):
            SGD(0.1).apply_gradients(bad)

    def test_a_gradient_of_another_program(self) -> None:
        w, _ = pair()
        with static.program_guard(static.Program()):
            h = static.data("h", [2])
        before = programs()
        with pytest.raises(ValueError, match="h belongs to another program than w"):
            SGD(0.1).apply_gradients([(w, h)])
        assert programs() == before

    def test_a_failure_on_the_way_undoes_it_all(self) -> None:
        """Here the name of a state is taken, which shows at the second parameter only."""
        pairs = [pair("a"), pair("b")]
        loss = paddle.sum(pairs[0][0] * pairs[1][0])
        static.data("b_velocity_0", [1])
        before = programs()
        with pytest.raises(ValueError, match="'b_velocity_0' has been created before"):
            Momentum(0.1).apply_gradients(pairs)
        assert programs() == before
        with paddle.unique_name.guard(), pytest.raises(ValueError, match="been created before"):
            Momentum(0.1).minimize(loss)
        assert programs() == before

    @pytest.mark.parametrize("optimizer", [SGD, Adam])
    def test_parameters_named_twice(self, optimizer: Any) -> None:
        w, _ = pair()
        with pytest.raises(ValueError, match="w is named twice"):
            optimizer(0.1, parameters=[w, w])
        before = programs()
        with pytest.raises(ValueError, match="w is named twice"):
            optimizer(0.1).minimize(paddle.sum(w), parameters=[w, w])
        assert programs()[1] == before[1]


# --- eager and static


def model(w: Any, b: Any, x: Any, y: Any) -> Any:
    return paddle.mean(paddle.square(F.sigmoid(paddle.matmul(x, w) + b) - y))


RNG = np.random.default_rng(3)
W, B = RNG.standard_normal((5, 3)).astype("float32"), np.zeros(3, "float32")
X, Y = (RNG.standard_normal((20, 4, n)).astype("float32") for n in (5, 3))


def eager(make: Callable[..., Optimizer], clear: bool | None) -> list[Any]:
    w, b = (paddle.create_parameter(v.shape, attr=paddle.nn.initializer.Assign(v)) for v in (W, B))
    optimizer = make(0.3, parameters=[w, b])
    for x, y in zip(X, Y, strict=True):
        model(w, b, paddle.to_tensor(x), paddle.to_tensor(y)).backward()
        optimizer.step()
        optimizer.clear_grad() if clear is None else optimizer.clear_grad(set_to_zero=clear)
    return [w.numpy(), b.numpy()]


def in_a_program(make: Callable[..., Optimizer]) -> list[Any]:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        w, b = (
            static.create_parameter(
                v.shape, "float32", default_initializer=paddle.nn.initializer.Assign(v)
            )
            for v in (W, B)
        )
        x, y = static.data("x", [None, 5]), static.data("y", [None, 3])
        make(0.3).minimize(model(w, b, x, y))
    exe = static.Executor()
    exe.run(startup)
    for k in range(len(X)):
        fetched = exe.run(main, feed={"x": X[k], "y": Y[k]}, fetch_list=[w, b])
    return fetched


@pytest.mark.parametrize("which", OPTIMIZERS)
def test_twenty_steps_have_the_same_bits_in_both_modes(which: str) -> None:
    make = OPTIMIZERS[which]
    expected = in_a_program(make)
    assert not np.array_equal(expected[0], W)
    for clear in (None, True, False):
        for have, want in zip(eager(make, clear), expected, strict=True):
            np.testing.assert_array_equal(have, want)


def reference(which: str, steps: list[Any], start: float) -> float:
    """The update formulas in float64, as their papers state them."""
    p, v, m, s = start, 0.0, 0.0, 0.0
    for t, g in enumerate(steps, 1):
        if which == "sgd":
            p -= 0.1 * g
        elif which == "adam":
            m, s = 0.8 * m + 0.2 * g, 0.95 * s + 0.05 * g * g
            p -= 0.1 * (m / (1 - 0.8**t)) / (np.sqrt(s / (1 - 0.95**t)) + 1e-6)
        else:
            v = 0.8 * v + g
            p -= 0.1 * (g + 0.8 * v if which == "nesterov" else v)
    return p


@pytest.mark.parametrize("which", OPTIMIZERS)
def test_steps_follow_the_formulas(which: str) -> None:
    w = paddle.create_parameter([1], "float64", attr=paddle.nn.initializer.Constant(2.0))
    optimizer = OPTIMIZERS[which](0.1, parameters=[w])
    gradients = [1.0, -0.5, 3.0, 0.25]
    for g in gradients:
        (w * g).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    assert w.item() == pytest.approx(reference(which, gradients, 2.0), rel=1e-9)


# --- eager


def test_step_skips_parameters_without_a_gradient_and_frozen_ones() -> None:
    used, unused, frozen = (
        paddle.create_parameter([1], attr=paddle.nn.initializer.Constant(1.0)) for _ in range(3)
    )
    (used * frozen).sum().backward()
    frozen.trainable = False
    SGD(0.5, parameters=[used, unused, frozen]).step()
    assert [p.item() for p in (used, unused, frozen)] == [0.5, 1.0, 1.0]


def test_clear_grad_leaves_zeros_or_none() -> None:
    w = paddle.create_parameter([2])
    sgd = SGD(0.1, parameters=[w])
    (w * w).sum().backward()
    sgd.clear_grad()
    assert w.grad.tolist() == [0.0, 0.0]
    sgd.clear_grad(set_to_zero=False)
    assert w.grad is None


def test_eager_minimize_steps_and_returns_the_pairs() -> None:
    w = paddle.create_parameter([1], attr=paddle.nn.initializer.Constant(1.0))
    loss = (w * 3.0).sum()
    loss.backward()
    operators, pairs = SGD(0.5, parameters=[w]).minimize(loss)
    assert (operators, len(pairs)) == ([], 1)
    assert pairs[0][0] is w
    assert pairs[0][1].tolist() == [3.0]
    assert w.tolist() == [-0.5]


def test_the_learning_rate_can_be_set() -> None:
    w = paddle.create_parameter([1], attr=paddle.nn.initializer.Constant(1.0))
    sgd = SGD(0.5, parameters=[w])
    assert sgd.get_lr() == 0.5
    sgd.set_lr(0.25)
    w.sum().backward()
    sgd.step()
    assert w.tolist() == [0.75]


@pytest.mark.parametrize(
    ("make", "kind", "hint"),
    [
        (
            lambda: SGD("fast"),
            TypeError,
            "learning_rate must be a float or an LRScheduler, got str",
        ),
        (
            lambda: SGD(True),
            TypeError,
            "learning_rate must be a float or an LRScheduler, got bool",
        ),
        (lambda: SGD(None), TypeError, "SGD: learning_rate must be a float"),
        (lambda: SGD(0.1, parameters=paddle.ones([1])), TypeError, r"write \[parameter\]"),
        (lambda: SGD(0.1, parameters="w"), TypeError, "must be a list of Tensors, got str"),
        (lambda: SGD(0.1, parameters=3), TypeError, "must be a list of Tensors, got int"),
        (lambda: SGD(0.1, parameters=[3]), TypeError, r"parameters\[0\] must be a Tensor"),
        (lambda: SGD(0.1, parameters=[paddle.ones([1])] * 2), ValueError, "is named twice"),
        (lambda: Momentum(0.1, momentum=1.5), ValueError, r"momentum must be in \[0, 1\)"),
        (lambda: Momentum(0.1, momentum="x"), TypeError, "Momentum: momentum must be a number"),
        (lambda: Adam(beta1=1.0), ValueError, r"beta1 must be in \[0, 1\), got 1.0"),
        (lambda: Adam(beta2=-0.1), ValueError, r"beta2 must be in \[0, 1\)"),
        (lambda: Adam(beta1="x"), TypeError, "Adam: beta1 must be a number"),
        (lambda: Adam(epsilon=0.0), ValueError, "epsilon must be a number above 0"),
        (lambda: SGD(0.1).step(), ValueError, "pass parameters=.* in eager mode"),
        (lambda: SGD(0.1).clear_grad(), ValueError, "pass parameters=.* in eager mode"),
    ],
)
def test_wrong_arguments(make: Any, kind: Any, hint: str) -> None:
    with pytest.raises(kind, match=hint):
        make()
