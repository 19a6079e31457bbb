"""Values as they stand in the files of programs: names, sizes, attributes.

What is read here is not trusted. Every function that reads takes `where`, the place in the file,
and raises FileFormatError with it.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Any, Final

import numpy as np

from autograd_engine.core.dims import (
    Dim,
    Size,
    fresh_dim,
    monomial,
    term_order,
)
from autograd_engine.core.dtypes import DTYPES
from autograd_engine.core.size import ElementCount
from autograd_engine.core.spec import Array
from autograd_engine.errors import FileFormatError
from autograd_engine.ops.registry.number_inputs import NumberInput
from autograd_engine.program.files.archive import BFLOAT16, array_bytes, array_from
from autograd_engine.program.files.fields import (
    INT64,
    MAX_NDIM,
    MAX_NUMBERS,
    fail,
    read_fields,
    read_int,
    read_list,
    read_text,
    shown,
)

__all__ = ["Sizes", "read_dtype", "read_value", "value_json"]

MAX_BYTES: Final = 2**62  # what one array can claim


def read_dtype(value: Any, where: str) -> np.dtype[Any]:
    if type(value) is not str or value not in DTYPES:
        fail(where, f"{shown(value)} is no dtype; use one of {', '.join(DTYPES)}")
    return DTYPES[value].dtype


# --- sizes: an int, the name of an unknown one, or a sum of products

_SYMBOL: Final = re.compile(r"\?\d+")
_FORMULA: Final = re.compile(r"[?0-9()+\-*/ ,:\[\]minleNo]+\Z")


class Sizes:
    """Unknown sizes by name, as a file numbers them: from ``?0``, in the order of their use."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    # writing

    def json(self, size: Size) -> Any:
        if not isinstance(size, Dim):
            return int(size)
        if len(size.terms) == 1:
            ((factors, count),) = size.terms.items()
            if count == 1 and len(factors) == 1:
                return self._numbered(factors[0])
        terms = sorted(size.terms.items(), key=term_order)
        return {"sum": [[count, *map(self._numbered, factors)] for factors, count in terms]}

    def _numbered(self, symbol: str) -> str:
        return _SYMBOL.sub(
            lambda m: self._known.setdefault(m.group(), f"?{len(self._known)}"), symbol
        )

    # reading

    def read_shape(self, value: Any, where: str) -> tuple[Size, ...]:
        sizes = read_list(value, where)
        if len(sizes) > MAX_NDIM:
            fail(where, f"has {len(sizes)} dimensions, and an array has {MAX_NDIM} at most")
        shape = tuple([self.read(s, where) for s in sizes])
        total = 1
        for size in shape:
            total *= size if type(size) is int and size else 1
        if total * 16 > MAX_BYTES:
            fail(where, f"{shown(str(sizes))} is more than an array can hold")
        return shape

    def read(self, value: Any, where: str) -> Size:
        if type(value) is int:
            return read_int(value, where)
        if type(value) is str:
            return Dim.symbol(self._symbol(value, where))
        fields = read_fields(value, where, ("sum",))
        terms: dict[tuple[str, ...], int] = {}
        for term in read_list(fields["sum"], where):
            if not read_list(term, where) or len(term) > MAX_NDIM:
                fail(where, f"{shown(str(term))} is no product of a number and sizes")
            count = read_int(term[0], where, -INT64)
            factors = monomial([self._symbol(s, where) for s in term[1:]])
            if not count or factors in terms:
                fail(where, "a sum of sizes must be in its shortest form")
            terms[factors] = count
        if terms.keys() <= {()}:
            fail(where, "a sum of sizes must hold an unknown one; write a number")
        return Dim(terms)

    def _symbol(self, value: Any, where: str) -> str:
        if type(value) is not str or len(value) > 500 or not _FORMULA.match(value):
            fail(where, f"{shown(value)} is no size")
        if not _SYMBOL.search(value):
            fail(where, f"{shown(value)} names no unknown size")
        return _SYMBOL.sub(self._fresh, value)

    def _fresh(self, match: re.Match[str]) -> str:
        """A symbol of this process: what a file calls ``?0`` is no size that is known here."""
        name = match.group()
        found = self._known.get(name)
        if found is None:
            (factors,) = fresh_dim().terms
            found = self._known[name] = factors[0]
        return found


# --- attributes


def value_json(value: Any, refused: str) -> Any:
    """An attribute as JSON: plain values as they are, all others as an object of one key.

    `refused` says whose attribute it is, for the error that names what no file can hold.
    """
    kind = type(value)
    if value is None or kind in (bool, int):
        return value
    if kind is str:
        _check_text(value, refused)
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind is tuple:
        return [value_json(v, refused) for v in value]
    if kind is list:
        return {"list": [value_json(v, refused) for v in value]}
    if kind is dict:
        return {
            "dict": [[value_json(k, refused), value_json(v, refused)] for k, v in value.items()]
        }
    if kind is complex:
        return {"complex": [value_json(value.real, refused), value_json(value.imag, refused)]}
    if kind is slice:
        parts = (value.start, value.stop, value.step)
        return {"slice": [value_json(p, refused) for p in parts]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, ElementCount):
        return int(value)
    if kind is NumberInput:
        return {"number": value.position}
    if isinstance(value, np.generic) and value.dtype.name in DTYPES:
        return {"scalar": [value.dtype.name, value_json(value.item(), refused)]}
    if isinstance(value, np.dtype) and value.name in DTYPES:
        return {"dtype": value.name}
    if isinstance(value, np.ndarray) and value.dtype.name in DTYPES:
        return _array_json(value)
    raise FileFormatError(
        f"{refused} is {type(value).__name__} ({value!r:.60}), which no file can hold: a file of a "
        "program holds numbers, strings, tuples, slices and arrays, and no Python objects"
    )


def _array_json(value: Array) -> Any:
    """With the order of its axes in memory: sums depend on it, in their last bits."""
    if not value.flags.forc:
        axes = sorted(range(value.ndim), key=lambda k: -abs(value.strides[k]))
        ordered = value.transpose(axes)
        if ordered.flags.c_contiguous:
            return {"axes": [axes, _npy(ordered)]}
    return {"npy": _npy(value)}


def _npy(value: Array) -> Any:
    """In base64; of bfloat16 the bits, beside its name."""
    text = base64.b64encode(array_bytes(value)).decode()
    return [BFLOAT16, text] if value.dtype.name == BFLOAT16 else text


def _check_text(value: str, refused: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise FileFormatError(
            f"{refused} holds half of a surrogate pair ({value!a:.60}), which no file can hold"
        ) from None


_FLOATS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def read_value(value: Any, where: str) -> Any:
    """What `value_json` wrote; blocks are read by who knows them."""
    kind = type(value)
    if value is None or kind in (bool, float):
        return value
    if kind is int:
        return read_int(value, where, -(2**128), 2**128)
    if kind is str:
        return read_text(value, where)
    if kind is list:
        return tuple([read_value(v, where) for v in value])
    if kind is not dict or len(value) != 1:
        fail(where, f"{shown(value)} is no attribute")
    ((tag, held),) = value.items()
    reader = _TAGGED.get(tag)
    if reader is None:
        fail(where, f"{shown(tag)} is no kind of attribute")
    return reader(held, where)


def _read_float(held: Any, where: str) -> float:
    if type(held) is not str or held not in _FLOATS:
        fail(where, f"{shown(held)} must be one of nan, inf and -inf")
    return _FLOATS[held]


def _read_complex(held: Any, where: str) -> complex:
    parts = [read_value(v, where) for v in read_list(held, where, 2)]
    if any(type(v) is not float for v in parts):
        fail(where, "a complex number is two floats")
    return complex(*parts)


def _read_slice(held: Any, where: str) -> slice:
    parts = [_read_bound(v, where) for v in read_list(held, where, 3)]
    if parts[2] == 0:
        fail(where, "a slice has no step of 0")
    return slice(*parts)


def _read_bound(value: Any, where: str) -> Any:
    if value is None:
        return None
    return read_value(value, where) if type(value) is dict else read_int(value, where, -INT64)


def _read_number(held: Any, where: str) -> NumberInput:
    return NumberInput(read_int(held, where, 0, MAX_NUMBERS))


def _read_scalar(held: Any, where: str) -> Any:
    name, number = read_list(held, where, 2)
    dtype, value = read_dtype(name, where), read_value(number, where)
    if type(value) not in (bool, int, float, complex):
        fail(where, f"{shown(number)} is no number")
    try:
        made = dtype.type(value)
    except (OverflowError, TypeError, ValueError):
        fail(where, f"{shown(number)} is no {dtype.name}")
    return made


def _read_dict(held: Any, where: str) -> dict[Any, Any]:
    made = {}
    for entry in read_list(held, where):
        key, value = read_list(entry, where, 2)
        if type(key) is not str or key in made:
            fail(where, f"{shown(key)} is no key, or comes twice")
        made[read_text(key, where)] = read_value(value, where)
    return made


def _read_ellipsis(held: Any, where: str) -> Any:
    if held is not True:
        fail(where, "an ellipsis is written as true")
    return Ellipsis


def _read_npy(held: Any, where: str) -> Array:
    named = ""
    if type(held) is list:
        named, held = read_list(held, where, 2)
    if type(held) is not str or type(named) is not str:
        fail(where, f"an array must be a string in base64, got {shown(held)}")
    try:
        content = base64.b64decode(held, validate=True)
    except (binascii.Error, ValueError):
        fail(where, "an array must be a string in base64")
    array = array_from(content, where, named)
    array.flags.writeable = False  # runs hand it on as it is
    return array


def _read_axes(held: Any, where: str) -> Array:
    axes, array = read_list(held, where, 2)
    order = [read_int(k, where, 0, MAX_NDIM) for k in read_list(axes, where)]
    ordered = _read_npy(array, where)
    if sorted(order) != list(range(ordered.ndim)):
        fail(where, f"{order} are not the axes of an array of {ordered.ndim}")
    return ordered.transpose(np.argsort(order))


_TAGGED: Final = {
    "float": _read_float,
    "complex": _read_complex,
    "number": _read_number,
    "list": lambda held, where: [read_value(v, where) for v in read_list(held, where)],
    "dict": _read_dict,
    "slice": _read_slice,
    "ellipsis": _read_ellipsis,
    "scalar": _read_scalar,
    "dtype": read_dtype,
    "npy": _read_npy,
    "axes": _read_axes,
}
