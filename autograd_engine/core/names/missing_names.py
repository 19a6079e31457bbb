"""Names that people type where they are not: errors that say what is there instead.

`missing_names.txt` beside this file has the answers for the names of Paddle, PyTorch, JAX and HIPS
autograd that are not here; it is read when the first name is missing. What a name is called
elsewhere in the package, or is nearly called, is looked up.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Final, Literal, NamedTuple

from autograd_engine.core.names.absent_names import ABSENT

__all__ = [
    "Absent",
    "Answer",
    "answer",
    "answer_imports",
    "answered",
    "answers",
    "bind_absent",
    "missing",
    "missing_text",
    "present_names",
    "row",
]

_ROOT: Final = "autograd_engine"
_LOOKING: Final = ("__getattr__", "found_in")
"""The functions that stand between `missing` and who asks a module for a name."""
_FUNCTIONS: Final = (
    "paddle",
    "paddle.nn.functional",
    "paddle.linalg",
    "paddle.fft",
    "paddle.autograd",
    "paddle.utils.dlpack",
)
"""Where a function is looked for that is asked for at another of these, or at a tensor."""


class Answer(NamedTuple):
    """What is said of a name."""

    text: str
    kind: Literal["write", "reason", "guess"]

    def __str__(self) -> str:
        return {
            "write": f"here it is {self.text}",
            "reason": self.text,
            "guess": f"did you mean {self.text!r}?",
        }[self.kind]


class _Section(NamedTuple):
    """The answers at one place: of names, and of patterns such as ``cudnn_*``."""

    names: dict[str, Answer]
    patterns: dict[str, Answer]


@functools.cache
def answers() -> dict[str, _Section]:
    """For each place, such as ``paddle.nn``, what is said there.

    A line ``name name = code`` has what to write, ``name name : sentence`` why nothing is; names go
    on in lines that are indented.
    """
    with open(f"{__file__.removesuffix('.py')}.txt", encoding="utf-8") as file:
        text = file.read()
    found: dict[str, _Section] = {}
    section = _Section({}, {})
    for line in text.replace("\n ", " ").splitlines():
        if line.startswith("["):
            section = found[line[1:-1]] = _Section({}, {})
        elif line and line[0] != "#":
            words = line.split()
            end = next(i for i, word in enumerate(words) if word in ("=", ":"))
            kind: Literal["write", "reason"] = "write" if words[end] == "=" else "reason"
            said = Answer(" ".join(words[end + 1 :]), kind)
            for name in words[:end]:
                (section.patterns if "*" in name else section.names)[name] = said
    return found


@functools.cache
def _elsewhere() -> dict[str, str]:
    """Public functions, and where each is; methods and attributes of tensors behind all others."""
    found: dict[str, str] = {}
    for place in _FUNCTIONS:
        module = importlib.import_module(place.replace("paddle", _ROOT))
        for name in dir(module):
            if name[0].islower():
                found.setdefault(name, f"{place}.{name}")
    absent = ABSENT["paddle.Tensor"].split()
    for name in dir(importlib.import_module(_ROOT).Tensor):
        if name[0].islower() and name not in absent:
            found.setdefault(name, f"x.{name}")
    return found


def asked_at(place: str) -> tuple[str, ...]:
    """`place`, and the places whose answers are given there too."""
    if place == "paddle.static.Variable":
        return place, "paddle.Tensor", "paddle"
    if place == "paddle.nn.init":
        return place, "paddle.nn.initializer", "paddle"
    name = place.rpartition(".")[2]
    return (place,) if name[0].isupper() and name != "Tensor" else (place, "paddle")


def row(place: str, name: str) -> tuple[str, str, Answer] | None:
    """(section, name or pattern, what it says) of what the file says of a name at a place.

    The name itself comes before patterns, and what is said of the place before all else.
    """
    places = [at for at in asked_at(place) if at in answers()]
    for at in places:
        if name in answers()[at].names:
            return at, name, answers()[at].names[name]
    from fnmatch import fnmatchcase

    for at in places:
        for pattern, said in answers()[at].patterns.items():
            if fnmatchcase(name, pattern):
                return at, pattern, said
    return None


@functools.lru_cache(512)
def answer(place: str, name: str, owner: ModuleType | type) -> Answer | None:
    """What to say of `name`, which is not at `place`, where `owner` is."""
    if name.startswith("_"):
        return None
    found = row(place, name)
    if found is not None:
        return found[2]._replace(text=found[2].text.replace("{name}", name))
    found = row(place, name[:-1]) if name.endswith("_") else None
    if found is not None and found[2].kind == "write":  # in place, what is not here either
        return Answer(f"x = {found[2].text}".replace("{name}", name[:-1]), "write")
    there = _written_elsewhere(place, name)
    if there is not None:
        return Answer(there, "write")
    absent = ABSENT.get(place, "").split()
    shown = [n for n in dir(owner) if not n.startswith("_") and n not in absent]
    folded = _folded(name)
    same = [n for n in shown if _folded(n) == folded]
    if same:
        return Answer(same[0], "write")
    from difflib import get_close_matches

    known = dict.fromkeys(shown, "")
    if place in _FUNCTIONS:
        known |= {n: at for n, at in _elsewhere().items() if n not in known}
    close = get_close_matches(name, known, 1, 0.75)
    return Answer(known[close[0]] or close[0], "guess") if close else None


def _written_elsewhere(place: str, name: str) -> str | None:
    """What to write for a function that is not at `place`, or has no twin in place."""
    method = "paddle.Tensor" in asked_at(place)
    if not method and place not in (*_FUNCTIONS, "paddle.autograd.functional"):
        return None
    for asked, result in ((name, ""), (name.removesuffix("_"), "x = ")):
        there = _elsewhere().get(asked)
        if there is None or (method and there.startswith("x.")) or there == f"{place}.{name}":
            continue
        owner = importlib.import_module(_ROOT)
        if there.startswith("x."):
            found = getattr(owner.Tensor, asked)
        else:
            for part in there.split(".")[1:-1]:
                owner = getattr(owner, part)
            found = getattr(owner, asked)
        if not isinstance(found, ModuleType):
            return result + _call(there, found)
    return None


def _call(path: str, function: Any) -> str:
    """A function with the arguments that have to be given."""
    import inspect

    if not inspect.isfunction(function):
        return path
    names = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind is not p.VAR_KEYWORD
    ]
    return f"{path}({', '.join(names[path.startswith('x.') :])})"


def _folded(name: str) -> str:
    """What stays of a name in which case and inner underscores do not count."""
    return name.casefold().rstrip("_").replace("_", "") + "_" * name.endswith("_")


def _error(text: str, place: str, name: str, owner: ModuleType | type) -> str:
    said = answer(place, name, owner)
    return f"{text} has no attribute {name!r}" + ("" if said is None else f"; {said}")


def missing(module: str, name: str) -> AttributeError | ImportError:
    """What to raise for a name that `module` does not have, from its ``__getattr__``."""
    caller = sys._getframe(1)
    while caller.f_code.co_name in _LOOKING and caller.f_back is not None:
        caller = caller.f_back
    if caller.f_globals.get("__name__") == "importlib._bootstrap":
        return AttributeError(name)  # an import asks, and goes on to look for a module
    text = _error(f"module {module!r}", place_of(module), name, sys.modules[module])
    if _imports(caller.f_code.co_code, caller.f_lasti):
        # Python says nothing of the reason if this is an AttributeError.
        return ImportError(text, name=module)
    return AttributeError(text, name=name)


def place_of(module: str) -> str:
    """The public name of a module."""
    return module.replace(_ROOT, "paddle", 1)


def _imports(code: bytes, at: int) -> bool:
    """Whether the instruction is that of ``from module import name``."""
    import opcode

    return 0 <= at < len(code) and code[at] == opcode.opmap["IMPORT_FROM"]


# --- attributes of objects


def missing_text(owner: object, name: str, place: str) -> str:
    """What to say of an attribute that `owner` does not have.

    Parameters
    ----------
    owner : object
    name : str
    place : str
        The class whose answers are given, such as ``"paddle.nn.Layer"``.
    """
    return _error(f"{type(owner).__name__!r} object", place, name, type(owner))


def answered(place: str) -> Callable[[Any, str], Any]:
    """A ``__getattr__`` for the class at `place`."""

    def refuse(self: Any, name: str) -> Any:
        raise AttributeError(missing_text(self, name, place), name=name)

    return refuse


class Absent:
    """Stands for an attribute that is not there, in a class whose own are to be quick to read.

    With a ``__getattr__`` Python 3.11 takes three times as long to find those that are there.
    """

    __slots__ = ("name", "place")

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place

    def __get__(self, instance: Any, owner: type) -> Any:
        whose = f"type object {owner.__name__!r}"
        if instance is not None:
            whose = f"{type(instance).__name__!r} object"
        raise AttributeError(_error(whose, self.place, self.name, owner), name=self.name)


def bind_absent(cls: type, place: str) -> None:
    """Have names answered that objects of `cls` do not have: those of `ABSENT`."""
    for name in ABSENT[place].split():
        if not hasattr(cls, name):
            setattr(cls, name, Absent(name, place))


def present_names(owner: object) -> list[str]:
    """What ``dir`` gives, without the absent."""
    known = {name: value for cls in type(owner).__mro__[::-1] for name, value in vars(cls).items()}
    return [name for name in object.__dir__(owner) if not isinstance(known.get(name), Absent)]


# --- modules that are imported


class _Missing:
    """Answers ``import autograd_engine.optim``, after all others have looked for it."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        parent, _, name = fullname.rpartition(".")
        if parent.partition(".")[0] == _ROOT and parent in sys.modules:
            text = _error(f"module {parent!r}", place_of(parent), name, sys.modules[parent])
            raise ModuleNotFoundError(text.replace("attribute", "module", 1), name=fullname)


def answer_imports() -> None:
    """Have imports of modules that are not here answered as other names are."""
    if not any(type(finder) is _Missing for finder in sys.meta_path):
        sys.meta_path.append(_Missing())
