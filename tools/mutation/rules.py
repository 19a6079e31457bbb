"""Keep of a session of cosmic-ray the mutants in gradient rules, and of these one share.

    python tools/mutation/rules.py SESSION CONFIG [--share K/N] [--survivors-of SESSION ...]

A gradient rule is what is given to ``.vjp(...)``, and what it calls in its own module: bodies of
lambdas and of functions, not their signatures. All other mutants are marked as skipped, and so are
those of the operators that the configuration excludes.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from cosmic_ray.config import load_config
from cosmic_ray.tools.filters.filter_app import FilterApp
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult

Position: TypeAlias = tuple[int, int]
Span: TypeAlias = tuple[Position, Position]
Key: TypeAlias = tuple[str, Position, str, int]


def span(first: ast.AST, last: ast.AST) -> Span:
    start: Any = first
    end: Any = last
    return (start.lineno, start.col_offset), (end.end_lineno, end.end_col_offset)


def bodies(node: ast.AST) -> Iterator[Span]:
    """Spans of the bodies of the functions in `node`, without those of their docstrings."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Lambda):
            yield span(inner.body, inner.body)
        elif isinstance(inner, ast.FunctionDef):
            statements = inner.body[1:] if ast.get_docstring(inner) else inner.body
            for statement in statements:
                if not isinstance(statement, ast.FunctionDef):
                    yield span(statement, statement)


def names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


@functools.cache
def rule_spans(path: Path) -> tuple[Span, ...]:
    """Where the gradient rules of a module are."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    found: list[Span] = []
    pending: list[ast.AST] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="vjp"), keywords=rules):
                pending.extend(rule.value for rule in rules)
    seen: set[str] = set()
    while pending:
        node = pending.pop()
        found.extend(bodies(node))
        called = (names(node) & functions.keys()) - seen
        seen |= called
        pending.extend(functions[name] for name in called)
    return tuple(sorted(set(found)))


def in_a_rule(mutation: MutationSpec) -> bool:
    start, end = tuple(mutation.start_pos), tuple(mutation.end_pos)
    return any(a <= start and end <= b for a, b in rule_spans(mutation.module_path))


def key(item: WorkItem) -> Key:
    """What identifies a mutant in every session of the same source."""
    (mutation,) = item.mutations
    row, column = mutation.start_pos
    return str(mutation.module_path), (row, column), mutation.operator_name, mutation.occurrence


def survivors(session: str) -> set[Key]:
    with use_db(session, WorkDB.Mode.open) as db:
        return {
            key(item)
            for item, result in db.completed_work_items
            if result.test_outcome == TestOutcome.SURVIVED
        }


class RulesFilter(FilterApp):
    def description(self) -> str:
        return str(__doc__)

    def add_args(self, parser: ArgumentParser) -> None:
        parser.add_argument("config")
        parser.add_argument("--share", default="0/1", metavar="K/N", help="every N-th, from K on")
        parser.add_argument("--survivors-of", nargs="*", default=[], metavar="SESSION")

    def filter(self, work_db: WorkDB, args: Namespace) -> None:
        pending = sorted(work_db.pending_work_items, key=key)
        options = load_config(args.config).sub("filters", "operators-filter")
        excluded = re.compile("|".join(options.get("exclude-operators", ["(?!)"])))
        wanted = [
            item
            for item in pending
            if in_a_rule(item.mutations[0]) and not excluded.match(item.mutations[0].operator_name)
        ]
        if args.survivors_of:
            alive = set().union(*map(survivors, args.survivors_of))
            wanted = [item for item in wanted if key(item) in alive]
        first, step = map(int, args.share.split("/"))
        kept = {item.job_id for item in wanted[first::step]}
        work_db.set_multiple_results(
            [item.job_id for item in pending if item.job_id not in kept],
            WorkResult(worker_outcome=WorkerOutcome.SKIPPED, output="in no rule of this share"),
        )
        print(f"{args.session}: {len(kept)} of {len(wanted)} mutants of gradient rules")


if __name__ == "__main__":
    sys.exit(RulesFilter().main())
