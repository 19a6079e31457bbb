"""Decoding step by step, beside a search over all sequences."""

import itertools
import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, EagerOnlyError, ShapeError
from tests.over import over

nn = paddle.nn
VOCABULARY, HIDDEN, BATCH, END = 4, 3, 2, 1


def made(cell):
    paddle.seed(5)
    cell = getattr(nn, cell)(HIDDEN, HIDDEN)
    embedding, out = nn.Embedding(VOCABULARY, HIDDEN), nn.Linear(HIDDEN, VOCABULARY)
    for parameter in [*cell.parameters(), *embedding.parameters(), *out.parameters()]:
        parameter.set_value(paddle.randn(parameter.shape) * 1.5)
    return cell, embedding, out, cell.get_initial_states(paddle.randn([BATCH, HIDDEN]))


def likely(cell, embedding, out, states, steps):
    """All sequences of a length, cut off at their end, from the most to the least likely."""
    found = {}
    for tokens in itertools.product(range(VOCABULARY), repeat=steps):
        cut = tokens[: tokens.index(END) + 1] if END in tokens else tokens
        total, before, now = 0.0, 0, states
        for token in cut:
            h, now = cell(embedding(paddle.to_tensor([before])), now)
            total += nn.functional.log_softmax(out(h))[0, token].item()
            before = token
        found[cut] = total
    return sorted(found.items(), key=lambda item: -item[1])


@over("cell", ["GRUCell", "LSTMCell"])
def test_a_wide_beam_finds_the_most_likely_sequences(cell):
    cell, embedding, out, states = made(cell)
    beams, steps = VOCABULARY**2, 3
    decoder = nn.BeamSearchDecoder(cell, 0, END, beams, embedding, out)
    ids, final, lengths = nn.dynamic_decode(decoder, states, steps - 1, return_length=True)
    for b in range(BATCH):
        one = nn.functional.recurrent.mapped(lambda x, b=b: x[b : b + 1], states)
        wanted = likely(cell, embedding, out, one, steps)[:beams]
        for k, (tokens, total) in enumerate(wanted):
            assert ids[b, : len(tokens), k].tolist() == list(tokens)
            assert lengths[b, k].item() == len(tokens)
            assert final.finished[b, k].item() is (tokens[-1] == END)
            assert math.isclose(final.log_probs[b, k].item(), total, rel_tol=1e-4)


def test_scores_are_differentiable_and_time_may_come_first():
    cell, embedding, out, states = made("GRUCell")
    decoder = nn.BeamSearchDecoder(cell, 0, END, 2, embedding, out)
    ids, final = nn.dynamic_decode(decoder, states, 2, output_time_major=True)
    again, _ = nn.dynamic_decode(decoder, states, 2)
    np.testing.assert_array_equal(ids.numpy().swapaxes(0, 1), again.numpy())
    final.log_probs.sum().backward()
    assert all(np.abs(p.grad.numpy()).sum() > 0 for p in cell.parameters())


class Counting:
    """Counts up; the first sequence ends after two steps, the second after four."""

    def initialize(self, start):
        return start, start, paddle.zeros([2], "bool")

    def step(self, time, inputs, states):
        done = [time.item() == 1, time.item() == 3]
        return {"twice": 2 * (states + 1)}, states + 1, inputs, paddle.to_tensor(done)


def test_what_has_finished_keeps_its_state_if_asked_to():
    start = paddle.zeros([2, 1])
    out, states, lengths = nn.dynamic_decode(Counting(), start, return_length=True)
    assert out["twice"][:, :, 0].tolist() == [[2, 4, 6, 8]] * 2
    assert (states.tolist(), lengths.tolist()) == ([[4], [4]], [1, 3])
    _, states = nn.dynamic_decode(Counting(), start, impute_finished=True)
    assert states.tolist() == [[1], [3]]


def test_tiles_for_what_a_cell_is_given_besides():
    x = paddle.to_tensor([[1, 2], [3, 4]])
    tiled = nn.BeamSearchDecoder.tile_beam_merge_with_batch(x, 2)
    assert tiled.tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]


def test_what_cannot_be_decoded():
    cell, embedding, out, states = made("GRUCell")
    with pytest.raises(ArgumentError, match="beam_size must be an int of at least 1, got 0"):
        nn.BeamSearchDecoder(cell, 0, 1, 0)
    with pytest.raises(ArgumentError, match="output_fn must be callable, got 'out'"):
        nn.BeamSearchDecoder(cell, 0, 1, 2, embedding, "out")
    with pytest.raises(ArgumentError, match="end_token 4 is no token"):
        nn.dynamic_decode(nn.BeamSearchDecoder(cell, 0, 4, 2, embedding, out), states)
    with pytest.raises(ShapeError, match="give output_fn"):
        nn.dynamic_decode(nn.BeamSearchDecoder(lambda x, s: ((x, x), s), 0, 1, 2), states)
    with paddle.static.program_guard(paddle.static.Program()):
        decoder = nn.BeamSearchDecoder(cell, 0, 1, 2, embedding, out)
        with pytest.raises(EagerOnlyError, match=r"static\.nn\.while_loop"):
            nn.dynamic_decode(decoder, paddle.static.data("h", [2, HIDDEN]))
