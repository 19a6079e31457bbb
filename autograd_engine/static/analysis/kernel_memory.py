"""What a call of a kernel allocates, found out by calling it once or a few times on small arrays.

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
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from autograd_engine.core.dims import Dim, Size, product
from autograd_engine.core.effects_switch import without_effects
from autograd_engine.core.random_generator import own_generator
from autograd_engine.core.spec import Array, Shape, Spec
from autograd_engine.ops.kernels.compiled import functions_asked_for
from autograd_engine.static.analysis.fake_array import (
    FakeArray,
    Layout,
    layout_of,
    mapped,
    parts,
    resized,
)
from autograd_engine.static.symbolic_size import atoms, evaluate, replace

__all__ = ["Leaf", "Profile", "profile_of"]

Sizes = dict[str, int]
_TARGET: Final = 1 << 17  # elements of the largest array of a probe
_NOISE: Final = 4096  # bytes: what Python itself needs for a call
_MOST_ELEMENTS: Final = 1 << 22  # of a probe, before known sizes are made smaller
_LARGE_SIZE: Final = 256
_QUICK: Final = 0.25  # seconds of probes after which larger ones are not made
_MOST_PROFILES: Final = 4096


@dataclass(slots=True, eq=False)
class Leaf:
    """An array of a result, or the Spec of one, which has no layout."""

    shape: Shape
    dtype: np.dtype[Any]
    layout: Layout | None = None
    view: bool = False
    operand: int | None = None  # which has its memory
    same: bool = False  # it is that operand itself
    fresh: int | None = None  # which of the memory that the call brings with it holds it

    @property
    def nbytes(self) -> Size:
        return product(self.shape) * self.dtype.itemsize


class Profile(NamedTuple):
    """What a call does with memory, in terms of the sizes of its operands."""

    result: Any  # with leaves in the place of arrays and Specs
    fresh: list[Size]  # bytes of the memory that results bring with them
    extra: Size  # bytes of temporaries, at most, beside these
    assumed: bool  # the kernel could not be probed; nothing is known of its temporaries


_profiles: dict[Any, tuple[Profile, Any]] = {}


def profile_of(
    function: Callable[..., Any],
    args: Any,
    expected: Sequence[Spec],
    resolved: Callable[[Size], Size],
    key: Any = None,
) -> tuple[Profile, list[Any], Callable[[Size], Size]]:
    """The profile of a call, its arrays, and what translates sizes in the profile to the caller's.

    Calls that differ in nothing but the names of unknown sizes have one profile.

    Parameters
    ----------
    function : callable
    args : tuple
        Positional arguments and keyword arguments.
    expected : sequence of Spec
        Of its results.
    resolved : callable
        Says what is known of a size.
    key : object, optional
        What tells the function from others, where the function itself is made anew each time.
    """
    names: dict[str, str] = {}

    def named(name: str) -> Dim:
        return Dim.symbol(names.setdefault(name, f"s{len(names)}"))

    given = {id(a): a for a in parts(args) if isinstance(a, (FakeArray, np.ndarray))}
    call = resized(
        (args, list(given.values()), list(expected)), lambda d: replace(resolved(d), named)
    )
    numbers: dict[int, int] = {}
    key = (function if key is None else key, *(_key(part, numbers) for part in parts(call)))
    found = _profiles.get(key)
    if found is None:
        while len(_profiles) >= _MOST_PROFILES:
            del _profiles[next(iter(_profiles))]
        # With the arguments, which keep alive what the key names by identity.
        found = _profiles[key] = _probed(function, call), call
    own = {s: Dim.symbol(a) for a, s in names.items()}
    return found[0], list(given.values()), lambda size: replace(size, own.__getitem__)


def _key(part: Any, numbers: dict[int, int]) -> Any:
    """What is hashable and says the same as a part of the arguments."""
    if isinstance(part, (FakeArray, np.ndarray)):
        number = numbers.setdefault(id(part), len(numbers))
        if isinstance(part, FakeArray):
            return number, part.shape, part.dtype, part.layout
        if part.ndim == 0:
            return number, part.dtype, part.tobytes()
    if isinstance(part, slice):
        return "slice", part.start, part.stop, part.step
    if isinstance(part, float):
        return "float", repr(part)
    try:
        hash(part)
    except TypeError:
        return "object", id(part)
    return type(part), part


# --- probes


class _Mismatch(Exception):
    """With smaller sizes in the place of known ones a call does something else."""


def _probed(function: Callable[..., Any], call: Any) -> Profile:
    """The profile of a call: its arguments, the arrays among them, Specs of its results."""
    _, arrays, expected = call
    for known in _shrinkings([*arrays, *expected]):
        for fill in range(3):
            with contextlib.suppress(Exception), without_effects():
                return _Probe(function, call, known, fill).profile()
    leaves = [Leaf(s.shape, s.dtype, Layout.plain(s.ndim)) for s in expected]
    for number, leaf in enumerate(leaves):
        leaf.fresh = number
    return Profile(tuple(leaves), [leaf.nbytes for leaf in leaves], 0, True)


def _shrinkings(arrays: Sequence[Any]) -> list[dict[int, Dim]]:
    """Known sizes to treat as unknown: those of large probes, and if that fails none."""
    lowest = {s: 2 for a in arrays for d in a.shape for s in atoms(d)}
    if sum(evaluate(product(a.shape), lowest) for a in arrays) <= _MOST_ELEMENTS:
        return [{}]
    known = {d for a in arrays for d in a.shape if not isinstance(d, Dim) and d >= _LARGE_SIZE}
    return [{n: Dim.symbol(f"known{n}") for n in sorted(known)}, {}] if known else [{}]


class _Run(NamedTuple):
    """A call at one set of sizes; all else counts bytes."""

    sizes: Sizes
    result: Any
    leaves: list[Leaf]
    fresh: list[int]
    extra: int
    scale: int  # what is there in all


class _Probe:
    """Runs of one call, on values of the kind `fill`, with `known` in the place of known sizes."""

    def __init__(
        self, function: Callable[..., Any], call: Any, known: dict[int, Dim], fill: int
    ) -> None:
        self.function = function
        self.known = known
        self.fill = fill
        self.args, self.arrays, self.expected = resized(call, lambda d: known.get(d, d))
        specs = [part for part in parts(self.args) if isinstance(part, Spec)]
        self.given: list[Shape] = [a.shape for a in (*self.arrays, *specs)]
        inputs = set(_symbols(self.given))
        inferred = [s.shape for s in self.expected if inputs.issuperset(_symbols([s.shape]))]
        self.points = _Points([*self.given, *inferred])

    def profile(self) -> Profile:
        with contextlib.suppress(Exception):  # what is filled once: imports, caches
            self._run(dict.fromkeys(self.points.symbols, 2))
        started = time.perf_counter()
        runs = [self._run(sizes) for sizes in self.points.around(1.0, 1.5)]
        quick = time.perf_counter() - started < _QUICK
        first = runs[0]
        holders = {leaf.fresh: k for k, leaf in reversed([*enumerate(first.leaves)])}
        whole = [
            all(run.leaves[holders[n]].nbytes == run.fresh[n] for run in runs)
            for n in range(len(first.fresh))
        ]
        self._infer_shapes(runs)
        fresh: list[Size] = []
        for number, found in enumerate(zip(*(run.fresh for run in runs), strict=True)):
            leaf = first.leaves[holders[number]]
            fresh.append(leaf.nbytes if whole[number] else self._bytes(runs, found, found))
        extra = self._extra(runs)
        if isinstance(extra, Dim) and quick:
            # Of what is not yet what it is for large arrays: kernels work in blocks.
            extra = self._extra([self._run(sizes) for sizes in self.points.around(4.0, 6.0)])
        for leaf in first.leaves:
            leaf.shape = tuple(map(self._settled, leaf.shape))
        return Profile(first.result, [*map(self._settled, fresh)], self._settled(extra), False)

    def _settled(self, size: Size) -> Size:
        """`size` with known sizes in their places again."""
        known = {repr(symbol): n for n, symbol in self.known.items()}
        found: Size = replace(size, lambda a: known[a] if a in known else Dim.symbol(a))
        return found

    def _extra(self, runs: Sequence[_Run]) -> Size:
        return self._bytes(runs, [r.extra for r in runs], [r.scale for r in runs])

    def _bytes(self, runs: Sequence[_Run], found: Sequence[int], scales: Sequence[int]) -> Size:
        if all(n <= _NOISE + scale // 1000 for n, scale in zip(found, scales, strict=True)):
            return 0
        return self.points.fitted(runs, found, scales)

    def _run(self, sizes: Sizes) -> _Run:
        real: dict[int, Array] = {}

        def make(part: Any) -> Any:
            if not isinstance(part, FakeArray):
                return part
            if id(part) not in real:
                real[id(part)] = part.layout.build(part.shape, part.dtype, self.fill)
            return real[id(part)]

        call = resized((self.args, self.arrays), lambda d: evaluate(d, sizes))
        (args, kwargs), arrays = mapped(call, make)
        asked = functions_asked_for()
        returned, peak = _measured(lambda: self.function(*args, **kwargs))
        if functions_asked_for() != asked:  # loading one needs memory, too
            returned, peak = _measured(lambda: self.function(*args, **kwargs))
        numbers = {id(_owner(a)): k for k, a in enumerate(arrays)}
        owners: list[Array] = []
        leaves: list[Leaf] = []
        seen: dict[int, tuple[Leaf, Any]] = {}

        def leaf(value: Any) -> Any:
            if isinstance(value, np.generic):  # what kernels may return for arrays of no axes
                value = np.asarray(value)
            if not isinstance(value, (np.ndarray, Spec)):
                return value
            if id(value) in seen:
                return seen[id(value)][0]
            found = Leaf(value.shape, value.dtype)
            leaves.append(found)
            seen[id(value)] = found, value
            if isinstance(value, np.ndarray):
                found.layout, found.view = layout_of(value), value.base is not None
                owner = _owner(value)
                found.operand = numbers.get(id(owner))
                found.same = any(value is a for a in arrays)
                if found.operand is None:
                    found.fresh = next((k for k, o in enumerate(owners) if o is owner), len(owners))
                    owners[found.fresh :] = [owner]
            return found

        result = mapped(returned, leaf)
        fresh = [owner.nbytes for owner in owners]
        extra = max(peak - sum(fresh), 0)
        scale = sum(fresh) + extra + sum(a.nbytes for a in arrays)
        return _Run(sizes, result, leaves, fresh, extra, max(scale, 1))

    def _infer_shapes(self, runs: Sequence[_Run]) -> None:
        """Shapes of the leaves of the first run in unknown sizes.

        That of a result is what was inferred for it; others are read off the runs.
        """
        first = runs[0]
        shapes = [*self.given, *[s.shape for s in self.expected]]
        sizes: dict[Any, Size] = {}
        for size in (*itertools.chain(*shapes), *self.points.counts):
            sizes.setdefault(tuple(_at(size, run) for run in runs), size)
        results = first.result if isinstance(first.result, (tuple, list)) else [first.result]
        inferred = {
            id(leaf): spec.shape
            for leaf, spec in zip(results, self.expected, strict=False)
            if isinstance(leaf, Leaf) and leaf.layout is not None and len(leaf.shape) == spec.ndim
        }
        for k, leaf in enumerate(first.leaves):
            found = list(zip(*(run.leaves[k].shape for run in runs), strict=True))
            shape = inferred.get(id(leaf))
            if shape is None:
                shape = tuple(
                    sizes[n] if n in sizes else self.points.fitted(runs, n, n) for n in found
                )
            elif self.known and any(
                _at(d, run) not in (None, n)
                for d, values in zip(shape, found, strict=True)
                for run, n in zip(runs, values, strict=True)
            ):
                raise _Mismatch
            leaf.shape = shape


def _measured(call: Callable[[], Any]) -> tuple[Any, int]:
    """What a call returns, and the bytes that it has allocated at most."""
    was_tracing = tracemalloc.is_tracing()
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        own_generator(np.random.default_rng(0)),
    ):
        warnings.simplefilter("ignore")
        if not was_tracing:
            tracemalloc.start(1)
        try:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            result = call()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            if not was_tracing:
                tracemalloc.stop()
    return result, peak - before


def _owner(array: Array) -> Array:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


# --- sizes of probes, and polynomials through what they find


def _symbols(shapes: Iterable[Shape]) -> list[str]:
    return list(dict.fromkeys(a for shape in shapes for d in shape for a in atoms(d)))


def _at(size: Size, run: _Run) -> int | None:
    """`size` in a run; None where it depends on values."""
    return evaluate(size, run.sizes) if run.sizes.keys() >= set(atoms(size)) else None


class _Points:
    """Sizes at which to probe arrays of these shapes, in which unknown sizes are symbols."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.counts = [c for c in dict.fromkeys(map(product, shapes)) if isinstance(c, Dim)]
        self.symbols = _symbols(shapes)
        monomials = {m: None for c in self.counts for m in c.terms if m}
        self.monomials = sorted(monomials, key=lambda m: (len(m), m))

    def around(self, factor: float, further: float) -> list[Sizes]:
        """The first size by these factors, as far as elements go; all others a little."""
        if not self.symbols:
            return [{}]
        base = self._base()
        first, *others = self.symbols
        points = [{**base, first: self._grown(base, first, t)} for t in (factor, further)]
        for symbol in others:
            for times in (max(factor, 1.5), max(further, 2.0)):
                points.append({**base, symbol: self._grown(base, symbol, times)})
        if others:
            points.append({s: _rounded(n * 1.5) for s, n in base.items()})
        return points

    def _grown(self, base: Sizes, symbol: str, times: float) -> int:
        degree = max((m.count(symbol) for m in self.monomials), default=1)
        return _rounded(base[symbol] * times ** (1 / max(degree, 1)))

    def _base(self) -> Sizes:
        """Sizes of one kind that make the largest array as large as a probe is to be."""
        low, elements = 1.0, 0
        while elements < _TARGET and low < _TARGET:
            low *= 1.25
            base = {s: _rounded(low * (1 + 0.3 * k)) for k, s in enumerate(self.symbols)}
            elements = max((evaluate(c, base) for c in self.counts), default=_TARGET)
        return base

    def fitted(self, runs: Sequence[_Run], values: Sequence[int], scales: Sequence[int]) -> Size:
        """A polynomial with as few terms as fit `values`, which are parts of `scales`."""
        weight = 1.0 / np.maximum(np.array(scales, float), 1.0)
        target = np.array(values, float)
        monomials = [*reversed(self.monomials), ()]
        columns = {
            m: np.array([evaluate(product(map(Dim.symbol, m)), r.sizes) for r in runs], float)
            for m in monomials
        }
        best = math.inf
        terms: list[tuple[tuple[str, ...], int]] = []
        for count in range(1, min(len(monomials), len(values)) + 1):
            for chosen in itertools.islice(itertools.combinations(monomials, count), 60):
                matrix = np.stack([columns[m] for m in chosen], 1)
                found = np.linalg.lstsq(matrix * weight[:, None], target * weight, rcond=None)[0]
                coefficients = [round(c) for c in found]
                error = float(np.abs((matrix @ coefficients - target) * weight).max())
                if error < best * 0.8 or not terms:
                    best, terms = error, list(zip(chosen, coefficients, strict=True))
            if best < 0.004:
                break
        total: Size = 0
        for monomial, coefficient in terms:
            total = total + product(map(Dim.symbol, monomial)) * coefficient
        return total


def _rounded(size: float) -> int:
    """Sizes that divide by what sizes are divided by."""
    n = math.ceil(size)
    if n <= 4:
        return max(n, 2)
    step = 24 if n > 96 else 8 if n > 16 else 2
    return -(-n // step) * step
