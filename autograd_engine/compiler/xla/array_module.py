"""What stands for NumPy while a kernel is traced: jax.numpy for what is traced, NumPy for the rest.

A kernel computes with two kinds of arrays. Those that it is given are traced. Others follow from
sizes and attributes, indices say, and it may look at their values: these stay ndarrays, so what it
does with them happens once, while it is traced.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.xla.memory import (
    Memory,
    NumpyOnly,
    checked_index,
    holding,
    is_traced,
    mask_of,
    require,
    unheld,
)
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.ops.registry.stand_ins import OPERATOR_UFUNCS, bind_operators

__all__ = ["NUMPY"]


class _Function:
    """A function of NumPy's that goes to jax.numpy with what is traced."""

    def __init__(self, name: str, known: Callable[..., Any], traced: Any) -> None:
        self.name = name
        self._known = known
        self._traced = traced

    def __call__(self, *operands: Any, **options: Any) -> Any:
        out = options.pop("out", None)
        if isinstance(self._known, np.ufunc) and len(operands) > self._known.nin:
            operands, out = operands[: self._known.nin], operands[self._known.nin]
        if isinstance(out, tuple):
            (out,) = out
        mask = mask_of(self.name, operands, options)
        made = self._computed(unheld(operands), {n: unheld(v) for n, v in options.items()}, out)
        if out is None:
            return holding(made, mask)
        out.put(made)
        return out

    def _computed(self, operands: tuple[Any, ...], options: dict[str, Any], out: Any) -> Any:
        if not (is_traced(operands) or is_traced(tuple(options.values()))):
            if "where" in options:
                options["out"] = out.value.copy()
            return self._known(*operands, **options)
        if self._traced is None:
            raise NumpyOnly(f"jax.numpy has no {self.name}")
        for name in _OF_MEMORY & options.keys():
            del options[name]
        where = None
        if isinstance(self._known, np.ufunc):
            dtype = options.pop("dtype", None)
            if dtype is not None:
                operands = tuple([jnp.asarray(v, dtype) for v in operands])
            where = options.pop("where", None)
        if options.pop("kind", "") == "stable":
            options["stable"] = True
        if self.name == "where":
            operands = tuple([jnp.asarray(v) for v in operands])
        made = self._traced(*operands, **options)
        if self.name in _OF_REGULAR:
            given = jnp.all(jnp.stack([jnp.isfinite(v).all() for v in operands]))
            require(~given | jnp.isfinite(made).all())
        return made if where is None else jnp.where(where, made, out.value)

    def __getattr__(self, name: str) -> Any:
        """A method of a ufunc, or what else there is to know of it."""
        found = getattr(self._known, name)
        if not callable(found):
            return found
        if name == "at":
            return lambda to, index, values=None: _at(self.name, to, index, values)
        reduction = _REDUCTIONS.get(self.name) if name == "reduce" else None
        traced = getattr(self._traced, name, None)
        if reduction is not None:

            def traced(
                x: Any,
                axis: Any = 0,
                dtype: Any = None,
                _: Any = None,
                keepdims: bool = False,
                initial: Any = None,
                **more: Any,
            ) -> Any:
                x = x if dtype is None else jnp.asarray(x, dtype)
                if initial is not None:
                    more["initial"] = initial
                return reduction(x, axis=axis, keepdims=keepdims, **more)

        return _Function(f"{self.name}.{name}", found, traced)


_REDUCTIONS: Final = {
    "add": jnp.sum,
    "multiply": jnp.prod,
    "maximum": jnp.max,
    "minimum": jnp.min,
    "logical_and": jnp.all,
    "logical_or": jnp.any,
}

# Of matrices that have none NumPy raises, where jax returns what is not finite.
_OF_REGULAR: Final = frozenset(("linalg.cholesky", "linalg.inv", "linalg.solve"))
# Arrays that are traced have no place in memory: layout is no question.
_OF_MEMORY: Final = frozenset(("order", "casting", "subok"))

# --- functions about memory


def _at(name: str, to: Any, index: Any, values: Any) -> None:
    """``np.<name>.at``: each element at an index counts, also where several are at one."""
    index, values, value = unheld(index), unheld(values), to.value
    if not is_traced((index, values, value)):
        getattr(np, name).at(value, index, values)
        return
    at = jnp.asarray(value).at[checked_index(value.shape, index)]
    method = {"add": at.add, "maximum": at.max, "minimum": at.min, "multiply": at.multiply}[name]
    to.put(method(jnp.asarray(values).astype(value.dtype)))


def _copyto(to: Any, source: Any, casting: str = "same_kind", where: Any = True) -> None:
    where, source = unheld(where), unheld(source)
    if where is True:
        to.put(source)
    elif is_traced((where, source, to)):
        to.put(jnp.where(where, jnp.asarray(source).astype(to.dtype), to.value))
    else:
        np.copyto(to.value, source, where=where)


def _array(x: Any, dtype: Any = None, copy: bool = True, order: Any = None, ndmin: int = 0) -> Any:
    if isinstance(x, Memory):
        return x.copy() if dtype is None or np.dtype(dtype) == x.dtype else x.astype(dtype)
    x = unheld(x)
    if is_traced(x):
        return Memory(jnp.asarray(x, dtype))
    return Memory(np.array(x, dtype, ndmin=ndmin))


def _asarray(x: Any, dtype: Any = None, order: Any = None, copy: Any = None) -> Any:
    if isinstance(x, Memory):
        return x if dtype is None or np.dtype(dtype) == x.dtype else x.astype(dtype)
    x = unheld(x)
    return Memory(jnp.asarray(x, dtype)) if is_traced(x) else np.asarray(x, dtype)


def _contiguous(x: Any, dtype: Any = None) -> Any:
    if isinstance(x, Memory):
        return _array(x, dtype)
    return np.ascontiguousarray(x, dtype)


def _allocated(name: str) -> Callable[..., Any]:
    """Memory that NumPy has made, and to which a kernel may write what is traced."""
    known, traced = getattr(np, name), getattr(jnp, name)

    def function(*operands: Any, **options: Any) -> Any:
        mask = getattr(operands[0], "mask", None)
        operands, options = unheld(operands), {n: unheld(v) for n, v in options.items()}
        if name.endswith("_like") and is_traced(operands[:1]):
            spec = operands[0]
            operands = (spec.shape, *operands[1:])
            options["dtype"] = options.get("dtype") or np.dtype(spec.dtype)
            made = getattr(NUMPY, name.removesuffix("_like"))(*operands, **options)
            made.mask = mask
            return made
        for of in _OF_MEMORY & options.keys():
            del options[of]
        by = traced if is_traced((operands, *options.values())) else known
        return Memory(by(*operands, **options))

    return function


def _viewed(name: str) -> Callable[..., Any]:
    """A function that returns a view."""

    def function(x: Any, *operands: Any, **options: Any) -> Any:
        if isinstance(x, Memory):
            return getattr(x, name)(*operands, **options)
        return holding(getattr(np, name)(x, *operands, **options))

    return function


def _moveaxis(x: Any, source: Any, destination: Any) -> Any:
    if not isinstance(x, Memory):
        return np.moveaxis(x, source, destination)
    places = np.moveaxis(np.empty((0,) * x.ndim), 0, 0)  # says what is wrong with the axes
    del places
    given = [source] if isinstance(source, int) else source
    wanted = [destination] if isinstance(destination, int) else destination
    given, wanted = ([a % x.ndim for a in axes] for axes in (given, wanted))
    order = [a for a in range(x.ndim) if a not in given]
    for to, axis in sorted(zip(wanted, given, strict=True)):
        order.insert(to, axis)
    return x.transpose(order)


def _expand_dims(x: Any, axis: Any) -> Any:
    if not isinstance(x, Memory):
        return np.expand_dims(x, axis)
    axes = [axis] if isinstance(axis, int) else axis
    ndim = x.ndim + len(axes)
    put = {a % ndim for a in axes}
    rest = iter(x.shape)
    return x.reshape([1 if k in put else next(rest) for k in range(ndim)])


def _take_along_axis(x: Any, index: Any, axis: Any = -1) -> Any:
    x, index = unheld(x), unheld(index)
    if not is_traced((x, index)):
        return np.take_along_axis(x, index, axis)
    axis %= x.ndim
    key = (slice(None),) * axis + (index,)
    at = checked_index(x.shape, key)[axis] if is_traced(index) else index % max(x.shape[axis], 1)
    return Memory(jnp.take_along_axis(jnp.asarray(x), jnp.asarray(at), axis, mode="clip"))


def _put_along_axis(to: Any, index: Any, values: Any, axis: Any) -> None:
    to.put(jnp.put_along_axis(to.value, unheld(index), unheld(values), axis, inplace=False))


def _take(x: Any, index: Any, axis: Any = None, **options: Any) -> Any:
    return holding(_asarray(x) if isinstance(x, Memory) else Memory(x)).take(index, axis)


def _round(x: Any, decimals: int = 0) -> Any:
    if not is_traced(x) or decimals >= 0 or x.dtype in FLOATS:
        return holding((jnp if is_traced(x) else np).round(unheld(x), decimals))
    unit = 10.0**-decimals
    return NUMPY.rint(x / unit).__mul__(unit).astype(x.dtype)


def _sliding_windows(x: Any, window_shape: Any, axis: Any = None) -> Any:
    if not isinstance(x, Memory):
        return np.lib.stride_tricks.sliding_window_view(x, window_shape, axis)
    sizes = [window_shape] if isinstance(window_shape, int) else window_shape
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    value = x.value
    for size, a in zip(sizes, axes, strict=True):
        at = np.arange(value.shape[a] - size + 1)[:, None] + np.arange(size)
        value = jnp.moveaxis(jnp.take(value, at, axis=a), a + 1, -1)
    return Memory(value)


_ABOUT_MEMORY: Final[dict[str, Callable[..., Any]]] = {
    **{f"{kind}{like}": _allocated(f"{kind}{like}")
       for kind in ("empty", "zeros", "ones", "full") for like in ("", "_like")},
    "arange": _allocated("arange"),
    **{name: _viewed(name) for name in ("reshape", "ravel", "transpose", "swapaxes", "squeeze")},
    "array": _array,
    "asarray": _asarray,
    "ascontiguousarray": _contiguous,
    "copyto": _copyto,
    "expand_dims": _expand_dims,
    "lib.stride_tricks.sliding_window_view": _sliding_windows,
    "moveaxis": _moveaxis,
    "round": _round,
    "put_along_axis": _put_along_axis,
    "take": _take,
    "take_along_axis": _take_along_axis,
}


class _Module:
    """A module of NumPy's, function by function."""

    def __init__(self, name: str, known: ModuleType, traced: Any) -> None:
        self._name, self._known, self._traced = name, known, traced

    def __getattr__(self, name: str) -> Any:
        known, full = getattr(self._known, name), f"{self._name}{name}"
        traced = getattr(self._traced, name, None)
        found: Any = _ABOUT_MEMORY.get(full, known)
        if isinstance(known, ModuleType):
            found = _Module(f"{full}.", known, traced)
        elif found is known and callable(known) and not isinstance(known, type):
            found = _Function(full, known, traced)
        setattr(self, name, found)
        return found


NUMPY: Final = _Module("", np, jnp)


def _operator(x: Memory, name: str, operands: tuple[Any, ...]) -> Any:
    return getattr(NUMPY, OPERATOR_UFUNCS[name].__name__)(*operands)


bind_operators(Memory, _operator)


def _in_place(name: str) -> Callable[[Memory, Any], Memory]:
    def method(self: Memory, other: Any) -> Memory:
        self.put(_operator(self, name, (self, other)))
        return self

    return method


for _python, _name in {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
}.items():
    setattr(Memory, f"__i{_python}__", _in_place(_name))
for _python in ("__pow__", "__rpow__", "__matmul__", "__rmatmul__"):

    def _method(self: Any, other: Any, _python: str = _python) -> Any:
        operands = (other, self) if "__r" in _python else (self, other)
        return (NUMPY.power if "pow" in _python else NUMPY.matmul)(*operands)

    setattr(Memory, _python, _method)
