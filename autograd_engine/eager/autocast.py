"""The dtypes that operations compute in inside of `amp.auto_cast`: one decision for every mode.

A row of the table says what is good for it (`OpDef.amp`), a level what becomes of that. The casts
are operations, so a gradient comes back in the dtype of what was cast.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import FLOAT32, HALVES, INEXACT
from autograd_engine.core.spec import Spec
from autograd_engine.eager.generated_calls import general_calls
from autograd_engine.eager.grad_mode import mode_changed
from autograd_engine.eager.tensor import Tensor
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef

__all__ = ["Autocast", "autocasting"]

_ADD: Final = REGISTRY["add"]


class Autocast(NamedTuple):
    """What a block of `amp.auto_cast` says; equal where programs may serve for one another.

    Attributes
    ----------
    dtype : numpy.dtype
        The low one.
    level : {"OD", "O1", "O2"}
    promote : bool
        Whether rows that are neither low nor high take the widest dtype of their operands; else
        the low one.
    low, high : frozenset of str
        Names of rows that the user has put there.
    """

    dtype: np.dtype[Any]
    level: str = "O1"
    promote: bool = True
    low: frozenset[str] = frozenset()
    high: frozenset[str] = frozenset()

    def wanted(self, op: OpDef, dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any] | None:
        """What operands of these inexact dtypes are cast to; None where they stay as they are.

        Beside float64, and complex numbers, they do: what a user computes in these is meant to be.
        """
        kind = op.amp
        if kind is None or not dtypes or not all(map(_may_be_cast, dtypes)):
            return None
        if op.name in self.low or (kind == "low" and op.name not in self.high):
            return self.dtype
        if op.name in self.high or self.level == "OD" or kind == "always high":
            return FLOAT32
        if kind == "high" and self.level == "O1":
            return FLOAT32
        if not self.promote:
            return self.dtype
        return None if all(d is dtypes[0] for d in dtypes) else FLOAT32

    def operands(self, op: OpDef, operands: Sequence[Any]) -> Sequence[Any]:
        """`operands` of a call, cast; numbers take the dtype of what they stand beside anyway."""
        if op.amp is None:
            return operands
        known = [self._dtype_of(op, k, v) for k, v in enumerate(operands)]
        wanted = self.wanted(op, [d for d in known if d is not None])
        if wanted is None:
            return operands
        return [
            v if d is None or d == wanted else _cast(v, wanted)
            for v, d in zip(operands, known, strict=True)
        ]

    @staticmethod
    def _dtype_of(op: OpDef, position: int, operand: Any) -> np.dtype[Any] | None:
        """The dtype of an operand of inexact numbers whose values are computed with; else None."""
        if op.input_at(position) in op.untyped or not op.reads_value(position):
            return None
        if isinstance(operand, Tensor):
            dtype = operand._data.dtype
        elif isinstance(operand, np.ndarray):
            dtype = operand.dtype
        else:
            spec = getattr(operand, "spec", None)
            if not isinstance(spec, Spec):
                return None
            dtype = spec.dtype
        return dtype if dtype in INEXACT else None

    def beside(self, operand: Any, out: Any) -> Any:
        """`operand`, a bias, in the low dtype if `out` is: as if one operation made the sum."""
        low, have = self._dtype_of(_ADD, 0, out), self._dtype_of(_ADD, 1, operand)
        if low != self.dtype or have is None or have == low or not _may_be_cast(have):
            return operand
        return _cast(operand, low)


def _may_be_cast(dtype: np.dtype[Any]) -> bool:
    return dtype in HALVES or dtype == FLOAT32


def _cast(operand: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(operand, np.ndarray):
        return operand.astype(dtype)
    return ops.cast(operand, dtype=dtype.name)


@contextlib.contextmanager
def autocasting(autocast: Autocast | None) -> Iterator[None]:
    """Inside the ``with`` block operations of this thread, and task, cast their operands."""
    with contextlib.ExitStack() as stack:
        if autocast is not None:
            stack.enter_context(general_calls(_nothing, _nothing))
        stack.enter_context(mode_changed({"autocast": autocast}))
        yield


def _nothing() -> None:
    pass
