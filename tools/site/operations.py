"""The page of the operations, from the table; ``python tools/site/operations.py`` prints it.

Rules are shown as they stand in the source.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import autograd_engine  # noqa: F401 - declares the operations
from autograd_engine.ops.registry.opdef import NONDIFF, REGISTRY, OpDef, Rule, words_for

KINKS = Path(__file__).resolve().parents[2] / "docs" / "nondifferentiable.md"
HEAD = """\
# Operations

The table: every primitive operation, in the order of the modules that declare them. Public
functions are made of these.

- **inputs** of an operation; `*xs` takes any number. **attributes** with their defaults.
- **dtypes**: what its operands may be, once they are cast; arrays of others are refused.
- **rule**: the cotangent of an input from that of the output, `g` (one for each output that carries
  a gradient, `g_<output>`, where there are several). `xp` is the namespace it runs in.
- **saves**: what the rules read besides cotangents, and so what a recorded call keeps;
  `<name>_like` is a shape and a dtype.
- **tangent**: how forward mode follows from the rules; *transposed* is the gradient of the gradient
  in the cotangent, *linear* the operation itself, *elementwise* the rules applied to tangents.
- **at kinks**: rows of [nondifferentiable.md](nondifferentiable.md) on the function of that name.
"""


@cache
def nodes_of(path: str) -> list[ast.Lambda | ast.FunctionDef]:
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    return [n for n in ast.walk(tree) if isinstance(n, (ast.Lambda, ast.FunctionDef))]


def node_of(fn: Callable[..., Any]) -> ast.Lambda | ast.FunctionDef:
    """The syntax that `fn` was made from: that with its line and its very instructions."""
    code = fn.__code__
    found = [
        n
        for n in nodes_of(code.co_filename)
        if n.lineno == code.co_firstlineno
        or any(d.lineno == code.co_firstlineno for d in getattr(n, "decorator_list", ()))
    ]
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    same = [n for n in found if names == tuple(a.arg for a in (*n.args.args, *n.args.kwonlyargs))]
    return next((n for n in same if compiles_to(n, code)), same[0])


def compiles_to(node: ast.Lambda | ast.FunctionDef, code: CodeType) -> bool:
    """Whether the syntax gives these instructions on these names and constants."""
    if not isinstance(node, ast.Lambda):
        return False
    made = compile(ast.Expression(node), code.co_filename, "eval").co_consts[0]
    return (made.co_code, made.co_names, made.co_consts) == (
        code.co_code,
        code.co_names,
        code.co_consts,
    )


def text_of(fn: Callable[..., Any]) -> str:
    """The expression that a rule returns, or the first line of what a longer one says of itself."""
    node = node_of(fn)
    if isinstance(node, ast.Lambda):
        return f"`{ast.unparse(node.body)}`"
    body = [s for s in node.body if not isinstance(s, ast.Expr)]
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        return f"`{ast.unparse(body[0].value)}`"
    said = inspect.getdoc(fn)
    return f"`{node.name}`" + (f": {said.splitlines()[0]}" if said else "")


def attributes(op: OpDef) -> str:
    shown = []
    for name, default in op.attrs.items():
        if default is inspect.Parameter.empty:
            shown.append(f"`{name}`")
        else:
            shown.append(f"`{name}={default!r}`")
    return ", ".join(shown)


def dtypes(op: OpDef) -> str:
    """What its operands may be, and what they are cast to."""
    rest = [f"`{name}`" for name in op.inputs if name in op.untyped]
    casts = {
        "any": "",
        "common": "; they are cast to the dtype in which they meet",
        "numeric": "; they are cast to the dtype in which they meet, bools to int64",
        "floating": "; they are cast to the dtype in which they meet, bools and integers to floats",
    }
    left_out = f", but for {', '.join(rest)}" if rest else ""
    return words_for(op.takes) + left_out + casts[op.dtypes]


def saved(op: OpDef) -> str:
    names: dict[str, None] = {}
    for rule in op.rules.values():
        if isinstance(rule, Rule):
            names.update(dict.fromkeys(rule.saves))
    return ", ".join(f"`{n}`" for n in names)


@cache
def kinks() -> dict[str, list[str]]:
    """Rows of the page on kinks, by the function that they call first."""
    rows: dict[str, list[str]] = {}
    for line in KINKS.read_text(encoding="utf-8").splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")] if line.startswith("| `") else []
        if len(cells) == 4:
            call = re.match(r"`(?:paddle\.(?:(?:linalg|geometric)\.)?|F\.)(\w+)\(", cells[0])
            if call:
                rows.setdefault(call.group(1), []).append(
                    f"{cells[0]} at {cells[1]}: {cells[2]}" + (f", {cells[3]}" if cells[3] else "")
                )
    return rows


def entry(op: OpDef) -> str:
    inputs = [*op.inputs[:-1], *(("*" if op.variadic else "") + n for n in op.inputs[-1:])]
    outputs = ", ".join(("*" if op.variadic_output else "") + o for o in op.outputs)
    lines = [f"### {op.name}({', '.join(inputs)}) -> {outputs}", ""]
    if op.inputs:
        lines.append(f"- dtypes: {dtypes(op)}")
    if op.attrs:
        lines.append(f"- attributes: {attributes(op)}")
    for name, rule in op.rules.items():
        if isinstance(rule, Rule):
            lines.append(f"- rule for `{name}`: {text_of(rule.fn)}")
    none = [name for name, rule in op.rules.items() if rule is NONDIFF]
    if none:
        lines.append(f"- not differentiable: {', '.join(f'`{n}`' for n in none)}")
    if any(isinstance(rule, Rule) for rule in op.rules.values()):
        lines.append(f"- saves: {saved(op) or 'nothing'}")
        lines.append(f"- tangent: {op.tangent or 'transposed'}")
    lines += [f"- at kinks: {row}" for row in kinks().get(op.name, [])]
    return "\n".join(lines)


def page() -> str:
    families: dict[str, list[OpDef]] = {}
    for op in REGISTRY.values():
        families.setdefault(op.module, []).append(op)
    ruled = sum(any(isinstance(r, Rule) for r in op.rules.values()) for op in REGISTRY.values())
    parts = [HEAD, f"{len(REGISTRY)} operations, {ruled} of them differentiable.\n"]
    for family in sorted(families):
        parts.append(f"## {family}\n")
        parts += [entry(op) + "\n" for op in families[family]]
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
