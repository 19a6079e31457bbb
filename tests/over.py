"""One test for an operation, or a function, and all of its samples.

``@over("dtype", DTYPES)`` and ``@over(("op", "sample"), cases())`` are what
`pytest.mark.parametrize` is, but for what becomes a test of its own: of samples and cases the name
in front of the first ``-`` of an id, that of the operation; of any axis what ``by`` makes of the
id. All else is gone through inside, and what fails is reported, each time with what it was.

Of the samples of an operation, those are gone through that stand for the others: the first, the
first without elements, and the first that is broadcast. With ``--thorough`` it is all of them.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from .fresh import fresh_state

__all__ = ["before", "initial", "over", "registered"]

Values = tuple[str, tuple[Any, ...]]
"""What tells an entry of an axis apart, and its arguments in the order of their names."""


def over(
    names: str | Sequence[str],
    entries: Sequence[Any],
    *,
    ids: Sequence[str] | None = None,
    by: Callable[[str], str] | None = None,
) -> Any:
    """A decorator of tests; see the module."""
    wanted = tuple(n.strip() for n in names.split(",")) if isinstance(names, str) else tuple(names)
    axis = [_values(wanted, e, ids and ids[k]) for k, e in enumerate(entries)]

    def decorate(test: Any) -> Any:
        bundle = getattr(test, "bundle", None) or _Bundle(test)
        bundle.add(wanted, axis, by)
        return bundle.test

    return decorate


def before(mark: str) -> Callable[[str], str]:
    """What an id has before its first `mark`: the name of a function before ``(``."""
    return lambda label: label.partition(mark)[0]


def initial(label: str) -> str:
    """The first letter of the function that an id begins with: many quick calls in one test."""
    return label.partition("(")[0].rpartition(".")[2][:1]


def registered(item: pytest.Item) -> None:
    """Say of a test how many samples it goes through, and to ``-k`` what they are samples of."""
    samples = 1
    bundle = getattr(getattr(item, "function", None), "bundle", None)
    if bundle is not None:
        group = item.callspec.params.get("group") if hasattr(item, "callspec") else None
        samples = len(bundle.combinations(group, item.config))
        item.extra_keyword_matches |= bundle.names(group)
    item.user_properties.append(("samples", samples))


def _values(names: tuple[str, ...], entry: Any, label: Any) -> Values:
    given = entry.values if hasattr(entry, "values") and hasattr(entry, "id") else (entry,)
    if len(names) > 1 and len(given) == 1:
        (given,) = given
    label = getattr(entry, "id", None) or label
    if label is None:
        label = ",".join(getattr(v, "__name__", None) or str(v) for v in given)
    if len(given) != len(names):
        raise ValueError(f"{label}: {len(given)} values for {names}")
    return str(label), tuple(given)


def _name(label: str) -> str:
    return label.partition("-")[0]


def _representative(entries: list[Values]) -> list[Values]:
    """Of each name the first sample, the first without elements, the first that is broadcast."""
    seen: set[tuple[str, str]] = set()
    chosen = []
    for label, values in entries:
        sample = next((v for v in values if hasattr(v, "operands")), None)
        shapes = {a.shape for a in getattr(sample, "operands", ())}
        kinds = {(_name(label), "any")}
        if any(0 in shape for shape in shapes):
            kinds.add((_name(label), "empty"))
        elif len(shapes) > 1:
            kinds.add((_name(label), "broadcast"))
        if sample is None or kinds - seen:
            chosen.append((label, values))
        seen |= kinds
    return chosen


class _Bundle:
    """A test, and the axes that it is gone through."""

    def __init__(self, test: Callable[..., None]) -> None:
        self.inner = test
        self.axes: list[list[Values]] = []
        self.groups: dict[str, list[Values]] | None = None
        self.sampled = False
        self.arguments: list[str] = []  # of the group, then of the axes

        def run(request: pytest.FixtureRequest, **given: Any) -> None:
            self.run(given.pop("group", None), request.config, given)

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        self.test: Any = run
        run.bundle = self  # type: ignore[attr-defined]

    def add(
        self, names: tuple[str, ...], axis: list[Values], by: Callable[[str], str] | None
    ) -> None:
        sampled = "sample" in names or "case" in names
        if by is not None or sampled:
            self.sampled = sampled
            self.groups = {}  # of which none may be left (`--rules-at`)
            for entry in axis:
                self.groups.setdefault((by or _name)(entry[0]), []).append(entry)
            self.arguments[:0] = names
            self.test = pytest.mark.parametrize("group", list(self.groups))(self.test)
        else:
            self.axes.append(axis)
            self.arguments += names
        given = inspect.signature(self.inner).parameters
        wanted = ["request", *([] if self.groups is None else ["group"]), *given]
        self.test.__signature__ = inspect.Signature(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
            for name in wanted
            if name not in self.arguments
        )

    def combinations(self, group: str | None, config: pytest.Config) -> list[tuple[Values, ...]]:
        axes = self.axes
        if self.groups is not None:
            entries = self.groups.get(group or "", [])
            asked = config.getoption("keyword")  # `-k tanh` is about tanh, not all of its group
            if asked in self.names(group):
                entries = [entry for entry in entries if _name(entry[0]) == asked]
            if self.sampled and not config.getoption("--thorough"):
                entries = _representative(entries)
            axes = [entries, *axes]
        return list(itertools.product(*axes))

    def names(self, group: str | None) -> set[str]:
        entries = (self.groups or {}).get(group or "", [])
        return {_name(label) for label, _ in entries}

    def run(self, group: str | None, config: pytest.Config, fixtures: dict[str, Any]) -> None:
        failures: list[Exception] = []
        skipped: list[str] = []
        combinations = self.combinations(group, config)
        for combination in combinations:
            label = "-".join(name for name, _ in combination)
            given = itertools.chain.from_iterable(values for _, values in combination)
            arguments = dict(zip(self.arguments, given, strict=True))
            try:
                with fresh_state():
                    self.inner(**arguments, **fixtures)
            except pytest.skip.Exception as reason:
                skipped.append(f"{label}: {reason}")
            except Exception as error:
                error.add_note(f"sample: {label}")
                failures.append(error)
            except pytest.fail.Exception as error:
                failures.append(AssertionError(f"sample: {label}: {error}"))
            if failures and config.getoption("maxfail") == 1:  # -x
                break
        if failures:
            count = f"{len(failures)} of {len(combinations)} samples"
            raise ExceptionGroup(count + (f" of {group}" if group else ""), failures)
        if skipped and len(skipped) == len(combinations):
            pytest.skip(skipped[0])
