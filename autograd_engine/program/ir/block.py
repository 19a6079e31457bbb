"""Blocks: variables by name, and operators in the order in which they run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autograd_engine.core.above import above
from autograd_engine.core.locations import Location
from autograd_engine.core.spec import Spec
from autograd_engine.errors import ArgumentTypeError, BuildError
from autograd_engine.program.ir.operator import Operator
from autograd_engine.program.ir.variable import Key, Parameter, Ref, Variable

if TYPE_CHECKING:
    from autograd_engine.program.ir.program import Program

__all__ = ["Block", "inner_blocks", "leading_to", "operators_within", "unused_name"]


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
        self.captured: dict[Key, Variable] = {}
        self.handed_out: dict[tuple[Key, bool], int] = {}
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []
        # Of a block that runs in each iteration of a loop: from which values its first arguments
        # start, and through which of the others gradients go on outside, and who
        # asked for them.
        self.repeated = False
        self.entering: dict[str, Ref] = {}
        self.through: dict[str, Location] = {}
        # What exists already and is used again, by what it computes: gradients (see
        # `backward/draft.py`) and the learning rates of optimizers.
        self.emitted: dict[Any, Any] = {}
        # Each write of a variable that existed, in order: what it takes to undo them.
        self.written: list[Variable] = []

    def var(self, name: str) -> Variable:
        """The variable of that name; a ValueError when the block has none."""
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"Block.var takes the name of a variable, got {type(name).__name__}"
            )
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
        **kwargs: Any,
    ) -> Variable:
        """A variable for an operator to write; the one there is, if it was declared alike.

        Parameters
        ----------
        name : str, optional
        shape : sequence of int
            None or -1 for unknown sizes. The operator that writes it decides on shape and dtype.
        dtype : dtype, optional
            By default the default dtype.
        persistable : bool
            Kept in the scope between runs.
        stop_gradient : bool
        **kwargs
            ``is_data=True`` for one that is fed. Also `type`, `lod_level`, `capacity`,
            `error_clip`, `need_check_feed` and `belong_to_optimizer`, which change nothing here.

        Returns
        -------
        Variable
            One that an operator reads before any writes it is fed.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> block = paddle.static.Program().global_block()
        >>> block.create_var("hidden", shape=[-1, 3], dtype="float64")
        var hidden : LOD_TENSOR.shape(-1, 3).dtype(float64).stop_gradient(False)
        """
        found: Variable = above.create_var(
            self, name, shape, dtype, persistable, stop_gradient, kwargs
        )
        return found

    def create_parameter(
        self,
        shape: Sequence[int],
        dtype: Any,
        name: str | None = None,
        attr: Any = None,
        initializer: Any = None,
        **kwargs: Any,
    ) -> Variable:
        """A trainable parameter, which the default startup program initialises.

        Parameters
        ----------
        shape, dtype, name, attr
            See `paddle.create_parameter`.
        initializer : Initializer, optional
            By default Xavier uniform.
        **kwargs
            What a `ParamAttr` takes besides: `trainable`, `learning_rate`, `regularizer`,
            `need_clip`; or ``stop_gradient=True``, which is not to train it.

        Returns
        -------
        Parameter
            Of the first block of the program, wherever it is asked for.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main, paddle.static.Program()):
        ...     main.global_block().create_parameter([3], "float32", name="w")
        persist trainable param w : LOD_TENSOR.shape(3,).dtype(float32).stop_gradient(False)
        """
        found: Variable = above.create_block_parameter(
            self, shape, dtype, name, attr, initializer, kwargs
        )
        return found

    def iter_parameters(self) -> Iterator[Parameter]:
        """The parameters, one after the other."""
        return iter(self.all_parameters())

    # --- operators by their types, as the reference has them

    def append_op(
        self,
        type: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Operator:
        """Append an operator by its type, in the words of the reference.

        Parameters
        ----------
        type : str
            ``"matmul_v2"``, ``"conv2d"``, ``"sgd"``: the types of Paddle 2.6.
        inputs, outputs : dict of str to Variable, str, or list of them
            By slot. An output without shape gets shape and dtype from the operator; one that is
            kept between runs, or that has a value already, is written anew.
        attrs : dict, optional
            Those left out have the defaults of the reference. A dtype is a name, a dtype or the
            number that the reference has for it.
        **kwargs
            ``stop_gradient=True`` for outputs through which no gradient flows.

        Returns
        -------
        Operator
            It has the type, slots and attributes that it was given.

        Raises
        ------
        ArgumentError, TypeError
            For a type, slot or attribute that does not exist: with those that do.
        BuildError
            For a variable of another program, and in a block that is built already.
        ShapeError, DTypeError, NotATensorError
            When the operation cannot take what it is given. The program stays as it was.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     block = main.global_block()
        ...     out = block.create_var(name="out")
        ...     op = block.append_op(
        ...         type="scale", inputs={"X": x}, outputs={"Out": out}, attrs={"scale": 2.0}
        ...     )
        >>> op.type, op.input("X"), op.output("Out"), op.attr("bias")
        ('scale', ['x'], ['out'], 0.0)
        >>> out.shape
        (-1, 3)
        """
        found: Operator = above.append_op(self, type, inputs, outputs, attrs, kwargs)
        return found

    def prepend_op(
        self,
        type: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Operator:
        """As `append_op`, before all other operators."""
        return self._insert_op(0, type, inputs, outputs, attrs, **kwargs)

    _prepend_op = prepend_op

    def _insert_op(
        self,
        index: int,
        type: str | None = None,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Operator:
        """As `append_op`, before the operator at `index`."""
        found: Operator = above.append_op(self, type, inputs, outputs, attrs, kwargs, index)
        return found

    def _remove_op(self, index: int, sync: bool = True) -> None:
        """Take the operator at `index` out; what it wrote is declared, and nothing computes it."""
        above.remove_op(self, index)

    def _remove_var(self, name: str, sync: bool = True) -> None:
        """Take out a variable that no operator reads or writes."""
        above.remove_var(self, name)

    def _rename_var(self, name: str, new_name: str) -> Variable:
        """Give a variable another name."""
        found: Variable = above.rename_var(self, name, new_name)
        return found

    def _find_var_recursive(self, name: str) -> Variable | None:
        """The variable of that name, here or in a block around; None where there is none."""
        block = self
        while name not in block.vars and block.parent_idx >= 0:
            block = block.program.blocks[block.parent_idx]
        return block.vars.get(name)

    def _var_recursive(self, name: str) -> Variable:
        """The variable of that name, here or in a block around; a ValueError without one."""
        found = self._find_var_recursive(name)
        return self.var(name) if found is None else found

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

    def restored_on_error(self) -> AsItWas:
        """Inside the ``with`` block an exception leaves this block of the program as it was.

        Other threads see what is done inside as a whole, or not at all.
        """
        return AsItWas(self)

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

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """What ``print`` shows."""
        return repr(self)

    def __repr__(self) -> str:
        found: str = above.block_text(self)
        return found


class AsItWas:
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
            len(program._open),
        )
        program.guards.append(self)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        program = self.block.program
        try:
            if kind is not None:
                self.restore()
        finally:
            program.guards.pop()
            if not program.guards:  # nothing further out can fail
                program.undoing.clear()
            program.lock.release()

    def restore(self) -> None:
        block = self.block
        program = block.program
        ops, writes, arguments, blocks, steps, opened = self.counts
        while len(program.undoing) > steps:
            program.undoing.pop()()
        del program._open[opened:]
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


def inner_blocks(operator: Operator) -> list[Block]:
    """The blocks of an operator, in the order of its attributes."""
    return [v for v in operator.attrs.values() if isinstance(v, Block)]


def operators_within(operators: Iterable[Operator]) -> Iterator[Operator]:
    """The operators, and all that are in blocks inside of them."""
    for operator in operators:
        yield operator
        for block in inner_blocks(operator):
            yield from operators_within(block.ops)


def leading_to(operators: Sequence[Operator], wanted: set[Key]) -> Iterator[Operator]:
    """The operators that make what is `wanted`, the last first; what each reads is wanted too."""
    for operator in reversed(operators):
        if any(ref.key in wanted for ref in operator.results):
            yield operator
            wanted.update(o.key for o in operator.operands if isinstance(o, Ref))


def unused_name(block: Block, name: str) -> str:
    """`name`, or that with a number behind it."""
    if name not in block.vars:
        return name
    return next(n for n in (f"{name}_{k}" for k in itertools.count(1)) if n not in block.vars)
