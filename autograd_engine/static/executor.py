"""Running programs."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ExecutionError, FeedError
from autograd_engine.generator import own_generator
from autograd_engine.static.compiled import CompiledProgram
from autograd_engine.static.feeds import checked_feeds, feed_dict
from autograd_engine.static.fetches import fetched, independent, split_fetches
from autograd_engine.static.kept_values import given_values, read_values
from autograd_engine.static.plan import Plan, Plans, Wanted
from autograd_engine.static.program import Program, default_main_program
from autograd_engine.static.run_errors import failed
from autograd_engine.static.scope import Scope, global_scope

__all__ = ["Executor"]

Array = NDArray[Any]


class Executor:
    """Runs programs; compiles each once for what it is asked for.

    Threads may share an executor, a program and a scope: a run reads what other runs have left
    as a whole, and of two that write the same variables one waits for the other.

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
    >>> with paddle.static.Executor() as exe:
    ...     exe.run(main, feed={"x": np.ones((1, 2), "float32")}, fetch_list=[y])
    [array([[2., 2.]], dtype=float32)]
    """

    def __init__(self, place: object = None) -> None:
        self.place = place
        self._programs: weakref.WeakSet[Program] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._closed = False

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget what was compiled; the executor cannot be used again."""
        with self._lock:
            self._closed = True
            programs = list(self._programs)
            self._programs.clear()
        for program in programs:
            with program.lock:
                program.compiled.pop(self, None)

    def run(
        self,
        program: Program | CompiledProgram | None = None,
        feed: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        use_prune: bool = False,
    ) -> list[Any]:
        """Run `program` once.

        Parameters
        ----------
        program : Program or CompiledProgram, optional
            By default the default main program.
        feed : dict of str to array_like, optional
            Values of the data variables, checked against their declared shapes and dtypes. Names
            that the program does not have, or that this run does not need, are ignored. A
            persistable variable that is fed keeps the value.
        fetch_list : Variable, str, or list of them, optional
            What to return, a parameter as it is after the run. Only what these and the program's
            updates depend on is computed. What `minimize` returned may stand in it, see
            `use_prune`; nothing is returned for it.
        feed_var_name, fetch_var_name : str
            Accepted for the reference's sake.
        scope : Scope, optional
            Where parameters are read and written; by default the global scope. It is written at
            the end only: a run that fails leaves it as it was.
        return_numpy : bool
            Return ndarrays, else Tensors.
        use_program_cache : bool
            Accepted for the reference's sake: what was compiled is always kept.
        use_prune : bool
            Run only what the fetches need, and of the updates only those in `fetch_list`. An
            intermediate variable may then be fed, and is not computed. True as soon as `fetch_list`
            holds what `minimize` returned.

        Returns
        -------
        list
            One array (or Tensor) for each variable of `fetch_list`; they are the caller's own.

        Raises
        ------
        FeedError
            When feeds are missing or do not match their declaration.
        ExecutionError
            When a parameter was never initialised, or an operation fails.

        Examples
        --------
        >>> import numpy as np
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2], "float32")
        ...     h = paddle.tanh(x)
        ...     y = h * 2.0
        >>> exe = paddle.static.Executor()
        >>> exe.run(main, {h.name: np.ones(2, "float32")}, [y], use_prune=True)
        [array([2., 2.], dtype=float32)]
        """
        self._check_open()
        program = _program(program)
        if scope is None:
            scope = global_scope()
        elif not isinstance(scope, Scope):
            raise TypeError(f"run: scope must be a Scope, got {type(scope).__name__}")
        feeds = feed_dict(feed)
        with program.lock:  # nobody changes it while it is compiled
            plan = self._plans(program).find(
                program, _wanted(program, feeds, fetch_list, use_prune)
            )
        arrays = checked_feeds(program, plan.feeds, feeds)
        with scope.claimed(plan.names):
            results, new = _run(program, plan, arrays, scope, feeds)
            if not return_numpy:
                results = [_tensors(value) for value in results]
            scope.commit(new)
        return results

    def _check_open(self) -> None:
        if self._closed:
            raise ExecutionError(
                "Attempted to use a closed Executor: what is closed stays closed; make a new "
                "paddle.static.Executor()"
            )

    def _plans(self, program: Program) -> Plans:
        plans: Plans | None = program.compiled.get(self)
        if plans is None:
            with self._lock:
                self._check_open()
                plans = program.compiled[self] = Plans()
                self._programs.add(program)
        return plans


def _program(program: Any) -> Program:
    if program is None:
        return default_main_program()
    if isinstance(program, CompiledProgram):
        return program.program
    if not isinstance(program, Program):
        raise TypeError(f"run: program must be a Program, got {type(program).__name__}")
    return program


def _wanted(program: Program, feeds: Mapping[str, Any], fetch_list: Any, use_prune: bool) -> Wanted:
    refs, operators = split_fetches(program, fetch_list)
    prune = bool(use_prune or operators)
    variables = program.global_block().vars
    computed = [
        name
        for name in feeds
        if (var := variables.get(name)) is not None and not var.is_data and not var.persistable
    ]
    if not prune:
        if computed:
            raise FeedError(
                f"feed {computed[0]!r} is computed by the program, and would be overwritten; to "
                "run it from there on pass use_prune=True"
            )
        return Wanted(refs)
    for name in computed:
        if variables[name].version:
            raise FeedError(
                f"feed {name!r} is written more than once by the program; feed what it is "
                "computed from"
            )
    return Wanted(refs, prune, operators, frozenset(computed))


def _run(
    program: Program, plan: Plan, fed: list[Array], scope: Scope, feeds: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Array]]:
    """What was fetched, and what the scope is to hold."""
    new = given_values(program, plan.reads, feeds)
    arrays = [*fed, *read_values(program, plan.reads, new, scope)]
    outputs = _call(program, plan, arrays)
    written = outputs[plan.fetches :]
    results = fetched(outputs[: plan.fetches], [*arrays, *written])
    for name, value in zip(plan.writes, written, strict=True):
        new[name] = independent(value, fed)
    return results, new


def _call(program: Program, plan: Plan, arrays: list[Array]) -> tuple[Any, ...]:
    function = plan.compiled.function
    try:
        if program.generator is None or not plan.draws:
            return function(*arrays)
        with program.drawing, own_generator(program.generator):  # one stretch of its stream a run
            return function(*arrays)
    except Exception as error:
        explained = failed(plan.compiled, error)
        if explained is None:
            raise
        raise explained from error


def _tensors(value: Any) -> Any:
    return list(map(Tensor._wrap, value)) if isinstance(value, list) else Tensor._wrap(value)
