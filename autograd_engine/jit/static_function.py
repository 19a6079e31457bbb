"""`to_static`: a function on Tensors that runs as programs."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Final,
    Generic,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    overload,
)

from autograd_engine.core.change_counter import Counted
from autograd_engine.core.checks import require_bools
from autograd_engine.core.locations import user_frame_from, warn_at
from autograd_engine.core.locks import renewed_lock
from autograd_engine.eager.grad_mode import Recorder, grad_mode
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ModeError
from autograd_engine.jit.arguments import Arguments, bind
from autograd_engine.jit.object_reads import MOST_PLACES, FunctionFront
from autograd_engine.jit.outside_reads import warn_of
from autograd_engine.jit.program_call import TracedProgram, trace_function
from autograd_engine.program import mode
from autograd_engine.program.ir.program import Program
from autograd_engine.static.executor.backend_choice import chosen_backend, names

if TYPE_CHECKING:
    from autograd_engine.nn.layer.base.layer import Layer

__all__ = [
    "StaticFunction",
    "enable_to_static",
    "ignore_module",
    "not_to_static",
    "operations_are_seen",
    "to_static",
]


P = ParamSpec("P")
Q = ParamSpec("Q")  # P without the object of a method
R = TypeVar("R")
L = TypeVar("L", bound="Layer")
_Owner = TypeVar("_Owner")


class ToStatic(Protocol):
    """What `to_static` returns without a function: a decorator."""

    @overload  # a layer can be called, too
    def __call__(self, function: L) -> L: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[P, R]) -> StaticFunction[P, R]: ...


class _Switch:
    on = True


_ignored: Final[set[str]] = set()
_MOST: Final = 256
_MOST_FOR_INPUTS: Final = 8


@overload
def to_static(  # type: ignore[overload-overlap]  # a layer can be called, too
    function: L,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: Any = None,
    full_graph: bool = True,
) -> L: ...
@overload
def to_static(
    function: Callable[P, R],
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: Any = None,
    full_graph: bool = True,
) -> StaticFunction[P, R]: ...
@overload
def to_static(
    function: None = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: Any = None,
    full_graph: bool = True,
) -> ToStatic: ...
def to_static(
    function: Any = None,
    input_spec: Sequence[Any] | None = None,
    build_strategy: Any = None,
    backend: Any = None,
    full_graph: bool = True,
) -> Any:
    """Let a function on Tensors run as a program, which it is traced to when it is called.

    Parameters
    ----------
    function : callable, optional
        A function, a bound method, or an object with a ``forward`` method or that can be called.
        Without it, a decorator is returned.
    input_spec : list of InputSpec, optional
        One for each argument that is a Tensor, or nests of these; None for one whose shape is taken
        from each call. Sizes that a spec leaves open are open in the program, so that one serves
        all of them. Without a spec there is a program for every shape.
    build_strategy : object, optional
        Accepted for the reference's sake.
    backend : {"auto", "native", "numpy", "jax"}, optional
        What runs the programs, as of `static.Executor`. ``"CINN"`` is accepted for the reference's
        sake, and leaves the choice open.
    full_graph : bool
        False: where Python asks for values that a program does not have, warn once and run the
        function eagerly.

    Returns
    -------
    StaticFunction, or the layer
        A `nn.Layer` is returned itself, and its calls run as programs.

    Raises
    ------
    TypeError, ArgumentError
        For arguments of another kind.
    ModeError
        When the function is called, and branches on a value, or asks for one otherwise.

    Notes
    -----
    Results, and gradients of any order, have the same bits as those of the function itself where
    NumPy runs them; native code differs in the last ones. A program is compiled when it is called
    for the third time with the same sizes, a training step at its first call.

    Tensors that the function does not get as arguments (parameters) are read at every call, and
    gradients flow to them. What it writes to Tensors, in place or by ``set_value``, and random
    numbers, happen at every call. So does a training step: ``loss.backward()``,
    ``optimizer.step()`` and ``optimizer.clear_grad()``; what the function returns has no history
    then. Step a scheduler of the learning rate outside. Everything else in its Python code happens
    once, when it is traced: prints, appends to lists. Of what it reads of a clock, a file or an
    iterator each call has the first value, and a warning says so. A function that draws from
    generators of NumPy's or Python's is run itself, with a warning: draw with `rand` and the like.

    A program serves calls for which these are as they were when it was made: the structure of the
    arguments; shape, dtype and ``stop_gradient`` of Tensors among them, as far as `input_spec` does
    not leave sizes open; which of them are the same Tensor; all other arguments; whether gradients
    are recorded; the default dtype; variables that the code of the function reads, in closures,
    globals, defaults and attributes of objects (``self.training``), plain values by equality and
    Tensors by identity; and Tensors whose values Python read. Otherwise the function is traced
    again, and the second time that one thing makes it so a warning says what it is. A number that
    the function only counts up, and does nothing else with, is no such variable. Of a function 256
    programs are kept, and 8 for inputs of one kind. In forward mode (`autograd.jvp`), inside
    `recompute`, `saved_tensors_hooks` and `detect_anomaly`, and while a program is built, the
    function itself is run.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> @paddle.jit.to_static
    ... def loss(x):
    ...     return paddle.sum(x * w)
    >>> loss(paddle.to_tensor([3.0, 4.0])).backward()
    >>> w.grad.tolist()
    [3.0, 4.0]
    """
    require_bools("to_static", full_graph=full_graph)
    if input_spec is not None and not isinstance(input_spec, (list, tuple)):
        raise ArgumentTypeError(
            f"to_static: input_spec must be a list of InputSpec, got {type(input_spec).__name__}"
        )

    def decorate(target: Any) -> Any:
        if isinstance(target, StaticFunction):
            target = target.dygraph_function
        if isinstance(getattr(target, "__dict__", {}).get("forward"), StaticFunction):
            target.forward = target.forward.dygraph_function
        if not callable(target) and not callable(getattr(target, "forward", None)):
            raise ArgumentTypeError(
                f"to_static takes a function, or an object with a forward method; got "
                f"{type(target).__name__}"
            )
        if isinstance(target, type):
            raise ArgumentTypeError(
                f"to_static takes an object of {target.__name__}, not the class: write "
                f"to_static({target.__name__}(...))"
            )
        if isinstance(target, Counted):  # a layer, which stays what it is
            layer: Any = target
            layer.forward = StaticFunction(
                layer.forward, input_spec, full_graph=full_graph, backend=chosen
            )
            return target
        if inspect.iscoroutinefunction(target) or inspect.isgeneratorfunction(target):
            raise ArgumentTypeError(
                f"to_static: {target.__name__} is a generator or a coroutine; a program is made of "
                "functions that return"
            )
        return StaticFunction(target, input_spec, full_graph=full_graph, backend=chosen)

    chosen = _backend(backend)
    return decorate if function is None else decorate(function)


def _backend(given: Any) -> str:
    if given in names():
        return chosen_backend(given)
    if given is not None and not (isinstance(given, str) and given.upper() == "CINN"):
        raise ArgumentError(
            f"to_static: backend must be one of {', '.join(map(repr, names()))}, or left out; got "
            f"{given!r}"
        )
    return chosen_backend(None)


class StaticFunction(FunctionFront, Generic[P, R]):
    """A function that runs as programs; see `to_static`.

    Attributes
    ----------
    dygraph_function : callable
        The function itself.
    """

    def __init__(
        self,
        function: Any,
        input_spec: Sequence[Any] | None = None,
        *,
        full_graph: bool = True,
        backend: str | None = None,
    ) -> None:
        self.dygraph_function = function
        self._input_spec = None if input_spec is None else list(input_spec)
        self._full_graph = full_graph
        self._backend = chosen_backend(None) if backend is None else backend
        self._target = _called(function)
        self._signature = _signature(self._target)
        self._programs: dict[Any, list[TracedProgram]] = {}
        self._eager: set[Any] = set()
        self._made: deque[tuple[Any, TracedProgram]] = deque()  # in the order of their making
        self._said: set[str] = set()  # what was warned of
        self._reasons: set[Any] = set()  # for which it was traced again
        self._lock = renewed_lock()
        self._last: TracedProgram | None = None
        if not hasattr(function, "forward"):
            functools.update_wrapper(self, function, updated=())

    @property
    def input_spec(self) -> list[Any] | None:
        """What was given to `to_static`."""
        return None if self._input_spec is None else list(self._input_spec)

    # --- calls

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if not self._traces():
            return self._target(*args, **kwargs)
        given = self._name, self._signature, self._input_spec, args, kwargs
        arguments = bind(*given, named=False)
        if arguments.has_variables:
            return self._target(*args, **kwargs)
        program = self._find(arguments)
        if program is None and arguments.key not in self._eager:
            with self._lock:
                arguments = bind(*given)
                program = self._find(arguments)
                if program is None and (made := self._trace(arguments)) is not None:
                    return made(arguments)  # with the random numbers that were just drawn
        if program is None or program.draws:
            return self._target(*args, **kwargs)
        return program(arguments)

    def _traces(self) -> bool:
        """Whether a call runs as a program here."""
        if not _Switch.on or mode.building() or grad_mode.trace is not None:
            return False
        return not _is_ignored(self._target) and not operations_are_seen()

    def _find(self, arguments: Arguments) -> TracedProgram | None:
        """The program for these arguments, None where there is none."""
        candidates = self._programs.get(arguments.key)
        for program in candidates or ():
            if program.differs(arguments) is None:
                self._last = program
                return program
        return None

    def _trace(self, arguments: Arguments) -> TracedProgram | None:
        self._say_why(arguments)
        try:
            made = trace_function(self._target, self._name, arguments, self._backend)
        except ModeError as error:
            if self._full_graph:
                raise
            if len(self._eager) >= _MOST:  # known again after another attempt
                self._eager.clear()
            self._eager.add(arguments.key)
            self._warn(
                "eager",
                f"{self._name} cannot be traced and runs eagerly (full_graph=False): {error}",
            )
            return None
        warn_of(self._name, made.guards.outside, self._said, saved=False)
        self._keep(arguments.key, made)
        return made

    def _say_why(self, arguments: Arguments) -> None:
        """Warn when one thing makes another program necessary for the second time."""
        candidates = self._programs.get(arguments.key)
        if "again" in self._said or not candidates:
            return
        difference = candidates[0].differs(arguments)
        if difference is None or difference.is_state:
            return
        reason = arguments.key, difference.what
        if reason not in self._reasons:
            if len(self._reasons) >= _MOST:
                self._reasons.clear()
            self._reasons.add(reason)
            return
        self._warn(
            "again",
            f"{self._name} is traced again, for inputs of the kind that it was traced for before: "
            f"{difference}. Each value takes a program, and {_MOST_FOR_INPUTS} are kept. Pass what "
            "changes as a Tensor, or keep it out of the function, so that one program serves; or "
            "do not trace the function",
        )

    def _keep(self, key: Any, made: TracedProgram) -> None:
        """Keep a program; of many the oldest goes."""
        same = self._programs.setdefault(key, [])
        same.insert(0, made)
        self._last = made
        self._made.append((key, made))
        if made.guards.beyond:
            self._warn(
                "beyond",
                f"{self._name} reads more than {MOST_PLACES} places: {made.guards.beyond}, and "
                "what would be looked at after it, is known by identity and length alone, so "
                "changes inside go unseen. Pass what may change there as an argument",
            )
        if len(same) > _MOST_FOR_INPUTS:
            self._drop(key, same[-1])
        if len(self._made) <= _MOST:
            return
        self._drop(*self._made[0])
        self._warn(
            "often",
            f"{self._name} was traced more than {_MOST} times, and its oldest programs are "
            "dropped: arguments that are no Tensors, or shapes of Tensors, differ between "
            "calls. Pass what changes as a Tensor, or leave sizes open in an input_spec, so "
            "that one program serves; or do not trace the function",
        )

    def _warn(self, what: str, message: str) -> None:
        """Warn once, at the line of the user's that is being executed."""
        if what in self._said:
            return
        self._said.add(what)
        warn_at(user_frame_from(sys._getframe(1)), message, RuntimeWarning)

    def _drop(self, key: Any, oldest: TracedProgram) -> None:
        self._made.remove((key, oldest))
        left = [p for p in self._programs[key] if p is not oldest]
        if left:
            self._programs[key] = left
        else:
            del self._programs[key]

    @property
    def _name(self) -> str:
        return str(getattr(self._target, "__qualname__", type(self._target).__name__))

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(
        self: StaticFunction[Concatenate[_Owner, Q], R], instance: _Owner, owner: Any = None
    ) -> StaticFunction[Q, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method: one function for each object."""
        if instance is None:
            return self
        # Kept by the object, so that it goes with it; a copy of the object makes one of its own.
        own = getattr(instance, "__dict__", {})
        key = f"__to_static_{self._name.rpartition('.')[2]}"
        found = own.get(key)
        if found is None or found.dygraph_function.__self__ is not instance:
            found = own[key] = self.like(self.dygraph_function.__get__(instance, owner))
        return found

    def like(self, function: Any) -> StaticFunction[Any, Any]:
        """Another function, traced in the same way."""
        return _again(function, self._input_spec, self._full_graph, self._backend)

    def __reduce__(self) -> Any:
        return _again, (self.dygraph_function, self._input_spec, self._full_graph, self._backend)

    # --- inspection

    def trace(self, *args: Any, **kwargs: Any) -> TracedProgram:
        """The traced program for these arguments, without running it.

        For arguments that `input_spec` describes there need be no Tensor.
        """
        if not args and not kwargs and self._input_spec is not None:
            args = tuple(self._input_spec)
        arguments = bind(self._name, self._signature, self._input_spec, args, kwargs)
        candidates = self._programs.get(arguments.key, [])
        found = next((p for p in candidates if p.differs(arguments) is None), None)
        if found is None:
            with self._lock:
                found = trace_function(self._target, self._name, arguments, self._backend)
                self._keep(arguments.key, found)
        return found

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The program for these arguments, or InputSpecs in their place: for reading.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> double = to_static(lambda x: x * 2.0)
        >>> [op.type for op in double.program(paddle.ones([2])).global_block().ops]
        ['multiply']
        """
        return self.trace(*args, **kwargs).program

    @property
    def concrete_program(self) -> TracedProgram:
        """The program of the last call; before any, the one that `input_spec` describes.

        Raises
        ------
        ArgumentError
            Where there is neither.
        """
        if self._last is not None:
            return self._last
        if self._input_spec is None:
            raise ArgumentError(
                f"{self._name} was not called yet, and has no input_spec: call it, or give "
                "to_static(..., input_spec=[...])"
            )
        return self.trace()

    @property
    def main_program(self) -> Program:
        return self.concrete_program.program

    @property
    def program_cache(self) -> list[TracedProgram]:
        """All programs that there are, the latest for each kind of call first."""
        return [p for programs in self._programs.values() for p in programs]

    def rollback(self) -> Any:
        """The function itself."""
        return self.dygraph_function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "dygraph_function" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.dygraph_function, name)

    def __repr__(self) -> str:
        return f"<to_static {self._name}, {len(self.program_cache)} programs>"


def _again(
    function: Any, input_spec: Any, full_graph: bool, backend: str
) -> StaticFunction[Any, Any]:
    """A copy, which has no programs yet."""
    return StaticFunction(function, input_spec, full_graph=full_graph, backend=backend)


def _called(function: Any) -> Callable[..., Any]:
    """What a call runs: the forward method of an object that has one."""
    forward = getattr(function, "forward", None)
    called: Callable[..., Any] = function  # __call__ may do more than forward
    if not callable(function) and callable(forward):
        called = forward
    return called


def _signature(target: Callable[..., Any]) -> inspect.Signature | None:
    function = getattr(target, "forward", target) if not inspect.isroutine(target) else target
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def operations_are_seen() -> bool:
    """Whether each operation is to be seen, and not one node for all."""
    recorder = grad_mode.enabled
    if grad_mode.observers:
        return True
    return isinstance(recorder, Recorder) and (recorder.extra or recorder.reads is not None)


def _is_ignored(target: Callable[..., Any]) -> bool:
    if getattr(target, "__not_to_static__", False):
        return True
    return bool(_ignored) and getattr(target, "__module__", None) in _ignored


def not_to_static(func: Any = None) -> Any:
    """Mark a function such that `to_static` leaves it as it is.

    Called inside a traced function it is traced with the rest.

    Examples
    --------
    >>> to_static(not_to_static(lambda x: x + 1))(1)
    2
    """
    if func is None:
        return not_to_static
    if not callable(func):
        raise ArgumentTypeError(f"not_to_static takes a function, got {type(func).__name__}")
    func.__not_to_static__ = True
    return func


def ignore_module(modules: Iterable[ModuleType]) -> None:
    """Let functions of these modules run eagerly, in spite of `to_static`.

    Examples
    --------
    >>> import math
    >>> ignore_module([math])
    """
    if not isinstance(modules, (list, tuple, set, frozenset)):
        raise ArgumentTypeError(
            f"ignore_module: modules must be a list of modules, got {type(modules).__name__}"
        )
    for module in modules:
        if not isinstance(module, ModuleType):
            raise ArgumentTypeError(f"ignore_module takes a list of modules, got {module!r} in it")
        _ignored.add(module.__name__)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Switch programs on, or off: then what `to_static` made runs eagerly, for debugging.

    Examples
    --------
    >>> enable_to_static(False)
    >>> enable_to_static(True)
    """
    require_bools("enable_to_static", enable_to_static_bool=enable_to_static_bool)
    _Switch.on = enable_to_static_bool
