"""Saved values that a pair of hooks keeps in a form of its own: on disk, compressed, not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_engine.core.spec import Spec, format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import DTypeError, NotATensorError, ShapeError

__all__ = ["Packed"]

Pack = Callable[[Any], Any]


class Packed:
    """What a node saved, each array of it packed; Specs and empty places stay as they are.

    Parameters
    ----------
    saved : tuple
        As the rules see it: ndarrays, tuples of them, Specs.
    pack : callable
        Called with each array, as a Tensor.
    unpack : callable
        Given what `pack` returned, gives a Tensor of the same shape and dtype.
    """

    __slots__ = ("entries", "specs", "unpack")

    def __init__(self, entries: tuple[Any, ...], specs: tuple[Any, ...], unpack: Pack) -> None:
        self.entries = entries
        self.specs = specs
        self.unpack = unpack

    @staticmethod
    def of(saved: tuple[Any, ...], pack: Pack, unpack: Pack) -> Packed:
        entries: list[Any] = []
        specs: list[Any] = []
        for value in saved:
            if isinstance(value, np.ndarray):
                entries.append(pack(Tensor._wrap(value)))
                specs.append(Spec(value.shape, value.dtype))
            elif isinstance(value, tuple) and any(isinstance(v, np.ndarray) for v in value):
                inner = Packed.of(value, pack, unpack)
                entries.append(inner)
                specs.append(inner)
            else:
                entries.append(value)
                specs.append(None)
        return Packed(tuple(entries), tuple(specs), unpack)

    def values(self) -> tuple[Any, ...]:
        """What was saved, unpacked; once for each use."""
        return tuple(
            entry if spec is None else entry.values() if spec is entry else self._value(entry, spec)
            for entry, spec in zip(self.entries, self.specs, strict=True)
        )

    def _value(self, entry: Any, spec: Spec) -> Any:
        value = self.unpack(entry)
        if not isinstance(value, Tensor):
            raise NotATensorError(
                f"saved_tensors_hooks: unpack must return a Tensor, got {type(value).__name__}: "
                "return what pack was given, restored"
            )
        if value._data.shape != spec.shape:
            raise ShapeError(
                f"saved_tensors_hooks: unpack returned shape {format_shape(value._data.shape)}, "
                f"what was packed has shape {format_shape(spec.shape)}"
            )
        if value._data.dtype != spec.dtype:
            raise DTypeError(
                f"saved_tensors_hooks: unpack returned {value._data.dtype.name}, what was packed "
                f"is {spec.dtype.name}: cast it back in unpack"
            )
        return value._data
