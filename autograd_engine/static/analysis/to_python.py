"""Programs as Python that can be read, run and changed: ``program.to_python()``.

The text is what an executor compiles (`compiler/python`), written for people: gradient operators
are written out as the operators of their rules, kernels have their names, and every line says what
shape it makes and which line of the user's it comes from.
"""

from __future__ import annotations

import itertools
import keyword
import re
from collections.abc import Sequence
from types import CodeType
from typing import Any, Final

from autograd_engine import unique_name
from autograd_engine.compiler.python.function import Writer
from autograd_engine.compiler.python.literals import Expression, SourceText
from autograd_engine.core.dtypes import kind
from autograd_engine.core.locations import Location
from autograd_engine.core.spec import format_shape
from autograd_engine.errors import ArgumentError
from autograd_engine.ops import control_flow
from autograd_engine.ops.registry.number_inputs import NumberInputOp, filled, operation_of
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program.backward.decompose import decompose
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import (
    Block,
    Literal,
    Operator,
    Program,
    Ref,
    Variable,
)
from autograd_engine.static.executor.fetches import split_fetches
from autograd_engine.static.executor.plan import Steps, Wanted, steps_of

__all__ = ["to_python"]

_WIDTH: Final = 100


def wrapped(line: str, comment: str = "") -> str:
    """A statement with a comment; one that is too long for a line is broken at its commas.

    Examples
    --------
    >>> wrapped("    y = f(x)", "float32[2]")
    '    y = f(x)  # float32[2]'
    """
    whole = f"{line}  # {comment}" if comment else line
    if len(whole) <= _WIDTH:
        return whole
    indent = line[: len(line) - len(line.lstrip())]
    above = f"{indent}# {comment}\n" if comment else ""
    if len(line) <= _WIDTH:
        return above + line
    code = line.strip()
    if code.startswith("del "):
        code = f"del ({code[4:]})"
    names, equals, call = code.partition(" = ")
    if not equals:
        return above + indent + _broken(code, indent)
    if len(names) > _WIDTH // 2 and "," in names:
        names = _broken(f"({names.rstrip(', ')})", indent)
    return f"{above}{indent}{names} = {_broken(call, indent)}"


def _broken(code: str, indent: str) -> str:
    """What is between the parentheses that close last, filled into lines of its own."""
    start, parts, end = _outermost(code)
    if not parts:
        return code
    lines, current = [], ""
    for part in parts:
        if current and len(indent) + len(current) + len(part) + 5 > _WIDTH:
            lines.append(current)
            current = ""
        current += f" {part}," if current else f"{part},"
    inner = "".join(f"{indent}    {text}\n" for text in [*lines, current])
    return f"{code[:start]}\n{inner}{indent}{code[end:]}"


def _outermost(code: str) -> tuple[int, list[str], int]:
    """Where the last pair of parentheses that is in no other starts, its parts, where it ends."""
    depth, quote, skip = 0, "", False
    start, cuts = 0, []
    found: tuple[int, list[str], int] = 0, [], 0
    for k, c in enumerate(code):
        if skip:
            skip = False
        elif quote:
            skip = c == "\\"
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
            if depth == 1:
                start, cuts = k + 1, [k]
        elif c in ")]}":
            depth -= 1
            if depth == 0 and c == ")":
                pairs = itertools.pairwise([*cuts, k])
                found = start, [part for a, b in pairs if (part := code[a + 1 : b].strip())], k
        elif c == "," and depth == 1:
            cuts.append(k)
    return found


# Kernels that are operators of Python; see `ops/elementwise.py`.
_SIGNS: Final = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "negative": "-"}
_SECTIONS: Final = {"optimize": "updates", "lr_sched": "learning rates"}
_ONE: Final = re.compile(r"\(([^(),]+), \)")
_WEAK: Final = {float: "f", int: "iu", bool: "b"}


def to_python(program: Program, fetch_list: Any = None, name: str = "program") -> str:
    """`Program.to_python`."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ArgumentError(
            f"to_python: name must be a name that a Python function can have, got {name!r}"
        )
    if fetch_list is None:
        fetches = _unread(program.global_block())
    else:
        fetches, _ = split_fetches(program, fetch_list)
    copy = _written_out(program)
    variables = copy.global_block().vars
    fetches = [Ref(variables[ref.var.name], ref.version) for ref in fetches]
    steps = steps_of(copy, Wanted(fetches))
    writer = _Writer(name)
    outputs = [*fetches, *steps.writes.values()]
    writer.function(name, steps.operators, [*steps.feeds, *steps.reads], outputs)
    functions = _with_comments(writer)
    seed = program.random_seed
    parts = [
        _heading(seed, steps),
        writer.source.imports("\n".join(line for line, _ in writer.text), seeded=bool(seed)),
        _names("INPUTS", _inputs(writer, steps)),
        _names("OUTPUTS", _outputs(writer, fetches, steps)),
        "\n" + _functions(functions, name, seed),
        writer.source.constants(),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _written_out(program: Program) -> Program:
    """A copy of `program` without gradient operators."""
    copy = program.clone()
    with unique_name.guard(unique_name.after(v.name for v in copy.list_vars())):
        for block in copy.blocks:
            decompose(block, lambda operator: isinstance(operator.op, GradOp))
    return copy


def _unread(block: Block) -> list[Ref]:
    """Gradients that nothing reads, and results of other operators of which nothing reads any."""
    read = {o.key for op in block.ops for o in op.operands if isinstance(o, Ref)}
    found: list[Ref] = []
    for operator in block.ops:
        open_ends = [r for r in operator.results if r.key not in read and not r.var.persistable]
        if operator.role == "backward":
            found += [r for r in open_ends if r.var.name.endswith("@GRAD")]
        elif len(open_ends) == len(operator.results):
            found += open_ends[: operator.attrs.get("carried", len(open_ends))]
    return found


class _Writer(Writer):
    """Writes kernels, numbers and attributes as text that needs no objects.

    Attributes
    ----------
    source : SourceText
    refs : dict of str to Ref
        What the names in the text stand for.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.source = SourceText(self.unique)
        self.refs: dict[str, Ref] = {}
        self._taken |= {name, *self.source.reserved}

    def value(self, ref: Ref) -> str:
        name = super().value(ref)
        self.refs[name] = ref
        return name

    def constant(self, stem: str, value: Any) -> str:
        name = getattr(value, "__name__", "")
        if name and getattr(control_flow, name, None) is value:
            return f"control_flow.{name}"
        return self.source.text(stem, value)

    def literal(self, literal: Literal) -> str:
        return f"np.asarray({self.source.text('number', literal.value)}, {literal.dtype.name!r})"

    def attribute(self, name: str, value: Any) -> str:
        return self.source.text(name, value)

    def arguments(self, operator: Operator, operands: list[str]) -> tuple[list[str], list[str]]:
        op, attrs = operator.op, operator.attrs
        if isinstance(op, NumberInputOp):  # numbers are written where they belong
            numbers = [Expression(f"{text}.item()") for text in op.numbers(operands)]
            operands, attrs = list(op.others(operands)), filled(attrs, numbers)
        return operands, [f"{k}={self.attribute(k, v)}" for k, v in attrs.items()]

    def call(self, operator: Operator, operands: list[str], named: list[str]) -> str:
        op = operation_of(operator.op)
        assert isinstance(op, OpDef)
        arguments = ", ".join(operands + named)
        if REGISTRY.get(op.name) is not op:
            return f"{self.source.operation(op)}({arguments})"
        sign = _SIGNS.get(op.name)
        if sign is None:
            return f"raw.{op.name}({arguments})"
        if len(operands) == 1:
            return f"{sign}{operands[0]}"
        left, right = (_weak(operator, k) or text for k, text in enumerate(operands))
        return f"{left} {sign} {right}"


def _weak(operator: Operator, position: int) -> str | None:
    """A number beside an array as Python writes it, where that means the same."""
    literal, other = operator.operands[position], operator.operands[1 - position]
    if not isinstance(literal, Literal) or not isinstance(other, Ref):
        return None
    value, kinds = literal.value, _WEAK.get(type(literal.value), "")
    if other.var.spec.dtype != literal.dtype or kind(literal.dtype) not in kinds:
        return None
    return repr(value) if value - value == 0 else None  # neither NaN nor infinite


# --- what is not code


def _spec(variable: Variable) -> str:
    text = f"{variable.spec.dtype.name}{format_shape(variable.spec.shape)}"
    return f"a list of {text}" if variable.is_stack else text


def _heading(seed: int, steps: Steps) -> str:
    lines = ["# What one run of the program does. The function takes INPUTS and returns OUTPUTS."]
    if seed:
        lines.append(f"# Random numbers are those of its first runs, with random_seed = {seed}.")
    elif any(getattr(operator.op, "random", False) for operator in steps.operators):
        lines.append("# Random numbers are drawn from the stream that paddle.seed sets.")
    return "\n".join(lines)


def _inputs(writer: _Writer, steps: Steps) -> list[tuple[str, str]]:
    rows = [(r.var.name, f"{writer.value(r)}: {_spec(r.var)}, fed") for r in steps.feeds]
    for ref in steps.reads:
        kind = "a parameter" if getattr(ref.var, "trainable", False) else "read from the scope"
        if ref.var.name in ref.var.block.program.supplies:
            kind = "supplied at each run"
        rows.append((ref.var.name, f"{writer.value(ref)}: {_spec(ref.var)}, {kind}"))
    return rows


def _outputs(writer: _Writer, fetches: Sequence[Ref], steps: Steps) -> list[tuple[str, str]]:
    rows = [(r.var.name, f"{writer.value(r)}: {_spec(r.var)}") for r in fetches]
    for ref in steps.writes.values():
        rows.append((ref.var.name, f"{writer.value(ref)}: {_spec(ref.var)}, for the scope"))
    return rows


def _names(constant: str, rows: Sequence[tuple[str, str]]) -> str:
    if not rows:
        return f"{constant} = ()"
    lines = [f"    {name!r},  # {note}" for name, note in rows]
    return "\n".join([f"{constant} = (", *lines, ")"])


def _functions(lines: list[str], name: str, seed: int) -> str:
    """Functions apart from each other; the last is the program."""
    text: list[str] = []
    for line in lines:
        if line.startswith("def ") and text:
            text += ["", ""]
        if line.startswith(f"def {name}(") and seed:
            text.append(f"@own_generator(np.random.default_rng({seed}))")
        text.append(line)
    return "\n".join(text)


def _with_comments(writer: _Writer) -> list[str]:
    """The text, with the lines of the user's and what each line makes."""
    text: list[str] = []
    role = at = ""
    places: dict[tuple[CodeType, int], str] = {}
    for line, operator in writer.text:
        line = _tidy(line, operator)
        if operator is None:
            if line.startswith("def "):
                role = at = ""
            text.append(wrapped(line))
            continue
        if operator.role != role:
            role, at = operator.role, ""
            text.append(f"    # --- {_SECTIONS.get(role, role)}")
        place = operator.location.code, operator.location.instruction
        location = places.get(place)
        if location is None:  # operators of one line have one place each, or even one together
            location = places[place] = _line_of(operator.location)
        if location != at:
            at = location
            text.append(f"    # {at}")
        text.append(wrapped(line, _made(writer, line)))
    return text


def _line_of(location: Location) -> str:
    """The user's line, and where it is."""
    text = f"{location.text}  ({location})".strip()
    return "".join(c if c.isprintable() else " " for c in text)


def _tidy(line: str, operator: Operator | None) -> str:
    """Tuples as people write them; in lines of operations, which may hold strings, the names."""
    names, equals, rest = line.partition(" = ")
    if operator is None or isinstance(operator.op, BlockOp):
        rest = _ONE.sub(r"(\1,)", rest).replace(", )", ")")
        names = names if equals else _ONE.sub(r"(\1,)", names).replace(", )", ")")
    if names.count(",") > 1 and equals:
        names = names.rstrip(",")
    return names + equals + rest


def _made(writer: _Writer, line: str) -> str:
    """``float32[2, 3]`` for what is assigned."""
    names = (name.strip() for name in line.partition(" = ")[0].split(","))
    return ", ".join(_spec(writer.refs[n].var) for n in names if n in writer.refs)
