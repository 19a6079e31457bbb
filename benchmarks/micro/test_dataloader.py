"""A training step of two milliseconds, fed by two workers; see `benchmarks/micro/dataloader.py`.

Run with ``python -m pytest benchmarks/micro/test_dataloader.py -q``. The steps are taken
in another process, which has all cores, and this one waits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

from benchmarks.conftest import TABLES
from benchmarks.micro.dataloader import KINDS, shares, table

ROOT = Path(__file__).resolve().parents[2]
STEPS, ROUNDS = 150, 7


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="workers need a second core")
def test_two_workers_feed_a_step_of_two_milliseconds() -> None:
    """What is reported is the share of the rate; asserted is that workers are worth it at all."""
    done = subprocess.run(
        [
            *(sys.executable, "benchmarks/micro/dataloader.py", "--json"),
            *("--steps", str(STEPS), "--rounds", str(ROUNDS)),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    measured = json.loads(done.stdout)
    TABLES.append("### Feeding a step of 2 ms\n\n" + table(measured))
    own = {kind: median(rates) for kind, rates in shares(measured["own"]).items()}
    assert list(own) == list(KINDS)
    # The thread's own time does not count what else the machine does.
    assert own["two workers"] > own["no workers"]
