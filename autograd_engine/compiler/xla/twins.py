"""A kernel of the table with jax.numpy in the place of NumPy: nothing is written a second time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

import jax.numpy as jnp
import numpy as np
from jax import lax

from autograd_engine.compiler.xla.array_module import NUMPY
from autograd_engine.compiler.xla.memory import (
    Memory,
    NumpyOnly,
    holding,
    is_traced,
    require,
    unheld,
)
from autograd_engine.core.random_generator import generator
from autograd_engine.ops import like, order, reduction, rounding
from autograd_engine.ops.kernels import (
    alignments,
    attention,
    branches,
    pool,
    products,
    rows,
    sums,
)
from autograd_engine.ops.kernels.axes import with_axes
from autograd_engine.ops.kernels.compiled import compiled, in_numpy
from autograd_engine.ops.kernels.elementwise import ufunc_of
from autograd_engine.ops.linalg import determinant, inverse
from autograd_engine.ops.registry.namespace import Namespace
from autograd_engine.ops.registry.stand_ins import rebound

__all__ = ["twin"]


@cache
def twin(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel` for traced arrays; of a call that it has no part in, it raises as it likes."""
    copy: Callable[..., Any] = _twin(in_numpy(kernel), {})

    def traced(*operands: Any, **attrs: Any) -> Any:
        made = copy(*holding(operands), **attrs)
        for result in made if isinstance(made, tuple) else (made,):
            if getattr(result, "mask", None) is not None:
                raise NumpyOnly("it returns what a mask selects")
        return unheld(made)

    return traced


def _twin(value: Any, modules: dict[ModuleType, Any]) -> Any:
    """What a kernel, or what one finds in a module or a table, is for traced arrays."""

    def stand_in(inner: Any) -> Any:
        return _stand_in(inner, modules)

    found = stand_in(value)
    if found is value and isinstance(value, FunctionType):
        return rebound(value, stand_in)
    return found


def _stand_in(value: Any, modules: dict[ModuleType, Any]) -> Any:
    """What a copy of a kernel finds in the place of `value`; functions are copied likewise."""
    if isinstance(value, FunctionType):
        special = _INSTEAD_OF_FUNCTIONS.get(value)
        if special is not None:
            return special
    ufunc = ufunc_of(value)
    if ufunc is not None:
        return getattr(NUMPY, ufunc.__name__)
    if isinstance(value, FunctionType):
        return value
    return _of_data(value, modules)


def _of_data(value: Any, modules: dict[ModuleType, Any]) -> Any:
    if value is np:
        return NUMPY
    if isinstance(value, Namespace) and value.of_arrays:
        return _kernels(modules)
    if isinstance(value, ModuleType) and value.__name__.startswith("autograd_engine.ops"):
        return modules.setdefault(value, _Module(value, modules))
    if isinstance(value, BuiltinFunctionType):
        owner = getattr(value, "__self__", None)
        if isinstance(owner, np.ufunc):  # np.add.reduce
            return getattr(getattr(NUMPY, owner.__name__), value.__name__)
    if type(value) is dict:
        return _Table(value, modules)
    name = getattr(value, "__name__", "")
    numpys = name and getattr(np, name, None) is value and not isinstance(value, type)
    return getattr(NUMPY, name) if numpys else value


def _kernels(modules: dict[ModuleType, Any]) -> Namespace:
    """The namespace in which a kernel runs formulas that are written in operations."""
    found = Namespace()
    found.bind = lambda op: _twin(in_numpy(op.direct), modules)
    found.project = lambda g, like: g if g.shape == like.shape else found.sum_like(g, like)
    return found


class _Module:
    """A module of kernels, with twins for its functions."""

    def __init__(self, module: ModuleType, modules: dict[ModuleType, Any]) -> None:
        self._module, self._modules = module, modules

    def __getattr__(self, name: str) -> Any:
        found = _twin(getattr(self._module, name), self._modules)
        setattr(self, name, found)
        return found


class _Table(dict[Any, Any]):
    """A dict of a module: its functions have twins, and it keeps nothing that a trace has made."""

    def __init__(self, given: dict[Any, Any], modules: dict[ModuleType, Any]) -> None:
        super().__init__(given)
        self._modules = modules

    def __getitem__(self, key: Any) -> Any:
        return _twin(super().__getitem__(key), self._modules)

    def get(self, key: Any, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 - that is this method

    def __setitem__(self, key: Any, value: Any) -> None:
        if not (isinstance(value, Memory) or is_traced(value)):
            super().__setitem__(key, value)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.get(key, default)


def _none(*_: Any) -> None:
    """No function in C, and no blocks of rows that fit a cache: XLA sees the whole formula."""


def _no(*_: Any) -> bool:
    return False


def _perhaps(holds: Any) -> bool:
    return True if is_traced(holds) else bool(holds)


def _surely(holds: Any) -> bool:
    return False if is_traced(holds) else bool(holds)


def _require_finite(_: str, x: Any) -> None:
    require(NUMPY.isfinite(x).all().value)


def _require_nonzero(_: str, y: Any) -> None:
    require(NUMPY.not_equal(y, 0).all().value)


def _squarings(norm: Any, largest: float) -> Any:
    norm = norm.value
    there = (norm > largest) & (norm < jnp.inf)
    return jnp.where(there, jnp.ceil(jnp.log2(jnp.where(there, norm, 1.0) / largest)), 0.0)


def _squared(x: Any, times: Any) -> Any:
    return Memory(lax.fori_loop(0, times.astype(int), lambda _, y: y @ y, x.value))


def _in_turn(step: Any, state: Any, given: Any, out: Any) -> Any:
    def body(before: Any, each: Any) -> Any:
        return tuple(unheld(list(step(Memory(before), *map(Memory, each)))))

    arrays = tuple(map(jnp.asarray, unheld(list(given))))
    last, made = lax.scan(body, jnp.asarray(unheld(state)), arrays)
    out.put(made)
    return Memory(last)


def _same(x: Any) -> Any:
    return x


def _no_generator(*_: Any) -> Any:
    raise NumpyOnly("it draws random numbers")


def _total(x: Any, axis: Any, keepdims: bool) -> Any:
    return NUMPY.sum(x, axis=axis, keepdims=keepdims)


def _column_sums(x: Any, count: int) -> Any:
    return NUMPY.sum(x.reshape(count, -1), axis=0)


def _spread(x: Any, like: Any, axis: Any, keepdims: bool) -> Any:
    return NUMPY.broadcast_to(x if keepdims else with_axes(x, axis), like.shape)


# What is about memory, caches and functions in C, and not about values; shorter ways, for which
# values are looked at; and what raises an error.
_INSTEAD_OF_FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    compiled: _none,
    generator: _no_generator,
    rows.lines: _none,
    rows.softmax_lines: _none,
    rows.short_rows: _none,
    rows.between: _none,
    products.multiply: NUMPY.matmul,
    attention._readable: _same,
    reduction._in_step: _no,
    reduction.within: _no,
    order._few: _none,
    pool._even: _none,
    branches.perhaps: _perhaps,
    branches.surely: _surely,
    determinant._by_inverse: _none,
    inverse.check_finite: _require_finite,
    inverse._squarings: _squarings,
    inverse._squared: _squared,
    alignments.in_turn: _in_turn,
    rounding.check_divisor: _require_nonzero,
    sums.total_over: _total,
    sums._column_sums: _column_sums,
    like._spread: _spread,
}
