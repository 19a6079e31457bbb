"""What every test starts from."""

import ctypes
import gc
import linecache
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import autograd_engine as paddle
from tests.fresh import fresh_state
from tests.over import registered
from tests.processors import machine
from tests.tiers import is_quick

# Programs are compared with eager mode bit by bit; tests of native code ask for it.
os.environ.setdefault("AUTOGRAD_ENGINE_BACKEND", "numpy")
# Who works on the engine wants to see its frames.
os.environ.setdefault("AUTOGRAD_ENGINE_FULL_TRACEBACK", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough",
        action="store_true",
        help="also what takes long and has a representative in the rest, and all samples",
    )
    parser.addoption(
        "--processors",
        metavar="NAMES",
        default="",
        help="run tests/processors as if on these processors: 'all', or names with commas between",
    )


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what runs in the background with interrupts ignored, and children inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if Resident.STATM.exists() and hasattr(ctypes.CDLL(None), "malloc_trim"):
        config.pluginmanager.register(Resident())
    config.addinivalue_line("markers", "processors: run as if on other processors, when asked for")
    config.addinivalue_line("markers", "quick: says of every room whether it works, in a minute")
    config.addinivalue_line("markers", "thorough: takes long, and is left out without --thorough")


def pytest_itemcollected(item: pytest.Item) -> None:
    registered(item)
    if is_quick(item.path):
        item.add_marker("quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what takes long and what passes for other processors, unless it is asked for."""
    asked = config.getoption("--processors").split(",")

    def wanted(item: pytest.Item) -> bool:
        if item.get_closest_marker("thorough") and not config.getoption("--thorough"):
            return False
        other = item.get_closest_marker("processors")
        return not other or bool({"all", item.callspec.id} & set(asked))  # type: ignore[attr-defined]

    left_out = [item for item in items if not wanted(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if wanted(item)]


def pytest_collection_finish() -> None:
    """What was collected stays to the end: the garbage collector need not walk it each time.

    The lines of all modules do not, which were read to look for doctests.
    """
    for name in [name for name in linecache.cache if os.path.exists(name)]:  # not of generated code
        del linecache.cache[name]
    gc.collect()
    gc.freeze()


class Resident:
    """Memory that freed objects still hold is given back after tests that took much of it.

    The engine keeps freed memory for the next step of a training; among thousands of tests it is
    only the peak of each worker. What is left are libraries that tests have imported and what the
    engine keeps: the collector need not walk them either, a tenth of a second each time.
    """

    STATM = Path("/proc/self/statm")
    GROWTH = 24 << 20

    def __init__(self) -> None:
        self.least = self.now()

    def now(self) -> int:
        pages = self.STATM.read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE")

    def pytest_runtest_logfinish(self) -> None:
        if self.now() > self.least + self.GROWTH:
            gc.collect()
            gc.freeze()
            ctypes.CDLL(None).malloc_trim(0)
            self.least = self.now()


def pytest_report_header() -> list[str]:
    """What bits and times depend on."""
    return machine.described()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How much was checked; which processors the tests passed for, and what became of it."""
    kinds = ("passed", "failed", "skipped", "xfailed", "xpassed", "error")
    ran = [r for k in kinds for r in terminalreporter.stats.get(k, ())]
    tests = {
        r.nodeid: dict(r.user_properties).get("samples", 1)
        for r in ran
        if isinstance(r, pytest.TestReport)
    }
    terminalreporter.write_line(f"{len(tests)} tests of {sum(tests.values())} samples")
    reports = [r for k in ("passed", "failed") for r in terminalreporter.stats.get(k, ())]
    lines = [
        f"{report.nodeid.partition('[')[2].rstrip(']'):20} {value}"
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == "processor" and report.when == "call"
    ]
    if lines:
        terminalreporter.section("as if on other processors")
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is compiled is kept for these tests only, and not with what the user has.

    The workers of one run have it in common, and none compiles what another has compiled. Several
    runs, on whatever versions, share the directory that AUTOGRAD_ENGINE_TEST_CACHE names.
    """
    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    shared = os.environ.get("AUTOGRAD_ENGINE_TEST_CACHE")
    os.environ["AUTOGRAD_ENGINE_CACHE"] = shared or str(run / "cache")
    # Where none is to be written beside the sources, each process that tests start would compile
    # all of the package again.
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
        os.environ["PYTHONPYCACHEPREFIX"] = str(run / "bytecode")


@pytest.fixture(scope="module")
def all_blas_threads() -> Iterator[None]:
    """Large products are shared among threads, of which `tests` leaves each worker its share."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(os.cpu_count(), user_api="blas"):
        yield


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Every test starts from the same state."""
    with fresh_state():
        yield


@pytest.fixture
def static_mode() -> None:
    """Static mode, for the whole test."""
    paddle.enable_static()


@pytest.fixture
def exe() -> paddle.static.Executor:
    return paddle.static.Executor()
