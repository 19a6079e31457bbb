"""Branches: `cond`, `case` and `switch_case`.

In a program a branch is an operator with a block for each of its functions. Both are called
while the program is built. Eagerly the one that is needed is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_engine import unique_name
from autograd_engine.core import pytree as nest
from autograd_engine.core.checks import check_callback
from autograd_engine.core.dims import fresh_dim
from autograd_engine.core.dtypes import INEXACT, INTEGERS, common_dtype
from autograd_engine.core.spec import Shape, Spec, format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.builder import append_operator, new_result
from autograd_engine.program.control_flow.block_function import (
    BlockFunction,
    check_condition,
    described,
    own_value,
    restored,
    share_arguments,
    traced_value,
    truth,
)
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Ref, Variable

__all__ = ["append_cond", "case", "cond", "switch_case"]


@checked
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
            raise ArgumentTypeError(f"cond: {what} must be callable, got {type(function).__name__}")
        if function is not None:
            check_callback("cond", what, function)
    pred = traced_value(pred)
    if not isinstance(pred, Variable):
        chosen = true_fn if truth("cond", pred) else false_fn
        return None if chosen is None else nest.map(own_value, chosen())
    check_condition("cond: pred", pred)
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
            structure, append_cond(prefix, pred, branches, leaves), "cond: true_fn and false_fn"
        )


def append_cond(
    prefix: str, pred: Variable, branches: list[BlockFunction], leaves: list[tuple[Any, Any]]
) -> list[Any]:
    """The operator; for each pair of leaves a variable, or the value that both have."""
    true, false = (b.block for b in branches)
    made: list[Any] = []
    results: list[Ref] = []
    block = pred.block
    operands = (Ref(pred, pred.version), *branches[0].operands())
    for a, b in leaves:
        if not isinstance(a, Variable):
            made.append(a)
            continue
        true.results.append(Ref(a, a.version))
        false.results.append(Ref(b, b.version))
        spec = Spec(_either(a.spec.shape, b.spec.shape), a.spec.dtype)
        if a.is_stack:  # one that nothing was written to says nothing of what its elements are
            spec = b.spec if not a.spec.shape else a.spec if not b.spec.shape else spec
        stops = spec.dtype not in INEXACT or (a.stop_gradient and b.stop_gradient)
        results.append(new_result(block, f"{prefix}.tmp", spec, stop_gradient=stops))
        results[-1].var.is_stack = a.is_stack
        made.append(results[-1].var)
    results += _written(branches)
    attrs = {"true_block": true, "false_block": false}
    operator = append_operator(block, BlockOp.of("cond"), operands, tuple(results), attrs)
    if not any(isinstance(v, Variable) for v in made) and _trains(branches):
        operator.role = "optimize"
    return made


def _trains(branches: list[BlockFunction]) -> bool:
    """Whether a branch updates parameters."""
    return any(operator.role == "optimize" for b in branches for operator in b.block.ops)


def _joined(
    branches: list[BlockFunction], returned: list[Any]
) -> tuple[Any, list[tuple[Any, Any]]]:
    """(structure, leaves of both): what is a variable of one is one of both, of one dtype."""
    structures = [nest.structure(r) for r in returned]
    if not nest.same(*structures):
        counts = [len(nest.leaves(r)) for r in returned]
        raise ArgumentError(
            f"cond: true_fn returns {described(returned[0], counts[0])}, false_fn returns "
            f"{described(returned[1], counts[1])}; both must return the same structure"
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
    if variables[0].is_stack != variables[1].is_stack:
        array = next(v for v in variables if v.is_stack)
        raise ArgumentError(
            f"cond: one function returns {array.name}, an array of tensors, where the other "
            "returns none"
        )
    common = common_dtype([v.spec.dtype for v in variables], floating=False)
    a, b = (branch.cast(v, common) for branch, v in zip(branches, variables, strict=True))
    if a.ndim != b.ndim and not a.is_stack:
        raise ShapeError(
            f"cond: true_fn returns {a.name} of shape {format_shape(a.spec.shape)}, false_fn "
            f"{b.name} of shape {format_shape(b.spec.shape)}; they must have as many dimensions"
        )
    return a, b


@checked
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
        raise ArgumentTypeError(
            "case: pred_fn_pairs must be a list of (pred, function), got "
            f"{type(pred_fn_pairs).__name__}"
        )
    pairs = list(pred_fn_pairs)
    if not pairs:
        raise ArgumentError("case: pred_fn_pairs is empty; give one (pred, function) at least")
    for k, pair in enumerate(pairs):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not callable(pair[1]):
            raise ArgumentTypeError(
                f"case: pred_fn_pairs[{k}] must be (pred, function), got {pair!r}"
            )
        check_callback("case", "function", pair[1])
    if default is None:
        default = pairs[-1][1]
        pairs = pairs[:-1]
    elif not callable(default):
        raise ArgumentTypeError(f"case: default must be callable, got {type(default).__name__}")
    check_callback("case", "default", default)
    return _chain(pairs, default, name)


def _chain(
    pairs: list[tuple[Any, Callable[[], Any]]], default: Callable[[], Any], name: str | None
) -> Any:
    """Each condition in the branch where those before it do not hold."""
    if not pairs:
        return nest.map(own_value, default())
    (pred, function), *rest = pairs
    return cond(pred, function, lambda: _chain(rest, default, name), name)


@checked
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
        if np.dtype(getattr(spec.dtype, "name", spec.dtype)) not in INTEGERS:
            raise DTypeError(
                f"switch_case: branch_index must be an integer, got {spec.dtype}; cast it"
            )
    elif not isinstance(branch_index, (int, np.integer)) or isinstance(branch_index, bool):
        raise ArgumentTypeError(
            "switch_case: branch_index must be an integer Variable or Tensor, got "
            f"{type(branch_index).__name__}"
        )
    functions = _numbered(branch_fns)
    if default is None:
        default = functions.pop(max(functions))
    elif not callable(default):
        raise ArgumentTypeError(
            f"switch_case: default must be callable, got {type(default).__name__}"
        )
    check_callback("switch_case", "default", default)
    pairs = [(branch_index == k, functions[k]) for k in sorted(functions)]
    return _chain(pairs, default, name)


def _numbered(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    pairs: list[Any]
    if isinstance(branch_fns, dict):
        pairs = list(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)):
        pairs = [p if isinstance(p, (list, tuple)) else (k, p) for k, p in enumerate(branch_fns)]
    else:
        raise ArgumentTypeError(
            "switch_case: branch_fns must be a dict or a list of functions, got "
            f"{type(branch_fns).__name__}"
        )
    found: dict[int, Callable[[], Any]] = {}
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], (int, np.integer)) or not callable(pair[1]):
            raise ArgumentTypeError(
                f"switch_case: branch_fns must hold (int, function), got {pair!r}"
            )
        check_callback("switch_case", "function", pair[1])
        if int(pair[0]) in found:
            raise ArgumentError(f"switch_case: the index {pair[0]} is there twice")
        found[int(pair[0])] = pair[1]
    if not found:
        raise ArgumentError("switch_case: branch_fns is empty; give one function at least")
    return found


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


def _either(a: Shape, b: Shape) -> Shape:
    return tuple(x if x == y else fresh_dim() for x, y in zip(a, b, strict=False))


def _same_value(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (a is b or bool(a == b))
