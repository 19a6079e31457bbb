"""`paddle.save` and `paddle.load`: what comes back is what was saved, or is refused by name."""

from __future__ import annotations

import bz2
import collections
import enum
import gzip
import io
import lzma
import math
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import autograd_engine as paddle
from autograd_engine import static
from autograd_engine.core.dtypes import DTYPES, bfloat16
from autograd_engine.errors import ArgumentError, FileFormatError

bfloat16()  # from here on NumPy knows the name
WIDE = ["uint16", "uint32", "uint64"]


def through(state: Any, **options: Any) -> Any:
    file = io.BytesIO()
    paddle.save(state, file)
    file.seek(0)
    return paddle.load(file, **options)


def same(a: Any, b: Any) -> None:
    """Equal in values, types, dtypes, shapes and orders of memory, bit for bit."""
    assert type(a) is type(b)
    if isinstance(a, paddle.Tensor):
        assert a.stop_gradient is b.stop_gradient is True
        a, b = a._data, b._data
    if isinstance(a, (np.ndarray, np.generic)):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, dict):
        assert len(a) == len(b)
        for (k, x), (m, y) in zip(a.items(), b.items(), strict=True):
            same(k, m)
            same(x, y)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    elif type(a) is int:
        assert a == b
    else:
        assert repr(a) == repr(b)  # as == does not: nan, -0.0, True and 1


# --- values

PLAIN = [
    None,
    True,
    False,
    0,
    -7,
    2**63,
    2**127 - 1,
    2**128,
    -(2**128),
    -(2**5000),
    0.1,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    math.inf,
    -math.inf,
    math.nan,
    1 + 2j,
    complex(math.nan, -math.inf),
    "",
    "weight",
    "ключ \U0001f600 \0\n\x7f",
    b"",
    bytes(range(256)),
    (),
    [],
    {},
    ((), [()], {"a": []}),
    np.float16(0.1),
    np.float32(math.nan),
    np.float64(0.1),
    np.int8(-3),
    np.uint8(200),
    np.int64(-(2**63)),
    np.bool_(True),
    np.complex64(1 - 2j),
    np.complex128(0.1j),
    np.dtype("float32"),
    collections.OrderedDict(b=1, a=2),
    {1: "a", "1": "b", -1: "c", "x": 0, None: 1, 2.5: 2, (1, ("a", None)): 3, False: 4},
]


@pytest.mark.parametrize("value", PLAIN, ids=range(len(PLAIN)))
def test_values(value: Any) -> None:
    same(through(value), value)
    same(through({"a": [value, (value,)]}), {"a": [value, (value,)]})


def test_long_texts_and_bytes() -> None:
    state = {"text": "ab" * 10**6, "bytes": b"ab" * 10**6, "numbers": list(range(10**5))}
    same(through(state), state)


def arrays(dtype: str) -> list[Any]:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2 if dtype == "bool" else 100, (3, 4, 5)).astype(dtype)
    return [
        bits,
        np.asarray(bits[0, 0, 0]),
        np.zeros((0,), dtype),
        np.zeros((2, 0, 3), dtype),
        bits[::2, 1:, ::-1],
        np.asfortranarray(bits),
        bits.transpose(1, 0, 2),
        bits[:1].transpose(2, 1, 0),
        np.broadcast_to(bits[:, :1], (3, 4, 5)),
        bits[..., None, None],
    ]


@pytest.mark.parametrize("dtype", [*DTYPES, *WIDE])
def test_arrays_of_every_dtype(dtype: str) -> None:
    state = arrays(dtype)
    found = through(state)
    for a, b in zip(state, found, strict=True):
        assert type(b) is np.ndarray
        assert b.flags.writeable
        assert b.flags.aligned
        assert b.dtype is a.dtype
        assert b.shape == a.shape
        assert b.tobytes() == np.ascontiguousarray(a).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_of_every_dtype(dtype: str) -> None:
    state = [paddle.Tensor._wrap(np.array(a)) for a in arrays(dtype)]
    same(through(state), state)
    same(through(state, return_numpy=True), [t._data for t in state])


def test_the_order_of_memory_stays() -> None:
    # Sums, and products of matrices, depend on it in their last bits.
    values = np.random.default_rng(0).standard_normal((3, 4, 5))
    for order in [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)]:
        array = np.array(values.transpose(order))
        found = through({"x": array, "t": paddle.Tensor._wrap(array)})
        assert found["x"].strides == found["t"]._data.strides == array.strides


def test_bytes_in_the_other_order_are_turned() -> None:
    for kind in ("f2", "f4", "f8", "c8", "i2", "u8"):
        array = np.array([1, 2, 300], f">{kind}")
        found = through({"x": array, "rows": array.reshape(3, 1)})
        assert found["x"].dtype.isnative
        assert found["x"].tolist() == array.tolist()
        assert found["rows"].tolist() == array.reshape(3, 1).tolist()


def test_not_a_number_keeps_its_bits() -> None:
    array = np.array([0x7FC00001, 0xFFC12345, 0x7F800001], np.uint32).view(np.float32)
    assert through(array).tobytes() == array.tobytes()


def test_parameters_come_as_tensors_with_their_names() -> None:
    w = paddle.create_parameter([2, 3], name="linear_7.w_0")
    found = through({"w": w, "x": paddle.ones([1])})
    assert type(found["w"]) is paddle.Tensor
    assert found["w"].name == "linear_7.w_0"
    assert found["w"].stop_gradient is True
    assert found["w"].tolist() == w.tolist()


def test_sparse_gradients_are_written_out() -> None:
    table = paddle.create_parameter([5, 2])
    ids = paddle.to_tensor([3, 1, 3])
    paddle.nn.functional.embedding(ids, table, sparse=True).sum().backward()
    assert table.grad.is_selected_rows()
    found = through({"grad": table.grad})["grad"]
    assert found.tolist() == [[0, 0], [1, 1], [0, 0], [2, 2], [0, 0]]


def test_a_tensor_of_a_graph_is_saved_by_value() -> None:
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    found = through((w * 3.0).sum())
    assert found.item() == 9.0
    assert found.stop_gradient


def test_what_is_one_is_one_in_the_file_and_when_loaded(tmp_path: Path) -> None:
    w = paddle.create_parameter([1000], name="tied")
    x = np.arange(1000.0)
    paddle.save({"a": w, "b": [w, w], "x": x, "y": x, "v": x[:]}, tmp_path / "f")
    with zipfile.ZipFile(tmp_path / "f") as archive:
        assert archive.namelist() == ["structure.json", "a.npy", "x.npy", "v.npy"]
    found = paddle.load(tmp_path / "f")
    assert found["a"] is found["b"][0] is found["b"][1]
    assert found["x"] is found["y"]
    assert found["x"] is not found["v"]


def test_numpy_reads_the_arrays(tmp_path: Path) -> None:
    state = {"model": {"fc.weight": paddle.ones([2, 3]), "a/b": np.arange(3)}, "epoch": 3}
    paddle.save(state, tmp_path / "f.pdparams")
    with np.load(tmp_path / "f.pdparams", allow_pickle=False) as found:
        assert found["model/fc.weight"].tolist() == [[1, 1, 1], [1, 1, 1]]
        assert found["model/a_b"].tolist() == [0, 1, 2]


def test_names_of_members_are_harmless_and_told_apart(tmp_path: Path) -> None:
    keys = ["../up", "/root", "C:\\x", "a", "A", "a_", "a/", "\0", "", ".", "..", "é", "x" * 500]
    keys += ["structure.json", "x" * 500 + "y", "con", 1, "1", (1, 2), None]
    state = {key: np.full(2, n) for n, key in enumerate(keys)}
    paddle.save(state, tmp_path / "f")
    with zipfile.ZipFile(tmp_path / "f") as archive:
        names = [n for n in archive.namelist() if n != "structure.json"]
    assert len({n.lower() for n in names}) == len(keys)
    for name in names:
        assert name.isascii()
        assert ".." not in name.split("/")
        assert not name.startswith(("/", "."))
        assert len(name) < 120
    same(paddle.load(tmp_path / "f"), state)


def test_the_same_state_makes_the_same_file() -> None:
    def content() -> bytes:
        file = io.BytesIO()
        paddle.save({"w": np.arange(6.0), "n": [1, 2]}, file)
        return file.getvalue()

    assert content() == content()


# --- anything

NUMBERS = st.integers() | st.floats() | st.complex_numbers() | st.booleans() | st.none()
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
LEAVES = (
    NUMBERS
    | TEXTS
    | st.binary()
    | st.builds(
        lambda dtype, shape, order, tensor: _made(dtype, shape, order, tensor),
        st.sampled_from(list(DTYPES)),
        st.lists(st.integers(0, 4), max_size=4).map(tuple),
        st.sampled_from(["C", "F"]),
        st.booleans(),
    )
)
KEYS = TEXTS | st.integers() | st.none() | st.tuples(TEXTS, st.integers())
STATES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.dictionaries(TEXTS, inner, max_size=3).map(collections.OrderedDict)
    ),
    max_leaves=20,
)


def _made(dtype: str, shape: tuple[int, ...], order: Any, tensor: bool) -> Any:
    count = int(np.prod(shape))
    array = np.arange(count).reshape(shape).astype(dtype, order=order)
    return paddle.Tensor._wrap(array) if tensor else array


@settings(max_examples=300, deadline=None)
@given(STATES)
def test_any_state_comes_back(state: Any) -> None:
    same(through(state), state)


@settings(max_examples=20, deadline=None)
@given(STATES)
def test_any_state_comes_back_from_a_file(state: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        paddle.save(state, f"{directory}/state")
        same(paddle.load(f"{directory}/state"), state)


# --- what is no state


class Point(collections.namedtuple("Point", "x y")):
    pass


class Colour(enum.IntEnum):
    RED = 1


def cycle() -> Any:
    inner: list[Any] = []
    inner.append({"self": inner})
    return inner


def deep(levels: int) -> Any:
    state: Any = 0
    for _ in range(levels):
        state = {"a": state}
    return state


REFUSED: list[tuple[Any, str]] = [
    (lambda: paddle.nn.Linear(2, 2), r"is a Linear: save its state_dict\(\)"),
    (
        lambda: paddle.optimizer.SGD(parameters=paddle.nn.Linear(2, 2).parameters()),
        r"is a SGD: save its state_dict\(\)",
    ),
    (
        lambda: paddle.optimizer.lr.NoamDecay(4, 4),
        r"is a NoamDecay: save its state_dict\(\), and give that to set_state_dict\(\)",
    ),
    (lambda: paddle.ones, "is a function or class, 'ones': save its name"),
    (lambda: np.float32, "is a function or class, 'float32'"),
    (lambda: object(), "is a object, which no file can hold"),
    (lambda: {1, 2}, r"is a set: save sorted\(x\), a list"),
    (lambda: range(3), r"is a range: save list\(x\)"),
    (lambda: bytearray(b"x"), r"is a bytearray: save bytes\(x\)"),
    (lambda: Point(1, 2), r"is a Point: save tuple\(x\)"),
    (lambda: Colour.RED, r"is a Colour: save int\(x\)"),
    (lambda: collections.defaultdict(list), r"is a defaultdict: save dict\(x\)"),
    (lambda: np.array(["a"]), r"is an array of dtype <U1, .*x.tolist\(\)"),
    (lambda: np.array([None]), r"is an array of dtype object, .*x.tolist\(\)"),
    (lambda: np.array(["2020-01-01"], "M8[D]"), r"x.astype\('int64'\)"),
    (lambda: np.zeros(2, [("a", "i4")]), "save its fields"),
    (lambda: np.ma.masked_array([1, 2]), r"is a numpy.MaskedArray: save numpy.array\(x\)"),
    (lambda: np.uint32(3), r"is a uint32: save x.item\(\)"),
    (lambda: np.str_("a"), r"is a str_: save x.item\(\)"),
    (lambda: paddle.float32, "is a DType: save x.name"),
    (lambda: np.random.default_rng(0), "is a Generator: save x.bit_generator.state, a dict"),
    (lambda: io.BytesIO(), "is a BytesIO, an open file"),
    (lambda: (k for k in range(2)), "is a generator, which no file can hold"),
    (lambda: static.Program(), "is a Program: paddle.static.save"),
    (lambda: "\ud800", "half of a surrogate pair"),
    (lambda: {frozenset(): 1}, r"has the key frozenset\(\), a frozenset: keys are strings"),
    (lambda: {(1, b"x"): 1}, r"has the key b'x', a bytes"),
    (lambda: {"\ud800": 1}, "half of a surrogate pair"),
    (cycle, r"\[0\]\['self'\] contains itself"),
    (lambda: deep(40), "is nested more than 30 deep"),
]
if np.dtype(np.longdouble).itemsize > 8:
    REFUSED.append((lambda: np.zeros(2, np.longdouble), r"x.astype\('float64'\)"))


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_state_is_named_with_its_place(tmp_path: Path, make: Any, message: str) -> None:
    paddle.save("old", tmp_path / "f")
    state = {"opt": {"x": [1, 2, np.ones(3), make()]}}
    with pytest.raises(FileFormatError, match=message) as caught:
        paddle.save(state, tmp_path / "f")
    assert str(caught.value).startswith("save: state['opt']['x'][3]")
    assert paddle.load(tmp_path / "f") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_a_variable_of_a_program() -> None:
    with static.program_guard(static.Program(), static.Program()):
        x = static.data("x", [2], "float32")
        with pytest.raises(FileFormatError, match=r"state\['x'\] is x, a variable of a program"):
            paddle.save({"x": x}, io.BytesIO())


def test_layers_and_optimizers_by_themselves() -> None:
    layer = paddle.nn.Linear(2, 2)
    with pytest.raises(FileFormatError, match=r"state is a Linear: save its state_dict\(\)"):
        paddle.save(layer, io.BytesIO())


def test_deep_enough() -> None:
    same(through(deep(30)), deep(30))
    shared = [1, 2]
    same(through([shared, shared]), [[1, 2], [1, 2]])  # twice is no cycle


# --- paths


def test_directories_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "state.pdparams"
    paddle.save({"epoch": 1}, str(path))
    assert paddle.load(str(path)) == paddle.load(path) == {"epoch": 1}


@pytest.mark.parametrize("function", [lambda p: paddle.save({}, p), paddle.load])
@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("", ArgumentError),
        ("dir/", ArgumentError),
        ("a\0b", ArgumentError),
        (3, TypeError),
        (None, TypeError),
        (b"bytes", TypeError),
        (["a"], TypeError),
    ],
)
def test_paths_that_are_none(function: Any, path: Any, error: Any) -> None:
    with pytest.raises(error, match="path"):
        function(path)


def test_directories_and_missing_files(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a directory"):
        paddle.save({}, tmp_path)
    with pytest.raises(IsADirectoryError, match="is a directory"):
        paddle.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        paddle.load(tmp_path / "nothing")
    paddle.save({}, tmp_path / "m.pdopt")
    with pytest.raises(FileNotFoundError, match=r"there is '.*m\.pdopt'"):
        paddle.load(tmp_path / "m")


@pytest.mark.parametrize("protocol", [1, 5, "4", True, 2.0, None])
def test_protocols_that_are_none(protocol: Any) -> None:
    with pytest.raises(ArgumentError, match="protocol must be 2, 3 or 4"):
        paddle.save({}, io.BytesIO(), protocol)


def test_arguments_of_the_reference() -> None:
    file = io.BytesIO()
    paddle.save([1], file, protocol=2, use_binary_format=False, pickle_protocol=3)
    file.seek(0)
    assert paddle.load(file) == [1]
    with pytest.raises(TypeError, match="encoding"):
        paddle.load(file, encoding="latin1")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="return_numpy must be a bool"):
        paddle.load(file, return_numpy=1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"metadata is for \.safetensors files"):
        paddle.save({}, file, metadata={"a": "b"})


# --- open files


class Stream:
    """Only what it takes to read or write: no seeking, no position."""

    def __init__(self, content: bytes = b"") -> None:
        self.file = io.BytesIO(content)

    def write(self, data: Any) -> int:
        return self.file.write(data)

    def read(self, size: int = -1) -> bytes:
        return self.file.read(size)

    def flush(self) -> None:
        pass


def test_open_files(tmp_path: Path) -> None:
    state = {"w": np.arange(5.0), "t": paddle.ones([2])}
    with open(tmp_path / "f", "wb") as file:
        paddle.save(state, file)
    same(paddle.load(tmp_path / "f"), state)
    with open(tmp_path / "f", "rb") as file:
        same(paddle.load(file), state)
    stream = Stream()
    paddle.save(state, stream)  # type: ignore[arg-type]
    same(paddle.load(Stream(stream.file.getvalue())), state)  # type: ignore[arg-type]


def test_open_files_that_stand_in_the_middle() -> None:
    file = io.BytesIO()
    file.write(b"head")
    paddle.save({"a": np.arange(3)}, file)
    file.seek(4)
    same(paddle.load(file), {"a": np.arange(3)})
    file.seek(0)
    with pytest.raises(FileFormatError, match="the BytesIO: is no file that paddle"):
        paddle.load(file)
    file.seek(4)
    second = io.BytesIO(file.read())
    second.seek(0, io.SEEK_END)
    paddle.save({"b": 2}, second)
    second.seek(0)
    with pytest.raises(FileFormatError, match="begins with"):  # not the second alone
        paddle.load(second)


def test_text_files_are_no_binary_ones(tmp_path: Path) -> None:
    with (
        open(tmp_path / "f", "w") as file,
        pytest.raises(TypeError, match=r"open\(path, 'wb'\)"),
    ):
        paddle.save({}, file)  # type: ignore[arg-type]
    with open(tmp_path / "f") as file, pytest.raises(TypeError, match=r"open\(path, 'rb'\)"):
        paddle.load(file)  # type: ignore[arg-type]


# --- files of others


def test_archives_and_arrays_of_numpy(tmp_path: Path) -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.array([1, 2], ">i4")
    np.savez(tmp_path / "x.npz", a=a, b=b)
    found = paddle.load(tmp_path / "x.npz")
    same(found, {"a": a, "b": b.astype("i4")})
    np.save(tmp_path / "a.npy", a.T)
    same(paddle.load(tmp_path / "a.npy"), a.T)
    np.savez_compressed(tmp_path / "c.npz", a=np.zeros(1000))
    with pytest.raises(FileFormatError, match=r"compressed member .* write it with numpy\.savez"):
        paddle.load(tmp_path / "c.npz")
    np.savez(tmp_path / "o.npz", a=np.array([{}], object))
    with pytest.raises(FileFormatError, match="a header that no array of numbers has"):
        paddle.load(tmp_path / "o.npz")


def test_files_of_static_save(tmp_path: Path) -> None:
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x = static.data("x", [None, 2], "float32")
        static.nn.fc(x, 3, name="saved_by_static")
    with static.scope_guard(static.Scope()):
        static.Executor().run(startup)
        static.save(main, str(tmp_path / "m"))
        weight = np.array(main.state_dict()["saved_by_static.w_0"])
    found = paddle.load(tmp_path / "m.pdparams")
    assert sorted(found) == ["saved_by_static.b_0", "saved_by_static.w_0"]
    same(found["saved_by_static.w_0"], paddle.to_tensor(weight))
    same(paddle.load(tmp_path / "m.pdparams", return_numpy=True)["saved_by_static.w_0"], weight)
    assert isinstance(paddle.load(tmp_path / "m.pdmodel"), static.Program)


def test_the_state_of_a_program(tmp_path: Path) -> None:
    """Saved here, read by either."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        static.create_parameter([3], "float32", name="program_w")
        static.create_global_var([2], 0.5, "float32", persistable=True, name="program_v")
    with static.scope_guard(static.Scope()):
        static.Executor().run(startup)
        state = {k: np.array(v) for k, v in main.state_dict().items()}
        paddle.save(main.state_dict("param"), tmp_path / "m.pdparams")
        paddle.save(main.state_dict("opt"), tmp_path / "m.pdopt")
        paddle.save(main, tmp_path / "m.pdmodel")
    same(static.load_program_state(str(tmp_path / "m")), state)
    again = paddle.load(tmp_path / "m.pdmodel")
    with static.scope_guard(static.Scope()):
        static.load(again, str(tmp_path / "m"))
        same({k: np.array(v) for k, v in again.state_dict().items()}, state)
    with static.scope_guard(static.Scope()):
        again.set_state_dict(
            {**paddle.load(tmp_path / "m.pdparams"), **paddle.load(tmp_path / "m.pdopt")}
        )
        same({k: np.array(v) for k, v in again.state_dict().items()}, state)
    paddle.save({"program_w": state["program_w"], "epoch": 3}, tmp_path / "m.pdparams")
    with pytest.raises(FileFormatError, match="holds more than arrays by name"):
        static.load(again, str(tmp_path / "m"), var_list=again.all_parameters())


def test_parameters_of_a_program_for_inference(tmp_path: Path) -> None:
    layer = paddle.nn.Linear(2, 3)
    spec = [static.InputSpec([None, 2], "float32", "x")]
    paddle.jit.save(layer, str(tmp_path / "m"), spec)
    found = paddle.load(tmp_path / "m")
    assert found[layer.weight.name].tolist() == layer.weight.tolist()


# --- what a hostile program gives


def test_keys_that_have_no_short_text() -> None:
    """An integer of more digits than Python shows, and tuples deeper than it recurses."""
    large = 10**5000
    state = {large: np.ones(2), (large, "a"): {large: 1}}
    same(through(state), state)
    with pytest.raises(FileFormatError, match=r"state\[<int>\] is a set"):
        paddle.save({large: {1}}, io.BytesIO())
    deep: Any = ()
    for _ in range(10_000):
        deep = (deep,)
    with pytest.raises(FileFormatError, match="nested more than 30 deep"):
        paddle.save({deep: 1}, io.BytesIO())


class _WithoutRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


def test_keys_that_cannot_be_shown() -> None:
    with pytest.raises(FileFormatError, match=r"state has the key <_WithoutRepr>"):
        paddle.save({_WithoutRepr(): 1}, io.BytesIO())
    with pytest.raises(FileFormatError, match=r"key\.item\(\)"):
        paddle.save({np.int64(3): 1}, io.BytesIO())


def test_an_array_that_changes_while_it_is_saved(tmp_path: Path) -> None:
    """Each number is an old or a new one, and the file is whole: its checksums fit."""

    class Slow(io.FileIO):
        def write(self, data: Any) -> int:  # another thread writes to x in the meantime
            x[:] += 1
            return super().write(data)

    x = np.zeros(3 * 2**17)
    with Slow(tmp_path / "x.pd", "wb") as file:
        paddle.save({"x": x}, file)
    held = paddle.load(tmp_path / "x.pd")["x"]
    assert held.shape == x.shape
    assert set(np.unique(held)) <= set(range(int(x[0]) + 1))


def test_files_that_compress_on_the_way(tmp_path: Path) -> None:
    """They tell where they stand, and cannot go back to it."""
    state = {"x": np.arange(5.0), "n": [1, None]}
    for opening in (gzip.open, bz2.open, lzma.open):
        with opening(tmp_path / "x", "wb") as file:
            paddle.save(state, file)  # type: ignore[arg-type]
        with opening(tmp_path / "x", "rb") as file:
            same(paddle.load(file), state)  # type: ignore[arg-type]


def test_paths_that_are_no_text(tmp_path: Path) -> None:
    for function in (lambda p: paddle.save(1, p), paddle.load):
        with pytest.raises(ArgumentError, match="surrogate"):
            function(f"{tmp_path}/\ud800")
    with pytest.raises(TypeError, match="safetensors must be a bool"):
        paddle.save({}, tmp_path / "x", safetensors="no")  # type: ignore[arg-type]
