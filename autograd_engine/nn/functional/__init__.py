"""Functions of neural networks; each runs in either mode, by its operands."""

from autograd_engine.nn.functional import (
    activation,
    common,
    conv,
    loss,
    norm,
    recurrent,
)
from autograd_engine.nn.functional.activation import *  # noqa: F403
from autograd_engine.nn.functional.common import *  # noqa: F403
from autograd_engine.nn.functional.conv import *  # noqa: F403
from autograd_engine.nn.functional.loss import *  # noqa: F403
from autograd_engine.nn.functional.norm import *  # noqa: F403
from autograd_engine.nn.functional.recurrent import *  # noqa: F403

__all__: list[str] = []
__all__ += activation.__all__
__all__ += common.__all__
__all__ += conv.__all__
__all__ += loss.__all__
__all__ += norm.__all__
__all__ += recurrent.__all__
