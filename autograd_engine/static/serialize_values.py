"""Values as they stand in the files of programs: names, sizes, attributes, arrays.

What is read here is not trusted. Every function that reads takes `where`, the place in the file,
and raises FileFormatError with it.
"""

from __future__ import annotations

import base64
import binascii
import io
import math
import re
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from autograd_engine.dims import Dim, Size, fresh_dim, monomial, term_order
from autograd_engine.dtypes import DTYPES
from autograd_engine.errors import FileFormatError

__all__ = [
    "MAX_NAME",
    "Sizes",
    "array_bytes",
    "array_from",
    "fail",
    "read_dtype",
    "read_fields",
    "read_int",
    "read_list",
    "read_name",
    "read_text",
    "read_value",
    "shown",
    "value_json",
]

Array = NDArray[Any]
MAX_NAME: Final = 1000
MAX_NDIM: Final = 64  # NumPy's
MAX_BYTES: Final = 2**62  # what one array can claim
INT64: Final = 2**63


def fail(where: str, problem: str) -> NoReturn:
    raise FileFormatError(f"{where}: {problem}")


def shown(value: Any) -> str:
    """A value of a file in a message: short, on one line."""
    if isinstance(value, (list, dict)):
        return f"a {'list' if isinstance(value, list) else 'dict'} of {len(value)}"
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- parts of JSON, checked


def read_fields(
    value: Any, where: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """An object with these keys and no others."""
    if type(value) is not dict:
        fail(where, f"must be an object, got {shown(value)}")
    for key in required:
        if key not in value:
            fail(where, f"has no {key!r}")
    for key in value:
        if key not in required and key not in optional:
            fail(where, f"has {shown(key)}, which this version does not know")
    return value


def read_list(value: Any, where: str, length: int | None = None) -> list[Any]:
    if type(value) is not list:
        fail(where, f"must be a list, got {shown(value)}")
    if length is not None and len(value) != length:
        fail(where, f"must have {length} entries, got {len(value)}")
    return value


def read_int(value: Any, where: str, low: int = 0, high: int = INT64) -> int:
    """An int from `low` up to `high`, which is left out."""
    if type(value) is not int or not low <= value < high:
        fail(where, f"must be an integer from {low} to {high - 1}, got {shown(value)}")
    return value


def read_bool(value: Any, where: str) -> bool:
    if type(value) is not bool:
        fail(where, f"must be true or false, got {shown(value)}")
    return value


def read_text(value: Any, where: str, limit: int = 10**6) -> str:
    """A string that can be written out again."""
    if type(value) is not str:
        fail(where, f"must be a string, got {shown(value)}")
    if len(value) > limit:
        fail(where, f"is {len(value)} characters long, and {limit} is the most")
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        fail(where, "holds half of a surrogate pair, which is no character")
    return value


def read_name(value: Any, where: str) -> str:
    """The name of a variable: it may hold anything that can be printed."""
    name = read_text(value, where, MAX_NAME)
    if not name or not name.isprintable():
        fail(where, f"{shown(name)} is no name: it must be printable, and not empty")
    return name


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
            return {"axes": [axes, base64.b64encode(array_bytes(ordered)).decode()]}
    return {"npy": base64.b64encode(array_bytes(value)).decode()}


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
    parts = [None if v is None else read_int(v, where, -INT64) for v in read_list(held, where, 3)]
    if parts[2] == 0:
        fail(where, "a slice has no step of 0")
    return slice(*parts)


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
    if type(held) is not str:
        fail(where, f"an array must be a string in base64, got {shown(held)}")
    try:
        content = base64.b64decode(held, validate=True)
    except (binascii.Error, ValueError):
        fail(where, "an array must be a string in base64")
    array = array_from(content, where)
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
    "list": lambda held, where: [read_value(v, where) for v in read_list(held, where)],
    "dict": _read_dict,
    "slice": _read_slice,
    "ellipsis": _read_ellipsis,
    "scalar": _read_scalar,
    "dtype": read_dtype,
    "npy": _read_npy,
    "axes": _read_axes,
}

# --- arrays, in NumPy's own format

_DESCRIPTIONS: Final = {
    d.dtype.newbyteorder("<").str: d.dtype.newbyteorder("<") for d in DTYPES.values()
}
_HEADER: Final = re.compile(
    rb"\{'descr': '([<|][biufc]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,19}, ?)*(?:\d{1,19})?)\), \} *\n\Z"
)


def array_bytes(array: Array) -> bytes:
    """The content of an ``.npy`` file."""
    file = io.BytesIO()
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    np.lib.format.write_array(file, np.asarray(little), version=(1, 0), allow_pickle=False)
    return file.getvalue()


def array_from(content: bytes, where: str) -> Array:
    """The array of an ``.npy`` file: of numbers only, and as long as it says."""
    if content[:8] != b"\x93NUMPY\x01\x00" or len(content) < 10:
        fail(where, "is no array in the format npy 1.0")
    start = 10 + int.from_bytes(content[8:10], "little")
    header = _HEADER.match(content[10:start])
    if header is None:
        fail(where, "has a header that no array of numbers has")
    dtype = _DESCRIPTIONS.get(header[1].decode())
    if dtype is None:
        fail(where, f"holds {shown(header[1].decode())}; use one of {', '.join(DTYPES)}")
    shape = tuple(int(d) for d in header[3].decode().split(",") if d.strip())
    if len(shape) > MAX_NDIM:
        fail(where, f"has {len(shape)} dimensions, and an array has {MAX_NDIM} at most")
    claimed, held = math.prod(shape) * dtype.itemsize, len(content) - start
    if claimed != held:
        fail(where, f"claims {claimed} bytes for its shape {list(shape)}, and has {held}")
    array = np.frombuffer(content, dtype, offset=start).copy()
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        fail(where, "holds bools other than 0 and 1")
    order: Any = "F" if header[2] == b"True" else "C"
    return array.reshape(shape, order=order)
