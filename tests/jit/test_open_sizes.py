"""A size that an InputSpec leaves open, handed to every function that takes an int."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ModeError
from autograd_engine.jit import to_static
from autograd_engine.static import InputSpec
from tests.functions.case import Case
from tests.functions.cases import family
from tests.functions.harness import SEED, cases, flat
from tests.over import over

Path = tuple[int, ...]


def _ints(code: CodeType) -> Iterator[tuple[Path, int]]:
    """Where positive ints stand in the constants of code, and which."""
    for k, constant in enumerate(code.co_consts):
        if isinstance(constant, CodeType):
            yield from (((k, *path), value) for path, value in _ints(constant))
        elif isinstance(constant, tuple):
            yield from (((k, j), v) for j, v in enumerate(constant) if type(v) is int and v > 0)
        elif type(constant) is int and constant > 0:
            yield (k,), constant


def _put(code: CodeType, path: Path, value: Any) -> CodeType:
    """`code` with another value in that place."""
    constants = list(code.co_consts)
    k, *rest = path
    if isinstance(constants[k], CodeType):
        constants[k] = _put(constants[k], tuple(rest), value)
    elif rest:
        constants[k] = tuple(value if j == rest[0] else v for j, v in enumerate(constants[k]))
    else:
        constants[k] = value
    return code.replace(co_consts=tuple(constants))


def _with(call: Any, path: Path, value: Any) -> Callable[..., Any]:
    made = _put(call.__code__, path, value)
    return FunctionType(made, call.__globals__, None, call.__defaults__, call.__closure__)


def _arrays(call: Callable[[], Any]) -> list[np.ndarray] | Exception:
    paddle.seed(SEED)
    try:
        return [np.asarray(getattr(v, "numpy", lambda v=v: v)()) for v in flat(call())]
    except Exception as error:
        return error


@over("case", cases(lambda case: case.static), by=family)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_open_size_is_the_size_that_it_will_be_or_is_refused(case: Case):
    """Each int of the call in turn is the size of an open axis, for two sizes and two inputs."""
    xs = [paddle.to_tensor(a) for a in case.operands]
    specs = [None] * len(xs), [InputSpec([None] * x.ndim, x.dtype) for x in xs]
    for path, number in _ints(case.call.__code__):
        for spec in specs:
            traced = to_static(
                lambda source, *given, path=path: _with(case.call, path, source.shape[0])(*given),
                input_spec=[InputSpec([None]), *spec],
            )
            for size in (number, number + 1):
                found = _arrays(lambda traced=traced, n=size: traced(paddle.zeros([n]), *xs))
                if isinstance(found, Exception):
                    continue
                expected = _arrays(lambda path=path, n=size: _with(case.call, path, n)(*xs))
                assert not isinstance(expected, Exception), f"{path}, {size}: {expected}"
                for a, b in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(a, b, f"{path}, {size}")


SHAPES = {
    "expand": lambda w, n: w.unsqueeze(0).expand([n, 2]),
    "expand to keep": lambda w, n: w.expand([n, -1]),
    "broadcast_to": lambda w, n: paddle.broadcast_to(w, [n, 2]),
    "expand in the middle": lambda w, n: w.reshape([1, 2, 1]).expand([n, 2, n]),
    "reshape": lambda w, n: w.expand([n, 2]).reshape([n, 1, 2]),
    "reshape of what is told late": lambda w, n: paddle.concat([w, w[:0]]).expand([n, 2]),
    "unflatten": lambda w, n: w.expand([n, 2]).flatten().unflatten(0, [n, 2]),
    "as rows": lambda w, n: w.expand([n, 2]).flatten().reshape([2, n]),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("shape", [(5, 3), (1, 3), (0, 3), (4, 0)], ids=str)
@over("backend", ["numpy", "native"])
def test_shapes_with_open_sizes_have_gradients(name, shape, backend):
    def run(function):
        w = paddle.to_tensor([1.5, -2.0], stop_gradient=False)
        x = paddle.ones(shape)
        y = function(w, x)
        (y * y).sum().backward()
        return y.shape, y.numpy(), w.grad.numpy()

    function = lambda w, x: SHAPES[name](w, x.shape[0])  # noqa: E731
    traced = to_static(
        function, input_spec=[InputSpec([2]), InputSpec([None, None])], backend=backend
    )
    for _ in range(4):  # the last of which are compiled
        for found, expected in zip(run(traced), run(function), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("axis", [0, 1])
@over("backend", ["numpy", "native"])
def test_a_product_at_a_part_of_open_sizes_leaves_the_rest_as_it_is(axis, backend):
    start = np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)

    def run(function, index):
        x = paddle.to_tensor(start, stop_gradient=False)
        values = paddle.full(index.shape, 3.0)
        y = function(x, index, values)
        (y * y).sum().backward()
        return y.numpy(), x.grad.numpy()

    function = lambda x, index, values: paddle.put_along_axis(  # noqa: E731
        x, index, values, axis, reduce="mul", broadcast=False
    )
    spec = [InputSpec([None, None], dtype) for dtype in ("float32", "int64", "float32")]
    traced = to_static(function, input_spec=spec, backend=backend)
    for index in ([[1, 1]], [[0], [1]], [[0, 1, 1], [1, 0, 1]]):
        there = paddle.to_tensor(index)
        expected = run(function, there)
        rest = (slice(len(index), None), slice(None)) if axis else np.s_[:, len(index[0]) :]
        np.testing.assert_array_equal(expected[0][rest], start[rest])
        for found, wanted in zip(run(traced, there), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_a_shape_that_does_not_fit_is_an_error_when_it_runs():
    for function in (
        lambda w, x: w.reshape([x.shape[0], 2]),
        lambda w, x: w.unsqueeze(1).expand([x.shape[0], 2]),
        lambda w, x: w.unflatten(0, [2, x.shape[0]]),
    ):
        traced = to_static(function, input_spec=[InputSpec([4]), InputSpec([None])])
        for _ in range(4):
            with pytest.raises(Exception, match="cannot"):
                traced(paddle.ones([4]), paddle.ones([3]))


def test_what_no_program_can_know_is_refused_with_the_line():
    spec = [InputSpec([None, 2])]
    x = paddle.ones([3, 2])
    for function in (
        lambda x: paddle.flatten(x, x.shape[0]),
        lambda x: paddle.split(x, x.shape[0]),
        lambda x: list(x),
        lambda x: x * int(x.shape[0]),
        lambda x: x if x.shape[0] > 0 else -x,
        lambda x: x if x.shape[0] == 0 else -x,
    ):
        with pytest.raises(ModeError, match=r"at test_open_sizes.py:\d+ \(.*leaves open"):
            to_static(function, input_spec=spec)(x)
    for asked in (lambda n: n == -1, lambda n: n < 0, lambda n: not n >= 0, lambda n: n <= -1):
        known = to_static(lambda x, asked=asked: asked(x.shape[0]), input_spec=spec)
        assert known(x) is True
