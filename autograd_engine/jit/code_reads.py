"""What code reads, found by interpreting its bytecode on the objects that are there.

Each instruction is given the objects that its operands may be, and says which its result may be:
``self.opt.step()`` reads `opt` of the object that `self` is, and `step` of the object found there;
a call of a function of the user's goes on inside of it, with what it is given. So a name is read of
the objects that code reads it of, not of every object that has one. Nothing is run, and the order
of instructions does not count: a variable is anything that is ever stored in it.

What an instruction makes of objects may be unknown, as is what most functions of libraries return.
An object that such an instruction takes is *handed on*: an unknown value may be any object that was
handed on, so what code reads of unknown values is read of all of these.
"""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from autograd_engine.core.locations import Location

if TYPE_CHECKING:
    from autograd_engine.jit.object_reads import ObjectReads

__all__ = ["CLOSED", "UNKNOWN", "Frame", "Value", "names_of", "step", "strings_of"]

_NOTHING: Final = object()
_GENERATES: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(eq=False, slots=True)
class Value:
    """What an operand may be.

    Attributes
    ----------
    objects : dict
        Objects that it may be, by what tells them apart. Tensors, numbers and strings are none:
        nothing is read of them.
    unknown : bool
        Whether it may be any object that was handed on.
    pending : frozenset
        Keys of places whose plain values it was computed from. They are read where something other
        than these places gets to see it: ``self.calls += 1`` alone reads nothing.
    constant : object
        The constant that it is.
    """

    objects: Mapping[Any, Any] = field(default_factory=dict)
    unknown: bool = False
    pending: frozenset[Any] = frozenset()
    constant: Any = _NOTHING

    @property
    def closed(self) -> bool:
        """Whether nothing is read of it."""
        return not self.objects and not self.unknown

    def covers(self, other: Value) -> bool:
        return (
            self.objects.keys() >= other.objects.keys()
            and self.unknown >= other.unknown
            and self.pending >= other.pending
        )

    def joined(self, other: Value) -> Value:
        """Either of them."""
        same = self.constant is _NOTHING or self.constant is other.constant
        if same and self.covers(other):
            return self
        return Value(
            {**self.objects, **other.objects},
            self.unknown or other.unknown,
            self.pending | other.pending,
        )


CLOSED: Final = Value()
UNKNOWN: Final = Value(unknown=True)
_NULL: Final = Value()  # what CPython puts beside a callable that is no method


class Frame:
    """One function, or the code of one inside of another, with what its variables may be.

    Attributes
    ----------
    code : CodeType
    module : dict
        Its globals.
    cells : dict
        Cells of its free variables, of a function that there is.
    outer : Frame or None
        That of the function around it, of one that code makes.
    variables : dict of str to Value
    returns : Value
    users : dict of Frame to None
        Frames to be looked at again when it changes.
    open : bool
        Whether it may be called by anything, with anything, and its results be seen.
    """

    def __init__(
        self,
        code: CodeType,
        module: Mapping[str, Any],
        cells: Mapping[str, Any],
        outer: Frame | None = None,
    ) -> None:
        self.code = code
        self.module = module
        self.cells = cells
        self.outer = outer
        self.variables: dict[str, Value] = {}
        self.returns = CLOSED
        self.users: dict[Frame, None] = {}
        self.open = False
        if code.co_flags & inspect.CO_VARKEYWORDS:  # a dict, to which anything may be added
            self.variables[self.parameters[-1]] = UNKNOWN
        self.inner: dict[CodeType, Frame] = {}
        self.stacks: dict[int, list[Value]] = {}

    @property
    def generates(self) -> bool:
        return bool(self.code.co_flags & _GENERATES)

    @property
    def parameters(self) -> tuple[str, ...]:
        code = self.code
        extra = bool(code.co_flags & inspect.CO_VARARGS) + bool(
            code.co_flags & inspect.CO_VARKEYWORDS
        )
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + extra]

    def home(self, name: str) -> Frame | None:
        """The frame whose variable a free or cell variable is, None for a cell that there is."""
        frame: Frame | None = self
        while frame is not None and name in frame.code.co_freevars:
            frame = frame.outer
        return frame

    def put(self, name: str, value: Value, objects: ObjectReads) -> None:
        """A variable may be that, too."""
        old = self.variables.get(name, CLOSED)
        if not old.covers(value):
            self.variables[name] = old.joined(value)
            self._again(objects)

    def _again(self, objects: ObjectReads) -> None:
        objects.again(self)
        for frame in self.inner.values():  # which may read the variable, too
            frame._again(objects)

    def give(self, value: Value, objects: ObjectReads) -> None:
        """It may return that, too."""
        if not self.returns.covers(value):
            self.returns = self.returns.joined(value)
            for user in list(self.users):
                objects.again(user)

    def bind(
        self, args: Sequence[Value], keywords: Mapping[str, Value], objects: ObjectReads
    ) -> None:
        """A call with these arguments."""
        code = self.code
        for k, value in enumerate(args):
            if k < code.co_argcount:
                self.put(code.co_varnames[k], value, objects)
            else:
                self._collect(value, objects)
        named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for name, value in keywords.items():
            if name in named:
                self.put(name, value, objects)
            else:
                self._collect(value, objects)

    def _collect(self, value: Value, objects: ObjectReads) -> None:
        """One of ``*args`` or ``**kwargs``."""
        objects.hand_on(value)
        if not value.closed:
            for name in self.parameters[self.code.co_argcount + self.code.co_kwonlyargcount :]:
                self.put(name, UNKNOWN, objects)

    def open_to_all(self, objects: ObjectReads, first: int = 0) -> None:
        """Anything may call it, with anything for the parameters from the first of these."""
        for name in self.parameters[first:]:
            self.put(name, UNKNOWN, objects)
        if not self.open:
            self.open = True
            objects.again(self)


# --- code, prepared


_JUMPS: Final = frozenset({*dis.hasjrel, *dis.hasjabs})


@functools.lru_cache(maxsize=4096)
def _instructions(code: CodeType) -> tuple[dis.Instruction, ...]:
    return tuple(dis.get_instructions(code))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Code, and that of the functions written inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def names_of(code: CodeType) -> Iterator[str]:
    """All names that code has: of globals, of attributes, of what it imports."""
    for one in _codes(code):
        yield from one.co_names


def strings_of(code: CodeType) -> Iterator[str]:
    """Strings in code that may name something."""
    for one in _codes(code):
        for constant in one.co_consts:
            for part in constant if isinstance(constant, (tuple, frozenset)) else (constant,):
                if isinstance(part, str) and part.isidentifier():
                    yield part


# --- one pass over the code of a frame


def step(frame: Frame, objects: ObjectReads) -> None:
    """Interpret the code of a frame once, with what its variables are known to be."""
    run = _Pass(frame, objects)
    for instruction in _instructions(frame.code):
        run.one(instruction)


class _Pass:
    """The stack while the code of a frame is interpreted, from its first line to its last.

    An operand below those that are known, as where an exception is handled, is unknown.
    """

    def __init__(self, frame: Frame, objects: ObjectReads) -> None:
        self.frame = frame
        self.objects = objects
        self.stack: list[Value] = []
        self.reached = True
        self.keywords: tuple[str, ...] = ()

    def pop(self) -> Value:
        return self.stack.pop() if self.stack else UNKNOWN

    def popped(self, count: int) -> list[Value]:
        """The topmost operands, the first of them first."""
        return [self.pop() for _ in range(count)][::-1]

    def push(self, value: Value) -> None:
        self.stack.append(value)

    def one(self, i: dis.Instruction) -> None:
        known = self.frame.stacks.get(i.offset)
        if known is not None:
            self.stack = _merged(self.stack, known) if self.reached else list(known)
            self.reached = True
        elif not self.reached:  # the code that handles an exception
            self.stack, self.reached = [], True
        self.objects.at = Location(self.frame.code, i.offset)
        handle = _HANDLERS.get(i.opname)
        if i.opcode in _JUMPS:
            self._jump(i)
        elif handle is not None:
            handle(self, i)
        else:
            self._unknown(i)

    def _test(self, i: dis.Instruction) -> None:
        if "NONE" in i.opname:  # which object it is says its place
            self.objects.read(self.pop())
        else:
            self.objects.hand_on(self.pop())

    def _unknown(self, i: dis.Instruction) -> None:
        """An instruction of which nothing is known but how many operands are there afterwards."""
        depth = len(self.stack) + dis.stack_effect(i.opcode, i.arg, jump=False)
        self._lose(max(0, depth))

    def _lose(self, depth: int) -> None:
        for value in self.stack:
            self.objects.hand_on(value)
        self.stack = [UNKNOWN] * depth

    def _jump(self, i: dis.Instruction) -> None:
        target = i.argval
        if i.opname.startswith("POP_JUMP"):
            self._test(i)
            self._arrive(target, self.stack)
        elif i.opname == "FOR_ITER":
            elements = self.stack[-1] if self.stack else UNKNOWN
            change = dis.stack_effect(i.opcode, i.arg, jump=True)
            rest = self.stack[:change] if change < 0 else self.stack + [CLOSED] * change
            self._arrive(target, rest)
            self.push(elements)
        elif i.opname.startswith("JUMP_IF"):  # ... _OR_POP: the operand stays where it jumps
            self._arrive(target, self.stack)
            self._test(i)
        elif i.opname.startswith("JUMP"):
            self._arrive(target, self.stack)
            self.reached = False
        else:
            after = len(self.stack) + dis.stack_effect(i.opcode, i.arg, jump=True)
            before = len(self.stack) + dis.stack_effect(i.opcode, i.arg, jump=False)
            self._lose(max([0, before, after]))
            self._arrive(target, self.stack[: max(0, after)])
            del self.stack[max(0, before) :]

    def _arrive(self, target: int, stack: list[Value]) -> None:
        old = self.frame.stacks.get(target)
        new = list(stack) if old is None else _merged(old, stack)
        if (
            old is None
            or len(old) != len(new)
            or any(a is not b for a, b in zip(old, new, strict=True))
        ):
            self.frame.stacks[target] = new
            self.objects.again(self.frame)

    # --- what instructions do

    def combine(self, count: int) -> None:
        """A value made of that many operands."""
        values = self.popped(count)
        for value in values:
            self.objects.hand_on(value)
        self.push(CLOSED if all(v.closed for v in values) else UNKNOWN)

    def collection(self, count: int) -> None:
        """A new collection of these operands, to which others may be added."""
        self.combine(count)
        self.stack[-1] = UNKNOWN

    def arithmetic(self, count: int) -> None:
        """As `combine`, where plain values make plain ones, which nobody has seen yet."""
        values = self.popped(count)
        if all(v.closed for v in values):
            self.push(Value(pending=frozenset().union(*(v.pending for v in values))))
            return
        for value in values:
            self.objects.hand_on(value)
        self.push(UNKNOWN)

    def load(self, *names: str) -> None:
        code = self.frame.code
        for name in names:
            if name in code.co_cellvars or name in code.co_freevars:
                self.push(CLOSED)  # the cell itself, for a function that is made
            else:
                self.push(self.frame.variables.get(name, CLOSED))

    def load_from_cell(self, name: str, within: int = 0) -> None:
        self.drop(within)  # the names of a class
        home = self.frame.home(name)
        if home is None:
            self.push(self.objects.cell(self.frame, name))
        else:
            self.push(home.variables.get(name, CLOSED))

    def load_variable(self, name: str, within: int = 0) -> None:
        """Of a module; or of the body of a class."""
        self.drop(within)
        found = self.objects.variable(self.frame, name)
        self.push(found.joined(self.frame.variables.get(name, CLOSED)))

    def store_to_cell(self, name: str) -> None:
        value, home = self.pop(), self.frame.home(name)
        if home is None:
            self.objects.store(value, [(id(self.frame.cells.get(name)), name)])
        else:
            home.put(name, value, self.objects)

    def store(self, *names: str) -> None:
        for name in names:
            self.frame.put(name, self.pop(), self.objects)

    def store_and_load(self, stored: str, loaded: str) -> None:
        self.store(stored)
        self.load(loaded)

    def store_in_class(self, name: str) -> None:
        value = self.pop()
        self.objects.hand_on(value)
        self.frame.put(name, value, self.objects)

    def store_attribute(self, name: str) -> None:
        owner, value = self.pop(), self.pop()
        self.objects.set_attribute(owner, name, value)

    def store_item(self) -> None:
        key, owner, value = self.pop(), self.pop(), self.pop()
        self.objects.hand_on(key)
        name = ("item", key.constant)
        places = [(own, part) for own in owner.objects for part in (name, "elements")]
        self.objects.store(value, places)

    def load_attribute(self, i: dis.Instruction, method: bool) -> None:
        self.push(self.objects.attribute(self.pop(), i.argval))
        if method:
            self.push(_NULL)

    def load_item(self) -> None:
        key, owner = self.pop(), self.pop()
        self.objects.hand_on(key)
        self.push(self.objects.item(owner, key))

    def collect(self, count: int, depth: int) -> None:
        """Operands go into a collection further down."""
        values = self.popped(count)
        for value in values:
            self.objects.hand_on(value)
        if not all(v.closed for v in values) and depth <= len(self.stack):
            self.stack[-depth] = UNKNOWN

    def call(self, count: int, names: Sequence[str]) -> None:
        args = self.popped(count)
        second, first = self.pop(), self.pop()
        if first is not _NULL and second is not _NULL:
            args = [second, *args]
        callee = second if first is _NULL else first
        keywords = dict(zip(names, args[len(args) - len(names) :], strict=True))
        self.keywords = ()
        positional = args[: len(args) - len(names)]
        self.push(self.objects.call(callee, positional, keywords))

    def make_function(self, extra: int) -> None:
        code = self.pop().constant
        given = self.popped(extra)
        for value in given:
            self.objects.hand_on(value)
        if not isinstance(code, CodeType):
            self.push(UNKNOWN)
            return
        frame = self.frame.inner.get(code)
        if frame is None:
            frame = Frame(code, self.frame.module, self.frame.cells, self.frame)
            self.frame.inner[code] = frame
            self.objects.again(frame)
        if not all(v.closed for v in given):
            frame.open_to_all(self.objects)
        self.push(self.objects.of(frame))

    def function_attribute(self) -> None:
        function, value = self.pop(), self.pop()
        self.objects.hand_on(value)
        if not value.closed:
            self.objects.hand_on(function)
        self.push(function)

    def unpack(self, count: int) -> None:
        value = self.objects.elements(self.pop())
        self.stack += [value] * count

    def returned(self, value: Value) -> None:
        self.objects.read(value)
        if self.frame.open or self.frame.generates:
            self.objects.hand_on(value)
        self.frame.give(value, self.objects)
        self.reached = False

    def copy(self, depth: int) -> None:
        self.push(self.stack[-depth] if depth <= len(self.stack) else UNKNOWN)

    def swap(self, depth: int) -> None:
        missing = depth - len(self.stack)
        if missing > 0:
            self.stack[:0] = [UNKNOWN] * missing
        self.stack[-1], self.stack[-depth] = self.stack[-depth], self.stack[-1]

    def drop(self, count: int) -> None:
        self.popped(count)

    def leave(self, count: int) -> None:
        """Raise an exception."""
        for value in self.popped(count):
            self.objects.hand_on(value)
        self.reached = False

    def same(self, count: int) -> None:
        """Compare which objects they are."""
        for value in self.popped(count):
            self.objects.read(value)
        self.push(CLOSED)

    def name_keywords(self, i: dis.Instruction) -> None:
        assert i.arg is not None
        self.keywords = self.frame.code.co_consts[i.arg]

    def load_global(self, i: dis.Instruction) -> None:
        if (i.arg or 0) & 1:
            # Below the variable, of which CPython 3.11 then may read an attribute: ``module.f()``.
            self.push(_NULL)
        self.load_variable(i.argval)

    def load_super(self, i: dis.Instruction) -> None:
        _, _, own = self.popped(3)
        self.push(self.objects.attribute(own, i.argval))
        if (i.arg or 0) & 1:
            self.push(_NULL)

    def import_name(self, i: dis.Instruction) -> None:
        level, _ = self.popped(2)
        self.push(self.objects.imported(self.frame, i.argval, level.constant))

    def import_from(self, i: dis.Instruction) -> None:
        self.push(self.objects.attribute(self.stack[-1] if self.stack else UNKNOWN, i.argval))

    def call_with_names(self, i: dis.Instruction) -> None:
        names = self.pop().constant
        self.call(i.arg or 0, names if isinstance(names, tuple) else ())

    def enter(self) -> None:
        """``with``: what to call when it ends, and what it gives."""
        self.combine(1)
        self.copy(1)

    def handle(self) -> None:
        """An exception is handled: the one that was handled before goes below it."""
        exception = self.pop()
        self.push(CLOSED)
        self.push(exception)

    def special(self) -> None:
        self.combine(1)
        self.push(_NULL)


def _merged(old: list[Value], new: list[Value]) -> list[Value]:
    """Stacks of two ways to one instruction, aligned at their tops."""
    count = min(len(old), len(new))
    pairs = zip(old[len(old) - count :], new[len(new) - count :], strict=True)
    return [a.joined(b) for a, b in pairs]


_Handler = Callable[[_Pass, dis.Instruction], object]

_IN_3_11: Final = "LOAD_METHOD" in dis.opmap and "PRECALL" in dis.opmap


def _count(i: dis.Instruction) -> int:
    return i.arg or 0


def _less(i: dis.Instruction) -> int:
    """How many operands fewer there are afterwards."""
    return -dis.stack_effect(i.opcode, i.arg)


_HANDLERS: Final[dict[str, _Handler]] = {
    **dict.fromkeys(
        (
            *("NOP", "RESUME", "CACHE", "EXTENDED_ARG", "MAKE_CELL", "COPY_FREE_VARS", "PRECALL"),
            *("DELETE_FAST", "DELETE_DEREF", "DELETE_GLOBAL", "DELETE_NAME", "NOT_TAKEN"),
            *("SETUP_ANNOTATIONS", "LIST_TO_TUPLE"),
        ),
        lambda p, i: None,
    ),
    **dict.fromkeys(
        ("LOAD_CONST", "LOAD_SMALL_INT"), lambda p, i: p.push(Value(constant=i.argval))
    ),
    **dict.fromkeys(
        ("LOAD_CLOSURE", "LOAD_ASSERTION_ERROR", "LOAD_COMMON_CONSTANT", "LOAD_LOCALS"),
        lambda p, i: p.push(CLOSED),
    ),
    "LOAD_BUILD_CLASS": lambda p, i: p.push(UNKNOWN),
    "PUSH_NULL": lambda p, i: p.push(_NULL),
    "PUSH_EXC_INFO": lambda p, i: p.handle(),
    **dict.fromkeys(
        ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_FAST_AND_CLEAR"),
        lambda p, i: p.load(i.argval),
    ),
    **dict.fromkeys(
        ("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"),
        lambda p, i: p.load(*i.argval),
    ),
    "STORE_FAST": lambda p, i: p.store(i.argval),
    "STORE_FAST_STORE_FAST": lambda p, i: p.store(*i.argval),
    "STORE_FAST_LOAD_FAST": lambda p, i: p.store_and_load(*i.argval),
    **dict.fromkeys(("LOAD_DEREF", "LOAD_CLASSDEREF"), lambda p, i: p.load_from_cell(i.argval)),
    "LOAD_FROM_DICT_OR_DEREF": lambda p, i: p.load_from_cell(i.argval, within=1),
    "STORE_DEREF": lambda p, i: p.store_to_cell(i.argval),
    "LOAD_GLOBAL": _Pass.load_global,
    "LOAD_NAME": lambda p, i: p.load_variable(i.argval),
    "LOAD_FROM_DICT_OR_GLOBALS": lambda p, i: p.load_variable(i.argval, within=1),
    "STORE_GLOBAL": lambda p, i: p.objects.store(p.pop(), [(id(p.frame.module), i.argval)]),
    "STORE_NAME": lambda p, i: p.store_in_class(i.argval),
    "LOAD_METHOD": lambda p, i: p.load_attribute(i, True),
    "LOAD_ATTR": lambda p, i: p.load_attribute(i, not _IN_3_11 and bool(_count(i) & 1)),
    "LOAD_SUPER_ATTR": _Pass.load_super,
    "STORE_ATTR": lambda p, i: p.store_attribute(i.argval),
    "BINARY_SUBSCR": lambda p, i: p.load_item(),
    "STORE_SUBSCR": lambda p, i: p.store_item(),
    "BINARY_OP": lambda p, i: p.load_item() if i.argrepr == "[]" else p.arithmetic(2),
    **dict.fromkeys(
        ("UNARY_POSITIVE", "UNARY_NEGATIVE", "UNARY_INVERT"), lambda p, i: p.arithmetic(1)
    ),
    **dict.fromkeys(
        (
            *("UNARY_NOT", "TO_BOOL", "COMPARE_OP", "CONTAINS_OP", "BINARY_SLICE"),
            *("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "CONVERT_VALUE"),
            *("CALL_INTRINSIC_1", "CALL_INTRINSIC_2", "CALL_FUNCTION_EX"),
            *("BUILD_TUPLE", "BUILD_STRING", "BUILD_SLICE"),
        ),
        lambda p, i: p.combine(1 + _less(i)),
    ),
    **dict.fromkeys(
        ("BUILD_LIST", "BUILD_SET", "BUILD_MAP", "BUILD_CONST_KEY_MAP"),
        lambda p, i: p.collection(1 + _less(i)),
    ),
    **dict.fromkeys(
        (
            *("LIST_APPEND", "LIST_EXTEND", "SET_ADD", "SET_UPDATE"),
            *("MAP_ADD", "DICT_UPDATE", "DICT_MERGE"),
        ),
        lambda p, i: p.collect(_less(i), _count(i)),
    ),
    "IS_OP": lambda p, i: p.same(2),
    **dict.fromkeys(("UNPACK_SEQUENCE", "UNPACK_EX"), lambda p, i: p.unpack(1 - _less(i))),
    "GET_ITER": lambda p, i: p.push(p.objects.iterate(p.pop())),
    **dict.fromkeys(
        ("POP_TOP", "END_FOR", "POP_ITER", "POP_EXCEPT", "DELETE_ATTR"),
        lambda p, i: p.drop(_less(i)),
    ),
    "COPY": lambda p, i: p.copy(_count(i)),
    "SWAP": lambda p, i: p.swap(_count(i)),
    "KW_NAMES": _Pass.name_keywords,
    "CALL": lambda p, i: p.call(_count(i), p.keywords),
    "CALL_KW": _Pass.call_with_names,
    "MAKE_FUNCTION": lambda p, i: p.make_function(_less(i)),
    "SET_FUNCTION_ATTRIBUTE": lambda p, i: p.function_attribute(),
    "BEFORE_WITH": lambda p, i: p.enter(),
    "LOAD_SPECIAL": lambda p, i: p.special(),
    "IMPORT_NAME": _Pass.import_name,
    "IMPORT_FROM": _Pass.import_from,
    "RETURN_VALUE": lambda p, i: p.returned(p.pop()),
    "RETURN_CONST": lambda p, i: p.returned(CLOSED),
    **dict.fromkeys(("RAISE_VARARGS", "RERAISE"), lambda p, i: p.leave(_less(i))),
}
