"""The quantum circuit: its gradients, its two modes, and what it learns."""

from __future__ import annotations

import numpy as np
import pytest

import autograd_engine as paddle
from tests.examples.test_training_examples import load

circuit = load("quantum_circuit")


def test_gradients_are_those_of_the_shift_rule() -> None:
    """Turning by a quarter to either side gives the derivative by an angle exactly."""
    angles = circuit.first_angles(3, 1)
    circuit.energy(angles).backward()
    at = angles.numpy()
    for index in [(0, 0, 0), (1, 2, 1), (4, 1, 0), (2, 0, 1)]:
        quarter = np.zeros_like(at)
        quarter[index] = np.pi / 2
        beside = [circuit.energy(paddle.to_tensor(at + s * quarter)).item() for s in (1, -1)]
        assert angles.grad.numpy()[index] == pytest.approx((beside[0] - beside[1]) / 2, abs=1e-12)


def test_a_circuit_keeps_lengths() -> None:
    state = circuit.prepared(circuit.first_angles(4, 2)).numpy()
    assert np.vdot(state, state).real == pytest.approx(1.0)


def test_both_modes_learn_the_same_bits() -> None:
    eager, static = (
        circuit.main(["--spins", "2", "--steps", "20", "--mode", mode])
        for mode in ("eager", "static")
    )
    assert eager["energies"] == static["energies"]
    np.testing.assert_array_equal(eager["angles"], static["angles"])


def test_it_learns_the_ground_state() -> None:
    found = circuit.main(["--mode", "static"])
    assert found["least"] == pytest.approx(-3.4939592, abs=1e-7)
    assert 0.0 <= found["above"] < 1e-5
    assert found["fidelity"] > 0.99999


@pytest.mark.parametrize("arguments", [["--spins", "1"], ["--steps", "0"], ["--seed", "-1"]])
def test_wrong_arguments_are_explained(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        circuit.main(arguments)
    assert arguments[0] in capsys.readouterr().err
