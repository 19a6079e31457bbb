"""Rows of an optimizer: state and settings; and what of these holds for a group of parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.dtypes import COMPLEX, accumulation_dtype, real_dtype
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.nn.clip import ClipGradBase
from autograd_engine.ops.conjugates import by_parts
from autograd_engine.optimizer.checks import check_distinct, check_parameters, not_negative, number
from autograd_engine.regularizer import L2Decay, WeightDecayRegularizer

__all__ = ["Group", "Hyper", "State", "decay_of", "decayed", "groups_of", "update_dtype"]


def update_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that a parameter is updated in: of a complex one that of its parts."""
    return accumulation_dtype(real_dtype(dtype))


class State(NamedTuple):
    """An array that an optimizer keeps for each parameter.

    Attributes
    ----------
    shaped : bool or callable
        Whether it has the parameter's shape, or is 0-d; or its shape, from the parameter's and the
        attributes.
    initial : float or str
        Its first value, or the attribute that it is, or ``"learning_rate"``.
    dtype : str, optional
        By default the parameter's, of a complex one that of its parts.
    suffix : str, optional
        Of the variable's name, where it is not that of the state.
    """

    shaped: bool | Callable[[Any, dict[str, Any]], Any] = True
    initial: float | str = 0.0
    dtype: str | None = None
    suffix: str | None = None

    def spec(self, of: tuple[int, ...], dtype: np.dtype[Any], attrs: dict[str, Any]) -> Spec:
        """What it is for a parameter of this shape and dtype; for a complex one, for its parts."""
        own = np.dtype(self.dtype) if self.dtype else update_dtype(dtype)
        if dtype in COMPLEX:
            of = (*of, 2)
        if isinstance(self.shaped, bool):
            return Spec(of if self.shaped else (), own)
        return Spec(self.shaped(of, attrs), own)

    def first(self, attrs: dict[str, Any], rate: float) -> float:
        if isinstance(self.initial, str):
            return float({**attrs, "learning_rate": rate}[self.initial])
        return self.initial


class Hyper(NamedTuple):
    """A setting of an optimizer, which a group of parameters may have otherwise.

    Attributes
    ----------
    check : callable
        ``check(owner, name, value)`` returns what the operation is told, or raises.
    attribute : str, optional
        What the operation calls it, where that is another name.
    """

    check: Callable[[str, str, Any], Any]
    attribute: str | None = None


@dataclass(eq=False)
class Group:
    """Parameters that are trained alike.

    Attributes
    ----------
    params : list or None
        None: whatever has no group of its own.
    factor : float
        Of the learning rate.
    decay : WeightDecayRegularizer or None
    clip : ClipGradBase or None
    attrs : dict
        Attributes of the operation.
    """

    params: list[Any] | None
    factor: float
    decay: WeightDecayRegularizer | None
    clip: ClipGradBase | None
    attrs: dict[str, Any]


def decay_of(owner: str, value: Any) -> WeightDecayRegularizer | None:
    """``weight_decay=``: a regularizer, the coefficient of `L2Decay`, or None."""
    if value is None or isinstance(value, WeightDecayRegularizer):
        return value
    try:
        found = number(owner, "weight_decay", value)
    except TypeError:
        raise ArgumentTypeError(
            f"{owner}: weight_decay must be a number, or paddle.regularizer.L1Decay or L2Decay; "
            f"got {type(value).__name__}"
        ) from None
    if found < 0:
        raise ArgumentError(
            f"{owner}: weight_decay must not be negative, got {value!r}: weights would grow; if "
            f"that is meant, give paddle.regularizer.L2Decay({value!r})"
        )
    return L2Decay(found)


def decayed(decay: WeightDecayRegularizer, xp: Any, param: Any, grad: Any) -> Any:
    """The gradient with the term of the regularizer, which complex parameters have by parts."""
    return by_parts(xp, partial(decay.added, xp), param, grad)


def check_clip(owner: str, value: Any) -> ClipGradBase | None:
    if value is None or isinstance(value, ClipGradBase):
        return value
    raise ArgumentTypeError(
        f"{owner}: grad_clip must be paddle.nn.ClipGradByGlobalNorm, ClipGradByNorm or "
        f"ClipGradByValue; got {type(value).__name__}"
    )


def groups_of(optimizer: Any, parameters: Any) -> list[Group]:
    """One for each dict of ``parameters=[{"params": [...], ...}, ...]``; none for a plain list."""
    if not _is_grouped(parameters):
        return []
    groups = [_group(optimizer, k, entry) for k, entry in enumerate(parameters)]
    check_distinct("parameters", [p for g in groups for p in g.params or ()])
    return groups


def _is_grouped(parameters: Any) -> bool:
    if not isinstance(parameters, (list, tuple)):
        return False
    dicts = [isinstance(p, dict) for p in parameters]
    if any(dicts) and not all(dicts):
        k = dicts.index(False)
        raise ArgumentTypeError(
            f"parameters[{k}] is no dict, and others are: put it in a group, "
            "{'params': [parameter]}"
        )
    return any(dicts)


def _group(optimizer: Any, k: int, entry: dict[str, Any]) -> Group:
    where, rest = f"{type(optimizer).__name__}: parameters[{k}]", dict(entry)
    if "params" not in rest:
        raise ArgumentError(f"{where} has no 'params'; write {{'params': [parameter], ...}}")
    params = rest.pop("params")
    params = check_parameters(params if isinstance(params, (list, tuple)) else [params])
    factor = not_negative(where, "learning_rate", rest.pop("learning_rate", 1.0))
    clip = check_clip(where, rest.pop("grad_clip", optimizer._grad_clip))
    hyper = dict(optimizer._hyper)
    known = ["learning_rate", "weight_decay", "grad_clip", *hyper]
    decay = optimizer._decay
    if "weight_decay" in rest and "weight_decay" not in hyper:
        decay = decay_of(where, rest.pop("weight_decay"))
    for name, value in rest.items():
        if name not in hyper:
            raise ArgumentError(
                f"{where}: {name!r} is no setting of a group; it may have {', '.join(known)}"
            )
        hyper[name] = value
    return Group(params, factor, decay, clip, optimizer._attributes(**hyper))
