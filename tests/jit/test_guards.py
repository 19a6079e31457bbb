"""When a traced function is traced again, and when it is not."""

import importlib
import math
import sys
import warnings

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.jit import to_static

# Functions here are traced again on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.* is traced again:RuntimeWarning")

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


def test_an_assert_that_pytest_has_rewritten():
    def f(x):
        y = x * SCALE
        assert y.shape == [3]
        assert SCALE > 1.0, "too small"
        return y

    traced = to_static(f)
    assert "@pytest_ar" in f.__code__.co_names
    assert traced(paddle.ones([3])).tolist() == [2.0, 2.0, 2.0]
    assert len(traced.concrete_program.guards) < 10


def test_code_that_was_installed_is_not_followed(tmp_path, monkeypatch):
    place = tmp_path / "site-packages"
    place.mkdir()
    (place / "vendor_of_tests.py").write_text(
        "CALLS = [0]\nREGISTRY = {k: [k] for k in range(5000)}\n"
        "class Options:\n"
        "    def __init__(self):\n        self.rate = 2.0\n        self.calls = 0\n"
        "        self.held = {'gain': 1.0}\n"
        "    def __getattr__(self, name):\n        return self.held[name]\n"
        "def scale(x):\n    CALLS[0] += REGISTRY[1][0]\n    return x * len(CALLS)\n"
    )
    monkeypatch.syspath_prepend(place)
    vendor = importlib.import_module("vendor_of_tests")
    options = vendor.Options()
    f = to_static(lambda x: vendor.scale(x) * options.rate * options.gain)
    x = paddle.ones([1])
    for k in range(4):
        vendor.CALLS[0] = options.calls = k
        assert f(x).item() == 2.0
    assert len(f.program_cache) == 1
    assert len(f.concrete_program.guards) < 10
    options.rate = 3.0  # which is read here
    assert f(x).item() == 3.0
    options.held["gain"] = 2.0
    assert f(x).item() == 6.0
    monkeypatch.delitem(sys.modules, "vendor_of_tests")


def test_layers_that_were_installed(tmp_path, monkeypatch):
    place = tmp_path / "site-packages"
    place.mkdir()
    (place / "layers_of_tests.py").write_text(
        "import autograd_engine.nn as nn\n"
        "class Scale(nn.Layer):\n"
        "    def __init__(self, inner):\n"
        "        super().__init__()\n        self.inner = inner\n        self.rate = 2.0\n"
        "    def forward(self, x):\n"
        "        return self.inner(x * self.rate if self.training else x)\n"
    )
    monkeypatch.syspath_prepend(place)
    layers = importlib.import_module("layers_of_tests")

    class Add(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.shift = 1.0

        def forward(self, x):
            return x + self.shift

    net, x = layers.Scale(Add()), paddle.ones([1])
    f = to_static(lambda x: net(x))
    assert f(x).item() == 3.0
    net.eval()
    assert f(x).item() == 2.0
    net.train()
    net.rate = 4.0
    assert f(x).item() == 5.0
    net.inner.shift = 0.0
    assert f(x).item() == 4.0
    assert len(f.program_cache) == 4
    monkeypatch.delitem(sys.modules, "layers_of_tests")


def test_a_module_that_is_named_as_one_of_the_standard_library(tmp_path, monkeypatch):
    (tmp_path / "tabnanny.py").write_text("RATE = 2.0\ndef scale(x):\n    return x * RATE\n")
    monkeypatch.delitem(sys.modules, "tabnanny", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    mine = importlib.import_module("tabnanny")
    f = to_static(lambda x: mine.scale(x))
    assert f(paddle.ones([1])).item() == 2.0
    mine.RATE = 3.0
    assert f(paddle.ones([1])).item() == 3.0
    monkeypatch.delitem(sys.modules, "tabnanny")


def test_one_element_of_a_large_collection():
    words = {str(k): float(k) for k in range(100_000)}
    f = to_static(lambda x: x * words["3"])
    assert f(paddle.ones([1])).item() == 3.0
    assert len(f.concrete_program.guards) < 10
    words["4"] = 0.0
    words["3"] = 5.0
    assert f(paddle.ones([1])).item() == 5.0


def test_a_collection_that_is_read_in_several_lines():
    many = [1.0] * 15_000

    def f(x):
        total = sum(many)
        return x * total + max(many)

    traced = to_static(f)
    assert traced(paddle.ones([1])).item() == 15_001.0
    many[7] = 2.0
    assert traced(paddle.ones([1])).item() == 15_003.0


def test_places_are_bounded_and_what_is_beyond_is_known_by_identity():
    large = [1.0] * 100_000

    @to_static
    def f(x):
        return x * sum(large)

    x = paddle.ones([1])
    with pytest.warns(RuntimeWarning, match="more than .* places: large of test") as seen:
        assert f(x).item() == 100_000.0
    assert seen[0].filename == __file__
    assert len(f.concrete_program.guards) < 10
    large.append(1.0)
    assert f(x).item() == 100_001.0
    large = [2.0] * 100_001
    assert f(x).item() == 200_002.0


def test_the_third_trace_says_what_changes():
    class Model:
        def __init__(self):
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x / self.calls

    model = Model()
    f, x = to_static(model.forward), paddle.ones([1])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        counts = []
        for _ in range(20):
            f(x)
            counts.append(len(seen))
    assert counts == [0, 0, *[1] * 18]
    message = str(seen[0].message)
    assert "Model.forward is traced again" in message
    assert "self.calls, read at test_guards.py:" in message
    assert "(self.calls += 1), was 1 and is 2" in message
    assert "Pass what changes as a Tensor" in message
    assert seen[0].filename == __file__
    assert len(f.program_cache) == 8


def test_switches_have_a_program_each_and_no_warning():
    class Model:
        training = True
        w = paddle.to_tensor([1.0], stop_gradient=False)

        def forward(self, x):
            loss = (x * self.w).sum()
            if self.training:
                loss.backward()
            return loss

    model = Model()
    f, x = to_static(model.forward), paddle.ones([1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(12):
            model.training = k % 3 != 0
            f(x)
            if k % 4 == 0:
                model.w.clear_grad()
    assert len(f.program_cache) <= 5


def test_a_list_that_the_function_fills_and_looks_at():
    seen = []

    def f(x):
        seen.append(1)
        return x * len(seen)

    traced = to_static(f)
    assert [traced(paddle.ones([1])).item() for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]


def test_what_the_function_leaves_in_an_object():
    class Model:
        training = True
        kept = None

        def forward(self, x):
            self.kept = x * 2.0
            return self.kept + 1.0 if self.training else self.kept

    model = Model()
    f, x = to_static(model.forward), paddle.ones([1])
    for k in range(8):
        model.training = k % 2 == 0
        assert f(x).item() == 3.0 - k % 2
    assert len(f.program_cache) == 2
