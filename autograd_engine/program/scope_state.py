"""Variables of a scope that a step updates in place.

A step that is called again and again keeps what it updates in memory of its own. Meanwhile the
scope holds, in the place of each such array, where it is to be found. Whoever reads a variable is
handed a copy, the same one until the next step; whoever writes one, or is about to, has all of them
given back to the scope first.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from autograd_engine.core.locks import awaited_lock
from autograd_engine.core.spec import Array

if TYPE_CHECKING:
    from autograd_engine.program.scope import Scope

__all__ = ["Held", "Memory", "State", "in_order"]

_numbers: Final = itertools.count()
_STEPS: Final = 2  # locked after the scopes, see `docs/design`


class Memory(Protocol):
    """Where a step keeps one variable. It outlives the step, and keeps nothing of it alive."""

    def read(self) -> Array:
        """A copy of what is there."""

    def write(self, array: Array) -> None:
        """Let it hold the values of an array of the same Spec."""


@dataclass(slots=True, weakref_slot=True, eq=False)
class State:
    """What one step updates, wherever it keeps it, and who else may look."""

    # By the name of the variable. Read and written under `lock` alone.
    memory: Mapping[str, Memory]
    # Which scope has the variable.
    homes: dict[str, Scope] = field(default_factory=dict)
    # Held while the step runs, and while anything is copied.
    lock: threading.RLock = field(init=False)
    # Whether nothing has happened in the scope that the next step must know of. It becomes true
    # only under the lock of the scope.
    ready: bool = False
    # Goes up before the step writes.
    steps: int = 0
    # What was handed out since then, by the step after which it was.
    copies: dict[str, Array] = field(default_factory=dict)
    _copied: int = 0
    number: int = field(default_factory=_numbers.__next__)

    def __post_init__(self) -> None:
        # A child process has the arrays as they are when it is made: not in the middle of a step.
        self.lock = awaited_lock(_STEPS, self.number)

    def copy(self, name: str) -> Array:
        """A variable as the last step has left it."""
        with self.lock:
            copies = self.current_copies()
            found = copies.get(name)
            if found is None:
                found = copies[name] = self.memory[name].read()
            return found

    def current_copies(self) -> dict[str, Array]:
        """What was handed out since the last step."""
        if self._copied != self.steps:
            self.copies, self._copied = {}, self.steps
        return self.copies


class Held:
    """Stands in a scope for a variable of a `State`."""

    __slots__ = ("name", "state")

    def __init__(self, state: State, name: str) -> None:
        self.state = state
        self.name = name

    def seen(self) -> Array:
        """The variable for someone who may write to the array: the next step looks what he did."""
        with self.state.lock:
            self.state.ready = False
            return self.state.copy(self.name)


def in_order(states: Iterable[State]) -> list[State]:
    """The order in which several are locked, by all who do that."""
    return sorted(states, key=lambda s: s.number)
