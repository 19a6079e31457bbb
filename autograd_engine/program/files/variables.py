"""Variables of documents."""

from __future__ import annotations

import math
from typing import Any, Final

from autograd_engine import regularizer
from autograd_engine.core.dims import Dim
from autograd_engine.core.spec import Spec
from autograd_engine.eager.training_options import TrainingOptions
from autograd_engine.program.files.fields import (
    fail,
    read_bool,
    read_fields,
    read_int,
    read_list,
    read_name,
    shown,
)
from autograd_engine.program.files.values import Sizes, read_dtype, read_value
from autograd_engine.program.files.writer import REGULARIZERS
from autograd_engine.program.ir.program import Block, Parameter, Variable

__all__ = ["read_variable"]

_FLAGS: Final = ("stop_gradient", "persistable", "is_data", "is_stack", "declared")


def read_variable(block: Block, value: Any, sizes: Sizes, where: str) -> Variable:
    """A variable of `block`, which is not told of it."""
    fields = read_fields(
        value, where, ("name", "shape", "dtype"), (*_FLAGS, "parameter", "training", "version")
    )
    name = read_name(fields["name"], f"{where}.name")
    spec = Spec(
        sizes.read_shape(fields["shape"], f"{where}.shape"),
        read_dtype(fields["dtype"], f"{where}.dtype"),
    )
    flags = {flag: read_bool(fields.get(flag, False), f"{where}.{flag}") for flag in _FLAGS}
    if "parameter" in fields:
        var: Variable = _parameter(block, name, spec, fields, where)
        if not flags["persistable"] or flags["is_data"] or flags["is_stack"] or flags["declared"]:
            fail(where, "a parameter is persistable, and neither fed nor a stack")
        var.stop_gradient = flags["stop_gradient"]
    else:
        if "training" in fields:
            fail(where, "only parameters are trained")
        var = Variable(
            block,
            name,
            spec,
            stop_gradient=flags["stop_gradient"],
            persistable=flags["persistable"],
            is_data=flags["is_data"],
        )
        var.is_stack, var.declared = flags["is_stack"], flags["declared"]
    var.version = read_int(fields.get("version", 0), f"{where}.version")
    return var


def _parameter(block: Block, name: str, spec: Spec, fields: Any, where: str) -> Parameter:
    kind = fields["parameter"]
    if kind not in ("trainable", "frozen"):
        fail(f"{where}.parameter", f"must be 'trainable' or 'frozen', got {shown(kind)}")
    if spec.dtype.kind != "f" or any(isinstance(d, Dim) for d in spec.shape):
        fail(where, f"a parameter has a float dtype and a known shape, got {spec}")
    options = None
    if "training" in fields:
        options = _options(fields["training"], f"{where}.training")
    return Parameter(block, name, spec, trainable=kind == "trainable", options=options)


def _options(value: Any, where: str) -> TrainingOptions:
    fields = read_fields(value, where, (), ("learning_rate", "regularizer", "need_clip"))
    rate = read_value(fields.get("learning_rate", 1.0), f"{where}.learning_rate")
    if type(rate) not in (int, float):
        fail(f"{where}.learning_rate", f"must be a number, got {shown(rate)}")
    decay = None
    if "regularizer" in fields:
        kind, coeff = read_list(fields["regularizer"], f"{where}.regularizer", 2)
        if type(kind) is not str or kind not in REGULARIZERS:
            fail(f"{where}.regularizer", f"{shown(kind)} is none of {', '.join(REGULARIZERS)}")
        if type(coeff) is not float or not math.isfinite(coeff):
            fail(f"{where}.regularizer", f"{shown(coeff)} is no coefficient")
        decay = getattr(regularizer, kind)(coeff)
    clips = read_bool(fields.get("need_clip", True), f"{where}.need_clip")
    return TrainingOptions(float(rate), decay, clips)
