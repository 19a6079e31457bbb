"""``paddle.base.core``: the one name of it that files of tensors are read by."""

from typing import TYPE_CHECKING

from autograd_engine.core.lazy import listed
from autograd_engine.io.files.raw_memory import frombuffer

__all__ = ["frombuffer"]


if not TYPE_CHECKING:
    __getattr__, __dir__ = listed(__name__)
