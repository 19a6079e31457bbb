"""The dtype of every reduction, scan and power: that of the reference, whoever computes it.

What is declared while a program is built, what eager mode gives, and what both backends compute
are one dtype of the engine, and where integers or bools come out one value.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.dtypes import DTYPES, kind
from autograd_engine.errors import DTypeError
from tests.compiler.helpers.native_kernels import needs_compiler, with_flags

static = paddle.static


@pytest.fixture(autouse=True, scope="module")
def quick_compiler() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CFLAGS", with_flags("-O1"))
        yield


FUNCTIONS: dict[str, Any] = {
    "sum": paddle.sum,
    "nansum": paddle.nansum,
    "prod": paddle.prod,
    "max": paddle.max,
    "min": paddle.min,
    "amax": paddle.amax,
    "amin": paddle.amin,
    "mean": paddle.mean,
    "nanmean": paddle.nanmean,
    "median": paddle.median,
    "nanmedian": paddle.nanmedian,
    "std": paddle.std,
    "var": paddle.var,
    "logsumexp": paddle.logsumexp,
    "count_nonzero": paddle.count_nonzero,
    "argmax": paddle.argmax,
    "argmin": paddle.argmin,
    "any": paddle.any,
    "all": paddle.all,
    "cumsum": paddle.cumsum,
    "cumprod": lambda x: paddle.cumprod(x, 0),
    "logcumsumexp": paddle.logcumsumexp,
    "cummax": paddle.cummax,
    "cummin": paddle.cummin,
    "norm": paddle.linalg.norm,
    "square": paddle.square,
    "pow": lambda x: paddle.pow(x, x),
    "pow 2": lambda x: x**2,
    "pow 3": lambda x: x**3,
    "pow 2.0": lambda x: x**2.0,
    "2 pow": lambda x: 2**x,
    "kthvalue": lambda x: paddle.kthvalue(x, 2),
    "mode": paddle.mode,
    "diff": paddle.diff,
    "trapezoid": paddle.trapezoid,
    "cumulative_trapezoid": paddle.cumulative_trapezoid,
    "quantile": lambda x: paddle.quantile(x, 0.5),
    "trace": lambda x: paddle.trace(paddle.diag(x)),
    "multiply": lambda x: x * x,
    "add": lambda x: x + x,
    "times 2": lambda x: x * 2,
    "scale 2.0": lambda x: paddle.scale(x, 2.0, 1),
    "atan2": lambda x: paddle.atan2(x, x),
    "dot": lambda x: paddle.dot(x, x),
    "dot of rows": lambda x: paddle.dot(x.unsqueeze(0), x.unsqueeze(0)),
}
TYPED: dict[str, Any] = {
    "sum": paddle.sum,
    "nansum": paddle.nansum,
    "prod": paddle.prod,
    "mean": paddle.mean,
    "cumsum": paddle.cumsum,
    "cumprod": lambda x, dtype: paddle.cumprod(x, 0, dtype=dtype),
}
VALUES = {"b": [True, False, True], "i": [3, -2, 120], "u": [3, 250, 120], "f": [1.5, -200.0, 0.25]}
VALUES["c"] = [1.5 + 1j, -2.0, 0.25j]


def operand(dtype: str) -> np.ndarray:
    return np.asarray(VALUES[kind(DTYPES[dtype].dtype)], dtype)


def calls(dtype: str) -> dict[str, Any]:
    """Every function, and those that take a dtype with each of them."""
    real = np.dtype(dtype).kind != "c"
    given = {
        f"{name} as {chosen}": lambda x, f=function, d=chosen: f(x, dtype=d)
        for name, function in TYPED.items()
        for chosen in DTYPES
        if real or chosen.startswith("complex")
    }
    return FUNCTIONS | given


def first(value: Any) -> Any:
    return value[0] if isinstance(value, (tuple, list)) else value


def eagerly(dtype: str) -> dict[str, np.ndarray]:
    """What eager mode makes of it, but for what it refuses."""
    found = {}
    for name, function in calls(dtype).items():
        with np.errstate(all="ignore"):
            try:
                found[name] = first(function(paddle.to_tensor(operand(dtype)))).numpy()
            except (TypeError, ValueError):
                continue
    return found


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_dtype_that_is_asked_for_is_given(dtype):
    found = eagerly(dtype)
    for name in found:
        if " as " in name:
            assert found[name].dtype == name.partition(" as ")[2], name
    assert {v.dtype.name for v in found.values()} <= set(DTYPES)


@pytest.mark.parametrize("backend", ["numpy", pytest.param("native", marks=needs_compiler)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_programs_declare_and_compute_what_eager_mode_does(dtype, backend):
    found = eagerly(dtype)
    with static.program_guard(static.Program(), static.Program()):
        x = static.data("x", [3], dtype)
        made = {name: first(calls(dtype)[name](x)) for name in found}
        exe = static.Executor(backend=backend)
        with np.errstate(all="ignore"):
            for _ in range(3):
                values = exe.run(feed={"x": operand(dtype)}, fetch_list=list(made.values()))
    for (name, variable), value in zip(made.items(), values, strict=True):
        expected = found[name]
        assert variable.dtype == expected.dtype == value.dtype, name
        if backend == "numpy" or expected.dtype.kind in "biu":
            np.testing.assert_array_equal(value, expected, err_msg=name)
        else:
            np.testing.assert_allclose(value, expected, rtol=1e-5, err_msg=name)


# What Paddle 3.3.1 gives for what it takes, and where it differs on purpose what there is here.
WHOLE = ["bool", "uint8", "int8", "int16", "int32", "int64"]
EXACT = {
    "sum": dict.fromkeys(WHOLE, "int64"),  # there bool and int32 alone; 255 + 1 of uint8 is 0
    "cumsum": dict.fromkeys(WHOLE, "int64"),
    "nansum": dict.fromkeys(WHOLE, "int64"),
    "prod": {**{d: d for d in WHOLE}, "bool": "int64"},
    "cumprod": {**{d: d for d in WHOLE}, "bool": "int64"},
    "max": {d: d for d in WHOLE},
    "cummax": {d: d for d in WHOLE},
    "mean": dict.fromkeys(WHOLE, "float32"),  # there that of x, cut off
    "logsumexp": dict.fromkeys(WHOLE, "float32"),
    "logcumsumexp": dict.fromkeys(WHOLE, "float32"),
    "median": dict.fromkeys(WHOLE, "float32"),
    "count_nonzero": dict.fromkeys(WHOLE, "int64"),
    "argmax": dict.fromkeys(WHOLE, "int64"),
    "any": dict.fromkeys(WHOLE, "bool"),
    "square": {**{d: d for d in WHOLE}, "bool": "int64"},
    "pow": {**{d: d for d in WHOLE}, "bool": "int64"},
    "pow 2": {**{d: d for d in WHOLE}, "bool": "int64"},
    "pow 2.0": dict.fromkeys(WHOLE, "float32"),
    "2 pow": {**{d: d for d in WHOLE}, "bool": "int64"},
    "times 2": {**{d: d for d in WHOLE}, "bool": "int64"},
    "multiply": {d: d for d in WHOLE},
    "scale 2.0": {d: d for d in WHOLE if d != "bool"},
    "atan2": {d: "float64" for d in WHOLE if d != "bool"},
    "dot": {"int32": "int32", "int64": "int64"},
    "dot of rows": {"int32": "int32", "int64": "int64"},
}


@pytest.mark.parametrize("name", EXACT)
def test_of_integers_they_are_those_of_the_reference(name):
    for dtype, expected in EXACT[name].items():
        x = paddle.to_tensor(np.abs(operand(dtype)) if dtype != "bool" else operand(dtype))
        assert first(FUNCTIONS[name](x)).dtype == expected, dtype


@pytest.mark.parametrize("name", EXACT)
def test_of_floats_they_are_their_own(name):
    for dtype in ("float16", "float32", "float64"):
        with np.errstate(over="ignore"):
            found = first(FUNCTIONS[name](paddle.to_tensor(np.abs(operand(dtype)))))
        fixed = {"count_nonzero": "int64", "argmax": "int64", "any": "bool"}
        assert found.dtype == fixed.get(name, dtype)


def test_sums_and_products_of_integers():
    x = paddle.to_tensor(np.full(3, 250, np.uint8))
    assert (paddle.sum(x).item(), paddle.sum(x, dtype="uint8").item()) == (750, 750 % 256)
    assert paddle.sum(x).dtype == "int64"
    assert paddle.sum(x, dtype="bool").item() is True
    assert paddle.cumsum(x, dtype="uint8").tolist() == [250, 500 % 256, 750 % 256]
    assert paddle.square(paddle.to_tensor([True, False])).tolist() == [1, 0]
    assert (paddle.to_tensor([True, False]) ** 0).tolist() == [1, 1]
    big = paddle.to_tensor(np.asarray([2**40 + 1, 2**40 + 3]))
    assert paddle.mean(big, dtype="int64").item() == 2**40 + 2
    assert paddle.mean(paddle.to_tensor([-1, -2]), dtype="int32").item() == -1
    with pytest.raises(DTypeError, match="complex64 values have no int32 form"):
        paddle.sum(paddle.to_tensor([1j]), dtype="int32")
