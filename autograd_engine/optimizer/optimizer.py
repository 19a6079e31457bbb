"""What all optimizers share: state by parameter, eager steps, and operators in a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.core.locations import caller
from autograd_engine.core.spec import Array, format_shape
from autograd_engine.eager.row_sparse import RowSparse, held_by_one
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import follow, is_alone
from autograd_engine.errors import ArgumentError, ArgumentTypeError, NotATensorError, ShapeError
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.optimizer.checks import (
    check_distinct,
    check_pair,
    check_parameters,
    nothing_to_train,
)
from autograd_engine.optimizer.in_place import update_in_place
from autograd_engine.optimizer.settings import Settings
from autograd_engine.program.backward.append_backward import append_backward
from autograd_engine.program.builder import restored_on_error
from autograd_engine.program.ir.program import (
    Operator,
    Program,
    Variable,
    default_startup_program,
    program_guard,
)

__all__ = ["Optimizer"]

ParamGrad = tuple[Any, Any]


class Optimizer(Settings):
    """Base of the optimizers.

    A subclass is a row: its operation, the state that the operation takes and returns, in order,
    and its settings with their checks; nothing else differs between optimizers, nor between modes.

    Parameters
    ----------
    learning_rate : float or LRScheduler
    parameters : list of Tensor, or of dict, optional
        Needed in eager mode; in a program, by default all trainable ones. A dict is a group:
        ``"params"``, and what differs for these: ``"learning_rate"`` (a factor),
        ``"weight_decay"``, ``"grad_clip"``, and the optimizer's own settings, such as ``"beta1"``.
    weight_decay : float, L1Decay or L2Decay, optional
        Added to gradients, after clipping; a float is the coefficient of `L2Decay`.
    grad_clip : ClipGradByGlobalNorm, ClipGradByNorm or ClipGradByValue, optional
        Each group is clipped by itself.
    name : str, optional
        Accepted for the reference's sake.

    Attributes
    ----------
    operation : str
        Name in the table; inputs ``param grad learning_rate *state``.
    state : dict of str to State
    hyper : dict of str to Hyper
        By the names of the constructor's arguments.
    """

    # --- eager mode

    def _eager_parameters(self) -> list[Any]:
        if self._parameters is None:
            raise nothing_to_train(type(self).__name__)
        return self._parameters

    def step(self) -> None:
        """Update every parameter that has a gradient.

        What a graph has saved stays as it was, and so do views and other tensors: where there are
        any, values are replaced, and not written over.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> w = paddle.create_parameter([1], attr=paddle.nn.initializer.Constant(1.0))
        >>> adam = paddle.optimizer.Adam(0.25, parameters=[w])
        >>> (w * w).sum().backward()
        >>> adam.step()
        >>> adam.clear_grad()
        >>> round(w.item(), 4)
        0.75
        """
        pairs: Sequence[ParamGrad] = [(p, p._grad) for p in self._trained()]
        if not self._plain:
            self._update_all(pairs)
            return
        if self._grad_clip is not None:
            pairs = self._grad_clip(pairs)
        pairs = update_in_place(self, pairs)
        operation, attrs = REGISTRY[self.operation], self._attrs
        kernel, multiple = operation.kernel, operation.multiple
        rate: Any = None
        known = None
        for p, grad in pairs:
            if getattr(p, "_options", None) is not None:
                self._update(p, grad)
                continue
            data = p._data
            if data.dtype is not known:
                known = data.dtype
                rate = np.asarray(self.get_lr(), known)
            if grad.__class__ is RowSparse and grad.is_selected_rows() and self._by_rows:
                del data
                self._update_rows(p, grad, rate, attrs)
            elif not multiple:
                new = kernel(data, grad._data, rate, **attrs)
                p._data = new if new.__class__ is np.ndarray else np.asarray(new)
                if p.__weakref__ is not None:  # as where it shares its values
                    follow(p)
            else:
                new, *state = kernel(data, grad._data, rate, *self._state_of(p), **attrs)
                key = id(p)
                # All or nothing, whatever interrupts: a parameter and its state belong together.
                p._data, self._eager_state[key] = new, state
                if p.__weakref__ is not None:  # as where it shares its values
                    follow(p)

    def _trained(self) -> list[Any]:
        return [
            p
            for p in self._eager_parameters()
            if not p._stop and getattr(p, "_grad", None) is not None
        ]

    def _update_all(self, pairs: Sequence[ParamGrad]) -> None:
        """Clip the gradients of each group, then update."""
        for p, grad in self._clipped(pairs):
            self._update(p, grad)

    def _clipped(self, pairs: Sequence[ParamGrad]) -> list[ParamGrad]:
        """Each group is clipped by itself, in the order of its parameters, in either mode."""
        found = list(pairs)
        for group in self._groups or [self._default]:
            if group.clip is not None:
                where = [k for k, (p, _) in enumerate(found) if self._group(p) is group]
                new = group.clip([found[k] for k in where])
                for k, pair in zip(where, new, strict=True):
                    found[k] = pair
        return found

    def _update(self, p: Tensor, grad: Any) -> None:
        """The update of one parameter, whatever is asked for besides the rule."""
        group = self._group(p)
        attrs, decay = self._attrs_of(p, group), self._decay_of(p, group)
        master = self._has_master(p._data.dtype)
        dtype = np.dtype(np.float32) if master else p._data.dtype
        rate: Any = np.asarray(self.get_lr(), dtype)
        factor = self._rate_factor(p, group)
        if factor != 1.0:
            rate = raw.multiply(rate, factor)
        rows = grad.__class__ is RowSparse and grad.is_selected_rows() and decay is None
        if rows and self._by_rows and not master:
            self._update_rows(p, grad, rate, attrs)
            return
        lazy = rows and attrs.get("lazy_mode") is True
        values = grad.scattered if lazy and not master else grad._data
        if decay is not None:
            values = decay.added(raw, p._data, values)
        operation = REGISTRY[self.operation]
        state = self._state_of(p)
        data = p._data
        if master:
            *state, data = state
            values = raw.cast(values, dtype="float32")
        results = operation.kernel(data, values, rate, *state, **attrs)
        new, *state = results if operation.multiple else (results,)
        new = np.asarray(new)
        if master:
            state = [*state, new]
            new = np.asarray(raw.cast(new, dtype="float16"))
        key = id(p)
        p._data, self._eager_state[key] = new, state
        if p.__weakref__ is not None:  # as where it shares its values
            follow(p)

    @property
    def _by_rows(self) -> bool:
        """Whether a gradient of which only some rows are there updates these rows alone."""
        return False

    def _update_rows(self, p: Tensor, grad: RowSparse, rate: Array, attrs: dict[str, Any]) -> None:
        """Write the rows in place where nobody else can see the array, else in a copy of it."""
        alone = is_alone(p)
        if not (alone and held_by_one(p)):
            p._data = p._data.copy()
        self._write_rows(p._data, *grad.merged(), rate, p, attrs)
        if not alone:
            follow(p)

    def _write_rows(
        self, data: Array, rows: Array, values: Array, rate: Array, p: Tensor, attrs: dict[str, Any]
    ) -> None:
        raise NotImplementedError

    def _state_of(self, p: Tensor) -> list[Array]:
        """State arrays in order; behind them the float32 copy, where there is one."""
        found = self._eager_state.get(id(p))
        if found is None:
            found = self._eager_state[id(p)] = self._initial_state(p)
        return found

    def _initial_state(self, p: Tensor) -> list[Array]:
        data, rate = p._data, self.get_lr()
        master = self._has_master(data.dtype)
        dtype = np.dtype(np.float32) if master else data.dtype
        group = self._group(p)
        attrs = self._attrs_of(p, group)
        found = [
            np.full(s.shape(data.shape, attrs), s.first(attrs, rate), s.dtype or dtype)
            for s in self.state.values()
        ]
        return [*found, data.astype(dtype)] if master else found

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zeros, or to None."""
        at = caller()
        for p in self._eager_parameters():
            p._clear(set_to_zero, at)

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """`clear_grad`, by default to None."""
        self.clear_grad(set_to_zero=not set_to_none)

    # --- both modes

    def minimize(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameters: Sequence[Any] | None = None,
        no_grad_set: Any = None,
        checkpoints: Any = None,
    ) -> tuple[list[Operator], list[ParamGrad]]:
        """In a program: append the backward half and the updates. Eagerly: one `step`.

        Eager mode expects ``loss.backward()`` to have been called.

        Parameters
        ----------
        loss : Variable or Tensor
            Of one element.
        startup_program : Program, optional
            What gives the state its first values; by default the default one.
        parameters : list of Variable, Tensor or str, optional
            Which to train; by default those of the optimizer.
        no_grad_set : set of Variable or str, optional
        checkpoints : list of Variable or str, optional
            In a program: what is kept of the forward half; the rest is computed again, see
            `static.append_backward`.

        Returns
        -------
        (operators, [(parameter, gradient)])

        Raises
        ------
        NotATensorError, ShapeError
        """
        if isinstance(loss, Tensor):
            if self._parameters is None and parameters is None:
                where = "minimize: loss is a Tensor, and "
                raise nothing_to_train(type(self).__name__, where)
            eager = self.backward(
                loss, startup_program, parameters, no_grad_set, checkpoints=checkpoints
            )
            return self.apply_gradients(eager), eager
        if startup_program is not None and not isinstance(startup_program, Program):
            raise ArgumentTypeError(
                f"minimize: startup_program must be a Program, got {type(startup_program).__name__}"
            )
        startup = startup_program or default_startup_program()
        with restored_on_error(loss), startup.global_block().restored_on_error():
            pairs = self.backward(
                loss, startup_program, parameters, no_grad_set, checkpoints=checkpoints
            )
            with program_guard(loss.block.program, startup):
                return self.apply_gradients(pairs), pairs

    def backward(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameters: Sequence[Any] | None = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
        checkpoints: Any = None,
    ) -> list[ParamGrad]:
        """In a program: append the backward half; see `static.append_backward`.

        Eagerly: the parameters that have a gradient, each with it.
        """
        if isinstance(loss, Tensor):
            if checkpoints:
                raise ArgumentError(
                    f"{type(self).__name__}: checkpoints are variables of a program; eagerly, call "
                    "parts of the forward pass through paddle.autograd.recompute"
                )
            chosen = None if parameters is None else set(map(id, check_parameters(parameters)))
            left_out = _names(no_grad_set)
            return [
                (p, p.grad)
                for p in self._trained()
                if (chosen is None or id(p) in chosen) and p.name not in left_out
            ]
        if not isinstance(loss, Variable):
            raise NotATensorError(
                "minimize: loss must be a Variable of a program, or in eager mode a Tensor; got "
                f"{type(loss).__name__}"
            )
        size = loss.spec.size
        if size != 1:
            raise ShapeError(
                f"minimize: loss has shape {format_shape(loss.spec.shape)} and must have one "
                "element: reduce it (did you forget paddle.mean?)"
            )
        wanted: Any = parameters if parameters is not None else self._parameters
        return append_backward(loss, wanted, no_grad_set, callbacks, checkpoints)

    def apply_gradients(self, params_grads: Sequence[ParamGrad]) -> list[Operator]:
        """Update each parameter by the gradient that comes with it.

        In a program: append an update operator for each pair, in the order of the parameters'
        names; those of `grad_clip` and `weight_decay` come before them.

        Parameters
        ----------
        params_grads : list of (parameter, gradient)

        Returns
        -------
        list of Operator
            The updates; of an eager call none.

        Raises
        ------
        TypeError, NotATensorError, DTypeError, ShapeError, ArgumentError, BuildError
            When a pair is no parameter with its gradient. Nothing is done then.
        """
        pairs = _checked_pairs(params_grads)
        if pairs and isinstance(pairs[0][0], Tensor):
            self._update_all(pairs)
            return []
        from autograd_engine.optimizer.minimize import append_updates

        return append_updates(self, pairs)

    # --- saving

    def state_dict(self) -> dict[str, Any]:
        """What it takes to go on from here, bit for bit; see `set_state_dict`.

        Returns
        -------
        dict
            State arrays by name, ``<parameter>_moment1_0`` and the like, as Tensors that later
            steps leave alone; ``"master_weights"`` by parameter, where there are some, and
            ``"LR_Scheduler"``. A parameter that was not updated yet has none. Of an optimizer that
            has built programs, the arrays of the global scope, by the names of their variables.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> w = paddle.create_parameter([1], name="state_dict_doc")
        >>> momentum = paddle.optimizer.Momentum(0.1, parameters=[w])
        >>> w.sum().backward()
        >>> momentum.step()
        >>> list(momentum.state_dict())
        ['state_dict_doc_velocity_0']
        """
        from autograd_engine.optimizer.state_dict import state_dict

        return state_dict(self)

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from where `state_dict` was called.

        Parameters of which there is no state start anew.

        Parameters
        ----------
        state_dict : dict
            Values are Tensors or arrays.

        Raises
        ------
        ArgumentError
            For names that are nothing of this optimizer's, or missing, and arrays that do not
            fit; the first ten are listed. Nothing is changed then.
        """
        from autograd_engine.optimizer.state_dict import set_state_dict

        set_state_dict(self, state_dict)

    load_state_dict = set_state_dict


def _names(no_grad_set: Any) -> set[str]:
    if no_grad_set is None:
        return set()
    if not isinstance(no_grad_set, (set, frozenset, list, tuple)):
        raise ArgumentTypeError(
            "minimize: no_grad_set must be a set of Tensors or names, got "
            f"{type(no_grad_set).__name__}"
        )
    return {v if isinstance(v, str) else v.name for v in no_grad_set}


def _checked_pairs(params_grads: Any) -> list[ParamGrad]:
    """Parameters with gradients that an update can take."""
    if not isinstance(params_grads, (list, tuple)):
        raise ArgumentTypeError(
            "apply_gradients: params_grads must be a list of (parameter, gradient) pairs, got "
            f"{type(params_grads).__name__}"
        )
    for k, pair in enumerate(params_grads):
        where = f"apply_gradients: params_grads[{k}]"
        check_pair(where, pair)
        if isinstance(pair[0], Tensor) is not isinstance(params_grads[0][0], Tensor):
            raise NotATensorError(f"{where}: Tensors and Variables are updated by separate calls")
    check_distinct("apply_gradients: params_grads", [p for p, _ in params_grads])
    return list(params_grads)
