"""Wrong operands and arguments of every public function, in both modes.

Each case is called with one operand, or one argument, replaced by something that it does not
take. What matters is how it fails: by an exception of the engine's, in which a public function (or
the operation it is made of) names itself, never by what Python or NumPy say about internals; at
once; and with the program as it was. Some replacements are taken (a number for an array, a list
of indices): then nothing is asked here.
"""

import contextlib
import inspect
import re
import signal
import sys
import warnings

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.locations import PACKAGE_DIR
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.program.ir.program import Variable
from tests.over import over

from .cases import CASES, family

static = paddle.static
F = paddle.nn.functional

NAMES = sorted(CASES)
SECONDS = 20
RAW = re.compile(
    r"unsupported operand|has no attribute|contain a loop|cannot reshape|index out of|positional|"
    r"not subscriptable|not iterable|object cannot|ufunc|could not convert|be interpreted|"
    r"operands could not|setting an array element with|only integer|only length|object arrays|"
    r"out of bounds|not supported between|object of type|truth value|all the input|core dim|"
    r"NoneType' object|not callable|unhashable|invalid literal|unpack|values to|[Cc]annot cast|"
    r"bad operand|can't multiply|argument must be a string|Cannot interpret|too big|"
    r"Maximum allowed|negative dimensions|zero-size|data points|has no len"
)
# What an exception may begin with: public functions, operations, and what indexing says.
HEADS = {n.split(".")[-1].strip("_") for n in NAMES} | set(REGISTRY)
HEADS |= {"broadcast", "reduction", "max_unpool"}
INDEXING = re.compile(
    r"x\[|a tensor is indexed|too many indices|the index arrays|index -?\d|a mask of shape|"
    r"a float\d+ tensor cannot be an index|to_tensor"
)
SAYS_ENOUGH = re.compile(r"is no dtype of this engine|^the number .* stands beside integers")


class Slow(BaseException):
    pass


@contextlib.contextmanager
def at_once():
    def stop(*_):
        raise Slow

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def resolve(name):
    found = paddle
    for part in name.split("."):
        found = getattr(found, part)
    return found


def ours(frame):
    return frame.f_code.co_filename.startswith(PACKAGE_DIR)


class Watched:
    """Programs, and the text of them when they were last looked at."""

    def __init__(self, *programs):
        self.programs = programs
        self.seen = self.texts()

    def texts(self):
        return [repr(p) for p in self.programs]

    def changed(self):
        before, self.seen = self.seen, self.texts()
        return self.seen != before

    def changed_by_last_call(self, call):
        """Whether the last function of the engine that `call` enters adds to them, and fails."""

        def entered(frame, event, arg):
            if event == "call" and ours(frame):
                outer = frame.f_back
                while outer is not None:
                    if ours(outer):
                        return
                    outer = outer.f_back
                self.seen = self.texts()

        sys.setprofile(entered)
        try:
            call()
        except Exception:
            sys.setprofile(None)
            return self.changed()
        finally:
            sys.setprofile(None)
        return True


def raised_in(error):
    """The file in which an exception was raised."""
    place = error.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
    return place.tb_frame.f_code.co_filename


def complaints(name, call, programs=None):
    """What is wrong with how `call` fails, None where it does not fail."""
    programs = programs or Watched()
    try:
        with at_once(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", ".* they are broadcast, which compares")
            call()
        programs.changed()
        return None
    except Slow:
        return "does not come back"
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        file = raised_in(error)
        if not file.startswith(PACKAGE_DIR):
            # The lambda of the case itself could do nothing with it.
            return (
                None
                if file == sys.modules[__name__].__file__ or "/tests/functions/families" in file
                else f"comes from {file}: {text}"
            )
        # Where a case calls several functions, those before may have added what they are asked for.
        if programs.changed() and programs.changed_by_last_call(call):
            return f"leaves operators behind: {text}"
        if not isinstance(error, (TypeError, ValueError, IndexError, RuntimeError)):
            return text
        if RAW.search(str(error)):
            return text
        last = name.split(".")[-1].strip("_")
        head = re.match(r"\w*", str(error)).group().strip("_")
        names = (last, resolve(name).__name__)  # of an alias also that of the function
        if any(n in str(error) for n in names) or head in HEADS or INDEXING.match(str(error)):
            return None
        return None if SAYS_ENOUGH.search(str(error)) else f"names no function: {text}"


def wrong(array):
    nothing = np.empty(array.shape, object)
    yield "list", array.tolist() if array.ndim else [1.0]
    yield "None", None
    yield "str", "x"
    yield "dict", {"x": 1}
    yield "object", object()
    yield "object array", nothing
    yield "str array", np.full(array.shape, "ab")


def dtype_of(array):
    return np.dtype("float32") if array.dtype == np.float64 else array.dtype


def tensors(case):
    return [
        Tensor._leaf(a.astype("float32")) if a.dtype == np.float64 else Tensor._wrap(a.copy())
        for a in case.operands
    ]


def variables(case):
    return [static.data(f"x{k}", list(a.shape), dtype_of(a)) for k, a in enumerate(case.operands)]


def other_arrays(array):
    """Arrays of another dtype or shape."""
    dtype = dtype_of(array)
    if array.dtype.kind != "c":
        yield "complex", np.zeros(array.shape, "complex64") + (1 + 0.5j)
    yield "more axes", np.ones((2,) + (3,) * (array.ndim + 1), dtype)
    yield "0-d", np.ones((), dtype)
    yield "larger", np.ones([n + 5 for n in array.shape], dtype)
    yield "empty", np.ones([0] * array.ndim, dtype)


@over("name", NAMES, by=family)
def test_operands_eagerly(name):
    found = {}
    case = CASES[name][0]
    elsewhere = static.Program()
    for k, array in enumerate(case.operands):
        with static.program_guard(elsewhere):
            variable = static.data(f"v{k}", list(array.shape), dtype_of(array))
        values = [*wrong(array), *((n, Tensor._wrap(a)) for n, a in other_arrays(array))]
        if len(case.operands) > 1:
            values.append(("Variable", variable))
        for what, value in values:
            xs = tensors(case)
            xs[k] = value
            programs = Watched(elsewhere) if what == "Variable" else None
            found[k, what] = complaints(name, lambda xs=xs: case.call(*xs), programs)
    assert {k: v for k, v in found.items() if v} == {}


@over("name", [n for n in NAMES if CASES[n][0].static], by=family)
def test_operands_in_a_program(name):
    found = {}
    case = CASES[name][0]
    for k, array in enumerate(case.operands):
        values = [*wrong(array), ("Tensor", Tensor._wrap(array)), ("of another program", None)]
        for what, value in (*values, *other_arrays(array)):
            program, another = static.Program(), static.Program()
            with static.program_guard(another):
                foreign = static.data("foreign", list(array.shape), dtype_of(array))
            with static.program_guard(program):
                xs = variables(case)
                if what == "of another program":
                    value = foreign
                elif what in dict(other_arrays(array)):
                    value = static.data("other", list(value.shape), value.dtype)
                xs[k] = value
                programs = Watched(program, another)
                found[k, what] = complaints(name, lambda xs=xs: case.call(*xs), programs)
    assert {k: v for k, v in found.items() if v} == {}


# --- arguments

AXIS = re.compile(r"^(axis\d?|axes|start_axis|stop_axis|perm|source|destination|dims?)$")


def wrong_arguments(parameter, value):
    if parameter.name == "name":
        return
    if AXIS.match(parameter.name):
        yield from (99, -99, 1.5, "x", True, [99], object(), [0, 0], [True])
    elif parameter.name == "dtype":
        yield from ("nonsense", 3, object(), [1])
    elif isinstance(value, str):
        yield from ("nonsense", 3, None, ["x"])
    elif isinstance(value, (bool, Tensor, Variable)):
        return
    elif isinstance(value, int):
        yield from (1.5, "x", None, -99, True, [1], object())
        if parameter.name not in ("stride", "output_size"):  # what is slow, not what is wrong
            yield 10**30
    elif isinstance(value, float):
        yield from ("x", None, [1.0], 1j, object())
    elif isinstance(value, (list, tuple)):
        yield from ("x", object(), ["x"], [None], [])
        if not any(isinstance(v, (Tensor, Variable)) for v in value):
            size = max(len(value), 1)
            yield from ([-5] * size, [1.5] * size, [True] * size, [10**12] * size, [10**30])
            yield [*value, 1]
    elif value is None:
        yield from ("nonsense", 99, -99, 1.5, object(), [1.5])


def bound(name, case, operands):
    """The arguments with which the function is called by the case, None if it is not."""
    shown = resolve(name)
    code = inspect.unwrap(shown).__code__
    found = []

    def watch(frame, event, arg):
        # What is public has code of its own, from its first call on.
        made = frame.f_code is shown.__code__ and frame.f_locals.get("_other") == {}
        if event == "call" and (made or frame.f_code is code) and not found:
            found.append(dict(frame.f_locals))

    sys.setprofile(watch)
    try:
        case.call(*operands)
    except RuntimeError:  # no gradients through complex values
        return None
    finally:
        sys.setprofile(None)
    return found[0] if found else None


def call_with(name, values):
    args, kwargs = [], {}
    function = resolve(name)
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            values[p.name] = list(values[p.name])
            args += values[p.name]
        elif p.kind is p.KEYWORD_ONLY:
            kwargs[p.name] = values[p.name]
        else:
            args.append(values[p.name])
    return function(*args, **kwargs)


def parameters(name):
    function = resolve(name)
    if not inspect.isfunction(function):
        return []
    listed = inspect.signature(function).parameters.values()
    return [p for p in listed if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


FUNCTIONS = [n for n in NAMES if n.partition(".")[0] != "static"]


@over("name", FUNCTIONS, by=family)
def test_arguments(name):
    found = {}
    for case in CASES[name][:2]:
        given = bound(name, case, tensors(case))
        if given is None:
            continue
        program, of_program = static.Program(), None
        if case.static:
            with static.program_guard(program):
                of_program = bound(name, case, variables(case))
        watched = Watched(program)
        for p in parameters(name):
            for value in wrong_arguments(p, given.get(p.name)):
                key = f"{p.name}={value!r:.40}"
                changed = {**given, p.name: value}
                found[key] = complaints(name, lambda changed=changed: call_with(name, changed))
                if of_program is None:
                    continue
                with static.program_guard(program):
                    changed = {**of_program, p.name: value}
                    found[key + " in a program"] = complaints(
                        name, lambda changed=changed: call_with(name, changed), watched
                    )
    assert {k: v for k, v in found.items() if v} == {}


# --- sizes, values, and what only the numbers show


def t(*values, dtype="float32"):
    return paddle.to_tensor(np.asarray(values, dtype))


def i(*values):
    return paddle.to_tensor(np.asarray(values, "int64"))


IMAGE = np.ones((1, 2, 4, 4), "float32")
SPECIAL = {
    # integers
    "pow -1": (lambda: i(2, 3) ** -1, "pow: .*negative powers: use x.astype"),
    "pow of -1s": (lambda: paddle.pow(i(2), i(-1)), "pow: .*negative powers"),
    "// 0": (lambda: i(2) // i(0), "floor_divide: integers cannot be divided by 0"),
    "% 0": (lambda: i(2) % 0, "remainder: integers cannot be divided by 0"),
    "full nan": (lambda: paddle.full([2], float("nan"), "int64"), "full: .*does not fit int64"),
    "masked_fill nan": (
        lambda: paddle.masked_fill(i(1, 2), t(1, 0, dtype="bool"), float("nan")),
        "masked_fill: value nan does not fit int64",
    ),
    "index_fill large": (
        lambda: paddle.index_fill(i(1, 2).astype("int8"), i(0), 0, 300),
        "index_fill: value 300 does not fit int8",
    ),
    "to_tensor nan": (lambda: paddle.to_tensor([float("nan")], dtype="int64"), "does not fit"),
    "astype complex": (lambda: t(1j, dtype="complex64").astype("float32"), "astype: .*paddle.real"),
    "max complex": (lambda: paddle.max(t(1j, dtype="complex64")), "max: .*takes real numbers"),
    "relu complex": (lambda: F.relu(t(1j, dtype="complex64")), "relu takes real numbers"),
    "< complex": (lambda: t(1j, dtype="complex64") < 2.0, "less_than takes real numbers"),
    # sizes that are far too large, or negative
    "arange": (lambda: paddle.arange(int(1e18)), "arange: .*more elements than an array"),
    "zeros": (lambda: paddle.zeros([2**60]), "zeros: .*more elements than an array"),
    "zeros 10**12": (lambda: paddle.zeros([10**15]), "zeros: .*more than an array"),
    "ones": (lambda: paddle.ones([2**60]), "ones: .*more elements than an array"),
    "full": (lambda: paddle.full([10**15], 1.0), "full: .*more than an array"),
    "eye": (lambda: paddle.eye(10**9), "eye: .*more elements than an array"),
    "rand": (lambda: paddle.rand([10**15]), "rand: .*more than an array"),
    "randperm": (lambda: paddle.randperm(10**15), "randperm: .*more than an array"),
    "linspace": (lambda: paddle.linspace(0, 1, 10**15), "linspace: .*more than an array"),
    "tile": (lambda: paddle.tile(t(1, 2), [10**15]), "tile: .*more than an array"),
    "repeat": (lambda: paddle.repeat_interleave(t(1, 2), 10**15), "repeat_interleave: .*more tha"),
    "expand": (lambda: paddle.expand(t(1), [2**62, 2**62]), "expand: .*more than an array"),
    "one_hot": (lambda: F.one_hot(i(1), 10**15), "one_hot: .*more than an array"),
    "pad": (lambda: F.pad(t(1, 2), [0, 10**15]), "pad: .*more than an array"),
    "upsample": (lambda: F.upsample(paddle.to_tensor(IMAGE), size=[10**15, 9]), "more than an"),
    "zeros -1": (lambda: paddle.zeros([-1]), "zeros: shape .*non-negative ints"),
    "arange nan": (lambda: paddle.arange(float("nan")), "arange: end must be a finite"),
    "eye -1": (lambda: paddle.eye(-1), "eye: num_rows must be 0 to"),
    "randint": (lambda: paddle.randint(0, 3, [-2]), "randint: shape .*non-negative ints"),
    # nothing
    "concat": (lambda: paddle.concat([]), "concat: x is empty"),
    "stack": (lambda: paddle.stack([]), "stack: x is empty"),
    "add_n": (lambda: paddle.add_n([]), "add_n: inputs is empty"),
    "meshgrid": (lambda: paddle.meshgrid([]), "meshgrid: "),
    "multiplex": (lambda: paddle.multiplex([], i(0)), "multiplex: "),
    "broadcast_tensors": (lambda: paddle.broadcast_tensors([]), "broadcast_tensors: "),
    "multi_dot": (lambda: paddle.linalg.multi_dot([]), "multi_dot: "),
    "max of nothing": (lambda: paddle.max(paddle.zeros([0])), "maximum: .*empty"),
    "argmin of nothing": (lambda: paddle.argmin(paddle.zeros([0])), "minimum: .*empty"),
    "median of nothing": (lambda: paddle.median(paddle.zeros([0])), "median: "),
    # values
    "gather": (lambda: paddle.gather(t(1, 2), i(2)), "gather: index 2 is out of range"),
    "gather_nd": (lambda: paddle.gather_nd(t(1, 2), i(5)), "index 5 is out of range"),
    "index_select": (lambda: paddle.index_select(t(1, 2), i(2)), "index 2 is out of range"),
    "take": (lambda: paddle.take(t(1, 2), i(2)), "index 2 is out of range"),
    "take_along_axis": (
        lambda: paddle.take_along_axis(t(1, 2), i(9), 0),
        "take_along_axis: index 9 is out of range",
    ),
    "scatter": (lambda: paddle.scatter(t(1, 2), i(5), t(1)), "index 5 is out of range"),
    "put_along_axis": (
        lambda: paddle.put_along_axis(t(1, 2), i(5), 1.0, 0),
        "index 5 is out of range",
    ),
    "x[5]": (lambda: t(1, 2)[5], "index 5 is out of range"),
    "x[[5]]": (lambda: t(1, 2)[i(5)], "index 5 is out of range"),
    "one_hot label": (lambda: F.one_hot(i(1, 3), 3), "one_hot: index 3 is out of range"),
    "embedding": (lambda: F.embedding(i(7), paddle.ones([3, 2])), "index 7 is out of range"),
    "label": (lambda: F.cross_entropy(paddle.ones([1, 3]), i(3)), "is out of range"),
    "nll label": (lambda: F.nll_loss(paddle.ones([1, 3]), i(3)), "is out of range"),
    "bincount": (lambda: paddle.bincount(i(-1)), "bincount: "),
    "bernoulli": (lambda: paddle.bernoulli(t(1.5)), "bernoulli: "),
    "multinomial": (lambda: paddle.multinomial(t(-1.0, 2.0)), "multinomial: "),
    # shapes
    "matmul": (lambda: paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3])), "matmul: "),
    "concat sizes": (lambda: paddle.concat([paddle.ones([2, 3]), paddle.ones([2, 2])]), "concat"),
    "stack shapes": (lambda: paddle.stack([t(1), t(1, 2)]), "stack: "),
    "where": (lambda: paddle.where(t(1, 0, dtype="bool"), t(1, 2, 3), t(1)), "where: "),
    "broadcast_to": (lambda: paddle.broadcast_to(t(1, 2), [3]), "broadcast_to: |expand: "),
    "conv": (
        lambda: F.conv2d(paddle.to_tensor(IMAGE), paddle.ones([3, 2, 9, 9])),
        "conv2d: a kernel of 9 .* does not fit",
    ),
    "pool": (lambda: F.max_pool2d(paddle.to_tensor(IMAGE), 5), "max_pool2d: .*does not fit x"),
    "upsample 0": (lambda: F.upsample(paddle.to_tensor(IMAGE), size=[0, 2]), "upsample|interpol"),
    "upsample little": (
        lambda: F.upsample(paddle.to_tensor(IMAGE), scale_factor=0.1),
        "leaves nothing of 4 pixels",
    ),
    "cross_entropy classes": (
        lambda: F.cross_entropy(paddle.ones([2, 3]), paddle.ones([2, 4]), soft_label=True),
        "cross_entropy: soft labels must have the shape",
    ),
    # another name, too many
    "keyword": (lambda: paddle.scale(t(1.0), nonsense=2), "scale: there is no argument 'nonsense'"),
}


@pytest.mark.parametrize("label", SPECIAL)
def test_values_and_sizes(label):
    call, hint = SPECIAL[label]
    with at_once(), pytest.raises((TypeError, ValueError, IndexError), match=hint) as caught:
        call()
    assert not RAW.search(str(caught.value).replace("positional", ""))


# --- numbers beside eager Tensors and beside Variables, in any mode


def test_numbers_fit_their_neighbours():
    x = paddle.to_tensor([1.0, 2.0])
    program = static.Program()
    before = repr(program)
    with static.program_guard(program):
        assert paddle.lerp(x, 3, 0.5).tolist() == [2.0, 2.5]
        assert F.kl_div(x, 1.0, reduction="none").tolist() == [-1.0, -2.0]
        assert paddle.heaviside(x, 0).tolist() == [1.0, 1.0]
        assert repr(program) == before
        v = static.data("v", [2])
        outputs = [paddle.lerp(v, 3, 0.5), F.kl_div(v, 1.0, reduction="none"), paddle.exp(0.0)]
    with_numbers = paddle.lerp(v, np.float32(3.0), np.ones(2, "float32"))  # outside of any guard
    values = static.Executor().run(
        program, {"v": x.numpy()}, [*outputs, with_numbers, paddle.copysign(v, -1.0)]
    )
    assert [a.tolist() for a in values] == [
        [2.0, 2.5],
        [-1.0, -2.0],
        1.0,
        [3.0, 3.0],
        [-1.0, -2.0],
    ]


def test_a_function_of_numbers_alone_is_part_of_the_program():
    program = static.Program()
    with static.program_guard(program):
        out = F.dropout(paddle.clip(2.0, 0.0, 1.0), training=False)
        assert isinstance(out, Variable)
        (value,) = static.Executor().run(program, {}, [out])
    assert value == 1.0


def test_an_eager_tensor_among_variables_is_refused():
    program, x = static.Program(), paddle.to_tensor([1.0, 2.0])
    with static.program_guard(program):
        v = static.data("v", [2])
        before = repr(program)
        with pytest.raises(TypeError, match="is an eager Tensor among Variables"):
            paddle.lerp(v, x, 0.5)
        with pytest.raises(TypeError, match=r"must be a Variable.*got object"):
            paddle.lerp(v, 1.0, object())
        assert repr(program) == before
