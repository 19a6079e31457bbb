"""A backend of few lines, by which what the executor does with backends is tested.

It runs the kernels of a graph one after the other. `fail` and `interrupt` say what is to go wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_engine.compiler.backend import HostArrays, Placement
from autograd_engine.compiler.concrete_graph import Graph, NotConcrete
from autograd_engine.program.ir.control_flow_op import BlockOp


class Trouble:
    """What the backend is told to do."""

    def __init__(self) -> None:
        self.compiled: list[NodeProgram] = []
        self.refuse: Exception | None = None
        self.fail: Exception | None = None  # instead of running
        self.before_write: Callable[[], None] = lambda: None
        self.in_write: Callable[[], None] = lambda: None


class NodeProgram:
    one_call = False
    keeps = False
    described = ()

    def __init__(self, graph: Graph, name: str, backend: str, trouble: Trouble) -> None:
        if trouble.refuse is not None:
            raise trouble.refuse
        for node in graph.nodes:
            if isinstance(node.op, BlockOp):
                raise NotConcrete(f"{node.op.name} is control flow")
        self.graph, self.backend, self.trouble = graph, backend, trouble
        self.exact = backend == "numpy"
        self.updates = dict(graph.updates)
        self.source = "\n".join(map(repr, graph.nodes))
        self.facts = {"nodes": len(graph.nodes)}
        self.calls = self.bound_runs = 0
        trouble.compiled.append(self)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        self.calls += 1
        return tuple(self._outputs(arrays))

    def _outputs(self, arrays: Sequence[Any]) -> list[Any]:
        if self.trouble.fail is not None:
            raise self.trouble.fail
        values = {}
        for (
            v,
            a,
        ) in zip(self.graph.inputs, arrays, strict=True):
            assert a.shape == v.shape
            assert a.dtype == v.dtype
            assert a.flags.c_contiguous
            values[id(v)] = a

        def value(v: Any) -> Any:
            if v is None or not hasattr(v, "graph"):
                return v
            if id(v) not in values:
                values[id(v)] = np.broadcast_to(v.constant, v.shape)
            return values[id(v)]

        for node in self.graph.nodes:
            made = node.op.kernel(*map(value, node.operands), **node.attrs)
            made = made if node.op.multiple else (made,)
            values |= {id(v): np.asarray(m) for v, m in zip(node.results, made, strict=True)}
        return [np.array(value(v)) for v in self.graph.outputs]

    def bind(self, arrays: Sequence[Any]) -> NodeRun:
        return NodeRun(self, arrays)

    def placements(self) -> list[Placement]:
        return [
            Placement(n.op.name, "kernel", "", "" if n.origin is None else str(n.origin.location))
            for n in self.graph.nodes
        ]


class NodeRun(HostArrays):
    def __init__(self, program: NodeProgram, arrays: Sequence[Any]) -> None:
        self.program = program
        # Elsewhere than it was given, as a backend may.
        state = set(program.updates.values())
        self.arrays = [np.array(a) if k in state else a for k, a in enumerate(arrays)]
        self._pending: list[Any] | None = None

    def feed(self, position: int, array: Any, stays: bool = False) -> None:
        assert position not in self.program.updates.values()
        self.arrays[position] = array

    def __call__(self) -> list[Any]:
        program = self.program
        program.bound_runs += 1
        outputs = program._outputs(self.arrays)
        program.trouble.before_write()
        self._pending = outputs
        self._write()
        program.trouble.in_write()
        self._pending = None
        return [a for j, a in enumerate(outputs) if j not in program.updates]

    def _write(self) -> None:
        assert self._pending is not None
        for j, k in self.program.updates.items():
            self.arrays[k][...] = self._pending[j]

    def finish(self) -> None:
        if self._pending is not None:
            self._write()
            self._pending = None

    def timed_run(self) -> list[tuple[str, float, int, str]]:
        self()
        return [("all of it", 1e-3, 1024, "train.py:1")]
