"""Learn the ground state of a chain of spins with a small quantum circuit.

The energy of n spins in a row, of which neighbours like to point the same way and a field turns
each over, is the Hermitian matrix::

    H = - sum_k Z_k Z_(k+1) - field * sum_k X_k

of 2^n rows. Its least eigenvalue is the energy of the ground state. A circuit (Peruzzo et al. 2014)
turns each spin by angles of its own, ties neighbours together, and repeats that; the angles are
learned by descent on the energy <psi|H|psi> of the state psi that comes out. States are complex,
angles and energy real: gradients go through the complex part of the computation and come back real.

    python examples/quantum_circuit.py                      # 3 spins, 300 steps
    python examples/quantum_circuit.py --mode static        # the circuit compiled, to the same bits

What is learned is judged by diagonalisation: the energy above the least one, and how much of psi
lies along the eigenvector.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any

try:
    import numpy as np
    from numpy.typing import NDArray

    import autograd_engine as paddle
except ModuleNotFoundError as missing:
    sys.exit(f'{missing.name} is not installed: pip install "autograd-engine[examples]"')

Array = NDArray[Any]
Tensor = paddle.Tensor

FIELD = 1.0
LAYERS = 5
RATE = 0.05


# --- the chain of spins


def on_spin(matrix: Array, k: int, spins: int) -> Array:
    """The matrix that acts on spin k, and leaves the others alone."""
    factors = [matrix if j == k else np.eye(2) for j in range(spins)]
    return np.asarray(functools.reduce(np.kron, factors))


def hamiltonian(spins: int, field: float = FIELD) -> Array:
    """The energy [2^n, 2^n]."""
    x, z = np.array([[0.0, 1.0], [1.0, 0.0]]), np.diag([1.0, -1.0])
    zs = [on_spin(z, k, spins) for k in range(spins)]
    ties = sum(a @ b for a, b in itertools.pairwise(zs))
    return np.asarray(-ties - field * sum(on_spin(x, k, spins) for k in range(spins)))


def ties(spins: int) -> Array:
    """The diagonal [2^n] of a controlled Z on each pair of neighbours: -1 for two that are down."""
    bits = (np.arange(2**spins)[:, None] >> np.arange(spins)) & 1
    return np.asarray((-1.0) ** np.sum(bits[:, 1:] * bits[:, :-1], axis=1))


# --- the circuit


def turn(state: Tensor, k: int, spins: int, about_y: Tensor, about_z: Tensor) -> Tensor:
    """`state` [2^n] with spin k turned about the y axis, then about the z axis."""
    c, s = paddle.cos(about_y / 2), paddle.sin(about_y / 2)
    up = paddle.exp(about_z * -0.5j)  # the phases of up and down
    halves = state.reshape([2**k, 2, 2 ** (spins - 1 - k)])
    a, b = halves[:, 0], halves[:, 1]
    turned = paddle.stack([(a * c - b * s) * up, (a * s + b * c) * up.conj()], axis=1)
    return turned.reshape([2**spins])


def prepared(angles: Tensor) -> Tensor:
    """The state psi [2^n] that angles [layers, n, 2] prepare from all spins up."""
    spins = angles.shape[1]
    state = paddle.to_tensor(np.eye(1, 2**spins, dtype="complex128")[0])
    tied = paddle.to_tensor(ties(spins))
    for layer in range(angles.shape[0]):
        for k in range(spins):
            state = turn(state, k, spins, angles[layer, k, 0], angles[layer, k, 1])
        state = state * tied
    return state


def energy(angles: Tensor) -> Tensor:
    """<psi|H|psi>, a real number."""
    state = prepared(angles)
    h = paddle.to_tensor(hamiltonian(angles.shape[1]).astype("complex128"))
    return paddle.real((state.conj() * (h @ state)).sum())


def first_angles(spins: int, seed: int) -> Tensor:
    drawn = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(LAYERS, spins, 2))
    return paddle.to_tensor(drawn, stop_gradient=False)


# --- learning


def learn(angles: Tensor, steps: int, mode: str) -> list[float]:
    """Energies, step by step; the angles are written."""
    loss: Callable[[Tensor], Any] = paddle.jit.to_static(energy) if mode == "static" else energy
    adam = paddle.optimizer.Adam(RATE, parameters=[angles])
    energies = []
    for _ in range(steps):
        found = loss(angles)
        found.backward()
        adam.step()
        adam.clear_grad()
        energies.append(found.item())
    return energies


def judge(angles: Tensor) -> dict[str, float]:
    """The energy above the least one, and the share of the state in the ground state."""
    values, vectors = np.linalg.eigh(hamiltonian(angles.shape[1]))
    overlap = np.vdot(vectors[:, 0], prepared(angles).numpy())
    return {
        "least": float(values[0]),
        "above": energy(angles).item() - float(values[0]),
        "fidelity": float(abs(overlap) ** 2),
    }


# --- the command line


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Learn the angles, and compare with diagonalisation."""
    parser = argparse.ArgumentParser(description="Learn a ground state with a quantum circuit.")
    parser.add_argument("--spins", type=int, default=3, help="2 to 10 of them")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--mode", choices=("eager", "static"), default="eager")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    if not 2 <= args.spins <= 10 or args.steps < 1 or args.seed < 0:
        parser.error("--spins must be 2 to 10, --steps above 0, and --seed at least 0")
    angles = first_angles(args.spins, args.seed)
    energies = learn(angles, args.steps, args.mode)
    found = judge(angles)
    print(f"least energy of {args.spins} spins, by diagonalisation: {found['least']:.6f}")
    print(f"learned: {found['least'] + found['above']:.6f}, {found['above']:.1e} above")
    print(f"share of the state in the ground state: {found['fidelity']:.6f}")
    return {"energies": energies, "angles": angles.numpy(), **found}


if __name__ == "__main__":
    main()
