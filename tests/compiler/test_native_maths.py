"""The C functions of numbers: bounds in units in the last place, special cases, vectorisation."""

from __future__ import annotations

import ctypes
import platform
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from autograd_engine.compiler.native.emit import math_functions as maths
from autograd_engine.compiler.native.toolchain import library_cache
from autograd_engine.compiler.native.toolchain.compiler import Toolchain, find_toolchain, why_not
from tests.over import over
from tests.tiers import by_default

Array = NDArray[Any]
Call = Callable[..., Array]

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
C_TYPES = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t"}
PREDICATES = {"isnan", "isinf", "isfinite", "signbit"}
LONG = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant
WIDER: dict[str, Any] = {"f32": np.float64, "f64": np.longdouble}


def arity(name: str) -> int:
    signature = re.search(rf"\bae_{name}\(([^)]*)\)", maths.needed([name]))
    assert signature is not None
    return signature[1].count(",") + 1


def loop(name: str) -> str:
    """A C function that calls `name` for each of n elements."""
    function, _, suffix = name.rpartition("_")
    kind = C_TYPES[suffix]
    out = "uint8_t" if function in PREDICATES else kind
    args = ", ".join(("x[i]", "y[i]", "x[i]")[: arity(name)])
    given = f"const {kind} *restrict x, const {kind} *restrict y, {out} *restrict o, int64_t n"
    return (
        f"void loop_{name}({given});\nvoid loop_{name}({given})\n{{\n#pragma omp simd\n"
        f"    for (int64_t i = 0; i < n; i++) o[i] = ae_{name}({args});\n}}\n"
    )


def source(names: Any) -> str:
    return maths.needed(names) + "".join(loop(name) for name in sorted(names))


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolchain]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("AUTOGRAD_ENGINE_PROGRESS", "0")
        found = find_toolchain()
        if found is None:
            pytest.skip(why_not())
        yield found


@pytest.fixture(scope="module", params=by_default(["fused", "separate"], 1))
def call(request: pytest.FixtureRequest, toolchain: Toolchain) -> Call:
    """The functions on arrays, for this processor and for one without fused multiplication."""
    if request.param == "separate":
        if platform.machine() not in ("x86_64", "AMD64"):
            pytest.skip("only x86-64 has processors without fused multiplication")
        toolchain = toolchain.with_flags("-march=x86-64", "-mtune=generic")
    library = library_cache.load(source(maths.NAMES), toolchain)

    def on_arrays(name: str, x: Any, y: Any = None) -> Array:
        function, _, suffix = name.rpartition("_")
        x = np.ascontiguousarray(x, DTYPES[suffix])
        y = np.ascontiguousarray(x if y is None else y, DTYPES[suffix])
        out = np.empty(x.shape, np.bool_ if function in PREDICATES else x.dtype)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, y, out)]
        library[f"loop_{name}"](*pointers, ctypes.c_int64(x.size))
        return out

    return on_arrays


def units_off(got: Array, exact: Array) -> Array:
    """Distance from `exact`, of a wider dtype, in units in the last place of the dtype of `got`.

    A denormal has the unit of all denormals. An infinite result counts as the power of two after
    the largest number, and is exact where `exact` rounds to it.
    """
    info, wide = np.finfo(got.dtype), exact.dtype.type
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.abs(exact))
        exponent = np.clip(exponent - 1, info.minexp, info.maxexp - 1)
        unit = np.ldexp(wide(1), exponent - info.nmant)
        edge = np.ldexp(wide(1), info.maxexp - 1) * 2
        end = edge * (1 - np.ldexp(wide(1), -(info.nmant + 2)))
        value = np.where(np.isinf(got), np.copysign(edge, got), got.astype(wide))
        clipped = np.where(np.abs(exact) >= end, np.copysign(edge, exact), exact)
        off = np.abs(value - clipped) / unit
    same = (np.isnan(got) & np.isnan(exact)) | (value == clipped)
    return np.where(same, 0, np.where(np.isnan(off), np.inf, off))


def assert_within(bound: float, got: Array, exact: Array, *args: Array) -> None:
    off = units_off(got, exact)
    worst = int(np.argmax(off))
    at = [arg[worst] for arg in args]
    assert off[worst] <= bound, f"{off[worst]} at {at}: {got[worst]!r}, exactly {exact[worst]!r}"
    # an exact zero has a sign, and so has what rounds to it
    zeros = (got == 0) & (np.signbit(got) != np.signbit(exact)) & ~np.isnan(exact)
    assert not zeros.any(), f"the sign of 0 at {[arg[zeros][:5] for arg in args]}"


EDGES = (
    0.0, 1.0, 2.0, 0.5, 1.5, 3.0, 10.0, 1000.0, 1e10, 1e30, np.inf, np.nan, 1e-45, 1e-40,
    1.1754942e-38, 1.1754944e-38, 3.4028235e38, 88.72283, 88.72284, 87.33654, 103.97208,
    103.97209, 104.0, 127.99999, 128.0, 149.0, 149.5, 150.0, 126.0, 9.010913, 16.635532,
    0.34657359, 0.70710677, 0.70710683, 1.4142135, 1.4142137, 1.5707964, 3.1415927, 4.1, 0.875,
)  # fmt: skip
EDGES64 = (
    5e-324, 1e-310, 2.2250738585072009e-308, 2.2250738585072014e-308, 1.7976931348623157e308,
    709.782712893384, 709.7827128933841, 708.3964185322641, 745.1332191019411, 745.1332191019412,
    1023.9999999999999, 1024.0, 1074.0, 1074.5, 1075.0, 1022.0, 36.7368005696771, 37.42994775023705,
    1.125, 5.95, 1.0000000000000002, 0.9999999999999999, 786431.9, 786432.0, 1e15, 1e22,
)  # fmt: skip


def both_signs(values: Any) -> Array:
    values = np.asarray(values)
    return np.concatenate([values, -values])


@pytest.fixture(scope="module")
def line32() -> Array:
    """Bit patterns of all float32 at an odd stride, the special ones and their neighbours."""
    bits = np.arange(0, 2**32, 2039, dtype=np.uint64).astype(np.uint32)
    edges = both_signs(EDGES).astype(np.float32)
    with np.errstate(all="ignore"):
        near = [np.nextafter(edges, np.float32(end)) for end in (-np.inf, np.inf)]
    return np.concatenate([bits.view(np.float32), edges, *near])


@pytest.fixture(scope="module")
def line64() -> Array:
    """Random bit patterns, and more of the numbers for which there is something to compute."""
    draw, n = np.random.default_rng(7), 60_000
    bits = draw.integers(0, 2**64, n, dtype=np.uint64).view(np.float64)
    sizes = np.exp(draw.uniform(-40, 13, n)) * draw.choice([-1.0, 1.0], n)
    near_1 = 1 + draw.standard_normal(n) * np.exp(draw.uniform(-36, 0, n))
    edges = both_signs(EDGES + EDGES64)
    with np.errstate(all="ignore"):
        near = [np.nextafter(edges, end) for end in (-np.inf, np.inf)]
    return np.concatenate([bits, sizes, near_1, draw.uniform(-800, 800, n), edges, *near])


def exact(function: str, suffix: str, x: Array) -> Array:
    with np.errstate(all="ignore"):
        return REFERENCES[function](x.astype(WIDER[suffix]))


def reference_sigmoid(x: Array) -> Array:
    t = np.exp(-np.abs(x))
    return np.asarray(np.where(x < 0, t, 1) / (1 + t))


def reference_softplus(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


REFERENCES: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "tanh": np.tanh, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "cbrt": np.cbrt, "sigmoid": reference_sigmoid, "softplus": reference_softplus,
}  # fmt: skip
BOUNDS = {
    "exp": 1.2, "exp2": 1.3, "expm1": 2, "log": 1, "log2": 2, "log10": 2, "log1p": 2, "tanh": 3,
    "sin": 2, "cos": 2, "tan": 4, "sigmoid": 3, "softplus": 2,
}  # fmt: skip


@pytest.mark.parametrize("function", REFERENCES)
def test_float32_on_the_whole_line(function: str, call: Call, line32: Array) -> None:
    got = call(f"{function}_f32", line32)
    assert_within(BOUNDS.get(function, 4), got, exact(function, "f32", line32), line32)


@pytest.mark.skipif(not LONG, reason="long double is float64 here, which is no reference")
@pytest.mark.parametrize("function", REFERENCES)
def test_float64_on_the_whole_line(function: str, call: Call, line64: Array) -> None:
    got = call(f"{function}_f64", line64)
    assert_within(BOUNDS.get(function, 4), got, exact(function, "f64", line64), line64)


@pytest.mark.skipif(not LONG, reason="long double is float64 here, which is no reference")
@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_multiply_add(suffix: str, call: Call) -> None:
    x, y = np.abs(np.random.default_rng(3).standard_normal((2, 1001))).astype(DTYPES[suffix])
    wide = [v.astype(WIDER[suffix]) for v in (x, y)]
    assert_within(1.1, call(f"multiply_add_{suffix}", x, y), wide[0] * wide[1] + wide[0], x, y)


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_exponentials_of_what_is_not_above_0(
    suffix: str, call: Call, line32: Array, line64: Array
) -> None:
    """The shorter way has the same bits."""
    x = {"f32": line32, "f64": line64}[suffix]
    x = np.concatenate([-np.abs(x), -np.linspace(0, 800, 300_001).astype(x.dtype)])
    bits = [call(f"{name}_{suffix}", x).tobytes() for name in ("exp", "exp_down")]
    assert bits[0] == bits[1]


def reference_erf(x: Array) -> Array:
    """2/sqrt(pi) exp(-x^2) times the sum of 2^n x^(2n+1) / (1 3 5 ... (2n+1)), all positive."""
    a = np.minimum(np.abs(x), 7)
    total = term = a.copy()
    for n in range(1, 200):
        term = term * (2 * a * a / (2 * n + 1))
        total = total + term
    pi = np.arctan2(x.dtype.type(0), x.dtype.type(-1))
    return np.copysign(total * np.exp(-a * a) * (2 / np.sqrt(pi)), x)


@pytest.mark.parametrize("suffix", ["f32", pytest.param("f64", marks=pytest.mark.skipif(
    not LONG, reason="long double is float64 here, which is no reference"))])  # fmt: skip
def test_erf(suffix: str, call: Call, line32: Array, line64: Array) -> None:
    inside = np.linspace(-6.5, 6.5, 20_011).astype(DTYPES[suffix])
    line = {"f32": line32[::97], "f64": line64[::11]}[suffix]
    x = np.concatenate([inside, line, both_signs(EDGES).astype(DTYPES[suffix])])
    with np.errstate(all="ignore"):
        exact = reference_erf(x.astype(WIDER[suffix]))
    assert_within(2, call(f"erf_{suffix}", x), exact, x)


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_erf_reaches_1_and_never_passes_it(suffix: str, call: Call) -> None:
    x = np.concatenate([np.linspace(3, 7, 100_003), [10.0, 1e30, np.inf]])
    got = call(f"erf_{suffix}", x)
    assert got.max() == 1
    assert (got[x > 6] == 1).all()


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_tanh_and_sigmoid_stay_within_their_range(suffix: str, call: Call) -> None:
    x = both_signs(np.concatenate([np.linspace(0, 60, 200_003), [800.0, 1e30, np.inf]]))
    assert np.abs(call(f"tanh_{suffix}", x)).max() == 1
    sigmoid = call(f"sigmoid_{suffix}", x)
    assert sigmoid.max() == 1
    assert sigmoid.min() == 0


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_exact_values(suffix: str, call: Call) -> None:
    lowest = {"f32": -149, "f64": -1074}[suffix]
    k = np.arange(lowest, -lowest - 23 if suffix == "f32" else 1024, dtype=DTYPES[suffix])
    k = k[k < np.finfo(k.dtype).maxexp]
    powers = np.ldexp(k.dtype.type(1), k.astype(int))
    assert (call(f"exp2_{suffix}", k) == powers).all()
    assert (call(f"log2_{suffix}", powers) == k).all()
    assert call(f"exp_{suffix}", [0.0, -0.0]).tolist() == [1, 1]
    assert call(f"log_{suffix}", [1.0]).tolist() == [0]
    assert call(f"sigmoid_{suffix}", [0.0, -0.0]).tolist() == [0.5, 0.5]


@pytest.mark.skipif(not LONG, reason="long double is float64 here, which is no reference")
@pytest.mark.parametrize("suffix", ["f32", "f64"])
@pytest.mark.parametrize("function", ["sin", "cos", "tan"])
def test_next_to_multiples_of_half_pi(function: str, suffix: str, call: Call) -> None:
    multiples = np.arange(-400_000, 400_000, 7) * (np.pi / 2)
    nearest = both_signs([16367173.0 * 2.0**72, 16367173.0])  # to them, of all float32
    x = np.concatenate([multiples, nearest]).astype(DTYPES[suffix])
    exact = getattr(np, function)(x.astype(np.longdouble))
    assert_within(4, call(f"{function}_{suffix}", x), exact, x)


POWERS = (
    0.0, 0.1, 1 / 3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 127.0, 128.0, 149.0, 150.0,
    1023.0, 1024.0, 1074.0, 16777215.0, 16777216.0, 16777217.0, 4503599627370497.0,
    9007199254740991.0, 9007199254740992.0, 9007199254740994.0, 1e-3, 1e3, 1e10, 1e300, 1e-300,
    5e-324, 1e-310, 2.2250738585072014e-308, 1.7976931348623157e308, 1e-45, 1e-40, 1.1754944e-38,
    3.4028235e38, 1 + 1e-7, 1 - 1e-7, 1 + 2.0**-52, 1 - 2.0**-53, np.inf, np.nan,
)  # fmt: skip


@pytest.mark.parametrize("suffix", ["f32", pytest.param("f64", marks=pytest.mark.skipif(
    not LONG, reason="long double is float64 here, which is no reference"))])  # fmt: skip
def test_pow(suffix: str, call: Call) -> None:
    dtype, wide = DTYPES[suffix], WIDER[suffix]
    with np.errstate(all="ignore"):
        special = both_signs(POWERS).astype(dtype)
        x, y = (a.ravel() for a in np.meshgrid(special, special))
        assert_within(2, call(f"pow_{suffix}", x, y), np.power(x.astype(wide), y), x, y)
        draw, n = np.random.default_rng(3), 50_000
        range_of_log = {"f32": 100.0, "f64": 800.0}[suffix]
        base = np.exp(draw.uniform(-80, 80, n))
        pairs = [
            (base, draw.uniform(-1.2, 1.2, n) * range_of_log / np.maximum(np.abs(np.log(base)), 1)),
            (1 + draw.standard_normal(n) * np.exp(draw.uniform(-35, 0, n)),
             draw.standard_normal(n) * np.exp(draw.uniform(-3, 36, n))),
            (draw.standard_normal(n) * 50, draw.integers(-60, 60, n).astype(float)),
            (draw.integers(0, 2**64, n, dtype=np.uint64).view(np.float64),
             draw.standard_normal(n)),
        ]  # fmt: skip
        for left, right in pairs:
            x, y = left.astype(dtype), right.astype(dtype)
            assert_within(2, call(f"pow_{suffix}", x, y), np.power(x.astype(wide), y), x, y)


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_pow_at_infinities_nan_and_zeros_is_that_of_c99(suffix: str, call: Call) -> None:
    inf, nan = np.inf, np.nan
    x, y, expected = np.array([
        (1.0, nan, 1), (nan, 0.0, 1), (nan, -0.0, 1), (-1.0, inf, 1), (-1.0, -inf, 1),
        (0.0, -3.0, inf), (-0.0, -3.0, -inf), (-0.0, -2.0, inf), (-0.0, -0.5, inf),
        (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0), (-inf, 3.0, -inf), (-inf, 0.5, inf),
        (-inf, -3.0, -0.0), (-inf, -2.0, 0.0), (-8.0, 1 / 3, nan), (-2.0, 3.0, -8), (0.5, inf, 0),
        (0.5, -inf, inf), (2.0, inf, inf), (2.0, -inf, 0), (inf, -1.0, 0), (nan, 1.0, nan),
        (2.0, nan, nan), (-2.0, inf, inf), (-0.5, inf, 0), (0.0, inf, 0), (0.0, -inf, inf),
    ]).T  # fmt: skip
    np.testing.assert_array_equal(call(f"pow_{suffix}", x, y), expected)
    got = call(f"pow_{suffix}", x, y)
    assert (np.signbit(got) == np.signbit(expected))[~np.isnan(expected)].all()


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_logaddexp(suffix: str, call: Call) -> None:
    draw = np.random.default_rng(5)
    special = np.array([0.0, -0.0, 1.0, -1.0, 700.0, -700.0, 3e38, -3e38, np.inf, -np.inf, np.nan])
    x, y = (a.ravel() for a in np.meshgrid(special, special))
    x = np.concatenate([x, draw.uniform(-50, 50, 40_000)]).astype(DTYPES[suffix])
    y = np.concatenate([y, draw.uniform(-50, 50, 40_000)]).astype(DTYPES[suffix])
    got, wide = call(f"logaddexp_{suffix}", x, y), WIDER[suffix]
    with np.errstate(all="ignore"):
        exact = np.logaddexp(x.astype(wide), y.astype(wide))
        larger = np.fmax(np.fmax(np.abs(x), np.abs(y)), 1)
        off = np.abs(got - exact) / np.spacing(larger)
    same = (got == exact) | (np.isnan(got) & np.isnan(exact))
    assert (same | (off <= 2)).all()


SPECIAL = both_signs([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 0.1, 1e-45, 1e-310, 8388609.0,
                      4503599627370497.0, 1e30, 3.4e38, np.inf, np.nan])  # fmt: skip


@over("suffix", ["f32", "f64"])
@over(
    "function",
    ["abs", "sign", "sqrt", "square", "reciprocal", "floor", "ceil", "trunc", "rint",
     "isnan", "isinf", "isfinite", "signbit"],
)  # fmt: skip
def test_exact_functions_of_one_number(function: str, suffix: str, call: Call) -> None:
    with np.errstate(all="ignore"):
        x = np.concatenate([SPECIAL, np.linspace(-9, 9, 1009)]).astype(DTYPES[suffix])
        expected = getattr(np, function)(x)
    got = call(f"{function}_{suffix}", x)
    np.testing.assert_array_equal(got, expected)
    if got.dtype != np.bool_:
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]))


@over("suffix", ["f32", "f64"])
@over(
    "function",
    ["maximum", "minimum", "fmax", "fmin", "copysign", "remainder", "floor_divide", "fmod",
     "nextafter"],
)  # fmt: skip
def test_exact_functions_of_two_numbers(function: str, suffix: str, call: Call) -> None:
    with np.errstate(all="ignore"):
        special = SPECIAL.astype(DTYPES[suffix])
        x, y = (a.ravel() for a in np.meshgrid(special, special))
        draw = np.random.default_rng(2).standard_normal((2, 5000)) * [[100.0], [3.0]]
        x, y = (np.concatenate([a, b]).astype(x.dtype) for a, b in zip((x, y), draw, strict=True))
        expected = getattr(np, function)(x, y)
    got = call(f"{function}_{suffix}", x, y)
    np.testing.assert_array_equal(got, expected)
    if function not in ("maximum", "minimum", "fmax", "fmin"):  # there either zero is right
        number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]))


@pytest.mark.parametrize("suffix", ["f32", "f64"])
@pytest.mark.parametrize(("function", "numpy"), [("hypot", np.hypot), ("atan2", np.arctan2)])
def test_libm_of_two_numbers(function: str, numpy: Any, suffix: str, call: Call) -> None:
    with np.errstate(all="ignore"):
        special = SPECIAL.astype(DTYPES[suffix])
        x, y = (a.ravel() for a in np.meshgrid(special, special))
        exact = numpy(x.astype(WIDER[suffix]), y.astype(WIDER[suffix]))
    assert_within(4, call(f"{function}_{suffix}", x, y), exact, x, y)


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_gamma_functions_and_erfc(suffix: str, call: Call) -> None:
    n = np.arange(1, 20)
    factorials = np.cumprod(np.concatenate([[1], n[:-1]]).astype(np.float64))
    tolerance = 8 * np.finfo(DTYPES[suffix]).eps
    np.testing.assert_allclose(call(f"tgamma_{suffix}", n), factorials, tolerance)
    np.testing.assert_allclose(call(f"lgamma_{suffix}", n), np.log(factorials), tolerance)
    x = np.linspace(-3, 3, 101).astype(DTYPES[suffix])
    np.testing.assert_allclose(
        call(f"erfc_{suffix}", x), 1 - call(f"erf_{suffix}", x), 0, tolerance
    )


@over("suffix", ["i32", "i64"])
@over(
    "function",
    ["abs", "sign", "square", "maximum", "minimum", "fmax", "fmin", "remainder", "floor_divide",
     "fmod"],
)  # fmt: skip
def test_integers_as_in_numpy(function: str, suffix: str, call: Call) -> None:
    ends = np.iinfo(DTYPES[suffix])
    values = [0, 1, 2, 3, 7, 12345, -1, -2, -3, -7, -12345, ends.max, ends.min, ends.max - 1]
    x, y = (a.ravel() for a in np.meshgrid(*[np.array(values, DTYPES[suffix])] * 2))
    two = arity(f"{function}_{suffix}") == 2
    with np.errstate(all="ignore"):
        expected = getattr(np, function)(*(x, y)[: 1 + two])
    np.testing.assert_array_equal(call(f"{function}_{suffix}", x, y), expected)


def test_every_loop_vectorises(toolchain: Toolchain, tmp_path: Path) -> None:
    """gcc says so of each; the functions that go by element do not keep it from that."""
    if "clang" in toolchain.version or platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("asks gcc, about x86-64")
    text = source(maths.NAMES)
    path = tmp_path / "maths.c"
    path.write_text(text)
    asked = toolchain.with_flags("-march=x86-64-v3", "-fno-ipa-icf", "-fopt-info-vec-optimized")
    done = subprocess.run(
        asked.compile_command(path, tmp_path / "maths.o"), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = text.splitlines()
    said = re.findall(r"maths\.c:(\d+):\d+: optimized: loop vectorized", done.stderr)
    names = {match[1] for i in said if (match := re.search(r"= ae_(\w+)\(", lines[int(i) - 1]))}
    assert names == set(maths.NAMES)


def test_the_text_compiles_without_a_warning(toolchain: Toolchain, tmp_path: Path) -> None:
    path = tmp_path / "maths.c"
    path.write_text(source(maths.NAMES))
    strict = toolchain.with_flags("-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-O0")
    command = strict.compile_command(path, tmp_path / "maths.o")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@over("name", sorted(maths.NAMES))
def test_needed_carries_what_a_function_calls_and_nothing_else(name: str) -> None:
    text, common = maths.needed([name]), maths.needed([])
    assert text.startswith(common)
    own = text.removeprefix(common)
    defined = re.findall(r"^AE_(?:INLINE|LANES) \w+ (aei?_\w+)\(", own, re.MULTILINE)
    assert len(defined) == len(set(defined))
    assert f"ae_{name}" in defined
    for function in defined:
        first, *others = [use.start() for use in re.finditer(rf"\b{function}\(", own)]
        assert own[:first].rpartition("\n")[2].startswith("AE_"), f"{function} is called too early"
        assert others or function == f"ae_{name}", f"{function} is not called"
    called = set(re.findall(r"\b(aei?_\w+)\(", own))
    assert called <= {*defined, *re.findall(r"\b(aei_\w+)\(", common)}
    assert not re.search(r"_[fi]X\b|AE_LIBM|\b(?:real|natural)\b", own)


def test_needed_joins_without_repeating() -> None:
    text = maths.needed(["tanh_f32", "exp_f32", "sigmoid_f32", "exp_f32"])
    assert text.count("float ae_exp_f32(") == 1
    assert text == maths.needed(["exp_f32", "sigmoid_f32", "tanh_f32"])
    assert "double ae_exp_f64(" not in text


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError, match="ae_no_such_f32"):
        maths.needed(["no_such_f32"])
