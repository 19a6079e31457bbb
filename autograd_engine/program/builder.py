"""Appending operators to a program: what an operation does on Variables, and `assign` to one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.array_conversion import in_dtype
from autograd_engine.core.checks import require_possible
from autograd_engine.core.dims import SymbolicNumber
from autograd_engine.core.dtypes import (
    INEXACT,
    holds_numbers,
    kind,
    python_number,
    scalar_dtype,
)
from autograd_engine.core.locations import Location, caller
from autograd_engine.core.spec import Spec, format_shape, may_equal
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.record import apply
from autograd_engine.eager.tensor import Parameter as EagerParameter, Tensor
from autograd_engine.errors import BuildError, DTypeError, NotATensorError, ShapeError
from autograd_engine.ops.registry.number_inputs import holds_symbolic, lifted
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program import mode
from autograd_engine.program.ir.program import (
    Block,
    Literal,
    OperandRef,
    Operator,
    Ref,
    Variable,
    default_main_program,
    default_startup_program,
)

__all__ = [
    "Constant",
    "Number",
    "append_operator",
    "append_write",
    "around",
    "emit",
    "emitting",
    "layer_scope",
    "new_result",
    "restored_on_error",
    "spec_of",
    "assigned",
]

_ASSIGN = REGISTRY["assign"]
_CAST = REGISTRY["cast"]
_CONSTANT = REGISTRY["constant"]

_LARGE: Final = 2**15  # a size that may be one too many, and is looked at


class _Context(threading.local):
    """How `emit` names and places what it appends; see `layer_scope` and `emitting`."""

    prefix: str | None = None
    sink: list[Operator] | None = None
    block: Block | None = None
    role: str = "forward"
    location: Location | None = None


_context = _Context()


class Number(Tensor):
    """Numbers that a user passed for a Tensor: beside Variables, a constant of their program."""

    __slots__ = ()


class Constant(Variable):
    """Numbers that a user passed for a Variable, or what operations made of those alone.

    It is part of a program once an operator reads it, or something asks for its name. Until then
    it can also stand beside eager Tensors, and a call that refuses it leaves no operator behind.
    """

    __slots__ = ("_name", "value")

    def __init__(self, value: np.ndarray[Any, Any]) -> None:
        self.value = value
        block = default_main_program().current_block()
        super().__init__(block, "", Spec(value.shape, value.dtype), stop_gradient=True)

    @property
    def name(self) -> str:
        return self.placed(self.block)._name

    @name.setter
    def name(self, value: str) -> None:
        self._name: str = value

    @property
    def loose(self) -> bool:
        """Whether it is part of no program."""
        return self.block.vars.get(self._name) is not self

    def placed(self, block: Block) -> Constant:
        """Itself, with an operator of `block` that makes it, unless there is one already."""
        if not self.loose and not around(self.block, block):
            return Constant(self.value).placed(block)  # its own is in another branch
        if self.loose:
            self.block, self._name = block, unique_name.generate("constant")
            while self._name in block.vars:
                self._name = unique_name.generate("constant")
            block.vars[self._name] = self
            self.value.flags.writeable = False  # runs hand it on as it is
            append_operator(block, _CONSTANT, (), (Ref(self, 0),), {"value": self.value})
        return self


def around(outer: Block, block: Block) -> bool:
    """Whether `block` is `outer`, or inside of it."""
    while block is not outer and block.parent_idx >= 0:
        block = block.program.blocks[block.parent_idx]
    return block is outer


def _loose(value: Any) -> bool:
    return value.__class__ is Constant and value.loose


@contextlib.contextmanager
def layer_scope(prefix: str) -> Iterator[None]:
    """Name temporaries ``<prefix>.tmp_<n>`` inside a ``with`` block; an error undoes it all."""
    main, startup = default_main_program(), default_startup_program()
    old, _context.prefix = _context.prefix, prefix
    try:
        with main.current_block().restored_on_error(), startup.current_block().restored_on_error():
            yield
    finally:
        _context.prefix = old


@contextlib.contextmanager
def restored_on_error(*operands: Any) -> Iterator[None]:
    """Inside the ``with`` block an exception undoes what was done to the programs of `operands`."""
    with contextlib.ExitStack() as stack:
        for block in {v.block for v in operands if isinstance(v, Variable)}:
            stack.enter_context(block.restored_on_error())
        yield


class emitting:  # noqa: N801 - written as a function in `with`
    """Emit with this role and line, onto `sink` instead of the end, into `block` if there is one.

    Without, into the block that is being built.
    """

    __slots__ = ("_given", "_old")

    def __init__(
        self,
        prefix: str,
        role: str,
        location: Location,
        sink: list[Operator] | None = None,
        block: Block | None = None,
    ) -> None:
        self._given = prefix, role, location, sink, block

    def __enter__(self) -> None:
        c = _context
        self._old = c.prefix, c.role, c.location, c.sink, c.block
        c.prefix, c.role, c.location, c.sink, c.block = self._given

    def __exit__(self, *_: object) -> None:
        c = _context
        c.prefix, c.role, c.location, c.sink, c.block = self._old


def emit(op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Append `op`, with all of its attributes, to the program of its operands.

    Its outputs are new Variables. Operands may also be Python scalars, and ndarrays, which become
    constants.

    Raises
    ------
    NotATensorError
        For an eager Tensor, or anything that is no array.
    BuildError
        When the operands belong to different programs.
    ShapeError, DTypeError
        When the operation cannot take them.
    """
    trace = grad_mode.trace
    if trace is None:
        return _emitted(op, operands, attrs, None)
    made = _emitted(op, trace.operands(operands), attrs, trace)
    if op.write is not None:
        trace.note_view(made, operands[0], op, attrs)
    return made


def _emitted(op: OpDef, operands: Sequence[Any], attrs: dict[str, Any], trace: Any) -> Any:
    if holds_symbolic(attrs.values()) or holds_symbolic(operands):
        op, operands, attrs = _with_variables(op, operands, attrs)
    if _context.role == "forward" and (autocast := grad_mode.autocast) is not None:
        operands = autocast.operands(op, operands)
    if Constant in map(type, operands) and any(_loose(v) for v in operands):
        neighbours = [v for v in operands if isinstance(v, (Tensor, Variable)) and not _loose(v)]
        if not neighbours and op.runs_always:
            pass  # to be drawn anew in every run
        elif all(isinstance(v, Tensor) for v in neighbours):
            made = apply(op, [v.value if _loose(v) else v for v in operands], attrs)
            if any(v.__class__ is not Number for v in neighbours):
                return made
            return tuple(Constant(t._data) for t in made) if op.multiple else Constant(made._data)
    block = _block_of(op, operands)
    refs: Sequence[Ref | Literal] | None = _as_they_are(op, operands, block)
    if refs is None:
        with block.restored_on_error():  # an operand is cast, or made a constant, before
            refs = _prepare(op, operands, block)
            inferred = op.infer_tuple([r.spec for r in refs], attrs)
    else:
        inferred = op.infer_tuple([v.spec for v in operands], attrs)
    for spec in inferred:
        if any(d.__class__ is int and d > _LARGE for d in spec.shape):
            require_possible(op.name, spec.shape)
    prefix = _context.prefix or unique_name.generate(op.name)
    results = []
    closed = _context.role == "forward" and not _wants_gradient(op, refs)
    for k, spec in enumerate(inferred):
        no_gradient = (
            closed
            or not op.inputs
            or op.output_at(k) in op.nondiff_outputs
            or spec.dtype not in INEXACT
        )
        result = new_result(block, f"{prefix}.tmp", spec, stop_gradient=no_gradient)
        result.var.spec = spec  # with its value, where that is known
        results.append(result)
    append_operator(block, op, tuple(refs), tuple(results), attrs)
    variables = tuple(r.var for r in results)
    if trace is not None and _context.role == "forward":
        trace.made(variables)
    return variables if op.multiple else variables[0]


def _with_variables(
    op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]
) -> tuple[OpDef, list[Any], dict[str, Any]]:
    """The call with variables in the places of symbolic numbers.

    Those among the operands are as weak as other numbers: they take the dtype of what they meet.
    """
    op, operands, attrs = lifted(op, operands, attrs)
    known = [
        v.spec.dtype if isinstance(v, Variable) else v.dtype
        for k, v in enumerate(operands)
        if isinstance(v, (Variable, np.ndarray)) and op.input_at(k) not in op.untyped
    ]
    found: list[Any] = []
    for k, v in enumerate(operands):
        if isinstance(v, SymbolicNumber):
            number, v = v, v.variable()
            if op.input_at(k) not in op.untyped:
                dtype = scalar_dtype(0 if isinstance(number, int) else 0.0, known)
                v = v if v.spec.dtype == dtype else emit(_CAST, (v,), {"dtype": dtype.name})
        found.append(v)
    return op, found, attrs


def _wants_gradient(op: OpDef, operands: Sequence[OperandRef]) -> bool:
    """Whether a gradient would flow through the operation to one of them."""
    return any(
        ref.__class__ is Ref and not ref.var.stop_gradient and op.rule_at(k) is not None
        for k, ref in enumerate(operands)
    )


def new_result(block: Block, stem: str, spec: Spec, *, stop_gradient: bool) -> Ref:
    """A new variable of the block, named after `stem`, for an operator to write."""
    name = unique_name.generate(stem)
    while name in block.vars:  # of a program from a file, which was built by other counters
        name = unique_name.generate(stem)
    var = Variable(block, name, spec, stop_gradient=stop_gradient)
    return Ref(block.add_var(var), 0)


def append_operator(
    block: Block,
    op: Any,
    operands: tuple[OperandRef, ...],
    results: tuple[Ref, ...],
    attrs: dict[str, Any],
) -> Operator:
    """Append an operator whose outputs exist; a written variable's version is the result's."""
    operator = Operator(
        block, op, operands, results, attrs, _context.location or caller(), _context.role
    )
    block.append(operator, _context.sink)
    return operator


def append_write(var: Variable, value: Variable) -> None:
    """Let `var` have the value of another from here on, in the block that is built."""
    block = _context.block or var.block.program.current_block()
    var, value = var.seen_from(block), value.seen_from(block)
    append_operator(block, _ASSIGN, (Ref(value, value.version),), (var.write(),), {})


def _block_of(op: OpDef, operands: Sequence[Any]) -> Block:
    """Where the operator goes: into the block that is built, of the program of its operands."""
    program = None
    for v in operands:
        if isinstance(v, Variable) and not _loose(v):
            if program is None:
                program = v.block.program
            elif v.block.program is not program:
                names = ", ".join(v.name for v in operands if isinstance(v, Variable))
                raise BuildError(
                    f"{op.name}: the variables {names} belong to different programs; build them "
                    "under one program_guard"
                )
    if program is None:
        return _context.block or default_main_program().current_block()
    return _context.block or program.current_block()


def _as_they_are(op: OpDef, operands: Sequence[Any], block: Block) -> list[Ref] | None:
    """Operands that nothing has to be done to: Variables of the block, of one dtype."""
    if op.untyped:
        return None
    refs, dtype = [], None
    for v in operands:
        if not isinstance(v, Variable) or v.__class__ is Constant or v.block is not block:
            return None
        if v.is_stack or v.declared:
            return None
        if dtype is None:
            dtype = v.spec.dtype
        elif v.spec.dtype != dtype and op.dtypes != "any":
            return None
        refs.append(Ref(v, v.version))
    if dtype is None or not op.meets(dtype):
        return None
    return refs


def _prepare(op: OpDef, operands: Sequence[Any], block: Block) -> list[Ref | Literal]:
    """Operands as Refs and Literals, cast to a common dtype where the operation wants that."""
    values = [_operand(op, k, v, block) for k, v in enumerate(operands)]
    typed = [op.input_at(k) not in op.untyped for k in range(len(values))]
    known = [
        v.spec.dtype for v, t in zip(values, typed, strict=True) if t and isinstance(v, Variable)
    ]
    refs: list[Ref | Literal] = [
        Ref(v, v.version) if isinstance(v, Variable) else Literal(v, scalar_dtype(v, known))
        for v in values
    ]
    if op.dtypes == "any":
        return refs
    dtypes = [r.spec.dtype for r, t in zip(refs, typed, strict=True) if t]
    common = op.common_dtype(dtypes)
    return [_as(r, common) if t else r for r, t in zip(refs, typed, strict=True)]


def spec_of(operand: Ref | Literal) -> Spec:
    return operand.var.spec if isinstance(operand, Ref) else operand.spec


def _as(ref: Ref | Literal, dtype: np.dtype[Any]) -> Ref | Literal:
    if isinstance(ref, Literal):
        return Literal(ref.value, dtype)
    if ref.var.spec.dtype == dtype:
        return ref
    return Ref(emit(_CAST, (ref.var,), {"dtype": dtype.name}), 0)


def _mixed(value: Tensor) -> str:
    """What a Tensor among Variables is, and what to do."""
    if not mode.building():
        return (
            "is an eager Tensor among Variables of a program: declare it with paddle.static.data "
            "and feed it; or, for a layer, make one that takes Tensors outside of program_guard"
            + mode.chosen_elsewhere()
        )
    if isinstance(value, EagerParameter):
        return (
            f"is {value.name}, a parameter of an eager layer, among Variables of a program: make "
            "the layer inside of the program_guard too" + mode.chosen_elsewhere()
        )
    return (
        "is an eager Tensor among Variables of a program; pass its values with .numpy(), or "
        "declare it with paddle.static.data and feed it" + mode.chosen_elsewhere()
    )


def _operand(op: OpDef, position: int, value: Any, block: Block) -> Any:
    """A Variable, or a Python scalar."""
    if isinstance(value, Variable):
        if value.__class__ is Constant:
            value = value.placed(block)
        if value.is_stack:
            raise NotATensorError(
                f"{op.name}: argument {op.input_at(position)!r} is {value.name}, an array of "
                "tensors: take one with paddle.tensor.array_read, or all of them with "
                "paddle.tensor.tensor_array_to_tensor"
            )
        if value.declared:
            value.read_first()
        return value if value.block is block else value.seen_from(block)
    if isinstance(value, np.generic) and (number := python_number(value)) is not None:
        return number
    if isinstance(value, (bool, int, float, complex)):
        return value
    argument = f"{op.name}: argument {op.input_at(position)!r}"
    if isinstance(value, np.ndarray):
        if not holds_numbers(value.dtype):
            raise DTypeError(f"{argument} is an array of dtype {value.dtype}; use numbers")
        return Constant(np.array(value)).placed(block)
    if value.__class__ is Number:
        return Constant(value._data).placed(block)
    if isinstance(value, Tensor):
        raise NotATensorError(f"{argument} {_mixed(value)}")
    raise NotATensorError(
        f"{argument} must be a Variable, an ndarray or a number; got {type(value).__name__}"
    )


def assigned(x: Any, output: Variable) -> Variable:
    """`output`, which has the value of `x` in what is built from here on."""
    wanted = output.spec
    if isinstance(x, np.ndarray):
        if kind(wanted.dtype) in _TAKES.get(kind(x.dtype), ""):
            x = in_dtype("assign", x, wanted.dtype)
        x = Constant(np.array(x))
    elif not isinstance(x, Variable):
        raise NotATensorError(
            f"assign: x must be a Variable, an ndarray or a number for the Variable {output.name}; "
            f"got {type(x).__name__}" + (": pass x.numpy()" if isinstance(x, Tensor) else "")
        )
    if x.spec.dtype != wanted.dtype:
        raise DTypeError(
            f"assign: {output.name} is {wanted.dtype.name} and cannot take {x.spec.dtype.name}: "
            f"cast x first, x.astype({wanted.dtype.name!r})"
        )
    if output.declared:
        output.take_spec(x.spec)
    elif not may_equal(x.spec.shape, wanted.shape):
        raise ShapeError(
            f"assign: {output.name} is {format_shape(wanted.shape)} and cannot take "
            f"{format_shape(x.spec.shape)}: reshape or expand x first"
        )
    if isinstance(x, Constant):
        x = x.placed(output.block.program.current_block())
    append_write(output, x)
    return output


# Kinds of dtypes that numbers are given in, and those that they may become.
_TAKES = {"b": "bf", "i": "iuf", "u": "iuf", "f": "fc", "c": "c"}
