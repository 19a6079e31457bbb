"""What a run computes, operation by operation, once all sizes are known.

Gradient operators are written out here: their pullbacks run once more, in a namespace whose
operations append a node. So no backend knows a gradient, and all of them see the same primitive
operations, with Specs that hold numbers only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from autograd_engine.core.dims import Dim, Size
from autograd_engine.core.dtypes import INTEGERS, scalar_dtype
from autograd_engine.core.operand import HoldsNumber
from autograd_engine.core.spec import Array, Shape, Spec, ValueSpec, known_value
from autograd_engine.ops.registry.namespace import Namespace
from autograd_engine.ops.registry.number_inputs import NumberInputOp
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.stand_ins import bind_operators
from autograd_engine.program.ir.control_flow_op import BlockOp, body_of
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Block, Literal, Operator, Ref

__all__ = ["BY_HISTORY", "Graph", "Node", "NotConcrete", "Value", "concrete_graph", "freeze"]

Key = tuple[str, int]


class NotConcrete(Exception):
    """A program whose sizes depend on values: it runs as generated Python."""


@dataclass(eq=False, repr=False, slots=True)
class Value(HoldsNumber):
    """An array of a graph.

    Attributes
    ----------
    spec : Spec
    constant : ndarray or None
        A 0-d array that all of its elements are equal to, where that is known; or, of an array
        that the program holds, that array.
    node : Node or None
        What computes it; None of an input or constant.
    spread : bool
        Whether NumPy would have a constant as a view of fewer elements: BLAS takes no such view.
    """

    graph: Graph
    spec: Spec
    node: Node | None = None
    constant: Array | None = None
    spread: bool = False

    def __repr__(self) -> str:
        if self.constant is not None:
            return f"<{self.spec!r} of {self.constant!r}>"
        made = "an input" if self.node is None else f"made by {self.node.op.name}"
        return f"<{self.spec!r} {made}>"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape  # type: ignore[return-value]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.spec.dtype

    @property
    def ndim(self) -> int:
        return len(self.spec.shape)

    @property
    def size(self) -> int:
        return int(self.spec.size)

    def _number(self) -> Any:
        known = known_value(self.spec)
        if self.uniform is not None:
            return self.uniform.item()
        if known is None or known.size != 1:
            raise NotConcrete("a number that an operation takes depends on values")
        return known.item()

    @property
    def uniform(self) -> Array | None:
        """The 0-d array that all elements are equal to, where that is known."""
        constant = self.constant
        return constant if constant is not None and constant.ndim == 0 else None

    __eq__, __ne__ = object.__eq__, object.__ne__  # values are told apart by identity
    __hash__ = object.__hash__

    def __pow__(self, other: Any) -> Any:
        return self.graph.pow(self, other)

    def __rpow__(self, other: Any) -> Any:
        return self.graph.pow(other, self)

    def __matmul__(self, other: Any) -> Any:
        return self.graph.matmul(self, other, transpose_x=False, transpose_y=False)


_OPERANDS: Final = (Value, int, float, complex, np.generic, np.ndarray)


def _apply(self: Value, name: str, operands: tuple[Any, ...]) -> Any:
    if not all(isinstance(o, _OPERANDS) for o in operands):
        return NotImplemented  # what holds values, a stack of them say, knows how
    return getattr(self.graph, name)(*operands)


bind_operators(Value, _apply)


@dataclass(eq=False, repr=False, slots=True)
class Node:
    """One operation.

    Attributes
    ----------
    op : OpDef or BlockOp
    operands : tuple of Value, Spec or None
        A Spec where only shape and dtype are asked for.
    results : tuple of Value
    attrs : dict
    origin : Operator or None
        The operator of the program that it comes from.
    """

    op: Any
    operands: tuple[Value | Spec | None, ...]
    attrs: dict[str, Any]
    origin: Operator | None
    results: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.op.name} {list(self.operands)} -> {[v.spec for v in self.results]}>"

    @property
    def values(self) -> Iterator[Value]:
        """The operands that are read."""
        return (v for v in self.operands if isinstance(v, Value))

    @property
    def role(self) -> str:
        """That of the operator that it comes from; empty without one."""
        return "" if self.origin is None else self.origin.role

    @property
    def runs_always(self) -> bool:
        return bool(getattr(self.op, "runs_always", False)) or isinstance(self.op, BlockOp)


class Graph(Namespace):
    """Nodes in the order of the program, and the operations that append them.

    Attributes
    ----------
    nodes : list of Node
    inputs, outputs : list of Value
    updates : dict of int to int
        Position of an output to the position of the input that it is the new value of.
    origin : Operator or None
        What nodes that are appended are said to come from.
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.updates: dict[int, int] = {}
        self.origin: Operator | None = None
        self._known: dict[Hashable, tuple[Value, ...]] = {}

    def input(self, spec: Spec) -> Value:
        value = Value(self, spec)
        self.inputs.append(value)
        return value

    def number(self, value: Any, dtype: np.dtype[Any], shape: Shape = ()) -> Value:
        """An array whose elements all have one value."""
        constant, spec = np.asarray(value, dtype), Spec(shape, dtype)
        known = ValueSpec.of(spec, constant) if shape == () else spec
        return Value(self, known, constant=constant)

    def __getitem__(self, op: OpDef) -> Callable[..., Any]:
        """The function of `op`, not kept by `op`, which lives longer."""
        known = REGISTRY.get(op.name) is op
        found: Callable[..., Any] = getattr(self, op.name) if known else self.bind(op)
        return found

    def bind(self, op: OpDef) -> Callable[..., Any]:
        def call(*operands: Any, **attrs: Any) -> Any:
            full = attrs if attrs.keys() == op.attrs.keys() else op.complete_attrs(attrs)
            results = self.call(op, operands, full)
            return results if op.multiple else results[0]

        return call

    def project(self, g: Any, like: Any) -> Any:
        return g if g is None or g.shape == like.shape else self.sum_like(g, like)

    def scatter(self, name: str, *operands: Any, **attrs: Any) -> Any:
        return getattr(self, name)(*operands, **attrs)

    def call(self, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> tuple[Value, ...]:
        """The results of an operation, which is appended unless they are known.

        Parameters
        ----------
        op : OpDef
        operands : sequence
            Values, Python scalars, and Specs where only shape and dtype are asked for.
        attrs : dict
            All attributes.

        Raises
        ------
        NotConcrete
            When the sizes of its results depend on values.
        """
        if isinstance(op, NumberInputOp):
            operands, attrs = op.plain(operands, attrs)
            op = op.base
        values = self._prepared(op, operands)
        found = _simplified(op, values, attrs)
        if found is not None and not _joins(found):
            return (found,)
        copied = _duplicated(op, values, attrs)
        if copied is not None and not _joins(copied):
            if self.lies_alike(copied):
                return (copied,)
            op, values, attrs = REGISTRY["assign"], [copied], {}
        specs = op.infer_tuple([v if isinstance(v, Spec) else v.spec for v in values], attrs)
        for spec in specs:
            for d in spec.shape:
                if isinstance(d, Dim):
                    raise NotConcrete(f"the sizes of what {op.name} returns depend on values")
        folded = self._known_value(specs) or self._folded(op, values, attrs, specs)
        if folded is not None:
            return folded
        key = None if op.runs_always else _key(op, values, attrs)
        known = self._known.get(key) if key is not None else None
        if known is not None:
            return known
        results = self.append(op, tuple(values), attrs, specs)
        if key is not None:
            self._known[key] = results
        return results

    def append(
        self,
        op: Any,
        operands: tuple[Value | Spec | None, ...],
        attrs: dict[str, Any],
        specs: Sequence[Spec],
    ) -> tuple[Value, ...]:
        node = Node(op, operands, attrs, self.origin)
        node.results = tuple([Value(self, spec, node) for spec in specs])
        self.nodes.append(node)
        return node.results

    def lies_alike(self, value: Value) -> bool:
        """Whether a copy of it may be left out: its elements follow each other in memory."""
        op = value.node.op if value.node is not None else None
        if isinstance(op, OpDef):
            return op.tangent == "elementwise" or op.broadcasts is not None or op.name == "assign"
        return value.uniform is not None

    def drop_dead(self) -> None:
        """Leave out what no output needs; rules compute more than is asked for."""
        wanted = {id(v) for v in self.outputs}
        live = []
        for node in reversed(self.nodes):
            if node.runs_always or any(id(v) in wanted for v in node.results):
                live.append(node)
                wanted.update(id(v) for v in node.values)
        self.nodes = live[::-1]

    def _prepared(self, op: OpDef, operands: Sequence[Any]) -> list[Value | Spec]:
        """Operands in the dtypes in which they meet, as `emit` has them."""
        values: list[Any] = []
        numbers, typed, known = [], [], []
        for k, v in enumerate(operands):
            reads, array = op.reads_value(k), isinstance(v, Value)
            if op.input_at(k) not in op.untyped:
                if reads:
                    typed.append(k)
                if array:
                    known.append(v.dtype)
            if reads:
                if not array:
                    numbers.append(k)
            elif array:
                v = v.spec
            else:
                v = Spec(tuple(v.shape), v.dtype)
            values.append(v)
        for k in numbers:
            values[k] = self.number(values[k], scalar_dtype(values[k], known))
        if op.dtypes != "any":
            dtypes = [values[k].dtype for k in typed]
            common = op.common_dtype(dtypes)
            for k in typed:
                if values[k].dtype != common:
                    values[k] = self._cast(values[k], common)
        return values

    def _cast(self, value: Value, dtype: np.dtype[Any]) -> Value:
        if value.uniform is not None and value.node is None:
            return self.number(value.uniform.astype(dtype), dtype, value.shape)
        cast: Value = self.cast(value, dtype=dtype.name)
        return cast

    def _known_value(self, specs: Sequence[Spec]) -> tuple[Value, ...] | None:
        """Results whose values follow from sizes: these are known here."""
        made = [known_value(spec) for spec in specs if spec.dtype in INTEGERS]
        if len(made) < max(len(specs), 1) or any(value is None for value in made):
            return None
        found = [
            Value(self, spec, constant=value.astype(spec.dtype))
            for spec, value in zip(specs, made, strict=True)
        ]
        return tuple(found)

    def _folded(
        self,
        op: OpDef,
        values: Sequence[Value | Spec],
        attrs: dict[str, Any],
        specs: Sequence[Spec],
    ) -> tuple[Value, ...] | None:
        """The result where it is one number throughout: the kernel says which."""
        if len(specs) != 1 or op.runs_always:
            return None
        if op.elements == "fill":
            number = attrs.get("value", 0)
            return (self.number(number, specs[0].dtype, specs[0].shape),)
        if op.name == "constant":
            return (Value(self, specs[0], constant=np.asarray(attrs["value"])),)
        given = [v.uniform for v in values if isinstance(v, Value)]
        if not given or any(u is None for u in given):
            return None
        if op.elements == "ordered" or op.name in _SPREADS:
            number = given[0]
            if op.name == "spread_like":
                number = REGISTRY[op.name].kernel(given[0], values[1], **attrs).reshape(-1)[:1]
                if number.size == 0:
                    return None
                number = number.reshape(())
            made = self.number(number, specs[0].dtype, specs[0].shape)
            made.spread = values[0].spread or made.size != values[0].size  # type: ignore[union-attr]
            return (made,)
        if op.broadcasts != 0 and op.name not in _EXACT:
            return None
        with np.errstate(all="ignore"):
            operands = [v.uniform if isinstance(v, Value) else v for v in values]
            return (self.number(op.kernel(*operands, **attrs), specs[0].dtype, specs[0].shape),)


# What besides another shape leaves one number throughout, in an array whose layout is known.
_SPREADS: Final = frozenset(("expand", "expand_like", "broadcast_like", "spread_like", "transpose"))
# What computes one number in the bits that it has in an array: rounded as IEEE 754 says.
_EXACT: Final = frozenset(("cast", "cast_like", "negative", "sqrt", "square"))
# What hands its operand on where the Spec of the result is that of the operand.
_SAME: Final = frozenset(
    [
        "alias",
        "broadcast_like",
        "cast_like",
        "expand",
        "expand_like",
        "reshape",
        "reshape_like",
        "same_shape",
        "sum_like",
    ]
)


def _simplified(
    op: OpDef, values: Sequence[Value | Spec], attrs: Mapping[str, Any]
) -> Value | None:
    """The operand that is the result, bit for bit and as it lies in memory."""
    first = values[0] if values else None
    if not isinstance(first, Value):
        return None
    if op.name in _SAME:
        if op.name in ("reshape", "expand"):
            return first if tuple(attrs["shape"]) == first.shape else None
        likes = values[1:]
        if op.name == "cast_like":
            return first if first.dtype == likes[0].dtype else None
        return first if all(v.shape == first.shape for v in likes) else None
    if op.name == "transpose" and attrs["perm"] == tuple(range(first.ndim)):
        return first
    return None


def _duplicated(
    op: OpDef, values: Sequence[Value | Spec], attrs: Mapping[str, Any]
) -> Value | None:
    """The operand that the result is a copy of."""
    first = values[0] if values else None
    if not isinstance(first, Value):
        return None
    if op.name == "assign" or (op.name == "add_n" and len(values) == 1):
        return first
    if op.name in ("cast", "reinterpret"):
        return first if first.dtype == np.dtype(attrs["dtype"]) else None
    if op.name in ("multiply", "divide"):
        return _times_one(op.name, first, values[1])
    return None


def _joins(value: Value) -> bool:
    """Whether sums of it join its parts: what stands between two sums keeps them apart."""
    op = value.node.op if value.node is not None else None
    return getattr(op, "place", None) is not None or getattr(op, "name", "") == "add_n"


def _times_one(name: str, x: Value, y: Any) -> Value | None:
    if (
        y.uniform is not None
        and y.uniform == 1
        and x.shape == np.broadcast_shapes(x.shape, y.shape)
    ):
        return x
    if name == "multiply" and x.uniform is not None and x.uniform == 1:
        return y if y.shape == np.broadcast_shapes(x.shape, y.shape) else None
    return None


def _key(op: OpDef, values: Sequence[Value | Spec], attrs: dict[str, Any]) -> Hashable:
    """What two operations with equal results have in common."""
    key: list[Any] = [op, *map(_identity, values)]
    for attr in attrs.values():
        freeze(attr, key)
    found = tuple(key)
    try:
        hash(found)
    except TypeError:
        return None
    return found


def freeze(attr: Any, key: list[Any]) -> None:
    """Append what tells an attribute apart: of one kind and value, to a key that is compared."""
    kind = attr.__class__
    if kind in _ATOMS:
        # 1, 1.0 and True are equal, and so are 0.0 and -0.0; nan is not.
        key += (kind, attr if attr and attr == attr else repr(attr))
    elif kind is tuple or kind is list:
        key += (kind, len(attr))
        for a in attr:
            freeze(a, key)
    elif kind is slice:
        key.append(kind)
        for a in (attr.start, attr.stop, attr.step):
            if a is None or a.__class__ is int:  # as they are: nothing else is known by these alone
                key.append(a)
            else:
                freeze(a, key)
    else:
        key += (kind, attr)


_ATOMS: Final = frozenset({type(None), str, bool, int, float})


def _identity(value: Value | Spec) -> Hashable:
    if isinstance(value, Spec):
        return value
    if value.node is None and value.uniform is not None:
        return (value.spec, value.uniform.tobytes())
    return value


def concrete_graph(
    operators: Sequence[Operator],
    inputs: Sequence[tuple[Ref, Spec]],
    outputs: Sequence[Ref],
    updates: Mapping[int, int] | None = None,
) -> Graph:
    """The graph of what a run computes.

    Parameters
    ----------
    operators : sequence of Operator
        In order, those that `outputs` need.
    inputs : sequence of (Ref, Spec)
        What the run is given, with its true shape.
    outputs : sequence of Ref
    updates : dict of int to int, optional
        See `Graph`.

    Raises
    ------
    NotConcrete
        When shapes depend on values, or the program holds what only a run can tell.
    """
    graph = Graph()
    values: dict[Key, Value] = {ref.key: graph.input(spec) for ref, spec in inputs}
    sizes = _sizes(inputs)
    for operator in operators:
        graph.origin = operator
        try:
            results = _results(graph, operator, values, sizes)
        except NotConcrete:
            raise
        except Exception as error:  # the run says better what is wrong
            raise NotConcrete(f"{operator.type}: {error}") from error
        values.update(
            (ref.key, value) for ref, value in zip(operator.results, results, strict=True)
        )
    graph.origin = None
    graph.outputs = [values[ref.key] for ref in outputs]
    graph.updates = dict(updates or {})
    graph.drop_dead()
    return graph


def _results(
    graph: Graph, operator: Operator, values: Mapping[Key, Value], sizes: Mapping[Size, int]
) -> Sequence[Value]:
    op = operator.op
    operands = [_operand(graph, o, values) for o in operator.operands]
    if isinstance(op, GradOp):
        if op.pullback.strong == "whole":
            raise NotConcrete("gradients of branches know at run time only whether they are zero")
        g, saved = op.arrange(operands)
        results: Any = op.pullback.pull(graph, g, saved, operator.attrs)
        return [_shaped(r, ref) for r, ref in zip(results, operator.results, strict=True)]
    if isinstance(op, BlockOp):
        if op.kind == "call" and _is_plain(body_of(operator)):
            return _of_call(graph, operator, operands, sizes)
        return _of_block(graph, operator, operands, sizes)
    if op.name in BY_HISTORY:
        raise NotConcrete(f"{op.name} depends on how its operands were computed")
    return graph.call(op, operands, operator.attrs)


# What depends on how operands were computed, not on their values alone.
BY_HISTORY: Final = frozenset(("unless_zero", "unless_hollow"))


def _is_plain(block: Block) -> bool:
    """Whether a block that runs once computes what it would without a block around it."""
    for operator in block.ops:
        op = operator.op
        if isinstance(op, BlockOp):
            if op.kind != "call" or not _is_plain(body_of(operator)):
                return False
        elif isinstance(op, GradOp):
            if op.pullback.strong == "whole":
                return False
        elif op.name in BY_HISTORY:
            return False
    return True


def _of_call(
    graph: Graph, operator: Operator, operands: Sequence[Any], sizes: Mapping[Size, int]
) -> Sequence[Value]:
    """A block that is called computes in the midst of what is around it."""
    body = body_of(operator)
    values: dict[Key, Value] = {
        (a.name, 0): v for a, v in zip(body.arguments, operands, strict=True)
    }
    for inner in body.ops:
        made = _results(graph, inner, values, sizes)
        values.update((ref.key, value) for ref, value in zip(inner.results, made, strict=True))
    return [values[ref.key] for ref in body.results]


def _shaped(result: Any, ref: Ref) -> Value:
    if isinstance(result, Value):
        return result
    raise NotConcrete(f"the gradient {ref.var.name} is no array")


def _of_block(
    graph: Graph, operator: Operator, operands: Sequence[Any], sizes: Mapping[Size, int]
) -> Sequence[Value]:
    """Control flow is one opaque operation, whose results have the shapes that they declare."""
    if any(ref.var.is_stack for ref in (*operator.results, *_refs(operator))):
        raise NotConcrete(f"{operator.type} hands over what its iterations kept")
    if operator.op.kind in ("hollow", "absent"):  # type: ignore[union-attr]
        raise NotConcrete("gradients of branches know at run time only whether they are zero")
    specs = []
    for ref in operator.results:
        shape = tuple(sizes.get(d, d) for d in ref.var.spec.shape)
        if any(isinstance(d, Dim) for d in shape):
            raise NotConcrete(f"the sizes of {ref.var.name} depend on values")
        specs.append(Spec(shape, ref.var.spec.dtype))
    return graph.append(operator.op, tuple(operands), operator.attrs, specs)


def _refs(operator: Operator) -> Iterator[Ref]:
    return (o for o in operator.operands if isinstance(o, Ref))


def _operand(graph: Graph, operand: Any, values: Mapping[Key, Value]) -> Value | None:
    if operand is None:
        return None
    if isinstance(operand, Literal):
        return graph.number(operand.value, operand.dtype)
    return values[operand.key]


def _sizes(inputs: Sequence[tuple[Ref, Spec]]) -> dict[Size, int]:
    """What the symbols of the program stand for in this run."""
    known: dict[Size, int] = {}
    for ref, spec in inputs:
        for declared, size in zip(ref.var.spec.shape, spec.shape, strict=True):
            if isinstance(declared, Dim):
                known[declared] = size  # type: ignore[assignment]
    return known
