"""What all optimizers share: state by parameter, eager steps, and operators in a program."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from autograd_engine.core.checks import as_number, require_bools, require_type
from autograd_engine.core.described import describe
from autograd_engine.core.dtypes import BLAS_REALS, HALVES
from autograd_engine.core.far_array import FarArray, FarState
from autograd_engine.core.locations import caller
from autograd_engine.core.names.constructors import Given, Respelled, respelled
from autograd_engine.core.names.missing_names import answered
from autograd_engine.core.spec import Array, format_shape
from autograd_engine.eager.grad_mode import uncast
from autograd_engine.eager.row_sparse import RowSparse, held_by_one
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import follow, is_alone
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    ModeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.optimizer.checks import (
    check_distinct,
    check_pair,
    check_parameters,
    not_negative,
    nothing_to_train,
)
from autograd_engine.optimizer.groups import (
    Group,
    Hyper,
    State,
    check_clip,
    decay_of,
    decayed,
    groups_of,
    update_dtype,
)
from autograd_engine.optimizer.in_place import update_in_place
from autograd_engine.program.backward.append_backward import append_backward
from autograd_engine.program.builder import restored_on_error
from autograd_engine.program.ir.program import (
    Operator,
    Program,
    Variable,
    default_startup_program,
    program_guard,
)
from autograd_engine.program.mode import in_dynamic_mode

__all__ = ["Optimizer"]

_ndarray = np.ndarray

# What only this object in this process can have.
_BY_IDENTITY = {"_group_of", "_eager_state", "_programs"}


def _are_listed(value: Any) -> bool:
    """Whether it looks like parameters."""
    return isinstance(value, (list, tuple, Tensor)) or hasattr(value, "__next__")


_COMMON = {"learning_rate", "parameters", "weight_decay", "grad_clip", "name", "multi_precision"}


ParamGrad = tuple[Any, Any]


@respelled
class Optimizer(Respelled):
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
    multi_precision : bool
        Keep float16 parameters in float32 besides, and update these.

    Notes
    -----
    Of a complex parameter the two parts are updated, as two real ones: what is kept of it has a
    last axis for them.

    Attributes
    ----------
    operation : str
        Name in the table; inputs ``param grad learning_rate *state``.
    state : dict of str to State
    hyper : dict of str to Hyper
        By the names of the constructor's arguments.
    """

    operation: str
    state: ClassVar[dict[str, State]] = {}
    hyper: ClassVar[dict[str, Hyper]] = {}
    _master_grad = False

    if not TYPE_CHECKING:
        __getattr__ = answered("paddle.optimizer.Optimizer")

    @staticmethod
    def _reorder(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        """PyTorch's order: parameters first, then the rate."""
        told = [*args[1:], *(kwargs[name] for name in ("lr", "learning_rate") if name in kwargs)]
        listed = args and _are_listed(args[0]) and not isinstance(args[0], Tensor)
        if not listed or len(told) != 1:
            return args, kwargs
        return (), {**kwargs, "parameters": args[0]} | ({"lr": told[0]} if args[1:] else {})

    def __init__(
        self,
        learning_rate: Any = 0.001,
        parameters: Sequence[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        *,
        multi_precision: bool = False,
        hyper: dict[str, Any] | None = None,
    ) -> None:
        owner = type(self).__name__
        self._learning_rate = self._checked_rate(learning_rate)
        self._rate_was_set = False
        self._decay = decay_of(owner, weight_decay)
        self._grad_clip = check_clip(owner, grad_clip)
        require_bools(owner, multi_precision=multi_precision)
        self._multi_precision = multi_precision
        self._name = name
        self._hyper = hyper or {}
        self._attrs = self._attributes(**self._hyper)
        self._groups = groups_of(self, parameters)
        self._default = Group(None, 1.0, self._decay, self._grad_clip, self._attrs)
        self._parameters: list[Any] | None
        if self._groups:
            self._parameters = [p for g in self._groups for p in g.params or ()]
        elif parameters is not None:
            self._parameters = check_parameters(parameters)
        else:
            self._parameters = None
            if in_dynamic_mode():
                raise nothing_to_train(owner)
        self._group_of = {id(p): g for g in self._groups for p in g.params or ()}
        # Where nothing but a limit is asked for besides the rule, a step does nothing besides.
        self._plain = not (self._groups or self._decay or multi_precision)
        self._eager_state: dict[int, list[Array]] = {}
        self._programs: weakref.WeakSet[Program] = weakref.WeakSet()  # that it has updates in

    def _configure(self, told: Mapping[str, Any]) -> None:
        """Set up from the arguments of a constructor, by their names."""
        common = {name: told[name] for name in told.keys() & (_COMMON - self.hyper.keys())}
        Optimizer.__init__(self, **common, hyper={name: told[name] for name in self.hyper})

    def _attributes(self, **given: Any) -> dict[str, Any]:
        """Attributes of the operation from the settings of the constructor, checked."""
        owner = type(self).__name__
        return {
            row.attribute or name: row.check(owner, name, given[name])
            for name, row in self.hyper.items()
        }

    def __repr__(self) -> str:
        told = {"weight_decay": self._decay, **self._hyper}
        return describe(self, parameters=self._parameters, **told)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: the state of a parameter beside the parameter itself."""
        kept = {name: v for name, v in vars(self).items() if name not in _BY_IDENTITY}
        known = [(p, self._known_state(p)) for p in self._parameters or ()]
        kept["states"] = [(p, state) for p, state in known if state is not None]
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        states = kept.pop("states")
        vars(self).update(kept)
        self._group_of = {id(p): g for g in self._groups for p in g.params or ()}
        self._eager_state = {id(p): state for p, state in states}
        self._programs = weakref.WeakSet()

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes of the operation."""
        return dict(self._attrs)

    # --- what holds for one parameter

    def _group(self, p: Any) -> Group:
        return self._group_of.get(id(p), self._default)

    def _attrs_of(self, p: Any, group: Group) -> dict[str, Any]:
        return group.attrs

    def _rate_factor(self, p: Any, group: Group) -> float:
        """What the learning rate is multiplied with."""
        options = getattr(p, "_options", None)
        if options is None:
            return group.factor
        return group.factor * float(options.optimize_attr.get("learning_rate", 1.0))

    @staticmethod
    def _decay_of(p: Any, group: Group) -> Any:
        """The regularizer of `p`: its own, else that of its group."""
        options = getattr(p, "_options", None)
        own = None if options is None else options.regularizer
        return group.decay if own is None else own

    def _has_master(self, dtype: np.dtype[Any]) -> bool:
        return self._multi_precision and dtype in HALVES

    # --- learning rate

    def _checked_rate(self, value: Any) -> Any:
        """A number, or a scheduler."""
        value, owner = as_number(value), type(self).__name__
        if not isinstance(value, bool) and isinstance(value, (int, float)):
            return not_negative(owner, "learning_rate", value)
        from autograd_engine.optimizer.lr import LRScheduler

        if isinstance(value, LRScheduler):
            return value
        listed = _are_listed(value)
        raise ArgumentTypeError(
            f"{owner}: learning_rate must be a float or an LRScheduler, got "
            f"{type(value).__name__}; write learning_rate=0.001"
            f"{', parameters=[...]' if listed else ''}"
        )

    def get_lr(self) -> float:
        """The learning rate of the next step.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> paddle.optimizer.SGD(0.5, parameters=[paddle.ones([1])]).get_lr()
        0.5
        """
        rate = self._learning_rate
        return rate if rate.__class__ is float else float(rate())

    def set_lr(self, value: float) -> None:
        """Set the learning rate of the steps to come, also in programs that were built before.

        Raises
        ------
        TypeError
        ArgumentError
            When it is negative, or not finite.
        ModeError
            When a scheduler says what the rate is.
        """
        rate = self._checked_rate(value)
        if rate.__class__ is not float:
            raise ArgumentTypeError("set_lr takes a number; use set_lr_scheduler for a scheduler")
        if self._learning_rate.__class__ is not float:
            raise ModeError(
                f"set_lr: {type(self._learning_rate).__name__} says what the learning rate is; "
                "step the scheduler, or make an optimizer with a number"
            )
        self._learning_rate, self._rate_was_set = rate, True

    def set_lr_scheduler(self, scheduler: Any) -> None:
        """Let `scheduler` say what the learning rate is from here on, also in programs.

        Parameters
        ----------
        scheduler : LRScheduler

        Raises
        ------
        TypeError
        """
        rate = self._checked_rate(scheduler)
        if rate.__class__ is float:
            raise ArgumentTypeError(
                "set_lr_scheduler takes an LRScheduler; use set_lr for a number"
            )
        self._learning_rate = rate

    def _supplied_rate(self) -> float | None:
        """What a program is told before each run; None leaves to it what its scope has."""
        if self._learning_rate.__class__ is float and not self._rate_was_set:
            return None
        return self.get_lr()

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
        pairs: Sequence[ParamGrad] = self._trained()
        if not self._plain:
            self._update_all(pairs)
            return
        if self._grad_clip is not None:
            pairs = self._grad_clip(pairs)
        pairs = update_in_place(self, pairs)
        operation, attrs = REGISTRY[self.operation], self._attrs
        kernel: Any = None
        multiple = operation.multiple
        rate: Any = None
        known = None
        for p, grad in pairs:
            if getattr(p, "_options", None) is not None:
                self._update(p, grad)
                continue
            data = p._data
            if data.dtype is not known:
                known = data.dtype
                rate = np.asarray(self.get_lr(), update_dtype(known))
                # A gradient has the dtype of its parameter.
                kernel = operation.direct if known in BLAS_REALS else operation.kernel
            if grad.__class__ is RowSparse and grad.is_selected_rows() and self._by_rows:
                del data
                self._update_rows(p, grad, rate, attrs)
            elif not multiple:
                # Without names to hand over, a call takes half the time.
                g = grad._data
                new = kernel(data, g, rate, **attrs) if attrs else kernel(data, g, rate)
                p._data = new if new.__class__ is _ndarray else np.asarray(new)
                if p.__weakref__ is not None:  # as where it shares its values
                    follow(p)
            else:
                new, *state = kernel(data, grad._data, rate, *self._state_of(p), **attrs)
                key = id(p)
                # All or nothing, whatever interrupts: a parameter and its state belong together.
                p._data, self._eager_state[key] = new, state
                if p.__weakref__ is not None:  # as where it shares its values
                    follow(p)

    def _trained(self) -> list[ParamGrad]:
        """The parameters that have a gradient, each with it."""
        return [
            (p, grad)
            for p in self._eager_parameters()
            if not p._stop and (grad := getattr(p, "_grad", None)) is not None
        ]

    def _update_all(self, pairs: Sequence[ParamGrad]) -> None:
        """Clip the gradients of each group, then update."""
        for p, grad in self._clipped(pairs):
            self._update(p, grad)

    def _clipped(self, pairs: Sequence[ParamGrad]) -> list[ParamGrad]:
        """Each group is clipped by itself, in the order of its parameters, in either mode."""
        found = list(pairs)
        if self._master_grad:
            found = [(p, self._widened(p, g)) for p, g in found]
        for group in self._groups or [self._default]:
            if group.clip is not None:
                where = [k for k, (p, _) in enumerate(found) if self._group(p) is group]
                new = group.clip([found[k] for k in where])
                for k, pair in zip(where, new, strict=True):
                    found[k] = pair
        return found

    def _widened(self, p: Any, grad: Any) -> Any:
        """The gradient in the dtype of the master weight."""
        dtype = p._data.dtype if isinstance(p, Tensor) else p.spec.dtype
        if not self._has_master(dtype):
            return grad
        return uncast(ops.cast)(grad, dtype="float32")

    def keep_masters(self, master_grad: bool = False) -> None:
        """Keep a float32 copy of each parameter of 16 bits from here on, and update that.

        Parameters
        ----------
        master_grad : bool
            Cast gradients of these to float32 before they are clipped.
        """
        self._multi_precision, self._plain = True, False
        self._master_grad = master_grad
        for p in self._parameters or ():
            state = self._eager_state.get(id(p)) and self._state_of(p)
            if (
                state is not None
                and len(state) == len(self.state)
                and self._has_master(p._data.dtype)
            ):
                self._eager_state[id(p)] = [*state, p._data.astype(np.float32)]

    def _update(self, p: Tensor, grad: Any) -> None:
        """The update of one parameter, whatever is asked for besides the rule."""
        group = self._group(p)
        attrs, decay = self._attrs_of(p, group), self._decay_of(p, group)
        master = self._has_master(p._data.dtype)
        rate: Any = np.asarray(self.get_lr(), update_dtype(p._data.dtype))
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
            values = decayed(decay, raw, p._data, values)
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
            new = np.asarray(raw.cast(new, dtype=p._data.dtype.name))
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
        elif found.__class__ is FarState:
            found = self._eager_state[id(p)] = found.copied()
        return found

    def _state_where_it_is(self, p: Tensor) -> Sequence[Array | FarArray]:
        """The same, for who takes arrays that are far."""
        found = self._eager_state.get(id(p))
        return self._state_of(p) if found is None else found

    def _known_state(self, p: Tensor) -> list[Array] | None:
        """The same, if there is any, to be read alone."""
        found = self._eager_state.get(id(p))
        return found.copied() if found.__class__ is FarState else found

    def _initial_state(self, p: Tensor) -> list[Array]:
        data, rate = p._data, self.get_lr()
        master = self._has_master(data.dtype)
        attrs = self._attrs_of(p, self._group(p))
        found = []
        for state in self.state.values():
            spec = state.spec(data.shape, data.dtype, attrs)
            found.append(np.full(spec.shape, state.first(attrs, rate), spec.dtype))
        return [*found, data.astype(np.float32)] if master else found

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zeros, or to None."""
        at = caller()
        for p in self._eager_parameters():
            if set_to_zero:
                p._clear(True, at)
            elif getattr(p, "_grad", None) is not None:
                p._grad, p._cleared = None, at

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
        require_type(startup_program, Program | None, "minimize: startup_program must be a Program")
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
                (p, grad)
                for p, grad in self._trained()
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
        pairs = _checked_pairs(params_grads, self._multi_precision)
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


def _checked_pairs(params_grads: Any, masters: bool) -> list[ParamGrad]:
    """Parameters with gradients that an update can take."""
    if not isinstance(params_grads, (list, tuple)):
        raise ArgumentTypeError(
            "apply_gradients: params_grads must be a list of (parameter, gradient) pairs, got "
            f"{type(params_grads).__name__}"
        )
    for k, pair in enumerate(params_grads):
        where = f"apply_gradients: params_grads[{k}]"
        check_pair(where, pair, masters)
        if isinstance(pair[0], Tensor) is not isinstance(params_grads[0][0], Tensor):
            raise NotATensorError(f"{where}: Tensors and Variables are updated by separate calls")
    check_distinct("apply_gradients: params_grads", [p for p, _ in params_grads])
    return list(params_grads)
