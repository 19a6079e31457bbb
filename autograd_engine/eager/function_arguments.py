"""Arguments of a function of the user's, and the gradients that another returns for them.

What belongs to which argument follows from the parameters of the function, not from how a call is
written: keyword arguments come in any order.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

from autograd_engine.errors import ArgumentError

__all__ = ["Argument", "Expected", "Parameters", "tensor_names"]


class Parameters(NamedTuple):
    """The parameters of a function of the user's, without its first, the context.

    Attributes
    ----------
    positional, named : tuple of str
        Those that can be given by position, and those that can be given by name alone, in order.
    rest : str
        What takes all further positional arguments; empty where nothing does.
    """

    positional: tuple[str, ...]
    named: tuple[str, ...]
    rest: str

    @staticmethod
    def of(function: Any) -> Parameters:
        try:
            return _known[function]
        except (KeyError, TypeError):
            made = Parameters._found(function)
        try:
            _known[function] = made
        except TypeError:  # there are no weak references to it
            return made
        return made

    @staticmethod
    def _found(function: Any) -> Parameters:
        try:
            found = inspect.signature(function).parameters.values()
        except (TypeError, ValueError):  # not known of some that are compiled
            return Parameters((), (), "")
        by_kind: dict[Any, list[str]] = {kind: [] for kind in inspect._ParameterKind}
        for p in found:
            by_kind[p.kind].append(p.name)
        by_position = [*by_kind[_P.POSITIONAL_ONLY], *by_kind[_P.POSITIONAL_OR_KEYWORD]]
        rest = "".join(by_kind[_P.VAR_POSITIONAL])
        return Parameters(tuple(by_position[1:]), tuple(by_kind[_P.KEYWORD_ONLY]), rest)

    def name(self, key: int | str) -> str:
        """What the function calls an argument."""
        if isinstance(key, str):
            return key
        if key < len(self.positional):
            return self.positional[key]
        return f"{self.rest}[{key - len(self.positional)}]" if self.rest else f"argument {key}"

    def in_order(self, count: int, given: Collection[str]) -> list[str]:
        """Names of keyword arguments that follow `count` others, in the order of the parameters.

        One that was not given stands where others do after it.
        """
        names = [*self.positional[count:], *self.named]
        while names and names[-1] not in given:
            del names[-1]
        return [*names, *(name for name in given if name not in names)]  # the rest is ``**kwargs``


_P: Final = inspect.Parameter
_known: weakref.WeakKeyDictionary[Any, Parameters] = weakref.WeakKeyDictionary()


class Argument(NamedTuple):
    """One argument of a call, and the Tensors in it.

    Attributes
    ----------
    key : int or str
        Its position, or its name if it was given by name.
    paths : tuple of tuple
        For each Tensor the indices and keys that lead to it; ``()`` where it is the argument.
    """

    key: int | str
    paths: tuple[tuple[Any, ...], ...]


def tensor_names(function: Any, arguments: Sequence[Argument]) -> list[str]:
    """What to call the Tensors among the arguments of a function."""
    return [
        name + "".join([f"[{step!r}]" for step in path])
        for name, argument in zip(_names(function, arguments), arguments, strict=True)
        for path in argument.paths
    ]


def _names(function: Any, arguments: Sequence[Argument]) -> list[str]:
    known = Parameters.of(function)
    return [known.name(a.key) for a in arguments]


class Expected(NamedTuple):
    """What a function has to return: gradients of the Tensors among the arguments of another.

    Attributes
    ----------
    function : str
        Named in errors.
    of : callable
        The other function.
    arguments : sequence of Argument
        Of a call of it.
    wanted : tuple of int
        The Tensors whose gradient is asked for, counted through all arguments.
    label : object
        The call, for errors.
    """

    function: str
    of: Any
    arguments: Sequence[Argument]
    wanted: tuple[int, ...]
    label: object

    def by_tensor(self, returned: Any) -> list[Any]:
        """One entry for each Tensor among the arguments.

        `returned` has one for each Tensor, or, as in PyTorch, for each argument, None for what is
        no Tensor. A list, tuple or dict stands for an argument that is one. A dict has the names of
        the arguments as its keys.
        """
        if isinstance(returned, dict) or (hasattr(returned, "_fields") and self._named(returned)):
            return self._by_name(returned if isinstance(returned, dict) else returned._asdict())
        values = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        counts = [len(a.paths) for a in self.arguments]
        if any(isinstance(v, _NESTS) for v in values):
            return self._by_argument(values, every=len(values) == len(counts))
        if len(values) == sum(counts):
            if len(values) == len(counts) and 0 in counts:
                self._refuse_two_meanings(values)
            return values
        if len(values) == len(counts):
            return self._by_argument(values, every=True)
        rest = range(len(values), sum(counts))
        if not values or not rest or any(k in self.wanted for k in rest):
            raise self._refusal(f"{len(values)} gradients", "return one for each, in this order")
        return [*values, *[None] * len(rest)]

    @property
    def names(self) -> list[str]:
        return _names(self.of, self.arguments)

    @property
    def _holders(self) -> list[int]:
        """Arguments in which there are Tensors."""
        return [k for k, a in enumerate(self.arguments) if a.paths]

    def _named(self, returned: Any) -> bool:
        names = self.names
        return set(returned._fields) == {names[k] for k in self._holders}

    def _by_name(self, returned: dict[Any, Any]) -> list[Any]:
        names, holders = self.names, self._holders
        strange = [key for key in returned if key not in names]
        if strange and len(holders) == 1 and all(self.arguments[holders[0]].paths):
            return self._by_argument([returned], every=False)  # that argument is a dict itself
        missing = [k for k in self._wanted_arguments() if names[k] not in returned]
        if strange or missing:
            keys = ", ".join(map(repr, returned)) or "no keys"
            wanted = ", ".join([repr(names[k]) for k in holders])
            raise self._refusal(
                f"a dict with {keys}",
                f"the keys of a dict are the names of arguments, {wanted}; or return a tuple with "
                "one gradient for each",
            )
        return self._by_argument([returned.get(name) for name in names], every=True)

    def _by_argument(self, values: list[Any], every: bool) -> list[Any]:
        """From one for each argument, or for each in which there are Tensors."""
        which = range(len(self.arguments)) if every else self._holders
        rest = which[len(values) :]
        if len(values) > len(which) or any(k in self._wanted_arguments() for k in rest):
            raise self._refusal(
                f"{len(values)} gradients",
                "return one for each, in this order, and a list only for an argument that is one",
            )
        given = dict(zip(which, values, strict=False))
        return [g for k in range(len(self.arguments)) for g in self._in_argument(k, given.get(k))]

    def _in_argument(self, k: int, value: Any) -> list[Any]:
        """Gradients of the Tensors of one argument, which may be there as the Tensors are."""
        name, paths = self.names[k], self.arguments[k].paths
        if value is None:
            return [None] * len(paths)
        nest = isinstance(value, _NESTS)
        what = f"a {type(value).__name__} as the gradient of {name}"
        if not paths:
            raise self._refusal(what, f"{name} is no Tensor and has none: return None for it")
        if paths == ((),):
            if nest:
                raise self._refusal(what, f"{name} is a Tensor: return its gradient, in no list")
            return [value]
        if not nest and len(paths) == 1:
            return [value]
        flat = isinstance(value, (list, tuple)) and not any(isinstance(v, _NESTS) for v in value)
        if flat and len(value) == len(paths):
            return list(value)
        found = [_at(value, path) for path in paths] if nest else []
        if len(list(_leaves(value))) != len([g for g in found if g is not None]):
            raise self._refusal(
                what,
                f"{name} holds {len(paths)} Tensors: return as many gradients, in lists and dicts "
                "as they are there",
            )
        return found

    def _refuse_two_meanings(self, values: list[Any]) -> None:
        """As many Tensors as arguments, which are not the same: None can be meant for either."""
        for value, argument in zip(values, self.arguments, strict=True):
            if value is not None and len(argument.paths) != 1:
                return
        other = self._by_argument(values, every=True)
        if any(a is not b for a, b in zip(values, other, strict=True)):
            raise self._refusal(
                f"{len(values)} values, which can be one for each Tensor or one for each argument",
                "return a dict with the names of arguments as its keys",
            )

    def _wanted_arguments(self) -> list[int]:
        owners = [k for k, a in enumerate(self.arguments) for _ in a.paths]
        return [owners[t] for t in self.wanted]

    def _refusal(self, what: str, instead: str) -> ArgumentError:
        tensors = tensor_names(self.of, self.arguments)
        return ArgumentError(
            f"{self.function} returned {what}, and forward took {len(tensors)} Tensors "
            f"({', '.join(tensors)}): {instead}, None where there is no gradient ({self.label})"
        )


_NESTS: Final = (list, tuple, dict)


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    """What the path leads to; None where it leads nowhere."""
    for step in path:
        if not isinstance(value, _NESTS):
            return None
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return None if isinstance(value, _NESTS) else value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, _NESTS):
        for v in value.values() if isinstance(value, dict) else value:
            yield from _leaves(v)
    elif value is not None:
        yield value
