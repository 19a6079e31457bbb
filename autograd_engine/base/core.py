"""``paddle.base.core``: the one name of it that files of tensors are read by."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import lazily
from autograd_engine.io.files.raw_memory import frombuffer

__all__ = ["frombuffer"]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:
    __getattr__ = lazily(__name__, {})
