"""One form for convolution and its adjoint in the images: correlations with known sizes.

    y[n, g, o, p] = sum over c, t of  w[g, o, c, t] x[n, g, c, step p + first + gap t]

for every axis of p and t, where x is zero outside. `conv` is one correlation. `conv_input` of
stride s is one for every phase: the pixels that are congruent modulo s meet the same taps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import gcd, prod
from typing import Any

import numpy as np

from autograd_engine.compiler.native.c_code.scalars import suffix
from autograd_engine.compiler.native.ir import contiguous_strides
from autograd_engine.core.compute_once import cached_property
from autograd_engine.ops.kernels.windows import Ints, Padding, Pair

__all__ = ["Axis", "Correlation", "backward", "forward"]


@dataclass(frozen=True)
class Axis:
    """One axis of a correlation.

    Attributes
    ----------
    count : int
        Positions p.
    step, first, gap : int
        Position p meets tap t at element step p + first + gap t of the source.
    taps : tuple of int
        Index of tap t along the axis of the filter.
    size : int
        Elements of the source.
    out_first, out_step, out_size : int
        Position p is element out_first + out_step p of out_size.
    """

    count: int
    step: int
    first: int
    gap: int
    taps: Ints
    size: int
    out_first: int
    out_step: int
    out_size: int

    @property
    def reach(self) -> int:
        return self.gap * (len(self.taps) - 1)

    @property
    def extent(self) -> int:
        """Elements from the first that is met to the last."""
        return self.step * (self.count - 1) + self.reach + 1

    @property
    def inside(self) -> Pair:
        """Where in its extent the source is: from, to."""
        lo = max(0, -self.first)
        return lo, max(lo, min(self.extent, self.size - self.first))

    @property
    def whole(self) -> bool:
        return self.inside == (0, self.extent)


@dataclass(frozen=True)
class Correlation:
    """A correlation over several axes; `depth` and `filters` are those of one group."""

    dtype: np.dtype[Any]
    images: int
    groups: int
    depth: int
    filters: int
    kernel: Ints
    axes: tuple[Axis, ...]
    turned: bool  # w is (depth, filters), not (filters, depth)

    @cached_property
    def element(self) -> str:
        return "float" if self.dtype.itemsize == 4 else "double"

    @property
    def suffix(self) -> str:
        """What functions of the runtime for its elements end in."""
        return suffix(self.dtype)

    @cached_property
    def taps(self) -> int:
        return prod(len(a.taps) for a in self.axes)

    @cached_property
    def positions(self) -> int:
        return prod(a.count for a in self.axes)

    @cached_property
    def source(self) -> int:
        """Elements of one channel of the source."""
        return prod(a.size for a in self.axes)

    @cached_property
    def out(self) -> int:
        """Elements of one channel of the result."""
        return prod(a.out_size for a in self.axes)

    @cached_property
    def dense(self) -> bool:
        """Whether the positions are all elements of the result."""
        return self.positions == self.out

    @cached_property
    def out_pitch(self) -> Ints:
        """Elements of the result between neighbouring positions."""
        after = contiguous_strides(tuple(a.out_size for a in self.axes))
        return tuple(a.out_step * n for a, n in zip(self.axes, after, strict=True))

    @cached_property
    def out_origin(self) -> int:
        after = contiguous_strides(tuple(a.out_size for a in self.axes))
        return sum(a.out_first * n for a, n in zip(self.axes, after, strict=True))

    # --- the frame: the part of a channel that is met, zeros around it, so that no position is
    # special. Elements of the last axis are sorted by their remainder modulo the step: what a
    # tap meets at consecutive positions is then contiguous at any step.

    @cached_property
    def framed(self) -> bool:
        """Whether the source itself cannot serve as the frame."""
        return self.axes[-1].step > 1 or not all(a.whole for a in self.axes)

    @cached_property
    def run(self) -> int:
        """Elements of one remainder in a row of the frame."""
        last = self.axes[-1]
        return -(-last.extent // last.step)

    @cached_property
    def frame_sizes(self) -> Ints:
        if not self.framed:
            return tuple(a.size for a in self.axes)
        last = self.axes[-1]
        return (*(a.extent for a in self.axes[:-1]), last.step * self.run)

    @cached_property
    def frame(self) -> int:
        """Elements of one channel of the frame."""
        return prod(self.frame_sizes)

    @cached_property
    def origin(self) -> int:
        """Element of the frame that position 0 meets with tap 0."""
        return (
            0
            if self.framed
            else sum(a.first * p for a, p in zip(self.axes, self.pitch, strict=True))
        )

    @cached_property
    def pitch(self) -> Ints:
        """Elements of the frame between neighbours along each axis."""
        return contiguous_strides(self.frame_sizes)

    def last_offset(self, tap: int) -> int:
        """Where in a row of the frame tap `tap` of the last axis meets position 0."""
        last = self.axes[-1]
        at = last.gap * tap
        return at % last.step * self.run + at // last.step if self.framed else at

    @cached_property
    def tap_pitch(self) -> Ints:
        """Elements of the frame between neighbouring taps along all axes but the last."""
        return tuple(a.gap * p for a, p in zip(self.axes[:-1], self.pitch[:-1], strict=True))

    @cached_property
    def position_pitch(self) -> Ints:
        """Elements of the frame between neighbouring positions."""
        outer = [a.step * p for a, p in zip(self.axes[:-1], self.pitch[:-1], strict=True)]
        return (*outer, 1)

    def frame_text(self, name: str) -> str:
        """A function that copies `channels` channels of an image into a frame of zeros."""
        t, last = self.element, self.axes[-1]
        lines = [
            f"static void {name}_frame(int64_t channels, const {t} *restrict x, {t} *restrict f)",
            "{",
            f"    for (int64_t c = 0; c < channels; c++, x += {self.source}, f += {self.frame}) {{",
        ]
        into, outof = ["f"], ["x"]
        for i, a in enumerate(self.axes[:-1]):
            lo, hi = a.inside
            lines.append(f"    for (int64_t i{i} = {lo}; i{i} < {hi}; i{i}++)")
            into.append(f"i{i} * {self.pitch[i]}")
            outof.append(f"(i{i} + {a.first}) * {prod(b.size for b in self.axes[i + 1 :])}")
        lines.append("    {")
        lines.append(f"        {t} *to = {' + '.join(into)};")
        lines.append(f"        const {t} *from = {' + '.join(outof)};")
        lo, hi = last.inside
        for r in range(last.step):
            first, stop = -(-(lo - r) // last.step), -(-(hi - r) // last.step)
            if first < stop:
                lines.append(
                    f"        for (int64_t q = {first}; q < {stop}; q++) "
                    f"to[{r * self.run} + q] = from[q * {last.step} + {r + last.first}];"
                )
        return "\n".join([*lines, "    }", "    }", "}", ""])

    # --- filters

    def weight_pitch(self) -> tuple[int, int, int]:
        """Elements of w between groups, filters and channels."""
        k = prod(self.kernel)
        group = self.filters * self.depth * k
        return (group, k, self.filters * k) if self.turned else (group, self.depth * k, k)

    def tap_indices(self) -> Iterator[int]:
        """Where in the taps of a filter each tap is."""
        pitch = contiguous_strides(self.kernel)
        for at in product(*(a.taps for a in self.axes)):
            yield sum(i * p for i, p in zip(at, pitch, strict=True))

    @property
    def plain_weights(self) -> bool:
        """Whether w is the matrix (filters, depth * taps) of each group as it stands."""
        return not self.turned and list(self.tap_indices()) == list(range(prod(self.kernel)))

    def pack_text(self, name: str, block: int) -> str:
        """A function that sorts w as [group][block of filters][channel][tap][filter]."""
        t, (group, filters, depth) = self.element, self.weight_pitch()
        taps = ", ".join(map(str, self.tap_indices()))
        return f"""\
static void {name}_pack(const {t} *restrict w, {t} *restrict p)
{{
    static const int32_t taps[{self.taps}] = {{{taps}}};
    for (int64_t g = 0; g < {self.groups}; g++)
    for (int64_t b = 0; b < {self.filters}; b += {block}) {{
        int64_t n = {self.filters} - b < {block} ? {self.filters} - b : {block};
        for (int64_t c = 0; c < {self.depth}; c++)
        for (int64_t i = 0; i < {self.taps}; i++)
        for (int64_t o = 0; o < n; o++)
            *p++ = w[g * {group} + (b + o) * {filters} + c * {depth} + taps[i]];
    }}
}}
"""


def forward(
    dtype: np.dtype[Any], x: Ints, w: Ints, out: Ints,
    stride: Ints, padding: Padding, dilation: Ints, groups: int,
) -> Correlation:  # fmt: skip
    """The correlation that is the convolution of x with w."""
    axes = tuple(
        Axis(n, s, -before, d, tuple(range(k)), size, 0, 1, n)
        for size, k, n, s, (before, _), d in zip(
            x[2:], w[2:], out[2:], stride, padding, dilation, strict=True
        )
    )
    return Correlation(dtype, x[0], groups, w[1], w[0] // groups, w[2:], axes, False)


def backward(
    dtype: np.dtype[Any], x: Ints, w: Ints, out: Ints,
    stride: Ints, padding: Padding, dilation: Ints, groups: int,
) -> list[Correlation]:  # fmt: skip
    """The correlations that together are the adjoint in x; elements in none of them are zero."""
    along = [
        _phases(*axis)
        for axis in zip(x[2:], w[2:], out[2:], stride, padding, dilation, strict=True)
    ]
    whole = Correlation(dtype, x[0], groups, w[0] // groups, w[1], w[2:], (), True)
    return [replace(whole, axes=axes) for axes in product(*along)]


def _phases(size: int, kernel: int, out: int, stride: int, padding: Pair, dilation: int) -> list[
    Axis
]:  # fmt: skip
    """Pixel stride q + r - before meets window q - (dilation i - r) / stride with tap i."""
    before, step = padding[0], stride // gcd(stride, dilation)
    found = []
    for r in range(stride):
        q = max(0, -((r - before) // stride))  # the first that is no padding
        pixels = range(q * stride + r - before, size, stride)
        taps = [i for i in range(kernel) if (dilation * i - r) % stride == 0][::-1]
        if pixels and taps:
            first = q - (dilation * taps[0] - r) // stride
            gap = dilation * step // stride
            found.append(
                Axis(len(pixels), 1, first, gap, tuple(taps), out, pixels[0], stride, size)
            )
    return found
