"""What counts something, with numbers that nothing can hold: a clear error, or it is meant.

Functions and layers are in tests/functions/test_plain_arguments.py; this is all else: data,
metrics, optimizers, schedules, functions of programs, and what is made of layers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine import errors
from autograd_engine.eager.printing import PrintOptions
from tests.over import over

static, nn, lr = paddle.static, paddle.nn, paddle.optimizer.lr

Row = tuple[Callable[..., Any], dict[str, Any]]
HUGE = (10**30, -(10**30), 2**62, 10**15)
OURS = tuple(getattr(errors, name) for name in errors.__all__)
SEVEN = list(range(7))


def weights() -> list[Any]:
    return [nn.Linear(2, 2).weight]


def leaf() -> Any:
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


def squared(function: Callable[..., Any], total: bool = False, **given: Any) -> Any:
    x = leaf()
    return function((x * x).sum() if total else x * x, x, **given)[:]


def stepped(cls: Any, *rates: Any) -> Callable[..., Any]:
    def call(**given: Any) -> None:
        cls(*rates, **given).step()

    return call


def half(epoch: int) -> float:
    return 0.5


EPOCH = {"last_epoch": -1}
EAGER: dict[str, Row] = {
    "BatchSampler": (lambda **k: list(paddle.io.BatchSampler(SEVEN, **k)), {"batch_size": 2}),
    "DataLoader": (
        lambda **k: list(paddle.io.DataLoader(SEVEN, **k)),
        {"batch_size": 2, "num_workers": 0, "prefetch_factor": 2, "reader_buffer_size": 2},
    ),
    "DistributedBatchSampler": (
        lambda **k: list(paddle.io.DistributedBatchSampler(SEVEN, **k)),
        {"batch_size": 2, "num_replicas": 1, "rank": 0},
    ),
    "RandomSampler": (
        lambda **k: next(iter(paddle.io.RandomSampler(SEVEN, replacement=True, **k))),
        {"num_samples": 3},
    ),
    "WeightedRandomSampler": (
        lambda **k: list(paddle.io.WeightedRandomSampler([0.5, 0.5], **k)),
        {"num_samples": 3},
    ),
    "random_split": (lambda **k: paddle.io.random_split(SEVEN, **k), {"lengths": [3, 4]}),
    "batch": (lambda **k: next(paddle.batch(lambda: SEVEN, **k)()), {"batch_size": 2}),
    "Accuracy": (
        lambda **k: paddle.metric.Accuracy(**k).compute(
            paddle.ones([2, 3]), paddle.to_tensor([[1], [2]])
        ),
        {"topk": (1,)},
    ),
    "Auc": (lambda **k: paddle.metric.Auc(**k), {"num_thresholds": 10}),
    "accuracy": (
        lambda **k: paddle.metric.accuracy(paddle.ones([2, 3]), paddle.to_tensor([[1], [2]]), **k),
        {"k": 1},
    ),
    "ASGD": (lambda **k: paddle.optimizer.ASGD(parameters=weights(), **k), {"batch_num": 1}),
    "LBFGS": (
        lambda **k: paddle.optimizer.LBFGS(parameters=weights(), **k),
        {"max_iter": 2, "max_eval": 3, "history_size": 4},
    ),
    "LookAhead": (
        lambda **k: paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1, parameters=weights()), **k),
        {"k": 3},
    ),
    "ModelAverage": (
        lambda **k: paddle.incubate.ModelAverage(0.1, parameters=weights(), **k),
        {"min_average_window": 3, "max_average_window": 4},
    ),
    "CosineAnnealingDecay": (stepped(lr.CosineAnnealingDecay, 0.1), {"T_max": 3, **EPOCH}),
    "CosineAnnealingWarmRestarts": (
        stepped(lr.CosineAnnealingWarmRestarts, 0.1),
        {"T_0": 3, "T_mult": 2, **EPOCH},
    ),
    "CyclicLR": (
        stepped(lr.CyclicLR, 0.1, 0.5),
        {"step_size_up": 3, "step_size_down": 3, **EPOCH},
    ),
    "ExponentialDecay": (stepped(lr.ExponentialDecay, 0.1, 0.5), EPOCH),
    "InverseTimeDecay": (stepped(lr.InverseTimeDecay, 0.1, 0.5), EPOCH),
    "LambdaDecay": (stepped(lr.LambdaDecay, 0.1, half), EPOCH),
    "LinearLR": (stepped(lr.LinearLR, 0.1), {"total_steps": 3, **EPOCH}),
    "LinearWarmup": (
        lambda **k: lr.LinearWarmup(0.1, start_lr=0.0, end_lr=0.1, **k).step(),
        {"warmup_steps": 3, **EPOCH},
    ),
    "MultiStepDecay": (stepped(lr.MultiStepDecay, 0.1), {"milestones": [2, 3], **EPOCH}),
    "MultiplicativeDecay": (stepped(lr.MultiplicativeDecay, 0.1, half), EPOCH),
    "NaturalExpDecay": (stepped(lr.NaturalExpDecay, 0.1, 0.5), EPOCH),
    "NoamDecay": (stepped(lr.NoamDecay), {"d_model": 3, "warmup_steps": 3, **EPOCH}),
    "OneCycleLR": (stepped(lr.OneCycleLR, 0.1), {"total_steps": 30, **EPOCH}),
    "PiecewiseDecay": (
        lambda **k: lr.PiecewiseDecay(values=[0.1, 0.2], **k).step(),
        {"boundaries": [3], **EPOCH},
    ),
    "PolynomialDecay": (stepped(lr.PolynomialDecay, 0.1), {"decay_steps": 3, **EPOCH}),
    "PolynomialDecay cycle": (
        lambda **k: lr.PolynomialDecay(0.1, cycle=True, **k).step(),
        {"decay_steps": 3, **EPOCH},
    ),
    "ReduceOnPlateau": (
        lambda **k: lr.ReduceOnPlateau(0.1, **k).step(1.0),
        {"patience": 3, "cooldown": 1},
    ),
    "StepDecay": (stepped(lr.StepDecay, 0.1), {"step_size": 3, **EPOCH}),
    "StepDecay step": (lambda **k: lr.StepDecay(0.1, 3).step(**k), {"epoch": 3}),
    "spectral_norm": (
        lambda **k: nn.utils.spectral_norm(nn.Linear(2, 2), **k),
        {"n_power_iterations": 1, "dim": 0},
    ),
    "weight_norm": (lambda **k: nn.utils.weight_norm(nn.Linear(2, 2), **k), {"dim": 0}),
    "LSTM": (
        lambda **k: nn.LSTM(**k),
        {"input_size": 2, "hidden_size": 3, "num_layers": 1},
    ),
    "TransformerEncoder": (
        lambda **k: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), **k),
        {"num_layers": 1},
    ),
    "Transformer": (
        lambda **k: nn.Transformer(**k),
        {
            "d_model": 4,
            "nhead": 2,
            "num_encoder_layers": 1,
            "num_decoder_layers": 1,
            "dim_feedforward": 8,
        },
    ),
    "Dirac": (
        lambda **k: nn.Conv2D(2, 2, 3, weight_attr=nn.initializer.Dirac(**k)),
        {"groups": 1},
    ),
    "InputSpec": (lambda **k: static.InputSpec(**k), {"shape": [2, 3]}),
    "cpu_places": (lambda **k: static.cpu_places(**k), {"device_count": 1}),
    "jacobian": (lambda **k: squared(paddle.autograd.jacobian, **k), {"chunk_size": 1}),
    "hessian": (lambda **k: squared(paddle.autograd.hessian, True, **k), {"chunk_size": 1}),
    "graph": (lambda **k: paddle.autograd.graph(leaf() * 2.0, **k), {"limit": 3}),
    "save_on_disk": (lambda **k: paddle.autograd.save_on_disk(**k), {"min_bytes": 3}),
    "value_and_grad": (
        lambda **k: paddle.autograd.value_and_grad(lambda x: (x * x).sum(), **k)(leaf()),
        {"argnums": 0},
    ),
    "recompute_sequential": (
        lambda segments: paddle.autograd.recompute_sequential(
            segments, nn.Sequential(nn.Linear(2, 2), nn.ReLU()), leaf()
        ),
        {"segments": 1},
    ),
    "MFCC": (
        lambda **k: paddle.audio.features.MFCC(**k)(paddle.ones([1, 600])),
        {"n_mfcc": 4, "n_fft": 64, "hop_length": 16, "win_length": 64, "n_mels": 8},
    ),
    "Spectrogram": (
        lambda **k: paddle.audio.features.Spectrogram(**k)(paddle.ones([1, 600])),
        {"n_fft": 64, "hop_length": 16, "win_length": 64},
    ),
    "manual_seed": (lambda **k: paddle.device.manual_seed(**k), {"seed_value": 3}),
    "seed": (lambda **k: paddle.seed(**k), {"seed": 3}),
    "create_parameter": (lambda **k: paddle.create_parameter(**k), {"shape": [2, 3]}),
    "set_printoptions": (
        lambda **k: paddle.set_printoptions(**k),
        {"precision": 3, "threshold": 4, "edgeitems": 2, "linewidth": 80},
    ),
}


def data(*shape: int, dtype: str = "float32") -> Any:
    return static.data(paddle.unique_name.generate("x"), list(shape), dtype)


FILTERS = {"filter_size": 3, "stride": 1, "padding": 0, "dilation": 1, "groups": 1}
PROGRAMS: dict[str, Row] = {
    "data": (lambda **k: static.data("x", **k), {"shape": [2, 3], "lod_level": 0}),
    "Print": (lambda **k: static.Print(data(2, 3), **k), {"first_n": 1, "summarize": 2}),
    "Assert": (
        lambda **k: static.Assert(paddle.all(data(2, 3) > 0), [data(2)], **k),
        {"summarize": 2},
    ),
    "accuracy": (lambda **k: static.accuracy(data(2, 3), data(2, 1, dtype="int64"), **k), {"k": 1}),
    "auc": (
        lambda **k: static.auc(data(4, 2), data(4, 1, dtype="int64"), **k),
        {"num_thresholds": 7, "topk": 1, "slide_steps": 1},
    ),
    "create_global_var": (
        lambda **k: static.create_global_var(value=1.0, dtype="float32", **k),
        {"shape": [2, 3]},
    ),
    "create_parameter": (
        lambda **k: static.create_parameter(dtype="float32", **k),
        {"shape": [2, 3]},
    ),
    "fc": (lambda **k: static.nn.fc(data(2, 3), **k), {"size": 2, "num_flatten_dims": 1}),
    "bilinear_tensor_product": (
        lambda **k: static.nn.bilinear_tensor_product(data(2, 3), data(2, 3), **k),
        {"size": 2},
    ),
    "conv2d": (
        lambda **k: static.nn.conv2d(data(2, 4, 8, 8), **k),
        {"num_filters": 4, **FILTERS},
    ),
    "conv2d_transpose": (
        lambda **k: static.nn.conv2d_transpose(data(2, 4, 8, 8), **k),
        {"num_filters": 4, **FILTERS},
    ),
    "embedding": (
        lambda **k: static.nn.embedding(data(2, dtype="int64"), **k),
        {"size": [5, 2]},
    ),
    "group_norm": (lambda **k: static.nn.group_norm(data(2, 4, 8, 8), **k), {"groups": 2}),
    "layer_norm": (lambda **k: static.nn.layer_norm(data(2, 3), **k), {"begin_norm_axis": 1}),
    "nce": (
        lambda **k: static.nn.nce(data(2, 3), data(2, 1, dtype="int64"), **k),
        {"num_total_classes": 5, "num_neg_samples": 2},
    ),
    "row_conv": (lambda **k: static.nn.row_conv(data(2, 4, 3), **k), {"future_context_size": 1}),
    "spectral_norm": (
        lambda **k: static.nn.spectral_norm(data(4, 3), **k),
        {"dim": 0, "power_iters": 1},
    ),
    "switch_case": (
        lambda key: static.nn.switch_case(
            data(dtype="int32"), {key: lambda: paddle.ones([1]), 2: lambda: paddle.ones([1])}
        ),
        {"key": 1},
    ),
}


def unclear(name: str, row: Row) -> dict[Any, str]:
    call, given = row
    call(**given)
    found = {}
    for argument, value in given.items():
        for huge in HUGE:
            wrong = huge if isinstance(value, int) else type(value)([*value[:-1], huge])
            began = time.process_time()
            try:
                call(**{**given, argument: wrong})
            except OURS as error:
                if name.split()[0] not in str(error):
                    found[argument, huge] = f"{type(error).__name__}: {error}"
            except Exception as error:
                found[argument, huge] = f"{type(error).__name__}: {error}"
            if time.process_time() - began > 2.0:
                found[argument, huge] = "takes long"
    return found


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    paddle.set_printoptions(**asdict(PrintOptions()))


@over("name", list(EAGER), by=lambda name: "all")
def test_eagerly(name: str) -> None:
    assert unclear(name, EAGER[name]) == {}


@over("name", list(PROGRAMS), by=lambda name: "all")
def test_in_a_program(name: str) -> None:
    paddle.enable_static()
    with static.program_guard(static.Program(), static.Program()):
        assert unclear(name, PROGRAMS[name]) == {}
