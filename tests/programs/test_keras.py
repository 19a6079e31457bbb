"""Keras: models of its usual layers are trained, evaluated, saved and loaded."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.programs import keras_backend


@pytest.fixture(scope="module")
def keras() -> Any:
    if find_spec("keras_paddle") is None:  # which imports keras, and so is not imported first
        pytest.skip("could not import 'keras_paddle'")
    keras_backend.install()
    library: Any = importlib.import_module("keras")
    assert library.config.backend() == "paddle"
    library.utils.set_random_seed(0)
    return library


def images(count: int) -> tuple[Any, Any]:
    """Bars that lie and bars that stand."""
    random = np.random.default_rng(0)
    x = random.normal(scale=0.3, size=(count, 8, 8, 1)).astype(np.float32)
    y = random.integers(0, 2, count)
    for image, stands, at in zip(x, y, random.integers(0, 8, count), strict=True):
        image[(slice(None), at) if stands else at] += 1.0
    return x, y


def sentences(count: int) -> tuple[Any, Any]:
    """Whether the word 0 comes before the word 1."""
    random = np.random.default_rng(0)
    x = np.stack([random.permutation(6) for _ in range(count)])
    return x, (np.argmin(x, 1) < np.argmin(np.where(x == 0, 9, x), 1)).astype(np.float32)


def test_a_regression(keras: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=(256, 4)).astype(np.float32)
    y = x @ np.array([[1.0], [2.0], [-1.0], [0.5]], np.float32)
    layers = [keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((4,)), *layers])
    model.compile(keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    history = model.fit(x, y, epochs=6, batch_size=16, validation_split=0.2, verbose=0).history
    assert history["val_loss"][-1] < 0.1 < history["loss"][0]
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.predict(x, verbose=0), model.predict(x, verbose=0))


def test_a_convolutional_network(keras: Any) -> None:
    x, y = images(160)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dropout(0.1),
            layers.Dense(2, activation="softmax"),
        ]
    )
    model.compile(
        keras.optimizers.SGD(0.1, momentum=0.9),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(x[:128], y[:128], epochs=6, batch_size=16, verbose=0)
    _, accuracy = model.evaluate(x[128:], y[128:], verbose=0)
    assert accuracy > 0.9


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "MultiHeadAttention"])
def test_sequences(keras: Any, kind: str) -> None:
    x, y = sentences(256)
    words = keras.Input((6,), dtype="int32")
    embedded = keras.layers.Embedding(6, 16)(words)
    if kind == "MultiHeadAttention":

        class Placed(keras.layers.Layer):  # type: ignore[misc]
            def build(self, shape: Any) -> None:
                self.places = self.add_weight(shape=shape[1:], initializer="normal")

            def call(self, x: Any) -> Any:
                return x + self.places

        embedded = keras.layers.LayerNormalization()(Placed()(embedded))
        attended = keras.layers.MultiHeadAttention(2, 8)(embedded, embedded)
        state = keras.layers.Flatten()(attended)
    else:
        state = getattr(keras.layers, kind)(16)(embedded)
    model = keras.Model(words, keras.layers.Dense(1, activation="sigmoid")(state))
    model.compile(keras.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(x, y, epochs=6, batch_size=32, verbose=0).history
    assert history["accuracy"][-1] > 0.9
