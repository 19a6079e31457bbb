"""Branches and loops: `cond`, `case`, `switch_case`, `while_loop`.

In a program each becomes one operator, with a block for every function that it was given. The
functions are called while the program is built. What they read of the block around becomes an
argument of theirs; what they write there (a running statistic, say) is written by the operator.

Eagerly the functions are called when they are needed. What goes into a loop, and what comes out of
either, passes through an `assign`, so that it is a value of its own, as it is in a program: then
both modes add up gradients in the same order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.dims import fresh_dim
from autograd_engine.dtypes import common_dtype, scalar_dtype
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, BuildError, DTypeError, ShapeError
from autograd_engine.namespace import ops
from autograd_engine.source import Location, caller
from autograd_engine.spec import Shape, Spec, format_shape
from autograd_engine.static import mode, nest
from autograd_engine.static.block_op import BlockOp
from autograd_engine.static.builder import Constant, Number, append_operator
from autograd_engine.static.program import (
    Block,
    Program,
    Ref,
    Variable,
    default_main_program,
    default_startup_program,
)

__all__ = ["Assert", "Print", "case", "cond", "switch_case", "while_loop"]

if TYPE_CHECKING:
    from autograd_engine.static.effects import Assert as Assert
    from autograd_engine.static.effects import Print as Print
else:

    def __getattr__(name):
        """The reference has these here too."""
        if name in ("Assert", "Print"):
            from autograd_engine.static import effects

            return getattr(effects, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_WHERE = "paddle.static.nn."


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    return_names: Sequence[str] | None = None,
) -> Any:
    """What `true_fn` returns where `pred` holds, what `false_fn` returns where not.

    Parameters
    ----------
    pred : Variable or Tensor
        A bool of one element.
    true_fn, false_fn : callable, optional
        Without arguments; they use variables of the code around. They return None, a variable, or
        a nest (list, tuple, dict) of variables and numbers, of the same structure. None for a
        function that returns None.
    name : str, optional
        Of the operator's results.
    return_names : sequence of str, optional
        Accepted for the reference's sake.

    Returns
    -------
    the nest that the functions return, or None

    Raises
    ------
    ArgumentError
        When the functions return different structures.
    TypeError, DTypeError, ShapeError
        When `pred` is no bool of one element, or their results do not go together.

    Notes
    -----
    In a program both functions are called, once each, when the program is built; a run computes one
    of the two. Gradients, of any order, are those of the branch that runs.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [2], "float32")
    ...     y = paddle.static.nn.cond(paddle.sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0)
    >>> paddle.static.Executor().run(main, {"x": np.float32([-1.0, 0.5])}, [y])
    [array([-2. , -0.5], dtype=float32)]
    """
    for what, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is not None and not callable(function):
            raise TypeError(f"cond: {what} must be callable, got {type(function).__name__}")
    if not isinstance(pred, Variable):
        chosen = true_fn if _truth("cond", pred) else false_fn
        return None if chosen is None else nest.map(_own, chosen())
    _check_condition("cond: pred", pred)
    program = pred.block.program
    with restored(program):
        block = program.current_block()
        pred = pred.seen_from(block)
        prefix = name or unique_name.generate("cond")
        branches = [BlockFunction(program, block), BlockFunction(program, block)]
        returned = [
            branch.call(fn) for branch, fn in zip(branches, (true_fn, false_fn), strict=True)
        ]
        structure, leaves = _joined(branches, returned)
        share_arguments(branches)
        return nest.rebuild(
            structure, _append_cond(prefix, pred, branches, leaves), "cond: true_fn and false_fn"
        )


def _append_cond(
    prefix: str, pred: Variable, branches: list[BlockFunction], leaves: list[tuple[Any, Any]]
) -> list[Any]:
    """The operator; for each pair of leaves a variable, or the value that both have."""
    true, false = (b.block for b in branches)
    made: list[Any] = []
    results: list[Ref] = []
    block = pred.block
    operands = (Ref(pred, pred.version), *branches[0].operands())
    closed = all(o.var.stop_gradient for o in operands[1:])
    for a, b in leaves:
        if not isinstance(a, Variable):
            made.append(a)
            continue
        true.results.append(Ref(a, a.version))
        false.results.append(Ref(b, b.version))
        spec = Spec(_either(a.spec.shape, b.spec.shape), a.spec.dtype)
        stops = closed or spec.dtype.kind not in "fc" or (a.stop_gradient and b.stop_gradient)
        var = Variable(block, unique_name.generate(f"{prefix}.tmp"), spec, stop_gradient=stops)
        results.append(Ref(block.add_var(var), 0))
        made.append(var)
    results += _written(branches)
    attrs = {"true_block": true, "false_block": false}
    append_operator(block, BlockOp.of("cond"), operands, tuple(results), attrs)
    return made


def _joined(
    branches: list[BlockFunction], returned: list[Any]
) -> tuple[Any, list[tuple[Any, Any]]]:
    """(structure, leaves of both): what is a variable of one is one of both, of one dtype."""
    structures = [nest.structure(r) for r in returned]
    if structures[0] != structures[1]:
        counts = [len(nest.leaves(r)) for r in returned]
        raise ArgumentError(
            f"cond: true_fn returns {_described(returned[0], counts[0])}, false_fn returns "
            f"{_described(returned[1], counts[1])}; both must return the same structure"
        )
    leaves = []
    for a, b in zip(*map(nest.leaves, returned), strict=True):
        if isinstance(a, Variable) or isinstance(b, Variable) or not _same_value(a, b):
            leaves.append(_one_dtype(branches, (a, b)))
        else:
            leaves.append((a, b))
    return structures[0], leaves


def _one_dtype(branches: list[BlockFunction], pair: tuple[Any, Any]) -> tuple[Any, Any]:
    known = [v.spec.dtype for v in pair if isinstance(v, Variable)]
    variables = []
    for branch, value in zip(branches, pair, strict=True):
        if value is None or isinstance(value, str):
            raise ArgumentError(
                f"cond: one function returns {value!r} where the other returns "
                f"{pair[0] if value is pair[1] else pair[1]!r}; both must return a variable"
            )
        variables.append(branch.variable(value, known))
    common = common_dtype([v.spec.dtype for v in variables], floating=False)
    a, b = (branch.cast(v, common) for branch, v in zip(branches, variables, strict=True))
    if a.ndim != b.ndim:
        raise ShapeError(
            f"cond: true_fn returns {a.name} of shape {format_shape(a.spec.shape)}, false_fn "
            f"{b.name} of shape {format_shape(b.spec.shape)}; they must have as many dimensions"
        )
    return a, b


def case(
    pred_fn_pairs: Sequence[tuple[Any, Callable[[], Any]]],
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What the function of the first condition that holds returns.

    Parameters
    ----------
    pred_fn_pairs : list or tuple of (pred, callable)
    default : callable, optional
        For when none holds; without one, the last function of the pairs.
    name : str, optional

    Raises
    ------
    TypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor(3.0)
    >>> case([(x < 1.0, lambda: x), (x < 5.0, lambda: x * 2.0)], default=lambda: x * 0.0).item()
    6.0
    """
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise TypeError(
            "case: pred_fn_pairs must be a list of (pred, function), got "
            f"{type(pred_fn_pairs).__name__}"
        )
    pairs = list(pred_fn_pairs)
    if not pairs:
        raise ArgumentError("case: pred_fn_pairs is empty; give one (pred, function) at least")
    for k, pair in enumerate(pairs):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(f"case: pred_fn_pairs[{k}] must be (pred, function), got {pair!r}")
    if default is None:
        default = pairs[-1][1]
        pairs = pairs[:-1]
    elif not callable(default):
        raise TypeError(f"case: default must be callable, got {type(default).__name__}")
    return _chain(pairs, default, name)


def _chain(
    pairs: list[tuple[Any, Callable[[], Any]]], default: Callable[[], Any], name: str | None
) -> Any:
    """Each condition in the branch where those before it do not hold."""
    if not pairs:
        return nest.map(_own, default())
    (pred, function), *rest = pairs
    return cond(pred, function, lambda: _chain(rest, default, name), name)


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What the function of that index returns.

    Parameters
    ----------
    branch_index : Variable or Tensor
        An integer of one element.
    branch_fns : dict of int to callable, or list of callables or of (int, callable)
    default : callable, optional
        For an index that is not among them; without one, the function of the largest index.
    name : str, optional

    Raises
    ------
    TypeError, DTypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor(3.0)
    >>> switch_case(paddle.to_tensor(1), [lambda: x, lambda: x * 2.0]).item()
    6.0
    """
    if isinstance(branch_index, (Variable, Tensor)):
        spec = branch_index.spec if isinstance(branch_index, Variable) else branch_index
        if np.dtype(getattr(spec.dtype, "name", spec.dtype)).kind not in "iu":
            raise DTypeError(
                f"switch_case: branch_index must be an integer, got {spec.dtype}; cast it"
            )
    elif not isinstance(branch_index, (int, np.integer)) or isinstance(branch_index, bool):
        raise TypeError(
            "switch_case: branch_index must be an integer Variable or Tensor, got "
            f"{type(branch_index).__name__}"
        )
    functions = _numbered(branch_fns)
    if default is None:
        default = functions.pop(max(functions))
    elif not callable(default):
        raise TypeError(f"switch_case: default must be callable, got {type(default).__name__}")
    pairs = [(branch_index == k, functions[k]) for k in sorted(functions)]
    return _chain(pairs, default, name)


def _numbered(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    pairs: list[Any]
    if isinstance(branch_fns, dict):
        pairs = list(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)):
        pairs = [p if isinstance(p, (list, tuple)) else (k, p) for k, p in enumerate(branch_fns)]
    else:
        raise TypeError(
            "switch_case: branch_fns must be a dict or a list of functions, got "
            f"{type(branch_fns).__name__}"
        )
    found: dict[int, Callable[[], Any]] = {}
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], (int, np.integer)) or not callable(pair[1]):
            raise TypeError(f"switch_case: branch_fns must hold (int, function), got {pair!r}")
        if int(pair[0]) in found:
            raise ArgumentError(f"switch_case: the index {pair[0]} is there twice")
        found[int(pair[0])] = pair[1]
    if not found:
        raise ArgumentError("switch_case: branch_fns is empty; give one function at least")
    return found


# --- loops


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> list[Any]:
    """Run `body` as long as `cond` holds.

    Parameters
    ----------
    cond : callable
        Called with the loop variables; returns a bool of one element.
    body : callable
        Called with them; returns their next values, as many and of the same structure. Their dtypes
        stay; a size may change from one iteration to the next.
    loop_vars : list or tuple
        Initial values: variables, numbers, or nests of these.
    is_test : bool
        Accepted for the reference's sake; what gradients need is kept only if there are gradients.
    name : str, optional
        Of the operator's results.

    Returns
    -------
    list
        The loop variables at the end.

    Raises
    ------
    TypeError, ArgumentError, DTypeError, ShapeError

    Notes
    -----
    In a program `cond` and `body` are called when it is built: once each, and again where a size
    turns out to change. Gradients, of any order, go through all iterations, however many there are;
    values that they need are kept for each.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [], "float32")
    ...     x.stop_gradient = False
    ...     n = paddle.zeros([], "int64")
    ...     _, y = paddle.static.nn.while_loop(
    ...         lambda n, y: y < 100.0, lambda n, y: (n + 1, y * y), [n, x]
    ...     )
    ...     [dx] = paddle.static.gradients(y, x)
    >>> paddle.static.Executor().run(main, {"x": np.float32(2.0)}, [y, dx])
    [array(256., dtype=float32), array(1024., dtype=float32)]
    """
    for what, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"while_loop: {what} must be callable, got {type(function).__name__}")
    if not isinstance(loop_vars, (list, tuple)):
        raise TypeError(f"while_loop: loop_vars must be a list, got {type(loop_vars).__name__}")
    if not loop_vars:
        raise ArgumentError("while_loop: loop_vars is empty; give one loop variable at least")
    structure, leaves = nest.structure(list(loop_vars)), nest.leaves(list(loop_vars))
    variables = [v for v in leaves if isinstance(v, Variable)]
    if not variables and (any(isinstance(v, Tensor) for v in leaves) or not mode.building()):
        return _eager_loop(cond, body, structure, leaves)
    program = variables[0].block.program if variables else default_main_program()
    prefix = name or unique_name.generate("while")
    with restored(program):
        block = program.current_block()
        initial = [_as_variable(v, block).seen_from(block) for v in leaves]
        return _Loop(program, block, prefix, cond, body, structure, initial).append()


def _eager_loop(
    cond: Callable[..., Any], body: Callable[..., Any], structure: Any, leaves: list[Any]
) -> list[Any]:
    what = "while_loop: body"
    values: list[Any] = nest.rebuild(structure, [_own(v) for v in leaves], what)
    while _truth("while_loop: cond", cond(*values)):
        new = _returned(body(*values), len(values))
        if nest.structure(new) != structure:
            raise _other_structure(structure, new)
        values = nest.rebuild(structure, [_own(v) for v in nest.leaves(new)], what)
    return values


class _Loop:
    """One `while` operator, from the functions of the user's."""

    def __init__(
        self,
        program: Program,
        block: Block,
        prefix: str,
        cond: Callable[..., Any],
        body: Callable[..., Any],
        structure: Any,
        initial: list[Variable],
    ) -> None:
        self.program = program
        self.block = block
        self.prefix = prefix
        self.functions = cond, body
        self.structure = structure
        self.initial = initial
        self.specs = [v.spec for v in initial]
        self._given_up: set[Any] = set()  # sizes that the body changes

    def append(self) -> list[Any]:
        # An argument whose size the body changes has no size that is known: build it again so.
        # A size that is unknown stays so, and there are as many sizes as there are.
        for _ in range(2 + sum(len(s.shape) for s in self.specs)):
            built = self._build()
            if built is not None:
                return self._operator(*built)
        raise BuildError("while_loop: the sizes of the loop variables do not settle")

    def _build(self) -> tuple[list[BlockFunction], list[Variable]] | None:
        """Both functions and what the body returns; None where sizes have to be given up first."""
        program, block = self.program, self.block
        blocks, parameters = len(program.blocks), len(program.global_block().vars)
        cond, body = (BlockFunction(program, block) for _ in range(2))
        flags = [(cond, self.functions[0], "cond"), (body, self.functions[1], "body")]
        returned = []
        for function, call, what in flags:
            arguments = [
                function.block.add_argument(v.name, spec, stop_gradient=spec.dtype.kind not in "fc")
                for v, spec in zip(self.initial, self.specs, strict=True)
            ]
            values = nest.rebuild(self.structure, arguments, f"while_loop: {what}")
            returned.append(function.call(call, values))
        condition = cond.variable(returned[0], [])
        _check_condition("while_loop: what cond returns", condition)
        cond.block.results.append(Ref(condition, condition.version))
        new = self._next_values(body, returned[1])
        if self._settled(new):
            return [cond, body], new
        del program.blocks[blocks:]
        for name in list(program.global_block().vars)[parameters:]:
            _forget_parameter(program, name)
        return None

    def _next_values(self, body: BlockFunction, returned: Any) -> list[Variable]:
        new = _returned(returned, len(self.structure[1]))
        if nest.structure(new) != self.structure:
            raise _other_structure(self.structure, new)
        found = []
        for v, spec, value in zip(self.initial, self.specs, nest.leaves(new), strict=True):
            if value is None or isinstance(value, str):
                raise ArgumentError(
                    f"while_loop: body returns {value!r} for the loop variable {v.name}"
                )
            var = body.variable(value, [spec.dtype])
            if var.spec.dtype != spec.dtype:
                raise DTypeError(
                    f"while_loop: the loop variable {v.name} is {spec.dtype.name}, and body "
                    f"returns {var.spec.dtype.name} for it; start it as {var.spec.dtype.name}, or "
                    "cast what body returns"
                )
            if var.ndim != len(spec.shape):
                raise ShapeError(
                    f"while_loop: the loop variable {v.name} has shape "
                    f"{format_shape(spec.shape)}, and body returns "
                    f"{format_shape(var.spec.shape)} for it; it must have as many dimensions"
                )
            found.append(var)
        return found

    def _settled(self, new: list[Variable]) -> bool:
        """Whether every size is the argument's, or one that was given up; gives up the others."""
        settled = True
        for k, var in enumerate(new):
            spec = self.specs[k]
            shape = list(spec.shape)
            for axis, (have, want) in enumerate(zip(var.spec.shape, shape, strict=True)):
                if have != want and want not in self._given_up:
                    shape[axis] = dim = fresh_dim()
                    self._given_up.add(dim)
                    settled = False
            self.specs[k] = Spec(tuple(shape), spec.dtype)
        return settled

    def _operator(self, functions: list[BlockFunction], new: list[Variable]) -> list[Any]:
        block, n = self.block, len(self.initial)
        body = functions[1].block
        body.results += [Ref(v, v.version) for v in new]
        _carry_what_is_written(functions, n)
        carried = [*self.initial, *(o.var for o in functions[1].carried)]
        share_arguments(functions)
        captured = functions[1].operands()
        operands = (*(Ref(v, v.version) for v in carried), *captured)
        closed = all(o.var.stop_gradient for o in operands)
        results = []
        for spec in self.specs:
            spec = Spec(_outside(spec.shape, self._given_up), spec.dtype)
            var = Variable(
                block,
                unique_name.generate(f"{self.prefix}.tmp"),
                spec,
                stop_gradient=closed or spec.dtype.kind not in "fc",
            )
            results.append(Ref(block.add_var(var), 0))
        made: list[Any] = [r.var for r in results]
        results += [o.var.write() for o in functions[1].carried]
        trips = Variable(
            block,
            unique_name.generate(f"{self.prefix}.trips"),
            Spec((), np.dtype("int64")),
            stop_gradient=True,
        )
        results.append(Ref(block.add_var(trips), 0))
        attrs = {
            "cond_block": functions[0].block,
            "body_block": body,
            "carried": len(carried),
        }
        append_operator(block, BlockOp.of("while"), operands, tuple(results), attrs)
        return nest.rebuild(self.structure, made, "while_loop: body")  # type: ignore[no-any-return]


def _outside(shape: Shape, given_up: set[Any]) -> Shape:
    """Sizes after the loop: one that changes is another one then."""
    return tuple(fresh_dim() if d in given_up else d for d in shape)


# --- functions as blocks


class BlockFunction:
    """A function of the user's as a block.

    Attributes
    ----------
    carried : list of Ref
        Variables of the block around that the block writes, and that therefore are carried.
    """

    def __init__(self, program: Program, parent: Block) -> None:
        self.program = program
        self.parent = parent
        self.block = program.new_block(parent.idx)
        self.location: Location = caller()
        self.carried: list[Ref] = []

    def parameters(self, values: Sequence[Variable]) -> list[Variable]:
        """Arguments for values of the block around, which are its first operands."""
        for v in values:
            self.block.argument_for(Ref(v, v.version))
        return [self.block.captured[v.name, v.version] for v in values]

    def call(self, function: Callable[..., Any] | None, values: Sequence[Any] = ()) -> Any:
        """What `function` returns, its variables as seen from the block."""
        if function is None:
            return None
        with self.program.building_block(self.block):
            returned = function(*values)
            return nest.map(self._seen, returned)

    def _seen(self, value: Any) -> Any:
        if isinstance(value, Variable):
            return _as_variable(value, self.block).seen_from(self.block)
        if isinstance(value, (np.ndarray, np.generic, Tensor)):
            return _as_variable(value, self.block)
        return value

    def variable(self, value: Any, known: Sequence[np.dtype[Any]]) -> Variable:
        """`value` as a variable of the block; a number takes a dtype that is known."""
        if isinstance(value, Variable):
            return value
        with self.program.building_block(self.block):
            return _as_variable(value, self.block, known)

    def cast(self, value: Variable, dtype: np.dtype[Any]) -> Variable:
        if value.spec.dtype == dtype:
            return value
        with self.program.building_block(self.block):
            cast: Variable = ops.cast(value, dtype=dtype.name)
            return cast

    def operands(self) -> tuple[Ref, ...]:
        """What the arguments that capture something stand for, in order."""
        by_argument = {id(a): key for key, a in self.block.captured.items()}
        found = []
        for argument in self.block.arguments:
            key = by_argument.get(id(argument))
            if key is not None:
                found.append(Ref(self.parent.vars[key[0]], key[1]))
        return tuple(found)


def share_arguments(functions: Sequence[BlockFunction]) -> None:
    """Let all blocks take the same captured arguments, in the same order."""
    keys = dict.fromkeys(key for f in functions for key in f.block.captured)
    for function in functions:
        block = function.block
        ids = {id(v) for v in block.captured.values()}
        own = [a for a in block.arguments if id(a) not in ids]
        found = [block.argument_for(Ref(function.parent.vars[k], n)) for k, n in keys]
        block.arguments[:] = [*own, *found]
        block.captured = dict(zip(keys, found, strict=True))


def _written(branches: Sequence[BlockFunction]) -> list[Ref]:
    """Versions of variables around that a branch writes; the other one returns what there was."""
    results = []
    keys = list(branches[0].block.captured)
    for key in keys:
        arguments = [b.block.captured[key] for b in branches]
        if any(a.version for a in arguments):
            for branch, a in zip(branches, arguments, strict=True):
                branch.block.results.append(Ref(a, a.version))
            results.append(branches[0].parent.vars[key[0]].write())
    return results


def _carry_what_is_written(functions: Sequence[BlockFunction], n: int) -> None:
    """A captured variable that the body writes is carried from iteration to iteration."""
    cond, body = functions
    if any(a.version for a in cond.block.captured.values()):
        raise BuildError("while_loop: cond writes a variable; write it in the body")
    for key, argument in list(body.block.captured.items()):
        if not argument.version:
            continue
        outer = Ref(body.parent.vars[key[0]], key[1])
        for function in functions:
            block = function.block
            argument = block.argument_for(outer)
            del block.captured[key]
            block.arguments.remove(argument)
            block.arguments.insert(n + len(body.carried), argument)
        body.block.results.append(Ref(argument, argument.version))
        body.carried.append(outer)


def _forget_parameter(program: Program, name: str) -> None:
    """Take back a parameter that a function made which is going to be called again."""
    program.global_block().vars.pop(name, None)
    startup = default_startup_program().global_block()
    if startup.vars.pop(name, None) is not None:
        startup.ops[:] = [op for op in startup.ops if name not in op.output_names()]
        startup.program.changed()


# --- values


@contextlib.contextmanager
def restored(program: Program) -> Iterator[None]:
    """Inside the ``with`` block an exception leaves the program as it was."""
    with contextlib.ExitStack() as stack:
        startup = default_startup_program().global_block()
        for block in (startup, program.global_block(), program.current_block()):
            stack.enter_context(block.restored_on_error())
        yield


def _own(value: Any) -> Any:
    """A tensor as a value of its own."""
    return ops.assign(value) if isinstance(value, (Tensor, Variable)) else value


def _as_variable(value: Any, block: Block, known: Sequence[np.dtype[Any]] = ()) -> Variable:
    if value.__class__ is Constant:
        placed: Variable = value.placed(block)
        return placed
    if isinstance(value, Variable):
        return value
    if value.__class__ is Number:
        value = value._data
    if isinstance(value, Tensor):
        raise ArgumentError(
            "an eager Tensor stands among variables of a program; pass its values with .numpy()"
        )
    if isinstance(value, (bool, int, float, complex)):
        value = np.asarray(value, scalar_dtype(value, list(known)))
    array = np.array(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"a loop or a branch takes variables and numbers, got {value!r}")
    return Constant(array).placed(block)


def _either(a: Shape, b: Shape) -> Shape:
    return tuple(x if x == y else fresh_dim() for x, y in zip(a, b, strict=True))


def _same_value(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (a is b or bool(a == b))


def _check_condition(what: str, pred: Variable) -> None:
    if pred.spec.dtype.kind != "b":
        raise DTypeError(
            f"{what} must be a bool, {pred.name} is {pred.spec.dtype.name}; compare it with "
            "something, such as x > 0"
        )
    size = pred.spec.size
    if isinstance(size, int) and size != 1:
        raise ShapeError(
            f"{what} must have one element, {pred.name} has shape "
            f"{format_shape(pred.spec.shape)}; reduce it with paddle.all or paddle.any"
        )


def _truth(what: str, value: Any) -> bool:
    if isinstance(value, Tensor):
        if value._data.dtype.kind != "b":
            raise DTypeError(f"{what}: the condition must be a bool, got {value.dtype.name}")
        if value._data.size != 1:
            raise ShapeError(
                f"{what}: the condition must have one element, got shape {list(value.shape)}; "
                "reduce it with paddle.all or paddle.any"
            )
        return bool(value._data.item())
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(
        f"{what}: the condition must be a bool Variable or Tensor, got {type(value).__name__}"
    )


def _returned(value: Any, count: int) -> list[Any]:
    """What a body returns, as a list with an entry for each loop variable."""
    if count == 1 and not (isinstance(value, (list, tuple)) and len(value) == 1):
        return [value]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _other_structure(structure: Any, new: list[Any]) -> ArgumentError:
    return ArgumentError(
        f"while_loop: body returns {_described(new, len(nest.leaves(new)))} for "
        f"{len(structure[1])} loop variables; return their next values, in the same structure"
    )


def _described(value: Any, count: int) -> str:
    if value is None:
        return "None"
    return f"a {type(value).__name__} of {count} value{'s' * (count != 1)}"
