"""Gradients that users write for complex values: what they see, in either mode, to second order.

The function is z z conj(z), whose gradient is that of a composition, to which it is compared.
"""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import PyLayer, defop

static = paddle.static
POINT = np.array([1 + 2j, 0.3 - 1j, -0.5 + 0.25j])
BESIDE = np.array([0.5, 2.0, -1.0])


def composed(z, x):
    return z * z * paddle.conj(z) * x


def gradients_of(g, z, x):
    """What users see: of a real operand the real part, of a complex one dL/dRe + i dL/dIm."""
    by_z = (g * 2.0 * z * paddle.conj(z) + z * z * paddle.conj(g)) * x
    return by_z, paddle.real(paddle.conj(z * z * paddle.conj(z)) * g)


class Layer(PyLayer):
    @staticmethod
    def forward(ctx, z, x):
        ctx.save_for_backward(z, x)
        return composed(z, x)

    @staticmethod
    def backward(ctx, g):
        return gradients_of(g, *ctx.saved_tensor())


def in_a_block(z, x):
    return static.nn.static_pylayer(composed, [z, x], lambda g: gradients_of(g, z, x))


# Rules are of the table: their cotangents are dL/dRe - i dL/dIm, which holomorphic ones multiply.
operation = defop(
    "complex_custom", lambda z, x: z * z * np.conj(z) * x, infer=lambda z, x: z, dtypes="any"
)


@operation.vjp("z")
def _(xp, g, z, x):
    return g * 2.0 * z * xp.conj(z) * x + xp.conj(g * z * z) * x


@operation.vjp("x")
def _(xp, g, z):
    return xp.real_part(g * z * z * xp.conj(z))


def two_orders(function, gradients, z, x):
    y = function(z, x)
    first = gradients((paddle.abs(y) ** 2).sum() + (paddle.imag(y) * x).sum(), [z, x])
    along = (paddle.abs(first[0]) ** 2).sum() + (first[1] ** 2).sum()
    return [*first, *gradients(along, [z, x])]


def eagerly(function, dtype, real):
    z, x = (
        paddle.to_tensor(v.astype(d), stop_gradient=False)
        for v, d in ((POINT, dtype), (BESIDE, real))
    )
    found = two_orders(function, lambda y, xs: paddle.grad(y, xs, create_graph=True), z, x)
    return [g.numpy() for g in found]


def in_a_program(function, dtype, real):
    with static.program_guard(static.Program()):
        z, x = static.data("z", [3], dtype), static.data("x", [3], real)
        z.stop_gradient = x.stop_gradient = False
        found = two_orders(function, static.gradients, z, x)
        fed = {"z": POINT.astype(dtype), "x": BESIDE.astype(real)}
        return static.Executor().run(z.block.program, fed, found)


@pytest.mark.parametrize(("dtype", "real"), [("complex64", "float32"), ("complex128", "float64")])
def test_gradients_that_users_write(dtype, real):
    want = eagerly(composed, dtype, real)
    tolerance = 1e-4 if dtype == "complex64" else 1e-10
    for found in (
        eagerly(Layer.apply, dtype, real),
        eagerly(operation, dtype, real),
        in_a_program(in_a_block, dtype, real),
        in_a_program(operation, dtype, real),
    ):
        for got, g in zip(found, want, strict=True):
            assert got.dtype == g.dtype
            np.testing.assert_allclose(got, g, rtol=tolerance, atol=tolerance)
    same = zip(eagerly(operation, dtype, real), in_a_program(operation, dtype, real), strict=True)
    for a, b in same:
        np.testing.assert_array_equal(a, b)


def test_forward_mode():
    z, x = paddle.to_tensor(POINT), paddle.to_tensor(BESIDE)
    along = [paddle.to_tensor(POINT * 1j + 1.0), paddle.to_tensor(BESIDE + 3.0)]
    want = paddle.autograd.jvp(composed, [z, x], along)[1].numpy()
    for function in (Layer.apply, operation):
        found = paddle.autograd.jvp(function, [z, x], along)[1].numpy()
        np.testing.assert_allclose(found, want, rtol=1e-12)


def test_a_program_of_a_block_from_a_file():
    with static.program_guard(static.Program(), static.Program()):
        z, x = static.data("z", [3], "complex128"), static.data("x", [3], "float64")
        z.stop_gradient = False
        (g,) = static.gradients((paddle.abs(in_a_block(z, x)) ** 2).sum(), z)
        program, name = z.block.program, g.name
        fed = {"z": POINT, "x": BESIDE}
        (want,) = static.Executor().run(program, fed, [g])
    again = static.Program.parse_from_string(program.to_string())
    (found,) = static.Executor().run(again, fed, [name])
    np.testing.assert_array_equal(found, want)
