"""Running a layer once to see what its sublayers are given and return."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograd_engine.core.dtypes import FLOATS, to_numpy
from autograd_engine.core.random_generator import generator, own_generator, snapshot
from autograd_engine.eager.grad_mode import no_grad
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, ModeError
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.base.registered import BUFFER, PARAMETER
from autograd_engine.program.input_spec import InputSpec
from autograd_engine.program.ir.program import Variable

__all__ = ["kept", "made_inputs", "dry_run", "require_layer", "shapes_of", "table", "watched"]

Hook = Callable[..., None]


def require_layer(function: str, net: Any) -> Layer:
    """`net`, an eager layer."""
    if not isinstance(net, Layer):
        raise ArgumentTypeError(f"{function}: net must be a Layer, got {type(net).__name__}")
    if any(isinstance(p, Variable) for p in net.parameters()):
        raise ModeError(
            f"{function} takes an eager layer, and this one belongs to a program: make it outside "
            "of program_guard and static mode"
        )
    return net


@contextlib.contextmanager
def dry_run(net: Layer) -> Iterator[None]:
    """Inside the ``with`` block `net` is as in inference; afterwards nothing has changed."""
    modes = [(layer, layer.training) for layer in net.sublayers(include_self=True)]
    with no_grad(), own_generator(snapshot(generator())()):
        try:
            net.eval()
            yield
        finally:
            for layer, training in modes:
                layer.training = training


@contextlib.contextmanager
def watched(net: Layer, before: Hook | None, after: Hook) -> Iterator[None]:
    """Inside the ``with`` block the hooks see every call of `net` and what is inside it."""
    handles = []
    try:
        for layer in net.sublayers(include_self=True):
            if before is not None:
                handles.append(layer.register_forward_pre_hook(before))
            handles.append(layer.register_forward_post_hook(after))
        yield
    finally:
        for handle in handles:
            handle.remove()


def made_inputs(function: str, input_size: Any, dtypes: Any = None) -> list[Tensor]:
    """Inputs of these sizes: random numbers, and zeros where they are ints."""
    if input_size is None:
        raise ArgumentError(
            f"{function}: give input_size, as (1, 3, 32, 32), or a list of one for each input"
        )
    single = isinstance(input_size, (int, np.integer, InputSpec, tuple)) or (
        isinstance(input_size, list)
        and bool(input_size)
        and not any(isinstance(s, (list, tuple, InputSpec)) for s in input_size)
    )
    listed = [input_size] if single else input_size
    if not isinstance(listed, list) or not listed:
        raise ArgumentError(
            f"{function}: input_size must be a tuple of sizes, an InputSpec, or a list of these; "
            f"got {input_size!r}"
        )
    names = [dtypes] * len(listed) if dtypes is None or isinstance(dtypes, str) else list(dtypes)
    if len(names) != len(listed):
        raise ArgumentError(f"{function}: dtypes has {len(names)} entries for {len(listed)} inputs")
    return [_made(function, size, name) for size, name in zip(listed, names, strict=True)]


def _made(function: str, size: Any, dtype: Any) -> Tensor:
    if isinstance(size, InputSpec):
        dtype, size = size.dtype if dtype is None else dtype, size.shape
    sizes = [size] if isinstance(size, (int, np.integer)) else size
    if not isinstance(sizes, (list, tuple)):
        raise ArgumentTypeError(
            f"{function}: a size must be a tuple of ints or an InputSpec, got {type(size).__name__}"
        )
    shape = [1 if d is None or (type(d) is int and d == -1) else d for d in sizes]
    for d in shape:
        if isinstance(d, bool) or not isinstance(d, (int, np.integer)) or d < 1:
            raise ArgumentError(
                f"{function}: sizes must be positive ints, and None for a batch; got {sizes!r}"
            )
    chosen = to_numpy("float32" if dtype is None else dtype)
    if chosen in FLOATS:
        return Tensor(np.asarray(generator().random(shape), chosen))
    return Tensor(np.zeros(shape, chosen))


def kept(layer: Layer, seen: set[int] | None = None) -> tuple[int, int]:
    """How many numbers a layer itself keeps, and how many of them are trained."""
    total = trainable = 0
    for _, value in layer._own(PARAMETER, BUFFER):
        if seen is None or id(value) not in seen:
            size = math.prod(value.shape)
            total += size
            trainable += 0 if value.stop_gradient else size
        if seen is not None:
            seen.add(id(value))
    return total, trainable


def shapes_of(value: Any) -> Any:
    """The shapes of the Tensors in a structure."""
    if isinstance(value, (Tensor, Variable)):
        return [int(d) for d in value.shape]
    if isinstance(value, dict):
        return [shapes_of(v) for v in value.values()]
    if isinstance(value, (list, tuple)):
        return [shapes_of(v) for v in value]
    return []


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: a rule, the head, a rule, the rows, a rule."""
    widths = [max(len(str(r[k])) for r in [head, *rows]) + 4 for k in range(len(head))]
    top, *lines = (
        "".join(str(v).center(w) for v, w in zip(r, widths, strict=True)).rstrip()
        for r in (head, *rows)
    )
    width = sum(widths)
    return ["-" * width, top, "=" * width, *lines, "=" * width]
