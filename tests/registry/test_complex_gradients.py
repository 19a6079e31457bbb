"""Gradients through complex values.

Of a real loss, ``z.grad`` is ``dL/dx + i dL/dy``. Differences are taken along a complex direction,
which is moved along by ``Re(conj(grad) * direction)``.
"""

from __future__ import annotations

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import DTypeError
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from autograd_engine.testing.modes import kernel, same_bits
from tests.over import over

from .samples import cases, family

# Their results are not determined by their operands, which moves them at random, or their rules are
# not derivatives on purpose. Of the decompositions functions that are determined are tested below.
_NOT_BY_DIFFERENCES = frozenset(
    ("eig", "eigh", "svd", "mirror_triangle", "straight_through", "fourier_transpose")
)


def inexact(operands):
    return [k for k, a in enumerate(operands) if a.dtype.kind == "f"]


def differentiated(op, sample):
    found = inexact(sample.operands)
    return [k for k in found if op.reads_value(k) and op.rule_at(k) is not None]


def takes_complex(op, sample):
    if "c" not in op.takes or op.random or op.name in _NOT_BY_DIFFERENCES:
        return False
    if not differentiated(op, sample):
        return False
    try:
        results = run(op, as_complex(sample), op.complete_attrs(sample.attrs))
    except Exception:  # of whatever kind: it does not take them
        return False
    return any(o.size for o in results) and bool(open_results(op, results))


def as_complex(sample, seed=0):
    rng = np.random.default_rng(seed)
    return [
        a + 0.3j * rng.normal(size=a.shape) if a.dtype.kind == "f" else a
        for a in (np.asarray(a) for a in sample.operands)
    ]


def run(op, operands, attrs):
    with np.errstate(all="ignore"):
        return [np.asarray(o) for o in kernel(op, operands, attrs)]


def open_results(op, results):
    return [
        j
        for j, o in enumerate(results)
        if op.output_at(j) not in op.nondiff_outputs and o.dtype.kind in "fc"
    ]


def directions(rng, arrays):
    return [rng.normal(size=a.shape) + 1j * rng.normal(size=a.shape) for a in arrays]


def total(values, weights):
    """A real function of tensors, linear in them."""
    parts = []
    for y, w in zip(values, weights, strict=True):
        if y.dtype.kind == "c":
            parts.append((paddle.real(y * paddle.to_tensor(w))).sum())
        else:
            parts.append((y * paddle.to_tensor(w.real.astype(y.dtype.name))).sum())
    return sum(parts[1:], parts[0])


@over(("op", "sample"), cases(takes_complex), by=family)
def test_gradients_and_tangents_are_those_of_differences(op, sample):
    rng = np.random.default_rng(1)
    operands = as_complex(sample)
    wanted = differentiated(op, sample)
    attrs = op.complete_attrs(sample.attrs)
    results = run(op, operands, attrs)
    if not all(np.isfinite(o).all() for o in results):
        return
    chosen = open_results(op, results)
    weights = directions(rng, [results[j] for j in chosen])
    along = directions(rng, [operands[k] for k in wanted])

    def value(step):
        moved = list(operands)
        for k, d in zip(wanted, along, strict=True):
            moved[k] = moved[k] + step * d
        found = run(op, moved, attrs)
        return sum((found[j] * w).real.sum() for j, w in zip(chosen, weights, strict=True))

    def loss(*xs):
        given = list(map(paddle.to_tensor, operands))
        for k, x in zip(wanted, xs, strict=True):
            given[k] = x
        ys = ops[op](*given, **sample.attrs)
        ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
        return total([ys[j] for j in chosen], weights)

    leaves = [paddle.to_tensor(operands[k], stop_gradient=False) for k in wanted]
    found = paddle.grad(loss(*leaves), leaves, allow_unused=True)
    pairs = zip(found, along, strict=True)
    got = sum((np.conj(g.numpy()) * d).real.sum() for g, d in pairs if g is not None)
    want = (value(1e-6) - value(-1e-6)) / 2e-6
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    tangents = list(map(paddle.to_tensor, along))
    pushed = paddle.autograd.jvp(loss, [x.detach() for x in leaves], tangents)[1]
    np.testing.assert_allclose(pushed.numpy(), want, rtol=2e-5, atol=2e-5)


def two_orders_of(op, sample, gradients, operands):
    """Gradients of a real function of all results, quadratic in them, and of a sum of these."""
    wanted = differentiated(op, sample)
    ys = ops[op](*operands, **sample.attrs)
    ys = list(ys) if isinstance(ys, (tuple, list)) else [ys]
    names = ("float32", "float64", "complex64", "complex128")
    ys = [
        y
        for j, y in enumerate(ys)
        if op.output_at(j) not in op.nondiff_outputs and y.dtype.name in names
    ]
    leaves = [operands[k] for k in wanted]
    first = gradients(real_function(ys, 5), leaves)
    there = [g for g in first if g is not None]
    second = gradients(real_function(there, 6), leaves) if there else []
    return [*first, *second]


def real_function(values, seed):
    parts = []
    for k, y in enumerate(values):
        rng = np.random.default_rng((seed, k))
        w = rng.normal(size=y.shape) + 1j * rng.normal(size=y.shape)
        if y.dtype.kind == "c":
            w = paddle.to_tensor(w.astype(y.dtype.name))
            parts.append((paddle.real(y * w) + paddle.real(y) * paddle.imag(y)).sum())
        else:
            parts.append((y * y * paddle.to_tensor(w.real.astype(y.dtype.name)) + y).sum())
    return sum(parts[1:], parts[0])


def eager_gradients(y, xs):
    """Recorded; a plain pass has the same bits."""
    if y.stop_gradient:
        return [None] * len(xs)
    plain = paddle.grad(y, xs, retain_graph=True, allow_unused=True)
    recorded = paddle.grad(y, xs, create_graph=True, allow_unused=True)
    for a, b in zip(plain, recorded, strict=True):
        if b is not None:
            same_bits(a.numpy(), b.numpy())
    return recorded


def in_dtype(operands, dtype):
    return [a.astype(dtype) if a.dtype.kind == "c" else a for a in operands]


def eager_orders_of(op, sample, operands):
    wanted = differentiated(op, sample)
    given = [paddle.to_tensor(a, stop_gradient=k not in wanted) for k, a in enumerate(operands)]
    found = two_orders_of(op, sample, eager_gradients, given)
    return [None if g is None else g.numpy() for g in found]


def program_orders_of(op, sample, operands, *backends):
    """Of one program, run by each of the backends."""
    with paddle.static.program_guard(paddle.static.Program()):
        given = [paddle.static.data(f"x{k}", a.shape, a.dtype) for k, a in enumerate(operands)]
        for k in differentiated(op, sample):
            given[k].stop_gradient = False
        found = two_orders_of(op, sample, paddle.static.gradients, given)
        asked = [g for g in found if g is not None]
        fed = {f"x{k}": a for k, a in enumerate(operands)}
        program = given[0].block.program
        ran = [paddle.static.Executor(backend=b).run(program, fed, asked) for b in backends]
    return [[None if g is None else next(values) for g in found] for values in map(iter, ran)]


@over(("op", "sample"), cases(takes_complex), by=family)
def test_second_order_is_that_of_differences(op, sample):
    operands, wanted = as_complex(sample), differentiated(op, sample)
    if not all(np.isfinite(o).all() for o in run(op, operands, op.complete_attrs(sample.attrs))):
        return
    found = eager_orders_of(op, sample, operands)
    first, second = found[: len(wanted)], found[len(wanted) :]
    along = directions(np.random.default_rng(8), [operands[k] for k in wanted])

    def value(step):
        moved = list(operands)
        for k, d in zip(wanted, along, strict=True):
            moved[k] = moved[k] + step * d
        there = [g for g in eager_orders_of(op, sample, moved)[: len(wanted)] if g is not None]
        return real_function(list(map(paddle.to_tensor, there)), 6).item()

    if any(g is not None for g in first):
        got = sum(
            (np.conj(h) * d).real.sum()
            for h, d in zip(second, along, strict=True)
            if h is not None
        )
        want = (value(1e-6) - value(-1e-6)) / 2e-6
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def of_known_sizes(op, sample):
    return not any(np.asarray(a).dtype == bool for a in sample.operands)


@over("dtype", ["complex64", "complex128"])
@over(
    ("op", "sample"),
    cases(lambda op, s: takes_complex(op, s) and of_known_sizes(op, s)),
    by=family,
)
def test_both_modes_have_the_same_bits_and_c_is_right(op, sample, dtype):
    operands = in_dtype(as_complex(sample), dtype)
    with np.errstate(all="ignore"):
        want = eager_orders_of(op, sample, operands)
        same, native = program_orders_of(op, sample, operands, "numpy", "native")
    tolerance = 1e-3 if dtype == "complex64" else 1e-10
    for a, b, c in zip(want, same, native, strict=True):
        # None where nothing leads there, which programs may only know when they run: zeros.
        if a is None or b is None:
            assert all(v is None or not v.any() for v in (a, b, c))
            continue
        same_bits(b, a)
        assert c.dtype == a.dtype
        np.testing.assert_allclose(c, a, rtol=tolerance, atol=tolerance)


def adjoint(x):
    return paddle.conj(x).transpose([1, 0])


def hermitian(x):
    return x + adjoint(x)


def definite(x):
    return x @ adjoint(x) + paddle.to_tensor(np.eye(x.shape[0]) + 0j)


def projector(vectors, k=0):
    v = vectors[:, k : k + 1]
    return v @ adjoint(v)


def product_of_parts(x):
    u, _, vh = paddle.linalg.svd(x)
    return u[:, :1] @ vh[:1, :]


def transform(name, n, norm):
    return lambda x: getattr(paddle.fft, name)(x, n, 0, norm)


_RNG = np.random.default_rng(0)
SQUARE = _RNG.normal(size=(3, 3)) + 1j * _RNG.normal(size=(3, 3))
TALL = _RNG.normal(size=(4, 2)) + 1j * _RNG.normal(size=(4, 2))
REAL = _RNG.normal(size=(4, 5))
linalg, fft = paddle.linalg, paddle.fft

FUNCTIONS = {
    "inv": (linalg.inv, SQUARE),
    "det": (linalg.det, SQUARE),
    "slogdet": (linalg.slogdet, SQUARE),
    "solve": (lambda x: linalg.solve(x, x @ x + 1.0), SQUARE),
    "pinv": (linalg.pinv, TALL),
    "lstsq": (lambda x: linalg.lstsq(x, paddle.to_tensor(TALL[:, :1] * 1j))[0], TALL[:, 1:]),
    "cholesky": (lambda x: linalg.cholesky(definite(x)), SQUARE),
    "cholesky, upper": (lambda x: linalg.cholesky(definite(x), upper=True), SQUARE),
    "qr": (lambda x: linalg.qr(x)[0] + linalg.qr(x)[1].sum(), TALL),
    "svd, values": (lambda x: linalg.svd(x)[1], SQUARE),
    "svd, left": (lambda x: projector(linalg.svd(x)[0]), TALL),
    "svd, right": (lambda x: projector(adjoint(linalg.svd(x)[2])), SQUARE),
    "svd, both": (product_of_parts, TALL),
    "svd, both of a wide matrix": (product_of_parts, TALL.T.copy()),
    "eigh": (lambda x: projector(linalg.eigh(hermitian(x))[1], 1), SQUARE),
    "eigvalsh": (lambda x: linalg.eigvalsh(hermitian(x)), SQUARE),
    "eigvals": (linalg.eigvals, SQUARE),
    "eigvals of real matrices": (linalg.eigvals, REAL[:, :4].copy()),
    "eig": (lambda x: projector(linalg.eig(x)[1]), SQUARE),
    "matmul": (lambda x: x @ paddle.conj(x), SQUARE),
    "einsum": (lambda x: paddle.einsum("ij,kj->ik", x, paddle.conj(x)), SQUARE),
    "norm": (linalg.norm, SQUARE),
    "norm of order 3": (lambda x: linalg.norm(x, p=3, axis=1), SQUARE),
    "nuclear norm": (lambda x: linalg.norm(x, p="nuc"), SQUARE),
    "cov": (linalg.cov, SQUARE),
    "cov, weighted": (
        lambda x: linalg.cov(x, fweights=paddle.to_tensor([1, 2, 1]), aweights=paddle.ones([3])),
        SQUARE,
    ),
    "corrcoef": (linalg.corrcoef, SQUARE),
    "sgn": (paddle.sgn, SQUARE),
    "angle": (paddle.angle, SQUARE),
    "as_real": (paddle.as_real, SQUARE),
    "as_complex": (paddle.as_complex, REAL[:, :2].copy()),
    "polar": (lambda x: paddle.polar(x, x * 2.0), REAL),
    "a real operand beside": (lambda x: x * 1j + x ** (0.5 + 1j), np.abs(REAL)),
    "written": (lambda x: paddle.scatter(x * 1j, paddle.to_tensor([1]), x[:1] + 0j), REAL),
    "stft": (lambda x: paddle.signal.stft(x.reshape([20]), 8, 4), REAL),
    **{
        f"{name} {n} {norm}": (transform(name, n, norm), x)
        for name, x in (
            *((name, SQUARE) for name in ("fft", "ifft", "hfft", "irfft")),
            *((name, REAL) for name in ("fft", "rfft", "ihfft", "irfft")),
        )
        for n, norm in ((None, "backward"), (2, "ortho"), (7, "forward"))
    },
    **{
        name: (getattr(fft, name), x)
        for name, x in (
            *((name, SQUARE) for name in ("fft2", "ifft2", "hfft2", "irfft2", "fftn", "irfftn")),
            *((name, REAL) for name in ("rfft2", "ihfft2", "rfftn")),
        )
    },
}  # fmt: skip


def real_loss(y):
    rng = np.random.default_rng(2)
    w = rng.normal(size=y.shape) + 1j * rng.normal(size=y.shape)
    if y.dtype.kind != "c":
        return (y * y * paddle.to_tensor(w.real) + y).sum()
    return paddle.real(y * paddle.to_tensor(w)).sum() + (paddle.real(y) * paddle.imag(y)).sum()


def moved_along(g, d):
    if g.dtype.kind != "c":
        return (g * paddle.to_tensor(d.real)).sum()
    return paddle.real(paddle.conj(g) * paddle.to_tensor(d)).sum()


def test_functions_to_second_order():
    wrong = []
    for name, (function, at) in FUNCTIONS.items():
        rng = np.random.default_rng(3)
        one, two = directions(rng, [at, at])
        if at.dtype.kind != "c":
            one, two = one.real, two.real

        def value(x, function=function):
            return real_loss(function(x))

        def first(array, value=value, one=one):
            x = paddle.to_tensor(array, stop_gradient=False)
            (g,) = paddle.grad(value(x), x, create_graph=True)
            assert g.dtype == x.dtype
            return x, moved_along(g, one)

        def difference(f, at=at):
            h = 1e-5
            return lambda d: (f(at + h * d) - f(at - h * d)) / (2 * h)

        x, along = first(at)
        want = difference(lambda a, value=value: float(value(paddle.to_tensor(a))))(one)
        if not np.isclose(float(along), want, rtol=1e-5, atol=1e-6):
            wrong.append((name, 1, float(along), want))
        if not along.stop_gradient:
            (h,) = paddle.grad(along, x, allow_unused=True)
            second = 0.0 if h is None else float(moved_along(h, two))
            want = difference(lambda a, first=first: float(first(a)[1]))(two)
            if not np.isclose(second, want, rtol=1e-4, atol=1e-5):
                wrong.append((name, 2, second, want))
    assert not wrong


POINT = np.array([1 + 2j, 0.3 - 1j])
BESIDE = np.array([0.5, 2.0])


def spectrum(z, x):
    kept = paddle.real((paddle.exp(z) * x + paddle.abs(z) * paddle.conj(z)).sum())
    return kept + paddle.abs(paddle.fft.fft(z)).sum()


def two_orders(gradients, z, x):
    a, b = gradients(spectrum(z, x), [z, x])
    c, d = gradients((paddle.abs(a) ** 2).sum() + (b * b).sum(), [z, x])
    return [a, b, c, d]


def eager_orders():
    z, x = (paddle.to_tensor(v, stop_gradient=False) for v in (POINT, BESIDE))
    found = two_orders(lambda y, xs: paddle.grad(y, xs, create_graph=True), z, x)
    return [g.numpy() for g in found]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_programs_have_the_bits_of_eager_mode(dtype):
    real = "float32" if dtype == "complex64" else "float64"
    point, beside = POINT.astype(dtype), BESIDE.astype(real)
    z, x = (paddle.to_tensor(v, stop_gradient=False) for v in (point, beside))
    want = two_orders(lambda y, xs: paddle.grad(y, xs, create_graph=True), z, x)
    with paddle.static.program_guard(paddle.static.Program()):
        vz = paddle.static.data("z", [None], dtype)
        vx = paddle.static.data("x", [None], real)
        vz.stop_gradient = vx.stop_gradient = False
        found = two_orders(paddle.static.gradients, vz, vx)
        tangent = paddle.static.forward_grad(spectrum(vz, vx), vz)
        fed = {"z": point, "x": beside}
        run = paddle.static.Executor().run(vz.block.program, fed, [*found, "z@GRAD", tangent])
    for got, g in zip(run, [*want, want[0]], strict=False):
        assert got.dtype == g.numpy().dtype
        np.testing.assert_array_equal(got, g.numpy())
    np.testing.assert_allclose(run[-1], want[0].numpy().real.sum(), rtol=1e-5)


def test_traced_functions():
    want = eager_orders()
    traced = paddle.jit.to_static(spectrum)
    z, x = (paddle.to_tensor(v, stop_gradient=False) for v in (POINT, BESIDE))
    traced(z, x).backward()
    np.testing.assert_array_equal(z.grad.numpy(), want[0])
    np.testing.assert_array_equal(x.grad.numpy(), want[1])


def test_what_users_write_sees_gradients_as_users_do():
    class Square(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensor()
            return g * 2.0 * paddle.conj(a)

    z = paddle.to_tensor(POINT, stop_gradient=False)
    y = Square.apply(z)
    seen = []
    y.register_hook(lambda g: seen.append(g.numpy()))
    y.retain_grads()
    y.backward(paddle.to_tensor([1j, 1j]))
    np.testing.assert_array_equal(seen[0], [1j, 1j])
    np.testing.assert_array_equal(y.grad.numpy(), [1j, 1j])
    np.testing.assert_allclose(z.grad.numpy(), 1j * np.conj(2 * POINT))


def test_a_hook_in_a_program_sees_the_gradient_of_users():
    with paddle.static.program_guard(paddle.static.Program()):
        z = paddle.static.data("z", [2], "complex128")
        z.stop_gradient = False
        y = z * z
        y.register_hook(lambda g: g * 1j)
        (g,) = paddle.static.gradients(paddle.real(y).sum(), z)
        (got,) = paddle.static.Executor().run(z.block.program, {"z": POINT}, [g])
    np.testing.assert_allclose(got, 1j * np.conj(2 * POINT))


ELEMENTWISE = sorted(
    name
    for name, op in REGISTRY.items()
    if op.elementwise
    and "c" in op.takes
    and len(op.inputs) <= 2
    and not op.attrs
    and all(op.rule_at(k) for k in range(len(op.inputs)))
)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_large_arrays_have_the_gradients_of_their_parts(name):
    """Bit for bit: so large ones may be fused, computed in C, or written over."""
    rng = np.random.default_rng(4)
    n, op = 1 << 15, REGISTRY[name]
    *operands, g = directions(rng, [np.empty(n)] * (len(op.inputs) + 1))

    def gradients(part):
        xs = [paddle.to_tensor(x[part].copy(), stop_gradient=False) for x in operands]
        y = ops[op](*xs)
        y.backward(paddle.to_tensor(g[part] if y.dtype.kind == "c" else g[part].real.copy()))
        return [y.numpy(), *(x.grad.numpy() for x in xs)]

    parts = [gradients(slice(k, k + 2048)) for k in range(0, n, 2048)]
    for whole, *of_parts in zip(gradients(slice(n)), *parts, strict=True):
        np.testing.assert_array_equal(whole, np.concatenate(of_parts))


def test_an_angle_in_a_file_has_its_gradient():
    with paddle.static.program_guard(paddle.static.Program()):
        z = paddle.static.data("z", [2], "complex128")
        z.stop_gradient = False
        name = paddle.angle(z).name
        text = z.block.program.to_string()
    program = paddle.static.Program.parse_from_string(text)
    with paddle.static.program_guard(program):
        block = program.global_block()
        found = paddle.static.gradients(block.var(name).sum(), block.var("z"))
        (got,) = paddle.static.Executor().run(program, {"z": POINT}, found)
    np.testing.assert_allclose(got, 1j * POINT / np.abs(POINT) ** 2)


def test_gradients_at_0():
    z = paddle.to_tensor([0j, 3 + 4j], stop_gradient=False)
    for function in (paddle.abs, paddle.angle, lambda v: paddle.real(paddle.sgn(v))):
        z.clear_grad()
        function(z).sum().backward()
        assert function(z).numpy()[0] == z.grad.numpy()[0] == 0.0
        with paddle.static.program_guard(paddle.static.Program()):
            v = paddle.static.data("z", [2], z.dtype)
            v.stop_gradient = False
            made = [function(v), *paddle.static.gradients(function(v).sum(), v)]
            for found in paddle.static.Executor().run(feed={"z": z.numpy()}, fetch_list=made):
                assert found[0] == 0.0


def test_descent_finds_the_least():
    target = paddle.to_tensor([1 - 2j, 0.5 + 3j])
    z = paddle.to_tensor([0j, 0j], stop_gradient=False)
    for _ in range(60):
        loss = (paddle.abs(z - target) ** 2).sum()
        (g,) = paddle.grad(loss, z)
        z = (z - 0.2 * g).detach()
        z.stop_gradient = False
    np.testing.assert_allclose(z.numpy(), target.numpy(), rtol=1e-5)


def test_a_complex_loss_needs_a_cotangent():
    z = paddle.to_tensor(POINT, stop_gradient=False)
    with pytest.raises(DTypeError, match=r"loss\.abs\(\).*loss\.backward\(grad\)"):
        (z * z).sum().backward()
    with pytest.raises(DTypeError, match=r"loss\.abs\(\)"):
        paddle.grad(z * z, z)
    with pytest.raises(DTypeError, match=r"loss\.abs\(\)"):
        paddle.jit.to_static(lambda v: (v * v).sum())(z).backward()

    @paddle.jit.to_static
    def step(v):
        loss = (v * v).sum()
        loss.backward()
        return loss

    with pytest.raises(DTypeError, match=r"paddle\.abs or paddle\.real"):
        step(z)
    with pytest.raises(DTypeError, match=r"backward: .*complex128 .*use paddle\.real"):
        paddle.abs(z).backward(z)
    with paddle.static.program_guard(paddle.static.Program()):
        v = paddle.static.data("z", [2], "complex64")
        v.stop_gradient = False
        with pytest.raises(DTypeError, match=r"paddle\.abs or paddle\.real"):
            paddle.static.append_backward((v * v).sum())
        with pytest.raises(DTypeError, match="target_gradients"):
            paddle.static.gradients(v * v, v)


@pytest.mark.parametrize(
    "function",
    [
        lambda z: z.max(),
        lambda z: z.sort(),
        lambda z: z < 1.0,
        paddle.nn.functional.relu,
    ],
)
def test_no_order_among_complex_values(function):
    with pytest.raises(DTypeError, match=r"paddle\.(real|abs)"):
        function(paddle.to_tensor(POINT, stop_gradient=False))


def test_a_comparison_with_a_complex_number_answers():
    t = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    assert (t == 1j).tolist() == [False, False]
    assert (t != np.complex64(2.0)).tolist() == [True, False]
    ((t == 2 + 0j).astype("float32") + t).sum().backward()
    assert t.grad.tolist() == [1.0, 1.0]


# What docs/nondifferentiable says: where each function is cut, and across which direction.
CUTS = [
    *[(name, -2.0, 1j) for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")],
    *[(name, x, 1j) for name in ("asin", "acos", "atanh") for x in (2.0, -2.0)],
    *[("acosh", x, 1j) for x in (0.5, -0.5, -2.0)],
    *[(name, y, 1.0) for name in ("atan", "asinh") for y in (2j, -2j)],
]


@pytest.mark.parametrize(("name", "where", "across"), CUTS)
def test_on_a_branch_cut_the_derivative_is_that_of_the_side_of_the_value(name, where, across):
    """The side is that of the sign of the zero, as the value's is."""
    function = getattr(paddle, name)
    for side in (1.0, -1.0):
        zero = np.copysign(0.0, side)
        point = complex(where.real, zero) if across == 1j else complex(zero, where.imag)
        z = paddle.to_tensor(np.array([point]), stop_gradient=False)
        y = function(z)
        step = side * across * 1e-6
        moved = function(paddle.to_tensor(np.array([point + step])))
        want = (moved.numpy() - y.numpy()) / step
        (g,) = paddle.grad(y, z, paddle.ones_like(y))
        np.testing.assert_allclose(g.numpy(), np.conj(want), rtol=1e-5)
        other = function(paddle.to_tensor(np.array([point - step])))
        assert abs(other.numpy() - y.numpy()) > 1e-2  # it is a cut
