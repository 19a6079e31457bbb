"""Scripts and notebooks name things as they like: a name is not what a function reads."""

import copy
import functools
import operator
import sys
import types

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.jit import to_static

_BEGINNING = """
import collections
import dataclasses
import functools
import types
import autograd_engine as paddle
import autograd_engine.nn.functional as F
nn = paddle.nn
paddle.seed(1)
x = paddle.to_tensor([[1.0, 2.0], [0.5, -1.0]])
net = nn.Linear(2, 2)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
results = []
"""

# A script calls `f`, which is traced, six times; `results` are what it would have been without.
SCRIPTS = {
    "a loop over steps": """
@to_static
def f(x):
    loss = net(x).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    return loss
for step in range(6):
    results.append(f(x))
""",
    "globals of a notebook": """
@to_static
def f(x):
    y = net(x)
    return y.reshape([4]).sum() + (y * y).mean() + y.shape[0] + paddle.max(y)
mean = sum = shape = max = reshape = 0
for epoch in range(6):
    mean, sum, shape, max, reshape = epoch, epoch, [epoch], epoch, epoch
    loss = f(x)
    results.append(loss)
""",
    "a gradient as a global": """
@to_static
def f(x):
    (g,) = paddle.grad((net(x) ** 2).sum(), [net.weight])
    return g
grad = None
for i in range(6):
    grad = f(x)
    results.append(grad)
""",
    "the loss of the last step": """
@to_static
def f(x):
    out = types.SimpleNamespace(loss=net(x).mean())
    return out.loss
loss = 0.0
for batch in range(6):
    loss = f(x).item()
    results.append(loss)
""",
    "a history": """
history = {"loss": [], "step": 0}
@to_static
def f(x):
    return net(x).mean()
for step in range(6):
    loss = f(x)
    history["loss"].append(loss.item())
    history["step"] = step
    results.append(loss)
""",
    "a trainer that counts": """
class Trainer:
    def __init__(self):
        self.opt, self.net, self.step, self.loss = opt, net, 0, None
    @to_static
    def train(self, x):
        loss = self.net(x).mean()
        loss.backward()
        self.opt.step()
        self.opt.clear_grad()
        return loss
    def run(self):
        for _ in range(6):
            self.loss = self.train(x)
            self.step += 1
            results.append(self.loss)
trainer = Trainer()
trainer.run()
f = trainer.train
""",
    "a trainer that is a layer": """
class Trainer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.net, self.mean, self.step = nn.Linear(2, 2), 0.0, 0
    def forward(self, x):
        return self.net(x).mean()
trainer = to_static(Trainer())
for _ in range(6):
    trainer.mean = trainer(x).item()
    trainer.step += 1
    results.append(trainer.mean)
f = trainer.forward
""",
    "a trainer as an argument": """
class Trainer: pass
trainer = Trainer()
trainer.opt, trainer.step = opt, 0
@to_static
def f(trainer, x):
    loss = net(x).mean()
    loss.backward()
    trainer.opt.step()
    trainer.opt.clear_grad()
    return loss
for _ in range(6):
    trainer.step += 1
    results.append(f(trainer, x))
""",
    "a trainer that a helper is given": """
state = types.SimpleNamespace(opt=opt, step=0, net=net)
def update(state, loss):
    loss.backward()
    state.opt.step()
    state.opt.clear_grad()
def run(state, x, *, scale):
    loss = (state.net(x) * scale).mean()
    update(state, loss=loss)
    return loss
@to_static
def f(x):
    return run(state, x, scale=2.0)
for _ in range(6):
    state.step += 1
    results.append(f(x))
""",
    "a state in a dict": """
state = {"net": net, "scale": 2.0, "step": 0}
@to_static
def f(x):
    model = state["net"]
    return model(x) * state["scale"]
for step in range(6):
    state["step"] = step
    results.append(f(x))
""",
    "a counter in a list": """
calls = [0]
def count():
    calls[0] += 1
@to_static
def f(x):
    count()
    return net(x)
for _ in range(6):
    results.append(f(x))
""",
    "a counter that is a global": """
calls = 0
@to_static
def f(x):
    global calls
    calls += 1
    return net(x)
for _ in range(6):
    results.append(f(x))
""",
    "counters by name": """
calls, seen = collections.Counter(), collections.defaultdict(int)
@to_static
def f(x):
    calls["f"] += 1
    seen["f"] += 1
    return net(x)
for _ in range(6):
    results.append(f(x))
""",
    "a dict that counts": """
stats = {"scale": 2.0}
@to_static
def f(x):
    stats["calls"] = stats.get("calls", 0) + 1
    return net(x) * stats.get("scale")
for step in range(6):
    stats["step"] = step
    results.append(f(x))
""",
    "a method that counts": """
class Model:
    calls = made = 0
    def __call__(self, x):
        self.calls = self.calls + 1
        Model.made += 1
        return net(x)
model = Model()
@to_static
def f(x):
    return model(x)
for _ in range(6):
    results.append(f(x))
""",
    "a function that counts its calls": """
@to_static
def f(x):
    f.calls = 0
    counted.calls += 1
    return net(x)
def counted(): pass
counted.calls = 0
for _ in range(6):
    results.append(f(x))
""",
    "a log": """
class Log:
    def __init__(self):
        self.lines = []
    def __call__(self, text):
        self.lines.append(text)
log = Log()
@to_static
def f(x):
    log("called")
    return net(x)
for _ in range(6):
    log.lines.append("outside")
    results.append(f(x))
""",
    "nested functions": """
@to_static
def f(x):
    def loss(y):
        return (y - y.mean()).abs().sum()
    return loss(net(x)) + [p.sum() for p in net.parameters()][0]
for k in range(6):
    mean, abs, sum, loss = k, k, k, k
    results.append(f(x))
""",
    "a config with a step": """
@dataclasses.dataclass
class Config:
    scale: float = 2.0
    step: int = 0
class Model:
    def __init__(self, config):
        self.config = config
    def forward(self, x):
        c = self.config
        return net(x) * c.scale
config = Config()
f = to_static(Model(config).forward)
for config.step in range(6):
    results.append(f(x))
""",
    "a closure with the loop in it": """
def make():
    step, loss = 0, 0.0
    def g(x):
        return F.relu(net(x)).sum()
    traced = to_static(g)
    for step in range(6):
        loss = traced(x)
        results.append(loss)
    return traced
f = make()
""",
    "layers that keep figures": """
class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.inner, self.shape, self.norm, self.grad = nn.Linear(2, 2), None, 0.0, 0.0
    def forward(self, x):
        h = self.inner(x)
        return h / h.norm() + h.shape[0]
class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([Block(), Block()])
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.sum()
model = to_static(Model())
for step in range(6):
    out = model(x)
    for block in model.blocks:
        block.grad = float(step)
    model.norm = step
    results.append(out)
f = model.forward
""",
    "a progress bar": """
class Bar:
    n = 0
    def update(self): self.n += 1
bar = Bar()
@to_static
def f(x):
    bar.update()
    return net(x)
for i in range(6):
    bar.n = 10 * i
    results.append(f(x))
""",
    "a star import": """
from math import *
@to_static
def f(x):
    return paddle.exp(net(x)).sqrt() * pi
for e in range(6):
    exp = sqrt = e
    results.append(f(x))
""",
    "a subclass of a layer that counts": """
class Mine(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        return super().forward(x)
mine = to_static(Mine())
for i in range(6):
    results.append(mine(x))
f = mine.forward
""",
}


def _run(script, decorate):
    names = {"to_static": decorate, "__name__": "__main__"}
    exec(compile(_BEGINNING + script, "<script>", "exec"), names)
    return names["f"], [np.asarray(r) for r in names["results"]]


@pytest.mark.parametrize("name", SCRIPTS)
def test_names_in_training_scripts(name):
    f, traced = _run(SCRIPTS[name], to_static)
    _, eager = _run(SCRIPTS[name], lambda f: f)
    assert len(traced) == 6
    for a, b in zip(traced, eager, strict=True):
        np.testing.assert_array_equal(a, b)
    # One where leaves have no gradient yet, and one where they have.
    assert len(f.program_cache) <= (2 if "backward" in SCRIPTS[name] else 1)


class Rated:
    """An object whose rate functions below read in some way."""

    kinds: object = None

    def __init__(self, rate=2.0, inner=None):
        self.rate = rate
        self.inner = inner
        self.table = {"a": self}

    @property
    def itself(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def scaled(self, x):
        return x * self.rate

    def get_rate(self):
        return self.rate

    def each(self):
        yield self

    def __mul__(self, x):
        return x * self.rate


o = Rated()
outer = Rated(inner=o)
several = [Rated(1.0), o]
by_name = {"o": o, "p": Rated(1.0)}


objects = np.array([o, 1.0], object)
lazy = types.ModuleType("lazy_module_of_tests")
lazy.__getattr__ = lambda name: o


def first_of(a, b):
    return a


def scaled(x, by, *, more=None):
    return x * by.rate + (0.0 if more is None else more.rate)


def collected(x, *objects, **named):
    return x * objects[-1].rate * named["o"].rate


def wrapping(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


wrapped = wrapping(scaled)


def _aliased(x):
    held = outer
    again = held.inner
    return x * again.rate


def _in_a_branch(x):
    return x * (o if x.ndim else outer).rate


def _unpacked(x):
    _, second = several
    return x * second.rate


def _with_an_inner_function(x):
    def inner(by):
        return by.rate

    return x * inner(o)


def _with_an_inner_closure(x):
    by = o

    def inner():
        def innermost():
            return by.rate

        return innermost()

    return x * inner()


def _in_a_loop(x):
    for by in several:
        x = x * by.rate
    return x


def _over_pairs(x):
    for _, (_, by) in enumerate(zip(range(2), several, strict=True)):
        x = x * by.rate
    return x


def _in_a_block(x):
    with outer.inner as by:
        return x * by.rate


def _after_an_exception(x):
    try:
        by = several[5]
    except IndexError:
        by = several[1]
    return x * by.rate


def _matched(x):
    match o:
        case Rated(rate=r):
            return x * r
    return x


def _nested_class(x):
    class Local:
        by = o

        def __call__(self, x):
            return x * self.by.rate

    return Local()(x)


def _new_object(x):
    return x * Rated(3.0, o).inner.rate


def _walrus(x):
    return x * by.rate if (by := outer.inner) else x


def _in_a_function_of_an_argument(x):
    return functools_like(lambda by: x * by.rate, o)


def functools_like(function, *args):
    return function(*args)


def _accumulated(x):
    total = 0.0
    total += o.rate
    return x * total


def _stored(x):
    o.kept = o.rate
    return x * o.kept


class Guarded:
    """An object that does by code of its own what others do by themselves."""

    def __init__(self):
        self.__dict__["held"] = o

    @property
    def rate(self):
        return self.held.rate

    @rate.setter
    def rate(self, value):
        self.__dict__["set"] = value * self.held.rate

    def __getattribute__(self, name):
        if name == "dynamic":
            return o.rate
        return super().__getattribute__(name)


class Noting:
    def __setattr__(self, name, value):
        self.__dict__[name] = value * o.rate


class Dynamic:
    """Whose attributes are found by code that raises what it likes."""

    __slots__ = ("held",)

    def __init__(self):
        self.held = {"rate": o}

    def __getattr__(self, name):
        return self.held[name].rate

    def __call__(self, x):
        return x * self.rate


guarded, noting, dynamic = Guarded(), Noting(), [Dynamic()]


class Carrying(Exception):
    pass


def _carried(x):
    try:
        raise Carrying(o)
    except Carrying as error:
        return x * error.args[0].rate


def _appended(x):
    found = []
    found.append(o)
    return x * found[0].rate


def _added_to_what_is_known(x):
    several.append(o)
    rate = several[-1].rate
    del several[2:]
    return x * rate


def _put_into_a_dict(x):
    found = {}
    found["a"] = o
    return x * found["a"].rate


def _put_into_a_dict_that_is_known(x):
    by_name["new"] = o
    return x * by_name.pop("new").rate


def _set_for_a_while(x):
    outer.kept = o
    rate = outer.kept.rate
    outer.kept = None
    return x * rate


def _global_for_a_while(x):
    global current
    current = o
    rate = current.rate
    current = None
    return x * rate


current = None


def _with_a_setter(x):
    guarded.rate = x
    return guarded.set


def _with_a_setter_of_an_unknown(x):
    one = [guarded][0]
    one.rate = x
    return one.set


def _noted(x):
    noting.y = x
    return noting.y


def _counting_down(x, n=3, by=None):
    return x * by.rate if not n else _counting_down(x, n - 1, o)


def _nonlocal(x):
    rate = 1.0

    def change():
        nonlocal rate
        rate = o.rate

    change()
    return x * rate


def _of_two_loops(x):
    by = None
    for _ in range(2):
        if by is not None:
            x = x * by.rate
        by = o
    return x


def _named(x, **named):
    named.setdefault("by", o)
    return x * named["by"].rate


@paddle.no_grad()
def _without_gradients(x):
    return x * o.rate


rate_of = operator.attrgetter("rate")
inner_rate_of = operator.attrgetter("inner.rate")
first = operator.itemgetter(0)
asked = operator.methodcaller("get_rate")
scaled_by = operator.methodcaller("scaled", paddle.ones([2]))
scaled_more = operator.methodcaller("scaled", x=paddle.ones([2]))


READERS = [
    _carried,
    _appended,
    _added_to_what_is_known,
    _put_into_a_dict,
    _put_into_a_dict_that_is_known,
    _set_for_a_while,
    _global_for_a_while,
    _with_a_setter,
    _with_a_setter_of_an_unknown,
    _noted,
    _counting_down,
    _nonlocal,
    _of_two_loops,
    _named,
    _without_gradients,
    lambda x: _without_gradients(x),
    lambda x: dynamic[0](x),
    lambda x: x * dynamic[0].rate,
    lambda x: x * guarded.rate,
    lambda x: x * guarded.dynamic,
    lambda x: x * globals()["o"].rate,
    lambda x: x * [*several][1].rate,
    lambda x: x * (*several,)[1].rate,
    lambda x: x * {**by_name}["o"].rate,
    lambda x: x * several[-1].rate,
    lambda x: x * several[1:][0].rate,
    lambda x: x * {"f": lambda: o.rate}["f"](),
    lambda x: x * type(o)(3.0, o).inner.rate,
    lambda x: x * list(several)[1].rate,
    lambda x: x * dict(zip("a", [o], strict=True))["a"].rate,
    lambda x: x * functools.reduce(lambda a, b: a * b.rate, several, 1.0),
    lambda x: x * copy.copy(o).rate,
    _aliased,
    _in_a_branch,
    _unpacked,
    _with_an_inner_function,
    _with_an_inner_closure,
    _in_a_loop,
    _over_pairs,
    _in_a_block,
    _after_an_exception,
    _matched,
    _nested_class,
    _new_object,
    _walrus,
    _in_a_function_of_an_argument,
    _accumulated,
    _stored,
    lambda x: scaled(x, o),
    lambda x: scaled(x, several[0], more=o),
    lambda x: scaled(*[x, o]),
    lambda x: scaled(x, **{"by": o}),
    lambda x: collected(x, outer, o, o=o),
    lambda x: wrapped(x, o),
    lambda x: first_of(o, x).rate * x,
    lambda x: x * outer.inner.rate,
    lambda x: x * outer.inner.itself.rate,
    lambda x: x * outer.table["a"].inner.rate,
    lambda x: x * by_name["o"].rate,
    lambda x: x * by_name.get("o").rate,
    lambda x: x * by_name.get("none", o).rate,
    lambda x: x * next(iter(by_name.values())).rate,
    lambda x: x * sum([by.rate for by in several]),
    lambda x: x * sum(by.rate for by in several),
    lambda x: x * sum({k: v.rate for k, v in by_name.items()}.values()),
    lambda x: x * max(map(Rated.get_rate, several)),
    lambda x: x * max(several, key=lambda by: by.rate).rate,
    lambda x: outer.inner.scaled(x),
    lambda x: Rated.scaled(o, x),
    lambda x: (o.scaled if x.ndim else outer.scaled)(x),
    lambda x: x * next(o.each()).rate,
    lambda x: o * x,
    lambda x: x * (lambda by=o: by.rate)(),
    lambda x: x * float(f"{o.rate}"),
    lambda x: x * 2.0 if o.rate > 2.5 else x,
    lambda x: x if o.rate is None else x * o.rate,
    lambda x: x * (o.rate or 1.0),
    lambda x: x * (o.rate,)[0],
    lambda x: x * paddle.to_tensor(o.rate),
    lambda x: paddle.static.nn.cond(x.sum() > 0.0, lambda: x * o.rate, lambda: x),
    lambda x: paddle.add(x, paddle.full([2], o.rate)),
    lambda x: x * getattr(outer.inner, "rate"),  # noqa: B009
    lambda x: x * operator.attrgetter("rate")(o),
    lambda x: x * rate_of(o),
    lambda x: x * inner_rate_of(outer),
    lambda x: x * first(several).rate,
    lambda x: x * asked(o),
    lambda x: x + scaled_by(o),
    lambda x: x + scaled_more(o),
    lambda x: x * max(map(rate_of, several)),
    lambda x: x * objects[0].rate,
    lambda x: x * sum(by.rate for by in {o: 1}),
    lambda x: x * lazy.later.rate,
]


@pytest.mark.parametrize("reader", READERS, ids=lambda f: str(f.__code__.co_firstlineno))
def test_what_is_read_is_seen_whatever_the_way_to_it(reader):
    x = paddle.to_tensor([1.0, 2.0])
    f = to_static(reader)
    try:
        for rate in (2.0, 2.0, 3.0):
            o.rate = rate
            np.testing.assert_array_equal(f(x).numpy(), reader(x).numpy())
    finally:
        o.rate = 2.0


def test_a_function_of_an_imported_module_is_followed(monkeypatch):
    """``module.f()`` of a module that the same file imports is bytecode of its own."""
    helper = types.ModuleType("scales_things")
    exec("SCALE = 2.0\ndef f(x):\n    return x * SCALE", vars(helper))
    monkeypatch.setitem(sys.modules, "scales_things", helper)
    module = {"__name__": "uses_scales"}
    exec("import scales_things\ndef g(x):\n    return scales_things.f(x)", module)
    traced = to_static(module["g"])
    assert traced(paddle.ones([1])).item() == 2.0
    helper.SCALE = 3.0
    assert traced(paddle.ones([1])).item() == 3.0
    helper.f = lambda x: x * 7.0
    assert traced(paddle.ones([1])).item() == 7.0
