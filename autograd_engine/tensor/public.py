"""All public functions of this package in one place: what the engine exports at its top."""

from autograd_engine.tensor import (
    creation,
    linalg,
    manipulation,
    math,
    random,
    reduction,
)
from autograd_engine.tensor.creation import *  # noqa: F403
from autograd_engine.tensor.linalg import *  # noqa: F403
from autograd_engine.tensor.manipulation import *  # noqa: F403
from autograd_engine.tensor.math import *  # noqa: F403
from autograd_engine.tensor.random import *  # noqa: F403
from autograd_engine.tensor.reduction import *  # noqa: F403

__all__: list[str] = []
__all__ += creation.__all__
__all__ += linalg.__all__
__all__ += manipulation.__all__
__all__ += math.__all__
__all__ += random.__all__
__all__ += reduction.__all__
