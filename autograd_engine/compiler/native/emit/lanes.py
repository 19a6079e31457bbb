"""Loops over float16 in lanes of 16, where the processor has conversions of such vectors.

Compilers make vectors of a loop of scalars, but not of these conversions. So a loop is written
twice: over 16 elements at a time, each number an array of as many, with calls that convert arrays
between loops of a known length, which become vectors and registers; and for what is left over, or
for other processors, as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["in_lanes"]

_LANES: Final = 16
_DECLARED: Final = re.compile(r"(?P<type>\w+) (?P<name>[ax]\d+) = (?P<value>.*);")
_STORED: Final = re.compile(r"(?P<array>p\d+)\[j\] = (?P<value>.*);")
_LOAD: Final = re.compile(r"ae_load_float16\((p\d+)\[j\]\)")
_ROUND: Final = re.compile(r"ae_(?:nearest|round)_float16\((?:\(float\))?([ax]\d+)\)")
_STORE: Final = re.compile(r"ae_store_float16\(([ax]\d+)\)")
_NAME: Final = re.compile(r"\b[ax]\d+\b")


def in_lanes(body: Sequence[str], used: set[str]) -> list[str]:
    """The loop ``for (; at + 16 <= end; at += 16)`` that does what `body` does for one ``j``.

    Parameters
    ----------
    body : sequence of str
        Statements: numbers that are declared, and elements that are stored.
    used : set of str
        Names in `math_functions.CONVERSIONS` are added.

    Returns
    -------
    list of str
        Lines; none where nothing is converted, or something else than that is done.
    """
    numbers: dict[str, str] = {}
    rounded: dict[str, str] = {}  # what is rounded there, if that is only stored
    lines: list[str] = []
    converted = False
    for line in body:
        declared, stored = _DECLARED.fullmatch(line), _STORED.fullmatch(line)
        found = declared or stored
        if found is None:
            return []
        value = found["value"]
        if declared is not None:
            name = declared["name"]
            numbers[name] = declared["type"]
            if match := _LOAD.fullmatch(value):
                lines.append(_call("load", name, f"{match[1]} + at", used))
            elif (match := _ROUND.fullmatch(value)) and numbers[match[1]] == "float":
                readers = [other for other in body if name in _NAME.findall(other)][1:]
                if all(_stores(other) for other in readers):
                    rounded[name] = match[1]  # which a store does by itself
                else:
                    lines.append(_call("round", name, match[1], used))
            else:
                lines.append(f"{name}[l] = {value};")
        elif match := _STORE.fullmatch(value):
            source = rounded.get(match[1], match[1])
            lines.append(_call("store", f"{found['array']} + at", source, used))
            converted = True
        else:
            lines.append(line)
    converted = converted or any("float16" in line for line in lines)
    lines = [line if line.startswith("ae_lanes") else _of_lane(line) for line in lines]
    if not converted or any(re.search(r"\bj\b", line) for line in lines):
        return []
    kept = [f"{t} {name}[{_LANES}];" for name, t in numbers.items() if name not in rounded]
    return [
        "#if defined(__AVX512F__) || defined(__F16C__)",
        f"for (; at + {_LANES} <= end; at += {_LANES}) {{",
        *(f"    {line}" for line in kept),
        *_grouped(lines),
        "}",
        "#endif",
    ]


def _call(kind: str, to: str, source: str, used: set[str]) -> str:
    used.add(f"lanes_{kind}_float16")
    return f"ae_lanes_{kind}_float16({to}, {source});"


def _stores(line: str) -> bool:
    found = _STORED.fullmatch(line)
    return found is not None and _STORE.fullmatch(found["value"]) is not None


def _of_lane(line: str) -> str:
    target, value = line.split(" = ", 1)
    value = _NAME.sub(lambda found: f"{found[0]}[l]", value)
    return f"{target} = {value}".replace("[j]", "[at + l]")


def _grouped(lines: Sequence[str]) -> list[str]:
    """Statements of single lanes together in loops."""
    made: list[str] = []
    inside = False
    for line in [*lines, ""]:
        single = bool(line) and not line.startswith("ae_lanes")
        if inside and not single:
            made.append("    }")
        if single and not inside:
            made += ["#pragma omp simd", f"    for (int l = 0; l < {_LANES}; l++) {{"]
        inside = single
        if line:
            made.append(f"    {'    ' * single}{line}")
    return made
