"""autoray: functions by their names of NumPy, for the class of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

CALLS: dict[str, Any] = {
    "clip": lambda x: (x, 0.2, 0.5),
    "concatenate": lambda x: ([x, x], 1),
    "einsum": lambda x: ("ij,kj->ik", x, x),
    "kron": lambda x: (x, x),
    "linalg.eigh": lambda x: (x @ x.T,),
    "linalg.inv": lambda x: (x,),
    "linalg.norm": lambda x: (x,),
    "linalg.svd": lambda x: (x,),
    "linalg.qr": lambda x: (x,),
    "pad": lambda x: (x, ((1, 1), (0, 2))),
    "split": lambda x: (x, [1]),
    "sum": lambda x: (x, 1),
    "tensordot": lambda x: (x, x, 1),
    "trace": lambda x: (x,),
    "transpose": lambda x: (x,),
    "where": lambda x: (x > 0.5, x, -x),
}


def test_functions_are_those_of_numpy() -> None:
    autoray: Any = pytest.importorskip("autoray")
    import paddle

    autoray.register_backend(paddle.Tensor, "paddle")
    array = np.random.default_rng(0).uniform(0.1, 1.0, (3, 3))
    wrong = []
    for name, arguments in CALLS.items():
        ours = autoray.do(name, *arguments(paddle.to_tensor(array)))
        numpys = autoray.do(name, *arguments(array))
        many = isinstance(numpys, (list, tuple))
        for a, b in zip(ours, numpys, strict=True) if many else [(ours, numpys)]:
            # Vectors of a decomposition have a sign of their own.
            close = np.allclose(np.abs(autoray.to_numpy(a)), np.abs(b))
            if not isinstance(a, paddle.Tensor) or not close:
                wrong.append(name)
    assert not wrong


def test_a_gradient_through_what_it_calls() -> None:
    autoray: Any = pytest.importorskip("autoray")
    import paddle

    autoray.register_backend(paddle.Tensor, "paddle")
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    autoray.do("trace", autoray.do("einsum", "ij,jk->ik", x, x)).backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy().T)
