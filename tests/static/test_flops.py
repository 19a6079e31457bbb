"""Counted arithmetic: by hand, and beside torch's counter."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import FeedError

static = paddle.static
F = paddle.nn.functional


@pytest.fixture(autouse=True)
def building() -> None:
    paddle.enable_static()


def built(build: Callable[[], Any]) -> Any:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        build()
    return main


def trained(loss: Any) -> None:
    paddle.optimizer.SGD(0.1).minimize(loss)


def test_gradients_of_a_product_are_two_products() -> None:
    def build() -> None:
        x = static.data("x", [6, 30], "float32")
        w = static.create_parameter([30, 7], "float32")
        h = paddle.matmul(x, w)
        v = static.create_parameter([7, 3], "float32")
        trained(paddle.sum(paddle.matmul(h, v)))

    report = static.flops(built(build))
    first, second = 2 * 6 * 30 * 7, 2 * 6 * 7 * 3
    # x is data: of the first product the gradient in w alone is computed.
    assert int(report.products) == 2 * first + 3 * second
    assert int(report.updates) == 2 * (30 * 7 + 7 * 3)
    assert int(report.forward) == first + second + 6 * 3


class TestByHand:
    def test_a_product_of_matrices(self) -> None:
        def build() -> None:
            x = static.data("x", [None, 30], "float32")
            paddle.matmul(x, static.create_parameter([30, 7], "float32"))

        report = static.flops(built(build), {"x": (5, 30)})
        assert int(report) == int(report.products) == 2 * 5 * 30 * 7
        assert repr(report.total) == "420*x.shape[0] flops"

    def test_transposed_and_stacked_products(self) -> None:
        def build() -> None:
            x = static.data("x", [4, 8, 30], "float32")
            y = static.data("y", [4, 5, 30], "float32")
            z = paddle.matmul(x, y, transpose_y=True)
            paddle.matmul(z, x, transpose_x=True)

        assert int(static.flops(built(build))) == 2 * 4 * 8 * 30 * 5 + 2 * 4 * 5 * 8 * 30

    @pytest.mark.parametrize("groups", [1, 2])
    def test_a_convolution(self, groups: int) -> None:
        def build() -> None:
            x = static.data("x", [3, 4, 10, 12], "float32")
            x.stop_gradient = False
            static.gradients(paddle.sum(static.nn.conv2d(
                x, 6, (3, 5), stride=2, padding=1, groups=groups, bias_attr=False)), x)  # fmt: skip

        report = static.flops(built(build))
        taps = 4 // groups * 3 * 5
        out = 3 * 6 * 5 * 5
        # Forward, and the gradient in x.
        assert int(report.products) == 2 * 2 * out * taps

    def test_element_by_element(self) -> None:
        def build() -> None:
            x = static.data("x", [8, 16], "float32")
            x.stop_gradient = False
            y = paddle.reshape(paddle.transpose(paddle.tanh(x), [1, 0]), [4, 32])
            static.gradients(paddle.sum(y), x)

        report = static.flops(built(build))
        assert int(report.products) == 0
        # tanh and sum; then g * (1 - out * out). What moves elements counts nothing.
        assert int(report.forward) == 2 * 128
        assert int(report.backward) == 3 * 128
        assert int(report.by_type["tanh"]) == 128
        assert int(report.by_type["tanh_grad"]) == 3 * 128

    def test_a_sum_over_broadcast_axes(self) -> None:
        def build() -> None:
            x = static.data("x", [8, 16], "float32")
            b = static.create_parameter([16], "float32")
            static.append_backward(paddle.sum(x + b))

        report = static.flops(built(build))
        assert int(report.by_type["add_grad"]) == 8 * 16

    def test_totals_by_line_add_up(self) -> None:
        def build() -> None:
            x = static.data("x", [None, 16], "float32")
            trained(paddle.mean(F.relu(static.nn.fc(x, 4))))

        report = static.flops(built(build), {"x": (10, 16)})
        assert sum(map(int, report.by_line.values())) == int(report)
        assert sum(map(int, report.by_type.values())) == int(report)
        assert int(report.forward) + int(report.backward) + int(report.updates) == int(report)
        assert all("test_flops.py" in line for line in report.by_line)
        assert sum(int(o.total) for o in report.operators) == int(report)
        assert "by line:" in str(report)
        assert "<table" in report._repr_html_()


class TestBlocks:
    def test_a_branch_counts_the_larger_side(self) -> None:
        def build() -> None:
            x = static.data("x", [4, 10], "float32")
            w = static.create_parameter([10, 10], "float32")
            static.nn.cond(paddle.sum(x) > 0.0, lambda: paddle.matmul(x, w), lambda: paddle.tanh(x))

        assert int(static.flops(built(build)).products) == 2 * 4 * 10 * 10

    def test_a_loop_counts_its_iterations(self) -> None:
        def build() -> None:
            x = static.data("x", [4, 10], "float32")
            w = static.create_parameter([10, 10], "float32")
            _, h = static.nn.while_loop(
                lambda i, h: i < 3.0,
                lambda i, h: [i + 1.0, paddle.matmul(h, w)],
                [paddle.zeros([1], "float32"), x],
            )
            static.append_backward(paddle.sum(h))

        report = static.flops(built(build))
        assert "trips" in report.total.unknown
        each = 2 * 4 * 10 * 10
        # One product forward, two for its gradients.
        assert report.products.at(trips=5) == 3 * each * 5


def test_specs_that_do_not_fit_are_refused() -> None:
    main = built(lambda: static.data("x", [None, 16], "float32"))
    with pytest.raises(FeedError, match="did you mean 'x'"):
        static.flops(main, {"X": (10, 16)})


def test_an_mlp_counts_what_torch_counts() -> None:
    torch = pytest.importorskip("torch")
    counter = pytest.importorskip("torch.utils.flop_counter").FlopCounterMode(display=False)
    sizes = [20, 50, 30, 5]

    def build() -> None:
        h = static.data("x", [None, sizes[0]], "float32")
        for n in sizes[1:]:
            h = paddle.tanh(static.nn.fc(h, n))
        static.append_backward(paddle.mean(h))

    layers = [
        part
        for m, n in itertools.pairwise(sizes)
        for part in (torch.nn.Linear(m, n), torch.nn.Tanh())
    ]
    with counter:
        torch.nn.Sequential(*layers)(torch.ones(12, 20)).mean().backward()
    report = static.flops(built(build), {"x": (12, 20)})
    assert int(report.products) == counter.get_total_flops()


class TestBesideTorch:
    def test_convolutions(self) -> None:
        torch = pytest.importorskip("torch")
        counter = pytest.importorskip("torch.utils.flop_counter").FlopCounterMode(display=False)

        def build() -> None:
            x = static.data("x", [None, 3, 16, 16], "float32")
            h = static.nn.conv2d(x, 8, 3, padding=1, stride=2)
            static.append_backward(paddle.mean(static.nn.conv2d(h, 4, 5)))

        model = torch.nn.Sequential(
            torch.nn.Conv2d(3, 8, 3, padding=1, stride=2), torch.nn.Conv2d(8, 4, 5)
        )
        with counter:
            model(torch.ones(6, 3, 16, 16)).mean().backward()
        report = static.flops(built(build), {"x": (6, 3, 16, 16)})
        assert int(report.products) == counter.get_total_flops()

    def test_attention(self) -> None:
        torch = pytest.importorskip("torch")
        counter = pytest.importorskip("torch.utils.flop_counter").FlopCounterMode(display=False)

        def build() -> None:
            q, k, v = (static.data(n, [None, 4, 9, 8], "float32") for n in "qkv")
            for t in (q, k, v):
                t.stop_gradient = False
            a = F.softmax(paddle.matmul(q, k, transpose_y=True))
            static.gradients(paddle.sum(paddle.matmul(a, v)), [q, k, v])

        q, k, v = (torch.ones(2, 4, 9, 8, requires_grad=True) for _ in range(3))
        with counter:
            (torch.softmax(q @ k.transpose(-1, -2), -1) @ v).sum().backward()
        shapes = dict.fromkeys("qkv", np.ones((2, 4, 9, 8), "float32"))
        assert int(static.flops(built(build), shapes).products) == counter.get_total_flops()
