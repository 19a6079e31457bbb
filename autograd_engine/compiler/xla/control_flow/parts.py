"""Parts of a program that branches and loops are made of.

A part is traced before it is placed: what it returns, and whether it notes anything, is known when
the branch or the loop around it is put together. That does not take a second trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import jaxpr_as_fun

from autograd_engine.compiler.xla.values import split

__all__ = ["Part"]


class Part:
    """A function of trees of arrays, traced.

    Parameters
    ----------
    function : callable
    given : sequence of trees
        What it is traced for.

    Attributes
    ----------
    outline : tree
        What it returns, with shape and dtype in the place of each array that is not known.
    """

    def __init__(self, function: Callable[..., Any], *given: Any) -> None:
        forms, rebuilt = split(list(given))

        def flat(*arrays: Any) -> list[Any]:
            found, self._rebuilt = split(function(*rebuilt(arrays)))
            return found

        avals = [jax.ShapeDtypeStruct(f.shape, f.dtype) for f in forms]
        closed, shapes = jax.make_jaxpr(flat, return_shape=True)(*avals)
        self._run = jaxpr_as_fun(closed)
        self.outline = self._rebuilt(shapes)

    def __call__(self, *given: Any) -> Any:
        arrays, _ = split(list(given))
        return self._rebuilt(self._run(*arrays))
