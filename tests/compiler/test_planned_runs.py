"""Calls and bound runs of planned functions: whose memory is whose, threads, errors, size."""

import threading
import time

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import optimizer as optimizers
from autograd_engine.compiler.arena import Interval, offsets
from tests.compiler.helpers.planned_runs import normal, program_step, same_bits

F = paddle.nn.functional


def loss(x, p):
    h = F.relu(x["x"] @ p["w"])
    return [F.cross_entropy(h, x["label"]), h, p["w"]]


def step(optimizer=lambda: optimizers.Adam(0.01)):
    feeds = {"x": normal(1, 8, 6), "label": np.arange(8) % 5}
    return program_step(loss, feeds, {"w": normal(2, 6, 5)}, optimizer)


def test_results_are_the_callers_own():
    made = step()
    first = made.planned(*made.arrays)
    kept = [a.copy() for a in first]
    for a in first:
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for b in made.arrays)
    made.planned(*made.arrays)
    assert all(same_bits(a, b) for a, b in zip(first, kept, strict=True))
    for a in first:
        a[...] = 7
    assert all(same_bits(a, b) for a, b in zip(made.planned(*made.arrays), kept, strict=True))


def test_results_of_a_bound_run_are_the_callers_own():
    made = step()
    bound = made.planned.bind([a.copy() for a in made.arrays])
    first = bound()
    kept = [a.copy() for a in first]
    bound()
    assert all(same_bits(a, b) for a, b in zip(first, kept, strict=True))


def test_a_fetched_parameter_is_as_it_is_after_the_update():
    made = step()
    bound = made.planned.bind([a.copy() for a in made.arrays])
    _, _, w = bound()
    assert same_bits(w, bound.arrays[made.position("w")])
    assert not np.shares_memory(w, bound.arrays[made.position("w")])
    assert not np.array_equal(w, made.arrays[made.position("w")])


def test_state_is_written_in_place():
    made = step()
    bound = made.planned.bind([a.copy() for a in made.arrays])
    held = list(bound.arrays)
    before = [a.copy() for a in held]
    bound()
    assert all(a is b for a, b in zip(held, bound.arrays, strict=True))
    for position in made.planned.updates.values():
        assert not np.array_equal(held[position], before[position])


def test_state_may_be_set_between_runs():
    made = step()
    bound = made.planned.bind([a.copy() for a in made.arrays])
    bound()
    for position, array in enumerate(made.arrays):
        if position in made.planned.updates.values():
            bound.arrays[position][...] = array
    again = bound()
    assert same_bits(again[0], made.planned(*made.arrays)[0])


def test_numbers_of_parameters_that_differ():
    """One parameter has made more steps than the other: each has its own powers."""
    feeds = {"x": normal(1, 8, 6), "label": np.arange(8) % 5}
    made = program_step(
        lambda x, p: [F.cross_entropy(F.linear(x["x"], p["w"], p["b"]), x["label"])],
        feeds,
        {"w": normal(2, 6, 5), "b": normal(3, 5)},
        lambda: optimizers.Adam(0.01),
    )
    arrays = [a.copy() for a in made.arrays]
    power = next(k for k, n in enumerate(made.names) if "beta1_pow" in n)
    arrays[power] = np.asarray(arrays[power] * arrays[power])
    wanted = made.python.function(*arrays)
    bound = made.planned.bind([a.copy() for a in arrays])
    bound()
    for out, position in made.planned.updates.items():
        assert same_bits(bound.arrays[position], wanted[out]), made.names[position]


def test_another_feed():
    made = step()
    bound = made.planned.bind([a.copy() for a in made.arrays])
    k = made.position("x")
    for other in (normal(5, 8, 6), normal(6, 6, 8).T, np.asfortranarray(normal(7, 8, 6))):
        arrays = list(bound.arrays)
        arrays[k] = other
        wanted = made.python.function(*[np.array(a) if a is not other else a for a in arrays])
        bound.feed(k, other)
        assert same_bits(bound()[0], wanted[0])


def test_a_failure_leaves_the_state_untouched():
    made = step()
    arrays = [a.copy() for a in made.arrays]
    arrays[made.position("label")] = np.full(8, 9)
    bound = made.planned.bind(arrays)
    before = [a.copy() for a in bound.arrays]
    with pytest.raises(IndexError, match="label 9 is out of range") as caught:
        bound()
    assert all(same_bits(a, b) for a, b in zip(bound.arrays, before, strict=True))
    assert made.planned.operator_at(caught.value).type == "label_entropy"
    bound.feed(made.position("label"), np.arange(8) % 5)
    assert same_bits(bound()[0], made.planned(*made.arrays)[0])
    with pytest.raises(IndexError):
        made.planned(*arrays)


def test_threads_may_call_at_once():
    made = step()
    many = [[a if a.ndim == 0 else a.copy() for a in made.arrays] for _ in range(4)]
    k = made.position("x")
    for n, arrays in enumerate(many):
        arrays[k] = normal(30 + n, 8, 6)
    wanted = [made.python.function(*arrays) for arrays in many]
    wrong = []

    def run(n):
        for _ in range(40):
            got = made.planned(*many[n])
            if not all(same_bits(a, b) for a, b in zip(got, wanted[n], strict=True)):
                wrong.append(n)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_bound_run_allocates_no_large_arrays():
    import tracemalloc

    x = {"x": normal(1, 256, 256)}
    made = program_step(
        lambda x, p: [paddle.mean(paddle.tanh(x["x"] @ p["w"]) * x["x"])],
        x,
        {"w": normal(2, 256, 256)},
        lambda: optimizers.SGD(0.1),
    )
    bound = made.planned.bind([a.copy() for a in made.arrays])
    bound()
    tracemalloc.start()
    bound()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 32 << 10  # one array takes 256 KB


def test_long_programs_are_planned_in_linear_time():
    def chain(n):
        def build(x, p):
            h = x["x"]
            for _ in range(n):
                h = paddle.tanh(h * p["w"])
            return [paddle.mean(h)]

        return program_step(build, {"x": normal(1, 4)}, {"w": normal(2, 4)})

    times = []
    for n in (400, 1600):
        made = chain(n)
        start = time.process_time()
        made.planned(*made.arrays)
        times.append(time.process_time() - start)
        assert same_bits(made.planned(*made.arrays)[0], made.python.function(*made.arrays)[0])
    assert times[1] < 12 * times[0] + 0.5


def test_arrays_that_are_not_alive_together_share_memory():
    rng = np.random.default_rng(0)
    intervals = []
    for _ in range(300):
        first = int(rng.integers(0, 100))
        nbytes = int(rng.integers(0, 5000))
        intervals.append(Interval(nbytes, first, first + int(rng.integers(0, 10))))
    places, total = offsets(intervals)
    for i, (a, p) in enumerate(zip(intervals, places, strict=True)):
        assert p % 64 == 0
        assert p + a.nbytes <= total
        for b, q in zip(intervals[:i], places, strict=False):
            if a.first <= b.last and b.first <= a.last:
                assert p + a.nbytes <= q or q + b.nbytes <= p or not (a.nbytes and b.nbytes)
    live = [sum(v.nbytes for v in intervals if v.first <= k <= v.last) for k in range(110)]
    assert total < 1.5 * max(live)
