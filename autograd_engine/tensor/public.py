"""All public functions of this package in one place: what the engine exports at its top."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.tensor.arithmetic.complex import *  # noqa: F403
from autograd_engine.tensor.arithmetic.elementary import *  # noqa: F403
from autograd_engine.tensor.arithmetic.logic import *  # noqa: F403
from autograd_engine.tensor.arithmetic.math import *  # noqa: F403
from autograd_engine.tensor.arithmetic.rounding import *  # noqa: F403
from autograd_engine.tensor.arithmetic.scan import *  # noqa: F403
from autograd_engine.tensor.arithmetic.special import *  # noqa: F403
from autograd_engine.tensor.creation.creation import *  # noqa: F403
from autograd_engine.tensor.creation.random import *  # noqa: F403
from autograd_engine.tensor.indexing.indexing import *  # noqa: F403
from autograd_engine.tensor.indexing.put_along import *  # noqa: F403
from autograd_engine.tensor.indexing.scatter import *  # noqa: F403
from autograd_engine.tensor.linalg.contractions import *  # noqa: F403
from autograd_engine.tensor.linalg.norms import *  # noqa: F403
from autograd_engine.tensor.linalg.products import *  # noqa: F403
from autograd_engine.tensor.reduction.histogram import *  # noqa: F403
from autograd_engine.tensor.reduction.quantiles import *  # noqa: F403
from autograd_engine.tensor.reduction.reduction import *  # noqa: F403
from autograd_engine.tensor.reduction.search import *  # noqa: F403
from autograd_engine.tensor.reduction.statistics import *  # noqa: F403
from autograd_engine.tensor.reduction.sums import *  # noqa: F403
from autograd_engine.tensor.shape.attribute import *  # noqa: F403
from autograd_engine.tensor.shape.broadcasting import *  # noqa: F403
from autograd_engine.tensor.shape.combining import *  # noqa: F403
from autograd_engine.tensor.shape.diagonals import *  # noqa: F403
from autograd_engine.tensor.shape.joining import *  # noqa: F403
from autograd_engine.tensor.shape.manipulation import *  # noqa: F403
from autograd_engine.tensor.shape.movement import *  # noqa: F403
from autograd_engine.tensor.shape.splitting import *  # noqa: F403

if typing.TYPE_CHECKING:
    from autograd_engine.tensor.declared import *  # noqa: F403
else:
    from autograd_engine.tensor import inplace as _inplace

    globals().update(_inplace.functions(globals()))
    __getattr__, __dir__, __all__ = _face(__name__)
