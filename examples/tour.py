"""A tour of the idea, in one file: a table of operations, and readers of that table.

Sections 1 to 4 are self-contained; section 5 does the same with the engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

# --- 1. The table. A row: how to compute an operation, and for each input a rule that maps the
# cotangent `g` of the output to the cotangent of that input. Rules use operators and `xp.<name>`
# only, so what a rule does is up to what it is given: arrays, Tensors or Variables.

Row = tuple[Callable[..., Any], tuple[Callable[..., Any], ...]]

TABLE: dict[str, Row] = {
    "add": (np.add, (lambda xp, g, out, x, y: g, lambda xp, g, out, x, y: g)),
    "mul": (np.multiply, (lambda xp, g, out, x, y: g * y, lambda xp, g, out, x, y: g * x)),
    "neg": (np.negative, (lambda xp, g, out, x: -g,)),
    "sin": (np.sin, (lambda xp, g, out, x: g * xp.cos(x),)),
    "cos": (np.cos, (lambda xp, g, out, x: -(g * xp.sin(x)),)),
    "tanh": (np.tanh, (lambda xp, g, out, x: g * (1.0 + -(out * out)),)),
}


class Raw:
    """The namespace of arrays: operations compute, and nothing is remembered."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return TABLE[name][0]


class Recording:
    """The namespace of values with a history: an operation asks its first operand how."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda x, *rest: x.apply(name, x, *rest)


raw, ops = Raw(), Recording()

# --- 2. A value with a history: which operation made it, from what. Both readers share it.

_age = itertools.count()


class Value:
    """Operators are defined once, for Tensors and Variables."""

    op: str | None = None
    inputs: tuple[Value, ...] = ()

    def __init__(self) -> None:
        self.age = next(_age)

    def apply(self, name: str, *operands: Any) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self.apply("add", self, other)

    def __mul__(self, other: Any) -> Any:
        return self.apply("mul", self, other)

    def __neg__(self) -> Any:
        return self.apply("neg", self)

    def __radd__(self, other: Any) -> Any:
        return self.apply("add", other, self)


class Tensor(Value):
    """The eager reader: `apply` computes at once, and keeps the history."""

    def __init__(self, data: Any) -> None:
        super().__init__()
        self.data = np.asarray(data)

    def apply(self, name: str, *operands: Any) -> Tensor:
        inputs = tuple(x if isinstance(x, Tensor) else Tensor(x) for x in operands)
        out = Tensor(TABLE[name][0](*(x.data for x in inputs)))
        out.op, out.inputs = name, inputs
        return out

    def ones(self) -> Tensor:
        return Tensor(np.ones_like(self.data))


class Variable(Value):
    """The static reader: `apply` appends a line to a program, and computes nothing."""

    def __init__(self, program: list[str], text: str) -> None:
        super().__init__()
        self.program, self.name = program, f"v{len(program)}"
        program.append(f"{self.name} = {text}")

    def apply(self, name: str, *operands: Any) -> Variable:
        p = self.program
        inputs = tuple(x if isinstance(x, Variable) else Variable(p, repr(x)) for x in operands)
        out = Variable(p, f"{name}({', '.join(x.name for x in inputs)})")
        out.op, out.inputs = name, inputs
        return out

    def ones(self) -> Variable:
        return Variable(self.program, f"ones_like({self.name})")


def run(program: list[str], feed: dict[str, Any], fetch: Sequence[Variable]) -> list[Any]:
    """A program is straight-line Python: run it on the kernels of the table."""
    scope = {name: kernel for name, (kernel, _) in TABLE.items()} | {"ones_like": np.ones_like}
    scope["feed"] = {name: np.asarray(value) for name, value in feed.items()}
    exec("\n".join(program), scope)
    return [scope[v.name] for v in fetch]


# --- 3. One reverse walk, newest value first: when a value comes up, all that used it has been
# seen, so its cotangent is complete. There is no other walk, and there are no other rules.


def gradient(y: Any, x: Any, xp: Any = ops) -> Any:
    """dy/dx, as an array with ``xp=raw``, else as a value that can be differentiated again."""

    def read(v: Any) -> Any:
        return v.data if xp is raw else v

    cotangents = {y: read(y.ones())}
    while any(v is not x for v in cotangents):
        v = max((v for v in cotangents if v is not x), key=lambda v: v.age)
        g = cotangents.pop(v)
        for i, rule in zip(v.inputs, TABLE[v.op][1] if v.op else (), strict=True):
            gi = rule(xp, g, read(v), *map(read, v.inputs))
            cotangents[i] = cotangents[i] + gi if i in cotangents else gi
    return cotangents[x]


def f(x: Any) -> Any:
    return ops.sin(x * x) + ops.tanh(x)


# --- 4. The readers agree, in every bit and order, for they read one table.


def first_and_second(f: Callable[[Any], Any], data: Any) -> list[tuple[str, Any, Any]]:
    """(reader, f'(x), f''(x)) of each reader."""
    x = Tensor(data)
    first = gradient(f(x), x)
    second = gradient(first, x)
    rows = [
        ("raw", gradient(f(x), x, xp=raw), gradient(first, x, xp=raw)),
        ("recorded", first.data, second.data),
    ]
    program: list[str] = []
    v = Variable(program, "feed['x']")
    dv = gradient(f(v), v)
    results = run(program, {"x": data}, [dv, gradient(dv, v)])
    print(f"f'' as a program of {len(program)} lines, which ends:", *program[-3:], sep="\n    ")
    return [*rows, ("static", *results)]


# --- 5. The same with the engine: more rows, a tape that saves only what rules name, programs with
# names, shapes and updates; the idea is the same, and so are the bits.


def with_the_engine(data: Any) -> list[tuple[str, Any, Any]]:
    import autograd_engine as paddle

    def f(x: Any) -> Any:
        return paddle.sin(x * x) + paddle.tanh(x)

    x = paddle.to_tensor(data, stop_gradient=False)
    (first,) = paddle.grad(f(x), x, create_graph=True)
    (second,) = paddle.grad(first, x)

    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        v = paddle.static.data("x", [None], "float64")
        v.stop_gradient = False
        (dv,) = paddle.static.gradients(f(v), v)
        (ddv,) = paddle.static.gradients(dv, v)
    results = paddle.static.Executor().run(program, feed={"x": data}, fetch_list=[dv, ddv])
    return [("engine, eager", first.numpy(), second.numpy()), ("engine, static", *results)]


def main() -> None:
    data = np.linspace(-1.5, 1.5, 4)
    rows = first_and_second(f, data) + with_the_engine(data)
    for reader, first, second in rows:
        print(f"{reader:<15} f' = {first}   f'' = {second}")
    _, first, second = rows[0]
    assert all(np.array_equal(a, first) and np.array_equal(b, second) for _, a, b in rows)
    print("equal, bit for bit")


if __name__ == "__main__":
    main()
