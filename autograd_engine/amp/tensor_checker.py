"""Looking at what operations make: NaN, infinity, and what float16 could not hold."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Final, ParamSpec, TypeVar

import numpy as np

from autograd_engine.amp.operator_stats import computed_in
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import FLOAT16, FLOATS, finfo
from autograd_engine.core.locations import Location, caller
from autograd_engine.core.spec import Array
from autograd_engine.eager.observers import Observation, observed
from autograd_engine.eager.tape import Node
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    AnomalyError,
    ArgumentError,
    ArgumentTypeError,
    NotATensorError,
)
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.scattered_cotangent import dense

__all__ = [
    "DebugMode",
    "TensorCheckerConfig",
    "check_layer_numerics",
    "check_numerics",
    "disable_tensor_checker",
    "enable_tensor_checker",
]

P = ParamSpec("P")
R = TypeVar("R")

_LOG: Final = "worker_cpu"  # of a file, before the number of the process


class DebugMode(Enum):
    """What is looked for, and what becomes of it.

    Attributes
    ----------
    CHECK_NAN_INF_AND_ABORT
        A tensor with NaN or infinity is an `AnomalyError`.
    CHECK_NAN_INF
        It is reported, and the computation goes on.
    CHECK_ALL_FOR_OVERFLOW
        So is one of float32 with numbers that float16 has not: too large, or all too small.
    CHECK_ALL
        Every tensor is reported.
    """

    CHECK_NAN_INF_AND_ABORT = 0
    CHECK_NAN_INF = 1
    CHECK_ALL_FOR_OVERFLOW = 2
    CHECK_ALL = 3


class _Numbers:
    """What there is to say of an array: counts, and the extent of what is finite or not."""

    def __init__(self, array: Array) -> None:
        wide = array.astype(np.float32) if array.dtype.itemsize < 4 else array
        self.dtype = array.dtype
        self.size = array.size
        self.nan = int(np.isnan(wide).sum())
        self.inf = int(np.isinf(wide).sum())
        self.zero = int((wide == 0).sum())
        with np.errstate(all="ignore"):
            self.values = (
                [float(wide.max()), float(wide.min()), float(wide.mean())]
                if array.size
                else [0.0, 0.0, 0.0]
            )
            magnitudes = np.abs(wide[np.isfinite(wide) & (wide != 0)])
        self.largest = float(magnitudes.max()) if magnitudes.size else 0.0

    @property
    def finite(self) -> bool:
        return not (self.nan or self.inf)

    def reported(self, mode: DebugMode) -> bool:
        if mode is DebugMode.CHECK_ALL or not self.finite:
            return True
        if mode is not DebugMode.CHECK_ALL_FOR_OVERFLOW:
            return False
        limits = finfo(FLOAT16)
        tiny = float(limits.smallest_subnormal)
        return self.largest > float(limits.max) or 0.0 < self.largest < tiny

    def line(self, op: str, tensor: str, at: Location) -> str:
        """A line of a report, which `compare_accuracy` reads."""
        level = "" if self.finite else "[ERROR] "
        values = zip(("max", "min", "mean"), self.values, strict=True)
        return (
            f"[PRECISION] {level}in [device=cpu, op={op}, tensor={tensor}, dtype={self.dtype.name}]"
            f", numel={self.size}, num_nan={self.nan}, num_inf={self.inf}, num_zero={self.zero}, "
            + ", ".join(f"{name}={value:e}" for name, value in values)
            + f", at {at}"
        )

    def error(self, op: str, tensor: str, at: Location) -> AnomalyError:
        found = [
            f"{count} of {self.size} elements {kind}"
            for count, kind in ((self.nan, "are NaN"), (self.inf, "are infinite"))
            if count
        ]
        text = at.text
        return AnomalyError(
            f"{op} at {at}" + (f" ({text})" if text else "") + f": of {tensor!r}, "
            f"{self.dtype.name}, {' and '.join(found)}. paddle.autograd.detect_anomaly() says what "
            "made them"
        )


def _array(value: Any) -> Array | None:
    """A floating array that is there."""
    if value is None:
        return None
    found = getattr(dense(value), "_data", value)
    return found if isinstance(found, np.ndarray) and found.dtype in FLOATS else None


class _Checker:
    """Looks at results of operations, and at gradients, as the configuration says."""

    def __init__(self, config: TensorCheckerConfig) -> None:
        self._mode = config.debug_mode
        self._checked = config._rows("checked_op_list")
        self._skipped = config._rows("skipped_op_list") or frozenset()
        self._lines: list[str] = []
        self._path: Path | None = None
        if config.output_dir is not None:
            self._path = Path(config.output_dir) / f"{_LOG}.{os.getpid()}.log"
            self._path.parent.mkdir(parents=True, exist_ok=True)

    def ran(
        self, op: OpDef, operands: Sequence[Any], results: Sequence[Array], attrs: Mapping[str, Any]
    ) -> None:
        if self._asked(op.name):
            for k, result in enumerate(results):
                self.look(op.name, op.output_at(k), result, caller())

    def passed(self, node: Node, g: Any, results: Sequence[Any]) -> None:
        name = node.name
        if self._asked(name):
            for k, result in zip(node.pullback.wanted, results, strict=False):
                self.look(f"{name}_grad", f"{node.pullback.op.input_at(k)}@GRAD", result, caller())

    def _asked(self, name: str) -> bool:
        return (self._checked is None or name in self._checked) and name not in self._skipped

    def look(self, op: str, tensor: str, value: Any, at: Location) -> None:
        array = _array(value)
        if array is None:
            return
        numbers = _Numbers(array)
        if not numbers.reported(self._mode):
            return
        line = numbers.line(op, tensor, at)
        if self._path is None:
            print(line)
        else:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        if self._mode is DebugMode.CHECK_NAN_INF_AND_ABORT:
            raise numbers.error(op, tensor, at)


class TensorCheckerConfig:
    """What `enable_tensor_checker` is to look at, and what for.

    Parameters
    ----------
    enable : bool
        With False nothing is looked at.
    debug_mode : DebugMode
    output_dir : str, optional
        A folder for a file of reports, which is added to; else they are printed.
    checked_op_list, skipped_op_list : list or tuple of str, optional
        Names of operations, those of rows or of Paddle's operators: look at these alone, or at all
        but these. The steps of backward passes belong to their operations.
    debug_step : list or tuple of two ints, optional
        Look only from the first to before the second call of `enable_tensor_checker`, counted from
        0: one call for each training step.
    stack_height_limit : int
        Accepted for the reference's sake: each report names the line of the user's.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> debugging = paddle.amp.debugging
    >>> config = debugging.TensorCheckerConfig(True, debugging.DebugMode.CHECK_NAN_INF)
    >>> debugging.enable_tensor_checker(config)
    >>> y = paddle.log(paddle.to_tensor([1.0, 0.0]))  # doctest: +ELLIPSIS
    [PRECISION] [ERROR] in [device=cpu, op=log, tensor=out, dtype=float32], numel=2, num_nan=0, ...
    >>> debugging.disable_tensor_checker()
    """

    current_step_id: ClassVar[int] = 0

    def __init__(
        self,
        enable: bool,
        debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
        output_dir: str | None = None,
        checked_op_list: Sequence[str] | None = None,
        skipped_op_list: Sequence[str] | None = None,
        debug_step: Sequence[int] | None = None,
        stack_height_limit: int = 1,
    ) -> None:
        require_bools("TensorCheckerConfig", enable=enable)
        self.enable = enable
        self.debug_mode = _mode("TensorCheckerConfig", debug_mode)
        self.output_dir = output_dir
        self.checked_op_list = checked_op_list
        self.skipped_op_list = skipped_op_list
        self.debug_step = debug_step
        self.stack_height_limit = stack_height_limit
        for name in ("checked_op_list", "skipped_op_list"):
            self._rows(name)
        if debug_step is not None:
            valid = isinstance(debug_step, (list, tuple)) and len(debug_step) == 2
            if not valid or not all(isinstance(n, int) for n in debug_step):
                raise ArgumentError(
                    "TensorCheckerConfig: debug_step must be two ints, from which step and to "
                    f"before which, as in debug_step=[0, 10]; got {debug_step!r}"
                )
            if debug_step[0] >= debug_step[1]:
                raise ArgumentError(
                    "TensorCheckerConfig: debug_step must end after it begins, got "
                    f"{list(debug_step)}"
                )

    def _rows(self, argument: str) -> frozenset[str] | None:
        """The rows that one of the lists names."""
        given = getattr(self, argument)
        if given is None:
            return None
        if isinstance(given, str) or not isinstance(given, (list, tuple, set, frozenset)):
            raise ArgumentTypeError(
                f"TensorCheckerConfig: {argument} must be a list of names, got "
                f"{type(given).__name__}: write {argument}=['matmul']"
            )
        found: set[str] = set()
        for name in given:
            rows = _rows_named().get(name) if isinstance(name, str) else None
            if rows is None:
                raise ArgumentError(
                    f"TensorCheckerConfig: {argument} names {name!r}, which is no operation; "
                    "collect_operator_stats() prints the names of those that run"
                )
            found |= rows
        return frozenset(found)

    def update_and_check_step_id(self) -> bool:
        """Count a step, and say whether it is to be looked at."""
        step = TensorCheckerConfig.current_step_id
        TensorCheckerConfig.current_step_id += 1
        if not self.enable:
            return False
        if self.debug_step is None:
            return True
        first, last = self.debug_step
        return first <= step < last

    def start_check_nan_inf(self) -> None:
        """Look from here on."""
        if self.enable:
            _stop()
            observation = Observation(_Checker(self))
            _enabled.append((observation, np.seterr(all="ignore")))

    def stop_check_nan_inf(self) -> None:
        """Look no more."""
        _stop()


@functools.cache
def _rows_named() -> dict[str, frozenset[str]]:
    """Rows by their names, and by those that the reference has for them."""
    found: dict[str, set[str]] = {}
    for op in REGISTRY.values():
        for name in (op.name, *op.types):
            found.setdefault(name, set()).add(op.name)
    return {name: frozenset(rows) for name, rows in found.items()}


# What looks, and what NumPy did about what is reported here.
_enabled: list[tuple[Observation, Any]] = []


def enable_tensor_checker(checker_config: TensorCheckerConfig) -> None:
    """Look at what operations of this thread, and task, make from here on, and at gradients.

    A function that `jit.to_static` has traced is run eagerly meanwhile. NumPy does not warn of what
    is looked for.

    Parameters
    ----------
    checker_config : TensorCheckerConfig

    Raises
    ------
    AnomalyError
        From an operation, or a backward pass, that made NaN or infinity, in that mode.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> debugging = paddle.amp.debugging
    >>> debugging.enable_tensor_checker(debugging.TensorCheckerConfig(True))
    >>> paddle.log(paddle.to_tensor([1.0, 0.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    autograd_engine.errors.AnomalyError: log at ...: of 'out', float32, 1 of 2 elements are ...
    >>> debugging.disable_tensor_checker()
    """
    if not isinstance(checker_config, TensorCheckerConfig):
        raise ArgumentTypeError(
            "enable_tensor_checker takes a TensorCheckerConfig, got "
            f"{type(checker_config).__name__}"
        )
    if checker_config.update_and_check_step_id():
        checker_config.start_check_nan_inf()
    else:
        checker_config.stop_check_nan_inf()


def disable_tensor_checker() -> None:
    """Look no more: see `enable_tensor_checker`."""
    _stop()


def _stop() -> None:
    while _enabled:
        observation, warnings = _enabled.pop()
        observation.end()
        np.seterr(**warnings)


def check_numerics(
    tensor: Tensor,
    op_type: str,
    var_name: str,
    debug_mode: DebugMode = DebugMode.CHECK_NAN_INF_AND_ABORT,
) -> tuple[Tensor, Tensor]:
    """Count what is not finite in a tensor, and say so.

    Parameters
    ----------
    tensor : Tensor
        Of floats.
    op_type, var_name : str
        What a report calls its operation, and it.
    debug_mode : DebugMode

    Returns
    -------
    stats : Tensor
        int64 [3]: how many elements are NaN, infinite, zero.
    values : Tensor
        float32 [3]: the largest, the smallest, and the mean.

    Raises
    ------
    AnomalyError
        When some are not finite, in that mode.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> debugging = paddle.amp.debugging
    >>> x = paddle.to_tensor([1.0, 0.0, 3.0])
    >>> stats, values = debugging.check_numerics(x, "relu", "x")
    >>> stats.tolist(), values.tolist()[:2]
    ([0, 0, 1], [3.0, 0.0])
    """
    if not isinstance(tensor, Tensor):
        raise NotATensorError(f"check_numerics takes a Tensor, got {type(tensor).__name__}")
    mode = _mode("check_numerics", debug_mode)
    array = _array(tensor)
    if array is None:
        dtype = computed_in([tensor])
        raise ArgumentTypeError(f"check_numerics takes a Tensor of floats, got one of {dtype.name}")
    numbers, at = _Numbers(array), caller()
    if numbers.reported(mode):
        if mode is DebugMode.CHECK_NAN_INF_AND_ABORT:
            raise numbers.error(op_type, var_name, at)
        print(numbers.line(op_type, var_name, at))
    stats = np.array([numbers.nan, numbers.inf, numbers.zero], np.int64)
    return Tensor._wrap(stats), Tensor._wrap(np.array(numbers.values, np.float32))


def check_layer_numerics(func: Callable[P, R]) -> Callable[P, R]:
    """Decorate the ``forward`` of a layer: NaN and infinity in it, or handed to it, are errors.

    Raises
    ------
    AnomalyError
        With the operation, and its line, that made the first one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> class Reciprocal(paddle.nn.Layer):
    ...     @paddle.amp.debugging.check_layer_numerics
    ...     def forward(self, x):
    ...         return 1.0 / x
    >>> Reciprocal()(paddle.to_tensor([1.0, 0.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    autograd_engine.errors.AnomalyError: divide at ...: of 'out', float32, 1 of 2 elements are ...
    """

    @functools.wraps(func)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        checker = _Checker(_ABORT)
        for k, value in enumerate(_tensors([*args[1:], *kwargs.values()])):
            checker.look(getattr(func, "__qualname__", "forward"), f"input {k}", value, caller())
        with observed(checker), np.errstate(all="ignore"):
            return func(*args, **kwargs)

    return checked


def _tensors(values: Iterable[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _tensors(value)
    return found


def _mode(function: str, mode: Any) -> DebugMode:
    if not isinstance(mode, DebugMode):
        names = ", ".join(f"DebugMode.{m.name}" for m in DebugMode)
        raise ArgumentError(f"{function}: debug_mode must be one of {names}; got {mode!r}")
    return mode


_ABORT: Final = TensorCheckerConfig(True)
