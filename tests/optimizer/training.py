"""A few steps from gradients that are given, in either mode, and the optimizers to take them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import autograd_engine as paddle

static = paddle.static
P = paddle.optimizer

W = np.array([[0.5, -1.25], [2.0, 0.0]], "float32")
B = np.array([0.3, -0.7], "float32")
# For w and b, step by step.
GRADIENTS = [
    (np.array(gw, "float32"), np.array(gb, "float32"))
    for gw, gb in (
        ([[0.1, -0.2], [1.5, 0.0]], [1.0, -2.0]),
        ([[-0.4, 0.3], [0.2, 0.05]], [0.5, 0.25]),
        ([[2.0, -1.0], [-0.5, 0.25]], [-3.0, 0.1]),
        ([[0.01, 0.02], [-0.03, -0.04]], [0.2, 0.2]),
    )
]

Make = Callable[[Any], Any]

BETAS = {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3}
OPTIMIZERS: dict[str, Make] = {
    "SGD": lambda ps: P.SGD(0.1, parameters=ps),
    "Momentum": lambda ps: P.Momentum(0.1, 0.8, parameters=ps),
    "Momentum nesterov": lambda ps: P.Momentum(0.1, 0.8, parameters=ps, use_nesterov=True),
    "Adam": lambda ps: P.Adam(0.1, 0.8, 0.9, 1e-3, parameters=ps),
    "Adam amsgrad": lambda ps: P.Adam(0.1, 0.8, 0.9, 1e-3, parameters=ps, amsgrad=True),
    "AdamW": lambda ps: P.AdamW(0.1, 0.8, 0.9, 1e-3, parameters=ps, weight_decay=0.1),
    "AdamW amsgrad": lambda ps: P.AdamW(
        0.1, 0.8, 0.9, 1e-3, parameters=ps, weight_decay=0.1, amsgrad=True
    ),
    "RMSProp": lambda ps: P.RMSProp(0.1, 0.8, 1e-3, parameters=ps),
    "RMSProp momentum": lambda ps: P.RMSProp(0.1, 0.8, 1e-3, 0.7, parameters=ps),
    "RMSProp centered": lambda ps: P.RMSProp(0.1, 0.8, 1e-3, 0.7, True, parameters=ps),
    "Adagrad": lambda ps: P.Adagrad(0.1, 1e-3, parameters=ps, initial_accumulator_value=0.1),
    "Adadelta": lambda ps: P.Adadelta(0.1, 1e-3, 0.8, parameters=ps),
    "Adamax": lambda ps: P.Adamax(0.1, 0.8, 0.9, 1e-3, parameters=ps),
    "Lamb": lambda ps: P.Lamb(0.1, 0.1, 0.8, 0.9, 1e-3, parameters=ps),
    "NAdam": lambda ps: P.NAdam(0.1, 0.8, 0.9, 1e-3, 0.05, parameters=ps),
    "RAdam": lambda ps: P.RAdam(0.1, 0.8, 0.9, 1e-3, parameters=ps),
    "RAdam default": lambda ps: P.RAdam(0.1, parameters=ps),
    "ASGD": lambda ps: P.ASGD(0.1, 2, parameters=ps),
    "Rprop": lambda ps: P.Rprop(0.1, (0.01, 0.15), parameters=ps, etas=(0.4, 1.3)),
}


def parameters(
    attrs: Sequence[dict[str, Any]] = ({}, {}), dtype: str = "float32"
) -> tuple[Any, Any]:
    """w and b, in the mode that is on."""
    w, b = (
        paddle.create_parameter(
            value.shape,
            dtype,
            attr=paddle.ParamAttr(
                name=name, initializer=paddle.nn.initializer.Assign(value), **attr
            ),
        )
        for name, value, attr in (("w", W, attrs[0]), ("b", B, attrs[1]))
    )
    return w, b


def eagerly(make: Make, steps: int = 4, **options: Any) -> tuple[list[Any], Any]:
    """([w, b], the optimizer) after so many steps."""
    w, b = parameters(**options)
    optimizer = make([w, b])
    step_eagerly(optimizer, [w, b], range(steps))
    return [w.numpy(), b.numpy()], optimizer


def step_eagerly(optimizer: Any, params: Sequence[Any], steps: Any) -> None:
    for k in steps:
        for p, g in zip(params, GRADIENTS[k % len(GRADIENTS)], strict=True):
            p.grad = paddle.to_tensor(g.astype(p.numpy().dtype))
        optimizer.step()


class Training:
    """The same in a program, whose gradients are fed."""

    def __init__(self, make: Make, **options: Any) -> None:
        self.main, self.startup, self.scope = static.Program(), static.Program(), static.Scope()
        self.exe = static.Executor()
        with paddle.unique_name.guard(), static.program_guard(self.main, self.startup):
            self.w, self.b = parameters(**options)
            self.dtype = self.w.dtype.name
            pairs = [(p, static.data(f"g{p.name}", p.shape, self.dtype)) for p in (self.w, self.b)]
            self.optimizer = make([self.w, self.b])
            self.operators = self.optimizer.apply_gradients(pairs)
        self.exe.run(self.startup, scope=self.scope)

    def run(self, steps: Any = range(4)) -> list[Any]:
        for k in steps:
            gw, gb = (g.astype(self.dtype) for g in GRADIENTS[k % len(GRADIENTS)])
            self.exe.run(self.main, feed={"gw": gw, "gb": gb}, scope=self.scope)
        return [np.asarray(self.scope.find_var(n).get_tensor()) for n in "wb"]


def same(have: Sequence[Any], want: Sequence[Any]) -> None:
    """Bit for bit."""
    for a, b in zip(have, want, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
