"""Looking at a recorded graph; what does the work is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, NotATensorError

if TYPE_CHECKING:
    from autograd_engine.autograd.explain.graph_view import Graph
    from autograd_engine.autograd.explain.saved_report import SavedReport

__all__ = ["graph", "saved_report"]


def graph(outputs: Any, *, limit: int = 120) -> Graph:
    """The graph behind `outputs`: operations with the user's lines, leaves, shapes and dtypes.

    In a notebook the result is drawn, with the ``graphviz`` package and its program where they are
    installed and as a table otherwise.

    Parameters
    ----------
    outputs : Tensor or Variable, or sequence of them, or Program
        Results. Of tensors the recorded graph is shown, of variables the operators that lead to
        them, of a program all of it.
    limit : int
        Of more operations than this, the oldest and the newest are shown.

    Returns
    -------
    Graph
        Also its text: ``.dot``, ``.svg()``, ``.html()``, ``.save(path)``.

    Raises
    ------
    NotATensorError
        For anything else.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> paddle.graph(paddle.tanh(x)).arrows
    (Arrow(source=0, target=1, label='float32[2]'),)
    """
    from autograd_engine.autograd.explain.graph_view import graph_of_tensors
    from autograd_engine.program.ir.program import Program, Variable

    results = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 2:
        raise ArgumentError(f"graph: limit must be an integer of 2 or more, got {limit!r}")
    if isinstance(outputs, Program):
        from autograd_engine.autograd.explain.program_graph import graph_of_program

        return graph_of_program(outputs, limit)
    if results and all(isinstance(v, Variable) for v in results):
        from autograd_engine.autograd.explain.program_graph import graph_of_variables

        return graph_of_variables(results, limit)
    for v in results:
        if not isinstance(v, Tensor):
            raise NotATensorError(
                f"graph takes a Tensor, a Variable or a list of them, got {type(v).__name__}: give "
                "it the loss"
            )
    if not results:
        raise ArgumentError("graph: outputs cannot be empty; give it the loss")
    return graph_of_tensors(results, limit)


def saved_report(outputs: Tensor | Sequence[Tensor]) -> SavedReport:
    """What the graph behind `outputs` keeps until it is freed.

    A rule names what it reads, so for each array it is known which operation keeps it, for the
    gradient of which input, and which line of the user's called it. Nothing is run.

    Parameters
    ----------
    outputs : Tensor or sequence of Tensor

    Returns
    -------
    SavedReport
        Printed, a table; the numbers are in ``rows``, ``total_bytes``, ``held_bytes`` and
        ``freed_by``.

    Raises
    ------
    NotATensorError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    >>> report = paddle.autograd.saved_report(paddle.tanh(paddle.exp(x)).sum())
    >>> [(row.op, row.name, row.rules, row.nbytes) for row in report.rows]
    [('exp', 'out', ('x',), 8), ('tanh', 'out', ('x',), 8)]
    >>> report.total_bytes
    16
    """
    from autograd_engine.autograd.explain.saved_report import report_on

    return report_on(outputs)
