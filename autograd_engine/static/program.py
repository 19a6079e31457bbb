"""Programs: blocks of operators on variables.

A variable may be written more than once (an optimizer's update writes its parameter). Every
operand therefore names the version that it reads, and an executor keeps each version apart:
what is built after an update can still ask for the value from before it.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np

from autograd_engine.arithmetic import Operand
from autograd_engine.dims import Dim
from autograd_engine.dtypes import DType, as_dtype
from autograd_engine.errors import ArgumentError, BuildError, ModeError
from autograd_engine.registry import OpDef
from autograd_engine.source import Location
from autograd_engine.spec import Spec
from autograd_engine.static import mode
from autograd_engine.static.gradop import GradOp

__all__ = [
    "Block",
    "Literal",
    "Operator",
    "Parameter",
    "Program",
    "Ref",
    "Variable",
    "default_main_program",
    "default_startup_program",
    "program_guard",
]


class Variable(Operand):
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
    is_stack : bool
        When the program runs it is a list of arrays, one for each iteration of a loop; the first
        size of its shape is their number.
    """

    __slots__ = (
        "block",
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
        self.spec = spec
        self.stop_gradient = stop_gradient
        self.persistable = persistable
        self.is_data = is_data
        self.is_stack = False
        self.version = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(-1 if isinstance(d, Dim) else d for d in self.spec.shape)

    @property
    def dtype(self) -> DType:
        return as_dtype(self.spec.dtype)

    @property
    def ndim(self) -> int:
        return len(self.spec.shape)

    @property
    def grad_name(self) -> str:
        return f"{self.name}@GRAD"

    def write(self) -> Ref:
        """The version that an operator is about to write."""
        self.version += 1
        self.block.written.append(self)
        return Ref(self, self.version)

    @property
    def T(self) -> Any:  # noqa: N802 - the public name
        return self.transpose(list(range(self.ndim))[::-1])

    @property
    def mT(self) -> Any:  # noqa: N802 - the standard's name
        return self.matrix_transpose()

    def __array_ufunc__(self, ufunc: Any, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        from autograd_engine.protocols.ufuncs import array_ufunc

        setattr(Variable, "__array_ufunc__", array_ufunc)  # noqa: B010 - the next call goes there
        return array_ufunc(self, ufunc, method, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from autograd_engine.protocols.table import array_function

        setattr(Variable, "__array_function__", array_function)  # noqa: B010 - the next call goes there
        return array_function(self, function, types, args, kwargs)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        from autograd_engine import array_namespace

        return array_namespace.of_version(api_version)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def _kind(self) -> str:
        return "persist var" if self.persistable else "var"

    def __repr__(self) -> str:
        shape = f"({', '.join(map(str, self.shape))}{',' if self.ndim == 1 else ''})"
        return (
            f"{self._kind()} {self.name} : LOD_TENSOR.shape{shape}"
            f".dtype({self.dtype.name}).stop_gradient({self.stop_gradient})"
        )

    def __bool__(self) -> bool:
        raise ModeError(
            f"the variable {self.name} has no value while the program is built, so Python cannot "
            "branch on it; use paddle.where, or fetch it and branch on the result"
        )

    def __len__(self) -> int:
        raise TypeError(f"len() of the variable {self.name}: use {self.name}.shape[0]")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"the variable {self.name} cannot be iterated over; use paddle.unbind or slices"
        )

    def _no_value(self, *_: Any, **__: Any) -> Any:
        raise ModeError(
            f"the variable {self.name} has no value while the program is built; run the program "
            f"with Executor.run(..., fetch_list=[{self.name!r}])"
        )

    def __getattr__(self, name: str) -> Any:
        from autograd_engine.elsewhere import eager_only

        raise eager_only(self, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise _not_copied(f"the variable {self.name}")

    numpy = item = tolist = __array__ = __dlpack__ = _no_value
    __float__ = __int__ = __complex__ = __contains__ = _no_value


class Parameter(Variable):
    """A persistable variable that optimizers train."""

    __slots__ = ("trainable",)

    def __init__(self, block: Block, name: str, spec: Spec, *, trainable: bool = True) -> None:
        super().__init__(block, name, spec, stop_gradient=not trainable, persistable=True)
        self.trainable = trainable

    def _kind(self) -> str:
        return "persist trainable param" if self.trainable else "persist param"


class Ref(NamedTuple):
    """A variable as one of its versions."""

    var: Variable
    version: int

    @property
    def key(self) -> tuple[str, int]:
        """What tells this value from all others of its block."""
        return self.var.name, self.version


class Literal(NamedTuple):
    """A Python scalar as an operand, with the dtype that it takes there."""

    value: Any
    dtype: np.dtype[Any]

    @property
    def spec(self) -> Spec:
        return Spec((), self.dtype)


OperandRef: TypeAlias = Ref | Literal | None


class Operator:
    """One step of a block.

    Attributes
    ----------
    type : str
        Name of the operation, or ``<operation>_grad``.
    op : OpDef or GradOp
    operands : tuple
        A Ref, a Literal, or (for a gradient operator, where no cotangent arrives) None.
    results : tuple of Ref
    attrs : dict
    role : {"forward", "backward", "optimize"}
    location : Location
        The user's line.
    number : int
        Counts the operators of all programs, in the order in which they were made.
    """

    __slots__ = ("attrs", "block", "location", "number", "op", "operands", "results", "role")
    made: ClassVar[int] = 0

    def __init__(
        self,
        block: Block,
        op: OpDef | GradOp,
        operands: tuple[OperandRef, ...],
        results: tuple[Ref, ...],
        attrs: dict[str, Any],
        location: Location,
        role: str,
    ) -> None:
        self.block = block
        self.op = op
        self.operands = operands
        self.results = results
        self.attrs = attrs
        self.location = location
        self.role = role
        Operator.made += 1
        self.number = Operator.made

    @property
    def type(self) -> str:
        return self.op.name

    @property
    def inputs(self) -> dict[str, list[Variable]]:
        """Variables by input name; a literal operand is shown among the attributes instead."""
        slots: dict[str, list[Variable]] = {}
        for k, operand in enumerate(self.operands):
            variables = slots.setdefault(self.op.input_at(k), [])
            # By identity: == on Variables would append an operator.
            if isinstance(operand, Ref) and all(v is not operand.var for v in variables):
                variables.append(operand.var)
        return slots

    @property
    def outputs(self) -> dict[str, list[Variable]]:
        slots: dict[str, list[Variable]] = {}
        for k, ref in enumerate(self.results):
            slots.setdefault(self.op.output_at(k), []).append(ref.var)
        return slots

    def input_names(self) -> list[str]:
        return list(dict.fromkeys(o.var.name for o in self.operands if isinstance(o, Ref)))

    def output_names(self) -> list[str]:
        return [ref.var.name for ref in self.results]

    def __repr__(self) -> str:
        attrs = dict(self.attrs)
        attrs.update(
            (self.op.input_at(k), o.value)
            for k, o in enumerate(self.operands)
            if isinstance(o, Literal)
        )
        outs = ", ".join(f"{k}={[v.name for v in vs]}" for k, vs in self.outputs.items())
        ins = ", ".join(
            f"{k}={[v.name for v in vs]}" for k, vs in sorted(self.inputs.items()) if vs
        )
        text = "".join(f", {k} = {attrs[k]}" for k in sorted(attrs))
        return f"{{{outs}}} = {self.type}(inputs={{{ins}}}{text})"


class Block:
    """Variables by name, and operators in the order in which they run.

    A block inside an operator (a branch of a `cond`, the body of a loop) is a function: nothing in
    it reads a variable of another block.

    Attributes
    ----------
    arguments : list of Variable
        What the function takes. One that stands for a variable of a block around has its name.
    results : list of Ref
        What it returns.
    parent_idx, forward_idx : int
        Which block it is inside of; which it computes gradients of. -1 for none.
    """

    def __init__(
        self, program: Program, idx: int, parent_idx: int = -1, forward_idx: int = -1
    ) -> None:
        self.program = program
        self.idx = idx
        self.parent_idx = parent_idx
        self.forward_idx = forward_idx
        self.arguments: list[Variable] = []
        self.results: list[Ref] = []
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []
        # What exists already and is used again, by what it computes: gradients (see
        # static/backward_plan.py) and the learning rates of optimizers.
        self.emitted: dict[Any, Any] = {}
        # Each write of a variable that existed, in order: what it takes to undo them.
        self.written: list[Variable] = []

    def var(self, name: str) -> Variable:
        """The variable of that name; a ValueError when the block has none."""
        try:
            return self.vars[name]
        except KeyError:
            known = ", ".join([*self.vars][:10]) or "none"
            more = ", ..." * (len(self.vars) > 10)
            raise BuildError(f"var {name} not in this block, which has {known}{more}") from None

    def has_var(self, name: str) -> bool:
        return name in self.vars

    def all_parameters(self) -> list[Parameter]:
        return [v for v in self.vars.values() if isinstance(v, Parameter)]

    def add_var(self, var: Variable) -> Variable:
        if var.name in self.vars:
            old = self.vars[var.name]
            raise BuildError(
                f"Variable {var.name!r} has been created before, with shape {list(old.shape)}; "
                f"the new one has shape {list(var.shape)}. Give it another name"
            )
        self.vars[var.name] = var
        self.program.changed()
        return var

    def append(self, operator: Operator, sink: list[Operator] | None = None) -> None:
        """Add an operator at the end, or onto a list that will take the place of `ops`."""
        (self.ops if sink is None else sink).append(operator)
        self.program.changed()

    @contextlib.contextmanager
    def restored_on_error(self) -> Iterator[None]:
        """Inside the ``with`` block an exception leaves this block of the program as it was."""
        # What is there is never changed (but for versions) or taken away inside, so the lengths
        # say what to keep.
        ops, count = self.ops, len(self.ops)
        writes = len(self.written)
        tables = [(table, len(table)) for table in (self.vars, self.emitted)]
        try:
            yield
        except BaseException:
            del ops[count:]
            self.ops = ops
            for var in self.written[writes:]:
                var.version -= 1
            del self.written[writes:]
            for table, size in tables:
                for key in list(table)[size:]:
                    del table[key]
            self.program.changed()
            raise

    def undo(self, before: int) -> None:
        """Drop the operators at the end that were made after `before` others, and their results."""
        while self.ops and self.ops[-1].number > before:
            for ref in self.ops.pop().results:
                if ref.version:
                    ref.var.version -= 1
                    self.written.pop()
                else:
                    del self.vars[ref.var.name]
            self.program.changed()

    def __repr__(self) -> str:
        head = (
            f"{{ // block_idx:{self.idx}  parent_idx:{self.parent_idx}  "
            "forward_idx:-1  backward_idx:-1\n"
        )
        variables = "".join(f"    {v!r}\n" for v in self.vars.values())
        operators = "".join(f"    {op!r}\n" for op in self.ops)
        return f"{head}{variables}\n{operators}}}\n"


def _not_copied(what: str) -> ArgumentError:
    return ArgumentError(
        f"{what} cannot be pickled, nor copied by copy: use program.clone() for a copy, and keep "
        "the code that builds it"
    )


class Program:
    """A list of blocks, the first of which is what runs.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [None, 2])
    ...     y = paddle.tanh(x)
    >>> [op.type for op in main.global_block().ops]
    ['tanh']
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = [Block(self, 0)]
        self.version = 0
        # What executors compiled of it lives as long as both do: a plan knows its program, so an
        # executor that held the plans would keep every program it ever ran.
        self.compiled: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()
        self._random_seed = 0
        self._generator: np.random.Generator | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise _not_copied("a program")

    def changed(self) -> None:
        """Programs compiled from the text so far are out of date."""
        self.version += 1

    @property
    def random_seed(self) -> int:
        """Seed of this program's own random stream; 0: the stream that `paddle.seed` sets."""
        return self._random_seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise ArgumentError(f"Program.random_seed must be a non-negative int, got {seed!r}")
        self._random_seed = seed
        self._generator = np.random.default_rng(seed) if seed else None

    @property
    def generator(self) -> np.random.Generator | None:
        return self._generator

    @property
    def num_blocks(self) -> int:
        return len(self.blocks)

    def global_block(self) -> Block:
        return self.blocks[0]

    def current_block(self) -> Block:
        return self.blocks[0]

    def block(self, index: int) -> Block:
        return self.blocks[index]

    def list_vars(self) -> Iterable[Variable]:
        return (v for block in self.blocks for v in block.vars.values())

    def all_parameters(self) -> list[Parameter]:
        return [p for block in self.blocks for p in block.all_parameters()]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.blocks))


class _Defaults(threading.local):
    # One pair for all threads, until a guard names others for its own.
    main = Program()
    startup = Program()


_defaults: Final = _Defaults()


def default_main_program() -> Program:
    """The program that operations are added to, unless a `program_guard` names another."""
    return _defaults.main


def default_startup_program() -> Program:
    """The program that initialises the parameters of the main one."""
    return _defaults.startup


@contextlib.contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Inside the ``with`` block these are the default programs.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main, startup = paddle.static.Program(), paddle.static.Program()
    >>> with paddle.static.program_guard(main, startup):
    ...     paddle.static.default_main_program() is main
    True
    """
    for what, program in (("main_program", main_program), ("startup_program", startup_program)):
        if not isinstance(program, Program) and not (what[0] == "s" and program is None):
            raise TypeError(f"program_guard: {what} must be a Program, got {program!r}")
    old = _defaults.main, _defaults.startup
    _defaults.main = main_program
    if startup_program is not None:
        _defaults.startup = startup_program
    mode.enter_guard()
    try:
        yield
    finally:
        mode.leave_guard()
        _defaults.main, _defaults.startup = old
