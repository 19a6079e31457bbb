"""The tests that a library ships, run in a process where ``import paddle`` is this engine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import autograd_engine

__all__ = ["run"]

_INSTALLS = "tests.programs.as_paddle_plugin"
_TIMEOUT = 900  # seconds


def run(
    folder: Path, packages: list[str], environment: dict[str, str], plugin: str = _INSTALLS
) -> tuple[Counter[str], dict[str, str]]:
    """How many tests of `packages` passed, failed and were skipped, and why those failed.

    `folder` is an empty one to work in. `plugin` is imported before the tests are.
    """
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "--pyargs", *packages, "-p", plugin, "-q"]
    command += [
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        "--rootdir",
        str(folder),
        "-c",
        os.devnull,
    ]
    command += ["--import-mode=importlib", f"--junitxml={report}"]
    root = Path(autograd_engine.__file__).parents[1]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(root)} | environment,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT,
    )
    assert report.exists(), done.stdout[-3000:] + done.stderr[-3000:]
    counts: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        outcome = {child.tag: child for child in case}
        broken = outcome.get("failure", outcome.get("error"))
        if broken is not None:
            name = f"{case.get('classname', '').rpartition('.')[2]}.{case.get('name')}"
            reasons[name] = broken.get("message", "")[:300]
        counts["skipped" if "skipped" in outcome else "passed" if broken is None else "failed"] += 1
    return counts, reasons
