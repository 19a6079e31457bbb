"""Functions of `paddle.incubate`, which are others under older names or in one call."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, ShapeError
from tests.registry.sampling import real

incubate = paddle.incubate


def softmax(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def test_masked_softmax_and_its_gradients():
    x = paddle.to_tensor(real(1, 2, 3, 3), stop_gradient=False)
    mask = paddle.to_tensor(real(1, 1, 3, 3))
    out = incubate.softmax_mask_fuse(x, mask)
    np.testing.assert_allclose(out.numpy(), softmax(x.numpy() + mask.numpy()), rtol=1e-12)
    lower = np.where(np.tri(3, dtype=bool), x.numpy(), -np.inf)
    out = incubate.softmax_mask_fuse_upper_triangle(x)
    np.testing.assert_allclose(out.numpy(), softmax(lower), rtol=1e-12)
    for function in (
        lambda x: incubate.softmax_mask_fuse(x, mask),
        incubate.softmax_mask_fuse_upper_triangle,
    ):
        assert paddle.testing.gradcheck(function, [x])
        assert paddle.testing.gradgradcheck(function, [x])
    with pytest.raises(ShapeError, match="two axes at least"):
        incubate.softmax_mask_fuse_upper_triangle(paddle.ones([3]))


def test_reductions_have_numbers_too():
    x = paddle.to_tensor([1.0, 2.0])
    for names, wanted in (
        (("sum", "SUM", 0), 3.0),
        (("mean", 1), 1.5),
        (("none", 2), [1.0, 2.0]),
    ):
        for name in names:
            assert incubate.identity_loss(x, name).tolist() == wanted
    for wrong in ("most", 3, -1, True, None):
        with pytest.raises(ArgumentError, match="or the number of one of them"):
            incubate.identity_loss(x, wrong)


def test_older_names():
    x, ids = paddle.to_tensor([[1.0], [2.0], [4.0]]), paddle.to_tensor([0, 0, 2])
    assert incubate.segment_sum is paddle.geometric.segment_sum
    assert incubate.graph_send_recv(x, ids, ids, "mean").tolist() == [[1.0], [0.0], [4.0]]
    nodes, near = paddle.to_tensor([5, 2]), paddle.to_tensor([2, 9, 9])
    count = paddle.to_tensor([1, 2])
    found = incubate.graph_reindex(nodes, near, count)
    assert [v.tolist() for v in found] == [[1, 2, 2], [0, 1, 1], [5, 2, 9]]
    with pytest.raises(ShapeError, match="reindex_graph: count adds up to 3, and there are 2"):
        paddle.geometric.reindex_graph(nodes, near[:2], count)


def test_gradients_of_tensors_and_of_variables():
    x = paddle.to_tensor([3.0], stop_gradient=False)
    assert incubate.autograd.grad(x * x, x).tolist() == [6.0]
    assert [g.tolist() for g in incubate.autograd.grad(x * x, [x])] == [[6.0]]
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        x = paddle.static.data("x", [1])
        x.stop_gradient = False
        reverse = incubate.autograd.grad(x * x, x)
        forward = incubate.autograd.forward_grad(x * x, x)
    incubate.autograd.enable_prim()
    assert incubate.autograd.prim_enabled()
    feed = {"x": np.float32([3.0])}
    got = paddle.static.Executor().run(main, feed, [reverse, forward])
    assert [v.tolist() for v in got] == [[6.0], [6.0]]
