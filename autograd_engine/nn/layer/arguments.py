"""What the constructors of layers share: arguments that are checked when a layer is made, and a
repr that lists attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Final, TypeVar

import numpy as np

from autograd_engine.core.checks import MOST, as_number, is_int, require_bools
from autograd_engine.core.dtypes import DTypeLike
from autograd_engine.eager.tensor import Parameter, Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.functional.window_arguments import paddings
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.program.ir.program import Parameter as StaticParameter, Variable

__all__ = [
    "MOST_LAYERS",
    "Elementwise",
    "Plain",
    "Reduced",
    "Unnamed",
    "Weighted",
    "along",
    "choice",
    "flag",
    "integer",
    "listed",
    "named",
    "number",
    "padding",
    "per_axis",
    "required",
    "sequence",
    "weights",
]

T = TypeVar("T")

_NUMBER = {1: "one of them", 2: "two of them", 3: "three of them", 4: "four of them"}


class Plain(Layer):
    """A layer whose repr lists attributes, with what they hold, and its name where it has one.

    ``class ReLU(Elementwise, function=F.relu)`` is the layer of `F.relu`, which `forward` calls.

    Raises
    ------
    ArgumentError
    """

    _function: ClassVar[Callable[..., Any]]
    _shown: ClassVar[tuple[str, ...]] = ()  # attributes, or "label=attribute"
    _shown_unless: ClassVar[tuple[tuple[str, Any], ...]] = ()  # and what they hold if left out

    def __init_subclass__(cls, function: Callable[..., Any] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if function is not None:
            cls._function = staticmethod(function)

    def __init__(self, name: str | None = None, dtype: DTypeLike | None = None) -> None:
        super().__init__(dtype=dtype)
        self._name = named(self, name)

    def extra_repr(self) -> str:
        unusual = (name for name, usual in self._shown_unless if getattr(self, name) != usual)
        return self._listed(map(self._said, (*self._always_shown(), *unusual)))

    def _said(self, shown: str) -> str:
        label, _, attribute = shown.rpartition("=")
        return f"{label or attribute.lstrip('_')}={getattr(self, attribute)}"

    def _always_shown(self) -> tuple[str, ...]:
        return self._shown

    def _listed(self, parts: Iterable[str]) -> str:
        named = [] if self._name is None else [f"name={self._name}"]
        return ", ".join([*parts, *named])


class Unnamed(Plain):
    """A layer whose repr leaves its name out."""

    def _listed(self, parts: Iterable[str]) -> str:
        return ", ".join(parts)


class Elementwise(Plain):
    """A function of one operand that takes nothing else."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)

    def forward(self, x: Any) -> Tensor:
        return self._function(x)


class Reduced(Unnamed):
    """A loss, reduced to its mean or its sum, or as it is.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}
    """

    _more: ClassVar[tuple[str, ...]] = ()

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__(name)
        known = ("mean", "sum", *self._more, "none")
        self.reduction = choice(self, "reduction", reduction, known)


class Weighted(Reduced):
    """A loss of which a weight multiplies each element, or each class.

    Parameters
    ----------
    weight : Tensor, optional
        One for each class.
    """

    weight: Any

    def __init__(
        self, weight: Any = None, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__(reduction, name)
        weights(self, "weight", weight)


def named(layer: object, name: Any, argument: str = "name") -> str | None:
    """A name, or None."""
    if name is not None and not isinstance(name, str):
        raise ArgumentError(
            f"{_owner(layer)}: {argument} must be a str, got {type(name).__name__}; arguments "
            f"before it may be misplaced: write {argument}=..."
        )
    return name


def _owner(layer: object) -> str:
    return type(layer).__name__


def listed(value: Any) -> Any:
    """An array or a Tensor as a list of what Python has for it; anything else as it is."""
    return value.tolist() if isinstance(value, (Tensor, np.ndarray, np.generic)) else value


def number(
    layer: object,
    argument: str,
    value: Any,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    *,
    fills: bool = False,
) -> Any:
    """An int or a float as it is given, once it is seen to be within the bounds.

    It is NaN only where it `fills` something.
    """
    value = as_number(value)
    fits = isinstance(value, (int, float)) and not isinstance(value, bool)
    fits = fits and (value == value or fills)
    if not fits or (
        (least is not None and not value >= least)
        or (most is not None and not value <= most)
        or (above is not None and not value > above)
    ):
        bounds = [
            *([f"of at least {least}"] if least is not None else []),
            *([f"above {above}"] if above is not None else []),
            *([f"of at most {most}"] if most is not None else []),
        ]
        raise ArgumentError(
            f"{_owner(layer)}: {argument} must be a number{' ' if bounds else ''}"
            f"{' and '.join(bounds)}, got {value!r}"
        )
    return value


MOST_LAYERS: Final = 10_000


def integer(
    layer: object, argument: str, value: Any, least: int | None = 1, most: int = MOST
) -> int:
    """An int from `least` to `most`: by default any size. Without `least` it may be any."""
    value = as_number(value)
    if not is_int(value) or (least is not None and not least <= value <= most):
        above = f", {most} at most" if is_int(value) and value > most else ""
        bound = "" if least is None else f" of at least {least}{above}"
        raise ArgumentError(f"{_owner(layer)}: {argument} must be an int{bound}, got {value!r}")
    return int(value)


def along(layer: object, argument: str, value: Any) -> int:
    """The number of an axis; negative ones count from the last."""
    value = as_number(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentError(
            f"{_owner(layer)}: {argument} must be an int, the number of an axis, got {value!r}"
        )
    return value


def flag(layer: object, argument: str, value: Any) -> bool:
    """True or False."""
    require_bools(_owner(layer), **{argument: value})
    return bool(value)


def choice(layer: object, argument: str, value: T, known: Sequence[T]) -> T:
    """One of the values known."""
    if not any(type(value) is type(k) and value == k for k in known):
        listed = ", ".join(map(repr, known))
        raise ArgumentError(f"{_owner(layer)}: {argument} must be one of {listed}; got {value!r}")
    return value


def per_axis(
    layer: object, argument: str, value: Any, axes: int, least: int = 1, none: bool = False
) -> Any:
    """An int, or one for each axis (None among them, if `none`), as it is given.

    A Tensor or an array of ints comes back as a list.
    """
    value = listed(value)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * axes
    if len(values) != axes or not all(_counts(as_number(v), least, none) for v in values):
        raise ArgumentError(
            f"{_owner(layer)}: {argument} must be an int of at least {least}"
            f"{' or None' if none else ''}, or {_NUMBER[axes]} in a list; got {value!r}"
        )
    return list(value) if isinstance(value, list) else value


def _counts(value: Any, least: int, none: bool) -> bool:
    if value is None:
        return none
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def sequence(value: Any) -> list[Any]:
    """What a list, a tuple or an array holds; of anything else a list with that."""
    value = listed(value)
    return list(value) if isinstance(value, (list, tuple)) else [value]


def padding(layer: object, value: Any, axes: int, last: bool) -> Any:
    """What convolutions and pooling take as padding, as it is given; see `conv2d`."""
    value = listed(value)
    one = (1,) * axes
    paddings(_owner(layer), value, one, one, one, one, last)
    return list(value) if isinstance(value, list) else value


def required(layer: object, argument: str, attr: Any) -> Any:
    """An attribute of a parameter that the layer cannot be without."""
    if attr is False:
        raise ArgumentError(
            f"{_owner(layer)}: {argument} must not be False, for the layer computes with that "
            "parameter; leave it out for the default"
        )
    return attr


def weights(layer: Layer, argument: str, value: Any) -> None:
    """Register weights that are given and, unless they are parameters, not trained.

    They are no part of the state, but follow the layer into another dtype.
    """
    if isinstance(value, (Parameter, StaticParameter)):
        layer.add_parameter(argument, value)
        return
    if value is None or isinstance(value, (Tensor, Variable)):
        layer.register_buffer(argument, value, persistable=False)
        return
    if not isinstance(value, (list, tuple, np.ndarray)):
        raise ArgumentError(
            f"{_owner(layer)}: {argument} must be a Tensor, got {type(value).__name__}: "
            "paddle.to_tensor([...])"
        )
    layer.register_buffer(argument, Tensor(np.array(value, layer._dtype)), persistable=False)
