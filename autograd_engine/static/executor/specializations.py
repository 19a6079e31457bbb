"""What was compiled of a program for inputs of certain sizes.

Compiling takes time, and someone may run a program once, or with other sizes each time. So the
straight-line function, which serves all sizes, runs what comes for the first time, and few
specializations are kept.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from autograd_engine.core.dtypes import INTEGERS
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.spec import Spec, ValueSpec
from autograd_engine.ops.registry.number_inputs import NumberInputOp
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.ir.program import Ref
from autograd_engine.static.executor.backend_choice import Attempt, Work, compiled_by
from autograd_engine.static.flags import flags

if TYPE_CHECKING:
    from autograd_engine.compiler.backend import Compiled
    from autograd_engine.program.scope import Scope
    from autograd_engine.static.executor.bound_program import Binding

__all__ = ["Specialization", "Specializations"]

_TRIALS: Final = 2
_KEPT: Final = 8
_MOST: Final = 32  # that are compiled at all, for each program, fetches and backend


@dataclass(slots=True, weakref_slot=True, eq=False)
class Specialization:
    """A program for inputs of certain sizes."""

    specs: list[Spec]
    first: bool  # whether these are the sizes that came before all others
    runs: int = 0  # how often it was asked for
    compiled: Compiled | None = None  # None until it is, and where it cannot be
    attempts: list[Attempt] | None = None  # None until it was tried
    refused: str = ""  # why it was not tried; or what went wrong when it ran
    # How arguments and results of the work lie in those of what was compiled, once it ran.
    layout: Any = None
    # Strides of what the straight-line function returned, where that was looked at.
    layouts: list[tuple[int, ...] | None] | None = None
    bindings: weakref.WeakKeyDictionary[Scope, Binding] = field(
        default_factory=weakref.WeakKeyDictionary
    )

    def give_up(self, why: str) -> None:
        """Run it as straight-line Python from now on."""
        self.compiled, self.refused = None, why
        self.bindings.clear()


class Specializations:
    """Specializations of one program for one backend.

    Attributes
    ----------
    numbers : tuple of int
        Positions of inputs whose values are sizes, or other numbers that operations take: what is
        compiled is for these values as it is for shapes.
    """

    def __init__(self, work: Work, backend: str, *, by_value: bool = False) -> None:
        self.work = work
        self.backend = backend
        self.made = 0
        self.numbers = _numbers(work) if by_value else ()
        # A training is no single run, and one that goes on shall run as if it had never stopped.
        self._trains = any(o.role == "optimize" for o in work.operators)
        self._first: Hashable = None
        self._kept: OrderedDict[Hashable, Specialization] = OrderedDict()
        self._lock = renewed_lock()
        self._compiling = renewed_lock()

    def __len__(self) -> int:
        return len(self._kept)

    def at(self, arrays: Sequence[Any], more: Sequence[Spec] = ()) -> Specialization:
        """The specialization for these arrays (or Specs), and `more`, which are always the same."""
        key: tuple[Any, ...] = tuple([(a.shape, a.dtype) for a in arrays])
        numbers = {
            k: arrays[k] for k in self.numbers if k < len(arrays) and hasattr(arrays[k], "tobytes")
        }
        if numbers:
            key += tuple([a.tobytes() for a in numbers.values()])
        with self._lock:
            found = self._kept.get(key)
            if self._first is None:
                self._first = key
            if found is None:
                specs = [Spec(a.shape, a.dtype) for a in arrays]
                for k, a in numbers.items():
                    specs[k] = ValueSpec.of(specs[k], a)
                found = self._kept[key] = Specialization([*specs, *more], key == self._first)
                if len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(key)
        return found

    def waits(self, specialization: Specialization, runs: int) -> bool:
        """Whether a run is left to Python, `runs` being how many there were, with this one."""
        least = flags.runs_before_compiling
        if least is None:
            least = 0 if self._trains and specialization.first else _TRIALS
        return runs <= least

    def ready(self, specialization: Specialization) -> Compiled | None:
        """What runs it, compiled if it was not yet; None: the straight-line function."""
        if specialization.attempts is None:
            self._compile(specialization)
        return specialization.compiled

    def close(self) -> None:
        """Let nothing of it run by the short way."""
        with self._lock:
            for specialization in self._kept.values():
                for binding in specialization.bindings.values():
                    binding.version = -1

    def _compile(self, specialization: Specialization) -> None:
        with self._compiling:
            if specialization.attempts is not None:
                return
            if self.made >= _MOST:
                specialization.attempts = []
                specialization.refused = (
                    f"it was compiled for {_MOST} different sizes already; what is fed keeps "
                    "changing its shape"
                )
                return
            self.made += 1
            specialization.compiled, specialization.attempts = compiled_by(
                self.backend, self.work, specialization.specs
            )


def _numbers(work: Work) -> tuple[int, ...]:
    """The inputs from which integers follow that operations take as numbers."""
    wanted = {
        o.key
        for operator in work.operators
        if isinstance(operator.op, NumberInputOp)
        for o in operator.op.numbers(operator.operands)
        if isinstance(o, Ref)
    }
    if not wanted:
        return ()
    for operator in reversed(work.operators):
        op = operator.op
        if isinstance(op, OpDef) and op.symbolic and any(r.key in wanted for r in operator.results):
            read = enumerate(operator.operands)
            wanted |= {o.key for k, o in read if isinstance(o, Ref) and op.reads_value(k)}
    return tuple(
        [
            k
            for k, ref in enumerate(work.inputs)
            if ref.key in wanted and ref.spec.dtype in INTEGERS and not ref.var.persistable
        ]
    )
