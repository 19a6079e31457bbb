"""Linear algebra and transforms beyond their cases: bad input, singular matrices, dtypes, order."""

import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import (
    ArgumentError,
    DTypeError,
    ShapeError,
)
from tests.registry.families.decomposition import symmetric
from tests.registry.sampling import matrix

L, FT = paddle.linalg, paddle.fft
ONES = np.ones((2, 2))


def tensor(values, *, traced=False):
    return paddle.to_tensor(np.asarray(values), stop_gradient=not traced)


def gradient(function, *values):
    xs = [tensor(v, traced=True) for v in values]
    return [g.numpy() for g in paddle.grad(function(*xs).sum(), xs)]


# --- singular and indefinite matrices

SINGULAR = {
    "inv": lambda x: L.inv(x),
    "solve": lambda x: L.solve(x, tensor(ONES)),
    "triangular_solve": lambda x: L.triangular_solve(x * 0.0, tensor(ONES)),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_a_singular_matrix_is_named(name):
    with pytest.raises(ArgumentError, match=rf"{name}: the matrix .*singular"):
        SINGULAR[name](tensor(ONES))
    batch = np.stack([[np.eye(2), np.eye(2)], [np.eye(2), ONES]])
    if name != "triangular_solve":
        with pytest.raises(
            ArgumentError, match=rf"{name}: matrix \[1, 1\] of the batch is singular"
        ):
            SINGULAR[name](tensor(batch))


def test_a_matrix_that_is_not_positive_definite_is_named():
    batch = np.stack([np.eye(2), -np.eye(2)])
    with pytest.raises(ArgumentError, match=r"cholesky: matrix \[1\] .* not positive definite"):
        L.cholesky(tensor(batch))


def test_a_singular_matrix_in_a_program():
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        out = L.inv(paddle.static.data("x", [2, 2], "float64"))
    with pytest.raises(Exception, match="inv: the matrix is singular"):
        paddle.static.Executor().run(program, {"x": ONES}, [out])


def minors(x):
    out = np.zeros(x.shape)
    for i, j in np.ndindex(x.shape):
        out[i, j] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1))
    return out


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_the_gradient_of_det_is_the_cofactors_whatever_the_rank(rank):
    x = matrix(3, 3)
    u, s, vh = np.linalg.svd(x)
    x = (u * np.where(np.arange(3) < rank, s, 0.0)) @ vh
    (g,) = gradient(L.det, np.stack([x, np.eye(3)]))
    np.testing.assert_allclose(g, [minors(x), np.eye(3)], atol=1e-14)


def test_the_second_derivative_of_det_at_rank_1():
    """det(x + s a + t b) is a polynomial: differences of step 1 give its mixed derivative."""
    x, a, b = np.outer([1.0, 2.0, -1.0], [0.5, 1.0, 2.0]), matrix(3, 3), matrix(3, 3)
    v = tensor(x, traced=True)
    (g,) = paddle.grad(L.det(v), v, create_graph=True)
    (h,) = paddle.grad((g * a).sum(), v)

    def mixed(step):
        return sum(
            p * q * np.linalg.det(x + step * (p * a + q * b)) for p in (1, -1) for q in (1, -1)
        ) / (4.0 * step * step)

    expected = (4.0 * mixed(0.5) - mixed(1.0)) / 3.0
    assert (h.numpy() * b).sum() == pytest.approx(expected, rel=1e-11)


def test_slogdet_of_a_singular_matrix():
    out = L.slogdet(tensor(ONES))
    assert out.tolist() == [0.0, -math.inf]
    with pytest.raises(ArgumentError, match="inv: the matrix is singular"):
        gradient(L.slogdet, ONES)


# --- equal values


def test_values_that_are_equal_have_a_gradient():
    """The nuclear norm of the identity has the gradient I; the vectors are not asked for."""
    (g,) = gradient(L.svdvals, np.eye(3))
    np.testing.assert_allclose(g, np.eye(3), atol=1e-15)
    (g,) = gradient(L.eigvalsh, np.eye(3))
    np.testing.assert_allclose(g, np.eye(3), atol=1e-15)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_vectors_of_equal_values_have_none():
    (g,) = gradient(lambda x: L.eigh(x)[1][0], np.eye(2))
    assert not np.isfinite(g).all()
    (g,) = gradient(lambda x: L.svd(x)[0][0], np.eye(2))
    assert not np.isfinite(g).all()


def test_a_square_matrix_with_one_singular_value_of_0():
    """Nothing is divided by a singular value where U is square."""
    x = np.diag([2.0, 1.0, 0.0])
    (g,) = gradient(lambda v: paddle.square(L.svd(v)[0]) * paddle.arange(3, dtype="float64"), x)
    assert np.isfinite(g).all()


# --- which triangle is read


def test_one_triangle_is_read_and_both_get_a_gradient():
    x = np.asarray([[4.0, 100.0], [2.0, 9.0]])
    np.testing.assert_allclose(
        L.cholesky(tensor(x)).numpy(), [[2.0, 0.0], [1.0, math.sqrt(8.0)]], rtol=1e-15
    )
    upper = L.eigvalsh(tensor([[1.0, 5.0], [2.0, 3.0]]), UPLO="U").numpy()
    np.testing.assert_allclose(upper, np.linalg.eigvalsh([[1.0, 5.0], [5.0, 3.0]]), rtol=1e-14)
    for function in (L.cholesky, lambda v: L.eigh(v)[0] * tensor([1.0, 2.0])):
        (g,) = gradient(function, symmetric(2, 2))
        assert g[0, 1] == pytest.approx(g[1, 0], rel=1e-12)
        assert g[0, 1] != 0.0


# --- no rows, no columns, nothing in the batch


@pytest.mark.parametrize("shape", [(0, 0), (0, 3, 3), (2, 0, 0), (1, 1)])
def test_matrices_of_any_size(shape):
    x = np.zeros(shape) + np.eye(shape[-1])
    batch = shape[:-2]
    for name in ("inv", "det", "cholesky", "matrix_exp", "svdvals", "eigvalsh", "pinv", "slogdet"):
        v = tensor(x, traced=True)
        out = getattr(L, name)(v)
        (g,) = paddle.grad(out.sum(), v)
        assert g.numpy().shape == shape
    assert L.det(tensor(x)).numpy().tolist() == np.ones(batch).tolist()
    for function in (L.qr, L.svd, L.eigh, L.lu, L.eig):
        assert function(tensor(x))[0].numpy().shape[: len(batch)] == batch


def test_products_over_nothing():
    assert paddle.einsum("ij,jk->ik", paddle.ones([2, 0]), paddle.ones([0, 3])).sum().item() == 0.0
    assert paddle.tensordot(paddle.ones([2, 0]), paddle.ones([0, 3]), 1).numpy().shape == (2, 3)
    assert paddle.dot(paddle.ones([0]), paddle.ones([0])).item() == 0.0
    assert paddle.kron(paddle.ones([0, 2]), paddle.ones([2, 2])).numpy().shape == (0, 4)


# --- accuracy far from 1


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_at_all_scales(scale, dtype):
    x = (matrix(3, 3) * scale).astype(dtype)
    unit = float(np.finfo(dtype).eps)
    wide = x.astype(np.float64)
    inverse = np.linalg.inv(wide)
    np.testing.assert_allclose(L.inv(tensor(x)).numpy(), inverse, atol=50 * unit / scale)
    (g,) = gradient(L.det, x)
    np.testing.assert_allclose(g, np.linalg.det(wide) * inverse.T, atol=100 * unit * scale * scale)
    u, s, vh = L.svd(tensor(x))
    assert s.numpy().dtype == dtype
    np.testing.assert_allclose(((u * s.unsqueeze(0)) @ vh).numpy(), x, atol=50 * unit * scale)


def test_matrix_exp_of_large_and_small_matrices():
    for scale in (1e-8, 1.0, 300.0):
        turn = scale * np.asarray([[0.0, -1.0], [1.0, 0.0]])
        expected = [[math.cos(scale), -math.sin(scale)], [math.sin(scale), math.cos(scale)]]
        np.testing.assert_allclose(L.matrix_exp(tensor(turn)).numpy(), expected, atol=1e-12)
    assert not np.isfinite(L.matrix_exp(tensor([[1e5]])).numpy()).any()


def test_integers_and_half_precision():
    whole = tensor([[2, 0], [0, 4]])
    assert L.inv(whole).numpy().dtype == np.float32
    assert paddle.einsum("ij,jk", whole, whole).tolist() == [[4, 0], [0, 16]]
    assert paddle.mm(whole, whole).numpy().dtype == np.int64
    half = tensor(np.eye(2, dtype=np.float16) * 2.0)
    for value in (L.inv(half), L.det(half), L.svd(half)[1], FT.rfft_parts(half)[0]):
        assert value.numpy().dtype == np.float16
    assert FT.rfft(half).numpy().dtype == np.complex64
    assert L.det(half).item() == 4.0


# --- einsum

EQUATIONS = {
    "ij,jk->ik": (ArgumentError, "names 2 operands, 1 were given"),
    "ij->ik": (ArgumentError, "'k' of the result of 'ij->ik' is no operand's"),
    "ij->ii": (ArgumentError, "'i' occurs twice in the result"),
    "i1->i": (ArgumentError, "axes are named by letters"),
    "ijk": (ShapeError, "names 3 axes, its operand has 2"),
    "i": (ShapeError, "names 1 axes, its operand has 2"),
    "ii": (ShapeError, "axis 'i' of 'ii' has size 3 in \\[2, 3\\] and 2 elsewhere"),
    "......ij": (ArgumentError, "and by one '...'"),
    "ij->...i...": (ArgumentError, "more than one '...'"),
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_equations_that_say_nothing(equation):
    kind, hint = EQUATIONS[equation]
    with pytest.raises(kind, match=hint):
        paddle.einsum(equation, paddle.ones([2, 3]))


def test_einsum_gives_large_products_to_blas():
    """One operation of matmul, and nothing as large as all indices together."""
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [None, 8, None, 4], "float32")
        y = paddle.static.data("y", [None, 8, 5, 4], "float32")
        out = paddle.einsum("bhqd,bhkd->bhqk", x, y)
    kinds = [operator.type for operator in program.global_block().ops]
    assert kinds.count("matmul") == 1
    assert "multiply" not in kinds
    assert out.shape[1] == 8
    a, b = np.ones((3, 8, 2, 4), np.float32), np.ones((3, 8, 5, 4), np.float32)
    (value,) = paddle.static.Executor().run(program, {"x": a, "y": b}, [out])
    np.testing.assert_array_equal(value, np.full((3, 8, 2, 5), 4.0))


def test_multi_dot_takes_the_cheap_order():
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        xs = [
            paddle.static.data(f"x{k}", s, "float32")
            for k, s in enumerate([(50, 2), (2, 60), (60, 1)])
        ]
        L.multi_dot(xs)
    first = next(o for o in program.global_block().ops if o.type == "matmul")
    assert [r.var.name for r in first.operands] == ["x1", "x2"]


# --- complex values


def test_complex_matrices_are_computed():
    x = tensor(np.asarray([[2.0, 1j], [-1j, 3.0]]))
    np.testing.assert_allclose((L.inv(x) @ x).numpy(), np.eye(2), atol=1e-15)
    np.testing.assert_allclose(L.eigvalsh(x).numpy(), np.linalg.eigvalsh(x.numpy()), rtol=1e-14)
    low = L.cholesky(x).numpy()
    np.testing.assert_allclose(low @ low.conj().T, x.numpy(), atol=1e-15)


# --- bad input

VECTOR, SQUARE, WIDE = np.ones(3), np.eye(3), np.ones((2, 3))
REFUSED = [
    (lambda: L.det(tensor(VECTOR)), ShapeError, "det: x must hold matrices"),
    (lambda: L.inv(tensor(WIDE)), ShapeError, "inv: x must hold square matrices"),
    (lambda: L.solve(tensor(SQUARE), tensor(ONES)), ShapeError, "solve: .*number of rows"),
    (lambda: L.solve(tensor(SQUARE), tensor(VECTOR), left=False), ShapeError, "left=False"),
    (lambda: L.qr(tensor(SQUARE), mode="full"), ArgumentError, "qr: mode must be"),
    (lambda: L.eigh(tensor(SQUARE), UPLO="X"), ArgumentError, "UPLO must be 'L' or 'U'"),
    (lambda: L.lu(tensor(SQUARE), pivot=False), ArgumentError, "pivot=True"),
    (lambda: L.cond(tensor(SQUARE), p=3), ArgumentError, "cond: p must be"),
    (lambda: L.matrix_power(tensor(SQUARE), 0.5), TypeError, "n must be an int"),
    (lambda: L.lstsq(tensor(SQUARE), tensor(SQUARE), driver="x"), ArgumentError, "driver"),
    (lambda: L.lstsq(tensor(SQUARE), tensor(ONES)), ShapeError, "as many rows"),
    (lambda: L.multi_dot([tensor(SQUARE)]), ArgumentError, "two matrices or more"),
    (lambda: L.matrix_rank(tensor(SQUARE), tol=1.0, atol=1.0), ArgumentError, "not both"),
    (lambda: L.householder_product(tensor(WIDE), tensor(ONES[0])), ShapeError, "more columns"),
    (lambda: paddle.mv(tensor(VECTOR), tensor(VECTOR)), ShapeError, "mv: x must have 2"),
    (lambda: paddle.bmm(paddle.ones([2, 1, 1]), paddle.ones([3, 1, 1])), ShapeError, "batches"),
    (lambda: paddle.dot(tensor(VECTOR), tensor(ONES[0])), ShapeError, "dot: .*one shape"),
    (lambda: paddle.cross(tensor(ONES), tensor(ONES)), ShapeError, "no axis of size 3"),
    (lambda: paddle.cross(tensor(WIDE), tensor(WIDE), axis=0), ShapeError, "vectors have 3"),
    (lambda: paddle.tensordot(tensor(ONES), tensor(ONES), 3), ArgumentError, "axes must be 0 to 2"),
    (lambda: paddle.tensordot(tensor(WIDE), tensor(WIDE), 1), ShapeError, "must be equal"),
    (lambda: paddle.matrix_transpose(tensor(VECTOR)), ShapeError, "two dimensions"),
    (lambda: FT.rfft(tensor(VECTOR), norm="x"), ArgumentError, "rfft: norm must be"),
    (lambda: FT.rfft(tensor(VECTOR), n=0), ArgumentError, "n must be 1 or more"),
    (lambda: FT.rfft(tensor(VECTOR * 1j)), DTypeError, "takes real values"),
    (lambda: FT.fftn(tensor(WIDE), s=[1], axes=[0, 1]), ArgumentError, "1 sizes for 2 axes"),
    (lambda: FT.fft_parts(tensor(VECTOR), tensor(WIDE)), ShapeError, "must be equal"),
    (lambda: FT.rfft_parts(paddle.ones([])), ShapeError, "0-d array"),
    (lambda: paddle.real(tensor(VECTOR)), DTypeError, "takes complex values"),
    (lambda: paddle.as_complex(tensor(VECTOR)), ShapeError, "have size 2"),
]


@pytest.mark.parametrize(("call", "kind", "hint"), REFUSED)
def test_refused(call, kind, hint):
    with pytest.raises(kind, match=hint):
        call()


def test_sizes_that_programs_must_know():
    program = paddle.static.Program()
    with paddle.static.program_guard(program):
        x = paddle.static.data("x", [None, 3], "float32")
        for call in (
            lambda: L.lstsq(x, x),
            lambda: L.matrix_rank(x),
            lambda: FT.rfft_parts(x, n=4, axis=0),
            lambda: FT.irfft_parts(x, axis=0),
            lambda: FT.fftshift(x),
        ):
            with pytest.raises(ShapeError, match="known"):
                call()
        q, _ = L.qr(x)
    with pytest.raises(Exception, match=r"qr: .*declare the sizes in static\.data"):
        paddle.static.Executor().run(program, {"x": np.ones((2, 3), np.float32)}, [q])
