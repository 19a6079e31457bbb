"""safetensors: files and bytes of tensors by its functions for Paddle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


@pytest.fixture(scope="module")
def tensors(as_paddle: None) -> dict[str, Any]:
    import paddle

    pytest.importorskip("safetensors.paddle")
    kept = {dtype: paddle.arange(6).reshape([3, 2]).astype(dtype) for dtype in DTYPES}
    return kept | {"none": paddle.zeros([0, 3]), "one": paddle.to_tensor(2.0)}


def same(found: dict[str, Any], kept: dict[str, Any]) -> None:
    assert found.keys() == kept.keys()
    for name, tensor in kept.items():
        assert (found[name].dtype, found[name].shape) == (tensor.dtype, tensor.shape)
        np.testing.assert_array_equal(found[name].numpy(), tensor.numpy())


def test_files_and_bytes(tensors: dict[str, Any], tmp_path: Path) -> None:
    import safetensors.paddle

    path = tmp_path / "x.safetensors"
    safetensors.paddle.save_file(tensors, path, {"made by": "a test"})
    same(safetensors.paddle.load_file(path), tensors)
    same(safetensors.paddle.load(safetensors.paddle.save(tensors)), tensors)
    with safetensors.safe_open(path, framework="paddle") as opened:
        assert opened.metadata() == {"made by": "a test"}
        part = opened.get_slice("int16")[1:]
        assert part.tolist() == [[2, 3], [4, 5]]


def test_a_model_goes_through_a_file(tensors: dict[str, Any], tmp_path: Path) -> None:
    import paddle
    import safetensors.paddle

    first, second = (paddle.nn.Linear(3, 2) for _ in range(2))
    path = tmp_path / "model.safetensors"
    safetensors.paddle.save_file(first.state_dict(), path)
    second.set_state_dict(safetensors.paddle.load_file(path))
    x = paddle.ones([1, 3])
    assert first(x).tolist() == second(x).tolist()
    second(x).sum().backward()
    assert second.weight.grad.tolist() == [[1.0, 1.0]] * 3
