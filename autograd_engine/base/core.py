"""``paddle.base.core``: the one name of it that files of tensors are read by."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.io.files.raw_memory import frombuffer as frombuffer

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
