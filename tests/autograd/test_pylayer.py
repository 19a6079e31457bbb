"""`autograd.PyLayer`: gradients that a user writes, in every order, and what can go wrong."""

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import PyLayer, once_differentiable
from autograd_engine.eager.grad_mode import recorded_with
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    GraphFreedError,
    ModeError,
    NotATensorError,
    NotDifferentiableError,
    ShapeError,
)


def leaf(value: Any, dtype: str = "float64") -> Any:
    return paddle.to_tensor(value, dtype=dtype, stop_gradient=False)


class Cube(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * 3.0 * x * x


class FromOutput(PyLayer):
    """exp, whose gradient reads the output."""

    @staticmethod
    def forward(ctx, x):
        y = paddle.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensor()
        return g * y


class FromIntermediate(PyLayer):
    """x exp(x), whose gradient reads exp(x), which is neither input nor output."""

    @staticmethod
    def forward(ctx, x):
        h = paddle.exp(x)
        ctx.save_for_backward(x, h)
        return x * h

    @staticmethod
    def backward(ctx, g):
        x, h = ctx.saved_tensor()
        return g * (h + x * h)


class FromAttribute(PyLayer):
    """The same, kept in an attribute, in a list, without the input."""

    @staticmethod
    def forward(ctx, x):
        ctx.parts = [paddle.exp(x), {"x": x}]
        return x * ctx.parts[0]

    @staticmethod
    def backward(ctx, g):
        h, inner = ctx.parts
        return g * (h + inner["x"] * h)


def times_exp(x: Any) -> Any:
    return x * np.exp(x)


CASES = [
    (Cube, lambda x: x**3),
    (FromOutput, np.exp),
    (FromIntermediate, times_exp),
    (FromAttribute, times_exp),
]


def derivative(f: Any, order: int, x: float) -> float:
    """Richardson-extrapolated central differences."""
    if order == 0:
        return float(f(x))

    def central(h: float) -> float:
        up, down = derivative(f, order - 1, x + h), derivative(f, order - 1, x - h)
        return (up - down) / (2 * h)

    return (4 * central(0.01) - central(0.02)) / 3


@pytest.mark.parametrize(("layer", "f"), CASES)
def test_three_orders_are_those_of_differences(layer: Any, f: Any) -> None:
    x = leaf(0.7)
    value = layer.apply(x)
    for order in (1, 2, 3):
        (value,) = paddle.grad(value, x, create_graph=True)
        assert value.item() == pytest.approx(derivative(f, order, 0.7), rel=1e-5)


@pytest.mark.parametrize(("layer", "f"), CASES)
def test_in_forward_mode(layer: Any, f: Any) -> None:
    x, v = leaf(0.7), leaf(2.0)
    _, tangent = paddle.autograd.jvp(layer.apply, x, v)
    assert tangent.item() == pytest.approx(2.0 * derivative(f, 1, 0.7), rel=1e-6)

    def first(x: Any) -> Any:
        (g,) = paddle.grad(layer.apply(x), x, create_graph=True)
        return g

    _, tangent = paddle.autograd.jvp(first, x, v)  # forward over reverse
    assert tangent.item() == pytest.approx(2.0 * derivative(f, 2, 0.7), rel=1e-5)


@pytest.mark.parametrize(("layer", "f"), CASES)
def test_a_gradient_penalty(layer: Any, f: Any) -> None:
    x = leaf([0.3, 0.7])
    w = leaf([1.0, 2.0])
    (g,) = paddle.grad((layer.apply(x * w) * w).sum(), x, create_graph=True)
    (g * g).sum().backward()

    def penalty(values: Any, weights: Any) -> float:
        inner = [
            derivative(f, 1, v) * u * u for v, u in zip(values * weights, weights, strict=True)
        ]
        return float(np.square(inner).sum())

    eps = 1e-4
    for t, at in ((x, 0), (w, 1)):
        for k in range(2):
            args = [x.numpy().copy(), w.numpy().copy()]
            args[at][k] += eps
            up = penalty(*args)
            args[at][k] -= 2 * eps
            assert t.grad[k].item() == pytest.approx((up - penalty(*args)) / (2 * eps), rel=1e-4)


def test_first_order_runs_backward_on_plain_tensors_and_records_nothing() -> None:
    seen = []

    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            seen.append(paddle.is_grad_enabled())
            ctx.save_for_backward(x)
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            seen.append((paddle.is_grad_enabled(), (g * x).stop_gradient, x.stop_gradient))
            return g * 2.0

    x = leaf(3.0)
    Layer.apply(x).backward()
    assert seen == [False, (False, True, False)]
    assert x.grad.item() == 2.0
    assert paddle.is_grad_enabled()


# --- intermediates that cannot be made right


def test_an_intermediate_computed_with_numpy_is_refused() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            h = paddle.to_tensor(np.exp(x.numpy()))
            ctx.save_for_backward(x, h)
            return x * h

        @staticmethod
        def backward(ctx, g):
            x, h = ctx.saved_tensor()
            return g * (h + x * h)

    x = leaf(0.7)
    y = Layer.apply(x)
    y.backward(retain_graph=True)
    assert x.grad.item() == pytest.approx(derivative(times_exp, 1, 0.7))
    with pytest.raises(NotDifferentiableError, match=r"history ends.*x\.detach\(\)\.numpy"):
        paddle.grad(y, x, create_graph=True)


def test_an_intermediate_without_history_is_refused() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            with paddle.no_grad():
                h = paddle.exp(x)
            ctx.save_for_backward(x, h)
            return x * h

        @staticmethod
        def backward(ctx, g):
            x, h = ctx.saved_tensor()
            return g * (h + x * h)

    x = leaf(0.7)
    with pytest.raises(NotDifferentiableError, match=r"Save inputs and outputs.*ctx\.mask = mask"):
        paddle.grad(Layer.apply(x), x, create_graph=True)


def test_an_intermediate_that_is_not_the_same_again_is_refused() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            h = x * paddle.rand([3], dtype="float64")
            ctx.save_for_backward(x, h)
            return h * 1.0

        @staticmethod
        def backward(ctx, g):
            x, h = ctx.saved_tensor()
            return g * h / x

    x = leaf([1.0, 2.0, 3.0])
    with pytest.raises(NotDifferentiableError, match="draws random numbers"):
        paddle.grad(Layer.apply(x).sum(), x, create_graph=True)


def test_an_intermediate_whose_input_is_gone_is_refused() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            h = paddle.exp(x)
            ctx.save_for_backward(h)
            return h + h

        @staticmethod
        def backward(ctx, g):
            (h,) = ctx.saved_tensor()
            return 2.0 * g * h

    x = leaf(0.7)
    y = Layer.apply(x + 1.0)
    with pytest.raises(NotDifferentiableError, match=r"its input 0 is gone. Save the inputs too"):
        paddle.grad(y, x, create_graph=True)
    (g,) = paddle.grad(Layer.apply(x), x, create_graph=True)  # the leaf is there
    (second,) = paddle.grad(g, x)
    assert second.item() == pytest.approx(2 * np.exp(0.7))


def test_a_constant_is_kept_as_an_array() -> None:
    class Dropout(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.mask = (paddle.rand(x.shape, dtype="float64") > 0.5).numpy()
            return x * x * paddle.to_tensor(ctx.mask, dtype="float64")

        @staticmethod
        def backward(ctx, g):
            return g * paddle.to_tensor(ctx.mask, dtype="float64")

    x = leaf([1.0, 2.0, 3.0])
    (g,) = paddle.grad((Dropout.apply(x) * x).sum(), x, create_graph=True)
    (second,) = paddle.grad(g.sum(), x, allow_unused=True)
    assert second.shape == [3]


def test_backward_that_goes_through_numpy_is_refused_where_it_is_differentiated() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return paddle.sin(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            return g * paddle.to_tensor(np.cos(x.numpy()))

    x = leaf(0.7)
    y = Layer.apply(x)
    (g,) = paddle.grad(y, x)
    assert g.item() == pytest.approx(np.cos(0.7))
    with pytest.raises(
        NotDifferentiableError, match=r"mark a PyLayer\.backward that cannot be @once"
    ):
        paddle.grad(y, x, create_graph=True)


@pytest.mark.parametrize("outside", [False, True])
def test_once_differentiable(outside: bool) -> None:
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return paddle.to_tensor(g.numpy() * np.cos(x.numpy()))

    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return paddle.sin(x)

    if outside:
        Layer.backward = once_differentiable(staticmethod(backward))
    else:
        Layer.backward = staticmethod(once_differentiable(backward))
    x = leaf(0.7)
    (g,) = paddle.grad(Layer.apply(x), x, create_graph=True)
    assert g.item() == pytest.approx(np.cos(0.7))
    with pytest.raises(NotDifferentiableError, match=r"Layer\.backward is marked @once_differenti"):
        paddle.grad(g * x, x)
    with pytest.raises(NotDifferentiableError, match="give the layer a static method jvp"):
        paddle.autograd.jvp(Layer.apply, x)


def test_a_jvp_of_its_own() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x, k, y):
            ctx.save_for_backward(x, y)
            return x * y, x + y

        @staticmethod
        @once_differentiable
        def backward(ctx, g, h):
            raise AssertionError("is not called")

        @staticmethod
        def jvp(ctx, dx, dy):
            _, y = ctx.saved_tensor()
            assert dy is None
            return dx * y, dx

    x, y = leaf(2.0), paddle.to_tensor(5.0, dtype="float64")
    _, tangents = paddle.autograd.jvp(lambda x: Layer.apply(x, 3, y), x, leaf(10.0))
    assert [t.item() for t in tangents] == [50.0, 10.0]


# --- inputs and outputs


class Sum(PyLayer):
    @staticmethod
    def forward(ctx, *args, **named):
        ctx.needed = ctx.needs_input_grad
        flat = [a for a in args if isinstance(a, paddle.Tensor)]
        for a in args:
            flat += list(a) if isinstance(a, (list, tuple)) else []
        return sum(flat[1:], flat[0]) + sum(named.values(), 0.0)

    @staticmethod
    def backward(ctx, g):
        return tuple(g * float(k + 1) for k in range(ctx.count))


def test_tensors_in_lists_and_keywords_are_inputs() -> None:
    class Layer(Sum):
        @staticmethod
        def backward(ctx, g):
            return g * 1.0, [g * 2.0, g * 3.0], g * 4.0

    ts = [leaf(float(k)) for k in range(4)]
    out = Layer.apply(ts[0], 7, [ts[1], ts[2]], extra=ts[3])
    out.backward()
    assert [t.grad.item() for t in ts] == [1.0, 2.0, 3.0, 4.0]


def test_one_gradient_for_each_argument_as_in_torch() -> None:
    class Scale(PyLayer):
        @staticmethod
        def forward(ctx, x, factor, y):
            assert ctx.needs_input_grad == (True, False, False)
            ctx.factor = factor
            return x * factor + y

        @staticmethod
        def backward(ctx, g):
            assert ctx.needs_input_grad == (True, False, False)
            return g * ctx.factor, None, None

    x = leaf(1.0)
    Scale.apply(x, 3.0, paddle.to_tensor(1.0, dtype="float64")).backward()
    assert x.grad.item() == 3.0


def test_outputs_of_any_kind_keep_their_places() -> None:
    seen = []

    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return [x * 2.0, "label", (x > 0.0).astype("int64"), None, (x * 3.0,)]

        @staticmethod
        def backward(ctx, *gs):
            seen.extend(gs)
            return gs[0] * 2.0 + gs[2] * 3.0

    x = leaf([1.0, -1.0])
    out = Layer.apply(x)
    assert isinstance(out, list)
    assert out[1] == "label"
    assert out[3] is None
    assert [t.stop_gradient for t in (out[0], out[2], out[4][0])] == [False, True, False]
    out[0].sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert [str(g.dtype) for g in seen] == ["paddle.float64", "paddle.int64", "paddle.float64"]
    assert [g.tolist() for g in seen[1:]] == [[0, 0], [0.0, 0.0]]


def test_none_for_what_nothing_came_from() -> None:
    seen = []

    class Two(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2.0, x * 3.0

        @staticmethod
        def backward(ctx, g, h):
            seen.append((g is None, h is None))
            return g * 2.0 if h is None else h * 3.0

    x = leaf(1.0)
    Two.apply(x)[1].backward()
    Two.apply(x)[0].backward()
    assert seen == [(True, False), (False, True)]
    assert x.grad.item() == 5.0


def test_outputs_without_a_gradient() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            y, closed = x * 2.0, x * 3.0
            ctx.mark_non_differentiable(closed)
            return y, closed

        @staticmethod
        def backward(ctx, g, h):
            assert h.item() == 0.0
            return g * 2.0

    x = leaf(1.0)
    y, closed = Layer.apply(x)
    assert (y.stop_gradient, closed.stop_gradient) == (False, True)
    (y + closed).backward()
    assert x.grad.item() == 2.0

    class Wrong(Layer):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(x * 3.0)
            return x * 2.0

    with pytest.raises(ArgumentError, match="mark the outputs themselves"):
        Wrong.apply(x)


def test_none_is_zero() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return None, g

    x, y = leaf(1.0), leaf(1.0)
    Layer.apply(x, y).backward()
    assert x.grad is None
    assert y.grad.item() == 1.0


def test_an_input_that_is_returned_becomes_another_tensor() -> None:
    class Reverse(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return -g

    x = leaf([1.0, 2.0])
    y = Reverse.apply(x)
    assert y is not x
    (y * y).sum().backward()
    assert x.grad.tolist() == [-2.0, -4.0]
    assert x.is_leaf
    assert Reverse.apply(x.detach()).stop_gradient


def test_forward_may_write_to_an_input_that_it_returns() -> None:
    class Tanh(PyLayer):
        @staticmethod
        def forward(ctx, x):
            y = x.tanh_()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensor()
            return g * (1.0 - y * y)

    x = leaf([0.5, 1.0])
    h = x * 1.0
    out = Tanh.apply(h)
    assert out is h
    (g,) = paddle.grad(h.sum(), x, create_graph=True)
    np.testing.assert_allclose(g.numpy(), 1 - np.tanh([0.5, 1.0]) ** 2)
    (second,) = paddle.grad(g.sum(), x)
    tanh = np.tanh([0.5, 1.0])
    np.testing.assert_allclose(second.numpy(), -2 * tanh * (1 - tanh**2))
    with pytest.raises(NotDifferentiableError, match=r"is a leaf that requires.*x\.clone\(\)"):
        Tanh.apply(x)
    assert x.tolist() == [0.5, 1.0]
    with paddle.no_grad():
        assert Tanh.apply(x) is x
    assert x.tolist() == np.tanh([0.5, 1.0]).tolist()
    assert x.is_leaf
    assert not x.stop_gradient


def test_a_write_that_is_not_returned_is_refused() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            x.tanh_()
            return x + 1.0

        @staticmethod
        def backward(ctx, g):
            return g * 2.0

    x = leaf(3.0)
    h = x * 1.0
    with pytest.raises(NotDifferentiableError, match=r"return it too, or write to x\.clone"):
        Layer.apply(h)
    h.backward()
    assert (h.item(), x.grad.item()) == (3.0, 1.0)


def test_saved_values_are_those_of_the_forward() -> None:
    x = leaf(2.0)
    y = Cube.apply(x)
    x.set_value(np.float64(100.0))
    (g,) = paddle.grad(y, x, create_graph=True)
    (second,) = paddle.grad(g, x)
    assert (g.item(), second.item()) == (12.0, 12.0)


def test_the_same_tensor_twice() -> None:
    class Product(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensor()
            return g * y, g * x

    x = leaf(3.0)
    (g,) = paddle.grad(Product.apply(x, x), x, create_graph=True)
    (second,) = paddle.grad(g, x)
    assert (g.item(), second.item()) == (6.0, 2.0)


def test_save_for_backward_takes_anything() -> None:
    seen = []

    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_backward(x, 3, None, {"a": [x]})
            seen.append(ctx.saved_tensor()[0] is x)
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            seen.append([type(v).__name__ for v in ctx.saved_tensor()])
            seen.append(ctx.saved_tensor()[3]["a"][0].item())
            with pytest.raises(AttributeError, match=r"set it in forward \(ctx\.there = "):
                _ = ctx.there
            return g * 2.0

    Layer.apply(leaf(1.5)).backward()
    assert seen == [True, ["Tensor", "int", "NoneType", "dict"], 1.5]

    class Nothing(Cube):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_tensor() is None
            assert ctx.saved_tensors == ()
            return g

    Nothing.apply(leaf(1.0)).backward()


def test_not_recorded_without_need() -> None:
    assert Cube.apply(paddle.to_tensor(2.0)).stop_gradient
    x = leaf(2.0)
    with paddle.no_grad():
        assert Cube.apply(x).stop_gradient


# --- the graph


def test_a_subset_of_the_inputs() -> None:
    asked = []

    class Product(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensor()
            asked.append(ctx.needs_input_grad)
            return g * y, g * x

    x, y = leaf(2.0), leaf(3.0)
    (g,) = paddle.grad(Product.apply(x, y), y)
    assert g.item() == 2.0
    assert asked == [(False, True)]


def test_hooks_on_outputs() -> None:
    x = leaf(2.0)
    y = Cube.apply(x)
    y.register_hook(lambda g: g * 10.0)
    y.backward()
    assert x.grad.item() == 120.0


def test_a_second_pass_is_refused_and_a_retained_one_is_not() -> None:
    x = leaf(2.0)
    y = Cube.apply(x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 24.0
    with pytest.raises(GraphFreedError, match="retain_graph=True"):
        y.backward()


def test_what_is_kept_goes_with_the_pass() -> None:
    class Marker:
        pass

    kept = []

    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.marker = Marker()
            kept.append(weakref.ref(ctx.marker))
            h = paddle.exp(x)
            kept.append(weakref.ref(h._data))
            ctx.save_for_backward(h)
            ctx.output = h * 2.0
            return ctx.output

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensor()[0] * 2.0

    gc.collect()
    gc.disable()
    try:
        y = Layer.apply(leaf([1.0, 2.0]))
        assert all(r() is not None for r in kept)
        y.sum().backward()
        assert all(r() is None for r in kept)
        kept.clear()
        y = Layer.apply(leaf([1.0, 2.0]))
        del y
        assert all(r() is None for r in kept)
    finally:
        gc.enable()


@pytest.mark.thorough
def test_a_long_chain() -> None:
    x = leaf(1.0)
    y = x

    class Same(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

        @staticmethod
        def backward(ctx, g):
            return g

    for _ in range(60_000):  # a recursion would need as many frames
        y = Same.apply(y)
    y.backward()
    assert x.grad.item() == 1.0
    del y


def test_layers_within_layers() -> None:
    class Outer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return Cube.apply(x) * 2.0

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            return g * 2.0 * Inner.apply(x)

    class Inner(PyLayer):
        """3 x^2"""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 3.0 * x * x

        @staticmethod
        def backward(ctx, g):
            return g * 6.0 * ctx.saved_tensor()[0]

    x = leaf(2.0)
    (g,) = paddle.grad(Outer.apply(x), x, create_graph=True)
    (second,) = paddle.grad(g, x, create_graph=True)
    (third,) = paddle.grad(second, x)
    assert [g.item(), second.item(), third.item()] == [24.0, 24.0, 12.0]


def test_backward_may_differentiate_within() -> None:
    class Recomputed(PyLayer):
        """The forward is run again in backward: checkpointing by hand."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return paddle.sin(x) * x

        @staticmethod
        def backward(ctx, g):
            x = ctx.saved_tensor()[0].detach()
            x.stop_gradient = False
            with paddle.enable_grad():
                y = paddle.sin(x) * x
            y.backward(g)
            return x.grad

    x = leaf(0.7)
    (Recomputed.apply(x) * 2.0).backward()
    assert x.grad.item() == pytest.approx(2 * (np.sin(0.7) + 0.7 * np.cos(0.7)))


def test_a_graph_recorded_inside_forward() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            inner = x.detach()
            inner.stop_gradient = False
            with paddle.enable_grad():
                ctx.y = paddle.sin(inner)
            ctx.inner = inner
            return ctx.y.detach()

        @staticmethod
        def backward(ctx, g):
            (found,) = paddle.grad(ctx.y, ctx.inner, g)
            return found

    x = leaf(0.7)
    Layer.apply(x).backward()
    assert x.grad.item() == pytest.approx(np.cos(0.7))


def test_a_parameter_that_is_not_an_argument() -> None:
    w = leaf(3.0)

    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(w)
            return x * w

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensor()[0]

    x = leaf(2.0)
    (g,) = paddle.grad(Layer.apply(x), x, create_graph=True)
    (of_w,) = paddle.grad(g, w)
    assert (g.item(), of_w.item()) == (3.0, 1.0)


def test_strong_zeros() -> None:
    class Root(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return paddle.sqrt(x)

        @staticmethod
        def backward(ctx, g):
            return g * 0.5 / paddle.sqrt(ctx.saved_tensor()[0])

    x = leaf([0.0])
    with paddle.strong_zeros(), np.errstate(all="ignore"):
        (Root.apply(x) * 0.0).sum().backward()
    assert x.grad.tolist() == [0.0]


def test_threads() -> None:
    x = leaf(2.0)
    y = Cube.apply(x)
    found: list[float] = []

    def work() -> None:
        for _ in range(50):
            (g,) = paddle.grad(y, x, create_graph=True)
            (second,) = paddle.grad(g, x)
            found.append(second.item())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [12.0] * 200


# --- mistakes


def returning(*values: Any) -> Any:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            return (x * y).sum()

        @staticmethod
        def backward(ctx, g):
            return values if len(values) != 1 else values[0]

    return Layer


@pytest.mark.parametrize(
    ("values", "error", "match"),
    [
        ((leaf(1.0),), ArgumentError, r"returned 1 gradients, and forward took 2 Tensors \(x, y\)"),
        ((leaf(1.0),) * 3, ArgumentError, "return one for each, in this order, None where"),
        ((1.0, None), NotATensorError, r"returned a float as the gradient of x; return a Tensor"),
        ((None, np.ones(2)), NotATensorError, "a ndarray as the gradient of y"),
        ((leaf(1.0), None), ShapeError, r"of shape \[\] for x, which has shape \[2\]; sum it over"),
        ((leaf([1.0, 2.0], "float32"), None), DTypeError, r"use \.astype\('float64'\)"),
    ],
)
def test_what_backward_returns_is_checked(values: Any, error: type, match: str) -> None:
    x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    out = returning(*values).apply(x, y)
    with pytest.raises(error, match=match) as caught:
        out.backward()
    assert "Layer.backward" in str(caught.value)
    assert "test_pylayer.py" in str(caught.value)
    assert (x.grad, y.grad) == (None, None)


@pytest.mark.parametrize("returned", [None, 3.0, (), (1, 2), {"a": paddle.ones([1])}])
def test_forward_returns_a_tensor_at_least(returned: Any) -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return returned

    with pytest.raises(ValueError, match=r"Layer\.forward must return a Tensor.*test_pylayer\.py"):
        Layer.apply(leaf(1.0))


def test_exceptions_of_the_users_arrive_as_they_are() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            if x.item() > 5.0:
                raise KeyError("forward")
            return x * 2.0

        @staticmethod
        def backward(ctx, g):
            raise ZeroDivisionError("backward")

    with pytest.raises(KeyError) as caught:
        Layer.apply(leaf(6.0))
    assert caught.value.__notes__[0].startswith("in forward of Layer.apply at test_pylayer.py:")
    assert paddle.is_grad_enabled()
    out = Layer.apply(leaf(1.0))
    with pytest.raises(ZeroDivisionError, match="backward") as raised:
        out.backward()
    assert "out = Layer.apply(leaf(1.0))" in raised.value.__notes__[0]


def test_methods_that_are_missing() -> None:
    class Layer(PyLayer):
        pass

    with pytest.raises(NotImplementedError, match="has no forward: write @staticmethod"):
        Layer.apply(leaf(1.0))

    class Half(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 1.0

    y = Half.apply(leaf(1.0))
    with pytest.raises(NotImplementedError, match="has no backward: write @staticmethod"):
        y.backward()
    with pytest.raises(TypeError, match=r"call Half\.apply"):
        Half()


def test_variables_are_refused() -> None:
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        v = paddle.static.data("v", [2], "float32")
        with pytest.raises(ModeError, match=r"paddle\.autograd\.defop, which works in both modes"):
            Cube.apply([v])


def test_the_error_of_a_recorded_backward_is_the_same() -> None:
    x, y = leaf([1.0, 2.0]), leaf([1.0, 2.0])
    out = returning(leaf(1.0), None).apply(x, y)
    with pytest.raises(ShapeError, match="which has shape"):
        paddle.grad(out, x, create_graph=True)


def test_saved_tensors_hooks_see_what_is_saved() -> None:
    packed = []

    def pack(t: Any) -> Any:
        packed.append(t.numpy().copy())
        return len(packed) - 1

    x = leaf(2.0)
    with recorded_with(hooks=(pack, lambda k: paddle.to_tensor(packed[k]))):
        y = Cube.apply(x)
    assert [a.tolist() for a in packed] == [2.0]
    y.backward()
    assert x.grad.item() == 12.0


def test_as_pytorch() -> None:
    torch = pytest.importorskip("torch")

    class Theirs(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            out = torch.exp(x) * y
            ctx.save_for_backward(x, y, out)
            return out, x + y

        @staticmethod
        def backward(ctx, g, h):
            x, _, out = ctx.saved_tensors
            return g * out + h, g * torch.exp(x) + h

    class Ours(PyLayer):
        @staticmethod
        def forward(ctx, x, y):
            out = paddle.exp(x) * y
            ctx.save_for_backward(x, y, out)
            return out, x + y

        @staticmethod
        def backward(ctx, g, h):
            x, _, out = ctx.saved_tensors
            return g * out + h, g * paddle.exp(x) + h

    values = np.array([0.3, -0.4]), np.array([1.5, 2.5])
    xs = [torch.tensor(v, requires_grad=True) for v in values]
    a, b = Theirs.apply(*xs)
    first = torch.autograd.grad((a * b).sum(), xs, create_graph=True)
    wanted = torch.autograd.grad(sum((g * g).sum() for g in first), xs)
    ys = [leaf(v) for v in values]
    a, b = Ours.apply(*ys)
    mine = paddle.grad((a * b).sum(), ys, create_graph=True)
    found = paddle.grad((mine[0] * mine[0]).sum() + (mine[1] * mine[1]).sum(), ys)
    for w, f in zip(wanted, found, strict=True):
        np.testing.assert_allclose(f.numpy(), w.numpy(), rtol=1e-12)


@pytest.mark.parametrize("how", ["grad", "backward", "method", "vjp"])
def test_backward_that_takes_a_gradient_of_its_own(how: str) -> None:
    """As recomputation written by hand does: right at first order, and refused at the second."""

    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return paddle.sin(x)

        @staticmethod
        def backward(ctx, g):
            (saved,) = ctx.saved_tensor()
            x = saved.detach()
            x.stop_gradient = False
            with paddle.enable_grad():
                y = paddle.sin(x)
                weighted = y * g
            if how == "grad":
                return paddle.grad(y, x, g)[0]
            if how == "vjp":
                return paddle.autograd.vjp(paddle.sin, x, g)[1]
            if how == "backward":
                paddle.autograd.backward([y], [g])
            else:
                weighted.backward()
            return x.grad

    x = leaf(0.7)
    (first,) = paddle.grad(Layer.apply(x), x)
    assert first.item() == pytest.approx(np.cos(0.7))
    with pytest.raises(NotDifferentiableError, match="a gradient without create_graph=True"):
        paddle.grad(Layer.apply(x), x, create_graph=True)


def test_backward_that_takes_a_gradient_with_a_graph_is_differentiated() -> None:
    class Layer(PyLayer):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return paddle.sin(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensor()
            with paddle.enable_grad():
                return paddle.grad(paddle.sin(x), x, g, create_graph=paddle.is_grad_enabled())[0]

    x = leaf(0.7)
    (first,) = paddle.grad(Layer.apply(x), x, create_graph=True)
    (second,) = paddle.grad(first, x)
    assert second.item() == pytest.approx(-np.sin(0.7))
