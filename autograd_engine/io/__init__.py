"""Datasets, the order in which samples are taken, and loaders of batches."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.io.batch_samplers import *  # noqa: F403
from autograd_engine.io.collate import *  # noqa: F403
from autograd_engine.io.datasets import *  # noqa: F403
from autograd_engine.io.loader import *  # noqa: F403
from autograd_engine.io.samplers import *  # noqa: F403
from autograd_engine.io.workers.info import *  # noqa: F403

if not typing.TYPE_CHECKING:
    from autograd_engine.tensor.spelling.wrapper import spelled_classes as _spelled_classes

    __getattr__, __dir__, __all__ = _face(__name__)
    _spelled_classes({name: globals()[name] for name in __all__})
