"""``autograd.detect_anomaly``: the first value that is NaN or infinite, and what made it so.

In the forward direction a `Recorder` has each recorded operation looked at; in a backward pass an
observer of the walk looks at what each node hands on. Both stop at the first one, so what came
before is finite, or was infinite on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, TypeVar

import numpy as np

from autograd_engine.core.dtypes import HALVES, INEXACT, NUMBERS_AND_BOOLS, REALS, finfo
from autograd_engine.core.locations import Location
from autograd_engine.core.operand import Operand
from autograd_engine.core.overrides import OverridingBlock
from autograd_engine.core.spec import Array, format_shape
from autograd_engine.eager.grad_mode import Mode, decorated, grad_mode, modes
from autograd_engine.eager.tape import Edge, Node, Observer, Slot, saved_values
from autograd_engine.errors import AnomalyError, ArgumentError
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.scattered_cotangent import dense

__all__ = ["Anomaly", "detect_anomaly", "is_anomaly_enabled", "set_detect_anomaly"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(slots=True, eq=False)
class Anomaly:
    """What is looked for, and what is said when it is found."""

    nan: bool
    inf: bool

    def bad(self, array: Any) -> Array | None:
        """Where `array` has what is looked for; None where it has nothing of it."""
        if not isinstance(array, np.ndarray) or array.dtype not in INEXACT or not array.size:
            return None
        with np.errstate(all="ignore"):
            wide = np.float32 if array.dtype in HALVES else None
            if np.isfinite(np.add.reduce(array, axis=None, dtype=wide)):
                return None  # one pass, no temporary; it is finite for nearly every array
        if self.nan and self.inf:
            mask = ~np.isfinite(array)
        else:
            mask = np.isnan(array) if self.nan else np.isinf(array)
        mask = np.asarray(mask)
        return mask if mask.any() else None

    # --- forward

    def watch(
        self,
        op: Any,
        operands: Sequence[Any],
        outputs: Sequence[Array],
        location: Location,
        attrs: dict[str, Any] | None = None,
    ) -> None:
        """Look at one operation that has been recorded."""
        for out in outputs:
            mask = self.bad(out)
            if mask is not None:
                self._forward(op, operands, out, mask, location, attrs or {})

    def _forward(
        self,
        op: Any,
        operands: Sequence[Any],
        out: Array,
        mask: Array,
        location: Location,
        attrs: dict[str, Any],
    ) -> None:
        named = [
            (op.input_at(k), a)
            for k, a in enumerate(operands)
            if isinstance(a, np.ndarray) and a.dtype in NUMBERS_AND_BOOLS
        ]
        nan = np.isnan(out)
        if self.nan and nan.any():
            for name, a in named:
                if (at := np.isnan(a)).any():
                    raise AnomalyError(
                        f"{_here(op.name, location)} was given NaN in {name!r} ({_count(at)}). No "
                        "operation that was watched made it: it was there before, in the data or "
                        "in a parameter, or comes from what is not recorded"
                    )
            new = nan
        else:
            new = mask & ~_infinite(op, named, out, attrs)
            if not new.any():
                return  # let through, or a sum with it
        raise AnomalyError(_made(op, named, out, new, location))

    # --- backward

    def observer(
        self, at: Location, seeds: Iterable[tuple[Edge, Any]], then: Observer | None = None
    ) -> Observer:
        """What looks at each node of a pass that `at` runs, before `then` does."""
        for edge, g in seeds:
            if (mask := self.bad(_array(g))) is not None:
                of = edge.name if isinstance(edge, Node) else f"the leaf {edge.name}"
                raise AnomalyError(
                    f"{_pass(at)} was given a cotangent of {of} that is not finite "
                    f"({_count(mask)}): look at what was passed as grad_tensors, grad_outputs or v"
                )

        def observe(node: Node, g: Any, edges: tuple[Edge, ...], results: tuple[Any, ...]) -> None:
            if not isinstance(node, Slot):
                self._node(node, g, edges, results, at)
            if then is not None:
                then(node, g, edges, results)

        return observe

    def _node(
        self,
        node: Node,
        g: Any,
        edges: tuple[Edge, ...],
        results: tuple[Any, ...],
        at: Location,
    ) -> None:
        given_in = [c for c in (g.values() if isinstance(g, dict) else (g,)) if c is not None]
        arrived = [_array(c) for c in given_in]
        for c in arrived:
            if (mask := self.bad(c)) is not None:
                raise AnomalyError(
                    f"{_pass(at)}: the cotangents of the result of "
                    f"{_here(node.name, node.location)} are finite, and their sum is not "
                    f"({_count(mask)}): it overflows {c.dtype.name}; scale the loss down"
                )
        for position, result in zip(_positions(node, edges), results, strict=True):
            given = _array(result)
            mask = self.bad(given)
            if mask is None:
                continue
            from autograd_engine.autograd.batching.batched import Batched
            from autograd_engine.autograd.explain.causes import nonfinite_cause

            if isinstance(result, Batched):  # many gradients at once: the first that has it
                row = int(np.argwhere(mask)[0][0])
                given, mask = given[row], mask[row]
                pairs = zip(given_in, arrived, strict=True)
                arrived = [a[row] if isinstance(c, Batched) else a for c, a in pairs]
            cause = nonfinite_cause(node, arrived, given, tuple(map(_array, saved_values(node))))
            raise AnomalyError(
                f"{_pass(at)} made {_what(given, mask)} of a finite gradient, in the derivative of "
                f"{node.name} with respect to {node.pullback.op.input_at(position)!r} "
                f"({_count(mask)}). {cause.text}"
            )

    def hooked(self, hook: str, where: object, before: Array, after: Array) -> None:
        """Look at what a hook made of a gradient."""
        mask = self.bad(after)
        if mask is not None and self.bad(before) is None:
            raise AnomalyError(
                f"{hook}, a hook on the gradient of {where}, made {_what(after, mask)} of a finite "
                f"gradient: {_count(mask)}"
            )

    def pushed(self, node: Node, given: Sequence[Any], results: Sequence[Any]) -> None:
        """Look at the tangents of what an operation returned."""
        for result in results:
            mask = self.bad(_array(result))
            if mask is not None and all(self.bad(_array(t)) is None for t in given):
                raise AnomalyError(
                    f"jvp: {_here(node.name, node.location)} has a tangent that is not finite "
                    f"though those of its operands are ({_count(mask)}){_advice(node.pullback.op)}"
                )


def _elementwise(op: Any) -> bool:
    return bool(op.broadcasts == 0 or op.tangent == "elementwise")


def _infinite(op: Any, named: list[tuple[str, Array]], out: Array, attrs: dict[str, Any]) -> Array:
    """Where infinity in `out` may come from infinity in the operands."""
    if any(isinstance(v, float) and np.isinf(v) for v in attrs.values()):
        return np.ones(out.shape, np.bool_)
    found = np.zeros(out.shape, np.bool_)
    for _, a in named:
        at = np.isinf(a)
        if at.any():
            found |= at if _elementwise(op) else True
    return found


def _made(
    op: Any, named: list[tuple[str, Array]], out: Array, new: Array, location: Location
) -> str:
    index = tuple(int(i) for i in np.argwhere(new)[0])
    at = index if _elementwise(op) else None
    values = ", ".join(_operand(name, a, at, out.shape) for name, a in named)
    infinite = [name for name, a in named if np.isinf(a).any()]
    origin = (
        f"of infinity in {' and '.join(map(repr, infinite))}"
        if infinite
        else "though all that it was given is finite"
    )
    return (
        f"{_here(op.name, location)} made {_what(out, new)} {origin}: {_count(new)}"
        + (f", where {values}" if values else "")
        + _advice(op)
        + (
            f". The largest number of {out.dtype.name} is {float(finfo(out.dtype).max):.6g}: "
            "compute this in float32"
            if out.dtype in HALVES
            else ""
        )
    )


def _operand(name: str, array: Array, index: tuple[int, ...] | None, shape: tuple[int, ...]) -> str:
    """Its element at `index` of the result, else its shape and range."""
    if index is not None:
        return f"{name} = {np.broadcast_to(array, shape)[index]:.6g}"
    ordered = array.dtype in REALS and array.size
    extent = f" and values from {array.min():.6g} to {array.max():.6g}" if ordered else ""
    return f"{name} has shape {format_shape(array.shape)}{extent}"


def _advice(op: OpDef) -> str:
    advice = op.nan_hint or op.hint
    return f". {advice[0].upper()}{advice[1:]}" if advice else ""


def _what(array: Array, mask: Array) -> str:
    value = array[mask][0]
    return "NaN" if np.isnan(value) else "infinity" if not value < 0 else "-infinity"


def _count(mask: Array) -> str:
    index = [int(i) for i in np.argwhere(mask)[0]]
    if not index:
        return "the one element"
    return f"{int(np.count_nonzero(mask))} of {mask.size} elements, the first at {index}"


def _here(name: str, location: Location) -> str:
    text = location.text
    return f"{name} at {location}" + (f" ({text})" if text else "")


def _pass(at: Location) -> str:
    return _here("the backward pass", at)


def _array(value: Any) -> Any:
    """A cotangent, or a stack of them, as an ndarray."""
    if not isinstance(value, Operand):
        value = getattr(value, "value", value)  # of a `Batched`
    return getattr(dense(value), "_data", value)


def _positions(node: Node, edges: tuple[Edge, ...]) -> list[int]:
    """Which inputs `edges` belong to: all that are wanted, or those that the pass follows."""
    wanted = node.pullback.wanted
    if len(edges) == len(wanted):
        return list(wanted)
    followed = set(edges)
    return [k for k, e in zip(wanted, node.edges, strict=True) if e in followed]


class _Watched(Mode):
    """Operations are looked at; `warnings` is what NumPy did about them before."""

    __slots__ = ("warnings",)

    def __init__(self, anomaly: Anomaly | None) -> None:
        super().__init__(*_watching(anomaly))
        self.warnings: Any = np.geterr()


def _watching(anomaly: Anomaly | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Changes of a `Mode`."""
    return {"anomaly": anomaly}, {"watch": None if anomaly is None else anomaly.watch}


class detect_anomaly(OverridingBlock):  # noqa: N801 - a context manager, like no_grad
    """Raise at the first NaN or infinity, saying which line of yours made it.

    As a context manager or a decorator, around a forward computation, a backward pass, or both.

    Forward, each operation that is recorded is looked at: it must not make NaN, nor infinity of
    finite numbers. Infinity that was put in on purpose (a mask of ``-inf``) may pass through. In a
    backward pass, each operation must hand finite gradients on. What is raised says which
    operation, at which line, which element, and the values there that cause it. No ``.grad`` is
    touched then.

    Parameters
    ----------
    check_nan, check_inf : bool
        What to look for.

    Raises
    ------
    AnomalyError
        A FloatingPointError and a RuntimeError.

    Notes
    -----
    Operations that are not recorded, since no operand needs a gradient or recording is off, are
    not looked at; that their results are not finite is noticed when a recorded one reads them.
    Warnings of NumPy are off inside, for what they warn of is raised here, with its line. Each
    thread, and each asyncio task, has its own setting. Every operation costs another pass over its
    result.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    >>> y = paddle.sqrt(x).sum()
    >>> with paddle.autograd.detect_anomaly():
    ...     y.backward()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    autograd_engine.errors.AnomalyError: the backward pass at ... made infinity of a finite ...
    """

    _overrides = modes

    def __init__(self, check_nan: bool = True, check_inf: bool = True) -> None:
        super().__init__()
        self._options = check_nan, check_inf
        self._anomaly = _anomaly("detect_anomaly", check_nan, check_inf)

    def _override(self) -> Mode:
        return _Watched(self._anomaly)

    def __enter__(self) -> None:
        super().__enter__()
        try:
            np.seterr(all="ignore")
        except BaseException:  # an interrupt, and nobody will call __exit__
            self.__exit__(None, None, None)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        left, inside = self._leave()
        if inside is None:
            return
        assert isinstance(left, _Watched)
        later = [mode for mode in inside if isinstance(mode, _Watched)]
        if later:  # in a generator that is not through: it is the one to put them back
            later[-1].warnings = left.warnings
        else:
            np.seterr(**left.warnings)

    def __call__(self, function: F) -> F:
        return decorated(function, lambda: detect_anomaly(*self._options), "detect_anomaly")


def _anomaly(function: str, check_nan: bool, check_inf: bool) -> Anomaly | None:
    for name, value in (("check_nan", check_nan), ("check_inf", check_inf)):
        if not isinstance(value, bool):
            raise ArgumentError(f"{function}: {name} must be True or False, got {value!r}")
    return Anomaly(check_nan, check_inf) if check_nan or check_inf else None


# What NumPy did about them before `set_detect_anomaly`; its own setting is of the context too.
_warnings: Final[ContextVar[Any]] = ContextVar("autograd_engine.warnings", default=None)


def set_detect_anomaly(mode: bool, check_nan: bool = True, check_inf: bool = True) -> None:
    """Do from now on what `detect_anomaly` does in a block, or stop doing it.

    In this thread, or this asyncio task, alone.

    Parameters
    ----------
    mode : bool
        True to begin, False to stop.
    check_nan, check_inf : bool
        See `detect_anomaly`.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> paddle.autograd.set_detect_anomaly(True)
    >>> paddle.autograd.is_anomaly_enabled()
    True
    >>> paddle.autograd.set_detect_anomaly(False)
    """
    if not isinstance(mode, bool):
        raise ArgumentError(f"set_detect_anomaly: mode must be True or False, got {mode!r}")
    anomaly = _anomaly("set_detect_anomaly", check_nan, check_inf) if mode else None
    modes.put(Mode(*_watching(anomaly)))
    before = _warnings.get()
    if anomaly is not None and before is None:
        _warnings.set(dict(np.seterr(all="ignore")))
    elif anomaly is None and before is not None:
        np.seterr(**before)
        _warnings.set(None)


def is_anomaly_enabled() -> bool:
    """Whether this thread and asyncio task look for NaN and infinity; see `detect_anomaly`.

    Examples
    --------
    >>> is_anomaly_enabled()
    False
    """
    return grad_mode.anomaly is not None
