"""An optimizer whose `minimize` rewrites the program into one in mixed precision before."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from autograd_engine.amp.casting import half_dtype, level_of
from autograd_engine.amp.grad_scaler import GradScaler
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import HALVES, DTypeLike
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ModeError, NotATensorError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.program.ir.program import (
    Program,
    Variable,
    default_startup_program,
    program_guard,
)
from autograd_engine.program.scope import Scope
from autograd_engine.static.amp.lists import AutoMixedPrecisionLists, given_lists
from autograd_engine.static.amp.rewriting import cast_parameters_to_fp16, rewritten

__all__ = ["OptimizerWithMixedPrecision", "decorate"]

_OLDER = {"use_pure_fp16", "use_fp16_guard", "use_bf16"}


class OptimizerWithMixedPrecision:
    """What `paddle.static.amp.decorate` returns: see there."""

    def __init__(
        self,
        optimizer: Optimizer,
        amp_lists: AutoMixedPrecisionLists,
        level: str,
        dtype: str,
        scaler: GradScaler,
        use_amp_guard: bool,
        use_promote: bool,
    ) -> None:
        self._optimizer = optimizer
        self._amp_lists = amp_lists
        self._level = level
        self._dtype = dtype
        self._scaler = scaler
        self._guarded = use_amp_guard
        self._promote = use_promote
        self._program: Program | None = None
        self._scaled: Variable | None = None
        self._low: set[str] = set()

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Any] | None = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[tuple[Variable, Variable]]:
        """Rewrite the program of `loss`, and append the gradients of the loss times the scale.

        Returns
        -------
        list of (parameter, gradient)
            For `apply_gradients`.
        """
        if not isinstance(loss, Variable):
            raise NotATensorError(f"minimize takes a Variable, got {type(loss).__name__}")
        program = loss.block.program
        self._low = self._cast(program)
        with program_guard(program, startup_program or default_startup_program()):
            if self._scaler.is_enable():
                scaled = self._scaler.scale(loss)
            else:
                scaled = ops.cast(loss, dtype="float32") if loss.spec.dtype in HALVES else loss
            pairs = self._optimizer.backward(
                scaled, startup_program, parameter_list, no_grad_set, callbacks
            )
        self._program, self._scaled = program, scaled
        return pairs

    def apply_gradients(self, params_grads: Sequence[Any]) -> list[Any]:
        """Scale gradients back and apply them, unless one is not finite.

        Returns
        -------
        list of Operator
        """
        return self._apply(params_grads)[0]

    def apply_optimize(
        self, loss: Variable, startup_program: Program | None, params_grads: Sequence[Any]
    ) -> list[Any]:
        """`apply_gradients`, in the program of `loss`."""
        with program_guard(loss.block.program, startup_program or default_startup_program()):
            return self.apply_gradients(params_grads)

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Any] | None = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[tuple[Variable, Variable]]]:
        """`backward` and `apply_gradients`.

        Returns
        -------
        (operators, [(parameter, gradient)])
            Gradients are scaled back.
        """
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        with program_guard(loss.block.program, startup_program or default_startup_program()):
            return self._apply(pairs)

    def amp_init(
        self,
        place: Any,
        scope: Scope | None = None,
        test_program: Program | None = None,
        use_fp16_test: bool = False,
        rewrite_master_weight: bool = False,
    ) -> None:
        """Cast the parameters that are of the low dtype: once, after the startup program has run.

        Parameters
        ----------
        place : object
            Accepted for the reference's sake.
        scope : Scope, optional
        test_program : Program, optional
            A program in float32 with the same parameters: rewritten as the other one at level "O2",
            else with `use_fp16_test`.
        use_fp16_test, rewrite_master_weight : bool
            The second lets the optimizer's float32 copies be what the parameters were rounded to.
        """
        require_bools(
            "amp_init", use_fp16_test=use_fp16_test, rewrite_master_weight=rewrite_master_weight
        )
        if self._program is None:
            raise ModeError("amp_init: call minimize first, which says what is cast")
        if self._level == "O2":
            emitted = self._program.global_block().emitted
            masters = {
                key[2].name: var
                for key, var in emitted.items()
                if isinstance(key, tuple) and key[:1] == ("optimizer_state",) and key[3] == "master"
            }
            cast_parameters_to_fp16(
                place,
                self._program,
                scope,
                self._low,
                self._dtype,
                rewrite_master_weight,
                masters,
            )
        if test_program is not None and (self._level == "O2" or use_fp16_test):
            self._cast(test_program, self._low)

    def get_loss_scaling(self) -> Any:
        """The variable of the program that holds the scale; a float where nothing is scaled."""
        if not self._scaler.is_enable():
            return 1.0
        return self._scaler._state_beside(self._known("get_loss_scaling")).scale

    def get_scaled_loss(self) -> Variable:
        """The loss times the scale."""
        return self._known("get_scaled_loss")

    def __getattr__(self, name: str) -> Any:
        """What else optimizers have."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def _cast(self, program: Program, parameters: set[str] | None = None) -> set[str]:
        return rewritten(
            program,
            self._amp_lists,
            self._guarded,
            self._dtype,
            self._level,
            self._promote,
            parameters,
        )

    def _apply(self, pairs: Sequence[Any]) -> tuple[list[Any], list[tuple[Variable, Variable]]]:
        if self._scaler.is_enable():
            loss = self._known("apply_gradients")
            operators, unscaled = self._scaler.apply_scaled(self._optimizer, loss, pairs)
            return operators, unscaled
        return self._optimizer.apply_gradients(pairs), list(pairs)

    def _known(self, method: str) -> Variable:
        if self._scaled is None:
            raise ModeError(f"{method}: call minimize, or backward, first")
        return self._scaled


def decorate(
    optimizer: Optimizer,
    amp_lists: AutoMixedPrecisionLists | None = None,
    level: Any = "O1",
    dtype: DTypeLike = "float16",
    master_weight: bool | None = None,
    master_grad: bool = False,
    init_loss_scaling: float | None = None,
    incr_every_n_steps: int | None = None,
    decr_every_n_nan_or_inf: int | None = None,
    incr_ratio: float = 2.0,
    decr_ratio: float | None = None,
    use_dynamic_loss_scaling: bool | None = None,
    use_amp_guard: bool = False,
    use_promote: bool = False,
    **older: Any,
) -> OptimizerWithMixedPrecision:
    """Let ``optimizer.minimize`` train a program, built in float32, in mixed precision.

    `minimize` inserts casts into the program (`cast_model_to_fp16`), scales the loss, and applies
    gradients that are scaled back, unless one is not finite.

    Parameters
    ----------
    optimizer : Optimizer
    amp_lists : AutoMixedPrecisionLists, optional
    level : {"O1", "O2", "OD"}
        As of `paddle.amp.auto_cast`. At "O2", call `amp_init` after the startup program has run:
        parameters are of the low dtype then, and the optimizer keeps copies in float32.
    dtype : {"float16", "bfloat16"}
    master_weight : bool, optional
        False leaves these copies out.
    master_grad : bool
        Cast gradients to float32 before they are clipped.
    init_loss_scaling, incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio : number
        As of `paddle.amp.GradScaler`: by default 65536, 2000, 1, 2 and 0.5.
    use_dynamic_loss_scaling : bool, optional
        By default True for float16. The loss of bfloat16 needs no scale, and has none unless
        `init_loss_scaling` is given.
    use_amp_guard : bool
        Cast what was built inside of `fp16_guard` only.
    use_promote : bool
    **older
        Spelled as before Paddle 2.5: `use_pure_fp16`, which is ``level="O2"``, `use_fp16_guard`,
        by default what that is, and `use_bf16`. With one of them the defaults of the numbers are
        32768, 1000, 2, 2 and 0.8.

    Returns
    -------
    OptimizerWithMixedPrecision

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import numpy as np, autograd_engine as paddle
    >>> static = paddle.static
    >>> main, startup = static.Program(), static.Program()
    >>> with static.program_guard(main, startup), static.scope_guard(static.Scope()):
    ...     x, y = static.data("x", [8, 4]), static.data("y", [8, 1])
    ...     loss = paddle.mean((static.nn.fc(x, 1) - y) ** 2)
    ...     sgd = static.amp.decorate(paddle.optimizer.SGD(0.1), init_loss_scaling=128.0)
    ...     _ = sgd.minimize(loss)
    ...     exe = static.Executor()
    ...     _ = exe.run(startup)
    ...     feed = {"x": np.ones((8, 4), "float32"), "y": np.ones((8, 1), "float32")}
    ...     losses = [float(exe.run(feed=feed, fetch_list=[loss])[0]) for _ in range(20)]
    >>> losses[-1] < 0.01, [op.type for op in main.global_block().ops][:3]
    (True, ['cast', 'cast', 'matmul'])
    """
    if not isinstance(optimizer, Optimizer):
        raise ArgumentTypeError(f"decorate takes an optimizer, got {type(optimizer).__name__}")
    if wrong := sorted(older.keys() - _OLDER):
        raise ArgumentTypeError(
            f"decorate has no argument {wrong[0]!r}; it has level, dtype, and the names of older "
            f"Paddle: {', '.join(sorted(_OLDER))}"
        )
    require_bools("decorate", **older, use_amp_guard=use_amp_guard, use_promote=use_promote)
    require_bools("decorate", master_grad=master_grad)
    if older:
        level = "O2" if older.get("use_pure_fp16", False) else "O1"
        dtype = "bfloat16" if older.get("use_bf16", False) else "float16"
        use_amp_guard = older.get("use_fp16_guard", level == "O2")
    low = half_dtype("decorate", "dtype", dtype).name
    level = level_of("decorate", level)
    if level == "O0":
        raise ArgumentError("decorate: level must be O1, O2 or OD; without it use the optimizer")
    lists = given_lists("decorate", amp_lists, low)
    if lists.amp_dtype != low:
        raise ArgumentError(
            f"decorate: amp_lists are for {lists.amp_dtype}, and dtype is {low}: make them with "
            f"dtype={low!r}"
        )
    if level == "O2" and master_weight is not False:
        optimizer.keep_masters(master_grad)
    scales = low == "float16" or init_loss_scaling is not None
    if low == "bfloat16" and use_dynamic_loss_scaling:
        warnings.warn(
            "decorate: bfloat16 has the range of float32, so its loss is not scaled: leave "
            "use_dynamic_loss_scaling out",
            stacklevel=2,
        )
        use_dynamic_loss_scaling = False
    numbers = (32768.0, 1000, 2, 0.8) if older else (65536.0, 2000, 1, 0.5)
    given = (init_loss_scaling, incr_every_n_steps, decr_every_n_nan_or_inf, decr_ratio)
    first, up, down, ratio = (n if g is None else g for n, g in zip(numbers, given, strict=True))
    dynamic = low == "float16" if use_dynamic_loss_scaling is None else use_dynamic_loss_scaling
    scaler = GradScaler(scales, first, incr_ratio, ratio, up, down, dynamic)  # type: ignore[arg-type]
    return OptimizerWithMixedPrecision(
        optimizer, lists, level, low, scaler, use_amp_guard, use_promote
    )
