"""NumPy's functions and ufuncs on tensors: values, arguments, gradients, programs."""

import ast
import inspect
import re
import warnings
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import ArgumentError, ModeError, NotDifferentiableError
from autograd_engine.interop.numpy_protocol import array_function as table
from autograd_engine.interop.numpy_protocol.array_ufunc import OF_SCIPY, UFUNCS
from tests.interop.numpy_calls import CALLS, arrays
from tests.over import initial, over

# They write into their first argument, and have tests of their own.
WRITES = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
# Results that have no gradient, or integers and truths.
CONSTANT = {
    "angle", "around", "empty_like", "fix", "full_like", "imag", "ones_like", "round",
    "shape", "zeros_like",
}  # fmt: skip
MODULES = (("", np), ("linalg.", np.linalg), ("fft.", np.fft))


def public_functions() -> dict[str, Any]:
    """Everything of NumPy that asks ``__array_function__``, by name."""
    return {
        prefix + name: getattr(module, name)
        for prefix, module in MODULES
        for name in dir(module)
        if hasattr(getattr(module, name), "_implementation") and not name.startswith("_")
    }


pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")


def evaluate(call: str, values: dict[str, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own, of empty slices
        return eval(call, {"np": np}, values)


def tensors(stop_gradient: bool = True) -> dict[str, Any]:
    return {
        name: paddle.to_tensor(a, stop_gradient=stop_gradient or a.dtype.kind != "f")
        for name, a in arrays().items()
    }


def compare(got: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert isinstance(got, (tuple, list))
        assert len(got) == len(expected)
        for g, e in zip(got, expected, strict=True):
            compare(g, e)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert isinstance(got, paddle.Tensor), type(got)
        assert tuple(got.shape) == expected.shape
        assert got.dtype.dtype.kind == expected.dtype.kind or expected.dtype.kind in "iu"
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6, atol=1e-8)
    else:
        assert got == expected


PARAMS = [pytest.param(n, c, id=c) for n, calls in CALLS.items() for c in calls]


@over(("name", "call"), PARAMS, by=initial)
def test_values_are_numpys(name: str, call: str) -> None:
    compare(evaluate(call, tensors()), evaluate(call, arrays()))


# `im` is complex, and a constant
REAL = [
    call
    for name, calls in CALLS.items()
    for call in calls
    if name not in CONSTANT and "im" not in re.findall(r"\w+", call)
]


@over("call", REAL, by=initial)
def test_floating_results_keep_the_graph(call: str) -> None:
    """Nothing floating comes out of what requires a gradient without one."""
    values = tensors(stop_gradient=False)
    try:
        results = evaluate(call, values)
    except (TypeError, NotDifferentiableError) as error:
        assert "complex" in str(error)  # noqa: PT017 - gradients through them are refused everywhere
        return
    for result in results if isinstance(results, (tuple, list)) else [results]:
        if isinstance(result, paddle.Tensor) and result.dtype.dtype.kind == "f":
            assert not result.stop_gradient


# Older releases lack arguments that ours have, and have names that are gone.
CURRENT = np.lib.NumpyVersion(np.__version__) >= "2.4.0"
GONE = {"in1d", "interpolation", "newshape", "bias", "ddof"}
SINCE_2_5 = {"descending"}


def test_coverage_of_numpys_functions() -> None:
    functions = public_functions()
    covered = {name for name, f in functions.items() if f in table.FUNCTIONS}
    free = {name for name, f in functions.items() if f in table.GRADIENT_FREE}
    assert not covered & free
    assert covered - WRITES == CALLS.keys() & functions.keys()
    rest = functions.keys() - covered - free
    print(f"{len(covered)} of {len(functions)} recorded, {len(free)} on values, {sorted(rest)}")
    assert rest - GONE == {
        "busday_count", "busday_offset", "datetime_as_string", "is_busday",  # dates
        "polydiv", "roots", "sort_complex",
    }  # fmt: skip


@over("name", [*CALLS, *sorted(WRITES)])
def test_arguments_have_numpys_names_and_places(name: str) -> None:
    numpys = public_functions().get(name)
    if numpys is None:
        pytest.skip(f"this NumPy has no {name}")
    try:
        expected = dict(inspect.signature(numpys).parameters)
    except ValueError:
        assert not CURRENT
        pytest.skip(f"this NumPy does not say what {name} takes")
    got = dict(inspect.signature(table.FUNCTIONS[numpys]).parameters)
    got = {p: v for p, v in got.items() if p in expected or p not in SINCE_2_5}
    if not CURRENT:
        variable = inspect.Parameter.VAR_KEYWORD
        got = {p: v for p, v in got.items() if p in expected or v.kind is variable}
        expected = {p: v for p, v in expected.items() if p in got or p not in GONE}
    shared = [p for p in got if p in expected or got[p].kind is inspect.Parameter.VAR_KEYWORD]
    assert list(got) == shared, "a name that NumPy does not have"
    taken = [p for p in expected if expected[p].kind is not inspect.Parameter.VAR_KEYWORD]
    assert taken == [p for p in got if got[p].kind is not inspect.Parameter.VAR_KEYWORD]


def ufunc_operands(name: str) -> list[list[str]]:
    positive = {"log", "log2", "log10", "log1p", "sqrt", "arccosh", "reciprocal"}
    if name in ("arcsin", "arccos", "arctanh"):
        return [["u"]]
    if name == "arccosh":
        return [["p + 1.0"]]
    if name in positive:
        return [["p"]]
    if name in ("matmul", "matvec", "vecmat", "vecdot"):
        return {
            "matmul": [["m", "a"], ["x3", "m"]], "matvec": [["c", "w"]], "vecmat": [["x3", "c"]],
            "vecdot": [["a", "b"]],
        }[name]  # fmt: skip
    if name in (
        "gcd",
        "lcm",
        "left_shift",
        "right_shift",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
    ):
        return [["k", "k"], ["k", "2"]]
    if name == "invert":
        return [["k"], ["t"]]
    if name == "ldexp":
        return [["a", "k"]]
    if name in ("power", "float_power"):
        return [["p", "a"], ["p", "2"], ["2.0", "a"]]
    if getattr(np, name).nin == 1:
        return [["a"]] if not name.startswith("logical") else [["t"]]
    return [["a", "b"], ["a", "2.0"], ["0.5", "b"], ["a", "w"]]


UFUNC_TEXTS = [
    f"np.{name}({', '.join(operands)})"
    for name in UFUNCS
    if hasattr(np, name)
    for operands in ufunc_operands(name)
]
UFUNC_CALLS = [pytest.param(call, id=call) for call in UFUNC_TEXTS]


@over("call", UFUNC_CALLS, by=initial)
def test_ufuncs(call: str) -> None:
    compare(evaluate(call, tensors()), evaluate(call, arrays()))
    made = evaluate(call, tensors(stop_gradient=False))
    steps = {"np.divmod": 0, "np.modf": 1, "np.frexp": 1}.get(call[: call.index("(")])
    for k, result in enumerate(made if isinstance(made, tuple) else (made,)):
        constant = (
            k == steps
            or result.dtype.dtype.kind != "f"
            or any(
                f in call
                for f in ("sign", "floor", "ceil", "trunc", "rint", "heaviside", "nextafter")
            )
        )
        if not constant:
            assert not result.stop_gradient


def test_every_ufunc_is_covered() -> None:
    ufuncs = {u.__name__ for u in vars(np).values() if isinstance(u, np.ufunc)}
    assert ufuncs - UFUNCS.keys() == {"bitwise_count", "spacing", "isnat"}


@pytest.mark.parametrize("call", [
    "np.add.reduce(a)", "np.add.reduce(a, axis=1, keepdims=True)", "np.add.reduce(a, axis=None)",
    "np.multiply.reduce(a, 1)", "np.maximum.reduce(a)", "np.minimum.reduce(a, axis=None)",
    "np.logical_and.reduce(t)", "np.logical_or.reduce(t, axis=1)", "np.logaddexp.reduce(a)",
    "np.add.accumulate(a)", "np.multiply.accumulate(a, axis=1)", "np.maximum.accumulate(v)",
    "np.minimum.accumulate(v)", "np.logaddexp.accumulate(v)", "np.multiply.outer(w, v)",
    "np.subtract.outer(a, w)", "np.add(a, b, dtype=np.float32)", "np.hypot.reduce(a)",
])  # fmt: skip
def test_methods_of_ufuncs(call: str) -> None:
    compare(evaluate(call, tensors()), evaluate(call, arrays()))


def test_the_gradient_is_that_of_differences() -> None:
    def f(x: Any) -> Any:
        y = np.concatenate([np.sin(x), np.cumsum(x * x)])
        z = np.interp(y, np.linspace(-9.0, 20.0, 7), np.array([0.0, 2.0, 1.0, 5.0, 3.0, 4.0, 9.0]))
        return np.sum(np.where(y > 0, z * y, np.tanh(y))) + np.linalg.norm(x) + np.cbrt(x[0])

    x = np.array([0.4, -1.1, 2.0])
    t = paddle.to_tensor(x, stop_gradient=False)
    f(t).backward()
    h = 1e-6
    differences = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(t.grad.numpy(), differences, rtol=1e-6)


@pytest.mark.parametrize("name", ["cbrt", "fmod", "exp2", "logaddexp2", "modf"])
def test_gradients_of_composed_ufuncs(name: str) -> None:
    function = getattr(np, name)
    more = (np.array([0.7, 0.7, -0.4]),) if function.nin == 2 else ()
    x = np.array([1.3, -2.9, 0.35])

    def first(v: Any) -> Any:
        made = function(v, *more)
        return made[0] if isinstance(made, tuple) else made

    t = paddle.to_tensor(x, stop_gradient=False)
    first(t).sum().backward()
    h = 1e-6
    np.testing.assert_allclose(t.grad.numpy(), (first(x + h) - first(x - h)) / (2 * h), rtol=1e-6)


# --- constants


# With a number where an array may stand.
NUMBERS = [
    "np.append(a, 1.1)", "np.append(1.1, w)", "np.block([v, 1.1])",
    "np.broadcast_arrays(a, 1.1)", "np.column_stack([w, [1.1, 2.2, 3.3, 4.4]])",
    "np.concatenate([w, [1.1]])", "np.copysign(1.1, a)", "np.cross(x3, [1.1, 2.2, 3.3])",
    "np.diff(v, prepend=1.1)", "np.dot(a, 1.1)", "np.dot(1.1, a)", "np.dstack([d, 1.1])",
    "np.einsum('i,->i', v, 1.1)", "np.float_power(a, 1.1)", "np.full_like(a, 1.1)",
    "np.full_like(a, [1.1, 2.2, 3.3, 4.4])", "np.geomspace(1.1, p[0], 3)", "np.gradient(v, 1.1)",
    "np.hstack([v, 1.1])", "np.inner(v, 1.1)", "np.insert(v, 1, 1.1)", "np.insert(v, 1, [1.1])",
    "np.interp(1.1, up, w)", "np.isclose(a, a[0, 0].item())", "np.isin(a, a[0, 0].item())",
    "np.kron(a, 1.1)", "np.linalg.lstsq(r, [1.1, 2.2, 3.3, 4.4, 5.5])[0]",
    "np.linalg.multi_dot([m, s, [1.1, 2.2, 3.3]])", "np.linalg.outer(v, [1.1])",
    "np.linalg.solve(m, [1.1, 2.2, 3.3])", "np.linalg.solve(m, [16777217, 2, 3])",
    "np.linalg.vecdot(x3, [1.1, 2.2, 3.3])", "np.linspace(1.1, d, 4)", "np.linspace(x3, 2.2, 4)",
    "np.logspace(1.1, d, 4, base=3.3)", "np.meshgrid(w, 1.1)", "np.multiply.outer(1.1, v)",
    "np.outer(v, 1.1)", "np.pad(a, 1, constant_values=1.1)", "np.piecewise(a, [a < 0], [1.1, 2.2])",
    "np.polyadd(w, 1.1)", "np.polyint(w, 1, 1.1)", "np.polymul(1.1, w)",
    "np.polyval([1.1, 2.2], v)",
    "np.polyval(w, 1.1)", "np.searchsorted(np.sort(v), v[2].item())", "np.select([t], [a], 1.1)",
    "np.select([t, a > 1.1], [a, 3.3], 2.2)", "np.setdiff1d(v, v[0].item())", "np.stack([d, 1.1])",
    "np.subtract.outer(a, 1.1)", "np.sum([d, 1.1], 0, where=t[0, :2])", "np.tensordot(a, 1.1, 0)",
    "np.trapezoid(w, [1.1, 2.2, 3.3, 5.5])", "np.union1d(v, 1.1)", "np.vdot(d, 1.1)",
    "np.vstack([w, 1.1 * np.ones(4)])", "np.where(t, a, 1.1)",
    "np.where(t, 1.1, [2.2, a[0, 0], 3.3, d])",
    "np.add(im, [[1.1 + 2.2j], [3.3]])", "np.add(im, 1.1j)", "np.dot(im[0], [1.1j, 2.2, 3.3, 4.4])",
]  # fmt: skip


def inexact(call: str) -> str:
    """The call with numbers that float32 does not hold, 2.2 for 2.0."""
    return re.sub(r"(?<![\w.])\d+\.\d+(?![\w])", lambda n: repr(float(n[0]) * 1.1), call)


def digits() -> list[Any]:
    """Calls that have numbers in them, or more arrays than one."""
    found = []
    for call in [*(c for calls in CALLS.values() for c in calls), *NUMBERS, *UFUNC_TEXTS]:
        if "dtype=" in call or "arange" in call:
            continue
        names = {
            n.id for n in ast.walk(ast.parse(call)) if isinstance(n, ast.Name)
        } & arrays().keys()
        floats = sorted(n for n in names if arrays()[n].dtype.kind == "f")
        asks_all = not call.startswith(("np.full_like", "np.take("))  # these ask the first alone
        lists = floats if len(names) > 1 and asks_all else []
        if lists or inexact(call) != call or call in NUMBERS:
            found.append(pytest.param(call, lists, id=call))
    return found


def assert_digits(got: Any, expected: Any) -> None:
    if isinstance(expected, (tuple, list)):
        for g, e in zip(got, expected, strict=True):
            assert_digits(g, e)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-13)


@over(("call", "lists"), digits(), by=initial)
def test_constants_beside_float64_keep_their_digits(call: str, lists: list[str]) -> None:
    """A number takes the dtype of the arrays beside it, a list is the array that NumPy makes."""
    expected = evaluate(inexact(call), arrays())
    assert_digits(evaluate(inexact(call), tensors()), expected)
    for name in lists:
        for constant in (arrays()[name].tolist(), arrays()[name]):
            values = {**arrays(), name: constant}
            try:
                expected = evaluate(inexact(call), values)
            except (TypeError, AttributeError, ValueError):
                continue  # no list may stand here
            assert_digits(evaluate(inexact(call), tensors() | {name: constant}), expected)


# --- operators between ndarrays, scalars and tensors


def test_operators_on_both_sides() -> None:
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    for array in (a, a.astype(np.float32), np.float32(2), np.float64(2), np.int64(3)):
        t = paddle.to_tensor([[0.5, 1.5], [2.5, 3.5]], stop_gradient=False)
        for f in (lambda x, y: x * y, lambda x, y: x - y, lambda x, y: x / y, lambda x, y: x**y):
            left, right = f(array, t), f(t, array)
            assert not left.stop_gradient
            assert left.dtype == right.dtype
            np.testing.assert_allclose(left.numpy(), f(array, t.numpy()), rtol=1e-6)
    t = paddle.to_tensor(a, stop_gradient=False)
    for got, expected in ((a @ t, a @ a), (t @ a, a @ a), (a == t, a == a), (a < t + 1, a < a + 1)):
        np.testing.assert_array_equal(got.numpy(), expected)
    (np.ones((2, 2)) @ t).sum().backward()
    assert t.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_a_numpy_scalar_is_as_weak_as_a_python_one() -> None:
    t = paddle.to_tensor([1.0], dtype="float32")
    assert (np.float64(2) * t).dtype == (2.0 * t).dtype == "float32"


# --- out= and where=


def test_out_of_a_tensor_takes_the_result_and_its_history() -> None:
    t = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    out = paddle.zeros([2])
    assert np.multiply(t, t, out=out) is out
    out.sum().backward()
    assert t.grad.tolist() == [2.0, 4.0]
    other = paddle.zeros([])
    assert np.sum(t * 3.0, out=other) is other
    assert other.item() == 9.0


def test_out_of_an_ndarray_would_lose_the_graph() -> None:
    t = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    a = np.zeros(2)
    for write in (lambda: np.sin(t, out=a), lambda: np.cumsum(t, out=a), lambda: np.copyto(a, t)):
        with pytest.raises(NotDifferentiableError, match=r"use t\.detach\(\)"):
            write()
    with pytest.raises(NotDifferentiableError, match=r"a = a \+ t"):
        a += t
    assert a.tolist() == [0.0, 0.0]
    a += t.detach()
    np.sin(t.detach(), out=a)
    np.testing.assert_allclose(a, np.sin([1.0, 2.0]), rtol=1e-6)
    np.copyto(a, t.detach())
    assert a.tolist() == [1.0, 2.0]


def test_where_of_a_ufunc() -> None:
    t = paddle.to_tensor([-1.0, 0.0, 4.0], stop_gradient=False)
    out = paddle.full([3], 7.0)
    np.log(t, where=np.array([False, False, True]), out=out)  # no warning of log(0)
    np.testing.assert_allclose(out.numpy(), [7.0, 7.0, np.log(4.0)], rtol=1e-6)
    out.sum().backward()
    assert t.grad.tolist() == [0.0, 0.0, 0.25]
    with pytest.raises(ArgumentError, match=r"use paddle\.where\(mask, np\.log\(t\), other\)"):
        np.log(t, where=t > 0)
    a = np.full(3, 5.0)
    np.sqrt(t.detach(), where=np.array([False, True, True]), out=a)
    assert a.tolist() == [5.0, 0.0, 2.0]


# --- what has no counterpart


def test_no_counterpart_is_an_error_that_names_it() -> None:
    t = paddle.to_tensor([1.0, -3.0, 2.0], stop_gradient=False)
    for name, call in (
        ("np.roots", lambda v: np.roots(v)),
        ("np.polydiv", lambda v: np.polydiv(v, v)[0]),
        ("np.hypot.reduce", lambda v: np.hypot.reduce(v)),
    ):
        with pytest.raises(NotDifferentiableError, match=rf"{name} has no .* use t\.detach\(\)"):
            call(t)
        made = call(t.detach())
        assert isinstance(made, paddle.Tensor)
        np.testing.assert_allclose(made.numpy(), call(t.numpy().astype(float)), rtol=1e-6)
    with pytest.raises(NotDifferentiableError, match="index_add"):
        np.add.at(t, [0], 1.0)
    with pytest.raises(TypeError, match=r"got an unexpected keyword"):
        np.sum(t, nope=1)


def test_functions_of_values_read_tensors_that_require_a_gradient() -> None:
    t = paddle.to_tensor([1.0, 3.0, 2.0], stop_gradient=False)
    assert np.allclose(t, [1.0, 3.0, 2.0])
    assert np.array_equal(t * 1.0, t)
    assert np.argpartition(t, 1).tolist()[0] == 0
    counts, _ = np.histogram(t, bins=2)
    assert counts.tolist() == [1, 2]
    assert np.array2string(t) == "[1. 3. 2.]"
    assert np.result_type(t) == np.float32
    with pytest.raises(NotDifferentiableError, match=r"np\.histogram has no counterpart"):
        np.histogram(t, weights=t)


def test_functions_that_write() -> None:
    def results(make: Any) -> list[Any]:
        a = [make(np.arange(9.0).reshape(3, 3)) for _ in range(6)]
        mask = np.arange(9).reshape(3, 3) % 2 == 0
        np.copyto(a[0], make(np.array([7.0, 8.0, 9.0])), where=mask)
        np.fill_diagonal(a[1], make(np.array([5.0, 6.0])))
        np.place(a[2], mask, [1.0, 2.0])
        np.put(a[3], [0, -1, 0], [4.0, 5.0, 6.0])
        np.put_along_axis(a[4], np.array([[0], [2], [1]]), 9.0, axis=1)
        np.putmask(a[5], mask, make(np.array([1.0, 2.0, 3.0])))
        return a

    for got, expected in zip(results(paddle.to_tensor), results(np.array), strict=True):
        compare(got, expected)
    source = paddle.to_tensor([2.0], stop_gradient=False)
    target = paddle.zeros([3])
    np.copyto(target, source * source)
    target.sum().backward()
    assert source.grad.tolist() == [12.0]


def test_lists_beside_tensors() -> None:
    t = paddle.to_tensor([1.0, 5.0], stop_gradient=False)
    np.testing.assert_array_equal(np.maximum(t, [2, 3]).numpy(), [2.0, 5.0])
    (np.add(t, [t[0], t[1] * 2.0])).sum().backward()
    assert t.grad.tolist() == [2.0, 3.0]


def test_others_get_their_turn() -> None:
    class Other:
        def __array_ufunc__(self, *_: Any, **__: Any) -> str:
            return "mine"

        def __array_function__(self, *_: Any, **__: Any) -> str:
            return "mine"

    t = paddle.to_tensor([1.0])
    assert np.add(t, Other()) == "mine"
    assert np.concatenate([t, Other()]) == "mine"


def shifted(a: Any) -> tuple[Any, Any]:
    return a + 1e-6, a - 1e-6


def test_ufuncs_of_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    x = np.array([0.2, 0.5])
    t = paddle.to_tensor(x, stop_gradient=False)
    constant = {"gammainc": {0}, "gammaincc": {0}}  # which arguments have no rule
    for name in OF_SCIPY.keys() - {"round"}:
        function = getattr(special, name)
        arrays = [x, np.array([1.5, 0.7])][: function.nin]
        leaves = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
        for k in constant.get(name, ()):
            leaves[k] = leaves[k].detach()
        made = function(*leaves)
        np.testing.assert_allclose(made.numpy(), function(*arrays), rtol=1e-10)
        made.sum().backward()
        for k, leaf in enumerate(leaves):
            if k not in constant.get(name, ()):
                high, low = ([*arrays[:k], a, *arrays[k + 1 :]] for a in shifted(arrays[k]))
                slope = (function(*high) - function(*low)) / 2e-6
                np.testing.assert_allclose(leaf.grad.numpy(), slope, rtol=1e-7, err_msg=name)
    nothing, y = paddle.zeros([3], "float64"), paddle.to_tensor([2.0, 0.0, -1.0], "float64")
    nothing.stop_gradient = False
    made = special.xlogy(nothing, y)
    np.testing.assert_array_equal(made.numpy(), special.xlogy(nothing.numpy(), y.numpy()))
    assert paddle.grad(made.sum(), nothing)[0].tolist() == [np.log(2.0), 0.0, 0.0]
    with pytest.raises(NotDifferentiableError, match="airy has no counterpart"):
        special.airy(t)


def test_every_ufunc_of_scipys_that_we_have_is_covered() -> None:
    special = pytest.importorskip("scipy.special")
    theirs = {f.__name__ for f in vars(special).values() if isinstance(f, np.ufunc)}
    ours = {*UFUNCS, *paddle.tensor.public.__all__, "expit", "log_expit", "psi"}
    assert theirs & ours <= OF_SCIPY.keys() <= theirs


# --- programs


def test_numpy_functions_emit_operators(static_mode: None, exe: Any) -> None:
    x = paddle.static.data("x", [None, 3], "float64")
    x.stop_gradient = False
    y = np.tanh(x) * np.ones(3) + np.float32(2) - np.maximum(x, 0.0)
    z = np.concatenate([y, np.sum(y, axis=0, keepdims=True)])
    loss = np.mean(np.where(z > 0, z, 0.5 * z)) + np.add.reduce(x, axis=None)
    (dx,) = paddle.static.gradients([loss], [x])
    types = [op.type for op in paddle.static.default_main_program().global_block().ops]
    assert "tanh" in types
    value = np.random.default_rng(0).normal(size=(4, 3))
    got, slope = exe.run(feed={"x": value}, fetch_list=[loss, dx])

    def reference(v: Any) -> Any:
        y = np.tanh(v) * np.ones(3) + 2.0 - np.maximum(v, 0.0)
        z = np.concatenate([y, np.sum(y, axis=0, keepdims=True)])
        return np.mean(np.where(z > 0, z, 0.5 * z)) + np.sum(v)

    np.testing.assert_allclose(got, reference(value), rtol=1e-12)
    step = np.zeros_like(value)
    step[1, 2] = 1e-6
    difference = (reference(value + step) - reference(value - step)) / 2e-6
    np.testing.assert_allclose(slope[1, 2], difference, rtol=1e-6)


def test_a_variable_has_no_values_for_numpy(static_mode: None) -> None:
    x = paddle.static.data("x", [2, 3], "float32")
    for read in (np.asarray, np.array, float, complex, lambda v: v.__dlpack__(), np.argwhere):
        with pytest.raises(ModeError, match=r"x has n.* (fetch_list|Executor)"):
            read(x)
    assert np.shape(x) == (2, 3)
    with pytest.raises(ModeError, match="no out="):
        np.sin(x, out=np.zeros((2, 3)))


def test_broadcast_arrays_takes_none_as_numpy_does():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    ours, nothing = np.broadcast_arrays(x, None)
    assert ours.grad_fn is not None
    assert nothing.tolist() == [None, None]
