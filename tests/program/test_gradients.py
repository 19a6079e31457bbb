"""`static.gradients`: any order, several targets, cotangents, cuts, and asking again."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.static import gradients

pytestmark = pytest.mark.usefixtures("static_mode")

F = paddle.nn.functional


def data(name: str = "x", shape: Any = (3,), dtype: str = "float32") -> Any:
    var = paddle.static.data(name, list(shape), dtype)
    if dtype.startswith("float"):
        var.stop_gradient = False
    return var


def op_types() -> list[str]:
    return [op.type for op in paddle.static.default_main_program().global_block().ops]


def run(fetches: Any, **feed: Any) -> list[Any]:
    return [
        v.tolist()
        for v in paddle.static.Executor().run(
            feed={k: np.asarray(v, "float32") for k, v in feed.items()}, fetch_list=fetches
        )
    ]


def test_the_result_is_always_a_list() -> None:
    x = data()
    y = paddle.tanh(x)
    for inputs in (x, [x], (x,)):
        (grad,) = gradients(y, inputs)
        assert repr(grad) == "var x@GRAD : LOD_TENSOR.shape(3,).dtype(float32).stop_gradient(False)"


def test_any_order() -> None:
    x = data(shape=())
    y, found = x * x * x, []
    for _ in range(5):
        (y,) = gradients(y, x)
        if y is None:
            break
        found.append(y)
    assert len(found) >= 3
    assert run(found[:3], x=2.0) == [12.0, 12.0, 6.0]


def test_the_orders_may_be_built_in_a_row_on_an_unknown_batch() -> None:
    x = data(shape=[None, 2])
    first = gradients(paddle.sum(paddle.exp(2.0 * x)), x)
    second = gradients(first, x)
    third = gradients(second, x)
    for rows in (1, 3):
        value = np.zeros((rows, 2), "float32")
        assert run([*first, *second, *third], x=value) == [
            np.full((rows, 2), c).tolist() for c in (2.0, 4.0, 8.0)
        ]


@pytest.mark.parametrize(
    "function",
    [F.softmax, F.log_softmax, F.gelu, paddle.tanh, F.sigmoid, paddle.square, paddle.erf],
    ids=lambda f: f.__name__,
)
def test_second_order_has_the_bits_of_eager_mode(function: Any) -> None:
    value = np.array([[0.3, -1.2, 2.0], [1.0, 0.5, -0.25]], "float32")
    x = data(shape=[None, 3])
    first = gradients(paddle.sum(paddle.square(function(x))), x)
    second = gradients(paddle.sum(paddle.square(first[0])), x)
    have = run([*first, *second], x=value)
    paddle.disable_static()
    t = paddle.to_tensor(value, stop_gradient=False)
    (g1,) = paddle.grad(paddle.sum(paddle.square(function(t))), t, create_graph=True)
    (g2,) = paddle.grad(paddle.sum(paddle.square(g1)), t)
    assert have == [g1.tolist(), g2.tolist()]


# --- targets


def test_several_targets_add_up() -> None:
    x = data(shape=())
    (grad,) = gradients([x * 3.0, x * x], x)
    assert run([grad], x=5.0) == [13.0]


def test_ones_are_the_default_cotangent_for_any_shape() -> None:
    x = data(shape=[None, 2])
    (grad,) = gradients(x * 3.0, x)
    assert run([grad], x=np.ones((2, 2))) == [[[3.0, 3.0], [3.0, 3.0]]]
    assert "full_like" in op_types()


def test_target_gradients_are_used_as_they_are() -> None:
    x, g = data(), data("g")
    for given in (g, [g], (g,)):
        (grad,) = gradients(x * 2.0, x, target_gradients=given)
        assert run([grad], x=[0, 0, 0], g=[1, 2, 3]) == [[2.0, 4.0, 6.0]]


def test_none_among_target_gradients_is_ones() -> None:
    x, g = data(), data("g")
    (grad,) = gradients([x * 2.0, x * 3.0], x, target_gradients=[g, None])
    assert run([grad], x=[0, 0, 0], g=[1, 2, 3]) == [[5.0, 7.0, 9.0]]


def test_a_gradient_depends_on_its_cotangent() -> None:
    """Differentiating the result by the cotangent gives the operation's own derivative."""
    x, g = data(), data("g")
    (first,) = gradients(x * x, x, target_gradients=g)
    (by_g,) = gradients(first, g)
    assert run([by_g], x=[1, 2, 3], g=[7, 7, 7]) == [[2.0, 4.0, 6.0]]


def test_the_target_itself_as_an_input() -> None:
    x = data()
    (grad,) = gradients(x, x)
    assert run([grad], x=[1, 2, 3]) == [[1.0, 1.0, 1.0]]
    y = x * 2.0
    by_y, by_x = gradients(y, [y, x])
    assert run([by_y, by_x], x=[1, 2, 3]) == [[1.0] * 3, [2.0] * 3]


def test_a_target_that_another_target_depends_on() -> None:
    x = data(shape=())
    y = x * x
    by_y, by_x = gradients([y, y * y], [y, x])
    assert run([by_y, by_x], x=3.0) == [19.0, 114.0]


def test_the_same_target_twice_counts_twice() -> None:
    x = data(shape=())
    y = x * x
    (grad,) = gradients([y, y], x)
    assert run([grad], x=3.0) == [12.0]


# --- inputs


def test_intermediate_results_and_leaves_together() -> None:
    x = data()
    h = paddle.tanh(x)
    by_h, by_x = gradients(paddle.sum(h * h), [h, x])
    assert (by_h.name, by_x.name) == (f"{h.name}@GRAD", "x@GRAD")
    assert run([by_h, by_x], x=[0, 0, 0]) == [[0.0] * 3, [0.0] * 3]


def test_the_same_input_twice() -> None:
    x = data()
    first, second = gradients(x * x, [x, x])
    assert first is second


def test_none_for_what_no_target_depends_on() -> None:
    x, other = data(), data("other")
    y = x * 2.0
    by_x, by_other = gradients(y, [x, other])
    assert by_x.name == "x@GRAD"
    assert by_other is None
    assert gradients(y, other) == [None]


@pytest.mark.parametrize(
    "why", ["closed input", "cut path", "no_grad_set", "no rule", "integers", "closed target"]
)
def test_a_single_none_stays_in_its_list(why: str) -> None:
    x = data()
    y = h = x * 2.0
    cut = None
    if why == "closed input":
        x.stop_gradient = True
    elif why == "cut path":
        h.stop_gradient = True
        y = h * 3.0
    elif why == "no_grad_set":
        y, cut = h * 3.0, {h}
    elif why == "no rule":
        y = paddle.sign(x)
    elif why == "integers":
        y = paddle.argmax(x)
    else:
        y.stop_gradient = True
    assert gradients(y, x, no_grad_set=cut) == [None]


def test_no_inputs_no_gradients() -> None:
    x = data()
    count = len(op_types())
    assert gradients(x * 2.0, []) == []
    assert op_types()[count:] == ["multiply"]


def test_nothing_reachable_appends_nothing() -> None:
    x, other = data(), data("other")
    y = x * 2.0
    count = len(op_types())
    assert gradients(y, other) == [None]
    assert len(op_types()) == count


@pytest.mark.parametrize("by_name", [True, False])
@pytest.mark.parametrize("kind", [set, list, tuple])
def test_no_grad_set(kind: Any, by_name: bool) -> None:
    x = data(shape=())
    h = x * x
    (grad,) = gradients(h + x, x, no_grad_set=kind([h.name if by_name else h]))
    assert run([grad], x=5.0) == [1.0]


def test_through_a_cast_the_gradient_has_the_dtype_of_the_input() -> None:
    x = data()
    (grad,) = gradients(paddle.cast(x, "float64") * 3.0, x)
    assert grad.dtype == "float32"
    (value,) = paddle.static.Executor().run(feed={"x": np.ones(3, "float32")}, fetch_list=[grad])
    assert value.dtype == np.float32
    assert value.tolist() == [3.0, 3.0, 3.0]


def test_through_integers_there_is_no_gradient() -> None:
    x = data()
    assert gradients(paddle.cast(paddle.cast(x, "int64"), "float32"), x) == [None]


def test_two_operators_that_compute_the_same_count_twice() -> None:
    """Both products have one gradient operator, whose result arrives twice."""
    x, g = data(), data("g")
    (grad,) = gradients([x * x, x * x], x, target_gradients=[g, g])
    assert run([grad], x=[1, 2, 3], g=[3, 5, 7]) == [[12.0, 40.0, 84.0]]


def test_unknown_sizes_that_turn_out_to_broadcast() -> None:
    x, y = data("x", [None, 2]), data("y", [None, 2])
    found = gradients(x * y, [x, y])
    for a, b in ((2, 2), (1, 3), (3, 1)):
        by_x, by_y = run(found, x=np.ones((a, 2)), y=np.ones((b, 2)))
        assert by_x == np.full((a, 2), max(a, b) / a).tolist()
        assert by_y == np.full((b, 2), max(a, b) / b).tolist()


def test_second_order_after_an_update_is_of_the_old_value(exe: Any) -> None:
    w = paddle.static.create_parameter(
        [1], "float32", default_initializer=paddle.nn.initializer.Constant(3.0)
    )
    loss = paddle.sum(w * w * w)
    (first,) = gradients(loss, w)
    paddle.optimizer.SGD(0.1).minimize(loss)
    (second,) = gradients(first, w)
    exe.run(paddle.static.default_startup_program())
    assert [v.item() for v in exe.run(fetch_list=[first, second])] == [27.0, 18.0]


# --- asking again


def test_asking_again_returns_the_same_and_appends_nothing() -> None:
    x = data()
    y = paddle.tanh(x) * x
    (first,) = gradients(y, x)
    count = len(op_types())
    for _ in range(3):
        assert gradients(y, x) == [first]
    assert len(op_types()) == count


def test_asking_again_after_the_second_order_was_taken() -> None:
    x = data(shape=())
    y = x * x * x
    (first,) = gradients(y, x)
    (second,) = gradients(first, x)
    (again,) = gradients(y, x)
    assert again is first
    count = len(op_types())
    assert gradients(first, x)[0] is second
    assert len(op_types()) == count
    assert run([first, second], x=2.0) == [12.0, 12.0]


def test_another_cotangent_gets_another_name() -> None:
    x, g = data(), data("g")
    y = x * 2.0
    (ones,) = gradients(y, x)
    (given,) = gradients(y, x, target_gradients=g)
    assert (ones.name, given.name) == ("x@GRAD", "grad/grad/x@GRAD")
    assert run([ones, given], x=[0, 0, 0], g=[1, 2, 3]) == [[2.0] * 3, [2.0, 4.0, 6.0]]


def test_the_gradient_penalty_of_a_layer() -> None:
    """d/dw of |d out/d x|^2 = 2 w for a linear layer."""
    x = data(shape=[None, 2])
    attr = paddle.nn.initializer.Assign([[3.0], [4.0]])
    out = paddle.static.nn.fc(x, 1, weight_attr=attr, bias_attr=False)
    (by_x,) = gradients(out, x)
    penalty = paddle.mean(paddle.sum(by_x * by_x, axis=1))
    ((_, grad),) = paddle.static.append_backward(penalty)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    for rows in (1, 5):
        value = exe.run(feed={"x": np.ones((rows, 2), "float32")}, fetch_list=[penalty, grad])
        assert value[0] == 25.0
        np.testing.assert_allclose(value[1], [[6.0], [8.0]], rtol=1e-6)


# --- wrong arguments


@pytest.mark.parametrize("bad", [None, "x", 3, np.ones(3), [None], ["x"], [3]], ids=repr)
@pytest.mark.parametrize("argument", ["targets", "inputs"])
def test_what_is_no_variable_is_refused(argument: str, bad: Any) -> None:
    x = data()
    arguments = {"targets": x * 2.0, "inputs": x, argument: bad}
    with pytest.raises(TypeError, match=f"gradients: {argument} must be a Variable"):
        gradients(**arguments)


def test_which_of_several_is_no_variable() -> None:
    x = data()
    y = x * 2.0
    with pytest.raises(TypeError, match=r"got int as targets\[1\]"):
        gradients([y, 3], x)
    with pytest.raises(TypeError, match=r"got str as target_gradients\[1\]"):
        gradients([y, y], x, target_gradients=[None, "g"])


@pytest.mark.parametrize("bad", ["x", frozenset(["x"]), 3, {"x": 1}])
def test_no_grad_set_must_be_a_collection(bad: Any) -> None:
    x = data()
    with pytest.raises(TypeError, match="gradients: no_grad_set must be a set, list or tuple"):
        gradients(x * 2.0, x, no_grad_set=bad)


def test_no_targets() -> None:
    with pytest.raises(ValueError, match="targets is empty; give one Variable at least"):
        gradients([], data())


@pytest.mark.parametrize(
    ("shape", "dtype", "kind", "hint"),
    [
        ([2], "float32", ValueError, r"has shape \[3\], its gradient g \[2\]; they must be equal"),
        ([1, 3], "float32", ValueError, r"its gradient g \[1, 3\]"),
        ([3], "float64", TypeError, r"is float32, its gradient g float64; cast it"),
    ],
)
def test_a_cotangent_that_does_not_fit(shape: Any, dtype: str, kind: Any, hint: str) -> None:
    x, g = data(), data("g", shape, dtype)
    y = x * 2.0
    count = len(op_types())
    with pytest.raises(kind, match=hint):
        gradients(y, x, target_gradients=g)
    assert len(op_types()) == count


@pytest.mark.parametrize("size", [5, 2, 1, 0])
def test_a_cotangent_whose_size_shows_when_it_is_fed(size: int) -> None:
    """Without a check it would be cut, spread or broadcast, and nobody would know."""
    x, t = data(shape=[None, 2]), data("t", [None])
    y = paddle.sum(x, axis=1)
    grads = gradients(y, x, target_gradients=t)
    assert run(grads, x=np.ones((3, 2)), t=[1.0, 2.0, 3.0]) == [[[1.0] * 2, [2.0] * 2, [3.0] * 2]]
    hint = rf"t has shape \[{size}\], {y.name} has \[3\].*they must be equal"
    with pytest.raises(RuntimeError, match=hint):
        run(grads, x=np.ones((3, 2)), t=np.ones(size))


def test_a_cotangent_is_checked_once_and_only_where_it_must_be() -> None:
    x, t = data(shape=[None, 2]), data("t", [None])
    y = paddle.sum(x, axis=1)
    gradients(y, x, target_gradients=y * 2.0)
    gradients(paddle.sum(x), x, target_gradients=data("u", ()))
    assert "same_shape" not in op_types()
    (first,) = gradients(y, x, target_gradients=t)
    count = len(op_types())
    (again,) = gradients(y, x, target_gradients=t)
    assert again is first
    assert len(op_types()) == count
    assert op_types().count("same_shape") == 1


def test_the_gradient_by_a_checked_cotangent() -> None:
    x, t = data(shape=[None, 2]), data("t", [None])
    (first,) = gradients(paddle.sum(x * x, axis=1), x, target_gradients=t)
    by_x, by_t = gradients(paddle.sum(first), [x, t])
    assert run([by_x, by_t], x=[[1.0, 2.0]], t=[3.0]) == [[[6.0, 6.0]], [6.0]]


def test_as_many_cotangents_as_targets() -> None:
    x, g = data(), data("g")
    with pytest.raises(ValueError, match="2 entries for 1 targets; give one each, None for ones"):
        gradients(x * 2.0, x, target_gradients=[g, g])
    with pytest.raises(ValueError, match="1 entries for 2 targets"):
        gradients([x * 2.0, x * 3.0], x, target_gradients=g)


def test_a_cotangent_of_another_kind() -> None:
    x = data()
    with pytest.raises(TypeError, match="target_gradients must be a Variable"):
        gradients(x * 2.0, x, target_gradients=[np.ones(3)])


def test_variables_of_another_program() -> None:
    x = data()
    with paddle.static.program_guard(paddle.static.Program()):
        z = data("z")
    y = x * 2.0
    for arguments in ([y, z], [[y, z], x], [y, x, z], [y, x, None, [z]]):
        with pytest.raises(ValueError, match="z belongs to another program"):
            gradients(*arguments)


def test_second_order_where_one_cotangent_goes_two_ways() -> None:
    """An add hands its cotangent on: both branches must add up as they do on the tape."""
    values = np.random.default_rng(0).uniform(0.5, 2.0, 1000).astype("float32")

    def both_orders(x: Any, derive: Any) -> Any:
        f = x * x * x + x / (x + 3.0)
        (g,) = derive((f * f).sum(), x)
        (h,) = derive((g * g).sum(), x)
        return g, h

    paddle.disable_static()
    x = paddle.to_tensor(values, stop_gradient=False)
    eager = both_orders(x, lambda y, x: paddle.grad(y, x, create_graph=True))
    with paddle.static.program_guard(paddle.static.Program()):
        v = paddle.static.data("x", [1000], "float32")
        v.stop_gradient = False
        fetches = list(both_orders(v, paddle.static.gradients))
        static = paddle.static.Executor().run(feed={"x": values}, fetch_list=fetches)
    for tensor, array in zip(eager, static, strict=True):
        assert tensor.numpy().tobytes() == array.tobytes()


# --- inside a branch or a loop


def in_a_branch(x: Any, ask: Any) -> Any:
    """What `ask` returns in a branch that is taken where x is positive."""
    return paddle.static.nn.cond(paddle.sum(x) > 0, ask, lambda: x * 0.0)


def test_a_loop_whose_body_asks_for_gradients() -> None:
    """Newton's method for v^2 = a, and the derivative of what it finds: 1 / (2 sqrt(a))."""
    a = data("a", ())

    def step(k: Any, v: Any) -> Any:
        f = v * v - a
        (slope,) = gradients(f, v)
        return [k + 1, v - f / slope]

    start = paddle.full([], 1.5, "float32")
    counter = paddle.full([], 0, "int64")
    _, root = paddle.static.nn.while_loop(lambda k, v: k < 6, step, [counter, start])
    found = run([root, *gradients(root, a)], a=2.0)
    np.testing.assert_allclose(found, [2**0.5, 0.5 / 2**0.5], rtol=1e-6)


def test_a_gradient_by_what_is_outside() -> None:
    x, a = data("x", ()), data("a", ())
    slope = in_a_branch(x, lambda: gradients(x * x * a, x)[0])
    assert run([slope, *gradients(slope, [x, a])], x=3.0, a=5.0) == [30.0, 10.0, 6.0]
    assert run([slope], x=-3.0, a=5.0) == [0.0]


def test_append_backward_in_a_branch() -> None:
    x = data("x", ())
    w = paddle.static.create_parameter(
        [], "float32", default_initializer=paddle.nn.initializer.Constant(4.0)
    )
    seen = []

    def ask() -> Any:
        ((param, grad),) = paddle.static.append_backward(x * w * w, [w.name])
        seen.append(param)
        return grad

    slope = in_a_branch(x, ask)
    assert seen[0] is w
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    assert exe.run(feed={"x": np.float32(3.0)}, fetch_list=[slope])[0] == 24.0


def test_what_the_branch_does_not_read_has_no_gradient() -> None:
    x, other = data("x", ()), data("other", ())

    def ask() -> Any:
        assert gradients(x * 2.0, other) == [None]
        return x * 1.0

    in_a_branch(x, ask)


def test_a_gradient_inside_a_branch_goes_on_outside() -> None:
    """In the branch y is an argument: what flows through it goes on through what computed it."""
    x = data("x", ())
    y = paddle.tanh(x)

    def ask() -> Any:
        with pytest.raises(ValueError, match="in different blocks, one inside the other"):
            gradients([y * x, y], x)
        by_x, by_y = gradients(y * x, x)[0], gradients(y * x, y)[0]
        cut = gradients(y * x, x, no_grad_set={y})[0]
        return paddle.stack([by_x, by_y, cut])

    found = in_a_branch(x, lambda: paddle.sum(ask() * paddle.to_tensor([1.0, 10.0, 100.0])))
    y_value = np.tanh(0.5)
    expected = y_value + 0.5 * (1 - y_value**2) + 10 * 0.5 + 100 * y_value
    np.testing.assert_allclose(run([found], x=0.5), [expected], rtol=1e-6)


def test_what_a_finished_branch_has_made_is_refused() -> None:
    x, made = data("x", ()), []

    def ask() -> Any:
        made.append(paddle.tanh(x))
        return made[0]

    in_a_branch(x, ask)
    text = repr(paddle.static.default_main_program())
    hint = "is known inside its branch or loop only .* use what cond or while_loop returns"
    for arguments in ((made[0], x), (x, made[0])):
        with pytest.raises(ValueError, match=hint):
            gradients(*arguments)
    with pytest.raises(ValueError, match=hint):
        paddle.static.append_backward(made[0])
    with pytest.raises(ValueError, match=r"inside a branch or a loop .* name what the branch"):
        paddle.static.append_backward(x, checkpoints=[made[0]])
    assert repr(paddle.static.default_main_program()) == text
