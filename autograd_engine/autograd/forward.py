"""Forward mode on Tensors: a function is recorded, and tangents are pushed along the recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_engine.autograd.backward import settled
from autograd_engine.autograd.gradient import grad, leads_to
from autograd_engine.eager.grad_mode import (
    LINEARIZING,
    enable_grad,
    grad_mode,
    linearizing,
    no_grad,
)
from autograd_engine.eager.tape import (
    Edge,
    MultiNode,
    Node,
    Slot,
    edge_of,
    lift,
    newer,
    run_backward,
)
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    NotATensorError,
    NotDifferentiableError,
    ShapeError,
)
from autograd_engine.namespace import ops
from autograd_engine.pushforward import push
from autograd_engine.scattered import dense
from autograd_engine.source import caller
from autograd_engine.spec import format_shape
from autograd_engine.static import mode

__all__ = ["jvp", "vjp"]


def jvp(
    func: Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
) -> tuple[Any, Any]:
    """The value of `func` at `xs`, and its derivative there in the direction `v`.

    Parameters
    ----------
    func : callable
        Takes the tensors in `xs` as arguments; returns a Tensor, or a list or tuple of them.
        Gradients that it takes itself need ``create_graph=True`` to take part.
    xs : Tensor or sequence of Tensor
    v : Tensor or sequence of Tensor or None, optional
        A tangent for each of `xs`, of its shape and dtype; None stands for ones where `v` is None
        as a whole, and for zeros in a sequence.
    create_graph : bool
        Record the computation, so that value and derivative can be differentiated.

    Returns
    -------
    ys, tangents
        As `func` returns them. The tangent of an output that depends on no input is zeros; that of
        an output which is not floating is None.

    Raises
    ------
    NotATensorError, ShapeError, DTypeError, ArgumentError

    Notes
    -----
    The rules of reverse mode serve forward mode, so every differentiable operation has one. The
    recording keeps what a backward pass would, until the tangents have passed.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> ys, tangents = jvp(lambda x: x * x, x, paddle.to_tensor([1.0, 10.0]))
    >>> ys.tolist(), tangents.tolist()
    ([1.0, 4.0], [2.0, 40.0])
    """
    mode.require_dynamic("jvp")
    inputs = _inputs("jvp", func, xs)
    tangents = _directions("jvp", inputs, v, "v", zeros=True)
    create_graph = create_graph or grad_mode.enabled is LINEARIZING
    since = newer()
    with linearizing():
        traced = _traced(inputs)
        # Now, for `func` may write to them.
        starts = {edge_of(x): t for x, t in zip(traced, tangents, strict=True) if t is not None}
        value = func(*traced)
    ys = _outputs("jvp", value)
    with enable_grad() if create_graph else no_grad():
        pushed = _push(ys, starts, since, create_graph)
        # Tensors of their own: one may be `v` itself, or the tangent of two outputs.
        if create_graph:
            pushed = [t if t is None else ops.assign(t) for t in pushed]
        else:
            pushed = [t if t is None else t.detach() for t in pushed]
            ys = [y.detach() for y in ys]
    return _like(value, ys), _like(value, pushed)


def vjp(
    func: Callable[..., Any],
    xs: Tensor | Sequence[Tensor],
    v: Tensor | Sequence[Tensor] | None = None,
    create_graph: bool = False,
) -> tuple[Any, Any]:
    """The value of `func` at `xs`, and the gradient of ``<v, func(xs)>`` with respect to `xs`.

    Parameters
    ----------
    func : callable
        Takes the tensors in `xs` as arguments; returns a Tensor, or a list or tuple of them.
    xs : Tensor or sequence of Tensor
    v : Tensor or sequence of Tensor, optional
        Cotangents of the outputs; ones if not given.
    create_graph : bool
        Record the computation, so that value and gradient can be differentiated.

    Returns
    -------
    ys, gradients
        `ys` as `func` returns them; a gradient for each of `xs`, zeros where no output depends on
        it, in a sequence where `xs` is one.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> ys, gradient = vjp(lambda x: (x * x).sum(), paddle.to_tensor([1.0, 2.0]))
    >>> ys.item(), gradient.tolist()
    (5.0, [2.0, 4.0])
    """
    mode.require_dynamic("vjp")
    inputs = _inputs("vjp", func, xs)
    create_graph = create_graph or grad_mode.enabled is LINEARIZING
    with enable_grad():
        traced = _traced(inputs)
        # `func` may write to what it is given; these stay the inputs.
        sources = [Tensor._wrap(x._data, x._node) for x in traced]
        value = func(*traced)
    ys = _outputs("vjp", value)
    cotangents = _directions("vjp", ys, v, "v", zeros=False)
    # An output may be there twice, or be an input.
    roots = [Tensor._wrap(y._data, y._node) for y in ys if y._node is not None]
    seeds = [u for y, u in zip(ys, cotangents, strict=True) if y._node is not None]
    found: list[Tensor | None] = [None] * len(inputs)
    if roots:
        found = grad(roots, sources, seeds, create_graph=create_graph, allow_unused=True)
    gradients = [ops.zeros_like(x) if g is None else g for x, g in zip(inputs, found, strict=True)]
    if not create_graph:
        ys = [y.detach() for y in ys]
    return _like(value, ys), _like(xs, gradients)


def _traced(inputs: list[Tensor]) -> list[Tensor]:
    """Tensors to record a function with: no leaves, so that it may write to them."""
    return [ops.assign(Tensor._leaf(x._data) if x._stop else x) for x in inputs]


def _push(
    outputs: list[Tensor], starts: dict[Edge, Tensor], since: int, create_graph: bool
) -> list[Tensor | None]:
    """Tangents of `outputs`, from those of the edges in `starts`, all recorded after `since`."""
    floating = [y for y in outputs if y._data.dtype.kind == "f"]
    reached = leads_to([edge_of(y) for y in floating], set(starts), set(), since)
    tangents: dict[Edge, Any] = dict(starts)
    several: dict[Node, Sequence[Any]] = {}
    # Sequence numbers fall: from the oldest node to the newest.
    for node in sorted((e for e in reached if isinstance(e, Node)), key=lambda n: -n.seq):
        if node in starts:
            continue
        if isinstance(node, Slot):
            (source,) = node.edges
            assert isinstance(source, Node)
            tangents[node] = several[source][node.index]
            continue
        results = _push_node(node, [tangents.get(e) for e in node.edges], create_graph)
        if isinstance(node, MultiNode):
            several[node] = results
        else:
            (tangents[node],) = results
    return [
        None
        if y._data.dtype.kind != "f"
        else ops.zeros_like(y)
        if (t := tangents.get(edge_of(y))) is None
        else t
        for y in outputs
    ]


def _push_node(node: Node, tangents: Sequence[Any], create_graph: bool) -> Sequence[Any]:
    context = getattr(node, "context", None)
    if context is None:
        raise NotDifferentiableError(
            f"jvp: {node.name} of {node.location} was recorded in another thread; func must "
            "compute in the thread that calls jvp"
        )
    operands, outputs = context
    op = node.pullback.op

    def transpose(pull: Callable[[Any], Sequence[Any]], along: Sequence[Any]) -> Sequence[Any]:
        open_outputs = [k for k in range(len(outputs)) if op.output_at(k) not in op.nondiff_outputs]
        since = newer()
        us = {k: Tensor._leaf(np.zeros(outputs[k].shape, outputs[k].dtype)) for k in open_outputs}
        with enable_grad():
            pulled = [
                dense(r)
                for r in pull([us.get(k) for k in range(len(outputs))] if op.multiple else us[0])
            ]
        roots = [
            (edge_of(r), t if create_graph else t._data)
            for r, t in zip(pulled, along, strict=True)
            if r is not None and t is not None and not r._stop
        ]
        targets: set[Edge] = set(us.values())
        found = run_backward(
            roots,
            at=caller(),
            retain=True,
            create_graph=create_graph,
            needed=leads_to([edge for edge, _ in roots], targets, set(), since),
        )
        tangents_of = {k: dense(found.get(u)) for k, u in us.items()}
        return [
            t if t is None or isinstance(t, Tensor) else Tensor._wrap(settled(t))
            for t in (tangents_of.get(k) for k in range(len(outputs)))
        ]

    values = [Tensor._wrap(a) if isinstance(a, np.ndarray) else a for a in operands]
    return push(node.pullback, lift(node), node.attrs, values, outputs, tangents, transpose)


# --- arguments and results


def _inputs(function: str, func: Any, xs: Any) -> list[Tensor]:
    if not callable(func):
        raise NotATensorError(
            f"{function}: func must be a function of tensors, got {type(func).__name__}"
        )
    inputs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    for k, x in enumerate(inputs):
        if not isinstance(x, Tensor):
            raise NotATensorError(
                f"{function}: xs[{k}] must be a Tensor, got {type(x).__name__}: use to_tensor"
            )
        if x._data.dtype.kind != "f":
            raise DTypeError(
                f"{function}: xs[{k}] must be floating to be differentiated, got "
                f"{x._data.dtype.name}: use x.astype('float32')"
            )
    return inputs


def _outputs(function: str, value: Any) -> list[Tensor]:
    ys = list(value) if isinstance(value, (list, tuple)) else [value]
    for y in ys:
        if not isinstance(y, Tensor):
            raise NotATensorError(
                f"{function}: func must return a Tensor, or a list or tuple of them; got "
                f"{type(y).__name__}"
            )
    return ys


def _directions(
    function: str, primals: list[Tensor], given: Any, argument: str, *, zeros: bool
) -> list[Tensor | None]:
    """One for each of `primals`, checked; ones where nothing was given."""
    if given is None:
        return [
            None if x._data.dtype.kind != "f" else Tensor._wrap(np.ones_like(x._data))
            for x in primals
        ]
    values = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(values) != len(primals):
        raise ArgumentError(
            f"{function}: {argument} has {len(values)} entries for {len(primals)} tensors; give "
            "one each"
        )
    for k, (x, t) in enumerate(zip(primals, values, strict=True)):
        if t is None and zeros:
            continue
        if not isinstance(t, Tensor):
            raise NotATensorError(
                f"{function}: {argument}[{k}] must be a Tensor, got {type(t).__name__}"
            )
        if t._data.shape != x._data.shape:
            raise ShapeError(
                f"{function}: {argument}[{k}] has shape {format_shape(t._data.shape)}, what it "
                f"belongs to {format_shape(x._data.shape)}; they must be equal"
            )
        if t._data.dtype != x._data.dtype:
            raise DTypeError(
                f"{function}: {argument}[{k}] is {t._data.dtype.name}, what it belongs to "
                f"{x._data.dtype.name}: use {argument}.astype({x._data.dtype.name!r})"
            )
    return values


def _like(value: Any, results: list[Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return results if isinstance(value, list) else tuple(results)
    return results[0]
