"""What every test starts from."""

import os
from collections.abc import Iterator

import pytest

import autograd_engine as paddle
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.static.mode import in_dynamic_mode
from autograd_engine.static.program import _defaults as defaults

# Programs are compared with eager mode bit by bit; tests of native code ask for it.
os.environ.setdefault("AUTOGRAD_ENGINE_BACKEND", "numpy")


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
