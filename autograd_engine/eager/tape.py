"""The tape: nodes that record operations, and the walk that runs them backwards.

An edge of a node leads to what made the input: another node, or the leaf Tensor itself. A node
holds no Tensor between, so nothing stays alive but what a rule asked for. Sequence numbers fall,
so the newest node comes first off a heap; when a node comes off, everything newer, and so every
consumer of its output, has contributed already. No recursion, and nothing is visited that no
cotangent reaches.

Saved arrays need no version counters: memory that anything else can see is never written (see
docs/design/eager.md, "Values").
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from heapq import heappop, heappush, heappushpop
from types import CodeType
from typing import Any, Final, NamedTuple, Self, TypeAlias

import numpy as np

from autograd_engine.core.dtypes import HALVES
from autograd_engine.core.locations import Location, caller, run_generated
from autograd_engine.core.spec import Array, Spec
from autograd_engine.eager.grad_mode import current_mode, mode_changed
from autograd_engine.eager.hooks import Hooks, Retained, as_seen, run_hooks
from autograd_engine.eager.saved_hooks import Packed
from autograd_engine.eager.sequence import newer
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import GraphFreedError
from autograd_engine.ops.kernels.compiled import MANY
from autograd_engine.ops.registry.cores import added
from autograd_engine.ops.registry.half_sum import HalfSum, is_half
from autograd_engine.ops.registry.namespace import ops, raw, raw_wide
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.ops.registry.scattered_cotangent import Lazy, Scattered, iadd_scattered
from autograd_engine.ops.registry.strong_zeros import zeros_are_strong

__all__ = [
    "Edge",
    "HookedNode",
    "HookedSlot",
    "MultiNode",
    "Node",
    "Observer",
    "Slot",
    "Unwritten",
    "WrittenOut",
    "check_alive",
    "edge_of",
    "newer",
    "run_backward",
    "saved_values",
    "write_out",
]

RUNS_RECORDED: Final = True  # what fails here was given nothing by the call; see `user_call`

_ndarray = np.ndarray
_FEW: Final = 1024  # elements that are added as quickly to new memory


class Node:
    """One recorded operation.

    Attributes
    ----------
    pullback : Pullback
        The compiled rules of the inputs that want a gradient.
    edges : tuple
        One edge for each of those inputs.
    saved : tuple, Packed or Location
        What the rules asked for, or that in the hands of `saved_tensors_hooks`; after a backward
        pass that did not retain the graph, the line that ran it. See `saved_values`.
    attrs : dict or None
        Attributes of the call.
    seq : int
        Falls with every node recorded.
    code, instruction : the user's line (see `Location`).
    context : tuple
        Only where it was recorded for the forward mode: what the operands are, ndarrays for those
        without a rule and Specs for the others, and the Specs of the outputs.
    hooks : Hooks
        Only on a `HookedNode` or `HookedSlot`.
    """

    __slots__ = (
        "attrs",
        "code",
        "context",
        "edges",
        "hooks",
        "instruction",
        "pullback",
        "saved",
        "seq",
        "stack",
    )

    edges: tuple[Edge, ...]
    saved: Any
    context: tuple[tuple[Any, ...], tuple[Spec, ...]]
    hooks: Hooks
    stack: tuple[Location, ...]

    pullback: Pullback
    attrs: dict[str, Any] | None
    seq: int
    code: CodeType
    instruction: int

    @classmethod
    def of(
        cls,
        pullback: Pullback,
        edges: tuple[Edge, ...],
        saved: tuple[Any, ...],
        attrs: dict[str, Any] | None,
        code: CodeType,
        instruction: int,
    ) -> Self:
        """A node, the newest. A class without a constructor is called in two thirds of the time."""
        self = cls()
        self.pullback = pullback
        self.edges = edges
        self.saved = saved
        self.attrs = attrs
        self.seq = newer()
        self.code = code
        self.instruction = instruction
        return self

    @property
    def name(self) -> str:
        return self.pullback.op.name

    @property
    def location(self) -> Location:
        return Location(self.code, self.instruction)

    def lifted(self, saved: tuple[Any, ...]) -> tuple[Any, ...]:
        """What it saved, as Tensors connected to the graph, so that rules on them record.

        A node that keeps things its own way connects them its own way.
        """
        pullback = self.pullback
        lift = pullback.lift
        if lift is None:
            lift = pullback.lift = _compile_lift(pullback)
        return lift(self, saved)

    def __repr__(self) -> str:
        return f"<{self.name} at {self.location}>"


class MultiNode(Node):
    """A node with several outputs, each of which has a `Slot`."""

    __slots__ = ("_slots",)

    def slot(self, index: int) -> Slot:
        """The slot of one output: the same one for as long as anything leads to it."""
        # Weak, for the slot leads to the node: a cycle would keep saved values alive.
        slots: dict[int, weakref.ref[Slot]] = getattr(self, "_slots", {})
        known = slots.get(index)
        found = known() if known is not None else None
        if found is None:
            found = Slot.of(self.pullback, (self,), (), None, self.code, self.instruction)
            found.index = index
            slots[index] = weakref.ref(found)
            self._slots = slots
        return found


class Slot(Node):
    """One output of a node that has several: puts the cotangent in its place in a bundle."""

    __slots__ = ("__weakref__", "index")

    index: int

    def bundle(self, g: Any) -> Bundle:
        return Bundle({self.index: g})


class HookedNode(Node):
    """What a node becomes when a hook is registered on its output.

    Nodes without hooks, which is nearly all, neither store nor look up anything for them.
    """

    __slots__ = ()


class HookedSlot(Slot):
    """What a slot becomes when a hook is registered on its output."""

    __slots__ = ()


class Bundle(dict[int, Any]):
    """Cotangents of the outputs of a node by their index; None where nothing has arrived."""

    def __missing__(self, _: int) -> None:
        return None

    def __add__(self, other: Any) -> Bundle:
        # Each slot contributes once, its own sum. Every bundle is made by the walk, which alone
        # sees it: so n slots are put together in n steps. An output has two slots where two threads
        # asked for it at once.
        for index, g in other.items():
            self[index] = self[index] + g if index in self else g
        return self


class Unwritten(Tensor, Lazy):
    """A recorded cotangent whose value is `Scattered`, for those that add up or write it out.

    Each part is an operation of its own on the tape, as it is in a program.
    """

    __slots__ = ()

    _data: Any

    def dense(self) -> Tensor:
        return Tensor._wrap(self._data.dense(), self._node)


class WrittenOut:
    """What writes out nodes that stand for many operations, before a pass is recorded.

    Set by what makes such nodes; see `jit.node`.
    """

    write: Callable[[Iterable[Edge]], None] | None = None


def write_out(edges: Iterable[Edge]) -> None:
    """Have each node that `edges` lead to stand for one operation."""
    if WrittenOut.write is not None:
        WrittenOut.write(edges)


Edge: TypeAlias = Node | Tensor
Observer: TypeAlias = Callable[[Node, Any, tuple[Edge, ...], tuple[Any, ...]], None]


def edge_of(tensor: Tensor) -> Edge:
    """Where a cotangent of `tensor` goes: the node that made it, or the leaf itself."""
    node: Node | None = tensor._node
    return tensor if node is None else node


def run_backward(
    roots: Iterable[tuple[Edge, Any]],
    *,
    at: Location,
    retain: bool,
    create_graph: bool = False,
    needed: Mapping[Edge, int] | None = None,
    capture: set[Edge] | None = None,
    observe: Observer | None = None,
    retained: Retained | None = None,
    xp: Any = None,
) -> dict[Edge, Any]:
    """Run the tape backwards from `roots`; the cotangent of every leaf that it reaches.

    Parameters
    ----------
    roots : iterable of (edge, cotangent)
        Cotangents are ndarrays, or Tensors with `create_graph`.
    at : Location
        The user's line, for the error of a later pass.
    retain : bool
        Keep what the nodes saved.
    create_graph : bool
        Record the pass itself, so that its result can be differentiated.
    needed : mapping, optional
        Follow only these edges, each with how many edges of nodes among them lead to it.
    capture : set, optional
        Nodes whose cotangent is wanted too.
    observe : callable, optional
        Called with (node, its cotangent, its edges, their cotangents) after each node.
    retained : list, optional
        Takes the gradients of tensors that `retain_grads` was called on.
    xp : Namespace, optional
        Where the rules compute; by default `ops` with `create_graph`, else `raw`.

    Raises
    ------
    GraphFreedError
        When the pass reaches a node that an earlier pass has freed. No leaf is touched.
    """
    if current_mode().autocast is not None:  # what is recorded has the dtypes that it has
        given = dict(locals())
        with mode_changed({"autocast": None}):
            return run_backward(given.pop("roots"), **given)
    if xp is None:
        xp = ops if create_graph else raw
    strong = zeros_are_strong()
    # Nothing stands between the walk and the rules of a node that is no more than that.
    direct = (xp is raw or xp is ops) and not strong and observe is None
    usual = direct and xp is raw and needed is None and capture is None
    captured: dict[Edge, Any] = {}
    roots = list(roots)
    expected = _arrivals(roots, needed) if create_graph else None
    step: _Step | None = None  # made for the first node that asks for it
    cotangents: dict[Edge, Any] = {}
    owned: set[Edge] = set()  # edges whose cotangent is a sum made here: nobody else sees it yet
    heap: list[tuple[int, Node]] = []
    rounds = expected is not None  # sums may wait to be finished when the pass is through
    for edge, seed in roots:
        if expected is not None and isinstance(seed, Tensor) and not seed._stop:
            (seed,) = own_values((seed,), newer())
        old = cotangents.get(edge)
        if old is None:
            cotangents[edge] = seed
        elif expected is not None:
            cotangents[edge] = _plus(expected[edge], xp, old, seed)
        elif is_half(seed):
            cotangents[edge] = HalfSum.of(old, seed)
            rounds = True
        else:
            cotangents[edge] = old + seed
        if old is None and isinstance(edge, Node):
            heappush(heap, (edge.seq, edge))

    # The node met last, and its cotangent, wait in `node` and `g`: in a chain nothing else waits,
    # and neither the heap nor the dict is touched.
    node: Node | None = None
    g: Any = None
    try:
        while True:
            if node is None:
                if not heap:
                    break
                node = heappop(heap)[1]
                g = cotangents.pop(node)
            elif heap and heap[0][0] < node.seq:
                cotangents[node] = g
                node = heappushpop(heap, (node.seq, node))[1]
                g = cotangents.pop(node)
            if g.__class__ is not _ndarray and g.__class__ in _UNFINISHED:
                g = g.dense()
            saved = node.saved
            edges = node.edges
            if (
                usual
                and saved.__class__ is tuple
                and (node.__class__ is Node or node.__class__ is MultiNode)
            ):
                results = node.pullback.pull(raw_wide, g, saved, node.attrs)
            elif usual and saved.__class__ is tuple and node.__class__ is Slot:
                results = (Bundle({node.index: g}),)
            elif (
                direct
                and saved.__class__ is tuple
                and (node.__class__ is Node or node.__class__ is MultiNode)
                and (capture is None or node not in capture)
            ):
                pullback = node.pullback
                if needed is not None:
                    for edge in edges:
                        if edge not in needed:
                            pullback, edges = _restrict(node, needed)
                            break
                if create_graph:
                    start = newer()
                    results = pullback.pull(xp, g, node.lifted(saved), node.attrs)
                    if len(results) > 1 or results[0] is not g:
                        results = own_values(results, start)
                else:
                    results = pullback.pull(raw_wide, g, saved, node.attrs)
            elif (
                direct
                and capture is not None
                and node.__class__ is Node
                and node in capture
                and _ends(node, needed, capture)
            ):
                captured[node] = g
                node = None
                continue
            else:
                if step is None:
                    step = _Step(
                        xp, create_graph, strong, needed, capture, captured, observe, retained
                    )
                edges, results = step.run(node, g)
                if not edges:  # nothing was asked for beyond it, so it keeps what it saved
                    node = None
                    continue
            if not retain:
                node.saved = at
                node.edges = ()
            # Accumulate, as a left fold in order of arrival.
            node = None
            k = -1
            for edge in edges:  # counted by hand: `zip` and `enumerate` take longer than the rest
                k += 1
                gi = results[k]
                if gi is None:
                    continue
                if edge is node:
                    if expected is not None:
                        g = _plus(expected[edge], xp, g, gi)
                    elif gi.dtype in HALVES if gi.__class__ is _ndarray else is_half(gi):
                        g = HalfSum.of(g, gi)
                    elif gi.__class__ is not _ndarray or gi.size < MANY:
                        g = g + gi
                    else:
                        g = added(g, gi)
                    continue
                total = cotangents.get(edge)
                if total is None:
                    if edge.__class__ is not Node and isinstance(edge, Tensor):
                        cotangents[edge] = gi
                    elif node is None:
                        node, g = edge, gi
                    else:
                        cotangents[edge] = gi
                        heappush(heap, (edge.seq, edge))
                elif expected is not None:
                    cotangents[edge] = _plus(expected[edge], xp, total, gi)
                elif edge in owned:
                    if gi.__class__ is _ndarray is total.__class__:
                        if gi.size < _FEW or gi.strides != total.strides:
                            # How a sum lies in memory says in which order it is reduced, so it
                            # lies as `add_n` makes it. Of few elements, asking takes longer.
                            cotangents[edge] = total + gi
                        elif gi.size < MANY:
                            total += gi
                        else:
                            cotangents[edge] = added(total, gi, total)
                    elif gi.__class__ is Scattered:  # no array adds it to itself in place
                        cotangents[edge] = iadd_scattered(total, gi)
                    else:
                        total += gi
                        cotangents[edge] = total
                elif gi.dtype in HALVES if gi.__class__ is _ndarray else is_half(gi):
                    cotangents[edge] = HalfSum.of(total, gi)
                    rounds = True
                else:
                    total = cotangents[edge] = total + gi
                    if total.__class__ is _ndarray or total.__class__ is Scattered:
                        owned.add(edge)
            results, gi, total = (), None, None  # not held while the next node runs
    except BaseException:
        at.unfinished = True
        raise
    if rounds:
        for edge, g in cotangents.items():
            if g.__class__ is Terms or g.__class__ is Unwritten:
                cotangents[edge] = g.dense()
            elif g.__class__ is HalfSum:
                cotangents[edge] = g.rounded()
    cotangents.update(captured)
    return cotangents


class Terms:
    """Cotangents of one edge that are still to be added up: by one operation, as a program does.

    Recorded one by one, a sum would hand its own cotangent on in another order at the next order.
    """

    __slots__ = ("parts", "xp")

    def __init__(self, xp: Any, parts: list[Any]) -> None:
        self.xp = xp
        self.parts = parts

    def dense(self) -> Any:
        return self.xp.add_n(*self.parts)


_UNFINISHED: frozenset[Any] = frozenset({Scattered, Unwritten, Terms, HalfSum})


def _plus(expected: int, xp: Any, old: Any, new: Any) -> Any:
    """Cotangents of an edge in a recorded pass: summed by one operation, when all are there."""
    if old.__class__ is Bundle:
        return old + new
    terms = old if old.__class__ is Terms else Terms(xp, [old])
    terms.parts.append(new)
    return terms if len(terms.parts) < expected else terms.dense()


def _arrivals(roots: list[tuple[Edge, Any]], needed: Mapping[Edge, int] | None) -> dict[Edge, int]:
    """How many cotangents will arrive at each edge, of those in `needed` if that is given."""
    expected: dict[Edge, int] = {} if needed is None else dict(needed)
    for edge, _ in roots:
        expected[edge] = expected.get(edge, 0) + 1
    if needed is not None:
        return expected
    waiting = [edge for edge in expected if isinstance(edge, Node)]
    while waiting:
        for edge in waiting.pop().edges:
            if edge not in expected and isinstance(edge, Node):
                waiting.append(edge)
            expected[edge] = expected.get(edge, 0) + 1
    return expected


def own_values(results: tuple[Any, ...], since: int) -> tuple[Any, ...]:
    """Each of the results of a rule, recorded after `since`, as a value of its own.

    What the rule hands on, or gives to several, passes an identity. So the cotangents that arrive
    at one of them at the next order meet there, before they join those of the others: as they do in
    a program, where a sum over axes that may have been broadcast stands in the same place. See
    docs/design/table.md, "a cotangent is a value of its own".
    """
    count = len(results)
    shared = count > 1 and (count > 2 or results[0] is results[1])
    own: list[Any] | None = None
    for k, g in enumerate(results):
        if isinstance(g, Tensor) and not g._stop:
            node = g._node
            if (
                node is None
                or node.seq >= since
                or node.pullback.op.reads_result
                or (shared and sum([g is other for other in results]) > 1)
            ):
                own = list(results) if own is None else own
                own[k] = ops.alias(g)
    return results if own is None else tuple(own)


class _Step(NamedTuple):
    """One node of a backward pass, where there is more to do than to run its pullback."""

    xp: Any
    create_graph: bool
    strong: bool
    needed: Mapping[Edge, int] | None
    capture: set[Edge] | None
    captured: dict[Edge, Any]
    observe: Observer | None
    retained: Retained | None

    def run(self, node: Node, g: Any) -> tuple[tuple[Edge, ...], tuple[Any, ...]]:
        """The edges to follow from `node`, and their cotangents."""
        capture = self.capture
        captured = capture is not None and node in capture
        ends = capture is not None and captured and _ends(node, self.needed, capture)
        saved = node.saved
        if ends:
            saved = ()
        elif saved.__class__ is not tuple:
            saved = saved_values(node)
        if isinstance(node, (HookedNode, HookedSlot)):
            g = self._hooked(node, g)
        if captured:
            self.captured[node] = g
        pullback, edges = node.pullback, node.edges
        results: tuple[Any, ...] = ()
        if ends:
            edges = ()
        elif isinstance(node, Slot):
            results = (node.bundle(g),)
        else:
            if self.create_graph:
                saved = node.lifted(saved)
            if self.needed is not None:
                pullback, edges = _restrict(node, self.needed)
            if self.strong:
                pullback = pullback.strengthened()
            start = newer() if self.create_graph else 0
            results = self.xp.pull(pullback, g, saved, node.attrs)
            if self.create_graph and (captured or len(results) > 1 or results[0] is not g):
                results = own_values(results, start)
        if self.observe is not None:
            self.observe(node, g, edges, results)
        return edges, results

    def _hooked(self, node: Node, g: Any) -> Any:
        place = f"{node.name} at {node.location}"

        def seen(one: Any) -> Any:
            return as_seen(run_hooks(node.hooks, as_seen(one), place, self.retained))

        return self.xp.each(seen, g)


def _ends(node: Node, needed: Mapping[Edge, int] | None, capture: set[Edge]) -> bool:
    """Whether the pass ends at `node`, which is in `capture`: it leads to nothing needed.

    One that was freed cannot say where it leads, unless everything in `capture` is newer.
    """
    if node.saved.__class__ is Location:
        return all(isinstance(e, Node) and e.seq <= node.seq for e in capture)
    if needed is None:
        return False
    for edge in node.edges:  # noqa: SIM110 - a generator takes longer than the rest
        if edge in needed:
            return False
    return True


def _restrict(node: Node, needed: Mapping[Edge, int]) -> tuple[Pullback, tuple[Edge, ...]]:
    """The part of a node's pullback that leads to `needed`."""
    pullback, edges = node.pullback, node.edges
    wanted = [k for k, e in zip(pullback.wanted, edges, strict=True) if e in needed]
    return pullback.restrict(tuple(wanted)), tuple([e for e in edges if e in needed])


def check_alive(node: Node) -> None:
    """Raise GraphFreedError when an earlier pass has freed what `node` saved."""
    freed = node.saved
    if freed.__class__ is not Location:
        return
    raise GraphFreedError(
        f"this graph was freed by an earlier backward pass at {freed.with_text}"
        + (", which was interrupted" if getattr(freed, "unfinished", False) else "")
        + f"; it reached {node.name} of {node.location}. Call that earlier pass with "
        "retain_graph=True, or compute the result again before the second one"
    )


def saved_values(node: Node) -> tuple[Any, ...]:
    """What `node` saved, as its rules read it.

    Raises
    ------
    GraphFreedError
        When an earlier pass has freed it.
    """
    saved = node.saved
    if saved.__class__ is Packed:
        try:
            values: tuple[Any, ...] = saved.values()
        except Exception as error:
            error.add_note(f"while unpacking what {node.name} of {node.location} saved")
            raise
        return values
    check_alive(node)
    found: tuple[Any, ...] = node.saved
    return found


def _compile_lift(pullback: Pullback) -> Callable[[Node, tuple[Any, ...]], tuple[Any, ...]]:
    """`Node.lifted` of the nodes that have this pullback, written out."""
    label = f"{pullback.op.name}_lifted"
    values = [f"v{k}" for k in range(len(pullback.saved))]
    lines = [f"def {label}(node, saved):", "edges = node.edges"]
    if values:
        lines.append(f"{', '.join(values)}, = saved")
    for (kind, place), v in zip(pullback.origins, values, strict=True):
        if kind == "edge":  # `connect`, without the call where an operation made it
            lines.append(f"edge = edges[{place}]")
            wrapped, connected = f"wrap({v}, edge)", f"connect({v}, edge)"
            lines.append(f"{v} = {wrapped} if edge.__class__ is Node else {connected}")
        elif kind == "constant":
            lines.append(f"if {v}.__class__ is not Spec: {v} = wrap({v})")
        elif kind == "output":
            lines.append(f"{v} = lift_output(node, {place}, {v})")
        elif kind == "inputs":
            places = [f"{k - place}: edges[{i}]" for i, k in enumerate(pullback.wanted)]
            lines.append(f"at = {{{', '.join(places)}}}.get")
            lines.append(f"{v} = tuple([connect(a, at(i)) for i, a in enumerate({v})])")
    lines.append(f"return ({''.join([f'{v}, ' for v in values])})")
    scope: dict[str, Any] = {
        "Node": Node,
        "Spec": Spec,
        "connect": connect,
        "lift_output": _lift_output,
        "wrap": Tensor._wrap,
    }
    run_generated("\n    ".join(lines) + "\n", label, scope)
    found: Callable[[Node, tuple[Any, ...]], tuple[Any, ...]] = scope[label]
    return found


def _lift_output(node: Node, place: int, value: Any) -> Tensor:
    op = node.pullback.op
    if op.outputs[place] in op.nondiff_outputs:
        return connect(value, None)
    if op.multiple:
        assert isinstance(node, MultiNode)
        return connect(value, node.slot(place))
    return connect(value, node)


def connect(value: Array, edge: Edge | None) -> Tensor:
    """`value` as a Tensor whose cotangent goes to `edge`."""
    if edge is None:
        return Tensor._wrap(value)
    if edge.__class__ is not Node and isinstance(edge, Tensor):
        if edge._data is value:
            return edge
        # The leaf has been given another value since: an identity leads to it.
        at = caller()
        edge = Node.of(REGISTRY["assign"].pullback(1), (edge,), (), None, at.code, at.instruction)
    return Tensor._wrap(value, edge)
