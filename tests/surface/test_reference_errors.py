"""Exceptions are of the class that the reference raises, beside that of the engine.

The classes are those of PaddlePaddle 3.3.1, asked with these very calls.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import errors
from tests.over import over

F = paddle.nn.functional


A = paddle.ones([2, 3])
X = paddle.to_tensor([1.0, 2.0], stop_gradient=False)


def parameters() -> Any:
    return [paddle.create_parameter([1], "float32")]


CALLS: dict[str, tuple[Any, type[Exception]]] = {
    "matmul shapes": (lambda: paddle.matmul(A, A), ValueError),
    "add shapes": (lambda: A + paddle.ones([2]), ValueError),
    "reshape": (lambda: paddle.reshape(A, [4]), ValueError),
    "concat shapes": (lambda: paddle.concat([A, paddle.ones([2, 2])]), ValueError),
    "stack shapes": (lambda: paddle.stack([A, paddle.ones([2, 2])]), ValueError),
    "axis": (lambda: paddle.sum(A, axis=5), ValueError),
    "index": (lambda: A[5], IndexError),
    "too many indices": (lambda: A[0, 0, 0], IndexError),
    "topk": (lambda: paddle.topk(A, 9), ValueError),
    "split": (lambda: paddle.split(A, 2, axis=1), ValueError),
    "dtype name": (lambda: paddle.cast(A, "nope"), TypeError),
    "wrong type": (lambda: paddle.matmul(A, "x"), ValueError),
    "None": (lambda: paddle.tanh(None), ValueError),
    "item": (lambda: A.item(), ValueError),
    "bool of many": (lambda: bool(A), AssertionError),
    "float of many": (lambda: float(A), AssertionError),
    "grad twice": (lambda: paddle.grad(X * X, [X, X]), RuntimeError),
    "grad unused": (
        lambda: paddle.grad(X * X, [paddle.to_tensor([1.0], stop_gradient=False)]),
        ValueError,
    ),
    "grad empty": (lambda: paddle.grad([], X), AssertionError),
    "backward shape": (lambda: (X * X).backward(paddle.ones([3])), AssertionError),
    "hook of a stopped tensor": (lambda: paddle.ones([1]).register_hook(lambda g: g), RuntimeError),
    "in-place on a leaf": (lambda: X.add_(paddle.ones([2])), ValueError),
    "set_value shape": (lambda: paddle.ones([2]).set_value(np.ones(3, "float32")), AssertionError),
    "learning rate type": (lambda: paddle.optimizer.SGD("a", parameters=parameters()), TypeError),
    "learning rate of a scheduler": (
        lambda: paddle.optimizer.SGD(
            paddle.optimizer.lr.StepDecay(0.1, 2), parameters=parameters()
        ).set_lr(0.1),
        RuntimeError,
    ),
    "scheduler argument": (lambda: paddle.optimizer.lr.StepDecay(0.1, 2.5), TypeError),
    "load missing file": (lambda: paddle.load("/nonexistent/x.pdparams"), ValueError),
    "save to a directory": (lambda: paddle.save({}, "/tmp/"), ValueError),
    "layer without forward": (lambda: paddle.nn.Layer()(A), NotImplementedError),
    "layer attribute": (lambda: paddle.nn.Linear(2, 3).nope, AttributeError),
    "linear shapes": (lambda: paddle.nn.Linear(2, 3)(paddle.ones([2, 5])), ValueError),
    "conv channels": (
        lambda: F.conv2d(paddle.ones([1, 2, 4, 4]), paddle.ones([3, 5, 3, 3])),
        ValueError,
    ),
    "cross_entropy label": (
        lambda: F.cross_entropy(paddle.ones([2, 3]), paddle.to_tensor([0, 9])),
        IndexError,
    ),
    "embedding index": (
        lambda: F.embedding(paddle.to_tensor([9]), paddle.ones([3, 2])),
        ValueError,
    ),
    "dropout p": (lambda: F.dropout(A, p=2.0), ValueError),
    "reduction": (lambda: F.mse_loss(A, A, reduction="nope"), ValueError),
    "one_hot": (lambda: F.one_hot(paddle.to_tensor([5]), 3), ValueError),
    "gather index": (lambda: paddle.gather(A, paddle.to_tensor([9])), IndexError),
    "cholesky": (lambda: paddle.linalg.cholesky(-paddle.eye(2)), ValueError),
    "inverse of singular": (lambda: paddle.linalg.inv(paddle.zeros([2, 2])), ValueError),
    "solve shapes": (lambda: paddle.linalg.solve(A, A), ValueError),
    "einsum": (lambda: paddle.einsum("ij,jk->ik", A, A), ValueError),
    "to_tensor object": (lambda: paddle.to_tensor(object()), TypeError),
    "set_device": (lambda: paddle.set_device("nope"), ValueError),
    "set_default_dtype": (lambda: paddle.set_default_dtype("int32"), TypeError),
    "static in eager mode": (lambda: paddle.static.data("x", [1]), AssertionError),
    "Sequential index": (lambda: paddle.nn.Sequential(paddle.nn.ReLU())[5], IndexError),
    "LayerList type": (lambda: paddle.nn.LayerList([3]), AssertionError),
    "DataLoader batch_size": (
        lambda: paddle.io.DataLoader(paddle.io.TensorDataset([A]), batch_size=-1),
        AssertionError,
    ),
    "TensorDataset lengths": (
        lambda: paddle.io.TensorDataset([A, paddle.ones([5])]),
        AssertionError,
    ),
    "Executor place": (lambda: paddle.static.Executor("a"), ValueError),
    "to_static backend": (
        lambda: paddle.jit.to_static(lambda x: X, backend="nonsense"),
        ValueError,
    ),
    "PyLayer without forward": (
        lambda: type("P", (paddle.autograd.PyLayer,), {}).apply(X),
        NotImplementedError,
    ),
    "jit.load missing": (lambda: paddle.jit.load("/nonexistent/x"), ValueError),
}


@over("name", list(CALLS))
def test_what_is_caught_there_is_caught_here(name: str) -> None:
    call, kind = CALLS[name]
    with pytest.raises(kind):
        call()


def rows() -> list[str]:
    """The table of the page, from the classes themselves."""
    found = []
    for name in errors.__all__:
        cls = getattr(errors, name)
        builtin = [c for c in cls.__mro__ if c.__module__ == "builtins"]
        known = [c for c in builtin if not any(issubclass(d, c) for d in builtin if d is not c)]
        text = str(cls.__doc__).partition("\n")[0]
        also = ", ".join(f"`{c.__name__}`" for c in known)
        found.append(f"| `paddle.errors.{name}` | {also} | {text} |")
    return found


def test_the_page_has_the_classes_as_they_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if line.startswith("| `paddle.errors.")]
    assert shown == rows(), "\n".join(rows())
