"""A graph as a straight-line function of NumPy calls, which makes its arrays as it goes.

Between its calls a plan of a Hessian holds no memory, as one of `compiler.planned` would: its
arrays are as large as the result.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.autograd.hessians.row_spans import JOIN
from autograd_engine.compiler.concrete_graph import Graph, Node, Value
from autograd_engine.core.dtypes import BLAS_REALS
from autograd_engine.core.locations import run_generated
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef

__all__ = ["array_of", "compiled"]

_SYMBOLS: Final = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_UFUNCS: Final = {name: getattr(np, name) for name in (*_SYMBOLS, "negative")}
_LARGE: Final = 1 << 10


def array_of(constant: Value) -> NDArray[Any]:
    """A constant, written out."""
    array = constant.constant
    assert array is not None
    return array if array.shape == constant.shape else np.full(constant.shape, array, array.dtype)


def compiled(label: str, graph: Graph) -> tuple[Callable[[Sequence[Any]], tuple[Any, ...]], str]:
    """A function of a sequence of arrays, one for each input; and the name of its text.

    Nodes that no output depends on are left out. A result is written over an operand where that is
    a large array of the function's own, not read again, of the same shape and dtype.
    """
    graph.drop_dead()
    text = _Text(graph)
    body = [f"    {line}" for k, node in enumerate(graph.nodes) for line in text.lines(node, k)]
    # What others hold is handed out as a copy: whoever gets a result may write to it.
    results = [f"{text.name(v)}{'' if v.node else '.copy()'}, " for v in graph.outputs]
    head = [f"def {label}(given):"]
    if graph.inputs:
        names = [text.name(v) if v in text.last else "_" for v in graph.inputs]
        head.append(f"    {', '.join(names)}, = given")
    source = "\n".join([*head, *body, f"    return ({''.join(results)})\n"])
    filename = run_generated(source, label, text.scope)
    function: Callable[[Sequence[Any]], tuple[Any, ...]] = text.scope[label]
    return function, filename


class _Text:
    """The lines of the function, and what they refer to.

    Attributes
    ----------
    scope : dict
    last : dict of Value to int
        The number of the node that last reads a value; of what is returned, one more than there is.
    own : set of Value
        Large arrays that are made by a node for itself, and that no other shares memory with.
    """

    def __init__(self, graph: Graph) -> None:
        self.scope: dict[str, Any] = {}
        self.names: dict[Value, str] = {}
        self.last = {v: k for k, node in enumerate(graph.nodes) for v in node.values}
        self.last |= dict.fromkeys(graph.outputs, len(graph.nodes))
        self.own: set[Value] = set()
        for k, node in enumerate(graph.nodes):
            name = _known(node.op)
            if name in _UFUNCS or name == "matmul" or node.op is JOIN:
                self.own.update(v for v in node.results if v.size >= _LARGE)
            elif node.op.result == "view":
                x = next(node.values, None)
                if name == "reshape_like" and x in self.own and self.last[x] == k:
                    self.own.update(node.results)  # it goes on under another name
                self.own.difference_update(node.values)

    def name(self, value: Value) -> str:
        name = self.names.get(value)
        if name is None:
            name = self.names[value] = f"v{len(self.names)}"
            if value.constant is not None:
                self.scope[name] = array_of(value)
        return name

    def constant(self, value: Any) -> str:
        if value is None or value.__class__ in (bool, int, str):
            return repr(value)
        name = f"c{len(self.scope)}"
        self.scope[name] = value
        return name

    def lines(self, node: Node, k: int) -> list[str]:
        """The statements of one node, and what is not read after it deleted."""
        found = self._statements(node, k)
        dying = {
            self.name(v)
            for v in (*node.values, *node.results)
            if self.last.get(v, k) == k and v.constant is None
        }
        return [*found, f"del {', '.join(sorted(dying))}"] if dying else found

    def _statements(self, node: Node, k: int) -> list[str]:
        """What they say in NumPy's words is what the kernel does."""
        op, name, result = node.op, _known(node.op), node.results[0]
        arguments = [
            self.name(v) if isinstance(v, Value) else self.constant(v) for v in node.operands
        ]
        out = ", ".join(map(self.name, node.results))
        if op.variadic_output:
            out += ","
        if name in ("reshape_like", "unsqueeze"):
            return [f"{out} = {arguments[0]}.reshape({result.shape!r})"]
        if name == "getitem":
            return [f"{out} = {arguments[0]}[{self.constant(node.attrs['key'])}]"]
        if name == "transpose":
            return [f"{out} = {arguments[0]}.transpose({node.attrs['perm']!r})"]
        if name == "sum" and (rows := _lead_axes(node)):
            # BLAS adds up rows of a stack several times as fast as a reduction does.
            n, width = result.shape[0], int(np.prod(result.shape[1:], dtype=np.int64))
            ones = self.constant(np.ones(rows, result.dtype))
            return [
                f"{out} = ({ones} @ {arguments[0]}.reshape({n}, {rows}, {width}))"
                f".reshape({result.shape!r})"
            ]
        if name == "unslice_add" and next(node.values).uniform == 0:
            lines, filled, make = [], np.zeros(result.shape, bool), "_empty"
            for key, x in zip(node.attrs["keys"], arguments[1:], strict=True):
                there = filled[key]
                lines.append(f"{out}[{self.constant(key)}] {'+=' if there.any() else '='} {x}")
                if there.any() and not there.all():
                    make = "_zeros"  # some of these elements are added to what was not written
                filled[key] = True
            if not filled.all():
                make = "_zeros"
            self.scope[make], dtype = getattr(np, make[1:]), self.constant(result.dtype)
            return [f"{out} = {make}({result.shape!r}, {dtype})", *lines]
        if name in _UFUNCS:
            for v in node.values:
                if v in self.own and self.last[v] == k and v.spec == result.spec:
                    self.scope[f"_{name}"] = _UFUNCS[name]
                    return [f"{out} = _{name}({', '.join(arguments)}, out={self.name(v)})"]
            if name in _SYMBOLS:
                return [f"{out} = {f' {_SYMBOLS[name]} '.join(arguments)}"]
            return [f"{out} = -{arguments[0]}"]
        if op is JOIN:
            return self._joined(node, k, arguments)
        kernel = f"_{name}" if name else self.constant(op.kernel)
        self.scope[kernel] = op.kernel
        attrs = [f"{key}={self.constant(value)}" for key, value in node.attrs.items()]
        return [f"{out} = {kernel}({', '.join([*arguments, *attrs])})"]


    def _joined(self, node: Node, k: int, blocks: list[str]) -> list[str]:
        """Rows added up: over the operand that has them all, if nobody reads it any more."""
        (result,), values = node.results, list(node.values)
        out = self.name(result)
        over = None
        for j, v in enumerate(values):
            once = values.count(v) == 1 and self.last[v] == k
            if once and v in self.own and v.spec == result.spec:
                over = j
        filled = np.full(result.shape[0], over is not None)
        if over is None:
            self.scope["_empty"] = np.empty
            lines = [f"{out} = _empty({result.shape!r}, {self.constant(result.dtype)})"]
        else:
            lines = [f"{out} = {blocks[over]}"]
        for j, (block, start, v) in enumerate(
            zip(blocks, node.attrs["starts"], values, strict=True)
        ):
            if j == over:
                continue
            for a, b in _runs(filled[start : start + v.shape[0]]):
                sign = "+=" if filled[start + a] else "="
                part = block if b - a == v.shape[0] else f"{block}[{a}:{b}]"
                lines.append(f"{out}[{start + a}:{start + b}] {sign} {part}")
            filled[start : start + v.shape[0]] = True
        lines += [f"{out}[{a}:{b}] = 0" for a, b in _runs(filled) if not filled[a]]
        return lines


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where neighbours that are equal begin and end."""
    stops = [0, *(np.flatnonzero(flags[1:] != flags[:-1]) + 1).tolist(), len(flags)]
    return list(itertools.pairwise(stops))


def _known(op: OpDef) -> str:
    """The name of an operation of the table; one of the user's may be called the same."""
    return op.name if REGISTRY.get(op.name) is op else ""


def _lead_axes(node: Node) -> int:
    """How many rows of a stack a sum adds up: those of all axes between the first and the last."""
    (x,) = node.values
    axis = node.attrs["axis"]
    fits = (
        x.dtype in BLAS_REALS
        and not node.attrs["keepdims"]
        and axis == tuple(range(1, len(axis) + 1))
        and 0 < len(axis) < x.ndim - 1
        and x.size >= _LARGE
    )
    return int(np.prod(x.shape[1 : len(axis) + 1], dtype=np.int64)) if fits else 0
