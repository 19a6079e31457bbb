"""Processes that measure one workload each, watched for those that take too long."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .machine import environment

__all__ = ["Failed", "run"]

ROOT = Path(__file__).resolve().parents[2]


class Failed(Exception):
    """A process ended without a result; the text says how."""


def run(
    module: str,
    arguments: Sequence[str],
    *,
    directory: Path,
    name: str,
    cores: int,
    limit: float,
    say: Callable[[str], None],
    package: str = "benchmarks.suite",
) -> dict[str, Any]:
    """The result of ``python -m benchmarks.suite.<module>``, or of a module of another package.

    A candidate whose first steps take longer than `limit` seconds, or end the process, is left out
    of another attempt, and stands under "missing" in the result.

    Raises
    ------
    Failed
    """
    skipped: dict[str, str] = {}
    out = directory / f"{name}.events"
    while True:
        command = [sys.executable, "-m", f"{package}.{module}", *arguments]
        command += ["--out", str(out), "--cores", str(cores)]
        if skipped:
            command += ["--skip", *skipped]
        with (directory / f"{name}.log").open("w") as log:
            late = _watch(command, out, log, cores, limit, say)
        last = _events(out)[-1:]
        if last and last[0]["event"] == "result":
            out.unlink()
            return {**last[0], "missing": {**last[0]["missing"], **skipped}}
        if not last or last[0]["event"] != "building":
            how = f"took longer than {limit:.0f} s" if late else "ended without a result"
            raise Failed(f"{name} {how}, see {log.name}")
        reason = f"took longer than {limit:.0f} s" if late else "ended the process"
        skipped[last[0]["name"]] = reason
        say(f"{last[0]['name']}: {reason}, left out")


def _watch(
    command: Sequence[str],
    out: Path,
    log: Any,
    cores: int,
    limit: float,
    say: Callable[[str], None],
) -> bool:
    """Run to the end, or until nothing was reported for `limit` seconds; whether that was so."""
    out.unlink(missing_ok=True)
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(cores),
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    seen, since = 0, time.monotonic()
    try:
        while process.poll() is None:
            time.sleep(0.2)
            events = _events(out)
            if len(events) > seen:
                for event in events[seen:]:
                    if event["event"] == "building":
                        say(event["name"])
                seen, since = len(events), time.monotonic()
            if time.monotonic() - since > limit:
                return True
        return False
    finally:
        _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    """End the process and what it started, which are a session of their own."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _events(out: Path) -> list[dict[str, Any]]:
    """Whole lines only: the last one may be on its way."""
    try:
        text = out.read_text()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
