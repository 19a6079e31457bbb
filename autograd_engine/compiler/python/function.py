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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autograd_engine.compiler.folded_sums import folded
from autograd_engine.compiler.python.blocks import block_statement
from autograd_engine.compiler.python.split_functions import Defined, defined
from autograd_engine.core.locations import forget_generated
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.scattered_cotangent import dense
from autograd_engine.program.ir.control_flow_op import BlockOp, kind_of
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import Literal, Operator, Ref

if TYPE_CHECKING:
    from autograd_engine.compiler.concrete_graph import Node

__all__ = [
    "CompiledFunction",
    "Uses",
    "Writer",
    "compile_alone",
    "compile_operators",
    "scattered_values",
    "takes_scattered",
]


Key = tuple[str, int]


class CompiledFunction:
    """The generated function, its text, and which operator each line came from.

    Attributes
    ----------
    function : callable
        Takes the values of `inputs` in order, returns a tuple of the values of `outputs`.
    source : str
    inputs, outputs : list of Ref
    lines : dict of int to Operator
        The operator of each line of the text that runs one.
    """

    def __init__(
        self,
        function: Callable[..., tuple[Any, ...]],
        text: Defined,
        inputs: list[Ref],
        outputs: list[Ref],
    ) -> None:
        self.function = function
        self.source, self.filename, self.lines = text
        self.inputs = inputs
        self.outputs = outputs
        weakref.finalize(self, forget_generated, self.filename)

    def operator_at(self, error: BaseException) -> Operator | None:
        """The operator whose line raised `error`."""
        trace, found = error.__traceback__, None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.filename:  # the innermost block's is last
                found = self.lines.get(trace.tb_lineno)
            trace = trace.tb_next
        return found


def _identifier(text: str) -> str:
    """A name for something that is called `text`.

    In ASCII, for Python takes some letters for others. Two underscores are what names of ours have
    in them: `x__spec`.
    """
    stem = re.sub(r"[^A-Za-z0-9]+", "_", text.replace("@GRAD", "_grad"))
    return f"v_{stem}" if not stem.isidentifier() or keyword.iskeyword(stem) else stem


class Writer:
    """The text while it is written, and the names of values and constants in it.

    Attributes
    ----------
    text : list of (str, Operator or None)
        Lines, with the operators that they come from. Functions of blocks stand before the
        function that calls them.
    scope : dict
        What the text refers to.
    """

    def __init__(self) -> None:
        self.text: list[tuple[str, Operator | None]] = []
        self.scope: dict[str, Any] = {"raw": raw, "Spec": Spec, "dense": dense}
        self._names: dict[tuple[str, int], str] = {}
        self._taken: set[str] = set(self.scope)
        self._constants: dict[int, str] = {}
        self._numbers: Counter[str] = Counter()

    def value(self, ref: Ref) -> str:
        key = ref.key
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = self.unique(ref.var.name)
        return name

    def spec(self, ref: Ref) -> str:
        return f"{self.value(ref)}__spec"

    def constant(self, stem: str, value: Any) -> str:
        """A name for an object that the text refers to."""
        name = self._constants.get(id(value))
        if name is None:
            name = self._constants[id(value)] = self.unique(stem)
            self.scope[name] = value
        return name

    def literal(self, literal: Literal) -> str:
        """A number as an operand: an array of its dtype."""
        array = np.asarray(literal.value, literal.dtype)
        self.scope.setdefault("_literals", []).append(array)  # keeps its id taken
        return self.constant("literal", array)

    def attribute(self, name: str, value: Any) -> str:
        if isinstance(value, (bool, int, str, type(None))):
            return repr(value)
        if isinstance(value, tuple) and all(isinstance(v, (bool, int)) for v in value):
            return repr(value)
        return self.constant(name, value)

    def arguments(self, operator: Operator, operands: list[str]) -> tuple[list[str], list[str]]:
        """Operands and attributes of an operation as they are written."""
        return operands, [f"{k}={self.attribute(k, v)}" for k, v in operator.attrs.items()]

    def call(self, operator: Operator, operands: list[str], named: list[str]) -> str:
        """The kernel of an operation, called with operands and attributes that are written."""
        refs = [r for r in (*operator.operands, *operator.results) if r is not None]
        dtypes = [r.dtype if isinstance(r, Literal) else r.spec.dtype for r in refs]
        kernel = self.constant(operator.type, operator.op.kernel_for(dtypes))  # type: ignore[union-attr]
        return f"{kernel}({', '.join(operands + named)})"

    def function(
        self,
        name: str,
        operators: Sequence[Operator],
        inputs: Sequence[Ref],
        outputs: Sequence[Ref],
    ) -> None:
        """Write the function that computes `outputs` from `inputs`."""
        scattered = scattered_values(operators, outputs)
        given, operators = operators, folded(operators, outputs, scattered.stays)
        if operators is not given:
            scattered = scattered_values(operators, outputs)
        uses = Uses(operators, outputs)
        parameters = ", ".join(self.value(r) for r in inputs)
        text: list[tuple[str, Operator | None]] = [(f"def {name}({parameters}):", None)]
        for k, operator in enumerate(operators):
            made: Sequence[Ref] = operator.results
            if isinstance(operator.op, BlockOp):
                statement, made = block_statement(self, operator, k, uses)
            else:
                statement = _statement(self, operator, k, uses, scattered)
            text.append(("    " + statement, operator))
            for ref in operator.results:
                if ref.key in scattered.written_out:
                    as_array = f"dense({self.value(ref)})"
                    text.append((f"    {scattered.dense(self, ref)} = {as_array}", operator))
            released = _release(self, operator, made, k, uses, scattered)
            text += ((line, None) for line in released)
        results = "".join(f"{scattered.dense(self, r)}, " for r in outputs)
        self.text += [*text, (f"    return ({results})", None)]

    def unique(self, called: str) -> str:
        """A name for something that is called so."""
        name = stem = _identifier(called)
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
    writer = Writer()
    writer.function(name, operators, inputs, outputs)
    kept = writer.unique("kept")
    text = defined(writer.text, name, kept, writer.scope)
    return CompiledFunction(writer.scope[name], text, list(inputs), list(outputs))


def compile_alone(
    operator: Operator, results: Sequence[Ref], name: str
) -> tuple[CompiledFunction, list[int]]:
    """The function of one operator, and the positions of the operands that it takes, each once."""
    places = {o.key: k for k, o in enumerate(operator.operands) if isinstance(o, Ref)}
    inputs = [operator.operands[k] for k in places.values()]
    return compile_operators([operator], inputs, results, name), list(places.values())  # type: ignore[arg-type]


class Uses:
    """Where the values of a function are read.

    Attributes
    ----------
    last_value, last_spec : dict
        Index of the operator that last reads a value, and of the last that reads its Spec.
    read : set
        Values that something reads.
    made : dict
        The operator that makes a value.
    handed_on : set
        Values that another name may stand for too: a branch can return what it was given.
    """

    def __init__(self, operators: Sequence[Operator], outputs: Sequence[Ref]) -> None:
        self.last_value: dict[Key, int] = {}
        self.last_spec: dict[Key, int] = {}
        self.made: dict[Key, Operator] = {}
        self.handed_on: set[Key] = set()
        for k, operator in enumerate(operators):
            for position, operand in enumerate(operator.operands):
                if isinstance(operand, Ref):
                    reads = operator.op.reads_value(position)
                    (self.last_value if reads else self.last_spec)[operand.key] = k
                    if kind_of(operator) != "scan":
                        self.handed_on.add(operand.key)
        for ref in outputs:
            self.last_value[ref.key] = len(operators)
        self.read = {*self.last_value, *self.last_spec}
        for k, operator in enumerate(operators):
            for ref in operator.results:
                self.last_value.setdefault(ref.key, k)
                self.made[ref.key] = operator


class _Scattered(NamedTuple):
    """Values that are `Scattered` when a program runs.

    One stays so for those that take it, a sum or an update by rows; whatever else reads it reads it
    written out, under a name of its own. What one reader gets does not depend on the others: a sum
    has the same bits, and a lazy update leaves out the same rows, whatever is fetched besides.
    """

    stays: set[Key]
    written_out: set[Key]

    def dense(self, writer: Writer, ref: Ref) -> str:
        """What is read by those that take arrays only."""
        name, key = writer.value(ref), ref.key
        return f"{name}__dense" if key in self.stays and key in self.written_out else name


def takes_scattered(operator: Operator | Node, position: int) -> bool:
    """Whether it takes that operand as it is: a sum that the user wrote adds up arrays."""
    op = operator.op
    if not isinstance(op, OpDef) or operator.role == "forward":
        return False
    return op.input_at(position) in op.takes_scattered


def scattered_values(operators: Sequence[Operator], outputs: Iterable[Ref]) -> _Scattered:
    """Which values of these operators are `Scattered`, where `outputs` are returned."""
    found = _Scattered(set(), set())
    if not any(map(_scatters, operators)):
        return found
    taken: set[Key] = set()
    closed = {ref.key for ref in outputs}
    for operator in operators:
        for position, operand in enumerate(operator.operands):
            if isinstance(operand, Ref):
                (taken if takes_scattered(operator, position) else closed).add(operand.key)
    for operator in operators:
        op = operator.op
        if isinstance(op, GradOp):
            keys = [
                ref.key
                for ref, (_, _, rule) in zip(operator.results, op.pullback.rules(), strict=True)
                if op.pullback.scatters(rule)
            ]
        elif isinstance(op, OpDef) and op.place is not None:
            # Its kernel writes it out, where nobody takes it as it is.
            keys = [ref.key for ref in operator.results if ref.key in taken]
        elif op.name == "add_n" and any(
            isinstance(o, Ref) and o.key in found.stays and takes_scattered(operator, k)
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


def _scatters(operator: Operator) -> bool:
    """Whether its results may be `Scattered` by what it is, and not by what it takes."""
    op = operator.op
    if isinstance(op, GradOp):
        return any(op.pullback.scatters(rule) for _, _, rule in op.pullback.rules())
    return isinstance(op, OpDef) and op.place is not None


def _statement(
    writer: Writer, operator: Operator, index: int, uses: Uses, scattered: _Scattered
) -> str:
    """``y = tanh(x)``"""
    op = operator.op
    results = ", ".join(writer.value(r) for r in operator.results)
    operands = [
        _operand(writer, operator, k, index, uses.last_value, scattered)
        for k in range(len(operator.operands))
    ]
    if isinstance(op, GradOp):
        g, saved = op.arrange(operands)
        pull = writer.constant(op.name, op.pullback.pull)
        attrs = writer.constant(f"{op.name}_attrs", operator.attrs) if operator.attrs else "None"
        return f"{results}, = {pull}(raw, {_tuple(g)}, {_tuple(saved)}, {attrs})"
    assert isinstance(op, OpDef)
    operands, named = writer.arguments(operator, operands)
    comma = "," if op.multiple else ""
    if op.place is not None and operator.results[0].key in scattered.stays:
        call = f"raw.scatter({', '.join([repr(op.name), *operands, *named])})"
    elif op.name == "alias":  # another name
        (call,) = operands
    else:
        call = writer.call(operator, operands, named)
    return f"{results}{comma} = {call}" if results else call


def _operand(
    writer: Writer,
    operator: Operator,
    position: int,
    index: int,
    last: dict[Key, int],
    scattered: _Scattered,
) -> str:
    operand = operator.operands[position]
    if operand is None:
        return "None"
    if isinstance(operand, Literal):
        return writer.literal(operand)
    gone = last.get(operand.key, index) < index
    if gone and not operator.op.reads_value(position):
        return writer.spec(operand)
    if takes_scattered(operator, position):
        return writer.value(operand)
    return scattered.dense(writer, operand)


def _tuple(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    return "(" + "".join(f"{_tuple(p)}, " for p in parts) + ")"


def _release(
    writer: Writer,
    operator: Operator,
    made: Sequence[Ref],
    index: int,
    uses: Uses,
    scattered: _Scattered,
) -> list[str]:
    """Delete what was used for the last time; keep the Spec of what is asked for it later."""
    refs = [o for o in operator.operands if isinstance(o, Ref)] + list(made)
    lines, seen = [], set()
    dead: list[str] = []
    for ref in refs:
        key = ref.key
        if key in seen:
            continue
        seen.add(key)
        if uses.last_value.get(key, -1) == index:
            if uses.last_spec.get(key, -1) > index:
                name = writer.value(ref)
                lines.append(f"    {writer.spec(ref)} = Spec({name}.shape, {name}.dtype)")
            dead += dict.fromkeys((writer.value(ref), scattered.dense(writer, ref)))
    if dead:
        lines.append(f"    del {', '.join(dead)}")
    return lines
