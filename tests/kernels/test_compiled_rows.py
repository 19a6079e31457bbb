"""Elementwise rows in C: the same bits in every mode, near NumPy's results."""

import operator
import shutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.kernels.elementwise import row_text
from autograd_engine.ops import indexing
from autograd_engine.ops.kernels.compiled import LARGE, MANY, ROW, compiled
from autograd_engine.ops.linalg import products
from autograd_engine.ops.registry import cores
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from tests.over import over
from tests.registry.samples import SAMPLES

pytestmark = pytest.mark.skipif(
    not (shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")),
    reason="no C compiler on PATH",
)
DTYPES = ("float32", "float64")
CLOSE = {"float32": 1e-5, "float64": 1e-12}
SHAPE = (33, 251)
ROWS = [
    op
    for op in REGISTRY.values()
    if (op.in_c or op.tangent == "elementwise") and row_text(op.name, np.dtype("float32"))
]
ENDS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 1e30, -1e30, 88.8, -103.5, 710.0, -746.0)


@pytest.fixture(autouse=True)
def _switched_back() -> Iterator[None]:
    before = paddle.get_flags("FLAGS_compiled_kernels")
    yield
    paddle.set_flags(before)


def arrays(
    op: OpDef, dtype: str, shape: tuple[int, ...] = SHAPE
) -> tuple[list[Any], dict[str, Any]]:
    """Large operands with values near those of a sample, and its attributes."""
    random = np.random.default_rng(1)
    sample = next(
        s
        for s in SAMPLES[op.name]
        if all(
            a.size and a.dtype.kind == ("b" if n in op.untyped else "f")
            for n, a in zip(op.inputs, s.operands, strict=True)
        )
    )
    made = []
    for name, a in zip(op.inputs, sample.operands, strict=True):
        whole = np.resize(a.reshape(-1), shape)
        if name not in op.untyped:
            whole = (whole * (1.0 + 1e-3 * random.random(shape))).astype(dtype)
        made.append(whole)
    return made, op.complete_attrs(sample.attrs)


def test_there_are_such_rows() -> None:
    names = {op.name for op in ROWS}
    assert {"exp", "log", "tanh", "silu", "elu", "gelu", "softplus", "where", "erf"} <= names
    for op in (REGISTRY[n] for n in ("silu", "elu", "sigmoid", "softplus")):
        for function in ("kernel", "x"):
            assert compiled(f"{ROW}{op.name}.{function}", np.zeros(1, np.float32)) is not None
    assert np.prod(SHAPE) >= LARGE


@over("on", [True, False])
@over("dtype", DTYPES)
@over("op", ROWS, ids=[op.name for op in ROWS], by=lambda name: name[:1])
def test_every_mode_has_the_same_bits(op: OpDef, dtype: str, on: bool) -> None:
    paddle.set_flags({"FLAGS_compiled_kernels": on})
    for shape in (SHAPE, (5, 8))[: 1 + (op.c_from < LARGE)]:
        _same_bits_in_every_mode(op, dtype, shape)


def _same_bits_in_every_mode(op: OpDef, dtype: str, shape: tuple[int, ...]) -> None:
    operands, attrs = arrays(op, dtype, shape)
    cotangent = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    wanted = [op.rule_at(k) is not None for k in range(len(operands))]

    def derived(g: Any, *xs: Any, create_graph: bool = False) -> list[Any]:
        out = getattr(ops, op.name)(*xs, **attrs)
        out = out[0] if op.multiple else out
        inner = [x for x, asked in zip(xs, wanted, strict=True) if asked]
        if not inner:
            return [out]
        return [out, *paddle.grad([out], inner, [g], create_graph=create_graph)]

    def run(function: Any, **options: Any) -> list[bytes]:
        xs = [
            paddle.to_tensor(a, stop_gradient=not asked)
            for a, asked in zip(operands, wanted, strict=True)
        ]
        return [t.numpy().tobytes() for t in function(paddle.to_tensor(cotangent), *xs, **options)]

    with np.errstate(all="ignore"):
        expected = run(derived)
        assert run(derived, create_graph=True) == expected
        program = paddle.jit.to_static(derived, backend="numpy")
        for _ in range(4):  # as Python, then planned
            assert run(program) == expected


@over("dtype", DTYPES)
@over("op", ROWS, ids=[op.name for op in ROWS], by=lambda name: name[:1])
def test_results_are_near_those_of_numpy(op: OpDef, dtype: str) -> None:
    """On its domain, at the ends of the range, and however operands lie."""
    operands, attrs = arrays(op, dtype)
    ends = [a.copy() for a in operands]
    for k, a in enumerate(ends):
        if a.dtype.kind == "f":
            a[0, :13] = np.roll(np.asarray(ENDS).astype(dtype), 3 * k)
    apart = [np.repeat(a, 2, axis=1)[:, ::2] for a in operands]
    turned = [np.asfortranarray(a) for a in operands]
    mixed = [operands[0], *[np.asfortranarray(a) for a in operands[1:]]]
    for given in (operands, ends, apart, turned, mixed):
        found = []
        for on in (True, False):
            paddle.set_flags({"FLAGS_compiled_kernels": on})
            with np.errstate(all="ignore"):
                result = op.kernel(*given, **attrs)
            found.append(result if isinstance(result, tuple) else (result,))
        for ours, theirs in zip(*found, strict=True):
            assert ours.dtype == theirs.dtype
            finite = np.isfinite(theirs)
            np.testing.assert_array_equal(ours[~finite], theirs[~finite])
            ours, theirs = ours[finite], theirs[finite]
            tiny = np.finfo(dtype).tiny
            np.testing.assert_allclose(ours, theirs, rtol=CLOSE[dtype], atol=max(tiny, 0))


def test_one_step_on_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's bits, forward, backward and summed up, whatever meets."""
    monkeypatch.setattr(cores, "several", lambda: True)
    paddle.set_flags({"FLAGS_compiled_kernels": True})
    random = np.random.default_rng(2)
    shape = (2, MANY // 2 + 3)
    for dtype in (*DTYPES, "int64"):
        x, y = ((random.random(shape) * 9 + 1).astype(dtype) for _ in range(2))
        for other in (y, y[0], y[:, :1], y[0, 0], np.asfortranarray(y), y[::-1]):
            for run in (operator.add, operator.sub, operator.mul, operator.truediv):
                for a, b in ((x, other), (other, x)):
                    if dtype == "int64" and run is operator.truediv:
                        continue
                    found = run(paddle.to_tensor(a), paddle.to_tensor(b)).numpy()
                    np.testing.assert_array_equal(found, run(a, b))
        np.testing.assert_array_equal((-paddle.to_tensor(x)).numpy(), -x)
    for dtype in DTYPES:
        x, y = (random.random(shape).astype(dtype) for _ in range(2))
        found = []
        for on in (True, False):
            paddle.set_flags({"FLAGS_compiled_kernels": on})
            a, b = (paddle.to_tensor(v, stop_gradient=False) for v in (x, y))
            z = a * b - a / b + -a * a + 0.5 * b
            found.append([z, *paddle.grad(z, [a, b])])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


BROADCAST = [
    ((400, 400), (400, 1)),
    ((400, 400), (400,)),
    ((400, 1), (400,)),
    ((300, 80, 8), (300, 1, 8)),
    ((300, 80, 8), (300, 80, 1)),
    ((300, 80, 8), (1, 80, 1)),
    ((300, 1, 8), (80, 1)),
    ((2, 70, 1100), (2, 1, 1)),
    ((2, 70, 1, 1100), (70, 3, 1)),
    ((5, 1, 40, 30, 30), (1, 7, 40, 1, 1)),
    ((3, 50000), (3, 1)),
    ((70000, 1), (1, 3)),
]


@over("dtype", DTYPES)
def test_one_step_on_what_is_broadcast(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    paddle.set_flags({"FLAGS_compiled_kernels": True})
    random = np.random.default_rng(4)
    for name in ("add", "subtract", "multiply", "divide", "maximum", "minimum"):
        assert compiled(f"{ROW}{name}.spread", np.empty(1, dtype)) is not None
        run, numpy = cores.on_all_cores(REGISTRY[name]), getattr(np, name)
        assert run is not None
        for shapes in BROADCAST:
            x, y = ((random.random(shape) - 0.5).astype(dtype) for shape in shapes)
            for many in (False, True):
                monkeypatch.setattr(cores, "several", lambda many=many: many)
                u, v = np.broadcast_arrays(x, y)
                for a, b in ((x, y), (y, x), (u, v), (u.copy(), v), (u, v.copy()), (u, u)):
                    np.testing.assert_array_equal(run(a, b), numpy(a, b))


@over("dtype", DTYPES)
def test_results_of_small_arrays_that_are_broadcast_may_be_large(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forward and, where a gradient repeats its elements, backward: NumPy's bits."""
    random = np.random.default_rng(5)
    x, y = (random.random(shape).astype(dtype) for shape in ((700, 1, 8), (100, 8)))
    asked: list[str] = []

    def noting(name: str, like: Any) -> Any:
        asked.append(name)
        return compiled(name, like)

    found = []
    for on in (True, False):
        paddle.set_flags({"FLAGS_compiled_kernels": on})
        monkeypatch.setattr(cores, "compiled", noting)
        a, b = (paddle.to_tensor(v, stop_gradient=False) for v in (x, y))
        difference = a - b
        whole = paddle.to_tensor(difference.numpy(), stop_gradient=False)
        for axis in (0, 1, 2, (0, 2), None):
            paddle.sum(whole, axis).backward(paddle.sum(difference, axis).detach())
            found.append(whole.grad.numpy())
            whole.clear_grad(False)
        found.append(difference.numpy())
    for ours, theirs in zip(found[:6], found[6:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=CLOSE[dtype], atol=CLOSE[dtype])
    np.testing.assert_array_equal(found[5], x - y)
    assert {f"{ROW}subtract.spread", "spread.copy"} <= set(asked)


@over("dtype", DTYPES)
def test_copies_of_what_repeats_elements(dtype: str) -> None:
    random = np.random.default_rng(6)
    for shape, whole in (
        ((300, 1, 8), (300, 80, 8)),
        ((1, 80, 8), (300, 80, 8)),
        ((300, 80, 1), (300, 80, 8)),
        ((1, 1, 1), (300, 80, 8)),
        ((5, 1, 40, 9), (5, 7, 40, 9)),
        ((5, 1, 40, 1), (5, 7, 40, 9)),
        ((300, 80, 8), (300, 80, 8)),
    ):
        view = np.broadcast_to(random.random(shape).astype(dtype), whole)
        copy = cores.repeated(view)
        if shape != (5, 1, 40, 1):  # which alternates more than three times
            assert copy is not None
            assert copy.flags.c_contiguous
            assert copy.flags.owndata
            np.testing.assert_array_equal(copy, view)
        else:
            assert copy is None
    assert cores.repeated(random.random((700, 700)).astype(dtype).T) is None


@over("dtype", DTYPES)
def test_one_step_at_the_ends(dtype: str) -> None:
    """Of zeros too, whose signs tell which of two equal operands is the result."""
    ends = np.array(ENDS, dtype)
    x, y = (np.tile(v.ravel(), 1000) for v in np.meshgrid(ends, ends))
    for name in ("maximum", "minimum", "sign", "sqrt", "abs"):
        run, given = compiled(f"{ROW}{name}.kernel", x), (x, y)[: len(REGISTRY[name].inputs)]
        assert run is not None
        with np.errstate(invalid="ignore"):
            ours, theirs = run(*given), REGISTRY[name].direct(*given)
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))


@over("dtype", DTYPES)
def test_rows_that_are_read_and_written_on_all_cores(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An embedding, products of its rows that sum over nothing, and its update: NumPy's bits."""
    monkeypatch.setattr(cores, "several", lambda: True)
    for module in (indexing, products):
        monkeypatch.setattr(module, "several", lambda: True)
    random = np.random.default_rng(3)
    table, wide = random.random((300, 77)).astype(dtype), random.random((900, 3, 1)).astype(dtype)
    index = random.integers(0, 300, (20, 95))
    found = []
    for on in (True, False):
        paddle.set_flags({"FLAGS_compiled_kernels": on})
        given = paddle.to_tensor(table, stop_gradient=False)
        read = paddle.nn.functional.embedding(paddle.to_tensor(index), given, sparse=True)
        rows = paddle.unsqueeze(read[:10].reshape([-1, 77])[:900], 1)
        outer = paddle.to_tensor(wide) @ rows
        (read.sum() + (outer * outer).sum()).backward()
        paddle.optimizer.SGD(0.1, parameters=[given]).step()
        found.append([read.numpy(), outer.numpy(), given.numpy()])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not np.array_equal(found[0][2], table)
    with pytest.raises(IndexError, match="300 is out of range"):
        paddle.nn.functional.embedding(
            paddle.to_tensor(np.full((20, 95), 300)), paddle.to_tensor(table)
        )
