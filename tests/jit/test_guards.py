"""When a traced function is traced again, and when it is not."""

import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.jit import to_static

SCALE = 2.0
TABLE = {"a": [1.0, 2.0]}
WEIGHT = paddle.to_tensor([3.0])


def helper(x):
    return x * SCALE


def test_shapes_dtypes_and_stop_gradient():
    f = to_static(lambda x: x * 2.0)
    f(paddle.ones([2]))
    f(paddle.zeros([2]))
    assert len(f.program_cache) == 1
    f(paddle.ones([3]))
    f(paddle.ones([2], "float64"))
    f(paddle.to_tensor([1.0, 1.0], stop_gradient=False))
    assert len(f.program_cache) == 4


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, 2),
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ("a", "b"),
        (None, 0),
        ((1,), [1]),
        (slice(1), slice(2)),
    ],
)
def test_python_arguments(first, second):
    f = to_static(lambda x, k: (x + 1.0, k))
    x = paddle.ones([1])
    found = [f(x, k)[1] for k in (first, second, first, second)]
    assert len(f.program_cache) == 2
    assert [type(k) for k in found] == [type(first), type(second)] * 2
    assert [repr(k) for k in found] == [repr(first), repr(second)] * 2


def test_nan_is_one_value():
    f = to_static(lambda x, k: x)
    f(paddle.ones([1]), math.nan)
    f(paddle.ones([1]), float("nan"))
    assert len(f.program_cache) == 1


def test_closures_globals_and_defaults(monkeypatch):
    k = 2.0
    f = to_static(lambda x: helper(x) * k + TABLE["a"][1])
    x = paddle.ones([1])
    assert f(x).item() == 6.0
    k = 3.0
    assert f(x).item() == 8.0
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert f(x).item() == 17.0
    monkeypatch.setitem(TABLE, "a", [1.0, 4.0])
    assert f(x).item() == 19.0
    before = len(f.program_cache)
    assert f(x).item() == 19.0
    assert len(f.program_cache) == before

    def g(x, scale=2.0):
        return x * scale

    h = to_static(lambda x: g(x))
    assert h(x).item() == 2.0
    g.__defaults__ = (4.0,)
    assert h(x).item() == 4.0


def test_a_tensor_in_a_variable_is_guarded_by_identity(monkeypatch):
    f = to_static(lambda x: x * WEIGHT)
    x = paddle.ones([1])
    assert f(x).item() == 3.0
    WEIGHT.set_value([4.0])
    assert f(x).item() == 4.0
    assert len(f.program_cache) == 1
    monkeypatch.setitem(globals(), "WEIGHT", paddle.to_tensor([9.0]))
    assert f(x).item() == 9.0
    assert len(f.program_cache) == 2
    WEIGHT.stop_gradient = False
    assert not f(x).stop_gradient


def test_attributes_of_objects():
    class Inner:
        def __init__(self):
            self.scale = 2.0

    class Model:
        def __init__(self):
            self.training = True
            self.inner = [Inner()]
            self.w = paddle.to_tensor([1.0])
            self.calls = 0

        def scaled(self, x):
            return x * self.inner[0].scale

        def forward(self, x):
            y = self.scaled(x) + self.w
            return y * 10.0 if self.training else y

    model = Model()
    f = to_static(model.forward)
    x = paddle.ones([1])
    assert f(x).item() == 30.0
    model.training = False
    assert f(x).item() == 3.0
    model.inner[0].scale = 5.0
    assert f(x).item() == 6.0
    model.w = paddle.to_tensor([2.0])
    assert f(x).item() == 7.0
    before = len(f.program_cache)
    model.calls += 1  # which the code does not name
    assert f(x).item() == 7.0
    assert len(f.program_cache) == before
    model.training = True
    assert f(x).item() == 70.0


def test_values_that_python_reads_of_a_captured_tensor():
    steps = paddle.to_tensor(0)
    f = to_static(lambda x: x * 2.0 if int(steps) < 2 else x)
    x = paddle.ones([1])
    assert f(x).item() == 2.0
    steps.set_value(1)
    assert f(x).item() == 2.0
    steps.set_value(5)
    assert f(x).item() == 1.0
    assert len(f.program_cache) == 3


def test_recording_and_the_default_dtype():
    @to_static
    def f(x):
        return x * 1.0 if paddle.is_grad_enabled() else x + paddle.ones([1]).astype("float64")

    x = paddle.to_tensor([2.0], dtype="float64", stop_gradient=False)
    assert f(x).item() == 2.0
    with paddle.no_grad():
        inside = f(x)
    assert inside.item() == 3.0
    assert inside.stop_gradient
    g = to_static(lambda x: paddle.zeros([1]) + x)
    assert g(paddle.ones([1], "float16")).dtype == paddle.float32
    paddle.set_default_dtype("float64")
    try:
        assert g(paddle.ones([1], "float16")).dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")


def test_one_tensor_for_two_arguments_is_another_program():
    f = to_static(lambda x, y: x.add_(1.0) * y)
    a, b = paddle.to_tensor([2.0]), paddle.to_tensor([10.0])
    assert f(a, b).item() == 30.0
    assert f(b, b).item() == 121.0
    w = paddle.to_tensor([2.0])
    g = to_static(lambda x: x.add_(1.0) * w)
    assert g(a).item() == 8.0
    assert g(w).item() == 9.0
    assert g(paddle.to_tensor([1.0])).item() == 6.0


def test_guards_cost_no_trace_for_objects_of_other_libraries():
    table = np.arange(3.0)
    f = to_static(lambda x: x * float(table.sum()))
    assert f(paddle.ones([1])).item() == 3.0
    assert f(paddle.ones([1])).item() == 3.0
    assert len(f.program_cache) == 1
