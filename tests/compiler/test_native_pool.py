"""The pool of threads and the matrix products of the runtime."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograd_engine.compiler.native import runtime as runtimes
from autograd_engine.compiler.native.runtime import (
    Runtime,
    default_threads,
    get_runtime,
    header,
)
from autograd_engine.compiler.native.toolchain import compiler as toolchain
from autograd_engine.compiler.native.toolchain.library_cache import load
from tests.over import over

pytestmark = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")),
    reason="no C compiler on PATH",
)
ROOT = Path(__file__).parents[2]
SOURCE = """
struct counts { int64_t *visits, *chunks; int *worst; int64_t spin; };

static void count(void *context, int64_t lo, int64_t hi, int worker)
{
    struct counts *c = context;
    for (int64_t i = lo; i < hi; i++)
        c->visits[i] += 1;
    __atomic_fetch_add(c->chunks, 1, __ATOMIC_RELAXED);
    if (worker < 0 || worker >= ae_threads())
        *c->worst = 1;
    for (volatile int64_t i = 0; i < c->spin; i++)
        ;
}

void cover(int64_t n, int64_t grain, int64_t spin, int64_t *visits, int64_t *chunks, int *worst);
void cover(int64_t n, int64_t grain, int64_t spin, int64_t *visits, int64_t *chunks, int *worst)
{
    struct counts c = {visits, chunks, worst, spin};
    ae_parallel(count, &c, n, grain);
}

void cover_blocks(int64_t n, int64_t *visits, int64_t *chunks, int *worst);
void cover_blocks(int64_t n, int64_t *visits, int64_t *chunks, int *worst)
{
    struct counts c = {visits, chunks, worst, 0};
    ae_parallel_blocks(count, &c, n);
}

static void nested(void *context, int64_t lo, int64_t hi, int worker)
{
    struct counts *c = context;
    (void)worker;
    for (int64_t i = lo; i < hi; i++) {
        struct counts inner = *c;
        inner.visits = c->visits + 100 * i;
        ae_parallel(count, &inner, 100, 7);
    }
}

void cover_nested(int64_t n, int64_t *visits, int64_t *chunks, int *worst);
void cover_nested(int64_t n, int64_t *visits, int64_t *chunks, int *worst)
{
    struct counts c = {visits, chunks, worst, 0};
    ae_parallel(nested, &c, n, 1);
}

struct bounds { int64_t *ends; };

static void note(void *context, int64_t lo, int64_t hi, int worker)
{
    (void)worker;
    ((int64_t *)context)[lo] = hi;
}

void boundaries(int64_t n, int64_t grain, int64_t *ends);
void boundaries(int64_t n, int64_t grain, int64_t *ends) { ae_parallel(note, ends, n, grain); }

struct workers { int seen[64]; };

static void who(void *context, int64_t lo, int64_t hi, int worker)
{
    struct workers *w = context;
    (void)lo, (void)hi;
    __atomic_store_n(&w->seen[worker], 1, __ATOMIC_RELAXED);
    for (volatile int i = 0; i < 200000; i++)
        ;
}

int64_t workers_used(int64_t blocks);
int64_t workers_used(int64_t blocks)
{
    struct workers w = {{0}};
    int64_t used = 0;
    ae_parallel_blocks(who, &w, blocks);
    for (int i = 0; i < 64; i++)
        used += w.seen[i];
    return used;
}

struct sum { const double *x; double *parts; int64_t n, blocks; };

static void add_up(void *context, int64_t lo, int64_t hi, int worker)
{
    struct sum *s = context;
    (void)worker;
    for (int64_t block = lo; block < hi; block++) {
        double total = 0;
        for (int64_t i = block * s->n / s->blocks; i < (block + 1) * s->n / s->blocks; i++)
            total += s->x[i];
        s->parts[block] = total;
    }
}

double summed(const double *x, int64_t n, double *parts, int64_t blocks);
double summed(const double *x, int64_t n, double *parts, int64_t blocks)
{
    struct sum s = {x, parts, n, blocks};
    double total = 0;
    ae_parallel_blocks(add_up, &s, blocks);
    for (int64_t i = 0; i < blocks; i++)
        total += parts[i];
    return total;
}

#define GEMM(S, R) \\
    void gemm_##S(int ta, int tb, int64_t m, int64_t n, int64_t k, R alpha, const R *a, \\
                  int64_t lda, const R *b, int64_t ldb, R beta, R *c, int64_t ldc) \\
    { ae_gemm_##S(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); } \\
    void batch_##S(int64_t count, int ta, int tb, int64_t m, int64_t n, int64_t k, R alpha, \\
                   const R *a, int64_t lda, int64_t sa, const R *b, int64_t ldb, int64_t sb, \\
                   R beta, R *c, int64_t ldc, int64_t sc) \\
    { ae_gemm_batch_##S(count, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc); }
GEMM(f32, float)
GEMM(f64, double)

struct product { const float *a, *b; float *c; int64_t size; };

static void one_product(void *context, int64_t lo, int64_t hi, int worker)
{
    struct product *p = context;
    int64_t s = p->size;
    (void)worker;
    for (int64_t i = lo; i < hi; i++)
        ae_gemm_f32(0, 0, s, s, s, 1, p->a, s, p->b, s, 0, p->c + i * s * s, s);
}

void products_inside(const float *a, const float *b, float *c, int64_t size, int64_t count);
void products_inside(const float *a, const float *b, float *c, int64_t size, int64_t count)
{
    struct product p = {a, b, c, size};
    ae_parallel_blocks(one_product, &p, count);
}
"""
INT, LONG, POINTER = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Runtime, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("AUTOGRAD_ENGINE_NATIVE", raising=False)
        tools = toolchain.find_toolchain()
        assert tools is not None, toolchain.why_not()
        runtime = get_runtime(tools)
        library = load(header() + SOURCE, tools)
        runtime.bind(library)
        library.summed.restype = ctypes.c_double
        library.workers_used.restype = LONG
        before = runtime.threads
        yield runtime, library
        runtime.set_threads(before)


@pytest.fixture(params=[1, 2, 4])
def library(request: pytest.FixtureRequest, pool: tuple[Runtime, Any]) -> Iterator[Any]:
    runtime, library = pool
    before = runtime.threads
    runtime.set_threads(request.param)
    yield library
    runtime.set_threads(before)


def pointer(array: np.ndarray) -> Any:
    return POINTER(array.ctypes.data)


def cover(library: Any, n: int, grain: int, spin: int = 0) -> tuple[np.ndarray, int]:
    visits, chunks, worst = np.zeros(n, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int32)
    library.cover(
        LONG(n), LONG(grain), LONG(spin), pointer(visits), pointer(chunks), pointer(worst)
    )
    assert worst[0] == 0, "a worker number out of range"
    return visits, int(chunks[0])


@over("n", [0, 1, 2, 3, 7, 64, 65, 1000, 100_003])
@over("grain", [1, 16, 1000])
def test_each_index_is_visited_once(library: Any, n: int, grain: int) -> None:
    for _ in range(20):
        visits, chunks = cover(library, n, grain)
        assert (visits == 1).all()
        assert chunks == (0 if n == 0 else 1) or n > grain


def test_small_regions_start_no_thread(pool: tuple[Runtime, Any]) -> None:
    code = """
        from autograd_engine.compiler.native import runtime as r
        from autograd_engine.compiler.native.toolchain import compiler as toolchain
        import tests.compiler.test_native_pool as t
        runtime = r.get_runtime(toolchain.find_toolchain())
        library = t.load(r.header() + t.SOURCE, toolchain.find_toolchain())
        runtime.bind(library)
        runtime.set_threads(3)
        assert t.cover(library, 100, 100)[1] == 1
        assert runtime.workers == 0
        t.cover(library, 100, 10)
        assert runtime.workers == 2
        print(runtime.threads)
    """
    assert in_process(code) == "3"


def in_process(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_chunks_depend_on_sizes_alone(pool: tuple[Runtime, Any]) -> None:
    """The same boundaries whether the pool is free, taken by another thread, or not needed."""
    runtime, library = pool
    runtime.set_threads(3)

    def ends() -> list[int]:
        found = np.zeros(10_000, np.int64)
        library.boundaries(LONG(10_000), LONG(100), pointer(found))
        return [int(end) for end in found if end]

    expected = ends()
    assert expected[-1] == 10_000
    assert len(expected) > 3
    busy = threading.Thread(target=cover, args=(library, 64, 1, 3_000_000))
    busy.start()
    while busy.is_alive():
        assert ends() == expected
    busy.join()
    assert ends() == expected


def test_several_threads_take_part(pool: tuple[Runtime, Any]) -> None:
    runtime, library = pool
    runtime.set_threads(3)
    # Under load a worker may come too late, but not every time.
    most = max(library.workers_used(LONG(64)) for _ in range(200))
    assert 2 <= most <= 3
    runtime.set_threads(1)
    assert library.workers_used(LONG(64)) == 1


def test_blocks_are_given_out_once_each(library: Any) -> None:
    for n in (0, 1, 5, 33):
        visits, chunks, worst = np.zeros(n, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int32)
        library.cover_blocks(LONG(n), pointer(visits), pointer(chunks), pointer(worst))
        assert (visits == 1).all()
        assert worst[0] == 0


def test_a_region_inside_a_region_runs_in_its_thread(library: Any) -> None:
    for _ in range(20):
        visits, chunks = np.zeros(40 * 100, np.int64), np.zeros(1, np.int64)
        worst = np.zeros(1, np.int32)
        library.cover_nested(LONG(40), pointer(visits), pointer(chunks), pointer(worst))
        assert (visits == 1).all()
        assert worst[0] == 0


def test_sums_by_block_have_the_same_bits(pool: tuple[Runtime, Any]) -> None:
    runtime, library = pool
    x = np.random.default_rng(0).standard_normal(100_000)
    parts = np.zeros(37)
    totals = set()
    for count in (1, 2, 3, 5):
        runtime.set_threads(count)
        for _ in range(20):
            totals.add(library.summed(pointer(x), LONG(x.size), pointer(parts), LONG(37)))
    assert len(totals) == 1
    np.testing.assert_allclose(totals.pop(), x.sum(), rtol=1e-9)


def test_python_threads_call_at_the_same_time(pool: tuple[Runtime, Any]) -> None:
    runtime, library = pool
    runtime.set_threads(3)
    problems: list[str] = []

    def calls() -> None:
        for i in range(300):
            visits, _ = cover(library, 500 + i, 1 + i % 50)
            if not (visits == 1).all():
                problems.append(f"{i}: {visits}")

    threads = [threading.Thread(target=calls) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "deadlock"
    assert problems == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_has_a_pool_of_its_own(pool: tuple[Runtime, Any]) -> None:
    """Forked while another thread is inside a region."""
    runtime, library = pool
    runtime.set_threads(3)
    cover(library, 1000, 1)
    stop = threading.Event()

    def calls() -> None:
        while not stop.is_set():
            cover(library, 64, 1, 2000)

    thread = threading.Thread(target=calls)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(30)
                fine = runtime.workers == 0
                visits, _ = cover(library, 1000, 1)
                fine = fine and bool((visits == 1).all()) and runtime.workers == 2
                a = np.ones((200, 200), np.float32)
                c = np.zeros((200, 200), np.float32)
                gemm(library, a, a, c)
                os._exit(0 if fine and (c == 200).all() else 1)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no control of processors")
def test_a_competing_load_does_not_stop_it(pool: tuple[Runtime, Any]) -> None:
    runtime, library = pool
    runtime.set_threads(2)
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        os.sched_setaffinity(busy.pid, {min(os.sched_getaffinity(0))})
        start = time.monotonic()
        for i in range(500):
            visits, _ = cover(library, 256, 8, 2000 if i % 10 == 0 else 0)
            assert (visits == 1).all()
        assert time.monotonic() - start < 60
    finally:
        busy.kill()
        busy.wait()


def test_signals_are_for_the_threads_of_python(pool: tuple[Runtime, Any]) -> None:
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("no /proc")
    runtime, library = pool
    before = {int(name) for name in os.listdir("/proc/self/task")}
    workers = runtime.workers
    runtime.set_threads(workers + 3)
    for _ in range(65):  # after a delay as many as 64 regions do without the pool
        cover(library, 1000, 1)
    assert runtime.workers == workers + 2
    started = {int(name) for name in os.listdir("/proc/self/task")} - before
    assert len(started) >= 2
    for thread in started:
        text = Path(f"/proc/self/task/{thread}/status").read_text()
        [blocked] = [line.split()[1] for line in text.splitlines() if line.startswith("SigBlk")]
        assert int(blocked, 16) >> (signal.SIGINT - 1) & 1


@pytest.mark.parametrize(("given", "expected"), [("1", "1"), ("1,4", "1"), ("", None)])
def test_omp_num_threads_is_honoured(given: str, expected: str | None) -> None:
    code = """
        from autograd_engine.compiler.native import runtime
        from autograd_engine.compiler.native.toolchain import compiler as toolchain
        before = runtime.threads()
        assert runtime.get_runtime(toolchain.find_toolchain()).threads == before
        print(before)
    """
    found = in_process(code, OMP_NUM_THREADS=given)
    if expected is None:
        expected = str(default_threads()) if "OMP_NUM_THREADS" not in os.environ else found
    assert found == expected


def test_how_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtimes, "_QUOTA", "/nowhere")
    monkeypatch.setattr(os, "process_cpu_count", lambda: 6, raising=False)
    for text, expected in (
        ("", 6), ("4", 4), (" 3 , 2", 3), ("64", 6), ("0", 6), ("-2", 6), ("many", 6),
    ):  # fmt: skip
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert default_threads() == expected, text


@pytest.mark.parametrize(
    ("text", "expected"), [("150000 100000\n", 2), ("max 100000\n", 6), ("1000 100000", 1)]
)
def test_a_share_of_processor_time_is_heeded(
    text: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text(text)
    monkeypatch.setattr(runtimes, "_QUOTA", str(tmp_path / "cpu.max"))
    monkeypatch.setattr(os, "process_cpu_count", lambda: 6, raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert default_threads() == expected


def test_the_number_of_threads_is_checked(pool: tuple[Runtime, Any]) -> None:
    for wrong in (0, -1, 2.0, "2", True):
        with pytest.raises(ValueError, match="from 1 on"):
            runtimes.set_threads(wrong)  # type: ignore[arg-type]


def gemm(
    library: Any,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    ta: bool = False,
    tb: bool = False,
    alpha: float = 1.0,
    beta: float = 0.0,
) -> None:
    """`ae_gemm` of what may be parts of larger matrices."""
    real = ctypes.c_float if a.dtype == np.float32 else ctypes.c_double
    call = library.gemm_f32 if a.dtype == np.float32 else library.gemm_f64
    m, k = a.shape[::-1] if ta else a.shape
    step_a, step_b, step_c = (array.strides[0] // array.itemsize for array in (a, b, c))
    call(
        INT(ta), INT(tb), LONG(m), LONG(c.shape[1]), LONG(k), real(alpha), pointer(a),
        LONG(step_a), pointer(b), LONG(step_b), real(beta), pointer(c), LONG(step_c),
    )  # fmt: skip


SIZES = [
    (1, 1, 1), (2, 3, 4), (1, 7, 5), (7, 1, 5), (1, 1, 50), (4, 4, 4), (17, 33, 9), (64, 64, 64),
    (1, 900, 700), (900, 1, 700), (128, 10, 256), (130, 257, 100), (33, 1025, 60), (1000, 20, 90),
    (6, 8, 9), (97, 40, 300), (100, 17, 512), (205, 270, 31), (11, 500, 260), (70, 90, 200),
    (3, 0, 4), (0, 3, 4), (3, 4, 0), (1, 4, 0),
]  # fmt: skip


@over("size", SIZES, ids=[str(s) for s in SIZES])
@over("dtype", ["f4", "f8"])
def test_products_are_those_of_numpy(library: Any, size: tuple[int, int, int], dtype: str) -> None:
    check_products(library, size, dtype)


@pytest.mark.thorough
@over("size", SIZES, ids=[str(s) for s in SIZES])
@over("dtype", ["f4", "f8"])
def test_products_without_a_blas(
    pool: tuple[Runtime, Any], size: tuple[int, int, int], dtype: str
) -> None:
    runtime, library = pool
    runtime.set_blas(None)
    try:
        check_products(library, size, dtype)
    finally:
        runtime.set_blas(runtime.blas)


def check_products(library: Any, size: tuple[int, int, int], dtype: str) -> None:
    m, n, k = size
    rng = np.random.default_rng(0)
    tolerance = 1e-5 if dtype == "f4" else 1e-13
    for ta in (False, True):
        for tb in (False, True):
            for alpha, beta, padding in ((1.0, 0.0, 3), (-0.5, 0.25, 0)):
                shape_a, shape_b = ((k, m) if ta else (m, k)), ((n, k) if tb else (k, n))
                a, b, before = (
                    rng.standard_normal((rows, columns + padding)).astype(dtype)[:, :columns]
                    for rows, columns in (shape_a, shape_b, (m, n))
                )
                whole = np.full((m, n + padding), np.nan, dtype)
                c = whole[:, :n]
                c[...] = before if beta else np.nan  # which is not read
                gemm(library, a, b, c, ta, tb, alpha, beta)
                left, right = (a.T if ta else a).astype(float), (b.T if tb else b).astype(float)
                exact = alpha * (left @ right) + (beta * before if beta else 0)
                scale = np.abs(left) @ np.abs(right) + 1 if c.size else 1.0
                assert (np.abs(c - exact) <= tolerance * scale).all(), (ta, tb, alpha, beta)
                assert np.isnan(whole[:, n:]).all(), "written beyond the columns"


def test_infinities_and_nan_pass_through(library: Any) -> None:
    for size in (2, 40, 300):
        a = np.ones((size, size), np.float32)
        a[0, 0], a[1, 1] = np.inf, np.nan
        c = np.zeros_like(a)
        gemm(library, a, np.ones_like(a), c)
        assert np.isposinf(c[0]).all()
        assert np.isnan(c[1]).all()
        assert (c[2:] == size).all()


def test_rows_of_any_leading_dimension(library: Any) -> None:
    """A matrix of one row may say anything about where the next would be."""
    rng = np.random.default_rng(1)
    b, x = rng.standard_normal((5, 6)), rng.standard_normal(5)
    c = np.zeros(6)
    library.gemm_f64(
        INT(0), INT(0), LONG(1), LONG(6), LONG(5), ctypes.c_double(1), pointer(x), LONG(1),
        pointer(b), LONG(6), ctypes.c_double(0), pointer(c), LONG(1),
    )  # fmt: skip
    np.testing.assert_allclose(c, x @ b, rtol=1e-13)


BATCHES = [
    # count, m, n, k, whether the right operand is shared
    (1, 3, 4, 5, False), (6, 3, 4, 5, False), (6, 3, 4, 5, True), (7, 1, 9, 4, False),
    (40, 60, 50, 30, False), (40, 60, 50, 30, True), (2, 150, 140, 130, False), (0, 3, 4, 5, False),
    (5, 3, 4, 0, False), (5, 0, 4, 3, False),
]  # fmt: skip


@over("batch", BATCHES, ids=[str(b) for b in BATCHES])
@over("ta", [False, True])
def test_batches_are_those_of_numpy(
    library: Any, batch: tuple[int, int, int, int, bool], ta: bool
) -> None:
    count, m, n, k, shared = batch
    rng = np.random.default_rng(0)
    for dtype, real, call in (
        (np.float32, ctypes.c_float, library.batch_f32),
        (np.float64, ctypes.c_double, library.batch_f64),
    ):
        a = rng.standard_normal((count, *((k, m) if ta else (m, k)))).astype(dtype)
        b = rng.standard_normal((1 if shared else count, k, n)).astype(dtype)
        before = rng.standard_normal((count, m, n)).astype(dtype)
        c = before.copy()
        call(
            LONG(count), INT(ta), INT(0), LONG(m), LONG(n), LONG(k), real(2), pointer(a),
            LONG(a.shape[2]), LONG(m * k), pointer(b), LONG(n), LONG(0 if shared else k * n),
            real(0.5), pointer(c), LONG(n), LONG(m * n),
        )  # fmt: skip
        left = np.swapaxes(a, 1, 2) if ta else a
        exact = 2 * (left.astype(float) @ b.astype(float)) + 0.5 * before
        tolerance = 1e-5 if dtype == np.float32 else 1e-13
        assert (np.abs(c - exact) <= tolerance * (k + 1) * 10).all()


def test_products_that_add_to_one_result(library: Any) -> None:
    """A stride of 0 for C: the sum over the batch."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((50, 40, 60)), rng.standard_normal((50, 60, 30))
    c = np.zeros((40, 30))
    one = ctypes.c_double(1)
    library.batch_f64(
        LONG(50), INT(0), INT(0), LONG(40), LONG(30), LONG(60), one, pointer(a), LONG(60),
        LONG(2400), pointer(b), LONG(30), LONG(1800), one, pointer(c), LONG(30), LONG(0),
    )  # fmt: skip
    np.testing.assert_allclose(c, np.einsum("bik,bkj->ij", a, b), rtol=1e-10, atol=1e-10)


def test_products_inside_a_region(library: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((150, 150)).astype(np.float32) for _ in range(2))
    c = np.zeros((6, 150, 150), np.float32)
    library.products_inside(pointer(a), pointer(b), pointer(c), LONG(150), LONG(6))
    for product in c:
        np.testing.assert_allclose(product, a @ b, rtol=1e-4, atol=1e-4)


def test_the_threads_of_the_blas_are_restored(pool: tuple[Runtime, Any]) -> None:
    runtime, library = pool
    if runtime.blas is None or not runtime.blas.set_threads:
        pytest.skip("this BLAS does not let itself be told")
    get = ctypes.CFUNCTYPE(INT)(runtime.blas.get_threads)
    put = ctypes.CFUNCTYPE(None, INT)(runtime.blas.set_threads)
    before = get()
    a = np.ones((300, 300), np.float32)
    runtime.set_threads(2)
    try:
        for count in (3, 1):
            put(count)
            results = np.zeros((3, 300, 300), np.float32)
            threads = [threading.Thread(target=gemm, args=(library, a, a, c)) for c in results]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            assert get() == count
            assert (results == 300).all()
    finally:
        put(before)


def test_products_of_one_split_have_the_same_bits(pool: tuple[Runtime, Any]) -> None:
    """Whether the pool was free or taken: the pieces of a product depend on its size alone."""
    runtime, library = pool
    runtime.set_threads(2)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((257, 257)).astype(np.float32) for _ in range(2))
    expected = np.zeros((257, 257), np.float32)
    gemm(library, a, b, expected)
    busy = threading.Thread(target=cover, args=(library, 64, 1, 3_000_000))
    busy.start()
    while busy.is_alive():
        c = np.zeros_like(expected)
        gemm(library, a, b, c)
        assert (c == expected).all()
    busy.join()


@over("dtype", [np.float32, np.float64])
@over(
    "size",
    [(129, 300, 100), (49, 400, 600), (700, 90, 110), (400, 37, 200), (11, 1500, 260),
     (1, 900, 900), (900, 1, 900), (530, 520, 32)],
)  # fmt: skip
@over("how", [(False, False), (True, False), (False, True), (True, True)])
def test_bits_of_products_do_not_depend_on_threads(
    pool: tuple[Runtime, Any], size: tuple[int, int, int], dtype: Any, how: tuple[bool, bool]
) -> None:
    runtime, library = pool
    (m, n, k), (ta, tb), rng = size, how, np.random.default_rng(0)
    a = rng.standard_normal((k, m) if ta else (m, k)).astype(dtype)
    b = rng.standard_normal((n, k) if tb else (k, n)).astype(dtype)
    found = set()
    for count in (1, 2, 3, 8):
        runtime.set_threads(count)
        c = np.zeros((m, n), dtype)
        gemm(library, a, b, c, ta, tb)
        found.add(c.tobytes())
    assert len(found) == 1


JOBS = """
    import ctypes, os, signal, threading, time
    import numpy as np
    from autograd_engine.compiler.native import runtime as r
    from autograd_engine.compiler.native.toolchain import compiler as toolchain
    import tests.compiler.test_native_pool as t

    rng = np.random.default_rng(0)
    operands = [
        (rng.standard_normal((m, k)).astype(d), rng.standard_normal((k, n)).astype(d))
        for m, k, n in [(300, 200, 250), (500, 400, 1), (1, 700, 300), (90, 90, 90)]
        for d in (np.float32, np.float64, np.complex128)
    ]
    matrix, right = rng.standard_normal((400, 400)), rng.standard_normal(400)

    def computed():
        found = [x @ y for x, y in operands]
        return b"".join(z.tobytes() for z in [*found, np.linalg.solve(matrix, right)])

    expected = computed()
    tools = toolchain.find_toolchain()
    runtime = r.get_runtime(tools)
    blas = runtime.blas
    threads = ctypes.CFUNCTYPE(ctypes.c_int)(blas.get_threads)() if blas and blas.get_threads else 1
    if threads < 2 or not blas.set_callback:
        print("its own")
        raise SystemExit
"""


def with_jobs(code: str) -> None:
    """Run what is to print "fine" where the pool runs what the BLAS splits."""
    done = in_process(textwrap.dedent(JOBS) + textwrap.dedent(code), OPENBLAS_NUM_THREADS="4")
    if done == "its own":
        pytest.skip("a BLAS that asks nobody for threads, or one processor")
    assert done == "fine"


def test_the_pool_runs_what_the_blas_splits(pool: tuple[Runtime, Any]) -> None:
    with_jobs("""
        for _ in range(5):
            assert computed() == expected
        assert runtime.workers == threads - 1
        time.sleep(0.2)  # the threads of the BLAS factor matrices, and wait in a loop
        x, y = operands[0]
        x @ y
        time.sleep(0.01)  # after which no thread looks for another product
        before = time.process_time()
        time.sleep(0.08)
        assert time.process_time() - before < 0.04
        print("fine")
    """)


def test_what_the_blas_splits_while_the_pool_is_taken(pool: tuple[Runtime, Any]) -> None:
    with_jobs("""
        library = t.load(r.header() + t.SOURCE, tools)
        runtime.bind(library)
        runtime.set_threads(2)
        stop, wrong = threading.Event(), []

        def regions():
            while not stop.is_set():
                t.cover(library, 64, 1, 100_000)

        def products():
            for _ in range(8):
                if computed() != expected:
                    wrong.append(1)

        busy = threading.Thread(target=regions)
        both = [threading.Thread(target=products) for _ in range(2)]
        for thread in [busy, *both]:
            thread.start()
        for thread in both:
            thread.join()
        stop.set()
        busy.join()
        assert not wrong
        print("fine")
    """)


def test_jobs_of_the_blas_bring_their_memory(pool: tuple[Runtime, Any]) -> None:
    """By its threads' numbers, the BLAS gives it to others when a fork ended these threads."""
    with_jobs("""
        words = "routine position assigned args m n a b next".split()

        class Job(ctypes.Structure):
            _fields_ = [(word, ctypes.c_void_p) for word in words] + [("rest", ctypes.c_char * 96)]

        asked = ctypes.c_void_p.in_dll(ctypes.CDLL(blas.path), "openblas_threads_callback_").value
        kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        run = ctypes.CFUNCTYPE(
            None, ctypes.c_int, kind, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int
        )(asked)
        jobs = (Job * threads)()
        for i in range(threads):
            jobs[i].position = i
            jobs[i].next = ctypes.addressof(jobs[i + 1]) if i + 1 < threads else None
        own = (ctypes.c_char * 8)()
        jobs[0].a = ctypes.addressof(own)
        seen = {}

        def job(number, address, info):
            found = Job.from_address(address)
            seen[found.position or 0] = number, found.a

        run(1, kind(job), threads, ctypes.sizeof(Job), ctypes.addressof(jobs), 0)
        assert seen[0][1] == jobs[0].a == ctypes.addressof(own)
        others = [seen[i][1] for i in range(1, threads)]
        assert None not in others
        assert len({number for number, _ in seen.values()}) == threads
        assert len({*others, jobs[0].a}) == threads
        assert all(jobs[i].a is None for i in range(1, threads))
        print("fine")
    """)


@pytest.mark.skipif(sys.platform != "linux", reason="threads are limited in another way")
def test_what_the_blas_splits_where_the_system_gives_no_thread(pool: tuple[Runtime, Any]) -> None:
    with_jobs("""
        import resource

        if os.geteuid() == 0:  # who may have any number of threads
            os.setuid(65534)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        signal.alarm(60)
        assert runtime.workers == 0
        for _ in range(3):
            assert computed() == expected
        assert runtime.workers == 0
        print("fine")
    """)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_what_the_blas_splits_in_a_child(pool: tuple[Runtime, Any]) -> None:
    with_jobs("""
        assert computed() == expected
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            fine = runtime.workers == 0 and computed() == expected
            os._exit(0 if fine and runtime.workers == threads - 1 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert computed() == expected
        print("fine")
    """)


def test_several_units_share_one_table(pool: tuple[Runtime, Any]) -> None:
    runtime, _ = pool
    tools = toolchain.find_toolchain()
    assert tools is not None
    first = header() + "int first(void);\nint first(void) { return ae_threads(); }\n"
    second = (
        header(later_unit=True) + "int second(void);\nint second(void) { return ae_threads(); }\n"
    )
    library = load([first, second], tools)
    runtime.bind(library)
    runtime.set_threads(5)
    assert (library.first(), library.second()) == (5, 5)


def test_the_header_compiles_without_a_warning(pool: tuple[Runtime, Any]) -> None:
    tools = toolchain.find_toolchain()
    assert tools is not None
    strict = tools.with_flags("-Wall", "-Wextra", "-Werror")
    load(header() + "int nothing(void);\nint nothing(void) { return 0; }\n", strict)
    load(runtimes.runtime_source(), strict)
