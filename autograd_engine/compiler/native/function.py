"""A graph as a function in C, loaded and called."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.arena import aligned
from autograd_engine.compiler.backend import HostArrays, Placement
from autograd_engine.compiler.concrete_graph import Graph, Node
from autograd_engine.compiler.native.emit.program_text import Emitted, Part, emit
from autograd_engine.compiler.native.ir import (
    Assemble,
    Buffer,
    Callback,
    Kernel,
    Map,
    Product,
    Reduce,
    Step,
    Term,
    term_of,
)
from autograd_engine.compiler.native.lower import Lowered, lower
from autograd_engine.compiler.native.passes.place_buffers import arrange
from autograd_engine.compiler.native.passes.rewrite import rewrite
from autograd_engine.compiler.native.passes.schedule import Group, scheduled, steps_of
from autograd_engine.compiler.native.runtime import get_runtime, header, raise_pending
from autograd_engine.compiler.native.toolchain.compiler import (
    CompileError,
    find_toolchain,
    why_not,
)
from autograd_engine.compiler.native.toolchain.library_cache import load, tell_of_compilers
from autograd_engine.compiler.python.function import compile_alone
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.spec import Array, Spec
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.scattered_cotangent import dense

__all__ = ["NativeFailed", "NativeFunction", "NativeUnavailable", "compile_native"]

_TIMED_RUNS = 5

# A run that takes less keeps Python's lock (nanoseconds, roughly).
_SHORT: Final = 50_000


class NativeUnavailable(Exception):
    """Why a graph does not run as C."""


class NativeFailed(Exception):
    """A run was given up before it wrote anything: NumPy says what is wrong."""


def compile_native(graph: Graph, name: str = "program") -> NativeFunction:
    """`graph` as C, compiled and loaded.

    Parameters
    ----------
    graph : Graph
    name : str
        For the line that says what is compiled when that takes long.

    Raises
    ------
    NativeUnavailable
        Without a compiler, or where it fails.
    """
    toolchain = find_toolchain()
    if toolchain is None:
        tell_of_compilers()
        raise NativeUnavailable(why_not())
    try:
        runtime = get_runtime(toolchain)
    except CompileError as error:
        raise NativeUnavailable(f"the compiler fails: {error}") from error
    started = time.perf_counter()
    lowered = lower(graph, runtime.blas is not None)
    rewrite(lowered, graph.updates)
    arrange(lowered, graph.updates)
    order = scheduled(lowered.steps, lowered.over, lowered.returned)
    emitted = emit(lowered, order, runtime.threads)
    sources = [f"{header(later_unit=k > 0)}\n{u}" for k, u in enumerate(emitted.units)]
    written = time.perf_counter()
    try:
        library = load(sources, toolchain, name)
    except CompileError as error:
        raise NativeUnavailable(f"the compiler fails: {error}") from error
    runtime.bind(library)
    seconds = (written - started, time.perf_counter() - written)
    return NativeFunction(graph, lowered, emitted, library, seconds)


class NativeFunction:
    """A graph compiled to C; see `backend.Compiled`.

    Attributes
    ----------
    source : str
        The C text, without what all programs start from.
    seconds : tuple of float
        What it took to write the text, and to compile or find and load the library.
    """

    backend = "native"
    exact = False
    one_call = True
    keeps = False
    described: Sequence[Spec] = ()

    def __init__(
        self,
        graph: Graph,
        lowered: Lowered,
        emitted: Emitted,
        library: ctypes.CDLL,
        seconds: tuple[float, float],
    ) -> None:
        self.graph = graph
        self.updates = dict(graph.updates)
        self.emitted = emitted
        self.lowered = lowered
        self.outputs = lowered.outputs
        self.source = emitted.source
        self.seconds = seconds
        self._library = library
        self._idle: list[_Turns] = []
        self._lock = renewed_lock()

    @property
    def arena(self) -> int:
        """Bytes of memory that a run works in."""
        return self.emitted.arena

    def entry(self, name: str) -> Callable[[int], int]:
        """A function of the library; a short one does not let other threads run meanwhile."""
        make = ctypes.PYFUNCTYPE if self.emitted.work < _SHORT else ctypes.CFUNCTYPE
        address = ctypes.cast(getattr(self._library, name), ctypes.c_void_p).value
        assert address is not None
        function: Callable[[int], int] = make(ctypes.c_int64, ctypes.c_void_p)(address)
        return function

    def bind(self, arrays: Sequence[Array]) -> NativeBound:
        """A run on these arrays; those that `updates` names are written in place."""
        return NativeBound(self, arrays)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        with self._lock:
            turns = self._idle.pop() if self._idle else None
        if turns is None:
            turns = _Turns(self, arrays)
        bound = turns.next(arrays)
        rest = iter(bound())
        results = tuple(
            [
                bound.arrays[self.updates[k]] if k in self.updates else next(rest)
                for k in range(len(self.outputs))
            ]
        )
        with self._lock:
            self._idle.append(turns)
        return results

    def placements(self) -> list[Placement]:
        """Where each operation runs."""
        found: dict[tuple[int, str], Placement] = {}
        for item in self.emitted.order:
            for step in steps_of(item):
                node = step.origin
                if not isinstance(node, Node):
                    continue
                where, why = _where(step)
                line = "" if node.origin is None else str(node.origin.location)
                found[id(node), where] = Placement(node.op.name, where, why, line)
        return list(found.values())


def _where(step: Step) -> tuple[str, str]:
    if isinstance(step, Callback):
        return "NumPy", step.why
    if isinstance(step, Product):
        return "BLAS", ""
    return "fused loop" if isinstance(step, (Map, Reduce)) else "kernel", ""


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _usable(array: Array) -> Array:
    """In C order, aligned, as the text expects it."""
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.array(array, order="C")


class _Turns:
    """Runs that hand their state out: what one returns, the next one often gets.

    Two bounds on one arena take turns, so that the state is copied into arrays whose addresses are
    known, unless somebody still holds what an earlier run has put there.
    """

    def __init__(self, function: NativeFunction, arrays: Sequence[Array]) -> None:
        specs = {k: function.graph.inputs[k].spec for k in sorted(set(function.updates.values()))}
        self._states = [(k, s.shape, s.dtype) for k, s in specs.items()]
        self._rest = [k for k in range(len(arrays)) if k not in specs]
        self._bounds: list[NativeBound] = []
        for _ in range(2 if specs else 1):
            memory = self._bounds[0].memory if self._bounds else None
            own = list(arrays)
            for k, shape, dtype in self._states:
                own[k] = np.empty(shape, dtype)
            self._bounds.append(NativeBound(function, own, memory))
        del own
        # All are held alike as long as nobody else has them.
        self._held = self._references(self._bounds[-1])

    def _references(self, bound: NativeBound) -> list[int]:
        arrays = bound.arrays
        return [getrefcount(arrays[k]) for k, _, _ in self._states]

    def next(self, arrays: Sequence[Array]) -> NativeBound:
        """The bound whose turn it is, given `arrays`."""
        bounds = self._bounds
        bounds.reverse()
        bound = bounds[0]
        own = bound.arrays
        for (k, shape, dtype), held, now in zip(
            self._states, self._held, self._references(bound), strict=True
        ):
            if now != held:
                bound.put(k, np.empty(shape, dtype))
            np.copyto(own[k], arrays[k])
        for k in self._rest:
            if own[k] is not arrays[k]:
                bound.put(k, arrays[k])
        return bound


class NativeBound(HostArrays):
    """A run on fixed memory; see `backend.Bound`.

    Attributes
    ----------
    memory : ndarray
        The arena. Runs that follow each other may share it.
    """

    def __init__(
        self, function: NativeFunction, arrays: Sequence[Array], memory: Array | None = None
    ) -> None:
        self.function = function
        emitted = function.emitted
        self.arrays: list[Array] = []
        self.memory = aligned(emitted.arena) if memory is None else memory
        self._constants = [_constant(b) for b in emitted.constants]
        self._table = np.zeros(1 + len(arrays) + len(self._constants), np.uintp)
        self._table[0] = _address(self.memory)
        for k, array in enumerate(arrays):
            self.arrays.append(array)
            self.put(k, array)
        for k, constant in enumerate(self._constants):
            self._table[1 + len(arrays) + k] = _address(constant)
        self._pointer = _address(self._table)
        self._build()

    def _build(self) -> None:
        function = self.function
        self._parts = [self._part(p) for p in function.emitted.parts]
        self._results = [
            self._result(t) for k, t in enumerate(function.outputs) if k not in function.updates
        ]
        self.run = self._runner()

    def _runner(self) -> Callable[[], list[Array]]:
        """A function that runs it: of short programs the call itself takes time."""
        parts, results, pointer = self._parts, self._results, self._pointer
        if len(parts) != 1:

            def run() -> list[Array]:
                for part in parts:
                    if part(pointer):
                        raise _given_up()
                return [result() for result in results]

            return run
        (entry,) = parts
        if len(results) != 1:

            def run_one() -> list[Array]:
                if entry(pointer):
                    raise _given_up()
                return [result() for result in results]

            return run_one
        (only,) = results

        def run_for_one() -> list[Array]:
            if entry(pointer):
                raise _given_up()
            return [only()]

        return run_for_one

    def put(self, position: int, array: Array, stays: bool = False) -> None:
        """Let the run read (and, of state, write) another array."""
        usable = _usable(array)
        self.arrays[position] = usable
        self._table[1 + position] = _address(usable)

    feed = put

    def __call__(self) -> list[Array]:
        return self.run()

    def tail(self, count: int) -> Array:
        """The numbers at the end of the arena, where a timed program notes its times."""
        return self.memory[-8 * count :].view(np.float64).copy()

    def timed_run(self) -> list[tuple[str, float, int, str]]:
        """Of each loop, product and kernel: its name, seconds, bytes read and written, and line.

        The same program is compiled with a clock between its parts. The shortest of a few runs on
        the arrays of this one counts, whose state they move on.
        """
        function = self.function
        toolchain = find_toolchain()
        assert toolchain is not None
        runtime = get_runtime(toolchain)
        order = function.emitted.order
        emitted = emit(function.lowered, order, runtime.threads, timed=True)
        sources = [f"{header(later_unit=k > 0)}\n{u}" for k, u in enumerate(emitted.units)]
        library = load(sources, toolchain, "the program with clocks")
        runtime.bind(library)
        timed = NativeFunction(function.graph, function.lowered, emitted, library, (0.0, 0.0))
        run = NativeBound(timed, self.arrays)
        took = None
        for _ in range(_TIMED_RUNS):  # the first finds nothing in the caches
            run()
            times = np.diff(run.tail(len(order) + 1))
            took = times if took is None else np.minimum(took, times)
        assert took is not None
        return [
            (_described(item), float(seconds), _bytes(item), _line(item))
            for item, seconds in zip(order, took, strict=True)
        ]

    def _part(self, part: Part) -> Callable[[int], Any]:
        if part.callback is None:
            return self.function.entry(part.entry)
        return self._callback(part.callback)

    def _view(self, term: Term) -> Callable[[], Array]:
        """What a term is, when asked: inputs may be other arrays by then."""
        if term.buffer is None:
            number = np.full(term.shape, term.number, term.dtype)
            return lambda: number
        root, more = term.buffer.root
        offset = (term.offset + more) * root.dtype.itemsize
        strides = tuple(s * root.dtype.itemsize for s in term.strides)
        if root.input is not None:
            position, shape = root.input, term.shape

            def seen() -> Array:
                base = self.arrays[position]
                return np.ndarray(shape, base.dtype, base, offset, strides)

            return seen
        if root.constant is not None:
            base = _constant(root)
            fixed = np.ndarray(term.shape, root.dtype, base, offset, strides)
        else:
            start = self.function.emitted.offsets[root.number]
            fixed = np.ndarray(term.shape, root.dtype, self.memory, start + offset, strides)
        return lambda: fixed

    def _result(self, term: Term) -> Callable[[], Array]:
        view = self._view(term)
        if term.buffer is not None and term.buffer.root[0].input is None:
            copy: Callable[[], Array] = view().copy
            return copy
        return lambda: np.array(view())

    def _callback(self, step: Callback) -> Callable[[int], Any]:
        kernel = _kernel_of(step.origin)
        reads = [a if a is None or isinstance(a, Spec) else self._view(a) for a in step.args]
        writes = [self._view(term_of(b))() for b in step.outs]

        def run(_: int) -> None:
            made = kernel(*[r() if callable(r) else r for r in reads])
            for target, value in zip(writes, made, strict=True):
                array = dense(value)
                if array.shape != target.shape:
                    if array.size:
                        raise NativeFailed
                    array = 0  # of a branch that did not run; nothing but its gradient reads it
                target[...] = array

        return run


def _given_up() -> NativeFailed:
    """What to raise where an entry has returned early, unless it was a signal that ended it."""
    raise_pending()
    return NativeFailed()


def _constant(buffer: Buffer) -> Array:
    assert buffer.constant is not None
    return np.ascontiguousarray(buffer.constant)


def _kernel_of(node: Node) -> Callable[..., Any]:
    """What computes the results of a node, all in one tuple, from arrays."""
    if isinstance(node.op, OpDef):
        kernel, attrs = node.op.kernel, node.attrs
        if node.op.multiple:
            return lambda *operands: kernel(*operands, **attrs)
        return lambda *operands: (kernel(*operands, **attrs),)
    operator = node.origin
    assert operator is not None
    compiled, read = compile_alone(operator, operator.results, operator.type)
    return lambda *operands: compiled.function(*(operands[k] for k in read))


def _described(item: Step | Group) -> str:
    names = dict.fromkeys(s.origin.op.name for s in steps_of(item) if s.origin is not None)
    shown = ", ".join(list(names)[:4]) + (", ..." if len(names) > 4 else "")
    if isinstance(item, Group):
        return f"loop {list(item.domain)}: {shown or 'copy'}"
    kinds = {Product: "product", Kernel: "kernel", Callback: "NumPy", Assemble: "parts"}
    kind = next((text for cls, text in kinds.items() if isinstance(item, cls)), "step")
    shape = [list(o.shape) for o in item.outs]
    return f"{kind} {shown or 'copy'} {shape[0] if len(shape) == 1 else shape}"


def _line(item: Step | Group) -> str:
    for step in steps_of(item):
        origin = getattr(step.origin, "origin", None)
        if origin is not None:
            return str(origin.location)
    return ""


def _bytes(item: Step | Group) -> int:
    steps = steps_of(item)
    made = {o.number for s in steps for o in s.outs}
    seen: dict[Any, int] = {}
    for step in steps:
        for term in step.terms:
            if term.buffer is not None and term.buffer.number not in made:
                read = min(term.size, term.buffer.size) * term.buffer.dtype.itemsize
                seen[term.buffer.number, term.offset, term.shape] = read
        for out in step.outs:
            if not isinstance(item, Group) or item.levels.get(out.number) != "row":
                seen[out.number] = out.size * out.dtype.itemsize
    return sum(seen.values())
