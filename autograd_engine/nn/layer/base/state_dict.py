"""What a layer keeps: reading it, taking it over, and changing its dtype."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import COMPLEX, FLOATS, holds_numbers
from autograd_engine.core.spec import Array
from autograd_engine.eager.hooks import Hooks, RemovableHandle
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import write_values
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ModeError
from autograd_engine.nn.layer.base.registered import (
    BUFFER,
    PARAMETER,
    PASSING,
    SUBLAYER,
    Registered,
)
from autograd_engine.program.ir.program import Variable
from autograd_engine.program.scope import global_scope

if TYPE_CHECKING:
    from autograd_engine.nn.layer.base.layer import Layer

__all__ = ["Stateful", "cast"]

_MOST = 40


def _entries(
    layer: Registered,
    prefix: str = "",
    include_sublayers: bool = True,
    above: tuple[Registered, ...] = (),
) -> Iterator[tuple[str, Any]]:
    """(name, parameter or buffer): what is shared comes under each of its names."""
    for kind in (PARAMETER, BUFFER):
        for name, value in layer._own(kind):
            yield prefix + name, value
    if include_sublayers:
        for name, inner in layer._own(SUBLAYER):
            if inner is layer or inner in above:
                raise ArgumentError(
                    f"{type(inner).__name__} contains itself, at {prefix}{name}: what a layer "
                    "keeps has no end then; hold the outer layer in a tuple, as "
                    "`self.outer = (layer,)`"
                )
            yield from _entries(inner, f"{prefix}{name}.", True, (*above, layer))


def _value_of(value: Any) -> Any:
    """A Tensor itself; of a variable the array in the scope."""
    if not isinstance(value, Variable):
        return value
    held = global_scope().find_var(value.name)
    if held is None or held.value is None:
        raise ModeError(
            f"state_dict: {value.name} has no value in the scope yet: run the startup program "
            "first, exe.run(paddle.static.default_startup_program())"
        )
    return np.array(held.value)


def _load(
    layer: Registered, given: Any, use_structured_name: bool, strict: bool
) -> tuple[list[str], list[str]]:
    """See `Layer.set_state_dict`."""
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(
            f"set_state_dict takes what state_dict returned, a dict; got {type(given).__name__}"
            + (": load it with paddle.load(path)" if isinstance(given, str) else "")
        )
    own = list(_entries(layer))
    if not use_structured_name:
        own = [(value.name, value) for _, value in own]
    names = {name for name, _ in own}
    problems: list[str] = []
    missing: list[str] = []
    fitting: list[tuple[Any, Array]] = []
    for name, value in own:
        if name not in given:
            problems.append(f"{name} {_form(value)} is missing")
            missing.append(name)
            continue
        array, problem = _array(name, given[name], value)
        if array is None:
            problems.append(problem)
            missing.append(name)
        else:
            fitting.append((value, array))
    unknown = [str(name) for name in given if name not in names]
    problems += [_unknown(name, missing) for name in unknown]
    if problems and strict:
        raise ArgumentError(_report(layer, problems))
    for value, array in fitting:
        if isinstance(value, Variable):
            global_scope().var(value.name).value = array
        else:
            value.set_value(array)
    return missing, unknown


def _form(value: Any) -> str:
    return f"{value.dtype.name} {[int(d) for d in value.shape]}"


def _array(name: str, given: Any, own: Any) -> tuple[Array | None, str]:
    """A copy of what is given, in the dtype that is kept; or what is wrong with it."""
    try:
        array = np.asarray(given._data if isinstance(given, Tensor) else given)
    except Exception:
        array = np.array(None)
    if not holds_numbers(array.dtype, wide=True):
        return None, f"{name} is a {type(given).__name__}, not an array"
    wanted = tuple(int(d) for d in own.shape)
    dtype = (own.spec if isinstance(own, Variable) else own._data).dtype
    if any((array.dtype in family) != (dtype in family) for family in (COMPLEX, FLOATS)):
        return None, f"{name} holds {array.dtype.name}, not {dtype.name}"
    if array.shape != wanted:
        return None, f"{name} has shape {list(array.shape)}, the layer's has {list(wanted)}"
    return np.array(array, dtype, order="C"), ""


def _unknown(name: str, missing: list[str]) -> str:
    close = difflib.get_close_matches(name, missing, 1)
    return f"{name} is nothing that the layer has" + (f"; is it {close[0]}?" if close else "")


def _report(layer: Registered, problems: list[str]) -> str:
    shown = problems[:_MOST]
    if len(problems) > _MOST:
        shown.append(f"... and {len(problems) - _MOST} more")
    lines = "\n  ".join(shown)
    return (
        f"set_state_dict: this is not the state of this {type(layer).__name__}, nothing was "
        f"changed:\n  {lines}\n"
        "Build the layer as the one that was saved was built; or pass strict=False to take what "
        "fits and leave the rest"
    )


def cast(layers: Sequence[Layer], dtype: np.dtype[Any]) -> None:
    """Floating parameters and buffers of these layers themselves in another dtype."""
    for each in layers:
        if not each._castable:
            raise DTypeError(
                f"to: {each!r} is a program, whose dtypes are fixed: cast the layer that it was "
                "made of, and save that"
            )
    held = [v for each in layers for _, v in each._own(PARAMETER, BUFFER, PASSING)]
    for value in held:
        if isinstance(value, Variable):
            raise ModeError(
                f"to: {value.name} is a variable of a program, whose dtype is fixed: build the "
                f"layer under paddle.set_default_dtype({dtype.name!r})"
            )
    for value in held:
        if value._data.dtype in FLOATS and value._data.dtype != dtype:
            write_values(value, value._data.astype(dtype))
            value._grad = None
    for each in layers:
        each._dtype = dtype


class Stateful(Registered):
    """Parameters and buffers, inner ones included, as one dict."""

    def state_dict(
        self,
        destination: dict[str, Any] | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> dict[str, Any]:
        """Parameters and buffers by name: what `paddle.save` takes.

        Parameters
        ----------
        destination : dict, optional
            Where to put them.
        include_sublayers : bool
        structured_name_prefix : str
            Put before each name.
        use_hook : bool
            Call what `register_state_dict_hook` was given.
        keep_vars : bool
            Accepted for the reference's sake.

        Returns
        -------
        dict of str to Tensor
            The Tensors themselves: later training changes what they hold. Of the layer of a
            program the values in `static.global_scope()`, as arrays.

        Raises
        ------
        ModeError
            When the startup program of a layer of a program has not been run.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> list(paddle.nn.Linear(2, 3).state_dict())
        ['weight', 'bias']
        """
        found = {} if destination is None else destination
        for name, value in _entries(self, structured_name_prefix, include_sublayers):
            found[name] = _value_of(value)
        layers = self._innermost_first(set()) if include_sublayers else iter([self])
        for layer in layers if use_hook else ():
            for hook in list(layer.__dict__.get("_state_dict_hooks", {}).values()):
                changed = hook(found)
                found = found if changed is None else changed
        return found

    def register_state_dict_hook(self, hook: Callable[[dict[str, Any]], Any]) -> RemovableHandle:
        """Have ``hook(state)`` run at the end of `state_dict`, also of a layer around this one.

        Parameters
        ----------
        hook : callable
            It may edit the dict, or return another.

        Returns
        -------
        RemovableHandle

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> layer = paddle.nn.Linear(2, 3)
        >>> handle = layer.register_state_dict_hook(lambda state: {"weight": state["weight"]})
        >>> list(layer.state_dict())
        ['weight']
        """
        if not callable(hook):
            raise ArgumentTypeError(
                f"register_state_dict_hook takes a function, got {type(hook).__name__}"
            )
        hooks: Hooks = self.__dict__.setdefault("_state_dict_hooks", Hooks())
        return hooks.register(hook)

    def set_state_dict(
        self, state_dict: Any, use_structured_name: bool = True, strict: bool = True
    ) -> tuple[list[str], list[str]]:
        """Take over values that `state_dict` returned.

        Parameters
        ----------
        state_dict : dict of str to Tensor or array
        use_structured_name : bool
            False: the keys are the names of the parameters (``linear_0.w_0``).
        strict : bool
            False: take what fits, and leave the rest as it is.

        Returns
        -------
        (list of str, list of str)
            Names that are missing, or do not fit, and names that the layer does not have. Both are
            empty if `strict`.

        Raises
        ------
        ArgumentError
            When something is missing, unknown or of another shape, unless `strict` is False. It
            lists all of that, and nothing has changed.
        TypeError

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> a, b = paddle.nn.Linear(2, 3), paddle.nn.Linear(2, 3)
        >>> b.set_state_dict(a.state_dict())
        ([], [])
        >>> bool((a.weight == b.weight).all())
        True
        """
        require_bools("set_state_dict", use_structured_name=use_structured_name, strict=strict)
        return _load(self, state_dict, use_structured_name, strict)

    set_dict = set_state_dict
    load_dict = set_state_dict
