"""Programs for inference in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static, unique_name
from autograd_engine.errors import ArgumentError, BuildError, FileFormatError
from tests.program.file_programs import build


def classifier() -> tuple[static.Program, static.Program, Any, Any, Any]:
    main, startup = static.Program(), static.Program()
    with unique_name.guard(), static.program_guard(main, startup):
        x = static.data("x", [None, 4], "float32")
        label = static.data("label", [None, 1], "int64")
        hidden = static.nn.fc(x, 8, activation="relu", name="hidden")
        dropped = paddle.nn.functional.dropout(hidden, 0.5)
        scores = static.nn.fc(dropped, 3, name="scores")
        loss = paddle.mean(paddle.nn.functional.softmax_with_cross_entropy(scores, label))
        paddle.optimizer.Adam(0.1).minimize(loss)
    return main, startup, x, hidden, scores


FEED = np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)


@pytest.fixture
def trained() -> Any:
    with static.scope_guard(static.Scope()):
        main, startup, x, hidden, scores = classifier()
        exe = static.Executor()
        exe.run(startup)
        for _ in range(3):
            exe.run(main, {"x": FEED, "label": np.array([[0], [2]])}, [])
        yield main, x, hidden, scores, exe


def expected(scope: static.Scope) -> np.ndarray:
    value = {n: scope.find_var(n).value for n in scope.local_var_names()}
    hidden = np.maximum(FEED @ value["hidden.w_0"] + value["hidden.b_0"], 0)
    return np.asarray(hidden @ value["scores.w_0"] + value["scores.b_0"])


def test_a_trained_model_is_served_from_files(trained: Any, tmp_path: Path) -> None:
    main, x, _, scores, exe = trained
    before = main.to_string()
    wanted = expected(static.global_scope())
    prefix = str(tmp_path / "new" / "model")
    static.save_inference_model(prefix, [x], [scores], exe, program=main)
    assert main.to_string() == before
    names = sorted(p.name for p in (tmp_path / "new").iterdir())
    assert names == ["model.pdiparams", "model.pdmodel"]
    with static.scope_guard(static.Scope()):
        program, feeds, fetches = static.load_inference_model(prefix, exe)
        assert feeds == ["x"]
        assert [v.name for v in fetches] == [scores.name]
        (found,) = exe.run(program, {"x": FEED}, fetches)
        kept = sorted(static.global_scope().local_var_names())
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert kept == ["hidden.b_0", "hidden.w_0", "scores.b_0", "scores.w_0"]
    assert {op.role for op in program.global_block().ops} == {"forward"}


def test_no_optimizer_and_no_label_in_the_files(trained: Any, tmp_path: Path) -> None:
    _, x, _, scores, exe = trained
    static.save_inference_model(str(tmp_path / "m"), x, scores, exe)
    text = (tmp_path / "m.pdmodel").read_text()
    for word in ("label", "moment", "gradient_of", "learning_rate"):
        assert word not in text
    with np.load(tmp_path / "m.pdiparams", allow_pickle=False) as arrays:
        assert sorted(arrays.files) == ["hidden.b_0", "hidden.w_0", "scores.b_0", "scores.w_0"]


def test_feeding_what_the_program_computes(trained: Any, tmp_path: Path) -> None:
    _, _, hidden, scores, exe = trained
    static.save_inference_model(str(tmp_path / "m"), [hidden], [scores], exe)
    program, feeds, fetches = static.load_inference_model(str(tmp_path / "m"), exe)
    given = np.ones((1, 8), "float32")
    (found,) = exe.run(program, {feeds[0]: given}, fetches)
    scope = static.global_scope()
    weights, bias = (scope.find_var(f"scores.{n}").value for n in ("w_0", "b_0"))
    np.testing.assert_allclose(found, given @ weights + bias, rtol=1e-6)


def test_bytes_instead_of_files(trained: Any) -> None:
    main, x, _, scores, exe = trained
    wanted = expected(static.global_scope())
    model = static.serialize_program([x], [scores], program=main)
    params = static.serialize_persistables([x], [scores], exe, program=main)
    assert isinstance(model, bytes)
    assert isinstance(params, bytes)
    with static.scope_guard(static.Scope()):
        program = static.deserialize_program(model)
        assert static.deserialize_persistables(program, params, exe) is program
        (found,) = exe.run(program, {"x": FEED}, [scores.name])
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
    with static.scope_guard(static.Scope()):
        again, feeds, fetches = static.load_inference_model(
            None, exe, model_filename=model, params_filename=params
        )
        assert (feeds, exe.run(again, {"x": FEED}, fetches)[0].tobytes()) == (
            ["x"],
            found.tobytes(),
        )


def test_other_names_of_the_files(trained: Any, tmp_path: Path) -> None:
    _, x, _, scores, exe = trained
    static.save_to_file(str(tmp_path / "net"), static.serialize_program(x, scores))
    static.save_to_file(str(tmp_path / "weights"), static.serialize_persistables(x, scores, exe))
    program, feeds, fetches = static.load_inference_model(
        str(tmp_path), exe, model_filename="net", params_filename="weights"
    )
    assert feeds == ["x"]
    assert exe.run(program, {"x": FEED}, fetches)[0].shape == (2, 3)


def test_a_program_without_parameters(tmp_path: Path) -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None], "float32")
        y = x * 2.0
    static.save_inference_model(str(tmp_path / "m"), [x], [y])
    program, _, fetches = static.load_inference_model(str(tmp_path / "m"))
    (found,) = static.Executor().run(program, {"x": np.ones(2, "float32")}, fetches)
    assert found.tolist() == [2.0, 2.0]


def test_loops_and_branches_are_served(tmp_path: Path) -> None:
    built = build("control-flow")
    exe = static.Executor()
    with static.scope_guard(static.Scope()):
        exe.run(built.startup)
        block = built.main.global_block()
        target = block.var(built.fetch[0])
        feeds = [block.var(name) for name in built.feed]
        static.save_inference_model(str(tmp_path / "m"), feeds, [target], exe)
        wanted = exe.run(built.main, built.feed, [target])[0]
        with static.scope_guard(static.Scope()):
            program, _, fetches = static.load_inference_model(str(tmp_path / "m"), exe)
            (found,) = exe.run(program, built.feed, fetches)
    assert found.tobytes() == wanted.tobytes()


def test_files_that_do_not_belong_together(trained: Any, tmp_path: Path) -> None:
    main, x, _, scores, exe = trained
    static.save_inference_model(str(tmp_path / "m"), [x], [scores], exe)
    old = (tmp_path / "m.pdiparams").read_bytes()
    exe.run(main, {"x": FEED, "label": np.array([[0], [2]])}, [])
    static.save_inference_model(str(tmp_path / "m"), [x], [scores], exe)
    (tmp_path / "m.pdiparams").write_bytes(old)
    with pytest.raises(FileFormatError, match="written by two different saves"):
        static.load_inference_model(str(tmp_path / "m"), exe)


def test_parameters_that_do_not_fit(trained: Any) -> None:
    _, x, hidden, scores, exe = trained
    program = static.deserialize_program(static.serialize_program([x], [scores]))
    fewer = static.serialize_persistables([x], [hidden], exe)
    with pytest.raises(ArgumentError, match=r"scores\.w_0 is missing; scores\.b_0 is missing"):
        static.deserialize_persistables(program, fewer, exe)


def test_a_file_that_says_nothing_of_what_to_fetch(trained: Any, tmp_path: Path) -> None:
    main, *_, exe = trained
    static.save(main, str(tmp_path / "m"))
    (tmp_path / "m.pdparams").rename(tmp_path / "m.pdiparams")
    with pytest.raises(FileFormatError, match="nothing of what to fetch"):
        static.load_inference_model(str(tmp_path / "m"), exe)


def test_what_cannot_be_computed_from_what_is_fed(trained: Any, tmp_path: Path) -> None:
    main, _, hidden, scores, exe = trained
    with pytest.raises(BuildError, match="'x', which is not fed: add it to feed_vars"):
        static.save_inference_model(str(tmp_path / "m"), [], [scores], exe)
    assert not list(tmp_path.iterdir())
    with pytest.raises(BuildError, match="fetch_vars is empty"):
        static.save_inference_model(str(tmp_path / "m"), [hidden], [], exe, program=main)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: static.save_inference_model("m", [3], [3]), "must be a Variable"),
        (lambda: static.save_inference_model(3, [], []), "the path must be a str, got int"),
        (lambda: static.save_inference_model("m", [], [], 3), "executor must be an Executor"),
        (lambda: static.load_inference_model("m", 3), "executor must be an Executor"),
        (lambda: static.deserialize_program("text"), "takes bytes, got str"),
        (lambda: static.deserialize_persistables(static.Program(), 3), "takes bytes, got int"),
        (lambda: static.serialize_program([], [], nope=1), "unknown arguments nope"),
    ],
)
def test_arguments_of_the_wrong_kind(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_memory_needs_both_contents() -> None:
    with pytest.raises(ArgumentError, match="give the contents of the files as model_filename"):
        static.load_inference_model(None)
