"""`Program.run_eagerly`: programs on Tensors."""

import numpy as np
import pytest

import autograd_engine as paddle
import autograd_engine.nn.functional as F  # noqa: N812
from autograd_engine import static
from autograd_engine.errors import AnomalyError, ExecutionError, FeedError

X = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")


@pytest.fixture
def scope():
    with static.scope_guard(static.Scope()):
        yield static.global_scope()


def built(body):
    """A program, initialised, and what `body` returned."""
    main, startup = static.Program(), static.Program()
    with paddle.unique_name.guard(), static.program_guard(main, startup):
        x = static.data("x", [None, 3], "float32")
        x.stop_gradient = False
        found = body(x)
    static.Executor().run(startup)
    return main, found


def test_bits_of_everything_are_those_of_the_executor(scope):
    def body(x):
        h = F.dropout(F.relu(static.nn.fc(x, 5)), 0.3)
        loss = paddle.mean(paddle.square(static.nn.fc(h, 2)))
        return loss, [g for _, g in static.append_backward(loss)]

    main, (loss, grads) = built(body)
    names = [loss.name, *(g.name for g in grads)]
    paddle.seed(5)
    expected = static.Executor().run(main, {"x": X}, names)
    paddle.seed(5)
    found = main.run_eagerly({"x": X})
    for name, value in zip(names, expected, strict=True):
        np.testing.assert_array_equal(found[name].numpy(), value)
    assert {o.name for op in main.global_block().ops for o in (r.var for r in op.results)} <= set(
        found
    )


def test_the_tape_gives_what_the_gradient_operators_give(scope):
    main, (loss, pairs) = built(
        lambda x: (
            loss := paddle.sum(paddle.tanh(static.nn.fc(x, 2))),
            static.append_backward(loss),
        )
    )
    x = paddle.to_tensor(X, stop_gradient=False)
    found = main.run_eagerly({"x": x})
    assert found["x"] is x
    seen = []
    for parameter, _ in pairs:
        assert found[parameter.name].is_leaf
        found[parameter.name].register_hook(lambda g: seen.append(g.numpy().copy()))
    found[loss.name].backward()
    for parameter, grad in pairs:
        np.testing.assert_array_equal(found[parameter.name].grad.numpy(), found[grad.name].numpy())
    assert len(seen) == 2
    assert x.grad is not None


def test_only_what_is_fetched_is_run(scope):
    main, (y, _) = built(lambda x: (x * 2.0, paddle.log(x)))
    with np.errstate(all="raise"):
        found = main.run_eagerly({"x": -np.ones((1, 3), "float32")}, [y])
    assert set(found) == {"x", y.name}


def test_training_leaves_the_scope_as_the_executor_does():
    results = []
    for eagerly in (False, True):
        with static.scope_guard(static.Scope()):
            paddle.seed(1)

            def body(x):
                mean = static.create_global_var([3], 0.0, "float32", persistable=True, name="mean")
                variance = static.create_global_var([3], 1.0, "float32", persistable=True, name="v")
                h = F.batch_norm(x, mean, variance, training=True)
                loss = paddle.mean(paddle.square(static.nn.fc(h, 2) - 1.0))
                paddle.optimizer.Adam(0.1).minimize(loss)
                return loss

            main, loss = built(body)
            exe = static.Executor()
            for _ in range(5):
                if eagerly:
                    main.run_eagerly({"x": X}, [loss])
                else:
                    exe.run(main, {"x": X}, [loss])
            scope = static.global_scope()
            names = sorted(scope.local_var_names())
            results.append({n: np.array(scope.find_var(n).get_tensor()) for n in names})
    assert len(results[0]) == len(results[1]) > 4
    for one, other in zip(results[0].values(), results[1].values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_control_flow_and_its_gradients(scope):
    def body(x):
        y = static.nn.cond(x.sum() > 0.0, lambda: x * 2.0, lambda: paddle.exp(x))
        i = paddle.zeros([1])
        _, y = static.nn.while_loop(
            lambda i, y: (i < 3.0).all(), lambda i, y: [i + 1.0, paddle.tanh(y * x)], [i, y]
        )
        loss = y.sum()
        (g,) = static.gradients(loss, x)
        (second,) = static.gradients((g * g).sum(), x)
        return loss, g, second

    main, asked = built(body)
    for sign in (1.0, -1.0):
        feed = {"x": np.abs(X) * np.float32(sign)}
        expected = static.Executor().run(main, feed, list(asked))
        found = main.run_eagerly(feed)
        for var, value in zip(asked, expected, strict=True):
            np.testing.assert_array_equal(found[var.name].numpy(), value)
        (g,) = paddle.grad(found[asked[0].name], [found["x"]])
        np.testing.assert_array_equal(g.numpy(), expected[1])


def test_anomalies_are_found_where_they_arise(scope):
    main, y = built(lambda x: paddle.sqrt(x).sum())
    with paddle.autograd.detect_anomaly():
        found = main.run_eagerly({"x": np.zeros((1, 3), "float32")})
        with pytest.raises(AnomalyError, match="sqrt"):
            found[y.name].backward()


def test_nodes_are_of_the_lines_that_built_the_program(scope):
    main, y = built(lambda x: paddle.tanh(x))
    node = main.run_eagerly({"x": X})[y.name].grad_fn
    assert node.location == str(main.global_block().ops[0].location)


def test_errors(scope):
    main, y = built(lambda x: static.nn.fc(x, 2))
    with pytest.raises(FeedError, match=r"pass feed=\{'x': \.\.\.\}|'x' is missing"):
        main.run_eagerly({})
    with pytest.raises(ExecutionError, match="no variable"):
        main.run_eagerly({"x": X}, ["nothing"])
    with pytest.raises(ExecutionError, match="run the startup program first"):
        main.run_eagerly({"x": X}, [y], static.Scope())
    with pytest.raises(TypeError, match="scope must be a Scope"):
        main.run_eagerly({"x": X}, [y], {})
