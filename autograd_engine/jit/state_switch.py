"""What methods of Tensors and Variables do while a function is traced, in the thread that traces.

They are exchanged when a trace begins and put back when the last has ended, so that nothing is
spent on them otherwise.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from autograd_engine.core.dims import Dim
from autograd_engine.core.locations import caller
from autograd_engine.core.size import Size
from autograd_engine.eager.array_methods import Values
from autograd_engine.eager.generated_calls import general_calls
from autograd_engine.eager.grad_mode import grad_mode, mode_changed
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ModeError
from autograd_engine.jit.tracing import Trace
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.symbolic_number import NeedsValue, size_of

__all__ = ["traced"]

_absent: Final = object()
# By class and name: what was there, and what takes its place.
_exchanged: Final[dict[tuple[type, str], tuple[Any, Any]]] = {}


@contextlib.contextmanager
def traced(trace: Trace) -> Iterator[None]:
    """Inside the ``with`` block operations of this thread, and task, belong to `trace`."""
    # Not while a lock is held: another thread may be importing it, and wait for the lock.
    import autograd_engine.optimizer.lbfgs  # noqa: F401

    with general_calls(_exchange, _restore), mode_changed({"trace": trace}):
        yield


def _exchange() -> None:
    if not _exchanged:
        new = _replacements()
        _exchanged.update(
            {(cls, name): (vars(cls).get(name, _absent), new[cls, name]) for cls, name in new}
        )
    # All of them, also where another trace is open: an interrupt may have left some out.
    for (cls, name), (_, replacement) in _exchanged.items():
        setattr(cls, name, replacement)


def _restore() -> None:
    for (cls, name), (original, _) in _exchanged.items():
        if original is not _absent:
            setattr(cls, name, original)
        elif name in vars(cls):
            delattr(cls, name)
    _exchanged.clear()


def _replacements() -> dict[tuple[type, str], Any]:
    found: dict[tuple[type, str], Any] = {}
    for name in (
        *("numpy", "item", "tolist", "__bool__", "__copy__", "__deepcopy__"),
        *("__reduce__", "__dlpack__"),
    ):
        found[Values, name] = _guarded(name, getattr(Values, name))
    found[Tensor, "__repr__"] = _guarded("__repr__", Tensor.__repr__)
    for name in ("shape", "stop_gradient"):  # which others, such as `size`, look at
        found[Tensor, name] = _watched(name, vars(Tensor)[name])
    found[Tensor, "grad"] = _gradient(vars(Tensor)["grad"])
    found[Tensor, "clear_gradient"] = _instead(
        Tensor.clear_gradient,
        lambda trace, self, set_to_zero=True: trace.training.clear(self, set_to_zero, caller()),
    )
    found[Values, "__iter__"] = _instead(Values.__iter__, _rows)
    found[Tensor, "__init__"] = _recorded(Tensor.__init__)
    found[Tensor, "detach"] = _instead(Tensor.detach, _detached)
    for cls in (Tensor, Variable):
        found[cls, "set_value"] = _instead(
            cls.set_value, lambda trace, self, value: trace.set_value(self, value)
        )
    found[Tensor, "backward"] = _instead(Tensor.backward, _backward)
    found |= _of_optimizers()
    for name in (
        *("numpy", "item", "tolist", "__bool__", "__array__", "__dlpack__"),
        *("__float__", "__int__", "__complex__", "__contains__"),
    ):
        found[Variable, name] = _instead(getattr(Variable, name), _asks(name))
    found[Variable, "__len__"] = _instead(Variable.__len__, _length)
    found[Variable, "__iter__"] = _instead(Variable.__iter__, _rows)
    found[Variable, "shape"] = property(_instead(vars(Variable)["shape"].fget, _shape))
    found[Variable, "__getattr__"] = _attribute(Variable.__getattr__)
    return found


def _of_optimizers() -> dict[tuple[type, str], Any]:
    """An optimizer's methods, of its own class or of that of all."""
    from autograd_engine.optimizer.lbfgs import LBFGS
    from autograd_engine.optimizer.optimizer import Optimizer

    def step(trace: Trace, self: Any) -> None:
        trace.training.step(self)

    def clear(trace: Trace, self: Any, set_to_zero: bool = True) -> None:
        for p in self._eager_parameters():
            trace.training.clear(p, set_to_zero, caller())

    def minimize(trace: Trace, self: Any, loss: Any, *_: Any, **__: Any) -> Any:
        pairs = [(p, p.grad) for p in self._eager_parameters()]
        trace.training.step(self)
        return [], [(p, g) for p, g in pairs if g is not None]

    def refuse(trace: Trace, self: Any, *_: Any, **__: Any) -> Any:
        raise ModeError(
            f"{trace.name}: LBFGS.step() at {caller()} decides by values how often it calls its "
            "closure, which have none while the function is traced; trace the closure, and call "
            "step() outside"
        )

    found: dict[tuple[type, str], Any] = {(LBFGS, "step"): _instead(LBFGS.step, refuse)}
    for name, method in (
        ("step", step),
        ("clear_grad", clear),
        ("clear_gradients", clear),
        ("minimize", minimize),
    ):
        found[Optimizer, name] = _instead(vars(Optimizer)[name], method)
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

    def read(trace: Trace, self: Any, *args: Any, **kwargs: Any) -> Any:
        trace.read(self, _words(name))
        made = original(self, *args, **kwargs)
        if isinstance(made, Tensor):
            trace.created(made)
        return made

    return _instead(original, read)


def _watched(name: str, original: property) -> property:
    """An attribute of a Tensor that may change: the program is one for what it is."""
    read: Any = original.fget

    def get(self: Any) -> Any:
        value = read(self)
        trace = grad_mode.trace
        if trace is not None:
            trace.looked_at(self, name, read, value)
        return value

    return property(get, original.fset, original.fdel, original.__doc__)


def _recorded(original: Callable[..., None]) -> Callable[..., None]:
    """A Tensor that is made of numbers while a function is traced."""

    def make(trace: Trace, self: Any, data: Any = None, *args: Any, **kwargs: Any) -> None:
        for tensor in _tensors(data):
            trace.read(tensor, "Tensor(...)")
        trace.created(self)
        original(self, data, *args, **kwargs)

    return _instead(original, make)


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
    instead = ""
    if name in ("item", "tolist", "__float__", "__int__"):
        instead = "Where a size, an axis or a factor is wanted, give the tensor itself. "

    def method(trace: Trace, self: Any, *_: Any, **__: Any) -> Any:
        raise trace.needs_value(self, _words(name), instead)

    return method


def _detached(trace: Trace, self: Any) -> Any:
    made = ops.reinterpret(self, dtype=self.dtype.name)  # which has no gradient
    trace.note_view(made, self, None, {})
    return made


def _backward(trace: Trace, self: Any, grad_tensor: Any = None, retain_graph: bool = False) -> None:
    if isinstance(self, Tensor):
        self = trace.variable(self)
    trace.training.backward(self, grad_tensor, retain_graph)


def _gradient(original: property) -> property:
    """``w.grad``: what it is at this point of the function."""
    watched = _watched("grad", original)
    read: Any = watched.fget

    def get(self: Any) -> Any:
        trace = grad_mode.trace
        if trace is not None and trace.trains:
            known = trace.training.gradients.get(id(self))
            if known is not None:
                return known.value
        return read(self)

    return property(get, original.fset, original.fdel, original.__doc__)


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
        "open: use x.shape[axis] for a size that operations compute with, "
        "paddle.static.nn.while_loop for a loop over it, or an InputSpec that says the size"
    )


def _shape(trace: Trace, self: Any) -> Size:
    sizes: list[Any] = [
        size_of(self, k) if isinstance(d, Dim) else d for k, d in enumerate(self.spec.shape)
    ]
    return Size(sizes)


def _attribute(original: Callable[..., Any]) -> Callable[..., Any]:
    """What tensors have and variables of a program have not."""

    def get(trace: Trace, self: Any, name: str) -> Any:
        if name == "backward":
            return lambda *a, **k: _backward(trace, self, *a, **k)
        return original(self, name)

    return _instead(original, get)
