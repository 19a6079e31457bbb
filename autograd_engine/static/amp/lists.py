"""Lists of operations for mixed precision: what the table says, and what a user says besides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograd_engine.amp.casting import autocast_of, half_dtype, level_of, listed_rows, rows_in
from autograd_engine.core.dtypes import FLOAT32, DTypeLike
from autograd_engine.eager.autocast import Autocast
from autograd_engine.errors import ArgumentTypeError

__all__ = ["AutoMixedPrecisionLists", "CustomOpLists", "given_lists"]


class AutoMixedPrecisionLists:
    """Which operations run in the low dtype and which in float32: the table's, with changes.

    Parameters
    ----------
    custom_white_list, custom_black_list : list, tuple or set of str, optional
        As `paddle.amp.auto_cast` takes them.
    custom_black_varnames : list, tuple or set of str, optional
        Names of variables: what reads or writes one of them runs in float32.
    dtype : {"float16", "bfloat16"}

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> lists = paddle.static.amp.AutoMixedPrecisionLists(custom_black_list={"conv2d"})
    >>> "matmul_v2" in lists.white_list, "conv2d" in lists.black_list
    (True, True)
    """

    def __init__(
        self,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Iterable[str] | None = None,
        dtype: DTypeLike = "float16",
    ) -> None:
        owner = type(self).__name__
        self.amp_dtype = half_dtype(owner, "dtype", dtype).name
        self._rows = listed_rows(owner, custom_white_list, custom_black_list)
        if isinstance(custom_black_varnames, str):
            raise ArgumentTypeError(
                f"{owner}: custom_black_varnames must be a list of names, got a str: write "
                f"custom_black_varnames=[{custom_black_varnames!r}]"
            )
        self.black_varnames = frozenset(custom_black_varnames or ())

    @property
    def white_list(self) -> set[str]:
        """Names of what runs in the low dtype at level "O1"."""
        autocast = self.autocast("O1", True)
        return rows_in(autocast, autocast.dtype)

    @property
    def black_list(self) -> set[str]:
        """Names of what runs in float32 at level "O1"."""
        return rows_in(self.autocast("O1", True), FLOAT32)

    @property
    def gray_list(self) -> set[str]:
        """Names of what takes the widest dtype of its operands."""
        return rows_in(self.autocast("O1", True), None)

    def autocast(self, level: str, promote: bool) -> Autocast:
        """What a block of `paddle.amp.auto_cast` with these lists says."""
        level = level_of(type(self).__name__, level)
        dtype = half_dtype(type(self).__name__, "dtype", self.amp_dtype)
        return autocast_of(dtype, level, promote or level != "O2", *self._rows)



CustomOpLists = AutoMixedPrecisionLists


def given_lists(owner: str, given: Any, dtype: DTypeLike) -> AutoMixedPrecisionLists:
    """`given`, or those of the table."""
    if given is None:
        return AutoMixedPrecisionLists(dtype=dtype)
    if not isinstance(given, AutoMixedPrecisionLists):
        raise ArgumentTypeError(
            f"{owner}: amp_lists must be paddle.static.amp.AutoMixedPrecisionLists, got "
            f"{type(given).__name__}"
        )
    return given
