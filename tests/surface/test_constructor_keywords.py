"""Classes are made with the arguments of PyTorch's, or say what to write."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine.core.names.keywords import Owner, meaning_of
from autograd_engine.errors import ArgumentError
from tests.peer_names import peers

NN, OPT, LR, IO = paddle.nn, paddle.optimizer, paddle.optimizer.lr, paddle.io

# Bases that PyTorch's classes share, and what has the name of another thing here.
OTHERS = (
    "torch.nn.RNN",
    "torch.nn.RNNBase",
    "torch.nn.RNNCellBase",
    "torch.optim.Optimizer",
    "torch.optim.lr_scheduler.ConstantLR",
    "paddle.static.Variable",
)


def net() -> paddle.nn.Layer:
    return NN.Linear(2, 1)


def test_every_keyword_is_taken_or_answered() -> None:
    """Those of Paddle's constructors and of PyTorch's; some are answered by their value alone."""
    bare, tried = [], 0
    for library, name, arguments, cls in peers().constructors():
        parameters = inspect.signature(cls).parameters.values()
        owner = Owner.of(name, (base.__name__ for base in cls.__mro__), parameters)
        if any(p.kind is p.VAR_KEYWORD for p in parameters) or name in OTHERS:
            continue
        for argument in arguments:
            tried += 1
            if argument not in (*owner.known, "mode") and meaning_of(argument, owner) is None:
                bare.append(f"{library}: {name}({argument})")
    assert not bare
    assert tried > 1800


def _same(mine: Any, other: Any) -> bool:
    """Whether two objects were made alike."""
    if isinstance(mine, NN.Layer):
        shapes = [[(n, p.shape, p.dtype) for n, p in x.named_parameters()] for x in (mine, other)]
        return repr(mine) == repr(other) and shapes[0] == shapes[1]
    if isinstance(mine, OPT.Optimizer):
        read = ("_attrs", "_learning_rate", "_decay")
        return all(getattr(mine, a) == getattr(other, a) for a in read) and (
            [p.shape for p in mine._parameters or ()] == [p.shape for p in other._parameters or ()]
        )
    if isinstance(mine, LR.LRScheduler):
        return mine.state_dict() == other.state_dict()
    return [np.asarray(x).tolist() for x in mine] == [np.asarray(x).tolist() for x in other]


DATA = [1.0, 2.0, 3.0]
ALIKE = {
    "Linear": (lambda: NN.Linear(4, 8, bias=False), lambda: NN.Linear(4, 8, bias_attr=False)),
    "Linear with": (lambda: NN.Linear(4, 8, bias=True), lambda: NN.Linear(4, 8)),
    "Linear float64": (
        lambda: NN.Linear(4, 8, device="cpu", dtype="float64"),
        lambda: NN.Linear(4, 8).to(dtype="float64"),
    ),
    "BatchNorm2D": (
        lambda: NN.BatchNorm2D(3, eps=1e-3, affine=False, track_running_stats=True),
        lambda: NN.BatchNorm2D(3, epsilon=1e-3, weight_attr=False, bias_attr=False),
    ),
    "Conv2DTranspose": (
        lambda: NN.Conv2DTranspose(1, 2, 3, bias=False, padding_mode="zeros"),
        lambda: NN.Conv2DTranspose(1, 2, 3, bias_attr=False),
    ),
    "ReLU": (lambda: NN.ReLU(inplace=True), NN.ReLU),
    "Softmax": (lambda: NN.Softmax(dim=0), lambda: NN.Softmax(axis=0)),
    "Flatten": (lambda: NN.Flatten(start_dim=0, end_dim=1), lambda: NN.Flatten(0, 1)),
    "MaxPool2D": (
        lambda: NN.MaxPool2D(2, dilation=1, return_indices=True),
        lambda: NN.MaxPool2D(2, return_mask=True),
    ),
    "AvgPool2D": (
        lambda: NN.AvgPool2D(2, count_include_pad=False),
        lambda: NN.AvgPool2D(2, exclusive=True),
    ),
    "Unfold": (lambda: NN.Unfold(kernel_size=2, stride=2), lambda: NN.Unfold(2, strides=2)),
    "LSTM": (
        lambda: NN.LSTM(3, 4, batch_first=True, bidirectional=True, bias=False),
        lambda: NN.LSTM(3, 4, direction="bidirect", bias_ih_attr=False, bias_hh_attr=False),
    ),
    "MultiHeadAttention": (
        lambda: NN.MultiHeadAttention(4, 2, batch_first=True, bias=False, add_zero_attn=False),
        lambda: NN.MultiHeadAttention(4, 2, bias_attr=False),
    ),
    "TransformerEncoderLayer": (
        lambda: NN.TransformerEncoderLayer(4, 2, 8, norm_first=True, batch_first=True),
        lambda: NN.TransformerEncoderLayer(4, 2, 8, normalize_before=True),
    ),
    "SGD": (
        lambda: OPT.SGD(net().parameters(), lr=0.1, momentum=0, foreach=True),
        lambda: OPT.SGD(0.1, parameters=net().parameters()),
    ),
    "Adam": (
        lambda: OPT.Adam(iter(net().parameters()), 0.1, betas=(0.5, 0.6), eps=1e-6, fused=None),
        lambda: OPT.Adam(0.1, 0.5, 0.6, 1e-6, parameters=net().parameters()),
    ),
    "RMSProp": (
        lambda: OPT.RMSProp(params=net().parameters(), lr=0.1, alpha=0.9),
        lambda: OPT.RMSProp(0.1, 0.9, parameters=net().parameters()),
    ),
    "Momentum": (
        lambda: OPT.Momentum(net().parameters(), lr=0.1, momentum=0.5, nesterov=True),
        lambda: OPT.Momentum(0.1, 0.5, net().parameters(), use_nesterov=True),
    ),
    "CyclicLR": (
        lambda: LR.CyclicLR(base_lr=0.1, max_lr=0.5, step_size_up=4, cycle_momentum=False),
        lambda: LR.CyclicLR(0.1, 0.5, 4),
    ),
    "DataLoader": (
        lambda: IO.DataLoader(DATA, batch_size=2, pin_memory=True, generator=None),
        lambda: IO.DataLoader(DATA, batch_size=2),
    ),
    "DataLoader in order": (
        lambda: IO.DataLoader(DATA, 2, False, IO.SubsetRandomSampler([1])),
        lambda: IO.DataLoader(DATA, batch_sampler=[[1]]),
    ),
    "TensorDataset": (
        lambda: IO.TensorDataset(paddle.ones([2]), paddle.zeros([2])),
        lambda: IO.TensorDataset([paddle.ones([2]), paddle.zeros([2])]),
    ),
    "BatchSampler": (
        lambda: IO.BatchSampler(IO.SequenceSampler(DATA), 2, True),
        lambda: IO.BatchSampler(DATA, batch_size=2, drop_last=True),
    ),
}


def test_what_has_one_meaning_works() -> None:
    wrong = []
    for name, (theirs, ours) in ALIKE.items():
        try:
            if not _same(theirs(), ours()):
                wrong.append((name, theirs(), ours()))
        except Exception as error:
            wrong.append((name, error, None))
    assert not wrong


def test_smooth_l1_by_beta_is_that_of_pytorch() -> None:
    x, y = paddle.to_tensor([0.5, 4.0]), paddle.zeros([2])
    assert NN.SmoothL1Loss(reduction="none", beta=2.0)(x, y).tolist() == [0.0625, 3.0]


class Mine(paddle.nn.Linear):
    def __init__(self) -> None:
        super().__init__(2, 3, bias=False)


def test_a_subclass_says_it_to_its_base() -> None:
    assert Mine().bias is None


UNLIKE = [
    (
        lambda: NN.Linear(2, 3, biass=1),
        "Linear: there is no argument 'biass'; write Linear(2, 3, bias_attr=",
    ),
    (lambda: NN.Linear(2, 3, qq=1), "it takes in_features, out_features, weight_attr, bias_at"),
    (lambda: NN.Conv2DTranspose(1, 1, 1, nope=1), "Conv2DTranspose: there is no argument"),
    (
        lambda: NN.Linear(2, 3, bias=False, bias_attr=None),
        "'bias' is 'bias_attr' here, and both are given",
    ),
    (lambda: NN.Linear(2, 3, bias=1), "bias=1 is not taken here; it is True or False"),
    (lambda: NN.MultiHeadAttention(4, 2, batch_first=False), "x.transpose([1, 0, 2])"),
    (lambda: NN.Linear(2, 3, inplace=True), "there is no argument 'inplace'"),
    (lambda: OPT.SGD(net().parameters(), lr=0.1, momentum=0.9), "paddle.optimizer.Momentum("),
    (lambda: OPT.Adam(net().parameters(), lr=0.1, maximize=True), "minimise -loss"),
    (lambda: OPT.Adam(net().parameters(), lr=0.1, betas=0.9), "write beta1=..., beta2=..."),
    (lambda: OPT.SGD(net().parameters()), "write learning_rate=0.001, parameters="),
    (
        lambda: LR.StepDecay(OPT.SGD(0.1, net().parameters()), 30),
        "scheduler = paddle.optimizer.lr.StepDecay(0.1, ...)",
    ),
    (lambda: LR.OneCycleLR(max_lr=1.0, epochs=2), "total_steps=epochs * steps_per_epoch"),
    (lambda: IO.DataLoader(DATA, generator=1), "write paddle.seed(value) before the loop"),
    (lambda: NN.ParamAttr(nope=1), "ParamAttr: there is no argument 'nope'"),
    (lambda: paddle.static.Executor(nope=1), "Executor: there is no argument 'nope'"),
    (lambda: NN.ClipGradByNorm(max_norm=1), "ClipGradByNorm: there is no argument"),
]


def test_what_has_none_is_answered() -> None:
    wrong = []
    for make, text in UNLIKE:
        try:
            wrong.append((text, make()))
        except Exception as error:
            if not isinstance(error, (TypeError, ArgumentError)) or text not in str(error):
                wrong.append((text, error))
    assert not wrong


def test_signatures_are_those_of_the_classes() -> None:
    assert list(inspect.signature(NN.Linear).parameters)[:2] == ["in_features", "out_features"]
    assert "learning_rate" in inspect.signature(OPT.SGD).parameters
