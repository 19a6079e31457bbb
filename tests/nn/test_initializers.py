"""How parameters start out: values, moments, errors, and the same values in both modes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DTypeError, NotATensorError, ShapeError
from autograd_engine.nn import initializer as I  # noqa: N812 - as users import it

SHAPE = (6, 3, 5, 5)
EVERY: dict[str, Callable[[], I.Initializer]] = {
    "Assign": lambda: I.Assign(np.arange(450.0).reshape(SHAPE)),
    "Bilinear": I.Bilinear,
    "Constant": lambda: I.Constant(1.5),
    "Dirac": lambda: I.Dirac(2),
    "KaimingNormal": I.KaimingNormal,
    "KaimingUniform": lambda: I.KaimingUniform(nonlinearity="leaky_relu", negative_slope=0.2),
    "Normal": lambda: I.Normal(1.0, 2.0),
    "Orthogonal": lambda: I.Orthogonal(0.5),
    "TruncatedNormal": lambda: I.TruncatedNormal(0.5, 2.0, -1.0, 3.0),
    "Uniform": lambda: I.Uniform(-3.0, -1.0),
    "XavierNormal": lambda: I.XavierNormal(gain=2.0),
    "XavierUniform": lambda: I.XavierUniform(fan_in=10, fan_out=3.5),
}


@pytest.fixture(autouse=True)
def no_global_initializer() -> Iterator[None]:
    yield
    I.set_global_initializer(None)


def values(initializer: I.Initializer, shape: Any = SHAPE, dtype: str = "float64") -> Any:
    return paddle.create_parameter(shape, dtype, default_initializer=initializer).numpy()


def test_every_initializer_is_tried() -> None:
    classes = {name for name in I.__all__ if isinstance(getattr(I, name), type)}
    assert classes == {*EVERY, "Initializer"}


# --- in both modes


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", EVERY)
def test_a_startup_program_makes_the_values_of_eager_mode(name: str, dtype: str) -> None:
    paddle.seed(11)
    eager = [values(EVERY[name](), dtype=dtype) for _ in range(2)]
    paddle.seed(11)
    startup = paddle.static.Program()
    with paddle.static.program_guard(paddle.static.Program(), startup):
        made = [
            paddle.create_parameter(SHAPE, dtype, default_initializer=EVERY[name]())
            for _ in range(2)
        ]
    paddle.static.Executor().run(startup)
    for var, expected in zip(made, eager, strict=True):
        found = np.asarray(paddle.static.global_scope().find_var(var.name).get_tensor())
        assert found.dtype == expected.dtype == np.dtype(dtype)
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", EVERY)
def test_a_call_fills_a_tensor_in_place(name: str) -> None:
    weight = paddle.create_parameter(SHAPE, default_initializer=I.Constant(9.0))
    same = weight
    paddle.seed(3)
    assert EVERY[name]()(weight) is None
    paddle.seed(3)
    assert same is weight
    assert not weight.stop_gradient
    assert weight.is_leaf
    assert weight.numpy().tobytes() == values(EVERY[name](), dtype="float32").tobytes()


def test_a_call_fills_a_parameter_of_a_program() -> None:
    paddle.seed(4)
    first, second = values(I.Normal(), [3]), values(I.Uniform(), [3])
    paddle.seed(4)
    startup = paddle.static.Program()
    with paddle.static.program_guard(paddle.static.Program(), startup):
        var = paddle.create_parameter([3], "float64", default_initializer=I.Normal())
        I.Uniform()(var)
    paddle.static.Executor().run(startup)
    found = np.asarray(paddle.static.global_scope().find_var(var.name).get_tensor())
    assert not np.array_equal(first, second)
    assert found.tobytes() == second.tobytes()  # behind what was drawn first


def test_a_call_takes_the_block_of_another_startup_program() -> None:
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        var = paddle.create_parameter([2], "float32")
        I.Constant(4.0)(var, startup.global_block())
        with pytest.raises(TypeError, match="block of a program, got int"):
            I.Constant(4.0)(var, 3)
        with pytest.raises(ArgumentError, match="param must be a parameter"):
            I.Constant(4.0)(var * 2.0)
    paddle.static.Executor().run(startup)
    assert np.asarray(paddle.static.global_scope().find_var(var.name).get_tensor()).tolist() == [
        4,
        4,
    ]


def test_a_call_inside_a_traced_function_draws_in_every_call() -> None:
    weight = paddle.create_parameter([4], "float32")

    @paddle.jit.to_static
    def again(x: Any) -> Any:
        I.Normal()(weight)
        return x + 1.0

    paddle.seed(5)
    expected = [values(I.Normal(), [4], "float32") for _ in range(2)]
    paddle.seed(5)
    for want in expected:
        again(paddle.ones([1]))
        assert weight.numpy().tobytes() == want.tobytes()


def test_the_values_of_assign_are_its_own() -> None:
    given = np.ones(2)
    initializer = I.Assign(given)
    given[:] = 5.0
    weight = paddle.create_parameter([2], "float64", default_initializer=initializer)
    with paddle.no_grad():
        weight.add_(paddle.ones([2], "float64"))
    assert values(initializer, [2]).tolist() == [1.0, 1.0]
    assert weight.tolist() == [2.0, 2.0]


# --- values


def test_a_list_is_rounded_once() -> None:
    assert values(I.Assign([0.1]), [1]).item() == 0.1
    assert values(I.Assign([[1, 2], [3, 4]]), [2, 2], "float32").tolist() == [[1, 2], [3, 4]]
    assert values(I.Assign(paddle.to_tensor([0.5])), [1]).tolist() == [0.5]
    whole = paddle.zeros([2], "int64")
    I.Assign([2**60 + 1, -1])(whole)
    assert whole.tolist() == [2**60 + 1, -1]


def test_constants() -> None:
    assert values(I.Constant(), [2]).tolist() == [0.0, 0.0]
    assert values(I.Constant(np.float32(0.5)), []).item() == 0.5
    counts = paddle.ones([2], "int32")
    I.Constant(7)(counts)
    assert counts.tolist() == [7, 7]


# Of each: mean, standard deviation, lowest and highest value. Filters [6, 3, 5, 5] have 75 inputs
# and 150 outputs, a weight [60, 50] has 60 and 50.
def _uniform(limit: float) -> tuple[float, ...]:
    return 0.0, limit / 3**0.5, -limit, limit


MOMENTS: list[tuple[I.Initializer, tuple[int, ...], tuple[float, ...]]] = [
    (I.Uniform(), (3000,), _uniform(1.0)),
    (I.Uniform(-4.0, 2.0), (3000,), (-1.0, 3**0.5, -4.0, 2.0)),
    (I.Normal(), (3000,), (0.0, 1.0, -6.0, 6.0)),
    (I.Normal(3.0, 0.5), (3000,), (3.0, 0.5, 0.0, 6.0)),
    (I.XavierUniform(), (60, 50), _uniform((6 / 110) ** 0.5)),
    (I.XavierUniform(gain=3.0), (60, 50), _uniform(3.0 * (6 / 110) ** 0.5)),
    (I.XavierUniform(fan_in=20, fan_out=4), (60, 50), _uniform(0.5)),
    (I.XavierUniform(fan_in=46), (60, 50), _uniform(0.25)),
    (I.XavierUniform(), (3000,), _uniform((6 / 6000) ** 0.5)),
    (I.XavierNormal(), (60, 50), (0.0, (2 / 110) ** 0.5, -1.0, 1.0)),
    (I.XavierNormal(), SHAPE, (0.0, (2 / 225) ** 0.5, -0.6, 0.6)),
    (I.XavierNormal(fan_out=12, gain=2.0), (60, 50), (0.0, 2 * (2 / 72) ** 0.5, -2.0, 2.0)),
    (I.KaimingNormal(), (60, 50), (0.0, (2 / 60) ** 0.5, -1.1, 1.1)),
    (I.KaimingNormal(mode="fan_out"), (60, 50), (0.0, (2 / 50) ** 0.5, -1.2, 1.2)),
    (I.KaimingNormal(), SHAPE, (0.0, (2 / 75) ** 0.5, -1.0, 1.0)),
    (I.KaimingNormal(fan_in=8), SHAPE, (0.0, 0.5, -3.0, 3.0)),
    (I.KaimingNormal(nonlinearity="sigmoid"), SHAPE, (0.0, 75**-0.5, -0.7, 0.7)),
    (I.KaimingUniform(), SHAPE, _uniform((6 / 75) ** 0.5)),
    (I.KaimingUniform(mode="fan_out", nonlinearity="tanh"), SHAPE, _uniform(5 / 3 * 0.02**0.5)),
    (
        I.KaimingUniform(negative_slope=2.0, nonlinearity="leaky_relu"),
        SHAPE,
        _uniform((0.4 * 3 / 75) ** 0.5),
    ),
]


@pytest.mark.parametrize(("initializer", "shape", "moments"), MOMENTS)
def test_moments(initializer: I.Initializer, shape: Any, moments: tuple[float, ...]) -> None:
    mean, deviation, low, high = moments
    drawn = np.concatenate([values(initializer, shape).ravel() for _ in range(7)])
    n = drawn.size
    assert abs(drawn.mean() - mean) < 4 * deviation / n**0.5
    # The fourth moment of either distribution is at most 3 deviation**4.
    assert abs(drawn.std() / deviation - 1) < 4 / (2 * n) ** 0.5
    assert low <= drawn.min()
    assert drawn.max() <= high
    if isinstance(initializer, (I.Uniform, I.XavierUniform, I.KaimingUniform)):
        assert drawn.max() - drawn.min() > 0.99 * (high - low)


@pytest.mark.parametrize(
    ("mean", "std", "a", "b"),
    [(0.0, 1.0, -2.0, 2.0), (1.0, 2.0, -3.0, 0.5), (0.0, 0.5, 2.5, 9.0), (5.0, 1.0, -9.0, -3.0)],
)
def test_a_truncated_normal_has_the_distribution_that_is_cut(
    mean: float, std: float, a: float, b: float
) -> None:
    drawn = np.sort(values(I.TruncatedNormal(mean, std, a, b), [20_000]))
    assert a <= drawn[0]
    assert drawn[-1] <= b

    def above(x: float) -> float:  # of the mirror image where both ends are far below
        z = (x - mean) / std if b > mean else (mean - x) / std
        return math.erfc(z / math.sqrt(2.0))

    ends = above(a), above(b)
    expected = [(ends[0] - above(x)) / (ends[0] - ends[1]) for x in drawn.tolist()]
    distance = np.abs(np.asarray(expected) - (np.arange(drawn.size) + 0.5) / drawn.size).max()
    assert distance < 1.95 / drawn.size**0.5  # Kolmogorov: more in one of 1000 cases


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3), (4, 2, 3), (8, 3, 2), (1, 5)])
def test_an_orthogonal_matrix_times_its_transpose_is_the_identity(shape: Any) -> None:
    w = values(I.Orthogonal(3.0), shape).reshape(shape[0], -1)
    product = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(product, 9.0 * np.eye(min(w.shape)), atol=1e-13)


def test_orthogonal_matrices_are_uniform() -> None:
    """Rotations of the plane have uniform angles, and half of all matrices are reflections."""
    drawn = np.stack([values(I.Orthogonal(), [2, 2]) for _ in range(2000)])
    angles = np.sort(np.arctan2(drawn[:, 1, 0], drawn[:, 0, 0]) / (2 * np.pi) + 0.5)
    assert np.abs(angles - (np.arange(2000) + 0.5) / 2000).max() < 1.95 / 2000**0.5
    assert abs((np.linalg.det(drawn) > 0).mean() - 0.5) < 4 * 0.5 / 2000**0.5


@pytest.mark.parametrize(
    ("shape", "groups"), [((3, 3, 3), 1), ((4, 4, 3, 5), 1), ((4, 2, 3), 2), ((6, 6, 1, 3, 3), 1)]
)
def test_a_convolution_with_dirac_hands_its_input_on(shape: Any, groups: int) -> None:
    channels = shape[1] * groups
    x = paddle.randn([2, channels, *(7 for _ in shape[2:])])
    w = paddle.create_parameter(shape, default_initializer=I.Dirac(groups))
    convolve = getattr(paddle.nn.functional, f"conv{len(shape) - 2}d")
    y = convolve(x, w, padding=[k // 2 for k in shape[2:]], groups=groups)
    np.testing.assert_array_equal(y.numpy(), x.numpy())


def test_dirac_of_more_channels_than_there_are_inputs() -> None:
    w = values(I.Dirac(), [3, 2, 4])
    assert w.sum() == 2.0
    assert [w[0, 0, 2], w[1, 1, 2]] == [1.0, 1.0]
    assert values(I.Dirac(), [1, 2, 1]).tolist() == [[[1.0], [0.0]]]


@pytest.mark.parametrize("factor", [2, 3])
def test_bilinear_interpolates(factor: int) -> None:
    """In the middle of an image, a plane is a plane of a smaller slope."""
    rows, columns = np.meshgrid(np.arange(6.0), np.arange(6.0), indexing="ij")
    image = np.stack([2.0 * rows + 3.0 * columns, rows - columns])[None].astype("float64")
    k, padding = 2 * factor - factor % 2, math.ceil((factor - 1) / 2)
    w = paddle.create_parameter([2, 1, k, k], "float64", default_initializer=I.Bilinear())
    y = paddle.nn.functional.conv2d_transpose(
        paddle.to_tensor(image), w, stride=factor, padding=padding, groups=2
    ).numpy()[0]
    inner = y[:, factor:-factor, factor:-factor]
    for plane, (down, right) in zip(inner, [(2.0, 3.0), (1.0, -1.0)], strict=True):
        np.testing.assert_allclose(np.diff(plane, axis=0), down / factor, atol=1e-12)
        np.testing.assert_allclose(np.diff(plane, axis=1), right / factor, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "param", "expected"),
    [
        *((n, None, 1.0) for n in ("sigmoid", "linear", "conv1d", "conv3d_transpose")),
        ("tanh", None, 5 / 3),
        ("relu", None, 2**0.5),
        ("selu", None, 0.75),
        ("leaky_relu", None, (2 / 1.0001) ** 0.5),
        ("leaky_relu", 2, 0.4**0.5),
    ],
)
def test_gains(name: str, param: float | None, expected: float) -> None:
    assert I.calculate_gain(name, param) == pytest.approx(expected, rel=1e-15)


# --- the global initializer


def test_the_global_initializer_goes_before_defaults_and_behind_attributes() -> None:
    I.set_global_initializer(I.Constant(2.0), I.Constant(3.0))
    linear = paddle.nn.Linear(2, 2)
    assert linear.weight.numpy().tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert linear.bias.numpy().tolist() == [3.0, 3.0]
    assert values(I.Constant(7.0), [1]).tolist() == [2.0]
    own = paddle.nn.Linear(1, 1, paddle.ParamAttr(name="own"), I.Constant(5.0))
    assert (own.weight.item(), own.bias.item()) == (2.0, 5.0)
    I.set_global_initializer(I.Constant(4.0))
    assert paddle.nn.Linear(1, 1).bias.item() == 0.0
    I.set_global_initializer(None)
    assert values(I.Constant(7.0), [1]).tolist() == [7.0]


def test_the_global_initializer_of_programs_leaves_statistics_alone() -> None:
    I.set_global_initializer(I.Constant(2.0), I.Constant(3.0))
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [None, 2], "float32")
        paddle.static.nn.batch_norm(paddle.static.nn.fc(x, 2))
    paddle.static.Executor().run(startup)
    scope = paddle.static.global_scope()
    found = {
        name: np.unique(np.asarray(scope.find_var(name).get_tensor())).tolist()
        for name in startup.global_block().vars
    }
    assert found == {
        "fc_0.w_0": [2.0],
        "fc_0.b_0": [3.0],
        "batch_norm_0.w_0": [2.0],
        "batch_norm_0.b_0": [3.0],
        "batch_norm_0.w_1": [0.0],
        "batch_norm_0.w_2": [1.0],
    }


# --- what is refused

BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: I.Constant("a"), TypeError, "value must be a number, got str"),
    (lambda: I.Constant(None), TypeError, "value must be a number, got NoneType"),
    (lambda: I.Assign("a"), TypeError, "an array or a list, got str"),
    (lambda: I.Assign(None), TypeError, "an array or a list, got NoneType"),
    (lambda: I.Uniform(2.0, 1.0), ArgumentError, "low 2.0 is above high 1.0"),
    (lambda: I.Uniform(True, 1.0), TypeError, "low must be a number, got bool"),
    (lambda: I.Uniform(0.0, math.inf), ArgumentError, "high must be finite"),
    (lambda: I.Normal(0.0, -1.0), ArgumentError, "std must not be negative, got -1.0"),
    (lambda: I.Normal("0"), TypeError, "mean must be a number, got str"),
    (lambda: I.Normal(std=math.nan), ArgumentError, "std must be finite"),
    (lambda: I.TruncatedNormal(0.0, 0.0), ArgumentError, r"Constant\(0.0\) is one value"),
    (lambda: I.TruncatedNormal(std=-1.0), ArgumentError, "std must not be negative"),
    (lambda: I.TruncatedNormal(a=2.0, b=2.0), ArgumentError, "a must be below b"),
    (lambda: I.XavierNormal(fan_in=0), ArgumentError, "fan_in must be above 0, got 0"),
    (lambda: I.XavierUniform(fan_out=-3), ArgumentError, "fan_out must be above 0"),
    (lambda: I.XavierUniform(gain=-1.0), ArgumentError, "gain must not be negative"),
    (lambda: I.XavierUniform(gain=None), TypeError, "gain must be a number, got NoneType"),
    (lambda: I.KaimingNormal(mode="in"), ArgumentError, "'fan_in' or 'fan_out', got 'in'"),
    (lambda: I.KaimingNormal(3, mode="fan_out"), ArgumentError, "leave one of them away"),
    (lambda: I.KaimingNormal(nonlinearity="gelu"), ArgumentError, "must be one of sigmoid"),
    (lambda: I.KaimingNormal(fan_in=True), TypeError, "fan_in must be a number, got bool"),
    (lambda: I.Orthogonal("a"), TypeError, "gain must be a number, got str"),
    (lambda: I.Dirac(0), ArgumentError, "groups must be a positive int, got 0"),
    (lambda: I.Dirac(True), ArgumentError, "groups must be a positive int, got True"),
    (lambda: I.calculate_gain("gelu"), ArgumentError, "leaky_relu; got 'gelu'"),
    (lambda: I.calculate_gain(["relu"]), ArgumentError, "nonlinearity must be one of"),
    (lambda: I.calculate_gain("leaky_relu", "a"), TypeError, "param must be a number, got str"),
    (lambda: I.set_global_initializer(3), TypeError, "weight_init must be one of .* got int"),
    (lambda: I.set_global_initializer(None, "a"), TypeError, "bias_init must be one of .* got str"),
    (lambda: values(I.Orthogonal(), [3]), ShapeError, r"two dimensions or more, got \[3\]"),
    (lambda: values(I.Dirac(), [3, 2]), ShapeError, r"3 to 5 dimensions, got \[3, 2\]"),
    (lambda: values(I.Dirac(2), [3, 2, 1]), ShapeError, "3 output channels cannot be split into 2"),
    (lambda: values(I.Bilinear(), [3, 3]), ShapeError, r"k, k\], got \[3, 3\]"),
    (lambda: values(I.Bilinear(), [1, 1, 2, 3]), ShapeError, r"got \[1, 1, 2, 3\]"),
    (lambda: values(I.Assign([1.0, 2.0]), [2, 1]), ShapeError, r"\[2, 1\], the value \[2\]"),
    (lambda: I.XavierNormal()(paddle.zeros([0, 3])), ShapeError, "and so no fan"),
    (lambda: I.KaimingUniform()(paddle.zeros([0, 3])), ShapeError, "and so no fan"),
    (lambda: I.Normal()(paddle.zeros([2], "int64")), DTypeError, "makes floats.* is int64"),
    (lambda: I.Orthogonal()(paddle.zeros([2, 2], "int64")), DTypeError, "makes floats"),
    (lambda: I.Constant(300)(paddle.zeros([2], "uint8")), ArgumentError, "does not fit uint8"),
    (lambda: I.Constant(1.0)(np.zeros(2)), NotATensorError, "must be a Tensor.* got ndarray"),
    (lambda: I.Constant(1.0)(None), NotATensorError, "got NoneType"),
    (lambda: I.Initializer()(paddle.zeros([2])), NotImplementedError, "define `def operation"),
]


@pytest.mark.parametrize(("call", "error", "hint"), BAD)
def test_bad_input(call: Callable[[], Any], error: type[Exception], hint: str) -> None:
    with pytest.raises(error, match=hint):
        call()


def test_an_initializer_of_the_users_own() -> None:
    class Ones(I.Initializer):
        def operation(self, shape: tuple[int, ...], dtype: str) -> tuple[str, dict[str, Any]]:
            return "full", {"shape": shape, "value": 1.0, "dtype": dtype}

    assert paddle.nn.Linear(1, 2, Ones()).weight.tolist() == [[1.0, 1.0]]
