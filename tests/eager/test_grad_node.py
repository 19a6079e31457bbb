"""`Tensor.grad_fn`: the recorded graph as views."""

from typing import Any

import autograd_engine as paddle


def leaf(*values: float) -> Any:
    return paddle.to_tensor(list(values), dtype="float32", stop_gradient=False)


def names(node: Any) -> list[str | None]:
    return [n and n.name() for n in node.next_functions]


def test_names_are_those_of_the_reference() -> None:
    x, w = leaf(1.0, 2.0), leaf(1.0, 2.0)
    total = (x * w + x).sum()
    assert total.grad_fn.name() == "SumGradNode"
    (added,) = total.grad_fn.next_functions
    assert added.name() == "AddGradNode"
    assert names(added) == ["MultiplyGradNode", "GradNodeAccumulation"]


def test_a_leaf_accumulates_and_what_stops_has_none() -> None:
    x = leaf(1.0)
    assert x.grad_fn.name() == "GradNodeAccumulation"
    assert x.grad_fn.next_functions == (None,)
    assert x.grad_fn.variable is x
    assert x.grad_fn.location is None
    assert paddle.to_tensor([1.0]).grad_fn is None
    assert (x * 2.0).detach().grad_fn is None
    y = x * 2.0
    y.stop_gradient = True
    assert y.grad_fn is None


def test_operands_that_want_no_gradient_are_none() -> None:
    x, c = leaf(1.0), paddle.to_tensor([3.0])
    assert names((x * c).grad_fn) == ["GradNodeAccumulation", None]
    assert names((c * x).grad_fn) == [None, "GradNodeAccumulation"]
    assert names(paddle.gather(x, paddle.to_tensor([0])).grad_fn) == ["GradNodeAccumulation"]
    assert names(paddle.stack([x, x]).grad_fn) == ["GradNodeAccumulation"] * 2


def test_views_of_one_node_are_equal() -> None:
    x = leaf(1.0)
    y = x * x
    assert y.grad_fn == y.grad_fn
    assert len({y.grad_fn, y.grad_fn, x.grad_fn, y.grad_fn.next_functions[0]}) == 2
    assert y.grad_fn != (x * x).grad_fn
    assert y.grad_fn != "MultiplyGradNode"


def test_several_outputs_are_one_node() -> None:
    a, b = paddle.split(leaf(1.0, 2.0), 2)
    assert a.grad_fn == b.grad_fn
    assert (a.grad_fn.name(), a.grad_fn.output_index, b.grad_fn.output_index) == (
        "SplitGradNode",
        0,
        1,
    )


def test_what_it_says() -> None:
    x = leaf(1.0, 2.0)
    y = paddle.sum(x * x, axis=0)
    node = y.grad_fn
    assert node.op == "sum"
    assert node.attrs["axis"] == (0,)
    assert node.location.startswith("test_grad_node.py:")
    assert repr(node) == f"<SumGradNode at {node.location}>"
    assert node.next_functions[0].saved == {"x": "float32[2]", "y": "float32[2]"}
    assert "float32[2]" in repr(x.grad_fn)


def test_a_freed_node_says_who_freed_it() -> None:
    x = leaf(1.0)
    y = x * x
    node = y.grad_fn
    assert node.freed is None
    y.backward()
    assert node.freed.startswith("test_grad_node.py:")
    assert node.saved == {}
    assert node.next_functions == ()
    assert "freed by the backward pass at test_grad_node.py:" in repr(node)


def test_a_view_keeps_no_more_than_the_graph() -> None:
    x = leaf(1.0)
    node = (x * x).grad_fn
    assert node.next_functions[0].variable is x


def test_a_deep_graph_can_be_followed() -> None:
    y = leaf(1.0)
    for _ in range(100_000):
        y = y + 1.0
    node, count = y.grad_fn, 0
    while node.op is not None:
        node, count = node.next_functions[0], count + 1
    assert count == 100_000


def test_saved_values_that_hooks_have_packed_are_not_unpacked() -> None:
    hooks = paddle.autograd.saved_tensors_hooks
    x = leaf(1.0, 2.0)
    unpacked = []
    with hooks(lambda t: t.numpy(), lambda a: unpacked.append(a) or paddle.to_tensor(a)):
        y = x * x
    assert y.grad_fn.saved == {"x": "float32[2]", "y": "float32[2]"}
    assert unpacked == []


def test_a_layer_of_the_users() -> None:
    class Double(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2.0

    x = leaf(1.0)
    y = Double.apply(x)
    assert y.grad_fn.name() == "DoubleGradNode"
    assert names(y.grad_fn) == ["GradNodeAccumulation"]
    assert "Double" in repr(y.grad_fn)
    assert paddle.graph(y).boxes[-1].title == "Double"
    assert paddle.autograd.saved_report(y).rows is not None
    assert paddle.explain(x, y).reason == "no_backward"
