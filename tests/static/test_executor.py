"""Running programs: feeds, fetches, scopes, and what a failing run leaves behind."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ExecutionError, FeedError

pytestmark = pytest.mark.usefixtures("static_mode")

Executor = paddle.static.Executor


def ones(*shape: int) -> Any:
    return np.ones(shape, "float32")


def weight(name: str = "w", value: Any = (1.0, 2.0)) -> Any:
    attr = paddle.ParamAttr(name=name, initializer=paddle.nn.initializer.Assign(list(value)))
    return paddle.static.create_parameter([len(value)], "float32", attr=attr)


@pytest.fixture
def exe() -> Any:
    return Executor(paddle.CPUPlace())


# --- feeds


def test_a_program_runs_with_several_sizes(exe: Any) -> None:
    x = paddle.static.data("x", [None, 2])
    y = paddle.sum(x, axis=0)
    for rows in (1, 2, 7, 0):
        assert exe.run(feed={"x": ones(rows, 2)}, fetch_list=[y])[0].tolist() == [rows, rows]


def test_what_the_program_does_not_have_is_ignored(exe: Any) -> None:
    x = paddle.static.data("x", [2])
    (y,) = exe.run(feed={"x": ones(2), "nope": object()}, fetch_list=[x * 2.0])
    assert y.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "value", [[1, 2], [1.0, 2.0], (1, 2), np.array([1, 2], "float32")], ids=repr
)
def test_lists_take_the_declared_dtype(exe: Any, value: Any) -> None:
    x = paddle.static.data("x", [2])
    (y,) = exe.run(feed={"x": value}, fetch_list=[x + 0.0])
    assert (y.dtype, y.tolist()) == (np.float32, [1.0, 2.0])


def test_a_tensor_may_be_fed(exe: Any) -> None:
    x = paddle.static.data("x", [2])
    y = x * 2.0
    paddle.disable_static()
    tensor = paddle.to_tensor([1.0, 2.0])
    assert exe.run(feed={"x": tensor}, fetch_list=[y])[0].tolist() == [2.0, 4.0]


def test_a_feed_in_a_list(exe: Any) -> None:
    x = paddle.static.data("x", [2])
    assert exe.run(feed=[{"x": ones(2)}], fetch_list=[x])[0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (None, r"feed 'x' is missing: the program declares it as float32\[\?, 3\]"),
        (ones(2, 4), r"feed 'x' has shape \(2, 4\); the program declares \[\?, 3\]: axis 1 must"),
        (ones(3), r"feed 'x' has shape \(3,\).*it must have 2 dimensions"),
        (ones(1, 2, 3), "it must have 2 dimensions"),
        (np.ones((2, 3)), r"has dtype float64; the program declares float32.*astype\('float32'\)"),
        (np.ones((2, 3), "int64"), "has dtype int64"),
    ],
)
def test_a_feed_that_does_not_fit(exe: Any, value: Any, hint: str) -> None:
    x = paddle.static.data("x", [None, 3])
    y = x * 2.0
    for kind in (FeedError, ValueError, KeyError):
        with pytest.raises(kind, match=hint):
            exe.run(feed={} if value is None else {"x": value}, fetch_list=[y])


@pytest.mark.parametrize("value", [[[1, 2], [3]], ["a", "b"], object(), None])
def test_a_feed_that_is_no_array_names_the_feed(exe: Any, value: Any) -> None:
    x = paddle.static.data("x", [2])
    with pytest.raises(FeedError, match="feed 'x'"):
        exe.run(feed={"x": value}, fetch_list=[x * 2.0])


def test_only_what_the_fetches_need_must_be_fed(exe: Any) -> None:
    x, z = paddle.static.data("x", [1]), paddle.static.data("z", [1])
    y, _ = x * 2.0, z * 2.0
    assert exe.run(feed={"x": ones(1)}, fetch_list=[y])[0].tolist() == [2.0]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int64", [1.7, 2.2]),
        ("int64", [1.0, float("nan")]),
        ("int64", [10**30, 0]),
        ("int64", [2**63, 0]),
        ("int64", ["1", "2"]),
        ("int8", [300, 0]),
        ("uint8", [-1, 0]),
        ("bool", [2, 0]),
        ("float32", ["1.5", "2"]),
        ("float32", [None, 1.0]),
        ("float32", [1j, 0.0]),
    ],
    ids=repr,
)
def test_lists_that_the_declared_dtype_cannot_hold(exe: Any, dtype: str, value: Any) -> None:
    x = paddle.static.data("x", [2], dtype)
    with pytest.raises(FeedError, match=f"feed 'x' cannot be made an array of {dtype}"):
        exe.run(feed={"x": value}, fetch_list=[x])


@pytest.mark.parametrize(
    ("dtype", "value", "held"),
    [
        ("int64", [1.0, 2.0], [1, 2]),
        ("int64", [], []),
        ("int64", [True], [1]),
        ("bool", [1, 0], [True, False]),
        ("float32", [10**30], [float(np.float32(1e30))]),
        ("float32", [np.float64(0.5), np.int8(3)], [0.5, 3.0]),
        ("float32", [float("inf")], [float("inf")]),
    ],
    ids=repr,
)
def test_lists_that_it_can_hold(exe: Any, dtype: str, value: Any, held: Any) -> None:
    x = paddle.static.data("x", [None], dtype)
    assert exe.run(feed={"x": value}, fetch_list=[x])[0].tolist() == held


@pytest.mark.parametrize("feed", [3, "x", [1, 2], [{}, {}]])
def test_feed_must_be_a_dict(exe: Any, feed: Any) -> None:
    with pytest.raises(TypeError, match="feed must be a dict from names to arrays"):
        exe.run(feed=feed)


def test_any_intermediate_result_may_be_fed_with_none(exe: Any) -> None:
    assert exe.run(feed=None) == []


# --- fetches


def test_forms_of_fetch_list(exe: Any) -> None:
    x = paddle.static.data("x", [2])
    y = x * 2.0
    feed = {"x": ones(2)}
    assert [len(exe.run(feed=feed, fetch_list=f)) for f in (y, y.name, [y], (y, y.name))] == [
        1,
        1,
        1,
        2,
    ]
    nested = exe.run(feed=feed, fetch_list=[[y, [x]], y])
    assert [v.tolist() for v in nested] == [[2.0, 2.0], [1.0, 1.0], [2.0, 2.0]]
    assert exe.run(feed=feed) == []


def test_a_scalar_is_fetched_as_a_0d_array(exe: Any) -> None:
    x = paddle.static.data("x", [2])
    (value,) = exe.run(feed={"x": ones(2)}, fetch_list=[paddle.sum(x)])
    assert isinstance(value, np.ndarray)
    assert value.shape == ()


def test_tensors_on_request(exe: Any) -> None:
    x = paddle.static.data("x", [2])
    (value,) = exe.run(feed={"x": ones(2)}, fetch_list=[x * 2.0], return_numpy=False)
    assert isinstance(value, paddle.Tensor)
    assert value.stop_gradient


@pytest.mark.parametrize(
    "what", ["feed", "result", "parameter", "updated", "view", "twice", "constant", "full"]
)
def test_fetched_arrays_are_the_callers_own(exe: Any, what: str) -> None:
    x = paddle.static.data("x", [2])
    w = weight()
    loss = paddle.sum(x * w)
    fetches: list[Any] = {
        "feed": [x],
        "result": [x * 2.0],
        "parameter": [w],
        "view": [paddle.reshape(x, [1, 2])],
        "twice": [x + 1.0] * 2,
        "constant": [paddle.assign(np.ones(2, "float32"))],
        "full": [paddle.full([2], 1.0)],
        "updated": [w],
    }[what]
    if what == "updated":
        paddle.optimizer.SGD(0.5).minimize(loss)
    if what == "twice":
        y = x + 1.0
        fetches = [y, y]
    exe.run(paddle.static.default_startup_program())
    feed = {"x": ones(2)}
    before = [v.tolist() for v in exe.run(feed=feed, fetch_list=fetches)]
    exe.run(paddle.static.default_startup_program())
    fetched = exe.run(feed=feed, fetch_list=fetches)
    for value in fetched:
        assert value.flags.writeable
        value[...] = 77.0
    assert feed["x"].tolist() == [1.0, 1.0]
    exe.run(paddle.static.default_startup_program())
    assert [v.tolist() for v in exe.run(feed=feed, fetch_list=fetches)] == before
    if len(fetched) == 2:
        fetched[0][...] = 5.0
        assert fetched[1].tolist() != fetched[0].tolist()


def test_a_name_the_program_does_not_have(exe: Any) -> None:
    with pytest.raises(ExecutionError, match=r"no variable 'nope'.*or the name is misspelt"):
        exe.run(fetch_list=["nope"])


def test_a_variable_of_another_program(exe: Any) -> None:
    paddle.static.data("x", [2])
    with paddle.static.program_guard(paddle.static.Program()):
        other = paddle.static.data("x", [2])
    with pytest.raises(ExecutionError, match="was built in another one"):
        exe.run(feed={"x": ones(2)}, fetch_list=[other])


@pytest.mark.parametrize("bad", [3, 1.5, object(), {"x": 1}])
def test_a_fetch_of_another_kind(exe: Any, bad: Any) -> None:
    x = paddle.static.data("x", [2])
    with pytest.raises(TypeError, match=r"fetch_list\[1\] must be a Variable or a name"):
        exe.run(feed={"x": ones(2)}, fetch_list=[x, bad])


def test_fetching_what_is_only_declared(exe: Any) -> None:
    paddle.static.data("x", [2])
    with pytest.raises(FeedError, match="feed 'x' is missing"):
        exe.run(fetch_list=["x"])


# --- programs and executors


def test_startup_returns_nothing(exe: Any) -> None:
    weight()
    assert exe.run(paddle.static.default_startup_program()) == []


def test_main_before_startup_says_what_to_run(exe: Any) -> None:
    w = weight()
    with pytest.raises(ExecutionError, match=r"'w' has no value in the scope: run the startup"):
        exe.run(fetch_list=[w * 2.0])


@pytest.mark.parametrize("bad", [3, "main", object()])
def test_program_must_be_one(exe: Any, bad: Any) -> None:
    with pytest.raises(TypeError, match="program must be a Program"):
        exe.run(bad)


def test_scope_must_be_one(exe: Any) -> None:
    with pytest.raises(TypeError, match="scope must be a Scope, got dict"):
        exe.run(scope={})


def test_a_closed_executor(exe: Any) -> None:
    exe.close()
    exe.close()
    with pytest.raises(RuntimeError, match=r"closed; make a new paddle\.static\.Executor\(\)"):
        exe.run(paddle.static.default_startup_program())


def test_a_program_may_grow_between_runs(exe: Any) -> None:
    x = paddle.static.data("x", [2])
    y = x * 2.0
    feed = {"x": ones(2)}
    assert exe.run(feed=feed, fetch_list=[y])[0].tolist() == [2.0, 2.0]
    z = y + 1.0
    assert [v.tolist() for v in exe.run(feed=feed, fetch_list=[y, z])] == [[2.0] * 2, [3.0] * 2]


def test_executors_share_nothing_but_the_scope() -> None:
    w = weight()
    paddle.optimizer.SGD(1.0).minimize(paddle.sum(w * w))
    first, second = Executor(), Executor()
    first.run(paddle.static.default_startup_program())
    first.run()
    (value,) = second.run(fetch_list=[w])
    assert value.tolist() == [1.0, 2.0]


def test_an_operation_that_fails_is_named_with_its_line(exe: Any) -> None:
    x = paddle.static.data("x", [None])
    y = paddle.static.data("y", [None])
    z = x * y  # the line
    with pytest.raises(ExecutionError, match=r"multiply of test_executor\.py:\d+ \(z = x \* y"):
        exe.run(feed={"x": ones(2), "y": ones(3)}, fetch_list=[z])


# --- scopes


def test_a_scope_keeps_parameters_between_runs(exe: Any) -> None:
    w = weight()
    paddle.optimizer.SGD(0.25).minimize(paddle.sum(w * w))
    exe.run(paddle.static.default_startup_program())
    for _ in range(2):
        exe.run()
    found = paddle.static.global_scope().find_var("w")
    assert np.asarray(found.get_tensor()).tolist() == [0.25, 0.5]


def test_find_var_of_nothing_is_none() -> None:
    assert paddle.static.global_scope().find_var("nope") is None


def test_set_replaces_by_a_copy(exe: Any) -> None:
    w = weight()
    exe.run(paddle.static.default_startup_program())
    tensor = paddle.static.global_scope().find_var("w").get_tensor()
    given = np.array([5.0, 6.0])
    tensor.set(given, paddle.CPUPlace())
    given[:] = 0
    (value,) = exe.run(fetch_list=[w])
    assert (value.dtype, value.tolist()) == (np.float32, [5.0, 6.0])
    assert tensor.shape() == [2]


def test_set_checks_the_shape(exe: Any) -> None:
    weight()
    exe.run(paddle.static.default_startup_program())
    tensor = paddle.static.global_scope().find_var("w").get_tensor()
    with pytest.raises(ValueError, match=r"w has shape \[2\]; got \[3\]"):
        tensor.set(np.ones(3))
    assert np.asarray(tensor).tolist() == [1.0, 2.0]


def test_an_array_read_from_a_scope_is_the_callers_own(exe: Any) -> None:
    w = weight()
    exe.run(paddle.static.default_startup_program())
    np.array(paddle.static.global_scope().find_var("w").get_tensor())[...] = 9.0
    assert exe.run(fetch_list=[w])[0].tolist() == [1.0, 2.0]


def test_scopes_are_apart(exe: Any) -> None:
    w = weight()
    startup = paddle.static.default_startup_program()
    one, two = paddle.static.Scope(), paddle.static.Scope()
    exe.run(startup, scope=one)
    with paddle.static.scope_guard(two):
        exe.run(startup)
        two.find_var("w").get_tensor().set([8.0, 8.0])
        assert exe.run(fetch_list=[w])[0].tolist() == [8.0, 8.0]
    assert exe.run(fetch_list=[w], scope=one)[0].tolist() == [1.0, 2.0]
    with pytest.raises(ExecutionError, match="no value in the scope"):
        exe.run(fetch_list=[w])


def test_scope_guard_takes_a_scope() -> None:
    with (
        pytest.raises(TypeError, match="scope_guard takes a Scope"),
        paddle.static.scope_guard({}),  # type: ignore[arg-type]
    ):
        pass


def test_a_failing_run_leaves_the_scope_as_it_was(exe: Any) -> None:
    """The update of w is computed before the lookup with the bad index fails."""
    w = weight()
    paddle.optimizer.Momentum(0.5).minimize(paddle.sum(w * w))
    index = paddle.static.data("index", [1], "int64")
    picked = paddle.gather(w, index)
    exe.run(paddle.static.default_startup_program())
    scope = paddle.static.global_scope()
    names = scope.local_var_names()
    before = {n: np.array(scope.find_var(n).get_tensor()).tolist() for n in names}
    with pytest.raises(ExecutionError, match="gather of test_executor"):
        exe.run(feed={"index": np.array([9])}, fetch_list=[picked])
    after = {n: np.array(scope.find_var(n).get_tensor()).tolist() for n in names}
    assert scope.local_var_names() == names
    assert after == before
    exe.run(feed={"index": np.array([1])}, fetch_list=[picked])
    assert np.asarray(scope.find_var("w").get_tensor()).tolist() != before["w"]


def test_updates_run_whatever_is_fetched(exe: Any) -> None:
    w = weight()
    paddle.optimizer.SGD(0.5).minimize(paddle.sum(w * w))
    exe.run(paddle.static.default_startup_program())
    exe.run()
    assert exe.run(fetch_list=[w])[0].tolist() == [0.0, 0.0]


def test_gradients_that_are_the_fed_cotangent_itself_are_the_callers_own(exe: Any) -> None:
    """add hands its cotangent on: both gradients are one array, and that is the feed."""
    x, y, g = (paddle.static.data(name, [2]) for name in "xyg")
    x.stop_gradient = y.stop_gradient = False
    fetches = paddle.static.gradients(x + y, [x, y], target_gradients=g)
    mine = ones(2)
    by_x, by_y = exe.run(feed={"x": ones(2), "y": ones(2), "g": mine}, fetch_list=fetches)
    by_x[:] = 5.0
    assert (by_y.tolist(), mine.tolist()) == ([1.0, 1.0], [1.0, 1.0])


def test_a_random_operator_that_nobody_asks_for_still_draws() -> None:
    def second_draw(fetch_first: bool) -> bytes:
        with paddle.static.program_guard(paddle.static.Program()):
            first, second = paddle.rand([3]), paddle.rand([3])
            paddle.seed(5)
            fetches = [first, second] if fetch_first else [second]
            fetched = paddle.static.Executor().run(first.block.program, fetch_list=fetches)
        return bytes(fetched[-1].tobytes())

    assert second_draw(True) == second_draw(False)


def test_a_value_that_is_asked_only_for_its_shape_is_released() -> None:
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [None, 2])
        x.stop_gradient = False
        doubled = x * 2.0
        grads = paddle.static.gradients(paddle.mean(doubled), x)
        exe = paddle.static.Executor()
        exe.run(x.block.program, feed={"x": np.ones((3, 2), "float32")}, fetch_list=grads)
    (plan,) = x.block.program.compiled[exe].values()
    lines = [line.strip() for line in plan.compiled.source.splitlines()]
    name = doubled.name.replace(".", "_")
    released = next(k for k, line in enumerate(lines) if line.startswith("del") and name in line)
    asked = next(k for k, line in enumerate(lines) if "mean_grad(" in line)
    assert released < asked
    assert f"{name}__spec" in lines[asked]
