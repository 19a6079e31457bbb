"""Devices other than the first, and programs in files; run in a process that has two devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine.compiler.xla import devices, executable_cache
from autograd_engine.compiler.xla.function import DeviceMemory
from tests.xla.steps import TABLE, Training, perceptron

ALONE = """
import sys, numpy as np, jax, jax.export
for path in sys.argv[1:]:
    with open(path + ".stablehlo", "rb") as file:
        program = jax.export.deserialize(file.read())
    assert program.platforms == ("cpu", "cuda", "tpu")
    given = np.load(path + ".npz")
    for rows in (1, 5):
        (out,) = program.call(given["x"][:rows])
        gap = np.abs(np.asarray(out) - given["y"][:rows]).max()
        assert gap < 4e-6, (path, gap)
assert "autograd_engine" not in sys.modules
"""


def a_device_is_chosen_and_steps_run_there() -> None:
    expected = Training(perceptron, TABLE, "numpy").losses(5)
    paddle.set_device("cpu:1")
    try:
        assert paddle.get_device() == "cpu:1"
        training = Training(perceptron, TABLE, "auto")
        found = training.losses(5)
    finally:
        paddle.set_device("cpu")
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert training.report().backend == "jax"
    for memory in training.step.binding.bound.held.values():
        assert memory.value.devices() == {jax.devices()[1]}
    assert Training(perceptron, TABLE, "auto").report().backend != "jax"


def a_device_that_is_not_there_is_named() -> None:
    for name in ("cpu:2", "gpu:0", "tpu", "abacus:0"):
        with pytest.raises(paddle.errors.ArgumentError, match=f"no device '{name}"):
            paddle.set_device(name)
    assert paddle.get_device() == "cpu"


def devices_are_counted_once_they_were_asked_for() -> None:
    code = (
        "import sys, autograd_engine as p; print(p.device.get_available_device(), "
        "p.is_compiled_with_cuda(), p.device.cuda.device_count(), 'jax' in sys.modules)"
    )
    for backend, available, loaded in (("", "[]", "False"), ("jax", "['cpu:1']", "True")):
        environment = {**os.environ, "AUTOGRAD_ENGINE_BACKEND": backend}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        assert done.stdout.strip() == f"{available} False 0 {loaded}"
    one, two = jax.devices()
    known = {"cpu": [one], "gpu": [one, two], "tpu": [two]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "devices", lambda kind: known[kind])
        device = paddle.device
        assert (device.device_count(), device.cuda.device_count()) == (3, 2)
        assert device.is_available()
        assert paddle.is_compiled_with_cuda()
        assert paddle.is_compiled_with_custom_device("tpu")
        assert not paddle.is_compiled_with_custom_device("npu")
        assert device.get_available_device() == ["gpu:0", "gpu:1"]
        assert device.get_available_custom_device() == ["tpu:0"]
        assert device.get_all_device_type() == ["gpu"]
        assert device.get_all_custom_device_type() == ["tpu"]
    device.synchronize()
    with pytest.raises(paddle.errors.ArgumentError, match="no device 'gpu:0'"):
        device.synchronize("gpu:0")


def steps_neither_read_nor_write_state() -> None:
    training = Training(perceptron, TABLE, "jax")
    training.losses(1)

    def refuse(*_: Any) -> None:
        raise AssertionError("state was copied")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DeviceMemory, "read", refuse)
        patch.setattr(DeviceMemory, "write", refuse)
        with jax.transfer_guard_device_to_device("disallow"):
            training.losses(3)
        for memory in training.step.binding.bound.held.values():
            assert isinstance(memory.value, jax.Array)
    assert all(np.isfinite(v).all() for v in training.state().values())


def executables_are_kept_and_the_configuration_is_the_users() -> None:
    before = jax.config.jax_compilation_cache_dir
    losses = []
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_ENGINE_CACHE", directory)
        patch.setattr(executable_cache, "_SECONDS", 0.0)
        for _ in range(2):
            losses.append(Training(perceptron, TABLE, "jax").losses(3))
            records = list(Path(directory).glob("native/lib-*/executable"))
            assert len(records) == 2  # the step, and the check of its labels
            assert all(record.stat().st_mode & 0o077 == 0 for record in records)
            patch.setattr(jax.stages.Lowered, "compile", None)  # the second does not compile
        for record in records:
            record.write_bytes(record.read_bytes()[:-1])  # a damaged one is not believed
        patch.undo()
        patch.setenv("AUTOGRAD_ENGINE_CACHE", directory)
        losses.append(Training(perceptron, TABLE, "jax").losses(3))
    for other in losses[1:]:
        np.testing.assert_array_equal(losses[0], other)
    assert jax.config.jax_compilation_cache_dir == before


class Images(paddle.nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = paddle.nn.Conv2D(1, 4, 3), paddle.nn.BatchNorm2D(4)
        self.linear = paddle.nn.Linear(36, 5)

    def forward(self, x: Any) -> Any:
        x = paddle.nn.functional.max_pool2d(paddle.tanh(self.norm(self.conv(x))), 2)
        return self.linear(paddle.flatten(x, 1))


def programs_run_where_this_package_is_not() -> None:
    nn = paddle.nn
    layers = {
        "perceptron": (nn.Sequential(nn.Linear(13, 8), nn.ReLU(), nn.Dropout(0.5)), [13]),
        "images": (Images(), [1, 8, 8]),
        "transformer": (nn.TransformerEncoderLayer(16, 2, 32), [6, 16]),
    }
    with tempfile.TemporaryDirectory() as directory:
        for name, (layer, shape) in layers.items():
            path = f"{directory}/{name}"
            spec = [paddle.static.InputSpec([None, *shape], "float32")]
            paddle.jit.save(layer, path, spec, format="stablehlo")
            x = np.random.default_rng(1).standard_normal((5, *shape)).astype("f")
            layer.eval()
            np.savez(f"{path}.npz", x=x, y=layer(paddle.to_tensor(x)).numpy())
        environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
        command = [sys.executable, "-c", ALONE, *(f"{directory}/{name}" for name in layers)]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=directory, check=False
        )
        assert done.returncode == 0, done.stderr


def what_stablehlo_cannot_hold_is_named() -> None:
    def draws(x: Any) -> Any:
        return x + paddle.rand([3])

    with tempfile.TemporaryDirectory() as directory:
        spec = [paddle.static.InputSpec([3], "float32")]
        with pytest.raises(paddle.errors.FileFormatError, match=r"elsewhere\.py.*draws random"):
            paddle.jit.save(draws, f"{directory}/model", spec, format="stablehlo")
        assert not list(Path(directory).iterdir())


TESTS = (
    a_device_is_chosen_and_steps_run_there,
    a_device_that_is_not_there_is_named,
    devices_are_counted_once_they_were_asked_for,
    steps_neither_read_nor_write_state,
    executables_are_kept_and_the_configuration_is_the_users,
    programs_run_where_this_package_is_not,
    what_stablehlo_cannot_hold_is_named,
)

if __name__ == "__main__":
    outcomes = {}
    for test in TESTS:
        try:
            test()
            outcomes[test.__name__] = ""
        except BaseException:
            outcomes[test.__name__] = traceback.format_exc()
    print(json.dumps(outcomes))
