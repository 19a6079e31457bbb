"""Unknown sizes: what they are called changes nothing but their names."""

from __future__ import annotations

import pytest

from autograd_engine.core.dims import Dim, UndecidedSize, slice_length, smaller


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


def test_what_is_known_of_sizes_is_that_they_are_not_negative() -> None:
    a, b = Dim.symbol("?9"), Dim.symbol("?10")
    assert a >= 0
    assert a + b + 1 > a
    assert not a < 0
    assert -a - 1 < 0
    for undecided in (lambda: a < 3, lambda: a > b, lambda: a - 1 >= 0):
        with pytest.raises(UndecidedSize):
            undecided()


def test_the_length_of_a_slice() -> None:
    """As Python counts, and a formula where a size is not known."""
    for size in (0, 3, 5):
        for part in (slice(None), slice(2, None), slice(-2, None), slice(1, -1), slice(4, 0, -2)):
            expected = len(range(size)[part])
            assert slice_length(size, part.start, part.stop, part.step) == expected
    a = Dim.symbol("?9")
    assert slice_length(a, None, None, None) == slice_length(a + 1, 1, None, None) == a
    assert slice_length(a + 3, None, a, None) == a
    assert slice_length(8, None, a, None) == smaller(8, a) == Dim.symbol("min(8,?9)")
    assert a % 2 == a - (a // 2) * 2
    assert 6 * a % 3 == 0
