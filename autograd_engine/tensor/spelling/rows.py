"""Calls that tell by position what is meant, and those whose keywords do not stand alone.

What a keyword is, is in the table of `core.names.keywords`. A row of `ROWS` has what is to be asked
of a function besides: which of its arguments are meant, where they stand in the order of torch, or
in the number that torch takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["ROWS", "Row"]


@dataclass(frozen=True)
class Row:
    """What calls of one function may look like.

    Attributes
    ----------
    form : str
        The function of `forms` that tells what is meant by where an argument stands.
    when : str
        A condition on the parameters, in Python, under which that is to be asked. It is part of
        every call, so it compares classes and identities only.
    tells : str
        Keywords that the form is to see before they are taken for those of `KEYWORDS`.
    order : str
        The arguments by position in the order of torch: taken where an index is an int, for an
        axis stands before it there, or where an argument would be given twice.
    """

    form: str = ""
    when: str = ""
    tells: str = ""
    order: str = ""

    @property
    def when_given(self) -> list[str]:
        return [f"({self.when})"] if self.when else []


def _sized(name: str) -> Row:
    """A function of an array and sizes, which may be an argument each."""
    return Row(form=name, when=f"{name}.__class__ is int or name is not None")


def _axis_first(order: str, form: str = "", tells: str = "") -> Row:
    """A function of an index and an axis, which may stand before it."""
    return Row(form, "index.__class__ is int", tells, order)


_SHAPED: Final = _sized("shape")

ROWS: Final[dict[str, Row]] = {
    # making
    "empty": _SHAPED,
    "ones": _SHAPED,
    "rand": _SHAPED,
    "randn": _SHAPED,
    "standard_normal": _SHAPED,
    "zeros": _SHAPED,
    # shapes
    "broadcast_to": _SHAPED,
    "expand": _SHAPED,
    "permute": Row("dims", when="dims.__class__ is int"),
    "reshape": _SHAPED,
    "tile": _sized("repeat_times"),
    "transpose": Row("perm", when="perm.__class__ is int", tells="dim0 dim1"),
    "view": _sized("shape_or_dtype"),
    # positions
    "gather": _axis_first("x dim index", "gather", "dim"),
    "index_add": _axis_first("x axis index value"),
    "index_fill": _axis_first("x axis index value"),
    "index_select": _axis_first("x axis index"),
    "scatter": _axis_first("x dim index src", "scatter", "dim src value reduce"),
    # reductions and order
    "max": Row("max", when="axis is not None and axis.__class__ is not int", tells="dim"),
    "min": Row("min", when="axis is not None and axis.__class__ is not int", tells="dim"),
    "sort": Row("sort", tells="dim"),
    "split": Row("split", tells="dim split_size split_size_or_sections"),
    "sum": Row("sum", when="dtype.__class__ is bool"),
    # of networks
    "fold": Row(order="x output_sizes kernel_sizes dilations paddings strides"),
    "fractional_max_pool2d": Row(order="x kernel_size output_size"),
    "fractional_max_pool3d": Row(order="x kernel_size output_size"),
    "dropout": Row("dropout", when="axis.__class__ is bool"),
}
