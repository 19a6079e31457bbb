"""Programs: blocks of operators on variables.

A variable may be written more than once (an optimizer's update writes its parameter). Every
operand therefore names the version that it reads, and an executor keeps each version apart:
what is built after an update can still ask for the value from before it.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
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
from autograd_engine.static.block_op import BlockOp
from autograd_engine.static.gradop import GradOp
from autograd_engine.static.opdesc import Described
from autograd_engine.static.roles import placement
from autograd_engine.trained import Trained, TrainingOptions

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

    def __repr__(self) -> str:
        from autograd_engine.static.printing import variable_text

        return variable_text(self)

    def __bool__(self) -> bool:
        raise ModeError(
            f"the variable {self.name} has no value while the program is built, so Python's if, "
            "while, and, or and not cannot ask for it; use paddle.static.nn.cond(pred, true_fn, "
            "false_fn) for a branch, paddle.static.nn.while_loop for a loop, paddle.where element "
            "by element, paddle.logical_and, logical_or and logical_not"
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
        if name == "_data":  # what operations try first: is it a Tensor?
            raise AttributeError(name)
        from autograd_engine.elsewhere import eager_only

        raise eager_only(self, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise _not_copied(f"the variable {self.name}")

    numpy = item = tolist = __array__ = __dlpack__ = _no_value
    __float__ = __int__ = __complex__ = __contains__ = _no_value


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


class Operator(Described):
    """One step of a block.

    Attributes
    ----------
    type : str
        Name of the operation, or ``<operation>_grad``.
    op : OpDef, GradOp or BlockOp
    operands : tuple
        A Ref, a Literal, or (for a gradient operator, where no cotangent arrives) None.
    results : tuple of Ref
    attrs : dict
    role : {"forward", "backward", "optimize", "lr_sched"}
    of_loss : bool
        It computes what gradients start from, or the cotangent there.
    trains : tuple of (str, str)
        Parameters, each with the gradient of it that this operator writes.
    op_namescope, op_device : str
        See `name_scope` and `device_guard`.
    location : Location
        The user's line.
    number : int
        Counts the operators of all programs, in the order in which they were made.
    """

    __slots__ = (
        "attrs",
        "block",
        "location",
        "number",
        "of_loss",
        "op",
        "op_device",
        "op_namescope",
        "operands",
        "results",
        "role",
        "trains",
    )
    made: ClassVar[int] = 0

    def __init__(
        self,
        block: Block,
        op: OpDef | GradOp | BlockOp,
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
        self.of_loss = False
        self.trains: tuple[tuple[str, str], ...] = ()
        self.op_namescope = placement.namescope
        self.op_device = placement.device
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
        from autograd_engine.static.printing import operator_text

        return operator_text(self)


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
        # Arguments by what they stand for in the block around; results of the operator by what it
        # hands out for gradients.
        self.captured: dict[tuple[str, int], Variable] = {}
        self.handed_out: dict[tuple[tuple[str, int], bool], int] = {}
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

    def create_var(
        self,
        name: str | None = None,
        shape: Sequence[int | None] = (),
        dtype: Any = None,
        persistable: bool = False,
        stop_gradient: bool = False,
    ) -> Variable:
        """A variable for an operator to write; the one there is, if it was declared alike.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> block = paddle.static.Program().global_block()
        >>> block.create_var("hidden", shape=[-1, 3], dtype="float64")
        var hidden : LOD_TENSOR.shape(-1, 3).dtype(float64).stop_gradient(False)
        """
        from autograd_engine.static.variables import create_var

        return create_var(self, name, shape, dtype, persistable, stop_gradient)

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

    def argument_for(self, outer: Ref) -> Variable:
        """The argument that stands for a variable of the block around."""
        found = self.captured.get(outer.key)
        if found is None:
            var = outer.var
            found = self.add_argument(var.name, var.spec, stop_gradient=var.stop_gradient)
            found.is_stack = var.is_stack
            self.captured[outer.key] = found
        return found

    def add_argument(self, name: str, spec: Spec, *, stop_gradient: bool) -> Variable:
        """Another argument, with that name if nothing here has it."""
        unused, n = name, 0
        while unused in self.vars:
            n += 1
            unused = f"{name}@{n}"
        var = Variable(self, unused, spec, stop_gradient=stop_gradient)
        self.vars[unused] = var
        self.arguments.append(var)
        self.program.changed()
        return var

    def append(self, operator: Operator, sink: list[Operator] | None = None) -> None:
        """Add an operator at the end, or onto a list that will take the place of `ops`."""
        (self.ops if sink is None else sink).append(operator)
        self.program.changed()

    def restored_on_error(self) -> _AsItWas:
        """Inside the ``with`` block an exception leaves this block of the program as it was.

        Other threads see what is done inside as a whole, or not at all.
        """
        return _AsItWas(self)

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
        from autograd_engine.static.printing import block_text

        return block_text(self)


class _AsItWas:
    """What it takes to undo what is done to a block: see `Block.restored_on_error`.

    What is there is never changed (but for versions) or taken away inside, so the lengths say what
    to keep.
    """

    __slots__ = ("block", "counts", "ops", "sizes")

    def __init__(self, block: Block) -> None:
        self.block = block

    def __enter__(self) -> None:
        block = self.block
        program = block.program
        program.lock.acquire()
        self.ops = block.ops
        self.sizes = len(block.vars), len(block.emitted), len(block.captured)
        self.counts = (
            len(block.ops),
            len(block.written),
            len(block.arguments),
            len(program.blocks),
            len(program.undoing),
        )
        program._guards += 1

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        program = self.block.program
        try:
            if kind is not None:
                self._restore()
        finally:
            program._guards -= 1
            if not program._guards:  # nothing further out can fail
                program.undoing.clear()
            program.lock.release()

    def _restore(self) -> None:
        block = self.block
        program = block.program
        ops, writes, arguments, blocks, steps = self.counts
        while len(program.undoing) > steps:
            program.undoing.pop()()
        del program.blocks[blocks:]
        del block.arguments[arguments:]
        del self.ops[ops:]
        block.ops = self.ops
        for var in block.written[writes:]:
            var.version -= 1
        del block.written[writes:]
        tables: tuple[dict[Any, Any], ...] = (block.vars, block.emitted, block.captured)
        for table, size in zip(tables, self.sizes, strict=True):
            for key in list(table)[size:]:
                del table[key]
        program.changed()


def _out_of_sight(var: Variable, block: Block) -> BuildError:
    if var.block.program is not block.program:
        return BuildError(f"{var.name} belongs to another program than what is built here")
    return BuildError(
        f"{var.name} is known inside its branch or loop only (block {var.block.idx}): return it "
        "from the function that makes it, and use what cond or while_loop returns"
    )


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
        # Blocks that are being built, the innermost last; what it takes to undo changes of
        # operators that were there before, see `restored_on_error`.
        self._open: list[Block] = []
        self.undoing: list[Callable[[], None]] = []
        self._guards = 0
        # What executors compiled of it lives as long as both do: a plan knows its program, so an
        # executor that held the plans would keep every program it ever ran.
        self.compiled: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        # Values that executors ask for at each run, by the name of a persistable variable: a
        # learning rate that a scheduler moves. What a run was given stands in the scope after it;
        # None leaves to the scope what it has.
        self.supplies: dict[str, Callable[[], Any]] = {}
        self.name_scopes: dict[str, int] = {}  # how often each was opened again
        # The startup program of the `program_guard` in which it was built.
        self.startup: weakref.ref[Program] | None = None
        # Held while it is compiled, and while a change is made that is seen as a whole or not at
        # all; while a run draws from its random stream.
        self.lock = threading.RLock()
        self.drawing = threading.RLock()
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
        """The block that operations are added to: inside a branch or a loop, that one's."""
        return self._open[-1] if self._open else self.blocks[0]

    def new_block(self, parent_idx: int, forward_idx: int = -1) -> Block:
        """Another block, inside of the block `parent_idx`."""
        block = Block(self, len(self.blocks), parent_idx, forward_idx)
        self.blocks.append(block)
        self.changed()
        return block

    @contextlib.contextmanager
    def building_block(self, block: Block) -> Iterator[None]:
        """Inside the ``with`` block, what is built becomes part of `block`."""
        depth = len(self._open)
        self._open.append(block)
        try:
            yield
        finally:
            del self._open[depth:]

    def block(self, index: int) -> Block:
        """The block of that number; an IndexError where there is none."""
        if not -len(self.blocks) <= index < len(self.blocks):
            raise IndexError(
                f"Program.block: there is no block {index}; this program has {len(self.blocks)}: "
                f"global_block() is block 0, the last is block {len(self.blocks) - 1}"
            )
        return self.blocks[index]

    def list_vars(self) -> Iterator[Variable]:
        """All variables, block by block."""
        return (v for block in self.blocks for v in block.vars.values())

    def all_parameters(self) -> list[Parameter]:
        return [p for block in self.blocks for p in block.all_parameters()]

    def run_eagerly(
        self, feed: Any = None, fetch_list: Any = None, scope: Any = None
    ) -> dict[str, Any]:
        """Run it on Tensors, on the tape: for hooks, anomaly detection, ``.grad``, breakpoints.

        Parameters
        ----------
        feed : dict of str to array_like, optional
            As `Executor.run` takes it. A Tensor is used as it is, and gets its ``.grad``.
        fetch_list : Variable, str, or list of them, optional
            What is needed besides updates; by default everything.
        scope : Scope, optional

        Returns
        -------
        dict of str to Tensor
            What was fetched, what was fed, and parameters, which are leaves.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2], "float32")
        ...     y = paddle.tanh(x)
        >>> main.run_eagerly({"x": [0.0, 0.0]})[y.name].tolist()
        [0.0, 0.0]
        """
        from autograd_engine.static.eagerly import run_eagerly

        return run_eagerly(self, feed, fetch_list, scope)

    def clone(self, for_test: bool = False) -> Program:
        """A copy that shares nothing with this program that either could change.

        Parameters
        ----------
        for_test : bool
            Leave out the backward half and the updates, and make what differs between training
            and inference what it is in inference: dropout does nothing, batch normalisation reads
            its running statistics. Gradients that the forward half itself reads stay.

        Returns
        -------
        Program
            Its variables have the names of the originals, so both run in one scope, on the same
            parameters. A program with a `random_seed` and its copy draw the same numbers from here
            on.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main, paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     loss = paddle.mean(paddle.nn.functional.dropout(paddle.static.nn.fc(x, 1)))
        ...     _ = paddle.optimizer.SGD(0.1).minimize(loss)
        >>> [op.type for op in main.clone(for_test=True).global_block().ops]
        ['matmul', 'add', 'dropout_mask', 'multiply', 'mean']
        """
        from autograd_engine.static.clone import clone

        return clone(self, for_test)

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The whole program as JSON text, from which `parse_from_string` makes it again.

        Parameters
        ----------
        throw_on_error : bool
            False: a program that no text can hold becomes what ``print`` shows.
        with_details : bool
            Add what ``print`` shows, for those who read the text.

        Raises
        ------
        FileFormatError
            When the program runs Python code of the user's.
        """
        from autograd_engine.static.serialize import program_to_string

        return program_to_string(self, throw_on_error, with_details)

    @staticmethod
    def parse_from_string(text: str | bytes) -> Program:
        """The program that `to_string` or `serialize_program` has written.

        Whatever the text holds, nothing of it is run.

        Raises
        ------
        FileFormatError
            Saying where the text is not what they write.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 2])
        ...     y = paddle.tanh(x)
        >>> again = paddle.static.Program.parse_from_string(main.to_string())
        >>> str(again) == str(main)
        True
        """
        from autograd_engine.static.serialize import program_from_string

        return program_from_string(text)

    def draw(
        self,
        path: str | PathLike[str] | None = None,
        format: str | None = None,
        limit: int = 500,
    ) -> str:
        """The program as a drawing: operators, what flows between them, blocks as frames.

        Parameters
        ----------
        path : str or path, optional
            A file to write, whole or not at all; its suffix says the format: .dot, .gv or .svg.
        format : {"dot", "svg"}, optional
            By default what the suffix says, without a path "dot".
        limit : int
            Of more operators of a block than this, the first and the last are drawn.

        Returns
        -------
        str
            The drawing. `paddle.graph(program)` is the same as an object, which a notebook shows.

        Raises
        ------
        ArgumentError, TypeError
        MissingLibraryError
            For "svg" without graphviz.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.tanh(paddle.static.data("x", [None, 2]))
        >>> print(main.draw().splitlines()[-2])
                n0 -> n1 [label="x float32[?, 2]"]
        """
        from autograd_engine.static.drawing import draw

        return draw(self, path, format, limit)

    def _repr_html_(self) -> str:
        from autograd_engine.static.drawing import program_html

        return program_html(self)

    def to_python(self, fetch_list: Any = None, name: str = "program") -> str:
        """The program as a Python module: what a run does, to be read, run and changed.

        Parameters
        ----------
        fetch_list : Variable, str, or list of them, optional
            What the function returns, before the updates; by default all that nothing reads.
        name : str
            Of the function.

        Returns
        -------
        str
            Executed, it defines the function; ``INPUTS`` and ``OUTPUTS``, the names of what that
            takes and returns, in order. Its results have the bits of those of an `Executor`.
            Gradients are written out as the operations of their rules; comments give shapes,
            dtypes, and the lines that built the program.

        Raises
        ------
        ArgumentError
            When `name` is no name.
        BuildError
            When the program calls a function of yours that cannot be imported by its name.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main, paddle.static.Program()):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     y = paddle.tanh(x * 2.0)
        >>> space = {}
        >>> exec(main.to_python(), space)
        >>> space["INPUTS"]
        ('x',)
        >>> [y.shape for y in space["program"](paddle.ones([4, 3]).numpy())]
        [(4, 3)]
        """
        from autograd_engine.static.to_python import to_python

        return to_python(self, fetch_list, name)

    def _prune(self, targets: Any) -> Program:
        """A copy with only what `targets` (variables, names or operators) depend on."""
        from autograd_engine.static.clone import prune

        return prune(self, targets)

    def __repr__(self) -> str:
        from autograd_engine.static.printing import program_text

        return program_text(self)


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
        main_program.startup = weakref.ref(startup_program)
    mode.enter_guard()
    try:
        yield
    finally:
        mode.leave_guard()
        _defaults.main, _defaults.startup = old
