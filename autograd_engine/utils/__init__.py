"""Utilities by the reference's names."""

from typing import TYPE_CHECKING

from autograd_engine import unique_name
from autograd_engine.core.lazy import lazily
from autograd_engine.utils import dlpack

__all__ = ["dlpack", "unique_name"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})
