"""What an optimizer is told, and what of it holds for a parameter."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from autograd_engine.core.checks import as_number, require_bools
from autograd_engine.core.described import describe
from autograd_engine.core.names.constructors import Given, Respelled, respelled
from autograd_engine.core.names.missing_names import answered
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentTypeError, ModeError
from autograd_engine.optimizer.checks import check_parameters, not_negative, nothing_to_train
from autograd_engine.optimizer.groups import Group, check_clip, decay_of, groups_of
from autograd_engine.program.ir.program import Program
from autograd_engine.program.mode import in_dynamic_mode

__all__ = ["Hyper", "Settings", "State"]


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
        By default the parameter's.
    suffix : str, optional
        Of the variable's name, where it is not that of the state.
    """

    shaped: bool | Callable[[Any, dict[str, Any]], Any] = True
    initial: float | str = 0.0
    dtype: str | None = None
    suffix: str | None = None

    def shape(self, of: tuple[int, ...], attrs: dict[str, Any]) -> tuple[int, ...]:
        if isinstance(self.shaped, bool):
            return of if self.shaped else ()
        shape: tuple[int, ...] = self.shaped(of, attrs)
        return shape

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


# What only this object in this process can have.
_BY_IDENTITY = {"_group_of", "_eager_state", "_programs"}


def _are_listed(value: Any) -> bool:
    """Whether it looks like parameters."""
    return isinstance(value, (list, tuple, Tensor)) or hasattr(value, "__next__")


_COMMON = {"learning_rate", "parameters", "weight_decay", "grad_clip", "name", "multi_precision"}


@respelled
class Settings(Respelled):
    """What an optimizer was told; see `Optimizer`."""

    operation: str
    state: ClassVar[dict[str, State]] = {}
    hyper: ClassVar[dict[str, Hyper]] = {}

    if not TYPE_CHECKING:
        __getattr__ = answered("paddle.optimizer.Optimizer")

    @staticmethod
    def _reorder(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        """PyTorch's order: parameters first, then the rate."""
        told = [*args[1:], *(kwargs[name] for name in ("lr", "learning_rate") if name in kwargs)]
        listed = args and _are_listed(args[0]) and not isinstance(args[0], Tensor)
        if not listed or len(told) != 1:
            return args, kwargs
        return (), {**kwargs, "parameters": args[0]} | ({"lr": told[0]} if args[1:] else {})

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        *,
        multi_precision: bool = False,
        hyper: dict[str, Any] | None = None,
    ) -> None:
        owner = type(self).__name__
        self._learning_rate = self._checked_rate(learning_rate)
        self._rate_was_set = False
        self._decay = decay_of(owner, weight_decay)
        self._grad_clip = check_clip(owner, grad_clip)
        require_bools(owner, multi_precision=multi_precision)
        self._multi_precision = multi_precision
        self._name = name
        self._hyper = hyper or {}
        self._attrs = self._attributes(**self._hyper)
        self._groups = groups_of(self, parameters)
        self._default = Group(None, 1.0, self._decay, self._grad_clip, self._attrs)
        self._parameters: list[Any] | None
        if self._groups:
            self._parameters = [p for g in self._groups for p in g.params or ()]
        elif parameters is not None:
            self._parameters = check_parameters(parameters)
        else:
            self._parameters = None
            if in_dynamic_mode():
                raise nothing_to_train(owner)
        self._group_of = {id(p): g for g in self._groups for p in g.params or ()}
        # Where nothing but a limit is asked for besides the rule, a step does nothing besides.
        self._plain = not (self._groups or self._decay or multi_precision)
        self._eager_state: dict[int, list[Array]] = {}
        self._programs: weakref.WeakSet[Program] = weakref.WeakSet()  # that it has updates in

    def _configure(self, told: Mapping[str, Any]) -> None:
        """Set up from the arguments of a constructor, by their names."""
        common = {name: told[name] for name in told.keys() & (_COMMON - self.hyper.keys())}
        Settings.__init__(self, **common, hyper={name: told[name] for name in self.hyper})

    def _attributes(self, **given: Any) -> dict[str, Any]:
        """Attributes of the operation from the settings of the constructor, checked."""
        owner = type(self).__name__
        return {
            row.attribute or name: row.check(owner, name, given[name])
            for name, row in self.hyper.items()
        }

    def __repr__(self) -> str:
        told = {"weight_decay": self._decay, **self._hyper}
        return describe(self, parameters=self._parameters, **told)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: the state of a parameter beside the parameter itself."""
        kept = {name: v for name, v in vars(self).items() if name not in _BY_IDENTITY}
        states = self._eager_state
        kept["states"] = [(p, states[id(p)]) for p in self._parameters or () if id(p) in states]
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        states = kept.pop("states")
        vars(self).update(kept)
        self._group_of = {id(p): g for g in self._groups for p in g.params or ()}
        self._eager_state = {id(p): state for p, state in states}
        self._programs = weakref.WeakSet()

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes of the operation."""
        return dict(self._attrs)

    # --- what holds for one parameter

    def _group(self, p: Any) -> Group:
        return self._group_of.get(id(p), self._default)

    def _attrs_of(self, p: Any, group: Group) -> dict[str, Any]:
        return group.attrs

    def _rate_factor(self, p: Any, group: Group) -> float:
        """What the learning rate is multiplied with."""
        options = getattr(p, "_options", None)
        if options is None:
            return group.factor
        return group.factor * float(options.optimize_attr.get("learning_rate", 1.0))

    @staticmethod
    def _decay_of(p: Any, group: Group) -> Any:
        """The regularizer of `p`: its own, else that of its group."""
        options = getattr(p, "_options", None)
        own = None if options is None else options.regularizer
        return group.decay if own is None else own

    def _has_master(self, dtype: np.dtype[Any]) -> bool:
        return self._multi_precision and dtype.char == "e"

    # --- learning rate

    def _checked_rate(self, value: Any) -> Any:
        """A number, or a scheduler."""
        value, owner = as_number(value), type(self).__name__
        if not isinstance(value, bool) and isinstance(value, (int, float)):
            return not_negative(owner, "learning_rate", value)
        from autograd_engine.optimizer.lr import LRScheduler

        if isinstance(value, LRScheduler):
            return value
        listed = _are_listed(value)
        raise ArgumentTypeError(
            f"{owner}: learning_rate must be a float or an LRScheduler, got "
            f"{type(value).__name__}; write learning_rate=0.001"
            f"{', parameters=[...]' if listed else ''}"
        )

    def get_lr(self) -> float:
        """The learning rate of the next step.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> paddle.optimizer.SGD(0.5, parameters=[paddle.ones([1])]).get_lr()
        0.5
        """
        rate = self._learning_rate
        return rate if rate.__class__ is float else float(rate())

    def set_lr(self, value: float) -> None:
        """Set the learning rate of the steps to come, also in programs that were built before.

        Raises
        ------
        TypeError
        ArgumentError
            When it is negative, or not finite.
        ModeError
            When a scheduler says what the rate is.
        """
        rate = self._checked_rate(value)
        if rate.__class__ is not float:
            raise ArgumentTypeError("set_lr takes a number; use set_lr_scheduler for a scheduler")
        if self._learning_rate.__class__ is not float:
            raise ModeError(
                f"set_lr: {type(self._learning_rate).__name__} says what the learning rate is; "
                "step the scheduler, or make an optimizer with a number"
            )
        self._learning_rate, self._rate_was_set = rate, True

    def set_lr_scheduler(self, scheduler: Any) -> None:
        """Let `scheduler` say what the learning rate is from here on, also in programs.

        Parameters
        ----------
        scheduler : LRScheduler

        Raises
        ------
        TypeError
        """
        rate = self._checked_rate(scheduler)
        if rate.__class__ is float:
            raise ArgumentTypeError(
                "set_lr_scheduler takes an LRScheduler; use set_lr for a number"
            )
        self._learning_rate = rate

    def _supplied_rate(self) -> float | None:
        """What a program is told before each run; None leaves to it what its scope has."""
        if self._learning_rate.__class__ is float and not self._rate_was_set:
            return None
        return self.get_lr()
