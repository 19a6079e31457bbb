"""What `jit.load` returns: a program from a file, called like a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_engine.compiler.live_operators import live_operators
from autograd_engine.core import pytree as nest
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Parameter as EagerParameter, Tensor
from autograd_engine.errors import ArgumentTypeError, FileFormatError, ModeError
from autograd_engine.jit.arguments import bind
from autograd_engine.jit.program_call import Place, ProgramCall, Returned
from autograd_engine.jit.static_function import operations_are_seen
from autograd_engine.jit.tracing import Captured, Write
from autograd_engine.nn.layer.base.layer import Layer
from autograd_engine.nn.layer.base.registered import BUFFER, PARAMETER
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import OpDef
from autograd_engine.program.input_spec import InputSpec
from autograd_engine.program.ir.program import (
    Operator,
    Parameter,
    Program,
    Ref,
    Variable,
)
from autograd_engine.static.executor.interpreter import run_operators

__all__ = ["TranslatedLayer"]


class TranslatedLayer(Layer):
    """A program from a file, to be called like the function it was made of.

    Results, and gradients of any order, are those of the function. It begins in the form for
    inference; `train` takes that in which it was traced (with dropout, say). It is a layer, whose
    parameters go by the names that they had: others may hold it, and be trained with it.

    Attributes
    ----------
    training : bool

    Examples
    --------
    >>> import tempfile, autograd_engine as paddle
    >>> from autograd_engine.jit import load, save
    >>> w = paddle.to_tensor([3.0], stop_gradient=False)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     save(lambda x: x * w, f"{directory}/m", [paddle.static.InputSpec([1], "float32")])
    ...     layer = load(f"{directory}/m")
    >>> layer(paddle.to_tensor([2.0])).backward()
    >>> [p.grad.tolist() for p in layer.parameters()]
    [[2.0]]
    """

    _castable = False

    def __init__(
        self,
        name: str,
        training: Any,
        inference: Any,
        state: dict[str, Any],
        returned: tuple[Any, list[Any]],
    ) -> None:
        super().__init__()
        self.training = False
        self._called = name
        self._forms = {True: training, False: inference}
        self._returned = returned
        self._calls: dict[Any, ProgramCall] = {}
        self._attributes: dict[str, str] = {}
        for found in (training, inference):
            for var in found.program.list_vars():
                if var.persistable and var.name not in self._attributes:
                    self._attributes[var.name] = self._hold(var.name, _tensor(var, state))

    def _hold(self, name: str, tensor: Tensor) -> str:
        """Register it, under its own name if that is free."""
        while hasattr(self, name):
            name += "_"
        self._put(name, tensor, PARAMETER if isinstance(tensor, EagerParameter) else BUFFER)
        return name

    def _tensor(self, var: Variable) -> Tensor:
        found: Tensor = self.__dict__[self._attributes[var.name]]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_calls": {}}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the program computes."""
        form = self._forms[self.training]
        ordered = self._ordered(form, args, kwargs)
        if grad_mode.trace is not None:
            return self._step_by_step(form, ordered)
        arguments = bind(self._called, None, self._specs(form), ordered, {})
        if operations_are_seen():
            return self._step_by_step(form, [i.tensor for i in arguments.inputs])
        tensors = [self._tensor(v) for v in _kept(form)]
        opened: tuple[bool, ...] = ()
        if grad_mode.enabled:
            opened = tuple([i.stop for i in arguments.inputs] + [t._stop for t in tensors])
        key = self.training, opened, tuple(map(id, tensors))
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = self._made(form, [i.stop for i in arguments.inputs])
        return call.run([i.tensor for i in arguments.inputs if i.tensor is not None])

    def _step_by_step(self, form: Any, inputs: Sequence[Any]) -> Any:
        """What a call does where a function is traced, or each operation is to be seen."""
        captured = _kept(form)
        given = [*inputs, *(self._tensor(v) for v in captured)]
        names = [*form.feeds, *(v.name for v in captured)]
        values = {(name, 0): value for name, value in zip(names, given, strict=True)}
        writes = [Ref(v, v.version) for v in captured if v.version]
        fetches = [Ref(v, v.version) for v in form.fetches]
        goals = [*fetches, *writes]
        operators = live_operators(form.program.global_block().ops, goals)
        if grad_mode.trace is None:
            run_operators(operators, values, goals)
        else:
            self._emit(operators, values)
        for ref in writes:
            self._tensor(ref.var).set_value(values[ref.key])
        structure, template = self._returned
        results = [values[r.key] for r in fetches]
        flat = [v.pick(given, results) if isinstance(v, Place) else v for v in template]
        return nest.rebuild(structure, flat, self._called)

    def _emit(self, operators: Sequence[Operator], values: dict[tuple[str, int], Any]) -> None:
        """Have the function that is traced do what `operators` do."""
        for operator in operators:
            op = operator.op
            if not isinstance(op, OpDef):
                raise ModeError(
                    f"{self._called} was loaded, and has a branch or a loop ({operator.type}), "
                    "which no other function can be traced with: call it outside of that one"
                )
            operands = [
                values[o.key] if isinstance(o, Ref) else None if o is None else o.value
                for o in operator.operands
            ]
            made = ops[op](*operands, **operator.attrs)
            made = made if op.multiple else (made,)
            values.update(zip([r.key for r in operator.results], made, strict=True))

    def _specs(self, form: Any) -> list[InputSpec]:
        block = form.program.global_block()
        found = [block.var(name) for name in form.feeds]
        return [InputSpec(v.shape, v.dtype, v.name) for v in found]

    def _ordered(self, form: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        names = form.feeds
        given = dict(zip(names, args, strict=False))
        unknown = [k for k in kwargs if k not in names or k in given]
        given.update(kwargs)
        if len(args) > len(names) or unknown or len(given) < len(names):
            raise ArgumentTypeError(
                f"{self._called} takes the Tensors {', '.join(names)}, in this order or by name"
            )
        traced = grad_mode.trace is not None
        for value in given.values():
            if isinstance(value, Variable) and not traced:
                raise ModeError(
                    f"{self._called} was loaded as an eager layer, and takes no Variables of a "
                    "program: read the files with paddle.static.load_inference_model there"
                )
            if not isinstance(value, (Tensor, np.ndarray, Variable)):
                raise ArgumentTypeError(
                    f"{self._called} takes Tensors: {', '.join(names)}; use paddle.to_tensor"
                )
        return tuple([given[name] for name in names])

    def _made(self, form: Any, stops: list[bool]) -> ProgramCall:
        program = form.program
        block = program.global_block()
        inputs = [block.var(name) for name in form.feeds]
        captured = [Captured(self._tensor(v), v) for v in _kept(form)]
        every = [*stops, *(c.tensor._stop for c in captured)]
        wanted = [k for k, stop in enumerate(every) if not stop] if grad_mode.enabled else []
        for k, var in enumerate([*inputs, *(c.var for c in captured)]):
            if k in wanted:
                var.stop_gradient = False
        writes = [
            Write(c.tensor, c.var, c.var, False, "set_value", "paddle.assign")
            for c in captured
            if c.var.version
        ]
        structure, template = self._returned
        returned = Returned(structure, template, list(form.fetches))
        return ProgramCall(
            self._called, __name__, program, inputs, captured, returned, writes, wanted
        )

    def program(self) -> Program:
        """The program that a call runs now."""
        found: Program = self._forms[self.training].program
        return found

    def __repr__(self) -> str:
        return f"<loaded {self._called}({', '.join(self._forms[False].feeds)})>"


def _kept(form: Any) -> list[Variable]:
    """What a program keeps from call to call."""
    return [v for v in form.program.global_block().vars.values() if v.persistable]


def _tensor(var: Variable, state: dict[str, Any]) -> Tensor:
    array = state.get(var.name)
    if array is None or array.shape != tuple(var.spec.shape) or array.dtype != var.spec.dtype:
        raise FileFormatError(
            f"jit.load: the file of parameters has no {var.name} of the shape and dtype that the "
            "program says; the files do not belong together: save again"
        )
    if isinstance(var, Parameter) or not var.stop_gradient:
        return EagerParameter(np.array(array), name=var.name, trainable=not var.stop_gradient)
    tensor = Tensor._wrap(np.array(array))
    tensor.name = var.name
    tensor.persistable = True
    return tensor
