"""Adam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError
from autograd_engine.ops.update import adam_rows
from autograd_engine.optimizer.optimizer import Array, Optimizer

__all__ = ["Adam"]


class Adam(Optimizer):
    """Adaptive moment estimation (Kingma and Ba 2015).

    Parameters
    ----------
    learning_rate : float
    beta1, beta2 : float
        In [0, 1): decay of the first and second moment.
    epsilon : float
    parameters : sequence of Tensor, optional
        Needed in eager mode; in a program, by default all trainable ones.
    lazy_mode : bool
        Of a parameter whose gradient is row-sparse (``embedding(sparse=True)``), update only the
        rows that were read: the moments of the others do not decay.
    """

    operation = "adam"
    state: ClassVar = {
        "moment1": (True, lambda attrs: 0.0),
        "moment2": (True, lambda attrs: 0.0),
        "beta1_pow_acc": (False, lambda attrs: attrs["beta1"]),
        "beta2_pow_acc": (False, lambda attrs: attrs["beta2"]),
    }

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        parameters: Sequence[Any] | None = None,
        *,
        lazy_mode: bool = False,
    ) -> None:
        super().__init__(learning_rate, parameters)
        if not isinstance(epsilon, (int, float)) or not epsilon > 0:
            raise ArgumentError(f"Adam: epsilon must be a number above 0, got {epsilon!r}")
        self._attrs = {
            "beta1": self._check_decay("beta1", beta1),
            "beta2": self._check_decay("beta2", beta2),
            "epsilon": float(epsilon),
            "lazy_mode": bool(lazy_mode),
        }

    @property
    def attrs(self) -> dict[str, Any]:
        return dict(self._attrs)

    @property
    def _by_rows(self) -> bool:
        return self._attrs["lazy_mode"] is True

    def _write_rows(self, data: Array, rows: Array, values: Array, rate: Array, p: Tensor) -> None:
        moment1, moment2, *powers = self._state_of(p)  # the moments are nobody else's
        attrs: dict[str, Any] = {**self._attrs, "lazy_mode": False}
        new = adam_rows(data, rows, values, rate, moment1, moment2, *powers, **attrs)
        state, key = [moment1, moment2, *new[3:]], id(p)
        # All or nothing, whatever interrupts: a parameter and its state belong together.
        data[rows], moment1[rows], moment2[rows], self._eager_state[key] = *new[:3], state
