"""What the values of a program are while it is traced, where they are more than an array.

All of these are trees of arrays to jax. What is known already (an ndarray, a number) stays what it
is, and goes around a branch or a loop rather than through it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.xla.memory import dtype_of, is_traced
from autograd_engine.compiler.xla.run import XlaUnavailable
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.symbolic_zero import hollow

__all__ = [
    "ABSENT",
    "Every",
    "MaybeHollow",
    "Row",
    "Stack",
    "TensorArray",
    "as_tensor_array",
    "closed",
    "common",
    "conform",
    "element_of",
    "guarded",
    "is_hollow",
    "longer",
    "nothing_like",
    "opened",
    "outline",
    "plain",
    "split",
    "stacked",
]


class MaybeHollow(NamedTuple):
    """An array that is zero where it stands for no gradient, and whether it does.

    Attributes
    ----------
    array : array
    hollow : bool or array
        What `ops.registry.symbolic_zero.is_hollow` says of an ndarray.
    """

    array: Any
    hollow: Any


class Every:
    """What each iteration has pushed alike, as it was known when the loop was traced."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Stack(NamedTuple):
    """What the iterations of a loop have pushed; where their number is known, it may be a list too.

    Attributes
    ----------
    elements : tree
        Arrays with an axis for iterations before all others, and `Every`.
    size : int
        How long that axis is: iterations, or as many as there may be.
    """

    elements: Any
    size: int


class Row(NamedTuple):
    """One element of a stack that nothing has read yet.

    Attributes
    ----------
    stack : Stack
    place : int
    """

    stack: Stack
    place: int


class TensorArray(NamedTuple):
    """An array of tensors that is written to at places that depend on values.

    One whose places are all known is a list, with None where nothing was written.

    Attributes
    ----------
    rows : Stack
        For each place a list: what is there, and whether anything was written.
    length : int or array
    """

    rows: Stack
    length: Any


class _Absent:
    """Stands for what only the other branch computes."""


ABSENT: Final = _Absent()


def plain(value: Any) -> Any:
    """The array, for whoever does not ask whether it is hollow."""
    return value.array if isinstance(value, MaybeHollow) else value


def is_hollow(value: Any) -> Any:
    """Whether it stands for no gradient: a bool, or a traced one."""
    return value.hollow if isinstance(value, MaybeHollow) else False


def guarded(array: Any, absent: Any) -> Any:
    """`array`, or zeros that stand for no gradient where `absent` is true."""
    if absent is False:
        return array
    if absent is True:
        return nothing_like(array)
    return MaybeHollow(jnp.where(absent, jnp.zeros((), array.dtype), array), absent)


def nothing_like(array: Any, value: float = 0.0) -> MaybeHollow:
    """Zeros that stand for no gradient, in no memory."""
    array = plain(array)
    return MaybeHollow(hollow(Spec(tuple(array.shape), np.dtype(array.dtype)), value), True)


# --- trees


def _moves(leaf: Any) -> bool:
    return is_traced(leaf) or isinstance(leaf, jax.ShapeDtypeStruct)


def split(tree: Any) -> tuple[list[Any], Callable[[Any], Any]]:
    """The arrays of a tree that are not known, and what makes a tree of others."""
    leaves, form = jax.tree.flatten(tree)
    at = [k for k, leaf in enumerate(leaves) if _moves(leaf)]

    def rebuilt(arrays: Any) -> Any:
        full = list(leaves)
        for k, array in zip(at, arrays, strict=True):
            full[k] = array
        return jax.tree.unflatten(form, full)

    return [leaves[k] for k in at], rebuilt


def outline(tree: Any) -> Any:
    """The same with shape and dtype in the place of each array, also of those that are known."""
    return jax.tree.map(lambda leaf: leaf if isinstance(leaf, Every) else _outline(leaf), tree)


def common(a: Any, b: Any, lead: tuple[int, ...] = ()) -> Any:
    """An outline that both conform to.

    Parameters
    ----------
    a, b : tree
    lead : tuple of int
        Of elements of stacks, the sizes of these.

    Raises
    ------
    XlaUnavailable
        Where there is none: XLA has one shape for each value.
    """
    if a is ABSENT or b is ABSENT:
        return b if a is ABSENT else a
    if isinstance(a, MaybeHollow) or isinstance(b, MaybeHollow):
        array = common(plain(a), plain(b), lead)
        return MaybeHollow(array, common(is_hollow(a), is_hollow(b), lead))
    if isinstance(a, TensorArray) or isinstance(b, TensorArray):
        a, b = as_tensor_array(a), as_tensor_array(b)
        return TensorArray(common(a.rows, b.rows, lead), common(a.length, b.length, lead))
    if isinstance(a, Stack) or isinstance(b, Stack):
        a, b = _as_stack(a, b), _as_stack(b, a)
        size = max(_known(a.size), _known(b.size))
        a, b = longer(a, size, lead), longer(b, size, lead)
        return Stack(common(a.elements, b.elements, (*lead, size)), a.size)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        return [common(v, w, lead) for v, w in zip(a, b, strict=True)]
    if _same(a, b):
        return a
    a, b = _outline(a, lead), _outline(b, lead)
    if not (_moves(a) and _moves(b)) or a.shape != b.shape or a.dtype != b.dtype:
        raise XlaUnavailable("the sizes of what it returns depend on which way it goes")
    return a


def conform(value: Any, form: Any, lead: tuple[int, ...] = ()) -> Any:
    """A value in an outline: what is known in it becomes an array where the outline has one."""
    if isinstance(form, MaybeHollow):
        absent = True if value is ABSENT else is_hollow(value)
        array = value if value is ABSENT else plain(value)
        return MaybeHollow(conform(array, form.array, lead), conform(absent, form.hollow, lead))
    if isinstance(form, TensorArray):
        given: Any = (ABSENT, ABSENT) if value is ABSENT else as_tensor_array(value)
        rows, length = given
        return TensorArray(conform(rows, form.rows, lead), conform(length, form.length, lead))
    if isinstance(form, Stack):
        size = _known(form.size)
        elements = value
        if value is not ABSENT:
            elements = longer(_as_stack(value, form), size, lead).elements
        return Stack(conform(elements, form.elements, (*lead, size)), form.size)
    if isinstance(form, list):
        values = [ABSENT] * len(form) if value is ABSENT else value
        return [conform(v, f, lead) for v, f in zip(values, form, strict=True)]
    if not isinstance(form, jax.ShapeDtypeStruct):
        return form
    if value is ABSENT:
        return jnp.zeros(form.shape, form.dtype)
    if not is_traced(value):
        value = np.asarray(_known(value))
        value = jnp.broadcast_to(value, (*lead, *value.shape))
    if value.shape != form.shape or value.dtype != form.dtype:
        raise XlaUnavailable(_CHANGES)
    return value


_CHANGES: Final = "the sizes of what it carries change from one iteration to the next"


def _outline(leaf: Any, lead: tuple[int, ...] = ()) -> Any:
    if _moves(leaf):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
    known = _known(leaf)
    if isinstance(known, (np.ndarray, np.generic, bool)):
        return jax.ShapeDtypeStruct((*lead, *np.shape(known)), dtype_of(known))
    return leaf


def _known(leaf: Any) -> Any:
    while isinstance(leaf, Every):
        leaf = leaf.value
    return leaf


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if _moves(a) or _moves(b):
        return False
    a, b = _known(a), _known(b)
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        same = a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        return bool(same)
    return bool(a == b)


def _as_stack(value: Any, like: Any) -> Stack:
    """A list of what was pushed as a stack; one of nothing, as one of which nothing is read."""
    if isinstance(value, Stack):
        return value
    if not isinstance(value, list):
        raise XlaUnavailable("it returns an array of tensors one way, and none another way")
    return stacked(value) if value else Stack(ABSENT, like.size)


def as_tensor_array(value: Any) -> TensorArray:
    """A list of elements, None where there is none, as such an array."""
    if not isinstance(value, list):
        if not isinstance(value, TensorArray):
            raise XlaUnavailable("it returns an array of tensors one way, and none another way")
        return value
    there = [v is not None for v in value]
    elements = ABSENT
    if any(there):
        elements = stacked([ABSENT if v is None else v for v in value]).elements
    written = Every(False) if not value else jnp.asarray(there)
    return TensorArray(Stack([elements, written], len(value)), np.int64(len(value)))


def longer(stack: Stack, size: int, lead: tuple[int, ...] = ()) -> Stack:
    """A stack with room for more elements."""
    lacking = size - _known(stack.size)
    if not lacking:
        return stack
    at = len(lead)

    def padded(leaf: Any) -> Any:
        if isinstance(leaf, jax.ShapeDtypeStruct):
            return jax.ShapeDtypeStruct((*leaf.shape[:at], size, *leaf.shape[at + 1 :]), leaf.dtype)
        if not is_traced(leaf):
            return leaf
        widths = [(0, lacking if k == at else 0) for k in range(leaf.ndim)]
        return jnp.pad(leaf, widths)

    room: Any = size
    for _ in lead:
        room = Every(room)
    return Stack(jax.tree.map(padded, stack.elements), room)


def stacked(values: list[Any]) -> Stack:
    """What iterations have pushed one by one; XlaUnavailable where sizes differ."""
    form = values[0]
    for value in values[1:]:
        form = common(form, value)
    arrays = [split(conform(v, form))[0] for v in values]
    _, rebuilt = split(form)
    joined = rebuilt([jnp.stack(column) for column in zip(*arrays, strict=True)])
    return Stack(closed(joined), len(values))


def closed(elements: Any) -> Any:
    """Elements of a stack: what is known is so for every iteration."""
    return jax.tree.map(lambda leaf: leaf if _moves(leaf) else Every(leaf), elements)


def opened(element: Any) -> Any:
    """One element of those of a stack."""
    return jax.tree.map(lambda leaf: leaf.value if isinstance(leaf, Every) else leaf, element)


def element_of(stack: Any, t: int) -> Any:
    if isinstance(stack, list):
        return stack[t]
    arrays, rebuilt = split(stack.elements)
    return opened(rebuilt([a[t] for a in arrays]))
