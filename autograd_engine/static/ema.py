"""Moving averages of the parameters of a program."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.checks import require_type
from autograd_engine.core.locations import caller
from autograd_engine.core.names.constructors import respelled
from autograd_engine.core.spec import Spec
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    BuildError,
    ExecutionError,
    NotATensorError,
)
from autograd_engine.nn.parameters import persistable_variable
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program import mode
from autograd_engine.program.builder import append_write, emitting
from autograd_engine.program.ir.program import (
    Block,
    Parameter,
    Program,
    Variable,
    default_main_program,
    program_guard,
)
from autograd_engine.program.scope import Scope, global_scope
from autograd_engine.static.executor.executor import Executor

__all__ = ["ExponentialMovingAverage", "StandIns", "declared", "exchanges", "same"]

_EXACT = np.dtype(np.float64)


class StandIns:
    """Values that stand in the place of parameters, in the scopes in which they were put there."""

    apply_program: Program
    restore_program: Program

    def __init__(self) -> None:
        self._applied: weakref.WeakSet[Scope] = weakref.WeakSet()

    @contextlib.contextmanager
    def _in_place(self, executor: Executor, need_restore: bool, refusal: str) -> Iterator[None]:
        """The block in which they are there; `refusal` says what is wrong where they were."""
        scope = global_scope()
        if scope in self._applied:
            raise ExecutionError(refusal)
        executor.run(self.apply_program, scope=scope)
        self._applied.add(scope)
        try:
            yield
        finally:
            if need_restore:
                self._put_back(executor, scope)

    def _put_back(self, executor: Executor, scope: Scope) -> None:
        if scope in self._applied:
            executor.run(self.restore_program, scope=scope)
            self._applied.discard(scope)


@respelled
class ExponentialMovingAverage(StandIns):
    """Averages of the parameters of the default program, recent values counting most.

    ``average = decay * average + (1 - decay) * parameter`` at each run of what `update` appends.
    The average begins with zero; `apply` divides it by ``1 - decay**updates``, the sum of the
    weights, which makes up for that (Kingma and Ba 2015).

    Parameters
    ----------
    decay : float
        In [0, 1).
    thres_steps : Variable, optional
        A count of steps. While it is small, old values count less: the decay is
        ``min(decay, (1 + thres_steps) / (10 + thres_steps))``.
    name : str, optional
        Begins the names of the averages.

    Raises
    ------
    ModeError
        In eager mode.
    TypeError, ArgumentError, NotATensorError, BuildError

    Notes
    -----
    Build it after the parameters and before the startup program is run, and call `update` after
    the optimizer's ``minimize``. The averages are variables of the program, and are saved and
    loaded with it.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main, startup = paddle.static.Program(), paddle.static.Program()
    >>> with paddle.static.program_guard(main, startup):
    ...     x = paddle.static.data("x", [None, 1])
    ...     loss = paddle.mean(paddle.static.nn.fc(x, 1))
    ...     _ = paddle.optimizer.SGD(0.1).minimize(loss)
    ...     ema = paddle.static.ExponentialMovingAverage(0.9)
    ...     ema.update()
    >>> exe = paddle.static.Executor()
    >>> _ = exe.run(startup)
    >>> (bias,) = [p for p in main.all_parameters() if p.shape == (1,)]
    >>> for _ in range(3):
    ...     _ = exe.run(main, feed={"x": np.ones((2, 1), "float32")})
    >>> value = paddle.static.global_scope().find_var(bias.name).get_tensor()
    >>> round(float(np.array(value)[0]), 4)
    -0.3
    >>> with ema.apply(exe):
    ...     round(float(np.array(value)[0]), 4)
    -0.207
    >>> round(float(np.array(value)[0]), 4)
    -0.3
    """

    def __init__(
        self, decay: float = 0.999, thres_steps: Any = None, name: str | None = None
    ) -> None:
        mode.require_static("paddle.static.ExponentialMovingAverage")
        super().__init__()
        if isinstance(decay, bool) or not isinstance(decay, (int, float, np.number)):
            raise ArgumentTypeError(
                f"ExponentialMovingAverage: decay must be a number, got {type(decay).__name__}"
            )
        if not 0 <= decay < 1:
            raise ArgumentError(f"ExponentialMovingAverage: decay must be in [0, 1), got {decay}")
        if thres_steps is not None and not isinstance(thres_steps, Variable):
            raise NotATensorError(
                "ExponentialMovingAverage: thres_steps must be a Variable that counts steps, got "
                f"{type(thres_steps).__name__}"
            )
        require_type(name, str | None, "ExponentialMovingAverage: name must be a str")
        self._decay = float(decay)
        self._name = name or ""
        self._program = default_main_program()
        block = self._program.global_block()
        self._params = [p for p in block.all_parameters() if p.trainable]
        if not self._params:
            raise BuildError(
                "ExponentialMovingAverage: the default program has no parameters; build it after "
                "the layers"
            )
        self._thres_steps = thres_steps
        with block.restored_on_error():
            self._averages = [self._persistable(f"{p.name}_ema", p.spec) for p in self._params]
            # The product of all decays: the weight that is still on the zero at the beginning.
            self._first_weight = self._persistable("ema_decay_pow", Spec((), _EXACT), 1.0)
        self.apply_program, self.restore_program = self._exchanges()

    def _persistable(self, name: str, spec: Spec, value: float = 0.0) -> Variable:
        full_name = unique_name.generate(self._name + name)
        return persistable_variable(self._program.global_block(), full_name, spec, value)

    def update(self) -> None:
        """Append the operators that take the parameters, as they are there, into the averages.

        Raises
        ------
        ModeError
            In eager mode.
        """
        mode.require_static("ExponentialMovingAverage.update")
        block = self._program.current_block()  # inside a branch, the update is of the branch
        with block.restored_on_error(), emitting("ema", "optimize", caller(), block=block):
            decay: Any = self._decay
            if self._thres_steps is not None:
                steps = ops.reshape(ops.cast(self._thres_steps, dtype="float64"), shape=())
                decay = ops.minimum((steps + 1.0) / (steps + 10.0), decay)
            append_write(self._first_weight, self._first_weight * decay)
            for p, average in zip(self._params, self._averages, strict=True):
                old, new = (_as(value, p.spec) for value in (decay, 1.0 - decay))
                append_write(average, average * old + p * new)

    def _exchanges(self) -> tuple[Program, Program]:
        """Programs that put the averages in the place of the parameters, and undo that."""
        names = [unique_name.generate(f"{self._name}{p.name}.ema_tmp") for p in self._params]

        def means(block: Block, params: Sequence[Variable]) -> Iterator[Variable]:
            weight = 1.0 - same(self._first_weight, block)
            started = ops.greater_than(weight, 0.0)
            weight = ops.where(started, weight, 1.0)  # nothing to divide by before the first update
            for param, average in zip(params, self._averages, strict=True):
                mean = same(average, block) / _as(weight, param.spec)
                yield ops.where(started, mean, param)

        return exchanges(self._params, names, means)

    @contextlib.contextmanager
    def apply(self, executor: Executor, need_restore: bool = True) -> Iterator[None]:
        """Inside the ``with`` block the parameters in the global scope are their averages.

        Before the first update they stay as they are.

        Parameters
        ----------
        executor : Executor
        need_restore : bool
            Put the parameters back at the end; else call `restore`.

        Raises
        ------
        ExecutionError
            When a parameter has no value, or the averages are in place already.
        """
        _require_executor("apply", executor)
        refusal = (
            "ExponentialMovingAverage.apply: the averages are in place already, and what the "
            "parameters were would be lost; call restore(executor) first"
        )
        with self._in_place(executor, need_restore, refusal):
            yield

    def restore(self, executor: Executor) -> None:
        """Put the parameters of the global scope back, after ``apply(..., need_restore=False)``.

        Raises
        ------
        ExecutionError
            When the averages are not in place.
        """
        _require_executor("restore", executor)
        scope = global_scope()
        if scope not in self._applied:
            raise ExecutionError(
                "ExponentialMovingAverage.restore: there is nothing to restore in this scope; "
                "apply(executor, need_restore=False) comes first"
            )
        self._put_back(executor, scope)


def exchanges(
    params: Sequence[Parameter],
    names: Sequence[str],
    means: Callable[[Block, Sequence[Variable]], Iterable[Variable]],
) -> tuple[Program, Program]:
    """Programs that put `means` in the place of parameters, which are kept under `names`, and back.

    They run in the scope of the parameters, whose own values `means` is given as well.
    """
    apply, restore = Program(), Program()
    with program_guard(apply):
        block = apply.global_block()
        own = [same(p, block) for p in params]
        for param, name, mean in zip(own, names, means(block, own), strict=True):
            append_write(declared(block, name, param.spec), param)
            append_write(param, mean)
    with program_guard(restore):
        block = restore.global_block()
        for p, name in zip(params, names, strict=True):
            append_write(same(p, block), declared(block, name, p.spec))
    return apply, restore


def _as(value: Any, like: Spec) -> Any:
    if not isinstance(value, Variable) or value.spec.dtype == like.dtype:
        return value
    return ops.cast(value, dtype=like.dtype.name)


def same(var: Variable, block: Block) -> Variable:
    """The variable of that name in the scope, as one of another program."""
    if isinstance(var, Parameter):
        return block.add_var(Parameter(block, var.name, var.spec, trainable=var.trainable))
    return declared(block, var.name, var.spec)


def declared(block: Block, name: str, spec: Spec) -> Variable:
    return block.add_var(Variable(block, name, spec, stop_gradient=True, persistable=True))


def _require_executor(method: str, executor: Any) -> None:
    wanted = f"ExponentialMovingAverage.{method}: executor must be a paddle.static.Executor"
    require_type(executor, Executor, wanted)
