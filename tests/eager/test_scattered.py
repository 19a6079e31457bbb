"""Cotangents that are zero but for some places: linear loops, row-sparse gradients."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest

import autograd_engine as paddle

F = paddle.nn.functional


def table(rows=6, width=2, dtype="float64"):
    values = np.random.default_rng(0).uniform(-1.0, 1.0, (rows, width)).astype(dtype)
    return paddle.to_tensor(values, stop_gradient=False)


def gradient(loss_of, dtype="float64", *, create_graph=False):
    x = table(dtype=dtype)
    (g,) = paddle.grad(loss_of(x), x, create_graph=create_graph)
    return g.numpy()


LOSSES = {
    "slices": lambda x: (x[0] * 2.0 + x[1:3].sum() + x[0] * x[-1]).sum(),
    "the whole first": lambda x: (x * x).sum() + (x[2] * 3.0).sum() + x[2:4].sum(),
    "the whole between": lambda x: x[2].sum() + (x * x).sum() + (x[2] * x[1]).sum(),
    "rows": lambda x: (F.embedding(paddle.to_tensor([1, 4, 1]), x) ** 2).sum() + x[1].sum(),
    "rows and slices in turn": lambda x: sum(
        (x[i] * x[i]).sum() + paddle.gather(x, paddle.to_tensor([i, 0])).sum() for i in range(4)
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_sums_are_those_of_differences(name):
    loss_of = LOSSES[name]
    found = gradient(loss_of)
    expected = np.zeros_like(found)
    at = table().numpy()
    for index in np.ndindex(at.shape):
        sides = []
        for step in (1e-5, -1e-5):
            moved = at.copy()
            moved[index] += step
            sides.append(loss_of(paddle.to_tensor(moved)).item())
        expected[index] = (sides[0] - sides[1]) / 2e-5
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", LOSSES)
def test_modes_agree_to_the_bit(name, dtype):
    """The tape, a recorded pass, a program, and one whose rules are written out."""
    loss_of = LOSSES[name]
    expected = gradient(loss_of, dtype)
    np.testing.assert_array_equal(gradient(loss_of, dtype, create_graph=True), expected)
    if "rows" in name:
        return  # index tensors of the eager mode
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [6, 2], dtype)
        x.stop_gradient = False
        (g,) = paddle.static.gradients([loss_of(x)], [x])
        (again,) = paddle.static.gradients([(g * g).sum()], [x])
    fetched = paddle.static.Executor().run(program, {"x": table(dtype=dtype).numpy()}, [g, again])
    np.testing.assert_array_equal(fetched[0], expected)
    x = table(dtype=dtype)
    (g,) = paddle.grad(loss_of(x), x, create_graph=True)
    (second,) = paddle.grad((g * g).sum(), x)
    np.testing.assert_array_equal(fetched[1], second.numpy())


def test_a_zero_has_the_sign_that_a_sum_of_whole_arrays_gives():
    x = paddle.to_tensor(np.zeros((3, 2)), stop_gradient=False)
    (g,) = paddle.grad((x * -0.0).sum() + (x[0] * 1.0).sum(), x)
    assert not np.signbit(g.numpy()).any()


def test_memory_of_slicing_in_a_loop_is_linear():
    """Whole arrays for each of 400 slices would be 64 MB."""
    x = paddle.to_tensor(np.zeros((400, 50)), stop_gradient=False)
    total = sum((x[i] * x[i]).sum() for i in range(400))
    tracemalloc.start()
    try:
        total.backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4e6


def test_a_program_adds_slices_without_writing_each_out():
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [400, 50], "float64")
        x.stop_gradient = False
        total = paddle.add_n([(x[i] * x[i]).sum() for i in range(400)])
        (g,) = paddle.static.gradients([total], [x])
    exe = paddle.static.Executor()
    feed = {"x": np.ones((400, 50))}
    exe.run(program, feed, [g])
    tracemalloc.start()
    try:
        (value,) = exe.run(program, feed, [g])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(value, np.full((400, 50), 2.0))
    assert peak < 4e6


# --- row-sparse gradients


def embedded(weight, ids=(1, 4, 1), **options):
    return F.embedding(paddle.to_tensor(list(ids)), weight, sparse=True, **options)


def test_rows_and_values():
    w = table()
    (embedded(w) * paddle.to_tensor([[1.0], [2.0], [3.0]], "float64")).sum().backward()
    assert w.grad.is_selected_rows()
    assert w.grad.rows.tolist() == [1, 4]
    assert w.grad.values.tolist() == [[4.0, 4.0], [2.0, 2.0]]
    assert (w.grad.shape, w.grad.dtype, w.grad.ndim, w.grad.size) == ([6, 2], "float64", 2, 12)
    dense = np.zeros((6, 2))
    dense[[1, 4]] = [[4.0, 4.0], [2.0, 2.0]]
    np.testing.assert_array_equal(w.grad.numpy(), dense)
    assert (w.grad * 2.0).numpy()[1].tolist() == [8.0, 8.0]


def test_gather_keeps_rows_of_the_first_axis():
    w = table()
    paddle.gather(w, paddle.to_tensor([-1, 2, -1])).sum().backward()
    assert w.grad.is_selected_rows()
    assert w.grad.rows.tolist() == [2, 5]
    assert w.grad.numpy()[:, 0].tolist() == [0.0, 0.0, 1.0, 0.0, 0.0, 2.0]
    w = table()
    paddle.gather(w, paddle.to_tensor([1]), axis=1).sum().backward()
    assert not w.grad.is_selected_rows()
    v = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    paddle.gather(v, paddle.to_tensor([[0, 2], [2, 2]])).sum().backward()
    assert (v.grad.rows.tolist(), v.grad.values.tolist()) == ([0, 2], [1.0, 3.0])
    assert v.grad.tolist() == [1.0, 0.0, 3.0]


def test_without_sparse_it_is_dense():
    w = table()
    F.embedding(paddle.to_tensor([1]), w).sum().backward()
    assert not w.grad.is_selected_rows()


def test_passes_accumulate_rows():
    w = table()
    embedded(w, [1, 2]).sum().backward()
    embedded(w, [2, 5]).sum().backward()
    assert w.grad.is_selected_rows()
    assert w.grad.rows.tolist() == [1, 2, 5]
    assert w.grad.values.tolist() == [[1.0, 1.0], [2.0, 2.0], [1.0, 1.0]]
    w.clear_grad()
    assert w.grad.is_selected_rows()
    assert not w.grad.numpy().any()
    embedded(w, [0]).sum().backward()
    assert w.grad.rows.tolist() == [0]


def test_passes_without_end_take_no_more_room_than_the_rows():
    ids = np.random.default_rng(0).integers(0, 6, (100, 3))
    w, dense = table(), table()
    for k, row in enumerate(ids):
        (embedded(w, row) * (k + 0.1)).sum().backward()
        (F.embedding(paddle.to_tensor(row), dense) * (k + 0.1)).sum().backward()
        assert sum(values.size for values, _, _ in w.grad.scattered.parts) < 150
    assert w.grad.is_selected_rows()
    np.testing.assert_allclose(w.grad.numpy(), dense.grad.numpy(), rtol=1e-13)


def test_a_dense_part_makes_the_sum_dense():
    w = table()
    (embedded(w).sum() + w.sum()).backward()
    assert not w.grad.is_selected_rows()
    assert w.grad.numpy()[:, 0].tolist() == [1.0, 3.0, 1.0, 1.0, 2.0, 1.0]
    w = table()
    embedded(w).sum().backward()
    w.sum().backward()
    assert w.grad.numpy()[:, 0].tolist() == [1.0, 3.0, 1.0, 1.0, 2.0, 1.0]


def test_memory_follows_the_rows():
    w = paddle.create_parameter([200_000, 8])
    sgd = paddle.optimizer.SGD(0.1, parameters=[w])

    def train() -> None:
        for _ in range(2):
            embedded(w).sum().backward()
            sgd.step()
            sgd.clear_grad(set_to_zero=False)

    train()  # loads what computes it
    tracemalloc.start()
    try:
        train()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1e5  # the table has 6.4 MB


def trained(sparse, make, ids, *, hold=False):
    w = table(dtype="float32")
    optimizer = make(w)
    held = []
    for step_ids in ids:
        if hold:
            held.append((w.numpy(), w.numpy().copy()))
        out = F.embedding(paddle.to_tensor(step_ids), w, sparse=sparse)
        (out * out).sum().backward()
        optimizer.step()
        optimizer.clear_grad()
    for view, before in held:
        np.testing.assert_array_equal(view, before)
    return w.numpy()


IDS = [[1, 4, 1], [0, 4, 2], [1, 1, 1]]


@pytest.mark.parametrize("hold", [False, True])
def test_sgd_by_rows_is_dense_sgd_to_the_bit(hold):
    def make(w):
        return paddle.optimizer.SGD(0.1, parameters=[w])

    np.testing.assert_array_equal(
        trained(True, make, IDS, hold=hold), trained(False, make, IDS, hold=hold)
    )


def test_adam_is_dense_unless_it_is_lazy():
    def adam(lazy):
        return lambda w: paddle.optimizer.Adam(0.1, parameters=[w], lazy_mode=lazy)

    np.testing.assert_array_equal(trained(True, adam(False), IDS), trained(False, adam(False), IDS))
    lazy = trained(True, adam(True), IDS)
    # Rows that every step reads move alike; those that one step left out stay there.
    same = [[1, 4, 0]] * 3
    np.testing.assert_array_equal(
        trained(True, adam(True), same)[[0, 1, 4]], trained(False, adam(False), same)[[0, 1, 4]]
    )
    dense = trained(False, adam(False), IDS)
    assert (lazy[4] != dense[4]).all()  # not read by the last step: its moments rest
    np.testing.assert_array_equal(lazy[[3, 5]], table(dtype="float32").numpy()[[3, 5]])


def test_a_graph_keeps_the_table_that_it_read():
    """An update by rows may write in place only what nothing else can see."""
    w = table()
    out = (w * w).sum() + embedded(w).sum()
    before = w.numpy().copy()
    embedded(w, [0]).sum().backward()
    paddle.optimizer.SGD(0.5, parameters=[w]).step()
    assert w.numpy()[0, 0] == before[0, 0] - 0.5
    w.clear_grad(set_to_zero=False)
    out.backward()
    expected = 2.0 * before
    expected[[1, 4]] += [[2.0], [1.0]]
    np.testing.assert_allclose(w.grad.numpy(), expected)


def test_a_parameter_with_a_sparse_gradient_is_pickled():
    w = table()
    embedded(w).sum().backward()
    for again in (pickle.loads(pickle.dumps(w)), copy.deepcopy(w)):
        np.testing.assert_array_equal(again.grad.numpy(), w.grad.numpy())
    assert w.grad.is_selected_rows()


def test_another_value_is_no_longer_sparse():
    w = table()
    embedded(w).sum().backward()
    w.grad.set_value(np.ones((6, 2)))
    assert not w.grad.is_selected_rows()
    assert w.grad.numpy().all()


@pytest.mark.parametrize(
    "make",
    [
        lambda **more: paddle.optimizer.SGD(0.1, **more),
        lambda **more: paddle.optimizer.Adam(0.1, **more),
        lambda **more: paddle.optimizer.Adam(0.1, lazy_mode=True, **more),
    ],
    ids=["sgd", "adam", "lazy-adam"],
)
def test_programs_train_rows_to_the_same_bits(make):
    """Through one embedding, and through two that share a table, whose rows add up."""
    paddle.seed(0)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        ids = paddle.static.data("ids", [None], "int64")
        w = paddle.static.create_parameter([6, 2], "float32", name="w_rows")
        first = F.embedding(ids, w, sparse=True)
        second = F.embedding(ids + 1, w, sparse=True)
        loss = (first * first).sum() + second.sum()
        optimizer = make()
        optimizer.minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    scope = paddle.static.global_scope()
    start = np.array(scope.find_var("w_rows").get_tensor())
    for step_ids in IDS:
        exe.run(main, {"ids": np.asarray(step_ids)}, [])
    found = np.array(scope.find_var("w_rows").get_tensor())
    leaf = paddle.to_tensor(start, stop_gradient=False)
    eager = make(parameters=[leaf])
    for step_ids in IDS:
        x = paddle.to_tensor(step_ids)
        out = F.embedding(x, leaf, sparse=True)
        ((out * out).sum() + F.embedding(x + 1, leaf, sparse=True).sum()).backward()
        assert leaf.grad.is_selected_rows()
        eager.step()
        eager.clear_grad()
    np.testing.assert_array_equal(found, leaf.numpy())


def test_a_fetched_gradient_is_dense():
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        ids = paddle.static.data("ids", [None], "int64")
        w = paddle.static.create_parameter([6, 2], "float32", name="w_fetched")
        loss = F.embedding(ids, w, sparse=True).sum()
        ((_, g),) = paddle.static.append_backward(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    (value,) = exe.run(main, {"ids": np.asarray([5, 5])}, [g])
    assert type(value) is np.ndarray
    assert value.tolist() == [[0.0, 0.0]] * 5 + [[2.0, 2.0]]


# --- what one reader gets does not depend on the others

ROWS = np.random.default_rng(1).integers(0, 5, 64)
WEIGHT = np.random.default_rng(2).normal(size=(5, 3))
FACTOR = np.random.default_rng(3).normal(size=(64, 3)) * 100.0


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_sum_has_the_same_bits_whatever_is_fetched(dtype):
    def loss_of(w, ids, c):
        return (F.embedding(ids, w) * c).sum() + (w * w).sum()

    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        w = paddle.static.data("w", [5, 3], dtype)
        ids = paddle.static.data("ids", [64], "int64")
        c = paddle.static.data("c", [64, 3], dtype)
        w.stop_gradient = False
        (g,) = paddle.static.gradients([loss_of(w, ids, c)], [w])
    parts = [name for name in program.global_block().vars if "@RENAME@" in name]
    assert len(parts) == 3
    feed = {"w": WEIGHT.astype(dtype), "ids": ROWS, "c": FACTOR.astype(dtype)}
    exe = paddle.static.Executor()
    (alone,) = exe.run(program, feed, [g])
    beside, *_ = exe.run(program, feed, [g, *parts])
    np.testing.assert_array_equal(beside, alone)
    x = paddle.to_tensor(feed["w"], stop_gradient=False)
    loss_of(x, paddle.to_tensor(ROWS), paddle.to_tensor(feed["c"])).backward()
    np.testing.assert_array_equal(alone, x.grad.numpy())


def test_a_sum_that_the_user_writes_adds_arrays():
    def parts(w, ids, c, gradient):
        (first,) = gradient([(F.embedding(ids, w) * c).sum()], [w])
        (second,) = gradient([(F.embedding(ids, w) * c * c).sum()], [w])
        return [first, second]

    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        w = paddle.static.data("w", [5, 3], "float32")
        ids = paddle.static.data("ids", [64], "int64")
        c = paddle.static.data("c", [64, 3], "float32")
        w.stop_gradient = False
        total = paddle.add_n(parts(w, ids, c, paddle.static.gradients))
    feed = {"w": WEIGHT.astype("float32"), "ids": ROWS, "c": FACTOR.astype("float32")}
    (found,) = paddle.static.Executor().run(program, feed, [total])
    x = paddle.to_tensor(feed["w"], stop_gradient=False)
    eager = parts(x, paddle.to_tensor(ROWS), paddle.to_tensor(feed["c"]), paddle.grad)
    np.testing.assert_array_equal(found, paddle.add_n(eager).numpy())


def test_a_lazy_update_is_lazy_though_the_gradient_is_fetched():
    def trained(fetch):
        paddle.seed(0)
        main, startup = paddle.static.Program(), paddle.static.Program()
        with paddle.static.program_guard(main, startup):
            ids = paddle.static.data("ids", [None], "int64")
            w = paddle.static.create_parameter([6, 2], "float32", name="w_lazy")
            loss = (F.embedding(ids, w, sparse=True) ** 2).sum()
            _, ((_, g),) = paddle.optimizer.Adam(0.1, lazy_mode=True).minimize(loss)
        exe, scope = paddle.static.Executor(), paddle.static.Scope()
        exe.run(startup, scope=scope)
        for step_ids in IDS:
            exe.run(main, {"ids": np.asarray(step_ids)}, [g] if fetch else [], scope=scope)
        return np.array(scope.find_var("w_lazy").get_tensor())

    np.testing.assert_array_equal(trained(True), trained(False))


def test_a_part_of_zeros_has_the_sign_of_a_sum_of_parts():
    """Written out alone or with others, by whoever adds them up."""
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    for parts in (1, 2):
        y = sum((x[:1] * -0.0).sum() for _ in range(parts))
        for recorded in (False, True):
            (g,) = paddle.grad(y, x, create_graph=recorded, retain_graph=True)
            assert not np.signbit(g.numpy()).any()
