"""Copies of programs: `clone`, `clone(for_test=True)`, pruning, `normalize_program`."""

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, BuildError, ExecutionError, NotATensorError
from autograd_engine.program.ir.program import Block, Ref
from tests.golden.programs import PROGRAMS, Built, build

static = paddle.static
F = paddle.nn.functional

pytestmark = pytest.mark.usefixtures("static_mode")


def types(program: Any) -> list[str]:
    return [op.type for block in program.blocks for op in block.ops]


def runs(exe: Any, program: Any, built: Built, times: int = 2) -> list[Any]:
    """What runs from one state give, and the state that they leave."""
    scope = static.Scope()
    paddle.seed(5)
    exe.run(built.startup, scope=scope)
    paddle.seed(6)
    names = [v.name for v in built.fetches]
    fetched = [exe.run(program, built.feed, names, scope=scope) for _ in range(times)]
    state = {n: scope.find_var(n).value for n in sorted(scope.local_var_names())}
    return [a.tobytes() for run in fetched for a in run] + [a.tobytes() for a in state.values()]


def objects(program: Any) -> dict[int, Any]:
    """Everything in a program that can be changed, by identity."""
    found: list[Any] = [program, *program.blocks]
    for block in program.blocks:
        found += [block.vars, block.ops, block.emitted, block.written, block.captured]
        found += [block.arguments, block.results, *block.vars.values()]
        for op in block.ops:
            found += [op, op.attrs]
            found += [r.var for r in op.results]
            found += [o.var for o in op.operands if isinstance(o, Ref)]
            for value in op.attrs.values():
                if isinstance(value, (list, dict, Block)):
                    found.append(value)
                if isinstance(value, np.ndarray) and value.flags.writeable:
                    found.append(value)
    return {id(o): o for o in found}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_clone_is_the_same_program(name: str, exe: Any) -> None:
    built = build(name)
    clone = built.main.clone()
    assert repr(clone) == repr(built.main)
    for block, new in zip(built.main.blocks, clone.blocks, strict=True):
        assert {v.name: v.version for v in new.vars.values()} == {
            v.name: v.version for v in block.vars.values()
        }
        assert list(map(type, new.vars.values())) == list(map(type, block.vars.values()))
        assert [str(op.location) for op in new.ops] == [str(op.location) for op in block.ops]
        assert all(v.block is new for v in new.vars.values())
    assert runs(exe, clone, built) == runs(exe, build(name).main, build(name))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_clone_shares_nothing_that_can_be_changed(name: str) -> None:
    built = build(name)
    mine, its = objects(built.main), objects(built.main.clone())
    assert not [mine[k] for k in mine.keys() & its.keys()]


def test_what_is_built_into_one_is_not_in_the_other() -> None:
    built = build("append_backward")
    clone = built.main.clone()
    text = repr(built.main)
    with static.program_guard(clone, static.Program()):
        loss = clone.global_block().var(built.fetches[0].name)
        paddle.optimizer.SGD(0.1).minimize(loss)
    assert repr(built.main) == text
    assert "sgd" in types(clone)


def test_asking_a_clone_for_gradients_that_it_has_appends_nothing() -> None:
    built = build("append_backward")
    clone = built.main.clone()
    text = repr(clone)
    pairs = static.append_backward(clone.global_block().var(built.fetches[0].name))
    assert repr(clone) == text
    assert all(v.block is clone.global_block() for pair in pairs for v in pair)


def test_a_clone_can_be_differentiated_further(exe: Any) -> None:
    built = build("second_order")
    clone = built.main.clone()
    second, x = (clone.global_block().var(v) for v in (built.fetches[1].name, "x"))
    (third,) = static.gradients(second, x)
    (expected,) = static.gradients(built.fetches[1], built.main.global_block().var("x"))
    got = exe.run(clone, built.feed, [third])[0]
    assert got.tobytes() == exe.run(built.main, built.feed, [expected])[0].tobytes()


def test_a_program_and_its_clone_do_not_keep_each_other_alive() -> None:
    built = build("loop")
    clone = built.main.clone()
    seen = weakref.ref(built.main)
    del built
    gc.collect()
    assert seen() is None
    assert clone.num_blocks == 4


def test_a_seeded_program_and_its_clone_draw_the_same_numbers(exe: Any) -> None:
    main = static.Program()
    with static.program_guard(main):
        x = paddle.rand([3])
    main.random_seed = 3
    exe.run(main, fetch_list=[x])
    clone = main.clone()
    assert clone.random_seed == 3
    for _ in range(2):
        (mine,), (its,) = (exe.run(p, fetch_list=[x.name]) for p in (main, clone))
        assert mine.tobytes() == its.tobytes()


def test_constants_are_shared_and_not_written(exe: Any) -> None:
    main = static.Program()
    with static.program_guard(main):
        y = static.data("x", [2]) + np.array([1.0, 2.0], "float32")
    clone = main.clone()
    (out,) = exe.run(clone, {"x": np.zeros(2, "float32")}, [y.name])
    out[:] = 9.0
    (again,) = exe.run(main, {"x": np.zeros(2, "float32")}, [y.name])
    assert again.tolist() == [1.0, 2.0]


# --- for_test


def test_copying_takes_a_time_that_grows_as_the_program() -> None:
    """And needs no stack that does."""
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [2])
        x.stop_gradient = False
        y = x
        for _ in range(2_000):
            y = y * 1.0
        static.gradients(y, x)
    clone, test = main.clone(), main.clone(for_test=True)
    assert len(clone.global_block().ops) == 4_001
    assert len(test.global_block().ops) == 2_000
    assert len(repr(clone).splitlines()) > 8_000


@pytest.mark.parametrize("name", PROGRAMS)
def test_inference_has_no_backward_half_and_no_updates(name: str) -> None:
    built = build(name)
    test = built.main.clone(for_test=True)
    assert {op.role for op in test.global_block().ops} <= {"forward"}
    if name != "second_order":
        assert not [v.name for v in test.list_vars() if "@GRAD" in v.name]
    assert not [t for t in types(test) if t.endswith("_grad") or t in ("adam", "sgd", "momentum")]
    kept = {v.name for v in built.main.list_vars() if v.is_data}
    assert kept <= set(test.global_block().vars)


def inference(build_it: Callable[[], Any]) -> tuple[Any, Any, Any]:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        out = build_it()
    return main, startup, out


LAYERS: dict[str, Callable[[Any], Any]] = {
    "dropout": lambda x: F.dropout(x, 0.5),
    "dropout on axes": lambda x: F.dropout(x, 0.5, axis=(0, 1)),
    "dropout2d": lambda x: F.dropout2d(x, 0.5),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5),
    "feature_alpha_dropout": lambda x: F.feature_alpha_dropout(x, 0.5),
    "alpha_dropout of all": lambda x: F.alpha_dropout(x, 1.0),
}


@pytest.mark.parametrize("name", LAYERS)
def test_dropout_does_nothing_in_inference(name: str, exe: Any) -> None:
    def program() -> Any:
        x = static.data("x", [None, 2, 3, 4])
        return LAYERS[name](x)

    main, _, out = inference(program)
    x = np.random.default_rng(0).normal(size=(2, 2, 3, 4)).astype("float32")
    (before,) = exe.run(main, {"x": x}, [out])
    assert not np.array_equal(before, x)
    (after,) = exe.run(main.clone(for_test=True), {"x": x}, [out.name])
    assert after.tobytes() == x.tobytes()


EAGER: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "downscale": (
        lambda x: F.dropout(x, 0.25, mode="downscale_in_infer"),
        lambda x: F.dropout(x, 0.25, mode="downscale_in_infer", training=False),
    ),
    "rrelu": (lambda x: F.rrelu(x), lambda x: F.rrelu(x, training=False)),
    "attention": (
        lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
        lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5, training=False),
    ),
}


@pytest.mark.parametrize("name", EAGER)
def test_inference_is_what_the_function_does_when_not_training(name: str, exe: Any) -> None:
    train, evaluate = EAGER[name]
    x = np.random.default_rng(0).normal(size=(2, 3, 2, 4)).astype("float32")
    main, _, out = inference(lambda: train(static.data("x", [None, 3, 2, 4])))
    (got,) = exe.run(main.clone(for_test=True), {"x": x}, [out.name])
    paddle.disable_static()
    expected = evaluate(paddle.to_tensor(x)).numpy()
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 2), (4, 3, 2, 2)])
def test_batch_norm_reads_its_running_statistics_in_inference(
    shape: tuple[int, ...], exe: Any
) -> None:
    def program() -> Any:
        x = static.data("x", [None, *shape[1:]])
        out = static.nn.batch_norm(x, momentum=0.5, name="bn")
        loss = paddle.mean(paddle.square(out))
        paddle.optimizer.SGD(0.1).minimize(loss)
        return out, loss

    main, startup, (out, _) = inference(program)
    test = main.clone(for_test=True)
    exe.run(startup)
    rng = np.random.default_rng(0)
    for _ in range(3):
        exe.run(main, {"x": rng.normal(2.0, 3.0, shape).astype("float32")})
    scope = static.global_scope()
    values = {n: scope.find_var(n).value.copy() for n in scope.local_var_names()}
    x = rng.normal(size=shape).astype("float32")
    (got,) = exe.run(test, {"x": x}, [out.name])
    w, b, mean, variance = (values[f"bn.{n}"] for n in ("w_0", "b_0", "w_1", "w_2"))
    spread = (1, -1, *[1] * (len(shape) - 2))
    wide = [v.astype("float64").reshape(spread) for v in (w, b, mean, variance)]
    expected = (x - wide[2]) / np.sqrt(wide[3] + 1e-5) * wide[0] + wide[1]
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    assert all(np.array_equal(scope.find_var(n).value, v) for n, v in values.items())
    # The bits of the layer that is built for inference.
    built = static.Program()
    with paddle.unique_name.guard(), static.program_guard(built, static.Program()):
        same = static.nn.batch_norm(static.data("x", [None, *shape[1:]]), is_test=True, name="bn")
    assert exe.run(built, {"x": x}, [same])[0].tobytes() == got.tobytes()


def test_batch_norm_without_statistics_stays(exe: Any) -> None:
    def program() -> Any:
        x = static.data("x", [None, 3])
        return F.batch_norm(x, None, None, training=True)

    main, _, out = inference(program)
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
    (a,), (b,) = (exe.run(p, {"x": x}, [out.name]) for p in (main, main.clone(for_test=True)))
    assert a.tobytes() == b.tobytes()


def test_inference_in_a_branch_and_in_a_loop(exe: Any) -> None:
    def program() -> Any:
        x = static.data("x", [3])
        y = static.nn.cond(paddle.sum(x) > 0.0, lambda: F.dropout(x, 0.9), lambda: x * 2.0)
        _, z = static.nn.while_loop(
            lambda n, h: n < 3,
            lambda n, h: [n + 1, F.dropout(h, 0.9) + 1.0],
            [paddle.zeros([1], "int64"), y],
        )
        return z

    main, _, out = inference(program)
    x = np.ones(3, "float32")
    (got,) = exe.run(main.clone(for_test=True), {"x": x}, [out.name])
    assert got.tolist() == [4.0, 4.0, 4.0]


def test_a_loop_keeps_nothing_for_gradients_in_inference(exe: Any) -> None:
    built = build("loop")
    test = built.main.clone(for_test=True)
    assert test.num_blocks == 3
    assert not [v.name for v in test.list_vars() if v.is_stack]
    exe.run(built.startup)
    (loss,) = exe.run(test, built.feed, [built.fetches[0].name])
    assert loss.tobytes() == exe.run(built.main, built.feed, built.fetches)[0].tobytes()


def _bound(x: Any) -> Any:
    return static.nn.while_loop(
        lambda v: paddle.sum(v * v) < 50.0, lambda v: [paddle.exp(v) * v], [x]
    )[0]


def _branch(x: Any, inner: Callable[[Any], Any] = paddle.tanh) -> Any:
    return static.nn.cond(paddle.sum(x) > 0.0, lambda: inner(x) * x, lambda: paddle.exp(x) * x)


FLOWS: dict[str, Callable[[Any], Any]] = {
    "cond": _branch,
    "one side": lambda x: static.nn.cond(paddle.sum(x) > 0.0, lambda: paddle.exp(x), lambda: x),
    "cond in cond": lambda x: _branch(x, _branch),
    "loop": _bound,
    "loop in cond": lambda x: _branch(x, _bound),
    "cond in loop": lambda x: static.nn.while_loop(
        lambda v: paddle.sum(v * v) < 50.0, lambda v: [_branch(v) + v], [x]
    )[0],
    "case": lambda x: static.nn.case(
        [(paddle.sum(x) > 9.0, lambda: x * x)], lambda: paddle.exp(x) * x
    ),
    "switch_case": lambda x: static.nn.switch_case(
        paddle.argmax(x), [lambda: x * x, lambda: paddle.tanh(x) * x, lambda: x]
    ),
    "twice": lambda x: _branch(_branch(x)),
    "layer": lambda x: static.nn.fc(paddle.reshape(x, [1, 3]), 3),
    "dropout in a branch": lambda x: _branch(x, lambda v: F.dropout(v, 0.5)),
}


@pytest.mark.parametrize("name", FLOWS)
def test_the_copy_for_inference_of_what_trains_is_that_of_what_does_not(
    name: str, exe: Any
) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [3])
        x.stop_gradient = False
        w = static.create_parameter([3], "float32", name="w")
        out = FLOWS[name](x * w + 0.5)
        loss = paddle.sum(out)
        before = main.clone(for_test=True)
        paddle.optimizer.Adam(0.1).minimize(loss)
        static.append_backward(loss)
        x_grad = main.global_block().has_var(x.grad_name)
    assert x_grad
    after = main.clone(for_test=True)
    read = static.Program.parse_from_string(main.to_string())
    for trained in (after, main.clone().clone(for_test=True), read.clone(for_test=True)):
        # The operator of the loss stays marked, as in the reference.
        assert repr(trained).replace("op_role = 256", "op_role = 0") == repr(before)
    small = static.normalize_program(main, [x], [out])
    assert not [v.name for v in small.list_vars() if "@KEPT" in v.name or "@ABSENT" in v.name]
    exe.run(startup)
    values = np.float32([0.25, -1.5, 2.0])
    results = [exe.run(program, {"x": values}, [out.name])[0] for program in (before, after, small)]
    assert len({r.tobytes() for r in results}) == 1


@pytest.mark.parametrize("name", ["cond", "cond in cond", "loop", "cond in loop"])
def test_a_copy_for_inference_can_be_trained(name: str, exe: Any) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [3])
        w = static.create_parameter([3], "float32", name="w")
        loss = paddle.sum(FLOWS[name](x * w + 0.5))
        ((_, expected),) = static.append_backward(loss)
    test = main.clone(for_test=True)
    copies = [main.clone(), test]
    exe.run(startup)
    values = {"x": np.float32([0.25, -1.5, 2.0])}
    (want,) = exe.run(main, values, [expected])
    for copy_ in copies:
        with static.program_guard(copy_, static.Program()):
            ((_, grad),) = static.append_backward(copy_.global_block().var(loss.name))
        assert exe.run(copy_, values, [grad])[0].tobytes() == want.tobytes()


def test_what_is_built_after_an_update_reads_the_parameter_as_it_is(exe: Any) -> None:
    def program() -> Any:
        x = static.data("x", [None, 2])
        w = static.create_parameter([2, 1], "float32", name="w")
        loss = paddle.mean(paddle.matmul(x, w))
        paddle.optimizer.SGD(0.5).minimize(loss)
        return paddle.matmul(x, w)  # of the updated parameter

    main, startup, after = inference(program)
    test = main.clone(for_test=True)
    exe.run(startup)
    w = static.global_scope().find_var("w").value.copy()
    x = np.ones((3, 2), "float32")
    (got,) = exe.run(test, {"x": x}, [after.name])
    np.testing.assert_allclose(got, x @ w, rtol=1e-6)
    assert test.global_block().var("w").version == 0


def test_gradients_that_the_forward_half_reads_stay(exe: Any) -> None:
    """A penalty on the gradient is part of what is computed, not of the training."""

    def program() -> Any:
        x = static.data("x", [3])
        x.stop_gradient = False
        (slope,) = static.gradients(paddle.sum(paddle.tanh(x)), x)
        loss = paddle.sum(paddle.square(slope))
        static.append_backward(loss, parameter_list=[x])
        return loss

    main, _, loss = inference(program)
    test = main.clone(for_test=True)
    x = np.array([0.1, -0.4, 2.0], "float32")
    (a,), (b,) = (exe.run(p, {"x": x}, [loss.name]) for p in (main, test))
    assert a.tobytes() == b.tobytes()
    assert len(types(test)) < len(types(main))


def test_states_of_optimizers_are_not_in_inference() -> None:
    test = build("mlp_and_adam").main.clone(for_test=True)
    names = {v.name for v in test.list_vars()}
    assert not [n for n in names if "moment" in n or "learning_rate" in n or "beta" in n]
    assert {p.name for p in test.all_parameters()} == {
        "fc_0.w_0",
        "fc_0.b_0",
        "fc_1.w_0",
        "fc_1.b_0",
    }


def test_decay_and_clipping_are_not_in_inference() -> None:
    def program() -> Any:
        loss = paddle.mean(static.nn.fc(static.data("x", [None, 3]), 2))
        decay, clip = paddle.regularizer.L2Decay(0.1), paddle.nn.ClipGradByGlobalNorm(1.0)
        paddle.optimizer.Adam(0.1, weight_decay=decay, grad_clip=clip).minimize(loss)

    main, _, _ = inference(program)
    assert len(types(main)) > 10
    assert types(main.clone(for_test=True)) == ["matmul", "add", "mean"]


@pytest.mark.parametrize("value", [1, "yes", None])
def test_for_test_is_true_or_false(value: Any) -> None:
    with pytest.raises(TypeError, match="for_test must be True or False"):
        static.Program().clone(for_test=value)


# --- pruning


def test_pruning_keeps_what_is_needed(exe: Any) -> None:
    built = build("mlp_and_adam")
    main = built.main
    hidden = main.global_block().var("fc_0.tmp_2")
    small = main._prune([hidden])
    assert types(small) == ["matmul", "add", "relu"]
    assert set(small.global_block().vars) == {
        "x",
        "fc_0.w_0",
        "fc_0.tmp_0",
        "fc_0.b_0",
        "fc_0.tmp_1",
        "fc_0.tmp_2",
    }
    exe.run(built.startup)
    (a,) = exe.run(small, built.feed, ["fc_0.tmp_2"])
    (b,) = exe.run(main.clone(for_test=True), built.feed, ["fc_0.tmp_2"])
    assert a.tobytes() == b.tobytes()
    assert types(main._prune("fc_0.tmp_2")) == types(small)


def test_pruning_to_an_update_keeps_it() -> None:
    built = build("mlp_and_adam")
    updates = [op for op in built.main.global_block().ops if op.type == "adam"]
    small = built.main._prune(updates[:1])
    assert types(small).count("adam") == 1
    assert [op.role for op in small.global_block().ops][-1] == "optimize"


def test_pruning_to_what_is_not_there() -> None:
    built = build("mlp_and_adam")
    with pytest.raises(BuildError, match=r"no variable 'nothing'.*or the name is misspelt"):
        built.main._prune(["nothing"])
    with pytest.raises(NotATensorError, match="must be a Variable or the name of one, got int"):
        built.main._prune([3])
    with pytest.raises(BuildError, match="it was built in another one"):
        built.main._prune(build("mlp_and_adam").fetches)


def test_normalize_program(exe: Any) -> None:
    built = build("mlp_and_adam")
    block = built.main.global_block()
    x, logits = block.var("x"), block.var("fc_1.tmp_1")
    small = static.normalize_program(built.main, [x], [logits])
    assert types(small) == ["matmul", "add", "relu", "matmul", "add"]
    assert [v.name for v in small.list_vars() if v.is_data] == ["x"]
    exe.run(built.startup)
    (a,) = exe.run(small, {"x": built.feed["x"]}, ["fc_1.tmp_1"])
    (b,) = exe.run(built.main.clone(for_test=True), built.feed, ["fc_1.tmp_1"])
    assert a.tobytes() == b.tobytes()
    assert types(static.normalize_program(built.main, x, logits)) == types(small)


def test_normalize_program_is_for_inference(exe: Any) -> None:
    built = build("batch_norm")
    out = next(op.results[0].var for op in built.main.global_block().ops if op.type == "square")
    small = static.normalize_program(built.main, [built.main.global_block().var("x")], [out])
    assert "standardize" not in types(small)
    assert "running_statistic" not in types(small)
    names = set(small.global_block().vars)
    read = {n for op in small.global_block().ops for n in op.input_arg_names}
    made = {n for op in small.global_block().ops for n in op.output_arg_names}
    assert names == read | made


def test_feeding_what_is_computed_cuts_there(exe: Any) -> None:
    built = build("mlp_and_adam")
    block = built.main.global_block()
    hidden, logits = block.var("fc_0.tmp_2"), block.var("fc_1.tmp_1")
    small = static.normalize_program(built.main, [hidden], [logits])
    assert types(small) == ["matmul", "add"]
    exe.run(built.startup)
    (out,) = exe.run(small, {hidden.name: np.zeros((2, 8), "float32")}, [logits.name])
    assert out.tolist() == [[0.0] * 3] * 2
    unneeded = static.normalize_program(built.main, [hidden, logits], [hidden])
    assert types(unneeded) == []
    assert [v.name for v in unneeded.list_vars() if v.is_data] == [hidden.name, logits.name]


def test_what_normalize_program_refuses() -> None:
    built = build("mlp_and_adam")
    block = built.main.global_block()
    x, loss = block.var("x"), built.fetches[0]
    with pytest.raises(BuildError, match="without 'label', which is not fed: add it to feed_vars"):
        static.normalize_program(built.main, [x], [loss])
    with pytest.raises(TypeError, match="program must be a Program, got str"):
        static.normalize_program("main", [x], [loss])  # type: ignore[arg-type]
    with pytest.raises(NotATensorError, match=r"feed_vars\[0\] must be a Variable"):
        static.normalize_program(built.main, [3], [loss])  # type: ignore[list-item]
    with pytest.raises(BuildError, match="fetch_vars is empty"):
        static.normalize_program(built.main, [x], [])
    other = build("mlp_and_adam").fetches
    with pytest.raises(BuildError, match=r"fetch_vars\[0\].*built in another one"):
        static.normalize_program(built.main, [x], other)


# --- other ways to copy


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
def test_other_ways_to_copy_name_clone(how: Callable[[Any], Any]) -> None:
    built = build("append_backward")
    for value in (built.main, built.fetches[0]):
        with pytest.raises(ArgumentError, match=r"use program\.clone\(\) for a copy"):
            how(value)


@pytest.mark.parametrize("for_test", [False, True])
def test_a_variable_of_the_original_is_known_in_a_copy(for_test: bool, exe: Any) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 3], "float32")
        y = paddle.tanh(static.nn.fc(x, 2))
        copy = main.clone(for_test)
        loss = paddle.mean(y)
    exe.run(startup)
    feed = {"x": np.ones((2, 3), "float32")}
    (expected,) = exe.run(main, feed, [y])
    (got,) = exe.run(copy, feed, [y])
    np.testing.assert_array_equal(got, expected)
    again = copy.clone()
    np.testing.assert_array_equal(exe.run(main, feed, [again.global_block().var(y.name)])[0], got)
    assert types(static.normalize_program(copy, [x], [y])) == ["matmul", "add", "tanh"]
    assert static.memory_report(copy, {"x": (2, 3)}, [y]).peak_bytes
    with pytest.raises(ExecutionError, match="built in another one"):
        exe.run(copy, feed, [loss])


def test_a_variable_of_another_shape_is_not_the_one_of_a_copy(exe: Any) -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [2], "float32")
    copy = main.clone()
    with static.program_guard(main), paddle.utils.unique_name.guard():
        short = paddle.sum(x)
    with static.program_guard(copy), paddle.utils.unique_name.guard():
        long = paddle.sum(copy.global_block().var("x"), axis=0, keepdim=True)
    assert short.name == long.name
    with pytest.raises(ExecutionError, match="built in another one"):
        exe.run(copy, {"x": np.ones(2, "float32")}, [short])
