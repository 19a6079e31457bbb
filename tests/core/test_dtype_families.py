"""Families of dtypes, and that nothing else of the package asks NumPy what a dtype is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import autograd_engine
from autograd_engine.core import dtypes
from autograd_engine.core.dtypes import families
from tests.forked import forks, in_child

PACKAGE = Path(autograd_engine.__file__).parent
FAMILIES = {
    "BOOLS": "b",
    "SIGNED": "i",
    "UNSIGNED": "u",
    "INTEGERS": "iu",
    "EXACT": "biu",
    "FLOATS": "f",
    "COMPLEX": "c",
    "INEXACT": "fc",
    "REALS": "iuf",
    "REALS_AND_BOOLS": "biuf",
    "NUMBERS": "iufc",
    "NUMBERS_AND_BOOLS": "biufc",
}
OTHERS = ("S3", "U3", "O", "M8[s]", "m8[s]", "V2", [("a", "f4")])


def test_families_are_those_of_numpys_kinds() -> None:
    codes = [*np.typecodes["AllInteger"], *np.typecodes["AllFloat"], "?", *OTHERS]
    given = [np.dtype(code) for code in codes]
    given += [dtype.newbyteorder("S") for dtype in given]
    wrong = [
        (name, dtype)
        for name, kinds in FAMILIES.items()
        for dtype in given
        if (dtype in getattr(dtypes, name)) != (dtype.kind in kinds)
    ]
    assert wrong == []
    assert [dtype for dtype in given if dtypes.kind(dtype) != dtype.kind] == []
    assert {dtype for dtype in given if dtype in dtypes.HALVES} == {
        np.dtype("<f2"),
        np.dtype(">f2"),
    }


def test_counterparts() -> None:
    for name in ("float16", "float32", "complex64"):
        assert dtypes.complex_dtype(np.dtype(name)) == np.complex64
    assert dtypes.real_dtype(np.dtype("complex128")) == np.float64
    assert dtypes.real_dtype(np.dtype("int8")) == np.int8
    assert dtypes.accumulation_dtype(np.dtype("float16")) == np.float32
    assert dtypes.accumulation_dtype(np.dtype("float64")) == np.float64
    assert dtypes.accumulation_dtype(np.dtype("int8")) == np.int8


@forks
def test_a_dtype_that_numpy_has_no_kind_for_is_declared_in_one_call() -> None:
    def declared() -> bool:
        two_bytes = np.dtype("V2")
        families._declare(two_bytes, "fh")
        members = {name for name in FAMILIES if two_bytes in getattr(dtypes, name)}
        return (
            members == {name for name, kinds in FAMILIES.items() if "f" in kinds}
            and dtypes.kind(two_bytes) == "f"
            and dtypes.short_name(two_bytes) == "f16"
            and dtypes.accumulation_dtype(two_bytes) == np.float32
        )

    assert in_child(declared)


# --- nothing else asks NumPy

FUNCTIONS = {
    "can_cast", "common_type", "finfo", "iinfo", "iscomplexobj", "isrealobj", "issubdtype",
    "mintypecode", "promote_types", "result_type", "typename",
}  # fmt: skip
LETTERS = re.compile("[biufcOSUVTmM?]+")
# Code that is written as text, as of generated calls, asks in a string.
TEXT = re.compile(r"dtype\}?\.(kind|char)\b")


def _letters(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and LETTERS.fullmatch(node.value) is not None
    )


def _of_dtype(node: ast.expr) -> bool:
    """Whether an expression has the name of a dtype, or is a call that makes one."""
    if isinstance(node, ast.Call):
        return _of_dtype(node.func)
    name = getattr(node, "attr", getattr(node, "id", ""))
    return "dtype" in name.lower()


def questions(text: str) -> Iterator[str]:
    """Where a module asks NumPy what a dtype is, as ``line: text``."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        asks = False
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asks = any(map(_letters, sides)) and any(
                isinstance(s, ast.Attribute) and s.attr in ("kind", "char") for s in sides
            )
        elif isinstance(node, ast.Attribute) and node.attr in ("kind", "char"):
            asks = node.attr == "char" or _of_dtype(node.value)
        elif isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
            asks = isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")
        elif isinstance(node, ast.ImportFrom) and node.module == "numpy":
            asks = any(a.name in FUNCTIONS for a in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            asks = TEXT.search(node.value) is not None
        if asks:
            yield f"{node.lineno}: {ast.unparse(node)}"  # type: ignore[attr-defined]


def test_the_questions_are_found() -> None:
    asked = [
        'x.dtype.kind == "f"',
        'chosen.kind not in "fc"',
        '"f" == wanted.kind',
        "k = spec.dtype.kind",
        "np.dtype(name).kind in kinds",
        "dtype.char.lower()",
        "TYPES[x.dtype.char]",
        'code = f"if {x}.dtype.kind in taken: return"',
        "np.finfo(dtype).eps",
        "numpy.iinfo(dtype).max",
        "np.issubdtype(a, np.floating)",
        "np.result_type(x, y)",
        'np.can_cast(a, b, "safe")',
        "from numpy import promote_types",
    ]
    assert [text for text in asked if not list(questions(text))] == []
    other = [
        'op.kind == "call"',
        "p.kind is p.VAR_KEYWORD",
        "x.dtype in FLOATS",
        "finfo(dtype).eps",
        'kind(dtype) in "fc"',
    ]
    assert [text for text in other if list(questions(text))] == []


def test_only_core_dtypes_asks_numpy_what_a_dtype_is() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if PACKAGE / "core" / "dtypes" not in path.parents
        for text in questions(path.read_text(encoding="utf-8"))
    ]
    assert not found, "ask autograd_engine.core.dtypes instead:\n" + "\n".join(found)
