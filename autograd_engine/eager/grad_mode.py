"""Whether operations are recorded: a switch of each thread's own."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Generator, Iterator
from types import TracebackType
from typing import Any, Final, TypeVar, cast

__all__ = ["enable_grad", "is_grad_enabled", "linearizing", "no_grad", "set_grad_enabled"]

F = TypeVar("F", bound=Callable[..., Any])


class Linearizing:
    """What `enabled` holds, instead of True, while nodes are recorded for the forward mode too."""


LINEARIZING: Final = Linearizing()


class _GradMode(threading.local):
    enabled: bool | Linearizing = True
    on: bool | Linearizing = True  # what `enabled` is where recording is switched on


grad_mode = _GradMode()


@contextlib.contextmanager
def linearizing() -> Iterator[None]:
    """Record, and let nodes keep what the forward mode needs besides."""
    before = grad_mode.enabled, grad_mode.on
    grad_mode.enabled = grad_mode.on = LINEARIZING
    try:
        yield
    finally:
        grad_mode.enabled, grad_mode.on = before


def is_grad_enabled() -> bool:
    """Whether operations on tensors are recorded in this thread.

    Examples
    --------
    >>> is_grad_enabled()
    True
    """
    return bool(grad_mode.enabled)


class _GradSwitch:
    """Context manager and decorator that sets the switch; nests, and serves generators."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[bool | Linearizing] = []

    def __enter__(self) -> None:
        self._before.append(grad_mode.enabled)
        grad_mode.enabled = self._enabled and grad_mode.on

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # What was on may have begun to linearize since, or ended.
        grad_mode.enabled = bool(self._before.pop()) and grad_mode.on

    def __call__(self, function: F) -> F:
        enabled = self._enabled
        if not callable(function):
            raise TypeError(f"{type(self).__name__} decorates functions, got {function!r}")
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"{type(self).__name__} cannot decorate {function.__qualname__}: other tasks run "
                "while it waits; use it as a context manager around what does not await"
            )
        if inspect.isgeneratorfunction(function):
            return cast(F, _wrap_generator(function, enabled))

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with _GradSwitch(enabled):
                return function(*args, **kwargs)

        return cast(F, wrapped)


def _wrap_generator(function: Callable[..., Any], enabled: bool) -> Callable[..., Any]:
    """Set the switch while the generator runs, and not while its consumer does."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        step: Callable[[], Any] = functools.partial(next, generator)
        while True:
            try:
                with _GradSwitch(enabled):
                    item = step()
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield item
                step = functools.partial(generator.send, sent)
            except GeneratorExit:
                generator.close()
                raise
            except BaseException as error:
                step = functools.partial(generator.throw, error)

    return wrapped


class no_grad(_GradSwitch):  # noqa: N801 - the public name
    """Do not record operations: as ``with no_grad():`` or as a decorator.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0], stop_gradient=False)
    >>> with paddle.no_grad():
    ...     y = x * 2.0
    >>> y.stop_gradient
    True
    """

    def __new__(cls, function: Any = None) -> Any:
        """``@no_grad`` without parentheses decorates as well."""
        self = super().__new__(cls)
        if function is None:
            return self
        self.__init__()  # type: ignore[misc]
        return self(function)

    def __init__(self) -> None:
        super().__init__(enabled=False)


class enable_grad(_GradSwitch):  # noqa: N801 - the public name
    """Record operations inside a `no_grad` block: ``with enable_grad():`` or a decorator.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> with paddle.no_grad(), paddle.enable_grad():
    ...     paddle.is_grad_enabled()
    True
    """

    def __init__(self) -> None:
        super().__init__(enabled=True)


class set_grad_enabled(_GradSwitch):  # noqa: N801 - the public name
    """Switch recording on or off at once; as a context manager, until the block ends.

    Examples
    --------
    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(enabled=bool(mode))
        self._outer = grad_mode.enabled
        grad_mode.enabled = self._enabled and grad_mode.on

    def __enter__(self) -> None:
        self._before.append(self._outer)
        grad_mode.enabled = self._enabled and grad_mode.on

    def __call__(self, function: F) -> F:
        grad_mode.enabled = self._outer  # a decorator switches while the function runs only
        return super().__call__(function)
