"""Wrong arguments while a program is built: one of our exceptions, and programs as they were.

A table: what is called, as a function of the variables below; the exception; what it says.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import errors

static = paddle.static
nn = static.nn

VALUE, TYPE = ValueError, TypeError
OURS = tuple(getattr(errors, name) for name in errors.__all__)
OBJECT, ARRAY = object(), np.ones(2)


def case(name: str, call: Callable[[Any], Any], kind: Any, hint: str) -> Any:
    return pytest.param(call, kind, hint, id=name)


LAYERS: dict[str, Callable[..., Any]] = {
    "fc": lambda t, **k: nn.fc(t.x, 2, **k),
    "embedding": lambda t, **k: nn.embedding(t.i, [5, 2], **k),
    "conv2d": lambda t, **k: nn.conv2d(t.image, 4, 3, **k),
    "conv3d": lambda t, **k: nn.conv3d(t.volume, 4, 2, **k),
    "conv2d_transpose": lambda t, **k: nn.conv2d_transpose(t.image, 4, filter_size=3, **k),
    "conv3d_transpose": lambda t, **k: nn.conv3d_transpose(t.volume, 4, filter_size=2, **k),
    "batch_norm": lambda t, **k: nn.batch_norm(t.image, **k),
    "layer_norm": lambda t, **k: nn.layer_norm(t.x, **k),
    "group_norm": lambda t, **k: nn.group_norm(t.image, 2, **k),
    "instance_norm": lambda t, **k: nn.instance_norm(t.image, **k),
    "prelu": lambda t, **k: nn.prelu(t.image, "all", **k),
    "bilinear_tensor_product": lambda t, **k: nn.bilinear_tensor_product(t.x, t.h, 2, **k),
    "row_conv": lambda t, **k: nn.row_conv(t.steps, 1, **k),
    "spectral_norm": lambda t, **k: nn.spectral_norm(t.w, **k),
}
FLOWS: dict[str, Callable[..., Any]] = {
    "cond": lambda t, **k: nn.cond(t.flag, lambda: t.x, lambda: t.x, **k),
    "case": lambda t, **k: nn.case([(t.flag, lambda: t.x)], lambda: t.x, **k),
    "switch_case": lambda t, **k: nn.switch_case(t.index, [lambda: t.x, lambda: t.x], **k),
    "while_loop": lambda t, **k: nn.while_loop(lambda i: i < 3, lambda i: [i + 1], [t.index], **k),
    "static_pylayer": lambda t, **k: nn.static_pylayer(lambda x: x * 2.0, [t.x], None, **k),
}
ACT = {"fc": "activation"}
WITHOUT_ACT = {"embedding", "instance_norm", "prelu", "spectral_norm"}
WITHOUT_NAME = {"row_conv"}

TABLE = [
    *(
        case(f"{layer} name {bad!r:.8}", lambda t, c=call, b=bad: c(t, name=b), TYPE, hint)
        for layer, call in {**LAYERS, **FLOWS}.items()
        if layer not in WITHOUT_NAME
        for bad, hint in (
            (3, f"{layer}: name must be a str or None, got 3"),
            (ARRAY, f"{layer}: name must be a str or None, got ndarray"),
        )
    ),
    *(
        case(
            f"{layer} act",
            lambda t, n=layer, c=call: c(t, **{ACT.get(n, "act"): ["relu"]}),
            TYPE,
            f"{layer}: {ACT.get(layer, 'act')} must be a str or None, got list",
        )
        for layer, call in LAYERS.items()
        if layer not in WITHOUT_ACT
    ),
    case(
        "fc flatten", lambda t: nn.fc(t.x, 2, None), TYPE, "num_flatten_dims must be an int, got N"
    ),
    case("fc eager", lambda t: nn.fc(np.ones((2, 2)), 2), TYPE, "fc: x must be a Variable"),
    case(
        "layer_norm axis",
        lambda t: nn.layer_norm(t.x, begin_norm_axis="1"),
        TYPE,
        "layer_norm: begin_norm_axis must be an int, got str",
    ),
    case(
        "layer_norm scale",
        lambda t: nn.layer_norm(t.x, scale=t.x),
        TYPE,
        "layer_norm: scale must be True or False, got the variable x",
    ),
    case(
        "batch_norm is_test",
        lambda t: nn.batch_norm(t.image, is_test=ARRAY),
        TYPE,
        "batch_norm: is_test must be True or False, got ndarray",
    ),
    case(
        "batch_norm kind", lambda t: nn.batch_norm(t.i), TYPE, "input must be floating, got int64"
    ),
    case(
        "embedding sparse",
        lambda t: nn.embedding(t.i, [5, 2], is_sparse=1),
        TYPE,
        "embedding: is_sparse must be True or False, got 1",
    ),
    case(
        "spectral_norm dim", lambda t: nn.spectral_norm(t.w, dim=t.x), VALUE, "dim must be 0 or 1"
    ),
    case("nce classes", lambda t: nn.nce(t.x, t.x, 5), TYPE, "label must hold integers"),
    case(
        "nce distribution",
        lambda t: nn.nce(t.x, t.i, 3, sampler="custom_dist", custom_dist=[1.0]),
        VALUE,
        "custom_dist must be 3 probabilities",
    ),
    case("nce seed", lambda t: nn.nce(t.x, t.i, 3, seed=7), VALUE, r"call paddle.seed\(7\)"),
    case("row_conv shape", lambda t: nn.row_conv(t.x, 1), VALUE, r"must be \[N, T, D\]"),
    case(
        "bilinear shape",
        lambda t: nn.bilinear_tensor_product(t.image, t.x, 2),
        VALUE,
        r"x must be \[N, width\] with a known width",
    ),
    case(
        "switch_case structure",
        lambda t: nn.switch_case(t.index, [lambda: t.x], lambda: None),
        VALUE,
        "both must return the same structure",
    ),
    case(
        "switch_case index",
        lambda t: nn.switch_case(t.i, [lambda: t.x], lambda: t.x),
        VALUE,
        "must have one element",
    ),
    # variables
    case(
        "global_var shape",
        lambda t: static.create_global_var(3, 0.0, "float32"),
        TYPE,
        "create_global_var: shape must be a list",
    ),
    case(
        "global_var size",
        lambda t: static.create_global_var([-1], 0.0, "float32"),
        VALUE,
        "all sizes of shape .* must be known",
    ),
    case(
        "global_var value",
        lambda t: static.create_global_var([1], [0.0], "float32"),
        VALUE,
        "value must be one number, got list",
    ),
    case(
        "global_var name",
        lambda t: static.create_global_var([1], 0.0, "float32", name=[1]),
        TYPE,
        "name must be a str or None, got list",
    ),
    case(
        "global_var dtype",
        lambda t: static.create_global_var([1], 0.0, t.x),
        TYPE,
        "is no dtype of this engine; use one of",
    ),
    case("data dtype", lambda t: static.data("d", [1], t.x), TYPE, "no dtype of this engine"),
    case(
        "parameter name",
        lambda t: static.create_parameter([1], "float32", name=3),
        TYPE,
        "create_parameter: name must be a str or None, got 3",
    ),
    case("attr name", lambda t: paddle.ParamAttr(name=3), TYPE, "ParamAttr: name must be a str"),
    case(
        "attr initializer",
        lambda t: paddle.ParamAttr(initializer=0.5),
        TYPE,
        "initializer must be one of paddle.nn.initializer, got float",
    ),
    case(
        "attr trainable",
        lambda t: paddle.ParamAttr(trainable="no"),
        VALUE,
        "trainable must be True or False, got 'no'",
    ),
    case("block var", lambda t: t.main.global_block().var(["x"]), TYPE, "takes the name of a var"),
    case("program block", lambda t: t.main.block(t.x), TYPE, "index must be an int, got Variable"),
    case("find_var", lambda t: static.global_scope().find_var(["w"]), TYPE, "name must be a str"),
    case("erase", lambda t: static.global_scope().erase(None), TYPE, "names must be a list of str"),
    case(
        "set",
        lambda t: static.global_scope().var("q").get_tensor().set({}),
        VALUE,
        "q takes an array of numbers, got d",
    ),
    case("set_value", lambda t: t.x.set_value(1.0), VALUE, "x is not kept between runs.*feed it"),
    case("get_value", lambda t: t.w.get_value(), VALUE, "run the startup program first"),
    case("get_value scope", lambda t: t.w.get_value(3), TYPE, "scope must be a Scope or None"),
    case("assign dtype", lambda t: paddle.assign(t.i, t.h), TYPE, r"cast x first, x\.astype"),
    case("assign shape", lambda t: paddle.assign(t.x, t.w), VALUE, "reshape or expand x first"),
    case(
        "assign kind", lambda t: paddle.assign("a", t.w), TYPE, "x must be a Variable, an ndarray"
    ),
    case("assign float", lambda t: paddle.assign([0.5], t.index), TYPE, "cannot take float"),
    case(
        "state_dict mode",
        lambda t: t.main.state_dict("all of it"),
        VALUE,
        "'all', 'param' or 'opt'",
    ),
    case("state_dict scope", lambda t: t.main.state_dict("all", 3), TYPE, "scope must be a Scope"),
    case(
        "state_dict", lambda t: t.main.state_dict(), RuntimeError, "run the startup program first"
    ),
    case("set_state_dict", lambda t: t.main.set_state_dict([1]), TYPE, "must be a dict from names"),
    # metrics
    case("auc curve", lambda t: static.auc(t.p, t.i, "PR"), VALUE, "curve must be 'ROC', got 'PR'"),
    case("auc label", lambda t: static.auc(t.p, t.p), TYPE, "declare it with dtype='int64'"),
    case("auc shape", lambda t: static.auc(t.x, t.i), VALUE, r"input must be \[N, 2\] or \[N, 1\]"),
    case(
        "auc bins", lambda t: static.auc(t.p, t.i, num_thresholds=0), VALUE, "num_thresholds must"
    ),
    case(
        "auc kind", lambda t: static.auc([0.1], t.i), TYPE, "auc: input must be a Variable, got l"
    ),
    case("auc weight", lambda t: static.auc(t.p, t.i, ins_tag_weight=t.p), VALUE, "leave it out"),
    case("accuracy label", lambda t: static.accuracy(t.p, t.p), VALUE, r"label must be \[4\] or"),
    case(
        "accuracy total", lambda t: static.accuracy(t.p, t.i, total=3), TYPE, "total must be a Var"
    ),
    case(
        "recompute_report", lambda t: static.recompute_report(t.x, [t.h]), TYPE, "must be a Program"
    ),
    case(
        "checkpoints", lambda t: static.recompute_report(t.main, None), TYPE, "a list of Variables"
    ),
    # schedulers, jit
    case(
        "last_epoch",
        lambda t: paddle.optimizer.lr.StepDecay(0.1, 2, last_epoch=t.x),
        TYPE,
        "last_epoch must be",
    ),
    case(
        "last_epoch array",
        lambda t: paddle.optimizer.lr.StepDecay(0.1, 2, last_epoch=ARRAY),
        TYPE,
        "last_epoch",
    ),
    case(
        "ignore_module", lambda t: paddle.jit.ignore_module(np), TYPE, "must be a list of modules"
    ),
]


def variables() -> SimpleNamespace:
    t = SimpleNamespace(main=static.default_main_program())
    t.x, t.i = static.data("x", [4, 3]), static.data("i", [4, 1], "int64")
    t.image, t.volume = static.data("image", [2, 4, 6, 6]), static.data("volume", [2, 2, 4, 4, 4])
    t.steps, t.index = static.data("steps", [2, 5, 3]), static.data("index", [1], "int64")
    t.w = static.create_parameter([3, 2], "float32", name="w")
    t.h = paddle.matmul(t.x, t.w)
    t.p = paddle.nn.functional.softmax(t.h)
    t.flag = paddle.mean(t.x) > 0.0
    return t


def programs() -> list[Any]:
    made = (static.default_main_program(), static.default_startup_program())
    return [(str(p), [list(b.vars) for b in p.blocks]) for p in made]


@pytest.mark.usefixtures("static_mode")
@pytest.mark.parametrize(("call", "kind", "hint"), TABLE)
def test_what_is_refused(call: Callable[[Any], Any], kind: Any, hint: str) -> None:
    t = variables()
    before = programs()
    with pytest.raises(kind, match=hint) as raised:
        call(t)
    assert isinstance(raised.value, (*OURS, TypeError))
    assert programs() == before


@pytest.mark.usefixtures("static_mode")
@pytest.mark.parametrize("name", sorted({**LAYERS, **FLOWS}))
def test_the_calls_of_the_table_work_with_right_arguments(name: str) -> None:
    t = variables()
    assert {**LAYERS, **FLOWS}[name](t) is not None


@pytest.mark.usefixtures("static_mode")
@pytest.mark.parametrize("layer", sorted(LAYERS.keys() - {"spectral_norm"}))
def test_an_attribute_that_is_refused_leaves_nothing(layer: str) -> None:
    t = variables()
    before = programs()
    argument = "weight_attr" if layer == "fc" else "param_attr"
    with pytest.raises(ValueError, match="must be a ParamAttr, a name, an initializer"):
        LAYERS[layer](t, **{argument: OBJECT})
    assert programs() == before
