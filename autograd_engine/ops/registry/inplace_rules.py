"""Rules on arrays: on large ones one loop in C, or ufuncs that write over what is done with.

NumPy makes a new array for each step of a formula, ``g * (1.0 - out * out)`` three of them, and on
arrays that do not fit the cache, memory is what takes the time. Where there is C for the rule
(`compiler.kernels`), all of it is one loop with the same bits. Else, a rule says what it computes
to whoever runs it, so it is run once on placeholders that take note of its steps; from these a
function is written for ndarrays of one shape and dtype. For `tanh`::

    def tanh_large(g, out):
        t0 = multiply(out, out)
        t1 = subtract(1.0, t0, t0)
        t2 = multiply(g, t1, t1)
        return t2

Nothing that the rule is given is written to, and the bits are the same. So is the order of elements
in memory, on which the bits of a later sum depend: operands that lie in different orders take the
rule itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from autograd_engine.core.dtypes import COMPLEX, FLOAT32, FLOAT64
from autograd_engine.core.locations import run_generated
from autograd_engine.core.spec import Array
from autograd_engine.ops.kernels.compiled import ROW, compiled
from autograd_engine.ops.kernels.elementwise import ufunc_of
from autograd_engine.ops.registry.compiled_rows import are_numbers
from autograd_engine.ops.registry.cores import on_all_cores
from autograd_engine.ops.registry.namespace import raw_wide
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef, Rule
from autograd_engine.ops.registry.pullback import Pullback
from autograd_engine.ops.registry.stand_ins import PYTHON_UFUNCS, bind_operators

__all__ = ["one_step", "rule_on_arrays"]


_WORTH: Final = 1 << 14  # elements: from here on it pays to write over what is done with

# Of the ufuncs that operators are: the row, and how it is written.
_WRITTEN: Final = {
    np.add: ("add", "{} + {}"),
    np.subtract: ("subtract", "{} - {}"),
    np.multiply: ("multiply", "{} * {}"),
    np.divide: ("divide", "{} / {}"),
    np.negative: ("negative", "-{}"),
}

_Step: TypeAlias = tuple[np.ufunc, tuple[Any, ...]]
_Traced: TypeAlias = tuple[list[_Step], str]  # and which of their results is that of the rule


class _Untraceable(Exception):
    """A rule does something else than apply ufuncs to arrays of one shape."""


class _Steps:
    """What a rule did, and the namespace that it did it in."""

    def __init__(self, dtype: np.dtype[Any] | None, tests: bool) -> None:
        self.steps: list[_Step] = []
        self.dtype = dtype
        self.tests = tests

    def apply(self, op: OpDef, *operands: Any) -> _Value:
        # What has no tangent, a comparison say, has another dtype.
        ufunc = ufunc_of(op.kernel)
        if ufunc is None and (op.tangent or self.tests):
            ufunc = PYTHON_UFUNCS.get(op.kernel)
        if ufunc is None or op.casts or op.attrs:
            raise _Untraceable
        self.steps.append((ufunc, operands))
        return _Value(f"t{len(self.steps) - 1}", self, made=True)

    def __getattr__(self, name: str) -> Callable[..., _Value]:
        if name not in REGISTRY:
            raise _Untraceable
        return lambda *operands, **attrs: self.apply(REGISTRY[name], *operands)


class _Value:
    """An array that a rule is given, or has made."""

    def __init__(self, name: str, steps: _Steps, *, made: bool = False) -> None:
        self.name = name
        self.steps = steps
        self.made = made

    @property
    def dtype(self) -> np.dtype[Any]:
        if self.steps.dtype is None:
            raise _Untraceable
        return self.steps.dtype

    def __getattr__(self, name: str) -> Any:
        raise _Untraceable


bind_operators(_Value, lambda self, name, operands: self.steps.apply(REGISTRY[name], *operands))


def rule_on_arrays(
    op: OpDef, name: str, rule: Rule
) -> tuple[Callable[..., Any] | None, Callable[..., Any] | None]:
    """The rule of the input `name` for ndarrays, large and small; None where nothing is gained.

    Parameters
    ----------
    op : OpDef
    name : str
    rule : Rule

    Returns
    -------
    callable or None
        ``large(g, *saved, **attrs)``.
    callable or None
        ``small(xp, g, *saved)``.
    """
    if op.tangent != "elementwise" or rule.group or REGISTRY.get(op.name) is not op:
        return None, None
    steps = _real_steps(rule)
    small = _small(op, name, rule, steps or _real_steps(rule, tests=True))
    return _large(op, name, rule, steps), small


def _large(op: OpDef, name: str, rule: Rule, steps: _Traced | None) -> Callable[..., Any] | None:
    if steps is None:
        in_order = _as_it_is(rule)
    elif len(steps[0]) < 2:
        return None
    else:
        in_order = _over_temporaries(f"{op.name}_{name}", rule, *steps)
    asked, attrs = f"{ROW}{op.name}.{name}", rule.attrs
    # NumPy's own way to write over temporaries swaps factors, which complex products notice.
    complex_too = steps is None or _steps_of(rule) is not None

    def large(g: Array, *saved: Array, **given: Any) -> Any:
        fused = compiled(asked, g)
        numbers = [given[a] for a in attrs]
        if fused is not None and _alike(g, *saved) and are_numbers(numbers):
            return fused(g, *saved, *numbers)
        worth = fused is None and g.size >= _WORTH and (complex_too or g.dtype not in COMPLEX)
        if worth and _alike(g, *saved):
            return in_order(g, *saved, **given)
        return rule.fn(raw_wide, g, *saved, **given)

    return large


def _small(op: OpDef, name: str, rule: Rule, steps: _Traced | None) -> Callable[..., Any] | None:
    """With arrays of no dimensions for its numbers, which NumPy meets in half the time.

    What comes out is the same, as numbers take the dtype of the array that they meet.
    """
    if steps is None or op.casts or op.untyped or hasattr(rule.fn, "__wrapped__"):
        return None  # another dtype, or somebody watches the calls of the rule
    numbers: dict[str, str] = {}
    truths: set[str] = set()
    given = ", ".join(["xp", *_given(rule)])
    lines = []
    for k, (ufunc, operands) in enumerate(steps[0]):
        arguments = [
            v.name if _is_array(v) else numbers.setdefault(repr(v), f"n{len(numbers)}")
            for v in operands
        ]
        if not all(_is_array(v) or (type(v) is float and math.isfinite(v)) for v in operands):
            return None
        if not truths.isdisjoint(arguments) and not all(map(_is_array, operands)):
            return None  # a number beside truth values is of float64
        if any(kinds[0] == "f" and kinds[-1] == "?" for kinds in ufunc.types):
            truths.add(f"t{k}")
        form = _WRITTEN[ufunc][1] if ufunc in _WRITTEN else f"{ufunc.__name__}({{}})"
        lines.append(f"t{k} = {_filled(form, arguments)}")
    if not numbers:
        return None
    label = f"{op.name}_{name}_small"
    apart = ["numbers is None", *[f"given_{v}.dtype is not dtype" for v in rule.saves]]
    head = [
        f"def {label}({given}):",
        "dtype = given_g.dtype",
        "numbers = known.get(dtype)",
        f"if {' or '.join(apart)}: return rule({given})",
        f"{', '.join(numbers.values())}, = numbers",
    ]
    scope: dict[str, Any] = {
        "known": {d: [np.array(float(v), d) for v in numbers] for d in (FLOAT32, FLOAT64)},
        "rule": rule.fn,
    }
    scope.update((ufunc.__name__, ufunc) for ufunc, _ in steps[0])
    run_generated("\n    ".join([*head, *lines, f"return {steps[1]}"]) + "\n", label, scope)
    small: Callable[..., Any] = scope[label]
    return small


def _filled(form: str, arguments: list[str]) -> str:
    return form.format(*arguments) if form.count("{}") > 1 else form.format(", ".join(arguments))


def _as_it_is(rule: Rule) -> Callable[..., Any]:
    return lambda *operands, **attrs: rule.fn(raw_wide, *operands, **attrs)


def _real_steps(rule: Rule, *, tests: bool = False) -> _Traced | None:
    """Those on floats, if they are the same whatever floats these are."""
    narrow, wide = (_steps_of(rule, dtype, tests=tests) for dtype in (FLOAT32, FLOAT64))
    if narrow is None or wide is None or narrow[1] != wide[1]:
        return None
    return wide if _written(*narrow) == _written(*wide) else None


def _steps_of(
    rule: Rule, dtype: np.dtype[Any] | None = None, *, tests: bool = False
) -> _Traced | None:
    """The ufuncs that a rule applies, and which of their results is its own.

    To arrays of `dtype`; without one, to those of any: None if the rule asks which it is. With
    `tests` some may be comparisons.
    """
    if rule.attrs:
        return None
    steps = _Steps(dtype, tests)
    try:
        result = rule.fn(steps, *[_Value(name, steps) for name in _given(rule)])
    except _Untraceable:
        return None
    return (steps.steps, result.name) if isinstance(result, _Value) else None


def _given(rule: Rule) -> list[str]:
    """Named apart from the temporaries, whatever the operation calls its inputs."""
    return [f"given_{v}" for v in ("g", *rule.saves)]


def _over_temporaries(name: str, rule: Rule, steps: list[_Step], result: str) -> Callable[..., Any]:
    """A function of these ufuncs, which write over what is done with."""
    lines = [f"def {name}_large({', '.join(_given(rule))}):", *_written(steps, result)]
    source = "\n    ".join([*lines, f"return {result}"])
    scope: dict[str, Any] = {"inf": math.inf, "nan": math.nan}
    scope.update((ufunc.__name__, ufunc) for ufunc, _ in steps)
    run_generated(source + "\n", f"{name}_large", scope)
    found: Callable[..., Any] = scope[f"{name}_large"]
    return found


def _written(steps: list[_Step], result: str) -> list[str]:
    """A line for each step. It writes over an operand that it is the last to read."""
    last = {v.name: k for k, (_, operands) in enumerate(steps) for v in operands if _is_array(v)}
    lines = []
    for k, (ufunc, operands) in enumerate(steps):
        arguments = [v.name if _is_array(v) else repr(v) for v in operands]
        done = [
            v.name
            for v in operands
            if _is_array(v) and v.made and last[v.name] == k and v.name != result
        ]
        out = [done[0]] if done else []
        lines.append(f"t{k} = {ufunc.__name__}({', '.join([*arguments, *out])})")
    return lines


def _alike(g: Array, *saved: Array) -> bool:
    """Whether each step has the shape, the dtype and the order in memory of the values before it.

    A cotangent that is one number, as that of a sum is, takes the order of what it meets.
    """
    first = saved[0] if saved else g
    return (
        first.flags.c_contiguous
        and (g.strides == first.strides or not any(g.strides))
        and all(
            v.shape == g.shape and v.dtype is g.dtype and v.strides == first.strides for v in saved
        )
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, _Value)


def one_step(
    op: OpDef, rule: Rule
) -> tuple[str, tuple[str, ...], Callable[..., Any] | None] | None:
    """What a rule of one step of arithmetic is as text; None of any other.

    Returns
    -------
    (str, tuple of str, callable or None)
        The step, with a place for each operand; these, ``g`` and what the rule saves, by name; and
        a function of them that does it on all cores, for large arrays.
    """
    if not op.elementwise or op.tangent is None or op.multiple or REGISTRY.get(op.name) is not op:
        return None
    if hasattr(rule.fn, "__wrapped__"):  # somebody watches its calls
        return None
    found = _steps_of(rule)
    if found is None:
        return None
    steps, _ = found
    if len(steps) != 1:
        return None
    ((ufunc, operands),) = steps
    if ufunc not in _WRITTEN or not all(map(_is_array, operands)):
        return None
    row, form = _WRITTEN[ufunc]
    names = tuple([v.name.removeprefix("given_") for v in operands])
    return form, names, on_all_cores(REGISTRY[row])


Pullback.one_step = staticmethod(one_step)
Pullback.on_arrays = staticmethod(rule_on_arrays)
