"""One stream of random numbers: the same in every mode, saved and gone on with."""

from __future__ import annotations

import copy
import json
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import recompute
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain
from autograd_engine.errors import ArgumentError, ModeError

nn, F = paddle.nn, paddle.nn.functional

BACKENDS = [
    "numpy",
    pytest.param(
        "native",
        marks=pytest.mark.skipif(find_toolchain() is None, reason="there is no C compiler"),
    ),
]


# --- the stream is NumPy's


def test_the_stream_is_that_of_numpys_generator() -> None:
    """What the page on training says each function draws, in this order."""
    paddle.seed(42)
    rng = np.random.default_rng(42)
    drawn = [
        paddle.uniform([2, 3], "float64", -1.0, 1.0),
        paddle.normal(1.0, 2.0, [4]),
        paddle.randint(0, 10, [5]),
        paddle.randperm(6),
        F.dropout(paddle.ones([8]), 0.25),
        paddle.rand([2], "float32"),
        paddle.bernoulli(paddle.full([4], 0.5)),
    ]
    expected = [
        rng.uniform(-1.0, 1.0, (2, 3)),
        rng.normal(1.0, 2.0, 4).astype("float32"),
        rng.integers(0, 10, 5),
        rng.permutation(6),
        np.where(rng.random(8, dtype=np.float32) < 0.25, 0.0, np.float32(1 / 0.75)),
        rng.random(2).astype("float32"),
        np.where(rng.random(4) < 0.5, 1.0, 0.0),
    ]
    for a, b in zip(drawn, expected, strict=True):
        np.testing.assert_array_equal(a.numpy(), b)


def test_a_dtype_does_not_change_what_is_drawn_later() -> None:
    after = []
    for dtype in ("float16", "float32", "float64"):
        paddle.seed(1)
        paddle.randn([3], dtype)
        paddle.uniform([3], dtype)
        after.append(paddle.rand([2], "float64").tolist())
    assert after[0] == after[1] == after[2]


def test_layers_draw_in_the_order_in_which_they_are_made() -> None:
    paddle.seed(3)
    first = [p.numpy() for p in nn.Linear(2, 3).parameters() + nn.Linear(3, 2).parameters()]
    paddle.seed(3)
    nn.Linear(2, 3)
    nn.Dropout(0.5)  # has nothing to draw
    nn.LayerNorm(4)
    same = nn.Linear(3, 2)
    paddle.seed(3)
    nn.Linear(2, 3)
    nn.Linear(1, 1)
    other = nn.Linear(3, 2)
    assert same.weight.numpy().tobytes() == first[2].tobytes()
    assert other.weight.numpy().tobytes() != first[2].tobytes()


# --- in every mode


class Net(nn.Layer):
    """Every random initializer, dropouts of several kinds, and draws of the function's own."""

    def __init__(self) -> None:
        super().__init__()
        I = nn.initializer  # noqa: E741, N806 - as users name it
        self.conv = nn.Conv2D(2, 3, 3, weight_attr=I.KaimingNormal(), bias_attr=I.Uniform())
        self.norm = nn.BatchNorm2D(3)
        self.inner = nn.Sequential(
            nn.Linear(12, 8, I.Orthogonal(), I.TruncatedNormal(0.0, 0.1)), nn.Dropout(0.3)
        )
        self.table = nn.Embedding(5, 8, weight_attr=I.Normal(0.0, 0.2))
        self.out = nn.Linear(8, 4, I.XavierNormal(), I.Constant(0.1))
        self.channels, self.alpha = nn.Dropout2D(0.5), nn.AlphaDropout(0.2)

    def forward(self, x: Any, ids: Any) -> Any:
        y = self.channels(self.norm(self.conv(x)))
        y = self.inner(paddle.flatten(y, 1)) + self.table(ids)
        y = self.alpha(y) + 0.1 * paddle.randn([3, 8])
        return self.out(F.dropout(y, 0.1, axis=1, training=self.training))


def data(k: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(100 + k)
    return rng.standard_normal((3, 2, 4, 4)).astype("float32"), rng.integers(0, 5, 3)


def train(net: Any, call: Callable[..., Any], steps: int) -> list[bytes]:
    sgd = paddle.optimizer.Momentum(0.05, parameters=net.parameters())
    outputs = []
    for k in range(steps):
        y = call(*map(paddle.to_tensor, data(k)))
        outputs.append(y.numpy().tobytes())
        (y * y).mean().backward()
        sgd.step()
        sgd.clear_grad()
    return outputs


def eager(steps: int) -> tuple[Any, list[bytes]]:
    paddle.seed(77)
    net = Net()
    return net, train(net, net, steps)


def state_of(net: Any) -> dict[str, bytes]:
    return {k: np.asarray(v).tobytes() for k, v in net.state_dict().items()}


def test_a_program_draws_what_eager_mode_draws() -> None:
    paddle.seed(77)
    fresh = state_of(Net())
    net, outputs = eager(3)
    paddle.seed(77)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        made = Net()
        x = paddle.static.data("x", [3, 2, 4, 4], "float32")
        ids = paddle.static.data("ids", [3], "int64")
        y = made(x, ids)
        paddle.optimizer.Momentum(0.05).minimize((y * y).mean())
    exe = paddle.static.Executor()
    exe.run(startup)
    assert state_of(made) == fresh
    for k, expected in enumerate(outputs):
        (found,) = exe.run(main, dict(zip(("x", "ids"), data(k), strict=True)), [y])
        assert found.tobytes() == expected
    assert state_of(made) == state_of(net)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_traced_function_draws_what_eager_mode_draws(backend: str) -> None:
    """Compiled arithmetic may round otherwise, so there it is masks and draws that are compared."""
    net, outputs = eager(3)
    paddle.seed(77)
    other = Net()
    call = paddle.jit.to_static(lambda x, ids: other(x, ids), backend=backend)
    found = train(other, call, 3)
    if backend == "numpy":
        assert found == outputs
        assert state_of(other) == state_of(net)
    for a, b in zip(found, outputs, strict=True):
        np.testing.assert_allclose(
            np.frombuffer(a, "float32"), np.frombuffer(b, "float32"), rtol=1e-4, atol=1e-5
        )
    assert paddle.rand([2]).tolist() == after_eager(3)


def after_eager(steps: int) -> list[float]:
    eager(steps)
    return paddle.rand([2]).tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_masks_are_those_of_eager_mode_in_a_traced_function(backend: str) -> None:
    def masks(x: Any) -> Any:
        return (
            F.dropout(x, 0.3),
            F.dropout2d(x.reshape([2, 4, 2, 4]), 0.5),
            F.alpha_dropout(x, 0.4),
            F.rrelu(-x, training=True),
            F.gumbel_softmax(x),
            paddle.randint(0, 9, [7]),
        )

    traced = paddle.jit.to_static(masks, backend=backend)
    x = paddle.ones([8, 8])
    paddle.seed(9)
    expected = [masks(x), masks(x)]
    paddle.seed(9)
    for want in expected:
        for k, (a, b) in enumerate(zip(traced(x), want, strict=True)):
            if k == 4:  # an exponential that the compiled loop rounds its own way
                np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5)
            else:
                np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_a_gradient_goes_through_the_mask_of_its_forward_pass() -> None:
    x = paddle.ones([100], "float64")
    x.stop_gradient = False
    y = F.dropout(x, 0.5)
    paddle.rand([17])  # what is drawn in between has nothing to do with it
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), y.numpy())


def test_a_second_run_of_recompute_draws_what_the_first_drew() -> None:
    x = paddle.ones([50], "float64")
    x.stop_gradient = False
    seen = []

    def function(x: Any) -> Any:
        seen.append(paddle.get_rng_state())
        y = F.dropout(x, 0.5)
        return y * y

    y = recompute(function, x)
    paddle.rand([3])
    before = paddle.get_rng_state()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2.0 * y.numpy())
    assert len(seen) == 2
    assert seen[0] == seen[1]
    assert paddle.get_rng_state() == before


def test_a_program_with_a_seed_has_a_stream_of_its_own() -> None:
    def built(seed: int) -> tuple[Any, Any]:
        main, startup = paddle.static.Program(), paddle.static.Program()
        main.random_seed = startup.random_seed = seed
        with paddle.static.program_guard(main, startup):
            w = paddle.create_parameter([4], "float64")
            return startup, (main, [w, paddle.rand([3], "float64")])

    exe = paddle.static.Executor()
    runs = []
    for outside in (1, 2):
        paddle.seed(outside)
        expected = paddle.rand([1]).tolist()
        paddle.seed(outside)
        startup, (main, fetch) = built(6)
        exe.run(startup)
        runs.append([exe.run(main, fetch_list=fetch) for _ in range(2)])
        assert paddle.rand([1]).tolist() == expected  # the shared stream was not drawn from
    np.testing.assert_equal(runs[0], runs[1])
    rng = np.random.default_rng(6)
    np.testing.assert_array_equal(runs[0][0][1], rng.random(3))
    np.testing.assert_array_equal(runs[0][1][1], rng.random(3))
    bound = math.sqrt(6.0 / 8.0)
    rng = np.random.default_rng(6)
    np.testing.assert_array_equal(runs[0][0][0], rng.uniform(-bound, bound, 4))


# --- its state


def test_the_state_is_plain_and_goes_through_json() -> None:
    paddle.seed(2**70)
    F.dropout(paddle.ones([3]), 0.5)  # half of a draw of 64 bits is left over
    state = paddle.get_rng_state()
    assert isinstance(state, list)
    (only,) = state
    assert {type(v) for v in only.values()} == {int, str}
    assert only["has_uint32"] == 1
    expected = [F.dropout(paddle.ones([9]), 0.5).tolist(), paddle.randn([3]).tolist()]
    paddle.seed(0)
    paddle.set_rng_state(json.loads(json.dumps(state)))
    assert paddle.Generator().initial_seed() == 2**70
    assert [F.dropout(paddle.ones([9]), 0.5).tolist(), paddle.randn([3]).tolist()] == expected


def test_training_that_is_resumed_is_training_that_was_not_interrupted() -> None:
    whole, outputs = eager(4)
    paddle.seed(77)
    with paddle.unique_name.guard():
        net = Net()
    found: list[bytes] = []
    sgd = paddle.optimizer.Momentum(0.05, parameters=net.parameters())

    def steps(net: Any, sgd: Any, ks: range) -> None:
        for k in ks:
            y = net(*map(paddle.to_tensor, data(k)))
            found.append(y.numpy().tobytes())
            (y * y).mean().backward()
            sgd.step()
            sgd.clear_grad()

    steps(net, sgd, range(2))
    saved = copy.deepcopy(net.state_dict()), sgd.state_dict(), paddle.get_rng_state()
    with paddle.unique_name.guard():
        paddle.seed(123)
        again = Net()
    other = paddle.optimizer.Momentum(0.05, parameters=again.parameters())
    again.set_state_dict(saved[0])
    other.set_state_dict(saved[1])
    paddle.set_rng_state(saved[2])
    steps(again, other, range(2, 4))
    assert found == outputs
    assert state_of(again) == state_of(whole)


def test_the_state_of_a_run_that_was_not_seeded() -> None:
    handle = paddle.Generator()
    seed = handle.seed()
    assert handle.initial_seed() == seed
    drawn = paddle.rand([3]).tolist()
    assert paddle.seed(seed) is not None
    assert paddle.rand([3]).tolist() == drawn


def test_handles_are_on_one_stream() -> None:
    a = paddle.seed(4)
    b = paddle.Generator("cpu")
    assert isinstance(a, paddle.Generator)
    assert repr(b) == "Generator(seed=4)"
    state = b.get_state()
    number = a.random()
    assert 0 <= number < 2**64
    assert number == int(np.random.default_rng(4).integers(0, 2**64, dtype="uint64"))
    b.set_state(state)
    assert b.random() == number
    assert b.manual_seed(4) is b
    assert a.random() == number


def test_the_state_is_that_of_all_threads() -> None:
    paddle.seed(6)
    expected = paddle.rand([1]).item()
    paddle.seed(6)
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(paddle.rand([1]).item()))
    thread.start()
    thread.join()
    assert found == [expected]
    assert paddle.rand([1]).item() != expected


def test_threads_draw_each_number_once() -> None:
    paddle.seed(8)
    everything = sorted(paddle.rand([400], "float64").tolist())
    paddle.seed(8)
    drawn: list[float] = []
    lock = threading.Lock()

    def draw() -> None:
        for _ in range(50):
            values = paddle.rand([2], "float64").tolist()
            with lock:
                drawn.extend(values)

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(drawn) == everything


# --- what is refused

STATE = {
    "generator": "PCG64",
    "seed": "1",
    "state": "0x5",
    "increment": "0x7",
    "has_uint32": 0,
    "uinteger": 0,
}
BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: paddle.seed(-1), ArgumentError, "non-negative int, got -1"),
    (lambda: paddle.seed(1.5), ArgumentError, "non-negative int, got 1.5"),
    (lambda: paddle.seed(True), ArgumentError, "non-negative int, got True"),
    (lambda: paddle.seed(None), ArgumentError, "non-negative int, got None"),
    (lambda: paddle.Generator("gpu"), ArgumentError, "the one device is 'cpu'"),
    (lambda: paddle.get_rng_state("gpu:0"), ArgumentError, "the one device is 'cpu'"),
    (lambda: paddle.set_rng_state(None), ArgumentError, "one state .* got NoneType"),
    (lambda: paddle.set_rng_state([]), ArgumentError, "got 0 of them"),
    (lambda: paddle.set_rng_state(STATE), ArgumentError, "the list of one state .* got dict"),
    (lambda: paddle.set_rng_state([3]), TypeError, "is a dict.* got int"),
    (lambda: paddle.set_rng_state([{}]), ArgumentError, "it has nothing in the place of"),
    (
        lambda: paddle.set_rng_state([{**STATE, "generator": "MT19937"}]),
        ArgumentError,
        "with generator='PCG64'",
    ),
    (lambda: paddle.set_rng_state([{**STATE, "more": 1}]), ArgumentError, "in the place of"),
    (lambda: paddle.set_rng_state([{**STATE, "state": "0xg"}]), ArgumentError, "state is '0xg'"),
    (lambda: paddle.set_rng_state([{**STATE, "state": hex(2**128)}]), ArgumentError, "state is"),
    (lambda: paddle.set_rng_state([{**STATE, "seed": "-1"}]), ArgumentError, "seed is '-1'"),
    (lambda: paddle.set_rng_state([{**STATE, "increment": "0x8"}]), ArgumentError, "is even"),
    (lambda: paddle.set_rng_state([{**STATE, "has_uint32": 2}]), ArgumentError, "has_uint32 is 2"),
    (lambda: paddle.set_rng_state([{**STATE, "uinteger": True}]), ArgumentError, "is True"),
    (lambda: paddle.set_rng_state([{**STATE, "uinteger": "1"}]), ArgumentError, "is '1'"),
]


@pytest.mark.parametrize(("call", "error", "hint"), BAD)
def test_bad_input(call: Callable[[], Any], error: type[Exception], hint: str) -> None:
    before = paddle.get_rng_state()
    with pytest.raises(error, match=hint):
        call()
    assert paddle.get_rng_state() == before


@pytest.mark.parametrize(
    "call",
    [
        lambda: paddle.seed(3),
        paddle.get_rng_state,
        lambda: paddle.set_rng_state([STATE]),
        lambda: paddle.Generator().random(),
        lambda: paddle.Generator().seed(),
    ],
)
def test_a_traced_function_does_not_move_the_stream(call: Callable[[], Any]) -> None:
    def function(x: Any) -> Any:
        call()
        return x + paddle.rand([2])

    before = paddle.get_rng_state()
    with pytest.raises(ModeError, match="would happen once, while the function is traced"):
        paddle.jit.to_static(function)(paddle.ones([2]))
    assert paddle.get_rng_state() == before
    function(paddle.ones([2]))
