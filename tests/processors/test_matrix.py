"""The properties that must hold on every processor, as if on each that this machine can pass for.

`.ci/run` asks for two of them, ``--processors all`` for all.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from .environments import ENVIRONMENTS, Environment, why_not
from .machine import about

ROOT = Path(__file__).parents[2]
# What OpenBLAS takes where a build has no code of its own for a processor.
STANDS_FOR = {
    "Cooperlake": {"Cooperlake", "SkylakeX"},
    "Nehalem": {"Nehalem"},
    "Prescott": {"Prescott", "Katmai"},
    "Sapphirerapids": {"Sapphirerapids", "Cooperlake", "SkylakeX"},
    "Zen": {"Zen", "Haswell"},
}


@pytest.mark.processors
@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_properties_hold(environment: Environment, request: pytest.FixtureRequest) -> None:
    reason = why_not(environment)
    if reason:
        pytest.skip(reason)
    variables = environment.variables()
    found = about(variables)
    if environment.core:
        assert found["core"] in STANDS_FOR.get(environment.core, {environment.core})
    assert not set(found["features"]) & set(environment.without)
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "--thorough", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *environment.tests],
        cwd=ROOT,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    *_, last = done.stdout.strip().splitlines()
    took = f"OpenBLAS {found['core']}, NumPy {' '.join(found['features']) or 'baseline'}"
    request.node.user_properties.append(("processor", f"{took}: {last}"))
    assert done.returncode == 0, done.stdout[-8000:]
