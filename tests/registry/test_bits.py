"""One table, many readers, the same bits: tape, create_graph, programs, rules written out."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ShapeError

from .harness import (
    call,
    differentiable,
    directions,
    eager_orders,
    gradient,
    has_gradient,
    kernel,
    same_bits,
    static_orders,
    subsets,
    tensors,
    with_gradient,
)
from .references import SEED
from .samples import cases

PROGRAMS = {
    "known": {"unknown": False},
    "unknown": {"unknown": True},
    "known-written-out": {"unknown": False, "written_out": True},
    "unknown-written-out": {"unknown": True, "written_out": True},
}


def all_same(actual, expected):
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        same_bits(a, e)


@pytest.fixture(autouse=True)
def seeded():
    paddle.seed(SEED)


@pytest.mark.parametrize(("op", "sample"), cases())
def test_eager_value_is_that_of_the_kernel(op, sample):
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    expected = kernel(op, operands, attrs)
    paddle.seed(SEED)
    positions = differentiable(op, operands)
    results = call(op, tensors(operands, positions), attrs)
    all_same([r.numpy() for r in results], expected)


@pytest.mark.parametrize("shapes", ["known", "unknown"])
@pytest.mark.parametrize(("op", "sample"), cases(lambda op, sample: sample.unknown))
def test_value_in_a_program_is_that_of_the_kernel(op, sample, shapes):
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    expected = kernel(op, operands, attrs)
    paddle.seed(SEED)
    results, _, _ = static_orders(op, operands, attrs, (), (), (), **PROGRAMS[shapes])
    all_same(results, expected)


@pytest.mark.parametrize(("op", "sample"), cases(lambda op, sample: not sample.unknown))
def test_sizes_that_a_program_must_know(op, sample):
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    with pytest.raises(ShapeError, match=r"declare it in static\.data|the parameter is"):
        static_orders(op, operands, attrs, (), (), (), unknown=True)
    results, _, _ = static_orders(op, operands, attrs, (), (), (), unknown=False)
    all_same(results, kernel(op, operands, attrs))


def differentiated(op, sample, dtype=np.float32):
    operands, attrs = sample.cast(dtype), op.complete_attrs(sample.attrs)
    cotangents = directions(with_gradient(op, kernel(op, operands, attrs)), seed=40)
    for wanted in subsets(differentiable(op, operands)):
        tangents = directions([operands[k] for k in wanted], seed=41)
        yield op, operands, attrs, wanted, cotangents, tangents


@pytest.mark.parametrize(("op", "sample"), cases(has_gradient))
def test_recording_the_pass_changes_no_bit(op, sample):
    for setting in differentiated(op, sample):
        raw = gradient(*setting[:5])
        _, first, second = eager_orders(*setting, create_graph=False)
        _, _, recorded = eager_orders(*setting, create_graph=True)
        all_same(first, raw)
        all_same(recorded, second)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("op", "sample"), cases(has_gradient))
def test_gradients_in_a_program(op, sample, program):
    if not sample.unknown and PROGRAMS[program]["unknown"]:
        with pytest.raises(ShapeError):
            static_orders(*next(differentiated(op, sample)), **PROGRAMS[program])
        return
    for setting in differentiated(op, sample):
        expected = eager_orders(*setting, create_graph=False)
        results = static_orders(*setting, **PROGRAMS[program])
        for result, value in zip(results, expected, strict=True):
            all_same(result, value)


@pytest.mark.parametrize(("op", "sample"), cases(has_gradient))
def test_first_order_in_a_program(op, sample):
    """Without a second order, so that the gradient operators run as they were appended."""
    for setting in differentiated(op, sample):
        *head, _ = setting
        expected = gradient(*head)
        for shapes in ("known", "unknown") if sample.unknown else ("known",):
            _, first, _ = static_orders(*head, (), **PROGRAMS[shapes])
            all_same(first, expected)
