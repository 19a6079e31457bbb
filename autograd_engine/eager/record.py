"""Running an operation on tensors, and putting it on the tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import _getframe
from typing import Any, NoReturn

import numpy as np

from autograd_engine.core.dtypes import COMPLEX, EXACT, holds_numbers, python_number, scalar_dtype
from autograd_engine.core.locations import user_frame_from, user_stack
from autograd_engine.core.spec import Array, Spec
from autograd_engine.eager.grad_mode import Recorder, current_mode
from autograd_engine.eager.graph_cuts import note_cut
from autograd_engine.eager.saved_hooks import Packed
from autograd_engine.eager.tape import MultiNode, Node, Unwritten, edge_of
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import link
from autograd_engine.errors import DTypeError, NotATensorError
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.scattered_cotangent import Scattered

__all__ = [
    "apply",
    "cast",
    "explain_failure",
    "prepare",
    "record_more",
    "record_scatter",
    "results_of",
    "unwritten",
]

_ndarray = np.ndarray
CAST = REGISTRY["cast"]


def apply(op: OpDef, operands: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Run `op` on Tensors (or what can become one) and record it.

    Parameters
    ----------
    op : OpDef
    operands : sequence
        Tensors; Python scalars and ndarrays, which become constants; Specs for `like` inputs.
    attrs : dict
        All attributes of the operation.

    Returns
    -------
    Tensor, or tuple of Tensors for an operation with several outputs
    """
    mode = current_mode()
    if mode.trace is not None and mode.trace.takes(operands, attrs):
        return mode.trace.emit(op, operands, attrs)
    if mode.autocast is not None:
        operands = mode.autocast.operands(op, operands)
    ready = _ready(op, operands)
    tensors = operands if ready else prepare(op, operands)
    arrays = [t._data if t.__class__ is not Spec else t for t in tensors]
    if op.narrow and not ready and not all(a.dtype in op.taken for a in arrays):
        op.infer_tuple([Spec(a.shape, a.dtype) for a in arrays], attrs)
    try:
        out = op.kernel(*arrays, **attrs)
    except Exception as error:
        explain_failure(op, arrays, attrs, error)
    multiple = op.multiple
    if multiple:
        outputs = tuple([np.asarray(o) for o in out])
    else:
        outputs = (out if out.__class__ is _ndarray else np.asarray(out),)
    return results_of(op, tensors, arrays, outputs, attrs)


def results_of(
    op: OpDef,
    tensors: Sequence[Any],
    arrays: Sequence[Any],
    outputs: tuple[Array, ...],
    attrs: dict[str, Any],
) -> Any:
    """What the kernel made of the arrays of `tensors`, as Tensors: recorded, if need be."""
    for observer in current_mode().observers:
        observer.ran(op, arrays, outputs, attrs)
    node = None
    mask = 0
    bit = 1
    for t in tensors:
        if t.__class__ is not Spec and not t._stop:
            mask |= bit
        bit += bit
    if mask and (mode := current_mode().enabled):
        node = _record(op, mask, tensors, arrays, outputs, attrs)
        if node is not None and mode.__class__ is Recorder:
            record_more(mode, node, tensors, arrays, outputs)
    if not op.multiple:
        result = Tensor._wrap(outputs[0], node)
        if op.write is not None:
            link(result, tensors[0], op, attrs)
        return result
    return tuple([_wrap_output(op, node, i, o) for i, o in enumerate(outputs)])


def record_scatter(name: str, operands: Sequence[Any], attrs: dict[str, Any]) -> Unwritten:
    """Record an operation that `Scattered` can stand for, and leave its result unwritten."""
    arrays = [t._data if isinstance(t, Tensor) else t for t in operands]
    return unwritten(REGISTRY[name], operands, raw.scatter(name, *arrays, **attrs), attrs)


def unwritten(
    op: OpDef, tensors: Sequence[Any], value: Scattered, attrs: Mapping[str, Any]
) -> Unwritten:
    """`value`, that `op` makes of `tensors`, recorded."""
    arrays = [t._data if isinstance(t, Tensor) else t for t in tensors]
    outputs: Any = (value,)
    result = results_of(op, tensors, arrays, outputs, op.complete_attrs(dict(attrs)))
    result.__class__ = Unwritten
    found: Unwritten = result
    return found


def _ready(op: OpDef, operands: Sequence[Any]) -> bool:
    """All are Tensors, and need no cast: of one dtype, floating where the operation wants that.

    Or Specs, where shape and dtype are all that is asked for.
    """
    first = None
    wanted = op.dtypes != "any"
    for k, t in enumerate(operands):
        if isinstance(t, Tensor):
            dtype = t._data.dtype
        elif t.__class__ is Spec:
            dtype = t.dtype
        else:
            return False
        if op.narrow and dtype not in op.taken:
            return False
        if wanted and t.__class__ is not Spec and not (op.untyped and op.input_at(k) in op.untyped):
            if first is None:
                first = dtype
                if not op.meets(dtype):
                    return False
            elif dtype is not first:
                return False
    return True


def _record(
    op: OpDef,
    mask: int,
    tensors: Sequence[Any],
    arrays: Sequence[Any],
    outputs: tuple[Array, ...],
    attrs: dict[str, Any],
) -> Node | None:
    """A node for the call, None when no input that wants a gradient has a rule."""
    project = 0
    if op.broadcasts is not None:
        project = op.projected([a.shape for a in arrays], outputs[0].shape)
    pullback = op.pullback(mask, project, [a.dtype for a in arrays])
    dtype = outputs[0].dtype
    if not pullback.wanted or dtype in EXACT:  # cast to integers: the gradient ends there
        note_cut(op.name, tensors[mask.bit_length() - 1], *outputs)
        return None
    edges = tuple([edge_of(tensors[k]) for k in pullback.wanted])
    grouped = (outputs,) if op.variadic_output else outputs
    saved = pullback.save(*op.group(arrays), *grouped)
    frame = user_frame_from(_getframe(1))
    node_class = MultiNode if op.multiple else Node
    return node_class.of(pullback, edges, saved, attrs, frame.f_code, frame.f_lasti)


def record_more(
    mode: Recorder,
    node: Node,
    tensors: Sequence[Any],
    arrays: Sequence[Any],
    outputs: tuple[Array, ...],
) -> None:
    """What a recorder asks for besides."""
    op = node.pullback.op
    if mode.stacks:
        node.stack = user_stack()
    if mode.watch is not None:
        mode.watch(op, arrays, outputs, node.location, node.attrs)
    if mode.reads is not None:
        mode.reads(tensors)
    if mode.hooks is not None:
        node.saved = Packed.of(node.saved, *mode.hooks)
    if mode.contexts:
        operands = [
            a if op.rule_at(k) is None and op.reads_value(k) else Spec(a.shape, a.dtype)
            for k, a in enumerate(arrays)
        ]
        node.context = tuple(operands), tuple([Spec(o.shape, o.dtype) for o in outputs])


def _wrap_output(op: OpDef, node: Node | None, index: int, data: Array) -> Tensor:
    if not isinstance(node, MultiNode) or op.output_at(index) in op.nondiff_outputs:
        return Tensor._wrap(data)
    return Tensor._wrap(data, node.slot(index))


def prepare(op: OpDef, operands: Sequence[Any]) -> list[Any]:
    """Operands as Tensors (Specs stay), cast to a common dtype where the operation wants that."""
    tensors: list[Any] = []
    scalars = False
    for k, value in enumerate(operands):
        if isinstance(value, np.generic):  # np.sqrt(2) is as weak as 2.0 is
            number = python_number(value)
            value = value if number is None else number
        if isinstance(value, (Tensor, Spec)):
            tensors.append(value)
        elif isinstance(value, (bool, int, float, complex)):
            tensors.append(value)
            scalars = True
        elif isinstance(value, np.ndarray):
            tensors.append(Tensor._wrap(_constant(op, k, value)))
        else:
            raise NotATensorError(_not_a_tensor(op, k, value))
    typed = [op.input_at(k) not in op.untyped for k in range(len(tensors))]
    if scalars:
        known = [
            t._data.dtype
            for t, counts in zip(tensors, typed, strict=True)
            if counts and isinstance(t, Tensor)
        ]
        tensors = [
            t
            if isinstance(t, (Tensor, Spec))
            else Tensor._wrap(np.asarray(t, scalar_dtype(t, known)))
            for t in tensors
        ]
    if op.dtypes != "any":
        dtypes = [
            t._data.dtype
            for t, counts in zip(tensors, typed, strict=True)
            if counts and t.__class__ is not Spec
        ]
        common = op.common_dtype(dtypes)
        tensors = [
            cast(t, common) if counts and t.__class__ is not Spec and t._data.dtype != common else t
            for t, counts in zip(tensors, typed, strict=True)
        ]
    return tensors


def cast(x: Tensor, dtype: np.dtype[Any]) -> Tensor:
    """`x` in another dtype, recorded."""
    out: Tensor = apply(CAST, (x,), {"dtype": dtype.name})
    return out


def _constant(op: OpDef, position: int, value: Any) -> Array:
    array = np.array(value)  # a copy: the caller may go on writing to its own
    if not holds_numbers(array.dtype):
        raise DTypeError(
            f"{op.name}: argument {op.input_at(position)!r} is an array of dtype {array.dtype}; "
            "use bool, integers, floats or complex numbers"
        )
    return array


def _not_a_tensor(op: OpDef, position: int, value: Any) -> str:
    return (
        f"{op.name}: argument {op.input_at(position)!r} must be a Tensor, an ndarray or a number; "
        f"got {type(value).__name__}"
        + (": use paddle.to_tensor" if isinstance(value, (list, tuple)) else "")
    )


def explain_failure(
    op: OpDef, arrays: Sequence[Any], attrs: dict[str, Any], error: Exception
) -> NoReturn:
    """Raise what the operation's inference says is wrong, else `error` with the call's specs."""
    specs = [Spec(a.shape, a.dtype) for a in arrays]
    try:
        op.infer_tuple(specs, attrs)
    except (ValueError, TypeError, IndexError) as better:
        raise better from None
    call = f"{op.name}({', '.join(map(repr, specs))})"
    if isinstance(error, TypeError) and any(s.dtype in COMPLEX for s in specs):
        raise DTypeError(
            f"{op.name}: {call} is not supported; use paddle.real, paddle.imag or paddle.abs"
        ) from error
    error.add_note(f"in {call}")
    raise error
