"""Wrong arguments: a Python exception that says what to do, and nothing left behind.

One table for both modes: each call is made on tensors, and on variables of those shapes while a
program is built.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.random_generator import generator
from tests.over import before, over

F = paddle.nn.functional
static = paddle.static

SHAPES = {
    "a": (2, 3),
    "v": (3,),
    "u": (2,),
    "s": (),
    "z": (0, 3),
    "q": (3, 4),
    "m": (2, 2),
    "b": (2, 2, 3),
    "c": (3, 3, 2),
    "im": (1, 2, 4, 4),
    "w": (3, 2, 3, 3),
    "w5": (3, 5, 3, 3),
    "w9": (3, 2, 9, 9),
}
INTEGERS = {"i": [0, 1], "j": [0], "far": [0, 9], "neg": [0, -1], "flag": [1, 0]}


class Case(NamedTuple):
    call: Callable[[Any], Any]
    kinds: Any
    hint: str


def case(name: str, call: Callable[[Any], Any], kinds: Any, hint: str) -> Any:
    return pytest.param(Case(call, kinds, hint), id=name)


SHAPE, VALUE, TYPE, INDEX = ValueError, ValueError, TypeError, IndexError
BROADCAST = r"do not broadcast: axis -1 has sizes 2 and 3; reshape or expand one"
NO_AXIS = r"axis \S+ is out of range for an array with 2 dimensions; use -2 to 1"
NOT_A_TENSOR = "must be a Tensor,.* an ndarray or a number; got"

EITHER_MODE = [
    # arithmetic
    case("add", lambda t: t.a + t.u, SHAPE, "add: .*" + BROADCAST),
    case("subtract", lambda t: paddle.subtract(t.a, t.u), SHAPE, BROADCAST),
    case("maximum", lambda t: paddle.maximum(t.a, t.u), SHAPE, "maximum: .*" + BROADCAST),
    case("compare", lambda t: t.a < t.u, SHAPE, BROADCAST),
    case("where values", lambda t: paddle.where(t.a, t.a, t.u), SHAPE, BROADCAST),
    case("where condition", lambda t: paddle.where(t.u, t.a, t.a), SHAPE, BROADCAST),
    case("add_n shapes", lambda t: paddle.add_n([t.a, t.v]), SHAPE, "must have one shape; use add"),
    case("add_n empty", lambda t: paddle.add_n([]), VALUE, "add_n: inputs is empty"),
    case("add_n kind", lambda t: paddle.add_n([t.a, None]), TYPE, r"inputs\[1\]' must be a Tensor"),
    case("scale act", lambda t: paddle.scale(t.a, act="nope"), VALUE, "act must be one of relu"),
    case("cast", lambda t: paddle.cast(t.a, "nope"), TYPE, "'nope' is no dtype of this engine; us"),
    # products
    case("matmul", lambda t: paddle.matmul(t.a, t.a), SHAPE, r"\[2, 3\] @ \[2, 3\]: the last size"),
    case("@", lambda t: t.a @ t.a, SHAPE, "transpose one of them"),
    case("matmul 0-d", lambda t: paddle.matmul(t.a, t.s), SHAPE, "use multiply for 0-d"),
    case("matmul vectors", lambda t: paddle.matmul(t.v, t.u), SHAPE, "matmul: .*must equal"),
    case("matmul batches", lambda t: paddle.matmul(t.b, t.c), SHAPE, "matmul: .*do not broadcast"),
    case("matmul list", lambda t: paddle.matmul([[1.0]], t.a), TYPE, "got list: use paddle.to_ten"),
    case("matmul None", lambda t: paddle.matmul(t.a, None), TYPE, "'y' must be a Tensor.*NoneType"),
    case("linear", lambda t: F.linear(t.a, t.a), SHAPE, "3 features, but weight .* takes 2"),
    # reductions
    *(
        case(f"{f.__name__} axis", lambda t, f=f: f(t.a, axis=2), SHAPE, NO_AXIS)
        for f in (paddle.sum, paddle.mean, paddle.max, paddle.min, paddle.argmax, paddle.all)
    ),
    case("sum axis below", lambda t: paddle.sum(t.a, axis=-3), SHAPE, NO_AXIS),
    case("sum axis twice", lambda t: paddle.sum(t.a, axis=[0, -2]), SHAPE, "names an axis twice"),
    case("sum axis float", lambda t: paddle.sum(t.a, axis=1.5), TYPE, "axis must be an int, got 1"),
    case("sum axis str", lambda t: t.a.sum("x"), TYPE, "axis must be an int, got 'x'"),
    case("sum 0-d", lambda t: paddle.sum(t.s, axis=1), SHAPE, "0-d array, which has no axes"),
    case("max of nothing", lambda t: paddle.max(t.z), VALUE, "axis 0 of .* is empty"),
    case("argmax of nothing", lambda t: paddle.argmax(t.z), VALUE, "is empty"),
    case("topk 0", lambda t: paddle.topk(t.a, 0), VALUE, "k must be 1 to 3 for axis 1, got 0"),
    case("topk 4", lambda t: paddle.topk(t.a, 4), VALUE, "k must be 1 to 3"),
    case("topk float", lambda t: paddle.topk(t.a, 1.0), VALUE, "k must be 1 to 3"),
    case("topk 0-d", lambda t: paddle.topk(t.s, 1, 1), SHAPE, "given for a 0-d array"),
    # shapes
    case("reshape size", lambda t: paddle.reshape(t.a, [4]), SHAPE, "6 elements and cannot become"),
    case("reshape two -1", lambda t: t.a.reshape([-1, -1]), SHAPE, "more than one -1"),
    case("reshape -2", lambda t: paddle.reshape(t.a, [-2, 3]), SHAPE, "use -1 for one"),
    case("reshape float", lambda t: paddle.reshape(t.a, [1.5]), TYPE, "shape must hold ints"),
    case("reshape None", lambda t: paddle.reshape(t.a, None), TYPE, "shape must hold ints, got No"),
    case("flatten", lambda t: paddle.flatten(t.a, 1, 0), VALUE, "comes before start_axis 1"),
    case("flatten axis", lambda t: paddle.flatten(t.a, 5), SHAPE, NO_AXIS),
    case("transpose few", lambda t: paddle.transpose(t.a, [0]), SHAPE, "each of the 2 axes"),
    case("transpose int", lambda t: paddle.transpose(t.a, 1), SHAPE, "each of the 2 axes"),
    case("transpose twice", lambda t: paddle.transpose(t.a, [0, 0]), SHAPE, "each of the 2 axes"),
    case("transpose axis", lambda t: paddle.transpose(t.a, [0, 2]), SHAPE, NO_AXIS),
    case("t", lambda t: paddle.t(t.b), SHAPE, "at most two dimensions, got 3; use transpose"),
    case("unsqueeze", lambda t: paddle.unsqueeze(t.a, 5), SHAPE, "out of range .* use -3 to 2"),
    case("squeeze", lambda t: paddle.squeeze(t.a, 5), SHAPE, NO_AXIS),
    case("expand few", lambda t: paddle.expand(t.a, [2]), SHAPE, "has fewer sizes than x"),
    case("expand size", lambda t: paddle.expand(t.a, [5, 3]), SHAPE, "expand"),
    case("expand -2", lambda t: paddle.expand(t.a, [-2, 2, 3]), SHAPE, "must hold sizes"),
    case("expand new -1", lambda t: paddle.expand(t.a, [-1, 2, 3]), SHAPE, "-1 only where x"),
    case("concat sizes", lambda t: paddle.concat([t.a, t.q]), SHAPE, "axis other than 0"),
    case("concat ranks", lambda t: paddle.concat([t.a, t.v]), SHAPE, "concat"),
    case("concat empty", lambda t: paddle.concat([]), VALUE, "x is empty; give one array at least"),
    case("concat axis", lambda t: paddle.concat([t.a, t.a], axis=2), SHAPE, NO_AXIS),
    case("concat one", lambda t: paddle.concat(t.a), TYPE, "x must be a list or tuple of arrays"),
    case("concat str", lambda t: paddle.concat([t.a, "x"]), TYPE, r"'x\[1\]' must be a Tensor"),
    case("concat 0-d", lambda t: paddle.concat([t.s, t.s]), SHAPE, "one dimension or more"),
    case("stack", lambda t: paddle.stack([t.a, t.v]), SHAPE, "all inputs must have one shape"),
    case("stack axis", lambda t: paddle.stack([t.a, t.a], axis=5), SHAPE, "use -3 to 2"),
    case("split parts", lambda t: paddle.split(t.a, 2, axis=1), VALUE, "does not divide into 2"),
    case("split 0", lambda t: paddle.split(t.a, 0), VALUE, "does not divide into 0 equal parts"),
    case("split sizes", lambda t: paddle.split(t.a, [1, 1], axis=1), VALUE, "add up to 3"),
    case("split below 0", lambda t: paddle.split(t.a, [5, -2], axis=1), VALUE, "be sizes that add"),
    case("split float", lambda t: paddle.split(t.a, 1.5), TYPE, "must hold ints, got 1.5"),
    case("split bool", lambda t: paddle.split(t.a, True), TYPE, "must be an int or a list of ints"),
    case("split axis", lambda t: paddle.split(t.a, 2, axis=4), SHAPE, NO_AXIS),
    case("unbind axis", lambda t: paddle.unbind(t.a, 3), SHAPE, NO_AXIS),
    case("unbind 0-d", lambda t: paddle.unbind(t.s), SHAPE, "one dimension or more"),
    case("tril", lambda t: paddle.tril(t.v), SHAPE, "two dimensions or more, got 1"),
    case("triu str", lambda t: paddle.triu(t.a, "x"), TYPE, "diagonal must be an int, got 'x'"),
    # indices
    case("index", lambda t: t.a[5], INDEX, "index 5 is out of range .* size 2; use -2 to 1"),
    case("matmul 3-d", lambda t: t.b @ t.m, SHAPE, r"\[2, 2, 3\] @ \[2, 2\]: the last size of"),
    case("index below", lambda t: t.a[-3], INDEX, "index -3 is out of range"),
    case("indices", lambda t: t.a[0, 0, 0], INDEX, r"too many indices: 3 .* 2 dimensions \[2, 3\]"),
    case("index float", lambda t: t.a[1.0], TYPE, r"by ints, slices, .*got 1\.0 \(float\)"),
    case("index floats", lambda t: t.a[[0.5]], TYPE, r"use \.astype\('int64'\) for positions"),
    case("index str", lambda t: t.a["x"], TYPE, r"bool masks; got 'x' \(str\)"),
    case("index ...", lambda t: t.a[..., ...], INDEX, r"can have one \.\.\. only"),
    case("slice step", lambda t: t.a[::0], INDEX, "step of a slice cannot be 0"),
    case("slice float", lambda t: t.a[0.5:], TYPE, "bounds of a slice must be ints or None"),
    case("slice lengths", lambda t: paddle.slice(t.a, [0], [0], [1, 2]), VALUE, "have one length"),
    case("slice axis", lambda t: paddle.slice(t.a, [3], [0], [1]), SHAPE, NO_AXIS),
    case("gather floats", lambda t: paddle.gather(t.a, t.u), TYPE, r"index\.astype\('int64'\)"),
    case("gather axis", lambda t: paddle.gather(t.a, t.i, axis=2), SHAPE, NO_AXIS),
    case("gather 0-d", lambda t: paddle.gather(t.s, t.i), SHAPE, "one dimension or more"),
    # activations
    *(
        case(f"{f.__name__} list", lambda t, f=f: f([1.0]), TYPE, "got list: use paddle.to_tensor")
        for f in (paddle.exp, paddle.tanh, F.relu, F.sigmoid, F.gelu, F.softmax, paddle.mean)
    ),
    *(
        case(f"{f.__name__} None", lambda t, f=f: f(None), TYPE, NOT_A_TENSOR + " NoneType")
        for f in (paddle.exp, paddle.sum, paddle.assign, F.log_softmax, F.leaky_relu)
    ),
    case("softmax axis", lambda t: F.softmax(t.a, axis=5), SHAPE, NO_AXIS),
    case("log_softmax axis", lambda t: F.log_softmax(t.a, axis=-3), SHAPE, NO_AXIS),
    case("softmax dtype", lambda t: F.softmax(t.a, dtype="x"), TYPE, "no dtype of this engine"),
    # embedding, one_hot, dropout
    case("embedding floats", lambda t: F.embedding(t.a, t.q), TYPE, r"use x\.astype\('int64'\)"),
    case("embedding table", lambda t: F.embedding(t.i, t.v), SHAPE, r"weight must be \[rows, widt"),
    case("padding_idx", lambda t: F.embedding(t.i, t.q, padding_idx=3), VALUE, "3 is no row of 3"),
    case("padding str", lambda t: F.embedding(t.i, t.q, padding_idx="x"), VALUE, "'x' is no row"),
    case("one_hot 0", lambda t: F.one_hot(t.i, 0), VALUE, "num_classes must be a positive int"),
    case("one_hot floats", lambda t: F.one_hot(t.a, 3), TYPE, "one_hot: x must hold integers"),
    case("dropout p", lambda t: F.dropout(t.a, 1.5), VALUE, "p must be a number from 0 to 1"),
    case("dropout str", lambda t: F.dropout(t.a, "x"), VALUE, "p must be a number from 0 to 1"),
    case("dropout mode", lambda t: F.dropout(t.a, mode="x"), VALUE, "mode must be 'upscale_in_tr"),
    # convolution and pooling
    case("conv2d x", lambda t: F.conv2d(t.a, t.w), SHAPE, r"x must be \[N, C, H, W\], got"),
    case("conv2d w", lambda t: F.conv2d(t.im, t.a), SHAPE, r"weight must be \[out, C / groups, kh"),
    case("conv2d channels", lambda t: F.conv2d(t.im, t.w5), SHAPE, "x has 2 channels, but weight"),
    case("conv2d groups", lambda t: F.conv2d(t.im, t.w, groups=0), VALUE, "groups must be a posit"),
    case("conv2d window", lambda t: F.conv2d(t.im, t.w9), SHAPE, "a kernel of 9 .* does not fit"),
    case("conv2d stride", lambda t: F.conv2d(t.im, t.w, stride=0), VALUE, "at least 1, got 0"),
    case("conv2d dilation", lambda t: F.conv2d(t.im, t.w, dilation=None), VALUE, "got None"),
    case("conv2d padding", lambda t: F.conv2d(t.im, t.w, padding="x"), VALUE, "'SAME', 'VALID' or"),
    case("conv2d paddings", lambda t: F.conv2d(t.im, t.w, padding=[1, 2, 3]), VALUE, "1, 2 or 4 i"),
    case("conv2d half", lambda t: F.conv2d(t.im, t.w, padding=1.5), VALUE, "non-negative ints"),
    case("conv2d bias", lambda t: F.conv2d(t.im, t.w, t.u), SHAPE, "one entry for each filter"),
    case("conv2d CHWN", lambda t: F.conv2d(t.im, t.w, data_format="CHWN"), VALUE, "'NCHW' or 'NHW"),
    case("max_pool2d x", lambda t: F.max_pool2d(t.a, 2), SHAPE, r"x must be \[N, C, H, W\]"),
    case("max_pool2d window", lambda t: F.max_pool2d(t.im, 5), SHAPE, "does not fit x"),
    case("max_pool2d 0", lambda t: F.max_pool2d(t.im, 0), VALUE, "at least 1, got 0"),
    case("max_pool2d None", lambda t: F.max_pool2d(t.im, None), VALUE, "kernel_size must be an in"),
    case("max_pool2d pad", lambda t: F.max_pool2d(t.im, 2, padding=2), VALUE, "below the window"),
    case("avg_pool2d", lambda t: F.avg_pool2d(t.im, 9), SHAPE, "does not fit x"),
    case("avg_pool2d div", lambda t: F.avg_pool2d(t.im, 2, divisor_override=0), VALUE, "positive"),
    case("adaptive", lambda t: F.adaptive_avg_pool2d(t.im, 0), VALUE, "of at least 1 or None"),
    # losses
    case("ce floats", lambda t: F.cross_entropy(t.a, t.u), TYPE, "or soft_label=True for probabi"),
    case("ce batch", lambda t: F.cross_entropy(t.a, t.j), SHAPE, r"needs labels of its shape with"),
    case("ce reduction", lambda t: F.cross_entropy(t.a, t.i, reduction="x"), VALUE, "'mean', 'sum"),
    case("ce axis", lambda t: F.cross_entropy(t.a, t.i, axis=5), SHAPE, NO_AXIS),
    case("ce smooth", lambda t: F.cross_entropy(t.a, t.i, label_smoothing=2), VALUE, r"in \[0, 1"),
    case("ce weight", lambda t: F.cross_entropy(t.a, t.i, t.u), SHAPE, "one entry for each class"),
    case("ce soft", lambda t: F.cross_entropy(t.a, t.m, soft_label=True), SHAPE, "soft labels mus"),
    case("ce list", lambda t: F.cross_entropy(t.a, [0, 1]), TYPE, "got list: use paddle.to_tensor"),
    case("swce axis", lambda t: F.softmax_with_cross_entropy(t.a, t.i, axis=9), SHAPE, NO_AXIS),
    case("mse reduction", lambda t: F.mse_loss(t.a, t.a, "x"), VALUE, "mse_loss: reduction must b"),
    case("mse shapes", lambda t: F.mse_loss(t.a, t.u), SHAPE, "do not broadcast"),
    case("nll floats", lambda t: F.nll_loss(t.a, t.u), TYPE, "label must hold integers"),
    case("nll 1-d", lambda t: F.nll_loss(t.v, t.i), SHAPE, r"input must be \[N, classes, ...\]"),
    # normalisation and recurrence
    case("layer_norm", lambda t: F.layer_norm(t.a, 2), SHAPE, "does not end in normalized_shape"),
    case("layer_norm w", lambda t: F.layer_norm(t.a, 3, t.u), SHAPE, r"weight must have shape \[3"),
    case("batch_norm x", lambda t: F.batch_norm(t.v, t.v, t.v), SHAPE, r"x must be \[N, C, ...\]"),
    case(
        "batch_norm statistics",
        lambda t: F.batch_norm(t.a, t.v, t.u, training=True),
        SHAPE,
        r"running_var must have shape \[3\], got \[2\]",
    ),
    case("batch_norm w", lambda t: F.batch_norm(t.a, t.v, t.v, t.u), SHAPE, "weight must have sha"),
    case(
        "batch_norm layout",
        lambda t: F.batch_norm(t.a, t.v, t.v, data_format="CHWN"),
        VALUE,
        "data_format must be one of",
    ),
    case("lstm_cell", lambda t: F.lstm_cell(t.a, t.a, t.a, t.a), VALUE, r"states must be \(h, c\)"),
    case("rnn cell", lambda t: F.rnn(3, t.b, t.a), VALUE, "cell must be callable, got int"),
    case("rnn time", lambda t: F.rnn(max, t.v, t.a), SHAPE, "axis 1 .* is the time"),
    # creation
    case("full shape", lambda t: paddle.full([-1], 1), VALUE, "must hold non-negative ints"),
    case("full None", lambda t: paddle.full(None, 1), VALUE, "must hold non-negative ints"),
    case("full str", lambda t: paddle.full([1], "x"), TYPE, "fill_value must be a number, got str"),
    case("full dtype", lambda t: paddle.zeros([1], "real"), TYPE, "'real' is no dtype"),
    case("full large", lambda t: paddle.full([1], 10**30, "int64"), VALUE, "does not fit int64"),
    case("full int8", lambda t: paddle.full([1], 300, "int8"), VALUE, "full: fill_value 300 does"),
    case("full nan", lambda t: paddle.full([1], np.nan, "int64"), VALUE, "nan does not fit int64"),
    case("full 10**400", lambda t: paddle.full([1], 10**400), VALUE, "does not fit float32"),
    case("full complex", lambda t: paddle.full([1], 1j), VALUE, "1j does not fit float32"),
    case("full_like", lambda t: paddle.full_like(t.i, 10**30), VALUE, "full_like: fill_value 1000"),
    case("full size", lambda t: paddle.full([10**20], 1), VALUE, "more elements than an array can"),
    case("arange large", lambda t: paddle.arange(10**30), VALUE, "arange: end 1000.* does not fit"),
    case("arange inf", lambda t: paddle.arange(0.0, np.inf), VALUE, "end must be a finite n"),
    case("ones_like", lambda t: paddle.ones_like("x"), TYPE, NOT_A_TENSOR + " str"),
    case("arange step", lambda t: paddle.arange(0, 1, 0), VALUE, "step must not be 0"),
    case("arange str", lambda t: paddle.arange("x"), TYPE, "must be a number, got str"),
    case("ragged", lambda t: paddle.to_tensor([[1], [1, 2]]), VALUE, "lists are not rectangular"),
    case("text", lambda t: paddle.to_tensor("x"), TYPE, "pass numbers, nested lists of numbers, o"),
    case("None", lambda t: paddle.to_tensor(None), TYPE, "cannot make a tensor of NoneType"),
    case("normal", lambda t: paddle.normal(0.0, -1.0), VALUE, "std must not be negative"),
    case("uniform", lambda t: paddle.uniform([1], min=2.0, max=1.0), VALUE, "must not be above ma"),
    case("rand dtype", lambda t: paddle.rand([1], "int64"), TYPE, "use randint for integers"),
    case("randint", lambda t: paddle.randint(3, 3), VALUE, r"high \(3\) must be above low \(3\)"),
    case("parameter 0", lambda t: paddle.create_parameter([0]), VALUE, "must be positive ints"),
    case("parameter int", lambda t: paddle.create_parameter(3), VALUE, "must be a list of sizes"),
    case("parameter dtype", lambda t: paddle.create_parameter([2], "int64"), TYPE, "must be flo"),
    case("parameter attr", lambda t: paddle.create_parameter([2], attr=3), VALUE, "a ParamAttr, a"),
    case(
        "parameter initializer",
        lambda t: paddle.create_parameter([2], default_initializer=3),
        VALUE,
        "the initializer must be one of paddle.nn.initializer, got int",
    ),
    case(
        "parameter value",
        lambda t: paddle.create_parameter([2], attr=paddle.nn.initializer.Assign([1.0])),
        SHAPE,
        r"the parameter has shape \[2\], the value \[1\]",
    ),
    # settings
    case("seed below 0", lambda t: paddle.seed(-1), VALUE, "seed takes a non-negative int, got -1"),
    case("seed float", lambda t: paddle.seed(1.5), VALUE, "seed takes a non-negative int"),
    case("device", lambda t: paddle.set_device("abacus"), VALUE, "no device 'abacus'"),
    case("default", lambda t: paddle.set_default_dtype("int64"), VALUE, "float16, float32 or floa"),
    case("flag", lambda t: paddle.set_flags({"FLAGS_x": 1}), VALUE, "no flag 'FLAGS_x'; there are"),
    case(
        "flag value",
        lambda t: paddle.set_flags({"FLAGS_call_stack_level": "x"}),
        TYPE,
        "FLAGS_call_stack_level must be an int, got 'x'",
    ),
    case("flags", lambda t: paddle.set_flags(3), TYPE, "set_flags takes a dict, got int"),
    case("accuracy", lambda t: static.accuracy(t.v, t.i), VALUE, r"input must be \[N, classes\]"),
]

EAGER_ONLY = [
    case("linear bias", lambda t: F.linear(t.a, t.q, t.v), SHAPE, "add: .*do not broadcast"),
    # what only values show
    case("gather far", lambda t: paddle.gather(t.a, t.far), INDEX, "9 is out of range; .* -2 to 1"),
    case("embedding below", lambda t: F.embedding(t.neg, t.q), INDEX, "-1 is out of range"),
    case("embedding far", lambda t: F.embedding(t.far, t.q), INDEX, "9 is out of range; .* 0 to 2"),
    case("one_hot far", lambda t: F.one_hot(t.far, 3), INDEX, "one_hot: index 9 is out of range"),
    case("ce far", lambda t: F.cross_entropy(t.a, t.far), INDEX, "9 is out of range; .* 0 to 2"),
    case("ce below", lambda t: F.cross_entropy(t.a, t.neg), INDEX, "-1 is out of range"),
    case("nll far", lambda t: F.nll_loss(t.a, t.far), INDEX, "9 is out of range"),
    case("power", lambda t: t.i**-1, VALUE, r"x\.astype\('float32'\)"),
    # backward
    case("twice", lambda t: paddle.autograd.backward([t.a, t.a]), VALUE, "same Tensor twice; name"),
    case("nothing", lambda t: paddle.autograd.backward([]), VALUE, "tensors cannot be empty"),
    case("None", lambda t: paddle.autograd.backward(None), TYPE, "tensors must be a Tensor or a l"),
    case("[None]", lambda t: paddle.autograd.backward([None]), TYPE, "tensors must be a Tensor"),
    case("ndarray", lambda t: paddle.autograd.backward(np.ones(2)), TYPE, "got ndarray"),
    case("lengths", lambda t: paddle.autograd.backward([t.a], [t.a, t.a]), VALUE, "2 entries for"),
    case("one for two", lambda t: paddle.autograd.backward([t.a, t.v], t.a), VALUE, "None for one"),
    case("cotangent", lambda t: t.a.backward(np.ones((2, 3))), TYPE, "must be None, a Tensor, or"),
    case("cotangents", lambda t: paddle.autograd.backward([t.a], [3]), TYPE, "use paddle.to_tenso"),
    case("cotangent int", lambda t: paddle.autograd.backward([t.a], 3), TYPE, "must be None, a Te"),
    case("cotangent shape", lambda t: t.a.backward(t.v), SHAPE, r"\[3\] for a tensor of shape \[2"),
    case("cotangent [1]", lambda t: t.v.backward(t.j * 1.0), SHAPE, "they must be equal"),
    case("retain", lambda t: t.a.backward(None, 1), VALUE, "retain_graph must be True or False, g"),
    case("retain str", lambda t: t.a.backward(retain_graph="x"), VALUE, "retain_graph must be Tru"),
    case("path", lambda t: t.a.backward(dump_backward_graph_path=3), VALUE, "must be a str, got i"),
    # grad
    case("grad no outputs", lambda t: paddle.grad([], t.a), VALUE, "outputs cannot be empty"),
    case("grad no inputs", lambda t: paddle.grad(t.a, []), VALUE, "inputs cannot be empty"),
    case("grad None", lambda t: paddle.grad(None, t.a), TYPE, "outputs must be a Tensor"),
    case("grad input", lambda t: paddle.grad(t.a, "x"), TYPE, "inputs must be a Tensor"),
    case("grad twice", lambda t: paddle.grad(t.a, [t.a, t.a]), VALUE, "inputs holds the same Tens"),
    case("grad outputs", lambda t: paddle.grad(t.a, t.a, [t.a, t.a]), VALUE, "2 entries for 1"),
    case("grad shape", lambda t: paddle.grad(t.a, t.a, t.v), SHAPE, "grad_outputs has shape"),
    case("only_inputs", lambda t: paddle.grad(t.a, t.a, only_inputs=False), VALUE, "use backward"),
    case("no_grad_vars", lambda t: paddle.grad(t.a, t.a, no_grad_vars=3), TYPE, "no_grad_vars mus"),
    case("no_grad_vars 2", lambda t: paddle.grad(t.a, t.a, no_grad_vars=["x"]), TYPE, "no_grad_va"),
    case("unused", lambda t: paddle.grad(t.a, t.v), RuntimeError, "allow_unused=True to get None"),
    case("unused closed", lambda t: paddle.grad(t.a, t.s), RuntimeError, r"inputs\[0\] does not a"),
    # tensors
    case("assign shape", lambda t: paddle.assign(t.a, t.u), SHAPE, r"shape \[2\], the value \[2,"),
    case(
        "assign kind",
        lambda t: paddle.assign(t.a, 3),
        TYPE,
        "output must be a Tensor or a Variable, got int",
    ),
    # the other mode
    case("data", lambda t: static.data("x", [1]), AssertionError, r"call paddle\.enable_static\("),
    case("append_backward", lambda t: static.append_backward(t.a), TYPE, r"call \.backward\(\)"),
    case("gradients", lambda t: static.gradients(t.a, t.a), TYPE, r"call \.backward\(\) on the re"),
    case("fc", lambda t: static.nn.fc(t.a, 3), TYPE, "x must be a Variable of a program"),
    case("run", lambda t: static.Executor().run(3), TYPE, "program must be a Program, got int"),
]


def snapshot(t: Any) -> Any:
    """Everything that a failing call could have changed."""
    values = {n: (v.tolist(), v.grad, v.stop_gradient) for n, v in vars(t).items()}
    return values, settings()


def settings() -> Any:
    return (
        generator().bit_generator.state,
        paddle.get_default_dtype(),
        paddle.get_flags("FLAGS_call_stack_level"),
        paddle.is_grad_enabled(),
        paddle.in_dynamic_mode(),
        repr(static.default_main_program()),
        repr(static.default_startup_program()),
        static.global_scope().local_var_names(),
    )


@over("wrong", EITHER_MODE + EAGER_ONLY, by=before(" "))
def test_eagerly(wrong: Case) -> None:
    t = SimpleNamespace(
        **{n: paddle.to_tensor(np.ones(s, "float32")) for n, s in SHAPES.items()},
        **{n: paddle.to_tensor(v) for n, v in INTEGERS.items()},
    )
    t.a.stop_gradient = t.v.stop_gradient = False
    before = snapshot(t)
    with pytest.raises(wrong.kinds, match=wrong.hint):
        wrong.call(t)
    assert snapshot(t) == before


@over("wrong", EITHER_MODE, by=before(" "))
def test_in_a_program(wrong: Case) -> None:
    paddle.enable_static()
    t = SimpleNamespace(
        **{n: static.data(n, list(s)) for n, s in SHAPES.items()},
        **{n: static.data(n, [len(v)], "int64") for n, v in INTEGERS.items()},
    )
    before = settings()
    with pytest.raises(wrong.kinds, match=wrong.hint):
        wrong.call(t)
    assert settings() == before


@pytest.mark.parametrize(
    "error",
    ["ArgumentError", "BuildError", "DTypeError", "ExecutionError", "FeedError", "GraphFreedError",
     "ModeError", "NotATensorError", "NotDifferentiableError", "ShapeError"],
)  # fmt: skip
def test_every_error_reads_as_a_sentence(error: str) -> None:
    from autograd_engine import errors

    assert str(getattr(errors, error)("feed 'x' is missing")) == "feed 'x' is missing"
