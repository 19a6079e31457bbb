"""``paddle.explain``: why is this gradient None, zero, NaN or infinite?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NotATensorError

if TYPE_CHECKING:
    from autograd_engine.autograd.explain.report import Explanation

__all__ = ["explain"]


def explain(x: Any, loss: Any = None, *, program: Any = None) -> Explanation:
    """Why the gradient of `x` is None, zero, NaN or infinite, told from the graph.

    Of a tensor, with the `loss` at hand, the recorded graph is searched for `x`, and a backward
    pass is run that writes no ``.grad``, calls no hook and frees nothing. So ask while the graph is
    there: before ``backward()``, or after ``backward(retain_graph=True)``. In a program, it says
    why there is no ``x@GRAD``.

    Parameters
    ----------
    x : Tensor, Variable or str
        What the gradient is of; a name is that of a variable of `program`.
    loss : Tensor or Variable, optional
        What is differentiated.
    program : Program, optional
        Where a name is looked up; by default the main program.

    Returns
    -------
    Explanation
        Printed, a report with the user's lines. ``reason`` is the first reason as one word,
        ``reasons`` are all of them.

    Raises
    ------
    NotATensorError
        For anything else.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> y = x * x
    >>> y.sum().backward()
    >>> paddle.explain(y).reason
    'not_retained'
    >>> frozen = paddle.to_tensor([1.0, 2.0])
    >>> paddle.explain(frozen).reason
    'stop_gradient'
    """
    from autograd_engine.program.ir.program import Variable

    if isinstance(x, Variable | str) or program is not None:
        from autograd_engine.autograd.explain.programs import explain_variable

        return explain_variable(x, loss, program)
    for name, value in (("x", x), ("loss", loss)):
        if not isinstance(value, Tensor) and not (name == "loss" and value is None):
            raise NotATensorError(
                f"explain: {name} must be a Tensor, got {type(value).__name__}: give it the tensor "
                "whose .grad is in question, and the loss that was differentiated"
            )
    from autograd_engine.autograd.explain.missing_gradient import explain_tensor

    return explain_tensor(x, loss)
