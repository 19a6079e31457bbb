"""Utilities by the reference's names."""

import typing

from autograd_engine import unique_name as unique_name
from autograd_engine.core.lazy import face as _face
from autograd_engine.utils import dlpack as dlpack

if typing.TYPE_CHECKING:
    from autograd_engine.utils.installed import (
        require_version as require_version,
        run_check as run_check,
        try_import as try_import,
    )
else:
    __getattr__, __dir__, __all__ = _face(
        __name__,
        {"utils.installed": "require_version run_check try_import"},
        "dlpack unique_name",
    )
