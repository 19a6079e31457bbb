"""Unknown sizes: what they are called changes nothing but their names."""

from __future__ import annotations

import pytest

from autograd_engine.core.dims import Dim


@pytest.mark.parametrize("first", [0, 8, 9, 98, 99])
def test_a_size_reads_the_same_whatever_numbers_its_symbols_have(first: int) -> None:
    a, b = Dim.symbol(f"?{first}"), Dim.symbol(f"?{first + 1}")
    for size in (4 * a * b * b + a * a + 2 * b + a, a + 2 * b + b * 4 * b * a + a * a):
        text = repr(size).replace(f"?{first + 1}", "b").replace(f"?{first}", "a")
        assert text == "4*a*b*b + a*a + a + 2*b"


def test_sizes_that_are_provably_equal_are_equal() -> None:
    a, b = Dim.symbol("?9"), Dim.symbol("?10")
    assert (a + 1) * (b + 1) == a * b + b + a + 1
    assert (a * b) // b == a
    assert a * b // 2 == b * a // 2
