"""Elementwise rows and their rules as loops in C, written from the table.

A kernel is a NumPy expression and a rule one in a namespace: traced, as the native backend traces
them, each is a chain of scalar functions. Of a row ``silu`` this makes a file of two ufuncs,
``kernel(x)`` and, for its rule, ``x(g, x)``. Attributes that are numbers are further operands.

A fused rule has the bits of its operations one after the other, which is how a recorded pass runs
it: each step rounds as NumPy does or is the very function that its own row calls on such arrays. A
rule that does anything else is left to the operations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

from autograd_engine.compiler.native import lowering as _rows  # noqa: F401 - registers them
from autograd_engine.compiler.native.c_code.scalars import C_TYPES, SCALARS, expression, literal
from autograd_engine.compiler.native.emit.math_functions import LIBM
from autograd_engine.compiler.native.ir import Buffer, Map, Step, Term
from autograd_engine.compiler.native.tracing.kernel_trace import (
    ROWS,
    Loops,
    NotLowered,
    Traced,
    traced_kernel,
)
from autograd_engine.core.dtypes import BOOL, FLOAT32, FLOAT64
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef, Rule
from autograd_engine.ops.registry.stand_ins import bind_operators

Dtype = np.dtype[Any]

__all__ = ["row_text"]

_KERNEL: Final = "kernel"  # the function of a row; those of its rules have the names of inputs
_SIZE: Final = 7  # any number of elements but one
# What IEEE 754 rounds, or what is exact: NumPy has the same bits.
_EXACT: Final = frozenset(
    (
        "absolute", "add", "cast", "ceil", "copy", "copysign", "divide", "equal", "fabs", "floor",
        "fmax", "fmin", "greater", "greater_equal", "isfinite", "isinf", "isnan", "less",
        "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum",
        "minimum", "multiply", "negative", "not_equal", "reciprocal", "rint", "sign", "signbit",
        "sqrt", "square", "subtract", "true_divide", "trunc", "where",
    )
)  # fmt: skip
# What NumPy computes faster, by the dtype; besides what `LIBM` has element by element and NumPy, on
# some processors, in vectors: there C would take ten times as long.
_NUMPYS: Final = {
    FLOAT32: frozenset(("cos", "log10", "log2", "sin", "tan")),
    FLOAT64: frozenset(("logaddexp", "tan")),
}
_OPERANDS: Final = 8  # AE_OPERANDS of kernels.h
_OTHER_COST: Final = 4  # of a function that is computed, when an exact one costs 1


class _Chain(Loops):
    """Steps on arrays of one shape, and nothing but scalar functions of their elements."""

    def __init__(self, dtype: Dtype) -> None:
        super().__init__(blas=False)
        self.float_dtype = dtype
        self.given: list[Buffer] = []

    def operand_like(self, dtype: Dtype, shape: tuple[int, ...] = (_SIZE,)) -> Traced:
        buffer = self.buffer(shape, dtype)
        self.given.append(buffer)
        return self.all_of(buffer)

    def add(self, step: Step) -> Step:
        if not isinstance(step, Map) or step.function in ("gather", "position"):
            raise NotLowered("it is no function of elements")
        if step.function == "power":  # NumPy has ways of its own for some exponents
            raise NotLowered("powers are NumPy's")
        scalar = SCALARS.get(step.function)
        one_by_one = scalar is not None and scalar.maths in LIBM and hasattr(np, step.function)
        if one_by_one or step.function in _NUMPYS[self.float_dtype]:
            raise NotLowered(f"NumPy is faster at {step.function}")
        dtypes = [step.outs[0].dtype, *[t.dtype for t in step.args]]
        if any(dtype not in (BOOL, self.float_dtype) for dtype in dtypes):
            raise NotLowered("it has another dtype between")
        if not step.outs[0].shape:  # Python computes with attributes in float64
            raise NotLowered("it computes with attributes alone")
        return super().add(step)

    def lowered(self, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """The results of an operation."""
        self.origin = SimpleNamespace(op=op, attrs=attrs)
        row = ROWS.get(op.name)
        if row is not None:
            return row(self, *operands, **attrs)
        return traced_kernel(op.kernel, self)(*operands, **attrs)


def row_text(name: str, dtype: Dtype) -> str:
    """The C of a row for a dtype: ``kernel``, and for each input the rule of its name.

    What cannot be written is left out.
    """
    op = REGISTRY.get(name)
    if op is None:
        return ""
    parts = [_attempted(_kernel, op, _KERNEL, dtype)]
    for k, given in enumerate(op.inputs):
        rule = op.rule_at(k) if given in op.rules else None
        if rule is not None and op.tangent == "elementwise" and not rule.group:
            parts.append(_attempted(_rule(rule), op, given, dtype))
    return "\n".join(filter(None, parts))


def _attempted(
    write: Callable[[_Chain, OpDef], Sequence[Traced]], op: OpDef, name: str, dtype: Dtype
) -> str:
    chain = _Chain(dtype)
    try:
        with np.errstate(all="ignore"):
            results = write(chain, op)
        return _function(chain, name, results)
    except NotLowered:
        return ""
    except Exception:  # what it does with its operands is for arrays alone
        return ""


def _attributes(chain: _Chain, names: Sequence[str]) -> dict[str, Traced]:
    return {name: chain.operand_like(chain.float_dtype, ()) for name in names}


def _kernel(chain: _Chain, op: OpDef) -> Sequence[Traced]:
    operands = [
        chain.operand_like(BOOL if n in op.untyped else chain.float_dtype) for n in op.inputs
    ]
    found = chain.lowered(op, operands, _attributes(chain, tuple(op.attrs)))
    return found if op.multiple else [found]


def _rule(rule: Rule) -> Callable[[_Chain, OpDef], Sequence[Traced]]:
    def write(chain: _Chain, op: OpDef) -> Sequence[Traced]:
        xp = _Operations(chain)
        given = [_Value(xp, chain.operand_like(chain.float_dtype)) for _ in ("g", *rule.saves)]
        attrs = {k: _Value(xp, v) for k, v in _attributes(chain, rule.attrs).items()}
        result = rule.fn(xp, *given, **attrs)
        if len(chain.steps) < 2:
            raise NotLowered("NumPy does it in one step")
        return [xp.traced(result)]

    return write


class _Operations:
    """The namespace that a rule is traced in."""

    def __init__(self, chain: _Chain) -> None:
        self.chain = chain

    def __getattr__(self, name: str) -> Callable[..., _Value]:
        if name not in REGISTRY:
            raise NotLowered(f"it uses xp.{name}")
        return lambda *operands, **attrs: self.apply(REGISTRY[name], operands, attrs)

    def apply(self, op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> _Value:
        given = []
        for k, v in enumerate(map(self.traced, operands)):
            like = isinstance(v, Traced) and not op.reads_value(k)
            given.append(Spec(v.shape, v.dtype) if like else v)
        attrs = {k: self.traced(v) for k, v in op.complete_attrs(attrs).items()}
        start = len(self.chain.steps)
        result = self.chain.lowered(op, given, attrs)
        exact = all(s.function in _EXACT for s in self.chain.steps[start:] if isinstance(s, Map))
        if not exact and not (op.in_c and _has_kernel(op.name, self.chain.float_dtype)):
            raise NotLowered(f"{op.name} alone is NumPy's")
        return _Value(self, result)

    def traced(self, value: Any) -> Any:
        return value.traced if isinstance(value, _Value) else value


class _Value:
    """An array in a rule: its operators are operations."""

    def __init__(self, operations: _Operations, traced: Traced) -> None:
        self.operations = operations
        self.traced = traced

    @property
    def dtype(self) -> Dtype:
        return self.traced.dtype


bind_operators(_Value, lambda self, name, xs: self.operations.apply(REGISTRY[name], xs, {}))


@functools.cache
def _has_kernel(name: str, dtype: Dtype) -> bool:
    """Whether there is C for the kernel of a row."""
    return bool(_attempted(_kernel, REGISTRY[name], _KERNEL, dtype))


# --- text


def _function(chain: _Chain, name: str, results: Sequence[Traced]) -> str:
    """A ufunc, and the loop over elements that follow each other that it runs."""
    real, given = C_TYPES[chain.float_dtype], len(chain.given)
    kinds = [C_TYPES[b.dtype] for b in chain.given] + [real] * len(results)
    if len(kinds) > _OPERANDS:
        raise NotLowered("it has too many operands")
    heads = [
        f"{'const ' * (k < given)}{kind} *a{k} = ({'const ' * (k < given)}{kind} *)p[{k}];"
        for k, kind in enumerate(kinds)
    ]
    arrays = given == 2 and kinds == [real] * 3 and all(b.shape for b in chain.given)
    spreads = name == _KERNEL and arrays
    steps = [f" * s{k}" * spreads for k in range(given)]
    names = {b.number: f"a{k}[j{steps[k]}]" for k, b in enumerate(chain.given)}
    lines: list[str] = []
    cost, used = 1, set[str]()
    for step in _needed(chain, results):
        out = step.outs[0]
        args = [_text(t, names) for t in step.args]
        typed = step.args[1 if step.function == "where" else 0].dtype
        numbers = [None] * len(args)  # powers and the like have one way for all
        value = expression(step.function, args, numbers, typed, out.dtype, used)
        names[out.number] = f"v{len(lines)}"
        lines.append(f"{C_TYPES[out.dtype]} v{len(lines)} = {value};")
        cost += 1 if step.function in _EXACT else _OTHER_COST
    for k, result in enumerate(results, given):
        if result.shape != (_SIZE,) or result.dtype != chain.float_dtype:
            raise NotLowered("its result is of another kind")
        lines.append(f"a{k}[j] = {_text(result.term, names)};")
    inputs = ",".join("?()" if b.dtype == BOOL else "()" for b in chain.given)
    outputs = ",".join(["()"] * len(results))
    sizes = ", ".join(f"sizeof({kind})" for kind in kinds)
    counts = f"{given}, {len(results)}, {cost}"
    steps_of_operands = "".join(f", int64_t s{k}" for k in range(given)) * spreads
    head = f"AE_INLINE void {name}_steps" if spreads else f"static void {name}_dense"
    return "\n".join(
        [
            f"{head}(int64_t n, char *const *p{steps_of_operands})",
            "{",
            *("    " + line for line in heads),
            "#pragma omp simd",
            "    for (int64_t j = 0; j < n; j++) {",
            *("        " + line for line in lines),
            "    }",
            "}",
            "",
            *(_spread(name, cost) if spreads else ()),
            f'AE_UFUNC({name}_fX, "{inputs}->{outputs}")',
            "{",
            f"    static const int sizes[] = {{{sizes}}};",
            "    (void)data;",
            f"    ae_map({name}_dense, args, dims[0], steps, sizes, {counts});",
            "}",
            "",
        ]
    )


# Of two operands: arrays, or one of them a number. In the order of `kernels.h`.
_FORMS: Final = {"dense": "1, 1", "number_first": "0, 1", "number_second": "1, 0"}


def _spread(name: str, cost: int) -> list[str]:
    """The same function of two operands that are broadcast, and the loops that it takes."""
    loops = [
        f"static void {name}_{form}(int64_t n, char *const *p) {{ {name}_steps(n, p, {steps}); }}"
        for form, steps in _FORMS.items()
    ]
    return [
        *loops,
        "",
        "AE_FUNCTION spread_fX(ae_array x, ae_array y, ae_array out, int64_t n0, int64_t n1,"
        " int64_t n2, int missing)",
        "{",
        "    static void (*const loops[])(int64_t n, char *const *p) = {"
        + ", ".join(f"{name}_{form}" for form in _FORMS)
        + "};",
        "    ae_spread_over_fX(loops, AE_DATA(const real, x), AE_DATA(const real, y),"
        " AE_DATA(real, out),",
        f"                      n0, n1, n2, missing, {cost});",
        "}",
        "",
    ]


def _needed(chain: _Chain, results: Sequence[Traced]) -> list[Map]:
    """The steps that results depend on, in their order."""
    wanted = {t.term.buffer.number for t in results if t.term.buffer is not None}
    steps: list[Map] = []
    for step in reversed(chain.steps):
        if step.outs[0].number in wanted and isinstance(step, Map):
            steps.append(step)
            wanted |= {t.buffer.number for t in step.args if t.buffer is not None}
    return steps[::-1]


def _text(term: Term, names: dict[int, str]) -> str:
    if term.buffer is None:
        return literal(term.number, term.dtype)
    return names[term.buffer.number]
