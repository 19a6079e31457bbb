"""What every test of this folder starts from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import autograd_engine


@pytest.fixture(autouse=True, scope="package")
def as_paddle() -> Iterator[None]:
    with autograd_engine.install_as_paddle(replace=True):
        yield


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(pytest.mark.filterwarnings("default"))  # they are not ours to change
