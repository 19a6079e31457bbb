"""`paddle.grad`: gradients as values, of any order."""

import re
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import GraphFreedError, NotDifferentiableError

F = paddle.nn.functional


def leaf(value: Any, dtype: str = "float32") -> Any:
    return paddle.to_tensor(value, dtype=dtype, stop_gradient=False)


def test_the_result_is_a_list_and_no_leaf_is_touched() -> None:
    x, y = leaf(2.0), leaf(3.0)
    found = paddle.grad(x * y, [x, y])
    assert isinstance(found, list)
    assert [g.item() for g in found] == [3.0, 2.0]
    assert all(g.stop_gradient for g in found)
    assert (x.grad, y.grad) == (None, None)


@pytest.mark.parametrize("form", [lambda x: x, lambda x: [x], lambda x: (x,)])
def test_one_tensor_or_a_sequence(form: Any) -> None:
    x = leaf(2.0)
    (g,) = paddle.grad(form(x * x), form(x))
    assert g.item() == 4.0


def test_several_outputs_add_up() -> None:
    x = leaf(2.0)
    (g,) = paddle.grad([x * x, x * 3.0], x, grad_outputs=[None, paddle.to_tensor(10.0)])
    assert g.item() == 34.0


def test_the_output_itself_as_an_input() -> None:
    x = leaf([1.0, 2.0])
    assert paddle.grad(x, x)[0].tolist() == [1.0, 1.0]
    y = x * 2.0
    by_y, by_x = paddle.grad(y, [y, x])
    assert (by_y.tolist(), by_x.tolist()) == ([1.0, 1.0], [2.0, 2.0])


def test_intermediate_results_as_inputs() -> None:
    x = leaf(3.0)
    y = x * x
    z = y * y + x
    by_y, by_x = paddle.grad(z, [y, x])
    assert (by_y.item(), by_x.item()) == (18.0, 2 * 9 * 6 + 1.0)


@pytest.mark.parametrize("retain", [True, False])
@pytest.mark.parametrize("names", ["x", "z", "b", "x z", "x b", "z b", "x z w", "x z b w", "w"])
def test_leaves_and_results_as_inputs(names: str, retain: bool) -> None:
    x, z, w = leaf([2.0, 3.0]), leaf([5.0, 7.0]), leaf([1.0, 4.0])
    b = x * z
    y = (b * b * w + z).sum()
    expected = {
        "x": [100.0, 1176.0],
        "z": [41.0, 505.0],
        "b": [20.0, 168.0],
        "w": [100.0, 441.0],
    }
    inputs = [{"x": x, "z": z, "b": b, "w": w}[name] for name in names.split()]
    found = paddle.grad(y, inputs, retain_graph=retain)
    assert [g.tolist() for g in found] == [expected[name] for name in names.split()]
    (blocked,) = paddle.grad((x * z).sum(), x, no_grad_vars=[x], allow_unused=True)
    assert blocked is None


def test_an_output_of_several_as_input() -> None:
    x = leaf([1.0, 2.0])
    first, second = paddle.unbind(x)
    by_first, by_second = paddle.grad(first * second, [first, second])
    assert (by_first.item(), by_second.item()) == (2.0, 1.0)


# --- order


def test_any_order() -> None:
    x = leaf(2.0)
    y, found = x**4, []
    for _ in range(4):
        (y,) = paddle.grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == [32.0, 48.0, 48.0, 24.0]


def test_with_create_graph_the_result_has_a_history() -> None:
    x = leaf(2.0)
    (g,) = paddle.grad(x * x, x, create_graph=True)
    assert not g.stop_gradient
    g.backward()
    assert x.grad.item() == 2.0


@pytest.mark.parametrize(
    "function",
    [F.gelu, F.softmax, F.log_softmax, paddle.erf, paddle.max, paddle.tanh, F.sigmoid,
     lambda x: F.layer_norm(x, 3), lambda x: F.cross_entropy(x, paddle.to_tensor([0, 2]))],
)  # fmt: skip
def test_second_order_against_differences_of_the_first(function: Any) -> None:
    """Also for the operations that have none in the reference."""
    value = np.array([[0.3, -1.2, 2.0], [1.0, 0.5, -0.25]])
    direction = np.array([[1.0, 0.5, -2.0], [0.25, 1.5, 1.0]])

    def first(at: Any, create_graph: bool = False) -> Any:
        x = leaf(at, "float64")
        out = paddle.sum(paddle.square(function(x)))
        return x, paddle.grad(out, x, create_graph=create_graph)[0]

    x, g = first(value, create_graph=True)
    (second,) = paddle.grad(paddle.sum(g * direction), x)
    step = 1e-6
    above, below = (first(value + s * step * direction)[1].numpy() for s in (1, -1))
    np.testing.assert_allclose(second.numpy(), (above - below) / (2 * step), atol=1e-6)


def test_create_graph_has_the_bits_of_the_plain_pass() -> None:
    rng = np.random.default_rng(0)
    x, w = leaf(rng.standard_normal((4, 3))), leaf(rng.standard_normal((3, 2)))

    def loss() -> Any:
        return F.cross_entropy(F.gelu(paddle.matmul(x, w)), paddle.to_tensor([0, 1, 1, 0]))

    plain = paddle.grad(loss(), [x, w])
    recorded = paddle.grad(loss(), [x, w], create_graph=True)
    for a, b in zip(plain, recorded, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_a_cotangent_with_a_history_keeps_it() -> None:
    x, g = leaf(3.0), leaf(5.0)
    (first,) = paddle.grad(x * x, x, grad_outputs=g, create_graph=True)
    by_x, by_g = paddle.grad(first, [x, g])
    assert (first.item(), by_x.item(), by_g.item()) == (30.0, 10.0, 6.0)


def test_second_order_uses_the_values_of_the_recording() -> None:
    w = leaf(3.0)
    y = w * w * w
    (first,) = paddle.grad(y, w, create_graph=True)
    w.set_value(100.0)
    (second,) = paddle.grad(first, w)
    assert (first.item(), second.item()) == (27.0, 18.0)


def test_create_graph_after_the_leaf_was_given_another_value() -> None:
    w = leaf(3.0)
    y = w * w * w
    w.set_value(100.0)
    (first,) = paddle.grad(y, w, create_graph=True)
    (second,) = paddle.grad(first, w)
    assert (first.item(), second.item()) == (27.0, 18.0)


def test_create_graph_under_no_grad() -> None:
    x = leaf(2.0)
    y = x * x * x
    with paddle.no_grad():
        (g,) = paddle.grad(y, x, create_graph=True)
    assert not g.stop_gradient
    assert paddle.grad(g, x)[0].item() == 12.0


# --- the graph stays


def test_the_graph_is_kept_unless_it_is_given_up() -> None:
    x = leaf(2.0)
    y = x * x
    for _ in range(2):
        assert paddle.grad(y, x)[0].item() == 4.0
    paddle.grad(y, x, retain_graph=False)
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        paddle.grad(y, x)


def test_create_graph_keeps_the_graph() -> None:
    x = leaf(2.0)
    y = x * x
    paddle.grad(y, x, retain_graph=False, create_graph=True)
    y.backward()
    assert x.grad.item() == 4.0


def test_a_freed_second_order_graph_names_the_users_lines() -> None:
    x = leaf(2.0)
    (first,) = paddle.grad(x * x * x, x, create_graph=True)
    first.backward()
    with pytest.raises(GraphFreedError) as caught:
        first.backward()
    assert len(re.findall(r"test_grad\.py:\d+", str(caught.value))) == 2


# --- unused inputs


def test_an_unused_input_is_an_error_with_the_way_out() -> None:
    x, other = leaf(2.0), leaf(3.0)
    with pytest.raises(NotDifferentiableError, match=r"inputs\[1\] does not appear.*allow_unused"):
        paddle.grad(x * 2.0, [x, other])


def test_allow_unused_gives_none() -> None:
    x, other, closed = leaf(2.0), leaf(3.0), paddle.to_tensor(4.0)
    found = paddle.grad(x * closed, [x, other, closed], allow_unused=True)
    assert [g if g is None else g.item() for g in found] == [4.0, None, None]


@pytest.mark.parametrize("cut", [lambda x: x.detach(), paddle.sign, paddle.floor, paddle.argmax])
def test_what_has_no_gradient_cuts(cut: Any) -> None:
    x = leaf([2.0, 1.0])
    y = paddle.sum(cut(x).astype("float32") + 0.0)
    assert paddle.grad(y, x, allow_unused=True) == [None]


def test_an_error_touches_nothing() -> None:
    x, other = leaf(2.0), leaf(3.0)
    y = x * x
    with pytest.raises(NotDifferentiableError):
        paddle.grad(y, [x, other])
    assert paddle.grad(y, x)[0].item() == 4.0


# --- no_grad_vars


@pytest.mark.parametrize("form", [lambda t: t, lambda t: [t], lambda t: (t,), lambda t: {t}])
def test_no_gradient_flows_through_no_grad_vars(form: Any) -> None:
    x = leaf(3.0)
    y = x * x
    (g,) = paddle.grad(y * x, x, no_grad_vars=form(y))
    assert g.item() == 9.0


def test_a_blocked_input() -> None:
    x, y = leaf(3.0), leaf(4.0)
    found = paddle.grad(x * y, [x, y], no_grad_vars=x, allow_unused=True)
    assert [g if g is None else g.item() for g in found] == [None, 3.0]


# --- laziness


def test_only_what_leads_to_the_inputs_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The product's other side costs nothing: no rule for it runs."""
    from autograd_engine.ops.registry.opdef import REGISTRY

    ran: list[str] = []
    op = REGISTRY["tanh"]
    pulled = op.pullback(1, False)
    original = pulled.pull

    def spy(*arguments: Any) -> Any:
        ran.append("tanh")
        return original(*arguments)

    monkeypatch.setattr(pulled, "pull", spy)
    x, y = leaf(2.0), leaf(3.0)
    z = paddle.tanh(x) * y
    paddle.grad(z, y)
    assert ran == []
    paddle.grad(z, x)
    assert ran == ["tanh"]


def test_a_cotangent_of_another_dtype_keeps_its_history() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    v = paddle.to_tensor(np.array([3.0, 4.0]), stop_gradient=False)
    (gx,) = paddle.grad(x * x, x, grad_outputs=v, create_graph=True)
    total = gx.sum() + v.sum().astype("float32")
    (gv,) = paddle.grad(total, v)
    assert gv is not None
    assert gv.tolist() == [3.0, 5.0]  # 2 x + 1


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (2.0, 0.0, 0.5),  # d2/dxdy x**y = x**(y - 1) (1 + y log x)
        (2.0, 1.0, 1.0 + np.log(2.0)),
        (3.0, 2.0, 3.0 * (1.0 + 2.0 * np.log(3.0))),
    ],
)
def test_mixed_second_order_of_a_power(x: float, y: float, expected: float) -> None:
    base = paddle.to_tensor(np.array(x), stop_gradient=False)
    exponent = paddle.to_tensor(np.array(y), stop_gradient=False)
    for first, second in ((base, exponent), (exponent, base)):
        (g,) = paddle.grad(base**exponent, first, create_graph=True)
        (mixed,) = paddle.grad(g, second)
        assert mixed is not None
        assert mixed.item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("exponent", [2, 2.0, 0.5, 3, -1.5])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_powers_of_numbers(exponent: float, dtype: str) -> None:
    """Two orders against complex steps and differences; of integers the values and dtypes."""
    x = paddle.to_tensor([1.0, 2.25, 9.0] if dtype != "int64" else [1, 2, 9], dtype=dtype)
    y = x**exponent
    expected = np.power(x.numpy(), np.asarray(exponent, None if dtype == "int64" else dtype))
    np.testing.assert_allclose(y.numpy(), expected, rtol=1e-6)
    assert str(y.dtype) == ("paddle.int64" if y.dtype.kind == "i" else f"paddle.{y.numpy().dtype}")
    assert (y.dtype.kind == "i") == (dtype == "int64" and isinstance(exponent, int))
    if dtype != "float64":
        return

    def slope(at: Any) -> Any:
        z = paddle.to_tensor(at, stop_gradient=False)
        (g,) = paddle.grad((z**exponent).sum(), z, create_graph=True)
        return z, g

    z, g = slope(x.numpy())
    np.testing.assert_allclose(
        g.numpy(), ((x.numpy() + 1e-20j) ** exponent).imag / 1e-20, rtol=1e-12
    )
    (second,) = paddle.grad(g.sum(), z)
    h = 1e-5
    differences = (slope(x.numpy() + h)[1].numpy() - slope(x.numpy() - h)[1].numpy()) / (2 * h)
    np.testing.assert_allclose(second.numpy(), differences, rtol=1e-6)


def test_leaves_that_share_their_values_have_gradients_of_their_own() -> None:
    x = leaf([2.0, 3.0])
    y = x.detach()
    y.stop_gradient = False
    (x * y).sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [2.0, 3.0]
    (x * y * 2.0).sum().backward()
    with paddle.no_grad():
        x.grad[0] = 100.0
    assert (x.grad.tolist(), y.grad.tolist()) == ([100.0, 9.0], [6.0, 9.0])


# --- where a pass ends


@pytest.mark.parametrize("several", [False, True])
def test_what_made_an_input_may_have_been_freed(several: bool) -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0], stop_gradient=False)
    y = paddle.split(x * x, 2)[0] if several else x * x
    y.sum().backward()
    (g,) = paddle.grad((y * y).sum(), y)
    assert g is not None
    assert g.tolist() == (2.0 * y).tolist()
    with pytest.raises(GraphFreedError):
        paddle.grad((y * y).sum(), [y, x])


def test_a_pass_frees_nothing_where_it_ends() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * x
    (g,) = paddle.grad((y * y).sum(), y, retain_graph=False)
    assert g is not None
    assert g.tolist() == [2.0, 8.0]
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 4.0]


def test_no_rule_is_run_where_a_pass_ends() -> None:
    called = []

    class Noted(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            called.append("backward")
            return g * 2.0

    def unpack(array: Any) -> Any:
        called.append("unpack")
        return array

    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    with paddle.autograd.saved_tensors_hooks(lambda t: t, unpack):
        y = Noted.apply(x * x)
        z = paddle.autograd.recompute(lambda u: u * u, x)
    for end in (y, z):
        (g,) = paddle.grad(end.sum(), end)
        assert g is not None
        assert g.tolist() == [1.0, 1.0]
    assert called == []
