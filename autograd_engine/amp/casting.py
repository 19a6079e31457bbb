"""`auto_cast`: blocks whose operations run in a low dtype where that is good for them."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import numpy as np

from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import FLOAT16, FLOAT32, HALVES, DTypeLike, as_dtype, bfloat16
from autograd_engine.eager.autocast import Autocast, autocasting
from autograd_engine.eager.grad_mode import decorated, grad_mode
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError
from autograd_engine.ops.registry.opdef import REGISTRY

__all__ = [
    "amp_guard",
    "auto_cast",
    "autocast",
    "autocast_of",
    "black_list",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "half_dtype",
    "is_autocast_enabled",
    "is_bfloat16_supported",
    "is_float16_supported",
    "level_of",
    "listed_rows",
    "rows_in",
    "white_list",
]

F = TypeVar("F", bound=Callable[..., Any])

_LEVELS: Final = ("O0", "OD", "O1", "O2")


class auto_cast(autocasting):  # noqa: N801 - the public name
    """Run operations in a low dtype where that is good for them: mixed precision.

    A context manager and a decorator, for eager calls, for what is appended to a program and for
    functions that are traced. Operands of 16 and of 32 bits are cast, by operations that gradients
    come back through in the dtype of what was cast; float64 and complex numbers are left alone. The
    backward pass of what is recorded here casts nothing more.

    Parameters
    ----------
    enable : bool
        ``False`` runs a block inside of another one as if that were not there.
    custom_white_list : list, tuple or set of str, optional
        Operations to run in the low dtype besides: names of Paddle's operators, such as
        ``"conv2d"``, or of rows of the table.
    custom_black_list : list, tuple or set of str, optional
        Operations to run in float32.
    level : {"O0", "OD", "O1", "O2"}
        "O1": products (matmul, convolutions, attention, recurrent layers) in the low dtype;
        exponentials, logarithms, powers, sums, norms and losses in float32; all other operations in
        the widest dtype of their operands. "O2": for parameters that are of the low dtype (see
        `decorate`); what has no kernel for it, as decompositions of matrices, is in float32, and
        products in the low dtype. "OD": products in the low dtype, all else in float32. "O0": off.
    dtype : {"float16", "bfloat16"}
        The low dtype.
    use_promote : bool
        At level "O2": let operations that are in no list take the widest dtype of their operands;
        otherwise they are in the low dtype.

    Raises
    ------
    ArgumentError
        For a level or an operation that there is not, or one that is in both lists.
    DTypeError
        For a dtype that there is not.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.ones([2, 2])
    >>> with paddle.amp.auto_cast():
    ...     y = w @ w
    ...     total = y.sum()
    >>> y.dtype, total.dtype
    (paddle.float16, paddle.float32)
    """

    def __init__(
        self,
        enable: bool = True,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        level: str = "O1",
        dtype: DTypeLike = "float16",
        use_promote: bool = True,
    ) -> None:
        require_bools("auto_cast", enable=enable, use_promote=use_promote)
        level = level_of("auto_cast", level)
        rows = listed_rows("auto_cast", custom_white_list, custom_black_list)
        autocast = None
        if enable and level != "O0":
            chosen = half_dtype("auto_cast", "dtype", dtype)
            autocast = autocast_of(chosen, level, use_promote or level != "O2", *rows)
        super().__init__(autocast)

    def __call__(self, function: F) -> F:
        return decorated(function, functools.partial(autocasting, self._autocast), "auto_cast")


amp_guard = auto_cast


def autocast(
    device_type: Any = None,
    dtype: DTypeLike = "float16",
    enabled: bool = True,
    cache_enabled: bool = True,
) -> auto_cast:
    """`auto_cast` at level "O1", with PyTorch's arguments.

    Parameters
    ----------
    device_type : str, optional
        Accepted for the reference's sake, as `cache_enabled` is.
    dtype : {"float16", "bfloat16"}
    enabled, cache_enabled : bool

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.ones([2, 2])
    >>> with paddle.autocast("cpu", dtype=paddle.float16):
    ...     y = w @ w
    >>> y.dtype
    paddle.float16
    """
    return auto_cast(enabled, dtype=dtype)


def level_of(owner: str, level: Any) -> str:
    """A level in capitals."""
    if not isinstance(level, str) or level.upper() not in _LEVELS:
        raise ArgumentError(f"{owner}: level must be O0, OD, O1 or O2; got {level!r}")
    return level.upper()


def half_dtype(owner: str, argument: str, dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype of floats of 16 bits that is meant."""
    found = as_dtype(dtype.lower() if isinstance(dtype, str) else dtype)
    if found.dtype not in HALVES:
        raise ArgumentError(
            f"{owner}: {argument} must be 'float16' or 'bfloat16', got {found.name!r}"
        )
    return found.dtype


@functools.cache
def _by_name() -> dict[str, frozenset[str]]:
    """Rows by what lists may call them."""
    found: dict[str, set[str]] = {}
    for op in REGISTRY.values():
        if op.amp is not None:
            for name in (op.name, *op.types):
                found.setdefault(name, set()).add(op.name)
    return {name: frozenset(rows) for name, rows in found.items()}


autocast_of: Final = functools.lru_cache(64)(Autocast)  # one remembers what rows are cast to
_NO_ROWS: Final[frozenset[str]] = frozenset()


def listed_rows(owner: str, white: Any, black: Any) -> tuple[frozenset[str], frozenset[str]]:
    """The rows that lists of the user's name."""
    if white is None and black is None:
        return _NO_ROWS, _NO_ROWS
    low = _rows(owner, "custom_white_list", white)
    high = _rows(owner, "custom_black_list", black)
    if both := sorted(low.keys() & high.keys()):
        raise ArgumentError(
            f"{owner}: {', '.join(map(repr, both))} is in custom_white_list and in "
            "custom_black_list; leave it out of one"
        )
    rows = [frozenset(row for found in given.values() for row in found) for given in (low, high)]
    if shared := sorted(rows[0] & rows[1]):
        raise ArgumentError(
            f"{owner}: {_named(low, shared[0])!r} of custom_white_list and "
            f"{_named(high, shared[0])!r} of custom_black_list are both computed by "
            f"{shared[0]!r}; leave one of them out"
        )
    return rows[0], rows[1]


def _rows(owner: str, argument: str, given: Any) -> dict[str, frozenset[str]]:
    """For each name of a list the rows that it means."""
    if given is None:
        return {}
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ArgumentTypeError(
            f"{owner}: {argument} must be a list, tuple or set of names, got "
            f"{type(given).__name__}: write {argument}={{'conv2d'}}"
        )
    found = {}
    for name in given:
        rows = _by_name().get(name) if isinstance(name, str) else None
        if rows is None:
            names = sorted(_by_name())
            close = difflib.get_close_matches(str(name), names, n=1)
            raise ArgumentError(
                f"{owner}: {argument} names {name!r}, which is no operation whose operands are "
                f"cast. {f'Did you mean {close[0]!r}? ' if close else ''}"
                f"There are {', '.join(names)}"
            )
        found[name] = rows
    return found


def _named(given: dict[str, frozenset[str]], row: str) -> str:
    return next(name for name, rows in given.items() if row in rows)


def rows_in(autocast: Autocast, dtype: np.dtype[Any] | None) -> set[str]:
    """What lists may call the rows whose operands are cast to `dtype`; None: to their widest."""
    return {
        name
        for op in REGISTRY.values()
        if op.amp is not None and autocast.fixed(op) == dtype
        for name in (op.name, *op.types)
    }


def _by_level(low: bool) -> dict[str, dict[str, set[str]]]:
    found: dict[str, dict[str, set[str]]] = {}
    for dtype in (FLOAT16, bfloat16()) if is_bfloat16_supported() else (FLOAT16,):
        found[dtype.name] = {
            level: rows_in(autocast_of(dtype, level), dtype if low else FLOAT32)
            for level in ("OD", "O1", "O2")
        }
    return found


def white_list() -> dict[str, dict[str, set[str]]]:
    """What runs in the low dtype, by dtype and level: names that `custom_white_list` takes.

    Examples
    --------
    >>> sorted(white_list()["float16"]["O1"] & {"conv2d", "matmul_v2", "softmax"})
    ['conv2d', 'matmul_v2']
    """
    return _by_level(low=True)


def black_list() -> dict[str, dict[str, set[str]]]:
    """What runs in float32, by dtype and level: names that `custom_black_list` takes.

    Examples
    --------
    >>> [level for level, names in black_list()["float16"].items() if "softmax" in names]
    ['OD', 'O1']
    """
    return _by_level(low=False)


def is_autocast_enabled(device_type: Any = None) -> bool:
    """Whether this thread, or task, is inside of an `auto_cast` block that casts.

    Examples
    --------
    >>> with auto_cast():
    ...     is_autocast_enabled()
    True
    """
    return grad_mode.autocast is not None


def get_autocast_dtype(device_type: Any = None) -> str:
    """Name of the low dtype of the `auto_cast` block around the call; ``"float16"`` outside of one.

    Examples
    --------
    >>> get_autocast_dtype()
    'float16'
    """
    autocast = grad_mode.autocast
    return "float16" if autocast is None else str(as_dtype(autocast.dtype).name)


def get_autocast_cpu_dtype(device_type: Any = None) -> str:
    """`get_autocast_dtype`"""
    return get_autocast_dtype()


def get_autocast_gpu_dtype(device_type: Any = None) -> str:
    """`get_autocast_dtype`"""
    return get_autocast_dtype()


def is_float16_supported(device: str | None = None) -> bool:
    """Whether there is the dtype float16: there always is.

    Examples
    --------
    >>> is_float16_supported()
    True
    """
    return True


def is_bfloat16_supported(device: str | None = None) -> bool:
    """Whether there is the dtype bfloat16 here."""
    try:
        as_dtype("bfloat16")
    except (DTypeError, ImportError):
        return False
    return True
