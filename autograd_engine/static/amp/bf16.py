"""``paddle.static.amp.bf16``: the same for bfloat16, in the words of older Paddle."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import bfloat16
from autograd_engine.core.spec import Array
from autograd_engine.optimizer.optimizer import Optimizer
from autograd_engine.program.ir.program import Program
from autograd_engine.program.scope import Scope
from autograd_engine.static.amp.decorated import OptimizerWithMixedPrecision, decorate
from autograd_engine.static.amp.lists import AutoMixedPrecisionLists
from autograd_engine.static.amp.rewriting import (
    cast_model_to_fp16,
    cast_parameters_to_fp16,
    fp16_guard,
)

__all__ = [
    "AutoMixedPrecisionListsBF16",
    "bf16_guard",
    "cast_model_to_bf16",
    "cast_parameters_to_bf16",
    "convert_float_to_uint16",
    "decorate_bf16",
    "rewrite_program_bf16",
]


class AutoMixedPrecisionListsBF16(AutoMixedPrecisionLists):
    """`paddle.static.amp.AutoMixedPrecisionLists` for bfloat16.

    Parameters
    ----------
    custom_bf16_list, custom_fp32_list : list, tuple or set of str, optional
    custom_fp32_varnames : list, tuple or set of str, optional

    Examples
    --------
    >>> lists = AutoMixedPrecisionListsBF16(custom_fp32_list={"conv2d"})
    >>> "matmul_v2" in lists.bf16_list, "conv2d" in lists.fp32_list
    (True, True)
    """

    def __init__(
        self,
        custom_bf16_list: Iterable[str] | None = None,
        custom_fp32_list: Iterable[str] | None = None,
        custom_fp32_varnames: Iterable[str] | None = None,
    ) -> None:
        super().__init__(custom_bf16_list, custom_fp32_list, custom_fp32_varnames, "bfloat16")

    @property
    def bf16_list(self) -> set[str]:
        """Names of what runs in bfloat16."""
        return self.white_list

    @property
    def fp32_list(self) -> set[str]:
        """Names of what runs in float32."""
        return self.black_list

    @property
    def fp32_varnames(self) -> frozenset[str]:
        """What reads or writes one of these runs in float32."""
        return self.black_varnames


@contextlib.contextmanager
def bf16_guard() -> Iterator[None]:
    """`paddle.static.amp.fp16_guard`"""
    with fp16_guard():
        yield


def cast_model_to_bf16(
    program: Program,
    startup_prog: Program | None = None,
    amp_lists: AutoMixedPrecisionLists | None = None,
    use_bf16_guard: bool = True,
) -> set[str]:
    """`paddle.static.amp.cast_model_to_fp16` at level "O2" to bfloat16.

    Parameters
    ----------
    program : Program
    startup_prog : Program, optional
        Accepted for the reference's sake: `cast_parameters_to_bf16` casts what it makes.
    amp_lists : AutoMixedPrecisionListsBF16, optional
    use_bf16_guard : bool
        Cast what was built inside of `bf16_guard` only.

    Returns
    -------
    set of str
        Names of the parameters that are of bfloat16 now.
    """
    return cast_model_to_fp16(program, amp_lists, use_bf16_guard, "bfloat16")


def cast_parameters_to_bf16(
    place: Any,
    program: Program,
    scope: Scope | None = None,
    to_bf16_var_names: Iterable[str] | None = None,
) -> None:
    """`paddle.static.amp.cast_parameters_to_fp16` to bfloat16."""
    cast_parameters_to_fp16(place, program, scope, to_bf16_var_names, "bfloat16")


def rewrite_program_bf16(
    main_prog: Program, amp_lists: AutoMixedPrecisionLists | None = None
) -> None:
    """`paddle.static.amp.cast_model_to_fp16` at level "O1" to bfloat16."""
    cast_model_to_fp16(main_prog, amp_lists, False, "bfloat16", "O1")


def decorate_bf16(
    optimizer: Optimizer,
    amp_lists: AutoMixedPrecisionLists | None = None,
    use_pure_bf16: bool = False,
    use_bf16_guard: bool | None = None,
) -> OptimizerWithMixedPrecision:
    """`paddle.static.amp.decorate` for bfloat16.

    Parameters
    ----------
    optimizer : Optimizer
    amp_lists : AutoMixedPrecisionListsBF16, optional
    use_pure_bf16 : bool
        Parameters of bfloat16: level "O2".
    use_bf16_guard : bool, optional
        Cast what was built inside of `bf16_guard` only; by default what `use_pure_bf16` is.
    """
    guard = use_pure_bf16 if use_bf16_guard is None else use_bf16_guard
    return decorate(
        optimizer,
        amp_lists,
        use_pure_fp16=use_pure_bf16,
        use_fp16_guard=guard,
        use_bf16=True,
    )


def convert_float_to_uint16(in_list: Any) -> Array:
    """The bits of numbers in bfloat16.

    Parameters
    ----------
    in_list : array_like of floats

    Returns
    -------
    ndarray of uint16

    Examples
    --------
    >>> convert_float_to_uint16([1.0, -2.0]).tolist()
    [16256, 49152]
    """
    return np.asarray(in_list, np.float32).astype(bfloat16()).view(np.uint16)
