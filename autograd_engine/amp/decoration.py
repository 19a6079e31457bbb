"""`decorate`: models whose parameters are of a low dtype, and optimizers that train them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from autograd_engine.amp.casting import half_dtype, level_of
from autograd_engine.core.checks import require_bools
from autograd_engine.core.dtypes import FLOAT16, FLOATS, DTypeLike, as_dtype
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.base.state_dict import cast
from autograd_engine.nn.layer.normalization import (
    BatchNorm,
    BatchNorm1D,
    BatchNorm2D,
    BatchNorm3D,
    InstanceNorm1D,
    InstanceNorm2D,
    InstanceNorm3D,
    LayerNorm,
    SyncBatchNorm,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.optimizer.optimizer import Optimizer

__all__ = ["amp_decorate", "decorate"]

# What counts the elements of batches, and sums over them, keeps its own numbers in float32.
_FLOAT32: Final = (BatchNorm, BatchNorm1D, BatchNorm2D, BatchNorm3D, SyncBatchNorm)
_FLOAT32_BESIDE_FLOAT16: Final = (LayerNorm, InstanceNorm1D, InstanceNorm2D, InstanceNorm3D)


def decorate(
    models: Any,
    optimizers: Any = None,
    level: str = "O1",
    dtype: DTypeLike = "float16",
    master_weight: bool | None = None,
    save_dtype: DTypeLike | None = None,
    master_grad: bool = False,
    excluded_layers: Any = None,
) -> Any:
    """Give models parameters of a low dtype, for ``auto_cast(level="O2")``, and train float32 ones.

    At any other level models and optimizers are returned as they are.

    Parameters
    ----------
    models : Layer or list of Layer
        Their parameters and buffers are cast, but for those of batch normalisation, and beside
        float16 those of layer and instance normalisation.
    optimizers : Optimizer or list of Optimizer, optional
    level : {"O0", "OD", "O1", "O2"}
    dtype : {"float16", "bfloat16"}
    master_weight : bool, optional
        Let optimizers keep parameters in float32 besides, and update these. By default they do.
    save_dtype : dtype, optional
        The floating dtype of what ``state_dict()`` of the models returns; by default that of the
        parameters.
    master_grad : bool
        Cast gradients to float32 before they are clipped and applied to master weights.
    excluded_layers : Layer, type, or list of these, optional
        Whose parameters stay as they are. Of a layer those inside are meant too.

    Returns
    -------
    models, or (models, optimizers)
        What was given.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> net = paddle.nn.Linear(2, 2)
    >>> adam = paddle.optimizer.Adam(parameters=net.parameters())
    >>> net, adam = paddle.amp.decorate(net, adam, level="O2")
    >>> net.weight.dtype
    paddle.float16
    """
    level = level_of("decorate", level)
    require_bools("decorate", master_grad=master_grad)
    if master_weight is not None:
        require_bools("decorate", master_weight=master_weight)
    layers = _listed("models", models, Layer)
    trained = [] if optimizers is None else _listed("optimizers", optimizers, Optimizer)
    low = half_dtype("decorate", "dtype", dtype)
    saved = None if save_dtype is None else _saved(save_dtype)
    kinds, instances = _excluded(excluded_layers)
    if level == "O2":
        every = {id(each): each for m in layers for each in m.sublayers(include_self=True)}
        for layer in instances:
            for each in layer.sublayers(include_self=True):
                every.pop(id(each), None)
        kept = (*kinds, *_FLOAT32, *(_FLOAT32_BESIDE_FLOAT16 if low == FLOAT16 else ()))
        cast([each for each in every.values() if not isinstance(each, kept)], low)
        if master_weight is not False:
            for optimizer in trained:
                optimizer.keep_masters(master_grad)
        if saved is not None:
            for model in layers:
                model.register_state_dict_hook(_cast_to(saved))
    return models if optimizers is None else (models, optimizers)


amp_decorate = decorate


def _listed(argument: str, given: Any, kind: type) -> list[Any]:
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    for value in listed:
        if not isinstance(value, kind):
            raise ArgumentTypeError(
                f"decorate: {argument} must be a {kind.__name__} or a list of them, got "
                f"{type(value).__name__}"
            )
    return listed


def _saved(dtype: DTypeLike) -> np.dtype[Any]:
    found = as_dtype(dtype).dtype
    if found not in FLOATS:
        raise ArgumentError(
            f"decorate: save_dtype must be float16, bfloat16, float32 or float64, got {found.name}"
        )
    return found


def _excluded(given: Any) -> tuple[tuple[type, ...], list[Layer]]:
    """Classes, and layers themselves."""
    values: Sequence[Any] = (
        [] if given is None else given if isinstance(given, (list, tuple)) else [given]
    )
    kinds = tuple(v for v in values if isinstance(v, type) and issubclass(v, Layer))
    instances = [v for v in values if isinstance(v, Layer)]
    if len(kinds) + len(instances) < len(values):
        raise ArgumentTypeError(
            "decorate: excluded_layers must be a layer, a class of layers or a list of these, got "
            f"{given!r:.80}"
        )
    return kinds, instances


def _cast_to(dtype: np.dtype[Any]) -> Callable[[dict[str, Any]], None]:
    """A hook that casts what a state holds."""

    def hook(state: dict[str, Any]) -> None:
        for name, value in state.items():
            if isinstance(value, Tensor) and value._data.dtype in FLOATS:
                if value._data.dtype != dtype:
                    state[name] = ops.cast(value.detach(), dtype=dtype.name)
            elif isinstance(value, np.ndarray) and value.dtype in FLOATS:
                state[name] = value.astype(dtype)

    return hook
