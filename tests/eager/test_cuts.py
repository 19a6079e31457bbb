"""Notes of where values left the graph: they keep nothing alive, and do not grow."""

import gc
import threading
import weakref
from typing import Any

import numpy as np

import autograd_engine as paddle
from autograd_engine.eager import graph_cuts as cuts


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), dtype="float32", stop_gradient=False)


def test_nothing_is_kept_alive() -> None:
    x = leaf(1.0, 2.0)
    h = paddle.exp(x)
    array = weakref.ref(h._data)
    d = h.detach()
    view = h.numpy()
    assert cuts.cut_of(d._data).kind == "detach()"
    assert cuts.cut_of(view).kind == "numpy()"
    gone = weakref.ref(x)
    before = len(cuts._by_array)
    del x, h, d, view
    gc.collect()
    assert (array(), gone()) == (None, None)
    assert len(cuts._by_array) == before - 2


def test_lines_are_remembered_once_and_not_without_end() -> None:
    x = leaf(1.0)
    count = len(cuts._cuts)
    for _ in range(50):
        x.detach()
    assert len(cuts._cuts) <= count + 1
    scope: dict[str, Any] = {"x": x}
    for n in range(400):
        exec(compile("x.detach()", f"<line {n}>", "exec"), scope)
    assert len(cuts._cuts) <= cuts._MOST


def test_tensors_without_a_gradient_leave_no_note() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    before = len(cuts._by_array), list(cuts._cuts)
    x.detach()
    x.numpy()
    x[0].item()
    x.set_value([3.0, 4.0])
    x.stop_gradient = True
    assert (len(cuts._by_array), list(cuts._cuts)) == before


def test_a_way_through_numpy_and_back_is_one_cut() -> None:
    h = paddle.exp(leaf(1.0))
    back = paddle.to_tensor(h.numpy())
    assert cuts.cut_of(back._data) is cuts.cut_of(back._data)
    assert cuts.cut_of(back._data).op == "exp"
    assert cuts.cut_of(np.ones(1)) is None
    assert cuts.cut_of(None) is None


def test_threads_may_cut_at_once() -> None:
    failures = []

    def work() -> None:
        try:
            for _ in range(300):
                x = leaf(1.0)
                d = (x * 2.0).detach()
                assert cuts.cut_of(d._data).op == "multiply"
                with paddle.no_grad():
                    assert (x * 2.0).stop_gradient
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failures == []
