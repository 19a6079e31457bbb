"""`check_op`: everything that the engine's suite asks of an operation, for operations of users'."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dtypes import FLOATS, REALS_AND_BOOLS
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    GradientCheckError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.program import mode
from autograd_engine.testing import op_checks as table
from autograd_engine.testing.gradient_check import gradcheck
from autograd_engine.testing.modes import (
    Runnable,
    call,
    differentiable,
    kernel,
    like_layout,
    reseeded,
    static_orders,
    tensors,
    variants,
    with_gradient,
)

__all__ = ["check_op"]

Array: TypeAlias = NDArray[Any]
Check: TypeAlias = tuple[str, list[Array], Callable[..., Any]]
DTYPES = ("float32", "float16")


def check_op(
    op: str | OpDef | Callable[..., Any],
    *inputs: Any,
    order: int = 2,
    smooth: bool = True,
    unknown: bool = True,
    dtypes: Sequence[str] = DTYPES,
    raise_exception: bool = True,
    **attrs: Any,
) -> bool:
    """Check an operation in every mode that the engine has.

    Of an operation of the table, named or given as `OpDef`: inference against the kernel, in each
    dtype; that the kernel writes to nothing; rules against differences, up to `order`; forward
    mode, its adjointness, and the tangent that is declared; that what is saved is what the rules
    declare, that they read it, and that only wanted rules run; equal bits on the tape, with
    create_graph, and in static programs, with sizes known and unknown, as gradient operators and
    with rules written out; arrays that are not contiguous, and for elementwise operations 0-d,
    empty and broadcast ones. Of any other function: the same, as far as it has no declaration.

    Parameters
    ----------
    op : str, OpDef or callable
        The name of an operation of the table, what `autograd.defop` returned, or a function that
        takes Tensors, or Variables of a program, and returns them.
    *inputs : array_like
        Operands inside its domain: Tensors, ndarrays or numbers. Floating ones are tried in
        float64 and in each of `dtypes`.
    order : int
        Derivatives up to this order are compared with differences.
    smooth : bool
        False where differences say nothing: it rounds, draws, or is at a kink.
    unknown : bool
        False where a program must know all sizes.
    dtypes : sequence of str
        Floating dtypes besides float64.
    raise_exception : bool
        False: return False instead of raising GradientCheckError.
    **attrs
        Attributes, or other keyword arguments.

    Returns
    -------
    bool
        True.

    Raises
    ------
    GradientCheckError
        Naming each check that failed.
    ArgumentError, NotATensorError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> from autograd_engine.testing import check_op
    >>> check_op("sum", [[1.0, 2.0], [3.0, 4.0]], axis=(1,))
    True
    >>> check_op(paddle.nn.functional.softmax, [[1.0, 2.0, 4.0]], axis=1)
    True
    """
    mode.require_dynamic("check_op")
    found = _resolved(op)
    name = _name(found)
    _check_count(found, name, len(inputs))
    operands = [_operand(name, k, x) for k, x in enumerate(inputs)]
    full = found.complete_attrs(attrs) if isinstance(found, OpDef) else attrs
    failures: list[tuple[str, Exception]] = []
    count = 0
    for label, arrays, check in _checks(found, operands, full, order, smooth, unknown, dtypes):
        count += 1
        try:
            with reseeded():
                # Copies: the fault may be that the operation writes to them.
                check(found, [like_layout(a, a) for a in arrays], full)
        except Exception as error:
            failures.append((label, error))
    if not failures:
        return True
    if not raise_exception:
        return False
    lines = [f"check_op({name}): {len(failures)} of {count} checks failed"]
    causes: list[str] = []
    for label, failure in failures:
        kind = "" if isinstance(failure, AssertionError) else f"{type(failure).__name__}: "
        text = (kind + str(failure)).strip().replace("\n", "\n    ")
        lines.append(f"- {label}:\n    {text}")
        causes += getattr(failure, "causes", ())
    raise GradientCheckError("\n".join(lines), tuple(dict.fromkeys(causes))) from failures[0][1]


def _check_count(op: Runnable, name: str, count: int) -> None:
    if not isinstance(op, OpDef):
        if not count:
            raise ArgumentError(f"check_op({name}): give its operands, as check_op(f, x, y)")
        return
    known, several = op.inputs, op.variadic
    if count < len(known) if several else count != len(known):
        shown = " ".join(known)
        raise ArgumentError(
            f"check_op({name}): its operands are {shown}{', or more' * several}; "
            f"got {count} of them"
        )


def _resolved(op: Any) -> Runnable:
    if isinstance(op, str):
        if op not in REGISTRY:
            raise ArgumentError(
                f"check_op: there is no operation named {op!r} in the table; pass one "
                "that autograd.defop made, or a function, itself and not by name"
            )
        return REGISTRY[op]
    if isinstance(op, OpDef):
        if REGISTRY.get(op.name) is not op and not callable(op):  # `autograd.defop` makes those
            raise ArgumentError(f"check_op: {op!r} is not in the table: declare it with defop")
        return op
    if not callable(op):
        raise NotATensorError(
            f"check_op: op must be an operation's name, an OpDef or a function; got "
            f"{type(op).__name__}"
        )
    function: Callable[..., Any] = op
    for known in REGISTRY.values():
        if vars(ops).get(known.name) is function:
            return known
    return function


def _name(op: Runnable) -> str:
    return op.name if isinstance(op, OpDef) else getattr(op, "__name__", type(op).__name__)


def _operand(name: str, position: int, value: Any) -> Array:
    array = value.numpy() if isinstance(value, Tensor) else np.asarray(value)
    if array.dtype not in REALS_AND_BOOLS:
        raise DTypeError(
            f"check_op({name}): input {position} is {array.dtype}; use real numbers, integers or "
            "bool"
        )
    return np.array(array, np.float64 if array.dtype in FLOATS else array.dtype)


def _checks(
    op: Runnable,
    operands: list[Array],
    attrs: dict[str, Any],
    order: int,
    smooth: bool,
    unknown: bool,
    dtypes: Sequence[str],
) -> Iterator[Check]:
    """(label, operands, check) of everything there is to check."""
    if isinstance(op, OpDef):
        yield "every input has a rule", operands, lambda op, *_: table.declares_rules(op)
        if len(op.rules) < len(op.inputs):
            return
    gradients = _has_gradient(op, operands, attrs)
    for label, arrays in variants(op, operands):
        for check, run in _of_call(op, gradients, order, smooth, unknown):
            yield check if label == "as given" else f"{check}, {label}", arrays, run
    for dtype in dtypes:
        cast = [a.astype(dtype) if a.dtype == np.float64 else a for a in operands]
        if isinstance(op, OpDef):
            yield f"inference in {dtype}", cast, table.infers
        if gradients:
            yield f"dtypes of gradients in {dtype}", cast, table.gradients_keep_dtypes
    if isinstance(op, OpDef) and gradients:
        for k in differentiable(op, operands):
            label = f"what the rule for {op.input_at(k)} saves"
            yield label, operands, partial(_reads, position=k)


def _of_call(
    op: Runnable, gradients: bool, order: int, smooth: bool, unknown: bool
) -> Iterator[tuple[str, Callable[..., Any]]]:
    """(label, check) of one call."""
    if isinstance(op, OpDef):
        yield "inference", table.infers
        yield "inputs of which only the shape is asked", table.like_inputs_are_not_read
        yield "the kernel writes to no operand", table.writes_to_no_operand
        yield "eager value", table.eager_is_the_kernel
        yield "nothing is recorded without need", table.nothing_recorded
    if not gradients:
        yield "values in a program", partial(_program_values, unknown=unknown)
        if isinstance(op, OpDef):
            yield "no history without a gradient", table.no_history
        return
    if smooth:
        yield "gradients", partial(_gradients, order=order)
    if isinstance(op, OpDef):
        yield "what is saved", table.saves_what_it_declares
        yield "what is not saved is not read", table.reads_what_it_saves
        yield "only wanted rules run", table.wanted_rules_only
        if op.tangent is not None:
            yield f"tangent={op.tangent!r}", table.declared_tangent
    yield "equal bits with create_graph", table.recording_changes_nothing
    for label, program in table.PROGRAMS.items():
        if unknown or not program["unknown"]:
            title = f"equal bits in a program ({label.replace('-', ', ', 1).replace('-', ' ')})"
            yield title, partial(_in_program, program=program)


def _has_gradient(op: Runnable, operands: list[Array], attrs: dict[str, Any]) -> bool:
    """Some operand has a rule, and a result is floating."""
    operands = [like_layout(a, a) for a in operands]
    positions = differentiable(op, operands)
    if not positions:
        return False
    if isinstance(op, OpDef):
        results = with_gradient(op, kernel(op, operands, attrs))
        return bool(results) and np.asarray(results[0]).dtype in FLOATS
    return any(not y.stop_gradient for y in call(op, tensors(operands, positions), attrs))


def _gradients(op: Runnable, operands: list[Array], attrs: dict[str, Any], order: int) -> None:
    positions = differentiable(op, operands)

    def function(*xs: Any) -> Any:
        with reseeded():
            return with_gradient(op, call(op, xs, attrs))

    names = [op.input_at(k) for k in range(len(operands))] if isinstance(op, OpDef) else None
    if names is not None:
        function.__signature__ = _signature(names)  # type: ignore[attr-defined]
    else:
        function.__wrapped__ = op  # type: ignore[attr-defined]
    gradcheck(function, tensors(operands, positions), order=order)


def _signature(names: Sequence[str]) -> Any:
    """Of a function with these parameters: reports name inputs by it."""
    import inspect

    unique = [n if names.count(n) == 1 else f"{n}_{k}" for k, n in enumerate(names)]
    kind = inspect.Parameter.POSITIONAL_ONLY
    return inspect.Signature([inspect.Parameter(n, kind) for n in unique])


def _program_values(
    op: Runnable, operands: list[Array], attrs: dict[str, Any], unknown: bool
) -> None:
    with reseeded():
        expected = [y.numpy() for y in call(op, tensors(operands), attrs)]
    for flag in (False, True) if unknown else (False,):
        with reseeded():
            results, _, _ = static_orders(op, operands, attrs, (), (), (), unknown=flag)
        table.all_same(results, expected)


def _in_program(
    op: Runnable, operands: list[Array], attrs: dict[str, Any], program: dict[str, Any]
) -> None:
    try:
        table.programs_agree(table.eager_results(op, operands, attrs), **program)
    except ShapeError as error:
        if not program["unknown"]:
            raise
        raise AssertionError(
            f"{error}\nif it cannot do without the sizes, pass unknown=False"
        ) from error


def _reads(op: OpDef, operands: list[Array], attrs: dict[str, Any], position: int) -> None:
    left = table.unread(op, [(operands, attrs)], position)
    table.ensure(
        not left,
        f"the rule asks for {', '.join(sorted(left))} and its result does not depend on it here: "
        "take it out of the rule's parameters, or ask for the shape only (x_like)",
    )
