"""How a tensor prints: the text of PaddlePaddle 3.3, byte for byte.

The text differs from Paddle's in two places, where Paddle's cannot be used:

- the sign of an imaginary part that is NaN or -0: Paddle prints ``(1.00000000nanj)`` and
  ``(1.00000000+-0.00000000j)``, which `complex` cannot read back;
- an array without elements but with more rows than the threshold is summarised like any other:
  Paddle prints every one of its ``[]``, be they a million.
"""

import math
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "PrintOptions",
    "format_array",
    "format_cells",
    "format_tensor",
    "get_printoptions",
    "set_printoptions",
]


@dataclass(frozen=True)
class PrintOptions:
    """What `set_printoptions` controls.

    Attributes
    ----------
    precision : int
        Digits after the point.
    threshold : int
        Arrays of more elements than this are summarised; ``sys.maxsize`` shows everything.
    edgeitems : int
        Elements kept at each end of each axis of a summarised array.
    linewidth : int
        Columns of a line, the indent included. A line holds one element at least.
    sci_mode : bool
        Write floats as ``1.50000000e+00``.
    """

    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool = False


_options = PrintOptions()

_LEAST = {"precision": 0, "threshold": 0, "edgeitems": 0, "linewidth": 1}
_MOST = {"precision": 1074}  # no float64 has more digits after the point


def get_printoptions() -> PrintOptions:
    """Return the options in force.

    Examples
    --------
    >>> get_printoptions()
    PrintOptions(precision=8, threshold=1000, edgeitems=3, linewidth=80, sci_mode=False)
    """
    return _options


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """Change how tensors print; an option left at None keeps its value.

    Parameters
    ----------
    precision : int, optional
        Digits after the point.
    threshold : int, optional
        Arrays of more elements than this are summarised; ``sys.maxsize`` shows everything.
    edgeitems : int, optional
        Elements kept at each end of each axis of a summarised array.
    sci_mode : bool, optional
        Write floats as ``1.50000000e+00``.
    linewidth : int, optional
        Columns of a line, the indent included. A line holds one element at least.

    Raises
    ------
    TypeError
        If `sci_mode` is not a bool, or another option is not an integer.
    ValueError
        If an integer is out of range. No option changes when one is refused.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.set_printoptions(precision=2)
    >>> paddle.to_tensor([0.125, 1.0])
    Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=True,
           [0.12, 1.  ])
    >>> paddle.set_printoptions(precision=8)
    """
    global _options
    # In the order of _LEAST, which names them.
    integers = zip(_LEAST, (precision, threshold, edgeitems, linewidth), strict=True)
    changes: dict[str, Any] = {
        name: _checked_integer(name, value) for name, value in integers if value is not None
    }
    if sci_mode is not None:
        if not isinstance(sci_mode, bool | np.bool_):
            raise ArgumentTypeError(
                f"set_printoptions: write sci_mode=True or False, not {sci_mode!r}"
            )
        changes["sci_mode"] = bool(sci_mode)
    _options = replace(_options, **changes)


def _checked_integer(name: str, value: object) -> int:
    hint = f"write for instance {name}={getattr(PrintOptions, name)}"
    # A bool is an int to Python, but precision=True is a slip for another argument.
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ArgumentTypeError(
            f"set_printoptions: {name} must be an integer, not {value!r}; {hint}"
        )
    number = int(value)
    if not _LEAST[name] <= number <= _MOST.get(name, number):
        bounds = f"{_LEAST[name]} to {_MOST[name]}" if name in _MOST else f"{_LEAST[name]} or more"
        raise ArgumentError(f"set_printoptions: {name} must be {bounds}, not {number}; {hint}")
    return number


def format_tensor(
    data: NDArray[Any],
    *,
    dtype_name: str,
    stop_gradient: bool,
) -> str:
    """Return the text of a tensor, heading and body.

    Parameters
    ----------
    data : ndarray
        The value, of any shape.
    dtype_name : str
        The dtype as the heading names it, such as ``"float32"``.
    stop_gradient : bool
        Whether the tensor is cut off from differentiation.

    Examples
    --------
    >>> print(format_tensor(np.array([1.5, -2.0]), dtype_name="float64", stop_gradient=True))
    Tensor(shape=[2], dtype=float64, place=Place(cpu), stop_gradient=True,
           [1.50000000, -2.       ])
    """
    indent = len("Tensor(")
    return (
        f"Tensor(shape={list(data.shape)}, dtype={dtype_name}, place=Place(cpu), "
        f"stop_gradient={stop_gradient},\n{' ' * indent}{format_array(data, indent)})"
    )


def format_array(data: NDArray[Any], indent: int) -> str:
    """Return the elements of an array in nested brackets, or the bare element of a 0-d array.

    The time taken depends on the number of elements shown, not on the size of the array.

    Parameters
    ----------
    data : ndarray
        A bool, integer, float or complex array of any shape.
    indent : int
        The column of the first bracket: continuation lines are indented to match, and it counts
        against `PrintOptions.linewidth`. The first line itself is not indented.

    Examples
    --------
    >>> print(format_array(np.arange(6.0).reshape(2, 3) / 2, indent=0))
    [[0.        , 0.50000000, 1.        ],
     [1.50000000, 2.        , 2.50000000]]
    >>> print(format_array(np.arange(10**6), indent=0))
    [0     , 1     , 2     , ..., 999997, 999998, 999999]
    """
    options = _options
    # The size or, of an array without elements, the number of its empty rows: each takes a line.
    summarised = math.prod(takewhile(bool, data.shape)) > options.threshold
    ends = _ends(data, options.edgeitems)
    shown = ends if summarised else data
    spec = f".{options.precision}{'e' if options.sci_mode else 'f'}"
    # The reference measures the ends of the axes even when it shows everything: a longer element
    # in between stands out of its column.
    width, signed = _measure(ends if ends.size else shown, spec)
    texts = [_cell(value, spec, width, signed) for value in shown.ravel().tolist()]
    if not data.ndim:
        return texts[0]
    cells = np.array(texts, dtype=object).reshape(shown.shape)
    elided = [kept < length for kept, length in zip(shown.shape, data.shape, strict=True)]
    return _brackets(cells, elided, indent, width, options)


def format_cells(data: NDArray[Any]) -> NDArray[np.object_]:
    """Return the elements as texts of their own, for tables: none is padded, none left out.

    Examples
    --------
    >>> format_cells(np.array([[0.5, 1.0]])).tolist()
    [['0.50000000', '1.']]
    """
    spec = f".{_options.precision}{'e' if _options.sci_mode else 'f'}"
    texts = [_text(value, spec) for value in data.ravel().tolist()]
    return np.array(texts, dtype=object).reshape(data.shape)


def _ends(data: NDArray[Any], edge: int) -> NDArray[Any]:
    """Return the array without the middle of each axis that is longer than its two ends."""
    if any(length > 2 * edge for length in data.shape):
        kept = [np.arange(n) if n <= 2 * edge else np.r_[:edge, n - edge : n] for n in data.shape]
        data = data[np.ix_(*kept)]
    return data


def _measure(sample: NDArray[Any], spec: str) -> tuple[int, bool]:
    """Return the width of a column and whether it holds a negative number."""
    values = sample.ravel().tolist()
    width = max((len(_text(value, spec)) for value in values), default=0)
    return width, any(map(_is_negative, values))


def _cell(value: complex, spec: str, width: int, signed: bool) -> str:
    """Pad an element to the width of its column."""
    text = _text(value, spec)
    # Room for a missing minus, if the column has any: it is never widened for that.
    if signed and len(text) < width and not _is_negative(value):
        text = f" {text}"
    return text.ljust(width)


def _brackets(
    cells: NDArray[np.object_], elided: list[bool], indent: int, width: int, options: PrintOptions
) -> str:
    """Nest the cells in brackets, n - 1 line breaks between the blocks of n axes."""
    parts: list[str]
    if cells.ndim > 1:
        parts = [_brackets(block, elided[1:], indent + 1, width, options) for block in cells]
    else:
        parts = cells.tolist()
    if elided[0]:
        parts.insert(options.edgeitems, "...")
    if cells.ndim == 1:
        # Lines are broken after a count of cells: "..." takes the room of a whole one.
        count = max(1, (options.linewidth - indent) // (width + len(", ")))
        parts = [", ".join(parts[at : at + count]) for at in range(0, len(parts), count)]
    breaks = "\n" * max(1, cells.ndim - 1)
    return "[" + f",{breaks}{' ' * (indent + 1)}".join(parts) + "]"


def _text(value: complex, spec: str) -> str:
    """Write one element; `spec` is the format of a float that is not a whole number."""
    if isinstance(value, complex):
        return f"({value.real:{spec}}{value.imag:+{spec}}j)"
    if not isinstance(value, float):
        return str(value)
    # The reference tests for a whole number by comparing with the ceiling: infinity is one too.
    if spec.endswith("f") and (value.is_integer() or math.isinf(value)):
        return f"{value:.0f}."
    return f"{value:{spec}}"


def _is_negative(value: complex) -> bool:
    # NumPy's order of complex numbers, which the reference uses: by the real part first.
    return (value.real, value.imag) < (0, 0)
