"""What `jit.load` returns: a program from a file, called like a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.eager.tensor import Parameter as EagerParameter
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import FileFormatError
from autograd_engine.jit.arguments import bind
from autograd_engine.jit.program_call import ProgramCall, Returned
from autograd_engine.jit.tracing import Captured, Write
from autograd_engine.static.input_spec import InputSpec
from autograd_engine.static.program import Parameter, Program, Variable

__all__ = ["TranslatedLayer"]


class TranslatedLayer:
    """A program from a file, to be called like the function it was made of.

    Results, and gradients of any order, are those of the function. It begins in the form for
    inference; `train` takes that in which it was traced (with dropout, say).

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

    def __init__(
        self,
        name: str,
        training: Any,
        inference: Any,
        state: dict[str, Any],
        returned: tuple[Any, list[Any]],
    ) -> None:
        self.training = False
        self._name = name
        self._forms = {True: training, False: inference}
        self._returned = returned
        self._calls: dict[Any, ProgramCall] = {}
        self._tensors: dict[str, Tensor] = {}
        for found in (training, inference):
            for var in found.program.list_vars():
                if var.persistable and var.name not in self._tensors:
                    self._tensors[var.name] = _tensor(var, state)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        form = self._forms[self.training]
        arguments = bind(self._name, None, self._specs(form), self._ordered(form, args, kwargs), {})
        if grad_mode.enabled:
            opened = tuple(i.stop for i in arguments.inputs)
            opened += tuple(t._stop for t in self._tensors.values())
        else:
            opened = ()
        key = self.training, opened
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = self._made(form, [i.stop for i in arguments.inputs])
        return call.run([i.tensor for i in arguments.inputs if i.tensor is not None])

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
            raise TypeError(
                f"{self._name} takes the Tensors {', '.join(names)}, in this order or by name"
            )
        if any(not isinstance(v, (Tensor, np.ndarray)) for v in given.values()):
            raise TypeError(f"{self._name} takes Tensors: {', '.join(names)}; use paddle.to_tensor")
        return tuple([given[name] for name in names])

    def _made(self, form: Any, stops: list[bool]) -> ProgramCall:
        program = form.program
        block = program.global_block()
        inputs = [block.var(name) for name in form.feeds]
        captured = [
            Captured(self._tensors[v.name], v) for v in block.vars.values() if v.persistable
        ]
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
            self._name, __name__, program, inputs, captured, returned, writes, wanted
        )

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        return self(*args, **kwargs)

    def program(self) -> Program:
        """The program that a call runs now."""
        found: Program = self._forms[self.training].program
        return found

    def parameters(self) -> list[Tensor]:
        """The Tensors that an optimizer may train."""
        return [t for t in self._tensors.values() if isinstance(t, EagerParameter)]

    def buffers(self) -> list[Tensor]:
        """Other Tensors that it keeps: running statistics."""
        return [t for t in self._tensors.values() if not isinstance(t, EagerParameter)]

    def state_dict(self) -> dict[str, Tensor]:
        """All of them by name."""
        return dict(self._tensors)

    def train(self) -> TranslatedLayer:
        """From here on it runs in the form in which it was traced; returns the layer."""
        self.training = True
        return self

    def eval(self) -> TranslatedLayer:
        """From here on it runs in the form for inference; returns the layer."""
        self.training = False
        return self

    def __repr__(self) -> str:
        return f"<loaded {self._name}({', '.join(self._forms[False].feeds)})>"


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
