"""Recurrent layers: one operation over the sequence gives what the cells give step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import nn
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.nn import functional as F  # noqa: N812

BATCH, TIME, IN, HIDDEN = 3, 4, 2, 3
LENGTHS = np.asarray([4, 0, 2])
LAYERS = {
    "lstm": (nn.LSTM, nn.LSTMCell, {}),
    "gru": (nn.GRU, nn.GRUCell, {}),
    "tanh": (nn.SimpleRNN, nn.SimpleRNNCell, {"activation": "tanh"}),
    "relu": (nn.SimpleRNN, nn.SimpleRNNCell, {"activation": "relu"}),
}


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    paddle.seed(5)
    paddle.set_default_dtype("float64")
    yield
    paddle.set_default_dtype("float32")


def made(seed: int, *shape: int) -> Any:
    values = np.random.default_rng(seed).standard_normal(shape)
    return paddle.to_tensor(values, stop_gradient=False)


def layer_of(kind: str, **options: Any) -> Any:
    layer, _, more = LAYERS[kind]
    return layer(IN, HIDDEN, **more, **options)


def starts(kind: str, places: int) -> list[Any]:
    return [made(30 + k, places, BATCH, HIDDEN) for k in range(2 if kind == "lstm" else 1)]


def given(kind: str, states: list[Any]) -> Any:
    """States as the layer takes them."""
    return tuple(states) if kind == "lstm" else states[0]


def stepwise(kind: str, layer: Any, x: Any, states: list[Any] | None, lengths: Any) -> list[Any]:
    """Outputs and final states of a layer, its cells called one step after another."""
    finals = []
    for k in range(layer.num_layers):
        outputs = []
        for d, cell in enumerate(layer._cells(k)):
            place = k * layer.num_directions + d
            start = None if states is None else given(kind, [s[place] for s in states])
            if start is None:
                start = cell.get_initial_states(x)
            out, final = F.rnn(
                lambda a, s, cell=cell: cell(a, s), x, start, False, bool(d), lengths
            )
            outputs.append(out)
            finals.append(final if kind == "lstm" else (final,))
        x = outputs[0] if len(outputs) == 1 else paddle.concat(outputs, axis=-1)
    return [x, *(paddle.stack(list(parts)) for parts in zip(*finals, strict=True))]


def results(found: Any) -> list[Any]:
    outputs, final = found
    return [outputs, *(final if isinstance(final, tuple) else (final,))]


def loss_of(values: list[Any]) -> Any:
    return sum((paddle.sin(v * (k + 1.5))).sum() for k, v in enumerate(values))


def close(found: list[Any], expected: list[Any], tolerance: float = 1e-11) -> None:
    assert len(found) == len(expected)
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f.numpy(), e.numpy(), rtol=tolerance, atol=tolerance)


CASES = [
    pytest.param(kind, direction, lengths, with_states, id=f"{kind}-{direction}-{lengths}-{s}")
    for kind in LAYERS
    for direction in ("forward", "bidirect")
    for lengths in (False, True)
    for with_states, s in ((False, "zeros"), (True, "states"))
]


@pytest.mark.parametrize(("kind", "direction", "lengths", "with_states"), CASES)
def test_the_operation_is_the_cells_step_by_step(
    kind: str, direction: str, lengths: bool, with_states: bool
) -> None:
    """Values, gradients, and gradients of the gradients."""
    layer = layer_of(kind, num_layers=2, direction=direction)
    x = made(1, BATCH, TIME, IN)
    states = starts(kind, 2 * layer.num_directions) if with_states else None
    ends = paddle.to_tensor(LENGTHS) if lengths else None
    found = results(layer(x, None if states is None else given(kind, states), ends))
    expected = stepwise(kind, layer, x, states, ends)
    close(found, expected)
    wrt = [x, *(states or []), *layer.parameters()]
    first = [
        paddle.grad(loss_of(values), wrt, create_graph=True, allow_unused=True)
        for values in (found, expected)
    ]
    used = [k for k, g in enumerate(first[0]) if g is not None]
    assert used == [k for k, g in enumerate(first[1]) if g is not None]
    first = [[gradients[k] for k in used] for gradients in first]
    close(*first)
    second = [
        paddle.grad(loss_of(gradients), [wrt[k] for k in used], allow_unused=True)
        for gradients in first
    ]
    for f, e in zip(*second, strict=True):
        np.testing.assert_allclose(
            0.0 if f is None else f.numpy(), 0.0 if e is None else e.numpy(), rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("kind", LAYERS)
def test_a_tangent_is_the_difference_along_it(kind: str) -> None:
    layer, x, v = layer_of(kind, direction="bidirect"), made(2, 2, 3, IN), made(3, 2, 3, IN)
    _, tangent = paddle.incubate.autograd.jvp(lambda a: layer(a)[0], x, v)
    step = 1e-6
    with paddle.no_grad():
        ahead, behind = layer(x + step * v)[0], layer(x - step * v)[0]
    np.testing.assert_allclose(
        tangent.numpy(), (ahead.numpy() - behind.numpy()) / (2 * step), atol=1e-8
    )


def test_the_gradient_is_a_difference() -> None:
    """Of the whole sum along a direction in everything that moves."""
    layer, x = layer_of("gru", num_layers=2), made(4, 2, 3, IN)
    loss = loss_of(results(layer(x)))
    wrt = [x, *layer.parameters()]
    gradients = paddle.grad(loss, wrt)
    moves = [made(40 + k, *p.shape).numpy() for k, p in enumerate(wrt)]
    slope = sum(float((g.numpy() * m).sum()) for g, m in zip(gradients, moves, strict=True))
    before, step, found = [p.numpy().copy() for p in wrt], 1e-6, []
    for sign in (1.0, -1.0):
        for p, b, m in zip(wrt, before, moves, strict=True):
            p.set_value(b + sign * step * m)
        with paddle.no_grad():
            found.append(loss_of(results(layer(x))).item())
    assert slope == pytest.approx((found[0] - found[1]) / (2 * step), rel=1e-7)


# --- lengths


@pytest.mark.parametrize("kind", LAYERS)
def test_beyond_its_length_a_sequence_is_not_read_and_gives_zeros(kind: str) -> None:
    layer = layer_of(kind, direction="bidirect")
    values = np.random.default_rng(6).standard_normal((BATCH, TIME, IN))
    values[0, 2:], values[2, 1:] = np.nan, np.inf
    x = paddle.to_tensor(values, stop_gradient=False)
    outputs, final = layer(x, sequence_length=paddle.to_tensor([2, 4, 1]))
    final = final[0] if isinstance(final, tuple) else final
    assert not outputs[0, 2:].numpy().any()
    assert not outputs[2, 1:].numpy().any()
    alone, last = layer(x[0:1, :2])
    last = last[0] if isinstance(last, tuple) else last
    np.testing.assert_allclose(outputs[0, :2].numpy(), alone[0].numpy(), rtol=1e-12)
    np.testing.assert_allclose(final[:, 0].numpy(), last[:, 0].numpy(), rtol=1e-12)
    outputs.sum().backward()
    assert np.isfinite(x.grad.numpy()).all()
    assert not x.grad[0, 2:].numpy().any()
    assert all(np.isfinite(p.grad.numpy()).all() for p in layer.parameters())


@pytest.mark.parametrize("lengths", [[4, 0, 2], (4, 0, 2), np.asarray([4, 0, 2], np.int32)])
def test_lengths_may_be_lists_and_arrays(lengths: Any) -> None:
    layer, x = layer_of("gru"), made(7, BATCH, TIME, IN)
    expected = layer(x, None, paddle.to_tensor(LENGTHS))
    close(results(layer(x, None, lengths)), results(expected), 0.0)


def test_a_sequence_without_steps_ends_in_its_initial_states() -> None:
    layer, x, states = layer_of("lstm"), made(8, BATCH, TIME, IN), starts("lstm", 1)
    _, final = layer(x, tuple(states), paddle.to_tensor(LENGTHS))
    for found, start in zip(final, states, strict=True):
        np.testing.assert_array_equal(found[:, 1].numpy(), start[:, 1].numpy())


# --- modes


def program_values(
    layer_made: Callable[[], Any], feeds: dict[str, Any], shapes: dict[str, Any], **backend: Any
) -> list[Any]:
    """Outputs, final states and the gradient of x, by a program."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        paddle.seed(5)
        layer = layer_made()
        x = paddle.static.data("x", shapes["x"], "float64")
        x.stop_gradient = False
        ends = paddle.static.data("ends", shapes["ends"], "int64") if "ends" in feeds else None
        values = results(layer(x, sequence_length=ends))
        gradients = paddle.static.gradients([loss_of(values)], [x, *layer.parameters()])
    exe = paddle.static.Executor(**backend)
    exe.run(startup)
    return list(exe.run(main, feed=feeds, fetch_list=[*values, *gradients]))


def eager_values(layer_made: Callable[[], Any], feeds: dict[str, Any]) -> list[Any]:
    paddle.seed(5)
    layer, x = layer_made(), paddle.to_tensor(feeds["x"], stop_gradient=False)
    values = results(layer(x, sequence_length=feeds.get("ends")))
    gradients = paddle.grad(loss_of(values), [x, *layer.parameters()])
    return [v.numpy() for v in (*values, *gradients)]


@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("kind", LAYERS)
def test_a_program_computes_the_same_bits(kind: str, lengths: bool) -> None:
    """With sizes that are known, and with batch and time that are not."""

    def made_layer() -> Any:
        return layer_of(kind, num_layers=2, direction="bidirect")

    feeds = {"x": made(9, BATCH, TIME, IN).numpy()}
    if lengths:
        feeds["ends"] = LENGTHS
    expected = eager_values(made_layer, feeds)
    for shape, ends in (((BATCH, TIME, IN), (BATCH,)), ((None, None, IN), (None,))):
        found = program_values(made_layer, feeds, {"x": shape, "ends": ends})
        for f, e in zip(found, expected, strict=True):
            np.testing.assert_array_equal(f, e)


@pytest.mark.parametrize("kind", LAYERS)
@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_compiled_programs_agree(kind: str, backend: str) -> None:
    def made_layer() -> Any:
        return layer_of(kind, direction="bidirect")

    feeds = {"x": made(10, BATCH, TIME, IN).numpy(), "ends": LENGTHS}
    expected = eager_values(made_layer, feeds)
    shapes = {"x": (BATCH, TIME, IN), "ends": (BATCH,)}
    found = program_values(made_layer, feeds, shapes, backend=backend)
    for f, e in zip(found, expected, strict=True):
        if backend == "numpy":
            np.testing.assert_array_equal(f, e)
        else:
            np.testing.assert_allclose(f, e, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", LAYERS)
def test_to_static_computes_the_same_bits(kind: str) -> None:
    layer, x = layer_of(kind, num_layers=2), made(11, BATCH, TIME, IN)
    traced = paddle.jit.to_static(lambda a: results(layer(a)))
    wrt = [x, *layer.parameters()]
    found, expected = traced(x), results(layer(x))
    close(list(found), expected, 0.0)
    close(paddle.grad(loss_of(found), wrt), paddle.grad(loss_of(expected), wrt), 0.0)


def test_a_longer_sequence_takes_no_more_operations() -> None:
    counts = []
    for time in (2, 50):
        main = paddle.static.Program()
        with paddle.static.program_guard(main):
            x = paddle.static.data("x", [BATCH, time, IN], "float64")
            x.stop_gradient = False
            outputs, _ = layer_of("lstm", num_layers=2, direction="bidirect")(x)
            paddle.static.gradients([outputs.sum()], [x])
        counts.append(len(main.global_block().ops))
    assert counts[0] == counts[1] < 150


def test_a_projection_needs_the_number_of_steps() -> None:
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [None, None, IN], "float64")
        with pytest.raises(ShapeError, match="known size above 0"):
            nn.LSTM(IN, HIDDEN, proj_size=2)(x)


# --- against PyTorch


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", LAYERS)
def test_pytorch_agrees(kind: str, bidirectional: bool) -> None:
    torch = pytest.importorskip("torch")
    direction = "bidirect" if bidirectional else "forward"
    layer = layer_of(kind, num_layers=2, direction=direction)
    peers = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}
    more = {} if kind in peers else {"nonlinearity": kind}
    peer = peers.get(kind, torch.nn.RNN)(
        IN, HIDDEN, 2, batch_first=True, bidirectional=bidirectional, dtype=torch.float64, **more
    )
    assert {n: tuple(p.shape) for n, p in peer.named_parameters()} == {
        n: tuple(p.shape) for n, p in layer.named_parameters()
    }
    ours = dict(layer.named_parameters())
    with torch.no_grad():
        for name, p in peer.named_parameters():
            p.copy_(torch.from_numpy(ours[name].numpy().copy()))
    x = made(12, BATCH, TIME, IN)
    y = torch.from_numpy(x.numpy().copy()).requires_grad_()
    found = results(layer(x))
    outputs, final = peer(y)
    expected = [outputs, *(final if isinstance(final, tuple) else (final,))]
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f.numpy(), e.detach().numpy(), rtol=1e-11, atol=1e-12)
    loss_of(found).backward()
    sum(torch.sin(v * (k + 1.5)).sum() for k, v in enumerate(expected)).backward()
    np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-10, atol=1e-12)
    for name, p in peer.named_parameters():
        np.testing.assert_allclose(
            ours[name].grad.numpy(), p.grad.numpy(), rtol=1e-10, atol=1e-12, err_msg=name
        )


# --- the layers


def test_parameters_have_the_names_and_shapes_of_checkpoints() -> None:
    layer = nn.LSTM(2, 3, num_layers=2, direction="bidirect")
    shapes = {name: tuple(p.shape) for name, p in layer.named_parameters()}
    assert shapes == {
        f"{name}_l{k}{suffix}": shape
        for k, width in ((0, 2), (1, 6))
        for suffix in ("", "_reverse")
        for name, shape in {
            "weight_ih": (12, width),
            "weight_hh": (12, 3),
            "bias_ih": (12,),
            "bias_hh": (12,),
        }.items()
    }
    state = layer.state_dict()
    assert state["1.cell_bw.weight_hh"] is state["weight_hh_l1_reverse"]
    assert list(nn.GRU(2, 3).state_dict())[-4:] == [
        f"0.cell.{name}" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]


def test_parameters_start_within_the_root_of_the_size() -> None:
    for p in nn.GRU(20, 25).parameters():
        values = p.numpy()
        assert np.abs(values).max() <= 0.2
        assert values.max() > 0.15
        assert values.min() < -0.15


@pytest.mark.parametrize("kind", LAYERS)
def test_without_biases(kind: str) -> None:
    layer = layer_of(kind, bias_ih_attr=False, bias_hh_attr=False)
    assert [n for n, _ in layer.named_parameters()] == ["weight_ih_l0", "weight_hh_l0"]
    x = made(13, BATCH, TIME, IN)
    close(results(layer(x)), stepwise(kind, layer, x, None, None))
    other = layer_of(kind, bias_ih_attr=False)
    close(results(other(x)), stepwise(kind, other, x, None, None))


@pytest.mark.parametrize("kind", LAYERS)
def test_time_major(kind: str) -> None:
    layer = layer_of(kind, direction="bidirect")
    other = layer_of(kind, direction="bidirect", time_major=True)
    other.set_state_dict(layer.state_dict())
    x = made(14, BATCH, TIME, IN)
    outputs, *final = results(layer(x, sequence_length=LENGTHS))
    turned, *last = results(other(paddle.transpose(x, [1, 0, 2]), sequence_length=LENGTHS))
    close([paddle.transpose(turned, [1, 0, 2]), *last], [outputs, *final], 0.0)


def test_dropout_lies_between_the_layers_while_training() -> None:
    layer, x = layer_of("gru", num_layers=2, dropout=1.0), made(15, BATCH, TIME, IN)
    dropped, last = layer(x)
    alone = nn.GRU(HIDDEN, HIDDEN)
    alone.set_state_dict(
        {n.replace("_l1", "_l0"): p for n, p in layer.state_dict().items() if "_l1" in n},
        strict=False,
    )
    close([dropped], [alone(paddle.zeros([BATCH, TIME, HIDDEN]))[0]])
    assert np.abs(last[0].numpy()).max() > 0.0  # the states of the first layer are as they are
    layer.eval()
    close(results(layer(x)), stepwise("gru", layer, x, None, None))


def test_dropout_is_of_the_seeded_stream() -> None:
    layer, x = layer_of("lstm", num_layers=2, dropout=0.5), made(16, BATCH, TIME, IN)
    found = []
    for seed in (1, 1, 2):
        paddle.seed(seed)
        found.append(layer(x)[0].numpy())
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_a_projection_is_the_cell_step_by_step() -> None:
    layer = nn.LSTM(IN, HIDDEN, num_layers=2, direction="bidirect", proj_size=2)
    x = made(17, BATCH, TIME, IN)
    outputs, (h, c) = layer(x)
    assert (outputs.shape, h.shape, c.shape) == ([3, 4, 4], [4, 3, 2], [4, 3, 3])
    close([outputs, h, c], stepwise("lstm", layer, x, None, None))
    outputs.sum().backward()
    assert layer._cells(0)[0].weight_ho.grad is not None


def test_what_is_printed() -> None:
    assert repr(nn.GRU(3, 4, 2, time_major=True, dropout=0.5)).splitlines()[1] == (
        "  3, 4, num_layers=2, time_major=True, dropout=0.5"
    )
    assert repr(nn.SimpleRNNCell(3, 4, activation="relu")) == "SimpleRNNCell(3, 4, activation=relu)"
    assert repr(nn.LSTMCell(3, 4, proj_size=2)) == "LSTMCell(3, 4, proj_size=2)"


def test_half_precision_is_computed_in_single() -> None:
    layer = nn.LSTM(IN, HIDDEN).to(dtype="float16")
    x = made(18, BATCH, TIME, IN).astype("float16")
    outputs, _ = layer(x)
    assert outputs.dtype == paddle.float16
    exact, _ = layer.to(dtype="float64")(x.astype("float64"))
    np.testing.assert_allclose(outputs.numpy(), exact.numpy(), atol=5e-3)


# --- RNN and BiRNN


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("kind", LAYERS)
def test_rnn_runs_our_cells_as_one_operation(kind: str, reverse: bool) -> None:
    _, cell_class, more = LAYERS[kind]
    cell, x = cell_class(IN, HIDDEN, **more), made(19, BATCH, TIME, IN)
    fused = nn.RNN(cell, is_reverse=reverse)
    states = given(kind, [s[0] for s in starts(kind, 1)])
    found = results(fused(x, states, LENGTHS))
    handle = cell.register_forward_post_hook(lambda layer, inputs, outputs: None)
    close(found, results(fused(x, states, LENGTHS)))  # step by step, for the hook sees each one
    handle.remove()
    close(results(fused(x, states, LENGTHS)), found, 0.0)


def test_hooks_of_a_cell_see_every_step() -> None:
    cell, seen = nn.GRUCell(IN, HIDDEN), []
    cell.register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0].shape))
    nn.RNN(cell)(made(20, BATCH, TIME, IN))
    assert seen == [[BATCH, IN]] * TIME


@pytest.mark.parametrize("kind", LAYERS)
def test_a_hook_changes_nothing_of_initial_states(kind: str) -> None:
    layer, x, states = layer_of(kind), made(3, BATCH, TIME, IN), given(kind, starts(kind, 1))
    expected = results(layer(x, states))
    layer._cells(0)[0].register_forward_post_hook(lambda *_: None)
    close(results(layer(x, states)), expected)


@pytest.mark.parametrize("direction", ["forward", "bidirect"])
@pytest.mark.parametrize("kind", LAYERS)
def test_no_sequences_give_none(kind: str, direction: str) -> None:
    layer, x = layer_of(kind, direction=direction), made(3, 0, TIME, IN)
    outputs, *finals = results(layer(x))
    assert outputs.shape == [0, TIME, HIDDEN * layer.num_directions]
    assert [f.shape for f in finals] == [[layer.num_directions, 0, HIDDEN]] * len(finals)
    loss_of([outputs]).backward()
    assert x.grad.shape == x.shape
    assert not any(p.grad.numpy().any() for p in layer.parameters())


class Sums(NamedTuple):
    total: Any
    steps: Any


@pytest.mark.parametrize("lengths", [None, [1, 3]])
def test_states_and_outputs_of_several_parts(lengths: Any) -> None:
    def cell(x: Any, states: Any) -> Any:
        sums = states["sums"]
        sums = Sums(sums.total + x, sums.steps + 1)
        return (sums.total, {"steps": sums.steps}), {"sums": sums}

    x = made(3, 2, 3, 4)
    start = {"sums": Sums(paddle.zeros([2, 4]), paddle.zeros([2]))}
    (totals, counted), last = F.rnn(cell, x, start, sequence_length=lengths)
    ends = lengths or [3, 3]
    inside = np.arange(3) < np.asarray(ends)[:, None]
    expected = x.numpy().cumsum(1) * inside[..., None]
    np.testing.assert_allclose(totals.numpy(), expected)
    np.testing.assert_array_equal(counted["steps"].numpy(), np.asarray([1, 2, 3]) * inside)
    np.testing.assert_array_equal(last["sums"].steps.numpy(), ends)
    np.testing.assert_allclose(
        last["sums"].total.numpy(), expected[np.arange(2), np.asarray(ends) - 1]
    )


class Both(nn.RNNCellBase):
    """A cell of two outputs."""

    state_shape = (IN,)

    def forward(self, x: Any, total: Any) -> Any:
        return (x, total + x), total + x


@pytest.mark.parametrize("time_major", [False, True])
def test_a_layer_of_a_cell_with_two_outputs(time_major: bool) -> None:
    x = made(4, BATCH, TIME, IN)
    values, axis = x.numpy(), 0 if time_major else 1
    given_to = paddle.transpose(x, [1, 0, 2]) if time_major else x
    sums, backward = values.cumsum(1), values[:, ::-1].cumsum(1)[:, ::-1]
    (same, totals), _ = nn.RNN(Both(), time_major=time_major)(given_to)
    np.testing.assert_array_equal(same.numpy(), given_to.numpy())
    np.testing.assert_allclose(np.moveaxis(totals.numpy(), axis, 1), sums)
    (_, totals), _ = nn.BiRNN(Both(), Both(), time_major=time_major)(given_to)
    expected = np.concatenate([sums, backward], axis=-1)
    np.testing.assert_allclose(np.moveaxis(totals.numpy(), axis, 1), expected)


class Decay(nn.RNNCellBase):
    """Two states of different shapes, one of them nested."""

    state_shape = ((2,), ((2,),))

    def forward(self, inputs: Any, states: Any, rate: float = 0.5) -> Any:
        total, (last,) = states
        total = rate * total + inputs
        return total + last, (total, (inputs,))


def test_a_cell_of_ones_own() -> None:
    x = made(21, BATCH, TIME, IN)
    outputs, (total, (last,)) = nn.RNN(Decay())(x)
    values = x.numpy()
    expected = sum(values[:, t] * 0.5 ** (TIME - 1 - t) for t in range(TIME))
    np.testing.assert_allclose(total.numpy(), expected)
    np.testing.assert_allclose(outputs[:, -1].numpy(), expected + values[:, -2])
    np.testing.assert_array_equal(last.numpy(), values[:, -1])
    _, (total, _) = nn.RNN(Decay())(x, sequence_length=LENGTHS, rate=0.0)
    np.testing.assert_allclose(total.numpy(), [values[0, 3], [0.0, 0.0], values[2, 1]])


def test_birnn_is_two_directions() -> None:
    forward, backward = nn.LSTMCell(IN, HIDDEN), nn.LSTMCell(IN, HIDDEN)
    x = made(22, BATCH, TIME, IN)
    states = [given("lstm", [s[k] for s in starts("lstm", 2)]) for k in range(2)]
    outputs, finals = nn.BiRNN(forward, backward)(x, states, LENGTHS)
    alone = [
        nn.RNN(cell, is_reverse=reverse)(x, s, LENGTHS)
        for cell, reverse, s in ((forward, False, states[0]), (backward, True, states[1]))
    ]
    close([outputs], [paddle.concat([out for out, _ in alone], axis=-1)], 0.0)
    for found, (_, expected) in zip(finals, alone, strict=True):
        close(list(found), list(expected), 0.0)


def test_initial_states() -> None:
    cell = nn.LSTMCell(IN, HIDDEN)
    x = made(23, BATCH, TIME, IN)
    h, c = cell.get_initial_states(x)
    assert h.shape == c.shape == [BATCH, HIDDEN]
    assert not h.numpy().any()
    value = cell.get_initial_states([x], shape=[5, 2], dtype="int32", init_value=3, batch_dim_idx=1)
    assert value.shape == [TIME, 5, 2]
    assert value.dtype == paddle.int32
    assert (value.numpy() == 3).all()


# --- what is refused

BAD = {
    "size": (lambda: nn.LSTM(3, 0), ArgumentError, "hidden_size must be an int of at least 1"),
    "bool": (lambda: nn.GRU(True, 2), ArgumentError, "input_size must be an int"),
    "layers": (lambda: nn.GRU(3, 4, 0), ArgumentError, "num_layers must be"),
    "direction": (lambda: nn.GRU(3, 4, direction="back"), ArgumentError, "'bidirect'"),
    "dropout": (lambda: nn.GRU(3, 4, dropout=1.5), ArgumentError, "dropout must be a number"),
    "activation": (lambda: nn.SimpleRNN(3, 4, activation="gelu"), ArgumentError, "'tanh', 'relu'"),
    "projection": (lambda: nn.LSTM(3, 4, proj_size=4), ArgumentError, "smaller than hidden_size"),
    "weight": (lambda: nn.GRU(3, 4, weight_ih_attr=False), ArgumentError, "weight_ih_attr"),
    "cell": (lambda: nn.RNN(nn.GRUCell), ArgumentError, "must be a cell"),
    "cells": (
        lambda: nn.BiRNN(nn.GRUCell(2, 3), nn.GRUCell(3, 3)),
        ArgumentError,
        "make them with one input_size",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_layer_is_refused(name: str) -> None:
    make, error, hint = BAD[name]
    with pytest.raises(error, match=hint):
        make()


def zeros(*shape: int) -> Any:
    return paddle.zeros(list(shape))


CALLS = {
    "one sequence": (nn.GRU, (zeros(4, 2),), ShapeError, r"x.unsqueeze\(0\) makes a batch of one"),
    "features": (nn.GRU, (zeros(3, 4, 5),), ShapeError, "must have 2 features"),
    "no steps": (nn.GRU, (zeros(3, 0, 2),), ShapeError, "have no steps"),
    "no tensor": (nn.GRU, ([[1.0]],), TypeError, "use paddle.to_tensor"),
    "states": (nn.GRU, (zeros(3, 4, 2), zeros(3, 3)), ShapeError, r"shape \[1, 3, 3\]"),
    "a pair": (nn.LSTM, (zeros(3, 4, 2), zeros(1, 3, 3)), ArgumentError, r"a pair \(h, c\)"),
    "no pair": (
        nn.GRU,
        (zeros(3, 4, 2), (zeros(1, 3, 3), zeros(1, 3, 3))),
        ArgumentError,
        "must be one Tensor",
    ),
    "too long": (nn.GRU, (zeros(3, 4, 2), None, [5, 1, 1]), ArgumentError, "must be in 0 to 4"),
    "below 0": (nn.GRU, (zeros(3, 4, 2), None, [4, -1, 1]), ArgumentError, "has -1"),
    "of floats": (nn.GRU, (zeros(3, 4, 2), None, [1.0] * 3), DTypeError, "must hold integers"),
    "too few": (nn.GRU, (zeros(3, 4, 2), None, [4, 4]), ShapeError, "one number for each sequence"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_refused(name: str) -> None:
    layer, arguments, error, hint = CALLS[name]
    with pytest.raises(error, match=hint):
        layer(IN, HIDDEN)(*arguments)


STEPS = {
    "features": ((zeros(3, 5),), ShapeError, r"\[batch, 2\]"),
    "sequence": ((zeros(3, 4, 2),), ShapeError, r"\[batch, 2\]"),
    "one state": ((zeros(3, 2), zeros(3, 3)), ArgumentError, r"must be \(h, c\)"),
    "shape": ((zeros(3, 2), (zeros(3, 3), zeros(3, 4))), ShapeError, "a state must have the shape"),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_refused(name: str) -> None:
    arguments, error, hint = STEPS[name]
    with pytest.raises(error, match=hint):
        nn.LSTMCell(IN, HIDDEN)(*arguments)


def test_a_cell_without_a_shape_of_its_states() -> None:
    class Bare(nn.RNNCellBase):
        def forward(self, inputs: Any, states: Any) -> Any:
            return inputs, states

    with pytest.raises(NotImplementedError, match="set state_shape"):
        nn.RNN(Bare())(made(24, BATCH, TIME, IN))
    with pytest.raises(ArgumentError, match="give initial_states"):
        nn.RNN(nn.Linear(IN, IN))(made(24, BATCH, TIME, IN))
