"""Programs for inference in files: what is fetched, with the parameters that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    MissingFileError,
)
from autograd_engine.program.files.state import (
    State,
    read_state,
    state_bytes,
    state_from,
)
from autograd_engine.program.files.text import Loaded, load_program, program_bytes
from autograd_engine.program.ir.program import Program, Variable, default_main_program
from autograd_engine.program.passes.clone import normalize_program
from autograd_engine.static.executor.executor import Executor
from autograd_engine.static.save_load import (
    _prefix,
    _require_program,
    _with,
    require_executor,
    require_same_save,
    set_values,
    values_of,
    write_together,
)

__all__ = [
    "deserialize_persistables",
    "deserialize_program",
    "load_inference_model",
    "save_inference_model",
    "serialize_persistables",
    "serialize_program",
]

Vars = Variable | Sequence[Variable]


def save_inference_model(
    path_prefix: str,
    feed_vars: Vars,
    fetch_vars: Vars,
    executor: Executor | None = None,
    program: Program | None = None,
    **configs: Any,
) -> None:
    """Save what computes `fetch_vars` from `feed_vars`, and the parameters for it.

    Parameters
    ----------
    path_prefix : str
        Directory and first part of the names of the two files, ``.pdmodel`` for the program and
        ``.pdiparams`` for the parameters; directories are made where needed.
    feed_vars, fetch_vars : Variable or list of Variable
    executor : Executor, optional
        Accepted for the reference's sake.
    program : Program, optional
        By default the one that `fetch_vars` belong to.

    Raises
    ------
    ArgumentError, TypeError, BuildError, ExecutionError, FileFormatError

    Examples
    --------
    >>> import tempfile, numpy as np, autograd_engine as paddle
    >>> main, startup = paddle.static.Program(), paddle.static.Program()
    >>> with paddle.static.program_guard(main, startup):
    ...     x = paddle.static.data("x", [None, 2], "float32")
    ...     y = paddle.static.nn.fc(x, 3, name="served_fc")
    >>> exe = paddle.static.Executor()
    >>> exe.run(startup)
    []
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     paddle.static.save_inference_model(f"{directory}/model", [x], [y], exe)
    ...     loaded, feeds, fetches = paddle.static.load_inference_model(f"{directory}/model", exe)
    >>> feeds
    ['x']
    >>> exe.run(loaded, feed={"x": np.ones((4, 2), "float32")}, fetch_list=fetches)[0].shape
    (4, 3)
    """
    prefix = _prefix("save_inference_model", path_prefix)
    require_executor("save_inference_model", executor)
    small, feeds, fetches = _normalized(program, feed_vars, fetch_vars, configs)
    values = values_of(v for v in small.list_vars() if v.persistable)
    write_together(prefix, {".pdiparams": values}, small, feeds, fetches)


def load_inference_model(
    path_prefix: str | None,
    executor: Executor | None = None,
    *,
    model_filename: str | bytes | None = None,
    params_filename: str | bytes | None = None,
    **configs: Any,
) -> list[Any]:
    """The program that `save_inference_model` has written; its parameters go to the global scope.

    Parameters
    ----------
    path_prefix : str or None
        As it was given there. None: the other two hold the contents of the files, as bytes.
    executor : Executor, optional
        Accepted for the reference's sake.
    model_filename, params_filename : str or bytes, optional
        Names of the files in the directory `path_prefix`, where they are not the usual ones.

    Returns
    -------
    [Program, list of str, list of Variable]
        The program, the names to feed, and what to fetch.

    Raises
    ------
    FileNotFoundError
    FileFormatError
        When a file is none of ours, is damaged, or the files come from two saves.
    ArgumentError
        When the parameters do not fit the program: all that do not are listed.
    """
    require_executor("load_inference_model", executor)
    if path_prefix is None:
        found, state = _from_memory(model_filename, params_filename)
        names = "the given bytes"
    else:
        model, params = _paths(path_prefix, model_filename, params_filename)
        found = load_program(_existing(model), repr(str(model)))
        names = f"{str(model)!r} and {str(params)!r}"
        needs = any(v.persistable for v in found.program.list_vars())
        state = read_state(_existing(params)) if needs else State()
    if not found.fetches:
        raise FileFormatError(
            f"{names}: holds a program that says nothing of what to fetch: write it with "
            "paddle.static.save_inference_model, or read it with deserialize_program"
        )
    require_same_save(found.save, state.save, names)
    kept = [v for v in found.program.list_vars() if v.persistable]
    set_values(f"load_inference_model: {names}", kept, state)
    return [found.program, found.feeds, found.fetches]


def serialize_program(
    feed_vars: Vars, fetch_vars: Vars, program: Program | None = None, **configs: Any
) -> bytes:
    """What computes `fetch_vars` from `feed_vars`, as bytes; see `save_inference_model`."""
    return program_bytes(*_normalized(program, feed_vars, fetch_vars, configs))


def serialize_persistables(
    feed_vars: Vars,
    fetch_vars: Vars,
    executor: Executor | None = None,
    program: Program | None = None,
    **configs: Any,
) -> bytes:
    """The values that `fetch_vars` depend on, as bytes; see `save_inference_model`."""
    require_executor("serialize_persistables", executor)
    small, _, _ = _normalized(program, feed_vars, fetch_vars, configs)
    return state_bytes(values_of(v for v in small.list_vars() if v.persistable))


def deserialize_program(data: bytes) -> Program:
    """The program of what `serialize_program` returned.

    Raises
    ------
    FileFormatError
    """
    return load_program(_bytes("deserialize_program", data), "the given bytes").program


def deserialize_persistables(
    program: Program, data: bytes, executor: Executor | None = None
) -> Program:
    """Set the variables of `program` to what `serialize_persistables` returned.

    Raises
    ------
    FileFormatError, ArgumentError
    """
    _require_program("deserialize_persistables", program)
    require_executor("deserialize_persistables", executor)
    state = state_from(_bytes("deserialize_persistables", data), "the given bytes")
    kept = [v for v in program.list_vars() if v.persistable]
    set_values("deserialize_persistables", kept, state)
    return program


def _normalized(
    program: Program | None, feed_vars: Vars, fetch_vars: Vars, configs: Any
) -> tuple[Program, list[str], list[str]]:
    """(the part for inference, names to feed, names to fetch)"""
    unknown = sorted(configs.keys() - {"clip_extra", "legacy_format"})  # the reference's own
    if unknown:
        raise ArgumentTypeError(f"unknown arguments {', '.join(unknown)}; leave them out")
    feeds: list[Any] = list(feed_vars) if isinstance(feed_vars, (list, tuple)) else [feed_vars]
    fetches: list[Any] = list(fetch_vars) if isinstance(fetch_vars, (list, tuple)) else [fetch_vars]
    if program is None:
        owners = [v.block.program for v in fetches if isinstance(v, Variable)]
        program = owners[0] if owners else default_main_program()
    small = normalize_program(program, feeds, fetches)
    return small, [v.name for v in feeds], [v.name for v in fetches]


def _paths(prefix: str, model: Any, params: Any) -> tuple[Path, Path]:
    given = _prefix("load_inference_model", prefix)
    if model is None and params is None:
        return _with(given, ".pdmodel"), _with(given, ".pdiparams")
    for name in (model, params):
        if name is not None and not isinstance(name, str):
            raise ArgumentTypeError(
                "load_inference_model: model_filename and params_filename must be names of files; "
                "for their contents, give path_prefix=None"
            )
    return given / (model or "__model__"), given / (params or "__params__")


def _from_memory(model: Any, params: Any) -> tuple[Loaded, State]:
    if model is None:
        raise ArgumentError(
            "load_inference_model: with path_prefix=None, give the contents of the files as "
            "model_filename and params_filename"
        )
    found = load_program(_bytes("load_inference_model", model), "the bytes of model_filename")
    if params is None:
        return found, State()
    content = _bytes("load_inference_model", params)
    return found, state_from(content, "the bytes of params_filename")


def _existing(path: Path) -> Path:
    if not path.exists():
        raise MissingFileError(
            f"there is no file {str(path)!r}; give the path_prefix that save_inference_model was "
            "given"
        )
    return path


def _bytes(function: str, data: Any) -> bytes:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ArgumentTypeError(f"{function}: takes bytes, got {type(data).__name__}")
    return bytes(data)
