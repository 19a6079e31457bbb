"""Whatever a function reads may change between calls: a program of before must not serve then."""

import collections
import contextvars
import dataclasses
import functools
import gc
import os
import sys
import tracemalloc
import types
import warnings
import weakref

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.jit import to_static

# Functions here are traced again on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:.* is traced again:RuntimeWarning")

FACTOR = 2.0
library = types.ModuleType("library_of_the_users")
exec("RATE = 2.0\nTABLE = [1.0]\ndef scale(x):\n    return x * RATE * TABLE[0]\n", library.__dict__)


def leaf():
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


def holds(function, *changes):
    """Calls of the traced function are calls of the function, after each of the changes."""
    traced, x = to_static(function), leaf()
    for change in [lambda: None, lambda: None, *changes]:
        change()
        want, got = function(x), traced(x)
        assert got.numpy().tobytes() == want.numpy().tobytes()
        assert got.stop_gradient is want.stop_gradient
    known = len(traced.program_cache)
    traced(x)
    assert len(traced.program_cache) == known  # and what is as it was is not traced again


class Base:
    gains: object = (3.0,)

    def __init__(self):
        self.factor = 2.0
        self.values = [2.0]

    def forward(self, x):
        return x * self.factor

    def __getitem__(self, key):
        return self.values[key]

    @staticmethod
    def by_global(x):
        return x * FACTOR

    @classmethod
    def by_class(cls, x):
        return x * cls.gains[0]

    @functools.cached_property
    def doubled(self):
        return self.factor * 2.0


class Derived(Base):
    def forward(self, x):
        return super().forward(x) + 1.0


def test_collections_and_arrays():
    array, objects = np.array([2.0, 3.0], "float32"), np.array([1.0, "a"], object)
    names, queue = {"a"}, collections.deque([2.0])
    user = collections.UserDict(a=2.0)
    holds(lambda x: x * array, lambda: array.__setitem__(0, 5.0))
    holds(lambda x: x * objects[0], lambda: objects.__setitem__(0, 5.0))
    holds(lambda x: x * 2.0 if "a" in names else x, names.clear)
    holds(lambda x: x * queue[0], lambda: queue.appendleft(4.0), lambda: queue.pop())
    holds(lambda x: x * user["a"], lambda: user.update(a=3.0))


def test_environment(monkeypatch):
    monkeypatch.setenv("FACTOR_OF_TESTS", "2")
    holds(
        lambda x: x * float(os.environ["FACTOR_OF_TESTS"]),
        lambda: monkeypatch.setenv("FACTOR_OF_TESTS", "3"),
    )


def test_classes_and_modules(monkeypatch):
    class Config:
        RATE = 2.0
        inner = types.MappingProxyType({"a": [1.0]})

    monkeypatch.setitem(sys.modules, library.__name__, library)
    holds(
        lambda x: x * Config.RATE * Config.inner["a"][0],
        lambda: setattr(Config, "RATE", 3.0),
        lambda: Config.inner["a"].__setitem__(0, 4.0),
    )
    holds(
        lambda x: library.scale(x) + library.RATE,
        lambda: setattr(library, "RATE", 3.0),
        lambda: library.TABLE.append(1.0),
        lambda: library.TABLE.__setitem__(0, 2.0),
        lambda: setattr(library, "scale", lambda x: x * 7.0),
    )

    def imports(x):
        from library_of_the_users import RATE

        return x * RATE

    holds(imports, lambda: setattr(library, "RATE", 8.0))


def test_methods(monkeypatch):
    o, d, item = Base(), Derived(), Base()
    holds(lambda x: d.forward(x), lambda: setattr(d, "factor", 5.0))
    holds(lambda x: x * item[0], lambda: item.values.__setitem__(0, 6.0))
    holds(lambda x: o.by_global(x), lambda: monkeypatch.setitem(globals(), "FACTOR", 3.0))
    holds(lambda x: Base.by_global(x), lambda: monkeypatch.setitem(globals(), "FACTOR", 4.0))
    holds(
        lambda x: o.by_class(x) * o.gains[0],
        lambda: monkeypatch.setattr(Base, "gains", [5.0]),
        lambda: Base.gains.__setitem__(0, 6.0),
    )
    holds(
        lambda x: o.forward(x),
        lambda: monkeypatch.setattr(Base, "forward", lambda self, x: x * 9.0),
        lambda: setattr(o, "forward", lambda x: x * 8.0),
    )
    cached = Base()
    holds(lambda x: x * cached.doubled, lambda: cached.__dict__.update(doubled=1.0))


def test_functions():
    def inner(x):
        return x * inner.gain

    def other(x):
        return x * 5.0

    def plain(x):
        return x * 4.0

    @functools.lru_cache
    def rate(k):
        return k * factor[0]

    inner.gain, factor = 2.0, [2.0]
    keyword = functools.partial(lambda x, k: x * k, k=2.0)
    holds(lambda x: inner(x), lambda: setattr(inner, "gain", 3.0))
    holds(lambda x: plain(x), lambda: setattr(plain, "__code__", other.__code__))
    holds(keyword, lambda: keyword.keywords.update(k=3.0))
    holds(lambda x: x * rate(1.0), lambda: (rate.cache_clear(), factor.__setitem__(0, 3.0)))


def test_names_in_strings():
    o = types.SimpleNamespace(gain=2.0)
    holds(lambda x: x * getattr(o, "gain"), lambda: setattr(o, "gain", 3.0))  # noqa: B009
    holds(lambda x: x * vars(o)["gain"], lambda: setattr(o, "gain", 4.0))
    holds(lambda x: x * 2.0 if hasattr(o, "flag") else x, lambda: setattr(o, "flag", 1))
    holds(lambda x: x * globals()["FACTOR"])

    class Dynamic:
        def __init__(self):
            self.__dict__["held"] = {"gain": 2.0}

        def __getattr__(self, name):
            return self.held[name]

    d = Dynamic()
    holds(lambda x: x * d.gain, lambda: d.held.update(gain=3.0))


def test_slots_subclasses_and_variables_of_a_context():
    @dataclasses.dataclass(slots=True)
    class Slots:
        gain: float = 2.0

    class Items(list):
        gain = 2.0

    slots, items = Slots(), Items([1.0])
    variable = contextvars.ContextVar("variable")
    variable.set(2.0)
    holds(lambda x: x * slots.gain, lambda: setattr(slots, "gain", 3.0))
    holds(lambda x: x * items.gain * items[0], lambda: setattr(items, "gain", 3.0))
    holds(lambda x: x * variable.get(), lambda: variable.set(3.0))


def test_objects_of_the_engine():
    w = leaf()
    schedule = paddle.optimizer.lr.ExponentialDecay(1.0, 0.5)
    sgd = paddle.optimizer.SGD(schedule, parameters=[w])
    holds(lambda x: x * schedule.get_lr(), schedule.step)
    holds(lambda x: x * sgd.get_lr(), schedule.step)
    holds(
        lambda x: x * 1.0 if w.grad is None else x * w.grad,
        lambda: (w * w).sum().backward(),
        lambda: (w * w).sum().backward(),
        lambda: w.clear_grad(),
    )
    holds(lambda x: x * len(repr(w)), lambda: w.set_value(np.float32([0.125, 3.0])))
    holds(lambda x: x * 2.0 if w.stop_gradient else x, lambda: setattr(w, "stop_gradient", True))
    gain = [2.0]
    inner = to_static(lambda x: x * gain[0])
    holds(lambda x: inner(x), lambda: gain.__setitem__(0, 3.0))


def test_arguments_that_are_no_tensors():
    class Options:
        rate = 2.0

    options, gain, names, x = Options(), [2.0], {1}, leaf()
    f = to_static(lambda x, c: x * c.rate)
    g = to_static(lambda x, c: c(x))
    h = to_static(lambda x, c: x * len(c))

    def call(x):
        return x * gain[0]

    assert [f(x, options)[0].item(), g(x, call)[0].item(), h(x, names)[0].item()] == [2, 2, 1]
    options.rate = gain[0] = 3.0
    names.add(5)
    assert [f(x, options)[0].item(), g(x, call)[0].item(), h(x, names)[0].item()] == [3, 3, 2]
    d = collections.defaultdict(list, a=x)
    assert to_static(lambda d: d["a"] * 2.0)(d)[0].item() == 2.0


def test_a_function_that_counts_its_calls():
    class Counting:
        def __init__(self):
            self.calls = 0
            self.seen = np.zeros(1, int)

        def forward(self, x):
            self.calls += 1
            self.seen[0] += 2
            return x * (self.calls + float(self.seen[0]))

    eager, counting, x = Counting(), Counting(), leaf()
    traced = to_static(counting)
    for _ in range(4):
        assert traced(x).tolist() == eager.forward(x).tolist()


def test_recording_switched_on_inside():
    def f(x):
        with paddle.enable_grad():
            return x * x

    x = leaf()
    with paddle.no_grad():
        y = to_static(f)(x)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_programs_are_bounded_and_it_is_said_what_changes():
    f = to_static(lambda x, rate: x * rate)
    k = 0
    g = to_static(lambda x: x * k)
    x = leaf()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for n in range(300):
            assert f(x, n / 2)[0].item() == n / 2
            k = n
            assert g(x)[0].item() == n
    assert (len(f.program_cache), len(g.program_cache)) == (256, 8)
    second, first = (str(w.message) for w in seen)
    assert "arguments that are no Tensors, or shapes of Tensors, differ between calls" in first
    assert "k of test_programs_are_bounded" in second
    assert "Pass what changes as a Tensor" in second
    assert {w.filename for w in seen} == {__file__}


def test_a_thousand_calls_leave_nothing_behind():
    w = paddle.to_tensor(np.ones((16, 16)), stop_gradient=False)
    f = to_static(lambda x: paddle.tanh(x @ w).sum())

    def step():
        x = paddle.to_tensor(np.ones((4, 16)), stop_gradient=False)
        y = f(x)
        y.backward()
        w.clear_grad()
        return weakref.ref(x), weakref.ref(y)

    for _ in range(50):
        step()
    gc.collect()
    gc.disable()  # no cycle has to be found for it
    tracemalloc.start()
    try:
        before, objects = tracemalloc.get_traced_memory()[0], len(gc.get_objects())
        for _ in range(1000):
            refs = step()
        grown = tracemalloc.get_traced_memory()[0] - before
        assert [r() for r in refs] == [None, None]
        assert len(gc.get_objects()) - objects < 100
        assert grown < 500_000
    finally:
        tracemalloc.stop()
        gc.enable()


def test_a_function_that_goes_takes_its_program_and_parameters_with_it():
    def made():
        w = paddle.ones([2])
        f = to_static(lambda x: x * w)
        f(leaf())
        return weakref.ref(w), weakref.ref(f), weakref.ref(f.concrete_program)

    gone = made()
    gc.collect()
    assert [r() for r in gone] == [None, None, None]


@pytest.mark.parametrize("read", [np.asarray, lambda t: t.tolist(), lambda t: list(t)])
def test_values_that_python_reads(read):
    w = leaf()
    holds(lambda x: x * read(w)[0], lambda: w.set_value(np.float32([7.0, 1.0])))
