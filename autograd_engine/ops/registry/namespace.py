"""The namespaces that rules and public functions compute in, one name for each operation.

``raw`` holds the kernels: ndarrays in, ndarrays out, nothing recorded. ``ops`` holds the
operations proper: on Tensors they run and record, on Variables they append an operator. Both are
filled from the table, so an operation exists in every mode or in none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from autograd_engine.ops.kernels.sums import sum_like
from autograd_engine.ops.registry.halves import with_weak_numbers
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.scattered_cotangent import Scattered
from autograd_engine.ops.registry.zero_d import kept

__all__ = ["Namespace", "ops", "raw", "raw_wide"]


class Namespace:
    """Operations as attributes.

    `project` sums a cotangent back over broadcast axes; `scatter` is an operation, by its name and
    operands, that is run only when its result is read (see `Scattered`).
    """

    project: Callable[[Any, Any], Any]

    scatter: Callable[..., Any]

    bind: Callable[[OpDef], Callable[..., Any]]

    of_arrays: bool = False  # ndarrays in, ndarrays out

    # Where floats of 16 bits are computed with, if not here, and complex numbers without axes.
    with_halves: Namespace
    with_zero_d: Namespace

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Bind an operation when it is first asked for: importing the engine binds none."""
        op = REGISTRY.get(name)
        if op is None:
            raise AttributeError(
                f"there is no operation named {name!r} in the table; one of your own is xp[op]"
            )
        function = self.bind(op)
        setattr(self, name, function)
        return function

    def pull(self, pullback: Any, g: Any, saved: Any, attrs: Any) -> tuple[Any, ...]:
        """The cotangents that `pullback` makes of `g` here."""
        results: tuple[Any, ...] = pullback.pull(self, g, saved, attrs)
        return results

    def each(self, function: Callable[[Any], Any], value: Any) -> Any:
        """`function` of what is one value here; see `Batching.each`."""
        return function(value)

    def __getitem__(self, op: OpDef) -> Callable[..., Any]:
        """The function of `op`, which need not be in the table: ``xp[cube](x)``."""
        if REGISTRY.get(op.name) is op:
            found: Callable[..., Any] = getattr(self, op.name)
            return found
        bound = op.bound  # another one as soon as a rule is given: this may be out of date then
        function = bound.get(self)
        if function is None:
            function = bound[self] = self.bind(op)
        return function


def _project(g: Any, like: Any) -> Any:
    return g if g is None or g.shape == like.shape else sum_like(g, like)


raw: Final = Namespace()
ops: Final = Namespace()


def _scatter(name: str, *operands: Any, **attrs: Any) -> Scattered:
    return Scattered.of(REGISTRY[name], raw, operands, attrs)


raw.project = _project
raw.scatter = _scatter
raw.bind = with_weak_numbers
raw.of_arrays = True

# `raw` of arrays that are known to be of no floats of 16 bits; for the backward walk, whose rules
# are run in float32 on those.
raw_wide: Final = Namespace()
raw_wide.with_halves = raw
raw_wide.project = _project
raw_wide.scatter = _scatter
raw_wide.bind = lambda op: op.direct
raw_wide.of_arrays = True


def _keeping(op: OpDef) -> Callable[..., Any]:
    kernel = op.direct

    def run(*arrays: Any, **attrs: Any) -> Any:
        return kept(kernel(*arrays, **attrs))

    return run


# `raw` for rules of complex operands; see `zero_d`.
raw_zero_d: Final = Namespace()
raw_zero_d.project = _project
raw_zero_d.scatter = _scatter
raw_zero_d.bind = _keeping
raw_zero_d.of_arrays = True
raw.with_zero_d = raw_wide.with_zero_d = raw_zero_d
