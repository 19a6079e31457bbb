"""Arrays that a kernel may write to while it is traced.

jax arrays cannot be written to. A kernel is given a `Memory` in the place of each array: what is
written to it is another jax array, which it holds from then on. A view holds nothing; it reads from
the array that it is of, and writes there, whatever came in between. So a kernel that fills `out` by
its views, or computes in place, runs as it is.

What a mask selects is unknown while a kernel is traced, and so is how many elements these are. All
of them are computed with then, and where they are written back the mask selects: see `mask`.

And what NumPy refuses is kept: an index out of range, which jax would move into range, and, in
kernels that look at values for no other reason, whatever leads to an error. See `refusing`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograd_engine.core.dtypes import COMPLEX, FLOATS

__all__ = [
    "Memory",
    "NumpyOnly",
    "checked_index",
    "dtype_of",
    "holding",
    "is_traced",
    "mask_of",
    "refusing",
    "require",
    "unheld",
]


class NumpyOnly(Exception):
    """Why a kernel cannot be traced."""


class _Refusals:
    """What NumPy would refuse, as far as a kernel has run; `branches` on values lead to errors."""

    def __init__(self, require: Callable[[Any], None], branches: bool) -> None:
        self.require, self.branches = require, branches


_refusals: ContextVar[_Refusals | None] = ContextVar("refusals", default=None)


@contextmanager
def refusing(require: Callable[[Any], None], branches: bool) -> Iterator[None]:
    """While a kernel runs: tell `require` what has to hold.

    With `branches`, wherever a kernel asks whether something is so of values, it goes on as if it
    were not, and that it is not is required: it asks to raise an error.
    """
    token = _refusals.set(_Refusals(require, branches))
    try:
        yield
    finally:
        _refusals.reset(token)


def require(holds: Any) -> None:
    refusals = _refusals.get()
    if refusals is None:
        raise NumpyOnly("it depends on values")
    refusals.require(holds)


def dtype_of(value: Any) -> np.dtype[Any]:
    """Of an array, traced or not, or a number."""
    found: np.dtype[Any] = value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype
    return found


def is_traced(value: Any) -> bool:
    """Whether it is a jax array or a size that is left open, or holds one."""
    if isinstance(value, (list, tuple)):
        return any(map(is_traced, value))
    if isinstance(value.value if isinstance(value, Memory) else value, jax.Array):
        return True
    return bool(jax.export.is_symbolic_dim(value))


def holding(value: Any, mask: Any = None) -> Any:
    """Arrays that jax has made, as memory of their own."""
    if isinstance(value, (list, tuple)):
        made = [holding(v, mask) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return Memory(value, mask=mask) if isinstance(value, jax.Array) else value


def unheld(value: Any) -> Any:
    """The arrays that memory holds now."""
    if isinstance(value, Memory):
        return value.value
    if type(value) in (list, tuple):
        return type(value)([unheld(v) for v in value])
    return value


Reading = Callable[[Any], Any]
Writing = Callable[[Any, Any], Any]


class Memory:
    """An array, or a view of one.

    Attributes
    ----------
    value : jax.Array or ndarray
        What it holds now; an ndarray as long as nothing was written that is traced.
    mask : jax.Array or None
        Of what was selected: which elements along the first axis count. All others are there too.
    """

    __array_ufunc__ = None  # ndarrays leave operators to it
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        value: Any,
        whole: Memory | None = None,
        read: Reading | None = None,
        write: Writing | None = None,
        key: Any = None,
        mask: Any = None,
    ) -> None:
        self._value, self._whole, self._key, self.mask = value, whole, key, mask
        self._read, self._write = read, write

    @property
    def value(self) -> Any:
        if self._whole is None or self._read is None:
            return self._value
        return self._read(self._whole.value)

    def put(self, new: Any) -> None:
        """Write to all of it, as NumPy does: cast and broadcast."""
        value = self.value
        if not (is_traced(new) or is_traced(value)):
            value[...] = unheld(new)
            return
        if isinstance(new, Memory) and new.mask is not None and self.mask is None:
            raise NumpyOnly("it writes what a mask selects elsewhere")
        new = unheld(new)
        if dtype_of(new) in COMPLEX and value.dtype not in COMPLEX:
            raise NumpyOnly("it writes complex numbers to real memory")
        new = jnp.asarray(new)
        new = jnp.broadcast_to(new.reshape(_without_ones(new.shape, value.ndim)), value.shape)
        self._put(new.astype(value.dtype))

    def _put(self, new: Any) -> None:
        if self._whole is None or self._write is None:
            self._value = new
        else:
            self._whole._put(self._write(jnp.asarray(self._whole.value), new))

    def viewed(self, read: Reading, write: Writing, key: Any = None) -> Memory:
        return Memory(None, self, read, write, key, self.mask)

    # --- views

    def __getitem__(self, key: Any) -> Any:
        key = unheld(key)
        if _is_basic(key):
            if self.mask is not None and not _keeps_first(key):
                raise NumpyOnly("it looks for one of the elements that a mask selects")
            full = key if isinstance(key, tuple) else (key,)
            full = full if any(k is Ellipsis for k in full) else (*full, Ellipsis)
            return self.viewed(
                lambda v: v[full], lambda whole, new: _written(whole, full, new), key
            )
        value = self.value
        if not is_traced((key, value)):
            return value[key]
        if _is_mask(key):
            rows = jnp.asarray(value).reshape(key.size, *value.shape[key.ndim :])
            return Memory(rows, mask=key.reshape(-1))
        if self.mask is not None:
            raise NumpyOnly("it looks for one of the elements that a mask selects")
        return Memory(jnp.asarray(value)[checked_index(value.shape, key)])

    def __setitem__(self, key: Any, new: Any) -> None:
        if isinstance(new, Memory) and new._whole is self and new._key is key:
            return  # x[key] += y has written already
        key = unheld(key)
        if _is_basic(key):
            self[key].put(new)
            return
        value, selected = self.value, isinstance(new, Memory) and new.mask is not None
        new = unheld(new)
        if not is_traced((key, value, new)):
            value[key] = new
            return
        if _is_mask(key) and (selected or not np.ndim(new)):
            new = jnp.asarray(new).astype(value.dtype)
            new = new.reshape(value.shape) if selected else new
            key = key.reshape(key.shape + (1,) * (value.ndim - key.ndim))
            self._put(jnp.where(key, new, value))
            return
        if self.mask is not None or any(map(_is_mask, _entries(key))):
            raise NumpyOnly("it writes where a mask selects")
        key, new = checked_index(value.shape, key), jnp.asarray(new).astype(value.dtype)
        if not is_traced(key) and _differ(value.shape, key):
            self._put(jnp.asarray(value).at[key].set(new))
        else:
            self._put(_last_written(value, key, new))

    def reshape(self, *shape: Any, order: str = "C") -> Memory:
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            (shape,) = shape
        if order != "C":
            raise NumpyOnly("it orders elements in another way than C")
        return self.viewed(lambda v: v.reshape(shape), lambda whole, new: new.reshape(whole.shape))

    def ravel(self) -> Memory:
        return self.reshape(-1)

    def transpose(self, *axes: Any) -> Memory:
        if len(axes) == 1 and not isinstance(axes[0], int):
            (axes,) = axes
        order = [a % self.ndim for a in axes] if axes else [*range(self.ndim)][::-1]
        back = [*np.argsort(order)]
        return self.viewed(lambda v: v.transpose(order), lambda _, new: new.transpose(back))

    def swapaxes(self, one: int, other: int) -> Memory:
        order = [*range(self.ndim)]
        order[one], order[other] = order[other], order[one]
        return self.transpose(order)

    def squeeze(self, axis: Any = None) -> Memory:
        return self.viewed(
            lambda v: v.squeeze(axis), lambda whole, new: new.reshape(whole.shape)
        )

    @property
    def T(self) -> Memory:  # noqa: N802 - as NumPy has it
        return self.transpose()

    @property
    def real(self) -> Memory:
        return self.viewed(lambda v: v.real, lambda whole, new: lax.complex(new, whole.imag))

    @real.setter
    def real(self, new: Any) -> None:
        self.real.put(new)

    @property
    def imag(self) -> Memory:
        return self.viewed(lambda v: v.imag, lambda whole, new: lax.complex(whole.real, new))

    @imag.setter
    def imag(self, new: Any) -> None:
        self.imag.put(new)

    # --- what is known of it, and of values

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.value.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self.value.dtype)
        return dtype

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        shape = self.shape
        return tuple([self.itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))])

    @property
    def flags(self) -> _Flags:
        return _Flags()

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __bool__(self) -> bool:
        value, refusals = self.value, _refusals.get()
        if is_traced(value) and refusals is not None and refusals.branches:
            refusals.require(~value)
            return False
        return bool(value)

    def __index__(self) -> int:
        return int(self.value.__index__())

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        value = self.value
        if is_traced(value):
            raise NumpyOnly("it gives an array to what is not NumPy's")
        return np.array(value, dtype) if dtype is not None or copy else value

    # --- what computes

    def astype(self, dtype: Any, **_: Any) -> Memory:
        value = self.value
        if is_traced(value) and value.dtype in COMPLEX and np.dtype(dtype) in FLOATS:
            value = value.real
        return Memory(value.astype(dtype), mask=self.mask)

    def copy(self, order: str = "C") -> Memory:
        value = self.value
        return Memory(value if is_traced(value) else value.copy(), mask=self.mask)

    def fill(self, number: Any) -> None:
        self.put(number)

    def take(self, index: Any, axis: Any = None, **_: Any) -> Any:
        value, index = self.value, unheld(index)
        if not is_traced((value, index)):
            return value.take(index, axis)
        whole = value.reshape(-1) if axis is None else value
        at = (slice(None),) * (0 if axis is None else axis % whole.ndim) + (index,)
        return Memory(jnp.asarray(whole)[checked_index(whole.shape, at)])

    def view(self, dtype: Any) -> Memory:
        if np.dtype(dtype) == self.dtype:
            return self
        return Memory(self.value.view(dtype))

    def __getattr__(self, name: str) -> Any:
        """A method that computes something else."""
        if name.startswith("__"):
            raise AttributeError(name)
        method = getattr(self.value, name)

        def call(*operands: Any, **options: Any) -> Any:
            if self.mask is not None:
                return Memory(
                    method(*unheld(operands), **options), mask=mask_of(name, (self,), options)
                )
            if options.pop("out", None) is not None:
                raise NumpyOnly(f"{name} writes to an array")
            given = {n: unheld(v) for n, v in options.items()}
            if given.pop("kind", "") == "stable" and is_traced(self):
                given["stable"] = True
            return holding(method(*unheld(operands), **given))

        return call


def mask_of(name: str, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """That of what is computed element by element, or along other axes than the first."""
    for operand in operands:
        if isinstance(operand, Memory) and operand.mask is not None:
            axis = options.get("axis")
            if name in _ELEMENTWISE or isinstance(getattr(np, name, None), np.ufunc):
                return operand.mask
            if name in ("any", "all") and axis is None:
                return operand.mask  # not known, as what is asked of it
            if axis is not None and all(a % operand.ndim for a in np.atleast_1d(axis)):
                return operand.mask
            raise NumpyOnly(f"{name} of what a mask selects depends on how much that is")
    return None


_ELEMENTWISE: Final = frozenset(
    ("broadcast_arrays", "conj", "nan_to_num", "polyval", "round", "where")
)


class _Flags:
    """Of what has no place in memory."""

    c_contiguous = forc = aligned = writeable = owndata = True
    f_contiguous = False


def _without_ones(shape: tuple[int, ...], ndim: int) -> tuple[int, ...]:
    """NumPy drops axes of one element in front when it writes."""
    spare = max(len(shape) - ndim, 0)
    return shape[spare:] if all(n == 1 for n in shape[:spare]) else shape


def _is_basic(key: Any) -> bool:
    return all(
        k is None
        or k is Ellipsis
        or (isinstance(k, (int, slice, np.integer)) and not isinstance(k, bool))
        for k in (key if isinstance(key, tuple) else (key,))
    )


def _entries(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _differ(shape: tuple[int, ...], key: Any) -> bool:
    """Whether a key, which is known, names no element twice."""
    places = np.arange(math.prod(shape)).reshape(shape)[key]
    return bool(len(np.unique(places)) == places.size)


def _last_written(value: Any, key: Any, new: Any) -> Any:
    """`value` with `new` at a key; of several for one element the last, as NumPy has it."""
    size = math.prod(value.shape)
    places = jnp.arange(size).reshape(value.shape)[key]
    every = jnp.broadcast_to(new, places.shape).reshape(-1)
    if not every.size:
        return jnp.asarray(value)
    order = jnp.arange(every.size)
    last = jnp.full(size, -1, order.dtype).at[places.reshape(-1)].max(order).reshape(value.shape)
    return jnp.where(last < 0, value, every[jnp.maximum(last, 0)])


def _is_mask(key: Any) -> bool:
    return is_traced(key) and not isinstance(key, (tuple, list)) and bool(key.dtype == np.bool_)


def _keeps_first(key: Any) -> bool:
    first = key[0] if isinstance(key, tuple) and key else key
    return first is Ellipsis or (isinstance(first, slice) and bool(first == slice(None)))


def _written(whole: Any, key: Any, new: Any) -> Any:
    """`whole` with `new` at a basic key."""
    entries = list(key if isinstance(key, tuple) else (key,))
    taken = sum(k is not None and k is not Ellipsis for k in entries)
    if Ellipsis in entries:
        at = entries.index(Ellipsis)
        entries[at : at + 1] = [slice(None)] * (whole.ndim - taken)
    entries = [k for k in entries if k is not None]
    entries += [slice(None)] * (whole.ndim - len(entries))
    starts, sizes = [], []
    for k, n in zip(entries, whole.shape, strict=True):
        along = range(n)[k] if isinstance(k, slice) else range(n)[k : k + 1 or None]
        if len(along) > 1 and along.step != 1:
            return whole.at[key].set(new)
        starts.append(along.start if len(along) else 0)
        sizes.append(len(along))
    new = new.reshape(sizes)
    if not new.size:
        return whole
    return new if new.shape == whole.shape else lax.dynamic_update_slice(whole, new, starts)


def checked_index(shape: tuple[int, ...], key: Any) -> Any:
    """A key with arrays, required to be in range; negative indices are counted from the front."""
    entries = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in [e for e in entries if e is Ellipsis]:
        at = next(k for k, e in enumerate(entries) if e is Ellipsis)
        widths = [_width(e) for e in entries if e is not Ellipsis]
        entries[at : at + 1] = [slice(None)] * (len(shape) - sum(widths))
    axis = 0
    for k, entry in enumerate(entries):
        if is_traced(entry) and entry.dtype != np.bool_ and entry.size:
            size = shape[axis]
            require((entry >= -size) & (entry < size))
            entries[k] = jnp.where(entry < 0, entry + size, entry)
        axis += _width(entry)
    return tuple(entries)


def _width(entry: Any) -> int:
    if entry is None:
        return 0
    return int(entry.ndim) if getattr(entry, "dtype", None) == np.bool_ else 1
