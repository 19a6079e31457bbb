"""Branches and loops through XLA; they are run by `flow`, in a process of its own."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.xla.test_xla import HERE, needs_jax, said_by

NAMES = re.findall(r"^        (\w+),$", (HERE / "flow.py").read_text(), re.MULTILINE)
LONG = "random_programs"


@pytest.fixture(scope="module")
def outcomes() -> Any:
    return said_by("flow", *(n for n in NAMES if not n.startswith(LONG)))


@needs_jax
@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith(LONG)])
def test_flow(outcomes: Any, name: str) -> None:
    assert outcomes[name] == "", outcomes[name]


@needs_jax
@pytest.mark.thorough
def test_random_programs() -> None:
    found = said_by("flow", *(n for n in NAMES if n.startswith(LONG)))
    assert not any(found.values()), found
