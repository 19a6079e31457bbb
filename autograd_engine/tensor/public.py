"""All public functions of this package in one place: what the engine exports at its top."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.tensor.attribute import *  # noqa: F403
from autograd_engine.tensor.broadcasting import *  # noqa: F403
from autograd_engine.tensor.complex import *  # noqa: F403
from autograd_engine.tensor.counting import *  # noqa: F403
from autograd_engine.tensor.creation import *  # noqa: F403
from autograd_engine.tensor.diagonal import *  # noqa: F403
from autograd_engine.tensor.elementwise import *  # noqa: F403
from autograd_engine.tensor.indexing import *  # noqa: F403
from autograd_engine.tensor.joining import *  # noqa: F403
from autograd_engine.tensor.linalg.decomposition import *  # noqa: F403
from autograd_engine.tensor.linalg.einsum import *  # noqa: F403
from autograd_engine.tensor.linalg.inverse import *  # noqa: F403
from autograd_engine.tensor.linalg.norms import *  # noqa: F403
from autograd_engine.tensor.linalg.products import *  # noqa: F403
from autograd_engine.tensor.logic import *  # noqa: F403
from autograd_engine.tensor.movement import *  # noqa: F403
from autograd_engine.tensor.order import *  # noqa: F403
from autograd_engine.tensor.random import *  # noqa: F403
from autograd_engine.tensor.reduction import *  # noqa: F403
from autograd_engine.tensor.rounding import *  # noqa: F403
from autograd_engine.tensor.scan import *  # noqa: F403
from autograd_engine.tensor.scatter import *  # noqa: F403
from autograd_engine.tensor.shape import *  # noqa: F403
from autograd_engine.tensor.sorting import *  # noqa: F403
from autograd_engine.tensor.special import *  # noqa: F403
from autograd_engine.tensor.spelling.names import *  # noqa: F403

if typing.TYPE_CHECKING:
    from autograd_engine.tensor.declared import *  # noqa: F403
else:
    from autograd_engine.tensor.spelling import inplace as _inplace
    from autograd_engine.tensor.spelling.wrapper import spelled_functions as _spelled_functions

    globals().update(_inplace.functions(globals()))
    __getattr__, __dir__, __all__ = _face(__name__)
    _defined = {name: globals()[name] for name in __all__}
    globals().update(_spelled_functions(_defined))
