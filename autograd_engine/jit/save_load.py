"""Traced functions in files: `save` and `load`.

``<path>.pdmodel`` and ``<path>.pdiparams`` are what `static.save_inference_model` writes, and
`static.load_inference_model` reads them. ``<path>.pdjit``, JSON, says besides how results are
nested, and holds the program in the form in which it was traced, where that differs from the one
for inference (dropout, running statistics): see docs/format.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from autograd_engine.compiler.backend import BACKENDS
from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.core import pytree as nest
from autograd_engine.core.atomic_file import write_all
from autograd_engine.core.change_counter import Counted
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.eager.grad_mode import enable_grad
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileFormatError,
    MissingFileError,
    MissingLibraryError,
)
from autograd_engine.jit.arguments import bind
from autograd_engine.jit.outside_reads import warn_of
from autograd_engine.jit.program_call import (
    Place,
    TracedProgram,
    trace_function,
)
from autograd_engine.jit.static_function import StaticFunction, to_static
from autograd_engine.jit.training_step import index_of
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.files.state import read_state, state_writer
from autograd_engine.program.files.text import (
    load_program,
    program_bytes,
    program_from_string,
    program_to_string,
)
from autograd_engine.program.input_spec import InputSpec
from autograd_engine.program.ir.program import (
    Program,
    Ref,
    Variable,
    program_guard,
)
from autograd_engine.program.passes.clone import normalize_program
from autograd_engine.static.save_load import mark_of

if TYPE_CHECKING:
    from autograd_engine.jit.translated_layer import TranslatedLayer

__all__ = ["load", "save"]

_VERSION: Final = 1
_DEEPEST: Final = 100


# --- writing


def save(
    layer: Any,
    path: str,
    input_spec: Sequence[Any] | None = None,
    *,
    format: str | None = None,
    **configs: Any,
) -> None:
    """Trace a function and save the program, with the values of the Tensors that it uses.

    Parameters
    ----------
    layer : callable
        What `to_static` takes, or has returned.
    path : str
        Directory and first part of the names of the files.
    input_spec : list of InputSpec or Tensor, optional
        One for each argument. Not needed where `to_static` was given one, or where the function
        was called before: then it is the program of the last call.
    format : {"stablehlo"}, optional
        Write ``<path>.stablehlo`` instead: the program for inference as one function that jax runs
        without this package, on CPU, CUDA and TPU. It needs jax. See docs/format.md.

    Raises
    ------
    ArgumentError, TypeError
        When it is not known what the arguments are like.
    FileFormatError
        When the program runs Python code of the user's; with ``"stablehlo"``, or does what XLA
        cannot.
    MissingLibraryError
        With ``"stablehlo"``, when jax is not installed.

    Examples
    --------
    >>> import tempfile, autograd_engine as paddle
    >>> w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     spec = [paddle.static.InputSpec([None, 2], "float32", "x")]
    ...     save(lambda x: {"y": x * w}, f"{directory}/model", spec)
    ...     loaded = load(f"{directory}/model")
    >>> loaded(paddle.ones([1, 2]))["y"].tolist()
    [[1.0, 2.0]]
    """
    if configs.keys() - {"combine_params", "skip_forward", "clip_extra", "output_spec"}:
        raise ArgumentTypeError(f"jit.save: unknown arguments {sorted(configs)}; leave them out")
    if format not in (None, "stablehlo"):
        raise ArgumentError(
            f"jit.save: format must be 'stablehlo', or left out for files that jit.load reads; got "
            f"{format!r}"
        )
    if format is not None and (missing := BACKENDS["jax"].missing):
        raise MissingLibraryError(f"jit.save: format={format!r} needs a library: {missing}")
    prefix = _prefix("jit.save", path)
    traced = _traced(layer, input_spec)
    if traced._training is not None:
        raise ArgumentError(
            f"jit.save: {traced.name} trains: save the layer that it trains, or its state_dict()"
        )
    feeds = [v.name for v in traced.inputs]
    structure, fetches = _fetchable(traced)
    names = [v.name for v in fetches]
    values = {c.var.name: c.tensor._data for c in traced._captured}
    test = traced.program.clone(for_test=True)
    block = test.global_block()
    kept = normalize_program(test, [block.var(n) for n in feeds], [block.var(n) for n in names])
    if format is not None:
        found = [kept.global_block().var(n) for n in feeds], [
            kept.global_block().var(n) for n in names
        ]
        os.makedirs(prefix.parent, exist_ok=True)
        write_all({_with(prefix, ".stablehlo"): _stablehlo(traced.name, kept, *found, values)})
        return
    plain = _as_traced(traced, fetches)
    stated = {v.name: values[v.name] for v in kept.list_vars() if v.persistable}
    rest = {v.name: values[v.name] for v in plain.list_vars() if v.persistable} | stated
    mark = mark_of(program_bytes(kept, feeds, names), rest)
    about = {
        "format": "autograd_engine jit",
        "version": _VERSION,
        "save": mark,
        "name": traced.name,
        "returns": structure,
        "training": program_bytes(plain, feeds, names, mark).decode(),
    }
    os.makedirs(prefix.parent, exist_ok=True)
    write_all(
        {
            _with(prefix, ".pdiparams"): state_writer(rest, mark),
            _with(prefix, ".pdmodel"): program_bytes(kept, feeds, names, mark),
            _with(prefix, ".pdjit"): json.dumps(about),
        }
    )


def _stablehlo(
    name: str,
    program: Program,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    values: dict[str, Any],
) -> bytes:
    from autograd_engine.compiler.xla.export import stablehlo

    kept = {v.name: values[v.name] for v in program.list_vars() if v.persistable}
    try:
        return stablehlo(program, inputs, outputs, kept)
    except Exception as error:  # of this package, or of jax, where a size must be known
        raise FileFormatError(
            f"jit.save: {name} cannot be written as StableHLO: {error}"
        ) from error


def _traced(layer: Any, input_spec: Sequence[Any] | None) -> TracedProgram:
    """A trace with gradients for all that can have one, whatever is asked for later."""
    if input_spec is not None and not isinstance(input_spec, (list, tuple)):
        raise ArgumentTypeError(
            f"jit.save: input_spec must be a list of InputSpecs, got {type(input_spec).__name__}"
        )
    if layer is None:
        raise ArgumentTypeError(
            "jit.save: layer must be a function, or an object that is called; got None"
        )
    function = _of_layer(layer) if isinstance(layer, Counted) else layer
    if not isinstance(function, StaticFunction):
        function = to_static(function)
    specs = list(input_spec) if input_spec is not None else function.input_spec
    if specs is None:
        if function._last is None:
            raise ArgumentError(
                "jit.save: it is not known what the arguments are like; give input_spec=[...], or "
                "call the function first"
            )
        specs = [InputSpec(v.shape, v.dtype, v.name) for v in function._last.inputs]
    opened = nest.map(_opened, specs)
    arguments = bind(function._name, function._signature, None, tuple(opened), {})
    with enable_grad():
        made = trace_function(function._target, function._name, arguments)
    warn_of(function._name, made.guards.outside, set(), saved=True)
    return made


def _of_layer(layer: Any) -> StaticFunction[Any, Any]:
    """Calls of a layer as a function, hooks included, with what its `forward` was told."""
    from autograd_engine.nn.layer.base.layer import HookedCall

    forward = layer.forward
    if not isinstance(forward, StaticFunction):
        return StaticFunction(HookedCall(layer, forward))
    called = layer.__dict__.get("_hooked_forward", forward)
    function = forward.like(HookedCall(layer, forward.dygraph_function))
    function._last = called._last or forward._last
    return function


def _opened(spec: Any) -> Any:
    if isinstance(spec, (Tensor, Variable)):
        spec = InputSpec.from_tensor(spec)
    elif isinstance(spec, np.ndarray):
        spec = InputSpec.from_numpy(spec)
    if not isinstance(spec, InputSpec):
        return spec
    stops = spec.numpy_dtype not in INEXACT
    return InputSpec(spec.shape, spec.dtype, spec.name, stops)


def _fetchable(traced: TracedProgram) -> tuple[Any, list[Variable]]:
    """(how results are nested, what is fetched): what is handed on as it is gets a name."""
    fetches: list[Variable] = []

    def place(value: Any) -> dict[str, Any]:
        if not isinstance(value, Place):
            return _plain(value)
        var = value.pick([*traced.inputs, *(c.var for c in traced._captured)], traced.outputs)
        if value.given:
            with program_guard(traced.program):
                var = ops.assign(var)
        return {"result": index_of(fetches, var)}

    template = iter([place(v) for v in traced._returned.template])
    structure = _written(traced._returned.structure, template)
    if not fetches:
        raise ArgumentError("jit.save: the function returns no Tensor, so there is no program")
    return structure, fetches


def _plain(value: Any) -> dict[str, Any]:
    if isinstance(value, (bool, int, float, str)):
        return {"value": value}
    raise ArgumentError(
        f"jit.save: the function returns a {type(value).__name__}, which a file cannot hold; "
        "return Tensors, numbers, strings, and lists, tuples and dicts of them"
    )


def _written(structure: Any, leaves: Any) -> Any:
    if structure is None:
        return next(leaves)
    if structure == "None":
        return {"value": None}
    kind, parts = structure
    if issubclass(kind, dict):
        for key, _ in parts:
            if not isinstance(key, str):
                raise ArgumentError(f"jit.save: the key {key!r} of a dict must be a str")
        return {"dict": [[key, _written(part, leaves)] for key, part in parts]}
    what = "list" if issubclass(kind, list) else "tuple"
    return {what: [_written(part, leaves) for part in parts]}


def _as_traced(traced: TracedProgram, fetches: list[Variable]) -> Program:
    """What the fetches and the writes of the function need, in a program of its own."""
    plain = program_from_string(program_to_string(traced.program))
    block = plain.global_block()
    goals = [Ref(block.var(v.name), v.version) for v in fetches]
    latest = {
        r.var.name: r
        for o in block.ops
        for r in o.results
        if r.var.persistable and o.role == "forward"
    }
    block.ops[:] = live_operators(block.ops, [*goals, *latest.values()])
    kept = {r.var.name for o in block.ops for r in (*o.results, *o.operands) if isinstance(r, Ref)}
    kept |= {v.name for v in traced.inputs} | {v.name for v in fetches}
    for name in [n for n in block.vars if n not in kept]:
        del block.vars[name]
    block.emitted.clear()
    plain.changed()
    return plain


def _prefix(function: str, path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"{function}: path must be a str, got {type(path).__name__}")
    text = os.fspath(path)
    if not text or not Path(text).name:
        raise ArgumentError(f"{function}: path {text!r} names no file; give 'directory/name'")
    return Path(text)


def _with(prefix: Path, suffix: str) -> Path:
    return prefix.with_name(prefix.name + suffix)


# --- reading


def load(path: str, **configs: Any) -> TranslatedLayer:
    """What `save` has written, as something that is called like the function.

    Parameters
    ----------
    path : str
        As it was given there.

    Raises
    ------
    FileNotFoundError
    FileFormatError
        When a file is none of ours, is damaged, or the files come from two saves.
    """
    from autograd_engine.jit.translated_layer import TranslatedLayer

    if configs.keys() - {"model_filename", "params_filename", "keep_name_table"}:
        raise ArgumentTypeError(f"jit.load: unknown arguments {sorted(configs)}; leave them out")
    prefix = _prefix("jit.load", path)
    model, params, about = (_with(prefix, s) for s in (".pdmodel", ".pdiparams", ".pdjit"))
    for file in (model, params):
        if not file.exists():
            raise MissingFileError(
                f"there is no file {str(file)!r}; give the path that jit.save was given"
            )
    inference = load_program(model, repr(str(model)))
    state = read_state(params)
    if not inference.fetches:
        raise FileFormatError(
            f"{str(model)!r} says nothing of what to fetch: write it with paddle.jit.save"
        )
    training, returns, name = inference, None, prefix.name
    marks = {inference.save, state.save}
    if about.exists():
        found = _about(about)
        marks.add(found["save"])
        training = load_program(found["training"], repr(str(about)))
        returns, name = found["returns"], found["name"]
        if len(training.fetches) != len(inference.fetches) or training.feeds != inference.feeds:
            raise FileFormatError(f"{str(about)!r} does not belong to {str(model)!r}; save again")
    if len(marks) > 1:
        raise FileFormatError(
            f"the files {str(prefix)!r}.* were written by different saves, one of which may have "
            "been interrupted: save again"
        )
    count = len(inference.fetches)
    structure, template = _default(count) if returns is None else _read(returns, count, str(about))
    return TranslatedLayer(name, training, inference, dict(state), (structure, template))


def _about(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error}; save it again") from None
    wanted = {"format": str, "version": int, "save": str, "name": str, "training": str}
    if (
        not isinstance(found, dict)
        or any(type(found.get(k)) is not kind for k, kind in wanted.items())
        or found["format"] != "autograd_engine jit"
        or "returns" not in found
    ):
        raise FileFormatError(f"{str(path)!r} is no file that paddle.jit.save wrote")
    if found["version"] != _VERSION:
        raise FileFormatError(
            f"{str(path)!r} has version {found['version']}, and this is for version {_VERSION}: "
            "load it with the release that wrote it, or save it again"
        )
    return found


def _default(count: int) -> tuple[Any, list[Any]]:
    """For a file of `save_inference_model`: one result alone, several as a list."""
    places: list[Any] = [Place(k) for k in range(count)]
    return nest.structure(places[0] if count == 1 else places), places


def _read(value: Any, count: int, source: str) -> tuple[Any, list[Any]]:
    """(structure, template) of what the file says of results."""

    def made(part: Any, depth: int) -> Any:
        if depth < _DEEPEST and isinstance(part, dict) and len(part) == 1:
            ((what, inner),) = part.items()
            if what == "value" and isinstance(inner, (bool, int, float, str, type(None))):
                return inner
            if what == "result" and type(inner) is int and 0 <= inner < count:
                return Place(inner)
            if what in ("list", "tuple") and isinstance(inner, list):
                parts = [made(p, depth + 1) for p in inner]
                return parts if what == "list" else tuple(parts)
            if what == "dict" and isinstance(inner, list) and all(map(_is_item, inner)):
                return {p[0]: made(p[1], depth + 1) for p in inner}
        raise FileFormatError(f"{source!r}: what it says of results is damaged; save it again")

    nested = made(value, 0)
    return nest.structure(nested), nest.leaves(nested)


def _is_item(part: Any) -> bool:
    return isinstance(part, list) and len(part) == 2 and type(part[0]) is str
