"""What a mutant has to survive: the tests of the operations whose rule it is in, then wider ones.

Run by cosmic-ray in a copy of the repository; MUTATION_ORIGINAL names the one it is a copy of.
Where the two do not differ, the tests must pass for all operations.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

OPS = Path("autograd_engine/ops")

# Each line is a run of pytest that ends with the first failure, the quickest to fail first.
RUNS = [
    [
        "tests/registry/test_first_order.py",
        "tests/registry/test_second_order.py",
        "tests/registry/test_forward.py",
        "tests/registry/test_saved.py",
    ],
    [
        "tests/modes/test_nondifferentiable.py",
        "tests/registry/test_special_values.py",
        "tests/registry/test_dtypes.py",
        "tests/registry/test_bits.py",
        "tests/modes/test_numerics.py",
        "tests/registry/test_strong_zeros.py",
    ],
    [
        "tests/functions/test_activations.py",
        "tests/functions/test_losses.py",
        "tests/functions/test_math.py",
        "tests/functions/test_movement.py",
        "tests/functions/test_statistics.py",
        "tests/functions/test_functions.py::test_three_orders_against_differences",
    ],
]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-x", "--assert=plain", "--tb=line"]
PYTEST += ["--thorough", "-p", "no:cacheprovider", "-p", "no:hypothesispytest"]


def place_of_the_mutant() -> str | None:
    """FILE:LINE of the first line that differs, None if there is none."""
    original = Path(os.environ["MUTATION_ORIGINAL"])
    for path in sorted(OPS.rglob("*.py")):
        here = path.read_text(encoding="utf-8").splitlines()
        there = (original / path).read_text(encoding="utf-8").splitlines()
        for number, (a, b) in enumerate(zip_longest(here, there), start=1):
            if a != b:
                return f"{path}:{number}"
    return None


def main() -> int:
    place = place_of_the_mutant()
    # Without a mutant all operations are tried, in as many processes as there are cores.
    processes = ["-n", "auto"] if place is None else ["-p", "no:xdist"]
    for files in RUNS:
        # The option belongs to the registry suite, which its directory brings along.
        registry = place is not None and any("registry" in name for name in files)
        narrow = ["--rules-at", str(place)] if registry else []
        done = subprocess.run([*PYTEST, *processes, *narrow, *files], check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
