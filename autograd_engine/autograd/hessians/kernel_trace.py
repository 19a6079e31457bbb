"""A reader of the table that computes nothing: it writes down which kernels would run, in order.

Rules never look at values, so what a pass computes depends on shapes, dtypes and attributes alone.
Run once in this namespace, on `Value` objects in place of arrays, a pass becomes a list of lines;
`compiled` makes a function of them, which runs the same kernels on other arrays without any of the
work of finding out which. It serves `batched` as a base like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.core.dims import Dim
from autograd_engine.core.locations import run_generated
from autograd_engine.core.operand import OPERATORS, REFLECTED
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.namespace import Namespace
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.scattered_cotangent import Scattered

__all__ = ["Line", "Lines", "Value", "compiled"]


class Value:
    """What will be an array: the result of a line, or given to the function."""

    __slots__ = ("dtype", "index", "shape", "xp")

    def __init__(self, xp: Lines, shape: Any, dtype: np.dtype[Any]) -> None:
        if any(isinstance(d, Dim) for d in shape):
            raise TypeError("a size depends on values, which are not known while lines are written")
        self.xp = xp
        self.shape: tuple[int, ...] = shape
        self.dtype = dtype
        self.index = xp.count
        xp.count += 1

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def spec(self) -> Spec:
        return Spec(self.shape, self.dtype)

    __hash__ = object.__hash__


def _operator(name: str, reflected: bool) -> Callable[..., Any]:
    def apply(self: Value, *others: Any) -> Any:
        if any(o.__class__ not in _OPERANDS for o in others):
            return NotImplemented
        operands = (*others, self) if reflected else (self, *others)
        return getattr(self.xp, name)(*operands)

    return apply


_OPERANDS: Final = (Value, float, int, bool)
for _dunder, _name in (*OPERATORS.items(), *REFLECTED.items()):
    setattr(Value, _dunder, _operator(_name, _dunder in REFLECTED))


class Line:
    """One call of an operation."""

    __slots__ = ("attrs", "op", "operands", "results")

    def __init__(
        self, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any], results: list[Value]
    ) -> None:
        self.op = op
        self.operands = operands
        self.attrs = attrs
        self.results = results


class Lines(Namespace):
    """The operations of the table, each of which appends a line."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.count = 0
        self.constants: dict[int, Any] = {}

    def __getitem__(self, op: OpDef) -> Callable[..., Any]:
        """The function of `op`, bound here and not at `op`, which lives longer."""
        if REGISTRY.get(op.name) is op:
            found: Callable[..., Any] = getattr(self, op.name)
            return found
        return self.bind(op)

    def given(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Value:
        """A value that the function takes."""
        return Value(self, tuple(shape), dtype)

    def constant(self, array: Any) -> Value:
        """An array that is the same each time; nobody writes to it."""
        value = self.given(array.shape, array.dtype)
        self.constants[value.index] = array
        return value

    def bind(self, op: OpDef) -> Callable[..., Any]:
        def call(*operands: Any, **attrs: Any) -> Any:
            full = attrs if attrs.keys() == op.attrs.keys() else op.complete_attrs(attrs)
            if _known(op) == "reshape_like" and tuple(operands[1].shape) == operands[0].shape:
                return operands[0]
            known = [
                o.dtype for k, o in enumerate(operands) if hasattr(o, "dtype") and op.reads_value(k)
            ]
            specs = [
                Spec(tuple(o.shape), o.dtype) if hasattr(o, "dtype") else Spec((), _weak(o, known))
                for o in operands
            ]
            likes = [
                o if op.reads_value(k) or not isinstance(o, Value) else o.spec
                for k, o in enumerate(operands)
            ]
            results = [Value(self, s.shape, s.dtype) for s in op.infer_tuple(specs, full)]
            self.lines.append(Line(op, likes, full, results))
            return tuple(results) if op.multiple else results[0]

        return call

    def project(self, g: Any, like: Any) -> Any:
        if g is None or g.shape == like.shape:
            return g
        return self.sum_like(g, like)

    def scatter(self, name: str, *operands: Any, **attrs: Any) -> Any:
        return Scattered.of(REGISTRY[name], self, operands, attrs)


def _weak(number: Any, known: list[Any]) -> np.dtype[Any]:
    """The dtype that a Python number takes beside arrays."""
    floats = [d for d in known if d.kind == "f"]
    if floats:
        widest: np.dtype[Any] = max(floats, key=lambda d: d.itemsize)
        return widest
    return known[0] if known and isinstance(number, int) else np.dtype(np.float64)


# --- as a function

_SYMBOLS: Final = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
_UFUNCS: Final = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "negative": np.negative,
}
_LARGE: Final = 1 << 10
_LARGEST: Final = 1 << 20


def compiled(
    label: str, lines: Lines, given: Sequence[Value], wanted: Sequence[Value]
) -> tuple[Callable[[Sequence[Any]], tuple[Any, ...]], str]:
    """A function of a sequence of arrays, one for each of `given`; and the name of its text.

    Lines that nothing wanted depends on are left out, what is computed twice is computed once, and
    what is the same each time is computed here. A result is written over an operand where that is
    a large array of the function's own, not read again, of the same shape and dtype.
    """
    constants = dict(lines.constants)
    kept, renamed = _simplified(lines.lines, constants)
    wanted = [renamed.get(v.index, v) for v in wanted]
    kept, needed = _needed(kept, wanted)
    scope: dict[str, Any] = {f"v{i}": a for i, a in constants.items() if i in needed}
    last: dict[int, int] = {}
    for k, line in enumerate(kept):
        for o in line.operands:
            if isinstance(o, Value):
                last[o.index] = k
    own = _own(kept, wanted)
    parameters = [f"v{v.index}" if v.index in needed else "_" for v in given]
    text = [f"def {label}(given):"]
    if given:
        text.append(f"    {', '.join(parameters)}, = given")
    keep = {v.index for v in wanted} | constants.keys()
    for k, line in enumerate(kept):
        text += ["    " + part for part in _written(line, k, last, own, scope)]
        dying = {o.index for o in line.operands if isinstance(o, Value) and last[o.index] == k}
        if names := [f"v{i}" for i in sorted(dying - keep)]:
            text.append(f"    del {', '.join(names)}")
    # What others hold is handed out as a copy: whoever gets a result may write to it.
    held = constants.keys() | {v.index for v in given}
    results = "".join(f"v{v.index}{'.copy()' if v.index in held else ''}, " for v in wanted)
    text.append(f"    return ({results})")
    filename = run_generated("\n".join(text) + "\n", label, scope)
    function: Callable[[Sequence[Any]], tuple[Any, ...]] = scope[label]
    return function, filename


def _simplified(
    lines: Sequence[Line], constants: dict[int, Any]
) -> tuple[list[Line], dict[int, Value]]:
    """Without lines that repeat another or have constant operands only; what stands for what."""
    kept: list[Line] = []
    renamed: dict[int, Value] = {}
    known: dict[Any, list[Value]] = {}
    for line in lines:
        operands = [renamed.get(o.index, o) if isinstance(o, Value) else o for o in line.operands]
        same = _unchanged(line, operands, constants)
        if same is not None:
            renamed[line.results[0].index] = same
            continue
        key = (
            line.op,
            tuple(
                [o if isinstance(o, (Value, Spec)) else (type(o), o or repr(o)) for o in operands]
            ),
            repr(line.attrs),
        )
        earlier = known.get(key)
        if earlier is not None and not line.op.random:
            renamed.update(zip([r.index for r in line.results], earlier, strict=True))
            continue
        known[key] = line.results
        line = Line(line.op, operands, line.attrs, line.results)
        if not _folded(line, constants):
            kept.append(line)
    return kept, renamed


def _unchanged(line: Line, operands: Sequence[Any], constants: dict[int, Any]) -> Value | None:
    """The operand that the line gives back as it is: a copy, or a product with ones."""
    if _known(line.op) == "assign":
        same: Value = operands[0]
        return same
    if _known(line.op) != "multiply":
        return None
    for same, other in (operands, operands[::-1]):
        ones = constants.get(other.index) if isinstance(other, Value) else None
        if (
            ones is not None
            and isinstance(same, Value)
            and same.spec == line.results[0].spec
            and (ones == 1).all()
        ):
            return same
    return None


def _folded(line: Line, constants: dict[int, Any]) -> bool:
    """Run a line whose operands are all constants, unless its results are large."""
    if line.op.random or not all(
        o.index in constants for o in line.operands if isinstance(o, Value)
    ):
        return False
    if any(np.prod(r.shape, dtype=np.int64) > _LARGEST for r in line.results):
        return False
    operands = [constants[o.index] if isinstance(o, Value) else o for o in line.operands]
    out = line.op.kernel(*operands, **line.attrs)
    for r, o in zip(line.results, out if line.op.multiple else (out,), strict=True):
        constants[r.index] = np.asarray(o)
    return True


def _needed(lines: Sequence[Line], wanted: Sequence[Value]) -> tuple[list[Line], set[int]]:
    """The lines that something wanted depends on, and the values that they read."""
    needed = {v.index for v in wanted}
    kept: list[Line] = []
    for line in reversed(lines):
        if any(r.index in needed for r in line.results):
            kept.append(line)
            needed.update(o.index for o in line.operands if isinstance(o, Value))
    kept.reverse()
    return kept, needed


def _own(kept: list[Line], wanted: Sequence[Value]) -> set[int]:
    """Large arrays that are made by a line for itself, and that no other shares memory with."""
    own = {
        r.index
        for line in kept
        if _known(line.op) in _UFUNCS or _known(line.op) == "matmul"
        for r in line.results
        if np.prod(r.shape, dtype=np.int64) >= _LARGE
    }
    for line in kept:
        if line.op.result == "view":
            own -= {o.index for o in line.operands if isinstance(o, Value)}
    return own - {v.index for v in wanted}


def _known(op: OpDef) -> str:
    """The name of an operation of the table; one of the user's may be called the same."""
    return op.name if REGISTRY.get(op.name) is op else ""


def _written(
    line: Line, k: int, last: dict[int, int], own: set[int], scope: dict[str, Any]
) -> list[str]:
    """The text of one line. What it says in NumPy's words is what the kernel does."""
    op, name = line.op, _known(line.op)
    arguments = [_argument(o, scope) for o in line.operands]
    out = ", ".join(f"v{r.index}" for r in line.results)
    if op.variadic_output:
        out += ","
    result = line.results[0]
    if name in ("reshape_like", "unsqueeze"):
        return [f"{out} = {arguments[0]}.reshape({result.shape!r})"]
    if name == "getitem":
        return [f"{out} = {arguments[0]}[{_constant(line.attrs['key'], scope)}]"]
    if name == "transpose":
        return [f"{out} = {arguments[0]}.transpose({line.attrs['perm']!r})"]
    if name == "sum" and (rows := _lead_axes(line)):
        # BLAS adds up rows of a stack several times as fast as a reduction does.
        n, width = result.shape[0], int(np.prod(result.shape[1:], dtype=np.int64))
        ones = _constant(np.ones(rows, result.dtype), scope)
        return [
            f"{out} = ({ones} @ {arguments[0]}.reshape({n}, {rows}, {width}))"
            f".reshape({result.shape!r})"
        ]
    if name == "unslice_add" and _is_zero(line.operands[0], scope):
        scope["_zeros"], dtype = np.zeros, _constant(result.dtype, scope)
        keys = [_constant(key, scope) for key in line.attrs["keys"]]
        return [
            f"{out} = _zeros({result.shape!r}, {dtype})",
            f"{out}[{keys[0]}] = {arguments[1]}",
            *[f"{out}[{key}] += {x}" for key, x in zip(keys[1:], arguments[2:], strict=True)],
        ]
    if name in _UFUNCS:
        for o in line.operands:
            if (
                isinstance(o, Value)
                and o.index in own
                and last[o.index] == k
                and (o.shape == result.shape and o.dtype == result.dtype)
            ):
                scope[f"_{name}"] = _UFUNCS[name]
                return [f"{out} = _{name}({', '.join(arguments)}, out=v{o.index})"]
        if name in _SYMBOLS:
            return [f"{out} = {f' {_SYMBOLS[name]} '.join(arguments)}"]
        return [f"{out} = -{arguments[0]}"]
    kernel = f"_{name}"
    if name:
        scope[kernel] = op.kernel
    else:
        kernel = _constant(op.kernel, scope)
    attrs = [f"{key}={_constant(value, scope)}" for key, value in line.attrs.items()]
    return [f"{out} = {kernel}({', '.join([*arguments, *attrs])})"]


def _lead_axes(line: Line) -> int:
    """How many rows of a stack a sum adds up: those of all axes between the first and the last."""
    (x,) = line.operands
    axis = line.attrs["axis"]
    fits = (
        isinstance(x, Value)
        and x.dtype.char in "fd"
        and not line.attrs["keepdims"]
        and axis == tuple(range(1, len(axis) + 1))
        and 0 < len(axis) < x.ndim - 1
        and np.prod(x.shape, dtype=np.int64) >= _LARGE
    )
    return int(np.prod(x.shape[1 : len(axis) + 1], dtype=np.int64)) if fits else 0


def _is_zero(operand: Any, scope: dict[str, Any]) -> bool:
    array = scope.get(f"v{operand.index}") if isinstance(operand, Value) else None
    return array is not None and array.dtype.char in "fd" and not array.any()


def _argument(operand: Any, scope: dict[str, Any]) -> str:
    return f"v{operand.index}" if isinstance(operand, Value) else _constant(operand, scope)


def _constant(value: Any, scope: dict[str, Any]) -> str:
    if value is None or value.__class__ in (bool, int, str):
        return repr(value)
    name = f"c{len(scope)}"
    scope[name] = value
    return name
