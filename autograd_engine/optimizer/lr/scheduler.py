"""What all schedulers share: an epoch, the rate of that epoch, and a state to go on from."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from autograd_engine.core.checks import as_number, check_callback, is_int
from autograd_engine.core.described import describe
from autograd_engine.core.names.constructors import Given, Respelled, respelled
from autograd_engine.core.names.missing_names import answered
from autograd_engine.errors import ArgumentError, ArgumentTypeError

__all__ = ["LRScheduler", "increasing", "number", "require_function", "whole"]


@respelled
class LRScheduler(Respelled):
    """Base of the schedulers: gives an optimizer the learning rate of each epoch.

    An optimizer that was made with a scheduler reads its rate at each step; in a program, at each
    run. Nothing but `step` changes it. What an epoch is, is up to whoever calls `step`: a pass
    over the data, or one batch of it.

    A subclass sets its own attributes, calls ``super().__init__``, and has a method `get_lr` that
    computes the rate from ``self.base_lr`` and ``self.last_epoch``.

    Parameters
    ----------
    learning_rate : float
        The rate to begin with, not negative.
    last_epoch : int
        The epoch before the first one; -1 to start from the beginning.
    verbose : bool
        Print each new rate.

    Attributes
    ----------
    base_lr : float
        The rate to begin with.
    last_lr : float
        The rate now; calling the scheduler gives it too.
    last_epoch : int
        The epoch now.

    Raises
    ------
    TypeError
        When an argument has a wrong type.
    ArgumentError
        When a value is out of range.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> class Halving(paddle.optimizer.lr.LRScheduler):
    ...     def get_lr(self):
    ...         return self.base_lr * 0.5**self.last_epoch
    >>> scheduler = Halving(0.1)
    >>> scheduler()
    0.1
    >>> scheduler.step()
    >>> scheduler.last_epoch, scheduler()
    (1, 0.05)
    """

    base_lr: float
    last_lr: float
    last_epoch: Any
    verbose: bool
    keys: list[str]

    if not TYPE_CHECKING:
        __getattr__ = answered("paddle.optimizer.lr.LRScheduler")

    @staticmethod
    def _reorder(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        """PyTorch's order: an optimizer first."""
        if args and hasattr(type(args[0]), "minimize"):  # which a tensor does not have
            return args[1:], {**kwargs, "optimizer": args[0]}
        return args, kwargs

    def __init__(
        self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        rate = number(self, "learning_rate", learning_rate, least=0)
        last_epoch = whole(self, "last_epoch", last_epoch, least=-1)
        self._begin(float(rate), last_epoch, verbose)
        if last_epoch == -1:
            self.step()
        else:  # the rate of that epoch, not the first rate taken one step further
            self.step(last_epoch + 1)

    def _begin(self, rate: float, epoch: int, verbose: bool) -> None:
        if not isinstance(verbose, bool):
            raise ArgumentTypeError(
                f"{type(self).__name__}: verbose must be True or False, got {verbose!r}"
            )
        self.base_lr = self.last_lr = rate
        self.last_epoch = epoch
        self.verbose = verbose

    def __call__(self) -> float:
        """The learning rate now."""
        return self.last_lr

    def __repr__(self) -> str:
        known: dict[str, Any] = {"last_epoch": self.last_epoch, "last_lr": self.last_lr}
        if not hasattr(self, "learning_rate"):
            known["learning_rate"] = self.base_lr
        return describe(self, **known)

    def get_lr(self) -> float:
        """Compute the rate of ``self.last_epoch``; each subclass has its own."""
        raise NotImplementedError(
            f"{type(self).__name__} has no get_lr(): define one that returns the rate of "
            "self.last_epoch"
        )

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or to `epoch`.

        An exception leaves the scheduler where it was.

        Parameters
        ----------
        epoch : int, optional

        Raises
        ------
        TypeError, ArgumentError
            When `epoch` is no number, or negative; when `get_lr` gives no finite number.
        """
        before = self.last_epoch
        try:
            if epoch is None:
                self.last_epoch = before + 1
                rate = self.get_lr()
            else:
                self.last_epoch = number(self, "epoch", epoch, least=0)
                closed_form = getattr(self, "_get_closed_form_lr", self.get_lr)
                rate = closed_form()
            self.last_lr = self._checked_rate(rate)
        except BaseException:
            self.last_epoch = before
            raise
        self._report()

    def _checked_rate(self, rate: Any) -> float:
        value = as_number(rate)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ArgumentTypeError(
                f"{type(self).__name__}: the learning rate of epoch {self.last_epoch} must be a "
                f"number, got {value!r}"
            )
        if not math.isfinite(value):
            raise ArgumentError(
                f"{type(self).__name__}: the learning rate of epoch {self.last_epoch} would be "
                f"{value}, which no parameter survives"
            )
        return float(value)

    def _report(self) -> None:
        if self.verbose:
            print(
                f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to "
                f"{self.last_lr}."
            )

    # --- state

    def state_keys(self) -> None:
        """Set ``self.keys``, the names of the attributes that `state_dict` holds.

        A subclass whose rate depends on more than these has its own.
        """
        self.keys = ["last_epoch", "last_lr"]

    def state_dict(self) -> dict[str, Any]:
        """What a scheduler that is made with the same arguments needs to go on from here.

        Returns
        -------
        dict
            Of numbers.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> paddle.optimizer.lr.ExponentialDecay(0.5, gamma=0.9).state_dict()
        {'last_epoch': 0, 'last_lr': 0.5}
        """
        self.state_keys()
        return {key: as_number(vars(self)[key]) for key in self.keys if key in vars(self)}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from where the scheduler was whose `state_dict` this is.

        Raises
        ------
        TypeError
            When it is no dict.
        ArgumentError
            When something is missing in it, or is no number. Nothing has changed then.

        Warns
        -----
        UserWarning
            When it holds what this scheduler does not know.
        """
        vars(self).update(self._checked_state(state_dict))

    set_dict = set_state_dict

    def _checked_state(self, state: Any, besides: tuple[str, ...] = ()) -> dict[str, Any]:
        """What `state` says about ``self.keys``; `besides` may be there too."""
        name = type(self).__name__
        if not isinstance(state, Mapping):
            raise ArgumentTypeError(
                f"{name}: set_state_dict takes what state_dict() has returned, a dict; got "
                f"{type(state).__name__}"
            )
        self.state_keys()
        if missing := [key for key in self.keys if key not in state]:
            raise ArgumentError(
                f"{name}: the state has no {', '.join(missing)}, only "
                f"{', '.join(map(str, state)) or 'nothing'}; is it that of another scheduler?"
            )
        if unknown := [key for key in state if key not in self.keys and key not in besides]:
            warnings.warn(
                f"{name} makes no use of {', '.join(map(str, unknown))} in this state; is it that "
                "of another scheduler?",
                stacklevel=3,
            )
        found = {key: as_number(state[key]) for key in self.keys}
        for key in ("last_epoch", "last_lr"):
            value = found.get(key, 0)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ArgumentError(f"{name}: {key} in this state is no number: {value!r}")
        return found


def number(
    scheduler: object,
    name: str,
    value: Any,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
) -> Any:
    """`value` as a Python number, if it is a finite one in that range."""
    where, value = f"{type(scheduler).__name__}: {name}", as_number(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{where} must be a number, got {_shown(value)}")
    if not (math.isfinite(value) and least <= value <= most and above < value < below):
        limits = [
            text
            for text, limit in (
                (f"at least {least}", least),
                (f"greater than {above}", above),
                (f"at most {most}", most),
                (f"less than {below}", below),
            )
            if math.isfinite(limit)
        ]
        raise ArgumentError(f"{where} must be {' and '.join(limits) or 'finite'}, got {value}")
    return value


def whole(scheduler: object, name: str, value: Any, least: int = 1) -> int:
    """`value` as an int, if it is one that is not less than `least`."""
    where, value = f"{type(scheduler).__name__}: {name}", as_number(value)
    if not is_int(value):
        raise ArgumentTypeError(f"{where} must be an int, got {_shown(value)}")
    if value < least:
        kind = "a positive int" if least == 1 else f"an int, at least {least}"
        raise ArgumentError(f"{where} must be {kind}, got {value}")
    return int(value)


def increasing(scheduler: object, name: str, value: Any) -> list[Any]:
    """`value` as a list, if it holds numbers, each greater than the one before."""
    where = f"{type(scheduler).__name__}: {name}"
    if not isinstance(value, (list, tuple)):
        raise ArgumentTypeError(f"{where} must be a list or a tuple of epochs, got {_shown(value)}")
    epochs = [number(scheduler, f"{name}[{k}]", epoch) for k, epoch in enumerate(value)]
    if any(b <= a for a, b in pairwise(epochs)):
        raise ArgumentError(f"{where} must increase from each to the next, got {epochs}")
    return epochs


def require_function(scheduler: object, name: str, value: Any, given: str = "epoch") -> None:
    owner = type(scheduler).__name__
    if not callable(value):
        raise ArgumentTypeError(
            f"{owner}: {name} must be a function, as lambda epoch: 0.95 ** epoch; got "
            f"{type(value).__name__}"
        )
    check_callback(owner, name, value, given)


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, (bool, str, float)) else type(value).__name__
