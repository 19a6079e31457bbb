"""Functions of a gradient that a backward pass calls on its way."""

from __future__ import annotations

import contextlib
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.core.spec import format_shape
from autograd_engine.eager.grad_mode import enable_grad, grad_mode, no_grad
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import DTypeError, NotATensorError, ShapeError
from autograd_engine.ops.registry.namespace import ops

__all__ = [
    "Hook",
    "Hooks",
    "RemovableHandle",
    "as_seen",
    "Retain",
    "Retained",
    "hooks_left_out",
    "run_hooks",
]


class _LeftOut(threading.local):
    now: bool = False


_left_out = _LeftOut()


@contextlib.contextmanager
def hooks_left_out() -> Iterator[None]:
    """Run backward passes without hooks: for looking at what the rules give."""
    before, _left_out.now = _left_out.now, True
    try:
        yield
    finally:
        _left_out.now = before


Hook = Callable[[Tensor], Tensor | None]
_keys = itertools.count()


class Hooks(dict[int, Any]):
    """Hooks in the order in which they are called: the last that was registered comes last."""

    __slots__ = ("__weakref__",)

    def register(self, hook: Any, first: bool = False) -> RemovableHandle:
        key, before = next(_keys), list(self)
        self[key] = hook
        for other in before if first else ():
            self[other] = self.pop(other)
        return RemovableHandle(self, key)


class LeafHooks:
    """Hooks of a leaf: before its gradient is added to ``.grad``, and after."""

    __slots__ = ("after", "before")

    def __init__(self) -> None:
        self.before = Hooks()
        self.after = Hooks()


class RemovableHandle:
    """What registering a hook returns; usable as a context manager that removes it at the end."""

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks: Hooks, key: int) -> None:
        self._hooks = weakref.ref(hooks)
        self._key = key

    def remove(self) -> bool:
        """Remove the hook; whether it was there."""
        hooks = self._hooks()
        return hooks is not None and hooks.pop(self._key, None) is not None

    def __repr__(self) -> str:
        hooks = self._hooks()
        hook = None if hooks is None else hooks.get(self._key)
        return f"<handle of a hook, {'removed' if hook is None else _name(hook)}>"

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Retain:
    """Stands among the hooks of a tensor whose gradient is to be kept, where it was asked for."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = weakref.ref(tensor)


Retained = list[tuple[Tensor, Tensor]]


def run_hooks(hooks: Hooks, g: Any, where: object, retained: Retained | None = None) -> Any:
    """`g` after the hooks, each of which sees what the one before made of it.

    Parameters
    ----------
    hooks : Hooks
    g : ndarray or Tensor
        A Tensor where the pass is recorded. Then what the hooks do is recorded too.
    where : object
        Named in errors: whose gradient it is.
    retained : list, optional
        Takes (tensor, its gradient) for `retain_grads`.

    Raises
    ------
    NotATensorError, ShapeError, DTypeError
        For a hook that returns something other than None or a Tensor like its argument.
    """
    if _left_out.now:
        return g
    recorded = isinstance(g, Tensor)
    with enable_grad() if recorded else no_grad():
        grad = _own(g) if recorded else Tensor._wrap(np.asarray(g))
        shape, dtype = grad._data.shape, grad._data.dtype
        for hook in tuple(hooks.values()):
            if hook.__class__ is Retain:
                tensor = hook.tensor()
                node = None if tensor is None else tensor._node
                moved = node is not None and getattr(node, "hooks", None) is not hooks
                if tensor is not None and retained is not None and not moved:
                    retained.append((tensor, _own(grad)))
                continue
            before = grad._data
            result = hook(grad)
            if result is not None:
                grad = _own(_checked(result, hook, where))
            if grad._data.shape != shape:
                raise ShapeError(
                    f"{_name(hook)}, a hook on the gradient of {where}, made shape "
                    f"{format_shape(grad._data.shape)} of a gradient of shape "
                    f"{format_shape(shape)}; a hook keeps the shape"
                )
            if grad._data.dtype != dtype:
                raise DTypeError(
                    f"{_name(hook)}, a hook on the gradient of {where}, made a gradient of dtype "
                    f"{grad._data.dtype.name} of one of {dtype.name}; return "
                    f"grad.astype({dtype.name!r})"
                )
            if grad_mode.anomaly is not None:
                grad_mode.anomaly.hooked(_name(hook), where, before, grad._data)
    return grad if recorded else grad._data


def as_seen(g: Any) -> Any:
    """A cotangent of the rules as the gradient that users see, and the other way round.

    Of complex values these are conjugates of each other (see `ops.conjugates`).
    """
    if isinstance(g, Tensor):
        return ops.conj(g) if g._data.dtype in COMPLEX else g
    return g if g is None or g.dtype not in COMPLEX else g.conj()


def _own(tensor: Tensor) -> Tensor:
    """The same value as a tensor of one's own: what is done to it in place is seen nowhere else."""
    if tensor._stop or not grad_mode.enabled:
        return Tensor._wrap(tensor._data)
    if tensor._node is None:  # a leaf, which gradients of this gradient lead to
        own: Tensor = ops.assign(tensor)
        return own
    return Tensor._wrap(tensor._data, tensor._node)


def _checked(result: Any, hook: Any, where: object) -> Tensor:
    if not isinstance(result, Tensor):
        raise NotATensorError(
            f"{_name(hook)}, a hook on the gradient of {where}, returned "
            f"{type(result).__name__}; return a Tensor, or None to keep the gradient as it is"
        )
    return result


def _name(hook: Any) -> str:
    return str(getattr(hook, "__qualname__", None) or repr(hook))
