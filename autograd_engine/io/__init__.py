"""Datasets, the order in which samples are taken, and loaders of batches."""

import typing

from autograd_engine.core.lazy import face as _face
from autograd_engine.io.batch_samplers import (
    BatchSampler as BatchSampler,
    DistributedBatchSampler as DistributedBatchSampler,
)
from autograd_engine.io.collate import (
    default_collate_fn as default_collate_fn,
    default_convert_fn as default_convert_fn,
)
from autograd_engine.io.datasets import *  # noqa: F403
from autograd_engine.io.loader import DataLoader as DataLoader
from autograd_engine.io.samplers import (
    RandomSampler as RandomSampler,
    Sampler as Sampler,
    SequenceSampler as SequenceSampler,
    SubsetRandomSampler as SubsetRandomSampler,
    WeightedRandomSampler as WeightedRandomSampler,
    random_split as random_split,
)
from autograd_engine.io.workers.info import (
    WorkerInfo as WorkerInfo,
    get_worker_info as get_worker_info,
)

if not typing.TYPE_CHECKING:
    __getattr__, __dir__, __all__ = _face(__name__)
