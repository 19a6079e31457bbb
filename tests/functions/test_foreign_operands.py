"""Objects of other libraries whose attributes are named like those of a Tensor or a Variable.

They are no operands: an operator leaves them to their own class, a function says what it takes.
The table is gone through, for its operations look at the class of an operand only where an
attribute is missing.
"""

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.operand import OPERATORS, REFLECTED
from autograd_engine.errors import NotATensorError
from autograd_engine.ops.registry.namespace import ops
from tests.over import over
from tests.registry.samples import cases, family


class LooksAlike:
    """An array of another library: data frames and labelled arrays keep theirs in ``_data``."""

    def __init__(self, data: Any, **others: Any) -> None:
        self._data = data
        self.__dict__.update(others)

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self._data)

    @property
    def dtype(self) -> Any:
        return np.asarray(self._data).dtype


# What its ``_data`` may be: an array that fits, one that does not, and none.
KEPT = {
    "array": lambda a: a,
    "of another dtype": lambda a: a.astype(bool),
    "rows": lambda a: a.tolist(),
    "nothing": lambda a: None,
}


@over("kept", list(KEPT))
@over(("op", "sample"), cases(lambda op, s: bool(s.operands)), by=family)
def test_an_operation_takes_no_object_that_looks_like_a_tensor(op, sample, kept):
    attrs = op.complete_attrs(sample.attrs)
    for k, operand in enumerate(sample.operands):
        if not op.reads_value(k):
            continue  # anything with a shape and a dtype serves
        for stop in (True, False):
            operands: list[Any] = [paddle.to_tensor(a) for a in sample.operands]
            for t in operands:
                t.stop_gradient = stop or t.dtype.kind != "f"
            operands[k] = LooksAlike(KEPT[kept](np.asarray(operand)))
            for mode in (paddle.no_grad(), paddle.enable_grad()):
                with mode, np.errstate(all="ignore"), pytest.raises(NotATensorError):
                    getattr(ops, op.name)(*operands, **attrs)


BINARY = [d for d in OPERATORS if d not in ("__neg__", "__abs__", "__invert__")]
TRIED = [*BINARY, *REFLECTED, "__pow__", "__rpow__", "__matmul__", "__rmatmul__"]


@pytest.mark.parametrize("dunder", TRIED)
def test_operators_leave_it_to_the_other(dunder):
    for dtype in ("float32", "int64", "bool"):
        for shape in ([2], [2, 2]):
            t, foreign = paddle.ones(shape, dtype), LooksAlike(np.ones(shape, dtype))
            assert getattr(t, dunder)(foreign) is NotImplemented


def test_the_operators_of_the_other_are_asked():
    class Answers(LooksAlike):
        def __rmul__(self, other: Any) -> str:
            return "its own"

    assert paddle.ones([2]) * Answers(np.ones(2, np.float32)) == "its own"


def test_gradients_and_values_are_untouched_by_a_refusal():
    t = paddle.ones([2])
    t.stop_gradient = False
    foreign = LooksAlike(np.ones(2, np.float32), stop_gradient=True, name="x", spec=None)
    with pytest.raises(TypeError, match="unsupported operand"):
        t * foreign
    with pytest.raises(NotATensorError, match=r"tanh: argument 'x' must be a Tensor.*LooksAlike"):
        paddle.tanh(foreign)
    (t * 2.0).sum().backward()
    assert t.grad.tolist() == [2.0, 2.0]


def test_a_masked_array_is_the_ndarray_that_it_is():
    t = paddle.ones([2])
    for masked in (np.ma.array(np.ones(2, "f"), mask=[0, 1]), np.ma.array(np.ones(2))):
        assert (t * masked).tolist() == (t * masked.data).tolist()
