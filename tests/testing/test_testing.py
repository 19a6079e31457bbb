"""The public checks: right gradients pass, and each way to be wrong is found and named."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.spec import Spec, broadcast_shapes
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    GradientCheckError,
    ModeError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.ops.infer import same
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import (
    NONDIFF,
    REGISTRY,
    OpDef,
    defop,
)
from autograd_engine.static import Variable
from autograd_engine.testing import check_op, gradcheck, gradgradcheck
from autograd_engine.testing.modes import same_bits
from autograd_engine.testing.numeric import derivative, first_step, one_sided

F = paddle.nn.functional
RNG = np.random.default_rng(7)


def leaf(values, dtype="float64"):
    return paddle.to_tensor(values, dtype=dtype, stop_gradient=False)


def matrix(*shape, seed=0):
    return leaf(np.random.default_rng(seed).uniform(0.3, 1.7, shape))


def both(x, y):
    return Spec(broadcast_shapes("trial", x.shape, y.shape), x.dtype)


@pytest.fixture
def declare():
    """Adds operations named "trial" to the table, and takes them out again."""
    names = []

    def add(kernel, inputs="x", *, infer=same, rules=None, **options):
        name = f"trial{len(names)}"
        names.append(name)
        op = defop(name, kernel, inputs=inputs, infer=infer, **options)
        op.vjp(**(rules if rules is not None else {}))
        return op

    yield add
    for name in names:
        del REGISTRY[name]
        vars(ops).pop(name, None)


def function(op):
    """The operation as a function whose arguments have the names of its inputs."""
    if op.inputs == ("x",):
        return lambda x: getattr(ops, op.name)(x)
    return lambda x, y: getattr(ops, op.name)(x, y)


def failure(check, *args, **options):
    with pytest.raises(GradientCheckError) as caught:
        check(*args, **options)
    return caught.value


# --- what is right passes

RIGHT = {
    "one tensor": (lambda x: paddle.tanh(x) * x, [matrix(2, 2)]),
    "product": (paddle.matmul, [matrix(2, 3), matrix(3, 2, seed=1)]),
    "broadcast": (lambda x, y: x / y, [matrix(2, 3), matrix(3, seed=1)]),
    "0-d": (lambda x: paddle.exp(x), [leaf(0.5)]),
    "empty": (lambda x: x * x, [leaf(np.zeros((0, 2)))]),
    "several outputs": (lambda x: (x.sum(), x[0], paddle.exp(x)), [matrix(2, 2)]),
    "an integer output": (lambda x: paddle.topk(x, k=2), [leaf([[1.0, 3.0, 2.0]])]),
    "an output that is an input": (lambda x: [x, x * 2.0], [matrix(2)]),
    "the same output twice": (lambda x: [x.exp()] * 2, [matrix(2)]),
    "a constant beside": (
        lambda x, index, scale: paddle.gather(x, index) * scale,
        [matrix(3, 2), paddle.to_tensor([2, 0]), 3.0],
    ),
    "an input that is not used": (lambda x, y: x * x, [matrix(2), matrix(2)]),
    "flat": (lambda x: paddle.floor(x) + x * 0.0, [leaf([0.5, 1.5])]),
    "large numbers": (lambda x: x * x, [leaf([1e8, -3e5])]),
    "near a pole": (paddle.log, [leaf([2e-4, 1.0])]),
    "random but seeded": (
        lambda x: [paddle.seed(3), F.dropout(x * x, 0.5)][1],
        [matrix(4)],
    ),
    "gradients inside": (
        lambda x: paddle.grad((x * x * x).sum(), x, create_graph=True)[0],
        [matrix(2)],
    ),
}


@pytest.mark.parametrize("fast", [False, True], ids=["full", "fast"])
@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_pass(name, fast):
    func, inputs = RIGHT[name]
    before = [x.numpy().copy() if isinstance(x, paddle.Tensor) else x for x in inputs]
    assert gradcheck(func, inputs, order=2, fast_mode=fast) is True
    for x, values in zip(inputs, before, strict=True):
        if isinstance(x, paddle.Tensor):
            assert x.grad is None
            same_bits(x.numpy(), values)


@pytest.mark.parametrize("name", RIGHT)
def test_right_second_derivatives_pass(name):
    assert gradgradcheck(*RIGHT[name]) is True


def test_third_order():
    assert gradcheck(lambda x: paddle.exp(x) * paddle.sin(x), matrix(2), order=3)


def test_cotangents_may_be_given():
    x = matrix(2, 2)
    assert gradgradcheck(paddle.exp, x, matrix(2, 2, seed=3))
    assert gradgradcheck(lambda x: (x.exp(), x.sum()), [x], [matrix(2, 2), leaf(2.0)])
    with pytest.raises(ArgumentError, match="grad_outputs has 2 entries for 1 outputs"):
        gradgradcheck(paddle.exp, x, [x, x])
    with pytest.raises(ShapeError, match=r"grad_outputs\[0\] has shape \[2\], the output \[2, 2\]"):
        gradgradcheck(paddle.exp, x, matrix(2))
    with pytest.raises(NotATensorError, match=r"use paddle\.to_tensor"):
        gradgradcheck(paddle.exp, x, np.ones((2, 2)))


def test_float32_has_tolerances_of_its_own():
    assert gradcheck(lambda x: paddle.tanh(x) * x, leaf([0.3, -0.7, 2.0], "float32"))


KINKS = {
    "abs": (paddle.abs, [0.0, 1.0, -1.0]),
    "relu": (F.relu, [0.0, 2.0]),
    "next to it": (F.relu, [1e-9, -1e-9]),
    "leaky": (lambda x: F.leaky_relu(x, 0.1), [0.0, 1.0]),
    "ties": (lambda x: paddle.max(x), [2.0, 2.0, 1.0]),
    "edges": (lambda x: paddle.clip(x, 0.0, 1.0), [0.0, 0.5, 1.0]),
}


@pytest.mark.parametrize("fast", [False, True], ids=["full", "fast"])
@pytest.mark.parametrize("name", KINKS)
def test_subgradients_pass(name, fast):
    func, values = KINKS[name]
    assert gradcheck(func, leaf(values), fast_mode=fast)


# --- what is wrong is found, and named


def exp(x):
    return np.exp(x)


def mean_over_the_last(xp, g, out):
    return xp.expand_like(xp.mean(g * out, axis=(1,), keepdims=True), out)


def sum_over_the_last(xp, g, out):
    return xp.expand_like(xp.sum(g * out, axis=(1,), keepdims=True), out)


WRONG = {
    "a factor 2: analytic is 2 times numeric everywhere": lambda xp, g, out: 2.0 * g * out,
    "a factor 1/3: analytic is 1/3 times numeric everywhere; 3 is the size of axis 0 of x": (
        lambda xp, g, out: g * out / 3.0
    ),
    "a factor 1.25: ": lambda xp, g, out: 1.25 * g * out,
    "the sign is flipped": lambda xp, g, out: -g * out,
    "transposed: the gradient has axes 0 and 1 of x": (
        lambda xp, g, out: xp.transpose(g * out, perm=(1, 0))
    ),
    "reversed along axis 1 of x": lambda xp, g, out: xp.flip(g * out, axis=(1,)),
    "averaged over axis 1 of x": mean_over_the_last,
    "summed over axis 1 of x": sum_over_the_last,
    "the gradient is zero everywhere: x": lambda xp, g, out: g * 0.0,
}


@pytest.mark.parametrize("fast", [False, True], ids=["full", "fast"])
@pytest.mark.parametrize("cause", WRONG)
def test_the_cause_is_guessed(cause, fast, declare):
    op = declare(exp, rules={"x": WRONG[cause]}, tangent=None)
    x = leaf(np.arange(9.0).reshape(3, 3) / 5.0)
    error = failure(gradcheck, function(op), x, fast_mode=fast, check_forward_ad=False)
    assert cause in error.causes[0]
    assert f"likely cause: {error.causes[0]}" in str(error)
    assert "d the output / d x (input 0)" in str(error)


def test_the_report_shows_the_worst_elements(declare):
    op = declare(exp, rules={"x": lambda xp, g, x, out: g * out + g * x}, tangent=None)
    x = leaf([[0.0, 1.0, 2.0], [3.0, -4.0, 0.0]])
    text = str(failure(gradcheck, function(op), x, check_forward_ad=False))
    assert "4 of 36 derivatives disagree" in text
    rows = [line.split() for line in text.splitlines() if line.startswith("    [")]
    assert [r[:4] for r in rows] == [
        ["[1,", "1]", "[1,", "1]"],
        ["[1,", "0]", "[1,", "0]"],
        ["[0,", "2]", "[0,", "2]"],
        ["[0,", "1]", "[0,", "1]"],
    ]
    analytic, numeric, off, relative = map(float, rows[1][4:])
    assert numeric == pytest.approx(math.exp(3.0), rel=1e-8)
    assert analytic == pytest.approx(math.exp(3.0) + 3.0, rel=1e-8)
    assert off == pytest.approx(3.0, rel=0.05)
    assert relative == pytest.approx(3.0 / math.exp(3.0), rel=0.05)


def test_only_the_worst_five_are_shown(declare):
    op = declare(exp, rules={"x": lambda xp, g, out: 2.0 * g * out})
    text = str(failure(gradcheck, function(op), leaf(np.arange(8.0)), check_forward_ad=False))
    assert "8 of 64 derivatives disagree (the worst 5)" in text
    assert len(re.findall(r"^    \[", text, re.MULTILINE)) == 5


def test_an_input_that_is_cut_off():
    error = failure(gradcheck, lambda x, y: x * y.detach(), [matrix(2), matrix(2, seed=1)])
    assert "d the output / d y (input 1)" in str(error)
    assert "d the output / d x" not in str(error)
    assert "y (input 1) is cut off from the output, by detach(), no_grad()" in error.causes[0]


def test_all_inputs_cut_off():
    with pytest.raises(GradientCheckError, match="cut off from the output"):
        gradcheck(lambda x: (x * x).detach(), matrix(2))


def test_a_factor_that_is_not_transposed(declare):
    op = declare(
        np.matmul,
        "x y",
        infer=lambda x, y: Spec((x.shape[0], y.shape[1]), x.dtype),
        rules={
            "x": lambda xp, g, y: xp.matmul(g, y),
            "y": lambda xp, g, x: xp.matmul(xp.transpose(x, perm=(1, 0)), g),
        },
    )
    error = failure(gradcheck, function(op), [matrix(2, 2), matrix(2, 2, seed=1)])
    assert "d the output / d x (input 0)" in str(error)
    assert "d the output / d y (input 1)" not in str(error)
    assert "a factor that is not transposed" in error.causes[0]


def test_exchanged_rules(declare):
    op = declare(
        np.multiply,
        "x y",
        infer=both,
        rules={"x": lambda xp, g, x: g * x, "y": lambda xp, g, y: g * y},
    )
    error = failure(gradcheck, function(op), [matrix(3), matrix(3, seed=1)])
    assert any("this is the gradient of y (input 1); the two rules are" in c for c in error.causes)


REGIONS = {
    "below 0": (lambda x: x < 0.0, [[-1.0, 2.0], [-0.5, 0.3]]),
    "above 1": (lambda x: x > 1.0, [[-1.5, 2.0], [0.5, 3.0]]),
    "of a size above 1": (lambda x: abs(x) > 1.0, [[-1.5, 2.0], [-0.5, 0.3]]),
    "above 0": (lambda x: x > 0.0, [[-1.0, 2.0], [-0.5, 0.3]]),
}


@pytest.mark.parametrize("where", REGIONS)
def test_the_region_is_named(where, declare):
    mask, values = REGIONS[where]
    op = declare(
        np.square,
        rules={"x": lambda xp, g, x: xp.where(mask(x), 3.0, 2.0) * g * x},
        tangent=None,
    )
    error = failure(gradcheck, function(op), leaf(values), check_forward_ad=False)
    assert "a factor 1.5: analytic is 1.5 times numeric wherever it is wrong" in error.causes[0]
    named = [c for c in error.causes if c.startswith("only elements")]
    assert len(named) == 1
    assert f"only elements {where} are wrong" in named[0]
    assert named[0].endswith("wrong in the gradient of x (input 0); all others are right")


def weighted(weights):
    return lambda xp, g, x: 2.0 * g * x * weights


def test_a_region_that_only_its_place_tells(declare):
    for name, weights in {
        "on the diagonal": np.asarray([[2.0, 1.0], [1.0, 2.0]]),
        "off the diagonal": np.asarray([[1.0, 2.0], [2.0, 1.0]]),
        "at index 0 of axis 1": np.asarray([[2.0, 1.0], [2.0, 1.0]]),
        "at index 1 of axis 0": np.asarray([[1.0, 1.0], [2.0, 2.0]]),
    }.items():
        op = declare(np.square, rules={"x": weighted(weights)})
        x = leaf([[1.5, 1.2], [1.7, 1.1]])
        error = failure(gradcheck, function(op), x, check_forward_ad=False)
        assert any(f"only elements {name} are wrong" in c for c in error.causes), name


def test_a_mask_that_is_missing(declare):
    op = declare(lambda x: np.maximum(x, 0.0), rules={"x": lambda xp, g, x: g}, tangent=None)
    error = failure(gradcheck, function(op), leaf([1.0, -1.0, -2.0]), check_forward_ad=False)
    assert error.causes[0] == "the gradient is not zero where the derivative is: a mask is missing"
    assert "only elements below 0" in error.causes[1]


def test_an_offset(declare):
    op = declare(exp, rules={"x": lambda xp, g, out: g * out + 0.5 * g * mask}, tangent=None)
    mask = np.asarray([1.0, 1.0, 0.0])
    error = failure(gradcheck, function(op), leaf([1.0, 2.0, 3.0]), check_forward_ad=False)
    assert error.causes[0] == "analytic is numeric +0.5 wherever it is wrong"


def test_no_number(declare):
    with np.errstate(invalid="ignore"):
        op = declare(np.square, rules={"x": lambda xp, g, x: 2.0 * g * x * x / x}, tangent=None)
        error = failure(gradcheck, function(op), leaf([0.0, 1.0]), check_forward_ad=False)
    assert "NaN or infinite where the derivative is finite" in error.causes[0]
    assert "strong_zeros()" in error.causes[0]


def test_the_edge_of_the_domain():
    with np.errstate(all="ignore"):
        error = failure(gradcheck, paddle.sqrt, leaf([0.0, 1.0]))
    assert "not defined on both sides of x (input 0)" in error.causes[0]


def test_noise():
    error = failure(gradcheck, lambda x: x + 1e-4 * paddle.sin(x * 1e9).detach(), leaf([0.3, 0.7]))
    assert "numerical noise: the differences themselves are uncertain by" in error.causes[0]
    assert "larger eps" in error.causes[0]


def test_rounding_of_float32():
    def func(x):
        return (x + 5e6) - 5e6

    assert gradcheck(func, leaf([0.3, 0.7]))
    error = failure(gradcheck, func, leaf([0.3, 0.7], "float32"))
    assert "rounding: in float64 the same gradient is right" in error.causes[0]
    assert "x.astype('float64')" in error.causes[0]


def test_no_subgradient(declare):
    def rule(xp, g, x):
        return xp.where(x > 0.0, 1.0, xp.where(xp.equal(x, 0.0), 3.0, 0.0)) * g

    op = declare(lambda x: np.maximum(x, 0.0), rules={"x": rule}, tangent=None)
    x = leaf([[1.0, 2.0, -1.0], [3.0, -2.0, 0.0]])
    error = failure(gradcheck, function(op), x, check_forward_ad=False)
    assert error.causes[0].startswith(
        "a kink at x (input 0) [1, 2]: left derivative 0, right derivative 1, and the analytic 3 "
    )


def test_functions_that_are_not_deterministic():
    error = failure(gradcheck, lambda x: x * paddle.rand([2], dtype="float64"), matrix(2))
    assert "two calls of func on the same inputs differ by" in str(error)
    assert "call paddle.seed(0) as its first line" in error.causes[0]
    calls = iter(range(100))

    def drifting(x):
        return x + 1e-13 * next(calls)

    failure(gradcheck, drifting, matrix(2))
    assert gradcheck(drifting, matrix(2), nondet_tol=1e-6)


def test_functions_that_write_to_their_inputs():
    def func(x):
        y = x * x
        x.set_value(x * 2.0)
        return y

    error = failure(gradcheck, func, matrix(2))
    assert "func writes to x (input 0)" in str(error)
    assert "x.clone()" in error.causes[0]


def test_functions_that_use_other_tensors():
    x = matrix(2)
    error = failure(gradcheck, lambda _: x * x, matrix(2))
    assert "no output depends on any input: nothing was checked" in str(error)
    assert "use its arguments" in error.causes[0]


def test_backward_passes_that_are_not_deterministic(declare):
    op = declare(exp, rules={"x": lambda xp, g, out: g * out * RNG.uniform(0.9, 1.1)})
    error = failure(gradcheck, function(op), matrix(2))
    assert "two backward passes give different gradients of x (input 0)" in str(error)


def test_passes_that_differ_when_recorded(declare):
    def rule(xp, g, out):
        return g * out if isinstance(g, np.ndarray) else g * out * (1.0 + 1e-9)

    error = failure(gradcheck, function(declare(exp, rules={"x": rule})), matrix(2))
    assert "create_graph=True changes the gradient of x (input 0)" in str(error)


def two_outputs(x):
    return np.sin(x), np.cos(x)


def infer_two(x):
    return x, x


def test_cotangents_that_never_arrive(declare):
    def needs_both(xp, g_s, g_c, s, c):
        return g_s * c - g_c * s

    def takes_none_for_one(xp, g_s, g_c, s, c):
        g_s = 1.0 if g_s is None else g_s
        g_c = 1.0 if g_c is None else g_c
        return g_s * c - g_c * s

    options = {"infer": infer_two, "outputs": "s c", "lazy_cotangents": True}
    op = declare(two_outputs, rules={"x": needs_both}, **options)
    error = failure(gradcheck, function(op), matrix(2))
    assert "differentiating output 0 alone fails: TypeError" in str(error)
    assert "missing (None)" in error.causes[0]
    op = declare(two_outputs, rules={"x": takes_none_for_one}, **options)
    error = failure(gradcheck, function(op), matrix(2), check_forward_ad=False)
    assert "d output 0 / d x (input 0)" in str(error) or "alone" in str(error)
    op = declare(two_outputs, rules={"x": needs_both}, infer=infer_two, outputs="s c")
    assert gradcheck(function(op), matrix(2), order=2)


def test_gradients_of_another_shape_or_dtype(declare):
    op = declare(exp, rules={"x": lambda xp, g, out: xp.transpose(g * out, perm=(1, 0))})
    error = failure(gradcheck, function(op), matrix(2, 3))
    assert "the gradient of x (input 0) is float64[3, 2], the input float64[2, 3]" in str(error)
    assert "transposed" in error.causes[0]
    op = declare(np.add, "x y", infer=both, rules={"x": lambda xp, g: g, "y": lambda xp, g: g})
    error = failure(gradcheck, function(op), [matrix(2, 3), matrix(3)])
    assert "the gradient of y (input 1) is float64[2, 3], the input float64[3]" in str(error)
    assert "broadcasting was not undone" in error.causes[0]
    op = declare(exp, rules={"x": lambda xp, g, out: xp.sum(g * out, axis=(1,), keepdims=False)})
    error = failure(gradcheck, function(op), matrix(2, 3))
    assert "summed over axes of the input" in error.causes[0]
    op = declare(exp, rules={"x": lambda xp, g, out: xp.cast(g * out, dtype="float64")})
    error = failure(gradcheck, function(op), leaf([1.0], "float32"))
    assert "cast the gradient to float32" in error.causes[0]


def keeps_no_history(xp, g, x):
    constant = x.detach() if isinstance(x, paddle.Tensor) else x
    return 2.0 * g * constant


def test_a_second_order_that_is_wrong_alone(declare):
    op = declare(np.square, rules={"x": keeps_no_history})
    options = {"check_forward_ad": False}
    assert gradcheck(function(op), matrix(2), **options)
    for check, more in ((gradcheck, {"order": 2}), (gradgradcheck, {})):
        error = failure(check, function(op), matrix(2), **options, **more)
        assert "gradcheck, second order" in str(error)
        assert "the first order is right, so its backward formula" in error.causes[0]
        assert "save inputs or outputs only" in error.causes[0]


def test_gradgradcheck_says_that_the_first_order_is_wrong(declare):
    op = declare(exp, rules={"x": lambda xp, g, out: 2.0 * g * out})
    error = failure(gradgradcheck, function(op), matrix(2), check_forward_ad=False)
    assert "gradgradcheck: the first order is wrong already" in str(error)
    assert error.causes[0].startswith("a factor 2")


def test_a_forward_mode_that_is_wrong(declare):
    op = declare(np.square, rules={"x": lambda xp, g, x: 2.0 * g * x}, tangent="linear")
    assert gradcheck(function(op), matrix(3), check_forward_ad=False)
    error = failure(gradcheck, function(op), matrix(3))
    assert "the forward-mode gradient is not what differences give" in str(error)


def test_returning_false():
    def func(x):
        return x * x.detach()

    assert gradcheck(func, matrix(2), raise_exception=False) is False
    assert gradgradcheck(func, matrix(2), raise_exception=False) is False
    assert check_op(func, [1.0, 2.0], raise_exception=False) is False


def test_tolerances_and_steps_can_be_given(declare):
    op = declare(exp, rules={"x": lambda xp, g, out: g * out * (1.0 + 1e-4)}, tangent=None)
    failure(gradcheck, function(op), matrix(3))
    assert gradcheck(function(op), matrix(3), rtol=1e-3)
    assert gradcheck(function(op), matrix(3), atol=1e-2)
    assert gradcheck(paddle.exp, matrix(3), eps=1e-6)


def test_arguments_that_say_nothing():
    with pytest.raises(ArgumentError, match=r"no input wants a gradient; make one with"):
        gradcheck(paddle.exp, paddle.to_tensor([1.0]))
    with pytest.raises(NotATensorError, match=r"is an ndarray: use paddle\.to_tensor"):
        gradcheck(paddle.exp, np.ones(2))
    with pytest.raises(NotATensorError, match="got float"):
        gradcheck(paddle.exp, 1.0)
    with pytest.raises(DTypeError, match=r"float16, too coarse.*use x\.astype\('float64'\)"):
        gradcheck(paddle.exp, leaf([1.0], "float16"))
    with pytest.raises(NotATensorError, match=r"func must return a Tensor.*got float"):
        gradcheck(lambda x: 1.0, matrix(2))
    with pytest.raises(ArgumentError, match="returns no floating Tensor"):
        gradcheck(lambda x: paddle.argmax(x), matrix(2))
    with pytest.raises(ArgumentError, match="order must be 1 or more"):
        gradcheck(paddle.exp, matrix(2), order=0)


def test_it_is_there_without_an_import_of_its_own():
    code = "import autograd_engine as paddle; paddle.testing.gradcheck"
    loads = "import sys, autograd_engine; assert 'autograd_engine.testing' not in sys.modules"
    for program in (code, loads):
        subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="no attribute 'tested'"):
        paddle.tested  # noqa: B018


def test_eager_mode_only(static_mode):
    for check in (gradcheck, gradgradcheck):
        with pytest.raises(ModeError, match="disable_static"):
            check(paddle.exp, None)
    with pytest.raises(ModeError, match="disable_static"):
        check_op("exp", [1.0])


# --- differences

SMOOTH = [
    (math.exp, 0.7, math.exp(0.7)),
    (math.log, 1e-4, 1e4),
    (lambda x: 1.0 / x, 3e-3, -1.0 / 9e-6),
    (lambda x: abs(x) ** 3, 1e-5, 3e-10),
    (lambda x: max(x, 0.0), 1e-5, 1.0),
    (lambda x: math.sin(100.0 * x), 0.3, 100.0 * math.cos(30.0)),
    (lambda x: x * x, 1e10, 2e10),
]


@pytest.mark.parametrize(("f", "x", "slope"), SMOOTH)
def test_differences_adapt_their_step(f, x, slope):
    def moved(h):
        try:
            return np.asarray([f(x + h)])
        except (ValueError, ZeroDivisionError):
            return np.asarray([np.nan])

    step = first_step(x, np.dtype("float64"), None)
    found = derivative(moved, step, lambda v: 1e-10 * np.abs(v))
    assert found.value[0] == pytest.approx(slope, rel=1e-7, abs=1e-9)
    assert abs(found.value[0] - slope) <= 10 * found.uncertainty[0] + 1e-12 * abs(slope)


def test_sides_of_a_kink():
    def moved(h):
        return np.asarray([max(3.0 * h, -h), h * h, np.exp(h)])

    sides = one_sided(moved, 2.0**-10, lambda v: 1e-6 + 1e-5 * v)
    assert sides.kink.tolist() == [True, False, False]
    np.testing.assert_allclose(sides.left, [-1.0, 0.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(sides.right, [3.0, 0.0, 1.0], atol=1e-6)


# --- check_op

OPERATIONS = {
    "exp": ([[1.0, -2.0]], {}),
    "multiply": ([[[1.0, -2.0], [0.5, 3.0]], [[0.3, 2.0], [1.5, -1.0]]], {}),
    "matmul": ([np.ones((2, 3)) / 3.0, np.arange(6.0).reshape(3, 2)], {"transpose_x": False}),
    "softmax": ([[[0.1, 2.0, -1.0]]], {"axis": 1}),
    "topk": ([[[0.1, 2.0, -1.0]]], {"k": 2, "axis": 1}),
    "concat": ([[[1.0, 2.0]], [[3.0, 4.0]]], {"axis": 0}),
    "where": ([np.asarray([True, False]), [1.0, 2.0], [3.0, -4.0]], {}),
    "argmax": ([[[1.0, 3.0]]], {"axis": 1, "keepdims": False}),
    "sign": ([[1.0, -2.0]], {}),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_of_the_table_pass(name):
    operands, attrs = OPERATIONS[name]
    assert check_op(name, *operands, **attrs) is True


def test_random_operations_pass():
    before = paddle.rand([1]).item()
    paddle.seed(0)
    assert paddle.rand([1]).item() == before
    assert check_op("uniform_like", [1.0, 2.0], low=0.0, high=1.0)
    rest = paddle.rand([1]).item()
    paddle.seed(0)
    paddle.rand([1])
    assert paddle.rand([1]).item() == rest


def test_functions_pass():
    assert check_op(F.softmax, [[1.0, 2.0, 4.0]], axis=1)
    assert check_op(lambda x, y: paddle.tanh(x) @ y, np.eye(2), np.ones((2, 3)) / 2.0)
    assert check_op(F.relu, [0.0, 1.0], smooth=False)


def test_a_new_operation_passes(declare):
    op = declare(
        lambda x: x * x * x,
        rules={"x": lambda xp, g, x: g * (3.0 * x * x)},
        dtypes="floating",
        tangent="elementwise",
    )
    assert check_op(op, [1.0, -2.0, 0.5], order=3, dtypes=())
    assert check_op(op.name, [1.0, -2.0, 0.5], order=1)


def writes(x):
    x *= 2.0
    return x.copy()


STASH = []


def stashing(x):
    STASH[:] = [x]
    return x * x


FAULTS = {
    "inference": (np.square, {"infer": lambda x: Spec((*x.shape, 1), x.dtype)}, None),
    "inference in float32": (lambda x: np.square(x, dtype=np.float64), {}, None),
    "the kernel writes to no operand": (writes, {}, lambda xp, g: 2.0 * g),
    "gradients": (np.square, {}, lambda xp, g, x: g * x),
    "what the rule for x saves": (lambda x: 2.0 * x, {}, lambda xp, g, x: 2.0 * g + 0.0 * x),
    "what is not saved is not read": (
        stashing,
        {},
        lambda xp, g: 2.0 * g * STASH[0],
    ),
    "tangent='linear'": (
        np.square,
        {"tangent": "linear"},
        lambda xp, g, x: 2.0 * g * x,
    ),
    "equal bits with create_graph": (
        np.square,
        {},
        lambda xp, g, x: (2.0 if isinstance(g, np.ndarray) else 2.0 + 1e-15) * g * x,
    ),
    "equal bits in a program (known, written out)": (
        np.square,
        {},
        lambda xp, g, x: 2.0 * g * (x + 0.25 - 0.25 if isinstance(x, Variable) else x),
    ),
    "dtypes of gradients in float32": (
        np.square,
        {},
        lambda xp, g, x: g * xp.cast(2.0 * x, dtype="float64"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_an_operation_are_named(name, declare):
    kernel, options, rule = FAULTS[name]
    rule = rule if rule is not None else (lambda xp, g, x: 2.0 * g * x)
    op = declare(kernel, rules={"x": rule}, **options)
    text = str(failure(check_op, op, [1.0 / 3.0, -1.7, 0.4]))
    assert re.match(rf"check_op\({op.name}\): \d+ of \d+ checks failed\n", text)
    assert f"\n- {name}" in text


def test_rules_that_are_missing(declare):
    op = declare(np.multiply, "x y", infer=both, rules={"x": lambda xp, g, y: g * y})
    error = failure(check_op, op, [1.0], [2.0])
    assert f"{op.name}: no rule for y; declare one with .vjp(...), or NONDIFF" in str(error)
    op.vjp(y=NONDIFF)
    assert check_op(op, [1.0, 3.0], [2.0, 0.5])


def test_rules_of_one_input_are_named(declare):
    op = declare(
        np.multiply,
        "x y",
        infer=both,
        broadcasts=0,
        dtypes="common",
        rules={"x": lambda xp, g, y: g * y, "y": lambda xp, g, x: -g * x},
    )
    error = failure(check_op, op, [1.0, 3.0], [2.0, 0.5])
    assert "d the output / d y (input 1)" in str(error)
    assert "d the output / d x (input 0)" not in str(error)
    assert any(c.startswith("the sign is flipped") for c in error.causes)


def test_functions_with_faults():
    error = failure(check_op, lambda x: x * paddle.to_tensor(x.numpy()), [1.0, 2.0])
    assert "- gradients:" in str(error)
    assert "- equal bits in a program" in str(error)


def test_what_check_op_takes():
    with pytest.raises(ArgumentError, match="no operation named 'expp'"):
        check_op("expp", [1.0])
    with pytest.raises(ArgumentError, match="is not in the table: declare it with defop"):
        check_op(OpDef("lost", np.exp, inputs="x", infer=same), [1.0])
    with pytest.raises(NotATensorError, match="name, an OpDef or a function; got int"):
        check_op(3, [1.0])
    with pytest.raises(DTypeError, match="input 0 is complex128"):
        check_op("exp", np.ones(2, complex))
    with pytest.raises(TypeError, match="no attribute 'axes'"):
        check_op("softmax", [[1.0]], axes=1)
