"""Functions of neural networks; each runs in either mode, by its operands."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.nn.functional.activation import *  # noqa: F403
from autograd_engine.nn.functional.attention import *  # noqa: F403
from autograd_engine.nn.functional.channel_shuffling import *  # noqa: F403
from autograd_engine.nn.functional.classification import *  # noqa: F403
from autograd_engine.nn.functional.common import *  # noqa: F403
from autograd_engine.nn.functional.conv import *  # noqa: F403
from autograd_engine.nn.functional.distance import *  # noqa: F403
from autograd_engine.nn.functional.dropouts import *  # noqa: F403
from autograd_engine.nn.functional.flash_attention import (
    flash_attn_qkvpacked as flash_attn_qkvpacked,
)
from autograd_engine.nn.functional.hierarchical_loss import *  # noqa: F403
from autograd_engine.nn.functional.loss import *  # noqa: F403
from autograd_engine.nn.functional.margin import *  # noqa: F403
from autograd_engine.nn.functional.normalization import *  # noqa: F403
from autograd_engine.nn.functional.padding import *  # noqa: F403
from autograd_engine.nn.functional.pool import *  # noqa: F403
from autograd_engine.nn.functional.recurrent import *  # noqa: F403
from autograd_engine.nn.functional.resample import *  # noqa: F403
from autograd_engine.nn.functional.sequence import *  # noqa: F403
from autograd_engine.tensor.diagonal import diag_embed as diag_embed
from autograd_engine.tensor.linalg.norms import pdist as pdist

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
