"""``static.py_func``: Python functions of the user's as operators of a program.

Each call makes an operation of its own. Its gradient, where the user gives one, is a second
function that nothing is known of: an operation without a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_engine.autograd.custom_op.kernel import kind, own, shielded
from autograd_engine.core.dtypes import can_cast, holds_numbers
from autograd_engine.core.effects_switch import effects
from autograd_engine.core.locations import Location, caller
from autograd_engine.core.pass_through import pass_through
from autograd_engine.core.spec import Array, Spec, format_shape, may_equal
from autograd_engine.eager.hooks import as_seen
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    BuildError,
    DTypeError,
    ExecutionError,
    ModeError,
    NotATensorError,
    NotDifferentiableError,
    ShapeError,
)
from autograd_engine.ops.registry.opdef import NONDIFF, Rule
from autograd_engine.program import mode
from autograd_engine.program.builder import append_operator
from autograd_engine.program.data import require_variable
from autograd_engine.program.ir.program import (
    Block,
    Ref,
    Variable,
    default_main_program,
)
from autograd_engine.static.print_assert import EffectOperation

__all__ = ["py_func"]


def py_func(
    func: Callable[..., Any],
    x: Any,
    out: Any,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Any = None,
) -> Any:
    """Have a Python function run whenever the program does, in its place among the operators.

    Parameters
    ----------
    func : callable
        ``func(*arrays)`` gets the values of `x` as ndarrays that cannot be written, and returns
        those of `out`: an array, a tuple or list of arrays for several, or None for none.
    x : Variable, list or tuple of Variable, or None
    out : Variable, list or tuple of Variable, or None
        Made by ``program.current_block().create_var(name=..., shape=..., dtype=...)``; each value
        is held to shape and dtype.
    backward_func : callable, optional
        ``backward_func(*x, *out, *gradients of out)`` returns the gradient of each of `x`, or
        None for zeros. Without it no gradient flows. There is no second derivative.
    skip_vars_in_backward_input : Variable, or list or tuple of Variable, optional
        Of `x` and `out`, what `backward_func` is not given.

    Returns
    -------
    Variable, list or tuple of Variable, or None
        `out`.

    Raises
    ------
    ModeError
        In eager mode.
    TypeError, NotATensorError, ArgumentError, BuildError
        When an argument is of another kind, or belongs to another program.

    Notes
    -----
    When the program runs, an exception of `func` comes through as it is; a result that is not as
    declared raises ShapeError or DTypeError, which names this line.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [-1], "float32")
    ...     x.stop_gradient = False
    ...     y = main.current_block().create_var(name="y", shape=[-1], dtype="float32")
    ...     y = paddle.static.py_func(np.tanh, x, y, lambda x, y, dy: dy * (1 - y * y))
    ...     (g,) = paddle.static.gradients([y], [x])
    >>> exe = paddle.static.Executor()
    >>> exe.run(main, feed={"x": np.zeros(2, "float32")}, fetch_list=[y, g])
    [array([0., 0.], dtype=float32), array([1., 1.], dtype=float32)]
    """
    if not mode.building():
        raise ModeError(
            "py_func adds a Python function to a program, and eager mode is on: call the function "
            "itself, or give it a gradient with paddle.autograd.PyLayer or paddle.autograd.defop"
        )
    for argument, function in (("func", func), ("backward_func", backward_func)):
        if not callable(function) and (argument == "func" or function is not None):
            raise ArgumentTypeError(f"py_func: {argument} must be a function, got {kind(function)}")
    xs, outs = _variables("x", x), _variables("out", out)
    block = default_main_program().current_block()
    if xs or outs:
        block = (xs or outs)[0].block.program.current_block()
    skipped = _variables("skip_vars_in_backward_input", skip_vars_in_backward_input)
    if strange := [v.name for v in skipped if not any(v is w for w in (*xs, *outs))]:
        raise ArgumentError(
            f"py_func: skip_vars_in_backward_input names {', '.join(strange)}, and what "
            "backward_func gets is of x and out"
        )
    _check_outs(outs, xs, block)
    call = _Call(func, backward_func, xs, outs, skipped, caller())
    with block.restored_on_error():
        inside = [v.seen_from(block) for v in xs]
        operands = tuple(Ref(v, v.version) for v in inside)
        results = tuple(v.write() for v in outs)
        append_operator(block, call.operation(), operands, results, {})
    return out


def _variables(argument: str, value: Any) -> list[Variable]:
    found = [] if value is None else value if isinstance(value, (list, tuple)) else [value]
    for k, v in enumerate(found):
        require_variable("py_func", f"{argument}[{k}]" if found is value else argument, v)
    return list(found)


def _check_outs(outs: Sequence[Variable], xs: Sequence[Variable], block: Block) -> None:
    for k, v in enumerate(outs):
        if v.is_data:
            raise ArgumentError(f"py_func: {v.name} is fed, and cannot be out as well; {_MADE_BY}")
        if any(v is w for w in (*xs, *outs[:k])):
            raise ArgumentError(f"py_func: {v.name} is named twice; {_MADE_BY}")
        if v.block is not block:
            raise BuildError(
                f"py_func: {v.name} belongs to another program or block than x; {_MADE_BY}"
            )


_MADE_BY = (
    "make a variable for each output with program.current_block().create_var(name=..., "
    "shape=..., dtype=...)"
)


class _Call:
    """One `py_func`: its arguments, and where it is written."""

    def __init__(
        self,
        func: Callable[..., Any],
        backward_func: Callable[..., Any] | None,
        xs: Sequence[Variable],
        outs: Sequence[Variable],
        skipped: Sequence[Variable],
        location: Location,
    ) -> None:
        self.func = func
        self.backward_func = backward_func
        self.names = [v.name for v in xs]
        self.out_names = [v.name for v in outs]
        self.out_specs = tuple(v.spec for v in outs)
        self.given = [not any(v is s for s in skipped) for v in (*xs, *outs)]
        text = location.text
        self.where = f"{location} ({text})" if text else str(location)

    def __repr__(self) -> str:
        return f"py_func of {self.where}"

    def operation(self) -> EffectOperation:
        """The function as an operation."""
        n = len(self.names)
        op = EffectOperation(
            "py_func",
            self._run,
            inputs="*x",
            outputs="*out",
            infer=lambda *_: self.out_specs,
        )
        if self.backward_func is None:
            return op.vjp(x=NONDIFF)  # type: ignore[return-value]
        gradient = self._gradient_operation()
        asks_x, asks_out = any(self.given[:n]), any(self.given[n:])

        def differentiate(xp: Any, g: Any, x: Any, out: Any) -> Any:
            values = [v for v, given in zip((*x, *out), self.given, strict=True) if given]
            return xp[gradient](*values, *g, *x)

        # What nobody reads is not kept, only its shape.
        rules: dict[tuple[bool, bool], Callable[..., Any]] = {
            (True, True): lambda xp, g_out, x, out: differentiate(xp, g_out, x, out),
            (True, False): lambda xp, g_out, x, out_like: differentiate(xp, g_out, x, out_like),
            (False, True): lambda xp, g_out, x_like, out: differentiate(xp, g_out, x_like, out),
            (False, False): lambda xp, g_out, x_like, out_like: differentiate(
                xp, g_out, x_like, out_like
            ),
        }
        return op.vjp(x=rules[asks_x, asks_out])  # type: ignore[return-value]

    def _gradient_operation(self) -> _Opaque:
        """`backward_func` as an operation: on its arguments, and the shapes of all inputs."""
        n, count = len(self.names), sum(self.given) + len(self.out_names)
        return _Opaque(
            self.where,
            "py_func_grad",
            self._run_backward,
            inputs=" ".join([*(f"value_{k}" for k in range(count)), "*likes"]),
            outputs="*gradients",
            infer=lambda *specs: tuple(specs[-n:]),
        )

    def _run(self, *arrays: Array) -> tuple[Array, ...]:
        made = self._called(self.func, arrays)
        return self._checked(
            made, arrays, self.out_specs, [f"for {name}" for name in self.out_names], self.func
        )

    def _run_backward(self, *operands: Any) -> tuple[Array, ...]:
        n = len(self.names)
        first = len(operands) - n - len(self.out_names)  # of the gradients that arrive
        arrays = (*operands[:first], *map(as_seen, operands[first:-n]))
        function: Any = self.backward_func
        made = self._called(function, arrays)
        specs = [Spec(like.shape, like.dtype) for like in operands[-n:]]
        roles = [f"as the gradient of {name}" for name in self.names]
        found = self._checked(made, arrays, specs, roles, function, zeros=True)
        return tuple(map(as_seen, found))

    def _called(self, function: Callable[..., Any], arrays: Sequence[Array]) -> Any:
        if effects.off:
            raise ExecutionError(f"py_func of {self.where}: only a run calls {_name(function)}")
        try:
            return function(*shielded(tuple(arrays)))
        except Exception as error:
            if isinstance(error, ValueError) and "read-only" in str(error):
                error.add_note("what py_func hands over cannot be written: use x = x.copy()")
            pass_through(error, f"in the py_func of {self.where}")
            raise

    def _checked(
        self,
        made: Any,
        given: Sequence[Array],
        specs: Sequence[Spec],
        roles: Sequence[str],
        function: Callable[..., Any],
        zeros: bool = False,
    ) -> tuple[Array, ...]:
        """What a function returned, as arrays of these shapes and dtypes."""
        who = f"py_func of {self.where}: {_name(function)} returned"
        if made is None and not specs:
            return ()
        box = list(made) if isinstance(made, (list, tuple)) else [made]
        del made
        if len(box) != len(specs):
            wanted = f"{len(specs)} ({', '.join(self.names if zeros else self.out_names)})"
            raise pass_through(
                ArgumentError(f"{who} {len(box)} values for {wanted}; return one for each")
            )
        results = []
        for k, (spec, role) in enumerate(zip(specs, roles, strict=True)):
            if zeros and box[k] is None:
                results.append(np.zeros(spec.shape, spec.dtype))
            else:
                results.append(_as_declared(own(box, k, given), spec, who, role))
        return tuple(results)


def _name(function: Any) -> str:
    return getattr(function, "__name__", "the function")


def _as_declared(value: Any, spec: Spec, who: str, role: str) -> Array:
    if isinstance(value, Tensor):
        value = value.numpy()
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        array = np.asarray(None)
    if isinstance(value, Variable) or not holds_numbers(array.dtype, wide=True):
        raise pass_through(NotATensorError(f"{who} {kind(value)} {role}; return an ndarray"))
    typed = isinstance(value, (np.ndarray, np.generic))
    if not typed and can_cast(array.dtype, spec.dtype, "same_kind"):
        array = array.astype(spec.dtype)
    if not may_equal(array.shape, spec.shape):
        raise pass_through(
            ShapeError(
                f"{who} shape {format_shape(array.shape)} {role}, which is {spec!r}; declare the "
                "shape that it has, with -1 for sizes that differ from run to run"
            )
        )
    if array.dtype != spec.dtype:
        raise pass_through(
            DTypeError(
                f"{who} {array.dtype} {role}, which is {spec!r}; use "
                f".astype({spec.dtype.name!r}), or declare another dtype"
            )
        )
    return array


class _Opaque(EffectOperation):
    """The operation of a `backward_func`, of which there is no derivative."""

    def __init__(self, where: str, name: str, kernel: Any, **options: Any) -> None:
        self.where = where
        super().__init__(name, kernel, **options)

    def rule_at(self, position: int) -> Rule | None:
        if mode.building():
            raise self._refusal()
        # Recorded, but not asked for yet.
        return Rule(self, self.input_at(position), self._refuse)

    def _refuse(self, xp: Any, g_gradients: Any) -> Any:
        raise pass_through(self._refusal())

    def _refusal(self) -> NotDifferentiableError:
        return NotDifferentiableError(
            f"py_func of {self.where}: there is no second derivative, for nothing is known of what "
            "backward_func computes; write it with paddle operations, or as a "
            "paddle.autograd.defop with rules"
        )
