"""Operations for what they do besides computing: `Print` and `Assert`.

A run does them in the order in which they were written, whatever it is asked for.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any, Final, Literal

import numpy as np

from autograd_engine.autograd.custom_op.defop import Operation
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import BOOLS
from autograd_engine.core.effects_switch import effects
from autograd_engine.core.locations import caller
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.pass_through import pass_through
from autograd_engine.core.spec import Array, format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    AssertFailedError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.infer import same
from autograd_engine.ops.registry.opdef import NONDIFF
from autograd_engine.program.ir.program import Operator, Variable
from autograd_engine.program.operands import as_operand, spec_of

__all__ = ["EFFECTS", "Assert", "EffectOperation", "Print"]


class EffectOperation(Operation):
    """An operation that runs even where nothing asks for its result, and checks what it returns.

    Attributes
    ----------
    late : {"", "report", "check"}
        It returns its first operand, and a backend need not do it in its place. "report": it tells
        of its operands, which may be done when the run has ended. "check": the first is to be true.
    """

    def __init__(
        self, name: str, kernel: Any, late: Literal["", "report", "check"] = "", **options: Any
    ) -> None:
        super().__init__(
            name, kernel, effect=True, dtypes="any", casts=True, halves="as they are", **options
        )
        self.kernel = self.direct = kernel
        self.module = __name__
        self.late = late


# --- Print

_numbers: Final = itertools.count(1)
_printed: Final[Counter[tuple[int, str]]] = Counter()
_lock: Final = renewed_lock()


def _print(
    x: Array,
    *,
    var_name: str,
    message: str,
    first_n: int,
    number: int,
    summarize: int,
    print_tensor_name: bool,
    print_tensor_type: bool,
    print_tensor_shape: bool,
    print_tensor_layout: bool,
    print_tensor_lod: bool,
    print_phase: str,
    is_gradient: bool,
) -> Array:
    if effects.off or print_phase == ("forward" if is_gradient else "backward"):
        return x
    if first_n > 0:
        with _lock:
            _printed[number, var_name] += 1
            if _printed[number, var_name] > first_n:
                return x
    lines = [
        (print_tensor_name, f"Variable: {var_name}"),
        (message, f"  - message: {message}"),
        (print_tensor_lod, "  - lod: {}"),
        (True, "  - place: Place(cpu)"),
        (print_tensor_shape, f"  - shape: {list(x.shape)}"),
        (print_tensor_layout, "  - layout: NCHW"),
        (print_tensor_type, f"  - dtype: {x.dtype.name}"),
        (True, f"  - data: {_elements(x, summarize)}"),
    ]
    # At once, so that what several threads print is not mixed.
    print("".join(f"{line}\n" for shown, line in lines if shown), end="", flush=True)
    return x


def _elements(x: Array, summarize: int) -> str:
    """``[1.0 2.0 ...]``: the first `summarize` elements, or all of them if that is negative."""
    flat = np.ravel(x)
    shown = flat if summarize < 0 else flat[:summarize]
    dots = ["..."] if shown.size < flat.size else []
    return f"[{' '.join([*map(str, shown), *dots])}]"


def _print_gradient(xp: Any, g: Any, **attrs: Any) -> Any:
    if attrs["print_phase"] == "forward":
        return g
    return xp[_PRINT](g, **{**attrs, "var_name": f"{attrs['var_name']}@GRAD", "is_gradient": True})


_PRINT: Final = EffectOperation(
    "print", _print, late="report", inputs="x", infer=same, tangent="linear"
)
_PRINT.vjp(x=_print_gradient)


def Print(  # noqa: N802 - the public name
    input: Any,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool = True,
    print_phase: str = "both",
) -> Any:
    """Print a value whenever it has been computed, and its gradient whenever that has.

    In a program that is at each run, also where nothing uses the result; on a Tensor, at once.

    Parameters
    ----------
    input : Variable or Tensor
    first_n : int
        Print so many times only, the gradient as often; -1 for each time.
    message : str, optional
        A line to print along with it.
    summarize : int
        How many elements to print; -1 for all.
    print_tensor_name, print_tensor_type, print_tensor_shape, print_tensor_layout, \
print_tensor_lod : bool
        Which lines to print.
    print_phase : {"forward", "backward", "both"}
        Whether to print the value, the gradient, or both.

    Returns
    -------
    Variable or Tensor
        The same value, with the same gradient. The gradient is printed if it is what the loss is
        computed from, so go on with this one.

    Raises
    ------
    NotATensorError, TypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.5, 2.0], stop_gradient=False)
    >>> x.name = "x"
    >>> y = paddle.static.Print(x, message="the input")
    Variable: x
      - message: the input
      - lod: {}
      - place: Place(cpu)
      - shape: [2]
      - layout: NCHW
      - dtype: float32
      - data: [1.5 2.0]
    >>> y = paddle.static.Print(x, print_phase="backward", print_tensor_lod=False)
    >>> (y * y).sum().backward()
    Variable: x@GRAD
      - place: Place(cpu)
      - shape: [2]
      - layout: NCHW
      - dtype: float32
      - data: [3.0 4.0]
    """
    if not isinstance(input, (Tensor, Variable)):
        raise NotATensorError(
            f"Print: input must be a Variable or a Tensor, got {type(input).__name__}; Python's "
            "print() shows anything else"
        )
    flags = {
        "print_tensor_name": print_tensor_name,
        "print_tensor_type": print_tensor_type,
        "print_tensor_shape": print_tensor_shape,
        "print_tensor_layout": print_tensor_layout,
        "print_tensor_lod": print_tensor_lod,
    }
    require_bools("Print", **flags)
    _require_int("Print", "first_n", first_n)
    _require_int("Print", "summarize", summarize)
    if message is not None and not isinstance(message, str):
        raise ArgumentTypeError(f"Print: message must be a str, got {type(message).__name__}")
    if print_phase not in ("forward", "backward", "both"):
        raise ArgumentError(
            f"Print: print_phase must be 'forward', 'backward' or 'both', got {print_phase!r}"
        )
    return _PRINT(
        input,
        var_name=input.name,
        message=message or "",
        first_n=first_n,
        number=next(_numbers) if first_n > 0 else 0,
        summarize=summarize,
        print_phase=print_phase,
        is_gradient=False,
        **flags,
    )


# --- Assert


def _assert(cond: Array, *data: Array, where: str, names: tuple[str, ...], summarize: int) -> Array:
    if cond.size != 1:
        raise pass_through(_not_one(cond.shape, f"Assert of {where}"))
    if not cond.item() and not effects.off:
        lines = [f"Assert of {where} failed: the condition is False"]
        for name, array in zip(names, data, strict=True):
            kind = f"{array.dtype.name}{format_shape(array.shape)}"
            lines.append(f"  {name}: {kind} {_elements(array, summarize)}")
        raise pass_through(AssertFailedError("\n".join(lines)))
    return cond


def _not_one(shape: Any, where: str) -> ShapeError:
    return ShapeError(
        f"{where}: cond has shape {format_shape(shape)} and must have one element: reduce it, "
        "as with paddle.all"
    )


_ASSERT: Final = EffectOperation(
    "assertion", _assert, late="check", inputs="cond *data", infer=lambda cond, *_, **__: cond
)
_ASSERT.vjp(cond=NONDIFF, data=NONDIFF)


def Assert(  # noqa: N802 - the public name
    cond: Any, data: Any = None, summarize: int = 20, name: str | None = None
) -> Operator | None:
    """Raise an error when `cond` is false: of a program, when it runs; of a Tensor, at once.

    A run checks it in its place among the other operators, whatever it is asked for.

    Parameters
    ----------
    cond : Variable or Tensor
        One bool.
    data : list or tuple of Variable or Tensor, optional
        What the error shows.
    summarize : int
        How many elements of each; -1 for all.
    name : str, optional
        Accepted for the reference's sake.

    Returns
    -------
    Operator or None
        In a program, the operator that checks.

    Raises
    ------
    AssertFailedError
        When the condition is false. It names this line.
    NotATensorError, DTypeError, ShapeError
        When `cond` is no bool.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, -2.0])
    >>> x.name = "x"
    >>> try:
    ...     paddle.static.Assert(paddle.all(x > 0), [x])
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[1].strip())
    x: float32[2] [1.0 -2.0]
    """
    location = caller()
    condition = as_operand("Assert", cond, "cond")
    spec = spec_of(condition)
    if spec.dtype not in BOOLS:
        raise DTypeError(
            f"Assert: cond must be a bool, got {spec.dtype.name}; compare, as in paddle.all(x > 0)"
        )
    if isinstance(spec.size, int) and spec.size != 1:
        raise _not_one(spec.shape, "Assert")
    _require_int("Assert", "summarize", summarize)
    shown = [] if data is None else data if isinstance(data, (list, tuple)) else [data]
    operands = [as_operand("Assert", value, f"data[{k}]") for k, value in enumerate(shown)]
    text = location.text
    made = _ASSERT(
        condition,
        *operands,
        where=f"{location} ({text})" if text else str(location),
        names=tuple(value.name for value in operands),
        summarize=summarize,
    )
    if not isinstance(made, Variable):
        return None
    return made.block.ops[-1]


def _require_int(function: str, name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ArgumentTypeError(f"{function}: {name} must be an int, got {type(value).__name__}")


# Those that a file can name.
EFFECTS: Final = {op.name: op for op in (_PRINT, _ASSERT)}
