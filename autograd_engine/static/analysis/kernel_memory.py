"""What a call of a kernel does with memory, as a function of the sizes of its operands."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from autograd_engine.core.dims import Dim, Size, product
from autograd_engine.core.effects_switch import without_effects
from autograd_engine.core.spec import Shape, Spec
from autograd_engine.static.analysis.fake_array import Planned, Tree, build
from autograd_engine.static.analysis.kernel_probe import (
    Layout,
    Points,
    fitted,
    layout_of,
    measured,
    plain,
)
from autograd_engine.static.analysis.symbolic_size import atoms, evaluate, replace

__all__ = ["Leaf", "Profile", "profile_of"]

Array = NDArray[Any]
_MOST_ELEMENTS: Final = 1 << 22  # of a probe, before known sizes are made smaller
_LARGE_SIZE: Final = 256
_QUICK: Final = 0.25  # seconds of probes after which larger ones are not made
_MOST_PROFILES: Final = 4096


class Leaf:
    """One array of a result: an operand as it is, a view of one, or memory of its own."""

    __slots__ = ("dtype", "layout", "memory", "same", "shape", "view")

    def __init__(
        self,
        same: int | None,
        memory: tuple[str, int],
        shape: Shape,
        dtype: np.dtype[Any],
        layout: Layout,
        view: bool,
    ) -> None:
        self.same = same
        self.memory = memory  # ("operand" | "fresh", number)
        self.shape = shape
        self.dtype = dtype
        self.layout = layout
        self.view = view


class Profile:
    """What a call does with memory, in terms of the sizes of its operands.

    Attributes
    ----------
    tree, leaves, specs, constants
        The result.
    fresh : list of Dim or int
        Bytes of the memory that results bring with them.
    extra : Dim or int
        Bytes of temporaries, at most, beside these.
    error : float
        How far the fit is off, in parts of what the call has in memory.
    assumed : bool
        The kernel could not be probed; nothing is known of its temporaries.
    """

    def __init__(self) -> None:
        self.tree: Any = None
        self.leaves: list[Leaf] = []
        self.specs: list[Spec] = []
        self.constants: list[Any] = []
        self.fresh: list[Size] = []
        self.extra: Size = 0
        self.error = 0.0
        self.assumed = False
        self.held: Any = None


_profiles: dict[Any, Profile] = {}


def profile_of(
    function: Callable[..., Any],
    tree: Tree,
    structure: Any,
    expected: Sequence[Spec],
    key: Any = None,
) -> tuple[Profile, Callable[[Size], Size]]:
    """The profile of a call, in symbols of its own, and what translates these back.

    Parameters
    ----------
    function : callable
    tree, structure : Tree, tuple
        Its arguments.
    expected : sequence of Spec
        Of its results.
    key : object, optional
        What tells the function from others, where the function itself is made anew each time.
    """
    names: dict[str, str] = {}

    def canonical(size: Size) -> Size:
        found: Size = replace(size, lambda a: Dim.symbol(names.setdefault(a, f"s{len(names)}")))
        return found

    shapes = [tuple(map(canonical, a.shape)) for a in tree.arrays]
    specs = [Spec(tuple(map(canonical, s.shape)), s.dtype) for s in tree.specs]
    wanted = [Spec(tuple(map(canonical, s.shape)), s.dtype) for s in expected]
    own = {s: Dim.symbol(a) for a, s in names.items()}

    def back(size: Size) -> Size:
        found: Size = replace(size, own.__getitem__)
        return found

    layouts = [a.layout if isinstance(a, Planned) else layout_of(a) for a in tree.arrays]
    key = (
        function if key is None else key,
        structure,
        tree.key(),
        tuple((s, a.dtype, v.key) for s, a, v in zip(shapes, tree.arrays, layouts, strict=True)),
        tuple(id(a) if isinstance(a, np.ndarray) else 0 for a in tree.arrays),
        tuple(specs),
        tuple(wanted),
    )
    found = _profiles.get(key)
    if found is None:
        while len(_profiles) >= _MOST_PROFILES:
            del _profiles[next(iter(_profiles))]
        probe = _Probe(function, tree, structure, shapes, layouts, specs, wanted)
        found = _profiles[key] = probe.run()
        found.held = [tree.constants, [a for a in tree.arrays if isinstance(a, np.ndarray)]]
    return found, back


class _Mismatch(Exception):
    """With smaller sizes in the place of known ones a call does something else."""


class _Probe:
    """One call, at some sizes."""

    def __init__(
        self,
        function: Callable[..., Any],
        tree: Tree,
        structure: Any,
        shapes: list[Shape],
        layouts: list[Layout],
        specs: list[Spec],
        expected: list[Spec],
    ) -> None:
        self.function = function
        self.tree = tree
        self.structure = structure
        self.shapes = shapes
        self.layouts = layouts
        self.specs = specs
        self.expected = expected

    def run(self) -> Profile:
        for shrunk in self._shrinkings():
            for fill in range(3):
                try:
                    with without_effects():
                        return self._probed(shrunk, fill)
                except Exception:
                    continue
        profile = Profile()
        profile.assumed = True
        self._describe_assumed(profile)
        return profile

    def _shrinkings(self) -> list[dict[int, str]]:
        """Known sizes to treat as unknown: those of large probes, and if that fails none."""
        every = [*self.shapes, *[s.shape for s in self.expected]]
        lowest = {a: 2 for s in every for d in s for a in atoms(d)}
        elements = sum(evaluate(product(s), lowest) for s in every)
        if elements <= _MOST_ELEMENTS:
            return [{}]
        large = {d for s in every for d in s if not isinstance(d, Dim) and d >= _LARGE_SIZE}
        return [{int(n): f"known{n}" for n in sorted(large)}, {}] if large else [{}]

    def _probed(self, shrunk: dict[int, str], fill: int) -> Profile:
        shapes = [_with_symbols(s, shrunk) for s in self.shapes]
        expected = [_with_symbols(s.shape, shrunk) for s in self.expected]
        inputs = {a for s in shapes for d in s for a in atoms(d)}
        inputs |= {a for s in self.specs for d in s.shape for a in atoms(d)}
        counted = [s for s in expected if {a for d in s for a in atoms(d)} <= inputs]
        points = Points([*shapes, *[_with_symbols(s.shape, shrunk) for s in self.specs], *counted])
        with contextlib.suppress(Exception):  # what is filled once: imports, caches
            _Run(self, shapes, points.least(), shrunk, fill)
        started = time.perf_counter()
        runs = [_Run(self, shapes, sizes, shrunk, fill) for sizes in points]
        elapsed = time.perf_counter() - started
        profile = Profile()
        first = runs[0]
        profile.tree, profile.constants = first.tree, first.constants
        profile.specs = [
            self._spec_of(k, s, runs, expected, shrunk) for k, s in enumerate(first.specs)
        ]
        known = {symbol: n for n, symbol in shrunk.items()}

        def settled(size: Size) -> Size:
            found: Size = replace(size, lambda a: known[a] if a in known else Dim.symbol(a))
            return found

        sized: dict[int, Size] = {}
        for k, (same, memory, array) in enumerate(first.leaves):
            shape = self._leaf_shape(k, runs, points, shapes, expected, shrunk)
            whole = all(run.owner_bytes[k] == run.leaves[k][2].nbytes for run in runs)
            if memory[0] == "fresh" and memory[1] not in sized:
                if whole:
                    sized[memory[1]] = settled(product(shape) * array.itemsize)
                else:
                    values = [(run.sizes, run.owner_bytes[k]) for run in runs]
                    sized[memory[1]] = settled(fitted(points, values, [v for _, v in values])[0])
            settled_shape = tuple(map(settled, shape))
            profile.leaves.append(
                Leaf(
                    same,
                    memory,
                    settled_shape,
                    array.dtype,
                    layout_of(array),
                    array.base is not None,
                )
            )
        profile.fresh = [sized[n] for n in range(len(sized))]
        extra, profile.error = _extra(points, runs)
        if isinstance(extra, Dim) and elapsed < _QUICK:
            more = [_Run(self, shapes, sizes, shrunk, fill) for sizes in points.larger()]
            extra, profile.error = _extra(points, more)
        profile.extra = settled(extra)
        return profile

    def _leaf_shape(
        self,
        k: int,
        runs: list[_Run],
        points: Points,
        shapes: list[Shape],
        expected: list[Shape],
        shrunk: dict[int, str],
    ) -> Shape:
        """The shape of leaf `k`: what was inferred for a result, else read off the runs."""
        at = runs[0].top.get(k)
        array = runs[0].leaves[k][2]
        if at is not None and at < len(expected) and len(expected[at]) == array.ndim:
            inferred = expected[at]
            fits = all(
                evaluate(d, run.sizes) == n
                for run in runs
                for d, n in zip(inferred, run.leaves[k][2].shape, strict=True)
                if set(atoms(d)) <= set(points.symbols)
            )
            if shrunk and not fits:
                raise _Mismatch
            return inferred
        candidates = dict.fromkeys(d for s in (*shapes, *expected) for d in s)
        candidates |= dict.fromkeys(points.counts)
        shape: list[Size] = []
        for axis in range(array.ndim):
            sizes = [run.leaves[k][2].shape[axis] for run in runs]
            symbols = set(points.symbols)
            found = next(
                (
                    c
                    for c in candidates
                    if set(atoms(c)) <= symbols
                    and [evaluate(c, run.sizes) for run in runs] == sizes
                ),
                None,
            )
            if found is None:
                pairs = [(run.sizes, n) for run, n in zip(runs, sizes, strict=True)]
                # Scales that let no size pass for nothing.
                found = fitted(
                    points, [(s, n << 20) for s, n in pairs], [n << 20 for _, n in pairs]
                )[0]
                found = found // (1 << 20)
            shape.append(found)
        return tuple(shape)

    def _spec_of(
        self, k: int, spec: Spec, runs: list[_Run], expected: list[Shape], shrunk: dict[int, str]
    ) -> Spec:
        """A Spec inside of a result: it is that of the whole, or of an operand."""
        known = {symbol: n for n, symbol in shrunk.items()}
        for shape in (*expected, *[_with_symbols(s.shape, shrunk) for s in self.specs]):
            if len(shape) == spec.ndim and all(
                tuple(evaluate(d, run.sizes) for d in shape) == run.specs[k].shape for run in runs
            ):
                settled = (replace(d, lambda a: known.get(a) or Dim.symbol(a)) for d in shape)
                return Spec(tuple(settled), spec.dtype)
        return spec

    def _describe_assumed(self, profile: Profile) -> None:
        leaves = []
        for k, spec in enumerate(self.expected):
            leaves.append(("array", k))
            memory = ("fresh", k)
            profile.leaves.append(
                Leaf(None, memory, spec.shape, spec.dtype, plain(spec.ndim), False)
            )
            profile.fresh.append(product(spec.shape) * spec.dtype.itemsize)
        profile.tree = ("tuple", tuple(leaves))


def _extra(points: Points, runs: Sequence[_Run]) -> tuple[Size, float]:
    values = [(run.sizes, run.extra) for run in runs]
    return fitted(points, values, [run.scale for run in runs])


def _with_symbols(shape: Shape, shrunk: dict[int, str]) -> Shape:
    if not shrunk:
        return shape
    return tuple(
        Dim.symbol(shrunk[d]) if not isinstance(d, Dim) and d in shrunk else d for d in shape
    )


class _Run:
    """A call at one set of sizes, and what came of it."""

    def __init__(
        self,
        probe: _Probe,
        shapes: list[Shape],
        sizes: dict[str, int],
        shrunk: dict[int, str],
        fill: int,
    ) -> None:
        tree = probe.tree
        self.sizes = sizes
        arrays = [
            a
            if isinstance(a, np.ndarray)
            else v.build([evaluate(d, sizes) for d in s], a.dtype, fill)
            for a, s, v in zip(tree.arrays, shapes, probe.layouts, strict=True)
        ]
        smaller = {n: sizes[symbol] for n, symbol in shrunk.items()}

        def leaf(kind: str, number: int) -> Any:
            if kind == "array":
                return arrays[number]
            if kind == "spec":
                spec = probe.specs[number]
                shape = _with_symbols(spec.shape, shrunk)
                return Spec(tuple(evaluate(d, sizes) for d in shape), spec.dtype)
            return _smaller(tree.constants[number], smaller)

        args, kwargs = build(probe.structure, leaf)
        found = measured(lambda: probe.function(*args, **kwargs))
        owners = {id(_owner(a)): k for k, a in enumerate(arrays)}
        same = {id(a): k for k, a in enumerate(arrays)}
        inside = Tree()
        self.tree = inside.take(_arrays_of(found.result))
        self.specs, self.constants = inside.specs, inside.constants
        self.top = _top_leaves(self.tree)
        self.leaves: list[tuple[int | None, tuple[str, int], Array]] = []
        self.owner_bytes: list[int] = []
        fresh: dict[int, int] = {}
        total = 0
        for array in inside.arrays:
            assert isinstance(array, np.ndarray)
            owner = _owner(array)
            if id(owner) in owners:
                memory = ("operand", owners[id(owner)])
            else:
                if id(owner) not in fresh:
                    fresh[id(owner)] = len(fresh)
                    total += owner.nbytes
                memory = ("fresh", fresh[id(owner)])
            self.leaves.append((same.get(id(array)), memory, array))
            self.owner_bytes.append(owner.nbytes)
        self.extra = max(found.peak - total, 0)
        self.scale = max(total + self.extra + sum(a.nbytes for a in arrays), 1)


def _arrays_of(result: Any) -> Any:
    """Results, in which a kernel may return NumPy's scalars for arrays of no axes."""
    if isinstance(result, np.generic):
        return np.asarray(result)
    if isinstance(result, (tuple, list)):
        return type(result)(_arrays_of(r) for r in result)
    return result


def _top_leaves(tree: Any) -> dict[int, int]:
    """Which result each leaf is, where it is one."""
    if tree[0] == "array":
        return {tree[1]: 0}
    if tree[0] in ("tuple", "list"):
        return {t[1]: k for k, t in enumerate(tree[1]) if t[0] == "array"}
    return {}


def _owner(array: Array) -> Array:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _smaller(value: Any, smaller: dict[int, int]) -> Any:
    """An attribute in which known sizes are replaced by those of the probe."""
    if smaller and type(value) is int:
        return smaller.get(value, value)
    return value
