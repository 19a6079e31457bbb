"""A training that goes on from a checkpoint does, bit for bit, what it would have done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import nn, static
from autograd_engine.compiler.native.toolchain.compiler import find_toolchain, why_not
from tests.io import resumed_training
from tests.io.resumed_training import HALF, STEPS, TRAININGS, begun, outcome, resumed

SCRIPT = Path(resumed_training.__file__)
TREE = str(Path(paddle.__file__).parents[1])


def interrupted(mode: str, name: str, directory: Path) -> dict[str, Any]:
    """What comes out without interruption; the checkpoint of a half is in the directory."""
    training = begun(mode, name)
    training.run(0, HALF)
    paddle.save(training.state(), directory / f"{name}.pd")
    return outcome(training, training.run(HALF, STEPS))


def same(found: Any, expected: dict[str, Any]) -> None:
    assert sorted(found) == sorted(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, name
        assert found[name].shape == array.shape, name
        assert found[name].tobytes() == np.ascontiguousarray(array).tobytes(), name


EVERY = [(m, n) for m in ("eager", "to_static", "program") for n in TRAININGS]


@pytest.mark.parametrize(
    ("mode", "name"), [*EVERY, *((m, n) for m in ("seeded", "objects") for n in ("SGD", "AdamW"))]
)
def test_in_one_process(tmp_path: Path, mode: str, name: str) -> None:
    with static.scope_guard(static.Scope()):
        expected = interrupted(mode, name, tmp_path)
    assert len(set(expected["losses"])) == STEPS - HALF
    with static.scope_guard(static.Scope()):
        found = resumed(mode, name, tmp_path)
    same(found, expected)


@pytest.mark.parametrize("mode", ["eager", "to_static", "program"])
def test_in_a_process_of_its_own(tmp_path: Path, mode: str) -> None:
    expected = {}
    for name in TRAININGS:
        with static.scope_guard(static.Scope()):
            expected[name] = interrupted(mode, name, tmp_path)
    subprocess.run(
        [sys.executable, str(SCRIPT), mode, str(tmp_path), *TRAININGS],
        env={**os.environ, "PYTHONPATH": TREE},
        check=True,
        timeout=120,
    )
    for name in TRAININGS:
        with np.load(tmp_path / f"{name}.npz", allow_pickle=False) as found:
            same(dict(found), expected[name])


def test_between_modes(tmp_path: Path) -> None:
    """What an eager training has saved, the compiled one goes on with."""
    expected = interrupted("eager", "AdamW", tmp_path)
    same(resumed("to_static", "AdamW", tmp_path), expected)


def test_what_is_left_out_makes_a_difference(tmp_path: Path) -> None:
    """The comparison above sees each part of a checkpoint."""
    expected = interrupted("eager", "Adam", tmp_path)
    state = paddle.load(tmp_path / "Adam.pd")
    for part in ("model", "optimizer", "rng"):
        training = begun("eager", "Adam")
        training.restore({**state, part: training.state()[part]})
        found = outcome(training, training.run(HALF, STEPS))
        assert (found["losses"] != expected["losses"]).any(), part


def test_float32_copies_of_float16_parameters(tmp_path: Path) -> None:
    def training() -> Any:
        with paddle.utils.unique_name.guard():
            model = nn.Linear(4, 2)
        model.to(dtype="float16")
        adam = paddle.optimizer.Adam(0.01, parameters=model.parameters(), multi_precision=True)
        return model, adam

    def run(model: Any, adam: Any, first: int, last: int) -> None:
        for step in range(first, last):
            x, y = resumed_training.data(step)
            out = model(paddle.to_tensor(x.astype("f2")))
            ((out - paddle.to_tensor(y.astype("f2"))) ** 2).mean().backward()
            adam.step()
            adam.clear_grad()

    paddle.seed(1)
    model, adam = training()
    run(model, adam, 0, 4)
    state = {"model": model.state_dict(), "adam": adam.state_dict()}
    assert sorted(state["adam"]["master_weights"]) == ["linear_0.b_0", "linear_0.w_0"]
    paddle.save(state, tmp_path / "half.pd")
    run(model, adam, 4, 9)
    other, other_adam = training()
    state = paddle.load(tmp_path / "half.pd")
    other.set_state_dict(state["model"])
    other_adam.set_state_dict(state["adam"])
    run(other, other_adam, 4, 9)
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        assert a.numpy().tobytes() == b.numpy().tobytes()
    masters = [a.state_dict()["master_weights"]["linear_0.w_0"] for a in (adam, other_adam)]
    assert masters[0].numpy().tobytes() == masters[1].numpy().tobytes()


def test_lbfgs_with_a_schedule(tmp_path: Path) -> None:
    def training() -> Any:
        w = paddle.create_parameter([4, 2], name="lbfgs_w", default_initializer=zeros)
        schedule = paddle.optimizer.lr.ExponentialDecay(0.5, 0.8)
        lbfgs = paddle.optimizer.LBFGS(schedule, max_iter=2, parameters=[w])

        def closure() -> Any:
            lbfgs.clear_grad()
            loss = ((paddle.matmul(x, w) - y) ** 4).mean()
            loss.backward()
            return loss

        def run(steps: int) -> list[float]:
            found = []
            for _ in range(steps):
                found.append(lbfgs.step(closure).item())
                schedule.step()
            return found

        return w, lbfgs, run

    zeros = nn.initializer.Constant(0.0)
    x, y = (paddle.to_tensor(a) for a in resumed_training.data(0))
    w, lbfgs, run = training()
    run(3)
    paddle.save({"w": w, "lbfgs": lbfgs.state_dict()}, tmp_path / "half.pd")
    expected = run(4)
    other, other_lbfgs, other_run = training()
    state = paddle.load(tmp_path / "half.pd")
    other.set_value(state["w"])
    other_lbfgs.set_state_dict(state["lbfgs"])
    assert other_run(4) == expected
    del state["lbfgs"]["LR_Scheduler"]
    with pytest.raises(ValueError, match="LR_Scheduler is missing"):
        other_lbfgs.set_state_dict(state["lbfgs"])


def test_weights_by_columns(tmp_path: Path) -> None:
    """The order of elements in memory is part of a state: norms are sums in that order."""
    rng = np.random.default_rng(3)
    start = np.asfortranarray(rng.standard_normal((37, 53)).astype("f4"))
    x = paddle.to_tensor(rng.standard_normal((8, 37)).astype("f4"))

    def training(values: Any) -> Any:
        w = paddle.create_parameter([37, 53], name="columns_w")
        w.set_value(values)
        return w, paddle.optimizer.Lamb(0.01, parameters=[w])

    def run(w: Any, lamb: Any, steps: int) -> None:
        for _ in range(steps):
            (paddle.matmul(x, w) ** 2).mean().backward()
            lamb.step()
            lamb.clear_grad()

    w, lamb = training(start)
    run(w, lamb, 3)
    paddle.save({"w": w, "lamb": lamb.state_dict()}, tmp_path / "half.pd")
    state = paddle.load(tmp_path / "half.pd")
    other, other_lamb = training(state["w"])
    other_lamb.set_state_dict(state["lamb"])
    for a, b in zip(lamb._eager_state[id(w)], other_lamb._eager_state[id(other)], strict=True):
        assert a.strides == b.strides
    assert w._data.strides == other._data.strides
    run(w, lamb, 3)
    run(other, other_lamb, 3)
    assert w.numpy().tobytes() == other.numpy().tobytes()


def test_names_that_have_gone_on_counting(tmp_path: Path) -> None:
    """A model that is made again in one process, without a guard: the error says what to do."""
    model = nn.Linear(2, 2)
    adam = paddle.optimizer.Adam(0.1, parameters=model.parameters())
    model(paddle.ones([1, 2])).sum().backward()
    adam.step()
    paddle.save(adam.state_dict(), tmp_path / "adam.pdopt")
    again = nn.Linear(2, 2)
    other = paddle.optimizer.Adam(0.1, parameters=again.parameters())
    with pytest.raises(ValueError, match=r"with paddle\.utils\.unique_name\.guard\(\)") as caught:
        other.set_state_dict(paddle.load(tmp_path / "adam.pdopt"))
    assert "linear_0.w_0_moment1_0 is nothing that this optimizer keeps" in str(caught.value)
    with paddle.utils.unique_name.guard():
        again = nn.Linear(2, 2)
    other = paddle.optimizer.Adam(0.1, parameters=again.parameters())
    other.set_state_dict(paddle.load(tmp_path / "adam.pdopt"))
    found = other.state_dict()["linear_0.w_0_moment1_0"]
    assert found.tolist() == adam.state_dict()["linear_0.w_0_moment1_0"].tolist()


def test_a_checkpoint_leaves_the_training_alone(tmp_path: Path) -> None:
    training = begun("eager", "Adam")
    training.run(0, 2)
    state = training.state()
    paddle.save(state, tmp_path / "a.pd")
    training.run(2, 4)
    paddle.save(state, tmp_path / "b.pd")  # what was taken before the steps is what it was
    assert (tmp_path / "a.pd").read_bytes() != b""
    first, second = paddle.load(tmp_path / "a.pd"), paddle.load(tmp_path / "b.pd")
    for name, value in first["optimizer"].items():
        if isinstance(value, paddle.Tensor):
            assert value.tolist() == second["optimizer"][name].tolist()


# --- in the middle of an epoch


def epochs(path: Path, workers: int, stop: int | None = None) -> list[float]:
    """The losses of two epochs, or until it is stopped and saves; as docs/training.md says."""
    paddle.seed(5)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((22, 4)).astype("f4"), rng.standard_normal((22, 2)).astype("f4")
    with paddle.utils.unique_name.guard():
        model = resumed_training.network()
    adam = paddle.optimizer.Adam(0.01, parameters=model.parameters())
    loader = paddle.io.DataLoader(
        paddle.io.TensorDataset([x, y]), batch_size=6, shuffle=True, num_workers=workers
    )
    at: dict[str, Any] = {"epoch": 0, "batch": 0, "order": paddle.get_rng_state(), "rng": None}
    if path.exists():
        state = paddle.load(path)
        model.set_state_dict(state["model"])
        adam.set_state_dict(state["adam"])
        at = state["at"]
    losses: list[float] = []
    while at["epoch"] < 2:
        paddle.set_rng_state(at["order"])
        batches = iter(loader)
        for _ in range(at["batch"]):
            next(batches)
        if at["rng"]:
            paddle.set_rng_state(at["rng"])
        for inputs, targets in batches:
            loss = nn.functional.mse_loss(model(inputs), targets)
            loss.backward()
            adam.step()
            adam.clear_grad()
            losses.append(loss.item())
            at["batch"] += 1
            if len(losses) == stop:
                at["rng"] = paddle.get_rng_state()
                saved = {"model": model.state_dict(), "adam": adam.state_dict(), "at": at}
                paddle.save(saved, path)
                return losses
        at = {"epoch": at["epoch"] + 1, "batch": 0, "order": paddle.get_rng_state(), "rng": None}
    return losses


def test_wherever_an_epoch_is_left(tmp_path: Path) -> None:
    whole = epochs(tmp_path / "none.pd", 0)
    assert len(whole) == len(set(whole)) == 8
    for stop in range(1, 9):
        path = tmp_path / f"{stop}.pd"
        assert epochs(path, 0, stop) + epochs(path, 0) == whole


def test_an_epoch_that_workers_read(tmp_path: Path) -> None:
    whole = epochs(tmp_path / "none.pd", 0)
    path = tmp_path / "half.pd"
    assert epochs(path, 2, 6) + epochs(path, 2) == whole


# --- compiled to native code


@pytest.fixture
def compiled_at_once() -> Iterator[None]:
    before = paddle.get_flags("FLAGS_runs_before_compiling")
    paddle.set_flags({"FLAGS_runs_before_compiling": 0})
    yield
    paddle.set_flags(before)


@pytest.mark.skipif(find_toolchain() is None, reason=f"no C compiler: {why_not()}")
@pytest.mark.parametrize("mode", ["to_static", "program"])
@pytest.mark.parametrize("name", ["AdamW", "Lamb", "Momentum"])
def test_a_native_training_goes_on_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, name: str
) -> None:
    monkeypatch.setenv("AUTOGRAD_ENGINE_BACKEND", "native")
    with static.scope_guard(static.Scope()):
        expected = interrupted(mode, name, tmp_path)
    with static.scope_guard(static.Scope()):
        same(resumed(mode, name, tmp_path), expected)
    with static.scope_guard(static.Scope()):
        training = begun(mode, name)
        monkeypatch.setenv("AUTOGRAD_ENGINE_BACKEND", "numpy")
        plain = begun(mode, name)
        assert training.run(0, STEPS) != plain.run(0, STEPS)  # it was native code


@pytest.mark.usefixtures("compiled_at_once")
def test_numpy_has_the_bits_of_eager_mode_from_the_first_run_on(tmp_path: Path) -> None:
    expected = interrupted("eager", "AdamW", tmp_path)
    same(interrupted("to_static", "AdamW", tmp_path), expected)


def test_runs_before_compiling() -> None:
    assert paddle.get_flags("FLAGS_runs_before_compiling") == {"FLAGS_runs_before_compiling": None}
    for bad, error in ((-1, ValueError), (True, TypeError), (2.0, TypeError), ("0", TypeError)):
        with pytest.raises(error, match="FLAGS_runs_before_compiling must"):
            paddle.set_flags({"FLAGS_runs_before_compiling": bad})
