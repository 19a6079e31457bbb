"""The page of the spellings, from the table; ``python tools/site/spelling_page.py`` prints it."""

from __future__ import annotations

import inspect

import autograd_engine as paddle
from autograd_engine.core.names.keywords import KEYWORDS, RENAMED
from autograd_engine.nn import names as of_networks
from autograd_engine.tensor.spelling import names
from autograd_engine.tensor.spelling.forms import FORMS
from autograd_engine.tensor.spelling.rows import ROWS

HEAD = """\
# Spellings

Paddle 3.3 takes the names of torch beside its own, and so do these functions. What is declared,
and what an editor completes, are Paddle's names; each call below means the same as one with those.
Where both a name and its other spelling are given, and where an argument is known to nobody, the
error says so, and which line to write.

- **Sizes** may be an argument each: `paddle.zeros(2, 3)`, `x.reshape(4, -1)`, `x.expand(3, 4)`.
- **`out=`** takes the result of any function that gives tensors, as an in-place change would:
  gradients flow from it. It has the shape and dtype of the result, or no elements; of several
  results it is a tuple. In a program the result is assigned to it.
- **`requires_grad=`, `device=`, `pin_memory=`** are taken by {creating}.
- **`inplace=True`** of a function writes its result into the first argument.
"""


def table(title: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| {title} | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)]
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    return f"`{text}`"


def page() -> str:
    everywhere = [(code(k), " or ".join(map(code, v))) for k, v in RENAMED.items()]
    rows = []
    for name, row in ROWS.items():
        said = [(inspect.getdoc(FORMS[row.form]) or "").replace("``", "`")] if row.form else []
        if row.order:
            said.append(f"also in the order `{row.order.replace(' ', ', ')}`")
        rows.append((code(name), "; ".join(said)))
    functions = [
        (code(f"paddle.{n}"), code(f"paddle.{getattr(names, n).__name__}")) for n in names.__all__
    ]
    layers = [
        (code(f"nn.{n}"), code(f"nn.{getattr(of_networks, n).__name__}"))
        for n in of_networks.__all__
    ]
    (made,) = (m.of for m in KEYWORDS["requires_grad"] if m.finish)
    creating = ", ".join(code(n) for n in made if hasattr(paddle, n))
    return "\n".join(
        [
            HEAD.format(creating=creating),
            "## Arguments of every function\n",
            table("written", everywhere),
            "## Functions that take more\n",
            table("of", rows),
            "## Other names of functions\n",
            table("written", functions),
            "## Other names of layers\n",
            table("written", layers),
        ]
    )


if __name__ == "__main__":
    print(page(), end="")
