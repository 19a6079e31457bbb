"""`paddle.summary` and `paddle.flops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, ModeError, NotATensorError

nn = paddle.nn


class LeNet(nn.Layer):
    """That of the reference's page on `flops`."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2D(1, 6, 3, stride=1, padding=1),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
            nn.Conv2D(6, 16, 5, stride=1, padding=0),
            nn.ReLU(),
            nn.MaxPool2D(2, 2),
        )
        self.fc = nn.Sequential(nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10))

    def forward(self, x: Any) -> Any:
        return self.fc(paddle.flatten(self.features(x), 1))


class Several(nn.Layer):
    """Two inputs, a layer that is called twice, a parameter of its own, a function, a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.twice = nn.Linear(3, 3)
        self.same = self.twice
        self.table = nn.Embedding(7, 3)
        self.norm = nn.BatchNorm1D(3)
        self.own = self.create_parameter([3, 2])
        self.unused = nn.Linear(5, 5)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Any, ids: Any, flag: bool = False) -> Any:
        y = self.norm(self.twice(self.twice(x)))
        return {"y": paddle.matmul(self.drop(y), self.own), "e": self.table(ids)}


# --- summary


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    info = paddle.summary(LeNet(), (None, 1, 28, 28))
    assert info == {"total_params": 61610, "trainable_params": 61610}
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines[3:12]]
    assert [row[0] for row in rows] == [
        *("Conv2D-1", "ReLU-1", "MaxPool2D-1", "Conv2D-2", "ReLU-2", "MaxPool2D-2"),
        *("Linear-1", "Linear-2", "Linear-3"),
    ]
    assert [row[-1] for row in rows] == [
        "60",
        "0",
        "0",
        "2,416",
        "0",
        "0",
        "48,120",
        "10,164",
        "850",
    ]
    assert "[[1, 6, 14, 14]]    [1, 16, 10, 10]" in lines[6]
    assert lines[13:16] == [
        "Total params: 61,610",
        "Trainable params: 61,610",
        "Non-trainable params: 0",
    ]
    outputs = 2 * 4704 + 1176 + 2 * 1600 + 400 + 120 + 84 + 10
    assert lines[17:21] == [
        "Input size (MB): 0.00",
        f"Forward/backward pass size (MB): {2 * 4 * outputs / 2**20:.2f}",
        f"Params size (MB): {4 * 61610 / 2**20:.2f}",
        f"Estimated Total Size (MB): {4 * (2 * outputs + 61610 + 784) / 2**20:.2f}",
    ]


def test_what_is_shared_counts_once_and_what_is_not_called_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    net = Several()
    info = paddle.summary(net, [(4, 3), (2, 6)], dtypes=["float32", "int64"])
    trainable = 12 + 21 + 6 + 6 + 30
    assert info == {"total_params": trainable + 6, "trainable_params": trainable}
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[3:8]]
    assert [(row[0], row[-1]) for row in rows] == [
        ("Linear-1", "12"),
        ("BatchNorm1D-1", "12"),
        ("Dropout-1", "0"),
        ("Embedding-1", "21"),
        ("Several-1", "6"),
    ]


def test_a_layer_is_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    net = Several()
    net.table.eval()
    before = {k: v.numpy().copy() for k, v in net.state_dict().items()}
    paddle.seed(5)
    expected = paddle.rand([3]).tolist()
    paddle.seed(5)
    sizes: list[Any] = [(4, 3), paddle.static.InputSpec([None, 6], "int64")]
    paddle.summary(net, sizes)
    paddle.flops(net, sizes)
    with pytest.raises(ValueError, match="linear"):
        paddle.summary(net, [(4, 9), (2, 6)], ["float32", "int64"])
    assert paddle.rand([3]).tolist() == expected
    assert [layer.training for layer in net.sublayers(include_self=True)] == [
        layer is not net.table for layer in net.sublayers(include_self=True)
    ]
    for layer in net.sublayers(include_self=True):
        assert not layer._forward_post_hooks
        assert not layer._forward_pre_hooks
        assert not hasattr(layer, "total_ops")
    for key, value in net.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[key])
    assert all(p.grad is None for p in net.parameters())


@pytest.mark.parametrize(
    "call",
    [
        lambda net: paddle.summary(net, (3, 2)),
        lambda net: paddle.summary(net, [3, 2]),
        lambda net: paddle.summary(net, [(3, 2)]),
        lambda net: paddle.summary(net, [[3, 2]], "float32"),
        lambda net: paddle.summary(net, paddle.static.InputSpec([3, 2], "float32")),
        lambda net: paddle.summary(net, input=paddle.ones([3, 2])),
        lambda net: paddle.summary(net, input=[paddle.ones([3, 2])]),
    ],
)
def test_ways_to_say_the_input(call: Any, capsys: pytest.CaptureFixture[str]) -> None:
    call(nn.Linear(2, 5))
    assert capsys.readouterr().out.splitlines()[3].split() == [
        *("Linear-1", "[[3,", "2]]", "[3,", "5]", "15")
    ]


def test_an_input_in_a_dict(capsys: pytest.CaptureFixture[str]) -> None:
    class Takes(nn.Layer):
        def forward(self, inputs: Any) -> Any:
            return inputs["a"] + inputs["b"]

    paddle.summary(Takes(), input={"a": paddle.ones([2]), "b": paddle.ones([1])})
    assert "[[[2], [1]]]" in capsys.readouterr().out


# --- flops


def test_the_flops_of_the_reference() -> None:
    assert paddle.flops(LeNet(), [1, 1, 28, 28]) == 347560
    assert paddle.flops(LeNet(), [3, 1, 28, 28]) == 3 * 347560


@pytest.mark.parametrize(
    ("make", "size", "expected"),
    [
        (lambda: nn.Linear(3, 4), [2, 5, 3], 120),
        (lambda: nn.Conv2D(1, 6, 3), [1, 1, 28, 28], 6 * 26 * 26 * 10),
        (lambda: nn.Conv2D(1, 6, 3, bias_attr=False), [1, 1, 28, 28], 6 * 26 * 26 * 9),
        (lambda: nn.Conv2D(4, 6, 3, groups=2), [1, 4, 5, 5], 6 * 9 * (2 * 9 + 1)),
        (lambda: nn.Conv2DTranspose(2, 6, 3), [1, 2, 8, 8], 8 * 8 * 2 * 6 * 9 + 600),
        (lambda: nn.BatchNorm2D(3), [1, 3, 4, 4], 96),
        (lambda: nn.AvgPool2D(2), [1, 2, 4, 4], 8),
        (lambda: nn.AdaptiveAvgPool2D(1), [1, 2, 4, 4], 34),
        (lambda: nn.MaxPool2D(2), [1, 2, 4, 4], 0),
        (nn.ReLU, [1, 3], 0),
    ],
)
def test_flops_of_a_layer(make: Any, size: list[int], expected: int) -> None:
    assert paddle.flops(make(), size) == expected


def test_products_of_functions_count_too(capsys: pytest.CaptureFixture[str]) -> None:
    sizes: list[Any] = [[4, 3], paddle.static.InputSpec([2, 6], "int64")]
    assert paddle.flops(Several(), sizes, print_detail=True) == 2 * 36 + 2 * 12 + 4 * 6
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    found = {line[0]: int(line[-1]) for line in lines[3:8]}
    assert found["twice"] == 72
    assert found["Several"] == 24
    assert found["norm"] == 24
    assert lines[-1] == ["Total", "Flops:", "120", "Total", "Params:", "81"]


def test_a_count_of_the_users_own() -> None:
    seen = []

    def count(layer: Any, inputs: Any, outputs: Any) -> None:
        seen.append((layer, inputs[0].shape, float(outputs.sum()) == float(outputs.sum())))
        layer.total_ops += 7

    net = nn.Sequential(nn.Linear(3, 4), nn.Conv1D(4, 2, 1), nn.Linear(4, 1))
    total = paddle.flops(net, [1, 4, 3], custom_ops={nn.Linear: count, nn.ReLU: count})
    assert total == 7 + 7 + 2 * 4 * (4 + 1)
    assert [layer for layer, _, _ in seen] == [net[0], net[2]]


def test_flops_of_a_program() -> None:
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        nn.Linear(3, 4)(paddle.static.data("x", [2, 3], "float32"))
    assert paddle.flops(main, [2, 3]) == 24


# --- what is refused

LINEAR = nn.Linear
BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: paddle.summary(3, (1, 2)), TypeError, "net must be a Layer, got int"),
    (lambda: paddle.summary(LINEAR(2, 2)), ArgumentError, "give input_size"),
    (lambda: paddle.summary(LINEAR(2, 2), (0, 2)), ArgumentError, r"positive ints.* got \(0, 2\)"),
    (lambda: paddle.summary(LINEAR(2, 2), (1, "a")), ArgumentError, "positive ints"),
    (lambda: paddle.summary(LINEAR(2, 2), (True, 2)), ArgumentError, "positive ints"),
    (lambda: paddle.summary(LINEAR(2, 2), []), ArgumentError, r"a list of these; got \[\]"),
    (lambda: paddle.summary(LINEAR(2, 2), "a"), ArgumentError, "got 'a'"),
    (lambda: paddle.summary(LINEAR(2, 2), [(1, 2), None]), TypeError, "got NoneType"),
    (
        lambda: paddle.summary(LINEAR(2, 2), (1, 2), ["float32"] * 2),
        ArgumentError,
        "2 entries for 1",
    ),
    (lambda: paddle.summary(LINEAR(2, 2), input=3), NotATensorError, "list or dict of Tensors"),
    (lambda: paddle.summary(LINEAR(2, 2), input=[]), NotATensorError, "got list"),
    (lambda: paddle.flops(3, [1, 2]), TypeError, "net must be a Layer, got int"),
    (lambda: paddle.flops(LINEAR(2, 2), None), ArgumentError, "give input_size"),
    (lambda: paddle.flops(LINEAR(2, 2), [1, 2], [1]), ArgumentError, "a dict from classes"),
    (lambda: paddle.flops(LINEAR(2, 2), [1, 2], {"Linear": 1}), ArgumentError, "from classes"),
    (lambda: paddle.flops(LINEAR(2, 2), [1, 2], None, 1), ArgumentError, "True or False, got 1"),
]


@pytest.mark.parametrize(("call", "error", "hint"), BAD)
def test_bad_input(call: Callable[[], Any], error: type[Exception], hint: str) -> None:
    with pytest.raises(error, match=hint):
        call()


def test_a_layer_of_a_program_is_refused() -> None:
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        layer = nn.Linear(2, 2)
    for call in (paddle.summary, paddle.flops):
        with pytest.raises(ModeError, match="make it outside of program_guard"):
            call(layer, [1, 2])
