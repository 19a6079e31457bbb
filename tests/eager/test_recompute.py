"""`recompute`: values are computed again instead of being saved."""

import gc
import subprocess
import sys
import threading
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import (
    checkpoint,
    recompute,
    recompute_sequential,
    saved_tensors_hooks,
)
from autograd_engine.core.random_generator import own_generator
from autograd_engine.errors import ArgumentError, GraphFreedError, RecomputeError
from tests.eager.layers import Cube

F = paddle.nn.functional
RNG = np.random.default_rng(0)
W = RNG.standard_normal((4, 4))


def leaf(value: Any, dtype: str = "float64") -> Any:
    return paddle.to_tensor(value, dtype=dtype, stop_gradient=False)


def block(x: Any, w: Any) -> Any:
    h = F.softmax(x @ w)
    a, b = paddle.split(paddle.concat([h, paddle.tanh(x)], axis=1), 2, axis=1)
    return paddle.exp(a) * b + x


def values() -> tuple[Any, Any]:
    return leaf(np.linspace(-1, 1, 12).reshape(3, 4)), leaf(W)


def same(first: Any, second: Any) -> None:
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


# --- the same gradients


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_gradients_have_the_same_bits(levels: int) -> None:
    def nested(depth: int, x: Any, w: Any) -> Any:
        if depth == 0:
            return block(block(x, w), w)
        return recompute(nested, depth - 1, recompute(nested, depth - 1, x, w), w)

    def plain(depth: int, x: Any, w: Any) -> Any:
        if depth == 0:
            return block(block(x, w), w)
        return plain(depth - 1, plain(depth - 1, x, w), w)

    grads = []
    for function in (plain, nested):
        x, w = values()
        function(levels, x, w).sum().backward()
        grads.append((x.grad, w.grad))
    same(*grads)


def test_the_function_runs_once_more_for_each_pass() -> None:
    runs = 0

    def function(x: Any) -> Any:
        nonlocal runs
        runs += 1
        return paddle.exp(paddle.sin(x))

    x = leaf([0.5, 1.0])
    y = recompute(function, x)
    assert runs == 1
    y.backward(retain_graph=True)
    assert runs == 2
    first = x.grad.numpy().copy()
    y.backward()
    assert runs == 3
    np.testing.assert_array_equal(x.grad.numpy(), 2 * first)
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        y.backward()
    assert runs == 3


def derivatives(wrapped: bool, *, depth: int = 1) -> list[Any]:
    x, w = values()

    def call(x: Any) -> Any:
        for _ in range(2):
            x = recompute(block, x, w) if wrapped and depth == 1 else block(x, w)
        return x

    y = recompute(call, x) if wrapped and depth == 2 else call(x)
    (first,) = paddle.grad((y * y).sum(), x, create_graph=True)
    (second,) = paddle.grad((first * first).sum(), x, create_graph=True)
    return [first, second, *paddle.grad((second * y).sum(), [x, w])]


@pytest.mark.parametrize("depth", [1, 2])
def test_three_orders(depth: int) -> None:
    same(derivatives(False), derivatives(True, depth=depth))


def test_of_some_inputs_only() -> None:
    x, w = values()
    y = recompute(block, x, w).sum()
    z = block(x, w).sum()
    same(paddle.grad(y, [w]), paddle.grad(z, [w]))
    same(paddle.grad(y, [x]), paddle.grad(z, [x]))
    same(paddle.grad(y, [x, w]), paddle.grad(z, [x, w]))


def test_a_gradient_inside() -> None:
    def force(x: Any) -> Any:
        energy = (paddle.sin(x) * x * x).sum()
        (g,) = paddle.grad(energy, x, create_graph=True)
        return g * paddle.cos(x)

    grads = []
    for call in (force, lambda x: recompute(force, x), lambda x: recompute(recompute, force, x)):
        x = leaf([0.3, 0.7])
        y = call(x)
        (y * y).sum().backward()
        grads.append([y, x.grad])
    same(grads[0], grads[1])
    same(grads[0], grads[2])


def test_forward_mode() -> None:
    x, w = values()
    v = paddle.ones_like(x)
    plain = paddle.autograd.jvp(lambda x: block(x, w), x, v)
    again = paddle.autograd.jvp(lambda x: recompute(block, x, w), x, v)
    same(plain, again)
    plain = paddle.autograd.vjp(lambda x: block(x, w), x, v)
    again = paddle.autograd.vjp(lambda x: recompute(block, x, w), x, v)
    same(plain, again)


def test_forward_over_reverse_inside() -> None:
    def gradient(x: Any) -> Any:
        return paddle.autograd.vjp(lambda x: (paddle.sin(x) * x).sum(), x)[1]

    x = leaf([0.3, 0.7])
    v = paddle.to_tensor([1.0, 2.0], dtype="float64")
    same(
        paddle.autograd.jvp(gradient, x, v),
        paddle.autograd.jvp(lambda x: recompute(gradient, x), x, v),
    )


def test_hooks_and_retained_gradients() -> None:
    seen: list[Any] = []

    def run(call: Any) -> list[Any]:
        x, w = values()
        h = call(x, w)
        h.retain_grads()
        h.register_hook(lambda g: seen.append(g.numpy().copy()))
        h.register_hook(lambda g: g * 2.0)
        (h * h).sum().backward()
        return [x.grad, w.grad, h.grad]

    same(run(block), run(lambda x, w: recompute(block, x, w)))
    np.testing.assert_array_equal(seen[0], seen[1])


def test_a_layer_of_the_users_inside() -> None:
    grads = []
    for call in (lambda f, x: f(x), recompute):
        x = leaf([0.3, 0.7])
        y = call(lambda x: paddle.sin(Cube.apply(paddle.exp(x))), x)
        (g,) = paddle.grad(y.sum(), x, create_graph=True)
        (g * g).sum().backward()
        grads.append([g, x.grad])
    same(*grads)


# --- arguments and results


def test_nested_arguments_and_results() -> None:
    seen = []

    def function(pair: Any, *, table: Any, scale: float, mask: Any, label: str) -> Any:
        seen.append((type(pair), type(table["w"]).__name__, label, mask.tolist()))
        a, (b, c) = pair
        h = paddle.exp(a * b) * table["w"] * scale * paddle.to_tensor(mask)
        mask[:] = 0.0
        return {"h": h, "n": 3, "parts": [h * c, c]}

    x, y = leaf([1.0, 2.0]), leaf([0.5, 0.25])
    w = paddle.create_parameter([2], "float64")
    mask = np.array([1.0, 1.0])
    out = recompute(
        function, [x, (y, paddle.ones([2], "float64"))], table={"w": w}, scale=2.0, mask=mask,
        label="a",
    )  # fmt: skip
    assert out["n"] == 3
    assert mask.tolist() == [0.0, 0.0]
    (out["h"] + out["parts"][0]).sum().backward()
    assert seen[0] == seen[1] == (list, "Parameter", "a", [1.0, 1.0])
    np.testing.assert_allclose(
        x.grad.numpy(), 4 * np.exp(x.numpy() * y.numpy()) * w.numpy() * y.numpy()
    )


def test_arguments_keep_their_values() -> None:
    for replace in (
        lambda x: x.set_value(np.array([9.0, 9.0])),
        lambda x: paddle.no_grad()(x.add_)(paddle.ones([2], "float64")),
    ):
        x = leaf([0.5, 1.0])
        y = recompute(lambda x: paddle.exp(x * x), x)
        replace(x)
        y.sum().backward()
        a = np.array([0.5, 1.0])
        np.testing.assert_allclose(x.grad.numpy(), np.exp(a * a) * 2 * a)


def test_a_function_that_writes_to_its_argument() -> None:
    def function(h: Any) -> Any:
        h.add_(paddle.ones([2], "float64"))
        return paddle.exp(h * h)

    x = leaf([0.5, 1.0])
    h = x * 1.0
    y = recompute(function, h)
    assert h.tolist() == [1.5, 2.0]
    y.sum().backward()
    a = np.array([1.5, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), np.exp(a * a) * 2 * a)


def test_an_argument_of_integers_and_one_that_needs_no_gradient() -> None:
    x, index = leaf([0.5, 1.0]), paddle.to_tensor([1, 0])
    y = recompute(
        lambda x, i, c: paddle.gather(x * x, i) * c, x, index, paddle.ones([2], "float64")
    )
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]
    stopped = recompute(lambda x: paddle.exp(x), x.detach())
    assert stopped.stop_gradient


def test_nothing_needs_a_gradient_or_nothing_is_recorded() -> None:
    x = leaf([0.5])
    with paddle.no_grad():
        y = recompute(lambda x: paddle.exp(x), x)
    assert y.stop_gradient
    assert y._node is None


def test_a_backward_pass_under_no_grad() -> None:
    x = leaf([0.5])
    y = recompute(lambda x: paddle.exp(x * x), x)
    with paddle.no_grad():
        y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(0.25))
    x.clear_grad(False)
    y = recompute(lambda x: paddle.exp(x * x), x)
    with paddle.inference_mode():
        y.backward()
        assert not paddle.is_grad_enabled()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(0.25))


def test_no_grad_inside() -> None:
    def function(x: Any) -> Any:
        with paddle.no_grad():
            c = paddle.exp(x)
        return paddle.sin(c * x)

    x = leaf([0.5])
    recompute(function, x).backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(np.exp(0.5) * 0.5) * np.exp(0.5))


# --- random numbers


def noisy(x: Any) -> Any:
    return F.dropout(paddle.exp(x), 0.5) * paddle.rand(x.shape, "float64")


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_the_second_run_draws_what_the_first_drew(nested: bool, own: bool) -> None:
    def outer(x: Any) -> Any:
        return recompute(noisy, recompute(noisy, x) * paddle.rand(x.shape, "float64"))

    def plain(x: Any) -> Any:
        return noisy(noisy(x) * paddle.rand(x.shape, "float64"))

    results = []
    for call in (plain, (lambda x: recompute(outer, x)) if nested else outer):
        paddle.seed(3)
        x = leaf(np.linspace(0, 1, 50))
        with own_generator(np.random.default_rng(5) if own else None):
            y = call(x)
        paddle.rand([3])
        y.sum().backward()
        results.append([y, x.grad, paddle.rand([4])])  # and the generator goes on as before
    same(*results)


def test_a_function_that_seeds() -> None:
    def function(x: Any) -> Any:
        paddle.seed(11)
        return paddle.exp(x) * paddle.rand(x.shape, "float64")

    x = leaf([0.5, 1.0])
    y = recompute(function, x)
    paddle.seed(4)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.numpy())
    after = paddle.rand([3])
    paddle.seed(4)
    same([after], [paddle.rand([3])])


def test_without_the_state_other_numbers_are_noticed() -> None:
    x = leaf(np.linspace(0, 1, 50))
    y = recompute(noisy, x, preserve_rng_state=False)
    with pytest.raises(RecomputeError, match="preserve_rng_state=True"):
        y.sum().backward()
    assert x.grad is None
    y = recompute(noisy, x, preserve_rng_state=False, determinism_check="none")
    y.sum().backward()
    assert x.grad is not None


def test_numpys_own_random_numbers_are_noticed() -> None:
    rng = np.random.default_rng(0)

    def function(x: Any) -> Any:
        return paddle.exp(x) * paddle.to_tensor(rng.random(50))

    x = leaf(np.linspace(0, 1, 50))
    with pytest.raises(RecomputeError, match="other elements than the first time"):
        recompute(function, x).sum().backward()


# --- what has changed in between


@pytest.mark.parametrize("change", ["set_value", "in place", "optimizer", "nested"])
def test_a_parameter_that_has_changed_is_an_error(change: str) -> None:
    x, w = values()

    def function(x: Any) -> Any:
        return paddle.tanh(x @ w)

    y = recompute(recompute, function, x) if change == "nested" else recompute(function, x)
    if change in ("set_value", "nested"):
        w.set_value(w.numpy() * (1 + 1e-12))
    elif change == "in place":
        with paddle.no_grad():
            w.add_(paddle.full([4, 4], 1e-12, "float64"))
    else:
        w.grad = paddle.full([4, 4], 1e-6, "float64")
        paddle.optimizer.SGD(1e-6, parameters=[w]).step()
        w.clear_grad(False)
    with pytest.raises(RecomputeError, match="has been given other values since") as caught:
        y.sum().backward()
    text = str(caught.value)
    assert text.count("test_recompute.py:") >= 3  # the call, the pass, and what reads it
    assert "hand the tensor to recompute as an argument" in text
    assert x.grad is None
    assert w.grad is None


def test_one_that_was_handed_over_may_change() -> None:
    x, w = values()
    plain = paddle.grad(block(x, w).sum(), [x, w])
    y = recompute(block, x, w)
    w.set_value(w.numpy() * 2)
    same(plain, paddle.grad(y.sum(), [x, w]))


def test_one_that_has_the_same_values_again_is_no_error() -> None:
    x, w = values()
    y = recompute(lambda x: paddle.tanh(x @ w), x)
    w.set_value(w.numpy().copy())
    y.sum().backward()
    assert x.grad is not None


def test_rows_of_a_table_are_not_written_in_place() -> None:
    table = leaf(RNG.standard_normal((6, 3)))
    index = paddle.to_tensor([1, 2])
    y = recompute(lambda i: paddle.exp(F.embedding(i, table)), index)
    F.embedding(index, table, sparse=True).sum().backward()
    paddle.optimizer.SGD(1e-6, parameters=[table]).step()
    with pytest.raises(RecomputeError, match="given other values since"):
        y.sum().backward()


@pytest.mark.parametrize("what", ["more", "fewer", "shape", "dtype", "swallowed"])
def test_a_function_that_does_something_else(what: str) -> None:
    first = True

    def function(x: Any) -> Any:
        nonlocal first
        then, first = first, False
        y = paddle.exp(x)
        if what == "shape" and not then:
            y = paddle.exp(paddle.concat([x, x]))
        if what == "dtype":
            y = paddle.sin(x.astype("float64" if then else "float32"))
        if what == "swallowed":
            try:
                y = paddle.sin(x if then else x[:1])
            except RecomputeError:
                y = paddle.sin(x)
        z = paddle.sin(y)
        if (what == "more" and not then) or (what == "fewer" and then):
            paddle.exp(y)
        return z

    x = leaf([0.5, 1.0])
    y = recompute(function, x)
    with pytest.raises(RecomputeError, match="must do the same each time it runs") as caught:
        y.sum().backward()
    assert "test_recompute.py" in str(caught.value)
    assert x.grad is None


def test_an_exception_in_the_second_run() -> None:
    broken = False

    def function(x: Any) -> Any:
        y = paddle.exp(x * x)
        if broken:
            raise OSError("no file")
        return y

    x = leaf([0.5])
    y = recompute(function, x)
    broken = True
    with pytest.raises(OSError, match="no file") as caught:
        y.backward()
    assert "while recompute ran" in caught.value.__notes__[0]
    assert x.grad is None
    assert paddle.is_grad_enabled()
    broken = False
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(0.25))


def test_an_exception_in_the_first_run_leaves_the_modes() -> None:
    def function(x: Any) -> Any:
        raise OSError("no file")

    x = leaf([0.5])
    with pytest.raises(OSError, match="no file"):
        recompute(function, x)
    y = paddle.exp(x)
    assert isinstance(y._node.saved, tuple)


# --- with other things


def test_inside_saved_tensors_hooks_the_arguments_are_packed() -> None:
    packed: list[Any] = []

    def pack(t: Any) -> Any:
        packed.append(t)
        return t

    x, w = values()
    plain = paddle.grad(block(x, w).sum(), [x, w])
    with saved_tensors_hooks(pack, lambda t: t):
        y = recompute(block, x, w)
    assert len(packed) == 2
    same(plain, paddle.grad(y.sum(), [x, w]))


def test_hooks_that_lose_digits_are_no_other_function() -> None:
    x = leaf(np.linspace(0.1, 1, 20))
    with saved_tensors_hooks(lambda t: t.astype("float16"), lambda t: t.astype("float64")):
        y = recompute(lambda x: paddle.exp(x * x), x)
    y.sum().backward()
    a = x.numpy()
    np.testing.assert_allclose(x.grad.numpy(), np.exp(a * a) * 2 * a, rtol=1e-2)


def test_hooks_inside_apply_inside() -> None:
    packed: list[Any] = []

    def function(x: Any) -> Any:
        with saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
            y = paddle.exp(x)
        return paddle.sin(y)

    x = leaf([0.5])
    y = recompute(function, x)
    assert len(packed) == 1
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos(np.exp(0.5)) * np.exp(0.5))


def test_a_pass_in_another_thread() -> None:
    x, w = values()
    plain = paddle.grad(block(x, w).sum(), [x, w])
    y = recompute(block, x, w).sum()
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(paddle.grad(y, [x, w])))
    thread.start()
    thread.join()
    same(plain, found[0])


def test_passes_in_two_threads_at_once() -> None:
    x, w = values()

    def chain(x: Any) -> Any:
        for _ in range(3):
            x = recompute(block, x, w)
        return x

    y = recompute(chain, x).sum()
    plain = paddle.grad(y, [x, w])
    found: list[Any] = []
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        for _ in range(5):
            found.append(paddle.grad(y, [x, w]))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 20
    for grads in found:
        same(plain, grads)


def test_one_line_of_names() -> None:
    from autograd_engine.distributed.fleet.utils import recompute as there

    assert there is recompute is checkpoint is paddle.distributed.fleet.utils.recompute
    x = leaf([0.5])
    checkpoint(paddle.exp, x, use_reentrant=False).backward()
    assert x.grad is not None


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="takes a function first, got Tensor"):
        recompute(leaf([1.0]))
    with pytest.raises(ArgumentError, match="preserve_rng_state must be True or False"):
        recompute(paddle.exp, leaf([1.0]), preserve_rng_state=1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="'default' or 'none'"):
        recompute(paddle.exp, leaf([1.0]), determinism_check="all")


# --- in sequence


@pytest.mark.parametrize("ctx", [None, 1, 2, 4, 9, {"segments": 3, "preserve_rng_state": True}])
def test_in_sequence(ctx: Any) -> None:
    functions = [paddle.sin, paddle.exp, paddle.tanh, paddle.square, paddle.cos]
    x, y = leaf([0.3, 0.6]), leaf([0.3, 0.6])
    recompute_sequential(ctx, functions, x).sum().backward()
    h = y
    for f in functions:
        h = f(h)
    h.sum().backward()
    same([x.grad], [y.grad])


def test_in_sequence_tuples_are_arguments() -> None:
    x = leaf([0.3, 0.6])
    y = recompute_sequential(
        3, [lambda a, *, k: (a * k, a), lambda a, b: a * b, paddle.exp], x, k=2.0
    )
    np.testing.assert_allclose(y.numpy(), np.exp(2 * x.numpy() ** 2))
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), y.numpy() * 4 * x.numpy())


@pytest.mark.parametrize(
    ("ctx", "functions", "hint"),
    [
        ({"parts": 2}, [paddle.sin], "segments and preserve_rng_state"),
        (0, [paddle.sin], "an int of 1 or more"),
        (1, [], "give one at least"),
    ],
)
def test_in_sequence_bad_arguments(ctx: Any, functions: Any, hint: str) -> None:
    with pytest.raises(ArgumentError, match=hint):
        recompute_sequential(ctx, functions, leaf([1.0]))


# --- memory


def peak(function: Any) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        function()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


SIZE = 100_000
LAYERS = 64


def deep(x: Any, count: int = LAYERS) -> Any:
    for _ in range(count):
        x = paddle.sin(x)
    return x


def test_segments_need_the_square_root() -> None:
    x = paddle.to_tensor(np.linspace(0, 1, SIZE), stop_gradient=False)
    array = x.numpy().nbytes

    def train(call: Any) -> int:
        def step() -> None:
            call(x).sum().backward()
            x.clear_grad(False)

        return peak(step)

    def segments(x: Any) -> Any:
        for _ in range(8):
            x = recompute(deep, x, 8)
        return x

    def nested(x: Any) -> Any:
        for _ in range(4):
            x = recompute(lambda x: deep_segments(x), x)
        return x

    def deep_segments(x: Any) -> Any:
        for _ in range(4):
            x = recompute(deep, x, 4)
        return x

    kept = train(deep)
    assert kept > LAYERS * array
    assert train(segments) < 21 * array
    assert train(nested) < 16 * array


def test_the_first_run_keeps_its_arguments_only() -> None:
    x = paddle.to_tensor(np.linspace(0, 1, SIZE), stop_gradient=False)
    array = x.numpy().nbytes
    made: list[Any] = []
    assert peak(lambda: made.append(recompute(deep, x))) < 4 * array


def test_values_go_when_they_have_been_used() -> None:
    x = leaf(np.ones(4))
    inside: list[Any] = []

    def function(x: Any) -> Any:
        y = paddle.exp(x)
        inside.append(weakref.ref(y._data))
        return paddle.sin(y)

    z = recompute(function, x)
    assert inside[0]() is None
    z.sum().backward()
    assert inside[1]() is None


def test_a_graph_dies_without_the_collector() -> None:
    gc.disable()
    try:
        x = leaf(np.ones(4))
        h = paddle.exp(x)
        gone = weakref.ref(h._data)
        y = recompute(lambda h: recompute(paddle.sin, h), h)
        del h
        y.sum().backward()
        del y
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.thorough
def test_a_long_chain_of_segments_is_freed() -> None:
    # A thread has less of a stack than the process: fewer segments overflow it.
    script = (
        "import threading, numpy as np, autograd_engine as paddle\n"
        "def work():\n"
        "    for run in range(2):\n"
        "        x = paddle.to_tensor(np.ones(1), stop_gradient=False)\n"
        "        h = x\n"
        "        for _ in range(8_000): h = paddle.autograd.recompute(paddle.sin, h)\n"
        "        if run: h.backward()\n"
        "        del h\n"
        "    print(x.grad.tolist())\n"
        "threading.stack_size(1 << 20)\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start()\n"
        "thread.join()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
