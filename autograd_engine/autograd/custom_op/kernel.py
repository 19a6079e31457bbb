"""What `defop` puts around a kernel, an inference and attributes of the user's, to check them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from autograd_engine.core import pytree as nest
from autograd_engine.core.operand import Operand
from autograd_engine.core.spec import Spec, format_shape, may_equal
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    NotATensorError,
    RegistryError,
    ShapeError,
)
from autograd_engine.ops.infer import broadcast, same
from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["attribute", "guarded", "inference", "kind", "own", "shielded", "spread"]


def kind(value: Any) -> str:
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeio' else 'a'} {name}"


def attribute(op: str, name: str, value: Any) -> Any:
    """A value that nobody changes afterwards."""
    if isinstance(value, Operand):
        raise NotATensorError(
            f"{op}: {name} is an attribute, and was given a {type(value).__name__}: attributes are "
            f"plain values, not differentiated. Pass {name}.item() or .tolist(), or make it an "
            "input (a positional parameter of the kernel)"
        )
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return tuple(attribute(op, name, v) for v in value)
    if isinstance(value, (dict, set, bytearray)):
        raise ArgumentError(
            f"{op}: {name} is a {type(value).__name__}, which can change after the call: pass a "
            "number, a str, a tuple or an ndarray"
        )
    return value


def guarded(op: OpDef, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """`kernel` on operands that cannot be written, its results checked against `infer`."""

    @functools.wraps(kernel)
    def run(*operands: Any, **attrs: Any) -> Any:
        given = shielded(operands)
        try:
            made = kernel(*given, **attrs)
        except ValueError as error:
            if "read-only" in str(error):
                raise ArgumentError(
                    f"{op.name}: the kernel writes to an operand, whose values others may need; "
                    "work on a copy (x = x.copy()), or write to a new array"
                ) from error
            raise
        wanted = op.infer_tuple([Spec(a.shape, a.dtype) for a in operands], attrs)
        if not op.multiple:
            box = [made]
            del made
            return _result(op, own(box, 0, given), wanted[0], "")
        if not isinstance(made, (tuple, list)) or len(made) != len(wanted):
            count = len(made) if isinstance(made, (tuple, list)) else kind(made)
            raise ArgumentError(
                f"{op.name}: the kernel returned {count} for {len(wanted)} outputs "
                f"({', '.join(op.outputs)}); return a tuple with one array for each"
            )
        box = list(made)
        del made
        return tuple(
            [
                _result(op, own(box, k, given), spec, f" {op.output_at(k)}")
                for k, spec in enumerate(wanted)
            ]
        )

    return run


# --- memory


def shielded(values: Any) -> Any:
    """`values`, nested in tuples and dicts, each ndarray as a view that cannot be written."""
    if values.__class__ is np.ndarray:
        view = values.view()
        view.flags.writeable = False
        return view
    if isinstance(values, (tuple, list)):
        return tuple([shielded(v) for v in values])
    if isinstance(values, dict):
        return type(values)({key: shielded(v) for key, v in values.items()})
    return values


def _references(box: list[Any], k: int) -> int:
    return getrefcount(box[k])


def _references_of_one() -> int:
    return _references([np.zeros(1)], 0)


_ONE = _references_of_one()


def own(box: list[Any], k: int, given: Sequence[Any]) -> Any:
    """``box[k]``, copied where the user's code can still write to its memory.

    A function may return an array that it keeps, a buffer to be filled again by its next call, say;
    graphs go by values that stay. Reference counts tell: nothing but `box` may hold the array, and
    nothing but the array what it is a view of. Memory of `given` is that of tensors.
    """
    if not isinstance(box[k], np.ndarray):
        return box[k]
    held = _references(box, k) > _ONE
    array = box[k]
    owner = [array]
    while isinstance(owner[0].base, np.ndarray):
        owner = [owner[0].base]
        held = held or _references(owner, 0) > _ONE + 1  # and what is a view of it
    if any(owner[0] is _owner(g) for g in nest.leaves(given) if isinstance(g, np.ndarray)):
        return array
    return np.array(array) if held or owner[0].base is not None else array


def _owner(array: Any) -> Any:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _result(op: OpDef, value: Any, wanted: Spec, which: str) -> Any:
    if value is None or isinstance(value, Operand):
        raise NotATensorError(
            f"{op.name}: the kernel returned {kind(value)} for its output{which}; it gets "
            "ndarrays and returns ndarrays"
        )
    array = np.asarray(value)
    if not may_equal(array.shape, wanted.shape):
        raise ShapeError(
            f"{op.name}: the kernel returned shape {format_shape(array.shape)} for its "
            f"output{which}, and infer says {format_shape(wanted.shape)}; correct the one that is "
            "wrong (infer='same', 'broadcast', or a function of the Specs of the inputs)"
        )
    if array.dtype != wanted.dtype:
        raise DTypeError(
            f"{op.name}: the kernel returned {array.dtype.name} for its output{which}, and infer "
            f"says {wanted.dtype.name}; use .astype(x.dtype) in the kernel, or correct infer"
        )
    return array


# --- inference


def inference(name: str, infer: Any) -> Callable[..., Any]:
    """A function that gives Specs, from what a user may say."""
    if isinstance(infer, (tuple, list)) and infer:
        parts = [inference(name, part) for part in infer]
        return lambda *specs, **attrs: tuple(part(*specs, **attrs) for part in parts)
    if infer == "same":
        return lambda first, *_, **attrs: same(first, **attrs)
    if infer == "broadcast":
        return broadcast(name)
    if not callable(infer):
        raise not_inference(name, repr(infer))

    def checked(*specs: Spec, **attrs: Any) -> Any:
        made = infer(*specs, **attrs)
        if isinstance(made, Spec):
            return made
        if isinstance(made, tuple) and made and all(isinstance(m, Spec) for m in made):
            return made
        raise RegistryError(
            f"{name}: infer returned {made!r}; return a Spec, as paddle.autograd.Spec(x.shape, "
            "x.dtype), or a tuple of them for several outputs"
        )

    return checked


def not_inference(name: str, got: str) -> RegistryError:
    """What to raise for something else than `inference` takes."""
    return RegistryError(
        f"{name}: infer must be 'same', 'broadcast', a function of the Specs of the inputs, or "
        f"a tuple with one of these for each output; got {got}"
    )


def spread(infer: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The same Spec for each of several outputs, where one was given."""

    def spread(*specs: Spec, **attrs: Any) -> Any:
        made = infer(*specs, **attrs)
        return (made,) * count if isinstance(made, Spec) else made

    return spread
