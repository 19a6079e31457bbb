"""Programs as text: what ``print`` shows of a program and of its parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.program.ir.control_flow_op import kind_of
from autograd_engine.program.ir.program import (
    Block,
    Literal,
    Operator,
    Parameter,
    Program,
    Variable,
)

__all__ = [
    "attribute_text",
    "block_text",
    "operator_attributes",
    "operator_text",
    "program_text",
    "shape_text",
    "variable_text",
]

_MOST_ELEMENTS: Final = 8  # of an array that is shown whole


def program_text(program: Program) -> str:
    """All blocks, one after the other."""
    backward = _backward_blocks(program)
    return "\n".join(block_text(block, backward) for block in program.blocks)


def _backward_blocks(program: Program) -> dict[int, int]:
    """The first block that computes gradients of each block."""
    return {b.forward_idx: b.idx for b in reversed(program.blocks)}


def block_text(block: Block, backward: dict[int, int] | None = None) -> str:
    """The numbers of the block, a line for each of its variables, a line for each operator."""
    if backward is None:
        backward = _backward_blocks(block.program)
    head = (
        f"{{ // block_idx:{block.idx}  parent_idx:{block.parent_idx}  "
        f"forward_idx:{block.forward_idx}  backward_idx:{backward.get(block.idx, -1)}\n"
    )
    variables = "".join(f"    {variable_text(v)}\n" for v in block.vars.values())
    if block.parent_idx >= 0:
        head += f"    // takes {_names(block.arguments)}\n"
        head += f"    // returns {_names(r.var for r in block.results)}\n"
    operators = "".join(f"    {operator_text(op)}\n" for op in block.ops)
    return f"{head}{variables}\n{operators}}}\n"


def variable_text(variable: Variable) -> str:
    """``persist trainable param fc_0.w_0 : LOD_TENSOR.shape(13, 1)...``"""
    kind = "LOD_TENSOR_ARRAY" if variable.is_stack else "LOD_TENSOR"
    return (
        f"{_role_of(variable)} {variable.name} : {kind}.shape{shape_text(variable.shape)}"
        f".dtype({variable.dtype.name}).stop_gradient({variable.stop_gradient})"
    )


def _role_of(variable: Variable) -> str:
    if isinstance(variable, Parameter):
        return "persist trainable param" if variable.trainable else "persist param"
    return "persist var" if variable.persistable else "var"


def shape_text(shape: Iterable[int]) -> str:
    """A tuple as Python writes it: ``()``, ``(3,)``, ``(-1, 4)``."""
    sizes = tuple(shape)
    return f"({', '.join(map(str, sizes))}{',' if len(sizes) == 1 else ''})"


def operator_text(operator: Operator) -> str:
    """``{out=['y']} = matmul(inputs={x=['x'], y=['w']}, op_device = , op_namescope = /, ...)``"""
    results = ", ".join(f"{k}={_names(vs)}" for k, vs in sorted(operator.outputs.items()) if vs)
    operands = ", ".join(f"{k}={_names(vs)}" for k, vs in sorted(operator.inputs.items()) if vs)
    attrs = operator_attributes(operator)
    if operator.appended is not None and kind_of(operator) == "call":
        attrs["body_block"] = operator.attrs["body_block"]
    text = "".join(f", {k} = {attribute_text(attrs[k])}" for k in sorted(attrs))
    return f"{{{results}}} = {operator.type}(inputs={{{operands}}}{text})"


def operator_attributes(operator: Operator) -> dict[str, Any]:
    """Attributes, operands that are numbers, and what the operator is for."""
    if operator.appended is not None:
        attrs = {**operator.appended.attrs, **_purpose(operator)}
        inner = _SUB_BLOCK.get(kind_of(operator))
        return attrs if inner is None else {**attrs, "sub_block": operator.attrs[inner]}
    attrs = dict(operator.attrs)
    numbers: dict[str, list[Any]] = {}
    for k, operand in enumerate(operator.operands):
        if isinstance(operand, Literal):
            numbers.setdefault(operator.op.input_at(k), []).append(operand.value)
    attrs.update((name, v[0] if len(v) == 1 else v) for name, v in numbers.items())
    return {**attrs, **_purpose(operator)}


# Which block the reference calls that of the operator.
_SUB_BLOCK: Final = {"cond": "true_block", "while": "body_block"}


def _purpose(operator: Operator) -> dict[str, Any]:
    return {
        "op_device": operator.op_device,
        "op_namescope": operator.op_namescope,
        "op_role": operator.op_role,
        "op_role_var": operator.op_role_var,
    }


def _names(variables: Iterable[Variable]) -> str:
    return str([v.name for v in variables])


def attribute_text(value: Any) -> str:
    """An attribute on one line, without addresses: the same program prints the same text."""
    if isinstance(value, str):
        return value if value.isprintable() else repr(value)
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, Block):
        return f"block[{value.idx}]"
    if isinstance(value, Literal):
        return _text(value.value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return _text(value.item())
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, slice):
        return _slice(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text(k)}: {_text(v)}' for k, v in value.items())}}}"
    if value is Ellipsis:
        return "..."
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return repr(value)
    return _object(value)


def _slice(value: slice) -> str:
    start, stop = ("" if v is None else str(v) for v in (value.start, value.stop))
    return f"{start}:{stop}" if value.step is None else f"{start}:{stop}:{value.step}"


def _array(value: NDArray[Any]) -> str:
    """``float32[2, 2][[1.0, 2.0], [3.0, 4.0]]``, or of many elements the first and the last."""
    head = f"{value.dtype.name}{list(value.shape)}"
    if value.size <= _MOST_ELEMENTS:
        return f"{head}{_text(value.tolist())}" if value.ndim else f"{head} {value.item()!r}"
    flat = value.reshape(-1)
    first = ", ".join(map(repr, flat[:3].tolist()))
    return f"{head}[{first}, ..., {flat[-1].item()!r}]"


def _object(value: Any) -> str:
    """A function, a class or an object by its name: no address, which differs from run to run."""
    name = getattr(value, "__qualname__", None)
    return f"<{name if isinstance(name, str) else type(value).__qualname__}>"
