"""From a graph of operations to steps: loops, products, copies, kernels, and calls of NumPy.

Most operations are lowered by tracing their kernels (`kernel_trace`). Those whose kernels are more
than a NumPy expression have a row in `ROWS`, which says what they compute in the same terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.compiler.concrete_graph import Graph, Node, Value
from autograd_engine.compiler.native import lowering as _rows  # noqa: F401 - registers them
from autograd_engine.compiler.native.c_code.scalars import runs_in_c
from autograd_engine.compiler.native.ir import (
    Buffer,
    Callback,
    Map,
    Step,
    Term,
)
from autograd_engine.compiler.native.tracing.kernel_trace import (
    ROWS,
    Loops,
    NotLowered,
    Traced,
    traced_kernel,
)
from autograd_engine.core.dtypes import COMPLEX, FLOAT32, HALVES
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.halves import computes_in_float32, float32_named
from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["Lowered", "lower"]


class Lowered:
    """A program of steps.

    Attributes
    ----------
    steps : list of Step
    inputs : list of Buffer
    outputs : list of Term
    loops : Loops
        To add more steps with.
    layouts : dict of int to tuple
        By the number of a buffer: strides, where it does not lie in C order.
    over : dict of int to (int, set of int)
        By the number of a buffer that takes the memory of an input: the number of that input, and
        the steps that read the input as it was.
    """

    def __init__(self, loops: Loops, inputs: list[Buffer], outputs: list[Term]) -> None:
        self.loops = loops
        self.steps: list[Step] = loops.steps
        self.inputs = inputs
        self.outputs = outputs
        self.layouts: dict[int, tuple[int, ...]] = {}
        self.over: dict[int, tuple[int, set[int]]] = {}

    @property
    def returned(self) -> set[int]:
        """Numbers of the buffers that outputs are in."""
        return {t.buffer.number for t in self.outputs if t.buffer is not None}

    def copy(self, term: Term, origin: Any) -> Map:
        """A step that copies `term` to a buffer of its own; it is not among the steps yet."""
        return Map("copy", (term,), self.loops.buffer(term.shape, term.dtype), origin)


def lower(graph: Graph, blas: bool = True) -> Lowered:
    """The steps that compute what `graph` does.

    Parameters
    ----------
    graph : Graph
    blas : bool
        Whether C can call a BLAS; without one NumPy multiplies matrices.
    """
    loops = Loops(blas)
    terms = loops.values
    inputs = []
    for k, value in enumerate(graph.inputs):
        buffer = loops.buffer(value.shape, value.dtype)
        buffer.input = k
        inputs.append(buffer)
        terms[id(value)] = loops.all_of(buffer)
    for node in graph.nodes:
        loops.origin = node
        operands = [_operand(loops, v, terms) for v in node.operands]
        for value, result in zip(node.results, _lowered(loops, node, operands), strict=True):
            terms[id(value)] = result
    loops.origin = None
    outputs = [loops.stored(_operand(loops, v, terms)).term for v in graph.outputs]
    return Lowered(loops, inputs, outputs)


def _operand(loops: Loops, value: Value | Spec | None, terms: dict[int, Traced]) -> Any:
    if value is None or isinstance(value, Spec):
        return value
    found = terms.get(id(value))
    if found is None:
        assert value.constant is not None
        found = terms[id(value)] = loops.broadcast_to(value.constant, value.shape)
    return found


def _lowered(loops: Loops, node: Node, operands: Sequence[Any]) -> Sequence[Traced]:
    start, checked = len(loops.steps), len(loops.checked)
    try:
        return _natively(loops, node, operands)
    except NotLowered as reason:
        why = str(reason)
    except Exception as error:  # a kernel that does more with its operands than we know of
        why = f"its kernel needs arrays ({type(error).__name__})"
    del loops.steps[start:]
    while len(loops.checked) > checked:
        loops.checked.popitem()
    return _by_numpy(loops, node, operands, why)


def _natively(loops: Loops, node: Node, operands: Sequence[Any]) -> Sequence[Traced]:
    op = node.op
    if not isinstance(op, OpDef):
        raise NotLowered("control flow runs as Python")
    if op.random or op.effect:
        raise NotLowered("it draws random numbers" if op.random else "it has an effect")
    for part in (*operands, *(v.spec for v in node.results)):
        if part is not None and not runs_in_c(part.dtype):
            raise NotLowered(f"{part.dtype.name} is left to NumPy")
    if not op.checks_values and all(v.size == 0 for v in node.results):
        return [loops.zeros(v.shape, v.dtype) for v in node.results]
    alone = not any(isinstance(v, Traced) for v in operands)  # it depends on shapes alone
    if alone:
        with np.errstate(all="ignore"):
            found = op.kernel(*operands, **node.attrs)
    else:
        row, attrs = ROWS.get(op.name), node.attrs
        loops.results = [v.spec for v in node.results]
        if computes_in_float32(op) or (row is not None and op.halves == "in float32"):
            operands = [_widened(loops, v) for v in operands]
            loops.results = [_widened(loops, s) for s in loops.results]
            attrs = float32_named(op, attrs)
        if row is not None:
            found = row(loops, *operands, **attrs)
        else:
            found = traced_kernel(op.kernel, loops)(*operands, **attrs)
    results = found if op.multiple else (found,)
    if alone:
        results = [loops.operand(np.asarray(r)) for r in results]
    return [_as_inferred(loops, r, v.spec) for r, v in zip(results, node.results, strict=True)]


def _widened(loops: Loops, operand: Any) -> Any:
    """What a kernel that computes in float32 is given; the loop that reads it converts it."""
    if operand is None or operand.dtype not in HALVES:
        return operand
    if isinstance(operand, Traced):
        return loops.cast(operand, FLOAT32)
    return Spec(operand.shape, FLOAT32)


def _as_inferred(loops: Loops, result: Any, spec: Spec) -> Traced:
    if not isinstance(result, Traced):
        raise NotLowered("its kernel returns a constant")
    if result.shape != spec.shape:
        raise NotLowered("its kernel returns another shape")
    return loops.cast(result, spec.dtype)


def _by_numpy(loops: Loops, node: Node, operands: Sequence[Any], why: str) -> Sequence[Traced]:
    outs = [loops.buffer(v.shape, v.dtype) for v in node.results]
    args = tuple(_for_numpy(loops, v) for v in operands)
    loops.add(Callback(args, outs, node, why))
    return list(map(loops.all_of, outs))


def _for_numpy(loops: Loops, operand: Any) -> Any:
    if not isinstance(operand, Traced):
        return operand
    term = loops.stored(operand).term
    if term.buffer is not None or not operand.size or not operand.shape:
        return term
    if operand.dtype in COMPLEX:  # C has no such numbers to fill memory with
        return loops.operand(np.full(operand.shape, term.number, operand.dtype)).term
    return loops.copied(operand).term
