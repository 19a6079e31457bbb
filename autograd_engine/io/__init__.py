"""Datasets, the order in which samples are taken, and loaders of batches."""

from autograd_engine.io.batch_samplers import BatchSampler, DistributedBatchSampler
from autograd_engine.io.collate import default_collate_fn, default_convert_fn
from autograd_engine.io.datasets import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
)
from autograd_engine.io.loader import DataLoader
from autograd_engine.io.samplers import (
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
    random_split,
)
from autograd_engine.io.workers.info import WorkerInfo, get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedBatchSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "WorkerInfo",
    "default_collate_fn",
    "default_convert_fn",
    "get_worker_info",
    "random_split",
]


def __dir__() -> list[str]:
    return __all__
