"""Adam, and AdamW, which decays beside the gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.update import on_rows
from autograd_engine.optimizer.checks import flag, function, not_negative, positive, unit_interval
from autograd_engine.optimizer.groups import Group, Hyper, State
from autograd_engine.optimizer.optimizer import Optimizer

__all__ = ["BETAS", "MOMENTS", "POWERS", "Adam", "AdamW", "MomentOptimizer"]

MOMENTS = {"moment1": State(), "moment2": State()}
POWERS = {"beta1_pow_acc": State(False, "beta1"), "beta2_pow_acc": State(False, "beta2")}
BETAS = {
    "beta1": Hyper(unit_interval),
    "beta2": Hyper(unit_interval),
    "epsilon": Hyper(positive),
}


class MomentOptimizer(Optimizer):
    """Running means of gradients and of their squares, which begin at zero.

    Parameters
    ----------
    beta1, beta2 : float
        In [0, 1): decay of the first and second moment.
    epsilon : float
    """

    hyper: ClassVar = BETAS

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
        self._configure(locals())


class Adam(MomentOptimizer):
    """Adaptive moment estimation (Kingma and Ba 2015).

    Parameters
    ----------
    weight_decay : float, L1Decay or L2Decay, optional
        A term of the gradient; see `AdamW` for decay beside it.
    lazy_mode : bool
        Of a parameter whose gradient is row-sparse (``embedding(sparse=True)``), update only the
        rows that were read: the moments of the others do not decay. With `weight_decay` or
        `grad_clip` gradients have all rows.
    use_multi_tensor : bool
        Accepted for the reference's sake.
    amsgrad : bool
        Divide by the largest second moment so far (Reddi, Kale and Kumar 2018).
    """

    operation = "adam"
    state: ClassVar = MOMENTS | POWERS
    hyper: ClassVar = {**BETAS, "lazy_mode": Hyper(flag)}

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
        self._configure(locals())

    def _configure(self, told: Mapping[str, Any]) -> None:
        if flag(type(self).__name__, "amsgrad", told["amsgrad"]):
            self.operation += "_amsgrad"
            self.state = {**MOMENTS, "moment2_max": State(), **POWERS}  # type: ignore[misc]
        super()._configure(told)

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


def _beside(owner: str, name: str, value: Any) -> float:
    if hasattr(value, "coeff"):
        raise ArgumentError(
            "AdamW: weight_decay is a number, for it decays beside the gradient; pass a "
            "regularizer to Adam"
        )
    return not_negative(owner, name, value)


class AdamW(Adam):
    """Adam with decay beside the gradient (Loshchilov and Hutter 2019).

    ``param * (1 - learning_rate * weight_decay)`` comes before Adam's step.

    Parameters
    ----------
    weight_decay : float
    use_lowprecision_moment : bool
        Accepted for the reference's sake.
    lr_ratio : callable, optional
        Of a parameter, the factor of its learning rate.
    apply_decay_param_fun : callable, optional
        Of a parameter's name, whether it decays; by default all do.
    lazy_mode, multi_precision, amsgrad : bool
        See `Adam`; all rows decay.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w, b = (paddle.create_parameter([1], name=f"adamw_doc.{n}") for n in "wb")
    >>> adamw = paddle.optimizer.AdamW(
    ...     0.1, parameters=[w, b], apply_decay_param_fun=lambda name: name.endswith("w")
    ... )
    """

    operation = "adamw"
    hyper: ClassVar = {**Adam.hyper, "weight_decay": Hyper(_beside, "coeff")}
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
        self._lr_ratio = function("AdamW", "lr_ratio", lr_ratio)
        self._decays = function("AdamW", "apply_decay_param_fun", apply_decay_param_fun)
        self._configure(locals())
        self._plain = self._plain and not (lr_ratio or apply_decay_param_fun or lazy_mode)

    def _attrs_of(self, p: Any, group: Group) -> dict[str, Any]:
        if self._decays is None or self._decays(p.name):
            return group.attrs
        return {**group.attrs, "coeff": 0.0}

    def _rate_factor(self, p: Any, group: Group) -> float:
        factor = super()._rate_factor(p, group)
        return factor if self._lr_ratio is None else factor * float(self._lr_ratio(p))
