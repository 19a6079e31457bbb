"""What a backend makes of a graph, and what the executor asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from autograd_engine.core.spec import Array

__all__ = ["Bound", "Compiled", "Placement"]


class Placement(NamedTuple):
    """Where an operation of a program runs, and why there; see `Executor.explain`.

    Attributes
    ----------
    operation : str
    where : str
        "fused loop", "BLAS", "kernel", "NumPy", ...
    why : str
        Empty where there is nothing to say.
    line : str
        The user's.
    """

    operation: str
    where: str
    why: str
    line: str


class Compiled(Protocol):
    """A graph compiled: sizes are fixed, values are not.

    Attributes
    ----------
    backend : str
    updates : dict of int to int
        Position of an output to the position of the input that it is the new value of, and whose
        memory it may take: a parameter after a step, and before.
    source : str
        The text that was generated.
    """

    backend: str
    updates: dict[int, int]
    source: str

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """The outputs as arrays of their own; nothing that was given is written.

        Several threads may call at once.
        """

    def bind(self, arrays: Sequence[Array]) -> Bound:
        """A run on these very arrays, those of `updates` written in place; see `Bound`."""

    def placements(self) -> list[Placement]:
        """Where each operation runs."""


class Bound(Protocol):
    """A run on fixed memory: of one thread at a time.

    Attributes
    ----------
    arrays : list of ndarray
        The inputs. Those that `updates` names are the state: the backend may have put other arrays
        in the place of what it was given (all parameters in one block, say), and writes these.
    """

    arrays: list[Array]

    def feed(self, position: int, array: Array) -> None:
        """Put another array of the same Spec in the place of an input that is no state."""

    def __call__(self) -> list[Array]:
        """Run; the outputs that are no updates, as arrays of their own, in order.

        It writes the state only when nothing can fail any more.
        """
