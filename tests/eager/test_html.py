"""Tensors in a notebook: ``_repr_html_``."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.eager.printing import PrintOptions
from tests.autograd.markup import Balanced


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    paddle.set_printoptions(**asdict(PrintOptions()))


def page(tensor: Any) -> str:
    text: str = tensor._repr_html_()
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    return text


def test_shape_dtype_and_values() -> None:
    text = page(paddle.to_tensor([[1.5, 2.0], [3.0, -4.25]]))
    assert "shape=[2, 2], dtype=float32, stop_gradient=True" in text
    for value in ("1.50000000", "2.", "3.", "-4.25000000"):
        assert f"<td>{value}</td>" in text


def test_where_it_came_from_and_its_gradient() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert "leaf; grad: None (no backward pass has reached it)" in page(x)
    y = x * 3.0
    assert "result of multiply at test_html.py:" in page(y)
    assert "y = x * 3.0" in page(y)
    assert "retain_grads()" in page(y)
    y.sum().backward()
    assert "grad: float32[2]" in page(x)


def test_a_parameter_says_so() -> None:
    assert "<b>Parameter</b>" in page(paddle.create_parameter([2], name="w"))


def test_what_is_not_finite_is_counted() -> None:
    text = page(paddle.to_tensor([float("nan"), float("inf"), 1.0]))
    assert "1 NaN and 1 infinite of 3 elements" in text
    assert "NaN" not in page(paddle.ones([3]))


def test_statistics_of_larger_ones_leave_out_what_is_not_finite() -> None:
    data = np.arange(10_000.0).reshape(100, 100)
    data[0, 0] = np.nan
    text = page(paddle.to_tensor(data))
    values = data[np.isfinite(data)]
    for number in (values.min(), values.mean(), values.max(), values.std()):
        assert f"<td>{number:.6g}</td>" in text
    assert "<td>9999.</td>" in text  # a corner
    assert text.count("<tr>") < 12
    assert "..." in text


def test_print_options_hold() -> None:
    paddle.set_printoptions(precision=2)
    assert "<td>0.33</td>" in page(paddle.to_tensor([1 / 3]))
    paddle.set_printoptions(sci_mode=True)
    assert "<td>3.33e-01</td>" in page(paddle.to_tensor([1 / 3]))
    paddle.set_printoptions(threshold=4, edgeitems=1)
    assert page(paddle.arange(6)).count("<td>") == 3


@pytest.mark.parametrize("shape", [[], [0], [0, 3], [2, 3, 4], [1, 1, 1, 1]])
def test_other_ranks_are_printed(shape: list[int]) -> None:
    assert "<pre" in page(paddle.zeros(shape))


@pytest.mark.parametrize("dtype", ["bool", "int64", "float16", "complex64"])
def test_every_dtype(dtype: str) -> None:
    assert "<table" in page(paddle.ones([300]).astype(dtype))
    assert dtype in page(paddle.ones([2, 2]).astype(dtype))


def test_all_nan() -> None:
    assert "300 NaN" in page(paddle.full([300], float("nan")))


def test_names_are_escaped() -> None:
    x = paddle.ones([1])
    x.name = "<img src=x>"
    assert "&lt;img src=x&gt;" in page(x)
