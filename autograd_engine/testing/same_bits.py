"""`assert_same`: the same bits on the tape, in a program, and through `to_static`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.autograd import grad
from autograd_engine.core import pytree as nest
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import COMPLEX, FLOATS
from autograd_engine.eager.grad_mode import enable_grad, recorded_with
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, GradientCheckError
from autograd_engine.jit.arguments import bind
from autograd_engine.jit.program_call import Place, TracedProgram, trace_function
from autograd_engine.jit.static_function import StaticFunction
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.backward.append_backward import gradients
from autograd_engine.program.input_spec import InputSpec
from autograd_engine.program.ir.program import Program, Variable, program_guard
from autograd_engine.program.scope import Scope
from autograd_engine.program.symbolic_number import NeedsValue
from autograd_engine.static.executor.executor import Executor
from autograd_engine.testing.modes import directions, reseeded

__all__ = ["assert_same"]

Array: TypeAlias = NDArray[Any]


class _Value(NamedTuple):
    """One array that is compared, under the name that a message gives it."""

    label: str
    array: Array | None


def assert_same(
    fn: Callable[..., Any], *inputs: Any, order: int = 2, unknown_sizes: bool = True
) -> None:
    """Assert that a function and its gradients have the same bits in every mode.

    It is run on the tape; traced to a program that an `Executor` runs, gradients by
    `static.gradients`; the same with unknown first sizes; and called through `jit.to_static`.

    Parameters
    ----------
    fn : callable
        Of Tensors, returns Tensors, nested as it likes.
    *inputs : Tensor, array_like or anything else
        Arguments. Floating Tensors and ndarrays are differentiated with respect to, and so are
        Tensors that the function uses without being given them, where they want gradients.
    order : {1, 2, 3}
        Up to which order gradients are compared.
    unknown_sizes : bool
        False leaves the program with unknown sizes out, for a function that needs to know them.

    Raises
    ------
    GradientCheckError
        Where bits differ: with the value, the index, both numbers, how many units in the last place
        they are apart, and the first operation whose result differs. Or when the function cannot be
        traced, be it with unknown sizes only.
    ArgumentError
        Also when there is nothing to compare: no Tensor is returned, or no gradient flows to any.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.to_tensor([0.5, 2.0], stop_gradient=False)
    >>> assert_same(lambda x: paddle.tanh(x * w).sum(), paddle.to_tensor([1.0, 3.0]), order=3)
    """
    target = fn.dygraph_function if isinstance(fn, StaticFunction) else fn
    if not callable(target):
        raise ArgumentError(f"assert_same: fn must be callable, got {type(fn).__name__}")
    if order not in (1, 2, 3) or isinstance(order, bool):
        raise ArgumentError(f"assert_same: order must be 1, 2 or 3, got {order!r}")
    require_bools("assert_same", unknown_sizes=unknown_sizes)
    given = nest.map(_leaf, tuple(inputs))
    leaves = [t for t in nest.leaves(given) if isinstance(t, Tensor)]
    with enable_grad():
        traced = _traced(target, given)
        captured = [t for t in traced.parameters if not t._stop]
        wanted = [t for t in leaves if not t._stop] + captured
        if not wanted:
            raise ArgumentError(
                f"assert_same: {_name(target)} has no input to differentiate with respect to: pass "
                "floating Tensors"
            )
        subject = _Subject(target, given, traced, wanted, order)
        expected = subject.eagerly(target)
        _compare(subject, "to_static", expected, subject.eagerly(StaticFunction(target)))
        opened = _traced_open(target, nest.map(_unknown, given)) if unknown_sizes else None
        _compare(subject, "a program", expected, subject.in_program(traced))
        if opened is not None:
            text = "a program with unknown sizes"
            _compare(subject, text, expected, subject.in_program(opened))


def _leaf(value: Any) -> Any:
    """A Tensor of its own for each argument that is one."""
    if not isinstance(value, (Tensor, np.ndarray)):
        return value
    tensor = Tensor(value.numpy() if isinstance(value, Tensor) else value)
    if tensor._data.dtype in FLOATS:
        tensor.stop_gradient = False
    return tensor


def _unknown(value: Any) -> Any:
    if not isinstance(value, Tensor):
        return value
    shape = (None, *value.shape[1:]) if value.ndim else ()
    return InputSpec(shape, value.dtype, stop_gradient=value.stop_gradient)


def _name(fn: Any) -> str:
    return str(getattr(fn, "__qualname__", type(fn).__name__))


def _traced(fn: Any, given: tuple[Any, ...]) -> TracedProgram:
    try:
        return trace_function(fn, _name(fn), bind(_name(fn), None, None, given, {}))
    except NeedsValue as error:
        raise GradientCheckError(
            f"assert_same: {_name(fn)} cannot be traced, so there is no program to compare: {error}"
        ) from error


def _traced_open(fn: Any, specs: tuple[Any, ...]) -> TracedProgram:
    """With unknown sizes."""
    try:
        return trace_function(fn, _name(fn), bind(_name(fn), None, None, specs, {}))
    except (ValueError, TypeError, RuntimeError) as error:
        raise GradientCheckError(
            f"assert_same: {_name(fn)} cannot be traced where first sizes are unknown, so there is "
            "no program with unknown sizes to compare; pass unknown_sizes=False if it needs to "
            f"know them. {error}"
        ) from error


@dataclass
class _Subject:
    """A function with its arguments, run in one mode after the other from the same state."""

    fn: Any
    given: tuple[Any, ...]
    traced: TracedProgram
    wanted: list[Tensor]
    order: int

    def __post_init__(self) -> None:
        self._names = [_label(t, k) for k, t in enumerate(self.wanted)]
        self.tensors = [t for t in nest.leaves(self.given) if isinstance(t, Tensor)]
        self._state = [(t, t._data) for t in (*self.tensors, *self.traced.parameters)]
        # For each order, which of the results before are differentiated again, and from where.
        self._seeds: list[tuple[list[int], list[Array]]] = []

    @contextmanager
    def restored(self) -> Iterator[None]:
        """What the function writes to is put back; random numbers are the same each time."""
        try:
            with reseeded():
                yield
        finally:
            for tensor, data in self._state:
                tensor._data = data

    def eagerly(self, fn: Any) -> list[_Value]:
        """The values on the tape; the first call says what is differentiated."""
        with self.restored():
            outputs = [t for t in nest.leaves(fn(*self.given)) if isinstance(t, Tensor)]
            if all(t._stop for t in outputs):
                raise ArgumentError(
                    f"assert_same: {_name(self.fn)} returns no Tensor that a gradient flows from, "
                    "so there is no gradient to compare: return Tensors that depend on its "
                    "floating inputs"
                )
            values = [_Value(f"output {k}", t.numpy()) for k, t in enumerate(outputs)]
            current: list[Any] = list(outputs)
            for n in range(self.order):
                if len(self._seeds) == n:
                    self._seeds.append(_seeded(current, n))
                indices, seeds = self._seeds[n]
                goals = [current[k] for k in indices]
                if not goals or any(t is None or t._stop for t in goals):
                    break
                cotangents = [Tensor(s) for s in seeds]
                current = grad(goals, self.wanted, cotangents, create_graph=True, allow_unused=True)
                values += self._named(n, [None if g is None else g.numpy() for g in current])
        return values

    def _named(self, order: int, arrays: Sequence[Any]) -> list[_Value]:
        return [
            _Value(f"the gradient of order {order + 1} with respect to {name}", a)
            for name, a in zip(self._names, arrays, strict=True)
        ]

    def in_program(self, traced: TracedProgram) -> list[_Value]:
        """The values that an executor computes."""
        block = traced.program.global_block()
        pairs = self._pairs(traced)
        known = {id(t): v for v, t in pairs}
        wanted = [known[id(t)] for t in self.wanted]
        cotangents: dict[str, Any] = {}
        every = [v for v, _ in pairs]
        outputs = [
            v.pick(every, traced.outputs) for v in traced._returned.template if isinstance(v, Place)
        ]
        fetched = [_Value(f"output {k}", v) for k, v in enumerate(outputs)]
        current: list[Any] = list(outputs)
        with program_guard(traced.program, Program()):
            for n, (indices, arrays) in enumerate(self._seeds):
                goals = [current[k] for k in indices]
                if not goals or any(v is None for v in goals):
                    break
                seeds = []
                for k, (goal, array) in enumerate(zip(goals, arrays, strict=True)):
                    seed = Variable(
                        block, f"cotangent_{n}_{k}", goal.spec, stop_gradient=True, is_data=True
                    )
                    seeds.append(block.add_var(seed))
                    cotangents[seed.name] = array
                current = list(gradients(goals, wanted, seeds))
                fetched += self._named(n, current)
        asked = [v.array for v in fetched if v.array is not None]
        found = self._run(traced, asked, cotangents)
        return [_Value(v.label, None if v.array is None else next(found)) for v in fetched]

    def _pairs(self, traced: TracedProgram) -> list[tuple[Any, Tensor]]:
        """The variables of a program that stand for tensors, with these."""
        given = zip(traced.inputs, _distinct(self.tensors), strict=True)
        return [*given, *((c.var, c.tensor) for c in traced._captured)]

    def _run(
        self, traced: TracedProgram, asked: Sequence[Any], more: dict[str, Any]
    ) -> Iterator[Array]:
        """What an executor gives for `asked`; `more` is fed besides."""
        pairs, scope = self._pairs(traced), Scope()
        for var, tensor in pairs:
            if var.persistable:
                scope.var(var.name).value = tensor._data
        feed = {v.name: t._data for v, t in pairs} | more
        with reseeded():
            return iter(Executor().run(traced.program, feed, asked, scope=scope))

    def first_difference(self) -> str:
        """The first operation whose result in a program is another one than eagerly."""
        eager: list[tuple[str, list[Array], Any]] = []

        def watch(op: Any, _: Any, outputs: Sequence[Array], at: Any, __: Any = None) -> None:
            eager.append((op.name, list(outputs), at))

        with self.restored(), recorded_with(watch=watch):
            self.fn(*self.given)
        operators = [
            o
            for o in self.traced._halves.forward_operators
            if isinstance(o.op, OpDef) and not all(r.var.stop_gradient for r in o.results)
        ]
        if [name for name, _, _ in eager] != [o.type for o in operators]:
            return ""
        names = [r.var.name for o in operators for r in o.results]
        values = self._run(self.traced, names, {})
        for (name, outputs, at), operator in zip(eager, operators, strict=True):
            for have, want in zip([next(values) for _ in operator.results], outputs, strict=True):
                if _difference(want, have) is not None:
                    return f"; the first operation that differs is {name} of {at} ({at.text})"
        return "; all operations of the forward half agree"


def _seeded(values: Sequence[Any], order: int) -> tuple[list[int], list[Array]]:
    """What is differentiated: each value once; and random cotangents for these."""
    indices: list[int] = []
    for k, t in enumerate(values):
        if t is not None and not t._stop and all(t is not values[j] for j in indices):
            indices.append(k)
    return indices, directions([values[k]._data for k in indices], order + 1)


def _distinct(tensors: Sequence[Tensor]) -> list[Tensor]:
    return list({id(t): t for t in tensors}.values())


def _label(tensor: Tensor, position: int) -> str:
    named = getattr(tensor, "_name", None)
    return str(named) if named else f"input {position}"


def _compare(
    subject: _Subject, mode: str, expected: Sequence[_Value], found: Sequence[_Value]
) -> None:
    name = _name(subject.fn)
    if len(expected) != len(found):
        raise GradientCheckError(
            f"assert_same: {name} has {len(expected)} values eagerly and {len(found)} in {mode}"
        )
    for want, have in zip(expected, found, strict=True):
        difference = _difference(want.array, have.array)
        if difference is not None:
            raise GradientCheckError(
                f"assert_same: {want.label} of {name} differs between eager mode and {mode}: "
                f"{difference}{subject.first_difference()}"
            )


def _difference(want: Any, have: Any) -> str | None:
    """Where two arrays differ first; None where they have the same bits, NaNs apart."""
    if have is None:
        return None if want is None else "there is one eagerly only"
    if want is None:  # a program has zeros for what only the branch reads that did not run
        return "there is none eagerly" if np.any(have) else None
    if want.shape != have.shape or want.dtype != have.dtype:
        return f"{want.dtype}{list(want.shape)} eagerly, {have.dtype}{list(have.shape)} there"
    if want.dtype in COMPLEX:
        parts = _difference(want.real, have.real), _difference(want.imag, have.imag)
        return parts[0] or parts[1]
    same = want == have
    if want.dtype in FLOATS:
        same = (same & (np.signbit(want) == np.signbit(have))) | (np.isnan(want) & np.isnan(have))
    wrong = np.argwhere(~np.asarray(same))
    if not len(wrong):
        return None
    index = tuple(int(i) for i in wrong[0])
    a, b = want[index], have[index]
    place = f" at {list(index)}" if index else ""
    text = f"{a!r} eagerly and {b!r} there{place}, {len(wrong)} of {want.size} elements"
    if want.dtype in FLOATS and np.isfinite(a) and np.isfinite(b):
        text += f", {_ulps(a, b)} units in the last place apart"
    return text


def _ulps(a: Any, b: Any) -> int:
    """How many numbers of this dtype lie between the two, and one."""

    def ordered(value: Any) -> int:
        bits = int(np.asarray(value).view(f"i{value.dtype.itemsize}"))
        return bits if bits >= 0 else -(bits & ((1 << (8 * value.dtype.itemsize - 1)) - 1))

    return abs(ordered(a) - ordered(b))
