"""Names under which programs of the reference find what works on one machine as well."""

from autograd_engine.distributed import fleet

__all__ = ["fleet"]


def __dir__() -> list[str]:
    return __all__
