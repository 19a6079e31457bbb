"""C kernels of the convolution and its two adjoints: which way of computing, for which sizes.

Three ways, each for the convolution and its adjoint in the images, and for that in the filters:

=========  ==========  =====================================
direct     `direct`    few filters, short sums, depthwise
columns    `im2col`    everything else: one product of matrices
winograd   `winograd`  3 x 3 taps, stride 1, many channels
=========  ==========  =====================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final, Literal, TypeAlias

from autograd_engine.compiler.native.c_code.c_kernel import (
    CKernel,
    element_type,
    known,
    widest,
)
from autograd_engine.compiler.native.conv.correlation import Correlation, backward, forward
from autograd_engine.compiler.native.conv.direct import direct, filter_direct
from autograd_engine.compiler.native.conv.im2col import columns, filter_columns
from autograd_engine.compiler.native.conv.winograd import filter_winograd, takes, winograd
from autograd_engine.core.spec import Spec

__all__ = ["OPERATIONS", "CKernel", "Way", "conv", "way"]

OPERATIONS: Final = ("conv", "conv_input", "conv_filter")

Way: TypeAlias = Literal["direct", "columns", "winograd"]
Make: TypeAlias = Callable[..., CKernel]

# As measured: from how many filters and elements of a filter products of matrices win.
_FILTERS: Final = 24
_ELEMENTS: Final = 32
# And from how many channels, filters and tiles transforms do.
_CHANNELS: Final = 16
_TILES: Final = 64


def conv(
    op_name: str,
    operand_specs: Sequence[Spec],
    result_specs: Sequence[Spec],
    attrs: Mapping[str, Any],
    workers: int,
    way_of: Callable[[Correlation], Way] | None = None,
) -> CKernel | None:
    """The C kernel of one of `OPERATIONS`.

    Parameters
    ----------
    op_name : str
    operand_specs, result_specs : sequence of Spec
        As in the table of operations; the operand that only tells a shape has no pointer.
    attrs : mapping
        stride, padding, dilation, groups.
    workers : int
        The most threads that the kernel is called on: ``ae_threads()``.
    way_of : callable, optional
        Instead of `way`.

    Returns
    -------
    CKernel or None
        None for dtypes and sizes that are not supported.
    """
    images, filters, outputs = _roles(op_name, operand_specs, result_specs)
    t = element_type(images.dtype)
    shapes = known((images, filters, outputs))
    if t is None or not images.dtype == filters.dtype == outputs.dtype or shapes is None:
        return None
    x, w, y = shapes
    name = f"ae_{op_name}"
    result = prod(x if op_name == "conv_input" else w if op_name == "conv_filter" else y)
    if 0 in (prod(x), prod(w), prod(y)):
        return _nothing(name, t, result)
    along = attrs["stride"], attrs["padding"], attrs["dilation"], attrs["groups"]
    chosen = way_of or way
    if op_name == "conv_filter":
        job = forward(images.dtype, x, w, y, *along)
        return _by(_FILTER_WAYS, name, job, workers, chosen(job))
    build = backward if op_name == "conv_input" else forward
    built = build(images.dtype, x, w, y, *along)
    jobs = built if isinstance(built, list) else [built]
    parts = [
        _by(_IMAGE_WAYS, f"{name}_{i}", job, workers, chosen(job)) for i, job in enumerate(jobs)
    ]
    covered = sum(job.positions for job in jobs) == prod((x if built is jobs else y)[2:])
    return _together(name, t, parts, 0 if covered else result)


def way(job: Correlation) -> Way:
    """The fastest way for a correlation, or for the gradient of its filters, as measured."""
    if takes(job) and min(job.depth, job.filters) >= _CHANNELS:
        tiles = job.images * prod(-(-a.count // 2) for a in job.axes)
        if tiles >= _TILES:
            return "winograd"
    if job.filters >= _FILTERS and job.depth * job.taps >= _ELEMENTS:
        return "columns"
    narrow = widest(job.dtype, job.axes[-1].count) * job.dtype.itemsize < 16
    return "columns" if narrow and min(job.filters, job.depth) >= 8 else "direct"


def _roles(op: str, operands: Sequence[Spec], results: Sequence[Spec]) -> tuple[Spec, Spec, Spec]:
    """Images, filters and output of the convolution."""
    if op == "conv":
        return operands[0], operands[1], results[0]
    if op == "conv_input":
        return operands[2], operands[1], operands[0]
    return operands[1], operands[2], operands[0]


_IMAGE_WAYS: Final[dict[Way, Make]] = {
    "direct": direct,
    "columns": columns,
    "winograd": winograd,
}
_FILTER_WAYS: Final[dict[Way, Make]] = {
    "direct": filter_direct,
    "columns": filter_columns,
    "winograd": filter_winograd,
}


def _by(ways: Mapping[Way, Make], name: str, job: Correlation, workers: int, how: Way) -> CKernel:
    if how == "winograd":  # which leaves extreme values to the columns
        otherwise = ways["columns"](f"{name}_any", job, workers)
        return ways[how](name, job, workers, otherwise)
    return ways[how](name, job, workers)


def _nothing(name: str, t: str, size: int) -> CKernel:
    """The sum of nothing is zero."""
    fill = f"memset(y, 0, sizeof({t}) * {size});" if size else "(void)y;"
    return CKernel(
        name,
        f"static void {name}(const {t} *a, const {t} *b, {t} *y, {t} *scratch)\n"
        f"{{\n    (void)a; (void)b; (void)scratch;\n    {fill}\n}}\n",
        0,
    )


def _together(name: str, t: str, parts: Sequence[CKernel], cleared: int) -> CKernel:
    """One function that clears the result where no part sets it, and calls all parts."""
    lines = [f"    memset(y, 0, sizeof({t}) * {cleared});"] if cleared else []
    lines += [f"    {part.name}(a, b, y, scratch);" for part in parts]
    body = "\n".join(lines)
    return CKernel(
        name,
        "".join(part.source for part in parts)
        + f"static void {name}(const {t} *a, const {t} *b, {t} *y, {t} *scratch)\n"
        f"{{\n    (void)scratch;\n{body}\n}}\n",
        max((part.scratch for part in parts), default=0),
        tuple(dict.fromkeys(helper for part in parts for helper in part.helpers)),
    )
