"""Variables where a function takes a number: what the run knows, in a program of one build."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import ExecutionError, ModeError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812
from tests.over import over

# Of an array [?, 4], a size that is fed, and a share that is fed.
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "reshape": lambda x, n, p: paddle.reshape(x, [n, -1]),
    "shape as it is": lambda x, n, p: paddle.reshape(x, [paddle.shape(x)[0] * 2, 2]),
    "expand": lambda x, n, p: paddle.expand(x[0:1], [n, 4]),
    "tile": lambda x, n, p: paddle.tile(x, [n, 1]),
    "full": lambda x, n, p: paddle.full([n, 3], p) * x.sum(),
    "full of a variable with a gradient": lambda x, n, p: paddle.full([n, 2], x.sum()),
    "full_like": lambda x, n, p: paddle.full_like(x, p) * x,
    "ones": lambda x, n, p: paddle.ones([n, 3]) * x.sum(),
    "zeros": lambda x, n, p: paddle.zeros(n) + x.sum(),
    "empty": lambda x, n, p: paddle.empty([n, 2]) * x.sum(),
    "uniform": lambda x, n, p: paddle.uniform([n, 2], max=p) * x.sum(),
    "randn": lambda x, n, p: paddle.randn([n, 2]) * x.sum(),
    "randint": lambda x, n, p: paddle.randint(0, n, [n]),
    "randperm": lambda x, n, p: paddle.randperm(n),
    "slice": lambda x, n, p: paddle.slice(x, [0], [0], [n]),
    "strided_slice": lambda x, n, p: paddle.strided_slice(x, [0], [0], [n], [2]),
    "x[:n]": lambda x, n, p: x[:n] * 2.0,
    "x[n - 1]": lambda x, n, p: x[n - 1] * 2.0,
    "crop": lambda x, n, p: paddle.crop(x, [n, 2], [0, 1]),
    "narrow": lambda x, n, p: x.narrow(0, 1, n),
    "arange": lambda x, n, p: paddle.arange(0, n, 2),
    "arange of floats": lambda x, n, p: paddle.arange(0.0, p, 0.125),
    "linspace": lambda x, n, p: paddle.linspace(0.0, p, n),
    "logspace": lambda x, n, p: paddle.logspace(0.0, p, n),
    "eye": lambda x, n, p: paddle.eye(n) * x.sum(),
    "tril_indices": lambda x, n, p: paddle.tril_indices(n, n),
    "topk": lambda x, n, p: paddle.topk(x, n, axis=0)[0],
    "kthvalue": lambda x, n, p: paddle.kthvalue(x, n, 0)[0],
    "pad": lambda x, n, p: F.pad(x, [n, 0, 0, n]),
    "one_hot": lambda x, n, p: F.one_hot(paddle.zeros([3], "int64"), n),
    "sequence_mask": lambda x, n, p: F.sequence_mask(paddle.full([2], 2, "int64"), n),
    "interpolate": lambda x, n, p: F.interpolate(x.unsqueeze([0, 1]), size=[n, n]),
    "affine_grid": lambda x, n, p: F.affine_grid(paddle.ones([2, 2, 3]), [2, 3, n, n]),
    "adaptive_avg_pool2d": lambda x, n, p: F.adaptive_avg_pool2d(x.unsqueeze([0, 1]), [n, 2]),
    "split": lambda x, n, p: paddle.split(x, [n, -1], 0)[0],
    "roll": lambda x, n, p: paddle.roll(x, n, 0),
    "tril": lambda x, n, p: paddle.tril(x, n),
    "diagonal": lambda x, n, p: paddle.diagonal(x, n),
    "unfold": lambda x, n, p: paddle.unfold(x, 0, n, 1),
    "repeat_interleave": lambda x, n, p: paddle.repeat_interleave(x, n, 0),
    "scatter_nd": lambda x, n, p: paddle.scatter_nd(paddle.zeros([2, 1], "int64"), x[:2, 0], [n]),
    "dropout": lambda x, n, p: F.dropout(x, p),
    "alpha_dropout": lambda x, n, p: F.alpha_dropout(x, p),
    "quantile": lambda x, n, p: paddle.quantile(x, p, axis=0),
    "quantiles": lambda x, n, p: paddle.quantile(x, [0.25, p], axis=0),
    "pinv": lambda x, n, p: paddle.linalg.pinv(x, p / 8.0),
    "leaky_relu": lambda x, n, p: F.leaky_relu(x, p),
    "clip": lambda x, n, p: paddle.clip(x, -p, p),
    "label_smooth": lambda x, n, p: F.label_smooth(F.softmax(x), epsilon=p),
    "axis that is a constant": lambda x, n, p: paddle.cumsum(x, paddle.full([], 1, "int64")),
    "axes that are constants": lambda x, n, p: paddle.squeeze(
        paddle.unsqueeze(x, paddle.full([1], 1, "int64")), paddle.to_tensor([1])
    ),
    "in a branch": lambda x, n, p: static.nn.cond(
        x.sum() > 0.0, lambda: paddle.ones([n, 2]) * x.sum(), lambda: paddle.zeros([n, 2])
    ),
    "in a loop": lambda x, n, p: static.nn.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, y + paddle.expand(x[0:1, :2], [n, 2])),
        [paddle.zeros([], "int64"), paddle.ones([n, 2])],
    )[1],
    "sizes that are made": lambda x, n, p: paddle.ones([n * 2 - 1, n // 2 + 1]) * x.sum(),
    "a vector of sizes": lambda x, n, p: paddle.ones(paddle.concat([n, n + 1])) * x.sum(),
}
FEEDS = (4, 2), (6, 3), (4, 2), (4, 2)
# And of one of its axes.
AXES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "cumsum": lambda x, n, p: paddle.cumsum(x * x, n),
    "sum": lambda x, n, p: paddle.sum(x * x, n),
    "sum of two": lambda x, n, p: paddle.sum(x.reshape([1, 1, -1, 4]) ** 2.0, [n % 2, 3]),
    "max": lambda x, n, p: paddle.max(x, axis=n),
    "softmax": lambda x, n, p: F.softmax(x, n) * p,
    "argmax": lambda x, n, p: paddle.argmax(x, n),
    "sort": lambda x, n, p: paddle.sort(x, axis=n),
    "flip": lambda x, n, p: paddle.flip(x, n),
    "concat": lambda x, n, p: paddle.concat([x, x * 2.0], axis=n),
    "stack": lambda x, n, p: paddle.stack([x, x * 2.0], axis=n),
    "split": lambda x, n, p: paddle.split(x[:4], 2, axis=n)[1],
    "unsqueeze": lambda x, n, p: paddle.unsqueeze(x, n),
    "unsqueeze twice": lambda x, n, p: paddle.unsqueeze(x, [n % 2, 3]),
    "squeeze": lambda x, n, p: paddle.squeeze(x.sum().reshape([1, 1]), n),
    "transpose": lambda x, n, p: paddle.transpose(x * x, [n, 1 - n % 2]),
    "transpose of two": lambda x, n, p: paddle.transpose(x * x, paddle.concat([n, -1 - n])),
    "moveaxis": lambda x, n, p: paddle.moveaxis(x.unsqueeze(0), n, 0),
    "gather": lambda x, n, p: paddle.gather(x, paddle.to_tensor([2, 0]), axis=n),
    "glu": lambda x, n, p: F.glu(paddle.reshape(x[:4], [4, 4]), n),
    "normalize": lambda x, n, p: F.normalize(x, axis=n),
    "slice": lambda x, n, p: paddle.slice(x, [n], [1], [3]),
    "frame": lambda x, n, p: paddle.signal.frame(x[:, 0], 2, 1, axis=n // 2),
    "in place": lambda x, n, p: (x * x).cumsum_(n),
    "in a branch": lambda x, n, p: static.nn.cond(
        p > 0.0, lambda: paddle.cumsum(x, n), lambda: x * 2.0
    ),
}
AXIS_FEEDS = (4, 0), (6, 1), (4, -1), (4, -2)


def _program(call: Callable[..., Any]) -> tuple[static.Program, list[str]]:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 4], "float32")
        x.stop_gradient = False
        y = call(x, static.data("n", [1], "int64"), static.data("p", [], "float32"))
        wanted = [y.name]
        if not y.stop_gradient:
            (g,) = static.gradients([y], [x])
            wanted.append(g.name)
    return main, wanted


def _eager(call: Callable[..., Any], feed: dict[str, Any]) -> list[Any]:
    paddle.seed(1)
    x = paddle.to_tensor(feed["x"], stop_gradient=False)
    y = call(x, paddle.to_tensor(feed["n"]), paddle.to_tensor(feed["p"]))
    if y.stop_gradient:
        return [y]
    return [y, paddle.grad(y, [x], grad_outputs=[paddle.ones_like(y)])[0]]


@over("name", sorted(CALLS))
def test_what_a_variable_gives_is_what_its_number_gives(name: str) -> None:
    """Two sizes through one program: as it is, copied, read from its text, in Python; and C."""
    _same_as_eager(CALLS[name], FEEDS)


@over("name", sorted(AXES))
def test_an_axis_may_be_known_to_the_run_only(name: str) -> None:
    _same_as_eager(AXES[name], AXIS_FEEDS)


def _same_as_eager(call: Callable[..., Any], feeds: Sequence[tuple[int, int]]) -> None:
    program, wanted = _program(call)
    again = static.Program.parse_from_string(program.to_string())
    declared = program.global_block().var(wanted[0])
    written: dict[str, Any] = {}
    exec(program.to_python(wanted), written)
    for run, backend in ((program, "native"), (program.clone(), "numpy"), (again, "numpy")):
        exe = static.Executor(backend=backend)
        for rows, n in feeds:
            rng = np.random.default_rng(rows)
            feed = {
                "x": rng.standard_normal((rows, 4)).astype("float32"),
                "n": np.asarray([n]),
                "p": np.float32(0.5),
            }
            paddle.seed(1)
            found = exe.run(run, feed, wanted)
            expected = _eager(call, feed)
            paddle.seed(1)
            fed = [np.asarray(feed[name]) for name in written["INPUTS"]]
            for a, b in zip(found, written["program"](*fed), strict=True):
                near = 1e-6 if backend == "native" else 0.0
                np.testing.assert_allclose(a, b, rtol=near, atol=near)
            assert len(found) == len(expected)
            for a, e in zip(found, expected, strict=True):
                assert a.dtype == e.numpy().dtype
                np.testing.assert_allclose(a, e.numpy(), rtol=1e-5, atol=1e-6)
            fits = zip(declared.shape, found[0].shape, strict=True)
            assert all(have in (-1, size) for have, size in fits)


def test_two_orders_and_a_direction() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 4], "float32")
        x.stop_gradient = False
        n = static.data("n", [], "int64")
        part = x[:n] ** 3.0
        y = paddle.tile(part, [n, 1]).sum()
        (g,) = static.gradients([y], [x])
        (h,) = static.gradients([(g * g).sum()], [x])
        d = static.forward_grad(part, x)
    xs = np.random.default_rng(0).standard_normal((5, 4)).astype("float32")
    for rows, k in ((5, 2), (3, 3)):
        feed = {"x": xs[:rows], "n": np.asarray(k)}
        found = static.Executor(backend="numpy").run(main, feed, [g, h, d])
        inside = np.arange(rows)[:, None] < k
        np.testing.assert_allclose(found[0], 3 * k * xs[:rows] ** 2 * inside, rtol=1e-5)
        np.testing.assert_allclose(found[1], 36 * k * k * xs[:rows] ** 3 * inside, rtol=1e-5)
        np.testing.assert_allclose(found[2], 3 * xs[:k] ** 2, rtol=1e-5)


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_two_orders_and_a_direction_along_an_axis_that_is_fed(backend: str) -> None:
    def value(x: Any, n: Any) -> Any:
        return (paddle.cumsum(x**3.0, n) * F.softmax(x, n)).sum()

    main = static.Program()
    with static.program_guard(main, static.Program()):
        x, n = static.data("x", [3, None], "float64"), static.data("n", [], "int64")
        x.stop_gradient = False
        y = value(x, n)
        (g,) = static.gradients([y], [x])
        (h,) = static.gradients([(g * g).sum()], [x])
        d = static.forward_grad(y, x)
    xs = np.random.default_rng(0).standard_normal((3, 4))
    for axis in (0, 1, -1, -2):
        feed = {"x": xs, "n": np.asarray(axis)}
        found = static.Executor(backend=backend).run(main, feed, [y, g, h, d])
        t = paddle.to_tensor(xs, stop_gradient=False)
        e = value(t, axis)
        (eg,) = paddle.grad(e, [t], create_graph=True)
        (eh,) = paddle.grad((eg * eg).sum(), [t])
        for a, b in zip(found, (e, eg, eh, eg.sum()), strict=True):
            np.testing.assert_allclose(a, b.numpy(), rtol=1e-9)


def test_sizes_that_are_equal_are_known_to_be() -> None:
    """So no gradient is summed over axes that were never broadcast."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, None, 8], "float32")
        x.stop_gradient = False
        b, t, w = paddle.unbind(paddle.shape(x))
        bias = paddle.zeros([t, w // 2]) + paddle.ones([b, t, w // 2])
        heads = x.reshape([b, t, 2, w // 2])[:, :, 0]
        y = (heads * bias + paddle.arange(t).reshape([t, 1])).sum()
        assert heads.shape == (-1, -1, 4)  # the width is no unknown
        assert heads.spec.shape == bias.spec.shape
        (g,) = static.gradients([y], [x])
    operators = main.global_block().ops
    assert not any(op.type == "sum_like" for op in operators)
    assert not any(op.op.pullback.project for op in operators if op.type == "multiply_grad")
    made = static.Executor().run(main, {"x": np.ones((2, 3, 8), "float32")}, [g])[0]
    assert made.shape == (2, 3, 8)


def test_a_size_that_is_written_is_another_one() -> None:
    """A loop counts up what began as a constant: nothing is known of it inside, or afterwards."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        n = paddle.full([], 1, "int64")
        assert paddle.ones([n]).shape == (1,)
        (n,) = static.nn.while_loop(lambda n: n < 5, lambda n: [n + 2], [n])
        y = paddle.ones([n])
        assert y.shape == (-1,)
        m = paddle.full([1], 2, "int64")
        paddle.assign(m + 1, output=m)
        z = paddle.ones([m])
    found = static.Executor().run(main, {}, [y, z])
    assert [v.shape for v in found] == [(5,), (3,)]


WRONG: dict[str, tuple[Callable[[Any, Any], Any], int, str]] = {
    "a negative size": (lambda x, n: paddle.ones([n, 2]), -3, "a size is 0 or more"),
    "a negative pad": (lambda x, n: F.pad(x, [n, 0, 0, 0]), -9, "a size is 0 or more"),
    "another number of elements": (lambda x, n: paddle.reshape(x, [n, 3]), 7, "cannot become"),
    "what cannot be expanded": (lambda x, n: paddle.expand(x, [n, 4]), 7, "expand"),
    "more than there are": (lambda x, n: paddle.topk(x, n, axis=0)[0], 9, "k must be"),
    "none": (lambda x, n: paddle.topk(x, n, axis=0)[0], 0, "k must be"),
    "a part that reaches beyond": (lambda x, n: x.narrow(0, 0, n), 9, "add up"),
    "a crop that reaches beyond": (lambda x, n: paddle.crop(x, [n, 4]), 9, "add up"),
    "parts that do not add up": (lambda x, n: paddle.split(x, [n, 1])[0], 9, "add up"),
    "a position out of range": (lambda x, n: x[n], 9, "out of"),
    "an axis out of range": (lambda x, n: paddle.cumsum(x, n), 2, "cumsum: axis 2 is out of"),
    "one out of range of one": (lambda x, n: paddle.flip(x[0], n), 1, "flip: axis 1 is out of"),
    "an axis that is not gone": (
        lambda x, n: paddle.squeeze(x.unsqueeze(0), n),
        2,
        "squeeze: axis 2 is none",
    ),
    "a share above 1": (lambda x, n: F.dropout(x, n * 0.5), 3, "p must be a number from 0 to 1"),
    "a share below 0": (lambda x, n: F.dropout(x, n * 0.5, axis=0), -1, "p must be a number from"),
    "a part above 1": (lambda x, n: paddle.quantile(x, n * 0.5), 3, "in [0, 1], got 1.5"),
    "another share": (lambda x, n: F.label_smooth(x, epsilon=n * 0.5), 3, "in [0, 1], got 1.5"),
    "a scale that is none": (lambda x, n: F.gumbel_softmax(x, n * 0.5), 0, "must be above 0"),
    "a negative slope": (lambda x, n: F.smooth_l1_loss(x, 2.0 * x, delta=n * 0.5), -1, "above 0"),
    "bounds in the wrong order": (lambda x, n: paddle.randint(5, n, [3]), 2, "randint"),
    "a bound that is the other": (lambda x, n: paddle.randint(2, n, [3]), 2, "randint"),
    "bounds of floats": (lambda x, n: paddle.uniform([3], min=1.0, max=n * 0.5), -1, "uniform"),
    "too few classes": (lambda x, n: F.one_hot(paddle.to_tensor([0, 3]), n), 2, "one_hot"),
    "classes below 0": (lambda x, n: F.one_hot(paddle.to_tensor([0, 1]), n), -2, "positive int"),
    "too many of them": (lambda x, n: paddle.kthvalue(x, n)[0], 9, "kthvalue"),
    "negative rows": (lambda x, n: paddle.eye(n), -1, "num_rows must be 0 to"),
    "a negative permutation": (lambda x, n: paddle.randperm(n), -1, "n must be 0 to"),
    "a negative length": (lambda x, n: paddle.linspace(0.0, 1.0, n), -2, "linspace"),
    "a negative triangle": (lambda x, n: paddle.tril_indices(n, n), -1, "row must be 0 to"),
    "a step of 0": (lambda x, n: paddle.arange(0, 5, n), 0, "arange"),
    "negative copies": (lambda x, n: paddle.tile(x, [n, 1]), -1, "repeat_times must be"),
    "negative repeats": (lambda x, n: paddle.repeat_interleave(x, n, 0), -1, "repeats must be"),
    "an image of nothing": (
        lambda x, n: F.interpolate(x.unsqueeze([0, 1]), size=[n, n]),
        0,
        "size must be at least 1",
    ),
    "bins of nothing": (
        lambda x, n: F.adaptive_avg_pool2d(x.unsqueeze([0, 1]), [n, 2]),
        0,
        "output_size must be a positive int",
    ),
    "a negative mask": (
        lambda x, n: F.sequence_mask(paddle.full([2], 2, "int64"), n),
        -1,
        "maxlen must be an int, 0 at least",
    ),
    "a window that does not fit": (lambda x, n: paddle.unfold(x, 0, n, 1), 9, "does not fit"),
    "a window of nothing": (lambda x, n: paddle.unfold(x, 0, n, 1), -1, "size must be a positive"),
    "a stride of 0": (lambda x, n: paddle.strided_slice(x, [0], [0], [4], [n]), 0, "zero"),
    "a place that is not there": (
        lambda x, n: paddle.scatter_nd(paddle.to_tensor([[0], [3]]), x[:2, 0], [n]),
        2,
        "scatter",
    ),
}


@over("name", sorted(WRONG))
def test_a_number_that_does_not_fit_is_an_error_with_the_line(name: str) -> None:
    call, n, text = WRONG[name]
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x, size = static.data("x", [None, 4], "float32"), static.data("n", [], "int64")
        y = call(x, size)
    for backend in ("numpy", "native"):
        exe = static.Executor(backend=backend)
        for _ in range(4):
            with pytest.raises(ExecutionError, match=r"test_run_time_sizes.py:\d+.*") as error:
                exe.run(main, {"x": np.ones((4, 4), "float32"), "n": np.asarray(n)}, [y])
            assert text in str(error.value)


def test_what_looks_at_a_program_takes_it() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x, n = static.data("x", [None, 4], "float32"), static.data("n", [], "int64")
        x.stop_gradient = False
        z = paddle.tile(x[:n] * paddle.ones([n, 4]), [n, 1]).sum()
        (g,) = static.gradients([z], [x])
    feed = {"x": np.ones((5, 4), "float32"), "n": np.asarray(2)}
    exe = static.Executor(backend="numpy")
    for _ in range(3):
        exe.run(main, feed, [z, g])
    assert exe.explain(main, feed, [z, g]).backend == "numpy"
    assert exe.profile(main, feed, [z, g], repeat=1).operators
    assert "number" in main.to_string()
    tensor = paddle.ones([5, 4])
    tensor.stop_gradient = False
    found = main.run_eagerly({"x": tensor, "n": feed["n"]}, [z])
    found[z.name].backward()
    np.testing.assert_array_equal(tensor.grad.numpy(), exe.run(main, feed, [g])[0])
    step = exe.prepare(main, ["x", "n"], [z])
    for k in (1, 2, 3, 3, 2):  # whatever was compiled
        assert step(feed["x"], np.asarray(k))[0] == 4 * k * k
    assert static.memory_report(main, {"x": [5, 4]}, fetch_list=[z]).peak


def test_what_must_be_known_is_refused_and_leaves_nothing() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x, n = static.data("x", [None, 4], "float32"), static.data("n", [], "int64")
        p, cube = static.data("p", [], "float32"), paddle.unsqueeze(x, 0)
        many, order = static.data("many", [2] * 6, "float32"), [n + k for k in range(6)]
        y, w = static.data("y", [2, 3], "float32"), static.data("w", [1, 1, 2], "float32")
        before = len(main.global_block().ops), len(main.global_block().vars)
        for call in (
            lambda: paddle.split(x, n),
            lambda: paddle.unbind(y, n),
            lambda: paddle.flatten(cube, n),
            lambda: paddle.transpose(many, order),
            lambda: F.conv1d(cube, w, padding=n),
        ):
            with pytest.raises((ModeError, TypeError)):
                call()
        for call in (lambda: paddle.ones([p, 2]), lambda: x[:p], lambda: paddle.topk(x, p)):
            with pytest.raises((TypeError, ValueError)):
                call()
        with pytest.raises((TypeError, ShapeError, ValueError)):
            paddle.ones([static.data("m", [2, 2], "int64"), 2])
        assert (len(main.global_block().ops), len(main.global_block().vars) - 1) == before
        assert len(main.blocks) == 1


def test_a_file_keeps_what_is_known_of_sizes() -> None:
    """What is built of a program that was read knows no less."""
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 4], "float32")
        n = paddle.shape(x)[0]
        static.nn.fc(x, 3)
    again = static.Program.parse_from_string(main.to_string())
    with static.program_guard(again, static.Program()):
        x, n = again.global_block().var("x"), again.global_block().var(n.name)
        assert paddle.ones([n, 4]).spec.shape == x.spec.shape
