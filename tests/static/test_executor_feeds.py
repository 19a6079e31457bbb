"""Feeds that are missing, misspelt or disagree; what may be fetched; compiled programs."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.dims import fresh_dim
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ExecutionError, FeedError
from autograd_engine.program.builder import append_write

pytestmark = pytest.mark.usefixtures("static_mode")

static = paddle.static


def ones(*shape: int) -> Any:
    return np.ones(shape, "float32")


def weight(name: str = "w", value: Any = (1.0, 2.0)) -> Any:
    attr = paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Assign(list(value)))
    return static.create_parameter([len(value)], "float32", attr=attr)


@pytest.fixture
def exe() -> Any:
    return static.Executor()


# --- names


def test_missing_feeds_are_named_all_at_once(exe: Any) -> None:
    image, label = static.data("image", [None, 2]), static.data("label", [2], "int64")
    y = image + paddle.cast(label, "float32")
    with pytest.raises(
        FeedError,
        match=r"feeds 'image' \(float32\[\?, 2\]\), 'label' \(int64\[2\]\) are missing; "
        r"pass feed=\{'image': \.\.\., 'label': \.\.\.\}",
    ):
        exe.run(feed={}, fetch_list=[y])


def test_a_misspelt_name_beside_a_missing_one_is_pointed_out(exe: Any) -> None:
    image, label = static.data("image", [2]), static.data("label", [2])
    with pytest.raises(FeedError) as caught:
        exe.run(feed={"imgae": ones(2), "Label": ones(2)}, fetch_list=[image + label])
    text = str(caught.value)
    assert "The feed has 'imgae', which the program does not: did you mean 'image'?" in text
    assert "The feed has 'Label', which the program does not: did you mean 'label'?" in text


def test_unknown_names_beside_a_missing_one_are_listed(exe: Any) -> None:
    x = static.data("x", [2])
    with pytest.raises(FeedError, match=r"Fed, but not in the program: 'pixels', 'targets'"):
        exe.run(feed={"pixels": ones(2), "targets": ones(2)}, fetch_list=[x])


def test_a_feed_that_is_declared_but_not_needed_is_not_even_looked_at(exe: Any) -> None:
    x, _ = static.data("x", [1]), static.data("z", [1])
    (y,) = exe.run(feed={"x": ones(1), "z": "no array"}, fetch_list=[x * 2.0])
    assert y.tolist() == [2.0]


def test_the_keys_of_a_feed_are_names(exe: Any) -> None:
    x = static.data("x", [1])
    with pytest.raises(TypeError, match=r"keys of feed are names; write feed=\{'x': \.\.\.\}"):
        exe.run(feed={x: ones(1)}, fetch_list=[x])
    with pytest.raises(TypeError, match=r"keys of feed are names, got 3 \(int\)"):
        exe.run(feed={3: ones(1)}, fetch_list=[x])


def test_an_empty_list_of_feeds_is_none(exe: Any) -> None:
    assert exe.run(feed=[], fetch_list=[paddle.ones([1])])[0].tolist() == [1.0]


# --- values


def test_two_sizes_for_what_is_declared_to_be_one(exe: Any) -> None:
    """As a program has it that was made from a specification with one symbol in two places."""
    block, batch = static.default_main_program().global_block(), fresh_dim()
    x, y = static.data("x", [None, 3]), static.data("y", [2, None])
    x.spec = Spec((batch, 3), x.spec.dtype)
    y.spec = Spec((2, batch), y.spec.dtype)
    fetches = [x * 1.0, y * 1.0]
    with pytest.raises(
        FeedError,
        match=r"feed 'y' has shape \(2, 5\): axis 1 must be 4, as the program declares it to be "
        r"the size of axis 0 of feed 'x', which was fed with 4",
    ):
        exe.run(feed={"x": ones(4, 3), "y": ones(2, 5)}, fetch_list=fetches)
    assert exe.run(feed={"x": ones(4, 3), "y": ones(2, 4)}, fetch_list=fetches)[1].shape == (2, 4)
    assert block.vars["x"] is x


def test_unknown_sizes_of_their_own_may_differ(exe: Any) -> None:
    x, y = static.data("x", [None]), static.data("y", [None])
    feed = {"x": ones(2), "y": ones(3)}
    a, b = exe.run(feed=feed, fetch_list=[x * 1.0, y * 1.0])
    assert (a.shape, b.shape) == ((2,), (3,))


def test_a_masked_array_is_refused(exe: Any) -> None:
    x = static.data("x", [2])
    masked = np.ma.array(ones(2), mask=[True, False])
    with pytest.raises(FeedError, match=r"feed 'x'.*it is masked.*\.filled\(number\)"):
        exe.run(feed={"x": masked}, fetch_list=[x * 2.0])


def test_a_subclass_of_ndarray_is_fed_as_an_ndarray(exe: Any) -> None:
    x = static.data("x", [2, 2])

    class Units(np.ndarray):
        def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
            raise TypeError("units do not match")

    (y,) = exe.run(feed={"x": (ones(2, 2) * 2).view(Units)}, fetch_list=[x * x])
    assert type(y) is np.ndarray
    assert y.tolist() == [[4.0, 4.0], [4.0, 4.0]]


def test_the_other_byte_order(exe: Any) -> None:
    x = static.data("x", [2])
    (y,) = exe.run(feed={"x": np.array([1.0, 2.0], ">f4")}, fetch_list=[x * 2.0])
    assert (y.dtype, y.tolist()) == (np.float32, [2.0, 4.0])


def test_what_was_fed_may_change_after_the_run(exe: Any) -> None:
    """A variable of the scope that is assigned a feed holds a copy of it."""
    x = static.data("x", [2])
    kept = static.create_global_var([2], 0.0, "float32", persistable=True, name="kept")
    append_write(kept, x)
    exe.run(static.default_startup_program())
    mine = ones(2)
    exe.run(feed={"x": mine})
    mine[:] = 7.0
    assert static.global_scope().find_var("kept").value.tolist() == [1.0, 1.0]


def test_a_parameter_that_is_fed_keeps_the_value(exe: Any) -> None:
    w = weight()
    y = w * 2.0
    mine = ones(2)
    assert exe.run(feed={"w": mine}, fetch_list=[y])[0].tolist() == [2.0, 2.0]
    mine[:] = 9.0
    assert exe.run(fetch_list=[w])[0].tolist() == [1.0, 1.0]
    with pytest.raises(FeedError, match=r"feed 'w' has shape \(3,\).*axis 0 must be 2"):
        exe.run(feed={"w": ones(3)}, fetch_list=[y])


# --- supplies


def test_a_program_supplies_values_of_its_own(exe: Any) -> None:
    rate = static.create_global_var([], 0.5, "float32", persistable=True, name="rate")
    main, given = static.default_main_program(), iter([0.25, None, 4])
    y = rate * 2.0
    exe.run(static.default_startup_program())
    assert exe.run(fetch_list=[y])[0] == 1.0
    main.supplies["rate"] = lambda: next(given)
    assert exe.run(fetch_list=[y])[0] == 0.5
    assert static.global_scope().find_var("rate").value == 0.25
    assert exe.run(fetch_list=[y])[0] == 0.5  # None: what the scope has
    assert exe.run(fetch_list=[y])[0] == 8.0
    assert exe.run(feed={"rate": 1.0}, fetch_list=[y])[0] == 2.0  # the user's word is the last


@pytest.mark.parametrize(
    ("value", "hint"),
    [("x", "what is supplied for 'rate' is no float32"), ([1.0], r"has shape \(1,\); .* \[\]")],
)
def test_a_supply_that_does_not_fit(exe: Any, value: Any, hint: str) -> None:
    rate = static.create_global_var([], 0.5, "float32", persistable=True, name="rate")
    exe.run(static.default_startup_program())
    static.default_main_program().supplies["rate"] = lambda: value
    with pytest.raises(ExecutionError, match=hint):
        exe.run(fetch_list=[rate * 2.0])
    assert static.global_scope().find_var("rate").value == 0.5


# --- fetches


def test_a_gradient_that_is_none_names_its_position(exe: Any) -> None:
    x, z = static.data("x", [2]), static.data("z", [2])
    x.stop_gradient = z.stop_gradient = False
    grads = static.gradients(x * 2.0, [x, z])
    with pytest.raises(TypeError, match=r"fetch_list\[1\] is None; gradients\(\) returns None"):
        exe.run(feed={"x": ones(2)}, fetch_list=grads)
    with pytest.raises(TypeError, match=r"fetch_list\[2\] is None"):
        exe.run(feed={"x": ones(2)}, fetch_list=[x, grads])


def test_a_misspelt_fetch_gets_a_proposal(exe: Any) -> None:
    static.data("image", [2])
    with pytest.raises(ExecutionError, match=r"no variable 'imgae'.*did you mean 'image'"):
        exe.run(fetch_list=["imgae"])


def test_a_variable_of_a_branch_is_fetched_by_what_cond_returns(exe: Any) -> None:
    x = static.data("x", [2])
    inner: list[Any] = []

    def branch() -> Any:
        inner.append(paddle.tanh(x) * 3.0)
        return inner[0]

    y = static.nn.cond(paddle.sum(x) > 0, branch, lambda: x)
    assert exe.run(feed={"x": ones(2)}, fetch_list=[y])[0].shape == (2,)
    for fetch in (inner[0], inner[0].name):
        with pytest.raises(ExecutionError, match=r"inside a branch or loop only \(block 1\).*cond"):
            exe.run(feed={"x": ones(2)}, fetch_list=[fetch])


def test_a_parameter_is_fetched_as_it_is_after_the_run(exe: Any) -> None:
    w = weight()
    paddle.optimizer.SGD(1.0).minimize(paddle.sum(w))
    exe.run(static.default_startup_program())
    before, after = exe.run(fetch_list=[w * 1.0, "w"])
    assert (before.tolist(), after.tolist()) == ([0.0, 1.0], [0.0, 1.0])
    assert static.global_scope().find_var("w").value.tolist() == [0.0, 1.0]


def test_tensors_are_the_callers_own(exe: Any) -> None:
    w = weight()
    exe.run(static.default_startup_program())
    (tensor,) = exe.run(fetch_list=[w], return_numpy=False)
    paddle.disable_static()
    tensor.set_value(np.array([5.0, 5.0], "float32"))
    paddle.enable_static()
    assert exe.run(fetch_list=[w])[0].tolist() == [1.0, 2.0]


# --- pruned runs


def test_use_prune_makes_no_update_that_is_not_asked_for(exe: Any) -> None:
    w = weight()
    loss = paddle.sum(w)
    updates, pairs = paddle.optimizer.SGD(1.0).minimize(loss)
    exe.run(static.default_startup_program())
    assert exe.run(fetch_list=[loss], use_prune=True)[0] == 3.0
    assert exe.run(fetch_list=[loss], use_prune=True)[0] == 3.0
    assert len(exe.run(fetch_list=[loss, (updates, pairs)])) == 1
    assert exe.run(fetch_list=[loss], use_prune=True)[0] == 1.0
    assert exe.run(fetch_list=[updates]) == []
    assert exe.run(fetch_list=[loss], use_prune=True)[0] == -1.0


def test_two_optimizers_of_one_program_take_turns(exe: Any) -> None:
    a, b = weight("a"), weight("b")
    one = paddle.optimizer.SGD(1.0).minimize(paddle.sum(a), parameters=[a])
    two = paddle.optimizer.SGD(1.0).minimize(paddle.sum(b), parameters=[b])
    exe.run(static.default_startup_program())
    exe.run(fetch_list=[one])
    exe.run(fetch_list=[one])
    exe.run(fetch_list=[two])
    scope = static.global_scope()
    assert scope.find_var("a").value.tolist() == [-1.0, 0.0]
    assert scope.find_var("b").value.tolist() == [0.0, 1.0]


def test_running_statistics_move_on_in_a_pruned_run(exe: Any) -> None:
    x, label = static.data("x", [None, 3]), static.data("label", [None, 3])
    mean = static.create_global_var([3], 0.0, "float32", name="mean")
    var = static.create_global_var([3], 1.0, "float32", name="var")
    y = paddle.nn.functional.batch_norm(x, mean, var, training=True, momentum=0.5)
    paddle.sum(y * label)
    exe.run(static.default_startup_program())
    exe.run(feed={"x": ones(4, 3)}, fetch_list=[y], use_prune=True)
    assert static.global_scope().find_var("mean").value.tolist() == [0.5, 0.5, 0.5]


def test_an_intermediate_variable_is_fed_where_the_program_is_cut(exe: Any) -> None:
    x = static.data("x", [2])
    h = paddle.tanh(x)
    y = h * 2.0
    with pytest.raises(FeedError, match=r"is computed by the program.*pass use_prune=True"):
        exe.run(feed={"x": ones(2), h.name: ones(2)}, fetch_list=[y])
    (value,) = exe.run(feed={h.name: ones(2)}, fetch_list=[y], use_prune=True)
    assert value.tolist() == [2.0, 2.0]
    with pytest.raises(FeedError, match=r"has shape \(3,\).*axis 0 must be 2"):
        exe.run(feed={h.name: ones(3)}, fetch_list=[y], use_prune=True)


def test_one_of_several_results_cannot_be_fed_alone(exe: Any) -> None:
    x = static.data("x", [2])
    a, b = paddle.unbind(x)
    with pytest.raises(FeedError, match=f"one of several results.*feed the others too: '{b.name}'"):
        exe.run(feed={a.name: 1.0}, fetch_list=[a + b], use_prune=True)
    feed = {a.name: 1.0, b.name: 2.0}
    assert exe.run(feed=feed, fetch_list=[a + b], use_prune=True)[0] == 3.0


def test_parameters_of_the_reference_that_change_nothing(exe: Any) -> None:
    x = static.data("x", [2])
    (y,) = exe.run(
        feed={"x": ones(2)},
        fetch_list=[x],
        feed_var_name="feed",
        fetch_var_name="fetch",
        use_program_cache=True,
    )
    assert y.tolist() == [1.0, 1.0]


# --- compiled programs


def test_a_compiled_program_runs_as_the_program(exe: Any) -> None:
    x = static.data("x", [2])
    y = x * 2.0
    strategy = static.BuildStrategy()
    strategy.fuse_all_optimizer_ops = True
    strategy.reduce_strategy = static.BuildStrategy.ReduceStrategy.Reduce
    compiled = static.CompiledProgram(static.default_main_program(), strategy)
    assert exe.run(compiled, {"x": ones(2)}, [y])[0].tolist() == [2.0, 2.0]
    assert (strategy.fuse_all_optimizer_ops, strategy.enable_inplace) == (True, False)


def test_compiled_program_checks_its_arguments() -> None:
    with pytest.raises(TypeError, match="program_or_graph must be a Program, got int"):
        static.CompiledProgram(3)
    with pytest.raises(TypeError, match="build_strategy must be a BuildStrategy, got int"):
        static.CompiledProgram(static.Program(), 3)


def test_a_strategy_has_no_other_settings() -> None:
    strategy = static.BuildStrategy()
    with pytest.raises(AttributeError, match="no setting 'enable_inplaec'; did you mean 'enable_i"):
        strategy.enable_inplaec = True
    with pytest.raises(AttributeError, match="no setting 'zzz'; it has num_threads"):
        static.ExecutionStrategy().zzz  # noqa: B018
    threads = static.ExecutionStrategy()
    threads.num_threads = 4
    assert repr(threads) == "ExecutionStrategy(num_threads=4)"


# --- parameters without a value


def test_the_startup_program_of_the_guard_is_named(exe: Any) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        total = weight("w") + weight("v")
    with pytest.raises(
        ExecutionError, match=r"'w' has no value in the scope, nor has 'v'.*given to program_guard"
    ):
        exe.run(main, fetch_list=[total])
    exe.run(startup)
    assert exe.run(main, fetch_list=[total])[0].tolist() == [2.0, 4.0]


def test_a_parameter_that_no_startup_program_initialises(exe: Any) -> None:
    w = weight()
    main = static.default_main_program()
    with (
        static.program_guard(main, static.Program()),
        pytest.raises(ExecutionError, match=r"scope\.var\('w'\)\.get_tensor\(\)\.set\(array\)"),
    ):
        exe.run(main, fetch_list=[w])


def test_a_value_in_the_global_scope_is_not_in_this_one(exe: Any) -> None:
    w = weight()
    exe.run(static.default_startup_program())
    with pytest.raises(ExecutionError, match="it is the global scope that has a value"):
        exe.run(fetch_list=[w], scope=static.Scope())


def test_startup_again_initialises_again(exe: Any) -> None:
    w = weight()
    paddle.optimizer.Momentum(1.0).minimize(paddle.sum(w))
    startup = static.default_startup_program()
    exe.run(startup)
    first = [exe.run(fetch_list=[w])[0].tolist() for _ in range(2)]
    exe.run(startup)
    assert [exe.run(fetch_list=[w])[0].tolist() for _ in range(2)] == first


def test_a_value_of_another_kind_in_the_scope(exe: Any) -> None:
    w = weight()
    static.global_scope().var("w").get_tensor().set([1.0, 2.0])
    with pytest.raises(
        ExecutionError, match=r"'w' in the scope is float64\[2\]; the program declares float32\[2\]"
    ):
        exe.run(fetch_list=[w * 2.0])
