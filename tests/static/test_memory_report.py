"""Foreseen memory: the prediction beside what `tracemalloc` measures, and what a report says."""

import functools
import gc
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, BuildError, FeedError
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.static.analysis.fake_array import layout_of
from autograd_engine.static.flags import flags
from tests.tiers import by_default

static = paddle.static
F = paddle.nn.functional
MB = 1 << 20


@pytest.fixture(autouse=True)
def building() -> None:
    paddle.enable_static()


def built(build: Callable[[], list[Any]]) -> tuple[Any, Any, list[Any]]:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        fetches = build()
    return main, startup, fetches


def fed(main: Any, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    feed = {}
    for name, shape in shapes.items():
        dtype = main.global_block().var(name).spec.dtype
        if dtype.kind == "f":
            feed[name] = rng.standard_normal(shape).astype(dtype)
        else:
            feed[name] = np.zeros(shape, dtype)
    return feed


def measured(main: Any, startup: Any, fetches: list[Any], make: Callable[[], Any]) -> int:
    """The peak of a run, with what is fed and all parameters."""
    exe = static.Executor()
    once = static.Scope()
    exe.run(startup, scope=once)
    exe.run(main, make(), fetches, scope=once)  # compiles
    del once
    gc.collect()
    scope = static.Scope()
    tracemalloc.start(1)
    try:
        base = tracemalloc.get_traced_memory()[0]
        exe.run(startup, scope=scope)
        feed = make()
        tracemalloc.reset_peak()
        exe.run(main, feed, fetches, scope=scope)
        return tracemalloc.get_traced_memory()[1] - base
    finally:
        tracemalloc.stop()


def mlp() -> list[Any]:
    x = static.data("x", [None, 784], "float32")
    y = static.data("y", [None, 1], "int64")
    h = F.relu(static.nn.fc(x, 256))
    h = paddle.tanh(static.nn.fc(h, 128))
    loss = paddle.mean(F.cross_entropy(static.nn.fc(h, 10), y))
    paddle.optimizer.SGD(0.1).minimize(loss)
    return [loss]


def lenet() -> list[Any]:
    x = static.data("x", [None, 1, 28, 28], "float32")
    y = static.data("y", [None, 1], "int64")
    h = F.max_pool2d(F.relu(static.nn.conv2d(x, 6, 5, padding=2)), 2, 2)
    h = F.max_pool2d(F.relu(static.nn.conv2d(h, 16, 5)), 2, 2)
    h = F.relu(static.nn.fc(paddle.flatten(h, 1), 120))
    loss = paddle.mean(F.cross_entropy(static.nn.fc(h, 10), y))
    paddle.optimizer.Momentum(0.1, 0.9).minimize(loss)
    return [loss]


def embedding() -> list[Any]:
    x = static.data("x", [None, 20], "int64")
    y = static.data("y", [None, 1], "int64")
    h = paddle.mean(static.nn.embedding(x, [5000, 64]), axis=1)
    loss = paddle.mean(F.cross_entropy(static.nn.fc(h, 1000), y))
    paddle.optimizer.Adam(0.1).minimize(loss)
    return [loss]


def sparse_embedding() -> list[Any]:
    x = static.data("x", [None, 20], "int64")
    w = static.create_parameter([30000, 32], "float32")
    e = F.embedding(x, w, sparse=True) + F.embedding(x * 1, w, sparse=True)
    loss = paddle.mean(e * e)
    paddle.optimizer.SGD(0.1).minimize(loss)
    return [loss]


def attention() -> list[Any]:
    t, d, heads = 64, 64, 4
    x = static.data("x", [None, t, d], "float32")

    def projected() -> Any:
        y = static.nn.fc(x, d, num_flatten_dims=2)
        return paddle.transpose(paddle.reshape(y, [-1, t, heads, d // heads]), [0, 2, 1, 3])

    q, k, v = projected(), projected(), projected()
    a = F.softmax(paddle.matmul(q, k, transpose_y=True) * 0.25)
    o = paddle.reshape(paddle.transpose(paddle.matmul(a, v), [0, 2, 1, 3]), [-1, t, d])
    h = F.layer_norm(x + static.nn.fc(o, d, num_flatten_dims=2), [d])
    wide = F.gelu(static.nn.fc(h, 4 * d, num_flatten_dims=2))
    loss = paddle.mean((h + static.nn.fc(wide, d, num_flatten_dims=2)) ** 2)
    paddle.optimizer.Adam(0.1).minimize(loss)
    return [loss]


def lstm() -> list[Any]:
    steps, d, width = 8, 32, 64
    x = static.data("x", [None, steps, d], "float32")
    w = static.create_parameter([d + width, 4 * width], "float32")
    b = static.create_parameter([4 * width], "float32")
    h = paddle.zeros_like(static.nn.fc(x[:, 0], width))
    c = h
    for t in range(steps):
        z = paddle.matmul(paddle.concat([x[:, t], h], 1), w) + b
        i, f, g, o = paddle.split(z, 4, axis=1)
        c = F.sigmoid(f) * c + F.sigmoid(i) * paddle.tanh(g)
        h = F.sigmoid(o) * paddle.tanh(c)
    loss = paddle.mean(h * h)
    paddle.optimizer.Adam(0.1).minimize(loss)
    return [loss]


def strided() -> list[Any]:
    x = static.data("x", [None, 500], "float32")
    x.stop_gradient = False
    y = paddle.cumsum(paddle.sort(x, axis=1), axis=1)
    z = paddle.concat([y, x * 2], 1)
    loss = paddle.sum(paddle.tanh(z)[:, ::2])
    (grad,) = static.gradients(loss, x)
    return [loss, grad]


def views() -> list[Any]:
    x = static.data("x", [None, 1000], "float32")
    y = paddle.reshape(paddle.tanh(x), [-1, 10, 100])
    return [paddle.transpose(y, [0, 2, 1]), y]


def large_weights() -> list[Any]:
    x = static.data("x", [None, 1300], "float32")
    h = static.nn.fc(x, 1300)
    loss = paddle.mean(h * h)
    paddle.optimizer.Adam(0.1).minimize(loss)
    return [loss]


def branch() -> list[Any]:
    x = static.data("x", [None, 200], "float32")
    w = static.create_parameter([200, 200], "float32")
    h = static.nn.cond(
        paddle.mean(x * x) > 0.0,
        lambda: paddle.tanh(paddle.exp(paddle.matmul(x, w))),
        lambda: x * 2.0,
    )
    loss = paddle.mean(h * h)
    paddle.optimizer.SGD(0.1).minimize(loss)
    return [loss]


PROGRAMS: dict[str, tuple[Callable[[], list[Any]], dict[str, tuple[int, ...]]]] = {
    "mlp": (mlp, {"x": (2000, 784), "y": (2000, 1)}),
    "lenet": (lenet, {"x": (160, 1, 28, 28), "y": (160, 1)}),
    "embedding": (embedding, {"x": (2000, 20), "y": (2000, 1)}),
    "sparse_embedding": (sparse_embedding, {"x": (3000, 20)}),
    "attention": (attention, {"x": (40, 64, 64)}),
    "lstm": (lstm, {"x": (1000, 8, 32)}),
    "strided": (strided, {"x": (2000, 500)}),
    "views": (views, {"x": (2000, 1000)}),
    "large_weights": (large_weights, {"x": (186, 1300)}),
    "branch": (branch, {"x": (4000, 200)}),
}


@pytest.mark.parametrize("name", by_default(PROGRAMS, ["mlp", "branch", "embedding"]))
def test_the_peak_is_what_is_measured(name: str, monkeypatch: Any) -> None:
    # What is foreseen is a run by Python; compiled, what trains has memory of its own.
    monkeypatch.setattr(flags, "runs_before_compiling", 2)
    build, shapes = PROGRAMS[name]
    main, startup, fetches = built(build)
    report = static.memory_report(main, shapes, fetches)
    peak = measured(main, startup, fetches, lambda: fed(main, shapes))
    assert peak > 5 * MB
    assert report.peak_bytes == pytest.approx(peak, rel=0.05)
    assert not report.assumed
    # The formula that was found without sizes says the same of them.
    unknown = static.memory_report(main, None, fetches)
    assert unknown.peak_bytes is None
    assert unknown.peak.at(shapes["x"][0]) == report.peak_bytes


@pytest.mark.parametrize("trips", by_default([2, 12], 1))
def test_a_loop_needs_as_much_as_it_runs(trips: int) -> None:
    def build() -> list[Any]:
        x = static.data("x", [None, 100], "float32")
        n = static.data("n", [1], "int64")
        w = static.create_parameter([100, 100], "float32")
        start = [paddle.zeros([1], "int64"), x * 1.0]
        _, h = static.nn.while_loop(
            lambda i, h: i < n, lambda i, h: [i + 1, paddle.tanh(paddle.matmul(h, w))], start
        )
        loss = paddle.mean(h * h)
        paddle.optimizer.SGD(0.1).minimize(loss)
        return [loss]

    main, startup, fetches = built(build)
    shapes = {"x": (4000, 100), "n": (1,)}
    report = static.memory_report(main, shapes, fetches)
    assert report.peak_bytes is None
    assert "trips" in report.peak.unknown

    def feed() -> dict[str, Any]:
        return {**fed(main, shapes), "n": np.array([trips])}

    peak = measured(main, startup, fetches, feed)
    assert report.peak.at(trips=trips) == pytest.approx(peak, rel=0.05)


@pytest.mark.parametrize("read", by_default(["all", "last"], 1))
def test_an_array_of_tensors_holds_what_is_written_to_it(read: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(flags, "runs_before_compiling", 2)
    tensor = paddle.tensor

    def build() -> list[Any]:
        x = static.data("x", [None, 100], "float32")
        x.stop_gradient = False
        n, i = static.data("n", [1], "int64"), paddle.full([1], 0, "int64")
        more = i < n
        array = tensor.create_array("float32", [x * 1.0])
        tensor.array_write(paddle.tanh(x), paddle.full([1], 0, "int64"), array)  # in its place
        with static.nn.control_flow.While(more).block():
            old = tensor.array_read(array, i)
            paddle.increment(i)
            tensor.array_write(paddle.tanh(old) * x, i, array)
            paddle.assign(i < n, output=more)
        if read == "all":
            y, _ = tensor.tensor_array_to_tensor(array, axis=0, use_stack=True)
        else:
            y = tensor.array_read(array, i)
        loss = paddle.sum(y * y)
        return [loss, *static.gradients(loss, x)]

    main, startup, fetches = built(build)
    report = static.memory_report(main, {"x": (4000, 100), "n": (1,)}, fetches)
    assert re.search("with: each write to array_.* adds an element", str(report))
    for trips in (2, 9):

        def feed(trips: int = trips) -> dict[str, Any]:
            return {**fed(main, {"x": (4000, 100)}), "n": np.array([trips])}

        peak = measured(main, startup, fetches, feed)
        assert report.peak.at(trips=trips) == pytest.approx(peak, rel=0.02)


class TestWhatAReportSays:
    def test_the_formula_names_the_axis_of_the_feed(self) -> None:
        def build() -> list[Any]:
            x = static.data("x", [None, 100], "float32")
            return [paddle.tanh(x) * 2.0]

        main, _, fetches = built(build)
        report = static.memory_report(main, fetch_list=fetches)
        assert repr(report.peak) == "1200*x.shape[0] bytes"
        assert report.peak.unknown == ["x.shape[0]"]
        assert report.peak.at(7) == report.peak.at(x=(7, 100)) == 8400
        assert report.peak.at({"x.shape[0]": 7}) == 8400
        assert report.operator is not None
        assert report.operator.type == "multiply"
        assert "test_memory_report.py" in str(report.operator.location)

    def test_two_unknown_sizes(self) -> None:
        def build() -> list[Any]:
            x = static.data("x", [None, None, 64], "float32")
            return [paddle.matmul(x, x, transpose_y=True)]

        main, _, fetches = built(build)
        peak = static.memory_report(main, fetch_list=fetches).peak
        # A matrix meets a copy of itself: see `kernels.products`.
        assert str(peak) == "4*x.shape[0]*x.shape[1]*x.shape[1] + 512*x.shape[0]*x.shape[1]"
        assert peak.at(x=(10, 20, 64)) == 4 * 10 * 20 * 20 + 2 * 256 * 10 * 20
        with pytest.raises(ArgumentError, match=r"each by name"):
            peak.at(5)
        with pytest.raises(ArgumentError, match=r"x.shape\[1\] is not known"):
            peak.at({"x.shape[0]": 5})

    def test_a_view_takes_no_memory_of_its_own(self) -> None:
        def build() -> list[Any]:
            x = static.data("x", [None, 100], "float32")
            y = paddle.transpose(paddle.reshape(paddle.tanh(x), [-1, 10, 10]), [0, 2, 1])
            return [paddle.sum(y)]

        main, _, fetches = built(build)
        report = static.memory_report(main, fetch_list=fetches)
        # What a sum of a transposed array needs besides does not grow with the batch.
        assert report.peak.at(10**6) == pytest.approx(800 * 10**6, rel=0.01)

    def test_who_keeps_what_alive(self) -> None:
        def build() -> list[Any]:
            x = static.data("x", [None, 64], "float32")
            h = paddle.tanh(static.nn.fc(x, 128, bias_attr=False))
            loss = paddle.mean(paddle.exp(paddle.exp(h)))
            paddle.optimizer.SGD(0.1).minimize(loss)
            return [loss]

        main, _, fetches = built(build)
        report = static.memory_report(main, {"x": (1000, 64)}, fetches)
        alive: dict[str, Any] = {a.name: a for a in report.alive}
        assert alive["x"].kept_for == "the caller holds it"
        assert alive["fc_0.w_0"].kept_for == "the scope holds it"
        assert alive["tanh_0.tmp_0"].kept_for.type == "tanh_grad"
        assert alive["tanh_0.tmp_0"].made_by.type == "tanh"
        assert alive["tanh_0.tmp_0"].shape == ("x.shape[0]", 128)
        assert int(alive["tanh_0.tmp_0"].bytes) == 1000 * 128 * 4
        assert sum(int(a.bytes) for a in report.alive) == report.peak_bytes
        text = str(report)
        assert "tanh_grad of test_memory_report.py" in text
        assert "float32[x.shape[0], 128]" in text
        assert "<table" in report._repr_html_()

    def test_the_timeline_follows_the_operators(self) -> None:
        main, _, fetches = built(mlp)
        report = static.memory_report(main, {"x": (50, 784), "y": (50, 1)}, fetches)
        types = [m.operator.type for m in report.timeline if m.operator is not None]
        assert types[:3] == ["matmul", "add", "relu"]
        assert types[-1] == "sgd"
        assert max(int(m.peak) for m in report.timeline) == report.peak_bytes
        assert all(int(m.after) <= int(m.peak) for m in report.timeline)

    def test_first_sizes_are_taken_to_be_one_unless_told_otherwise(self) -> None:
        def build() -> list[Any]:
            a = static.data("a", [None, 8], "float32")
            b = static.data("b", [None, 8], "float32")
            return [paddle.sum(a) + paddle.sum(b)]

        main, _, fetches = built(build)
        report = static.memory_report(main, fetch_list=fetches)
        assert "a.shape[0] = b.shape[0]" in str(report)
        assert report.peak.at(1000) == pytest.approx(64_000, rel=0.01)
        told = static.memory_report(main, {"a": (10, 8), "b": (10000, 8)}, fetches)
        assert told.peak_bytes == pytest.approx(320 * (1 + 1000), rel=0.01)

    def test_sizes_that_an_operation_makes_one_are_one_in_the_formula(self) -> None:
        def build() -> list[Any]:
            a = static.data("a", [None, None, 16], "float32")
            b = static.data("b", [None, None, 16], "float32")
            return [paddle.tanh(a + b) * a]

        main, _, fetches = built(build)
        report, longer = (
            static.memory_report(main, dict.fromkeys("ab", (50, n, 16)), fetches) for n in (60, 90)
        )
        assert "b.shape[1]" in str(report.peak)
        assert "a.shape[1] = b.shape[1]" in str(report)
        assert report.peak.unknown == ["a.shape[0]", "b.shape[1]"]
        assert report.peak.at({"a.shape[1]": 90}) == longer.peak_bytes

    def test_a_size_that_depends_on_values_counts_as_the_most_it_can_be(self) -> None:
        def build() -> list[Any]:
            x = static.data("x", [None, 100], "float32")
            return [paddle.nonzero(x)]

        main, startup, fetches = built(build)
        report = static.memory_report(main, {"x": (5000, 100)}, fetches)
        assert "at most 100*x.shape[0]" in str(report)
        make = lambda: {"x": np.ones((5000, 100), "float32")}  # noqa: E731
        assert int(report.peak) >= 0.95 * measured(main, startup, fetches, make)

    def test_nothing_is_run_and_no_random_number_is_drawn(self) -> None:
        def build() -> list[Any]:
            x = static.data("x", [None, 100], "float32")
            return [F.dropout(x, 0.5)]

        main, _, fetches = built(build)
        feed = {"x": np.ones((5, 100), "float32")}
        paddle.seed(3)
        expected = static.Executor().run(main, feed, fetches)[0]
        paddle.seed(3)
        static.memory_report(main, {"x": (5000, 100)}, fetches)
        np.testing.assert_array_equal(static.Executor().run(main, feed, fetches)[0], expected)

    def test_weights_of_gigabytes_are_not_made(self) -> None:
        def build() -> list[Any]:
            x = static.data("x", [None, 40000], "float32")
            h = static.nn.fc(x, 40000, bias_attr=False)
            loss = paddle.mean(h)
            paddle.optimizer.Adam(0.1).minimize(loss)
            return [loss]

        main, _, fetches = built(build)
        tracemalloc.start(1)
        try:
            report = static.memory_report(main, {"x": (8, 40000)}, fetches)
            used = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        weights = 4 * 40000**2
        assert used < 64 * MB
        # Parameter and two moments, old and new, the gradient; and a temporary of the update,
        # unless it is one loop in C.
        temporaries = compiled("updates.adam", np.empty(0, np.float32)) is None
        assert report.peak_bytes == pytest.approx((7 + temporaries) * weights, rel=0.01)


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("specs", "hint"),
        [
            ({"X": (5, 784)}, "did you mean 'x'"),
            ({"x": (5, 785)}, r"declares \[\?, 784\]"),
            ({"x": (5,)}, r"declares \[\?, 784\]"),
            ({"x": ((5, 784), "float64")}, "declares float32"),
            ({"x": "many"}, r"such as \(64, 784\)"),
            ({"x": (-5, 784)}, r"such as \(64, 784\)"),
        ],
    )
    def test_specs_that_do_not_fit(self, specs: Any, hint: str) -> None:
        main, _, fetches = built(mlp)
        with pytest.raises(FeedError, match=hint):
            static.memory_report(main, specs, fetches)

    def test_no_dict(self) -> None:
        main, _, fetches = built(mlp)
        with pytest.raises(TypeError, match="dict from names to shapes"):
            static.memory_report(main, [(5, 784)], fetches)  # type: ignore[arg-type]

    def test_an_unknown_size(self) -> None:
        main, _, fetches = built(mlp)
        peak = static.memory_report(main, None, fetches).peak
        with pytest.raises(ArgumentError, match=r"unknown sizes are 'x.shape\[0\]'"):
            peak.at(z=4)
        with pytest.raises(ArgumentError, match="non-negative int"):
            peak.at(-4)
        with pytest.raises(ArgumentError, match="pass feed_specs"):
            peak.at(x=(4, 784), y=(5, 1))


def deep() -> tuple[Any, Any, Any, list[Any]]:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        h = static.data("x", [None, 128], "float32")
        hidden = []
        for _ in range(12):
            h = paddle.tanh(static.nn.fc(h, 128, bias_attr=False))
            hidden.append(h)
        loss = paddle.mean(h)
    return main, startup, loss, hidden


@pytest.mark.thorough
def test_checkpoints_save_and_cost_what_was_foreseen() -> None:
    main, _, loss, hidden = deep()
    kept = [hidden[3].name, hidden[7].name]
    shapes: dict[str, tuple[int, ...]] = {"x": (2000, 128)}
    before = repr(main)
    report = static.recompute_report(main, kept, shapes)
    assert repr(main) == before
    peaks, counts = [], []
    for checkpoints in (None, kept):
        main, startup, loss, _ = deep()
        block = main.global_block()
        with static.program_guard(main, startup):
            pairs = static.append_backward(
                loss, checkpoints=checkpoints and [block.var(n) for n in kept_of(block)]
            )
        fetches = [loss, *(g for _, g in pairs)]
        peaks.append(measured(main, startup, fetches, functools.partial(fed, main, shapes)))
        counts.append(int(static.flops(main, shapes)))
    assert report.saved_bytes == pytest.approx(peaks[0] - peaks[1], rel=0.05)
    assert int(report.extra_flops) == counts[1] - counts[0] > 0
    assert "saves" in str(report)


class TestRecompute:
    def test_of_a_program_that_trains_already(self) -> None:
        main, startup, loss, hidden = deep()
        alone = static.recompute_report(main, hidden[5], {"x": (4000, 128)})
        with static.program_guard(main, startup):
            paddle.optimizer.SGD(0.1).minimize(loss)
        memory = static.memory_report(main, {"x": (4000, 128)}, [loss])
        report = memory.recompute([hidden[5]])
        assert alone.saved_bytes is not None
        assert report.saved_bytes == alone.saved_bytes > 0
        assert int(report.extra_flops) == int(alone.extra_flops)

    def test_what_is_refused(self) -> None:
        main, startup, loss, hidden = deep()
        with pytest.raises(BuildError, match="give one Variable at least"):
            static.recompute_report(main, [])
        with pytest.raises(TypeError, match="Variables or names"):
            static.recompute_report(main, [3])  # type: ignore[list-item]
        with static.program_guard(main, startup):
            paddle.sum(hidden[0])
        with pytest.raises(BuildError, match="pass loss="):
            static.recompute_report(main, hidden[3])
        assert static.recompute_report(main, hidden[3], loss=loss).checkpoints == [hidden[3].name]


def kept_of(block: Any) -> list[str]:
    """The fourth and the eighth of the hidden layers."""
    names = [o.results[0].var.name for o in block.ops if o.type == "tanh"]
    return [names[3], names[7]]


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[:, ::2],
        lambda a: a[:, 3:7],
        lambda a: a[::-1],
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: a.reshape(4, 3, 2, 8).transpose(2, 0, 3, 1),
    ],
)
def test_a_layout_is_built_again(view: Callable[[Any], Any]) -> None:
    array = view(np.zeros((12, 16), "float32"))
    again = layout_of(array).build(array.shape, array.dtype, 0)
    assert again.shape == array.shape
    for name in ("c_contiguous", "f_contiguous"):
        assert getattr(again.flags, name) == getattr(array.flags, name)
    order = np.argsort(-np.abs(array.strides), kind="stable")
    assert list(np.argsort(-np.abs(again.strides), kind="stable")) == list(order)
    assert [s == 0 for s in again.strides] == [s == 0 for s in array.strides]
    assert [s < 0 for s in again.strides] == [s < 0 for s in array.strides]


def test_it_is_imported_when_it_is_asked_for() -> None:
    name = "autograd_engine.static.analysis.memory_report"
    code = (
        f"import sys, autograd_engine.static as s; assert {name!r} not in sys.modules; "
        f"s.memory_report; assert {name!r} in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
