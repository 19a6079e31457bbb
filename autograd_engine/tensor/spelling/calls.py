"""Calls in another spelling than the declared one: what is meant, and what to say of the rest."""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, Final

from autograd_engine.core.checks import as_bool
from autograd_engine.core.names.keywords import Owner, meaning_of, one_more, translated
from autograd_engine.errors import ArgumentError
from autograd_engine.program.atomic_call import failed
from autograd_engine.program.ir.program import Operator
from autograd_engine.tensor.spelling.forms import FORMS
from autograd_engine.tensor.spelling.out import check_out, gives_tensors, written
from autograd_engine.tensor.spelling.rows import ROWS, Row

__all__ = ["Calls"]

Values = dict[str, Any]

_PLAIN: Final = Row()
MISSING: Final = ...  # nobody gives it, and the test for it is short


class Calls:
    """What calls of one function may look like: it makes the declared one out of any of them.

    Attributes
    ----------
    parameters : dict of str to inspect.Parameter
        All but the one that takes any number of arguments.
    rest : str
        The name of that, or "".
    required : list of str
        The parameters without a default.
    bools : dict of str to bool
        The parameters that are True or False, and whether they may be None too.
    row : Row
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function, self._name = function, name
        self.row = ROWS.get(name) or ROWS.get(name.removesuffix("_"), _PLAIN)
        found = inspect.signature(function).parameters
        self.parameters = {n: p for n, p in found.items() if p.kind is not p.VAR_POSITIONAL}
        self.rest = next((n for n in found if n not in self.parameters), "")
        self.required = [n for n, p in self.parameters.items() if p.default is p.empty]
        self.bools = {
            n: p.annotation != "bool"
            for n, p in self.parameters.items()
            if p.annotation in ("bool", "bool | None")
        }
        names = ("function", name, name.removesuffix("_"))
        self._owner = Owner.of(name, names, self.parameters.values())

    def defaults(self) -> tuple[tuple[Any, ...], Values]:
        """Those of the wrapper: `MISSING` for what has none."""
        positional, named = [], {}
        for n, p in self.parameters.items():
            value = MISSING if p.default is p.empty else p.default
            if p.kind is p.KEYWORD_ONLY:
                named[n] = value
            else:
                positional.append(value)
        return tuple(positional), named

    def failed(
        self, before: int, given: tuple[Any, ...], rest: tuple[Any, ...], error: BaseException
    ) -> tuple[Any] | None:
        """A call of an `atomic` function ends with `error`: see `atomic_call.failed`."""
        named = dict(zip(self.parameters, given, strict=True))
        args = self._positional(named, list(rest)) if rest else []
        values = {n: v for n, v in named.items() if v is not self.parameters[n].default}
        inner = self._function.atomic  # type: ignore[attr-defined]
        return failed(inner, before, args, values, error)

    def tests(self) -> list[str]:
        """What holds of the parameters where a call is not in the declared spelling."""
        found = [f"{name} is ..." for name in self.required] + self.row.when_given
        for name, open_ in self.bools.items():
            usual = self.parameters[name].default is True  # is asked for first: most calls say it
            kinds = [str(usual), str(not usual), *["None"] * open_]
            found.append(" and ".join(f"{name} is not {kind}" for kind in kinds))
        return found

    def respelled(self, given: tuple[Any, ...], rest: tuple[Any, ...], other: Values) -> Any:
        """The result of the call that is meant."""
        values = {n: v for n, v in zip(self.parameters, given, strict=True) if v is not MISSING}
        row, more = self.row, list(rest)
        meant: Callable[..., Any] | None = None
        finish: list[Callable[[Any], Any]] = []
        if row.order:
            values = self._placed(values, other)
        self._options(values, other, finish)
        told = {name: other.pop(name) for name in row.tells.split() if name in other}
        self._translate(values, other, finish)
        if row.form:
            meant = FORMS[row.form](values, more, told)
            if meant is not None and self._name.endswith("_"):
                finish.append(functools.partial(written, self._name, values["x"]))
            self._translate(values, told, finish)
        for n in self.bools.keys() & values.keys():
            values[n] = as_bool(self._name, n, values[n], or_none=self.bools[n])
        if more and not self.rest:
            raise one_more(self._owner, more[0])
        args = self._positional(values, more)
        before = Operator.made
        result = (meant or self._function)(*args, **values)
        try:
            for act in finish:
                result = act(result)
        except BaseException as error:
            failed(self._function, before, args, values, error)
            raise
        return result

    def _positional(self, values: Values, more: list[Any]) -> list[Any]:
        """Out of `values` what is given by position: all of it where more than that is."""
        if not self.rest:
            return []
        names = [n for n, p in self.parameters.items() if p.kind is not p.KEYWORD_ONLY]
        return [values.pop(n) for n in names if n in values] + more

    def _placed(self, values: Values, other: Values) -> Values:
        """The arguments by name, where an axis may stand before the index."""
        positions = list(self.parameters)
        changed = [
            k for k, n in enumerate(positions) if n in values and not self._is_default(n, values[n])
        ]
        placed = list(values.values())[: max(changed, default=-1) + 1]
        named = {name: other.pop(name) for name in self.parameters if name in other}
        taken = {self._target(name) for name in other} | named.keys()
        names = positions
        if taken.intersection(names[: len(placed)]) or isinstance(values.get("index"), int):
            names = self.row.order.split()
        found = dict(zip(names, placed, strict=False))
        for name in found.keys() & named.keys():
            raise ArgumentError(f"{self._name}: {name!r} is given by position and by name")
        return found | named

    def _target(self, name: str) -> str:
        meaning = meaning_of(name, self._owner)
        return meaning.targets[0] if meaning is not None and meaning.targets else name

    def _is_default(self, name: str, value: Any) -> bool:
        return value is self.parameters[name].default

    def _translate(self, values: Values, other: Values, finish: list[Callable[[Any], Any]]) -> None:
        """Move to `values` what `other` has under other names."""
        if not other:
            return
        targets = {self._target(name) for name in other}
        said = _said(self.parameters) if targets & values.keys() else ()
        given = {
            n: v
            for n, v in values.items()
            if n not in self.parameters or n in said or not self._is_default(n, v)
        }
        made = translated(self._owner, given, other)
        values |= made.arguments
        finish += [functools.partial(_finished, *last) for last in made.finish]

    def _options(self, values: Values, other: Values, finish: list[Callable[[Any], Any]]) -> None:
        """What takes the result, where that is a tensor."""
        if "out" not in self.parameters and not {"out", "inplace"} & other.keys():
            return
        if not gives_tensors(self._function):
            return
        out = (values if "out" in self.parameters else other).pop("out", None)
        if out is not None:
            check_out(self._name, out)
            finish.append(functools.partial(written, self._name, out))
        if other.get("inplace") is True:
            del other["inplace"]
            finish.append(functools.partial(written, self._name, next(iter(values.values()))))


def _finished(method: str, told: Values, result: Any) -> Any:
    return getattr(result, method)(**told)


def _said(parameters: Values) -> set[str]:
    """The arguments that the user's call gives, as far as its instruction says them.

    What has the value of its default may have been given all the same.
    """
    frame: Any = sys._getframe(5)  # behind _translate, respelled, Spelling and the function
    if frame.f_code.co_qualname == "_unfinished.<locals>.first":
        frame = frame.f_back
    named, count = _call_at(frame.f_code, frame.f_lasti)
    return {*named, *list(parameters)[: count - len(named)]}


@functools.lru_cache(1024)
def _call_at(code: CodeType, at: int) -> tuple[tuple[str, ...], int]:
    """The keywords of a call, and how many arguments it has; none where it unpacks a mapping.

    The object of a method does not count.
    """
    before = [i for i in dis.get_instructions(code) if i.offset <= at][-4:]
    # The names are said by KW_NAMES, or they lie on the stack for CALL_KW.
    says = {"CALL": "KW_NAMES", "CALL_KW": "LOAD_CONST"}.get(before[-1].opname)
    found = [code.co_consts[i.arg or 0] for i in before if i.opname == says]
    return (found[-1], before[-1].arg or 0) if found else ((), 0)
