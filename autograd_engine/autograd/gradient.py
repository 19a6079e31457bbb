"""``paddle.grad``: gradients as values, of any order."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from operator import attrgetter
from typing import Any, Literal, overload

from autograd_engine.autograd.backward_pass import (
    _checked_tensors,
    checked_cotangents,
    graph_dump,
    observer,
    recorded_cotangents,
    seeds_of,
    settled,
)
from autograd_engine.core.checks import require_bools
from autograd_engine.core.locations import Location, caller
from autograd_engine.eager.grad_mode import grad_mode, recording, unwatched
from autograd_engine.eager.graph_cuts import NO_GRAPH, note_cut
from autograd_engine.eager.hooks import as_seen
from autograd_engine.eager.tape import Edge, Node, check_alive, edge_of, run_backward, write_out
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    DuplicateError,
    NotATensorError,
    NotDifferentiableError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.scattered_cotangent import dense
from autograd_engine.program import mode

__all__ = ["grad", "leads_to"]


@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: Literal[False] = False,
    no_grad_vars: Tensor | Sequence[Tensor] | set[Tensor] | None = None,
    *,
    dump_backward_graph_path: str | None = None,
) -> list[Tensor]: ...
@overload
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    *,
    allow_unused: bool,
    no_grad_vars: Tensor | Sequence[Tensor] | set[Tensor] | None = None,
    dump_backward_graph_path: str | None = None,
) -> list[Tensor | None]: ...
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool = False,
    no_grad_vars: Tensor | Sequence[Tensor] | set[Tensor] | None = None,
    *,
    dump_backward_graph_path: str | None = None,
) -> Any:
    """Gradients of the sum of `outputs` with respect to `inputs`, which may be any tensors.

    Parameters
    ----------
    outputs, inputs : Tensor or sequence of Tensor
    grad_outputs : Tensor or sequence of Tensor or None, optional
        Cotangents of the outputs; None stands for ones.
    retain_graph : bool, optional
        The graph stays unless this is False.
    create_graph : bool
        Record the computation of the gradients, so that they can be differentiated.
    only_inputs : bool
        Must be True: no ``.grad`` is touched.
    allow_unused : bool
        None for an input that no output depends on, instead of an error.
    no_grad_vars : Tensor or collection of Tensor, optional
        No gradient flows through these.
    dump_backward_graph_path : str, optional
        Write drawings of what the pass crosses (dot) and the call stacks of its nodes into this
        directory.

    Returns
    -------
    list of Tensor or None
        One for each input.

    Raises
    ------
    NotDifferentiableError
        For an input that no output depends on.
    NotATensorError, ArgumentError, ShapeError, GraphFreedError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor(2.0, stop_gradient=False)
    >>> (first,) = paddle.grad(x * x * x, x, create_graph=True)
    >>> (second,) = paddle.grad(first, x)
    >>> first.item(), second.item()
    (12.0, 12.0)
    """
    if (trace := grad_mode.trace) is not None:
        return trace.grad(
            outputs,
            inputs,
            grad_outputs,
            no_grad_vars,
            create_graph=create_graph,
            allow_unused=allow_unused,
        )
    mode.require_dynamic("paddle.grad")
    roots = _checked_tensors("grad", outputs, "outputs", refused=DuplicateError)
    again = "leave the second one out"
    sources = _checked_tensors("grad", inputs, "inputs", again, DuplicateError)
    require_bools(
        "grad", create_graph=create_graph, only_inputs=only_inputs, allow_unused=allow_unused
    )
    if retain_graph is not None:
        require_bools("grad", retain_graph=retain_graph)
    if not only_inputs:
        raise ArgumentError("grad: only_inputs=False is not supported; use backward() for leaves")
    cotangents = checked_cotangents("grad", roots, grad_outputs, "grad_outputs")
    if create_graph:
        cotangents = recorded_cotangents(grad_outputs, cotangents)
    blocked = {edge_of(t) for t in _no_grad(no_grad_vars)}
    targets = {edge_of(t): k for k, t in enumerate(sources) if not t._stop}
    seeds = seeds_of(roots, cotangents)
    if create_graph:
        write_out(edge for edge, _ in seeds)
    needed = leads_to([edge for edge, _ in seeds], set(targets), blocked)
    seeds = [(edge, g) for edge, g in seeds if edge in needed]
    at = caller()
    dump = graph_dump(dump_backward_graph_path, seeds)
    with recording() if create_graph else nullcontext(), unwatched():
        found = run_backward(
            seeds,
            at=at,
            retain=retain_graph is not False or create_graph,
            create_graph=create_graph,
            needed=needed,
            capture=set(targets),
            observe=observer(at, seeds, dump),
        )
        found = {edge: as_seen(dense(g)) for edge, g in found.items()}
    if dump is not None:
        dump.write()
    results: list[Tensor | None] = []
    handed_out: set[int] = set()
    for k, t in enumerate(sources):
        g = None if t._stop else found.get(edge_of(t))
        if g is None and not allow_unused:
            raise NotDifferentiableError(
                f"grad: inputs[{k}] does not appear in the graph of the outputs: nothing "
                "computed from it reaches them, or its stop_gradient is True, or it holds "
                "integers. Pass "
                "allow_unused=True to get None for it"
            )
        if isinstance(g, Tensor) and id(g) in handed_out:
            # A hook may return one for two inputs; they are two results for all that.
            g = ops.assign(g)
        elif g is not None and not isinstance(g, Tensor):
            g = Tensor._wrap(settled(g))
        handed_out.add(id(g))
        results.append(g)
    if not create_graph and grad_mode.enabled:  # for `explain`
        root = roots[0]
        if not root._stop:
            # What cannot be written to belongs to others too.
            values = [g._data for g in results if g is not None and g._data.flags.writeable]
            note_cut(NO_GRAPH, root, *values, at=at)
    return results


def _no_grad(value: Any) -> list[Tensor]:
    if value is None:
        return []
    values = [value] if isinstance(value, Tensor) else value
    if not isinstance(values, (list, tuple, set, frozenset)) or not all(
        isinstance(v, Tensor) for v in values
    ):
        raise NotATensorError("grad: no_grad_vars must be None, a Tensor or a list of Tensors")
    return list(values)


def leads_to(
    roots: list[Edge], targets: set[Edge], blocked: set[Edge], since: int | None = None
) -> set[Edge]:
    """Edges from which a target can be reached without crossing `blocked`.

    With `since`, a sequence number, nodes recorded before it are not looked at: what the targets
    are newer than cannot lead to them, and may be large, or freed. Where all targets are nodes,
    that is the number of the oldest.

    Nodes are met in order of age, youngest first, by an explicit stack; the order in which they
    were recorded is a topological one, so one sweep from old to new decides all of them.
    """
    if since is None and targets and all(isinstance(t, Node) for t in targets):
        since = max(t.seq for t in targets if isinstance(t, Node))
    seen = set(blocked)
    waiting = [r for r in dict.fromkeys(roots) if r not in seen]
    seen.update(waiting)
    nodes: list[Node] = []
    while waiting:
        node = waiting.pop()
        # Beyond the oldest target nothing leads to any of them.
        if not isinstance(node, Node) or (since is not None and node.seq >= since):
            continue
        nodes.append(node)
        for edge in node.edges:
            if edge not in seen:
                seen.add(edge)
                waiting.append(edge)
    needed = (targets & seen) - blocked
    nodes.sort(key=attrgetter("seq"), reverse=True)
    for node in nodes:
        if node.saved.__class__ is Location:
            check_alive(node)
        if not needed.isdisjoint(node.edges):
            needed.add(node)
    return needed
