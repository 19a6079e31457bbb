"""What stands for NumPy while a kernel is traced: jax.numpy for what is traced, NumPy for the rest.

A kernel computes with two kinds of arrays. Those that it is given are traced. Others follow from
sizes and attributes, indices say, and it may look at their values: these stay ndarrays, so what it
does with them happens once, while it is traced.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import jax
import jax.export
import jax.numpy as jnp
import numpy as np

__all__ = ["NUMPY", "NumpyOnly", "is_traced"]


class NumpyOnly(Exception):
    """Why a kernel cannot be traced."""


def is_traced(value: Any) -> bool:
    """Whether it is a jax array or a size that is left open, or holds one."""
    if isinstance(value, (list, tuple)):
        return any(map(is_traced, value))
    return isinstance(value, jax.Array) or jax.export.is_symbolic_dim(value)


class _Function:
    """A function of NumPy's that goes to jax.numpy with what is traced."""

    def __init__(self, name: str, known: Callable[..., Any], traced: Any) -> None:
        self.name = name
        self._known = known
        self._traced = traced

    def __call__(self, *operands: Any, **options: Any) -> Any:
        if not (is_traced(operands) or is_traced(tuple(options.values()))):
            return self._known(*operands, **options)
        if self._traced is None:
            raise NumpyOnly(f"jax.numpy has no {self.name}")
        for name in _OF_MEMORY & options.keys():
            del options[name]
        if isinstance(self._known, np.ufunc):
            if len(operands) > self._known.nin:
                raise NumpyOnly(f"{self.name} writes to an array")
            dtype = options.pop("dtype", None)
            if dtype is not None:
                operands = tuple([jnp.asarray(v, dtype) for v in operands])
        if options.pop("out", None) is not None:
            raise NumpyOnly(f"{self.name} writes to an array")
        if options.pop("kind", "") == "stable":
            options["stable"] = True
        return self._traced(*operands, **options)

    def __getattr__(self, name: str) -> Any:
        """A method of a ufunc, or what else there is to know of it."""
        found = getattr(self._known, name)
        if not callable(found):
            return found
        reduction = _REDUCTIONS.get(self.name) if name == "reduce" else None
        traced = getattr(self._traced, name, None)
        if reduction is not None:

            def traced(
                x: Any,
                axis: Any = 0,
                dtype: Any = None,
                out: Any = None,
                keepdims: bool = False,
                initial: Any = None,
                **more: Any,
            ) -> Any:
                if out is not None:
                    raise NumpyOnly(f"{self.name} writes to an array")
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

# Arrays that are traced have no place in memory: layout is no question.
_OF_MEMORY: Final = frozenset(("order", "casting", "subok"))
_OTHERWISE: Final = {"ascontiguousarray": "asarray", "asfortranarray": "asarray"}


class _Module:
    """A module of NumPy's, function by function."""

    def __init__(self, name: str, known: ModuleType, traced: Any) -> None:
        self._name, self._known, self._traced = name, known, traced

    def __getattr__(self, name: str) -> Any:
        known = getattr(self._known, name)
        traced = getattr(self._traced, _OTHERWISE.get(name, name), None)
        found: Any = known
        if isinstance(known, ModuleType):
            found = _Module(f"{self._name}{name}.", known, traced)
        elif callable(known) and not isinstance(known, type):
            found = _Function(f"{self._name}{name}", known, traced)
        setattr(self, name, found)
        return found


NUMPY: Final = _Module("", np, jnp)
