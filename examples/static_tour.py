"""A tour of static programs, in one file: text that is completed, accounted for, and then run.

Sections 1 to 5 are self-contained; section 6 does the same with the engine, and adds a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

# --- 1. The table. A row: the text of an operation in terms of its operands, and a rule that maps
# the cotangent `g` of its result `y` to those of its operands.

Row = tuple[str, Callable[..., tuple[Any, ...]]]

TABLE: dict[str, Row] = {
    "add": ("{} + {}", lambda g, y, a, b: (g, g)),
    "sub": ("{} - {}", lambda g, y, a, b: (g, 0.0 - g)),
    "mul": ("{} * {}", lambda g, y, a, b: (g * b, g * a)),
    "tanh": ("np.tanh({})", lambda g, y, a: (g * (1.0 - y * y),)),
    "ones_like": ("np.ones_like({})", lambda g, y, a: (0.0 * g,)),
}

# --- 2. A program is a list of lines, and a Variable is the name of one. Operators append a line
# and compute nothing.


class Line(NamedTuple):
    out: str
    op: str
    operands: tuple[Any, ...]

    def read(self) -> list[str]:
        return [v.name for v in self.operands if isinstance(v, Variable)]


class Program:
    def __init__(self, *inputs: str) -> None:
        self.inputs = [Variable(self, name) for name in inputs]
        self.lines: list[Line] = []

    def op(self, op: str, *operands: Any) -> Variable:
        line = Line(f"v{len(self.lines)}", op, operands)
        self.lines.append(line)
        return Variable(self, line.out)


class Variable(NamedTuple):
    program: Program
    name: str

    def __add__(self, other: Any) -> Any:
        return self.program.op("add", self, other)

    def __mul__(self, other: Any) -> Any:  # type: ignore[override]
        return self.program.op("mul", self, other)

    def __rmul__(self, other: Any) -> Any:  # type: ignore[override]
        return self.program.op("mul", other, self)

    def __rsub__(self, other: Any) -> Any:
        return self.program.op("sub", other, self)


def tanh(x: Variable) -> Any:
    return x.program.op("tanh", x)


def chain(x: Any, w: Any, tanh: Callable[[Any], Any], steps: int = 16) -> list[Any]:
    """What is differentiated here: the values of a recurrence."""
    values = [x]
    for _ in range(steps):
        values.append(tanh(values[-1] * w))
    return values[1:]


# --- 3. The backward half: one walk over the lines, the last one first, which appends what the
# rules write. It uses operators only, so it can be applied to what it wrote: every order.
#
# With checkpoints, a rule that asks for a value that is not kept gets a copy, which is computed
# right before. Past a checkpoint, what was copied is forgotten, and so its memory is free.


def backward(y: Variable, x: Variable, keep: set[str] | None = None) -> Any:
    program = y.program
    lines = list(program.lines)
    made = {line.out: line for line in lines}
    cotangents: dict[str, Any] = {y.name: program.op("ones_like", y)}
    copies: dict[str, Any] = {}

    def value(v: Any) -> Any:
        if keep is None or not isinstance(v, Variable) or v.name in keep or v.name not in made:
            return v
        if v.name not in copies:
            line = made[v.name]
            copies[v.name] = program.op(line.op, *map(value, line.operands))
        return copies[v.name]

    for line in reversed(lines):
        if line.out not in cotangents or line.out == x.name:
            continue
        if keep is not None and line.out in keep:
            copies.clear()
        g = cotangents.pop(line.out)
        result = value(Variable(program, line.out))
        gradients = TABLE[line.op][1](g, result, *map(value, line.operands))
        for v, gv in zip(line.operands, gradients, strict=True):
            if isinstance(v, Variable):
                cotangents[v.name] = cotangents[v.name] + gv if v.name in cotangents else gv
    return cotangents[x.name]


# --- 4. Running: the lines that the fetches need become a function, in which a value is deleted
# after the last line that reads it.


def needed(program: Program, fetches: Sequence[Variable]) -> list[tuple[Line, list[str]]]:
    """Lines with what can be deleted after each."""
    wanted, kept = {v.name for v in fetches}, []
    for line in reversed(program.lines):
        if line.out in wanted:
            dead = sorted(set(line.read()) - wanted)
            wanted |= set(line.read())
            kept.append((line, dead))
    return kept[::-1]


def python(program: Program, fetches: Sequence[Variable]) -> str:
    text = [f"def program({', '.join(v.name for v in program.inputs)}):"]
    for line, dead in needed(program, fetches):
        operands = (v.name if isinstance(v, Variable) else repr(v) for v in line.operands)
        text.append(f"    {line.out} = {TABLE[line.op][0].format(*operands)}")
        text += [f"    del {', '.join(dead)}"] if dead else []
    return "\n".join([*text, f"    return {', '.join(v.name for v in fetches)},"])


def run(program: Program, fetches: Sequence[Variable], *arrays: Any) -> Any:
    scope: dict[str, Any] = {"np": np}
    exec(python(program, fetches), scope)
    return scope["program"](*arrays)


# --- 5. Foresight: the same text, counted instead of run.


def peak(program: Program, fetches: Sequence[Variable]) -> int:
    """How many arrays there are at most."""
    most = now = len(program.inputs)
    for _, dead in needed(program, fetches):
        now += 1
        most = max(most, now)
        now -= len([name for name in dead if name.startswith("v")])
    return most


def from_nothing(*data: Any) -> list[Any]:
    """(gradient, arrays at the peak), without checkpoints and with some."""
    found = []
    for every in (None, 4):
        program = Program("x", "w")
        x, w = program.inputs
        values = chain(x, w, tanh)
        keep = None if every is None else {v.name for v in values[every - 1 :: every]}
        fetches = [backward(values[-1], x, keep)]
        found.append((*run(program, fetches, *data), peak(program, fetches)))
    small = Program("x", "w")
    x, w = small.inputs
    print(python(small, [backward(tanh(x * w), x)]))
    return found


# --- 6. The same with the engine: names, shapes, sizes that are not known, updates, and blocks
# inside of operators. A loop is an operator; its gradient is one too.


def looped(paddle: Any, x: Any, w: Any) -> Any:
    def body(k: Any, h: Any) -> Any:
        return k + 1, paddle.tanh(h * w)

    start = [paddle.zeros([], "int64"), x]
    return paddle.static.nn.while_loop(lambda k, h: k < 16, body, start)[1]


def with_the_engine(*data: Any) -> list[Any]:
    """(kind, gradient, arrays at the peak)"""
    import autograd_engine as paddle

    paddle.set_flags({"FLAGS_compiled_kernels": False})  # with the tanh of NumPy, as above
    found = []
    feed = dict(zip("xw", data, strict=True))
    for kind in ("lines", "checkpoints", "loop"):
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            x, w = (paddle.static.data(name, data[0].shape, "float64") for name in "xw")
            x.stop_gradient = False
            values = [looped(paddle, x, w)] if kind == "loop" else chain(x, w, paddle.tanh)
            kept = values[3::4] if kind == "checkpoints" else None
            total = paddle.sum(values[-1])
            ((_, fetch),) = paddle.static.append_backward(total, [x], checkpoints=kept)
        report = paddle.static.memory_report(program, feed, [fetch])
        (gradient,) = paddle.static.Executor().run(program, feed, [fetch])
        bytes_ = report.peak.at(trips=16) if kind == "loop" else report.peak_bytes
        found.append((kind, gradient, bytes_ / data[0].nbytes))
    return found


def main() -> None:
    rng = np.random.default_rng(0)
    data = rng.normal(size=(2, 200_000))
    (gradient, all_kept), (again, some_kept) = from_nothing(*data)
    print(f"from nothing: {all_kept} arrays at the peak, {some_kept} with checkpoints")
    assert np.array_equal(gradient, again)
    for kind, found, arrays in with_the_engine(*data):
        print(f"with the engine, {kind}: {arrays:.1f} arrays at the peak")
        assert np.array_equal(gradient, found)
    print("equal, bit for bit")


if __name__ == "__main__":
    main()
