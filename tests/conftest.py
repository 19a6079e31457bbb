"""What every test starts from."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import autograd_engine as paddle
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.program.ir.program import _defaults as defaults
from autograd_engine.program.mode import in_dynamic_mode
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
def fresh_state() -> Iterator[None]:
    """Empty default programs, an empty scope, names from 0, a fixed seed; eager mode, recording."""
    static = paddle.static
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    paddle.seed(0)
    with paddle.unique_name.guard(), static.scope_guard(scope):
        before = defaults.main, defaults.startup
        defaults.main, defaults.startup = main, startup
        try:
            yield
        finally:
            defaults.main, defaults.startup = before
            paddle.disable_static()
            grad_mode.inference, grad_mode.recorder = False, True
            grad_mode.switch(True)
            paddle.set_default_dtype("float32")
            paddle.set_flags({"FLAGS_call_stack_level": 1})
    assert in_dynamic_mode(), "a test left a program_guard open"


@pytest.fixture
def static_mode() -> None:
    """Static mode, for the whole test."""
    paddle.enable_static()


@pytest.fixture
def exe() -> paddle.static.Executor:
    return paddle.static.Executor()
