"""Calls in another spelling than the declared one: what is meant, and what to say of the rest."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Final, NoReturn

from autograd_engine.core.checks import as_bool
from autograd_engine.core.operand import Operand
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.program.atomic_call import failed
from autograd_engine.program.ir.program import Operator
from autograd_engine.tensor.spelling.forms import FORMS
from autograd_engine.tensor.spelling.out import check_out, check_place, gives_tensors, written
from autograd_engine.tensor.spelling.rows import (
    CREATING,
    EVERYWHERE,
    IGNORED,
    NEUTRAL,
    ROWS,
    Row,
)

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
        self._constructs = function.__name__ == "__init__"
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
        row, more = self._row_of(values), list(rest)
        meant: Callable[..., Any] | None = None
        finish: list[Callable[[Any], Any]] = []
        self._rename(values, other, row, row.tells.split())
        if row.form:
            meant = FORMS[row.form](values, more, other)
            if meant is not None and self._name.endswith("_"):
                finish.append(functools.partial(written, self._name, values["x"]))
            self._rename(values, other, row, [])
        finish += self._options(values, other)
        if other:
            self._refuse(next(iter(other)), values, row)
        for n in self.bools.keys() & values.keys():
            values[n] = as_bool(self._shown(values), n, values[n], or_none=self.bools[n])
        if more and not self.rest:
            raise ArgumentTypeError(
                f"{self._name}: takes {len(self.parameters)} arguments "
                f"({', '.join(self.parameters)}), and {more[0]!r} is one more"
            )
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

    def _row_of(self, values: Values) -> Row:
        """The row of the class that is made, where this is the constructor that it inherits."""
        if not self._constructs:
            return self.row
        return ROWS.get(type(values["self"]).__name__, self.row)

    def _rename(self, values: Values, other: Values, row: Row, spared: list[str]) -> None:
        """Move to `values` what `other` has under another name."""
        for name in [name for name in other if name not in spared]:
            target = self._target(name, row)
            if target is None:
                continue
            if target in values and values[target] is not self.parameters[target].default:
                raise ArgumentError(
                    f"{self._name}: {name!r} is {target!r} here, and both are given; leave one out"
                )
            values[target] = other.pop(name)

    def _target(self, name: str, row: Row) -> str | None:
        pairs = dict(pair.split("=") for pair in row.also.split())
        if name in pairs:
            return pairs[name]
        known = (n for n in EVERYWHERE.get(name, "").split() if n in self.parameters)
        return next(known, None)

    def _options(self, values: Values, other: Values) -> list[Callable[[Any], Any]]:
        """What is to be done with the result, for arguments that say nothing of its values."""
        finish: list[Callable[[Any], Any]] = []
        if self._name in CREATING:
            check_place(self._name, other.pop("device", None))
            if other.pop("requires_grad", False):
                finish.append(_requiring)
        out = values.pop("out", None) if "out" in self.parameters else other.get("out")
        if out is not None and gives_tensors(self._function):
            other.pop("out", None)
            check_out(self._name, out)
            finish.append(functools.partial(written, self._name, out))
        if other.get("inplace") is True and gives_tensors(self._function):
            del other["inplace"]
            finish.append(functools.partial(written, self._name, next(iter(values.values()))))
        for name in IGNORED.intersection(other):
            del other[name]
        for name in NEUTRAL.intersection(other):
            if other[name] is None or other[name] is False:
                del other[name]
        if isinstance(other.get("name"), str):
            del other["name"]
        return finish

    def _refuse(self, name: str, values: Values, row: Row) -> NoReturn:
        """There is no argument `name`: say what there is, and which line to write."""
        shown = self._shown(values)
        listed = [n for n in self.parameters if n != "self"]
        aliases = {n: self._target(n, row) for n in (*EVERYWHERE, *_names(row.also))}
        close = get_close_matches(name, [*listed, *(n for n, t in aliases.items() if t)], 1, 0.6)
        meant = next((aliases.get(n) or n for n in close), None)
        hint = ""
        if name in NEUTRAL:
            hint = f"; leave it out: {shown}({', '.join(self._parts(values, ''))})"
        elif meant is not None:
            parts = [*self._parts(values, meant), f"{meant}=..."]
            hint = f"; write {shown}({', '.join(parts)})"
        raise ArgumentTypeError(
            f"{shown}: there is no argument {name!r}{hint}; it takes {', '.join(listed) or 'none'}"
        )

    def _shown(self, values: Values) -> str:
        return type(values["self"]).__name__ if self._constructs else self._name

    def _parts(self, values: Values, without: str) -> list[str]:
        """The arguments that were given, as in a line of code."""
        parts = []
        for name, p in self.parameters.items():
            if name not in values or name in ("self", without) or values[name] is p.default:
                continue
            value = values[name]
            text = name if isinstance(value, Operand) else f"{value!r:.30}"
            plain = name in self.required and p.kind is not p.KEYWORD_ONLY
            parts.append(text if plain else f"{name}={text}")
        return parts


def _requiring(result: Any) -> Any:
    result.stop_gradient = False
    return result


def _names(pairs: str) -> list[str]:
    return [pair.partition("=")[0] for pair in pairs.split()]
