"""No gradient goes through complex values: where one is wanted, both modes say so.

Wherever float values go into complex ones and from there into floats again, whether the rows on
the way have rules or not; what compares them, or asks for their shape, has no gradient to lose.
"""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import DTypeError, NotDifferentiableError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.testing.modes import call, kernel, with_gradient
from tests.over import over

from .samples import cases, family


def floating(operands):
    return [k for k, a in enumerate(operands) if a.dtype.kind == "f"]


def as_complex(operands):
    return [a.astype("complex128") if a.dtype.kind == "f" else a for a in operands]


def results_of(op, operands, attrs):
    """None where the kernel does not take them."""
    try:
        with np.errstate(all="ignore"):
            return kernel(op, operands, attrs)
    except (TypeError, ValueError, AttributeError, ArithmeticError, np.linalg.LinAlgError):
        return None


def takes_complex(op, sample):
    operands = as_complex(sample.operands)
    cut = len(op.nondiff_outputs) == len(op.outputs)  # whatever the dtype
    if op.real or cut or not floating(sample.operands):
        return False
    try:
        ops[op](*map(paddle.to_tensor, operands), **sample.attrs)
    except Exception:  # of whatever kind: it does not take them
        return False
    return True


def makes_complex(op, sample):
    found = results_of(op, sample.operands, op.complete_attrs(sample.attrs))
    return found is not None and found[0].dtype.kind == "c" and bool(floating(sample.operands))


def read(op, sample):
    return [k for k in floating(sample.operands) if op.reads_value(k)]


def program_gradients(op, sample, *, cast):
    """Gradients of all floats that come of the results, complex or not."""
    with paddle.static.program_guard(paddle.static.Program()):
        xs = [paddle.static.data(f"x{k}", a.shape, a.dtype) for k, a in enumerate(sample.operands)]
        leaves = [xs[k] for k in floating(sample.operands)]
        for x in leaves:
            x.stop_gradient = False
        given = [
            ops.cast(x, dtype="complex128") if cast and x.spec.dtype.kind == "f" else x for x in xs
        ]
        out = with_gradient(op, call(op, given, sample.attrs))[0]
        kind = out.spec.dtype.kind
        if kind in "biu":
            out = ops.cast(out, dtype="float64")
        elif kind == "c":
            out = ops.real_part(out)
        return paddle.static.gradients(out, leaves)


@over(("op", "sample"), cases(takes_complex), by=family)
def test_programs_refuse_complex_operands(op, sample):
    result = kernel(op, as_complex(sample.operands), op.complete_attrs(sample.attrs))
    made = with_gradient(op, result)[0].dtype.kind
    if made in "fc" and read(op, sample):
        with pytest.raises(DTypeError, match=r"gradients through complex values.*x\.detach\(\)"):
            program_gradients(op, sample, cast=True)
    else:
        found = program_gradients(op, sample, cast=True)
        assert found == [None] * len(found)


@over(("op", "sample"), cases(makes_complex), by=family)
def test_programs_refuse_complex_results(op, sample):
    with pytest.raises(DTypeError, match="gradients through complex values"):
        program_gradients(op, sample, cast=False)


FUNCTIONS = {
    "cast": lambda t: paddle.real(paddle.cast(t, "complex64")),
    "a number": lambda t: paddle.abs(t * 1j),
    "where": lambda t: paddle.imag(paddle.where(t > 0.0, t, np.complex64(1j))),
    "no rule before": lambda t: paddle.real(paddle.exp(t.astype("complex64")) * 2j),
    "in a branch": lambda t: paddle.static.nn.cond(
        t.sum() > 0.0, lambda: paddle.real(t.astype("complex64")), lambda: t * 2.0
    ),
    "into a branch": lambda t: (lambda z: paddle.static.nn.cond(
        t.sum() > 0.0, lambda: paddle.real(z), lambda: paddle.imag(z)
    ))(t.astype("complex64")),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_both_modes_refuse(name):
    f = FUNCTIONS[name]
    t = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    with pytest.raises(DTypeError, match="gradients through complex values"):
        f(t)
    assert f(t.detach()).shape == [2]
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2])
        x.stop_gradient = False
        loss = f(x).sum()
        before = str(x.block.program)
        with pytest.raises(DTypeError, match=r"test_complex_gradients\.py:\d+ \(.*x\.detach\(\)"):
            paddle.static.append_backward(loss)
        with pytest.raises(DTypeError, match="gradients through complex values"):
            paddle.static.gradients(loss, x)
        with pytest.raises(DTypeError, match="gradients through complex values"):
            paddle.static.forward_grad(loss, x)
        assert str(x.block.program) == before
        found = paddle.static.gradients(f(x.detach()).sum() + x.sum(), x)
    assert found[0] is not None


@pytest.mark.parametrize(
    "function",
    [
        lambda t: paddle.complex(t, t),
        paddle.as_complex,
        lambda t: paddle.polar(t, t),
        paddle.fft.fft,
        paddle.fft.rfft,
        paddle.fft.ihfft,
        paddle.linalg.eigvals,
        lambda t: paddle.linalg.eig(t)[0],
        lambda t: t.to("complex64"),
        lambda t: t.view("complex64"),
        lambda t: t**0.5j,
        lambda t: np.multiply(t, 1j),
        lambda t: np.array([1j, 1.0]) + t,
        lambda t: paddle.concat([t, paddle.to_tensor([[1j, 1.0]])]),
        lambda t: paddle.scatter(paddle.ones([2, 2], "complex64"), paddle.to_tensor([0, 1]), t),
        lambda t: t @ paddle.ones([2, 2], "complex64"),
        lambda t: t.__array_namespace__().asarray(t, dtype=t.__array_namespace__().complex64),
    ],
)
def test_no_function_makes_complex_values_without_a_word(function):
    t = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    with pytest.raises(
        (DTypeError, NotDifferentiableError), match=r"no gradient|gradients through"
    ):
        function(t)
    with paddle.no_grad():
        assert function(t).dtype.kind == "c"


def test_what_does_not_lead_to_the_loss_is_nobodys_concern():
    with paddle.static.program_guard(paddle.static.Program()):
        x = paddle.static.data("x", [2])
        x.stop_gradient = False
        spectrum = paddle.abs(x.astype("complex64"))
        (g,) = paddle.static.gradients((x * 3.0).sum(), x)
        fetched = paddle.static.Executor().run(
            x.block.program, {"x": np.float32([1.0, -2.0])}, [spectrum, g]
        )
    np.testing.assert_array_equal(fetched, [[1.0, 2.0], [3.0, 3.0]])


def test_a_comparison_with_a_complex_number_answers():
    t = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert (t == 1j).tolist() == [False, False]
    assert (t != np.complex64(2.0)).tolist() == [True, False]
    ((t == 2 + 0j).astype("float32") + t).sum().backward()
    assert t.grad.tolist() == [1.0, 1.0]


def test_assign_goes_through_the_dtype_of_its_output():
    t = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    with pytest.raises(DTypeError, match="gradients through complex values"):
        paddle.assign(t, paddle.zeros([2], "complex64"))
    (paddle.assign(t, paddle.zeros([2], "float64")) * 3.0).sum().backward()
    assert t.grad.dtype == "float32"
    assert t.grad.tolist() == [3.0, 3.0]
