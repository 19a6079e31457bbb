"""``paddle.grad``: gradients as values, of any order."""

from __future__ import annotations

import sys
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
from autograd_engine.eager.grad_mode import current_mode, recording, unwatched
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
from autograd_engine.ops.registry.scattered_cotangent import Lazy
from autograd_engine.program import mode

__all__ = ["grad", "leads_to"]

_AS_IT_IS = nullcontext()


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
    here = current_mode()
    if (trace := here.trace) is not None:
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
    if not (
        create_graph.__class__ is only_inputs.__class__ is allow_unused.__class__ is bool
        and (retain_graph is None or retain_graph.__class__ is bool)
    ):
        require_bools(
            "grad", create_graph=create_graph, only_inputs=only_inputs, allow_unused=allow_unused
        )
        require_bools("grad", retain_graph=retain_graph)
    if not only_inputs:
        raise ArgumentError("grad: only_inputs=False is not supported; use backward() for leaves")
    cotangents = checked_cotangents("grad", roots, grad_outputs, "grad_outputs")
    if create_graph:
        cotangents = recorded_cotangents(grad_outputs, cotangents)
    blocked = {edge_of(t) for t in _no_grad(no_grad_vars)} if no_grad_vars is not None else set()
    targets: set[Edge] = {t._node or t for t in sources if not t._stop}
    seeds = seeds_of(roots, cotangents)
    edges = [edge for edge, _ in seeds]
    if create_graph:
        write_out(edges)
    needed = leads_to(edges, targets, blocked, all_as_none=not create_graph)
    if needed is not None:
        seeds = [seed for seed in seeds if seed[0] in needed]
    at = caller()
    dump = graph_dump(dump_backward_graph_path, seeds)
    records = create_graph and not here.enabled
    with recording() if records else _AS_IT_IS, unwatched():
        found = run_backward(
            seeds,
            at=at,
            retain=retain_graph is not False or create_graph,
            create_graph=create_graph,
            needed=needed,
            capture=None if needed is None else targets,
            observe=observer(at, seeds, dump),
        )
        for edge, g in found.items():
            found[edge] = as_seen(g.dense() if isinstance(g, Lazy) else g)
    if dump is not None:
        dump.write()
    results: list[Tensor | None] = []
    handed_out: set[int] = set()
    for k, t in enumerate(sources):
        g = None if t._stop else found.get(t._node or t)
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
    if not create_graph and here.enabled:  # for `explain`
        root = roots[0]
        if not root._stop:
            # What cannot be written to belongs to others too.
            values = [g._data for g in results if g is not None and g._data.flags.writeable]
            note_cut(NO_GRAPH, root, *values, at=at)
    return results


def _no_grad(value: Any) -> list[Tensor]:
    values = [value] if isinstance(value, Tensor) else value
    if not isinstance(values, (list, tuple, set, frozenset)) or not all(
        isinstance(v, Tensor) for v in values
    ):
        raise NotATensorError("grad: no_grad_vars must be None, a Tensor or a list of Tensors")
    return list(values)


@overload
def leads_to(
    roots: list[Edge], targets: set[Edge], blocked: set[Edge], since: int | None = None
) -> dict[Edge, int]: ...
@overload
def leads_to(
    roots: list[Edge],
    targets: set[Edge],
    blocked: set[Edge],
    since: int | None = None,
    *,
    all_as_none: bool,
) -> dict[Edge, int] | None: ...
def leads_to(
    roots: list[Edge],
    targets: set[Edge],
    blocked: set[Edge],
    since: int | None = None,
    *,
    all_as_none: bool = False,
) -> dict[Edge, int] | None:
    """Edges from which a target can be reached without crossing `blocked`.

    With each, how many edges of nodes among them lead to it: so many cotangents come from there.

    With `since`, a sequence number, nodes recorded before it are not looked at: what the targets
    are newer than cannot lead to them, and may be large, or freed. Where all targets are nodes,
    that is the number of the oldest.

    With `all_as_none` it is None where every path ends at a target that is a leaf: then a pass need
    not be told where to go.

    The order in which nodes were recorded is a topological one, so one sweep over those that are
    met, from old to new, decides all of them.
    """
    if since is None:
        since = -sys.maxsize if targets else 1  # sequence numbers are 0 or less
        for t in targets:
            if not isinstance(t, Node):
                since = 1
                break
            since = max(since, t.seq)
    seen = set(blocked)
    nodes: list[Node] = []
    for root in roots:
        if root not in seen:
            seen.add(root)
            if isinstance(root, Node) and root.seq < since:
                nodes.append(root)
    freed = False
    for node in nodes:  # which grows
        if node.saved.__class__ is Location:
            freed = True
        for edge in node.edges:
            if edge not in seen:
                seen.add(edge)
                # Beyond the oldest target nothing leads to any of them.
                if (edge.__class__ is Node or isinstance(edge, Node)) and edge.seq < since:
                    nodes.append(edge)
    if all_as_none and not (freed or blocked or any(isinstance(t, Node) for t in targets)):
        leaves = len(seen) - len(nodes)
        if leaves == sum([t in seen for t in targets]):
            return None
    needed = dict.fromkeys((targets & seen) - blocked, 0)
    nodes.sort(key=attrgetter("seq"), reverse=True)
    for node in nodes:
        if freed:
            check_alive(node)
        leads = False
        for edge in node.edges:
            if edge in needed:
                needed[edge] += 1
                leads = True
        if leads and node not in needed:
            needed[node] = 0
    return needed
