"""From nodes of a graph to steps on places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.concrete_graph import Graph, Node, Value
from autograd_engine.compiler.planned.buffers import (
    Buffer,
    Local,
    Place,
    contiguous,
    ordered,
    written,
)
from autograd_engine.compiler.planned.cache_blocks import LARGE
from autograd_engine.compiler.planned.steps import Elementwise, Step, buffers_of
from autograd_engine.compiler.planned.ufunc_trace import (
    Call,
    NotTraced,
    Traced,
    traced,
)
from autograd_engine.compiler.python.function import compile_alone, takes_scattered
from autograd_engine.core.dtypes import HALVES
from autograd_engine.core.spec import Array, Spec, reduced_shape
from autograd_engine.ops.kernels.compiled import ROW, compiled, in_numpy
from autograd_engine.ops.kernels.elementwise import steps_by_one
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.scattered_cotangent import dense
from autograd_engine.program.ir.control_flow_op import BlockOp

__all__ = ["HANDLERS", "Lowering", "Operand", "handles"]

Operand = Place | Local
Handler = Callable[["Lowering", Node], bool]


HANDLERS: Final[dict[str, Handler]] = {}
"""By name of the operation: writes steps and says True, or leaves the node to its kernel."""


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Register the function that writes the steps of these operations."""

    def register(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return register


class Lowering:
    """Steps while they are written, and where values are.

    Parameters
    ----------
    graph : Graph
    inputs : sequence of Place
    fast : bool
        Whether sums may be rounded in another way than in eager mode.

    Attributes
    ----------
    steps : list of Step
    where : dict
        Place or Local of each value that was computed, by its id.
    """

    def __init__(self, graph: Graph, inputs: Sequence[Place], fast: bool) -> None:
        self.graph = graph
        self.fast = fast
        self.steps: list[Step] = []
        self.origin: Any = None
        self.where: dict[int, Operand] = {
            id(v): p for v, p in zip(graph.inputs, inputs, strict=True)
        }
        self.readers: dict[int, list[tuple[Node, int]]] = {}
        for node in graph.nodes:
            for k, value in enumerate(node.operands):
                if isinstance(value, Value):
                    self.readers.setdefault(id(value), []).append((node, k))
        self.returned = {id(v) for v in graph.outputs}
        self.targets: dict[int, set[int]] = {}  # inputs that a value is the new value of
        self.sources: Counter[int] = Counter(graph.updates.values())
        for position, target in graph.updates.items():
            self.targets.setdefault(id(graph.outputs[position]), set()).add(target)
        self.absorbed: set[int] = set()  # values that are parts of sums, and never stand alone
        self.together: dict[int, Node] = {}  # sums of products that are one product
        self.scattered: dict[int, Local] = {}
        self.pinned: set[Buffer] = set()  # buffers that hold gradients side by side
        self.inner: list[Any] = []  # functions of control flow, which know the operators in them
        self._locals = 0
        self._numbers: dict[Any, Place] = {}
        self._computed: dict[Any, Place] = {}
        self._negated: dict[Any, Operand] = {}
        self._traces: dict[Any, Traced | None] = {}

    # --- values

    def only_reader(self, value: Value) -> Node | None:
        """The node that alone reads `value`."""
        readers = self.readers.get(id(value), ())
        return readers[0][0] if len(readers) == 1 and id(value) not in self.returned else None

    def number(self, array: Array, shape: tuple[int, ...] = (), *, spread: bool = False) -> Place:
        """A constant; of `shape`, filled with it."""
        key = (array.tobytes(), array.dtype, array.shape, shape, spread)
        place = self._numbers.get(key)
        if place is None:
            if spread:
                array = np.ndarray(shape, array.dtype, array.copy(), 0, (0,) * len(shape))
            elif shape:
                array = np.full(shape, array, array.dtype)
            place = Place(array, array.shape, array.strides, array.dtype)
            self._numbers[key] = place
        return place

    def operand(self, value: Value, shape: tuple[int, ...] | None = None) -> Operand:
        """Where `value` is; of a constant one number, where a ufunc has the `shape` without it."""
        found = self.where.get(id(value))
        if found is not None:
            return found
        if id(value) in self.scattered:
            return self._dense(value)
        constant = value.constant
        assert constant is not None, value
        if value.uniform is None:
            place = Place(constant, constant.shape, constant.strides, constant.dtype)
        elif shape is not None or not value.shape:
            return self.number(constant)
        else:
            place = self.number(constant, value.shape, spread=value.spread)
        self.where[id(value)] = place
        return place

    def _dense(self, value: Value) -> Local:
        """What is scattered, written out."""
        source = self.scattered[id(value)]
        made = self.local(value, contiguous=True, reads=[source])
        self.call(dense, source, makes=[made])
        return made

    def place(self, value: Any) -> Place | None:
        """Where `value` is, if that is known now."""
        found = self.operand(value)
        return found if isinstance(found, Place) else None

    def define(self, value: Value, where: Operand) -> None:
        assert where.shape == value.shape, (where.shape, value)
        assert where.dtype == value.dtype, (where.dtype, value)
        self.where[id(value)] = where

    def next_local(self) -> int:
        self._locals += 1
        return self._locals

    def local(
        self,
        value: Value,
        *,
        in_order: bool = False,
        contiguous: bool = False,
        reads: Sequence[Operand] = (),
    ) -> Local:
        roots = frozenset(b for r in reads for b in buffers_of(r))
        made = Local(
            self.next_local(), value.shape, value.dtype, in_order, roots, contiguous=contiguous
        )
        self.where[id(value)] = made
        return made

    # --- steps

    def emit(
        self,
        template: str,
        *parts: Any,
        writes: Sequence[Place] = (),
        makes: Sequence[Local] = (),
        always: bool = False,
    ) -> None:
        self.steps.append(Step(template, parts, writes, makes, self.origin, always=always))

    def call(
        self,
        function: Any,
        *operands: Any,
        writes: Sequence[Place] = (),
        makes: Sequence[Local] = (),
        multiple: bool = False,
        always: bool = False,
    ) -> None:
        """Call `function`, and assign what it returns: with `multiple`, a tuple of `makes`."""
        names = "".join(["{}, " if multiple else "{} "] * len(makes))
        marks = ", ".join(["{}"] * len(operands))
        template = f"{names}= {{}}({marks})" if makes else f"{{}}({marks})"
        self.emit(template, *makes, function, *operands, writes=writes, makes=makes, always=always)

    def joined(self, places: Sequence[Place], axis: int, out: Place) -> Place:
        """`places` beside each other in `out`."""
        marks = "".join(["{}, "] * len(places))
        self.emit(f"{{}}(({marks}), {axis}, {{}})", np.concatenate, *places, out, writes=[out])
        return out

    def apply(
        self, ufunc: np.ufunc | None, sources: Sequence[Operand], out: Place, quiet: Any = ()
    ) -> Place:
        self.steps.append(Elementwise(ufunc, sources, out, self.origin, quiet))
        return out

    def known(
        self, ufunc: np.ufunc | None, sources: Sequence[Operand], out: Place, quiet: Any = ()
    ) -> Place:
        """As `apply`; where the same was computed before, that. `out` is nobody else's."""
        if ufunc is np.absolute:
            sources = [self._negated.get(getattr(s, "key", None), s) for s in sources]
        if not all(isinstance(s, Place) for s in sources):
            return self.apply(ufunc, sources, out, quiet)
        keys = tuple(s.key for s in sources)  # type: ignore[union-attr]
        key = (id(ufunc), keys, out.dtype, out.strides, quiet)
        found = self._computed.get(key)
        if found is None:
            found = self._computed[key] = self.apply(ufunc, sources, out, quiet)
            if ufunc is np.negative:
                self._negated[out.key] = sources[0]
        return found

    def reduce(
        self, ufunc: Any, x: Place, axis: Any, keepdims: bool, out: Place, initial: Any = None
    ) -> Place:
        first = () if initial is None else (initial,)
        template = f"{{}}({{}}, {axis!r}, None, {{}}, {keepdims!r}{', initial={}' * len(first)})"
        self.emit(template, ufunc.reduce, x, out, *first, writes=[out])
        return out

    def copied(self, source: Operand, out: Place) -> Place:
        return self.apply(None, (source,), out)

    def packed(self, place: Place) -> Place:
        """`place` in C order."""
        return (
            place if contiguous(place) else self.copied(place, Place.of(place.shape, place.dtype))
        )

    # --- nodes

    def node(self, node: Node) -> None:
        """Write the steps of a node."""
        self.origin = node.origin
        handler = HANDLERS.get(node.op.name)
        known = REGISTRY.get(node.op.name) is node.op and not _in_float32(node)
        if not (known and handler is not None and handler(self, node)) and not (
            known and self._elementwise(node)
        ):
            self.kernel(node)

    def _elementwise(self, node: Node) -> bool:
        op = node.op
        along = op.name in _ALONG_ROWS
        if not (along or op.elementwise):
            return False
        ufunc = _in_c(node)
        if ufunc is not None and op.multiple:  # a step has one result
            return False
        found = _one_call(node, ufunc) if ufunc is not None else self.trace_of(node, along=along)
        if found is None:
            return False
        shape = node.results[0].shape
        sources: list[Operand] = [
            self.operand(v, shape if _spanned(node, v, shape) else None)
            for v in node.operands
            if isinstance(v, Value)
        ]
        steps, computed = len(self.steps), len(self._computed)
        if self._calls(found.calls, sources):
            results = [sources[k] for k in found.results]
            if all(
                r.shape == v.shape and r.dtype == v.dtype
                for r, v in zip(results, node.results, strict=True)
            ):
                for value, result in zip(node.results, results, strict=True):
                    self.define(value, result)
                return True
        # Forget what was written since; the node is left to its kernel.
        del self.steps[steps:]
        for key in list(self._computed)[computed:]:
            self._negated.pop(self._computed.pop(key).key, None)
        return False

    def _calls(self, calls: Sequence[Call], values: list[Operand]) -> bool:
        """Write calls, and append to `values` where their results are; False if one cannot be."""
        for call in calls:
            parts = [values[s] if isinstance(s, int) else self.number(s) for s in call.sources]
            made = self._call(call, parts) if call.reduces is None else self._reduce(call, parts[0])
            if made is None:
                return False
            values.append(made)
        return True

    def _call(self, call: Call, parts: Sequence[Operand]) -> Place | None:
        if call.alike:
            given = self._alike(parts)
            if given is None:
                return None
            parts = given
        out = written(np.broadcast_shapes(*[p.shape for p in parts]), call.dtype, parts)
        if out is None:
            return None
        if call.function is np.where:
            condition, x, y = parts
            if not (isinstance(x, Place) and isinstance(y, Place)):
                return None
            return self.select(condition, x, y, out)
        wide = [self._wide(call.function, p, out) for p in parts]
        return self.known(call.function, wide, out, call.quiet)

    def _alike(self, parts: Sequence[Operand]) -> list[Operand] | None:
        """Operands as `rounded_alike` hands them to its ufunc; None where that is not known."""
        found: list[Operand] = []
        for part in parts:
            if isinstance(part, Local):
                if not part.contiguous:
                    return None
            elif len(parts) > 1 or not steps_by_one(part.shape, part.strides, part.dtype.itemsize):
                part = self.packed(part)
            found.append(part)
        return found

    def _wide(self, function: Any, part: Operand, out: Place) -> Operand:
        """One number that is compared with many, written out: NumPy takes half the time for it."""
        if (
            function in (np.maximum, np.minimum)
            and not part.shape
            and isinstance(part, Place)
            and isinstance(part.base, np.ndarray)
            and contiguous(out)
            and out.size > 1
            and out.nbytes < LARGE
        ):
            return self.number(part.base, out.shape)
        return part

    def select(self, condition: Operand, x: Place, y: Place, out: Place) -> Place | None:
        """``where(condition, x, y)`` on bits: ((x ^ y) * condition) ^ y, which no branch slows.

        None where operands lie in orders that have no result in common.
        """
        bits = np.dtype(f"i{out.dtype.itemsize}")
        as_bits = out.typed(bits)
        x, y = self._bits(x, bits), self._bits(y, bits)
        if isinstance(y.base, np.ndarray) and not y.shape and not y.base:
            self.apply(np.multiply, (x, condition), as_bits)
            return out
        if not x.shape and not y.shape:
            if not (isinstance(x.base, np.ndarray) and isinstance(y.base, np.ndarray)):
                mixed = Place.of((), bits)
                self.apply(np.bitwise_xor, (x, y), mixed)
            else:
                mixed = self.number(np.asarray(x.base ^ y.base))
        else:
            found = written(np.broadcast_shapes(x.shape, y.shape), bits, (x, y))
            if found is None:
                return None
            mixed = found
            self.apply(np.bitwise_xor, (x, y), mixed)
        chosen = written(out.shape, bits, (mixed, condition))
        if chosen is None:
            return None
        self.apply(np.multiply, (mixed, condition), chosen)
        self.apply(np.bitwise_xor, (chosen, y), as_bits)
        return out

    def _bits(self, part: Place, bits: np.dtype[Any]) -> Place:
        if isinstance(part.base, np.ndarray):
            return Place(part.base.view(bits), part.shape, part.strides, bits)
        return part.typed(bits)

    def _reduce(self, call: Call, x: Operand) -> Place | None:
        if not isinstance(x, Place) or not contiguous(x) or not x.size:
            return None
        axis, keepdims, initial = call.reduces  # type: ignore[misc]
        axes = axis if isinstance(axis, tuple) else (axis,)
        shape = reduced_shape(x.shape, tuple(a % x.ndim for a in axes), keepdims)
        out = Place.of(shape, call.dtype)  # type: ignore[arg-type]
        return self.reduce(call.function, x, axis, keepdims, out, initial)

    def trace_of(self, node: Node, *, along: bool = False) -> Traced | None:
        """The calls of the kernel of a node, if it does nothing else."""
        given = tuple(
            v if isinstance(v, Spec) else v.dtype if isinstance(v, Value) else None
            for v in node.operands
        )
        shapes = tuple(v.shape for v in node.operands if isinstance(v, Value)) if along else None
        kept = tuple(v.dtype if isinstance(v, Spec) else v for v in given)
        attrs = tuple(node.attrs.items())
        try:
            key = (node.op.name, kept, attrs, tuple(map(type, node.attrs.values())), shapes)
            if key in self._traces:
                return self._traces[key]
        except TypeError:
            key = None
        try:
            found = self._traced(node.op, given, node.attrs, shapes)
        except NotTraced:
            found = None
        if key is not None:
            self._traces[key] = found
        return found

    def _traced(
        self, op: OpDef, given: Sequence[Any], attrs: dict[str, Any], shapes: Any
    ) -> Traced:
        code = getattr(in_numpy(op.kernel), "__code__", None)
        catches = code is not None and code.co_exceptiontable != b""
        if catches and any(getattr(d, "kind", "f") in "iu" for d in given):
            raise NotTraced("it says what NumPy refuses")
        if any(getattr(d, "kind", "f") not in "biuf" for d in given if isinstance(d, np.dtype)):
            raise NotTraced("complex numbers are left to the kernel")
        return traced(op.kernel, given, attrs, op.multiple, shapes)

    # --- what is left to kernels

    def kernel(self, node: Node) -> None:
        """Call the kernel of a node when it runs."""
        if isinstance(node.op, BlockOp):
            self._block(node)
            return
        operands: list[Any] = []
        for k, value in enumerate(node.operands):
            taken = takes_scattered(node, k) and self.scattered.get(id(value))
            operands.append(taken or (self.operand(value) if isinstance(value, Value) else value))
        reads = [v for v in operands if isinstance(v, (Place, Local))]
        # Of others the result may hold operands without being a view: a sum of `Scattered` does.
        fresh = node.op.result == "contiguous"
        packed = fresh and all(map(ordered, reads))
        made = [
            self.local(v, contiguous=packed, reads=() if fresh else reads) for v in node.results
        ]
        op = node.op
        kernel = op.kernel_for(_dtypes(node))
        function = partial(kernel, **node.attrs) if node.attrs else kernel
        self.call(function, *operands, makes=made, multiple=op.multiple, always=op.runs_always)
        if node.op.name == "add_n" and any(v in self.scattered.values() for v in reads):
            self.scattered[id(node.results[0])] = made[0]
            del self.where[id(node.results[0])]

    def scatter(self, node: Node) -> Local:
        """The result of a node as `Scattered`: what is there, and where."""
        operands = [self.operand(v) if isinstance(v, Value) else v for v in node.operands]
        value = node.results[0]
        made = self.local(value, reads=[v for v in operands if isinstance(v, (Place, Local))])
        del self.where[id(value)]
        self.scattered[id(value)] = made
        self.call(partial(raw.scatter, node.op.name, **node.attrs), *operands, makes=[made])
        return made

    def _block(self, node: Node) -> None:
        """Control flow, as the function that it is in generated Python."""
        operator = node.origin
        assert operator is not None
        asked = [
            k for k, v in enumerate(node.results) if id(v) in self.readers or id(v) in self.returned
        ]
        results = [operator.results[k] for k in asked]
        compiled, read = compile_alone(operator, results, f"{operator.type}_block")
        given = [node.operands[k] for k in read]
        operands: list[Any] = [self.operand(v) if isinstance(v, Value) else v for v in given]
        made = [self.local(node.results[k], reads=operands) for k in asked]
        self.call(compiled.function, *operands, makes=made, multiple=True, always=True)
        self.inner.append(compiled)


def _dtypes(node: Node) -> list[np.dtype[Any]]:
    return [v.dtype for v in (*node.operands, *node.results) if v is not None]


def _in_float32(node: Node) -> bool:
    """Whether the kernel computes in another dtype than that of operands, which it knows how to."""
    op = node.op
    if not isinstance(op, OpDef) or op.halves != "in float32":
        return False
    return not HALVES.isdisjoint(_dtypes(node))


def _in_c(node: Node) -> Any:
    """What the kernel of a node leaves its operands to in C, or None: see `registry.compiled_rows`.

    Selections have the same bits in NumPy.
    """
    op = node.op
    values = [v for v in node.operands if isinstance(v, Value)]
    if not op.in_c or op.untyped or len(values) != len(node.operands):
        return None
    dtype = values[0].dtype
    if max(v.size for v in values) < op.c_from or any(v.dtype != dtype for v in values):
        return None
    return compiled(f"{ROW}{op.name}.kernel", np.empty(0, dtype))


def _one_call(node: Node, ufunc: Any) -> Traced:
    dtype, count = node.results[0].dtype, len(node.operands)
    numbers = [np.asarray(node.attrs[name], dtype) for name in node.op.attrs]
    return Traced((Call(ufunc, (*range(count), *numbers), dtype),), (count,))


# What is elementwise but for sums along rows; long ones have steps of their own.
_ALONG_ROWS: Final = frozenset(
    ["log_softmax", "log_softmax_adjoint", "softmax", "softmax_adjoint", "standardize"]
)


def _spanned(node: Node, value: Value, shape: tuple[int, ...]) -> bool:
    """Whether the result has its shape without `value`, which then may be one number."""
    if value.uniform is None:
        return False
    others = [
        v.shape
        for v in node.operands
        if isinstance(v, Value) and (v.uniform is None or v.node is not None)
    ]
    return bool(others) and np.broadcast_shapes(*others) == shape
