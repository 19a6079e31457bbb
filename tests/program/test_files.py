"""Programs as text and in files: what comes back is what was there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autograd_engine as paddle
from autograd_engine import static, unique_name
from autograd_engine.errors import (
    ArgumentError,
    BuildError,
    DTypeError,
    ExecutionError,
    FileFormatError,
)
from autograd_engine.ops.registry.namespace import ops
from autograd_engine.ops.registry.opdef import REGISTRY
from tests.over import over
from tests.program.file_programs import BUILDERS, build, run
from tests.registry.samples import SAMPLES

PARSE = static.Program.parse_from_string


def same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return len(a) == len(b) and all(
        x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.parametrize("name", BUILDERS)
def test_a_program_comes_back_as_it_was(name: str) -> None:
    built = build(name)
    text = built.main.to_string()
    again = PARSE(text)
    assert str(again) == str(built.main)
    assert again.to_string() == text
    assert PARSE(text.encode()).to_string() == text
    assert build(name).main.to_string() == text  # the same program makes the same text
    assert again.random_seed == built.main.random_seed
    assert same(run(built, build(name).main), run(built, again))


@pytest.mark.parametrize("name", BUILDERS)
def test_the_startup_program_comes_back_too(name: str) -> None:
    startup = build(name).startup
    again = PARSE(startup.to_string())
    with static.scope_guard(static.Scope()) as _:
        static.Executor().run(again)
        found = {n: static.global_scope().find_var(n).value for n in again.global_block().vars}
    with static.scope_guard(static.Scope()):
        static.Executor().run(startup)
        for name_, value in found.items():
            assert np.array_equal(static.global_scope().find_var(name_).value, value)


@over("op", sorted(SAMPLES), by=lambda op: REGISTRY[op].module)
def test_every_operation_comes_back(op: str) -> None:
    """Forward and backward, with sizes known and unknown; asked again, nothing is appended."""
    for sample in SAMPLES[op]:
        for unknown in (False, True) if sample.unknown else (False,):
            main = static.Program()
            with static.program_guard(main, static.Program()), unique_name.guard():
                try:
                    targets, inputs = _differentiated(op, sample, unknown)
                    text = main.to_string()
                except (DTypeError, FileFormatError):  # no program can be fed, or hold, uint64
                    assert op == "reinterpret"
                    continue
                again = PARSE(text)
                assert str(again) == str(main)
                assert again.to_string() == main.to_string()
                block = again.global_block()
                static.gradients(
                    [block.var(t.name) for t in targets], [block.var(v.name) for v in inputs]
                ) if targets and inputs else None
            assert str(again) == str(main)


def _differentiated(op: str, sample: Any, unknown: bool) -> tuple[list[Any], list[Any]]:
    inputs = []
    for k, array in enumerate(sample.operands):
        shape = [None, *array.shape[1:]] if unknown and array.ndim else list(array.shape)
        inputs.append(static.data(f"x{k}", shape, array.dtype.name))
        inputs[-1].stop_gradient = array.dtype.kind != "f"
    made = getattr(ops, op)(*inputs, **sample.attrs)
    made = made if REGISTRY[op].multiple else [made]
    targets = [v for v in made if not v.stop_gradient and v.spec.dtype.kind == "f"]
    inputs = [v for v in inputs if not v.stop_gradient]
    if targets and inputs:
        static.gradients(targets, inputs)
    return targets, inputs


def test_unknown_sizes_that_are_equal_stay_equal() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, None, 4], "float32")
        flat = paddle.reshape(x, [-1, 2])
        rows = x[1:, ::2]
        paddle.concat([flat, flat])
    known = PARSE(main.to_string()).global_block().vars
    b, t, _ = known["x"].spec.shape
    assert b != t
    assert known[flat.name].spec.shape == (b * t * 2, 2)
    assert known[rows.name].spec.shape[0] != b
    joined = next(v for n, v in known.items() if n.startswith("concat"))
    assert joined.spec.shape[0] == b * t * 4
    other = PARSE(main.to_string()).global_block().vars["x"].spec.shape
    assert other[0] != b  # sizes of two programs are not known to be equal


def test_second_order_goes_on_from_a_file() -> None:
    def built(through_a_file: bool) -> tuple[str, list[np.ndarray]]:
        main = static.Program()
        with unique_name.guard(), static.program_guard(main, static.Program()):
            x = static.data("x", [None, 3], "float32")
            x.stop_gradient = False
            y = paddle.sum(paddle.exp(x) * paddle.tanh(x) / (x * x + 2.0))
            (g,) = static.gradients(y, x)
        with unique_name.guard():
            if through_a_file:
                main = PARSE(main.to_string())
            else:
                unique_name.advance(main.global_block().vars)
            block = main.global_block()
            with static.program_guard(main, static.Program()):
                total = paddle.sum(block.var(g.name) ** 3)
                (second,) = static.gradients(total, block.var("x"))
        feed = {"x": np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)}
        return str(main), static.Executor().run(main, feed, [second.name, g.name])

    (text, values), (text_again, values_again) = built(False), built(True)
    assert text == text_again
    assert same(values, values_again)


def test_what_exists_is_not_appended_again() -> None:
    for name in ("second-order", "control-flow"):
        built = build(name)
        loaded = PARSE(built.main.to_string())
        before = loaded.to_string()
        block = loaded.global_block()
        if name == "control-flow":
            static.append_backward(block.var(built.fetch[0]))
        else:
            (g,) = static.gradients(block.var(built.fetch[0]), block.var("x"))
            assert g.name == built.fetch[1]
        assert loaded.to_string() == before


def test_names_made_after_loading_are_new() -> None:
    text = build("regression").main.to_string()
    with unique_name.guard():
        loaded = PARSE(text)
        with static.program_guard(loaded, static.Program()):
            paddle.tanh(loaded.global_block().var("x"))
            static.nn.fc(loaded.global_block().var("x"), 2)
    assert len(loaded.global_block().ops) == len(build("regression").main.global_block().ops) + 3


def test_attributes_of_all_kinds() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2, 3], "float64")
        paddle.full([2], float("nan"))
        y = paddle.clip(x, -np.inf, np.inf)
        z = x[..., None, ::-1] * complex(1.0, -0.0)
        w = y * np.float16(-0.0) + np.asfortranarray(np.arange(6.0).reshape(2, 3))
        order = np.transpose(np.arange(24.0).reshape(2, 3, 4), (1, 0, 2))
        c = paddle.sum(x) + order
    loaded = PARSE(main.to_string())
    feed = {"x": np.arange(6.0).reshape(2, 3)}
    names = [v.name for v in (y, z, w, c)]
    exe = static.Executor()
    assert same(exe.run(main, feed, names), exe.run(loaded, feed, names))
    for a, b in zip(main.global_block().ops, loaded.global_block().ops, strict=True):
        for key, value in a.attrs.items():
            assert type(b.attrs[key]) is type(value)
            if isinstance(value, np.ndarray):
                assert b.attrs[key].strides == value.strides


def test_lines_of_the_user_are_kept() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [None, 2], "float32")
        y = paddle.reshape(x, [3, 2])  # this line
    loaded = PARSE(main.to_string())
    location = loaded.global_block().ops[0].location
    assert str(location) == str(main.global_block().ops[0].location)
    assert location.text == "y = paddle.reshape(x, [3, 2])  # this line"
    assert "/" not in str(location)  # the directories of the user's stay at home
    with pytest.raises(ExecutionError, match=r"reshape of test_files\.py:\d+ .*# this line"):
        static.Executor().run(loaded, {"x": np.ones((2, 2), "float32")}, [y.name])


def test_what_optimizers_are_told_of_a_parameter_is_kept() -> None:
    main = static.Program()
    decay = paddle.regularizer.L2Decay(0.25)
    attr = paddle.ParamAttr(name="w", learning_rate=0.5, regularizer=decay, need_clip=False)
    frozen = paddle.ParamAttr(name="f", trainable=False)
    with static.program_guard(main, static.Program()):
        static.create_parameter([2], "float32", attr=attr)
        static.create_parameter([2], "float32", attr=frozen)
    w, f = PARSE(main.to_string()).all_parameters()
    assert (w.optimize_attr, w.need_clip) == ({"learning_rate": 0.5}, False)
    assert repr(w.regularizer) == "L2Decay(0.25)"
    assert (w.trainable, f.trainable, f.stop_gradient) == (True, False, True)


def test_printing_and_asserting_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [2], "float32")
        static.Print(x, message="seen", summarize=1)
        static.Assert(paddle.all(x > 0))
    loaded = PARSE(main.to_string())
    exe = static.Executor()
    exe.run(loaded, {"x": np.ones(2, "float32")}, [])
    assert "seen" in capsys.readouterr().out
    with pytest.raises(Exception, match="the condition is False"):
        exe.run(loaded, {"x": -np.ones(2, "float32")}, [])


def test_the_text_is_readable() -> None:
    main = build("regression").main
    document = json.loads(main.to_string(with_details=True))
    assert (document["format"], document["version"]) == ("autograd_engine program", 1)
    assert document["printed"] == str(main).splitlines()
    assert PARSE(main.to_string(with_details=True)).to_string() == main.to_string()
    # A line each, so that a difference between two files says what changed.
    lines = main.to_string().splitlines()
    assert sum('"results"' in line for line in lines) == len(main.global_block().ops)


def test_an_edited_text_is_read_without_its_checksum() -> None:
    document = json.loads(build("regression").main.to_string())
    document["program"]["random_seed"] = 5
    with pytest.raises(FileFormatError, match='when its "checksum" is taken out'):
        PARSE(json.dumps(document))
    del document["checksum"]
    assert PARSE(json.dumps(document, indent=2)).random_seed == 5


def test_to_string_takes_bools() -> None:
    with pytest.raises(TypeError, match="throw_on_error must be a bool, got str"):
        static.Program().to_string("yes")  # type: ignore[arg-type]


# --- save and load


def trained(name: str = "adam", steps: int = 2) -> Any:
    built = build(name)
    exe = static.Executor()
    exe.run(built.startup)
    for _ in range(steps):
        exe.run(built.main, built.feed, built.fetch)
    return built


def test_training_resumes_bit_for_bit(tmp_path: Path) -> None:
    with static.scope_guard(static.Scope()):
        built = trained()
        static.save(built.main, str(tmp_path / "deep" / "m"))
        wanted = [static.Executor().run(built.main, built.feed, built.fetch) for _ in range(3)]
    names = sorted(p.name for p in (tmp_path / "deep").iterdir())
    assert names == ["m.pdmodel", "m.pdopt", "m.pdparams"]
    program = PARSE((tmp_path / "deep" / "m.pdmodel").read_bytes())
    for main in (build("adam").main, program):
        with static.scope_guard(static.Scope()):
            static.load(main, str(tmp_path / "deep" / "m"), static.Executor())
            again = [static.Executor().run(main, built.feed, built.fetch) for _ in range(3)]
        assert all(same(a, b) for a, b in zip(wanted, again, strict=True))


def test_files_are_what_numpy_reads_without_pickle(tmp_path: Path) -> None:
    with static.scope_guard(static.Scope()):
        built = trained()
        static.save(built.main, str(tmp_path / "m"))
        value = static.global_scope().find_var("out.w_0").value
        with np.load(tmp_path / "m.pdparams", allow_pickle=False) as arrays:
            assert arrays.files == ["out.w_0"]
            assert np.array_equal(arrays["out.w_0"], value)


def test_the_same_state_makes_the_same_files(tmp_path: Path) -> None:
    with static.scope_guard(static.Scope()):
        built = trained()
        for name in ("a", "b"):
            static.save(built.main, str(tmp_path / name))
    for suffix in (".pdparams", ".pdopt", ".pdmodel"):
        first, second = (tmp_path / f"{name}{suffix}" for name in "ab")
        assert first.read_bytes() == second.read_bytes()


def test_state_as_a_dict(tmp_path: Path) -> None:
    with static.scope_guard(static.Scope()):
        built = trained()
        path = str(tmp_path / "m")
        static.save(built.main, path)
        state = static.load_program_state(path)
        assert set(state) == {v.name for v in built.main.list_vars() if v.persistable}
        for given in (f"{path}.pdparams", f"{path}.pdopt", f"{path}.pdmodel"):
            assert static.load_program_state(given).keys() == state.keys()
        weight = built.main.global_block().var("out.w_0")
        assert list(static.load_program_state(path, [weight])) == ["out.w_0"]
        with pytest.raises(ArgumentError, match="has no nobody"):
            static.load_program_state(path, ["nobody"])
        state["out.w_0"] = np.zeros((2, 1), "float32")
        static.set_program_state(built.main, state)
        assert not static.global_scope().find_var("out.w_0").value.any()
        state["out.w_0"][0] = 1.0
        assert not static.global_scope().find_var("out.w_0").value.any()  # a copy of its own


def test_set_program_state_says_what_it_leaves_out() -> None:
    with static.scope_guard(static.Scope()):
        built = trained()
        with pytest.warns(UserWarning, match="the program keeps no variable nobody; left out"):
            static.set_program_state(built.main, {"nobody": np.ones(1)})


def test_all_that_does_not_fit_is_listed_and_nothing_is_set() -> None:
    with static.scope_guard(static.Scope()):
        built = trained("momentum")
        before = static.global_scope().find_var("out.w_0").value
        state = {
            "out.w_0": np.zeros((2, 2), "float32"),
            "out.b_0": np.zeros(7, "float32"),
            "learning_rate_0": np.zeros((), "float64"),
        }
        with pytest.raises(ArgumentError) as caught:
            static.set_program_state(built.main, state)
        text = str(caught.value)
        assert "out.b_0 has shape [7], and [2] in the program" in text
        assert "learning_rate_0 is float64, and float32 in the program" in text
        assert "Nothing was set" in text
        assert static.global_scope().find_var("out.w_0").value is before


def test_load_lists_what_is_missing(tmp_path: Path) -> None:
    with static.scope_guard(static.Scope()):
        trained_adam = trained("adam")
        static.save(trained_adam.main, str(tmp_path / "m"))
        with pytest.raises(ArgumentError, match=r"out\.b_0 is missing.*velocity_0 is missing"):
            static.load(build("momentum").main, str(tmp_path / "m"))
        weight = trained_adam.main.global_block().var("out.w_0")
        static.load(trained_adam.main, str(tmp_path / "m"), var_list=[weight])
        with pytest.raises(ArgumentError, match=r"nobody in var_list: no such variable"):
            static.load(trained_adam.main, str(tmp_path / "m"), var_list=["nobody"])


@pytest.mark.parametrize("path", ["d/", "", "a\0b"])
def test_a_path_that_names_no_file(path: str) -> None:
    built = build("regression")
    for call in (
        lambda: static.save(built.main, path),
        lambda: static.load(built.main, path),
        lambda: static.load_program_state(path),
        lambda: static.load_inference_model(path),
    ):
        with pytest.raises(AssertionError, match="must be of the form directory/name"):
            call()


def test_files_that_are_not_there(tmp_path: Path) -> None:
    built = build("adam")
    for call in (
        lambda: static.load(built.main, str(tmp_path / "no")),
        lambda: static.load_program_state(str(tmp_path / "no")),
        lambda: static.load_inference_model(str(tmp_path / "no")),
        lambda: static.load_from_file(str(tmp_path / "no")),
        lambda: static.save_to_file(str(tmp_path / "no" / "m"), b""),
    ):
        with pytest.raises(FileNotFoundError, match="no"):
            call()
    with static.scope_guard(static.Scope()):
        trained("adam")
        static.save(built.main, str(tmp_path / "m"))
        (tmp_path / "m.pdopt").unlink()
        with pytest.raises(FileNotFoundError, match=r"var_list=program\.all_parameters\(\)"):
            static.load(built.main, str(tmp_path / "m"))
        static.load(built.main, str(tmp_path / "m"), var_list=built.main.all_parameters())


def test_variables_without_a_value() -> None:
    with (
        static.scope_guard(static.Scope()),
        pytest.raises(ExecutionError, match=r"'out\.w_0'.*: no value in the scope; run the start"),
    ):
        static.save(build("adam").main, "m")


def test_files_of_two_saves_are_not_mixed(tmp_path: Path) -> None:
    with static.scope_guard(static.Scope()):
        built = trained(steps=1)
        static.save(built.main, str(tmp_path / "m"))
        old = (tmp_path / "m.pdopt").read_bytes()
        static.Executor().run(built.main, built.feed, built.fetch)
        static.save(built.main, str(tmp_path / "m"))
        (tmp_path / "m.pdopt").write_bytes(old)
        with pytest.raises(FileFormatError, match="written by two different saves"):
            static.load(built.main, str(tmp_path / "m"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: static.save(3, "m"), "save: program must be a Program, got int"),
        (lambda: static.load(3, "m"), "load: program must be a Program, got int"),
        (lambda: static.load(static.Program(), 3), "load: the path must be a str, got int"),
        (lambda: static.load(static.Program(), "m", executor=3), "executor must be an Executor"),
        (lambda: static.load(static.Program(), "m", var_list="w"), "var_list must be a list"),
        (lambda: static.load(static.Program(), "m", var_list=[3]), "must hold Variables"),
        (lambda: static.set_program_state(static.Program(), []), "state_dict must be a dict"),
    ],
)
def test_arguments_of_the_wrong_kind(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call()


def test_bytes_in_files(tmp_path: Path) -> None:
    path = str(tmp_path / "bytes")
    static.save_to_file(path, b"abc")
    assert static.load_from_file(path) == b"abc"
    with pytest.raises(ArgumentError, match="content must be bytes, got str"):
        static.save_to_file(path, "abc")  # type: ignore[arg-type]
    assert static.load_from_file(path) == b"abc"


def test_a_program_from_a_file_is_one_of_its_own() -> None:
    built = build("regression")
    loaded = PARSE(built.main.to_string())
    with pytest.raises((BuildError, ExecutionError)):
        static.Executor().run(loaded, built.feed, [built.main.global_block().var("x")])


def test_large_programs_take_linear_time() -> None:
    main = static.Program()
    with static.program_guard(main, static.Program()):
        x = static.data("x", [4], "float32")
        y = x
        for _ in range(2000):
            y = paddle.tanh(y)
    loaded = PARSE(main.to_string())
    assert len(loaded.global_block().ops) == 2000
    assert str(loaded) == str(main)
