"""Programs as documents: what JSON can hold, in the terms of docs/format.md."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from autograd_engine import regularizer
from autograd_engine.core.dtypes import DTYPES
from autograd_engine.core.locations import Location
from autograd_engine.errors import FileFormatError
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.files.appended import appended_json
from autograd_engine.program.files.attrs import known_operation
from autograd_engine.program.files.fields import MAX_NAME
from autograd_engine.program.files.values import Sizes, value_json
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.program import (
    Block,
    Literal,
    Operator,
    Parameter,
    Program,
    Ref,
    Variable,
)

__all__ = ["REGULARIZERS", "SEEDED", "document"]

REGULARIZERS: Final = ("L1Decay", "L2Decay")
# Gradients that are remembered by more than the operator they belong to; see `_Writer.emitted`.
SEEDED: Final = {"add_n", "alias", "blocks", "filled", "same_shape", "seed"}


def document(program: Program) -> dict[str, Any]:
    """A program as a document.

    Raises
    ------
    FileFormatError
        When it holds what no file can: a Python function, an operation of the user's own.
    """
    return _Writer().program(program)


class _Writer:
    def __init__(self) -> None:
        self.sizes = Sizes()
        self.lines: dict[tuple[str, int, str], int] = {}

    def program(self, program: Program) -> dict[str, Any]:
        blocks = [self.block(block) for block in program.blocks]
        made: dict[str, Any] = {"random_seed": program.random_seed}
        if program.name_scopes:
            made["name_scopes"] = dict(program.name_scopes)
        made["lines"] = [list(line) for line in self.lines]
        made["blocks"] = blocks
        return made

    def block(self, block: Block) -> dict[str, Any]:
        return {
            "parent": block.parent_idx,
            "forward": block.forward_idx,
            **_unless_empty(
                arguments=[v.name for v in block.arguments],
                results=[_ref(r) for r in block.results],
                handed_out=[
                    [[*key] if key[1] else key[0], value, position]
                    for (key, value), position in block.handed_out.items()
                ],
                captured=[[*key, v.name] for key, v in block.captured.items()],
            ),
            "variables": [self.variable(v) for v in block.vars.values()],
            "operators": [self.operator(op) for op in block.ops],
            **_unless_empty(emitted=self.emitted(block)),
        }

    def variable(self, var: Variable) -> dict[str, Any]:
        name = var.name
        if not name.isprintable() or len(name) > MAX_NAME:
            raise FileFormatError(
                f"the name of the variable {name!a:.80} cannot stand in a file: it must be "
                f"printable, and have {MAX_NAME} characters at most; give it another"
            )
        if var.spec.dtype.name not in DTYPES:
            raise FileFormatError(
                f"the variable {name} is {var.spec.dtype}, which no file can hold; cast it"
            )
        made: dict[str, Any] = {
            "name": name,
            "shape": [self.sizes.json(d) for d in var.spec.shape],
            "dtype": var.spec.dtype.name,
        }
        if isinstance(var, Parameter):
            made["parameter"] = "trainable" if var.trainable else "frozen"
            made |= _unless_empty(training=_training(var))
        return made | _unless_empty(
            stop_gradient=var.stop_gradient,
            persistable=var.persistable,
            is_data=var.is_data,
            is_stack=var.is_stack,
            declared=var.declared,
            version=var.version,
        )

    def operator(self, operator: Operator) -> dict[str, Any]:
        attrs = {k: self.attribute(v, k, operator) for k, v in operator.attrs.items()}
        return {
            **self.operation(operator),
            **_unless_empty(operands=[self.operand(o, operator) for o in operator.operands]),
            "results": [_ref(r) for r in operator.results],
            **_unless_empty(attrs=attrs),
            "role": operator.role,
            **_unless_empty(
                of_loss=operator.of_loss,
                trains=[list(pair) for pair in operator.trains],
                namescope="" if operator.op_namescope == "/" else operator.op_namescope,
                device=operator.op_device,
                appended=appended_json(operator),
            ),
            "line": self.line(operator.location),
        }

    def operation(self, operator: Operator) -> dict[str, Any]:
        op = operator.op
        if isinstance(op, BlockOp):
            return {"control": op.kind, "name": op.name}
        if not isinstance(op, GradOp):
            self.known(op, operator)
            return {"op": op.name, **_unless_empty(numbers=getattr(op, "count", 0))}
        pullback = op.pullback
        self.known(pullback.op, operator)
        return {
            "gradient_of": pullback.op.name,
            **_unless_empty(numbers=getattr(pullback.op, "count", 0)),
            "wanted": [*pullback.wanted],
            **_unless_empty(project=_positions(pullback.project)),
            "saved": [*pullback.saved],
            **_unless_empty(
                strong=pullback.strong is True,
                guarded=pullback.strong == "whole",
                counts=dict(op.counts),
            ),
        }

    def known(self, op: Any, operator: Operator) -> None:
        if known_operation(op):
            return
        raise FileFormatError(
            f"{operator.type} of {operator.location} ({operator.location.text}) runs Python code "
            "that is in no table of operations, and no file can hold that: leave it out of what is "
            "saved, clone(for_test=True) or normalize_program may do so, or keep the code that "
            "builds the program"
        )

    def operand(self, operand: Any, operator: Operator) -> Any:
        if operand is None:
            return None
        if isinstance(operand, Literal):
            return {
                "value": value_json(operand.value, f"a number of {_called(operator)}"),
                "dtype": operand.dtype.name,
            }
        return _ref(operand)

    def attribute(self, value: Any, name: str, operator: Operator) -> Any:
        if isinstance(value, Block):
            return {"block": value.idx}
        return value_json(value, f"the attribute {name} of {_called(operator)}")

    def line(self, location: Location) -> int:
        """Where the line of the user's stands in the list of them. Directories are left out."""
        key = location.shown, location.lineno, location.text
        return self.lines.setdefault(key, len(self.lines))

    def emitted(self, block: Block) -> list[Any]:
        """What exists and is used again. An optimizer's own variables end with the optimizer."""
        made: list[Any] = []
        numbers: dict[int, int] = {}  # as whoever reads the text will count
        for key, value in block.emitted.items():
            if type(key) is tuple and len(key) == 2 and type(key[0]) is int:
                if key[1] not in numbers:  # of a rule that was left out
                    continue
                key = key[0], numbers[key[1]]
            entry = self.remembered(block, key, value)
            if entry is not None:
                if "rule" in entry:
                    entry["number"] = numbers[value] = len(made)
                made.append(entry)
        return made

    def remembered(self, block: Block, key: Any, value: Any) -> Any:
        first = key[0] if type(key) is tuple and key else None
        if isinstance(first, OpDef):
            if type(value) is not int or not known_operation(first) or not _is_key(key[1:]):
                return None
            return {"rule": first.name, "of": value_json(key[1:], "what exists")}
        if not isinstance(value, Variable) or block.vars.get(value.name) is not value:
            return None
        seeded = type(first) is str and first in SEEDED
        if (seeded or type(first) is int) and _is_key(key):
            return {"key": value_json(key, "what exists"), "variable": value.name}
        return None


def _unless_empty(**fields: Any) -> dict[str, Any]:
    """What a file says; what is false or empty it leaves out."""
    return {key: value for key, value in fields.items() if value}


def _ref(ref: Ref) -> Any:
    return [ref.var.name, ref.version] if ref.version else ref.var.name


def _positions(mask: int) -> list[int]:
    return [k for k in range(mask.bit_length()) if mask >> k & 1]


def _called(operator: Operator) -> str:
    return f"{operator.type} of {operator.location} ({operator.location.text})"


def _training(var: Parameter) -> dict[str, Any]:
    """How optimizers are to treat the parameter, where that is not as they treat any."""
    options = getattr(var, "_options", None)
    made: dict[str, Any] = {}
    if options is None:
        return made
    rate = options.optimize_attr.get("learning_rate", 1.0)
    if rate != 1.0:
        made["learning_rate"] = value_json(float(rate), f"the learning rate of {var.name}")
    if options.regularizer is not None:
        kind = type(options.regularizer).__name__
        if getattr(regularizer, kind, None) is not type(options.regularizer):
            raise FileFormatError(
                f"the regularizer of the parameter {var.name} is {options.regularizer!r:.60}, and "
                f"a file can hold {' and '.join(REGULARIZERS)} only: set its regularizer to None"
            )
        made["regularizer"] = [kind, options.regularizer.coeff]
    if not options.need_clip:
        made["need_clip"] = False
    return made


def _is_key(part: Any) -> bool:
    """Whether it is made of tuples and plain values, and not of an array, say."""
    if type(part) is tuple:
        return all(map(_is_key, part))
    plain = part is None or part is Ellipsis or type(part) in (bool, int, str)
    return plain or (isinstance(part, np.dtype) and part.name in DTYPES)
