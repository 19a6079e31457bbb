"""L-BFGS: steps along an estimate of Newton's direction, as long as a line search says.

That is by the strong Wolfe conditions (Nocedal and Wright 2006, algorithms 3.5 and 3.6).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core.checks import check_callback
from autograd_engine.core.dtypes import accumulation_dtype, real_dtype
from autograd_engine.core.spec import Array
from autograd_engine.eager.grad_mode import enable_grad
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import write_values
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ModeError, ShapeError
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.optimizer.checks import count, number
from autograd_engine.optimizer.groups import decayed
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.optimizer.state_dict import schedule, schedule_problems

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal 1980): Newton's direction from the last steps and gradients.

    Eager mode only; all parameters have one dtype. Each `step` calls its closure several times.

    Parameters
    ----------
    learning_rate : float
        Of the direction; where a line search starts.
    max_iter : int
        Directions in one `step`.
    max_eval : int, optional
        Calls of the closure in one `step`; by default ``1.25 * max_iter``.
    tolerance_grad : float
        Stop where no element of the gradient is larger.
    tolerance_change : float
        Stop where no element of a step, or the change of the loss, is larger.
    history_size : int
        How many steps and changes of the gradient are kept.
    line_search_fn : {"strong_wolfe", None}
    parameters : list of Tensor, or of dict
        See `Optimizer`, also for `weight_decay` and `grad_clip`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> w = paddle.create_parameter([2], "float64", attr=paddle.nn.initializer.Constant(0.0))
    >>> target = paddle.to_tensor([1.0, -2.0], dtype="float64")
    >>> lbfgs = paddle.optimizer.LBFGS(parameters=[w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     lbfgs.clear_grad()
    ...     loss = ((w - target) ** 4 + (w - target) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> loss = lbfgs.step(closure)
    >>> [round(v, 5) for v in w.tolist()]
    [1.0, -2.0]
    """

    operation = "sgd"

    def __init__(
        self,
        learning_rate: Any = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-07,
        tolerance_change: float = 1e-09,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise ArgumentError(
                f"LBFGS: line_search_fn must be 'strong_wolfe' or None, got {line_search_fn!r}"
            )
        self._max_iter = count("LBFGS", "max_iter", max_iter)
        self._history = _History(count("LBFGS", "history_size", history_size))
        self._n_iter = self._func_evals = 0
        self._max_eval = max_iter * 5 // 4
        if max_eval is not None:
            self._max_eval = count("LBFGS", "max_eval", max_eval)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._tolerance_grad = number("LBFGS", "tolerance_grad", tolerance_grad)
        self._tolerance_change = number("LBFGS", "tolerance_change", tolerance_change)
        self._line_search = line_search_fn

    # --- one step

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimise what `closure` returns.

        Parameters
        ----------
        closure : callable
            Clears the gradients, computes the loss, calls its ``backward()`` and returns it.

        Returns
        -------
        Tensor
            The loss before the step.

        Raises
        ------
        TypeError
            Without a closure.
        """
        if not callable(closure):
            raise ArgumentTypeError(
                "LBFGS.step takes a closure, a function that clears the gradients, computes the "
                "loss, calls loss.backward() and returns the loss"
            )
        check_callback("LBFGS.step", "closure", closure)
        start = self._values()
        try:
            first, start = self._minimised(closure, start)
        finally:  # where a trial of a line search failed, back to where it started
            self._set(start)
        return first

    def _minimised(self, closure: Callable[[], Any], start: Array) -> tuple[Any, Array]:
        """The loss at `start`, and the values that `max_iter` directions lead to."""
        first, here = self._evaluated(closure, start)
        history, budget = self._history, self._max_eval - 1
        for _ in range(self._max_iter):
            if _largest(here.gradient) <= self._tolerance_grad or not math.isfinite(here.loss):
                break
            self._n_iter += 1
            direction = history.direction(here.gradient)
            slope = float(here.gradient @ direction)
            if slope > -self._tolerance_change:
                break
            length = self._first_length(here.gradient)
            there, calls = self._moved(closure, here, direction, length, slope, budget)
            budget -= calls
            history.note(there.values - here.values, there.gradient - here.gradient)
            change, step = abs(there.loss - here.loss), _largest(there.values - here.values)
            here = there
            if budget <= 0 or min(change, step) <= self._tolerance_change:
                break
        return first, here.values

    def _first_length(self, gradient: Array) -> float:
        """How far along the direction; the first one is the gradient, of any length."""
        rate = self.get_lr()
        if self._n_iter == 1:
            return min(1.0, 1.0 / float(np.abs(gradient).sum())) * rate
        return rate

    def _moved(
        self,
        closure: Callable[[], Any],
        here: Point,
        direction: Array,
        length: float,
        slope: float,
        budget: int,
    ) -> tuple[Point, int]:
        def at(t: float) -> Point:
            return self._evaluated(closure, here.values + here.values.dtype.type(t) * direction)[1]

        if self._line_search is None:
            return at(length), 1
        return strong_wolfe(at, here, direction, length, slope, self._tolerance_change, budget)

    def _evaluated(self, closure: Callable[[], Any], values: Array) -> tuple[Any, Point]:
        """The loss and its gradient where the parameters are `values`."""
        self._set(values)
        self._func_evals += 1
        with enable_grad():
            loss = closure()
        if not isinstance(loss, Tensor) or loss.size != 1:
            raise ShapeError(
                "LBFGS: the closure must return the loss, a Tensor of one element; got "
                f"{list(loss.shape) if isinstance(loss, Tensor) else type(loss).__name__}"
            )
        gradient, penalty = self._gradient()
        return loss, Point(float(loss.item()) + penalty, values, gradient)

    # --- all parameters as one vector

    def _open(self) -> list[Any]:
        found = [p for p in self._eager_parameters() if not p._stop]
        if not found:
            raise ArgumentError("LBFGS: no parameter has stop_gradient=False; nothing to train")
        for p in found:
            if self._rate_factor(p, self._group(p)) != 1.0:
                raise ArgumentError(
                    f"LBFGS: {p.name} has a learning rate of its own, and all parameters go along "
                    "one direction; leave it out"
                )
        dtypes = {real_dtype(p._data.dtype).name for p in found}
        if len(dtypes) > 1:
            raise ArgumentError(
                f"LBFGS: parameters are {' and '.join(sorted(dtypes))}, and it makes one vector "
                "of them; cast them to one dtype"
            )
        return found

    def _values(self) -> Array:
        return _one_vector([p._data for p in self._open()])

    def _set(self, values: Array) -> None:
        start = 0
        for p in self._open():
            data = p._data
            stop = start + _parts(data).size
            parts = values[start:stop].astype(real_dtype(data.dtype))
            write_values(p, parts.view(data.dtype).reshape(data.shape))
            start = stop

    def _gradient(self) -> tuple[Array, float]:
        """Clipped and decayed, zeros for a parameter without; and what decay adds to the loss."""
        parts, penalty = [], 0.0
        for p, grad in self._clipped([(p, p.grad) for p in self._open()]):
            decay = self._decay_of(p, self._group(p))
            values = np.zeros_like(p._data) if grad is None else grad._data
            if decay is not None:
                values = decayed(decay, raw, p._data, values)
                penalty += decay.penalty(_parts(p._data))
            parts.append(values)
        return _one_vector(parts), penalty

    # --- what it is not

    def minimize(self, *args: Any, **kwargs: Any) -> Any:
        """Not available: a step takes a closure; see `step`."""
        raise ModeError(
            "LBFGS calls the loss several times in one step, so it has no minimize, and no "
            "program: use step(closure) in eager mode"
        )

    backward = apply_gradients = minimize

    # --- saving

    def state_dict(self) -> dict[str, Any]:
        """What the next direction is made of, and the schedule.

        Under ``"state"``: how many directions were begun, ``n_iter``, how often the closure was
        called, ``func_evals``, and the steps ``s`` and changes of the gradient ``y``.
        """
        counts = {"n_iter": self._n_iter, "func_evals": self._func_evals}
        return {"state": counts | self._history.arrays()} | schedule(self)

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called.

        Raises
        ------
        ArgumentError
            When it is of other parameters.
        """
        state = state_dict.get("state") if isinstance(state_dict, Mapping) else None
        if not isinstance(state, Mapping) or not {"n_iter", "func_evals", "s", "y"} <= set(state):
            raise ArgumentError(
                "LBFGS.set_state_dict takes what its state_dict returned, "
                "{'state': {'n_iter': ..., 'func_evals': ..., 's': ..., 'y': ...}}"
            )
        values = self._values()
        arrays = {k: np.array(getattr(state[k], "_data", state[k])) for k in ("s", "y")}
        for name, array in arrays.items():
            if array.ndim != 2 or array.shape[1] != values.size:
                raise ArgumentError(
                    f"LBFGS.set_state_dict: {name} has shape {list(array.shape)}; these parameters "
                    f"have {values.size} elements, so it must be [n, {values.size}]"
                )
        scheduler = state_dict.get("LR_Scheduler")
        if problems := schedule_problems(self, scheduler):
            raise ArgumentError(f"LBFGS.set_state_dict: nothing was changed: {problems[0]}")
        if scheduler is not None:
            self._learning_rate.set_state_dict(scheduler)
        self._n_iter, self._func_evals = int(state["n_iter"]), int(state["func_evals"])
        self._history.restore(arrays["s"], arrays["y"], values.dtype)

    load_state_dict = set_state_dict


def _largest(x: Array) -> float:
    return float(np.max(np.abs(x), initial=0.0))


class _History:
    """Pairs of a step s and the change y of the gradient along it."""

    def __init__(self, size: int) -> None:
        self._pairs: deque[tuple[Array, Array]] = deque(maxlen=size)

    def note(self, s: Array, y: Array) -> None:
        """Keep a pair of positive curvature: others make no direction of descent."""
        if float(s @ y) > 1e-10:
            self._pairs.append((s, y))

    def direction(self, gradient: Array) -> Array:
        """-H g, by the two loops of Nocedal 1980."""
        q = -gradient
        factors = []
        for s, y in reversed(self._pairs):
            a = (s @ q) / (y @ s)
            factors.append(a)
            q = q - a * y
        if self._pairs:
            s, y = self._pairs[-1]
            q = q * ((s @ y) / (y @ y))
        for (s, y), a in zip(self._pairs, reversed(factors), strict=True):
            q = q + s * (a - (y @ q) / (y @ s))
        return np.asarray(q)

    def arrays(self) -> dict[str, Any]:
        columns = zip(*self._pairs, strict=True) if self._pairs else ((), ())
        stacks = [np.stack(c) if c else np.zeros((0, 0), np.float32) for c in columns]
        return {name: Tensor._wrap(stack) for name, stack in zip("sy", stacks, strict=True)}

    def restore(self, s: Array, y: Array, dtype: np.dtype[Any]) -> None:
        self._pairs.clear()
        self._pairs.extend((a.astype(dtype), b.astype(dtype)) for a, b in zip(s, y, strict=True))


# --- line search


_ENOUGH = 1e-4  # of the decrease that the slope promises
_FLAT = 0.9  # of the slope that may be left
_TRIALS = 25


class Point(NamedTuple):
    """Values of the parameters, with loss and gradient."""

    loss: float
    values: Array
    gradient: Array


class _Trial(NamedTuple):
    length: float
    loss: float
    slope: float
    point: Point


def strong_wolfe(
    at: Callable[[float], Point],
    start: Point,
    direction: Array,
    length: float,
    slope: float,
    tolerance: float,
    budget: int,
) -> tuple[Point, int]:
    """A point on the line that is low and flat enough, and how often `at` was called.

    Parameters
    ----------
    at : callable
        The point that is so many times `direction` away from `start`.
    length : float
        What to try first.
    slope : float
        At the start; below 0.
    tolerance : float
        No interval is divided whose ends are nearer, as steps go.
    budget : int
        Calls of `at`, one at least.
    """
    calls = 0
    reach = float(abs(direction).max())
    origin = _Trial(0.0, start.loss, slope, start)

    def tried(t: float) -> _Trial:
        nonlocal calls
        calls += 1
        point = at(t)
        return _Trial(t, point.loss, float(point.gradient @ direction), point)

    def low_enough(trial: _Trial) -> bool:
        return trial.loss <= start.loss + _ENOUGH * trial.length * slope

    limit = max(1, min(_TRIALS, budget))
    before, found = origin, None
    while calls < limit:
        trial = tried(length)
        if not low_enough(trial) or (calls > 1 and not trial.loss < before.loss):
            found = before, trial
            break
        if abs(trial.slope) <= -_FLAT * slope:
            return trial.point, calls
        if trial.slope >= 0:
            found = trial, before
            break
        length = min(max(_cubic(before, trial), 1.1 * trial.length), 10.0 * trial.length)
        before = trial
    if found is None:
        return before.point, calls

    low, high = found  # low is the lower end, and descends towards high
    stuck = False
    while calls < limit and abs(high.length - low.length) * reach > tolerance:
        length, stuck = _inside(low, high, stuck)
        trial = tried(length)
        if not low_enough(trial) or not trial.loss < low.loss:
            high = trial
            continue
        if abs(trial.slope) <= -_FLAT * slope:
            return trial.point, calls
        if trial.slope * (high.length - low.length) >= 0:
            high = low
        low = trial
    return low.point, calls


def _inside(low: _Trial, high: _Trial, stuck: bool) -> tuple[float, bool]:
    """Where between the ends to try, and whether that is near one of them.

    Twice in a row near an end makes no progress: then a tenth of the interval away from it.
    """
    left, right = sorted((low.length, high.length))
    width = right - left
    guess = _cubic(low, high)
    if min(guess - left, right - guess) >= 0.1 * width:
        return guess, False
    if not stuck and left < guess < right:
        return guess, True
    return (left + 0.1 * width if guess - left < right - guess else right - 0.1 * width), False


def _cubic(a: _Trial, b: _Trial) -> float:
    """The minimum of the cubic through losses and slopes at both ends; the middle without one."""
    middle = (a.length + b.length) / 2.0
    if not all(map(math.isfinite, (a.loss, a.slope, b.loss, b.slope))):
        return middle
    if a.length > b.length:
        a, b = b, a
    width = b.length - a.length
    if width == 0:
        return middle
    d1 = a.slope + b.slope - 3.0 * (b.loss - a.loss) / width
    square = d1 * d1 - a.slope * b.slope
    if square < 0:
        return middle
    d2 = math.sqrt(square)
    under = b.slope - a.slope + 2.0 * d2
    if under == 0:
        return middle
    return b.length - width * (b.slope + d2 - d1) / under


def _parts(x: Array) -> Array:
    return x.reshape(-1).view(real_dtype(x.dtype))


def _one_vector(arrays: list[Array]) -> Array:
    """Their elements, of complex ones the parts; in float32 where they are of 16 bits."""
    made = np.concatenate([_parts(a) for a in arrays])
    return made.astype(accumulation_dtype(made.dtype), copy=False)
