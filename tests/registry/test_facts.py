"""What rows say of their operations besides values and gradients is what their kernels do."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from autograd_engine.core.spec import Spec
from autograd_engine.ops.kernels import compiled
from autograd_engine.ops.registry import opdef
from autograd_engine.ops.registry.namespace import raw
from autograd_engine.ops.registry.opdef import REGISTRY, OpDef
from autograd_engine.ops.registry.work import Work
from tests.over import over

from .samples import LEFT_OUT, SAMPLES, family
from .sampling import Sample

Array = np.ndarray

FLOATS = (np.float64, np.float32, np.float16)


def operations(which: Callable[[OpDef], bool]) -> list[Any]:
    """One case for each operation: its samples are gone through inside."""
    return [
        pytest.param(REGISTRY[name], id=name)
        for name in SAMPLES
        if name not in LEFT_OUT and which(REGISTRY[name])
    ]


def run(op: OpDef, operands: Any, attrs: dict[str, Any]) -> tuple[Array, ...]:
    with np.errstate(all="ignore"):
        out = op.kernel(*operands, **attrs)
    return tuple(out) if op.multiple else (out,)


def work_of(op: OpDef, operands: Any, attrs: dict[str, Any]) -> Work:
    specs = [Spec(a.shape, a.dtype) for a in operands]
    return op.work(specs, op.infer_tuple(specs, attrs), attrs)


def samples(op: OpDef) -> Iterator[tuple[Sample, dict[str, Any]]]:
    for sample in SAMPLES[op.name]:
        yield sample, op.complete_attrs(sample.attrs)


CHOICES = {
    "result": opdef.Result,
    "elements": opdef.Elements,
    "stacks": opdef.Stacks,
    "zero_gradient": opdef.ZeroGradient,
}


def test_rows_say_what_readers_know() -> None:
    for field, choices in CHOICES.items():
        said = {getattr(op, field) for op in REGISTRY.values()} - {None}
        assert said == set(typing.get_args(choices)), field


# --- result


def layouts(arrays: tuple[Array, ...]) -> Iterator[list[Array]]:
    yield list(arrays)
    yield [np.ascontiguousarray(a).reshape(a.shape) for a in arrays]
    yield [np.asfortranarray(a).reshape(a.shape, order="A") for a in arrays]


@over("op", operations(lambda op: bool(op.inputs)), by=family)
def test_whether_results_may_share_memory(op: OpDef) -> None:
    shared = []
    for sample, attrs in samples(op):
        for dtype in FLOATS:
            for k, operands in enumerate(layouts(sample.cast(dtype))):
                given = [a for a in operands if isinstance(a, np.ndarray)]
                for out in run(op, operands, attrs):
                    if any(np.shares_memory(out, a) for a in given):
                        shared.append((sample.label, dtype.__name__, k))
    assert bool(shared) == (op.result == "view"), shared


@over("op", operations(lambda op: op.result == "contiguous"), by=family)
def test_results_without_gaps(op: OpDef) -> None:
    for sample, attrs in samples(op):
        for dtype in FLOATS:
            operands = [np.ascontiguousarray(a).reshape(a.shape) for a in sample.cast(dtype)]
            wider = [np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a for a in operands]
            for given in (operands, wider):
                for out in run(op, given, attrs):
                    assert out.flags.c_contiguous, (sample.label, dtype)


# --- elements


def labelled(sample: Sample, labels: Array) -> list[Array]:
    """The operands, with `labels` in the order of its elements in the place of the first."""
    first, *rest = sample.cast(np.float64)
    return [labels.reshape(first.shape).astype(first.dtype), *rest]


@over("op", operations(lambda op: op.elements not in (None, "fill")), by=family)
def test_elements_are_those_of_the_operand(op: OpDef) -> None:
    """Other numbers in the same places go the same ways."""
    rng = np.random.default_rng(5)
    for sample, attrs in samples(op):
        size = sample.operands[0].size
        plain = np.arange(1.0, size + 1)
        names = np.concatenate([[0.0], rng.permutation(100 + plain)])
        before = run(op, labelled(sample, plain), attrs)
        after = run(op, labelled(sample, names[1:]), attrs)
        for old, new in zip(before, after, strict=True):
            assert np.isin(old, plain if op.elements != "padded" else [0, *plain]).all()
            np.testing.assert_array_equal(names[old.astype(int)], new, err_msg=sample.label)
        if op.elements == "ordered":
            np.testing.assert_array_equal(before[0].ravel(), plain, err_msg=sample.label)


def only_moves(op: OpDef, sample: Sample, attrs: dict[str, Any]) -> bool:
    first = np.asarray(sample.operands[0])
    labels = 1.5 + np.random.default_rng(6).permutation(first.size)
    out = run(op, labelled(sample, labels), attrs)
    return all(bool(np.isin(o, [0.0, *labels]).all()) for o in out)


def may_move(op: OpDef) -> bool:
    """Linear in one operand, beside which others say where, and of its dtype."""
    values = [k for k in range(len(op.inputs)) if op.rule_at(k) is not None]
    return op.tangent == "linear" and values == [0] and not op.variadic and not op.casts


@over("op", operations(lambda op: op.elements is None and may_move(op)), by=family)
def test_what_only_moves_elements_says_so(op: OpDef) -> None:
    moved = [
        only_moves(op, sample, attrs)
        for sample, attrs in samples(op)
        if sample.operands[0].dtype == np.float64 and sample.operands[0].size
    ]
    assert not moved or not all(moved)


@over("op", operations(lambda op: op.elements == "fill"), by=family)
def test_a_fill_is_one_number(op: OpDef) -> None:
    for sample, attrs in samples(op):
        (out,) = run(op, sample.cast(np.float64), attrs)
        assert (out == out.dtype.type(attrs.get("value", 0))).all()


@over("op", operations(lambda op: op.elements is not None), by=family)
def test_what_computes_nothing_is_no_work(op: OpDef) -> None:
    for sample, attrs in samples(op):
        assert work_of(op, sample.cast(np.float64), attrs) == Work(0, 0)


# --- elementwise


@over("op", operations(lambda op: op.elementwise and not op.random), by=family)
def test_elements_depend_on_those_at_their_place(op: OpDef) -> None:
    """In a line, in another order, and without every other one, they are the same."""
    rng = np.random.default_rng(7)
    for sample, attrs in samples(op):
        operands = sample.cast(np.float64)
        whole = run(op, operands, attrs)
        places = rng.permutation(whole[0].size)[::2]
        read = [
            np.broadcast_to(a, whole[0].shape).ravel()[places]
            if op.reads_value(k)
            else Spec(places.shape, a.dtype)
            for k, a in enumerate(operands)
        ]
        for out, part in zip(whole, run(op, read, attrs), strict=True):
            assert out.shape == whole[0].shape
            np.testing.assert_allclose(part, out.ravel()[places], rtol=1e-12, atol=1e-300)


# --- values that are refused


def out_of_range(array: Array) -> Iterator[Array]:
    kept = np.iinfo(array.dtype)
    for value in (10**6, -(10**6)):
        if kept.min <= value <= kept.max:
            yield np.full_like(array, value)


def refuses(op: OpDef) -> bool:
    """Whether some integers, in the place of those of a sample, are refused."""
    for sample, attrs in samples(op):
        operands = sample.cast(np.float64)
        for k, a in enumerate(operands):
            if a.dtype.kind not in "iu" or not a.size or not op.reads_value(k):
                continue
            for other in out_of_range(a):
                try:
                    run(op, [other if j == k else b for j, b in enumerate(operands)], attrs)
                except (IndexError, ValueError):
                    return True
    return False


@over("op", operations(lambda op: not op.random), by=family)
def test_what_refuses_integers_says_so(op: OpDef) -> None:
    assert refuses(op) == op.checks_values


# --- hints


SPECIAL = np.array([-np.inf, -800.0, -1.0, 0.0, 0.5, 1.0, 800.0, np.inf])


@over("op", operations(lambda op: bool(op.hint or op.nan_hint)), by=family)
def test_hints_are_for_what_happens(op: OpDef) -> None:
    """There are operands of which it makes numbers, or derivatives, that are not finite."""
    count = len(op.inputs)
    grid = [a.ravel() for a in np.meshgrid(*[SPECIAL] * count)]
    attrs = {"axis": 0} if "axis" in op.attrs else {}
    lines = [g.reshape(1, -1) if "axis" in op.attrs else g for g in grid]
    (out,) = run(op, lines, attrs)
    finite = np.logical_and.reduce([np.isfinite(g) for g in grid])
    if op.nan_hint:
        assert np.isnan(out).any()
    if op.hint:
        with np.errstate(all="ignore"):
            pullback = op.pullback((1 << count) - 1)
            saved = pullback.save(*lines, out)
            made = pullback.pull(raw, np.ones_like(out), saved, attrs)
        results = [out, *made]
        assert any(not np.isfinite(np.asarray(r).ravel()[finite]).all() for r in results)


# --- work


ADDING = """
sum sum_like scatter_add_like index_add_like unwindows_like put_along_axis_like unextend
max_pool_scatter scatter_add unslice_add
"""


@pytest.mark.parametrize("name", ADDING.split())
def test_sums_count_what_is_added(name: str) -> None:
    """Ones for what is added, and zeros for what it is added to, make its number."""
    op = REGISTRY[name]
    for sample, attrs in samples(op):
        operands = list(sample.cast(np.float64))
        if operands[0].dtype != np.float64:
            continue
        for k, a in enumerate(operands):
            if a.dtype == np.float64 and op.reads_value(k):
                operands[k] = np.full_like(a, 0.0 if op.input_at(k) == "base" else 1.0)
        added = int(sum(o.sum() for o in run(op, operands, attrs)))
        copied = name == "sum_like" and operands[0].shape == operands[1].shape
        assert work_of(op, operands, attrs) == Work(0, 0 if copied else added), sample.label


@pytest.mark.parametrize("name", ["matmul", "conv", "conv_input", "conv_filter"])
def test_products_count_multiplications_and_additions(name: str) -> None:
    """A product of ones has, in all, as many terms as it has multiplications."""
    op = REGISTRY[name]
    counted = 0
    for sample, attrs in samples(op):
        operands = [np.ones_like(a) for a in sample.cast(np.float64)]
        terms = int(run(op, operands, attrs)[0].sum())
        work = work_of(op, operands, attrs)
        padded = any(p for pair in attrs.get("padding", ()) for p in np.atleast_1d(pair))
        if not padded and not attrs.get("ceil_mode"):
            assert work == Work(2 * terms, 0), sample.label
            counted += 1
        assert work.products >= 2 * terms  # padding is multiplied as well
    assert counted


def cholesky(n: int) -> int:
    return sum(2 * j + 1 + (n - j - 1) * (2 * j + 1) for j in range(n))


def elimination(n: int) -> int:
    return sum((n - k - 1) * (1 + 2 * (n - k - 1)) for k in range(n))


def substitution(n: int, columns: int) -> int:
    return columns * sum(2 * k + 1 for k in range(n))


def inverse(n: int) -> int:
    """Gauss and Jordan's, in place: each row is taken from all others."""
    return sum(n + (n - 1) * 2 * n for _ in range(n))


N = 200
MATRIX = Spec((3, N, N), np.dtype(np.float64))
COUNTED: dict[str, tuple[tuple[Spec, ...], int]] = {
    "cholesky": ((MATRIX,), 3 * cholesky(N)),
    "lu": ((MATRIX,), 3 * elimination(N)),
    "det": ((MATRIX,), 3 * elimination(N)),
    "slogdet": ((MATRIX,), 3 * elimination(N)),
    "inv": ((MATRIX,), 3 * inverse(N)),
    "triangular_solve": ((MATRIX, MATRIX), 3 * substitution(N, N)),
    "solve": ((MATRIX, MATRIX), 3 * (elimination(N) + 2 * substitution(N, N))),
}


@pytest.mark.parametrize("name", COUNTED)
def test_decompositions_count_the_leading_term(name: str) -> None:
    operands, steps = COUNTED[name]
    op = REGISTRY[name]
    work = op.work(operands, (operands[-1],), {})
    assert work.elementwise == 0
    assert abs(int(work.products) / steps - 1) < 0.02


class Counting(np.ndarray):
    """An array that counts the elements that ufuncs go through."""

    passed = 0

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(a) if isinstance(a, Counting) else a for a in inputs]
        if "out" in options:
            options["out"] = tuple(
                [np.asarray(a) if isinstance(a, Counting) else a for a in options["out"]]
            )
        made = getattr(ufunc, method)(*plain, **options)
        Counting.passed += np.size(plain[0] if method == "reduce" else made)
        return np.asarray(made).view(Counting)


STEPS = """
sgd momentum adam adam_amsgrad adamw adamw_amsgrad adamax lamb nadam radam rmsprop adagrad adadelta
rprop softmax softmax_adjoint log_softmax log_softmax_adjoint logsumexp p_norm bell
"""


@pytest.mark.parametrize("name", STEPS.split())
def test_kernels_of_several_steps_count_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to what goes through one number, or one for each line."""
    monkeypatch.setattr(compiled, "_on", [False])
    monkeypatch.setattr(compiled, "_found", {})
    op = REGISTRY[name]
    sample = SAMPLES[name][0]
    attrs = op.complete_attrs(sample.attrs)
    shape = sample.operands[0].shape
    large = (60,) * len(shape)
    rng = np.random.default_rng(8)
    operands = [np.abs(rng.normal(size=large)) if a.shape == shape else a for a in sample.operands]
    Counting.passed = 0
    run(op, [a.view(Counting) for a in operands], attrs)
    counted = Counting.passed / operands[0].size
    work = work_of(op, operands, attrs)
    assert work.products == 0
    assert round(counted) == work.elementwise / operands[0].size
    assert abs(counted - round(counted)) < 0.2
