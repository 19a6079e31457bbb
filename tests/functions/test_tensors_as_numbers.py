"""Where a function takes a number, a tensor: what the number gives, and no gradient is lost.

Of each call every number is replaced by a tensor of one element, [] and [1]; in lists of numbers
each, or the whole list. In programs, too, where the other operands are variables.

What a function reads as a plain number leaves the graph, and nobody notices that the gradient of
that tensor lacks a part. So each number is also replaced by a tensor that requires a gradient, of
the values 0 and 1, too, for which a function may do less: a gradient, or an error.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NotATensorError
from autograd_engine.nn import functional
from autograd_engine.program.ir.program import Variable
from tests.over import over

from .calls import SEED
from .cases import CASES
from .harness import flat, floating, operands_in

MODULES = (paddle, functional, paddle.linalg)
STEP = 1e-5
NO_GRADIENT = {  # as their docstrings say
    ("gammainc", "x"),
    ("gammaincc", "x"),
    ("histogram", "min"),
    ("histogram", "max"),
    ("histogram_bin_edges", "min"),
    ("histogram_bin_edges", "max"),
}
OTHER_CALLS = {  # a tensor says the shape too
    ("normal", "mean"),
    ("normal", "std"),
    ("log_normal", "mean"),
    ("log_normal", "std"),
}


@pytest.fixture(autouse=True)
def wide() -> Iterator[None]:
    before = paddle.get_default_dtype()
    paddle.set_default_dtype("float64")
    yield
    paddle.set_default_dtype(before)


def reduced(outputs: Any) -> Any:
    """A number that depends on each floating element; None where there is none."""
    parts = [
        (y * paddle.to_tensor(np.cos(np.arange(y.size) + k).reshape(y.shape))).sum()
        for k, y in enumerate(floating(flat(outputs)))
    ]
    return sum(parts[1:], parts[0]) if parts else None


def calls_of(name: str, case: Any) -> list[tuple[Callable[..., Any], tuple[Any, ...], Any]]:
    """The public functions of that name that a case calls, and the arguments."""
    found = []
    path, _, name = name.rpartition(".")
    for module in [functools.reduce(getattr, path.split("."), paddle)] if path else MODULES:
        function = getattr(module, name, None)
        if not inspect.isfunction(function):
            continue
        seen: list[Any] = []

        def spy(*args: Any, seen: Any = seen, function: Any = function, **kwargs: Any) -> Any:
            seen.append((args, kwargs))
            return function(*args, **kwargs)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, name, spy)
            paddle.seed(SEED)
            case.call(*[Tensor._wrap(a) for a in operands_in(case, np.float64)])
        found += [(function, *given) for given in seen[:1]]
    return found


def lost(name: str, case: Any) -> list[str]:
    """Arguments of a case whose gradient is another than that of differences."""
    wrong = []
    for function, args, kwargs in calls_of(name, case):
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        for argument, given in bound.arguments.items():
            if isinstance(given, bool) or not isinstance(given, (int, float)):
                continue
            if (name, argument) in NO_GRADIENT | OTHER_CALLS:
                continue

            def number(
                value: Any, argument: str = argument, bound: Any = bound, function: Any = function
            ) -> Any:
                paddle.seed(SEED)
                own = {  # some write in place
                    k: v.clone() if isinstance(v, Tensor) else v for k, v in bound.arguments.items()
                }
                made = inspect.BoundArguments(bound.signature, {**own, argument: value})
                return reduced(function(*made.args, **made.kwargs))

            for value in {float(given), 0.0, 1.0}:
                t = paddle.to_tensor(value, stop_gradient=False)
                try:
                    out = number(t)
                    before, at, after = [number(value + k * STEP).item() for k in (-1, 0, 1)]
                except Exception:  # refused, or its differences are
                    continue
                near, bend = (after - before) / (2.0 * STEP), (after - 2.0 * at + before) / STEP
                if not np.isfinite(near) or abs(bend) > 1e-3 * (1.0 + abs(near)):
                    continue  # a jump, or a kink
                (g,) = [None] if out.stop_gradient else paddle.grad(out, [t], allow_unused=True)
                got = 0.0 if g is None else g.item()
                if abs(got - near) > 1e-4 * (1.0 + abs(near)):
                    wrong.append(f"{name}({argument}={value}): {got} for {near}")
    return wrong


def test_no_gradient_is_lost() -> None:
    wrong = [text for name, cases in CASES.items() for case in cases for text in lost(name, case)]
    assert not wrong


SHAPE_SAYS_MORE = {  # a tensor of one element is no number there
    ("linalg.matrix_rank", "tol"),  # one for each matrix
    ("linalg.matrix_rank", "rtol"),
    ("vsplit", "num_or_indices"),  # one number; of a list of one it is where to split
    ("tensordot", "axes"),  # the axes
    ("histogramdd", "bins"),  # the edges
    ("Tensor.__setitem__", "key"),
    *OTHER_CALLS,
}


def tensors_for(given: Any) -> list[Any]:
    """What may stand for a number, or for a list of numbers."""

    def plain(value: Any) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool)

    def tensor(value: Any) -> Any:
        return paddle.to_tensor(value, dtype="int64" if isinstance(value, int) else "float64")

    if plain(given):
        return [tensor(given), paddle.reshape(tensor(given), [1])]
    if not isinstance(given, (list, tuple)) or not given or not all(map(plain, given)):
        return []
    whole = all(isinstance(v, int) for v in given)
    return [[tensor(v) for v in given], *([paddle.to_tensor(list(given))] if whole else [])]


def results(function: Any, bound: inspect.BoundArguments, **other: Any) -> list[Any]:
    paddle.seed(SEED)
    own = {k: v.clone() if isinstance(v, Tensor) else v for k, v in bound.arguments.items()}
    made = inspect.BoundArguments(bound.signature, own | other)
    found = flat(function(*made.args, **made.kwargs))
    return [np.asarray(y) for y in found if y is not None]


def declared(value: Any, name: str) -> Any:
    """What stands in a program for a tensor."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return [declared(v, f"{name}{k}") for k, v in enumerate(value)]
    if not isinstance(value, Tensor):
        return value
    return paddle.static.data(name, value.shape, value.dtype)


def shapes(function: Any, bound: inspect.BoundArguments, **other: Any) -> list[Any]:
    """Of the results, in a program."""
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        own = {k: declared(v, k) for k, v in bound.arguments.items()}
        made = inspect.BoundArguments(bound.signature, own | other)
        return [tuple(y.shape) for y in flat(function(*made.args, **made.kwargs))]


def otherwise(name: str, case: Any) -> list[str]:
    """Arguments of a case that may not be tensors, or are something else then."""
    wrong = []
    for function, args, kwargs in calls_of(name, case):
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        for ask, same in ((results, np.testing.assert_allclose), (shapes, np.testing.assert_equal)):
            try:
                expected = ask(function, bound)
            except Exception:  # functions of one mode, and what needs values of its operands
                continue
            for argument, given in bound.arguments.items():
                for value in [] if (name, argument) in SHAPE_SAYS_MORE else tensors_for(given):
                    try:
                        found = ask(function, bound, **{argument: value})
                        assert len(found) == len(expected)
                        for a, b in zip(found, expected, strict=True):
                            same(a, b)
                    except NotATensorError as error:
                        if "eager Tensor among Variables" not in str(error):  # says what to write
                            wrong.append(f"{name}({argument}): {error!r:.200}")
                    except Exception as error:
                        wrong.append(
                            f"{name}({argument}={value!r}), {ask.__name__}: {error!r:.200}"
                        )
    return wrong


def test_what_a_tensor_gives_is_what_its_number_gives() -> None:
    """Of the cases that are tried by default the first of each function."""
    wrong = [text for name, cases in CASES.items() for text in otherwise(name, cases[0])]
    assert not wrong, "\n".join(wrong)


@pytest.mark.thorough
def test_what_a_tensor_gives_in_all_cases() -> None:
    wrong = [t for name, cases in CASES.items() for case in cases for t in otherwise(name, case)]
    assert not wrong, "\n".join(wrong)


def numbers_of(given: Any, make: Callable[[Any], Any]) -> Any:
    """Variables for a number, or for a list of numbers; None where it is neither."""

    def plain(value: Any) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool)

    if plain(given):
        return make(given)
    if isinstance(given, (list, tuple)) and given and all(map(plain, given)):
        return [make(v) for v in given]
    return None


NOT_IN_PROGRAMS = {"nn.functional.embedding_renorm_"}  # it writes its weight
ANOTHER_VALUE = {  # which a function takes for something else than what it would be otherwise
    ("crop", "shape"),  # -1 is all that there is
    ("cross", "axis"),  # 9 is none
    ("asarray", "obj"),  # no number, but what is made an array
}


def in_a_program(name: str, known: bool) -> Iterator[tuple[str, str]]:
    """Each argument of the first case, with what is wrong where it is a variable: empty, or else.

    One that is a constant of the program, if `known`, or one that is fed.
    """
    static = paddle.static
    for function, args, kwargs in calls_of(name, CASES[name][0]):
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        try:
            expected = results(function, bound)
        except Exception:  # functions of one mode
            continue
        for argument, given in bound.arguments.items():
            if argument == "seed" or (name, argument) in SHAPE_SAYS_MORE | ANOTHER_VALUE:
                continue
            main, feed = static.Program(), {}

            def fed(value: Any, feed: Any = feed) -> Any:
                feed[f"data_{len(feed)}"] = array = np.asarray(value)
                return static.data(f"data_{len(feed) - 1}", array.shape, array.dtype.name)

            def make(value: Any, fed: Any = fed) -> Any:
                dtype = "int64" if isinstance(value, int) else "float64"
                return paddle.full([], value, dtype) if known else fed(value)

            def operand(value: Any, fed: Any = fed) -> Any:
                if isinstance(value, (list, tuple)):
                    return [operand(v, fed) for v in value]
                return fed(value.numpy()) if isinstance(value, Tensor) else value

            with static.program_guard(main, static.Program()):
                number = numbers_of(given, make)
                if number is None:
                    continue
                own = {k: operand(v) for k, v in bound.arguments.items()} | {argument: number}
                try:
                    made = inspect.BoundArguments(bound.signature, own)
                    outputs = flat(function(*made.args, **made.kwargs))
                except Exception as error:
                    yield argument, f"{type(error).__name__}: {error}"
                    continue
            outputs = [y for y in outputs if isinstance(y, Variable)]
            paddle.seed(SEED)
            found = static.Executor(backend="numpy").run(main, feed, outputs)
            assert len(found) == len(expected)
            for y, a, b in zip(outputs, found, expected, strict=True):
                assert (a.shape, a.dtype) == (b.shape, b.dtype)
                assert all(have in (-1, size) for have, size in zip(y.shape, a.shape, strict=True))
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)
            yield argument, ""


@over("name", sorted(CASES.keys() - NOT_IN_PROGRAMS))
def test_what_a_constant_of_a_program_gives_is_what_its_number_gives(name: str) -> None:
    assert not [(argument, text) for argument, text in in_a_program(name, known=True) if text]


@over("name", sorted(CASES.keys() - NOT_IN_PROGRAMS))
def test_what_a_fed_number_gives_is_what_it_gives_eagerly_or_is_refused(name: str) -> None:
    """Axes may be fed, and what is refused names the line."""
    for argument, text in in_a_program(name, known=False):
        if text:
            assert text.startswith("NeedsValue")
            assert "while the program is built" in text
            assert not AXIS.fullmatch(argument) or "on which the number of dim" in text


AXIS = re.compile(r"axis\d?|axes|dims?|dim\d|start_axis|stop_axis|source|destination|perm")


def test_the_sweep_sees_what_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    full = paddle.full

    def losing(shape: Any, fill_value: Any, dtype: Any = None, name: Any = None) -> Any:
        return full(shape, float(fill_value), dtype, name)

    monkeypatch.setattr(paddle, "full", losing)
    assert any(lost("full", case) for case in CASES["full"])


@pytest.mark.parametrize("grad", [True, False])
def test_values_are_those_of_numbers(grad: bool) -> None:
    def t(value: float) -> Any:
        return paddle.to_tensor(value, stop_gradient=not grad)

    close = np.testing.assert_allclose
    close(paddle.full([2], t(0.1)).numpy(), [0.1, 0.1], rtol=0)
    close(paddle.full_like(paddle.ones([2]), t(0.1), "float32").numpy(), np.float32([0.1, 0.1]))
    assert paddle.full([2], t(1.7), "int64").tolist() == [1, 1]
    close(paddle.arange(t(1.0), t(2.0), t(0.25)).numpy(), np.arange(1.0, 2.0, 0.25))
    close(paddle.linspace(t(-1.0), t(2.0), 4).numpy(), np.linspace(-1.0, 2.0, 4))
    close(paddle.linspace(t(3.0), 4.0, 1, "float32").numpy(), [3.0])
    close(paddle.logspace(t(0.0), t(2.0), 3, t(10.0)).numpy(), [1.0, 10.0, 100.0])
    paddle.seed(5)
    drawn = paddle.uniform([3], min=t(-1.0), max=t(3.0))
    paddle.seed(5)
    close(drawn.numpy(), paddle.uniform([3], min=-1.0, max=3.0).numpy())
    assert drawn.stop_gradient is not grad
