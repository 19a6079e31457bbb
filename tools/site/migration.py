"""Pages for those who come from another library: each of its names, and what it is here.

From `tools/names`, so what the pages say is what errors say, and what exists is found out.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autograd_engine.core.names.keywords import KEYWORDS, Meaning

PEERS = Path(__file__).resolve().parents[1] / "names" / "peers.py"
FILES = {"torch": "pytorch", "jax": "jax", "autograd": "hips_autograd", "paddle": "paddle"}
HEAD = """\
# Coming from {title}

The public names of {title} {version}, where they are typed here, with `import autograd_engine as
paddle`. Of {total} there are {same} under the same name, {written} have something to write in their
place, and for the other {reasons} it is said why they are not here. A name that is typed all the
same raises an `AttributeError`, and its import an `ImportError`, with what this page says.
"""
_OF_FUNCTIONS = {
    "grad(f)(x)": "paddle.autograd.value_and_grad(f)(x)[1]",
    "hessian(f)(x)": "paddle.autograd.hessian(f, x)",
    "jacobian(f)(x)": "paddle.autograd.jacobian(f, x)",
}
UNLIKE = {
    "autograd": _OF_FUNCTIONS | {"checkpoint(f)(x)": "paddle.autograd.recompute(f, x)"},
    "jax": _OF_FUNCTIONS
    | {
        "jit(f)": "paddle.jit.to_static(f)",
        "vjp(f, x)[1](v)": "paddle.autograd.vjp(f, x, v)[1]",
        "jvp(f, (x,), (v,))": "paddle.autograd.jvp(f, x, v)",
        "checkpoint(f)(x)": "paddle.autograd.recompute(f, x)",
        "pad(x, ((1, 1), (2, 2)))": "paddle.nn.functional.pad(x, [1, 1, 2, 2])",
    },
    "torch": {
        "nn.Linear(4, 8).weight, [8, 4]": "paddle.nn.Linear(4, 8).weight, [4, 8]",
        "nn.BatchNorm2d(3, momentum=0.1)": "paddle.nn.BatchNorm2D(3, momentum=0.9)",
        "nn.LSTM(4, 8), time first": "paddle.nn.LSTM(4, 8, time_major=True)",
        "x.requires_grad = True": "x.stop_gradient = False",
        "scheduler = StepLR(optimizer, 30)": "scheduler = paddle.optimizer.lr.StepDecay(0.1, 30); "
        "optimizer = paddle.optimizer.SGD(scheduler, parameters)",
        "autograd.functional.jacobian(f, x)": "paddle.autograd.jacobian(f, x)",
        "func.grad(f)(x)": "paddle.autograd.value_and_grad(f)(x)[1]",
    },
}
CODE = re.compile(r"(?<![\w.`])paddle(?:\.\w+)+(?:\((?:[^()]|\([^()]*\))*\))?")


def peers() -> Any:
    """The module that knows the names."""
    found = sys.modules.get("peers")
    if found is None:
        spec = importlib.util.spec_from_file_location("peers", PEERS)
        assert spec is not None
        assert spec.loader is not None
        found = sys.modules["peers"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    return found


def pages() -> Iterator[tuple[str, str]]:
    """(path on the site, text) of the page of each library."""
    told = list(peers().told())
    for library, file in FILES.items():
        yield f"migration/{file}.md", page(library, [t for t in told if t.library == library])


def page(library: str, told: list[Any]) -> str:
    names: dict[str, list[Any]] = {}  # by the place that the library has them at
    for one in told:
        names.setdefault(one.name.rpartition(".")[0], []).append(one)
    best = {place: list(_best(every)) for place, every in names.items()}
    every = [one for of in best.values() for one in of]
    written = sum(not one.exists and one.answer.kind == "write" for one in every)
    parts = [
        HEAD.format(
            title=peers().PEERS[library].title,
            version=peers().listed()[library]["version"],
            total=len(every),
            same=sum(one.exists for one in every),
            written=written,
            reasons=sum(not one.exists for one in every) - written,
        )
    ]
    parts += [_unlike(library)] if library in UNLIKE else []
    parts += [_section(place, of) for place, of in best.items()]
    if library == "torch":
        parts.append(_keywords())
    return "\n".join(parts)


def _unlike(library: str) -> str:
    """Names that both have, for what is not the same."""
    rows = [f"| {_code(there)} | {_code(here)} |" for there, here in UNLIKE[library].items()]
    return "\n".join(
        ["## The same name, and another call\n", "| there | here |\n| --- | --- |", *rows, ""]
    )


def _best(told: Iterable[Any]) -> Iterator[Any]:
    """One for each name: where it exists, else where it is answered by itself."""
    by_name: dict[str, list[Any]] = {}
    for one in told:
        by_name.setdefault(one.name, []).append(one)
    for name, every in by_name.items():
        own = [one for one in every if name.endswith(f".{one.asked}")]
        yield next((one for one in every if one.exists), (own or every)[-1])


def _section(place: str, told: list[Any]) -> str:
    same = [one.name.rpartition(".")[2] for one in told if one.exists]
    lines = [f"## {place}\n"]
    if same:
        where = next(one.place for one in told if one.exists)
        lines.append(f"The same, as `{where}`: {', '.join(map(_escaped, same))}.\n")
    rows: dict[Any, list[str]] = {}
    for one in told:
        if not one.exists:
            rows.setdefault(one.answer, []).append(one.name.rpartition(".")[2])
    if rows:
        lines.append("| there | here |\n| --- | --- |")
        ordered = sorted(rows.items(), key=lambda row: row[0].kind != "write")
        lines += [f"| {', '.join(map(_code, n))} | {shown(a)} |" for a, n in ordered]
    return "\n".join(lines) + "\n"


def shown(answer: Any) -> str:
    """An answer in Markdown, for a table."""
    try:
        ast.parse(answer.text)
    except SyntaxError:
        is_code = False
    else:
        is_code = answer.kind == "write"
    if is_code:
        return _code(answer.text)
    text, end = "", 0
    for match in CODE.finditer(answer.text):
        text += _escaped(answer.text[end : match.start()]) + _code(match[0])
        end = match.end()
    return text + _escaped(answer.text[end:])


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


def _keywords() -> str:
    """The arguments of PyTorch's classes that are taken, and as what."""
    lines = [
        "## Arguments of classes\n",
        "Layers, optimizers, schedulers and loaders take these keywords of PyTorch's, where they "
        "have what they stand for. Parameters of an optimizer may come first, as they do there.\n",
        "| there | here |\n| --- | --- |",
    ]
    for keyword, meanings in KEYWORDS.items():
        lines.append(f"| {_code(keyword)} | {'; or '.join(map(_taken, meanings))} |")
    return "\n".join(lines) + "\n"


def _taken(meaning: Meaning) -> str:
    return ", ".join(map(_code, meaning.targets)) or _escaped(meaning.note)
