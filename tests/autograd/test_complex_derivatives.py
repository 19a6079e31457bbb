"""Jacobians and products of functions of complex values, by differences of their parts."""

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.autograd import hessian, hvp, jacobian, jvp, value_and_grad, vjp
from autograd_engine.errors import DTypeError
from tests.functions.peers import torch

static = paddle.static
RNG = np.random.default_rng(11)
Z = RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3))
X = RNG.normal(size=(2, 3))
H = 1e-6


def to_real(z):
    return (z.abs() ** 2) * z.real().sum(-1, keepdim=True) + (z * z).imag()


def to_complex(x):
    return paddle.exp(x * 1j) * x.sum(-1, keepdim=True)


def loss(z):
    return to_real(z).exp().mean() + (z.conj() * z).real().sum()


def differences(function, at, along):
    values = (function(paddle.to_tensor(at + h * along)).numpy() for h in (H, -H))
    return np.subtract(*values) / (2 * H)


def reference(function, at, batched=False):
    """dy/dRe + i dy/dIm of real results; dy/dx of complex ones."""
    columns = []
    for index in np.ndindex(at.shape[1:] if batched else at.shape):
        unit = np.zeros_like(at)
        unit[(slice(None), *index) if batched else index] = 1
        column = differences(function, at, unit)
        if at.dtype.kind == "c":
            column = column + 1j * differences(function, at, 1j * unit)
        columns.append(column)
    shape = at.shape[1:] if batched else at.shape
    return np.stack(columns, -1).reshape(*columns[0].shape, *shape)


CASES = [(to_real, Z), (to_complex, X)]


def close(a, b):
    np.testing.assert_allclose(np.asarray(a), b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("function", "at"), CASES)
def test_jacobian_of_a_function(function, at):
    x = paddle.to_tensor(at)
    for mode in ("auto", "reverse", "forward"):
        for chunk in (None, 2):
            found = jacobian(function, x, mode=mode, chunk_size=chunk)
            close(found, reference(function, at))
        assert not jacobian(function, x, mode=mode, create_graph=True).stop_gradient
        close(jacobian(function, x, 0, mode=mode), reference(function, at, batched=True))


@pytest.mark.parametrize(("function", "at"), CASES)
def test_jacobian_of_a_tensor_and_in_a_program(function, at):
    row = at[0]
    x = paddle.to_tensor(row, stop_gradient=False)
    want = reference(function, row)
    close(jacobian(function(x), x)[1], want[1])
    eager = jacobian(function(x), x)[:].numpy()
    close(eager, want)
    with static.program_guard(static.Program()):
        v = static.data("x", row.shape, str(row.dtype))
        found = jacobian(function, v)
        (got,) = static.Executor().run(v.block.program, {"x": row}, [found])
    np.testing.assert_array_equal(got, eager)


def test_a_function_of_both():
    z, x = paddle.to_tensor(Z[0]), paddle.to_tensor(X[0])
    by_z, by_x = jacobian(lambda z, x: to_real(z) * x.sum(), (z, x))
    close(by_z, reference(lambda z: to_real(z) * x.sum(), Z[0]))
    close(by_x, reference(lambda x: to_real(z) * x.sum(), X[0]))


def test_products():
    z, d = paddle.to_tensor(Z), RNG.normal(size=Z.shape) * (1 + 2j)
    v = paddle.to_tensor(d)

    def gradient(z):
        return value_and_grad(loss)(z)[1]

    value, product = hvp(loss, z, v)
    close(value, loss(z).numpy())
    close(product, differences(gradient, Z, d))
    close(hvp(loss, z, v, create_graph=True)[1], product.numpy())
    close(jvp(to_real, z, v)[1], differences(to_real, Z, d))
    close(jvp(lambda z: z * z.conj() * z, z, v)[1], differences(lambda z: z * z.conj() * z, Z, d))
    _, pulled = vjp(lambda z: z.conj() * z * z, z, v)
    inner = (d.conj() * differences(lambda z: z.conj() * z * z, Z, d * 1j)).real.sum()
    close((pulled.numpy().conj() * d * 1j).real.sum(), inner)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its own parts
@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_beside_torch():
    peer, z, v = torch.autograd.functional, torch.tensor(Z), torch.tensor(Z * 1j)
    ours, direction = paddle.to_tensor(Z), paddle.to_tensor(Z * 1j)

    def square(z):
        return z.abs() ** 2 * z.real + (z * z).imag

    def own(z):
        return z.abs() ** 2 * z.real() + (z * z).imag()

    close(jacobian(own, ours), peer.jacobian(square, z).numpy())
    found = hvp(lambda z: own(z).sum(), ours, direction)[1]
    close(found, peer.hvp(lambda z: square(z).sum(), z, v)[1].numpy())
    close(vjp(lambda z: z * z, ours, direction)[1], peer.vjp(lambda z: z * z, z, v)[1].numpy())
    close(jvp(lambda z: z * z, ours, direction)[1], peer.jvp(lambda z: z * z, z, v)[1].numpy())
    want = peer.jacobian(
        lambda x: torch.exp(1j * x), z.real.clone(), strategy="forward-mode", vectorize=True
    )
    close(jacobian(lambda x: paddle.exp(x * 1j), ours.real()), want.numpy())


PARTS = r"paddle\.as_complex\(x\)"
REAL_LOSS = r"loss\.abs\(\) or loss\.real\(\)"
REFUSED = {
    "complex by complex": (lambda z: jacobian(lambda z: z * z, z), PARTS),
    "tensors": (lambda z: jacobian(z * z, z), PARTS),
    "hessian": (lambda z: hessian(loss, z), PARTS),
    "hessian of a tensor": (lambda z: hessian(loss(z), z), PARTS),
    "incubate": (lambda z: paddle.incubate.autograd.Jacobian(to_real, z), PARTS),
    "incubate hessian": (lambda z: paddle.incubate.autograd.Hessian(loss, z), PARTS),
    "hvp": (lambda z: hvp(lambda z: z.sum(), z), REAL_LOSS),
    "vjp": (lambda z: vjp(lambda z: z * z, z), r"vjp\(func, xs, v\)"),
    "value_and_grad": (lambda z: value_and_grad(lambda z: z.sum())(z), REAL_LOSS),
}


def test_what_is_refused_says_what_to_write():
    z = paddle.to_tensor(Z[0], stop_gradient=False)
    for call, match in REFUSED.values():
        with pytest.raises(DTypeError, match=match):
            call(z)
    with static.program_guard(static.Program()):
        v = static.data("z", [3], "complex128")
        for name in ("complex by complex", "hessian", "incubate", "incubate hessian"):
            with pytest.raises(DTypeError, match=PARTS):
                REFUSED[name][0](v)
        with pytest.raises(DTypeError, match=r"paddle\.abs or paddle\.real"):
            vjp(lambda z: z * z, v)


def test_what_is_written_instead():
    z = paddle.to_tensor(Z[0])
    found = hessian(lambda x: loss(paddle.as_complex(x)), paddle.as_real(z)).numpy()
    for part, d in enumerate((1.0, 1j)):
        unit = np.array([d, 0j, 0j])
        g = hvp(loss, z, paddle.to_tensor(unit))[1].numpy()
        close(found[:, :, 0, part], np.stack([g.real, g.imag], -1))
    found = jacobian(lambda x: paddle.as_real(paddle.as_complex(x).conj()), paddle.as_real(z[0]))
    close(found, [[1.0, 0.0], [0.0, -1.0]])
