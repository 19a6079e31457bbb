"""Kernels compute what they should, and inference foretells the shapes and dtypes."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.spec import Spec
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.testing import op_checks as table
from tests.over import over

from .families import FAMILIES
from .harness import kernel, same_bits, tensors
from .references import REFERENCES, SEED
from .samples import SAMPLES, cases, family

DTYPES = ["float64", "float32", "float16"]
TOLERANCE = {"float64": 1e-12, "float32": 2e-6, "float16": 4e-3}


def test_every_operation_has_samples_and_a_reference():
    assert set(SAMPLES) == set(REGISTRY)
    assert set(REFERENCES) == set(REGISTRY)
    assert all(SAMPLES.values())


@pytest.mark.parametrize("family", FAMILIES)
def test_samples_and_references_stand_in_the_file_named_like_the_module(family):
    declared = {name for name, op in REGISTRY.items() if op.module == family}
    assert set(FAMILIES[family].SAMPLES) == declared
    assert set(FAMILIES[family].REFERENCES) == declared


@over("name", SAMPLES, by=family)
def test_labels_tell_samples_apart(name):
    labels = [s.label for s in SAMPLES[name]]
    assert len(set(labels)) == len(labels)


def test_an_operation_without_samples_is_noticed(monkeypatch):
    monkeypatch.setitem(REGISTRY, "unheard_of", REGISTRY["tanh"])
    with pytest.raises(AssertionError):
        test_every_operation_has_samples_and_a_reference()


@over("dtype", DTYPES)
@over(("op", "sample"), cases())
def test_value(op, sample, dtype):
    operands = sample.cast(dtype)
    paddle.seed(SEED)
    results = kernel(op, operands, op.complete_attrs(sample.attrs))
    wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in operands]
    expected = REFERENCES[op.name](*wide, **sample.attrs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    assert len(results) == len(expected)
    for result, value in zip(results, expected, strict=True):
        # What is computed in a dtype is as exact as the coarsest one that took part.
        coarsest = min([result.dtype, np.dtype(dtype)], key=lambda d: d.itemsize)
        tolerance = TOLERANCE[coarsest.name] if result.dtype.kind in "fc" else 0.0
        assert result.shape == np.shape(value)
        np.testing.assert_allclose(result, value, rtol=tolerance, atol=tolerance)


# How large their results are depends on values: a program learns it when it runs.
SIZED_BY_VALUES = {
    "bincount", "class_center_sample", "sequence_mask", "nonzero", "row_counts", "unique",
    "unique_consecutive",
}  # fmt: skip


def sized_by_values(op, sample):
    """Those, and what a mask takes."""
    masked = {"index", "index_last"} if "mask" in sample.attrs.get("key", ()) else ()
    return op.name in SIZED_BY_VALUES or op.name in masked


@over("dtype", DTYPES)
@over(("op", "sample"), cases(), by=family)
def test_inference(op, sample, dtype):
    operands = sample.cast(dtype)
    attrs = op.complete_attrs(sample.attrs)
    table.infers(op, operands, attrs)
    if not sized_by_values(op, sample):
        specs = op.infer_tuple([Spec(a.shape, a.dtype) for a in operands], attrs)
        assert all(isinstance(size, int) for s in specs for size in s.shape)


def reads_only_specs(op, sample):
    return any(not op.reads_value(k) for k in range(len(sample.operands)))


@over(("op", "sample"), cases(reads_only_specs))
def test_like_inputs_are_asked_for_nothing_but_shape_and_dtype(op, sample):
    operands = sample.cast(np.float32)
    table.like_inputs_are_not_read(op, operands, op.complete_attrs(sample.attrs))


@over(("op", "sample"), cases(), by=family)
def test_kernels_write_to_no_operand(op, sample):
    table.writes_to_no_operand(op, sample.cast(np.float64), op.complete_attrs(sample.attrs))


@pytest.mark.parametrize("name", [n for n, op in REGISTRY.items() if op.random])
def test_random_operations_follow_the_seed(name):
    attrs = SAMPLES[name][0].attrs
    like = tensors(SAMPLES[name][0].cast(np.float32))

    def draw():
        made = getattr(ops, name)(*like, **attrs)
        return (made[0] if isinstance(made, tuple) else made).numpy()

    paddle.seed(3)
    first, second = draw(), draw()
    paddle.seed(3)
    same_bits(draw(), first)
    assert not np.array_equal(first, second)


def test_random_operations_have_the_moments_they_say():
    paddle.seed(0)
    n = 20_000
    uniform = ops.uniform(shape=(n,), low=-1.0, high=3.0, dtype="float64").numpy()
    assert uniform.min() >= -1.0
    assert uniform.max() < 3.0
    assert abs(uniform.mean() - 1.0) < 4 * (4.0 / 12**0.5) / n**0.5
    gaussian = ops.gaussian(shape=(n,), mean=2.0, std=0.5, dtype="float64").numpy()
    assert abs(gaussian.mean() - 2.0) < 4 * 0.5 / n**0.5
    assert abs(gaussian.std() - 0.5) < 4 * 0.5 / (2 * n) ** 0.5
    integers = ops.randint(shape=(n,), low=-1, high=2, dtype="int64").numpy()
    assert set(integers.tolist()) == {-1, 0, 1}
    kept = ops.dropout_mask(Spec((n,), np.dtype("float32")), p=0.25, upscale=True).numpy()
    assert set(kept.tolist()) == {0.0, float(np.float32(1 / 0.75))}
    assert abs((kept > 0).mean() - 0.75) < 4 * (0.75 * 0.25 / n) ** 0.5
