"""The array API standard on tensors: every function is there, and code written against it runs."""

import inspect
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError
from autograd_engine.interop import array_api as xp
from tests.over import over

# Functions of version 2024.12, with their arguments.
STANDARD = """
abs(x, /)
acos(x, /)
acosh(x, /)
add(x1, x2, /)
all(x, /, *, axis, keepdims)
any(x, /, *, axis, keepdims)
arange(start, /, stop, step, *, dtype, device)
argmax(x, /, *, axis, keepdims)
argmin(x, /, *, axis, keepdims)
argsort(x, /, *, axis, descending, stable)
asarray(obj, /, *, dtype, device, copy)
asin(x, /)
asinh(x, /)
astype(x, dtype, /, *, copy, device)
atan(x, /)
atan2(x1, x2, /)
atanh(x, /)
bitwise_and(x1, x2, /)
bitwise_invert(x, /)
bitwise_left_shift(x1, x2, /)
bitwise_or(x1, x2, /)
bitwise_right_shift(x1, x2, /)
bitwise_xor(x1, x2, /)
broadcast_arrays(*arrays)
broadcast_to(x, /, shape)
can_cast(from_, to, /)
ceil(x, /)
clip(x, /, min, max)
concat(arrays, /, *, axis)
conj(x, /)
copysign(x1, x2, /)
cos(x, /)
cosh(x, /)
count_nonzero(x, /, *, axis, keepdims)
cumulative_prod(x, /, *, axis, dtype, include_initial)
cumulative_sum(x, /, *, axis, dtype, include_initial)
diff(x, /, *, axis, n, prepend, append)
divide(x1, x2, /)
empty(shape, *, dtype, device)
empty_like(x, /, *, dtype, device)
equal(x1, x2, /)
exp(x, /)
expand_dims(x, /, axis)
expm1(x, /)
eye(n_rows, n_cols, /, *, k, dtype, device)
finfo(type, /)
flip(x, /, *, axis)
floor(x, /)
floor_divide(x1, x2, /)
from_dlpack(x, /, *, device, copy)
full(shape, fill_value, *, dtype, device)
full_like(x, /, fill_value, *, dtype, device)
greater(x1, x2, /)
greater_equal(x1, x2, /)
hypot(x1, x2, /)
iinfo(type, /)
imag(x, /)
isdtype(dtype, kind)
isfinite(x, /)
isin(x1, x2, /, *, invert)
isinf(x, /)
isnan(x, /)
less(x1, x2, /)
less_equal(x1, x2, /)
linspace(start, stop, /, num, *, dtype, device, endpoint)
log(x, /)
log10(x, /)
log1p(x, /)
log2(x, /)
logaddexp(x1, x2, /)
logical_and(x1, x2, /)
logical_not(x, /)
logical_or(x1, x2, /)
logical_xor(x1, x2, /)
matmul(x1, x2, /)
matrix_transpose(x, /)
max(x, /, *, axis, keepdims)
maximum(x1, x2, /)
mean(x, /, *, axis, keepdims)
meshgrid(*arrays, indexing)
min(x, /, *, axis, keepdims)
minimum(x1, x2, /)
moveaxis(x, source, destination, /)
multiply(x1, x2, /)
negative(x, /)
nextafter(x1, x2, /)
nonzero(x, /)
not_equal(x1, x2, /)
ones(shape, *, dtype, device)
ones_like(x, /, *, dtype, device)
permute_dims(x, /, axes)
positive(x, /)
pow(x1, x2, /)
prod(x, /, *, axis, dtype, keepdims)
real(x, /)
reciprocal(x, /)
remainder(x1, x2, /)
repeat(x, repeats, /, *, axis)
reshape(x, /, shape, *, copy)
result_type(*arrays_and_dtypes)
roll(x, /, shift, *, axis)
round(x, /)
searchsorted(x1, x2, /, *, side, sorter)
sign(x, /)
signbit(x, /)
sin(x, /)
sinh(x, /)
sort(x, /, *, axis, descending, stable)
sqrt(x, /)
square(x, /)
squeeze(x, /, axis)
stack(arrays, /, *, axis)
std(x, /, *, axis, correction, keepdims)
subtract(x1, x2, /)
sum(x, /, *, axis, dtype, keepdims)
take(x, indices, /, *, axis)
take_along_axis(x, indices, /, *, axis)
tan(x, /)
tanh(x, /)
tensordot(x1, x2, /, *, axes)
tile(x, repetitions, /)
tril(x, /, *, k)
triu(x, /, *, k)
trunc(x, /)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
unstack(x, /, *, axis)
var(x, /, *, axis, correction, keepdims)
vecdot(x1, x2, /, *, axis)
where(condition, x1, x2, /)
zeros(shape, *, dtype, device)
zeros_like(x, /, *, dtype, device)
linalg.cholesky(x, /, *, upper)
linalg.cross(x1, x2, /, *, axis)
linalg.det(x, /)
linalg.diagonal(x, /, *, offset)
linalg.eigh(x, /)
linalg.eigvalsh(x, /)
linalg.inv(x, /)
linalg.matmul(x1, x2, /)
linalg.matrix_norm(x, /, *, keepdims, ord)
linalg.matrix_power(x, n, /)
linalg.matrix_rank(x, /, *, rtol)
linalg.matrix_transpose(x, /)
linalg.outer(x1, x2, /)
linalg.pinv(x, /, *, rtol)
linalg.qr(x, /, *, mode)
linalg.slogdet(x, /)
linalg.solve(x1, x2, /)
linalg.svd(x, /, *, full_matrices)
linalg.svdvals(x, /)
linalg.tensordot(x1, x2, /, *, axes)
linalg.trace(x, /, *, offset, dtype)
linalg.vecdot(x1, x2, /, *, axis)
linalg.vector_norm(x, /, *, axis, keepdims, ord)
fft.fftfreq(n, /, *, d, dtype, device)
fft.fftn(x, /, *, s, axes, norm)
fft.fftshift(x, /, *, axes)
fft.hfft(x, /, *, n, axis, norm)
fft.ifft(x, /, *, n, axis, norm)
fft.ifftn(x, /, *, s, axes, norm)
fft.ifftshift(x, /, *, axes)
fft.ihfft(x, /, *, n, axis, norm)
fft.irfft(x, /, *, n, axis, norm)
fft.irfftn(x, /, *, s, axes, norm)
fft.rfft(x, /, *, n, axis, norm)
fft.rfftfreq(n, /, *, d, dtype, device)
fft.rfftn(x, /, *, s, axes, norm)
"""
CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")
DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
ABSENT = ["uint16", "uint32", "uint64"]  # tensors have no such dtypes: the module says so
ATTRIBUTES = ["dtype", "device", "mT", "ndim", "shape", "size", "T", "to_device"]
METHODS = [
    "abs",
    "add",
    "and",
    "array_namespace",
    "bool",
    "complex",
    "dlpack",
    "dlpack_device",
    "eq",
    "float",
    "floordiv",
    "ge",
    "getitem",
    "gt",
    "index",
    "int",
    "invert",
    "le",
    "lshift",
    "lt",
    "matmul",
    "mod",
    "mul",
    "ne",
    "neg",
    "or",
    "pos",
    "pow",
    "radd",
    "rand",
    "rfloordiv",
    "rlshift",
    "rmatmul",
    "rmod",
    "rmul",
    "ror",
    "rpow",
    "rrshift",
    "rshift",
    "rsub",
    "rtruediv",
    "rxor",
    "setitem",
    "sub",
    "truediv",
    "xor",
]


def find(name: str) -> Any:
    place: Any = xp
    for part in name.split("."):
        place = getattr(place, part)
    return place


def described(function: Any) -> list[str]:
    out: list[str] = []
    before = None
    for p in inspect.signature(function).parameters.values():
        if before is p.POSITIONAL_ONLY and p.kind is not p.POSITIONAL_ONLY:
            out.append("/")
        if (
            p.kind is p.KEYWORD_ONLY
            and before is not p.KEYWORD_ONLY
            and not any(n.startswith("*") for n in out)
        ):
            out.append("*")
        out.append(f"*{p.name}" if p.kind is p.VAR_POSITIONAL else p.name)
        before = p.kind
    return [*out, "/"] if before is inspect.Parameter.POSITIONAL_ONLY else out


@over("line", STANDARD.split("\n")[1:-1])
def test_every_function_is_there_with_its_arguments(line: str) -> None:
    name, arguments = line[:-1].split("(")
    got = described(find(name))
    assert ", ".join(got) == arguments


def test_constants_and_dtypes() -> None:
    for name in CONSTANTS:
        assert name in vars(xp)
    for name in DTYPES:
        assert getattr(xp, name) == name
    for name in ABSENT:
        assert not hasattr(xp, name)
        assert name in str(xp.__doc__)
    assert xp.__array_api_version__ == "2024.12"


def test_tensors_have_the_attributes() -> None:
    x = paddle.to_tensor([[1.0, 2.0]])
    for name in (*ATTRIBUTES, *(f"__{m}__" for m in METHODS)):
        assert hasattr(x, name), name
    assert x.mT.shape == [2, 1]
    assert x.to_device(x.device) is x
    with pytest.raises(ArgumentError, match="every tensor is on 'cpu'"):
        x.to_device("cuda")
    assert x.__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ArgumentError, match=r"'1999' .* use one of 2021\.12"):
        x.__array_namespace__(api_version="1999")


def test_what_it_says_of_itself() -> None:
    info = xp.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == "float32"
    assert set(info.dtypes(kind="integral")) == {"int8", "int16", "int32", "int64", "uint8"}
    assert info.devices() == ["cpu"]
    assert info.capabilities()["boolean indexing"]
    assert xp.isdtype(xp.float32, ("integral", "real floating"))
    assert not xp.isdtype(xp.float32, "complex floating")
    with pytest.raises(ArgumentError, match="use one of bool, signed integer"):
        xp.isdtype(xp.float32, "nope")
    assert xp.finfo(xp.float32).eps == np.finfo(np.float32).eps
    assert xp.iinfo(xp.int8).max == 127
    assert xp.result_type(xp.float32, xp.float64, 1) == xp.float64
    assert xp.result_type(paddle.to_tensor([1]), 2.0) == xp.float32
    assert xp.can_cast(xp.int8, xp.int32)
    assert not xp.can_cast(xp.float64, xp.float32)


def softmax(x: Any, axis: int) -> Any:
    xp = x.__array_namespace__()
    shifted = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return shifted / xp.sum(shifted, axis=axis, keepdims=True)


def whiten(x: Any) -> Any:
    xp = x.__array_namespace__()
    centered = x - xp.mean(x, axis=0, keepdims=True)
    covariance = centered.mT @ centered / x.shape[0] + xp.eye(x.shape[1], dtype=x.dtype)
    values, vectors = xp.linalg.eigh(covariance)
    return xp.matmul(centered @ vectors, xp.linalg.matrix_transpose(vectors)) / xp.sqrt(
        xp.sum(values)
    )


def mixed(x: Any) -> Any:
    xp = x.__array_namespace__()
    y = xp.concat([x, xp.zeros_like(x), xp.full(x.shape, 2.0, dtype=x.dtype)], axis=1)
    z = xp.where(y > 0, xp.pow(xp.abs(y), 1.5), xp.clip(y, -0.5, 0.5))
    z = xp.permute_dims(xp.reshape(z, (-1, 3)), (1, 0))
    n = xp.linalg.vector_norm(z, axis=1) + xp.std(z, axis=1, correction=1)
    w = xp.cumulative_sum(xp.take(n, xp.asarray([2, 0]), axis=0)) + xp.astype(xp.argmax(z), x.dtype)
    ones = xp.broadcast_to(xp.asarray([1.0, 2.0], dtype=x.dtype), (2, 2))
    return xp.vecdot(xp.tensordot(ones, w, axes=1), xp.flip(w)) + xp.sum(xp.diff(xp.sort(w)))


@pytest.mark.parametrize("generic", [lambda x: softmax(x, 1), whiten, mixed])
def test_generic_code_computes_and_is_differentiated(generic: Any) -> None:
    x = np.random.default_rng(3).normal(size=(4, 3))
    t = paddle.to_tensor(x, stop_gradient=False)
    made = generic(t)
    np.testing.assert_allclose(made.numpy(), generic(x), rtol=1e-10)
    weights = np.random.default_rng(4).normal(size=made.shape)
    (made * weights).sum().backward()
    h, differences = 1e-6, np.zeros_like(x)
    for k in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[k] = h
        differences[k] = np.sum((generic(x + step) - generic(x - step)) * weights) / (2 * h)
    np.testing.assert_allclose(t.grad.numpy(), differences, rtol=1e-5, atol=1e-7)


def test_generic_code_builds_programs(static_mode: None, exe: Any) -> None:
    x = paddle.static.data("x", [4, 3], "float64")
    y = softmax(x, 1)
    value = np.random.default_rng(3).normal(size=(4, 3))
    (got,) = exe.run(feed={"x": value}, fetch_list=[y])
    np.testing.assert_allclose(got, softmax(value, 1), rtol=1e-12)


CALLS = """
asarray([1.0, 2.0]) | arange(1, 7, 2) | arange(5, 2) | arange(0.0, 1.0, 0.25) | eye(2, 3, k=1)
linspace(0.0, 1.0, 5) | linspace(0.0, 1.0, num=4, endpoint=False) | full((2,), 3) | zeros(3)
ones((2, 2), dtype=D.int32) | empty((0, 2)) | tril(A, k=-1) | triu(A) | full_like(A, 2.0)
bitwise_invert(I) | bitwise_left_shift(I, 2) | logical_xor(A > 0, A < 1) | hypot(A, A)
pow(2.0, A) | atan2(A, A + 2) | floor_divide(A, 0.7) | remainder(A, 0.7) | reciprocal(A + 9)
sign(A) | signbit(A) | copysign(A, -1.0) | nextafter(A, A + 1) | real(A)
conj(A) | imag(C) | real(C)
maximum(A, 0.1) | clip(A, max=0.2) | count_nonzero(A, axis=0) | prod(A, axis=1) | all(A > -9)
any(A > 9, axis=0, keepdims=True) | argmin(A, axis=1) | cumulative_prod(V) | var(A, axis=0)
min(A) | mean(A, axis=(0, 1)) | sum(I) | argsort(A) | sort(A, axis=0)
nonzero(I) | searchsorted(sort(V), V) | isin(I, I[:1]) | sort(unique_values(I))
expand_dims(A, axis=1) | squeeze(A[:1, :], 0) | roll(A, 1, axis=1) | repeat(V, 2) | tile(A, (2, 1))
stack([A, A], axis=1) | unstack(A) | moveaxis(A, 0, 1) | broadcast_arrays(A, A[:1, :]) | take(V, I)
take_along_axis(A, argsort(A)) | meshgrid(V, V) | matrix_transpose(A) | concat([A, A], axis=None)
broadcast_to(V, (2, 4)) | reshape(A, (2, 6)) | permute_dims(A, (1, 0)) | flip(A, axis=0)
linalg.cholesky(S) | linalg.det(S) | linalg.inv(S) | linalg.pinv(A) | linalg.slogdet(S)
linalg.solve(S, V) | linalg.svdvals(A) | linalg.matrix_norm(A) | linalg.matrix_power(S, 2)
linalg.matrix_rank(S) | linalg.outer(V, V) | linalg.trace(S, offset=1) | linalg.eigvalsh(S)
linalg.diagonal(S) | linalg.vector_norm(A, ord=1) | linalg.cross(V[:3], V[1:]) | vecdot(A, A)
fft.fft(C) | fft.rfft(V) | fft.irfft(C, n=6) | fft.fftn(C) | fft.fftshift(V) | fft.fftfreq(5, d=0.5)
fft.rfftfreq(4) | fft.hfft(C) | fft.ihfft(V) | fft.ifft(C) | fft.ifftn(C) | fft.ifftshift(V)
"""


@over("call", [c.strip() for c in CALLS.replace("\n", "|").split("|") if c.strip()])
def test_values_are_those_of_numpy_which_has_the_standard(call: str) -> None:
    rng = np.random.default_rng(0)
    square = rng.normal(size=(4, 4))
    values = {
        "A": rng.normal(size=(3, 4)), "V": rng.normal(size=4), "I": np.array([2, 0, 1, 2]),
        "S": square @ square.T + np.eye(4), "C": rng.normal(size=(2, 4)) * (1 + 2j),
    }  # fmt: skip
    paddle.set_default_dtype("float64")
    try:
        expected = eval(
            f"xp.{call}" if "." in call.split("(")[0] else call,
            {**vars(np), "xp": np, "D": np},
            values,
        )
    except TypeError as error:  # an axis that older releases ask for
        pytest.skip(f"this NumPy: {error}")
    tensors = {name: paddle.to_tensor(a) for name, a in values.items()}
    names = {name: getattr(xp, name) for name in dir(xp)}
    got = eval(
        f"xp.{call}" if "." in call.split("(")[0] else call, {**names, "xp": xp, "D": xp}, tensors
    )
    several = isinstance(expected, (tuple, list))
    for g, e in zip(got if several else [got], expected if several else [expected], strict=True):
        assert tuple(g.shape) == np.shape(e)
        assert g.dtype.dtype.kind == np.asarray(e).dtype.kind
        np.testing.assert_allclose(g.numpy(), e, rtol=1e-9, atol=1e-12)


def test_sorting_downwards_and_counting() -> None:
    v = paddle.to_tensor([2.0, 3.0, 1.0, 3.0])
    assert xp.argsort(v, descending=True).tolist() == [1, 3, 0, 2]
    assert xp.sort(v, descending=True).tolist() == [3.0, 3.0, 2.0, 1.0]
    values, counts = xp.unique_counts(v)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == {1.0: 1, 2.0: 1, 3.0: 2}


def test_asarray() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=True) is not x
    assert xp.asarray(x, dtype=xp.float64).dtype == xp.float64
    with pytest.raises(ArgumentError, match="leave copy=False away"):
        xp.asarray(np.ones(2), copy=False)
    with pytest.raises(ArgumentError, match="every tensor is on 'cpu'"):
        xp.zeros(2, device="cuda")
    array = np.ones(2)
    shared = xp.from_dlpack(array)
    array[0] = 5.0
    assert shared.tolist() == [5.0, 1.0]


# Numbers that float32 cannot hold, and functions that make arrays of them in a wider dtype.
FINE = [0.1, 1e300, -1e-300, 2**53 + 1]
NESTED = {"number": lambda v: v, "list": lambda v: [v, v], "nested": lambda v: [[v], [v]]}
MADE = {
    "asarray": (lambda xp, v, dtype: xp.asarray(v, dtype=dtype)),
    "full": (lambda xp, v, dtype: xp.full((2,), v, dtype=dtype)),
    "full_like": (lambda xp, v, dtype: xp.full_like(xp.asarray([0.0, 0.0], dtype=dtype), v)),
    "full_like-dtype": (lambda xp, v, dtype: xp.full_like(xp.asarray([0, 0]), v, dtype=dtype)),
    "linspace": (lambda xp, v, dtype: xp.linspace(v, v, 3, dtype=dtype)),
    "arange": (lambda xp, v, dtype: xp.arange(v, 2.5 * v, v, dtype=dtype)),
    "where": (lambda xp, v, dtype: xp.where(xp.asarray(True), xp.ones(2, dtype=dtype), v)),
    "clip": (lambda xp, v, dtype: xp.clip(xp.zeros(2, dtype=dtype), v, None)),
}


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", MADE)
def test_numbers_go_to_a_wider_dtype_at_once(name, dtype):
    if dtype == "complex128" and name in ("arange", "clip", "linspace"):
        pytest.skip("of real numbers")
    for value in FINE:
        found = MADE[name](xp, value, getattr(xp, dtype))
        expected = MADE[name](np, value, getattr(np, dtype))
        np.testing.assert_array_equal(np.asarray(found), expected, strict=True)


@pytest.mark.parametrize("form", NESTED)
def test_nested_numbers_go_to_a_wider_dtype_at_once(form):
    for value in [*FINE, 0.1 + 1e300j]:
        for dtype in ("complex128",) if isinstance(value, complex) else ("float64", "complex128"):
            given = NESTED[form](value)
            found = xp.asarray(given, dtype=getattr(xp, dtype))
            np.testing.assert_array_equal(np.asarray(found), np.asarray(given, dtype), strict=True)


def test_numbers_that_an_integer_dtype_cannot_hold_are_refused():
    assert xp.asarray([1, 255], dtype=xp.uint8).tolist() == [1, 255]
    with pytest.raises(ArgumentError, match="300 does not fit uint8"):
        xp.asarray([1, 300], dtype=xp.uint8)
