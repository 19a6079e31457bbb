"""Which operations of the table run as C, found out by lowering calls of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from autograd_engine.compiler.concrete_graph import Graph, NotConcrete
from autograd_engine.compiler.native.ir import Callback
from autograd_engine.compiler.native.lowering.lower import lower
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.opdef import OpDef

__all__ = ["Support", "lowered_operations"]


class Support(NamedTuple):
    """How an operation runs.

    Attributes
    ----------
    operation : str
    lowered : int
        Calls that run as C.
    calls : int
        All calls that were looked at.
    reasons : tuple of str
        Why the others are left to NumPy.
    """

    operation: str
    lowered: int
    calls: int
    reasons: tuple[str, ...]

    @property
    def where(self) -> str:
        """C, NumPy, or both where it depends on the call."""
        if self.lowered == self.calls:
            return "C"
        return "C or NumPy" if self.lowered else "NumPy"


def lowered_operations(
    calls: Iterable[tuple[OpDef, Sequence[Spec], dict[str, Any]]],
) -> dict[str, Support]:
    """What becomes of calls of operations.

    Parameters
    ----------
    calls : iterable of (OpDef, sequence of Spec, dict)
        Operations with the shapes and dtypes of their operands, and all attributes.

    Returns
    -------
    dict of str to Support
        By the name of the operation.

    Examples
    --------
    >>> import numpy as np
    >>> from autograd_engine.ops.registry.opdef import REGISTRY
    >>> x = Spec((3, 4), np.dtype(np.float32))
    >>> found = lowered_operations(
    ...     [(REGISTRY["exp"], [x], {}), (REGISTRY["sort"], [x], {"axis": 1, "descending": False})]
    ... )
    >>> found["exp"].where, found["sort"].where
    ('C', 'NumPy')
    """
    found: dict[str, Support] = {}
    for op, specs, attrs in calls:
        reasons = _reasons(op, specs, attrs)
        before = found.get(op.name, Support(op.name, 0, 0, ()))
        found[op.name] = Support(
            op.name,
            before.lowered + (not reasons),
            before.calls + 1,
            tuple(dict.fromkeys((*before.reasons, *reasons))),
        )
    return found


def _reasons(op: OpDef, specs: Sequence[Spec], attrs: dict[str, Any]) -> list[str]:
    graph = Graph()
    operands = [graph.input(s) if op.reads_value(k) else s for k, s in enumerate(specs)]
    try:
        graph.outputs = list(graph.call(op, operands, attrs))
    except NotConcrete as error:
        return [str(error)]
    return [step.why for step in lower(graph).steps if isinstance(step, Callback)]
