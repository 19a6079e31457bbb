"""What the user called, read off the stack where an error of the engine is made.

A function is written with others, and it is these that find out what is wrong with an operand.
`reworded` says it of the function that was called, and of its arguments:

>>> import autograd_engine as paddle
>>> x, y = paddle.ones([2]), paddle.ones([3])
>>> paddle.nn.functional.square_error_cost(x, None)  # doctest: +ELLIPSIS
Traceback (most recent call last):
autograd_engine.errors.NotATensorError: square_error_cost: argument 'label' must be a Tensor, ...
>>> paddle.nn.functional.square_error_cost(x, y)  # doctest: +ELLIPSIS
Traceback (most recent call last):
autograd_engine.errors.ShapeError: square_error_cost: subtract: shapes [2] and [3] do not ...

Nothing of this is done, or prepared, before something fails.
"""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Final

from autograd_engine.errors.frames import PACKAGE_DIR, let_go

__all__ = ["reworded"]

_HEAD: Final = re.compile(r"(_*[A-Za-z][\w.]*): ")
_SUBJECT: Final = re.compile(
    r"(?:argument )?'?((?!argument\b)[A-Za-z_]\w*)((?:\[\d+\])*)'?"
    r"(?= (?:must|is|has|holds|takes)\b)"
)
_ADVICE: Final = re.compile(r"; |: use ")
_BY_SYMBOL: Final = ("getitem", "assign_item", "array_ufunc")  # x[...] says itself what it is about
_LISTED: Final = 8
_HUGE: Final = 2**31

# Modules have a variable of this name that run what was recorded or built before: an operation that
# fails there was given nothing by this call.
_RUNS_RECORDED: Final = "RUNS_RECORDED"

_TRANSLATES: Final = ".core.names.keywords"  # whose errors name the class that users make


def reworded(message: str, frames: list[FrameType]) -> str:
    """`message`, raised in the innermost of `frames`, in terms of what the user called."""
    if not frames or any(_RUNS_RECORDED in frame.f_globals for frame in frames):
        return message
    if _is_operator(frames):  # which most often leaves what it cannot take to the other operand
        return message
    call = _Call.of(frames)
    notes = [*_layers(frames[0])]
    if call is None:
        return _with(message, notes)
    head, body = "", message
    if found := _HEAD.match(message):
        head, body = found[1], message[found.end() :]
    subject = _SUBJECT.match(body) if head else None
    if call.goes_by(head):
        if head != call.name and "." not in head + call.name:
            message = f"{call.name}: {body}"
        if subject is None or subject[1] in call.arguments:
            return _with(message, notes if call.names_operand(body) else notes + call.operands())
    if subject is not None:
        place = call.place_of(_value_of(frames, subject[1], subject[2]))
        if place:
            named = body[: subject.start(1)] + place + body[subject.end(2) :]
            return _with(f"{call.name}: {named}", notes)
    if call.goes_by(head):
        return _with(message, notes + call.operands())
    if not head and call.is_named_in(message):
        return _with(message, notes)
    return _with(f"{call.name}: {message}", notes + call.operands())


def _is_operator(frames: list[FrameType]) -> bool:
    """Whether the user wrote one of Python's operators (`bindings._or_not`)."""
    outermost = frames[-1].f_code
    generated = outermost.co_filename.startswith(f"{PACKAGE_DIR}<")
    return (generated or outermost.co_name == "<lambda>") and any(
        frame.f_code.co_qualname == "_or_not.<locals>.attempt" for frame in frames[-3:]
    )


def _with(message: str, notes: list[str]) -> str:
    return f"{message} ({'; '.join(notes)})" if notes else message


# --- the call


class _Call:
    """A public function or method, and what it was given."""

    def __init__(self, name: str, arguments: dict[str, Any], also: tuple[str, ...] = ()) -> None:
        self.name = name
        self.arguments = arguments
        self._names = {part.strip("_") for part in (name, name.rpartition(".")[2], *also)}

    @classmethod
    def of(cls, frames: list[FrameType]) -> _Call | None:
        """What the outermost of `frames` belongs to, None where that is no function of operands."""
        if frames[-1].f_code.co_flags & inspect.CO_GENERATOR:  # a ``with`` block that ends
            return None
        user = frames[-1].f_back
        for k in range(len(frames) - 1, -1, -1):
            frame = frames[k]
            code, given = frame.f_code, frame.f_locals
            name = code.co_name
            if frame.f_globals["__name__"].endswith(_TRANSLATES):
                return None
            if name == "__call__":
                return cls._of_layer(frames[: k + 1])
            function = given.get("function")
            if "args" in given and inspect.isfunction(function):  # `frame` is a wrapper of it
                function = inspect.unwrap(function)
                arguments = _passed(function.__code__, given["args"], given.get("kwargs", {}))
                if "<locals>" in code.co_qualname:
                    first = next(iter(arguments.values()), None)
                    name = _typed(user, function.__code__, function.__globals__, first)
                if name.startswith("_"):
                    return None
                return cls(name, arguments, (function.__name__,))
            if name in _BY_SYMBOL:
                return None
            makes = name == "__init__"
            if makes or (
                # A constructor that other libraries' arguments are translated for, before it runs.
                code.co_qualname == "_taking_others.<locals>.construct"
                and (not k or frames[k - 1].f_code.co_name != "__init__")
            ):
                classes = type(given.get("self")).__mro__
                others = tuple(c.__name__ for c in classes)
                return cls(others[0], _arguments(frame, 1) if makes else {}, others)
            if name.startswith("__"):
                return None
            if name.startswith(("_", "<")) or "<locals>" in code.co_qualname:
                continue
            if "self" in given and "." in code.co_qualname and not _is_operand(given["self"]):
                classes = type(given["self"]).__mro__
                owners = tuple(c.__name__ for c in classes)
                return cls(f"{owners[0]}.{name}", _arguments(frame, 1), owners)
            arguments = _arguments(frame)
            first = next(iter(arguments.values()), None)
            return cls(_typed(user, code, frame.f_globals, first), arguments, (name,))
        return None

    @classmethod
    def _of_layer(cls, frames: list[FrameType]) -> _Call | None:
        """The call of a layer: with the arguments of `forward`, if it has come to that."""
        if frames[-1].f_code.co_qualname != "Layer.__call__":
            return None
        name = type(frames[-1].f_locals["self"]).__name__
        for frame in reversed(frames):
            if frame.f_code.co_name == "forward":
                return cls(name, _arguments(frame, 1))
        return cls(name, {})

    def goes_by(self, head: str) -> bool:
        return head.rpartition(".")[2].strip("_") in self._names or head in self._names

    def is_named_in(self, message: str) -> bool:
        return any(re.search(rf"\b{re.escape(name)}\b", message) for name in self._names)

    def names_operand(self, body: str) -> bool:
        """Whether what is wrong, in front of what to write, is said of one of its arrays."""
        problem = _ADVICE.split(body)[0]
        subject = _SUBJECT.match(problem)
        names = [name for name, value in self.arguments.items() if _described(value)]
        return (subject is not None and subject[1] in self.arguments) or any(
            re.search(rf"\b{re.escape(name)}\b", problem) for name in names
        )

    def operands(self) -> list[str]:
        """What is known of its arrays, and of sizes that are far too large: an entry for each."""
        shown = {name: _described(value) for name, value in self.arguments.items()}
        return [f"{name} is {text}" for name, text in shown.items() if text][:_LISTED]

    def place_of(self, value: Any) -> str:
        """The argument that is `value`, or has it in a list: ``x``, ``x[1]``; empty for none."""
        for name, given in self.arguments.items():
            if given is value:
                return name
        for name, given in self.arguments.items():
            if isinstance(given, (list, tuple)):
                for k, part in enumerate(given):
                    if part is value:
                        return f"{name}[{k}]"
        return ""


def _arguments(frame: FrameType, skipped: int = 0) -> dict[str, Any]:
    given = frame.f_locals
    return {name: given.get(name) for name in _parameters(frame.f_code)[skipped:]}


def _passed(code: CodeType, positional: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, as a function of `code` would get them; None for those that are not."""
    count = code.co_argcount
    given = zip(code.co_varnames[:count], positional, strict=False)
    found = dict.fromkeys(_parameters(code)) | dict(given)
    if code.co_flags & inspect.CO_VARARGS:
        found[code.co_varnames[count + code.co_kwonlyargcount]] = positional[count:]
    return found | named


def _parameters(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    return code.co_varnames[:count]


def _typed(user: FrameType | None, code: CodeType, module: dict[str, Any], first: Any) -> str:
    """The name by which `user` called a function of `module`: it may have several.

    As a method of its first argument it may have others.
    """
    if user is None:
        return code.co_name
    spaces = (module, *map(vars, type(first).__mro__))
    typed = {name for name in user.f_code.co_names if any(_is(code, s.get(name)) for s in spaces)}
    if len(typed) > 1:
        steps = [s for s in dis.get_instructions(user.f_code) if s.offset < user.f_lasti]
        return next((str(s.argval) for s in reversed(steps) if s.argval in typed), code.co_name)
    return typed.pop() if typed else code.co_name


def _is(code: CodeType, value: Any) -> bool:
    while inspect.isfunction(value):
        if value.__code__ is code:
            return True
        value = getattr(value, "__wrapped__", None)
    return False


def _value_of(frames: list[FrameType], name: str, index: str) -> Any:
    """What the innermost function means that has an argument of this name."""
    for frame in frames:
        given = frame.f_locals
        if given.get("argument") == name + index:
            return given.get("x", given.get("value", _NOTHING))
        inputs = getattr(given.get("op"), "inputs", ())
        operands = given.get("operands", ())
        if name in inputs:
            k = inputs.index(name)
            if "value" in given and isinstance(given.get("k"), int):
                k = given["k"]
            if k < len(operands):
                return operands[k]
        if name in given and not index:
            return given[name]
    return _NOTHING


_NOTHING: Final = object()


# --- what is said of values


def _is_operand(value: Any) -> bool:
    """Whether it is an array of NumPy's, or what the engine has of that kind."""
    kinds = type(value).__mro__
    known = any(kind.__module__.partition(".")[0] in ("autograd_engine", "numpy") for kind in kinds)
    return known and hasattr(kinds[0], "shape") and hasattr(kinds[0], "dtype")


def _described(value: Any) -> str:
    """``float32[2, 3]`` of an array, the same of each in a list; a number too large for a size.

    Empty for all else.
    """
    if type(value) is int:
        return f"{value}" if abs(value) >= _HUGE else ""
    if isinstance(value, (list, tuple)) and any(map(_is_operand, value)):
        parts = [_described(v) or type(v).__name__ for v in value[:_LISTED]]
        return f"[{', '.join(parts)}{', ...' if len(value) > _LISTED else ''}]"
    if not _is_operand(value):
        return ""
    array = getattr(value, "_data", value)
    spec = getattr(array, "spec", array)
    dtype = getattr(spec.dtype, "name", spec.dtype)
    return f"{dtype}[{', '.join(str(d) if isinstance(d, int) else '?' for d in spec.shape)}]"


# --- layers


def _layers(frame: FrameType | None) -> Iterator[str]:
    """Where among nested layers it happened: ``in net.3.fc1, Linear(in_features=9, ...)``."""
    layers: list[Any] = []
    outermost = None
    while frame is not None:
        code = frame.f_code
        if code.co_qualname == "Layer.__call__" and code.co_filename.startswith(PACKAGE_DIR):
            layer = frame.f_locals["self"]
            if not layers or layers[-1] is not layer:
                layers.append(layer)
            outermost = frame
        frame = frame.f_back
    if len(layers) < 2 or outermost is None:
        return
    layers.reverse()
    last = layers[-1]
    for layer in layers[:-1]:
        for path, held in layer.named_sublayers():
            if held is last:
                start = _variable(outermost.f_back, layer) if layer is layers[0] else ""
                yield f"in {start or type(layer).__name__}.{path}, {_shown(last)}"
                return


def _variable(frame: FrameType | None, value: Any) -> str:
    """The name that `value` has in `frame`."""
    if frame is None or frame.f_code.co_filename.startswith(PACKAGE_DIR):
        return ""
    named = (*frame.f_locals.items(), *frame.f_globals.items())
    let_go([frame])
    return next((n for n, held in named if held is value and not n.startswith("_")), "")


def _shown(layer: Any) -> str:
    """The layer in one line."""
    if type(layer).__module__.startswith("autograd_engine.") and not layer.sublayers():
        return repr(layer)
    return type(layer).__name__
