"""Optimizers around others, in programs: what they append to the updates of another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.checks import positive_int, require_type
from autograd_engine.core.locations import caller
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ArgumentError, ArgumentTypeError, BuildError
from autograd_engine.nn.parameters import persistable_variable
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.program import mode
from autograd_engine.program.builder import append_write, emitting, restored_on_error
from autograd_engine.program.control_flow.cond import cond
from autograd_engine.program.ir.program import (
    Block,
    Operator,
    Parameter,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
    program_guard,
)
from autograd_engine.program.scope import global_scope
from autograd_engine.static.ema import StandIns, exchanges, same
from autograd_engine.static.executor.executor import Executor

__all__ = ["GradientMergeOptimizer", "ProgramAverage", "RecomputeOptimizer", "look_ahead"]

_COUNT = Spec((), np.dtype(np.int64))


def _check_optimizer(owner: str, argument: str, value: Any) -> Optimizer:
    mode.require_static(f"paddle.incubate.optimizer.{owner}")
    if not isinstance(value, Optimizer):
        raise ArgumentTypeError(
            f"{owner}: {argument} must be an optimizer, got {type(value).__name__}"
        )
    return value


class _Around:
    """What hands gradients to another optimizer, in a program."""

    inner_optimizer: Optimizer

    def backward(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[Any]:
        """Append the backward half; see `Optimizer.backward`."""
        return self.inner_optimizer.backward(
            loss, startup_program, parameter_list, no_grad_set, callbacks
        )

    def apply_gradients(self, params_grads: Sequence[Any]) -> list[Operator]:
        """Append the updates; see `Optimizer.apply_gradients`."""
        return self.inner_optimizer.apply_gradients(params_grads)

    def apply_optimize(
        self, loss: Any, startup_program: Program | None, params_grads: Sequence[Any]
    ) -> list[Operator]:
        """Append what `apply_gradients` does; what is kept begins in `startup_program`."""
        with program_guard(loss.block.program, startup_program or default_startup_program()):
            return self.apply_gradients(params_grads)

    def minimize(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Operator], list[Any]]:
        """Append the backward half and all that updates."""
        with restored_on_error(loss):
            pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
            return self.apply_optimize(loss, startup_program, pairs), pairs


class RecomputeOptimizer(_Around):
    """Another optimizer, whose gradients compute a part of the forward half again.

    `Optimizer.minimize` takes `checkpoints` itself; this is the reference's way to say it.

    Parameters
    ----------
    optimizer : Optimizer

    Raises
    ------
    ModeError
        In eager mode, where `autograd.recompute` does it.
    TypeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main, startup = paddle.static.Program(), paddle.static.Program()
    >>> with paddle.static.program_guard(main, startup):
    ...     x = paddle.static.data("x", [None, 4])
    ...     hidden = paddle.static.nn.fc(x, 8, activation="tanh")
    ...     loss = paddle.mean(paddle.tanh(hidden) * hidden)
    ...     sgd = paddle.optimizer.SGD(0.1)
    ...     optimizer = paddle.incubate.optimizer.RecomputeOptimizer(sgd)
    ...     optimizer._set_checkpoints([hidden])
    ...     operators, pairs = optimizer.minimize(loss)
    >>> len(operators)
    2
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.inner_optimizer = _check_optimizer("RecomputeOptimizer", "optimizer", optimizer)
        self._checkpoints: list[Any] | None = None

    def _set_checkpoints(self, checkpoints: Sequence[Any]) -> None:
        if not isinstance(checkpoints, (list, tuple)) or not all(
            isinstance(c, (Variable, str)) for c in checkpoints
        ):
            raise ArgumentTypeError(
                "RecomputeOptimizer._set_checkpoints takes a list of Variables or names"
            )
        self._checkpoints = list(checkpoints)

    def backward(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[Any]:
        """Append the backward half, which keeps the checkpoints only."""
        if self._checkpoints is None:
            raise BuildError("RecomputeOptimizer: call _set_checkpoints([variable, ...]) before")
        return self.inner_optimizer.backward(
            loss, startup_program, parameter_list, no_grad_set, callbacks, self._checkpoints
        )


class GradientMergeOptimizer(_Around):
    """Another optimizer, which is given the gradients of `k_steps` runs at once.

    Each run adds its gradients to sums, which the program keeps; every `k_steps` runs the other
    optimizer updates by them, and they begin at zero again.

    Parameters
    ----------
    inner_optimizer : Optimizer
    k_steps : int
    avg : bool
        Divide the sums by `k_steps`.

    Raises
    ------
    ModeError
        In eager mode, where gradients add up by themselves until ``clear_grad``.
    TypeError, ArgumentError

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main, startup = paddle.static.Program(), paddle.static.Program()
    >>> with paddle.static.program_guard(main, startup):
    ...     x = paddle.static.data("x", [1])
    ...     one = paddle.nn.initializer.Constant(1.0)
    ...     w = paddle.static.create_parameter([1], "float32", default_initializer=one)
    ...     sgd = paddle.optimizer.SGD(0.5)
    ...     merge = paddle.incubate.optimizer.GradientMergeOptimizer(sgd, k_steps=2)
    ...     _ = merge.minimize(paddle.sum(w * x))
    >>> exe = paddle.static.Executor()
    >>> _ = exe.run(startup)
    >>> [exe.run(main, {"x": np.float32([n])}, [w])[0].item() for n in (1, 3, 2)]
    [1.0, 0.0, 0.0]
    """

    def __init__(self, inner_optimizer: Optimizer, k_steps: int = 1, avg: bool = True) -> None:
        owner = "GradientMergeOptimizer"
        self.inner_optimizer = _check_optimizer(owner, "inner_optimizer", inner_optimizer)
        self.k_steps = positive_int(owner, "k_steps", k_steps)
        if not isinstance(avg, bool):
            raise ArgumentTypeError(f"{owner}: avg must be a bool, got {type(avg).__name__}")
        self.avg = avg

    def apply_gradients(self, params_grads: Sequence[Any]) -> list[Operator]:
        """Append the sums, and a branch with the updates by them.

        Returns
        -------
        list of Operator
            The updates, which are inside of the branch.
        """
        pairs = list(params_grads)
        if not pairs:
            return []
        block = pairs[0][0].block
        updates: list[Operator] = []
        with (
            restored_on_error(*(p for p, _ in pairs)),
            default_startup_program().global_block().restored_on_error(),
            emitting("gradient_merge", "optimize", caller()),
        ):
            step = _kept(block, "gradient_merge_step", _COUNT)
            sums = [_kept(block, f"{p.name}@GRAD@GradientMerge", p.spec) for p, _ in pairs]
            append_write(step, ops.remainder(step + 1, self.k_steps))
            for total, (_, g) in zip(sums, pairs, strict=True):
                append_write(total, total + g)

            def update() -> None:
                merged = [(s / float(self.k_steps) if self.avg else s) for s in sums]
                given = [(p, g) for (p, _), g in zip(pairs, merged, strict=True)]
                updates.extend(self.inner_optimizer.apply_gradients(given))
                for total in sums:
                    append_write(total, ops.zeros_like(total))

            cond(step == 0, update, None)
        return updates


def look_ahead(params: Sequence[Parameter], alpha: float, k: int) -> None:
    """Append what `LookAhead` does after the updates of the other optimizer."""
    if not params:
        return
    block = params[0].block
    with emitting("lookahead", "optimize", caller()):
        step = _kept(block, "lookahead_step", _COUNT)
        append_write(step, step + 1)
        first, due = step == 1, ops.remainder(step, k) == 0
        for p in params:
            slow = _kept(block, f"{p.name}_slow", p.spec)
            before = ops.where(first, p, slow)
            new = alpha * p + (1.0 - alpha) * before
            append_write(slow, ops.where(due, new, before))
            append_write(p, ops.where(due, new, p))


class ProgramAverage(StandIns):
    """What `ModelAverage` keeps in a program, and the programs that put it in place and undo that.

    Sums are of float64, as those of eager mode are.
    """

    def __init__(
        self, params: Sequence[Parameter] | None, rate: float, least: int, most: int
    ) -> None:
        super().__init__()
        block = default_main_program().global_block()
        found = [p for p in block.all_parameters() if p.trainable] if params is None else params
        if not found:
            raise BuildError(
                "ModelAverage: the default program has no parameters; build it after the layers "
                "and after minimize"
            )
        for k, p in enumerate(found):
            if not isinstance(p, Parameter) or p.block is not block:
                raise ArgumentError(
                    f"ModelAverage: parameters[{k}] must be a parameter of the default program"
                )
        self._params = list(found)
        with (
            block.restored_on_error(),
            default_startup_program().global_block().restored_on_error(),
            emitting("model_average", "optimize", caller()),
        ):
            self._append(rate, least, most)
        names = [unique_name.generate(f"{p.name}_restore") for p in self._params]
        self.apply_program, self.restore_program = exchanges(self._params, names, self._means)

    def _append(self, rate: float, least: int, most: int) -> None:
        block = self._params[0].block
        names = ("num_updates", "num_accumulates", "old_num_accumulates")
        updates, count, old_count = (_kept(block, name, _COUNT) for name in names)
        append_write(updates, updates + 1)
        window = ops.minimum(ops.cast(updates, dtype="float64") * rate, float(most))
        more = count + 1
        full = ops.logical_and(more >= least, ops.cast(more, dtype="float64") >= window)
        append_write(old_count, ops.where(full, more, old_count))
        append_write(count, ops.where(full, 0, more))
        self._counts = count, old_count
        self._sums = []
        for p in self._params:
            spec = Spec(p.spec.shape, np.dtype(np.float64))
            total, old = (_kept(block, f"{p.name}_{name}", spec) for name in ("sum", "old_sum"))
            new = total + ops.cast(p, dtype="float64")
            append_write(old, ops.where(full, new, old))
            append_write(total, ops.where(full, 0.0, new))
            self._sums.append((total, old))

    def _means(self, block: Block, params: Sequence[Variable]) -> Iterator[Variable]:
        count = sum(same(c, block) for c in self._counts)
        weight = ops.cast(ops.where(count > 0, count, 1), dtype="float64")
        for param, sums in zip(params, self._sums, strict=True):
            total, old = (same(s, block) for s in sums)
            mean = ops.cast((total + old) / weight, dtype=param.spec.dtype.name)
            yield ops.where(count > 0, mean, param)

    @contextlib.contextmanager
    def apply(self, executor: Any, need_restore: bool) -> Iterator[None]:
        """Inside the ``with`` the parameters of the global scope are their averages."""
        _check_executor("apply", executor)
        refusal = "the averages are in place already; call restore(executor) first"
        with self._in_place(executor, need_restore, f"ModelAverage.apply: {refusal}"):
            yield

    def restore(self, executor: Any) -> None:
        """Put the parameters back, where the averages are in place."""
        _check_executor("restore", executor)
        self._put_back(executor, global_scope())


def _check_executor(method: str, executor: Any) -> None:
    wanted = f"ModelAverage.{method}: executor must be a paddle.static.Executor, for a program"
    require_type(executor, Executor, wanted)


def _kept(block: Any, name: str, spec: Spec) -> Variable:
    return persistable_variable(block, unique_name.generate(name), spec, 0.0)
