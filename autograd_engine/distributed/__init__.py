"""Names under which programs of the reference find what works on one machine as well."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.distributed import fleet

__all__ = ["fleet"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})
