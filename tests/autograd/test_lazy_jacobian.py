"""``jacobian`` and ``hessian`` of tensors: matrices whose rows are computed when asked for."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import (
    Hessian,
    Jacobian,
    directions,
    hessian,
    jacobian,
)
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    GraphFreedError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.incubate import autograd as incubate

V = np.array([1.0, 2.0, 3.0])
M = np.arange(1.0, 7.0).reshape(3, 2)


def leaf(a):
    return paddle.to_tensor(np.asarray(a, np.float64), stop_gradient=False)


@pytest.fixture
def passes(monkeypatch):
    """How many directions each batched pass carried."""
    counts = []
    plain = directions.run_backward

    def counted(roots, **options):
        counts.append(roots[0][1].count)
        return plain(roots, **options)

    monkeypatch.setattr(directions, "run_backward", counted)
    return counts


def test_nothing_is_computed_before_it_is_asked_for(passes):
    x = leaf(V)
    jac = jacobian(x * x.sum(), x)
    assert jac.shape == [3, 3]
    assert passes == []
    assert jac[1].tolist() == [2.0, 8.0, 2.0]
    assert jac[1, 2].item() == 2.0
    assert jac[-2].tolist() == [2.0, 8.0, 2.0]
    assert passes == [1]  # the row is kept
    np.testing.assert_array_equal(jac[1:].numpy(), [[2, 8, 2], [3, 3, 9]])
    assert passes == [1, 1]  # only the row that was missing
    np.testing.assert_array_equal(jac[:].numpy(), [[7, 1, 1], [2, 8, 2], [3, 3, 9]])
    assert passes == [1, 1, 1]
    assert jac[0].tolist() == [7.0, 1.0, 1.0]
    assert jac.numpy().shape == (3, 3)
    assert passes == [1, 1, 1]


def test_all_rows_take_one_pass(passes):
    x = leaf(V)
    jac = jacobian(x * x.sum(), x)
    jac[:]
    jac[0:2, 1]
    assert passes == [3]


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        (0, 1),
        (slice(None), 1),
        slice(1, 3),
        (slice(0, 2), 1),
        slice(None, None, -1),
        ...,
        (..., 1),
        None,
        (slice(None), slice(1, None)),
        (2, slice(None)),
        slice(2, 1),
        (slice(2, 1), 0),
        (slice(0, 3, 2), slice(0, 3, 2)),
    ],
    ids=repr,
)
def test_keys_are_those_of_the_matrix(key):
    x = leaf(V)
    full = np.diag(2 * V)
    jac = jacobian(x * x, x)
    found = jac[key]
    assert isinstance(found, paddle.Tensor)
    np.testing.assert_array_equal(found.numpy(), full[key])
    np.testing.assert_array_equal(jac[key].numpy(), full[key])
    jac[:]
    np.testing.assert_array_equal(jac[key].numpy(), full[key])


def test_keys_of_a_batch():
    x = leaf(M)
    jac = jacobian(x * x, x, batch_axis=0)
    assert jac.shape == [3, 2, 2]
    full = np.stack([np.diag(2 * row) for row in M])
    for key in (
        0,
        (0, 1),
        (slice(None), 0),
        (slice(1, 3), 1, 0),
        slice(None),
        (..., 0),
        (slice(None), slice(0, 1)),
        (slice(0, 2), slice(1, 2), slice(None)),
    ):
        fresh = jacobian(x * x, x, batch_axis=0)
        np.testing.assert_array_equal(fresh[key].numpy(), full[key])


def test_a_batch_takes_as_many_directions_as_an_entry_has(passes):
    x = leaf(M)
    jac = jacobian(paddle.sin(x), x, batch_axis=0)
    jac[:, 1]
    assert passes == [1]
    jac[:]
    assert passes == [1, 1]


def test_shapes_of_batches():
    x, v = leaf(M), leaf(V)
    assert jacobian(x.sum(1), x, batch_axis=0).shape == [3, 2]
    assert list(jacobian(x.sum(1), x, batch_axis=0)[:].shape) == [3, 2]
    assert jacobian(v * v, v, batch_axis=0)[:].tolist() == [2.0, 4.0, 6.0]
    w = v.reshape([3, 1]) * x
    assert jacobian(w, v, batch_axis=0).shape == [3, 2]
    np.testing.assert_array_equal(jacobian(w, v, batch_axis=0)[:].numpy(), M)


def test_0_d_has_no_axis():
    x, s = leaf(V), leaf(2.0)
    jac = jacobian((x * x).sum(), x)
    assert (jac.shape, jac[:].tolist(), jac[1].item()) == ([3], [2.0, 4.0, 6.0], 4.0)
    jac = jacobian(s * x, s)
    assert (jac.shape, jac[:].tolist(), jac[2].item()) == ([3], [1.0, 2.0, 3.0], 3.0)
    jac = jacobian(s * s, s)
    assert (jac.shape, jac[:].item(), jac[...].item()) == ([], 4.0, 4.0)


def test_sequences_give_tuples():
    x, y = leaf(V), leaf([4.0, 5.0])
    u, w = x * x, y.sum() * x
    rows = jacobian([u, w], (x, y))
    assert isinstance(rows, tuple)
    assert [[jac.shape for jac in row] for row in rows] == [[[3, 3], [3, 2]], [[3, 3], [3, 2]]]
    np.testing.assert_array_equal(rows[0][1][:].numpy(), np.zeros((3, 2)))
    np.testing.assert_array_equal(rows[1][1][:].numpy(), np.stack([V, V], 1))
    first, second = jacobian(w, [x, y])
    assert isinstance(first, Jacobian)
    np.testing.assert_array_equal(second[:].numpy(), np.stack([V, V], 1))


def test_hessian():
    x, y = leaf(V), leaf([4.0, 5.0])
    hess = hessian((x**3).sum(), x)
    assert isinstance(hess, Hessian)
    assert hess.shape == [3, 3]
    np.testing.assert_allclose(hess[:].numpy(), np.diag(6 * V))
    assert hess[1].tolist() == [0.0, 12.0, 0.0]
    blocks = hessian((x**2).sum() * y.sum(), [x, y])
    np.testing.assert_allclose(blocks[0][1][:].numpy(), np.stack([2 * V, 2 * V], 1))
    np.testing.assert_allclose(blocks[1][0][:].numpy(), np.stack([2 * V, 2 * V]))
    np.testing.assert_allclose(blocks[1][1][:].numpy(), np.zeros((2, 2)))
    np.testing.assert_allclose(hessian((x * x).sum().reshape([1]), x)[:].numpy(), 2 * np.eye(3))
    unused = hessian((x * x).sum(), [x, y])
    np.testing.assert_array_equal(unused[1][1][:].numpy(), np.zeros((2, 2)))


def test_hessian_of_a_batch():
    x = leaf(M)
    for y in ((x**3).sum(1), (x**3).sum(1, keepdim=True)):
        hess = hessian(y, x, batch_axis=0)
        assert hess.shape == [3, 2, 2]
        np.testing.assert_allclose(hess[:].numpy(), np.stack([np.diag(6 * row) for row in M]))


def test_results_have_a_history():
    x = leaf(V)
    jac = jacobian(x**3, x)
    (g,) = paddle.grad(jac[1].sum(), x, retain_graph=True)
    assert g.tolist() == [0.0, 12.0, 0.0]
    (g,) = paddle.grad(jac[:].sum(), x)
    assert g.tolist() == (6 * V).tolist()
    third = jacobian(hessian((x**4).sum(), x)[1], x)
    np.testing.assert_allclose(third[:].numpy()[1, 1], 48.0)
    assert jac[0].stop_gradient is False


def test_no_history_no_derivatives():
    fixed = paddle.to_tensor(V)
    jac = jacobian(fixed * fixed, fixed)
    np.testing.assert_array_equal(jac[:].numpy(), np.zeros((3, 3)))
    x = leaf(V)
    np.testing.assert_array_equal(jacobian(x, x)[:].numpy(), np.eye(3))
    np.testing.assert_array_equal(jacobian(x * 2.0, leaf(V))[:].numpy(), np.zeros((3, 3)))


def test_inner_tensors_may_be_differentiated_by():
    x = leaf(V)
    z = x * x
    np.testing.assert_allclose(jacobian(z**2, z)[:].numpy(), np.diag(2 * V**2))


def test_it_is_the_matrix_of_then():
    x = leaf(V)
    y = x * x
    jac = jacobian(y, x)
    x.set_value(np.zeros(3))
    y += 1.0
    np.testing.assert_array_equal(jac[:].numpy(), np.diag(2 * V))


def test_it_can_be_computed_with():
    x = leaf(V)
    jac, full = jacobian(x * x, x), np.diag(2 * V)
    np.testing.assert_array_equal((jac + 1.0).numpy(), full + 1)
    np.testing.assert_array_equal((1.0 - jac).numpy(), 1 - full)
    np.testing.assert_array_equal((jac * jac).numpy(), full * full)
    np.testing.assert_array_equal((jac @ x).numpy(), full @ V)
    np.testing.assert_array_equal((x + jac).numpy(), V + full)
    np.testing.assert_array_equal((jac**2).numpy(), full**2)
    np.testing.assert_array_equal((-jac).numpy(), -full)
    np.testing.assert_array_equal((jac == jac).numpy(), np.ones((3, 3), bool))
    np.testing.assert_array_equal(np.asarray(jac), full)
    assert jac.sum().item() == 12.0
    assert len(jac) == 3
    assert [row.tolist() for row in jac] == full.tolist()
    assert repr(jac) == "<Jacobian [3, 3], all of its rows computed>"


def test_chunks(passes):
    x = leaf(V)
    jac = jacobian(x * x, x, chunk_size=2)
    np.testing.assert_array_equal(jac[:].numpy(), np.diag(2 * V))
    assert passes == [2, 1]


def test_a_graph_that_was_freed_says_so():
    x = leaf(V)
    y = paddle.exp(x)
    jac = jacobian(y, x)
    y.sum().backward()
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        jac[0]


X, BATCH = leaf(V), leaf(M)
MISTAKES = [
    (lambda: jacobian(BATCH * BATCH, BATCH), ShapeError, r"batch_axis=0 if the first axis"),
    (lambda: jacobian(BATCH.sum(), BATCH), ShapeError, r"jacobian\(func, xs\), for any shape"),
    (lambda: jacobian(X.reshape([3, 1]) * BATCH, X), ShapeError, r"ys\[0\] has shape \[3, 2\]"),
    (lambda: jacobian(X.sum(), X, batch_axis=0), ShapeError, r"ys\[0\] has shape \[\]"),
    (lambda: jacobian(X[:2], X, batch_axis=0), ShapeError, "must have one size"),
    (lambda: jacobian(X * X, X, batch_axis=1), ArgumentError, "None or 0, got 1"),
    (lambda: jacobian(X * X, X, batch_axis=True), ArgumentError, "None or 0, got True"),
    (lambda: jacobian(X * X, X, batch_axis="0"), ArgumentError, "None or 0, got '0'"),
    (lambda: hessian(X * X, X), ShapeError, "must have one element, got"),
    (lambda: hessian((BATCH * BATCH).sum(), BATCH), ShapeError, r"xs\[0\] has shape \[3, 2\]"),
    (lambda: hessian(BATCH * BATCH, BATCH, batch_axis=0), ShapeError, "for each of the batch"),
    (lambda: jacobian(X * X, [1.0]), NotATensorError, "to_tensor"),
    (lambda: jacobian([X * X, 3], X), NotATensorError, r"ys\[1\] must be a Tensor"),
    (lambda: jacobian(paddle.to_tensor([1]), X), DTypeError, "astype"),
    (lambda: jacobian(X * X, X)[3], IndexError, "use -3 to 2"),
    (lambda: jacobian(X * X, X, chunk_size=-1), ArgumentError, "positive int"),
    (lambda: len(jacobian(X.sum(), X.sum())), TypeError, r"J\[:\]"),
]


@pytest.mark.parametrize(("wrong", "error", "hint"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_explained(wrong, error, hint):
    with pytest.raises(error, match=hint):
        wrong()


# --- the older names


def test_matrices_of_functions_flattened_and_joined():
    x, y = leaf(V), leaf([4.0, 5.0])
    jac = incubate.Jacobian(lambda x, y: (x * y.sum(), x), [x, y])
    assert jac.shape == [6, 5]
    expected = np.zeros((6, 5))
    expected[:3, :3], expected[:3, 3:] = 9 * np.eye(3), np.stack([V, V], 1)
    expected[3:, :3] = np.eye(3)
    np.testing.assert_array_equal(jac[:].numpy(), expected)
    np.testing.assert_array_equal(jac[4].numpy(), expected[4])
    a = leaf(M)
    assert incubate.Jacobian(paddle.matmul, [a, a.t()]).shape == [9, 12]


def test_matrices_of_functions_with_a_batch():
    x = leaf(M)
    jac = incubate.Jacobian(lambda x: x * x, x, is_batched=True)
    assert jac.shape == [3, 2, 2]
    np.testing.assert_array_equal(jac[:].numpy(), np.stack([np.diag(2 * row) for row in M]))
    hess = incubate.Hessian(lambda x: (x**3).sum(1, keepdim=True), x, is_batched=True)
    np.testing.assert_allclose(hess[:].numpy(), np.stack([np.diag(6 * row) for row in M]))


def test_hessian_of_a_function_as_one_matrix():
    x, y = leaf(V), leaf([4.0, 5.0])
    hess = incubate.Hessian(lambda x, y: (x * x).sum() * y.sum(), [x, y])
    expected = np.zeros((5, 5))
    expected[:3, :3] = 18 * np.eye(3)
    expected[:3, 3:], expected[3:, :3] = np.stack([2 * V] * 2, 1), np.stack([2 * V] * 2)
    np.testing.assert_allclose(hess[:].numpy(), expected)
    (g,) = paddle.grad(hess[:].sum(), x)
    assert np.isfinite(g.numpy()).all()
    with pytest.raises(ShapeError, match="one element"):
        incubate.Hessian(lambda x: x, x)
