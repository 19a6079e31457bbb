"""The dtype bfloat16: its names, what it meets, how it is kept, and what stands where it is not."""

from __future__ import annotations

import copy
import io
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.core.dtypes import DTYPES
from autograd_engine.errors import DTypeError

ml_dtypes = pytest.importorskip("ml_dtypes")
F = paddle.nn.functional

HALVES = ["float16", "bfloat16"]
# What Paddle 3.3.1 says of sums; a bool or an integer beside floats is refused there.
PROMOTED = {
    ("bfloat16", "float16"): "float32",
    ("bfloat16", "bfloat16"): "bfloat16",
    ("bfloat16", "float32"): "float32",
    ("bfloat16", "float64"): "float64",
    ("bfloat16", "complex64"): "complex64",
    ("bfloat16", "complex128"): "complex128",
    **{("bfloat16", name): "bfloat16" for name in ("bool", "uint8", "int8", "int16", "int64")},
}


def some(*values: float, dtype: str = "bfloat16", **kwargs: Any) -> paddle.Tensor:
    return paddle.to_tensor(list(values), dtype=dtype, **kwargs)


def test_every_name_for_it_says_what_to_install_where_it_is_not() -> None:
    text = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np
import autograd_engine as paddle
x = paddle.ones([2])
table = {paddle.bfloat16: 1, paddle.float32: 2}
assert table[x.dtype] == 2 and table[paddle.bfloat16] == 1
assert x.dtype != paddle.bfloat16 and not paddle.device.is_bf16_supported()
named = [
    lambda: paddle.to_tensor([1.0], dtype="bfloat16"),
    lambda: paddle.to_tensor([1.0], dtype=paddle.bfloat16),
    lambda: x.astype("bfloat16"), lambda: x.bfloat16(), lambda: x.to(paddle.bfloat16),
    lambda: paddle.cast(x, "bfloat16"),
    lambda: paddle.set_default_dtype("bfloat16"), lambda: paddle.zeros([2], "bfloat16"),
    lambda: paddle.rand([2], dtype="bfloat16"), lambda: paddle.finfo("bfloat16"),
    lambda: paddle.nn.Linear(1, 1).bfloat16(),
]
for call in named:
    try:
        call()
    except ImportError as error:
        assert 'pip install "autograd-engine[bfloat16]"' in str(error), error
    else:
        raise AssertionError("no error")
"""
    subprocess.run([sys.executable, "-c", text], check=True)


def test_importing_the_engine_does_not_import_ml_dtypes() -> None:
    text = "import sys, autograd_engine; assert 'ml_dtypes' not in sys.modules"
    subprocess.run([sys.executable, "-c", text], check=True)


def test_names_are_equal_and_hash_alike() -> None:
    dtype = some(1.0).dtype
    assert dtype is paddle.bfloat16
    assert repr(dtype) == "paddle.bfloat16"
    assert dtype == "bfloat16" == dtype
    assert dtype == ml_dtypes.bfloat16
    assert {np.dtype(ml_dtypes.bfloat16): 1}[dtype] == 1  # type: ignore[index]
    assert dtype not in (paddle.float16, "float16", np.dtype("float32"), "uint16")
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert dtype.is_floating
    assert (dtype.itemsize, dtype.kind) == (2, "f")
    info = paddle.finfo(dtype)
    assert (info.bits, info.eps, info.dtype) == (16, 2.0**-7, "bfloat16")


@pytest.mark.parametrize("swapped", [False, True])
def test_promotion(swapped: bool) -> None:
    for (one, other), expected in PROMOTED.items():
        x, y = paddle.ones([2], one), paddle.ones([2], other)
        x, y = (y, x) if swapped else (x, y)
        for made in (x + y, x * y, x / y):
            assert made.dtype == expected, (one, other)
        assert (x == y).all()
    for number in (1, 1.5, True, np.float32(2)):
        assert (some(1.0) + number).dtype == (number + some(1.0)).dtype == "bfloat16"
    assert (some(1.0) + 1j).dtype == "complex64"


def test_casts_between_all_dtypes() -> None:
    values = np.array([0.0, 1.0, 3.0, 100.0])
    for name in DTYPES:
        there = paddle.to_tensor(values).astype(name)
        if name.startswith("complex"):
            assert paddle.to_tensor(values).astype("bfloat16").astype(name).dtype == name
            continue
        back = there.astype("bfloat16")
        assert back.dtype == "bfloat16"
        assert back.astype(name).tolist() == there.tolist(), name
        assert back.astype(name).dtype == name
    largest = paddle.to_tensor([1e39, -1e39, 3.4e38], dtype="float64")
    with np.errstate(over="ignore"):
        assert largest.astype("bfloat16").tolist() == [np.inf, -np.inf, np.inf]


@pytest.mark.parametrize("dtype", HALVES)
def test_a_cast_that_overflows_is_named_with_its_line(dtype: str) -> None:
    x = paddle.to_tensor([3.4e38, 1.0], dtype="float64", stop_gradient=False)
    main = static.Program()
    with static.program_guard(main):
        given = static.data("x", [2], "float64")
        given.stop_gradient = False
        made = given.astype(dtype)
    runs = [
        lambda: x.astype(dtype),
        lambda: paddle.jit.to_static(lambda v: v.astype(dtype) * 2.0)(x),
        lambda: main.run_eagerly({"x": x.numpy()}, [made]),
    ]
    for run in runs:
        with (
            paddle.autograd.detect_anomaly(),
            np.errstate(over="ignore"),
            pytest.raises(paddle.errors.AnomalyError, match=r"cast at test_bfloat16.* made inf"),
        ):
            run()


def test_floats_of_16_bits_of_both_kinds_meet_in_float32_in_every_mode() -> None:
    values = [np.array([1.0, 2.0]).astype(dtype) for dtype in HALVES]

    def both(x: Any, y: Any) -> Any:
        return paddle.concat([x + y, x * y, paddle.where(x > 0.0, x, y)])

    xs = [paddle.to_tensor(v, stop_gradient=False) for v in values]
    with static.program_guard(static.Program()):
        given = [static.data(f"x{k}", [2], v.dtype) for k, v in enumerate(values)]
        feed = {f"x{k}": v for k, v in enumerate(values)}
        (run,) = static.Executor().run(feed=feed, fetch_list=[both(*given)])
        with pytest.raises(paddle.errors.FeedError, match=r"astype\('float16'\)"):
            static.Executor().run(feed=feed | {"x0": values[1]}, fetch_list=[given[0] * 2.0])
    found = [both(*xs), paddle.jit.to_static(both)(*xs)]
    for made in found:
        assert made.dtype == "float32"
        assert made.tolist() == run.tolist() == [2.0, 4.0, 1.0, 4.0, 1.0, 2.0]
        for x, g in zip(xs, paddle.grad(made.sum(), xs), strict=True):
            assert g.dtype == x.dtype


def test_it_prints_as_the_reference_prints_it() -> None:
    x = some(1.0, 2.5, -3.14159, 1e30, float("nan"), 1e-3)
    assert repr(x) == (
        "Tensor(shape=[6], dtype=bfloat16, place=Place(cpu), stop_gradient=True,\n"
        "       [ 1.                             ,  2.50000000                     ,\n"
        "        -3.14062500                     , 1000255551742587262118492372992.,\n"
        "         nan                            ,  0.00099945                     ])"
    )


def test_arrays_of_ml_dtypes_go_in_and_out() -> None:
    array = np.array([[1.0, 2.5], [3.0, -4.0]], ml_dtypes.bfloat16)
    x = paddle.to_tensor(array)
    assert x.dtype == "bfloat16"
    for made in (x.numpy(), np.asarray(x), paddle.to_tensor([array[0, 0]]).numpy()):
        assert made.dtype == ml_dtypes.bfloat16
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0, 0] = 1
    assert x.tolist() == [[1.0, 2.5], [3.0, -4.0]]
    assert (x.nbytes if hasattr(x, "nbytes") else x.numpy().nbytes) == 8
    assert (x[0, 1].item(), float(x[1, 1])) == (2.5, -4.0)
    assert (x + array).dtype == (array + x).dtype == "bfloat16"
    text = (
        "import numpy as np, ml_dtypes, autograd_engine as paddle\n"
        "x = np.ones(2, ml_dtypes.bfloat16)\n"  # before the engine was asked for the dtype
        "assert paddle.to_tensor(x).dtype == 'bfloat16'\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True)


def test_what_tensors_do() -> None:
    x = paddle.arange(6, dtype="bfloat16")
    x[1:3] = 7
    x += 1
    assert x.tolist() == [1.0, 8.0, 8.0, 4.0, 5.0, 6.0]
    assert x.sort(descending=True).tolist() == [8.0, 8.0, 6.0, 5.0, 4.0, 1.0]
    assert x.argsort().tolist() == [0, 3, 4, 5, 1, 2]
    assert paddle.topk(x, 1)[0].tolist() == [8.0]
    assert paddle.unique(x).tolist() == [1.0, 4.0, 5.0, 6.0, 8.0]
    assert x.cumsum().tolist() == [1.0, 9.0, 17.0, 21.0, 26.0, 32.0]
    assert (x > 5).tolist() == [False, True, True, False, False, True]
    assert x.sum(dtype="float32").dtype == "float32"
    # Added up in float32: in bfloat16 256 + 1 is 256.
    assert paddle.ones([1000], "bfloat16").sum().item() == 1000.0
    for made in (paddle.rand([3], dtype="bfloat16"), paddle.full([2], 1.1, "bfloat16")):
        assert made.dtype == "bfloat16"


def test_sums_of_cotangents_are_rounded_once() -> None:
    for dtype in HALVES:
        w = some(1.0, dtype=dtype, stop_gradient=False)
        y = sum((w * 1.0 for _ in range(3000)), start=w * 0.0)
        y.backward()
        assert w.grad is not None
        assert w.grad.dtype == dtype
        assert w.grad.item() == pytest.approx(3000, rel=2.0**-8)


def test_a_loss_without_axes() -> None:
    x = paddle.to_tensor(3.0, dtype="bfloat16", stop_gradient=False)
    (x * x * 2.0 + x).backward()
    assert x.grad is not None
    assert (x.grad.dtype, x.grad.item()) == (paddle.bfloat16, 13.0)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_training_has_the_same_bits_in_every_mode(dtype: str) -> None:
    data = np.linspace(-1, 1, 48).reshape(8, 6)

    def network() -> paddle.nn.Linear:
        paddle.seed(0)
        paddle.set_default_dtype(dtype)
        try:
            return paddle.nn.Linear(6, 16)
        finally:
            paddle.set_default_dtype("float32")

    def optimizer(layer: paddle.nn.Linear) -> paddle.optimizer.Optimizer:
        clip = paddle.nn.ClipGradByGlobalNorm(1.0)
        return paddle.optimizer.Adam(
            0.1, parameters=layer.parameters(), weight_decay=0.01, grad_clip=clip
        )

    def loss(layer: paddle.nn.Linear, x: Any) -> Any:
        y = F.softmax(F.gelu(layer(x)), axis=-1)
        return (y * y).mean()

    layer = network()
    steps, x = optimizer(layer), paddle.to_tensor(data, dtype=dtype)
    for _ in range(3):
        value = loss(layer, x)
        value.backward()
        steps.step()
        steps.clear_grad()
    for backend in ("numpy", "native"):
        main, startup, scope = static.Program(), static.Program(), static.Scope()
        with static.program_guard(main, startup):
            fed = static.data("x", [8, 6], dtype)
            layer = network()
            goal = loss(layer, fed)
            optimizer(layer).minimize(goal)
        executor = static.Executor(backend=backend)
        executor.run(startup, scope=scope)
        feed = {"x": data.astype(x.numpy().dtype)}
        results = [executor.run(main, feed, [goal], scope=scope)[0] for _ in range(3)]
        assert results[-1].dtype == x.numpy().dtype
        assert results[-1] == value.numpy(), backend


def test_files(tmp_path: Path) -> None:
    x = some(1.0, -2.5, float("inf"))
    matrix = paddle.arange(6, dtype="bfloat16").reshape([2, 3])
    state = {"x": x, "nested": [matrix.t(), x.numpy()], "none": paddle.zeros([0], "bfloat16")}
    paddle.save(state, tmp_path / "state")
    found = paddle.load(tmp_path / "state")
    assert found["x"].dtype == found["none"].dtype == "bfloat16"
    assert found["x"].tolist() == x.tolist()
    assert found["nested"][0].tolist() == matrix.t().tolist()
    assert found["nested"][1].dtype == ml_dtypes.bfloat16
    with np.load(tmp_path / "state") as members:
        assert members["x"].dtype == np.uint16  # the bits
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert made.dtype == "bfloat16"
        assert made.tolist() == x.tolist()


@pytest.mark.parametrize("dtype", HALVES)
def test_programs_in_files(dtype: str) -> None:
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [None, 64], dtype)
        x.stop_gradient = False
        y = F.gelu(F.tanh(x) * paddle.full([64], 1.5, dtype=dtype))
        (g,) = static.gradients(y, x)
        (h,) = static.gradients(g, x)
    again = static.Program.parse_from_string(main.to_string())
    feed = {"x": np.linspace(-2, 2, 64).astype(dtype)[None]}
    names = [y.name, g.name, h.name]
    executor = static.Executor(backend="numpy")
    for one, other in zip(*(executor.run(p, feed, names) for p in (main, again)), strict=True):
        assert one.dtype == other.dtype == dtype
        assert one.tobytes() == other.tobytes()
    scope: dict[str, Any] = {}
    exec(main.to_python(fetch_list=[y]), scope)


def test_batches_and_state_dicts() -> None:
    values = np.arange(8, dtype=np.float32).astype(ml_dtypes.bfloat16)
    loader = paddle.io.DataLoader(paddle.io.TensorDataset([paddle.to_tensor(values)]), batch_size=4)
    assert [batch[0].dtype for batch in loader] == [paddle.bfloat16] * 2
    layer = paddle.nn.Linear(2, 2).bfloat16()
    assert layer.weight.dtype == "bfloat16"
    other = paddle.nn.Linear(2, 2).bfloat16()
    other.set_state_dict(layer.state_dict())
    assert other.weight.tolist() == layer.weight.tolist()
    buffer = io.BytesIO()
    paddle.save(layer.state_dict(), buffer)


def test_complex_numbers_are_not_cast_to_it() -> None:
    with pytest.raises(DTypeError, match="complex64 values have no bfloat16 form"):
        paddle.to_tensor([1j]).astype("bfloat16")


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-6, 1e-9, 1e6])
def test_large_arrays_become_float16_as_small_ones_do(scale: float) -> None:
    """All numbers of float16, those between, and what is beside: to the bits of NumPy's loop."""
    from autograd_engine.core.dtypes import FLOAT16, FLOAT32, rounded, widened

    every = np.arange(1 << 16, dtype=np.uint16).view(FLOAT16)
    with np.errstate(all="ignore"):
        wide = every.astype(FLOAT32)
        between = (wide[:-1] + wide[1:]) / 2
        toward = np.nextafter(between, np.float32(0)), np.nextafter(between, np.float32(np.inf))
        drawn = np.random.default_rng(0).standard_normal(5000).astype(FLOAT32) * np.float32(scale)
        for values in (wide, between, *toward, drawn, drawn[:300], drawn[:5]):
            for given in (values, values[::-1], np.resize(values, (40, 30)).T):
                ours, expected = rounded(given, FLOAT16), given.astype(FLOAT16)
                assert ours.flags.f_contiguous == expected.flags.f_contiguous
                np.testing.assert_array_equal(np.isnan(ours), np.isnan(expected))
                bits = [a[~np.isnan(a)].view(np.uint16) for a in (ours, expected)]
                np.testing.assert_array_equal(*bits)
                np.testing.assert_array_equal(widened(ours), expected.astype(FLOAT32))
