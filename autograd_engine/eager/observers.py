"""Who is told of each operation that runs on tensors, and of each step of a backward pass."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from autograd_engine.core.spec import Array
from autograd_engine.eager.generated_calls import general_calls
from autograd_engine.eager.grad_mode import Mode, current_mode, mode_changed, modes
from autograd_engine.eager.tape import Node
from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["Observation", "Observer", "observed"]


class Observer(Protocol):
    """What it is told, in the thread, or task, that asked for it."""

    def ran(
        self, op: OpDef, operands: Sequence[Any], results: Sequence[Array], attrs: Mapping[str, Any]
    ) -> None:
        """An operation has run."""

    def passed(self, node: Node, g: Any, results: Sequence[Any]) -> None:
        """A backward pass has made cotangents, `results`, of that of a node, `g`."""


@contextlib.contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Inside the ``with`` block `observer` is told."""
    with (
        general_calls(_nothing, _nothing),
        mode_changed({"observers": (*current_mode().observers, observer)}),
    ):
        yield


class Observation:
    """The same from a call to another: of this thread, or task, and of blocks around no more."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._calls = contextlib.ExitStack()
        self._calls.enter_context(general_calls(_nothing, _nothing))
        modes.put(Mode({"observers": (*current_mode().observers, observer)}, {}))

    def end(self) -> None:
        left = tuple(o for o in current_mode().observers if o is not self.observer)
        modes.put(Mode({"observers": left}, {}))
        self._calls.close()


def _nothing() -> None:
    pass
