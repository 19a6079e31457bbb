"""The candidates of one example, timed in turn within one process of its own.

Started by ``python -m benchmarks.examples`` with one thread. What happens is written to a file as
lines of JSON, as `benchmarks.suite.measure` does.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import autograd_engine as paddle

from ..suite.candidates import Candidate, Maker
from ..suite.measure import FIRST_STEPS, drop_others, report, timings
from . import Array, Batch, Example

__all__ = ["NAMES", "OURS", "TORCH", "main", "makers"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = tuple(
    sorted(p.name.removesuffix("_torch.py") for p in Path(__file__).parent.glob("*_torch.py"))
)
OURS = {"ours eager": "eager", "ours to_static": "static"}
TORCH = "torch eager"
BATCHES = 16


def example(name: str) -> Example:
    """``examples/NAME.py`` as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module  # type: ignore[no-any-return]


def _new_model(which: Example, weights: dict[str, Array] | None = None) -> Any:
    paddle.seed(0)
    model = which.build_model()
    if weights is not None:
        model.set_state_dict({name: paddle.to_tensor(a) for name, a in weights.items()})
    return model


def _ours(which: Example, mode: str, weights: dict[str, Array], batches: Sequence[Batch]) -> Any:
    step = which.make_step(_new_model(which, weights), mode)
    following = cycle([tuple(map(paddle.to_tensor, batch)) for batch in batches]).__next__
    return Candidate(lambda: step(*following()), lambda loss: float(loss.item()))


def _torch(name: str, weights: dict[str, Array], batches: Sequence[Batch]) -> Candidate:
    import torch

    torch.set_num_threads(1)
    twin: Any = importlib.import_module(f".{name}_torch", __package__)
    return Candidate(twin.make(weights, batches), lambda loss: float(loss.item()))


def makers(name: str) -> tuple[dict[str, Maker], dict[str, str]]:
    """Candidates by name, and why others are missing."""
    which = example(name)
    batches = list(which.sample_batches(BATCHES, 0))
    weights = {k: v.numpy().copy() for k, v in _new_model(which).state_dict().items()}
    found: dict[str, Maker] = {
        label: lambda mode=mode: _ours(which, mode, weights, batches)  # type: ignore[misc]
        for label, mode in OURS.items()
    }
    missing = {}
    if importlib.util.find_spec("torch") is None:
        missing[TORCH] = "not installed"
    else:
        found[TORCH] = lambda: _torch(name, weights, batches)
    return found, missing


def measure(name: str, args: argparse.Namespace, tell: Callable[..., None]) -> dict[str, Any]:
    """Build, compare losses, time; the raw numbers."""
    found, missing = makers(name)
    candidates: dict[str, Candidate] = {}
    first: dict[str, float] = {}
    losses: dict[str, list[float]] = {}
    for label, maker in found.items():
        if label in args.skip:
            continue
        tell(event="building", name=label)
        start = time.perf_counter()
        candidate = candidates[label] = maker()
        losses[label] = [candidate.finish(candidate.step()) for _ in range(FIRST_STEPS)]
        first[label] = time.perf_counter() - start
    apart = drop_others(candidates, losses, missing)
    tell(event="timing")
    walls, cpus = timings(
        candidates, args.rounds, args.seconds, after=lambda k: tell(event="round", number=k)
    )
    return {
        "example": name,
        "wall": walls,
        "cpu": cpus,
        "first": first,
        "losses": losses,
        "apart": apart,
        "missing": missing,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--skip", nargs="+", action="extend", default=[])
    args = parser.parse_args()
    report(args, lambda tell: measure(args.name, args, tell))


if __name__ == "__main__":
    main()
