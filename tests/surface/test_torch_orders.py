"""Arguments by position in torch's order, and the rest by name; and what is said twice.

torch_orders.json says what the order is: tools/spellings.py has asked torch.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.core.names.keywords import ORDERS as _ORDERED, Owner, meaning_of
from autograd_engine.errors import ArgumentError
from tests.functions.cases import CASES
from tests.surface.test_spellings import SPELLINGS, _anew, arguments, resolve, same

ORDERS = json.loads(Path(__file__).with_name("torch_orders.json").read_text(encoding="utf-8"))
# What a call in torch's order means here: another thing, or an error that says so.
DIFFERENT = {
    "divide": "rounding_mode is given by name alone",
    "gather": "in torch's order it picks along an axis",
    "nn.functional.avg_pool1d": "count_include_pad is the opposite of exclusive",
    "nn.functional.avg_pool3d": "count_include_pad is the opposite of exclusive",
    "nn.functional.group_norm": "epsilon comes before the weight",
    "nn.functional.unfold": "strides come before dilations",
    "permute": "its case gives axes as an argument each",
    "repeat_interleave": "torch does not list its second argument",
    "sort": "dim= gives positions besides",
    "trapezoid": "dx comes before the axis",
}

# What torch calls the arguments of `forward`, where that is more than `input`.
_FORWARD = {
    "input_ target_": "AdaptiveLogSoftmaxWithLoss",
    "input target": "BCELoss BCEWithLogitsLoss CrossEntropyLoss HingeEmbeddingLoss KLDivLoss "
    "L1Loss MSELoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss "
    "SmoothL1Loss SoftMarginLoss",
    "input1 input2": "Bilinear",
    "log_probs targets input_lengths target_lengths": "CTCLoss",
    "input output_size": "Conv1DTranspose Conv2DTranspose Conv3DTranspose",
    "input1 input2 target": "CosineEmbeddingLoss MarginRankingLoss",
    "x1 x2": "CosineSimilarity PairwiseDistance",
    "input hx": "GRU GRUCell LSTM LSTMCell RNN SimpleRNN SimpleRNNCell",
    "input target var": "GaussianNLLLoss",
    "input indices output_size": "MaxUnPool1D MaxUnPool2D MaxUnPool3D",
    "query key value key_padding_mask need_weights attn_mask average_attn_weights "
    "is_causal": "MultiHeadAttention",
    "log_input target": "PoissonNLLLoss",
    "src tgt src_mask tgt_mask memory_mask src_key_padding_mask tgt_key_padding_mask "
    "memory_key_padding_mask src_is_causal tgt_is_causal memory_is_causal": "Transformer",
    "tgt memory tgt_mask memory_mask tgt_key_padding_mask memory_key_padding_mask tgt_is_causal "
    "memory_is_causal": "TransformerDecoder TransformerDecoderLayer",
    "src mask src_key_padding_mask is_causal": "TransformerEncoder",
    "src src_mask src_key_padding_mask is_causal": "TransformerEncoderLayer",
    "anchor positive negative": "TripletMarginLoss TripletMarginWithDistanceLoss",
}


def torch_names(name: str) -> dict[str, str]:
    """What torch calls the arguments of a function, in its order; what both have."""
    function = resolve(name)
    parameters = inspect.signature(function).parameters
    owner = Owner.of(name, ("function", function.__name__), parameters.values())
    found: dict[str, str] = {}
    for theirs in ORDERS[name]:
        meaning = None if theirs in parameters else meaning_of(theirs, owner)
        here = (theirs,) if theirs in parameters else meaning.targets if meaning else ()
        if len(here) != 1:
            break
        found.setdefault(here[0], theirs)
    return found


def splits(name: str) -> Iterator[tuple[Any, ...]]:
    """(given by position, by name, declared) of calls of a function."""
    theirs, parameters = torch_names(name), inspect.signature(resolve(name)).parameters
    if any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        return
    for case in CASES[name][:2]:
        bound = arguments(name, case)
        if bound is None:
            continue
        given = {k: v for k, v in bound.items() if v is not parameters[k].default}
        order = [k for k in theirs if k in given]
        if order != list(theirs)[: len(order)]:  # one between them is left out
            order = order[:1]
        for count in range(len(order) + 1):
            for names in (theirs, {}):
                placed = [given[k] for k in order[:count]]
                rest = {k: v for k, v in given.items() if k not in order[:count]}
                yield placed, {names.get(k, k): v for k, v in rest.items()}, given


def outcome(name: str, *placed: Any, **named: Any) -> Any:
    paddle.seed(7)
    return resolve(name)(*map(_anew, placed), **{k: _anew(v) for k, v in named.items()})


def test_positions_of_torch_and_names():
    wrong, tried = {}, 0
    for name in sorted(ORDERS.keys() - DIFFERENT.keys()):
        for placed, named, given in splits(name):
            tried += 1
            try:
                if not same(outcome(name, *placed, **named), outcome(name, **given)):
                    wrong[name, len(placed), *named] = "another result"
            except Exception as error:
                wrong[name, len(placed), *named] = f"{type(error).__name__}: {error}"
    assert wrong == {}
    assert tried > 1500


def test_both_spellings_are_a_conflict():
    """Also where what is given by the declared name is its default."""
    wrong, tried = {}, 0
    for name, spellings in SPELLINGS.items():
        for spelling in (s for s in spellings if "=" in s):
            other, declared = spelling.split("=")
            parameters = inspect.signature(resolve(name)).parameters
            optional = {k: p for k, p in parameters.items() if p.default is not p.empty}
            required = {k: paddle.ones([2, 2]) for k in parameters if k not in optional}
            value = optional[declared].default if declared in optional else paddle.ones([2, 2])
            named = [k for k in required if k != declared]
            call = f"f({''.join(f'{k}={k}, ' for k in named)}{declared}=value, {other}=0)"
            if not other.isidentifier() or other in ("from", "to"):
                continue
            tried += 1
            try:
                eval(call, {"f": resolve(name), "value": value, **required})
                wrong[name, spelling] = "taken"
            except ArgumentError as error:
                if f"{other!r} is {declared!r} here, and both are given" not in str(error):
                    wrong[name, spelling] = str(error)
            except Exception as error:
                wrong[name, spelling] = f"{type(error).__name__}: {error}"
    assert wrong == {}
    assert tried > 300


def traced(name: str, placed: list[Any], named: dict[str, Any]) -> Any:
    return paddle.jit.to_static(lambda x: getattr(paddle, name)(x, *placed, **named))


def test_an_axis_before_the_index_however_it_is_split():
    x, index = paddle.arange(6.0).reshape([2, 3]), paddle.to_tensor([2, 0])
    along = paddle.to_tensor([[2], [0]])
    calls = {
        "index_select": ({"dim": 1, "index": index}, x.index_select(index, 1)),
        "index_fill": ({"dim": 1, "index": index, "value": 9.0}, x.index_fill(index, 1, 9.0)),
        "index_add": (
            {"dim": 1, "index": index, "source": x[:, :2]},
            x.index_add(index, 1, x[:, :2]),
        ),
        "gather": ({"dim": 1, "index": along}, x.take_along_axis(along, 1)),
        "scatter": (
            {"dim": 1, "index": along, "src": x[:, :1]},
            x.put_along_axis(along, x[:, :1], 1),
        ),
        "transpose": ({"dim0": 0, "dim1": 1}, x.T),
    }
    for name, (given, expected) in calls.items():
        for count in range(len(given) + 1):
            placed, named = list(given.values())[:count], dict(list(given.items())[count:])
            for found in (
                getattr(paddle, name)(x, *placed, **named),
                getattr(x, name)(*placed, **named),
                traced(name, placed, named)(x),
            ):
                assert same(found, expected), (name, count)


def test_a_bool_that_only_torch_has_there():
    nn = paddle.nn
    assert nn.Linear(2, 3, False).bias is None
    assert nn.Linear(2, 3, True).bias is not None
    assert nn.Conv2D(1, 2, 3, 1, 0, 1, 1, False).bias is None
    assert nn.Conv2DTranspose(2, 2, 3, 1, 0, 0, 2, False).weight.shape == [2, 1, 3, 3]
    assert nn.LPPool2D(2, 2, 2, True).ceil_mode is True
    assert nn.LPPool2D(2, 2, 2, 0, True).ceil_mode is True
    assert nn.GRU(2, 3, 1, True, True).time_major is False
    assert nn.Dropout2D(0.3, True).p == 0.3
    nn.ReLU(True)
    nn.MaxPool2D(2, 2, 0, 1, True, False)
    with pytest.raises(ArgumentError, match="MaxPool2D: dilation=2 is not taken here"):
        nn.MaxPool2D(2, 2, 0, 2, True, False)
    with pytest.raises(ArgumentError, match="Linear: 'bias' is given by position and by name"):
        nn.Linear(2, 3, False, bias=True)
    with pytest.raises(ArgumentError, match="Linear: weight_attr must not be False"):
        nn.Linear(2, 3, False, None)  # more than torch has
    with pytest.raises(TypeError, match=r"LayerNorm: takes 2 arguments by position .*None is one"):
        nn.LayerNorm(3, 1e-5, None)


def test_every_bool_of_torchs_order_has_a_meaning():
    """Where a constructor of torch has one by position, and what is there here can be none."""
    wrong = []
    for name, order in _ORDERED.items():
        cls = getattr(paddle.nn, name)
        bases = (base.__name__ for base in cls.__mro__)
        owner = Owner.of(name, bases, inspect.signature(cls).parameters.values())
        wrong += [(name, a) for a in order if a not in owner.known and meaning_of(a, owner) is None]
    assert wrong == []


def test_layers_are_called_with_the_names_of_torch():
    nn, x = paddle.nn, paddle.ones([2, 3])
    calls = {
        "Linear": (nn.Linear(3, 1), {"x": x}, (x,)),
        "ReLU": (nn.ReLU(), {"input": x}, (x,)),
        "MSELoss": (nn.MSELoss(), {"input": x, "target": x + 1}, (x, x + 1)),
        "BCEWithLogitsLoss": (nn.BCEWithLogitsLoss(), {"input": x, "target": x}, (x, x)),
        "Bilinear": (nn.Bilinear(3, 3, 1), {"input1": x, "input2": x}, (x, x)),
        "GRUCell": (nn.GRUCell(3, 2), {"input": x, "hx": x[:, :2]}, (x, x[:, :2])),
        "TripletMarginLoss": (
            nn.TripletMarginLoss(),
            {"anchor": x, "positive": x, "negative": x + 1},
            (x, x, x + 1),
        ),
    }
    for name, (layer, named, placed) in calls.items():
        assert same(layer(**named), layer(*placed)), name
    with pytest.raises(ArgumentError, match="ReLU: 'input' is 'x' here, and both are given"):
        nn.ReLU()(x, input=x)
    with pytest.raises(TypeError, match=r"ReLU: there is no argument 'inpt'; write ReLU\(x="):
        nn.ReLU()(inpt=x)


def test_every_name_of_a_torch_call_of_a_layer_is_taken():
    of_one = [n for n in dir(paddle.nn) if _takes_one(getattr(paddle.nn, n))]
    named = [(n, order) for order, names in _FORWARD.items() for n in names.split()]
    wrong = []
    for name, order in [*named, *((n, "input") for n in of_one)]:
        cls = getattr(paddle.nn, name)
        parameters = list(inspect.signature(cls.forward).parameters.values())[1:]
        owner = Owner.of(name, (base.__name__ for base in cls.__mro__), parameters)
        wrong += [
            (name, a)
            for a in order.split()
            if a not in owner.known and meaning_of(a, owner) is None
        ]
    assert wrong == []
    assert len(of_one) > 80


def _takes_one(cls: Any) -> bool:
    if not isinstance(cls, type) or not issubclass(cls, paddle.nn.Layer):
        return False
    parameters = list(inspect.signature(cls.forward).parameters.values())[1:]
    return [p.kind for p in parameters] == [inspect.Parameter.POSITIONAL_OR_KEYWORD]
