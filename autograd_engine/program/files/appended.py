"""How operators were appended, in documents: types, slots and attributes of the reference."""

from __future__ import annotations

from typing import Any, Final

from autograd_engine.program.files.fields import fail, read_fields, read_int, read_list, read_name
from autograd_engine.program.files.values import read_value, value_json
from autograd_engine.program.ir.appended import Appended, Slots
from autograd_engine.program.ir.program import Operator

__all__ = ["appended_json", "read_appended"]

_PLAIN: Final = (bool, int, float, complex, str)


def appended_json(operator: Operator) -> Any:
    """None of an operator that was not appended by its type."""
    appended = operator.appended
    if appended is None:
        return None
    return {
        "type": appended.type,
        "inputs": {slot: list(at) for slot, at in appended.inputs},
        "outputs": {slot: list(at) for slot, at in appended.outputs},
        "attrs": {
            k: value_json(v, f"the attribute {k} of {operator.type}")
            for k, v in appended.attrs.items()
        },
    }


def read_appended(value: Any, operator: Operator, where: str) -> Appended | None:
    """What `appended_json` wrote; each position is that of an operand or a result."""
    if value is None:
        return None
    fields = read_fields(value, where, ("type", "inputs", "outputs", "attrs"))
    for key in ("inputs", "outputs", "attrs"):
        if type(fields[key]) is not dict:
            fail(f"{where}.{key}", "must be an object")
    attrs = {
        read_name(k, f"{where}.attrs"): _plain(read_value(v, f"{where}.attrs"), f"{where}.attrs")
        for k, v in fields["attrs"].items()
    }
    return Appended(
        read_name(fields["type"], f"{where}.type"),
        _slots(fields["inputs"], operator.operands, (), f"{where}.inputs"),
        _slots(fields["outputs"], operator.results, operator.block.vars, f"{where}.outputs"),
        attrs,
    )


def _slots(value: dict[str, Any], there: Any, names: Any, where: str) -> Slots:
    found = []
    for slot, listed in value.items():
        at: list[int | str] = []
        for k in read_list(listed, where):
            if isinstance(k, str):
                if k not in names:
                    fail(where, f"there is no variable {k!r:.60} in the block")
                at.append(k)
                continue
            position = read_int(k, where, 0, len(there))
            if not hasattr(there[position], "var"):
                fail(where, f"{position} is no variable")
            at.append(position)
        found.append((read_name(slot, where), tuple(at)))
    return tuple(found)


def _plain(value: Any, where: str) -> Any:
    parts = value if type(value) is list else [value]
    if not all(type(v) in _PLAIN for v in parts):
        fail(where, "must be a number, a text, or a list of these")
    return value
