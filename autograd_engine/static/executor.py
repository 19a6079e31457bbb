"""Running programs."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograd_engine.codegen.python import CompiledFunction, compile_operators, live_operators
from autograd_engine.dims import Dim
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ExecutionError, FeedError
from autograd_engine.generator import own_generator
from autograd_engine.spec import format_shape
from autograd_engine.static.program import Program, Ref, Variable, default_main_program
from autograd_engine.static.scope import Scope, global_scope

__all__ = ["Executor"]

Array = NDArray[Any]


class _Plan:
    """A compiled program for one set of feeds and fetches."""

    def __init__(
        self,
        compiled: CompiledFunction,
        feeds: list[Variable],
        reads: list[str],
        writes: list[str],
        fetches: int,
    ) -> None:
        self.compiled = compiled
        self.feeds = feeds
        self.reads = reads
        self.writes = writes
        self.fetches = fetches


class Executor:
    """Runs programs; compiles each once for what it is fed and asked for.

    Parameters
    ----------
    place : object, optional
        Accepted for the reference's sake; everything runs on the CPU.

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [None, 2], "float32")
    ...     y = x * 2.0
    >>> exe = paddle.static.Executor()
    >>> exe.run(main, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])
    [array([[2., 2.]], dtype=float32)]
    """

    def __init__(self, place: object = None) -> None:
        self.place = place
        self._programs: weakref.WeakSet[Program] = weakref.WeakSet()
        self._closed = False

    def close(self) -> None:
        """Forget what was compiled; the executor cannot be used again."""
        for program in self._programs:
            program.compiled.pop(self, None)
        self._programs.clear()
        self._closed = True

    def run(
        self,
        program: Program | None = None,
        feed: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        fetch_list: Any = None,
        scope: Scope | None = None,
        return_numpy: bool = True,
    ) -> list[Any]:
        """Run `program` once.

        Parameters
        ----------
        program : Program, optional
            By default the default main program.
        feed : dict of str to array_like, optional
            Values of the data variables, checked against their declared shapes and dtypes. Names
            that the program does not have are ignored.
        fetch_list : Variable, str, or list of them, optional
            What to return. Only what these and the program's updates depend on is computed.
        scope : Scope, optional
            Where parameters are read and written; by default the global scope. It is written at
            the end only: a run that fails leaves it as it was.
        return_numpy : bool
            Return ndarrays, else Tensors.

        Raises
        ------
        FeedError
            When a feed is missing or does not match its declaration.
        ExecutionError
            When a parameter was never initialised, or an operation fails.
        """
        if self._closed:
            raise ExecutionError("this executor is closed; make a new paddle.static.Executor()")
        if program is None:
            program = default_main_program()
        if not isinstance(program, Program):
            raise TypeError(f"run: program must be a Program, got {type(program).__name__}")
        feeds = _feed_dict(feed)
        fetches = [_fetch(program, k, f) for k, f in enumerate(_flatten(fetch_list))]
        if scope is None:
            scope = global_scope()
        elif not isinstance(scope, Scope):
            raise TypeError(f"run: scope must be a Scope, got {type(scope).__name__}")
        plan = self._plan(program, fetches)
        arrays = [_checked_feed(var, feeds) for var in plan.feeds]
        arrays += [_read(scope, name) for name in plan.reads]
        outputs = _call(program, plan.compiled, arrays)
        for name, value in zip(plan.writes, outputs[plan.fetches :], strict=True):
            scope.var(name).value = np.asarray(value)
        results = _own(outputs[: plan.fetches], [*arrays, *outputs[plan.fetches :]])
        return results if return_numpy else [Tensor._wrap(r) for r in results]

    def _plan(self, program: Program, fetches: list[Ref]) -> _Plan:
        plans: dict[Any, _Plan] | None = program.compiled.get(self)
        if plans is None:
            plans = program.compiled[self] = {}
            self._programs.add(program)
        key = (program.version, tuple(r.key for r in fetches))
        found = plans.get(key)
        if found is None:
            for old in [k for k in plans if k[0] != program.version]:
                del plans[old]
            found = plans[key] = _compile(program, fetches)
        return found


def _compile(program: Program, fetches: list[Ref]) -> _Plan:
    block = program.global_block()
    latest: dict[str, Ref] = {}
    for operator in block.ops:
        for ref in operator.results:
            if ref.var.persistable:
                latest[ref.var.name] = ref
    operators = live_operators(block.ops, [*fetches, *latest.values()])
    made = {r.key for operator in operators for r in operator.results}
    inputs: dict[tuple[str, int], Ref] = {}
    asked = [o for operator in operators for o in operator.operands if isinstance(o, Ref)]
    for ref in [*asked, *fetches]:
        if ref.key not in made:
            inputs[ref.key] = ref
    feeds = [r for r in inputs.values() if not r.var.persistable]
    reads = [r for r in inputs.values() if r.var.persistable]
    for ref in feeds:
        if not ref.var.is_data:
            raise ExecutionError(
                f"nothing in this program computes {ref.var.name!r}; was it made in another one?"
            )
    compiled = compile_operators(
        operators, [*feeds, *reads], [*fetches, *latest.values()], "program"
    )
    return _Plan(
        compiled,
        [r.var for r in feeds],
        [r.var.name for r in reads],
        list(latest),
        len(fetches),
    )


def _call(program: Program, compiled: CompiledFunction, arrays: list[Array]) -> tuple[Any, ...]:
    try:
        with own_generator(program.generator):
            return compiled.function(*arrays)
    except Exception as error:
        operator = compiled.operator_at(error)
        if operator is None:
            raise
        raise ExecutionError(
            f"{operator.type} of {operator.location} ({operator.location.text}) failed: {error}"
        ) from error


def _own(values: Sequence[Any], others: Iterable[Any]) -> list[Array]:
    """Fetched values as arrays that the caller may write to, and nothing else reads.

    A rule may hand on what it was given, so two names can stand for one array: what a fetch shares
    with a feed, a parameter, another fetch or a constant is seen when it is there.
    """
    taken = set(map(id, others))
    owned = []
    for value in values:
        array = np.asarray(value)
        free = array.base is None and array.flags.writeable and id(value) not in taken
        taken.add(id(value))
        owned.append(array if free else array.copy())
    return owned


def _flatten(fetch_list: Any) -> list[Any]:
    if fetch_list is None:
        return []
    if not isinstance(fetch_list, (list, tuple)):
        return [fetch_list]
    return [f for entry in fetch_list for f in _flatten(entry)]


def _fetch(program: Program, position: int, fetch: Any) -> Ref:
    if isinstance(fetch, Variable):
        name = fetch.name
    elif isinstance(fetch, str):
        name = fetch
    else:
        raise TypeError(
            f"run: fetch_list[{position}] must be a Variable or a name, got {type(fetch).__name__}"
        )
    var = program.global_block().vars.get(name)
    if var is None or (isinstance(fetch, Variable) and var is not fetch):
        raise ExecutionError(
            f"run: this program has no variable {name!r}; it was built in another one, or the "
            "name is misspelt"
        )
    return Ref(var, var.version)


def _feed_dict(feed: Any) -> Mapping[str, Any]:
    if feed is None:
        return {}
    if isinstance(feed, (list, tuple)) and len(feed) == 1:
        feed = feed[0]
    if not isinstance(feed, Mapping):
        raise TypeError(f"run: feed must be a dict from names to arrays, got {type(feed).__name__}")
    return feed


def _converted(value: Any, dtype: np.dtype[Any]) -> Array:
    """Numbers and nested lists of them in `dtype`; floats are rounded, nothing else is changed."""
    given = np.asarray(value)
    kind = given.dtype.kind
    if kind not in "biufcO" or (kind == "c" != dtype.kind):
        raise TypeError("it must hold real numbers" if kind == "c" else "it must hold numbers")
    if kind == "O" and not all(isinstance(v, Number) for v in given.flat):  # large ints are objects
        raise TypeError("it must hold numbers")
    with np.errstate(invalid="ignore"):  # a NaN among integers: the comparison finds it
        array = given.astype(dtype)
    if dtype.kind not in "fc" and not np.array_equal(array, given):
        raise ValueError(f"{dtype.name} cannot hold all of its values")
    return array


def _checked_feed(var: Variable, feeds: Mapping[str, Any]) -> Array:
    name, spec = var.name, var.spec
    declared = format_shape(spec.shape)
    if name not in feeds:
        raise FeedError(
            f"feed {name!r} is missing: the program declares it as {spec.dtype.name}{declared}; "
            f"pass feed={{{name!r}: ...}}"
        )
    value = feeds[name]
    if isinstance(value, Tensor):
        value = value._data
    try:
        array = value if isinstance(value, np.ndarray) else _converted(value, spec.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise FeedError(
            f"feed {name!r} cannot be made an array of {spec.dtype.name}: {error}; the program "
            f"declares {declared}"
        ) from None
    if array.dtype != spec.dtype:
        raise FeedError(
            f"feed {name!r} has dtype {array.dtype.name}; the program declares {spec.dtype.name}: "
            f"feed it with .astype({spec.dtype.name!r})"
        )
    if array.ndim != len(spec.shape):
        raise FeedError(
            f"feed {name!r} has shape {array.shape}; the program declares {declared}: it must "
            f"have {len(spec.shape)} dimensions"
        )
    for axis, (have, want) in enumerate(zip(array.shape, spec.shape, strict=True)):
        if not isinstance(want, Dim) and have != want:
            raise FeedError(
                f"feed {name!r} has shape {array.shape}; the program declares {declared}: axis "
                f"{axis} must be {want}"
            )
    return array


def _read(scope: Scope, name: str) -> Array:
    found = scope.find_var(name)
    if found is None or found.value is None:
        raise ExecutionError(
            f"{name!r} has no value in the scope: run the startup program first, "
            "exe.run(paddle.static.default_startup_program())"
        )
    return found.value
