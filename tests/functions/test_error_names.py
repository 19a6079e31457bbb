"""What a wrong tensor argument is told: the function that was called, the argument, what came.

Each function and each layer is called, in both modes, with one of its tensor arguments replaced by
something else. Some replacements are taken: of these nothing is asked here.
"""

import inspect
import re
import traceback
import warnings

import numpy as np

import autograd_engine as paddle
from autograd_engine.core.locations import PACKAGE_DIR
from autograd_engine.core.operand import Operand
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import FeedError, ModeError
from tests.nn.layer_cases import CASES as LAYERS
from tests.over import over

from .cases import CASES, family
from .test_bad_operands import (
    FUNCTIONS,
    RAW,
    at_once,
    bound,
    call_with,
    resolve,
    tensors,
    variables,
)

static = paddle.static

# x[...] and x[...] = value say what they are about in these terms.
BY_SYMBOL = {"Tensor.__getitem__", "Tensor.__setitem__"}
TAKEN = {("while_loop", "loop_vars", "complex")}  # `i < 3` is a call of the test's


# Where a name is a word too short to say.
WORDS = {"pred": "pred|condition", "param": "param|parameter", "input": "input|groups"}


def replacements(good, of_program):
    """What takes the place of `good`, each with what a message may say of it."""
    spec = good.spec if of_program else good._data
    sizes, dtype = [d if isinstance(d, int) else 2 for d in spec.shape], spec.dtype

    of_array = ["complex", "empty", "Tensor", "Variable", "matrix", *"[(0123456789"]

    def array(label, value):
        if of_program:
            name = paddle.unique_name.generate("bad")
            value = static.data(name, list(value.shape), value.dtype)
        else:
            value = Tensor._wrap(value)
        return label, value, of_array

    yield "None", None, ["None"]
    yield "str", "sx", ["str", "'sx'"]
    yield "dict", {"sx": 1}, ["dict", "'sx'"]
    yield "str array", np.full(sizes, "ab"), ["<U2", "str", "ndarray"]
    yield array("more axes", np.ones((2,) + (3,) * (len(sizes) + 1), dtype))
    yield array("0-d", np.ones((), dtype))
    yield array("larger", np.ones([n + 5 for n in sizes], dtype))
    yield array("empty", np.ones([0] * len(sizes), dtype))
    if dtype.kind != "c":
        yield array("complex", np.full(sizes, 1j, "complex64"))
    if dtype.kind != "f":
        yield array("floats", np.full(sizes, 0.5, "float32"))
    if of_program:
        yield "Tensor", Tensor._wrap(np.ones(sizes, dtype)), of_array
    else:
        with static.program_guard(static.Program()):
            foreign = static.data("foreign", sizes, dtype)
        yield "Variable", foreign, of_array


def places(value):
    """A tensor in the value of an argument, and that value with another in its place."""
    if isinstance(value, Operand):
        yield value, lambda bad: bad
    elif isinstance(value, (list, tuple)) and value and all(isinstance(v, Operand) for v in value):
        yield value[-1], lambda bad: type(value)([*value[:-1], bad])


def complaint(names, arguments, call, says):
    """What the message of `call` lacks: empty for nothing, None where it does not fail."""
    try:
        with at_once(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            call()
    except Exception as error:
        files = [f.filename for f in traceback.extract_tb(error.__traceback__)]
        outside = [file for file in files if not file.startswith(PACKAGE_DIR)]
        if isinstance(error, (ModeError, FeedError)):
            return ""  # it is not the argument that is wrong
        if outside[-1] == files[-1] or outside[-1] not in (__file__, CALLS):
            return ""  # raised by a call of a function of the user's, or in it
        text = str(error)
        lacks = []
        if RAW.search(re.sub("|".join(map(re.escape, names)), "", text)):
            lacks.append("words of ours")
        if not any(re.match(rf"(\w+\.)*{re.escape(name)}\W", text) for name in names):
            lacks.append("the function")
        said = "|".join(WORDS.get(name, name) for name in arguments)
        if not re.search(rf"\b({said})\b", re.sub(rf"^({'|'.join(names)})\b", "", text)):
            lacks.append("the argument")
        if not any(s in text for s in says):
            lacks.append("what came")
        return f"lacks {', '.join(lacks)}: {type(error).__name__}: {text}" if lacks else ""
    return None


CALLS = call_with.__code__.co_filename


def found_in(label, names, given, call, counts=None):
    """Complaints about calls with one tensor among the arguments `given` replaced."""
    found = {}
    for k, (argument, value) in enumerate(given.items()):
        for good, put in places(value):
            for what, bad, says in replacements(good, not isinstance(good, Tensor)):
                if k == 0 and label.startswith("Tensor.") and not isinstance(bad, Operand):
                    continue  # no method is called on that
                # What does not fit together may be said of either.
                arguments = ["x", *given] if isinstance(bad, Operand) else [argument]
                changed = {**given, argument: put(bad)}
                said = complaint(names, arguments, lambda c=changed: call(c), says)
                if counts is not None:
                    counts["taken" if said is None else "bad" if said else "good"] += 1
                if said and (label, argument, what) not in TAKEN:
                    found[argument, what] = said
    return found


def of_function(name, of_program, counts=None):
    case = CASES[name][0]
    given = bound(name, case, variables(case) if of_program else tensors(case))
    if given is None:
        return {}
    given = {p: given.get(p) for p in inspect.signature(resolve(name)).parameters}
    # Of a function with several names, the one that it is called by is not known from `call_with`.
    names = {name.rpartition(".")[2], inspect.unwrap(resolve(name)).__code__.co_name}
    return found_in(name, names, given, lambda changed: call_with(name, changed), counts)


def of_layer(case, of_program, counts=None):
    layer = case.make()
    arrays = case.arrays()
    if of_program:
        xs = [static.data(f"x{k}", list(a.shape), a.dtype) for k, a in enumerate(arrays)]
    else:
        xs = [Tensor._wrap(a) for a in arrays]
    given = inspect.signature(layer.forward).bind(*xs).arguments

    def call(changed):
        return layer(*changed.values())

    return found_in(case.text, {case.name, type(layer).__name__}, given, call, counts)


ASKED = [n for n in FUNCTIONS if n not in BY_SYMBOL]
FIRST = list({case.name: case for case in reversed(LAYERS)}.values())


@over("name", ASKED, by=family)
def test_functions(name):
    assert of_function(name, False) == {}
    if CASES[name][0].static:
        with static.program_guard(static.Program()):
            assert of_function(name, True) == {}


@over("case", FIRST, ids=[case.name for case in FIRST], by=lambda name: "all")
def test_layers(case):
    assert of_layer(case, False) == {}
    paddle.enable_static()
    assert of_layer(case, True) == {}


# --- what is no function of `paddle` or `nn.functional`, and no layer


def parameter():
    return paddle.nn.Linear(2, 3).weight


def tensor(*shape, dtype="float32"):
    return Tensor._wrap(np.ones(shape, dtype))


def leaf():
    return paddle.to_tensor([0.5, 2.0], stop_gradient=False)


# The call, and its arguments; a name begins with what is called.
EAGER = {
    "grad": (lambda x: paddle.grad(**x), lambda x: {"outputs": x * x, "inputs": x}),
    "grad seeds": (
        lambda x: paddle.grad(**x),
        lambda x: {"outputs": [x * x], "inputs": [x], "grad_outputs": [x + 1.0]},
    ),
    "backward": (
        lambda x: x["self"].backward(x["grad_tensor"], retain_graph=True),
        lambda x: {"self": x * x, "grad_tensor": x + 1.0},
    ),
    "autograd.backward": (
        lambda x: paddle.autograd.backward(**x, retain_graph=True),
        lambda x: {"tensors": [x * x], "grad_tensors": [x + 1.0]},
    ),
    "jacobian": (lambda x: paddle.autograd.jacobian(**x), lambda x: {"ys": x * x, "xs": x}),
    "hessian": (lambda x: paddle.autograd.hessian(**x), lambda x: {"ys": (x**3).sum(), "xs": x}),
    "clip_grad_norm_": (
        lambda x: paddle.nn.utils.clip_grad_norm_(**x, max_norm=1.0),
        lambda x: {"parameters": [parameter()]},
    ),
    "clip_grad_value_": (
        lambda x: paddle.nn.utils.clip_grad_value_(**x, clip_value=1.0),
        lambda x: {"parameters": [parameter()]},
    ),
    "parameters_to_vector": (
        lambda x: paddle.nn.utils.parameters_to_vector(**x),
        lambda x: {"parameters": [parameter()]},
    ),
    "vector_to_parameters": (
        lambda x: paddle.nn.utils.vector_to_parameters(**x),
        lambda x: {"vec": tensor(6), "parameters": [parameter()]},
    ),
    "SGD": (
        lambda x: paddle.optimizer.SGD(0.1, **x),
        lambda x: {"parameters": [parameter(), parameter()]},
    ),
    "Adam": (
        lambda x: paddle.optimizer.Adam(0.1, **x),
        lambda x: {"parameters": [parameter(), parameter()]},
    ),
    "Accuracy": (
        lambda x: paddle.metric.Accuracy().compute(**x),
        lambda x: {"pred": tensor(4, 3), "label": tensor(4, 1, dtype="int64")},
    ),
    "Precision": (
        lambda x: paddle.metric.Precision().update(**x),
        lambda x: {"preds": tensor(4, 1), "labels": tensor(4, 1, dtype="int64")},
    ),
    "Auc": (
        lambda x: paddle.metric.Auc().update(**x),
        lambda x: {"preds": tensor(4, 2), "labels": tensor(4, 1, dtype="int64")},
    ),
    "TensorDataset": (
        lambda x: paddle.io.TensorDataset(**x),
        lambda x: {"tensors": [tensor(3, 2), tensor(3)]},
    ),
    "Constant": (
        lambda x: paddle.nn.initializer.Constant(1.0)(**x),
        lambda x: {"param": parameter()},
    ),
}


def data(name, *shape, dtype="float32"):
    return static.data(name, list(shape), dtype)


def executed(fetch_list):
    return static.Executor().run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=fetch_list)


IN_PROGRAMS = {
    "append_backward": (
        lambda t: static.append_backward(**t),
        lambda x: {"loss": paddle.mean(x * x)},
    ),
    "gradients": (
        lambda t: static.gradients(**t),
        lambda x: {"targets": [x * x], "inputs": [x], "target_gradients": [x + 1.0]},
    ),
    "save_inference_model": (
        lambda t: static.save_inference_model("unused", executor=static.Executor(), **t),
        lambda x: {"feed_vars": [x], "fetch_vars": [x * x]},
    ),
    "normalize_program": (
        lambda t: static.normalize_program(static.default_main_program(), **t),
        lambda x: {"feed_vars": [x], "fetch_vars": [x * x]},
    ),
    "run": (lambda t: executed(**t), lambda x: {"fetch_list": [x * x]}),
    "Print": (lambda t: static.Print(**t), lambda x: {"input": x}),
    "Assert": (lambda t: static.Assert(**t), lambda x: {"cond": paddle.all(x > 0), "data": [x]}),
    "accuracy": (
        lambda t: static.accuracy(**t),
        lambda x: {"input": x, "label": data("label", 2, 1, dtype="int64")},
    ),
    "auc": (
        lambda t: static.auc(**t),
        lambda x: {"input": data("p", 4, 2), "label": data("label", 4, 1, dtype="int64")},
    ),
    "setitem": (
        lambda t: static.setitem(t["x"], slice(0, 1), t["value"]),
        lambda x: {"x": x, "value": paddle.ones([1, 3])},
    ),
    "minimize": (
        lambda t: paddle.optimizer.SGD(0.1).minimize(**t),
        lambda x: {"loss": paddle.mean(static.nn.fc(x, 2))},
    ),
    "fc": (lambda t: static.nn.fc(**t, size=2), lambda x: {"x": x}),
    "embedding": (
        lambda t: static.nn.embedding(**t, size=[5, 2]),
        lambda x: {"input": data("i", 2, dtype="int64")},
    ),
    "conv2d": (
        lambda t: static.nn.conv2d(**t, num_filters=4, filter_size=3),
        lambda x: {"input": data("image", 2, 4, 8, 8)},
    ),
    "batch_norm": (
        lambda t: static.nn.batch_norm(**t),
        lambda x: {"input": data("im", 2, 4, 8, 8)},
    ),
    "layer_norm": (lambda t: static.nn.layer_norm(**t), lambda x: {"input": x}),
    "group_norm": (
        lambda t: static.nn.group_norm(**t, groups=2),
        lambda x: {"input": data("im", 2, 4, 8, 8)},
    ),
    "instance_norm": (
        lambda t: static.nn.instance_norm(**t),
        lambda x: {"input": data("im", 2, 4, 8, 8)},
    ),
    "prelu": (lambda t: static.nn.prelu(**t, mode="all"), lambda x: {"x": x}),
    "bilinear_tensor_product": (
        lambda t: static.nn.bilinear_tensor_product(**t, size=2),
        lambda x: {"x": x, "y": data("y", 2, 3)},
    ),
    "row_conv": (
        lambda t: static.nn.row_conv(**t, future_context_size=1),
        lambda x: {"input": data("steps", 2, 4, 3)},
    ),
    "spectral_norm": (
        lambda t: static.nn.spectral_norm(**t),
        lambda x: {"weight": data("w", 4, 3)},
    ),
    "cond": (
        lambda t: static.nn.cond(t["pred"], lambda: paddle.ones([1]), lambda: paddle.zeros([1])),
        lambda x: {"pred": paddle.all(x > 0)},
    ),
    "switch_case": (
        lambda t: static.nn.switch_case(t["branch_index"], [lambda: paddle.ones([1])] * 2),
        lambda x: {"branch_index": data("index", dtype="int32")},
    ),
    "while_loop": (
        lambda t: static.nn.while_loop(lambda i: i < 3, lambda i: [i + 1], **t),
        lambda x: {"loop_vars": [data("count", dtype="int64")]},
    ),
}


def of_call(label, table, x, counts=None):
    call, arguments = table[label]
    name = label.split()[0].rpartition(".")[2]
    return found_in(label, {name}, arguments(x), call, counts)


@over("label", list(EAGER), by=lambda label: "all")
def test_other_calls_eagerly(label):
    assert of_call(label, EAGER, leaf()) == {}


@over("label", list(IN_PROGRAMS), by=lambda label: "all")
def test_other_calls_in_a_program(label):
    paddle.enable_static()
    assert of_call(label, IN_PROGRAMS, data("x", None, 3)) == {}
