"""The examples that train on real data: both modes, their pictures, and how they stop."""

from __future__ import annotations

import importlib.util
import math
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from autograd_engine.errors import AnomalyError
from tests.tiers import by_default

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "lenet_digits",
    "skip_gram",
    "physics_informed",
    "wgan_gp",
    "lstm_forecast",
    "char_transformer",
)
STEPS = {
    "lenet_digits": 60,
    "skip_gram": 60,
    "physics_informed": 60,
    "wgan_gp": 20,
    "lstm_forecast": 60,
    "char_transformer": 30,
}


@cache
def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # as an import would
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=by_default(NAMES, ["lstm_forecast"]))
def example(request: pytest.FixtureRequest) -> ModuleType:
    return load(request.param)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """No pictures, which take longer than these short trainings."""
    for name in NAMES:
        monkeypatch.setattr(load(name), "draw", lambda *args: None)


def run(example: ModuleType, out: Path, *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = example.main(["--out", str(out), *map(str, arguments)])
    return found


def steps(example: ModuleType) -> int:
    return STEPS[example.__name__]


@pytest.mark.usefixtures("undrawn")
def test_both_modes_learn_the_same(example: ModuleType, tmp_path: Path) -> None:
    eager, static = (
        run(example, tmp_path, "--steps", steps(example), "--mode", mode)["losses"]
        for mode in ("eager", "static")
    )
    assert len(eager) == len(static) == steps(example)
    np.testing.assert_allclose(static[:8], eager[:8], rtol=1e-3, atol=1e-4)
    fifth = steps(example) // 5
    assert np.mean(eager[-fifth:]) < np.mean(eager[:fifth])
    assert np.mean(static[-fifth:]) < np.mean(static[:fifth])


def test_a_whole_picture_is_all_that_is_written(example: ModuleType, tmp_path: Path) -> None:
    import matplotlib.image

    picture = run(example, tmp_path, "--steps", 2)["picture"]
    pixels = matplotlib.image.imread(picture)
    assert pixels.ndim == 3
    assert min(pixels.shape[:2]) > 300
    assert np.ptp(pixels) > 0.5
    assert list(tmp_path.iterdir()) == [picture]


@pytest.mark.usefixtures("undrawn")
def test_a_seed_gives_the_same_run_again(example: ModuleType, tmp_path: Path) -> None:
    first, again, other = (
        run(example, tmp_path, "--steps", 4, "--seed", seed)["losses"] for seed in (3, 3, 4)
    )
    assert first == again != other


@pytest.mark.parametrize("mode", ["eager", "static"])
def test_a_loss_that_is_no_number_stops_it(example: ModuleType, mode: str, tmp_path: Path) -> None:
    arguments = ["--mode", mode, "--learning-rate", "1e38", "--steps", 20]
    told = r"loss is nan at step \d+: run again with --detect-anomaly, which runs the steps under "
    told += r"paddle\.autograd\.detect_anomaly\(\), to see which operation made it"
    with pytest.raises(SystemExit, match=told) as stopped:
        run(example, tmp_path, *arguments)
    assert isinstance(stopped.value.code, str)  # which Python prints, and exits with 1
    assert not list(tmp_path.iterdir())
    with pytest.raises(AnomalyError, match=f"{example.__name__}.py:"):
        run(example, tmp_path, *arguments, "--detect-anomaly")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--steps", 0], "--steps"),
        (["--steps", "many"], "invalid int value: 'many'"),
        (["--seed", -1], "--seed"),
        (["--learning-rate", -1], "--learning-rate"),
        (["--learning-rate", "nan"], "--learning-rate"),
        (["--mode", "traced"], "invalid choice: 'traced'"),
        (["--out", "nowhere/at/all"], "there is no directory 'nowhere/at/all'"),
    ],
)
def test_wrong_arguments_are_explained(
    example: ModuleType,
    arguments: list[object],
    hint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stopped:
        run(example, tmp_path, *arguments)
    assert stopped.value.code == 2
    assert hint in capsys.readouterr().err


def test_an_example_fits_in_one_reading(example: ModuleType) -> None:
    assert example.__file__ is not None
    assert len(Path(example.__file__).read_text(encoding="utf-8").splitlines()) <= 300


# --- what each of them is for


@pytest.mark.thorough
@pytest.mark.usefixtures("undrawn")
def test_the_lenet_reads_the_digits(tmp_path: Path) -> None:
    found = run(load("lenet_digits"), tmp_path, "--mode", "static")
    assert found["accuracy"] >= 0.985
    assert found["losses"][-1] < 0.65


@pytest.mark.thorough
@pytest.mark.usefixtures("undrawn")
def test_the_lenet_as_a_program_learns_the_same(tmp_path: Path) -> None:
    example = load("lenet_digits")
    eager, program = (
        run(example, tmp_path, "--epochs", 1, "--mode", mode) for mode in ("eager", "program")
    )
    np.testing.assert_allclose(program["losses"][:8], eager["losses"][:8], rtol=1e-3)
    assert program["accuracy"] == pytest.approx(eager["accuracy"], abs=0.02)
    with pytest.raises(SystemExit, match="2"):
        run(example, tmp_path, "--mode", "program", "--detect-anomaly")


def test_the_exact_solution_solves_the_equation() -> None:
    example = load("physics_informed")
    h = 1e-3
    t, x = np.meshgrid(np.linspace(0.1, 0.9, 9), np.linspace(-0.95, 0.95, 20), indexing="ij")
    u = example.exact
    u_t = (u(t + h, x) - u(t - h, x)) / (2 * h)
    u_x = (u(t, x + h) - u(t, x - h)) / (2 * h)
    u_xx = (u(t, x + h) - 2 * u(t, x) + u(t, x - h)) / h**2
    assert np.abs(u_t + u(t, x) * u_x - example.NU * u_xx).max() < 1e-2
    start = u(np.full(20, 1e-6), np.linspace(-1, 1, 20))
    np.testing.assert_allclose(start, -np.sin(np.pi * np.linspace(-1, 1, 20)), atol=1e-4)


def test_the_network_keeps_to_the_start_and_the_walls() -> None:
    import autograd_engine as paddle

    example = load("physics_informed")
    model = example.build_model()
    t, x = np.float32([[0.0], [0.3], [0.7]]), np.float32([[0.4], [-1.0], [1.0]])
    found = model(paddle.to_tensor(t), paddle.to_tensor(x)).numpy()[:, 0]
    np.testing.assert_allclose(found, [-math.sin(0.4 * math.pi), 0.0, 0.0], atol=1e-6)


@pytest.mark.usefixtures("undrawn")
def test_the_network_comes_near_the_solution(tmp_path: Path) -> None:
    example = load("physics_informed")
    far = run(example, tmp_path, "--steps", 1)["error"]
    near = run(example, tmp_path, "--steps", 1000, "--mode", "static")["error"]
    assert near < 0.5 * far


def test_only_rows_that_were_seen_change(tmp_path: Path) -> None:
    import autograd_engine as paddle

    example = load("skip_gram")
    model = example.build_model(50)
    step = example.make_step(model)
    before = model.inner.weight.numpy().copy()
    model.outer.weight.set_value(np.full((50, example.DIMENSION), 0.1, "float32"))
    words, others = np.array([3, 8]), np.array([[1, 2], [2, 4]])
    step(paddle.to_tensor(words), paddle.to_tensor(others))
    changed = np.flatnonzero((model.inner.weight.numpy() != before).any(axis=1))
    assert changed.tolist() == [3, 8]
    outer = model.outer.weight.numpy() != np.float32(0.1)
    assert np.flatnonzero(outer.any(axis=1)).tolist() == [1, 2, 4]


def test_the_text_is_that_of_the_documentation() -> None:
    example = load("skip_gram")
    text = example.Text(example.corpus())
    assert len(text.words) > 1000
    assert {"list", "file", "licensee", "exception"} <= set(text.words)
    assert np.bincount(text.ids).min() >= example.RAREST


def test_words_that_stand_near_each_other_are_paired() -> None:
    example = load("skip_gram")
    rng = np.random.default_rng(0)
    ids = np.concatenate([rng.permutation(5000) for _ in range(10)])  # none is thinned out
    text = example.Text([str(k) for k in ids])
    words, near = text.pairs(rng)
    assert 4.0 < len(words) / len(ids) < 8.0  # one to five on each side, three on average
    allowed = np.concatenate([5000 * text.ids[:-d] + text.ids[d:] for d in range(1, 6)])
    assert np.isin(5000 * words + near, allowed).mean() == pytest.approx(0.5, abs=0.01)
    assert (np.isin(5000 * words + near, allowed) | np.isin(5000 * near + words, allowed)).all()
    words, others = next(text.batches(rng))
    assert words.shape == (example.BATCH,)
    assert others.shape == (example.BATCH, 1 + example.NEGATIVES)
    assert len(np.unique(others[:, 1:])) > 1500


def test_a_slope_of_one_costs_nothing() -> None:
    import autograd_engine as paddle

    example = load("wgan_gp")
    rng = np.random.default_rng(0)
    direction = rng.standard_normal((8, 1)).astype("float32")
    direction /= np.linalg.norm(direction)
    real, made = (paddle.to_tensor(rng.random((5, 8), dtype="float32")) for _ in range(2))
    weight = paddle.to_tensor(rng.random((5, 1), dtype="float32"))
    for length, cost in ((1.0, 0.0), (3.0, 4.0)):
        slope = paddle.to_tensor(length * direction, stop_gradient=False)
        penalty = example.gradient_penalty(lambda x, w=slope: x @ w, real, made, weight)
        assert penalty.item() == pytest.approx(cost, abs=1e-5)
        penalty.backward()  # differentiated once more
        np.testing.assert_allclose(
            slope.grad.numpy(), 2 * (length - 1.0) * direction, rtol=1e-4, atol=1e-5
        )


def test_the_forecast_is_nearer_than_guesses(tmp_path: Path) -> None:
    found = run(load("lstm_forecast"), tmp_path, "--mode", "static")["errors"]
    assert found["network"] < 20.0 < min(found["this year again"], found["eleven years before"])


def test_a_forecast_reads_no_year_of_the_test_and_none_ahead() -> None:
    example = load("lstm_forecast")
    series = example.Series()
    batches = series.batches(np.random.default_rng(0))
    for _ in range(50):
        years, following = next(batches)
        np.testing.assert_array_equal(years[:, 1:], following[:, :-1])
        assert np.isin(following, series.values[: series.known]).all()
    model = example.build_model()
    said, _ = example.forecast(model, series)
    series.values[200:] = 0.0
    other, _ = example.forecast(model, series)
    np.testing.assert_array_equal(said[:200], other[:200])
    assert (said[200:] != other[200:]).any()
