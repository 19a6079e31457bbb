"""What methods of Tensors and Variables do while a function is traced, in the thread that traces.

They are exchanged when a trace begins and put back when the last has ended, so that nothing is
spent on them otherwise.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from autograd_engine.dims import Dim
from autograd_engine.eager.calls import general_calls
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.values import Values
from autograd_engine.errors import ModeError
from autograd_engine.jit.tracing import NeedsValue, Trace
from autograd_engine.namespace import ops
from autograd_engine.source import caller
from autograd_engine.static.program import Variable

__all__ = ["traced"]

_lock: Final = threading.Lock()
_open = 0
_originals: Final[dict[tuple[type, str], Any]] = {}


@contextlib.contextmanager
def traced(trace: Trace) -> Iterator[None]:
    """Inside the ``with`` block operations of this thread belong to `trace`."""
    _enter()
    before = grad_mode.trace
    try:
        with general_calls():
            grad_mode.trace = trace
            try:
                yield
            finally:
                grad_mode.trace = before
    finally:
        _leave()


def _enter() -> None:
    global _open
    with _lock:
        _open += 1
        if _open > 1:
            return
        for (cls, name), replacement in _replacements().items():
            _originals[cls, name] = cls.__dict__.get(name, _originals)
            setattr(cls, name, replacement)


def _leave() -> None:
    global _open
    with _lock:
        _open -= 1
        if _open:
            return
        for (cls, name), original in _originals.items():
            if original is _originals:
                delattr(cls, name)
            else:
                setattr(cls, name, original)
        _originals.clear()


def _replacements() -> dict[tuple[type, str], Any]:
    found: dict[tuple[type, str], Any] = {}
    for name in (
        *("numpy", "item", "tolist", "__bool__", "__copy__", "__deepcopy__"),
        *("__reduce__", "__dlpack__"),
    ):
        found[Values, name] = _guarded(name, getattr(Values, name))
    found[Tensor, "__repr__"] = _guarded("__repr__", Tensor.__repr__)
    found[Values, "__iter__"] = _instead(Values.__iter__, _rows)
    found[Tensor, "__init__"] = _recorded(Tensor.__init__)
    found[Tensor, "detach"] = _instead(Tensor.detach, _detached)
    for cls in (Tensor, Variable):
        found[cls, "set_value"] = _instead(
            cls.set_value, lambda trace, self, value: trace.set_value(self, value)
        )
    backward = Tensor.backward  # type: ignore[attr-defined]
    found[Tensor, "backward"] = _instead(backward, _no_backward)
    for name in (
        *("numpy", "item", "tolist", "__bool__", "__array__", "__dlpack__"),
        *("__float__", "__int__", "__complex__", "__contains__"),
    ):
        found[Variable, name] = _instead(getattr(Variable, name), _asks(name))
    found[Variable, "__len__"] = _instead(Variable.__len__, _length)
    found[Variable, "__iter__"] = _instead(Variable.__iter__, _rows)
    shape = Variable.__dict__["shape"].fget
    found[Variable, "shape"] = property(_instead(shape, _shape))
    found[Variable, "__getattr__"] = _attribute(Variable.__getattr__)
    return found


def _instead(original: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, given the trace first, where this thread traces."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        trace = grad_mode.trace
        if trace is None:
            return original(self, *args, **kwargs)
        return function(trace, self, *args, **kwargs)

    return method


def _guarded(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """Reads values of a Tensor: the program is one for these."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        trace = grad_mode.trace
        if trace is None:
            return original(self, *args, **kwargs)
        trace.read(self, _words(name))
        made = original(self, *args, **kwargs)
        if isinstance(made, Tensor):
            trace.created(made)
        return made

    return method


def _recorded(original: Callable[..., None]) -> Callable[..., None]:
    """A Tensor that is made of numbers while a function is traced."""

    def method(self: Any, data: Any = None, *args: Any, **kwargs: Any) -> None:
        trace = grad_mode.trace
        if trace is not None:
            for tensor in _tensors(data):
                trace.read(tensor, "Tensor(...)")
            trace.created(self)
        original(self, data, *args, **kwargs)

    return method


def _tensors(data: Any) -> Iterator[Tensor]:
    if isinstance(data, Tensor):
        yield data
    elif isinstance(data, (list, tuple)):
        for part in data:
            yield from _tensors(part)


def _words(name: str) -> str:
    if name == "__bool__":
        return "the truth of a tensor (if, while, and, or, not)"
    return f"{name.strip('_')}()"


def _asks(name: str) -> Callable[..., Any]:
    def method(trace: Trace, self: Any, *_: Any, **__: Any) -> Any:
        raise trace.needs_value(self, _words(name))

    return method


def _detached(trace: Trace, self: Any) -> Any:
    made = ops.assign(self)
    made.stop_gradient = True
    return made


def _no_backward(trace: Trace, self: Any, *_: Any, **__: Any) -> Any:
    at = caller()
    raise ModeError(
        f"{trace.name}: backward() at {at} ({at.text}) is called while the function is traced; "
        "return the loss and call .backward() on it outside, or use paddle.grad inside"
    )


def _first_size(trace: Trace, self: Any, what: str) -> int:
    if isinstance(self, Tensor):
        self = trace.variable(self)
    shape = self.spec.shape
    if not shape:
        raise TypeError(f"{what} of a 0-d tensor: it has no axis")
    if isinstance(shape[0], Dim):
        raise _unknown(f"{what} of {self.name}", 0)
    size: int = shape[0]
    return size


def _length(trace: Trace, self: Any) -> int:
    return _first_size(trace, self, "len()")


def _rows(trace: Trace, self: Any) -> Iterator[Any]:
    return iter([self[k] for k in range(_first_size(trace, self, "iteration"))])


def _unknown(what: str, axis: int) -> NeedsValue:
    at = caller()
    return NeedsValue(
        f"{what} at {at} ({at.text}) needs the size of axis {axis}, which the InputSpec leaves "
        "open: use paddle.shape(x) for a size that operations compute with, "
        "paddle.static.nn.while_loop for a loop over it, or an InputSpec that says the size"
    )


class _UnknownSize(int):
    """-1 in the shape of a variable: may be handed on, but not computed with."""

    axis: int

    def __new__(cls, axis: int) -> _UnknownSize:
        self = super().__new__(cls, -1)
        self.axis = axis
        return self

    __hash__ = int.__hash__


def _refusing(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)
    compares = name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")

    def method(self: _UnknownSize, *others: Any) -> Any:
        # x.shape[0] == -1, and < 0, are how one asks whether a size is known.
        if compares and (not isinstance(others[0], int) or int(others[0]) <= 0):
            return plain(self, *others)
        raise _unknown("arithmetic with an unknown size", self.axis)

    return method


for _name in (
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__add__", "__radd__"),
    *("__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__", "__neg__"),
    *("__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__pow__", "__rpow__", "__float__"),
    *("__divmod__", "__rdivmod__", "__bool__", "__abs__"),
):
    setattr(_UnknownSize, _name, _refusing(_name))


def _shape(trace: Trace, self: Any) -> tuple[int, ...]:
    return tuple(
        [_UnknownSize(k) if isinstance(d, Dim) else d for k, d in enumerate(self.spec.shape)]
    )


def _attribute(original: Callable[..., Any]) -> Callable[..., Any]:
    """What tensors have and variables of a program have not."""

    def method(self: Any, name: str) -> Any:
        trace = grad_mode.trace
        if trace is not None:
            if name == "requires_grad":
                return not self.stop_gradient
            if name == "backward":
                return lambda *a, **k: _no_backward(trace, self)
        return original(self, name)

    return method
