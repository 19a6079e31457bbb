"""Every operation on stacks of values: what it gives for each direction alone, stacked."""

import numpy as np

import autograd_engine as paddle
from autograd_engine.autograd.batching.batched import Batched, batching, value_of
from autograd_engine.autograd.batching.rules import loops
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.ops.registry.scattered_cotangent import dense
from tests.over import over

from .harness import (
    differentiable,
    has_gradient,
    kernel,
    subsets,
    tensors,
)
from .samples import cases

COUNT = 3
TOLERANCE = 1e-12

# What runs once for each direction, and why. All others take a stack at once.
LOOPS = {
    "histogram bincount row_counts unique unique_consecutive nonzero": "sizes differ between them",
    "histogram_bin_edges equal_all searchsorted gather_tree repeat_index": "one answer for all",
    "bernoulli poisson standard_gamma multinomial binomial class_center_sample": "draws",
    "index_maximum index_minimum index_last": "writes by arrays that may be stacked",
    "sequence_mask checked_label": "reads integers",
    "label_entropy label_loss": "may be a mean of all lines",
    "axis_position within": "one number",
    "ctc_states ctc_align permutation_like": "reads integers",
    "rnnt_moves rnnt_align fractional_max_index": "reads integers, or one number for all",
    "nms region_max_index": "one box after the other",
    "band_scan band_scan_adjoint": "recurrences over a middle axis",
    "lstm_scan gru_scan rnn_scan gate_scan gate_scan_adjoint": "recurrences, with weights",
    "masked_attention biased_attention": "a mask is for fewer images than there may be",
    "gate_slopes layer_adjoint": "values of recurrences",
    "fourier fourier_transpose": "NumPy has transforms of all axes but these",
    "reinterpret last_writes running_statistic": "no gradient, never met in a rule",
    "sgd momentum asgd rprop adam adam_amsgrad adamw adamw_amsgrad": "updates",
    "adamax lamb nadam radam rmsprop adagrad adadelta": "updates",
}


def close(actual, expected):
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=TOLERANCE, atol=TOLERANCE)


def result_of(value):
    """The array of what a batched pass gives, for all directions."""
    value = dense(value)
    if isinstance(value, Batched):
        array = value_of(value)
        return np.asarray(getattr(array, "_data", array))
    array = np.asarray(getattr(value, "_data", value))
    return np.broadcast_to(array, (COUNT, *array.shape))


def test_the_operations_that_loop_are_known():
    known = {name for names in LOOPS for name in names.split()}
    found = {op.name for op in REGISTRY.values() if op.inputs and loops(op)}
    assert found == known


def varied(a, seed):
    """Some values near `a` in its own dtype; integers and bools stay as they are."""
    if a.dtype.kind != "f":
        return np.stack([a] * COUNT)
    noise = np.random.default_rng(seed).uniform(-1e-3, 1e-3, (COUNT, *a.shape))
    return np.asarray(a + noise).astype(a.dtype)


def differs_in_shape(op):
    return op.name in {
        "unique", "unique_consecutive", "nonzero", "histogram", "bincount", "row_counts"
    }  # fmt: skip


@over(
    ("op", "sample"),
    cases(lambda op, sample: bool(op.inputs) and not op.random and not differs_in_shape(op)),
)
def test_operands_that_are_stacks(op, sample):
    """Each operand alone, and all of them; on arrays and on Tensors."""
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    everything = tuple(range(len(operands)))
    for stacked in subsets(everything):
        stacks = {k: varied(operands[k], seed=k) for k in stacked}
        with np.errstate(all="ignore"):
            expected = [
                kernel(
                    op, [stacks[k][i] if k in stacks else a for k, a in enumerate(operands)], attrs
                )
                for i in range(COUNT)
            ]
        for base in (raw, ops):
            xp = batching(base)
            lift = (lambda a: a) if base is raw else (lambda a: tensors([a])[0])
            given = [
                Batched(lift(stacks[k]), xp) if k in stacks else lift(a)
                for k, a in enumerate(operands)
            ]
            with np.errstate(all="ignore"):  # values near a sample may lie outside of its domain
                found = getattr(xp, op.name)(*given, **attrs)
            found = found if op.multiple else (found,)
            for got, *each in zip(found, *expected, strict=True):
                close(result_of(got), np.stack(each))


def saved_values(op, operands, attrs, wanted):
    out = kernel(op, operands, attrs)
    mask = sum(1 << k for k in wanted)
    pullback = op.pullback(mask, op.projected([a.shape for a in operands], out[0].shape))
    grouped = (out,) if op.variadic_output else out
    return pullback, pullback.save(*op.group(operands), *grouped), out


@over(("op", "sample"), cases(has_gradient))
@over("strong", [False, True], ids=["", "strong"])
def test_a_batched_pull_is_the_pulls_stacked(op, sample, strong):
    operands, attrs = sample.cast(np.float64), op.complete_attrs(sample.attrs)
    paddle.seed(1)
    for wanted in subsets(differentiable(op, operands)):
        pullback, saved, out = saved_values(op, operands, attrs, wanted)
        pullback = pullback.strengthened() if strong else pullback
        rng = np.random.default_rng(7)
        stacks = [
            None
            if op.output_at(k) in op.nondiff_outputs
            else np.asarray(rng.uniform(-1, 1, (COUNT, *o.shape))).astype(o.dtype)
            for k, o in enumerate(out)
        ]
        for stack in stacks:
            if stack is not None:
                stack[1] = 0.0  # a direction whose cotangent is 0
        expected = [
            [
                dense(r)
                for r in pullback.pull(raw, picked(op, [at(s, i) for s in stacks]), saved, attrs)
            ]
            for i in range(COUNT)
        ]
        for base in (raw, ops):
            xp = batching(base)
            lift = (lambda a: a) if base is raw else lifted
            bundle = [None if s is None else Batched(lift(s), xp) for s in stacks]
            kept = saved if base is raw else tuple(lifted(v) for v in saved)
            pulled = pullback.pull(xp, picked(op, bundle), kept, attrs)
            for got, *each in zip(pulled, *expected, strict=True):
                close(result_of(got), np.stack([np.asarray(e) for e in each]))


def at(stack, i):
    return None if stack is None else stack[i]


def picked(op, bundle):
    return bundle if op.multiple else bundle[0]


def lifted(value):
    if isinstance(value, tuple):
        return tuple(lifted(v) for v in value)
    return value if isinstance(value, Spec) else tensors([value])[0]
