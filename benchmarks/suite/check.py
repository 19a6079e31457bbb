"""Whether a backend computes what the numpy backend computes, over some training steps.

A process of its own for each workload, started by ``python -m benchmarks.compare --check``.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .machine import pin
from .workloads import WORKLOADS, Arrays, Workload

__all__ = ["STEPS", "TOLERANCES", "Distances", "distances", "main"]

STEPS = 20
TOLERANCES = {"native": {"float32": 1e-5, "float64": 1e-12}}
TOLERANCES["jax"] = {"float32": 1e-4, "float64": 1e-12}


@dataclass(frozen=True)
class Distances:
    """How far runs were apart at most, over some steps.

    Losses are compared number by number. Parameters are compared together: the length of the
    difference is taken relative to the length of all that there are.

    Parameters
    ----------
    losses, parameters : float
        Of the backend from the numpy backend.
    rounding : float
        Of the numpy backend's parameters from those of the same program in float64, which is what
        rounding alone makes of them: Adam turns the sign of a gradient near zero into a whole step.
        0.0 for what is computed in float64.
    tolerance : float
    asked, backend : str
        The backend that was asked for, and what ran the program.
    """

    losses: float
    parameters: float
    rounding: float
    tolerance: float
    asked: str
    backend: str

    @property
    def equal(self) -> bool:
        """The backend ran, and is within the tolerance; or its parameters are as far as rounding
        alone takes them.
        """
        near = self.parameters <= max(self.tolerance, self.rounding)
        return self.backend == self.asked and self.losses <= self.tolerance and near


def _flat(arrays: Arrays) -> Any:
    return np.concatenate([np.asarray(a, np.float64).ravel() for a in arrays.values()])


def _apart(a: Any, b: Any) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def distances(
    workload: Workload, variant: str = "", steps: int = STEPS, asked: str = "native"
) -> Distances:
    """Run a workload on both backends, and in float64 where that is not its dtype."""
    from .steps_ours import program

    programs = {name: program(workload, variant) for name in ("numpy", asked)}
    if workload.dtype != "float64":
        programs["exact"] = program(workload, variant, "float64")
    bound = {
        name: p.step(asked if name == asked else "numpy") for name, p in programs.items()
    }
    of_losses = of_parameters = rounding = 0.0
    for _ in range(steps):
        losses = {name: c.finish(c.step()) for name, c in bound.items()}
        of_losses = max(of_losses, abs(losses[asked] / losses["numpy"] - 1))
        values = {name: _flat(p.values()) for name, p in programs.items()}
        of_parameters = max(of_parameters, _apart(values[asked], values["numpy"]))
        if "exact" in values:
            rounding = max(rounding, _apart(values["numpy"], values["exact"]))
    backend = bound[asked].backend()
    tolerance = TOLERANCES[asked][workload.dtype]
    return Distances(of_losses, of_parameters, rounding, tolerance, asked, backend)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--variant", default="")
    parser.add_argument("--backend", choices=TOLERANCES, default="native")
    args = parser.parse_args()
    pin(args.cores)
    workload = WORKLOADS[args.workload]
    found = distances(workload, args.variant, asked=args.backend)
    told = {"event": "result", "workload": workload.key, "missing": {}, "equal": found.equal}
    result = {**told, **asdict(found)}
    args.out.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
