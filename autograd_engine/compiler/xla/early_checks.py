"""Checks of what a step is fed, made before it runs.

A step that finds an index out of range has been given its state already, which XLA writes over. It
would have to choose, for each array, between the new one and the old one, which must then be kept;
and who called it would have to wait for its end. But most of what is refused, a label or the index
of a word, was fed. What such checks compute is cut out of the step, as a function of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import jax
import jax.extend.core as jex
import jax.numpy as jnp
import numpy as np

from autograd_engine.compiler.xla.devices import devices
from autograd_engine.compiler.xla.executable_cache import compiled
from autograd_engine.core.spec import Array

__all__ = ["EarlyChecks", "early_checks"]

# So many elements may be computed for one that is fed: else the step computes them anyway.
_CHEAP: Final = 32


class EarlyChecks(NamedTuple):
    """What can be said of a run before it begins.

    Attributes
    ----------
    flags : list of int
        Positions of the flags that it stands for.
    reads : list of int
        Positions of the arguments that it takes.
    function : callable
        Whether all is in order, an array of one bool, on the host's own device.
    """

    flags: list[int]
    reads: list[int]
    function: Any

    def hold(self, arguments: Sequence[Array]) -> bool:
        """Whether all is in order with ndarrays that are fed."""
        with jax.enable_x64(True), jax.transfer_guard("allow"):
            return bool(np.asarray(self.function(*arguments)))


def early_checks(
    traced: jex.ClosedJaxpr, fed: Sequence[int], flags: Sequence[int]
) -> EarlyChecks | None:
    """Those of a step that depend on nothing but what it is fed; None where there is none.

    Parameters
    ----------
    traced : ClosedJaxpr
    fed : sequence of int
        Positions of arguments that are on the host when a run begins.
    flags : sequence of int
        Positions of results that say whether all is in order.
    """
    host, jaxpr = devices("cpu"), traced.jaxpr
    if not host:  # the user has left jax none but others
        return None
    known = {jaxpr.invars[k] for k in fed}
    known.update(jaxpr.constvars)
    makers = {}
    for equation in jaxpr.eqns:
        if all(_literal(v) or v in known for v in equation.invars) and _pure(equation):
            known.update(equation.outvars)
            makers.update(dict.fromkeys(equation.outvars, equation))
    found = [k for k, at in enumerate(flags) if jaxpr.outvars[at] in makers]
    wanted = {jaxpr.outvars[flags[k]] for k in found}
    equations = []
    for equation in reversed(jaxpr.eqns):
        if any(v in wanted for v in equation.outvars) and makers.get(equation.outvars[0]):
            equations.append(equation)
            wanted.update(v for v in equation.invars if not _literal(v))
    reads = [k for k in fed if jaxpr.invars[k] in wanted]
    size = sum(_elements(v) for e in equations for v in e.outvars)
    if not reads or size > _CHEAP * sum(1 + _elements(jaxpr.invars[k]) for k in reads):
        return None
    part = jaxpr.replace(
        eqns=equations[::-1],
        invars=[jaxpr.invars[k] for k in reads],
        outvars=[jaxpr.outvars[flags[k]] for k in found],
    )
    computed = jex.jaxpr_as_fun(jex.ClosedJaxpr(part, traced.consts))
    began = time.perf_counter()
    with jax.default_device(host[0]):
        function = jax.jit(lambda *arguments: jnp.stack(computed(*arguments)).all())
        lowered = function.lower(*(jaxpr.invars[k].aval for k in reads))
        made = compiled(lowered, host[0], time.perf_counter() - began)
    return EarlyChecks(found, reads, made)


def _literal(value: Any) -> bool:
    return isinstance(value, jex.Literal)


def _elements(value: Any) -> int:
    return math.prod(value.aval.shape)


def _pure(equation: Any) -> bool:
    """Whether it may be computed twice, and costs no call back."""
    if equation.effects or "callback" in equation.primitive.name:
        return False
    return all(_pure(e) for inner in jex.jaxprs_in_params(equation.params) for e in inner.eqns)
