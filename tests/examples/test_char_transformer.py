"""What the character transformer is for; how it runs and stops is in `test_training_examples`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle

FILE = Path(__file__).resolve().parents[2] / "examples" / "char_transformer.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("char_transformer_alone", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_text_is_licence_and_docstrings(example: ModuleType) -> None:
    text = example.collect_text()
    assert text == example.collect_text()
    assert 200_000 < len(text) < 5_000_000
    assert set(text) <= set(example.ALPHABET)
    assert "Python Software Foundation" in text[:20_000]
    assert "Return the number of items in" not in text[:20_000]
    for doc in (np.__doc__, sys.modules["json"].dumps.__doc__):
        wanted = str(doc).strip().splitlines()[0]
        assert (wanted in text) == (doc is not np.__doc__)


def test_what_follows_is_the_text_moved_by_one(example: ModuleType) -> None:
    windows = example.Windows()
    for start in (0, 1234, len(windows) - 1):
        codes, following = windows[start]
        assert len(codes) == len(following) == example.CONTEXT
        np.testing.assert_array_equal(codes[1:], following[:-1])
    decoded = "".join(example.ALPHABET[c] for c in windows[0][0])
    assert example.collect_text().startswith(decoded)


def test_no_position_sees_what_follows_it(example: ModuleType) -> None:
    model = example.build_model()
    codes = np.random.default_rng(0).integers(0, 96, (2, example.CONTEXT))
    other = codes.copy()
    other[:, 40:] = (other[:, 40:] + 1) % 96
    said, changed = (model(paddle.to_tensor(c)).numpy() for c in (codes, other))
    np.testing.assert_array_equal(said[:, :40], changed[:, :40])
    assert (said[:, 40:] != changed[:, 40:]).any(axis=-1).all()


@pytest.mark.thorough
def test_it_starts_undecided_and_learns(
    example: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(example, "draw", lambda *args: None)
    found = example.main(["--steps", "60", "--mode", "static", "--out", str(tmp_path)])
    losses = found["losses"]
    assert losses[0] == pytest.approx(np.log(96), abs=0.6)
    assert np.mean(losses[-5:]) < 3.0
    assert found["text"].startswith("Return ")
    assert len(found["text"]) == len("Return ") + 400


def test_attention_adds_up_and_looks_back(example: ModuleType) -> None:
    model = example.build_model()
    attention = model.blocks.layers[-1].self_attn
    weights = example.attention_map(model, "Return the number")
    assert weights.shape == (example.HEADS, 17, 17)
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, rtol=1e-5)
    assert (weights[:, ~np.tri(17, dtype=bool)] == 0).all()
    assert attention.need_weights is False
    seen: list[Any] = [model(example.window([1, 2, 3]))]
    assert seen[0].shape == [1, example.CONTEXT, 96]


@pytest.mark.thorough
def test_a_seed_writes_the_same_again(example: ModuleType) -> None:
    model = example.build_model()
    first, again, other = (example.write(model, "class ", 80, seed) for seed in (1, 1, 2))
    assert first == again != other
    assert len(first) == 86
