"""What a program is fed, checked against what it declares; sizes that are unknown, or told."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from autograd_engine.core.checks import require_type
from autograd_engine.core.dims import Dim
from autograd_engine.core.dtypes import COMPLEX, INEXACT, holds_numbers, to_numpy
from autograd_engine.core.spec import Array, format_shape
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import FeedError
from autograd_engine.program.ir.program import Program, Variable
from autograd_engine.static.symbolic_size import Symbols, atoms

__all__ = [
    "check_named",
    "checked_feed",
    "checked_feeds",
    "feed_dict",
    "feed_names",
    "similar",
    "symbols_of",
]


def feed_dict(feed: Any) -> Mapping[str, Any]:
    """`feed` as a mapping from names: a dict, or the list of one dict that the reference takes."""
    if feed is None:
        return {}
    if isinstance(feed, (list, tuple)) and len(feed) <= 1:
        feed = feed[0] if feed else {}
    if not isinstance(feed, Mapping):
        raise TypeError(f"run: feed must be a dict from names to arrays, got {type(feed).__name__}")
    for key in feed:
        if isinstance(key, Variable):
            raise TypeError(
                f"run: the keys of feed are names; write feed={{{key.name!r}: ...}} for this "
                "Variable"
            )
        if not isinstance(key, str):
            raise TypeError(f"run: the keys of feed are names, got {key!r} ({type(key).__name__})")
    return feed


def feed_names(program: Program, feed: Any) -> tuple[str, ...]:
    """Names of variables that a step is fed."""
    if isinstance(feed, (str, Variable)) or not isinstance(feed, Iterable):
        raise TypeError(f"prepare: feed must be a list of names, got {feed!r:.60}")
    names = tuple([v.name if isinstance(v, Variable) else v for v in feed])
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"prepare: feed must be a list of names, got {name!r:.60} in it")
        if not program.global_block().has_var(name):
            close = similar(name, program.global_block().vars)
            hint = f": did you mean {close!r}?" if close else ""
            raise FeedError(f"prepare: this program has no variable {name!r}{hint}")
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise FeedError(f"prepare: {twice!r} stands twice in feed")
    return names


def check_named(program: Program, wanted: Sequence[Variable], names: Sequence[str]) -> None:
    """Refuse to prepare a step that would not be fed what it needs."""
    missing = [v for v in wanted if v.name not in names]
    if missing:
        raise FeedError(_missing(program, missing, dict.fromkeys(names)))


def checked_feeds(
    program: Program, wanted: Sequence[Variable], feeds: Mapping[str, Any]
) -> list[Array]:
    """Arrays for the variables that a run reads.

    Names of `feeds` that the run does not read are passed over, as the reference does.

    Raises
    ------
    FeedError
        When feeds are missing (all of them are named), or one is not as declared, or two disagree
        about a size that the program has for both.
    """
    missing = [var for var in wanted if var.name not in feeds]
    if missing:
        order = {name: k for k, name in enumerate(program.global_block().vars)}
        missing.sort(key=lambda var: order[var.name])
        raise FeedError(_missing(program, missing, feeds))
    arrays = [checked_feed(var, feeds[var.name]) for var in wanted]
    _agree(wanted, arrays)
    return arrays


def similar(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` that `name` may be a misspelling of."""
    known = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return known[close[0]] if close else None


def _missing(program: Program, missing: Sequence[Variable], feeds: Mapping[str, Any]) -> str:
    if len(missing) == 1:
        name = missing[0].name
        text = (
            f"feed {name!r} is missing: the program declares it as {missing[0].spec!r}; "
            f"pass feed={{{name!r}: ...}}"
        )
    else:
        listed = ", ".join(f"{v.name!r} ({v.spec!r})" for v in missing)
        keys = ", ".join(f"{v.name!r}: ..." for v in missing)
        text = f"feeds {listed} are missing; pass feed={{{keys}}}"
    unknown = [n for n in feeds if not program.global_block().has_var(n)]
    for var in missing:
        close = similar(var.name, unknown)
        if close is not None:
            text += (
                f". The feed has {close!r}, which the program does not: did you mean {var.name!r}?"
            )
            unknown.remove(close)
    if unknown:
        text += f". Fed, but not in the program: {', '.join(map(repr, unknown))}"
    return text


def checked_feed(var: Variable, value: Any) -> Array:
    """`value` as an array of the dtype and shape that `var` declares."""
    name, spec = var.name, var.spec
    declared = format_shape(spec.shape)
    try:
        array = value._data if isinstance(value, Tensor) else _array(value, spec.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise FeedError(
            f"feed {name!r} cannot be made an array of {spec.dtype.name}: {error}; the program "
            f"declares {declared}"
        ) from None
    if array.dtype != spec.dtype:
        raise FeedError(
            f"feed {name!r} has dtype {array.dtype.name}; the program declares {spec.dtype.name}: "
            f"feed it with .astype({spec.dtype.name!r})"
        )
    if array.ndim != len(spec.shape):
        raise FeedError(
            f"feed {name!r} has shape {array.shape}; the program declares {declared}: it must "
            f"have {len(spec.shape)} dimension{'s' * (len(spec.shape) != 1)}"
        )
    for axis, (have, want) in enumerate(zip(array.shape, spec.shape, strict=True)):
        if not isinstance(want, Dim) and have != want:
            raise FeedError(
                f"feed {name!r} has shape {array.shape}; the program declares {declared}: axis "
                f"{axis} must be {want}"
            )
    return array


def _array(value: Any, dtype: np.dtype[Any]) -> Array:
    """An ndarray in native byte order and without gaps, as `to_tensor` has it; anything else
    converted to `dtype`.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError("it is masked, and a program has no masks; fill it with .filled(number)")
    if not isinstance(value, np.ndarray):
        return _converted(value, dtype)
    array = np.asarray(value)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    return array if array.flags.forc else np.array(array)


def _converted(value: Any, dtype: np.dtype[Any]) -> Array:
    """Numbers and nested lists of them in `dtype`; floats are rounded, nothing else is changed."""
    given = np.asarray(value)
    if given.dtype in COMPLEX and dtype not in COMPLEX:
        raise TypeError("it must hold real numbers")
    if not holds_numbers(given.dtype, wide=True):  # large ints are objects
        large = given.dtype == np.object_ and all(isinstance(v, Number) for v in given.flat)
        if not large:
            raise TypeError("it must hold numbers")
    with np.errstate(invalid="ignore"):  # a NaN among integers: the comparison finds it
        array = given.astype(dtype)
    if dtype not in INEXACT and not np.array_equal(array, given):
        raise ValueError(f"{dtype.name} cannot hold all of its values")
    return array


def _agree(variables: Sequence[Variable], arrays: Sequence[Array]) -> None:
    """Refuse two sizes for what the program declares to be one."""
    known: dict[Dim, tuple[int, str, int]] = {}
    for var, array in zip(variables, arrays, strict=True):
        for axis, (have, want) in enumerate(zip(array.shape, var.spec.shape, strict=True)):
            if not isinstance(want, Dim):
                continue
            size, name, where = known.setdefault(want, (have, var.name, axis))
            if size != have:
                other = "itself" if name == var.name else f"feed {name!r}"
                raise FeedError(
                    f"feed {var.name!r} has shape {array.shape}: axis {axis} must be {size}, as "
                    f"the program declares it to be the size of axis {where} of {other}, which was "
                    f"fed with {size}"
                )


def symbols_of(
    program: Program, feeds: list[Variable], feed_specs: Mapping[str, Any] | None
) -> Symbols:
    """The unknown sizes of what is fed, with those that `feed_specs` tells."""
    symbols = Symbols()
    given = _given_shapes(program, feed_specs)
    firsts: dict[int | None, tuple[str, str]] = {}
    for var in feeds:
        shape = given.get(var.name)
        for axis, d in enumerate(var.spec.shape):
            known = [a for a in atoms(d) if a not in symbols.names]
            if isinstance(d, Dim) and known and repr(d) == known[0]:
                name, symbol = f"{var.name}.shape[{axis}]", known[0]
                symbols.names[symbol] = name
                value = None if shape is None else shape[axis]
                if value is not None:
                    symbols.sizes[symbol] = value
                first = firsts.get(value) if axis == 0 else None
                if first is not None:
                    symbols.equal[symbol] = Dim.symbol(first[0])
                    symbols.taken_equal.append((first[1], name))
                elif axis == 0:
                    firsts[value] = symbol, name
    return symbols


def _given_shapes(
    program: Program, feed_specs: Mapping[str, Any] | None
) -> dict[str, tuple[int, ...]]:
    """Shapes by name, checked against what the program declares."""
    if feed_specs is None:
        return {}
    require_type(feed_specs, Mapping, "feed_specs must be a dict from names to shapes", TypeError)
    declared = {v.name: v.spec for v in program.global_block().vars.values() if v.is_data}
    shapes = {}
    for name, value in feed_specs.items():
        if name not in declared:
            close = similar(name, declared)
            hint = (
                f"did you mean {close!r}?" if close else f"it has {', '.join(declared) or 'none'}"
            )
            raise FeedError(f"feed_specs: this program has no data variable {name!r}; {hint}")
        spec = declared[name]
        shape, dtype = _shape_of(name, value)
        fits = len(shape) == len(spec.shape) and all(
            isinstance(want, Dim) or have == want
            for have, want in zip(shape, spec.shape, strict=True)
        )
        if not fits:
            raise FeedError(
                f"feed_specs: {name!r} has shape {shape}; the program declares "
                f"{format_shape(spec.shape)}"
            )
        if dtype is not None and dtype != spec.dtype:
            raise FeedError(
                f"feed_specs: {name!r} is {dtype.name}; the program declares {spec.dtype.name}"
            )
        shapes[name] = shape
    return shapes


def _shape_of(name: str, value: Any) -> tuple[tuple[int, ...], np.dtype[Any] | None]:
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return tuple(map(int, value.shape)), to_numpy(value.dtype)
    dtype = None
    if isinstance(value, (tuple, list)) and len(value) == 2 and isinstance(value[0], (tuple, list)):
        value, dtype = value[0], to_numpy(value[1])
    sizes = value if isinstance(value, (tuple, list)) else (None,)
    if not all(isinstance(d, (int, np.integer)) and d >= 0 for d in sizes):
        raise FeedError(
            f"feed_specs: {name!r} must be a shape, a tuple of sizes such as (64, 784), or "
            f"(shape, dtype), or an array; got {value!r}"
        )
    return tuple(map(int, sizes)), dtype
