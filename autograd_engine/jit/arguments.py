"""Arguments of a traced function: which are inputs of the program, and what a program is made for.

Tensors, and ndarrays, anywhere in lists, tuples and dicts are inputs. Everything else is part of
what the program was made for: numbers and strings by value, other objects by identity.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_engine.core import pytree as nest
from autograd_engine.core.dtypes import get_default_numpy_dtype
from autograd_engine.eager.far_tensor import content
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from autograd_engine.ops.registry.strong_zeros import zeros_are_strong
from autograd_engine.program.input_spec import InputSpec
from autograd_engine.program.ir.program import Variable

__all__ = ["Arguments", "Input", "bind"]

_PLAIN = (bool, int, str, bytes, type(None))


class Input(NamedTuple):
    """One Tensor among the arguments.

    Attributes
    ----------
    tensor : Tensor or None
        None where only a spec of it was given.
    shape : tuple of int
        -1 for sizes that the program leaves open.
    dtype : numpy.dtype
    stop : bool
    name : str
    """

    tensor: Tensor | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stop: bool
    name: str


class Arguments:
    """The arguments of one call.

    Attributes
    ----------
    inputs : list of Input
        Each Tensor once.
    key : hashable
        Two calls with equal keys may be served by one program.
    kept : list
        Objects that the key knows by identity.
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._structure = nest.structure((args, kwargs))
        self._leaves = nest.leaves((args, kwargs))
        self.inputs: list[Input] = []
        self.kept: list[Any] = []
        self.has_variables = False
        self._places: list[int] = []  # for each leaf its input, -1 for what is none
        self.key: Any = None

    def fill(
        self, name: str, specs: dict[int, tuple[InputSpec, str]], names: list[str] | None
    ) -> None:
        """Sort the leaves into inputs and others."""
        known: dict[int, int] = {}
        parts: list[Any] = []
        for k, leaf in enumerate(self._leaves):
            if isinstance(leaf, Variable):
                self.has_variables = True
                return
            spec = specs.get(k)
            if isinstance(leaf, (np.ndarray, Tensor, InputSpec)):
                same = known.get(id(leaf))
                if same is None:
                    same = known[id(leaf)] = len(self.inputs)
                    found = _input(name, leaf, spec, names[k] if names else "x")
                    self.inputs.append(found)
                    parts.append((found.shape, found.dtype, found.stop))
                else:
                    parts.append(same)
                self._places.append(same)
            else:
                self._places.append(-1)
                parts.append(self._plain(leaf))
        self.key = (
            self._structure,
            tuple(parts),
            bool(grad_mode.enabled),
            grad_mode.autocast,
            get_default_numpy_dtype(),
            zeros_are_strong(),
        )

    def _plain(self, leaf: Any) -> Any:
        if isinstance(leaf, (float, complex, slice, range)):
            return type(leaf), repr(leaf)
        if isinstance(leaf, _PLAIN):
            return type(leaf), leaf
        self.kept.append(leaf)
        return "is", id(leaf)

    def rebuilt(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """(args, kwargs) with `values` for the inputs."""
        leaves = [
            leaf if place < 0 else values[place]
            for leaf, place in zip(self._leaves, self._places, strict=True)
        ]
        args, kwargs = nest.rebuild(self._structure, leaves, "arguments")
        return args, kwargs


def _input(function: str, leaf: Any, spec: tuple[InputSpec, str] | None, name: str) -> Input:
    if isinstance(leaf, InputSpec):
        if spec is not None:
            name = spec[0].name or name
        return Input(None, leaf.shape, leaf.numpy_dtype, leaf.stop_gradient, leaf.name or name)
    tensor = leaf if isinstance(leaf, Tensor) else Tensor(leaf)
    data = content(tensor)
    if spec is None:
        return Input(tensor, data.shape, data.dtype, tensor._stop, name)
    wanted, label = spec
    _check(function, label, data, wanted)
    return Input(tensor, wanted.shape, data.dtype, tensor._stop, wanted.name or name)


def _check(function: str, label: str, data: Any, spec: InputSpec) -> None:
    shape = spec.shape
    fits = len(shape) == data.ndim and all(
        want in (-1, have) for want, have in zip(shape, data.shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"{function}: {label} has shape {list(data.shape)}, its InputSpec says {list(shape)}; "
            "pass one that fits, or leave sizes open in the InputSpec with None"
        )
    if data.dtype != spec.numpy_dtype:
        raise DTypeError(
            f"{function}: {label} is {data.dtype.name}, its InputSpec says "
            f"{spec.numpy_dtype.name}; use .astype({spec.numpy_dtype.name!r})"
        )


def bind(
    name: str,
    signature: inspect.Signature | None,
    input_spec: Sequence[Any] | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    named: bool = True,
) -> Arguments:
    """The arguments of a call, in the order of the signature.

    Where they need not be `named`, because there may be a program for them already, that is left
    out when it can be.

    Raises
    ------
    TypeError
        When the function does not take them.
    ShapeError, DTypeError
        When a Tensor is not as `input_spec` says.
    """
    if not named and not kwargs and input_spec is None:
        quick = Arguments(args, kwargs)
        quick.fill(name, {}, None)
        return quick
    if signature is not None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentTypeError(f"{name}: {error}; it takes {signature}") from None
        args, kwargs = bound.args, bound.kwargs
        names = _names(signature, bound)
    else:
        names = [f"x{k}" for k in range(len(args))]
    arguments = Arguments(args, kwargs)
    specs: dict[int, tuple[InputSpec, str]] = {}
    labels: list[str] = []
    top = [*zip(names, args, strict=False), *kwargs.items()]
    for k, (label, value) in enumerate(top):
        here = nest.leaves(value)
        first = len(labels)
        labels += [label] if len(here) == 1 else [f"{label}_{i}" for i in range(len(here))]
        if input_spec is not None and k < len(input_spec):
            _match(name, label, value, input_spec[k], first, specs)
    if input_spec is not None and len(input_spec) > len(top):
        raise ArgumentError(
            f"{name}: input_spec has {len(input_spec)} entries for {len(top)} arguments; give one "
            "for each"
        )
    arguments.fill(name, specs, labels)
    return arguments


def _names(signature: inspect.Signature, bound: inspect.BoundArguments) -> list[str]:
    """A name for each positional argument."""
    names = []
    for parameter in signature.parameters.values():
        if parameter.name not in bound.arguments:
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            count = len(bound.arguments[parameter.name])
            names += [f"{parameter.name}_{k}" for k in range(count)]
        elif parameter.kind in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        ):
            names.append(parameter.name)
    return names


def _match(
    function: str,
    label: str,
    value: Any,
    spec: Any,
    first: int,
    specs: dict[int, tuple[InputSpec, str]],
) -> None:
    """Give the leaves of `value` their specs, which are a nest of the same form."""
    if isinstance(spec, InputSpec):
        if not isinstance(value, (Tensor, np.ndarray, InputSpec, Variable)):
            raise ArgumentTypeError(
                f"{function}: input_spec has an InputSpec for {label}, and got "
                f"{type(value).__name__}; pass a Tensor, or None in the input_spec"
            )
        specs[first] = spec, label
        return
    wanted = nest.leaves(spec)
    if not any(isinstance(s, InputSpec) for s in wanted):
        return
    if len(wanted) != len(nest.leaves(value)):
        raise ArgumentError(
            f"{function}: input_spec has {len(wanted)} entries for {label}, which has "
            f"{len(nest.leaves(value))}; they must be nested alike"
        )
    for k, (one, leaf) in enumerate(zip(wanted, nest.leaves(value), strict=True)):
        if isinstance(one, InputSpec) and isinstance(leaf, (Tensor, np.ndarray, InputSpec)):
            specs[first + k] = one, f"{label}[{k}]"
