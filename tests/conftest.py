"""What every test starts from."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import autograd_engine as paddle
from tests.fresh import fresh_state
from tests.processors import machine

# Programs are compared with eager mode bit by bit; tests of native code ask for it.
os.environ.setdefault("AUTOGRAD_ENGINE_BACKEND", "numpy")


def pytest_addoption(parser: pytest.Parser) -> None:
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
    config.addinivalue_line("markers", "processors: run as if on other processors, when asked for")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passes for other processors than those that are asked for."""
    asked = config.getoption("--processors").split(",")
    other = [
        item
        for item in items
        if item.get_closest_marker("processors") and not {"all", item.callspec.id} & set(asked)  # type: ignore[attr-defined]
    ]
    if other:
        config.hook.pytest_deselected(items=other)
        items[:] = [item for item in items if item not in set(other)]


def pytest_report_header() -> list[str]:
    """What bits and times depend on."""
    return machine.described()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Which processors the tests passed for, and what became of it."""
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
    """What is compiled is kept for these tests only, and not with what the user has."""
    os.environ["AUTOGRAD_ENGINE_CACHE"] = str(tmp_path_factory.mktemp("cache"))


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
