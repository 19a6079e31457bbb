"""The public names of another library, as JSON: run by `peers.py`, with the library's own Python.

A module's are those of its ``__all__``; of one that has none, what ``dir`` gives and the library
itself defines, or took from NumPy. A package at the top has its modules as well. An object's are
its attributes, and a class has besides what it is made with. None begins with an underscore.
"""

import importlib
import inspect
import json
import sys
import types
import warnings


def of_module(path):
    module = importlib.import_module(path)
    listed = getattr(module, "__all__", None)
    if listed:
        names = set(listed)
    else:
        library = path.partition(".")[0]
        names = {name for name in dir(module) if belongs(getattr(module, name), library)}
    if "." not in path:
        names |= {name for name in dir(module) if is_module(module, name)}
    return sorted(name for name in names if not name.startswith("_"))


def is_module(package, name):
    return getattr(getattr(package, name), "__name__", None) == f"{package.__name__}.{name}"


def belongs(value, library):
    """Whether a module shows `value` as its own, rather than having imported it for itself."""
    if isinstance(value, types.ModuleType):
        return False
    if inspect.isclass(value) or callable(value):
        home = (getattr(value, "__module__", None) or library).partition(".")[0]
        return home in (library, "builtins", "numpy", "jaxlib")
    return type(value).__module__.partition(".")[0] != "__future__"


def arguments(cls):
    """What a constructor takes by name: `cls(*args, **kwargs)` hands on to that of a base."""
    names = []
    for base in cls.__mro__:
        if inspect.isfunction(vars(base).get("__init__")):
            parameters = inspect.signature(base.__init__).parameters.values()
            names += [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                break
    return [name for name in dict.fromkeys(names) if name != "self" and not name.startswith("_")]


def main():
    warnings.simplefilter("ignore")
    asked = json.loads(sys.stdin.read())
    setup = {}
    exec(asked["setup"], setup)
    found = {"version": setup["version"]}
    for path, expression in asked["places"].items():
        if expression is None:
            found[path] = of_module(path)
        else:
            names = dir(eval(expression, setup))
            found[path] = sorted(name for name in names if not name.startswith("_"))
    for path in asked["classes"]:
        for name in of_module(path):
            cls = getattr(importlib.import_module(path), name)
            if inspect.isclass(cls) and (taken := arguments(cls)):
                found[f"{path}.{name}()"] = taken
    for path in asked["places"]:  # a module is a name of its parent, listed there or not
        parent, _, name = path.rpartition(".")
        if parent in found and name not in found[parent]:
            found[parent] = sorted([*found[parent], name])
    sys.__stdout__.write("\n" + json.dumps(found))


main()
