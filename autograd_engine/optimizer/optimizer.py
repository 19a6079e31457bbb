"""What all optimizers share: state by parameter, eager steps, and operators in a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from autograd_engine import unique_name
from autograd_engine.eager.sparse import RowSparse, held_by_one
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    BuildError,
    DTypeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.parameters import persistable_variable
from autograd_engine.registry import REGISTRY
from autograd_engine.source import caller
from autograd_engine.spec import Spec, format_shape
from autograd_engine.static.backward import append_backward
from autograd_engine.static.builder import append_operator, emitting, restored_on_error, spec_of
from autograd_engine.static.program import (
    Operator,
    Program,
    Ref,
    Variable,
    default_startup_program,
    program_guard,
)

__all__ = ["Optimizer"]

Array = NDArray[Any]
ParamGrad = tuple[Variable, Variable]


class Optimizer:
    """Base of the optimizers.

    A subclass names its operation and the state that the operation takes and returns, in order;
    nothing else differs between optimizers, nor between modes.

    Attributes
    ----------
    operation : str
        Name in the table; inputs ``param grad learning_rate *state``.
    state : dict of str to (bool, callable)
        For each state array: whether it has the parameter's shape (or is 0-d), and its initial
        value from the attributes.
    """

    operation: ClassVar[str]
    state: ClassVar[dict[str, tuple[bool, Callable[[dict[str, Any]], float]]]] = {}

    def __init__(
        self, learning_rate: float = 0.001, parameters: Sequence[Tensor] | None = None
    ) -> None:
        self._check_rate(learning_rate)
        self._learning_rate = float(learning_rate)
        self._parameters = self._checked_parameters(parameters)
        self._eager_state: dict[int, list[Array]] = {}

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes of the operation."""
        return {}

    # --- learning rate

    @staticmethod
    def _check_rate(value: Any) -> None:
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise TypeError(f"learning rate should be float, got {type(value).__name__}")

    def _check_decay(self, name: str, value: Any) -> float:
        """A number in [0, 1), as moving averages decay with."""
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            raise TypeError(f"{type(self).__name__}: {name} must be a number, got {value!r}")
        if not 0 <= value < 1:
            raise ArgumentError(f"{type(self).__name__}: {name} must be in [0, 1), got {value}")
        return float(value)

    def get_lr(self) -> float:
        """The learning rate."""
        return self._learning_rate

    def set_lr(self, value: float) -> None:
        """Set the learning rate of the steps to come (in programs: of those built from here)."""
        self._check_rate(value)
        self._learning_rate = float(value)

    # --- eager mode

    @staticmethod
    def _checked_parameters(parameters: Any) -> list[Tensor] | None:
        if parameters is None:
            return None
        if isinstance(parameters, (Tensor, Variable, str)) or not hasattr(parameters, "__iter__"):
            raise NotATensorError(
                f"parameters must be a list of Tensors, got {type(parameters).__name__}; write "
                "[parameter]"
            )
        found = list(parameters)
        for k, p in enumerate(found):
            if not isinstance(p, (Tensor, Variable)):
                raise NotATensorError(f"parameters[{k}] must be a Tensor, got {type(p).__name__}")
        _check_distinct("parameters", found)
        return found

    def _eager_parameters(self) -> list[Tensor]:
        if self._parameters is None:
            raise ArgumentError(
                f"{type(self).__name__} has nothing to train: pass parameters=[...] in eager mode"
            )
        return self._parameters

    def step(self) -> None:
        """Update every parameter that has a gradient.

        Values are replaced, not written over: what a graph has saved stays as it was.
        """
        operation, attrs = REGISTRY[self.operation], self.attrs
        kernel, multiple = operation.kernel, operation.multiple
        rate: Any = None
        known = None
        for p in self._eager_parameters():
            grad = getattr(p, "_grad", None)
            if p._stop or grad is None:
                continue
            data = p._data
            if data.dtype is not known:
                known = data.dtype
                rate = np.asarray(self._learning_rate, known)
            if grad.__class__ is RowSparse and grad.is_selected_rows() and self._by_rows:
                del data
                self._update_rows(p, grad, rate)
            elif not multiple:
                new = kernel(data, grad._data, rate, **attrs)
                p._data = new if new.__class__ is np.ndarray else np.asarray(new)
            else:
                new, *state = kernel(data, grad._data, rate, *self._state_of(p), **attrs)
                key = id(p)
                # All or nothing, whatever interrupts: a parameter and its state belong together.
                p._data, self._eager_state[key] = new, state

    @property
    def _by_rows(self) -> bool:
        """Whether a gradient of which only some rows are there updates these rows alone."""
        return False

    def _update_rows(self, p: Tensor, grad: RowSparse, rate: Array) -> None:
        """Write the rows in place where nobody else can see the array, else in a copy of it."""
        if not held_by_one(p):
            p._data = p._data.copy()
        self._write_rows(p._data, *grad.merged(), rate, p)

    def _write_rows(self, data: Array, rows: Array, values: Array, rate: Array, p: Tensor) -> None:
        raise NotImplementedError

    def _state_of(self, p: Tensor) -> list[Array]:
        found = self._eager_state.get(id(p))
        if found is None:
            found = self._eager_state[id(p)] = [
                np.full(p._data.shape if shaped else (), initial(self.attrs), p._data.dtype)
                for shaped, initial in self.state.values()
            ]
        return found

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zeros, or to None."""
        at = caller()
        for p in self._eager_parameters():
            p._clear(set_to_zero, at)

    clear_gradients = clear_grad

    # --- both modes

    def minimize(
        self,
        loss: Any,
        startup_program: Program | None = None,
        parameters: Sequence[Any] | None = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Operator], list[tuple[Any, Any]]]:
        """In a program: append the backward half and the updates. Eagerly: one `step`.

        Eager mode expects ``loss.backward()`` to have been called.

        Returns
        -------
        (operators, [(parameter, gradient)])

        Raises
        ------
        NotATensorError, ShapeError
        """
        if isinstance(loss, Tensor):
            eager = [(p, p.grad) for p in self._eager_parameters() if p.grad is not None]
            self.step()
            return [], eager
        if startup_program is not None and not isinstance(startup_program, Program):
            raise TypeError(
                f"minimize: startup_program must be a Program, got {type(startup_program).__name__}"
            )
        startup = startup_program or default_startup_program()
        with restored_on_error(loss), startup.global_block().restored_on_error():
            pairs = self.backward(loss, startup_program, parameters, no_grad_set)
            with program_guard(loss.block.program, startup):
                return self.apply_gradients(pairs), pairs

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameters: Sequence[Any] | None = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[ParamGrad]:
        """Append the backward half; see `static.append_backward`."""
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
        chosen: Any = parameters if parameters is not None else self._parameters
        return append_backward(loss, chosen, no_grad_set, callbacks)

    def apply_gradients(self, params_grads: Sequence[ParamGrad]) -> list[Operator]:
        """Append an update operator for each pair, in the order of the parameters' names.

        Raises
        ------
        TypeError, NotATensorError, DTypeError, ShapeError, ArgumentError, BuildError
            When a pair is no parameter with its gradient. Nothing is appended then.
        """
        pairs = _checked_pairs(params_grads)
        startup = default_startup_program().global_block()
        with restored_on_error(*(p for p, _ in pairs)), startup.restored_on_error():
            return [
                self._append_update(p, g) for p, g in sorted(pairs, key=lambda pair: pair[0].name)
            ]

    def _append_update(self, param: Variable, grad: Variable) -> Operator:
        operation = REGISTRY[self.operation]
        rate = self._rate_variable(param)
        state = [
            self._state_variable(param, name, shaped, initial(self.attrs))
            for name, (shaped, initial) in self.state.items()
        ]
        written = [param, *state]
        operands = tuple(Ref(v, v.version) for v in (param, grad, rate, *state))
        inferred = operation.infer_tuple([spec_of(o) for o in operands], self.attrs)
        for v, spec in zip(written, inferred, strict=True):
            if v.spec != spec:  # a run would write it, and what reads it next was built for another
                raise BuildError(
                    f"{self.operation}: would write {spec} to {v.name}, which is {v.spec}"
                )
        with emitting(param.name, "optimize", caller()):
            results = tuple(v.write() for v in written)
            return append_operator(param.block, operation, operands, results, self.attrs)

    def _rate_variable(self, param: Variable) -> Variable:
        """One for each dtype and rate, kept by the program: they end together."""
        emitted, dtype = param.block.emitted, param.spec.dtype
        key = ("learning_rate", self, dtype, self._learning_rate)
        found: Variable | None = emitted.get(key)
        if found is None:
            name = unique_name.generate("learning_rate")
            spec = Spec((), dtype)
            found = persistable_variable(param.block, name, spec, self._learning_rate)
            emitted[key] = found
        return found

    def _state_variable(self, param: Variable, name: str, shaped: bool, value: float) -> Variable:
        spec = Spec(param.spec.shape if shaped else (), param.spec.dtype)
        full_name = unique_name.generate(f"{param.name}_{name}")
        return persistable_variable(param.block, full_name, spec, value)


def _check_distinct(argument: str, parameters: Iterable[Any]) -> None:
    """A parameter that is named twice would be updated twice from one gradient."""
    seen: set[int] = set()
    for p in parameters:
        if id(p) in seen:
            raise ArgumentError(f"{argument}: {p.name} is named twice; name each parameter once")
        seen.add(id(p))


def _checked_pairs(params_grads: Any) -> list[ParamGrad]:
    """Parameters with gradients that an update can take."""
    if not isinstance(params_grads, (list, tuple)):
        raise TypeError(
            "apply_gradients: params_grads must be a list of (parameter, gradient) pairs, got "
            f"{type(params_grads).__name__}"
        )
    for k, pair in enumerate(params_grads):
        _check_pair(f"apply_gradients: params_grads[{k}]", pair)
    _check_distinct("apply_gradients: params_grads", [p for p, _ in params_grads])
    return list(params_grads)


def _check_pair(where: str, pair: Any) -> None:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not isinstance(pair[0], Variable):
        raise NotATensorError(f"{where} must be a pair of Variables, got {pair!r}")
    param, grad = pair
    if grad is None:
        raise NotATensorError(f"{where}: the gradient of {param.name} is None; leave the pair out")
    if not isinstance(grad, Variable):
        raise NotATensorError(f"{where} must be a pair of Variables, got {pair!r}")
    if grad.block is not param.block:
        raise BuildError(f"{where}: {grad.name} belongs to another program than {param.name}")
    if not param.persistable:
        raise ArgumentError(
            f"{where}: {param.name} is not kept between runs, so nothing can train it; make it "
            "with create_parameter"
        )
    if param.spec.shape != grad.spec.shape:
        raise ShapeError(
            f"{where}: {param.name} is {format_shape(param.spec.shape)}, its gradient {grad.name} "
            f"{format_shape(grad.spec.shape)}; they must be equal"
        )
    if param.spec.dtype != grad.spec.dtype:
        raise DTypeError(
            f"{where}: {param.name} is {param.spec.dtype.name}, its gradient {grad.name} "
            f"{grad.spec.dtype.name}; cast it"
        )
