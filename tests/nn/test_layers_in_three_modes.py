"""Every layer: what it computes, in each of the three ways to run it, its text, its dtype."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine import unique_name
from tests.nn.layer_cases import CASES, Case
from tests.over import before, initial, over

static = paddle.static

each = over("case", CASES, ids=[c.text for c in CASES], by=before("("))
quickly_each = over("case", CASES, ids=[c.text for c in CASES], by=initial)


def outputs(out: Any) -> list[Any]:
    return list(out) if isinstance(out, (tuple, list)) else [out]


def scalar(out: Any) -> Any:
    """A number that depends on all floating outputs, not evenly."""
    parts = [paddle.sum(paddle.sin(o)) for o in outputs(out) if "float" in str(o.dtype)]
    return paddle.add_n(parts)


def layer_of(case: Case) -> Any:
    paddle.seed(1)
    with unique_name.guard():
        return case.make()


def state_of(layer: Any) -> dict[str, Any]:
    return {name: np.array(value.numpy()) for name, value in layer.state_dict().items()}


def trainable(layer: Any) -> list[Any]:
    return [p for p in layer.parameters() if not p.stop_gradient]


class Run:
    """Outputs, gradients of inputs and parameters, and the state afterwards."""

    def __init__(self, out: Any, gradients: Any, state: dict[str, Any]) -> None:
        self.out = [np.array(o) for o in out]
        self.gradients = [None if g is None else np.array(g) for g in gradients]
        self.state = state

    def same_bits(self, other: Run) -> None:
        assert len(self.out) == len(other.out)
        for a, b in zip(self.out, other.out, strict=True):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype
        assert len(self.gradients) == len(other.gradients)
        for a, b in zip(self.gradients, other.gradients, strict=True):
            np.testing.assert_array_equal(a, b)
        assert self.state.keys() == other.state.keys()
        for name, value in self.state.items():
            np.testing.assert_array_equal(value, other.state[name], err_msg=name)


def tensors(arrays: list[Any]) -> list[Any]:
    return [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]


def run_eagerly(layer: Any, call: Any, arrays: list[Any]) -> Run:
    paddle.seed(7)
    inputs = tensors(arrays)
    out = call(*inputs)
    leaves = [x for x in inputs if not x.stop_gradient] + trainable(layer)
    gradients: list[Any] = []
    if leaves and not scalar(out).stop_gradient:
        gradients = paddle.grad(scalar(out), leaves, allow_unused=True)
    values = [o.numpy() for o in outputs(out)]
    return Run(values, [None if g is None else g.numpy() for g in gradients], state_of(layer))


def run_program(
    case: Case, state: dict[str, Any], arrays: list[Any], for_test: bool = False
) -> Run:
    main, startup = static.Program(), static.Program()
    paddle.seed(1)
    with static.program_guard(main, startup), unique_name.guard():
        layer = case.make()
        inputs = []
        for k, a in enumerate(arrays):
            shape = list(a.shape) if case.known else [None, *a.shape[1:]]
            x = static.data(f"x{k}", shape, str(a.dtype))
            x.stop_gradient = a.dtype.kind != "f"
            inputs.append(x)
        out = layer(*inputs)
        leaves = [x for x in inputs if not x.stop_gradient] + trainable(layer)
        gradients = []
        if not for_test and leaves and not scalar(out).stop_gradient:
            gradients = static.gradients([scalar(out)], leaves)
    exe = static.Executor()
    exe.run(startup)
    layer.set_state_dict(state)
    ran = main.clone(for_test=True) if for_test else main
    asked = [*outputs(out), *(g for g in gradients if g is not None)]
    paddle.seed(7)
    feed = {f"x{k}": a for k, a in enumerate(arrays)}
    found = exe.run(ran, feed=feed, fetch_list=asked)
    values, rest = found[: len(outputs(out))], iter(found[len(outputs(out)) :])
    return Run(values, [None if g is None else next(rest) for g in gradients], layer.state_dict())


# --- what it computes


@quickly_each
def test_value_is_that_of_the_function(case: Case) -> None:
    for training in (True, False):
        layer = layer_of(case)
        layer.train() if training else layer.eval()
        inputs = tensors(case.arrays())
        paddle.seed(7)
        wanted = outputs(case.call(layer, *inputs))
        paddle.seed(7)
        found = outputs(layer(*inputs))
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


@each
def test_three_ways_give_the_same_bits(case: Case) -> None:
    arrays = case.arrays()
    layer = layer_of(case)
    state = state_of(layer)
    eager = run_eagerly(layer, layer, arrays)
    assert any(g is not None for g in eager.gradients)
    run_program(case, state, arrays).same_bits(eager)
    again = layer_of(case)
    again.set_state_dict(state)
    run_eagerly(again, paddle.jit.to_static(again), arrays).same_bits(eager)


@quickly_each
def test_after_eval(case: Case) -> None:
    arrays = case.arrays()
    layer = layer_of(case)
    trained = run_eagerly(layer, layer, arrays)
    state = state_of(layer)
    layer.eval()
    frozen = run_eagerly(layer, layer, arrays)
    differs = any(not np.array_equal(a, b) for a, b in zip(trained.out, frozen.out, strict=True))
    assert differs == case.depends
    before = paddle.get_rng_state()
    layer(*tensors(arrays))
    np.testing.assert_equal(paddle.get_rng_state(), before)  # nothing is drawn
    for name, value in state_of(layer).items():
        if "trainable_statistics" not in case.text:
            np.testing.assert_array_equal(value, state[name], err_msg=name)
    if "trainable_statistics" not in case.text:
        test = run_program(case, state, arrays, for_test=True)
        for a, b in zip(test.out, frozen.out, strict=True):
            np.testing.assert_array_equal(a, b)


@quickly_each
def test_in_float64(case: Case) -> None:
    arrays = case.arrays()
    layer = layer_of(case)
    single = run_eagerly(layer, layer, arrays)
    layer = layer_of(case)
    assert layer.to(dtype="float64") is layer
    wide = [a.astype("float64") if a.dtype.kind == "f" else a for a in arrays]
    double = run_eagerly(layer, layer, wide)
    for a, b in zip(double.out, single.out, strict=True):
        assert a.dtype == (np.float64 if b.dtype.kind == "f" else b.dtype)
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    for g in double.gradients:
        assert g is None or g.dtype == np.float64


@quickly_each
def test_text(case: Case) -> None:
    assert repr(layer_of(case)) == case.repr


# Names that Paddle has in `paddle.nn` and that programs use, most used ones first.
NAMES = """
Layer Linear Conv2D MaxPool2D AvgPool2D BatchNorm2D LayerNorm Embedding Dropout Flatten ReLU Sigmoid
Tanh Softmax GELU Sequential LayerList CrossEntropyLoss MSELoss ParameterList ClipGradByGlobalNorm
ClipGradByNorm ClipGradByValue
Conv1D Conv3D Conv1DTranspose Conv2DTranspose MaxPool1D AvgPool1D AdaptiveAvgPool2D
AdaptiveMaxPool2D BatchNorm1D BatchNorm GroupNorm InstanceNorm2D LeakyReLU PReLU ELU SELU Silu Swish
Mish Hardswish Hardsigmoid Hardtanh ReLU6 Softplus Softsign LogSoftmax LogSigmoid Identity Pad2D
Upsample PixelShuffle BCELoss BCEWithLogitsLoss L1Loss SmoothL1Loss NLLLoss KLDivLoss
MarginRankingLoss Bilinear CosineSimilarity MultiHeadAttention TransformerEncoderLayer
TransformerEncoder TransformerDecoderLayer SimpleRNN LSTM GRU LSTMCell GRUCell RNN BiRNN LayerDict
Dropout2D Unfold
AdaptiveAvgPool1D AdaptiveAvgPool3D AdaptiveMaxPool1D AdaptiveMaxPool3D AvgPool3D MaxPool3D
MaxUnPool1D MaxUnPool2D MaxUnPool3D LPPool1D LPPool2D Conv3DTranspose BatchNorm3D InstanceNorm1D
InstanceNorm3D LocalResponseNorm SpectralNorm Dropout3D AlphaDropout FeatureAlphaDropout Pad1D Pad3D
ZeroPad1D ZeroPad2D ZeroPad3D UpsamplingNearest2D UpsamplingBilinear2D ChannelShuffle PixelUnshuffle
Fold PairwiseDistance CosineEmbeddingLoss TripletMarginLoss TripletMarginWithDistanceLoss
HingeEmbeddingLoss CTCLoss SoftMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss PoissonNLLLoss
GaussianNLLLoss HSigmoidLoss AdaptiveLogSoftmaxWithLoss Softshrink Hardshrink Tanhshrink
ThresholdedReLU CELU GLU Maxout RReLU Softmax2D Unflatten SyncBatchNorm RNNTLoss FractionalMaxPool2D
FractionalMaxPool3D MultiLabelMarginLoss BeamSearchDecoder ParameterDict
"""


@over("name", NAMES.split())
def test_it_is_there(name: str) -> None:
    assert inspect.isclass(getattr(paddle.nn, name))
    assert name in dir(paddle.nn)


def test_there_is_a_case_of_every_layer() -> None:
    elsewhere = {"base", "containers", "recurrent", "transformer"}  # with tests of their own
    layers = {name: getattr(paddle.nn, name) for name in paddle.nn.layer.__all__}
    names = {
        name for name, layer in layers.items() if not elsewhere & {*layer.__module__.split(".")}
    }
    assert names == {case.name for case in CASES}


LAYOUTS = {"1D": "NCL", "2D": "NCHW", "3D": "NCDHW"}
FAMILIES = sorted({case.name for case in CASES if any(k in case.name for k in LAYOUTS)})


@over("name", FAMILIES)
def test_a_member_of_a_family_speaks_of_its_own_images(name: str) -> None:
    """Constructors and docstrings are those of the family, with its layout and its words."""
    layer = getattr(paddle.nn, name)
    axes = next(k for k in LAYOUTS if k in name)
    layout = inspect.signature(layer).parameters.get("data_format")
    assert layout is None or layout.default == LAYOUTS[axes]
    doc = inspect.getdoc(layer) or ""
    assert f"paddle.nn.{name}(" in doc
    assert "$" not in doc
    others = [layout for k, layout in LAYOUTS.items() if k != axes]
    assert not any(f'"{other}"' in doc for other in others)

    class Own(layer):
        pass

    assert inspect.signature(Own) == inspect.signature(layer)


@over("name", sorted({case.name for case in CASES}))
def test_documented(name: str) -> None:
    layer = getattr(paddle.nn, name)
    assert ">>> " in (inspect.getdoc(layer) or "")
    assert issubclass(layer, paddle.nn.Layer)
