"""The column `takes`: each dtype that a row says is tried in every mode, each other is refused."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.dtypes import COMPLEX, EXACT, FLOATS, INEXACT, bfloat16
from autograd_engine.errors import DTypeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.optimizer.groups import update_dtype
from tests.over import over

from .harness import call, same_bits, tensors
from .references import SEED
from .samples import SAMPLES, cases, family

static = paddle.static
DTYPES = ["bool", "int32", "int64", "uint8", "float16", "float32", "float64"]
DTYPES += ["complex64", "complex128"]
with contextlib.suppress(ImportError):
    DTYPES.insert(5, bfloat16().name)

# They take what they take in some forms, as their attributes or the values of operands say.
REFUSALS = (TypeError, ValueError, OverflowError)
BY_FORM = frozenset(("cast", "cast_like", "fourier", "reinterpret", "pow", "inv", "solve"))
BY_FORM |= {"cholesky", "axis_position", "bincount", "random_like", "residual_over", "within"}
# What transforms complex cotangents is given no real ones of 16 bits, as their rules make none.
OF_COTANGENTS = frozenset(("fourier_transpose",))
# What updates keep of a parameter as one number.
NUMBERS_KEPT = frozenset(("beta1_pow", "beta2_pow", "momentum_decay_pow", "mu_product", "rho"))


def about(op, sample):
    """Positions of the operands that the column is about: typed, floating if any is."""
    typed = [k for k in range(len(sample.operands)) if op.input_at(k) not in op.untyped]
    inexact = [k for k in typed if np.asarray(sample.operands[k]).dtype in INEXACT]
    return inexact or typed


def converted(array, dtype):
    with np.errstate(all="ignore"):
        return np.asarray(as_dtype(array, dtype))


def as_dtype(array, dtype):
    if dtype in FLOATS or array.dtype in EXACT:
        return array.real.astype(dtype)
    if dtype in COMPLEX:
        return (array.real + 0.3j * np.cos(np.arange(array.size)).reshape(array.shape)).astype(
            dtype
        )
    return np.round(np.nan_to_num(np.minimum(np.abs(array.real) * 3, 9))).astype(dtype)


def given(op, sample, dtype):
    """The operands in a dtype; of an update what is kept of complex parameters has their parts."""
    operands = [np.asarray(a) for a in sample.operands]
    for k in about(op, sample):
        operands[k] = converted(operands[k], np.dtype(dtype))
    if op.inputs[:2] == ("param", "grad") and np.dtype(dtype) in COMPLEX:
        shape = operands[0].shape
        for k in range(3, len(operands)):
            shaped = operands[k].shape[operands[k].ndim - len(shape) :] == shape
            if shaped and operands[k].dtype in FLOATS and op.inputs[k] not in NUMBERS_KEPT:
                operands[k] = np.stack([operands[k], operands[k]], -1)
    if op.inputs[:2] == ("param", "grad"):
        own = update_dtype(np.dtype(dtype))
        operands[2:] = [a.astype(own) if a.dtype in FLOATS else a for a in operands[2:]]
    return operands


def in_eager_mode(op, operands, attrs):
    return call(op, tensors(operands), attrs)


def in_a_program(op, operands, attrs):
    with static.program_guard(static.Program()):
        xs = [static.data(f"x{k}", a.shape, a.dtype.name) for k, a in enumerate(operands)]
        ys = ops[op](*xs, **attrs)
        ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
        fed = {f"x{k}": a for k, a in enumerate(operands)}
        return static.Executor().run(xs[0].block.program, fed, ys)


def gradients_keep_dtypes(op, operands, attrs):
    """Each floating or complex operand that has a rule gets a gradient of its shape and dtype."""
    leaves = [paddle.to_tensor(a, stop_gradient=a.dtype not in INEXACT) for a in operands]
    open_results = [y for y in call(op, leaves, attrs) if not y.stop_gradient]
    wanted = [x for k, x in enumerate(leaves) if not x.stop_gradient and op.rule_at(k) is not None]
    if not open_results or not wanted:
        return
    cotangents = [paddle.ones_like(y) for y in open_results]
    found = paddle.grad(open_results, wanted, cotangents, allow_unused=True)
    for x, g in zip(wanted, found, strict=True):
        assert g is None or (g.dtype, g.shape) == (x.dtype, x.shape)


def kind_of(dtype):
    return "b" if dtype == "bool" else "i" if "int" in dtype else dtype[0].replace("b", "f")


@over(("op", "sample"), cases(lambda op, sample: about(op, sample)), by=family)
def test_what_a_row_takes_runs_alike_in_both_modes(op, sample):
    for dtype in DTYPES:
        if kind_of(dtype) not in op.takes:
            continue
        operands, attrs = given(op, sample, dtype), op.complete_attrs(sample.attrs)
        with np.errstate(all="ignore"):
            try:
                paddle.seed(SEED)
                found = [y.numpy() for y in call(op, tensors(operands), attrs)]
            except REFUSALS:
                if op.name not in BY_FORM:
                    raise
                continue
            paddle.seed(SEED)
            if op.name not in OF_COTANGENTS:
                gradients_keep_dtypes(op, operands, attrs)
            if sample.unknown:
                paddle.seed(SEED)
                for a, b in zip(found, in_a_program(op, operands, attrs), strict=True):
                    same_bits(b, a)


@over(("op", "sample"), cases(lambda op, sample: op.narrow and about(op, sample)), by=family)
def test_what_a_row_does_not_take_is_refused_by_name_in_both_modes(op, sample):
    for dtype in DTYPES:
        if kind_of(dtype) in op.takes or not stays(op, dtype):
            continue
        operands, attrs = given(op, sample, dtype), op.complete_attrs(sample.attrs)
        for run in (in_eager_mode, in_a_program):
            with pytest.raises(DTypeError, match=rf"\b{op.name}\b.*use "):
                run(op, operands, attrs)


def test_rows_that_go_by_form_take_some_sample_of_each_kind():
    for name in BY_FORM - {"reinterpret"}:  # as bytes can be read, whatever they were
        op = REGISTRY[name]
        for dtype in ("bool", "int64", "float64", "complex128"):
            if kind_of(dtype) in op.takes:
                assert any(runs(op, sample, dtype) for sample in SAMPLES[name]), (name, dtype)


def runs(op, sample, dtype):
    try:
        in_eager_mode(op, given(op, sample, dtype), op.complete_attrs(sample.attrs))
    except REFUSALS:
        return False
    return True


def stays(op, dtype):
    """Whether operands of this dtype stay what they are: else they are cast to what is taken."""
    if op.dtypes == "floating":
        return dtype not in ("bool", "int32", "int64", "uint8")
    return op.dtypes != "numeric" or dtype != "bool"
