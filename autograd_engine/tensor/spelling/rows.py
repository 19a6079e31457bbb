"""The table of spellings: what calls may say instead of the declared names.

Programs written for torch, and those for Paddle 3.3, which takes torch's names, write ``dim`` for
``axis`` and ``input`` for ``x``. `EVERYWHERE` has what holds for every function that has a
parameter of such a name; a row of `ROWS` what holds for one function, or layer, alone.

tests/surface/spellings.json lists what Paddle 3.3.1 takes (tools/spellings.py asks it), and a test
calls every function so. The declared names stay Paddle's: they are what signatures, type checkers
and the documentation show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["CREATING", "EVERYWHERE", "IGNORED", "NEUTRAL", "ROWS", "Row"]


@dataclass(frozen=True)
class Row:
    """What calls of one function may look like.

    Attributes
    ----------
    also : str
        Pairs ``other=declared`` of names of one argument.
    form : str
        The function of `forms` that tells what is meant by where an argument stands.
    when : str
        A condition on the parameters, in Python, under which that is to be asked. It is part of
        every call, so it compares classes and identities only.
    tells : str
        Names that the form is to see before they are taken for those of `EVERYWHERE`.
    """

    also: str = ""
    form: str = ""
    when: str = ""
    tells: str = ""

    @property
    def when_given(self) -> list[str]:
        return [f"({self.when})"] if self.when else []


# For each name that a hand may write, the declared names that it may stand for: the first one that
# the function has.
EVERYWHERE: Final[dict[str, str]] = {
    "A": "x",
    "a": "x",
    "bias": "bias_attr",
    "dim": "axis axes",
    "dim1": "axis1",
    "dim2": "axis2",
    "dims": "axis axes",
    "end_dim": "stop_axis",
    "eps": "epsilon",
    "exponent": "y",
    "input": "x arr values",
    "keepdims": "keepdim",
    "lr": "learning_rate",
    "module": "sublayer layer",
    "modules": "sublayers",
    "ord": "p",
    "other": "y",
    "params": "parameters",
    "persistent": "persistable",
    "recurse": "include_sublayers",
    "return_indices": "return_mask",
    "size": "shape",
    "start_dim": "start_axis",
    "target": "label",
    "tensors": "x",
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Arguments that ask for what is the case anyway.
IGNORED: Final = _words("non_blocking pin_memory")

# Arguments that ask for nothing where they are None or False.
NEUTRAL: Final = _words("""
    generator inplace layout memory_format name out reduce requires_grad size_average
""")

# The functions that make tensors of nothing, which say where and whether a gradient is wanted.
CREATING: Final = _words("""
    arange empty empty_like eye fftfreq full full_like linspace logspace normal ones ones_like rand
    rand_like randint randint_like randn randn_like randperm rfftfreq standard_normal to_tensor
    asarray tensor new_empty new_full new_ones new_zeros
    tril_indices triu_indices uniform zeros zeros_like
""")


def _sized(name: str, also: str = "") -> Row:
    """A function of an array and sizes, which may be an argument each."""
    return Row(also, form=name, when=f"{name}.__class__ is int or name is not None")


_SHAPED: Final = _sized("shape")

ROWS: Final[dict[str, Row]] = {
    # making
    "empty": _SHAPED,
    "eye": Row("n=num_rows m=num_columns"),
    "linspace": Row("end=stop steps=num"),
    "logspace": Row("end=stop steps=num"),
    "ones": _SHAPED,
    "rand": _SHAPED,
    "randn": _SHAPED,
    "standard_normal": _SHAPED,
    "to_tensor": Row("device=place"),
    "zeros": _SHAPED,
    # filling
    "exponential_": Row("lambd=lam"),
    "uniform_": Row("from=min to=max"),
    # shapes
    "broadcast_to": _SHAPED,
    "expand": _SHAPED,
    "permute": Row("dim=dims axes=dims perm=dims", form="dims", when="dims.__class__ is int"),
    "reshape": _SHAPED,
    "swapaxes": Row("dim0=axis0 dim1=axis1"),
    "tensor_split": Row(
        "indices=num_or_indices indices_or_sections=num_or_indices sections=num_or_indices"
    ),
    "tile": _sized("repeat_times", "dims=repeat_times reps=repeat_times repeats=repeat_times"),
    "transpose": Row("axes=perm dims=perm", form="perm", when="perm.__class__ is int"),
    "unflatten": Row("sizes=shape"),
    "unfold": Row("dimension=axis dim=axis"),
    "view": _sized("shape_or_dtype", "dtype=shape_or_dtype size=shape_or_dtype"),
    # positions
    "bucketize": Row("boundaries=sorted_sequence"),
    "gather": Row(form="gather", when="index.__class__ is int", tells="dim"),
    "index_add": Row("source=value", form="axis second", when="index.__class__ is int"),
    "index_fill": Row(form="axis second", when="index.__class__ is int"),
    "index_put": Row("values=value"),
    "index_select": Row(form="axis second", when="index.__class__ is int"),
    "put_along_axis": Row("index=indices src=values value=values"),
    "scatter": Row(form="scatter", when="index.__class__ is int", tells="dim src value reduce"),
    "take_along_axis": Row("index=indices"),
    # reductions and order
    "max": Row(form="max", when="axis is not None and axis.__class__ is not int", tells="dim"),
    "min": Row(form="min", when="axis is not None and axis.__class__ is not int", tells="dim"),
    "sort": Row(form="sort", tells="dim"),
    "split": Row(form="split", tells="dim split_size split_size_or_sections"),
    "sum": Row(form="sum", when="dtype.__class__ is bool"),
    # arithmetic
    "bmm": Row("mat2=y"),
    "dot": Row("tensor=y"),
    "isin": Row("elements=x test_elements=test_x"),
    "mm": Row("mat2=mat2"),
    "outer": Row("vec2=y"),
    "solve": Row("B=y"),
    # of networks
    "dropout": Row(form="dropout", when="axis.__class__ is bool"),
    "fold": Row(
        "dilation=dilations kernel_size=kernel_sizes output_size=output_sizes padding=paddings "
        "stride=strides"
    ),
    "hardshrink": Row("lambd=threshold"),
    "pairwise_distance": Row("x1=x x2=y"),
    "softshrink": Row("lambd=threshold"),
}
