"""Whether operations are recorded, and with how much: a switch of each thread's own."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Generator, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, overload

from autograd_engine.core.checks import left_unentered
from autograd_engine.eager.graph_cuts import note_block
from autograd_engine.errors import ArgumentError

__all__ = [
    "Recorder",
    "decorated",
    "enable_grad",
    "grad_mode",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "keep_stacks",
    "linearizes",
    "no_grad",
    "recorded_with",
    "recording",
    "set_grad_enabled",
    "unwatched",
]

F = TypeVar("F", bound=Callable[..., Any])


class Recorder(NamedTuple):
    """What is kept of each operation beyond what its rules read.

    Attributes
    ----------
    contexts : bool
        Operands and Specs of outputs, for the forward mode.
    hooks : tuple of callable, or None
        (pack, unpack) for saved values.
    reads : callable or None
        Called with the Tensors that a recorded operation reads.
    stacks : bool
        All of the user's lines that led to it.
    watch : callable or None
        Called with (op, operands, outputs, location, attributes) when an operation has been
        recorded; a layer of the user's has no attributes.
    """

    contexts: bool = False
    hooks: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None
    reads: Callable[[Any], None] | None = None
    stacks: bool = False
    watch: Callable[..., None] | None = None

    @property
    def extra(self) -> bool:
        """Whether it does anything beyond the usual."""
        return self.contexts or self.hooks is not None or self.watch is not None or self.stacks


class _GradMode(threading.local):
    """`enabled` is what a call looks at: False, or what records it.

    That is True in the usual case, and calls generated for an operation serve it themselves. A
    `Recorder` sends them the general way.
    """

    enabled: bool | Recorder = True
    recorder: bool | Recorder = True  # what `enabled` is where recording is switched on
    inference: bool = False  # it cannot be switched on
    anomaly: Any = None  # what looks for NaN and infinity in this thread; see `eager.anomaly`
    trace: Any = None  # what makes operators of operations on tensors; see `jit.tracing`

    def switch(self, on: bool) -> None:
        self.enabled = on and not self.inference and self.recorder


grad_mode = _GradMode()


def keep_stacks(keep: bool) -> None:
    """Let nodes keep whole stacks, in this thread and in those that begin later."""
    grad_mode.recorder = _with_stacks(grad_mode.recorder, keep)
    grad_mode.switch(bool(grad_mode.enabled))
    _GradMode.recorder = _GradMode.enabled = Recorder(stacks=True) if keep else True


def _with_stacks(recorder: bool | Recorder, keep: bool) -> bool | Recorder:
    """`recorder`, keeping whole stacks or not."""
    known = recorder if isinstance(recorder, Recorder) else Recorder()
    if known.stacks == keep:
        return recorder
    changed = known._replace(stacks=keep)
    return changed if changed.extra else True


def linearizes() -> bool:
    """Whether what is recorded here keeps what the forward mode needs."""
    mode = grad_mode.enabled
    return isinstance(mode, Recorder) and mode.contexts


@contextlib.contextmanager
def recorded_with(**changes: Any) -> Iterator[None]:
    """Where operations are recorded, record them with a `Recorder` that differs in `changes`."""
    before = grad_mode.recorder
    known = before if isinstance(before, Recorder) else Recorder()
    try:  # before anything is set: an interrupt may come in between
        grad_mode.recorder = known._replace(**changes)
        grad_mode.switch(bool(grad_mode.enabled))
        yield
    finally:
        # A flag says whether stacks are kept, and may have been set inside.
        now = grad_mode.recorder
        grad_mode.recorder = _with_stacks(before, isinstance(now, Recorder) and now.stacks)
        grad_mode.switch(bool(grad_mode.enabled))


def unwatched() -> contextlib.AbstractContextManager[None]:
    """For a pass whose nodes are looked at: what its rules record is not looked at on its own."""
    return contextlib.nullcontext() if grad_mode.anomaly is None else recorded_with(watch=None)


def recording() -> _GradSwitch:
    """Record, whatever the user has switched off: for what is differentiated as a whole."""
    return _GradSwitch(True, inference=False)


def is_grad_enabled() -> bool:
    """Whether operations on tensors are recorded in this thread.

    Examples
    --------
    >>> is_grad_enabled()
    True
    """
    return bool(grad_mode.enabled)


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside an `inference_mode` block.

    Examples
    --------
    >>> with inference_mode():
    ...     is_inference_mode_enabled()
    True
    """
    return grad_mode.inference


class _GradSwitch:
    """Context manager and decorator that sets the switch; nests, and serves generators."""

    def __init__(self, enabled: bool, inference: bool | None = None) -> None:
        self._enabled = enabled
        self._inference = inference  # None: as it is
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._before.append((bool(grad_mode.enabled), grad_mode.inference))
        if grad_mode.enabled and not self._enabled:
            note_block("inference_mode" if self._inference else "no_grad")
        try:
            self._set()
        except BaseException:  # an interrupt, and nobody will call __exit__
            enabled, grad_mode.inference = self._before.pop()
            grad_mode.switch(enabled)
            raise

    def _set(self) -> None:
        if self._inference is not None:
            grad_mode.inference = self._inference
        grad_mode.switch(self._enabled)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._before:
            raise left_unentered(self)
        enabled, inference = self._before.pop()
        if self._inference is not None:
            grad_mode.inference = inference
        grad_mode.switch(enabled)  # with the recorder there is now: it may be another one

    def __call__(self, function: F) -> F:
        again = functools.partial(_GradSwitch, self._enabled, self._inference)
        return decorated(function, again, type(self).__name__)


def decorated(function: F, again: Callable[[], Any], name: str) -> F:
    """`function`, run inside a new context manager from `again` each time; generators too."""
    if not callable(function) or isinstance(function, type):
        also = "takes True or False, or " if name == "inference_mode" else ""
        got = function.__name__ if isinstance(function, type) else type(function).__name__
        raise TypeError(
            f"{name} {also}decorates functions, got {got}: write `with {name}():`, or "
            f"`@{name}()` above a function or method"
        )
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"{name} cannot decorate {function.__qualname__}: other tasks run "
            "while it waits; use it as a context manager around what does not await"
        )
    if inspect.isgeneratorfunction(function):
        return cast(F, _wrap_generator(function, again))

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with again():
            return function(*args, **kwargs)

    return cast(F, wrapped)


def _wrap_generator(function: Callable[..., Any], again: Callable[[], Any]) -> Callable[..., Any]:
    """Set the switch while the generator runs, and not while its consumer does."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        step: Callable[[], Any] = functools.partial(next, generator)
        while True:
            try:
                with again():
                    item = step()
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield item
                step = functools.partial(generator.send, sent)
            except GeneratorExit:
                with again():
                    generator.close()
                raise
            except BaseException as error:
                step = functools.partial(generator.throw, error)

    return wrapped


if TYPE_CHECKING:
    # Each is a context manager where it is called, and a decorator with parentheses or without.

    @overload
    def no_grad(function: F) -> F: ...
    @overload
    def no_grad() -> _GradSwitch: ...
    def no_grad(function: Any = None) -> Any: ...

    @overload
    def enable_grad(function: F) -> F: ...
    @overload
    def enable_grad() -> _GradSwitch: ...
    def enable_grad(function: Any = None) -> Any: ...

    @overload
    def inference_mode(mode: bool = True) -> _GradSwitch: ...
    @overload
    def inference_mode(mode: F) -> F: ...
    def inference_mode(mode: Any = True) -> Any: ...

else:

    class _Fixed(_GradSwitch):
        """One that always switches to the same: it decorates without parentheses as well."""

        _on: bool

        def __new__(cls, function: Any = None) -> Any:
            """``@no_grad`` without parentheses decorates as well."""
            self = super().__new__(cls)
            if function is None:
                return self
            self.__init__()  # type: ignore[misc]
            return self(function)

        def __init__(self) -> None:
            super().__init__(enabled=self._on)

    class no_grad(_Fixed):  # noqa: N801 - the public name
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

        _on = False

    class enable_grad(_Fixed):  # noqa: N801 - the public name
        """Record operations inside a `no_grad` block: ``with enable_grad():`` or a decorator.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> with paddle.no_grad(), paddle.enable_grad():
        ...     paddle.is_grad_enabled()
        True
        """

        _on = True

    class inference_mode(_GradSwitch):  # noqa: N801 - the public name
        """Record nothing, and let nothing inside switch recording on again.

        Where `no_grad` can be undone by `enable_grad`, in a library called from here say, this
        cannot. What is computed inside are tensors like any other, with ``stop_gradient=True``.
        ``mode=False`` ends it for a block. Transformations that differentiate a function as a
        whole, such as ``autograd.vjp`` and ``autograd.jvp``, work inside all the same.

        Parameters
        ----------
        mode : bool

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> x = paddle.to_tensor([1.0], stop_gradient=False)
        >>> with paddle.inference_mode(), paddle.enable_grad():
        ...     y = x * 2.0
        >>> y.stop_gradient
        True
        """

        def __new__(cls, mode: Any = True) -> Any:
            """``@inference_mode`` without parentheses decorates as well."""
            self = super().__new__(cls)
            if isinstance(mode, bool):
                return self
            self.__init__()  # type: ignore[misc]
            return self(mode)

        def __init__(self, mode: bool = True) -> None:
            super().__init__(enabled=not mode, inference=mode)


class set_grad_enabled(_GradSwitch):  # noqa: N801 - the public name
    """Switch recording on or off at once; as a context manager, until the block ends.

    Parameters
    ----------
    mode : bool
        Whether operations are recorded from here on. It also decorates functions and generators.

    Examples
    --------
    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise ArgumentError(
                "set_grad_enabled: mode must be True or False, got "
                f"{type(mode).__name__}: write set_grad_enabled(False), also above a function"
            )
        super().__init__(enabled=mode)
        self._outer = bool(grad_mode.enabled), grad_mode.inference
        self._set()

    def __enter__(self) -> None:
        self._before.append(self._outer)
        self._set()

    def __call__(self, function: F) -> F:
        grad_mode.switch(self._outer[0])  # a decorator switches while the function runs only
        return super().__call__(function)
