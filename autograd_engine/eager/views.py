"""Views: tensors that have parts of the same values, and see each other's changes.

No memory is written, so a view is one by what is noted when it is made: of which tensor, and by
which operation with which attributes, its *path*. Where one of them is changed, what all of them
are parts of becomes the result of an operation, ``setitem(base, key, value)`` or a movement back,
and the others are taken from that again: values, and history where the change is recorded.

Tensors that share values form a `Storage`. Those that share the history of these as well, as a
tensor and its slices do, are a `Group` of it; `detach` begins another group of the same storage.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import ref

import numpy as np

from autograd_engine.core.locations import Location, caller, user_frame_from
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.spec import Array
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.errors import NotDifferentiableError
from autograd_engine.ops.registry.namespace import ops, raw

_new = object.__new__
_ROOM = 16

if TYPE_CHECKING:
    from autograd_engine.eager.tape import Node
    from autograd_engine.eager.tensor import Tensor
    from autograd_engine.ops.registry.opdef import OpDef

__all__ = [
    "ComposedView",
    "Group",
    "Path",
    "Storage",
    "carried_by",
    "cut_off",
    "follow",
    "here",
    "is_alone",
    "leave",
    "link",
    "link_along",
    "link_detached",
    "note_view",
    "overwrite",
    "put",
    "storage_of",
    "take",
    "write_values",
]


class ComposedView(NamedTuple):
    """A view that several operations make together.

    Attributes
    ----------
    name : str
    read : callable
        ``read(xp, x, **attrs)`` is the view.
    write : callable
        ``write(xp, value, x, **attrs)`` is what `x` becomes, as in `OpDef.writes`.
    """

    name: str
    read: Callable[..., Any]
    write: Callable[..., Any]
    elements: None = None


# How a view is taken from the whole: the path to what it is taken from (None for the whole), the
# operation, and its attributes.
Path: TypeAlias = tuple[Any, "OpDef | ComposedView", dict[str, Any]]


class Group:
    """Tensors of a storage that share the history of the values.

    Attributes
    ----------
    storage : Storage
    node : Node or None
        What the whole is the result of; None where no gradient flows, or to a leaf.
    leaf : weakref or None
        The tensor that requires a gradient, and is the whole or one of the views.
    begun : Location or None
        The line that made the first one under `no_grad`, of a tensor that carries a gradient.
    """

    __slots__ = ("leaf", "node", "storage")

    storage: Storage
    node: Node | None
    leaf: ref[Tensor] | None
    begun: Location | None = None

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.node = self.leaf = None


class _Unrecorded(Group):
    """A group that begins under `no_grad`."""

    __slots__ = ("begun",)

    def __init__(self, storage: Storage, begun: Location) -> None:
        super().__init__(storage)
        self.begun = begun


class Storage(Group):
    """What tensors have parts of, and the group of those of the first ones that have no history.

    It has no node, for what is detached holds the storage, and no graph.

    Attributes
    ----------
    data : ndarray
        All of the values, as they are now.
    members : list of weakref
        The tensors, the first one first.
    changes : int or None
        How often one of them has been changed in place; None where it was the first one alone.
    room : int
        How many members there may be before those are left out that are gone.
    """

    __slots__ = ("changes", "data", "members", "room")

    data: Array
    members: list[ref[Tensor]]
    changes: int | None
    room: int

    @property
    def version(self) -> int:
        first = self.members[0]() if self.changes is None else None
        return getattr(first, "_version", 0) if self.changes is None else self.changes

    def alive(self) -> list[Tensor]:
        found = [m() for m in self.members]
        return [t for t in found if t is not None and storage_of(t) is self]


def storage_of(tensor: Tensor) -> Storage | None:
    """What `tensor` has a part of, with others."""
    group = getattr(tensor, "_group", None)
    return group if group is None or group.__class__ is Storage else group.storage


_sharing = renewed_lock()  # held while a storage is made or changed; reading needs none


def _shared(x: Tensor) -> Storage:
    """A storage of which `x` is the whole; or that in which another thread has put it since."""
    with _sharing:
        known = None if x.__weakref__ is None else storage_of(x)
        if known is not None:
            return known
        storage: Storage = _new(Storage)
        storage.data, storage.changes, storage.members = x._data, None, [ref(x)]
        storage.node, storage.leaf, storage.room = None, None, _ROOM
        group: Group = storage
        if not x._stop:
            if x._node is None:
                storage.leaf = storage.members[0]
            else:
                group = _new(Group)
                group.storage, group.node, group.leaf = storage, x._node, None
        x._group, x._path = group, None
    return storage


def link(view: Tensor, x: Tensor, op: OpDef | ComposedView, attrs: dict[str, Any]) -> None:
    """Note that `view` is what `op` takes from `x`."""
    # A tensor that shares its values is referred to weakly; of most it need not be asked.
    group = None if x.__weakref__ is None else getattr(x, "_group", None)
    if group is None:
        storage = _shared(x)
        group, path = x._group, None
    else:
        path = x._path
        if path is not None and op.elements == "ordered" and _moved(view, x, path, op, attrs):
            return
        storage = group if group.__class__ is Storage else group.storage
    if view._node is None and not (x._stop or grad_mode.enabled):
        frame = user_frame_from(sys._getframe(1))
        group = _Unrecorded(storage, Location(frame.f_code, frame.f_lasti))
    view._path = path, op, attrs
    view._group = group
    members = storage.members
    members.append(ref(view))
    if len(members) > storage.room:
        _forget_dead(storage)


def _forget_dead(storage: Storage) -> None:
    """Most members are tensors that are gone; the first one stays, which tells of the changes."""
    with _sharing:
        members = storage.members
        known = len(members)  # another thread may add to them in the meantime
        members[1:known] = [m for m in members[1:known] if m() is not None]
        storage.room = max(_ROOM, 2 * len(members))


def note_view(view: Any, x: Any, op: OpDef | ComposedView, attrs: dict[str, Any]) -> Any:
    """Note that `view` is one of `x`, for an operation that does not say so itself; return it."""
    trace = grad_mode.trace
    if trace is not None:
        trace.note_view(view, x, op, attrs)
    elif getattr(view, "_data", None) is not None:  # variables of a program are no views
        link(view, x, op, attrs)
    return view


def link_detached(view: Tensor, x: Tensor) -> None:
    """Note that `view` has the values of `x`, and no history."""
    storage = storage_of(x)
    if storage is None:
        storage = _shared(x)
    view._path, view._group = x._path, Group(storage)
    storage.members.append(ref(view))
    if len(storage.members) > storage.room:
        _forget_dead(storage)


def link_along(view: Tensor, x: Tensor, path: Path | None, *, detached: bool) -> None:
    """Note that `view` is what a path leads to from `x`, which may be a view itself."""
    storage = storage_of(x)
    if storage is None:
        storage = _shared(x)
    way, part = x._path, np.empty(storage.data.shape, storage.data.dtype)
    if way is not None:
        part = take(raw, way, part)
    for _, op, attrs in _steps(path):
        taken = _read(raw, op, part, attrs)
        if op.elements == "ordered" and taken.size and not np.may_share_memory(taken, part):
            return
        way, part = (way, op, attrs), taken
    cut = detached or not (x._stop or grad_mode.enabled)
    view._path, view._group = way, Group(storage) if cut else x._group
    storage.members.append(ref(view))


def cut_off(tensor: Tensor) -> None:
    """A group of its own for `tensor`, whose history begins or ends here: it shares values only."""
    storage = storage_of(tensor)
    if storage is None:
        return
    group = Group(storage)
    if not tensor._stop and tensor._node is None:
        group.leaf = ref(tensor)
    tensor._group = group


def leave(tensor: Tensor) -> None:
    """What is done to `tensor` from now on is seen in no other one."""
    storage = storage_of(tensor)
    if storage is not None:
        tensor._version, tensor._group, tensor._path = storage.version, None, None


def is_alone(tensor: Tensor) -> bool:
    """Whether no other tensor shares its values; if so it leaves the storage."""
    storage = storage_of(tensor)
    if storage is None:
        return True
    if any(t is not tensor for t in storage.alive()):
        return False
    leave(tensor)
    return True


def _moved(
    view: Tensor, x: Tensor, path: Path, op: OpDef | ComposedView, attrs: dict[str, Any]
) -> bool:
    """Whether reshaping had to copy elements of values that lie in memory in order.

    Where the whole lies in another order by chance, it is tried with an array that does not.
    """
    before: Any = path
    while before is not None and before[1].elements == "ordered":
        before = before[0]
    if before is None:
        return False
    storage = storage_of(x)
    assert storage is not None
    given, made, data = x._data, view._data, storage.data
    if not data.flags.c_contiguous:
        given = take(raw, path, np.empty(data.shape, data.dtype))
        made = _read(raw, op, given, attrs)
    return made.size > 0 and not np.may_share_memory(given, made)


# --- along a path


def _steps(path: Any) -> list[Path]:
    """The parts of a path, from the whole."""
    steps = []
    while path is not None:
        steps.append(path)
        path = path[0]
    return steps[::-1]


def _read(xp: Any, op: OpDef | ComposedView, x: Any, attrs: dict[str, Any]) -> Any:
    if op.__class__ is ComposedView:
        return op.read(xp, x, **attrs)
    return getattr(xp, op.name)(x, **attrs)


def take(xp: Any, path: Any, whole: Any, known: dict[int, Any] | None = None) -> Any:
    """What a path leads to; `known` has what is on the way, by the id of the path."""
    waiting = []
    while path is not None and (known is None or id(path) not in known):
        waiting.append(path)
        path = path[0]
    value = whole if path is None or known is None else known[id(path)]
    for step in reversed(waiting):
        _, op, attrs = step
        value = _read(xp, op, value, attrs)
        if known is not None:
            known[id(step)] = value
    return value


def put(xp: Any, path: Any, whole: Any, value: Any) -> Any:
    """The whole with `value` where a path leads to."""
    if path is None:
        return value
    steps = _steps(path)
    sources = [whole]
    for _, op, attrs in steps[:-1]:
        sources.append(_read(xp, op, sources[-1], attrs))
    for (_, op, attrs), source in zip(reversed(steps), reversed(sources), strict=True):
        assert op.write is not None
        value = op.write(xp, value, source, **attrs)
    return value


# --- changes


def carried_by(tensor: Tensor) -> Tensor | None:
    """The leaf that requires a gradient and has all the values of which `tensor` has a part."""
    group = getattr(tensor, "_group", None)
    leaf: Tensor | None = None if group is None or group.leaf is None else group.leaf()
    if leaf is None or leaf._stop or leaf._node is not None or leaf._group is not group:
        return None
    return leaf


def _lost_through(tensor: Tensor) -> str | None:
    """The operation between `tensor` and the whole that has no gradient, if there is one."""
    for _, op, _ in _steps(tensor._path):
        if not isinstance(op, ComposedView) and op.rule_at(0) is None:
            return op.name
    return None


def here() -> str:
    """The user's line, with its text."""
    at = caller()
    return f"{at} ({at.text})"


def _check_recorded(tensor: Tensor, group: Group, result: Tensor, call: str) -> None:
    """Refuse a change that would lose a gradient."""
    if group.begun is not None and not result._stop:
        raise NotDifferentiableError(
            f"{call} at {here()}: {tensor.name} is a view that was made under no_grad, at "
            f"{group.begun} ({group.begun.text}), of a tensor that carries a gradient, and what is "
            "written has a gradient that would be lost there; make the view where operations are "
            "recorded, or write value.detach()"
        )
    through = _lost_through(tensor)
    if through is not None:
        raise NotDifferentiableError(
            f"{call} at {here()}: {tensor.name} is a view through {through}, which has no "
            "gradient, and that of what it is a view of, or of what is written, would be lost; "
            "write it under paddle.no_grad(), or to a clone"
        )


def overwrite(tensor: Tensor, result: Tensor, call: str, *, counts: bool = True) -> None:
    """`tensor`, which shares its values, takes those and the history of `result`.

    The others take the values; those of its group the history too, where something is recorded and
    a gradient flows through the result or through what was there. `call` is what the user wrote.

    Raises
    ------
    NotDifferentiableError
        Where a gradient would be lost.
    """
    with _sharing:
        group, storage = tensor._group, storage_of(tensor)
        assert group is not None
        assert storage is not None
        if not grad_mode.enabled or (group.node is None and result._stop):
            _set_values(tensor, result._data, counts)
            return
        _check_recorded(tensor, group, result, call)
        new = put(ops, tensor._path, tensor._wrap(storage.data, group.node), result)
        new = tensor._wrap(new._data, None if new._stop else new._node)
        same: dict[int, Any] = {}
        values: dict[int, Any] = {}
        changes: list[tuple[Any, str, Any]] = [
            (storage, "data", new._data),
            (storage, "changes", storage.version + counts),
        ]
        with_history = group
        if group is storage:
            with_history = Group(storage)
            with_history.node = new._node
        else:
            changes.append((group, "node", new._node))
        members = storage.alive()
        for member in members:
            if member._group is group:
                part = take(ops, member._path, new, same)
                changes += [
                    (member, "_group", with_history),
                    (member, "_data", part._data),
                    (member, "_node", part._node),
                    (member, "_stop", part._stop),
                ]
            else:
                changes.append((member, "_data", take(raw, member._path, new._data, values)))
        _commit(changes)
    for member in members:
        if (
            member._group is with_history
            and getattr(member, "_retains", False)
            and not member._stop
        ):
            member.retain_grads()


def _set_values(tensor: Tensor, data: Array, counts: bool = False) -> None:
    """Other values for `tensor` and all that share them; histories stay."""
    with _sharing:
        storage = storage_of(tensor)
        assert storage is not None
        whole = put(raw, tensor._path, storage.data, data)
        known: dict[int, Any] = {}
        changes: list[tuple[Any, str, Any]] = [
            (storage, "data", whole),
            (storage, "changes", storage.version + counts),
        ]
        changes += [(t, "_data", take(raw, t._path, whole, known)) for t in storage.alive()]
        _commit(changes)


def write_values(tensor: Tensor, data: Array) -> None:
    """`tensor`, and all that share its values, have those of `data`; histories stay."""
    if getattr(tensor, "_group", None) is None or is_alone(tensor):
        tensor._data = data
    elif data.shape != tensor._data.shape or data.dtype != tensor._data.dtype:
        leave(tensor)
        tensor._data = data
    else:
        _set_values(tensor, data)


def follow(tensor: Tensor) -> None:
    """`tensor` was given other values: all that share them have these."""
    if not is_alone(tensor):
        _set_values(tensor, tensor._data)


def _commit(changes: Iterable[tuple[Any, str, Any]]) -> None:
    """All or nothing, whatever interrupts: no Python code runs between the first and the last."""
    targets, names, values = zip(*changes, strict=True)
    old = [getattr(target, name) for target, name in zip(targets, names, strict=True)]
    deque(map(setattr, targets, names, values), 0)
    del old
