"""The properties that must hold on every processor, as if on each that this machine can pass for.

`.ci/run` asks for two of them, and for the samples that stand for the others: a processor changes
what kernels compute, and not how programs are put together. ``--processors all --thorough`` asks
for all.
"""

import os
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
    if not environment.march and found == about(dict(os.environ)):
        pytest.skip("it is the processor at hand, on which these tests run anyway")
    if environment.core:
        assert found["core"] in STANDS_FOR.get(environment.core, {environment.core})
    assert not set(found["features"]) & set(environment.without)
    for name in [name for name in variables if name.startswith("PYTEST_XDIST")]:
        del variables[name]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "auto"]
    command += ["--thorough"] * request.config.getoption("--thorough")
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *environment.tests],
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
