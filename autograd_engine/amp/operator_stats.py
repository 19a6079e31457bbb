"""How many operations ran in which dtype: where mixed precision is at work, and where it is not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import BOOL, FLOAT16, FLOAT32, INEXACT
from autograd_engine.core.spec import Array
from autograd_engine.eager.observers import Observation, observed
from autograd_engine.eager.tape import Node
from autograd_engine.ops.registry.opdef import OpDef

__all__ = [
    "OperatorStats",
    "collect_operator_stats",
    "computed_in",
    "disable_operator_stats_collection",
    "enable_operator_stats_collection",
]

_COLUMNS = ("FP16 Calls", "BF16 Calls", "FP32 Calls", "Other Calls")


class OperatorStats(dict[str, list[int]]):
    """For each operation how often it ran in float16, bfloat16, float32, and in other dtypes.

    What a backward pass ran is named ``<operation>_grad``.
    """

    def ran(
        self, op: OpDef, operands: Sequence[Any], results: Sequence[Array], attrs: Mapping[str, Any]
    ) -> None:
        self.count(op.name, computed_in([*operands, *results]))

    def passed(self, node: Node, g: Any, results: Sequence[Any]) -> None:
        self.count(f"{node.name}_grad", computed_in([r for r in results if r is not None] or [g]))

    def count(self, name: str, dtype: np.dtype[Any]) -> None:
        counts = self.setdefault(name, [0, 0, 0, 0])
        if dtype == FLOAT16:
            counts[0] += 1
        elif dtype.name == "bfloat16":
            counts[1] += 1
        elif dtype == FLOAT32:
            counts[2] += 1
        else:
            counts[3] += 1

    def __str__(self) -> str:
        head, *columns = f"<{' Op Name ':-^40}", *(f"{f' {name} ':-^17}" for name in _COLUMNS)
        lines = [f"<{' op list ':-^120}>", " | ".join([head, *columns]) + ">"]
        for name in sorted(self):
            counts = [f"{count:<17}" for count in self[name]]
            lines.append("|  ".join([f"  {name:<40}", *counts]).rstrip())
        return "\n".join([*lines, f"<{f' op count: {len(self)} ':-^120}>"])


def computed_in(values: Sequence[Any]) -> np.dtype[Any]:
    """The dtype of the first of these that holds inexact numbers, else of the first."""
    dtypes = [np.dtype(getattr(v.dtype, "dtype", v.dtype)) for v in values if hasattr(v, "dtype")]
    return next((d for d in dtypes if d in INEXACT), dtypes[0] if dtypes else BOOL)


_enabled: list[Observation] = []


def enable_operator_stats_collection() -> None:
    """Count operations from here on by their dtype, until `disable_operator_stats_collection`.

    Operations of this thread, and task, are counted, those of backward passes too. A function that
    `jit.to_static` has traced is run eagerly meanwhile. Called again, it begins anew.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.ones([2, 2])
    >>> paddle.amp.debugging.enable_operator_stats_collection()
    >>> with paddle.amp.auto_cast():
    ...     y = (x @ x).sum()
    >>> disable = paddle.amp.debugging.disable_operator_stats_collection
    >>> disable()  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    <--...-- op list --...-->
    <--...-- Op Name --...-- | -- FP16 Calls --- | ... | -- FP32 Calls --- | -- Other Calls -->
      cast     |  1  |  0  |  2  |  0
      matmul   |  1  |  0  |  0  |  0
      sum      |  0  |  0  |  1  |  0
    <--...-- op count: 3 --...-->
    """
    _end()
    _enabled.append(Observation(OperatorStats()))


def disable_operator_stats_collection() -> None:
    """Stop counting, and print what was counted: see `enable_operator_stats_collection`."""
    stats = _end()
    if stats is not None:
        print(stats)


def _end() -> Any:
    if not _enabled:
        return None
    observation = _enabled.pop()
    observation.end()
    return observation.observer


@contextlib.contextmanager
def collect_operator_stats() -> Iterator[OperatorStats]:
    """Count the operations of a ``with`` block by their dtype, and print that in the end.

    Yields
    ------
    OperatorStats
        A dict of what has been counted so far: for each operation how often it ran in float16, in
        bfloat16, in float32 and in other dtypes.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.ones([2, 2])
    >>> with paddle.amp.debugging.collect_operator_stats() as stats:  # doctest: +ELLIPSIS
    ...     with paddle.amp.auto_cast():
    ...         y = x @ x
    <------...
    >>> stats["matmul"]
    [1, 0, 0, 0]
    """
    stats = OperatorStats()
    with observed(stats):
        yield stats
    print(stats)
