"""Every operation of the table, native beside its kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autograd_engine.compiler.concrete_graph import Graph, NotConcrete
from autograd_engine.compiler.native.ir import Callback
from autograd_engine.compiler.native.lower import lower
from autograd_engine.compiler.native.tracing.kernel_trace import ROWS
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.compiler.helpers.native_batches import ALL, Batch, Call
from tests.compiler.helpers.native_kernels import needs_compiler, with_flags
from tests.registry.samples import SAMPLES
from tests.tiers import by_default

pytestmark = needs_compiler

SIZE = 48


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", with_flags("-O1"))
        yield


def _labels() -> list[tuple[str, int]]:
    return [
        (name, k)
        for name, op in REGISTRY.items()
        if not (op.random or op.effect)
        for k in range(len(SAMPLES.get(name, ())))
    ]


def _call(name: str, k: int, dtype: Any) -> Call:
    op, sample = REGISTRY[name], SAMPLES[name][k]
    attrs = op.complete_attrs(sample.attrs)
    return Call(op, sample.cast(dtype), attrs, f"{name}-{sample.label}")


EVERY = _labels()


def test_rows_lie_in_the_family_of_their_operation() -> None:
    elsewhere = {
        name: row.__module__
        for name, row in ROWS.items()
        if row.__module__.rpartition(".")[2] != REGISTRY[name].module
    }
    assert not elsewhere


@pytest.mark.parametrize("dtype", by_default([np.float32, np.float64], 1))
@pytest.mark.parametrize("start", range(0, len(EVERY), SIZE))
def test_operations_agree_with_their_kernels(start: int, dtype: Any) -> None:
    chosen = EVERY[start : start + SIZE]
    if dtype == np.float64 and not ALL:
        chosen = chosen[::3]
    batch = Batch()
    for name, k in chosen:
        batch.add(_call(name, k, dtype))
    assert batch.wrong(batch.compiled()) == []


# --- what runs as C


# Factorisations, transforms and sorting are LAPACK's, NumPy's FFT and its sort; random numbers come
# from the generator; complex numbers stay with NumPy. Numbers that the run knows
# are looked at in Python.
LEFT_TO_NUMPY = {
    "axis_position", "within",
    "bessel_i", "bessel_ie", "bincount", "ctc_align", "ctc_states", "erfinv", "frexp",
    "nms", "region_max_index", "rnnt_align", "rnnt_moves", "row_counts",
    "gamma_density", "gammainc", "gammaincc", "gather_tree", "gcd", "histogram",
    "histogram_bin_edges", "isin", "lcm", "lgamma", "mode", "nonzero", "permutation_like",
    "polygamma", "reinterpret", "repeat_index", "resample", "resample_like", "searchsorted", "sinc",
    "sort", "argsort", "topk", "unique", "unique_consecutive", "unless_zero", "dft", "eig",
    "fourier", "from_half_spectrum", "from_half_spectrum_like", "half_spectrum", "imag_part",
    "conj", "fourier_transpose", "sgn",
    "real_part", "to_complex", "cholesky", "cofactor", "cofactor_tangent", "det", "eigh",
    "exchange_rows", "inv", "lu", "lu_rectangular", "matrix_exp", "mirror_triangle", "pinv", "qr",
    "qr_complete", "slogdet", "solve", "svd", "svd_full", "triangular_solve",
}  # fmt: skip


def _runs_as_c(call: Call) -> bool:
    graph = Graph()
    specs = [Spec(a.shape, a.dtype) for a in call.operands]
    operands = [graph.input(s) if call.op.reads_value(k) else s for k, s in enumerate(specs)]
    try:
        graph.outputs = list(graph.call(call.op, operands, call.attrs))
    except NotConcrete:
        return False
    return not any(isinstance(step, Callback) for step in lower(graph).steps)


def test_all_but_a_few_operations_run_as_c() -> None:
    calls = [_call(name, k, np.float32) for name, k in EVERY]
    looked_at = [c for c in calls if all(np.size(a) for a in c.operands)]
    lowered = {c.op.name for c in looked_at if _runs_as_c(c)}
    assert {c.op.name for c in looked_at} - lowered == LEFT_TO_NUMPY


# --- values at the ends of the range of floats


def _ends(dtype: Any) -> Any:
    info = np.finfo(dtype)
    some = [0.0, 1.0, 0.5, 3.0, 1e-3, 20.0, 90.0, 800.0, float(info.max), float(info.tiny)]
    some += [float(info.smallest_subnormal), float(info.eps), math.inf, math.nan]
    both = [sign * v for v in some for sign in (1.0, -1.0)]
    with np.errstate(all="ignore"):
        return np.array(both, dtype)


UNARY = [
    "abs", "sign", "square", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos",
    "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "relu",
    "sigmoid", "silu", "softplus", "log_sigmoid", "bell", "gelu", "gelu_tanh", "floor", "ceil",
    "trunc", "round", "isnan", "isinf", "isfinite", "signbit", "negative", "logical_not",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "hypot", "atan2",
    "logaddexp", "remainder", "floor_divide", "equal", "not_equal", "greater_than", "less_equal",
    "logical_and", "logical_xor", "nextafter", "exp_difference",
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ends_of_the_range(dtype: Any) -> None:
    """NaN, infinities, the largest and smallest numbers; each element is compared with itself."""
    x = _ends(dtype)
    batch = Batch()
    for name in UNARY:
        if name == "gelu" and dtype == np.float64:
            continue  # NumPy's is 0 from -9 downwards; the next test has exact values
        op = REGISTRY[name]
        batch.add(Call(op, [x], op.complete_attrs({}), name))
    for name in BINARY:
        op = REGISTRY[name]
        batch.add(Call(op, [x[:, None], x[None, :]], op.complete_attrs({}), name))
    got = batch.compiled()(*batch.arrays)
    wrong = []
    for call in batch.calls:
        for k, expected in zip(call.outputs, call.expected, strict=True):
            for at in np.ndindex(expected.shape):
                given = [np.broadcast_to(a, expected.shape)[at] for a in call.operands]
                if _far(got[k][at], expected[at]):
                    wrong.append(f"{call.label} of {given}: {got[k][at]!r}, {expected[at]!r}")
    assert wrong == []


def _far(actual: Any, expected: Any) -> bool:
    if expected.dtype.kind != "f":
        return bool(actual != expected)
    if np.isnan(expected) or np.isnan(actual):
        return bool(np.isnan(expected) != np.isnan(actual))
    if np.isinf(expected) or expected == 0 or np.isinf(actual):
        tiny = 4 * np.finfo(expected.dtype).smallest_subnormal
        same = actual == expected and np.signbit(actual) == np.signbit(expected)
        return not (same or (expected == 0 and abs(actual) <= tiny))
    limit = 1e-5 if expected.dtype == np.float32 else 1e-12
    error = abs(float(actual) - float(expected))
    return error > limit * abs(float(expected)) + 4 * np.finfo(expected.dtype).smallest_subnormal


def test_gelu_is_accurate_far_below_zero() -> None:
    x = np.linspace(-13.0, 5.0, 4001)
    op = REGISTRY["gelu"]
    for dtype, limit in ((np.float32, 2e-6), (np.float64, 1e-13)):
        given = x.astype(dtype)
        exact = np.array([0.5 * v * math.erfc(-v / math.sqrt(2.0)) for v in given.tolist()])
        batch = Batch()
        batch.add(Call(op, [given], {}, "gelu"))
        got = batch.compiled()(given)[0].astype(np.float64)
        normal = np.abs(exact) > 10 * float(np.finfo(dtype).tiny)
        assert np.max(np.abs(got - exact)[normal] / np.abs(exact)[normal]) < limit
