"""Making and drawing tensors: what dtypes hold, what shapes are, and moments of what is drawn."""

import math

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, DTypeError, ShapeError
from autograd_engine.program.ir.program import Variable

N = 40_000


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([300], "int8"),
        ([-1], "uint8"),
        ([2**40], "int32"),
        (2**63, None),
        (2**70, None),
        ([1e10], "int32"),
        ([math.nan], "int64"),
        ([math.inf], "int64"),
        (np.asarray([300]), "int8"),
        (np.asarray([2**63], "uint64"), None),
    ],
)
def test_integers_that_do_not_fit(data, dtype):
    with pytest.raises(ArgumentError, match=r"to_tensor: .*does not fit"):
        paddle.to_tensor(data, dtype)


def test_what_just_fits():
    assert paddle.to_tensor([-128, 127], "int8").tolist() == [-128, 127]
    assert paddle.to_tensor([-0.5, 255.5], "uint8").tolist() == [0, 255]
    assert paddle.to_tensor(2**63 - 1).item() == 2**63 - 1
    assert paddle.to_tensor(-(2**63)).item() == -(2**63)
    assert paddle.to_tensor(np.asarray([3], "uint64")).dtype == "int64"


def test_floats_become_infinite_where_rounding_says_so():
    assert paddle.to_tensor([1e6], "float16").tolist() == [math.inf]
    assert paddle.to_tensor(1e300).item() == math.inf


def test_dtypes_that_numbers_cannot_go_to_or_come_from():
    with pytest.raises(DTypeError, match="complex values cannot become float32"):
        paddle.to_tensor([1j], "float32")
    for dtype in ("uint16", "longdouble"):
        with pytest.raises(DTypeError, match="is no dtype of this engine"):
            paddle.to_tensor(np.ones(2, dtype))
    assert paddle.to_tensor(np.ones(2, ">f4")).dtype == "float32"


def test_in_a_program_to_tensor_gives_a_constant():
    static = paddle.static
    program = static.Program()
    data = np.asarray([1.0, 2.0], np.float32)
    with static.program_guard(program):
        x = static.data("x", [None, 2])
        c = paddle.to_tensor(data)
        data[:] = 9.0
        assert isinstance(c, Variable)
        assert c.stop_gradient
        y = x + c
        assert paddle.to_tensor(x, "float64").dtype == "float64"
        with pytest.raises(ShapeError, match=r"to_tensor.*must have one shape"):
            paddle.to_tensor([1.0, x])
        assert paddle.to_tensor([1.0, x[0, 0]]).shape == (2,)
    (value,) = static.Executor().run(program, {"x": np.zeros((1, 2), np.float32)}, [y])
    assert value.tolist() == [[1.0, 2.0]]
    assert isinstance(paddle.to_tensor([1.0]), paddle.Tensor)


def test_a_constant_of_a_program_may_ask_for_its_gradient():
    static = paddle.static
    program = static.Program()
    with static.program_guard(program):
        c = paddle.to_tensor([3.0], stop_gradient=False)
        (g,) = static.gradients(c * c, c)
    assert static.Executor().run(program, {}, [g])[0].tolist() == [6.0]


def test_shapes_may_be_tensors():
    shapes = (paddle.to_tensor([2, 3]), [paddle.to_tensor(2), 3], np.asarray([2, 3]), (2, 3))
    for shape in shapes:
        assert paddle.full(shape, 1.0).shape == [2, 3]
        assert paddle.rand(shape).shape == [2, 3]
    with paddle.static.program_guard(paddle.static.Program()):
        n = paddle.static.data("n", [1], "int64")
        assert paddle.zeros([n, 2]).shape == paddle.randn([n, 2]).shape == (-1, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: paddle.eye(-1), ArgumentError, "eye: num_rows must be 0 to"),
        (lambda: paddle.eye(2.0), TypeError, "eye: num_rows must be an int"),
        (lambda: paddle.linspace(0, math.inf, 3), ArgumentError, "stop must be a finite number"),
        (lambda: paddle.linspace(0, 1, -1), ArgumentError, "num must be 0 to"),
        (lambda: paddle.linspace(0, 1000, 3, "int8"), ArgumentError, "does not fit int8"),
        (lambda: paddle.logspace(0, 1, 2.5), TypeError, "num must be an int"),
        (lambda: paddle.tril_indices(2, 2, 0.5), TypeError, "offset must be an int"),
        (lambda: paddle.triu_indices(2, 2, 0, "float32"), DTypeError, "dtype must be one of int"),
        (lambda: paddle.full([2], 300, "int8"), ArgumentError, "does not fit int8"),
        (lambda: paddle.uniform([2], min=2.0, max=1.0), ArgumentError, "must not be above max"),
        (lambda: paddle.uniform([2], "int32"), DTypeError, "must be a floating one"),
        (lambda: paddle.uniform([2], max=math.inf), ArgumentError, "max must be finite"),
        (lambda: paddle.normal(0.0, -1.0, [2]), ArgumentError, "std must not be negative"),
        (lambda: paddle.randint(5, 2), ArgumentError, r"high \(2\) must be above low \(5\)"),
        (lambda: paddle.randint(0), ArgumentError, "must be above low"),
        (lambda: paddle.randint(0, 2**40, [2], "int32"), ArgumentError, "does not fit int32"),
        (lambda: paddle.randint(0.5, 2), TypeError, "low must be an int"),
        (lambda: paddle.randperm(-1), ArgumentError, "n must be 0 to"),
        (lambda: paddle.randperm(300, "int8"), ArgumentError, "does not fit int8"),
        (lambda: paddle.bernoulli(paddle.to_tensor([2.0])), ArgumentError, r"in \[0, 1\], got 2"),
        (lambda: paddle.bernoulli(paddle.ones([1]), 1.5), ArgumentError, r"p must be in \[0, 1\]"),
        (lambda: paddle.bernoulli(paddle.to_tensor([1])), DTypeError, "must hold floating-point"),
        (lambda: paddle.poisson(paddle.to_tensor([-1.0])), ArgumentError, "poisson: x must be"),
        (lambda: paddle.poisson(paddle.to_tensor([math.nan])), ArgumentError, "got nan"),
        (
            lambda: paddle.binomial(paddle.to_tensor([3]), paddle.to_tensor([1.5])),
            ArgumentError,
            "prob must be in",
        ),
        (lambda: paddle.standard_gamma(paddle.to_tensor([-1.0])), ArgumentError, "0 or more"),
        (lambda: paddle.rand_like(paddle.to_tensor([1])), DTypeError, "must be a floating one"),
    ],
)
def test_arguments_out_of_range(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("x", "options", "error", "text"),
    [
        ([0.2, 0.8], {"num_samples": 3}, ArgumentError, "1 to 2 without replacement, got 3"),
        ([0.0, 0.8], {"num_samples": 2}, ArgumentError, "1 categories above 0, and 2 are needed"),
        ([0.0, 0.0], {"replacement": True}, ArgumentError, "0 categories above 0, and 1 are"),
        ([-1.0, 2.0], {}, ArgumentError, "x must be 0 or more, got -1"),
        ([math.nan, 2.0], {}, ArgumentError, "got nan"),
        ([0.5], {"num_samples": 0}, ArgumentError, "num_samples must be 1 or more"),
        ([[[0.5]]], {}, ShapeError, "one or two dimensions, got 3"),
        ([1, 2], {}, DTypeError, "must hold floating-point"),
    ],
)
def test_multinomial_refuses(x, options, error, text):
    with pytest.raises(error, match=text):
        paddle.multinomial(paddle.to_tensor(x), **options)


MOMENTS = {
    "rand": (lambda: paddle.rand([N], "float64"), 0.5, 12**-0.5),
    "randn": (lambda: paddle.randn([N], "float64"), 0.0, 1.0),
    "normal": (lambda: paddle.normal(2.0, 0.5, [N]), 2.0, 0.5),
    "log_normal": (
        lambda: paddle.log_normal(0.0, 0.5, [N]),
        math.exp(0.125),
        math.sqrt((math.exp(0.25) - 1.0) * math.exp(0.25)),
    ),
    "randint": (lambda: paddle.randint(0, 5, [N]), 2.0, 2.0**0.5),
    "bernoulli": (lambda: paddle.bernoulli(paddle.full([N], 0.3)), 0.3, 0.21**0.5),
    "poisson": (lambda: paddle.poisson(paddle.full([N], 3.0)), 3.0, 3.0**0.5),
    "gamma": (lambda: paddle.standard_gamma(paddle.full([N], 2.0)), 2.0, 2.0**0.5),
    "binomial": (
        lambda: paddle.binomial(paddle.full([N], 10, "int64"), paddle.to_tensor(0.3)),
        3.0,
        2.1**0.5,
    ),
}


@pytest.mark.parametrize("name", MOMENTS)
def test_moments(name):
    call, mean, deviation = MOMENTS[name]
    paddle.seed(17)
    x = call().numpy().astype(np.float64)
    assert abs(x.mean() - mean) < 5 * deviation / N**0.5
    assert abs(x.std() / deviation - 1.0) < 0.05


@pytest.mark.parametrize("replacement", [False, True])
def test_the_first_category_drawn_follows_the_probabilities(replacement):
    paddle.seed(17)
    p = np.asarray([0.1, 0.0, 0.6, 0.3])
    rows = paddle.to_tensor(np.tile(3.0 * p, (N, 1)))  # a row need not add up to 1
    drawn = paddle.multinomial(rows, 2, replacement).numpy()
    counts = np.bincount(drawn[:, 0], minlength=4) / N
    np.testing.assert_allclose(counts, p, atol=5 * 0.5 / N**0.5)
    assert counts[1] == 0.0
    if replacement:
        np.testing.assert_allclose(np.bincount(drawn[:, 1], minlength=4) / N, p, atol=0.0125)
    else:
        assert (drawn[:, 0] != drawn[:, 1]).all()
        # Having drawn 2, the others stand 1 to 3.
        second = drawn[drawn[:, 0] == 2, 1]
        assert abs((second == 3).mean() - 0.75) < 0.02


def test_every_order_of_three_is_as_likely():
    paddle.seed(17)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(3000):
        order = tuple(paddle.randperm(3).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert all(abs(c - 500) < 5 * 500**0.5 for c in counts.values())


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_uniform_stays_below_its_end_when_it_is_rounded(dtype):
    paddle.seed(17)
    assert paddle.uniform([N], dtype, 0.0, 1.0).numpy().max() < 1.0
    assert paddle.zeros([N], dtype).uniform_(1.0, 2.0).numpy().max() < 2.0


def test_a_seed_of_its_own_leaves_the_shared_generator_alone():
    paddle.seed(3)
    expected = paddle.rand([2]).tolist()
    paddle.seed(3)
    a, b = paddle.uniform([2], seed=9), paddle.uniform([2], seed=9)
    assert a.tolist() == b.tolist()
    assert paddle.rand([2]).tolist() == expected


def test_what_is_drawn_from_tensors_carries_gradients():
    paddle.seed(3)
    mean = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    std = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x = paddle.normal(mean, std)
    x.sum().backward()
    noise = (x.numpy() - mean.numpy()) / std.numpy()
    np.testing.assert_allclose(mean.grad.numpy(), [1.0, 1.0])
    np.testing.assert_allclose(std.grad.numpy(), noise, rtol=1e-5)


# --- limits of dtypes, and methods that tell what a tensor is


def test_limits():
    assert (paddle.iinfo("int8").min, paddle.iinfo("int8").max) == (-128, 127)
    assert paddle.finfo(paddle.float32).eps == 2.0**-23
    assert paddle.finfo("float64").dtype == "float64"
    with pytest.raises(DTypeError, match=r"finfo: .* use iinfo"):
        paddle.finfo("int8")
    with pytest.raises(DTypeError, match=r"iinfo: .* use finfo"):
        paddle.iinfo("float32")


def test_what_a_tensor_says_of_itself():
    x = paddle.ones([2, 3])
    assert (x.dim(), x.ndimension(), x.element_size(), x.itemsize) == (2, 2, 4, 4)
    assert x.is_contiguous()
    turned = x.transpose([1, 0])
    assert not turned.is_contiguous()
    assert turned.contiguous().is_contiguous()
    assert x.contiguous() is x
    assert x.cpu() is x
    with pytest.raises(ArgumentError, match="cuda: this engine runs on the CPU"):
        x.cuda()


def test_to_takes_dtypes_tensors_and_the_cpu():
    x = paddle.to_tensor([1.5], stop_gradient=False)
    assert x.to("cpu") is x
    assert x.to("float64").dtype == "float64"
    assert x.to(paddle.int32).tolist() == [1]
    assert x.to(paddle.to_tensor([1])).dtype == "int64"
    assert x.to("cpu", "float16").dtype == "float16"
    assert x.to(dtype="int8").dtype == "int8"
    assert x.type_as(paddle.to_tensor([True])).dtype == "bool"
    x.to("float64").sum().backward()
    assert x.grad.tolist() == [1.0]
    with pytest.raises(ArgumentError, match="'cpu' only, got 'gpu'"):
        x.to("gpu")
    with pytest.raises(TypeError, match="no argument 'layout'"):
        x.to(layout="NHWC")


@pytest.mark.parametrize(
    ("method", "dtype"),
    [
        ("bool", "bool"),
        ("int", "int32"),
        ("long", "int64"),
        ("half", "float16"),
        ("float", "float32"),
        ("double", "float64"),
        ("int16", "int16"),
    ],
)
def test_casts_by_name(method, dtype):
    x = paddle.to_tensor([1.0])
    assert getattr(x, method)().dtype == dtype
    with paddle.static.program_guard(paddle.static.Program()):
        assert getattr(paddle.static.data("x", [1]), method)().dtype == dtype


def test_new_arrays_take_the_dtype():
    x = paddle.ones([1], "float64")
    for new in (x.new_zeros([2]), x.new_ones([2]), x.new_full([2], 3), x.new_empty([2])):
        assert (new.dtype, new.shape) == ("float64", [2])
    assert x.new_full([2], 3, dtype="int8").tolist() == [3, 3]


@pytest.mark.parametrize("name", ["new_zeros", "new_ones", "new_empty"])
def test_new_arrays_take_sizes_one_by_one(name):
    x = paddle.ones([1], "int8")
    for sizes in ([2, 3], [4], [2, 0, 1]):
        new, listed = getattr(x, name)(*sizes), getattr(x, name)(sizes)
        assert (new.dtype, new.shape, new.tolist()) == ("int8", sizes, listed.tolist())
    assert getattr(x, name)(2, 3, dtype="float64").dtype == "float64"
    assert getattr(x, name)(size=[2, 3]).shape == [2, 3]


# Everything that takes a dtype, by the one it is given.
TYPED = {
    "astype": lambda x, dtype: x.astype(dtype),
    "cast": paddle.cast,
    "to": lambda x, dtype: x.to(dtype),
    "to_tensor": lambda x, dtype: paddle.to_tensor([1], dtype),
    "zeros": lambda x, dtype: paddle.zeros([2], dtype),
    "ones": lambda x, dtype: paddle.ones([2], dtype=dtype),
    "empty": lambda x, dtype: paddle.empty([2], dtype),
    "eye": lambda x, dtype: paddle.eye(2, dtype=dtype),
    "full": lambda x, dtype: paddle.full([2], 1, dtype),
    "full_like": lambda x, dtype: paddle.full_like(x, 1, dtype),
    "zeros_like": paddle.zeros_like,
    "ones_like": paddle.ones_like,
    "arange": lambda x, dtype: paddle.arange(3, dtype=dtype),
    "linspace": lambda x, dtype: paddle.linspace(0, 1, 2, dtype=dtype),
    "new_zeros": lambda x, dtype: x.new_zeros(2, dtype=dtype),
    "sum": lambda x, dtype: paddle.sum(x, dtype=dtype),
    "prod": lambda x, dtype: paddle.prod(x, dtype=dtype),
    "cumsum": lambda x, dtype: paddle.cumsum(x, dtype=dtype),
}


@pytest.mark.parametrize("default", ["float32", "float64"])
@pytest.mark.parametrize("name", TYPED)
def test_types_of_python_are_the_dtypes_that_numpy_makes_of_them(name, default):
    """``float`` is float64 as its name is, and no default dtype."""
    paddle.set_default_dtype(default)
    x = paddle.ones([2], "float32")
    for dtype in (float, "float", int):
        assert TYPED[name](x, dtype).dtype == np.dtype(dtype)
