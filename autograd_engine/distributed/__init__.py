"""Names under which programs of the reference find what works on one machine as well."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import listed
from autograd_engine.distributed import fleet

__all__ = ["fleet"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)
