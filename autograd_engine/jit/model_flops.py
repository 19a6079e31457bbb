"""How much arithmetic a model takes, layer by layer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from autograd_engine.core.checks import require_bools
from autograd_engine.errors import ArgumentError
from autograd_engine.nn.forward_probe import (
    dry_run,
    kept,
    made_inputs,
    require_layer,
    shapes_of,
    table,
    watched,
)

__all__ = ["flops"]

Counter = Callable[[Any, Any, Any], None]


def flops(
    net: Any,
    input_size: Any,
    custom_ops: Mapping[type, Counter] | None = None,
    print_detail: bool = False,
) -> int:
    """Count the multiply-adds of `net` in inference.

    Counted are the products (of matrices, convolutions, whoever makes them: a layer or a function)
    of the program that the layer is traced to. A multiply-add is one, as the reference has it and
    most papers; `static.flops` counts it as two, and counts all other arithmetic too. Besides, the
    bias of a convolution counts one for each element, batch normalisation two, average pooling one;
    adaptive average pooling one for each element that it reads, and one for each that it makes.

    Parameters
    ----------
    net : Layer or Program
        Of a program `input_size` says nothing, and all products count, gradients' too.
    input_size : list of int
        The shape of the input; a list of shapes for several.
    custom_ops : dict, optional
        For a class of layers a function of (layer, inputs, outputs) that adds to
        ``layer.total_ops`` what a call counts, in the place of what is said above.
    print_detail : bool
        Print a table of the layers.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ArgumentError, ModeError

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.ReLU())
    >>> paddle.flops(net, [1, 3])
    12
    """
    from autograd_engine.program.ir.program import Program
    from autograd_engine.static.analysis.flops import flops as of_program

    if isinstance(net, Program):
        return sum(int(o.work.products) for o in of_program(net).operators) // 2
    net = require_layer("flops", net)
    custom = _checked(custom_ops)
    require_bools("flops", print_detail=print_detail)
    calls: dict[int, _Calls] = {
        id(layer): _Calls(name, layer) for name, layer in net.named_sublayers(include_self=True)
    }
    with dry_run(net):
        given = made_inputs("flops", input_size)
        _see(net, given, calls, custom)
        _trace(net, given, calls, custom)
    total = sum(c.count for c in calls.values())
    if print_detail:
        _print(list(calls.values()), total)
    return total


class _Calls:
    """What the calls of one layer count."""

    def __init__(self, name: str, layer: Any) -> None:
        self.name, self.layer = name, layer
        self.count = 0
        self.shapes: tuple[Any, Any] | None = None  # of the first


def _checked(custom_ops: Any) -> dict[type, Counter]:
    found = {} if custom_ops is None else custom_ops
    if not isinstance(found, Mapping) or not all(
        isinstance(k, type) and callable(v) for k, v in found.items()
    ):
        raise ArgumentError(
            "flops: custom_ops must be a dict from classes of layers to functions of "
            f"(layer, inputs, outputs), got {custom_ops!r}"
        )
    return dict(found)


def _see(net: Any, given: Any, calls: dict[int, _Calls], custom: dict[type, Counter]) -> None:
    """Run the layer: the user's functions see values; the rules below see shapes."""

    def after(layer: Any, inputs: Any, outputs: Any) -> None:
        mine = calls[id(layer)]
        if mine.shapes is None:
            mine.shapes = shapes_of(inputs), shapes_of(outputs)
        own = custom.get(type(layer))
        mine.count += (
            _counted(own, layer, inputs, outputs)
            if own is not None
            else _besides(layer, shapes_of(inputs), shapes_of(outputs))
        )

    with watched(net, None, after):
        net(*given)


def _counted(function: Counter, layer: Any, inputs: Any, outputs: Any) -> int:
    layer.total_ops = 0
    try:
        function(layer, inputs, outputs)
        return int(layer.total_ops)
    finally:
        del layer.total_ops


def _besides(layer: Any, inputs: Any, outputs: Any) -> int:
    """What counts besides products."""
    kinds = {cls.__name__ for cls in type(layer).__mro__}
    if kinds & _CONVOLUTIONS:
        return _size(outputs) if layer.bias is not None else 0
    if kinds & _NORMS:
        return 2 * _size(inputs[0])
    if kinds & _POOLS:
        return _size(outputs)
    if kinds & _ADAPTIVE_POOLS:
        return _size(inputs[0]) + _size(outputs)
    return 0


def _size(shape: list[int]) -> int:
    return math.prod(shape)


def _each(name: str) -> frozenset[str]:
    return frozenset(name.format(n) for n in (1, 2, 3))


_CONVOLUTIONS: Final = _each("Conv{}D") | _each("Conv{}DTranspose")
_NORMS: Final = _each("BatchNorm{}D") | {"BatchNorm"}
_POOLS: Final = _each("AvgPool{}D")
_ADAPTIVE_POOLS: Final = _each("AdaptiveAvgPool{}D")


def _trace(net: Any, given: Any, calls: dict[int, _Calls], custom: dict[type, Counter]) -> None:
    """Trace the layer, and add to each the products that it makes itself."""
    from autograd_engine import jit
    from autograd_engine.program.ir.program import default_main_program
    from autograd_engine.static.analysis.flops import flops as of_program

    owners: list[tuple[int, tuple[Any, ...]]] = [(0, (net,))]
    stack: list[Any] = []

    def before(layer: Any, inputs: Any) -> None:
        stack.append(layer)
        owners.append((len(default_main_program().global_block().ops), tuple(stack)))

    def after(layer: Any, inputs: Any, outputs: Any) -> None:
        stack.pop()
        owners.append((len(default_main_program().global_block().ops), tuple(stack) or (net,)))

    def run(*inputs: Any) -> Any:
        del owners[1:], stack[:]
        return net(*inputs)

    with watched(net, before, after):
        program = jit.to_static(run).program(*given)
    works = {id(o.operator): int(o.work.products) for o in of_program(program).operators}
    k = 0
    for position, operator in enumerate(program.global_block().ops):
        while k + 1 < len(owners) and owners[k + 1][0] <= position:
            k += 1
        within = owners[k][1]
        if not any(type(layer) in custom for layer in within):
            calls[id(within[-1])].count += works[id(operator)] // 2


def _print(rows: list[_Calls], total: int) -> None:
    shown = []
    for row in rows:
        own, _ = kept(row.layer)
        if row.shapes is None:
            continue  # it was not called
        if own or row.count or next(row.layer.children(), None) is None:
            x, y = row.shapes
            first = x[0] if x else []
            name = row.name or type(row.layer).__name__
            shown.append((name, str(first), str(y), f"{own:,}", f"{row.count:,}"))
    seen: set[int] = set()
    parameters = sum(kept(row.layer, seen)[0] for row in rows)
    lines = table(("Layer Name", "Input Shape", "Output Shape", "Params", "Flops"), shown)
    print("\n".join([*lines, f"Total Flops: {total}     Total Params: {parameters}"]))
