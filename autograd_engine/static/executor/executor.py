"""Running programs."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autograd_engine.core.above import above
from autograd_engine.core.checks import require_bools, require_cpu
from autograd_engine.core.described import Described
from autograd_engine.core.locks import renewed_lock
from autograd_engine.core.names.constructors import respelled
from autograd_engine.core.names.missing_names import bind_absent
from autograd_engine.errors import ArgumentError, ArgumentTypeError, FeedError
from autograd_engine.program.ir.program import Program, default_main_program
from autograd_engine.program.scope import Scope, global_scope
from autograd_engine.static.executor.backend_choice import chosen_backend, names
from autograd_engine.static.executor.compiled_program import CompiledProgram
from autograd_engine.static.executor.feeds import (
    check_named,
    checked_feeds,
    feed_dict,
    feed_names,
)
from autograd_engine.static.executor.fetches import fetch_key, split_fetches
from autograd_engine.static.executor.plan import Plan, Plans, Wanted
from autograd_engine.static.executor.prepared_run import Step, closed_error

if TYPE_CHECKING:
    from autograd_engine.static.analysis.backend_report import BackendReport
    from autograd_engine.static.analysis.profiler import Profile

__all__ = ["Executor"]


@respelled
class Executor(Described):
    """Runs programs; compiles each once for what it is asked for.

    Threads may share an executor, a program and a scope: a run reads what other runs have left
    as a whole, and of two that write the same variables one waits for the other.

    Parameters
    ----------
    place : CPUPlace or "cpu", optional
        Everything runs on the CPU.
    backend : {"auto", "native", "numpy", "jax"}
        ``"numpy"`` has the bits of eager mode. ``"native"`` makes a C function of a program, for
        which a C compiler must be found; results differ from those of NumPy in the last bits.
        ``"jax"`` has XLA compile it, for which jax must be installed.
        ``"auto"`` is native where that can be, else NumPy; or what ``FLAGS_backend`` (`set_flags`)
        says, or else the environment variable ``AUTOGRAD_ENGINE_BACKEND``. What a backend cannot
        compile runs all the same, see `explain`.

    Raises
    ------
    ArgumentError
        When there is no such backend, or no such place.

    Notes
    -----
    A program is compiled for the sizes that it is fed, when it is run with them for the third time;
    one that trains before its first run, and `prepare` compiles at once. Until then, and where
    sizes change all the time, one Python function serves all sizes.

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

    def __init__(self, place: object = None, backend: str = "auto") -> None:
        if isinstance(place, str) and place in names():
            raise ArgumentError(
                f"Executor({place!r}): the first argument is the place; write "
                f"Executor(backend={place!r})"
            )
        require_cpu("Executor", "place", place)
        self.place = place
        self.backend = chosen_backend(backend)
        self._programs: weakref.WeakSet[Program] = weakref.WeakSet()
        self._lock = renewed_lock()
        self._beside: dict[str, Executor] = {}  # for what another backend runs
        self._closed = False

    def __reduce__(self) -> Any:
        return type(self), (self.place, self.backend)  # a copy compiles for itself

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
            beside = list(self._beside.values())
        for executor in beside:
            executor.close()
        for program in programs:
            with program.lock:
                plans = program.compiled.pop(self, None)
                if plans is not None:
                    plans.close()

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
            Return ndarrays, else Tensors. What a device has computed is then waited for, and copied
            to the host, when a Tensor is asked for values.
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
        require_bools("run", return_numpy=return_numpy)
        step = self._step("run", program, feed, fetch_list, scope, use_prune, not return_numpy)
        return step(*feed_dict(feed).values())

    def prepare(
        self,
        program: Program | CompiledProgram | None = None,
        feed: Sequence[str] = (),
        fetch_list: Any = None,
        scope: Scope | None = None,
        use_prune: bool = False,
        return_numpy: bool = True,
        backend: str | None = None,
    ) -> Step:
        """A call of `program` for hot loops.

        Parameters
        ----------
        program : Program or CompiledProgram, optional
            By default the default main program.
        feed : list of str
            What is fed, in the order in which the call takes it.
        fetch_list : Variable, str, or list of them, optional
        scope : Scope, optional
            By default the global scope, as it is now.
        use_prune, return_numpy : bool
            As of `run`.
        backend : {"auto", "native", "numpy", "jax"}, optional
            By default that of the executor.

        Returns
        -------
        Step
            ``step(x, y)``, or ``step({"x": x, "y": y})``, does what `run` does with these feeds and
            returns the list that it returns. The program is compiled when it is first called.
            Arrays that were fed before are known again: write new values into them, if that is
            easy, rather than making new ones. Tensors that are fed again stay on a device.

        Raises
        ------
        FeedError
            When a feed that the program needs is not named, or one is named that it does not have.
        ArgumentError
            When there is no such backend.
        TypeError, ExecutionError

        Notes
        -----
        Between two calls the scope may be read and written, by other programs and threads too:
        reading a parameter gives what the last call has left.

        Examples
        --------
        >>> import numpy as np
        >>> import autograd_engine as paddle
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [2], "float32")
        ...     w = paddle.static.create_parameter([2], "float32", is_bias=True)
        ...     loss = paddle.sum(paddle.square(x - w))
        ...     _ = paddle.optimizer.SGD(0.25).minimize(loss)
        >>> exe, scope = paddle.static.Executor(backend="numpy"), paddle.static.Scope()
        >>> _ = exe.run(startup, scope=scope)
        >>> step = exe.prepare(main, ["x"], [loss], scope=scope)
        >>> x = np.ones(2, "float32")
        >>> [float(step(x)[0]) for _ in range(3)]
        [2.0, 0.5, 0.125]
        """
        if self._closed:
            raise closed_error()
        require_bools("prepare", return_numpy=return_numpy)
        if backend is not None and chosen_backend(backend, "prepare") != self.backend:
            beside = self._for(backend)
            return beside.prepare(program, feed, fetch_list, scope, use_prune, return_numpy)
        program, scope = _program(program, "prepare"), _scope(scope, "prepare")
        names = feed_names(program, feed)
        wanting = _wanting(program, names, fetch_list, use_prune)
        plans, tensors = self._plans(program), not return_numpy
        step = Step(program, plans, wanting, names, scope, at_once=True, tensors=tensors)
        check_named(program, step.plan().feeds, names)
        return step

    def explain(
        self,
        program: Program | CompiledProgram | None = None,
        feed: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        fetch_list: Any = None,
        use_prune: bool = False,
    ) -> BackendReport:
        """Which backend runs a program for what is fed, and why.

        The program is compiled for it, as it is when it is run again and again; it is not run,
        and nothing of a scope is looked at.

        Parameters
        ----------
        program, feed, fetch_list, use_prune
            As of `run`.

        Returns
        -------
        BackendReport
            Printed, it says what ran where, with your lines; ``report.source`` is the text that was
            generated, C or Python.

        Raises
        ------
        FeedError, ExecutionError, TypeError

        Examples
        --------
        >>> import numpy as np
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.static.nn.py_func(len, paddle.static.data("x", [2], "float32"), None)
        >>> exe = paddle.static.Executor(backend="numpy")
        >>> exe.explain(main, {"x": np.ones(2, "float32")}).backend
        'python'
        """
        plan, fed = self._planned("explain", program, feed, fetch_list, use_prune)
        specialization = None
        if not plan.plain:
            specialization = plan.specialization(fed)
            plan.specializations.ready(specialization)
        found: BackendReport = above.backend_report(plan, specialization, fed)
        return found

    def profile(
        self,
        program: Program | CompiledProgram | None = None,
        feed: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        fetch_list: Any = None,
        scope: Scope | None = None,
        repeat: int = 10,
        use_prune: bool = False,
    ) -> Profile:
        """How long each operation takes, and how many bytes it reads and writes.

        The program is run `repeat` times, after once to warm up, on copies: neither the scope nor
        the random stream is another one afterwards. Side effects are left out.

        Parameters
        ----------
        program, feed, fetch_list, scope, use_prune
            As of `run`.
        repeat : int

        Returns
        -------
        Profile
            Printed, a table, the slowest operation first; ``profile.save("trace.json")`` writes a
            file for chrome://tracing or ui.perfetto.dev.

        Raises
        ------
        FeedError, ExecutionError, TypeError, ArgumentError

        Notes
        -----
        Operations are timed one by one as NumPy runs them, in straight-line Python. A backend runs
        several in one loop, so it is timed as a whole beside that, and part by part where it gives
        an account of its parts.

        Examples
        --------
        >>> import numpy as np
        >>> import autograd_engine as paddle
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     y = paddle.tanh(paddle.static.data("x", [2], "float32")) * 2.0
        >>> exe = paddle.static.Executor(backend="numpy")
        >>> found = exe.profile(main, {"x": np.ones(2, "float32")}, [y])
        >>> [(o.type, o.read, o.written) for o in found.operators]
        [('tanh', 8, 8), ('multiply', 8, 8)]
        """
        if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
            raise ArgumentError(f"profile: repeat must be a positive int, got {repeat!r}")
        plan, fed = self._planned("profile", program, feed, fetch_list, use_prune)
        program, scope = _program(program, "profile"), _scope(scope, "profile")
        found: Profile = above.profiled(program, plan, fed, feed_dict(feed), scope, repeat)
        return found

    def _planned(
        self, function: str, program: Any, feed: Any, fetch_list: Any, use_prune: bool
    ) -> tuple[Plan, list[Any]]:
        """The plan, and arrays for its feeds."""
        if self._closed:
            raise closed_error()
        program, feeds = _program(program, function), feed_dict(feed)
        wanting = _wanting(program, tuple(feeds), fetch_list, use_prune)
        with program.lock:
            plan = self._plans(program).find(program, wanting())
        return plan, checked_feeds(program, plan.feeds, feeds)

    def _step(
        self,
        function: str,
        program: Any,
        feed: Any,
        fetch_list: Any,
        scope: Any,
        use_prune: bool,
        tensors: bool,
    ) -> Step:
        """What runs the program in this way, kept for the next time."""
        if self._closed:
            raise closed_error()
        program = _program(program, function)
        scope = _scope(scope, function)
        feeds = feed_dict(feed)
        plans = self._plans(program)
        names = tuple(feeds)
        key = (names, fetch_key(fetch_list), id(scope), bool(use_prune), tensors)
        step = plans.known(key)
        if step is None or step.scope is not scope:
            with program.lock:
                wanting = _wanting(program, names, fetch_list, use_prune)
                step = Step(program, plans, wanting, names, scope, tensors=tensors)
                step.plan()
                plans.keep(key, step)
        return step

    def _for(self, backend: str) -> Executor:
        """An executor like this one for another backend, kept with it."""
        with self._lock:
            if self._closed:
                raise closed_error()
            found = self._beside.get(backend)
            if found is None:
                found = self._beside[backend] = Executor(self.place, backend)
            return found

    def _plans(self, program: Program) -> Plans:
        plans: Plans | None = program.compiled.get(self)
        if plans is None:
            with self._lock:
                if self._closed:
                    raise closed_error()
                self._programs.add(program)
                plans = program.compiled[self] = Plans(self.backend)
        return plans


def _program(program: Any, function: str = "run") -> Program:
    if program is None:
        return default_main_program()
    if isinstance(program, CompiledProgram):
        return program.program
    if not isinstance(program, Program):
        raise ArgumentTypeError(
            f"{function}: program must be a Program, got {type(program).__name__}"
        )
    return program


def _scope(scope: Any, function: str) -> Scope:
    if scope is None:
        return global_scope()
    if not isinstance(scope, Scope):
        raise ArgumentTypeError(f"{function}: scope must be a Scope, got {type(scope).__name__}")
    return scope


def _wanting(
    program: Program, names: Sequence[str], fetch_list: Any, use_prune: bool
) -> Callable[[], Wanted]:
    if isinstance(fetch_list, list):
        fetch_list = list(fetch_list)  # the user's may change
    known = weakref.ref(program)  # it keeps the step

    def wanted() -> Wanted:
        program = known()
        assert program is not None
        return _wanted(program, names, fetch_list, use_prune)

    return wanted


def _wanted(program: Program, feeds: Sequence[str], fetch_list: Any, use_prune: bool) -> Wanted:
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


bind_absent(Executor, "paddle.static.Executor")
