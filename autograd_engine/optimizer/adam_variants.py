"""Relatives of Adam: Adamax, Lamb, NAdam and RAdam."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from autograd_engine.core.checks import require_bools
from autograd_engine.optimizer.adam import BETAS, MOMENTS, POWERS, MomentOptimizer
from autograd_engine.optimizer.checks import function, not_negative
from autograd_engine.optimizer.groups import Group, Hyper, State

__all__ = ["Adamax", "Lamb", "NAdam", "RAdam"]


class Adamax(MomentOptimizer):
    """Adam with the largest gradient in the place of the second moment (Kingma and Ba 2015).

    Parameters
    ----------
    beta1, beta2 : float
        In [0, 1): decay of the first moment, and of the largest gradient.
    epsilon : float
    """

    operation = "adamax"
    state: ClassVar = {
        "moment": State(),
        "inf_norm": State(),
        "beta1_pow_acc": State(False, "beta1"),
    }


class Lamb(MomentOptimizer):
    """Adam's direction at the length of the parameter (You et al. 2020).

    Parameters
    ----------
    lamb_weight_decay : float
        Times the parameter, added to the direction.
    exclude_from_weight_decay_fn : callable, optional
        Of a parameter, whether it does not decay. The length of its step is then Adam's too.
    always_adapt : bool
        Adapt the length without decay too.
    """

    operation = "lamb"
    state: ClassVar = MOMENTS | POWERS
    hyper: ClassVar = {**BETAS, "lamb_weight_decay": Hyper(not_negative, "weight_decay")}

    def __init__(
        self,
        learning_rate: Any = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-06,
        parameters: Sequence[Any] | None = None,
        grad_clip: Any = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        excluded = exclude_from_weight_decay_fn
        self._excluded = function("Lamb", "exclude_from_weight_decay_fn", excluded)
        require_bools("Lamb", always_adapt=always_adapt)
        self._always_adapt = always_adapt
        self._configure(locals())
        self._plain = self._plain and excluded is None

    def _attributes(self, **given: Any) -> dict[str, Any]:
        return {**super()._attributes(**given), "always_adapt": self._always_adapt}

    def _attrs_of(self, p: Any, group: Group) -> dict[str, Any]:
        if self._excluded is None or not self._excluded(p):
            return group.attrs
        return {**group.attrs, "weight_decay": 0.0}


class NAdam(MomentOptimizer):
    """Adam with Nesterov's momentum (Dozat 2016).

    Parameters
    ----------
    momentum_decay : float
        How fast the momentum grows to `beta1`.
    """

    operation = "nadam"
    state: ClassVar = {
        **MOMENTS,
        **dict.fromkeys(("momentum_decay_pow", "beta2_pow", "mu_product"), State(False, 1.0)),
    }
    hyper: ClassVar = {**BETAS, "momentum_decay": Hyper(not_negative)}

    def __init__(
        self,
        learning_rate: Any = 0.002,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        momentum_decay: float = 0.004,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        self._configure(locals())


class RAdam(MomentOptimizer):
    """Adam that waits until the variance of its second moment is finite (Liu et al. 2020)."""

    operation = "radam"
    state: ClassVar = {
        **MOMENTS,
        **dict.fromkeys(("beta1_pow", "beta2_pow", "rho"), State(False, 1.0)),
    }
