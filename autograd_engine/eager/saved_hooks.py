"""``autograd.saved_tensors_hooks``: what the graph keeps, in a form of the user's own.

A pair of hooks keeps it on disk, compressed, or not at all.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from autograd_engine.core.checks import check_callback
from autograd_engine.core.overrides import OverridingBlock
from autograd_engine.core.spec import Spec, format_shape
from autograd_engine.eager.grad_mode import Mode, decorated, modes, no_grad
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import DTypeError, NotATensorError, ShapeError

__all__ = ["save_on_disk", "saved_tensors_hooks", "Packed"]

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


F = TypeVar("F", bound=Callable[..., Any])


class saved_tensors_hooks(OverridingBlock):  # noqa: N801 - the public name
    """Keep what operations save for their gradients in another form: smaller, elsewhere.

    Inside the block, or the decorated function, each tensor that a recorded operation or a
    `PyLayer` saves is handed to `pack_hook`, and what that returns is kept in its place. When the
    gradient needs it, `unpack_hook` makes a tensor of it again.

    Parameters
    ----------
    pack_hook : callable
        Takes a Tensor, returns anything.
    unpack_hook : callable
        Takes what `pack_hook` returned; returns a Tensor of the same shape and dtype.

    Notes
    -----
    Pairs nest: the innermost one applies. Each thread, and each asyncio task, has its own. An array
    that several operations save is packed for each of them, and unpacked once each time that one of
    them needs it. Neither hook records what it computes. What an operation saves without values,
    such as a shape, does not pass through them.

    When `pack_hook` raises, the operation that saved has no result. When `unpack_hook` does, the
    backward pass ends without touching any ``.grad``.

    Examples
    --------
    Half the memory, for gradients that are good to three digits:

    >>> import autograd_engine as paddle
    >>> def pack(tensor):
    ...     return tensor.astype("float16"), tensor.dtype
    >>> def unpack(packed):
    ...     return packed[0].astype(packed[1])
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> with paddle.autograd.saved_tensors_hooks(pack, unpack):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad.tolist()
    [2.0, 4.0]
    """

    _overrides = modes

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        check_callback("saved_tensors_hooks", "pack_hook", pack_hook, "tensor")
        check_callback("saved_tensors_hooks", "unpack_hook", unpack_hook, "packed")
        super().__init__()
        self._given = pack_hook, unpack_hook
        self._pair = _unrecorded(pack_hook), _unrecorded(unpack_hook)

    def _override(self) -> Mode:
        return Mode({}, {"hooks": self._pair})

    def __call__(self, function: F) -> F:
        return decorated(function, lambda: saved_tensors_hooks(*self._given), "saved_tensors_hooks")


def _unrecorded(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        with no_grad():
            return hook(value)

    return run


def save_on_disk(
    directory: str | os.PathLike[str] | None = None, *, min_bytes: int = 1 << 16
) -> saved_tensors_hooks:
    """`saved_tensors_hooks` that keep large tensors in files until the graph is freed.

    Parameters
    ----------
    directory : path, optional
        An existing directory; by default a temporary one, which goes when nothing needs it.
    min_bytes : int
        Tensors smaller than this stay in memory.

    Returns
    -------
    saved_tensors_hooks

    Notes
    -----
    A tensor is one ``.npy`` file, read without pickle, which goes with the node that saved it: as a
    backward pass advances, when the graph is dropped, at the end of the process. Layouts in memory
    are restored, so gradients keep their bits.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.ones([256, 256])
    >>> x.stop_gradient = False
    >>> with paddle.autograd.save_on_disk():
    ...     y = paddle.exp(x).sum()
    >>> y.backward()
    >>> round(x.grad[0, 0].item(), 4)
    2.7183
    """
    place = _Directory(directory)

    def pack(tensor: Tensor) -> Any:
        array = tensor._data
        # A view that repeats its elements is larger in a file than it is here.
        if array.nbytes < min_bytes or 0 in array.strides:
            return tensor
        return _File(place, array)

    def unpack(packed: Any) -> Tensor:
        return packed.read() if isinstance(packed, _File) else packed

    return saved_tensors_hooks(pack, unpack)


class _Directory:
    """Where files go; one that was made for them is removed when no file needs it."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        if path is None:
            from tempfile import mkdtemp  # it takes long to import

            self.path = mkdtemp(prefix="saved-")
        else:
            self.path = os.fspath(path)
        if not os.path.isdir(self.path):
            raise NotADirectoryError(f"save_on_disk: {self.path!r} is no directory; create it")
        if path is None:
            weakref.finalize(self, _remove, os.rmdir, self.path, os.getpid())


class _File:
    """One array, written in the order in which it lies in memory."""

    __slots__ = ("__weakref__", "_directory", "_order", "_path")

    def __init__(self, directory: _Directory, array: np.ndarray[Any, Any]) -> None:
        from tempfile import mkstemp

        self._directory = directory
        self._order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        handle, self._path = mkstemp(".npy", "saved-", directory.path)
        weakref.finalize(self, _remove, os.unlink, self._path, os.getpid())
        with os.fdopen(handle, "wb") as file:
            ordered = np.asarray(array.transpose(self._order), order="C")
            np.save(file, ordered, allow_pickle=False)

    def read(self) -> Tensor:
        ordered = np.load(self._path, allow_pickle=False)
        return Tensor._wrap(ordered.transpose(np.argsort(self._order)))


def _remove(how: Callable[[str], None], path: str, process: int) -> None:
    """Remove `path`, unless this is a fork of the process that wrote it."""
    if os.getpid() == process:
        try:
            how(path)
        except OSError:
            return  # the user was faster
