"""Programs from documents, which nobody vouches for.

Nothing of a document is run: operations are looked up in the table by name, their attributes are
held to the types that their kernels declare, every operand has to name a version that exists by
then, and what each operator makes is inferred and compared with what the document says of it.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Final

from autograd_engine import regularizer
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import APART, FLOAT32, INEXACT
from autograd_engine.core.locations import StoredLocation
from autograd_engine.core.spec import Spec, ValueSpec, may_equal
from autograd_engine.eager.training_options import TrainingOptions
from autograd_engine.errors import FileFormatError
from autograd_engine.ops.registry.number_inputs import positions
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.program.files.appended import read_appended
from autograd_engine.program.files.attrs import (
    BLOCK_ATTRIBUTES,
    check_attributes,
    complete_attributes,
    named_operation,
    taking_numbers,
)
from autograd_engine.program.files.control_flow import check_blocks, check_control
from autograd_engine.program.files.fields import (
    fail,
    read_bool,
    read_fields,
    read_int,
    read_list,
    read_name,
    read_text,
    shown,
)
from autograd_engine.program.files.values import Sizes, read_dtype, read_value
from autograd_engine.program.files.writer import REGULARIZERS, SEEDED
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.program.ir.op_role import ROLES
from autograd_engine.program.ir.program import (
    Block,
    Key,
    Literal,
    Operator,
    Parameter,
    Program,
    Ref,
    Variable,
)

__all__ = ["program_from"]

RUNS_RECORDED: Final = True  # what does not fit was given nothing by the call; see `user_call`

_OPERATOR: Final = (
    "operands",
    "attrs",
    "role",
    "of_loss",
    "trains",
    "namescope",
    "device",
    "appended",
    "line",
)
_KINDS: Final = {
    "op": ("op",),
    "gradient_of": ("gradient_of", "wanted", "saved"),
    "control": ("control", "name"),
}
_OPTIONAL: Final = {
    "op": ("numbers",),
    "gradient_of": ("project", "strong", "guarded", "counts", "numbers"),
}


def program_from(value: Any, where: str = "program") -> Program:
    """The program of a document.

    Raises
    ------
    FileFormatError
        Saying where the document says what no program can be.
    """
    return _Reader(value, where).program


class _Reader:
    def __init__(self, value: Any, where: str) -> None:
        fields = read_fields(value, where, ("random_seed", "lines", "blocks"), ("name_scopes",))
        self.sizes = Sizes()
        self.program = program = Program()
        program.random_seed = read_int(fields["random_seed"], f"{where}.random_seed", 0, 2**64)
        scopes = fields.get("name_scopes", {})
        if type(scopes) is not dict:
            fail(f"{where}.name_scopes", f"must be an object, got {shown(scopes)}")
        for name, count in scopes.items():
            program.name_scopes[_line(name, f"{where}.name_scopes")] = read_int(
                count, f"{where}.name_scopes"
            )
        self.lines = [
            _location(line, f"{where}.lines[{k}]")
            for k, line in enumerate(read_list(fields["lines"], f"{where}.lines"))
        ]
        blocks = read_list(fields["blocks"], f"{where}.blocks")
        if not blocks:
            fail(f"{where}.blocks", "is empty; a program has one block at least")
        program.blocks = []
        for k, block in enumerate(blocks):
            self.declare(block, k, len(blocks), f"{where}.blocks[{k}]")
        for k, block in enumerate(blocks):
            self.fill(program.blocks[k], block, f"{where}.blocks[{k}]")
        check_blocks(program, where)
        for k, block in enumerate(blocks):
            at = f"{where}.blocks[{k}].emitted"
            read_emitted(program.blocks[k], block.get("emitted", []), at)
        self.advance_names()

    def declare(self, value: Any, idx: int, count: int, where: str) -> None:
        """A block with its variables; operators may name blocks that come later."""
        fields = read_fields(
            value,
            where,
            ("parent", "forward", "variables", "operators"),
            ("arguments", "results", "captured", "handed_out", "emitted"),
        )
        parent = read_int(fields["parent"], f"{where}.parent", -1, idx)
        if (parent < 0) != (idx == 0):
            fail(f"{where}.parent", "must be a block before it; -1 for the first, and only for it")
        forward = read_int(fields["forward"], f"{where}.forward", -1, count)
        if forward == idx:
            fail(f"{where}.forward", "is the block itself")
        block = Block(self.program, idx, parent, forward)
        self.program.blocks.append(block)
        for k, entry in enumerate(read_list(fields["variables"], f"{where}.variables")):
            var = read_variable(block, entry, self.sizes, f"{where}.variables[{k}]")
            if var.name in block.vars:
                fail(f"{where}.variables[{k}]", f"there are two variables {var.name!r}")
            block.vars[var.name] = var
        arguments = read_list(fields.get("arguments", []), f"{where}.arguments")
        block.arguments = [self.variable(block, a, f"{where}.arguments") for a in arguments]
        if len({v.name for v in block.arguments}) != len(block.arguments):
            fail(f"{where}.arguments", "names a variable twice")

    def fill(self, block: Block, fields: Any, where: str) -> None:
        results = read_list(fields.get("results", []), f"{where}.results")
        if block.idx == 0 and (block.arguments or results):
            fail(where, "the first block takes and returns nothing")
        operators = read_list(fields["operators"], f"{where}.operators")
        entries = [
            read_list(_field(op, "results", f"{where}.operators[{k}]"), f"{where}.operators[{k}]")
            for k, op in enumerate(operators)
        ]
        # What the operators write, to tell what they read too early from what is there at first.
        written = {self.key(block, r, where) for results in entries for r in results}
        made: set[Key] = {(v.name, 0) for v in block.arguments}
        for k, entry in enumerate(operators):
            block.ops.append(self.operator(block, entry, made, written, f"{where}.operators[{k}]"))
        block.results = [
            self.read(block, r, made, written, f"{where}.results[{k}]")
            for k, r in enumerate(results)
        ]
        self.captured(block, fields.get("captured", []), f"{where}.captured")
        for k, entry in enumerate(read_list(fields.get("handed_out", []), f"{where}.handed_out")):
            at = f"{where}.handed_out[{k}]"
            ref, value, position = read_list(entry, at, 3)
            key = self.read(block, ref, made, written, at).key
            block.handed_out[key, read_bool(value, at)] = read_int(position, at)

    def captured(self, block: Block, value: Any, where: str) -> None:
        own = {v.name for v in block.arguments}
        for k, entry in enumerate(read_list(value, where)):
            name, version, argument = read_list(entry, f"{where}[{k}]", 3)
            if type(argument) is not str or argument not in own:
                fail(f"{where}[{k}]", f"{shown(argument)} is no argument of the block")
            key = read_name(name, f"{where}[{k}]"), read_int(version, f"{where}[{k}]")
            block.captured[key] = block.vars[argument]

    # --- operators

    def operator(
        self, block: Block, value: Any, made: set[Key], written: set[Key], where: str
    ) -> Operator:
        kind = next((k for k in _KINDS if type(value) is dict and k in value), "op")
        optional = (*_OPERATOR, *_OPTIONAL.get(kind, ()))
        fields = read_fields(value, where, (*_KINDS[kind], "results"), optional)
        listed = read_list(fields.get("operands", []), f"{where}.operands")
        operands = tuple(
            [
                self.operand(block, o, made, written, f"{where}.operands[{k}]")
                for k, o in enumerate(listed)
            ]
        )
        results = tuple([Ref(block.vars[n], v) for n, v in self.keys(block, fields, where)])
        attrs = self.attributes(fields.get("attrs", {}), kind == "control", f"{where}.attrs")
        op, attrs = self.operation(kind, fields, operands, results, attrs, where)
        self.write(results, made, where)
        for ref in results:
            if ref.version:
                block.written.append(ref.var)
        operator = Operator(
            block, op, operands, results, attrs, self.location(fields, where), "forward"
        )
        self.marks(operator, fields, where)
        return operator

    def operation(
        self, kind: str, fields: Any, operands: Any, results: Any, attrs: Any, where: str
    ) -> tuple[Any, dict[str, Any]]:
        if kind == "gradient_of":
            op = named_operation(fields["gradient_of"], where)
            op = taking_numbers(op, attrs, fields.get("numbers"), where)
            attrs = complete_attributes(op, attrs, f"{where}.attrs")
            return read_gradop(op, fields, operands, results, where), attrs
        if kind == "control":
            name = fields["control"]
            if type(name) is not str or name not in BLOCK_ATTRIBUTES:
                fail(where, f"there is no control flow {shown(name)}")
            shown_as = read_name(fields["name"], where)
            if not shown_as.isidentifier() or not shown_as.isascii() or len(shown_as) > 60:
                fail(where, f"{shown(shown_as)} is no name of an operation")
            wanted = BLOCK_ATTRIBUTES[name]
            if positions(attrs):
                fail(where, f"{name} takes no numbers as operands")
            if attrs.keys() != wanted.keys() and (name != "hollow" or attrs):
                fail(where, f"{name} has the attributes {list(wanted)}, got {list(attrs)}")
            check_attributes(wanted, attrs, where, name)
            check_control(name, operands, results, attrs, where)
            return BlockOp.of(name, shown_as), attrs
        op = named_operation(fields["op"], where)
        op = taking_numbers(op, attrs, fields.get("numbers"), where)
        attrs = complete_attributes(op, attrs, f"{where}.attrs")
        for ref, spec in zip(
            results, _check_specs(op, operands, results, attrs, where), strict=True
        ):
            if not ref.version and isinstance(spec, ValueSpec):
                ref.var.spec = ValueSpec.of(ref.var.spec, spec.value)
        return op, attrs

    def attributes(self, value: Any, control: bool, where: str) -> dict[str, Any]:
        if type(value) is not dict:
            fail(where, f"must be an object, got {shown(value)}")
        return {k: self.attribute(v, control, f"{where}.{k:.40}") for k, v in value.items()}

    def attribute(self, value: Any, control: bool, where: str) -> Any:
        if control and type(value) is dict and value.keys() == {"block"}:
            return self.program.blocks[read_int(value["block"], where, 0, len(self.program.blocks))]
        return read_value(value, where)

    def marks(self, operator: Operator, fields: Any, where: str) -> None:
        role = fields.get("role", "forward")
        if type(role) is not str or role not in ROLES:
            fail(f"{where}.role", f"{shown(role)} is no role; use one of {', '.join(ROLES)}")
        operator.role = role
        operator.of_loss = read_bool(fields.get("of_loss", False), f"{where}.of_loss")
        pairs = [
            read_list(pair, f"{where}.trains", 2)
            for pair in read_list(fields.get("trains", []), f"{where}.trains")
        ]
        operator.trains = tuple(
            [(read_name(a, f"{where}.trains"), read_name(b, f"{where}.trains")) for a, b in pairs]
        )
        operator.op_namescope = _line(fields.get("namescope", "/"), f"{where}.namescope")
        operator.op_device = _line(fields.get("device", ""), f"{where}.device")
        operator.appended = read_appended(fields.get("appended"), operator, f"{where}.appended")

    def location(self, fields: Any, where: str) -> StoredLocation:
        line = fields.get("line")
        if line is None:
            return StoredLocation("?", 0, "")
        return self.lines[read_int(line, f"{where}.line", 0, len(self.lines))]

    # --- operands

    def variable(self, block: Block, name: Any, where: str) -> Variable:
        found = block.vars.get(name) if type(name) is str else None
        if found is None:
            fail(where, f"there is no variable {shown(name)} in block {block.idx}")
        return found

    def key(self, block: Block, value: Any, where: str) -> Key:
        """``"x"`` is the first version of a variable, ``["x", 2]`` another one."""
        version = 0
        if type(value) is list:
            value, version = read_list(value, where, 2)
            read_int(version, where, 1)
        var = self.variable(block, value, where)
        if version > var.version:
            fail(where, f"{var.name!r} has versions up to {var.version}, not {version}")
        return var.name, version

    def keys(self, block: Block, fields: Any, where: str) -> list[Key]:
        listed = read_list(fields["results"], f"{where}.results")
        return [self.key(block, r, f"{where}.results[{k}]") for k, r in enumerate(listed)]

    def read(self, block: Block, value: Any, made: set[Key], written: set[Key], where: str) -> Ref:
        key = self.key(block, value, where)
        if key not in made:
            if key in written:
                fail(where, f"reads {key[0]!r} before any operator has made it")
            if block.idx:
                fail(where, f"reads {key[0]!r}, which block {block.idx} neither takes nor makes")
        return Ref(block.vars[key[0]], key[1])

    def operand(
        self, block: Block, value: Any, made: set[Key], written: set[Key], where: str
    ) -> Ref | Literal | None:
        if value is None:
            return None
        if type(value) is not dict:
            return self.read(block, value, made, written, where)
        fields = read_fields(value, where, ("value", "dtype"))
        number, dtype = read_value(fields["value"], where), read_dtype(fields["dtype"], where)
        if type(number) not in (bool, int, float, complex):
            fail(where, f"{shown(fields['value'])} is no number")
        try:
            dtype.type(number)
        except (OverflowError, TypeError, ValueError):
            fail(where, f"{shown(fields['value'])} is no number of {dtype.name}")
        return Literal(number, dtype)

    def write(self, results: tuple[Ref, ...], made: set[Key], where: str) -> None:
        for ref in results:
            name, version = ref.key
            if ref.key in made:
                fail(where, f"writes {name!r}, version {version}, which is there already")
            if ref.var.is_data and not version:
                fail(where, f"writes {name!r}, which is fed")
            made.add(ref.key)

    def advance_names(self) -> None:
        """Names that are made from here on are other ones than those of the program."""
        from autograd_engine import unique_name

        for block in self.program.blocks:
            unique_name.advance(block.vars)


def _field(value: Any, name: str, where: str) -> Any:
    if type(value) is not dict or name not in value:
        fail(where, f"must be an object with {name!r}")
    return value[name]


def _line(value: Any, where: str) -> str:
    """A text of one line."""
    text = read_text(value, where, 1000)
    if text and not text.isprintable():
        fail(where, f"{shown(text)} must be printable")
    return text


def _location(value: Any, where: str) -> StoredLocation:
    name, number, text = read_list(value, where, 3)
    line = read_text(text, where, 10000)
    # What cannot be printed comes from a file in another encoding, or from somebody else.
    clean = "".join(c if c.isprintable() or c == "\t" else "?" for c in line)
    return StoredLocation(_line(name, where), read_int(number, where), clean)


# --- what operators make


def _check_specs(
    op: OpDef, operands: Any, results: Any, attrs: Any, where: str
) -> tuple[Spec, ...]:
    least = len(op.inputs) - op.variadic
    if len(operands) < least or (len(operands) > least and not op.variadic):
        more = " or more" if op.variadic else ""
        fail(where, f"{op.name} takes {least} operands{more}, got {len(operands)}")
    if any(o is None for o in operands):
        fail(where, f"{op.name} needs all of its operands; one is null")
    if not op.variadic_output and len(results) != len(op.outputs):
        fail(where, f"{op.name} has {len(op.outputs)} results, got {len(results)}")
    inferred = _inferred(op, [o.spec for o in operands], attrs, len(results), where)
    for ref, spec in zip(results, inferred, strict=True):
        _check_spec(op.name, ref.var, spec, where)
    return inferred


def _inferred(
    op: OpDef, specs: list[Spec], attrs: dict[str, Any], count: int, where: str
) -> tuple[Spec, ...]:
    if (
        op.name == "unstack"
        and type(attrs["axis"]) is int
        and -specs[0].ndim <= attrs["axis"] < specs[0].ndim
    ):
        size = specs[0].shape[attrs["axis"]]
        if size != count:  # as many specs as the size says would be made, however large
            fail(where, f"unstack makes {size} arrays, got {count} results")
    try:
        inferred = op.infer_tuple(specs, attrs)
        if len(inferred) != count or not all(_is_spec(s) for s in inferred):
            raise FileFormatError(f"it makes {len(inferred)} arrays, got {count} results")
    except Exception as error:  # whatever a hostile attribute makes of inference
        raise FileFormatError(
            f"{where}: {op.name} takes no such operands and attributes: {shown(str(error))[1:-1]}"
        ) from error
    return inferred


def _is_spec(spec: Any) -> bool:
    return isinstance(spec, Spec) and all(isinstance(d, Dim) or type(d) is int for d in spec.shape)


def _check_spec(name: str, var: Variable, spec: Spec, where: str) -> None:
    if var.spec.dtype != spec.dtype or not may_equal(var.spec.shape, spec.shape):
        fail(where, f"{name} makes {spec}, and the file says that {var.name!r} is {var.spec}")


# --- variables


_FLAGS: Final = ("stop_gradient", "persistable", "is_data", "is_stack", "declared")


def read_variable(block: Block, value: Any, sizes: Sizes, where: str) -> Variable:
    """A variable of `block`, which is not told of it."""
    fields = read_fields(
        value, where, ("name", "shape", "dtype"), (*_FLAGS, "parameter", "training", "version")
    )
    name = read_name(fields["name"], f"{where}.name")
    spec = Spec(
        sizes.read_shape(fields["shape"], f"{where}.shape"),
        read_dtype(fields["dtype"], f"{where}.dtype"),
    )
    flags = {flag: read_bool(fields.get(flag, False), f"{where}.{flag}") for flag in _FLAGS}
    if "parameter" in fields:
        var: Variable = _parameter(block, name, spec, fields, where)
        if not flags["persistable"] or flags["is_data"] or flags["is_stack"] or flags["declared"]:
            fail(where, "a parameter is persistable, and neither fed nor a stack")
        var.stop_gradient = flags["stop_gradient"]
    else:
        if "training" in fields:
            fail(where, "only parameters are trained")
        var = Variable(
            block,
            name,
            spec,
            stop_gradient=flags["stop_gradient"],
            persistable=flags["persistable"],
            is_data=flags["is_data"],
        )
        var.is_stack, var.declared = flags["is_stack"], flags["declared"]
    var.version = read_int(fields.get("version", 0), f"{where}.version")
    return var


def _parameter(block: Block, name: str, spec: Spec, fields: Any, where: str) -> Parameter:
    kind = fields["parameter"]
    if kind not in ("trainable", "frozen"):
        fail(f"{where}.parameter", f"must be 'trainable' or 'frozen', got {shown(kind)}")
    if spec.dtype not in INEXACT or any(isinstance(d, Dim) for d in spec.shape):
        fail(where, f"a parameter has a floating or complex dtype and a known shape, got {spec}")
    options = None
    if "training" in fields:
        options = _options(fields["training"], f"{where}.training")
    return Parameter(block, name, spec, trainable=kind == "trainable", options=options)


def _options(value: Any, where: str) -> TrainingOptions:
    fields = read_fields(value, where, (), ("learning_rate", "regularizer", "need_clip"))
    rate = read_value(fields.get("learning_rate", 1.0), f"{where}.learning_rate")
    if type(rate) not in (int, float):
        fail(f"{where}.learning_rate", f"must be a number, got {shown(rate)}")
    decay = None
    if "regularizer" in fields:
        kind, coeff = read_list(fields["regularizer"], f"{where}.regularizer", 2)
        if type(kind) is not str or kind not in REGULARIZERS:
            fail(f"{where}.regularizer", f"{shown(kind)} is none of {', '.join(REGULARIZERS)}")
        if type(coeff) is not float or not math.isfinite(coeff):
            fail(f"{where}.regularizer", f"{shown(coeff)} is no coefficient")
        decay = getattr(regularizer, kind)(coeff)
    clips = read_bool(fields.get("need_clip", True), f"{where}.need_clip")
    return TrainingOptions(float(rate), decay, clips)


# --- gradient operators: pullbacks of the table, and of nothing else


def read_gradop(op: OpDef, fields: Any, operands: Any, results: Any, where: str) -> GradOp:
    """The gradient operation that a document describes."""
    counts = _counts(op, fields.get("counts", {}), f"{where}.counts")
    given = len(op.inputs) - op.variadic + counts.get(op.inputs[-1] if op.inputs else "", 0)
    wanted = _positions(fields["wanted"], given, f"{where}.wanted")
    project = _positions(fields.get("project", []), given, f"{where}.project")
    for k in wanted:
        if op.rule_at(k) is None:
            fail(f"{where}.wanted", f"{op.name} has no gradient for {op.input_at(k)!r}")
    if not wanted:
        fail(f"{where}.wanted", "is empty")
    if project and op.broadcasts is None:
        fail(f"{where}.project", f"{op.name} broadcasts nothing")
    mask, projected = sum(1 << k for k in wanted), sum(1 << k for k in project)
    pullback = op.pullback(mask, projected, _operand_dtypes(wanted, operands, results))
    if read_bool(fields.get("strong", False), f"{where}.strong"):
        pullback = pullback.strengthened()
    if read_bool(fields.get("guarded", False), f"{where}.guarded"):
        pullback = pullback.guarded()
    saved = read_list(fields["saved"], f"{where}.saved")
    if saved != [*pullback.saved]:
        fail(
            f"{where}.saved",
            f"the gradient of {op.name} reads {list(pullback.saved)} in this version, and "
            f"{shown(str(saved))} in the file: build the program again",
        )
    _check_operands(pullback, counts, operands, results, where)
    return GradOp.of(pullback, counts)


def _operand_dtypes(wanted: list[int], operands: Any, results: Any) -> list[Any]:
    """The dtypes of an operation's operands; of one that wants no gradient that of another."""
    made = {k: ref.var.spec.dtype for k, ref in zip(wanted, results, strict=False)}
    read = [o.spec.dtype for o in operands if isinstance(o, Ref)]
    rest = next((d for d in read if d in APART), FLOAT32)
    return [made.get(k, rest) for k in range(max(wanted) + 2)]


def _counts(op: OpDef, value: Any, where: str) -> dict[str, int]:
    """How many operands each variadic name stands for."""
    names = [*op.inputs[-1:]] if op.variadic else []
    names += [op.outputs[0]] if op.variadic_output else []
    fields = read_fields(value, where, tuple(names))
    return {name: read_int(fields[name], where, 0, 10**6) for name in names}


def _positions(value: Any, count: int, where: str) -> list[int]:
    found = [read_int(k, where, 0, count) for k in read_list(value, where)]
    if any(a >= b for a, b in itertools.pairwise(found)):
        fail(where, "must be in rising order, without repetition")
    return found


def _check_operands(
    pullback: Pullback, counts: dict[str, int], operands: Any, results: Any, where: str
) -> None:
    op = pullback.op
    known = (*op.inputs, *op.outputs)
    bases = [n if n in known else n.removesuffix("_like") for n in pullback.saved]
    reads = sum(counts.get(base, 1) for base in bases)
    cotangents = sum(counts.get(o, 1) for o in op.outputs)
    if len(operands) != reads + cotangents:
        fail(
            where,
            f"the gradient of {op.name} takes {reads + cotangents} operands, got {len(operands)}",
        )
    if len(results) != len(pullback.wanted):
        fail(where, f"has {len(results)} results for {len(pullback.wanted)} wanted gradients")
    missing = [k for k, o in enumerate(operands) if o is None]
    if any(k < reads for k in missing) or (missing and not op.multiple):
        fail(where, "only a cotangent may be null, of an operation with several results")
    if len(missing) == cotangents:
        fail(where, "no cotangent arrives")
    _check_results(pullback, bases, counts, operands, results, where)


def _check_results(
    pullback: Pullback,
    bases: list[str],
    counts: dict[str, int],
    operands: Any,
    results: Any,
    where: str,
) -> None:
    """A gradient has the spec of what it belongs to, where the operator reads that."""
    op, place, start = pullback.op, 0, {}
    for base in bases:
        start[base] = place
        place += counts.get(base, 1)
    for k, ref in zip(pullback.wanted, results, strict=True):
        name = op.input_at(k)
        if name not in start:
            continue
        operand = operands[start[name] + max(0, k - len(op.inputs) + 1) * (name in counts)]
        spec = operand.spec
        if not may_equal(ref.var.spec.shape, spec.shape) or ref.var.spec.dtype != spec.dtype:
            fail(
                where,
                f"the gradient {ref.var.name!r} is {ref.var.spec}, of an operand that is {spec}",
            )


def read_emitted(block: Block, value: Any, where: str) -> None:
    """Fill `block.emitted`; what is computed gets numbers of its own there."""
    numbers: dict[int, int] = {}
    for k, entry in enumerate(read_list(value, where)):
        at = f"{where}[{k}]"
        if type(entry) is dict and "rule" in entry:
            fields = read_fields(entry, at, ("rule", "of", "number"))
            op = named_operation(fields["rule"], at)
            parts = _key(fields["of"], at)
            number = read_int(fields["number"], at)
            numbers[number] = block.emitted.setdefault((op, *parts), len(block.emitted))
            continue
        fields = read_fields(entry, at, ("key", "variable"))
        key = _key(fields["key"], at)
        name = fields["variable"]
        var = block.vars.get(name) if type(name) is str else None
        if var is None:
            fail(at, f"there is no variable {shown(name)} in block {block.idx}")
        if key and type(key[0]) is int and len(key) == 2:
            if type(key[1]) is not int or key[1] not in numbers:
                fail(at, f"{shown(key[1])} is the number of no rule before it")
            key = key[0], numbers[key[1]]
        elif not key or type(key[0]) is not str or key[0] not in SEEDED:
            fail(at, "is no key of a gradient")
        block.emitted[key] = var


def _key(value: Any, where: str) -> tuple[Any, ...]:
    made: list[Any] = []
    for part in read_list(value, where):
        kind = type(part)
        if kind is list:
            made.append(_key(part, where))
        elif part is None or kind is bool:
            made.append(part)
        elif kind is int:
            made.append(read_int(part, where, -(2**128), 2**128))
        elif kind is str:
            made.append(read_text(part, where))
        elif kind is dict and part.keys() == {"dtype"}:
            made.append(read_dtype(part["dtype"], where))
        elif kind is dict and part == {"ellipsis": True}:
            made.append(Ellipsis)
        else:
            fail(where, f"{shown(part)} is no part of a key")
    return tuple(made)
