"""Values that are not saved: the function that computed them is run again when they are needed.

While a `Segment` records, each value that an operation would save becomes a `Place`, a number in
order of saving. The first place that a backward pass unpacks has the function run again, and what
is saved then, in the same order, fills the places. Each value goes when it has been read.

The second run is a recording of its own, on arguments of its own, and nothing is differentiated
along it; gradients follow the first recording, whose edges never lose anything. That is why this
composes with everything that reads a graph.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from autograd_engine.core.dtypes import INEXACT, finfo
from autograd_engine.core.locations import Location, caller
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.random_generator import generator, replaying, snapshot
from autograd_engine.core.spec import Array, Spec
from autograd_engine.eager.autocast import autocasting
from autograd_engine.eager.function_saved import map_tensors
from autograd_engine.eager.grad_mode import Recorder, grad_mode, mode_changed
from autograd_engine.eager.saved_hooks import Packed
from autograd_engine.eager.tape import Node
from autograd_engine.eager.tensor import Parameter, Tensor
from autograd_engine.errors import RecomputeError
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.registry.strong_zeros import strengthened, zeros_are_strong

__all__ = ["Place", "Segment"]

_ASSIGN = REGISTRY["assign"].pullback(1)
_SAMPLES = 16


class Place:
    """Stands in a node for a value that running the segment again gives."""

    __slots__ = ("__weakref__", "index", "segment", "value")

    def __init__(self, segment: Segment, index: int) -> None:
        self.segment = segment
        self.index = index
        self.value: Tensor | None = None

    def __repr__(self) -> str:
        return f"<to be computed again: {self.segment.name} of {self.segment.location}>"


class _Argument(NamedTuple):
    """Stands for a Tensor among the arguments."""

    place: int
    kind: type[Tensor]
    stop: bool
    leaf: bool

    def tensor(self, array: Array, at: Location) -> Tensor:
        """One like it, with no history but its own."""
        new = object.__new__(self.kind)
        new._data, new._node, new._stop = array, None, self.stop
        if self.kind is not Tensor:
            new.persistable = True
        if not self.stop and not self.leaf:  # no leaf: the function may write to it
            leaf = Tensor._leaf(array)
            new._node = Node.of(_ASSIGN, (leaf,), (), None, at.code, at.instruction)
        return new


class Segment:
    """One call of a function whose saved values are computed again.

    Parameters
    ----------
    function : callable
    args, kwargs
        Of the call. Their arrays are kept, in the hands of the hooks that are in force outside.
    preserve_rng_state, check_values : bool
    location : Location
        The line of the call.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        preserve_rng_state: bool,
        check_values: bool,
        location: Location,
    ) -> None:
        mode = grad_mode.enabled
        outer = mode if isinstance(mode, Recorder) else Recorder()
        self.function = function
        self.location = location
        self._recorder = outer
        self._autocast = grad_mode.autocast
        self._strong = zeros_are_strong()
        self._generator = snapshot(generator()) if preserve_rng_state else None
        self._checks = check_values
        arrays: list[Array] = []
        tensors: list[Tensor] = []

        def keep(tensor: Tensor) -> _Argument:
            arrays.append(tensor._data)
            tensors.append(tensor)
            kind = Parameter if isinstance(tensor, Parameter) else Tensor
            return _Argument(len(arrays) - 1, kind, tensor._stop, tensor._node is None)

        given = map_tensors(np.copy, (args, kwargs), np.ndarray)
        self._given = map_tensors(keep, given)
        self._samples = [_sample(a) for a in arrays]
        self._arrays: Any = tuple(arrays)
        if outer.reads is not None:
            outer.reads(tensors)
        if outer.hooks is not None:
            self._arrays = Packed.of(self._arrays, *outer.hooks)
        self._places: list[weakref.ref[Place]] = []
        self._saved: list[tuple[Spec, Array]] = []
        self._reads: list[tuple[weakref.ref[Tensor], Callable[[], Any]] | None] = []
        self._complete = False
        # The process in which it is run again: in a child nobody goes on with what was under way.
        self._running: int | None = None
        self._lock = renewed_lock()

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))

    # --- the first run

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function, and save places."""
        with self._recording(hooks=(self._pack, self._unpack), reads=self._note):
            result = self.function(*args, **kwargs)
        self._complete = True
        # A tensor that is gone cannot be read by another run.
        self._reads = [r if r is not None and r[0]() is not None else None for r in self._reads]
        return result

    @contextlib.contextmanager
    def _recording(self, **records: Any) -> Iterator[None]:
        """Record as the caller of the first run did, but for `records`."""
        known = self._recorder._asdict() | records
        changes = {"on": True, "inference": False}
        with (
            autocasting(self._autocast),
            mode_changed(changes, known),
            strengthened(self._strong),
        ):
            yield

    def _pack(self, tensor: Tensor) -> Place:
        place = Place(self, len(self._places))
        self._places.append(weakref.ref(place))
        data = tensor._data
        self._saved.append((Spec(data.shape, data.dtype), _sample(data)))
        return place

    def _note(self, tensors: Sequence[Any]) -> None:
        """Remember the array of each tensor that an operation reads.

        Those of leaves that require a gradient are held: optimizers write rows in place where
        nothing else holds a parameter's array.
        """
        for t in tensors:
            if t.__class__ is Spec:
                continue
            data = t._data
            held = t._node is None and not t._stop
            self._reads.append((weakref.ref(t), _held(data) if held else weakref.ref(data)))
        if self._recorder.reads is not None:
            self._recorder.reads(tensors)

    # --- the others

    def _unpack(self, place: Place) -> Tensor:
        with self._lock:
            if place.value is None:
                if self._running == os.getpid():
                    raise RecomputeError(
                        f"recompute: {self._label()} differentiates its own result of the first "
                        "run while it is run again; let it use what it computes itself"
                    )
                try:
                    self._running = os.getpid()
                    self._run_again()
                finally:
                    self._running = None
            value, place.value = place.value, None
        assert value is not None
        return value

    def _run_again(self) -> None:
        at = caller()
        try:
            args, kwargs, exact = self._arguments()
            again = _Again(self, exact and self._checks)
            source = self._generator() if self._generator is not None else None
            hooks = again.capture, _as_it_is
            with self._recording(hooks=hooks, reads=again.check), replaying(source):
                self.function(*args, **kwargs)
            if again.error is not None:
                raise again.error
            if self._complete and again.count != len(self._saved):
                raise RecomputeError(
                    f"it saved {again.count} values for gradients, {len(self._saved)} the first "
                    "time. The function must do the same each time it runs with the same arguments"
                )
        except RecomputeError as error:
            self._forget()
            raise RecomputeError(
                f"recompute: {self._label()} was run again for the gradient that {at.with_text} "
                f"takes, and {error}"
            ) from None
        except Exception as error:
            self._forget()
            error.add_note(
                f"while recompute ran {self._label()} again for the gradient that {at.with_text} "
                "takes"
            )
            raise

    def _arguments(self) -> tuple[Any, Any, bool]:
        """The arguments of the first run, and whether what kept them kept them exactly."""
        arrays = self._arrays
        if isinstance(arrays, Packed):
            arrays = arrays.values()
        exact = all(
            _equal(_sample(a), sample) for a, sample in zip(arrays, self._samples, strict=True)
        )
        args, kwargs = map_tensors(
            lambda a: a.tensor(arrays[a.place], self.location), self._given, _Argument
        )
        args, kwargs = map_tensors(np.copy, (args, kwargs), np.ndarray)
        return args, kwargs, exact

    def _forget(self) -> None:
        for ref in self._places:
            place = ref()
            if place is not None:
                place.value = None

    def _label(self) -> str:
        return f"{self.name} of {self.location.with_text}"


class _Again:
    """What one more run of a function saves and reads, held against the first."""

    __slots__ = ("_exact", "_first", "count", "error", "position")

    def __init__(self, first: Segment, exact: bool) -> None:
        self._first = first
        self._exact = exact
        self.count = 0
        self.position = 0
        self.error: RecomputeError | None = None  # kept, for the function may catch what is raised

    def _refuse(self, message: str) -> NoReturn:
        self.error = self.error or RecomputeError(message)
        raise self.error

    def capture(self, tensor: Tensor) -> Tensor:
        index = self.count
        self.count += 1
        if index < len(self._first._saved):
            spec, sample = self._first._saved[index]
            data = tensor._data
            if (data.shape, data.dtype) != (spec.shape, spec.dtype):
                self._refuse(
                    f"value {index} that it saved was {Spec(data.shape, data.dtype)}, {spec} the "
                    "first time. The function must do the same each time it runs with the same "
                    "arguments"
                )
            if self._exact and not _close(_sample(data), sample):
                self._refuse(
                    f"value {index} that it saved ({spec}) has other elements than the first time. "
                    "Draw random numbers with paddle's functions, under preserve_rng_state=True, "
                    "and hand what may change in between to recompute as an argument"
                )
            place = self._first._places[index]()
            if place is not None:
                place.value = tensor
        return tensor

    def check(self, tensors: Sequence[Any]) -> None:
        """Complain where a tensor has been given other values since."""
        for t in tensors:
            if t.__class__ is Spec:
                continue
            reads, position = self._first._reads, self.position
            self.position += 1
            known = reads[position] if position < len(reads) else None
            read_then = known is not None and known[0]() is t
            if known is None or not read_then:
                continue
            before, now = known[1](), t._data
            if before is not now and not _same_values(before, now):
                self._refuse(
                    f"{t.name}, which {caller().with_text} reads, has been given other values "
                    "since the first run: by an optimizer's step, set_value or a method that "
                    "writes in place. Take the gradient before that, or hand the tensor to "
                    "recompute as an argument, whose values of the first run are kept"
                )


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


def _held(value: Any) -> Callable[[], Any]:
    """What a weak reference is, but for the weakness."""
    return lambda: value


def _same_values(before: Array | None, after: Array) -> bool:
    """Whether an array has been replaced by one that is equal."""
    return before is not None and before.dtype == after.dtype and _equal(before, after)


def _sample(array: Array) -> Array:
    """Some elements, evenly spread over `array`."""
    picked: Array = array.flat[:: max(array.size // _SAMPLES, 1)]
    return picked


def _equal(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool(((a == b) | ((a != a) & (b != b))).all())


def _close(a: Array, b: Array) -> bool:
    """Equal but for rounding: a library may sum in another order another time."""
    if _equal(a, b):
        return True
    if a.dtype not in INEXACT:
        return False
    loose = float(np.sqrt(finfo(a.dtype).eps))
    finite = np.isfinite(a)
    if not _equal(finite, np.isfinite(b)) or not _equal(a[~finite], b[~finite]):
        return False
    a, b = a[finite].astype("complex128"), b[finite].astype("complex128")
    return bool((np.abs(a - b) <= loose * (np.abs(b) + np.abs(b).max(initial=0.0))).all())
