"""What an executor says when a run fails."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograd_engine.compiler.python.function import CompiledFunction
from autograd_engine.core.pass_through import passes_through
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ExecutionError
from autograd_engine.program.ir.block import inner_blocks
from autograd_engine.program.ir.control_flow_op import kind_of
from autograd_engine.program.ir.program import (
    Operator,
    Program,
    Ref,
    default_startup_program,
)
from autograd_engine.program.scope import Scope, global_scope

__all__ = ["failed", "uninitialised"]


def uninitialised(program: Program, scope: Scope, names: Sequence[str]) -> ExecutionError:
    """For parameters without a value: which startup program gives them one."""
    name = names[0]
    text = f"{name!r} has no value in the scope"
    if len(names) > 1:
        others = ", ".join(map(repr, names[1:4])) + ", ..." * (len(names) > 4)
        text += f", nor have {others}" if len(names) > 2 else f", nor has {others}"
    own = program.startup() if program.startup is not None else None
    default = default_startup_program()
    if _initialises(default, name):
        text += ": run the startup program first, exe.run(paddle.static.default_startup_program())"
    elif own is not None and _initialises(own, name):
        text += (
            ": run the startup program first, the one that was given to program_guard together "
            "with this program"
        )
    else:
        text += (
            ": run the startup program first, the one that was the default when it was created; "
            f"or give it a value, scope.var({name!r}).get_tensor().set(array)"
        )
    elsewhere = global_scope().find_var(name)
    if scope is not global_scope() and elsewhere is not None and elsewhere.value is not None:
        text += "; run it in this very scope: it is the global scope that has a value"
    return ExecutionError(text)


def _initialises(startup: Program, name: str) -> bool:
    return any(r.var.name == name for o in startup.global_block().ops for r in o.results)


def failed(compiled: CompiledFunction, error: BaseException) -> ExecutionError | None:
    """For an operation that raised: which, where the user wrote it, and what it was given."""
    if passes_through(error):
        return None
    operator = compiled.operator_at(error)
    if operator is None:
        return None
    text = operator.location.text
    where = f"{operator.location} ({text})" if text else str(operator.location)
    given = _operands(compiled, operator, error)
    on = f" on {', '.join(given)}" if given else ""
    return ExecutionError(f"{_type_of(operator)} of {where} failed{on}: {error}")


def _type_of(operator: Operator) -> str:
    """Its type; of one that a type of the reference is made of, that type."""
    block = operator.block
    for around in block.program.blocks:
        for owner in around.ops:
            if owner.appended is not None and block in inner_blocks(owner):
                return operator.type if kind_of(owner) != "call" else owner.type
    return operator.type


def _operands(compiled: CompiledFunction, operator: Operator, error: BaseException) -> list[str]:
    """``x: float32[2, 3]`` for each variable that the operator reads, from the frame it ran in."""
    trace, frame, line = error.__traceback__, None, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == compiled.filename:
            frame, line = trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    if frame is None:
        return []
    statement = compiled.source.splitlines()[line - 1].partition(" = ")[2]
    names = dict.fromkeys(re.findall(r"[^\W\d]\w*", statement))
    values = [(n, frame.f_locals[n]) for n in names if n in frame.f_locals]
    shown = []
    for ref in dict.fromkeys(o for o in operator.operands if isinstance(o, Ref)):
        stem = re.sub(r"[^A-Za-z0-9]+", "_", ref.var.name.replace("@GRAD", "_grad"))
        pattern = re.compile(rf"(v_)?{re.escape(stem)}(_\d+)?(__\w+)?")
        for k, (name, value) in enumerate(values):
            if pattern.fullmatch(name) and hasattr(value, "dtype"):
                shown.append(f"{ref.var.name}: {Spec(value.shape, value.dtype)!r}")
                del values[k]
                break
    return shown
