"""Kernels in C for large arrays: near NumPy's results, the same on any number of threads."""

import hashlib
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.native import runtime
from autograd_engine.ops.kernels import rows
from autograd_engine.ops.kernels.compiled import compiled
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.forked import forks, in_child
from tests.over import over

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")),
        reason="no C compiler on PATH",
    ),
    pytest.mark.usefixtures("all_blas_threads"),
]
ROOT = Path(__file__).parents[2]
DTYPES = ("float32", "float64")
# How far results with and without the library may be from each other: relative to the largest.
CLOSE = {"float32": 1e-5, "float64": 1e-12}
ROWS = [(64, 512), (33, 1000), (1, 1 << 15), (512, 64), (3, 100_001), (1100, 8)]


@pytest.fixture(autouse=True)
def _switched_on() -> Iterator[None]:
    before = paddle.get_flags("FLAGS_compiled_kernels")
    paddle.set_flags({"FLAGS_compiled_kernels": True})
    yield
    paddle.set_flags(before)


def both(name: str, *operands: Any, **attrs: Any) -> tuple[list[Any], list[Any]]:
    """The results of an operation with and without the library."""
    found = []
    for on in (True, False):
        paddle.set_flags({"FLAGS_compiled_kernels": on})
        with np.errstate(all="ignore"):
            out = REGISTRY[name].kernel(*operands, **attrs)
        found.append(list(out) if isinstance(out, tuple) else [out])
    paddle.set_flags({"FLAGS_compiled_kernels": True})
    return found[0], found[1]


def close(ours: list[Any], theirs: list[Any]) -> bool:
    """Within `CLOSE`; what is not finite is so in both."""
    for a, b in zip(ours, theirs, strict=True):
        finite = np.isfinite(b)
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
            return False
        scale = max(float(np.abs(b[finite]).max(initial=0.0)), 1e-30)
        apart = np.abs(np.where(finite, a, 0) - np.where(finite, b, 0))
        if not float(apart.max(initial=0.0)) <= CLOSE[a.dtype.name] * scale:
            return False
    return True


@over("dtype", DTYPES)
@over("shape", ROWS)
def test_softmax(dtype: str, shape: tuple[int, int]) -> None:
    random = np.random.default_rng(0)
    x = np.asarray(random.standard_normal(shape) * 20.0, dtype)
    x[0, : shape[1] // 2] = -np.inf
    y = np.asarray(random.standard_normal(shape), dtype)
    ours, theirs = both("softmax", x, axis=1)
    assert close(ours, theirs)
    assert close(*both("softmax_adjoint", y, ours[0], axis=1))
    assert close(*both("log_softmax_adjoint", y, both("log_softmax", x, axis=1)[1][0], axis=1))
    for special in (np.inf, np.nan):
        x[-1, 3] = special
        assert close(*both("softmax", x, axis=1))
    x[-1] = -np.inf
    assert np.isnan(both("softmax", x, axis=1)[0][0][-1]).all()


# Shapes and the axes that go: rows, columns, channels of images; odd sizes, axes of size 1.
ALONG: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((33, 1000), (1,)),
    ((4, 5, 7, 11), (2, 3)),
    ((301, 37), (0,)),
    ((3, 41, 5, 67), (1,)),
    ((2, 9, 600), (1,)),
    ((6, 5, 7, 13), (0, 2, 3)),
    ((300, 1, 1, 9), (0, 2, 3)),
]


def _standardized(dtype: str, shape: Any, axis: Any, where: Any = np.asarray) -> Any:
    """Operands of both rows of `standardize`, made by NumPy."""
    random = np.random.default_rng(0)
    x = np.asarray(random.standard_normal(shape) * 3.0 + 2.0, dtype)
    y = np.asarray(random.standard_normal(shape), dtype)
    out = x - x.mean(axis=axis, keepdims=True)
    variance = np.square(out).mean(axis=axis, keepdims=True)
    return where(x), where(y), where(out / np.sqrt(variance)), variance


@over("dtype", DTYPES)
@over("case", ALONG)
def test_standardize(dtype: str, case: Any) -> None:
    shape, axis = case
    attrs = {"axis": axis, "epsilon": 1e-5}
    for where in (np.asarray, np.asfortranarray):
        x, y, out, variance = _standardized(dtype, shape, axis, where)
        assert close(*both("standardize", x, **attrs))
        assert close(*both("standardize_adjoint", y, out, variance, **attrs))
    for special in (np.inf, np.nan):
        x = np.array(x)
        x[-1, -1] = special
        assert close(*both("standardize", x, **attrs))
    assert close(*both("standardize", np.ones(shape, dtype), **attrs))


# Shapes, and `axis`, `split`, `spread`: layers, images by groups and by channels, channels last.
AFFINE: list[tuple[tuple[int, ...], tuple[int, ...], Any, Any]] = [
    ((33, 1000), (1,), None, None),
    ((700, 3), (1,), None, None),
    ((2, 5, 7, 11), (2, 3), None, None),
    ((3, 12, 5, 7), (2,), (0, 4, 105), (1, -1, 1, 1)),
    ((3, 12, 1), (2,), (0, 4, 3), (1, -1, 1)),
    ((2, 5, 1300), (2,), None, (1, -1, 1)),
    ((6, 5, 7, 13), (0, 2, 3), None, (1, -1, 1, 1)),
    ((301, 37), (0,), None, (1, -1)),
    ((4, 3, 5, 270), (0, 1, 2), None, (1, 1, 1, -1)),
    ((4, 3, 5, 9), (1, 2), None, (1, 1, 1, -1)),
]


@over("dtype", DTYPES)
@over("case", AFFINE)
def test_standardize_affine(dtype: str, case: Any) -> None:
    """As NumPy has it, and with the same bits on any number of threads."""
    shape, axis, split, spread = case
    attrs = {"axis": axis, "epsilon": 1e-5, "split": split, "spread": spread}
    random = np.random.default_rng(0)
    channels = tuple(shape[a] for a in axis) if spread is None else (shape[spread.index(-1)],)
    x, y = (np.asarray(random.standard_normal(shape), dtype) for _ in range(2))
    weight, bias = (np.asarray(random.standard_normal(channels), dtype) for _ in range(2))
    for where in (np.asarray, np.asfortranarray):
        assert close(*both("standardize_affine", where(x), weight, bias, **attrs))
        assert close(*both("standardize_affine_adjoint", where(y), where(x), weight, **attrs))
    before, found = runtime.threads(), set()
    for count in (1, 2, 3):
        runtime.set_threads(count)
        made = REGISTRY["standardize_affine"].kernel(x, weight, bias, **attrs)
        made += REGISTRY["standardize_affine_adjoint"].kernel(y, x, weight, **attrs)
        found.add(tuple(v.tobytes() for v in made))
    runtime.set_threads(before)
    assert len(found) == 1
    for special in (np.inf, np.nan):
        x[-1, -1] = special
        assert close(*both("standardize_affine", x, weight, bias, **attrs))
        assert close(*both("standardize_affine_adjoint", y, x, weight, **attrs))


@over("dtype", DTYPES)
@over("case", [case for case in ALONG if len(case[1]) == 1])
def test_softmax_along_any_axis(dtype: str, case: Any) -> None:
    shape, (axis,) = case
    random = np.random.default_rng(0)
    x = np.asarray(random.standard_normal(shape) * 20.0, dtype)
    y = np.asarray(random.standard_normal(shape), dtype)
    label = random.integers(0, shape[axis], (*shape[:axis], *shape[axis + 1 :]))
    label.flat[::3] = -100
    given = {"axis": axis, "ignore": -100, "op": "cross_entropy"}
    for special in (0.0, -np.inf, np.inf, np.nan):
        x[0, 0] = special
        for operand in (x, np.asfortranarray(x)):
            probs, theirs = both("softmax", operand, axis=axis)
            assert close(probs, theirs)
            ours, theirs = both("log_softmax", operand, axis=axis)
            assert close(ours, theirs)
            assert close(*both("log_softmax_adjoint", y, ours[0], axis=axis))
            assert close(*both("label_entropy", operand, label, **given))
        if special == 0.0:
            assert close(*both("softmax_adjoint", y, probs[0], axis=axis))


@over("dtype", DTYPES)
@over("case", ALONG)
def test_programs_have_the_same_bits(dtype: str, case: Any) -> None:
    shape, axis = case
    x = _standardized(dtype, shape, axis)[0]

    def step(x: Any) -> Any:
        out = [ops.log_softmax(x, axis=axis[0]), ops.softmax(x, axis=axis[0])]
        out += list(ops.standardize(x, axis=axis, epsilon=1e-5))
        return paddle.grad(sum((v * v * v).sum() for v in out), x)[0], *out

    def run(function: Any) -> list[bytes]:
        return [v.numpy().tobytes() for v in function(paddle.to_tensor(x, stop_gradient=False))]

    assert run(step) == run(paddle.jit.to_static(step, backend="numpy"))


@over("dtype", DTYPES)
def test_bits_do_not_depend_on_threads(dtype: str) -> None:
    random = np.random.default_rng(0)
    x = np.asarray(random.standard_normal((300, 1111)), dtype)
    y = np.asarray(random.standard_normal(x.shape), dtype)
    names = ("exp", "silu", "log_sigmoid", "erf")
    before, found = runtime.threads(), set()
    for count in (1, 2, 3):
        runtime.set_threads(count)
        bits = [REGISTRY[name].kernel(v) for name in names for v in (x, x.T, x[:, ::2])]
        bits += REGISTRY["gelu"].kernel(x)
        for axis in (0, 1):
            out = REGISTRY["softmax"].kernel(x, axis=axis)
            bits += [out, REGISTRY["log_softmax"].kernel(x, axis=axis)]
            bits += [
                REGISTRY[f"{name}_adjoint"].kernel(y, out, axis=axis)
                for name in ("softmax", "log_softmax")
            ]
        for shape, axes in (((300, 1111), (1,)), ((300, 1111), (0,)), ((100, 33, 101), (0, 2))):
            attrs = {"axis": axes, "epsilon": 1e-5}
            given = x.reshape(shape)
            out, mean, variance = REGISTRY["standardize"].kernel(given, **attrs)
            adjoint = REGISTRY["standardize_adjoint"].kernel
            bits += [out, mean, variance, adjoint(y.reshape(shape), out, variance, **attrs)]
        found.add(tuple(hashlib.blake2b(v.tobytes()).digest() for v in bits))
    runtime.set_threads(before)
    assert len(found) == 1


@over("dtype", DTYPES)
@over("axis", [(1,), (0,), (0, 1)])
@over("shape", [(100, 100), (3, 5000), (5000, 3), (257, 129)])
def test_reductions(dtype: str, axis: tuple[int, ...], shape: tuple[int, int]) -> None:
    """And their adjoints: on any number of threads, of operands in any order, of infinities."""
    random = np.random.default_rng(0)
    x, y = (np.asarray(random.standard_normal(shape) * 3.0, dtype) for _ in range(2))
    c = np.asarray(random.standard_normal(np.sum(x, axis).shape), dtype)
    far = x.copy()
    far[0], far[1, 1], far[2, 2] = -np.inf, np.inf, np.nan
    kernel = {name: op.kernel for name, op in REGISTRY.items()}
    norm, log = kernel["p_norm"](x, p=2.0, axis=axis), kernel["logsumexp"](x, axis=axis)
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("sum", (x,), {}),
        ("mean", (x,), {}),
        ("logsumexp", (x,), {}),
        ("logsumexp_adjoint", (c, x, log), {}),
        ("logsumexp", (far,), {}),
        ("logsumexp_adjoint", (c, far, kernel["logsumexp"](far, axis=axis)), {}),
        ("p_norm", (x,), {"p": 2.0}),
        ("norm_adjoint", (c, x, norm), {}),
        ("norm_adjoint", (c, x, norm * 0), {}),
        ("variance", (x,), {"correction": 1}),
        ("variance_adjoint", (c, x), {"correction": 1}),
        ("deviation", (x,), {"correction": 1}),
        ("deviation_adjoint", (c, x, norm), {"correction": 1}),
        ("mean_square", (x, y), {}),
        ("mean_square_adjoint", (c, x, y), {}),
    ]
    before = runtime.threads()
    for name, operands, attrs in calls:
        for where in (np.asarray, np.asfortranarray):
            given = [where(v) if v.ndim else v for v in operands]
            ours, theirs = both(name, *given, axis=axis, **attrs)
            assert close(ours, theirs), name
            for count in (2, 3):
                runtime.set_threads(count)
                again = REGISTRY[name].kernel(*given, axis=axis, **attrs)
                assert again.tobytes() == ours[0].tobytes(), name
            runtime.set_threads(before)


@over("dtype", DTYPES)
@over("axis", [1, 0, None])
@over("on", [True, False])
def test_reductions_have_the_same_bits_in_every_mode(dtype: str, axis: Any, on: bool) -> None:
    paddle.set_flags({"FLAGS_compiled_kernels": on})
    random = np.random.default_rng(0)
    x = paddle.to_tensor(random.standard_normal((150, 140)).astype(dtype), stop_gradient=False)
    y = paddle.to_tensor(random.standard_normal((150, 140)).astype(dtype), stop_gradient=False)

    def derived(x: Any, y: Any, create_graph: bool = False) -> list[Any]:
        outs = [
            paddle.logsumexp(x, axis),
            paddle.var(x, axis),
            paddle.std(x, axis),
            paddle.norm(x, axis=axis),
            paddle.nn.functional.mse_loss(x, y),
            paddle.sum(x * y, axis),
        ]
        return outs + [
            g
            for out in outs
            for g in paddle.grad([out], [x], [out * 0.5], create_graph=create_graph)
        ]

    expected = [t.numpy().tobytes() for t in derived(x, y)]
    assert [t.numpy().tobytes() for t in derived(x, y, True)] == expected
    program = paddle.jit.to_static(derived, backend="numpy")
    assert [t.numpy().tobytes() for t in program(x, y)] == expected


@over("dtype", DTYPES)
@over("shape", [(700, 8), (5, 700), (30, 40)])
@over("on", [True, False])
def test_softmax_has_the_same_bits_in_every_mode(
    dtype: str, shape: tuple[int, int], on: bool
) -> None:
    paddle.set_flags({"FLAGS_compiled_kernels": on})
    random = np.random.default_rng(0)
    x = paddle.to_tensor(random.standard_normal(shape).astype(dtype), stop_gradient=False)
    g = paddle.to_tensor(random.standard_normal(shape).astype(dtype))

    def derived(x: Any, g: Any, create_graph: bool = False) -> list[Any]:
        out = paddle.nn.functional.softmax(x)
        return [out, *paddle.grad([out], [x], [g], create_graph=create_graph)]

    expected = [t.numpy().tobytes() for t in derived(x, g)]
    assert [t.numpy().tobytes() for t in derived(x, g, create_graph=True)] == expected
    program = paddle.jit.to_static(derived, backend="numpy")
    for _ in range(4):
        assert [t.numpy().tobytes() for t in program(x, g)] == expected


def test_which_dtypes_have_one() -> None:
    found = {char: compiled("rows.softmax", np.zeros(3, char)) for char in "efdgi"}
    assert {char for char, function in found.items() if function is not None} == {"f", "d"}
    assert compiled("rows.softmax", np.zeros(3, "f")) is found["f"]


def test_no_warning_is_left_behind() -> None:
    x = np.full((300, 100), 1e38, np.float32)
    x[5] = -np.inf
    with np.errstate(all="raise"):
        REGISTRY["softmax"].kernel(x, axis=1)


@forks
def test_a_child_computes_on() -> None:
    x = np.random.default_rng(0).standard_normal((1000, 1000)).astype(np.float32)
    expected = REGISTRY["softmax"].kernel(x, axis=1)
    assert in_child(lambda: np.array_equal(REGISTRY["softmax"].kernel(x, axis=1), expected))


@pytest.mark.parametrize("how", ["turned off", "no compiler", "no native code"])
def test_without_the_library_numpy_computes(how: str) -> None:
    program = """
    import numpy, autograd_engine as paddle
    from autograd_engine.ops.kernels.compiled import compiled
    x = numpy.ones((300, 100), "float32")
    assert compiled("rows.softmax", x) is None
    assert paddle.nn.functional.softmax(paddle.to_tensor(x)).shape == [300, 100]
    """
    changed = {
        "turned off": {"AUTOGRAD_ENGINE_KERNELS": "0"},
        "no compiler": {"PATH": "", "CC": ""},
        "no native code": {"AUTOGRAD_ENGINE_NATIVE": "0"},
    }[how]
    if how == "no compiler":
        program = (
            "    from autograd_engine.compiler.native.toolchain import compiler\n"
            "    compiler._packaged = list\n" + program
        )
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "AUTOGRAD_ENGINE_PROGRESS": "1", **changed},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == (how == "no compiler")


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], int, int, int, int]] = [
    ((16, 1, 28, 28), (6, 1, 5, 5), 1, 2, 1, 1),
    ((5, 6, 33, 21), (10, 3, 3, 2), 2, 1, 1, 2),
    ((4, 16, 19, 40), (16, 1, 3, 3), 1, 1, 2, 16),
    ((2, 9, 300), (11, 9, 4), 3, 0, 2, 1),
    ((2, 5, 9, 10, 20), (9, 5, 3, 2, 3), 1, 1, 1, 1),
    ((3, 24, 12, 12), (24, 24, 1, 1), 2, 0, 1, 1),
    # filters that fill vectors: images narrower than one, phases of strides, many filters
    ((9, 24, 7, 7), (40, 24, 3, 3), 1, 1, 1, 1),
    ((2, 32, 14, 15), (150, 16, 3, 3), 2, 1, 1, 2),
    ((3, 20, 1, 60), (48, 20, 1, 7), 3, 4, 2, 1),
    # one tap: images as they lie, or, for the sake of the cache, in frames
    ((6, 24, 9, 7), (16, 24, 1, 1), 1, 0, 1, 1),
    ((2, 16, 16, 16), (40, 8, 1, 1), 1, 0, 1, 2),
    ((9, 32, 3, 3), (48, 16, 1, 1), 1, 0, 1, 2),
    ((40, 32, 7, 7), (32, 1, 3, 3), 1, 1, 1, 32),
    # 3 x 3 taps by the minimal algorithm
    ((5, 48, 17, 15), (51, 48, 3, 3), 1, 1, 1, 1),
    ((3, 53, 22, 34), (50, 53, 3, 3), 1, 0, 1, 1),
    ((2, 49, 9, 70), (48, 49, 3, 3), 1, 4, 1, 1),
]


def convolutions(dtype: str) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """The operations of each case of `CONVOLUTIONS`, with what they are called with."""
    random = np.random.default_rng(0)
    for x_shape, w_shape, stride, padding, dilation, groups in CONVOLUTIONS:
        n = len(x_shape) - 2
        attrs = {
            "stride": (stride,) * n,
            "padding": ((padding, padding),) * n,
            "dilation": (dilation,) * n,
            "groups": groups,
        }
        x = random.standard_normal(x_shape).astype(dtype)
        w = random.standard_normal(w_shape).astype(dtype)
        g = random.standard_normal(REGISTRY["conv"].kernel(x, w, **attrs).shape).astype(dtype)
        yield "conv", [x, w], attrs
        yield "conv", [np.asfortranarray(x), w[::-1]], attrs
        yield "conv_input", [g, w, x], attrs
        yield "conv_filter", [g, x, w], attrs
        x = x.copy()
        x[-1, -1].flat[0] = np.inf
        x[0, 0].flat[-1] = np.nan
        yield "conv", [x, w], attrs
        yield "conv_filter", [g, x, w], attrs


@over("dtype", DTYPES)
def test_convolutions(dtype: str) -> None:
    wrong, last = [], None
    for i, (name, operands, attrs) in enumerate(convolutions(dtype)):
        with np.errstate(invalid="ignore"):
            same = close(*both(name, *operands, **attrs))
        if not same:
            wrong.append((i, name))
        last = compiled(f"conv.{'filter' if name == 'conv_filter' else 'correlate'}", operands[0])
    assert not wrong
    assert last is not None


@over("dtype", DTYPES)
def test_bits_of_convolutions_do_not_depend_on_threads(dtype: str) -> None:
    before, found = runtime.threads(), set()
    for count in (1, 2, 3):
        runtime.set_threads(count)
        bits = [
            REGISTRY[name].kernel(*a, **attrs).tobytes() for name, a, attrs in convolutions(dtype)
        ]
        found.add(b"".join(bits))
    runtime.set_threads(before)
    assert len(found) == 1


SCANS: list[tuple[tuple[int, ...], int]] = [
    ((61, 67), 1),
    ((67, 61), 0),
    ((3, 41, 301), 1),
    ((2, 9, 11, 17), 2),
    ((1, 4001), 1),
]


@over("dtype", DTYPES)
@over("case", SCANS)
def test_scans(dtype: str, case: Any) -> None:
    shape, axis = case
    random = np.random.default_rng(0)
    x = np.asarray(random.uniform(0.5, 1.5, shape), dtype)
    a = np.asarray(random.uniform(-1.0, 1.0, shape), dtype)
    a[0] = 0.0
    before = runtime.threads()
    for where in (np.asarray, np.asfortranarray, lambda v: v[::-1]):
        for attrs in ({"axis": axis, "reverse": reverse} for reverse in (False, True)):
            for name, operands in (
                ("cumsum", (x,)),
                ("cumprod", (x,)),
                ("linear_recurrence", (a, x)),
            ):
                given = [where(v) for v in operands]
                ours, theirs = both(name, *given, **attrs)
                assert np.array_equal(ours[0], theirs[0])  # one order, each step rounded
                for count in (2, 3):
                    runtime.set_threads(count)
                    again = REGISTRY[name].kernel(*given, **attrs)
                    assert again.tobytes() == ours[0].tobytes()
                runtime.set_threads(before)
        for name in ("prod", "product_of_others"):
            ours, theirs = both(name, where(x), axis=axis)
            assert np.array_equal(ours[0], theirs[0])
            runtime.set_threads(3)
            assert REGISTRY[name].kernel(where(x), axis=axis).tobytes() == ours[0].tobytes()
            runtime.set_threads(before)
        ties = np.round(where(x) * 8)
        ties[-1] = np.nan
        for name in ("cummax", "cummin"):
            for ours, theirs in zip(*both(name, ties, axis=axis), strict=True):
                np.testing.assert_array_equal(ours, theirs)


@over("dtype", DTYPES)
@over("width", (2, 3, 4, 5, 8, 13, 63))
def test_reductions_of_short_rows(dtype: str, width: int) -> None:
    random = np.random.default_rng(0)
    x = np.asarray(random.integers(-3, 3, (91, 97, width)), dtype)
    x[0, 0, 0], x[1, 1, 0], x[2, 2, :] = np.nan, np.inf, -np.inf
    c = np.asarray(random.standard_normal((91, 97)), dtype)
    for attrs in ({"axis": (2,), "keepdims": keepdims} for keepdims in (False, True)):
        for name in ("sum", "mean", "max", "min"):
            assert close(*both(name, x, **attrs))
            kernel = partial(getattr(ops, name), **attrs)
            function = paddle.jit.to_static(lambda x, kernel=kernel: kernel(x), backend="numpy")
            eager = REGISTRY[name].kernel(x, **attrs)
            assert function(paddle.to_tensor(x)).numpy().tobytes() == eager.tobytes()
        value = x.max(**{**attrs, "axis": 2})
        given = c.reshape(value.shape)
        assert close(*both("share_ties", given, x, value, **attrs))
        assert close(*both("share_ties", given, np.asfortranarray(x), value, **attrs))


@over("dtype", DTYPES)
def test_reductions_over_short_rows(dtype: str) -> None:
    """NumPy's bits, on any number of threads; gradients of what was broadcast, in every mode."""
    random, before = np.random.default_rng(0), runtime.threads()
    values = np.array([0.0, -0.0, 1.0, -3.5, 1e30, np.inf, np.nan], dtype)
    few = np.array([0.28, 0.28, 0.2, 0.2, 0.02, 0.01, 0.01])
    shapes = [(500, 7, 8), (300, 20, 3), (40, 9, 65), (1, 999, 30), (9000, 1, 4), (30, 5, 20, 4)]
    shapes += [(5, 6, 700), (1, 9, 4097)]
    for shape in shapes:
        for chosen in (random.choice(values, shape, p=few), random.choice(values[:2], shape)):
            for name, ufunc in (("sum", np.add), ("max", np.maximum), ("min", np.minimum)):
                for axis in ((1,), (0, 1), (0,)):
                    with np.errstate(invalid="ignore"):
                        expected = ufunc.reduce(chosen, axis=axis)
                    for count in (1, 3):
                        runtime.set_threads(count)
                        between = rows.between(name, chosen, axis)
                        if between is not None:
                            out = np.empty_like(expected)
                            between(chosen, out)
                            np.testing.assert_array_equal(out, expected)
                            there = ~np.isnan(expected)
                            signs = np.signbit(out)[there] == np.signbit(expected)[there]
                            assert signs.all(), (shape, name, axis)
                    runtime.set_threads(before)
        value, given = chosen.max(axis=1), random.random(chosen.max(axis=1).shape).astype(dtype)
        with np.errstate(invalid="ignore"):
            ours, theirs = both("share_ties", given, chosen, value, axis=(1,))
        np.testing.assert_array_equal(ours[0], theirs[0])
    assert rows.between("sum", np.empty((500, 7, 8), dtype), (1,)) is not None


@over("dtype", DTYPES)
@over("shape", [(200, 1, 8), (200, 30, 1), (30, 8), (1, 30, 1)])
def test_what_is_broadcast_has_the_same_bits_in_every_mode(
    dtype: str, shape: tuple[int, ...]
) -> None:
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(s).astype(dtype) for s in ((200, 30, 8), shape)]
    x, y = (paddle.to_tensor(a, stop_gradient=False) for a in arrays)

    def derived(x: Any, y: Any, create_graph: bool = False) -> list[Any]:
        outs = [x - y, x * y, paddle.maximum(x, y)]
        outs += [paddle.sum(x, 1), paddle.max(x * y, 1), paddle.mean(x * y, [0, 1])]
        gradients = [
            paddle.grad([out], [v], [out * 0.5], create_graph=create_graph, allow_unused=True)
            for out in outs
            for v in (x, y)
        ]
        return outs + [g for (g,) in gradients if g is not None]

    expected = [t.numpy().tobytes() for t in derived(x, y)]
    assert [t.numpy().tobytes() for t in derived(x, y, True)] == expected
    program = paddle.jit.to_static(derived, backend="numpy")
    assert [t.numpy().tobytes() for t in program(x, y)] == expected


@over("dtype", DTYPES)
@over("shape", [(100, 90), (90, 100), (2, 70, 70), (10_000, 1), (1, 10_000)])
def test_triangles(dtype: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    x[..., 0] = np.nan
    for diagonal in (0, 1, -3, 99, -99, 10**6, -(10**6)):
        for where in (np.asarray, np.asfortranarray):
            for name in ("tril", "triu"):
                (ours,), (theirs,) = both(name, where(x), diagonal=diagonal)
                np.testing.assert_array_equal(ours, theirs)


@over("dtype", DTYPES)
@over("width", (1, 3, 70, 1000))
def test_rows_are_added_in_order(dtype: str, width: int) -> None:
    random = np.random.default_rng(0)
    count = 4001 if width < 100 else 301
    index = random.integers(-20, 20, count)
    values = np.asarray(random.standard_normal((count, width)), dtype)
    like = np.empty((20, width), dtype)
    before = runtime.threads()
    for dtype_of_index in ("int64", "int32"):
        for given in (values, np.asfortranarray(values)):
            operands = given, index.astype(dtype_of_index), like
            ours, theirs = both("scatter_add_like", *operands, axis=0)
            assert np.array_equal(ours[0], theirs[0])
            runtime.set_threads(3)
            again = REGISTRY["scatter_add_like"].kernel(*operands, axis=0)
            runtime.set_threads(before)
            assert again.tobytes() == ours[0].tobytes()
    for axis, shape in ((1, (count, 3)), (0, (count + 102, width))):
        size = values.shape[axis]
        along = random.integers(-size, size, shape)
        for given in (values, np.asfortranarray(values)):
            ours, theirs = both("take_along_axis", given, along, axis=axis, wraps=True)
            assert np.array_equal(ours[0], theirs[0])
            ours, theirs = both("put_along_axis_like", ours[0], along, given, axis=axis)
            assert np.array_equal(ours[0], theirs[0])


# shape of what is resampled, sizes of the result
RESAMPLED: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((5, 3, 19, 23), (37, 46)),
    ((2, 3, 40, 33), (7, 66)),
    ((3, 7, 501), (77,)),
    ((2, 2, 7, 9, 11), (14, 5, 22)),
    ((3, 2, 1, 5001), (4, 33)),
    ((1, 6, 5001), (9001,)),
]


@over("dtype", DTYPES)
@over("case", RESAMPLED)
def test_resampling(dtype: str, case: Any) -> None:
    shape, size = case
    random = np.random.default_rng(0)
    x = np.asarray(random.standard_normal(shape), dtype)
    y = np.asarray(random.standard_normal((*shape[: -len(size)], *size)), dtype)
    before = runtime.threads()
    for mode, align_corners, antialias in (
        ("nearest", False, False),
        ("linear", False, False),
        ("linear", True, False),
        ("linear", False, True),
        ("cubic", False, False),
        ("cubic", False, True),
    ):
        attrs = {
            "size": size,
            "scale": (None,) * len(size),
            "mode": mode,
            "align_corners": align_corners,
            "align_mode": 0,
            "antialias": antialias,
        }
        for where in (np.asarray, np.asfortranarray, lambda v: v[::-1]):
            for name, operands in (("resample", (where(x),)), ("resample_like", (where(y), x))):
                ours, theirs = both(name, *operands, **attrs)
                assert close(ours, theirs)
                for count in (2, 3):
                    runtime.set_threads(count)
                    again = REGISTRY[name].kernel(*operands, **attrs)
                    assert again.tobytes() == ours[0].tobytes()
                runtime.set_threads(before)
        special = x.copy()
        special.flat[::97], special.flat[5] = np.inf, np.nan
        assert close(*both("resample", special, **attrs))  # where the weight is 0 it is not read


@over("dtype", DTYPES)
@over("n", (64, 97, 200))
def test_systems(dtype: str, n: int) -> None:
    random = np.random.default_rng(0)
    a = np.asarray(random.standard_normal((n, n)), dtype)
    kernel, before = REGISTRY["solve"].kernel, runtime.threads()
    for count in (1, 3, 64):
        b = np.asarray(random.standard_normal((n, count)), dtype)
        for where in (np.asarray, np.asfortranarray, lambda v: v[::-1]):
            for transpose in (False, True):
                given = where(a), where(b)
                ours, theirs = both("solve", *given, transpose=transpose)
                scale = np.abs(theirs[0]).max()
                near = 1e-5 if dtype == "float32" else 1e-11  # times the condition of the matrix
                assert np.abs(ours[0] - theirs[0]).max() <= near * scale
                runtime.set_threads(3)
                again = kernel(given[0].copy(), given[1], transpose=transpose)
                runtime.set_threads(before)
                assert again.tobytes() == ours[0].tobytes()
    # What is kept of a matrix is not taken for that of its new values.
    ours, _ = both("solve", a, b)
    a[:] = a[::-1].copy()
    ours, theirs = both("solve", a, b)
    assert np.abs(ours[0] - theirs[0]).max() <= near * np.abs(theirs[0]).max()
    close_to_singular = np.outer(a[0], a[1]) + 1e-4 * np.eye(n, dtype=dtype)
    assert np.isfinite(kernel(close_to_singular, b)).all()
    with pytest.raises(paddle.errors.ArgumentError, match="singular"):
        kernel(np.zeros((n, n), dtype), b)
    assert np.isnan(kernel(np.full((n, n), np.nan, dtype), b)).all()


# shape of images, kernel, stride, padding, whether a last, partial window counts
POOLED: list[tuple[tuple[int, ...], Any, Any, Any, bool]] = [
    ((3, 2, 14, 16), (2, 2), (2, 2), ((0, 0), (0, 0)), False),
    ((2, 3, 13, 17), (3, 2), (2, 1), ((1, 0), (0, 1)), True),
    ((2, 3, 19, 23), (2, 3), (4, 5), ((0, 0), (1, 1)), True),
    ((2, 5, 67), (5,), (2,), ((2, 2),), False),
]
BINS: list[tuple[tuple[int, ...], Any]] = [
    ((3, 2, 14, 16), (3, 5)),
    ((2, 3, 12, 18), (4, 6)),
    ((2, 5, 67), (9,)),
]


@over("dtype", DTYPES)
@over("case", [*POOLED, *BINS])
def test_pooling(dtype: str, case: Any) -> None:
    shape, random, before = case[0], np.random.default_rng(0), runtime.threads()
    x = np.asarray(random.integers(-3, 3, shape), dtype)  # with ties
    attrs: dict[str, Any] = {"size": case[1]}
    if len(case) > 2:
        attrs = dict(zip(("kernel", "stride", "padding", "ceil_mode"), case[1:], strict=True))
    prefix = "" if len(case) > 2 else "adaptive_"
    averages = [{}] if prefix else [{"exclusive": True}, {"exclusive": False}]
    averages += [] if prefix else [{"exclusive": False, "divisor": 2.5}]
    for special in (0.0, np.nan, -np.inf):
        x[0, 0] = np.where(random.random(shape[2:]) < 0.3, special, x[0, 0])
        calls: list[Any] = []
        for given in (x, np.asfortranarray(x), x[::-1]):
            ours, theirs = both(f"{prefix}max_pool", given, **attrs)
            for a, b in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(a, b)
            g = np.asarray(random.standard_normal(ours[0].shape), dtype)
            calls += [
                (f"{prefix}max_pool", (given,), attrs),
                ("max_pool_scatter", (g, ours[1], x), {}),
            ]
            for how in averages:
                calls.append((f"{prefix}avg_pool", (given,), {**attrs, **how}))
                calls.append((f"{prefix}avg_pool_input", (g, given), {**attrs, **how}))
        for name, operands, how in calls:
            ours, theirs = both(name, *operands, **how)
            assert close(ours[:1], theirs[:1])
            runtime.set_threads(3)
            again = REGISTRY[name].kernel(*operands, **how)
            runtime.set_threads(before)
            again = again if isinstance(again, tuple) else (again,)
            assert [v.tobytes() for v in again] == [v.tobytes() for v in ours]
