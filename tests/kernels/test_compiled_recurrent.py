"""Recurrent layers in C: near NumPy's, each sequence by itself, on any number of threads."""

from typing import Any

import numpy as np
import pytest

from autograd_engine.compiler.native import runtime
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.testing.modes import strided
from tests.kernels.test_compiled import DTYPES, both, close
from tests.over import over

pytestmark = pytest.mark.skipif(
    compiled("recurrent.layer", np.zeros(1)) is None, reason="no C compiler on PATH"
)
SIZES = [(40, 5, 16), (7, 13, 77), (4, 1, 130)]  # time, batch, hidden
# Gates, slopes, states, and blocks of the weight, of each kind.
KINDS = {"plain": (1, 1, 1, 1), "gru": (4, 5, 1, 3), "lstm": (4, 6, 2, 4)}
# The axis of sequences of each operand; LAYER of the others.
AXES = {
    "gate_scan": (None, 2, 2, 1),
    "gate_scan_adjoint": (None, 2, 2, 1),
    "gate_slopes": (2, 2),
    "layer_adjoint": (None, 2, 2, 2, 1),
}
LAYER = (1, None, 1, None)
Case = tuple[str, list[Any], dict[str, Any]]


def cases(dtype: str, time: int, batch: int, size: int) -> list[Case]:
    """Each recurrent operation with its operands, of which the second axis from the end, or of
    inflow the second, is that of sequences.
    """
    random = np.random.default_rng(0)

    def real(*shape: int) -> Any:
        return np.asarray(random.standard_normal(shape) * 0.3, dtype)

    found: list[Case] = []
    layers: list[tuple[str, int, int, dict[str, Any]]] = [
        ("lstm_scan", 4, 2, {}),
        ("gru_scan", 3, 1, {}),
        ("rnn_scan", 1, 1, {"activation": "tanh"}),
        ("rnn_scan", 1, 1, {"activation": "relu"}),
    ]
    for name, gates, states, attrs in layers:
        operands = [real(time, batch, gates, size), real(gates * size, size) * 0.5]
        operands.append(real(states, batch, size))
        found.append((name, operands + [real(size)] * (name == "gru_scan"), attrs))
        if name == "lstm_scan":
            found.append((name, [*operands, real(4 * size)], attrs))
    for kind, (gates, slopes, states, rows) in KINDS.items():
        operands = [real(rows * size, size) * 0.3, real(time, slopes, batch, size)]
        operands += [real(states, time + 1, batch, size), real(time, batch, gates, size)]
        for name in ("gate_scan", "gate_scan_adjoint"):
            found += [(name, operands, {"kind": kind}), (name, operands[:3], {"kind": kind})]
        if kind != "plain":
            kept, flows = operands[1][:, 1:], operands[2:]
            values = real(states, time + 1, batch, size)
            found.append(("gate_slopes", [kept, values], {"kind": kind}))
            found.append(("layer_adjoint", [operands[0], kept, values, *flows], {"kind": kind}))
    return found


def computed(case: Case) -> list[Any]:
    name, operands, attrs = case
    out = REGISTRY[name].kernel(*operands, **attrs)
    return list(out) if isinstance(out, tuple) else [out]


@over("dtype", DTYPES)
@over("sizes", SIZES)
def test_results_are_near_those_of_numpy(dtype: str, sizes: tuple[int, int, int]) -> None:
    for name, operands, attrs in cases(dtype, *sizes):
        apart = [strided(a) for a in operands]
        assert close(*both(name, *operands, **attrs)), (name, attrs)
        assert close(*both(name, *apart, **attrs)), (name, attrs)


@over("dtype", DTYPES)
def test_what_is_not_finite(dtype: str) -> None:
    """It stays in its sequence."""
    for name, operands, attrs in cases(dtype, 9, 8, 60):
        if name in AXES:
            continue
        for k, special in enumerate((np.inf, -np.inf, np.nan, 1e4)):
            operands[0][2, k, :, 5] = special
        ours, theirs = both(name, *operands, **attrs)
        with np.errstate(invalid="ignore"):
            assert close(ours, theirs), (name, attrs)
        assert np.isfinite(ours[-1][..., 3:, :]).all()


def _bits(case: Case) -> list[bytes]:
    return [np.ascontiguousarray(a).tobytes() for a in computed(case)]


@over("dtype", DTYPES)
def test_bits_do_not_depend_on_threads(dtype: str) -> None:
    before = runtime.threads()
    for case in cases(dtype, 20, 23, 70):
        found = []
        for count in (1, 2, 3):
            runtime.set_threads(count)
            found.append(_bits(case))
        runtime.set_threads(before)
        assert found[0] == found[1] == found[2], case[0]


@over("dtype", DTYPES)
def test_a_sequence_has_the_same_bits_in_any_batch(dtype: str) -> None:
    for name, operands, attrs in cases(dtype, 8, 11, 70):
        axes = AXES.get(name, LAYER)

        def alone(operand: Any, axis: int | None) -> Any:
            return operand if axis is None else operand.take([9], axis)

        some = [alone(a, axis) for a, axis in zip(operands, axes, strict=False)]
        whole, single = computed((name, operands, attrs)), computed((name, some, attrs))
        # Of a linear recurrence the gates come first, and have the batch before them.
        for k, (many, one) in enumerate(zip(whole, single, strict=True)):
            axis = 1 if name in AXES and len(whole) == 2 and k == 0 else 2
            assert np.array_equal(many.take([9], axis), one), (name, attrs)


def test_an_empty_batch() -> None:
    for case in cases("float32", 6, 0, 100):
        assert all(a.size == 0 for a in computed(case)), case[0]
