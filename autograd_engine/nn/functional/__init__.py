"""Functions of neural networks; each runs in either mode, by its operands."""

from autograd_engine.nn.functional import (
    activation,
    attention,
    classification,
    common,
    conv,
    ctc,
    distance,
    loss,
    margin,
    norm,
    padding,
    pool,
    recurrent,
    vision,
)
from autograd_engine.nn.functional import (
    binary_losses as logits,
)
from autograd_engine.nn.functional import (
    channel_shuffling as shuffle,
)
from autograd_engine.nn.functional import (
    dropouts as noise,
)
from autograd_engine.nn.functional import (
    hierarchical_loss as hierarchy,
)
from autograd_engine.nn.functional import (
    smooth_activation as sigmoidal,
)
from autograd_engine.nn.functional import (
    softmax_and_gates as gated,
)
from autograd_engine.nn.functional.activation import *  # noqa: F403  # noqa: F403
from autograd_engine.nn.functional.attention import *  # noqa: F403
from autograd_engine.nn.functional.binary_losses import *  # noqa: F403
from autograd_engine.nn.functional.channel_shuffling import *  # noqa: F403
from autograd_engine.nn.functional.classification import *  # noqa: F403
from autograd_engine.nn.functional.common import *  # noqa: F403
from autograd_engine.nn.functional.conv import *  # noqa: F403
from autograd_engine.nn.functional.ctc import *  # noqa: F403
from autograd_engine.nn.functional.distance import *  # noqa: F403
from autograd_engine.nn.functional.dropouts import *  # noqa: F403
from autograd_engine.nn.functional.hierarchical_loss import *  # noqa: F403
from autograd_engine.nn.functional.loss import *  # noqa: F403
from autograd_engine.nn.functional.margin import *  # noqa: F403
from autograd_engine.nn.functional.norm import *  # noqa: F403
from autograd_engine.nn.functional.padding import *  # noqa: F403
from autograd_engine.nn.functional.pool import *  # noqa: F403
from autograd_engine.nn.functional.recurrent import *  # noqa: F403
from autograd_engine.nn.functional.smooth_activation import *  # noqa: F403
from autograd_engine.nn.functional.softmax_and_gates import *  # noqa: F403
from autograd_engine.nn.functional.vision import *  # noqa: F403

__all__: list[str] = []
__all__ += activation.__all__
__all__ += attention.__all__
__all__ += classification.__all__
__all__ += common.__all__
__all__ += conv.__all__
__all__ += ctc.__all__
__all__ += distance.__all__
__all__ += gated.__all__
__all__ += hierarchy.__all__
__all__ += logits.__all__
__all__ += loss.__all__
__all__ += margin.__all__
__all__ += noise.__all__
__all__ += norm.__all__
__all__ += padding.__all__
__all__ += pool.__all__
__all__ += recurrent.__all__
__all__ += shuffle.__all__
__all__ += sigmoidal.__all__
__all__ += vision.__all__


def __dir__() -> list[str]:
    return __all__
