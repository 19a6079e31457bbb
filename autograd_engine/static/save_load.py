"""Programs and what they have learnt, in files.

``static.save`` writes three files: ``<path>.pdmodel``, the program; ``<path>.pdparams``, the
parameters; ``<path>.pdopt``, all else that lives in the scope, which is the state of optimizers.
The names are the reference's, the contents are ours: JSON and ``.npz``, see docs/format.md.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograd_engine.core.atomic_file import write_all, write_atomically
from autograd_engine.core.checks import require_type
from autograd_engine.core.spec import Array
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    ExecutionError,
    FileFormatError,
    MissingFileError,
)
from autograd_engine.program.files.state import (
    State,
    array_crc,
    read_state,
    state_writer,
)
from autograd_engine.program.files.text import program_bytes
from autograd_engine.program.ir.program import Parameter, Program, Variable
from autograd_engine.program.scope import Scope, ScopeTensor, global_scope
from autograd_engine.static.executor.executor import Executor

__all__ = [
    "load",
    "load_from_file",
    "load_program_state",
    "save",
    "save_to_file",
    "set_program_state",
]

_SUFFIXES = (".pdparams", ".pdopt", ".pdmodel")


def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Save a program with the values of its variables.

    Parameters
    ----------
    program : Program
    model_path : str
        Directory and first part of the names of the files; directories are made where needed.
    protocol : int
        Accepted for the reference's sake: nothing is pickled.

    Raises
    ------
    ArgumentError
        When `model_path` names no file.
    ExecutionError
        When a variable has no value yet.
    FileFormatError
        When the program runs Python code of the user's.

    Notes
    -----
    A crash leaves each file either old or new, and whole; an error leaves all of them old.

    Examples
    --------
    >>> import tempfile, numpy as np, autograd_engine as paddle
    >>> main, startup = paddle.static.Program(), paddle.static.Program()
    >>> with paddle.static.program_guard(main, startup):
    ...     x = paddle.static.data("x", [None, 2], "float32")
    ...     y = paddle.static.nn.fc(x, 3, name="saved_fc")
    >>> exe = paddle.static.Executor()
    >>> exe.run(startup)
    []
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     paddle.static.save(main, f"{directory}/model")
    ...     sorted(paddle.static.load_program_state(f"{directory}/model"))
    ['saved_fc.b_0', 'saved_fc.w_0']
    """
    _require_program("save", program)
    prefix = _prefix("save", model_path)
    kept = [v for v in program.list_vars() if v.persistable]
    parameters = values_of(v for v in kept if isinstance(v, Parameter))
    others = values_of(v for v in kept if not isinstance(v, Parameter))
    write_together(prefix, {".pdparams": parameters, ".pdopt": others}, program)


def load(
    program: Program,
    model_path: str,
    executor: Executor | None = None,
    var_list: Sequence[Variable] | None = None,
) -> None:
    """Set the variables of a program, in the global scope, to what `save` has written.

    Parameters
    ----------
    program : Program
        Built as the one that was saved; its startup program need not be run.
    model_path : str
        As given to `save`, or the name of one of the files.
    executor : Executor, optional
        Accepted for the reference's sake.
    var_list : list of Variable, optional
        Only these; by default all that are kept between runs.

    Raises
    ------
    FileNotFoundError
    FileFormatError
        When a file is none of ours, is damaged, or the files come from two saves.
    ArgumentError
        When the files lack variables, or have other shapes or dtypes: all are listed, and the
        scope is left as it was.
    """
    _require_program("load", program)
    require_executor("load", executor)
    prefix = _stripped(_prefix("load", model_path))
    wanted = [v for v in program.list_vars() if v.persistable]
    if var_list is not None:
        names = _names("load", var_list)
        if unknown := sorted(names - {v.name for v in wanted}):
            raise ArgumentError(
                f"load: {', '.join(unknown)} in var_list: no such variable of the program is kept "
                "between runs"
            )
        wanted = [v for v in wanted if v.name in names]
    state = _together(prefix, any(not isinstance(v, Parameter) for v in wanted))
    set_values(f"load: {str(prefix)!r}", wanted, state)


def load_program_state(
    model_path: str, var_list: Sequence[Variable] | None = None
) -> dict[str, Array]:
    """What `save` has written, as arrays by name.

    Parameters
    ----------
    model_path : str
        As given to `save`, or the name of one of the files.
    var_list : list of Variable, optional
        Only these; by default all.

    Raises
    ------
    FileNotFoundError, FileFormatError
    ArgumentError
        When the files lack a variable of `var_list`.
    """
    prefix = _stripped(_prefix("load_program_state", model_path))
    state = _together(prefix, _with(prefix, ".pdopt").exists())
    if var_list is None:
        return dict(state)
    names = _names("load_program_state", var_list)
    if missing := sorted(names - state.keys()):
        raise ArgumentError(f"load_program_state: {str(prefix)!r} has no {', '.join(missing)}")
    return {name: array for name, array in state.items() if name in names}


def set_program_state(program: Program, state_dict: Mapping[str, Any]) -> None:
    """Set variables of a program, in the global scope, to the arrays of their names.

    Parameters
    ----------
    program : Program
    state_dict : dict of str to array_like
        What has no name of a variable there is left out, with a warning; variables that are not
        named stay as they are.

    Raises
    ------
    ArgumentError
        When arrays have other shapes or dtypes: all are listed, and nothing is set.
    """
    set_state("set_program_state", program, state_dict)


def set_state(function: str, program: Program, state_dict: Any, scope: Any = None) -> None:
    """Set what `state_dict` names, all of it or, where something does not fit, nothing."""
    _require_program(function, program)
    scope = _scope(function, scope)
    require_type(state_dict, Mapping, f"{function}: state_dict must be a dict from names to arrays")
    kept = {v.name: v for v in program.list_vars() if v.persistable}
    known = {n: np.asarray(a) for n, a in state_dict.items() if n in kept}
    set_values(function, [kept[name] for name in known], known, scope)
    if unused := [str(name) for name in state_dict if name not in kept]:
        warnings.warn(
            f"{function}: the program keeps no variable {', '.join(unused)}; left out",
            UserWarning,
            stacklevel=3,
        )


def state_of(program: Program, mode: Any, scope: Any = None) -> dict[str, ScopeTensor]:
    """`Program.state_dict`."""
    function = "Program.state_dict"
    if mode not in ("all", "param", "opt"):
        raise ArgumentError(f"{function}: mode must be 'all', 'param' or 'opt', got {mode!r}")
    scope = _scope(function, scope)
    kept = [
        v
        for v in program.list_vars()
        if v.persistable and (mode == "all" or isinstance(v, Parameter) == (mode == "param"))
    ]
    values_of(kept, scope)
    return {v.name: ScopeTensor(scope.find_var(v.name)) for v in kept}


def _scope(function: str, scope: Any) -> Scope:
    require_type(scope, Scope | None, f"{function}: scope must be a Scope or None")
    return global_scope() if scope is None else scope


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes to a file, whole or not at all.

    Raises
    ------
    ArgumentError
        When `content` is no bytes.
    FileNotFoundError
        When the directory does not exist.
    """
    if not isinstance(content, bytes):
        raise ArgumentError(f"save_to_file: content must be bytes, got {type(content).__name__}")
    write_atomically(_prefix("save_to_file", path), content)


def load_from_file(path: str) -> bytes:
    """The content of a file.

    Raises
    ------
    FileNotFoundError
    """
    return _prefix("load_from_file", path).read_bytes()


# --- shared with inference_model.py


def mark_of(content: bytes, arrays: Mapping[str, Array]) -> str:
    """A name for a save, made of what it saves: files that bear different ones do not fit."""
    digest = hashlib.sha256(content)
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape} {array_crc(array)}\n".encode())
    return digest.hexdigest()[:32]


def write_together(
    prefix: Path,
    states: Mapping[str, Mapping[str, Array]],
    program: Program,
    feeds: Sequence[str] | None = None,
    fetches: Sequence[str] | None = None,
) -> None:
    """Write the files of one save: arrays by the suffix of their file, and the program."""
    everything = dict(itertools.chain(*(arrays.items() for arrays in states.values())))
    mark = mark_of(program_bytes(program, feeds, fetches), everything)
    os.makedirs(prefix.parent, exist_ok=True)
    files = {_with(prefix, s): state_writer(arrays, mark) for s, arrays in states.items()}
    write_all({**files, _with(prefix, ".pdmodel"): program_bytes(program, feeds, fetches, mark)})


def values_of(variables: Iterable[Variable], scope: Scope | None = None) -> dict[str, Array]:
    """The arrays of variables in a scope, by default the global one.

    Raises
    ------
    ExecutionError
        When some have none: all are listed.
    """
    scope = scope or global_scope()
    found: dict[str, Array] = {}
    missing = []
    for var in variables:
        held = scope.find_var(var.name)
        if held is None or held.value is None:
            missing.append(var.name)
        else:
            found[var.name] = held.value
    if missing:
        raise ExecutionError(
            f"{', '.join(map(repr, missing))}: no value in the scope; run the startup program "
            "first, exe.run(paddle.static.default_startup_program())"
        )
    return found


def set_values(
    function: str,
    variables: Sequence[Variable],
    state: Mapping[str, Array],
    scope: Scope | None = None,
) -> None:
    """Set variables in a scope, all of them or, where one does not fit, none."""
    problems = []
    for var in variables:
        array, spec = state.get(var.name), var.spec
        if array is None:
            problems.append(f"{var.name} is missing")
        elif array.shape != tuple(spec.shape):
            problems.append(
                f"{var.name} has shape {list(array.shape)}, and {list(var.shape)} in the program"
            )
        elif array.dtype != spec.dtype:
            problems.append(f"{var.name} is {array.dtype}, and {spec.dtype} in the program")
    if problems:
        raise ArgumentError(
            f"{function}: does not fit the program: {'; '.join(problems)}. Nothing was set: build "
            "the program as it was when it was saved, or take what fits from "
            "load_program_state(...) and give it to set_program_state"
        )
    scope = scope or global_scope()
    for var in variables:
        scope.var(var.name).value = np.array(state[var.name])


def require_same_save(first: str, second: str, names: str) -> None:
    if first and second and first != second:
        raise FileFormatError(
            f"{names} were written by two different saves, the second of which may have been "
            "interrupted: save again, or load an older copy (each file is whole by itself: "
            "load_program_state of a copy of one alone reads it)"
        )


# --- names


def _together(prefix: Path, others: bool) -> State:
    """The arrays of both files."""
    path, beside = _with(prefix, ".pdparams"), _with(prefix, ".pdopt")
    if not path.exists():
        raise MissingFileError(
            f"there is no file {str(path)!r}; give the path that paddle.static.save was given"
        )
    state = read_state(path)
    if others:
        if not beside.exists():
            raise MissingFileError(
                f"there is no file {str(beside)!r}, and the program has variables besides its "
                "parameters: give var_list=program.all_parameters() for these alone"
            )
        second = read_state(beside)
        require_same_save(state.save, second.save, f"{str(path)!r} and {str(beside)!r}")
        state.update(second)
    return state


def _prefix(function: str, path: Any) -> Path:
    """The path as given, which must end in a name."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"{function}: the path must be a str, got {type(path).__name__}")
    text = os.fspath(path)
    if not isinstance(text, str):
        raise ArgumentTypeError(f"{function}: the path must be a str, got {type(text).__name__}")
    if not os.path.basename(text) or "\0" in text:
        raise ArgumentError(
            f"{function}: the path must be of the form directory/name, got {text!r}; add a name"
        )
    return Path(text)


def _with(prefix: Path, suffix: str) -> Path:
    return prefix.with_name(prefix.name + suffix)


def _stripped(prefix: Path) -> Path:
    for suffix in _SUFFIXES:
        if prefix.name.endswith(suffix) and prefix.name != suffix:
            return prefix.with_name(prefix.name.removesuffix(suffix))
    return prefix


def _names(function: str, var_list: Any) -> set[str]:
    require_type(var_list, (list, tuple, set), f"{function}: var_list must be a list of Variables")
    for v in var_list:
        require_type(v, (Variable, str), f"{function}: var_list must hold Variables or names")
    return {v if isinstance(v, str) else v.name for v in var_list}


def require_executor(function: str, executor: Any) -> None:
    require_type(executor, Executor | None, f"{function}: executor must be an Executor")


def _require_program(function: str, program: Any) -> None:
    require_type(program, Program, f"{function}: program must be a Program")
