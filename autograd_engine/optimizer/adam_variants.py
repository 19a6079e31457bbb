"""Relatives of Adam: Adamax, Lamb, NAdam and RAdam."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from autograd_engine.optimizer.checks import number, positive, unit_interval
from autograd_engine.optimizer.groups import Group
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.optimizer.settings import State

__all__ = ["Adamax", "Lamb", "NAdam", "RAdam"]


def _betas(owner: str, beta1: Any, beta2: Any, epsilon: Any) -> dict[str, Any]:
    return {
        "beta1": unit_interval(owner, "beta1", beta1),
        "beta2": unit_interval(owner, "beta2", beta2),
        "epsilon": positive(owner, "epsilon", epsilon),
    }


def _beta1(attrs: dict[str, Any], rate: float) -> float:
    return float(attrs["beta1"])


def _beta2(attrs: dict[str, Any], rate: float) -> float:
    return float(attrs["beta2"])


def _one(attrs: dict[str, Any], rate: float) -> float:
    return 1.0


class Adamax(Optimizer):
    """Adam with the largest gradient in the place of the second moment (Kingma and Ba 2015).

    Parameters
    ----------
    learning_rate : float or LRScheduler
    beta1, beta2 : float
        In [0, 1): decay of the first moment, and of the largest gradient.
    epsilon : float
    parameters : list of Tensor, or of dict, optional
        See `Optimizer`, also for `weight_decay` and `grad_clip`.
    weight_decay : float, L1Decay or L2Decay, optional
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    name : str, optional
    """

    operation = "adamax"
    state: ClassVar = {
        "moment": State(),
        "inf_norm": State(),
        "beta1_pow_acc": State(False, _beta1),
    }

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            hyper={"beta1": beta1, "beta2": beta2, "epsilon": epsilon},
        )

    def _attributes(
        self, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-08
    ) -> dict[str, Any]:
        return _betas("Adamax", beta1, beta2, epsilon)


class Lamb(Optimizer):
    """Adam's direction at the length of the parameter (You et al. 2020).

    Parameters
    ----------
    learning_rate : float or LRScheduler
    lamb_weight_decay : float
        Times the parameter, added to the direction.
    beta1, beta2 : float
        In [0, 1).
    epsilon : float
    parameters : list of Tensor, or of dict, optional
        See `Optimizer`, also for `grad_clip`.
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    exclude_from_weight_decay_fn : callable, optional
        Of a parameter, whether it does not decay. The length of its step is then Adam's too.
    multi_precision : bool
        Keep float16 parameters in float32 besides, and update these.
    always_adapt : bool
        Adapt the length without decay too.
    name : str, optional
    """

    operation = "lamb"
    state: ClassVar = {
        "moment1": State(),
        "moment2": State(),
        "beta1_pow_acc": State(False, _beta1),
        "beta2_pow_acc": State(False, _beta2),
    }

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
        if excluded is not None and not callable(excluded):
            raise TypeError(
                f"Lamb: exclude_from_weight_decay_fn must be a function, got {excluded!r}"
            )
        self._excluded = excluded
        self._always_adapt = bool(always_adapt)
        super().__init__(
            learning_rate,
            parameters,
            None,
            grad_clip,
            name,
            multi_precision=multi_precision,
            hyper={
                "beta1": beta1,
                "beta2": beta2,
                "epsilon": epsilon,
                "lamb_weight_decay": lamb_weight_decay,
            },
        )
        self._plain = self._plain and excluded is None

    def _attributes(
        self,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-06,
        lamb_weight_decay: Any = 0.01,
    ) -> dict[str, Any]:
        return {
            **_betas("Lamb", beta1, beta2, epsilon),
            "weight_decay": number("Lamb", "lamb_weight_decay", lamb_weight_decay),
            "always_adapt": self._always_adapt,
        }

    def _attrs_of(self, p: Any, group: Group) -> dict[str, Any]:
        if self._excluded is None or not self._excluded(p):
            return group.attrs
        return {**group.attrs, "weight_decay": 0.0}


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat 2016).

    Parameters
    ----------
    learning_rate : float or LRScheduler
    beta1, beta2 : float
        In [0, 1).
    epsilon : float
    momentum_decay : float
        How fast the momentum grows to `beta1`.
    parameters : list of Tensor, or of dict, optional
        See `Optimizer`, also for `weight_decay` and `grad_clip`.
    weight_decay : float, L1Decay or L2Decay, optional
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    name : str, optional
    """

    operation = "nadam"
    state: ClassVar = {
        "moment1": State(),
        "moment2": State(),
        "momentum_decay_pow": State(False, _one),
        "beta2_pow": State(False, _one),
        "mu_product": State(False, _one),
    }

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
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            hyper={
                "beta1": beta1,
                "beta2": beta2,
                "epsilon": epsilon,
                "momentum_decay": momentum_decay,
            },
        )

    def _attributes(
        self,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        momentum_decay: Any = 0.004,
    ) -> dict[str, Any]:
        decay = number("NAdam", "momentum_decay", momentum_decay)
        return {**_betas("NAdam", beta1, beta2, epsilon), "momentum_decay": decay}


class RAdam(Optimizer):
    """Adam that waits until the variance of its second moment is finite (Liu et al. 2020).

    Parameters
    ----------
    learning_rate : float or LRScheduler
    beta1, beta2 : float
        In [0, 1).
    epsilon : float
    parameters : list of Tensor, or of dict, optional
        See `Optimizer`, also for `weight_decay` and `grad_clip`.
    weight_decay : float, L1Decay or L2Decay, optional
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    name : str, optional
    """

    operation = "radam"
    state: ClassVar = {
        "moment1": State(),
        "moment2": State(),
        "beta1_pow": State(False, _one),
        "beta2_pow": State(False, _one),
        "rho": State(False, _one),
    }

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            hyper={"beta1": beta1, "beta2": beta2, "epsilon": epsilon},
        )

    def _attributes(
        self, beta1: Any = 0.9, beta2: Any = 0.999, epsilon: Any = 1e-08
    ) -> dict[str, Any]:
        return _betas("RAdam", beta1, beta2, epsilon)
