"""Where an error is said to have happened: the layer among nested ones, and the user's line."""

import os
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import nn
from autograd_engine.errors import ShapeError
from autograd_engine.errors.frames import FULL_TRACEBACK

static = paddle.static


class Block(nn.Layer):
    def __init__(self, features=9):
        super().__init__()
        self.fc1 = nn.Linear(features, 2)

    def forward(self, x):
        return self.fc1(x)


def said(call):
    with pytest.raises(Exception) as raised:  # noqa: PT011 - of which class is not the question
        call()
    return str(raised.value)


LINEAR = "Linear(in_features=9, out_features=2, dtype=float32)"


# --- layers


def test_a_nested_layer_is_named():
    net = nn.Sequential(nn.ReLU(), nn.ReLU(), nn.ReLU(), Block())
    text = said(lambda: net(paddle.ones([4, 8])))
    assert text.startswith("Linear: linear: x [4, 8] has 8 features, but weight [9, 2] ")
    assert text.endswith(f"(in net.3.fc1, {LINEAR}; input is float32[4, 8])")


def test_of_layers_of_the_engine_the_outermost_is_what_was_called():
    net = nn.Sequential(nn.Linear(3, 9), nn.Linear(9, 2), nn.Linear(3, 3))
    text = said(lambda: net(paddle.ones([4, 3])))
    assert text.startswith("Sequential: linear: x [4, 2] has 2 features")
    assert "(in net.2, Linear(in_features=3, out_features=3, dtype=float32); " in text


def test_a_layer_without_a_name_goes_by_its_class():
    assert f"(in Block.fc1, {LINEAR}; " in said(lambda: Block()(paddle.ones([8])))


def test_a_layer_that_is_called_itself_needs_no_place():
    layer = nn.Linear(9, 2)
    assert " (input is float32[4, 8])" in said(lambda: layer(paddle.ones([4, 8])))


def test_what_a_layer_of_the_users_calls():
    class Sums(nn.Layer):
        def forward(self, x, y):
            return paddle.lerp(x, y, 0.5)

    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.parts = nn.LayerList([Sums()])

        def forward(self, x):
            return self.parts[0](x, None)

    net = Net()
    text = said(lambda: net(paddle.ones([4, 8])))
    assert text.startswith("lerp: argument 'y' must be a Tensor")
    assert text.endswith("(in net.parts.0, Sums)")


def test_what_a_layer_of_the_users_raises_is_left_alone():
    class Own(nn.Layer):
        def forward(self, x):
            raise ValueError("no")

    net = nn.Sequential(Own())
    assert said(lambda: net(paddle.ones([1]))) == "no"


def test_in_programs_and_traced_functions():
    net = nn.Sequential(nn.ReLU(), Block())
    traced = paddle.jit.to_static(lambda x: net(x))
    assert f"(in net.1.fc1, {LINEAR}; " in said(lambda: traced(paddle.ones([4, 8])))
    with static.program_guard(static.Program()):
        x = static.data("x", [None, 8])
        assert f"(in net.1.fc1, {LINEAR}; input is float32[?, 8])" in said(lambda: net(x))


# --- what was called


def test_the_name_that_was_typed():
    x = paddle.ones([2])
    assert said(lambda: paddle.mod(x, None)).startswith("mod: argument 'y'")
    assert said(lambda: paddle.floor_mod(x, None)).startswith("floor_mod: argument 'y'")
    assert said(lambda: x.astype("nope")).startswith("astype: 'nope' is no dtype")
    assert said(lambda: x.add_(paddle.ones([3]))).startswith("add_: shapes [2] and [3]")
    assert said(lambda: paddle.concat([x, None])).startswith("concat: argument 'x[1]' must be")


def test_a_pylayer_is_the_users():
    class Doubled(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return paddle.lerp(x, None, 0.5)

        @staticmethod
        def backward(ctx, g):
            return g

    text = said(lambda: Doubled.apply(paddle.ones([2])))
    assert text.startswith("lerp: argument 'y' must be a Tensor")


def test_what_runs_later_is_said_of_the_operation():
    def gathered(x, i):
        return paddle.gather(x, i)

    text = "gather: index 7 is out of range; it must be in -2 to 1, for the size of axis 0 is 2"
    traced = paddle.jit.to_static(gathered)
    assert said(lambda: traced(paddle.ones([2]), paddle.to_tensor([7]))).endswith(": " + text)
    program = static.Program()
    with static.program_guard(program):
        out = gathered(static.data("x", [2]), static.data("i", [1], "int64"))
    feed = {"x": np.ones(2, "float32"), "i": np.array([7])}
    for backend in ("numpy", "native"):
        executor = static.Executor(backend=backend)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without a compiler
            assert said(lambda e=executor: e.run(program, feed, [out])).endswith(": " + text)

    faulty = paddle.autograd.defop("faulty_places", lambda x: x * 2.0).vjp(x=lambda xp, g: 1.0)
    x = paddle.to_tensor([1.0], stop_gradient=False)
    assert said(faulty(x).backward).startswith("faulty_places: the rule for x returned a float")


class Odd:
    @property
    def dtype(self):
        raise RuntimeError("not asked for")

    shape = dtype


def test_odd_objects_of_the_users_do_no_harm():
    assert said(lambda: paddle.lerp(paddle.ones([2]), Odd(), 0.5)).endswith("got Odd")

    class Odder(nn.Layer):
        def named_sublayers(self, *args, **kwargs):
            raise RuntimeError("not asked for")

        def forward(self, x):
            return nn.Linear(9, 2)(x)

    assert "has 8 features" in said(lambda: Odder()(paddle.ones([4, 8])))


# --- tracebacks

PROGRAM = """
import autograd_engine as paddle

def loss(x):
    return paddle.nn.functional.square_error_cost(x, None)  # here

def test_it():
    loss(paddle.ones([2]))
"""


def run(tmp_path, *command, **settings):
    environment = {k: v for k, v in os.environ.items() if k != FULL_TRACEBACK}
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join([root, environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": path, **settings},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr


def test_pytest_ends_at_the_line_of_the_user(tmp_path):
    (tmp_path / "test_tiny.py").write_text(PROGRAM)
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_tiny.py"]
    shown = run(tmp_path, *command)
    assert "square_error_cost(x, None)  # here" in shown
    assert "test_tiny.py:5: NotATensorError" in shown
    assert "def square_error_cost" not in shown
    assert "AttributeError" not in shown  # what the engine has tried
    assert "During handling" not in shown
    for whole in (run(tmp_path, *command, "--full-trace"), run(tmp_path, *command, **FULL)):
        assert "return ops.square(ops.subtract(input, label))" in whole
        assert "record.py" in whole


FULL = {FULL_TRACEBACK: "1"}


def test_ipython_ends_at_the_line_of_the_user(tmp_path):
    pytest.importorskip("IPython")
    (tmp_path / "tiny.py").write_text(
        textwrap.dedent(
            """
            from IPython.core.interactiveshell import InteractiveShell
            shell = InteractiveShell.instance()
            shell.run_line_magic("colors", "nocolor")
            shell.run_cell(open("cell.py").read() + "test_it()")
            """
        )
    )
    (tmp_path / "cell.py").write_text(PROGRAM)
    home = {"IPYTHONDIR": str(tmp_path)}
    shown = run(tmp_path, "tiny.py", **home)
    assert "square_error_cost(x, None)  # here" in shown
    assert "NotATensorError: square_error_cost: argument 'label' must be" in shown
    assert os.path.join("autograd_engine", "") not in shown
    assert "During handling" not in shown
    assert "record.py" in run(tmp_path, "tiny.py", **home, **FULL)


def test_python_shows_all(tmp_path):
    (tmp_path / "tiny.py").write_text(PROGRAM + "\ntest_it()\n")
    shown = run(tmp_path, "tiny.py")
    assert "record.py" in shown
    assert "square_error_cost(x, None)  # here" in shown
    assert "During handling" not in shown


def while_handling(call):
    try:
        raise KeyError("mine")
    except KeyError:
        call()


def test_what_the_user_was_handling_is_still_shown(monkeypatch):
    monkeypatch.delenv(FULL_TRACEBACK, raising=False)
    with pytest.raises(ShapeError) as raised:
        while_handling(lambda: paddle.tril(paddle.ones([1])))
    assert isinstance(raised.value.__context__, KeyError)
    assert not raised.value.__suppress_context__
