"""``autograd.backward`` and ``Tensor.backward``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from autograd_engine.autograd.no_history import warn_without_history
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import COMPLEX
from autograd_engine.core.locations import Location, caller
from autograd_engine.core.locks import awaited_lock
from autograd_engine.eager.grad_mode import grad_mode, recording, unwatched
from autograd_engine.eager.graph_cuts import NO_GRAPH, in_user_code
from autograd_engine.eager.hooks import Hooks, LeafHooks, Retained, as_seen, run_hooks
from autograd_engine.eager.row_sparse import RowSparse
from autograd_engine.eager.tape import (
    Edge,
    HookedNode,
    HookedSlot,
    Node,
    Observer,
    Slot,
    run_backward,
    write_out,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from autograd_engine.ops.kernels.compiled import LARGE, MANY
from autograd_engine.ops.registry.cores import repeated
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.scattered_cotangent import Scattered, dense, is_row_sparse
from autograd_engine.program import mode

if TYPE_CHECKING:
    from autograd_engine.autograd.graph_dump import GraphDump

__all__ = [
    "accumulate",
    "backward",
    "checked_cotangents",
    "graph_dump",
    "hooks_of",
    "leaf_hooks",
    "observer",
    "real_loss",
    "recorded_cotangents",
    "seeds_of",
    "settled",
    "tensor_backward",
]


_new = object.__new__
_publishing = awaited_lock(0)
_Update: TypeAlias = tuple[Tensor, Tensor | None, Any, Tensor]  # leaf, before, what arrived, sum
_ndarray = np.ndarray


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
    *,
    create_graph: bool = False,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Accumulate the gradients of `tensors` in the ``.grad`` of the leaves.

    Parameters
    ----------
    tensors : Tensor or sequence of Tensor
        Different ones; gradients are those of their sum.
    grad_tensors : Tensor or sequence of Tensor or None, optional
        Cotangents to start with, of the shapes of `tensors`; None stands for ones.
    retain_graph : bool
        Keep the graph for another pass. By default it is freed as the pass goes along.
    create_graph : bool
        Record the pass, so that the gradients in ``.grad`` can be differentiated; implies
        `retain_graph`. A leaf then holds its gradient, which holds the graph, which holds the leaf:
        clear the gradients when done, or use `paddle.grad`, which ties no such knot.
    dump_backward_graph_path : str, optional
        Write drawings of the graph (dot) and the call stacks of its nodes into this directory.

    Warns
    -----
    NoHistoryWarning
        For each of `tensors` that carries no gradient, once for a line: it says why.

    Raises
    ------
    NotATensorError, ArgumentError, ShapeError
        For arguments of another kind (all but ShapeError are AssertionErrors).
    GraphFreedError
        When the graph was freed by an earlier pass. No ``.grad`` is touched then.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.autograd.backward([x * x])
    >>> x.grad.tolist()
    [2.0, 4.0]
    """
    mode.require_dynamic("paddle.autograd.backward")
    roots = _checked_tensors("backward", tensors, "tensors")
    cotangents = checked_cotangents("backward", roots, grad_tensors, "grad_tensors")
    require_bools("backward", retain_graph=retain_graph, create_graph=create_graph)
    if any(t._stop for t in roots):
        warn_without_history(roots)
    if create_graph:
        _run_recorded(roots, grad_tensors, cotangents, dump_backward_graph_path, caller())
    else:
        seeds = seeds_of(roots, cotangents)
        _run(seeds, retain_graph, dump_backward_graph_path, caller())


def tensor_backward(
    self: Tensor,
    grad_tensor: Tensor | None = None,
    retain_graph: bool = False,
    *,
    create_graph: bool = False,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Accumulate the gradients of this tensor in the ``.grad`` of the leaves.

    Parameters
    ----------
    grad_tensor : Tensor, optional
        The cotangent of this tensor, of its shape; ones if not given.
    retain_graph, create_graph, dump_backward_graph_path : optional
        See `autograd.backward`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> (x * x).backward(paddle.to_tensor([1.0, 10.0]))
    >>> x.grad.tolist()
    [2.0, 40.0]
    """
    if (
        (grad_tensor is None or _is_like(grad_tensor, self._data))
        and retain_graph.__class__ is bool
        and create_graph is False
        and dump_backward_graph_path is None
    ):
        if self._stop:
            warn_without_history([self])
            return
        seed = _ones(self._data) if grad_tensor is None else as_seen(grad_tensor._data)
        _run([(self._node or self, seed)], retain_graph, None, caller())
    else:
        backward(
            self,
            grad_tensor,
            retain_graph,
            create_graph=create_graph,
            dump_backward_graph_path=dump_backward_graph_path,
        )


def _is_like(grad_tensor: Any, data: Any) -> bool:
    """Whether it is a cotangent of `data` as it stands."""
    if grad_tensor.__class__ is not Tensor:
        return False
    g = grad_tensor._data
    return g.dtype is data.dtype and bool(g.shape == data.shape)


def seeds_of(roots: list[Tensor], cotangents: list[Any]) -> list[tuple[Edge, Any]]:
    """Where a pass begins, with cotangents as rules have them."""
    return [
        (t._node or t, as_seen(g)) for t, g in zip(roots, cotangents, strict=True) if not t._stop
    ]


def _run(seeds: list[tuple[Edge, Any]], retain: bool, dump_path: str | None, at: Location) -> None:
    watch = in_user_code.watch
    if watch is not None:
        watch(NO_GRAPH, None)
    dump = graph_dump(dump_path, seeds)
    retained: Retained = []
    found = run_backward(
        seeds,
        at=at,
        retain=retain,
        observe=observer(at, seeds, dump),
        retained=retained,
    )
    accumulate(found, retained)
    if dump is not None:
        dump.write()


def _run_recorded(
    roots: list[Tensor], given: Any, cotangents: list[Any], dump_path: str | None, at: Location
) -> None:
    """A pass whose gradients are Tensors with a history, and so are their sums in ``.grad``."""
    tensors = recorded_cotangents(given, cotangents)
    seeds = seeds_of(roots, tensors)
    write_out(edge for edge, _ in seeds)
    dump = graph_dump(dump_path, seeds)
    retained: Retained = []
    with recording(), unwatched():
        found = run_backward(
            seeds,
            at=at,
            retain=True,
            create_graph=True,
            observe=observer(at, seeds, dump),
            retained=retained,
        )
        updated: list[_Update] = []
        for leaf, g in cast("dict[Tensor, Any]", found).items():
            old, hooks = _gradient_and_hooks(leaf)
            g = as_seen(dense(g))
            g = g if hooks is None else run_hooks(hooks.before, g, leaf.name)
            # One of its own: two leaves may have got the same.
            updated.append((leaf, old, g, ops.assign(g) if old is None else old + g))
        after = [leaf for leaf, *_ in updated if leaf._hooks is not None]
        _publish(updated, retained, lambda old, g: ops.assign(g) if old is None else old + g)
    _run_after(after)
    if dump is not None:
        dump.write()


def graph_dump(path: str | None, seeds: list[tuple[Edge, Any]]) -> GraphDump | None:
    """What watches a pass and writes drawings of it, if there is a `path` to write them to."""
    if path is None:
        return None
    # Rarely asked for, and what writes files takes long to import.
    from autograd_engine.autograd.graph_dump import GraphDump

    return GraphDump(path, seeds)


def observer(
    at: Location, seeds: list[tuple[Edge, Any]], dump: GraphDump | None = None
) -> Observer | None:
    """What looks at each node of a pass: the dump, observers, anomaly mode, or nothing."""
    observe: Observer | None = None if dump is None else dump.observe
    for each in grad_mode.observers:
        observe = _observed(each, observe)
    anomaly = grad_mode.anomaly
    return observe if anomaly is None else anomaly.observer(at, seeds, observe)


def _observed(observer: Any, then: Observer | None) -> Observer:
    def observe(node: Node, g: Any, edges: tuple[Edge, ...], results: tuple[Any, ...]) -> None:
        if not isinstance(node, Slot):
            observer.passed(node, g, results)
        if then is not None:
            then(node, g, edges, results)

    return observe


def accumulate(found: dict[Edge, Any], retained: Retained) -> None:
    """Add cotangents to the ``.grad`` of leaves; all sums are made before any leaf changes."""
    updated: list[_Update] = []
    after: list[Tensor] = []
    parted: set[int] | None = None
    for leaf, g in cast("dict[Tensor, Any]", found).items():
        try:
            old, hooks = leaf._grad, leaf._hooks
        except AttributeError:  # results that became leaves lack one or both
            old, hooks = _gradient_and_hooks(leaf)
        if g.dtype in COMPLEX:
            g = as_seen(dense(g))
        if hooks is not None:
            g = run_hooks(hooks.before, dense(g), leaf.name)
            after.append(leaf)
        total = g
        if old is None and g.__class__ is _ndarray:
            if g.base is not None:
                if parted is None and g.size >= LARGE and g.flags.c_contiguous:
                    parted = _parted(found)
                if parted is None or id(g) not in parted:
                    total = settled(g)
        else:
            total = _with_old(old, g)
            if total.__class__ is Scattered:
                updated.append((leaf, old, g, RowSparse(total)))
                continue
        grad = _new(Tensor)  # `Tensor._wrap`, without a call for each leaf
        grad._data, grad._node, grad._stop = total, None, False
        grad._grad = grad._hooks = None
        updated.append((leaf, old, g, grad))
    _publish(updated, retained, _gradient)
    if after:
        _run_after(after)


def _gradient_and_hooks(leaf: Tensor) -> tuple[Tensor | None, LeafHooks | None]:
    with _publishing:
        leaf._grad, leaf._hooks = leaf.grad, getattr(leaf, "_hooks", None)
        return leaf._grad, leaf._hooks


def leaf_hooks(leaf: Tensor) -> LeafHooks:
    """Those of a leaf, to which one can be added: other threads find the same."""
    with _publishing:
        _, hooks = _gradient_and_hooks(leaf)
        if hooks is None:
            hooks = leaf._hooks = LeafHooks()
        return hooks


def hooks_of(tensor: Tensor) -> Hooks:
    """Those on the gradient of a tensor, to which one can be added."""
    node = tensor._node
    if node is None:
        return leaf_hooks(tensor).before
    with _publishing:
        if not isinstance(node, (HookedNode, HookedSlot)):
            node.hooks = Hooks()  # a pass in another thread asks for them when it sees the class
            node.__class__ = HookedSlot if isinstance(node, Slot) else HookedNode
        return node.hooks


def _publish(updated: list[_Update], retained: Retained, again: Callable[[Any, Any], Any]) -> None:
    """Let gradients be seen; nothing that can fail comes before the last of them.

    Where another thread, or a hook, has changed a gradient since it was read, `again` adds to what
    there is now: no contribution is lost.
    """
    with _publishing:
        for leaf, old, g, grad in updated:
            leaf._grad = grad if leaf._grad is old else again(leaf._grad, g)
        for tensor, grad in retained:
            grad._stop = False
            tensor._grad = grad


def _run_after(leaves: list[Tensor]) -> None:
    for leaf in leaves:
        assert leaf._hooks is not None
        for hook in tuple(leaf._hooks.after.values()):
            hook(leaf)


def _gradient(old: Tensor | None, g: Any) -> Tensor:
    total = _with_old(old, g)
    return RowSparse(total) if total.__class__ is Scattered else Tensor._leaf(total)


def _with_old(old: Tensor | None, g: Any) -> Any:
    """What there was and `g`, as an array of its own, or as rows of a table."""
    if old is not None:
        g = (old._data if old.__class__ is Tensor else _scattered_of(old)) + g
    if g.__class__ is Scattered:
        return g if is_row_sparse(g) else settled(g.dense())
    return settled(g)


def _scattered_of(grad: Tensor) -> Any:
    """The rows of a gradient that has no more, else its values."""
    kept = grad.compact() if isinstance(grad, RowSparse) else None
    return grad._data if kept is None else kept


def settled(g: Any) -> Any:
    """A gradient as an array of its own: no scalar, and no view that pins a larger one."""
    g = np.asarray(g)
    base = g.base
    if base is None or (
        isinstance(base, np.ndarray) and base.size == g.size and g.flags.c_contiguous
    ):
        return g
    copy = repeated(g) if g.size >= MANY else None
    return np.array(g, order="C") if copy is None else copy


def _parted(found: dict[Edge, Any]) -> set[int]:
    """The ids of views that together are as large as the array they are of: none pins a larger one.

    Such are the cotangents of what was concatenated or stacked.
    """
    sizes: dict[int, int] = {}
    views: list[Any] = [
        g
        for leaf, g in found.items()
        if g.__class__ is _ndarray and g.base.__class__ is _ndarray and g.flags.c_contiguous
        if getattr(leaf, "_grad", None) is None  # else it is added to that
    ]
    for g in views:
        sizes[id(g.base)] = sizes.get(id(g.base), 0) + g.size
    return {id(g) for g in views if sizes[id(g.base)] >= g.base.size}


def _checked_tensors(
    function: str,
    value: Any,
    argument: str,
    again: str = "name it once, with twice the cotangent",
    refused: type[ArgumentError] = ArgumentError,
) -> list[Tensor]:
    if value.__class__ is Tensor:
        return [value]
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    if not values:
        raise ArgumentError(f"{function}: {argument} cannot be empty; give one Tensor at least")
    for v in values:
        if not isinstance(v, Tensor):
            raise NotATensorError(
                f"{function}: {argument} must be a Tensor or a list of Tensors, got "
                f"{type(v).__name__}"
            )
    if len(values) > 1 and len({id(v) for v in values}) != len(values):
        raise refused(f"{function}: {argument} holds the same Tensor twice; {again}")
    return values


def checked_cotangents(function: str, roots: list[Tensor], value: Any, argument: str) -> list[Any]:
    """One ndarray for each root."""
    if value is None:
        return [_ones(t._data, function, argument) for t in roots]
    if isinstance(value, Tensor):
        values: list[Any] = [value]
    elif isinstance(value, (list, tuple)):
        values = list(value) or [None] * len(roots)
    else:
        raise NotATensorError(
            f"{function}: {argument} must be None, a Tensor, or a list of Tensors and Nones; got "
            f"{type(value).__name__}"
        )
    if len(values) != len(roots):
        raise ArgumentError(
            f"{function}: {argument} has {len(values)} entries for {len(roots)} tensors; give one "
            "each, None for ones"
        )
    return [_cotangent(function, t, g, argument) for t, g in zip(roots, values, strict=True)]


def recorded_cotangents(given: Any, arrays: list[Any]) -> list[Any]:
    """Cotangents as Tensors. One that has a history keeps it: gradients depend on it linearly."""
    if given is None:
        return [Tensor._wrap(a) for a in arrays]
    values = [given] if isinstance(given, Tensor) else list(given or [None] * len(arrays))
    return [
        Tensor._wrap(a) if t is None else t if t._data is a else _as(t, a)
        for t, a in zip(values, arrays, strict=True)
    ]


def _as(cotangent: Tensor, array: Any) -> Any:
    """`cotangent` in the shape and the dtype of `array`."""
    if cotangent._data.shape != array.shape:
        cotangent = ops.reshape(cotangent, shape=array.shape)
    return ops.cast(cotangent, dtype=array.dtype.name)


def real_loss(function: str, argument: str, as_in: str = "loss.backward(grad)") -> DTypeError:
    """What to raise where ones would be the cotangent of a complex value."""
    return DTypeError(
        f"{function}: a gradient is that of a real loss, and this one is complex: take "
        f"loss.abs() or loss.real(), or give its cotangent as {argument}, as in {as_in}"
    )


_ONE: dict[Any, Any] = {}


def _ones(data: Any, function: str = "backward", argument: str = "grad_tensors") -> Any:
    """Ones like `data`; a scalar loss, which is nearly every loss, gets the one that is kept."""
    one = None if data.ndim else _ONE.get(data.dtype)
    if one is None:
        if data.dtype in COMPLEX:
            raise real_loss(function, argument)
        one = np.ones(data.shape, data.dtype)
        if not data.ndim:
            one.flags.writeable = False  # all passes share it
            _ONE[data.dtype] = one
    return one


def _cotangent(function: str, root: Tensor, g: Any, argument: str) -> Any:
    data = root._data
    if g is None:
        return _ones(data, function, argument)
    if not isinstance(g, Tensor):
        raise NotATensorError(
            f"{function}: {argument} must hold Tensors and Nones, got {type(g).__name__}: "
            "use paddle.to_tensor"
        )
    if g._data.dtype in COMPLEX and data.dtype not in COMPLEX:
        raise DTypeError(
            f"{function}: {argument} is {g._data.dtype.name} for a tensor that is "
            f"{data.dtype.name}; use paddle.real, paddle.imag or paddle.abs"
        )
    if g._data.shape == (1,) and not data.ndim:  # as the reference has it of a 0-d output
        return g._data.astype(data.dtype, copy=False)[0, ...]
    if g._data.shape != data.shape:
        raise ShapeError(
            f"{function}: {argument} has shape {list(g._data.shape)} for a tensor of shape "
            f"{list(data.shape)}; they must be equal"
        )
    return g._data.astype(data.dtype, copy=False)
