"""What a call of a kernel allocates, found out by calling it once or twice on small arrays.

A probe runs the very function that a program will run, on arrays of the dtypes and memory layouts
that it will get, with small numbers in the place of unknown sizes, and asks `tracemalloc` (NumPy
reports its allocations there) how much more memory there was at most. What was allocated for
results is known from their shapes; the rest, temporaries, is fitted by a polynomial in the unknown
sizes. Whether a result shares memory with an operand is seen by looking.

Probes are about 2^17 elements large: what kernels do block by block is then done in whole blocks,
and formulas that write over their own temporaries from some size on do so. Known sizes that would
make a probe too large are treated as if they were unknown.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dims import Dim, Size, product
from autograd_engine.core.random_generator import own_generator
from autograd_engine.static.analysis.symbolic_size import atoms, evaluate

__all__ = ["Layout", "Measurement", "Points", "fitted", "layout_of", "measured", "sample"]

Array = NDArray[Any]
Sizes = dict[str, int]
TARGET: Final = 1 << 17  # elements of the largest array of a probe
_NOISE: Final = 4096  # bytes: what Python itself needs for a call


class Layout:
    """How an array lies in memory, apart from its shape.

    Attributes
    ----------
    order : tuple of int
        Axes from the one of the largest stride to the one of the smallest.
    repeated, gaps, backward : frozenset of int
        Axes of stride 0; axes after whose elements others lie that are no part of the array (-1:
        between all elements); axes that run backward.
    """

    __slots__ = ("backward", "gaps", "order", "repeated")

    def __init__(
        self,
        order: tuple[int, ...],
        repeated: frozenset[int],
        gaps: frozenset[int],
        backward: frozenset[int],
    ) -> None:
        self.order, self.repeated, self.gaps, self.backward = order, repeated, gaps, backward

    @property
    def key(self) -> tuple[Any, ...]:
        return self.order, self.repeated, self.gaps, self.backward

    def build(self, shape: Sequence[int], dtype: np.dtype[Any], fill: int) -> Array:
        """An array of that layout, with values that most kernels take."""
        sizes = [1 if k in self.repeated else shape[k] + (k in self.gaps) for k in self.order]
        apart = (2,) * (-1 in self.gaps)
        base = sample((*sizes, *apart), dtype, fill)
        base = (base[..., 0] if apart else base).transpose(np.argsort(self.order))
        inside = tuple(
            slice(None)
            if k in self.repeated
            else slice(shape[k] - 1, None, -1)
            if k in self.backward and shape[k]
            else slice(0, shape[k])
            for k in range(len(shape))
        )
        return np.broadcast_to(base[inside], shape) if self.repeated else base[inside]


def layout_of(array: Array) -> Layout:
    """The layout of `array`, of which axes of one element say nothing."""
    strides, shape = array.strides, array.shape
    many = [k for k in range(array.ndim) if shape[k] > 1]
    repeated = frozenset(k for k in many if strides[k] == 0)
    dense = sorted((k for k in many if k not in repeated), key=lambda k: -abs(strides[k]))
    gaps, step = set(), array.itemsize
    for k, inner in zip(dense[::-1], [-1, *dense[:0:-1]], strict=False):
        if abs(strides[k]) > step:
            gaps.add(inner)
        step = abs(strides[k]) * shape[k]
    # Axes of one element go where they keep the order of the others.
    order = sorted(range(array.ndim), key=lambda k: (dense.index(k) if k in dense else -1, k))
    if dense == sorted(dense):
        order = list(range(array.ndim))
    backward = frozenset(k for k in dense if strides[k] < 0)
    return Layout(tuple(order), repeated, frozenset(gaps), backward)


_plain: dict[int, Layout] = {}


def plain(ndim: int) -> Layout:
    """C order."""
    found = _plain.get(ndim)
    if found is None:
        none: frozenset[int] = frozenset()
        found = _plain[ndim] = Layout(tuple(range(ndim)), none, none, none)
    return found


def sample(shape: tuple[int, ...], dtype: np.dtype[Any], fill: int = 0) -> Array:
    """Values for a probe; `fill` 0 to 2 are tried one after the other.

    Numbers in (0, 1) and valid indices first; then matrices that are positive definite; then zeros.
    """
    if fill == 0 and dtype.kind in "fc":
        pattern = np.random.default_rng(7).uniform(0.1, 0.9, 4099).astype(dtype)
        return np.resize(pattern, shape)
    if fill == 0 and dtype.kind == "b":
        return np.resize(np.array([True, False, True]), shape)
    out = np.zeros(shape, dtype)
    if fill == 1 and len(shape) >= 2 and dtype.kind in "fc":
        out += np.eye(shape[-2], shape[-1], dtype=dtype)
    return out


class Measurement:
    """One call: what it returned, and the bytes that it had allocated at most, and kept."""

    def __init__(self, result: Any, peak: int, kept: int) -> None:
        self.result = result
        self.peak = peak
        self.kept = kept


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with own_generator(np.random.default_rng(0)):
            yield


def measured(call: Callable[[], Any]) -> Measurement:
    """Run `call` and see what it allocates."""
    was_tracing = tracemalloc.is_tracing()
    with _quiet():
        if not was_tracing:
            tracemalloc.start(1)
        try:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            result = call()
            after, peak = tracemalloc.get_traced_memory()
        finally:
            if not was_tracing:
                tracemalloc.stop()
    return Measurement(result, peak - before, after - before)


class Points:
    """Sizes at which to probe.

    Parameters
    ----------
    shapes : list of tuple
        Of all arrays that take part, in which unknown sizes are symbols.
    """

    def __init__(self, shapes: Sequence[tuple[Size, ...]]) -> None:
        self.counts = [c for c in dict.fromkeys(map(product, shapes)) if isinstance(c, Dim)]
        dims = (d for shape in shapes for d in shape)
        self.symbols = list(dict.fromkeys(a for d in dims for a in atoms(d)))
        monomials = {m: None for c in self.counts for m in c.terms if m}
        self.monomials = sorted(monomials, key=lambda m: (len(m), m))

    def __iter__(self) -> Iterator[Sizes]:
        return self._around(1.0, 1.5)

    def larger(self) -> Iterator[Sizes]:
        """More of them, for what is not yet what it is for large arrays: kernels work in blocks."""
        return self._around(4.0, 6.0)

    def least(self) -> Sizes:
        """The smallest sizes of which arrays have more than one element along each axis."""
        return dict.fromkeys(self.symbols, 2)

    def _around(self, factor: float, further: float) -> Iterator[Sizes]:
        """The first size by these factors, as far as elements go; all others a little."""
        if not self.symbols:
            yield {}
            return
        base = self._base()
        first, *others = self.symbols
        for times in (factor, further):
            yield {**base, first: self._grown(base, first, times)}
        for symbol in others:
            for times in (max(factor, 1.5), max(further, 2.0)):
                yield {**base, symbol: self._grown(base, symbol, times)}
        if others:
            yield {s: _rounded(n * 1.5) for s, n in base.items()}

    def _grown(self, base: Sizes, symbol: str, times: float) -> int:
        degree = max((m.count(symbol) for m in self.monomials), default=1)
        return _rounded(base[symbol] * times ** (1 / max(degree, 1)))

    def _base(self) -> Sizes:
        """Sizes of one kind that make the largest array as large as a probe is to be."""
        low, best = 1.0, None
        while best is None or (self._largest(best) < TARGET and low < TARGET):
            low *= 1.25
            best = {s: _rounded(low * (1 + 0.3 * k)) for k, s in enumerate(self.symbols)}
        return best

    def _largest(self, sizes: Sizes) -> int:
        return max((evaluate(c, sizes) for c in self.counts), default=TARGET)


def _rounded(size: float) -> int:
    """Sizes that divide by what sizes are divided by."""
    n = math.ceil(size)
    if n <= 4:
        return max(n, 2)
    step = 24 if n > 96 else 8 if n > 16 else 2
    return -(-n // step) * step


def fitted(
    points: Points, values: Sequence[tuple[Sizes, int]], scales: Sequence[int]
) -> tuple[Size, float]:
    """A polynomial with as few terms as fit `values`, and how far it is off.

    Parameters
    ----------
    points : Points
    values : list of (dict of str to int, int)
        Bytes at the sizes of a probe.
    scales : list of int
        Bytes that are there at each of these, of which a thousandth is nothing.
    """
    if all(v <= _NOISE + s // 1000 for (_, v), s in zip(values, scales, strict=True)):
        return 0, 0.0
    target = np.array([v for _, v in values], float)
    weight = 1.0 / np.array(scales, float)
    monomials = [(), *points.monomials]
    columns = {
        m: np.array([math.prod(_factor(s, at) for s in m) for at, _ in values], float)
        for m in monomials
    }
    best: tuple[float, Size] | None = None
    for count in range(1, len(monomials) + 1):
        for chosen in itertools.islice(itertools.combinations(reversed(monomials), count), 60):
            if count > len(values):
                break
            matrix = np.stack([columns[m] for m in chosen], 1)
            found = np.linalg.lstsq(matrix * weight[:, None], target * weight, rcond=None)[0]
            coefficients = [round(c) for c in found]
            error = float(np.abs((matrix @ coefficients - target) * weight).max())
            if best is None or error < best[0] * 0.8:
                best = error, _polynomial(dict(zip(chosen, coefficients, strict=True)))
        if best is not None and best[0] < 0.004:
            break
    assert best is not None
    return best[1], best[0]


def _factor(symbol: str, sizes: Sizes) -> int:
    return evaluate(Dim.symbol(symbol), sizes)


def _polynomial(terms: dict[tuple[str, ...], int]) -> Size:
    total: Size = 0
    for mono, c in terms.items():
        total = total + (Dim({mono: c}) if mono and c else 0 if mono else c)
    return total
