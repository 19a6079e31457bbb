"""Mutants killed for each module, and those that survived.

    python tools/mutation/report.py SESSION ...

Of a mutant that is in several sessions the last result counts. The exit status is 1 where a mutant
survives that `survivors.md` does not name.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult
from rules import Key, key

EXPLAINED = Path(__file__).with_name("survivors.md")


def results(sessions: list[str]) -> dict[Key, WorkResult]:
    found: dict[Key, WorkResult] = {}
    for session in sessions:
        with use_db(session, WorkDB.Mode.open) as db:
            for item, result in db.completed_work_items:
                if result.worker_outcome != WorkerOutcome.SKIPPED:
                    found[key(item)] = result
    return found


def changed(result: WorkResult) -> tuple[str, str]:
    """The line before and after."""
    lines = (result.diff or "").splitlines()
    before = [line[1:].strip() for line in lines if line[:1] == "-" and line[:3] != "---"]
    after = [line[1:].strip() for line in lines if line[:1] == "+" and line[:3] != "+++"]
    return " ".join(before), " ".join(after)


def main() -> int:
    found = results(sys.argv[1:])
    broken = [k for k, r in found.items() if r.worker_outcome != WorkerOutcome.NORMAL]
    alive = {k: r for k, r in found.items() if r.test_outcome == TestOutcome.SURVIVED}
    page = EXPLAINED.read_text(encoding="utf-8")
    open_cases = 0
    for (path, (row, column), operator, _), result in sorted(alive.items(), key=lambda i: i[0]):
        before, after = changed(result)
        explained = f"`{after}`" in page
        open_cases += not explained
        print(f"{path}:{row}:{column}  {operator}{'  (explained)' if explained else ''}")
        print(f"    - {before}\n    + {after}")
    total = Counter(Path(path).name for path, *_ in found)
    survived = Counter(Path(path).name for path, *_ in alive)
    print(f"\n{'module':20} killed / total")
    for name in sorted(total):
        print(f"{name:20} {total[name] - survived[name]:6} / {total[name]:5}")
    killed, of = len(found) - len(alive), len(found)
    timeouts = sum(result.output == "timeout" for result in found.values())
    print(f"{'all':20} {killed:6} / {of:5}   {100.0 * killed / max(of, 1):.1f} %")
    print(f"by a timeout: {timeouts}; not tried: {len(broken)}; unexplained: {open_cases}")
    return 1 if open_cases or broken else 0


if __name__ == "__main__":
    sys.exit(main())
