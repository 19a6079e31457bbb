"""A program as StableHLO, in a file that jax alone can run, on devices of several kinds.

Sizes that the program leaves open are symbols of `jax.export`. The first of each input is the batch
size, and the same for all; every other is one of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.compiler.xla.control_flow.rounds import rolled, run_items
from autograd_engine.compiler.xla.operators import value_of
from autograd_engine.compiler.xla.run import CALLED_BACK, DRAWN, Run, XlaUnavailable
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.spec import Array
from autograd_engine.program.ir.program import Program, Ref, Variable

__all__ = ["PLATFORMS", "stablehlo"]

PLATFORMS: Final = ("cpu", "cuda", "tpu")


def stablehlo(
    program: Program,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    values: Mapping[str, Array],
) -> bytes:
    """What `jax.export.deserialize` reads.

    Parameters
    ----------
    program : Program
    inputs : sequence of Variable
        Arguments of the function that it is then, in order.
    outputs : sequence of Variable
        The list that this function returns.
    values : dict of str to array
        Of persistable variables, which become constants.

    Raises
    ------
    XlaUnavailable
        When the program draws random numbers, or computes what XLA cannot.
    """
    goals = [Ref(v, v.version) for v in outputs]
    operators = live_operators(program.global_block().ops, goals)

    def function(*arrays: Any) -> list[Any]:
        run = Run()
        found: dict[Any, Any] = {(name, 0): v for name, v in values.items()}
        found.update(((v.name, 0), a) for v, a in zip(inputs, arrays, strict=True))
        run_items(run, rolled(operators, goals), found, goals)
        _check(run)
        results = [jnp.asarray(value_of(r, found)) for r in goals]
        if not run.flags:
            return results
        fine = jnp.all(jnp.stack(run.flags))
        # There is nobody who could raise: what is out of range gives no number.
        return [jnp.where(fine, r, np.nan) if r.dtype in INEXACT else r for r in results]

    with jax.enable_x64(True):
        exported = jax.export.export(jax.jit(function), platforms=PLATFORMS)(*_arguments(inputs))
        return bytes(exported.serialize())


def _check(run: Run) -> None:
    for one in run.lowered:
        if one.way in (CALLED_BACK, DRAWN):
            what = one.why or "it draws random numbers"
            at = "" if one.origin is None else f" at {one.origin.location}"
            raise XlaUnavailable(f"{one.operation}{at} is not computed by XLA: {what}")


def _arguments(inputs: Sequence[Variable]) -> list[Any]:
    scope = jax.export.SymbolicScope()
    found = []
    for number, var in enumerate(inputs):
        sizes = [
            str(d) if isinstance(d, int) else "batch" if axis == 0 else f"size_{number}_{axis}"
            for axis, d in enumerate(var.spec.shape)
        ]
        shape = jax.export.symbolic_shape(", ".join(sizes), scope=scope) if sizes else ()
        found.append(jax.ShapeDtypeStruct(shape, var.spec.dtype))
    return found
