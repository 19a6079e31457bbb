"""A table of the layers of a model: inputs, outputs, parameters."""

from __future__ import annotations

import math
from typing import Any, TypedDict

from autograd_engine.core import pytree as nest
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, NotATensorError
from autograd_engine.nn.forward_probe import (
    dry_run,
    kept,
    made_inputs,
    require_layer,
    shapes_of,
    table,
    watched,
)

__all__ = ["ModelSummary", "summary"]


class ModelSummary(TypedDict):
    """What `summary` returns."""

    total_params: int
    trainable_params: int


def summary(
    net: Any, input_size: Any = None, dtypes: Any = None, input: Any = None
) -> ModelSummary:
    """Print a table of the layers of `net`, in the order in which they are called.

    The layer runs once, as in inference, on random numbers (zeros where an input holds ints).
    Neither its state nor the random stream changes.

    Parameters
    ----------
    net : Layer
    input_size : tuple of int or InputSpec, or list of these
        The shape of the input, or of each input; None or -1 for a batch, which has size 1 then.
    dtypes : str or list of str, optional
        Of the inputs, by default float32.
    input : Tensor, or list or dict of Tensor, optional
        What to call the layer with, in the place of `input_size`: a list holds its arguments.

    Returns
    -------
    dict
        ``total_params``, the numbers that `state_dict` holds, running statistics among them, and
        ``trainable_params``. What is shared counts once.

    Raises
    ------
    TypeError, ArgumentError, ModeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.ReLU())
    >>> info = paddle.summary(net, (None, 4))
    ----------------------------------------------------------
      Layer (type)    Input Shape    Output Shape    Param #
    ==========================================================
        Linear-1        [[1, 4]]        [1, 3]          15
         ReLU-1         [[1, 3]]        [1, 3]          0
    ==========================================================
    Total params: 15
    Trainable params: 15
    Non-trainable params: 0
    ----------------------------------------------------------
    Input size (MB): 0.00
    Forward/backward pass size (MB): 0.00
    Params size (MB): 0.00
    Estimated Total Size (MB): 0.00
    ----------------------------------------------------------
    >>> info
    {'total_params': 15, 'trainable_params': 15}
    """
    net = require_layer("summary", net)
    rows: dict[int, tuple[str, ...]] = {}
    numbers: dict[str, int] = {}
    passed = 0

    def after(layer: Any, inputs: Any, outputs: Any) -> None:
        nonlocal passed
        own, _ = kept(layer)
        if id(layer) in rows or (not own and next(layer.children(), None) is not None):
            return
        kind = type(layer).__name__
        numbers[kind] = numbers.get(kind, 0) + 1
        shapes = str(shapes_of(inputs)), str(shapes_of(outputs))
        rows[id(layer)] = (f"{kind}-{numbers[kind]}", *shapes, f"{own:,}")
        passed += _bytes(outputs)

    with dry_run(net):
        given = _given(input_size, dtypes, input)
        with watched(net, None, after):
            net(*given)
    seen: set[int] = set()
    counts = [kept(layer, seen) for layer in net.sublayers(include_self=True)]
    total, trainable = sum(t for t, _ in counts), sum(t for _, t in counts)
    held = sum(_bytes(v) for v in {id(v): v for v in net.state_dict().values()}.values())
    _print(list(rows.values()), (total, trainable), (_bytes(given), 2 * passed, held))
    return {"total_params": total, "trainable_params": trainable}


def _given(input_size: Any, dtypes: Any, input: Any) -> list[Any]:
    if input is None:
        if input_size is None:
            raise ArgumentError(
                "summary: give input_size, as (1, 3, 32, 32), or an input to call the layer with"
            )
        return made_inputs("summary", input_size, dtypes)
    given = list(input) if isinstance(input, (list, tuple)) else [input]
    flat = nest.leaves(given)
    if not flat or not all(isinstance(v, Tensor) for v in flat):
        raise NotATensorError(
            "summary: input must be a Tensor, or a list or dict of Tensors, got "
            f"{type(input).__name__}"
        )
    return given


def _bytes(value: Any) -> int:
    if isinstance(value, Tensor):
        return math.prod(value.shape) * value.numpy().itemsize
    if isinstance(value, dict):
        value = list(value.values())
    return sum(map(_bytes, value)) if isinstance(value, (list, tuple)) else 0


def _print(rows: list[Any], counts: tuple[int, int], sizes: tuple[int, int, int]) -> None:
    lines = table(("Layer (type)", "Input Shape", "Output Shape", "Param #"), rows)
    total, trainable = counts
    names = ("Input size", "Forward/backward pass size", "Params size", "Estimated Total Size")
    lines += [
        f"Total params: {total:,}",
        f"Trainable params: {trainable:,}",
        f"Non-trainable params: {total - trainable:,}",
        lines[0],
        *(f"{n} (MB): {v / 2**20:.2f}" for n, v in zip(names, (*sizes, sum(sizes)), strict=True)),
        lines[0],
    ]
    print("\n".join(lines))
