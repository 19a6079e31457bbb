"""`saved_report`: what a graph keeps, held to what is freed with it."""

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, NotATensorError

N = 64
report = paddle.autograd.saved_report


def leaf(*shape: int) -> Any:
    x = paddle.randn(list(shape))
    x.stop_gradient = False
    return x


def test_one_row_for_each_array_with_the_rule_that_reads_it() -> None:
    x, w = leaf(4, 3), leaf(3, 2)
    y = paddle.exp(paddle.matmul(x, w)).sum()
    rows = {(r.op, r.name): r for r in report(y).rows}
    assert set(rows) == {("matmul", "x"), ("matmul", "y"), ("exp", "out")}
    assert rows["matmul", "x"].rules == ("y",)
    assert rows["matmul", "y"].rules == ("x",)
    assert rows["exp", "out"].shape == (4, 2)
    assert (rows["exp", "out"].dtype, rows["exp", "out"].nbytes) == ("float32", 32)
    assert rows["exp", "out"].location.startswith("test_saved_report.py:")


def test_leaves_and_tensors_in_use_are_held_anyway() -> None:
    x = leaf(4, 3)
    h = paddle.exp(x)
    y = (h * h).sum()
    found = report(y)
    held = {(r.op, r.name): r.held_by for r in found.rows}
    assert held["exp", "out"] == "something else in use"  # by h
    assert found.total_bytes == 0
    assert found.held_bytes == 48
    del h
    found = report(y)
    assert (found.total_bytes, found.held_bytes) == (48, 0)
    assert report((x * x).sum()).rows[0].held_by == x.name


def test_an_array_of_several_operations_counts_once() -> None:
    h = paddle.exp(leaf(4, 3))
    y = (h * h + paddle.tanh(h) * h).sum()
    del h
    found = report(y)
    shared = [r for r in found.rows if r.shared_with]
    assert len(shared) >= 3
    assert sum(r.first for r in shared) == 2
    assert found.total_bytes == 48 * 2  # of exp and of tanh


def test_a_view_counts_as_the_memory_it_keeps_alive() -> None:
    h = paddle.exp(leaf(10, 10))
    y = (h[0] * 2.0).sum() + (h[1] * h[2]).sum()
    del h
    found = report(y)
    assert {r.nbytes for r in found.rows if r.op == "multiply" and r.shape == (10,)} == {400}
    assert sum(r.nbytes for r in found.rows if r.first and not r.held_by) == found.total_bytes


def test_a_view_in_use_holds_the_memory() -> None:
    h = paddle.exp(leaf(10, 10))
    kept = h.numpy()[0]
    y = h.sum()
    del h
    assert report(y).total_bytes == 0
    del kept
    gc.collect()
    assert report(y).total_bytes == 400


def network(depth: int) -> Any:
    weights = [leaf(N, N) for _ in range(depth)]
    h = paddle.randn([256, N])
    for w in weights:
        h = paddle.tanh(paddle.matmul(h, w) * 0.5 + 1.0)
    return weights, paddle.mean(h * h)


def test_the_total_is_what_is_freed() -> None:
    network(2)[1].backward()  # what is made once
    gc.collect()
    tracemalloc.start()
    try:
        weights, loss = network(6)
        gc.collect()
        total = report(loss).total_bytes
        before = tracemalloc.get_traced_memory()[0]
        loss._node = None  # the graph goes
        gc.collect()
        freed = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert total > 6 * 256 * N * 4
    assert abs(freed - total) < 0.05 * total
    assert len(weights) == 6


def test_what_a_leaf_that_wants_no_gradient_would_spare() -> None:
    x, w = leaf(256, N), leaf(N, N)
    h = paddle.exp(x)  # kept by exp for x, by matmul for w
    y = paddle.matmul(h, w).sum()
    del h
    found = report(y)
    assert found.freed_by.get(x.name, 0) == 0  # matmul needs it for w
    assert "freed_by" not in str(found)
    a, b = leaf(256, N), leaf(256, N)
    product = (paddle.exp(a) * paddle.exp(b)).sum()
    found = report(product)
    assert found.freed_by == {a.name: 256 * N * 4, b.name: 256 * N * 4} or found.freed_by == {}
    deep = paddle.tanh(paddle.tanh(paddle.tanh(a)))
    found = report(deep.sum())
    assert found.freed_by[a.name] == found.total_bytes


@pytest.mark.parametrize("which", [0, 1])
def test_sparing_is_what_is_spared(which: int) -> None:
    def build(frozen: int | None) -> tuple[Any, Any]:
        leaves = [leaf(32, 8), leaf(32, 8)]
        if frozen is not None:
            leaves[frozen].stop_gradient = True
        a, b = leaves
        h = paddle.tanh(paddle.sin(a) + 1.0)
        k = paddle.nn.functional.sigmoid(b)
        y = (h * k * 2.0).sum()
        return leaves, y

    leaves, y = build(None)
    found = report(y)
    _, without = build(which)
    spared = found.freed_by.get(leaves[which].name, 0)
    assert spared == found.total_bytes - report(without).total_bytes


def test_the_table_is_sorted_and_sums_up_the_rest() -> None:
    _, loss = network(12)
    found = report(loss)
    sizes = [r.nbytes for r in found.rows]
    assert sizes == sorted(sizes, reverse=True)
    text = str(found)
    assert "more arrays" in text
    assert "KiB kept by the graph alone" in text or "MiB kept by the graph alone" in text
    assert "rule of" in text
    assert text.splitlines()[0].split()[0] == "bytes"


def test_a_freed_graph_says_so() -> None:
    x = leaf(3)
    y = paddle.exp(x).sum()
    y.backward()
    found = report(y)
    assert (found.rows, found.total_bytes) == ((), 0)
    assert "freed already by the backward pass at test_saved_report.py:" in str(found)


def test_no_graph_and_no_tensor() -> None:
    assert report(paddle.ones([2])).total_bytes == 0
    with pytest.raises(ArgumentError, match="outputs is empty; give it the loss"):
        report([])
    with pytest.raises(NotATensorError, match="give it the loss"):
        report(np.ones(2))


@pytest.mark.thorough
def test_a_chain_of_a_hundred_thousand_operations() -> None:
    x = leaf(1)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    found = report(y)
    assert len(found.rows) == 100_000
    assert found.freed_by[x.name] == found.total_bytes


def test_in_a_notebook_it_is_escaped() -> None:
    x = leaf(2)
    x.name = "<b>"
    page = report((x * x).sum())._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "<script" not in page
