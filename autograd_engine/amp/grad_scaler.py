"""`GradScaler`: losses scaled up, so that gradients of float16 do not vanish, and down again."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import FLOAT32, HALVES, INT32, finfo
from autograd_engine.core.names.constructors import Given, respelled
from autograd_engine.core.spec import Array, Spec
from autograd_engine.eager.grad_mode import grad_mode, no_grad, uncast
from autograd_engine.eager.row_sparse import RowSparse
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    DuplicateError,
    NotATensorError,
)
from autograd_engine.nn.parameters import persistable_variable
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.optimizer.checks import count, number, positive
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.program.builder import append_write
from autograd_engine.program.control_flow.cond import cond
from autograd_engine.program.ir.program import (
    Program,
    Variable,
    default_startup_program,
    program_guard,
)
from autograd_engine.program.scope import global_scope
from autograd_engine.tensor import reduction

__all__ = ["GradScaler"]

_SMALLEST: Final = float(finfo(FLOAT32).tiny)
_NAMES: Final = ("scale", "incr_count", "decr_count")


class _State(NamedTuple):
    """What a scaler changes: 0-d Tensors, or variables of a program."""

    scale: Any
    incr_count: Any
    decr_count: Any


class _Progress:
    """What has been done for one optimizer since the last `update`."""

    __slots__ = ("found", "stage")

    def __init__(self) -> None:
        self.stage = ""
        # Not made by `Tensor(...)`: a function that is traced takes that for a part of itself.
        self.found = Tensor._wrap(np.zeros((), np.bool_))


@respelled
class GradScaler:
    """Scale losses, so that gradients do not vanish in float16, and gradients back.

    Gradients below 6e-8 are zero in float16. Those of a loss that is multiplied by a large number
    are not; divided by it again, in float32, they are what they should be. A step for which one of
    them overflowed is left out, and the scale is lowered; it is raised again while none does.

    It works eagerly, inside of a function that `jit.to_static` traces, and in programs (`scale` and
    `minimize`), where whether a step is left out is decided when the program runs.

    Parameters
    ----------
    enable : bool
        ``False`` makes its methods do what the optimizer does by itself.
    init_loss_scaling : float
        The first scale.
    incr_ratio : float
        Above 1: what the scale is multiplied by when it is raised.
    decr_ratio : float
        Below 1: what it is multiplied by when it is lowered.
    incr_every_n_steps : int
        Raise it after as many steps in a row without overflow.
    decr_every_n_nan_or_inf : int
        Lower it after as many steps with overflow.
    use_dynamic_loss_scaling : bool
        Whether the scale changes at all.

    Notes
    -----
    Gradients of float16 parameters whose optimizer keeps master weights are float32 from `unscale_`
    on: in float16 they could vanish again.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> net = paddle.nn.Linear(2, 1)
    >>> sgd = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    >>> scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0)
    >>> with paddle.amp.auto_cast():
    ...     loss = net(paddle.ones([4, 2])).mean()
    >>> scaler.scale(loss).backward()
    >>> scaler.step(sgd)
    >>> scaler.update()
    >>> sgd.clear_grad()
    """

    @staticmethod
    def _reorder(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        """PyTorch's scaler takes the name of a device first."""
        rest = {name: value for name, value in kwargs.items() if name != "device"}
        return args[1:] if args and isinstance(args[0], str) else args, rest

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**16,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        require_bools(
            "GradScaler", enable=enable, use_dynamic_loss_scaling=use_dynamic_loss_scaling
        )
        self._enable = enable
        self._use_dynamic_loss_scaling = enable and use_dynamic_loss_scaling
        self._init_loss_scaling = _scale("init_loss_scaling", init_loss_scaling)
        self._incr_ratio = _raising("incr_ratio", incr_ratio)
        self._decr_ratio = _lowering("decr_ratio", decr_ratio)
        self._incr_every_n_steps = _count("incr_every_n_steps", incr_every_n_steps)
        self._decr_every_n_nan_or_inf = _count("decr_every_n_nan_or_inf", decr_every_n_nan_or_inf)
        first = self._init_loss_scaling if enable else 1.0
        self._state = _State(
            Tensor._wrap(np.asarray(first, FLOAT32)),
            Tensor._wrap(np.zeros((), INT32)),
            Tensor._wrap(np.zeros((), INT32)),
        )
        self._in_programs: weakref.WeakKeyDictionary[Program, _State] = weakref.WeakKeyDictionary()
        self._progress: weakref.WeakKeyDictionary[Optimizer, _Progress] = (
            weakref.WeakKeyDictionary()
        )

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: programs, and what is under way, stay with this one."""
        kept = vars(self).keys() - {"_in_programs", "_progress"}
        return {name: vars(self)[name] for name in kept}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self._state = _State(*map(copy.copy, self._state))
        self._in_programs = weakref.WeakKeyDictionary()
        self._progress = weakref.WeakKeyDictionary()

    # --- a training step

    @uncast
    def scale(self, var: Any) -> Any:
        """`var`, a loss, times the scale; in float32 where it is float16.

        Parameters
        ----------
        var : Tensor or Variable

        Returns
        -------
        Tensor or Variable
            `var` itself where the scaler is not enabled.

        Raises
        ------
        NotATensorError
        """
        if not isinstance(var, (Tensor, Variable)):
            raise NotATensorError(
                f"GradScaler.scale takes a Tensor or a Variable, got {type(var).__name__}"
            )
        if not self._enable:
            return var
        dtype = var._data.dtype if isinstance(var, Tensor) else var.spec.dtype
        if dtype in HALVES:
            var = ops.cast(var, dtype="float32")
        return ops.multiply(var, self._state_beside(var).scale)

    @uncast
    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients that `optimizer` is to take by the scale; `step` does so else.

        Call it before gradients are clipped, or looked at.

        Raises
        ------
        DuplicateError
            When it was called for this optimizer since the last `update`, or `step` was.
        """
        if not self._enable:
            return
        progress = self._progress_of("unscale_", optimizer)
        if progress.stage:
            after = "step() has" if progress.stage == "stepped" else "it has"
            raise DuplicateError(
                f"GradScaler.unscale_: {after} been called for this {type(optimizer).__name__} "
                "since the last update(); call scaler.update() once after each step"
            )
        trace = grad_mode.trace
        with no_grad():
            inverse = ops.divide(1.0, self._state.scale)
            finite: list[Any] = []
            if trace is not None:
                trace.training.exchange_gradients(
                    optimizer, lambda p, g: self._unscaled(optimizer, p, g, inverse, finite)
                )
            else:
                for p, grad in optimizer._trained():
                    p._grad = self._unscaled(optimizer, p, grad, inverse, finite)
            progress.found.set_value(_any_infinite(finite))
        progress.stage = "unscaled"

    def step(self, optimizer: Optimizer) -> None:
        """``optimizer.step()`` with gradients that are scaled back, unless one is not finite.

        Raises
        ------
        DuplicateError
            When it was called for this optimizer since the last `update`.
        """
        if not self._enable:
            optimizer.step()
            return
        progress = self._progress_of("step", optimizer)
        if progress.stage == "stepped":
            raise DuplicateError(
                "GradScaler.step: it has been called for this "
                f"{type(optimizer).__name__} since the last update(); call scaler.update() once "
                "after each step"
            )
        if not progress.stage:
            self.unscale_(optimizer)
        trace = grad_mode.trace
        if trace is not None:
            trace.looked_at(progress.found, "scaler", self._settings, self._settings())
            trace.training.step(optimizer, unless=trace.latest(progress.found))
        elif not progress.found._data:
            optimizer.step()
        progress.stage = "stepped"

    @uncast
    def update(self) -> None:
        """Raise or lower the scale, after what the steps since the last call have found.

        Raises
        ------
        ArgumentError
            When there was none, and the scale is one that changes.
        """
        if not self._enable:
            return
        known = [p for p in self._progress.values() if p.stage]
        if self._use_dynamic_loss_scaling and not known:
            raise ArgumentError(
                "GradScaler.update: step() has not been called since the last update(), so nobody "
                "has looked whether gradients overflowed; call scaler.step(optimizer) before it. "
                "scaler.minimize(optimizer, loss) updates by itself"
            )
        if self._use_dynamic_loss_scaling:
            with no_grad():
                trace = grad_mode.trace
                flags = [p.found if trace is None else trace.latest(p.found) for p in known]
                found = flags[0]
                for other in flags[1:]:
                    found = ops.logical_or(found, other)
                state = self._state
                now = state if trace is None else _State(*map(trace.latest, state))
                for tensor, value in zip(state, self._updated(now, found), strict=True):
                    tensor.set_value(value)
        for p in known:
            p.stage = ""

    def minimize(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """`step` and `update`; in a program, the backward half and the updates besides.

        Parameters
        ----------
        optimizer : Optimizer
        *args, **kwargs
            Of ``optimizer.minimize``: a loss that `scale` has made comes first.

        Returns
        -------
        (operators, [(parameter, gradient)])
            Gradients are scaled back. Of an eager step that is left out, (None, None).
        """
        if not self._enable:
            return optimizer.minimize(*args, **kwargs)
        loss = args[0] if args else kwargs.get("loss")
        if isinstance(loss, Variable) and grad_mode.trace is None:
            return self._append(optimizer, *args, **kwargs)
        progress = self._progress_of("minimize", optimizer)
        if not progress.stage:
            self.unscale_(optimizer)
        made: Any = (None, None)
        if grad_mode.trace is not None:
            self.step(optimizer)
        elif not progress.found._data:
            made = optimizer.minimize(*args, **kwargs)
        progress.stage = "stepped"
        self.update()
        return made

    def _progress_of(self, method: str, optimizer: Any) -> _Progress:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(
                f"GradScaler.{method} takes an optimizer, got {type(optimizer).__name__}"
            )
        found = self._progress.get(optimizer)
        if found is None:
            found = self._progress[optimizer] = _Progress()
        return found

    def _unscaled(
        self, optimizer: Optimizer, p: Any, g: Any, inverse: Any, finite: list[Any]
    ) -> Any:
        """`g` times `inverse`, which is computed in float32; whether it is finite, in `finite`."""
        if isinstance(g, RowSparse) and g.is_selected_rows() and g.merged()[0].size:
            rows, values = g.merged()
            kept: Any = g.scattered
            new = self._unscaled(optimizer, p, Tensor._wrap(values), inverse, finite)._data
            part = new, (rows,), kept.parts[0][2]
            return RowSparse(Scattered(kept.op, kept.xp, Spec(kept.shape, new.dtype), [part]))
        dtype = g._data.dtype if isinstance(g, Tensor) else g.spec.dtype
        finite.append(reduction.all(ops.isfinite(g)))
        half = dtype in HALVES
        new = ops.multiply(ops.cast(g, dtype="float32") if half else g, inverse)
        if half and not optimizer._has_master(dtype):
            new = ops.cast(new, dtype=dtype.name)
        if isinstance(new, Tensor):
            new._stop = False
        return new

    def _updated(self, state: _State, found: Any) -> _State:
        """What becomes of the state: data decide, in each mode."""
        bad = ops.where(found, state.decr_count + 1, 0)
        good = ops.where(found, 0, state.incr_count + 1)
        lower = ops.greater_equal(bad, self._decr_every_n_nan_or_inf)
        higher = ops.greater_equal(good, self._incr_every_n_steps)
        raised = state.scale * self._incr_ratio
        raised = ops.where(ops.isfinite(raised), raised, state.scale)
        lowered = ops.maximum(state.scale * self._decr_ratio, _SMALLEST)
        scale = ops.where(lower, lowered, ops.where(higher, raised, state.scale))
        return _State(scale, ops.where(higher, 0, good), ops.where(lower, 0, bad))

    # --- programs

    def _state_beside(self, var: Any) -> _State:
        """The state that stands beside `var`: of its program, if that is built and not traced."""
        if isinstance(var, Tensor) or grad_mode.trace is not None:
            return self._state
        program = var.block.program
        found = self._in_programs.get(program)
        if found is None:
            block = program.global_block()
            variables = []
            for name, tensor in zip(_NAMES, self._state, strict=True):
                first, full = tensor._data, unique_name.generate(f"loss_scaling_{name}")
                spec = Spec((), first.dtype)
                variables.append(persistable_variable(block, full, spec, first.item()))
            found = self._in_programs[program] = _State(*variables)
        return found

    @uncast
    def _append(
        self,
        optimizer: Optimizer,
        loss: Variable,
        startup_program: Program | None = None,
        parameters: Sequence[Any] | None = None,
        no_grad_set: Any = None,
        checkpoints: Any = None,
    ) -> Any:
        startup = startup_program or default_startup_program()
        with program_guard(loss.block.program, startup):
            pairs = optimizer.backward(
                loss, startup, parameters, no_grad_set, checkpoints=checkpoints
            )
            return self.apply_scaled(optimizer, loss, pairs)

    @uncast
    def apply_scaled(self, optimizer: Optimizer, loss: Variable, pairs: Sequence[Any]) -> Any:
        """Append what applies gradients of `loss`, which `scale` has made, to its program.

        Parameters
        ----------
        optimizer : Optimizer
        loss : Variable
        pairs : list of (parameter, gradient)

        Returns
        -------
        (operators, [(parameter, gradient)])
            Gradients are scaled back.
        """
        state = self._state_beside(loss)
        finite: list[Any] = []
        inverse = ops.divide(1.0, state.scale)
        pairs = [(p, self._unscaled(optimizer, p, g, inverse, finite)) for p, g in pairs]
        found = _any_infinite(finite)
        operators: list[Any] = []
        cond(
            ops.logical_not(found),
            lambda: operators.extend(optimizer.apply_gradients(pairs)),
        )
        if self._use_dynamic_loss_scaling:
            for var, value in zip(state, self._updated(state, found), strict=True):
                append_write(var, value)
        return operators, pairs

    def _values(self) -> list[Array]:
        """The state as arrays: of the program that has run, where there is one."""
        for state in self._in_programs.values():
            held = [global_scope().find_var(v.name) for v in state]
            if all(h is not None and h.value is not None for h in held):
                return [np.array(h.value) for h in held if h is not None]
        return [t._data for t in self._state]

    def _put(self, values: Sequence[Array]) -> None:
        for tensor, value in zip(self._state, values, strict=True):
            tensor.set_value(value)
        for state in self._in_programs.values():
            for var, value in zip(state, values, strict=True):
                global_scope().var(var.name).value = value

    # --- settings

    def is_enable(self) -> bool:
        """Whether it scales anything."""
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the scale changes."""
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        """The first scale."""
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Set the first scale, and the one in use."""
        self._init_loss_scaling = _scale("new_init_loss_scaling", new_init_loss_scaling)
        _, good, bad = self._values()
        self._put([np.asarray(self._init_loss_scaling, FLOAT32), good, bad])

    def get_incr_ratio(self) -> float:
        """What the scale is multiplied by when it is raised."""
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Set it: above 1."""
        self._incr_ratio = _raising("new_incr_ratio", new_incr_ratio)

    def get_decr_ratio(self) -> float:
        """What the scale is multiplied by when it is lowered."""
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Set it: below 1."""
        self._decr_ratio = _lowering("new_decr_ratio", new_decr_ratio)

    def get_incr_every_n_steps(self) -> int:
        """After how many steps without overflow the scale is raised."""
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Set that number."""
        self._incr_every_n_steps = _count("new_incr_every_n_steps", new_incr_every_n_steps)

    def get_decr_every_n_nan_or_inf(self) -> int:
        """After how many steps with overflow the scale is lowered."""
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Set that number."""
        self._decr_every_n_nan_or_inf = _count(
            "new_decr_every_n_nan_or_inf", new_decr_every_n_nan_or_inf
        )

    def _settings(self, _: Any = None) -> Any:
        """What a traced step depends on."""
        return (
            self._incr_ratio,
            self._decr_ratio,
            self._incr_every_n_steps,
            self._decr_every_n_nan_or_inf,
        )

    # --- saving

    def state_dict(self) -> dict[str, Any]:
        """What it takes to go on from here: ``"scale"``, an array of one number, the settings,
        ``"incr_count"`` and ``"decr_count"``; empty where it is not enabled.
        """
        if not self._enable:
            return {}
        scale, good, bad = self._values()
        return {
            "scale": np.array(scale).reshape(1),
            "incr_ratio": self._incr_ratio,
            "decr_ratio": self._decr_ratio,
            "incr_every_n_steps": self._incr_every_n_steps,
            "decr_every_n_nan_or_inf": self._decr_every_n_nan_or_inf,
            "incr_count": int(good),
            "decr_count": int(bad),
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from where `state_dict` was called. It does nothing where it is not enabled.

        Raises
        ------
        ArgumentError
            When it is empty, or no state of a scaler. Nothing is changed then.
        """
        if not self._enable:
            return
        if not isinstance(state_dict, Mapping):
            raise ArgumentTypeError(
                "GradScaler.load_state_dict takes what state_dict returned, a dict; got "
                f"{type(state_dict).__name__}"
            )
        if not state_dict:
            raise ArgumentError(
                "GradScaler.load_state_dict: the state is empty, that of a scaler with "
                "enable=False; make this one with enable=False too, or leave the call out"
            )
        missing = [name for name in self.state_dict() if name not in state_dict]
        if missing:
            raise ArgumentError(
                f"GradScaler.load_state_dict: {', '.join(missing)} is missing: this is no state of "
                "a GradScaler"
            )
        new = GradScaler(
            True,
            _scale("scale", state_dict["scale"]),
            state_dict["incr_ratio"],
            state_dict["decr_ratio"],
            state_dict["incr_every_n_steps"],
            state_dict["decr_every_n_nan_or_inf"],
            bool(state_dict["use_dynamic_loss_scaling"]),
        )
        self._incr_ratio, self._decr_ratio = new._incr_ratio, new._decr_ratio
        self._incr_every_n_steps = new._incr_every_n_steps
        self._decr_every_n_nan_or_inf = new._decr_every_n_nan_or_inf
        self._use_dynamic_loss_scaling = new._use_dynamic_loss_scaling
        counts = (np.asarray(int(state_dict[name]), INT32) for name in _NAMES[1:])
        self._put([new._state.scale._data, *counts])


def _any_infinite(finite: list[Any]) -> Any:
    if not finite:
        return np.zeros((), np.bool_)
    return ops.logical_not(reduction.all(ops.stack(*finite, axis=0)))


def _scale(name: str, value: Any) -> float:
    return positive("GradScaler", name, value)


def _raising(name: str, value: Any) -> float:
    found = number("GradScaler", name, value)
    if not found > 1.0:
        raise ArgumentError(f"GradScaler: {name} must be above 1.0, got {value!r}")
    return found


def _lowering(name: str, value: Any) -> float:
    found = number("GradScaler", name, value)
    if not 0.0 < found < 1.0:
        raise ArgumentError(f"GradScaler: {name} must be between 0.0 and 1.0, got {value!r}")
    return found


def _count(name: str, value: Any) -> int:
    return count("GradScaler", name, value)
