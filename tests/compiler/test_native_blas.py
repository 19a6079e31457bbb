"""The BLAS of NumPy: found, told apart, and not trusted before it has multiplied."""

import ctypes
import importlib.metadata
import sys
from typing import Any

import numpy as np
import pytest

from autograd_engine.compiler.native.toolchain import blas
from autograd_engine.compiler.native.toolchain.blas import find_blas


@pytest.fixture(autouse=True)
def fresh() -> Any:
    find_blas.cache_clear()
    yield
    find_blas.cache_clear()


def brings_openblas() -> bool:
    files = importlib.metadata.files("numpy") or []
    return any("openblas" in str(name) for name in files)


@pytest.mark.skipif(not brings_openblas(), reason="this NumPy brings no OpenBLAS")
def test_the_one_that_numpy_brings_is_found() -> None:
    found = find_blas()
    assert found is not None
    assert "openblas" in found.path
    assert "openblas" in found.identity.lower()
    assert found.wide == ("USE64BITINT" in found.identity)
    assert found.get_threads
    assert found.set_threads
    threads = ctypes.CFUNCTYPE(ctypes.c_int)(found.get_threads)()
    assert 1 <= threads <= 4096


@pytest.mark.skipif(not brings_openblas(), reason="this NumPy brings no OpenBLAS")
@pytest.mark.skipif(sys.platform != "linux", reason="other builds may have threads of another kind")
def test_the_one_that_numpy_brings_lets_others_run_what_it_splits() -> None:
    found = find_blas()
    assert found is not None
    assert found.most_threads >= 2
    asked = ctypes.c_void_p.in_dll(ctypes.CDLL(found.path), "openblas_threads_callback_")
    before, asked.value = asked.value, None
    try:
        find_blas.cache_clear()
        free = find_blas()
        asked.value = found.sgemm  # never called
        find_blas.cache_clear()
        taken = find_blas()
    finally:
        asked.value = before
    assert free is not None
    assert taken is not None
    assert free.set_callback
    assert not taken.set_callback


@pytest.mark.parametrize(("real", "dtype"), [(ctypes.c_float, "f4"), (ctypes.c_double, "f8")])
def test_its_addresses_multiply(real: Any, dtype: str) -> None:
    found = find_blas()
    if found is None:
        pytest.skip("no BLAS found")
    integer = ctypes.c_int64 if found.wide else ctypes.c_int32
    code, pointer = ctypes.c_int, ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(
        None, code, code, code, integer, integer, integer, real, pointer, integer, pointer,
        integer, real, pointer, integer,
    )  # fmt: skip
    gemm = kind(found.sgemm if dtype == "f4" else found.dgemm)
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((6, 7)).astype(dtype), rng.standard_normal((7, 5)).astype(dtype)
    c = np.ones((6, 5), dtype)
    gemm(101, 111, 111, 6, 5, 7, 2.0, a.ctypes.data, 7, b.ctypes.data, 5, 3.0, c.ctypes.data, 5)
    expected = 2 * a.astype(float) @ b.astype(float) + 3
    np.testing.assert_allclose(c, expected, rtol=1e-5 if dtype == "f4" else 1e-13)


def test_none_where_no_library_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_libraries", lambda: iter(()))
    assert find_blas() is None


def test_a_file_that_is_not_loaded_is_left_alone() -> None:
    assert blas._already_loaded("/nowhere/libopenblas.so") is None


class Library:
    """A library with the symbols of a dictionary, as `ctypes.CDLL` gives them."""

    def __init__(self, symbols: dict[str, Any]) -> None:
        self.__dict__.update(symbols)


INTEGERS = {True: ctypes.c_int64, False: ctypes.c_int32}


def made(wide: bool, wrong: str = "") -> dict[str, Any]:
    """The functions of a BLAS, written with NumPy. ``wrong`` names one that miscalculates."""
    integer, code, pointer = INTEGERS[wide], ctypes.c_int, ctypes.c_void_p

    def view(address: int, shape: tuple[int, ...], step: int, real: Any) -> np.ndarray:
        kind = ctypes.POINTER(real)
        flat = np.ctypeslib.as_array(ctypes.cast(address, kind), (shape[0] * step,))
        return flat.reshape(shape[0], step)[:, : shape[1]]

    def gemm(real: Any, error: float) -> Any:
        def call(*given: Any) -> None:
            _, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc = given
            left = view(a, (k, m) if ta == 112 else (m, k), lda, real)
            right = view(b, (n, k) if tb == 112 else (k, n), ldb, real)
            product = (left.T if ta == 112 else left) @ (right.T if tb == 112 else right)
            out = view(c, (m, n), ldc, real)
            out[...] = alpha * product + error + (beta * out if beta else 0)

        return ctypes.CFUNCTYPE(
            None, code, code, code, integer, integer, integer, real, pointer, integer, pointer,
            integer, real, pointer, integer,
        )(call)  # fmt: skip

    def gemv(real: Any, error: float) -> Any:
        def call(*given: Any) -> None:
            _, ta, m, n, alpha, a, lda, x, step_x, beta, y, step_y = given
            matrix = view(a, (m, n), lda, real)
            matrix = matrix.T if ta == 112 else matrix
            out = view(y, (matrix.shape[0], 1), step_y, real)[:, 0]
            product = matrix @ view(x, (matrix.shape[1], 1), step_x, real)[:, 0]
            out[...] = alpha * product + error + (beta * out if beta else 0)

        return ctypes.CFUNCTYPE(
            None, code, code, integer, integer, real, pointer, integer, pointer, integer, real,
            pointer, integer,
        )(call)  # fmt: skip

    def dot(n: int, x: int, step_x: int, y: int, step_y: int) -> float:
        if n <= 0:
            return 0.0
        kind = ctypes.POINTER(ctypes.c_double)
        return sum(ctypes.cast(x, kind)[i] * ctypes.cast(y, kind)[i] for i in range(n))

    functions: dict[str, Any] = {}
    for letter, real in (("s", ctypes.c_float), ("d", ctypes.c_double)):
        for kind, maker in (("gemm", gemm), ("gemv", gemv)):
            name = f"cblas_{letter}{kind}"
            functions[name] = maker(real, 1.0 if name == wrong else 0.0)
    functions["cblas_ddot"] = ctypes.CFUNCTYPE(
        ctypes.c_double, integer, pointer, integer, pointer, integer
    )(dot)
    return functions


def callable_from_ctypes(functions: dict[str, Any], prefix: str, suffix: str) -> Library:
    """Foreign functions of no declared signature, like those of a library."""
    untyped = {}
    for name, function in functions.items():
        address = ctypes.cast(function, ctypes.c_void_p).value
        kind = ctypes.CFUNCTYPE(ctypes.c_int)
        untyped[prefix + name + suffix] = kind(address)
    return Library(untyped)


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize(("prefix", "suffix"), blas._AFFIXES)
def test_widths_of_integers_are_told_apart(wide: bool, prefix: str, suffix: str) -> None:
    functions = made(wide)
    found = blas._in(callable_from_ctypes(functions, prefix, suffix), "libfake.so")
    assert found is not None
    assert found.wide is wide
    assert found.sgemm == ctypes.cast(functions["cblas_sgemm"], ctypes.c_void_p).value
    assert found.set_threads == 0
    assert found.set_callback == 0
    assert "libfake.so" in found.identity


@pytest.mark.parametrize("wrong", ["cblas_sgemm", "cblas_dgemm", "cblas_sgemv", "cblas_dgemv"])
def test_one_that_miscalculates_is_not_trusted(wrong: str) -> None:
    functions = made(True, wrong)
    assert blas._in(callable_from_ctypes(functions, "", "64_"), "libfake.so") is None


@pytest.mark.parametrize("missing", ["cblas_sgemm", "cblas_dgemv", "cblas_ddot"])
def test_one_that_lacks_a_symbol_is_passed_over(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions = made(True)
    del functions[missing]
    library = callable_from_ctypes(functions, "", "")
    assert blas._in(library, "libfake.so") is None
    monkeypatch.setattr(blas, "_libraries", lambda: iter(["libfake.so"]))
    monkeypatch.setattr(blas, "_already_loaded", lambda path: library)
    assert find_blas() is None
