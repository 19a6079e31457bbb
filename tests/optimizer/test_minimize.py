"""minimize, backward and apply_gradients: what they return, and what else is in a program."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from tests.optimizer.training import GRADIENTS, OPTIMIZERS, P, Training, W, parameters, same, static


def loss_of(w: Any, b: Any) -> Any:
    return (w * w * b).sum()


def test_eager_pairs_are_those_that_have_a_gradient() -> None:
    w, b = parameters()
    frozen = paddle.create_parameter([2], name="frozen")
    optimizer = P.SGD(0.5, parameters=[w, b, frozen])
    loss = loss_of(w, b)
    assert optimizer.backward(loss) == []  # it runs no backward pass
    loss.backward()
    frozen.grad, frozen.stop_gradient = paddle.ones([2]), True
    assert [p.name for p, _ in optimizer.backward(loss)] == ["w", "b"]
    assert [p.name for p, _ in optimizer.backward(loss, parameters=[b])] == ["b"]
    assert [p.name for p, _ in optimizer.backward(loss, no_grad_set={"b"})] == ["w"]
    before = w.numpy(), b.numpy()
    operators, pairs = optimizer.minimize(loss, parameters=[b])
    assert (operators, [p.name for p, _ in pairs]) == ([], ["b"])
    same([w.numpy()], [before[0]])
    np.testing.assert_array_equal(b.numpy(), before[1] - 0.5 * b.grad.numpy())


@pytest.mark.parametrize("which", OPTIMIZERS)
def test_gradients_that_are_given_update_as_a_step_does(which: str) -> None:
    ends = []
    for given in (False, True):
        params = parameters()
        optimizer = OPTIMIZERS[which](list(params))
        for grads in GRADIENTS:
            tensors = [paddle.to_tensor(g) for g in grads]
            if given:
                assert optimizer.apply_gradients(list(zip(params, tensors, strict=True))) == []
            else:
                for p, g in zip(params, tensors, strict=True):
                    p.grad = g
                optimizer.step()
        ends.append([p.numpy() for p in params])
    same(*ends)


def test_pairs_of_two_modes_are_refused() -> None:
    w, _ = parameters()
    optimizer, before = P.SGD(0.5, parameters=[w]), w.numpy()
    ones = paddle.ones(w.shape)
    with static.program_guard(static.Program(), static.Program()):
        v = static.create_parameter([2], "float32", name="v")
        pair = (v, static.data("g", [2]))
        with pytest.raises(TypeError, match="updated by separate calls"):
            optimizer.apply_gradients([(w, ones), pair])
        with pytest.raises(TypeError, match="must be a pair of Tensors"):
            optimizer.apply_gradients([(w, pair[1])])
    with pytest.raises(ValueError, match=r"w is \[2, 2\], its gradient .* \[3\]"):
        optimizer.apply_gradients([(w, paddle.ones([3]))])
    same([w.numpy()], [before])


@pytest.mark.parametrize("which", OPTIMIZERS)
def test_minimizing_twice_is_two_steps_with_one_state(which: str) -> None:
    """As eagerly, where the state is the optimizer's."""
    make = OPTIMIZERS[which]
    w, b = parameters()
    optimizer = make([w, b])
    for _ in range(6):
        w.grad, b.grad = (paddle.to_tensor(g) for g in GRADIENTS[0])
        optimizer.step()
    training = Training(make)
    with static.program_guard(training.main, training.startup):
        block = training.main.global_block()
        persistable = [v.name for v in block.vars.values() if v.persistable]
        pairs = [(block.var(n), block.var(f"g{n}")) for n in "wb"]
        training.optimizer.apply_gradients(pairs)
        assert [v.name for v in block.vars.values() if v.persistable] == persistable
    same(training.run([0, 0, 0]), [w.numpy(), b.numpy()])


def test_two_optimizers_over_one_program() -> None:
    """Each trains its own, with rates and state of its own."""
    with static.program_guard(static.Program(), static.Program()):
        w, b = parameters()
        x = static.data("x", [2, 2])
        first = P.Momentum(0.5, parameters=[w])
        second = P.Adam(0.25, parameters=[b])
        first.minimize((w * x).sum())
        second.minimize((b * x).sum())
        names = {v.name for v in static.default_main_program().list_vars() if v.persistable}
        assert {"learning_rate_0", "learning_rate_1", "w_velocity_0", "b_moment1_0"} <= names
        exe = static.Executor()
        exe.run(static.default_startup_program())
        feed = {"x": np.ones((2, 2), "float32")}
        before = exe.run(feed=feed, fetch_list=["b"])[0]
        second.set_lr(0.0)
        value, after = exe.run(feed=feed, fetch_list=["w", "b"])
    np.testing.assert_array_equal(before, after)
    np.testing.assert_allclose(value, W - 0.5 - 0.5 * 1.9, rtol=1e-6)


def test_operators_are_marked() -> None:
    with static.program_guard(static.Program(), static.Program()):
        w, b = parameters()
        loss = loss_of(w, b)
        clip = paddle.nn.ClipGradByGlobalNorm(1.0)
        made, pairs = P.Adam(0.1, weight_decay=0.1, grad_clip=clip).minimize(loss)
        P.SGD(0.1).minimize(loss)
        operators = static.default_main_program().global_block().ops
    assert [p.name for p, _ in pairs] == ["w", "b"]
    assert [op.output_arg_names[0] for op in made] == ["b", "w"]
    optimize = [op for op in operators if op.role == "optimize"]
    updates = [op for op in optimize if op.type in ("adam", "sgd")]
    scopes = ["/optimizer/", "/optimizer_1/", "/optimizer_2/", "/optimizer_3/"]
    assert [op.op_namescope for op in updates] == scopes
    assert {op.op_namescope for op in optimize} == {*scopes, "/gradient_clip/"}
    assert all(op.op_namescope == "/" for op in operators if op not in optimize)
    assert [op.type for op in optimize[-2:]] == ["sgd", "sgd"]


def test_a_rate_that_is_set_reaches_copies_of_the_program() -> None:
    with static.program_guard(static.Program(), static.Program()):
        w, _ = parameters()
        optimizer = P.SGD(0.0)
        optimizer.minimize(w.sum(), parameters=[w])
        copy = static.default_main_program().clone()
        exe = static.Executor()
        exe.run(static.default_startup_program())
        exe.run(copy)
        optimizer.set_lr(1.0)
        exe.run(copy)
    value = np.asarray(static.global_scope().find_var("w").get_tensor())
    np.testing.assert_array_equal(value, W - 1)


def test_a_float32_copy_needs_the_startup_program_of_the_parameter() -> None:
    with static.program_guard(static.Program(), static.Program()):
        w, _ = parameters(dtype="float16")
        pair = (w, static.data("g", [2, 2], "float16"))
        before = repr(static.default_main_program())
        with (
            static.program_guard(static.default_main_program(), static.Program()),
            pytest.raises(ValueError, match="pass minimize the startup_program"),
        ):
            P.SGD(0.1, multi_precision=True).apply_gradients([pair])
        assert repr(static.default_main_program()) == before
