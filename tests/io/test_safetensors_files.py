"""Files of safetensors: written and read through the library, dicts of tensors alone."""

from __future__ import annotations

import builtins
import io
import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.core.dtypes import bfloat16
from autograd_engine.errors import ArgumentError, FileFormatError, MissingLibraryError

library = pytest.importorskip("safetensors.numpy")

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def test_the_library_reads_what_is_saved(tmp_path: Path) -> None:
    layer = paddle.nn.Linear(2, 3)
    path = tmp_path / "model.safetensors"
    paddle.save(layer.state_dict(), path)
    found = library.load_file(path)
    assert sorted(found) == ["bias", "weight"]
    assert found["weight"].tobytes() == layer.weight.numpy().tobytes()
    other = paddle.nn.Linear(2, 3)
    other.set_state_dict(paddle.load(path))
    assert other.weight.tolist() == layer.weight.tolist()


def test_what_the_library_has_written(tmp_path: Path) -> None:
    arrays = {d: np.arange(6).reshape(2, 3).astype(d) for d in [*DTYPES, "complex64"]}
    arrays |= {"0-d": np.array(3.0), "empty": np.zeros((0, 4)), "é.w": np.ones(1)}
    library.save_file(arrays, tmp_path / "x.safetensors", {"format": "np", "step": "7"})
    found = paddle.load(tmp_path / "x.safetensors")
    assert found.metadata == {"format": "np", "step": "7"}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert type(found[name]) is paddle.Tensor
        assert found[name].stop_gradient
        assert found[name]._data.dtype == array.dtype
        assert found[name]._data.shape == array.shape
        assert found[name].numpy().tobytes() == array.tobytes()
    assert type(paddle.load(tmp_path / "x.safetensors", return_numpy=True)["0-d"]) is np.ndarray


def test_metadata_is_kept(tmp_path: Path) -> None:
    first, second = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    paddle.save({"w": paddle.ones([2])}, first, metadata={"license": "Apache-2.0"})
    paddle.save(paddle.load(first), second)
    assert paddle.load(second).metadata == {"license": "Apache-2.0"}
    paddle.save(paddle.load(first), second, metadata={})
    assert paddle.load(second).metadata == {}
    for bad in ({"epoch": 3}, {3: "epoch"}, "text", [("a", "b")]):
        with pytest.raises(ArgumentError, match="metadata must be a dict of strings"):
            paddle.save({}, first, metadata=bad)  # type: ignore[arg-type]
    assert paddle.load(first).metadata == {"license": "Apache-2.0"}


def test_whatever_order_arrays_have_in_memory(tmp_path: Path) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    state = {
        "t": x.T,
        "s": x[:, ::2, ::-1],
        "b": np.broadcast_to(x[0], (2, 3, 4)),
        "e": x.astype(">f4"),
    }
    paddle.save(state, tmp_path / "x.safetensors")
    found = paddle.load(tmp_path / "x.safetensors", return_numpy=True)
    for name, array in state.items():
        assert np.array_equal(found[name], array)


def test_open_files_and_other_names(tmp_path: Path) -> None:
    file = io.BytesIO()
    paddle.save({"w": paddle.ones([2])}, file, safetensors=True, metadata={"a": "b"})
    assert library.load(file.getvalue())["w"].tolist() == [1, 1]
    file.seek(0)
    found = paddle.load(file)
    assert (found["w"].tolist(), found.metadata) == ([1, 1], {"a": "b"})
    paddle.save({"w": paddle.ones([2])}, tmp_path / "x.bin", safetensors=True)
    assert paddle.load(tmp_path / "x.bin", safetensors=True)["w"].tolist() == [1, 1]
    with open(tmp_path / "x.bin", "rb") as opened:
        assert paddle.load(opened)["w"].tolist() == [1, 1]
    paddle.save({"n": {"w": 1}}, tmp_path / "x.safetensors", safetensors=False)
    assert paddle.load(tmp_path / "x.safetensors") == {"n": {"w": 1}}


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"model": {"w": np.ones(1)}}, r"state\['model'\] is a dict, .* Join keys"),
        ({"epoch": 3}, r"state\['epoch'\] is a int, .*metadata=\{\.\.\.\}"),
        ({"w": None}, r"state\['w'\] is a NoneType"),
        ({"w": [1.0]}, r"state\['w'\] is a list"),
        ({3: np.ones(1)}, "the key 3 is no name"),
        ({"__metadata__": np.ones(1)}, "the key '__metadata__' is no name"),
        ({"z": np.ones(2, "complex128")}, r"state\['z'\] is complex128"),
        ({"o": np.array(["a"])}, r"state\['o'\] is str"),
        ({"\ud800": np.ones(1)}, r"the key '\\ud800' is no name"),
        ({"m": np.ma.array([1.0, 2.0], mask=[0, 1])}, r"state\['m'\] is a MaskedArray"),
        ([np.ones(1)], "holds a dict of Tensors, and this is a list"),
        (paddle.ones([1]), "and this is a Tensor"),
    ],
)
def test_what_these_files_cannot_hold(tmp_path: Path, state: Any, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        paddle.save(state, tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


def handmade(entries: dict[str, tuple[str, list[int], bytes]]) -> bytes:
    header, content = {}, b""
    for name, (dtype, shape, data) in entries.items():
        offsets = [len(content), len(content) + len(data)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        content += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + content


def test_bfloat16_comes_as_it_is_or_as_float32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.array([[1.0, -2.5], [3e38, 1e-40], [np.inf, np.nan], [0.0, -0.0]], np.float32)
    halves = (values.view(np.uint32) >> 16).astype("<u2")
    expected = (halves.astype(np.uint32) << 16).view(np.float32)
    data = handmade(
        {"f": ("F32", [1], b"\0\0\x80?"), "h": ("BF16", [4, 2], halves.tobytes())},
    )
    (tmp_path / "x.safetensors").write_bytes(data)
    pytest.importorskip("ml_dtypes")
    found = paddle.load(tmp_path / "x.safetensors")
    assert found["h"].dtype == "bfloat16"
    paddle.save(found, tmp_path / "y.safetensors")
    again = paddle.load(tmp_path / "y.safetensors")["h"]
    assert again.numpy().tobytes() == found["h"].numpy().tobytes() == halves.tobytes()
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    monkeypatch.setattr(bfloat16, "_dtype", None)
    for source in (tmp_path / "x.safetensors", io.BytesIO(data)):
        with pytest.warns(UserWarning, match=r"1 tensors are bfloat16 \('h'\).* float32") as caught:
            found = paddle.load(source)
        assert caught[0].filename == __file__
        assert found["h"].dtype == "float32"
        assert found["h"].numpy().tobytes() == expected.tobytes()
        assert found["f"].tolist() == [1.0]


def test_dtypes_that_nobody_has() -> None:
    with pytest.raises(FileFormatError, match="'w' is F8_E4M3, and NumPy has no such numbers"):
        paddle.load(io.BytesIO(handmade({"w": ("F8_E4M3", [2], b"ab")})))
    data = handmade({"w": ("U32", [1], b"\1\0\0\0")})
    with pytest.raises(FileFormatError, match=r"uint32, which no Tensor holds: .*return_numpy"):
        paddle.load(io.BytesIO(data))
    assert paddle.load(io.BytesIO(data), return_numpy=True)["w"].tolist() == [1]


def test_cut_off_anywhere(tmp_path: Path) -> None:
    whole = library.save({"w": np.arange(3.0), "b": np.ones(2, "float32")})
    path = tmp_path / "x.safetensors"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(FileFormatError, match=r"x\.safetensors': "):
            paddle.load(path)


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library.save_file({"w": np.ones(1)}, tmp_path / "x.safetensors")
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "safetensors":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    for name in [n for n in sys.modules if n.split(".")[0] == "safetensors"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    for call in (
        lambda: paddle.save({"w": np.ones(1)}, tmp_path / "y.safetensors"),
        lambda: paddle.load(tmp_path / "x.safetensors"),
    ):
        with pytest.raises(
            MissingLibraryError, match=r'pip install "autograd-engine\[safetensors\]"'
        ):
            call()
    assert [p.name for p in tmp_path.iterdir()] == ["x.safetensors"]


@pytest.mark.parametrize("metadata", [{"a": 1}, {1: "a"}, ["a"], {"a": "\ud800"}, {"\ud800": "a"}])
def test_metadata_is_text(tmp_path: Path, metadata: Any) -> None:
    with pytest.raises(ArgumentError, match="metadata must be a dict of strings"):
        paddle.save({"w": np.ones(1)}, tmp_path / "x.safetensors", metadata=metadata)
    assert not list(tmp_path.iterdir())
