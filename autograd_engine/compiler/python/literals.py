"""Objects as the text of Python expressions that make them again."""

from __future__ import annotations

import base64
import importlib
import inspect
import math
import re
import sys
import zlib
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes import REALS_AND_BOOLS
from autograd_engine.errors import BuildError
from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["Expression", "SourceText"]

_MOST_ELEMENTS = 16  # of an array that is written as numbers
_FACE = "autograd_engine.generated"
_NAMES = ("Spec", "control_flow", "dense", "own_generator", "raw")  # of it


class Expression(NamedTuple):
    """What is written already, among values that are not."""

    code: str


class SourceText:
    """Expressions for values, with the imports and the constants that they need.

    Parameters
    ----------
    unique : callable
        Makes a name that the text does not use yet.

    Attributes
    ----------
    reserved : set of str
        Names that the expressions use, so that nothing else may have them.
    """

    reserved: ClassVar[frozenset[str]] = frozenset(
        {*_NAMES, "base64", "complex", "float", "getattr", "np", "slice", "zlib"}
        | {"INPUTS", "OUTPUTS"}
    )

    def __init__(self, unique: Callable[[str], str]) -> None:
        self._unique = unique
        self._arrays: dict[int, tuple[str, NDArray[Any]]] = {}
        self._imported: dict[int, tuple[str, str, Any]] = {}

    def text(self, stem: str, value: Any) -> str:
        """An expression for `value`.

        Raises
        ------
        BuildError
            For an object that no expression makes: a function without a name, say.
        """
        if value is None or value is Ellipsis or isinstance(value, (bool, int, str)):
            return "..." if value is Ellipsis else repr(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, complex):
            return f"complex({self.text(stem, value.real)}, {self.text(stem, value.imag)})"
        if isinstance(value, np.dtype):
            return f"np.dtype({value.name!r})"
        if isinstance(value, np.generic):
            return f"np.{value.dtype.name}({self.text(stem, value.item())})"
        if isinstance(value, slice):
            parts = (self.text(stem, v) for v in (value.start, value.stop, value.step))
            return f"slice({', '.join(parts)})"
        if type(value) is tuple:
            inner = ", ".join(self.text(stem, v) for v in value)
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if type(value) is list:
            return f"[{', '.join(self.text(stem, v) for v in value)}]"
        if type(value) is dict:
            pairs = (f"{self.text(stem, k)}: {self.text(stem, v)}" for k, v in value.items())
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, np.ndarray):
            return self._array(stem, value)
        if isinstance(value, Expression):
            return value.code
        return self._import(stem, value)

    def operation(self, op: OpDef) -> str:
        """An expression for the kernel of an operation of the user's, which a module names."""
        kernel = inspect.unwrap(op.kernel)
        module = getattr(kernel, "__module__", "")
        for name, found in vars(sys.modules.get(module, object)).items():
            if found is op:
                return f"raw[{self._named(op, module, name)}]"
        raise _nameless(op.name, op)

    def _array(self, stem: str, value: NDArray[Any]) -> str:
        """A name for it: what stands for it is written below the functions."""
        found = self._arrays.get(id(value))
        if found is None:
            name = self._unique(f"{stem.upper()}_ARRAY")
            found = self._arrays[id(value)] = name, value
        return found[0]

    def _import(self, stem: str, value: Any) -> str:
        found = self._imported.get(id(value))
        if found is None:
            return self._named(value, *_home(stem, value))
        return found[0]

    def _named(self, value: Any, module: str, path: str) -> str:
        """A name for what a module has under that path."""
        found = self._imported.get(id(value))
        if found is None:
            name = self._unique(path.replace(".", "_"))
            root = path.partition(".")[0]
            line = f"from {module} import {root}"
            line += f" as {name}" if root == path != name else ""
            line += f"\n{name} = {path}" if root != path else ""
            found = self._imported[id(value)] = name, line, value
        return found[0]

    def imports(self, code: str, *, seeded: bool) -> str:
        """Import statements for what the code, and the constants, refer to."""
        used = [
            name
            for name in _NAMES
            if re.search(rf"\b{name}\b", code) or (seeded and name == "own_generator")
        ]
        face = [f"from {_FACE} import {', '.join(used)}"] if used else []
        arrays = [v for _, v in self._arrays.values()]
        packed = any(map(_is_packed, arrays))
        first = ["import base64", "import zlib"] if packed else []
        if arrays or seeded or re.search(r"\bnp\.", code):
            first += ["", "import numpy as np"] if packed else ["import numpy as np"]
        own = [line for _, line, _ in self._imported.values()]
        return "\n".join([*first, "", *face, *own]).strip("\n")

    def constants(self) -> str:
        """Assignments of the arrays that the text names."""
        return "\n".join(f"{name} = {_written_array(v)}" for name, v in self._arrays.values())


def _is_packed(value: NDArray[Any]) -> bool:
    """Whether it is written as its bytes, not as numbers."""
    few = value.size <= _MOST_ELEMENTS and value.dtype in REALS_AND_BOOLS
    return not (few and bool(np.isfinite(value).all()))


def _written_array(value: NDArray[Any]) -> str:
    """An array with all its bits; read-only, for a run may hand it on as it is."""
    if not _is_packed(value):
        numbers = value.tolist()
        return f"np.array({numbers!r}, {value.dtype.name!r}).reshape({value.shape})"
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(value).tobytes())).decode()
    return (
        f"np.frombuffer(zlib.decompress(base64.b64decode({data!r})), {value.dtype.name!r})"
        f".reshape({value.shape})"
    )


def _home(stem: str, value: Any) -> tuple[str, str]:
    """(module, name in it) of an object of the user's."""
    module, path = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(module, str) and isinstance(path, str) and "<" not in path:
        try:
            found: Any = importlib.import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError):
            found = None
        if found is value:
            return module, path
    raise _nameless(stem, value)


def _nameless(stem: str, value: Any) -> BuildError:
    return BuildError(
        f"to_python: {stem!r} is {value!r}, which no text can name: define it with a name of its "
        "own at the top of a module, so that it can be imported"
    )
