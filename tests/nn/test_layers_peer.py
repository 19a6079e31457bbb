"""Layers beside those of Paddle, where it is installed: arguments, names, values, gradients."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import unique_name
from tests.nn.layer_cases import CASES, Case

peer = pytest.importorskip("paddle")

NAMES = sorted({case.name for case in CASES})
# A function cannot be written for both.
BUILT = [case for case in CASES if case.paddle != "cannot be made"]
COMPUTED = [case for case in BUILT if case.paddle != "nothing"]


def built(case: Case) -> tuple[Any, Any]:
    """Both layers, with the state of ours."""
    paddle.seed(1)
    with unique_name.guard():
        ours = case.make()
    with peer.utils.unique_name.guard():
        theirs = eval(f"nn.{case.text}", {"nn": peer.nn, "paddle": peer, "np": np})
    return ours, theirs


@pytest.mark.parametrize("name", NAMES)
def test_arguments(name: str) -> None:
    ours, theirs = getattr(paddle.nn, name), getattr(peer.nn, name)
    for method in ("__init__", "forward"):
        found, wanted = (
            [
                (p.name, p.default, p.kind)
                for p in inspect.signature(getattr(layer, method)).parameters.values()
            ]
            for layer in (ours, theirs)
        )
        assert [f[:2] for f in found] == [w[:2] for w in wanted]
        if method == "__init__":
            assert found == wanted


@pytest.mark.parametrize("case", BUILT, ids=lambda case: case.text)
def test_repr_and_parameters(case: Case) -> None:
    ours, theirs = built(case)
    assert repr(theirs) == case.repr
    assert ours.full_name() == theirs.full_name()
    if case.name == "AdaptiveLogSoftmaxWithLoss":
        return  # its clusters are not registered
    found = {n: (list(v.shape), v.name) for n, v in ours.state_dict().items()}
    wanted = {n: (list(v.shape), v.name) for n, v in theirs.state_dict().items()}
    assert found == wanted


@pytest.mark.parametrize("case", BUILT, ids=lambda case: case.text)
def test_start(case: Case) -> None:
    """Constants are equal, what is drawn has the spread of the other."""
    ours, theirs = built(case)
    for name, value in theirs.state_dict().items():
        a, b = ours.state_dict()[name].numpy(), value.numpy()
        if np.ptp(b) == 0:
            np.testing.assert_array_equal(a, b)
        elif a.size >= 60:
            assert 0.6 < a.std() / b.std() < 1.6, name
            assert abs(a.max()) < 4 * b.std()


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("case", COMPUTED, ids=lambda case: case.text)
def test_values_and_gradients(case: Case, training: bool) -> None:
    ours, theirs = built(case)
    if training and case.depends and "_mean" not in ours.state_dict():
        pytest.skip("drawn from another stream")
    theirs.set_state_dict({n: peer.to_tensor(v.numpy()) for n, v in ours.state_dict().items()})
    for layer in (ours, theirs):
        layer.train() if training else layer.eval()
    found, wanted = computed(paddle, ours, case), computed(peer, theirs, case)
    for a, b in zip(found[0], wanted[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)
    for a, b in zip(found[1], wanted[1], strict=True):
        if case.paddle == "all" and b is not None:  # it has no gradients of some labels
            np.testing.assert_allclose(a.reshape(b.shape), b, rtol=1e-3, atol=1e-4)
    for name, value in ours.state_dict().items():
        theirs_now = theirs.state_dict()[name].numpy()
        np.testing.assert_allclose(value.numpy(), theirs_now, rtol=1e-4, atol=1e-5, err_msg=name)


def computed(module: Any, layer: Any, case: Case) -> tuple[list[Any], list[Any]]:
    """Outputs, and gradients of inputs and parameters."""
    inputs = [module.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in case.arrays()]
    out = layer(*inputs)
    outs = list(out) if isinstance(out, (tuple, list)) else [out]
    total = 0.0
    for o in outs:
        if "float" in str(o.dtype):
            weights = np.cos(np.arange(int(np.prod(o.shape)))).astype("float32")
            total = total + module.sum(o * module.to_tensor(weights.reshape(o.shape)))
    total.backward()
    leaves = [*inputs, *(p for p in layer.parameters() if not p.stop_gradient)]
    gradients = [None if x.grad is None else np.asarray(x.grad.numpy()) for x in leaves]
    return [o.numpy() for o in outs], gradients
