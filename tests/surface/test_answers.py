# ruff: noqa: RUF005 - sizes joined with + are what is tested
"""What small calls give: facts of the reference (3.3.1), each asked of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import NotATensorError, ShapeError

T = paddle.to_tensor
MATRIX = [[1.0, 5.0], [7.0, 2.0]]
F = paddle.nn.functional
BUILDS = ("cinn", "cuda", "ipu", "rocm", "xpu")

ANSWERS: dict[str, tuple[Any, Any]] = {
    # places
    "place": (lambda: str(T([1.0]).place), "Place(cpu)"),
    "is_cpu_place": (lambda: T([1.0]).place.is_cpu_place(), True),
    "is_gpu_place": (lambda: T([1.0]).place.is_gpu_place(), False),
    "equal places": (
        lambda: T([1.0]).place == paddle.CPUPlace() == T([1], place="cpu").place,
        True,
    ),
    "get_device": (lambda: T([1.0]).get_device(), -1),
    "device": (lambda: (paddle.device.get_device(), paddle.device.device_count()), ("cpu", 0)),
    "set_device": (lambda: str(paddle.device.set_device(paddle.CPUPlace())), "Place(cpu)"),
    "device_guard": (lambda: paddle.device.device_guard("cpu").__enter__(), None),
    "devices": (
        lambda: [
            getattr(paddle.device, f"get_{name}")()
            for name in (
                "all_device_type",
                "all_custom_device_type",
                "available_device",
                "available_custom_device",
                "cudnn_version",
            )
        ],
        [[], [], [], [], None],
    ),
    "is_compiled_with": (
        lambda: {getattr(paddle, f"is_compiled_with_{n}")() for n in BUILDS},
        {False},
    ),
    "is_compiled_with_custom_device": (
        lambda: paddle.is_compiled_with_custom_device("npu") or paddle.device.is_available(),
        False,
    ),
    "version": (
        lambda: (paddle.version.full_version, paddle.version.major, paddle.version.cuda()),
        ("3.3.1", "3", "False"),
    ),
    "versions": (
        lambda: (paddle.version.cudnn(), paddle.version.nccl(), paddle.version.cuda_archs()),
        ("False", "0", []),
    ),
    # readers
    "batch": (lambda: list(paddle.batch(lambda: iter("abc"), 2)()), [["a", "b"], ["c"]]),
    "batch drop_last": (lambda: list(paddle.batch(lambda: "abc", 2, True)()), [["a", "b"]]),
    # what is installed
    "try_import": (lambda: paddle.utils.try_import("math").floor(2.5), 2),
    "require_version": (
        lambda: [paddle.utils.require_version(v) for v in ("2.0", "3.3.1.0")],
        [None, None],
    ),
    # tensors by their dtype
    "LongTensor": (lambda: paddle.LongTensor([1.7]), np.asarray([1])),
    "HalfTensor": (lambda: paddle.HalfTensor(np.ones(2)), np.ones(2, "float16")),
    "BoolTensor": (lambda: paddle.BoolTensor([1, 0]), np.asarray([True, False])),
    "IntTensor of sizes": (lambda: paddle.IntTensor(2, 0), np.zeros([2, 0], "int32")),
    "DoubleTensor of nothing": (lambda: paddle.DoubleTensor(), np.zeros([0])),
    "kinds": (
        lambda: [isinstance(T([1], "uint8"), kind) for kind in (paddle.ByteTensor, paddle.Tensor)],
        [True, True],
    ),
    # dtypes
    "complex": (
        lambda: (paddle.complex64, paddle.cdouble, paddle.ones([1], paddle.complex64).dtype.name),
        (T(1j).dtype, paddle.complex128, "complex64"),
    ),
    # shapes
    "shape + list": (lambda: T(MATRIX).shape + [1], [2, 2, 1]),
    "list + shape": (lambda: [1] + T(MATRIX).shape, [1, 2, 2]),
    "shape + tuple": (lambda: type(T(MATRIX).shape + (1,)), type(T(1).shape)),
    "part of a shape": (lambda: T(MATRIX).shape[:-1] + [4], [2, 4]),
    "shape twice": (lambda: 2 * T([1, 2, 3]).shape, [3, 3]),
    "sizes multiplied": (lambda: T(MATRIX).shape.numel(), 4),
    # memory
    "strides": (lambda: T([[1.0, 2.0, 3.0]] * 2)[:, ::2].strides, [3, 2]),
    "strides turned": (lambda: T(MATRIX).transpose([1, 0]).get_strides(), [1, 2]),
    "stride": (lambda: (T(MATRIX).stride(), T(MATRIX).stride(-1)), ([2, 1], 1)),
    "strides of none": (lambda: T(1.0).strides, []),
    "data_ptr": (lambda: type(T([1.0]).data_ptr()), int),
    # kinds
    "persistable": (lambda: T([1.0]).persistable, False),
    "is_dense": (lambda: T([1.0]).is_dense(), True),
    "is_sparse": (
        lambda: [
            getattr(T([1.0]), f"is_{n}")() for n in ["sparse", "sparse_coo", "sparse_csr", "dist"]
        ],
        [False] * 4,
    ),
    "sparse_dim": (lambda: (T(MATRIX).dense_dim(), T(MATRIX).sparse_dim()), (2, 0)),
    "is_same_shape": (
        lambda: [T([[1, 2]]).is_same_shape(y) for y in (T([[1.0, 2.0]]), T([1, 2]))],
        [True, False],
    ),
    "is_integer": (lambda: (T([1]).is_integer(), T([1.0]).is_integer()), (True, False)),
    "is_tensor": (lambda: T([1]).is_tensor(), True),
    # numbers as arrays of one element
    "assign int": (lambda: paddle.assign(42), np.asarray([42])),
    "assign bool": (lambda: paddle.assign(True), np.asarray([True])),
    "assign scalar": (lambda: paddle.assign(np.float32(3)), np.asarray([3], "float32")),
    "assign array": (lambda: paddle.assign(np.asarray(3.0)), np.asarray(3.0)),
    # positions
    "argmax keepdim": (lambda: paddle.argmax(T(MATRIX), keepdim=True), np.asarray([[2]])),
    "argmin keepdim": (
        lambda: paddle.argmin(T(MATRIX), keepdim=True, dtype="int32"),
        np.asarray([[0]], "int32"),
    ),
    "argmax of a number": (lambda: paddle.argmax(T(3.0), keepdim=True), np.asarray(0)),
    # lengths
    "sequence_mask": (
        lambda: F.sequence_mask(T([1.0, 2.5]), 4),
        np.asarray([[1, 0, 0, 0], [1, 1, 1, 0]]),
    ),
    "sequence_mask longest": (lambda: F.sequence_mask(T([1.0, 2.5])), np.asarray([[1, 0], [1, 1]])),
    # in place
    "cumsum_": (lambda: T(MATRIX).cumsum_(), np.asarray([1, 6, 13, 15], "float32")),
    "apply": (
        lambda: T([1.0, 2.0]).apply(lambda v: v.astype("int32")),
        np.asarray([1, 2], "int32"),
    ),
    "apply_": (lambda: T([1.0, 2.0]).apply_(lambda v: v.sum()), np.asarray(3, "float32")),
    "fill_diagonal_": (
        lambda: paddle.ones([2, 2], "int32").fill_diagonal_(2.5),
        np.asarray([[2, 1], [1, 2]], "int32"),
    ),
}


def test_answers() -> None:
    wrong = []
    for name, (call, expected) in ANSWERS.items():
        found = call()
        if isinstance(expected, np.ndarray):
            values = found.numpy()
            right = values.dtype == expected.dtype and np.array_equal(values, expected)
            right = right and values.shape == expected.shape
        else:
            right = (bool(found == expected) and type(found) is type(expected)) or found == expected
        if not right:
            wrong.append((name, found, expected))
    assert wrong == []


def test_a_list_of_numbers_is_an_array_beside_a_tensor() -> None:
    """As weak as numbers are: the dtype is that of the tensor, as far as it goes."""
    x = paddle.to_tensor([1.0, 2.0], "float16", stop_gradient=False)
    cases = {
        "x * [3.0, 4.0]": (x * [3.0, 4.0], [3.0, 8.0]),
        "(3, 4) * x": ((3, 4) * x, [3.0, 8.0]),
        "x + [1, 1]": (x + [1, 1], [2.0, 3.0]),
        "[1, 1] - x": ([1, 1] - x, [0.0, -1.0]),
        "x / [[2], [4]]": (x / [[2], [4]], [[0.5, 1.0], [0.25, 0.5]]),
        "x ** [2, 3]": (x ** [2, 3], [1.0, 8.0]),
        "[[1, 1]] @ x": ([[1, 1]] @ x, [3.0]),
    }
    for text, (found, expected) in cases.items():
        assert (found.tolist(), found.dtype.name) == (expected, "float16"), text
    assert (T([1, 2]) * [1.5, 2]).numpy().dtype == np.float32
    assert (x > [1.5, 1.5]).tolist() == [False, True]
    (g,) = paddle.grad((x * [3.0, 4.0]).sum(), x)
    assert g.tolist() == [3.0, 4.0]
    # Python repeats a list so many times; and a list is equal to no tensor.
    assert [0] * T(3) == T([3]) * [0] == [0, 0, 0]
    assert (x == [1.0, 2.0]) is False
    with pytest.raises(NotATensorError, match=r"holds tensors: use paddle\.stack"):
        x * [T(1.0), T(2.0)]
    for odd in ([1.0, "a"], [[1.0], [1.0, 2.0]], [None, 1.0], []):
        with pytest.raises(TypeError):
            x + odd


def test_a_list_of_numbers_in_a_program() -> None:
    static = paddle.static
    with static.program_guard(static.Program()):
        x = static.data("x", [None, 2])
        y = [1.0, 10.0] * x - [1, 1]
        assert (x.shape + [1], y.dtype.name) == ([-1, 2, 1], "float32")
        (found,) = static.Executor().run(feed={"x": np.ones([1, 2], "float32")}, fetch_list=[y])
    assert found.tolist() == [[0.0, 9.0]]


def test_a_tensor_takes_no_other_shape_where_it_shares_its_values() -> None:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    row = x[0]
    x.cumsum_(axis=0)
    assert row.tolist() == [1.0, 2.0]
    x.cumsum_(axis=1)
    assert row.tolist() == [1.0, 3.0]
    for call in (x.cumsum_, lambda: x.resize_([2])):
        with pytest.raises(ShapeError, match="shares its values with others"):
            call()
    assert x.tolist() == [[1.0, 3.0], [4.0, 10.0]]


def test_what_is_applied_returns_a_tensor() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    (g,) = paddle.grad(x.apply(lambda v: v * v).sum(), x)
    assert g.tolist() == [2.0, 4.0]
    with pytest.raises(NotATensorError, match="apply: func must return a Tensor, got int"):
        x.apply(lambda v: 5)
    with pytest.raises(TypeError, match="apply: func must be a function"):
        x.apply(3)


def test_devices_are_only_the_cpu() -> None:
    draws = []
    for seed in (paddle.seed, paddle.device.manual_seed):
        seed(3)
        draws.append(paddle.rand([2]).tolist())
    assert draws[0] == draws[1]
    paddle.device.synchronize("cpu")
    paddle.disable_signal_handler()
    for call in (
        lambda: paddle.device.set_device("abacus"),
        lambda: paddle.device.device("gpu:0").__enter__(),
        lambda: paddle.device.synchronize("gpu"),
        lambda: paddle.batch(lambda: [], 0),
    ):
        with pytest.raises(ValueError, match=r"'gpu|'abacus|batch_size must be 1 or more"):
            call()


def test_what_is_installed_works(capsys: pytest.CaptureFixture[str]) -> None:
    paddle.enable_static()
    try:
        paddle.utils.run_check()
        assert not paddle.in_dynamic_mode()
    finally:
        paddle.disable_static()
    assert "programs work" in capsys.readouterr().out
    utils = paddle.utils
    for kind, hint, call in [
        (RuntimeError, "asked for is 9.0 or newer;", lambda: utils.require_version("9.0")),
        (RuntimeError, "1.0 or newer, up to 2.0", lambda: utils.require_version("1.0", "2.0")),
        (ValueError, "got 'abc'", lambda: utils.require_version("abc")),
        (TypeError, "must be a str", lambda: utils.require_version(2)),
        (ImportError, "install it", lambda: utils.try_import("no_such_module")),
        (ImportError, "ask me", lambda: utils.try_import("no_such_module", "ask me")),
        (TypeError, "CharTensor: takes data, or sizes", lambda: paddle.CharTensor(1, [2])),
        (ValueError, "ShortTensor: .*'gpu'", lambda: paddle.ShortTensor([2], device="gpu")),
    ]:
        with pytest.raises(kind, match=hint):
            call()


def test_wrong_audio() -> None:
    audio, ones = paddle.audio.functional, paddle.ones([2])
    leaf = paddle.to_tensor(0.5, stop_gradient=False)
    for kind, hint, call in [
        (
            ValueError,
            "get_window: window must be one of hann, ",
            lambda: audio.get_window("han", 5),
        ),
        (ValueError, "the kaiser window has 1", lambda: audio.get_window("kaiser", 5)),
        (ValueError, "the hann window has 0", lambda: audio.get_window(("hann", 2.0), 5)),
        (ValueError, "center", lambda: audio.get_window(("exponential", 1.0), 5, False)),
        (ValueError, "window_length must be 0 to", lambda: paddle.hann_window(-1)),
        (TypeError, "dtype must be one of floats", lambda: paddle.hann_window(3, dtype="int32")),
        (ValueError, "is not finite", lambda: paddle.kaiser_window(3, True, 1e9)),
        (
            RuntimeError,
            "no gradient with respect to alpha",
            lambda: paddle.hamming_window(3, True, leaf),
        ),
        (
            ValueError,
            "norm must be 'slaney'",
            lambda: audio.compute_fbank_matrix(8000, 8, norm="a"),
        ),
        (ValueError, "n_mels must be 1 or more", lambda: audio.mel_frequencies(0)),
        (ValueError, "norm must be 'ortho'", lambda: audio.create_dct(2, 3, "a")),
        (ValueError, "amin and ref_value", lambda: audio.power_to_db(ones, amin=0)),
        (ValueError, "top_db must not be", lambda: audio.power_to_db(ones, top_db=-1)),
        (TypeError, "spect must be real", lambda: audio.power_to_db(T([1j]))),
        (TypeError, "hz_to_mel: takes real", lambda: audio.hz_to_mel(T([1j]))),
    ]:
        with pytest.raises(kind, match=hint):
            call()


def test_what_no_window_reaches_is_not_known() -> None:
    signal, window = paddle.signal, T([0.0, 1.0, 2.0, 1.0])
    spectra = signal.stft(paddle.arange(8.0), 4, window=window, center=False)
    with pytest.raises(ValueError, match="istft: no window reaches some of the elements"):
        signal.istft(spectra, 4, window=window, center=False)
    wrong = {
        "n_fft must be 1 to 8, got 16": lambda: signal.stft(paddle.arange(8.0), 16),
        "win_length must be 1 to 4, got 5": lambda: signal.stft(paddle.arange(8.0), 4, None, 5),
        "hop_length must be 1 to 2": lambda: signal.istft(spectra, 4, 4, 2),
        "needs onesided=False": lambda: signal.istft(spectra, 4, return_complex=True),
        "must have 4 frequencies": lambda: signal.istft(spectra, 4, onesided=False),
        "x must be complex spectra": lambda: signal.istft(spectra.abs(), 4),
        "a known length": lambda: signal.overlap_add(paddle.zeros([3, 0]), 2),
    }
    for hint, call in wrong.items():
        with pytest.raises(ValueError, match=hint):
            call()
    x = paddle.to_tensor([1.0] * 8, stop_gradient=False)
    re, im = paddle.fft.rfft_parts(signal.frame(x, 4, 2), axis=0)  # which is differentiable
    assert paddle.grad((re * re + im * im).sum(), x)[0].shape == [8]
    assert paddle.grad(signal.stft(x, 4).abs().sum(), x)[0].shape == [8]
