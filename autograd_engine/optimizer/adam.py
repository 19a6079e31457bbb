"""Adam, and AdamW, which decays beside the gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.optimizer.update_moments import on_rows
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.optimizer.checks import number, positive, unit_interval
from autograd_engine.optimizer.groups import Group
from autograd_engine.optimizer.optimizer import Array, Optimizer
from autograd_engine.optimizer.settings import State

__all__ = ["Adam", "AdamW"]

_POWERS = {
    "beta1_pow_acc": State(False, lambda attrs, rate: attrs["beta1"]),
    "beta2_pow_acc": State(False, lambda attrs, rate: attrs["beta2"]),
}
_STATE = {"moment1": State(), "moment2": State(), **_POWERS}
_AMSGRAD_STATE = {"moment1": State(), "moment2": State(), "moment2_max": State(), **_POWERS}


class Adam(Optimizer):
    """Adaptive moment estimation (Kingma and Ba 2015).

    Parameters
    ----------
    learning_rate : float or LRScheduler
    beta1, beta2 : float
        In [0, 1): decay of the first and second moment.
    epsilon : float
    parameters : list of Tensor, or of dict, optional
        Needed in eager mode; in a program, by default all trainable ones. See `Optimizer`, also
        for `weight_decay` and `grad_clip`.
    weight_decay : float, L1Decay or L2Decay, optional
        A term of the gradient; see `AdamW` for decay beside it.
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    lazy_mode : bool
        Of a parameter whose gradient is row-sparse (``embedding(sparse=True)``), update only the
        rows that were read: the moments of the others do not decay. With `weight_decay` or
        `grad_clip` gradients have all rows.
    multi_precision : bool
        Keep float16 parameters in float32 besides, and update these.
    use_multi_tensor : bool
        Accepted for the reference's sake.
    amsgrad : bool
        Divide by the largest second moment so far (Reddi, Kale and Kumar 2018).
    name : str, optional
    """

    operation = "adam"
    state: ClassVar = _STATE

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        betas = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "lazy_mode": lazy_mode}
        if amsgrad:
            self.operation, self.state = "adam_amsgrad", _AMSGRAD_STATE  # type: ignore[misc]
        super().__init__(
            learning_rate,
            parameters,
            weight_decay,
            grad_clip,
            name,
            multi_precision=multi_precision,
            hyper=betas,
        )

    def _attributes(self, **hyper: Any) -> dict[str, Any]:
        owner = type(self).__name__
        return {
            "beta1": unit_interval(owner, "beta1", hyper["beta1"]),
            "beta2": unit_interval(owner, "beta2", hyper["beta2"]),
            "epsilon": positive(owner, "epsilon", hyper["epsilon"]),
            "lazy_mode": bool(hyper["lazy_mode"]),
        }

    @property
    def _by_rows(self) -> bool:
        return self._attrs["lazy_mode"] is True

    def _write_rows(
        self, data: Array, rows: Array, values: Array, rate: Array, p: Tensor, attrs: dict[str, Any]
    ) -> None:
        state = self._state_of(p)  # the moments are nobody else's
        rule = REGISTRY[self.operation].kernel
        new = on_rows(rule, data, rows, values, rate, *state, **{**attrs, "lazy_mode": False})
        kept = [old if old.ndim else part for old, part in zip(state, new[1:], strict=True)]
        moments, key, held = state[:-2], id(p), self._eager_state
        # All or nothing, whatever interrupts: a parameter and its state belong together.
        if len(moments) == 2:
            m, v = moments
            data[rows], m[rows], v[rows], held[key] = *new[:3], kept
        else:
            m, v, w = moments
            data[rows], m[rows], v[rows], w[rows], held[key] = *new[:4], kept


class AdamW(Adam):
    """Adam with decay beside the gradient (Loshchilov and Hutter 2019).

    ``param * (1 - learning_rate * weight_decay)`` comes before Adam's step.

    Parameters
    ----------
    learning_rate : float or LRScheduler
    beta1, beta2 : float
        In [0, 1).
    epsilon : float
    parameters : list of Tensor, or of dict, optional
        See `Optimizer`, also for `grad_clip`.
    weight_decay : float
    use_lowprecision_moment : bool
        Accepted for the reference's sake.
    lr_ratio : callable, optional
        Of a parameter, the factor of its learning rate.
    apply_decay_param_fun : callable, optional
        Of a parameter's name, whether it decays; by default all do.
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
    lazy_mode, multi_precision, amsgrad : bool
        See `Adam`; all rows decay.
    name : str, optional

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w, b = (paddle.create_parameter([1], name=f"adamw_doc.{n}") for n in "wb")
    >>> adamw = paddle.optimizer.AdamW(
    ...     0.1, parameters=[w, b], apply_decay_param_fun=lambda name: name.endswith("w")
    ... )
    """

    operation = "adamw"
    _by_rows = False

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        named = {"lr_ratio": lr_ratio, "apply_decay_param_fun": apply_decay_param_fun}
        for argument, value in named.items():
            if value is not None and not callable(value):
                raise TypeError(f"AdamW: {argument} must be a function, got {value!r}")
        self._lr_ratio, self._decays = lr_ratio, apply_decay_param_fun
        betas = {"beta1": beta1, "beta2": beta2, "epsilon": epsilon, "lazy_mode": lazy_mode}
        if amsgrad:
            self.operation, self.state = "adamw_amsgrad", _AMSGRAD_STATE  # type: ignore[misc]
        Optimizer.__init__(
            self,
            learning_rate,
            parameters,
            None,
            grad_clip,
            name,
            multi_precision=multi_precision,
            hyper={**betas, "weight_decay": weight_decay},
        )
        self._plain = self._plain and not (lr_ratio or apply_decay_param_fun or lazy_mode)

    def _attributes(self, **hyper: Any) -> dict[str, Any]:
        weight_decay = hyper["weight_decay"]
        if hasattr(weight_decay, "coeff"):
            raise ArgumentError(
                "AdamW: weight_decay is a number, for it decays beside the gradient; pass a "
                "regularizer to Adam"
            )
        coeff = number("AdamW", "weight_decay", weight_decay)
        return {**super()._attributes(**hyper), "coeff": coeff}

    def _attrs_of(self, p: Any, group: Group) -> dict[str, Any]:
        if self._decays is None or self._decays(p.name):
            return group.attrs
        return {**group.attrs, "coeff": 0.0}

    def _rate_factor(self, p: Any, group: Group) -> float:
        factor = super()._rate_factor(p, group)
        return factor if self._lr_ratio is None else factor * float(self._lr_ratio(p))
