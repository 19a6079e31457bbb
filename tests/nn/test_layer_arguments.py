"""Arguments that no layer can be made with: what is said, and what to write instead."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, ShapeError
from tests.nn.layer_cases import CASES
from tests.over import before, over

nn = paddle.nn

# Constructor, and what the message has besides the name of the class and of the argument.
REFUSED = [
    ("Linear(0, 3)", "in_features must be an int of at least 1, got 0"),
    ("Linear(2, None)", "out_features must be an int of at least 1, got None"),
    ("Linear(2, True)", "out_features must be an int of at least 1, got True"),
    ("Linear(2.0, 3)", "in_features .* got 2.0"),
    ("Linear(2, 3, weight_attr=False)", "weight_attr must not be False.*leave it out"),
    ("Linear(2, 3, weight_attr=3.0)", "a parameter attribute must be a ParamAttr"),
    ("Linear(2, 3, None, None, 7)", "name must be a str, got int.*write name="),
    ("Bilinear(2, -1, 3)", "in2_features must be an int of at least 1"),
    ("Embedding(0, 3)", "num_embeddings must be an int of at least 1"),
    ("Embedding(5, 3, 5)", "padding_idx 5 is no row of 5; the last is 4"),
    ("Embedding(5, 3, -6)", "padding_idx must be an int of at least -5"),
    ("Embedding(5, 3, False)", "padding_idx must be an int"),
    ("Embedding(5, 3, sparse=1)", "sparse must be True or False, got 1"),
    ("Embedding(5, 3, max_norm=0)", "max_norm must be a number above 0"),
    ("Embedding(5, 3, scale_grad_by_freq=True)", "not supported; divide the gradient"),
    ("Embedding(5, 3, device='gpu')", "device must be 'cpu'"),
    ("Flatten('a')", "start_axis must be an int, the number of an axis"),
    ("Unflatten(1, 2.5)", "shape must hold ints"),
    ("Softmax('last')", "axis must be an int, the number of an axis"),
    ("GLU(None)", "axis must be an int"),
    ("Maxout(0)", "groups must be an int of at least 1"),
    ("ELU('1')", "alpha must be a number, got '1'"),
    ("CELU(0)", r"alpha must not be 0.*nn.ReLU\(\)"),
    ("SELU(0.5)", "scale must be a number above 1.0, got 0.5"),
    ("GELU('erf')", "approximate must be one of True, False, 'tanh', 'none'; got 'erf'"),
    ("Hardtanh(1, -1)", "min must not be above max, got 1 and -1; exchange them"),
    ("RReLU(0.5, 0.25)", "lower must not be above upper.*exchange"),
    ("RReLU(-0.1)", "lower must be a number of at least 0.0"),
    ("PReLU(0)", "num_parameters must be an int of at least 1"),
    ("PReLU(data_format='CN')", "data_format must be one of 'NC', 'NCL'"),
    ("Softplus(0)", "beta must not be 0"),
    ("Softshrink(-1)", "threshold must be a number of at least 0"),
    ("Silu('x')", "inplace must be True or False"),
    ("Dropout(1.5)", "p must be a number of at least 0 and of at most 1, got 1.5"),
    ("Dropout(0.5, 0)", "inplace must be True or False, got 0; an axis is given as axis="),
    ("Dropout(0.5, axis='h')", "axis must be an int"),
    ("Dropout(0.5, mode='up')", "mode must be one of 'upscale_in_train', 'downscale_in_infer'"),
    ("Dropout2D(data_format='NCL')", "data_format must be one of 'NCHW', 'NHWC'"),
    ("AlphaDropout(None)", "p must be a number"),
    ("Pad2D([1, 2], 'reflect')", r"padding must be .* 4 of them, \[left, right, top, bottom\]"),
    ("Pad1D(-1)", "padding must be an int of at least 0"),
    ("Pad1D(1, 'mirror')", "mode must be one of 'constant', 'reflect'"),
    ("ConstantPad1D(1, 'a')", "value must be a number"),
    ("Upsample()", "give one of size and scale_factor, got neither"),
    ("Upsample(2, 2)", "give one of size and scale_factor, got both"),
    ("Upsample(0)", "size must be an int of at least 1"),
    ("Upsample(scale_factor=[2, -1])", "scale_factor must be a number above 0"),
    ("Upsample(2, mode='cubic')", "mode must be one of 'nearest'"),
    ("Upsample(2, align_corners=True)", "align_corners has no meaning with mode 'nearest'"),
    ("UpsamplingNearest2D(2, data_format='NCL')", "data_format must be one of"),
    ("PixelShuffle(1.5)", "upscale_factor must be an int"),
    ("ChannelShuffle(2, 'A')", "data_format must be one of 'NCHW', 'NHWC'; got 'A'"),
    ("Unfold([1, 2, 3])", "kernel_sizes must be .* two of them in a list"),
    ("Fold(4, 2, paddings=-1)", "paddings must be an int of at least 0"),
    ("Conv2D(3, 4, 3, groups=2)", "groups=2 must divide in_channels and out_channels, 3 and 4"),
    ("Conv2D(3, 4, [3, 3, 3])", "kernel_size must be an int or two ints"),
    ("Conv2D(3, 4, 0)", "kernel_size .* at least 1, got 0"),
    ("Conv2D(3, 4, 3, stride=0)", "stride .* at least 1"),
    ("Conv2D(3, 4, 3, padding='FULL')", "padding must be 'SAME', 'VALID' or numbers"),
    ("Conv2D(3, 4, 3, padding=[1, 2, 3])", "padding must be 1, 2 or 4 ints"),
    ("Conv2D(3, 4, 3, padding_mode='wrap')", "padding_mode must be one of 'zeros', 'reflect'"),
    ("Conv2D(3, 4, 3, padding='SAME', padding_mode='reflect')", "takes padding as numbers"),
    ("Conv2D(3, 4, 3, data_format='NCL')", "data_format must be one of 'NCHW', 'NHWC'"),
    ("Conv2D(3, 4, 3, bias=0)", "bias must be True or False, got 0"),
    ("Conv2D(3, 4, 3, weight_attr=False)", "weight_attr must not be False"),
    ("Conv2DTranspose(3, 4, 3, output_padding=1)", "output_padding 1 must be below the stride"),
    ("MaxPool2D(0)", "kernel_size must be an int of at least 1"),
    ("MaxPool2D(2, 'a')", "stride must be an int"),
    ("MaxPool2D(2, return_mask=1)", "return_mask must be True or False"),
    ("AvgPool2D(2, divisor_override=0)", "divisor_override must be a number above 0"),
    ("LPPool1D(0, 2)", "norm_type must be a number above 0"),
    ("AdaptiveAvgPool2D('all')", "output_size must be an int of at least 1 or None, or two"),
    ("AdaptiveAvgPool1D(None)", "output_size must be an int of at least 1, or one"),
    ("AdaptiveMaxPool3D([1, 2])", "output_size .* three of them in a list"),
    ("MaxUnPool2D(2, data_format='NHWC')", "data_format must be one of 'NCHW'"),
    ("MaxUnPool2D(2, output_size=[0])", "output_size must be an int of at least 1"),
    ("BatchNorm2D(0)", "num_features must be an int of at least 1"),
    ("BatchNorm2D(3, momentum=2)", "momentum must be a number of at least 0 and of at most 1"),
    ("BatchNorm2D(3, epsilon=-1)", "epsilon must be a number of at least 0"),
    ("BatchNorm2D(3, data_format='NCL')", "data_format must be one of 'NCHW', 'NHWC'"),
    ("BatchNorm2D(3, use_global_stats=1)", "use_global_stats must be one of None, True, False"),
    ("BatchNorm(3, act='swash')", "act must be one of None, 'relu'"),
    ("LayerNorm(0)", "normalized_shape must be an int of at least 1"),
    ("LayerNorm([])", "normalized_shape must hold the size of one axis"),
    ("LayerNorm('a')", "normalized_shape must be an int"),
    ("GroupNorm(3, 4)", "num_groups must divide 4 channels, got 3"),
    ("InstanceNorm2D(3, weight_attr=False)", "weight_attr and bias_attr must be False together"),
    ("LocalResponseNorm(0)", "size must be an int of at least 1"),
    ("SpectralNorm([3, 4], dim=2)", r"dim 2 is no axis of weight_shape \[3, 4\]"),
    ("SpectralNorm([3, 0])", "weight_shape must be an int of at least 1"),
    ("CrossEntropyLoss(reduction='avg')", "reduction must be one of 'mean', 'sum', 'none'; got"),
    ("CrossEntropyLoss(weight=3.0)", r"weight must be a Tensor, got float: paddle.to_tensor"),
    ("CrossEntropyLoss(ignore_index=None)", "ignore_index must be an int, got None"),
    ("CrossEntropyLoss(label_smoothing=1.5)", "label_smoothing must be a number"),
    ("MSELoss(None)", "reduction must be one of"),
    ("BCELoss(reduction='batchmean')", "reduction must be one of 'mean', 'sum', 'none'"),
    ("KLDivLoss('avg')", "reduction must be one of 'mean', 'sum', 'batchmean', 'none'"),
    ("SmoothL1Loss(delta=0)", "delta must be a number above 0"),
    ("PoissonNLLLoss(epsilon=0)", "epsilon must be a number above 0"),
    ("GaussianNLLLoss(1)", "full must be True or False, got 1"),
    ("CosineEmbeddingLoss(2)", "margin must be a number of at least -1 and of at most 1"),
    ("TripletMarginLoss(-1)", "margin must be a number of at least 0"),
    ("TripletMarginWithDistanceLoss(3)", "distance_function must be a function of two tensors"),
    ("MultiMarginLoss(0)", "p must be a number of at least 1"),
    ("CTCLoss(-1)", "blank must be an int of at least 0"),
    ("HSigmoidLoss(4, 1)", "num_classes must be an int of at least 2"),
    ("AdaptiveLogSoftmaxWithLoss(8, 20, [10, 5])", "cutoffs must be ints in rising order below"),
    ("AdaptiveLogSoftmaxWithLoss(8, 20, [])", "cutoffs must be ints in rising order"),
    ("AdaptiveLogSoftmaxWithLoss(8, 20, [5, 20])", "cutoffs must be ints in rising order"),
    ("AdaptiveLogSoftmaxWithLoss(2, 20, [5, 10])", "nothing is left of 2 features for cluster 0"),
    ("PairwiseDistance('2')", "p must be a number"),
    ("CosineSimilarity(eps=-1)", "eps must be a number of at least 0"),
]


@over(("text", "hint"), REFUSED, ids=[text for text, _ in REFUSED], by=before("("))
def test_refused(text: str, hint: str) -> None:
    with pytest.raises((ArgumentError, TypeError), match=hint) as caught:
        eval(f"nn.{text}")
    if "ParamAttr" not in hint and "device" not in hint:
        assert str(caught.value).startswith(f"{text.partition('(')[0]}: ")


class Given:
    """Stands for `nn`: its classes are not made, but what they are given is kept."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: (getattr(nn, name), args, kwargs)


FIRST = {case.name: case for case in reversed(CASES)}
TAKEN_AS_IT_IS = {"in_place", "do_model_average_for_mean_and_var"}  # nothing comes of them


def parameters() -> list[tuple[str, str]]:
    found = []
    for name in FIRST:
        for p in inspect.signature(getattr(nn, name)).parameters.values():
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name not in TAKEN_AS_IT_IS:
                found.append((name, p.name))
    return found


@over(("name", "parameter"), parameters(), by=before(","))
def test_what_is_nothing_at_all_is_refused_for_each_parameter(name: str, parameter: str) -> None:
    layer, args, kwargs = eval(
        f"nn.{FIRST[name].text}", {"nn": Given(), "paddle": paddle, "np": np}
    )
    bound = inspect.signature(layer).bind(*args, **kwargs)
    if parameter == "size":
        bound.arguments.pop("scale_factor", None)
    if parameter == "scale_factor":
        bound.arguments.pop("size", None)
    bound.arguments[parameter] = object()
    with pytest.raises((ArgumentError, TypeError)) as caught:
        layer(*bound.args, **bound.kwargs)
    said = str(caught.value)
    if not parameter.endswith("attr"):  # that is said of all parameters alike
        assert said.startswith(f"{layer.__name__}: ") or parameter in ("device", "dtype")
        assert parameter in said


def test_an_unknown_argument_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(TypeError, match=r"Linear\(2, 3, bias_attr=\.\.\.\)"):
        nn.Linear(2, 3, bais_attr=False)


@pytest.mark.parametrize(
    ("layer", "shape", "hint"),
    [
        (lambda: nn.BatchNorm1D(3), (2, 3, 4, 4), r"input must be \[N, C\] or \[N, C, L\]"),
        (lambda: nn.BatchNorm2D(3), (2, 3), r"input must be \[N, C, H, W\]"),
        (lambda: nn.BatchNorm2D(3), (2, 4, 5, 5), r"must have shape \[4\], got \[3\]"),
        (lambda: nn.InstanceNorm1D(3), (2, 3), r"input must be \[N, C, L\]"),
        (lambda: nn.Softmax2D(), (2, 3), r"x must be \[N, C, H, W\] or \[C, H, W\]"),
        (lambda: nn.SpectralNorm([3, 4]), (4, 3), r"weight_shape \[3, 4\], got \[4, 3\]"),
        (lambda: nn.Conv2D(3, 4, 3), (2, 3, 5), r"x must be \[N, C, H, W\]"),
        (lambda: nn.LayerNorm(4), (2, 3), "does not end in normalized_shape"),
    ],
)
def test_inputs_of_another_shape(layer: Any, shape: tuple[int, ...], hint: str) -> None:
    with pytest.raises(ShapeError, match=hint):
        layer()(paddle.ones(list(shape)))


def test_numbers_of_numpy_are_taken() -> None:
    assert repr(nn.Linear(np.int64(2), np.int32(3))).startswith("Linear(in_features=2, out_fe")
    assert repr(nn.LeakyReLU(np.float64(0.5))) == "LeakyReLU(negative_slope=0.5)"
    x = paddle.ones([1, 2, 4, 4])
    assert nn.Pad2D(np.array([1, 0, 0, 1]))(x).shape == [1, 2, 5, 5]
    assert nn.Pad2D(paddle.to_tensor([1, 0, 0, 1]))(x).shape == [1, 2, 5, 5]
    assert nn.MaxPool2D(np.int64(2))(x).shape == [1, 2, 2, 2]
    assert nn.Conv2D(2, 3, np.array([3, 3]), padding=np.array([1, 1]))(x).shape == [1, 3, 4, 4]


def test_lists_that_are_given_are_copied() -> None:
    size, around = [2, 2], [1, 1]
    pool = nn.MaxPool2D(size, padding=around)
    size[0] = around[0] = 7
    assert re.search(r"kernel_size=\[2, 2\], stride=None, padding=\[1, 1\]", repr(pool))
