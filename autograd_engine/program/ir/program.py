"""Programs: blocks of operators on variables."""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from typing import Any, Final

import numpy as np

from autograd_engine.core.above import above
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.overrides import Setting
from autograd_engine.core.random_generator import shared_stream
from autograd_engine.errors import ArgumentError, ArgumentTypeError, BuildError
from autograd_engine.program import mode
from autograd_engine.program.ir.block import AsItWas, Block
from autograd_engine.program.ir.operator import Operator
from autograd_engine.program.ir.variable import (
    Key,
    Literal,
    OperandRef,
    Parameter,
    Ref,
    Variable,
    not_copied,
)

__all__ = [
    "Block",
    "Key",
    "Literal",
    "OperandRef",
    "Operator",
    "Parameter",
    "Program",
    "Ref",
    "Variable",
    "default_main_program",
    "default_startup_program",
    "program_guard",
]


_origins: Final = itertools.count()


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
        # The same for a program and all of its copies, whose variables bear the same names.
        self.origin = next(_origins)
        self.version = 0
        # Blocks that are being built, the innermost last; what it takes to undo changes of
        # operators that were there before, see `restored_on_error`.
        self._open: list[Block] = []
        self.undoing: list[Callable[[], None]] = []
        self.guards: list[AsItWas] = []  # of `restored_on_error`, the innermost last
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
        self.lock = renewed_lock(self._undo_unfinished)
        self.drawing = renewed_lock()
        self._random_seed = 0
        self._generator: np.random.Generator | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise not_copied("a program")

    def _undo_unfinished(self) -> None:
        """In a child: a change that another thread was making is not made."""
        while self.guards:
            self.guards.pop().restore()

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
        self._generator = shared_stream(seed) if seed else None

    @property
    def generator(self) -> np.random.Generator | None:
        """The random stream of this program alone, None without a `random_seed`.

        ``program.generator.bit_generator.state`` says where it stands, and may be set.
        """
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

    def create_block(self, parent_idx: int | None = None) -> Block:
        """A block inside of the current one, to which operators are added until `rollback`.

        An operator that is appended afterwards, a ``while`` or a ``conditional_block``, takes it as
        its ``sub_block``.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     n = paddle.static.data("n", [1], "float32")
        ...     more = n < 100.0
        ...     body = main.create_block()
        ...     _ = body.append_op("scale", {"X": n}, {"Out": n}, {"scale": 3.0})
        ...     _ = paddle.assign(n < 100.0, output=more)
        ...     main.rollback()
        ...     _ = main.current_block().append_op(
        ...         type="while",
        ...         inputs={"X": [n], "Condition": [more]},
        ...         outputs={"Out": [n], "StepScopes": []},
        ...         attrs={"sub_block": body},
        ...     )
        >>> paddle.static.Executor().run(main, {"n": [5.0]}, [n])
        [array([135.], dtype=float32)]
        """
        parent = self.current_block().idx if parent_idx is None else self.block(parent_idx).idx
        block = self.new_block(parent)
        self._open.append(block)
        return block

    def rollback(self) -> None:
        """Go on with the block around the one that `create_block` made."""
        if not self._open:
            raise BuildError("Program.rollback: no block is open; create_block opens one")
        self._open.pop()

    _create_block, _rollback = create_block, rollback

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
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)):
            raise ArgumentTypeError(
                f"Program.block: index must be an int, got {type(index).__name__}"
            )
        if not -len(self.blocks) <= index < len(self.blocks):
            raise IndexError(
                f"Program.block: there is no block {index}; this program has {len(self.blocks)}: "
                f"global_block() is block 0, the last is block {len(self.blocks) - 1}"
            )
        return self.blocks[index]

    def counterpart(self, var: Variable) -> Variable | None:
        """The global variable here that `var` is, or is a copy of; None where there is none."""
        own = self.blocks[0].vars.get(var.name)
        if own is None or own is var:
            return own
        theirs = var.block
        copied = theirs.idx == 0 and theirs.program.origin == self.origin
        return own if copied and own.spec == var.spec else None

    def list_vars(self) -> Iterator[Variable]:
        """All variables, block by block."""
        return (v for block in self.blocks for v in block.vars.values())

    def all_parameters(self) -> list[Parameter]:
        return [p for block in self.blocks for p in block.all_parameters()]

    def state_dict(self, mode: str = "all", scope: Any = None) -> dict[str, Any]:
        """The arrays of what is kept between runs, by name.

        Parameters
        ----------
        mode : {"all", "param", "opt"}
            All, the parameters alone, or the others: what optimizers keep, counters.
        scope : Scope, optional
            By default the global one.

        Returns
        -------
        dict of str to ScopeTensor
            For `set_state_dict`, `paddle.save`, or ``numpy.array``.

        Raises
        ------
        ArgumentError, TypeError
        ExecutionError
            When some have no value yet: all are listed.

        Examples
        --------
        >>> import autograd_engine as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     w = paddle.static.create_parameter([2], "float32", name="w", is_bias=True)
        >>> with paddle.static.scope_guard(paddle.static.Scope()):
        ...     found = paddle.static.Executor().run(startup), main.state_dict("param")
        >>> found[1]
        {'w': ScopeTensor(array([0., 0.], dtype=float32))}
        """
        found: dict[str, Any] = above.state_of(self, mode, scope)
        return found

    def set_state_dict(self, state_dict: Mapping[str, Any], scope: Any = None) -> None:
        """Set what is kept between runs, as `set_program_state` does, in `scope`."""
        above.set_state("Program.set_state_dict", self, state_dict, scope)

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

        Raises
        ------
        FeedError, ExecutionError, ModeError

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
        found: dict[str, Any] = above.run_eagerly(self, feed, fetch_list, scope)
        return found

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
        found: Program = above.clone(self, for_test)
        return found

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
        found: str = above.program_to_string(self, throw_on_error, with_details)
        return found

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
        found: Program = above.program_from_string(text)
        return found

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
        found: str = above.draw(self, path, format, limit)
        return found

    def _repr_html_(self) -> str:
        found: str = above.program_html(self)
        return found

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
        found: str = above.to_python(self, fetch_list, name)
        return found

    def _prune(self, targets: Any) -> Program:
        """A copy with only what `targets` (variables, names or operators) depend on."""
        found: Program = above.prune(self, targets)
        return found

    def __repr__(self) -> str:
        found: str = above.program_text(self)
        return found


# One pair for all threads, until a guard names others for its own.
_main: Final = Setting("autograd_engine.main_program", Program())
_startup: Final = Setting("autograd_engine.startup_program", Program())


def default_main_program() -> Program:
    """The program that operations are added to, unless a `program_guard` names another."""
    return _main.get()


def default_startup_program() -> Program:
    """The program that initialises the parameters of the main one."""
    return _startup.get()


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
            raise ArgumentTypeError(f"program_guard: {what} must be a Program, got {program!r}")
    with contextlib.ExitStack() as blocks:
        blocks.enter_context(_main.replaced(main_program))
        if startup_program is not None:
            blocks.enter_context(_startup.replaced(startup_program))
            main_program.startup = weakref.ref(startup_program)
        blocks.enter_context(mode.guarded.replaced(True))
        yield
