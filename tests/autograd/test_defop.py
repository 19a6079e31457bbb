"""`autograd.defop`: operations of the user's own, in every mode, and the mistakes in them."""

import copy
import gc
import math
import threading
import warnings
import weakref
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import NONDIFF, Spec, defop
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    NotATensorError,
    NotDifferentiableError,
    RegistryError,
    ShapeError,
)
from autograd_engine.ops.registry.namespace import ops, raw
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.testing import check_op


def leaf(value: Any, dtype: str = "float64") -> Any:
    return paddle.to_tensor(value, dtype=dtype, stop_gradient=False)


def cube_of(**options: Any) -> Any:
    return defop("cube", lambda x, *, scale=1.0: scale * x * x * x, **options).vjp(
        x=lambda xp, g, x, *, scale: g * (3.0 * scale * x * x)
    )


cube = cube_of(tangent="elementwise")
hypotenuse = defop("hypotenuse", lambda x, y: np.sqrt(x * x + y * y)).vjp(
    x=lambda xp, g, x, out: g * x / out, y=lambda xp, g, y, out: g * y / out
)
# Two outputs, and inputs that take no part; the rules are transposed for forward mode.
rotate = defop(
    "rotate",
    lambda x, y, index, *, angle: (
        math.cos(angle) * x * x - math.sin(angle) * y,
        math.sin(angle) * x + math.cos(angle) * y * y,
    ),
    outputs="a b",
    infer="same",
    untyped="index",
).vjp(
    x=lambda xp, g_a, g_b, x, *, angle: 2.0 * math.cos(angle) * g_a * x + math.sin(angle) * g_b,
    y=lambda xp, g_a, g_b, y, *, angle: 2.0 * math.cos(angle) * g_b * y - math.sin(angle) * g_a,
    index=NONDIFF,
)


def numeric(f: Any, x: float, order: int) -> float:
    if order == 0:
        return float(f(x))
    h = 0.01

    def central(h: float) -> float:
        return (numeric(f, x + h, order - 1) - numeric(f, x - h, order - 1)) / (2 * h)

    return (4 * central(h) - central(2 * h)) / 3


def test_three_orders() -> None:
    x = leaf(0.7)
    value = hypotenuse(x, x * x)
    for order in (1, 2, 3):
        (value,) = paddle.grad(value, x, create_graph=True)
        wanted = numeric(lambda v: np.sqrt(v * v + v**4), 0.7, order)
        assert value.item() == pytest.approx(wanted, rel=1e-5)


def test_every_mode_at_once() -> None:
    check_op(cube, np.array([0.5, -1.5]), scale=2.0)
    check_op(hypotenuse, np.array([[0.5], [1.5]]), np.array([0.5, 1.0, 2.0]))
    check_op(rotate, np.array([0.5]), np.array([1.5]), np.array([1]), angle=0.4)


def test_a_program_has_the_bits_of_eager_mode() -> None:
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        v = paddle.static.data("v", [-1], "float32")
        v.stop_gradient = False
        y = cube(v, scale=2.0)
        (first,) = paddle.static.gradients([y], [v])
        (second,) = paddle.static.gradients([first], [v])
        (tangent,) = paddle.static.forward_grad([y], [v])
    assert "cube" in str(main)
    values = np.float32([0.3, 1.7])
    found = paddle.static.Executor().run(
        main, feed={"v": values}, fetch_list=[y, first, second, tangent]
    )
    x = leaf(values, "float32")
    z = cube(x, scale=2.0)
    (g,) = paddle.grad(z, x, create_graph=True)
    (h,) = paddle.grad(g, x)
    for a, b in zip(found, [z, g, h, g], strict=True):
        assert a.tobytes() == b.numpy().tobytes()


def test_operands() -> None:
    assert cube(paddle.to_tensor(2.0)).item() == 8.0
    assert cube(np.float64([2.0])).tolist() == [8.0]
    assert cube(2.0).item() == 8.0
    assert hypotenuse(leaf(3.0), 4.0).item() == 5.0
    mixed = hypotenuse(leaf(3.0, "float32"), leaf(4.0))  # they meet in float64
    assert str(mixed.dtype) == "paddle.float64"
    assert isinstance(raw[cube](np.float64([2.0])), np.ndarray)
    assert ops[cube](leaf(2.0)).item() == 8.0
    with pytest.raises(NotATensorError, match=r"use paddle\.to_tensor"):
        cube([1.0, 2.0])
    with pytest.raises(TypeError, match="hypotenuse"):
        hypotenuse(leaf(1.0))


def test_a_rule_may_use_another() -> None:
    square = defop("my_square", lambda x: x * x).vjp(x=lambda xp, g, x: 2.0 * g * x)
    quartic = defop("quartic", lambda x: x**4).vjp(x=lambda xp, g, x: 4.0 * g * x * xp[square](x))
    x = leaf(2.0)
    (first,) = paddle.grad(quartic(x), x, create_graph=True)
    (second,) = paddle.grad(first, x)
    assert (first.item(), second.item()) == (32.0, 48.0)


def test_as_a_decorator() -> None:
    @defop("doubled")
    def doubled(x, *, times=2.0):
        """Twice."""
        return times * x

    @doubled.vjp("x")
    def rule(xp, g, *, times):
        return times * g

    assert doubled.__doc__ == "Twice."
    assert callable(rule)
    x = leaf(1.0)
    doubled(x, times=5.0).backward()
    assert x.grad.item() == 5.0
    assert repr(doubled) == f"<op doubled(x) -> out of {__name__}>"


def test_any_number_of_inputs() -> None:
    total = defop("total", lambda *xs: np.sum(xs, axis=0), infer="same").vjp(
        xs=lambda xp, g, xs: [g * 1.0 for _ in xs]
    )
    xs = [leaf([float(k)]) for k in range(3)]
    total(*xs).backward()
    assert [x.grad.tolist() for x in xs] == [[1.0]] * 3


# --- many definitions


def test_nothing_is_overwritten() -> None:
    before = dict(REGISTRY)
    with pytest.raises(RegistryError, match=r"'tanh' is a built-in operation; give.*'my_tanh'"):
        defop("tanh", np.tanh, inputs="x")
    cube_of()
    assert before == REGISTRY
    with pytest.raises(AttributeError, match=r"one of your own is xp\[op\]"):
        _ = ops.cube


def test_a_cell_that_is_run_again_makes_another_operation() -> None:
    def define(power: int) -> Any:
        return defop("power", lambda x: x**power).vjp(
            x=lambda xp, g, x: g * float(power) * x ** float(power - 1)
        )

    x = leaf(2.0)
    main = paddle.static.Program()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        power = define(2)
        y = power(x)
        with paddle.static.program_guard(main):
            v = paddle.static.data("v", [1], "float64")
            v.stop_gradient = False
            old = power(v)
        power = define(3)
        z = power(x)
        with paddle.static.program_guard(main):
            new = power(v)
            grads = paddle.static.gradients([old + new], [v])
            once = paddle.static.gradients([old], [v]) + paddle.static.gradients([new], [v])
    (first,) = paddle.grad(y, x, create_graph=True)
    assert (first.item(), paddle.grad(first, x)[0].item()) == (4.0, 2.0)
    (first,) = paddle.grad(z, x, create_graph=True)
    assert (first.item(), paddle.grad(first, x)[0].item()) == (12.0, 12.0)
    feed = {"v": np.array([2.0])}
    found = paddle.static.Executor().run(main, feed=feed, fetch_list=[old, new, *grads, *once])
    assert [a.item() for a in found] == [4.0, 8.0, 16.0, 4.0, 12.0]


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_operations_of_one_name_are_told_apart_in_compiled_programs(backend: str) -> None:
    twice = defop("scaled", lambda x: x * 2.0).vjp(x=lambda xp, g, x: g * 2.0)
    thrice = defop("scaled", lambda x: x * 3.0).vjp(x=lambda xp, g, x: g * 3.0)
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        v = paddle.static.data("v", [2], "float64")
        both = [twice(v), thrice(v)]
    executor = paddle.static.Executor(backend=backend)
    for _ in range(4):  # it is compiled for the third
        found = executor.run(main, {"v": np.ones(2)}, both)
        assert [a.tolist() for a in found] == [[2.0, 2.0], [3.0, 3.0]]


def test_a_rule_that_is_given_again_replaces_the_first() -> None:
    op = defop("replaced", lambda x: x * 1.0).vjp(x=lambda xp, g: g * 1.0)
    x = leaf(1.0)
    y = op(x)
    op.vjp(x=lambda xp, g: g * 100.0)
    y.backward()
    assert x.grad.item() == 1.0
    x.clear_gradient(False)
    op(x).backward()
    assert x.grad.item() == 100.0


def test_a_definition_that_nobody_holds_is_gone() -> None:
    op = cube_of()
    x = leaf(1.0)
    op(x).backward()
    known = weakref.ref(op)
    del op
    gc.collect()
    assert known() is None


def test_copies_are_the_operation_itself() -> None:
    assert copy.copy(cube) is cube
    assert copy.deepcopy([cube])[0] is cube


def test_rules_and_calls_in_threads() -> None:
    op = defop("threaded", lambda x: 2.0 * x).vjp(x=lambda xp, g: 2.0 * g)
    scaled = [lambda xp, g: 2.0 * g, lambda xp, g: 3.0 * g]
    errors: list[Exception] = []

    def call() -> None:
        try:
            for _ in range(200):
                x = leaf(1.0)
                op(x).backward()
                assert x.grad.item() in (2.0, 3.0)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for t in threads:
        t.start()
    for k in range(100):
        op.vjp(x=scaled[k % 2])
    for t in threads:
        t.join()
    assert errors == []


# --- mistakes


def test_a_missing_rule() -> None:
    op = defop("partial", lambda x, y: x * y).vjp(x=lambda xp, g, y: g * y)
    constant = paddle.to_tensor(2.0, dtype="float64")
    x = leaf(3.0)
    op(x, constant).backward()
    assert x.grad.item() == 2.0
    match = r"partial has no rule for its input 'y'.*partial\.vjp\(y=.*say partial\.vjp\(y=NONDIFF"
    with pytest.raises(NotDifferentiableError, match=match):
        op(x, leaf(2.0))
    with paddle.no_grad():
        assert op(x, leaf(2.0)).item() == 6.0
    main = paddle.static.Program()
    with paddle.static.program_guard(main):
        v = paddle.static.data("v", [1], "float64")
        v.stop_gradient = False
        with pytest.raises(NotDifferentiableError, match="has no rule for its input 'y'"):
            paddle.static.gradients([op(2.0, v)], [v])
    op.vjp(y=lambda xp, g, x: g * x)
    y = leaf(2.0)
    op(x, y).backward()
    assert y.grad.item() == 3.0


@pytest.mark.parametrize(
    ("kernel", "error", "match"),
    [
        (lambda x: x[:1], ShapeError, r"returned shape \[1\] for its output, and infer says \[2\]"),
        (lambda x: x.astype("float32"), DTypeError, r"use \.astype\(x\.dtype\) in the kernel"),
        (lambda x: None, NotATensorError, "returned None for its output; it gets ndarrays"),
        (lambda x: paddle.to_tensor(x), NotATensorError, "returned a Tensor for its output"),
        (lambda x: np.multiply(x, 2.0, out=x), ArgumentError, r"writes to an operand.*x\.copy\(\)"),
        (lambda x: x.__setitem__(0, 1.0), ArgumentError, "writes to an operand"),
    ],
)
def test_what_a_kernel_does_is_checked(kernel: Any, error: type, match: str) -> None:
    op = defop("faulty", kernel)
    with pytest.raises(error, match=match) as caught:
        op(paddle.to_tensor([1.0, 2.0], dtype="float64"))
    assert str(caught.value).startswith("faulty: ")


def test_a_kernel_of_several_outputs_is_checked() -> None:
    op = defop("faulty", lambda x: (x, x, x), outputs="a b", infer="same")
    with pytest.raises(ArgumentError, match=r"returned 3 for 2 outputs \(a, b\); return a tuple"):
        op(leaf([1.0]))
    op = defop("faulty", lambda x: (x, x[:0]), outputs="a b", infer="same")
    with pytest.raises(ShapeError, match="for its output b, and infer says"):
        op(leaf([1.0]))


@pytest.mark.parametrize(
    ("rule", "error", "match"),
    [
        (lambda xp, g: None, NotATensorError, "rule for x returned None; say NONDIFF where"),
        (lambda xp, g: 1.0, NotATensorError, r"returned a float; compute it with operators"),
        (lambda xp, g: xp.sum(g, axis=(0,)), ShapeError, r"shape \[\] for an input of shape \[2\]"),
        (lambda xp, g: xp.cast(g, dtype="float32"), DTypeError, "Python numbers, which take"),
    ],
)
@pytest.mark.parametrize("create_graph", [False, True])
def test_what_a_rule_returns_is_checked(
    rule: Any, error: type, match: str, create_graph: bool
) -> None:
    op = defop("faulty", lambda x: x * 2.0).vjp(x=rule)
    x = leaf([1.0, 2.0])
    with pytest.raises(error, match=match) as caught:
        paddle.grad(op(x), x, create_graph=create_graph)
    assert str(caught.value).startswith("faulty: the rule for x returned")


def test_a_stretched_input_is_summed_and_a_wrong_shape_is_not() -> None:
    x, y = leaf([1.0, 2.0, 3.0]), leaf([[1.0], [2.0]])
    hypotenuse(x, y).sum().backward()
    assert (x.grad.shape, y.grad.shape) == ([3], [2, 1])
    op = defop("faulty", lambda x, y: x * y).vjp(
        x=lambda xp, g, y: xp.sum(g, axis=(1,)), y=lambda xp, g, x: g * x
    )
    with pytest.raises(ShapeError, match=r"faulty: the rule for x returned shape \[2\]"):
        op(leaf([1.0, 2.0, 3.0]), y).sum().backward()


def test_numpy_in_a_rule_is_no_silent_zero() -> None:
    special = defop("my_sine", np.sin, inputs="x").vjp(
        x=lambda xp, g, x: g * np.asarray(np.cos(np.asarray(x)))
    )
    x = leaf(0.7)
    (g,) = paddle.grad(special(x), x)
    assert g.item() == pytest.approx(np.cos(0.7))
    with pytest.raises(NotDifferentiableError, match="history ends") as caught:
        paddle.grad(special(x), x, create_graph=True)
    assert "rule of my_sine for x; a rule computes with xp.<operation>" in caught.value.__notes__[0]


def test_attributes() -> None:
    op = defop("weighted", lambda x, *, by: x * np.asarray(by)).vjp(
        x=lambda xp, g, *, by: g * xp.constant(value=np.asarray(by))
    )
    weights, numbers = np.array([1.0, 2.0]), [3.0, 4.0]
    x = leaf([1.0, 1.0])
    out = op(x, by=weights) + op(x, by=numbers)
    weights[:] = 0.0
    numbers[0] = 0.0
    out.sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]
    with pytest.raises(NotATensorError, match=r"by is an attribute.*make it an input"):
        op(x, by=x)
    with pytest.raises(ArgumentError, match="by is a dict, which can change after the call"):
        op(x, by={})
    with pytest.raises(TypeError, match="needs the attribute 'by'"):
        op(x)
    with pytest.raises(TypeError, match="has no attribute 'times'"):
        op(x, by=1.0, times=2.0)


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        (("my cube", np.sin), {"inputs": "x"}, "has to be a Python identifier"),
        (("_cube", np.sin), {"inputs": "x"}, "does not begin with an underscore"),
        (("lambda", np.sin), {"inputs": "x"}, "has to be a Python identifier"),
        ((np.sin,), {}, r"takes a name first, got a ufunc: defop\('cube', kernel\)"),
        (("op", 3), {}, "the kernel must be a function, got an int"),
        (("op", np.sin), {}, "name its inputs: inputs='x y'"),
        (("op", lambda: 1), {}, "needs an input"),
        (("op", lambda g: g), {}, "'g' is what rules are given; rename it"),
        (("op", lambda out: out), {}, "need different names, got out, out"),
        (("op", lambda x: x), {"infer": "like"}, "infer must be 'same', 'broadcast', a function"),
        (("op", lambda x: x), {"nondiff_outputs": "y"}, "names no output"),
    ],
)
def test_what_a_declaration_says(arguments: Any, options: Any, match: str) -> None:
    with pytest.raises(RegistryError, match=match):
        defop(*arguments, **options)


def test_what_a_rule_says() -> None:
    op = defop("op", lambda x, *, k=1: x * k)
    with pytest.raises(RegistryError, match="op has no input 'y'; it has x"):
        op.vjp(y=NONDIFF)
    with pytest.raises(RegistryError, match="must be a function or NONDIFF, got int"):
        op.vjp(x=3)
    with pytest.raises(RegistryError, match="first parameters must be xp, g"):
        op.vjp(x=lambda g, x: g)
    with pytest.raises(RegistryError, match="'z' is no input or output of op"):
        op.vjp(x=lambda xp, g, z: g)
    with pytest.raises(RegistryError, match="'j' is no attribute of op"):
        op.vjp(x=lambda xp, g, *, j: g)


def test_an_inference_of_ones_own() -> None:
    op = defop("rows", lambda x: x.sum(-1), infer=lambda x: Spec(x.shape[:-1], x.dtype)).vjp(
        x=lambda xp, g, x: xp.expand_like(xp.unsqueeze(g, axis=(-1,)), x)
    )
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    (op(x) * leaf([1.0, 2.0])).sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0], [2.0, 2.0]]
    wrong = defop("rows", lambda x: x, infer=lambda x: x.shape)
    with pytest.raises(RegistryError, match=r"infer returned \(2, 2\).*paddle\.autograd\.Spec"):
        wrong(x)
    both = defop(
        "both", lambda x, y: (x, x + y), outputs="a b", infer=("same", "broadcast")
    ).nondiff()
    a, b = both(leaf([1.0]), leaf([[1.0], [2.0]]))
    assert (a.shape, b.shape) == ([1], [2, 1])
