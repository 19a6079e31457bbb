"""Scalar functions as C expressions, by the names that NumPy has for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import (
    BOOL,
    BOOLS,
    EXACT,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    FLOATS,
    HALVES,
    INT32,
    INT64,
    INTEGERS,
    UNSIGNED,
    short_name,
)

__all__ = [
    "C_TYPES",
    "SCALARS",
    "Scalar",
    "expression",
    "in_memory",
    "in_register",
    "literal",
    "loaded",
    "runs_in_c",
    "stored",
    "suffix",
]

Dtype = np.dtype[Any]

C_TYPES: Final[dict[Dtype, str]] = {
    FLOAT32: "float",
    FLOAT64: "double",
    BOOL: "uint8_t",
    **{
        np.dtype(name): f"{name}_t"
        for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
    },
}


def runs_in_c(dtype: Dtype) -> bool:
    """Whether C computes with such numbers."""
    return dtype in C_TYPES or (dtype in HALVES and dtype.isnative)


def in_memory(dtype: Dtype) -> str:
    """The C type of an element of an array."""
    return C_TYPES.get(dtype) or f"ae_{dtype.name}"


def in_register(dtype: Dtype) -> str:
    """The C type of a number that is computed with: floats of 16 bits are float32 there."""
    return C_TYPES.get(dtype) or "float"


def loaded(element: str, dtype: Dtype, used: set[str]) -> str:
    """The number that an element of an array is."""
    if dtype not in HALVES:
        return element
    used.add(f"load_{dtype.name}")
    return f"ae_load_{dtype.name}({element})"


def stored(number: str, dtype: Dtype, used: set[str]) -> str:
    """What is assigned to an element of an array."""
    if dtype not in HALVES:
        return number
    used.add(f"store_{dtype.name}")
    return f"ae_store_{dtype.name}({number})"


class Scalar(NamedTuple):
    """A function of numbers.

    Attributes
    ----------
    text : str or None
        With ``{0}``, ``{1}``: its C expression.
    maths : str
        Of the function in `maths` that it calls, for floats.
    boolean : bool
        Its result is a truth value.
    floating : bool
        Integers are taken as float64.
    same_dtype : bool
        Operands are cast to the dtype in which they meet.
    """

    text: str | None = None
    maths: str = ""
    boolean: bool = False
    floating: bool = False
    same_dtype: bool = True


def _calls(name: str) -> Scalar:
    return Scalar(maths=name, floating=True)


SCALARS: Final[dict[str, Scalar]] = {
    "add": Scalar("({0} + {1})"),
    "subtract": Scalar("({0} - {1})"),
    "multiply": Scalar("({0} * {1})"),
    "divide": Scalar("({0} / {1})", floating=True),
    "true_divide": Scalar("({0} / {1})", floating=True),
    "negative": Scalar("(-{0})"),
    "square": Scalar("({0} * {0})"),
    "reciprocal": Scalar("(1 / {0})", floating=True),
    "absolute": Scalar(maths="abs"),
    "fabs": Scalar(maths="abs", floating=True),
    "sign": Scalar(maths="sign"),
    "maximum": Scalar(maths="maximum"),
    "minimum": Scalar(maths="minimum"),
    "fmax": Scalar(maths="fmax"),
    "fmin": Scalar(maths="fmin"),
    "floor_divide": Scalar(maths="floor_divide"),
    "remainder": Scalar(maths="remainder"),
    "floor": Scalar(maths="floor"),
    "ceil": Scalar(maths="ceil"),
    "trunc": Scalar(maths="trunc"),
    "rint": Scalar(maths="rint"),
    "copysign": Scalar(maths="copysign", floating=True),
    "greater": Scalar("({0} > {1})", boolean=True),
    "greater_equal": Scalar("({0} >= {1})", boolean=True),
    "less": Scalar("({0} < {1})", boolean=True),
    "less_equal": Scalar("({0} <= {1})", boolean=True),
    "equal": Scalar("({0} == {1})", boolean=True),
    "not_equal": Scalar("({0} != {1})", boolean=True),
    "logical_and": Scalar("(({0} != 0) & ({1} != 0))", boolean=True),
    "logical_or": Scalar("(({0} != 0) | ({1} != 0))", boolean=True),
    "logical_xor": Scalar("(({0} != 0) ^ ({1} != 0))", boolean=True),
    "logical_not": Scalar("({0} == 0)", boolean=True),
    "isnan": Scalar("({0} != {0})", boolean=True),
    "isinf": Scalar(maths="isinf", boolean=True),
    "isfinite": Scalar(maths="isfinite", boolean=True),
    "signbit": Scalar(maths="signbit", boolean=True, floating=True),
    "fmod": Scalar(maths="fmod"),
    "nextafter": _calls("nextafter"),
    "product_error": Scalar(maths="product_error", floating=True),
    "bitwise_and": Scalar("({0} & {1})"),
    "bitwise_or": Scalar("({0} | {1})"),
    "bitwise_xor": Scalar("({0} ^ {1})"),
    "invert": Scalar("(~{0})"),
    "left_shift": Scalar("({0} << {1})"),
    "right_shift": Scalar("({0} >> {1})"),
    "where": Scalar("({0} ? {1} : {2})", same_dtype=False),
    "copy": Scalar("{0}"),
    "power": Scalar(maths="pow", floating=True),
    **{
        name: _calls(name)
        for name in (
            "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "tanh", "sin", "cos", "tan",
            "sinh", "cosh", "cbrt", "sqrt", "hypot", "logaddexp", "sigmoid", "erf", "erfc",
            "softplus", "exp_down", "multiply_add",
        )
    },
    "arcsin": _calls("asin"),
    "arccos": _calls("acos"),
    "arctan": _calls("atan"),
    "arctan2": _calls("atan2"),
    "arcsinh": _calls("asinh"),
    "arccosh": _calls("acosh"),
    "arctanh": _calls("atanh"),
}  # fmt: skip


def suffix(dtype: Dtype) -> str:
    """What names of functions of a dtype end in; other integers have those of int64."""
    return short_name(dtype if dtype in (FLOAT32, FLOAT64, INT32) else INT64)


def literal(value: Any, dtype: Dtype) -> str:
    """A number in C, to the last bit."""
    if dtype in BOOLS:
        return "1" if value else "0"
    if dtype in INTEGERS:
        return (
            f"{int(value)}{'u' if dtype in UNSIGNED else ''}{'ll' if dtype.itemsize == 8 else ''}"
        )
    if dtype in HALVES:
        value, dtype = np.asarray(value).astype(dtype).astype(FLOAT32), FLOAT32
    number = float(dtype.type(value))
    end = "f" if dtype == FLOAT32 else ""
    if math.isnan(number):
        return f'__builtin_nan{end}("")'
    if math.isinf(number):
        return f"({'-' if number < 0 else ''}__builtin_inf{end}())"
    text = np.format_float_scientific(dtype.type(value), unique=True, trim="0")
    return f"({text}{end})" if number < 0 or text.startswith("-") else f"{text}{end}"


def _power(args: Sequence[str], numbers: Sequence[Any], dtype: Dtype, used: set[str]) -> str:
    """Small powers by products: within a rounding of pow."""
    exponent = numbers[1]
    x = args[0]
    simple = {1: x, 2: f"({x} * {x})", -1: f"(1 / {x})", 3: f"({x} * {x} * {x})"}
    if exponent in simple:
        return simple[exponent]
    return _maths("pow", args, dtype, used)


def _maths(name: str, args: Sequence[str], dtype: Dtype, used: set[str]) -> str:
    if name == "product_error":  # what the rounding of a product left
        return f"__builtin_fma{'f' if dtype == FLOAT32 else ''}({args[0]}, {args[1]}, -{args[2]})"
    if name == "sqrt":
        return f"__builtin_sqrt{'f' if dtype == FLOAT32 else ''}({args[0]})"
    called = f"{name}_{suffix(dtype)}"
    used.add(called)
    return f"ae_{called}({', '.join(args)})"


def expression(
    function: str,
    args: Sequence[str],
    numbers: Sequence[Any],
    operand: Dtype,
    result: Dtype,
    used: set[str],
) -> str:
    """The C expression of a scalar function.

    Parameters
    ----------
    function : str
    args : sequence of str
        C expressions.
    numbers : sequence
        Of each argument the number that it is, else None.
    operand, result : dtype
        Of the operands where they have one in common, and of the result.
    used : set of str
        Names in `maths` are added.
    """
    if function == "cast":
        return _cast(args[0], operand, result, used)
    if function == "nearest":
        used.add(f"nearest_{result.name}")
        return f"ae_nearest_{result.name}({args[0]})"
    if function == "power":
        return _power(args, numbers, operand, used)
    scalar = SCALARS[function]
    if scalar.text is None:
        if (operand in BOOLS or operand in UNSIGNED) and scalar.maths == "abs":
            return args[0]
        if operand in EXACT and scalar.maths in ("floor", "ceil", "trunc", "rint"):
            return args[0]
        return _maths(scalar.maths, args, operand, used)
    if result in BOOLS and function in _ON_BOOLS:
        return _ON_BOOLS[function].format(*args)
    if result in INTEGERS and function in _WRAPS:
        natural = "uint64_t" if result.itemsize == 8 else "uint32_t"
        text = scalar.text.format(*(f"({natural}){a}" for a in args))
        return f"(({C_TYPES[result]}){text})"
    return scalar.text.format(*args)


# What may leave the range of an integer wraps around, which C says of unsigned ones only.
_WRAPS: Final = frozenset(("add", "subtract", "multiply", "negative", "square", "left_shift"))

_ON_BOOLS: Final[dict[str, str]] = {
    "add": "({0} | {1})",
    "multiply": "({0} & {1})",
    "invert": "(!{0})",
}


def _cast(arg: str, operand: Dtype, result: Dtype, used: set[str]) -> str:
    if result in BOOLS:
        return f"({arg} != 0)"
    if result in HALVES and operand not in BOOLS:
        if operand == FLOAT64 and result == FLOAT16:  # NumPy rounds once, others to float32 first
            used.add("to_odd_f64")
            arg = f"ae_to_odd_f64({arg})"
        used.add(f"round_{result.name}")
        return f"ae_round_{result.name}((float){arg})"
    if operand in BOOLS and result in FLOATS:
        return f"({arg} ? {literal(1, result)} : {literal(0, result)})"
    if operand in FLOATS and result.itemsize < 4:  # 300.0 wraps, which C leaves undefined
        arg = f"(int32_t){arg}"
    return f"(({in_register(result)}){arg})"
