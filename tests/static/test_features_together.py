"""Every kind of program with every feature: three runs to the bits of a plain `Executor`.

What a program computes and leaves in the scope does not depend on the form that it is in (copied,
read from a file, written out as Python, decomposed, cut to what is needed), nor on who runs it, nor
on who has looked at it.
"""

from __future__ import annotations

import functools
import threading
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.errors import BuildError, FileFormatError, NotDifferentiableError
from autograd_engine.program.backward.decompose import decompose
from autograd_engine.program.ir.grad_op import GradOp
from autograd_engine.static.flags import flags
from tests.over import over
from tests.static.together_programs import BUILDERS, KINDS, Built, build

Program = static.Program
Run = Callable[[dict[str, Any]], list[Any]]

SHARED = functools.cache(build)
# Numbers that come from the stream of `paddle.seed`, or from one that runs take turns at.
DRAWS = {"lenet", "checkpoints", "random", "startup of mlp", "startup of twice", "startup of half"}


class Outcome(NamedTuple):
    """What three runs return, and what the scope holds in the end."""

    fetched: list[list[Any]]
    state: dict[str, Any]


def scope_of(values: dict[str, Any]) -> static.Scope:
    scope = static.Scope()
    for name, value in values.items():
        scope.var(name).value = np.array(value)
    return scope


def state_of(scope: static.Scope) -> dict[str, Any]:
    return {name: np.array(scope.find_var(name).value) for name in scope.local_var_names()}


def at_the_start(built: Built) -> None:
    """Streams of random numbers and the schedule begin anew."""
    paddle.seed(11)
    if built.main.random_seed:
        built.main.random_seed = built.main.random_seed
    if built.parts.scheduler is not None:
        built.parts.scheduler.step(0)


def run_thrice(built: Built, run: Run, scope: static.Scope) -> Outcome:
    at_the_start(built)
    fetched = []
    for feed in built.feeds:
        fetched.append([np.array(v) for v in run(feed)])
        if built.parts.scheduler is not None:
            built.parts.scheduler.step()
    return Outcome(fetched, state_of(scope))


def executed(
    built: Built, program: Any, fetches: list[str] | None = None, **kwargs: Any
) -> Outcome:
    """Three runs of `program`, which is a form of that of `built`."""
    scope, exe = scope_of(built.start), static.Executor()
    asked = built.fetches if fetches is None else fetches

    def run(feed: dict[str, Any]) -> list[Any]:
        return exe.run(program, with_rates(built, program, feed), asked, scope=scope, **kwargs)

    return run_thrice(built, run, scope)


def with_rates(built: Built, program: Any, feed: dict[str, Any]) -> dict[str, Any]:
    """A file holds no schedule: whoever runs what was read from one feeds the rates."""
    missing = built.main.supplies.keys() - getattr(program, "supplies", built.main.supplies).keys()
    rates = {name: built.main.supplies[name]() for name in missing}
    return {**feed, **{name: rate for name, rate in rates.items() if rate is not None}}


@functools.cache
def expected(kind: str) -> Outcome:
    built = SHARED(kind)
    return executed(built, built.main)


def same(found: Outcome, wanted: Outcome, *, state: bool = True) -> None:
    for step, (one, other) in enumerate(zip(found.fetched, wanted.fetched, strict=True)):
        for k, (a, b) in enumerate(zip(one, other, strict=True)):
            same_bits(a, b, f"fetch {k} of run {step}")
    if state:
        assert found.state.keys() == wanted.state.keys()
        for name, value in found.state.items():
            same_bits(value, wanted.state[name], name)


def same_bits(a: Any, b: Any, what: str) -> None:
    a, b = np.asarray(a), np.asarray(b)
    assert (a.dtype, a.shape) == (b.dtype, b.shape), what
    assert a.tobytes() == b.tobytes(), f"{what}: {a} is not {b}"


# --- forms of a program: each is run by an Executor


def parsed(program: Program) -> Program:
    text = program.to_string()
    again = Program.parse_from_string(text)
    assert again.to_string() == text
    return again


def decomposed(program: Program) -> Program:
    copy = program.clone()
    with paddle.unique_name.guard("written_out_"):
        for block in copy.blocks:
            decompose(block, lambda operator: isinstance(operator.op, GradOp))
    kinds = {op.type for block in copy.blocks for op in block.ops if isinstance(op.op, GradOp)}
    assert not kinds
    return copy


def pruned(program: Program, fetches: Iterable[str]) -> Program:
    block = program.global_block()
    writers = [
        op for op in block.ops if any(v.persistable for vs in op.outputs.values() for v in vs)
    ]
    drawing = [op for op in block.ops if getattr(op.op, "runs_always", True)]
    return program._prune([*fetches, *writers, *drawing])


def looked_at(program: Program, feed: dict[str, Any], fetches: list[str]) -> None:
    shown = str(program), program.version, paddle.unique_name.generate("looked")
    assert program._repr_html_()
    assert program.draw()
    assert str(static.memory_report(program, feed, fetches))
    assert static.flops(program) is not None
    assert [repr(v) for v in program.list_vars()]
    assert [repr(op) for block in program.blocks for op in block.ops]
    assert (str(program), program.version) == shown[:2]
    prefix, _, number = shown[2].rpartition("_")
    assert paddle.unique_name.generate("looked") == f"{prefix}_{int(number) + 1}"


def viewed(built: Built) -> Program:
    copy = built.main.clone()
    looked_at(copy, built.feeds[0], built.fetches)
    return copy


FORMS: dict[str, Callable[[Built], Any]] = {
    "clone": lambda b: b.main.clone(),
    "clone of a clone": lambda b: b.main.clone().clone(),
    "compiled": lambda b: static.CompiledProgram(b.main),
    "parsed": lambda b: parsed(b.main),
    "parsed clone": lambda b: parsed(b.main.clone()),
    "clone of what was parsed": lambda b: parsed(b.main).clone(),
    "decomposed": lambda b: decomposed(b.main),
    "decomposed, then parsed": lambda b: parsed(decomposed(b.main)),
    "parsed, then decomposed": lambda b: decomposed(parsed(b.main)),
    "pruned": lambda b: pruned(b.main, b.fetches),
    "pruned, then parsed": lambda b: parsed(pruned(b.main, b.fetches)),
    "decomposed, then pruned": lambda b: pruned(decomposed(b.main), b.fetches),
    "looked at": viewed,
}


def form_of(built: Built, form: str) -> Any:
    if "parsed" in form and not built.parts.portable:
        with pytest.raises(FileFormatError, match="Python"):
            FORMS[form](built)
        return None
    return FORMS[form](built)


@over("form", FORMS)
@over("kind", KINDS, by=str)
def test_forms(kind: str, form: str) -> None:
    built = SHARED(kind)
    before = str(built.main)
    at_the_start(built)  # a clone goes on where the original's stream stands
    program = form_of(built, form)
    if program is not None:
        same(executed_anew(built, program), expected(kind))
    assert str(built.main) == before


def executed_anew(built: Built, program: Any) -> Outcome:
    if isinstance(program, Program) and program.random_seed:
        program.random_seed = program.random_seed
    return executed(built, program)


# --- ways to run one


def eagerly(built: Built, program: Program) -> Outcome:
    scope = scope_of(built.start)

    def run(feed: dict[str, Any]) -> list[Any]:
        found = program.run_eagerly(with_rates(built, program, feed), built.fetches or None, scope)
        return [found[name].numpy() for name in built.fetches]

    if program.random_seed:
        program.random_seed = program.random_seed
    return run_thrice(built, run, scope)


@over("form", ["as it is", "clone", "parsed", "decomposed", "pruned"])
@over("kind", KINDS, by=str)
def test_run_eagerly(kind: str, form: str) -> None:
    built = SHARED(kind)
    program = built.main if form == "as it is" else form_of(built, form)
    if program is not None:
        same(eagerly(built, program), expected(kind))


def as_python(built: Built, program: Program) -> Outcome:
    """The program as text, executed; its results are what the next run reads."""
    text = program.to_python(built.fetches)
    space: dict[str, Any] = {"__name__": "generated"}
    exec(compile(text, "<to_python>", "exec"), space)
    state = dict(built.start)
    scope = static.Scope()

    def run(feed: dict[str, Any]) -> list[Any]:
        rates = {n: supply() for n, supply in built.main.supplies.items()}
        for name, rate in rates.items():
            if rate is not None:
                state[name] = np.array(rate, state[name].dtype)
        results = space["program"](*({**state, **feed}[n] for n in space["INPUTS"]))
        names = space["OUTPUTS"][len(built.fetches) :]
        state.update(zip(names, results[len(built.fetches) :], strict=True))
        return list(results[: len(built.fetches)])

    found = run_thrice(built, run, scope)
    return Outcome(found.fetched, state)


@over("form", ["as it is", "clone", "parsed", "decomposed", "pruned"])
@over("kind", KINDS, by=str)
def test_to_python(kind: str, form: str) -> None:
    built = SHARED(kind)
    program = built.main if form == "as it is" else form_of(built, form)
    if program is None:
        return
    if not built.parts.text:
        with pytest.raises(BuildError, match="name of its own"):
            program.to_python(built.fetches)
        return
    same(as_python(built, program), expected(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_executors_take_turns(kind: str) -> None:
    """Runs of one training by three executors, of which the first is closed; Tensors for arrays."""
    built = SHARED(kind)
    scope = scope_of(built.start)
    executors = iter([static.Executor(), static.Executor(), static.Executor()])

    def run(feed: dict[str, Any]) -> list[Any]:
        with next(executors) as exe:
            return exe.run(built.main, feed, built.fetches, scope=scope, return_numpy=False)

    same(run_thrice(built, run, scope), expected(kind))


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in DRAWS])
def test_threads_with_scopes_of_their_own(kind: str) -> None:
    built, exe = SHARED(kind), static.Executor()
    wanted = expected(kind)
    found: dict[int, Any] = {}
    together = threading.Barrier(2)
    scheduler = built.parts.scheduler
    at_the_start(built)
    rates = []
    for _ in built.feeds:
        supplied = {n: supply() for n, supply in built.main.supplies.items()}
        rates.append({n: rate for n, rate in supplied.items() if rate is not None})
        if scheduler is not None:
            scheduler.step()

    def work(number: int) -> None:
        scope = scope_of(built.start)
        try:
            together.wait(10)
            fetched = [
                exe.run(built.main, {**feed, **rate}, built.fetches, scope=scope)
                for feed, rate in zip(built.feeds, rates, strict=True)
            ]
            found[number] = Outcome(fetched, state_of(scope))
        except BaseException as error:
            found[number] = error

    threads = [threading.Thread(target=work, args=(n,)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for outcome in found.values():
        assert isinstance(outcome, Outcome), outcome
        same(outcome, wanted)
    assert len(found) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_that_is_changed_between_runs(kind: str) -> None:
    """One executor; before the second run there is another fetch, before the third another."""
    built = SHARED(kind)
    at_the_start(built)
    program = built.main.clone()
    scope, exe = scope_of(built.start), static.Executor()
    more: list[Any] = []

    def run(feed: dict[str, Any]) -> list[Any]:
        values = exe.run(program, feed, [*built.fetches, *more], scope=scope)
        for value in values[len(built.fetches) :]:
            np.testing.assert_array_equal(value, np.float32(len(more)) + np.zeros((), "float32"))
        count = len(more) + 1
        with static.program_guard(program), paddle.unique_name.guard(f"more_{count}_"):
            more[:] = [paddle.full([], float(count), "float32")] * count
        return values[: len(built.fetches)]

    same(run_thrice(built, run, scope), expected(kind))


class Stop(Exception):
    pass


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_run_leaves_the_scope_as_it_was(kind: str) -> None:
    """The last operator raises, when everything else has been computed."""
    built = SHARED(kind)
    at_the_start(built)
    program = built.main.clone()

    def raises(*_: Any) -> None:
        raise Stop

    with static.program_guard(program), paddle.unique_name.guard("more_"):
        static.py_func(raises, paddle.zeros([1]), None)
    scope, exe = scope_of(built.start), static.Executor()
    before = {name: scope.find_var(name).value for name in built.start}
    for run in (
        lambda: exe.run(program, built.feeds[0], built.fetches, scope=scope),
        lambda: program.run_eagerly(built.feeds[0], built.fetches, scope),
    ):
        with pytest.raises(Stop):
            run()
        assert state_of(scope).keys() == before.keys()
        for name, array in before.items():
            assert scope.find_var(name).value is array
            same_bits(array, built.start[name], name)

    def go_on(feed: dict[str, Any]) -> list[Any]:
        return exe.run(built.main, feed, built.fetches, scope=scope)

    same(run_thrice(built, go_on, scope), expected(kind))


# --- files


@pytest.mark.parametrize("kind", [*BUILDERS, "traced"])
def test_training_is_resumed_from_files(kind: str, tmp_path: Path) -> None:
    """A run, a save; the files are loaded by a program that was built anew, which goes on."""
    built, again = SHARED(kind), build(kind)
    path = str(tmp_path / "model")
    scopes = [scope_of(built.start), static.Scope()]
    exe = static.Executor()
    current = scopes[0]

    def run(feed: dict[str, Any]) -> list[Any]:
        nonlocal current
        values = exe.run(built.main, feed, built.fetches, scope=current)
        if current is scopes[0] and built.parts.portable:
            with static.scope_guard(current):
                static.save(built.main, path)
            current = scopes[1]
            with static.scope_guard(current):
                static.load(again.main, path, exe)
        return values

    found = run_thrice(built, run, scopes[0])
    same(Outcome(found.fetched, state_of(current)), expected(kind))


# --- inference


def inference_feeds(built: Built, program: Program) -> list[dict[str, Any]]:
    names = {v.name for v in program.list_vars() if v.is_data}
    return [{n: v for n, v in feed.items() if n in names} for feed in built.feeds]


def forward_values(program: Program, feeds: Any, names: list[str], scope: Any) -> list[Any]:
    exe = static.Executor()
    paddle.seed(2)
    if program.random_seed:
        program.random_seed = program.random_seed
    return [np.array(v) for feed in feeds for v in exe.run(program, feed, names, scope=scope)]


@functools.cache
def inferred(kind: str) -> list[Any]:
    """What a program that was never trained, with the trained parameters, computes."""
    built, state = build(kind, train=False), expected(kind).state
    plain = built.main.clone(for_test=True)
    return forward_values(plain, built.feeds, built.forward, scope_of(state))


def normalized(built: Built, program: Program) -> Program:
    block = program.global_block()
    feeds = [block.var(name) for name in built.feeds[0]]
    goals = [block.var(name) for name in built.forward]
    return static.normalize_program(program, needed(feeds, goals), goals)


def needed(feeds: list[Any], goals: list[Any]) -> list[Any]:
    """Those of the feeds that the goals depend on."""
    small = goals[0].block.program._prune(goals)
    read = {n for op in small.global_block().ops for n in op.input_arg_names}
    return [v for v in feeds if v.name in read]


INFERENCE: dict[str, Callable[[Built], Program]] = {
    "clone(for_test)": lambda b: b.main.clone(for_test=True),
    "clone(for_test) twice": lambda b: b.main.clone(for_test=True).clone(for_test=True),
    "parsed clone(for_test)": lambda b: parsed(b.main.clone(for_test=True)),
    "clone(for_test) of what was parsed": lambda b: parsed(b.main).clone(for_test=True),
    "clone(for_test) of what was decomposed": lambda b: decomposed(b.main).clone(for_test=True),
    "normalized": lambda b: normalized(b, b.main),
    "normalized, of what was parsed": lambda b: normalized(b, parsed(b.main)),
    "pruned": lambda b: b.main.clone(for_test=True)._prune(b.forward),
}


@pytest.mark.parametrize("kind", [*BUILDERS, "traced"])
@pytest.mark.parametrize("form", INFERENCE)
def test_inference_is_as_without_training(kind: str, form: str) -> None:
    built = SHARED(kind)
    if "parsed" in form and not built.parts.portable:
        return
    program = INFERENCE[form](built)
    assert not any(op.role in ("optimize", "lr_sched") for op in program.global_block().ops)
    state = expected(kind).state
    scope = scope_of(state)
    feeds = inference_feeds(built, program)
    values = forward_values(program, feeds, built.forward, scope)
    for found, wanted in zip(values, inferred(kind), strict=True):
        same_bits(found, wanted, form)
    for name, value in state_of(scope).items():
        same_bits(value, state[name], name)
    paddle.seed(2)
    if program.random_seed:
        program.random_seed = program.random_seed
    again = []
    for feed in feeds:
        results = program.run_eagerly(feed, built.forward, scope)
        again += [results[name].numpy() for name in built.forward]
    for found, wanted in zip(again, values, strict=True):
        same_bits(found, wanted, form)
    if built.parts.text:
        space: dict[str, Any] = {}
        exec(program.to_python(built.forward), space)
        paddle.seed(2)
        from_text = [
            value
            for feed in feeds
            for value in space["program"](*({**state, **feed}[n] for n in space["INPUTS"]))
        ]
        for found, wanted in zip(from_text, values, strict=True):
            same_bits(found, wanted, form)


@pytest.mark.parametrize("kind", [*BUILDERS, "traced"])
def test_inference_from_files(kind: str, tmp_path: Path) -> None:
    built = SHARED(kind)
    block = built.main.global_block()
    goals = [block.var(name) for name in built.forward]
    feeds = needed([block.var(name) for name in built.feeds[0]], goals)
    path, exe = str(tmp_path / "model"), static.Executor()
    with static.scope_guard(scope_of(expected(kind).state)):
        if not built.parts.portable:
            with pytest.raises(FileFormatError, match="Python"):
                static.save_inference_model(path, feeds, goals, exe, program=built.main)
            return
        static.save_inference_model(path, feeds, goals, exe, program=built.main)
        text = static.serialize_program(feeds, goals, program=built.main)
    scope = static.Scope()
    with static.scope_guard(scope):
        program, names, fetches = static.load_inference_model(path, exe)
    assert names == [v.name for v in feeds]
    assert [v.name for v in fetches] == built.forward
    for loaded in (program, static.deserialize_program(text), parsed(program).clone()):
        given = inference_feeds(built, loaded)
        values = forward_values(loaded, given, built.forward, scope)
        for found, wanted in zip(values, inferred(kind), strict=True):
            same_bits(found, wanted, kind)


# --- more gradients


def trained(program: Program) -> list[Any]:
    return [p for p in program.all_parameters() if p.trainable]


@pytest.mark.parametrize("kind", BUILDERS)
def test_gradients_that_exist_are_not_appended_again(kind: str) -> None:
    """Of what is there, of a copy of it, and of what was read from its text."""
    built = SHARED(kind)
    programs = [built.main.clone()]
    programs += [parsed(built.main)] if built.parts.portable else []
    for program in programs:
        block = program.global_block()
        loss = block.var(built.forward[0])
        inputs = [v for v in program.list_vars() if v.is_data and not v.stop_gradient]
        inputs += [p for p in trained(program) if p.block is block]
        with static.program_guard(program), paddle.unique_name.guard("more_"):
            first = static.gradients(loss, inputs)
            count = len(block.ops)
            second = static.gradients(loss, inputs)
            assert len(block.ops) == count
            assert [a is b for a, b in zip(first, second, strict=True)] == [True] * len(first)


@pytest.mark.parametrize("kind", BUILDERS)
def test_another_order_is_appended_without_a_change_of_what_is_there(kind: str) -> None:
    """Training goes on to the bits, beside gradients of gradients; a refusal changes nothing."""
    built = SHARED(kind)
    at_the_start(built)
    program = built.main.clone()
    block = program.global_block()
    inputs = [v for v in program.list_vars() if v.is_data and not v.stop_gradient]
    inputs += trained(program)
    second: list[Any] = []
    with static.program_guard(program), paddle.unique_name.guard("more_"):
        first = [g for g in static.gradients(block.var(built.forward[0]), inputs) if g is not None]
        goal = paddle.add_n([paddle.sum(paddle.cast(g * g, "float32")) for g in first])
        count, text = len(block.ops), str(program)
        if kind == "python":
            with pytest.raises(NotDifferentiableError, match="there is no second derivative"):
                static.gradients(goal, inputs)
            assert str(program) == text
        else:
            second = [g for g in static.gradients(goal, inputs) if g is not None]
            assert not second or len(block.ops) > count
    scope, exe = scope_of(built.start), static.Executor()

    def run(feed: dict[str, Any]) -> list[Any]:
        values = exe.run(program, feed, [*built.fetches, *second], scope=scope)
        assert all(np.isfinite(v).all() for v in values[len(built.fetches) :])
        return values[: len(built.fetches)]

    same(run_thrice(built, run, scope), expected(kind))


@pytest.mark.parametrize("kind", BUILDERS)
def test_callbacks_see_each_operator_once(kind: str) -> None:
    """Those of the blocks inside come before the operator that they are inside of."""
    built = build(kind, train=False)
    block = built.main.global_block()
    loss = paddle_sum(built)
    before, known = len(block.ops), {op.number: b for b in built.main.blocks for op in b.ops}
    seen: list[tuple[Any, str]] = []

    def look(block: Any, context: Any) -> None:
        seen.append((block, context["__current_op_desc__"].type()))

    with static.program_guard(built.main), paddle.unique_name.guard("more_"):
        first = len(built.main.blocks)
        static.append_backward(loss, callbacks=[look])
    outside = [kind for where, kind in seen if where is block]
    seed, *appended = block.ops[-1 - len(outside) :]
    assert seed.of_loss
    assert outside == [op.type for op in appended]
    assert len(block.ops) - before == 1 + len(outside) + more_by_writing_out(block, known, appended)
    assert all(where is block or where.idx >= first for where, _ in seen)


def more_by_writing_out(block: Any, known: dict[int, Any], appended: list[Any]) -> int:
    """How many operators have come in the place of gradient operators of the order before."""
    here = {op.number for op in block.ops}
    gone = sum(1 for number, where in known.items() if where is block and number not in here)
    fresh = [op for op in block.ops[: -1 - len(appended)] if op.number not in known]
    return len(fresh) - gone


def paddle_sum(built: Built) -> Any:
    var = built.main.global_block().var(built.forward[0])
    with static.program_guard(built.main), paddle.unique_name.guard("goal_"):
        return var if var.shape == () else paddle.sum(var)


# --- foresight


# How often the rows of the first feed are repeated, so that arrays have megabytes.
LARGE = {
    "mlp": 20000,
    "lstm": 30000,
    "attention": 20000,
    "branch": 100000,
    "pylayer": 60000,
    "effects": 60000,
    "penalty": 50000,
    "checkpoints": 50000,
    "twice": 60000,
    "sizes": 10000,
    "constants": 60000,
    "random": 60000,
    "half": 80000,
}


@pytest.mark.parametrize("kind", LARGE)
def test_foreseen_memory_is_what_is_measured(kind: str, monkeypatch: Any) -> None:
    # What is foreseen is a run by Python; compiled, what trains has memory of its own.
    monkeypatch.setattr(flags, "runs_before_compiling", 2)
    built, exe = SHARED(kind), static.Executor()
    feed = {
        name: np.tile(v, (LARGE[kind], *[1] * (v.ndim - 1))) if np.ndim(v) else v
        for name, v in built.feeds[0].items()
    }
    scope = scope_of(built.start)
    report = static.memory_report(
        built.main, {n: np.shape(v) for n, v in feed.items()}, built.fetches
    )
    feeds = [feed, {"x": -feed["x"]}] if kind == "branch" else [feed]  # the larger branch counts
    exe.run(built.main, feed, built.fetches, scope=scope)
    held = sum(np.asarray(v).nbytes for v in (*feed.values(), *state_of(scope).values()))
    tracemalloc.start(1)
    try:
        base = tracemalloc.get_traced_memory()[0]
        for given in feeds:
            exe.run(built.main, given, built.fetches, scope=scope)
        peak = tracemalloc.get_traced_memory()[1] - base + held
    finally:
        tracemalloc.stop()
    assert peak > 4_000_000
    assert report.peak_bytes is not None
    assert abs(report.peak_bytes - peak) < 0.1 * peak, (report.peak_bytes, peak)
