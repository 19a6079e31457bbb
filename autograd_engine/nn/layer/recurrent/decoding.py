"""Decoding step by step: what a recurrent cell emits is what it is fed with next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core import pytree
from autograd_engine.core.checks import positive_int
from autograd_engine.core.dtypes import get_default_numpy_dtype
from autograd_engine.core.names.constructors import respelled
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, EagerOnlyError, ShapeError
from autograd_engine.nn.functional.recurrent import mapped
from autograd_engine.nn.functional.sequence import gather_tree
from autograd_engine.nn.functional.window_arguments import known
from autograd_engine.nn.layer.arguments import integer
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.operands import as_operand, spec_of
from autograd_engine.tensor.joining import stack
from autograd_engine.tensor.order import topk

__all__ = ["BeamSearchDecoder", "dynamic_decode"]

# The log-probability of what cannot be: its sum with others is still finite.
_NEVER = -1e9


def _merged(x: Any) -> Any:
    """``[batch, beams, ...]`` as ``[batch * beams, ...]``."""
    return ops.flatten_axes(x, start=0, stop=1)


def _repeated(x: Any, beams: int) -> Any:
    """``[batch, ...]`` as ``[batch, beams, ...]``, the same for every beam."""
    shape = spec_of(x).shape
    return ops.expand(ops.unsqueeze(x, axis=(1,)), shape=(-1, beams, *shape[1:]))


@respelled
class BeamSearchDecoder:
    """Search for likely sequences: of all continuations of a few, the few most likely are kept.

    Each step calls `cell` with the embeddings of the last tokens, ``[batch * beams, ...]``, and the
    states of the beams, and adds the log-softmax of what it returns to the score of each beam.

    Parameters
    ----------
    cell : RNNCellBase
        Or what is called like one: ``cell(inputs, states) -> (outputs, states)``.
    start_token, end_token : int
        What sequences begin with, and end with.
    beam_size : int
        How many are kept.
    embedding_fn : callable, optional
        From tokens ``[batch, beams]`` to the inputs of the cell; these are the tokens where None.
    output_fn : callable, optional
        From outputs of the cell ``[batch, beams, ...]`` to logits ``[batch, beams, vocabulary]``.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> embedding, out = paddle.nn.Embedding(8, 4), paddle.nn.Linear(4, 8)
    >>> cell = paddle.nn.GRUCell(4, 4)
    >>> decoder = BeamSearchDecoder(cell, 0, 1, 3, embedding, out)
    >>> states = cell.get_initial_states(paddle.ones([2, 4]))
    >>> ids, _ = dynamic_decode(decoder, states, max_step_num=5)
    >>> ids.shape[0], ids.shape[2]
    (2, 3)
    """

    class OutputWrapper(NamedTuple):
        """What a step decides: ``[batch, beams]`` each."""

        scores: Any
        predicted_ids: Any
        parent_ids: Any

    class StateWrapper(NamedTuple):
        """What a step goes on from: states of the cell, and ``[batch, beams]`` each."""

        cell_states: Any
        log_probs: Any
        finished: Any
        lengths: Any

    def __init__(
        self,
        cell: Callable[..., Any],
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[..., Any] | None = None,
        output_fn: Callable[..., Any] | None = None,
    ) -> None:
        for argument, value in (
            ("cell", cell),
            ("embedding_fn", embedding_fn),
            ("output_fn", output_fn),
        ):
            if not callable(value) and (value is not None or argument == "cell"):
                raise ArgumentError(
                    f"BeamSearchDecoder: {argument} must be callable, got {value!r}"
                )
        self.cell = cell
        self.embedding_fn = embedding_fn
        self.output_fn = output_fn
        self.start_token = integer(self, "start_token", start_token, least=0)
        self.end_token = integer(self, "end_token", end_token, least=0)
        self.beam_size = integer(self, "beam_size", beam_size)

    @staticmethod
    def tile_beam_merge_with_batch(x: Any, beam_size: int) -> Tensor:
        """``[batch, ...]`` as ``[batch * beam_size, ...]``, for what a cell is given besides."""
        op = "tile_beam_merge_with_batch"
        return _merged(_repeated(as_operand(op, x), positive_int(op, "beam_size", beam_size)))

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change their places, and what has finished with them."""
        return True

    def _inputs(self, tokens: Any) -> Any:
        return tokens if self.embedding_fn is None else self.embedding_fn(tokens)

    def initialize(self, initial_cell_states: Any) -> tuple[Any, StateWrapper, Any]:
        """What the first step is given: inputs, states, and which beams have finished, none."""
        leaves = pytree.leaves(initial_cell_states)
        if not leaves or any(spec_of(x).ndim < 1 for x in leaves):
            raise ShapeError(
                "BeamSearchDecoder: inits must be states of the cell, [batch, ...] each"
            )
        batch, beams = spec_of(leaves[0]).shape[0], self.beam_size
        tokens = ops.full(shape=(batch, beams), value=self.start_token, dtype="int64")
        # The beams are one and the same at first, so only one of them counts.
        first = np.full((1, beams), _NEVER, get_default_numpy_dtype())
        first[:, 0] = 0.0
        log_probs = ops.expand(as_operand("BeamSearchDecoder", first), shape=(batch, beams))
        finished = ops.full(shape=(batch, beams), value=False, dtype="bool")
        lengths = ops.full(shape=(batch, beams), value=0, dtype="int64")
        states = mapped(lambda x: _repeated(x, beams), initial_cell_states)
        return (
            self._inputs(tokens),
            self.StateWrapper(states, log_probs, finished, lengths),
            finished,
        )

    def step(
        self, time: Any, inputs: Any, states: StateWrapper, **kwargs: Any
    ) -> tuple[OutputWrapper, StateWrapper, Any, Any]:
        """One step of all beams: what was decided, the states, the inputs of the next, who is done.

        Other keywords are the cell's.
        """
        beams = self.beam_size

        def split(x: Any) -> Any:
            return ops.reshape(x, shape=(-1, beams, *spec_of(x).shape[1:]))

        cell_states = mapped(_merged, states.cell_states)
        outputs, cell_states = self.cell(mapped(_merged, inputs), cell_states, **kwargs)
        logits, cell_states = mapped(split, outputs), mapped(split, cell_states)
        if self.output_fn is not None:
            logits = self.output_fn(logits)
        if isinstance(logits, (list, tuple, dict)) or spec_of(logits).ndim != 3:
            raise ShapeError(
                "BeamSearchDecoder: logits must be [batch, beams, vocabulary]; give output_fn, "
                "which makes them of what the cell returns"
            )
        outcome, state = self._advance(logits, cell_states, states)
        return outcome, state, self._inputs(outcome.predicted_ids), state.finished

    def _advance(
        self, logits: Any, cell_states: Any, states: StateWrapper
    ) -> tuple[OutputWrapper, StateWrapper]:
        """The most likely continuations."""
        shape, beams = spec_of(logits).shape, self.beam_size
        batch, vocabulary = known("BeamSearchDecoder", "the batch and the vocabulary", shape[::2])
        if not self.end_token < vocabulary:
            raise ArgumentError(
                f"BeamSearchDecoder: end_token {self.end_token} is no token; logits "
                f"{format_shape(shape)} have {vocabulary}"
            )
        # What has finished goes on with the end token, for certain.
        stay = np.full((1, 1, vocabulary), _NEVER, spec_of(logits).dtype)
        stay[..., self.end_token] = 0.0
        done = ops.unsqueeze(states.finished, axis=(2,))
        change = ops.where(
            done, as_operand("BeamSearchDecoder", stay), ops.log_softmax(logits, axis=2)
        )
        total = change + ops.unsqueeze(states.log_probs, axis=(2,))
        scores, best = topk(ops.flatten_axes(total, start=1, stop=2), beams, axis=1)
        parents, tokens = best // vocabulary, best % vocabulary
        # Where the parent of each beam lies among all beams of the batch.
        rows = ops.reshape(parents + np.arange(batch)[:, None] * beams, shape=(-1,))

        def follow(x: Any) -> Any:
            kept = ops.gather(_merged(x), rows, axis=0)
            return ops.reshape(kept, shape=(batch, *spec_of(x).shape[1:]))

        finished, lengths = follow(states.finished), follow(states.lengths)
        lengths = lengths + ops.cast_like(ops.logical_not(finished), lengths)
        finished = ops.logical_or(finished, ops.equal(tokens, self.end_token))
        state = self.StateWrapper(mapped(follow, cell_states), scores, finished, lengths)
        return self.OutputWrapper(scores, tokens, parents), state

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """The tokens ``[time, batch, beams]`` of what is left, read back from the last step."""
        return gather_tree(outputs.predicted_ids, outputs.parent_ids), final_states


def _batch_first(x: Any) -> Any:
    return ops.transpose(x, perm=(1, 0, *range(2, spec_of(x).ndim)))


def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> Any:
    """Call ``decoder.step`` until all sequences have finished; eager tensors only.

    Parameters
    ----------
    decoder : BeamSearchDecoder
        Or what has its methods: ``initialize(inits)`` returns inputs, states and which sequences
        have finished, ``step(time, inputs, states)`` outputs, states, inputs and these; `finalize`
        is left out where there is none. Unless its `tracks_own_finished` is true, what has finished
        once has finished for good.
    inits : nest of Tensors
        What ``decoder.initialize`` is given.
    max_step_num : int, optional
        The last step: steps are counted from 0.
    output_time_major : bool
        Outputs are ``[time, batch, ...]`` and not ``[batch, time, ...]``.
    impute_finished : bool
        Sequences that have finished keep their states. Of `BeamSearchDecoder` it has no meaning.
    is_test : bool
        Accepted; `paddle.no_grad` saves the memory.
    return_length : bool
        Return the lengths of the sequences, too.

    Returns
    -------
    outputs, final states, and the lengths if asked for
        Of `BeamSearchDecoder` the tokens, ``[batch, time, beams]``.

    Raises
    ------
    EagerOnlyError, ArgumentError
    """
    op = "dynamic_decode"
    if max_step_num is not None:
        max_step_num = integer(op, "max_step_num", max_step_num, least=0)
    if any(isinstance(x, Variable) for x in pytree.leaves(inits)):
        raise EagerOnlyError(
            f"{op}: how many steps there are is known once they are run; call it on tensors, or "
            "write a static.nn.while_loop"
        )
    inputs, states, finished = decoder.initialize(inits)
    lengths = ops.full(shape=finished.shape, value=0, dtype="int64")
    tracked = getattr(decoder, "tracks_own_finished", False)
    steps: list[Any] = []
    while not bool(finished.numpy().all()):
        time = ops.full(shape=(1,), value=len(steps), dtype="int64")
        outputs, after, inputs, done = decoder.step(time, inputs, states, **kwargs)
        if tracked:
            lengths = getattr(after, "lengths", lengths)
        else:
            done = ops.logical_or(done, finished)
            lengths = lengths + ops.cast_like(ops.logical_not(done), lengths)
            if impute_finished:
                after = _kept(states, after, done)
        steps.append(outputs)
        states, finished = after, done
        if max_step_num is not None and len(steps) > max_step_num:
            break
    if not steps:
        raise ArgumentError(f"{op}: all sequences have finished before the first step")
    result = mapped(lambda *each: stack(each, axis=0), *steps)
    if hasattr(decoder, "finalize"):
        result, states = decoder.finalize(result, states, lengths)
    if not output_time_major:
        result = mapped(_batch_first, result)
    return (result, states, lengths) if return_length else (result, states)


def _kept(before: Any, after: Any, done: Any) -> Any:
    """`after`, and `before` for what is done."""

    def kept(x: Any, y: Any) -> Any:
        column = ops.reshape(done, shape=(-1, *[1] * (spec_of(y).ndim - 1)))
        return ops.where(column, x, y)

    return mapped(kept, before, after)
