"""A program as one straight-line Python function on ndarrays.

Each operator becomes a call of its kernel; a value is deleted after its last use, and one that is
later asked only for its shape leaves its Spec behind. There is no interpreter: the function is the
program.
"""

from __future__ import annotations

import keyword
import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.namespace import raw
from autograd_engine.registry import OpDef
from autograd_engine.scattered import dense
from autograd_engine.source import forget_generated, run_generated
from autograd_engine.spec import Spec
from autograd_engine.static.gradop import GradOp
from autograd_engine.static.program import Literal, Operator, Ref

__all__ = ["CompiledFunction", "compile_operators"]


Key = tuple[str, int]
Uses = dict[Key, int]


class CompiledFunction:
    """The generated function, its text, and which operator each line came from.

    Attributes
    ----------
    function : callable
        Takes the values of `inputs` in order, returns a tuple of the values of `outputs`.
    source : str
    inputs, outputs : list of Ref
    """

    def __init__(
        self,
        function: Callable[..., tuple[Any, ...]],
        source: str,
        filename: str,
        inputs: list[Ref],
        outputs: list[Ref],
        lines: dict[int, Operator],
    ) -> None:
        self.function = function
        self.source = source
        self.filename = filename
        self.inputs = inputs
        self.outputs = outputs
        self._lines = lines
        weakref.finalize(self, forget_generated, filename)

    def operator_at(self, error: BaseException) -> Operator | None:
        """The operator whose line raised `error`."""
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.filename:
                return self._lines.get(trace.tb_lineno)
            trace = trace.tb_next
        return None


def live_operators(operators: Sequence[Operator], outputs: Iterable[Ref]) -> list[Operator]:
    """Operators that `outputs` depend on; those that draw random numbers stay, for the stream."""
    wanted = {r.key for r in outputs}
    live = []
    for operator in reversed(operators):
        keeps = getattr(operator.op, "random", False)
        if keeps or any(r.key in wanted for r in operator.results):
            live.append(operator)
            wanted.update(o.key for o in operator.operands if isinstance(o, Ref))
    return live[::-1]


class _Writer:
    """Names of values and constants while the text is written."""

    def __init__(self) -> None:
        self.scope: dict[str, Any] = {"raw": raw, "Spec": Spec, "dense": dense}
        self._names: dict[tuple[str, int], str] = {}
        self._taken: set[str] = set(self.scope)
        self._constants: dict[int, str] = {}
        self._numbers: Counter[str] = Counter()

    def value(self, ref: Ref) -> str:
        key = ref.key
        name = self._names.get(key)
        if name is None:
            stem = re.sub(r"\W", "_", ref.var.name.replace("@GRAD", "_grad"))
            stem = f"v_{stem}" if not stem.isidentifier() or keyword.iskeyword(stem) else stem
            name = self._names[key] = self._unique(stem)
        return name

    def spec(self, ref: Ref) -> str:
        return f"{self.value(ref)}__spec"

    def constant(self, stem: str, value: Any) -> str:
        """A name for an object that the text refers to."""
        name = self._constants.get(id(value))
        if name is None:
            name = self._constants[id(value)] = self._unique(stem)
            self.scope[name] = value
        return name

    def _unique(self, stem: str) -> str:
        name = stem
        while name in self._taken:
            self._numbers[stem] += 1
            name = f"{stem}_{self._numbers[stem]}"
        self._taken.add(name)
        return name


def compile_operators(
    operators: Sequence[Operator], inputs: Sequence[Ref], outputs: Sequence[Ref], name: str
) -> CompiledFunction:
    """Generate and compile the function that runs `operators`.

    Parameters
    ----------
    operators : sequence of Operator
        In order; see `live_operators`.
    inputs, outputs : sequence of Ref
        What the function takes and returns.
    name : str
        Of the function, seen in tracebacks and profiles.
    """
    writer = _Writer()
    last_value, last_spec = _last_uses(operators, outputs)
    scattered = _scattered_values(operators, outputs)
    parameters = ", ".join(writer.value(r) for r in inputs)
    text = [f"def {name}({parameters}):"]
    lines: dict[int, Operator] = {}
    for k, operator in enumerate(operators):
        text.append("    " + _statement(writer, operator, k, last_value, scattered))
        lines[len(text)] = operator
        for ref in operator.results:
            if ref.key in scattered.written_out:
                as_array = f"dense({writer.value(ref)})"
                text.append(f"    {scattered.dense(writer, ref)} = {as_array}")
                lines[len(text)] = operator
        text += _release(writer, operator, k, last_value, last_spec, scattered)
    results = "".join(f"{scattered.dense(writer, r)}, " for r in outputs)
    text.append(f"    return ({results})")
    source = "\n".join(text) + "\n"
    filename = run_generated(source, name, writer.scope)
    return CompiledFunction(
        writer.scope[name], source, filename, list(inputs), list(outputs), lines
    )


def _last_uses(operators: Sequence[Operator], outputs: Sequence[Ref]) -> tuple[Uses, Uses]:
    """Index of the operator that last reads each value, and of the last that reads its Spec."""
    last_value: Uses = {}
    last_spec: Uses = {}
    for k, operator in enumerate(operators):
        for position, operand in enumerate(operator.operands):
            if isinstance(operand, Ref):
                uses = last_value if operator.op.reads_value(position) else last_spec
                uses[operand.key] = k
        for ref in operator.results:
            last_value.setdefault(ref.key, k)
    for ref in outputs:
        last_value[ref.key] = len(operators)
    return last_value, last_spec


class _Scattered(NamedTuple):
    """Values that are `Scattered` when a program runs.

    One stays so for those that take it, a sum or an update by rows; whatever else reads it reads it
    written out, under a name of its own. What one reader gets does not depend on the others: a sum
    has the same bits, and a lazy update leaves out the same rows, whatever is fetched besides.
    """

    stays: set[Key]
    written_out: set[Key]

    def dense(self, writer: _Writer, ref: Ref) -> str:
        """What is read by those that take arrays only."""
        name, key = writer.value(ref), ref.key
        return f"{name}__dense" if key in self.stays and key in self.written_out else name


def _takes_scattered(operator: Operator, position: int) -> bool:
    """A sum that the user wrote adds up arrays, as it does eagerly."""
    op = operator.op
    if not isinstance(op, OpDef) or operator.role == "forward":
        return False
    return op.input_at(position) in op.takes_scattered


def _scattered_values(operators: Sequence[Operator], outputs: Iterable[Ref]) -> _Scattered:
    taken: set[Key] = set()
    closed = {ref.key for ref in outputs}
    for operator in operators:
        for position, operand in enumerate(operator.operands):
            if isinstance(operand, Ref):
                (taken if _takes_scattered(operator, position) else closed).add(operand.key)
    found = _Scattered(set(), set())
    for operator in operators:
        op = operator.op
        if isinstance(op, GradOp):
            keys = [
                ref.key
                for ref, (_, _, rule) in zip(operator.results, op.pullback.rules(), strict=True)
                if rule.scatters
            ]
        elif op.place is not None:
            # Its kernel writes it out, where nobody takes it as it is.
            keys = [ref.key for ref in operator.results if ref.key in taken]
        elif op.name == "add_n" and any(
            isinstance(o, Ref) and o.key in found.stays and _takes_scattered(operator, k)
            for k, o in enumerate(operator.operands)
        ):
            keys = [operator.results[0].key]
        else:
            continue
        for key in keys:
            if key in taken:
                found.stays.add(key)
            if key in closed or key not in taken:
                found.written_out.add(key)
    return found


def _statement(
    writer: _Writer, operator: Operator, index: int, last_value: Uses, scattered: _Scattered
) -> str:
    """``y = tanh(x)``"""
    op = operator.op
    results = ", ".join(writer.value(r) for r in operator.results)
    operands = [
        _operand(writer, operator, k, index, last_value, scattered)
        for k in range(len(operator.operands))
    ]
    if isinstance(op, GradOp):
        g, saved = op.arrange(operands)
        pull = writer.constant(op.name, op.pullback.pull)
        attrs = writer.constant(f"{op.name}_attrs", operator.attrs) if operator.attrs else "None"
        return f"{results}, = {pull}(raw, {_tuple(g)}, {_tuple(saved)}, {attrs})"
    if op.place is not None and operator.results[0].key in scattered.stays:
        operands.insert(0, repr(op.name))
        kernel = "raw.scatter"
    else:
        kernel = writer.constant(op.name, op.kernel)
    named = [f"{k}={_attribute(writer, k, v)}" for k, v in operator.attrs.items()]
    comma = "," if op.multiple else ""
    return f"{results}{comma} = {kernel}({', '.join(operands + named)})"


def _operand(
    writer: _Writer,
    operator: Operator,
    position: int,
    index: int,
    last: Uses,
    scattered: _Scattered,
) -> str:
    operand = operator.operands[position]
    if operand is None:
        return "None"
    if isinstance(operand, Literal):
        array = np.asarray(operand.value, operand.dtype)
        writer.scope.setdefault("_literals", []).append(array)  # keeps its id taken
        return writer.constant("literal", array)
    gone = last.get(operand.key, index) < index
    if gone and not operator.op.reads_value(position):
        return writer.spec(operand)
    if _takes_scattered(operator, position):
        return writer.value(operand)
    return scattered.dense(writer, operand)


def _attribute(writer: _Writer, name: str, value: Any) -> str:
    if isinstance(value, (bool, int, str, type(None))):
        return repr(value)
    if isinstance(value, tuple) and all(isinstance(v, (bool, int)) for v in value):
        return repr(value)
    return writer.constant(name, value)


def _tuple(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    return "(" + "".join(f"{_tuple(p)}, " for p in parts) + ")"


def _release(
    writer: _Writer,
    operator: Operator,
    index: int,
    last_value: Uses,
    last_spec: Uses,
    scattered: _Scattered,
) -> list[str]:
    """Delete what was used for the last time; keep the Spec of what is asked for it later."""
    refs = [o for o in operator.operands if isinstance(o, Ref)] + list(operator.results)
    lines, seen = [], set()
    dead: list[str] = []
    for ref in refs:
        key = ref.key
        if key in seen:
            continue
        seen.add(key)
        if last_value.get(key, -1) == index:
            if last_spec.get(key, -1) > index:
                name = writer.value(ref)
                lines.append(f"    {writer.spec(ref)} = Spec({name}.shape, {name}.dtype)")
            dead += dict.fromkeys((writer.value(ref), scattered.dense(writer, ref)))
    if dead:
        lines.append(f"    del {', '.join(dead)}")
    return lines
