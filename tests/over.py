"""One test for an operation, or a function, and all of its samples.

``@over("dtype", DTYPES)`` and ``@over(("op", "sample"), cases())`` are what
`pytest.mark.parametrize` is, but for what becomes a test of its own: only the name in front of the
first ``-`` of an id, that of the operation. The samples, and the values of all other axes, are gone
through inside; each that fails is reported, with what it was.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from .fresh import fresh_state

__all__ = ["over"]

Values = tuple[str, dict[str, Any]]
"""What tells an entry of an axis apart, and its arguments."""


def over(
    names: str | Sequence[str], entries: Sequence[Any], *, ids: Sequence[str] | None = None
) -> Any:
    """See the module; samples and cases, with ids ``name-label``, are grouped by name."""
    wanted = tuple(n.strip() for n in names.split(",")) if isinstance(names, str) else tuple(names)
    axis = [_values(wanted, e, None if ids is None else ids[k]) for k, e in enumerate(entries)]

    def decorate(test: Any) -> Any:
        bundle = getattr(test, "bundle", None) or _Bundle(test)
        bundle.add(wanted, axis)
        return bundle.test

    return decorate


def _values(names: tuple[str, ...], entry: Any, label: Any) -> Values:
    given = entry.values if hasattr(entry, "values") and hasattr(entry, "id") else (entry,)
    if len(names) > 1 and len(given) == 1:
        (given,) = given
    label = getattr(entry, "id", None) or label
    if label is None:
        label = ",".join(getattr(v, "__name__", None) or str(v) for v in given)
    return str(label), dict(zip(names, given, strict=True))


class _Bundle:
    """A test, and the axes that it is gone through."""

    def __init__(self, test: Callable[..., None]) -> None:
        self.inner = test
        self.axes: list[list[Values]] = []
        self.groups: dict[str, list[Values]] | None = None
        self.taken: set[str] = set()

        def run(**given: Any) -> None:
            self.run(given.pop("group"), given)

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        self.test: Any = run
        run.bundle = self  # type: ignore[attr-defined]

    def add(self, names: tuple[str, ...], axis: list[Values]) -> None:
        if "sample" in names or "case" in names:  # of which none may be left (`--rules-at`)
            self.groups = {}
            for label, values in axis:
                self.groups.setdefault(label.partition("-")[0], []).append((label, values))
            self.test = pytest.mark.parametrize("group", list(self.groups))(self.test)
        else:
            self.axes.append(axis)
        self.taken.update(names)
        given = inspect.signature(self.inner).parameters
        fixtures = [p for name, p in given.items() if name not in self.taken]
        group = inspect.Parameter("group", inspect.Parameter.KEYWORD_ONLY)
        kept = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in fixtures]
        self.test.__signature__ = inspect.Signature([group, *kept])

    def run(self, group: str, fixtures: dict[str, Any]) -> None:
        assert self.groups is not None, "none of the axes has names of operations or functions"
        failures: list[Exception] = []
        skipped: list[str] = []
        count = 0
        for combination in itertools.product(self.groups[group], *self.axes):
            count += 1
            label = "-".join(name for name, _ in combination)
            arguments = {k: v for _, values in combination for k, v in values.items()}
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
        if failures:
            raise ExceptionGroup(f"{len(failures)} of {count} samples of {group}", failures)
        if skipped and len(skipped) == count:
            pytest.skip(skipped[0])
