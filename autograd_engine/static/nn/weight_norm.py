"""Weights that are a length times a direction, both trained."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from autograd_engine.core.checks import is_int
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.nn.initializer import Constant, Initializer
from autograd_engine.nn.param_attr import ParamAttr
from autograd_engine.nn.parameters import static_parameter
from autograd_engine.nn.utils.weight_normalization import norm_without, of_norm, set_once
from autograd_engine.program.ir.program import Variable, default_main_program
from autograd_engine.regularizer import WeightDecayRegularizer

__all__ = ["WeightNormParamAttr"]


class WeightNormParamAttr(ParamAttr):
    """For ``weight_attr`` in programs: the weight is ``g * v / norm(v)`` (Salimans, Kingma 2016).

    `v`, which has the shape of the weight, and `g` are parameters, ``<name>_v`` and ``<name>_g``.
    In the beginning `g` is the norm of `v`, and the weight is what the initializer makes.

    Parameters
    ----------
    dim : int, optional
        An axis: the norm is taken, and there is a length, for each index of it. None for one
        length of the whole weight.
    name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip
        See `ParamAttr`.

    Raises
    ------
    TypeError, ArgumentError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main, paddle.static.Program()):
    ...     x = paddle.static.data("x", [None, 4])
    ...     attr = paddle.static.WeightNormParamAttr(dim=1, name="w")
    ...     y = paddle.static.nn.fc(x, 3, weight_attr=attr, bias_attr=False)
    >>> [(p.name, p.shape) for p in main.all_parameters()]
    [('w_g', (1, 3)), ('w_v', (4, 3))]
    """

    dim: int | None

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        super().__init__(
            name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip
        )
        if dim is not None and not is_int(dim):
            raise ArgumentTypeError(f"WeightNormParamAttr: dim must be an int or None, got {dim!r}")
        object.__setattr__(self, "dim", dim)

    def composed(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], initializer: Initializer
    ) -> Variable:
        """The weight of that name, made of two parameters."""
        if self.dim is not None and not -len(shape) <= self.dim < len(shape):
            raise ArgumentError(
                f"WeightNormParamAttr: dim={self.dim} is no axis of the weight {name}, which is "
                f"{list(shape)}"
            )
        kept = None if self.dim is None else self.dim % len(shape)
        lengths = tuple(d if k == kept else 1 for k, d in enumerate(shape))
        made = default_main_program().global_block().has_var(f"{name}_g")
        plain = ParamAttr(**{field.name: getattr(self, field.name) for field in fields(ParamAttr)})
        g = static_parameter(f"{name}_g", lengths, dtype, Constant(1.0), plain)
        v = static_parameter(f"{name}_v", shape, dtype, initializer, plain)
        if not made:
            set_once(g, v, lambda v: norm_without(v, kept))
        weight: Variable = of_norm(v, g, kept)
        return weight
