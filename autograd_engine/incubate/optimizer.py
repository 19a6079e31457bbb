"""``paddle.incubate.optimizer``: optimizers around others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine.core.checks import positive_int
from autograd_engine.core.lazy import listed
from autograd_engine.core.spec import Array
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ModeError
from autograd_engine.optimizer.checks import check_parameters
from autograd_engine.optimizer.lbfgs import LBFGS as LBFGS
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.program import mode
from autograd_engine.program.builder import restored_on_error
from autograd_engine.program.ir.program import (
    Variable,
    default_startup_program,
    program_guard,
)

__all__ = [
    "LBFGS",
    "GradientMergeOptimizer",
    "LookAhead",
    "ModelAverage",
    "RecomputeOptimizer",
]


if TYPE_CHECKING:
    from autograd_engine.incubate.program_optimizers import (
        GradientMergeOptimizer as GradientMergeOptimizer,
        ProgramAverage,
        RecomputeOptimizer as RecomputeOptimizer,
    )
else:
    __getattr__, __dir__ = listed(
        __name__,
        {"incubate.program_optimizers": "GradientMergeOptimizer RecomputeOptimizer"},
    )


def _share(owner: str, argument: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ArgumentError(f"{owner}: {argument} must be a number from 0 to 1, got {value!r}")
    return float(value)


def _eager(owner: str, parameters: Any) -> list[Tensor]:
    if parameters is None or not all(isinstance(p, Tensor) for p in parameters):
        raise ModeError(
            f"{owner} is there in eager mode: pass parameters=[...] of an eager layer; for "
            "programs there is paddle.static.ExponentialMovingAverage"
        )
    return list(parameters)


class LookAhead:
    """Every `k` steps of another optimizer go back on a part of the way (Zhang and others 2019).

    Slow values follow the parameters: after every `k` steps ``slow + alpha (p - slow)`` becomes the
    value of both. They begin as what the first step made of the parameters.

    Parameters
    ----------
    inner_optimizer : Optimizer
        In eager mode with its parameters; in a program `minimize` appends both.
    alpha : float
        From 0 to 1.
    k : int
    name : str, optional
        Accepted for the reference's sake.

    Raises
    ------
    ArgumentError, ModeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([1], attr=paddle.nn.initializer.Constant(1.0))
    >>> sgd = paddle.optimizer.SGD(0.25, parameters=[w])
    >>> optimizer = paddle.incubate.LookAhead(sgd, alpha=0.5, k=2)
    >>> for _ in range(2):
    ...     (w * w).sum().backward()
    ...     optimizer.step()
    ...     optimizer.clear_grad()
    >>> w.item()
    0.375
    """

    def __init__(
        self, inner_optimizer: Optimizer, alpha: float = 0.5, k: int = 5, name: str | None = None
    ) -> None:
        if not isinstance(inner_optimizer, Optimizer):
            raise ArgumentError(
                f"LookAhead: inner_optimizer must be an optimizer, got {inner_optimizer!r}"
            )
        if not mode.building():
            _eager("LookAhead", inner_optimizer._parameters)
        self.inner_optimizer = inner_optimizer
        self.alpha = _share("LookAhead", "alpha", alpha)
        self.k = positive_int("LookAhead", "k", k)
        self._steps = 0
        self._slow: dict[int, Array] = {}

    def _parameters(self) -> list[Tensor]:
        return self.inner_optimizer._eager_parameters()

    def step(self) -> None:
        """One step of the other optimizer, and every `k` steps the way back."""
        trained = [p for p, _ in self.inner_optimizer._trained()]
        self.inner_optimizer.step()
        self._steps += 1
        for p in trained:
            slow = self._slow.setdefault(id(p), p._data)
            if self._steps % self.k == 0:
                new = np.asarray(self.alpha * p._data + (1.0 - self.alpha) * slow, slow.dtype)
                p.set_value(new)
                self._slow[id(p)] = new

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[Any]]:
        """`step`, once ``loss.backward()`` has been called; of a Variable, what a run does.

        Returns
        -------
        (operators, [(parameter, gradient)])
            The updates of the other optimizer.
        """
        if isinstance(loss, Variable):
            return self._append(loss, startup_program, parameters, no_grad_set)
        pairs = self.inner_optimizer._trained()
        self.step()
        return [], pairs

    def _append(
        self, loss: Variable, startup_program: Any, parameters: Any, no_grad_set: Any
    ) -> tuple[list[Any], list[Any]]:
        from autograd_engine.incubate.program_optimizers import look_ahead

        startup = startup_program or default_startup_program()
        with (
            restored_on_error(loss),
            startup.global_block().restored_on_error(),
            program_guard(loss.block.program, startup),
        ):
            made = self.inner_optimizer.minimize(loss, startup_program, parameters, no_grad_set)
            look_ahead([p for p, _ in made[1]], self.alpha, self.k)
        return made

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zeros, or to None."""
        self.inner_optimizer.clear_grad(set_to_zero)

    clear_gradients = clear_grad

    def get_lr(self) -> float:
        """The learning rate of the other optimizer."""
        return self.inner_optimizer.get_lr()

    def set_lr(self, value: float) -> None:
        """Set the learning rate of the other optimizer."""
        self.inner_optimizer.set_lr(value)

    def state_dict(self) -> dict[str, Any]:
        """The state of the other optimizer, the slow values and the number of steps."""
        slow = {
            f"{p.name}_slow_0": Tensor(self._slow[id(p)].copy())
            for p in self._parameters()
            if id(p) in self._slow
        }
        return {"inner": self.inner_optimizer.state_dict(), "steps": self._steps, **slow}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called, with parameters of the same names.

        Raises
        ------
        ArgumentError
        """
        if not isinstance(state_dict, Mapping) or not {"inner", "steps"} <= state_dict.keys():
            raise ArgumentError("LookAhead.set_state_dict takes what its state_dict returned")
        slow = {}
        for p in self._parameters():
            found = state_dict.get(f"{p.name}_slow_0")
            if found is not None:
                slow[id(p)] = np.array(getattr(found, "_data", found), p._data.dtype)
                if slow[id(p)].shape != p._data.shape:
                    raise ArgumentError(
                        f"LookAhead.set_state_dict: {p.name}_slow_0 has shape "
                        f"{list(slow[id(p)].shape)}, {p.name} {list(p._data.shape)}"
                    )
        self.inner_optimizer.set_state_dict(state_dict["inner"])
        self._slow, self._steps = slow, int(state_dict["steps"])


class _Window:
    """Sums of the values of one parameter: those of now, and those of the window before."""

    def __init__(self, like: Array) -> None:
        self.updates = self.count = self.old_count = 0
        self.total = np.zeros(like.shape, np.float64)
        self.old_total = np.zeros(like.shape, np.float64)

    def add(self, values: Array, rate: float, least: int, most: int) -> None:
        self.updates += 1
        self.count += 1
        self.total += values
        if self.count >= least and self.count >= min(most, self.updates * rate):
            self.old_total, self.total = self.total, np.zeros_like(self.total)
            self.old_count, self.count = self.count, 0

    def mean(self) -> Array:
        return np.asarray((self.total + self.old_total) / (self.count + self.old_count))


class ModelAverage:
    """Averages of parameters over windows of steps (Polyak and Juditsky 1992).

    A window ends after at least `min_average_window` steps, once it has `average_window_rate` of
    all steps or `max_average_window`. The average is over it and the window before.

    Parameters
    ----------
    average_window_rate : float
    parameters : list of Tensor
        In a program by default all that are trained. Make it after ``minimize``: it appends what
        takes them into the averages, and `step` and `minimize` have nothing left to do.
    min_average_window, max_average_window : int
    name : str, optional
        Accepted for the reference's sake.

    Raises
    ------
    ArgumentError, ModeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([1], attr=paddle.nn.initializer.Constant(1.0))
    >>> sgd = paddle.optimizer.SGD(0.25, parameters=[w])
    >>> average = paddle.incubate.ModelAverage(0.15, [w])
    >>> for _ in range(2):
    ...     (w * w).sum().backward()
    ...     sgd.step()
    ...     average.step()
    ...     sgd.clear_grad()
    >>> with average.apply():
    ...     w.item()
    0.375
    >>> w.item()
    0.25
    """

    def __init__(
        self,
        average_window_rate: float,
        parameters: Sequence[Any] | None = None,
        min_average_window: int = 10000,
        max_average_window: int = 10000,
        name: str | None = None,
    ) -> None:
        owner = "ModelAverage"
        if parameters is not None:
            parameters = check_parameters(parameters)
        in_program = mode.building() and not isinstance(next(iter(parameters or ()), None), Tensor)
        self._parameters = [] if in_program else _eager(owner, parameters)
        rate = average_window_rate
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not rate >= 0:
            raise ArgumentError(
                f"{owner}: average_window_rate must be a number of at least 0, got {rate!r}"
            )
        self.average_window = float(rate)
        self.min_average_window = positive_int(owner, "min_average_window", min_average_window)
        self.max_average_window = positive_int(owner, "max_average_window", max_average_window)
        self._windows: dict[int, _Window] = {}
        self._restored: dict[int, Array] = {}
        self._program: ProgramAverage | None = None
        if in_program:
            from autograd_engine.incubate.program_optimizers import ProgramAverage

            least, most = self.min_average_window, self.max_average_window
            self._program = ProgramAverage(parameters, self.average_window, least, most)

    def step(self) -> None:
        """Take the parameters that have a gradient, as they are now, into their averages."""
        for p in self._parameters:
            if not p.stop_gradient and p.grad is not None:
                window = self._windows.setdefault(id(p), _Window(p._data))
                window.add(
                    p._data, self.average_window, self.min_average_window, self.max_average_window
                )

    def minimize(self, loss: Any, *_: Any, **__: Any) -> None:
        """`step`, once ``loss.backward()`` has been called and the parameters were trained."""
        self.step()

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zeros, or to None."""
        for p in self._parameters:
            p.clear_gradient(set_to_zero)

    @contextlib.contextmanager
    def apply(self, executor: Any = None, need_restore: bool = True) -> Iterator[None]:
        """Give the parameters their averages, inside of the ``with`` or until `restore`.

        Parameters that no step has seen stay as they are. For a program `executor` is needed, and
        parameters are those of the global scope.
        """
        if self._program is not None:
            with self._program.apply(executor, need_restore):
                yield
            return
        if executor is not None:
            raise ModeError("ModelAverage.apply: executor must be None, parameters are tensors")
        averaged = [p for p in self._parameters if id(p) in self._windows]
        self._restored = {id(p): p._data for p in averaged}
        for p in averaged:
            p.set_value(self._windows[id(p)].mean().astype(p._data.dtype))
        try:
            yield
        finally:
            if need_restore:
                self.restore()

    def restore(self, executor: Any = None) -> None:
        """Give the parameters the values that they had before `apply`."""
        if self._program is not None:
            self._program.restore(executor)
        for p in self._parameters:
            if id(p) in self._restored:
                p.set_value(self._restored.pop(id(p)))
