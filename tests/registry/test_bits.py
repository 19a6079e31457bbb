"""One table, many readers, the same bits: tape, create_graph, programs, rules written out."""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ShapeError
from autograd_engine.testing import op_checks as table
from autograd_engine.testing.op_checks import all_same, settings
from tests.over import over

from .harness import (
    gradient,
    has_gradient,
    kernel,
    static_orders,
)
from .references import SEED
from .samples import cases, family

SHAPES = {"known": False, "unknown": True}


@over(("op", "sample"), cases(), by=family)
def test_eager_value_is_that_of_the_kernel(op, sample):
    paddle.seed(SEED)
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    table.eager_is_the_kernel(op, operands, attrs)


@over("shapes", SHAPES)
@over(("op", "sample"), cases(lambda op, sample: sample.unknown))
def test_value_in_a_program_is_that_of_the_kernel(op, sample, shapes):
    paddle.seed(SEED)
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    expected = kernel(op, operands, attrs)
    paddle.seed(SEED)
    results, _, _ = static_orders(op, operands, attrs, (), (), (), unknown=SHAPES[shapes])
    all_same(results, expected)


@over(("op", "sample"), cases(lambda op, sample: not sample.unknown))
def test_sizes_that_a_program_must_know(op, sample):
    paddle.seed(SEED)
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    with pytest.raises(ShapeError, match=r"declare it in static\.data|the parameter is"):
        static_orders(op, operands, attrs, (), (), (), unknown=True)
    results, _, _ = static_orders(op, operands, attrs, (), (), (), unknown=False)
    all_same(results, kernel(op, operands, attrs))


@over(("op", "sample"), cases(has_gradient), by=family)
def test_recording_the_pass_changes_no_bit(op, sample):
    paddle.seed(SEED)
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    table.recording_changes_nothing(op, operands, attrs)


LAST: list[Any] = [None, None, None]


def eager_results(op, sample):
    """They are the same for all programs of a sample, which follow one another."""
    if LAST[0] is not op or LAST[1] is not sample:
        paddle.seed(SEED)
        operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
        LAST[:] = op, sample, table.eager_results(op, operands, attrs)
    return LAST[2]


@over("shapes", SHAPES)
@over(("op", "sample"), cases(has_gradient))
def test_gradients_in_a_program(op, sample, shapes):
    """With the gradient operators as they were appended, and written out."""
    results = eager_results(op, sample)
    paddle.seed(SEED)
    if not sample.unknown and SHAPES[shapes]:
        with pytest.raises(ShapeError):
            table.programs_agree(results, unknown=True)
        return
    table.programs_agree(results, unknown=SHAPES[shapes])


@over(("op", "sample"), cases(has_gradient))
def test_first_order_in_a_program(op, sample):
    """Without a second order, so that the gradient operators run as they were appended."""
    paddle.seed(SEED)
    operands, attrs = sample.cast(np.float32), op.complete_attrs(sample.attrs)
    for setting in settings(op, operands, attrs):
        *head, _ = setting
        expected = gradient(*head)
        for shapes in ("known", "unknown") if sample.unknown else ("known",):
            _, first, _ = static_orders(*head, (), unknown=SHAPES[shapes])
            all_same(first, expected)
