"""Mutation testing of the gradient rules, in copies of the repository.

    python tools/mutation/run.py DIRECTORY [--jobs N] [--survivors-of SESSION ...]

DIRECTORY receives the copies and one session of cosmic-ray for each job. A run that was interrupted
goes on where it stopped when it is started again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db

ROOT = Path(__file__).resolve().parents[2]
BESIDE_PYTHON = Path(sys.executable).parent
CONFIG = "tools/mutation/cosmic-ray.toml"
LEFT_BEHIND = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "*.sqlite")


def environment(directory: Path) -> dict[str, str]:
    """That of the tests: the Python which runs this, one thread, the source to compare with."""
    return {
        **os.environ,
        "PATH": f"{BESIDE_PYTHON}{os.pathsep}{os.environ.get('PATH', '')}",
        "MUTATION_ORIGINAL": str(directory / "original"),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def check_unchanged(directory: Path) -> None:
    """Exit unless the tests pass without a mutant: a test that fails anyway would kill them all."""
    command = [sys.executable, "tools/mutation/check.py"]
    if subprocess.call(command, cwd=directory / "original", env=environment(directory)):
        sys.exit("tests fail without a mutant: let them pass first")


def prepare(directory: Path, jobs: int, survivors_of: list[Path]) -> None:
    """The copies, and a session with its share of the mutants for each job."""
    original = directory / "original"
    shutil.copytree(ROOT, original, ignore=LEFT_BEHIND, dirs_exist_ok=True)
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(original)], check=True)
    check_unchanged(directory)
    whole = directory / "whole.sqlite"
    cosmic_ray = str(BESIDE_PYTHON / "cosmic-ray")
    subprocess.run([cosmic_ray, "init", CONFIG, str(whole)], cwd=original, check=True)
    for k in range(jobs):
        shutil.copytree(original, directory / f"copy-{k}", dirs_exist_ok=True)
        session = directory / f"session-{k}.sqlite"
        partial = shutil.copyfile(whole, session.with_suffix(".partial"))
        keep = [sys.executable, "tools/mutation/rules.py", str(partial), CONFIG]
        keep += ["--share", f"{k}/{jobs}"]
        if survivors_of:
            keep += ["--survivors-of", *map(str, survivors_of)]
        subprocess.run(keep, cwd=original, check=True)
        partial.rename(session)
    whole.unlink()


def left(session: Path) -> int:
    with use_db(str(session), WorkDB.Mode.open) as db:
        return int(db.num_work_items - db.num_results)


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--survivors-of", nargs="*", type=Path, default=[], metavar="SESSION")
    args = parser.parse_args()
    directory = args.directory.resolve()
    if not (directory / f"session-{args.jobs - 1}.sqlite").exists():
        directory.mkdir(parents=True, exist_ok=True)
        prepare(directory, args.jobs, [path.resolve() for path in args.survivors_of])
    running = []
    for k in range(args.jobs):
        copy, session = directory / f"copy-{k}", directory / f"session-{k}.sqlite"
        # A run that was killed may have left a mutant behind.
        shutil.copytree(
            directory / "original" / "autograd_engine/ops",
            copy / "autograd_engine/ops",
            dirs_exist_ok=True,
            copy_function=shutil.copyfile,
        )
        command = [str(BESIDE_PYTHON / "cosmic-ray"), "exec", CONFIG, str(session)]
        running.append(subprocess.Popen(command, cwd=copy, env=environment(directory)))
    sessions = sorted(directory.glob("session-*.sqlite"))
    while any(process.poll() is None for process in running):
        print(f"{time.strftime('%H:%M:%S')}  {sum(map(left, sessions))} mutants left", flush=True)
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(60.0 / len(running))
    return max(process.returncode for process in running)


if __name__ == "__main__":
    sys.exit(main())
