"""The layer: parameters, buffers and sublayers under names, and a function that uses them."""

from __future__ import annotations

import copy
import inspect
import re
import reprlib
from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, ParamSpec, TypeVar, overload

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.checks import check_callback, in_memory, plain_number, require_bools
from autograd_engine.core.dtypes import FLOATS, DTypeLike, get_default_dtype, to_numpy
from autograd_engine.core.names.constructors import forwarded
from autograd_engine.core.spec import Spec
from autograd_engine.eager.hooks import Hooks, RemovableHandle
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError
from autograd_engine.nn.layer.base.other_names import OtherNames
from autograd_engine.nn.layer.base.registered import BUFFER, PARAMETER, PASSING, SUBLAYER
from autograd_engine.nn.layer.base.state_dict import cast
from autograd_engine.nn.parameters import (
    create_parameter,
    persistable_variable,
    sizes_of,
)
from autograd_engine.program import mode
from autograd_engine.program.builder import layer_scope
from autograd_engine.program.ir.program import default_main_program

if TYPE_CHECKING:
    from autograd_engine.eager.tensor import Parameter
    from autograd_engine.nn.call_types import HasForward
    from autograd_engine.nn.initializer import Initializer
    from autograd_engine.nn.param_attr import ParamAttr

__all__ = ["Layer"]

P = ParamSpec("P")
R = TypeVar("R")

_L = TypeVar("_L", bound="Layer")


class Layer(OtherNames):
    """A function with parameters of its own, and the base of all layers.

    A subclass makes parameters and sublayers in ``__init__``, after ``super().__init__()``, and
    computes in ``forward``. Assigning a parameter or a layer to an attribute registers it under
    that name. The same class serves eager mode, `jit.to_static`, and programs: made inside
    `static.program_guard`, its parameters belong to that program.

    Parameters
    ----------
    name_scope : str, optional
        First part of the names of parameters; by default made from the name of the class.
    dtype : dtype, optional
        Of parameters that do not say it; by default `get_default_dtype()`.

    Attributes
    ----------
    training : bool
        What `train` and `eval` set: dropout and batch normalisation depend on it.

    Raises
    ------
    DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> class Line(paddle.nn.Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = self.create_parameter([1])
    ...         self.offset = self.create_parameter([1], is_bias=True)
    ...
    ...     def forward(self, x):
    ...         return self.slope * x + self.offset
    >>> line = Line()
    >>> [name for name, _ in line.named_parameters()]
    ['slope', 'offset']
    >>> line(paddle.zeros([2])).tolist()
    [0.0, 0.0]
    """

    training: bool
    _full_name: str
    _dtype: np.dtype[Any]
    _forward_pre_hooks: Hooks
    _forward_post_hooks: Hooks
    _castable: ClassVar[bool] = True

    def __init__(self, name_scope: str | None = None, dtype: DTypeLike | None = None) -> None:
        if name_scope is not None and not isinstance(name_scope, str):
            raise ArgumentTypeError(
                f"{type(self).__name__}: name_scope must be a str, got {type(name_scope).__name__}"
            )
        set_quietly = self.__dict__.__setitem__
        set_quietly("_kinds", {})
        set_quietly("training", True)
        key = _snake(type(self).__name__) if name_scope is None else name_scope
        set_quietly("_full_name", unique_name.generate(key))
        chosen = _floating(type(self).__name__, get_default_dtype() if dtype is None else dtype)
        set_quietly("_dtype", chosen)
        set_quietly("_forward_pre_hooks", Hooks())
        set_quietly("_forward_post_hooks", Hooks())

    # --- calls

    if TYPE_CHECKING:
        # A subclass has a forward of its own signature, and is called with that.
        forward: Callable[..., Any]

        @property
        def __call__(self: HasForward[P, R]) -> Callable[P, R]: ...
    else:

        def forward(self, *inputs, **kwargs):
            """What a call computes; subclasses define it."""
            name = type(self).__name__
            raise NotImplementedError(
                f"{name} has no forward: define `def forward(self, x): ...` in the class {name}"
            )

        def __call__(self, *inputs, **kwargs):
            try:
                if kwargs:
                    kwargs = forwarded(self, inputs, kwargs)
                if self._forward_pre_hooks or self._forward_post_hooks:
                    return call_with_hooks(self, inputs, kwargs)
                if mode.building():
                    return run_named(self, self.forward, inputs, kwargs)
                return self.forward(*inputs, **kwargs)
            except TypeError as error:
                _check_call(self, inputs, kwargs, error)
                raise

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Have ``hook(layer, inputs)`` run before each call.

        Parameters
        ----------
        hook : callable
            It gets the tuple of the positional arguments. What it returns, a tuple or one value,
            takes their place, unless it is None.
        prepend : bool
            Run before those that are there already.
        with_kwargs : bool
            Call ``hook(layer, inputs, kwargs)``, which returns new ones of both, or None.

        Returns
        -------
        RemovableHandle
            Its ``remove()`` takes the hook away.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> double = paddle.nn.ReLU()
        >>> handle = double.register_forward_pre_hook(lambda layer, inputs: inputs[0] * 2)
        >>> double(paddle.ones([1])).item()
        2.0
        """
        function = "register_forward_pre_hook"
        require_bools(function, prepend=prepend, with_kwargs=with_kwargs)
        return self._hooked(self._forward_pre_hooks, function, hook, prepend, with_kwargs)

    def register_forward_post_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Have ``hook(layer, inputs, outputs)`` run after each call.

        Parameters
        ----------
        hook : callable
            What it returns takes the place of the outputs, unless it is None.
        prepend : bool
            Run before those that are there already.
        with_kwargs : bool
            Call ``hook(layer, inputs, kwargs, outputs)``.
        always_call : bool
            Run also where the call raises, with what there is of outputs, or None.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> seen = []
        >>> relu = paddle.nn.ReLU()
        >>> handle = relu.register_forward_post_hook(lambda layer, x, y: seen.append(y.shape))
        >>> _ = relu(paddle.ones([2, 3]))
        >>> _ = handle.remove()
        >>> seen
        [paddle.Size([2, 3])]
        """
        function = "register_forward_post_hook"
        require_bools(function, prepend=prepend, with_kwargs=with_kwargs, always_call=always_call)
        hooks = self._forward_post_hooks
        return self._hooked(
            hooks, function, hook, prepend, with_kwargs, always_call, results=("outputs",)
        )

    def _hooked(
        self,
        hooks: Hooks,
        function: str,
        hook: Any,
        prepend: bool,
        with_kwargs: bool,
        always_call: bool = False,
        results: tuple[str, ...] = (),
    ) -> RemovableHandle:
        given = ("layer", "inputs", *(("kwargs",) if with_kwargs else ()), *results)
        check_callback(function, "hook", hook, *given)
        if with_kwargs or always_call:
            hook = SpecialHook(hook, with_kwargs, always_call)
        return hooks.register(hook, first=prepend)

    # --- making

    @overload
    def create_parameter(
        self,
        shape: Sequence[int],
        attr: Literal[False],
        dtype: DTypeLike | None = None,
        is_bias: bool = False,
        default_initializer: Any = None,
    ) -> None: ...
    @overload
    def create_parameter(
        self,
        shape: Sequence[int],
        attr: ParamAttr | Initializer | str | None = None,
        dtype: DTypeLike | None = None,
        is_bias: bool = False,
        default_initializer: Any = None,
    ) -> Parameter: ...
    def create_parameter(
        self,
        shape: Sequence[int],
        attr: Any = None,
        dtype: DTypeLike | None = None,
        is_bias: bool = False,
        default_initializer: Any = None,
    ) -> Any:
        """A parameter of this layer; assigned to an attribute, it is registered.

        Parameters
        ----------
        shape : sequence of int
        attr : ParamAttr, str, Initializer or bool, optional
            False for no parameter: None is returned.
        dtype : dtype, optional
            By default that of the layer.
        is_bias : bool
            Start at zero unless told otherwise.
        default_initializer : Initializer, optional
            When `attr` names none; by default Xavier uniform, for a bias zeros.

        Returns
        -------
        Parameter or None

        Raises
        ------
        ArgumentError, DTypeError
        """
        if attr is False:
            return None
        suffix = "b" if is_bias else "w"
        name = getattr(attr, "name", None) or (attr if isinstance(attr, str) else None)
        return create_parameter(
            shape,
            self._dtype if dtype is None else dtype,
            name or unique_name.generate(f"{self._full_name}.{suffix}"),
            attr,
            is_bias,
            default_initializer,
        )

    def create_buffer(
        self,
        name: str,
        shape: Sequence[int],
        fill: float = 0.0,
        dtype: DTypeLike | None = None,
        persistable: bool = True,
        full_name: str | None = None,
    ) -> Any:
        """A buffer full of one number, in either mode: a Tensor, or a variable that is kept.

        Parameters
        ----------
        name : str
            Of the attribute.
        shape : sequence of int
        fill : float
        dtype : dtype, optional
            By default that of the layer.
        persistable : bool
            Whether `state_dict` has it.
        full_name : str, optional
            Of the Tensor or variable; by default made from `name`.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> layer = paddle.nn.Layer()
        >>> layer.create_buffer("total", [2]).tolist()
        [0.0, 0.0]
        """
        chosen = to_numpy(self._dtype if dtype is None else dtype)
        sizes = sizes_of("buffer", shape)
        fill = plain_number("create_buffer", "fill", fill, infinite=True)
        made: Any
        full = full_name or unique_name.generate(f"{self._full_name}.{name}")
        if mode.building():
            block = default_main_program().global_block()
            made = persistable_variable(block, full, Spec(sizes, chosen), fill)
        else:
            made = Tensor(in_memory("create_buffer", sizes, lambda: np.full(sizes, fill, chosen)))
            made.name = full
        self.register_buffer(name, made, persistable)
        return made

    def full_name(self) -> str:
        """What the names of its parameters begin with."""
        return str(self._full_name)

    # --- all layers at once

    def train(self: _L, mode: bool = True) -> _L:
        """Set `training` here and in all layers inside, to `mode`; returns the layer."""
        require_bools("train", mode=mode)
        return self._set_training(mode)

    def eval(self: _L) -> _L:
        """Unset `training` here and in all layers inside; returns the layer.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> net = paddle.nn.Sequential(paddle.nn.Dropout(0.5)).eval()
        >>> net(paddle.ones([3])).tolist()
        [1.0, 1.0, 1.0]
        """
        return self._set_training(False)

    def _set_training(self: _L, training: bool) -> _L:
        for layer in self.sublayers(include_self=True):
            layer.training = training
        return self

    def apply(self: _L, fn: Callable[[Layer], Any]) -> _L:
        """Call ``fn(layer)`` for all layers inside, innermost first, and for this one.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> names = []
        >>> net = paddle.nn.Sequential(paddle.nn.ReLU())
        >>> _ = net.apply(lambda layer: names.append(type(layer).__name__))
        >>> names
        ['ReLU', 'Sequential']
        """
        check_callback("apply", "fn", fn, "layer")
        for layer in self._innermost_first(set()):
            fn(layer)
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Clear the gradients of all parameters: zeros, or None with ``set_to_zero=False``."""
        require_bools("clear_gradients", set_to_zero=set_to_zero)
        for parameter in self.parameters():
            if isinstance(parameter, Tensor):
                parameter.clear_gradient(set_to_zero)

    def to(
        self: _L, device: Any = None, dtype: DTypeLike | None = None, blocking: bool | None = None
    ) -> _L:
        """Give floating parameters and buffers another dtype; returns the layer.

        Parameters
        ----------
        device : {"cpu"} or CPUPlace, optional
        dtype : dtype, optional
            A floating one. Gradients are dropped where it is a new one.
        blocking : bool, optional
            Accepted for the reference's sake.

        Raises
        ------
        DTypeError, ArgumentError, ModeError

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> paddle.nn.Linear(2, 2).to(dtype="float64").weight.dtype
        paddle.float64
        """
        if device is not None and str(device).lower() not in ("cpu", "place(cpu)", "cpu:0"):
            raise ArgumentError(
                f"to: device must be 'cpu', which all arrays are on; got {device!r} "
                "(for a dtype write to(dtype=...))"
            )
        if dtype is not None:
            cast(self.sublayers(include_self=True), _floating("to", dtype))
        return self

    def astype(self: _L, dtype: DTypeLike) -> _L:
        """``to(dtype=dtype)``"""
        return self.to(dtype=dtype)

    def float(self: _L) -> _L:
        """``to(dtype="float32")``"""
        return self.to(dtype="float32")

    def double(self: _L) -> _L:
        """``to(dtype="float64")``"""
        return self.to(dtype="float64")

    # --- copies

    def __copy__(self: _L) -> _L:
        """A layer that holds the same parameters and layers, and can be edited by itself."""
        new = object.__new__(type(self))
        for name, value in self.__dict__.items():
            if hasattr(value, "dygraph_function"):
                if name == "forward":  # others are made again when they are asked for
                    new.__dict__[name] = _traced(value, self, new)
            else:
                new.__dict__[name] = copy.copy(value) if name in _SAYS else value
        return new

    def __deepcopy__(self: _L, memo: dict[int, Any]) -> _L:
        """A layer of its own, whose parameters have new names: optimizers keep state by name."""
        new = memo[id(self)] = object.__new__(type(self))
        state: Any = self.__getstate__()
        new.__dict__.update(copy.deepcopy(state, memo))
        old = self._full_name
        new._full_name = unique_name.generate(re.sub(r"_\d+$", "", old))
        for name, value in new._own(PARAMETER, BUFFER, PASSING):
            if isinstance(value, Tensor) and value.name == self.__dict__[name].name:
                _, own, rest = value.name.partition(f"{old}.")
                fresh = f"{new._full_name}.{rest}" if own else f"{value.name}_deepcopy"
                value.name = fresh if own else unique_name.generate(fresh)
        return new

    # --- text

    def extra_repr(self) -> str:
        """What stands in the parentheses of the repr; subclasses define it."""
        return ""

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        lines = [self.extra_repr()] if self.extra_repr() else []
        inner = [f"({name}): {layer!r}" for name, layer in self._own(SUBLAYER)]
        name = type(self).__name__
        if not inner:
            return f"{name}({''.join(lines)})"
        body = "\n".join([*lines, *inner]).replace("\n", "\n  ")
        return f"{name}(\n  {body}\n)"


def _snake(name: str) -> str:
    """``BatchNorm2D`` as ``batch_norm2d``, ``MyLSTMNet`` as ``my_lstm_net``"""
    return re.sub(r"(?<=[^_])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _floating(function: str, dtype: Any) -> np.dtype[Any]:
    chosen = to_numpy(dtype)
    if chosen not in FLOATS:
        raise DTypeError(
            f"{function}: parameters are floating-point numbers; dtype must be 'float32', "
            f"'float64', 'float16' or 'bfloat16', got {chosen.name}"
        )
    return chosen


def run_named(
    layer: Layer, forward: Callable[..., Any], inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``forward(*inputs, **kwargs)``; in a program temporaries are named after the layer."""
    if not mode.building():
        return forward(*inputs, **kwargs)
    with layer_scope(layer._full_name):
        return forward(*inputs, **kwargs)


def call_with_hooks(layer: Layer, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a call does. A `forward` that runs as a program takes the hooks into the program."""
    forward: Any = layer.forward
    traced = getattr(forward, "dygraph_function", None)
    if traced is None:
        return HookedCall(layer, forward)(*inputs, **kwargs)
    kept = layer.__dict__.get("_hooked_forward")
    if kept is None or kept.dygraph_function.forward != traced:
        kept = forward.like(HookedCall(layer, traced))
        layer.__dict__["_hooked_forward"] = kept
    return kept(*inputs, **kwargs)


class SpecialHook:
    """A hook that wants the keywords of calls, or to be called where they raise."""

    stands_in_front_of = ("hook",)  # what `jit.guards` looks into

    def __init__(self, hook: Callable[..., Any], with_kwargs: bool, always_call: bool) -> None:
        self.hook = hook
        self.with_kwargs = with_kwargs
        self.always_call = always_call

    def __call__(self, *args: Any) -> Any:
        return self.hook(*args)


def _check_call(
    layer: Layer, inputs: tuple[Any, ...], kwargs: dict[str, Any], error: TypeError
) -> None:
    """After `error`: raise what says more if a layer of the engine is not called with these."""
    if not type(layer).__module__.startswith("autograd_engine.") or type(error) is not TypeError:
        return
    try:
        signature = inspect.signature(layer.forward)
        signature.bind(*inputs, **kwargs)
    except TypeError as problem:
        text = str(problem).replace("positional ", "")
        raise ArgumentTypeError(
            f"{type(layer).__name__}: {text}; a call takes {', '.join(signature.parameters)}"
        ) from None


def _wants_kwargs(hook: Any) -> bool:
    return isinstance(hook, SpecialHook) and hook.with_kwargs


class HookedCall:
    """`forward` of a layer between its hooks."""

    stands_in_front_of = ("layer", "forward")  # what `jit.guards` looks into

    def __init__(self, layer: Layer, forward: Callable[..., Any]) -> None:
        self.layer = layer
        self.forward = forward
        self.__qualname__ = getattr(forward, "__qualname__", type(layer).__name__)
        self.__module__ = type(layer).__module__

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        layer, outputs = self.layer, None
        after = list(layer._forward_post_hooks.values())
        left = [h for h in after if isinstance(h, SpecialHook) and h.always_call]
        try:
            inputs, kwargs = self._before(inputs, kwargs)
            outputs = run_named(layer, self.forward, inputs, kwargs)
            for hook in after:
                if hook in left:
                    left.remove(hook)
                changed = self._after(hook, inputs, kwargs, outputs)
                outputs = outputs if changed is None else changed
        except Exception as error:
            for hook in left:
                try:
                    self._after(hook, inputs, kwargs, outputs)
                except Exception as another:
                    error.add_note(f"a hook with always_call=True raised too: {another!r}")
            raise
        return outputs

    def _before(
        self, inputs: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the hooks make of the arguments."""
        layer = self.layer
        for hook in list(layer._forward_pre_hooks.values()):
            if not _wants_kwargs(hook):
                changed = hook(layer, inputs)
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
                continue
            changed = hook(layer, inputs, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise ArgumentTypeError(
                        f"{type(layer).__name__}: a forward pre-hook with with_kwargs=True must "
                        f"return (inputs, kwargs) or None, got {type(changed).__name__}"
                    )
                inputs, kwargs = changed
        return inputs, kwargs

    def _after(
        self, hook: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any], outputs: Any
    ) -> Any:
        if _wants_kwargs(hook):
            return hook(self.layer, inputs, kwargs, outputs)
        return hook(self.layer, inputs, outputs)


# What a layer says of what it holds: a copy that is edited must not edit that.
_SAYS: Final = frozenset(
    {"_kinds", "_forward_pre_hooks", "_forward_post_hooks", "_state_dict_hooks"}
)


def _traced(function: Any, old: Any, new: Any) -> Any:
    """A method that runs as a program, for the copy."""
    target = function.dygraph_function
    if hasattr(target, "dygraph_function"):
        target = _traced(target, old, new)
    elif getattr(target, "__self__", None) is old:
        target = MethodType(target.__func__, new)
    return function.like(target)
