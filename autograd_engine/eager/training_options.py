"""What optimizers are told about one parameter: its rate, its decay, whether it is clipped."""

from __future__ import annotations

from typing import Any

__all__ = ["Trained", "TrainingOptions"]


class TrainingOptions:
    """Where a parameter differs from the others."""

    __slots__ = ("need_clip", "optimize_attr", "regularizer")

    def __init__(
        self, learning_rate: float = 1.0, regularizer: Any = None, need_clip: bool = True
    ) -> None:
        self.optimize_attr = {"learning_rate": learning_rate}
        self.regularizer = regularizer
        self.need_clip = need_clip


class Trained:
    """The options of a parameter of either mode, made when they are first asked for.

    `_options` is None for the many parameters that have none, and that is all a step looks at.

    Attributes
    ----------
    optimize_attr : dict
        ``"learning_rate"``: the factor of the optimizer's.
    regularizer : regularizer or None
        Takes the place of the optimizer's.
    need_clip : bool
    """

    __slots__ = ()

    def _own_options(self) -> TrainingOptions:
        options = getattr(self, "_options", None)  # a copy may have none yet
        if options is None:
            options = TrainingOptions()
            setattr(self, "_options", options)  # noqa: B010 - the slot is that of the class below
        return options

    @property
    def optimize_attr(self) -> dict[str, float]:
        return self._own_options().optimize_attr

    @optimize_attr.setter
    def optimize_attr(self, value: dict[str, float]) -> None:
        self._own_options().optimize_attr = value

    @property
    def regularizer(self) -> Any:
        options = getattr(self, "_options", None)
        return None if options is None else options.regularizer

    @regularizer.setter
    def regularizer(self, value: Any) -> None:
        self._own_options().regularizer = value

    @property
    def need_clip(self) -> bool:
        options = getattr(self, "_options", None)
        return options is None or options.need_clip

    @need_clip.setter
    def need_clip(self, value: bool) -> None:
        self._own_options().need_clip = bool(value)
