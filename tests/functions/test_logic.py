"""Comparisons, logic and bits: special values, dtypes, and what is refused."""

import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError

NAN, INF = math.nan, math.inf


def test_nothing_is_equal_to_nan_or_above_or_below_it():
    x = paddle.to_tensor([NAN, 1.0])
    for f in ("equal", "greater_than", "greater_equal", "less_than", "less_equal"):
        assert getattr(paddle, f)(x, x).tolist() == [False, f.endswith("equal")]
    assert paddle.not_equal(x, x).tolist() == [True, False]


def test_operators_and_methods_are_the_functions():
    x, y = paddle.to_tensor([1, 2, 3]), paddle.to_tensor([3, 2, 1])
    assert (x < y).tolist() == x.less_than(y).tolist() == x.lt(y).tolist() == [True, False, False]
    assert (x >= 2).tolist() == (2 <= x).tolist() == [False, True, True]  # noqa: SIM300
    assert (x & y).tolist() == x.bitwise_and(y).tolist() == [1, 2, 1]


def test_results_are_bools_without_a_gradient():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    for y in (x == x, paddle.isclose(x, x), paddle.isnan(x), paddle.logical_not(x)):
        assert (y.dtype, y.stop_gradient) == ("bool", True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_special_values(dtype):
    x = paddle.to_tensor([1.0, NAN, INF, -INF], dtype)
    assert paddle.isnan(x).tolist() == [False, True, False, False]
    assert paddle.isinf(x).tolist() == [False, False, True, True]
    assert paddle.isfinite(x).tolist() == [True, False, False, False]
    assert paddle.isposinf(x).tolist() == [False, False, True, False]
    assert paddle.isneginf(x).tolist() == [False, False, False, True]


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool"])
def test_integers_are_finite(dtype):
    x = paddle.to_tensor([1, 0], dtype)
    assert paddle.isfinite(x).tolist() == [True, True]
    for f in (paddle.isnan, paddle.isinf, paddle.isposinf, paddle.isneginf):
        assert f(x).tolist() == [False, False]


def test_complex_values():
    x = paddle.to_tensor(np.asarray([1.0 + 0.0j, 2.0 - 1.0j]))
    assert paddle.isreal(x).tolist() == [True, False]
    with pytest.raises(DTypeError, match="isposinf: complex numbers have no sign"):
        paddle.isposinf(x)


def test_closeness_is_measured_by_the_second():
    one, two = paddle.to_tensor([1.0]), paddle.to_tensor([2.0])
    assert paddle.isclose(one, two, rtol=0.5, atol=0.0).item() is True
    assert paddle.isclose(two, one, rtol=0.5, atol=0.0).item() is False


def test_infinities_and_nan_are_close_to_themselves_only():
    x = paddle.to_tensor([INF, -INF, NAN, INF])
    y = paddle.to_tensor([INF, INF, NAN, 1e30])
    assert paddle.isclose(x, y).tolist() == [True, False, False, False]
    assert paddle.isclose(x, y, equal_nan=True).tolist() == [True, False, True, False]
    assert paddle.allclose(x, x).item() is False
    assert paddle.allclose(x, x, equal_nan=True).item() is True


@pytest.mark.parametrize("name", ["isclose", "allclose"])
@pytest.mark.parametrize("argument", ["rtol", "atol"])
def test_tolerances_are_numbers_that_are_not_negative(name, argument):
    x = paddle.ones([2])
    for value, error in ((-1.0, ArgumentError), (NAN, ArgumentError), ("1", TypeError)):
        with pytest.raises(error, match=f"{name}: {argument}"):
            getattr(paddle, name)(x, x, **{argument: value})


def test_equal_all_of_shapes_that_are_known_late():
    static = paddle.static
    program = static.Program()
    with static.program_guard(program):
        x, y = static.data("x", [None]), static.data("y", [None])
        same = paddle.equal_all(x, y)
    run = static.Executor().run
    ones = np.ones(3, np.float32)
    assert run(program, {"x": ones, "y": ones}, [same])[0].item() is True
    assert run(program, {"x": ones, "y": ones[:2]}, [same])[0].item() is False


def test_arithmetic_and_logical_shifts_of_negative_numbers():
    x = paddle.to_tensor([-8, 8], "int8")
    one = paddle.to_tensor([1, 1], "int8")
    assert (x >> 1).tolist() == [-4, 4]
    assert paddle.bitwise_right_shift(x, one, is_arithmetic=False).tolist() == [124, 4]
    assert paddle.bitwise_right_shift(x, one, False).dtype == "int8"


def test_results_go_into_out():
    out = paddle.zeros([2], "int64")
    x = paddle.to_tensor([6, 5])
    assert paddle.bitwise_and(x, paddle.to_tensor([3, 4]), out=out) is out
    assert out.tolist() == [2, 4]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x & x,
        lambda x: x | x,
        lambda x: x ^ 1,
        lambda x: ~x,
        lambda x: x << 1,
        lambda x: 1 >> x,
    ],
)
def test_floats_have_no_bits(call):
    with pytest.raises(DTypeError, match=r"got float32; use x.astype\('int64'\)"):
        call(paddle.ones([2]))
    program = paddle.static.Program()
    with (
        paddle.static.program_guard(program),
        pytest.raises(DTypeError, match=r"got float32; use x.astype\('int64'\)"),
    ):
        call(paddle.static.data("x", [2]))


def test_bools_are_not_shifted():
    x = paddle.to_tensor([True])
    with pytest.raises(DTypeError, match="bitwise_left_shift: takes integers, got bool"):
        paddle.bitwise_left_shift(x, x)


@pytest.mark.parametrize(
    ("call", "instead"), [(lambda x: -x, "~x"), (lambda x: x - x, r"x \^ y"), (paddle.sign, "x")]
)
def test_bools_have_no_arithmetic_of_signs(call, instead):
    with pytest.raises(DTypeError, match=f"takes numbers, got bools; use {instead}, or"):
        call(paddle.to_tensor([True, False]))
    with (
        paddle.static.program_guard(paddle.static.Program()),
        pytest.raises(DTypeError, match=f"takes numbers, got bools; use {instead}, or"),
    ):
        call(paddle.static.data("b", [2], "bool"))


@pytest.mark.parametrize(
    ("dtype", "number", "wider"),
    [("int32", 2**40, "int64"), ("uint8", -1, "int64"), ("int64", 2**70, "float64")],
)
def test_a_number_that_does_not_fit_the_integers_beside_it(dtype, number, wider):
    text = rf"the number {number} stands beside integers of {dtype}.*astype\('{wider}'\)"
    with pytest.raises(DTypeError, match=text):
        paddle.to_tensor([1], dtype) + number
    with (
        paddle.static.program_guard(paddle.static.Program()),
        pytest.raises(DTypeError, match=text),
    ):
        paddle.static.data("x", [1], dtype) + number
    assert (paddle.to_tensor([1], dtype).astype("float64") + number).item() == float(number + 1)


def test_shapes_and_operands_that_do_not_fit():
    x = paddle.ones([2])
    for f in (paddle.equal, paddle.isclose, paddle.allclose, paddle.logical_and):
        with pytest.raises(ShapeError, match="do not broadcast"):
            f(x, paddle.ones([3]))
        with pytest.raises(NotATensorError):
            f(x, "a")


def test_what_kind_of_dtype_it_is():
    kinds = {
        "float16": "f",
        "float64": "f",
        "int8": "i",
        "uint8": "i",
        "bool": "",
        "complex64": "c",
    }
    for dtype, kind in kinds.items():
        x = paddle.to_tensor(np.ones(1, dtype))
        assert paddle.is_floating_point(x) is (kind == "f")
        assert paddle.is_integer(x) is (kind == "i")
        assert paddle.is_complex(x) is (kind == "c")
    with pytest.raises(NotATensorError):
        paddle.is_integer([1])
