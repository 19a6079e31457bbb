"""A training step inside of a traced function: `backward`, the optimizer's `step`, `clear_grad`.

Gradients, and what an optimizer keeps for each parameter, are inputs and results of the program
that no argument and no Tensor of the function's holds: slots. Updates are those that `minimize`
appends to a program. When the program has run, leaves get their gradients and values, and the
optimizer what it keeps, as if each call had been made eagerly.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from autograd_engine.autograd.backward_pass import settled
from autograd_engine.core.dtypes import FLOAT32
from autograd_engine.core.far_array import FarArray, FarState
from autograd_engine.core.locations import Location, caller
from autograd_engine.core.spec import Array, Spec
from autograd_engine.eager.far_tensor import content, place, wrapped
from autograd_engine.eager.row_sparse import RowSparse
from autograd_engine.eager.tensor import Parameter as EagerParameter, Tensor
from autograd_engine.eager.views import follow
from autograd_engine.errors import BuildError
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.program.backward.append_backward import gradients
from autograd_engine.program.control_flow.cond import cond
from autograd_engine.program.ir.block import unused_name
from autograd_engine.program.ir.program import Block, Ref, Variable

if TYPE_CHECKING:
    from autograd_engine.jit.tracing import Trace
    from autograd_engine.optimizer.optimizer import Optimizer

__all__ = ["STATES", "Slot", "Training", "TrainingCall", "index_of"]

NONE: Final = "none"
CLEARED: Final = "cleared"
GIVEN: Final = "given"
WIDER: Final = "given in float32"  # that of a parameter of 16 bits
# What calls ask of leaves: which kind of gradient one has, and whether it has a history.
_GRADIENT: Final = "kind of gradient"
_LEAF: Final = "history"
STATES: Final = frozenset({_GRADIENT, _LEAF})


class Slot(NamedTuple):
    """An input of the program that is read anew for each call.

    `read` gives its array for the Tensors of a call; where `state` is (optimizer, parameter), all
    that the one keeps for the other, of which the first slot of them reads all.
    """

    var: Variable
    read: Callable[[Sequence[Tensor]], Any]
    state: tuple[Optimizer, Tensor] | None = None


@dataclass(eq=False, slots=True)
class _Gradient:
    """The gradient of one leaf, while the function is traced.

    Attributes
    ----------
    tensor : Tensor
    position : int or None
        Of an argument which it is: each call has a Tensor of its own there.
    began : {"none", "cleared", "given", "given in float32"}
        What it is before a call. One that an earlier call has cleared is known to be zeros.
    value : Variable or None
        What it is now.
    zeros : Variable or None
        What it was cleared to.
    of_rows : bool
        Whether the last one was sparse.
    cleared : Location or None
        Where it was set to zeros or None, if nothing has come since.
    touched : bool
    """

    tensor: Tensor
    position: int | None
    began: str
    value: Variable | None
    zeros: Variable | None = None
    of_rows: bool = False
    cleared: Location | None = None
    touched: bool = False


class _Update(NamedTuple):
    """What an optimizer has updated: the parameter, and what it keeps for it."""

    optimizer: Optimizer
    tensor: Tensor
    var: Variable
    state: list[Variable]


# Zeros that a call has put in the place of a gradient, and that nobody can write to.
_zeros: Final[weakref.WeakValueDictionary[int, Array]] = weakref.WeakValueDictionary()


def _kind(tensor: Tensor) -> str:
    """What the gradient of a leaf is before a call."""
    grad = getattr(tensor, "_grad", None)  # not by the attribute, which a trace guards
    if grad is None:
        return NONE
    if isinstance(grad, RowSparse) and grad.scattered is not None:
        return CLEARED if not grad.scattered.parts and grad.scattered.base is None else GIVEN
    data = content(grad)
    if _zeros.get(id(data)) is data:
        return CLEARED
    return GIVEN if data.dtype == content(tensor).dtype else WIDER


def _cleared(tensor: Tensor, of_rows: bool) -> Tensor:
    data = content(tensor)
    like = Spec(data.shape, data.dtype)
    if of_rows:
        return RowSparse(Scattered(REGISTRY["scatter_add_like"], raw, like, []))
    array = np.zeros(like.shape, like.dtype)
    array.flags.writeable = False
    _zeros[id(array)] = array
    return Tensor._leaf(array)


class Training:
    """What a trace knows of gradients and optimizers."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.slots: list[Slot] = []
        self.gradients: dict[int, _Gradient] = {}
        self.updates: dict[tuple[int, int], _Update] = {}
        self.settings: list[tuple[Optimizer, Any]] = []

    # --- gradients

    def gradient(self, tensor: Tensor) -> _Gradient:
        """That of a leaf, as it is at this point of the function."""
        found = self.gradients.get(id(tensor))
        if found is None:
            began, position = _kind(tensor), self.trace.position(tensor)
            value: Any = None
            if began == CLEARED:
                value = ops.zeros_like(self.trace.stands_for(tensor))
            elif began in (GIVEN, WIDER):
                data = content(tensor)
                spec = Spec(data.shape, data.dtype if began == GIVEN else FLOAT32)
                value = self._slot(
                    f"{tensor.name}_grad", spec, functools.partial(_gradient_at, tensor, position)
                )
            if value is not None:
                value.stop_gradient = True
            found = self.gradients[id(tensor)] = _Gradient(tensor, position, began, value)
            found.zeros = value if began == CLEARED else None
            self.trace.attributes[id(tensor), _GRADIENT] = (tensor, _kind, began)
        return found

    def backward(self, loss: Variable, grad_tensor: Any = None, retain_graph: bool = False) -> None:
        """``loss.backward()``"""
        trace = self.trace
        self._check_block("backward()")
        loss = trace.latest(loss)
        if loss.stop_gradient:
            raise BuildError(
                f"{trace.name}: backward() at {caller()}: {loss.name} requires no gradient: "
                "nothing that it is computed from does"
            )
        leaves = self._leaves()
        seed = None if grad_tensor is None else [trace.latest(grad_tensor)]
        found = gradients([loss], [var for _, var in leaves], seed)
        for (tensor, _), g in zip(leaves, found, strict=True):
            if g is None:
                continue
            self._check_leaf(tensor)
            mine = self.gradient(tensor)
            old = None if mine.value is None else trace.latest(mine.value)
            # Rows that are added to zeros stay rows, and a lazy optimizer updates no others.
            of_rows = _of_rows(trace.block, g)
            total = g if old is None or (of_rows and old is mine.zeros) else ops.add(old, g)
            mine.of_rows = of_rows and total is g
            total.stop_gradient = True
            mine.value, mine.cleared, mine.touched = total, None, True

    def _leaves(self) -> list[tuple[Tensor, Variable]]:
        """What the function is given and finds, and requires a gradient."""
        trace = self.trace
        known = [*trace.arguments(), *((c.tensor, c.var) for c in trace.captured)]
        return [(t, v) for t, v in known if not v.stop_gradient]

    def _check_leaf(self, tensor: Tensor) -> None:
        name = self.trace.name
        if tensor._node is not None:
            raise BuildError(
                f"{name}: backward() inside of a traced function stops at its beginning, and "
                f"{tensor.name}, which it is given, has a history outside: compute it inside, give "
                "it detached, or return the loss and call .backward() on it"
            )
        if getattr(tensor, "_hooks", None):
            raise BuildError(
                f"{name}: {tensor.name} has hooks, and backward() inside of a traced function runs "
                "none: return the loss and call .backward() on it"
            )
        if self.trace.position(tensor) is not None:  # so must be what other calls are given
            self.trace.attributes[id(tensor), _LEAF] = (tensor, _is_plain_leaf, True)

    def clear(self, tensor: Tensor, set_to_zero: bool, at: Location) -> None:
        """``tensor.clear_gradient()``"""
        self._check_block("clear_grad()")
        mine = self.gradient(tensor)
        if mine.value is None:
            return
        mine.value = None
        if set_to_zero:
            mine.value = mine.zeros = ops.zeros_like(self.trace.stands_for(tensor))
            mine.value.stop_gradient = True
        mine.cleared, mine.touched = at, True

    # --- optimizers

    def _trained(self, optimizer: Optimizer) -> list[tuple[Tensor, _Gradient]]:
        """The parameters that have a gradient, each with it."""
        known = [(p, self.gradient(p)) for p in optimizer._eager_parameters() if not p._stop]
        return [(p, mine) for p, mine in known if mine.value is not None]

    def exchange_gradients(
        self, optimizer: Optimizer, exchange: Callable[[Tensor, Variable], Variable]
    ) -> None:
        """Let ``exchange(p, g)`` be the gradient of each parameter that has one."""
        self._check_block("unscale_()")
        for p, mine in self._trained(optimizer):
            mine.value = exchange(p, self.trace.latest(mine.value))
            mine.value.stop_gradient = True
            mine.cleared, mine.of_rows, mine.touched = None, False, True

    def step(self, optimizer: Optimizer, unless: Variable | None = None) -> None:
        """``optimizer.step()``, for runs in which `unless` does not hold."""
        from autograd_engine.optimizer.minimize import append_each

        self._check_block("step()")
        pairs = []
        trained: list[tuple[Tensor, Variable]] = []
        for p, mine in self._trained(optimizer):
            g = self.trace.latest(mine.value)  # it may have been written to, by a limit
            var = self.trace.variable(p)
            if self.trace.latest(p) is not var:
                raise BuildError(
                    f"{self.trace.name}: {p.name} is written to before step() updates it, inside "
                    "of a traced function; write to it outside, or after step()"
                )
            trained.append((p, var))
            pairs.append((var, g))
        if not pairs:
            return
        self._watch(optimizer)
        groups = {id(var): optimizer._group(p) for p, var in trained}
        optimizer._group_of.update(groups)
        try:
            state = {id(p): self._keep(optimizer, p, var) for p, var in trained}
            if unless is None:
                append_each(optimizer, pairs, self.trace.block)
            else:
                program = self.trace.program
                cond(
                    ops.logical_not(unless),
                    lambda: append_each(optimizer, pairs, program.current_block()),
                )
        finally:
            for key in groups:
                del optimizer._group_of[key]
        for p, var in trained:
            self.updates[id(optimizer), id(p)] = _Update(optimizer, p, var, state[id(p)])

    def _keep(self, optimizer: Optimizer, p: Tensor, var: Variable) -> list[Variable]:
        """Slots for what an update of `p` reads, in the places where it looks for variables."""
        emitted = self.trace.block.emitted
        if isinstance(p, EagerParameter) and getattr(p, "_options", None) is not None:
            var._options = p._options  # type: ignore[attr-defined]
        names = list(optimizer.state)
        dtype = content(p).dtype
        master = optimizer._has_master(dtype)
        if master:
            dtype = np.dtype(np.float32)
        rate = ("learning_rate", optimizer, dtype)
        if rate not in emitted:
            emitted[rate] = self._slot(
                "learning_rate", Spec((), dtype), _rate_of(optimizer, dtype)
            )
        found = []
        arrays = optimizer._state_where_it_is(p)
        for k, name in enumerate([*names, "master"] if master else names):
            key = ("optimizer_state", optimizer, var, name)
            if key not in emitted:
                spec = Spec(arrays[k].shape, arrays[k].dtype)
                read = functools.partial(_state_at, optimizer, p)
                emitted[key] = self._slot(f"{p.name}_{name}", spec, read, (optimizer, p))
            found.append(emitted[key])
        return found

    def _watch(self, optimizer: Optimizer) -> None:
        """Settings of an optimizer are part of the program, but for the learning rate."""
        if all(o is not optimizer for o, _ in self.settings):
            self.settings.append((optimizer, _settings_of(optimizer)))

    # ---

    def _slot(
        self,
        name: str,
        spec: Spec,
        read: Callable[[Sequence[Tensor]], Any],
        state: tuple[Optimizer, Tensor] | None = None,
    ) -> Variable:
        block = self.trace.block
        var = Variable(block, unused_name(block, name), spec, stop_gradient=True, persistable=True)
        block.add_var(var)
        self.slots.append(Slot(var, read, state))
        return var

    def _check_block(self, call: str) -> None:
        program = self.trace.program
        if program.current_block() is not program.global_block():
            raise BuildError(
                f"{self.trace.name}: {call} at {caller()} is inside a branch or loop of the "
                "function that is traced; call it outside of that"
            )


def index_of(values: list[Variable], value: Variable) -> int:
    """Where a value is in a list, at whose end it is put if it is not there."""
    for k, known in enumerate(values):
        if known is value:
            return k
    values.append(value)
    return len(values) - 1


def _of_rows(block: Block, gradient: Variable) -> bool:
    """Whether it is that of a table, of which some rows were looked up with ``sparse=True``."""
    for made in reversed(block.ops):
        if any(r.var is gradient for r in made.results):
            if made.op.name == "add_n":
                return all(isinstance(o, Ref) and _of_rows(block, o.var) for o in made.operands)
            return made.op.name == "gather_grad" and made.attrs.get("sparse") is True
    return False


def _gradient_at(
    tensor: Tensor, position: int | None, given: Sequence[Tensor]
) -> Array | FarArray:
    grad = (tensor if position is None else given[position]).grad
    assert grad is not None
    return content(grad)


def _state_at(
    optimizer: Optimizer, p: Tensor, _: Sequence[Tensor]
) -> Sequence[Array | FarArray]:
    return optimizer._state_where_it_is(p)


def _rate_of(optimizer: Optimizer, dtype: np.dtype[Any]) -> Callable[[Sequence[Tensor]], Array]:
    """The learning rate, the same array as long as it is the same number."""
    last: list[Any] = [None, None]

    def read(_: Sequence[Tensor]) -> Array:
        value = optimizer.get_lr()
        known, array = last
        if array is None or value != known:
            array = np.array(value, dtype)
            last[:] = value, array
        found: Array = array
        return found

    return read


def _is_plain_leaf(tensor: Tensor) -> bool:
    return tensor._node is None and not getattr(tensor, "_hooks", None)


def _settings_of(optimizer: Optimizer) -> Any:
    """What an update depends on besides the learning rate; equal where a program may serve."""
    parameters = optimizer._eager_parameters()
    groups = [*optimizer._groups, optimizer._default]
    return (
        (optimizer._multi_precision, optimizer._master_grad),
        list(map(id, parameters)),
        [(g.factor, dict(g.attrs), id(g.decay), id(g.clip)) for g in groups],
        [_options_of(p) for p in parameters if getattr(p, "_options", None) is not None],
    )


def _options_of(parameter: Any) -> Any:
    options = parameter._options
    return id(parameter), dict(options.optimize_attr), id(options.regularizer), options.need_clip


class TrainingCall:
    """What a call does besides running the program: slots, gradients, updates.

    Attributes
    ----------
    slots : list of Slot
    results : list of Variable
        What it asks of the program.
    """

    def __init__(self, training: Training) -> None:
        self.slots = training.slots
        self.settings = training.settings
        self.results: list[Variable] = []
        owners = [None if s.state is None else tuple(map(id, s.state)) for s in self.slots]
        self._reads = [
            (s.read, s.state is not None)
            for k, s in enumerate(self.slots)
            if s.state is None or k == 0 or owners[k] != owners[k - 1]
        ]
        self._updates: list[tuple[_Update, int, list[int]]] = []
        self._gradients: list[tuple[_Gradient, int | None]] = []
        for update in training.updates.values():
            places = [index_of(self.results, v) for v in (update.var, *update.state)]
            self._updates.append((update, places[0], places[1:]))
        for mine in training.gradients.values():
            value = None if mine.value is None else training.trace.latest(mine.value)
            if not mine.touched and value is mine.value:
                continue
            at = None
            if value is not None and mine.cleared is None:
                at = index_of(self.results, value)
            self._gradients.append((mine, at))

    def serves(self) -> bool:
        """Whether the optimizers are told what they were when the function was traced."""
        return all(_settings_of(o) == known for o, known in self.settings)

    def arrays(self, given: Sequence[Tensor]) -> list[Array | FarArray]:
        """What slots hold for a call with these Tensors."""
        found: list[Array | FarArray] = []
        for read, many in self._reads:
            if many:
                found += read(given)
            else:
                found.append(read(given))
        return found

    def write(self, given: Sequence[Tensor], values: Sequence[Array | FarArray]) -> None:
        """Leaves, and what optimizers keep, as the program has left them."""
        for update, where, state in self._updates:
            key = id(update.tensor)
            kept = update.optimizer._eager_state
            value = values[where]
            new = [values[k] for k in state]
            if value.__class__ is np.ndarray:
                # A parameter and its state belong together, whatever interrupts.
                update.tensor._data, kept[key] = value, new  # type: ignore[assignment]
            else:  # nothing interrupts
                place(update.tensor, value)
                kept[key] = FarState(new)
            follow(update.tensor)
        for mine, at in self._gradients:
            tensor = mine.tensor if mine.position is None else given[mine.position]
            if at is not None:
                value = values[at]
                tensor._grad = wrapped(value if isinstance(value, FarArray) else settled(value))
                tensor._grad._stop = False
            elif mine.value is None:
                tensor._grad = None
            elif _kind(tensor) != CLEARED:
                tensor._grad = _cleared(tensor, mine.of_rows)
            if mine.cleared is not None:
                tensor._cleared = mine.cleared
                if tensor._grad is not None:
                    tensor._grad._cleared = mine.cleared
