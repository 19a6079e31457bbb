"""Public functions that take other spellings than the declared one, at next to no cost.

What the package shows of a function does what the function does, after a test. Of ``tanh`` it is::

    def tanh(x=..., name=None, **_other):
        if _other or x is ...: return _spelling((x, name), (), _other)
        return ops.tanh(x)

Arguments that are True or False are tested here too: ``keepdim is not False and keepdim is not
True`` leads to where NumPy's bools are made Python's, and all else is refused.

The code is made when it is first called, from the source of the function, whose lines it keeps: a
wrapper around the function would cost a call more, and another frame between an operation and the
line of the user's that it notes. Where there is no source it is such a wrapper. Any call that is
not in the declared spelling goes to `calls`.

Modules of the engine import each other's functions from where they are defined, without the test.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from autograd_engine.core.locations import register_generated
from autograd_engine.core.locks import parse_source
from autograd_engine.program.ir.program import Operator

if TYPE_CHECKING:
    from autograd_engine.tensor.spelling.calls import Calls

__all__ = ["Spelling", "spelled", "spelled_functions", "spelled_methods"]

F = TypeVar("F", bound=Callable[..., Any])

_FLAGS: Final = __future__.annotations.compiler_flag

# What users see of a function is one thing, in whatever modules they find it.
_shown: Final[dict[Any, Any]] = {}


def spelled(function: F) -> F:
    """`function`, which takes other spellings too, and in its module it is what has its name.

    What is no function in Python, or takes any keyword, stays as it is.
    """
    known = _shown.get(function)
    if known is not None or not _spells(function):
        return known or function
    name = function.__name__
    call = Spelling(function, name).call
    if "<locals>" in call.__qualname__:
        call.__qualname__ = name
    _shown[function] = _shown[call] = call
    if call.__globals__.get(name) is function:  # where pickle finds it, and doctest
        call.__globals__[name] = call
    return cast(F, call)


def spelled_functions(found: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a module, each under all its names."""
    return {name: spelled(value) for name, value in found.items()}


def spelled_methods(owner: type, names: str) -> None:
    """The methods of `owner` by these names take other spellings."""
    for name in names.split():
        home = next(c for c in owner.__mro__ if name in vars(c))
        setattr(home, name, spelled(vars(home)[name]))


def _spells(function: Any) -> bool:
    if function.__class__ is not FunctionType:
        return False
    return not _innermost(function).__code__.co_flags & inspect.CO_VARKEYWORDS


def _innermost(function: Any) -> Any:
    while (inner := getattr(function, "__wrapped__", None)) is not None:
        function = inner
    return function


class Spelling:
    """What calls of one function may look like.

    Attributes
    ----------
    call : function
        What users call.
    function : function
        What computes it.
    name : str
        That of its row.
    """

    __slots__ = ("_calls", "call", "function", "name")

    _calls: Calls
    operator = Operator

    def __init__(self, function: Any, name: str) -> None:
        self.function, self.name = function, name
        self.call = call = _unfinished(function, self)
        call.__module__ = function.__module__
        call.__qualname__ = function.__qualname__
        call.__doc__ = function.__doc__
        call.__wrapped__ = function

    def complete(self, inner: Any) -> None:
        """Give `call` its code, which does what `inner` does."""
        from autograd_engine.tensor.spelling.calls import Calls

        self._calls = calls = Calls(self.function, self.name)
        # In this order another thread may call in between: the code that it finds takes any
        # arguments, and has no defaults.
        self.call.__defaults__, self.call.__kwdefaults__ = calls.defaults()
        self.call.__code__ = _code(self.function, inner, calls)

    def __call__(self, given: tuple[Any, ...], rest: tuple[Any, ...], other: Any) -> Any:
        return self._calls.respelled(given, rest, other)

    def failed(
        self, before: int, given: tuple[Any, ...], rest: tuple[Any, ...], error: BaseException
    ) -> tuple[Any] | None:
        """A call of an `atomic` function ends with `error`."""
        return self._calls.failed(before, given, rest, error)


def _unfinished(shown: Any, _spelling: Spelling) -> Any:
    """What stands for a function until it is called, with the free variables that it will have."""
    _function = getattr(shown, "atomic", shown)

    def first(*args: Any, **kwargs: Any) -> Any:
        _spelling.complete(_function)
        return _spelling.call(*args, **kwargs)

    # The globals are those of the function, whose code it will run.
    scope = _innermost(shown).__globals__
    return FunctionType(first.__code__, scope, shown.__name__, None, first.__closure__)


# --- the code


def _code(shown: Any, function: Any, calls: Calls) -> CodeType:
    """The body of `function`, or a call of it, after the test."""
    before: list[str] = []
    after: list[str] = []
    passed = []
    for p in calls.parameters.values():
        named = p.kind is p.KEYWORD_ONLY
        (after if named else before).append(f"{p.name}=...")
        passed.append(f"{p.name}={p.name}" if named else p.name)
    rest = calls.rest or ("_rest" if calls.row.form else "")
    if calls.rest:
        passed.insert(len(before), f"*{rest}")
    if calls.row.order:
        before.append("/")  # what is given by name may stand elsewhere
    if rest or after:
        after.insert(0, f"*{rest}")
    given = f"({''.join(f'{name}, ' for name in calls.parameters)}), {rest or '()'}"
    tests = ["_other", *calls.tests()]
    tests += ["_rest"] * (rest == "_rest") + ["out is not None"] * ("out" in calls.parameters)
    body = ["        _call"]
    if function is not shown:
        body = [
            f"        _before, _given = _spelling.operator.made, ({given})",  # the body may rebind
            "        try:",
            "            _call",
            "        except BaseException as _error:",
            "            _again = _spelling.failed(_before, *_given, _error)",
            "            if _again is None: raise",
            "            return _again[0]",
        ]
    name = shown.__name__ if shown.__name__.isidentifier() else "call"
    lines = [
        "def outer(_function, _spelling):",
        f"    global {name}",  # where its body calls itself
        f"    def {name}({', '.join([*before, *after, '**_other'])}):",
        f"        if {' or '.join(tests)}: return _spelling({given}, _other)",
        *body,
        "        _function, _spelling",  # which is never reached
    ]
    return _inlined(lines, function) or _calling(lines, name, ", ".join(passed))


def _calling(lines: list[str], name: str, passed: str) -> CodeType:
    """`lines` with a call of the function."""
    text = "\n".join(lines).replace("_call", f"return _function({passed})") + "\n"
    return _inside(_inside(compile(text, register_generated(text, name), "exec")))


def _inlined(lines: list[str], function: Any) -> CodeType | None:
    """`lines` with the body of `function`, at the lines where it is written, or None."""
    found = _source_of(function)
    if found is None:
        return None
    tree = parse_source("\n".join(lines))
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = found.lineno  # type: ignore[attr-defined]
    inner: Any = tree.body[0].body[1]
    at = next((n for n in inner.body if isinstance(n, ast.Try)), inner).body
    k = next(k for k, n in enumerate(at) if getattr(n, "value", None).__class__ is ast.Name)
    at[k : k + 1] = found.body[ast.get_docstring(found, clean=False) is not None :]
    code = function.__code__
    made = _inside(_inside(compile(tree, code.co_filename, "exec", _FLAGS, True)))
    # Unless somebody has written to the file since, it says what was compiled then.
    return made if _names(code) - {repr(function.__doc__)} <= _names(made) else None


def _inside(code: CodeType) -> CodeType:
    """The function that a module, or a function, defines."""
    return next(c for c in code.co_consts if isinstance(c, CodeType))


def _source_of(function: Any) -> ast.FunctionDef | None:
    """A function as it was written, if that can be read, and it is one of a module."""
    code = function.__code__
    if code.co_freevars or "locals" in code.co_names:
        return None
    before = code.co_firstlineno - 1
    lines = linecache.getlines(code.co_filename, function.__globals__)[before : _last(code)]
    try:
        found: Any = parse_source("\n" * before + "".join(lines)).body[0]
    except (SyntaxError, IndexError):  # of a method it is indented
        return None
    return found if isinstance(found, ast.FunctionDef) else None


def _last(code: CodeType) -> int:
    """The last line of a function."""
    inner = [_last(c) for c in code.co_consts if isinstance(c, CodeType)]
    return max([end for _, end, _, _ in code.co_positions() if end] + inner, default=0)


def _names(code: CodeType) -> set[Any]:
    """What it names, and the numbers and texts in it."""
    plain = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    return {*code.co_names, *code.co_varnames, *plain}
