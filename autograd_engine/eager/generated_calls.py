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
before the kernel fails, or something else of a Tensor is missing. Where rules compute with floats
of 16 bits and complex numbers in their own way, a second function like this one takes what is all
of one such dtype.

A function has one code of three: this one, one that leaves all to `general`, and one that asks
first what `amp.auto_cast` casts. Blocks exchange them, so outside of blocks nothing is asked.
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
    APART,
    BOOL,
    FLOAT32,
    FLOAT64,
    FLOATS,
    HALVES,
    INEXACT,
    INT64,
    WIDE_FLOATS,
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
from autograd_engine.ops.registry.cores import apart, both_spread, on_all_cores
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.ops.registry.pullback import Pullback, saved_names, saving

__all__ = ["begin_casting", "end_calls", "general_calls", "generate_call", "generates"]

_new = object.__new__
_array = np.array


# Which code functions have: their own, that which casts, where it must or in every row whose
# operands may be cast, or that which leaves all to `general`.
_FLAT, _CASTING, _ALL_CASTING, _GENERAL = range(4)


class _Codes:
    """The codes of a generated function.

    The operation is not held: it holds the function, which would then never end.

    Attributes
    ----------
    flat : CodeType
    least : int
        From which on of `_CASTING`, `_ALL_CASTING` and `_GENERAL` it is another one.
    """

    __slots__ = ("_casting", "_general", "_signature", "flat", "least")

    def __init__(self, op: OpDef, flat: CodeType, reflected: bool) -> None:
        inputs = (f"*{op.inputs[0]}",) if op.variadic else op.inputs
        self._signature = op.name, inputs, tuple(op.attrs), reflected
        self.flat = flat
        self.least = _least(op)
        self._general: CodeType | None = None
        self._casting: CodeType | None = None

    def at(self, kind: int) -> CodeType:
        """The one that is to run."""
        if kind < self.least:
            return self.flat
        if kind == _GENERAL:
            if self._general is None:
                self._general = self._short(_LEFT)
            return self._general
        if self._casting is None:
            self._casting = self._short(_CAST_FIRST)
        return self._casting

    def _short(self, body: str) -> CodeType:
        return _short_code(*self._signature, body)


def _least(op: OpDef) -> int:
    """What takes the widest dtype of its operands is left to `general` where these differ."""
    if op.amp is None:
        return _GENERAL
    alike = op.dtypes != "any" or len(_typed(op)) < 2
    return _ALL_CASTING if op.amp == "widest" and alike and not op.variadic else _CASTING


_generated: Final[weakref.WeakKeyDictionary[FunctionType, _Codes]] = weakref.WeakKeyDictionary()
_must_cast: Final[weakref.WeakKeyDictionary[FunctionType, _Codes]] = weakref.WeakKeyDictionary()
# Blocks, in all threads, each with its thread, and what kind of code it asks for.
_open: Final[dict[object, tuple[int, int]]] = {}
_restores: Final[set[Callable[[], None]]] = set()
# The kind that all functions have; None while they are being exchanged, and after an interrupt.
_kind: list[int | None] = [_FLAT]


def _keep_own() -> None:
    """In a child: blocks of other threads have not come with this one."""
    me = threading.get_ident()
    for block in [block for block, (thread, _) in _open.items() if thread != me]:
        del _open[block]
    _settle()


def _settle() -> None:
    """Give each function the code that open blocks ask for."""
    kind = max([k for _, k in _open.values()], default=_FLAT)
    had = _kind[0]
    if had == kind:
        return
    _kind[0] = None
    if kind != _GENERAL:
        for restore in _restores:
            restore()
    few = had is not None and had <= _CASTING and kind <= _CASTING
    for call, codes in list((_must_cast if few else _generated).items()):
        call.__code__ = codes.at(kind)
    _kind[0] = kind


_exchanging: Final = renewed_lock(_keep_own)


def generates(op: OpDef) -> bool:
    """Whether a flat function can be generated for `op`."""
    if op.variadic:
        plain = op.dtypes == "common" and not (op.untyped or op.narrow)
        return plain and len(op.inputs) == 1 and not op.multiple
    return bool(op.inputs) and not op.variadic_output


def generate_call(
    op: OpDef, general: Callable[..., Any], unless: str = "", *, reflected: bool = False
) -> Callable[..., Any]:
    """A function that does what `general` does, quickly where the operands are plain Tensors.

    `unless` is a condition on the arrays ``_a0``, ``_a1`` under which `general` is to do it too.
    One that is `reflected` takes the operands the other way round, as ``__rsub__`` does.
    """
    source = _variadic_source(op) if op.variadic else _source(op, unless, reflected)
    scope: dict[str, Any] = {
        "_MultiNode": MultiNode,
        "_Node": Node,
        "_Spec": Spec,
        "_Slot": Slot,
        "_Tensor": Tensor,
        "_asarray": np.asarray,
        "_taken": op.taken,
        "_FLOATS": FLOATS,
        "_APART": APART,
        "_HALVES": HALVES,
        "_INEXACT": INEXACT,
        "_WIDE_FLOATS": WIDE_FLOATS,
        "_float32": FLOAT32,
        "_float64": FLOAT64,
        "_bool": BOOL,
        "_explain_failure": explain_failure,
        "_general": general,
        "_getframe": _getframe,
        "_current_mode": current_mode,
        "_kernel": op.direct,
        "_both_spread": both_spread,
        "_on_all_cores": on_all_cores(op),
        "_link": link,
        "_ndarray": np.ndarray,
        "_new": object.__new__,
        "_op": op,
        "_no_attrs": {},
        "_newer": newer,
        "_user_frame_from": user_frame_from,
        "_users": users,
        **_pullbacks(op),
        "_ref": weakref.ref,
        "_results_of": results_of,
        "_beside": beside,
        "_with_scalar": with_scalar,
        **{f"_default_{name}": value for name, value in op.attrs.items()},
    }
    scope["_apart"] = _first_apart(op, unless, scope)
    run_generated(source, op.name, scope)
    call: FunctionType = scope[op.name]
    codes = _Codes(op, call.__code__, reflected)
    if codes.least < _GENERAL:  # the code that casts goes on with the flat one
        scope["_flat"] = flat = FunctionType(codes.flat, scope, op.name, call.__defaults__)
        flat.__kwdefaults__ = call.__kwdefaults__
    with _exchanging:
        _generated[call] = codes
        if codes.least == _CASTING:
            _must_cast[call] = codes
        if _open:
            call.__code__ = codes.at(max([k for _, k in _open.values()]))
    return call


_LEFT: Final = "return _general({given})"
_CAST_FIRST: Final = """_autocast = _current_mode().autocast
    if _autocast is not None:
        _operands = _autocast.tensors(_op, ({operands}))
        if _operands is None: return _general({given})
        {names} = _operands
    return _flat({taken})"""


def _short_code(
    name: str, inputs: Sequence[str], attrs: Sequence[str], reflected: bool, body: str
) -> CodeType:
    positional = ", ".join(inputs)
    keywords = attrs if positional.startswith("*") else ("*", *attrs)
    taken = ", ".join(inputs[::-1] if reflected else inputs)
    signature = taken + "".join(f", {a}" for a in keywords if attrs)
    named = "".join(f", {a}={a}" for a in attrs)
    names = positional[1:] if positional.startswith("*") else f"{positional}, "
    text = body.format(
        given=positional + named, taken=taken + named, operands=f"{positional}, ", names=names
    )
    scope: dict[str, Any] = {}
    run_generated(f"def {name}({signature}):\n    {text}\n", name, scope)
    code: CodeType = scope[name].__code__
    return code


def _first_apart(op: OpDef, unless: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """Stands for the second function, which is generated when it is first called."""

    def first(*operands: Any, **attrs: Any) -> Any:
        own = {**scope, "_kernel": apart(op), **_pullbacks(op)}
        run_generated(_source(op, unless, apart=True), op.name, own)
        scope["_apart"] = call = own[op.name]
        return call(*operands, **attrs)

    return first


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
            _open[block] = threading.get_ident(), _GENERAL
            _restores.add(restore)
            _settle()
            exchange()
        yield
    finally:
        end_calls(block)


def begin_casting(block: object, every: bool) -> None:
    """From here on, until `end_calls` of `block`, calls ask what `amp.auto_cast` casts.

    Those of the rows that would not compute in the right dtype else; with `every`, of all whose
    operands may be cast. Other threads ask, too, and are told that nothing is cast there.
    """
    with _exchanging:
        _open[block] = threading.get_ident(), _ALL_CASTING if every else _CASTING
        _settle()


def end_calls(block: object) -> None:
    """Give functions the codes that they have without `block`."""
    with _exchanging:
        _open.pop(block, None)
        _settle()


def _pullbacks(op: OpDef) -> dict[str, Any]:
    """For the scope: pullbacks that were made, and what makes another.

    They are told apart by the inputs that want a gradient (low bits) and those to project (high),
    and by the dtype in which the operands meet, where it is one of 16 bits or complex.
    """
    known: dict[Any, Pullback] = {}

    def make(key: int, own: np.dtype[Any] | None = None) -> Pullback:
        dtypes: Sequence[np.dtype[Any]] = ()
        mask, project = key, 0
        if not op.variadic:
            width = len(op.inputs)
            mask, project = key & ((1 << width) - 1), key >> width
        if own is not None:
            dtypes = [own if k in _typed(op) else FLOAT32 for k in range(len(op.inputs))]
        made = known[key if own is None else (key, own)] = op.pullback(mask, project, dtypes)
        return made

    return {"_pullbacks": known, "_pullback_of": make}


def beside(x: Any, number: float) -> Any:
    """The number in the dtype of `x`, a Tensor of floats; beside something else as it is."""
    found = _beside(x, number) if isinstance(x, Tensor) else None
    return number if found is None else found


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


def _source(op: OpDef, unless: str, reflected: bool = False, *, apart: bool = False) -> str:
    """The text of the function. Its own names start with an underscore, for inputs' have none."""
    inputs = ", ".join(op.inputs)
    arrays = [f"_a{k}" for k in range(len(op.inputs))]
    outs = [f"_out{k}" for k in range(len(op.outputs))] if op.multiple else ["_out"]
    ts = [f"_t{k}" for k in range(len(op.outputs))] if op.multiple else ["_t"]
    attrs = "".join(f", {name}={name}" for name in op.attrs)
    taken = op.inputs[::-1] if reflected else op.inputs
    signature = ", ".join(taken) + (", *" if op.attrs else "")
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
    number = []
    if len(op.inputs) == 2 and _takes_numbers(op):
        x, y = taken
        known = f"{y}.__class__ is not _Tensor and ({y}.__class__ is float or {y}.__class__ is int)"
        number = [f"        if {known}: {y} = _beside({x}, {y})"]
    body = [
        *_checks(op, arrays, f"({inputs}{attrs})", unless, apart),
        "try:",
        f"    _out = {_computed(op, arrays, attrs, apart)}",
        "except Exception as _error:",
        f"    if not ({tensors}): return {general}",
        f"    _explain_failure(_op, ({', '.join(arrays)},), {_attr_dict(op)}, _error)",
        *([f"{', '.join(outs)} = _out"] if op.multiple else []),
        *[f"if {o}.__class__ is not _ndarray: {o} = _asarray({o})" for o in outs],
        *[line for t, o in zip(ts, outs, strict=True) for line in _made(t, o)],
        *_recording(op, arrays, outs, ts, apart),
        *[line for t in ts for line in _stopped(t)],
        *([f"_link(_t, {inputs}, _op, {_attr_dict(op)})"] if op.write else []),
        f"return {', '.join(ts)}",
    ]
    lines = [
        f"def {op.name}({signature}):",
        "    try:",
        *number,
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


def _computed(op: OpDef, arrays: list[str], attrs: str, apart: bool) -> str:
    call = f"_kernel({', '.join(arrays)}{attrs})"
    if apart or on_all_cores(op) is None:
        return call
    small = f"_a0.size < {MANY}"
    if len(arrays) > 1:
        # Of different shapes, a result may have as many elements as the product says. It seldom
        # has, so more are asked for before it is worth the time to find out.
        none_large = " and ".join(f"{a}.size < {MANY}" for a in arrays)
        count = " * ".join(f"{a}.size" for a in arrays)
        unlike = f"(_n := {count}) < {MANY} or ({none_large} and "
        unlike += f"(_n <= {MANY << 3} or not _both_spread(_shape0, _shape1)))"
        alike = "(_shape0 := _a0.shape) == (_shape1 := _a1.shape)"
        small = f"({small} if {alike} else {unlike})"
    return f"{call} if {small} else _on_all_cores({', '.join(arrays)})"


def _variadic_source(op: OpDef) -> str:
    """The text for an operation of any number of arrays, which are all that it takes."""
    attrs = "".join(f", {name}={name}" for name in op.attrs)
    defaults = "".join(f", {name}=_default_{name}" for name in op.attrs)
    xs = op.inputs[0]
    general = f"_general(*{xs}{attrs})"
    tensors = f"all([isinstance(_x, _Tensor) for _x in {xs}])"
    node = _node(op, "_pullback.save(tuple(_arrays), _out)", apart=False)
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
                *("    " + line for line in _looked_up("_mask")),
                f"    _edges = tuple([_x._node or _x for _x in {xs} if not _x._stop])",
                *("    " + line for line in node),
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


def _looked_up(key: str) -> list[str]:
    return [
        f"try: _pullback = _pullbacks[{key}]",
        "except KeyError: _pullback = None",
        f"if _pullback is None: _pullback = _pullback_of({key})",
    ]


def _node(op: OpDef, saved: str, *, apart: bool) -> list[str]:
    """A node of ``_pullback`` and ``_edges``, filled in as `Node.of` does it, without its call."""
    return [
        f"_frame = _getframe({2 if apart else 1})",  # the second function is called by the first
        "if _frame.f_globals is not _users[0]: _frame = _user_frame_from(_frame)",
        f"_node = {'_MultiNode' if op.multiple else '_Node'}()",
        "_node.pullback = _pullback",
        "_node.edges = _edges",
        f"_node.saved = {saved}",
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


def _takes_numbers(op: OpDef) -> bool:
    """Whether one of its operands may be a number beside a Tensor."""
    return len(_typed(op)) == 2 and op.dtypes != "any" and not op.attrs


def _other_operands(op: OpDef, arrays: list[str], data: str, general: str) -> list[str]:
    typed = _typed(op)
    if not _takes_numbers(op):
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


def _checks(op: OpDef, arrays: list[str], given: str, unless: str, apart: bool) -> list[str]:
    """Lines that hand `given` over: what is not as it should be, and what is apart."""
    tests = [unless] if unless else []
    first, *others = (arrays[k] for k in _typed(op))
    of = {a: f"{a}.dtype" for a in arrays} | {first: "_dtype"}
    rest = [a for a in arrays if a not in (first, *others)]
    if apart:
        family = "APART" if "c" in op.takes else "HALVES"
        tests += [f"_dtype not in _{family}", *[f"{a}.dtype is not _dtype" for a in others]]
        tests += [f"{a}.dtype in _APART" for a in rest]
        return [f"_dtype = {first}.dtype", f"if {' or '.join(tests)}: return _general{given}"]
    others_apart = []
    if op.dtypes != "any":
        tests += [f"{of[a]} is not _dtype" for a in others]
    if op.dtypes == "floating":
        if op.halves == "in float32":
            others_apart.append("_dtype not in _WIDE_FLOATS")
        else:
            tests.append(f"_dtype not in _{'INEXACT' if 'c' in op.takes else 'FLOATS'}")
    elif op.dtypes == "numeric":
        tests.append("_dtype is _bool")
    if op.narrow and op.dtypes != "floating":
        asked = [first, *others] if op.dtypes == "any" else [first]
        outside = "is _bool" if op.takes == "ifc" else "not in _taken"
        tests += [f"{of[a]} {outside}" for a in asked]
    if op.halves == "in float32":
        asked = {"any": [first, *others], "floating": []}.get(op.dtypes, [first])
        others_apart += [
            f"({of[a]} is not _float32 and {of[a]} is not _float64 and {of[a]} in _APART)"
            for a in (*asked, *rest)
        ]
    lines = [
        f"if {' or '.join(each)}: return {function}{given}"
        for each, function in ((tests, "_general"), (others_apart, "_apart"))
        if each
    ]
    return [f"_dtype = {first}.dtype", *lines] if lines else []


def _attr_dict(op: OpDef) -> str:
    return "{" + ", ".join(f"{name!r}: {name}" for name in op.attrs) + "}"


def _recording(
    op: OpDef, arrays: list[str], outs: list[str], ts: list[str], apart: bool
) -> list[str]:
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
    held = dict(zip((*op.inputs, *op.outputs), arrays + outs, strict=True))
    body = [
        f"if _mode is not True{other}:",
        f"    return _results_of(_op, {given}, ({', '.join(outs)},), {_attr_dict(op)})",
        *_wanted(op, open_inputs, None if apart else held),
        *_projection(op, arrays, outs[0], apart),
        *_looked_up("_mask, _dtype" if apart else "_mask"),
        *_node(op, _kept(op, open_inputs, arrays + outs, apart), apart=apart),
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
            f"{t}._node = _slot = _Slot()",
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


def _projection(op: OpDef, arrays: list[str], out: str, apart: bool) -> list[str]:
    """`OpDef.projected`, for operands whose axes before the last `core` broadcast."""
    core = op.broadcasts
    if core is None:
        return []
    bits = [1 << (len(arrays) + k) for k in range(len(arrays))]
    if core == 0:
        shapes = [f"_shape{k}" for k in range(len(arrays))]
        known = [f"{s} = {a}.shape" for s, a in zip(shapes, arrays, strict=True)]
        asked = not apart and on_all_cores(op) is not None  # by `_computed`
        tests = [
            f"    if {s} != _shape: _mask += {b}" for s, b in zip(shapes, bits, strict=True)
        ]
        differ = " or ".join([f"{s} != {shapes[0]}" for s in shapes[1:]])
        return [*([] if asked else known), f"if {differ}:", f"    _shape = {out}.shape", *tests]
    tests = [
        f"    if {a}.shape[:-{core}] != _lead: _mask += {b}"
        for a, b in zip(arrays, bits, strict=True)
    ]
    return [f"if {out}.ndim > {core}:", f"    _lead = {out}.shape[:-{core}]", *tests]


def _wanted(op: OpDef, positions: list[int], held: dict[str, str] | None) -> list[str]:
    """The inputs that want a gradient, as a mask, where each came from, and what their rules read.

    That is what is saved, unless something is projected; nothing here if nothing is `held`.
    """
    names = [op.inputs[k] for k in positions]
    edges = [f"{name}._node or {name}" for name in names]
    bits = [1 << k for k in positions]

    def case(*ks: int) -> str:
        mask, found = sum([bits[k] for k in ks]), "".join([f"{edges[k]}, " for k in ks])
        if held is None:
            return f"_mask = {mask}; _edges = ({found})"
        saves, saved = saving(op, saved_names(op, tuple([positions[k] for k in ks]), 0), held)
        return "; ".join([f"_mask = {mask}", f"_edges = ({found})", *saves, f"_saved = {saved}"])

    if len(names) == 1:
        return [case(0)]
    if len(names) == 2:
        x, y = names
        return [f"if {x}._stop: {case(1)}", f"elif {y}._stop: {case(0)}", f"else: {case(0, 1)}"]
    weights = [f"({bit} if not {name}._stop else 0)" for bit, name in zip(bits, names, strict=True)]
    operands = "".join(f"({bit}, {name}), " for bit, name in zip(bits, names, strict=True))
    return [
        f"_mask = {' + '.join(weights)}",
        f"_edges = tuple([v._node or v for bit, v in ({operands}) if _mask & bit])",
    ]


def _kept(op: OpDef, positions: list[int], values: list[str], apart: bool) -> str:
    """What the node saves."""
    save = f"_pullback.save({', '.join(values)})"
    if apart or len(positions) > 2:
        return save
    unprojected = f"_mask < {1 << len(op.inputs)}"
    return "_saved" if op.broadcasts is None else f"_saved if {unprojected} else {save}"
