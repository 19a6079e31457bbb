"""What is checked: a function at a point, evaluated and differentiated in the engine's ways."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from autograd_engine.autograd import grad, jvp
from autograd_engine.autograd.forward.jvp import or_zeros
from autograd_engine.core.dtypes import FLOATS
from autograd_engine.eager.grad_mode import enable_grad
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.testing.modes import directions, inner

__all__ = ["Problem", "derived"]

Array: TypeAlias = NDArray[Any]


class Problem:
    """A function of tensors and the point at which its derivatives are checked.

    Attributes
    ----------
    arrays : list of ndarray
        Values of the inputs that are checked.
    labels : list of str
        What to call them: "x (input 0)".
    outputs : list of int
        Positions of the outputs that are differentiated; `specs` has their shapes and dtypes.
    order : int
        Which derivative the gradients of this function are.
    """

    def __init__(
        self, function: Callable[..., Any], inputs: Any, *, order: int = 1, names: Any = None
    ) -> None:
        if not callable(function):
            raise NotATensorError(
                f"gradcheck: func must be a function of tensors, got {type(function).__name__}"
            )
        self.function = function
        self.given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        self.order = order
        self.names = names if names is not None else _argument_names(function, len(self.given))
        self.positions = [
            k for k, x in enumerate(self.given) if isinstance(x, Tensor) and not x.stop_gradient
        ]
        if not self.positions:
            raise _nothing_to_check(self.given)
        self.arrays: list[Array] = [np.array(self.given[k].numpy()) for k in self.positions]
        for k, a in zip(self.positions, self.arrays, strict=True):
            if a.dtype.itemsize < 4:
                raise DTypeError(
                    f"gradcheck: {self.names[k]} is {a.dtype.name}, too coarse for differences: "
                    "use x.astype('float64')"
                )
        self.labels = [self.names[k] for k in self.positions]
        first = self.run(self.leaves(self.arrays))
        floating = [k for k, y in enumerate(first) if y._data.dtype in FLOATS]
        self.outputs = [k for k in floating if not first[k].stop_gradient] or floating
        if not self.outputs:
            raise ArgumentError(
                "gradcheck: func returns no floating Tensor, so there is no gradient to check"
            )
        self.specs = [(first[k]._data.shape, first[k]._data.dtype) for k in self.outputs]

    # --- evaluation

    def leaves(self, arrays: Sequence[Array]) -> list[Tensor]:
        """Fresh leaves, which the function may do with as it likes."""
        return [Tensor._leaf(a.copy()) for a in arrays]

    def run(self, checked: Sequence[Tensor]) -> list[Tensor]:
        """All outputs, for these in place of the inputs that are checked."""
        arguments = list(self.given)
        for k, x in zip(self.positions, checked, strict=True):
            arguments[k] = x
        with enable_grad():
            value = self.function(*arguments)
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        for y in values:
            if not isinstance(y, Tensor):
                raise NotATensorError(
                    "gradcheck: func must return a Tensor, or a list or tuple of them; got "
                    f"{type(y).__name__}"
                )
        return values

    def goals(self, checked: Sequence[Tensor]) -> list[Tensor]:
        """The outputs that are differentiated."""
        values = self.run(checked)
        return [values[k] for k in self.outputs]

    def flat(self, arrays: Sequence[Array]) -> Array:
        """The differentiated outputs as one vector, in float64."""
        parts = [y._data.ravel().astype(np.float64) for y in self.goals(self.leaves(arrays))]
        return np.concatenate(parts)

    def moved(self, which: int, direction: Array) -> Callable[[float], Array]:
        """`flat` as a function of how far one input is moved in a direction."""

        def at(h: float) -> Array:
            arrays = list(self.arrays)
            moved = arrays[which] + h * direction
            arrays[which] = np.asarray(moved, self.arrays[which].dtype)
            return self.flat(arrays)

        return at

    # --- gradients

    def pull(
        self, cotangents: Sequence[Array | None], *, create_graph: bool = False
    ) -> list[Tensor | None]:
        """Gradients of <cotangents, outputs>; outputs whose cotangent is None are left out."""
        xs = self.leaves(self.arrays)
        return self.pull_from(self.goals(xs), xs, cotangents, create_graph=create_graph)

    def pull_from(
        self,
        outputs: Sequence[Tensor],
        xs: Sequence[Tensor],
        cotangents: Sequence[Tensor | Array | None],
        *,
        create_graph: bool = False,
    ) -> list[Tensor | None]:
        pairs = [
            (y, u if isinstance(u, Tensor) else Tensor._wrap(u))
            for y, u in zip(outputs, cotangents, strict=True)
            if u is not None and not y.stop_gradient
        ]
        if not pairs:
            return [None] * len(xs)
        # An output may be there twice, or be an input.
        roots = [Tensor._wrap(y._data, y._node) if y._node else ops.assign(y) for y, _ in pairs]
        seeds = [u for _, u in pairs]
        return grad(
            roots, list(xs), seeds, retain_graph=True, create_graph=create_graph, allow_unused=True
        )

    def push(self, tangents: Sequence[Array]) -> Array:
        """Tangents of the differentiated outputs as one vector, by the forward mode."""
        checked = [Tensor._wrap(a.copy()) for a in self.arrays]

        def function(*xs: Tensor) -> list[Tensor]:
            return self.goals(xs)

        _, found = jvp(function, checked, [Tensor._wrap(t) for t in tangents])
        return np.concatenate([t._data.ravel().astype(np.float64) for t in found])

    def cotangents(self, seed: int) -> list[Array]:
        """Random ones, of the shapes and dtypes of the outputs."""
        return directions([np.empty(shape, dtype) for shape, dtype in self.specs], seed)

    def tangents(self, seed: int) -> list[Array]:
        return directions(self.arrays, seed)

    def split(self, flat: Array) -> list[Array]:
        """`flat`, or rows of such, cut into one part for each output along axis 0."""
        sizes = [int(np.prod(shape)) for shape, _ in self.specs]
        return np.split(flat, np.cumsum(sizes)[:-1])

    def adjoint_gap(self, pushed: Array, tangents: Sequence[Array]) -> tuple[float, float]:
        """<Jv, u> and <v, J'u>, for a random u."""
        cotangents = self.cotangents(seed=7)
        pulled = self.pull(cotangents)
        zeros = [
            np.zeros(a.shape) if g is None else g._data
            for a, g in zip(self.arrays, pulled, strict=True)
        ]
        left = inner(self.split(pushed), [u.ravel() for u in cotangents])
        return left, inner(tangents, zeros)

    def in_float64(self) -> Problem | None:
        """The same in float64, None where it is that already."""
        if all(a.dtype == np.float64 for a in self.arrays):
            return None
        wide = [
            _wider(x) if isinstance(x, Tensor) and x._data.dtype in FLOATS else x
            for x in self.given
        ]
        return Problem(self.function, wide, order=self.order, names=self.names)


def derived(problem: Problem, cotangents: Sequence[Tensor] | None = None) -> Problem:
    """The gradients of a problem, as a function of its inputs and of the cotangents."""
    count = len(problem.arrays)
    if cotangents is None:
        cotangents = [Tensor._leaf(u) for u in problem.cotangents(seed=3)]

    def gradients(*arguments: Tensor) -> list[Tensor]:
        xs, us = arguments[:count], arguments[count:]
        return or_zeros(xs, problem.pull_from(problem.goals(xs), xs, us, create_graph=True))

    several = len(problem.outputs) > 1
    names = list(problem.labels)
    names += [
        f"the cotangent of output {k}" if several else "the cotangent" for k in problem.outputs
    ]
    inputs = [Tensor._leaf(a) for a in problem.arrays] + list(cotangents)
    return Problem(gradients, inputs, order=problem.order + 1, names=names)


def _wider(x: Tensor) -> Tensor:
    wide = Tensor._wrap(x._data.astype(np.float64))
    wide.stop_gradient = x.stop_gradient
    return wide


def _argument_names(function: Callable[..., Any], count: int) -> list[str]:
    """What to call the inputs: "x (input 0)", as far as the signature tells."""
    names: list[str] = []
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    for p in parameters:
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
        elif p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}[{i}]" for i in range(count - len(names))]
    return [f"{names[k]} (input {k})" if k < len(names) else f"input {k}" for k in range(count)]


def _nothing_to_check(given: list[Any]) -> Exception:
    for k, x in enumerate(given):
        if isinstance(x, np.ndarray):
            return NotATensorError(
                f"gradcheck: inputs[{k}] is an ndarray: use "
                "paddle.to_tensor(x, stop_gradient=False)"
            )
    if any(isinstance(x, Tensor) for x in given):
        return ArgumentError(
            "gradcheck: no input wants a gradient; make one with "
            "paddle.to_tensor(x, dtype='float64', stop_gradient=False)"
        )
    return NotATensorError(
        "gradcheck: inputs must be a Tensor or a list or tuple with Tensors; got "
        + (", ".join(type(x).__name__ for x in given) or "nothing")
    )
