"""Checkpoints that were cut off, damaged or made to do harm: refused, or what was saved."""

from __future__ import annotations

import io
import json
import pickle
import random
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.errors import FileFormatError

STATE = {
    "model": {"w": np.arange(6.0).reshape(2, 3), "b": np.float32(1.5), "t": [1, "two", None]},
    "empty": np.zeros((0, 2)),
    "flags": np.array([True, False]),
    "odd": np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2),
    "key": b"bytes",
}


def content(state: Any = STATE) -> bytes:
    file = io.BytesIO()
    paddle.save(state, file)
    return file.getvalue()


def loaded(data: bytes) -> Any:
    return paddle.load(io.BytesIO(data), return_numpy=True)


def text(value: Any) -> str:
    return repr(value)


def test_cut_off_anywhere() -> None:
    whole = content()
    for length in range(len(whole)):
        with pytest.raises(FileFormatError, match="the BytesIO: ") as caught:
            loaded(whole[:length])
        assert str(caught.value).isprintable()


def test_longer_than_it_was() -> None:
    whole = content()
    for more in (b"\0", b"PK", whole):
        with pytest.raises(FileFormatError):
            loaded(whole + more)
        with pytest.raises(FileFormatError):
            loaded(more + whole)


def test_any_byte_changed() -> None:
    """What says nothing of the state may change: times, flags. All else is found out."""
    whole, rng = content(), random.Random(5)
    refusals = []
    for place in range(len(whole)):
        for new in {whole[place] ^ (1 << rng.randrange(8)), rng.randrange(256)} - {whole[place]}:
            damaged = bytearray(whole)
            damaged[place] = new
            try:
                found = loaded(bytes(damaged))
            except FileFormatError as error:
                refusals.append(str(error))
            else:
                assert text(found) == text(STATE)
    assert len(refusals) > len(whole)
    for message in refusals:
        assert message.startswith("the BytesIO: ")
        assert message.isprintable()


def test_bytes_taken_out_and_put_in() -> None:
    whole, rng = content(), random.Random(6)
    for _ in range(500):
        start = rng.randrange(len(whole))
        stop = min(len(whole), start + rng.randrange(1, 40))
        middle = rng.choice([b"", rng.randbytes(stop - start), bytes(stop - start), whole[:20]])
        if middle == whole[start:stop]:
            continue
        try:
            found = loaded(whole[:start] + middle + whole[stop:])
        except FileFormatError:
            continue
        assert text(found) == text(STATE)


def test_a_bit_of_a_large_array(tmp_path: Path) -> None:
    paddle.save({"w": np.zeros(10**6)}, tmp_path / "f")
    with open(tmp_path / "f", "r+b") as file:
        file.seek(4 * 10**6)
        file.write(b"\x01")
    with pytest.raises(FileFormatError, match=r"f': is damaged, .*Bad CRC-32 for file .*w\.npy"):
        paddle.load(tmp_path / "f")


def test_an_empty_file_and_none_of_ours(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    with pytest.raises(FileFormatError, match="f': is empty"):
        paddle.load(tmp_path / "f")
    (tmp_path / "f").write_bytes(b"hello")
    with pytest.raises(FileFormatError, match="is no file that paddle"):
        paddle.load(tmp_path / "f")


# --- pickles


class Evil:
    def __reduce__(self) -> Any:
        return exec, ("raise SystemExit('unpickled')",)


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_are_recognised_and_never_read(protocol: int) -> None:
    with pytest.raises(
        FileFormatError, match="is a pickle, .*safetensors" if protocol != 1 else "no file"
    ):
        loaded(pickle.dumps({"w": Evil()}, protocol))


def test_files_of_pytorch() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Evil(), 2))
        archive.writestr("archive/version", "3")
    with pytest.raises(FileFormatError, match=r"PyTorch, safetensors\.torch\.save_file"):
        loaded(file.getvalue())


# --- made on purpose


def made(structure: Any, arrays: dict[str, bytes] | None = None, **options: Any) -> bytes:
    """A file of that structure, with a right checksum for each member."""
    document = {"format": "autograd_engine checkpoint", "version": 1, "state": structure}
    document.update(options.pop("document", {}))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        archive.writestr("structure.json", json.dumps(document))
        for name, data in (arrays or {}).items():
            archive.writestr(f"{name}.npy", data)
        archive.comment = b"autograd_engine checkpoint 1"
    return file.getvalue()


def npy(array: Any, shape: Any = None) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(array))
    data = file.getvalue()
    if shape is not None:
        head = data[:10] + data[10:].replace(str(np.shape(array)).encode(), str(shape).encode(), 1)
        return head[:8] + struct.pack("<H", len(head) - len(data) + 118) + head[10:]
    return data


A = {"a": npy(np.arange(3.0))}


def test_what_is_right_is_read() -> None:
    assert loaded(made({"dict": [["x", {"array": "a"}]]}, A))["x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        ({"array": "b"}, "state: there is no array 'b' in the file"),
        ({"array": 3}, "state: there is no array 3"),
        ({"array": ["a"]}, "there is no array a list of 1"),
        ({"dict": [["x", {"tensor": "b"}]]}, r"state\['x'\]: there is no array 'b'"),
        ({"tensor": ["a", 3]}, "must be a string, got 3"),
        ({"tensor": ["a"]}, "must have 2 entries, got 1"),
        ({"bytes": "a"}, "bytes are an array of uint8"),
        (1, "has the array 'a', which is no part of the state"),
        ({"pickle": "a"}, "'pickle' is nothing that a state holds"),
        ({"npy": "aaaa"}, "'npy' is nothing that a state holds"),
        ({"slice": [1, 2, 3]}, "'slice' is nothing that a state holds"),
        ({"array": "a", "x": 1}, "a dict of 2 is no attribute"),
        ({}, "a dict of 0 is no attribute"),
        ({"dict": {"x": 1}}, "must be a list, got a dict of 1"),
        ({"dict": [["x"]]}, "must have 2 entries, got 1"),
        ({"dict": [["x", 1], ["x", 2]]}, "'x' is no key, or comes twice"),
        ({"dict": [[{"list": []}, 1]]}, "is no key"),
        ({"dict": [[{"array": "a"}, 1]]}, "is no key"),
        ({"dict": [[[{"array": "a"}], 1]]}, "is no key"),
        ({"int": "12"}, "is no integer in hexadecimal"),
        ({"int": 12}, "is no integer in hexadecimal"),
        ({"int": "0x1"}, "1 is written as a number"),
        (10**39, "must be an integer from"),
        ({"float": "1.0"}, "must be one of nan, inf and -inf"),
        ({"scalar": ["object", 1]}, "is no dtype"),
        ({"scalar": ["int8", 300]}, "300 is no int8"),
        ("\ud800", "half of a surrogate pair"),
    ],
)
def test_structures_that_are_wrong(structure: Any, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        loaded(made(structure, A))


def test_documents_that_are_wrong() -> None:
    for document, message in (
        ({"version": 2}, "is of version 2 of the format, .*update autograd_engine"),
        ({"version": "1"}, "for its version"),
        ({"format": "autograd_engine program"}, "is no checkpoint"),
        ({"more": 1}, "has 'more', which this version does not know"),
        ({"axes": []}, "axes: must be an object"),
        ({"axes": {"b": [0]}}, "there is no such array"),
        ({"axes": {"a": [1]}}, "are not the axes of an array of 1"),
        ({"axes": {"a": [0, 0]}}, "are not the axes"),
        ({"axes": {"a": "0"}}, "must be a list"),
    ):
        with pytest.raises(FileFormatError, match=message):
            loaded(made({"array": "a"}, A, document=document))


def test_bombs_are_refused() -> None:
    deep: Any = 0
    for _ in range(300):
        deep = [deep]
    with pytest.raises(FileFormatError, match="nested more than"):
        loaded(made(deep))
    nested = b"[" * 10**5 + b"]" * 10**5
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("structure.json", nested)
        archive.comment = b"autograd_engine checkpoint 1"
    with pytest.raises(FileFormatError, match="nested"):
        loaded(file.getvalue())
    with pytest.raises(FileFormatError, match="compressed member"):
        loaded(made({"array": "a"}, {"a": npy(np.zeros(10**6))}, compression=zipfile.ZIP_DEFLATED))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((10**15,), "claims 8000000000000000 bytes for its shape .*, and has 24"),
        ((0, 2**62, 2**62), "claims 0 bytes|no array has the shape"),
        ((-1,), "a header that no array of numbers has"),
        ((2**63, 0), "no array has the shape|claims"),
    ],
)
def test_shapes_that_claim_too_much(shape: Any, message: str) -> None:
    data = npy(np.arange(3.0) if 0 not in shape else np.zeros(0), shape)
    with pytest.raises(FileFormatError, match=message):
        loaded(made({"array": "a"}, {"a": data}))


def test_tensors_of_dtypes_that_they_do_not_have() -> None:
    data = {"a": npy(np.zeros(2, "uint32"))}
    assert loaded(made({"array": "a"}, data)).dtype == np.uint32
    with pytest.raises(FileFormatError, match="no Tensor holds uint32"):
        loaded(made({"tensor": "a"}, data))


def test_bools_are_0_or_1() -> None:
    data = npy(np.array([True])).replace(b"\x01", b"\x07")
    data = data[:6] + b"\x01" + data[7:]  # the version of the format was a 1 too
    with pytest.raises(FileFormatError, match="bools other than 0 and 1"):
        loaded(made({"array": "a"}, {"a": data}))


def test_a_structure_needs_the_comment() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("structure.json", "{}")
    with pytest.raises(FileFormatError, match="has the comment"):
        loaded(file.getvalue())


def test_files_of_a_later_version_say_so() -> None:
    whole = zipfile.ZipFile(io.BytesIO(content({"x": 1})))
    document = json.loads(whole.read("structure.json"))
    document["version"] = 2
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("structure.json", json.dumps(document))
        archive.comment = whole.comment[:-1] + b"2"
    with pytest.raises(FileFormatError, match=r"version 2 .* update autograd_engine"):
        loaded(file.getvalue())


def test_long_integers_in_wrong_places() -> None:
    long = {"int": hex(10**5000)}
    with pytest.raises(FileFormatError, match="<int> is no key, or comes twice"):
        loaded(made({"dict": [[long, 1], [long, 2]]}))
