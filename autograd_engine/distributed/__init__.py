"""Names under which programs of the reference find what works on one machine as well."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.distributed import fleet as fleet

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__, submodules="fleet")
