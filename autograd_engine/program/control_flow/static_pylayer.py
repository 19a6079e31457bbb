"""`static_pylayer`: a part of a program whose gradient the user writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from autograd_engine import unique_name
from autograd_engine.core import pytree as nest
from autograd_engine.core.dtypes import INEXACT
from autograd_engine.core.spec import format_shape, may_equal
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.ops.conjugates import conj
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.program.atomic_call import checked
from autograd_engine.program.builder import append_operator, new_result
from autograd_engine.program.control_flow.block_function import (
    BlockFunction,
    restored,
    share_arguments,
)
from autograd_engine.program.data import require_variable
from autograd_engine.program.ir.control_flow_op import BlockOp
from autograd_engine.program.ir.program import Ref, Variable

__all__ = ["static_pylayer"]


@checked
def static_pylayer(
    forward_fn: Callable[..., Any],
    inputs: Sequence[Variable],
    backward_fn: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """What `forward_fn` returns, with the gradient that `backward_fn` says.

    Parameters
    ----------
    forward_fn : callable
        Called with `inputs` while the program is built; returns a variable, or a nest of variables.
        What it uses besides has no gradient through it.
    inputs : list or tuple of Variable
    backward_fn : callable, optional
        Called with the cotangents of all that `forward_fn` returns; returns one cotangent for each
        floating or complex input, of its shape and dtype: those of complex values are
        ``dL/dRe + i dL/dIm``. It may use variables of the program around, and is
        differentiated itself for gradients of a higher order. Without it there is no gradient.
    name : str, optional
        Of the operator's results.

    Returns
    -------
    the nest that `forward_fn` returns

    Raises
    ------
    TypeError, ArgumentError, DTypeError, ShapeError

    Examples
    --------
    >>> import numpy as np
    >>> import autograd_engine as paddle
    >>> main = paddle.static.Program()
    >>> with paddle.static.program_guard(main):
    ...     x = paddle.static.data("x", [2], "float32")
    ...     x.stop_gradient = False
    ...     y = static_pylayer(paddle.round, [x], lambda g: g * 1.0)  # passed straight through
    ...     [dx] = paddle.static.gradients(y, x)
    >>> paddle.static.Executor().run(main, {"x": np.float32([0.4, 1.6])}, [y, dx])
    [array([0., 2.], dtype=float32), array([1., 1.], dtype=float32)]
    """
    for what, function in (("forward_fn", forward_fn), ("backward_fn", backward_fn)):
        if not callable(function) and not (what[0] == "b" and function is None):
            raise ArgumentTypeError(
                f"static_pylayer: {what} must be callable, got {type(function).__name__}"
            )
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ArgumentTypeError("static_pylayer: inputs must be a list of Variables, one at least")
    for k, v in enumerate(inputs):
        require_variable("static_pylayer", f"inputs[{k}]", v)
        if any(v is other for other in inputs[:k]):
            raise ArgumentError(
                f"static_pylayer: {v.name} is among the inputs twice; pass paddle.assign({v.name})"
            )
    program = inputs[0].block.program
    with restored(program):
        block = program.current_block()
        given = [v.seen_from(block) for v in inputs]
        forward = BlockFunction(program, block)
        returned = forward.call(forward_fn, forward.parameters(given))
        leaves = [forward.variable(v, []) for v in nest.leaves(returned)]
        if not leaves:
            raise ArgumentError("static_pylayer: forward_fn must return one Variable at least")
        forward.block.results[:] = [Ref(v, v.version) for v in leaves]
        attrs: dict[str, Any] = {
            "body_block": forward.block,
            "backward_block": None,
            "inputs": len(given),
        }
        if backward_fn is not None:
            backward = BlockFunction(program, block)
            _fill_backward(backward, backward_fn, leaves, given)
            share_arguments([forward, backward])
            attrs["backward_block"] = backward.block
        prefix = name or unique_name.generate("pylayer")
        results = []
        for leaf in leaves:
            stops = backward_fn is None or leaf.spec.dtype not in INEXACT
            results.append(new_result(block, f"{prefix}.tmp", leaf.spec, stop_gradient=stops))
        call = BlockOp.of("call", "pylayer")
        append_operator(block, call, forward.operands(), tuple(results), attrs)
        return nest.rebuild(nest.structure(returned), [r.var for r in results], "static_pylayer")


def _fill_backward(
    backward: BlockFunction,
    function: Callable[..., Any],
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
) -> None:
    arguments = [
        backward.block.add_argument(f"{v.name}@GRAD", v.spec, stop_gradient=False) for v in outputs
    ]
    returned = backward.call(lambda *gs: function(*[conj(ops, g) for g in gs]), arguments)
    found = list(returned) if isinstance(returned, (list, tuple)) else [returned]
    floating = [v for v in inputs if v.spec.dtype in INEXACT]
    nest = next((v for v in found if isinstance(v, (dict, list, tuple))), None)
    if nest is not None or len(found) != len(floating) or any(v is None for v in found):
        count = len([v for v in found if v is not None])
        what = f"{count} gradients" if nest is None else f"a {type(nest).__name__}"
        raise ArgumentError(
            f"static_pylayer: backward_fn returns {what} for {len(floating)} floating inputs "
            f"({', '.join(v.name for v in floating)}); return one for each, in this order"
        )
    for value, like in zip(found, floating, strict=True):
        g = backward.variable(value, [like.spec.dtype])
        if g.spec.dtype != like.spec.dtype:
            raise DTypeError(
                f"static_pylayer: backward_fn returns {g.spec.dtype.name} for {like.name}, which "
                f"is {like.spec.dtype.name}; cast it"
            )
        if not may_equal(g.spec.shape, like.spec.shape):
            raise ShapeError(
                f"static_pylayer: backward_fn returns shape {format_shape(g.spec.shape)} for "
                f"{like.name}, which has {format_shape(like.spec.shape)}; they must be equal"
            )
        g = backward.call(partial(conj, ops), [g])
        backward.block.results.append(Ref(g, g.version))
