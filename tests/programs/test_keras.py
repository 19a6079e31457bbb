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


def test_two_inputs_callbacks_and_a_second_training(keras: Any, tmp_path: Path) -> None:
    """A model of two inputs, stopped early, its best weights kept, then tuned by rank 2 alone."""
    random = np.random.default_rng(0)
    x, kind = random.normal(size=(256, 3)).astype(np.float32), random.integers(0, 4, (256, 1))
    y = x.sum(1, keepdims=True) + np.array([0.0, 1.0, -1.0, 2.0], np.float32)[kind]
    numbers, word = keras.Input((3,)), keras.Input((1,), dtype="int32")
    layer = keras.layers.Dense(16, activation="tanh")
    embedded = keras.layers.Flatten()(keras.layers.Embedding(4, 4)(word))
    hidden = layer(keras.layers.Concatenate()([numbers, embedded]))
    model = keras.Model([numbers, word], keras.layers.Dense(1)(hidden))
    model.compile(keras.optimizers.Adam(0.02), "mse")
    best = tmp_path / "best.weights.h5"
    callbacks = [
        keras.callbacks.EarlyStopping(patience=2),
        keras.callbacks.ModelCheckpoint(best, save_best_only=True, save_weights_only=True),
    ]
    history = model.fit(
        [x, kind], y, epochs=12, batch_size=32, validation_split=0.2, callbacks=callbacks, verbose=0
    ).history
    model.load_weights(best)
    reached = model.evaluate([x[204:], kind[204:]], y[204:], verbose=0)
    np.testing.assert_allclose(reached, min(history["val_loss"]), rtol=1e-4)
    layer.enable_lora(2)
    kept = np.array(layer._kernel)
    model.compile(keras.optimizers.Adam(0.02), "mse")
    losses = model.fit([x, kind], y, epochs=3, batch_size=32, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    np.testing.assert_array_equal(np.array(layer._kernel), kept)


def test_a_layer_and_a_loss_of_keras_operations(keras: Any) -> None:
    x, y = images(96)
    layers, ops = keras.layers, keras.ops

    class Squeezed(layers.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(2, activation="sigmoid")

        def call(self, x: Any) -> Any:
            return x * ops.expand_dims(ops.expand_dims(self.dense(ops.mean(x, (1, 2))), 1), 1)

    def loss(true: Any, found: Any) -> Any:
        return ops.mean(ops.square(ops.log1p(ops.relu(true)) - ops.log1p(ops.relu(found))))

    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(2, 3, strides=2, padding="same", activation="relu"),
            Squeezed(),
            layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="softplus"),
        ]
    )
    model.compile(keras.optimizers.RMSprop(0.02), loss)
    losses = model.fit(x, x, epochs=4, batch_size=16, verbose=0).history["loss"]
    assert losses[-1] < 0.8 * losses[0]
    assert model.predict(x, verbose=0).shape == (len(y), 8, 8, 1)
