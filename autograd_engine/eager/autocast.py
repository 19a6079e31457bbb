"""The dtypes that operations compute in inside of `amp.auto_cast`: one decision for every mode.

A row of the table says what is good for it (`OpDef.amp`), a level what becomes of that. The casts
are operations, so a gradient comes back in the dtype of what was cast.

A parameter that several operations read is rounded once in a block. What is kept is the array, not
the operation: each of them has a cast of its own on the tape, so cotangents meet at the parameter,
in float32, no pass frees what another needs, and nothing is kept that recording would change.
Arrays are never written while somebody holds them, so one that was replaced is found by that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from sys import _getframe
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import FLOAT32, HALVES, INEXACT
from autograd_engine.core.locations import user_frame_from
from autograd_engine.core.overrides import OverridingBlock
from autograd_engine.core.spec import Array, Spec
from autograd_engine.eager.generated_calls import begin_casting, end_calls
from autograd_engine.eager.grad_mode import Mode, current_mode, modes
from autograd_engine.eager.record import CAST, results_of
from autograd_engine.eager.tape import Node
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import DTypeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef

__all__ = ["Autocast", "autocasting"]

_ADD: Final = REGISTRY["add"]
_CASTING: Final = CAST.pullback(1)
_NUMBERS: Final = (int, float, bool)
_NONE: Final[Mapping[str, Any]] = {}


class _Plan(NamedTuple):
    """What becomes of the operands of a row: `where` those of inexact numbers may stand, and the
    dtype that they are cast to; None where that depends on their own.
    """

    where: Sequence[int]
    dtype: np.dtype[Any] | None


@dataclass(frozen=True)
class Autocast:
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
    _plans: dict[OpDef, _Plan] = field(default_factory=dict, compare=False, repr=False)

    @property
    def casts_all(self) -> bool:
        """Whether rows that would take the widest dtype of their operands may take another."""
        return self.level == "OD" or not self.promote or bool(self.low or self.high)

    def wanted(self, op: OpDef, dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any] | None:
        """What operands of these inexact dtypes are cast to; None where they stay as they are.

        Beside float64, and complex numbers, they do: what a user computes in these is meant to be.
        """
        kind = op.amp
        if kind is None or not dtypes or not all(map(_may_be_cast, dtypes)):
            return None
        fixed = self.fixed(op)
        if fixed is not None:
            return fixed
        return None if all(d is dtypes[0] for d in dtypes) else FLOAT32

    def fixed(self, op: OpDef) -> np.dtype[Any] | None:
        """The dtype that operands are cast to whatever they are; None: to the widest of theirs."""
        kind = op.amp
        if op.name in self.low or (kind == "low" and op.name not in self.high):
            return self.dtype
        if op.name in self.high or self.level == "OD" or kind == "always high":
            return FLOAT32
        if kind == "high" and self.level == "O1":
            return FLOAT32
        return None if self.promote else self.dtype

    def tensors(self, op: OpDef, operands: tuple[Any, ...]) -> Sequence[Any] | None:
        """`operands`, in the usual case: all are Tensors and numbers; None where they are not.

        What `operands` does takes several times as long.
        """
        plan = self._plans.get(op)
        if plan is None:
            plan = self._plans[op] = self._plan(op)
        where, wanted = plan
        if op.variadic:
            where = range(len(operands))
        first: Any = wanted
        to_cast = []
        for k in where:
            operand = operands[k]
            if not isinstance(operand, Tensor):
                if operand.__class__ in _NUMBERS:
                    continue
                return None
            dtype = operand._data.dtype
            if dtype is first:
                continue
            if dtype is FLOAT32 or dtype in HALVES:
                if wanted is None:
                    if first is not None:
                        return None
                    first = dtype
                else:
                    to_cast.append(k)
            elif dtype in INEXACT:
                return operands
        if not to_cast:
            return operands
        cast = list(operands)
        for k in to_cast:
            cast[k] = _cast(operands[k], first)
        return cast

    def _plan(self, op: OpDef) -> _Plan:
        if op.amp is None:
            return _Plan((), None)
        where = [
            k for k, name in enumerate(op.inputs) if name not in op.untyped and op.reads_value(k)
        ]
        return _Plan(where, self.fixed(op))

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
        if self.fixed(_ADD) == FLOAT32:  # the sum is not computed in the low one
            return operand
        low, have = self._dtype_of(_ADD, 0, out), self._dtype_of(_ADD, 1, operand)
        if low != self.dtype or have is None or have == low or not _may_be_cast(have):
            return operand
        return _cast(operand, low)


def _may_be_cast(dtype: np.dtype[Any]) -> bool:
    return dtype in HALVES or dtype == FLOAT32


def _cast(operand: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(operand, Tensor):
        if operand._node is None and not operand._stop:
            mode = current_mode()
            if mode.rounded is not None and mode.trace is None:
                return _leaf_cast(operand, dtype, mode.rounded)
    elif isinstance(operand, np.ndarray):
        return operand.astype(dtype)
    return ops.cast(operand, dtype=dtype.name)


def _leaf_cast(leaf: Tensor, dtype: np.dtype[Any], rounded: dict[int, tuple[Array, Array]]) -> Any:
    """The cast of a leaf that wants a gradient, of an array that may be there."""
    data = leaf._data
    if data.dtype in HALVES and dtype in HALVES:
        raise DTypeError(
            f"auto_cast: {leaf.name} is {data.dtype.name} and would be rounded to {dtype.name}, "
            f"which has other numbers: use auto_cast(dtype={data.dtype.name!r}), or "
            f"decorate(..., dtype={dtype.name!r}) where the model is made"
        )
    held = rounded.get(id(data))
    if held is None or held[1].dtype is not dtype:
        held = rounded[id(data)] = data, CAST.kernel(data, dtype=dtype.name)
    mode, attrs = current_mode(), {"dtype": dtype.name}
    if mode.enabled is not True or mode.observers:
        return results_of(CAST, (leaf,), (data,), held[1:], attrs)
    frame = user_frame_from(_getframe(1))
    saved = _CASTING.save(*held)
    made = Node.of(_CASTING, (leaf,), saved, attrs, frame.f_code, frame.f_lasti)
    return Tensor._wrap(held[1], made)


class autocasting(OverridingBlock):  # noqa: N801 - used as a function in `with`
    """Inside the ``with`` block operations of this thread, and task, cast their operands."""

    _overrides = modes

    def __init__(self, autocast: Autocast | None) -> None:
        super().__init__()
        self._autocast = autocast

    def _override(self) -> Mode:
        rounded = current_mode().rounded
        return Mode(
            {"autocast": self._autocast, "rounded": {} if rounded is None else rounded}, _NONE
        )

    def __enter__(self) -> None:
        super().__enter__()
        if self._autocast is not None:
            try:
                begin_casting(self._open[-1], self._autocast.casts_all)
            except BaseException:  # an interrupt, and nobody will call __exit__
                self.__exit__(None, None, None)
                raise

    def __exit__(self, *error: Any) -> None:
        left, _ = self._leave()
        if self._autocast is not None:
            end_calls(left)
