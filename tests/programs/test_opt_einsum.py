"""opt_einsum: contractions in the cheapest order, by the functions of the module of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_a_contraction_and_its_gradients() -> None:
    library: Any = pytest.importorskip("opt_einsum")
    import paddle

    random = np.random.default_rng(0)
    arrays = [random.normal(size=shape) for shape in ((3, 4), (4, 5, 6), (6, 3), (5,))]
    for equation in ("ij,jkl,lm,k->im", "ij,jkl,li,k->", "ij,jkl,lm,k->mi"):
        tensors = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
        expression = library.contract_expression(equation, *(a.shape for a in arrays))
        for found in (library.contract(equation, *tensors), expression(*tensors)):
            np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), rtol=1e-10)
            gradients = paddle.grad(found.sum(), tensors)
            wanted = paddle.grad(paddle.einsum(equation, *tensors).sum(), tensors)
            for g, w in zip(gradients, wanted, strict=True):
                np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-9)
