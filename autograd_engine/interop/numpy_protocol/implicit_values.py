"""Where another library takes the values of a tensor, and nobody asked for them by name.

NumPy tells of a call in which a tensor is an argument. Of tensors in a list, of what SciPy makes an
array of, and of ``math.sin(t)`` it tells nothing: the values are read, and what is computed of them
has no gradient. If one was wanted, that is said, once for a line of the user's. Who asks for values
by name (``.numpy()``, ``np.asarray(t)``, ``.item()``, ``float(t)``) knows, and who draws or
compares them needs none.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import linecache
import math
import os
import sys
import sysconfig
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np

from autograd_engine.core.locations import PACKAGE_DIR, Location, user_frame_from, warn_at
from autograd_engine.core.locks import parse_source
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.errors import GradientCutWarning
from autograd_engine.nn import functional
from autograd_engine.tensor import public as paddle

__all__ = ["array_wanted", "listed", "number_wanted"]

# They draw, store or compare values; a minimizer asks what a loss is, and is told its gradient.
_READERS: Final = (
    *("matplotlib.", "mpl_toolkits.", "pandas.", "numpy.testing.", "pytest.", "_pytest."),
    *("scipy.optimize._minimize.", "scipy.optimize._optimize."),
)
# But of those that read, this is their arithmetic.
_ARITHMETIC: Final = ("_arith_method", "_flex_arith_method", "_flex_method", "array_ufunc", "dot")
_COMPUTING: Final = ("math", "cmath", "numpy", "scipy")
_CONSTANT: Final = (
    math.ceil, math.floor, math.isclose, math.isfinite, math.isinf, math.isnan, math.trunc
)  # fmt: skip
_BY_NAME: Final = (np.array, np.asanyarray, np.asarray, np.ascontiguousarray)
_MOST: Final = 256  # expressions that are remembered
_LIBRARY: Final = tuple(
    {os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")}
)


class Part(np.ndarray[Any, Any]):
    """The values of a tensor in ``np.r_`` or ``np.c_``, which join arrays by `np.concatenate`.

    There they become the tensor again, with the axes that were added on the way.
    """

    tensor: Any = None
    axes: Any = None

    def __array_finalize__(self, source: Any) -> None:
        if isinstance(source, Part):
            self.tensor, self.axes = source.tensor, source.axes

    def transpose(self, axes: Any) -> Any:  # type: ignore[override]
        made = super().transpose(axes)
        made.axes = axes
        return made

    def joined(self) -> Any:
        x = paddle.reshape(self.tensor, [*[1] * (self.ndim - self.tensor.ndim), *self.tensor.shape])
        if self.axes is not None:
            x = paddle.transpose(x, list(self.axes))
        return x.astype(self.dtype)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is not np.concatenate:
            return super().__array_function__(function, types, args, kwargs)
        arrays = [a.joined() if isinstance(a, Part) else a for a in args[0]]
        return np.concatenate(arrays, *args[1:], **kwargs)


_JOINING: Final = type(np.r_).__getitem__.__code__


def array_wanted(tensor: Any, values: Any, asking: FrameType) -> Any:
    """The array of the `values` of a tensor that requires a gradient, for whoever runs there."""
    if asking.f_code is _JOINING and asking.f_locals.get("item") is tensor:
        part = values.view(Part)
        part.tensor = tensor
        return part
    if not _by_name(asking):
        _tell(asking)
    return values


def _by_name(asking: FrameType) -> bool:
    """Whether it is ``np.asarray(t)`` that runs there, of a tensor and not of a list of them."""
    asked = _asked(asking)
    if asked is None or _of_library(asking.f_code.co_filename):
        return False
    if isinstance(asked, ast.Assert):  # all that some releases of pytest leave of the place
        return any(_is_by_name(part, asking) for part in ast.walk(asked))
    return _is_by_name(asked, asking)


def _is_by_name(asked: ast.AST, asking: FrameType) -> bool:
    if not isinstance(asked, ast.Call):
        return False
    if isinstance(asked.func, ast.Attribute) and asked.func.attr == "__array__":
        return True
    called = _named(asked.func, asking)
    if isinstance(called, type) and issubclass(called, np.generic):  # np.float32(t)
        return True
    if not asked.args or called not in _BY_NAME:
        return False
    given = asked.args[0]
    if isinstance(given, ast.Call):
        return _named(given.func, asking) not in (list, tuple, sorted)
    listed = (list, tuple, ast.List, ast.Tuple, ast.ListComp)
    return not isinstance(given, listed) and not isinstance(_named(given, asking), listed)


def listed(asking: FrameType) -> None:
    """`to_tensor` takes the values of a tensor in a list that requires a gradient."""
    if grad_mode.enabled:
        frame = user_frame_from(asking)
        warn_at(
            frame,
            f"{Location(frame.f_code, frame.f_lasti).with_text}: to_tensor takes the values of a "
            "tensor that requires a gradient, and what it makes of them has none: use "
            "paddle.stack, which is recorded, or t.detach() where no gradient is needed",
            GradientCutWarning,
        )


def number_wanted(asking: FrameType) -> None:
    """The one value of a tensor that requires a gradient becomes a Python number there."""
    asked = _asked(asking)
    if isinstance(asked, ast.Subscript):  # a[0] = t
        _tell(asking)
    elif isinstance(asked, ast.Call):
        called = _named(asked.func, asking)
        owner = getattr(called, "__objclass__", called)  # of a.fill the class
        library = str(getattr(owner, "__module__", "")).partition(".")[0]
        if library in _COMPUTING and not isinstance(called, type) and called not in _CONSTANT:
            _tell(asking)


# By (id of the code, instruction); the entries hold the code.
_known: Final[dict[tuple[int, int], tuple[CodeType, ast.AST | None]]] = {}


def _asked(frame: FrameType) -> ast.AST | None:
    """What runs there; None for a number by name, and where there is no source."""
    code, instruction = frame.f_code, frame.f_lasti
    found = _known.get((id(code), instruction))
    if found is None:
        if len(_known) >= _MOST:
            _known.clear()
        found = _known[id(code), instruction] = code, _parsed(code, instruction)
    return found[1]


def _parsed(code: CodeType, instruction: int) -> ast.AST | None:
    places = list(code.co_positions())
    first, last, start, stop = places[instruction // 2]
    if first is None or last is None:
        return None
    lines = [linecache.getline(code.co_filename, k).encode() for k in range(first, last + 1)]
    lines[-1] = lines[-1][:stop]
    lines[0] = lines[0][start:]
    text = b"".join(lines)
    try:
        (found,) = parse_source(text if text.startswith(b"assert ") else b"(" + text + b")").body
    except SyntaxError:
        return None
    asked = found.value if isinstance(found, ast.Expr) else found
    by_name = isinstance(asked, ast.Call) and ast.unparse(asked.func) in ("float", "complex")
    return None if by_name else asked


def _named(expression: ast.expr, frame: FrameType) -> Any:
    """What ``np.fromiter`` or the like is in this frame; None for what is no name."""
    if isinstance(expression, ast.Attribute):  # no property is run for it
        return inspect.getattr_static(_named(expression.value, frame), expression.attr, None)
    if not isinstance(expression, ast.Name):
        return None
    name, code = expression.id, frame.f_code
    if name in code.co_varnames or name in code.co_cellvars or name in code.co_freevars:
        return _local(name, frame)
    return frame.f_globals.get(name, vars(builtins).get(name))


def _local(name: str, frame: FrameType) -> Any:
    """A local variable of a function."""
    names = frame.f_locals
    value = names.get(name)
    # Before Python 3.13 this is a copy that the frame keeps, so what was last computed in a loop
    # would live through its next turn. If nobody else has asked for it, it is ours to empty.
    if type(names) is dict and sys.getrefcount(names) <= 3:
        names.clear()
    return value


def _tell(asking: FrameType) -> None:
    """Warn at the line of the user's that has led to `asking`."""
    frame: FrameType | None = asking
    library = ""
    reads = computes = False
    while frame is not None and _of_library(frame.f_code.co_filename):
        library = f"{frame.f_globals.get('__name__', '')}."
        reads = reads or library.startswith(_READERS)
        computes = computes or frame.f_code.co_name in _ARITHMETIC
        frame = frame.f_back
    if reads and not computes:
        return
    frame = frame or asking
    if frame.f_code.co_filename.startswith(PACKAGE_DIR):
        return  # ours, which knows what it reads
    asked = _asked(frame)
    function = ast.unparse(asked.func) if isinstance(asked, ast.Call) else ""
    ours = _twin(function.rpartition(".")[2])
    if library.startswith(("pandas.", "scipy.sparse.")):
        array = "data.to_numpy()" if library.startswith("pandas.") else "matrix.toarray()"
        cure = f"write paddle.to_tensor({array}) for what stands beside the tensor"
    elif ours and not library.startswith("numpy.") and not function.startswith("np."):
        cure = f"use {ours}, which is recorded"
    else:
        cure = (
            "NumPy's functions are recorded where their arguments are tensors, so write "
            "paddle.stack([...]) for a list of tensors"
        )
    warn_at(
        frame,
        f"{Location(frame.f_code, frame.f_lasti).with_text}: "
        f"{function or library.partition('.')[0] or 'NumPy'} takes the values of a tensor that "
        f"requires a gradient, and what it makes of them has none: {cure}, or t.detach() where no "
        "gradient is needed",
        GradientCutWarning,
    )


def _twin(name: str) -> str:
    """The function of ours that has this name; empty where there is none."""
    if name.isidentifier():
        for place, prefix in ((paddle, "paddle"), (functional, "paddle.nn.functional")):
            if hasattr(place, name):
                return f"{prefix}.{name}"
    return ""


@functools.cache
def _of_library(filename: str) -> bool:
    """Whether this is the code of a library that was installed, or of Python itself."""
    parts = filename.split(os.sep)
    return (
        "site-packages" in parts or "dist-packages" in parts or filename.startswith(_LIBRARY)
    ) and not filename.startswith(PACKAGE_DIR)
