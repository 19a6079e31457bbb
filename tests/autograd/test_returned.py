"""What functions of the user's return to the engine: taken as it is meant, or refused.

Where gradients of several inputs are returned, these have different values, so one that lands at
another input shows.
"""

import itertools
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import autograd
from autograd_engine.autograd import PyLayer
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    ExecutionError,
    NotATensorError,
    ShapeError,
)


def leaf(value: Any = (1.0, 2.0)) -> Any:
    return paddle.to_tensor(value, dtype="float64", stop_gradient=False)


# --- PyLayer: any call, any form of what backward returns


FACTORS = {"a": 2.0, "b": 3.0, "c": 5.0, "d": 7.0}
NAMES = tuple(FACTORS)


def layer(backward: Callable[[Any, Any], Any], jvp: Callable[..., Any] | None = None) -> Any:
    class Weighted(PyLayer):
        @staticmethod
        def forward(ctx, a, b, n=1, *, c, d):
            ctx.n = n
            return n * (2.0 * a + 3.0 * b + 5.0 * c + 7.0 * d)

    Weighted.backward = staticmethod(backward)
    if jvp is not None:
        Weighted.jvp = staticmethod(jvp)
    return Weighted


def calls() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Which arguments are given by position, and which by name, in every order."""
    for by_position in ((), ("a",), ("a", "b"), ("a", "b", "n")):
        names = [n for n in ("a", "b", "c", "d") if n not in by_position]
        for order in itertools.permutations(names):
            yield by_position, order
            if "n" not in by_position:
                yield by_position, (*order[:1], "n", *order[1:])


class Named(namedtuple("Named", "d c b a")):
    """The gradients in an order of its own."""


FORMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "tuple": lambda g: tuple(g[n] for n in NAMES),
    "list": lambda g: [g[n] for n in NAMES],
    "one for each argument": lambda g: (g["a"], g["b"], None, g["c"], g["d"]),
    "dict": lambda g: dict(g),
    "dict in another order": lambda g: {n: g[n] for n in "dbca"},
    "dict with what is no Tensor": lambda g: OrderedDict(
        n=None, d=g["d"], c=g["c"], b=g["b"], a=g["a"]
    ),
    "named tuple": lambda g: Named(**g),
}


@pytest.mark.parametrize("form", FORMS)
def test_gradients_go_to_the_parameters_however_a_layer_is_called(form: str) -> None:
    seen = set()

    def backward(ctx, g):
        seen.add(ctx.needs_input_grad)
        return FORMS[form]({name: ctx.n * f * g for name, f in FACTORS.items()})

    weighted = layer(backward)
    for by_position, by_name in calls():
        leaves: dict[str, Any] = {name: leaf(f) for name, f in FACTORS.items()}
        given = {**leaves, "n": 1}
        args = [given[name] for name in by_position]
        weighted.apply(*args, **{name: given[name] for name in by_name}).backward()
        found = {name: t.grad.item() for name, t in leaves.items()}
        assert found == FACTORS, (by_position, by_name)
    assert seen == {(True, True, False, True, True)}


def test_tangents_come_from_the_parameters_however_a_layer_is_called() -> None:
    weighted = layer(
        lambda ctx, g: None, lambda ctx, a, b, c, d: 2.0 * a + 3.0 * b + 5.0 * c + 7.0 * d
    )
    points = [leaf(1.0) for _ in NAMES]
    directions = [leaf(10.0**k) for k in range(4)]
    for by_position, by_name in calls():

        def call(*tensors: Any, first: Any = by_position, named: Any = by_name) -> Any:
            given = {**dict(zip(NAMES, tensors, strict=True)), "n": 1}
            return weighted.apply(*[given[n] for n in first], **{n: given[n] for n in named})

        _, tangent = autograd.jvp(call, points, directions)
        assert tangent.item() == 7532.0


def test_a_recomputed_intermediate_knows_its_inputs_however_a_layer_is_called() -> None:
    class Product(PyLayer):
        @staticmethod
        def forward(ctx, a, b):
            h = a * a
            ctx.save_for_backward(a, b, h)
            return h * b

        @staticmethod
        def backward(ctx, g):
            a, b, h = ctx.saved_tensor()
            return {"b": g * h, "a": g * 2.0 * a * b}

    a, b = leaf(3.0), leaf(5.0)
    first = paddle.grad(Product.apply(b=b, a=a), [a, b], create_graph=True)
    assert [g.item() for g in first] == [30.0, 9.0]
    second = paddle.grad(first[1], [a, b], allow_unused=True)
    assert second[0].item() == 6.0
    assert second[1] is None or second[1].item() == 0.0


NESTED: dict[str, Callable[[Any], Any]] = {
    "one for each Tensor": lambda g: (2 * g, 3 * g, 5 * g, 7 * g, 11 * g),
    "as the arguments are": lambda g: (2 * g, [3 * g, (5 * g,)], {"v": 11 * g, "u": 7 * g}),
    "a flat list for a list": lambda g: [2 * g, (3 * g, 5 * g), {"u": 7 * g, "v": 11 * g}],
    "dict": lambda g: {"y": {"v": 11 * g, "u": 7 * g}, "xs": [3 * g, [5 * g]], "x": 2 * g},
    "with what is no Tensor": lambda g: (
        2 * g, [3 * g, [None, 5 * g]], {"v": 11 * g, "n": None, "u": 7 * g}
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", NESTED)
def test_gradients_of_tensors_in_lists_and_dicts(form: str) -> None:
    class Nested(PyLayer):
        @staticmethod
        def forward(ctx, x, xs, y):
            return x + xs[0] + xs[1][-1] + y["u"] + y["v"]

        @staticmethod
        def backward(ctx, g):
            return NESTED[form](g)

    ts = [leaf(1.0) for _ in range(5)]
    inner = (3, ts[2]) if form == "with what is no Tensor" else (ts[2],)
    y = {"u": ts[3], "n": 1, "v": ts[4]}
    Nested.apply(y=y, xs=[ts[1], inner], x=ts[0]).backward()
    assert [t.grad.item() for t in ts] == [2.0, 3.0, 5.0, 7.0, 11.0]


def test_a_dict_of_tensors_alone_is_returned_as_it_is() -> None:
    class Total(PyLayer):
        @staticmethod
        def forward(ctx, parameters, scale):
            return scale * (parameters["w"] + parameters["b"])

        @staticmethod
        def backward(ctx, g):
            return {"b": 3.0 * g, "w": 2.0 * g}

    w, b = leaf(1.0), leaf(1.0)
    Total.apply({"w": w, "b": b}, 1.0).backward()
    assert (w.grad.item(), b.grad.item()) == (2.0, 3.0)


def test_further_arguments_and_keywords_have_names() -> None:
    class Total(PyLayer):
        @staticmethod
        def forward(ctx, first, *rest, scale=1.0, **named):
            return first + sum(rest) + sum(named.values())

        @staticmethod
        def backward(ctx, g):
            return {
                "rest[1]": 5.0 * g,
                "v": 11.0 * g,
                "u": 7.0 * g,
                "first": 2.0 * g,
                "rest[0]": 3.0 * g,
            }

    ts = [leaf(1.0) for _ in range(5)]
    Total.apply(ts[0], ts[1], ts[2], v=ts[4], u=ts[3], scale=2.0).backward()
    assert [t.grad.item() for t in ts] == [2.0, 3.0, 5.0, 7.0, 11.0]


def test_what_is_not_asked_for_may_be_left_out() -> None:
    weighted = layer(lambda ctx, g: {"a": 2.0 * g, "d": 7.0 * g})
    a, d, constant = leaf(1.0), leaf(1.0), paddle.to_tensor(1.0, dtype="float64")
    weighted.apply(d=d, c=constant, b=constant, a=a).backward()
    assert (a.grad.item(), d.grad.item()) == (2.0, 7.0)


@pytest.mark.parametrize(
    ("returned", "hint"),
    [
        (lambda g: {"u": g, "v": g}, r"a dict with 'u', 'v', .* are the names of arg.*'x', 'xs'"),
        (lambda g: {"x": g}, r"returned a dict with 'x', and forward took 3 Tensors"),
        (lambda g: {}, "returned a dict with no keys"),
        (lambda g: {"x": g, "n": g, "xs": None}, "the gradient of n, .* n is no Tensor"),
        (lambda g: {"x": [g], "xs": None}, "a list as the gradient of x, .* in no list"),
        (lambda g: {"x": g, "xs": g}, "a Tensor as the gradient of xs, .* xs holds 2 Tensors"),
        (lambda g: {"x": g, "xs": [g, [g]]}, "a list as the gradient of xs"),
        (lambda g: {"x": g, "xs": [g, g, g]}, "a list as the gradient of xs"),
        (lambda g: {"x": g, "xs": {"u": g, "v": g}}, "a dict as the gradient of xs"),
        (lambda g: [[g, g, g]], "returned 1 gradients, .* a list only for an argument that is one"),
        (lambda g: ([g], g, g), "a list as the gradient of x, "),
        (lambda g: (g, g, g, g), "returned 4 gradients"),
        (lambda g: (k * g for k in (2, 3, 5)), r"returned 1 gradients, .*\(x, xs\[0\], xs\[1\]\)"),
        (lambda g: {g, 2.0 * g}, "returned 1 gradients"),
    ],
)
def test_what_fits_no_argument_is_refused(returned: Any, hint: str) -> None:
    class Three(PyLayer):
        @staticmethod
        def forward(ctx, x, n, xs):
            return x + n * xs[0] + xs[1]

        @staticmethod
        def backward(ctx, g):
            return returned(g)

    x, y, z = leaf(1.0), leaf(1.0), leaf(1.0)
    out = Three.apply(x, 1.0, [y, z])
    with pytest.raises(ArgumentError, match=hint) as caught:
        out.backward()
    assert "Three.backward" in str(caught.value)
    assert "test_returned.py" in str(caught.value)
    assert (x.grad, y.grad, z.grad) == (None, None, None)


def test_none_that_can_mean_two_things_is_refused() -> None:
    class Three(PyLayer):
        @staticmethod
        def forward(ctx, n, x, ys):
            return n * x + ys[0] + ys[1]

        @staticmethod
        def backward(ctx, g):
            return None, g, None

    out = Three.apply(1.0, leaf(1.0), [leaf(1.0), leaf(1.0)])
    with pytest.raises(
        ArgumentError, match=r"one for each Tensor or one for each argument, .*dict"
    ):
        out.backward()


# --- all the other functions of the user's


def tensor_hook(returned: Any) -> list[Any]:
    x = leaf()
    y = x * 1.0
    y.register_hook(lambda g: returned(2.0 * g))
    y.sum().backward()
    return [x.grad.numpy()]


def leaf_hook(returned: Any) -> list[Any]:
    x = leaf()
    x.register_hook(lambda g: returned(2.0 * g))
    x.sum().backward()
    return [x.grad.numpy()]


def unpack_hook(returned: Any) -> list[Any]:
    x = leaf()
    with autograd.saved_tensors_hooks(lambda t: 2.0 * t, returned):
        y = (x * x).sum()
    y.backward()
    return [x.grad.numpy() / x.numpy() / 2.0]


def rule(returned: Any) -> list[Any]:
    op = autograd.defop("twice", lambda x: 2.0 * x).vjp(x=lambda xp, g: returned(2.0 * g))
    x = leaf()
    op(x).sum().backward()
    return [x.grad.numpy()]


def rule_of_several(returned: Any) -> list[Any]:
    op = autograd.defop("weigh", lambda *xs: 2.0 * xs[0] + 3.0 * xs[1], inputs="*xs").vjp(
        xs=lambda xp, g: returned(2.0 * g, 3.0 * g)
    )
    xs = [leaf(), leaf()]
    op(*xs).sum().backward()
    return [x.grad.numpy() for x in xs]


def rule_of_several_in_a_program(returned: Any) -> list[Any]:
    op = autograd.defop("weigh", lambda *xs: 2.0 * xs[0] + 3.0 * xs[1], inputs="*xs").vjp(
        xs=lambda xp, g: returned(2.0 * g, 3.0 * g)
    )
    return in_program(lambda a, b: op(a, b))


def kernel_of_several(returned: Any) -> list[Any]:
    op = autograd.defop("split_up", lambda x: returned(2.0 * x, 3.0 * x), outputs="u v")
    return [(t / leaf()).numpy() for t in op(leaf().detach())]


def backward_of_static_pylayer(returned: Any) -> list[Any]:
    return in_program(
        lambda a, b: paddle.static.nn.static_pylayer(
            lambda a, b: a + b, [a, b], lambda g: returned(2.0 * g, 3.0 * g)
        )
    )


def backward_of_py_func(returned: Any) -> list[Any]:
    def build(a: Any, b: Any) -> Any:
        block = paddle.static.default_main_program().current_block()
        y = block.create_var(name="y", shape=[2], dtype="float64")
        return paddle.static.py_func(
            np.add, [a, b], y, lambda a, b, y, g: returned(2.0 * g, 3.0 * g)
        )

    return in_program(build)


def jvp_of_a_layer(returned: Any) -> list[Any]:
    class Two(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return 2.0 * x, 3.0 * x

        @staticmethod
        def backward(ctx, g, h):
            return 2.0 * g + 3.0 * h

        @staticmethod
        def jvp(ctx, dx):
            return returned(2.0 * dx, 3.0 * dx)

    return [t.numpy() for t in autograd.jvp(Two.apply, leaf())[1]]


def differentiated_function(returned: Any) -> list[Any]:
    ys, _ = autograd.jvp(lambda x: returned(2.0 * x, 3.0 * x), leaf())
    return [y.numpy() / leaf().numpy() for y in ys]


def in_program(build: Any) -> list[Any]:
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        inputs = [paddle.static.data(n, [2], "float64") for n in ("a", "b")]
        for v in inputs:
            v.stop_gradient = False
        gradients = paddle.static.gradients(build(*inputs), inputs)
    feed = dict.fromkeys(("a", "b"), np.array([1.0, 2.0]))
    return paddle.static.Executor().run(main, feed, gradients)  # type: ignore[no-any-return]


OF_ONE = [tensor_hook, leaf_hook, unpack_hook, rule]
OF_SEVERAL = [
    rule_of_several,
    rule_of_several_in_a_program,
    kernel_of_several,
    backward_of_static_pylayer,
    backward_of_py_func,
    jvp_of_a_layer,
    differentiated_function,
]
OF_ANY_NUMBER = [differentiated_function]
REFUSALS = (ArgumentError, DTypeError, ExecutionError, NotATensorError, ShapeError)


@pytest.mark.parametrize("protocol", OF_ONE)
def test_a_function_that_returns_one_value(protocol: Any) -> None:
    (found,) = protocol(lambda g: g)
    assert found.tolist() == [2.0, 2.0]
    for returned in (
        lambda g: [g],
        lambda g: (g,),
        lambda g: (g, g),
        lambda g: {"x": g},
        lambda g: 2.0,
        lambda g: False,
        lambda g: np.array([2.0, 2.0], "float32"),
        lambda g: g.sum(),
    ):
        with pytest.raises(REFUSALS):
            protocol(returned)


@pytest.mark.parametrize("protocol", OF_SEVERAL)
def test_a_function_that_returns_several_values(protocol: Any) -> None:
    for returned in (lambda g, h: (g, h), lambda g, h: [g, h]):
        assert [v.tolist() for v in protocol(returned)] == [[2.0, 2.0], [3.0, 3.0]]
    wrong = [
        lambda g, h: {"b": h, "a": g},
        lambda g, h: {1: h, 0: g},
        lambda g, h: [[g, h]],
        lambda g, h: ([g], [h]),
        lambda g, h: (v for v in (g, h)),
    ]
    if protocol not in OF_ANY_NUMBER:
        wrong += [lambda g, h: (g,), lambda g, h: (g, h, g)]
    for returned in wrong:
        with pytest.raises(REFUSALS):
            protocol(returned)
