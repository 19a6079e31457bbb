"""What every test, and every sample of one, starts from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import autograd_engine as paddle
from autograd_engine.eager.grad_mode import modes
from autograd_engine.program.ir.program import _main as default_main, _startup as default_startup
from autograd_engine.program.mode import in_dynamic_mode

__all__ = ["fresh_state"]


@contextmanager
def fresh_state() -> Iterator[None]:
    """Empty default programs, an empty scope, names from 0, a fixed seed; eager mode, recording."""
    static = paddle.static
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    paddle.seed(0)
    with (
        paddle.unique_name.guard(),
        static.scope_guard(scope),
        default_main.replaced(main),
        default_startup.replaced(startup),
    ):
        try:
            yield
        finally:
            paddle.disable_static()
            modes.reset()
            paddle.set_default_dtype("float32")
            paddle.set_flags({"FLAGS_call_stack_level": 1})
    assert in_dynamic_mode(), "a test left a program_guard open"
