"""Types of optimizers, and those that are there for what they do."""

from __future__ import annotations

import re
from typing import Any

from autograd_engine.errors import ArgumentError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.static.operator_types.declaring import OneOf, declare
from autograd_engine.static.print_assert import Print
from autograd_engine.tensor import public as paddle

__all__: list[str] = []


def _update(slots: str, name: str, names: dict[str, str] | None = None, **attrs: Any) -> None:
    """Declare the type of an update of the table.

    The reference keeps learning rates, and powers of the betas, as one number of shape [1].

    Parameters
    ----------
    slots : str
        The inputs, in its order. What is state has an output of that name with ``Out`` behind it.
    name : str
    names : dict, optional
        What slots and attributes are called in the table, where that is not the same in small
        letters.
    """
    inputs = slots.split()
    called = {n: n if n in attrs else _snake(n) for n in (*inputs, *attrs)} | (names or {})
    operation = REGISTRY[name]
    kept = {n: called[n] for n in attrs if called[n] in operation.attrs}
    slot_of = {called[n]: n for n in inputs}
    beside = ("MasterParam", *_BESIDE.get(name, ()))
    written = [slot_of[n.removesuffix("_out")] for n in operation.outputs]

    def call(*operands: Any, multi_precision: bool, **given: Any) -> Any:
        values = dict(zip((*inputs, *beside), operands, strict=True))
        for slot in beside:
            if values[slot] is not None:
                raise ArgumentError(f"{name}: the input {slot} is not read here: leave it out")
        if multi_precision:
            raise ArgumentError(f"{name}: multi_precision has no meaning on a CPU: leave it out")
        values = {slot: values[slot] for slot in inputs}
        _prepare(values, given)
        numbers = {s: paddle.reshape(v, []) if _one(s, v) else v for s, v in values.items()}
        made = getattr(ops, name)(
            *[numbers[slot_of[n]] for n in operation.inputs],
            **{kept[k]: v for k, v in given.items() if k in kept},
        )
        made = made if operation.multiple else (made,)
        found = [
            paddle.reshape(new, values[slot].shape) if _one(slot, values[slot]) else new
            for slot, new in zip(written, made, strict=True)
        ]
        return tuple(found) if len(found) > 1 else found[0]

    outputs = " ".join(f"{slot}Out" for slot in written)
    optional = " ".join(f"{slot}?" for slot in beside)
    declare(
        name,
        f"{slots} {optional} -> {outputs} MasterParamOut~",
        call,
        role="optimize",
        multi_precision=False,
        **attrs,
    )


_BESIDE = {
    "adam": ("SkipUpdate", "Beta1Tensor", "Beta2Tensor", "EpsilonTensor"),
    "adamw": ("SkipUpdate", "Beta1Tensor", "Beta2Tensor", "EpsilonTensor"),
    "lamb": ("SkipUpdate",),
}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _one(slot: str, value: Any) -> bool:
    return slot in ("LearningRate", "Beta1Pow", "Beta2Pow") and value.ndim > 0


def _prepare(values: dict[str, Any], given: dict[str, Any]) -> None:
    """What some types do to gradient and rate before the update."""
    if given.get("regularization_method") == "l2_decay":
        decay = given["regularization_coeff"] * values["Param"]
        values["Grad"] = values["Grad"] + decay
    if given.get("with_decay") is False:
        given["coeff"] = 0.0
    if given.get("lr_ratio", 1.0) != 1.0:
        values["LearningRate"] = values["LearningRate"] * given["lr_ratio"]


_update("Param LearningRate Grad", "sgd")
_update(
    "Param Grad Velocity LearningRate",
    "momentum",
    mu=float,
    use_nesterov=False,
    regularization_method=OneOf("", "l2_decay"),
    regularization_coeff=0.0,
    rescale_grad=1.0,
)
_ADAM = "Param Grad LearningRate Moment1 Moment2 Beta1Pow Beta2Pow"
_BETAS: dict[str, Any] = {"beta1": 0.9, "beta2": 0.999}
_LAZY: dict[str, Any] = {
    "lazy_mode": False,
    "min_row_size_to_use_multithread": 1000,
    "use_global_beta_pow": False,
}
_update(_ADAM, "adam", **_BETAS, epsilon=1e-8, **_LAZY)
_update(_ADAM, "adamw", **_BETAS, epsilon=1e-8, lr_ratio=1.0, coeff=0.01, with_decay=False, **_LAZY)
_update(_ADAM, "lamb", **_BETAS, epsilon=1e-6, weight_decay=float, always_adapt=False)
_update("Param Grad LearningRate Moment InfNorm Beta1Pow", "adamax", **_BETAS, epsilon=1e-8)
_update("Param Grad Moment LearningRate", "adagrad", epsilon=1e-6)
_update(
    "Param Grad AvgSquaredGrad AvgSquaredUpdate LearningRate", "adadelta", rho=0.95, epsilon=1e-6
)
_update(
    "Param MeanSquare Grad Moment LearningRate MeanGrad",
    "rmsprop",
    {"Moment": "momentum", "decay": "rho", "momentum": "mu"},
    epsilon=1e-10,
    decay=0.9,
    momentum=0.0,
    centered=False,
)


# --- for what they do


def _print(x: Any, **attrs: Any) -> Any:
    attrs.pop("is_forward")
    phase = attrs.pop("print_phase").lower()
    return Print(x, print_phase=phase, **attrs)


declare(
    "print",
    "In -> Out",
    _print,
    first_n=-1,
    message="",
    summarize=20,
    print_tensor_name=True,
    print_tensor_type=True,
    print_tensor_shape=True,
    print_tensor_layout=True,
    print_tensor_lod=True,
    print_phase=OneOf("BOTH", "FORWARD", "BACKWARD", "both", "forward", "backward"),
    is_forward=True,
)
