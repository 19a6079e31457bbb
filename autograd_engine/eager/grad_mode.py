"""Whether operations are recorded, and with how much: a switch of each thread and task."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast, overload

from autograd_engine.core.overrides import Override, Overrides, OverridingBlock
from autograd_engine.eager.graph_cuts import note_block
from autograd_engine.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "Mode",
    "Recorder",
    "current_mode",
    "decorated",
    "enable_grad",
    "grad_mode",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "keep_stacks",
    "linearizes",
    "mode_changed",
    "modes",
    "no_grad",
    "recorded_with",
    "recording",
    "set_grad_enabled",
    "uncast",
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


class Mode(Override):
    """What operations on tensors do in a thread and a task, as far as a block can change it.

    `enabled` is what a call looks at: False, or what records it. That is True in the usual case,
    and calls generated for an operation serve it themselves. A `Recorder` sends them the general
    way.

    Parameters
    ----------
    changes : mapping
        Values for ``on``, ``inference``, ``anomaly``, ``trace``, ``autocast``, ``rounded`` and
        ``observers``.
    records : mapping
        Fields of `Recorder`.
    """

    __slots__ = (
        "anomaly",
        "autocast",
        "changes",
        "enabled",
        "inference",
        "observers",
        "on",
        "recorder",
        "records",
        "rounded",
        "trace",
    )

    def __init__(self, changes: Mapping[str, Any], records: Mapping[str, Any]) -> None:
        self.outer = self.token = None  # as in the class above, without a call of it
        self.left = self.stays = False
        self.changes = changes
        self.records = records

    def fold(self) -> None:
        outer: Mode = self.outer
        self.on: bool = outer.on
        # Whether recording cannot be switched on.
        self.inference: bool = outer.inference
        # What looks for NaN and infinity; see `autograd.explain.anomaly`.
        self.anomaly: Any = outer.anomaly
        # What is told of each operation and each step of a pass; see `amp.debugging`. Who sets it
        # sends calls the general way, for others do not look at it.
        self.observers: tuple[Any, ...] = outer.observers
        # What makes operators of operations on tensors; see `jit.tracing`.
        self.trace: Any = outer.trace
        # What dtypes operands are cast to; see `eager.autocast`. Who sets it sends calls, which do
        # not look at it, the general way.
        self.autocast: Any = outer.autocast
        # Arrays of leaves that these blocks have rounded, by the identity of what they are made of.
        self.rounded: dict[int, Any] | None = outer.rounded
        # What `enabled` is where recording is switched on.
        self.recorder: bool | Recorder = outer.recorder
        if not self.left:
            for name, value in self.changes.items():
                setattr(self, name, value)
        records = self.records
        if records and not self.left:
            known = outer.recorder if isinstance(outer.recorder, Recorder) else Recorder()
            self.recorder = known._replace(**records)
            if self.recorder == _PLAIN:
                self.recorder = True
        self.enabled: bool | Recorder = self.on and not self.inference and self.recorder

    def succeed(self, earlier: Mode) -> None:
        self.changes = {**earlier.changes, **self.changes}
        self.records = {**earlier.records, **self.records}


_NONE: Final[Mapping[str, Any]] = {}
_PLAIN: Final = Recorder()


def _default_mode() -> Mode:
    mode = Mode(_NONE, _NONE)
    mode.on = mode.recorder = mode.enabled = True
    mode.inference = False
    mode.observers = ()
    mode.anomaly = mode.trace = mode.autocast = mode.rounded = None
    return mode


modes: Final = Overrides("autograd_engine.grad_mode", _default_mode())
current_mode: Final = modes.current


class _GradMode:
    """What the mode is here and now."""

    @property
    def enabled(self) -> bool | Recorder:
        return current_mode().enabled

    @property
    def recorder(self) -> bool | Recorder:
        return current_mode().recorder

    @property
    def inference(self) -> bool:
        return current_mode().inference

    @property
    def anomaly(self) -> Any:
        return current_mode().anomaly

    @property
    def observers(self) -> tuple[Any, ...]:
        return current_mode().observers

    @property
    def trace(self) -> Any:
        return current_mode().trace

    @property
    def autocast(self) -> Any:
        return current_mode().autocast


grad_mode: Final = _GradMode()
_AS_IT_IS: Final[contextlib.AbstractContextManager[None]] = contextlib.nullcontext()


def keep_stacks(keep: bool) -> None:
    """Let nodes keep whole stacks: a flag of the process, whatever blocks are open here.

    Where another thread is inside of a block, it holds when that is left.
    """
    default = modes.default
    default.recorder = default.enabled = Recorder(stacks=True) if keep else True
    modes.refold()


@contextlib.contextmanager
def mode_changed(
    changes: Mapping[str, Any] = _NONE, records: Mapping[str, Any] = _NONE
) -> Iterator[None]:
    """Inside the ``with`` block the mode is another; see `Mode`."""
    mode = Mode(changes, records)
    try:  # before anything is set: an interrupt may come in between
        modes.enter(mode)
        yield
    finally:
        modes.leave(mode)


def recorded_with(**records: Any) -> contextlib.AbstractContextManager[None]:
    """Where operations are recorded, record them with a `Recorder` that differs in `records`."""
    return mode_changed(records=records)


def linearizes() -> bool:
    """Whether what is recorded here keeps what the forward mode needs."""
    mode = grad_mode.enabled
    return isinstance(mode, Recorder) and mode.contexts


def unwatched() -> contextlib.AbstractContextManager[None]:
    """For a pass whose nodes are looked at: what its rules record is not looked at on its own."""
    return _AS_IT_IS if current_mode().anomaly is None else recorded_with(watch=None)


def uncast(function: F) -> F:
    """`function`, whose operations cast nothing: they follow from calls whose operands were."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if current_mode().autocast is None:
            return function(*args, **kwargs)
        with mode_changed({"autocast": None}):
            return function(*args, **kwargs)

    return cast(F, call)


def recording() -> _GradSwitch:
    """Record, whatever the user has switched off: for what is differentiated as a whole."""
    return _GradSwitch(True, inference=False)


def is_grad_enabled() -> bool:
    """Whether operations on tensors are recorded, in this thread and asyncio task.

    Examples
    --------
    >>> is_grad_enabled()
    True
    """
    return bool(grad_mode.enabled)


def is_inference_mode_enabled() -> bool:
    """Whether this thread, or this asyncio task, is inside an `inference_mode` block.

    Examples
    --------
    >>> with inference_mode():
    ...     is_inference_mode_enabled()
    True
    """
    return grad_mode.inference


_SWITCHED: Final[Mapping[tuple[bool, bool | None], Mapping[str, Any]]] = {
    (on, inference): {"on": on} if inference is None else {"on": on, "inference": inference}
    for on in (True, False)
    for inference in (True, False, None)
}


class _GradSwitch(OverridingBlock):
    """Context manager and decorator that sets the switch; serves generators and coroutines."""

    _overrides = modes

    def __init__(self, enabled: bool, inference: bool | None = None) -> None:
        super().__init__()
        self._enabled = enabled
        self._inference = inference  # None: as it is

    def _override(self) -> Mode:
        if not self._enabled and current_mode().enabled:
            note_block("inference_mode" if self._inference else "no_grad")
        return Mode(_SWITCHED[self._enabled, self._inference], _NONE)

    def __call__(self, function: F) -> F:
        again = functools.partial(_GradSwitch, self._enabled, self._inference)
        return decorated(function, again, type(self).__name__)


def decorated(function: F, again: Callable[[], Any], name: str) -> F:
    """`function`, run inside a new context manager from `again` each time.

    Generators run inside of it, and what takes their values does not. So do generators that are
    asynchronous; a coroutine is inside while it waits, for its task has a mode of its own.
    """
    if not callable(function) or isinstance(function, type):
        also = "takes True or False, or " if name == "inference_mode" else ""
        got = function.__name__ if isinstance(function, type) else type(function).__name__
        raise ArgumentTypeError(
            f"{name} {also}decorates functions, got {got}: write `with {name}():`, or "
            f"`@{name}()` above a function or method"
        )
    if inspect.isgeneratorfunction(function):
        return cast(F, _wrap_generator(function, again))
    if inspect.isasyncgenfunction(function):
        return cast(F, _wrap_async_generator(function, again))
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def waiting(*args: Any, **kwargs: Any) -> Any:
            with again():
                return await function(*args, **kwargs)

        return cast(F, waiting)

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


def _wrap_async_generator(
    function: Callable[..., Any], again: Callable[[], Any]
) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapped(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        generator = function(*args, **kwargs)
        step: Callable[[], Any] = generator.__anext__
        while True:
            try:
                with again():
                    item = await step()
            except StopAsyncIteration:
                return
            try:
                sent = yield item
                step = functools.partial(generator.asend, sent)
            except GeneratorExit:
                with again():
                    await generator.aclose()
                raise
            except BaseException as error:
                step = functools.partial(generator.athrow, error)

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
        self._put = Mode(_SWITCHED[mode, None], _NONE)
        self._before = modes.put(self._put)

    def __enter__(self) -> None:
        modes.take_back(self._put, self._before)  # what it has set ends with the block
        super().__enter__()

    def __call__(self, function: F) -> F:
        modes.take_back(self._put, self._before)  # it switches while the function runs only
        return super().__call__(function)
