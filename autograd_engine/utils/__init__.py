"""Utilities by the reference's names."""

from autograd_engine import unique_name
from autograd_engine.utils import dlpack

__all__ = ["dlpack", "unique_name"]


def __dir__() -> list[str]:
    return __all__
