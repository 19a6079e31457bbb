"""Write what type checkers cannot see: ``python tools/declare.py``.

Methods are bound to Tensor and Variable when the engine is imported, and the in-place functions are
made then. These stubs declare them with the signatures of the functions that they are. A test holds
the stubs to what this script writes.
"""

from __future__ import annotations

import builtins
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import autograd_engine
from autograd_engine.autograd import hooks
from autograd_engine.autograd.backward_pass import tensor_backward
from autograd_engine.bindings import METHODS
from autograd_engine.core.operand import OPERATORS, REFLECTED
from autograd_engine.tensor import public
from autograd_engine.tensor.spelling import inplace

PACKAGE = Path(autograd_engine.__file__).resolve().parent
HEAD = '''\
"""{summary}

Written by tools/declare.py: run it again when a signature changes.
"""

{imports}
'''
# These take and give no other object, so they are not those of `object`.
UNARY = {"__neg__", "__pos__", "__abs__", "__invert__"}
OF_OBJECT = {"__eq__", "__ne__"}
BEYOND = ("__pow__", "__rpow__", "__matmul__", "__rmatmul__", "__pos__")


class Stub:
    """The text of one stub: declarations, and the imports that their annotations need."""

    def __init__(self, names: Iterable[str]) -> None:
        self.hidden = {n for n in names if isinstance(getattr(builtins, n, None), type)}
        self.modules: set[str] = set()
        self.imports: dict[str, set[str]] = {"typing": {"Any"}}
        self.lines: list[str] = []

    def need(self, module: str, name: str) -> None:
        self.imports.setdefault(module, set()).add(name)

    def annotation(self, value: Any, function: Callable[..., Any]) -> str:
        """An annotation as text whose names are imported; Any where one cannot be."""
        if value is inspect.Parameter.empty:
            return "Any"
        text = value if isinstance(value, str) else getattr(value, "__name__", "Any")
        found = inspect.unwrap(function)
        known = getattr(found, "__globals__", {})
        needs: list[tuple[str, str]] = []
        for word in re.findall(r"[A-Za-z_]\w*", re.sub(r"\"[^\"]*\"|'[^']*'", "", text)):
            if hasattr(builtins, word) or (word, text) == ("None", text):
                continue
            home = origin(word, known.get(word))
            if home is None:
                return "Any"
            needs.append((home, word))
        for home, word in needs:
            self.need(home, word)
        # A method of that name stands in the way of the type.
        shadowed = re.compile(rf"\b({'|'.join(sorted(self.hidden))})\b") if self.hidden else None
        if shadowed and shadowed.search(text):
            self.modules.add("builtins")
            text = shadowed.sub(r"builtins.\1", text)
        return text

    def parameters(self, function: Callable[..., Any], method: bool) -> str:
        parts: list[str] = []
        given = list(inspect.signature(function).parameters.values())
        positional = [p for p in given if p.kind is p.POSITIONAL_ONLY]
        for i, p in enumerate(given):
            if method and not i:
                parts.append("self")
                continue
            if p.kind is p.KEYWORD_ONLY and "*" not in "".join(q[:1] for q in parts):
                parts.append("*")
            stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            text = f"{stars}{p.name}: {self.annotation(p.annotation, function)}"
            parts.append(text if p.default is p.empty else f"{text} = ...")
            if positional and p is positional[-1]:
                parts.append("/")
        return ", ".join(parts)

    def function(self, name: str, function: Callable[..., Any], method: bool, gives: str) -> None:
        """A function, or a method of the class that `gives` names."""
        indent, forms = "    " * method, overloads_of(function)
        for form in forms or [function]:
            if forms:
                self.need("typing", "overload")
                self.lines.append(f"{indent}@overload")
            returns = self.annotation(inspect.signature(form).return_annotation, form)
            if name.endswith("_"):
                returns = gives  # in place: what it was called on
            returns = re.sub(r"\bTensor\b", gives, returns)
            arguments = self.parameters(form, method)
            self.lines.append(f"{indent}def {name}({arguments}) -> {returns}: ...")

    def text(self, summary: str) -> str:
        imports = "\n".join(
            [f"import {module}" for module in sorted(self.modules)]
            + [f"from {m} import {', '.join(sorted(n))}" for m, n in sorted(self.imports.items())]
        )
        return HEAD.format(summary=summary, imports=imports) + "\n".join(self.lines) + "\n"


def overloads_of(function: Callable[..., Any]) -> Sequence[Callable[..., Any]]:
    found = inspect.unwrap(function)
    # An in-place form returns what it is given, however it is called.
    return () if found.__name__ != function.__name__ else typing.get_overloads(found)


def origin(word: str, value: Any) -> str | None:
    """The module that a name of an annotation is imported from."""
    if word in ("Any", "Literal", "Self"):
        return "typing"
    if word in ("Callable", "Iterable", "Iterator", "Mapping", "Sequence"):
        return "collections.abc"
    if value is None:
        return None
    home = getattr(value, "__module__", None)
    if getattr(value, "__name__", None) == word and isinstance(home, str):
        return home if not home.startswith("numpy") else "numpy"
    for name, module in sorted(sys.modules.items()):
        own = isinstance(module, ModuleType) and name.startswith("autograd_engine.")
        if own and word in getattr(module, "__all__", ()) and getattr(module, word) is value:
            return name
    return None


def methods(name: str, of: str, eager: bool) -> str:
    """The stub that declares what is bound to `of`, as a class `name`."""
    module = "autograd_engine.eager.tensor" if eager else "autograd_engine.program.ir.variable"
    bound = {n: f for n, f in METHODS.items() if not n.startswith("__")}
    if eager:
        bound |= {"backward": tensor_backward} | {n: getattr(hooks, n) for n in hooks.__all__}
    stub = Stub(bound)
    stub.need("autograd_engine.core.operand", "Operand")
    stub.need(module, of)
    stub.lines += ["", f"class {name}(Operand):"]
    for dunder in (*OPERATORS, *REFLECTED, *BEYOND):
        other = "" if dunder in UNARY else ", other: Any"
        ignored = "  # type: ignore[override]" if dunder in OF_OBJECT else ""
        stub.lines.append(f"    def {dunder}(self{other}) -> {of}: ...{ignored}")
    stub.lines.append(f"    def __getitem__(self, key: Any) -> {of}: ...")
    stub.lines.append("    def __setitem__(self, key: Any, value: Any) -> None: ...")
    for short, function in sorted(bound.items()):
        if isinstance(function, property):
            returns = stub.annotation(
                inspect.signature(function.fget).return_annotation, function.fget
            )
            stub.lines += ["    @property", f"    def {short}(self) -> {returns}: ..."]
            continue
        stub.function(short, function, method=True, gives=of)
    return stub.text(f"What is bound to {of}: operators, and functions that are methods.")


def functions() -> str:
    made = inplace.functions(vars(public)["_defined"])
    stub = Stub(made)
    stub.lines += ["", f"__all__ = {sorted(made)!r}".replace("'", '"'), ""]
    for name, function in sorted(made.items()):
        stub.function(name, function, method=False, gives="Tensor")
    return stub.text("The functions that `autograd_engine.tensor.spelling.inplace` makes.")


def stubs() -> dict[Path, str]:
    return {
        PACKAGE / "eager" / "declared.pyi": methods("TensorMethods", "Tensor", eager=True),
        PACKAGE / "program" / "ir" / "declared.pyi": methods(
            "VariableMethods", "Variable", eager=False
        ),
        PACKAGE / "tensor" / "declared.pyi": functions(),
    }


def main() -> None:
    for path, text in stubs().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(PACKAGE)}: written")


if __name__ == "__main__":
    main()
