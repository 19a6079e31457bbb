"""``paddle.incubate``: functions under older names, optimizers around others."""

import typing

from autograd_engine.core.lazy import face as _face

if typing.TYPE_CHECKING:
    from autograd_engine.geometric.segment import (
        segment_max as segment_max,
        segment_mean as segment_mean,
        segment_min as segment_min,
        segment_sum as segment_sum,
    )
    from autograd_engine.incubate import autograd as autograd, optimizer as optimizer
    from autograd_engine.incubate.functions import *  # noqa: F403
    from autograd_engine.incubate.optimizer import (
        LookAhead as LookAhead,
        ModelAverage as ModelAverage,
    )
else:
    __getattr__, __dir__, __all__ = _face(
        __name__,
        {
            "incubate.functions": "graph_reindex graph_send_recv identity_loss softmax_mask_fuse "
            "softmax_mask_fuse_upper_triangle",
            "incubate.optimizer": "LookAhead ModelAverage",
            "geometric.segment": "segment_max segment_mean segment_min segment_sum",
        },
        "autograd optimizer",
    )
