"""Arrays that stand for what was never computed."""

import numpy as np
import pytest

from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.registry.symbolic_zero import hollow, is_hollow


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_zeros_that_can_be_told(shape, dtype):
    spec = Spec(shape, np.dtype(dtype))
    made = hollow(spec)
    assert is_hollow(made)
    assert made.dtype == dtype
    assert made.shape == shape
    assert not made.any()
    assert not made.flags.writeable
    assert not is_hollow(made.copy())
    assert not is_hollow(np.zeros(shape, dtype))


def test_adding_minus_zero_changes_nothing():
    x = np.array([0.0, -0.0, 1.0])
    total = x + hollow(x, -0.0)
    assert np.signbit(total).tolist() == [False, True, False]
    assert is_hollow(hollow(x, -0.0))


def test_what_is_hollow_stays_so():
    x, zero = np.ones((2, 3)), hollow(np.ones((2, 3)))
    assert raw.unless_hollow(x, np.zeros((2, 3))) is x
    assert raw.unless_hollow(x, zero, np.zeros(1)) is x
    assert is_hollow(raw.unless_hollow(x, zero))
    assert is_hollow(raw.add_n(zero, zero))
    assert not is_hollow(raw.add_n(zero, x))


@pytest.mark.parametrize("name", ["log", "matmul", "sum", "reshape", "concat", "split", "relu"])
def test_a_guarded_pullback_makes_hollow_of_hollow(name):
    op = REGISTRY[name]
    attrs = {"sum": {"axis": (0,), "keepdims": False}, "reshape": {"shape": (6,)}}
    attrs |= {"concat": {"axis": 0}, "split": {"sizes": (1, 1), "axis": 0}}
    x = np.zeros((2, 3)) if name != "matmul" else np.zeros((2, 2))
    operands = (x, x) if name in ("matmul", "concat") else (x,)
    full = op.complete_attrs(attrs.get(name, {}))
    with np.errstate(divide="ignore"):
        out = op.kernel(*operands, **full)
    outs = out if op.multiple else (out,)
    pullback = op.pullback((1 << len(operands)) - 1).guarded()
    saved = pullback.save(*op.group(operands), *((tuple(outs),) if op.variadic_output else outs))
    for kind, wanted in ((hollow, True), (np.ones_like, False)):
        gs = [kind(np.asarray(o)) for o in outs]
        found = pullback.pull(raw, gs if op.multiple else gs[0], saved, full)
        assert all(is_hollow(np.asarray(g)) is wanted for g in found)
