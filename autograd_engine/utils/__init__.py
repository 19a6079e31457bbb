"""Utilities by the reference's names."""

from autograd_engine.utils import dlpack

__all__ = ["dlpack"]


def __dir__() -> list[str]:
    return __all__
