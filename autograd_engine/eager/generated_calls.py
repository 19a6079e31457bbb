"""Operations as functions on Tensors, generated from the table.

`record.apply` runs any operation. On small arrays its loops cost as much as the arithmetic, so for
each operation with a fixed number of inputs and of outputs a function is generated that does the
same, written out flat. For ``multiply``::

    def multiply(x, y):
        try:
            _a0, _a1 = x._data, y._data
        except AttributeError:
            _x, _y = _with_scalar(x, y)
            if _x is None: return _general(x, y)
            ...
        try:
            if _a1.dtype is not _a0.dtype: return _general(x, y)
            _out = _kernel(_a0, _a1)
            ...
        except AttributeError: ...

What falls outside (mixed dtypes, ndarrays, Variables) goes to `general`. So does what is no Tensor
but has an attribute ``_data``, such as the arrays of other libraries: nobody asks for its class
before the kernel fails, or something else of a Tensor is missing.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from sys import _getframe
from types import CodeType, FunctionType
from typing import Any, Final

import numpy as np

from autograd_engine.core.dtypes import (
    BOOL,
    COMPLEX,
    FLOAT32,
    FLOATS,
    HALVES,
    INEXACT,
    INT64,
    WIDE_FLOATS,
    WIDE_INEXACT,
)
from autograd_engine.core.locations import run_generated, user_frame_from, users
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.spec import Spec
from autograd_engine.eager.grad_mode import current_mode
from autograd_engine.eager.record import explain_failure, results_of
from autograd_engine.eager.tape import MultiNode, Node, Slot, newer
from autograd_engine.eager.tensor import Tensor
from autograd_engine.eager.views import link
from autograd_engine.ops.kernels.compiled import MANY
from autograd_engine.ops.registry.cores import on_all_cores
from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["general_calls", "generate_call", "generates"]

_new = object.__new__
_array = np.array


class _Codes:
    """The two codes of a generated function.

    The operation is not held: it holds the function, which would then never end.
    """

    __slots__ = ("_attrs", "_general", "_inputs", "_name", "flat")

    def __init__(self, op: OpDef, flat: CodeType) -> None:
        inputs = (f"*{op.inputs[0]}",) if op.variadic else op.inputs
        self._name, self._inputs, self._attrs = op.name, inputs, tuple(op.attrs)
        self.flat = flat
        self._general: CodeType | None = None

    @property
    def general(self) -> CodeType:
        """What it runs inside `general_calls`."""
        if self._general is None:
            self._general = _general_code(self._name, self._inputs, self._attrs)
        return self._general


_generated: Final[weakref.WeakKeyDictionary[FunctionType, _Codes]] = weakref.WeakKeyDictionary()
# Blocks of `general_calls`, in all threads, each with its thread; and what puts back the rest.
_open: Final[dict[object, int]] = {}
_restores: Final[set[Callable[[], None]]] = set()


def _keep_own() -> None:
    """In a child: blocks of other threads have not come with this one."""
    me = threading.get_ident()
    for block in [block for block, thread in _open.items() if thread != me]:
        del _open[block]
    if not _open:
        _put_back()


def _put_back() -> None:
    for restore in _restores:
        restore()
    for call, codes in list(_generated.items()):
        call.__code__ = codes.flat


_exchanging: Final = renewed_lock(_keep_own)


def generates(op: OpDef) -> bool:
    """Whether a flat function can be generated for `op`."""
    if op.variadic:
        plain = op.dtypes == "common" and not (op.untyped or op.real)
        return plain and len(op.inputs) == 1 and not op.multiple
    return bool(op.inputs) and not op.variadic_output


def generate_call(op: OpDef, general: Callable[..., Any], unless: str = "") -> Callable[..., Any]:
    """A function that does what `general` does, quickly where the operands are plain Tensors.

    `unless` is a condition on the arrays ``_a0``, ``_a1`` under which `general` is to do it too.
    """
    source = _variadic_source(op) if op.variadic else _source(op, unless)
    scope: dict[str, Any] = {
        "_MultiNode": MultiNode,
        "_Node": Node,
        "_Spec": Spec,
        "_Slot": Slot,
        "_Tensor": Tensor,
        "_asarray": np.asarray,
        "_COMPLEX": COMPLEX,
        "_FLOATS": FLOATS,
        "_HALVES": HALVES,
        "_INEXACT": INEXACT,
        "_WIDE_FLOATS": WIDE_FLOATS,
        "_WIDE_INEXACT": WIDE_INEXACT,
        "_float32": FLOAT32,
        "_bool": BOOL,
        "_explain_failure": explain_failure,
        "_general": general,
        "_getframe": _getframe,
        "_current_mode": current_mode,
        "_kernel": op.direct,
        "_on_all_cores": on_all_cores(op),
        "_link": link,
        "_ndarray": np.ndarray,
        "_new": object.__new__,
        "_op": op,
        "_no_attrs": {},
        "_newer": newer,
        "_user_frame_from": user_frame_from,
        "_users": users,
        "_pullbacks": _Pullbacks(op),
        "_ref": weakref.ref,
        "_results_of": results_of,
        "_with_scalar": with_scalar,
        **{f"_default_{name}": value for name, value in op.attrs.items()},
    }
    run_generated(source, op.name, scope)
    call: FunctionType = scope[op.name]
    with _exchanging:
        _generated[call] = codes = _Codes(op, call.__code__)
        if _open:
            call.__code__ = codes.general
    return call


def _general_code(name: str, inputs: Sequence[str], attrs: Sequence[str]) -> CodeType:
    positional = ", ".join(inputs)
    keywords = attrs if positional.startswith("*") else ("*", *attrs)
    signature = positional + "".join(f", {a}" for a in keywords if attrs)
    named = "".join(f", {a}={a}" for a in attrs)
    scope: dict[str, Any] = {}
    text = f"def {name}({signature}):\n    return _general({positional}{named})\n"
    run_generated(text, name, scope)
    code: CodeType = scope[name].__code__
    return code


@contextlib.contextmanager
def general_calls(exchange: Callable[[], None], restore: Callable[[], None]) -> Iterator[None]:
    """Inside the ``with`` block every call of an operation takes the general way, `apply`.

    So nothing is spent, outside of it, on asking whether somebody wants to see the call. Other
    threads take that way too, with the same results.

    Parameters
    ----------
    exchange : callable
        Exchanges whatever else is another thing inside of a block.
    restore : callable
        Puts it back when the last block, in any thread, has ended.
    """
    block = object()
    try:  # before anything is exchanged: an interrupt may come in between
        with _exchanging:
            _open[block] = threading.get_ident()
            _restores.add(restore)
            # All of them, also where another block is open: an interrupt may have left some out.
            for call, codes in list(_generated.items()):
                call.__code__ = codes.general
            exchange()
        yield
    finally:
        with _exchanging:
            _open.pop(block, None)
            if not _open:
                _put_back()


class _Pullbacks(dict[int, Any]):
    """Pullbacks by the inputs that want a gradient (low bits) and those to project (high)."""

    def __init__(self, op: OpDef) -> None:
        self._op = op
        self._width = len(op.inputs)

    def __missing__(self, key: int) -> Any:
        op, mask = self._op, key & ((1 << self._width) - 1)
        made = op.pullback(key) if op.variadic else op.pullback(mask, key >> self._width)
        self[key] = made
        return made


def with_scalar(x: Any, y: Any) -> tuple[Any, Any]:
    """A Tensor beside a number, which takes its dtype, or an array of it; else Nones."""
    if isinstance(x, Tensor):
        return x, _beside(x, y)
    if isinstance(y, Tensor):
        return _beside(y, x), y
    return None, None


def _beside(tensor: Tensor, other: Any) -> Tensor | None:
    dtype = tensor._data.dtype
    if dtype in FLOATS:
        if other.__class__ is float or other.__class__ is int:
            number = _new(Tensor)  # `Tensor._wrap`, without the call
            number._data, number._node, number._stop = _array(other, dtype), None, True
            return number
        if other.__class__ is np.ndarray and other.dtype is dtype:
            return Tensor._wrap(other.copy())  # the caller may go on writing to it
    elif dtype is INT64 and other.__class__ is int and -(1 << 63) <= other < 1 << 63:
        return Tensor._wrap(np.asarray(other, dtype))
    return None


def _source(op: OpDef, unless: str) -> str:
    """The text of the function. Its own names start with an underscore, for inputs' have none."""
    inputs = ", ".join(op.inputs)
    arrays = [f"_a{k}" for k in range(len(op.inputs))]
    outs = [f"_out{k}" for k in range(len(op.outputs))] if op.multiple else ["_out"]
    ts = [f"_t{k}" for k in range(len(op.outputs))] if op.multiple else ["_t"]
    attrs = "".join(f", {name}={name}" for name in op.attrs)
    signature = inputs + (", *" if op.attrs else "")
    signature += "".join(f", {name}=_default_{name}" for name in op.attrs)
    # Rules hand over shape and dtype of what is not read.
    data = ", ".join(
        f"{name}._data"
        if op.reads_value(k)
        else f"{name} if {name}.__class__ is _Spec else {name}._data"
        for k, name in enumerate(op.inputs)
    )
    general = f"_general({inputs}{attrs})"
    tensors = " and ".join(f"isinstance({name}, _Tensor)" for name in op.inputs)
    body = [
        *_checks(op, arrays, general, unless),
        "try:",
        f"    _out = {_computed(op, arrays, attrs)}",
        "except Exception as _error:",
        f"    if not ({tensors}): return {general}",
        f"    _explain_failure(_op, ({', '.join(arrays)},), {_attr_dict(op)}, _error)",
        *([f"{', '.join(outs)} = _out"] if op.multiple else []),
        *[f"if {o}.__class__ is not _ndarray: {o} = _asarray({o})" for o in outs],
        *[line for t, o in zip(ts, outs, strict=True) for line in _made(t, o)],
        *_recording(op, arrays, outs, ts),
        *[line for t in ts for line in _stopped(t)],
        *([f"_link(_t, {inputs}, _op, {_attr_dict(op)})"] if op.write else []),
        f"return {', '.join(ts)}",
    ]
    lines = [
        f"def {op.name}({signature}):",
        "    try:",
        f"        {', '.join(arrays)} = {data}",
        "    except AttributeError:",
        *_other_operands(op, arrays, data, general),
        "    try:",
        *("        " + line for line in body),
        "    except AttributeError:",
        f"        if {tensors}: raise",
        f"        return {general}",
    ]
    return "\n".join(lines) + "\n"


def _computed(op: OpDef, arrays: list[str], attrs: str) -> str:
    call = f"_kernel({', '.join(arrays)}{attrs})"
    if on_all_cores(op) is None:
        return call
    if len(arrays) == 1:
        small = f"_a0.size < {MANY}"
    else:
        # Of different shapes, a result may have as many elements as the product says. It seldom
        # has, so more are asked for before the call that finds out is worth its time.
        none_large = " and ".join(f"{a}.size < {MANY}" for a in arrays)
        count = " * ".join(f"{a}.size" for a in arrays)
        alike = " == ".join(f"{a}.shape" for a in arrays)
        small = f"(_n := {count}) < {MANY} or ({none_large} and (_n <= {MANY << 5} or {alike}))"
    return f"{call} if {small} else _on_all_cores({', '.join(arrays)})"


def _variadic_source(op: OpDef) -> str:
    """The text for an operation of any number of arrays, which are all that it takes."""
    attrs = "".join(f", {name}={name}" for name in op.attrs)
    defaults = "".join(f", {name}=_default_{name}" for name in op.attrs)
    xs = op.inputs[0]
    general = f"_general(*{xs}{attrs})"
    tensors = f"all([isinstance(_x, _Tensor) for _x in {xs}])"
    return (
        "\n        ".join(
            [
                f"def {op.name}(*{xs}{defaults}):\n    try:",
                f"_arrays = [_x._data for _x in {xs}]",
                f"if not _arrays: return {general}",
                "_mask, _bit = 0, 1",
                f"for _x in {xs}:",
                "    if not _x._stop: _mask += _bit",
                "    _bit += _bit",
                "_dtype = _arrays[0].dtype",
                "for _a in _arrays:",
                f"    if _a.dtype is not _dtype: return {general}",
                "try:",
                f"    _out = _kernel(*_arrays{attrs})",
                "except Exception as _error:",
                f"    if not {tensors}: return {general}",
                f"    _explain_failure(_op, _arrays, {_attr_dict(op)}, _error)",
                "if _out.__class__ is not _ndarray: _out = _asarray(_out)",
                *_made("_t", "_out"),
                "if _mask and (_mode := _current_mode().enabled):",
                "    if _mode is not True:",
                f"        return _results_of(_op, {xs}, _arrays, (_out,), {_attr_dict(op)})",
                "    _pullback = _pullbacks[_mask]",
                f"    _edges = tuple([_x._node or _x for _x in {xs} if not _x._stop])",
                *("    " + line for line in _node(op, "tuple(_arrays), _out")),
                "    _t._stop = False",
                "    _t._node = _node",
                "    return _t",
                *_stopped("_t"),
                "return _t",
            ]
        )
        + f"""
    except AttributeError:
        if {tensors}: raise
        return {general}
"""
    )


def _node(op: OpDef, given: str) -> list[str]:
    """A node of ``_pullback`` and ``_edges``, without the call of its class, which takes twice as
    long as all of this.
    """
    return [
        "_frame = _getframe(1)",
        "if _frame.f_globals is not _users[0]: _frame = _user_frame_from(_frame)",
        f"_node = _new({'_MultiNode' if op.multiple else '_Node'})",
        "_node.pullback = _pullback",
        "_node.edges = _edges",
        f"_node.saved = _pullback.save({given})",
        f"_node.attrs = {_attr_dict(op) if op.attrs else '_no_attrs'}",
        "_node.seq = _newer()",
        "_node.code = _frame.f_code",
        "_node.instruction = _frame.f_lasti",
    ]


def _made(tensor: str, array: str) -> list[str]:
    return [f"{tensor} = _new(_Tensor)", f"{tensor}._data = {array}"]


def _stopped(tensor: str) -> list[str]:
    return [f"{tensor}._stop = True", f"{tensor}._node = None"]


def _typed(op: OpDef) -> list[int]:
    """Positions of the inputs that meet in one dtype."""
    return [k for k, name in enumerate(op.inputs) if name not in op.untyped]


def _other_operands(op: OpDef, arrays: list[str], data: str, general: str) -> list[str]:
    typed = _typed(op)
    if len(typed) != 2 or op.dtypes == "any" or op.attrs:
        return [f"        return {general}"]
    x, y = (op.inputs[k] for k in typed)
    rest = [name for name in op.inputs if name in op.untyped]
    return [
        *[f"        if not isinstance({name}, _Tensor): return {general}" for name in rest],
        f"        _x, _y = _with_scalar({x}, {y})",
        f"        if _x is None or _y is None: return {general}",
        f"        {x}, {y} = _x, _y",
        f"        {', '.join(arrays)} = {data}",
    ]


def _checks(op: OpDef, arrays: list[str], general: str, unless: str) -> list[str]:
    tests = [unless] if unless else []
    first, *others = (arrays[k] for k in _typed(op))
    if op.dtypes != "any":
        tests += [f"{a}.dtype is not {first}.dtype" for a in others]
    if op.dtypes == "floating":
        family = "FLOATS" if op.real else "INEXACT"
        wide = "WIDE_" if op.halves == "in float32" else ""
        tests.append(f"{first}.dtype not in _{wide}{family}")
    elif op.dtypes == "numeric":
        tests.append(f"{first}.dtype is _bool")
    elif op.real:
        tests.append(f"{first}.dtype in _COMPLEX")
    if op.halves == "in float32":
        asked = {"any": [first, *others], "floating": []}.get(op.dtypes, [first])
        tests += [
            f"({a}.dtype is not _float32 and {a}.dtype in _HALVES)"
            for a in arrays
            if a in asked or a not in (first, *others)
        ]
    return [f"if {' or '.join(tests)}: return {general}"] if tests else []


def _attr_dict(op: OpDef) -> str:
    return "{" + ", ".join(f"{name!r}: {name}" for name in op.attrs) + "}"


def _recording(op: OpDef, arrays: list[str], outs: list[str], ts: list[str]) -> list[str]:
    """Put the call on the tape if an input that has a rule wants a gradient.

    Either way each operand is asked for ``_stop`` once, which tells a Tensor from what looks alike.
    """
    open_inputs = [k for k in range(len(op.inputs)) if op.rule_at(k) is not None]
    asked = [
        f"{name}._stop" if op.reads_value(k) else f"{name}.__class__ is _Spec or {name}._stop"
        for k, name in enumerate(op.inputs)
        if k not in open_inputs
    ]
    if not open_inputs:
        return asked
    names = [op.inputs[k] for k in open_inputs]
    given = f"({', '.join(op.inputs)},), ({', '.join(arrays)},)"
    # What may be of another dtype than the operands may be integers, and then has no gradient.
    other = f" or {outs[0]}.dtype not in _FLOATS" if op.casts or op.untyped or op.multiple else ""
    body = [
        f"if _mode is not True{other}:",
        f"    return _results_of(_op, {given}, ({', '.join(outs)},), {_attr_dict(op)})",
        *_edges(names, open_inputs),
        *_projection(op, arrays, outs[0]),
        "_pullback = _pullbacks[_mask]",
        *_node(op, ", ".join([*arrays, *outs])),
        *(_slots(op, ts) if op.multiple else ["_t._stop = False", "_t._node = _node"]),
        *([f"_link(_t, {op.inputs[0]}, _op, _node.attrs)"] if op.write else []),
        f"return {', '.join(ts)}",
    ]
    closed = " and ".join(f"{name}._stop" for name in names)
    closed = f"({closed})" if len(names) > 1 else closed
    return [
        *asked,
        f"if not {closed}:",
        "    if _mode := _current_mode().enabled:",
        *("        " + line for line in body),
        *(f"    {name}._stop" for name in names[1:]),
    ]


def _slots(op: OpDef, ts: list[str]) -> list[str]:
    """Each output that has a gradient leads to a slot, as `MultiNode.slot` makes it."""
    lines = ["_node._slots = _slots = {}"]
    for k, (name, t) in enumerate(zip(op.outputs, ts, strict=True)):
        if name in op.nondiff_outputs:
            lines += _stopped(t)
            continue
        lines += [
            f"{t}._stop = False",
            f"{t}._node = _slot = _new(_Slot)",
            f"_slot.index = {k}",
            "_slot.pullback = _pullback",
            "_slot.edges = (_node,)",
            "_slot.saved = ()",
            "_slot.attrs = None",
            "_slot.seq = _newer()",
            "_slot.code = _frame.f_code",
            "_slot.instruction = _frame.f_lasti",
            f"_slots[{k}] = _ref(_slot)",
        ]
    return lines


def _projection(op: OpDef, arrays: list[str], out: str) -> list[str]:
    """`OpDef.projected`, for operands whose axes before the last `core` broadcast."""
    core = op.broadcasts
    if core is None:
        return []
    bits = [1 << (len(arrays) + k) for k in range(len(arrays))]
    if core == 0:
        tests = [f"if {a}.shape != _shape: _mask += {b}" for a, b in zip(arrays, bits, strict=True)]
        return [f"_shape = {out}.shape", *tests]
    tests = [
        f"    if {a}.shape[:-{core}] != _lead: _mask += {b}"
        for a, b in zip(arrays, bits, strict=True)
    ]
    return [f"if {out}.ndim > {core}:", f"    _lead = {out}.shape[:-{core}]", *tests]


def _edges(names: list[str], positions: list[int]) -> list[str]:
    """The inputs that want a gradient, as a mask, and where each came from."""
    edges = [f"{name}._node or {name}" for name in names]
    bits = [1 << k for k in positions]
    if len(names) == 1:
        return [f"_mask = {bits[0]}", f"_edges = ({edges[0]},)"]
    if len(names) == 2:
        x, y = names
        return [
            f"if {x}._stop: _mask = {bits[1]}; _edges = ({edges[1]},)",
            f"elif {y}._stop: _mask = {bits[0]}; _edges = ({edges[0]},)",
            f"else: _mask = {bits[0] + bits[1]}; _edges = ({edges[0]}, {edges[1]})",
        ]
    weights = [f"({bit} if not {name}._stop else 0)" for bit, name in zip(bits, names, strict=True)]
    operands = "".join(f"({bit}, {name}), " for bit, name in zip(bits, names, strict=True))
    return [
        f"_mask = {' + '.join(weights)}",
        f"_edges = tuple([v._node or v for bit, v in ({operands}) if _mask & bit])",
    ]
