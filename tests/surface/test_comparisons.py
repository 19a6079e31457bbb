"""A comparison answers, whatever stands on the other side."""

import datetime
import decimal
import fractions
import operator
import pathlib
import re
import warnings
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.dtypes import as_dtype
from autograd_engine.errors import DTypeError


class ClaimsADtype:
    dtype = "hello, world (x)"


class RaisesAtDtype(type):
    @property
    def dtype(cls):
        raise RuntimeError("asked for a dtype")


class Raising(metaclass=RaisesAtDtype):
    pass


TEXTS = [
    *("hello, world (x)", "", "(", "i4,(", "f8,,", "float32,", "a", "a5", "M8[q]", "ab\0c"),
    *("\ud800", "9" * 50, "float33", " float32", "f4 ", ">", "None", "{}", "[('a', 'f4')]"),
]
OBJECTS = [
    *(None, Ellipsis, NotImplemented, b"x", b"\xff", bytearray(b"f4"), memoryview(b"f4")),
    *(object(), object, type, list, Raising, Raising(), ClaimsADtype, ClaimsADtype()),
    *([], [1], (), ("f4",), {}, {"names": ["a"], "formats": ["x"]}, set(), frozenset()),
    *(2**70, float("nan"), decimal.Decimal(1), fractions.Fraction(1, 3), range(3), slice(1)),
    *(datetime.date(2020, 1, 1), re.compile("x"), pathlib.Path("x"), len, print, Exception("x")),
    *(np.str_("q,("), np.bytes_(b"q"), np.dtype("M8[s]")),
    *(np.dtype([("a", "f4")]), np.dtype("S3"), np.dtype("O"), np.dtype(">f4")),
]


def tensor():
    return paddle.to_tensor([1.0, 2.0], stop_gradient=False)


def variable():
    with paddle.static.program_guard(paddle.static.Program()):
        return paddle.static.data("x", [None, 2]) * 2.0


VALUES = {
    "dtype": lambda: paddle.float32,
    "bool": lambda: paddle.bool,
    "complex": lambda: as_dtype("complex128"),
    "Tensor": tensor,
    "Tensor of ints": lambda: paddle.to_tensor([1, 2]),
    "Parameter": lambda: paddle.nn.Linear(2, 2).weight,
    "Layer": lambda: paddle.nn.Linear(2, 2),
    "grad_fn": lambda: (tensor() * 2.0).grad_fn,
    "shape": lambda: tensor().shape,
    "InputSpec": lambda: paddle.static.InputSpec([None, 2]),
    "ParamAttr": lambda: paddle.ParamAttr(name="w"),
    "Place": lambda: paddle.CPUPlace(),
    "finfo": lambda: paddle.finfo("float32"),
    "iinfo": lambda: paddle.iinfo("int32"),
    "Generator": lambda: paddle.Generator(),
    "scheduler": lambda: paddle.optimizer.lr.StepDecay(0.1, 3),
    "initializer": lambda: paddle.nn.initializer.Constant(1.0),
    "Variable": variable,
    "unknown size": lambda: variable().shape[0],
    "Program": lambda: variable().block.program,
    "Block": lambda: variable().block,
    "Operator": lambda: variable().block.ops[0],
}


ELEMENT_BY_ELEMENT = ("Tensor", "Tensor of ints", "Parameter", "Variable")


@pytest.mark.parametrize("name", VALUES)
def test_equal_or_not(name):
    value = VALUES[name]()
    others: list[Any] = [*TEXTS, *OBJECTS]
    if name in ELEMENT_BY_ELEMENT:
        others = [other for other in others if not isinstance(other, (int, float))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in others:
            for left, right in ((value, other), (other, value)):
                assert (left == right) is False, other
                assert (left != right) is True, other
            assert other not in [value]


@pytest.mark.parametrize("name", ELEMENT_BY_ELEMENT)
def test_numbers_that_python_has_no_type_for(name):
    """A long double is as weak as a Python float; bytes and times are no numbers."""
    value = VALUES[name]()
    dtype = value.dtype if name != "Tensor of ints" else paddle.float32
    assert (value + np.longdouble(1.5)).dtype == dtype
    assert (np.longdouble(1.5) * value).dtype == dtype
    assert (value < np.longdouble(1.5)).dtype == paddle.bool
    for other in (np.str_("1"), np.bytes_(b"1"), np.timedelta64(1), np.datetime64("2020-01-01")):
        with pytest.raises(TypeError):
            value + other
        with pytest.raises(TypeError):
            paddle.add(value, other)
    with pytest.raises(DTypeError, match="use"):
        paddle.add(value, np.ones(2, np.longdouble))


NAMES = {
    "float32": ("float32", "single", "f", "f4", "<f4", "=f4", np.str_("float32"), np.float32),
    "float64": ("float64", "double", "float", "d", "f8", float, np.float64, np.dtype("f8")),
    "float16": ("float16", "half", "e", "f2"),
    "int64": ("int64", "q", "i8", np.int64, np.dtype(np.int64)),
    "int32": ("int32", "intc", "i", "i4", "|i4"),
    "uint8": ("uint8", "ubyte", "B", "u1", ">u1"),
    "int8": ("int8", "byte", "b", "i1"),
    "bool": ("bool", "?", "b1", bool, np.bool_),
    "complex64": ("complex64", "F", "c8", "csingle"),
    "complex128": ("complex128", "complex", "D", "c16", complex),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_equals_what_numpy_calls_it(name):
    dtype = as_dtype(name)
    for spelled in NAMES[name]:
        assert dtype == spelled
        assert (dtype != spelled) is False
        others = [n for n in NAMES if n != name]
        assert not any(as_dtype(n) == spelled for n in others)


def test_names_are_those_of_numpy():
    """Whatever `np.dtype` makes one of these dtypes of, and nothing else."""
    kinds = [f"{k}{n}" for k in "biufcSUVOMm?" for n in ("", 1, 2, 4, 8, 16, 32)]
    names = [o + k for o in ("", "=", "<", ">", "|") for k in kinds]
    names += [n for n in np.sctypeDict if n != "a"]
    for name in [*names, *np.typecodes["All"]]:
        try:
            expected = np.dtype(name)
        except TypeError:
            expected = None
        for dtype in map(as_dtype, NAMES):
            assert (dtype == name) is (expected is not None and dtype == expected)


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_no_dtype_is_refused_alike(text):
    for call in (
        lambda: paddle.zeros([2], dtype=text),
        lambda: paddle.to_tensor([1.0], dtype=text),
        lambda: paddle.ones([1]).astype(text),
        lambda: paddle.set_default_dtype(text),
    ):
        with pytest.raises(DTypeError, match="is no dtype of this engine"):
            call()


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_dtypes_have_no_order(compare):
    with pytest.raises(TypeError):
        compare(paddle.float32, "float32")
