"""Texts of ten programs, as they were when they were last looked at.

A change of one is seen in the difference: ``python -m tests.golden.write`` writes them anew.
"""

import pytest

from tests.golden.programs import PROGRAMS
from tests.golden.write import KINDS, path_of, text_of


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_is_the_one_that_is_kept(name: str, kind: str) -> None:
    kept = path_of(name, kind).read_text(encoding="utf-8")
    assert text_of(name, kind) == kept, "if that is right: python -m tests.golden.write"


def test_every_kept_text_is_of_a_program() -> None:
    kept = {p.name for p in path_of("any", "txt").parent.glob("*.txt")}
    assert kept == {path_of(name, kind).name for name in PROGRAMS for kind in KINDS}
