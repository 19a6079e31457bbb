"""Locks that a forked child can take, whoever held them in the parent."""

from __future__ import annotations

import ast
import gc
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import autograd_engine
import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.core import locks
from autograd_engine.core.compute_once import cached_property
from autograd_engine.core.gc_pause import collector_paused
from autograd_engine.core.locks import awaited_lock, renewed_lock
from tests.forked import Elsewhere, forks, in_child

PACKAGE = Path(autograd_engine.__file__).parent
# What makes a lock, or holds one; `SimpleQueue` is not among them, whose lock is never held by a
# thread without the interpreter's.
MAKERS = {
    "threading": {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event",
                  "Barrier", "Timer"},
    "_thread": {"allocate_lock", "allocate", "RLock", "LockType"},
    "queue": {"Queue", "LifoQueue", "PriorityQueue"},
    "multiprocessing": {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore", "Event",
                        "Barrier", "Queue"},
    "concurrent.futures": {"Future", "ThreadPoolExecutor", "ProcessPoolExecutor"},
    "functools": {"cached_property"},  # before Python 3.12
}  # fmt: skip
NAMES = set().union(*MAKERS.values())

# --- the list


def made_in(path: Path) -> Iterator[str]:
    """Locks that a module makes, as ``line: text``; annotations make none."""
    text = path.read_text(encoding="utf-8")
    if not any(name.partition(".")[0] in text for name in MAKERS):
        return
    tree = ast.parse(text)
    notes: set[int] = set()
    modules: dict[str, str] = {}  # by the name that they, or what is taken of them, have here
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            note = getattr(node, name, None)
            if note is not None:
                notes |= {id(part) for part in ast.walk(note)}
        if isinstance(node, ast.Import):
            modules |= {a.asname or a.name: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            for a in node.names:
                if a.name in MAKERS.get(node.module or "", ()):
                    yield f"{node.lineno}: from {node.module} import {a.name}"
                modules[a.asname or a.name] = f"{node.module}.{a.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in NAMES and id(node) not in notes:
            module = modules.get(ast.unparse(node.value), "")
            if node.attr in MAKERS.get(module, ()):
                yield f"{node.lineno}: {ast.unparse(node)}"


def test_every_lock_of_the_package_is_of_the_one_kind() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}:{text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != PACKAGE / "core" / "locks.py"
        for text in made_in(path)
    }
    # On top of a lock of ours; and a class that is recognised in what users write.
    found = {
        text for text in found if not text.startswith(("program/scope.py", "jit/object_reads"))
    }
    assert found == set()


def test_what_stands_on_a_lock_stands_on_one_of_ours() -> None:
    assert [text.partition(": ")[2] for text in made_in(PACKAGE / "program" / "scope.py")] == [
        "threading.Condition"
    ]
    condition = static.Scope()._claims.changed
    assert any(ref() is condition._lock for ref in locks._renewed)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "import threading\nlock = threading.Lock()",
        "import threading as t\nlock = t.RLock()",
        "from threading import Condition",
        "import threading\nlock: int = field(default_factory=threading.RLock)",
        "import multiprocessing\nlock = multiprocessing.Lock()",
        "from functools import cached_property, lru_cache",
        "import functools\nclass A:\n    @functools.cached_property\n    def f(self): ...",
    ],
)
def test_the_list_finds_locks(text: str, tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(text)
    assert len(list(made_in(path))) == 1
    path.write_text(
        "import threading\nlock: threading.RLock = made()\nclass A(threading.local): ..."
    )
    assert not list(made_in(path))


@forks
def test_a_child_can_take_every_lock_there_is() -> None:
    """All of a process that has used the engine, taken by another thread while it forks."""
    paddle.seed(0)
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    paddle.autograd.recompute(lambda x: paddle.tanh(x), x).sum().backward()
    paddle.jit.to_static(lambda x: x * 2.0)(x)
    main, startup = static.Program(), static.Program()
    main.random_seed = 1
    with static.program_guard(main, startup):
        loss = paddle.sum(static.create_parameter([2], "float32") * paddle.rand([2]))
        paddle.optimizer.SGD(0.1).minimize(loss)
    exe, scope = static.Executor(backend="numpy"), static.Scope()
    exe.run(startup, scope=scope)
    step = exe.prepare(main, [], [loss], scope=scope)
    step()
    held = [lock for ref in list(locks._renewed) if (lock := ref()) is not None]
    assert len(held) > 20
    awaited = [ref() for ref in list(locks._awaited)]

    def hold(stay: Callable[[], None]) -> None:
        taken = [lock for lock in held if not any(lock is other for other in awaited)]
        taken = [lock for lock in taken if lock.acquire(timeout=10)]
        stay()
        for lock in taken:
            lock.release()

    def takes_all() -> bool:
        for lock in held:
            if not lock.acquire(timeout=1):
                return False
            lock.release()
        step()
        return True

    with Elsewhere(hold):
        assert in_child(takes_all)


# --- the two kinds


@forks
def test_a_lock_that_the_forking_thread_holds_stays_its_own() -> None:
    lock, other = renewed_lock(), awaited_lock(9)

    def held_once() -> bool:
        lock.release()
        other.release()
        for each in (lock, other):
            with pytest.raises(RuntimeError):
                each.release()
        return True

    with lock, other:
        assert in_child(held_once)


@forks
def test_a_fork_waits_for_what_is_to_be_seen_as_a_whole() -> None:
    lock, pair, stop = awaited_lock(9), [0, 0], threading.Event()

    def change() -> None:
        while not stop.is_set():
            with lock:
                pair[0] += 1
                stop.wait(0.001)
                pair[1] += 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(10):
            assert in_child(lambda: pair[0] == pair[1])
    finally:
        stop.set()
        thread.join(30)


@forks
def test_threads_fork_at_the_same_time() -> None:
    for rank in range(8, 12):
        awaited_lock(rank)
    fine: list[bool] = []

    def many() -> None:
        fine.extend(in_child(lambda: True) for _ in range(10))

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert fine == [True] * 40


@forks
def test_what_was_left_half_done_is_put_right() -> None:
    class Pair:
        def __init__(self) -> None:
            self.lock = renewed_lock(self.put_right)
            self.values = [0, 0]

        def put_right(self) -> None:
            self.values[1] = self.values[0]

    pair = Pair()

    def change(stay: Callable[[], None]) -> None:
        with pair.lock:
            pair.values[0] = 1
            stay()
            pair.values[1] = 1

    def is_whole() -> bool:
        with pair.lock:
            return pair.values == [1, 1]

    with Elsewhere(change):
        assert in_child(is_whole)


def test_locks_are_not_kept_alive() -> None:
    class Owner:
        def __init__(self) -> None:
            self.lock = renewed_lock(self.nothing)
            self.other = awaited_lock(9)

        def nothing(self) -> None: ...

    gc.collect()
    before = len(locks._renewed), len(locks._awaited)
    owners = [Owner() for _ in range(5)]
    assert (len(locks._renewed), len(locks._awaited)) == (before[0] + 10, before[1] + 5)
    owners.clear()
    gc.collect()
    assert (len(locks._renewed), len(locks._awaited)) <= before


# --- besides locks


@forks
def test_a_child_collects_garbage_though_another_thread_was_planning() -> None:
    def plan(stay: Callable[[], None]) -> None:
        with collector_paused():
            stay()

    with Elsewhere(plan):
        assert in_child(gc.isenabled)
        with collector_paused():  # it is this thread's, too
            assert in_child(lambda: True)
    assert gc.isenabled()


@forks
def test_a_property_that_another_thread_computes() -> None:
    class Object:
        computes: Callable[[], None]

        @cached_property
        def value(self) -> int:
            """Three."""
            self.computes()
            return 3

    first, second = Object(), Object()
    second.computes = lambda: None

    def compute(stay: Callable[[], None]) -> None:
        first.computes = stay
        assert first.value == 3

    with Elsewhere(compute):
        assert in_child(lambda: second.value == 3)
    assert vars(first)["value"] == 3
    assert Object.value.__doc__ == "Three."


# --- Python's own


def test_threads_parse_at_the_same_time() -> None:
    """In Python 3.11 the depth of a tree is counted for all threads together."""

    class Cycle:
        def __init__(self) -> None:
            self.own = self

        def __del__(self) -> None:
            time.sleep(1e-4)  # another thread runs, half-way through a tree

    text = "\n".join(f"x{k} = (1 + 2) * [3, 4]" for k in range(400))
    failed: list[SystemError] = []

    def parse() -> None:
        for _ in range(5):
            for _ in range(20):
                Cycle()
            try:
                locks.parse_source(text)
            except SystemError as error:
                failed.append(error)

    before = gc.get_threshold()
    gc.set_threshold(50)
    try:
        threads = [threading.Thread(target=parse) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*before)
    assert not failed


def test_nothing_else_parses() -> None:
    found = [
        path.name
        for path in PACKAGE.rglob("*.py")
        if "ast.parse(" in path.read_text(encoding="utf-8")
    ]
    assert found == ["locks.py"]
