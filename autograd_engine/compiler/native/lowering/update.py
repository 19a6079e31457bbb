"""Update rules that look at values, and those of gradients of which only some rows are there."""

from __future__ import annotations

import math
from typing import Any

import numpy

from autograd_engine.compiler.concrete_graph import Node, Value
from autograd_engine.compiler.native.c_code.c_text import c_type, split_over
from autograd_engine.compiler.native.lowering.indexing import row_numbers
from autograd_engine.compiler.native.tracing.kernel_trace import (
    Loops,
    Traced,
    lowers,
    traced_kernel,
)
from autograd_engine.core.dtypes import INTEGERS
from autograd_engine.ops.registry.opdef import REGISTRY

__all__: list[str] = []


@lowers("radam")
def _radam(
    np: Loops,
    param: Traced,
    grad: Traced,
    learning_rate: Traced,
    moment1: Traced,
    moment2: Traced,
    beta1_pow: Traced,
    beta2_pow: Traced,
    rho: Traced,
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> tuple[Traced, ...]:
    """See `ops.update`; both ways of the step are computed, and one is taken."""
    wide = numpy.dtype(numpy.float64)
    power = np.cast(beta2_pow, wide) * beta2
    lacks = (np.cast(rho, wide) * (beta2 - power) + power) / (1.0 - power)
    limit = 2.0 / (1.0 - beta2) - 1.0
    length = limit - 2.0 * lacks
    over = (length - 4.0) * (length - 2.0) * limit
    under = (limit - 4.0) * (limit - 2.0) * length
    scale = np.cast(np.map("sqrt", over / under * (1.0 - power)), param.dtype)
    beta1_pow = beta1_pow * beta1
    moment1 = beta1 * moment1 + (1.0 - beta1) * grad
    moment2 = beta2 * moment2 + (1.0 - beta2) * (grad * grad)
    step = learning_rate * (moment1 / (1.0 - beta1_pow))
    step = np.where(length > 5.0, step * (scale / (np.map("sqrt", moment2) + epsilon)), step)
    return param - step, moment1, moment2, beta1_pow, beta2_pow * beta2, np.cast(lacks, rho.dtype)


@lowers("lamb")
def _lamb(
    np: Loops,
    param: Traced,
    grad: Traced,
    learning_rate: Traced,
    moment1: Traced,
    moment2: Traced,
    beta1_pow: Traced,
    beta2_pow: Traced,
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    weight_decay: float,
    always_adapt: bool = False,
) -> tuple[Traced, ...]:
    """See `ops.update`."""
    moment1 = beta1 * moment1 + (1.0 - beta1) * grad
    moment2 = beta2 * moment2 + (1.0 - beta2) * (grad * grad)
    corrected = np.map("sqrt", moment2 / (1.0 - beta2_pow))
    step = moment1 / (1.0 - beta1_pow) / (corrected + epsilon)
    if weight_decay:
        step = step + weight_decay * param
    rate = learning_rate
    if weight_decay or always_adapt:
        length, of_step = _length(np, param), _length(np, step)
        rate = rate * np.where((length > 0) & (of_step > 0), length / of_step, 1.0)
    return param - rate * step, moment1, moment2, beta1_pow * beta1, beta2_pow * beta2


def _length(np: Loops, x: Traced) -> Traced:
    return np.map("sqrt", np.reduce("sum", x * x, None))


@lowers("asgd")
def _asgd(
    np: Loops,
    param: Traced,
    grad: Traced,
    learning_rate: Traced,
    d: Traced,
    y: Traced,
    m: Traced,
    *,
    batch_num: int,
) -> tuple[Traced, ...]:
    """See `ops.update`."""
    if m.dtype not in INTEGERS:
        m = np.cast(m, numpy.dtype(numpy.int64))
    k = np.map("remainder", m, batch_num)
    here = np.map("equal", np.position(y.shape, 0), k)
    d = d - np.reduce("sum", np.where(here, y, 0.0), 0) + grad
    met = np.cast(np.map("minimum", m + 1, batch_num), learning_rate.dtype)
    out = param - learning_rate / met * d
    stored = np.cast(m + 1, np.results[3].dtype)
    return out, d, np.where(here, grad, y), stored


# --- rows of a table

Parts = list[tuple[Traced, Traced]]


def _parts(np: Loops, grad: Any, *, sparse: bool) -> Parts | None:
    """What is added to which rows, of a gradient that is zeros elsewhere; None of another one."""
    node = grad.node if isinstance(grad, Value) else None
    if not isinstance(node, Node):
        return None
    name, operands = node.op.name, node.operands
    if name == "add" or name == "add_n":
        found = [_parts(np, v, sparse=sparse) for v in operands]
        return None if any(f is None for f in found) else [p for f in found for p in f or ()]
    if name == "scatter_add_like" and not node.attrs["axis"]:
        if sparse and not node.attrs.get("sparse"):
            return None
        return [(np.values[id(operands[0])], np.values[id(operands[1])])]
    return None


def _rows(np: Loops, parts: Parts, shape: tuple[int, ...]) -> tuple[Traced, Traced]:
    """Values [n, width], and the row of the table that each belongs to."""
    width = math.prod(shape[1:])
    rows = [row_numbers(np, i, shape[0], wraps=True).reshape(-1) for _, i in parts]
    values = [x.reshape(-1, width) for x, _ in parts]
    if len(parts) == 1:
        return values[0], rows[0]
    index = np.concatenate(rows)
    assert index.term.buffer is not None
    np.guards[index.term.buffer.number] = np.guards_of(rows)
    return np.concatenate(values), np.in_range(index, 0, shape[0])


@lowers("sgd")
def _sgd(np: Loops, param: Traced, grad: Traced, learning_rate: Traced) -> Traced:
    parts = _parts(np, np.origin.operands[1], sparse=False)
    if not parts or param.dtype != grad.dtype or param.ndim < 1 or learning_rate.shape:
        return param - grad * learning_rate
    values, rows = _rows(np, parts, param.shape)
    size, (count, width), t = param.shape[0], values.shape, c_type(param.dtype)
    body = (
        f"    for (int64_t i = 0; i < {count}; i++) {{\n"
        "        int64_t r = rows[i];\n        if (r < lo || r >= hi) continue;\n"
        "#pragma omp simd\n"
        f"        for (int64_t j = 0; j < {width}; j++)\n"
        f"            out[r * {width} + j] -= v[i * {width} + j] * rate[0];\n    }}\n"
    )
    pointers = [
        (f"const {t} *", "old"),
        (f"const {t} *", "v"),
        ("const int64_t *", "rows"),
        (f"const {t} *", "rate"),
        (f"{t} *", "out"),
    ]
    copied = f"    if (old != out) memcpy(out, old, {param.size * param.dtype.itemsize});\n"
    # Threads share the rows of the table, and each looks at all indices.
    grain = max(1, size // 4) if count * width > 1 << 15 else size
    text = split_over(pointers, size, body, grain=grain, before=copied)
    rate = np.cast(learning_rate, param.dtype)
    operands = [param, values, rows, rate]
    return np.kernel(text, operands, [(param.shape, param.dtype)], inplace={0: 0})[0]


@lowers("adam", "adam_amsgrad", "adamw", "adamw_amsgrad")
def _adam(
    np: Loops, param: Traced, grad: Traced, learning_rate: Traced, *state: Traced, **attrs: Any
) -> tuple[Traced, ...]:
    """In lazy mode the rule runs on the rows alone that have a gradient."""
    kernel = traced_kernel(np.origin.op.kernel, np)
    lazy = attrs.get("lazy_mode", False)
    parts = _parts(np, np.origin.operands[1], sparse=True) if lazy else None
    if not parts or param.dtype != grad.dtype or param.ndim < 1 or learning_rate.shape:
        return tuple(kernel(param, grad, learning_rate, *state, **{**attrs, "lazy_mode": False}))
    coeff = attrs.pop("coeff", 0.0)
    if coeff:  # all rows decay
        param = param * (1.0 - learning_rate * coeff)
    rule = traced_kernel(REGISTRY[np.origin.op.name.replace("adamw", "adam")].kernel, np)
    values, rows = _merged(np, *_rows(np, parts, param.shape), param.shape[0])
    at = np.map("maximum", rows, 0)
    seen = [_picked(np, s, at) if s.ndim else s for s in (param, *state)]
    attrs["lazy_mode"] = False
    new = rule(seen[0], values, learning_rate, *seen[1:], **attrs)
    return tuple(
        _put_rows(np, old, rows, part) if old.ndim else part
        for old, part in zip((param, *state), new, strict=True)
    )


def _picked(np: Loops, x: Traced, rows: Traced) -> Traced:
    """Rows of a table, as a matrix."""
    flat = x.reshape(x.shape[0], -1)
    index = rows.reshape(-1, 1)
    stride, step = flat.term.strides
    return np.elements(flat, (rows.size, flat.shape[1]), (0, step), index, unit=stride)


def _merged(np: Loops, values: Traced, rows: Traced, size: int) -> tuple[Traced, Traced]:
    """Each row once, with the sum of its values; -1 where there are no more."""
    (count, width), t = values.shape, c_type(values.dtype)
    text = (
        f"static void NAME(const {t} *v, const int64_t *rows, {t} *out, int64_t *each, "
        "int64_t *slot)\n{\n    int64_t n = 0;\n"
        f"    for (int64_t r = 0; r < {size}; r++) slot[r] = -1;\n"
        f"    for (int64_t i = 0; i < {count}; i++) {{\n"
        "        int64_t r = rows[i], k = slot[r];\n"
        f"        const {t} *from = v + i * {width};\n"
        "        if (k < 0) {\n"
        "            k = slot[r] = n++;\n            each[k] = r;\n"
        f"            memcpy(out + k * {width}, from, {width * values.dtype.itemsize});\n"
        "            continue;\n        }\n"
        f"        {t} *to = out + k * {width};\n"
        "#pragma omp simd\n"
        f"        for (int64_t j = 0; j < {width}; j++) to[j] += from[j];\n    }}\n"
        f"    memset(out + n * {width}, 0, ({count} - n) * {width * values.dtype.itemsize});\n"
        f"    for (; n < {count}; n++) each[n] = -1;\n}}\n"
    )
    results = [(values.shape, values.dtype), ((count,), numpy.int64)]
    out, each = np.kernel(text, [values, rows], results, scratch=8 * size)
    return out, each


def _put_rows(np: Loops, old: Traced, rows: Traced, values: Traced) -> Traced:
    """The table with some rows replaced."""
    count, width, t = rows.size, old.size // old.shape[0], c_type(old.dtype)
    text = (
        f"static void NAME(const {t} *old, const int64_t *rows, const {t} *v, {t} *out)\n{{\n"
        f"    if (old != out) memcpy(out, old, {old.size * old.dtype.itemsize});\n"
        f"    for (int64_t i = 0; i < {count} && rows[i] >= 0; i++)\n"
        f"        memcpy(out + rows[i] * {width}, v + i * {width}, "
        f"{width * old.dtype.itemsize});\n}}\n"
    )
    return np.kernel(text, [old, rows, values], [(old.shape, old.dtype)], inplace={0: 0})[0]
