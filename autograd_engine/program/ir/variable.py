"""Variables of programs, and what operators read: variables in their versions, and numbers.

A variable may be written more than once (an optimizer's update writes its parameter). Every
operand therefore names the version that it reads, and an executor keeps each version apart:
what is built after an update can still ask for the value from before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex, TypeAlias

import numpy as np

from autograd_engine.core.above import above
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import FLOATS, REALS, DType, as_dtype
from autograd_engine.core.names.missing_names import answers, missing_text
from autograd_engine.core.size import ElementCount, OpenSize
from autograd_engine.core.spec import Spec, ValueSpec, without_value
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.training_options import Trained, TrainingOptions
from autograd_engine.errors import ArgumentError, BuildError, EagerOnlyError, ModeError
from autograd_engine.program import mode

if TYPE_CHECKING:
    from autograd_engine.program.ir.block import Block
    from autograd_engine.program.ir.declared import VariableMethods
else:  # what is bound to Variable is declared in a stub
    from autograd_engine.core.operand import Operand as VariableMethods

__all__ = ["Key", "Literal", "OperandRef", "Parameter", "Ref", "Variable", "not_copied"]

Key: TypeAlias = tuple[str, int]  # the name of a variable, and which of its versions


class Variable(VariableMethods):
    """A value of a program, known by its name, shape and dtype.

    Attributes
    ----------
    name : str
    shape : tuple of int
        -1 where the size is not known.
    stop_gradient : bool
        True where no gradient flows.
    persistable : bool
        Kept in the scope between runs.
    declared : bool
        Made by `Block.create_var`, or `create_tensor`, and neither written nor read so far: who
        writes it first decides on shape and dtype; who reads it first makes it one that is fed.
    is_stack : bool
        When the program runs it is a list of arrays, one for each iteration of a loop; the first
        size of its shape is their number.
    """

    __slots__ = (
        "block",
        "declared",
        "hooks",
        "is_data",
        "is_stack",
        "name",
        "persistable",
        "spec",
        "stop_gradient",
        "version",
    )

    __hash__ = object.__hash__

    def __init__(
        self,
        block: Block,
        name: str,
        spec: Spec,
        *,
        stop_gradient: bool = False,
        persistable: bool = False,
        is_data: bool = False,
    ) -> None:
        self.block = block
        self.name = name
        self.spec = without_value(spec)  # which is that of what it is first
        self.stop_gradient = stop_gradient
        self.persistable = persistable
        self.is_data = is_data
        self.declared = False
        self.is_stack = False
        self.version = 0
        self.hooks: dict[int, Any] | None = None  # of its gradient, by version

    @property
    def shape(self) -> OpenSize:
        return OpenSize(-1 if isinstance(d, Dim) else d for d in self.spec.shape)

    @property
    def dtype(self) -> DType:
        return as_dtype(self.spec.dtype)

    @property
    def ndim(self) -> int:
        return len(self.spec.shape)

    @property
    def size(self) -> Any:
        """As of a tensor; where a size is not known, a variable that holds the number."""
        if not any(isinstance(d, Dim) for d in self.spec.shape):
            return ElementCount(self.shape)
        from autograd_engine.ops.registry.namespace import ops

        made: Any = ops.numel(self)
        made.__class__ = _CountOfElements
        return made

    @property
    def grad_name(self) -> str:
        return f"{self.name}@GRAD"

    def seen_from(self, block: Block) -> Variable:
        """What stands for this variable in `block`: itself, or an argument of a block inside.

        Raises
        ------
        BuildError
            When it belongs to another program, or to the inside of a branch or loop that is over.
        """
        if self.block is block:
            return self
        parent = block.parent_idx
        if parent < 0:
            raise _out_of_sight(self, block)
        outer = self.seen_from(block.program.blocks[parent])
        return block.argument_for(Ref(outer, outer.version))

    def read_first(self) -> None:
        """Let a variable that is only declared be one that is fed, or read from the scope."""
        self.declared, self.is_data = False, not self.persistable
        self._undone(lambda: self._set(declared=True, is_data=False))

    def written_first(self, spec: Spec, stop_gradient: bool) -> Ref:
        """The first version, of what is only declared: what writes it says what it is."""
        before = self.stop_gradient
        self.take_spec(spec)
        self.stop_gradient |= stop_gradient
        self.declared = False
        self._undone(lambda: self._set(stop_gradient=before, declared=True))
        return Ref(self, 0)

    def take_spec(self, spec: Spec) -> None:
        """Let a variable have another shape and dtype, unless what is being done fails."""
        before = self.spec
        self.spec = spec
        self._undone(lambda: self._set(spec=before))

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    def _undone(self, step: Callable[[], None]) -> None:
        program = self.block.program
        if program.guards:  # else nothing further out can fail
            program.undoing.append(step)

    def write(self) -> Ref:
        """The version that an operator is about to write."""
        self.version += 1
        if self.declared:
            self.declared = False
            self._undone(lambda: self._set(declared=True))
        self.spec = without_value(self.spec)
        self.block.written.append(self)
        return Ref(self, self.version)

    @property
    def T(self) -> Any:  # noqa: N802 - the public name
        return self.transpose(list(range(self.ndim))[::-1])

    def detach(self) -> Any:
        """The same value, through which no gradient flows."""
        from autograd_engine.ops.registry.namespace import ops

        made = ops.reinterpret(self, dtype=self.spec.dtype.name)  # which has no gradient
        trace = grad_mode.trace
        if trace is not None:
            trace.note_view(made, self, None, {})
        return made

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """Let `hook` take part in every backward half that is appended from here on.

        Parameters
        ----------
        hook : callable
            ``hook(grad)`` is called once, now, with a variable that stands for the gradient. It
            returns None, or a variable of the same shape and dtype that takes the place of the
            gradient. Several run in the order of their registration.

        Returns
        -------
        RemovableHandle
            ``handle.remove()`` takes the hook away; True the first time.

        Raises
        ------
        NotDifferentiableError
            Where ``stop_gradient`` is True.
        BuildError
            Outside of the branch or loop that the variable belongs to, and for a hook that holds
            a branch or a loop, or writes a variable.

        Examples
        --------
        >>> import numpy as np
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2], "float32")
        ...     x.stop_gradient = False
        ...     y = paddle.tanh(x)
        ...     _ = y.register_hook(lambda grad: paddle.clip(grad, -1.0, 1.0))
        ...     [dx] = paddle.static.gradients(paddle.sum(y * 100.0), x)
        >>> paddle.static.Executor().run(main, {"x": np.zeros(2, "float32")}, [dx])
        [array([1., 1.], dtype=float32)]
        """
        return above.register_variable_hook(self, hook)

    def get_value(self, scope: Any = None) -> Any:
        """What a scope (the global one by default) holds for this persistable variable."""
        from autograd_engine.program.scope import held_for

        return held_for(self, scope, "get_value").get_tensor()

    def set_value(self, value: Any, scope: Any = None) -> None:
        """Set what a scope (the global one by default) holds for this persistable variable."""
        from autograd_engine.program.scope import held_for

        held_for(self, scope, "set_value").get_tensor().set(value)

    @property
    def mT(self) -> Any:  # noqa: N802 - the standard's name
        return self.matrix_transpose()

    def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        setattr(Variable, "__array_ufunc__", above.array_ufunc)  # noqa: B010 - where the next call goes
        return above.array_ufunc(self, ufunc, method, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        setattr(Variable, "__array_function__", above.array_function)  # noqa: B010 - as above
        return above.array_function(self, function, types, args, kwargs)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        return above.of_version(api_version)

    @property
    def lod_level(self) -> int:
        """0: there are no ragged arrays here."""
        return 0

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """What ``print`` shows."""
        return repr(self)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __repr__(self) -> str:
        found: str = above.variable_text(self)
        return found

    def __bool__(self) -> bool:
        raise ModeError(
            f"the variable {self.name} has no value while the program is built, so Python's if, "
            "while, and, or and not cannot ask for it; use paddle.static.nn.cond(pred, true_fn, "
            "false_fn) for a branch, paddle.static.nn.while_loop for a loop, paddle.where element "
            "by element, paddle.logical_and, logical_or and logical_not" + mode.chosen_elsewhere()
        )

    def __len__(self) -> int:
        raise TypeError(
            f"len() of the variable {self.name}: use {self.name}.shape[0]{mode.chosen_elsewhere()}"
        )

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"the variable {self.name} cannot be iterated over; use paddle.unbind or slices"
            + mode.chosen_elsewhere()
        )

    def _number(self) -> Any:
        spec = self.spec
        differentiable = spec.dtype in FLOATS and not self.stop_gradient
        if spec.size != 1 or spec.dtype not in REALS or differentiable:
            return self
        return above.number_of(self)

    def _no_value(self, *_: Any, **__: Any) -> Any:
        raise ModeError(
            f"the variable {self.name} has no value while the program is built; run the program "
            f"with Executor.run(..., fetch_list=[{self.name!r}])" + mode.chosen_elsewhere()
        )

    def __getattr__(self, name: str) -> Any:
        if name == "_data":  # what operations try first: is it a Tensor?
            raise AttributeError(name)
        said = answers()["paddle.static.Variable"].names.get(name)
        if said is not None and hasattr(Tensor, name):
            raise EagerOnlyError(
                f"the variable {self.name} has no {name}, as tensors of eager mode have: {said}"
                + mode.chosen_elsewhere()
            )
        raise AttributeError(missing_text(self, name, "paddle.static.Variable"), name=name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise not_copied(f"the variable {self.name}")

    numpy = item = tolist = __array__ = __dlpack__ = _no_value
    __float__ = __int__ = __complex__ = __contains__ = _no_value


class _CountOfElements(Variable):
    """The number of elements of a variable, to be called as `ElementCount` is."""

    __slots__ = ()

    def __call__(self, dim: SupportsIndex | None = None) -> Any:
        operators = (op for op in self.block.ops if any(made.var is self for made in op.results))
        counted: Any = next(operators).operands[0]
        return counted.var.shape if dim is None else counted.var.shape[dim]


class Parameter(Trained, Variable):
    """A persistable variable that optimizers train."""

    __slots__ = ("_options", "trainable")

    _options: TrainingOptions | None

    def __init__(
        self,
        block: Block,
        name: str,
        spec: Spec,
        *,
        trainable: bool = True,
        options: TrainingOptions | None = None,
    ) -> None:
        super().__init__(block, name, spec, stop_gradient=not trainable, persistable=True)
        self.trainable = trainable
        self._options = options


class Ref(NamedTuple):
    """A variable as one of its versions."""

    var: Variable
    version: int

    @property
    def key(self) -> Key:
        """What tells this value from all others of its block."""
        return self.var.name, self.version

    @property
    def spec(self) -> Spec:
        return self.var.spec


class Literal(NamedTuple):
    """A Python scalar as an operand, with the dtype that it takes there."""

    value: Any
    dtype: np.dtype[Any]

    @property
    def spec(self) -> Spec:
        return ValueSpec.of(Spec((), self.dtype), self.value)


OperandRef: TypeAlias = Ref | Literal | None


def _out_of_sight(var: Variable, block: Block) -> BuildError:
    if var.block.program is not block.program:
        return BuildError(f"{var.name} belongs to another program than what is built here")
    return BuildError(
        f"{var.name} is known inside its branch or loop only (block {var.block.idx}): return it "
        "from the function that makes it, and use what cond or while_loop returns"
    )


def not_copied(what: str) -> ArgumentError:
    return ArgumentError(
        f"{what} cannot be pickled, nor copied by copy: use program.clone() for a copy, and keep "
        "the code that builds it"
    )
