"""Every spelling of a call that Paddle 3.3.1 takes gives what the declared one gives.

spellings.json says which there are: tools/spellings.py has asked Paddle.
"""

from __future__ import annotations

import inspect
import json
import pickle
import re
import subprocess
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from tests.functions.cases import CASES
from tests.functions.harness import flat
from tests.functions.test_bad_operands import bound, resolve, tensors
from tests.over import over

SPELLINGS = json.loads(Path(__file__).with_name("spellings.json").read_text(encoding="utf-8"))
# What Paddle takes and this engine does not.
DIFFERENT = {
    ("randperm", "requires_grad"): "integers have no gradient",
}
CREATION = {"requires_grad": True, "device": "cpu", "pin_memory": False}


def arguments(name: str, case: Any) -> dict[str, Any] | None:
    """The arguments, by name, that the function has in this case."""
    given = bound(name, case, tensors(case))
    names = inspect.signature(resolve(name)).parameters
    return given and {k: _anew(given[k]) for k in names if k in given}


def _anew(value: Any) -> Any:
    """What an in-place call may write to."""
    if isinstance(value, Tensor):
        return paddle.to_tensor(value.numpy())
    return [_anew(v) for v in value] if isinstance(value, list) else value


def call(name: str, given: dict[str, Any], method: bool, positional: int = 0) -> Any:
    paddle.seed(7)
    values = [v if k == "out" else _anew(v) for k, v in given.items()]
    named = dict(zip(list(given)[positional:], values[positional:], strict=True))
    if method:
        return getattr(values[0], name)(*values[1:positional], **named)
    return resolve(name)(*values[:positional], **named)


def respelled(name: str, given: dict[str, Any], spelling: str, method: bool) -> Any:
    """The same call in another spelling."""
    first = int(method)
    if spelling in CREATION:
        return call(name, given | {spelling: CREATION[spelling]}, method)
    if spelling == "out":
        expected = call(name, given, method, first)
        out = [paddle.empty([0], dtype=x.dtype) for x in flat(expected)]
        taken = out[0] if isinstance(expected, Tensor) else tuple(out)
        result = call(name, given | {"out": taken}, method, first)
        assert all(a is b for a, b in zip(flat(result), out, strict=True))
        return taken
    if spelling == "axis second":
        (first_name, x), *later = given.items()
        others = {k: v for k, v in later if k not in ("axis", "name")}
        moved = {first_name: x, "axis": given["axis"], **others}
        return call(name, moved, method, len(moved))
    if spelling.startswith("*"):
        sizes = spelling[1:]
        k = list(given).index(sizes)
        values = [*list(given.values())[:k], *given[sizes]]
        more = {n: v for n, v in list(given.items())[k + 1 :] if v is not None}
        paddle.seed(7)
        if method:
            return getattr(values[0], name)(*values[1:], **more)
        return resolve(name)(*values, **more)
    other, declared = spelling.split("=")
    return call(name, {other if k == declared else k: v for k, v in given.items()}, method, first)


def same(one: Any, other: Any) -> bool:
    pairs = list(zip(flat(one), flat(other), strict=True))
    return all(
        np.array_equal(np.asarray(a), np.asarray(b), equal_nan=np.asarray(a).dtype.kind in "fc")
        for a, b in pairs
    )


def problem(name: str, spelling: str, method: bool) -> str:
    """Empty if a case of the function gives the same in this spelling."""
    found = "no case has this argument"
    for case in CASES[name]:
        given = arguments(name, case)
        declared = spelling.lstrip("*").rpartition("=")[2]
        optional = spelling in (*CREATION, "out", "axis second")
        if given is None or not (optional or declared in given):
            continue
        if spelling[0] == "*" and not isinstance(given[declared], (list, tuple)):
            continue
        if spelling == "axis second" and not isinstance(given["axis"], int):
            continue
        short = name.removeprefix("Tensor.") if method else name
        try:
            if same(
                call(short, given, method, int(method)), respelled(short, given, spelling, method)
            ):
                return ""
            found = "gives another result"
        except Exception as error:
            found = f"{type(error).__name__}: {error}"[:150]
    return found


@over("shown", sorted(SPELLINGS), by=lambda name: name[:1])
def test_what_paddle_takes(shown):
    method = shown.startswith("Tensor.")
    name = shown if shown in CASES else shown.removeprefix("Tensor.")
    problems = {s: problem(name, s, method) for s in SPELLINGS[shown] if (name, s) not in DIFFERENT}
    assert {s: p for s, p in problems.items() if p} == {}


# --- beyond the list: what a hand used to torch writes


def t(*values: Any, grad: bool = False) -> Any:
    return paddle.to_tensor(list(values), dtype="float32", stop_gradient=not grad)


SQUARE = np.arange(4, dtype="float32").reshape(2, 2)
INDEX = np.array([[0], [1]])
LINEAR = paddle.nn.Linear(2, 2)

# A call in another spelling, and the declared one.
PAIRS: dict[str, tuple[Any, Any]] = {
    "x.max(dim=1)": (lambda x: x.max(dim=1).values, lambda x: x.max(axis=1)),
    "x.max(dim=1).indices": (lambda x: x.max(dim=1)[1], lambda x: x.argmax(axis=1)),
    "x.min(dim=0, keepdim=True)": (
        lambda x: x.min(dim=0, keepdim=True).values,
        lambda x: x.min(axis=0, keepdim=True),
    ),
    "x.min(y)": (lambda x: paddle.min(x, x + 1), lambda x: x),
    "x.sort(dim=1)": (lambda x: x.sort(dim=1).values, lambda x: x.sort(axis=1)),
    "x.split(1, dim=0)": (lambda x: x.split(1, dim=0), lambda x: x.split(2, axis=0)),
    "x.sum(1, True)": (lambda x: x.sum(1, True), lambda x: x.sum(axis=1, keepdim=True)),
    "x.gather(0, index)": (
        lambda x: x.gather(0, paddle.to_tensor(INDEX)),
        lambda x: paddle.take_along_axis(x, paddle.to_tensor(INDEX), 0, broadcast=False),
    ),
    "x.gather(dim=1, index)": (
        lambda x: x.gather(dim=1, index=paddle.to_tensor(INDEX)),
        lambda x: paddle.take_along_axis(x, paddle.to_tensor(INDEX), 1),
    ),
    "x.scatter(1, index, src)": (
        lambda x: x.scatter(1, paddle.to_tensor(INDEX), x * 2),
        lambda x: paddle.put_along_axis(x, paddle.to_tensor(INDEX), (x * 2)[:, :1], 1),
    ),
    "x.transpose(0, 1)": (lambda x: x.transpose(0, 1), lambda x: x.transpose([1, 0])),
    "x.transpose(dim0=0, dim1=1)": (
        lambda x: paddle.transpose(x, dim0=0, dim1=1),
        lambda x: x.transpose([1, 0]),
    ),
    "x.repeat(2, 1)": (lambda x: x.repeat(2, 1), lambda x: x.tile([2, 1])),
    "F.dropout(x, 0.5, False)": (
        lambda x: paddle.nn.functional.dropout(x, 0.5, False),
        lambda x: x,
    ),
    "x.view(x.size(0), -1)": (lambda x: x.view(x.size(0), -1), lambda x: x.reshape([2, -1])),
    "x / x.size": (lambda x: x / x.size, lambda x: x / 4),
    "requires_grad_": (
        lambda x: paddle.grad(((y := x.detach().requires_grad_(True)) * y).sum(), [y])[0],
        lambda x: 2 * x,
    ),
    "x.relu()": (lambda x: x.relu(), lambda x: paddle.nn.functional.relu(x)),
    "cat(dim=1)": (lambda x: paddle.cat([x, x], dim=1), lambda x: paddle.concat([x, x], 1)),
    "zeros(2, 3)": (lambda x: paddle.zeros(2, 3), lambda x: paddle.zeros([2, 3])),
    "x.new_ones(2, 3)": (lambda x: x.new_ones(2, 3), lambda x: paddle.ones([2, 3])),
}


@pytest.mark.parametrize("mode", ["eager", "to_static"])
def test_what_torch_means_and_nothing_else_could_be_meant(mode):
    def run(call: Any) -> Any:
        return (paddle.jit.to_static(call) if mode == "to_static" else call)(t(*SQUARE))

    wrong = {s for s, (other, declared) in PAIRS.items() if not same(run(other), run(declared))}
    assert not wrong


def test_a_size_is_a_number_and_gives_the_sizes():
    x = paddle.ones([2, 3])
    assert (x.size, x.size(), x.size(1), x.size(dim=-1)) == (6, [2, 3], 3, 3)
    assert x.reshape(x.size).shape == x.view(x.size).shape == paddle.zeros([x.size]).shape == [6]
    assert type(pickle.loads(pickle.dumps(x.size))) is int
    with pytest.raises(IndexError):
        x.size(2)


def test_a_variable_has_a_size_too(tmp_path):
    class Net(paddle.nn.Layer):
        def forward(self, x):
            return x.reshape(x.size(0), -1) / x.size

    for shape in ([4, 3], [-1, 3]):
        net = paddle.jit.to_static(Net(), input_spec=[paddle.static.InputSpec(shape)])
        paddle.jit.save(net, str(tmp_path / "net"))
        for run in (net, paddle.jit.load(str(tmp_path / "net"))):
            assert np.allclose(run(paddle.ones([4, 3])), 1 / 12)


def test_a_variable_says_whether_gradients_are_wanted():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [-1, 3])
        assert x.requires_grad_() is x
        assert (x.requires_grad, x.stop_gradient) == (True, False)
        assert (x.size(), x.size(1), x.size.ndim) == ((-1, 3), 3, 0)
        (g,) = paddle.static.gradients([x.sum() / x.size], [x])
        with pytest.raises(DTypeError, match="requires_grad=True needs a floating dtype"):
            paddle.static.data("k", [2], "int64").requires_grad = True
        with pytest.raises(ArgumentError, match="requires_grad must be True or False, got 1"):
            x.requires_grad_(1)
    feed = {"x": np.ones((2, 3), "float32")}
    assert np.allclose(paddle.static.Executor().run(main, feed=feed, fetch_list=[g]), 1 / 6)


def test_layers_take_the_bias_of_torch():
    assert paddle.nn.Linear(2, 2, bias=False).bias is None
    assert paddle.nn.Conv2d(1, 1, 3, bias=True).bias is not None


def test_gradients_flow_through_what_is_respelled():
    x = paddle.to_tensor([[1.0, 5.0], [4.0, 2.0]], stop_gradient=False)
    x.max(dim=1).values.sum().backward()
    assert x.grad.tolist() == [[0.0, 1.0], [1.0, 0.0]]


# --- what cannot be meant

MISTAKES: dict[str, tuple[Any, type[Exception], str]] = {
    "misspelled": (
        lambda x: paddle.sum(x, axs=1),
        TypeError,
        r"sum: there is no argument 'axs'; write sum\(x, axis=\.\.\.\); it takes x, axis, dtype",
    ),
    "method": (
        lambda x: x.clip(mini=1),
        TypeError,
        r"clip: there is no argument 'mini'; write clip\(x, min=",
    ),
    "both": (
        lambda x: paddle.sum(x, axis=1, dim=0),
        ArgumentError,
        "sum: 'dim' is 'axis' here, and both are given",
    ),
    "missing": (lambda x: paddle.add(x), TypeError, "'y'"),
    "layer": (
        lambda x: paddle.nn.Linear(2, 3, biass=False),
        TypeError,
        r"Linear: there is no argument 'biass'; write Linear\(2, 3, bias_attr=",
    ),
    "layer of a base": (
        lambda x: paddle.nn.MSELoss(nonsense=1),
        TypeError,
        "MSELoss: there is no argument 'nonsense'; it takes reduction",
    ),
    "optimizer": (
        lambda x: paddle.optimizer.SGD(momentum=0.9),
        TypeError,
        r"write paddle\.optimizer\.Momentum\(learning_rate=",
    ),
    "device": (lambda x: paddle.zeros([2], device="cuda"), ArgumentError, "runs on 'cpu' only"),
    "out's shape": (
        lambda x: paddle.add(x, x, out=paddle.ones([3])),
        ShapeError,
        r"add\(out=\.\.\.\).*\[3\].*\[2, 2\]",
    ),
    "out's dtype": (
        lambda x: paddle.add(x, x, out=paddle.ones([2, 2], "int64")),
        DTypeError,
        r"add\(out=\.\.\.\).*int64.*float32",
    ),
    "no out": (lambda x: paddle.add(x, x, out=3), NotATensorError, "add: out must be a Tensor"),
    "out of one for two": (
        lambda x: paddle.topk(x, 1, out=paddle.empty([0])),
        ArgumentError,
        "topk: out must be a tuple of 2 tensors",
    ),
    "out a leaf": (
        lambda x: paddle.add(x, x, out=paddle.ones([2, 2], requires_grad=True)),
        RuntimeError,
        r"out = add\(\.\.\.\)",
    ),
}


def test_mistakes_are_answered_with_the_line_to_write():
    found = {}
    for name, (call, error, text) in MISTAKES.items():
        with pytest.raises(error) as raised:
            call(t(*SQUARE))
        if re.search(text, str(raised.value)) is None:
            found[name] = str(raised.value)
    assert found == {}


def test_no_public_function_leaves_an_unknown_keyword_to_python():
    bare = []
    rooms = ["nn", "nn.initializer", "optimizer", "optimizer.lr", "io", "metric"]
    classes = [f"{room}.{n}" for room in rooms for n in dir(resolve(room)) if n[0].isupper()]
    for name in [*CASES, *classes]:
        function = resolve(name)
        if name.startswith(("Tensor.__", "static.")) or name == "io.WorkerInfo":  # given, not made
            continue
        try:
            function(nobody_knows_this=1)
        except TypeError as error:
            if "unexpected keyword" in str(error):
                bare.append(f"{name}: {error}")
        except Exception:  # what else is wrong with the call
            continue
    assert bare == []


# --- out


def test_out_takes_values_and_history():
    x, out = t(1.0, 2.0, grad=True), paddle.empty([0])
    before = out * 1.0
    assert paddle.multiply(x, x, out=out) is out
    (out * out).sum().backward()
    assert x.grad.tolist() == [4.0, 32.0]
    assert before.shape == [0]


def test_out_shares_nothing_with_the_operand():
    x, out = t(1.0, 2.0), paddle.empty([0])
    paddle.reshape(x, [2, 1], out=out)
    out.add_(paddle.ones([2, 1]))
    assert x.tolist() == [1.0, 2.0]


def test_out_of_a_view_is_seen_by_the_whole():
    x = paddle.zeros([2, 2])
    paddle.add(t(1.0, 2.0), t(1.0, 1.0), out=x[0])
    assert x.tolist() == [[2.0, 3.0], [0.0, 0.0]]


def test_out_in_a_program_is_assigned():
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [2], "float32")
        out = paddle.zeros([2])
        paddle.add(x, x, out=out)
        doubled = out * 2.0
    (found,) = paddle.static.Executor().run(
        main, feed={"x": np.ones(2, "float32")}, fetch_list=[doubled]
    )
    assert found.tolist() == [4.0, 4.0]


# --- what a wrapper must not change


def test_functions_are_what_they_were():
    assert paddle.matmul is paddle.linalg.matmul
    assert paddle.Tensor.sum is paddle.sum
    assert paddle.cat is paddle.concat is paddle.concatenate
    assert pickle.loads(pickle.dumps(paddle.sum)) is paddle.sum
    assert pickle.loads(pickle.dumps(paddle.nn.functional.relu)) is paddle.nn.functional.relu
    assert list(inspect.signature(paddle.sum).parameters) == [
        "x",
        "axis",
        "dtype",
        "keepdim",
        "name",
    ]
    assert "Examples" in paddle.sum.__doc__
    assert "def sum(" in inspect.getsource(paddle.sum)


def test_tracebacks_show_the_lines_of_the_function():
    try:
        paddle.unflatten(t(1.0, 2.0), 0, "nonsense")
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
    found = [f for f in frames if f.name == "unflatten"]
    assert found
    assert all(f.filename.endswith("shape.py") and "def " not in f.line for f in found[-1:])


def test_the_code_of_a_function_is_used_where_its_source_can_be_read():
    paddle.tanh(t(1.0))
    paddle.nn.functional.softmax(t(1.0))
    for function in (paddle.tanh, paddle.nn.functional.softmax):
        raw = inspect.unwrap(function).__code__
        assert function.__code__.co_filename == raw.co_filename


def test_without_source_a_function_is_called():
    code = """
import linecache
linecache.getlines = lambda *args: []
import autograd_engine as paddle
x = paddle.to_tensor([[1.0, 2.0]])
assert paddle.sum(x, dim=1).tolist() == [3.0] == x.sum(axis=1).tolist()
assert paddle.tanh(input=x).shape == [1, 2]
try:
    paddle.nn.functional.softmax(x, axis="a")
except TypeError as error:
    assert str(error).startswith("softmax: axis"), error
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_thread_may_be_the_first_to_call():
    functions = [paddle.asinh, paddle.acosh, paddle.expm1, paddle.log1p, paddle.rsqrt]
    for function in functions:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _, f=function: f(t(1.5)).item(), range(32)))
        assert len(set(found)) == 1


# --- names


def test_layers_take_the_names_of_torch_in_their_methods():
    net = paddle.nn.LayerList(modules=[paddle.nn.Linear(2, 2)])
    net.append(module=paddle.nn.Conv2d(1, 1, 3, bias=False))
    net.insert(0, module=paddle.nn.Fold(4, kernel_size=2, stride=2))
    assert net.parameters(recurse=False) == []
    assert len(list(net.named_parameters(recurse=True))) == 3
    net.register_buffer("count", paddle.zeros([1]), persistent=False)
    assert "count" not in net.state_dict()
    paddle.nn.LayerDict(modules={"a": net}).update(modules={"b": net})


def test_a_shape_is_joined_with_lists_and_tuples():
    shape, one, three = paddle.zeros([2, 3]).shape, [1], (1,)
    assert shape + one == [2, 3, 1] == shape + three
    assert one + shape == (1, 2, 3) == three + shape
    assert (shape + one).__class__ is paddle.Size
    with pytest.raises(TypeError):
        shape + 1


def test_other_names_are_the_thing_itself():
    nn = paddle.nn
    assert nn.Module is nn.Layer
    assert nn.Conv2d is nn.Conv2D
    assert nn.ModuleList is nn.LayerList
    assert paddle.float is paddle.float32
    assert paddle.long is paddle.int64
    assert paddle.newaxis is None
    assert paddle.zeros([2]).shape.__class__ is paddle.Size
    assert paddle.manual_seed is paddle.seed


def test_a_module_in_the_manner_of_torch_trains():
    class Net(paddle.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = paddle.nn.Linear(2, 1, bias=False)
            self.shift = paddle.nn.Parameter(paddle.zeros(1))
            self.register_buffer("scale", paddle.ones(1), persistable=False)

        def forward(self, x):
            return self.fc(x) * self.scale + self.shift

    paddle.manual_seed(0)
    net = Net().train(True)
    paddle.nn.init.constant_(net.fc.weight, 0.5)
    optimizer = paddle.optimizer.SGD(net.parameters(), lr=0.1)
    losses = []
    for _ in range(20):
        loss = paddle.nn.functional.mse_loss(net(t([1.0, 2.0])), target=t([3.0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 100
    assert net.load_state_dict(net.state_dict()).missing_keys == []
    assert [name for name, _ in net.named_modules()] == ["", "fc"]
    net.zero_grad()
    assert net.fc.weight.grad is None
    assert net.requires_grad_(False).get_parameter("fc.weight").stop_gradient


@pytest.mark.parametrize("name", [n for n in paddle.nn.init.__all__ if n.endswith("_")])
def test_init_gives_a_tensor_its_values(name):
    tensor = paddle.full([4, 4, 3] if name == "dirac_" else [4, 4], 7.0)
    arguments = (3.0,) if name == "constant_" else ()
    assert getattr(paddle.nn.init, name)(tensor, *arguments) is tensor
    assert not np.all(tensor.numpy() == 7.0)
