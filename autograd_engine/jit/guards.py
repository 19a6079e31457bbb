"""What a traced function depends on besides its arguments, and whether that is as it was.

Guarded are the places that the code of the function reads, and of the functions of the user's that
it calls in turn: closure cells, globals, defaults, attributes of objects, classes and modules,
elements of lists, tuples, dicts, sets and arrays. Numbers, strings and other plain values must be
equal, of the same type; of arrays the elements; everything else, Tensors among it, must be the same
object. Code of the standard library, of what was installed and of the engine is not followed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograd_engine.core.change_counter import ChangeCounter
from autograd_engine.jit.object_reads import ObjectReads
from autograd_engine.jit.outside_reads import OutsideReads
from autograd_engine.jit.places import PLAIN_TYPES, Place, first_changed
from autograd_engine.program.ir.program import Variable

__all__ = ["Guards"]


class Guards:
    """Places that a function reads, with what was in them.

    Parameters
    ----------
    function : callable
    args, keywords
        What it is called with, None in the place of each Tensor.

    Attributes
    ----------
    beyond : str
        What is too large to be guarded but by identity and size; empty where nothing is.
    outside : OutsideReads
        Calls of clocks, files and the like.
    """

    def __init__(self, function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        self._edits = ChangeCounter.latest
        reads = ObjectReads(function, args, keywords)
        self.beyond = reads.beyond
        self.outside = OutsideReads(list(reads.outside.values()))
        # A variable is what the function itself has left there when it was traced.
        self._known = {
            key: p
            for key, p in reads.places.items()
            if p.used and not isinstance(p.value, Variable)
        }
        self._places = [p for p in self._known.values() if not p.counted]
        # Attributes of layers, of which there may be thousands: looked at when any was set.
        self._attributes = [p for p in self._known.values() if p.counted]

    def __len__(self) -> int:
        return len(self._places) + len(self._attributes)

    def changed(self) -> Place | None:
        """The first place whose value is another one; None where all are as they were."""
        latest = ChangeCounter.latest
        if latest != self._edits:
            place = first_changed(self._attributes)
            if place is not None:
                return place
            self._edits = latest
        return first_changed(self._places)

    def began_as(self, before: Guards) -> None:
        """Numbers that the function itself has changed are those that it began with.

        So a function that counts its calls, and uses the number, is traced at each of them, which
        gives what it should.
        """
        for key, place in self._known.items():
            known = before._known.get(key)
            if known is None or not isinstance(known.value, PLAIN_TYPES):
                continue
            if isinstance(place.value, PLAIN_TYPES):
                place.value = known.value
        self._known = {}
        self._edits = -1
